"""Implicit integrators: observed orders, stiff models, closed recursions, and what they refuse."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.examples.triple_pendulum import triple_pendulum

SPATIAL = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles()]
PLANAR = [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()]
CASES = [*((triple_pendulum, f) for f in SPATIAL), *((mb.examples.four_bar, f) for f in PLANAR)]
PURE = mb.NoStabilization()
END = 0.4


def case_id(value: Any) -> str:
    return getattr(value, "__name__", repr(value))


def last(result: mb.Result) -> tuple[np.ndarray, ...]:
    """q, v and the multipliers in the end."""
    return result.q[-1], result.v[-1], result.multipliers[-1]


def reference(system: mb.System, formulation: mb.Formulation | None, end: float = END) -> tuple[np.ndarray, ...]:
    """By an explicit method of order eight."""
    explicit = mb.DormandPrince(rtol=1e-13)
    tight = mb.DirectCorrection(tolerance=1e-14)
    return last(mb.simulate(system, end, formulation=formulation, integrator=explicit, stabilization=tight))


def slopes(errors: list[list[float]]) -> np.ndarray:
    """Observed orders for halved steps."""
    return np.array([np.log2(np.divide(a, b)) for a, b in pairwise(errors)])


def distances(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> list[float]:
    return [float(np.linalg.norm(a - b)) for a, b in zip(one, other, strict=True)]


# --- observed orders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "formulation"), CASES, ids=case_id)
@pytest.mark.parametrize(
    ("velocity_level", "stabilization"),
    [(False, PURE), (True, PURE), (False, None)],
    ids=["index 3", "velocity level", "corrected"],
)
def test_generalized_alpha_has_order_two_also_in_the_multipliers(
    model: Any, formulation: mb.Formulation, velocity_level: bool, stabilization: mb.Stabilization | None
) -> None:
    system = model()
    expected = reference(system, formulation)
    found = []
    for steps in (80, 160, 320):
        integrator = mb.GeneralizedAlpha(velocity_level=velocity_level)
        options: dict[str, Any] = {"formulation": formulation, "stabilization": stabilization}
        result = mb.simulate(system, END, dt=END / steps, integrator=integrator, **options)
        found.append(distances(last(result), expected))
        assert result.violation.position.max() < 1e-9
        if velocity_level:
            assert result.violation.velocity.max() < 1e-9
    np.testing.assert_allclose(slopes(found)[-1], 2.0, atol=0.15)


class FixedRadau(mb.RadauIIA):
    """The method with steps of one length and an iteration down to rounding."""

    def stage(self, eq: mb.Equations) -> Any:
        strategy = super().stage(eq)
        self._data["h_max"], self._data["error_rtol"], self._data["error_atol"] = self._dt, 1e300, 1e300
        return strategy


@pytest.mark.parametrize(("model", "formulation"), CASES, ids=case_id)
def test_radau_has_order_five(model: Any, formulation: mb.Formulation) -> None:
    system, end = model(), 1.0
    expected = reference(system, formulation, end)
    found = []
    for steps in (64, 128):
        integrator = FixedRadau(rtol=1e-11)
        options: dict[str, Any] = {"formulation": formulation, "stabilization": PURE}
        result = mb.simulate(system, end, dt=end / steps, integrator=integrator, **options)
        assert result.info.steps == steps
        assert result.violation.position.max() < 1e-11
        assert result.violation.velocity.max() < 1e-9
        found.append(distances(last(result), expected))
    assert np.all(np.abs(slopes(found)[-1, :2] - 5.0) < 0.5)


# --- stiff models -----------------------------------------------------------------------------------------------------


def test_stiff_governor_costs_a_tenth_of_the_evaluations() -> None:
    """Over one second of the ten; later the explicit method goes on as before, and Radau takes longer steps."""
    system = mb.examples.flyball_governor()
    explicit = mb.simulate(system, 1.0)
    implicit = mb.simulate(system, 1.0, integrator=mb.RadauIIA(rtol=1e-6))
    assert 10 * implicit.info.evaluations <= explicit.info.evaluations
    np.testing.assert_allclose(implicit.q[-1], explicit.q[-1], atol=1e-5)


def on_bushing(stiffness: float) -> mb.System:
    """A rod that swings on a bushing in the place of a hinge, to 60 degrees on both sides of gravity."""
    system = mb.System("rod on a bushing", gravity=(4.905, 0.0, -8.496))
    rod = system.add(mb.RigidBody("rod", mass=2.0, inertia=(0.01, 0.2, 0.2), position=(0.5, 0.0, 0.0)))
    held = stiffness * np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    system.add(
        mb.Bushing(
            "bushing", system.ground, rod, at=(0.0, 0.0, 0.0), stiffness=np.diag(held), damping=0.01 * np.diag(held)
        )
    )
    return system


def with_a_soft_joint(stiffness: float) -> mb.System:
    """Two links of a pendulum in the plane: a hinge on the ground, and a bushing in the place of the second one."""
    system = mb.System("links on a bushing", dimension=2, gravity=(4.905, -8.496))
    upper, lower = (
        system.add(mb.PlanarBody(name, mass=2.0, inertia=0.2, position=(x, 0.0)))
        for name, x in (("upper", 0.5), ("lower", 1.5))
    )
    system.add(mb.RevoluteJoint("hinge", system.ground, upper, at=(0.0, 0.0)))
    held = stiffness * np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    system.add(mb.Bushing("bushing", upper, lower, at=(1.0, 0.0), stiffness=held, damping=0.01 * held))
    return system


@pytest.mark.parametrize("softer", [1e2, 1e4])
@pytest.mark.parametrize(
    ("model", "formulation"),
    [*((on_bushing, f) for f in SPATIAL), *((with_a_soft_joint, f) for f in PLANAR)],
    ids=case_id,
)
def test_a_stiffer_bushing_costs_at_most_twice_the_steps(
    model: Any, formulation: mb.Formulation, softer: float
) -> None:
    """Nor twice the evaluations. The limit of infinite stiffness is a pendulum, which asks for steps of its own."""
    options: dict[str, Any] = {"formulation": formulation, "integrator": mb.RadauIIA(rtol=1e-6)}
    soft, stiff = (mb.simulate(model(k), 1.0, **options).info for k in (softer, 1e4 * softer))
    assert stiff.steps <= 2 * soft.steps
    assert stiff.evaluations <= 2 * soft.evaluations


# --- the oscillator ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("frequency", [3.0, 3000.0])
def test_generalized_alpha_on_an_oscillator_is_its_recursion(rho: float, frequency: float) -> None:
    """x'' = -w^2 x: three linear equations per step for (x, x', a), solved here by themselves."""
    system = mb.System("oscillator", gravity=(0.0, 0.0, 0.0))
    mass = system.add(mb.PointMass("mass", mass=2.0, position=(0.3, 0.0, 0.0)))
    spring = 2.0 * frequency**2 * np.eye(6)
    spring[3:] = 0.0
    system.add(mb.Bushing("spring", system.ground, mass, at=(0.3, 0.0, 0.0), stiffness=spring))
    mass.velocity = (1.0, 0.0, 0.0)
    h, steps = 0.01, 40
    result = mb.simulate(system, h * steps, dt=h, integrator=mb.GeneralizedAlpha(rho_infinity=rho))
    m, f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + f - m
    beta = 0.25 * (gamma + 0.5) ** 2
    x, v, a, acceleration = 0.0, 1.0, 0.0, 0.0
    expected = [v]
    for _ in range(steps):
        known_x, known_v = x + h * v + h * h * (0.5 - beta) * a, v + h * (1.0 - gamma) * a
        # (1 - m) a1 + m a = (1 - f) x1'' + f x'' with x1'' = -w^2 (known_x + h^2 beta a1)
        right = -(1.0 - f) * frequency**2 * known_x + f * acceleration - m * a
        a = right / (1.0 - m + (1.0 - f) * frequency**2 * h * h * beta)
        x, v = known_x + h * h * beta * a, known_v + h * gamma * a
        acceleration = -(frequency**2) * x
        expected.append(v)
    np.testing.assert_allclose(result.velocity("mass")[:, 0], expected, atol=1e-8)


def test_energy_is_kept_without_numerical_damping_and_falls_with_it() -> None:
    """Of the five-bar pendulum. With rho = 1 it only fluctuates, by the square of the step."""
    system = mb.examples.five_bar_pendulum()

    def change(rho: float, dt: float) -> np.ndarray:
        integrator = mb.GeneralizedAlpha(rho_infinity=rho, velocity_level=True)
        total = mb.simulate(system, 1.0, dt=dt, integrator=integrator).energy.total
        return total - total[0]

    kept = [np.abs(change(1.0, dt)).max() for dt in (2e-3, 1e-3)]
    damped = change(0.0, 2e-3)
    assert 3.5 < kept[0] / kept[1] < 4.5
    assert kept[0] < 0.2 * np.abs(damped).max()
    assert damped[-1] < 0.0


# --- what is in a model -----------------------------------------------------------------------------------------------

IMPLICIT: list[Any] = [mb.GeneralizedAlpha(), mb.RadauIIA()]
WITH_BDF = IMPLICIT if find_spec("sksundae") is None else [*IMPLICIT, mb.BDF()]  # it comes with the extra "bdf"


@pytest.mark.parametrize("integrator", IMPLICIT, ids=repr)
@pytest.mark.parametrize("model", ["bricard", "rolling_disk", "chaplygin_sleigh", "screw_jack", "watt_governor"])
def test_redundant_and_nonholonomic_constraints_and_turns(integrator: mb.Integrator, model: str) -> None:
    system = getattr(mb.examples, model)()
    expected = mb.simulate(system, 0.2, integrator=mb.DormandPrince(rtol=1e-10))
    result = mb.simulate(system, 0.2, dt=5e-4, integrator=integrator)
    scale = max(1.0, np.abs(expected.v[-1]).max())
    np.testing.assert_allclose(result.q[-1], expected.q[-1], atol=2e-4)
    np.testing.assert_allclose(result.v[-1], expected.v[-1], atol=1e-3 * scale)
    assert result.violation.position.max() < 1e-9


@pytest.mark.parametrize("integrator", [mb.GeneralizedAlpha(velocity_level=True), mb.RadauIIA()], ids=repr)
def test_no_equation_is_lost_in_the_elimination(integrator: mb.Integrator) -> None:
    """A chain of joints in which most orders of elimination meet a pivot that is zero; nothing corrects it here."""
    system = mb.examples.quick_return()
    result = mb.simulate(system, 0.3, dt=1e-3, integrator=integrator, stabilization=PURE)
    assert result.violation.position.max() < 1e-9
    assert result.violation.velocity.max() < 1e-7


class Drag(mb.ForceElement):
    """F = -c |u| u, from Python's point of view: no derivatives given."""

    coefficient = mb.parameter(2.0, unit="N s^2/m^2")

    def wrench(self, t, i, j):
        u = j.velocity - i.velocity
        return -self.coefficient * np.sqrt(u[0] ** 2 + u[1] ** 2 + u[2] ** 2) * u, np.zeros(3)


def controlled() -> mb.System:
    """A turning arm with a controller (own state) and a user's drag at its end."""
    system = mb.System("arm")
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(0.02, 0.1, 0.1), position=(0.4, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0.0, 0.0, 0.0), axis=(0.0, -1.0, 0.0)))
    system.add(
        mb.PIDActuator(
            "controller",
            system.ground,
            arm,
            at=(0.0, 0.0, 0.0),
            axis=(0.0, -1.0, 0.0),
            setpoint=0.5,
            proportional=20.0,
            integral=30.0,
            derivative=2.0,
        )
    )
    system.add(Drag("drag", system.ground, arm, at_j=(0.4, 0.0, 0.0)))
    return system


@pytest.mark.parametrize("integrator", WITH_BDF, ids=repr)
def test_own_states_and_users_forces(integrator: mb.Integrator) -> None:
    expected = mb.simulate(controlled(), 0.5, integrator=mb.DormandPrince(rtol=1e-10))
    result = mb.simulate(controlled(), 0.5, dt=2e-3, integrator=integrator)
    np.testing.assert_allclose(result.q[-1], expected.q[-1], atol=1e-4)
    np.testing.assert_allclose(result.v[-1], expected.v[-1], atol=1e-4)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", WITH_BDF, ids=repr)
def test_strategies_that_would_not_be_used_are_refused(integrator: mb.Integrator) -> None:
    system = triple_pendulum()
    with pytest.raises(mb.ModelError, match="solves for accelerations and multipliers itself"):
        mb.simulate(system, 0.1, dt=0.01, integrator=integrator, acceleration=mb.UdwadiaKalaba())
    with pytest.raises(mb.ModelError, match="acts on accelerations"):
        mb.simulate(system, 0.1, dt=0.01, integrator=integrator, stabilization=mb.Baumgarte())
