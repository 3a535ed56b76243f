"""The triple pendulum of [PappalardoGuida2018b], Table 1: our formulations agree, also with one written here."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import mbframe as mb

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
# 0.0173 s: most instants lie between two steps of about 0.014 s.
INSTANTS = np.append(np.arange(0.0, 10.0, 0.0173), 10.0)
TIP = ("bar 3", (2.0, 0.0, 0.0))


@cache
def run(formulation: mb.Formulation) -> mb.Result:
    """Ten seconds from rest with the tolerances that the tests below are about."""
    instants = np.union1d(INSTANTS, [1.0, 2.0, 5.0])
    return mb.simulate(mb.examples.triple_pendulum(), 10.0, formulation=formulation, **PRECISE, t_eval=instants)


def tip_at(result: mb.Result, t: float) -> Array:
    return result.position(*TIP)[np.flatnonzero(result.t == t)[0]]


# --- an independent reference -----------------------------------------------------------------------------------------

LENGTH, GRAVITY = 4.0, np.array([0.0, 0.0, -9.81])
MASSES = np.array([2.0, 3.0, 4.0])
INERTIAS = [np.diag(i) for i in ([0.053, 2.693, 2.693], [0.080, 4.040, 4.040], [0.107, 5.387, 5.387])]
# Bars along +x, +y, +x: columns are the axes of each bar.
START = [np.eye(3), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.eye(3)]


def skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def kane(t: float, y: Array) -> Array:
    """Kane's equations of the chain in its nine angular velocities: no constraints, nothing that could drift.

    The centre of bar k lies at r_k = sum_j c_kj u_j, u_j the bars' directions, c_kj = L for j < k, L/2 for j = k;
    hence r_k' = sum_j c_kj omega_j x u_j, and the partial velocities are V_kj = -c_kj skew(u_j).
    """
    frames, omegas = y[:27].reshape(3, 3, 3), y[27:].reshape(3, 3)
    mass, right = np.zeros((9, 9)), np.zeros(9)
    for k in range(3):
        arms = [LENGTH * frames[j][:, 0] if j < k else LENGTH / 2 * frames[j][:, 0] for j in range(k + 1)]
        partial = np.zeros((3, 9))
        bias = np.zeros(3)
        for j, arm in enumerate(arms):
            partial[:, 3 * j : 3 * j + 3] = -skew(arm)
            bias += np.cross(omegas[j], np.cross(omegas[j], arm))
        mass += MASSES[k] * partial.T @ partial
        right += MASSES[k] * partial.T @ (GRAVITY - bias)
        inertia = frames[k] @ INERTIAS[k] @ frames[k].T
        own = slice(3 * k, 3 * k + 3)
        mass[own, own] += inertia
        right[own] -= np.cross(omegas[k], inertia @ omegas[k])
    frame_rates = np.stack([skew(w) @ a for w, a in zip(omegas, frames, strict=True)])
    return np.concatenate([frame_rates.ravel(), np.linalg.solve(mass, right)])


def reference_tips(instants: list[float]) -> Array:
    start = np.concatenate([np.ravel(START), np.zeros(9)])
    solution = solve_ivp(kane, (0.0, instants[-1]), start, "DOP853", instants, rtol=1e-12, atol=1e-13)
    return np.array([LENGTH * y[:27].reshape(3, 3, 3)[:, :, 0].sum(axis=0) for y in solution.y.T])


def test_tip_agrees_with_an_independent_formulation(formulation: mb.Formulation) -> None:
    # the last two are instants that our integrator interpolates to
    instants = [1.0, 2.0, INSTANTS[130], INSTANTS[131]]
    result = run(formulation)
    ours = np.array([tip_at(result, t) for t in instants])
    np.testing.assert_allclose(ours, reference_tips(instants), rtol=0.0, atol=1e-9)


def test_formulations_agree_on_the_tip() -> None:
    one, other = (tip_at(run(f), 5.0) for f in (mb.NewtonEuler(), mb.NaturalAbsolute()))
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


def test_energy_is_kept(formulation: mb.Formulation) -> None:
    energy = run(formulation).energy
    assert energy.kinetic[0] == 0.0
    assert np.ptp(energy.total) <= 1e-9 * energy.kinetic.max()


def test_kinetic_energy_is_what_gravity_gave(formulation: mb.Formulation) -> None:
    """By heights of the centres only: K = -sum m g (z - z_0), all bars start at z = 0."""
    result = run(formulation)
    heights = np.column_stack([result.position(f"bar {k}")[:, 2] for k in (1, 2, 3)])
    np.testing.assert_allclose(result.energy.kinetic, -9.81 * heights @ MASSES, rtol=0.0, atol=1e-7)


def test_violations_stay_within_the_tolerance_also_between_steps(formulation: mb.Formulation) -> None:
    result = run(formulation)
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-11


def test_violations_stay_within_the_tolerance_at_every_step(formulation: mb.Formulation) -> None:
    system = mb.examples.triple_pendulum()
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE)
    assert len(result.t) == result.info.steps + 1
    assert not np.isin(result.t[1:-1], run(formulation).t).any(), (
        "the instants of the other tests should lie between steps"
    )
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-11


def test_bars_hang_together(formulation: mb.Formulation) -> None:
    """The same as the violations say, but measured between the ends of the bars."""
    result = run(formulation)
    ends = [(np.zeros((len(result.t), 3)), np.zeros((len(result.t), 3)))]
    for k in (1, 2, 3):
        start, end = (-2.0, 0.0, 0.0), (2.0, 0.0, 0.0)
        for value, other in zip((result.position, result.velocity), ends[-1], strict=True):
            assert np.abs(value(f"bar {k}", start) - other).max() <= 1e-11
        ends.append((result.position(f"bar {k}", end), result.velocity(f"bar {k}", end)))


def test_without_stabilization_the_constraints_drift() -> None:
    """What the correction is for; and that the violation is not small by construction."""
    system = mb.examples.triple_pendulum()
    result = mb.simulate(system, 5.0, integrator=mb.DormandPrince(rtol=1e-6), stabilization=mb.NoStabilization())
    assert result.violation.position[-1] > 1e-8
    gap = np.linalg.norm(result.position("bar 1", (-2.0, 0.0, 0.0)), axis=1)
    assert gap[-1] > 1e-9
    assert np.all(result.violation.position >= gap * (1.0 - 1e-9))


@pytest.mark.parametrize("weighted", [True, False])
def test_unit_weights_converge_to_the_same_motion(weighted: bool) -> None:
    system = mb.examples.triple_pendulum()
    methods = PRECISE | {"stabilization": mb.DirectCorrection(mass_weighted=weighted)}
    result = mb.simulate(system, 2.0, **methods)
    assert result.violation.position.max() <= 1e-12
    np.testing.assert_allclose(result.position(*TIP)[-1], tip_at(run(mb.NewtonEuler()), 2.0), rtol=0.0, atol=1e-9)


def test_fixed_steps_converge_with_order_four(formulation: mb.Formulation) -> None:
    exact = tip_at(run(mb.NewtonEuler()), 1.0)
    system = mb.examples.triple_pendulum()
    errors = []
    for dt in (1e-2, 5e-3, 2.5e-3):
        result = mb.simulate(system, 1.0, dt=dt, formulation=formulation, stabilization=mb.DirectCorrection())
        errors.append(np.linalg.norm(result.position(*TIP)[-1] - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4.0) < 0.3), orders
