"""What small motions of a rotor look like: displacements of its parts, taken apart into circles about its axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...bodies.flexible import FlexibleBody
from ...rotations import skew
from ...state import State
from ...system import System

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

NODES: Final = 24
"""Nodes of a flexible body that are looked at."""
THIN: Final = 1e-6
"""Least part of the largest moment of inertia that counts for turns of nodes."""


def circles(axis: Array, seen: Complex) -> Complex:
    """(3, vectors, modes): circles forward and backward about an axis, and the parts along it, of vectors (rows)."""
    first = np.eye(3)[np.argmin(np.abs(axis))]
    first = first - (first @ axis) * axis
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    vectors = seen.reshape(-1, 3, seen.shape[1])
    x, y, z = (np.einsum("c,ncm->nm", direction, vectors) for direction in (first, second, axis))
    return np.array([(x + 1j * y) / np.sqrt(2.0), (x - 1j * y) / np.sqrt(2.0), z])


def observed(state: State, places: Mapping[str, slice], system: System) -> Array:
    """Displacements and turns of all bodies by their small motions, three rows each, measured by their masses.

    Those of a flexible body are the displacements and turns of its nodes: torsion moves no node of a straight shaft.
    """
    rows = []
    for body in system.bodies:
        place, motion = places[body.name], state.motions[body.name]
        n = place.stop - place.start
        size = places[list(places)[-1]].stop

        def row(part: Array, first: slice, size: int = size) -> Array:
            whole = np.zeros((3, size))
            whole[:, first] = part
            return whole

        mass, _, inertia = body.mass_properties()
        if isinstance(body, FlexibleBody):
            nodes = body.modes.component.nodes
            moments = np.linalg.eigvalsh(inertia)
            turned = np.sqrt(max(moments[0], THIN * moments[-1]) / min(len(nodes), NODES))
            for k in np.unique(np.linspace(0, len(nodes) - 1, NODES).astype(int)).tolist():
                arm = motion.rotation @ nodes[k]
                shape = body.used_modes.motion_at(k)
                whole = np.hstack([np.eye(3), -skew(arm), motion.rotation @ shape[:3]])
                rows.append(np.sqrt(mass / min(len(nodes), NODES)) * row(whole, place))
                if body.modes.component.freedoms_per_node == 6:
                    whole = np.hstack([np.zeros((3, 3)), np.eye(3), motion.rotation @ shape[3:]])
                    rows.append(turned * row(whole, place))
            continue
        rows.append(np.sqrt(mass) * row(np.eye(3), slice(place.start, place.start + 3)))
        if n >= 6:
            turns = slice(place.start + 3, place.start + 6)
            rows.append(np.sqrt(max(np.trace(np.atleast_2d(inertia)), 0.0) / 3.0) * row(np.eye(3), turns))
    return np.vstack(rows)
