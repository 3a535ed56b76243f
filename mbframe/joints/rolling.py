"""Rolling and sliding contacts that constrain velocities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..bodies.base import Body
from ..constraints.base import BasicConstraint
from ..constraints.basic import PointInPlane
from ..constraints.nonholonomic import DiskOnPlane, NoSideSlip, NoSlip, NoSlipSphere
from ..errors import Problem
from ..markers import Marker
from ..parameters import parameter
from ..plane import NORMAL, lifted
from ..proposals import Scale
from ..rotations import skew
from .base import Joint


def upright(joint: Any, what: str) -> Iterator[Problem]:
    """A problem if the axis of a joint is parallel to the normal of its plane."""
    axis, normal = lifted(joint.axis), lifted(joint.normal)
    across = skew(axis) @ normal
    if math.sqrt(across @ across) < 1e-6 * math.sqrt(axis @ axis) * math.sqrt(normal @ normal):
        yield joint.problem("axis", f"is parallel to the normal of the plane; {what}")


def _across_normal(values: Mapping[str, Any]) -> dict[str, Any]:
    """The y axis instead of a proposed axis that is the usual normal z."""
    axis = values.get("axis")
    along = axis is not None and len(axis) == 3 and abs(axis[2]) > 0.999 * np.linalg.norm(axis)
    return {"axis": np.array([0.0, 1.0, 0.0])} if along else {}


class RollingContact(Joint):
    """Base of the contacts with a plane fixed to the first body."""

    planar = False

    radius: Any
    at = Joint.at.lying_on("j")
    axis = Joint.axis.lying_on("j")
    normal = parameter((0.0, 0.0, 1.0), kind="axis", on="i", help="global normal of the plane when described")
    plane_point = parameter(
        (0.0, 0.0, 0.0), kind="point", unit="m", on="i", help="a global point of the plane when described"
    )

    @property
    def i(self) -> Marker:
        return self.marker(self.body_i, self.plane_point, self.normal)

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        """It stands on a horizontal plane: the axle is not the plane's normal, and the plane lies a radius below."""
        values = super().proposed(scale, picked)
        if "at" in values:
            values["plane_point"] = np.array([0.0, 0.0, values["at"][2] - values["radius"]])
        return values | _across_normal(values)


class RollingDisk(RollingContact):
    """A disk (the second body) rolls without slip on a plane of the first: one holonomic, two nonholonomic equations.

    `at` is the disk's centre, `axis` its axle. With a `crown_radius` the rim is a torus: `radius` is then that of the
    circle of the crown's centres, and the disk touches at radius + crown_radius when upright.
    """

    axis = parameter(kind="axis", planar=NORMAL, on="j", help="global direction of the axle when described")
    radius = parameter(kind="number", unit="m", above=0.0, help="radius of the disk")
    crown_radius = parameter(0.0, unit="m", minimum=0.0, help="radius of the rim's cross-section")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        yield from upright(self, "give the direction of the axle of a disk that does not lie flat")

    def constraints(self) -> list[BasicConstraint]:
        size: dict[str, Any] = {"radius": self.radius, "crown_radius": self.crown_radius}
        i, j = self.i, self.j
        return [DiskOnPlane(i, j, **size), NoSlip(i, j, **size)]

    @classmethod
    def example(cls, *bodies: Body) -> RollingDisk:
        disk = cls("disk", *bodies, at=(0.0, 0.0, 0.5), axis=(0.6, 0.0, 0.8), radius=0.75, crown_radius=0.05)
        disk.plane_point = (1.0, 0.5, 0.0)
        return disk


class RollingSphere(RollingContact):
    """A sphere (the second body) rolls without slip on a plane of the first: one holonomic, two nonholonomic equations.

    `at` is the sphere's centre. It may still spin about the normal.
    """

    radius = parameter(kind="number", unit="m", above=0.0, help="radius of the sphere")

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [PointInPlane(i.z, j, constant=self.radius), NoSlipSphere(i, j, radius=self.radius)]

    @classmethod
    def example(cls, *bodies: Body) -> RollingSphere:
        return cls("sphere", *bodies, at=(0.2, -0.1, 0.5), radius=0.5, plane_point=(1.0, 0.5, 0.0))


class KnifeEdge(Joint):
    """A blade on the second body does not move sideways in a plane of the first: one nonholonomic equation.

    `at` is the blade's point, `axis` its direction, `normal` that of the plane. It is the velocity equation only: hold
    the body in its plane with other joints.
    """

    planar_axis = "in plane"

    at = Joint.at.lying_on("j")
    normal = parameter((0.0, 0.0, 1.0), kind="axis", on="i", help="global normal of the plane when described")
    axis = parameter(kind="axis", on="j", help="global direction of the blade when described")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        yield from upright(self, "give the direction in which the blade points")

    @property
    def i(self) -> Marker:
        return self.marker(self.body_i, self.at, self.normal)

    def constraints(self) -> list[BasicConstraint]:
        return [NoSideSlip(self.i, self.j)]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        values = super().proposed(scale, picked)
        return values | _across_normal(values)

    @classmethod
    def example(cls, *bodies: Body) -> KnifeEdge:
        return cls("edge", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, 0.5), normal=(0.0, 0.3, 1.0))
