"""Stops: elastic limits of the motion in a joint or between two points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..connections import NEEDED_AXIS, Fact
from ..errors import Problem
from ..functions import watch
from ..measures import angle, angle_rate, displacement, displacement_rate, distance, distance_rate
from ..parameters import derived, parameter
from ..proposals import Scale, rounded
from .base import AtPoint, ForceElement
from .measured import angle_gradient, displacement_gradient, distance_gradient

if TYPE_CHECKING:
    from ..bodies.base import Body


def stop(stiffness, damping, lower, upper, x, rate):
    """Load of a pair of stops against x, and its derivatives by x and x'.

    Beyond a stop by d: k d (1 + c d'), never pulling back (Hunt and Crossley's law with exponent 1); zero in between.
    """
    if x > upper:
        factor = 1.0 + damping * rate
        if factor > 0.0:
            d = x - upper
            return stiffness * d * factor, stiffness * factor, stiffness * d * damping
    elif x < lower:
        factor = 1.0 - damping * rate
        if factor > 0.0:
            d = lower - x
            return -stiffness * d * factor, stiffness * factor, stiffness * d * damping
    return 0.0, 0.0, 0.0


def undamped(stops: Any) -> bool:
    """Whether stops give back all energy."""
    return stops.damping == 0.0


def compressed(stiffness, lower, upper, x):
    """Energy of a pair of stops: k d^2 / 2."""
    d = x - upper if x > upper else (lower - x if x < lower else 0.0)
    return 0.5 * stiffness * d * d


class Limit(AtPoint, ForceElement):
    """Base of stops on the motion between two bodies, given like a joint by `at` and `axis`."""

    counts_from_description = True

    axis = NEEDED_AXIS
    stiffness: Any
    lower = parameter(kind="number", help="lower stop, from the described configuration")
    upper = parameter(kind="number", help="upper stop, from the described configuration")
    damping = parameter(0.0, unit="s/m or s/rad", minimum=0.0, help="c: the load is k d (1 + c d') at depth d")

    @derived
    def reached(self) -> float:
        """The measure where the load was last taken, which a run notes (`watch`)."""
        return 0.0

    def stops(self) -> list[float]:
        """Where they are."""
        return [self.lower, self.upper]

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if not self.lower < self.upper:
            yield self.problem("upper", f"found {self.upper:g}; allowed is a number above lower = {self.lower:g}")


class AngleLimit(Limit):
    """Stops of the angle about an axis, such as that of a revolute joint, in rad. Turns are counted."""

    counts_turns = True
    only_turns = True
    planar_axis = "normal"

    stiffness = parameter(kind="number", unit="N m/rad", above=0.0, help="k")

    conservative = property(undamped)

    def wrench(self, t, i, j):
        theta, a = angle(i, j)
        watch(self, theta)
        m, _, _ = stop(self.stiffness, self.damping, self.lower, self.upper, theta, angle_rate(i, j))
        return (0.0, 0.0, 0.0), (-m * a[0], -m * a[1], -m * a[2])

    def wrench_gradient(self, t, i, j, g):
        theta, _ = angle(i, j)
        m, by_x, by_rate = stop(self.stiffness, self.damping, self.lower, self.upper, theta, angle_rate(i, j))
        angle_gradient(i, j, -m, -by_x, -by_rate, g)

    def energy(self, t, i, j):
        theta, _ = angle(i, j)
        return compressed(self.stiffness, self.lower, self.upper, theta)

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        return super().proposed(scale, picked) | {"lower": -0.5, "upper": 0.5}

    @classmethod
    def example(cls, *bodies: Body) -> AngleLimit:
        stop = cls("stop", *bodies, at=(0.3, -0.2, 0.5), axis=(1.0, 2.0, -1.0), lower=-0.5, upper=-0.3, stiffness=300.0)
        stop.damping = 0.1
        return stop


class DisplacementLimit(Limit):
    """Stops of the displacement along an axis, such as that of a translational joint, in m."""

    planar_axis = "in plane"

    stiffness = parameter(kind="number", unit="N/m", above=0.0, help="k")

    conservative = property(undamped)

    def wrench(self, t, i, j):
        s, d = displacement(i, j)
        watch(self, s)
        f, _, _ = stop(self.stiffness, self.damping, self.lower, self.upper, s, displacement_rate(i, j))
        return (-f * d[0], -f * d[1], -f * d[2]), (0.0, 0.0, 0.0)

    def wrench_gradient(self, t, i, j, g):
        s, _ = displacement(i, j)
        f, by_x, by_rate = stop(self.stiffness, self.damping, self.lower, self.upper, s, displacement_rate(i, j))
        displacement_gradient(i, j, -f, -by_x, -by_rate, g)

    def energy(self, t, i, j):
        s, _ = displacement(i, j)
        return compressed(self.stiffness, self.lower, self.upper, s)

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        way = rounded(0.2 * scale.length)
        return super().proposed(scale, picked) | {"lower": -way, "upper": way}

    @classmethod
    def example(cls, *bodies: Body) -> DisplacementLimit:
        stop = cls("stop", *bodies, at=(0.3, -0.2, 0.5), axis=(1.0, 2.0, -1.0), lower=-0.5, upper=-0.3, stiffness=300.0)
        stop.damping = 0.1
        return stop


class DistanceLimit(ForceElement):
    """Stops of the distance between two points: a bump stop (`lower`), a check strap or rope (`upper`), or both.

    Beyond a stop by d the points are pushed apart, or pulled together, with k d (1 + c d'), as in the other limits.
    """

    lower = parameter(0.0, unit="m", minimum=0.0, help="distance below which the points are pushed apart")
    upper = parameter(None, kind="number", unit="m", above=0.0, help="distance above which they are pulled together")
    stiffness = parameter(kind="number", unit="N/m", above=0.0, help="k")
    damping = parameter(0.0, unit="s/m", minimum=0.0, help="c: the load is k d (1 + c d') at depth d")

    @derived
    def longest(self) -> float:
        """`upper`, or infinity."""
        return np.inf if self.upper is None else self.upper

    @derived
    def reached(self) -> float:
        """The measure where the load was last taken, which a run notes (`watch`)."""
        return 0.0

    def stops(self) -> list[float]:
        """Where they are."""
        return [stop for stop in (self.lower, self.longest) if 0.0 < stop < np.inf]

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if not self.lower < self.longest:
            yield self.problem("upper", f"found {self.upper:g}; allowed is a number above lower = {self.lower:g}")

    conservative = property(undamped)

    def wrench(self, t, i, j):
        length, x, y, z = distance(i, j)
        watch(self, length)
        s, _, _ = stop(self.stiffness, self.damping, self.lower, self.longest, length, distance_rate(i, j))
        return (s * x, s * y, s * z), (0.0, 0.0, 0.0)

    def wrench_gradient(self, t, i, j, g):
        length, _, _, _ = distance(i, j)
        s, by_x, by_rate = stop(self.stiffness, self.damping, self.lower, self.longest, length, distance_rate(i, j))
        distance_gradient(i, j, s, by_x, by_rate, g)

    def energy(self, t, i, j):
        length, _, _, _ = distance(i, j)
        return compressed(self.stiffness, self.lower, self.longest, length)

    def facts(self) -> list[Fact]:
        return [("Length as described", [math.dist(self.point_i, self.point_j)], "m")]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        values = super().proposed(scale, picked)
        length = math.dist(values["at_i"], values["at_j"]) if {"at_i", "at_j"} <= values.keys() else 0.0
        return values | {"lower": 0.0, "upper": rounded(1.2 * max(length, 0.1 * scale.length))}

    @classmethod
    def example(cls, *bodies: Body) -> DistanceLimit:
        stop = cls("stop", *bodies, at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6), stiffness=300.0, damping=0.1)
        stop.update(lower=1.2, upper=1.3)
        return stop
