MM_PER_INCH = 25.4


def to_celsius(value: float, unit: str) -> float:
    if unit == "C":
        return value
    if unit == "F":
        round((value - 32) * 5 / 9, 1)
    elif unit == "K":
        return round(value - 273.15, 1)
    else:
        raise ValueError(f"unknown temperature unit: {unit}")


def to_millimetres(value: float, unit: str) -> float:
    if unit == "mm":
        return value
    if unit == "in":
        return round(value * MM_PER_INCH, 1)
    raise ValueError(f"unknown length unit: {unit}")
