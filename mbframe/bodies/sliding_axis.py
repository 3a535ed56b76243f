"""The axis of a body along which other bodies slide: a straight line that bends and twists with the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SlidingAxis:
    r"""A line in body axes, and how it deflects: cubics between knots, linear in the modal coordinates \eta.

    At the distance s from `point` the axis is deflected by (w_x, w_y) along the first two `axes` and twisted by \phi
    about the third, which is its direction. With s_k the knot before s,

        (w_x, w_y, \phi)_c = \sum_p (s - s_k)^p \sum_m cubics[k, p, c, m] \eta_m,    p = 0 ... 3

    Before the first knot and behind the last one the axis goes on straight. Displacements along the axis change the
    deflection at a place by what is of second order only, and are left out as the whole theory leaves out such terms.

    Parameters
    ----------
    point, axes
        (3,) and (3, 3), columns: where s = 0, and directions, in body axes.
    knots
        (n,): rising values of s, m.
    cubics
        (n + 1, 4, 3, modes): what lies before the first knot, between knots, behind the last one.
    """

    point: Array
    axes: Array
    knots: Array
    cubics: Array

    @classmethod
    def straight(cls, point: Array, axes: Array) -> SlidingAxis:
        """Of a rigid body."""
        return cls(point, axes, np.zeros(1), np.zeros((2, 4, 3, 0)))

    @classmethod
    def through(cls, point: Array, axes: Array, knots: Array, values: Array, slopes: Array) -> SlidingAxis:
        """With given deflections, twists and their derivatives by s at the knots, (n, 3, modes) each.

        Cubics of Hermite: with the slopes of a spline their second derivatives are continuous as well.
        """
        h = np.diff(knots)[:, None, None]
        rise, (first, last) = (values[1:] - values[:-1]) / h, (slopes[:-1], slopes[1:])
        between = [values[:-1], first, (3.0 * rise - 2.0 * first - last) / h, (first + last - 2.0 * rise) / h**2]
        ends = [[values[k], slopes[k], 0.0 * values[k], 0.0 * values[k]] for k in (0, -1)]
        return cls(point, axes, knots, np.stack([ends[0], *np.stack(between, axis=1), ends[1]]))

    def bent(self, s: float, modal_coordinates: Array) -> tuple[Array, Array]:
        """(w_x, w_y, phi) at a place and its derivative by s."""
        k = int(np.searchsorted(self.knots, s, side="right"))
        c = self.cubics[k] @ modal_coordinates
        x = s - self.knots[max(k - 1, 0)]
        return c[0] + x * (c[1] + x * (c[2] + x * c[3])), c[1] + x * (2.0 * c[2] + 3.0 * x * c[3])

    def turned_axes(self, s: float, modal_coordinates: Array) -> Array:
        """Axes (columns, in body axes) that turn with the axis: z is tangent to it, y normal to where x is twisted."""
        value, slope = self.bent(s, modal_coordinates)
        z = np.array([slope[0], slope[1], 1.0])
        z /= np.linalg.norm(z)
        y = np.cross(z, (1.0, value[2], 0.0))
        y /= np.linalg.norm(y)
        return self.axes @ np.column_stack([np.cross(y, z), y, z])
