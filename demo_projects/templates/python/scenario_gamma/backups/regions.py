from __future__ import annotations

DEFAULT_REGION = "north"


def served_regions(settings: dict[str, str]) -> set[str]:
    configured = settings.get("BACKUP_REGIONS")
    if not configured:
        return {DEFAULT_REGION}
    return set(configured.split(","))
