from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    allowed_origins: list[str]
    max_age: int


def comma_separated(variables: Mapping[str, str], name: str) -> list[str]:
    raw = variables.get(name, "")
    return [value for value in raw.split(",") if value]


def load_config(variables: Mapping[str, str]) -> Config:
    return Config(
        allowed_origins=comma_separated(variables, "APP_ALLOWED_ORIGINS"),
        max_age=int(variables.get("APP_MAX_AGE", "60")),
    )
