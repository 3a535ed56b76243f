"""M^-1 Q and M^-1 J^T body by body: M has one block per body, and each block of J is solved with that of its body."""

from __future__ import annotations

import numpy as np

from .compile import Stage
from .dense import cholesky, solve_cholesky
from .memory import block, part, record, records, vector
from .pipeline import inner
from .workspace import OK, SINGULAR, workspace

BODY = np.dtype(
    [
        ("n", "i8"),  # velocities
        ("v", "i8"),
        ("mass", "i8"),  # where the mass block starts in the entries
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
        ("mass", "i8"),  # factored mass matrix of one body
        ("free", "i8"),  # a = M^-1 Q, the accelerations without constraints
        ("weight", "i8"),  # diag(J M^-1 J^T)
    ],
    align=True,
)


@inner
def solve_bodies(w, s):
    """a of all bodies, and M^-1 J^T of everything that touches them."""
    bodies, touches = records(s.bodies, s.n_bodies, BODY), records(s.touches, s.n_touches, TOUCH)
    for k in range(s.n_bodies):
        body = bodies[k]
        n = body.n
        mass, free = block(s.mass, 0, n, n), part(s.free, body.v, n)
        source, force = block(w.entries, body.mass, n, n), part(w.force, body.v, n)
        for a in range(n):
            free[a] = force[a]
            for b in range(a + 1):
                mass[a, b] = source[a, b]
        if not cholesky(n, mass):
            w.culprit = body.v
            return SINGULAR
        solve_cholesky(n, mass, free)
        for c in range(body.first, body.first + body.n_touches):
            touch = touches[c]
            rows = block(w.entries, touch.entries, touch.equations, n)
            solved = block(s.solved, touch.solved, touch.equations, n)
            for e in range(touch.equations):
                for a in range(n):
                    solved[e, a] = rows[e, a]
                solve_cholesky(n, mass, solved[e])
    return OK


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
    for k in range(w.n_rows):
        weight[k] = 0.0
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
