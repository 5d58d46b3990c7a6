-- Orders as they are known now. Each build reads only what changed since the one before: nothing of a project can still
-- appear at or below the greatest entry_id that a build has read of it. Each project has its own, because a build may
-- leave the others out.
{{ config(materialized='incremental', unique_key=['project_id', 'operation_id']) }}

with seen as (
    select
        p.project_id,
        {% if is_incremental() %}coalesce(max(t.entry_id), 0){% else %}0{% endif %} as entry_id
    from {{ source('analytics', 'projects') }} as p
    {% if is_incremental() %}left join {{ this }} as t on t.project_id = p.project_id{% endif %}
    {% if var('outlast_project') %}where p.project_id = '{{ var('outlast_project') }}'{% endif %}
    group by p.project_id
),

changed as (
    select
        c.project_id,
        c.id,
        max(c.entry_id) as entry_id
    from seen
    join {{ source('analytics', 'changes') }} as c on c.project_id = seen.project_id and c.entry_id > seen.entry_id
    where c.resource = 'orders' and c.change <> 'late'
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
