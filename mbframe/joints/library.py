"""The joints."""

from __future__ import annotations

from ..constraints.base import BasicConstraint
from ..constraints.basic import Coincident, Perpendicular
from .base import Joint


class SphericalJoint(Joint):
    """A ball joint: the points coincide (three equations, three relative rotations free)."""

    def constraints(self) -> list[BasicConstraint]:
        return [Coincident(self.i, self.j)]


class RevoluteJoint(Joint):
    """A hinge about `axis`: the points coincide and the axes stay parallel (five equations, one relative rotation
    free).
    """

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), Perpendicular(i.x, j.z), Perpendicular(i.y, j.z)]
