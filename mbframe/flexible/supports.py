"""Static solutions and the lowest modes of a component that is held, or that floats without being held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, splu

from .problems import wrong

_DENSE = 500  # freedoms up to which all modes are found at once
_TOO_LARGE = 8000  # freedoms above which that takes too much memory
_MASSLESS = 1e-15  # squares of periods, relative to the longest, below which nothing vibrates
_SINGULAR = 1e-13
_EQUAL = 1e-7  # relative difference of squared frequencies that are equal but for rounding
_PARTNERS = 2  # modes beyond those asked for, since the last of these may have partners of the same frequency
_TIED = 1e-6  # relative difference of displacements that are equal by symmetry

Solve = Callable[[np.ndarray], np.ndarray]


class Support:
    """A component held by conditions B u = g, whose rows leave no rigid motion free.

    Solves K u + Bᵀ λ = f, B u = g: K may be singular as long as the conditions hold what it leaves free. Freedoms that
    are held one by one are left out of the equations, which then have a positive definite matrix.
    """

    def __init__(self, stiffness: sparse.csr_array, conditions: sparse.csr_array, purpose: str) -> None:
        self._size, self._count = stiffness.shape[0], conditions.shape[0]
        self._fixed = np.zeros(0, dtype=np.int64)
        if np.all(np.diff(conditions.indptr) == 1) and np.all(conditions.data == 1.0):
            self._fixed = conditions.indices
            self._free = np.setdiff1d(np.arange(self._size), self._fixed)
            rows = stiffness[self._free]
            self._coupling = rows[:, self._fixed]
            if len(self._free):
                self._factors = _factorized(rows[:, self._free], purpose, definite=True)
        else:
            self._scale = abs(stiffness).max() / abs(conditions).max()
            held = self._scale * conditions
            matrix = sparse.block_array([[stiffness, held.T], [held, None]])
            self._factors = _factorized(matrix, purpose, definite=False)

    def displacement(self, loads: np.ndarray, conditions: np.ndarray | None = None) -> np.ndarray:
        """(n, k): u for columns of loads f, and of values g of the conditions (None for zeros)."""
        if conditions is None:
            conditions = np.zeros((self._count, loads.shape[1]))
        if len(self._fixed):
            moved = np.empty((self._size, loads.shape[1]))
            moved[self._fixed] = conditions
            if len(self._free):
                moved[self._free] = self._factors.solve(loads[self._free] - self._coupling @ conditions)
            return moved
        return self._factors.solve(np.vstack([loads, self._scale * conditions]))[: self._size]


class Floating:
    """A component without supports: displacements without momentum, loads balanced by inertia.

    `rigid` are the six rigid motions. Six freedoms are held in which no force arises, since the loads are in balance; a
    rigid motion is added afterwards.
    """

    def __init__(self, stiffness: sparse.csr_array, mass: sparse.csr_array, rigid: np.ndarray) -> None:
        self._rigid, self._moved = rigid, mass @ rigid
        lengths = np.linalg.norm(rigid, axis=0)
        held = linalg.qr((rigid / lengths).T, mode="r", pivoting=True)[1][:6]  # the six that differ most
        rows = sparse.csr_array((np.ones(6), (np.arange(6), held)), shape=(6, len(rigid)))
        self._support = Support(stiffness, rows, "six freedoms are held")

    def displacement(self, loads: np.ndarray) -> np.ndarray:
        """(n, k): u with Rᵀ M u = 0 and K u = f - M R (Rᵀ M R)⁻¹ Rᵀ f for columns of loads f."""
        inertia = self._rigid.T @ self._moved
        balanced = loads - self._moved @ linalg.solve(inertia, self._rigid.T @ loads, assume_a="pos")
        return without_momentum(self._support.displacement(balanced), self._rigid, self._moved)


def without_momentum(shapes: np.ndarray, rigid: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Φ - R (Rᵀ M R)⁻¹ Rᵀ M Φ: the shapes without the rigid motion that carries their momentum; `moved` is M R."""
    for _ in range(2):  # the second time removes the rounding of the first where a shape is mostly rigid
        shapes = shapes - rigid @ linalg.solve(rigid.T @ moved, moved.T @ shapes, assume_a="pos")
    return shapes


def _factorized(matrix: sparse.sparray, purpose: str, definite: bool) -> SuperLU:
    """The factors; a `ModelError` if the matrix is singular. Definite ones need no exchange of rows."""
    choice: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}} if definite else {}
    try:
        factors = splu(sparse.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", **choice)
    except RuntimeError:
        raise _loose(purpose, 0.0) from None
    pivots = abs(factors.U.diagonal())
    if not pivots.min() > _SINGULAR * pivots.max():
        raise _loose(purpose, pivots.min() / pivots.max())
    return factors


def _loose(purpose: str, ratio: float) -> Exception:
    return wrong(
        "Component",
        "stiffness_matrix",
        f"is singular (smallest over largest pivot {ratio:.1g}) although {purpose}: parts of the body are not "
        "connected, or the nodes do not hold it; add interfaces or check the matrix",
    )


def lowest_modes(
    mass: sparse.csr_array, stiffness: sparse.csr_array, flexibility: Solve, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest `count` squared angular frequencies, ascending, and shapes φ with φᵀ M φ = 1.

    Fewer, if there are fewer masses that can move. `flexibility` gives the displacement of the held (or floating)
    component for loads: the problem solved is that of 1/ω², which allows for freedoms without mass.
    """
    size = mass.shape[0]
    if count == 0:
        return np.zeros(0), np.zeros((size, 0))
    if size <= _DENSE or 3 * (count + _PARTNERS) > size:
        return _all_modes(mass, flexibility, count)
    operator = LinearOperator((size, size), matvec=lambda f: flexibility(f.reshape(-1, 1))[:, 0], dtype=float)
    anywhere = np.random.default_rng(1).standard_normal((size, 1))  # the same in every run
    start = flexibility(mass @ anywhere)[:, 0]
    more = count + _PARTNERS
    values, shapes = eigsh(stiffness, k=more, M=mass, sigma=0.0, OPinv=operator, v0=start, tol=1e-12)
    order = np.argsort(values)
    return values[order][:count], settled(shapes[:, order], values[order], mass)[:, :count]


def _all_modes(mass: sparse.csr_array, flexibility: Solve, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Dense: eigenvectors of Lᵀ F L with M = L Lᵀ, where F is the flexibility."""
    if mass.shape[0] > _TOO_LARGE:
        raise wrong(
            "Component",
            "n_modes",
            f"{count} modes are too many for {mass.shape[0]} freedoms; ask for at most {mass.shape[0] // 3}",
        )
    values, vectors = linalg.eigh(mass.toarray())
    root = vectors * np.sqrt(np.maximum(values, 0.0))  # massless freedoms follow statically
    moved = flexibility(root)
    inverse, coefficients = linalg.eigh(0.5 * (root.T @ moved + moved.T @ root))
    kept = np.flatnonzero(inverse > _MASSLESS * inverse[-1])[::-1][: count + _PARTNERS]
    shapes = moved @ coefficients[:, kept] / inverse[kept]
    squares = 1.0 / inverse[kept]
    return squares[:count], settled(shapes, squares, mass)[:, :count]


def settled(shapes: np.ndarray, squares: np.ndarray, mass: sparse.csr_array) -> np.ndarray:
    """Modes of modal mass 1 that do not depend on the machine; `squares` are their squared frequencies, ascending.

    Eigenvectors are known up to their signs, and where frequencies are equal, as those of a round bar that bends in any
    plane, up to a rotation among them. In each such family the freedom that moves most leads (of equal ones the first):
    it moves in the first shape only, and to the positive side. The next shape is found in the same way from the rest.
    """
    shapes = shapes / np.sqrt(np.einsum("ij,ij->j", shapes, mass @ shapes))
    ends = np.flatnonzero(np.diff(squares) > _EQUAL * squares[1:]) + 1
    for family in np.split(np.arange(len(squares)), ends):
        rest, directions = shapes[:, family], []
        for _ in family:
            sizes = np.linalg.norm(rest, axis=1)
            leading = np.argmax(sizes > (1.0 - _TIED) * sizes.max())
            directions.append(rest[leading] / sizes[leading])
            rest = rest - np.outer(rest @ directions[-1], directions[-1])
        shapes[:, family] = shapes[:, family] @ np.transpose(directions)
    return shapes
