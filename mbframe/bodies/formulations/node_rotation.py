r"""The exact rotation exp(e~) of a node by its small rotation vector e, and what changes of e do.

The angular velocity of exp(e~) is w = J e' with

    J(e) x = x + a e x x + b e x (e x x),    a = (1 - cos |e|) / |e|^2,    b = (|e| - sin |e|) / |e|^3

and a direction fixed to the node obeys d' = w x d exactly, which A_f = 1 + e~ of [FlexibleNotes], eq. (10), does not:
only so do constraint forces do no work. All functions are compiled with the methods that call them.
"""

from __future__ import annotations

import numpy as np

from ...vectors import cross, dot, plus

SERIES_BELOW = 0.1  # |e|^2 below which the series are exact to rounding and the quotients lose digits


def coefficients(s):
    """a, b and their derivatives by s = |e|^2."""
    if s.real < SERIES_BELOW:
        a = (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0 * (1.0 - s / 132.0))))) / 2.0
        b = (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0 * (1.0 - s / 156.0))))) / 6.0
        a_rate = -(1.0 - s / 15.0 * (1.0 - 3.0 * s / 112.0 * (1.0 - s / 67.5 * (1.0 - s / 105.6)))) / 24.0
        b_rate = -(1.0 - s / 21.0 * (1.0 - s / 48.0 * (1.0 - s / 82.5 * (1.0 - s / 124.8)))) / 120.0
        return a, b, a_rate, b_rate
    angle = np.sqrt(s)
    a = (1.0 - np.cos(angle)) / s
    b = (1.0 - np.sin(angle) / angle) / s
    return a, b, (1.0 - s * b - 2.0 * a) / (2.0 * s), (a - 3.0 * b) / (2.0 * s)


def twist(a, b, e, x):
    """J(e) x."""
    ex = cross(e, x)
    return plus(plus(x, a, ex), b, cross(e, ex))


def untwist(a, b, e, x):
    """J(e)^T x."""
    ex = cross(e, x)
    return plus(plus(x, -a, ex), b, cross(e, ex))


def turn(a, b, e, x):
    """exp(e~) x = x + J(e) (e x x) = x + (1 - |e|^2 b) e x x + a e x (e x x)."""
    ex = cross(e, x)
    return plus(plus(x, 1.0 - dot(e, e) * b, ex), a, cross(e, ex))


def twist_change(a, b, a_rate, b_rate, e, x, d):
    """Change of J(e) x, for fixed x, by a change d of e."""
    ex, dx = cross(e, x), cross(d, x)
    ed = 2.0 * dot(e, d)
    change = plus(plus((0.0, 0.0, 0.0), a_rate * ed, ex), a, dx)
    change = plus(plus(change, b_rate * ed, cross(e, ex)), b, cross(d, ex))
    return plus(change, b, cross(e, dx))


def untwist_change(a, b, a_rate, b_rate, e, x, d):
    """Change of J(e)^T x, for fixed x, by a change d of e."""
    return twist_change(-a, b, -a_rate, b_rate, e, x, d)
