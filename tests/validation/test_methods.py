"""Every acceleration and stabilization on every example: the same motion, the same reactions, closed constraints."""

from __future__ import annotations

import sys
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import mbframe as mb

# The offset keeps the angles of all bodies of all examples away from singular poses.
ANGLES = mb.EulerAngles("ZXY", offset=Rotation.from_rotvec((0.6, 0.5, 0.4)))
FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), ANGLES]
EXACT = [mb.UdwadiaKalaba(), mb.ProjectionMatrix(), mb.AugmentedLagrangian()]
CORRECTING = [
    mb.DirectCorrection(),
    mb.CoordinatePartitioning(),
    mb.CoordinatePartitioning(redundancy="every step", integrate="independent"),
    mb.MassOrthogonalProjection(),
]
EXAMPLES = ["triple_pendulum", "five_bar_pendulum", "spatial_slider_crank", "bricard", "rolling_disk", "screw_jack"]


def moving(name: str, formulation: mb.Formulation) -> tuple[mb.Equations, np.ndarray, np.ndarray]:
    """An example in the middle of its motion."""
    system = getattr(mb.examples, name)()
    result = mb.simulate(system, 0.3, t_eval=[0.3], stabilization=mb.DirectCorrection(), formulation=formulation)
    eq = mb.Equations(system, formulation)
    q, v, _ = eq.split(eq.coordinates(result.state(-1)))
    return eq, q, v


def dense_solution(e: Any) -> tuple[np.ndarray, np.ndarray]:
    """v' and the multipliers of minimum norm in rows weighted by diag(J M^-1 J^T), by NumPy's pseudoinverse."""
    mass, jacobian = e.mass.toarray(), e.jacobian.toarray()
    gram = jacobian @ np.linalg.solve(mass, jacobian.T)
    weight = 1.0 / np.sqrt(np.diag(gram))
    inverse = weight[:, None] * np.linalg.pinv(weight[:, None] * gram * weight, rcond=1e-11) * weight
    free = np.linalg.solve(mass, e.force)
    multipliers = inverse @ (jacobian @ free - e.gamma)
    return free - np.linalg.solve(mass, jacobian.T @ multipliers), multipliers


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("name", EXAMPLES)
def test_exact_methods_agree(name: str, formulation: mb.Formulation) -> None:
    eq, q, v = moving(name, formulation)
    expected, load = dense_solution(eq.evaluate(0.3, q, v))
    for method in (mb.AugmentedFormulation(), *EXACT):
        v_rate, multipliers = method.solve(eq, 0.3, q, v)
        assert np.abs(v_rate - expected).max() <= 1e-9 * np.abs(expected).max(), method
        assert np.abs(multipliers - load).max() <= 1e-8 * np.abs(load).max(), method


def null_space_solution(e: Any) -> tuple[np.ndarray, float]:
    """v' from the velocities that J allows, without multipliers; and the size of v' without constraints."""
    mass, jacobian = e.mass.toarray(), e.jacobian.toarray()
    scaled = jacobian / np.linalg.norm(jacobian, axis=1, keepdims=True)
    particular = np.linalg.lstsq(scaled, e.gamma / np.linalg.norm(jacobian, axis=1), rcond=1e-11)[0]
    free = null_space(scaled, rcond=1e-11)
    along = np.linalg.solve(free.T @ mass @ free, free.T @ (e.force - mass @ particular))
    return particular + free @ along, float(np.abs(np.linalg.solve(mass, e.force)).max())


# Friction depends on the reactions, so its loads are not among those of `evaluate`; sliding_block has tests of its own.
@pytest.mark.sample(8)
@pytest.mark.parametrize("name", sorted(set(mb.examples.names()) - {"sliding_block"}))
def test_exact_methods_agree_on_random_states(name: str) -> None:
    """Of every example in every formulation, to 1e-9; where loads balance, rounding of these loads is left."""
    system, random = getattr(mb.examples, name)(), np.random.default_rng(7)
    for formulation in PLANAR if system.dimension == 2 else FORMULATIONS:
        eq = mb.Equations(system, formulation)
        q, v, _ = eq.split(eq.coordinates(eq.described()))
        q, v = mb.DirectCorrection().correct(eq, 0.0, q, v + 0.3 * random.normal(size=len(v)))
        expected, free = null_space_solution(eq.evaluate(0.0, q, v))
        for method in (mb.AugmentedFormulation(), *EXACT):
            v_rate, _ = method.solve(eq, 0.0, q, v)
            bound = 1e-9 * np.abs(expected).max() + 1e-12 * max(free, 1.0)
            assert np.abs(v_rate - expected).max() <= bound, (formulation, method)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_the_error_of_penalties_falls_with_their_size(formulation: mb.Formulation) -> None:
    eq, q, v = moving("triple_pendulum", formulation)
    expected, _ = mb.AugmentedFormulation().solve(eq, 0.3, q, v)

    def error(alpha: float) -> float:
        return float(np.abs(mb.Penalty(alpha=alpha).solve(eq, 0.3, q, v)[0] - expected).max())

    assert error(1e6) / error(1e5) == pytest.approx(0.1, rel=0.01)
    assert error(1e7) / error(1e6) == pytest.approx(0.1, rel=0.01)


def test_penalties_may_differ_by_equation() -> None:
    """(M + J^T A J) v' = Q - J^T A (2 omega mu C' + omega^2 C - gamma), A = alpha / diag(J M^-1 J^T), dense."""
    eq, q, v = moving("spatial_slider_crank", mb.NewtonEuler())
    random = np.random.default_rng(5)
    q, v = q + 1e-3 * random.normal(size=len(q)), v + 1e-3 * random.normal(size=len(v))
    alpha, omega, mu = (random.uniform(low, 10 * low, eq.n_rows) for low in (100.0, 5.0, 0.3))
    e = eq.evaluate(0.3, q, v)
    mass, jacobian = e.mass.toarray(), e.jacobian.toarray()
    weights = np.diag(alpha / np.diag(jacobian @ np.linalg.solve(mass, jacobian.T)))
    target = 2.0 * omega * mu * e.constraint_rate + omega**2 * eq.violation(0.3, np.concatenate([q, v]))[0] - e.gamma
    expected = np.linalg.solve(mass + jacobian.T @ weights @ jacobian, e.force - jacobian.T @ weights @ target)
    found, multipliers = mb.Penalty(alpha=alpha, omega=omega, mu=mu).solve(eq, 0.3, q, v)
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()
    assert np.allclose(multipliers, weights @ (jacobian @ expected + target), rtol=1e-7)


def test_penalties_are_as_many_as_equations() -> None:
    system = mb.examples.triple_pendulum()
    acceleration = mb.AugmentedLagrangian(alpha=np.full(9, 1e7), omega=[10.0, 10.0])
    with pytest.raises(mb.ModelError, match="omega: found 2 numbers for 9 equations"):
        mb.simulate(system, 0.1, acceleration=acceleration)
    assert repr(mb.Penalty(mu=[1.0, 2.0])) == "Penalty(mu=(1.0, 2.0))"


def doubled_pendulum() -> mb.System:
    """The triple pendulum with every joint twice."""
    system = mb.examples.triple_pendulum()
    for joint in list(system.joints):
        system.add(mb.SphericalJoint(f"{joint.name} again", joint.body_i, joint.body_j, at=joint.at))
    return system


@pytest.mark.parametrize("method", [mb.AugmentedFormulation(), *EXACT], ids=str)
def test_doubled_joints_share_their_load_equally(method: mb.Acceleration) -> None:
    plain, doubled = mb.Equations(mb.examples.triple_pendulum()), mb.Equations(doubled_pendulum())
    q, v, _ = plain.split(plain.coordinates(plain.described()))
    expected, load = mb.AugmentedFormulation().solve(plain, 0.0, q, v)
    v_rate, multipliers = method.solve(doubled, 0.0, q, v)
    assert np.abs(v_rate - expected).max() <= 1e-9 * np.abs(expected).max()
    n = plain.n_rows
    assert np.allclose(multipliers[:n], 0.5 * load, atol=1e-9 * np.abs(load).max())
    assert np.allclose(multipliers[n:], 0.5 * load, atol=1e-9 * np.abs(load).max())


@pytest.mark.sample
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("stabilization", CORRECTING, ids=str)
def test_corrections_keep_their_tolerance(name: str, stabilization: mb.Stabilization) -> None:
    result = mb.simulate(getattr(mb.examples, name)(), 0.3, dt=2e-3, stabilization=stabilization)
    assert result.violation.position.max() <= stabilization.tolerance
    assert result.violation.velocity.max() <= stabilization.tolerance


def partitioned_by_hand(e: Any, columns: np.ndarray, violation: np.ndarray) -> np.ndarray:
    """The change of the given velocities that removes a violation, others fixed."""
    change = np.zeros(e.jacobian.shape[1])
    change[columns] = np.linalg.solve(e.jacobian.toarray()[:, columns], -violation)
    return change


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_partitioning_leaves_the_independent_velocities(formulation: mb.Formulation) -> None:
    """As many velocities change as there are independent equations, by what removes the violation."""
    eq, q, v = moving("spatial_slider_crank", formulation)
    disturbed = v + 1e-3 * np.random.default_rng(3).normal(size=len(v))
    e = eq.evaluate(0.3, q, disturbed)
    _, corrected = mb.CoordinatePartitioning().correct(eq, 0.3, q, disturbed)
    changed = np.flatnonzero(corrected != disturbed)
    assert len(changed) == eq.n_rows
    expected = partitioned_by_hand(e, changed, e.constraint_rate)
    assert np.allclose(corrected - disturbed, expected, rtol=0, atol=1e-10)


@pytest.mark.boundscheck
def test_only_independent_coordinates_are_integrated() -> None:
    """A pendulum starts level on the left, where its height y is independent: Runge-Kutta by hand on y and y' alone."""
    h, steps, g = 0.01, 20, 9.81

    def rate(state: np.ndarray) -> np.ndarray:
        y, y_rate = state
        speed_squared = y_rate**2 / (1.0 - y**2)  # x = -sqrt(1 - y^2), x' = -y y' / x
        return np.array([y_rate, -g * (1.0 - y**2) - speed_squared * y])

    state = np.zeros(2)
    for _ in range(steps):
        a = rate(state)
        b = rate(state + h / 2 * a)
        c = rate(state + h / 2 * b)
        d = rate(state + h * c)
        state = state + h / 6 * (a + 2 * b + 2 * c + d)

    def ended(integrate: str) -> np.ndarray:
        method = mb.CoordinatePartitioning(tolerance=1e-13, integrate=integrate)
        result = mb.simulate(mb.examples.simple_pendulum(), steps * h, h, stabilization=method)
        return np.array([result.position("mass")[-1], result.velocity("mass")[-1]])

    y, y_rate = state
    x = -np.sqrt(1.0 - y**2)
    np.testing.assert_allclose(ended("independent"), [[x, y], [-y * y_rate / x, y_rate]], rtol=0.0, atol=1e-13)
    assert np.abs(ended("all") - ended("independent")).max() > 1e-10


def test_a_partition_is_renewed_before_it_fails() -> None:
    """At the bottom of its swing a pendulum's height says nothing about its position: x has to be independent."""
    system = mb.examples.simple_pendulum()
    tight = mb.simulate(system, 2.0, integrator=mb.DormandPrince(rtol=1e-12), t_eval=[2.0])
    for integrate in ("all", "independent"):
        method = mb.CoordinatePartitioning(integrate=integrate)
        result = mb.simulate(system, 2.0, 1e-3, stabilization=method)
        assert np.abs(result.position("mass")[-1] - tight.position("mass")[-1]).max() < 1e-8
        assert result.violation.position.max() <= 1e-9


PLANAR = [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()]
ACCELERATIONS = [mb.AugmentedFormulation(), *EXACT, mb.Penalty()]
KEEPING = [*CORRECTING, mb.NoStabilization()]
EXPLICIT = [mb.RungeKutta4(), mb.AdamsBashforth(order=4), mb.DormandPrince(rtol=1e-9, atol=1e-10)]
# They find accelerations themselves. Without `velocity_level` partitioning would take an order from the first.
IMPLICIT = [mb.GeneralizedAlpha(velocity_level=True), mb.RadauIIA(rtol=1e-9, atol=1e-10)]
Choice = tuple[mb.Formulation, mb.Acceleration | None, mb.Stabilization, mb.Integrator]


def pairs() -> list[Choice]:
    """A cover of all pairs of choices by few combinations: the rows of a Latin square, shifted."""
    stabilizations = [*KEEPING, mb.Baumgarte()]
    explicit: list[Choice] = [
        (formulations[(a + s) % len(formulations)], acceleration, stabilization, EXPLICIT[(a + 2 * s) % 3])
        for formulations in (FORMULATIONS, PLANAR)
        for (a, acceleration), (s, stabilization) in product(enumerate(ACCELERATIONS), enumerate(stabilizations))
    ]
    implicit: list[Choice] = [
        (formulation, None, stabilization, IMPLICIT[(f + s) % 2])
        for (f, formulation), (s, stabilization) in product(enumerate([*FORMULATIONS, *PLANAR]), enumerate(KEEPING))
    ]
    return [*explicit, *implicit]


def test_all_pairs_are_covered() -> None:
    """What can be combined: bodies are spatial or planar; implicit integrators take no feedback."""
    found = {frozenset(map(str, pair)) for choice in pairs() for pair in combinations(choice, 2) if None not in pair}
    for formulations in (FORMULATIONS, PLANAR):
        kinds = [formulations, ACCELERATIONS, [*KEEPING, mb.Baumgarte()], EXPLICIT]
        wanted = [pair for one, other in combinations(kinds, 2) for pair in product(one, other)]
        wanted += [*product(formulations, IMPLICIT), *product(KEEPING, IMPLICIT)]
        assert not [pair for pair in wanted if frozenset(map(str, pair)) not in found]


def weakest(system: mb.System, formulation: mb.Formulation) -> float:
    """The smallest eigenvalue of J M^-1 J^T with rows scaled to a unit diagonal, where the system is described."""
    eq = mb.Equations(system, formulation)
    q, v, _ = eq.split(eq.coordinates(eq.described()))
    e = eq.evaluate(0.0, q, v)
    jacobian = e.jacobian.toarray()
    gram = jacobian @ np.linalg.solve(e.mass.toarray(), jacobian.T)
    weight = 1.0 / np.sqrt(np.diag(gram))
    return float(np.linalg.eigvalsh(weight[:, None] * gram * weight)[0])


@pytest.mark.parametrize("choice", pairs(), ids=lambda c: " ".join(str(part) for part in c))
def test_combinations_give_one_motion(choice: Choice) -> None:
    """Up to what the integrator leaves, and a penalty.

    Its lambda = (K + 1/alpha)^-1 b, in rows scaled to a unit diagonal of K = J M^-1 J^T, misses K^-1 b by 1/alpha in
    units of the smallest eigenvalue of K, and so do accelerations.

    The error of a method of order p with the step h is the difference to that with 2 h by 2^p - 1. An adaptive one
    keeps its tolerance in each of its steps.
    """
    formulation, acceleration, stabilization, integrator = choice
    planar = formulation in PLANAR
    system = mb.examples.four_bar_marques() if planar else mb.examples.triple_pendulum()
    duration, step = 0.4, 2e-3
    order = 2 if isinstance(integrator, mb.GeneralizedAlpha) else 4  # where steps are fixed

    def run(dt: float | None, **strategies: Any) -> mb.Result:
        return mb.simulate(system, duration, dt=dt, t_eval=[0.0, duration], **strategies)

    strategies = {"acceleration": acceleration, "stabilization": stabilization, "integrator": integrator}
    strategies["formulation"] = formulation
    result = run(None if integrator.adaptive else step, **strategies)
    coarse = result if integrator.adaptive else run(2.0 * step, **strategies)
    tight = run(None, integrator=mb.DormandPrince(rtol=1e-12, atol=1e-12))
    for body in system.bodies:
        error = np.abs(result.position(body) - tight.position(body)).max()
        size = np.abs(tight.position(body)).max()
        # The rounding of 200 steps, or the tolerance of all.
        allowed = result.info.steps * (1e-9 * size + 1e-10) if integrator.adaptive else 1e-11 * size
        allowed += 2.0 * np.abs(coarse.position(body) - result.position(body)).max() / (2.0**order - 1.0)
        if isinstance(acceleration, mb.Penalty):
            largest = np.linalg.norm(tight.acceleration(body), axis=1).max()
            missed = largest / (acceleration.alpha * weakest(system, formulation))
            allowed += duration**2 * missed  # twice that of a constant acceleration
        assert error <= allowed


class ConstantSpeed(mb.BasicConstraint):
    """v . v = c^2 of a point: not linear in the velocities, so not Pfaffian."""

    equations = 1
    speed = mb.parameter(2.0, unit="m/s")

    def velocity_residual(self, t, i, j):
        v = j.velocity
        return (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - self.speed * self.speed,)


@pytest.mark.parametrize("integrate", ["all", "independent"])
@pytest.mark.parametrize("redundancy", ["start", "every step"])
def test_partitioning_takes_equations_that_are_not_linear_in_velocities(redundancy: str, integrate: str) -> None:
    """A mass thrown level that keeps its speed c: v' = g - (g . v) v/c^2, so v_z = -c tanh(g t/c)."""
    c, g = 2.0, 9.81
    system = mb.System("constant speed", gravity=(0.0, 0.0, -g))
    mass = system.add(mb.PointMass("mass", mass=1.5, velocity=(c, 0.0, 0.0)))
    system.add(ConstantSpeed(system.ground.marker(), mass.marker(), speed=c))
    method = mb.CoordinatePartitioning(redundancy=redundancy, integrate=integrate)
    result = mb.simulate(system, 0.5, dt=1e-3, stabilization=method)
    turned = g * result.t / c
    expected = c * np.transpose([1.0 / np.cosh(turned), 0.0 * turned, -np.tanh(turned)])
    np.testing.assert_allclose(result.velocity("mass"), expected, rtol=0.0, atol=1e-8)
    assert result.violation.velocity.max() <= 10 * method.tolerance


def python_calls(steps: int, **strategies: Any) -> int:
    """How many functions of Python a run of so many steps calls, those that compiled code calls included."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    system = mb.examples.triple_pendulum()
    sys.setprofile(note)
    try:
        mb.simulate(system, 1e-3 * steps, dt=1e-3, t_eval=[0.0, 1e-3 * steps], **strategies)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("choice", [*zip(ACCELERATIONS, [*KEEPING], EXPLICIT[:1] * 5, strict=True)], ids=str)
def test_no_step_needs_python(choice: tuple[Any, ...]) -> None:
    strategies = dict(zip(("acceleration", "stabilization", "integrator"), choice, strict=True))
    python_calls(10, **strategies)  # compiles
    assert python_calls(400, **strategies) - python_calls(200, **strategies) < 100


@pytest.mark.parametrize("integrator", [*EXPLICIT[:2], mb.GeneralizedAlpha()], ids=str)
def test_no_step_of_an_integrator_needs_python(integrator: mb.Integrator) -> None:
    python_calls(10, integrator=integrator)
    assert python_calls(400, integrator=integrator) - python_calls(200, integrator=integrator) < 100
