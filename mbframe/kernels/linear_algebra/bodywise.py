"""M^-1 Q and M^-1 J^T body by body: M has one block per body, and each block of J is solved with that of its body."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage
from ..compiler.memory import block, clear, part, record, records, vector
from ..workspace import OK, SINGULAR, workspace
from .dense import invert

BODY = np.dtype(
    [
        ("n", "i8"),  # velocities
        ("v", "i8"),
        ("mass", "i8"),  # where the mass block starts in the entries
        ("inverse", "i8"),  # and its inverse in the pool
        ("first", "i8"),  # its touches
        ("n_touches", "i8"),
    ],
    align=True,
)

TOUCH = np.dtype(
    [
        ("equations", "i8"),  # a block of J: some equations, the velocities of one body
        ("row", "i8"),
        ("entries", "i8"),
        ("solved", "i8"),  # where its M^-1 J^T, transposed, starts in the pool
    ],
    align=True,
)

BODYWISE = np.dtype(
    [
        ("bodies", "i8"),
        ("n_bodies", "i8"),
        ("touches", "i8"),
        ("n_touches", "i8"),
        ("solved", "i8"),  # pool of M^-1 J^T
        ("inverse", "i8"),  # pool of the inverses of the mass blocks
        ("inverted", "i8"),  # pool of the blocks that these belong to
        ("free", "i8"),  # a = M^-1 Q, the accelerations without constraints
        ("weight", "i8"),  # diag(J M^-1 J^T)
    ],
    align=True,
)


@inner
def renew(n, source, inverted):
    """Copy a mass block; returns whether it is another than before."""
    changed = False
    for a in range(n):
        for b in range(a + 1):
            changed |= source[a, b] != inverted[a, b]
            inverted[a, b] = source[a, b]
    return changed


@inner
def solve_bodies(w, s):
    """a of all bodies, and M^-1 J^T of everything that touches them.

    Mass blocks that are constant, as in natural absolute coordinates, are inverted once. J has many zeros.
    """
    bodies, touches = records(s.bodies, s.n_bodies, BODY), records(s.touches, s.n_touches, TOUCH)
    for k in range(s.n_bodies):
        body = bodies[k]
        n = body.n
        inverse, inverted = block(s.inverse, body.inverse, n, n), block(s.inverted, body.inverse, n, n)
        free, force = part(s.free, body.v, n), part(w.force, body.v, n)
        if renew(n, block(w.entries, body.mass, n, n), inverted) and not invert(n, inverted, inverse):
            w.culprit = body.v
            return SINGULAR
        multiply(n, force, inverse, free)
        for c in range(body.first, body.first + body.n_touches):
            touch = touches[c]
            rows = block(w.entries, touch.entries, touch.equations, n)
            solved = block(s.solved, touch.solved, touch.equations, n)
            for e in range(touch.equations):
                multiply(n, rows[e], inverse, solved[e])
    return OK


@inner
def multiply(n, x, matrix, out):
    """out := x matrix."""
    for b in range(n):
        out[b] = 0.0
    for a in range(n):
        if x[a] != 0.0:
            for b in range(n):
                out[b] += x[a] * matrix[a, b]


@Stage
def weigh(t, work, data, n):
    """weight := diag(J M^-1 J^T) at the state of the last evaluation: how much a unit load on a row accelerates it."""
    w = workspace(work)
    s = record(data, BODYWISE)
    status = solve_bodies(w, s)
    if status != OK:
        return status
    bodies, touches = records(s.bodies, s.n_bodies, BODY), records(s.touches, s.n_touches, TOUCH)
    weight = vector(s.weight, w.n_rows)
    clear(weight)
    for k in range(s.n_bodies):
        body = bodies[k]
        own = range(body.first, body.first + body.n_touches)
        for c in own:
            for d in own:  # several blocks of one body may share a row
                if touches[c].row == touches[d].row:
                    rows = block(w.entries, touches[c].entries, touches[c].equations, body.n)
                    solved = block(s.solved, touches[d].solved, touches[d].equations, body.n)
                    for e in range(touches[c].equations):
                        for a in range(body.n):
                            weight[touches[c].row + e] += rows[e, a] * solved[e, a]
    return OK


@inner
def row_weight(w, row):
    """The weight of a row; a row without effect on any body gets that of the heaviest."""
    weights = vector(record(w.bodywise, BODYWISE).weight, w.n_rows)
    if weights[row] > 0.0:
        return weights[row]
    heaviest = 1.0
    for k in range(w.n_rows):
        heaviest = max(heaviest, weights[k])
    return heaviest
