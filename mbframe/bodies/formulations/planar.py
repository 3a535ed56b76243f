"""What formulations of bodies in the plane share: the plane z = 0 of space."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...plane import angle_of
from .base import Array, Formulation, Variation


def padded(vectors: Array) -> Array:
    """Vectors (n, 2) of the plane in space, (n, 3)."""
    return np.column_stack([vectors, np.zeros(len(vectors))])


def spins(rates: Array) -> Array:
    """Angular velocities (n,) about the normal as vectors (n, 3)."""
    return np.column_stack([np.zeros((len(rates), 2)), rates])


def quarter_turn(vectors: Array) -> Array:
    """n x d of vectors d (n, 2) of the plane."""
    return np.column_stack([-vectors[:, 1], vectors[:, 0]])


class PlanarFormulation(Formulation):
    """Base of formulations of bodies in the plane. Their markers lie in it: the third component of a point is zero.

    The axes of a marker may be any frame; those in the plane turn with the body, the normal stays.
    """

    dimension = 2
    held = (2, 3, 4)
    counts_turns: ClassVar[bool] = False

    def angles(self, q: Array) -> Array:
        """Angles (n,); with `counts_turns` they are not limited to one turn."""
        return angle_of(self.poses(q)[1])

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        """The variations (dr, phi) of space; dz and what would tilt the plane have no effect (see `held`)."""
        return Variation.of_rates(*(self._within_plane(t, x) for t, x in ((1.0, q), (0.0, v), (0.0, v_rate))))

    def _within_plane(self, translation: float, x: Array) -> Array:
        turning = self.turning(x)
        blocks = np.zeros((len(x), 2 + turning.shape[1], 6))
        blocks[:, :2, :2] = translation * np.eye(2)
        blocks[:, 2:, 5] = turning
        return blocks

    def turning(self, x: Array) -> Array:
        """The change of the coordinates after the origin with the angle, linear in them, (n, m)."""
        raise NotImplementedError
