"""What controllers see: names of measures, coordinates of joints, motions of bodies and signals, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..bodies.base import Body
from ..bodies.flexible import FlexibleBody
from ..constraints.relations import AngleTerm, MeasureTerm, angle_term, displacement_term
from ..errors import ModelError
from ..joints.coordinates import coordinates_of
from ..markers import Marker
from ..measures import Measure
from .base import Controller

RATE: Final = "_rate"
MOTIONS: Final = ("position", "velocity", "angular_velocity")
"""Of bodies; each is seen as a component, but for what is a number in the plane."""
LETTERS: Final = "xyz"
_CYCLE: Final = np.eye(3)[:, [2, 0, 1]]  # of the axes of a marker: z, x, y


@dataclass(frozen=True)
class Sight:
    """Something that a controller sees: one of the four, and whether its rate is meant.

    A measure; a coordinate of a joint or a body, as a term between two markers; a component of the motion of a body,
    with the marker in its origin; or a signal.
    """

    name: str
    measure: Measure | None = None
    term: MeasureTerm | None = None
    motion: tuple[Marker, str, int] | None = None
    signal: str = ""
    rate: bool = False

    @property
    def ends(self) -> tuple[Marker, Marker] | None:
        """The markers between which it is, if there are two."""
        between: Any = self.measure or self.term
        return None if between is None else (between.i, between.j)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Those on which it depends."""
        return self.ends or (self.motion[:1] if self.motion is not None else ())

    @property
    def counts_turns(self) -> bool:
        """Whether it is an angle that is counted over turns."""
        return bool((self.measure or self.term or MeasureTerm).counts_turns)


def sight(system: Any, name: str) -> Sight | None:
    """What a name means in a system; None if there is nothing of that name."""
    if name in system and isinstance(measure := system[name], Measure):
        return Sight(name, measure=measure)
    if name in system.signals:
        return Sight(name, signal=name)
    element, dot, kind = name.partition(".")
    while dot and element not in system:
        more, dot, kind = kind.partition(".")
        element += f".{more}"
    if element not in system:
        return None
    owner = system[element]
    if isinstance(owner, Body):
        return _of_body(system, owner, kind, name)
    if kind.removesuffix(RATE) in coordinates_of(owner):
        term = coordinate_term(owner, kind.removesuffix(RATE))
        return Sight(name, term=term, rate=kind.endswith(RATE))
    return None


def coordinate_term(joint: Any, name: str) -> MeasureTerm:
    """A coordinate of a joint as a term of its markers: zero where it is described; see `joints.coordinates`.

    The angles of a universal joint are angles of one axis of its cross about another: its axes are exchanged for that.
    """
    i, j = joint.i, joint.j
    if name == "displacement":
        return displacement_term(i, j, 1.0)
    if name == "angle_1":
        j = Marker.placed(j.body, j.at, np.asarray(j.axes) @ _CYCLE)
    elif name == "angle_2":
        i, j = j, Marker.placed(i.body, i.at, np.asarray(i.axes) @ _CYCLE)
    return angle_term(i, j, -1.0 if name == "angle_2" else 1.0)


def _of_body(system: Any, body: Body, kind: str, name: str) -> Sight | None:
    """A component of its motion, or the angle of a planar body."""
    if body is system.ground or isinstance(body, FlexibleBody):
        return None
    motion = body.motion
    marker = Marker.placed(body, body.position, np.asarray(motion.rotation))
    if system.dimension == 2:
        if kind == "angle":
            return Sight(name, term=AngleTerm(Marker.placed(system.ground, np.zeros(2), np.eye(3)), marker))
        if kind == "angular_velocity":
            return Sight(name, motion=(marker, kind, 2))
    vector, _, component = kind.rpartition(".")
    known = LETTERS[: system.dimension] if vector != "angular_velocity" or system.dimension == 3 else ""
    if vector in MOTIONS and len(component) == 1 and component in known:
        return Sight(name, motion=(marker, vector, LETTERS.index(component)))
    return None


def sights(system: Any, controller: Controller) -> list[Sight]:
    """All that a controller sees, in order; a `ModelError` names what is not there."""
    found = [(name, sight(system, name)) for name in controller.measures]
    wrong = [name for name, seen in found if seen is None]
    if wrong:
        message = (
            f"there is no {', '.join(map(repr, wrong))} that it could see; allowed are measures, coordinates of joints "
            "('hinge.angle', 'slider.displacement_rate'), motions of rigid bodies ('cart.position.x', "
            "'bar.angular_velocity.z'), inputs and outputs of other controllers; correct it, or add what is meant first"
        )
        raise ModelError([controller.problem("measures", message)])
    return [seen for _, seen in found if seen is not None]


def seeable(system: Any) -> list[str]:
    """The names of all that a controller in a system may see: measures first, then joints, bodies and signals."""
    found = [measure.name for measure in system.measures]
    for joint in system.joints:
        found += [f"{joint.name}.{name}{end}" for name in coordinates_of(joint) for end in ("", RATE)]
    for body in system.bodies:
        parts = [f"{kind}.{letter}" for kind in MOTIONS for letter in LETTERS[: system.dimension]]
        for part in [*parts, "angle", "angular_velocity"]:
            if sight(system, f"{body.name}.{part}") is not None:
                found.append(f"{body.name}.{part}")
    return [*found, *system.signals]


def seen_elements(system: Any, controller: Controller) -> Iterator[Any]:
    """The elements that a controller sees something of."""
    for name in controller.measures:
        while name and name not in system:
            name = name.rpartition(".")[0]
        if name:
            yield system[name]


def order(system: Any) -> list[Controller]:
    """The controllers of a system, each behind those whose outputs its own depend on; a loop of them is refused."""
    owners = {signal: one for one in system if isinstance(one, Controller) for signal in one.signals}
    waiting = [one for one in system if isinstance(one, Controller)]
    needed = {
        one.name: {owners[name].name for name in one.measures if name in owners} if one.feedthrough else set()
        for one in waiting
    }
    found: list[Controller] = []
    while waiting:
        ready = next((one for one in waiting if needed[one.name] <= {other.name for other in found}), None)
        if ready is None:
            chain = _loop(needed, [one.name for one in waiting])
            first = system[chain[0]]
            sees = " sees ".join(map(repr, [*chain, chain[0]]))
            message = (
                f"its outputs depend on themselves at the same instant: {sees}; "
                "let one of them see measures instead, or make one controller of them"
            )
            raise ModelError([first.problem("measures", message)])
        waiting.remove(ready)
        found.append(ready)
    return found


def _loop(needed: dict[str, set[str]], among: list[str]) -> list[str]:
    """The names of controllers of which each sees the next one, and the last the first."""
    chain = [among[0]]
    while True:
        following = next(name for name in sorted(needed[chain[-1]]) if name in among)
        if following in chain:
            return chain[chain.index(following) :]
        chain.append(following)
