import pytest

from backups.night import plan_night
from backups.regions import served_regions
from backups.volume import Volume

VOLUMES = [
    Volume("ledger", "north", 80),
    Volume("inbox", "north", 20),
    Volume("archive", "south", 300),
    Volume("media", "west", 700),
    Volume("scratch", "east", 5),
]


@pytest.fixture
def plan():
    regions = served_regions({"BACKUP_REGIONS": "north, south, west"})
    return plan_night(VOLUMES, regions)


def test_first_region_gets_its_volumes_smallest_first(plan):
    assert plan.slots["north"] == ["inbox", "ledger"]


def test_every_further_region_gets_a_slot(plan):
    regions = sorted(plan.slots)
    message = f"regions with a slot, out of the comma-separated list: {regions}"
    assert regions == ["north", "south", "west"], message


def test_only_volumes_of_other_regions_are_unserved(plan):
    message = f"volumes left out as if not configured: {plan.unserved}"
    assert plan.unserved == ["scratch"], message


def test_without_a_list_the_default_region_is_served():
    plan = plan_night(VOLUMES, served_regions({}))
    assert list(plan.slots) == ["north"]
