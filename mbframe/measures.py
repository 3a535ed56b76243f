"""Measures: scalars of two markers, each with its gradient in the 24 marker numbers.

Springs, drivers, gears, limits and plots are laws and relations on measures. A measure added to a system can be read
from a result: `result.measure("stroke")`. The functions `distance`, `displacement`, `angle` and their rates serve
elements whose compiled methods need just these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .connections import NEEDED_AXIS, Fact, TwoPointConnection
from .kernels.layout import AXES_AT, POSITION_J
from .markers import Marker
from .parameters import parameter
from .plane import lifted
from .vectors import column, cross, dot, minus, plus, triple

if TYPE_CHECKING:
    from .bodies.base import Body


def distance(i, j):
    """Length l = |r_i - r_j| and the unit vector e from j to i; l > 0."""
    x, y, z = i.position[0] - j.position[0], i.position[1] - j.position[1], i.position[2] - j.position[2]
    length = np.sqrt(x * x + y * y + z * z)
    return length, x / length, y / length, z / length


def distance_rate(i, j):
    """l' = e . (r_i' - r_j')."""
    _, x, y, z = distance(i, j)
    u = (i.velocity[0] - j.velocity[0], i.velocity[1] - j.velocity[1], i.velocity[2] - j.velocity[2])
    return x * u[0] + y * u[1] + z * u[2]


def displacement(i, j):
    """s = d . (r_j - r_i) along the first marker's z axis d, and that axis."""
    d = column(i.axes, 2)
    return dot(d, minus(j.position, i.position)), d


def displacement_rate(i, j):
    """s' = d . (r_j' - r_i' - omega_i x (r_j - r_i))."""
    carried = cross(triple(i.angular_velocity), minus(j.position, i.position))
    return dot(column(i.axes, 2), minus(minus(j.velocity, i.velocity), carried))


def displacement_row(i, j, factor, second, row):
    """Put factor times ds/dx into a row, in which the numbers of the second marker begin at `second`."""
    for r in range(3):
        row[r] = -factor * i.axes[r, 2]
        row[second + r] = factor * i.axes[r, 2]
        row[AXES_AT + 3 * r + 2] = factor * (j.position[r] - i.position[r])


def angle(i, j):
    """theta = atan2(e . d_y, e . d_x) of the second marker's x axis e, and the axis a with theta' = a . (w_j - w_i).

    theta is counted over turns, whose number the second marker has (`turns`), for elements that set `counts_turns`.

    a = d_z - (e . d_z) b, b = ((e . d_x) d_x + (e . d_y) d_y)/((e . d_x)^2 + (e . d_y)^2): where e is normal to d_z, as
    in a revolute joint, a is d_z itself.
    """
    e = column(j.axes, 0)
    c, s, h = dot(e, column(i.axes, 0)), dot(e, column(i.axes, 1)), dot(e, column(i.axes, 2))
    square = c * c + s * s
    a = plus(plus(column(i.axes, 2), -h * c / square, column(i.axes, 0)), -h * s / square, column(i.axes, 1))
    return np.arctan2(s, c) + 2.0 * np.pi * j.turns, a


def angle_rate(i, j):
    """theta' = a . (w_j - w_i)."""
    _, a = angle(i, j)
    return dot(a, minus(j.angular_velocity, i.angular_velocity))


def angle_row(i, j, factor, second, row):
    """Put factor times dtheta/dx into a row, in which the numbers of the second marker begin at `second`."""
    e = column(j.axes, 0)
    c, s = dot(e, column(i.axes, 0)), dot(e, column(i.axes, 1))
    square = s * s + c * c
    for r in range(3):
        row[AXES_AT + 3 * r] = -factor * s * e[r] / square
        row[AXES_AT + 3 * r + 1] = factor * c * e[r] / square
        row[second + AXES_AT + 3 * r] = factor * (c * i.axes[r, 1] - s * i.axes[r, 0]) / square


class Measure(TwoPointConnection):
    """A scalar s of two markers. A subclass gives `value(self, t, i, j)` and its `gradient`.

    `gradient(self, t, i, j, g)` fills g[0, :] = ds/dx in the 24 numbers (position_i, axes_i row by row, position_j,
    axes_j); g comes filled with zeros. The rate is s' = g . x'.
    """

    axis = parameter((0.0, 0.0, 1.0), kind="axis", on="i", help="global direction when described: z of both markers")
    symbol = "measure"
    unit = "m"

    @property
    def i(self) -> Marker:
        return self.marker(self.body_i, self.point_i, self.axis)

    @property
    def j(self) -> Marker:
        return self.marker(self.body_j, self.point_j, self.axis)

    def described_value(self) -> float:
        """The scalar where the model is described; angles count from there."""
        return 0.0

    def gradient(self, t, i, j, g):
        """g[0, :] = ds/dx."""
        raise NotImplementedError(f"{type(self).__name__} does not define gradient(self, t, i, j, g)")

    def value(self, t, i, j):
        """The scalar."""
        raise NotImplementedError(f"{type(self).__name__} does not define value(self, t, i, j)")

    @classmethod
    def example(cls, *bodies: Body) -> Measure:
        return cls("measure", *bodies, at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6), axis=(1.0, 2.0, -1.0))


class Distance(Measure):
    """Distance of two points, l = |r_i - r_j| > 0."""

    def described_value(self) -> float:
        return math.dist(self.point_i, self.point_j)

    def facts(self) -> list[Fact]:
        return [("Length as described", [self.described_value()], "m")]

    def value(self, t, i, j):
        length, _, _, _ = distance(i, j)
        return length

    def gradient(self, t, i, j, g):
        _, x, y, z = distance(i, j)
        g[0, 0], g[0, 1], g[0, 2] = x, y, z
        g[0, POSITION_J], g[0, POSITION_J + 1], g[0, POSITION_J + 2] = -x, -y, -z


class Displacement(Measure):
    """Displacement of the second point along the first marker's z axis, s = d_z . (r_j - r_i)."""

    axis = NEEDED_AXIS.lying_on("i")
    planar_axis = "in plane"

    def described_value(self) -> float:
        axis = lifted(self.axis)
        return float(axis @ (lifted(self.point_j) - lifted(self.point_i)) / np.linalg.norm(axis))

    def value(self, t, i, j):
        s, _ = displacement(i, j)
        return s

    def gradient(self, t, i, j, g):
        displacement_row(i, j, 1.0, POSITION_J, g[0])


class Angle(Measure):
    """Angle of the second marker about the first one's z axis, from the first's x to the second's.

    theta = atan2(e_x . d_y, e_x . d_x), counted over turns from where it is described. Undefined where e_x is parallel
    to d_z.
    """

    axis = NEEDED_AXIS.lying_on("i")
    counts_turns = True
    planar_axis = "normal"

    unit = "rad"

    def value(self, t, i, j):
        theta, _ = angle(i, j)
        return theta

    def gradient(self, t, i, j, g):
        angle_row(i, j, 1.0, POSITION_J, g[0])
