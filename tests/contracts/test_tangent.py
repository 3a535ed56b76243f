"""The tangent of the whole equations of motion, with every joint, constraint and force, in every formulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.equations.implicit import coupled
from mbframe.equations.pattern import pattern

from .specimens import Array, assert_close, connected, crossed, numbers, rigid_formulations, walk

ELEMENTS = [*walk(mb.Joint), *walk(mb.BasicConstraint), *walk(mb.ForceElement)]
TIME, STEP = 0.2, 3e-4  # four steps to both sides do not leave a contact
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])


def difference(function: Callable[[float], Array], step: float = STEP) -> Array:
    """Derivative of function(s) at s = 0 by central differences of order eight."""
    steps = step * np.arange(1, 5)
    return sum(w * (function(s) - function(-s)) for w, s in zip(WEIGHTS, steps, strict=True)) / step


def pushed(eq: mb.Equations, state: tuple[Array, ...], multipliers: Array) -> Array:
    """Q with the forces that depend on reactions."""
    eq.evaluate(TIME, *state)
    return eq.rub(TIME, multipliers)


@pytest.mark.boundscheck
@crossed(ELEMENTS, rigid_formulations())
def test_tangent_is_the_derivative_of_the_equations(cls: Any, formulation: Formulation) -> None:
    """Of M v' - Q + J^T lambda, of z' and of D, along random displacements, velocities and changes of own states.

    Off the constraints.
    """
    system, _, _, _ = connected(cls)
    eq = mb.Equations(system, formulation)
    rng = np.random.default_rng(11)
    q, v = numbers(eq, eq.described())
    v = v + 0.3 * rng.normal(size=eq.n_v)
    z = eq.split(eq.coordinates(eq.described()))[2].copy()
    z[: eq.n_own] += 0.7  # a speed of impact that counts
    v_rate, multipliers = rng.normal(size=eq.n_v), rng.normal(size=eq.n_rows)
    holonomic = eq.tables.n_holonomic

    def equations(q: Array, v: Array, z: Array = z) -> Array:
        e = eq.evaluate(TIME, q, v, z)
        load = e.mass @ v_rate - eq.rub(TIME, multipliers) + e.jacobian.T @ multipliers
        return np.concatenate([load, e.constraint_rate[holonomic:], e.residual, eq.work.z_rate[: eq.n_own]])

    parts = np.cumsum([eq.n_v, eq.n_rows - holonomic, holonomic])

    eq.set_state(q, v, z)
    found = eq.tangent(TIME, q, v, v_rate, multipliers)
    dense = eq.tangent(TIME, q, v, v_rate, multipliers, dense=True)
    for name in ("stiffness", "damping", "mass", "jacobian"):
        assert_close(getattr(dense, name), getattr(found, name).toarray(), 1e-14)
    for name in ("force", "stiffness", "damping", "feedback"):
        assert_close(getattr(dense.own, name), getattr(found.own, name), 1e-14)
    left_out = ~coupled(eq, *pattern(eq.tables)[:2])  # by the matrix of implicit integrators
    assert not eq.tangent_assembly.stiffness[left_out].any()
    assert not eq.tangent_assembly.damping[left_out].any()
    for d in rng.normal(size=(3, eq.n_v)) / np.sqrt(eq.n_v):
        shift = eq.coordinate_rates(q, d)
        load, rate, residual, own = np.split(difference(lambda s, shift=shift: equations(q + s * shift, v)), parts)
        assert_close(found.stiffness @ d, load, 1e-8)
        assert_close(found.velocity_stiffness @ d, rate, 1e-8)
        assert_close((found.jacobian @ d)[:holonomic], residual, 1e-8)
        assert_close(found.own.stiffness @ d, own, 1e-8)
        load, rate, _, own = np.split(difference(lambda s, d=d: equations(q, v + s * d)), parts)
        assert_close(found.damping @ d, load, 1e-8)
        assert_close((found.jacobian @ d)[holonomic:], rate, 1e-8)
        assert_close(found.own.damping @ d, own, 1e-8)
    for r in range(eq.n_rows):
        by_one = difference(lambda s, r=r: pushed(eq, (q, v, z), multipliers + s * np.eye(eq.n_rows)[r]))
        assert_close(found.by_reactions.toarray()[:, r], by_one, 1e-8)
    for d in np.eye(len(z))[: eq.n_own]:
        load, _, _, own = np.split(difference(lambda s, d=d: equations(q, v, z + s * d)), parts)
        assert_close(found.own.force @ d[: eq.n_own], load, 1e-8)
        assert_close(found.own.feedback @ d[: eq.n_own], own, 1e-8)
