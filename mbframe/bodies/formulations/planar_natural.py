"""Natural absolute coordinates in the plane: the origin and the four direction cosines."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...kernels.layout import PLACE
from .base import Array, Pattern, named
from .planar import PlanarFormulation, padded, quarter_turn, spins


class PlanarNatural(PlanarFormulation):
    """Coordinates q = (r, a, b), velocities v = q': 6 / 6 per body, three intrinsic constraints.

    a and b are the body's axes in global components. The mass matrix is constant and there are no inertia forces
    quadratic in the velocities; with the first moments m c and the second moments J about the origin,

        M = [m, m c^T; m c, J] (x) 1_2,    C = (a.a - 1, b.b - 1, a.b).

    About the centre of mass J_xx = (Iyy + Izz - Ixx)/2 and J_yy = (Izz + Ixx - Iyy)/2: Izz/2 each if only Izz is given.

    [PappalardoGuida2018a], eqs. 1-25 and 55-60.
    """

    n_q = 6
    n_v = 6
    n_intrinsic = 3
    q_names: ClassVar = [*named("position", "m", "xy"), *(name for k in "xy" for name in named(f"axis_{k}", "", "xy"))]
    v_names: ClassVar = [
        *named("velocity", "m/s", "xy"),
        *(name for k in "xy" for name in named(f"axis_{k}_rate", "1/s", "xy")),
    ]

    def constant_mass(self, row: Any) -> Array:
        second = 0.5 * np.trace(row.inertia) * np.eye(2) - row.inertia[:2, :2]
        first = row.mass * row.center[:2]
        moments = np.block([[np.full((1, 1), row.mass), first[None, :]], [first[:, None], second]])
        return np.kron(moments, np.eye(2))

    def mass_pattern(self, row: Any) -> Pattern:
        return self.constant_mass(row) != 0.0

    def constant_jacobian(self, marker: Any) -> Array:
        b = np.zeros((PLACE, 6))
        for r in range(2):
            b[r, r] = 1.0
            for k in range(2):
                b[r, 2 + 2 * k + r] = marker.point[k]
                b[3 + 3 * r : 6 + 3 * r, 2 + 2 * k + r] = marker.frame[k]
        return b

    def jacobian_pattern(self, marker: Any) -> Pattern:
        return self.constant_jacobian(marker) != 0.0

    def intrinsic_pattern(self) -> Pattern:
        return np.array([[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]], bool)

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        q = np.concatenate([position[:2], rotation[:2, 0], rotation[:2, 1]])
        turn = angular_velocity[2] * np.array([[0.0, -1.0], [1.0, 0.0]])
        return q, np.concatenate([velocity[:2], turn @ q[2:4], turn @ q[4:]])

    def poses(self, q: Array) -> tuple[Array, Array]:
        axes = np.tile(np.eye(3), (len(q), 1, 1))
        axes[:, :2, 0], axes[:, :2, 1] = q[:, 2:4], q[:, 4:]
        return padded(q[:, :2]), axes

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        # omega = 1/2 (a x a' + b x b')
        first, second = q[:, 2] * v[:, 3] - q[:, 3] * v[:, 2], q[:, 4] * v[:, 5] - q[:, 5] * v[:, 4]
        return padded(v[:, :2]), spins(0.5 * (first + second))

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)  # a' x a' = 0

    def turning(self, x):
        return np.column_stack([quarter_turn(x[:, 2:4]), quarter_turn(x[:, 4:])])

    @staticmethod
    def prepare(body, q, frame):
        frame[0, 0], frame[0, 1], frame[0, 2] = q[2], q[4], 0.0
        frame[1, 0], frame[1, 1], frame[1, 2] = q[3], q[5], 0.0
        frame[2, 0], frame[2, 1], frame[2, 2] = 0.0, 0.0, 1.0

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        u, local = marker.point, marker.frame
        for r in range(2):
            marker.position[r] = q[r] + u[0] * q[2 + r] + u[1] * q[4 + r]
            if level > 0:
                marker.velocity[r] = v[r] + u[0] * v[2 + r] + u[1] * v[4 + r]
        if marker.oriented == 0:
            return
        for k in range(3):
            for r in range(2):
                marker.axes[r, k] = local[0, k] * q[2 + r] + local[1, k] * q[4 + r]
                if level > 0:
                    marker.axes_rate[r, k] = local[0, k] * v[2 + r] + local[1, k] * v[4 + r]
            marker.axes[2, k] = local[2, k]
        if level == 0:
            return
        spin = 0.0 * v[0]
        for k in range(3):
            spin += marker.axes[0, k] * marker.axes_rate[1, k] - marker.axes[1, k] * marker.axes_rate[0, k]
        marker.angular_velocity[2] = 0.5 * spin

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        for r in range(2):
            weight = body.mass * body.gravity[r]
            force[r] += weight
            force[2 + r] += body.center[0] * weight
            force[4 + r] += body.center[1] * weight

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(6):
            q_rate[c] = v[c]

    @staticmethod
    def intrinsic(q, v, residual, rate, gamma, jacobian, level):
        residual[0] = q[2] * q[2] + q[3] * q[3] - 1.0
        residual[1] = q[4] * q[4] + q[5] * q[5] - 1.0
        residual[2] = q[2] * q[4] + q[3] * q[5]
        if level == 0:
            return
        rate[0] = 2.0 * (q[2] * v[2] + q[3] * v[3])
        rate[1] = 2.0 * (q[4] * v[4] + q[5] * v[5])
        rate[2] = q[2] * v[4] + q[3] * v[5] + v[2] * q[4] + v[3] * q[5]
        gamma[0] = -2.0 * (v[2] * v[2] + v[3] * v[3])
        gamma[1] = -2.0 * (v[4] * v[4] + v[5] * v[5])
        gamma[2] = -2.0 * (v[2] * v[4] + v[3] * v[5])
        for r in range(2):
            jacobian[0, 2 + r] = 2.0 * q[2 + r]
            jacobian[1, 4 + r] = 2.0 * q[4 + r]
            jacobian[2, 2 + r] = q[4 + r]
            jacobian[2, 4 + r] = q[2 + r]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        """Nothing: mass and gravity are constant."""

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(PLACE):
            for c in range(6):
                rate_tangent[x, c] = 0.0

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        """Nothing: B is constant."""

    @staticmethod
    def intrinsic_tangent(q, multipliers, stiffness):
        for r in range(2, 4):
            stiffness[r, r] += 2.0 * multipliers[0]
            stiffness[2 + r, 2 + r] += 2.0 * multipliers[1]
            stiffness[r, 2 + r] += multipliers[2]
            stiffness[2 + r, r] += multipliers[2]
