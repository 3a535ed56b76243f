"""The joints. Each is a list of basic constraints; see the table of free motions in their docstrings.

In a planar system the same lists give the joints of the plane, because equations that hold there by themselves are
left out: two for a `RevoluteJoint` (and a `SphericalJoint`), two for a `TranslationalJoint`, three for a `FixedJoint`,
one for a `PointOnLineJoint` and a `DistanceJoint`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..bodies.base import Body
from ..constraints.base import BasicConstraint
from ..constraints.basic import Coincident, EqualTurn, FixedDistance, Perpendicular, PointInPlane
from ..errors import Problem
from ..markers import Marker
from ..parameters import parameter
from .base import Joint


def parallel(i: Marker, j: Marker) -> list[BasicConstraint]:
    """The z axes of two markers stay parallel: two equations."""
    return [Perpendicular(i.x, j.z), Perpendicular(i.y, j.z)]


def on_line(i: Marker, j: Marker) -> list[BasicConstraint]:
    """The second point stays on the first marker's z axis: two equations."""
    return [PointInPlane(i.x, j), PointInPlane(i.y, j)]


class SphericalJoint(Joint):
    """A ball joint: the points coincide (three equations, three relative rotations free)."""

    def constraints(self) -> list[BasicConstraint]:
        return [Coincident(self.i, self.j)]


class RevoluteJoint(Joint):
    """A hinge about `axis`: the points coincide and the axes stay parallel (five equations, one relative rotation
    free).
    """

    freedoms = ("angle",)
    planar_axis = "normal"

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), *parallel(i, j)]


class FixedJoint(Joint):
    """The bodies move as one (six equations)."""

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), *parallel(i, j), Perpendicular(i.x, j.y)]


class CylindricalJoint(Joint):
    """Rotation about `axis` and sliding along it are free (four equations)."""

    freedoms = ("angle", "displacement")
    planar = False

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [*on_line(i, j), *parallel(i, j)]


class TranslationalJoint(Joint):
    """Sliding along `axis` is free (five equations)."""

    freedoms = ("displacement",)
    planar_axis = "in plane"

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [*on_line(i, j), *parallel(i, j), Perpendicular(i.x, j.y)]


class PlanarJoint(Joint):
    """The second body moves in the plane through `at` with normal `axis` and turns about it (three equations)."""

    freedoms = ("angle",)
    planar = False

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [PointInPlane(i.z, j), *parallel(i, j)]


class PointOnLineJoint(Joint):
    """The second body's point stays on the line through `at` along `axis`, fixed to the first body (two equations)."""

    planar_axis = "in plane"

    def constraints(self) -> list[BasicConstraint]:
        return on_line(self.i, self.j)


class UniversalJoint(Joint):
    """A Cardan joint: the points coincide, and an axis of each body stay perpendicular (four equations).

    `axis_i` is fixed to the first body, `axis_j` to the second; they are perpendicular when described.
    """

    planar = False

    axis = None
    axis_i = parameter((1.0, 0.0, 0.0), kind="axis", help="global direction when described, fixed to the first body")
    axis_j = parameter((0.0, 1.0, 0.0), kind="axis", help="global direction when described, fixed to the second body")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        cosine = float(self.axis_i @ self.axis_j / np.linalg.norm(self.axis_i) / np.linalg.norm(self.axis_j))
        if abs(cosine) > 1e-6:
            angle = np.degrees(np.arccos(cosine))
            yield self.problem(
                "axis_j", f"stands at {angle:.4g} degrees to axis_i; make the axes of the cross perpendicular"
            )

    @property
    def i(self) -> Marker:
        return self.marker(self.body_i, self.at, self.axis_i)

    @property
    def j(self) -> Marker:
        return self.marker(self.body_j, self.at, self.axis_j)

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), Perpendicular(i.z, j.z)]

    @classmethod
    def example(cls, *bodies: Body) -> UniversalJoint:
        return cls("joint", *bodies, at=(0.2, 0.1, -0.3), axis_i=(1.0, 2.0, -1.0), axis_j=(1.0, 0.0, 1.0))


class ConstantVelocityJoint(Joint):
    """The points coincide, and both shafts turn at the same rate whatever the angle between them (four equations).

    The shafts are the markers' z axes, along `axis` when described. C_4 = d_x . e_y - d_y . e_x keeps the bisecting
    plane: the rotation of one shaft about its axis equals that of the other.
    """

    planar = False

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), EqualTurn(i, j)]


class DistanceJoint(Joint):
    """A massless rod with ball joints at its ends: the points `at_i` and `at_j` keep their distance (one equation)."""

    at = None
    axis = None
    at_i = parameter(kind="point", unit="m", help="global point on the first body when described")
    at_j = parameter(kind="point", unit="m", help="global point on the second body when described")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if not np.any(self.at_i != self.at_j):
            yield self.problem("at_j", "coincides with at_i; a rod needs a length (or use a SphericalJoint)")

    @property
    def i(self) -> Marker:
        return Marker(self.body_i, at=self.at_i, axes=self.frame)

    @property
    def j(self) -> Marker:
        return Marker(self.body_j, at=self.at_j, axes=self.frame)

    def constraints(self) -> list[BasicConstraint]:
        length: Any = np.linalg.norm(self.at_j - self.at_i)
        return [FixedDistance(self.i, self.j, distance=length)]

    @classmethod
    def example(cls, *bodies: Body) -> DistanceJoint:
        return cls("joint", *bodies, at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6))
