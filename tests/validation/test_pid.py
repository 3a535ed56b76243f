"""The PID actuator at its limit, against an integration of its own equations that shares no code."""

from __future__ import annotations

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
        (mb.RungeKutta4(), 5e-4, 1e-3),
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
