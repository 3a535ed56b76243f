"""Every integrator: its observed order on a heavy top whose motion is known from other equations, and its tableau."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from scipy.integrate import DOP853, RK45, solve_ivp

import mbframe as mb
from mbframe.examples.heavy_top import AXIAL, LENGTH, MASS, TRANSVERSE, heavy_top
from mbframe.solvers.integrators.tableaus import Tableau

from .specimens import assert_close, walk


def in_every_order(cls: type[mb.Integrator]) -> Iterator[mb.Integrator]:
    """The method in all orders that it offers."""
    declared = cls.parameters().get("order")
    if declared is None:
        yield cls()
        return
    for order in range(int(declared.minimum), int(declared.maximum) + 1):
        with suppress(mb.ModelError):  # not all whole numbers in between need to be orders
            yield cls(order=order)


CLASSES = [cls for cls in walk(mb.Integrator) if cls is not mb.BDF or find_spec("sksundae") is not None]
METHODS: list[Any] = [method for cls in CLASSES for method in in_every_order(cls)]
WITH_TABLEAU = [m for m in METHODS if isinstance(m, mb.RungeKutta)]
ADAPTIVE = [m for m in METHODS if m.adaptive and not isinstance(m, mb.BDF)]  # whose error control is not ours

SPIN, LEAN, END = 40.0, 1.0, 0.4
ROUNDING = 1e-12


# --- the heavy top in Euler angles ------------------------------------------------------------------------------------


def axis_of_the_top(t: np.ndarray) -> np.ndarray:
    """Direction of the top's axis, from Lagrange's equations in nutation and precession angle; (n, 3).

    With the moments of inertia A about the axis and B across it at the fixed point, the momenta of spin and precession
    are constant, p_psi = A spin, p_phi = p_psi cos(lean), and

        phi' = (p_phi - p_psi cos theta)/(B sin^2 theta),
        B theta'' = B phi'^2 sin theta cos theta - p_psi phi' sin theta + m g l sin theta.
    """
    across = TRANSVERSE + MASS * LENGTH**2
    p_psi = AXIAL * SPIN
    p_phi = p_psi * np.cos(LEAN)

    def rates(_: float, y: np.ndarray) -> list[float]:
        theta, theta_rate, _ = y
        phi_rate = (p_phi - p_psi * np.cos(theta)) / (across * np.sin(theta) ** 2)
        moment = across * phi_rate**2 * np.cos(theta) - p_psi * phi_rate + MASS * 9.81 * LENGTH
        return [theta_rate, moment * np.sin(theta) / across, phi_rate]

    solution = solve_ivp(rates, (0.0, END), [LEAN, 0.0, 0.0], method="DOP853", rtol=3e-14, atol=1e-15, t_eval=t)
    theta, _, phi = solution.y
    return np.column_stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])


def errors(integrator: mb.Integrator, t: np.ndarray, dt: float | None = None) -> np.ndarray:
    """Error of the top's axis at the instants t."""
    tight = mb.DirectCorrection(tolerance=1e-14)
    result = mb.simulate(
        heavy_top(spin=SPIN, lean=LEAN), t[-1], dt=dt, integrator=integrator, t_eval=t, stabilization=tight
    )
    return np.linalg.norm(result.position("top", local_point=(0.0, 0.0, 1.0)) - axis_of_the_top(t), axis=1)


# --- observed order ---------------------------------------------------------------------------------------------------


def fixed_step(method: Any) -> mb.Integrator:
    """The method with a fixed step: of an adaptive Runge-Kutta method, its tableau."""
    if method.adaptive and method in WITH_TABLEAU:
        return type("Fixed", (mb.RungeKutta,), {"tableau": method.tableau})()
    return method


def order_of(method: Any) -> int:
    """The order a method should have: by its tableau, or as it says."""
    return tableau_order(method.tableau) if method in WITH_TABLEAU else method.order


FIXED_STEP = [m for m in METHODS if m in WITH_TABLEAU or not m.adaptive]


@pytest.mark.parametrize("method", FIXED_STEP, ids=repr)
def test_error_falls_with_the_order_and_is_no_larger_between_steps(method: mb.Integrator) -> None:
    integrator, order = fixed_step(method), order_of(method)
    found = []
    for steps in 2 ** np.arange(3, 16):
        e = errors(integrator, np.linspace(0.0, END, 4 * steps + 1), dt=END / steps)
        at_steps, between = e[::4].max(), np.delete(e, np.s_[::4]).max()
        if at_steps < 0.05:
            found.append(at_steps)
            assert between < 1.5 * at_steps
        if at_steps < 1e-8 or len(found) == 4:
            break
    slopes = [np.log2(a / b) for a, b in pairwise(found)]
    assert len(slopes) >= 2
    assert order - 0.3 < slopes[-1] < order + 0.7


@pytest.mark.parametrize("method", FIXED_STEP, ids=repr)
def test_a_shorter_last_step_is_as_accurate(method: mb.Integrator) -> None:
    """Also where it falls among the first steps, which a multistep method takes differently."""
    dt = 2e-4
    for steps in (1, 2, 4, 7, 1500):
        full = errors(fixed_step(method), dt * np.arange(steps + 1), dt=dt)
        cut = errors(fixed_step(method), dt * np.array([0.0, steps - 0.6]), dt=dt)
        assert cut[-1] < 1.2 * full.max() + 1e-13


@pytest.mark.parametrize("method", ADAPTIVE, ids=repr)
def test_error_falls_in_proportion_to_the_tolerance(method: Any) -> None:
    t = np.linspace(0.0, END, 53)
    tolerances = 10.0 ** np.arange(-5.0, -12.0, -1.0)
    found = np.array([errors(type(method)(**(method.values() | {"rtol": rtol})), t).max() for rtol in tolerances])
    slope = np.polyfit(np.log(tolerances), np.log(found), 1)[0]
    assert 0.8 < slope < 1.2
    assert np.all(found < 20.0 * tolerances)
    assert np.all(found > 0.05 * tolerances)  # no more work than asked for


@pytest.mark.boundscheck
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_ends_where_it_should(method: mb.Integrator) -> None:
    """The last step is cut, and every instant asked for is stored once."""
    system = mb.examples.triple_pendulum()
    dt = None if method.adaptive else 0.015
    steps = mb.simulate(system, 0.1, dt=dt, integrator=method)
    assert steps.t[0] == 0.0
    assert steps.t[-1] == 0.1
    assert np.all(np.diff(steps.t) > 0.0)
    instants = np.array([0.0, 1e-6, 0.05, 0.1])
    sampled = mb.simulate(system, 0.1, dt=dt, integrator=method, t_eval=instants)
    assert np.array_equal(sampled.t, instants)
    assert_close(sampled.q[-1], steps.q[-1], 1e-12)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_every_run_starts_anew(method: mb.Integrator) -> None:
    """Nothing is left over from an earlier run of another system."""
    system, options = mb.examples.triple_pendulum(), {"dt": 0.01, "integrator": method}
    first = mb.simulate(system, 0.1, **options)
    mb.simulate(heavy_top(), 0.05, **options)
    again = mb.simulate(system, 0.1, **options)
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.v, again.v)


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.EulerParameters()], ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_euler_parameters_never_change_their_sign(method: mb.Integrator, formulation: mb.Formulation) -> None:
    """p and -p are the same rotation, but a jump between them would spoil interpolation and stored derivatives."""
    system = mb.System("spinning", gravity=(0.0, 0.0, 0.0))
    system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 2.0, 2.5), angular_velocity=(0.0, 40.0, 0.3)))
    result = mb.simulate(system, 1.0, dt=1e-3, integrator=method, formulation=formulation)  # six turns
    p = result.q[:, 3:7]
    assert np.ptp(p, axis=0).max() > 1.9
    assert np.all(np.sum(p[1:] * p[:-1], axis=1) > 0.5)


# --- tableaus ---------------------------------------------------------------------------------------------------------
# A rooted tree is the tuple of the subtrees at its root. A method has order p if for all trees of up to p vertices
# sum_i b_i Phi_i(tree) = 1/gamma(tree) (Butcher; Hairer, Norsett, Wanner, Solving ODE I, theorem II.2.13).


@cache
def trees(vertices: int) -> tuple[Any, ...]:
    """All rooted trees with a number of vertices."""
    smaller = [(k, tree) for k in range(1, vertices) for tree in trees(k)]

    def forests(total: int, start: int) -> Iterator[tuple[Any, ...]]:
        if total == 0:
            yield ()
        for index in range(start, len(smaller)):
            size, tree = smaller[index]
            if size <= total:
                for rest in forests(total - size, index):
                    yield (tree, *rest)

    return tuple(forests(vertices - 1, 0))


def size(tree: Any) -> int:
    return 1 + sum(size(sub) for sub in tree)


def density(tree: Any) -> int:
    """gamma: the product of the sizes of all subtrees."""
    return size(tree) * prod(density(sub) for sub in tree)


def weights(a: np.ndarray, tree: Any) -> np.ndarray:
    """Phi: the elementary weights of the stages."""
    return prod((a @ weights(a, sub) for sub in tree), start=np.ones(len(a)))


def tableau_order(t: Tableau) -> int:
    """The largest order whose conditions the tableau meets."""
    a = t.a[: len(t.b), : len(t.b)]

    def met(order: int) -> bool:
        return all(abs(t.b @ weights(a, tree) - 1 / density(tree)) < ROUNDING for tree in trees(order))

    order = 0
    while met(order + 1):
        order += 1
    return order


def test_all_trees_are_there() -> None:
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("method", WITH_TABLEAU, ids=repr)
def test_tableau_meets_the_order_conditions(method: Any) -> None:
    t = method.tableau
    assert_close(t.a.sum(axis=1), t.c, ROUNDING)
    assert not np.any(np.triu(t.a))
    assert tableau_order(t) >= 4
    if "order" in method.parameters():
        assert method.order == tableau_order(t)


@pytest.mark.parametrize("method", [m for m in METHODS if hasattr(m, "starter")], ids=repr)
def test_starter_has_at_least_the_order_of_the_method(method: Any) -> None:
    t = method.starter
    assert_close(t.a.sum(axis=1), t.c, ROUNDING)
    assert not np.any(np.triu(t.a))
    assert tableau_order(t) >= method.order


@pytest.mark.parametrize("method", [m for m in ADAPTIVE if m in WITH_TABLEAU], ids=repr)
def test_error_estimate_has_the_order_it_says(method: Any) -> None:
    """sum_i e_i Phi_i(tree) = 0 up to the order of the embedded method, and not beyond."""
    t = method.tableau
    a = t.a[: len(t.b), : len(t.b)]

    def largest(error: np.ndarray, order: int) -> float:
        return max(abs(error @ weights(a, tree)) for tree in trees(order))

    embedded = [next(n for n in range(1, 9) if largest(e, n) > ROUNDING) - 1 for e in t.error if np.any(e)]
    # Two estimates of orders p and q are combined to one that falls like h^(2 p - q + 1).
    assert t.error_order == (embedded[0] if len(embedded) == 1 else 2 * embedded[0] - embedded[1])


@pytest.mark.parametrize("method", WITH_TABLEAU, ids=repr)
@pytest.mark.parametrize("theta", [0.2, 0.5, 0.9])
def test_dense_output_meets_the_conditions_one_order_lower(method: Any, theta: float) -> None:
    """Between the steps sum_i b_i(theta) Phi_i(tree) = theta^n/gamma(tree); that costs no accuracy of the motion."""
    t = method.tableau
    b = np.array([polyval(theta, [0.0, *row]) for row in t.dense])
    for order in range(1, tableau_order(t)):
        for tree in trees(order):
            assert b @ weights(t.a, tree) == pytest.approx(theta**order / density(tree), abs=ROUNDING)


@pytest.mark.parametrize("method", WITH_TABLEAU, ids=repr)
def test_dense_output_ends_in_the_step(method: Any) -> None:
    t = method.tableau
    stages = len(t.b)
    assert_close(t.dense.sum(axis=1), np.append(t.b, np.zeros(len(t.c) - stages)), ROUNDING)


def test_order_eight_is_the_method_of_dormand_and_prince() -> None:
    t = mb.DormandPrince().tableau
    stages = DOP853.n_stages
    assert np.array_equal(t.a[:stages, :stages], DOP853.A)
    assert np.array_equal(t.a[stages, :stages], DOP853.B)
    assert np.array_equal(t.b, DOP853.B)
    assert np.array_equal(t.a[stages + 1 :], DOP853.A_EXTRA)
    assert np.array_equal(t.c[:stages], DOP853.C)
    assert np.array_equal(t.c[stages + 1 :], DOP853.C_EXTRA)
    assert np.array_equal(t.error, [DOP853.E5[:stages], DOP853.E3[:stages]])


def test_order_five_is_the_method_of_dormand_and_prince() -> None:
    t = mb.DormandPrince(order=5).tableau
    assert_close(t.a, np.vstack([np.column_stack([RK45.A, np.zeros((6, 2))]), np.append(RK45.B, 0.0)]), ROUNDING)
    assert_close(t.c, np.append(RK45.C, 1.0), ROUNDING)
    assert_close(t.error[0], -RK45.E, ROUNDING)
    assert_close(t.dense, RK45.P, ROUNDING)


@pytest.mark.parametrize("theta", [0.1, 0.45, 0.8])
def test_order_eight_interpolates_as_dop853(theta: float) -> None:
    """The nested form of DOP853: y = y0 + theta (F0 + (1 - theta) (F1 + theta (F2 + (1 - theta) (F3 + …))))."""
    t = mb.DormandPrince().tableau
    k = np.random.default_rng(2).normal(size=16)
    step = t.b @ k[:12]
    terms = [step, k[0] - step, 2.0 * step - (k[12] + k[0]), *(DOP853.D @ k)]
    value = 0.0
    for number, term in reversed(list(enumerate(terms))):
        value = (value + term) * (theta if number % 2 == 0 else 1.0 - theta)
    assert sum(k[s] * polyval(theta, [0.0, *t.dense[s]]) for s in range(16)) == pytest.approx(value, rel=1e-11)
