from __future__ import annotations


def cors_headers(origin: str | None, allowed: list[str]) -> list[tuple[str, str]]:
    if origin is None or origin not in allowed:
        return []
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Methods", "GET, OPTIONS"),
        ("Vary", "Origin"),
    ]
