def canonical_name(name: str) -> str:
    return name.strip().lower()
