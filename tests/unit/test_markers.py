"""Markers: where they are, what derives from the body's described pose, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb

TURN = Rotation.from_rotvec([0.3, -0.7, 1.1])


@pytest.fixture
def body() -> mb.RigidBody:
    return mb.RigidBody("bar", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 2.0, 3.0), rotation=TURN)


def test_local_values_derive_from_the_described_pose(body):
    marker = mb.Marker(body, at=(0.5, -1.0, 4.0), axis=(0.0, 3.0, 4.0))
    np.testing.assert_allclose(TURN.apply(marker.local_point) + body.position, [0.5, -1.0, 4.0], atol=1e-14)
    np.testing.assert_allclose(marker.axes[:, 2], [0.0, 0.6, 0.8], atol=1e-15)
    np.testing.assert_allclose(TURN.as_matrix() @ marker.local_axes, marker.axes, atol=1e-15)
    body.position = (0.0, 0.0, 0.0)
    np.testing.assert_allclose(TURN.apply(marker.local_point), [0.5, -1.0, 4.0], atol=1e-14)


def test_axes_are_global_by_default_or_given_in_any_form_of_a_rotation(body):
    np.testing.assert_array_equal(mb.Marker(body, at=(0, 0, 0)).axes, np.eye(3))
    for form in (TURN, TURN.as_matrix(), TURN.as_quat(scalar_first=True)):
        np.testing.assert_allclose(mb.Marker(body, at=(0, 0, 0), axes=form).axes, TURN.as_matrix(), atol=1e-15)


def test_a_body_makes_markers_at_its_origin_or_at_a_global_point(body):
    np.testing.assert_array_equal(body.marker().at, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(body.marker().local_point, 0.0, atol=1e-15)
    np.testing.assert_array_equal(body.marker((4, 5, 6), axis=(2, 0, 0)).axes[:, 2], [1.0, 0.0, 0.0])


def test_axes_by_name(body):
    marker = mb.Marker(body, at=(0, 0, 0))
    assert [(axis.marker, axis.index) for axis in (marker.x, marker.y, marker.z)] == [(marker, k) for k in range(3)]


def test_what_is_passed_cannot_be_changed_behind_the_marker(body):
    at = np.array([1.0, 1.0, 1.0])
    marker = mb.Marker(body, at=at)
    at[0] = 7.0
    assert marker.at[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        marker.at[0] = 7.0


@pytest.mark.parametrize(
    ("values", "field", "remedy"),
    [
        ({"at": (0.0, 0.0)}, "at", "give 3 numbers"),
        ({"at": (0.0, 0.0, np.nan)}, "at", "give finite numbers"),
        ({"at": (0, 0, 0), "axis": (0.0, 0.0, 0.0)}, "axis", "give its direction"),
        ({"at": (0, 0, 0), "axes": np.ones((3, 3))}, "axes", "give more digits"),
        ({"at": (0, 0, 0), "axes": np.diag([1.0, 1.0, -1.0])}, "axes", "reverse one column"),
    ],
)
def test_refusals_name_body_field_and_remedy(body, values, field, remedy):
    with pytest.raises(mb.ModelError) as caught:
        mb.Marker(body, **values)
    (problem,) = caught.value.problems
    assert (problem.element, problem.field) == ("Marker on RigidBody 'bar'", field)
    assert remedy in problem.message


def test_a_name_is_no_body():
    with pytest.raises(mb.ModelError, match="Marker, body: found 'bar'; allowed is a body; pass the object"):
        mb.Marker("bar", at=(0, 0, 0))


# --- the markers of connections -------------------------------------------------------------------------------------


def test_both_markers_of_a_joint_share_point_and_axes(body):
    joint = mb.RevoluteJoint("hinge", mb.Ground("ground"), body, at=(1, 0, 2), axis=(0, 2, 0))
    for marker in (joint.i, joint.j):
        np.testing.assert_array_equal(marker.at, [1, 0, 2])
        np.testing.assert_array_equal(marker.axes[:, 2], [0, 1, 0])
    np.testing.assert_array_equal(joint.i.axes, joint.j.axes)


def test_the_markers_of_a_force_are_parallel_to_the_global_axes_and_default_to_the_origins(body):
    spring = mb.SpringDamper("spring", mb.Ground("ground"), body, at_i=(4, 0, 3))
    np.testing.assert_array_equal(spring.i.at, [4, 0, 3])
    np.testing.assert_array_equal(spring.j.at, body.position)
    np.testing.assert_array_equal(spring.j.axes, np.eye(3))
    np.testing.assert_allclose(spring.j.local_axes, TURN.inv().as_matrix(), atol=1e-15)


def test_the_frame_of_a_connection_turns_its_markers_axes(body):
    ground = mb.Ground("ground")
    turned = mb.RevoluteJoint("hinge", ground, body, at=(0, 0, 0), axis=TURN.apply((1.0, 2.0, 5.0)), frame=TURN)
    plain = mb.RevoluteJoint("hinge", ground, body, at=(0, 0, 0), axis=(1.0, 2.0, 5.0))
    np.testing.assert_allclose(turned.i.axes, TURN.as_matrix() @ plain.i.axes, atol=1e-15)
    np.testing.assert_allclose(mb.SpringDamper("s", ground, body, frame=TURN).i.axes, TURN.as_matrix(), atol=1e-15)
