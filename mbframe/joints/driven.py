"""Drivers: motions given as functions of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from ..bodies.base import Body
from ..constraints.base import BasicConstraint
from ..constraints.relations import (
    AngleTerm,
    DisplacementTerm,
    DistanceTerm,
    MeasureRelation,
    MeasureTerm,
    angle_term,
    displacement_term,
)
from ..errors import ModelError, Problem
from ..functions import Function, jumps
from ..markers import Marker
from ..measures import Angle, Displacement, Distance, Measure
from ..parameters import parameter
from ..proposals import Scale
from ..rotations import frame_with_axis
from .base import Joint
from .library import RevoluteJoint


class Drive(Joint):
    """Base of what makes measures s follow functions of time: C = s - s_0 - f(t), an equation each.

    f must have a continuous slope; a jump of f' would be an impact. f' and f'' enter the velocities and accelerations
    exactly, so that all three levels are consistent. The force (or torque) that drives a measure is minus its
    multiplier, and its power is that times f'.
    """

    symbol = "driver"
    axis: Any = None
    drives: ClassVar[tuple[str, ...]]  # names of the parameters that are functions of time

    @property
    def unit(self) -> str:
        """The unit of what it drives."""
        return "m"

    def functions(self) -> dict[str, Function]:
        """The functions that are given, by parameter, in the order of the equations."""
        return {name: value for name in self.drives if (value := getattr(self, name)) is not None}

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        for name, function in self.functions().items():
            if function.signals:
                yield self.problem(
                    name,
                    f"names {', '.join(function.signals)}, which may jump, and no body can follow a jump; drive it by "
                    "a force that depends on the input, such as a PIDActuator with this setpoint",
                )
            if function.kind == "table" and not function.has_two_derivatives:
                yield self.problem(
                    name,
                    "found a table whose curvature jumps, which no force can follow; take the spline through the same "
                    'points: mb.Function.table(x, y, interpolation="spline")',
                )

    def remarks(self, start: float, end: float) -> Iterator[str]:
        """What is doubtful about its functions in a run from one time to another; shown in the run's warnings."""
        for name, function in self.functions().items():
            if not function.bent:
                continue
            try:
                for part, what in ((function, "function"), (function.derivative, "slope of the function")):
                    if places := jumps(part, start, end):
                        yield (
                            f"{self}, {name}: the {what} jumps at t = {places[0]:.6g} s, where bodies would need an "
                            "infinite force; make it smooth, such as step(t, t0, h0, t1, h1)"
                        )
                        break
            except ModelError:  # it has no value somewhere: the run says so if it gets there
                continue

    def constraints(self) -> Sequence[BasicConstraint | MeasureRelation]:
        """One term, or relation, for each function of time."""
        raise NotImplementedError(f"{type(self).__name__} does not define constraints(self)")


class Driver(Drive):
    """A motor in a joint: its angle or its displacement is a given function of time (one equation).

    Driver("motor", hinge, angle="2*pi*t") or Driver("ram", slide, displacement="0.1*sin(3*t)"). Both count from the
    described configuration: the angle of the joint's second body against its first about the joint's axis, over any
    number of turns; the displacement along it. The joint must leave that motion free (`Joint.freedoms`).
    """

    at: Any = None
    counts_from_description = True
    drives = ("angle", "displacement")
    joint = parameter(kind="reference", help="the joint that is driven")
    angle = parameter(None, kind="function", unit="rad", help="f: angle of the joint, from the described configuration")
    displacement = parameter(
        None, kind="function", unit="m", help="f: displacement of the joint, from the described configuration"
    )

    def __init__(self, name: str, joint: Joint, **values: Any) -> None:
        if not isinstance(joint, Joint) or isinstance(joint, Drive):
            message = f"found {joint!r}; allowed is a joint; pass the one that you added to the system"
            raise ModelError([Problem(f"{type(self).__name__} {name!r}", "joint", message)])
        super().__init__(name, joint.body_i, joint.body_j, joint=joint, **values)

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        driven = self.functions()
        if len(driven) != 1:
            found = "both" if driven else "nothing"
            message = f"found {found}; allowed is either angle=... or displacement=...; one driver drives one motion"
            yield self.problem("angle", message)
        for name in driven:
            if name not in self.joint.freedoms:
                free = " and ".join(f"{other}=" for other in self.joint.freedoms)
                can = f"it has {free}" if free else "drive a revolute, translational, cylindrical or screw joint"
                yield self.problem(name, f"{self.joint} has no free {name} about or along its axis; {can}")

    @property
    def i(self) -> Marker:
        return self.joint.i

    @property
    def j(self) -> Marker:
        return self.joint.j

    def constraints(self) -> list[MeasureTerm]:
        if self.angle is not None:
            return [angle_term(self.i, self.j, 1.0, self.angle)]
        return [displacement_term(self.i, self.j, 1.0, self.displacement)]

    @property
    def unit(self) -> str:
        return "m" if self.angle is None else "rad"

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        turns = "angle" in picked["joint"].freedoms
        return super().proposed(scale, picked) | ({"angle": "2*t"} if turns else {"displacement": scale.wave()})

    @classmethod
    def example(cls, *bodies: Body) -> Driver:
        joint = RevoluteJoint("hinge", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, -1.0))
        return cls("motor", joint, angle="0.3*sin(2*t) + 0.2*t**2")


TERMS: Final[dict[type[Measure], type[MeasureTerm]]] = {
    Distance: DistanceTerm,
    Displacement: DisplacementTerm,
    Angle: AngleTerm,
}


class Prescribed(Drive):
    """A measure is a given function of time (one equation): Prescribed("jack", length, value="0.8 + 0.1*sin(t)").

    `value` is the measure itself, not its change: a distance (m), a displacement (m), or an angle (rad), which is
    counted over turns.
    """

    at: Any = None
    drives = ("value",)
    measure = parameter(kind="reference", help="the measure: a Distance, Displacement or Angle")
    value = parameter(kind="function", unit="m or rad", help="f: what the measure is at the time t")

    def __init__(self, name: str, measure: Measure, **values: Any) -> None:
        if type(measure) not in TERMS:
            raise ModelError([_no_measure(f"{type(self).__name__} {name!r}", "measure", measure)])
        super().__init__(name, measure.body_i, measure.body_j, measure=measure, **values)

    @property
    def i(self) -> Marker:
        return self.measure.i

    @property
    def j(self) -> Marker:
        return self.measure.j

    def constraints(self) -> list[MeasureTerm]:
        return [_term(self.measure, 1.0, self.value)]

    @property
    def unit(self) -> str:
        return self.measure.unit

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        measure = picked["measure"]
        wave = "0.5*sin(2*t)" if measure.unit == "rad" else scale.wave()
        start = measure.described_value()
        return super().proposed(scale, picked) | {"value": f"{start:.10g} + {wave}" if start else wave}

    @classmethod
    def example(cls, *bodies: Body) -> Prescribed:
        measure = Distance("length", *bodies, at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6))
        length = float(np.linalg.norm(measure.point_i - measure.point_j))
        return cls("jack", measure, value=f"{length!r} + 0.1*sin(3*t)")


class LinearConstraint(Drive):
    """A linear relation between coordinates of bodies (one equation): sum c_k s_k = value(t).

    s_k are measures: with a point of the ground as their first point a `Displacement` is a Cartesian coordinate of a
    point of a body and an `Angle` the angle of a body, between two bodies they are relative coordinates. Four are what
    two bodies have in the generalized constraint of [PappalardoGuida2018a]: a direction and an angle each.
    Displacements and distances are those between the points, angles count from the described configuration and over
    turns. The described configuration need not fulfil it: then the model is assembled first.

        x = system.add(mb.Displacement("x", system.ground, cart, at_j=(0.3, 0, 0), axis=(1, 0, 0)))
        theta = system.add(mb.Angle("theta", system.ground, wheel, axis=(0, 1, 0)))
        system.add(mb.LinearConstraint("rope", x, theta, coefficients=(1.0, -0.2), value="0.3 + 0.1*t"))

    Its multiplier is that of C = sum c_k s_k - value(t); `value` must have a continuous slope.
    """

    symbol = "joint"
    at: Any = None
    drives = ("value",)
    measure = parameter(kind="reference", help="s_1: a Distance, Displacement or Angle")
    second = parameter(None, kind="reference", help="s_2")
    third = parameter(None, kind="reference", help="s_3")
    fourth = parameter(None, kind="reference", help="s_4")
    coefficients = parameter((1.0,), kind="vector", shape=(None,), unit="1 or m/rad", help="c_k, one for each")
    value = parameter(0.0, kind="function", unit="that of c s", help="what the sum is at the time t")

    def __init__(
        self,
        name: str,
        measure: Measure,
        second: Measure | None = None,
        third: Measure | None = None,
        fourth: Measure | None = None,
        **values: Any,
    ) -> None:
        given = {"measure": measure, "second": second, "third": third, "fourth": fourth}
        for field, one in given.items():
            if type(one) not in TERMS and (one is not None or field == "measure"):
                raise ModelError([_no_measure(f"{type(self).__name__} {name!r}", field, one)])
        super().__init__(name, measure.body_i, measure.body_j, **given, **values)

    @property
    def measures(self) -> list[Measure]:
        """Those that are given, in order."""
        return [one for one in (self.measure, self.second, self.third, self.fourth) if one is not None]

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        names, factors = [one.name for one in self.measures], list(self.coefficients)
        if len(names) != len(factors):
            message = f"found {len(factors)}; allowed is one for each of the {len(names)} measures: {', '.join(names)}"
            yield self.problem("coefficients", message)
        for name, factor in zip(names, factors, strict=False):
            if factor == 0.0:
                yield self.problem("coefficients", f"found 0 for {name}, which then has no part; leave it out")
        if len(set(names)) < len(names):
            yield self.problem("second", "found a measure twice; add their coefficients and give it once")

    @property
    def i(self) -> Marker:
        return self.measure.i

    @property
    def j(self) -> Marker:
        return self.measure.j

    def constraints(self) -> list[MeasureRelation]:
        # A term is c (s - f): the value stands with a part 1 of the first measure, the rest of which is another term.
        parts = list(zip(self.measures, map(float, self.coefficients), strict=True))
        rest = [(self.measure, parts[0][1] - 1.0), *parts[1:]]
        terms = [_term(one, factor) for one, factor in rest if factor]
        return [MeasureRelation(_term(self.measure, 1.0, self.value), *terms)]

    @property
    def unit(self) -> str:
        return self.measure.unit

    @classmethod
    def example(cls, *bodies: Body) -> LinearConstraint:
        ends: dict[str, Any] = {"at_i": (0.3, -0.2, 0.5), "at_j": (1.1, 0.4, -0.6), "axis": (1.0, 2.0, -1.0)}
        slide, turn = Displacement("slide", *bodies, **ends), Angle("turn", *bodies, **ends)
        start = float(slide.axis @ (slide.point_j - slide.point_i)) / float(np.linalg.norm(slide.axis))
        return cls("relation", slide, turn, coefficients=(2.0, -0.5), value=f"{2.0 * start!r} + 0.1*sin(3*t)")


def _term(measure: Measure, factor: float, motion: Function | None = None) -> MeasureTerm:
    return TERMS[type(measure)](measure.i, measure.j, coefficient=factor, motion=motion)


def _no_measure(label: str, field: str, found: Any) -> Problem:
    allowed = "allowed is a Distance, Displacement or Angle; pass the one that you added to the system"
    return Problem(label, field, f"found {found!r}; {allowed}")


class PointDriver(Drive):
    """A point of the second body moves on a given path: PointDriver("path", ground, body, at=, x="0.1*sin(t)", z=0.0).

    x, y, z are the components of its displacement from where it is described, seen from the first body, along axes
    fixed to that body that are parallel to the global ones when described. A component that is left out stays free.
    """

    frame = Drive.frame.lying_on("i")
    counts_from_description = True
    drives = ("x", "y", "z")
    x = parameter(None, kind="function", unit="m", help="displacement along x; left out, it is free")
    y = parameter(None, kind="function", unit="m", help="displacement along y; left out, it is free")
    z = parameter(None, kind="function", unit="m", help="displacement along z; left out, it is free")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if not self.functions():
            yield self.problem("x", "found nothing; give at least one of x=, y= and z= as a function of time")
        if self.z is not None and self.body_j.dimension == 2:
            yield self.problem("z", "has no meaning in a planar system; give x= or y=")

    @property
    def i(self) -> Marker:
        return Marker(self.body_i, at=self.at, axes=self.frame)

    @property
    def j(self) -> Marker:
        return Marker(self.body_j, at=self.at, axes=self.frame)

    def constraints(self) -> list[MeasureTerm]:
        # The displacement of a term is along the z axis of its first marker.
        return [
            displacement_term(
                Marker(self.body_i, at=self.at, axes=frame_with_axis(self.frame[:, k])), self.j, 1.0, component
            )
            for k, component in enumerate((self.x, self.y, self.z))
            if component is not None
        ]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        return super().proposed(scale, picked) | {"x": scale.wave()}

    @classmethod
    def example(cls, *bodies: Body) -> PointDriver:
        return cls("path", *bodies, at=(0.2, 0.1, -0.3), x="0.3*sin(2*t)", z="0.2*t**2 - 0.1*t")
