"""Which joints repeat each other's equations, and what to say where these do not fit.

Two hinges of one door, or a plane linkage of spatial hinges, have more equations than they need. The motion is unique
as long as the surplus ones agree: axes and points that were rounded differently contradict each other as the bodies
move, by gaps as large as the rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.base import Body
from ..kernels.stages import dynamics
from ..kernels.stages.dynamics import LARGEST_GAP
from ..kernels.workspace import DYNAMICS

if TYPE_CHECKING:
    from .equations import Equations
    from .tables import Tables

Array = NDArray[np.float64]

MOST_ROWS = 1500  # singular values of a larger matrix take too long for a message
MOST_TO_CHECK = 300  # rows: before every run, some milliseconds
DEPENDENT = 3e-8  # relative singular value up to which equations are dependent: gaps of that size are kept
EXACT = 1e-13  # up to which only rounding keeps them apart
NEARLY = 3e-3  # up to which they nearly are
ASKEW = 0.1  # up to which joints that lock a body are out of line by mistake, and not on purpose
WEAK = 0.1  # part of gaps along weak equations, from which they are behind a dead point
LOST_BY_MASS = 1e-9  # relative pivot of J M^-1 J^T near which one is taken for lost
PART = 1e-3  # of a dependency, from which a joint takes part in it
NEARBY = 0.05  # rad, or lengths of the model: how far a position is from which to judge a dependency
REMEDY = (
    "let their axes and points agree to the last digit, or replace one by a joint with fewer equations "
    "(mb.degrees_of_freedom shows which depend on each other)"
)


def extent(tables: Tables) -> float:
    """How large a model is as described, m: the longest side of a box around its bodies and markers."""
    points = [np.asarray(tables.markers["point"][np.array(tables.marker_bodies(), int) < 0])]
    for b in tables.bodies:
        local = tables.markers["point"][b.first_marker : b.first_marker + len(b.markers)]
        motion = b.body.motion
        points += [motion.position[None], motion.position + local @ motion.rotation.T]
    return float(np.max(np.ptp(np.concatenate(points), axis=0), initial=0.0)) or 1.0


def dependencies(eq: Equations) -> Array | None:
    """Combinations of the rows of J, at the last evaluated state, that vanish or nearly do (columns).

    Rows are scaled to unit length. None for models that are too large.
    """
    if eq.n_rows > MOST_ROWS:
        return None
    left, sizes, _ = _decomposed(eq)
    return left[:, sizes <= NEARLY]


def _decomposed(eq: Equations, by_mass: bool = False) -> tuple[Array, Array, Array]:
    """Left singular vectors of the scaled J, singular values with zeros for all rows, and the lengths of rows.

    Turning is scaled by the radii of gyration, or by how far joints are from the body's origin if that is more. Scaled
    `by_mass`, the squares of the singular values are those of J M^-1 J^T with a unit diagonal.
    """
    scaled, lengths = _scaled(eq, by_mass)
    left, found, _ = np.linalg.svd(scaled)
    sizes = np.zeros(len(left))
    sizes[: len(found)] = found
    return left, sizes, lengths


def _singular_values(eq: Equations) -> Array:
    """Singular values of the scaled J alone."""
    return np.asarray(np.linalg.svd(_scaled(eq, False)[0], compute_uv=False), float)


def _scaled(eq: Equations, by_mass: bool) -> tuple[Array, Array]:
    """J with comparable velocities and rows of unit length, and the lengths that these had."""
    mass, jacobian = eq.matrices(dense=True)
    return _with_unit_rows(jacobian / _units(eq, np.diagonal(mass), by_mass))


def _with_unit_rows(matrix: Array) -> tuple[Array, Array]:
    """A matrix with rows of unit length, and the lengths that these had; rows of rounding stay as they are."""
    lengths = np.linalg.norm(matrix, axis=1)
    lengths[lengths <= 1e-12 * lengths.max(initial=0.0)] = 1.0
    return matrix / lengths[:, None], lengths


def _units(eq: Equations, masses: Array, by_mass: bool) -> Array:
    """What velocities are multiplied with, so that they can be compared; `masses` is the diagonal of M."""
    units = np.sqrt(masses)
    for b in eq.tables.bodies if not by_mass else ():
        root = units[b.v_slice]
        root /= root[0] or 1.0  # lengths: a heavy body beside a light one is no dependency
        turns = root[eq.system.dimension :]  # nor is a body like a point on a long arm
        np.maximum(turns, _reach(eq, b), out=turns)
    return np.where(units > 0.0, units, 1.0)


def _reach(eq: Equations, b: Any) -> float:
    """How far the markers of a rigid body are from its origin, m; 0 for a flexible one, which bends besides."""
    if b.formulation.n_modes:
        return 0.0
    points = eq.tables.markers["point"][b.first_marker : b.first_marker + len(b.markers)]
    return float(np.linalg.norm(points, axis=1).max(initial=0.0))


def joints_in(eq: Equations, rows: Array | None) -> list[Any]:
    """The joints that take part in combinations of rows; none if they are not known."""
    if rows is None or not rows.size:
        return []
    found = [owner for owner, own in eq.owned_rows().items() if np.linalg.norm(rows[own], axis=1).max() > PART]
    return [owner for owner in found if not isinstance(owner, Body)]  # whose own equations only follow


def listed(elements: list[Any]) -> str:
    """Elements in words."""
    names = [str(element) for element in elements[:6]] + (["others"] if len(elements) > 6 else [])
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def misfit_message(eq: Equations) -> str:
    """What to say where dependent equations contradict each other at the current state."""
    joints = joints_in(eq, dependencies(eq))
    who = f"the equations of {listed(joints)} depend on each other" if joints else "equations depend on each other"
    gap = float(np.abs(eq.work.residual / eq.work.row_sizes).max(initial=0.0))
    return (
        f"{who}, but do not fit: a gap of {gap:.3g} (of the model's size, or rad) stays open, where they may differ by "
        f"1e-8; {REMEDY}"
    )


def misaligned_message(joints: list[Any]) -> str:
    """What to say about joints that nearly repeat each other's equations."""
    return (
        f"the equations of {listed(joints)} nearly depend on each other, so that together they lock what each of them "
        f"leaves free; {REMEDY}"
    )


def open_dependency(eq: Equations) -> float:
    """How far dependent equations contradict each other at the last evaluated state, which was not corrected.

    It is the part of C that no displacement changes: N N^T C with the dependencies N, of rows of unit length.
    """
    if eq.n_rows > MOST_ROWS:
        return 0.0
    left, sizes, lengths = _decomposed(eq)
    n = len(eq.work.residual)
    null, lengths = left[:n, sizes <= NEARLY], lengths[:n]
    part = null @ (null.T @ (eq.work.residual / lengths)) * lengths
    return float(np.abs(part / eq.work.row_sizes).max(initial=0.0))


def lost_beside_heavy(eq: Equations, t: float, y: Array) -> list[Any] | None:
    """Joints whose equations are independent at a state, but lost in J M^-1 J^T; None if equations are dependent.

    A light body between heavy ones, or between one and the ground, moves as all its joints say: weighted by mobility,
    they differ by the ratio of the masses only. None for models that are too large, too.
    """
    eq.set_state(*eq.split(y))
    eq.run(dynamics.evaluate.address, t, n=DYNAMICS)
    if not 0 < eq.n_rows <= MOST_TO_CHECK or eq.n_rows > eq.n_v or _singular_values(eq).min() <= NEARLY:
        return None
    left, sizes, _ = _decomposed(eq, by_mass=True)
    return joints_in(eq, left[:, sizes**2 <= LOST_BY_MASS])


def may_stay(eq: Equations) -> bool:
    """Whether the gaps at the last evaluated state are such that no displacement closes them, and small enough.

    Behind a dead point, too, no displacement closes them. There they lie along equations that are weak, not dependent.
    """
    gap = float(np.abs(eq.work.residual / eq.work.row_sizes).max(initial=0.0))
    if gap > LARGEST_GAP or eq.n_rows > MOST_ROWS:
        return False
    left, sizes, lengths = _decomposed(eq)
    n = len(eq.work.residual)
    gaps = eq.work.residual / lengths[:n]
    weak = left[:n, (sizes > DEPENDENT) & (sizes <= NEARLY)]
    if np.linalg.norm(weak.T @ gaps) > WEAK * np.linalg.norm(gaps):
        return False
    return bool(joints_in(eq, left[:, sizes <= DEPENDENT]))


def at_limit(eq: Equations) -> bool:
    """Whether the gaps at the last evaluated state are as large as those of dependent equations may be, or nearly."""
    return float(np.abs(eq.work.residual / eq.work.row_sizes).max(initial=0.0)) > 0.5 * LARGEST_GAP


def kept_gap(eq: Equations, gap: float) -> str:
    """What to say about a gap that was kept; the equations are evaluated at a state of the motion."""
    joints = joints_in(eq, dependencies(eq))
    who = f"{listed(joints)} are redundant" if joints else "redundant joints"
    return (
        f"{who} and do not fit exactly: gaps of up to {gap:.2g} (of the model's size, or rad) are shared and kept; "
        f"{REMEDY}"
    )


def misaligned(eq: Equations, t: float, y: Array) -> list[Any]:
    """Joints that nearly repeat each other's equations, wherever the bodies are, and so lock what one of them leaves
    free; their equations are evaluated about a state.

    In a position that is singular by itself, as a flat linkage, equations are nearly dependent as well, but no longer
    in a position nearby.
    """
    if eq.n_rows > MOST_TO_CHECK:
        return _doubled(eq, t, y)
    if not eq.n_rows:
        return []
    q, v, z = eq.split(y)
    eq.set_state(q, v, z)
    eq.run(dynamics.evaluate.address, t, n=DYNAMICS)  # without the matrices, which cost more than all of this
    eq.factor()
    if not eq.factor_record["left_out"] and eq.factor_record["weakest_pivot"] > NEARLY**2:
        return []
    left, sizes, lengths = _decomposed(eq)
    nearly = (sizes < NEARLY) & ((sizes > DEPENDENT) | (_opening(eq, left, sizes, lengths) > LARGEST_GAP))
    if not np.any(nearly):
        return []
    suspects = joints_in(eq, left[:, nearly])
    step = _aside(eq)
    eq.update(t, eq.displaced(q, step), v, z)
    beside = _decomposed(eq)[1]
    if np.count_nonzero(beside < NEARLY) < np.count_nonzero(sizes < NEARLY):
        return []
    return suspects


def _opening(eq: Equations, left: Array, sizes: Array, lengths: Array) -> Array:
    """How far nearly dependent combinations of rows would open, of the model's size or rad.

    A combination that changes at the rate r while a body turns at the rate 1, or moves by the model's size, opens by
    2 r in half a turn, and all of that may be found in the row with the largest part in it.
    """
    if not np.any((sizes > EXACT) & (sizes < NEARLY)):
        return np.zeros(len(sizes))
    mass, jacobian = eq.matrices(dense=True)
    units = _units(eq, np.diagonal(mass), False)
    return _opened(eq, (left, sizes, lengths), jacobian, units, np.arange(eq.n_rows), np.arange(eq.n_v))


def _opened(
    eq: Equations,
    parts: tuple[Array, Array, Array],
    jacobian: Array,
    units: Array,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> Array:
    """The same for some rows and columns of J, from their left vectors, singular values and lengths of rows."""
    left, sizes, lengths = parts
    opening, motion = np.zeros(len(sizes)), np.zeros(eq.n_v)
    held = rows < len(eq.work.row_sizes)
    for k in np.flatnonzero((sizes > EXACT) & (sizes < NEARLY)).tolist():
        motion[columns] = jacobian.T @ (left[:, k] / lengths) / (units**2 * sizes[k])
        way = 0.0
        for b in eq.tables.bodies:
            if np.any(motion[b.v_slice]):
                moved, turned = b.formulation.twists(eq.work.q[None, b.q_slice], motion[None, b.v_slice])
                way = max(way, float(np.linalg.norm(moved)) / eq.size, float(np.linalg.norm(turned)))
        row = int(np.argmax(np.where(held, np.abs(left[:, k]), 0.0)))
        part = abs(left[row, k]) * way
        opening[k] = 2.0 * sizes[k] * lengths[row] / eq.work.row_sizes[rows[row]] / part if part > 0.0 else 0.0
    return opening


def _doubled(eq: Equations, t: float, y: Array) -> list[Any]:
    """Joints between the same two bodies that nearly repeat each other's equations, in a model of any size.

    Each such group is looked at by itself, here and in a position nearby, as `misaligned` does with whole models.
    """
    groups = [group for group in _between_same_bodies(eq) if len(group[0]) > 1]
    q, v, z = eq.split(y)

    def matrices(at: Array) -> tuple[Any, Array]:
        eq.set_state(at, v, z)
        eq.run(dynamics.evaluate.address, t, n=DYNAMICS)
        mass, jacobian = eq.matrices()
        return jacobian, _units(eq, mass.diagonal(), False)

    if not groups:
        return []
    suspects = []
    jacobian, units = matrices(q)
    for joints, rows, bodies in groups:
        columns = np.concatenate([np.arange(b.v_slice.start, b.v_slice.stop) for b in bodies])
        part = jacobian[rows][:, columns].toarray()
        scaled, lengths = _with_unit_rows(part / units[columns])
        left, found, right = np.linalg.svd(scaled)
        sizes = np.zeros(len(left))
        sizes[: len(found)] = found
        opening = _opened(eq, (left, sizes, lengths), part, units[columns], rows, columns)
        if np.any((sizes < NEARLY) & ((sizes > DEPENDENT) | (opening > LARGEST_GAP))):
            free = right[np.count_nonzero(found > NEARLY) :]
            step = free.T @ np.random.default_rng(0).normal(size=len(free)) / units[columns]
            step *= NEARBY * min(1.0, eq.size) / (np.abs(step).max(initial=0.0) or 1.0)
            suspects.append((joints, rows, columns, step, np.count_nonzero(sizes < NEARLY)))
    named: list[Any] = []
    for joints, rows, columns, step, count in suspects:
        whole = np.zeros(eq.n_v)
        whole[columns] = step
        jacobian, units = matrices(eq.displaced(q, whole))
        scaled, _ = _with_unit_rows(jacobian[rows][:, columns].toarray() / units[columns])
        found = np.linalg.svd(scaled, compute_uv=False)
        if len(rows) - np.count_nonzero(found >= NEARLY) >= count:
            named += joints
    return named


def held_fast(eq: Equations, t: float, y: Array) -> str:
    """What to say of joints between the same two bodies that lock these, because they are a little out of line.

    Together they leave nothing free, each of them something, and along some motion they hold weakly: by as much as they
    are out of line, of two hinges the angle between their axes. "" if there are none.
    """
    groups = [group for group in _between_same_bodies(eq) if len(group[0]) > 1]
    if not groups:
        return ""
    eq.set_state(*eq.split(y))
    eq.run(dynamics.evaluate.address, t, n=DYNAMICS)
    mass, jacobian = eq.matrices()
    units, owned = _units(eq, mass.diagonal(), False), eq.owned_rows()
    for joints, _, bodies in groups:
        freedoms = {b.formulation.n_v - b.formulation.n_intrinsic for b in bodies if not b.formulation.n_modes}
        if len(freedoms) != 1:  # a flexible body bends
            continue
        columns = np.concatenate([np.arange(b.v_slice.start, b.v_slice.stop) for b in bodies])
        needed = len(columns) - (len(bodies) - 1) * freedoms.pop()  # independent equations of a lock
        follow = [owned[b.body] for b in bodies if b.formulation.n_intrinsic]

        def sizes(*parts: NDArray[np.int64], columns: NDArray[np.int64] = columns) -> Array:
            own = jacobian[np.concatenate(parts)][:, columns].toarray() / units[columns]
            return np.asarray(np.linalg.svd(_with_unit_rows(own)[0], compute_uv=False), float)

        together = sizes(*follow, *(owned[joint] for joint in joints))
        if len(together) < needed or not NEARLY < together[needed - 1] < ASKEW:
            continue
        if all(np.count_nonzero(sizes(*follow, owned[joint]) > ASKEW) < needed for joint in joints):
            held = bodies[-1].body
            return (
                f"{listed(joints)} together hold {held} fast, though each of them lets it move: they are out of line "
                f"by about {together[needed - 1]:.1g} (rad, or of its size). If it is to move, {REMEDY}"
            )
    return ""


def _between_same_bodies(eq: Equations) -> list[tuple[list[Any], NDArray[np.int64], list[Any]]]:
    """Joints by the bodies between which they are, with the numbers of all their holonomic equations."""
    owner = eq.tables.marker_bodies()
    groups: dict[frozenset[int], tuple[dict[Any, None], set[int]]] = {}
    for c in eq.tables.constraints:
        pair = frozenset(k for k in (owner[c.i], owner[c.j]) if k >= 0)
        if pair and not c.constraint.nonholonomic:
            joints, rows = groups.setdefault(pair, ({}, set()))
            joints[c.owner] = None
            rows.update(range(c.rows.start, c.rows.stop))
    return [
        (list(joints), np.array(sorted(rows), np.int64), [eq.tables.bodies[k] for k in sorted(pair)])
        for pair, (joints, rows) in groups.items()
    ]


def _aside(eq: Equations) -> Array:
    """A displacement along motions that the constraints leave free, or nearly."""
    _, jacobian = eq.matrices(dense=True)
    lengths = np.linalg.norm(jacobian, axis=1)
    lengths[lengths == 0.0] = 1.0
    _, found, right = np.linalg.svd(jacobian / lengths[:, None])
    rank = int(np.count_nonzero(found > NEARLY))
    free = right[rank:]
    step = free.T @ np.random.default_rng(0).normal(size=len(free))
    return step * (NEARBY * min(1.0, eq.size) / (np.abs(step).max(initial=0.0) or 1.0))
