"""Proposed values: what a new element in a model of some size begins with, read as a choice and not as a result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .plane import lifted

GRAVITY: Final = 9.81  # m/s^2


@dataclass(frozen=True)
class Scale:
    """How large (m) and how heavy (kg) a model is, and in how many dimensions."""

    length: float
    mass: float
    dimension: int = 3

    @classmethod
    def of(cls, system: Any) -> Scale:
        """The scale of a system; of an empty one 1 m and 1 kg."""
        points = [lifted(body.position) for body in system.bodies]
        for element in (*system.joints, *system.forces, *system.measures):
            if getattr(element, "is_local", False):  # its points are in the axes of the bodies
                continue
            given = (getattr(element, name) for name in ("at", "at_i", "at_j") if name in type(element).parameters())
            points += [lifted(point) for point in given if point is not None]
        reach = [float(np.linalg.norm(np.ptp(np.array(points), axis=0)))] if points else []
        reach += [body.extent for body in system.bodies]
        mass = sum(body.mass_properties()[0] for body in system.bodies)
        return cls(max(reach, default=0.0) or 1.0, mass or 1.0, system.dimension)

    @property
    def weight(self) -> float:
        """N."""
        return self.mass * GRAVITY

    def stiffness(self, unit: str) -> float | None:
        """A stiffness under which the model's weight is seen to give way; None for other units."""
        if unit == "N/m":
            return rounded(10.0 * self.weight / self.length)
        if unit == "N m/rad":
            return rounded(self.weight * self.length)
        if unit == "N/m^n":
            return rounded(self.weight / (0.002 * self.length) ** 1.5)
        return None

    def number(self, p: Any) -> float:
        """A value for a parameter that is a number without a default: by its unit, within its bounds."""
        sizes = {"m": 0.1 * self.length, "kg": self.mass, "kg m^2": 0.1 * self.mass * self.length**2, "N": self.weight}
        value = rounded(sizes.get(p.unit) or self.stiffness(p.unit) or 1.0)
        if p.above is not None and value <= p.above:
            value = p.above + 1.0 if p.maximum is None else 0.5 * (p.above + p.maximum)
        if p.minimum is not None:
            value = max(value, p.minimum)
        return value if p.maximum is None else min(value, p.maximum)

    def wave(self) -> str:
        """A function of time that swings by a tenth of the length."""
        return f"{rounded(0.1 * self.length):g}*sin(2*t)"


def rounded(value: float) -> float:
    """A number of one digit near to another."""
    if value == 0.0:
        return 0.0
    step = 10.0 ** math.floor(math.log10(abs(value)))
    return float(f"{round(value / step) * step:.1g}")
