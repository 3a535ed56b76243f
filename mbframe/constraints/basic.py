"""The basic constraints. Notation: r position, d_k axes of a marker; the rows of `gradient` are ordered as in the
base class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..kernels.layout import AXES_AT, AXES_J, POSITION_J
from ..markers import Axis, Marker
from ..parameters import parameter
from ..plane import is_normal
from .base import BasicConstraint

if TYPE_CHECKING:
    from ..bodies.base import Body

HELD = 1e-9  # by which an equation that nothing in the plane can change must hold to be left out


class Coincident(BasicConstraint):
    """Two points coincide: C = r_j - r_i (three equations); the spherical constraint.

    With this sign the multiplier is the force that the constraint exerts on the first body, and minus it acts on the
    second.
    """

    equations = 3
    unit = "m"
    uses_axes = False
    joins_points = True

    def residual(self, t, i, j):
        return (
            j.position[0] - i.position[0],
            j.position[1] - i.position[1],
            j.position[2] - i.position[2],
        )

    def gradient(self, t, i, j, g):
        for r in range(3):
            g[r, r] = -1.0
            g[r, POSITION_J + r] = 1.0

    def curvature(self, t, i, j):
        return (0.0, 0.0, 0.0)

    def hessian(self, t, i, j, weights, h):
        """Nothing: the residual is linear."""

    def in_plane(self) -> BasicConstraint:
        return CoincidentInPlane(self.i, self.j)


class CoincidentInPlane(BasicConstraint):
    """Two points coincide as seen along the global z axis: C = (x_j - x_i, y_j - y_i), two equations.

    The position constraint of [PappalardoGuida2018a], eq. 32, with the sign of `Coincident`, for which it stands in a
    planar system.
    """

    equations = 2
    unit = "m"
    uses_axes = False
    joins_points = True

    def residual(self, t, i, j):
        return j.position[0] - i.position[0], j.position[1] - i.position[1]

    def gradient(self, t, i, j, g):
        for r in range(2):
            g[r, r] = -1.0
            g[r, POSITION_J + r] = 1.0

    def curvature(self, t, i, j):
        return (0.0, 0.0)

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

    def in_plane(self) -> BasicConstraint | None:
        d, e = self.i.axes[:, self.axis_i], self.j.axes[:, self.axis_j]
        constant = (is_normal(d) or is_normal(e)) and abs(d @ e - self.constant) <= HELD
        return None if constant else self

    def residual(self, t, i, j):
        a, b = self.axis_i, self.axis_j
        return (
            i.axes[0, a] * j.axes[0, b] + i.axes[1, a] * j.axes[1, b] + i.axes[2, a] * j.axes[2, b] - self.constant,
        )

    def gradient(self, t, i, j, g):
        a, b = self.axis_i, self.axis_j
        for r in range(3):
            g[0, AXES_AT + 3 * r + a] = j.axes[r, b]
            g[0, AXES_J + 3 * r + b] = i.axes[r, a]

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
            a, b = AXES_AT + 3 * r + self.axis_i, AXES_J + 3 * r + self.axis_j
            h[a, b] += weights[0]
            h[b, a] += weights[0]


class PointInPlane(BasicConstraint):
    """The second point stays in a plane of the first marker: C = d_a . (r_j - r_i) - constant.

    Orthogonality of the second kind. Called in a joint as `PointInPlane(self.i.z, self.j)`.
    """

    equations = 1
    unit = "m"

    axis_i = parameter(
        2, minimum=0, maximum=2, help="normal of the plane, an axis of the first marker: 0, 1, 2 for x, y, z"
    )
    constant = parameter(0.0, unit="m", help="distance of the second point from the plane")

    def __init__(self, *args: Any, **values: Any) -> None:
        if args and isinstance(args[0], Axis):
            i, j = args
            super().__init__(i.marker, j, axis_i=i.index, **values)
        else:
            super().__init__(*args, **values)

    def in_plane(self) -> BasicConstraint | None:
        return None if is_normal(self.i.axes[:, self.axis_i]) and abs(self.constant) <= HELD else self

    def residual(self, t, i, j):
        a = self.axis_i
        return (
            i.axes[0, a] * (j.position[0] - i.position[0])
            + i.axes[1, a] * (j.position[1] - i.position[1])
            + i.axes[2, a] * (j.position[2] - i.position[2])
            - self.constant,
        )

    def gradient(self, t, i, j, g):
        a = self.axis_i
        for r in range(3):
            g[0, r] = -i.axes[r, a]
            g[0, AXES_AT + 3 * r + a] = j.position[r] - i.position[r]
            g[0, POSITION_J + r] = i.axes[r, a]

    def curvature(self, t, i, j):
        a = self.axis_i
        return (
            2.0
            * (
                i.axes_rate[0, a] * (j.velocity[0] - i.velocity[0])
                + i.axes_rate[1, a] * (j.velocity[1] - i.velocity[1])
                + i.axes_rate[2, a] * (j.velocity[2] - i.velocity[2])
            ),
        )

    def hessian(self, t, i, j, weights, h):
        for r in range(3):
            axis, first, second = AXES_AT + 3 * r + self.axis_i, r, POSITION_J + r
            h[axis, first] -= weights[0]
            h[first, axis] -= weights[0]
            h[axis, second] += weights[0]
            h[second, axis] += weights[0]


class FixedDistance(BasicConstraint):
    """Two points keep their distance L: C = (|r_j - r_i|^2 - L^2) / (2 L), whose multiplier is a force."""

    equations = 1
    unit = "m"
    uses_axes = False

    distance = parameter(1.0, unit="m", above=0.0, help="L")

    def residual(self, t, i, j):
        x, y, z = j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2]
        return ((x * x + y * y + z * z - self.distance * self.distance) / (2.0 * self.distance),)

    def gradient(self, t, i, j, g):
        for r in range(3):
            g[0, POSITION_J + r] = (j.position[r] - i.position[r]) / self.distance
            g[0, r] = -g[0, POSITION_J + r]

    def curvature(self, t, i, j):
        x, y, z = j.velocity[0] - i.velocity[0], j.velocity[1] - i.velocity[1], j.velocity[2] - i.velocity[2]
        return ((x * x + y * y + z * z) / self.distance,)

    def hessian(self, t, i, j, weights, h):
        w = weights[0] / self.distance
        for r in range(3):
            h[r, r] += w
            h[POSITION_J + r, POSITION_J + r] += w
            h[r, POSITION_J + r] -= w
            h[POSITION_J + r, r] -= w

    @classmethod
    def example(cls, *bodies: Body) -> FixedDistance:
        i, j = (Marker(body, at=at) for body, at in zip(bodies, ((0.2, 0.1, -0.3), (0.8, 0.1, 0.5)), strict=True))
        return cls(i, j, distance=1.0)


class EqualTurn(BasicConstraint):
    """Two markers turn equally about their z axes: C = d_x . e_y - d_y . e_x; the constraint of a constant-velocity
    joint.
    """

    planar = False
    equations = 1

    def residual(self, t, i, j):
        c = 0.0
        for r in range(3):
            c += i.axes[r, 0] * j.axes[r, 1] - i.axes[r, 1] * j.axes[r, 0]
        return (c,)

    def gradient(self, t, i, j, g):
        for r in range(3):
            g[0, AXES_AT + 3 * r] = j.axes[r, 1]
            g[0, AXES_AT + 3 * r + 1] = -j.axes[r, 0]
            g[0, AXES_J + 3 * r] = -i.axes[r, 1]
            g[0, AXES_J + 3 * r + 1] = i.axes[r, 0]

    def curvature(self, t, i, j):
        c = 0.0
        for r in range(3):
            c += i.axes_rate[r, 0] * j.axes_rate[r, 1] - i.axes_rate[r, 1] * j.axes_rate[r, 0]
        return (2.0 * c,)

    def hessian(self, t, i, j, weights, h):
        for r in range(3):
            for k in range(2):
                a, b = AXES_AT + 3 * r + k, AXES_J + 3 * r + 1 - k
                w = weights[0] if k == 0 else -weights[0]
                h[a, b] += w
                h[b, a] += w
