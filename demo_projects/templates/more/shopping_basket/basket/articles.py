from dataclasses import dataclass


@dataclass(frozen=True)
class Article:
    name: str
    cents: int
    deposit_cents: int = 0
