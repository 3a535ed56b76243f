"""Checks of mass and stiffness matrices that come from anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from .problems import usable, wrong

SYMMETRY = 1e-8  # relative to the largest entry; files hold rounded numbers
DEFINITENESS = 1e-7  # relative to the diagonal: more negative than this is not rounding
_DENSE = 600  # rows up to which all eigenvalues are computed
_STEPS = 60


def checked_matrix(field: str, matrix: Any, nodes: int) -> sparse.csr_array:
    """The symmetric matrix as a sparse array with 3 or 6 rows per node; a `ModelError` with the numbers otherwise."""
    if sparse.issparse(matrix):
        array = sparse.csr_array(matrix, dtype=float, copy=True)
    else:
        try:
            dense = np.array(matrix, dtype=float)
        except (TypeError, ValueError):
            raise wrong("Component", field, "found no numbers; give a square matrix, dense or SciPy sparse") from None
        if dense.ndim != 2:
            raise wrong("Component", field, f"has the shape {dense.shape}; give a square matrix")
        array = sparse.csr_array(dense)
    rows, columns = array.shape
    if rows != columns or rows not in (3 * nodes, 6 * nodes):
        raise wrong(
            "Component",
            field,
            f"is {rows} x {columns}; {nodes} nodes need {6 * nodes} x {6 * nodes} (ux uy uz rx ry rz for each) or "
            f"{3 * nodes} x {3 * nodes} (ux uy uz for each)",
        )
    array.sum_duplicates()
    if not np.all(usable(array.data)):
        entry = array.tocoo()
        k = int(np.argmin(usable(entry.data)))
        place = f"row {entry.row[k]}, column {entry.col[k]}"
        raise wrong("Component", field, f"has the entry {entry.data[k]} in {place}; give finite numbers")
    difference = sparse.coo_array(array - array.T)
    size = float(abs(array).max()) if array.nnz else 0.0
    if size == 0.0:
        raise wrong("Component", field, "has only zeros; check where it comes from")
    if difference.nnz and (largest := float(abs(difference).max())) > SYMMETRY * size:
        k = int(np.argmax(abs(difference.data)))
        i, j = int(difference.row[k]), int(difference.col[k])
        raise wrong(
            "Component",
            field,
            f"is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by {largest:.3g}, where the largest entry is "
            f"{size:.3g}; give both triangles",
        )
    return sparse.csr_array(0.5 * (array + array.T))


def check_semidefinite(field: str, matrix: sparse.csr_array) -> None:
    """A `ModelError` if an eigenvalue is negative beyond rounding, with rows scaled to a diagonal of 1."""
    diagonal = matrix.diagonal()
    if (lowest := float(diagonal.min())) < 0.0:
        row = int(diagonal.argmin())
        raise wrong("Component", field, f"has {lowest:.3g} on the diagonal in row {row}; it must not be negative")
    scale = sparse.diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    scaled = sparse.csr_array(scale @ matrix @ scale)
    if len(diagonal) <= _DENSE:
        dense = scaled.toarray()
        try:
            # It exists if and only if no eigenvalue is below that limit, and takes a tenth of their time.
            np.linalg.cholesky(dense + DEFINITENESS * np.eye(len(dense)))
            return
        except np.linalg.LinAlgError:
            smallest = linalg.eigvalsh(dense)[0]
    else:
        smallest = _smallest_found(scaled)
    if smallest < -DEFINITENESS:
        raise wrong(
            "Component",
            field,
            f"is not positive semidefinite: with a diagonal of 1 it has the eigenvalue {smallest:.3g}; a body would "
            "gain energy from nothing; check signs and the order of the freedoms",
        )


def _smallest_found(matrix: sparse.csr_array) -> float:
    """The smallest of the eigenvalues that Lanczos' method finds in a few steps.

    It is never below the true one, so a good matrix is never refused; a factorization would find all, but takes minutes
    where this takes a second.
    """
    basis = np.zeros((_STEPS + 1, matrix.shape[0]))
    start = np.random.default_rng(1).standard_normal(matrix.shape[0])
    basis[0] = start / np.linalg.norm(start)
    projected = np.zeros((_STEPS, _STEPS))
    for k in range(_STEPS):
        product = matrix @ basis[k]
        known = basis[: k + 1]
        projected[: k + 1, k] = projected[k, : k + 1] = known @ product
        for _ in range(2):
            product = product - known.T @ (known @ product)
        basis[k + 1] = product / np.linalg.norm(product)
    return float(linalg.eigvalsh(projected)[0])
