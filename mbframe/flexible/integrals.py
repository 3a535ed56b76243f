"""Inertia shape integrals: all that the equations of motion need of a flexible body, whatever its number of nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..rotations import skew
from .mass_points import rigid_fields
from .modes import Modes

Array = NDArray[np.float64]

COMPONENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx, yy, zz, xy, xz, yz
ROUNDING = 1e-13  # below this, relative to what it is made of, an integral is zero: a coupling that is not there


@dataclass(frozen=True, eq=False)
class ModalInertia:
    """Integrals over the mass of a body with m shapes, about the origin and in the axes of its floating frame.

    A point at x moves by u = psi eta and turns by exp(e~), e = psi_theta eta. Inertia of the points themselves
    (sections of beams, disks, nodes of imported models) turns with them: it meets velocity and angular velocity in the
    point's own axes, exp(-e~) (w x (y + u) + u') and exp(-e~) w + J(-e) e', where y and u count from the moving centre
    of mass, whose own motion is exact. The kinetic energy is kept to second order in eta and eta' together, so that a
    spinning section has its gyroscopic moment: its angular velocity is w - e x w + 1/2 e x (e x w) + e' - 1/2 e x e'.

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
        (3 m, m): integral of psi_k x psi_l dm, and -1/2 (J e_c).(psi_theta_k x psi_theta_l) + (e_c x psi_theta_k).J
        psi_theta_l of inertias J; component c of k, l in row 3 k + c, column l.
    gyro_pairs
        The same minus k and l exchanged.
    inertias
        (6, m): derivatives of the inertia (xx, yy, zz, xy, xz, yz) by eta, undeformed.
    inertia_pairs
        (6 m, m): its second derivatives; component c of k, l in row 6 k + c, column l.
    curves_turn
        Whether the quadratic displacements of geometric stiffening turn nodes, as they do in bent frames of beams.
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
    curves_turn: bool = False

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
        names = (
            "stiffness",
            "damping",
            "moments",
            "spins",
            "spin_pairs",
            "gyro_pairs",
            "inertias",
            "inertia_pairs",
        )
        return {name: getattr(self, name).ctypes.data for name in names}

    @classmethod
    def of(
        cls, modes: Modes, damping_ratios: Any = 0.0, stiffening: bool = False, made: Modes | None = None
    ) -> ModalInertia:
        """The integrals of some modes.

        `damping_ratios` (one, or one per mode in order of frequency) damp the vibrations of the shapes as they were
        `made`, of which `modes` are those seen from another frame: deformations are damped alike in all. With
        `stiffening` points move by u = psi eta + 1/2 eta^T g eta: see `Modes.curves`. In mean axes, which it needs, g
        carries no momentum; to second order it changes the inertia only.
        """
        points, m = modes.component.mass_points, modes.count
        form = points.inertia
        shapes = (points.displacement @ modes.shapes).reshape(-1, 6, m)
        translations = rigid_fields(points.positions).reshape(-1, 6)[:, :3]
        carried = form @ translations
        mass = float(carried[:, 0] @ translations[:, 0])
        turned = carried.T @ rigid_fields(points.positions).reshape(-1, 6)[:, 3:]
        center = np.array([turned[1, 2], turned[2, 0], turned[0, 1]]) / mass  # a turn e moves the centre by e x c
        moments = carried.T @ shapes.reshape(-1, m)
        drift = np.concatenate([moments / mass, np.zeros_like(moments)])
        parts = [
            _AboutCentre(part, points.positions - center, shapes - drift, turning)
            for part, turning in zip(_by_direction(form), (False, True), strict=True)
            if part.nnz
        ]
        # The centre of mass is at center + moments eta / mass: its share is that of one point, wherever the origin is.
        first, other = moments[:, :, None], moments[:, None, :]
        modal_mass = moments.T @ moments / mass + sum(part.modal_mass() for part in parts)
        spins = np.cross(center, moments, axisb=0, axisc=0) + sum(part.spins() for part in parts)
        pairs = np.cross(first, other, axis=0).swapaxes(0, 1) / mass + sum(part.spin_pairs() for part in parts)
        whole = mass * _swing(center, center) + sum(part.inertia() for part in parts)
        once = 2.0 * _swing(center[:, None], moments) + sum(part.inertias() for part in parts)
        twice = 2.0 * _swing(first, other) / mass + sum(part.inertia_pairs() for part in parts)
        if stiffening:
            # w x g, once in w_0^T M w_1 as the derivatives of the inertia by eta have it; g has no momentum
            momenta = form @ rigid_fields(points.positions).reshape(-1, 6)[:, 3:]
            curves = (points.displacement @ modes.curves.reshape(-1, m * m)).reshape(-1, 2, 3, m * m)
            swung = np.stack([np.einsum("xy,pbyk->pbxk", skew(axis), curves) for axis in np.eye(3)], axis=-1)
            tension = np.tensordot(momenta, swung.reshape(len(momenta), m * m, 3), (0, 0)).swapaxes(1, 2)
            twice = twice + (tension + tension.swapaxes(0, 1)).reshape(3, 3, m, m)
        inertias = np.stack([once[a, b] for a, b in COMPONENTS])
        second = np.stack([twice[a, b] for a, b in COMPONENTS], axis=1)
        size = np.sqrt(np.maximum(np.diag(modal_mass), 0.0))
        largest = np.linalg.norm(whole, 2)
        clean = {
            "moments": _cleaned(moments, np.sqrt(mass) * size),
            "spins": _cleaned(spins, np.sqrt(largest) * size),
            "inertias": _cleaned(inertias, np.sqrt(largest) * size),
            "spin_pairs": _cleaned(pairs, size[:, None, None] * size),
            "inertia_pairs": _cleaned(second, size[:, None, None] * size),
        }
        gyro = clean["spin_pairs"] - np.transpose(clean["spin_pairs"], (2, 1, 0))
        modal_mass = _cleaned(0.5 * (modal_mass + modal_mass.T), size[:, None] * size)
        return cls(
            mass=mass,
            moment=_cleaned(mass * center, np.sqrt(mass * largest)),
            inertia=_cleaned(whole, largest),
            modal_mass=modal_mass,
            stiffness=modes.stiffness,
            damping=modal_damping(
                modal_mass if made is None or made.count != m else made.mass, modes.stiffness, damping_ratios
            ),
            moments=clean["moments"],
            spins=clean["spins"],
            spin_pairs=clean["spin_pairs"].reshape(3 * m, m),
            gyro_pairs=gyro.reshape(3 * m, m),
            inertias=clean["inertias"],
            inertia_pairs=clean["inertia_pairs"].reshape(6 * m, m),
            curves_turn=stiffening and _turns(modes),
        )


def _turns(modes: Modes) -> bool:
    """Whether the quadratic displacements turn nodes or interface points; in solids these always do."""
    part, m = modes.component, modes.count
    if part.freedoms_per_node == 3 or np.any(modes.curves.reshape(-1, 6, m, m)[:, 3:]):
        return True
    return any(np.any(modes.curve_at(len(part.nodes) + k)[3:]) for k in range(len(part.interface_points)))


class _AboutCentre:
    """Integrals of points that move relative to the body's moving centre of mass, to second order in eta and eta'.

    Velocities and angular velocities in the points' own axes, with y from the centre and u relative to it, are

        w_0 = (w x y, w)
        w_1 = (w x u - e x (w x y) + u', w x e + e')
        w_2 = (-e x (w x u + u') + 1/2 e x (e x (w x y)), 1/2 e x (e x w) - 1/2 e x e')

    and the kinetic energy 1/2 (w_0 + w_1)^T M (w_0 + w_1) + w_0^T M w_2 with the form M between the points. A form of
    translations that takes all directions alike needs no turning: velocities stay as they are.
    """

    def __init__(self, form: Any, places: Array, relative: Array, turning: bool) -> None:
        self.form = form
        p, m = len(places), relative.shape[2]
        moves, turns = relative[:, :3], relative[:, 3:] * float(turning)
        axes = np.eye(3)
        lever = np.cross(axes, places[:, None]).transpose(0, 2, 1)  # w x y for unit w, (p, 3, 3)
        rigid = np.concatenate([lever, np.broadcast_to(axes, (p, 3, 3))], axis=1)
        self.rigid = rigid.reshape(-1, 3)
        self.momenta = form @ self.rigid
        self.flat = relative.reshape(-1, m)
        self.loads = form @ self.flat
        # per unit eta_k and w_b, (p, 3, m, 3): w x u, w x e and e x (w x y)
        moved, tilted = (
            np.stack([np.einsum("xy,pyk->pxk", skew(axis), part) for axis in axes], axis=-1) for part in (moves, turns)
        )
        swept = np.cross(turns[:, :, :, None], lever[:, :, None, :], axis=1)
        self.swung = np.concatenate([moved - swept, tilted], axis=1).reshape(-1, m, 3)
        # of w_2, per unit eta_l: what stands after -e x in the part with w and, for the energy of w_0, with eta'
        self.bent = np.concatenate([moved - 0.5 * swept, 0.5 * tilted], axis=1).reshape(-1, m, 3)
        self.rates = np.concatenate([moves, 0.5 * turns], axis=1).reshape(-1, m)
        # e_k x (momentum of w_0 for unit w_a): p.(-e x z) = (e x p).z
        momenta = self.momenta.reshape(p, 2, 3, 3)
        self.twisted = np.cross(turns[:, None, :, :, None], momenta[:, :, :, None, :], axis=2).reshape(-1, m, 3)

    def inertia(self) -> Array:
        """(3, 3): undeformed."""
        return self.rigid.T @ self.momenta

    def modal_mass(self) -> Array:
        """(m, m)."""
        return self.flat.T @ self.loads

    def spins(self) -> Array:
        """(3, m)."""
        return self.momenta.T @ self.flat

    def spin_pairs(self) -> Array:
        """(m, 3, m): of eta_k, w_c and eta'_l."""
        return np.tensordot(self.swung, self.loads, (0, 0)) + np.tensordot(self.twisted, self.rates, (0, 0))

    def inertias(self) -> Array:
        """(3, 3, m): derivatives of the inertia by eta, undeformed."""
        once = np.tensordot(self.momenta, self.swung, (0, 0)).swapaxes(1, 2)
        return once + once.swapaxes(0, 1)

    def inertia_pairs(self) -> Array:
        """(3, 3, m, m): its second derivatives."""
        weighted = (self.form @ self.swung.reshape(len(self.flat), -1)).reshape(self.swung.shape)
        half = 0.5 * np.tensordot(self.swung, weighted, (0, 0)) + np.tensordot(self.twisted, self.bent, (0, 0))
        half = half.transpose(1, 3, 0, 2)
        half = half + half.swapaxes(0, 1)
        return half + half.swapaxes(2, 3)


def _by_direction(form: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
    """A form between points (6p, 6p) as one of translations that takes all directions alike, and what is left of it.

    All of the mass of solids and beams is in the first; inertia of sections, disks and nodes is in the second, and what
    an imported mass matrix makes of directions and of translations with rotations.
    """
    whole = sparse.coo_array(form)
    row, column = whole.row % 6, whole.col % 6
    own = (row == column) & (row < 3)
    count = form.shape[0] // 6
    places = (whole.row[own] // 6, whole.col[own] // 6)
    mean = sparse.coo_array((whole.data[own] / 3.0, places), shape=(count, count))
    alike = sparse.csr_array(sparse.kron(mean, np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])))
    rest = sparse.coo_array(form - alike)
    kept = (rest.row % 6 > 2) | (rest.col % 6 > 2) | (np.abs(rest.data) > ROUNDING * np.abs(mean).max())
    kept &= rest.data != 0.0
    places = (rest.row[kept], rest.col[kept])
    return alike, sparse.csr_array(sparse.coo_array((rest.data[kept], places), shape=form.shape))


def _swing(a: Array, b: Array) -> Array:
    """(3, 3, ...): the symmetric part of (a.b) 1 - a b^T, the inertia of a point at a and b = a per unit mass."""
    a, b = np.broadcast_arrays(a, b)
    outer = a[:, None] * b[None]
    unit = np.eye(3).reshape(3, 3, *(1,) * (a.ndim - 1))
    return unit * np.sum(a * b, axis=0) - 0.5 * (outer + outer.swapaxes(0, 1))


def modal_damping(mass: Array, stiffness: Array, ratios: Any) -> Array:
    """D with D phi_k = 2 zeta_k omega_k M phi_k for the vibrations phi_k of M and K."""
    if not np.any(ratios) or not len(mass):
        return np.zeros_like(stiffness)
    squares, vectors = linalg.eigh(stiffness, mass)
    carried = mass @ vectors
    return (carried * (2.0 * np.broadcast_to(ratios, len(mass)) * np.sqrt(np.maximum(squares, 0.0)))) @ carried.T


def _cleaned(values: Array, scale: Any) -> Array:
    return np.where(np.abs(values) > ROUNDING * scale, values, 0.0)
