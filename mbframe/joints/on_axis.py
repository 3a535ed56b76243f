"""Joints that slide along the axis of a flexible body, wherever it is bent.

The axis is the line through `at` along `axis`, on which the first body has a row of nodes (or interface points). The
second body is at the place s = d_z . (r_j - r_i) along it, between any of them: there the axis is found from the cubic
spline through its nodes, so that nothing jumps where one is passed: [FlexibleNotes], section 2.4.2. Before the first
and behind the last node it goes on straight, along its tangent there. Reactions are normal to the bent axis.

If the first body is rigid the axis is a straight line, and the joints are the `PointOnLineJoint`, the
`CylindricalJoint` and the `TranslationalJoint`. Those keep, on a flexible body, a line fixed to the node at `at`.
"""

from __future__ import annotations

import numpy as np

from ..connections import NEEDED_AXIS
from ..constraints.axis import AlongAxis, PointOnAxis, TurnWithAxis
from ..constraints.base import BasicConstraint
from ..markers import AxisMarker, Marker
from .base import Joint


class AxisJoint(Joint):
    """Base of the joints on the axis of the first body. `freedoms`: the place along the undeformed axis is drivable."""

    axis = NEEDED_AXIS.lying_on("i")
    planar = False
    freedoms = ("displacement",)
    constraint_types: tuple[type[BasicConstraint], ...]

    @property
    def i(self) -> AxisMarker:
        return AxisMarker.placed(self.body_i, self.at, self.axes_along(self.axis))

    @property
    def j(self) -> Marker:
        i, modal = self.i, self.body_i.motion.modal_coordinates
        if not np.any(modal):
            return Marker.placed(self.body_j, self.at, i.axes)
        return Marker.placed(self.body_j, self.at, self.body_i.rotation @ i.sliding_axis.turned_axes(0.0, modal))

    def constraints(self) -> list[BasicConstraint]:
        i, j = self.i, self.j
        return [kind(i, j) for kind in self.constraint_types]


class PointOnAxisJoint(AxisJoint):
    """A bead: the second body's point stays on the axis of the first, which may bend (two equations).

    PointOnAxisJoint("bead", beam, ball, at=(0.3, 0, 0), axis=(1, 0, 0)): `at` is any point of the axis, at a node or
    between two; `axis` is its direction where it is not deformed.
    """

    constraint_types = (PointOnAxis,)


class SleeveJoint(AxisJoint):
    """A sleeve: slides along the axis of the first body, follows its tangent, may turn about it (four equations).

    Called as a `PointOnAxisJoint`.
    """

    constraint_types = (PointOnAxis, AlongAxis)


class KeyedSleeveJoint(AxisJoint):
    """A sleeve with a key: slides along the axis of the first body and turns as that bends and twists (five equations).

    Called as a `PointOnAxisJoint`.
    """

    constraint_types = (PointOnAxis, AlongAxis, TurnWithAxis)
