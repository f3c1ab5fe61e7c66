from dataclasses import dataclass


@dataclass(frozen=True)
class Volume:
    name: str
    region: str
    gigabytes: int
