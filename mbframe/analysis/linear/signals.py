"""Measures and loads by small motions: what inputs and outputs of linear equations are made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from ...bodies.flexible import FlexibleBody
from ...bodies.node_motion import NodeMotion
from ...kernels.layout import PLACE, PLACES
from ...markers import Marker
from ...measures import Measure
from ...state import COUNTED, State
from .linear_equations import collected

Array = NDArray[np.float64]


def marker_state(marker: Marker, state: State) -> SimpleNamespace:
    """Position and axes of a marker in a state, and the vector to it from the origin of its body.

    `shape` (6 x modes) is how a node of a flexible body moves and turns with its modal coordinates, global.
    """
    if marker.body.name not in state.motions:  # the ground
        none = np.zeros((6, 0))
        return SimpleNamespace(position=marker.at, axes=marker.axes, turns=0.0, arm=np.zeros(3), shape=none)
    m = state.motions[marker.body.name]
    if not isinstance(marker.body, FlexibleBody):
        arm = m.rotation @ marker.local_point
        axes = m.rotation @ marker.local_axes
        return SimpleNamespace(position=m.position + arm, axes=axes, turns=0.0, arm=arm, shape=np.zeros((6, 0)))
    shape, modal = marker.node_shape, m.modal_coordinates
    # One row for each unit modal velocity: together they say how the node moves and turns.
    unit = np.eye(len(modal))
    node = NodeMotion.of(shape, np.broadcast_to(modal, unit.shape), unit, 0.0 * unit)
    arm = m.rotation @ (marker.local_point + node.displacement[0])
    turned = m.rotation @ node.rotation[0]
    moves = np.vstack([m.rotation @ node.velocity.T, m.rotation @ node.angular_velocity.T])
    axes = turned @ marker.local_axes
    return SimpleNamespace(position=m.position + arm, axes=axes, turns=0.0, arm=arm, shape=moves)


def measure_value(measure: Measure, state: State) -> float:
    """A measure in a state."""
    i, j = marker_state(measure.i, state), marker_state(measure.j, state)
    value = float(measure.value(state.t, i, j))
    if (followed := state.element_states.get(f"{measure.name}{COUNTED}")) is not None:
        j.turns = np.round((followed[0] - value) / (2.0 * np.pi))
        return float(measure.value(state.t, i, j))
    return value


def measure_row(measure: Measure, state: State, places: Mapping[str, slice]) -> Array:
    """The change of a measure by small motions."""
    i, j = marker_state(measure.i, state), marker_state(measure.j, state)
    g = np.zeros((1, PLACES))
    measure.gradient(state.t, i, j, g)
    loads: dict[str, tuple[Array, ...]] = {}
    for marker, end, own in ((measure.i, i, g[0, :PLACE]), (measure.j, j, g[0, PLACE:])):
        force = own[:3]
        torque = np.cross(end.axes, own[3:].reshape(3, 3), axis=0).sum(axis=1)
        modal = end.shape.T @ np.concatenate([force, torque])
        before = loads.get(marker.body.name, (0.0, 0.0, 0.0))
        loads[marker.body.name] = (
            *(before[0] + force, before[1] + np.cross(end.arm, force) + torque),
            before[2] + modal,
        )
    return load_row(places, loads)


def load_row(places: Mapping[str, slice], loads: Mapping[str, tuple[Array, ...]]) -> Array:
    """A row over all small motions from the parts for dr, phi and modes of some bodies; the ground takes any load."""
    return collected(places, {name: parts for name, parts in loads.items() if name in places})
