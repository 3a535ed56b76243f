"""Flexible bodies that bending shortens: displacements quadratic in the modal coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.compiler.arrays import numbers
from ...kernels.layout import PLACE
from ...vectors import column, cross, dot, plus, seen, times, triple, unit
from .base import Array, Pattern
from .floating_frame import FloatingFrame, combined, turn_axes, turned_axis, write_swing
from .node_rotation import coefficients, turn, twist, twist_change, untwist, untwist_change

if TYPE_CHECKING:
    from ..base import Body


class StiffenedFrame(FloatingFrame):
    r"""`FloatingFrame` with geometric stiffening: a point moves by u = \psi \eta + 1/2 \eta^T g \eta, and turns so.

    That is the displacement of a body that bends without being stretched, so that its elastic energy stays quadratic:
    see `Modes.curves`. The shapes of markers become \psi + g \eta, and loads along the body, whatever they come from,
    do work on deflections: tension resists them, pressure helps them. In mean axes, in which the body moves, g has no
    momentum; to second order it changes the inertia by x.g, which is among the second derivatives of I, and nothing
    else. Energy and momentum are those of one kinetic energy and one potential as before.

    The shape of a marker has 6 rows \psi and 6 more for each mode k: g_k.
    """

    remedy = "reduce the loads"

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        data = self.inertia_data
        return super().row(body, gravity) | {"curved": 1 if data is None or not data.curves_turn else 2}

    def jacobian_pattern(self, marker: Any) -> Pattern:
        m = self.n_modes
        shape = numbers(marker.node_shape, 6 + 6 * m, m)
        curves = np.any(shape[6:].reshape(m, 6, m) != 0.0, axis=2).T
        moves = (shape[:6] != 0.0) | curves
        b = np.zeros((PLACE, self.n_v), bool)
        b[:3, :3] = np.eye(3)
        b[:3, 3:6] = bool(np.any(marker.point != 0.0) or np.any(moves[:3]))
        b[3:, 3:6] = True
        b[:3, 6:] = np.any(moves[:3], axis=0)
        b[3:, 6:] = np.any(moves[3:], axis=0)
        return b

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        a, axes, n = frame, marker.axes, body.n_modes
        shape = numbers(marker.node_shape, 6 + 6 * n, n)
        turning = body.curved > 1  # whether g turns nodes as well
        oriented = marker.oriented != 0
        if level == 0:
            u, e = moved(shape, 0, q, 7, n), (0.0, 0.0, 0.0)
            if oriented:
                e = moved(shape, 3, q, 7, n) if turning else combined(shape, 3, q, 7, n)
        else:
            # The shapes of the deformed body, in the axes of the frame until the end; those of the node's rotation are
            # in the rows of the last axis, which are written last.
            bent_shapes(shape, 0, q, n, jacobian, 0, 1, True)
            u, e = halfway(shape, 0, q, n, jacobian, 0, 1), (0.0, 0.0, 0.0)
            if oriented:
                bent_shapes(shape, 3, q, n, jacobian, 5, 3, turning)
                e = halfway(shape, 3, q, n, jacobian, 5, 3)
        u = plus(triple(marker.point), 1.0, u)
        s = times(a, u)  # from the origin to the point
        for r in range(3):
            marker.position[r] = q[r] + s[r]
        c1, c2, c1_rate, c2_rate = coefficients(dot(e, e))
        if oriented:
            for k in range(3):
                d = times(a, turn(c1, c2, e, column(marker.frame, k)))
                for r in range(3):
                    axes[r, k] = d[r]
        if level == 0:
            return
        w = (v[3], v[4], v[5])
        u_rate = rated(jacobian, 0, 1, v, n)
        wu = cross(w, u)
        bend = plus(plus(cross(w, wu), 2.0, cross(w, u_rate)), 1.0, curled(shape, 0, v, n))
        velocity, bias = times(a, plus(wu, 1.0, u_rate)), times(a, bend)
        for r in range(3):
            marker.velocity[r] = v[r] + velocity[r]
            marker.bias[r] = bias[r]
        write_swing(a, s, jacobian, 0, 1)
        for c in range(n):
            x, y, z = jacobian[0, 6 + c], jacobian[1, 6 + c], jacobian[2, 6 + c]
            for r in range(3):
                jacobian[r, 6 + c] = a[r, 0] * x + a[r, 1] * y + a[r, 2] * z
        if not oriented:
            return
        # The node turns with w + J e' in the axes of the frame; for constant velocities that changes by (J e')'.
        e_rate = rated(jacobian, 5, 3, v, n)
        own = twist(c1, c2, e, e_rate)
        local = plus(w, 1.0, own)
        change = plus(twist_change(c1, c2, c1_rate, c2_rate, e, e_rate, e_rate), 1.0, cross(w, own))
        if turning:
            change = plus(change, 1.0, twist(c1, c2, e, curled(shape, 3, v, n)))
        omega, alpha = times(a, local), times(a, change)
        t0, t1, t2 = (
            times(a, twist(c1, c2, e, (1.0, 0.0, 0.0))),
            times(a, twist(c1, c2, e, (0.0, 1.0, 0.0))),
            times(a, twist(c1, c2, e, (0.0, 0.0, 1.0))),
        )
        turn_axes(a, axes, omega, alpha, marker, jacobian)
        for k in range(3):
            d = column(axes, k)
            g0, g1, g2 = cross(t0, d), cross(t1, d), cross(t2, d)
            for c in range(n):
                x, y, z = jacobian[5, 6 + c], jacobian[8, 6 + c], jacobian[11, 6 + c]
                for r in range(3):
                    jacobian[3 + 3 * r + k, 6 + c] = x * g0[r] + y * g1[r] + z * g2[r]

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        # x' of the point is A (w x u + u'), that of an axis A (W x e_k) with the node's angular velocity W = w + J e'.
        a, n, eta = frame, body.n_modes, frame[0]
        shape = numbers(marker.node_shape, 6 + 6 * n, n)
        for x in range(PLACE):
            for c in range(6 + n):
                rate_tangent[x, c] = 0.0
        w = (v[3], v[4], v[5])
        e, e_rate = moved(shape, 3, eta, 3, n), swept(shape, 3, eta, v, n)
        c1, c2, c1_rate, c2_rate = coefficients(dot(e, e))
        local = plus(w, 1.0, twist(c1, c2, e, e_rate))
        velocity = (marker.velocity[0] - v[0], marker.velocity[1] - v[1], marker.velocity[2] - v[2])
        write_swing(a, velocity, rate_tangent, 0, 1)
        for c in range(n):
            swing = cross(w, shape_now(shape, 0, c, eta, 3, n))
            swing = plus(swing, 1.0, combined(shape, 6 + 6 * c, v, 6, n))
            swing = times(a, swing)
            for r in range(3):
                rate_tangent[r, 6 + c] = swing[r]
        for k in range(3):
            d = turn(c1, c2, e, column(marker.frame, k))
            rate = times(a, cross(local, d))
            write_swing(a, rate, rate_tangent, 3 + k, 3)
            for c in range(n):
                bend = shape_now(shape, 3, c, eta, 3, n)
                faster = twist_change(c1, c2, c1_rate, c2_rate, e, e_rate, bend)
                faster = plus(faster, 1.0, twist(c1, c2, e, combined(shape, 9 + 6 * c, v, 6, n)))
                tilted = cross(twist(c1, c2, e, bend), d)
                swing = times(a, plus(cross(faster, d), 1.0, cross(local, tilted)))
                for r in range(3):
                    rate_tangent[3 + 3 * r + k, 6 + c] = swing[r]

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        # With f_0 on the point u and f_k on the axes e_k, in the axes of the frame, B^T f is (f, u x f_0 + m,
        # psi^T f_0 + psi_theta^T J^T m), m = sum e_k x f_k. A turn d of the frame changes f by f x d.
        a, n, eta = frame, body.n_modes, frame[0]
        shape = numbers(marker.node_shape, 6 + 6 * n, n)
        e = moved(shape, 3, eta, 3, n)
        c1, c2, c1_rate, c2_rate = coefficients(dot(e, e))
        u = plus(triple(marker.point), 1.0, moved(shape, 0, eta, 3, n))
        f = seen(a, (load[0], load[1], load[2]))
        moment = (0.0, 0.0, 0.0)
        for k in range(3):
            d, fk = turned_axis(a, marker, load, c1, c2, e, k)
            moment = plus(moment, 1.0, cross(d, fk))
        own = untwist(c1, c2, e, moment)
        for c in range(6 + n):
            if c < 3:
                continue
            if c < 6:
                axis = unit(c - 3)
                force = cross(f, axis)
                lever, twisted = cross(u, force), (0.0, 0.0, 0.0)
                for k in range(3):
                    d, fk = turned_axis(a, marker, load, c1, c2, e, k)
                    twisted = plus(twisted, 1.0, cross(d, cross(fk, axis)))
                modal = untwist(c1, c2, e, twisted)
            else:
                force = (0.0, 0.0, 0.0)
                lever = cross(shape_now(shape, 0, c - 6, eta, 3, n), f)
                bend = shape_now(shape, 3, c - 6, eta, 3, n)
                spin, twisted = twist(c1, c2, e, bend), (0.0, 0.0, 0.0)
                for k in range(3):
                    d, fk = turned_axis(a, marker, load, c1, c2, e, k)
                    twisted = plus(twisted, 1.0, cross(cross(spin, d), fk))
                modal = untwist_change(c1, c2, c1_rate, c2_rate, e, moment, bend)
                modal = plus(modal, 1.0, untwist(c1, c2, e, twisted))
            for r in range(3):
                stiffness[3 + r, c] += lever[r] + twisted[r]
            for k in range(n):
                moves, turns = shape_now(shape, 0, k, eta, 3, n), shape_now(shape, 3, k, eta, 3, n)
                stiffness[6 + k, c] += dot(moves, force) + dot(turns, modal)
                if c >= 6:
                    g = 6 * k + 6
                    stiffness[6 + k, c] += (
                        shape[g, c - 6] * f[0]
                        + shape[g + 1, c - 6] * f[1]
                        + shape[g + 2, c - 6] * f[2]
                        + shape[g + 3, c - 6] * own[0]
                        + shape[g + 4, c - 6] * own[1]
                        + shape[g + 5, c - 6] * own[2]
                    )


# --- what the kernels share; compiled with them ---------------------------------------------------------------------


def moved(shape, row, eta, first, n):
    """psi eta + 1/2 eta^T g eta in rows row to row + 2; g follows the six rows of psi, six rows for each eta_k."""
    x = y = z = 0.0 * eta[0]
    for c in range(n):
        half, now = 0.5 * eta[first + c], shape_now(shape, row, c, eta, first, n)
        x += half * (shape[row, c] + now[0])
        y += half * (shape[row + 1, c] + now[1])
        z += half * (shape[row + 2, c] + now[2])
    return x, y, z


def shape_now(shape, row, c, eta, first, n):
    """The shape c of the deformed body, psi_c + g_c eta."""
    g = combined(shape, 6 + 6 * c + row, eta, first, n)
    return shape[row, c] + g[0], shape[row + 1, c] + g[1], shape[row + 2, c] + g[2]


def bent_shapes(shape, row, q, n, out, start, stride, bending):
    """All shapes of the deformed body into the modal columns of three rows of `out`."""
    for c in range(n):
        for r in range(3):
            out[start + r * stride, 6 + c] = shape[row + r, c]
    if bending:
        for c in range(n):
            g = combined(shape, 6 + 6 * c + row, q, 7, n)
            for r in range(3):
                out[start + r * stride, 6 + c] += g[r]


def halfway(shape, row, q, n, rows, start, stride):
    """psi eta + 1/2 eta^T g eta from the shapes undeformed and deformed: their mean times eta."""
    x = y = z = 0.0 * q[0]
    for c in range(n):
        half = 0.5 * q[7 + c]
        x += half * (shape[row, c] + rows[start, 6 + c])
        y += half * (shape[row + 1, c] + rows[start + stride, 6 + c])
        z += half * (shape[row + 2, c] + rows[start + 2 * stride, 6 + c])
    return x, y, z


def rated(rows, start, stride, v, n):
    """The modal columns of three rows times the modal velocities."""
    x = y = z = 0.0 * v[0]
    for c in range(n):
        rate = v[6 + c]
        x += rows[start, 6 + c] * rate
        y += rows[start + stride, 6 + c] * rate
        z += rows[start + 2 * stride, 6 + c] * rate
    return x, y, z


def swept(shape, row, eta, v, n):
    """The rate of `moved`, (psi + g eta) eta'; eta begins at 3."""
    x, y, z = combined(shape, row, v, 6, n)
    for k in range(n):
        rate, g = v[6 + k], combined(shape, 6 + 6 * k + row, eta, 3, n)
        x, y, z = x + rate * g[0], y + rate * g[1], z + rate * g[2]
    return x, y, z


def curled(shape, row, v, n):
    """eta'^T g eta', the part of the second derivative of `moved` that is quadratic in the velocities."""
    x = y = z = 0.0 * v[0]
    for k in range(n):
        rate, g = v[6 + k], combined(shape, 6 + 6 * k + row, v, 6, n)
        x, y, z = x + rate * g[0], y + rate * g[1], z + rate * g[2]
    return x, y, z
