"""Accelerations by Gauss's principle, in the closed form of Udwadia and Kalaba.

With a = M^-1 Q, the accelerations without constraints, and K = J M^-1 J^T,

    lambda = K^+ (J a - gamma),    v' = a - M^-1 J^T lambda.

M has one block per body, so M^-1 J^T is found body by body. K couples the equations that share a body; it is positive
definite unless constraints depend on each other, and factored sparsely in a static order. Where a pivot is lost, the
pseudoinverse of the whole of K is taken, with rows scaled to a unit diagonal.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, indices, integers, part, record, records, vector
from ..linear_algebra.bodywise import BODY, BODYWISE, TOUCH, solve_bodies
from ..linear_algebra.dense import cholesky, factor_semidefinite, solve_cholesky
from ..linear_algebra.factorization import PIVOT_LOST, substitute_symmetric
from ..workspace import NOT_FINITE, OK, factorization, workspace
from .dynamics import settle_forces

PRODUCT = np.dtype(
    [
        ("left", "i8"),  # touches whose product goes to a block of K
        ("right", "i8"),
        ("n", "i8"),
        ("target", "i8"),
    ],
    align=True,
)

GAUSS = np.dtype(
    [
        ("products", "i8"),
        ("n_products", "i8"),
        ("gram", "i8"),  # pool of the blocks of K
        ("n_gram", "i8"),
        ("factor", "i8"),  # static factorization of K
        ("dependent", "i8"),  # 1: constraints depend on each other, and the pseudoinverse is taken
        ("dense", "i8"),  # K as one matrix, for the pseudoinverse
        ("normal", "i8"),
        ("order", "i8"),
        ("weight", "i8"),
        ("error", "i8"),  # J a - gamma, then lambda
        ("work", "i8"),
    ],
    align=True,
)


@inner
def gram_matrix(w, g, s):
    """The blocks of K."""
    touches, products = records(s.touches, s.n_touches, TOUCH), records(g.products, g.n_products, PRODUCT)
    gram = vector(g.gram, g.n_gram)
    clear(gram)
    for k in range(g.n_products):
        p = products[k]
        left, right = touches[p.left], touches[p.right]
        rows = block(w.entries, left.entries, left.equations, p.n)
        solved = block(s.solved, right.solved, right.equations, p.n)
        target = block(g.gram, p.target, left.equations, right.equations)
        for e in range(left.equations):
            for a in range(p.n):
                if rows[e, a] != 0.0:  # few are
                    for h in range(right.equations):
                        target[e, h] += rows[e, a] * solved[h, a]


@inner
def acceleration_errors(w, g, s):
    """error := J a - gamma."""
    bodies, touches = records(s.bodies, s.n_bodies, BODY), records(s.touches, s.n_touches, TOUCH)
    error, gamma = vector(g.error, w.n_rows), vector(w.gamma, w.n_rows)
    for k in range(w.n_rows):
        error[k] = -gamma[k]
    for k in range(s.n_bodies):
        body = bodies[k]
        free = part(s.free, body.v, body.n)
        for c in range(body.first, body.first + body.n_touches):
            touch = touches[c]
            rows = block(w.entries, touch.entries, touch.equations, body.n)
            for e in range(touch.equations):
                for a in range(body.n):
                    error[touch.row + e] += rows[e, a] * free[a]


@inner
def solve_gram(g, n):
    """error := K^-1 error."""
    f = factorization(g.factor)
    order, permuted, error = indices(f.order, f.n), vector(f.work, f.n), vector(g.error, n)
    for k in range(np.uint64(f.n)):
        permuted[k] = error[order[k]]
    start, rows = indices(f.start, f.n + 1), indices(f.rows, f.n_lower)
    substitute_symmetric(f.n, vector(f.values, f.n + f.n_lower), start, rows, permuted)
    for k in range(np.uint64(f.n)):
        error[order[k]] = permuted[k]


@inner
def pseudosolve_gram(g, n):
    """error := K^+ error, minimum norm in rows scaled to a unit diagonal of K.

    The scaled matrix is P L L^T P^T with a full-rank L, so its pseudoinverse is P L (L^T L)^-2 L^T P^T.
    """
    f = factorization(g.factor)
    gram, source = vector(g.gram, g.n_gram), indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    dense, weight, error = block(g.dense, 0, n, n), vector(g.weight, n), vector(g.error, n)
    order, x = integers(g.order, n), vector(g.work, n)
    clear(dense)
    for k in range(np.uint64(f.n_sources)):
        dense[row[k], column[k]] += gram[source[k]]
    for a in range(n):
        weight[a] = 1.0 / np.sqrt(dense[a, a]) if dense[a, a] > 0.0 else 0.0
    for a in range(n):
        for b in range(a + 1):
            dense[a, b] *= weight[a] * weight[b]
    rank = factor_semidefinite(n, dense, order, PIVOT_LOST)
    normal = block(g.normal, 0, rank, rank)
    for a in range(rank):
        for b in range(a + 1):
            s = 0.0
            for k in range(a, n):
                s += dense[k, a] * dense[k, b]
            normal[a, b] = s
    cholesky(rank, normal)
    for a in range(rank):
        s = 0.0
        for k in range(a, n):
            s += dense[k, a] * weight[order[k]] * error[order[k]]
        x[a] = s
    solve_cholesky(rank, normal, x)
    solve_cholesky(rank, normal, x)
    for k in range(n):
        s = 0.0
        for a in range(min(k + 1, rank)):
            s += dense[k, a] * x[a]
        error[order[k]] = weight[order[k]] * s


@Stage
def accelerate_by_gauss(t, work, data, n):
    """v' and the multipliers in the closed form of Udwadia and Kalaba."""
    w = workspace(work)
    g = record(data, GAUSS)
    s = record(w.bodywise, BODYWISE)
    status = settle_forces(w, t, work)
    if status == OK:
        status = solve_bodies(w, s)
    if status != OK:
        return status
    gram_matrix(w, g, s)
    acceleration_errors(w, g, s)
    if g.dependent == 0:
        call(w.eliminate, t, work, g.factor, g.gram)
        if factorization(g.factor).lost > 0:
            g.dependent = 1
    if g.dependent == 0:
        solve_gram(g, w.n_rows)
    else:
        factorization(w.factor).dependent = 1
        pseudosolve_gram(g, w.n_rows)
    w.factorizations += 1
    multipliers, error = vector(w.multipliers, w.n_rows), vector(g.error, w.n_rows)
    for k in range(w.n_rows):
        multipliers[k] = error[k]
    bodies, touches = records(s.bodies, s.n_bodies, BODY), records(s.touches, s.n_touches, TOUCH)
    for k in range(s.n_bodies):
        body = bodies[k]
        acceleration, free = part(w.rates, w.n_q + body.v, body.n), part(s.free, body.v, body.n)
        for a in range(body.n):
            acceleration[a] = free[a]
        for c in range(body.first, body.first + body.n_touches):
            touch = touches[c]
            solved = block(s.solved, touch.solved, touch.equations, body.n)
            for e in range(touch.equations):
                for a in range(body.n):
                    acceleration[a] -= solved[e, a] * multipliers[touch.row + e]
        for a in range(body.n):
            if not abs(acceleration[a]) < np.inf:
                w.culprit = body.v + a
                return NOT_FINITE
    return OK
