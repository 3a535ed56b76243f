"""The roots of reduced linear equations, with ignorable ones split off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .linear_equations import LinearEquations
from .reduction import Reduction
from .symmetry import Symmetry, measured

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

EPSILON = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
SNAPPED = 1e-3  # part of its matrix by which a root of a symmetry, which is defective, may be off before it is exact
SLOWEST = 1e-8  # 1/s: rates below that are rounding
SOUND = 1e6  # condition of an eigenvalue up to which a step of Rayleigh's makes it better
NEIGHBOURS = "speed: a neighbouring steady motion"
CARRIED = "path: displacement of the whole, which turns against the frame"
TURNED = "which turns against the frame or with its body"


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
    """Of the matrix whose root it is, or of the loads that cancel in its equation: what rounding is measured by."""
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


def reduced_roots(e: LinearEquations, r: Reduction, found: Symmetry) -> list[Root]:
    """All roots of the state matrix, sorted by real, then imaginary part.

    With Q = [Q_1 Q_2 Q_3] orthogonal, Q_1 spanning the symmetries and Q_2 the changes to neighbouring steady motions,
    Q^T A Q is block triangular: the roots of its first block are known, those of the second are 0, and the rest is a
    smaller, clean problem.
    """
    A = r.balanced
    size = float(np.linalg.norm(A)) or 1.0
    Y = r.state(found.motion, found.velocity)
    Q = np.linalg.qr(Y, mode="complete")[0] if Y.shape[1] else np.eye(len(A))
    k = Y.shape[1]
    T = Q.T @ A @ Q
    known = _known_roots(T[:k, :k], found.rates, size)
    if known is None:  # symmetries cannot have such roots: these are roots like others
        k, known, Q, T = 0, [], np.eye(len(A)), A
    # As many neighbouring steady motions as there are velocities along symmetries that do not slip.
    family = k - np.linalg.matrix_rank(e.nonholonomic @ found.motion, 1e-9) if k else 0
    rest = Q[:, k:]
    turned, count = _neighbours(T[k:, k:], np.abs(rest.T) @ np.abs(A) @ np.abs(rest), family, found.tolerance)
    Q[:, k:] = rest @ turned
    T = Q.T @ A @ Q
    n = k + count
    left = np.linalg.norm(T[k:, :k]) / size
    units = r.units[:, None]
    roots = _symmetric_roots(known, T[:k, :k], r.motion @ (units * Q[:, :k]), found, float(left))
    for j in range(k, n):
        motion = (r.velocity @ (r.units * Q[:, j])).astype(complex)
        roots.append(Root(0j, motion, np.inf, NEIGHBOURS, residual=float(np.linalg.norm(T[k:, j]) / size)))

    values, vectors, left_vectors, conditions = _eigen(T[n:, n:])
    # A root may lie on one that was split off, of whose motion its own then has infinitely much.
    taken = np.array([*known, *[0j] * count], complex)
    gaps = np.abs(values[:, None] - taken).min(axis=1, initial=np.inf)
    apart = np.where(gaps > EPSILON * size, values, values + EPSILON * size)
    among = (T[:n, n:] @ vectors).T[:, :, None]
    above = np.linalg.solve(apart[:, None, None] * np.eye(n) - T[:n, :n], among)[:, :, 0].T
    states = units * (Q[:, :n] @ above + Q[:, n:] @ vectors)
    motions = np.asarray(r.motion @ states, np.complex128)
    own = states[r.n_x + r.n_u :]
    sizes = np.full(len(values), size)
    # Loads are looked at where they decide on a sign.
    least = 10.0 * EPSILON * conditions
    doubtful = np.abs(values.real) > least * size
    if doubtful.any():
        doubtful &= np.abs(values.real) <= least * _largest_load(e, r, np.abs(values))
    if doubtful.any():
        pair = Q[:, n:] @ vectors[:, doubtful], Q[:, n:] @ left_vectors[doubtful].T
        sizes[doubtful] = np.maximum(size, _loads(e, r, values[doubtful], *pair))
    roots += [
        Root(complex(value), motions[:, p], float(conditions[p]), size=float(sizes[p]), own=own[:, p])
        for p, value in enumerate(values)
    ]
    return ordered(roots)


def _largest_load(e: LinearEquations, r: Reduction, rates: Array) -> Array:
    """A bound for what `_loads` finds: motions are measured by their mass, and the longest of these is V's."""
    mass = np.diag(e.mass)
    sizes = np.sqrt(np.where(mass > 0.0, mass, 1.0))[:, None]
    longest, rate = _norm(r.V * sizes), (1.0 / float(r.units[0]) if r.n_x else 1.0)
    slip = 1.0 + _norm(r.S) / rate
    loads = _norm(e.stiffness / sizes / sizes.T) / rate + _norm(e.damping / sizes / sizes.T)
    return 2.0 * longest * slip * (loads + rates * longest * _norm(e.mass / sizes / sizes.T))


def _loads(e: LinearEquations, r: Reduction, values: Complex, right: Complex, left: Complex) -> Array:
    """Sizes of the loads that the motions of eigenvectors (columns) make, before constraints take their part.

    Weights that hinges carry may be far larger than what drives a motion, and cancel in it but for rounding: admissible
    motions V are known to EPSILON, and with that V^T K V to what K makes of V x, and of V y with a left eigenvector y.
    Inertias cancel where a frame far from its body moves against its shapes: every number of the mass matrix is known
    to EPSILON, and with that the inertia of V x along V y to |V y|^T |M| |V x|.
    """
    mass = np.diag(e.mass)
    sizes = np.sqrt(np.where(mass > 0.0, mass, 1.0))[:, None]
    units = r.units[:, None]
    rate = 1.0 / r.units[0] if r.n_x else 1.0
    right, left = (part / np.maximum(np.abs(part).max(axis=0), TINY) for part in (right, left))
    motion, velocity = r.motion @ (units * right), r.velocity @ (units * right)
    across = r.V @ (r.N @ left[r.n_x : r.n_x + r.n_u])
    pairs = [
        (right, e.stiffness @ motion, e.damping @ velocity),
        (left, e.stiffness.T @ across / rate, e.damping.T @ across),
    ]
    found = np.zeros(right.shape[1])
    for whole, *loads in pairs:
        length = np.maximum(np.linalg.norm(whole, axis=0), TINY)
        found += sum(np.linalg.norm(load / sizes, axis=0) for load in loads) / length
    inertia = np.sum(np.abs(across) * (np.abs(e.mass) @ np.abs(velocity)), axis=0)
    both = np.linalg.norm(right, axis=0) * np.linalg.norm(left, axis=0)
    return found + np.abs(values) * inertia / np.maximum(both, TINY)


def _known_roots(own: Array, rates: list[float], whole: float) -> list[complex] | None:
    """The roots on the symmetries, which are 0 or +-i times one of the rates; None if they are not.

    They are computed first, with the error of defective roots, and the nearest possible ones are taken. `whole` is the
    size of the state matrix, which rounding is measured by.
    """
    if not len(own):
        return []
    size = max(float(np.linalg.norm(own)), EPSILON / SNAPPED * whole)
    possible = np.array([0j, *[sign * 1j * rate for rate in rates for sign in (1.0, -1.0)]])
    values = np.linalg.eigvals(own)
    distances = np.abs(values[:, None] - possible)
    if distances.min(axis=1).max() > SNAPPED * size:
        return None
    return [complex(possible[j]) for j in np.argmin(distances, axis=1)]


def _neighbours(rest: Array, terms: Array, family: int, tolerance: float) -> tuple[Array, int]:
    """An orthogonal matrix whose first columns change a steady motion into a neighbouring one, and how many they are.

    Such changes stand still but for symmetries: what is left of the state matrix without these takes them to zero.
    """
    if not family or not len(rest):
        return np.eye(len(rest)), 0
    _, left, right = np.linalg.svd(measured(rest, terms, terms))
    count = min(family, int(np.sum(left <= tolerance * np.sqrt(len(rest)))))
    return right[::-1].T, count


def ordered(roots: list[Root]) -> list[Root]:
    """Sorted by real, then imaginary part; real parts that are zero but for rounding count as equal."""

    def key(root: Root) -> tuple[float, float]:
        return (0.0 if abs(root.value.real) <= rounding(root) else root.value.real, root.value.imag)

    return sorted(roots, key=key)


def rounding(root: Root) -> float:
    """How far rounding can have moved a root: its condition times a relative change of its matrix."""
    return 10.0 * EPSILON * root.size * root.condition


def _symmetric_roots(known: list[complex], own: Array, motions: Array, found: Symmetry, residual: float) -> list[Root]:
    """The roots on the symmetries, each explained by one of them."""
    names = dict(enumerate(found.names if known else ()))
    roots = []
    if any(known):
        vectors = np.linalg.eig(own)[1]
        directions = np.linalg.lstsq(found.motion, motions @ vectors, rcond=1e-9)[0]
        for j, value in enumerate(known):
            if not value:
                continue
            main = max(names, key=lambda k: abs(directions[k, j]))
            words = CARRIED if names[main].startswith("path") else f"{names[main]}, {TURNED}"
            del names[main]
            roots.append(Root(value, motions @ vectors[:, j], 1.0, words, residual=residual))
    for k, name in names.items():
        # Two symmetries with the same motion and different velocities differ by a velocity alone.
        still = np.linalg.norm(found.motion[:, k]) <= 1e-9 * np.linalg.norm(found.velocity[:, k])
        motion = (found.velocity if still else found.motion)[:, k]
        roots.append(Root(0j, motion.astype(complex), np.inf, name, residual=residual))
    return roots


def _eigen(T: Array) -> tuple[Complex, Complex, Complex, Array]:
    """Eigenvalues, right (columns) and left vectors (rows), and conditions: 1/cos of the angle between these.

    Conditions are infinite where these are not independent. Where they are, a step of Rayleigh's makes eigenvalues of a
    soft part beside a stiff one as exact as the entries of the soft one.
    """
    if not len(T):
        return np.zeros(0, complex), np.zeros((0, 0), complex), np.zeros((0, 0), complex), np.zeros(0)
    # LAPACK balances what it is given, and would blow up rounding in the place of a zero.
    cleaned = np.where(np.abs(T) > EPSILON * np.linalg.norm(T), T, 0.0)
    found = np.linalg.eig(cleaned)
    values, vectors = (np.asarray(part, np.complex128) for part in found)
    try:
        left = np.asarray(np.linalg.inv(vectors), np.complex128)
    except np.linalg.LinAlgError:
        return values, vectors, np.zeros_like(vectors), np.full(len(T), np.inf)
    with np.errstate(over="ignore"):  # infinite, where they are parallel but for rounding
        conditions = np.linalg.norm(left, axis=1) * np.linalg.norm(vectors, axis=0)
    sound = conditions < SOUND
    # Small entries move all roots together: with some that a step does not make better, they are left out for all.
    whole = T if sound.all() else cleaned
    change = np.einsum("ij,ji->i", left[sound], whole @ vectors[:, sound] - vectors[:, sound] * values[sound])
    lower = np.flatnonzero(values.imag < 0.0)  # each follows its conjugate
    values[sound] += np.where(values[sound].imag, change, change.real)  # what is real stays real
    values[lower] = values[lower - 1].conj()
    return values, vectors, left, conditions


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

    What is left of each group of equations is divided by the norms of its matrices times that of the motion, with
    velocities as large as the root and the rates of the system make them: a zero root has hardly any terms of its own,
    and where the loads that gravity and spins make cancel, all that is left of stiffness is rounding.
    The multipliers are those that leave least.
    """
    if not len(values):
        return np.zeros(0)
    velocities = motions * values
    load = e.mass @ (velocities * values) + e.damping @ velocities + e.stiffness @ motions + e.own_force @ own
    rows = np.vstack([e.holonomic, e.nonholonomic])
    if len(rows):
        load = load + rows.T @ np.linalg.lstsq(rows.T, -load, rcond=1e-12)[0]
    rates = e.own_position @ motions + e.own_velocity @ velocities + e.own_feedback @ own
    sizes = np.maximum(np.abs(values), _rate(e))
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


def _rate(e: LinearEquations) -> float:
    """The largest rate of the motion itself, or that stiffness, damping and drift have with masses and constraints."""
    mass, slip = _norm(e.mass), _norm(e.nonholonomic)
    found = max(np.sqrt(_norm(e.stiffness) / mass), _norm(e.damping) / mass) if mass else 0.0
    return max(float(found), _norm(e.drift) / slip if slip else 0.0, e.pace, SLOWEST)


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(matrix))
