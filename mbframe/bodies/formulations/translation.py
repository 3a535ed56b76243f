"""A body that does not turn: its position alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...kernels.layout import PLACE
from .base import Array, Formulation, Pattern, Variation, named

if TYPE_CHECKING:
    from ..base import Body


class Translation(Formulation):
    """Coordinates q = r, velocities v = r': 3 / 3 per body, M = m 1; for bodies without size.

    The body's axes keep the directions that `rotation` (3 x 3, rows as tuples) gives them.
    """

    n_q = 3
    n_v = 3
    q_names: ClassVar = named("position", "m")
    v_names: ClassVar = named("velocity", "m/s")
    fields: ClassVar = [("mass", "f8"), ("rotation", "f8", (3, 3)), ("gravity", "f8", 3)]

    def __init__(
        self, rotation: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    ) -> None:
        self.rotation = rotation

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        return {"mass": body.mass_properties()[0], "rotation": self.rotation, "gravity": gravity}

    def constant_mass(self, row: Any) -> Array:
        return row.mass * np.eye(3)

    def mass_pattern(self, row: Any) -> Pattern:
        return np.eye(3, dtype=bool)

    def constant_jacobian(self, marker: Any) -> Array:
        return np.eye(PLACE, 3)

    def jacobian_pattern(self, marker: Any) -> Pattern:
        return np.eye(PLACE, 3, dtype=bool)

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        return position, velocity

    def poses(self, q: Array) -> tuple[Array, Array]:
        return q, np.tile(self.rotation, (len(q), 1, 1))

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return v, np.zeros_like(v)

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return v_rate, np.zeros_like(v)

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        none = np.zeros((len(q), 3, 3))
        return Variation(none + np.eye(3), none, none, none)

    @staticmethod
    def prepare(body, q, frame):
        for r in range(3):
            for c in range(3):
                frame[r, c] = body.rotation[r, c]

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        u, local = marker.point, marker.frame
        for r in range(3):
            marker.position[r] = q[r] + frame[r, 0] * u[0] + frame[r, 1] * u[1] + frame[r, 2] * u[2]
            if level > 0:
                marker.velocity[r] = v[r]
            for k in range(3):
                marker.axes[r, k] = frame[r, 0] * local[0, k] + frame[r, 1] * local[1, k] + frame[r, 2] * local[2, k]

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        for r in range(3):
            force[r] += body.mass * body.gravity[r]

    @staticmethod
    def rates(body, q, v, q_rate):
        for r in range(3):
            q_rate[r] = v[r]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        """Nothing: mass and gravity are constant."""

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(PLACE):
            for c in range(3):
                rate_tangent[x, c] = 0.0

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        """Nothing: B is constant."""
