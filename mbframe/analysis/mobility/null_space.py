"""Bases of the vectors that a matrix takes to zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK = 32  # columns that LAPACK treats at once


def null_space(matrix: Array, full: float = 0.0, tolerance: float = 1e-9, dependent: float = 1e-9) -> Array:
    """An orthonormal basis (columns) of the null space; rows are scaled to unit length first.

    `full` is the size of the numbers that the entries are differences of: rows far below it are rounding. Rows that
    differ from a combination of others by no more than `dependent` are such a combination.
    """
    from scipy.linalg.lapack import dorgqr

    lengths = np.sqrt((matrix * matrix).sum(axis=1))
    kept = lengths > tolerance * max(full, lengths.max(initial=0.0))
    rows = matrix[kept] / lengths[kept, None]
    if not len(rows):
        return np.eye(matrix.shape[1])
    factors, reflections, _ = _eliminated(rows.T)
    pivots = np.abs(np.diag(factors))
    size = len(factors)
    basis = np.zeros((size, size), order="F")
    basis[:, : len(pivots)] = factors[:, : len(pivots)]
    basis = dorgqr(basis, reflections, lwork=BLOCK * size)[0]
    return np.asarray(basis[:, int(np.sum(pivots > dependent * pivots[0])) :], float)


def readable(null: Array, significant: float) -> Array:
    """Vectors (rows) that span the same space as the columns, each with a place of its own in which it is 1."""
    k = null.shape[1]
    if not k:
        return null.T
    chosen = _eliminated(null.T)[2][:k]
    found = np.asarray(np.linalg.solve(null[chosen].T, null.T), float)
    first = np.argmax(np.abs(found) > significant, axis=1)
    return found[np.argsort(first, kind="stable")]


def _eliminated(matrix: Array) -> tuple[Array, Array, NDArray[np.int64]]:
    """The QR factorization with pivoting as LAPACK leaves it: R and reflections, their factors, order of the columns.

    `scipy.linalg.qr` is the same, and takes four times as long for matrices of this size.
    """
    from scipy.linalg.lapack import dgeqp3

    factors, order, reflections, _, _ = dgeqp3(matrix, lwork=(2 + BLOCK) * (matrix.shape[1] + 1))
    return factors, reflections, order - 1
