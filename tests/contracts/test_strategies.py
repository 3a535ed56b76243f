"""Every acceleration and stabilization: what they solve, and what they leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.solvers.strategy import SolverStrategy

from .specimens import assert_close, name_of, numbers, random_state, rigid_formulations, two_bodies, walk

FORMULATIONS = rigid_formulations()


@pytest.fixture(params=FORMULATIONS, ids=name_of)
def eq(request: pytest.FixtureRequest) -> mb.Equations:
    """A spherical and a revolute joint, so that the constraints couple all bodies."""
    system, i, j = two_bodies()
    system.add(mb.SphericalJoint("ball", system.ground, i, at=(0.3, -0.2, 0.4)))
    system.add(mb.RevoluteJoint("hinge", i, j, at=(1.1, 0.2, -0.3), axis=(1.0, -2.0, 0.5)))
    return mb.Equations(system, request.param)


@pytest.mark.parametrize("cls", walk(SolverStrategy), ids=name_of)
def test_every_strategy_can_be_made_without_arguments(cls: Any) -> None:
    assert repr(cls()).startswith(f"{cls.__name__}(")


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", walk(mb.Acceleration), ids=name_of)
def test_accelerations_satisfy_the_equations(cls: Any, eq: mb.Equations) -> None:
    """M v' + J^T lambda = Q, and J v' = gamma."""
    q, v = numbers(eq, random_state(eq))
    e = eq.evaluate(0.0, q, v)
    v_rate, multipliers = cls().solve(eq, 0.0, q, v)
    assert_close(e.mass @ v_rate + e.jacobian.T @ multipliers, e.force, 1e-11)
    accuracy = 1e-4 if cls is mb.Penalty else 1e-6  # of the order of 1/alpha times the conditioning of the rows
    assert_close(e.jacobian @ v_rate, e.gamma, accuracy)


def disturbed(eq: mb.Equations) -> tuple[np.ndarray, np.ndarray]:
    """A state that violates the constraints a little."""
    q, v = numbers(eq, random_state(eq))
    away, faster = 1e-3 * np.random.default_rng(12).normal(size=(2, eq.n_v))
    return q + eq.coordinate_rates(q, away), v + faster


@pytest.mark.parametrize("cls", walk(mb.Stabilization), ids=name_of)
def test_states_that_satisfy_the_constraints_stay(cls: Any, eq: mb.Equations) -> None:
    q, v = numbers(eq, random_state(eq))
    new_q, new_v = cls().correct(eq, 0.0, q, v)
    assert_close(new_q, q, 1e-12)
    assert_close(new_v, v, 1e-12)


@pytest.mark.parametrize("cls", walk(mb.Stabilization), ids=name_of)
def test_violations_do_not_grow(cls: Any, eq: mb.Equations) -> None:
    q, v = disturbed(eq)
    before = eq.evaluate(0.0, q, v)
    after = eq.evaluate(0.0, *cls().correct(eq, 0.0, q, v))
    assert np.linalg.norm(after.residual) <= np.linalg.norm(before.residual)
    assert np.linalg.norm(after.constraint_rate) <= np.linalg.norm(before.constraint_rate)


@pytest.mark.parametrize("mass_weighted", [True, False])
def test_direct_correction_is_the_least_change(eq: mb.Equations, mass_weighted: bool) -> None:
    """dv = -W^-1 J^T (J W^-1 J^T)^-1 J v at the corrected position; the position by the same formula to first order."""
    q, v = disturbed(eq)
    start = eq.evaluate(0.0, q, v)
    new_q, new_v = mb.DirectCorrection(mass_weighted=mass_weighted).correct(eq, 0.0, q, v)
    e = eq.evaluate(0.0, new_q, v)

    def least(at: Any, violation: np.ndarray) -> np.ndarray:
        weight = at.mass.toarray() if mass_weighted else np.eye(eq.n_v)
        spread = np.linalg.solve(weight, at.jacobian.toarray().T)
        return -spread @ np.linalg.solve(at.jacobian @ spread, violation)

    assert np.linalg.norm(e.residual) <= 1e-12
    assert_close(new_v, v + least(e, e.constraint_rate), 1e-11)
    change = new_q - q
    first_order = eq.coordinate_rates(q, least(start, start.residual))
    assert np.linalg.norm(change - first_order) < 0.05 * np.linalg.norm(change)
