"""Inputs and outputs of linear equations: loads on bodies, and quantities of their motion, by small motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..bodies.node_motion import NodeMotion
from ..errors import ModelError, Problem
from ..forces.loads import PointForce, Torque
from ..markers import POINT, Marker, converted
from ..measures import Measure
from ..rotations import skew
from ..state import State
from ..system import System
from .linear_equations import OperatingPoint, TurningFrame, collected, turning, width

Array = NDArray[np.float64]

QUANTITIES = ("position", "velocity", "acceleration", "rotation", "angular_velocity", "angular_acceleration")


@dataclass(frozen=True)
class Signals:
    """Named signals: y = position xi + velocity xi' + acceleration xi'' of outputs; inputs have `position` only, the
    loads that they put on the small motions (transposed).
    """

    names: list[str]
    position: Array
    velocity: Array
    acceleration: Array


def marker_state(marker: Marker, state: State) -> SimpleNamespace:
    """Position and axes of a marker in a state, and the vector to it from the origin of its body.

    `shape` (6 x modes) is how a node of a flexible body moves and turns with its modal coordinates, global.
    """
    if marker.body.name not in state.motions:  # the ground
        return SimpleNamespace(position=marker.at, axes=marker.axes, arm=np.zeros(3), shape=np.zeros((6, 0)))
    m = state.motions[marker.body.name]
    if not isinstance(marker.body, FlexibleBody):
        arm = m.rotation @ marker.local_point
        return SimpleNamespace(
            position=m.position + arm, axes=m.rotation @ marker.local_axes, arm=arm, shape=np.zeros((6, 0))
        )
    shape, modal = marker.body.shape_at(marker.at), m.modal_coordinates
    # One row for each unit modal velocity: together they say how the node moves and turns.
    unit = np.eye(len(modal))
    node = NodeMotion.of(shape, np.broadcast_to(modal, unit.shape), unit, 0.0 * unit)
    arm = m.rotation @ (marker.local_point + node.displacement[0])
    turned = m.rotation @ node.rotation[0]
    moves = np.vstack([m.rotation @ shape[:3], m.rotation @ node.angular_velocity.T])
    return SimpleNamespace(position=m.position + arm, axes=turned @ marker.local_axes, arm=arm, shape=moves)


def measure_value(measure: Measure, state: State) -> float:
    """A measure in a state."""
    return float(measure.value(state.t, marker_state(measure.i, state), marker_state(measure.j, state)))


def input_signals(system: System, state: State, places: Mapping[str, slice], inputs: Sequence[Any]) -> Signals:
    """The loads of inputs.

    The load of a measure is the force along it (or the torque about it) that does work with it: on both bodies. A
    `PointForce` or `Torque` has three inputs, its components.
    """
    names, rows = [], []
    for given in inputs:
        element = system[given] if isinstance(given, str) else given
        if isinstance(element, Measure):
            names.append(element.name)
            rows.append(measure_row(element, state, places))
        elif isinstance(element, PointForce | Torque):
            end = marker_state(element.j, state)
            axes = end.axes if element.axes == "body" else element.i.axes
            for letter, direction in zip("xyz", axes.T, strict=True):
                names.append(f"{element.name} {letter}")
                none = np.zeros(3)
                force, torque = (direction, none) if isinstance(element, PointForce) else (none, direction)
                modal = end.shape.T @ np.concatenate([force, torque])
                rows.append(_row(places, {element.body_j.name: (force, torque + np.cross(end.arm, force), modal)}))
        else:
            message = f"found {given!r}; allowed are measures, PointForce and Torque elements, or their names"
            raise ModelError([Problem("linearize", "inputs", message)])
    position = np.array(rows).reshape(len(rows), width(places))
    return Signals(names, position, 0.0 * position, 0.0 * position)


def output_signals(
    point: OperatingPoint, frame: TurningFrame, places: Mapping[str, slice], outputs: Sequence[Any]
) -> Signals:
    """The rows of outputs.

    An output is a measure (or its name); ("rate", measure); or a quantity of a body as in a result, ("velocity", body)
    or ("velocity", body, local_point), with three components along the axes of the frame.
    """
    system, state, n = point.eq.system, point.state, width(places)
    names: list[str] = []
    blocks: list[tuple[Array, Array, Array]] = []
    for given in outputs:
        kind, subject, *more = given if isinstance(given, tuple) else ("value", given)
        element = system[subject] if isinstance(subject, str) else subject
        if isinstance(element, Measure) and kind in ("value", "rate"):
            row, none = measure_row(element, state, places)[None], np.zeros((1, n))
            names.append(element.name if kind == "value" else f"{element.name} rate")
            blocks.append((row, none, none) if kind == "value" else (none, row, none))
        elif kind in QUANTITIES and getattr(element, "name", None) in places:
            if more and isinstance(element, FlexibleBody):
                message = f"found a point of {element}; allowed is its frame; use a measure between markers there"
                raise ModelError([Problem("linearize", "outputs", message)])
            local = converted(POINT, more[0] if more else np.zeros(3), "linearize", "outputs")
            names += [f"{element.name} {kind} {letter}" for letter in "xyz"]
            blocks.append(_in_frame(_body_rows(point, element.name, places, kind, local), places, frame))
        else:
            message = (
                f"found {given!r}; allowed are a measure, ('rate', measure), or one of {', '.join(QUANTITIES)} with a "
                "body, such as ('velocity', 'cart')"
            )
            raise ModelError([Problem("linearize", "outputs", message)])
    stacked = [np.vstack([np.zeros((0, n)), *(block[k] for block in blocks)]) for k in range(3)]
    return Signals(names, *stacked)


def measure_row(measure: Measure, state: State, places: Mapping[str, slice]) -> Array:
    """The change of a measure by small motions."""
    i, j = marker_state(measure.i, state), marker_state(measure.j, state)
    g = np.zeros((1, 24))
    measure.gradient(state.t, i, j, g)
    loads: dict[str, tuple[Array, ...]] = {}
    for marker, end, own in ((measure.i, i, g[0, :12]), (measure.j, j, g[0, 12:])):
        force = own[:3]
        torque = np.cross(end.axes, own[3:].reshape(3, 3), axis=0).sum(axis=1)
        modal = end.shape.T @ np.concatenate([force, torque])
        before = loads.get(marker.body.name, (0.0, 0.0, 0.0))
        loads[marker.body.name] = (
            *(before[0] + force, before[1] + np.cross(end.arm, force) + torque),
            before[2] + modal,
        )
    return _row(places, loads)


def _row(places: Mapping[str, slice], loads: Mapping[str, tuple[Array, ...]]) -> Array:
    """A row over all small motions from the parts for dr, phi and modes of some bodies; the ground takes any load."""
    return collected(places, {name: parts for name, parts in loads.items() if name in places})


def _body_rows(
    point: OperatingPoint, name: str, places: Mapping[str, slice], kind: str, local: Array
) -> tuple[Array, Array, Array]:
    """How a vector of a body changes with its small motions and their first and second derivatives, inertial axes.

    A point moves by dr + phi x s, s = A l; velocities and accelerations are the derivatives of that. The angular
    velocity changes by phi' + phi x w.
    """
    m, alpha = point.state.motions[name], point.accelerations[name][1]
    omega, unit, none = m.angular_velocity, np.eye(3), np.zeros((3, 3))
    if kind in QUANTITIES[:3]:
        s = m.rotation @ local
        rate = np.cross(omega, s)
        bend = np.cross(alpha, s) + np.cross(omega, rate)
        arms = [np.hstack([u, -skew(x)]) for u, x in ((unit, s), (none, rate), (none, bend))]
        orders = [(arms[0],), (arms[1], arms[0]), (arms[2], 2.0 * arms[1], arms[0])][QUANTITIES.index(kind)]
    else:
        turn, by_spin, by_change = (np.hstack([none, x]) for x in (unit, -skew(omega), -skew(alpha)))
        orders = [(turn,), (by_spin, turn), (by_change, by_spin, turn)][QUANTITIES.index(kind) - 3]
    place = places[name]
    whole = [np.zeros((3, width(places))) for _ in range(3)]
    for rows, part in zip(whole, orders, strict=False):
        size = min(6, place.stop - place.start)
        rows[:, place.start : place.start + size] = part[:, :size]
    return whole[0], whole[1], whole[2]


def _in_frame(
    rows: tuple[Array, Array, Array], places: Mapping[str, slice], frame: TurningFrame
) -> tuple[Array, Array, Array]:
    """Rows for small motions along the axes of the frame: xi = R x, xi' = R (x' + S x), and so on, where R = 1."""
    S = turning(places, frame)
    a, b, c = rows
    return a + b @ S + c @ S @ S, b + 2.0 * c @ S, c
