"""Closed loops: linearized with their controllers, against the linear equations of plant and controller apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import mbframe as mb
from mbframe.equations import Equations

SEEN = ["rail.displacement", "hinge.angle"]
RATES = ["rail.displacement_rate", "hinge.angle_rate"]


def cart_pendulum(rods: int = 1, force: Any = ("push", 0, 0)) -> mb.System:
    """A cart on a rail with one rod upright on it, or two one above the other."""
    system = mb.System("cart pendulum")
    below = system.add(mb.RigidBody("cart", mass=2.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, below, at=(0, 0, 0), axis=(1, 0, 0)))
    for k in range(rods):
        name = "hinge" if k == 0 else f"hinge {k + 1}"
        rod = mb.RigidBody(f"rod{k}", mass=0.5, inertia=(0.05, 0.05, 0.001), position=(0, 0, k + 0.5))
        system.add(rod)
        system.add(mb.RevoluteJoint(name, below, rod, at=(0, 0, k), axis=(0, 1, 0)))
        below = rod
    system.add(mb.Input("push", unit="N"))
    system.add(mb.PointForce("motor", system["cart"], force=force))
    return system


def lqr(system: mb.System, seen: list[str], rates: list[str], weight: float = 0.01, **given: Any) -> np.ndarray:
    """The gain of the regulator on what is seen and its rates."""
    lin = mb.linearize(system, inputs=["push"], outputs=[*seen, *rates], **given)
    A, B, C = lin.A, lin.B, lin.C
    P = scipy.linalg.solve_continuous_are(A, B, C.T @ C, np.array([[weight]]))
    return B.T @ P @ np.linalg.inv(C) / weight


@pytest.mark.parametrize("rods", [1, 2])
def test_roots_of_a_regulated_pendulum_are_those_of_the_riccati_equation(rods: int) -> None:
    system = cart_pendulum(rods)
    seen = ["rail.displacement", *(("hinge" if k == 0 else f"hinge {k + 1}") + ".angle" for k in range(rods))]
    rates = [f"{name}_rate" for name in seen]
    lin = mb.linearize(system, inputs=["push"], outputs=[*seen, *rates])
    K = lqr(system, seen, rates)
    wanted = np.sort_complex(np.linalg.eigvals(lin.A - lin.B @ K @ lin.C))
    system.add(mb.StateFeedback("lqr", outputs={"force": "N"}, measures=seen, gain=K))
    system["motor"].force = ("push + lqr.force", 0, 0)
    closed = mb.linearize(system, inputs=["push"])
    np.testing.assert_allclose(np.sort_complex(closed.eigenvalues), wanted, rtol=1e-8, atol=1e-8)
    assert closed.stability == "asymptotic"
    result = mb.simulate(system, 0.5, dt=1e-3)
    np.testing.assert_allclose(result.quantity("lqr.force").values, 0.0, atol=1e-9)


def test_a_pushed_pendulum_comes_back() -> None:
    system = cart_pendulum(2)
    seen = ["rail.displacement", "hinge.angle", "hinge 2.angle"]
    K = lqr(system, seen, [f"{name}_rate" for name in seen])
    system.add(mb.StateFeedback("lqr", outputs={"force": "N"}, measures=seen, gain=K))
    system["motor"].force = ("push + lqr.force", 0, 0)
    with mb.Simulation(system, integrator=mb.DormandPrince()) as sim:
        sim.inputs["push"] = 2.0
        sim.advance(to=0.2)
        sim.inputs["push"] = 0.0
        assert abs(sim.quantity("hinge.angle")) > 1e-3
        sim.advance(to=12.0)
        assert max(abs(sim.quantity(name)) for name in seen) < 1e-3


def steered() -> mb.System:
    """A bicycle at 2 m/s, with a torque of hands between frame and fork, and wind from the side."""
    system = mb.examples.whipple_bicycle(speed=2.0)
    system.add(mb.Input("steer", unit="N m"))
    system.add(mb.Input("push", unit="N"))
    system.add(mb.PointForce("wind", system["frame"], at=(0.3, 0.0, 0.9), force=(0, "push", 0)))
    for name in ("fork", "frame"):
        system.add(mb.Torque(f"hands on {name}", system[name], torque=(0, 0, 0), axes="body"))
    hold(system, "steer")
    at = np.zeros(3)
    system.add(mb.Angle("lean", system.ground, system["frame"], at_i=at, at_j=at, axis=(1.0, 0.0, 0.0)))
    return system


def test_a_bicycle_at_two_metres_a_second_is_ridden() -> None:
    """It falls by itself; lean, steering angle and their rates are a plant of order four, on which a regulator acts."""
    system, seen = steered(), ["lean", "steering.angle"]
    lin = mb.linearize(system, inputs=["steer"], outputs=seen)
    assert lin.stability == "unstable"
    S = np.vstack([lin.C, lin.C @ lin.A])
    A, B = S @ lin.A @ np.linalg.pinv(S), S @ lin.B
    np.testing.assert_allclose(S @ lin.A, A @ S, atol=1e-10)
    K = 100.0 * B.T @ scipy.linalg.solve_continuous_are(A, B, np.eye(4), np.array([[0.01]]))
    system.add(mb.StateFeedback("rider", outputs={"torque": "N m"}, measures=seen, gain=K))
    hold(system, "rider.torque")
    closed = mb.linearize(system)
    moving = np.sort_complex([root for root in closed.eigenvalues if abs(root) > 1e-6])
    np.testing.assert_allclose(moving, np.sort_complex(np.linalg.eigvals(A - B @ K)), rtol=1e-7)
    with mb.Simulation(system, integrator=mb.DormandPrince()) as sim:
        sim.inputs["push"] = 20.0
        sim.advance(to=0.3)
        sim.inputs["push"] = 0.0
        assert abs(sim.quantity("lean")) > 5e-3
        sim.advance(to=8.0)
        assert max(abs(sim.quantity(name)) for name in seen) < 1e-4


def hold(system: mb.System, signal: str) -> None:
    """Let a signal be the torque about the steering axis on the fork, and its opposite on the frame."""
    axis = system["steering"].axis / np.linalg.norm(system["steering"].axis)
    for name, sign in (("fork", 1.0), ("frame", -1.0)):
        system[f"hands on {name}"].torque = tuple(f"{sign * x:.17g}*{signal}" for x in axis)


def test_a_program_swings_a_pendulum_up_and_catches_it() -> None:
    from mbframe.examples.swing_up import swing_up

    result = swing_up(9.0)
    angle, x = (result.quantity(name).values for name in ("hinge.angle", "rail.displacement"))
    assert np.abs(angle[:100]).max() < 0.2
    assert abs(np.remainder(angle[-1], 2.0 * np.pi) - np.pi) < 0.02
    assert abs(x[-1]) < 0.05


def test_dynamic_controllers_in_a_chain_are_linearized_with_their_states() -> None:
    """The closed loop of plant, observer-like filter and lead, put together from the matrices of each."""
    random = np.random.default_rng(3)
    system = cart_pendulum()
    lin = mb.linearize(system, inputs=["push"], outputs=[*SEEN, *RATES])
    first = [random.normal(size=shape) for shape in ((2, 2), (2, 3), (1, 2), (1, 3))]
    second = [random.normal(size=shape) for shape in ((3, 3), (3, 2), (1, 3), (1, 2))]
    system.add(mb.LinearController("a", measures=[*SEEN, RATES[1]], system=first))
    system.add(mb.LinearController("b", measures=["a.force", "rail.displacement_rate"], system=second))
    system["motor"].force = ("push + 2*a.force - b.force", 0, 0)
    closed = mb.linearize(system)
    C1, C2 = lin.C[[0, 1, 3]], lin.C[[2]]
    (A1, B1, K1, D1), (A2, B2, K2, D2) = first, second
    a = np.hstack([D1 @ C1, K1, np.zeros((1, 3))])  # outputs by (plant, first, second)
    seen = np.vstack([a, np.hstack([C2, np.zeros((1, 5))])])
    b = D2 @ seen + np.hstack([np.zeros((1, 6)), K2])
    loop = np.vstack(
        [
            np.hstack([lin.A, np.zeros((4, 5))]) + lin.B @ (2.0 * a - b),
            np.hstack([B1 @ C1, A1, np.zeros((2, 3))]),
            B2 @ seen + np.hstack([np.zeros((3, 6)), A2]),
        ]
    )
    wanted = np.sort_complex(np.linalg.eigvals(loop))
    np.testing.assert_allclose(np.sort_complex(closed.eigenvalues), wanted, rtol=1e-8, atol=1e-8)
    space = np.sort_complex(np.linalg.eigvals(closed.A))
    np.testing.assert_allclose(space, wanted, rtol=1e-7, atol=1e-7)


class Cubic(mb.Controller):
    """Nonlinear, with a state: u = y0^2 z - sin(y1) + y0' y1', z' = y1 - z^3 + y0'."""

    outputs = {"torque": "N m", "force": "N"}  # noqa: RUF012
    states = 1

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [y[0] ** 2 * z[0] - np.sin(y[1]) + y_rate[0] * y_rate[1], np.cos(y[2]) * z[0] + y[3]]

    def state_rate(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [y[1] - z[0] ** 3 + y_rate[0]]


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=lambda f: type(f).__name__)
def test_derivatives_agree_with_differences_in_any_state(formulation: Any) -> None:
    """F = M v' - Q + J^T lambda and z', in a moving spatial mechanism that sees everything there is."""
    system = mb.System("moving")
    a = system.add(mb.RigidBody("a", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.2, 0, 1)))
    b = system.add(mb.RigidBody("b", mass=2.0, inertia=(0.3, 0.2, 0.25), position=(0, 0.5, 2)))
    c = system.add(mb.RigidBody("c", mass=2.0, inertia=(0.3, 0.2, 0.25), position=(1, 0.5, 2)))
    system.add(mb.SphericalJoint("s", system.ground, a, at=(0, 0, 0)))
    system.add(mb.UniversalJoint("cross", a, b, at=(0, 0, 1.5), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(mb.Distance("d", c, b, at_i=(3, 0, 0), at_j=(0, 1, 2)))
    system.add(mb.Angle("theta", a, c, at_i=(0, 0, 0), at_j=(1, 0, 0), axis=(0, 0.3, 1)))
    system.add(Cubic("u", measures=["d", "theta", "cross.angle_2", "c.angular_velocity.x"]))
    system.add(mb.PointForce("f", c, at=(1.3, 0.2, 2), force=("u.force**2", "0.5*u.torque*u.force", 0), axes="body"))
    system.add(mb.Torque("m", a, torque=("u.torque", 0, "sin(u.torque)")))
    setpoint = mb.PIDActuator("pid", b, c, at=(0, 0, 2), axis=(1, 2, 0), quantity="displacement", setpoint="u.force")
    setpoint.update(proportional=2.0, integral=1.5, derivative=0.0)
    system.add(setpoint)
    eq = Equations(system, formulation)
    random = np.random.default_rng(5)
    y = eq.coordinates(eq.described())
    q, v, z = eq.split(y)
    q, v = eq.displaced(q, 0.3 * random.normal(size=eq.n_v)), random.normal(size=eq.n_v)
    z = z.copy()
    z[: eq.n_own] = random.normal(size=eq.n_own)
    v_rate, multipliers = random.normal(size=eq.n_v), random.normal(size=eq.n_rows)
    t = 0.3
    eq.set_state(q, v, z)
    tangent = eq.tangent(t, q, v, v_rate, multipliers, dense=True)
    own = tangent.own

    def found(d: np.ndarray, dv: np.ndarray, dz: np.ndarray) -> np.ndarray:
        changed = z.copy()
        changed[: eq.n_own] += dz
        e = eq.evaluate(t, eq.displaced(q, d), v + dv, changed, dense=True)
        return np.concatenate([e.mass @ v_rate - e.force + e.jacobian.T @ multipliers, eq.work.z_rate[: eq.n_own]])

    n, m = eq.n_v, eq.n_own
    wanted = {"d": (n, tangent.stiffness, own.stiffness[:m]), "dv": (n, tangent.damping, own.damping[:m])}
    wanted["dz"] = (m, own.force[:, :m], own.feedback[:m, :m])
    for kind, (count, loads, rates) in wanted.items():
        for k in range(count):
            step = {"d": np.zeros(n), "dv": np.zeros(n), "dz": np.zeros(m)}
            h = 1e-5
            step[kind][k] = h
            ahead = found(**step)
            step[kind][k] = -h
            difference = (ahead - found(**step)) / (2.0 * h)
            np.testing.assert_allclose(loads[:, k], difference[:n], rtol=1e-5, atol=2e-6, err_msg=f"{kind} {k}")
            np.testing.assert_allclose(rates[:, k], difference[n:], rtol=1e-5, atol=2e-6, err_msg=f"{kind} {k}")
