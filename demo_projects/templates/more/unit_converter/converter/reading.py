from dataclasses import dataclass

from converter.units import to_celsius, to_millimetres


@dataclass(frozen=True)
class Reading:
    station: str
    temperature: tuple
    rain: tuple


def describe(reading: Reading) -> str:
    celsius = to_celsius(*reading.temperature)
    millimetres = to_millimetres(*reading.rain)
    return f"{reading.station}: {celsius} C, {millimetres} mm"
