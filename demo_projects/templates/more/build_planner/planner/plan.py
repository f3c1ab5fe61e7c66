from planner.order import build_order
from planner.steps import parse_steps


def plan(text: str) -> str:
    order = build_order(parse_steps(text))
    return "\n".join(f"{place}. {name}" for place, name in enumerate(order, 1))
