"""Some roots of large sparse linear equations: those next to a shift, by Arnoldi's method."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, ModelError, Problem
from .linear_equations import LinearEquations, OperatingPoint, TurningFrame
from .roots import CARRIED, EPSILON, Root, ordered
from .symmetry import explanation

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SHIFT = 1.37e-3  # relative to the highest frequency; an odd number, so that no root lies there
SOFTENING = 1e-13  # compliance of constraints that depend on each other, relative to that of the structure
UNKNOWN = 1e4  # condition of a root, which is not computed here: so much is left to rounding
ZERO = 1e-6  # roots that small relative to the shift are zero, split by rounding
SCATTER = 1e-5  # of the highest frequency: how far a threefold zero root, split by rounding, can be from zero
CLOSE = 1e-6  # and so near to +-i Omega relative to it
MOST = 256  # roots that are computed to find modes beside ignorable ones
SOLVED = 1e-8  # relative residual of the pencil that a root may leave


def sparse_pencil(e: LinearEquations) -> tuple[Any, Any]:
    """(E, A) with E z' = A z for z = (xi, xi', zeta, lambda, mu); see `Linearization.pencil`."""
    import scipy.sparse as sparse

    n, n_z = e.size, len(e.own_feedback)
    J, G = sparse.csr_array(e.holonomic), sparse.csr_array(e.nonholonomic)
    rows = J.shape[0] + G.shape[0]
    one = sparse.eye_array(n)
    E = sparse.block_diag([one, e.mass, sparse.eye_array(n_z), sparse.csr_array((rows, rows))], format="csc")
    A = sparse.block_array(
        [
            [None, one, None, None, None],
            [-e.stiffness, -e.damping, -sparse.csr_array(e.own_force), -J.T, -G.T],
            [
                sparse.csr_array(e.own_position),
                sparse.csr_array(e.own_velocity),
                sparse.csr_array(e.own_feedback),
                None,
                None,
            ],
            [-J, None, None, sparse.csr_array((J.shape[0], J.shape[0])), None],
            [-sparse.csr_array(e.drift), -G, None, None, sparse.csr_array((G.shape[0], G.shape[0]))],
        ],
        format="csc",
    )
    return E, A


def nearest_roots(point: OperatingPoint, frame: TurningFrame, e: LinearEquations, n_modes: int) -> list[Root]:
    """The `n_modes` pairs of roots (or as many single ones) of least size, and ignorable ones among them.

    Ignorable are roots that are zero, or +-i Omega in a turning frame, and whose motions are displacements or turns of
    the whole or spins of round bodies. Unlike in the full analysis, neighbouring steady motions of other kinds are not
    looked for.

    With a shift s the operator (A - s E)^-1 E has the eigenvalues 1/(root - s): the roots next to s are its largest
    ones, infinite roots become zero.
    """
    E, A = sparse_pencil(e)
    if 2 * n_modes + 2 > A.shape[0] // 2:
        message = f"found {n_modes}; allowed are up to {A.shape[0] // 4 - 1}; ask for fewer, or leave it out for all"
        raise ModelError([Problem("linearize", "n_modes", message)])
    mass = max(float(np.abs(e.mass.diagonal()).max()), 1e-300)
    highest = np.sqrt(float(np.abs(e.stiffness).sum(axis=1).max()) / mass) or 1.0
    shift = SHIFT * highest
    solve = _solver(A, E, shift, e)
    count, most = 2 * n_modes + 2, min(A.shape[0] // 2, max(MOST, 2 * n_modes + 2))
    while True:  # as many more as turn out to be ignorable
        values, vectors = _largest(E, solve, count)
        found = list(_roots(point, frame, e, (E, A), shift, highest, shift + 1.0 / values, vectors))
        modes = sum(not root.explanation and root.value.imag >= 0.0 for root in found)
        if modes >= n_modes or len(found) < count:  # or infinite ones: there are no more
            break
        if count == most:
            warnings.warn(
                f"linearize, n_modes: of the {count} roots next to zero {sum(bool(r.explanation) for r in found)} are "
                f"ignorable, so that {modes} modes were found where {n_modes} were asked for; ask for more, or leave "
                "n_modes out for all",
                UserWarning,
                stacklevel=5,
            )
            break
        count = min(2 * count, most)
    return ordered(lowest(found, n_modes))


def _roots(
    point: OperatingPoint,
    frame: TurningFrame,
    e: LinearEquations,
    pencil: tuple[Any, Any],
    shift: float,
    highest: float,
    roots: Complex,
    vectors: Complex,
) -> Iterator[Root]:
    """Those that are roots, of least size first, with what is known of them."""
    from scipy.sparse.linalg import norm

    E, A = pencil
    own = slice(2 * e.size, 2 * e.size + len(e.own_feedback))
    scale = float(norm(A)), float(norm(E))
    for k in np.argsort(np.abs(roots), kind="stable"):
        z, value = vectors[:, k], complex(roots[k])
        left = np.linalg.norm(A @ z - value * (E @ z)) / ((scale[0] + abs(value) * scale[1]) * np.linalg.norm(z))
        if not (left <= SOLVED and _missed(e, value, z) <= SOLVED):  # an infinite root, or no root at all
            continue
        zero, carried = abs(value) <= ZERO * shift, 1j * np.copysign(frame.rate, value.imag)
        words = explanation(point, e, z[: e.size]) if zero else ""
        if frame.rate and abs(value - carried) <= CLOSE * abs(frame.rate) and explanation(point, e, z[: e.size], True):
            value, words = complex(carried), CARRIED
        # Zero roots without a vector of their own scatter: of a root so near to zero rounding leaves no sign.
        scattered = abs(value) / (10.0 * EPSILON * highest) if abs(value) <= SCATTER * highest else 0.0
        condition = max(UNKNOWN, 1.01 * scattered)
        yield Root(0j if zero else value, z[: e.size], condition, words, highest, z[own], float(left))


def _missed(e: LinearEquations, value: complex, z: Complex) -> float:
    """What a pair leaves of velocities, constraints and balance of loads, relative to the motion alone.

    An infinite root consists of multipliers, and of motions that are rounding of these: relative to all of it, it
    would leave nothing.
    """
    from scipy.sparse.linalg import norm

    n, n_z, m = e.size, len(e.own_feedback), e.holonomic.shape[0]
    motion, velocity, own, multipliers, slip = np.split(z, np.cumsum([n, n, n_z, m]))
    size = float(np.linalg.norm(motion))
    sizes = [float(norm(part)) for part in (e.mass, e.damping, e.stiffness)]
    rate = max(abs(value), np.sqrt(sizes[2] / sizes[0]))
    load = value * (e.mass @ velocity) + e.damping @ velocity + e.stiffness @ motion + e.own_force @ own
    load = load + e.holonomic.T @ multipliers + e.nonholonomic.T @ slip
    own_size = float(np.linalg.norm(e.own_force) * np.linalg.norm(own))
    full = (rate**2 * sizes[0] + rate * sizes[1] + sizes[2]) * size + own_size
    parts = [(velocity - value * motion, rate * size), (load, full)]
    if m:
        parts.append((e.holonomic @ motion, float(norm(e.holonomic)) * size))
    return max(float(np.linalg.norm(left)) / (whole or 1e-300) for left, whole in parts)


def _largest(E: Any, solve: Callable[[Array], Array], count: int) -> tuple[Complex, Complex]:
    """Eigenvalues of largest size of (A - s E)^-1 E, and their vectors; the same at every call."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

    size = E.shape[0]
    operator = LinearOperator((size, size), matvec=lambda w: solve(E @ w), dtype=float)
    start = np.random.default_rng(0).normal(size=size)
    for _ in range(3):  # away from the directions of infinite roots
        start = operator.matvec(start)
        start /= np.linalg.norm(start)
    for basis in (2 * count + 20, 6 * count + 60):
        try:
            values, vectors = eigs(
                operator, k=count, v0=start, which="LM", ncv=min(basis, size - 1), rng=np.random.default_rng(0)
            )
        except ArpackError:
            continue
        return values, vectors
    raise AnalysisError(
        f"Arnoldi's method does not find {count} roots of these equations; ask for fewer modes, or leave n_modes out, "
        "so that all roots are computed from dense matrices"
    )


def lowest(found: list[Root], n_modes: int) -> list[Root]:
    """Ignorable roots, and the `n_modes` real roots or pairs of least size, each with both of its members."""
    kept, modes = [], 0
    for root in sorted(found, key=lambda root: abs(root.value)):
        if root.explanation:
            kept.append(root)
        elif modes < n_modes and root.value.imag >= 0.0:
            modes += 1
            kept.append(root)
            if root.value.imag > 0.0:
                kept.append(replace(root, value=root.value.conjugate(), motion=root.motion.conj(), own=root.own.conj()))
    return kept


def _solver(A: Any, E: Any, shift: float, e: LinearEquations) -> Callable[[Array], Array]:
    """Solves (A - shift E) x = b; constraints that depend on each other are made a little compliant."""
    import scipy.sparse as sparse
    from scipy.sparse.linalg import splu

    matrix = (A - shift * E).tocsc()
    rows = e.holonomic.shape[0] + e.nonholonomic.shape[0]
    stiff = max(float(np.abs(e.stiffness).max()), shift**2 * float(np.abs(e.mass).max()))
    soft = sparse.diags_array(
        np.concatenate([np.zeros(A.shape[0] - rows), np.full(rows, SOFTENING / stiff)]), format="csc"
    )
    probe = E @ np.random.default_rng(1).normal(size=A.shape[0])
    for candidate in (matrix, matrix + soft):
        try:
            factors = splu(candidate)
        except RuntimeError:  # exactly singular
            continue
        x = factors.solve(probe)
        if np.all(np.isfinite(x)) and np.linalg.norm(candidate @ x - probe) <= 1e-6 * np.linalg.norm(probe):
            return factors.solve
    raise AnalysisError("the linear equations are singular; leave n_modes out, so that dependencies are resolved")
