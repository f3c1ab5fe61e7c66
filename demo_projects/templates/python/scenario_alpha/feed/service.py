from __future__ import annotations

import json

from feed.config import Config
from feed.cors import cors_headers

EPISODES = [
    {"number": 1, "title": "Tide tables"},
    {"number": 2, "title": "The lamp keeper"},
]


def create_service(config: Config):
    def service(environ, start_response):
        headers = cors_headers(environ.get("HTTP_ORIGIN"), config.allowed_origins)
        if environ["REQUEST_METHOD"] == "OPTIONS":
            start_response("204 No Content", headers)
            return []
        if environ["PATH_INFO"] != "/episodes":
            start_response("404 Not Found", headers)
            return []
        headers.append(("Content-Type", "application/json"))
        headers.append(("Cache-Control", f"max-age={config.max_age}"))
        start_response("200 OK", headers)
        return [json.dumps(EPISODES).encode()]

    return service
