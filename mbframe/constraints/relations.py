"""Linear relations between measures: gears, screws, racks, drivers; the generalized constraint of
[PappalardoGuida2018a].

A relation is one equation, sum c_k s_k = constant, or a given function of time. Each term is a basic constraint of
its own between two markers whose values are added up in a common row: a relation may connect any number of bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..functions import Function, bend, evaluate, given, slope
from ..kernels.layout import AXES_AT, AXES_J, POSITION_J
from ..markers import LocalMarker, Marker
from ..measures import distance
from ..parameters import parameter
from .base import BasicConstraint

if TYPE_CHECKING:
    from ..bodies.base import Body


class MeasureTerm(BasicConstraint):
    """One term c (s - s_0 - f(t)) of a relation; s_0 is the measure's value when described, so that relations start
    fulfilled. Most have no f. A term with one may stand alone: the measure then follows s_0 + f(t).
    """

    coefficient = parameter(1.0, help="c")
    start = parameter(0.0, help="s_0")
    motion = parameter(None, kind="function", help="f: change of the measure with time")

    def time_rate(self, t, i, j):
        return (-self.coefficient * prescribed_rate(self.motion, t),)

    @classmethod
    def example(cls, *bodies: Body) -> MeasureTerm:
        term = cls("term", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, -1.0), coefficient=1.5)
        term.motion = "0.3*sin(2*t)"
        return term


def prescribed(motion, t):
    """f(t), or 0."""
    if given(motion):
        return evaluate(motion, t)
    return 0.0


def prescribed_rate(motion, t):
    """f'(t), or 0."""
    if given(motion):
        return slope(motion, t)
    return 0.0


def prescribed_acceleration(motion, t):
    """f''(t), or 0."""
    if given(motion):
        return bend(motion, t)
    return 0.0


class DistanceTerm(MeasureTerm):
    """c (l - s_0 - f(t)) with the distance l = |r_i - r_j| > 0 of the markers."""

    equations = 1
    unit = "m"
    uses_axes = False

    def residual(self, t, i, j):
        length, _, _, _ = distance(i, j)
        return (self.coefficient * (length - self.start - prescribed(self.motion, t)),)

    def gradient(self, t, i, j, g):
        _, x, y, z = distance(i, j)
        c = self.coefficient
        g[0, 0], g[0, 1], g[0, 2] = c * x, c * y, c * z
        g[0, POSITION_J], g[0, POSITION_J + 1], g[0, POSITION_J + 2] = -c * x, -c * y, -c * z

    def curvature(self, t, i, j):
        length, x, y, z = distance(i, j)
        u = (i.velocity[0] - j.velocity[0], i.velocity[1] - j.velocity[1], i.velocity[2] - j.velocity[2])
        rate = x * u[0] + y * u[1] + z * u[2]
        bending = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - rate * rate) / length
        return (self.coefficient * (bending - prescribed_acceleration(self.motion, t)),)

    def hessian(self, t, i, j, weights, h):
        length, x, y, z = distance(i, j)
        e = (x, y, z)
        for r in range(3):
            for s in range(3):
                w = weights[0] * self.coefficient * ((1.0 if r == s else 0.0) - e[r] * e[s]) / length
                h[r, s] += w
                h[POSITION_J + r, POSITION_J + s] += w
                h[r, POSITION_J + s] -= w
                h[POSITION_J + r, s] -= w

    @classmethod
    def example(cls, *bodies: Body) -> DistanceTerm:
        i, j = (Marker(body, at=at) for body, at in zip(bodies, ((0.2, 0.1, -0.3), (0.8, 0.1, 0.5)), strict=True))
        return cls(i, j, coefficient=1.5, start=1.0, motion="0.3*sin(2*t)")


class DisplacementTerm(MeasureTerm):
    """c (s - s_0 - f(t)) with the displacement s = d_z . (r_j - r_i) along the first marker's z axis."""

    equations = 1
    unit = "m"

    def residual(self, t, i, j):
        s = 0.0
        for r in range(3):
            s += i.axes[r, 2] * (j.position[r] - i.position[r])
        return (self.coefficient * (s - self.start - prescribed(self.motion, t)),)

    def gradient(self, t, i, j, g):
        for r in range(3):
            g[0, r] = -self.coefficient * i.axes[r, 2]
            g[0, POSITION_J + r] = self.coefficient * i.axes[r, 2]
            g[0, AXES_AT + 3 * r + 2] = self.coefficient * (j.position[r] - i.position[r])

    def curvature(self, t, i, j):
        s = 0.0
        for r in range(3):
            s += i.axes_rate[r, 2] * (j.velocity[r] - i.velocity[r])
        return (self.coefficient * (2.0 * s - prescribed_acceleration(self.motion, t)),)

    def hessian(self, t, i, j, weights, h):
        w = self.coefficient * weights[0]
        for r in range(3):
            axis = AXES_AT + 3 * r + 2
            h[axis, r] -= w
            h[r, axis] -= w
            h[axis, POSITION_J + r] += w
            h[POSITION_J + r, axis] += w


class AngleTerm(MeasureTerm):
    """c (theta - s_0 - f(t)) with the angle theta of the second marker about the first one's z axis, over turns.

    theta = atan2(S, C) + 2 pi turns with S = e_x . d_y, C = e_x . d_x. The solver counts the turns.
    """

    equations = 1
    unit = "rad"
    planar_axis = "normal"
    counts_turns = True

    def residual(self, t, i, j):
        s = c = 0.0
        for r in range(3):
            s += j.axes[r, 0] * i.axes[r, 1]
            c += j.axes[r, 0] * i.axes[r, 0]
        theta = np.arctan2(s, c) + 2.0 * np.pi * j.turns
        return (self.coefficient * (theta - self.start - prescribed(self.motion, t)),)

    def gradient(self, t, i, j, g):
        s = c = 0.0
        for r in range(3):
            s += j.axes[r, 0] * i.axes[r, 1]
            c += j.axes[r, 0] * i.axes[r, 0]
        w = self.coefficient / (s * s + c * c)
        for r in range(3):
            g[0, AXES_AT + 3 * r] = -w * s * j.axes[r, 0]
            g[0, AXES_AT + 3 * r + 1] = w * c * j.axes[r, 0]
            g[0, AXES_J + 3 * r] = w * (c * i.axes[r, 1] - s * i.axes[r, 0])

    def curvature(self, t, i, j):
        s = c = ds = dc = dds = ddc = 0.0
        for r in range(3):
            s += j.axes[r, 0] * i.axes[r, 1]
            c += j.axes[r, 0] * i.axes[r, 0]
            ds += j.axes_rate[r, 0] * i.axes[r, 1] + j.axes[r, 0] * i.axes_rate[r, 1]
            dc += j.axes_rate[r, 0] * i.axes[r, 0] + j.axes[r, 0] * i.axes_rate[r, 0]
            dds += 2.0 * j.axes_rate[r, 0] * i.axes_rate[r, 1]
            ddc += 2.0 * j.axes_rate[r, 0] * i.axes_rate[r, 0]
        n = s * s + c * c
        rate = (c * ds - s * dc) / n
        bending = (c * dds - s * ddc) / n - 2.0 * rate * (s * ds + c * dc) / n
        return (self.coefficient * (bending - prescribed_acceleration(self.motion, t)),)

    def hessian(self, t, i, j, weights, h):
        # With N = S^2 + C^2: theta_xx = (S_x C_x^T - C_x S_x^T + C S_xx - S C_xx) / N - theta_x N_x^T / N
        s = c = 0.0
        for r in range(3):
            s += j.axes[r, 0] * i.axes[r, 1]
            c += j.axes[r, 0] * i.axes[r, 0]
        n = s * s + c * c
        w = weights[0] * self.coefficient / n
        for r in range(3):
            for x in range(3):  # the changing number: d_x, d_y or e_x, component r
                row = AXES_AT + 3 * r if x == 0 else (AXES_AT + 3 * r + 1 if x == 1 else AXES_J + 3 * r)
                s_row = 0.0 if x == 0 else (j.axes[r, 0] if x == 1 else i.axes[r, 1])
                c_row = j.axes[r, 0] if x == 0 else (0.0 if x == 1 else i.axes[r, 0])
                slope = (c * s_row - s * c_row) / n
                for k in range(3):
                    for y in range(3):
                        column = AXES_AT + 3 * k if y == 0 else (AXES_AT + 3 * k + 1 if y == 1 else AXES_J + 3 * k)
                        s_col = 0.0 if y == 0 else (j.axes[k, 0] if y == 1 else i.axes[k, 1])
                        c_col = j.axes[k, 0] if y == 0 else (0.0 if y == 1 else i.axes[k, 0])
                        h[row, column] += w * (s_row * c_col - c_row * s_col - slope * 2.0 * (s * s_col + c * c_col))
            h[AXES_AT + 3 * r + 1, AXES_J + 3 * r] += w * c
            h[AXES_J + 3 * r, AXES_AT + 3 * r + 1] += w * c
            h[AXES_AT + 3 * r, AXES_J + 3 * r] -= w * s
            h[AXES_J + 3 * r, AXES_AT + 3 * r] -= w * s


class MeasureRelation:
    """One equation sum c_k (s_k - s_k0 - f_k(t)) = 0 between measures, given by its terms."""

    def __init__(self, *terms: MeasureTerm) -> None:
        self.terms = terms


def angle_term(i: Marker, j: Marker, coefficient: float, motion: Function | None = None) -> AngleTerm:
    """The angle between two markers, counted from the described configuration; of local ones, from x along x."""
    x = j.axes[:, 0]
    start = 0.0 if isinstance(i, LocalMarker) else float(np.arctan2(x @ i.axes[:, 1], x @ i.axes[:, 0]))
    return AngleTerm(i, j, coefficient=coefficient, start=start, motion=motion)


def displacement_term(i: Marker, j: Marker, coefficient: float, motion: Function | None = None) -> DisplacementTerm:
    """The displacement between two markers, counted from the described configuration; of local ones, from zero."""
    start = 0.0 if isinstance(i, LocalMarker) else float(i.axes[:, 2] @ (j.at - i.at))
    return DisplacementTerm(i, j, coefficient=coefficient, start=start, motion=motion)
