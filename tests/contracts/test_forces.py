"""Every force element: derivatives, balance, power, and how it enters the equations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.equations.tables import Tables
from mbframe.equations.user import motion, own_state_function, wrench_function
from mbframe.forces.base import OnBody
from mbframe.kernels.workspace import marker_dtype

from .specimens import (
    SEEDS,
    assert_close,
    assert_compiles,
    connected,
    exact_derivative,
    name_of,
    newton_euler,
    numbers,
    random_state,
    rigid_formulations,
    rigid_markers,
    two_bodies,
    walk,
)

EXACT = 1e-12
REACTIVE = [cls for cls in walk(mb.ForceElement) if cls.reactive]
CLASSES = [cls for cls in walk(mb.ForceElement) if not cls.reactive]
INTERNAL = [cls for cls in CLASSES if not issubclass(cls, OnBody)]
FORMULATIONS = rigid_formulations()
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


def own_states(force: Any) -> list[np.ndarray]:
    """The further argument of an element with own states."""
    return [np.ones(force.states)] if force.states else []


def wrench(force: Any, markers: np.recarray) -> np.ndarray:
    """Force and torque in one array."""
    return np.concatenate(force.wrench(TIME, markers[0], markers[1], *own_states(force)))


def acting(force: Any, seed: int, noise: float = 0.0) -> np.recarray:
    """Markers of two rigid bodies at which the element acts (a contact does not always); `noise` disturbs their axes.

    With it all their numbers are independent: the axes are neither orthogonal nor of unit length.
    """
    rng = np.random.default_rng(seed)
    markers = np.zeros(2, marker_dtype("f8")).view(np.recarray)
    while True:
        rigid = rigid_markers(rng)
        for name in ("position", "axes", "velocity", "axes_rate", "angular_velocity"):
            markers[name][:] = rigid[name].real + noise * rng.normal(size=rigid[name].shape)
        if np.abs(wrench(force, markers)).max() > 0.1:
            return markers


@pytest.mark.parametrize("seed", SEEDS)
def test_wrench_gradient_is_the_derivative_of_the_wrench(force: Any, seed: int) -> None:
    i, j = acting(force, seed, noise=0.1)
    found = np.zeros((6, 36))
    force.wrench_gradient(TIME, i, j, *own_states(force), found)
    expected = exact_derivative(wrench_function(force, TIME, *own_states(force)), [*motion(i), *motion(j)])
    assert_close(found, expected, EXACT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls.states], ids=name_of)
def test_state_gradient_is_the_derivative_by_and_of_own_states(cls: Any, seed: int) -> None:
    """In contact and out of it, approaching and leaving: every branch of the laws that sense something."""
    force = cls.example(*two_bodies()[1:])
    places = acting(force, seed, noise=0.1), away(seed)
    for i, j in places:
        for z in (np.full(force.states, 0.7), np.full(force.states, 1e-3)):
            found = np.zeros((6 + force.states, 36 + force.states))
            force.state_gradient(TIME, i, j, z, found)
            exact = exact_derivative(own_state_function(force, TIME), [z, *motion(i), *motion(j)])
            assert_close(found[:, 36:], exact[:, : force.states], EXACT)
            assert_close(found[6:, :36], exact[6:, force.states :], EXACT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("quantity", "integral"), [("angle", 5.0), ("displacement", 5.0), ("displacement", -50.0)])
def test_state_gradient_of_an_actuator_at_its_limit(quantity: str, integral: float, seed: int) -> None:
    force = mb.PIDActuator.example(*two_bodies()[1:])
    force.update(limit=0.2, quantity=quantity, integral=integral)
    i, j = acting(force, seed, noise=0.1)
    z, found = np.array([0.7]), np.zeros((7, 37))
    force.state_gradient(TIME, i, j, z, found)
    exact = exact_derivative(own_state_function(force, TIME), [z, *motion(i), *motion(j)])
    assert_close(found[:, 36:], exact[:, :1], EXACT)
    assert_close(found[6:, :36], exact[6:, 1:], EXACT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("quantity", ["angle", "displacement"])
@pytest.mark.parametrize("limit", [None, 0.2])
@pytest.mark.parametrize("over", [0.3, -0.3, 1.5, -1.5, 4.0, -4.0])
def test_derivatives_of_an_actuator_with_a_rate_limit(
    over: float, limit: float | None, quantity: str, seed: int
) -> None:
    """Where it follows, and where its integral slows down or stands still; `over` is its lead over the limit."""
    described = mb.PIDActuator.example(*two_bodies()[1:])
    described.update(quantity=quantity, limit=limit, rate_limit=3.0, lag=0.05)
    force = described.as_evaluated
    assert (described.states, force.states, str(force)) == (1, 2, str(described))
    system, body_i, body_j = two_bodies()
    described = system.add(mb.PIDActuator.example(body_i, body_j))
    described.update(quantity=quantity, limit=limit, rate_limit=3.0, lag=0.05)
    (table,) = Tables(system, None).force_tables
    i, j = rigid_noise(seed)
    bare = mb.PIDActuator.example(*two_bodies()[1:])
    bare.update(quantity=quantity, limit=limit)
    whole = np.concatenate(bare.wrench(TIME, i, j, np.array([0.7])))
    d = np.concatenate(force.wrench(TIME, i, j, np.array([0.7, 1.0])))
    z = np.array([0.7, whole @ d / (d @ d) - over * 3.0 * 0.05])
    rates = force.state_rate(TIME, i, j, z)
    np.testing.assert_allclose(rates[1], np.clip(over, -1.0, 1.0) * 3.0, rtol=1e-9)
    found = np.zeros((8, 38))
    force.state_gradient(TIME, i, j, z, found)
    assert not np.any(found[:6, :36])  # these belong to wrench_gradient
    by_motion = np.zeros((6, 36))
    force.wrench_gradient(TIME, i, j, z, by_motion)
    exact = exact_derivative(own_state_function(force, TIME), [z, *motion(i), *motion(j)])
    assert_close(found[:, 36:], exact[:, :2], EXACT)
    assert_close(found[6:, :36], exact[6:, 2:], EXACT)
    assert_close(by_motion, exact[:6, 2:], EXACT)
    if seed == SEEDS[0]:
        at = (force, table.rows[0]), TIME, *acting(force, 1, noise=0.1), z
        assert_compiles(type(force).state_rate, *at)
        assert_compiles(type(force).wrench, *at)
        assert_compiles(type(force).wrench_gradient, *at, np.zeros((6, 36)))
        assert_compiles(type(force).state_gradient, *at, np.zeros((8, 38)))


def rigid_noise(seed: int) -> np.recarray:
    """Markers of two rigid bodies, their axes disturbed."""
    markers = away(seed)
    markers["position"][1] = markers["position"][0] + [0.3, -0.8, 0.5]
    return markers


def away(seed: int) -> np.recarray:
    """Markers far from each other, where no contact is."""
    rng = np.random.default_rng(seed)
    markers = np.zeros(2, marker_dtype("f8")).view(np.recarray)
    rigid = rigid_markers(rng)
    for name in ("position", "axes", "velocity", "axes_rate", "angular_velocity"):
        markers[name][:] = rigid[name].real + 0.1 * rng.normal(size=rigid[name].shape)
    markers["position"][1] = markers["position"][0] + 20.0 * markers["axes"][0][:, 2]
    return markers


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_minus_the_rate_of_the_energy(force: Any, seed: int) -> None:
    """What the wrench is at rest has the potential `energy`; what velocities add to it is not conservative."""
    if not hasattr(force, "energy"):
        pytest.skip("has no energy")
    markers = acting(force, seed)
    at_rest = markers.copy()
    for name in ("velocity", "axes_rate", "angular_velocity"):
        at_rest[name][:] = 0.0
    push, torque = np.split(wrench(force, at_rest), 2)
    (energy_rate,) = exact_derivative(lambda s: force.energy(TIME, *(moved(m, s) for m in markers)), [0.0])
    assert abs(energy_rate) > 1e-3
    assert_close(power(push, torque, *markers), -energy_rate, EXACT)


def moved(marker: Any, s: Any) -> SimpleNamespace:
    """The marker displaced by s times its rates."""
    return SimpleNamespace(
        turns=0.0,
        position=marker.position + s * marker.velocity,
        axes=marker.axes + s * marker.axes_rate,
    )


def power(force: np.ndarray, torque: np.ndarray, i: Any, j: Any) -> float:
    """Power of a wrench on j's body at j and of its opposite on i's body at the same point."""
    velocity = j.velocity - i.velocity - np.cross(i.angular_velocity, j.position - i.position)
    return float(force @ velocity + torque @ (j.angular_velocity - i.angular_velocity))


@pytest.mark.boundscheck
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name_of)
@pytest.mark.parametrize("cls", [*INTERNAL, Gimbal], ids=name_of)
def test_momentum_is_kept(cls: Any, formulation: Formulation) -> None:
    system, i, j = two_bodies(gravity=(0.0, 0.0, 0.0))
    force = system.add(cls.example(i, j))
    eq = mb.Equations(system, formulation)
    state = random_state(eq)
    state.element_states[force.name] = np.ones(force.states)
    result = mb.evaluate(system, state, formulation=formulation)
    linear, angular, largest = np.zeros(3), np.zeros(3), 0.0
    for body in (i, j):
        acceleration = result.acceleration(body, local_point=body.center_of_mass)[0]
        push, moment = newton_euler(body, state, acceleration, result.angular_acceleration(body)[0])
        linear += push
        angular += moment + np.cross(state.position(body, body.center_of_mass), push)
        largest = max(largest, np.abs([push, moment]).max())
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
    z = np.ones(force.states)
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
    at = (force, table.rows[0]), TIME, *acting(force, 1, noise=0.1), *own_states(force)
    assert_compiles(cls.wrench, *at)
    assert_compiles(cls.wrench_gradient, *at, np.zeros((6, 36)))
    if force.states:
        assert_compiles(cls.state_rate, *at)
        assert_compiles(cls.state_gradient, *at, np.zeros((6 + cls.states, 36 + cls.states)))
    if hasattr(cls, "energy"):
        assert_compiles(cls.energy, *at[:4])
    for name in force.outputs:
        assert_compiles(getattr(cls, name), *at)


# --- forces that depend on the reaction of a joint --------------------------------------------------------------------


def rubbing(cls: Any, formulation: Formulation) -> tuple[mb.Equations, mb.Result, Any]:
    """A joint that rubs, moving, and its evaluation."""
    system, _, _, force = connected(cls, gravity=(0.0, 0.0, 0.0))
    eq = mb.Equations(system, formulation)
    state = random_state(mb.Equations(system))
    return eq, mb.evaluate(system, state, formulation=formulation), force


def reactive_load(result: mb.Result, force: Any) -> tuple[np.ndarray, np.ndarray]:
    """What the interpreted element exerts on the second body for the reaction of the result."""
    i, j = (next(result.marker_motion(marker).instants()) for marker in (force.i, force.j))
    for state, marker in ((i, force.i), (j, force.j)):
        state.angular_velocity = result.angular_velocity(marker)[0]
    push, torque = force.reactive_wrench(0.0, i, j, result.reaction(force.joint).force[0])
    return np.array(push), np.array(torque)


@pytest.mark.boundscheck
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name_of)
@pytest.mark.parametrize("cls", REACTIVE, ids=name_of)
def test_reactive_force_moves_the_bodies_with_the_reaction(cls: Any, formulation: Formulation) -> None:
    """Newton and Euler for both bodies under the joint's reaction and the force that it causes, opposite on each."""
    _, result, force = rubbing(cls, formulation)
    push, torque = reactive_load(result, force)
    reaction, point = result.reaction(force.joint), result.position(force.j)[0]
    total, turn = push + reaction.force[0], torque + reaction.torque[0]
    assert max(np.abs(push).max(), np.abs(torque).max()) > 1e-3
    for body, sign in ((force.body_i, -1.0), (force.body_j, 1.0)):
        acceleration = result.acceleration(body, local_point=body.center_of_mass)[0]
        needed, moment = newton_euler(body, result.state(0), acceleration, result.angular_acceleration(body)[0])
        arm = point - result.position(body, body.center_of_mass)[0]
        assert_close(sign * total, needed, 1e-9)
        assert_close(sign * (turn + np.cross(arm, total)), moment, 1e-9)


@pytest.mark.parametrize("cls", REACTIVE, ids=name_of)
def test_reactive_force_is_the_same_in_every_formulation(cls: Any) -> None:
    loads = [np.concatenate(reactive_load(*rubbing(cls, f)[1:])) for f in FORMULATIONS]
    for load in loads:
        assert_close(load, loads[0], 1e-9)


@pytest.mark.parametrize("cls", REACTIVE, ids=name_of)
def test_reactive_force_never_feeds_energy(cls: Any) -> None:
    """Whatever the motion and the reaction: its power is not positive, and it vanishes with the reaction."""
    _, i, j = two_bodies()
    force, rng = cls.example(i, j), np.random.default_rng(13)
    lost = 0.0
    for _ in range(50):
        # Allowed motion of the joint only: along its axis, or about it.
        a, b = rigid_markers(rng, "f8")
        b.position[:], b.axes[:] = a.position, a.axes
        speed, spin = rng.normal(size=2)
        b.velocity[:] = a.velocity + speed * a.axes[:, 2]
        b.angular_velocity[:] = a.angular_velocity + spin * a.axes[:, 2]
        loads = [np.array(force.reactive_wrench(TIME, a, b, r)) for r in (rng.normal(size=3), np.zeros(3))]
        lost = max(lost, -power(*loads[0], a, b))
        assert power(*loads[0], a, b) <= 0.0
        assert not loads[1].any()
    assert lost > 1e-2


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", REACTIVE, ids=name_of)
def test_compiled_reactive_wrench_equals_the_interpreted_one(cls: Any) -> None:
    system, _, _, force = connected(cls)
    (table,) = Tables(system, None).force_tables
    markers = rigid_markers(np.random.default_rng(1), "f8")
    assert_compiles(cls.reactive_wrench, (force, table.rows[0]), TIME, *markers, np.array([0.7, -1.2, 0.4]))
