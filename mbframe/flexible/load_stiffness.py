"""How loads along a component change its resistance against bending: what linear theory leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .component import Component
from .modes import Modes

Array = NDArray[np.float64]

SOFTEST = 12  # deformations that are looked at: those that turn nodes most for their elastic energy
PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
SLENDER = 3.0  # radii of gyration along and across a solid: where it is longer than that, it has an axis to twist about


class LoadStiffness:
    r"""The stiffness that unit loads add to the softest deformations of some modes, relative to their own.

    With the displacement u = \psi \eta + 1/2 \eta^T g \eta (`Modes.curves`) a load f has the potential energy
    -1/2 \eta^T (f.g) \eta, which linear theory leaves out: the stiffness -f.g. The deformations are normalized to a
    stiffness of 1, so that an eigenvalue of a sum of these matrices is the part by which the loads stiffen the body
    (positive: they pull) or soften it (negative; at -1 it buckles). Weight and accelerations of the whole body need no
    terms of their own: they balance the other loads, and g has no momentum. `motions` (6 + m, k) are those of frame and
    shapes that the surroundings of the body allow: a clamped column, a pinned and a free one differ by them.

    The deformations are combinations of the motions: `vectors` (k, l), by default those of `softest`. Where several
    bodies deform together, those of all of them are given to each; the sum of their matrices is that of all loads then.

    All arrays have two such matrices for each load. The first is that of loads along the body. The second is the
    rest, by which loads across it and torques couple twist and bending, as in a girder that tips over sideways: one
    mixture of the two loses the share s and another gains it, and each of them by itself changes by s^2. For beams the
    first has what stretches them (`Modes.shortened`). Slender solids have their first matrix among the deformations
    that twist, and among those that do not; others have no second one. A beam of the second moments I > J bends under
    such a load, which takes away J/I of s^2: one that is as stiff in all directions does not tip.

    spin
        (2, 6, k, k): for the products w_x^2, w_y^2, w_z^2, w_x w_y, w_x w_z, w_y w_z of a rotation, whose centrifugal
        forces pull.
    inertia
        (2, m, k, k): for accelerations of the modal coordinates.
    """

    def __init__(self, modes: Modes, motions: Array, vectors: Array | None = None) -> None:
        seen = _seen(modes, motions)
        vectors = softest([(modes, motions)]) if vectors is None else vectors
        self._modes = replace(modes, shapes=seen @ vectors, frequencies=np.zeros(vectors.shape[1]))
        self._parts: Array = (motions[6:] @ vectors).T @ modes.stiffness
        self._apart, self._tips = _apart(self._modes), _tips(modes.component)
        self._at: dict[int, Array] = {}
        points, pulls = modes.component.mass_points, []
        for a, b in PRODUCTS:
            spin = np.zeros((3, 3))
            spin[a, b] = spin[b, a] = 1.0
            field = np.zeros((len(points.positions), 6))
            field[:, :3] = points.positions @ (np.trace(spin) * np.eye(3) - spin)  # -w x (w x x)
            pulls.append(points.displacement.T @ (points.inertia @ field.ravel()))
        self.spin: Array = -self._work(np.array(pulls))
        self.inertia: Array = self._work((modes.component.mass_matrix @ modes.shapes).T)

    def at(self, place: int) -> Array:
        """(2, 6, k, k): for forces and torques at a node or interface point, in component axes."""
        if place not in self._at:
            along, rest = self._work(self._modes.component.motion_at(place).toarray())
            bend, own = self._modes.bend_at(place), self._apart
            if self._modes.component.beams is not None:  # finite turns are met by torques, which do not pull
                own = np.broadcast_to(np.arange(6)[:, None, None] < 3, bend.shape)
            self._at[place] = -np.stack([along + bend * own, rest + self._tips * bend * ~own])
        return self._at[place]

    def shortening(self, first: int, other: int) -> Array:
        """(k, k): what two places come nearer by, as a form of deformations, and what a unit tension there adds."""
        places = self._modes.component.positions
        direction = (places[other] - places[first]) / np.linalg.norm(places[other] - places[first])
        return np.tensordot(direction, (self.at(other) - self.at(first))[0, :3], axes=1)

    def deformation(self, modal: Array) -> Array:
        """(k,): modal coordinates as parts of the deformations; of columns, (k, n)."""
        return self._parts @ modal

    def _work(self, loads: Array) -> Array:
        """(2, n, k, k): the work of n loads on all freedoms on g, along the body and the rest."""
        whole, along = (np.tensordot(loads, g, axes=1) for g in (self._modes.curves, self._modes.shortened))
        along = along * self._apart
        return np.stack([along, self._tips * (whole - along)])


def softest(bodies: list[tuple[Modes, Array]]) -> Array:
    """(k, l): the combinations of motions that turn nodes most for their elastic energy, which is normalized to 1/2.

    `bodies` are modes with what each of them does in the k motions, (6 + m, k).
    """
    turns: Array = np.concatenate(
        [
            replace(modes, shapes=_seen(modes, motions)).some_rotations.reshape(-1, motions.shape[1])
            for modes, motions in bodies
        ]
    )
    stiffness = sum(motions[6:].T @ modes.stiffness @ motions[6:] for modes, motions in bodies)
    return np.asarray(linalg.eigh(turns.T @ turns, stiffness)[1][:, -SOFTEST:])


def _seen(modes: Modes, motions: Array) -> Array:
    """How all freedoms move in some motions of frame and shapes."""
    return np.asarray(modes.component.rigid_modes() @ motions[:6] + modes.shapes @ motions[6:])


def _apart(modes: Modes) -> NDArray[np.bool_]:
    """(k, k): which pairs of deformations are not one that twists the body and one that does not; beams know better."""
    both = np.ones((modes.count, modes.count), bool)
    axis = None if modes.component.beams is not None else _long_axis(modes.component)
    if axis is None:
        return both
    turns = modes.some_rotations
    twisting = 2.0 * np.sum(np.einsum("i,nik->nk", axis, turns) ** 2, axis=0) > np.sum(turns**2, axis=(0, 1))
    return twisting[:, None] == twisting


def _tips(component: Component) -> float:
    """Which part of its share a load across the component counts: the root of 1 - J/I of its beams."""
    if (beams := component.beams) is None:
        return 1.0
    first, other = beams.second_moment_y, beams.second_moment_z
    return float(np.sqrt(np.max(1.0 - np.minimum(first, other) / np.maximum(first, other))))


def _long_axis(component: Component) -> Array | None:
    """The axis along which a component is slender; None if it has none."""
    moments, axes = np.linalg.eigh(component.inertia)
    spread = 0.5 * moments.sum() - moments  # integral of x^2 dm along the axes, the largest first
    return axes[:, 0] if spread[0] > SLENDER**2 * spread[1] else None
