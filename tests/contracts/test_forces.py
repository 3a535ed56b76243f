"""Every force element: derivatives, balance, power, and how it enters the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.equations.tables import Tables

from .specimens import (
    SEEDS,
    along,
    assert_close,
    assert_compiles,
    name_of,
    newton_euler,
    numbers,
    random_markers,
    random_state,
    rigid_markers,
    shifted,
    two_bodies,
    walk,
)

EXACT = 1e-12
CLASSES = walk(mb.ForceElement)
FORMULATIONS = [cls() for cls in walk(Formulation)]
MOTION = ("position", "axes", "velocity", "angular_velocity")
TIME = 0.4


class Gimbal(mb.ForceElement):
    """A force with a torque that depend on everything a wrench may depend on."""

    strength = mb.parameter(1.3, unit="N", help="scale")

    def wrench(self, t, i, j):
        force = self.strength * (i.position - j.position) + j.velocity * i.axes[0, 0]
        torque = j.axes[:, 1] * i.axes[1, 2] + i.angular_velocity - 2.0 * j.angular_velocity
        return force, torque


@pytest.fixture(params=CLASSES, ids=name_of)
def force(request: pytest.FixtureRequest) -> mb.ForceElement:
    _, i, j = two_bodies()
    return request.param.example(i, j)


def wrench(force: Any, markers: np.recarray) -> np.ndarray:
    """Force and torque in one array, at the element's initial states if it has some."""
    states = [np.array(force.initial_states(), float)] if force.states else []
    return np.concatenate(force.wrench(TIME, markers[0], markers[1], *states))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrench_gradient_is_the_derivative_of_the_wrench(force: Any, seed: int) -> None:
    markers = random_markers(np.random.default_rng(seed))
    found = np.zeros((6, 36), complex)
    force.wrench_gradient(TIME, markers[0], markers[1], found)
    expected = [along(lambda h, d=d: wrench(force, shifted(markers, MOTION, h * d))) for d in np.eye(36)]
    assert_close(found, np.transpose(expected), EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_minus_the_rate_of_the_energy(force: Any, seed: int) -> None:
    """What the wrench is at rest has the potential `energy`; what velocities add to it is not conservative."""
    if not hasattr(force, "energy"):
        pytest.skip("has no energy")
    markers = rigid_markers(np.random.default_rng(seed))
    at_rest = markers.copy()
    for name in ("velocity", "axes_rate", "angular_velocity"):
        at_rest[name][:] = 0.0
    push, torque = np.split(wrench(force, at_rest).real, 2)
    energy_rate = along(lambda h: force.energy(TIME, *moved(markers, h)))
    assert abs(energy_rate) > 1e-3
    assert_close(power(push, torque, *markers), -energy_rate, EXACT)


def moved(markers: np.recarray, s: complex) -> np.recarray:
    """The markers displaced by s times their rates."""
    after = markers.copy()
    after.position += s * markers.velocity
    after.axes += s * markers.axes_rate
    return after


def power(force: np.ndarray, torque: np.ndarray, i: Any, j: Any) -> float:
    """Power of a wrench on j's body at j and of its opposite on i's body at the same point."""
    arm = (j.position - i.position).real
    velocity = (j.velocity - i.velocity).real - np.cross(i.angular_velocity.real, arm)
    return float(force @ velocity + torque @ (j.angular_velocity - i.angular_velocity).real)


@pytest.mark.boundscheck
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name_of)
@pytest.mark.parametrize("cls", [*CLASSES, Gimbal], ids=name_of)
def test_momentum_is_kept(cls: Any, formulation: Formulation) -> None:
    system, i, j = two_bodies(gravity=(0.0, 0.0, 0.0))
    system.add(cls.example(i, j))
    eq = mb.Equations(system, formulation)
    state = random_state(eq)
    result = mb.evaluate(system, state, formulation=formulation)
    linear, angular, largest = np.zeros(3), np.zeros(3), 0.0
    for body in (i, j):
        acceleration = result.acceleration(body, local_point=body.center_of_mass)[0]
        push, moment = newton_euler(body, state, acceleration, result.angular_acceleration(body)[0])
        linear += push
        angular += moment + np.cross(state.position(body, body.center_of_mass), push)
        largest = max(largest, np.abs(push).max())
    assert largest > 0.1  # the element acts
    assert_close(linear, np.zeros(3), EXACT * largest)
    assert_close(angular, np.zeros(3), EXACT * largest)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name_of)
@pytest.mark.parametrize("cls", [*CLASSES, Gimbal], ids=name_of)
def test_generalized_force_has_the_power_of_the_wrench(cls: Any, formulation: Formulation) -> None:
    """d^T Q = power of the wrench on the velocities d, for any velocities d of the two bodies."""
    free, _, _ = two_bodies()
    system, i, j = two_bodies()
    force = system.add(cls.example(i, j))
    eq = mb.Equations(system, formulation)
    bare = mb.Equations(free, formulation)
    state = random_state(eq)
    q, v = numbers(eq, state)
    z = force.initial_states()
    generalized = eq.evaluate(TIME, q, v, z).force - bare.evaluate(TIME, q, v).force
    markers = eq.tables.markers[[eq.tables.place(force.i), eq.tables.place(force.j)]]
    push, torque = np.split(wrench(force, markers), 2)
    for seed in range(4):
        _, d = numbers(eq, random_state(eq, seed))
        eq.evaluate(TIME, q, d, z)
        virtual = eq.tables.markers[[eq.tables.place(force.i), eq.tables.place(force.j)]]
        assert_close(generalized @ d, power(push, torque, *virtual), EXACT)


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_compiled_equals_interpreted(cls: Any) -> None:
    system, i, j = two_bodies()
    force = system.add(cls.example(i, j))
    (table,) = Tables(system, None).force_tables
    at = (force, table.rows[0]), TIME, *random_markers(np.random.default_rng(1), "f8")
    states = [np.array(force.initial_states(), float)] if force.states else []
    assert_compiles(cls.wrench, *at, *states)
    assert_compiles(cls.wrench_gradient, *at, np.zeros((6, 36)))
    if states:
        assert_compiles(cls.state_rate, *at, *states)
    if hasattr(cls, "energy"):
        assert_compiles(cls.energy, *at)
