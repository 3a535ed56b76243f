"""Units that a document is shown in. Stored and computed are always SI units.

A compound unit is converted factor by factor: "N m s/rad" has one rad in its denominator, so in millimetres and degrees
it is shown as "N mm s/°" and its numbers are multiplied by 1000 (m to mm) and by pi/180 (1/rad to 1/°).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

_FACTOR: Final = re.compile(r"([A-Za-z%]+)(?:\^(-?\d+|n))?")

SYSTEMS: Final[dict[str, dict[str, tuple[str, float]]]] = {
    "SI": {},
    "m/deg": {"rad": ("°", 180.0 / math.pi)},
    "mm/deg": {"m": ("mm", 1000.0), "rad": ("°", 180.0 / math.pi)},
}
"""The choices: for each base unit that is shown otherwise, its sign and how many of it make one SI unit."""

DEFAULT: Final = "SI"


@dataclass(frozen=True)
class DisplayUnits:
    """Units in which numbers are shown and typed: `DisplayUnits("mm/deg").to_display(0.25, "m")` is 250."""

    name: str = DEFAULT

    def __post_init__(self) -> None:
        if self.name not in SYSTEMS:
            raise ValueError(f"there are no units {self.name!r}; known are {', '.join(SYSTEMS)}")

    @cached_property
    def _shown(self) -> dict[str, tuple[str, float]]:
        return SYSTEMS[self.name]

    def factor(self, unit: str) -> float:
        """How many of the shown unit make one SI unit; alternatives ("m or rad") are left as they are."""
        return _converted(self.name, unit)[1]

    def label(self, unit: str) -> str:
        """The sign of the shown unit for an SI unit such as "N m/rad"."""
        return _converted(self.name, unit)[0]

    def to_display(self, value: Any, unit: str) -> Any:
        """A stored number or array as it is shown."""
        factor = self.factor(unit)
        return value if factor == 1.0 else value * factor

    def from_display(self, value: Any, unit: str) -> Any:
        """A typed number or array as it is stored."""
        factor = self.factor(unit)
        return value if factor == 1.0 else value / factor


@lru_cache(maxsize=1000)
def _converted(system: str, unit: str) -> tuple[str, float]:
    shown = SYSTEMS[system]
    if " or " in unit or "^n" in unit:
        return unit, 1.0
    total = 1.0

    def replaced(match: re.Match[str], sign: int) -> str:
        nonlocal total
        base, power = match[1], int(match[2] or 1)
        if base not in shown:
            return match[0]
        symbol, factor = shown[base]
        total *= factor ** (sign * power)
        return symbol + (f"^{match[2]}" if match[2] else "")

    parts = unit.split("/", 1)
    label = _FACTOR.sub(lambda match: replaced(match, 1), parts[0])
    if len(parts) == 2:
        label += "/" + _FACTOR.sub(lambda match: replaced(match, -1), parts[1])
    return label, total
