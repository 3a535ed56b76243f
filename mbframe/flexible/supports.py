"""Static solutions and the lowest modes of a component that is held, or that floats without being held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from .problems import wrong

_DENSE = 500  # freedoms up to which all modes are found at once
_SINGULAR = 1e-13

Solve = Callable[[np.ndarray], np.ndarray]


class Support:
    """A component held by conditions B u = 0, whose rows leave no rigid motion.

    Solves K u + Bᵀ λ = f, B u = g: K may be singular as long as the conditions hold what it leaves free.
    """

    def __init__(self, stiffness: sparse.csr_array, conditions: sparse.csr_array, purpose: str) -> None:
        self.size = stiffness.shape[0]
        self.count = conditions.shape[0]
        scale = abs(stiffness).max() / max(abs(conditions).max(), 1e-300) if self.count else 1.0
        self._scale = scale
        held = scale * conditions
        matrix = sparse.block_array([[stiffness, held.T], [held, None]], format="csc") if self.count else stiffness
        try:
            self._factors = splu(sparse.csc_array(matrix), permc_spec="MMD_AT_PLUS_A")
        except RuntimeError:
            raise _loose(purpose) from None
        pivots = abs(self._factors.U.diagonal())
        if not pivots.min() > _SINGULAR * pivots.max():
            raise _loose(purpose, pivots.min() / pivots.max())

    def displacement(self, loads: np.ndarray, conditions: np.ndarray | None = None) -> np.ndarray:
        """(n, k): u for columns of loads f, and of values g of the conditions."""
        columns = loads.shape[1]
        below = np.zeros((self.count, columns)) if conditions is None else self._scale * conditions
        return self._factors.solve(np.vstack([loads, below]))[: self.size]


def _loose(purpose: str, ratio: float = 0.0) -> Exception:
    return wrong(
        "Component",
        "stiffness_matrix",
        f"is singular (smallest over largest pivot {ratio:.1g}) although {purpose}: parts of the body are not "
        "connected, or the nodes do not hold it; add interfaces or check the matrix",
    )


def lowest_modes(
    mass: sparse.csr_array, stiffness: sparse.csr_array, flexibility: Solve, count: int, available: int
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest `count` squared angular frequencies, ascending, and shapes φ with φᵀ M φ = 1.

    `flexibility` gives the displacement of the held (or floating) component for loads that include no rigid part; it
    is iterated with instead of the stiffness, so that the low modes are as accurate as numbers are. `available` is how
    many modes there are.
    """
    if count == 0:
        return np.zeros(0), np.zeros((mass.shape[0], 0))
    if mass.shape[0] <= _DENSE or count > available // 3:
        return _all_modes(mass, stiffness, flexibility, count)
    size = mass.shape[0]
    operator = LinearOperator((size, size), matvec=lambda f: flexibility(f.reshape(-1, 1))[:, 0], dtype=float)
    start = flexibility(mass @ _start(size))[:, 0]  # in the space of allowed motions, and the same in every run
    values, shapes = eigsh(stiffness, k=count, M=mass, sigma=0.0, OPinv=operator, v0=start, tol=1e-12)
    order = np.argsort(values)
    return values[order], normalized(shapes[:, order], mass)


def _start(size: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((size, 1))


def _all_modes(
    mass: sparse.csr_array, stiffness: sparse.csr_array, flexibility: Solve, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Dense: eigenvectors of Lᵀ F L with M = L Lᵀ, where F is the flexibility."""
    values, vectors = linalg.eigh(mass.toarray())
    root = vectors * np.sqrt(np.maximum(values, 0.0))  # massless freedoms follow statically
    moved = flexibility(root)
    inverse, coefficients = linalg.eigh(0.5 * (root.T @ moved + moved.T @ root))
    kept = slice(-1, -count - 1, -1)
    if not inverse[kept].min() > 0.0:
        raise wrong("Component", "mass_matrix", f"has too few masses for {count} modes; ask for fewer")
    shapes = moved @ coefficients[:, kept] / inverse[kept]
    return 1.0 / inverse[kept], normalized(shapes, mass)


def normalized(shapes: np.ndarray, mass: sparse.csr_array) -> np.ndarray:
    """Columns of modal mass 1 whose largest entry is positive, so that signs do not depend on the machine."""
    sizes = np.sqrt(np.einsum("ij,ij->j", shapes, mass @ shapes))
    largest = shapes[abs(shapes).argmax(axis=0), np.arange(shapes.shape[1])]
    return shapes / (sizes * np.sign(largest))
