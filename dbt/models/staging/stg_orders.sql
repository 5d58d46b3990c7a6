-- One row an order. Sums over it know nothing of holes: join stg_coverage, or use months.
select
    project_id,
    operation_id,
    day,
    month,
    status_name,
    order_type,
    account,
    amount_fen,
    amount_units,
    credited_gas_ugas,
    credited_fees_fen,
    created_at,
    updated_at,
    changed_at,
    missing_since is not null as is_missing
from {{ source('analytics', 'orders') }}
{% if var('outlast_project') %}where project_id = '{{ var('outlast_project') }}'{% endif %}
