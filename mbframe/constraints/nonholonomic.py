"""Nonholonomic constraints D(t, x, x') = 0 between two markers: rolling without slip, blades.

Notation: marker i belongs to the body that carries the plane, its z axis n is the normal; marker j belongs to the
body that rolls or slides, its z axis a is the axle or the blade. u is the velocity of the touching point against the
plane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels.layout import AXES_AT, AXES_J, MOTION_J, POSITION_J, SPIN_AT, SPIN_J, VELOCITY_AT, VELOCITY_J
from ..markers import Marker
from ..parameters import parameter
from ..vectors import column, cross, dot, triple
from .base import BasicConstraint

if TYPE_CHECKING:
    from ..bodies.base import Body


def leaning(*bodies: Body) -> tuple[Marker, Marker]:
    """Markers of the examples: a plane, and a disk that leans on it (radius 0.75 m, crown 0.05 m) or a blade."""
    plane, disk = bodies
    return Marker(plane, at=(1.0, 0.5, 0.0)), Marker(disk, at=(0.2, 0.1, 0.5), axis=(0.6, 0.0, 0.8))


def slip(i, j, e):
    """Velocity of the point r_j + e of the second body against the first one's."""
    arm = (
        j.position[0] + e[0] - i.position[0],
        j.position[1] + e[1] - i.position[1],
        j.position[2] + e[2] - i.position[2],
    )
    own, carried = cross(triple(j.angular_velocity), e), cross(triple(i.angular_velocity), arm)
    return (
        j.velocity[0] + own[0] - i.velocity[0] - carried[0],
        j.velocity[1] + own[1] - i.velocity[1] - carried[1],
        j.velocity[2] + own[2] - i.velocity[2] - carried[2],
    )


def write_slip_gradient(i, j, e, w, row, g):
    """Derivatives of w . slip for fixed e and w: columns of positions, velocities and angular velocities."""
    arm = (
        j.position[0] + e[0] - i.position[0],
        j.position[1] + e[1] - i.position[1],
        j.position[2] + e[2] - i.position[2],
    )
    turn = cross(w, triple(i.angular_velocity))
    own, carried = cross(e, w), cross(arm, w)
    for r in range(3):
        g[row, r] = turn[r]
        g[row, VELOCITY_AT + r] = -w[r]
        g[row, SPIN_AT + r] = -carried[r]
        g[row, MOTION_J + r] = -turn[r]
        g[row, VELOCITY_J + r] = w[r]
        g[row, SPIN_J + r] = own[r]


class NoSideSlip(BasicConstraint):
    """A blade does not move sideways: D = (n x a) . u with the blade's point as the touching point.

    a is the direction of the blade (z axis of the second marker), n the normal of the plane (z axis of the first).
    """

    equations = 1
    unit = "m"

    def velocity_residual(self, t, i, j):
        return (dot(cross(column(i.axes, 2), column(j.axes, 2)), slip(i, j, (0.0, 0.0, 0.0))),)

    def velocity_gradient(self, t, i, j, g):
        n, a, e = column(i.axes, 2), column(j.axes, 2), (0.0, 0.0, 0.0)
        u = slip(i, j, e)
        write_slip_gradient(i, j, e, cross(n, a), 0, g)
        by_n, by_a = cross(a, u), cross(u, n)
        for r in range(3):
            g[0, AXES_AT + 3 * r + 2] = by_n[r]
            g[0, MOTION_J + AXES_AT + 3 * r + 2] = by_a[r]

    @classmethod
    def example(cls, *bodies: Body) -> NoSideSlip:
        i, j = leaning(*bodies)
        return cls(i, j)


class NoSlipSphere(BasicConstraint):
    """A sphere of radius R rolls on a plane: D = (d_x . u, d_y . u), touching point r_j - R n."""

    planar = False
    equations = 2
    unit = "m"

    radius = parameter(1.0, unit="m", above=0.0, help="R")

    def velocity_residual(self, t, i, j):
        n = column(i.axes, 2)
        u = slip(i, j, (-self.radius * n[0], -self.radius * n[1], -self.radius * n[2]))
        return dot(column(i.axes, 0), u), dot(column(i.axes, 1), u)

    def velocity_gradient(self, t, i, j, g):
        n = column(i.axes, 2)
        e = (-self.radius * n[0], -self.radius * n[1], -self.radius * n[2])
        u = slip(i, j, e)
        relative = (
            j.angular_velocity[0] - i.angular_velocity[0],
            j.angular_velocity[1] - i.angular_velocity[1],
            j.angular_velocity[2] - i.angular_velocity[2],
        )
        for k in range(2):
            w = column(i.axes, k)
            write_slip_gradient(i, j, e, w, k, g)
            by_e = cross(w, relative)  # w . (relative x de) = de . (w x relative)
            for r in range(3):
                g[k, AXES_AT + 3 * r + k] += u[r]
                g[k, AXES_AT + 3 * r + 2] -= self.radius * by_e[r]


class DiskOnPlane(BasicConstraint):
    """A disk touches a plane: C = n . (r_j - r_i) - R s - rho with s = sqrt(1 - (a . n)^2).

    R is the disk's radius, rho that of its crown. The disk's centre is marker j, its axle a that marker's z axis.
    Singular only for a disk that lies flat (s = 0).
    """

    planar = False
    equations = 1
    unit = "m"

    radius = parameter(1.0, unit="m", above=0.0, help="R: radius of the circle of the crown's centres")
    crown_radius = parameter(0.0, unit="m", minimum=0.0, help="rho: radius of the crown's cross-section")

    def residual(self, t, i, j):
        n, a = column(i.axes, 2), column(j.axes, 2)
        k = dot(a, n)
        d = (j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2])
        return (dot(n, d) - self.radius * np.sqrt(1.0 - k * k) - self.crown_radius,)

    def gradient(self, t, i, j, g):
        n, a = column(i.axes, 2), column(j.axes, 2)
        k = dot(a, n)
        slope = self.radius * k / np.sqrt(1.0 - k * k)
        for r in range(3):
            g[0, r] = -n[r]
            g[0, POSITION_J + r] = n[r]
            g[0, AXES_AT + 3 * r + 2] = j.position[r] - i.position[r] + slope * a[r]
            g[0, AXES_J + 3 * r + 2] = slope * n[r]

    def curvature(self, t, i, j):
        n, a = column(i.axes, 2), column(j.axes, 2)
        n_rate = (i.axes_rate[0, 2], i.axes_rate[1, 2], i.axes_rate[2, 2])
        a_rate = (j.axes_rate[0, 2], j.axes_rate[1, 2], j.axes_rate[2, 2])
        k = dot(a, n)
        s = np.sqrt(1.0 - k * k)
        rate = dot(a_rate, n) + dot(a, n_rate)
        u = (j.velocity[0] - i.velocity[0], j.velocity[1] - i.velocity[1], j.velocity[2] - i.velocity[2])
        bend = self.radius * (rate * rate / (s * s * s) + 2.0 * k / s * dot(a_rate, n_rate))
        return (2.0 * dot(n_rate, u) + bend,)

    def hessian(self, t, i, j, weights, h):
        n, a = column(i.axes, 2), column(j.axes, 2)
        k = dot(a, n)
        s = np.sqrt(1.0 - k * k)
        w, slope, bend = weights[0], weights[0] * self.radius * k / s, weights[0] * self.radius / (s * s * s)
        for r in range(3):
            normal, axle = AXES_AT + 3 * r + 2, AXES_J + 3 * r + 2
            h[normal, r] -= w
            h[r, normal] -= w
            h[normal, POSITION_J + r] += w
            h[POSITION_J + r, normal] += w
            h[normal, axle] += slope
            h[axle, normal] += slope
            for c in range(3):
                h[normal, AXES_AT + 3 * c + 2] += bend * a[r] * a[c]
                h[axle, AXES_J + 3 * c + 2] += bend * n[r] * n[c]
                h[normal, AXES_J + 3 * c + 2] += bend * a[r] * n[c]
                h[AXES_J + 3 * c + 2, normal] += bend * a[r] * n[c]

    @classmethod
    def example(cls, *bodies: Body) -> DiskOnPlane:
        i, j = leaning(*bodies)
        return cls(i, j, radius=0.75, crown_radius=0.05)


class NoSlip(BasicConstraint):
    """A disk rolls on a plane without slip: D = ((a x n) . u, (a - (a . n) n) . u).

    The touching point is r_j + c - rho n with c = -R (n - (a . n) a) / s, s = sqrt(1 - (a . n)^2). The component n .
    u equals the rate of `DiskOnPlane` identically and is no further equation.
    """

    planar = False
    equations = 2
    unit = "m"

    radius = parameter(1.0, unit="m", above=0.0, help="R: radius of the circle of the crown's centres")
    crown_radius = parameter(0.0, unit="m", minimum=0.0, help="rho: radius of the crown's cross-section")

    def velocity_residual(self, t, i, j):
        n, a = column(i.axes, 2), column(j.axes, 2)
        k = dot(a, n)
        scale = -self.radius / np.sqrt(1.0 - k * k)
        e = (
            scale * (n[0] - k * a[0]) - self.crown_radius * n[0],
            scale * (n[1] - k * a[1]) - self.crown_radius * n[1],
            scale * (n[2] - k * a[2]) - self.crown_radius * n[2],
        )
        u = slip(i, j, e)
        return dot(cross(a, n), u), dot(a, u) - k * dot(n, u)

    def velocity_gradient(self, t, i, j, g):
        n, a = column(i.axes, 2), column(j.axes, 2)
        k = dot(a, n)
        s = np.sqrt(1.0 - k * k)
        scale = -self.radius / s
        c = (scale * (n[0] - k * a[0]), scale * (n[1] - k * a[1]), scale * (n[2] - k * a[2]))
        rho = self.crown_radius
        e = (c[0] - rho * n[0], c[1] - rho * n[1], c[2] - rho * n[2])
        u = slip(i, j, e)
        along, across = cross(a, n), (a[0] - k * n[0], a[1] - k * n[1], a[2] - k * n[2])
        write_slip_gradient(i, j, e, along, 0, g)
        write_slip_gradient(i, j, e, across, 1, g)
        relative = (
            j.angular_velocity[0] - i.angular_velocity[0],
            j.angular_velocity[1] - i.angular_velocity[1],
            j.angular_velocity[2] - i.angular_velocity[2],
        )
        by_e0, by_e1 = cross(along, relative), cross(across, relative)  # derivatives of both rows along a change of e
        # With dk = da . n + a . dn: d(along) = da x n + a x dn, d(across) = da - dk n - k dn,
        # de = scale (dn - dk a - k da) + dk k / s^2 c - rho dn.
        turn_a, turn_n = cross(n, u), cross(u, a)  # derivatives of along . u
        bend0 = k / (s * s) * dot(by_e0, c) - scale * dot(by_e0, a)
        bend1 = k / (s * s) * dot(by_e1, c) - scale * dot(by_e1, a) - dot(n, u)
        for r in range(3):
            g[0, AXES_AT + 3 * r + 2] = turn_n[r] + (scale - rho) * by_e0[r] + bend0 * a[r]
            g[0, MOTION_J + AXES_AT + 3 * r + 2] = turn_a[r] - scale * k * by_e0[r] + bend0 * n[r]
            g[1, AXES_AT + 3 * r + 2] = -k * u[r] + (scale - rho) * by_e1[r] + bend1 * a[r]
            g[1, MOTION_J + AXES_AT + 3 * r + 2] = u[r] - scale * k * by_e1[r] + bend1 * n[r]

    @classmethod
    def example(cls, *bodies: Body) -> NoSlip:
        i, j = leaning(*bodies)
        return cls(i, j, radius=0.75, crown_radius=0.05)
