"""Checks of mass and stiffness matrices that come from anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .problems import wrong

SYMMETRY = 1e-8  # relative to the largest entry; files hold rounded numbers
DEFINITENESS = 1e-9  # relative to the diagonal: more negative than this is not rounding


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
    if not np.all(np.isfinite(array.data)):
        entry = array.tocoo()
        k = int(np.argmin(np.isfinite(entry.data)))
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
    """A `ModelError` unless no eigenvalue is negative beyond rounding.

    The signs of the pivots of L D Lᵀ are those of the eigenvalues (Sylvester); rows are scaled by the diagonal first.
    """
    diagonal = matrix.diagonal()
    if (lowest := float(diagonal.min())) < 0.0:
        row = int(diagonal.argmin())
        raise wrong("Component", field, f"has {lowest:.3g} on the diagonal in row {row}; it must not be negative")
    scale = sparse.diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    shifted = sparse.csc_array(scale @ matrix @ scale + DEFINITENESS * sparse.eye_array(len(diagonal)))
    factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    negative = int(np.sum(factors.U.diagonal() < 0.0))
    if negative:
        raise wrong(
            "Component",
            field,
            f"is not positive semidefinite: {negative} of {len(diagonal)} eigenvalues are negative; a body would gain "
            "energy from nothing; check signs and units",
        )
