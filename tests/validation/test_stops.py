"""No adaptive integrator passes a stop, however long its steps are before it."""

from typing import Any

import numpy as np
import pytest

import mbframe as mb

INTEGRATORS = [mb.DormandPrince(order=5), mb.DormandPrince(order=8), mb.RadauIIA(), mb.BDF()]


def point(gravity: float, height: float, velocity: float) -> tuple[mb.System, mb.PointMass]:
    system = mb.System("stopped", gravity=(0.0, 0.0, -gravity))
    return system, system.add(mb.PointMass("m", mass=1.0, position=(0, 0, height), velocity=(0, 0, velocity)))


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=repr)
@pytest.mark.parametrize("height", [10.0, 1.0])
def test_a_point_does_not_fly_through_a_distance(integrator: Any, height: float) -> None:
    """It comes with -2 m/s and leaves with 2 m/s; behind the stop, which is 2 m thick, it would be free again."""
    system, m = point(0.0, height, -2.0)
    system.add(mb.DistanceLimit("stop", system.ground, m, at_i=(0, 0, -1), lower=1.0, stiffness=1e6))
    result = mb.simulate(system, height, integrator=integrator)
    np.testing.assert_allclose(result.velocity("m")[-1], (0, 0, 2), atol=2e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=repr)
def test_a_throw_that_barely_reaches_a_stop(integrator: Any) -> None:
    """Its apex would be 0.1 m behind the stop: it meets it with u = sqrt(2 g 0.1) and leaves it with -u.

    In the stop d'' = -w^2 d - g, so that it stays there for 2/w atan(u w/g).
    """
    g, w = 10.0, 1000.0
    system, m = point(g, 0.0, 10.0)
    stop = mb.DisplacementLimit(
        "stop", system.ground, m, at=(0, 0, 0), axis=(0, 0, 1), lower=-50.0, upper=4.9, stiffness=w**2
    )
    system.add(stop)
    u = np.sqrt(2.0 * g * 0.1)
    leaves = (10.0 - u) / g + 2.0 / w * np.arctan(u * w / g)
    result = mb.simulate(system, 1.5, integrator=integrator)
    np.testing.assert_allclose(result.velocity("m")[-1, 2], -u - g * (1.5 - leaves), atol=5e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=repr)
def test_a_rotor_turns_back_at_a_stop(integrator: Any) -> None:
    """A brake of constant torque would stop it 0.01 rad behind the stop: as the throw, about an axis."""
    system = mb.System("stopped", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("m", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 1)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Torque("brake", body, torque=(0, 0, -0.5)))
    stop = mb.AngleLimit(
        "stop", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), lower=-9.0, upper=0.99, stiffness=1e6
    )
    system.add(stop)
    u = np.sqrt(2.0 * 0.5 * 0.01)
    leaves = (1.0 - u) / 0.5 + 2.0 / 1e3 * np.arctan(u * 1e3 / 0.5)
    result = mb.simulate(system, 3.0, integrator=integrator)
    np.testing.assert_allclose(result.angular_velocity("m")[-1, 2], -u - 0.5 * (3.0 - leaves), atol=1e-3)
