"""Steady motions: bodies whose inertia is that of a ball, drivers, flexible rotors, turns of the bicycle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

import mbframe as mb

X, Y, Z = np.eye(3)
LENGTH = 0.9  # m, from the hinge to the centre of the ball


def hung_ball(system: mb.System, carrier: mb.Body, axis: ArrayLike) -> mb.RigidBody:
    """A ball that hangs on a hinge at the origin, straight down in z."""
    ball = system.add(mb.RigidBody("ball", mass=1.2, inertia=(0.01, 0.01, 0.01), position=(0, 0, -LENGTH)))
    system.add(mb.RevoluteJoint("hinge", carrier, ball, at=(0, 0, 0), axis=axis))
    return ball


@pytest.mark.parametrize("rate", [0.0, None])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.8, 0.0)])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (3.0, 0.0, -9.0), (5.0, 1.0, -8.0)])
def test_ball_on_a_hinge_hangs_along_gravity(
    gravity: tuple[float, ...], axis: tuple[float, ...], rate: float | None
) -> None:
    """It hangs along the part of gravity across the hinge. That it may begin to swing is no steady motion."""
    system = mb.System("ball on a hinge", gravity=gravity)
    hung_ball(system, system.ground, axis)
    across = np.array(gravity) - np.dot(gravity, axis) * np.array(axis)
    found = mb.steady(system, rate=rate)
    np.testing.assert_allclose(found.position("ball"), LENGTH * across / np.linalg.norm(across), atol=1e-10)
    np.testing.assert_allclose(found.velocity("ball"), 0.0, atol=1e-12)
    frequencies = [mode.frequency for mode in mb.linearize(system, found).modes]
    expected = np.sqrt(1.2 * np.linalg.norm(across) * LENGTH / (0.01 + 1.2 * LENGTH**2)) / (2.0 * np.pi)
    np.testing.assert_allclose(frequencies, expected, rtol=1e-9)


def test_ball_leans_while_its_cart_runs_on() -> None:
    """The cart may run along its rail at any speed, the ball hangs along gravity, which is inclined across the rail."""
    system = mb.System("ball on a cart", gravity=(0.0, 2.0, -9.0))
    cart = system.add(mb.RigidBody("cart", mass=3.0, inertia=(0.1, 0.2, 0.3), velocity=(1.0, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    hung_ball(system, cart, (1.0, 0.0, 0.0)).velocity = (1.0, 0.0, 0.0)
    found = mb.steady(system, given=[(lambda state: float(state.velocity("cart")[0]), 1.5)])
    place = found.position("ball") - found.position("cart")
    np.testing.assert_allclose(place, LENGTH * np.array([0.0, 2.0, -9.0]) / np.sqrt(85.0), atol=1e-10)
    np.testing.assert_allclose([found.velocity(name) for name in ("cart", "ball")], [[1.5, 0, 0]] * 2, atol=1e-10)


@pytest.mark.parametrize("rate", [0.0, None])
def test_upright_rotor_may_spin_at_any_rate(rate: float | None) -> None:
    """A turn of the whole and the opposite spin of the only body are no motion: the rate of the frame stays open."""
    system = mb.System("rotor")
    rotor = system.add(mb.RigidBody("rotor", mass=1.0, inertia=(0.2, 0.2, 0.3), angular_velocity=(0, 0, 4.0)))
    system.add(mb.RevoluteJoint("bearing", system.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    found = mb.steady(system, rate=rate, given=[(lambda state: float(state.angular_velocity("rotor")[2]), 5.0)])
    np.testing.assert_allclose(found.angular_velocity("rotor"), [0.0, 0.0, 5.0], atol=1e-10)
    assert rate is None or found.frame.rate == pytest.approx(rate, abs=1e-12)


def test_sleigh_comes_to_a_straight_run() -> None:
    """m a w^2 along the blade and m a u w about it have no balance but w = 0, where the first vanishes twice."""
    found = mb.steady(mb.examples.chaplygin_sleigh())
    spin, speed = found.angular_velocity("sleigh")[2], np.linalg.norm(found.velocity("sleigh"))
    assert abs(0.4 * spin**2) < 1e-10 * 9.81
    assert abs(0.4 * spin * speed) < 1e-10 * 9.81
    assert found.frame.rate == pytest.approx(spin, abs=1e-12)


def test_sleigh_runs_straight_at_any_speed() -> None:
    found = mb.steady(
        mb.examples.chaplygin_sleigh(spin=0.01),
        rate=0.0,
        given=[(lambda state: float(state.velocity("sleigh")[0]), 2.0)],
    )
    assert found.velocity("sleigh")[0] == pytest.approx(2.0, abs=1e-10)
    np.testing.assert_allclose(found.angular_velocity("sleigh"), 0.0, atol=1e-10)


def test_sleigh_has_no_steady_turn() -> None:
    with pytest.raises(mb.AnalysisError, match="of the loads is left without balance"):
        mb.steady(mb.examples.chaplygin_sleigh(), rate=1.0)


def test_quantity_without_a_value_is_told() -> None:
    with pytest.raises(mb.AnalysisError, match="a given quantity is not a finite number"):
        mb.steady(mb.examples.rolling_disk(), given=[(lambda state: float("nan"), 0.1)])


# --- drivers, flexible rotors, turns of the bicycle -------------------------------------------------------------------


def driven_pendulum(rate: float) -> mb.System:
    """A pendulum of point-like mass on a hub that a motor turns about the vertical; its hinge lies on the axis."""
    system = mb.System("governor")
    hub = system.add(mb.RigidBody("hub", mass=1.0, inertia=(0.2, 0.2, 0.3)))
    shaft = system.add(mb.RevoluteJoint("shaft", system.ground, hub, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("motor", shaft, angle=f"{rate}*t"))
    bob = mb.RigidBody("bob", mass=1.0, inertia=(1e-9, 1e-9, 1e-9), position=(0.5 * np.sin(1.0), 0, -0.5 * np.cos(1.0)))
    system.add(bob)
    system.add(mb.RevoluteJoint("pin", hub, bob, at=(0, 0, 0), axis=Y))
    return system


def test_steady_motion_with_a_driver_of_constant_rate() -> None:
    """cos(angle) = g/(l w^2), and small changes of the angle swing with w sin(angle)."""
    rate, length = 6.0, 0.5
    system = driven_pendulum(rate)
    found = mb.steady(system)
    assert found.frame.rate == pytest.approx(rate, rel=1e-12)
    cosine = 9.81 / (length * rate**2)
    assert -found.position("bob")[2] == pytest.approx(length * cosine, rel=1e-6)  # the bob is not quite a point
    roots = mb.linearize(system, found).eigenvalues
    expected = rate * np.sqrt(1.0 - cosine**2)
    np.testing.assert_allclose(np.sort(roots.imag), [-expected, expected], rtol=1e-6)
    np.testing.assert_allclose(roots.real, 0.0, atol=1e-9)


def test_a_driver_across_the_axis_is_no_steady_motion() -> None:
    system = mb.System("tilting")
    hub = system.add(mb.RigidBody("hub", mass=1.0, inertia=(0.2, 0.3, 0.4)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, hub, at=(0, 0, 0), axis=X))
    system.add(mb.Driver("motor", hinge, angle="3*t"))
    with pytest.raises(mb.AnalysisError, match=r"'motor' drives a motion that is not steady.*pass another axis="):
        mb.steady(system)
    assert mb.steady(system, axis=X).frame.rate == pytest.approx(3.0)


@pytest.mark.parametrize("angle", ["sin(t)", "t + 0.5*t**2", "if(t < 0.2, 2*t, 0.4 + t)"])
def test_a_driver_whose_rate_changes_is_no_steady_motion(angle: str) -> None:
    """It was taken for steady where its acceleration is zero at the start alone."""
    system = mb.System("shaken")
    hub = system.add(mb.RigidBody("hub", mass=1.0, inertia=(0.2, 0.2, 0.4)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, hub, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("motor", hinge, angle=angle))
    with pytest.raises(mb.AnalysisError, match=r"Driver 'motor', angle: .*not steady.*constant rate"):
        mb.steady(system)


def flexible_rotor(gravity: float) -> mb.System:
    """A shaft in two bearings along x that turns with 20 rad/s."""
    part = mb.flexible.beam(
        length=1.0,
        elements=4,
        area=1e-4,
        second_moments=(8e-10, 8e-10),
        torsion=1.6e-9,
        young=2.1e11,
        shear=8.1e10,
        density=7850.0,
    )
    system = mb.System("rotor", gravity=(0, 0, -gravity))
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 4], n_modes=2)
    shaft = system.add(mb.FlexibleBody("shaft", modes, angular_velocity=20.0 * X))
    system.add(mb.RevoluteJoint("left", system.ground, shaft, at=(0, 0, 0), axis=X))
    system.add(mb.PointOnLineJoint("right", system.ground, shaft, at=(1, 0, 0), axis=X))
    return system


def test_a_flexible_rotor_keeps_its_spin() -> None:
    system = flexible_rotor(0.0)
    found = mb.steady(system)
    np.testing.assert_allclose(found.frame.angular_velocity, 20.0 * X, rtol=1e-12)
    assert mb.linearize(system, found).stable
    with pytest.raises(mb.AnalysisError, match=r"pass frame=mb.TurningFrame\(axis=\(1, 0, 0\), rate=20\)"):
        mb.linearize(system)
    with pytest.raises(mb.AnalysisError, match=r"'shaft' turns with \(20, 0, 0\) rad/s.*pass axis= and rate="):
        mb.steady(flexible_rotor(9.81))


@pytest.mark.parametrize("speed", [2.0, 5.0, 8.0])
def test_hands_free_turn_of_the_bicycle_from_any_speed(speed: float) -> None:
    """With free steer a turn has one speed of its own, just below that at which the straight run capsizes."""
    bicycle = mb.examples.whipple_bicycle(speed=speed)
    found = mb.steady(bicycle, rate=0.2)
    assert found.residual < 1e-10
    speeds = [float(np.linalg.norm(m.velocity)) for m in found.motions.values()]
    assert max(speeds) == pytest.approx(6.0, abs=0.05)
    assert mb.linearize(bicycle, found).residuals.max() < 1e-10


@pytest.mark.parametrize("free_angle", [0.0, 4.0, -9.0])
@pytest.mark.parametrize("slow", [None, 3.2, -5.0])
def test_a_driven_rotor_carries_a_wheel_on_a_torsion_spring(free_angle: float, slow: float | None) -> None:
    """The wheel finds its place, turns of the spring counted, and swings there; the driver's turns are counted too.

    In the frame of the rotor a body that hardly turns against it is watched for a long time, many turns of the driver.
    """
    rate, stiffness, damping, inertia = 3.0, 50.0, 0.1, 0.8
    system = mb.System("driven", gravity=(0, 0, 0))
    rotor = system.add(mb.RigidBody("rotor", mass=1.0, inertia=(1, 1, 2), angular_velocity=rate * Z))
    shaft = system.add(mb.RevoluteJoint("shaft", system.ground, rotor, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("motor", shaft, angle=f"{rate}*t"))
    wheel = mb.RigidBody("wheel", mass=1.0, inertia=(0.5, 0.5, inertia), position=Z, angular_velocity=rate * Z)
    system.add(mb.RevoluteJoint("bearing", rotor, system.add(wheel), at=Z, axis=Z))
    spring = mb.TorsionalSpringDamper("spring", rotor, wheel, at=Z, axis=Z, stiffness=stiffness, damping=damping)
    spring.update(free_angle=free_angle)
    system.add(spring)
    geared = system.add(
        mb.RigidBody("geared", mass=1.0, inertia=(1, 1, 1), position=X, angular_velocity=-2.0 * rate * Z)
    )
    second = system.add(mb.RevoluteJoint("second", system.ground, geared, at=X, axis=Z))
    system.add(mb.GearJoint("gear", shaft, second, ratio=-0.5))
    if slow is not None:
        body = system.add(mb.RigidBody("slow", mass=1.0, inertia=(1, 1, 2), position=2 * Z, angular_velocity=slow * Z))
        system.add(mb.RevoluteJoint("slow bearing", rotor, body, at=2 * Z, axis=Z))
    state = mb.steady(system)
    assert state.element_states["spring.counted_angle"][0] == pytest.approx(free_angle, abs=1e-9)
    size = np.sqrt(stiffness / inertia - (0.5 * damping / inertia) ** 2)
    expected = -0.5 * damping / inertia + 1j * size
    later = mb.simulate(system, 7.0, initial=state).state(-1)  # every angle has turned by many turns
    for where in (state, later):
        for frame in (None, mb.TurningFrame(Z, rate)):
            lin = mb.linearize(system, where, frame=frame or mb.TurningFrame())
            roots = [root.value for root in lin.roots if not root.explanation]
            np.testing.assert_allclose(sorted(roots, key=lambda r: r.imag), [np.conj(expected), expected], rtol=1e-5)


def test_a_wheel_that_a_torsion_spring_holds_to_the_ground_does_not_turn_with_its_rotor() -> None:
    """It would wind its spring: of all spins only those that leave the loads as they are are steady."""
    rate, stiffness, inertia = 3.0, 50.0, 0.8
    system = mb.System("held", gravity=(0, 0, 0))
    rotor = system.add(mb.RigidBody("rotor", mass=1.0, inertia=(1, 1, 2), angular_velocity=rate * Z))
    shaft = system.add(mb.RevoluteJoint("shaft", system.ground, rotor, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("motor", shaft, angle=f"{rate}*t"))
    wheel = mb.RigidBody("wheel", mass=1.0, inertia=(0.5, 0.5, inertia), position=Z, angular_velocity=rate * Z)
    system.add(mb.RevoluteJoint("bearing", rotor, system.add(wheel), at=Z, axis=Z))
    spring = mb.TorsionalSpringDamper("spring", system.ground, wheel, at=Z, axis=Z, stiffness=stiffness, free_angle=4.0)
    system.add(spring)
    state = mb.steady(system)
    assert state.motions["wheel"].angular_velocity == pytest.approx(np.zeros(3), abs=1e-9)
    assert state.motions["rotor"].angular_velocity == pytest.approx(rate * Z)
    size = np.sqrt(stiffness / inertia)
    np.testing.assert_allclose(mb.linearize(system, state).eigenvalues.imag, [-size, size], rtol=1e-9)
