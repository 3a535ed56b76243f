"""The basic constraints. Notation: r position, d_k axes of a marker; the rows of `gradient` are ordered as in the
base class.
"""

from __future__ import annotations

from typing import Any

from ..markers import Axis
from ..parameters import parameter
from .base import BasicConstraint


class Coincident(BasicConstraint):
    """Two points coincide: C = r_j - r_i (three equations); the spherical constraint.

    With this sign the multiplier is the force that the constraint exerts on the first body, and minus it acts on the
    second.
    """

    equations = 3
    uses_axes = False

    def residual(self, t, i, j):
        return (
            j.position[0] - i.position[0],
            j.position[1] - i.position[1],
            j.position[2] - i.position[2],
        )

    def gradient(self, t, i, j, g):
        for r in range(3):
            g[r, r] = -1.0
            g[r, 12 + r] = 1.0

    def curvature(self, t, i, j):
        return (0.0, 0.0, 0.0)

    def hessian(self, t, i, j, weights, h):
        """Nothing: the residual is linear."""


class Perpendicular(BasicConstraint):
    """Two axes keep a fixed angle, by default a right one: C = d_a . e_b - constant; orthogonality of the first kind.

    Called in a joint as `Perpendicular(self.i.z, self.j.x)`.
    """

    equations = 1

    axis_i = parameter(2, minimum=0, maximum=2, help="which axis of the first marker: 0, 1, 2 for x, y, z")
    axis_j = parameter(0, minimum=0, maximum=2, help="which axis of the second marker: 0, 1, 2 for x, y, z")
    constant = parameter(0.0, minimum=-1.0, maximum=1.0, help="cosine of the angle between the axes")

    def __init__(self, *args: Any, **values: Any) -> None:
        if args and isinstance(args[0], Axis):
            i, j = args
            super().__init__(i.marker, j.marker, axis_i=i.index, axis_j=j.index, **values)
        else:
            super().__init__(*args, **values)

    def residual(self, t, i, j):
        a, b = self.axis_i, self.axis_j
        return (
            i.axes[0, a] * j.axes[0, b] + i.axes[1, a] * j.axes[1, b] + i.axes[2, a] * j.axes[2, b] - self.constant,
        )

    def gradient(self, t, i, j, g):
        a, b = self.axis_i, self.axis_j
        for r in range(3):
            g[0, 3 + 3 * r + a] = j.axes[r, b]
            g[0, 15 + 3 * r + b] = i.axes[r, a]

    def curvature(self, t, i, j):
        a, b = self.axis_i, self.axis_j
        return (
            2.0
            * (
                i.axes_rate[0, a] * j.axes_rate[0, b]
                + i.axes_rate[1, a] * j.axes_rate[1, b]
                + i.axes_rate[2, a] * j.axes_rate[2, b]
            ),
        )

    def hessian(self, t, i, j, weights, h):
        for r in range(3):
            a, b = 3 + 3 * r + self.axis_i, 15 + 3 * r + self.axis_j
            h[a, b] += weights[0]
            h[b, a] += weights[0]
