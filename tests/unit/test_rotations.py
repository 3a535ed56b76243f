"""Quaternions, rotation matrices and frames against SciPy's `Rotation`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbframe.rotations import frame_with_axis, matrix_from_quaternion, quaternion_from_matrix, skew

ROTATIONS = Rotation.random(200, np.random.default_rng(1))
# Half turns: the scalar part vanishes, and with it the naive formula for the quaternion.
HALF_TURNS = Rotation.from_rotvec(
    np.pi * np.vstack([np.eye(3), [[0.6, 0.8, 0.0], [0.0, 0.6, -0.8], [1 / 3, 2 / 3, 2 / 3]]])
)


def test_matrices_of_quaternions_of_any_length_and_stacks_of_any_shape():
    p = ROTATIONS.as_quat(scalar_first=True)
    np.testing.assert_allclose(matrix_from_quaternion(p), ROTATIONS.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(matrix_from_quaternion(-3.7 * p), ROTATIONS.as_matrix(), atol=1e-15)
    stack = matrix_from_quaternion(p.reshape(4, 50, 4))
    assert stack.shape == (4, 50, 3, 3)
    np.testing.assert_allclose(stack.reshape(-1, 3, 3), ROTATIONS.as_matrix(), atol=1e-15)
    assert matrix_from_quaternion(p[0]).shape == (3, 3)


def test_quaternions_of_matrices():
    for rotation in ROTATIONS:
        p = quaternion_from_matrix(rotation.as_matrix())
        assert p[0] >= 0.0
        np.testing.assert_allclose(p, rotation.as_quat(canonical=True, scalar_first=True), atol=1e-15)


def test_quaternions_of_half_turns_and_nearly_half_turns():
    for rotation in HALF_TURNS:
        for nudge in (0.0, 1e-9, -1e-9):
            a = (rotation * Rotation.from_rotvec([nudge, 2 * nudge, -nudge])).as_matrix()
            p = quaternion_from_matrix(a)
            assert abs(np.linalg.norm(p) - 1.0) < 1e-15
            np.testing.assert_allclose(matrix_from_quaternion(p), a, atol=1e-15)


@pytest.mark.parametrize("length", [1e-200, 1.0, 1e200])
def test_a_frame_has_the_given_third_axis_and_is_right_handed(length):
    axes = np.vstack([np.random.default_rng(2).normal(size=(50, 3)), np.eye(3), -np.eye(3), [[1, 1, 0], [1, 1, 1]]])
    for axis in axes:
        frame = frame_with_axis(length * axis)
        np.testing.assert_allclose(frame[:, 2], axis / np.linalg.norm(axis), atol=1e-15)
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-15)
        assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-14)


def test_the_frame_of_the_z_axis_is_the_global_one():
    np.testing.assert_array_equal(frame_with_axis((0, 0, 1)), np.eye(3))
    np.testing.assert_array_equal(frame_with_axis((0, 0, 25)), np.eye(3))


def test_the_first_axis_comes_from_the_global_axis_that_is_least_aligned():
    np.testing.assert_allclose(frame_with_axis((3.0, 0.0, 4.0))[:, 0], (0, 1, 0))
    np.testing.assert_allclose(frame_with_axis((0.0, 3.0, 4.0))[:, 0], (1, 0, 0))
    # x and y are equally aligned: rounding in the last digit must not decide between them
    for tiny in (1e-15, -1e-15):
        near = frame_with_axis((1.0 + tiny, 1.0, 5.0))
        np.testing.assert_allclose(near, frame_with_axis((1.0, 1.0, 5.0)), atol=1e-14)


def test_skew_is_the_cross_product():
    u, w = np.random.default_rng(3).normal(size=(2, 3))
    np.testing.assert_allclose(skew(u) @ w, np.cross(u, w), rtol=1e-15)
    np.testing.assert_array_equal(skew(u).T, -skew(u))
