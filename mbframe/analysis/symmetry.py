"""Ignorable roots: changes that nothing resists, because the system looks the same after them.

A bicycle may stand elsewhere, head elsewhere, have its wheels turned, and run a little faster: six of its ten roots
are zero and say nothing about balance. They form Jordan blocks (who heads elsewhere moves away steadily) and would come
out of an eigenvalue solver as a cloud of radius 1e-7, so they are recognized by what they are and split off exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..plane import lifted
from ..rotations import skew
from .freedom import readable
from .linear_equations import LinearEquations, OperatingPoint, TurningFrame, collected, turning
from .reduction import Reduction

Array = NDArray[np.float64]

SYMMETRIC = 1e-8  # relative residual of the equations up to which a motion counts as a symmetry
INDEPENDENT = 1e-9
ROUND = 1e-6  # relative difference of two moments of inertia that makes a body unsymmetric


@dataclass(frozen=True)
class Symmetry:
    """Small motions (columns) that carry a motion of the system over into another one of its motions."""

    motion: Array
    velocity: Array
    names: list[str]


def symmetries(point: OperatingPoint, frame: TurningFrame, e: LinearEquations, r: Reduction) -> Symmetry:
    """The symmetries of the equations among displacements and turns of the whole and spins of round bodies.

    A turn of the whole is considered only about the direction of gravity: others may leave the linear equations alone
    at a critical speed, but never the system.
    """
    names, motion, velocity, acceleration = _candidates(point, frame, e)
    load = e.mass @ acceleration + e.damping @ velocity + e.stiffness @ motion
    allowed = (r.V @ r.N).T
    blocks = [
        (e.holonomic @ motion, np.linalg.norm(e.holonomic)),
        (e.nonholonomic @ velocity + e.drift @ motion, np.linalg.norm(e.nonholonomic) + np.linalg.norm(e.drift)),
        (allowed @ load, np.linalg.norm(r.A)),
        (e.own_position @ motion + e.own_velocity @ velocity, np.linalg.norm(r.A)),
    ]
    test = np.vstack([block / (scale or 1.0) for block, scale in blocks])
    _, sizes, directions = np.linalg.svd(test)
    rank = int(np.sum(sizes > SYMMETRIC))
    found = readable(directions[rank:].T, SYMMETRIC).T  # each symmetry has a candidate of its own
    words = [
        " with ".join(names[k] for k in np.argsort(-np.abs(column), kind="stable") if abs(column[k]) > 1e-6)
        for column in found.T
    ]
    return Symmetry(motion @ found, velocity @ found, words)


def _candidates(
    point: OperatingPoint, frame: TurningFrame, e: LinearEquations
) -> tuple[list[str], Array, Array, Array]:
    """Names, and xi, xi', xi'' in the frame's axes (columns), of displacements and turns of the whole and spins."""
    motions, accelerations = point.state.motions, point.accelerations
    names: list[str] = []
    columns: list[list[Array]] = []  # xi, xi', xi'' along inertial axes
    none = np.zeros(3)

    def add(name: str, *orders: Mapping[str, tuple[Array, Array]]) -> None:
        names.append(name)
        columns.append([collected(e.places, parts) if parts else np.zeros(e.size) for parts in orders])

    for axis, letter in zip(np.eye(3), "xyz", strict=True):
        add(f"path: displacement of the whole along {letter}", dict.fromkeys(motions, (axis, none)), {}, {})
    gravity = lifted(point.eq.system.gravity)
    for axis in [-gravity / np.linalg.norm(gravity)] if np.any(gravity) else np.eye(3):
        turn = skew(axis)
        direction = ", ".join(f"{x + 0.0:.4g}" for x in axis)
        add(
            f"heading: turn of the whole about ({direction})",
            {n: (turn @ m.position, axis) for n, m in motions.items()},
            {n: (turn @ m.velocity, none) for n, m in motions.items()},
            {n: (turn @ accelerations[n][0], none) for n in motions},
        )
    for b in point.eq.tables.bodies:
        if b.formulation.n_modes:  # deformations are not round
            continue
        name = b.body.name
        m = motions[name]
        spin = skew(m.angular_velocity)
        bend = skew(accelerations[name][1]) + spin @ spin
        for local, arm in round_axes(*b.body.mass_properties()[1:]):
            fixed = m.rotation @ arm, m.rotation @ local
            orders = [{name: (order @ fixed[0], order @ fixed[1])} for order in (np.eye(3), spin, bend)]
            add(f"spin: turn of {name!r} about its own axis", *orders)
    motion, rate, bent = (np.array(part).T for part in zip(*columns, strict=True))
    # In the frame's axes x = R^T xi.
    S = turning(e.places, frame)
    velocity, acceleration = rate - S @ motion, bent - 2.0 * S @ rate + S @ S @ motion
    # A turn of everything and the opposite spins of all are no motion at all: keep what is independent.
    states, kept = np.vstack([motion, velocity]) / np.linalg.norm(motion, axis=0), []
    basis = np.zeros((len(states), 0))
    for k, column in enumerate(states.T):
        rest = column - basis @ (basis.T @ column)
        if np.linalg.norm(rest) > INDEPENDENT * np.linalg.norm(column):
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
            kept.append(k)
    scale = np.linalg.norm(motion[:, kept], axis=0)
    parts = (part[:, kept] / scale for part in (motion, velocity, acceleration))
    return [names[k] for k in kept], *parts


def round_axes(center: Array, inertia: Array) -> list[tuple[Array, Array]]:
    """Axes about which a body may spin unnoticed, and how its origin moves in a spin about them, in body axes."""
    moments, axes = np.linalg.eigh(inertia)
    largest = moments[-1]
    if largest <= 0.0:
        return []
    if moments[-1] - moments[0] <= ROUND * largest:
        chosen = np.eye(3)
    elif moments[1] - moments[0] <= ROUND * largest:
        chosen = axes[:, [2]].T
    elif moments[2] - moments[1] <= ROUND * largest:
        chosen = axes[:, [0]].T
    else:
        return []
    return [(axis, np.cross(center, axis)) for axis in chosen]  # axis x (origin - centre)
