"""Inertia shape integrals: all that the equations of motion need of a flexible body, whatever its number of nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..rotations import skew
from .mass_points import rigid_fields
from .modes import Modes

Array = NDArray[np.float64]

COMPONENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx, yy, zz, xy, xz, yz
ROUNDING = 1e-13  # below this, relative to what it is made of, an integral is zero: a coupling that is not there


@dataclass(frozen=True, eq=False)
class ModalInertia:
    """Integrals over the mass of a body with m shapes, about the origin and in the axes of its floating frame.

    A point at x moves by psi eta and turns by psi_theta eta. Where points have an inertia of their own (sections of
    Timoshenko beams, nodes of imported models) it turns with them, so that their angular velocity in their own axes is
    w + w x (psi_theta eta) + psi_theta eta'.

    Parameters
    ----------
    mass, moment, inertia
        Undeformed: mass (kg), first moment (kg m), inertia about the origin (kg m^2).
    modal_mass, stiffness, damping
        (m, m): M, K and D of the modal coordinates.
    moments
        S, (3, m): integral of psi dm, how the first moment changes with eta.
    spins
        (3, m): integral of x x psi dm, the angular momentum of eta'.
    spin_pairs
        (3 m, m): integral of psi_k x psi_l dm; component c of k, l in row 3 k + c, column l.
    gyro_pairs
        The same minus k and l exchanged.
    inertias
        (6, m): derivatives of the inertia (xx, yy, zz, xy, xz, yz) by eta, undeformed.
    inertia_pairs
        (6 m, m): its second derivatives; component c of k, l in row 6 k + c, column l.
    """

    mass: float
    moment: Array
    inertia: Array
    modal_mass: Array
    stiffness: Array
    damping: Array
    moments: Array
    spins: Array
    spin_pairs: Array
    gyro_pairs: Array
    inertias: Array
    inertia_pairs: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(value := getattr(self, field.name), np.ndarray):
                value = np.ascontiguousarray(value, float)
                value.flags.writeable = False
                object.__setattr__(self, field.name, value)

    @property
    def n_modes(self) -> int:
        """Number of shapes."""
        return len(self.stiffness)

    def addresses(self) -> dict[str, int]:
        """Where the matrices begin, for the rows of tables; they live as long as this object."""
        names = ("stiffness", "damping", "moments", "spins", "spin_pairs", "gyro_pairs", "inertias", "inertia_pairs")
        return {name: getattr(self, name).ctypes.data for name in names}

    @classmethod
    def of(cls, modes: Modes, damping_ratios: Any = 0.0, stiffening: bool = False) -> ModalInertia:
        """The integrals of some modes.

        `damping_ratios` (one, or one per mode in order of frequency) damp the vibrations of the shapes; `stiffening`
        adds what tension by centrifugal loads does: a rotation w of the frame then gives the stiffness w.C w, written
        as a second-order change of the inertia, so that it is exact in energy and costs nothing.
        """
        points, m = modes.component.mass_points, modes.count
        form = points.inertia
        shapes = (points.displacement @ modes.shapes).reshape(-1, 6, m)
        rigid = rigid_fields(points.positions).reshape(-1, 6)
        # w x u and w x theta for unit w, as columns (6 p, m, 3)
        swung = np.stack([_crossed(axis, shapes) for axis in np.eye(3)], axis=-1).reshape(-1, m, 3)
        flat = shapes.reshape(-1, m)
        loads, turns = form @ flat, form @ rigid
        whole = rigid.T @ turns
        moments = rigid[:, :3].T @ loads
        spins = rigid[:, 3:].T @ loads
        pairs = np.einsum("xkc,xl->kcl", swung, loads)
        once = np.einsum("xa,xkb->abk", turns[:, 3:], swung)
        weighted = (form @ swung.reshape(len(flat), -1)).reshape(swung.shape)
        twice = np.einsum("xka,xlb->kalb", swung, weighted)
        inertias = np.stack([once[a, b] + once[b, a] for a, b in COMPONENTS])
        second = np.stack([twice[:, a, :, b] + twice[:, b, :, a] for a, b in COMPONENTS], axis=1)
        modal_mass = flat.T @ loads
        mass, size = whole[0, 0], np.sqrt(np.maximum(np.diag(modal_mass), 0.0))
        largest = np.linalg.norm(whole[3:, 3:], 2)
        clean = {
            "moments": _cleaned(moments, np.sqrt(mass) * size),
            "spins": _cleaned(spins, np.sqrt(largest) * size),
            "inertias": _cleaned(inertias, np.sqrt(largest) * size),
            "spin_pairs": _cleaned(pairs, size[:, None, None] * size),
            "inertia_pairs": _cleaned(second, size[:, None, None] * size),
        }
        gyro = clean["spin_pairs"] - np.transpose(clean["spin_pairs"], (2, 1, 0))
        if stiffening:
            stiffer = np.stack([modes.centrifugal_stiffness[a, b] for a, b in COMPONENTS], axis=1)
            clean["inertia_pairs"] = clean["inertia_pairs"] - 2.0 * stiffer
        center = np.array([whole[1, 5], whole[2, 3], whole[0, 4]])  # m c, because a turn e moves the centre by e x c
        modal_mass = _cleaned(0.5 * (modal_mass + modal_mass.T), size[:, None] * size)
        return cls(
            mass=float(mass),
            moment=_cleaned(center, np.sqrt(mass * largest)),
            inertia=_cleaned(whole[3:, 3:], largest),
            modal_mass=modal_mass,
            stiffness=modes.stiffness,
            damping=modal_damping(modal_mass, modes.stiffness, damping_ratios),
            moments=clean["moments"],
            spins=clean["spins"],
            spin_pairs=clean["spin_pairs"].reshape(3 * m, m),
            gyro_pairs=gyro.reshape(3 * m, m),
            inertias=clean["inertias"],
            inertia_pairs=clean["inertia_pairs"].reshape(6 * m, m),
        )


def modal_damping(mass: Array, stiffness: Array, ratios: Any) -> Array:
    """D with D phi_k = 2 zeta_k omega_k M phi_k for the vibrations phi_k of M and K."""
    if not np.any(ratios) or not len(mass):
        return np.zeros_like(stiffness)
    squares, vectors = linalg.eigh(stiffness, mass)
    carried = mass @ vectors
    return (carried * (2.0 * np.broadcast_to(ratios, len(mass)) * np.sqrt(np.maximum(squares, 0.0)))) @ carried.T


def _crossed(axis: Array, shapes: Array) -> Array:
    """axis x displacement and axis x rotation of points (p, 6, m)."""
    vectors = shapes.reshape(len(shapes), 2, 3, -1)
    return np.einsum("ij,pbjk->pbik", skew(axis), vectors).reshape(shapes.shape)


def _cleaned(values: Array, scale: Any) -> Array:
    return np.where(np.abs(values) > ROUNDING * scale, values, 0.0)
