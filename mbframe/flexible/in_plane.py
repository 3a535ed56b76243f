"""Components that move in the plane z = 0: which of their shapes stay in it, and what the equations need of these."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .component import Component
from .integrals import ModalInertia
from .modes import Modes, orthonormal_modes
from .problems import wrong

Array = NDArray[np.float64]

WITHIN = (0, 1, 5)  # of the six freedoms of a place: ux, uy and rz
MIRRORED = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])  # what a mirror in the plane z = 0 does to them
SAME = 1e-8  # of the extent: two places are one; of a matrix or a shape: they are the same mirrored
PURE = 1e-6  # part of a shape out of the plane, below which it is rounding of the eigenvalue problem

_known: WeakKeyDictionary[Modes, InPlaneModes] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class InPlaneModes:
    """The shapes of a component that are their own image in a mirror at z = 0: with them it stays in the plane.

    A component that is its own mirror image, matrices and all, moves in the plane for ever if it begins there; each of
    its vibrations stays in the plane or leaves it.

    Parameters
    ----------
    modes
        Shapes that stay in it.
    left_out
        Numbers of the given shapes that leave it.
    """

    modes: Modes
    left_out: tuple[int, ...]

    @classmethod
    def of(cls, modes: Modes) -> InPlaneModes:
        """Those among some modes, found once; a `ModelError` if the component is not its own mirror image."""
        if modes not in _known:
            _known[modes] = cls._found(modes)
        return _known[modes]

    @classmethod
    def _found(cls, modes: Modes) -> InPlaneModes:
        part = modes.component
        mirror = _mirror(part)
        for name in ("mass_matrix", "stiffness_matrix"):
            _check_alike(part, name, mirror)
        size = np.linalg.norm(modes.shapes, axis=0)
        out = 0.5 * (modes.shapes - mirror @ modes.shapes) / np.where(size > 0.0, size, 1.0)
        pure = np.linalg.norm(out, axis=0) <= PURE
        _, values, directions = linalg.svd(out.T @ out)
        within = directions[np.sqrt(values) <= PURE]
        left = tuple(np.flatnonzero(~pure).tolist())
        if not len(within):
            least = float(np.linalg.norm(out, axis=0).min(initial=1.0))
            raise wrong(
                "PlanarFlexibleBody",
                "modes",
                f"all {modes.count} shapes leave the plane z = 0, each by {100.0 * least:.3g} % or more; make modes "
                "in which the component bends in its own x-y plane",
            )
        if len(within) == int(pure.sum()):
            return cls(replace(modes, shapes=modes.shapes[:, pure], frequencies=modes.frequencies[pure]), left)
        # Some shapes are mixtures, of which parts stay in the plane.
        shapes = modes.shapes / np.where(size > 0.0, size, 1.0) @ within.T
        shapes, frequencies = orthonormal_modes(part, 0.5 * (shapes + mirror @ shapes))
        return cls(replace(modes, shapes=shapes, frequencies=frequencies), left)


def within_plane(shape: Array) -> Array:
    """A node's shape (see `FlexibleBody.node_shape`) without what leaves the plane: 3 rows of every 6."""
    rows = shape.reshape(-1, 6, shape.shape[1])
    return np.ascontiguousarray(rows[:, WITHIN].reshape(-1, shape.shape[1]))


def _mirror(part: Component) -> sparse.csr_array:
    """(n_freedoms, n_freedoms): the image of a displacement in a mirror at z = 0."""
    from scipy.spatial import cKDTree

    image = part.nodes * [1.0, 1.0, -1.0]
    distances, partners = cKDTree(part.nodes).query(image)
    if distances.max() > SAME * part.extent:
        k = int(distances.argmax())
        raise wrong(
            "PlanarFlexibleBody",
            "modes",
            f"node {k} at {part.nodes[k].tolist()} m has no image in a mirror at z = 0 (the nearest node is "
            f"{distances[k]:.3g} m away from it); a planar body needs a component that is the same above and below the "
            "plane z = 0 of its axes: make it there, or use a FlexibleBody",
        )
    per_node, count = part.freedoms_per_node, len(part.nodes)
    freedoms = np.arange(per_node)
    rows = (per_node * np.arange(count)[:, None] + freedoms).ravel()
    columns = (per_node * partners[:, None] + freedoms).ravel()
    signs = np.tile(MIRRORED[:per_node], count)
    return sparse.csr_array((signs, (rows, columns)), shape=(part.n_freedoms, part.n_freedoms))


def _check_alike(part: Component, name: str, mirror: sparse.csr_array) -> None:
    """A `ModelError` unless a matrix is the same mirrored."""
    matrix = getattr(part, name)
    off = sparse.coo_array(mirror @ matrix @ mirror.T - matrix)
    size = np.sqrt(np.abs(matrix.diagonal()))
    relative = np.abs(off.data) / np.maximum(size[off.row] * size[off.col], np.finfo(float).tiny)
    if not relative.max(initial=0.0) > SAME:
        return
    worst = int(relative.argmax())
    node = int(off.row[worst]) // part.freedoms_per_node
    raise wrong(
        "PlanarFlexibleBody",
        "modes",
        f"the {name} of its component changes in a mirror at z = 0, most at node {node} (by {relative[worst]:.3g} of "
        "its own size), so that it leaves the plane when it bends in it; turn its sections so that a principal axis is "
        "normal to the plane, put what is heavy into it, or use a FlexibleBody",
    )


@dataclass(frozen=True, eq=False)
class PlanarInertia:
    """Of `ModalInertia`, what moves in the plane: components x and y of moments, z of spins and inertias.

    Parameters
    ----------
    mass, moment, inertia
        Undeformed: mass (kg), first moment (2,) and moment of inertia about the origin, kg m^2.
    modal_mass, stiffness, damping
        (m, m): M, K and D of the modal coordinates.
    moments
        S, (2, m): how the first moment changes with eta.
    spins
        (m,): H, the angular momentum of eta' about the origin, undeformed.
    spin_pairs
        (m, m): dH_l / d eta_k in row k, column l.
    inertias
        (m,): derivatives of the inertia by eta, undeformed.
    inertia_pairs
        (m, m): its second derivatives.
    curves_turn
        As for `ModalInertia`.
    """

    mass: float
    moment: Array
    inertia: float
    modal_mass: Array
    stiffness: Array
    damping: Array
    moments: Array
    spins: Array
    spin_pairs: Array
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
        names = ("stiffness", "damping", "moments", "spins", "spin_pairs", "inertias", "inertia_pairs")
        return {name: getattr(self, name).ctypes.data for name in names}

    @classmethod
    def of(cls, modes: Modes, damping_ratios: Any, stiffening: bool, made: Modes) -> PlanarInertia:
        """The integrals of modes that stay in the plane; see `ModalInertia.of`."""
        whole, m = ModalInertia.of(modes, damping_ratios, stiffening, made), modes.count
        return cls(
            mass=whole.mass,
            moment=whole.moment[:2],
            inertia=float(whole.inertia[2, 2]),
            modal_mass=whole.modal_mass,
            stiffness=whole.stiffness,
            damping=whole.damping,
            moments=whole.moments[:2],
            spins=whole.spins[2],
            spin_pairs=whole.spin_pairs.reshape(m, 3, m)[:, 2],
            inertias=whole.inertias[2],
            inertia_pairs=whole.inertia_pairs.reshape(m, 6, m)[:, 2],
            curves_turn=whole.curves_turn,
        )
