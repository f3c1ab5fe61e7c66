from __future__ import annotations


def parse_steps(text: str) -> dict[str, list[str]]:
    """Reads lines such as `package: compile docs` into needs by step."""
    steps = {}
    for line in text.splitlines():
        name, _, needs = line.partition(":")
        if name.strip():
            steps[name.strip()] = needs.split()
    return steps
