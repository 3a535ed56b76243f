"""How many roots of large sparse equations grow, without computing them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .linear_equations import LinearEquations

SYMMETRIC = 1e-12  # relative asymmetry of a matrix up to which it is rounding
NEAR = 1e-13  # of the largest stiffness by inertia: what is smaller is zero but for rounding
SOFT = 1e-10  # compliance of constraints relative to that of the structure, which keeps every pivot on the diagonal
SOLVED = 1e-6  # relative residual of a solution with factors that can be trusted
LINE = 1e-7  # of the highest frequency: how far to the right of the imaginary axis roots are counted
FAR = 1e3  # times the highest frequency: where the right half plane is closed
STEP = 1.0  # rad: largest change of the determinant's phase from one point to the next
FACTORIZATIONS = 4000
WHOLE = 0.05  # how far a count may be from a whole number


def unstable_roots(e: LinearEquations, zeros: int) -> int | None:
    """The number of roots with a positive real part; None if it cannot be told with certainty.

    By the signs of pivots where all is symmetric; else by how often det(A - s E) turns about zero while s goes round
    the right half plane. `zeros` is how many zero roots are known.
    """
    found = _by_inertia(e, zeros)
    return _by_winding(e) if found is None else found


def _highest(e: LinearEquations) -> float:
    """A bound for the sizes of frequencies, without constraints: a root of the largest stiffness by mass."""
    mass = np.asarray(np.abs(e.mass).sum(axis=1)).ravel()
    stiffness, damping = (np.asarray(np.abs(p).sum(axis=1)).ravel() for p in (e.stiffness, e.damping))
    least = mass[mass > 0.0].min(initial=np.inf)
    if not np.isfinite(least):
        return 1.0
    return float(max(np.sqrt(stiffness.max() / least), damping.max() / least)) or 1.0


# --- symmetric systems ------------------------------------------------------------------------------------------------


def _by_inertia(e: LinearEquations, zeros: int) -> int | None:
    """The number of negative stiffnesses, where they are all that can make a motion grow.

    With symmetric M > 0, R >= 0 and K, a root with x^H M x = m, x^H R x = r, x^H K x = k obeys m s^2 + r s + k = 0: it
    grows only if k < 0, is real then, and there is one for each negative eigenvalue of K on the admissible motions.
    """
    if e.nonholonomic.shape[0] or len(e.own_feedback) or not (_symmetric(e.damping) and _symmetric(e.stiffness)):
        return None
    margin = NEAR * _highest(e) ** 2
    lossy = np.sqrt(margin) * e.mass
    losses = 0 if not e.damping.nnz else _negative(e.damping + lossy, e.holonomic)
    below = _negative(e.stiffness + margin * e.mass, e.holonomic)
    above = _negative(e.stiffness - margin * e.mass, e.holonomic)
    if losses != 0 or below is None or above is None or above - below > (zeros + 1) // 2:
        return None  # energy is fed in, or a stiffness is too near to zero to have a sign
    return below


def _symmetric(matrix: Any) -> bool:
    return abs(matrix - matrix.T).max() <= SYMMETRIC * abs(matrix).max() if matrix.nnz else True


def _negative(matrix: Any, rows: Any) -> int | None:
    """Number of negative eigenvalues of a symmetric matrix on the null space of rows: by signs of pivots.

    [K J^T; J -d] has one negative pivot for each row, and those of K + J^T J/d, which for small d are those of K where
    J x = 0. None if a pivot had to be taken off the diagonal, or if the factors do not solve.
    """
    import scipy.sparse as sparse
    from scipy.sparse.linalg import splu

    size = float(abs(matrix).max()) or 1.0
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


# --- all others -------------------------------------------------------------------------------------------------------


class _TooManyError(Exception):
    """More factorizations than are worth it."""


class _Determinant:
    """Phase and logarithm of the size of det(A - s E), by factorization."""

    def __init__(self, E: Any, A: Any) -> None:
        self.E, self.A, self.count = E, A, 0

    def __call__(self, s: complex) -> tuple[complex, float]:
        from scipy.sparse.linalg import splu

        self.count += 1
        if self.count > FACTORIZATIONS:
            raise _TooManyError
        factors = splu((self.A - s * self.E).tocsc().astype(complex))
        pivots = factors.U.diagonal()
        sizes = np.abs(pivots)
        sign = _parity(factors.perm_r) * _parity(factors.perm_c)
        return complex(sign * np.prod(pivots / sizes)), float(np.sum(np.log(sizes)))


def _parity(permutation: NDArray[Any]) -> int:
    """1 for an even permutation, -1 for an odd one."""
    seen = np.zeros(len(permutation), bool)
    cycles = 0
    following = permutation.tolist()
    for first in range(len(following)):
        if not seen[first]:
            cycles += 1
            k = first
            while not seen[k]:
                seen[k] = True
                k = following[k]
    return 1 if (len(following) - cycles) % 2 == 0 else -1


def _by_winding(e: LinearEquations) -> int | None:
    """Number of roots to the right of a line beside the imaginary axis, by the phase of the determinant.

    Let the determinant be a polynomial of degree d, whose phase grows by D from s = l to s = l + i w, w large: as it is
    real for real s, its phase grows by 2 D along the line, by d pi along the half circle that closes the right half
    plane, and there are d/2 - D/pi roots within.
    """
    from .shift_invert import sparse_pencil

    E, A = sparse_pencil(e)
    highest = _highest(e)
    far, line = FAR * highest, LINE * highest
    determinant = _Determinant(E, A)
    try:
        degree = (determinant(2.0 * far)[1] - determinant(far)[1]) / np.log(2.0)
        grown = _phase(determinant, line, far)
    except (_TooManyError, RuntimeError):  # or exactly singular: constraints depend on each other
        return None
    # The phase at the end is that of s^d but for what decays with the distance.
    whole = round(degree)
    found = 0.5 * whole - grown / np.pi
    if abs(degree - whole) > WHOLE or abs(found - round(found)) > WHOLE or round(found) < 0:
        return None
    return round(found)


def _phase(determinant: _Determinant, line: float, far: float) -> float:
    """How much the phase grows along a line, from the real axis to far away: steps are halved until they are short."""
    ends = [0.0, *np.geomspace(1e-6 * far, far, 200).tolist()]
    values = [determinant(complex(line, w))[0] for w in ends]
    total = 0.0
    stack = list(zip(ends, ends[1:], values, values[1:], strict=False))
    while stack:
        low, high, a, b = stack.pop()
        middle = 0.5 * (low + high)
        between = determinant(complex(line, middle))[0]
        first, second = float(np.angle(between / a)), float(np.angle(b / between))
        # Both halves short, and alike: what turns by a whole circle in between would not be.
        if max(abs(first), abs(second)) <= STEP:
            total += first + second
            continue
        if not low < middle < high:
            raise _TooManyError
        stack += [(low, middle, a, between), (middle, high, between, b)]
    return total
