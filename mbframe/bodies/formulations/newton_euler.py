"""Newton-Euler equations: position and Euler parameters, velocity and local angular velocity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...kernels.layout import PLACE
from ...rotations import matrix_from_quaternion, quaternion_from_matrix, skew
from .base import Array, Formulation, MassProperties, Pattern, Variation, beside, kinetic_energy, named


class NewtonEuler(Formulation):
    r"""Coordinates q = (r, p), velocities v = (r', \bar\omega): 7 / 6 per body, no intrinsic constraint.

    p' = 1/2 p o (0, \bar\omega); the rotation matrix is that of p/|p|, so the length of p has no influence. With c
    the centre of mass, A the rotation matrix and I the inertia about the origin, in body axes:

        m (r'' + A (w' x c + w x (w x c))) = f
        m c x A^T r'' + I w' + w x I w    = moment about the origin, in body axes

    The generalized Newton-Euler equations of [Pappalardo, lecture notes on flexible multibody dynamics], section 2.2,
    for a rigid body.
    """

    n_q = 7
    n_v = 6
    q_names: ClassVar = [*named("position", "m"), *named("euler_parameter", "", "0123")]
    v_names: ClassVar = [*named("velocity", "m/s"), *named("local_angular_velocity", "rad/s")]

    def constant_mass(self, row: Any) -> Array:
        mass = np.zeros((6, 6))
        mass[[0, 1, 2], [0, 1, 2]] = row.mass
        mass[3:, :3] = row.mass * skew(row.center)
        mass[:3, 3:] = -mass[3:, :3]
        mass[3:, 3:] = row.inertia
        return mass

    def mass_pattern(self, row: Any) -> Pattern:
        pattern = np.eye(6, dtype=bool)
        pattern[:3, 3:] = pattern[3:, :3] = row.center.any()
        pattern[3:, 3:] |= row.inertia != 0.0
        return pattern

    def constant_jacobian(self, marker: Any) -> Array:
        b = np.zeros((PLACE, 6))
        b[[0, 1, 2], [0, 1, 2]] = 1.0
        return b

    def jacobian_pattern(self, marker: Any) -> Pattern:
        b = np.eye(PLACE, 6, dtype=bool)
        b[:3, 3:] = marker.point.any()
        b[3:, 3:] = True
        return b

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        q = np.concatenate([position, quaternion_from_matrix(rotation)])
        return q, np.concatenate([velocity, rotation.T @ angular_velocity])

    def poses(self, q: Array) -> tuple[Array, Array]:
        return q[:, :3], matrix_from_quaternion(q[:, 3:])

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return v[:, :3], np.einsum("nij,nj->ni", matrix_from_quaternion(q[:, 3:]), v[:, 3:])

    def energies(self, q: Array, v: Array, properties: MassProperties, gravity: Array) -> tuple[Array, Array]:
        mass, local_center, inertia = properties  # v has what turns in body axes: rotations are for the centre only
        center, velocity, spin = q[:, :3], v[:, :3], v[:, 3:]
        if local_center.any():
            rotation = matrix_from_quaternion(q[:, 3:])
            arms = np.broadcast_to(local_center, spin.shape)
            center = center + (rotation @ arms[..., None])[..., 0]
            velocity = velocity + (rotation @ np.cross(spin, arms)[..., None])[..., 0]
        return kinetic_energy(mass, velocity, inertia, spin), -mass * (center @ gravity)

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)  # A (w x w) = 0: the local rate of w is also its absolute one

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        # The local angular velocity changes by A^T phi', and (A^T)' = -w~ A^T with the local w.
        back = np.swapaxes(matrix_from_quaternion(q[:, 3:]), 1, 2)
        none = np.zeros((len(q), 6, 6))
        return Variation(beside(1.0, back), beside(0.0, -skew(v[:, 3:]) @ back), none, none)

    @staticmethod
    def prepare(body, q, frame):
        s = 1.0 / (q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6])
        p0, p1, p2, p3 = q[3], q[4], q[5], q[6]
        x, y, z = 2.0 * s * p1, 2.0 * s * p2, 2.0 * s * p3
        frame[0, 0] = 1.0 - y * p2 - z * p3
        frame[0, 1] = x * p2 - z * p0
        frame[0, 2] = x * p3 + y * p0
        frame[1, 0] = x * p2 + z * p0
        frame[1, 1] = 1.0 - x * p1 - z * p3
        frame[1, 2] = y * p3 - x * p0
        frame[2, 0] = x * p3 - y * p0
        frame[2, 1] = y * p3 + x * p0
        frame[2, 2] = 1.0 - x * p1 - y * p2

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        a, axes, u = frame, marker.axes, marker.point
        # s = A u: from the origin to the point; the axes are d_k = A l_k.
        s0 = a[0, 0] * u[0] + a[0, 1] * u[1] + a[0, 2] * u[2]
        s1 = a[1, 0] * u[0] + a[1, 1] * u[1] + a[1, 2] * u[2]
        s2 = a[2, 0] * u[0] + a[2, 1] * u[1] + a[2, 2] * u[2]
        marker.position[0] = q[0] + s0
        marker.position[1] = q[1] + s1
        marker.position[2] = q[2] + s2
        for k in range(3):
            if (marker.oriented >> k) & 1:
                l0, l1, l2 = marker.frame[0, k], marker.frame[1, k], marker.frame[2, k]
                for r in range(3):
                    axes[r, k] = a[r, 0] * l0 + a[r, 1] * l1 + a[r, 2] * l2
        if level == 0:
            return
        w0 = a[0, 0] * v[3] + a[0, 1] * v[4] + a[0, 2] * v[5]
        w1 = a[1, 0] * v[3] + a[1, 1] * v[4] + a[1, 2] * v[5]
        w2 = a[2, 0] * v[3] + a[2, 1] * v[4] + a[2, 2] * v[5]
        r0, r1, r2 = w1 * s2 - w2 * s1, w2 * s0 - w0 * s2, w0 * s1 - w1 * s0
        marker.velocity[0] = v[0] + r0
        marker.velocity[1] = v[1] + r1
        marker.velocity[2] = v[2] + r2
        marker.bias[0] = w1 * r2 - w2 * r1
        marker.bias[1] = w2 * r0 - w0 * r2
        marker.bias[2] = w0 * r1 - w1 * r0
        # A unit local angular velocity turns a global vector s by a_c x s: columns 3 + c of B.
        for c in range(3):
            jacobian[0, 3 + c] = a[1, c] * s2 - a[2, c] * s1
            jacobian[1, 3 + c] = a[2, c] * s0 - a[0, c] * s2
            jacobian[2, 3 + c] = a[0, c] * s1 - a[1, c] * s0
        if marker.oriented == 0:
            return
        marker.angular_velocity[0] = w0
        marker.angular_velocity[1] = w1
        marker.angular_velocity[2] = w2
        for k in range(3):
            if not (marker.oriented >> k) & 1:
                continue
            d0, d1, d2 = axes[0, k], axes[1, k], axes[2, k]
            r0, r1, r2 = w1 * d2 - w2 * d1, w2 * d0 - w0 * d2, w0 * d1 - w1 * d0
            marker.axes_rate[0, k] = r0
            marker.axes_rate[1, k] = r1
            marker.axes_rate[2, k] = r2
            marker.axes_bias[0, k] = w1 * r2 - w2 * r1
            marker.axes_bias[1, k] = w2 * r0 - w0 * r2
            marker.axes_bias[2, k] = w0 * r1 - w1 * r0
            for c in range(3):
                jacobian[3 + k, 3 + c] = a[1, c] * d2 - a[2, c] * d1
                jacobian[6 + k, 3 + c] = a[2, c] * d0 - a[0, c] * d2
                jacobian[9 + k, 3 + c] = a[0, c] * d1 - a[1, c] * d0

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        a, c, g, m = frame, body.center, body.gravity, body.mass
        x, y, z = v[3], v[4], v[5]
        h0 = body.inertia[0, 0] * x + body.inertia[0, 1] * y + body.inertia[0, 2] * z
        h1 = body.inertia[1, 0] * x + body.inertia[1, 1] * y + body.inertia[1, 2] * z
        h2 = body.inertia[2, 0] * x + body.inertia[2, 1] * y + body.inertia[2, 2] * z
        for r in range(3):
            force[r] += m * g[r]
        force[3] -= y * h2 - z * h1
        force[4] -= z * h0 - x * h2
        force[5] -= x * h1 - y * h0
        if c[0] == 0.0 and c[1] == 0.0 and c[2] == 0.0:
            return
        # centripetal acceleration of the centre of mass and gravity, in body axes
        b0, b1, b2 = y * c[2] - z * c[1], z * c[0] - x * c[2], x * c[1] - y * c[0]
        p0, p1, p2 = y * b2 - z * b1, z * b0 - x * b2, x * b1 - y * b0
        g0 = a[0, 0] * g[0] + a[1, 0] * g[1] + a[2, 0] * g[2]
        g1 = a[0, 1] * g[0] + a[1, 1] * g[1] + a[2, 1] * g[2]
        g2 = a[0, 2] * g[0] + a[1, 2] * g[1] + a[2, 2] * g[2]
        force[3] += m * (c[1] * g2 - c[2] * g1)
        force[4] += m * (c[2] * g0 - c[0] * g2)
        force[5] += m * (c[0] * g1 - c[1] * g0)
        for r in range(3):
            force[r] -= m * (a[r, 0] * p0 + a[r, 1] * p1 + a[r, 2] * p2)
            # row r of -m A c~
            mass[r, 3] = m * (a[r, 2] * c[1] - a[r, 1] * c[2])
            mass[r, 4] = m * (a[r, 0] * c[2] - a[r, 2] * c[0])
            mass[r, 5] = m * (a[r, 1] * c[0] - a[r, 0] * c[1])
            for k in range(3):
                mass[3 + k, r] = mass[r, 3 + k]

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(3):
            q_rate[c] = v[c]
        q_rate[3] = -0.5 * (q[4] * v[3] + q[5] * v[4] + q[6] * v[5])
        q_rate[4] = 0.5 * (q[3] * v[3] + q[5] * v[5] - q[6] * v[4])
        q_rate[5] = 0.5 * (q[3] * v[4] + q[6] * v[3] - q[4] * v[5])
        q_rate[6] = 0.5 * (q[3] * v[5] + q[4] * v[4] - q[5] * v[3])

    @staticmethod
    def normalize(body, q):
        s = 1.0 / np.sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6])
        for c in range(3, 7):
            q[c] *= s

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        a, c, g, m = frame, body.center, body.gravity, body.mass
        x, y, z = v[3], v[4], v[5]
        # d(w x I w)/dw = w~ I - (I w)~
        for k in range(3):
            i0, i1, i2 = body.inertia[0, k], body.inertia[1, k], body.inertia[2, k]
            damping[3, 3 + k] += y * i2 - z * i1
            damping[4, 3 + k] += z * i0 - x * i2
            damping[5, 3 + k] += x * i1 - y * i0
        h0 = body.inertia[0, 0] * x + body.inertia[0, 1] * y + body.inertia[0, 2] * z
        h1 = body.inertia[1, 0] * x + body.inertia[1, 1] * y + body.inertia[1, 2] * z
        h2 = body.inertia[2, 0] * x + body.inertia[2, 1] * y + body.inertia[2, 2] * z
        damping[3, 4] += h2
        damping[3, 5] -= h1
        damping[4, 3] -= h2
        damping[4, 5] += h0
        damping[5, 3] += h1
        damping[5, 4] -= h0
        # s = w' x c + w x (w x c), so that the first row is m A s: along a local rotation d it changes by m A (d x s)
        wc = x * c[0] + y * c[1] + z * c[2]
        ww = x * x + y * y + z * z
        s0 = v_rate[4] * c[2] - v_rate[5] * c[1] + x * wc - ww * c[0]
        s1 = v_rate[5] * c[0] - v_rate[3] * c[2] + y * wc - ww * c[1]
        s2 = v_rate[3] * c[1] - v_rate[4] * c[0] + z * wc - ww * c[2]
        # b = A^T (r'' - g): the second row contains m c x b, and b changes by -d x b
        e0, e1, e2 = v_rate[0] - g[0], v_rate[1] - g[1], v_rate[2] - g[2]
        b0 = a[0, 0] * e0 + a[1, 0] * e1 + a[2, 0] * e2
        b1 = a[0, 1] * e0 + a[1, 1] * e1 + a[2, 1] * e2
        b2 = a[0, 2] * e0 + a[1, 2] * e1 + a[2, 2] * e2
        for r in range(3):
            stiffness[r, 3] += m * (a[r, 2] * s1 - a[r, 1] * s2)
            stiffness[r, 4] += m * (a[r, 0] * s2 - a[r, 2] * s0)
            stiffness[r, 5] += m * (a[r, 1] * s0 - a[r, 0] * s1)
        # m c x (b x d) = m (b (c.d) - d (c.b))
        cb = c[0] * b0 + c[1] * b1 + c[2] * b2
        for k in range(3):
            stiffness[3, 3 + k] += m * b0 * c[k]
            stiffness[4, 3 + k] += m * b1 * c[k]
            stiffness[5, 3 + k] += m * b2 * c[k]
            stiffness[3 + k, 3 + k] -= m * cb
        # d(w x (w x c))/dw = w c^T + (w.c) 1 - 2 c w^T
        for k in range(3):
            t0 = x * c[k] - 2.0 * c[0] * v[3 + k]
            t1 = y * c[k] - 2.0 * c[1] * v[3 + k]
            t2 = z * c[k] - 2.0 * c[2] * v[3 + k]
            for r in range(3):
                damping[r, 3 + k] += m * (a[r, 0] * t0 + a[r, 1] * t1 + a[r, 2] * t2 + a[r, k] * wc)

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        # x' of a vector s fixed to the body is A (w x l), s = A l; along a local rotation d it changes by A (d x (w x
        # l)).
        a = frame
        for x in range(PLACE):
            for c in range(6):
                rate_tangent[x, c] = 0.0
        r0, r1, r2 = marker.velocity[0] - v[0], marker.velocity[1] - v[1], marker.velocity[2] - v[2]
        for c in range(3):
            rate_tangent[0, 3 + c] = a[1, c] * r2 - a[2, c] * r1
            rate_tangent[1, 3 + c] = a[2, c] * r0 - a[0, c] * r2
            rate_tangent[2, 3 + c] = a[0, c] * r1 - a[1, c] * r0
        for k in range(3):
            r0, r1, r2 = marker.axes_rate[0, k], marker.axes_rate[1, k], marker.axes_rate[2, k]
            for c in range(3):
                rate_tangent[3 + k, 3 + c] = a[1, c] * r2 - a[2, c] * r1
                rate_tangent[6 + k, 3 + c] = a[2, c] * r0 - a[0, c] * r2
                rate_tangent[9 + k, 3 + c] = a[0, c] * r1 - a[1, c] * r0

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        # The rotational part of B^T f is l x A^T f for each vector l fixed to the body; along d it changes by l x
        # (A^T f x d).
        a = frame
        for k in range(4):
            if k == 0:
                f0, f1, f2 = load[0], load[1], load[2]
                l0, l1, l2 = marker.point[0], marker.point[1], marker.point[2]
            else:
                f0, f1, f2 = load[2 + k], load[5 + k], load[8 + k]
                l0, l1, l2 = marker.frame[0, k - 1], marker.frame[1, k - 1], marker.frame[2, k - 1]
            b0 = a[0, 0] * f0 + a[1, 0] * f1 + a[2, 0] * f2
            b1 = a[0, 1] * f0 + a[1, 1] * f1 + a[2, 1] * f2
            b2 = a[0, 2] * f0 + a[1, 2] * f1 + a[2, 2] * f2
            lb = l0 * b0 + l1 * b1 + l2 * b2
            stiffness[3, 3] += b0 * l0 - lb
            stiffness[3, 4] += b0 * l1
            stiffness[3, 5] += b0 * l2
            stiffness[4, 3] += b1 * l0
            stiffness[4, 4] += b1 * l1 - lb
            stiffness[4, 5] += b1 * l2
            stiffness[5, 3] += b2 * l0
            stiffness[5, 4] += b2 * l1
            stiffness[5, 5] += b2 * l2 - lb
