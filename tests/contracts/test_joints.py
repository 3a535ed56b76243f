"""Every joint: it closes, its rows are derivatives of its residual, its reaction is what Newton and Euler ask for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.constraints.relations import MeasureTerm
from mbframe.joints.coupled import Coupling
from mbframe.joints.driven import Drive
from mbframe.state import Motion, State

from .specimens import (
    GRAVITY,
    along,
    assert_close,
    connected,
    crossed,
    new_markers,
    newton_euler,
    numbers,
    place_of,
    random_state,
    rate_of,
    rigid_formulations,
    walk,
)

EXACT = 1e-12
# A basic constraint that is added by itself is a joint of its own.
CLASSES = [*walk(mb.Joint), *walk(mb.BasicConstraint)]
FORMULATIONS = rigid_formulations()


every = crossed(CLASSES, FORMULATIONS)
between_two_bodies = crossed([cls for cls in CLASSES if not issubclass(cls, Coupling)], FORMULATIONS)
coupling = crossed([cls for cls in CLASSES if issubclass(cls, Coupling)], FORMULATIONS)


class Joined:
    """Two bodies in general position with a joint between them, moving as the joint allows."""

    def __init__(self, cls: Any, formulation: Formulation) -> None:
        self.system, self.i, self.j, self.joint = connected(cls)
        self.eq = mb.Equations(self.system, formulation)
        self.state = random_state(mb.Equations(self.system))
        self.q, self.v = numbers(self.eq, self.state)
        self.result = mb.evaluate(self.system, self.state, formulation=formulation)

    def load(self, joint: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Force, torque and point of a joint's reaction on its second body."""
        reaction = self.result.reaction(joint)
        return reaction.force[0], reaction.torque[0], self.result.position(joint.j)[0]

    def missing(self, body: mb.RigidBody, *loads: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
        """What Newton and Euler ask for beyond gravity and some loads: force, and moment about the centre of mass."""
        acceleration = self.result.acceleration(body, local_point=body.center_of_mass)[0]
        push, moment = newton_euler(body, self.state, acceleration, self.result.angular_acceleration(body)[0])
        push -= body.mass * GRAVITY
        for force, torque, point in loads:
            push -= force
            moment -= torque + np.cross(point - self.state.position(body, body.center_of_mass), force)
        return np.concatenate([push, moment])


@cache
def made(cls: Any, formulation: Formulation) -> Joined:
    return Joined(cls, formulation)


@pytest.fixture
def joined(cls: Any, formulation: Formulation) -> Joined:
    return made(cls, formulation)


def rows_at(eq: mb.Equations, q: np.ndarray, v: np.ndarray, time: complex = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """C at t = 0 and (C', D) at a time by the interpreted kernels, on complex numbers."""
    q, v, t = np.asarray(q, complex), np.asarray(v, complex), eq.tables
    markers = new_markers(len(t.markers))
    for name in ("position", "axes", "point", "frame"):
        markers[name][:] = t.markers[name]
    residual, rate = np.zeros(t.n_holonomic, complex), np.zeros(eq.n_rows, complex)
    for table in t.body_tables:
        for row, b in zip(table.rows, table.elements, strict=True):
            f, frame = b.formulation, np.zeros((3, b.formulation.n_frame), complex)
            own_q, own_v = q[b.q_slice], v[b.v_slice]
            f.prepare(row, own_q, frame)
            for marker in markers[b.first_marker : b.first_marker + len(b.markers)]:
                f.place(row, own_q, own_v, frame, marker, f.constant_jacobian(marker).astype(complex), 2)
            own = slice(b.row, b.row + f.n_intrinsic)
            jacobian = np.zeros((f.n_intrinsic, f.n_v), complex)
            f.intrinsic(own_q, own_v, residual[own], rate[own], np.zeros(f.n_intrinsic, complex), jacobian, 1)
    for c in t.constraints:
        i, j = markers[c.i], markers[c.j]
        if c.constraint.nonholonomic:
            rate[c.rows] = c.constraint.velocity_residual(0.0, i, j)
            continue
        g = np.zeros((c.constraint.equations, 24), complex)
        c.constraint.gradient(0.0, i, j, g)
        residual[c.rows] += residual_at(c.constraint, i, j, g)  # the terms of a relation share a row
        rate[c.rows] += g[:, :12] @ rate_of(i) + g[:, 12:] @ rate_of(j)
        if hasattr(c.constraint, "time_rate"):
            rate[c.rows] += c.constraint.time_rate(time, i, j)
    return residual, rate


def residual_at(constraint: Any, i: Any, j: Any, gradient: np.ndarray) -> np.ndarray:
    """C on complex numbers; one that does not take them (arctan2) by its gradient, whose own contract checks it."""
    try:
        return np.array(constraint.residual(0.0, i, j))
    except TypeError:
        real = new_markers(2, "f8")
        for marker, given in zip(real, (i, j), strict=True):
            marker.position[:], marker.axes[:] = given.position.real, given.axes.real
        change = np.concatenate([place_of(i), place_of(j)]).imag
        return np.array(constraint.residual(0.0, *real)) + 1j * gradient.real @ change


@every
def test_closes_where_it_is_described(joined: Joined) -> None:
    q, v = numbers(joined.eq, joined.eq.described())
    residual = joined.eq.evaluate(0.0, q, v).residual
    assert_close(residual, np.zeros_like(residual), 1e-14)


@every
def test_rows_are_independent(joined: Joined) -> None:
    jacobian = joined.eq.evaluate(0.0, joined.q, joined.v).jacobian.toarray()
    values = np.linalg.svd(jacobian, compute_uv=False)
    assert len(jacobian) == len(values) == joined.eq.n_rows
    assert values[-1] > 1e-3 * values[0]


@every
@pytest.mark.boundscheck
def test_rows_are_derivatives_of_the_residual(joined: Joined) -> None:
    """Compiled J, (C', D) and gamma against complex steps of the interpreted residuals, off the constraint."""
    eq, q = joined.eq, joined.q
    v = np.random.default_rng(9).normal(size=eq.n_v)
    found, holonomic = eq.evaluate(0.0, q, v), eq.tables.n_holonomic
    by_place = [along(lambda h, d=d: rows_at(eq, q + h * eq.coordinate_rates(q, d), v)[0]) for d in np.eye(eq.n_v)]
    by_velocity = [along(lambda h, d=d: rows_at(eq, q, v + h * d)[1]) for d in np.eye(eq.n_v)]
    jacobian, q_rate = found.jacobian.toarray(), eq.coordinate_rates(q, v)
    residual, rate = rows_at(eq, q, v)
    assert_close(jacobian[:holonomic], np.transpose(by_place), EXACT)
    assert_close(jacobian, np.transpose(by_velocity), EXACT)
    assert_close(found.residual, residual, EXACT)
    assert_close(found.constraint_rate, rate, EXACT)
    by_time = rows_at(eq, q, np.zeros(eq.n_v))[1][:holonomic]
    assert_close(found.constraint_rate[:holonomic], jacobian[:holonomic] @ v + by_time, EXACT)
    assert_close(found.gamma, -along(lambda h: rows_at(eq, q + h * q_rate, v, h)[1]), EXACT)


@every
def test_common_motion_is_free(joined: Joined) -> None:
    """J v = 0 and D = 0 when all bodies move as one: a joint knows only their relative motion."""
    rng = np.random.default_rng(10)
    at_rest = joined.eq.evaluate(0.0, joined.q, np.zeros(joined.eq.n_v)).constraint_rate  # not zero for a driver
    for velocity, omega in rng.normal(size=(3, 2, 3)):
        motions = {
            name: Motion(m.position, m.rotation, velocity + np.cross(omega, m.position), omega)
            for name, m in joined.state.motions.items()
        }
        evaluation = joined.eq.evaluate(0.0, joined.q, v := numbers(joined.eq, State(0.0, motions))[1])
        assert_close(evaluation.jacobian @ v, np.zeros(joined.eq.n_rows), EXACT)
        assert_close(evaluation.constraint_rate, at_rest, EXACT)


@between_two_bodies
def test_reaction_moves_the_bodies(joined: Joined) -> None:
    """Newton and Euler for both bodies under gravity and the reaction, which acts on the first with opposite sign."""
    size = np.linalg.norm(np.concatenate(joined.load(joined.joint)[:2]))
    assert size > 1e-3
    loads = [joined.load(joint) for joint in joined.system.joints]  # a driver comes with the joint that it drives
    for body, sign in ((joined.i, -1.0), (joined.j, 1.0)):
        found = joined.missing(body, *((sign * force, sign * torque, point) for force, torque, point in loads))
        assert_close(found, np.zeros(6), 1e-11 * max(size, 1.0))


@between_two_bodies
def test_reaction_does_no_work_but_that_of_a_driver(joined: Joined) -> None:
    force, torque, point = joined.load(joined.joint)
    supplied = 0.0
    if isinstance(joined.joint, Drive):
        rates = [f.derivative(0.0) for f in joined.joint.functions().values()]
        supplied = float(np.sum(joined.result.driving_force(joined.joint) * rates))
    elif isinstance(joined.joint, MeasureTerm):
        multiplier = joined.result.multipliers[0, 0]
        supplied = multiplier * joined.joint.time_rate(0.0, None, None)[0]
    for seed in range(4):
        state = random_state(joined.eq, seed)
        velocities = [state.velocity(b, b.rotation.T @ (point - b.position)) for b in (joined.i, joined.j)]
        spins = [state.angular_velocity(b) for b in (joined.i, joined.j)]
        power = force @ (velocities[1] - velocities[0]) + torque @ (spins[1] - spins[0])
        assert_close(power, supplied, EXACT * max(1.0, np.abs(force).max()))


@coupling
def test_reaction_of_a_coupling_moves_the_second_body(joined: Joined) -> None:
    """Gravity, the reaction of the body's own joint and that of the coupling."""
    load = joined.load(joined.joint)
    assert np.linalg.norm(np.concatenate(load[:2])) > 1e-3
    assert_close(joined.missing(joined.j, joined.load(joined.joint.second), load), np.zeros(6), 1e-11)


@coupling
def test_coupling_does_no_work(joined: Joined) -> None:
    """What it exerts on three bodies: each as that which the joints and gravity leave of Newton and Euler."""
    joint, carrier = joined.joint, joined.system["carrier"]
    first, second = joined.load(joint.first), joined.load(joint.second)
    back = [(-force, -torque, point) for force, torque, point in (first, second)]
    loads = [
        (joined.i, joined.missing(joined.i, first)),
        (joined.j, joined.missing(joined.j, second)),
        (carrier, joined.missing(carrier, *back)),
    ]
    assert min(np.linalg.norm(load) for _, load in loads) > 1e-3
    for seed in range(4):
        state = random_state(joined.eq, seed)
        power = sum(
            load[:3] @ state.velocity(body, body.center_of_mass) + load[3:] @ state.angular_velocity(body)
            for body, load in loads
        )
        assert_close(power, 0.0, 1e-11 * max(np.abs(load).max() for _, load in loads))


@every
def test_formulations_agree(joined: Joined) -> None:
    reference = made(type(joined.joint), FORMULATIONS[0]).result
    for body in (joined.i.name, joined.j.name):
        assert_close(joined.result.acceleration(body), reference.acceleration(body), 1e-9)
        assert_close(joined.result.angular_acceleration(body), reference.angular_acceleration(body), 1e-9)
    for joint in (joint.name for joint in joined.system.joints):
        assert_close(joined.result.reaction(joint).force, reference.reaction(joint).force, 1e-9)
        assert_close(joined.result.reaction(joint).torque, reference.reaction(joint).torque, 1e-9)


@every
def test_sparse_solution_is_the_dense_one(joined: Joined) -> None:
    e = joined.eq.evaluate(0.0, joined.q, joined.v)
    jacobian, n = e.jacobian.toarray(), joined.eq.n_rows
    matrix = np.block([[e.mass.toarray(), jacobian.T], [jacobian, np.zeros((n, n))]])
    expected = np.linalg.solve(matrix, np.concatenate([e.force, e.gamma]))
    v_rate, multipliers = joined.eq.accelerate(0.0, joined.q, joined.v)
    assert_close(np.concatenate([v_rate, multipliers]), expected, 1e-11)
    joined.eq.factor()
    assert_close(joined.eq.solve(matrix @ np.ones(len(matrix))), np.ones(len(matrix)), 1e-11)


@every
def test_a_state_that_cannot_be_evaluated_leaves_no_trace(joined: Joined) -> None:
    """Adaptive integrators try states far outside; what they leave in the tables must not stay there."""
    before = joined.eq.evaluate(0.0, joined.q, joined.v)
    joined.eq.evaluate(0.0, np.nan * joined.q, joined.v)
    after = joined.eq.evaluate(0.0, joined.q, joined.v)
    for name in ("force", "gamma", "residual", "constraint_rate"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    assert np.array_equal(after.mass.toarray(), before.mass.toarray())
    assert np.array_equal(after.jacobian.toarray(), before.jacobian.toarray())


@every
def test_acceleration_recovers_from_a_state_that_cannot_be_evaluated(joined: Joined) -> None:
    before = joined.eq.accelerate(0.0, joined.q, joined.v)
    with pytest.raises(mb.SimulationError):
        joined.eq.accelerate(0.0, np.nan * joined.q, joined.v)
    for found, expected in zip(joined.eq.accelerate(0.0, joined.q, joined.v), before, strict=True):
        assert_close(found, expected, 1e-11)
    assert not joined.eq.factor_record["dependent"]  # the rows are independent, whatever that state looked like
