from __future__ import annotations

from dataclasses import dataclass, field

from backups.volume import Volume


@dataclass
class NightPlan:
    slots: dict[str, list[str]] = field(default_factory=dict)
    unserved: list[str] = field(default_factory=list)


def plan_night(volumes: list[Volume], regions: set[str]) -> NightPlan:
    plan = NightPlan()
    for volume in sorted(volumes, key=lambda volume: volume.gigabytes):
        if volume.region in regions:
            plan.slots.setdefault(volume.region, []).append(volume.name)
        else:
            plan.unserved.append(volume.name)
    return plan
