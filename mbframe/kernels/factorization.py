"""Static sparse factorization of the system matrix: LDL^T, and LU on the same symmetric pattern.

The pattern, the order of elimination and the list of updates are worked out once (`equations.structure`); here only
numbers move. There is no pivoting: the order makes every pivot regular unless constraints depend on each other, and
each pivot is compared with the largest contribution it was summed from. If one is lost in rounding the matrix is
regularized,

    [ M   J^T ] [ a ]   [ Q                 ]
    [ J   -E  ] [ l ] = [ gamma - E l_before ]

with E = EPSILON diag(J M^-1 J^T), and the solve repeated (proximal iteration) until J a = gamma; accelerations are
then exact and the multipliers those of minimum norm in these weights.

A mechanism may also pass a singular position, where constraints depend on each other for an instant. The regularized
matrix would let go of it over a range of sqrt(EPSILON) around that position, so the plain matrix is tried again at
the following factorizations, until as many as `LASTING` in a row have lost a pivot.

The functions on plain arrays (`factor_symmetric`, `factor_general`, `substitute_…`) are generic over real and complex
numbers.
"""

from __future__ import annotations

import numpy as np

from .compile import Stage, inner
from .workspace import NOT_FINITE, OK, SINGULAR, factorization, indices, vector, workspace

PIVOT_LOST = 1e-11  # relative pivot below which constraints count as dependent
PIVOT_WEAK = 1e-4  # relative pivot below which a solution is refined once
EPSILON = 1e-6
LASTING = 50
PROXIMAL_LIMIT = 60
PROXIMAL_RESIDUAL = 1e-13


@inner
def factor_symmetric(n, values, start, rows, targets, scale):
    """L D L^T in place. Returns the smallest relative pivot and its index.

    `values` holds D (on return its inverse), then L by columns; `targets` lists for each pivot the entries updated by
    the pairs of its column. A lost pivot is replaced by its scale, so that all scales are known afterwards.
    """
    worst, smallest, beside = np.uint64(0), 1.0, 1.0  # the worst pivot so far is smallest / beside
    p = np.uint64(0)
    one = np.uint64(1)
    for k in range(np.uint64(n)):
        d = values[k]
        size = abs(d)
        reference = max(scale[k], size)
        scale[k] = reference
        if reference == 0.0:
            worst, smallest, beside = k, 0.0, 1.0
        elif not size * beside >= smallest * reference:
            worst, smallest, beside = k, size, reference
        if not size > PIVOT_LOST * reference:
            d = values.dtype.type(reference if reference > 0.0 else 1.0)
        inverse = 1.0 / d
        values[k] = inverse
        last = start[k + one]
        for a in range(start[k], last):
            column = values[a]
            factor = column * inverse
            contribution = abs(factor * column)
            row = rows[a - np.uint64(n)]
            if contribution > scale[row]:
                scale[row] = contribution
            for b in range(a, last):
                values[targets[p]] -= factor * values[b]
                p += one
            values[a] = factor
    return worst, smallest / beside if beside > 0.0 else 0.0


@inner
def factor_general(n, values, upper, start, rows, targets, scale):
    """L U in place on the symmetric pattern; `values` holds D (on return its inverse) and L, `upper` holds U
    at the places of L's transpose.
    """
    worst, smallest, beside = np.uint64(0), 1.0, 1.0  # the worst pivot so far is smallest / beside
    p = np.uint64(0)
    one = np.uint64(1)
    shift = np.uint64(n)
    for k in range(np.uint64(n)):
        d = values[k]
        size = abs(d)
        reference = max(scale[k], size)
        scale[k] = reference
        if reference == 0.0:
            worst, smallest, beside = k, 0.0, 1.0
        elif not size * beside >= smallest * reference:
            worst, smallest, beside = k, size, reference
        if not size > PIVOT_LOST * reference:
            d = values.dtype.type(reference if reference > 0.0 else 1.0)
        inverse = 1.0 / d
        values[k] = inverse
        first, last = start[k], start[k + one]
        for a in range(first, last):
            values[a] *= inverse
        for a in range(first, last):
            contribution = abs(values[a] * upper[a - shift])
            row = rows[a - shift]
            if contribution > scale[row]:
                scale[row] = contribution
            values[row] -= values[a] * upper[a - shift]
            p += one
            for b in range(a + one, last):
                values[targets[p]] -= values[b] * upper[a - shift]
                upper[targets[p] - shift] -= values[a] * upper[b - shift]
                p += one
    return worst, smallest / beside if beside > 0.0 else 0.0


@inner
def substitute_symmetric(n, values, start, rows, x):
    """x := (L D L^T)^-1 x, in elimination order."""
    one = np.uint64(1)
    shift = np.uint64(n)
    for k in range(shift):
        xk = x[k]
        for a in range(start[k], start[k + one]):
            x[rows[a - shift]] -= values[a] * xk
    for step in range(shift):
        k = shift - one - step
        s = x[k] * values[k]
        for a in range(start[k], start[k + one]):
            s -= values[a] * x[rows[a - shift]]
        x[k] = s


@inner
def substitute_general(n, values, upper, start, rows, x):
    """x := (L U)^-1 x, in elimination order."""
    one = np.uint64(1)
    shift = np.uint64(n)
    for k in range(shift):
        xk = x[k]
        for a in range(start[k], start[k + one]):
            x[rows[a - shift]] -= values[a] * xk
    for step in range(shift):
        k = shift - one - step
        s = x[k]
        for a in range(start[k], start[k + one]):
            s -= upper[a - shift] * x[rows[a - shift]]
        x[k] = s * values[k]


@inner
def scatter(f, entries):
    """Bring the current entries into the slots of the factorization."""
    size = f.n + f.n_lower
    values = vector(f.values, size)
    source, slot = indices(f.source, f.n_sources), indices(f.slot, f.n_sources)
    for k in range(size):
        values[k] = 0.0
    for k in range(np.uint64(f.n_sources)):
        values[slot[k]] += entries[source[k]]
    scale = vector(f.scale, f.n)
    for k in range(f.n):
        scale[k] = 0.0


@inner
def regularize(f):
    """Put -E on the diagonal of the multipliers; E from the scales of the last attempt, kept for the whole run."""
    values, weight = vector(f.values, f.n), vector(f.weight, f.n)
    order = indices(f.order, f.n)
    for k in range(f.n):
        if order[k] >= f.n_plain:
            values[k] -= weight[k]


@Stage
def factorize(t, work, data, entries_address):
    """Factor the matrix [M J^T; J 0] from its entries; go over to the regularized one when constraints depend.

    `data` is the record of the factorization, `entries_address` that of the entries.
    """
    w = workspace(work)
    f = factorization(data)
    entries = vector(entries_address, w.n_entries)
    w.factorizations += 1
    scatter(f, entries)
    start, rows = indices(f.start, f.n + 1), indices(f.rows, f.n_lower)
    targets = indices(f.targets, f.n_targets)
    size = f.n + f.n_lower
    values, scale, weight = vector(f.values, size), vector(f.scale, f.n), vector(f.weight, f.n)
    f.regularized = 1 if f.lost >= LASTING else 0
    if f.regularized != 0:
        regularize(f)
    worst, pivot = factor_symmetric(f.n, values, start, rows, targets, scale)
    if f.regularized == 0 and pivot > PIVOT_LOST:
        f.lost = 0
    elif f.regularized == 0:
        order = indices(f.order, f.n)
        total = 0.0
        for k in range(w.n_entries):
            total += abs(entries[k])
        if not total < np.inf:  # then the pivot says nothing about the constraints
            w.culprit = order[worst]
            return NOT_FINITE
        if order[worst] < f.n_plain:
            w.culprit = order[worst]
            return SINGULAR
        if f.dependent == 0:
            largest = 0.0
            for k in range(f.n):
                if order[k] >= f.n_plain and scale[k] > largest:
                    largest = scale[k]
            for k in range(f.n):
                weight[k] = EPSILON * (scale[k] if scale[k] > 0.0 else largest)
        f.regularized = f.dependent = 1
        f.lost += 1
        scatter(f, entries)
        regularize(f)
        worst, pivot = factor_symmetric(f.n, values, start, rows, targets, scale)
    elif pivot > 2.0 * EPSILON:  # a pivot of dependent constraints is EPSILON itself
        f.lost = 0
    order = indices(f.order, f.n)
    f.worst, f.worst_pivot = order[worst], pivot
    f.refine = 1 if pivot < PIVOT_WEAK else 0
    f.valid = 1
    return OK


@inner
def multiply_system(f, entries, x, out):
    """out := [M J^T; J 0] x."""
    source = indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    for k in range(f.n):
        out[k] = 0.0
    for k in range(np.uint64(f.n_sources)):
        e, r, c = entries[source[k]], row[k], column[k]
        out[r] += e * x[c]
        if r != c:
            out[c] += e * x[r]


@inner
def _substitute(f, right, x):
    order = indices(f.order, f.n)
    permuted = vector(f.work, f.n)
    for k in range(np.uint64(f.n)):
        permuted[k] = right[order[k]]
    substitute_symmetric(
        f.n,
        vector(f.values, f.n + f.n_lower),
        indices(f.start, f.n + 1),
        indices(f.rows, f.n_lower),
        permuted,
    )
    for k in range(np.uint64(f.n)):
        x[order[k]] = permuted[k]


@Stage
def solve(t, work, data, entries_address):
    """Solve [M J^T; J 0] solution = right with the factors at hand.

    Refined once where pivots are weak, proximal where constraints depend on each other.
    """
    w = workspace(work)
    f = factorization(data)
    entries, right, x = vector(entries_address, w.n_entries), vector(w.right, f.n), vector(w.solution, f.n)
    _substitute(f, right, x)
    if f.regularized == 0 and f.refine == 0:
        return OK
    # The second half of `work` holds residual and correction.
    residual, correction = vector(f.work + 8 * f.n, f.n), vector(f.work + 16 * f.n, f.n)
    size = 0.0
    for k in range(f.n):
        size = max(size, abs(right[k]))
    previous = np.inf
    for _ in range(PROXIMAL_LIMIT if f.regularized != 0 else 1):
        multiply_system(f, entries, x, residual)
        largest = 0.0
        for k in range(f.n):
            residual[k] = right[k] - residual[k]
            largest = max(largest, abs(residual[k]))
        # A residual that no longer falls has reached rounding (or, for contradictory rows, its least value).
        if largest <= PROXIMAL_RESIDUAL * size or not largest < 0.9 * previous:
            break
        previous = largest
        _substitute(f, residual, correction)
        for k in range(f.n):
            x[k] += correction[k]
    return OK
