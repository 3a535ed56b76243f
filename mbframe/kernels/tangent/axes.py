"""Constraints on the axis of a flexible body: what the bending of the axis adds to equations between two markers.

The marker i of such a constraint moves with the frame of its body. Beside the numbers of its two markers a constraint
reads the 12 numbers of a cubic (see `AXIS_FIELDS`), which are linear in the modal coordinates. `follow` finds them
before the constraints are evaluated as all others are; `bend` and `bend_tangent` add what depends on them afterwards.
Compiled only for models that have such constraints.
"""

from __future__ import annotations

import numpy as np

from ..compiler.compile import Stage
from ..compiler.memory import block, clear, part, record, records
from ..compiler.templates import template
from ..free import EQUATIONS, ROW, axis_gradient, axis_hessian
from ..layout import CUBIC, PLACE, PLACES
from ..workspace import GRADIENT_AT, HESSIAN_AT, LINK_FIELDS, MARKER, OK, POSITION, workspace
from .tangent import tangent_record

# The fields with which the row of every constraint on an axis begins.
AXIS_FIELDS = [
    *LINK_FIELDS,
    ("n_modes", "i8"),
    ("modes_q", "i8"),  # where the modal coordinates start in q, and their rates in v
    ("modes_v", "i8"),
    ("n_knots", "i8"),
    ("knots", "i8"),  # address of the places along the axis between which cubics are defined
    ("cubics", "i8"),  # address of the cubics (n_knots + 1, 12, modes)
    ("stretch", "i8"),  # which of them the point is on
    ("start", "f8"),  # where that one begins to count
    ("cubic", "f8", (4, 3)),  # coefficients of (w_x, w_y, phi) by powers of s - start
    ("cubic_rate", "f8", (4, 3)),
]
AXIS = np.dtype(AXIS_FIELDS, align=True)


@Stage
def follow(t, work, link, n):
    """The stretch of the axis on which the second point of one constraint is, its cubic and the rate of that."""
    w = workspace(work)
    e = record(link, AXIS)
    markers = records(w.markers, w.n_markers, MARKER)
    i, j = markers[e.i], markers[e.j]
    s = 0.0
    for r in range(3):
        s += i.axes[r, 2] * (j.position[r] - i.position[r])
    knots, k = part(e.knots, 0, e.n_knots), e.stretch
    while k < e.n_knots and s >= knots[k]:
        k += 1
    while k > 0 and s < knots[k - 1]:
        k -= 1
    e.stretch, e.start = k, knots[max(k - 1, 0)]
    shapes = block(e.cubics, k * CUBIC * e.n_modes, CUBIC, e.n_modes)
    q, v = part(w.y, e.modes_q, e.n_modes), part(w.y, w.n_q + e.modes_v, e.n_modes)
    for x in range(CUBIC):
        value = rate = 0.0
        for m in range(e.n_modes):
            value += shapes[x, m] * q[m]
            rate += shapes[x, m] * v[m]
        e.cubic[x // 3, x % 3] = value
        e.cubic_rate[x // 3, x % 3] = rate
    return OK


@template(ROW, EQUATIONS, axis_gradient)
def bend(t, work, table, n):
    """J += C_c dc/d(eta), C' += C_c c' for the numbers c of the cubics."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g = block(w.scratch, GRADIENT_AT, EQUATIONS, CUBIC)
    for k in range(n):
        e = rows[k]
        clear(g)
        axis_gradient(e, t, markers[e.i], markers[e.j], g)
        shapes = block(e.cubics, e.stretch * CUBIC * e.n_modes, CUBIC, e.n_modes)
        size = markers[e.i].n
        first = size - e.n_modes  # of the modal velocities, which are the last
        jacobian, rate = block(w.entries, e.block_i, EQUATIONS, size), part(w.constraint_rate, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            for x in range(CUBIC):
                if g[r, x] != 0.0:
                    rate[r] += g[r, x] * e.cubic_rate[x // 3, x % 3]
                    for m in range(e.n_modes):
                        jacobian[r, first + m] += g[r, x] * shapes[x, m]
    return OK


@template(ROW, EQUATIONS, axis_hessian)
def bend_tangent(t, work, table, n):
    """K += B^T (sum lambda C_xc) dc/d(eta) and its transpose; C is linear in c."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    h = block(w.scratch, HESSIAN_AT, CUBIC, PLACES)
    for k in range(n):
        e = rows[k]
        clear(h)
        axis_hessian(e, t, markers[e.i], markers[e.j], part(a.multipliers, e.row, EQUATIONS), h)
        shapes = block(e.cubics, e.stretch * CUBIC * e.n_modes, CUBIC, e.n_modes)
        size = markers[e.i].n
        first = size - e.n_modes
        for side in range(2):
            marker = markers[e.j if side else e.i]
            basis = block(w.jacobians, marker.jacobian, PLACE, marker.n)
            down = block(a.stiffness, e.tangent_ij if side else e.tangent_ii, size, marker.n)
            right = block(a.stiffness, e.tangent_ji if side else e.tangent_ii, marker.n, size)
            for x in range(CUBIC):
                for y in range(PLACE):
                    f = h[x, PLACE * side + y]
                    if f != 0.0:
                        for m in range(e.n_modes):
                            for c in range(marker.n):
                                change = f * shapes[x, m] * basis[y, c]
                                down[first + m, c] += change
                                right[c, first + m] += change
    return OK
