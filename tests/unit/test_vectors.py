"""What arrows show, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from mbframe.render import vectors
from mbframe.state import Motion, State


@pytest.fixture(scope="module")
def result() -> mb.Result:
    """A bar that swings through its lowest position at 2 rad/s, pulled upwards by a spring at its end."""
    system = mb.System("pendulum", gravity=(0, 0, -10.0))
    bar = system.add(mb.RigidBody("bar", mass=3.0, inertia=(0.1, 0.1, 0.1), center_of_mass=(0, 0, -0.5)))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(
        mb.SpringDamper("spring", system.ground, bar, at_i=(0, 0, 1), at_j=(0, 0, -1), stiffness=7.0, free_length=0.5)
    )
    motion = Motion(np.zeros(3), np.eye(3), np.zeros(3), np.array([0.0, 2.0, 0.0]))
    return mb.evaluate(system, State(0.0, {"bar": motion}))


def test_velocities_are_those_of_the_centres_of_mass(result: mb.Result):
    found = vectors(result, "velocity")
    assert found.names == ["bar"]
    np.testing.assert_allclose(found.points[0], [(0.0, 0.0, -0.5)], atol=1e-12)
    np.testing.assert_allclose(found.values[0], [(-1.0, 0.0, 0.0)], atol=1e-12)  # (0, 2, 0) x (0, 0, -0.5)


def test_forces_act_on_the_second_body_at_its_point(result: mb.Result):
    found = vectors(result, "force")
    np.testing.assert_allclose(found.points[0], [(0.0, 0.0, -1.0)], atol=1e-12)
    np.testing.assert_allclose(found.values[0], [(0.0, 0.0, 7.0 * (2.0 - 0.5))])


def test_reactions_hold_the_weight_and_the_turn(result: mb.Result):
    found = vectors(result, "reaction")
    up = 3.0 * 10.0 + 3.0 * 2.0**2 * 0.5 - 7.0 * 1.5  # weight, centripetal force, less what the spring carries
    np.testing.assert_allclose(found.points[0], [(0.0, 0.0, 0.0)], atol=1e-12)
    np.testing.assert_allclose(found.values[0], [(0.0, 0.0, up)], atol=1e-9)


def test_unknown_kinds_are_named(result: mb.Result):
    with pytest.raises(mb.ModelError, match="'velocity', 'force', 'reaction'"):
        vectors(result, "acceleration")
