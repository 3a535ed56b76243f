"""Euler angles: the origin and three angles about axes of a chosen sequence."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import ModelError, Problem
from ...kernels.layout import PLACE
from ...markers import AXES, converted
from ...vectors import column, cross, dot, plus, times
from .base import RIGID_FIELDS, Array, Formulation, Pattern, Variation, beside, named
from .marker_numbers import body_vector, number

if TYPE_CHECKING:
    from ..base import Body

SEQUENCES = ["".join(s) for s in product("XYZ", repeat=3) if s[0] != s[1] != s[2]]
NEAR = 1e-2  # of the determinant of the three axes, which is 1 where they are perpendicular and 0 in a singular pose


class EulerAngles(Formulation):
    """Coordinates q = (r, three angles), velocities v = q': 6 / 6 per body, no intrinsic constraint.

    Parameters
    ----------
    sequence
        The axes about which the body turns one after the other, each where the turns before have brought it
        (intrinsic, like SciPy's upper case): one of the twelve XYX, XYZ, ..., ZYZ.
    offset
        A constant rotation (SciPy `Rotation`, 3 x 3 or quaternion) between the body's axes and those that the angles
        turn: A = R_1 R_2 R_3 offset.

    With the current axes n_1, n_2, n_3 of the turns the angular velocity is w = sum n_a u_a', and a vector s fixed to
    the body changes by n_a x s with the angle u_a; n_a itself turns with the angles before it:

        dn_b/du_a = n_a x n_b for a < b,    x' = w x s,    w' = sum n_a u_a'' + sum_{a<b} n_a x n_b u_a' u_b'.

    Where n_1 and n_3 become parallel (the middle angle is at 90 degrees, or at 0 in sequences like ZXZ) the pose is
    singular: near it there is an error that proposes another sequence. Angles are continuous during a run: the first
    and the last one count turns.
    """

    n_q = 6
    n_v = 6
    q_names: ClassVar = [*named("position", "m"), *named("euler_angle", "rad", "123")]
    v_names: ClassVar = [*named("velocity", "m/s"), *named("euler_angle_rate", "rad/s", "123")]
    n_frame = 6  # the columns A, n_1, n_2, n_3
    fields: ClassVar = [
        *RIGID_FIELDS,
        ("axes", "i8", 3),
        ("offset", "f8", (3, 3)),
        ("handedness", "f8"),  # sign of the determinant of (n_1, n_2, n_3) in the range of the middle angle
    ]

    def __init__(self, sequence: str = "ZXY", offset: object = None) -> None:
        if sequence not in SEQUENCES:
            message = f"found {sequence!r}; allowed are {', '.join(SEQUENCES)} (intrinsic); choose one of them"
            raise ModelError([Problem("EulerAngles", "sequence", message)])
        self.sequence = sequence
        # tuples, so that formulations can be compared and hashed
        rows = None if offset is None else converted(AXES, offset, "EulerAngles", "offset").tolist()
        self.offset = None if rows is None else tuple(map(tuple, rows))

    @property
    def _axes(self):
        return ["XYZ".index(letter) for letter in self.sequence]

    @property
    def _offset(self):
        return np.eye(3) if self.offset is None else np.array(self.offset)

    @property
    def _handedness(self):
        """n_1 . (n_2 x n_3) is this times cos(middle angle), or times sin(middle angle) in sequences like ZXZ."""
        return -1.0 if self.sequence[0] == self.sequence[2] else float(np.linalg.det(np.eye(3)[:, self._axes]))

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        own = {"axes": self._axes, "offset": self._offset, "handedness": self._handedness}
        return super().row(body, gravity) | own

    def constant_mass(self, row: Any) -> Array:
        return np.diag([row.mass] * 3 + [0.0] * 3)

    def mass_pattern(self, row: Any) -> Pattern:
        coupled = np.full((3, 3), bool(np.any(row.center != 0.0)))
        return np.block([[np.eye(3, dtype=bool), coupled], [coupled, np.ones((3, 3), bool)]])

    def constant_jacobian(self, marker: Any) -> Array:
        b = np.zeros((PLACE, 6))
        b[:3, :3] = np.eye(3)
        return b

    def jacobian_pattern(self, marker: Any) -> Pattern:
        b = np.zeros((PLACE, 6), bool)
        b[:3, :3] = np.eye(3)
        b[:3, 3:] = bool(np.any(marker.point != 0.0))
        b[3:, 3:] = True
        return b

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        """The middle angle is chosen between -90 and 90 degrees, or between 0 and 180 in sequences like ZXZ."""
        i, j, k = self._axes
        turned = rotation @ self._offset.T
        unit = np.eye(3)
        n_1, n_3 = unit[i], turned[:, k]
        across = -self._handedness * np.cross(n_1, n_3)
        distance = np.linalg.norm(across)
        if not distance > NEAR:
            raise ValueError(self.singular_pose(rotation))
        n_2 = across / distance
        # after the first turn: where the third axis of the sequence is before the second one
        third = n_1 if i == k else self._handedness * np.cross(n_1, n_2)
        angles = [_angle(n_1, unit[j], n_2), _angle(n_2, third, n_3), _angle(n_3, n_2, turned[:, j])]
        rates = np.linalg.solve(np.column_stack([n_1, n_2, n_3]), angular_velocity)
        return np.concatenate([position, angles]), np.concatenate([velocity, rates])

    def singular_pose(self, rotation: Array) -> str:
        # Without an offset n_1 . n_3 is an entry of the rotation matrix, for every sequence.
        best = min(SEQUENCES, key=lambda s: abs(rotation["XYZ".index(s[0]), "XYZ".index(s[2])]))
        return (
            f"the angles {self.sequence} are singular in this pose: their first and last axes are (almost) parallel; "
            f"use EulerAngles({best!r}), whose axes are far from that here, or a formulation without singular poses "
            "such as NewtonEuler()"
        )

    def _frames(self, q):
        """Rotation matrices and the axes n_1, n_2, n_3 as columns, (n, 3, 3) each."""
        first, second, third = (_turns(axis, q[:, 3 + a]) for a, axis in enumerate(self._axes))
        i, j, k = self._axes
        both = first @ second
        start = np.broadcast_to(np.eye(3)[i], (len(q), 3))
        return both @ third @ self._offset, np.stack([start, first[:, :, j], both[:, :, k]], axis=-1)

    def poses(self, q: Array) -> tuple[Array, Array]:
        return q[:, :3], self._frames(q)[0]

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return v[:, :3], np.einsum("nij,nj->ni", self._frames(q)[1], v[:, 3:])

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        n = np.moveaxis(self._frames(q)[1], 2, 0)
        alpha = self.twists(q, v_rate)[1]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            alpha = alpha + np.cross(n[a], n[b]) * v[:, 3 + a, None] * v[:, 3 + b, None]
        return v_rate[:, :3], alpha

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        # phi = H du with the axes n_a as the columns of H, so N = H^-1 and N' = -N H' N; H' as H'' by n_b' = w_b x n_b,
        # w_b being the angular velocity by the turns before.
        H = self._frames(q)[1]
        H_rate, H_bend, w, alpha = np.zeros_like(H), np.zeros_like(H), np.zeros_like(q[:, :3]), np.zeros_like(q[:, :3])
        for b in range(3):
            n, rate, speed = H[:, :, b], H_rate[:, :, b], v[:, 3 + b, None]
            rate[:] = np.cross(w, n)
            H_bend[:, :, b] = np.cross(alpha, n) + np.cross(w, rate)
            alpha = alpha + v_rate[:, 3 + b, None] * n + speed * rate
            w = w + speed * n
        N = np.linalg.inv(H)
        N_rate = -N @ H_rate @ N
        N_bend = -N_rate @ H_rate @ N - N @ H_bend @ N - N @ H_rate @ N_rate
        return Variation.of_rates(beside(1.0, N), beside(0.0, N_rate), beside(0.0, N_bend))

    @staticmethod
    def prepare(body, q, frame):
        for r in range(3):
            for c in range(3):
                frame[r, c] = body.offset[r, c]
        # From the last turn to the first, each turns the body and the axes of the turns after it.
        for step in range(3):
            a = 2 - step
            axis = body.axes[a]
            j, k = (axis + 1) % 3, (axis + 2) % 3
            frame[axis, 3 + a] = 1.0
            frame[j, 3 + a] = 0.0
            frame[k, 3 + a] = 0.0
            cosine, sine = np.cos(q[3 + a]), np.sin(q[3 + a])
            for c in range(6):
                if c < 3 or c > 3 + a:
                    y, z = frame[j, c], frame[k, c]
                    frame[j, c] = cosine * y - sine * z
                    frame[k, c] = sine * y + cosine * z

    @staticmethod
    def regular(body, q, frame):
        # With its sign, so that a step across a singular pose does not go unnoticed. What is not a number is no pose at
        # all, and others will say so.
        volume = dot(column(frame, 3), cross(column(frame, 4), column(frame, 5)))
        return not body.handedness * volume <= NEAR

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        axes = (column(frame, 3), column(frame, 4), column(frame, 5))
        w, alpha = spin(axes, v)
        for k in range(4):
            if k > 0 and not (marker.oriented >> (k - 1)) & 1:
                continue
            s = times(frame, body_vector(marker, k))
            rate = cross(w, s)
            bias = plus(cross(w, rate), 1.0, cross(alpha, s))
            for r in range(3):
                if k == 0:
                    marker.position[r] = q[r] + s[r]
                else:
                    marker.axes[r, k - 1] = s[r]
            if level == 0:
                continue
            for r in range(3):
                if k == 0:
                    marker.velocity[r] = v[r] + rate[r]
                    marker.bias[r] = bias[r]
                else:
                    marker.axes_rate[r, k - 1] = rate[r]
                    marker.axes_bias[r, k - 1] = bias[r]
            for a in range(3):
                turn = cross(axes[a], s)
                for r in range(3):
                    jacobian[number(k, r), 3 + a] = turn[r]
        if level > 0 and marker.oriented != 0:
            for r in range(3):
                marker.angular_velocity[r] = w[r]

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        # in body axes, where the equations of Newton and Euler are those of `NewtonEuler`
        axes = (local(frame, 3), local(frame, 4), local(frame, 5))
        w, alpha = spin(axes, v)
        c, m = body.center, body.mass
        torque = plus(times(body.inertia, alpha), 1.0, cross(w, times(body.inertia, w)))
        for b in range(3):
            h = times(body.inertia, axes[b])
            force[b] += m * body.gravity[b]
            force[3 + b] -= dot(axes[b], torque)
            for a in range(b, 3):
                entry = dot(axes[a], h)
                mass[3 + a, 3 + b] = entry
                mass[3 + b, 3 + a] = entry
        if c[0] == 0.0 and c[1] == 0.0 and c[2] == 0.0:
            return
        swing = times(frame, plus(cross(alpha, c), 1.0, cross(w, cross(w, c))))
        for r in range(3):
            force[r] -= m * swing[r]
        for a in range(3):
            turn = times(frame, cross(axes[a], c))
            for r in range(3):
                mass[r, 3 + a] = m * turn[r]
                mass[3 + a, r] = m * turn[r]
                force[3 + a] += m * turn[r] * body.gravity[r]

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(6):
            q_rate[c] = v[c]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        # In body axes n_a turns with the angles after it, dn_a/du_k = n_a x n_k for a < k, and a fixed direction with
        # all of them. By the angle u_k: dw = (sum_{a<k} n_a u_a') x n_k, and dw' is the rate of that; by u_k': dw =
        # n_k, and dw' = dw/du_k + n_k'.
        axes = (local(frame, 3), local(frame, 4), local(frame, 5))
        c, m = body.center, body.mass
        w, alpha = spin(axes, v)
        for a in range(3):
            alpha = plus(alpha, v_rate[3 + a], axes[a])
        pull = (v_rate[0] - body.gravity[0], v_rate[1] - body.gravity[1], v_rate[2] - body.gravity[2])
        pull = (dot(column(frame, 0), pull), dot(column(frame, 1), pull), dot(column(frame, 2), pull))
        swing = plus(cross(alpha, c), 1.0, cross(w, cross(w, c)))
        torque = plus(times(body.inertia, alpha), 1.0, cross(w, times(body.inertia, w)))
        torque = plus(torque, m, cross(c, pull))
        before, before_rate = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # sum_{a<k} n_a u_a'
        for k in range(3):
            n = axes[k]
            n_rate = cross(n, plus(w, -1.0, before))  # n x n = 0
            w_change = cross(before, n)
            alpha_change = plus(cross(before_rate, n), 1.0, cross(before, n_rate))
            swing_change, torque_change = inertia_change(c, body.inertia, w, w_change, alpha_change)
            swing_change = times(frame, plus(swing_change, 1.0, cross(n, swing)))
            torque_change = plus(torque_change, -m, cross(c, cross(n, pull)))
            swing_faster, torque_faster = inertia_change(c, body.inertia, w, n, plus(w_change, 1.0, n_rate))
            swing_faster = times(frame, swing_faster)
            for r in range(3):
                stiffness[r, 3 + k] += m * swing_change[r]
                stiffness[3 + r, 3 + k] += dot(axes[r], torque_change)
                if r < k:
                    stiffness[3 + r, 3 + k] += dot(cross(axes[r], n), torque)
                damping[r, 3 + k] += m * swing_faster[r]
                damping[3 + r, 3 + k] += dot(axes[r], torque_faster)
            before_rate = plus(plus(before_rate, v_rate[3 + k], n), v[3 + k], n_rate)
            before = plus(before, v[3 + k], n)

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(PLACE):
            for c in range(3):
                rate_tangent[x, c] = 0.0
        axes = (column(frame, 3), column(frame, 4), column(frame, 5))
        for k in range(4):
            s = times(frame, body_vector(marker, k))
            for c in range(3):
                change = (0.0, 0.0, 0.0)
                for b in range(3):
                    change = plus(change, v[3 + b], second_derivative(axes, s, b, c))
                for r in range(3):
                    rate_tangent[number(k, r), 3 + c] = change[r]

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        axes = (column(frame, 3), column(frame, 4), column(frame, 5))
        for k in range(4):
            s = times(frame, body_vector(marker, k))
            f = (load[number(k, 0)], load[number(k, 1)], load[number(k, 2)])
            for a in range(3):
                for b in range(3):
                    stiffness[3 + a, 3 + b] += dot(f, second_derivative(axes, s, a, b))


def _angle(axis, start, end):
    """The angle about `axis` from one vector to another; all have unit length."""
    return np.arctan2(axis @ np.cross(start, end), start @ end)


def _turns(axis, angles):
    """Rotation matrices (n, 3, 3) about a coordinate axis."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    turns = np.tile(np.eye(3), (len(angles), 1, 1))
    turns[:, j, j] = turns[:, k, k] = np.cos(angles)
    turns[:, k, j] = np.sin(angles)
    turns[:, j, k] = -turns[:, k, j]
    return turns


# What the kernels above share.


def spin(axes, v):
    """Angular velocity, and angular acceleration for constant rates; both in the components of the axes."""
    two = plus(plus((0.0, 0.0, 0.0), v[3], axes[0]), v[4], axes[1])
    alpha = plus((0.0, 0.0, 0.0), v[3] * v[4], cross(axes[0], axes[1]))
    return plus(two, v[5], axes[2]), plus(alpha, v[5], cross(two, axes[2]))


def local(frame, c):
    """A column of the frame in body axes."""
    n = column(frame, c)
    return dot(column(frame, 0), n), dot(column(frame, 1), n), dot(column(frame, 2), n)


def second_derivative(axes, s, a, b):
    """Of a vector s of the body by the angles a and b: the earlier turn acts on what the later one does."""
    return cross(axes[min(a, b)], cross(axes[max(a, b)], s))


def inertia_change(c, inertia, w, w_change, alpha_change):
    """Of alpha x c + w x (w x c), and of I alpha + w x I w."""
    swing = plus(cross(alpha_change, c), 1.0, cross(w_change, cross(w, c)))
    torque = plus(times(inertia, alpha_change), 1.0, cross(w_change, times(inertia, w)))
    return (
        plus(swing, 1.0, cross(w, cross(w_change, c))),
        plus(torque, 1.0, cross(w, times(inertia, w_change))),
    )
