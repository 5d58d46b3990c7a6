-- What a report shows of a month, with what the report must say about it.
select
    o.project_id,
    date_trunc('month', o.day::timestamp)::date as month,
    sum(o.orders) as orders,
    sum(o.spent_units) as spent_units,
    sum(o.pending_units) as pending_units,
    sum(o.without_amount) as without_amount,
    count(*) filter (where o.state = 'lost') as days_lost,
    count(*) filter (where o.is_held)
    = extract(day from date_trunc('month', o.day::timestamp) + interval '1 month' - interval '1 day') as is_held,
    count(*) filter (where o.is_settled)
    = extract(day from date_trunc('month', o.day::timestamp) + interval '1 month' - interval '1 day') as is_settled
from {{ source('analytics', 'orders_by_day') }} as o
{% if var('outlast_project') %}where o.project_id = '{{ var('outlast_project') }}'{% endif %}
group by o.project_id, date_trunc('month', o.day::timestamp)
