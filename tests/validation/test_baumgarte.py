"""Baumgarte's stabilization: violations obey C'' + 2 alpha C' + beta^2 C = 0, D' + 2 alpha D = 0."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import mbframe as mb
from mbframe.results import Info
from mbframe.solvers.progress import Progress
from mbframe.solvers.run import Run

from ..contracts.specimens import rigid_formulations

Array = NDArray[np.float64]

GAINS = [(5.0, 5.0), (2.0, 7.0), (9.0, 4.0), (3.0, 0.0)]  # critical, oscillating, creeping, rates only


class DenseAugmented(mb.Acceleration):
    """A user's own: [M J^T; J 0] [v'; lambda] = [Q; gamma] by numpy."""

    def solve(self, eq, t, q, v):
        e = eq.evaluate(t, q, v)
        rows = len(e.gamma)
        matrix = np.block([[e.mass.toarray(), e.jacobian.T.toarray()], [e.jacobian.toarray(), np.zeros((rows, rows))]])
        solution = np.linalg.lstsq(matrix, np.concatenate([e.force, e.gamma]))[0]
        return solution[: eq.n_v], solution[eq.n_v :]


@pytest.fixture(params=rigid_formulations(), ids=lambda f: type(f).__name__)
def formulation(request: pytest.FixtureRequest) -> mb.Formulation:
    return request.param


def pendulum() -> mb.System:
    system = mb.System("pendulum")
    bar = system.add(
        mb.RigidBody(
            "bar", mass=2.0, inertia=(0.1, 0.4, 0.5), position=(0.6, 0.2, 0.1), angular_velocity=(0.2, 1.0, 0.3)
        )
    )
    system.add(mb.SphericalJoint("pivot", system.ground, bar, at=(0.0, 0.0, 0.0)))
    return system


def rolling_ball() -> mb.System:
    system = mb.System("ball")
    ball = system.add(
        mb.RigidBody("ball", mass=1.0, inertia=(0.1, 0.12, 0.15), position=(0.0, 0.0, 0.5), center_of_mass=(0.05, 0, 0))
    )
    system.add(mb.RollingSphere("floor", system.ground, ball, at=(0.0, 0.0, 0.5), radius=0.5))
    return system


def disturbed_run(
    eq: mb.Equations, stabilization: mb.Stabilization, t: Array, size: float = 1e-3, **strategies: Any
) -> mb.Result:
    """A run from a state that violates the constraints; `simulate` would assemble it first."""
    rng = np.random.default_rng(4)
    y = eq.coordinates(eq.described())
    q, v, _ = eq.split(y)
    q += eq.coordinate_rates(q, size * rng.normal(size=eq.n_v))
    v += size * rng.normal(size=eq.n_v)
    run = Run(
        eq,
        strategies.get("integrator", mb.DormandPrince(rtol=1e-11, atol=1e-13)),
        strategies.get("acceleration", mb.AugmentedFormulation()),
        stabilization,
    )
    run.begin(y, t[0], {"t_end": t[-1], "dt": strategies.get("dt")}, Info(), t)
    return run.complete(t[-1], Progress())


def violations(eq: mb.Equations, result: mb.Result) -> tuple[Array, Array]:
    """C and (C', D) at the stored instants, by row."""
    y = np.hstack([result.q, result.v, result.z])
    pairs = [eq.violation(t, row) for t, row in zip(result.t, y, strict=True)]
    return np.array([c for c, _ in pairs]), np.array([rate for _, rate in pairs])


def oscillator(t: Array, start: Array, rate: Array, alpha: float, beta: float) -> tuple[Array, Array]:
    """Solution of C'' + 2 alpha C' + beta^2 C = 0 and its rate; one column per row of `start`."""
    w = np.sqrt(complex(beta**2 - alpha**2))
    sine = np.sin(w * t) / w if w else t  # t is the limit
    cosine, decay = np.cos(w * t), np.exp(-alpha * t)
    value = np.outer(decay * cosine, start) + np.outer(decay * sine, rate + alpha * start)
    slope = np.outer(decay * cosine, rate) - np.outer(decay * sine, alpha * rate + beta**2 * start)
    return value.real, slope.real


@pytest.mark.parametrize(("alpha", "beta"), GAINS)
def test_violations_decay_like_a_damped_oscillator(formulation: mb.Formulation, alpha: float, beta: float) -> None:
    """Exactly so, whatever the motion does: intrinsic constraints as well."""
    eq, t = mb.Equations(pendulum(), formulation), np.linspace(0.0, 1.5, 31)
    c, rate = violations(eq, disturbed_run(eq, mb.Baumgarte(alpha=alpha, beta=beta), t))
    assert np.all(np.abs(c[0]) > 1e-5)
    expected, expected_rate = oscillator(t, c[0], rate[0], alpha, beta)
    np.testing.assert_allclose(c, expected, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(rate, expected_rate, rtol=0.0, atol=1e-9)


def test_nonholonomic_violations_decay_exponentially(formulation: mb.Formulation) -> None:
    eq, t, alpha = mb.Equations(rolling_ball(), formulation), np.linspace(0.0, 1.5, 31), 2.5
    c, rate = violations(eq, disturbed_run(eq, mb.Baumgarte(alpha=alpha, beta=4.0), t))
    slip = rate[:, c.shape[1] :]
    assert slip.shape[1] == 2
    assert np.all(np.abs(slip[0]) > 1e-5)
    np.testing.assert_allclose(slip, np.outer(np.exp(-2.0 * alpha * t), slip[0]), rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("strategies", "tolerance"),
    [
        ({"integrator": mb.RungeKutta4(), "dt": 1e-3}, 1e-9),
        ({"integrator": mb.AdamsBashforth(order=4), "dt": 1e-3}, 1e-8),
        ({"integrator": mb.AdamsBashforth(order=6), "dt": 1e-3}, 1e-10),
        ({"integrator": mb.DormandPrince(order=5, rtol=1e-11)}, 1e-10),
        ({"acceleration": DenseAugmented()}, 1e-10),
    ],
    ids=lambda value: "-".join(map(repr, value.values())) if isinstance(value, dict) else "",
)
def test_it_goes_with_every_integrator_and_with_a_users_acceleration(
    strategies: dict[str, Any], tolerance: float
) -> None:
    eq, t = mb.Equations(pendulum(), mb.NaturalAbsolute()), np.linspace(0.0, 1.0, 11)
    c, rate = violations(eq, disturbed_run(eq, mb.Baumgarte(), t, **strategies))
    np.testing.assert_allclose(c, oscillator(t, c[0], rate[0], 5.0, 5.0)[0], rtol=0.0, atol=tolerance)


def test_accelerations_and_multipliers_of_a_result_are_those_of_the_run(formulation: mb.Formulation) -> None:
    """M v' + J^T lambda = Q and J v' = gamma - 2 alpha C' - beta^2 C, by equations that know nothing of Baumgarte."""
    alpha, beta = 3.0, 8.0
    eq, t = mb.Equations(pendulum(), formulation), np.linspace(0.0, 0.3, 4)
    result = disturbed_run(eq, mb.Baumgarte(alpha=alpha, beta=beta), t)
    plain = mb.Equations(pendulum(), formulation)
    for k in range(len(t)):
        e = plain.evaluate(t[k], result.q[k], result.v[k])
        force = e.mass @ result.v_rate[k] + e.jacobian.T @ result.multipliers[k]
        np.testing.assert_allclose(force, e.force, rtol=0.0, atol=1e-10)
        wanted = e.gamma - 2.0 * alpha * e.constraint_rate - beta**2 * e.residual
        np.testing.assert_allclose(e.jacobian @ result.v_rate[k], wanted, rtol=0.0, atol=1e-10)
        assert np.abs(wanted - e.gamma).max() > 1e-4


def test_another_stabilization_takes_the_feedback_away() -> None:
    eq = mb.Equations(pendulum(), mb.NaturalAbsolute())
    q, v, _ = eq.split(eq.coordinates(eq.described()))
    q = q * 1.01
    plain = eq.accelerate(0.0, q, v)[0]
    eq.bind("correct", mb.Baumgarte().bound(eq))
    assert np.abs(eq.accelerate(0.0, q, v)[0] - plain).max() > 1e-2
    eq.bind("correct", mb.NoStabilization().bound(eq))
    np.testing.assert_array_equal(eq.accelerate(0.0, q, v)[0], plain)


def test_triple_pendulum_does_not_drift_apart(formulation: mb.Formulation) -> None:
    """Without stabilization the violation grows; with Baumgarte's it stays at the size of a few steps' error."""
    system, options = mb.examples.triple_pendulum(), {"dt": 4e-3, "formulation": formulation}
    drifting, bounded = (
        mb.simulate(system, 20.0, stabilization=s, **options).violation.position
        for s in (mb.NoStabilization(), mb.Baumgarte(alpha=20.0, beta=20.0))
    )
    half = len(drifting) // 2
    assert drifting[half:].min() > 3.0 * drifting[: half // 2].max()
    assert bounded[half:].max() < 3.0 * bounded[:half].max()
    assert bounded.max() < 0.1 * drifting.max()


def test_it_agrees_with_the_direct_correction_where_steps_are_small(formulation: mb.Formulation) -> None:
    one, other = (
        mb.simulate(mb.examples.triple_pendulum(), 2.0, dt=1e-3, stabilization=s, formulation=formulation)
        for s in (mb.Baumgarte(), mb.DirectCorrection())
    )
    tips = [result.position("bar 3", (2.0, 0.0, 0.0))[-1] for result in (one, other)]
    np.testing.assert_allclose(*tips, rtol=0.0, atol=1e-6)


class RatesOnly(mb.Stabilization):
    """A user's own feedback, with a correction beside it."""

    feedback = (6.0, 0.0)

    def correct(self, eq, t, q, v):
        return q, v


def test_a_users_stabilization_may_feed_back_as_well() -> None:
    eq, t = mb.Equations(pendulum(), mb.NewtonEuler()), np.linspace(0.0, 1.0, 11)
    _, rate = violations(eq, disturbed_run(eq, RatesOnly(), t))
    np.testing.assert_allclose(rate, np.outer(np.exp(-6.0 * t), rate[0]), rtol=0.0, atol=1e-10)


def test_negative_gains_are_refused() -> None:
    for field in ("alpha", "beta"):
        with pytest.raises(mb.ModelError, match=field):
            mb.Baumgarte(**{field: -1.0})
