-- One row a class, as last seen.
select
    project_id,
    id as class_id,
    day,
    month,
    name,
    symbol,
    owner,
    nft_count,
    created_at,
    changed_at,
    missing_since is not null as is_missing
from {{ source('analytics', 'nft_classes') }}
{% if var('outlast_project') %}where project_id = '{{ var('outlast_project') }}'{% endif %}
