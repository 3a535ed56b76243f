"""The PID actuator at its limits, against an integration of its own equations that shares no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbframe as mb

P, I, D, LIMIT, MASS = 30.0, 20.0, 8.0, 5.0, 2.0


def driven(limit: float | None, setpoint: float = 1.0, start: float = 0.0) -> mb.System:
    """2 kg on a rail that shall come to a setpoint."""
    system = mb.System("rail", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("cart", mass=MASS, inertia=(1, 1, 1), velocity=(start, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    pid = mb.PIDActuator("pid", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0), quantity="displacement")
    pid.update(setpoint=setpoint, proportional=P, integral=I, derivative=D, limit=limit)
    system.add(pid)
    return system


def reference(t: np.ndarray, limit: float) -> np.ndarray:
    """Place, velocity and integral by SciPy, whose steps find where the limit is reached and left."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        x, v, z = y
        e = 1.0 - x
        wanted = P * e + I * z - D * v
        stopped = abs(wanted) > limit and e * wanted > 0.0
        return [v, float(np.clip(wanted, -limit, limit)) / MASS, 0.0 if stopped else e]

    return solve_ivp(rates, (0.0, t[-1]), np.zeros(3), t_eval=t, rtol=1e-11, atol=1e-12, max_step=0.01).y


@pytest.mark.parametrize(
    ("integrator", "dt", "tolerance"),
    [  # a fixed step that holds a jump of z' is of first order
        (mb.RungeKutta4(), 5e-4, 2e-4),
        (mb.DormandPrince(rtol=1e-9), None, 1e-7),
        (mb.RadauIIA(rtol=1e-8), None, 1e-5),
    ],
)
def test_a_limited_actuator_follows_its_equations_and_does_not_wind_up(
    integrator: Any, dt: float | None, tolerance: float
) -> None:
    t = np.arange(61) * 0.1
    result = mb.simulate(driven(LIMIT), 6.0, dt, integrator=integrator, t_eval=t)
    x, _, z = reference(t, LIMIT)
    np.testing.assert_allclose(result.quantity("cart.position.x").values, x, atol=tolerance)
    np.testing.assert_allclose(result.element_states("pid")[:, 0], z, atol=tolerance)
    force = result.quantity("pid.force.x").values
    assert np.max(np.abs(force)) == LIMIT
    free = mb.simulate(driven(None), 6.0, 1e-3)
    assert np.max(np.abs(free.quantity("pid.force.x").values)) > 5.0 * LIMIT


def test_at_its_limit_it_is_a_constant_force() -> None:
    """x = F t^2 / 2 m as long as it is limited: z stands still."""
    result = mb.simulate(driven(LIMIT, setpoint=100.0), 2.0, 0.01)
    np.testing.assert_allclose(result.quantity("cart.position.x").values, 1.25 * result.t**2, atol=1e-12)
    np.testing.assert_array_equal(result.element_states("pid"), 0.0)


def test_the_integral_runs_on_where_the_error_leads_back() -> None:
    """Beyond the setpoint by inertia, wanted is still large and negative, but z falls when that is the way back."""
    system = driven(LIMIT, setpoint=0.0, start=5.0)
    state = mb.simulate(system, 0.1, 1e-3).state(-1)
    eq = state.element_states["pid"][0]
    assert eq == pytest.approx(0.0, abs=1e-3)  # wanted < 0 and the error is negative too: it stands still


def test_a_limit_is_positive() -> None:
    with pytest.raises(mb.ModelError, match=r"limit: found -1.0"):
        driven(-1.0)


# --- limit of its rate -----------------------------------------------------------------------------------------------

RATE, LAG = 60.0, 0.02


def slow(**changes: Any) -> mb.System:
    """The same cart, and an output that cannot jump."""
    system = driven(None)
    system["pid"].update(**({"rate_limit": RATE, "lag": LAG} | changes))
    return system


def slow_reference(t: np.ndarray, limit: float = np.inf) -> np.ndarray:
    """Place, velocity, integral and output."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        x, v, z, f = y
        e = 1.0 - x
        wanted = P * e + I * z - D * v
        lead = (float(np.clip(wanted, -limit, limit)) - f) / LAG
        part = 1.0
        if abs(wanted) > limit and e * wanted > 0.0:
            part = 0.0
        elif e * lead > 0.0:
            part = float(np.clip(2.0 - abs(lead) / RATE, 0.0, 1.0))
        return [v, f / MASS, part * e, float(np.clip(lead, -RATE, RATE))]

    return solve_ivp(rates, (0.0, t[-1]), np.zeros(4), t_eval=t, rtol=1e-11, atol=1e-12, max_step=0.005).y


@pytest.mark.parametrize("limit", [None, 12.0])
@pytest.mark.parametrize(
    ("integrator", "dt", "tolerance"),
    [
        (mb.RungeKutta4(), 5e-4, 2e-3),
        (mb.DormandPrince(rtol=1e-9), None, 1e-6),
        (mb.RadauIIA(rtol=1e-8), None, 1e-5),
        (mb.GeneralizedAlpha(), 5e-4, 2e-3),
        (mb.BDF(), 5e-4, 2e-3),
    ],
)
def test_an_output_with_a_rate_limit_follows_its_equations(
    integrator: Any, dt: float | None, tolerance: float, limit: float | None
) -> None:
    t = np.arange(61) * 0.1
    result = mb.simulate(slow(limit=limit), 6.0, dt, integrator=integrator, t_eval=t)
    x, _, z, f = slow_reference(t, np.inf if limit is None else limit)
    np.testing.assert_allclose(result.quantity("cart.position.x").values, x, atol=tolerance)
    np.testing.assert_allclose(result.element_states("pid")[:, 0], z, atol=tolerance)
    np.testing.assert_allclose(result.quantity("pid.force.x").values, f, atol=50.0 * tolerance)
    np.testing.assert_array_equal(result.quantity("pid.state.1").values, result.quantity("pid.force.x").values)
    np.testing.assert_allclose(result.quantity("pid.error").values, 1.0 - x, atol=tolerance)


def test_it_changes_at_that_rate_and_no_faster() -> None:
    result = mb.simulate(slow(), 6.0, 1e-3)
    f = result.quantity("pid.force.x").values
    assert np.abs(np.diff(f)).max() < RATE * 1e-3 * (1.0 + 1e-9)
    np.testing.assert_allclose(f[:200], RATE * result.t[:200], rtol=1e-12)  # 30 N are wanted from the start


def test_a_high_rate_and_a_short_lag_are_none() -> None:
    """What is left of the difference is of the order of the lag."""
    t = np.linspace(0.0, 3.0, 31)
    free = (
        mb.simulate(driven(None), 3.0, integrator=mb.RadauIIA(rtol=1e-9), t_eval=t).quantity("cart.position.x").values
    )
    off = []
    for lag in (1e-3, 1e-4):
        stiff = mb.simulate(slow(rate_limit=1e9, lag=lag), 3.0, integrator=mb.RadauIIA(rtol=1e-9), t_eval=t)
        off.append(np.abs(stiff.quantity("cart.position.x").values - free).max())
    assert off[1] < 0.12 * off[0] < 0.12 * 0.01
    assert off[0] > 1e-5


def test_it_is_linearized_with_its_lag() -> None:
    """x' = v, m v' = f, z' = -x, T f' = I z - P x - D v - f inside the limits; 30 N are wanted at the start."""
    system = slow()
    rest = mb.equilibrium(system)
    np.testing.assert_allclose(rest.position("cart"), [1.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(rest.element_states["pid"], 0.0, atol=1e-9)
    matrix = [[0, 1, 0, 0], [0, 0, 0, 1 / MASS], [-1, 0, 0, 0], [-P / LAG, -D / LAG, I / LAG, -1 / LAG]]
    found = np.sort_complex(np.linalg.eigvals(mb.linearize(system, rest).A))
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(matrix)), atol=1e-8)


def test_a_function_in_python_and_an_input_are_followed_alike() -> None:
    t = np.linspace(0.0, 2.0, 21)
    plain = mb.simulate(slow(), 2.0, 1e-3, t_eval=t)
    called = mb.simulate(slow(setpoint=lambda t: 1.0), 2.0, 1e-3, t_eval=t)
    named = slow()
    named.add(mb.Input("goal", value=1.0))
    named["pid"].setpoint = "goal"
    by_input = mb.simulate(named, 2.0, 1e-3, t_eval=t)
    for other in (called, by_input):
        np.testing.assert_allclose(other.element_states("pid"), plain.element_states("pid"), atol=1e-12)
        np.testing.assert_allclose(other.wrench("pid")[0], plain.wrench("pid")[0], atol=1e-12)


def test_in_the_plane_it_turns_a_wheel_alike() -> None:
    """The same numbers with an angle for the way, and an inertia for the mass."""
    system = mb.System("wheel", dimension=2, gravity=(0, 0))
    wheel = system.add(mb.PlanarBody("wheel", mass=1.0, inertia=MASS))
    system.add(mb.RevoluteJoint("hub", system.ground, wheel, at=(0, 0)))
    pid = mb.PIDActuator("pid", system.ground, wheel, at=(0, 0), setpoint=1.0, proportional=P, integral=I, derivative=D)
    pid.update(rate_limit=RATE, lag=LAG)
    system.add(pid)
    straight = mb.simulate(slow(), 2.0, 1e-3)
    turning = mb.simulate(system, 2.0, 1e-3)
    np.testing.assert_allclose(turning.element_states("pid"), straight.element_states("pid"), atol=1e-11)


def test_files_and_states_keep_it(tmp_path: Path) -> None:
    system = slow()
    mb.save(system, tmp_path / "rail.json")
    again = mb.load(tmp_path / "rail.json")
    assert (again["pid"].rate_limit, again["pid"].lag) == (RATE, LAG)
    whole = mb.simulate(system, 1.0, 1e-3)
    half = mb.simulate(again, 0.5, 1e-3).state(-1)
    rest = mb.simulate(again, 1.0, 1e-3, initial=half)
    np.testing.assert_allclose(rest.element_states("pid")[-1], whole.element_states("pid")[-1], atol=1e-10)


def test_without_it_there_is_one_own_state() -> None:
    assert mb.simulate(driven(LIMIT), 0.01, 1e-3).element_states("pid").shape[1] == 1
    assert mb.simulate(slow(), 0.01, 1e-3).element_states("pid").shape[1] == 2


def test_a_class_with_a_law_of_its_own_has_no_rate_limit() -> None:
    class Own(mb.PIDActuator):
        pass

    system = driven(None)
    with pytest.raises(mb.ModelError, match=r"Own 'own', rate_limit: is for a PIDActuator itself"):
        Own("own", system.ground, system["cart"], at=(0, 0, 0), axis=(1, 0, 0), rate_limit=1.0)


def test_it_is_neither_given_nor_taken_between_steps() -> None:
    with mb.Simulation(slow(), dt=1e-3) as sim:
        sim.advance(to=0.1)
        sim.parameters["pid", "rate_limit"] = 2.0 * RATE
        before = sim.quantity("pid.force.x")
        sim.advance(to=0.15)
        assert sim.quantity("pid.force.x") - before == pytest.approx(2.0 * RATE * 0.05)
        with pytest.raises(mb.ModelError, match=r"rate_limit: gives the force another number of own states"):
            sim.parameters["pid", "rate_limit"] = None
