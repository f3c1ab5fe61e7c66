import pytest

from converter.reading import Reading, describe
from converter.units import to_celsius


def test_celsius_stays_as_it_is():
    assert to_celsius(21.5, "C") == 21.5


def test_kelvin_becomes_celsius():
    assert to_celsius(300, "K") == 26.9


def test_fahrenheit_becomes_celsius():
    assert to_celsius(98.6, "F") == 37.0


def test_reading_in_fahrenheit_and_inches_is_described():
    reading = Reading("Ridge", temperature=(50, "F"), rain=(0.5, "in"))
    assert describe(reading) == "Ridge: 10.0 C, 12.7 mm"


def test_unknown_unit_is_refused():
    with pytest.raises(ValueError, match="unknown temperature unit: R"):
        to_celsius(500, "R")
