"""Driven mechanisms against the closed forms of their motion, and the forces that drive them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import mbframe as mb

from .mechanisms import FourBar, Z, bar, slider_crank

FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles("ZXY")]
MOTION = "2*pi*t + 0.3*sin(3*t)"
T = np.linspace(0.0, 2.0, 81)
THETA, OMEGA, ALPHA = 2 * np.pi * T + 0.3 * np.sin(3 * T), 2 * np.pi + 0.9 * np.cos(3 * T), -2.7 * np.sin(3 * T)


def assert_exact(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    """Equal to the tolerance, relative to the largest expected number (or to 1, if all are smaller)."""
    assert np.abs(found - expected).max() < tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_driven_slider_crank(formulation: mb.Formulation) -> None:
    r, l = 0.1, 0.3
    system = slider_crank(r, l)
    system.add(mb.Driver("motor", system["A"], angle=MOTION))
    result = mb.kinematics(system, T, formulation=formulation)
    root = np.sqrt(l**2 - (r * np.sin(THETA)) ** 2)
    x = r * np.cos(THETA) + root
    slope = -r * np.sin(THETA) - r**2 * np.sin(THETA) * np.cos(THETA) / root
    bend = -r * np.cos(THETA) - r**2 * np.cos(2 * THETA) / root - (r**2 * np.sin(THETA) * np.cos(THETA)) ** 2 / root**3
    assert_exact(result.position("slider")[:, 0], x)
    assert_exact(result.velocity("slider")[:, 0], slope * OMEGA)
    assert_exact(result.acceleration("slider")[:, 0], bend * OMEGA**2 + slope * ALPHA)
    assert result.violation.position.max() < 1e-13
    assert result.info.warnings == []


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_driven_four_bar(formulation: mb.Formulation) -> None:
    mechanism = FourBar()
    system = mechanism.system()
    system.add(mb.Driver("motor", system["A"], angle=MOTION))
    result = mb.kinematics(system, T, formulation=formulation)
    _, _, rocker = mechanism.arms(THETA)
    w2, w3, a2, a3 = mechanism.rates(THETA, OMEGA, ALPHA)
    assert_exact(result.position("rocker") @ (1.0, 1j, 0.0), 0.9 + rocker / 2)
    assert_exact(result.angular_velocity("coupler")[:, 2], w2)
    assert_exact(result.angular_velocity("rocker")[:, 2], w3)
    assert_exact(result.angular_acceleration("coupler")[:, 2], a2)
    assert_exact(result.angular_acceleration("rocker")[:, 2], a3)
    middle = result.acceleration("rocker") @ (1.0, 1j, 0.0)
    assert_exact(middle, 0.5 * rocker * (1j * a3 - w3**2))


def test_inverse_dynamics_gives_the_torque_of_the_equation_of_motion() -> None:
    """A pendulum: m (l^2 + k^2) theta'' = torque - m g l cos(theta). The hinge carries the rest."""
    system = mb.System("pendulum", gravity=(0.0, -9.81, 0.0))
    pendulum = system.add(mb.RigidBody("pendulum", mass=2.0, inertia=(0.2, 0.2, 0.3), position=(0.5, 0.0, 0.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, pendulum, at=(0.0, 0.0, 0.0), axis=Z))
    motor = system.add(mb.Driver("motor", hinge, angle=MOTION))
    result = mb.inverse_dynamics(system, T)
    torque = (0.3 + 2.0 * 0.25) * ALPHA + 2.0 * 9.81 * 0.5 * np.cos(THETA)
    assert_exact(result.driving_force(motor), torque, 1e-11)
    assert_exact(result.reaction(motor).torque, np.outer(torque, Z), 1e-11)
    assert_exact(result.reaction(motor).force, np.zeros((len(T), 3)))
    radial = np.column_stack([np.cos(THETA), np.sin(THETA), np.zeros(len(T))])
    tangential = np.cross(Z, radial)
    path = 0.5 * (ALPHA[:, None] * tangential - OMEGA[:, None] ** 2 * radial)
    assert_exact(result.reaction(hinge).force, 2.0 * (path - [0.0, -9.81, 0.0]), 1e-11)


@pytest.mark.parametrize("build", [slider_crank, FourBar().system], ids=["slider-crank", "four-bar"])
def test_forward_dynamics_with_the_driving_torque_repeats_the_motion(build: Callable[[], mb.System]) -> None:
    """Drive, read the torque, remove the driver, apply the torque as a table of time.

    The table is longer than the run, because a natural spline is less exact at its ends.
    """
    times = np.linspace(-0.05, 1.05, 2201)
    run = slice(100, 2101, 100)
    system = build()
    motor = system.add(mb.Driver("motor", system["A"], angle=MOTION))
    driven = mb.inverse_dynamics(system, times)
    torque = mb.Function.table(times, driven.driving_force(motor), interpolation="spline")
    system.remove(motor)
    system.add(mb.Torque("torque", system["crank"], torque=(0.0, 0.0, torque)))
    tight = mb.DormandPrince(rtol=1e-11, atol=1e-12)
    free = mb.simulate(system, 1.0, initial=driven.state(100), t_eval=times[run], integrator=tight)
    for body in system.bodies:
        assert np.abs(free.position(body) - driven.position(body)[run]).max() < 1e-8
        assert np.abs(free.angular_velocity(body) - driven.angular_velocity(body)[run]).max() < 1e-8


def test_power_of_the_drivers_is_the_rate_of_energy() -> None:
    """Two drivers and a point driven along a path, in simulate: the energy changes by the work that they do."""
    system = mb.System("robot")
    arm = system.add(mb.RigidBody("arm", mass=2.0, inertia=(0.1, 0.2, 0.2), position=(0.5, 0.0, 0.0)))
    hand = system.add(mb.RigidBody("hand", mass=1.0, inertia=(0.02, 0.03, 0.03), position=(1.2, 0.0, 0.0)))
    load = system.add(mb.RigidBody("load", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(1.2, 0.0, -0.5)))
    shoulder = system.add(mb.CylindricalJoint("shoulder", system.ground, arm, at=(0.0, 0.0, 0.0), axis=Z))
    slide = system.add(mb.TranslationalJoint("slide", arm, hand, at=(1.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    drivers = [
        mb.Driver("turn", shoulder, angle="3*t**2 + t"),
        mb.Driver("lift", shoulder, displacement="0.2*sin(4*t)"),
        mb.Driver("reach", slide, displacement="0.1*t + 0.05*sin(5*t)"),
        mb.PointDriver("swing", hand, load, at=(1.2, 0.0, -0.4), x="0.1*sin(3*t)", y="0.1*(1 - cos(3*t))", z=0.0),
    ]
    for driver in drivers:
        system.add(driver)
    result = mb.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 401), integrator=mb.DormandPrince(rtol=1e-11))
    power = np.zeros(len(result.t))
    for driver in drivers:
        rates = np.array([f.derivative(result.t) for f in driver.functions().values()]).T
        power += np.sum(result.driving_force(driver).reshape(rates.shape) * rates, axis=1)
    work = cumulative_simpson(power, x=result.t, initial=0.0)
    energy = result.energy.total - result.energy.total[0]
    assert np.abs(energy).max() > 1.0
    assert_exact(work, energy, 1e-7)  # Simpson's rule


def test_prescribed_length_lifts_a_bar() -> None:
    """A jack of length l(t) between (0, -h) and the bar's end: the cosine rule gives the bar's angle."""
    system = mb.System("jack", gravity=(0.0, -9.81, 0.0))
    beam = bar(system, "beam", 0.0, 1.0, 3.0)
    system.add(mb.RevoluteJoint("hinge", system.ground, beam, at=(0.0, 0.0, 0.0), axis=Z))
    length = system.add(mb.Distance("length", system.ground, beam, at_i=(0.0, -1.0, 0.0), at_j=(1.0, 0.0, 0.0)))
    jack = system.add(mb.Prescribed("jack", length, value="sqrt(2) + 0.1*t**2"))
    result = mb.inverse_dynamics(system, T)
    wanted = np.sqrt(2.0) + 0.1 * T**2
    assert_exact(result.measure(length), wanted)
    angle = np.arcsin((wanted**2 - 2.0) / 2.0)  # l^2 = 2 + 2 sin(angle)
    assert_exact(result.position(beam)[:, 1], 0.5 * np.sin(angle))
    # Power of the jack's force: that of gravity and the rate of kinetic energy.
    rate = result.angular_velocity(beam)[:, 2]
    needed = (3.0 / 3.0) * result.angular_acceleration(beam)[:, 2] * rate + 3.0 * 9.81 * result.velocity(beam)[:, 1]
    assert_exact(result.driving_force(jack) * 0.2 * T, needed, 1e-11)


def test_turns_are_counted_over_gears_and_far_instants() -> None:
    """Instants that lie turns apart; a gear turns backwards three times as slow."""
    system = mb.System("gears", gravity=(0.0, 0.0, 0.0))
    one, two = (
        system.add(mb.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.2), position=(x, 0.0, 0.0)))
        for name, x in (("one", 0.0), ("two", 0.4))
    )
    first = system.add(mb.RevoluteJoint("first", system.ground, one, at=(0.0, 0.0, 0.0), axis=Z))
    second = system.add(mb.RevoluteJoint("second", system.ground, two, at=(0.4, 0.0, 0.0), axis=Z))
    system.add(mb.GearJoint("gear", first, second, ratio=-3.0))
    system.add(mb.Driver("motor", first, angle="20*t + 3*t**2"))
    times = np.array([0.0, 0.7, 3.1, 5.0])
    result = mb.kinematics(system, times)
    angle = 20 * times + 3 * times**2
    for name, turned in (("one", angle), ("two", -angle / 3)):
        x = result.rotation(name).apply([1.0, 0.0, 0.0])
        assert_exact(x[:, :2], np.column_stack([np.cos(turned), np.sin(turned)]))
    assert_exact(mb.simulate(system, 5.0, t_eval=times).angular_velocity("two")[:, 2], -(20 + 6 * times) / 3, 1e-10)


def test_parallelogram_passes_its_flat_position_and_reports_it() -> None:
    system = FourBar(0.3, 0.9, 0.3, 0.9).system(0.4)
    system.add(mb.Driver("motor", system["A"], angle="2*pi*t"))
    flat = 0.5 - 0.4 / (2 * np.pi)  # the crank along the base
    times = np.sort(np.append(np.linspace(0.0, 1.0, 41), flat))
    result = mb.kinematics(system, times)
    turned = 0.4 + 2 * np.pi * times
    assert np.abs(result.position("rocker") @ (1.0, 1j, 0.0) - 0.9 - 0.15 * np.exp(1j * turned)).max() < 1e-9
    (warning,) = result.info.warnings
    assert f"t = {flat:.9g} s: singular position" in warning
    assert "RevoluteJoint" in warning


def test_dead_point_is_an_error_with_time_and_driver() -> None:
    """The slider is driven beyond its inner dead centre, l - r from the crank's axis, at 0.2 m / 0.4 m/s."""
    system = slider_crank(0.1, 0.3)
    system.add(mb.Driver("ram", system["D"], displacement=0.0))
    turned = slider_crank(0.1, 0.3)
    turned.add(mb.Driver("motor", turned["A"], angle="t"))
    start = mb.kinematics(turned, [0.5]).state(0)
    x = 0.1 * np.cos(0.5) + np.sqrt(0.3**2 - (0.1 * np.sin(0.5)) ** 2)
    system["ram"].displacement = f"{float(x) - 0.4!r} - 0.4*(t - 0.5)"
    dead = 0.5 + (x - 0.2) / 0.4
    assert mb.kinematics(system, [dead - 1e-3], initial=start).info.warnings == []
    with pytest.raises(mb.AnalysisError, match=r"dead point, Driver 'ram'") as error:
        mb.kinematics(system, np.linspace(0.5, 1.5, 21), initial=start)
    assert abs(float(str(error.value).split()[2]) - dead) < 1e-6


def test_freedoms_that_are_left_are_refused_with_their_number() -> None:
    system = slider_crank()
    with pytest.raises(
        mb.AnalysisError, match=r"leave 1 degree of freedom \('crank', 'rod' can move\); add a mb.Driver"
    ):
        mb.kinematics(system, T)
    disk = mb.examples.rolling_disk()
    with pytest.raises(mb.AnalysisError, match="leave 3 degrees of freedom"):
        mb.inverse_dynamics(disk, T)


def test_redundant_driver_has_no_unique_force() -> None:
    system = slider_crank()
    system.add(mb.Driver("one", system["A"], angle=MOTION))
    system.add(mb.Driver("two", system["A"], angle=MOTION))
    warnings = mb.inverse_dynamics(system, T[:3]).info.warnings
    assert [w.split(":")[0] for w in warnings] == ["Driver 'one'", "Driver 'two'"]
