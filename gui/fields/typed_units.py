"""Numbers with units as people type them: 2500 g, 1500 mm, 12 rpm, 3 lb, 5 N/mm. The result is in SI units."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, NoReturn

Dimension = tuple[int, int, int, int]
"""Powers of metre, kilogram, second and radian."""

_M: Final = (1, 0, 0, 0)
_KG: Final = (0, 1, 0, 0)
_S: Final = (0, 0, 1, 0)
_RAD: Final = (0, 0, 0, 1)
_N: Final = (1, 1, -2, 0)
_NM: Final = (2, 1, -2, 0)
_W: Final = (2, 1, -3, 0)
_PA: Final = (-1, 1, -2, 0)
_POUND: Final = 0.45359237
_G: Final = 9.80665
_DEGREE: Final = math.pi / 180.0
_TURN: Final = 2.0 * math.pi

_BY_DIMENSION: Final[dict[Dimension, dict[str, float]]] = {
    _M: {
        "m": 1.0,
        "mm": 1e-3,
        "cm": 1e-2,
        "km": 1e3,
        "um": 1e-6,
        "µm": 1e-6,
        "in": 0.0254,
        "inch": 0.0254,
        "ft": 0.3048,
    },
    _KG: {"kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3, "lb": _POUND, "lbs": _POUND, "oz": _POUND / 16.0},
    _S: {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0},
    _RAD: {"rad": 1.0, "mrad": 1e-3, "deg": _DEGREE, "°": _DEGREE, "rev": _TURN, "turn": _TURN, "turns": _TURN},
    (0, 0, -1, 1): {"rpm": _TURN / 60.0},
    (0, 0, -1, 0): {"Hz": 1.0},
    _N: {"N": 1.0, "kN": 1e3, "mN": 1e-3, "MN": 1e6, "lbf": _POUND * _G, "kgf": _G},
    _NM: {"Nm": 1.0, "Nmm": 1e-3, "kNm": 1e3, "J": 1.0, "kJ": 1e3, "mJ": 1e-3},
    _W: {"W": 1.0, "kW": 1e3},
    _PA: {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "bar": 1e5, "psi": _POUND * _G / 0.0254**2},
}
UNITS: Final = {name: (size, kind) for kind, names in _BY_DIMENSION.items() for name, size in names.items()}
"""Units: size in SI units, and dimension."""

_TOKEN: Final = re.compile(r"([A-Za-zµ°]+)(?:\^?([-−]?\d+)|([²³]))?|([*·/])|\s+")
_BEGIN: Final = re.compile(r"(?<=[\s\d.)])[A-Za-zµ°]")


def parsed(unit: str) -> tuple[float, Dimension] | None:
    """Size and dimension of a unit such as "N m/rad" or "kg m^2"; None if it is none. All after a stroke divides."""
    size, total, sign, at = 1.0, [0, 0, 0, 0], 1, 0
    text = unit.strip()
    if text.startswith("1/"):
        text = text[1:]
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        at = found.end()
        name, power, raised, operation = found.groups()
        if operation == "/":
            sign = -1
        if name is None:
            continue
        if name not in UNITS:
            return None
        factor, dimension = UNITS[name]
        exponent = sign * (2 if raised == "²" else 3 if raised == "³" else int((power or "1").replace("−", "-")))
        size *= factor**exponent
        total = [a + exponent * b for a, b in zip(total, dimension, strict=True)]
    return size, (total[0], total[1], total[2], total[3])


def split(text: str) -> tuple[str, str] | None:
    """A typed text as a number (or a calculation) and a unit; None if it ends with none."""
    for found in _BEGIN.finditer(text):
        unit = text[found.start() :].strip()
        if parsed(unit) is not None:
            return text[: found.start()].strip(), unit
    return None


def factor(typed: str, wanted: str) -> float:
    """Factor from a typed unit to an SI unit; a `ValueError` if the two do not fit."""
    given = parsed(typed)
    return factor_of(given[1], wanted, typed) * given[0] if given is not None else _refuse(typed, wanted)


def factor_of(dimension: Sequence[float], wanted: str, typed: str) -> float:
    """Factor from an SI number of a dimension to a wanted unit; a `ValueError` if it is of another.

    An angle times a length is a length. A number of turns is no angle: 5 Hz are not taken for rad/s.
    """
    *others, angle = dimension
    for choice in wanted.split(" or "):
        meant = parsed(choice)
        if meant is None or not choice:
            continue
        *meant_others, meant_angle = meant[1]
        if others == meant_others and (angle == meant_angle or (any(others) and meant_angle == 0)):
            return 1.0 / meant[0]
    return _refuse(typed, wanted)


def _refuse(typed: str, wanted: str) -> NoReturn:
    known = f"this is a number in {wanted}" if wanted else "this number has no unit"
    raise ValueError(f"“{typed}” does not fit: {known}; write it in a unit of that kind, or without one")
