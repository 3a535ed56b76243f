"""The joints. Each is a list of basic constraints; see the table of free motions in their docstrings.

In a planar system the same lists give the joints of the plane, because equations that hold there by themselves are
left out: two for a `RevoluteJoint` (and a `SphericalJoint`), two for a `TranslationalJoint`, three for a `FixedJoint`,
one for a `PointOnLineJoint` and a `DistanceJoint`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..bodies.base import Body
from ..connections import Fact
from ..constraints.base import BasicConstraint
from ..constraints.basic import Coincident, EqualTurn, FixedDistance, Perpendicular, PointInPlane
from ..errors import Problem
from ..markers import Marker
from ..parameters import parameter
from ..proposals import Scale
from ..rotations import frame_with_axis, rotation_between
from .base import Joint
from .placed import JOINT_AXIS, SECOND_I, SECOND_J, PlacedJoint


def parallel(i: Marker, j: Marker) -> list[BasicConstraint]:
    """The z axes of two markers stay parallel: two equations."""
    return [Perpendicular(i.x, j.z), Perpendicular(i.y, j.z)]


def _cosine(a: Any, b: Any) -> float:
    """Of the angle between two directions."""
    return float(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1.0, 1.0))


def on_line(i: Marker, j: Marker) -> list[BasicConstraint]:
    """The second point stays on the first marker's z axis: two equations."""
    return [PointInPlane(i.x, j), PointInPlane(i.y, j)]


class SphericalJoint(PlacedJoint):
    """A ball joint: the points coincide (three equations, three relative rotations free)."""

    needs_axes = ""

    def constraints(self) -> list[BasicConstraint]:
        return [Coincident(self.i, self.j)]


class RevoluteJoint(PlacedJoint):
    """A hinge about `axis`: the points coincide and the axes stay parallel (five equations, one relative rotation
    free).
    """

    needs_axes = "ij"
    axis = JOINT_AXIS
    second_i, second_j = SECOND_I, SECOND_J
    freedoms = ("angle",)
    planar_axis = "normal"

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), *parallel(i, j)]


class FixedJoint(PlacedJoint):
    """The bodies move as one (six equations)."""

    needs_axes = ""
    second_i, second_j = SECOND_I, SECOND_J

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), *parallel(i, j), Perpendicular(i.x, j.y)]


class CylindricalJoint(PlacedJoint):
    """Rotation about `axis` and sliding along it are free (four equations)."""

    needs_axes = "ij"
    axis = JOINT_AXIS
    second_i, second_j = SECOND_I, SECOND_J
    freedoms = ("angle", "displacement")
    planar = False

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [*on_line(i, j), *parallel(i, j)]


class TranslationalJoint(PlacedJoint):
    """Sliding along `axis` is free (five equations)."""

    needs_axes = "ij"
    axis = JOINT_AXIS
    second_i, second_j = SECOND_I, SECOND_J
    freedoms = ("displacement",)
    planar_axis = "in plane"

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [*on_line(i, j), *parallel(i, j), Perpendicular(i.x, j.y)]


class PlanarJoint(PlacedJoint):
    """The second body moves in the plane through `at` with normal `axis` and turns about it (three equations)."""

    needs_axes = "ij"
    axis = JOINT_AXIS
    freedoms = ("angle",)
    planar = False

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [PointInPlane(i.z, j), *parallel(i, j)]


class PointOnLineJoint(PlacedJoint):
    """The second body's point stays on the line through `at` along `axis`, fixed to the first body (two equations)."""

    needs_axes = "i"
    axis = JOINT_AXIS.lying_on("i")
    planar_axis = "in plane"

    def constraints(self) -> list[BasicConstraint]:
        return on_line(self.i, self.j)


class UniversalJoint(PlacedJoint):
    """A Cardan joint: the points coincide, and an axis of each body stay perpendicular (four equations).

    `axis_i` is fixed to the first body, `axis_j` to the second; they are perpendicular when described.
    """

    planar = False
    needs_axes = "ij"
    own_axes = ()

    axis = None
    axis_i = parameter(kind="axis", planar=(1.0, 0.0), help="direction fixed to the first body; global when described")
    axis_j = parameter(kind="axis", planar=(0.0, 1.0), help="direction fixed to the second body; global when described")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        cosine = 0.0 if self.local else _cosine(self.axis_i, self.axis_j)
        if abs(cosine) > 1e-6:
            angle = np.degrees(np.arccos(cosine))
            yield self.problem(
                "axis_j", f"stands at {angle:.4g} degrees to axis_i; make the axes of the cross perpendicular"
            )

    @property
    def i(self) -> Marker:
        return self.local_marker("i") if self.local else self.marker(self.body_i, self.at, self.axis_i)

    @property
    def j(self) -> Marker:
        return self.local_marker("j") if self.local else self.marker(self.body_j, self.at, self.axis_j)

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), Perpendicular(i.z, j.z)]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        axis = picked.get("axis", (1.0, 0.0, 0.0))
        return super().proposed(scale, picked) | {"axis_i": axis, "axis_j": frame_with_axis(axis)[:, 0]}

    @classmethod
    def example(cls, *bodies: Body) -> UniversalJoint:
        return cls("joint", *bodies, at=(0.2, 0.1, -0.3), axis_i=(1.0, 2.0, -1.0), axis_j=(1.0, 0.0, 1.0))


FOLDED: Final = -0.98
"""Cosine of the angle between the shafts of a `ConstantVelocityJoint` below which they are nearly folded back."""


class ConstantVelocityJoint(PlacedJoint):
    """The points coincide, and both shafts turn at the same rate whatever the angle between them (four equations).

    The shafts are the markers' z axes: `axis` when described, if they are in line; otherwise `axis_i` on the first body
    and `axis_j` on the second, which go on in the same sense, at less than a right angle. The second marker's axes e
    are those of the first, d, turned about d_z x e_z by the angle between the shafts. C_4 = d_x . e_y - d_y . e_x
    keeps it so: the relative rotation is about an axis normal to both shafts, and C_4' is proportional to
    (omega_j - omega_i) . (d_z + e_z). So shafts in bearings turn equally, omega_j . e_z = omega_i . d_z, also while
    their housings swing about the normal of both. Singular only for shafts folded back onto each other.
    """

    planar = False
    needs_axes = "ij"
    own_axes = ()

    axis = parameter(None, kind="axis", help="global direction of both shafts when described, if they are in line")
    axis_i = parameter(None, kind="axis", help="global direction of the first body's shaft when described")
    axis_j = parameter(None, kind="axis", help="global direction of the second body's shaft when described")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.local:
            return
        shafts = {"axis_i": self.shaft_i, "axis_j": self.shaft_j}
        for field, shaft in shafts.items():
            if shaft is None:
                yield self.problem(
                    field, "found nothing; give axis=(x, y, z) if the shafts are in line, otherwise axis_i and axis_j"
                )
        if all(given is not None for given in (self.axis, self.axis_i, self.axis_j)):
            yield self.problem("axis", "has no meaning beside axis_i and axis_j; leave it out")
        if all(shaft is not None for shaft in shafts.values()):
            cosine = _cosine(self.shaft_i, self.shaft_j)
            if cosine <= 1e-6:
                angle = np.degrees(np.arccos(cosine))
                yield self.problem(
                    "axis_j",
                    f"stands at {angle:.4g} degrees to axis_i; shafts go on in the same sense, within a right angle: "
                    "reverse one of them",
                )

    @property
    def shaft_i(self) -> Any:
        """Global direction of the first body's shaft when described."""
        return self.axis if self.axis_i is None else self.axis_i

    @property
    def shaft_j(self) -> Any:
        """Global direction of the second body's shaft when described."""
        return self.axis if self.axis_j is None else self.axis_j

    @property
    def i(self) -> Marker:
        return self.local_marker("i") if self.local else self.marker(self.body_i, self.at, self.shaft_i)

    @property
    def j(self) -> Marker:
        if self.local:
            return self.local_marker("j")
        bent = rotation_between(self.shaft_i, self.shaft_j) @ self.axes_along(self.shaft_i)
        return Marker(self.body_j, at=self.at, axes=bent)

    def implied(self) -> dict[str, Any]:
        """Shafts in line are one direction; elsewhere each has its own."""
        if self.local or self.axis_j is not None:
            return {}
        return {"axis_j": self.shaft_j} | ({} if self.axis_i is None else {"axis": None})

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [Coincident(i, j), EqualTurn(i, j)]

    def remarks(self, t: NDArray[np.float64], axes_i: NDArray[np.float64], axes_j: NDArray[np.float64]) -> list[str]:
        """Where a motion folds the shafts back onto each other; of the axes (n, 3, 3) of its markers at the times t."""
        folded = np.flatnonzero(np.sum(axes_i[:, :, 2] * axes_j[:, :, 2], axis=1) < FOLDED)
        if not len(folded):
            return []
        return [
            f"{self}: its shafts came close to folding back onto each other at t = {t[folded[0]]:.6g} s, where the "
            "joint is singular: what follows is not to be trusted; keep them well below 180 degrees, such as by stops"
        ]

    @classmethod
    def example(cls, *bodies: Body) -> ConstantVelocityJoint:
        return cls("joint", *bodies, at=(0.2, 0.1, -0.3), axis_i=(1.0, 2.0, -1.0), axis_j=(1.0, 1.0, 0.5))


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

    def facts(self) -> list[Fact]:
        return [("Length as described", [math.dist(self.at_i, self.at_j)], "m"), *super().facts()]

    def constraints(self) -> list[BasicConstraint]:
        length: Any = np.linalg.norm(self.at_j - self.at_i)
        return [FixedDistance(self.i, self.j, distance=length)]

    @classmethod
    def example(cls, *bodies: Body) -> DistanceJoint:
        return cls("joint", *bodies, at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6))
