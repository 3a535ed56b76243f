"""How many roots of large sparse equations grow, without computing them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .linear_equations import LinearEquations

SYMMETRIC = 1e-12  # relative asymmetry of a matrix up to which it is rounding
NEAR = 1e-7  # of the stiffness of a motion by itself: what is smaller may be zero, by what SOFT and rounding do to it
ROUNDED = 1e-6  # of the largest stiffness by inertia: what is smaller is not made larger, since it may be rounding
LOSSLESS = 3e-7  # of the highest frequency: what damping feeds in below that is rounding
SOFT = 1e-8  # compliance of constraints by that of the structure, for pivots on the diagonal; rounding adds 1e-16/SOFT
SOLVED = 1e-6  # relative residual of a solution with factors that can be trusted


def unstable_roots(e: LinearEquations, zeros: int) -> int | None:
    """The number of roots with a positive real part; None where it cannot be told with certainty.

    It is the number of negative stiffnesses, where these are all that can make a motion grow: by the signs of pivots.
    With symmetric M > 0, R >= 0 and K, a root with x^H M x = m, x^H R x = r, x^H K x = k obeys m s^2 + r s + k = 0: it
    grows only if k < 0, is real then, and there is one for each negative eigenvalue of K on the admissible motions.
    Nothing is claimed for rolling, own states and unsymmetric equations: how often det(A - s E) turns about zero would
    tell, but between samples it may turn by whole circles, of which thousands of roots make many. `zeros` is how many
    zero roots are known.
    """
    import scipy.sparse as sparse

    if e.nonholonomic.shape[0] or len(e.own_feedback) or not (_symmetric(e.damping) and _symmetric(e.stiffness)):
        return None
    identity = sparse.eye_array(e.size)
    masses = np.where(e.mass.diagonal() > 0.0, e.mass.diagonal(), 1.0)
    stiffness, damping, rows = _in_units(e, masses)
    largest = _largest(stiffness)
    losses = 0 if not e.damping.nnz else _negative(damping + LOSSLESS * np.sqrt(largest) * identity, rows)
    # Signs do not depend on units: in these, a stiff or light part does not make the stiffness of others nearly zero.
    sizes = np.asarray(abs(e.stiffness).sum(axis=1)).ravel()
    stiffness, _, rows = _in_units(e, np.maximum(sizes, ROUNDED * largest * masses))
    below, above = (_negative(stiffness + sign * NEAR * identity, rows) for sign in (1.0, -1.0))
    if losses != 0 or below is None or above is None or above - below > (zeros + 1) // 2:
        return None  # energy is fed in, or a stiffness is too near to zero to have a sign
    return below


def _in_units(e: LinearEquations, sizes: Any) -> tuple[Any, Any, Any]:
    """Stiffness, damping and constraints in units in which `sizes` of all motions are 1, constraints scaled to 1."""
    import scipy.sparse as sparse

    units = sparse.diags_array(1.0 / np.sqrt(sizes))
    return units @ e.stiffness @ units, units @ e.damping @ units, _unit(e.holonomic @ units)


def _largest(matrix: Any) -> float:
    """A bound for the sizes of eigenvalues."""
    return float(np.abs(matrix).sum(axis=1).max(initial=0.0)) or 1.0


def _unit(rows: Any) -> Any:
    """Rows scaled to unit length; those without entries stay."""
    import scipy.sparse as sparse

    lengths = np.sqrt(np.asarray((rows**2).sum(axis=1)).ravel())
    return sparse.diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ rows


def _symmetric(matrix: Any) -> bool:
    return abs(matrix - matrix.T).max() <= SYMMETRIC * abs(matrix).max() if matrix.nnz else True


def _negative(matrix: Any, rows: Any) -> int | None:
    """Number of negative eigenvalues of a symmetric matrix on the null space of rows: by signs of pivots.

    [K J^T; J -d] has one negative pivot for each row, and those of K + J^T J/d, which for small d are those of K where
    J x = 0. None if a pivot had to be taken off the diagonal, or if the factors do not solve.
    """
    import scipy.sparse as sparse
    from scipy.sparse.linalg import splu

    size = _largest(matrix)
    m = rows.shape[0]
    lower = -SOFT / size * sparse.eye_array(m)
    whole = sparse.block_array([[matrix, rows.T], [rows, lower]], format="csc") if m else matrix.tocsc()
    try:
        factors = splu(whole, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        return None
    probe = np.random.default_rng(0).normal(size=whole.shape[0])
    solution = factors.solve(probe)
    if not np.array_equal(factors.perm_r, factors.perm_c) or not np.all(np.isfinite(solution)):
        return None
    scale = abs(whole).sum(axis=1).max() * np.abs(solution).max()
    if np.abs(whole @ solution - probe).max() > SOLVED * max(float(scale), 1.0):
        return None
    return int(np.sum(factors.U.diagonal() < 0.0)) - m
