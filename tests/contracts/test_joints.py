"""Every joint: it closes, its rows are derivatives of its residual, its reaction is what Newton and Euler ask for."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.state import Motion, State

from .specimens import (
    GRAVITY,
    along,
    assert_close,
    name_of,
    new_markers,
    newton_euler,
    numbers,
    random_state,
    rate_of,
    two_bodies,
    walk,
)

EXACT = 1e-12
# A basic constraint that is added by itself is a joint of its own.
CLASSES = [*walk(mb.Joint), *walk(mb.BasicConstraint)]
FORMULATIONS = [cls() for cls in walk(Formulation)]
CASES = [pytest.param(c, f, id=f"{name_of(c)}-{name_of(f)}") for c, f in product(CLASSES, FORMULATIONS)]


class Joined:
    """Two bodies in general position with a joint between them, moving as the joint allows."""

    def __init__(self, cls: Any, formulation: Formulation) -> None:
        self.system, self.i, self.j = two_bodies()
        self.joint = self.system.add(cls.example(self.i, self.j))
        self.eq = mb.Equations(self.system, formulation)
        self.state = random_state(mb.Equations(self.system))
        self.q, self.v = numbers(self.eq, self.state)
        self.result = mb.evaluate(self.system, self.state, formulation=formulation)

    @property
    def reaction(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Force, torque and point of the reaction on the second body."""
        reaction = self.result.reaction(self.joint)
        return reaction.force[0], reaction.torque[0], self.result.position(self.joint.j)[0]


@pytest.fixture
def joined(cls: Any, formulation: Formulation) -> Joined:
    return Joined(cls, formulation)


pytestmark = pytest.mark.parametrize(("cls", "formulation"), CASES)


def rows_at(eq: mb.Equations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C and C' by the interpreted kernels, on complex numbers."""
    q, v, t = np.asarray(q, complex), np.asarray(v, complex), eq.tables
    markers = new_markers(len(t.markers))
    for name in ("position", "axes", "point", "frame"):
        markers[name][:] = t.markers[name]
    residual, rate = np.zeros(eq.n_rows, complex), np.zeros(eq.n_rows, complex)
    for table in t.body_tables:
        for row, b in zip(table.rows, table.elements, strict=True):
            f, frame = b.formulation, np.zeros((3, 3), complex)
            own_q, own_v = q[b.q_slice], v[b.v_slice]
            f.prepare(row, own_q, frame)
            for marker in markers[b.first_marker : b.first_marker + len(b.markers)]:
                f.place(row, own_q, own_v, frame, marker, f.constant_jacobian(marker).astype(complex), 2)
            own = slice(b.row, b.row + f.n_intrinsic)
            jacobian = np.zeros((f.n_intrinsic, f.n_v), complex)
            f.intrinsic(own_q, own_v, residual[own], rate[own], np.zeros(f.n_intrinsic, complex), jacobian, 1)
    for c in t.constraints:
        i, j = markers[c.i], markers[c.j]
        g = np.zeros((c.constraint.equations, 24), complex)
        c.constraint.gradient(0.0, i, j, g)
        residual[c.rows] = c.constraint.residual(0.0, i, j)
        rate[c.rows] = g[:, :12] @ rate_of(i) + g[:, 12:] @ rate_of(j)
    return residual, rate


def test_closes_where_it_is_described(joined: Joined) -> None:
    q, v = numbers(joined.eq, joined.eq.described())
    residual = joined.eq.evaluate(0.0, q, v).residual
    assert_close(residual, np.zeros_like(residual), 1e-14)


def test_rows_are_independent(joined: Joined) -> None:
    jacobian = joined.eq.evaluate(0.0, joined.q, joined.v).jacobian.toarray()
    values = np.linalg.svd(jacobian, compute_uv=False)
    assert len(jacobian) == len(values) == joined.eq.n_rows
    assert values[-1] > 1e-3 * values[0]


@pytest.mark.boundscheck
def test_rows_are_derivatives_of_the_residual(joined: Joined) -> None:
    """Compiled J, C' and gamma against complex steps of the interpreted residual, at velocities off the constraint."""
    eq, q = joined.eq, joined.q
    v = np.random.default_rng(9).normal(size=eq.n_v)
    found = eq.evaluate(0.0, q, v)
    expected = [along(lambda h, d=d: rows_at(eq, q + h * eq.coordinate_rates(q, d), v)[0]) for d in np.eye(eq.n_v)]
    jacobian = found.jacobian.toarray()
    q_rate = eq.coordinate_rates(q, v)
    assert_close(jacobian, np.transpose(expected), EXACT)
    assert_close(found.residual, rows_at(eq, q, v)[0], EXACT)
    assert_close(found.constraint_rate, jacobian @ v, EXACT)
    assert_close(found.gamma, -along(lambda h: rows_at(eq, q + h * q_rate, v)[1]), EXACT)


def test_common_motion_is_free(joined: Joined) -> None:
    """J v = 0 when both bodies move as one: a joint knows only their relative position."""
    rng = np.random.default_rng(10)
    jacobian = joined.eq.evaluate(0.0, joined.q, joined.v).jacobian
    for velocity, omega in rng.normal(size=(3, 2, 3)):
        motions = {
            name: Motion(m.position, m.rotation, velocity + np.cross(omega, m.position), omega)
            for name, m in joined.state.motions.items()
        }
        _, v = numbers(joined.eq, State(0.0, motions))
        assert_close(jacobian @ v, np.zeros(joined.eq.n_rows), EXACT)


def test_reaction_moves_the_bodies(joined: Joined) -> None:
    """Newton and Euler for both bodies under gravity and the reaction, which acts on the first with opposite sign."""
    force, torque, point = joined.reaction
    assert np.linalg.norm(np.concatenate([force, torque])) > 1e-3
    for body, sign in ((joined.i, -1.0), (joined.j, 1.0)):
        acceleration = joined.result.acceleration(body, local_point=body.center_of_mass)[0]
        push, moment = newton_euler(body, joined.state, acceleration, joined.result.angular_acceleration(body)[0])
        arm = point - joined.state.position(body, body.center_of_mass)
        assert_close(sign * force + body.mass * GRAVITY, push, 1e-11)
        assert_close(sign * (torque + np.cross(arm, force)), moment, 1e-11)


def test_reaction_does_no_work(joined: Joined) -> None:
    force, torque, point = joined.reaction
    for seed in range(4):
        state = random_state(joined.eq, seed)
        velocities = [state.velocity(b, b.rotation.T @ (point - b.position)) for b in (joined.i, joined.j)]
        spins = [state.angular_velocity(b) for b in (joined.i, joined.j)]
        power = force @ (velocities[1] - velocities[0]) + torque @ (spins[1] - spins[0])
        assert_close(power, 0.0, EXACT * max(1.0, np.abs(force).max()))


def test_formulations_agree(joined: Joined) -> None:
    reference = mb.evaluate(joined.system, joined.state, formulation=mb.NewtonEuler())
    for body in (joined.i, joined.j):
        assert_close(joined.result.acceleration(body), reference.acceleration(body), 1e-9)
        assert_close(joined.result.angular_acceleration(body), reference.angular_acceleration(body), 1e-9)
    assert_close(joined.result.reaction(joined.joint).force, reference.reaction(joined.joint).force, 1e-9)
    assert_close(joined.result.reaction(joined.joint).torque, reference.reaction(joined.joint).torque, 1e-9)


def test_sparse_solution_is_the_dense_one(joined: Joined) -> None:
    e = joined.eq.evaluate(0.0, joined.q, joined.v)
    jacobian, n = e.jacobian.toarray(), joined.eq.n_rows
    matrix = np.block([[e.mass.toarray(), jacobian.T], [jacobian, np.zeros((n, n))]])
    expected = np.linalg.solve(matrix, np.concatenate([e.force, e.gamma]))
    v_rate, multipliers = joined.eq.accelerate(0.0, joined.q, joined.v)
    assert_close(np.concatenate([v_rate, multipliers]), expected, 1e-11)
    joined.eq.factor()
    assert_close(joined.eq.solve(matrix @ np.ones(len(matrix))), np.ones(len(matrix)), 1e-11)


def test_a_state_that_cannot_be_evaluated_leaves_no_trace(joined: Joined) -> None:
    """Adaptive integrators try states far outside; what they leave in the tables must not stay there."""
    before = joined.eq.evaluate(0.0, joined.q, joined.v)
    joined.eq.evaluate(0.0, np.nan * joined.q, joined.v)
    after = joined.eq.evaluate(0.0, joined.q, joined.v)
    for name in ("force", "gamma", "residual", "constraint_rate"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    assert np.array_equal(after.mass.toarray(), before.mass.toarray())
    assert np.array_equal(after.jacobian.toarray(), before.jacobian.toarray())


def test_acceleration_recovers_from_a_state_that_cannot_be_evaluated(joined: Joined) -> None:
    before = joined.eq.accelerate(0.0, joined.q, joined.v)
    with pytest.raises(mb.SimulationError):
        joined.eq.accelerate(0.0, np.nan * joined.q, joined.v)
    for found, expected in zip(joined.eq.accelerate(0.0, joined.q, joined.v), before, strict=True):
        assert_close(found, expected, 1e-11)
    assert not joined.eq.factor_record["regularized"]  # the rows are independent, whatever that state looked like
