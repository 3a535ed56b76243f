"""Stresses of a component in motion: those of its modes, and of what these cannot carry by static solutions."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..rotations import skew
from .beam_elements import BeamElements
from .modes import Modes
from .moving import Moving
from .problems import wrong
from .solid_elements import COMPONENTS
from .synthesis import statics

Array = NDArray[np.float64]

VON_MISES = "von_mises"
OF_BEAMS = (VON_MISES, "xx")
OF_SOLIDS = (VON_MISES, *COMPONENTS)
PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_SOLVED_AT_ONCE = 64  # static solutions
_AT_ONCE = 2_000_000  # numbers of stresses that are in memory together
_TWISTED = 0.05  # of the largest stress: torsion that fibres do not know is told from there on

_known: WeakKeyDictionary[Modes, dict[tuple[int, ...], StressShapes]] = WeakKeyDictionary()


class StressShapes:
    r"""The displacement of a component as a sum of constant shapes, from which its stresses follow.

    Modes move it by \phi \eta. All loads F on its nodes, those of joints and force elements as well as its inertia,
    are in balance and would move it by C F, where C is its flexibility, but for a rigid motion; of that the modes
    already have the projection P = \phi (\phi^T K \phi)^{-1} \phi^T K. So

        u = \phi \eta + (1 - P) C F

    (mode acceleration) is the static solution where nothing vibrates, however few the modes, and the same in all
    floating frames. Sets of nodes that `craig_bampton` kept rigid stay so. A point at x is accelerated by
    a + B (x + \psi \eta) + 2 w~ \psi \eta' + \psi \eta'' with B = w'~ + w~ w~: three shapes for a, nine for B, and nine
    for each mode. The inertia of sections and disks adds those of w', of w x J w and of \eta''. Loads act on the
    undeformed component.

    Parameters
    ----------
    modes
        As the floating frame sees them.
    places
        Nodes and interface points on which something acts.
    """

    def __init__(self, modes: Modes, places: tuple[int, ...]) -> None:
        part = modes.component
        self.modes, self.places = modes, places
        points = part.mass_points
        whole = _inertia_loads(points.positions, points.inertia, points.displacement, modes.shapes)
        loads = np.hstack([points.displacement.T @ whole, *(part.motion_at(place).toarray().T for place in places)])
        displacement, stressed = statics(modes), part.stiffness_matrix @ modes.shapes
        moved = np.empty_like(loads)
        for some in np.array_split(np.arange(loads.shape[1]), -(-loads.shape[1] // _SOLVED_AT_ONCE)):
            whole = displacement(loads[:, some])
            moved[:, some] = whole - modes.shapes @ linalg.solve(modes.stiffness, stressed.T @ whole, assume_a="pos")
        self.displacement: Array = np.hstack([modes.shapes, moved])
        self.ends: Array | None = None if part.beams is None else self._end_forces(part.beams, part.nodes)

    @classmethod
    def of(cls, modes: Modes, places: tuple[int, ...]) -> StressShapes:
        """Those of some modes under loads at some places, made once."""
        known = _known.setdefault(modes, {})
        if places not in known:
            known.clear()
            known[places] = cls(modes, places)
        return known[places]

    def _end_forces(self, beams: BeamElements, nodes: Array) -> Array:
        """(e, 2, 6, shapes): N, Vy, Vz, T, My, Mz in both ends of the elements, in their axes, on the part before."""
        points = beams.mass_points(nodes)
        count, m = len(beams.length), self.modes.count
        loads = _inertia_loads(points.positions, points.inertia, points.displacement, self.modes.shapes)
        own = np.zeros((count, 12, self.displacement.shape[1]))
        gauss = len(points.positions) // count
        for k, (place, _) in enumerate(beams.instants()):
            rows = loads.reshape(gauss, count, 6, -1)[k]
            own[:, :, m : m + loads.shape[1]] += np.einsum("eij,eik->ejk", beams.interpolation(place), rows)
        forces = beams.end_forces(self.displacement, own)
        forces[:, 0] *= -1.0  # the end where the element begins is held by the part before
        return forces

    def coefficients(self, moving: Moving) -> Array:
        """(n, shapes): how much of each there is at n instants."""
        n, m = len(moving), self.modes.count
        spin = skew(moving.angular_velocity)
        swing = skew(moving.angular_acceleration) + spin @ spin
        each = moving.modal[:, :, None, None] * swing[:, None] + 2.0 * moving.rate[:, :, None, None] * spin[:, None]
        each[:, :, range(3), range(3)] += moving.second[:, :, None]
        omega = moving.angular_velocity
        products = np.stack([omega[:, a] * omega[:, b] for a, b in PRODUCTS], axis=1)
        parts = [moving.modal, moving.acceleration, swing.reshape(n, 9), each.reshape(n, 9 * m)]
        parts += [moving.angular_acceleration, products, moving.second]
        at = {place: np.zeros((n, 6)) for place in self.places}
        positions = self.modes.component.positions
        for one in moving.acting:
            for place in np.unique(one.places):
                there = one.places == place
                torque = one.torque
                if one.slides:  # between nodes: moved to the nearest one
                    torque = torque + np.cross(one.point - positions[place], one.force)
                at[int(place)][there] += np.hstack([one.force, torque])[there]
        return np.hstack([*parts, *at.values()])


def stresses(modes: Modes, moving: Moving, nodes: NDArray[np.intp], component: str = VON_MISES) -> tuple[Array, str]:
    """(n, nodes): stresses at nodes, Pa, and a remark on what is left out, if anything.

    Of solids the mean of the elements around a node, components in body axes. Of beams the largest of the fibres of all
    elements that meet at a node: bending and tension along x, with the shear of torsion in von Mises' stress.
    """
    part = modes.component
    allowed = OF_BEAMS if part.beams is not None else OF_SOLIDS
    if not part.knows_elements:
        message = "was given as matrices, which do not say what stresses are; use mb.flexible.beam, frame or solid"
        raise wrong("stress", "body", message)
    if component not in allowed:
        raise wrong("stress", "component", f"found {component!r}; allowed are {', '.join(map(repr, allowed))}")
    places = {int(place) for one in moving.acting for place in np.unique(one.places)}
    shapes = StressShapes.of(modes, tuple(sorted(places)))
    given = shapes.coefficients(moving)
    if part.beams is not None:
        return _of_beams(shapes, part.beams, given, nodes, component)
    assert part.solids is not None
    found = np.empty((len(given), len(nodes)))
    rows = max(1, _AT_ONCE // max(1, 6 * len(given)))
    for some in np.array_split(np.arange(len(nodes)), -(-len(nodes) // rows)):
        operator = part.solids.nodal_stress(part.nodes, nodes[some])
        tensor = (given @ (operator @ shapes.displacement).T).reshape(len(given), len(some), 6)
        found[:, some] = _von_mises(tensor) if component == VON_MISES else tensor[..., COMPONENTS.index(component)]
    return found, ""


def _von_mises(tensor: Array) -> Array:
    xx, yy, zz, xy, xz, yz = np.moveaxis(tensor, -1, 0)
    direct = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2)
    return np.asarray(np.sqrt(direct + 3.0 * (xy**2 + xz**2 + yz**2)))


def _of_beams(
    shapes: StressShapes, beams: BeamElements, given: Array, nodes: NDArray[np.intp], component: str
) -> tuple[Array, str]:
    if not beams.has_fibres:
        message = (
            "does not say where in its sections stress is taken; give beam(..., fibres=[(y, z), ...]) points of the "
            "section, or make it by mb.flexible.rectangle, circle or tube"
        )
        raise wrong("stress", "fibres", message)
    assert shapes.ends is not None
    found, remark = np.zeros((len(given), len(nodes))), ""
    unknown = largest = 0.0
    for k, node in enumerate(nodes):
        elements, ends = np.nonzero(beams.edges == node)
        for element, end in zip(elements, ends, strict=True):
            stress, missing = beams.fibre_stress(int(element), given @ shapes.ends[element, end].T, component)
            unknown, largest = max(unknown, missing), max(largest, float(np.abs(stress).max(initial=0.0)))
            larger = np.abs(stress) > np.abs(found[:, k])
            found[larger, k] = stress[larger]
    if component == VON_MISES and unknown > _TWISTED * largest:
        remark = (
            f"its torsion makes shear stresses of about {unknown:.3g} Pa, which its fibres do not know and von Mises' "
            "stress leaves out; give them as (y, z, shear per torque in 1/m^3), or take a section of mb.flexible"
        )
    return found, remark


def _inertia_loads(positions: Array, form: sparse.csr_array, displacement: sparse.csr_array, shapes: Array) -> Array:
    """(6p, 3 + 9 + 9 m + 3 + 6 + m): what mass points resist for unit accelerations; see `StressShapes`."""
    count, m = len(positions), shapes.shape[1]
    moved = (displacement @ shapes).reshape(count, 6, m)
    fields = np.zeros((count, 6, 12 + 9 * m + 3))
    fields[:, :3, :3] = np.eye(3)
    for a in range(3):
        fields[:, a, 3 + 3 * a : 6 + 3 * a] = positions
        for b in range(3):
            fields[:, a, 12 + 3 * a + b : 12 + 9 * m : 9] = moved[:, b]
    fields[:, 3:, 12 + 9 * m :] = np.eye(3)
    turned = np.zeros((count, 6, m))
    turned[:, 3:] = moved[:, 3:]
    entries = sparse.coo_array(form)
    own = (entries.row // 6 == entries.col // 6) & (entries.row % 6 > 2) & (entries.col % 6 > 2)
    inertia = np.zeros((count, 3, 3))
    np.add.at(inertia, (entries.row[own] // 6, entries.row[own] % 6 - 3, entries.col[own] % 6 - 3), entries.data[own])
    spun = np.zeros((count, 6, len(PRODUCTS)))
    for k, (a, b) in enumerate(PRODUCTS):  # w x J w with w w^T = E_ab + E_ba
        product = np.zeros((3, 3))
        product[a, b] = product[b, a] = 1.0
        carried = inertia @ product
        spun[:, 3:, k] = np.stack([carried[:, z, y] - carried[:, y, z] for y, z in ((1, 2), (2, 0), (0, 1))], axis=1)
    flat = (array.reshape(6 * count, -1) for array in (fields, turned, spun))
    linear, tilted, gyroscopic = flat
    return -np.hstack([form @ linear, gyroscopic, form @ tilted])
