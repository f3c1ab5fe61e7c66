from __future__ import annotations


class CircularSteps(Exception):
    pass


def build_order(steps: dict[str, list[str]]) -> list[str]:
    return sorted(steps, key=lambda name: (len(steps[name]), name))
