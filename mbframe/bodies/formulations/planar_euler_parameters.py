"""A body in the plane by its origin and two Euler parameters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...kernels.layout import PLACE
from ...plane import angle_of
from .base import Array, Pattern, named
from .planar import PlanarFormulation, padded, quarter_turn, spins


class PlanarEulerParameters(PlanarFormulation):
    """Coordinates q = (r, p), p = (cos theta/2, sin theta/2), velocities v = q': 4 / 4 per body, one intrinsic
    constraint p.p = 1.

    With pairs read as complex numbers, p = p0 + i p1, a vector l of the body is p^2 l in global components; its rate
    is 2 p p' l. As in `EulerParameters` this homogeneous form makes the mass matrix regular: with the first moment m c
    and the moment of inertia I about the origin

        m r'' + 2 m c (p p'' + p'^2) = f,    2 m conj(p c) r'' + 4 I conj(p) (p p'' + p'^2) = conj(2 p l) f.

    [PappalardoGuida2018a], section 6.
    """

    n_q = 4
    n_v = 4
    n_intrinsic = 1
    q_names: ClassVar = [*named("position", "m", "xy"), *named("euler_parameter", "", "01")]
    v_names: ClassVar = [*named("velocity", "m/s", "xy"), *named("euler_parameter_rate", "1/s", "01")]

    def constant_mass(self, row: Any) -> Array:
        return np.diag([row.mass, row.mass, 1.0, 1.0])

    def mass_pattern(self, row: Any) -> Pattern:
        pattern = np.eye(4, dtype=bool)
        pattern[2:, :2] = pattern[:2, 2:] = bool(np.any(row.center != 0.0))
        return pattern

    def constant_jacobian(self, marker: Any) -> Array:
        return np.eye(PLACE, 4) * [1.0, 1.0, 0.0, 0.0]

    def jacobian_pattern(self, marker: Any) -> Pattern:
        b = np.zeros((PLACE, 4), bool)
        b[0, 0] = b[1, 1] = True
        b[:2, 2:] = np.any(marker.point != 0.0)
        b[3:6, 2:] = b[6:9, 2:] = np.any(marker.frame[:2] != 0.0, axis=0)[:, None]
        return b

    def intrinsic_pattern(self) -> Pattern:
        return np.array([[False, False, True, True]])

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        half = 0.5 * angle_of(rotation)
        c, s, w = np.cos(half), np.sin(half), 0.5 * angular_velocity[2]
        return np.array([*position[:2], c, s]), np.array([*velocity[:2], -w * s, w * c])

    def poses(self, q: Array) -> tuple[Array, Array]:
        size = q[:, 2] ** 2 + q[:, 3] ** 2
        c, s, o = (q[:, 2] ** 2 - q[:, 3] ** 2) / size, 2.0 * q[:, 2] * q[:, 3] / size, np.zeros(len(q))
        return padded(q[:, :2]), np.moveaxis(np.array([[c, -s, o], [s, c, o], [o, o, o + 1.0]]), -1, 0)

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return padded(v[:, :2]), spins(2.0 * (q[:, 2] * v[:, 3] - q[:, 3] * v[:, 2]))

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)  # p' x p' = 0

    def turning(self, x):
        return 0.5 * quarter_turn(x[:, 2:])

    @staticmethod
    def prepare(body, q, frame):
        c, s = q[2] * q[2] - q[3] * q[3], 2.0 * q[2] * q[3]
        frame[0, 0], frame[0, 1], frame[0, 2] = c, -s, 0.0
        frame[1, 0], frame[1, 1], frame[1, 2] = s, c, 0.0
        frame[2, 0], frame[2, 1], frame[2, 2] = 0.0, 0.0, 1.0

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        p, p_rate = (q[2], q[3]), (v[2], v[3])
        u = (marker.point[0], marker.point[1])
        x = turned(frame, u)
        marker.position[0] = q[0] + x[0]
        marker.position[1] = q[1] + x[1]
        if marker.oriented != 0:
            for k in range(3):
                x = turned(frame, (marker.frame[0, k], marker.frame[1, k]))
                marker.axes[0, k] = x[0]
                marker.axes[1, k] = x[1]
                marker.axes[2, k] = marker.frame[2, k]
        if level == 0:
            return
        square = times(p_rate, p_rate)
        g, bias = times(p, u), times(square, u)
        rate = times(g, p_rate)
        marker.velocity[0] = v[0] + 2.0 * rate[0]
        marker.velocity[1] = v[1] + 2.0 * rate[1]
        marker.bias[0] = 2.0 * bias[0]
        marker.bias[1] = 2.0 * bias[1]
        write(jacobian, 0, 1, 2.0 * g[0], 2.0 * g[1])
        if marker.oriented == 0:
            return
        marker.angular_velocity[2] = 2.0 * (p[0] * p[0] + p[1] * p[1]) * (p[0] * p_rate[1] - p[1] * p_rate[0])
        for k in range(3):
            u = (marker.frame[0, k], marker.frame[1, k])
            g, bias = times(p, u), times(square, u)
            rate = times(g, p_rate)
            marker.axes_rate[0, k] = 2.0 * rate[0]
            marker.axes_rate[1, k] = 2.0 * rate[1]
            marker.axes_bias[0, k] = 2.0 * bias[0]
            marker.axes_bias[1, k] = 2.0 * bias[1]
            write(jacobian, 3 + k, 6 + k, 2.0 * g[0], 2.0 * g[1])

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        m, i, p = body.mass, body.inertia[2, 2], (q[2], q[3])
        c, g = (body.center[0], body.center[1]), (body.gravity[0], body.gravity[1])
        square = times((v[2], v[3]), (v[2], v[3]))
        centrifugal, own, arm = times(c, square), conjugate_times(p, square), times(p, c)
        weight = conjugate_times(arm, g)
        for r in range(2):
            force[r] += m * (g[r] - 2.0 * centrifugal[r])
            force[2 + r] += 2.0 * m * weight[r] - 4.0 * i * own[r]
            mass[2 + r, 2 + r] = 4.0 * i * (p[0] * p[0] + p[1] * p[1])
        mass[0, 2] = mass[2, 0] = mass[1, 3] = mass[3, 1] = 2.0 * m * arm[0]
        mass[0, 3] = mass[3, 0] = -2.0 * m * arm[1]
        mass[1, 2] = mass[2, 1] = 2.0 * m * arm[1]

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(4):
            q_rate[c] = v[c]

    @staticmethod
    def intrinsic(q, v, residual, rate, gamma, jacobian, level):
        residual[0] = q[2] * q[2] + q[3] * q[3] - 1.0
        if level == 0:
            return
        rate[0] = 2.0 * (q[2] * v[2] + q[3] * v[3])
        gamma[0] = -2.0 * (v[2] * v[2] + v[3] * v[3])
        jacobian[0, 2] = 2.0 * q[2]
        jacobian[0, 3] = 2.0 * q[3]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        m, i = body.mass, body.inertia[2, 2]
        c, e = (body.center[0], body.center[1]), (v_rate[0] - body.gravity[0], v_rate[1] - body.gravity[1])
        p, p_rate, p_rate_2 = (q[2], q[3]), (v[2], v[3]), (v_rate[2], v_rate[3])
        first, square = times(p, p_rate_2), times(p_rate, p_rate)
        by_conjugate = conjugate_times(c, e)
        add(stiffness, 0, 2.0 * m, times(c, p_rate_2))
        add(stiffness, 2, 4.0 * i, conjugate_times(p, p_rate_2))
        add_conjugate(stiffness, 2, 2.0 * m, by_conjugate)
        add_conjugate(stiffness, 2, 4.0 * i, (first[0] + square[0], first[1] + square[1]))
        add(damping, 0, 4.0 * m, times(c, p_rate))
        add(damping, 2, 8.0 * i, conjugate_times(p, p_rate))

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(PLACE):
            for c in range(4):
                rate_tangent[x, c] = 0.0
        p_rate = (v[2], v[3])
        g = times(p_rate, (marker.point[0], marker.point[1]))
        write(rate_tangent, 0, 1, 2.0 * g[0], 2.0 * g[1])
        for k in range(3):
            g = times(p_rate, (marker.frame[0, k], marker.frame[1, k]))
            write(rate_tangent, 3 + k, 6 + k, 2.0 * g[0], 2.0 * g[1])

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        u = (marker.point[0], marker.point[1])
        add_conjugate(stiffness, 2, 2.0, conjugate_times(u, (load[0], load[1])))
        for k in range(3):
            u = (marker.frame[0, k], marker.frame[1, k])
            add_conjugate(stiffness, 2, 2.0, conjugate_times(u, (load[3 + k], load[6 + k])))

    @staticmethod
    def intrinsic_tangent(q, multipliers, stiffness):
        stiffness[2, 2] += 2.0 * multipliers[0]
        stiffness[3, 3] += 2.0 * multipliers[0]


# Pairs as complex numbers; the kernels cannot use Python's, because tests give their numbers an imaginary part.


def times(a, b):
    """a b"""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def conjugate_times(a, b):
    """conj(a) b: the components of b along a and across it."""
    return a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]


def turned(frame, u):
    """A u in the plane."""
    return frame[0, 0] * u[0] + frame[0, 1] * u[1], frame[1, 0] * u[0] + frame[1, 1] * u[1]


def write(out, x, y, g0, g1):
    """Rows x, y and columns 2, 3 := the matrix of z -> g z."""
    out[x, 2], out[x, 3] = g0, -g1
    out[y, 2], out[y, 3] = g1, g0


def add(out, row, scale, a):
    """Add the matrix of z -> scale a z, for z in columns 2, 3."""
    out[row, 2] += scale * a[0]
    out[row, 3] -= scale * a[1]
    out[row + 1, 2] += scale * a[1]
    out[row + 1, 3] += scale * a[0]


def add_conjugate(out, row, scale, a):
    """Add the matrix of z -> scale a conj(z), for z in columns 2, 3."""
    out[row, 2] += scale * a[0]
    out[row, 3] += scale * a[1]
    out[row + 1, 2] += scale * a[1]
    out[row + 1, 3] -= scale * a[0]
