"""Controllers in implicit steps: differentiated exactly, so that steps follow the slow motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-10, atol=1e-12)}
SEEN = ["rail.displacement", "hinge.angle", "rail.displacement_rate", "hinge.angle_rate"]
GAIN = np.array([[-1.0, -25.0, -2.0, -5.0]])


def cart_pendulum() -> mb.System:
    system = mb.System("cart pendulum", gravity=(0.0, 0.0, -9.81))
    cart = system.add(mb.RigidBody("cart", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    pole = system.add(mb.RigidBody("pole", mass=0.3, inertia=(0.01, 0.01, 0.01), position=(0.03, 0.0, 0.4)))
    system.add(mb.RevoluteJoint("hinge", cart, pole, at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def pushed(system: mb.System, force: str) -> mb.System:
    system.add(mb.PointForce("motor", system["cart"], at=(0, 0, 0), force=(force, 0, 0)))
    return system


class Remembering(mb.Controller):
    """A smooth law with a memory, of what is seen and of its rates."""

    outputs = {"force": "N", "extra": "N"}  # noqa: RUF012
    states = 2

    def output(self, t, y, y_rate, z):
        return [3.0 * np.tanh(y[0] * y_rate[1] + z[0]) + z[1] ** 2, np.sin(y[1]) + 0.3 * y_rate[0]]

    def state_rate(self, t, y, y_rate, z):
        return [y[0] - z[0] * z[1] + np.cos(2.0 * t), y_rate[1] * y[1] - z[1]]


class Stretch(mb.Measure):
    """A user's measure that is not linear: the square of a distance."""

    def value(self, t, i, j):
        d = j.position - i.position
        return d @ d

    def gradient(self, t, i, j, g):
        for r in range(3):
            d = j.position[r] - i.position[r]
            g[0, r], g[0, 12 + r] = -2.0 * d, 2.0 * d


def with_feedback() -> mb.System:
    system = cart_pendulum()
    ends = {"at_i": (0.2, 0.1, 0.0), "at_j": (0.03, 0.0, 0.5)}
    system.add(mb.Distance("reach", system.ground, system["pole"], **ends))
    system.add(mb.StateFeedback("lqr", outputs={"force": "N"}, measures=["reach", "hinge.angle"], gain=[[1, 2, 3, 4]]))
    return pushed(system, "2*lqr.force + 0.1*lqr.force**2")


def with_users() -> mb.System:
    system = cart_pendulum()
    system.add(Stretch("stretch", system.ground, system["pole"], at_i=(0.2, 0.1, 0.0), at_j=(0.03, 0.0, 0.5)))
    system.add(Remembering("law", measures=["stretch", "hinge.angle"]))
    system.add(mb.Torque("turn", system["pole"], torque=(0, "law.extra", 0)))
    return pushed(system, "law.force")


def with_a_loop() -> mb.System:
    """Two controllers that see each other, one of them through its states only, and the body of another joint."""
    system = cart_pendulum()
    slow = ([[-2.0]], [[1.0, 0.5]], [[3.0]], [[0.0, 0.0]])
    fast = {"outputs": {"u": "N"}, "measures": ["slow.u", "pole.velocity.x", "pole.position.z"]}
    one = {"outputs": {"u": "N"}, "measures": ["cart.velocity.x", "pole.angular_velocity.y"]}
    system.add(mb.LinearController("slow", system=slow, **one))
    system.add(mb.LinearController("fast", system=([[-9.0]], [[1, 2, 3]], [[1.0]], [[0.2, 0.3, 0.4]]), **fast))
    system["slow"].update(measures=["fast.u", "pole.angular_velocity.y"])
    return pushed(system, "fast.u")


def with_a_setpoint() -> mb.System:
    """A servo on the hinge, with an own state, whose setpoint a controller gives that sees the cart."""
    system = cart_pendulum()
    system.add(mb.StateFeedback("wish", outputs={"angle": "rad"}, measures=["rail.displacement"], gain=[[0.2, 0.1]]))
    pins = {"at": (0, 0, 0), "axis": (0, 1, 0), "setpoint": "wish.angle"}
    gains = {"proportional": 20.0, "integral": 3.0, "derivative": 1.0}
    system.add(mb.PIDActuator("servo", system["cart"], system["pole"], **pins, **gains))
    return system


MODELS = [with_feedback, with_users, with_a_loop, with_a_setpoint]


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_the_tangent_has_what_controllers_add(make: Callable[[], mb.System], formulation: mb.Formulation) -> None:
    """Of M v' - Q + J^T lambda and of z', by central differences of order eight."""
    eq = mb.Equations(make(), formulation)
    rng = np.random.default_rng(3)
    q, v, z = (part.copy() for part in eq.split(eq.coordinates(eq.described())))
    v += 0.3 * rng.normal(size=eq.n_v)
    z[: eq.n_own] += rng.normal(size=eq.n_own)
    v_rate, multipliers = rng.normal(size=eq.n_v), rng.normal(size=eq.n_rows)

    def equations(q: np.ndarray, v: np.ndarray, z: np.ndarray) -> np.ndarray:
        e = eq.evaluate(0.3, q, v, z)
        return np.append(e.mass @ v_rate - e.force + e.jacobian.T @ multipliers, -eq.work.z_rate[: eq.n_own])

    eq.set_state(q, v, z)
    found = eq.tangent(0.3, q, v, v_rate, multipliers)
    weights, steps = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280]), 1e-3 * np.arange(1, 5)

    def differences(function: Callable[[float], np.ndarray]) -> np.ndarray:
        return sum(w * (function(s) - function(-s)) for w, s in zip(weights, steps, strict=True)) / 1e-3

    states = np.zeros_like(z)
    for d in rng.normal(size=(3, eq.n_v)) / np.sqrt(eq.n_v):
        shift = eq.coordinate_rates(q, d)
        by_place = differences(lambda s, shift=shift: equations(q + s * shift, v, z))
        np.testing.assert_allclose(np.append(found.stiffness @ d, -found.own.stiffness @ d), by_place, atol=1e-7)
        by_velocity = differences(lambda s, d=d: equations(q, v + s * d, z))
        np.testing.assert_allclose(np.append(found.damping @ d, -found.own.damping @ d), by_velocity, atol=1e-7)
    for k in range(eq.n_own):
        states[:], states[k] = 0.0, 1.0
        by_state = differences(lambda s: equations(q, v, z + s * states))
        np.testing.assert_allclose(np.append(found.own.force[:, k], -found.own.feedback[:, k]), by_state, atol=1e-7)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_implicit_runs_agree_with_explicit_ones(make: Callable[[], mb.System]) -> None:
    system, t = make(), [0.0, 0.4]
    exact = mb.simulate(system, 0.4, **PRECISE, t_eval=t).position("pole")
    for integrator, dt in ((mb.RadauIIA(rtol=1e-8), None), (mb.GeneralizedAlpha(), 1e-3)):
        found = mb.simulate(system, 0.4, dt=dt, integrator=integrator, t_eval=t).position("pole")
        np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-5 if dt else 1e-7)


# --- stiff controllers ------------------------------------------------------------------------------------------------


class Lag(mb.Controller):
    """A user's one: the same feedback, which follows with a time constant."""

    outputs = {"force": "N"}  # noqa: RUF012
    states = 1
    tau = mb.parameter(1e-2, unit="s", above=0.0, help="time constant")

    def state_rate(self, t, y, y_rate, z):
        return [(y[0] + 25.0 * y[1] + 2.0 * y_rate[0] + 5.0 * y_rate[1] - z[0]) / self.tau]

    def output(self, t, y, y_rate, z):
        return [z[0]]


def lagging(kind: str, tau: float) -> mb.System:
    system = cart_pendulum()
    if kind == "matrices":
        matrices = ([[-1.0 / tau]], -GAIN / tau, [[1.0]], np.zeros((1, 4)))
        system.add(mb.LinearController("lag", outputs={"force": "N"}, measures=SEEN, system=matrices))
    else:
        system.add(Lag("lag", measures=SEEN[:2], tau=tau))
    return pushed(system, "lag.force + 0.5*sin(3*t)")


@pytest.mark.parametrize("kind", ["matrices", "own class"])
def test_steps_of_radau_do_not_depend_on_how_fast_a_controller_is(kind: str) -> None:
    """z' = (u - z)/tau from tau = 1e-2 to 1e-8 s: 59 to 66 steps for 2 s."""
    steps, t = [], [0.0, 2.0]
    for tau in 10.0 ** -np.arange(2.0, 9.0, 2.0):
        result = mb.simulate(lagging(kind, tau), 2.0, integrator=mb.RadauIIA(rtol=1e-6), t_eval=t)
        steps.append(result.info.steps)
        exact = mb.simulate(lagging(kind, tau) if tau == 1e-2 else without_a_lag(), 2.0, **PRECISE, t_eval=t)
        np.testing.assert_allclose(
            result.position("cart"), exact.position("cart"), atol=max(2e-6, tau if tau < 1e-2 else 0.0)
        )
    assert max(steps) < 1.3 * min(steps)


def without_a_lag() -> mb.System:
    system = cart_pendulum()
    system.add(mb.StateFeedback("lag", outputs={"force": "N"}, measures=SEEN[:2], gain=GAIN))
    return pushed(system, "lag.force + 0.5*sin(3*t)")


def servo(tau: float) -> mb.System:
    system = mb.System("servo", gravity=(0, 0, 0))
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(1, 1, 0.5)))
    system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    gains = {"proportional": 40.0, "integral": 30.0, "derivative": 4.0, "rate_limit": 1e6, "lag": tau}
    pins = {"at": (0, 0, 0), "axis": (0, 0, 1), "setpoint": "0.3*sin(2*t)"}
    system.add(mb.PIDActuator("pid", system.ground, arm, **pins, **gains))
    return system


def servo_reference(tau: float) -> float:
    """The angle after 2 s: theta'' = f/I, f' = (u - f)/tau, as long as the rate limit is not reached."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        theta, rate, z, f = y
        error, error_rate = 0.3 * np.sin(2.0 * t) - theta, 0.6 * np.cos(2.0 * t) - rate
        return [rate, f / 0.5, error, (40.0 * error + 30.0 * z + 4.0 * error_rate - f) / tau]

    return float(solve_ivp(rates, (0.0, 2.0), np.zeros(4), "Radau", rtol=1e-10, atol=1e-12).y[0, -1])


def test_steps_of_radau_do_not_depend_on_the_lag_of_a_pid() -> None:
    steps = []
    for tau in 10.0 ** -np.arange(2.0, 9.0, 2.0):
        result = mb.simulate(servo(tau), 2.0, integrator=mb.RadauIIA(rtol=1e-7), t_eval=[0.0, 2.0])
        steps.append(result.info.steps)
        angle = float(result.quantity("hinge.angle").values[-1])
        assert angle == pytest.approx(servo_reference(tau), abs=1e-6)
    assert max(steps) < 2.0 * min(steps)


def test_a_large_model_keeps_its_sparsity() -> None:
    """Numbers of a controller in the tangent: those of the bodies that it sees and drives, not of all bodies."""
    system = mb.System("many")
    for k in range(30):
        body = system.add(mb.RigidBody(f"body {k}", mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0)))
        system.add(mb.RevoluteJoint(f"hinge {k}", system.ground, body, at=(k - 0.3, 0, 0), axis=(0, 1, 0)))
    law: dict[str, Any] = {"outputs": {"u": "N"}, "measures": ["hinge 3.angle"], "gain": [[2.0, 1.0]]}
    system.add(mb.StateFeedback("law", **law))
    system.add(mb.PointForce("push", system["body 7"], at=(7, 0, 0), force=("law.u", 0, 0)))
    eq = mb.Equations(system)
    assert eq.tangent_assembly.control is not None
    assert eq.tangent_assembly.control.size == 36


class Lost(mb.Controller):
    """Gives no number after half a second."""

    outputs = {"force": "N"}  # noqa: RUF012

    def output(self, t, y, y_rate, z):
        return [np.nan if t > 0.5 else 1.0]


@pytest.mark.parametrize("integrator", [mb.RadauIIA(), mb.GeneralizedAlpha()], ids=lambda i: type(i).__name__)
def test_a_controller_without_a_number_is_named(integrator: mb.Integrator) -> None:
    system = cart_pendulum()
    system.add(Lost("law", measures=["hinge.angle"]))
    dt = None if integrator.adaptive else 1e-2
    with pytest.raises(mb.SimulationError, match="Lost 'law': output gives numbers that are not finite") as caught:
        mb.simulate(pushed(system, "law.force"), 1.0, dt=dt, integrator=integrator)
    assert caught.value.result is not None
    assert caught.value.result.t[-1] > 0.45
