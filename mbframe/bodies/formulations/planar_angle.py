"""A body in the plane by its origin and its angle."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...kernels.layout import PLACE
from ...plane import angle_of
from .base import Array, Pattern, Variation, named
from .planar import PlanarFormulation, padded, spins


class PlanarAngle(PlanarFormulation):
    """Coordinates q = (x, y, theta), velocities v = q': 3 / 3 per body, no intrinsic constraint.

    With s = A(theta) c from the origin to the centre of mass and I the moment of inertia about the origin:

        m (r'' + theta'' n x s - theta'^2 s) = f,    m (s x r'') . n + I theta'' = moment about the origin.

    Reference point coordinates with an angle, [PappalardoGuida2018a], section 6.
    """

    n_q = 3
    n_v = 3
    counts_turns = True
    q_names: ClassVar = [*named("position", "m", "xy"), ("angle", "rad")]
    v_names: ClassVar = [*named("velocity", "m/s", "xy"), ("angular_velocity", "rad/s")]

    def constant_mass(self, row: Any) -> Array:
        return np.diag([row.mass, row.mass, row.inertia[2, 2]])

    def mass_pattern(self, row: Any) -> Pattern:
        pattern = np.eye(3, dtype=bool)
        pattern[2, :2] = pattern[:2, 2] = bool(np.any(row.center != 0.0))
        return pattern

    def constant_jacobian(self, marker: Any) -> Array:
        return np.eye(PLACE, 3) * [1.0, 1.0, 0.0]

    def jacobian_pattern(self, marker: Any) -> Pattern:
        b = np.eye(PLACE, 3, dtype=bool)
        b[:2, 2] = np.any(marker.point != 0.0)
        b[2, 2] = False
        b[3:6, 2] = b[6:9, 2] = np.any(marker.frame[:2] != 0.0, axis=0)
        return b

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        q = np.array([position[0], position[1], angle_of(rotation)])
        return q, np.array([velocity[0], velocity[1], angular_velocity[2]])

    def angles(self, q):
        return q[:, 2]

    def poses(self, q: Array) -> tuple[Array, Array]:
        c, s, o = np.cos(q[:, 2]), np.sin(q[:, 2]), np.zeros(len(q))
        return padded(q[:, :2]), np.moveaxis(np.array([[c, -s, o], [s, c, o], [o, o, o + 1.0]]), -1, 0)

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return padded(v[:, :2]), spins(v[:, 2])

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        none = np.zeros((len(q), 3, 6))
        moved = none.copy()
        moved[:, [0, 1, 2], [0, 1, 5]] = 1.0
        return Variation(moved, none, none, none)

    @staticmethod
    def prepare(body, q, frame):
        c, s = np.cos(q[2]), np.sin(q[2])
        frame[0, 0], frame[0, 1], frame[0, 2] = c, -s, 0.0
        frame[1, 0], frame[1, 1], frame[1, 2] = s, c, 0.0
        frame[2, 0], frame[2, 1], frame[2, 2] = 0.0, 0.0, 1.0

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        c, s, u, local = frame[0, 0], frame[1, 0], marker.point, marker.frame
        x, y = c * u[0] - s * u[1], s * u[0] + c * u[1]
        marker.position[0] = q[0] + x
        marker.position[1] = q[1] + y
        oriented, w = marker.oriented != 0, v[2]
        if oriented:
            for k in range(3):
                marker.axes[0, k] = c * local[0, k] - s * local[1, k]
                marker.axes[1, k] = s * local[0, k] + c * local[1, k]
                marker.axes[2, k] = local[2, k]
        if level == 0:
            return
        marker.velocity[0] = v[0] - w * y
        marker.velocity[1] = v[1] + w * x
        marker.bias[0] = -w * w * x
        marker.bias[1] = -w * w * y
        jacobian[0, 2] = -y
        jacobian[1, 2] = x
        if not oriented:
            return
        marker.angular_velocity[2] = w
        for k in range(3):
            x, y = marker.axes[0, k], marker.axes[1, k]
            marker.axes_rate[0, k] = -w * y
            marker.axes_rate[1, k] = w * x
            marker.axes_bias[0, k] = -w * w * x
            marker.axes_bias[1, k] = -w * w * y
            jacobian[3 + k, 2] = -y
            jacobian[6 + k, 2] = x

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        m, c, g, w = body.mass, body.center, body.gravity, v[2]
        force[0] += m * g[0]
        force[1] += m * g[1]
        if c[0] == 0.0 and c[1] == 0.0:
            return
        x, y = frame[0, 0] * c[0] + frame[0, 1] * c[1], frame[1, 0] * c[0] + frame[1, 1] * c[1]
        force[0] += m * w * w * x
        force[1] += m * w * w * y
        force[2] += m * (x * g[1] - y * g[0])
        mass[0, 2] = mass[2, 0] = -m * y
        mass[1, 2] = mass[2, 1] = m * x

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(3):
            q_rate[c] = v[c]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        m, c, g, w = body.mass, body.center, body.gravity, v[2]
        x, y = frame[0, 0] * c[0] + frame[0, 1] * c[1], frame[1, 0] * c[0] + frame[1, 1] * c[1]
        stiffness[0, 2] += m * (w * w * y - v_rate[2] * x)
        stiffness[1, 2] -= m * (w * w * x + v_rate[2] * y)
        stiffness[2, 2] -= m * (x * (v_rate[0] - g[0]) + y * (v_rate[1] - g[1]))
        damping[0, 2] -= 2.0 * m * w * x
        damping[1, 2] -= 2.0 * m * w * y

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(PLACE):
            for c in range(3):
                rate_tangent[x, c] = 0.0
        # the rate of a vector fixed to the body turns with it
        rate_tangent[0, 2] = v[1] - marker.velocity[1]
        rate_tangent[1, 2] = marker.velocity[0] - v[0]
        for k in range(3):
            rate_tangent[3 + k, 2] = -marker.axes_rate[1, k]
            rate_tangent[6 + k, 2] = marker.axes_rate[0, k]

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        c, s, u, local = frame[0, 0], frame[1, 0], marker.point, marker.frame
        stiffness[2, 2] -= (c * u[0] - s * u[1]) * load[0] + (s * u[0] + c * u[1]) * load[1]
        for k in range(3):
            x, y = c * local[0, k] - s * local[1, k], s * local[0, k] + c * local[1, k]
            stiffness[2, 2] -= x * load[3 + k] + y * load[6 + k]
