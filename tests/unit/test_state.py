"""States: poses and twists by body, in the coordinates of every formulation and back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.state import Motion

TURN = Rotation.from_rotvec([0.4, 2.0, -1.3])
OMEGA = np.array([0.3, -1.2, 2.0])
MOTION = Motion(np.array([1.0, -2.0, 0.5]), TURN.as_matrix(), np.array([3.0, 0.1, -0.7]), OMEGA)


@pytest.fixture
def state() -> mb.State:
    return mb.State(2.5, {"bar": MOTION})


def test_points_move_with_the_body(state):
    point = (0.2, 0.3, -0.4)
    arm = TURN.apply(point)
    np.testing.assert_allclose(state.position("bar"), MOTION.position)
    np.testing.assert_allclose(state.position("bar", point), MOTION.position + arm, atol=1e-15)
    np.testing.assert_allclose(state.velocity("bar"), MOTION.velocity)
    # the velocity is the rate of the position of a point that turns with the angular velocity
    h = 1e-6
    turned = [(Rotation.from_rotvec(s * h * OMEGA) * TURN).apply(point) for s in (1, -1)]
    expected = MOTION.velocity + (turned[0] - turned[1]) / (2 * h)
    np.testing.assert_allclose(state.velocity("bar", point), expected, atol=1e-9)
    np.testing.assert_allclose(state.rotation("bar").as_matrix(), TURN.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(state.angular_velocity("bar"), OMEGA)


def test_bodies_by_object_or_name(state):
    bar = mb.RigidBody("bar", mass=1.0, inertia=(1, 1, 1))
    np.testing.assert_array_equal(state.position(bar), state.position("bar"))


def test_unknown_bodies_and_wrong_points_are_refused(state):
    with pytest.raises(mb.ModelError, match=r"there is no body 'bra'; did you mean 'bar'\?"):
        state.position("bra")
    with pytest.raises(mb.ModelError, match="there is no body 'wheel'; there are 'bar'"):
        state.velocity("wheel")
    with pytest.raises(mb.ModelError, match=r"State.position, local_point: found \(1, 2\) of shape \(2,\)"):
        state.position("bar", (1, 2))


def test_a_long_list_of_bodies_is_shortened():
    state = mb.State(0.0, {f"link {k}": MOTION for k in range(1000)})
    with pytest.raises(mb.ModelError) as caught:
        state.position("wheel")
    assert str(caught.value).endswith("'link 9', …")


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_coordinates_and_back(formulation, state):
    system = mb.System("free")
    system.add(mb.RigidBody("bar", mass=1.0, inertia=(1.0, 2.0, 2.5)))
    eq = mb.Equations(system, formulation)
    back = eq.state(2.5, eq.coordinates(state))
    assert back.t == 2.5
    for field in dataclasses.fields(Motion):
        found, expected = (getattr(s.motions["bar"], field.name) for s in (back, state))
        np.testing.assert_allclose(found, expected, atol=1e-14, err_msg=field.name)


def test_the_described_state_is_the_one_of_the_bodies():
    system = mb.System("free")
    body = system.add(mb.RigidBody.example())
    motion = mb.Equations(system).described().motions["body"]
    for field in dataclasses.fields(Motion):
        np.testing.assert_array_equal(getattr(motion, field.name), getattr(body, field.name, np.zeros(0)))


def test_checking_converts_rotations_and_reports_all_that_is_wrong(state):
    bar = mb.RigidBody("bar", mass=1.0, inertia=(1, 1, 1))
    given = mb.State(0.0, {"bar": dataclasses.replace(MOTION, rotation=TURN)})
    np.testing.assert_allclose(given.checked([bar]).motions["bar"].rotation, TURN.as_matrix(), atol=1e-15)
    wrong = mb.State(0.0, {"bar": dataclasses.replace(MOTION, position=(1.0, np.nan, 0.0), velocity=(1.0, 2.0))})
    wheel = mb.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(mb.ModelError) as caught:
        wrong.checked([bar, wheel])
    assert [(p.element, p.field) for p in caught.value.problems] == [
        ("State of RigidBody 'bar'", "position"),
        ("State of RigidBody 'bar'", "velocity"),
        ("State", "motions"),
    ]
