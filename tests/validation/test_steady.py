"""Steady motions of bodies whose inertia is that of a ball, about which they seem free to spin in any direction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

import mbframe as mb

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
