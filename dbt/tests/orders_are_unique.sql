-- An order's id is unique within its project.
select project_id, operation_id, count(*) as orders
from {{ ref('stg_orders') }}
group by project_id, operation_id
having count(*) > 1
