"""The loops over bodies of formulations whose bodies differ in size: `loops` and `tangent` with sizes from the rows.

The rows have the fields n_q, n_v and n_frame, so a stage is compiled once for any number of modes.
"""

from __future__ import annotations

import numpy as np

from .compile import Stage
from .memory import block, part, records
from .tangent import tangent_record
from .workspace import DYNAMICS, MARKER, OK, workspace

# Bound by `specialize`.
ROW: np.dtype = np.dtype("f8")
prepare = place = inertia = rates = normalize = inertia_tangent = place_tangent = load_tangent = None


@Stage
def bodies(t, work, table, n):
    """Marker table, mass, inertia and elastic forces, gravity, q'. Binds ROW, prepare, place, inertia, rates."""
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = rows[k]
        frame = block(w.scratch, 0, 3, body.n_frame)
        q, v = part(w.y, body.q, body.n_q), part(w.y, w.n_q + body.v, body.n_v)
        prepare(body, q, frame)
        for m in range(body.marker, body.marker + body.n_markers):
            marker = markers[m]
            place(body, q, v, frame, marker, block(w.jacobians, marker.jacobian, 12, body.n_v), w.level)
        if w.level == DYNAMICS:
            rates(body, q, v, part(w.rates, body.q, body.n_q))
            mass = block(w.entries, body.mass_block, body.n_v, body.n_v)
            inertia(body, q, v, frame, mass, part(w.force, body.v, body.n_v))
    return OK


@Stage
def moves(t, work, table, n):
    """q := q + T(q) d, d being the first n_v numbers of `solution`. Binds ROW, rates, normalize."""
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        q, step = part(w.y, body.q, body.n_q), part(w.scratch, 0, body.n_q)
        rates(body, q, part(w.solution, body.v, body.n_v), step)
        for c in range(body.n_q):
            q[c] += step[c]
        normalize(body, q)
    return OK


@Stage
def coordinate_rates(t, work, table, n):
    """q' := T(q) d, with d from `solution`. Binds ROW, rates."""
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        q = part(w.y, body.q, body.n_q)
        rates(body, q, part(w.solution, body.v, body.n_v), part(w.rates, body.q, body.n_q))
    return OK


@Stage
def displacements(t, work, table, n):
    """d, in `solution`, for which T(q) d is nearest to the q' in `rates`. Binds ROW, rates.

    The columns of T are orthogonal to each other, so each component of d is found by itself.
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        q, given = part(w.y, body.q, body.n_q), part(w.rates, body.q, body.n_q)
        d, unit, column = (
            part(w.solution, body.v, body.n_v),
            part(w.scratch, 0, body.n_v),
            part(w.scratch, body.n_v, body.n_q),
        )
        for c in range(body.n_v):
            for r in range(body.n_v):
                unit[r] = 1.0 if r == c else 0.0
            rates(body, q, unit, column)
            along = length = 0.0
            for x in range(body.n_q):
                along += column[x] * given[x]
                length += column[x] * column[x]
            d[c] = along / length
    return OK


@Stage
def tangents(t, work, table, n):
    """Inertia, elasticity and Y of all bodies. Binds ROW, prepare, inertia_tangent, place_tangent."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = rows[k]
        frame = block(w.scratch, 0, 3, body.n_frame)
        q, v = part(w.y, body.q, body.n_q), part(w.y, w.n_q + body.v, body.n_v)
        stiffness = block(a.stiffness, body.tangent_block, body.n_v, body.n_v)
        damping = block(a.damping, body.tangent_block, body.n_v, body.n_v)
        prepare(body, q, frame)
        inertia_tangent(body, q, v, part(a.v_rate, body.v, body.n_v), frame, stiffness, damping)
        for m in range(body.marker, body.marker + body.n_markers):
            place_tangent(body, v, frame, markers[m], block(a.rate_tangents, markers[m].jacobian, 12, body.n_v))
    return OK


@Stage
def loads(t, work, table, n):
    """What the change of B does to the loads of the markers. Binds ROW, prepare, load_tangent."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = rows[k]
        frame = block(w.scratch, 0, 3, body.n_frame)
        prepare(body, part(w.y, body.q, body.n_q), frame)
        stiffness = block(a.stiffness, body.tangent_block, body.n_v, body.n_v)
        for m in range(body.marker, body.marker + body.n_markers):
            load_tangent(body, frame, markers[m], part(a.loads, 12 * m, 12), stiffness)
    return OK
