"""Describing a system at another state: what has to be assigned to bodies, and to what is attached to them.

Points and directions of joints, forces and measures are global values of the described configuration. Each says on
which body it lies (`parameter(on="i" | "j" | "both")`), and so goes along when that body is described elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bodies.base import Body
from ...bodies.flexible import FlexibleBody
from ...bodies.node_motion import NodeMotion
from ...connections import Connection
from ...errors import ModelError, check_kinds
from ...markers import Marker
from ...parameters import Element, Parameter
from ...plane import angle_of, lowered
from ...state import Motion, State
from ...system import System

Array = NDArray[np.float64]
Pose = tuple[Array, Array]
"""Position (3,) and rotation (3, 3) of a body."""
Changes = list[tuple[Element, dict[str, Any]]]
"""Elements with the values to assign."""
Carrier = Callable[[Marker], Pose]
"""From a marker on a body to the shift and turn that take its point, and directions there, along."""

SAME = 1e-12  # relative difference of numbers that count as equal
ROUNDING = 1e-15  # size of a component, relative to the largest of its vector, that is rounding


def describe(system: System, state: State) -> None:
    """Describe a system in a state: it looks and moves as before, and starts from there.

    Bodies get the state's poses and velocities, and points and directions of joints, forces and measures go with them.
    Angles and displacements that count from the described configuration (`Connection.counts_from_description`, drivers)
    count from the new one. A refused value is a `ModelError` and leaves the system as it was.
    """
    check_kinds("describe", system=(system, System), state=(state, State))
    done: Changes = []
    try:
        for element, values in description(system, state.checked(system.bodies), velocities=True):
            before = {name: getattr(element, name) for name in values}
            element.update(**values)
            done.append((element, before))
    except ModelError:
        for element, before in reversed(done):
            element.update(**before)
        raise


def described_state(system: System) -> State:
    """The state in which a system is described, without the equations that `mb.Equations` would build."""
    return State(0.0, {body.name: body.motion for body in system.bodies}, {}, system.dimension)


def description(system: System, state: State, velocities: bool | None = None) -> Changes:
    """The assignments that describe a system in a state; only what differs.

    A flexible body that is bent in the state is described so: it keeps its modal coordinates, and what is attached to
    its nodes goes where these are. `velocities`: whether they are assigned, by default if the described system moves.
    """
    carriers: dict[str, Carrier] = {}
    changes: Changes = []
    if velocities is None:
        velocities = any(np.any(body.motion.velocity) or np.any(body.motion.angular_velocity) for body in system.bodies)
    for body in system.bodies:
        motion = state.motions[body.name]
        if values := _pose(body, motion):
            carriers[body.name] = _carrier(body, motion)
        if velocities:
            values |= _twist(body, motion)
        if values:
            changes.append((body, values))
    _refuse_unknown(system, carriers)
    for element in system:
        if isinstance(element, Connection) and (values := _redescribed(element, carriers)):
            changes.append((element, values))
    return changes


def attached(system: System, before: Mapping[Body, Pose]) -> Changes:
    """The assignments by which all that is attached to bodies follows them; `before`: where each of them was.

    What lies on both bodies of a connection follows the one that moved.
    """
    now = {body: (body.motion.position, body.motion.rotation) for body in before}
    moved_bodies = [body for body in before if not all(map(np.array_equal, before[body], now[body]))]
    steps = {body.name: _step(before[body], now[body]) for body in moved_bodies}
    _refuse_unknown(system, steps)
    changes: Changes = []
    for element in system if steps else ():
        if not isinstance(element, Connection):
            continue
        values = {}
        for name, rule in _placed(element).items():
            sides = {"i": "i", "j": "j"}.get(rule.on, "ij")
            moved = [step for side in sides if (step := steps.get(_body_name(element, side))) is not None]
            if moved and (value := getattr(element, name)) is not None:
                shift, turn = moved[0]
                values[name] = rule.moved(value, turn, shift)
        if values:
            changes.append((element, values))
    return changes


def _refuse_unknown(system: System, moved: Collection[str]) -> None:
    """Refuse to move bodies to which something of an unknown class is attached: nobody knows what goes along."""
    for element in system.unknown:
        if held := [name for name in element.joined if name in moved]:
            message = f"is attached to {held[0]!r} and would not go along, because its class is not known"
            raise ModelError([element.problem("", f"{message}; {element.reason}")])


def _placed(element: Connection) -> dict[str, Parameter]:
    """The global parameters of a connection that lie on its bodies, as they are in its dimension."""
    if element.is_local:
        return {}
    dimension = element.body_j.dimension
    return {name: rule.of(dimension) for name, rule in type(element).parameters().items() if rule.is_placed}


def _body_name(element: Connection, side: str) -> str:
    return getattr(element.body_i if side == "i" else element.body_j, "name", "")


def _redescribed(element: Connection, carriers: Mapping[str, Carrier]) -> dict[str, Any]:
    """New values of a connection whose bodies go elsewhere with its joint closed.

    What lies on both bodies is in one place then, but where the joint lets them slide or turn: points stay with the
    second body and directions with the first, as in `PointOnLineJoint` and `Displacement`.
    """
    if not {_body_name(element, "i"), _body_name(element, "j")} & carriers.keys():
        return {}
    kept = element.implied()
    values = {name: None for name, value in kept.items() if value is None}
    for name, rule in _placed(element).items():
        value = kept.pop(name, getattr(element, name))
        side = rule.on if rule.on != "both" else "j" if rule.kind == "point" else "i"
        carrier = carriers.get(_body_name(element, side))
        if value is None or (carrier is None and value is getattr(element, name)):
            continue
        if carrier is not None:
            shift, turn = carrier(getattr(element, side))
            value = _tidied(rule.moved(value, turn, shift))
        values[name] = value
    values |= kept
    return {name: value for name, value in values.items() if not _unchanged(value, getattr(element, name))}


def _step(before: Pose, after: Pose) -> Pose:
    """The shift and turn of space that take a pose to another."""
    turn = after[1] @ before[1].T
    return after[0] - turn @ before[0], turn


def _carrier(body: Body, motion: Motion) -> Carrier:
    """What a body does to a marker when it goes to a motion: shift and turn of the node there, if it is bent."""
    before = body.motion
    step = _step((before.position, before.rotation), (motion.position, motion.rotation))
    if not isinstance(body, FlexibleBody):
        return lambda marker: step

    def carried(marker: Marker) -> Pose:
        shape, point = marker.node_shape, marker.at
        modal = np.array([before.modal_coordinates, motion.modal_coordinates])
        bent = NodeMotion.of(shape, modal, 0.0 * modal, 0.0 * modal)
        node = before.rotation.T @ (point - before.position) - bent.displacement[0]
        bend = bent.rotation[1] @ bent.rotation[0].T
        with_node = motion.rotation @ bend @ before.rotation.T
        return motion.position + motion.rotation @ (node + bent.displacement[1]) - with_node @ point, with_node

    return carried


def _same(a: Any, b: Any) -> bool:
    return bool(np.all(np.abs(a - b) <= SAME * (1.0 + np.abs(b))))


def _unchanged(value: Any, before: Any) -> bool:
    return value is before or (value is not None and before is not None and np.array_equal(value, before))


def _tidied(vector: Any) -> Any:
    """A vector whose components that are only rounding beside the others are zero; nobody wants to read -1.4e-17."""
    array = np.array(vector, float)
    return np.where(np.abs(array) < ROUNDING * np.abs(array).max(initial=0.0), 0.0, array)


def _pose(body: Body, motion: Motion) -> dict[str, Any]:
    """Where a body is in a motion, as its parameters; empty where that is where it is described."""
    before, values = body.motion, dict[str, Any]()
    if not (_same(motion.position, before.position) and _same(motion.rotation, before.rotation)):
        values["position"] = _tidied(lowered(motion.position, body.dimension))
        if body.dimension == 2:
            turn = float(angle_of(motion.rotation @ before.rotation.T))
            values["angle"] = body.angle + turn  # type: ignore[attr-defined]  # whole turns stay
        elif "rotation" in body.parameters():
            values["rotation"] = motion.rotation
    if not _same(motion.modal_coordinates, before.modal_coordinates):
        values["modal_coordinates"] = motion.modal_coordinates
    return values


def _twist(body: Body, motion: Motion) -> dict[str, Any]:
    """The velocities, where they differ from those of the description."""
    values, before, omega = dict[str, Any](), body.motion, motion.angular_velocity
    if not _same(motion.velocity, before.velocity):
        values["velocity"] = lowered(motion.velocity, body.dimension)
    if not _same(motion.modal_velocities, before.modal_velocities):
        values["modal_velocities"] = motion.modal_velocities
    if "angular_velocity" in body.parameters() and not _same(omega, before.angular_velocity):
        values["angular_velocity"] = float(omega[2]) if body.dimension == 2 else omega
    return values
