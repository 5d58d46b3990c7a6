-- One row a resource and day: what may be claimed of it.
select
    project_id,
    resource,
    day,
    month,
    state,
    proof,
    reservations,
    rejected,
    is_held,
    is_settled
from {{ source('analytics', 'coverage_by_day') }}
{% if var('outlast_project') %}where project_id = '{{ var('outlast_project') }}'{% endif %}
