"""Force elements against closed forms."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import beta

import mbframe as mb
from mbframe.forces.contact import dissipation
from mbframe.state import Motion

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
FREE = (0.0, 0.0, 0.0)
UP = (0.0, 0.0, 1.0)
MASS, INERTIA = 2.0, (0.3, 0.4, 0.5)


def floating(gravity: Any = FREE, **body: Any) -> tuple[mb.System, mb.RigidBody]:
    """A system with one free body."""
    system = mb.System("floating", gravity=gravity)
    return system, system.add(mb.RigidBody("body", mass=MASS, inertia=INERTIA, **body))


def rotor(**body: Any) -> tuple[mb.System, mb.RigidBody]:
    """A body that turns about the global z axis through its centre."""
    system, body = floating(**body)
    system.add(mb.RevoluteJoint("bearing", system.ground, body, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    return system, body


def turned(result: mb.Result) -> Array:
    """Angle of the rotor about z, unwrapped."""
    x = result.rotation("body").as_matrix()[:, :, 0]
    return np.unwrap(np.arctan2(x[:, 1], x[:, 0]))


def linear(t: Array, matrix: Any, start: Any) -> Array:
    """y(t) of y' = matrix y."""
    return np.array([expm(s * np.asarray(matrix)) @ np.asarray(start) for s in t])


# --- torsion springs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, 0.7], ids=["undamped", "damped"])
def test_torsional_pendulum(formulation: mb.Formulation, damping: float) -> None:
    """I theta'' = -k (theta - theta0) - c theta'."""
    k, free, spin, inertia = 18.0, 0.6, 1.5, INERTIA[2]
    system, body = rotor(angular_velocity=(0.0, 0.0, spin))
    spring = mb.TorsionalSpringDamper("t", system.ground, body, at=FREE, axis=UP, stiffness=k, damping=damping)
    spring.free_angle = free
    system.add(spring)
    t = np.linspace(0.0, 3.0, 61)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    expected = linear(t, [[0.0, 1.0], [-k / inertia, -damping / inertia]], [-free, spin])
    np.testing.assert_allclose(turned(result), free + expected[:, 0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity(body)[:, 2], expected[:, 1], rtol=0.0, atol=1e-9)
    energy = 0.5 * inertia * expected[:, 1] ** 2 + 0.5 * k * expected[:, 0] ** 2
    np.testing.assert_allclose(result.energy.total, energy, rtol=1e-9)


def test_torsion_spring_acts_on_both_bodies() -> None:
    """Two rotors on one axis oscillate against each other with w^2 = k (1/I1 + 1/I2)."""
    system, first = rotor(angular_velocity=(0.0, 0.0, 1.0))
    second = system.add(mb.RigidBody("second", mass=1.0, inertia=(0.2, 0.2, 0.3), position=(0.0, 0.0, 1.0)))
    system.add(mb.RevoluteJoint("other bearing", system.ground, second, at=(0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0)))
    system.add(mb.TorsionalSpringDamper("t", first, second, at=(0.0, 0.0, 0.5), axis=UP, stiffness=7.0))
    t = np.linspace(0.0, 3.0, 31)
    result = mb.simulate(system, 3.0, **PRECISE, t_eval=t)
    i1, i2 = INERTIA[2], 0.3
    w = np.sqrt(7.0 * (1.0 / i1 + 1.0 / i2))
    twist = np.cos(w * t)  # of the relative speed, which begins at -1
    mean = i1 / (i1 + i2)
    np.testing.assert_allclose(result.angular_velocity(first)[:, 2], mean + (1 - mean) * twist, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity(second)[:, 2], mean * (1.0 - twist), rtol=0.0, atol=1e-9)


# --- laws -------------------------------------------------------------------------------------------------------------


def stretched(speed: float = 0.0, elongation: float = 0.0, **law: Any) -> tuple[mb.System, mb.RigidBody]:
    """A mass on a spring of free length 1 along x, without gravity."""
    system, body = floating(position=(1.0 + elongation, 0.0, 0.0), velocity=(speed, 0.0, 0.0))
    system.add(mb.SpringDamper("spring", system.ground, body, free_length=1.0, **law))
    return system, body


def elongation(result: mb.Result) -> Array:
    return result.position("body")[:, 0] - 1.0


def test_cubic_spring_has_the_period_of_the_lemniscate() -> None:
    """m x'' = -b x^3 from rest at a: period sqrt(2 m / b) B(1/4, 1/2) / a."""
    a, b = 0.4, 300.0
    period = np.sqrt(2.0 * MASS / b) * beta(0.25, 0.5) / a
    law = mb.Function.polynomial([0.0, 0.0, 0.0, b], "x")
    system, _ = stretched(elongation=a, force=law)
    result = mb.simulate(system, period, **PRECISE, t_eval=np.array([0.0, 0.25, 0.5, 0.75, 1.0]) * period)
    np.testing.assert_allclose(elongation(result), [a, 0.0, -a, 0.0, a], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.energy.total, 0.25 * b * a**4, rtol=1e-10)


def test_piecewise_linear_spring() -> None:
    """Stiffer in tension than in compression: half oscillations of sqrt(k1/m) and sqrt(k2/m) follow each other."""
    k1, k2, speed = 200.0, 50.0, 0.7
    law = mb.Function.piecewise_linear([-1.0, 0.0, 1.0], [-k2, 0.0, k1], "x")
    system, _ = stretched(speed, force=law)
    w1, w2 = np.sqrt(k1 / MASS), np.sqrt(k2 / MASS)
    t = np.linspace(0.0, np.pi / w1 + np.pi / w2, 81)
    late = t - np.pi / w1
    expected = np.where(late < 0.0, speed / w1 * np.sin(w1 * t), -speed / w2 * np.sin(w2 * late))
    result = mb.simulate(system, t[-1], **PRECISE, t_eval=t)
    np.testing.assert_allclose(elongation(result), expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.energy.total, 0.5 * MASS * speed**2, rtol=1e-8)


@pytest.mark.parametrize("kind", ["expression", "table", "callable", "stiffness"])
def test_one_law_in_several_forms(kind: str) -> None:
    """A linear law gives x = v/w sin(w t), however it is written; a natural spline through a line is this line."""
    k, speed, x = 150.0, 0.5, np.linspace(-1.0, 1.0, 9)
    law = {
        "expression": {"force": f"{k}*x"},
        "table": {"force": mb.Function.table(x, k * x, "x")},
        "callable": {"force": lambda x: k * x},
        "stiffness": {"stiffness": k},
    }[kind]
    system, _ = stretched(speed, **law)
    t, w = np.linspace(0.0, 2.0, 21), np.sqrt(k / MASS)
    result = mb.simulate(system, 2.0, **PRECISE, t_eval=t)
    np.testing.assert_allclose(elongation(result), speed / w * np.sin(w * t), rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.energy.total, 0.5 * MASS * speed**2, rtol=1e-10)
    notices = [note for note in result.info.warnings if "is called from Python" in note]
    assert len(notices) == (kind == "callable")
    assert all("force of SpringDamper 'spring' is a Python callable" in note for note in notices)


def test_energy_of_a_law_is_its_integral() -> None:
    """Also with a kink."""
    system, _ = stretched(elongation=0.6, force="50*x + 30*sinh(4*x) + if(x > 0.2, 7*(x - 0.2), 0)")
    expected = 25.0 * 0.6**2 + 7.5 * (np.cosh(2.4) - 1.0) + 3.5 * 0.4**2
    np.testing.assert_allclose(mb.evaluate(system).energy.total, expected, rtol=1e-12)


def test_quadratic_damper() -> None:
    """m v' = -b v |v|: v = v0 / (1 + b v0 t / m)."""
    b, speed = 3.0, 2.0
    system, body = stretched(speed, damping_force=f"{b}*v*abs(v)")
    t = np.linspace(0.0, 2.0, 21)
    result = mb.simulate(system, 2.0, **PRECISE, t_eval=t)
    np.testing.assert_allclose(result.velocity(body)[:, 0], speed / (1.0 + b * speed * t / MASS), rtol=1e-9)


@pytest.mark.parametrize("callable_law", [False, True], ids=["expression", "callable"])
def test_tangent_of_a_law_is_its_slope(callable_law: bool) -> None:
    """Along the spring K = f'(x), across it f(x)/l."""
    law = mb.Function(lambda x: 80.0 * x**3, ["x"]) if callable_law else mb.Function("80*x**3", ["x"])
    system, _ = stretched(elongation=0.5, force=law)
    eq = mb.Equations(system)
    y = eq.coordinates(eq.described())
    tangent = eq.tangent(0.0, *eq.split(y)[:2], np.zeros(eq.n_v), np.zeros(eq.n_rows))
    expected = np.zeros((6, 6))
    expected[0, 0], expected[1, 1], expected[2, 2] = 240.0 * 0.25, 10.0 / 1.5, 10.0 / 1.5
    np.testing.assert_allclose(tangent.stiffness.toarray(), expected, rtol=0.0, atol=1e-9)


def test_law_without_a_finite_value_is_named() -> None:
    system, _ = stretched(-1.0, elongation=0.1, force="0*log(x)")
    with pytest.raises(mb.SimulationError, match=r"SpringDamper 'spring': the value at x = .* log needs a positive"):
        mb.simulate(system, 1.0)


def test_result_keeps_the_law_of_its_run() -> None:
    """The rows point into the function's program, which must outlive a change of the element."""
    system, _ = stretched(elongation=0.3, force="100*x")
    result = mb.simulate(system, 0.1)
    system["spring"].update(force=None, stiffness=0.0)
    np.testing.assert_allclose(result.energy.total[0], 0.5 * 100.0 * 0.09, rtol=1e-12)


# --- bushings ---------------------------------------------------------------------------------------------------------


def general_matrix(seed: int) -> Array:
    root = np.random.default_rng(seed).normal(size=(6, 6))
    return 50.0 * (root @ root.T + 2.0 * np.eye(6))


def test_bushing_at_rest_has_its_matrices_as_tangent() -> None:
    """In the described pose, with the marker's axes along the global ones; damping need not be symmetric."""
    stiffness, damping = general_matrix(1), general_matrix(2) @ np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    system, body = floating()
    system.add(mb.Bushing("b", system.ground, body, at=FREE, stiffness=stiffness, damping=damping))
    eq = mb.Equations(system)
    y = eq.coordinates(eq.described())
    tangent = eq.tangent(0.0, *eq.split(y)[:2], np.zeros(eq.n_v), np.zeros(eq.n_rows))
    np.testing.assert_allclose(tangent.stiffness.toarray(), stiffness, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(tangent.damping.toarray(), damping, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_bushing_static_deflection(formulation: mb.Formulation, axis: int) -> None:
    """Displaced by f/k along an axis and turned about it by theta, it balances f and the torque k sin(theta)."""
    k, angle, force = np.array([100.0, 200.0, 300.0, 40.0, 50.0, 60.0]), 0.7, 15.0
    e = np.eye(3)[axis]
    system, body = floating()
    system.add(mb.Bushing("b", system.ground, body, at=FREE, stiffness=k, damping=0.1 * k))
    system.add(mb.PointForce("f", body, force=force * e))
    system.add(mb.Torque("m", body, torque=k[3 + axis] * np.sin(angle) * e))
    deflected = Motion(force / k[axis] * e, Rotation.from_rotvec(angle * e).as_matrix(), np.zeros(3), np.zeros(3))
    result = mb.evaluate(system, mb.State(0.0, {"body": deflected}), formulation=formulation)
    np.testing.assert_allclose(result.acceleration(body), 0.0, atol=1e-12)
    np.testing.assert_allclose(result.angular_acceleration(body), 0.0, atol=1e-12)
    energy = 0.5 * force**2 / k[axis] + k[3 + axis] * (1.0 - np.cos(angle))
    np.testing.assert_allclose(result.energy.potential, energy, rtol=1e-12)


def test_bushing_oscillations() -> None:
    """Along each axis sqrt(k/m) with damping; small turns with sqrt(k/I)."""
    k, c = np.array([100.0, 200.0, 300.0, 40.0, 50.0, 60.0]), np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    small, velocity = 1e-4, np.array([0.3, -0.2, 0.5])
    system, body = floating(velocity=velocity, angular_velocity=(small, -2 * small, 3 * small))
    system.add(mb.Bushing("b", system.ground, body, at=FREE, stiffness=k, damping=c))
    t = np.linspace(0.0, 2.0, 41)
    result = mb.simulate(system, 2.0, **PRECISE, t_eval=t)
    for axis in range(3):
        motion = linear(t, [[0.0, 1.0], [-k[axis] / MASS, -c[axis] / MASS]], [0.0, velocity[axis]])
        np.testing.assert_allclose(result.position(body)[:, axis], motion[:, 0], rtol=0.0, atol=1e-10)
        spin = small * [1, -2, 3][axis] * np.cos(np.sqrt(k[3 + axis] / INERTIA[axis]) * t)
        np.testing.assert_allclose(result.angular_velocity(body)[:, axis], spin, rtol=0.0, atol=1e-3 * small)


def test_symmetric_bushing_conserves_energy(formulation: mb.Formulation) -> None:
    """With large displacements and turns of two bodies, and couplings between all directions."""
    system, first = floating(angular_velocity=(0.5, 1.0, -2.0), velocity=(1.0, 0.0, 0.0))
    second = system.add(mb.RigidBody("second", mass=1.0, inertia=(0.1, 0.2, 0.2), position=(0.5, 0.0, 0.0)))
    joint = mb.Bushing("b", first, second, at=(0.2, 0.1, 0.0), axis=(1.0, 1.0, 0.0), stiffness=0.1 * general_matrix(3))
    system.add(joint)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE)
    assert result.rotation(second).magnitude().max() > 1.0
    assert np.ptp(result.energy.total) < 1e-9 * result.energy.kinetic.max()


# --- loads ------------------------------------------------------------------------------------------------------------


def test_constant_force_gives_a_parabola(formulation: mb.Formulation) -> None:
    force, velocity = np.array([3.0, -2.0, 1.0]), np.array([0.1, 0.4, -0.2])
    system, body = floating(velocity=velocity, angular_velocity=(0.3, 2.0, 0.1))
    system.add(mb.PointForce("f", body, force=force))
    t = np.linspace(0.0, 2.0, 11)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    expected = np.outer(t, velocity) + np.outer(t**2 / 2.0, force / MASS)
    np.testing.assert_allclose(result.position(body), expected, rtol=0.0, atol=1e-10)


def test_force_as_function_of_time() -> None:
    """m z'' = sin(2 t): z = t/(2 m) - sin(2 t)/(4 m)."""
    system, body = floating()
    system.add(mb.PointForce("f", body, force=(0, 0, "sin(2*t)")))
    t = np.linspace(0.0, 4.0, 41)
    result = mb.simulate(system, 4.0, **PRECISE, t_eval=t)
    expected = t / (2.0 * MASS) - np.sin(2.0 * t) / (4.0 * MASS)
    np.testing.assert_allclose(result.position(body)[:, 2], expected, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.position(body)[:, :2], 0.0, atol=1e-14)


@pytest.mark.parametrize("axes", ["global", "body"])
def test_force_in_axes_of_a_turning_body(formulation: mb.Formulation, axes: str) -> None:
    """A thrust in body axes turns with the body: x'' = f/m cos(w t), y'' = f/m sin(w t)."""
    f, w = 5.0, 3.0
    system, body = floating(angular_velocity=(0.0, 0.0, w))
    system.add(mb.PointForce("f", body, force=(f, 0.0, 0.0), axes=axes))
    t = np.linspace(0.0, 2.0, 21)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    x, y = (1.0 - np.cos(w * t)) / w**2, t / w - np.sin(w * t) / w**2
    if axes == "global":
        x, y = 0.5 * t**2, np.zeros_like(t)
    np.testing.assert_allclose(result.position(body)[:, 0], f / MASS * x, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.position(body)[:, 1], f / MASS * y, rtol=0.0, atol=1e-10)


def test_force_off_the_centre_has_a_moment() -> None:
    system, body = floating()
    system.add(mb.PointForce("f", body, at=(0.5, 0.2, 0.0), force=(0.0, 3.0, 7.0)))
    alpha = mb.evaluate(system).angular_acceleration(body)[0]
    np.testing.assert_allclose(alpha, np.cross([0.5, 0.2, 0.0], [0.0, 3.0, 7.0]) / INERTIA, rtol=1e-13)


@pytest.mark.parametrize("axes", ["global", "body"])
def test_torque_turns_a_body(formulation: mb.Formulation, axes: str) -> None:
    """I w' = m sin(2 t) about a principal axis of a body described in a turned pose."""
    m, turn = 0.8, Rotation.from_rotvec([0.0, 0.0, 0.9])
    system, body = floating(rotation=turn)
    system.add(mb.Torque("m", body, torque=(0.0, 0.0, f"{m}*sin(2*t)"), axes=axes))
    t = np.linspace(0.0, 3.0, 31)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    expected = m / (2.0 * INERTIA[2]) * (1.0 - np.cos(2.0 * t))
    np.testing.assert_allclose(result.angular_velocity(body)[:, 2], expected, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.position(body), 0.0, atol=1e-14)


def test_loads_of_an_included_system_turn_with_it() -> None:
    part, body = floating()
    part.add(mb.PointForce("f", body, force=(6.0, 0.0, "4 + 0*t")))
    system = mb.System("whole", gravity=FREE)
    turn = Rotation.from_rotvec([0.2, -1.1, 0.4])
    copies = system.include(part, "part ", position=(1.0, 2.0, 3.0), rotation=turn)
    found = mb.evaluate(system).acceleration(copies["body"])[0]
    np.testing.assert_allclose(found, turn.apply([3.0, 0.0, 2.0]), rtol=0.0, atol=1e-14)
    assert copies["f"].body_i is system.ground


def test_load_takes_the_ground_of_its_system() -> None:
    system, body = floating()
    force = mb.PointForce("f", body, force=(1.0, 0.0, 0.0))
    assert force.body_i is None
    with pytest.raises(mb.ModelError, match="body_j"):
        mb.System("other").add(force)
    assert system.add(force).body_i is system.ground
    with pytest.raises(mb.ModelError, match="with itself"):
        system.add(mb.Torque("m", system.ground, torque=(1.0, 0.0, 0.0)))


# --- contact ----------------------------------------------------------------------------------------------------------

STEEL = 1e10  # N/m^1.5, of a steel ball of some centimetres


def dropped(height: float, **contact: Any) -> tuple[mb.System, mb.RigidBody]:
    """A ball of radius 0.1 whose lowest point is `height` above the floor."""
    system = mb.System("drop")
    ball = mb.RigidBody("ball", mass=MASS, inertia=(8e-3, 8e-3, 8e-3), position=(0.0, 0.0, 0.1 + height))
    system.add(ball)
    system.add(mb.SpherePlaneContact("floor", system.ground, ball, radius=0.1, **({"stiffness": STEEL} | contact)))
    return system, ball


def rebound(result: mb.Result, speed: float) -> float:
    """Speed with which the ball left the floor divided by that with which it came, from the energy above the floor."""
    height, velocity = result.position("ball")[-1, 2] - 0.1, result.velocity("ball")[-1, 2]
    assert height > 0.0
    assert velocity > 0.0
    return float(np.sqrt(velocity**2 + 2.0 * 9.81 * height) / speed)


@pytest.mark.sample
@pytest.mark.parametrize("restitution", [0.2, 0.35, 0.5, 0.65, 0.8, 0.9])
@pytest.mark.parametrize("height", [0.1, 2.0])
@pytest.mark.parametrize("exponent", [1.5, 1.0])
def test_restitution_of_a_drop(restitution: float, height: float, exponent: float) -> None:
    """Whatever the height: the speed of the impact is sensed. A stiff contact, so that the weight has no influence."""
    stiffness = STEEL if exponent == 1.5 else 1e9
    system, _ = dropped(height, restitution=restitution, exponent=exponent, stiffness=stiffness)
    speed = np.sqrt(2.0 * 9.81 * height)
    result = mb.simulate(system, speed / 9.81 * (1.0 + 0.5 * restitution), integrator=mb.DormandPrince(rtol=1e-9))
    assert rebound(result, speed) == pytest.approx(restitution, rel=0.01)


def test_restitution_with_default_settings() -> None:
    system, _ = dropped(0.5, restitution=0.7, stiffness=1e8)
    speed = np.sqrt(2.0 * 9.81 * 0.5)
    assert rebound(mb.simulate(system, speed / 9.81 * 1.3), speed) == pytest.approx(0.7, rel=0.01)


@pytest.mark.parametrize("speed", [0.5, 2.0, 4.0])
def test_restitution_of_a_given_impact_speed(speed: float) -> None:
    """The constant dissipation of Hunt and Crossley: e at the given speed 2 m/s, more elastic below, less above."""
    c = brentq(lambda c: c * 1.6 - np.log((1.0 + c) / (1.0 - 0.6 * c)), 1e-3, 1.0 / 0.6 - 1e-9) * speed / 2.0
    expected = brentq(lambda e: c * (1.0 + e) - np.log((1.0 + c) / (1.0 - c * e)), 1e-3, min(1.0, 1.0 / c) - 1e-9)
    system, _ = dropped(0.05, restitution=0.6, impact_speed=2.0)
    system.gravity = FREE
    system["ball"].velocity = (0.0, 0.0, -speed)
    result = mb.simulate(system, 0.1 / speed, integrator=mb.DormandPrince(rtol=1e-10))
    assert result.velocity("ball")[-1, 2] / speed == pytest.approx(expected, rel=1e-4)
    assert (expected == pytest.approx(0.6)) == (speed == 2.0)


def test_dissipation_tends_to_the_published_factors() -> None:
    """3 (1 - e)/2 and 3 (1 - e^2)/4 for e near 1."""
    for e in (0.99, 0.999):
        assert dissipation(e) == pytest.approx(1.5 * (1.0 - e), rel=2.0 * (1.0 - e))
        assert dissipation(e) == pytest.approx(0.75 * (1.0 - e * e), rel=2.0 * (1.0 - e))
    assert dissipation(1.0) == 0.0


def test_elastic_bounces_keep_the_energy() -> None:
    system, _ = dropped(0.3, stiffness=1e7)
    fall = np.sqrt(2.0 * 0.3 / 9.81)
    result = mb.simulate(system, 10.0 * fall, integrator=mb.DormandPrince(rtol=1e-10))
    bounces = np.sum(np.diff(np.sign(result.velocity("ball")[:, 2])) > 0)
    assert bounces >= 4
    scale = MASS * 9.81 * 0.3
    np.testing.assert_allclose(result.energy.total, result.energy.total[0], rtol=0.0, atol=1e-6 * scale)


def test_contact_never_pulls_and_comes_to_rest() -> None:
    """Lossy bounces end at the depth where k d^n = m g; meanwhile the floor only pushes."""
    system, ball = dropped(0.05, stiffness=1e5, restitution=0.3)
    result = mb.simulate(system, 2.0, integrator=mb.DormandPrince(rtol=1e-8))
    assert result.acceleration(ball)[:, 2].min() > -9.81 - 1e-9
    depth = (MASS * 9.81 / 1e5) ** (1.0 / 1.5)
    np.testing.assert_allclose(result.position(ball)[-1], [0.0, 0.0, 0.1 - depth], rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("restitution", [0.4, 0.8, 1.0])
def test_collision_of_two_spheres(formulation: mb.Formulation, restitution: float) -> None:
    """Along an oblique line: momentum is kept, and the relative speed is multiplied by -e."""
    along = np.array([2.0, -1.0, 2.0]) / 3.0
    system = mb.System("collision", gravity=FREE)
    shape = {"inertia": (0.01, 0.01, 0.01)}
    one = system.add(mb.RigidBody("one", mass=1.0, velocity=2.0 * along, **shape))
    two = system.add(mb.RigidBody("two", mass=3.0, position=0.5 * along, velocity=-0.5 * along, **shape))
    law = {"stiffness": 1e7, "restitution": restitution}
    system.add(mb.SphereSphereContact("c", one, two, radius_i=0.1, radius_j=0.2, **law))
    result = mb.simulate(system, 0.3, formulation=formulation, integrator=mb.DormandPrince(rtol=1e-10))
    mean = (2.0 - 3.0 * 0.5) / 4.0
    away = restitution * 2.5
    np.testing.assert_allclose(result.velocity(one)[-1], (mean - 0.75 * away) * along, rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(result.velocity(two)[-1], (mean + 0.25 * away) * along, rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(result.momentum.linear, np.tile(4.0 * mean * along, (len(result), 1)), atol=1e-9)


def test_sliding_ball_begins_to_roll() -> None:
    """A ball set down with the speed v slides with -mu g until it rolls: the impulse J of friction gives both
    m (v - v_end) = J and I v_end / r = J r, with the distance r of its centre from the plane.
    """
    mu, speed, depth = 0.2, 1.4, (MASS * 9.81 / 1e6) ** (1.0 / 1.5)
    system, ball = dropped(-depth, stiffness=1e6, friction=mu, slip_speed=1e-4)
    ball.velocity = (speed, 0.0, 0.0)
    end = speed / (1.0 + 8e-3 / (MASS * (0.1 - depth) ** 2))
    rolls = (speed - end) / (mu * 9.81)
    t = np.array([0.0, 0.5 * rolls, 1.5 * rolls])
    result = mb.simulate(system, t[-1], integrator=mb.DormandPrince(rtol=1e-8), t_eval=t)
    np.testing.assert_allclose(result.velocity(ball)[:, 0], [speed, speed - mu * 9.81 * t[1], end], rtol=1e-5)
    np.testing.assert_allclose(result.angular_velocity(ball)[-1, 1], end / (0.1 - depth), rtol=1e-5)


def test_sliding_point_on_a_moving_plane() -> None:
    """A body that touches with its centre of mass slides on a heavy table: friction pulls them to a common speed."""
    mu, speed, heavy = 0.3, 2.0, 5.0
    system, body = floating(gravity=(0.0, 0.0, -9.81), velocity=(speed, 0.0, 0.0))
    table = system.add(mb.RigidBody("table", mass=heavy, inertia=(9.0, 9.0, 9.0), position=(0.0, 0.0, -0.2)))
    system.add(mb.TranslationalJoint("guide", system.ground, table, at=(0.0, 0.0, -0.2), axis=(1.0, 0.0, 0.0)))
    law = {"stiffness": 1e6, "exponent": 1.0, "friction": mu, "slip_speed": 1e-4}
    contact = mb.PointPlaneContact("c", table, body, plane_point=(0.0, 0.0, MASS * 9.81 / 1e6), **law)
    system.add(contact)
    stops = speed / (mu * 9.81 * (1.0 + MASS / heavy))
    t = np.array([0.5, 1.5]) * stops
    result = mb.simulate(system, t[-1], integrator=mb.DormandPrince(rtol=1e-8), t_eval=t)
    common = MASS * speed / (MASS + heavy)
    np.testing.assert_allclose(result.velocity(body)[:, 0], [speed - mu * 9.81 * t[0], common], rtol=1e-4)
    np.testing.assert_allclose(result.velocity(table)[:, 0], [mu * 9.81 * MASS / heavy * t[0], common], rtol=1e-4)


# --- actuators --------------------------------------------------------------------------------------------------------


def controlled(t: Array, inertia: float, gains: tuple[float, float, float], value: float, rate: float) -> Array:
    """x(t) of inertia x'' = P e + I z + D e', z' = e = value + rate t - x, from rest."""
    p, i, d = gains
    # y = (x, x', z, w, 1) with the setpoint w' = rate
    matrix = [
        [0.0, 1.0, 0.0, 0.0, 0.0],
        [-p / inertia, -d / inertia, i / inertia, p / inertia, d * rate / inertia],
        [-1.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, rate],
        [0.0, 0.0, 0.0, 0.0, 0.0],
    ]
    return linear(t, matrix, [0.0, 0.0, 0.0, value, 1.0])[:, 0]


@pytest.mark.parametrize(("value", "rate"), [(0.3, 0.0), (0.0, 0.4)], ids=["step", "ramp"])
@pytest.mark.parametrize("quantity", ["angle", "displacement"])
def test_pid_actuator(formulation: mb.Formulation, quantity: str, value: float, rate: float) -> None:
    gains, t = (30.0, 25.0, 4.0), np.linspace(0.0, 4.0, 41)
    system, body = rotor() if quantity == "angle" else floating()
    actuator = mb.PIDActuator("pid", system.ground, body, at=FREE, axis=UP, quantity=quantity)
    actuator.update(setpoint=f"{value} + {rate}*t", proportional=gains[0], integral=gains[1], derivative=gains[2])
    system.add(actuator)
    result = mb.simulate(system, 4.0, formulation=formulation, **PRECISE, t_eval=t)
    found = turned(result) if quantity == "angle" else result.position(body)[:, 2]
    expected = controlled(t, INERTIA[2] if quantity == "angle" else MASS, gains, value, rate)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)


def test_integral_part_carries_a_load() -> None:
    """The integral state of a settled actuator holds the weight: I z = m g."""
    system, body = floating(gravity=(0.0, 0.0, -9.81))
    system.add(mb.PIDActuator("pid", system.ground, body, at=FREE, axis=UP, quantity="displacement", proportional=60.0))
    system["pid"].update(integral=50.0, derivative=20.0)
    result = mb.simulate(system, 40.0)
    np.testing.assert_allclose(result.position(body)[-1], 0.0, atol=1e-5)
    np.testing.assert_allclose(50.0 * result.element_states("pid")[-1], MASS * 9.81, rtol=1e-5)
