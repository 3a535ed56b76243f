"""Partition of the velocities into dependent and independent ones, and what is done with it.

J has independent rows R and dependent columns d such that J[R, d] is regular; the remaining columns i are free:

    v_d = J[R, d]^-1 (b - J[R, i] v_i)    for J v = b.

The partition is revealed by elimination with complete pivoting, on rows scaled to unit length, and kept while J[R, d]
stays about as well conditioned as it was then. Meanwhile its factors L U need no pivoting, and which of their entries
can differ from zero is known: only these, few in a mechanism, are computed.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, indices, integers, part, record, vector
from ..linear_algebra.bodywise import BODYWISE
from ..linear_algebra.dense import cholesky, reveal_rank, solve_cholesky
from ..workspace import NOT_FINITE, OK, REACTIONS, SINGULAR, factorization, workspace
from .dynamics import norm, settle_forces

RANK_LOST = 1e-7  # relative pivot below which a row depends on others; gaps between such rows are 1e-8 at most
WORN = 0.5  # fraction of its first condition at which a partition is revealed anew

PARTITION = np.dtype(
    [
        ("n_rows", "i8"),  # leading rows of J that take part
        ("rank", "i8"),  # -1: not revealed yet
        ("every_step", "i8"),
        ("held", "i8"),  # 1: within a step, where the choice of coordinates stays
        ("rows", "i8"),  # order of the rows: the independent ones first
        ("columns", "i8"),  # order of the columns: the dependent ones first
        ("row_place", "i8"),  # where a row is in that order
        ("column_place", "i8"),
        ("condition", "f8"),  # smallest pivot of the block by the largest entry of J, when it was revealed
        ("jacobian", "i8"),  # J, dense
        ("scaled", "i8"),
        ("factors", "i8"),  # of J[R, d], with inverse pivots
        ("lower_start", "i8"),  # of each pivot: the rows below it and the columns beside it that can differ from zero
        ("lower", "i8"),
        ("upper_start", "i8"),
        ("upper", "i8"),
    ],
    align=True,
)


@inner
def fill_jacobian(w, p):
    """The first rows of J as a dense matrix."""
    f = factorization(w.factor)
    entries, source = vector(w.entries, w.n_entries), indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    jacobian = block(p.jacobian, 0, p.n_rows, w.n_v)
    clear(jacobian)
    for k in range(np.uint64(f.n_sources)):
        r = np.int64(row[k]) - w.n_v
        if 0 <= r < p.n_rows:
            jacobian[r, column[k]] += entries[source[k]]


@inner
def find_pattern(w, p):
    """Which entries of the factors can differ from zero."""
    f = factorization(w.factor)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    rows, columns = integers(p.rows, w.n_rows), integers(p.columns, w.n_v)
    row_place, column_place = indices(p.row_place, w.n_rows), indices(p.column_place, w.n_v)
    for i in range(p.n_rows):
        row_place[rows[i]] = i
    for k in range(w.n_v):
        column_place[columns[k]] = k
    filled = block(p.factors, 0, p.rank, p.rank)
    clear(filled)
    for s in range(np.uint64(f.n_sources)):
        r = np.int64(row[s]) - w.n_v
        if 0 <= r < p.n_rows and row_place[r] < p.rank and column_place[column[s]] < p.rank:
            filled[row_place[r], column_place[column[s]]] = 1.0
    lower_start, upper_start = indices(p.lower_start, p.rank + 1), indices(p.upper_start, p.rank + 1)
    lower, upper = indices(p.lower, p.rank * p.rank), indices(p.upper, p.rank * p.rank)
    below = beside = 0
    for j in range(p.rank):
        lower_start[j], upper_start[j] = below, beside
        for i in range(j + 1, p.rank):
            if filled[i, j] != 0.0:
                lower[below] = i
                below += 1
            if filled[j, i] != 0.0:
                upper[beside] = i
                beside += 1
        for a in range(lower_start[j], below):
            for b in range(upper_start[j], beside):
                filled[lower[a], upper[b]] = 1.0
    lower_start[p.rank], upper_start[p.rank] = below, beside


@inner
def fill_block(w, p):
    """J[R, d] in the place of its factors; returns the largest entry of J."""
    f = factorization(w.factor)
    entries, source = vector(w.entries, w.n_entries), indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    row_place, column_place = indices(p.row_place, w.n_rows), indices(p.column_place, w.n_v)
    a, largest = block(p.factors, 0, p.rank, p.rank), 0.0
    clear(a)
    for s in range(np.uint64(f.n_sources)):
        r = np.int64(row[s]) - w.n_v
        if 0 <= r < p.n_rows:
            largest = max(largest, abs(entries[source[s]]))
            i, k = row_place[r], column_place[column[s]]
            if i < p.rank and k < p.rank:
                a[i, k] += entries[source[s]]
    return largest


@inner
def factor_block(w, p):
    """Factor J[R, d]; returns its smallest pivot relative to the largest entry of J."""
    largest = fill_block(w, p)
    a, smallest = block(p.factors, 0, p.rank, p.rank), np.inf
    lower_start, upper_start = indices(p.lower_start, p.rank + 1), indices(p.upper_start, p.rank + 1)
    lower, upper = indices(p.lower, p.rank * p.rank), indices(p.upper, p.rank * p.rank)
    for j in range(p.rank):
        smallest = min(smallest, abs(a[j, j]))
        a[j, j] = 1.0 / a[j, j]
        for s in range(lower_start[j], lower_start[j + 1]):
            i = lower[s]
            factor = a[i, j] * a[j, j]
            a[i, j] = factor
            for u in range(upper_start[j], upper_start[j + 1]):
                a[i, upper[u]] -= factor * a[j, upper[u]]
    return smallest / largest if p.rank > 0 else 1.0


@inner
def solve_block(p, x):
    """x := J[R, d]^-1 x."""
    a = block(p.factors, 0, p.rank, p.rank)
    lower_start, upper_start = indices(p.lower_start, p.rank + 1), indices(p.upper_start, p.rank + 1)
    lower, upper = indices(p.lower, p.rank * p.rank), indices(p.upper, p.rank * p.rank)
    for j in range(p.rank):
        for s in range(lower_start[j], lower_start[j + 1]):
            x[lower[s]] -= a[lower[s], j] * x[j]
    for j in range(p.rank - 1, -1, -1):
        for s in range(upper_start[j], upper_start[j + 1]):
            x[j] -= a[j, upper[s]] * x[upper[s]]
        x[j] *= a[j, j]


@inner
def solve_transposed(p, x):
    """x := J[R, d]^-T x."""
    a = block(p.factors, 0, p.rank, p.rank)
    lower_start, upper_start = indices(p.lower_start, p.rank + 1), indices(p.upper_start, p.rank + 1)
    lower, upper = indices(p.lower, p.rank * p.rank), indices(p.upper, p.rank * p.rank)
    for j in range(p.rank):
        x[j] *= a[j, j]
        for s in range(upper_start[j], upper_start[j + 1]):
            x[upper[s]] -= a[j, upper[s]] * x[j]
    for j in range(p.rank - 1, -1, -1):
        for s in range(lower_start[j], lower_start[j + 1]):
            x[j] -= a[lower[s], j] * x[lower[s]]


@inner
def reveal(w, p, violation):
    """Find R and d anew; a violated constraint cannot tell a dependency below its violation."""
    fill_jacobian(w, p)
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
    find_pattern(w, p)
    p.condition = factor_block(w, p)


@inner
def partition(w, p, violation):
    """Bring the partition and its factors to the J at hand."""
    if p.rank < 0:
        reveal(w, p, violation)
    elif p.held == 1:
        factor_block(w, p)
    elif p.every_step == 1 or not factor_block(w, p) > WORN * p.condition:
        reveal(w, p, violation)
    if p.rank < p.n_rows:
        factorization(w.factor).dependent = 1


POSITIONS_AND_VELOCITIES = np.dtype([("position", "i8"), ("velocity", "i8")], align=True)


@inner
def level(w, data, n):
    """The partition for the first n rows: that of positions, or that of velocities if there are nonholonomic rows."""
    both = record(data, POSITIONS_AND_VELOCITIES)
    return record(both.position if n == w.n_holonomic else both.velocity, PARTITION)


@Stage
def part_velocities(t, work, data, n):
    """Take up the J of the last evaluation for changes of the dependent velocities or displacements."""
    w = workspace(work)
    partition(w, level(w, data, n), norm(vector(w.residual, w.n_holonomic), w.n_holonomic))
    return OK


@Stage
def change_dependent(t, work, data, n):
    """`solution` := the change of the dependent velocities or displacements that removes the violations in `right`."""
    w = workspace(work)
    p = level(w, data, n)
    right, x = vector(w.right, w.n_v + w.n_rows), vector(w.solution, w.n_v)
    rows, columns, change = integers(p.rows, w.n_rows), integers(p.columns, w.n_v), vector(p.scaled, w.n_rows)
    for k in range(p.rank):
        change[k] = right[w.n_v + rows[k]]
    solve_block(p, change)
    for k in range(w.n_v):
        x[columns[k]] = change[k] if k < p.rank else 0.0
    return OK


INDEPENDENT = np.dtype(
    [
        ("partitions", "i8"),
        ("correct", "i8"),
        ("correct_data", "i8"),
        ("accelerate", "i8"),
        ("accelerate_data", "i8"),
    ],
    align=True,
)


@inner
def hold(data, held):
    """Keep the choice of coordinates, or let it be made anew."""
    both = record(data, POSITIONS_AND_VELOCITIES)
    record(both.position, PARTITION).held = held
    record(both.velocity, PARTITION).held = held


@Stage
def accelerate_independent(t, work, data, n):
    """Accelerations at the state that the independent coordinates and velocities determine.

    Where reactions are asked for, the state is a stored one, and taken as it is.
    """
    d = record(data, INDEPENDENT)
    if n != REACTIONS:
        hold(d.partitions, 1)
        status = call(d.correct, t, work, d.correct_data, 0)
        hold(d.partitions, 0)
        if status != OK:
            return status
    return call(d.accelerate, t, work, d.accelerate_data, n)


PROJECTION = np.dtype(
    [
        ("partition", "i8"),
        ("basis", "i8"),  # R: velocities of the mechanism for unit values of the independent ones, a row each
        ("product", "i8"),  # R M
        ("reduced", "i8"),  # R M R^T
        ("particular", "i8"),  # v' for independent ones of zero
        ("load", "i8"),
        ("sharing", "i8"),
        ("normal", "i8"),
    ],
    align=True,
)


@inner
def multiply_mass(w, x, out):
    """out := M x."""
    f = factorization(w.factor)
    entries, source = vector(w.entries, w.n_entries), indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    for k in range(w.n_v):
        out[k] = 0.0
    for k in range(np.uint64(f.n_sources)):
        r, c = row[k], column[k]
        if r < w.n_v:
            out[r] += entries[source[k]] * x[c]
            if r != c:
                out[c] += entries[source[k]] * x[r]


@inner
def motion_basis(w, p, d):
    """The basis of the motions that the constraints admit, and one motion with the accelerations gamma."""
    free = w.n_v - p.rank
    fill_jacobian(w, p)
    jacobian, basis = block(p.jacobian, 0, w.n_rows, w.n_v), block(d.basis, 0, free, w.n_v)
    rows, columns, x = integers(p.rows, w.n_rows), integers(p.columns, w.n_v), vector(d.load, w.n_v)
    clear(basis)
    for c in range(free):
        basis[c, columns[p.rank + c]] = 1.0
        for k in range(p.rank):
            x[k] = -jacobian[rows[k], columns[p.rank + c]]
        solve_block(p, x)
        for k in range(p.rank):
            basis[c, columns[k]] = x[k]
    gamma, particular = vector(w.gamma, w.n_rows), vector(d.particular, w.n_v)
    for k in range(p.rank):
        x[k] = gamma[rows[k]]
    solve_block(p, x)
    for k in range(w.n_v):
        particular[columns[k]] = x[k] if k < p.rank else 0.0


@inner
def share_load(w, p, d):
    """Multipliers of minimum norm, sum E l^2 with E = diag(J M^-1 J^T), that exert the load of the independent rows.

    All rows are combinations J = L J[R] of the independent ones, whose multipliers g stand for L^T l:
    l = E^-1 L (L^T E^-1 L)^-1 g.
    """
    r, multipliers = p.rank, vector(w.multipliers, w.n_rows)
    jacobian = block(p.jacobian, 0, w.n_rows, w.n_v)
    rows, columns = integers(p.rows, w.n_rows), integers(p.columns, w.n_v)
    weight = vector(record(w.bodywise, BODYWISE).weight, w.n_rows)
    sharing, normal, g = block(d.sharing, 0, w.n_rows, r), block(d.normal, 0, r, r), vector(d.load, w.n_v)
    for k in range(w.n_rows):
        for a in range(r):
            sharing[k, a] = jacobian[k, columns[a]]
        solve_transposed(p, sharing[k])
    for a in range(r):
        g[a] = multipliers[rows[a]]
        for b in range(a + 1):
            normal[a, b] = 0.0
            for k in range(w.n_rows):
                if weight[k] > 0.0:
                    normal[a, b] += sharing[k, a] * sharing[k, b] / weight[k]
    if not cholesky(r, normal):
        return SINGULAR
    solve_cholesky(r, normal, g)
    for k in range(w.n_rows):
        multipliers[k] = 0.0
        if weight[k] > 0.0:
            for a in range(r):
                multipliers[k] += sharing[k, a] * g[a] / weight[k]
    return OK


@Stage
def accelerate_by_projection(t, work, data, n):
    """v' from the equations of motion projected on the motions that the constraints admit, R M (R^T a + p) = R Q."""
    w = workspace(work)
    d = record(data, PROJECTION)
    p = record(d.partition, PARTITION)
    status = settle_forces(w, t, work)
    if status != OK:
        return status
    partition(w, p, norm(vector(w.residual, w.n_holonomic), w.n_holonomic))
    w.factorizations += 1
    motion_basis(w, p, d)
    free = w.n_v - p.rank
    basis, product = block(d.basis, 0, free, w.n_v), block(d.product, 0, free, w.n_v)
    reduced, particular = block(d.reduced, 0, free, free), vector(d.particular, w.n_v)
    force, load, x = vector(w.force, w.n_v), vector(d.load, w.n_v), vector(w.solution, w.n_v)
    multiply_mass(w, particular, load)
    for c in range(free):
        multiply_mass(w, basis[c], product[c])
        x[c] = 0.0
        for k in range(w.n_v):
            x[c] += basis[c, k] * (force[k] - load[k])
        for b in range(c + 1):
            reduced[c, b] = 0.0
            for k in range(w.n_v):
                reduced[c, b] += product[c, k] * basis[b, k]
    if not cholesky(free, reduced):
        w.culprit = integers(p.columns, w.n_v)[p.rank]
        return SINGULAR
    solve_cholesky(free, reduced, x)
    acceleration = part(w.rates, w.n_q, w.n_v)
    for k in range(w.n_v):
        acceleration[k] = particular[k]
        for c in range(free):
            acceleration[k] += basis[c, k] * x[c]
        if not abs(acceleration[k]) < np.inf:
            w.culprit = k
            return NOT_FINITE
    rows, columns, multipliers = integers(p.rows, w.n_rows), integers(p.columns, w.n_v), vector(w.multipliers, w.n_rows)
    multiply_mass(w, acceleration, load)
    for k in range(p.rank):
        x[k] = force[columns[k]] - load[columns[k]]
    solve_transposed(p, x)
    for k in range(w.n_rows):
        multipliers[rows[k]] = x[k] if k < p.rank else 0.0
    if p.rank == w.n_rows or n != REACTIONS:
        return OK
    status = call(w.weigh, t, work, w.bodywise, 0)
    return share_load(w, p, d) if status == OK else status
