"""Rotation matrices and unit quaternions, scalar first, for stacks of any shape.

SciPy's `Rotation` is what users pass and receive; these few lines keep SciPy out of the start-up of a simulation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def matrix_from_quaternion(p: ArrayLike) -> Array:
    """Rotation matrix (..., 3, 3) of quaternions (..., 4), which need not be normalized."""
    given = np.asarray(p, float)
    unit = given / np.sqrt(np.sum(given * given, axis=-1, keepdims=True))
    # Of a single one Python's own numbers: files have thousands of them.
    p0, p1, p2, p3 = unit.tolist() if unit.ndim == 1 else (unit[..., k] for k in range(4))
    a = np.empty((*given.shape[:-1], 3, 3))
    a[..., 0, 0], a[..., 1, 1] = 1 - 2 * (p2 * p2 + p3 * p3), 1 - 2 * (p1 * p1 + p3 * p3)
    a[..., 2, 2] = 1 - 2 * (p1 * p1 + p2 * p2)
    a[..., 0, 1], a[..., 0, 2] = 2 * (p1 * p2 - p0 * p3), 2 * (p1 * p3 + p0 * p2)
    a[..., 1, 0], a[..., 1, 2] = 2 * (p1 * p2 + p0 * p3), 2 * (p2 * p3 - p0 * p1)
    a[..., 2, 0], a[..., 2, 1] = 2 * (p1 * p3 - p0 * p2), 2 * (p2 * p3 + p0 * p1)
    return a


def quaternion_from_matrix(matrix: ArrayLike) -> Array:
    """Unit quaternion (4,) of a rotation matrix (3, 3), first component not negative (Shepperd's choice of pivot)."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(matrix, float).tolist()
    rows = [
        [a + e + i, h - f, c - g, d - b],
        [h - f, a - e - i, b + d, c + g],
        [c - g, b + d, e - a - i, f + h],
        [d - b, c + g, f + h, i - a - e],
    ]  # 4 p p^T - 1
    pivot = max(range(4), key=lambda k: rows[k][k])
    p = rows[pivot]
    p[pivot] += 1.0
    length = math.sqrt(sum(x * x for x in p))
    return np.array(p) / (-length if p[0] < 0.0 else length)


def quaternions_from_matrices(rotation: Array) -> Array:
    """Unit quaternions (n, 4) of rotation matrices (n, 3, 3), each up to its sign.

    Of the four rows of 4 p pᵀ the one with the largest pivot is taken (Shepperd), so that nothing cancels.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotation, 0, -1)
    rows = np.array(
        [
            [1.0 + a + e + i, h - f, c - g, d - b],
            [h - f, 1.0 + a - e - i, b + d, c + g],
            [c - g, b + d, 1.0 + e - a - i, f + h],
            [d - b, c + g, f + h, 1.0 + i - a - e],
        ]
    )
    pivots = np.argmax(np.einsum("kkn->kn", rows), axis=0)
    p = rows[pivots, :, np.arange(len(pivots))]
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def matrix_from_vector(vector: ArrayLike) -> Array:
    """Rotation matrix of a rotation vector: a turn about its direction by its length, rad."""
    u = np.asarray(vector, float)
    angle = float(np.sqrt(u @ u))
    if angle == 0.0:
        return np.eye(3)
    n = skew(u / angle)
    return np.eye(3) + np.sin(angle) * n + 2.0 * np.sin(0.5 * angle) ** 2 * n @ n


def frame_with_axis(axis: ArrayLike) -> Array:
    """A right-handed frame (columns) whose third axis is `axis`; the global frame itself for the z axis.

    The first axis is the projection of the global axis that is least aligned with `axis`, in the order x, y, z.
    """
    # Plain numbers: NumPy takes ten times as long for three of them, and every marker comes by here.
    a, b, c = np.asarray(axis, float).tolist()
    largest = max(abs(a), abs(b), abs(c))  # so that the square of no length overflows or vanishes
    a, b, c = a / largest, b / largest, c / largest
    length = math.sqrt(a * a + b * b + c * c)
    z = (a / length, b / length, c / length)
    sizes = [round(abs(part), 9) for part in z]
    least = sizes.index(min(sizes))
    x = [-z[least] * part for part in z]
    x[least] += 1.0
    length = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    x = [part / length for part in x]
    y = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
    # No zero is negative, so that the frame of z is the global one digit for digit.
    return np.array([x, y, z]).T + 0.0


def rotation_between(start: ArrayLike, end: ArrayLike) -> Array:
    """The least rotation that takes one direction to another, R = 1 + v~ + v~ v~ / (1 + c); not for opposite ones.

    v is the vector product of the unit vectors, c their scalar product.
    """
    a, b = np.asarray(start, float), np.asarray(end, float)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    turn = skew(np.cross(a, b))  # exactly zero for equal directions
    return np.eye(3) + turn + turn @ turn / (1.0 + a @ b)


def skew(u: ArrayLike) -> Array:
    """The matrices u~ (..., 3, 3) with u~ w = u x w, of vectors (..., 3)."""
    u = np.asarray(u, float)
    if u.ndim == 1:
        x, y, z = u.tolist()
        return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrices = np.zeros((*u.shape, 3))
    matrices[..., 0, 1], matrices[..., 0, 2], matrices[..., 1, 2] = -u[..., 2], u[..., 1], -u[..., 0]
    matrices[..., 1, 0], matrices[..., 2, 0], matrices[..., 2, 1] = u[..., 2], -u[..., 1], u[..., 0]
    return matrices
