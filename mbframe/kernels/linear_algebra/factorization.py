"""Static sparse factorization of the system matrix: LDL^T, and LU on the same symmetric pattern.

The pattern, the order of elimination and the list of updates are worked out once (`equations.structure`); here only
numbers move. There is no pivoting: the order makes every pivot regular unless constraints depend on each other, and
each pivot is compared with the largest contribution it was summed from. An equation whose pivot is lost in rounding
follows from the ones before it and is left out, its multiplier being zero: the motion is that of all equations. An
equation that was left out comes back when its pivot has clearly recovered and the others stay clear of rounding. Off
the constraints by a distance |C|, where the stages of an integrator are, pivots of dependent equations are of the size
|C|^2 instead of zero; they do not count as recovered.

That leaves the load to some of the equations that could carry it. Where multipliers are asked for, the load J^T l is
shared: among all multipliers that exert it, those of minimum norm, sum E l^2 with E = EPSILON diag(J diag(M)^-1 J^T),
are the limit of the proximal iteration

    [ M   J^T ] [ x ]   [ load        ]
    [ J   -E  ] [ l ] = [ -E l_before ]

The functions on plain arrays (`factor_symmetric`, `factor_general`, `substitute_…`) are generic over real and complex
numbers.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import clear, indices, vector
from ..workspace import NOT_FINITE, OK, SINGULAR, factorization, workspace
from .bodywise import row_weight

PIVOT_LOST = 1e-11  # relative pivot below which a constraint depends on others
PIVOT_REGAINED = 1e-7  # relative pivot above which it no longer does
DISTANCE = 1e3  # from the constraints, in units of |C|: of a mechanism that measures millimetres
PIVOT_WEAK = 1e-4  # relative pivot below which a solution is refined once
LOSS = 10.0  # factor by which pivots may become weaker when an equation comes back
EPSILON = 1e-6
PROXIMAL_LIMIT = 60
PROXIMAL_RESIDUAL = 1e-13


@inner
def invert_pivot(k, values, scale, threshold, weakest):
    """Replace the k-th pivot by its inverse, or by zero if it is lost; returns that and the weakest pivot so far.

    A pivot is lost if it does not exceed `threshold` relative to `scale`, the largest contribution to it. The weakest
    one is (size, scale).
    """
    d = values[k]
    size = abs(d)
    reference = max(scale[k], size)
    scale[k] = reference
    inverse = values.dtype.type(0.0)
    if size > threshold[k] * reference:
        inverse = 1.0 / d
        if size * weakest[1] < weakest[0] * reference:
            weakest = (size, reference)
    values[k] = inverse
    return inverse, weakest


@inner
def subtract(values, scale, row, contribution):
    """Subtract from the diagonal."""
    scale[row] = max(scale[row], abs(contribution))
    values[row] -= contribution


@inner
def factor_symmetric(n, values, start, rows, targets, scale, threshold):
    """L D L^T in place. Returns the smallest relative pivot, the number of lost ones, and 1 if a sum hides a weak one.

    `values` holds D (on return its inverse), then L by columns; `targets` lists for each pivot the entries updated by
    the pairs of its column. A lost pivot has a column of zeros, which leaves its equation and its unknown out. Two
    columns with the same rows are eliminated together: one pass over what both update costs less than two. What they
    contribute to a pivot may cancel, as for a body of hardly any inertia: the pivot then has lost digits as a weak one
    has, although it is as large as the sum.
    """
    weakest = (1.0, 1.0)
    lost, hidden = 0, 0
    p = np.uint64(0)
    one, two = np.uint64(1), np.uint64(2)
    shift = np.uint64(n)
    k = np.uint64(0)
    while k < shift:
        inverse, weakest = invert_pivot(k, values, scale, threshold, weakest)
        lost += inverse == 0.0
        first, last = np.uint64(start[k]), np.uint64(start[k + one])
        count = last - first
        # The rows of a column, the first one excepted, are among those of the column that this one belongs to.
        if count > 0 and rows[first - shift] == k + one and np.uint64(start[k + two]) - last == count - one:
            p += count * (count + one) // two
            beside = count - one  # from an entry of this column to that of the next one in the same row
            column = values[first]
            factor = column * inverse
            values[first] = factor
            subtract(values, scale, k + one, factor * column)
            first += one
            for a in range(first, last):
                values[a + beside] -= factor * values[a]
            second, weakest = invert_pivot(k + one, values, scale, threshold, weakest)
            lost += second == 0.0
            for a in range(first, last):
                factor, other = values[a] * inverse, values[a + beside] * second
                contribution = factor * values[a]
                both = contribution + other * values[a + beside]
                if abs(both) < PIVOT_WEAK * abs(contribution):
                    hidden = 1
                subtract(values, scale, rows[a - shift], both)
                p += one
                for b in range(a + one, last):
                    values[targets[p]] -= factor * values[b] + other * values[b + beside]
                    p += one
                values[a], values[a + beside] = factor, other
            k += two
        else:
            for a in range(first, last):
                factor = values[a] * inverse
                subtract(values, scale, rows[a - shift], factor * values[a])
                p += one
                for b in range(a + one, last):
                    values[targets[p]] -= factor * values[b]
                    p += one
                values[a] = factor
            k += one
    return weakest[0] / weakest[1], lost, hidden


@inner
def factor_general(n, values, upper, start, rows, targets, scale, threshold):
    """L U in place on the symmetric pattern; `values` holds D (on return its inverse) and L, `upper` holds U
    at the places of L's transpose. Returns the smallest relative pivot and the number of lost ones.
    """
    weakest = (1.0, 1.0)
    lost = 0
    p = np.uint64(0)
    one = np.uint64(1)
    shift = np.uint64(n)
    for k in range(shift):
        inverse, weakest = invert_pivot(k, values, scale, threshold, weakest)
        lost += inverse == 0.0
        first, last = start[k], start[k + one]
        for a in range(first, last):
            values[a] *= inverse
        for a in range(first, last):
            subtract(values, scale, rows[a - shift], values[a] * upper[a - shift])
            p += one
            for b in range(a + one, last):
                values[targets[p]] -= values[b] * upper[a - shift]
                upper[targets[p] - shift] -= values[a] * upper[b - shift]
                p += one
    return weakest[0] / weakest[1], lost


@inner
def substitute_symmetric(n, values, start, rows, x):
    """x := (L D L^T)^-1 x, in elimination order; two columns with the same rows are taken together, as in factors."""
    one, two = np.uint64(1), np.uint64(2)
    shift = np.uint64(n)
    k = np.uint64(0)
    while k < shift:
        first, last = np.uint64(start[k]), np.uint64(start[k + one])
        count, xk = last - first, x[k]
        if count > 0 and rows[first - shift] == k + one and np.uint64(start[k + two]) - last == count - one:
            beside = count - one
            next_x = x[k + one] - values[first] * xk
            x[k + one] = next_x
            for a in range(first + one, last):
                x[rows[a - shift]] -= values[a] * xk + values[a + beside] * next_x
            k += two
        else:
            for a in range(first, last):
                x[rows[a - shift]] -= values[a] * xk
            k += one
    while k > 0:
        k -= one
        first, last = np.uint64(start[k]), np.uint64(start[k + one])
        count, s = last - first, x[k] * values[k]
        before = first if k == 0 else np.uint64(start[k - one])
        if first - before == count + one and rows[before - shift] == k:
            other = x[k - one] * values[k - one]
            for a in range(first, last):
                s -= values[a] * x[rows[a - shift]]
                other -= values[a - count] * x[rows[a - shift]]
            x[k] = s
            k -= one
            x[k] = other - values[before] * s
        else:
            a, other = first, 0.0 * s  # two sums at a time: an addition need not wait for the one before
            while a + one < last:
                s -= values[a] * x[rows[a - shift]]
                other -= values[a + one] * x[rows[a + one - shift]]
                a += two
            if a < last:
                s -= values[a] * x[rows[a - shift]]
            x[k] = s + other


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
    values = vector(f.values, f.n + f.n_lower)
    source, slot = indices(f.source, f.n_sources), indices(f.slot, f.n_sources)
    clear(values)
    for k in range(np.uint64(f.n_sources)):
        values[slot[k]] += entries[source[k]]
    clear(vector(f.scale, f.n))
    if f.sizes != 0:
        sizes, scale, order = vector(f.sizes, f.n), vector(f.scale, f.n), indices(f.order, f.n)
        for k in range(f.n):
            scale[k] = sizes[order[k]]
    if f.regularized != 0:
        weight = vector(f.weight, f.n)
        for k in range(f.n):
            values[k] -= weight[k]


@inner
def require(f, pivot):
    """Let equations that are left out come back only with a larger relative pivot than this."""
    threshold = vector(f.threshold, f.n)
    for k in range(f.n):
        if threshold[k] != PIVOT_LOST:
            threshold[k] = pivot


@inner
def demand(w, f):
    """Set the relative pivot with which equations come back: clear of rounding and of the distance from C = 0."""
    residual = vector(w.residual, w.n_holonomic)
    square = 0.0
    for k in range(w.n_holonomic):
        square += residual[k] * residual[k]
    needed = max(PIVOT_REGAINED, DISTANCE * DISTANCE * square)
    require(f, needed)
    return needed


@inner
def leave_out(w, f, entries):
    """Note the equations whose pivots are lost; a lost pivot of the mass matrix is an error."""
    values, threshold, order = vector(f.values, f.n), vector(f.threshold, f.n), indices(f.order, f.n)
    if f.lost != f.left_out:
        total = 0.0
        for k in range(w.n_entries):
            total += abs(entries[k])
        for k in range(f.n):
            if not total < np.inf and values[k] == 0.0:  # then a pivot says nothing about the constraints
                w.culprit = order[k]
                return NOT_FINITE
    for k in range(f.n):
        if values[k] != 0.0:
            threshold[k] = PIVOT_LOST
        elif order[k] < f.n_plain:
            w.culprit = order[k]
            return SINGULAR
        else:
            threshold[k] = PIVOT_REGAINED
    f.left_out = f.lost
    f.dependent = 1
    return OK


@inner
def doubtful(f, needed, before):
    """Whether an equation has come back and the weakest pivot is now one that rounding may have made."""
    if f.weakest_pivot >= min(needed, before / LOSS):
        return False
    values, threshold = vector(f.values, f.n), vector(f.threshold, f.n)
    back = 0
    for k in range(f.n):
        back += threshold[k] != PIVOT_LOST and values[k] != 0.0
    return back > 0


@Stage
def eliminate(t, work, data, entries_address):
    """The factors of the matrix with these entries, for the thresholds at hand."""
    f = factorization(data)
    scatter(f, vector(entries_address, f.n_entries))
    f.weakest_pivot, f.lost, f.refine = factor_symmetric(
        f.n,
        vector(f.values, f.n + f.n_lower),
        indices(f.start, f.n + 1),
        indices(f.rows, f.n_lower),
        indices(f.targets, f.n_targets),
        vector(f.scale, f.n),
        vector(f.threshold, f.n),
    )
    return OK


@Stage
def factorize(t, work, data, entries_address):
    """Factor the matrix [M J^T; J 0], or [M J^T; J -E], from its entries, and decide which equations are left out.

    `data` is the record of the factorization, `entries_address` that of the entries.
    """
    w = workspace(work)
    f = factorization(data)
    w.factorizations += 1
    before = f.weakest_pivot
    needed = demand(w, f) if f.left_out > 0 else 0.0
    call(w.eliminate, t, work, data, entries_address)
    if f.left_out > 0 and doubtful(f, needed, before):
        require(f, np.inf)
        call(w.eliminate, t, work, data, entries_address)
    if f.lost > 0 or f.left_out > 0:
        status = leave_out(w, f, vector(entries_address, w.n_entries))
        if status != OK:
            return status
    if f.weakest_pivot < PIVOT_WEAK:
        f.refine = 1
    f.valid = 1
    return OK


@inner
def multiply_system(f, entries, x, out):
    """out := [M J^T; J 0] x, or [M J^T; J -E] x."""
    source = indices(f.source, f.n_sources)
    row, column = indices(f.source_row, f.n_sources), indices(f.source_column, f.n_sources)
    for k in range(f.n):
        out[k] = 0.0
    for k in range(np.uint64(f.n_sources)):
        e, r, c = entries[source[k]], row[k], column[k]
        out[r] += e * x[c]
        if r != c:
            out[c] += e * x[r]
    if f.regularized != 0:
        weight, order = vector(f.weight, f.n), indices(f.order, f.n)
        for k in range(np.uint64(f.n)):
            out[order[k]] -= weight[k] * x[order[k]]


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


@inner
def solve_with(f, entries, right, x):
    """x := the solution for the right-hand side, refined once where pivots are weak."""
    _substitute(f, right, x)
    if f.refine != 0:
        residual, correction = vector(f.work + 8 * f.n, f.n), vector(f.work + 16 * f.n, f.n)
        multiply_system(f, entries, x, residual)
        for k in range(f.n):
            residual[k] = right[k] - residual[k]
        _substitute(f, residual, correction)
        for k in range(f.n):
            x[k] += correction[k]


@Stage
def solve(t, work, data, entries_address):
    """Solve [M J^T; J 0] solution = right with the factors at hand, equations that are left out excepted.

    Refined once where pivots are weak.
    """
    w = workspace(work)
    f = factorization(data)
    solve_with(f, vector(entries_address, f.n_entries), vector(w.right, f.n), vector(w.solution, f.n))
    return OK


@Stage
def share(t, work, data, entries_address):
    """Replace the multipliers in `solution` by those of minimum norm that exert the same load J^T l.

    They differ where equations are left out. `right` is overwritten.
    """
    w = workspace(work)
    f = factorization(data)
    if f.left_out == 0:
        return OK
    entries, right, x = vector(entries_address, w.n_entries), vector(w.right, f.n), vector(w.solution, f.n)
    motion, load, shared = (
        vector(f.work + 24 * f.n, f.n),
        vector(f.work + 32 * f.n, f.n),
        vector(f.work + 40 * f.n, f.n),
    )
    for k in range(f.n):
        motion[k] = x[k]
        if k < f.n_plain:
            x[k] = 0.0
        shared[k] = 0.0
    multiply_system(f, entries, x, load)
    size = 0.0
    for k in range(f.n):
        right[k] = load[k]
        size = max(size, abs(load[k]))
    status = regularize(w, t, work, entries_address)
    if status != OK:
        return status
    before = np.inf
    for _ in range(PROXIMAL_LIMIT):
        call(w.solve, t, work, w.sharing, entries_address)
        for k in range(f.n):
            shared[k] += x[k]
        multiply_system(f, entries, shared, right)
        largest = 0.0
        for k in range(f.n):
            right[k] = load[k] - right[k]
            largest = max(largest, abs(right[k]))
        if largest <= PROXIMAL_RESIDUAL * size or not largest < 0.9 * before:
            break  # what remains is rounding, or falls too slowly where equations nearly depend on each other
        before = largest
    call(w.solve, t, work, data, entries_address)  # the rest of the load
    for k in range(f.n):
        x[k] = motion[k] if k < f.n_plain else shared[k] + x[k]
    return OK


@Stage
def spread(t, work, data, entries_address):
    """`solution` := the displacement that makes the sum of squares of C, by diag(J M^-1 J^T), as small as can be.

    For a gap between equations that depend on each other: all of them get their part of it.
    """
    w = workspace(work)
    right, residual = vector(w.right, w.n_v + w.n_rows), vector(w.residual, w.n_holonomic)
    status = regularize(w, t, work, entries_address)
    if status != OK:
        return status
    clear(right)
    for k in range(w.n_holonomic):
        right[w.n_v + k] = -residual[k]
    return call(w.solve, t, work, w.sharing, entries_address)


@inner
def regularize(w, t, work, entries_address):
    """Factors of the matrix with -E on the diagonal of the multipliers; E = EPSILON diag(J M^-1 J^T)."""
    status = call(w.weigh, t, work, w.bodywise, 0)
    if status != OK:
        return status
    s = factorization(w.sharing)
    weight, order = vector(s.weight, s.n), indices(s.order, s.n)
    for k in range(s.n):
        if order[k] >= s.n_plain:
            weight[k] = EPSILON * row_weight(w, np.int64(order[k]) - s.n_plain)
    s.regularized = 1
    return call(w.factorize, t, work, w.sharing, entries_address)
