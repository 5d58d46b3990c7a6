-- Orders as they are known now. Each build reads only what changed since the one before: nothing can still appear at or
-- below the greatest entry_id that a build has read.
{{ config(materialized='incremental', unique_key=['project_id', 'operation_id']) }}

with changed as (
    select
        c.project_id,
        c.id,
        max(c.entry_id) as entry_id
    from {{ source('analytics', 'changes') }} as c
    where c.resource = 'orders' and c.change <> 'late'
    {% if var('outlast_project') %}and c.project_id = '{{ var('outlast_project') }}'{% endif %}
    {% if is_incremental() %}and c.entry_id > (select coalesce(max(t.entry_id), 0) from {{ this }} as t){% endif %}
    group by c.project_id, c.id
)

select
    o.project_id,
    o.operation_id,
    o.day,
    o.status_name,
    o.account,
    o.amount_fen,
    o.missing_since is not null as is_missing,
    changed.entry_id
from changed
join {{ source('analytics', 'orders') }} as o
    on o.project_id = changed.project_id and o.operation_id = changed.id
