r"""Constraints on the axis of a body, which bends and twists if the body is flexible.

The first marker, with the point r_i and the directions d_x, d_y, d_z, is fixed to the frame of the body; d_z is the
axis where it is not deformed. With p_a = d_a . (r_j - r_i), the second point is at the place s = p_z along the axis,
and there the axis is deflected by w_x(s), w_y(s) and twisted by phi(s). These are cubics of s between the nodes on the
axis, with coefficients that are linear in the modal coordinates (see `SlidingAxis`).
"""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout import AXES_AT, AXES_J, POSITION_J
from ..markers import AxisMarker
from .base import BasicConstraint

Array = NDArray[np.float64]


class AxisConstraint(BasicConstraint):
    """Base of the constraints on the axis of the first body: through `at` along `axis`, through its nodes there.

    The methods read from `self`, where the solver keeps it, how the axis is bent: `start`, `cubic` (4 x 3: powers of
    s - start; w_x, w_y, phi) and `cubic_rate`. Beside the derivatives in the 24 numbers of the markers they give those
    by the 12 numbers of the cubic, in the order of its rows, in which the equations are linear:

        axis_gradient(self, t, i, j, g)          g[k, :] = dC_k/d(cubic); g comes filled with zeros
        axis_hessian(self, t, i, j, weights, h)  h += sum_k weights[k] d2C_k/d(cubic)dx (12 x 24)
    """

    planar = False
    start: float = 0.0
    cubic: Array = np.zeros((4, 3))
    cubic_rate: Array = np.zeros((4, 3))

    @property
    def i(self) -> AxisMarker:
        return AxisMarker.on(super().i)

    def in_general(self) -> BasicConstraint:
        bent = copy.copy(self)
        bent.cubic = bent.cubic_rate = np.ones((4, 3))
        return bent


class PointOnAxis(AxisConstraint):
    """The second point lies on the axis: C = (p_x - w_x(s), p_y - w_y(s)), two equations.

    Their gradients are normal to the bent axis, so its reaction has no component along it.
    """

    equations = 2
    unit = "m"

    def residual(self, t, i, j):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        wx, _, _, _ = polynomial(self.cubic, 0, s)
        wy, _, _, _ = polynomial(self.cubic, 1, s)
        return component(i, 0, r) - wx, component(i, 1, r) - wy

    def gradient(self, t, i, j, g):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        for a in range(2):
            _, slope, _, _ = polynomial(self.cubic, a, s)
            for k in range(9):
                x, value = component_gradient(i, a, r, k)
                y, along = component_gradient(i, 2, r, k)
                g[a, x] += value
                g[a, y] -= slope * along

    def axis_gradient(self, t, i, j, g):
        s = component(i, 2, arm(i, j)) - self.start
        power = 1.0
        for k in range(4):
            for a in range(2):
                g[a, 3 * k + a] = -power
            power *= s

    def curvature(self, t, i, j):
        r = arm(i, j)
        s, speed = component(i, 2, r) - self.start, component_rate(i, j, 2)
        _, slope_x, bend_x, _ = polynomial(self.cubic, 0, s)
        _, slope_y, bend_y, _ = polynomial(self.cubic, 1, s)
        _, turn_x, _, _ = polynomial(self.cubic_rate, 0, s)
        _, turn_y, _, _ = polynomial(self.cubic_rate, 1, s)
        along = component_bend(i, j, 2)
        return (
            component_bend(i, j, 0) - slope_x * along - speed * (bend_x * speed + 2.0 * turn_x),
            component_bend(i, j, 1) - slope_y * along - speed * (bend_y * speed + 2.0 * turn_y),
        )

    def hessian(self, t, i, j, weights, h):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        for a in range(2):
            _, slope, bend, _ = polynomial(self.cubic, a, s)
            add_component_hessian(h, weights[a], a)
            add_component_hessian(h, -weights[a] * slope, 2)
            for k in range(9):
                x, first = component_gradient(i, 2, r, k)
                for l in range(9):
                    y, second = component_gradient(i, 2, r, l)
                    h[x, y] -= weights[a] * bend * first * second

    def axis_hessian(self, t, i, j, weights, h):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        power = 1.0
        for k in range(1, 4):
            for l in range(9):
                y, along = component_gradient(i, 2, r, l)
                for a in range(2):
                    h[3 * k + a, y] -= weights[a] * k * power * along
            power *= s


class AlongAxis(AxisConstraint):
    """The z axis of the second marker keeps the direction of the axis: C_b = e_b . (d_z + w_x' d_x + w_y' d_y) for its
    axes b = x, y; two equations.
    """

    equations = 2

    def residual(self, t, i, j):
        s = component(i, 2, arm(i, j)) - self.start
        _, x, _, _ = polynomial(self.cubic, 0, s)
        _, y, _, _ = polynomial(self.cubic, 1, s)
        return (
            product(i, 2, j, 0) + x * product(i, 0, j, 0) + y * product(i, 1, j, 0),
            product(i, 2, j, 1) + x * product(i, 0, j, 1) + y * product(i, 1, j, 1),
        )

    def gradient(self, t, i, j, g):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        for b in range(2):
            add_gradient(g, b, i, 2, j, b, r, 1.0, 0.0)
            for a in range(2):
                _, slope, bend, _ = polynomial(self.cubic, a, s)
                add_gradient(g, b, i, a, j, b, r, slope, bend)

    def axis_gradient(self, t, i, j, g):
        s = component(i, 2, arm(i, j)) - self.start
        power = 1.0
        for k in range(1, 4):
            for a in range(2):
                for b in range(2):
                    g[b, 3 * k + a] = k * power * product(i, a, j, b)
            power *= s

    def curvature(self, t, i, j):
        x = along_curvature(self, i, j, 0)
        y = along_curvature(self, i, j, 1)
        return x, y

    def hessian(self, t, i, j, weights, h):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        for b in range(2):
            add_hessian(h, weights[b], i, 2, j, b, r, 1.0, 0.0, 0.0)
            for a in range(2):
                _, slope, bend, change = polynomial(self.cubic, a, s)
                add_hessian(h, weights[b], i, a, j, b, r, slope, bend, change)

    def axis_hessian(self, t, i, j, weights, h):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        for k in range(1, 4):
            power = 1.0 if k == 1 else s if k == 2 else s * s
            slope = 0.0 if k == 1 else 1.0 if k == 2 else 2.0 * s
            for a in range(2):
                for b in range(2):
                    add_gradient(h, 3 * k + a, i, a, j, b, r, weights[b] * k * power, weights[b] * k * slope)


class TurnWithAxis(AxisConstraint):
    """The second marker turns about the axis as the axis is twisted: C = e_y . (d_x + phi(s) d_y), one equation."""

    equations = 1

    def residual(self, t, i, j):
        s = component(i, 2, arm(i, j)) - self.start
        twist, _, _, _ = polynomial(self.cubic, 2, s)
        return (product(i, 0, j, 1) + twist * product(i, 1, j, 1),)

    def gradient(self, t, i, j, g):
        r = arm(i, j)
        twist, rise, _, _ = polynomial(self.cubic, 2, component(i, 2, r) - self.start)
        add_gradient(g, 0, i, 0, j, 1, r, 1.0, 0.0)
        add_gradient(g, 0, i, 1, j, 1, r, twist, rise)

    def axis_gradient(self, t, i, j, g):
        s = component(i, 2, arm(i, j)) - self.start
        power = 1.0
        for k in range(4):
            g[0, 3 * k + 2] = power * product(i, 1, j, 1)
            power *= s

    def curvature(self, t, i, j):
        s = component(i, 2, arm(i, j)) - self.start
        twist, rise, bend, _ = polynomial(self.cubic, 2, s)
        turn, turn_rise, _, _ = polynomial(self.cubic_rate, 2, s)
        twisted = product_bend(i, j, 1, 1, twist, rise, bend, turn, turn_rise)
        return (product_bend(i, j, 0, 1, 1.0, 0.0, 0.0, 0.0, 0.0) + twisted,)

    def hessian(self, t, i, j, weights, h):
        r = arm(i, j)
        twist, rise, bend, _ = polynomial(self.cubic, 2, component(i, 2, r) - self.start)
        add_hessian(h, weights[0], i, 0, j, 1, r, 1.0, 0.0, 0.0)
        add_hessian(h, weights[0], i, 1, j, 1, r, twist, rise, bend)

    def axis_hessian(self, t, i, j, weights, h):
        r = arm(i, j)
        s = component(i, 2, r) - self.start
        power, slope = 1.0, 0.0
        for k in range(4):
            add_gradient(h, 3 * k + 2, i, 1, j, 1, r, weights[0] * power, weights[0] * slope)
            power, slope = power * s, power * (k + 1.0)


# --- what the methods share; compiled with them ----------------------------------------------------------------------


def polynomial(cubic, c, s):
    """A component of a cubic at s, and its three derivatives."""
    c0, c1, c2, c3 = cubic[0, c], cubic[1, c], cubic[2, c], cubic[3, c]
    return c0 + s * (c1 + s * (c2 + s * c3)), c1 + s * (2.0 * c2 + 3.0 * s * c3), 2.0 * c2 + 6.0 * s * c3, 6.0 * c3


def arm(i, j):
    """r_j - r_i."""
    return j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2]


def component(i, a, r):
    """p_a = d_a . r."""
    return i.axes[0, a] * r[0] + i.axes[1, a] * r[1] + i.axes[2, a] * r[2]


def component_gradient(i, a, r, k):
    """The k-th (of 9) of the 24 numbers that p_a depends on, and the derivative by it."""
    x = k % 3
    if k < 3:
        return x, -i.axes[x, a]
    if k < 6:
        return POSITION_J + x, i.axes[x, a]
    return AXES_AT + 3 * x + a, (r[0] if x == 0 else r[1] if x == 1 else r[2])


def component_rate(i, j, a):
    """p_a'."""
    rate = 0.0
    for x in range(3):
        rate += i.axes_rate[x, a] * (j.position[x] - i.position[x]) + i.axes[x, a] * (j.velocity[x] - i.velocity[x])
    return rate


def component_bend(i, j, a):
    """p_a'' for constant rates of the markers."""
    bend = 0.0
    for x in range(3):
        bend += 2.0 * i.axes_rate[x, a] * (j.velocity[x] - i.velocity[x])
    return bend


def add_component_hessian(h, weight, a):
    """h += weight d2 p_a / dx2."""
    for x in range(3):
        axis = AXES_AT + 3 * x + a
        h[axis, x] -= weight
        h[x, axis] -= weight
        h[axis, POSITION_J + x] += weight
        h[POSITION_J + x, axis] += weight


def product(i, a, j, b):
    """d_a . e_b."""
    return i.axes[0, a] * j.axes[0, b] + i.axes[1, a] * j.axes[1, b] + i.axes[2, a] * j.axes[2, b]


def product_gradient(i, a, j, b, k):
    """The k-th (of 6) of the 24 numbers that d_a . e_b depends on, and the derivative by it."""
    x = k % 3
    return (AXES_AT + 3 * x + a, j.axes[x, b]) if k < 3 else (AXES_J + 3 * x + b, i.axes[x, a])


def add_gradient(g, row, i, a, j, b, r, factor, slope):
    """g[row] += the gradient of f(s) d_a . e_b, f being `factor` and df/ds `slope`."""
    for k in range(6):
        x, value = product_gradient(i, a, j, b, k)
        g[row, x] += factor * value
    change = slope * product(i, a, j, b)
    for k in range(9):
        x, along = component_gradient(i, 2, r, k)
        g[row, x] += change * along


def add_hessian(h, weight, i, a, j, b, r, factor, slope, bend):
    """h += weight times the second derivatives of f(s) d_a . e_b, given f, df/ds and d2f/ds2."""
    for x in range(3):
        p, q = AXES_AT + 3 * x + a, AXES_J + 3 * x + b
        h[p, q] += weight * factor
        h[q, p] += weight * factor
    value = product(i, a, j, b)
    add_component_hessian(h, weight * slope * value, 2)
    for k in range(9):
        x, along = component_gradient(i, 2, r, k)
        for l in range(9):
            y, other = component_gradient(i, 2, r, l)
            h[x, y] += weight * bend * value * along * other
        for l in range(6):
            y, other = product_gradient(i, a, j, b, l)
            h[x, y] += weight * slope * along * other
            h[y, x] += weight * slope * along * other


def product_bend(i, j, a, b, factor, slope, bend, rate, rate_slope):
    """(f(s) d_a . e_b)'' for constant rates; `rate` and `rate_slope` are the rates of f and df/ds at a fixed place."""
    value, change, mixed = product(i, a, j, b), 0.0, 0.0
    for x in range(3):
        change += i.axes_rate[x, a] * j.axes[x, b] + i.axes[x, a] * j.axes_rate[x, b]
        mixed += 2.0 * i.axes_rate[x, a] * j.axes_rate[x, b]
    speed = component_rate(i, j, 2)
    first = slope * speed + rate
    second = bend * speed * speed + slope * component_bend(i, j, 2) + 2.0 * rate_slope * speed
    return factor * mixed + 2.0 * first * change + second * value


def along_curvature(self, i, j, b):
    """(e_b . (d_z + w_x' d_x + w_y' d_y))'' for constant rates."""
    s = component(i, 2, arm(i, j)) - self.start
    total = product_bend(i, j, 2, b, 1.0, 0.0, 0.0, 0.0, 0.0)
    for a in range(2):
        _, slope, bend, change = polynomial(self.cubic, a, s)
        _, turn, turn_rise, _ = polynomial(self.cubic_rate, a, s)
        total += product_bend(i, j, a, b, slope, bend, change, turn, turn_rise)
    return total
