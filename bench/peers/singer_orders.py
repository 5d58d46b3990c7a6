# A tap by Meltano's SDK, as its documentation sets one up; target-postgres loads what it writes.
import os

from signing import Signed
from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th


class Orders(RESTStream):
    name = "orders"
    path = "/v3/orders"
    url_base = os.environ["OUTLAST_BASE_URL"]
    primary_keys = ("operation_id",)
    records_jsonpath = "$.data.order_infos[*]"
    next_page_token_jsonpath = "$.data.next_page_key"
    authenticator = Signed()
    schema = th.PropertiesList(
        th.Property("operation_id", th.StringType, required=True),
        th.Property("status", th.IntegerType),
        th.Property("message", th.StringType),
        th.Property("account", th.StringType),
        th.Property("amount", th.StringType),
        th.Property("number", th.StringType),
        th.Property("create_time", th.StringType),
        th.Property("update_time", th.StringType),
        th.Property("order_type", th.IntegerType),
    ).to_dict()

    def get_url_params(self, context, next_page_token):
        params = {"limit": 50, "sort_by": "DATE_ASC"}
        return params if next_page_token is None else {**params, "page_key": next_page_token}


class OrdersTap(Tap):
    name = "tap-orders"

    def discover_streams(self):
        return [Orders(self)]


if __name__ == "__main__":
    OrdersTap.cli()
