"""Forces and moments in the sections of a beam that moves: from the balance of the part beyond, not from its shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .beam_elements import BeamElements
from .component import Component
from .modes import Modes
from .moving import Moving
from .problems import wrong

Array = NDArray[np.float64]

_AT_ONCE = 200_000  # vectors of mass points and instants that are in memory together
_SAME = 1e-9  # of the length: places nearer to each other are one
_RIGID = 1e-9  # of an inertia: what is left when it is taken as that of a rigid part


@dataclass(frozen=True)
class SectionForces:
    """What the part before a section exerts on the part beyond it, at n instants, in the axes of the section.

    They turn with the bent beam: x along it, y and z as its second moments have them.

    axial
        (n,): tension, N; the part before pulls the part beyond with it against x.
    shear
        (n, 2): force along y and z, N.
    torsion
        (n,): moment about x, N m.
    bending
        (n, 2): moments about y and z, N m.
    """

    axial: Array
    shear: Array
    torsion: Array
    bending: Array


def section_forces(modes: Modes, moving: Moving, x: float, curved: bool = False) -> SectionForces:
    """Section forces at the way x along a beam from its first node, m.

    The part beyond is in balance: its weight and inertia, which follow from the motion of all its mass points, what
    joints and force elements exert on it, and what the part before does. `modes` are as the floating frame sees them;
    with `curved` points move by geometric stiffening as well. A load at x itself acts on the part before, at the very
    end on the part beyond.
    """
    line = _Line(modes, x)
    parts = max(1, -(-len(moving) * len(line.beams.length) * 5 // _AT_ONCE))
    found = [line.balance(moving.at(rows), curved) for rows in np.array_split(np.arange(len(moving)), parts)]
    return SectionForces(*(np.concatenate(part) for part in zip(*found, strict=True)))


class _Line:
    """An open chain of beam elements, cut at the way x."""

    def __init__(self, modes: Modes, x: float) -> None:
        part = modes.component
        if part.beams is None:
            raise wrong("section_forces", "body", "has no beams; sections are those of mb.flexible.beam")
        edges, self.beams, self.modes = part.beams.edges, part.beams, modes
        chain = np.append(edges[:, 0], edges[-1, 1])
        if np.any(edges[1:, 0] != edges[:-1, 1]) or len(np.unique(chain)) < len(chain):
            message = "is a frame whose beams branch or do not follow each other; sections are those of one open line"
            raise wrong("section_forces", "body", message)
        ways = np.concatenate([[0.0], np.cumsum(self.beams.length)])
        self.length = float(ways[-1])
        if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0.0 <= float(x) <= self.length:
            message = f"found {x!r}; allowed are ways from 0 to {self.length:.6g} m along the beam; give one of these"
            raise wrong("section_forces", "x", message)
        self.tolerance = _SAME * self.length
        self.x = float(x)
        self.last = self.x >= self.length - self.tolerance
        self.cut = min(int(np.searchsorted(ways, self.x + self.tolerance, "right")) - 1, len(edges) - 1)
        self.share = float(np.clip((self.x - ways[self.cut]) / self.beams.length[self.cut], 0.0, 1.0))
        self.ways = np.empty(len(part.nodes))
        self.ways[chain] = ways

    def beyond(self, way: Array) -> NDArray[np.bool_]:
        """Whether loads at some ways along the beam act on the part beyond."""
        return way >= self.x - self.tolerance if self.last else way > self.x + self.tolerance

    def balance(self, moving: Moving, curved: bool) -> tuple[Array, Array, Array, Array]:
        """Tension, shear, torsion and bending."""
        courses = _Courses(self.modes, moving, curved)
        cut = courses.within(self.beams, np.array([self.cut]), self.share)
        section = self._origin(self.cut, self.share) + cut.moved(0)[:, 0]
        force, moment = self._resisted(courses, moving)
        for one in moving.acting:
            there = self._reached(one.places, one.point, one.slides)[:, None]
            force += there * one.force
            moment += there * (one.torque + np.cross(one.point, one.force))
        moment -= np.cross(section, force)
        axes = _turned(cut.turned(0)[:, 0], self.beams.axes[self.cut].T)
        force, moment = (-np.einsum("nij,ni->nj", axes, vector) for vector in (force, moment))
        return -force[:, 0], force[:, 1:], moment[:, 0], moment[:, 1:]

    def _origin(self, element: int, share: float) -> Array:
        start, end = self.modes.component.nodes[self.beams.edges[element]]
        return np.asarray((1.0 - share) * start + share * end)

    def _resisted(self, courses: _Courses, moving: Moving) -> tuple[Array, Array]:
        """Weight and inertia of the part beyond: force, and moment about the frame's origin, (n, 3) each."""
        part, beams = self.modes.component, self.beams
        places, weights = np.polynomial.legendre.leggauss(4)
        found = np.zeros((2, len(moving), 3))
        for elements, first in ((np.arange(self.cut + 1, len(beams.length)), 0.0), (np.array([self.cut]), self.share)):
            if not len(elements) or first == 1.0:
                continue
            start, end = (part.nodes[beams.edges[elements, k]] for k in (0, 1))
            section = _section_inertia(beams)[elements]
            for place, weight in zip((places + 1.0) / 2.0, weights / 2.0, strict=True):
                share = first + (1.0 - first) * place
                length = weight * (1.0 - first) * beams.length[elements]
                mass = length * beams.density[elements] * beams.area[elements]
                points = _Points((1.0 - share) * start + share * end, courses.within(beams, elements, share))
                found += points.resist(moving, mass, length[:, None, None] * section)
        numbers, masses, centres, inertias = _rigid_parts(part)
        beyond = self.beyond(self.ways[numbers])
        if beyond.any():
            points = _Points(part.nodes[numbers[beyond]], courses.at(numbers[beyond]))
            found += points.resist(moving, masses[beyond], inertias[beyond], centres[beyond])
        return found[0], found[1]

    def _reached(self, places: NDArray[np.intp], point: Array, slides: bool) -> NDArray[np.bool_]:
        """Whether a load acts on the part beyond at each instant."""
        part = self.modes.component
        if slides:  # between nodes: on the straight line of the nearest element
            starts = part.nodes[self.beams.edges[:, 0]]
            along = np.einsum("nei,ei->ne", point[:, None] - starts, self.beams.axes[:, 0])
            along = np.clip(along, 0.0, self.beams.length)
            feet = starts + along[:, :, None] * self.beams.axes[:, 0]
            nearest = np.linalg.norm(point[:, None] - feet, axis=2).argmin(axis=1)
            ways = self.ways[self.beams.edges[nearest, 0]] + along[np.arange(len(point)), nearest]
            return self.beyond(ways)
        reached = np.zeros(len(places), bool)
        for place in np.unique(places):
            number = int(place) - len(part.nodes)
            carried = np.array([place]) if number < 0 else part.interface_points[number].nodes
            sides = self.beyond(self.ways[carried])
            if sides.any() and not sides.all():
                message = (
                    f"lies between nodes that carry interface point {place} together; choose x before or behind them"
                )
                raise wrong("section_forces", "x", message)
            reached[places == place] = sides[0]
        return reached


class _Motion:
    """Displacement u and small rotation e of p points with their derivatives, linear in the modal coordinates.

    With geometric stiffening those of second order besides. `parts[k]` has both for the derivative k, (1 or 2, n, p,
    6).
    """

    def __init__(self, parts: list[Array]) -> None:
        self.parts = parts

    def moved(self, derivative: int) -> Array:
        """(n, p, 3): u."""
        return np.asarray(self.parts[derivative][..., :3].sum(axis=0))

    def turned(self, derivative: int) -> Array:
        """(n, p, 3): e."""
        return np.asarray(self.parts[derivative][..., 3:].sum(axis=0))


class _Courses:
    """Displacements of all freedoms and their two derivatives, (1 or 2, n, n_freedoms) each; see `_Motion`."""

    def __init__(self, modes: Modes, moving: Moving, curved: bool) -> None:
        eta, rate, second = moving.modal, moving.rate, moving.second
        self._courses = [(part @ modes.shapes.T)[None] for part in (eta, rate, second)]
        if curved:
            m = modes.count
            curves = modes.curves.reshape(-1, m * m).T

            def bent(a: Array, b: Array) -> Array:
                return np.asarray((a[:, :, None] * b[:, None]).reshape(-1, m * m) @ curves)

            others = (0.5 * bent(eta, eta), bent(eta, rate), bent(eta, second) + bent(rate, rate))
            self._courses = [np.concatenate([a, b[None]]) for a, b in zip(self._courses, others, strict=True)]

    def within(self, beams: BeamElements, elements: NDArray[np.intp], share: float) -> _Motion:
        """Points at a share of the way along some elements."""
        maps = beams.interpolation(share)[elements]
        return _Motion(
            [np.einsum("eij,knej->knei", maps, course[..., beams.freedoms[elements]]) for course in self._courses]
        )

    def at(self, numbers: NDArray[np.intp]) -> _Motion:
        """Some nodes."""
        return _Motion([course.reshape(*course.shape[:2], -1, 6)[:, :, numbers] for course in self._courses])


class _Points:
    r"""Rigid parts of the mass at p points of a floating frame.

    What they resist is the rate of their momentum and, about the frame's origin, of their angular momentum, to the
    order in the deformation that the equations of motion have, the second (see `ModalInertia`): otherwise the parts
    before and beyond would not be in balance together. In its own axes a part turns with w_0 + w_1 + w_2,

        w_0 = W    w_1 = e' - e x W    w_2 = 1/2 e x (e x W) - 1/2 e x e'

    where the frame turns with W, and its angular momentum is J w_0, e x J w_0 + J w_1, and 1/2 e x (e x J w_0) +
    e x J w_1 + J w_2 of the orders 0, 1 and 2.
    """

    def __init__(self, undeformed: Array, motion: _Motion) -> None:
        self.undeformed, self.motion = undeformed, motion

    def resist(self, moving: Moving, mass: Array, inertia: Array, centre: Array | None = None) -> Array:
        """(2, n, 3): the sum of force and moment about the origin, for masses (p,) and inertias (p, 3, 3).

        `centre` (p, 3): centres of mass in the parts' own axes, if they are not at the points.
        """
        cross = np.cross
        turning, changing = moving.angular_velocity[:, None], moving.angular_acceleration[:, None]

        def carried(u: Array) -> Array:
            return np.asarray(cross(changing, u) + cross(turning, cross(turning, u)))

        at, moved = self.undeformed, [part[..., :3] for part in self.motion.parts]
        orders = [moving.acceleration[:, None] + carried(at[None])]
        orders += [carried(u) + 2.0 * cross(turning, v) + a for u, v, a in zip(*moved, strict=True)]
        acceleration = sum(orders)
        swept = cross(at, acceleration) + cross(moved[0][0], orders[0] + orders[1])
        if len(orders) > 2:
            swept = swept + cross(moved[0][1], orders[0])
        force, moment = -mass[:, None] * acceleration, -mass[:, None] * swept
        if inertia.any():
            moment = moment - self._turned_momentum(turning, changing, inertia)
        if centre is not None and centre.any():
            swung = mass[:, None] * self._swing(turning, changing, centre)
            force, moment = force - swung, moment - cross(at + self.motion.moved(0), swung)
            moment = moment - cross(mass[:, None] * (centre + cross(self.motion.turned(0), centre)), acceleration)
        return np.stack([force.sum(axis=1), moment.sum(axis=1)])

    def _turned_momentum(self, turning: Array, changing: Array, inertia: Array) -> Array:
        """(n, p, 3): the rate of the angular momentum of the parts about their points, W x h + h'."""
        cross = np.cross

        def times(vector: Array) -> Array:
            return np.asarray(np.einsum("pij,npj->npi", inertia, np.broadcast_to(vector, shape)))

        e, e_rate, e_second = (part[0, ..., 3:] for part in self.motion.parts)
        shape = e.shape
        all_e, all_rate, all_second = (self.motion.turned(k) for k in range(3))  # where they are linear
        own, own_rate = times(turning), times(changing)
        first = times(e_rate - cross(e, turning))
        first_rate = times(e_second - cross(e_rate, turning) - cross(e, changing))
        linear = times(all_rate - cross(all_e, turning))
        linear_rate = times(all_second - cross(all_rate, turning) - cross(all_e, changing))
        swept = cross(e, turning)
        swept_rate = cross(e_rate, turning) + cross(e, changing)
        second = times(0.5 * cross(e, swept) - 0.5 * cross(e, e_rate))
        second_rate = times(0.5 * (cross(e_rate, swept) + cross(e, swept_rate)) - 0.5 * cross(e, e_second))
        tilted = cross(e, own)
        tilted_rate = cross(e_rate, own) + cross(e, own_rate)
        momentum = own + cross(all_e, own) + linear + 0.5 * cross(e, tilted) + cross(e, first) + second
        change = own_rate + cross(all_rate, own) + cross(all_e, own_rate) + linear_rate
        change = change + 0.5 * (cross(e_rate, tilted) + cross(e, tilted_rate))
        change = change + cross(e_rate, first) + cross(e, first_rate) + second_rate
        return np.asarray(change + cross(turning, momentum))

    def _swing(self, turning: Array, changing: Array, centre: Array) -> Array:
        """(n, p, 3): accelerations of the centres of mass relative to the points, to first order."""
        cross = np.cross
        e, e_rate, e_second = (self.motion.turned(k) for k in range(3))
        arm = centre + cross(e, centre)
        spin, change = turning + e_rate, changing + e_second + cross(turning, e_rate)
        return np.asarray(cross(change, arm) + cross(spin, cross(spin, arm)))


def _turned(e: Array, axes: Array) -> Array:
    """(n, 3, 3): exp(e~) times the axes (as columns)."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(e).as_matrix() @ axes)


def _section_inertia(beams: BeamElements) -> Array:
    """(e, 3, 3): inertia of the sections per length, in component axes, kg m."""
    local = np.zeros((len(beams.length), 3))
    local[:, 0] = beams.second_moment_y + beams.second_moment_z
    local[:, 1] = np.where(beams.rotary, beams.second_moment_y, 0.0)
    local[:, 2] = np.where(beams.rotary, beams.second_moment_z, 0.0)
    return np.einsum("eki,ek,ekj->eij", beams.axes, beams.density[:, None] * local, beams.axes)


def _rigid_parts(part: Component) -> tuple[NDArray[np.intp], Array, Array, Array]:
    """Numbers of nodes with an inertia beside that of the beams, and its mass, centre of mass and inertia."""
    added = part.added_mass
    if added is None:
        return np.zeros(0, np.intp), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3, 3))
    entries = sparse.coo_array(added)
    numbers = np.unique(entries.row // 6)
    blocks = np.zeros((len(numbers), 6, 6))
    own = entries.row // 6 == entries.col // 6
    where = np.searchsorted(numbers, entries.row[own] // 6)
    np.add.at(blocks, (where, entries.row[own] % 6, entries.col[own] % 6), entries.data[own])
    mass, centres = blocks[:, 0, 0], np.zeros((len(numbers), 3))
    heavy = mass > 0.0
    for k, (row, column) in enumerate(((2, 1), (0, 2), (1, 0))):  # the block is -m c~
        centres[heavy, k] = -blocks[heavy, row, 3 + column] / mass[heavy]
    rigid = np.zeros_like(blocks)
    rigid[:, :3, :3] = mass[:, None, None] * np.eye(3)
    x, y, z = (mass[:, None] * centres).T
    nothing = np.zeros_like(x)
    rigid[:, :3, 3:] = np.array([[nothing, z, -y], [-z, nothing, x], [y, -x, nothing]]).transpose(2, 0, 1)
    rigid[:, 3:, :3] = rigid[:, :3, 3:].transpose(0, 2, 1)
    rigid[:, 3:, 3:] = blocks[:, 3:, 3:]
    sizes = np.sqrt(np.abs(np.einsum("kii->ki", blocks)))
    off = np.abs(blocks - rigid) > _RIGID * sizes[:, :, None] * sizes[:, None]
    if not own.all() or off.any():
        message = (
            "has a mass matrix with more than the mass of its beams and rigid parts at single nodes; what is beyond a "
            "section is not known then: give such parts as rigid bodies"
        )
        raise wrong("section_forces", "body", message)
    return numbers, mass, centres, blocks[:, 3:, 3:]
