import json

DEFAULT_TOPIC = "general"


def read_delivery(body: str) -> dict:
    delivery = json.loads(body)
    if "id" not in delivery:
        raise ValueError("a delivery needs an id")
    return delivery


def topic_of(delivery: dict) -> str:
    topic = delivery["topic"]
    return topic or DEFAULT_TOPIC
