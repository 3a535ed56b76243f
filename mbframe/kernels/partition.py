"""Partition of the velocities into dependent and independent ones, and what is done with it.

J has independent rows R and dependent columns d such that J[R, d] is regular; the remaining columns i are free:

    v_d = J[R, d]^-1 (b - J[R, i] v_i)    for J v = b.

The partition is revealed by elimination with complete pivoting, on rows scaled to unit length, and kept while J[R, d]
stays about as well conditioned as it was then.
"""

from __future__ import annotations

import numpy as np

from .compile import Stage, call, inner, records
from .dense import (
    cholesky,
    factor_general,
    reveal_rank,
    solve_cholesky,
    solve_general,
    solve_transposed,
)
from .dynamics import displace, largest_row, norm
from .workspace import (
    DYNAMICS,
    NO_CONVERGENCE,
    NOT_FINITE,
    OK,
    POSITION,
    SINGULAR,
    VELOCITY,
    block,
    factorization,
    indices,
    integers,
    part,
    vector,
    workspace,
)

RANK_LOST = 1e-9  # relative pivot below which a row depends on others, for exactly closed constraints
WORN = 0.1  # fraction of its first condition at which a partition is revealed anew

PARTITION = np.dtype(
    [
        ("n_rows", "i8"),  # leading rows of J that take part
        ("rank", "i8"),  # -1: not revealed yet
        ("every_step", "i8"),
        ("rows", "i8"),  # order of the rows: the independent ones first
        ("columns", "i8"),  # order of the columns: the dependent ones first
        ("condition", "f8"),  # smallest by largest pivot of the block when it was revealed
        ("jacobian", "i8"),  # J, dense
        ("scaled", "i8"),
        ("factors", "i8"),  # of J[R, d]
        ("pivots", "i8"),
    ],
    align=True,
)


@inner
def fill_jacobian(w, p):
    """The first rows of J as a dense matrix."""
    f = factorization(w.factor)
    entries, source = vector(w.entries, w.n_entries), indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    jacobian = block(p.jacobian, 0, w.n_rows, w.n_v)
    for i in range(p.n_rows):
        for k in range(w.n_v):
            jacobian[i, k] = 0.0
    for k in range(np.uint64(f.n_sources)):
        r = np.int64(row[k]) - w.n_v
        if 0 <= r < p.n_rows:
            jacobian[r, column[k]] += entries[source[k]]


@inner
def factor_block(w, p):
    """Factor J[R, d]; returns its smallest by its largest pivot."""
    jacobian, factors = block(p.jacobian, 0, w.n_rows, w.n_v), block(p.factors, 0, p.rank, p.rank)
    rows, columns = integers(p.rows, w.n_rows), integers(p.columns, w.n_v)
    for i in range(p.rank):
        for k in range(p.rank):
            factors[i, k] = jacobian[rows[i], columns[k]]
    return factor_general(p.rank, factors, integers(p.pivots, w.n_rows))


@inner
def reveal(w, p, violation):
    """Find R and d anew; a violated constraint cannot tell a dependency below its violation."""
    jacobian, scaled = block(p.jacobian, 0, w.n_rows, w.n_v), block(p.scaled, 0, w.n_rows, w.n_v)
    for i in range(p.n_rows):
        square = 0.0
        for k in range(w.n_v):
            square += jacobian[i, k] * jacobian[i, k]
        size = np.sqrt(square) if square > 0.0 else 1.0
        for k in range(w.n_v):
            scaled[i, k] = jacobian[i, k] / size
    tolerance = max(RANK_LOST, min(1e-3, 10.0 * violation))
    rows, columns = integers(p.rows, w.n_rows), integers(p.columns, w.n_v)
    p.rank = reveal_rank(p.n_rows, w.n_v, scaled, rows, columns, tolerance)
    p.condition = factor_block(w, p)
    if p.rank < p.n_rows:
        factorization(w.factor).dependent = 1


@inner
def partition(w, p, violation):
    """Bring the partition and its factors to the J at hand."""
    fill_jacobian(w, p)
    if p.rank < 0 or not factor_block(w, p) > WORN * p.condition:
        reveal(w, p, violation)
