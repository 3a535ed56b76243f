"""Small dense linear algebra for stages: matrices of a few dozen rows, where a call of LAPACK costs more than the work.

Matrices are C-ordered; only the leading part named by the sizes is read and written.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner


@inner
def cholesky(n, a):
    """A := L with A = L L^T, from and in the lower triangle. False if A is not positive definite to rounding."""
    for j in range(n):
        diagonal = a[j, j]
        d = diagonal
        for k in range(j):
            d -= a[j, k] * a[j, k]
        if not d > 1e-14 * diagonal:
            return False
        root = np.sqrt(d)
        a[j, j] = root
        inverse = 1.0 / root
        for i in range(j + 1, n):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s * inverse
    return True


@inner
def solve_cholesky(n, a, x):
    """x := (L L^T)^-1 x."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= a[i, k] * x[k]
        x[i] = s / a[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= a[k, i] * x[k]
        x[i] = s / a[i, i]


@inner
def invert(n, a, inverse):
    """The inverse of a positive definite matrix, of which the lower triangle is read; False if it is not.

    L^-1 takes the place of L, and A^-1 = L^-T L^-1 that of L^-1, from its first row on.
    """
    for i in range(n):
        for k in range(i + 1):
            inverse[i, k] = a[i, k]
    if not cholesky(n, inverse):
        return False
    for i in range(n):
        inverse[i, i] = 1.0 / inverse[i, i]
        for j in range(i):
            s = 0.0
            for k in range(j, i):
                s -= inverse[i, k] * inverse[k, j]
            inverse[i, j] = s * inverse[i, i]
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(i, n):
                s += inverse[k, i] * inverse[k, j]
            inverse[i, j] = s
            inverse[j, i] = s
    return True


@inner
def factor_semidefinite(n, a, order, tolerance):
    """A := L with A[order, order] = L L^T for a positive semidefinite A, the largest pivot first; returns the rank.

    Reads and writes the lower triangle and permutes it in place. Pivots below `tolerance` times the first one count as
    zero; the columns of L from the rank on are meaningless.
    """
    for k in range(n):
        order[k] = k
    first = 0.0
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if a[i, i] > a[best, best]:
                best = i
        if j == 0:
            first = a[best, best]
        if not a[best, best] > tolerance * first:
            return j
        if best != j:
            exchange_symmetric(n, a, j, best)
            order[j], order[best] = order[best], order[j]
        root = np.sqrt(a[j, j])
        a[j, j] = root
        for i in range(j + 1, n):
            a[i, j] /= root
        for k in range(j + 1, n):
            for i in range(k, n):
                a[i, k] -= a[i, j] * a[k, j]
    return n


@inner
def exchange_symmetric(n, a, j, b):
    """Exchange rows and columns j < b of a symmetric matrix of which the lower triangle is stored."""
    for k in range(j):
        a[j, k], a[b, k] = a[b, k], a[j, k]
    a[j, j], a[b, b] = a[b, b], a[j, j]
    for k in range(j + 1, b):
        a[k, j], a[b, k] = a[b, k], a[k, j]
    for k in range(b + 1, n):
        a[k, j], a[k, b] = a[k, b], a[k, j]


@inner
def reveal_rank(m, n, a, rows, columns, tolerance):
    """Order the rows and columns of A so that a regular block of the size of its rank comes first; returns the rank.

    Gaussian elimination with complete pivoting; A is destroyed. Pivots below `tolerance` times the first count as zero.
    """
    for i in range(m):
        rows[i] = i
    for k in range(n):
        columns[k] = k
    first = 0.0
    for j in range(min(m, n)):
        largest, row, column = 0.0, j, j
        for i in range(j, m):
            for k in range(j, n):
                if abs(a[i, k]) > largest:
                    largest, row, column = abs(a[i, k]), i, k
        if j == 0:
            first = largest
        if not largest > tolerance * first:
            return j
        for k in range(n):
            a[j, k], a[row, k] = a[row, k], a[j, k]
        for i in range(m):
            a[i, j], a[i, column] = a[i, column], a[i, j]
        rows[j], rows[row] = rows[row], rows[j]
        columns[j], columns[column] = columns[column], columns[j]
        for i in range(j + 1, m):
            if a[i, j] != 0.0:
                factor = a[i, j] / a[j, j]
                for k in range(j + 1, n):
                    a[i, k] -= factor * a[j, k]
    return min(m, n)
