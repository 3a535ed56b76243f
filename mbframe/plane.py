"""Between the plane and space: a planar system is computed as the plane z = 0 of a spatial one.

Users give and receive vectors of two components, and numbers for what is about the normal. They are lifted where they
enter (`lifted`, `about_normal`) and lowered where results leave (`lowered`, `lowered_axial`); everything in between
has three components.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

NORMAL: Final = (0.0, 0.0, 1.0)


def lifted(vector: ArrayLike) -> Array:
    """A vector of the plane as one of space; vectors of space are left alone."""
    array = np.asarray(vector, float)
    if array.shape == (3,):
        return array
    if array.shape == (2,):  # what np.append does, in a tenth of its time: this is called for every point and axis
        x, y = array
        return np.array([x, y, 0.0])
    return np.append(array, 0.0)


def about_normal(value: Any) -> Array:
    """An angular velocity or a torque of the plane as a vector of space."""
    return np.array([0.0, 0.0, value])


def lowered(vectors: Array, dimension: int) -> Array:
    """Vectors (..., 3) of space as a system of that dimension shows them."""
    return vectors[..., :dimension]


def lowered_axial(vectors: Array, dimension: int) -> Any:
    """Angular velocities or torques (..., 3) as a system of that dimension shows them: numbers in the plane."""
    return vectors[..., 2] if dimension == 2 else vectors


def rotation_by(angle: float) -> Array:
    """Rotation matrix about the normal."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def angle_of(rotation: ArrayLike) -> Any:
    """Angles between -pi and pi of rotation matrices (..., 3, 3) about the normal."""
    matrix = np.asarray(rotation, float)
    return np.arctan2(matrix[..., 1, 0], matrix[..., 0, 0])


def is_normal(axis: ArrayLike) -> bool:
    """Whether a direction is that of the normal."""
    x, y, z = lifted(axis)
    return bool(np.hypot(x, y) <= 1e-9 * abs(z))
