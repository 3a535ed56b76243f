"""Euler parameters as coordinates: the origin and a quaternion that a constraint keeps at unit length."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...kernels.layout import PLACE
from ...rotations import matrix_from_quaternion, quaternion_from_matrix, skew
from ...vectors import times
from .base import Array, Formulation, Pattern, Variation, beside, named
from .marker_numbers import body_vector, number


class EulerParameters(Formulation):
    """Coordinates q = (r, p), velocities v = q': 7 / 7 per body, one intrinsic constraint p.p - 1 = 0.

    With p = (p0, e) the rotation matrix A(p) = (p0^2 - e.e) 1 + 2 e e^T + 2 p0 e~ is homogeneous of degree two; for
    |p| = 1 it is that of [PappalardoGuida2018b], eq. 3. All that follows from it is a polynomial, and exact for any
    p: a vector l of the body moves with x = A l, x' = B(p) p', x'' = B(p) p'' + B(p') p',

        B(p) = 2 [g, h 1 - g~],    (-h, g) = p o (0, l).

    The mass matrix of eq. 7 has no entry for a change of |p| and is singular. In the form of A used here, |p| scales
    the body, and the kinetic energy of that scaling is what is missing: with the inertia I about the origin, c the
    centre of mass and G of eq. 6

        M = [m 1, m B_c; m B_c^T, G^T I G + alpha J^T J],    alpha = 1/2 tr I,    J = 2 p^T.

    Because J p'' = gamma = -2 p'.p' holds, the addition changes neither accelerations nor reactions, only the
    multiplier of the normalization.
    """

    n_q = 7
    n_v = 7
    n_intrinsic = 1
    q_names: ClassVar = [*named("position", "m"), *named("euler_parameter", "", "0123")]
    v_names: ClassVar = [*named("velocity", "m/s"), *named("euler_parameter_rate", "1/s", "0123")]

    def constant_mass(self, row: Any) -> Array:
        return np.diag([row.mass] * 3 + [0.0] * 4)

    def mass_pattern(self, row: Any) -> Pattern:
        coupled = np.full((3, 4), bool(np.any(row.center != 0.0)))
        return np.block([[np.eye(3, dtype=bool), coupled], [coupled.T, np.ones((4, 4), bool)]])

    def constant_jacobian(self, marker: Any) -> Array:
        b = np.zeros((PLACE, 7))
        b[:3, :3] = np.eye(3)
        return b

    def jacobian_pattern(self, marker: Any) -> Pattern:
        b = np.zeros((PLACE, 7), bool)
        b[:3, :3] = np.eye(3)
        b[:3, 3:] = bool(np.any(marker.point != 0.0))
        b[3:, 3:] = True
        return b

    def intrinsic_pattern(self) -> Pattern:
        return np.array([[False] * 3 + [True] * 4])

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        p = quaternion_from_matrix(rotation)
        p_rate = [-angular_velocity @ p[1:], *(p[0] * angular_velocity + np.cross(angular_velocity, p[1:]))]
        return np.concatenate([position, p]), np.concatenate([velocity, 0.5 * np.array(p_rate)])

    def poses(self, q: Array) -> tuple[Array, Array]:
        return q[:, :3], matrix_from_quaternion(q[:, 3:])

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        scalar, e = q[:, 3:4], q[:, 4:]
        return v[:, :3], 2.0 * (scalar * v[:, 4:] - v[:, 3:4] * e + np.cross(e, v[:, 4:]))

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)  # omega = G(p) p' with a G that is linear in p, and G(p') p' = 0

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        return Variation.of_rates(*(beside(t, self._turning(x)) for t, x in ((1.0, q), (0.0, v), (0.0, v_rate))))

    @staticmethod
    def _turning(q):
        """The change 1/2 (0, phi) o p of p = (p0, e), linear in it: 1/2 [-e^T; p0 1 - e~], (n, 4, 3)."""
        p0, e = q[:, 3, None, None], q[:, 4:]
        return 0.5 * np.concatenate([-e[:, None, :], p0 * np.eye(3) - skew(e)], axis=1)

    @staticmethod
    def prepare(body, q, frame):
        p0, p1, p2, p3 = q[3], q[4], q[5], q[6]
        frame[0, 0] = p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3
        frame[0, 1] = 2.0 * (p1 * p2 - p0 * p3)
        frame[0, 2] = 2.0 * (p1 * p3 + p0 * p2)
        frame[1, 0] = 2.0 * (p1 * p2 + p0 * p3)
        frame[1, 1] = p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3
        frame[1, 2] = 2.0 * (p2 * p3 - p0 * p1)
        frame[2, 0] = 2.0 * (p1 * p3 - p0 * p2)
        frame[2, 1] = 2.0 * (p2 * p3 + p0 * p1)
        frame[2, 2] = p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        p, rate = q[3:], v[3:]
        for k in range(4):
            if k > 0 and not (marker.oriented >> (k - 1)) & 1:
                continue
            u = body_vector(marker, k)
            x = times(frame, u)
            for r in range(3):
                if k == 0:
                    marker.position[r] = q[r] + x[r]
                else:
                    marker.axes[r, k - 1] = x[r]
            if level == 0:
                continue
            b = b_matrix(p, u)
            speed, bias = product(b, rate), product(b_matrix(rate, u), rate)
            for r in range(3):
                if k == 0:
                    marker.velocity[r] = v[r] + speed[r]
                    marker.bias[r] = bias[r]
                else:
                    marker.axes_rate[r, k - 1] = speed[r]
                    marker.axes_bias[r, k - 1] = bias[r]
            for c in range(4):
                jacobian[number(k, 0), 3 + c] = b[0][c]
                jacobian[number(k, 1), 3 + c] = b[1][c]
                jacobian[number(k, 2), 3 + c] = b[2][c]
        if level > 0 and marker.oriented != 0:
            w = times(frame, product(g_matrix(p), rate))
            for r in range(3):
                marker.angular_velocity[r] = w[r]

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        p, rate, gravity, m = q[3:], v[3:], body.gravity, body.mass
        spread = 2.0 * (body.inertia[0, 0] + body.inertia[1, 1] + body.inertia[2, 2])  # alpha J^T J = spread p p^T
        g = g_matrix(p)
        for b in range(4):
            h = times(body.inertia, (g[0][b], g[1][b], g[2][b]))
            for a in range(b, 4):
                entry = g[0][a] * h[0] + g[1][a] * h[1] + g[2][a] * h[2] + spread * p[a] * p[b]
                mass[3 + a, 3 + b] = entry
                mass[3 + b, 3 + a] = entry
        # -2 G(p')^T I w, and alpha J^T gamma
        turn = transposed_product(g_matrix(rate), times(body.inertia, product(g, rate)))
        square = rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2] + rate[3] * rate[3]
        for a in range(4):
            force[3 + a] -= 2.0 * turn[a] + spread * square * p[a]
        for r in range(3):
            force[r] += m * gravity[r]
        if body.center[0] == 0.0 and body.center[1] == 0.0 and body.center[2] == 0.0:
            return
        c = (m * body.center[0], m * body.center[1], m * body.center[2])
        coupling, bias = b_matrix(p, c), product(b_matrix(rate, c), rate)
        for r in range(3):
            force[r] -= bias[r]
            for a in range(4):
                force[3 + a] += coupling[r][a] * gravity[r]
                mass[r, 3 + a] = coupling[r][a]
                mass[3 + a, r] = coupling[r][a]

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(7):
            q_rate[c] = v[c]

    @staticmethod
    def intrinsic(q, v, residual, rate, gamma, jacobian, level):
        residual[0] = -1.0
        for c in range(3, 7):
            residual[0] += q[c] * q[c]
        if level == 0:
            return
        rate[0] = 0.0
        gamma[0] = 0.0
        for c in range(3, 7):
            rate[0] += 2.0 * q[c] * v[c]
            gamma[0] -= 2.0 * v[c] * v[c]
            jacobian[0, c] = 2.0 * q[c]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        p, rate, second, m = q[3:], v[3:], v_rate[3:], body.mass
        # m (r'' + B_c(p) p'' + B_c(p') p' - g), and m B_c(p)^T (r'' - g)
        c = body.center
        b_second, b_rate = b_matrix(second, c), b_matrix(rate, c)
        pull = (v_rate[0] - body.gravity[0], v_rate[1] - body.gravity[1], v_rate[2] - body.gravity[2])
        weight = curvature(pull, c)
        # G(p)^T I G(p) p'' + 2 G(p')^T I G(p) p', where G(dp) y = -G(y) dp
        g, g_rate, g_second = g_matrix(p), g_matrix(rate), g_matrix(second)
        turn = product_matrix(times(body.inertia, product(g, rate)))
        turn_second = product_matrix(times(body.inertia, product(g, second)))
        # alpha J^T (J p'' - gamma)
        spread = 2.0 * (body.inertia[0, 0] + body.inertia[1, 1] + body.inertia[2, 2])
        for b in range(4):
            for r in range(3):
                stiffness[r, 3 + b] += m * b_second[r][b]
                damping[r, 3 + b] += 2.0 * m * b_rate[r][b]
            h = times(body.inertia, (g[0][b], g[1][b], g[2][b]))
            h_rate = times(body.inertia, (g_rate[0][b], g_rate[1][b], g_rate[2][b]))
            h_second = times(body.inertia, (g_second[0][b], g_second[1][b], g_second[2][b]))
            for a in range(4):
                stiffness[3 + a, 3 + b] += m * weight[a][b] + turn_second[a][b] + spread * p[a] * second[b]
                stiffness[3 + a, 3 + a] += spread * (p[b] * second[b] + rate[b] * rate[b])
                damping[3 + a, 3 + b] += 2.0 * turn[a][b] + 2.0 * spread * p[a] * rate[b]
                for r in range(3):
                    stiffness[3 + a, 3 + b] -= g[r][a] * h_second[r] + 2.0 * g_rate[r][a] * h_rate[r]
                    damping[3 + a, 3 + b] += 2.0 * g_rate[r][a] * h[r]

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(PLACE):
            for c in range(3):
                rate_tangent[x, c] = 0.0
        for k in range(4):
            b_rate = b_matrix(v[3:], body_vector(marker, k))
            for r in range(3):
                for c in range(4):
                    rate_tangent[number(k, r), 3 + c] = b_rate[r][c]

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        for k in range(4):
            f = (load[number(k, 0)], load[number(k, 1)], load[number(k, 2)])
            change = curvature(f, body_vector(marker, k))
            for a in range(4):
                for b in range(4):
                    stiffness[3 + a, 3 + b] += change[a][b]

    @staticmethod
    def intrinsic_tangent(q, multipliers, stiffness):
        for c in range(3, 7):
            stiffness[c, c] += 2.0 * multipliers[0]


# What the kernels above share. p and y stand for four numbers, the scalar first; l, f, h for three.


def b_matrix(p, l):
    """B(p) of a vector l of the body: 2 [g, h 1 - g~] with (-h, g) = p o (0, l)."""
    h = 2.0 * (p[1] * l[0] + p[2] * l[1] + p[3] * l[2])
    g0 = 2.0 * (p[0] * l[0] + p[2] * l[2] - p[3] * l[1])
    g1 = 2.0 * (p[0] * l[1] + p[3] * l[0] - p[1] * l[2])
    g2 = 2.0 * (p[0] * l[2] + p[1] * l[1] - p[2] * l[0])
    return (g0, h, g2, -g1), (g1, -g2, h, g0), (g2, g1, -g0, h)


def curvature(f, l):
    """Second derivatives of f . A(p) l, which are constant: the change of B(p)^T f."""
    fl = 2.0 * (f[0] * l[0] + f[1] * l[1] + f[2] * l[2])
    c0, c1, c2 = 2.0 * (l[1] * f[2] - l[2] * f[1]), 2.0 * (l[2] * f[0] - l[0] * f[2]), 2.0 * (l[0] * f[1] - l[1] * f[0])
    s01, s02, s12 = (
        2.0 * (f[0] * l[1] + f[1] * l[0]),
        2.0 * (f[0] * l[2] + f[2] * l[0]),
        2.0 * (f[1] * l[2] + f[2] * l[1]),
    )
    return (
        (fl, c0, c1, c2),
        (c0, 4.0 * f[0] * l[0] - fl, s01, s02),
        (c1, s01, 4.0 * f[1] * l[1] - fl, s12),
        (c2, s02, s12, 4.0 * f[2] * l[2] - fl),
    )


def g_matrix(p):
    """G of [PappalardoGuida2018b], eq. 6: the local angular velocity is G(p) p'."""
    p0, p1, p2, p3 = 2.0 * p[0], 2.0 * p[1], 2.0 * p[2], 2.0 * p[3]
    return (-p1, p0, p3, -p2), (-p2, -p3, p0, p1), (-p3, p2, -p1, p0)


def product_matrix(h):
    """The matrix of G(p)^T h = 2 p o (0, h), which is linear in p."""
    h0, h1, h2 = 2.0 * h[0], 2.0 * h[1], 2.0 * h[2]
    return (0.0, -h0, -h1, -h2), (h0, 0.0, h2, -h1), (h1, -h2, 0.0, h0), (h2, h1, -h0, 0.0)


def product(m, y):
    """Of a 3 x 4 matrix with four numbers."""
    return (
        m[0][0] * y[0] + m[0][1] * y[1] + m[0][2] * y[2] + m[0][3] * y[3],
        m[1][0] * y[0] + m[1][1] * y[1] + m[1][2] * y[2] + m[1][3] * y[3],
        m[2][0] * y[0] + m[2][1] * y[1] + m[2][2] * y[2] + m[2][3] * y[3],
    )


def transposed_product(m, f):
    """Of the transpose of a 3 x 4 matrix with a vector."""
    return (
        m[0][0] * f[0] + m[1][0] * f[1] + m[2][0] * f[2],
        m[0][1] * f[0] + m[1][1] * f[1] + m[2][1] * f[2],
        m[0][2] * f[0] + m[1][2] * f[1] + m[2][2] * f[2],
        m[0][3] * f[0] + m[1][3] * f[1] + m[2][3] * f[2],
    )
