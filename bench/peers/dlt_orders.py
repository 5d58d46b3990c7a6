# dlt's REST source into Postgres, as its documentation sets one up: every order, appended to a table.
import os

import dlt
from dlt.common.configuration import configspec
from dlt.sources.helpers.rest_client.auth import AuthConfigBase
from dlt.sources.rest_api import rest_api_source
from signing import Signed


@configspec
class SignedConfig(AuthConfigBase):
    def __call__(self, request):
        return Signed()(request)


source = rest_api_source(
    {
        "client": {
            "base_url": os.environ["OUTLAST_BASE_URL"],
            "auth": SignedConfig(),
            "paginator": {
                "type": "cursor",
                "cursor_path": "data.next_page_key",
                "cursor_param": "page_key",
            },
        },
        "resources": [
            {
                "name": "orders",
                "write_disposition": "append",
                "endpoint": {
                    "path": "v3/orders",
                    "params": {"limit": 50, "sort_by": "DATE_ASC"},
                    "data_selector": "data.order_infos",
                },
            }
        ],
    }
)
pipeline = dlt.pipeline(
    pipeline_name="orders",
    pipelines_dir=os.environ["PEER_FOLDER"],
    destination=dlt.destinations.postgres(os.environ["DATABASE_URL"]),
    dataset_name="peer",
)
pipeline.run(source)
