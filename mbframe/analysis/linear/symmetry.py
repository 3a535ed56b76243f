"""Ignorable roots: changes that nothing resists, because the system looks the same after them.

A bicycle may stand elsewhere, head elsewhere, have its wheels turned, and run a little faster: six of its ten roots
are zero and say nothing about balance. They form Jordan blocks (who heads elsewhere moves away steadily) and would come
out of an eigenvalue solver as a cloud of radius 1e-7, so they are recognized by what they are and split off exactly.
What is split off is a subspace that the state matrix carries over into itself, and that is verified: whatever was
overlooked or mistaken, all roots together are those of the state matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...plane import lifted
from ...rotations import skew
from ..mobility.null_space import readable
from .linear_equations import LinearEquations, OperatingPoint, TurningFrame, turning
from .reduction import Reduction

Array = NDArray[np.float64]

EPSILON = float(np.finfo(float).eps)
EXACT = 1e-11  # relative residual of the equations up to which a motion of an exact state counts as a symmetry
WORST = 1e-8  # and of a state that is not so exact
ROUNDED = 1e-3  # terms that small against those of other equations may be rounding of these: EXACT of it is 1e-14
INDEPENDENT = 1e-9
RECOGNIZED = 1e-4  # part of a motion from an iteration that may be something else than a symmetry
MENTIONED = 4  # candidates named in an explanation
ROUND = 1e-6  # relative difference of two moments of inertia that makes a body unsymmetric


@dataclass(frozen=True)
class Symmetry:
    """Small motions (columns) that carry a motion of the system over into another one of its motions.

    rates
        Sizes of the roots that these motions can have, apart from 0: displacements and turns of the whole are seen to
        turn from a turning frame, and axes of a body that is round about all of them turn with it.
    tolerance
        How exactly these motions obey the equations, as far as the state itself does.
    """

    motion: Array
    velocity: Array
    names: list[str]
    rates: list[float]
    tolerance: float


def symmetries(
    point: OperatingPoint, frame: TurningFrame, e: LinearEquations, r: Reduction, inexactness: float = 0.0
) -> Symmetry:
    """The symmetries of the equations among displacements and turns of the whole and spins of round bodies.

    A turn of the whole is considered only about the direction of gravity: others may leave the linear equations alone
    at a critical speed, but never the system. A combination of candidates is a symmetry if it opens no joint, neither
    by its motion nor by its velocity, does not slip, obeys the equations of motion, and if its further course is one of
    such combinations too. Every equation is measured by the sizes of the terms that cancel in it, so that a weak spring
    beside stiff ones is no rounding. `inexactness` tells how well the state itself meets its equations.
    """
    names, motion, velocity, acceleration = _candidates(point, frame, e)
    spins = [np.linalg.norm(m.angular_velocity) for m in point.state.motions.values()]
    fastest = float(max(spins) + abs(frame.rate))
    x, faster = np.abs(motion), np.abs(velocity) + fastest * np.abs(motion)
    load = e.mass @ acceleration + e.damping @ velocity + e.stiffness @ motion
    loads = np.abs(e.mass) @ (np.abs(acceleration) + fastest * faster) + np.abs(e.damping) @ faster
    loads += np.abs(e.stiffness) @ x
    allowed = (r.V @ r.N).T
    J, G, W, L, H = (np.abs(p) for p in (e.holonomic, e.nonholonomic, e.drift, e.own_position, e.own_velocity))
    rate = 1.0 / float(r.units[0]) if r.n_x else 1.0  # what velocities of the system are measured by
    inertia = np.abs(allowed) @ np.abs(e.mass)
    blocks = [
        (e.holonomic @ motion, J @ x, 0.0 * J @ x),
        (e.holonomic @ velocity, J @ faster, rate * J @ x),
        (e.nonholonomic @ velocity + e.drift @ motion, G @ faster + W @ x, rate * G @ x),
        (allowed @ load, np.abs(allowed) @ loads, rate**2 * inertia @ x),
        (e.own_position @ motion + e.own_velocity @ velocity, L @ x + H @ faster, rate * H @ x),
    ]
    test = np.vstack([measured(*block) for block in blocks])
    # V of V^T M V = 1 is known to EPSILON; where large inertias cancel in it, what they leave is known less well.
    rounded = 10.0 * EPSILON * float(np.linalg.norm(inertia @ np.abs(r.V), 2))
    tolerance = min(max(EXACT, rounded) + inexactness, WORST)
    found = _kept(test, tolerance)
    while found.shape[1]:  # the largest part that the state matrix carries over into itself
        Q, R = np.linalg.qr(r.state(motion @ found, velocity @ found))
        carried = r.balanced @ Q
        left = carried - Q @ (Q.T @ carried)
        lasting = _kept(measured(left, np.abs(r.balanced) @ np.abs(Q), np.abs(r.balanced)), tolerance)
        if lasting.shape[1] == found.shape[1]:
            break
        found = found @ np.linalg.lstsq(R, lasting, rcond=None)[0]
    found = readable(found, WORST).T  # each symmetry has a candidate of its own
    parts = np.abs(found)
    order = np.argsort(-parts, axis=0, kind="stable")
    words = [
        " with ".join(names[k] for k in ranked if column[k] > 1e-6)
        for ranked, column in zip(order.T.tolist(), parts.T.tolist(), strict=True)
    ]
    turn = frame.angular_velocity
    rates = [float(np.linalg.norm(m.angular_velocity - turn)) for m in point.state.motions.values()]
    return Symmetry(motion @ found, velocity @ found, words, [abs(frame.rate), *rates], tolerance)


def measured(rows: Array, terms: Array, others: Array) -> Array:
    """What is left of equations, relative to the largest of the terms that they consist of.

    Terms that are small against those of other equations, or against `others`, may be rounding of these.
    """
    sizes = terms.max(axis=1, initial=0.0, keepdims=True)
    sizes = np.maximum(sizes, ROUNDED * max(sizes.max(initial=0.0), others.max(initial=0.0)))
    return rows / np.where(sizes > 0.0, sizes, 1.0)


def _kept(test: Array, tolerance: float) -> Array:
    """Combinations (columns) that leave nothing of a test but rounding."""
    if not test.shape[1]:
        return np.zeros((0, 0))
    _, sizes, directions = np.linalg.svd(test, full_matrices=len(test) < test.shape[1])
    return directions[int(np.sum(sizes > tolerance * np.sqrt(len(test)))) :].T


class Candidate(NamedTuple):
    """A displacement or turn of the whole or a spin: xi, xi', xi'' (rows) in some places, along inertial axes."""

    name: str
    places: NDArray[np.int64]
    orders: Array


def tied_together(eq: Equations) -> list[list[str]]:
    """Names of the bodies that constraints and forces tie together, others than by the ground; at least one group."""
    tables = eq.tables
    owner = tables.marker_bodies()
    group = list(range(len(tables.bodies)))

    def first(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    links = [(link.i, link.j) for link in tables.constraints] + [(link.i, link.j) for link in tables.forces]
    for i, j in links:
        if owner[i] >= 0 and owner[j] >= 0:
            low, high = sorted((first(owner[i]), first(owner[j])))
            group[high] = low
    found: dict[int, list[str]] = {}
    for k, numbered in enumerate(tables.bodies):
        found.setdefault(first(k), []).append(numbered.body.name)
    return list(found.values())


def _whole(point: OperatingPoint, e: LinearEquations) -> Iterator[Candidate]:
    """Displacements of the whole, and its turns about the direction of gravity or, without it, about any.

    Bodies that nothing ties to others are a whole of their own.
    """
    groups = tied_together(point.eq)
    for names in groups:
        listed = ", ".join(repr(name) for name in names[:MENTIONED]) + (" …" if len(names) > MENTIONED else "")
        yield from _group(point, e, names, "the whole" if len(groups) == 1 else listed)


def _group(point: OperatingPoint, e: LinearEquations, names: list[str], called: str) -> Iterator[Candidate]:
    """Displacements and turns of some bodies together."""
    places = [e.places[name] for name in names]
    starts = np.array([place.start for place in places])
    turned = np.array([place.start + 3 for place in places if place.stop - place.start >= 6], np.int64)
    along = np.zeros((3, len(starts)))
    along[0] = 1.0
    for k, letter in enumerate("xyz"):
        yield Candidate(f"path: displacement of {called} along {letter}", starts + k, along)
    rows = (starts[:, None] + np.arange(3)).ravel()  # where displacements are, and where rotations are
    both = np.concatenate([rows, (turned[:, None] + np.arange(3)).ravel()])
    gravity = lifted(point.eq.system.gravity)
    motions, accelerations = point.state.motions, point.accelerations
    vectors = np.array([(motions[n].position, motions[n].velocity, accelerations[n][0]) for n in names])
    for axis in [-gravity / np.linalg.norm(gravity)] if np.any(gravity) else np.eye(3):
        direction = ", ".join(f"{x + 0.0:.4g}" for x in axis.tolist())
        orders = np.zeros((3, len(both)))
        orders[:, : len(rows)] = (vectors.transpose(1, 0, 2) @ skew(axis).T).reshape(3, -1)
        orders[0, len(rows) :] = np.tile(axis, len(turned))
        yield Candidate(f"heading: turn of {called} about ({direction})", both, orders)


def _spins(point: OperatingPoint, e: LinearEquations) -> Iterator[Candidate]:
    """Spins of round bodies about their own axes."""
    for b in point.eq.tables.bodies:
        if b.formulation.n_modes:  # deformations are not round
            continue
        name, place = b.body.name, e.places[b.body.name]
        axes = round_axes(*b.body.mass_properties()[1:])
        if not axes:
            continue
        m = point.state.motions[name]
        spin, speeding = skew(m.angular_velocity), skew(point.accelerations[name][1])
        for local, arm in axes:
            whole = m.rotation @ np.array([arm, local]).T
            orders = np.array([whole, spin @ whole, (speeding + spin @ spin) @ whole]).transpose(0, 2, 1).reshape(3, 6)
            yield Candidate(f"spin: turn of {name!r} about its own axis", place.start + np.arange(6), orders)


def explanation(point: OperatingPoint, e: LinearEquations, motion: NDArray[Any], displacements: bool = False) -> str:
    """Why a motion of a large system is ignorable, in words; empty if it is no displacement, turn or spin.

    With `displacements` only those of the whole are considered.
    """
    import scipy.sparse as sparse
    from scipy.sparse.linalg import lsmr

    found = list(_whole(point, e))
    found = [c for c in found if c.name.startswith("path")] if displacements else [*found, *_spins(point, e)]
    columns = np.repeat(np.arange(len(found)), [len(c.places) for c in found])
    entries = np.concatenate([c.orders[0] for c in found]), (np.concatenate([c.places for c in found]), columns)
    matrix = sparse.coo_array(entries, shape=(e.size, len(found))).tocsr()
    lengths = np.sqrt(np.asarray((matrix**2).sum(axis=0)).ravel())
    unit = matrix @ sparse.diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0))
    size = float(np.linalg.norm(motion))
    real, imaginary = (lsmr(unit, part, atol=1e-13, btol=1e-13)[0] for part in (motion.real, motion.imag))
    weights = real + 1j * imaginary
    if np.linalg.norm(unit @ weights - motion) > RECOGNIZED * size:
        return ""
    named = [k for k in np.argsort(-np.abs(weights), kind="stable") if abs(weights[k]) > 1e-3 * size]
    return " with ".join(found[k].name for k in named[:MENTIONED]) + (" and others" if len(named) > MENTIONED else "")


def _candidates(
    point: OperatingPoint, frame: TurningFrame, e: LinearEquations
) -> tuple[list[str], Array, Array, Array]:
    """Names, and xi, xi', xi'' in the frame's axes (columns), of displacements and turns of the whole and spins."""
    found = [*_whole(point, e), *_spins(point, e)]
    names = [c.name for c in found]
    orders = np.zeros((3, e.size, len(found)))
    for k, c in enumerate(found):
        orders[:, c.places, k] = c.orders
    motion, rate, bent = orders
    # In the frame's axes x = R^T xi.
    velocity, acceleration = rate, bent
    if frame.rate:
        S = turning(e.places, frame)
        velocity, acceleration = rate - S @ motion, bent - 2.0 * S @ rate + S @ S @ motion
    # A turn of everything and the opposite spins of all are no motion at all: keep what is independent.
    lengths = np.sqrt((motion * motion).sum(axis=0))
    still = lengths == 0.0  # a turn of a point about itself
    lengths[still] = 1.0
    states = np.concatenate([motion, velocity]).T / lengths[:, None]
    states[still] = 0.0
    kept: list[int] = []
    basis = np.zeros_like(states)  # rows
    for k, row in enumerate(states):
        rest = row - (basis[: len(kept)] @ row) @ basis[: len(kept)]
        size = rest @ rest
        if size > INDEPENDENT**2 * (row @ row):
            basis[len(kept)] = rest / np.sqrt(size)
            kept.append(k)
    kept_parts = (part[:, kept] / lengths[kept] for part in (motion, velocity, acceleration))
    return [names[k] for k in kept], *kept_parts


def round_axes(center: Array, inertia: Array) -> list[tuple[Array, Array]]:
    """Axes about which a body may spin unnoticed, and how its origin moves in a spin about them, in body axes."""
    about = _round_axes(inertia.tobytes())
    return [(axis, skew(center) @ axis) for axis in about]  # axis x (origin - centre)


@lru_cache(maxsize=1024)
def _round_axes(tensor: bytes) -> list[Array]:
    """The axes of the ellipsoid of inertia about which it is round; in a sweep most bodies stay as they are."""
    moments, axes = np.linalg.eigh(np.frombuffer(tensor).reshape(3, 3))
    largest = moments[-1]
    if largest <= 0.0:
        return []
    if moments[-1] - moments[0] <= ROUND * largest:
        return list(np.eye(3))
    if moments[1] - moments[0] <= ROUND * largest:
        return [axes[:, 2]]
    if moments[2] - moments[1] <= ROUND * largest:
        return [axes[:, 0]]
    return []
