# The platform's signature (docs/platform.md §5) for the Python peers.
import hashlib
import json
import os
import time
from urllib.parse import parse_qsl, urlsplit

from requests.auth import AuthBase


class Signed(AuthBase):
    def __call__(self, request):
        url = urlsplit(request.url)
        params = {"path_url": url.path}
        params.update({f"query_{name}": value for name, value in parse_qsl(url.query)})
        text = json.dumps(dict(sorted(params.items())), separators=(",", ":"), ensure_ascii=False)
        timestamp = str(int(time.time() * 1000))
        secret = os.environ["OUTLAST_API_SECRET"]
        request.headers["Content-Type"] = "application/json"
        request.headers["X-Api-Key"] = os.environ["OUTLAST_API_KEY"]
        request.headers["X-Timestamp"] = timestamp
        request.headers["X-Signature"] = hashlib.sha256((text + timestamp + secret).encode()).hexdigest()
        return request
