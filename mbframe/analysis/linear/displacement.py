"""States beside a state: moved by small motions of all bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rotations import matrix_from_vector
from ...state import Motion, State
from ...system import System
from ..states.assemble import turned
from .linear_equations import LinearEquations, collected, on_bodies

Array = NDArray[np.float64]


def displaced(state: State, e: LinearEquations, motion: Array, rate: Array, own: Array, system: System) -> State:
    """A state moved by small motions xi with the rates xi', global, and by changes of the own states that act.

    A small rotation phi turns a body by exp(phi~), and w = w_0 + phi' + phi x w_0.
    """
    motions, rates = on_bodies(e.places, motion), on_bodies(e.places, rate)
    moved = {}
    for name, m in state.motions.items():
        (dr, phi, modal), (dr_rate, phi_rate, modal_rate) = motions[name], rates[name]
        moved[name] = Motion(
            m.position + dr,
            matrix_from_vector(phi) @ m.rotation,
            m.velocity + dr_rate,
            m.angular_velocity + phi_rate + np.cross(phi, m.angular_velocity),
            m.modal_coordinates + modal,
            m.modal_velocities + modal_rate,
            m.axes,
        )
    return State(state.t, moved, changed(state, e, own, system), state.dimension)


def changed(state: State, e: LinearEquations, own: Array, system: System) -> dict[str, Array]:
    """The own states of all elements with changes of those that act."""
    found, last = dict(state.element_states), 0
    for name, acting in e.acting.items():
        first, last = last, last + len(acting)
        force: Any = system[name]
        found[name] = np.array(found.get(name, force.initial_states()), float)
        found[name][acting] += own[first:last]
    return found


def differences(places: Mapping[str, slice], state: State, other: State) -> tuple[Array, Array]:
    """xi and xi' of all bodies that lead from another state to this one: what `displaced` takes."""
    motions, rates = {}, {}
    for name, m in state.motions.items():
        o = other.motions[name]
        phi = turned(o.rotation, m.rotation)
        spin = m.angular_velocity - o.angular_velocity - np.cross(phi, o.angular_velocity)
        motions[name] = m.position - o.position, phi, m.modal_coordinates - o.modal_coordinates
        rates[name] = m.velocity - o.velocity, spin, m.modal_velocities - o.modal_velocities
    return collected(places, motions), collected(places, rates)
