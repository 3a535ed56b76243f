"""Own states of elements in users' integrators, which know q and v only: against the exact solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import mbframe as mb

P, I, D, SET, INERTIA, TIME = 30.0, 8.0, 3.0, 0.7, 0.2, 1.0


class Heun(mb.Integrator):
    """The slopes at both ends of a step."""

    order = 2

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        a, r = eq.accelerate(t, q, v)[0], eq.coordinate_rates(q, v)
        q_end, v_end = q + h * r, v + h * a
        a_end, r_end = eq.accelerate(t + h, q_end, v_end)[0], eq.coordinate_rates(q_end, v_end)
        return q + 0.5 * h * (r + r_end), v + 0.5 * h * (a + a_end)


class Classical(mb.Integrator):
    """The classical method of fourth order, written by hand."""

    order = 4

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        def slope(t: float, q: Any, v: Any) -> tuple[Any, Any]:
            return eq.coordinate_rates(q, v), eq.accelerate(t, q, v)[0]

        r1, a1 = slope(t, q, v)
        r2, a2 = slope(t + h / 2, q + h / 2 * r1, v + h / 2 * a1)
        r3, a3 = slope(t + h / 2, q + h / 2 * r2, v + h / 2 * a2)
        r4, a4 = slope(t + h, q + h * r3, v + h * a3)
        return q + h / 6 * (r1 + 2 * r2 + 2 * r3 + r4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


class SymplecticEuler(mb.Integrator):
    """Velocities first."""

    order = 1

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        v = v + h * eq.accelerate(t, q, v)[0]
        return q + h * eq.coordinate_rates(q, v), v


class Narrow(mb.Integrator):
    """Forgets own states."""

    order = 1

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        return q + h * eq.coordinate_rates(q, v), v[: eq.n_v]


def controlled() -> mb.System:
    """A shaft in a hinge that a controller turns to an angle."""
    system = mb.System("controlled")
    shaft = system.add(mb.RigidBody("shaft", mass=1.0, inertia=(0.1, 0.1, INERTIA)))
    system.add(mb.RevoluteJoint("hinge", system.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1)))
    pid = mb.PIDActuator("pid", system.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1), proportional=P, integral=I)
    pid.update(derivative=D, setpoint=f"{SET}")
    system.add(pid)
    return system


def exact() -> np.ndarray:
    """Angle, its rate and the integral of the error at the end: x' = A x + b, with b constant."""
    a = np.array([[0, 1, 0, 0], [-P / INERTIA, -D / INERTIA, I / INERTIA, P * SET / INERTIA], [-1, 0, 0, SET], [0] * 4])
    return (expm(a * TIME) @ [0.0, 0.0, 0.0, 1.0])[:3]


def end(integrator: mb.Integrator, dt: float) -> np.ndarray:
    result = mb.simulate(controlled(), TIME, dt=dt, integrator=integrator)
    turn = result.rotation("shaft").as_rotvec()[-1, 2]
    z = result.state(-1).element_states["pid"]
    return np.array([turn, result.angular_velocity("shaft")[-1, 2], z[0]])


@pytest.mark.parametrize(
    ("method", "order", "dt"), [(Heun(), 2, 0.01), (Classical(), 4, 0.02), (SymplecticEuler(), 1, 0.005)]
)
def test_own_states_are_carried_along_with_the_order_of_the_method(method: Any, order: int, dt: float) -> None:
    coarse, fine = (np.abs(end(method, h) - exact()) for h in (dt, dt / 2))
    assert np.all(fine < 2.0**-order * 1.4 * coarse + 1e-12)
    assert np.all(coarse < 0.02)
    assert np.all(coarse > 1e-9)  # there is an error to be measured, in the own state as well


def test_the_same_formula_gives_the_same_numbers_as_our_own() -> None:
    ours = mb.simulate(controlled(), TIME, dt=0.02, integrator=mb.RungeKutta4())
    theirs = mb.simulate(controlled(), TIME, dt=0.02, integrator=Classical())
    np.testing.assert_allclose(theirs.q, ours.q, atol=1e-13)
    np.testing.assert_allclose(theirs.v, ours.v, atol=1e-12)
    ours_z, theirs_z = (r.state(-1).element_states["pid"] for r in (ours, theirs))
    np.testing.assert_allclose(theirs_z, ours_z, atol=1e-13)


def test_a_step_that_loses_own_states_is_told() -> None:
    with pytest.raises(
        mb.SimulationError, match=r"Narrow.step returned 6 numbers as v; allowed are 7: the velocities, and"
    ):
        mb.simulate(controlled(), 0.1, dt=0.01, integrator=Narrow())
