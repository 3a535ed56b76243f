"""Joints that couple motions: screw, gear, rack and pinion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..bodies.base import Body
from ..constraints.base import BasicConstraint
from ..constraints.relations import MeasureRelation, angle_term, displacement_term
from ..errors import ModelError, Problem
from ..markers import Marker
from ..parameters import parameter
from ..proposals import Scale, rounded
from .base import Joint
from .library import CylindricalJoint, RevoluteJoint, TranslationalJoint, on_line, parallel
from .placed import JOINT_AXIS, PlacedJoint


class ScrewJoint(PlacedJoint):
    """A nut on a screw: the second body advances by `pitch` along `axis` for every turn about it (five equations).

    s = pitch theta / (2 pi), right-handed for a positive pitch; turns are counted.
    """

    needs_axes = "ij"
    axis = JOINT_AXIS
    freedoms = ("angle", "displacement")
    planar = False

    pitch = parameter(kind="number", unit="m", help="advance per turn; negative for a left-handed thread")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.pitch == 0.0:
            yield self.problem("pitch", "found 0, which leaves no displacement; use a RevoluteJoint")

    def constraints(self) -> list[BasicConstraint | MeasureRelation]:
        i, j = self.i, self.j
        thread = MeasureRelation(displacement_term(i, j, 1.0), angle_term(i, j, -self.pitch / (2.0 * np.pi)))
        return [*on_line(i, j), *parallel(i, j), thread]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        return super().proposed(scale, picked) | {"pitch": rounded(0.1 * scale.length)}

    @classmethod
    def example(cls, *bodies: Body) -> ScrewJoint:
        return cls("screw", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, -1.0), pitch=0.4)


class Coupling(Joint):
    """Base of the relations between the motions of two joints; called as `Class(name, first_joint, second_joint,
    ...)`.
    """

    at = None
    axis = None
    first = parameter(kind="reference", help="first joint")
    second = parameter(kind="reference", help="second joint")

    first_kind: tuple[type, ...]
    second_kind: tuple[type, ...]

    def __init__(self, name: str, first: Joint, second: Joint, **values: Any) -> None:
        for field, joint, kinds in (("first", first, self.first_kind), ("second", second, self.second_kind)):
            if not isinstance(joint, kinds):
                allowed = " or ".join(kind.__name__ for kind in kinds)
                message = f"found {joint!r}; allowed is a {allowed}; pass the joint that you added to the system"
                raise ModelError([Problem(f"{type(self).__name__} {name!r}", field, message)])
        super().__init__(name, first.body_j, second.body_j, first=first, second=second, **values)

    def check(self) -> Iterator[Problem]:
        """The joints must differ; their second bodies need not: both may be the ground."""
        if self.first is self.second:
            yield self.problem("second", f"is the first joint too, {self.first.name!r}; choose two different joints")

    @property
    def i(self) -> Marker:
        return self.first.j

    @property
    def j(self) -> Marker:
        return self.second.j


class GearJoint(Coupling):
    """A pair of gears: the angle of the first joint is `ratio` times that of the second (one equation).

    theta_1 = ratio theta_2, each the angle of the joint's second body against its first about the joint's axis; a
    pair of external gears with parallel axes has a negative ratio. Turns are counted.
    """

    first_kind = (RevoluteJoint, CylindricalJoint)
    second_kind = (RevoluteJoint, CylindricalJoint)
    ratio = parameter(kind="number", help="theta_1 / theta_2, not zero")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.ratio == 0.0:
            yield self.problem(
                "ratio",
                "found 0, which would lock the first joint and leave the second free; give "
                "theta_1 / theta_2, for spur gears minus the teeth of the second by those of the first",
            )

    def constraints(self) -> list[BasicConstraint | MeasureRelation]:
        first, second = self.first, self.second
        return [MeasureRelation(angle_term(first.i, first.j, 1.0), angle_term(second.i, second.j, -self.ratio))]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        return super().proposed(scale, picked) | {"ratio": -1.0}

    @classmethod
    def example(cls, *joints: Any) -> GearJoint:
        return cls("gear", *joints, ratio=-1.5)


class RackAndPinionJoint(Coupling):
    """A rack driven by a pinion: s = radius theta (one equation).

    theta is the angle of the first joint (the pinion's hinge), s the displacement of the second (the rack's slide).
    """

    first_kind = (RevoluteJoint, CylindricalJoint)
    second_kind = (TranslationalJoint, CylindricalJoint)
    radius = parameter(kind="number", unit="m", help="pitch radius of the pinion, not zero; its sign gives the sense")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.radius == 0.0:
            yield self.problem("radius", "found 0, which would lock the rack; give the pinion's pitch radius")

    def constraints(self) -> list[BasicConstraint | MeasureRelation]:
        first, second = self.first, self.second
        return [MeasureRelation(displacement_term(second.i, second.j, 1.0), angle_term(first.i, first.j, -self.radius))]

    @classmethod
    def example(cls, *joints: Any) -> RackAndPinionJoint:
        return cls("rack", *joints, radius=0.4)
