"""What contacts, tires and actuators tell of themselves, against closed forms and Newton's law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import mbframe as mb
from mbframe.quantities import units_of

G, MASS = 9.81, 2.0
BALL = {"mass": MASS, "inertia": (8e-3, 8e-3, 8e-3)}


def values(result: mb.Result, name: str) -> np.ndarray:
    return result.quantity(name).values


def on_a_floor(height: float, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0), **law: float) -> mb.System:
    """A ball of radius 0.1 whose lowest point is at a height above a plane."""
    system = mb.System("floor")
    ball = system.add(mb.RigidBody("ball", position=(0.0, 0.0, 0.1 + height), velocity=velocity, **BALL))
    system.add(mb.SpherePlaneContact("floor", system.ground, ball, radius=0.1, **law))
    return system


def test_a_ball_comes_to_rest_where_the_floor_carries_it() -> None:
    """Always N = m (z'' + g), zero in flight; in the end k d^1.5 = m g."""
    system = on_a_floor(0.05, stiffness=1e5, restitution=0.3)
    result = mb.simulate(system, 2.0, integrator=mb.DormandPrince(rtol=1e-8))
    gap, normal = values(result, "floor.gap"), values(result, "floor.normal_force")
    np.testing.assert_allclose(gap, result.position("ball")[:, 2] - 0.1, atol=1e-15)
    np.testing.assert_allclose(normal, MASS * (result.acceleration("ball")[:, 2] + G), atol=1e-8)
    assert gap[0] == pytest.approx(0.05)
    assert not np.any(normal[gap > 0.0])
    assert normal.max() > 10.0 * MASS * G
    assert gap[-1] == pytest.approx(-((MASS * G / 1e5) ** (1.0 / 1.5)), abs=1e-6)
    assert normal[-1] == pytest.approx(MASS * G, rel=1e-3)
    assert not np.any(values(result, "floor.slip"))
    assert [result.quantity(f"floor.{name}").unit for name in ("gap", "normal_force", "slip")] == ["m", "N", "m/s"]


def test_outputs_of_a_contact_are_linearized() -> None:
    """At rest dN/dz = -n k d^(n-1)."""
    depth = (MASS * G / 7e3) ** (1.0 / 1.5)
    system = on_a_floor(-depth, stiffness=7e3)
    lin = mb.linearize(system, outputs=["ball.position.z", "floor.gap", "floor.normal_force"])
    height, gap, normal = lin.C
    np.testing.assert_allclose(gap, height, atol=1e-8)
    np.testing.assert_allclose(normal, -1.5 * 7e3 * depth**0.5 * height, rtol=1e-7, atol=1e-6)
    assert np.abs(height).max() > 0.1


def test_the_slip_of_a_ball_ends_when_it_rolls() -> None:
    """u = v - mu g t (1 + m h^2/I) with the height h of the centre; mu N h turns the ball."""
    mu, speed, depth = 0.2, 1.4, (MASS * G / 1e6) ** (1.0 / 1.5)
    system = on_a_floor(-depth, (speed, 0.0, 0.0), stiffness=1e6, friction=mu, slip_speed=1e-4)
    decline = mu * G * (1.0 + MASS * (0.1 - depth) ** 2 / 8e-3)
    t = np.array([0.0, 0.3, 0.6, 1.5]) * speed / decline
    result = mb.simulate(system, t[-1], integrator=mb.DormandPrince(rtol=1e-8), t_eval=t)
    slip = values(result, "floor.slip")
    np.testing.assert_allclose(slip[:3], speed - decline * t[:3], rtol=1e-4)
    assert slip[3] < 1e-5
    velocity, spin = result.velocity("ball")[:, 0], result.angular_velocity("ball")[:, 1]
    np.testing.assert_allclose(slip, np.abs(velocity - (0.1 - depth) * spin), atol=1e-6)
    np.testing.assert_allclose(values(result, "floor.normal_force"), MASS * G, rtol=1e-4)


def test_the_slip_of_a_block_is_its_speed_on_the_table() -> None:
    """A point slides on a table that moves: u = v - mu g t (1 + m/M)."""
    mu, speed, heavy = 0.3, 2.0, 5.0
    system = mb.System("table")
    block = system.add(mb.RigidBody("block", velocity=(speed, 0.0, 0.0), **BALL))
    table = system.add(mb.RigidBody("table", mass=heavy, inertia=(9.0, 9.0, 9.0)))
    system.add(mb.TranslationalJoint("guide", system.ground, table, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    law = {"stiffness": 1e6, "exponent": 1.0, "friction": mu, "slip_speed": 1e-4}
    system.add(mb.PointPlaneContact("c", table, block, plane_point=(0.0, 0.0, MASS * G / 1e6), **law))
    t = np.array([0.0, 0.4, 0.8]) * speed / (mu * G * (1.0 + MASS / heavy))
    result = mb.simulate(system, t[-1], integrator=mb.DormandPrince(rtol=1e-8), t_eval=t)
    np.testing.assert_allclose(values(result, "c.slip"), speed - mu * G * (1.0 + MASS / heavy) * t, rtol=1e-4)
    np.testing.assert_allclose(values(result, "c.gap"), -MASS * G / 1e6, rtol=1e-4)
    np.testing.assert_allclose(values(result, "c.normal_force"), MASS * G, rtol=1e-4)


def test_there_is_no_slip_without_contact() -> None:
    """A ball that spins in its flight over the floor, and two that pass each other."""
    system = on_a_floor(0.3, (2.0, 0.0, 0.0), stiffness=1e5)
    system["ball"].angular_velocity = (0.0, 50.0, 0.0)
    other = system.add(mb.RigidBody("other", position=(0.4, 0.0, 0.5), velocity=(0.0, 1.0, 0.0), **BALL))
    pair = {"radius_i": 0.1, "radius_j": 0.1, "stiffness": 1e5}
    system.add(mb.SphereSphereContact("c", system["ball"], other, **pair))
    result = mb.evaluate(system)
    for name, gap in (("floor", 0.3), ("c", np.hypot(0.4, 0.1) - 0.2)):
        assert values(result, f"{name}.gap")[0] == pytest.approx(gap)
        assert values(result, f"{name}.slip")[0] == values(result, f"{name}.normal_force")[0] == 0.0


def test_two_spheres_that_press_turn_and_slide() -> None:
    """They touch halfway between their surfaces, at x = 0.095; N = k d^1.5 (1 + c d'/v0) for the closing speed d'."""
    system = mb.System("pair", gravity=(0.0, 0.0, 0.0))
    one = system.add(mb.RigidBody("one", angular_velocity=(5.0, 1.0, -3.0), **BALL))
    two = system.add(mb.RigidBody("two", position=(0.29, 0.0, 0.0), velocity=(-0.5, 2.0, 0.3), **BALL))
    two.angular_velocity = (-2.0, 0.5, 4.0)
    law = {"stiffness": 1e6, "restitution": 0.6, "impact_speed": 2.0, "friction": 0.3}
    system.add(mb.SphereSphereContact("c", one, two, radius_i=0.1, radius_j=0.2, **law))
    result = mb.evaluate(system)
    c = brentq(lambda c: c * 1.6 - np.log((1.0 + c) / (1.0 - 0.6 * c)), 1e-3, 1.0 / 0.6 - 1e-9)
    u = (
        np.array([-0.5, 2.0, 0.3])
        + np.cross([-2.0, 0.5, 4.0], [-0.195, 0, 0])
        - np.cross([5.0, 1.0, -3.0], [0.095, 0, 0])
    )
    assert values(result, "c.gap")[0] == pytest.approx(-0.01)
    assert values(result, "c.normal_force")[0] == pytest.approx(1e6 * 0.01**1.5 * (1.0 + c * 0.5 / 2.0))
    assert values(result, "c.normal_force")[0] == pytest.approx(values(result, "c.force.x")[0])
    assert values(result, "c.slip")[0] == pytest.approx(np.hypot(u[1], u[2]))


def test_a_disk_in_the_plane() -> None:
    """On a line it slides while it turns, u = v + R w at its lowest point; pressed in by d it is pushed with k d."""
    system = mb.System("plane", dimension=2)
    disk = system.add(mb.PlanarBody("disk", mass=1.0, inertia=0.005, position=(0.3, 0.099)))
    disk.update(velocity=(2.0, 0.0), angular_velocity=3.0)
    floor = mb.SpherePlaneContact("c", system.ground, disk, radius=0.1, stiffness=1e5, exponent=1.0)
    system.add(floor)
    result = mb.evaluate(system)
    assert values(result, "c.gap")[0] == pytest.approx(-0.001)
    assert values(result, "c.normal_force")[0] == pytest.approx(100.0)
    assert values(result, "c.slip")[0] == pytest.approx(2.0 + 3.0 * 0.099)


def test_a_tire_tells_how_far_it_is_pressed_in() -> None:
    """d = R + h(v t) - z, also in a jump off the road; N = m (z'' + g), zero in the air."""
    system = mb.System("quarter car")
    wheel = system.add(mb.RigidBody("wheel", mass=40.0, inertia=(1.0, 2.0, 1.0), position=(0.0, 0.0, 0.3)))
    system.add(mb.TranslationalJoint("guide", system.ground, wheel, at=(0.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0)))
    road = {"damping": 400.0, "profile": "0.03*sin(4*x)", "speed": 5.0}
    system.add(mb.Tire("tire", system.ground, wheel, radius=0.3, stiffness=2e5, **road))
    result = mb.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 101))
    deflection, normal = values(result, "tire.deflection"), values(result, "tire.normal_force")
    z, acceleration = result.position("wheel")[:, 2], result.acceleration("wheel")[:, 2]
    np.testing.assert_allclose(deflection, 0.3 + 0.03 * np.sin(20.0 * result.t) - z, atol=1e-12)
    np.testing.assert_allclose(normal, 40.0 * (acceleration + G), atol=1e-6)
    flying = deflection < 0.0
    assert flying.any()
    assert not flying.all()
    assert not np.any(normal[flying])
    rest = mb.System("rest")
    wheel = rest.add(
        mb.RigidBody("wheel", mass=40.0, inertia=(1.0, 2.0, 1.0), position=(0.0, 0.0, 0.3 - 40.0 * G / 2e5))
    )
    rest.add(mb.Tire("tire", rest.ground, wheel, radius=0.3, stiffness=2e5))
    result = mb.evaluate(rest)
    assert values(result, "tire.deflection")[0] == pytest.approx(40.0 * G / 2e5)
    assert values(result, "tire.normal_force")[0] == pytest.approx(40.0 * G)


def test_the_error_of_an_actuator_is_what_is_left_to_its_setpoint() -> None:
    """In rad over many turns, in m along an axis; without gains the body goes on as it was."""
    system = mb.System("free", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", velocity=(0.0, 0.0, 0.7), angular_velocity=(0.0, 0.0, 9.0), **BALL))
    placed = {"at": (0.0, 0.0, 0.0), "axis": (0.0, 0.0, 1.0)}
    system.add(mb.PIDActuator("turn", system.ground, body, setpoint="2*t", **placed))
    system.add(mb.PIDActuator("push", system.ground, body, setpoint="1 + t**2", quantity="displacement", **placed))
    result = mb.simulate(system, 3.0, t_eval=np.linspace(0.0, 3.0, 31), integrator=mb.DormandPrince(rtol=1e-10))
    t = result.t
    np.testing.assert_allclose(values(result, "turn.error"), 2.0 * t - 9.0 * t, atol=1e-7)
    np.testing.assert_allclose(values(result, "push.error"), 1.0 + t**2 - 0.7 * t, atol=1e-7)
    assert result.quantity("turn.error").unit == units_of(system)["turn.error"] == "rad"
    assert result.quantity("push.error").unit == units_of(system)["push.error"] == "m"
    with pytest.raises(mb.ModelError, match="there are error"):
        result.output("turn", "eror")


def test_the_error_follows_an_input() -> None:
    system = mb.System("rail", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", **BALL))
    system.add(mb.Input("target", unit="m", value=0.5))
    placed = {"at": (0.0, 0.0, 0.0), "axis": (1.0, 0.0, 0.0), "quantity": "displacement"}
    gains = {"proportional": 20.0, "derivative": 3.0}
    system.add(mb.PIDActuator("pid", system.ground, body, setpoint="target + 0.1*t", **placed, **gains))
    result = mb.simulate(system, 1.0, dt=0.01)
    expected = 0.5 + 0.1 * result.t - result.position("body")[:, 0]
    np.testing.assert_allclose(values(result, "pid.error"), expected, atol=1e-14)
    assert np.ptp(expected) > 0.1
