import pytest

from switches.commands import run_command
from switches.registry import SwitchRegistry


@pytest.fixture
def registry():
    return SwitchRegistry(["audit_log", "two_factor_login"])


def test_switch_is_enabled_by_its_canonical_name(registry):
    assert run_command(registry, "enable audit_log") == "audit_log: on"
    assert run_command(registry, "show audit_log") == "audit_log: on"


def test_audit_log_with_a_dash_is_stored_as_audit_log(registry):
    answer = run_command(registry, "enable Audit-Log")
    assert answer == "audit_log: on"


def test_name_with_several_dashes_reaches_the_same_switch(registry):
    run_command(registry, "enable two_factor_login")
    answer = run_command(registry, "show Two-Factor-Login")
    assert answer == "Two-Factor-Login: on"


def test_switch_that_does_not_exist_is_refused(registry):
    assert run_command(registry, "enable theme") == "unknown switch theme"
