"""The roots of reduced linear equations, with ignorable ones split off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .linear_equations import LinearEquations, TurningFrame
from .reduction import Reduction
from .symmetry import Symmetry

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

EPSILON = float(np.finfo(float).eps)
NEUTRAL = 1e-7  # size of a root, relative to the state matrix, up to which it belongs to a family of steady motions
NEIGHBOURS = "speed: a neighbouring steady motion"
CARRIED = "path: displacement of the whole, which turns against the frame"


@dataclass(frozen=True)
class Root:
    """A root with its motion xi (complex), its condition, why it is ignorable, and what is left of the equations.

    An ignorable root need not have an eigenvector of its own (who heads elsewhere moves away): its motion is the
    symmetry that explains it, and its residual tells how exactly the symmetries are carried over into themselves.
    """

    value: complex
    motion: Complex
    condition: float
    explanation: str = ""
    size: float = 1.0
    """Of the matrix whose root it is: what rounding is measured by."""
    own: Complex = field(default_factory=lambda: np.zeros(0, complex))
    """Changes of own states of force elements."""
    residual: float | None = None
    """None: what is left of the pencil's equations, which `residuals` finds."""

    @property
    def shape(self) -> Complex:
        """The motion, scaled so that the largest displacement or rotation is 1, if there is any."""
        return self.motion / self._largest

    @property
    def own_shape(self) -> Complex:
        """The changes of own states that belong to the scaled motion."""
        return self.own / self._largest

    @property
    def _largest(self) -> complex:
        return complex(self.motion[np.argmax(np.abs(self.motion))]) or 1.0


def reduced_roots(e: LinearEquations, r: Reduction, found: Symmetry, frame: TurningFrame) -> list[Root]:
    """All roots of the state matrix, sorted by real, then imaginary part.

    With Q = [Q_1 Q_2] orthogonal and Q_1 spanning the symmetries, Q^T A Q is block triangular: the roots of its first
    block are 0, or +-i Omega for displacements seen from a turning frame, and the rest is a smaller, clean problem.
    """
    A = r.A
    size = float(np.linalg.norm(A)) or 1.0
    Y = r.state(found.motion, found.velocity)
    k = Y.shape[1]
    Q = np.linalg.qr(Y, mode="complete")[0] if k else np.eye(len(A))
    T = Q.T @ A @ Q
    roots = _symmetric_roots(T[:k, :k], r.motion @ Q[:, :k], found, frame, float(np.linalg.norm(T[k:, :k])) / size)

    values, vectors = np.linalg.eig(T[k:, k:])
    values, vectors = values.astype(complex), vectors.astype(complex)
    conditions = _conditions(vectors)
    # As many neighbouring steady motions as there are velocities along symmetries that do not slip.
    family = k - np.linalg.matrix_rank(e.nonholonomic @ found.motion, 1e-9) if k else 0
    nearest = np.argsort(np.abs(values), kind="stable")[:family]
    neutral = {int(j) for j in nearest if abs(values[j]) <= NEUTRAL * size}
    rest = [j for j in range(len(values)) if j not in neutral]
    for j in neutral:
        motion = r.velocity @ Q[:, k:] @ vectors[:, j]
        roots.append(Root(0j, motion, conditions[j], NEIGHBOURS, residual=abs(values[j]) / size))
    # At a critical value a root comes to lie on that of a symmetry, of which its motion then has infinitely much.
    apart = np.where(np.abs(values) > EPSILON * size, values, EPSILON * size)[rest]
    among = (T[:k, k:] @ vectors[:, rest]).T[:, :, None]
    above = np.linalg.solve(apart[:, None, None] * np.eye(k) - T[:k, :k], among)[:, :, 0].T
    states = Q[:, :k] @ above + Q[:, k:] @ vectors[:, rest]
    motions = r.motion @ states
    own = states[r.n_x + r.n_u :]
    roots += [
        Root(complex(values[j]), motions[:, p], float(conditions[j]), size=size, own=own[:, p])
        for p, j in enumerate(rest)
    ]
    return ordered(roots)


def ordered(roots: list[Root]) -> list[Root]:
    """Sorted by real, then imaginary part; real parts that are zero but for rounding count as equal."""

    def key(root: Root) -> tuple[float, float]:
        return (0.0 if abs(root.value.real) <= rounding(root) else root.value.real, root.value.imag)

    return sorted(roots, key=key)


def rounding(root: Root) -> float:
    """How far rounding can have moved a root: its condition times a relative change of its matrix."""
    return 10.0 * EPSILON * root.size * root.condition


def _symmetric_roots(own: Array, motions: Array, found: Symmetry, frame: TurningFrame, residual: float) -> list[Root]:
    """The roots on the symmetries."""
    names = list(found.names)
    roots = []
    if frame.rate and len(own):
        values, vectors = np.linalg.eig(own)
        carried = np.flatnonzero(np.abs(values) > 0.5 * abs(frame.rate))
        for j in carried:
            value = 1j * np.copysign(frame.rate, values[j].imag)
            roots.append(Root(complex(value), motions @ vectors[:, j], 1.0, CARRIED, residual=residual))
        across = [name for name in names if name.startswith("path")]
        for name in across[: len(carried)]:
            names.remove(name)
    for name in names:
        motion = found.motion[:, found.names.index(name)]
        roots.append(Root(0j, motion.astype(complex), np.inf, name, residual=residual))
    return roots


def _conditions(vectors: Complex) -> Array:
    """1/cos of the angle between left and right eigenvectors; infinite where they are not independent."""
    if not len(vectors):
        return np.zeros(0)
    try:
        left = np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        return np.full(len(vectors), np.inf)
    with np.errstate(over="ignore"):  # infinite, where they are parallel but for rounding
        return np.linalg.norm(left, axis=1) * np.linalg.norm(vectors, axis=0)


def residuals(e: LinearEquations, roots: Sequence[Root]) -> Array:
    """What each root leaves of its equations."""
    found = np.array([np.nan if root.residual is None else root.residual for root in roots])
    asked = [k for k, root in enumerate(roots) if root.residual is None]
    if asked:
        values = np.array([roots[k].value for k in asked])
        motions, own = (np.array([getattr(roots[k], part) for k in asked]).T for part in ("motion", "own"))
        found[asked] = pencil_residuals(e, values, motions, own)
    return found


def pencil_residuals(e: LinearEquations, values: Complex, motions: Complex, own: Complex) -> Array:
    """Backward errors of eigenpairs (columns) in the pencil's equations, as they are before any reduction.

    What is left of each group of equations is divided by the norms of its matrices times that of the motion; the
    multipliers are those that leave least.
    """
    if not len(values):
        return np.zeros(0)
    velocities = motions * values
    load = e.mass @ (velocities * values) + e.damping @ velocities + e.stiffness @ motions + e.own_force @ own
    rows = np.vstack([e.holonomic, e.nonholonomic])
    if len(rows):
        load = load + rows.T @ np.linalg.lstsq(rows.T, -load, rcond=1e-12)[0]
    rates = e.own_position @ motions + e.own_velocity @ velocities + e.own_feedback @ own
    sizes = np.abs(values)
    left = [load, e.holonomic @ motions, e.nonholonomic @ velocities + e.drift @ motions, rates - own * values]
    full = [
        sizes**2 * _norm(e.mass) + sizes * _norm(e.damping) + _norm(e.stiffness),
        _norm(e.holonomic) + 0.0 * sizes,
        sizes * _norm(e.nonholonomic) + _norm(e.drift),
        _norm(e.own_position) + sizes * _norm(e.own_velocity),
    ]
    own_full = [_norm(e.own_force), 0.0, 0.0, _norm(e.own_feedback) + sizes]
    sizes_of = np.linalg.norm(motions, axis=0), np.linalg.norm(own, axis=0)
    found = np.zeros(len(values))
    for part, by_motion, by_own in zip(left, full, own_full, strict=True):
        whole = by_motion * sizes_of[0] + by_own * sizes_of[1]
        found = np.maximum(found, np.linalg.norm(part, axis=0) / np.where(whole > 0.0, whole, 1.0))
    return found


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(matrix))
