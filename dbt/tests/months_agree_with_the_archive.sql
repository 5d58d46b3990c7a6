-- The table of months was made from what the archive holds, and says of each month what the archive says.
select m.project_id, m.month
from {{ ref('months') }} as m
inner join {{ source('analytics', 'coverage_by_month') }} as c
    on c.project_id = m.project_id and c.month = m.month and c.resource = 'orders'
where m.is_held is distinct from c.is_held or m.is_settled is distinct from c.is_settled or m.days_lost <> c.days_lost
