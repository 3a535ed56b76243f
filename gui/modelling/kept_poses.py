"""A state becomes the configuration in which the model is described: what has to be assigned for that. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.bodies.node_motion import NodeMotion
from mbframe.parameters import Element
from mbframe.plane import angle_of, lowered
from mbframe.state import Motion

Array = NDArray[np.float64]
Changes = list[tuple[Element, dict[str, Any]]]
Carrier = Callable[[mb.Marker], tuple[Array, Array]]
"""From a marker on a body to the turn and shift that take its point, and directions there, along."""

# What moves with the first body of a connection, and what with the second. Points of both (`at`) go with the second:
# where the joint is closed that is the same, and a wheel on the ground takes its centre along.
OF_FIRST: Final = ("frame", "at_i", "axis_i", "plane_point", "normal", "direction")
OF_SECOND: Final = ("at", "at_j", "axis_j")


def described(system: mb.System) -> mb.State:
    """The state in which a system is described, without the equations that `mb.Equations` would build."""
    return mb.State(0.0, {body.name: body.motion for body in system.bodies}, {}, system.dimension)


def keep(system: mb.System, state: mb.State) -> Changes:
    """The assignments that describe the system in a state, with the points of joints and forces where they are then.

    Velocities go along where there are any. A flexible body that is bent in the state is described so: it keeps its
    modal coordinates, and what is attached to its nodes goes where these are.
    """
    carriers: dict[str, Carrier] = {}
    changes: Changes = []
    moving = any(np.any(body.motion.velocity) or np.any(body.motion.angular_velocity) for body in system.bodies)
    for body in system.bodies:
        motion, before = state.motions[body.name], body.motion
        values: dict[str, Any] = {}
        if not (_same(motion.position, before.position) and _same(motion.rotation, before.rotation)):
            values |= _pose(body, motion)
        if not _same(motion.modal_coordinates, before.modal_coordinates):
            values["modal_coordinates"] = motion.modal_coordinates
        if values:
            carriers[body.name] = _carrier(body, motion)
        if moving:
            values |= _twist(body, motion)
        if values:
            changes.append((body, values))
    for element in system:
        values = _carried(element, carriers)
        if values:
            changes.append((element, values))
    return changes


def _carrier(body: mb.Body, motion: Motion) -> Carrier:
    """What a body does to a marker when it goes to a motion: turn and shift of the node there, if it is bent."""
    before = body.motion
    turn = motion.rotation @ before.rotation.T
    shift = motion.position - turn @ before.position
    if not isinstance(body, mb.FlexibleBody):
        return lambda marker: (turn, shift)

    def carried(marker: mb.Marker) -> tuple[Array, Array]:
        shape, point = marker.node_shape, marker.at
        modal = np.array([before.modal_coordinates, motion.modal_coordinates])
        bent = NodeMotion.of(shape, modal, 0.0 * modal, 0.0 * modal)
        node = before.rotation.T @ (point - before.position) - bent.displacement[0]
        bend = bent.rotation[1] @ bent.rotation[0].T
        with_node = motion.rotation @ bend @ before.rotation.T
        return with_node, motion.position + motion.rotation @ (node + bent.displacement[1]) - with_node @ point

    return carried


def _same(a: Any, b: Any) -> bool:
    return bool(np.all(np.abs(a - b) <= 1e-12 * (1.0 + np.abs(b))))


def _tidied(vector: Any) -> Any:
    """A vector whose components that are only rounding beside the others are zero; nobody wants to read -1.4e-17."""
    array = np.array(vector, float)
    return np.where(np.abs(array) < 1e-15 * np.abs(array).max(initial=0.0), 0.0, array)


def _pose(body: mb.Body, motion: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"position": _tidied(lowered(motion.position, body.dimension))}
    if body.dimension == 2:
        values["angle"] = float(angle_of(motion.rotation))
    elif "rotation" in body.parameters():
        values["rotation"] = motion.rotation
    return values


def _twist(body: mb.Body, motion: Any) -> dict[str, Any]:
    """The velocities, where they differ from those of the description."""
    values: dict[str, Any] = {}
    if not _same(motion.velocity, body.motion.velocity):
        values["velocity"] = lowered(motion.velocity, body.dimension)
    if not _same(motion.modal_velocities, body.motion.modal_velocities):
        values["modal_velocities"] = motion.modal_velocities
    omega = motion.angular_velocity
    if "angular_velocity" in body.parameters() and not _same(omega, body.motion.angular_velocity):
        values["angular_velocity"] = float(omega[2]) if body.dimension == 2 else omega
    return values


def _carried(element: Element, carriers: dict[str, Carrier]) -> dict[str, Any]:
    """New points and directions of a connection whose bodies were moved."""
    if isinstance(element, mb.Body) or not hasattr(element, "body_j"):
        return {}
    declared = element.parameters()
    # The axle of a wheel and the edge of a blade belong to the second body, an axis between two points to none else.
    axis_of_second = "normal" in declared and "at" in declared
    values = {}
    for body, side, names in (
        (element.body_i, "i", (*OF_FIRST, *(() if axis_of_second else ("axis",)))),
        (element.body_j, "j", (*OF_SECOND, *(("axis",) if axis_of_second else ()))),
    ):
        given = {name: value for name in names if name in declared and (value := getattr(element, name)) is not None}
        if not given or (carrier := carriers.get(getattr(body, "name", ""))) is None:
            continue
        turn, shift = carrier(getattr(element, side))
        for name, value in given.items():
            values[name] = _tidied(declared[name].of(element._dimension({})).moved(value, turn, shift))
        if side == "j" and isinstance(element, mb.ConstantVelocityJoint) and element.axis_j is None:
            values["axis_j"] = _tidied(turn @ element.shaft_j)  # it was in line with the first shaft
    moved = any(getattr(body, "name", "") in carriers for body in (element.body_i, element.body_j))
    if moved and isinstance(element, mb.SpringDamper) and element.free_length is None:
        values["free_length"] = element.rest_length  # not the length of the new description
    return {name: value for name, value in values.items() if not _unchanged(value, getattr(element, name))}


def _unchanged(value: Any, before: Any) -> bool:
    return bool(np.array_equal(value, before))


def counted_from_here(system: mb.System, names: Iterable[str]) -> list[str]:
    """Elements on moved bodies whose angle or displacement counts from the described configuration."""
    kinds = (mb.TorsionalSpringDamper, mb.AngleLimit, mb.DisplacementLimit, mb.PIDActuator, mb.Bushing)
    bodies = set(names)
    return [
        element.name
        for element in system.forces
        if isinstance(element, kinds) and bodies & {element.body_i.name, element.body_j.name}
    ]
