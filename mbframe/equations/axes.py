"""Tables of constraints on the axis of a body: where the axis is described, and which velocities bend it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.sliding_axis import SlidingAxis
from ..constraints.axis import AxisConstraint
from ..kernels.layout import CUBIC
from ..kernels.workspace import MARKER
from ..markers import AxisMarker
from ..rotations import matrix_from_quaternion

if TYPE_CHECKING:
    from .numbered import NumberedConstraint
    from .tables import Tables


def axis_of(tables: Tables, c: NumberedConstraint) -> SlidingAxis:
    """The axis of a constraint on one."""
    owner = tables.marker_bodies()[c.i]
    body = tables.bodies[owner]
    marker = tables.ground_markers[c.i] if owner < 0 else body.markers[c.i - body.first_marker]
    assert isinstance(marker, AxisMarker)
    return marker.sliding_axis


def axis_fields(tables: Tables, c: NumberedConstraint) -> dict[str, int]:
    """What its row says about the axis and the modal coordinates by which that bends."""
    axis = axis_of(tables, c)
    n = axis.cubics.shape[-1]
    fields = {
        "n_modes": n,
        "n_knots": len(axis.knots),
        "knots": tables.address_of(axis.knots),
        "cubics": tables.address_of(axis.cubics),
    }
    if n:
        body = tables.bodies[tables.marker_bodies()[c.i]]
        fields |= {"modes_q": body.q_slice.stop - n, "modes_v": body.v_slice.stop - n}
    return fields


def bending(tables: Tables, c: NumberedConstraint) -> NDArray[np.bool_] | None:
    """Which modal velocities of the first body are in each equation because they bend the axis; None without one."""
    if not isinstance(c.constraint, AxisConstraint):
        return None
    general: Any = c.constraint.in_general()
    g = np.zeros((general.equations, CUBIC))
    general.axis_gradient(0.0, *random_markers(), g)
    moved = (axis_of(tables, c).cubics != 0.0).any(axis=0).reshape(CUBIC, -1)
    return (g != 0.0).astype(int) @ moved.astype(int) > 0


@cache
def random_markers() -> np.recarray:
    """Two markers in general position: no component of anything is zero."""
    markers = np.zeros(2, MARKER).view(np.recarray)
    values = np.random.default_rng(0)
    for name in ("position", "velocity", "axes_rate", "angular_velocity"):
        markers[name][:] = values.uniform(0.5, 1.5, markers[name].shape)
    markers.axes[:] = matrix_from_quaternion([[0.9, 0.5, -0.3, 0.6], [0.4, -0.8, 0.7, 0.5]])
    return markers
