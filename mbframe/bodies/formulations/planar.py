"""What formulations of bodies in the plane share: the plane z = 0 of space."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...plane import angle_of
from .base import Formulation

Array = NDArray[np.float64]


def padded(vectors: Array) -> Array:
    """Vectors (n, 2) of the plane in space, (n, 3)."""
    return np.column_stack([vectors, np.zeros(len(vectors))])


def spins(rates: Array) -> Array:
    """Angular velocities (n,) about the normal as vectors (n, 3)."""
    return np.column_stack([np.zeros((len(rates), 2)), rates])


class PlanarFormulation(Formulation):
    """Base of formulations of bodies in the plane. Their markers lie in it: the third component of a point is zero.

    The axes of a marker may be any frame; those in the plane turn with the body, the normal stays.
    """

    dimension = 2
    counts_turns: ClassVar[bool] = False

    def angles(self, q: Array) -> Array:
        """Angles (n,); with `counts_turns` they are not limited to one turn."""
        return angle_of(self.poses(q)[1])
