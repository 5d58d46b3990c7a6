-- A lost day is a hole for ever: a person should know of it before a report does.
{{ config(severity='warn') }}
select project_id, resource, day
from {{ ref('stg_coverage') }}
where state = 'lost'
