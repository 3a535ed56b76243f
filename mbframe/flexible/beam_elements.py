"""Straight beam elements in space: interpolation, stiffness, mass and second-order strains of many at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np
from scipy import sparse

from .mass_points import MassPoints

_GAUSS_POINTS = 4  # products of two cubics are integrated exactly
_FREEDOMS = 6
BENDING_Y, BENDING_Z = (1, 5, 7, 11), (2, 4, 8, 10)  # (v, rz) and (w, ry) of both ends
_SIGNS_Z = np.array([1.0, -1.0, 1.0, -1.0])  # a turn about y lowers w: w' = -ry


@dataclass(frozen=True, eq=False)
class BeamElements:
    """Beam elements between nodes, each with a constant section; e elements.

    The section's axes are principal: `axes[k]` has the unit vectors x (along the element), y and z as rows.

    Parameters
    ----------
    edges
        (e, 2): numbers of the first and last node.
    axes
        (e, 3, 3): the local axes as rows, in component axes.
    length, area, second_moment_y, second_moment_z, torsion
        (e,): m, m², m⁴ (about local y and z), m⁴ (torsion constant).
    young, shear, density
        (e,): Pa, Pa, kg/m³.
    shear_area_y, shear_area_z
        (e,): effective areas against shear along y and z, m²; infinite where sections stay normal to the axis
        (Euler-Bernoulli).
    rotary
        (e,): whether sections resist turning about local y and z with ρ Iy and ρ Iz: always with shear (Timoshenko),
        by choice without it (Rayleigh).
    fibres
        (e, k, 3): where stress is taken in the sections, y and z (m), and the shear stress there per torque (1/m³; not
        a number where it is not known).
    radius
        (e,): of round sections, m, in which stress is taken where it is largest; zero for others.
    """

    edges: np.ndarray
    axes: np.ndarray
    length: np.ndarray
    area: np.ndarray
    second_moment_y: np.ndarray
    second_moment_z: np.ndarray
    torsion: np.ndarray
    young: np.ndarray
    shear: np.ndarray
    density: np.ndarray
    shear_area_y: np.ndarray
    shear_area_z: np.ndarray
    rotary: np.ndarray
    fibres: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    radius: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        for declared in fields(self):
            getattr(self, declared.name).flags.writeable = False

    @cached_property
    def shear_ratio_y(self) -> np.ndarray:
        """(e,): 12 E Iz / (G A_y L²), which is 0 for Euler-Bernoulli: compliance by shear over that by bending."""
        return 12.0 * self.young * self.second_moment_z / (self.shear * self.shear_area_y * self.length**2)

    @cached_property
    def shear_ratio_z(self) -> np.ndarray:
        """(e,): 12 E Iy / (G A_z L²)."""
        return 12.0 * self.young * self.second_moment_y / (self.shear * self.shear_area_z * self.length**2)

    @cached_property
    def _squared_radius(self) -> np.ndarray:
        """(e,): mean square of the distance of fibres from the axis, (Iy + Iz)/A, m²."""
        return (self.second_moment_y + self.second_moment_z) / self.area

    @cached_property
    def freedoms(self) -> np.ndarray:
        """(e, 12): numbers of the freedoms of each element."""
        return (_FREEDOMS * self.edges[:, :, None] + np.arange(_FREEDOMS)).reshape(-1, 12)

    @cached_property
    def _turn(self) -> np.ndarray:
        """(e, 12, 12): from freedoms in component axes to local ones."""
        turn = np.zeros((len(self.edges), 12, 12))
        for k in range(4):
            turn[:, 3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = self.axes
        return turn

    def interpolation(self, position: float) -> np.ndarray:
        """(e, 6, 12): displacement and rotation at `position` (0 to 1) along the elements, all in component axes.

        Cubic deflections and quadratic rotations that solve the static equations of the unloaded element exactly, with
        shear as without [FriedmanKosmatka1993]; linear extension and twist.
        """
        local = np.zeros((len(self.edges), 6, 12))
        for row in (0, 3):
            local[:, row, row], local[:, row, row + 6] = 1.0 - position, position
        deflection, rotation, _ = self._bending(position, self.shear_ratio_y)
        local[:, 1, BENDING_Y], local[:, 5, BENDING_Y] = deflection, rotation
        deflection, rotation, _ = self._bending(position, self.shear_ratio_z)
        local[:, 2, BENDING_Z], local[:, 4, BENDING_Z] = deflection * _SIGNS_Z, -rotation * _SIGNS_Z
        local[:, :3] = self.axes.transpose(0, 2, 1) @ local[:, :3]
        local[:, 3:] = self.axes.transpose(0, 2, 1) @ local[:, 3:]
        return local @ self._turn

    def _bending(self, s: float, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Deflection, rotation of the section and slope, each (e, 4), for the freedoms (v1, r1, v2, r2)."""
        L, f, one = self.length, ratio, np.ones_like(ratio)
        deflection = [
            1.0 - 3.0 * s**2 + 2.0 * s**3 + f * (1.0 - s),
            L * (s - 2.0 * s**2 + s**3 + 0.5 * f * (s - s**2)),
            3.0 * s**2 - 2.0 * s**3 + f * s,
            L * (s**3 - s**2 - 0.5 * f * (s - s**2)),
        ]
        rotation = [
            6.0 * (s**2 - s) / L,
            1.0 - 4.0 * s + 3.0 * s**2 + f * (1.0 - s),
            -6.0 * (s**2 - s) / L,
            3.0 * s**2 - 2.0 * s + f * s,
        ]
        slope = [
            (6.0 * (s**2 - s) - f) / L,
            1.0 - 4.0 * s + 3.0 * s**2 + 0.5 * f * (1.0 - 2.0 * s),
            (6.0 * (s - s**2) + f) / L,
            3.0 * s**2 - 2.0 * s - 0.5 * f * (1.0 - 2.0 * s),
        ]
        scale = (one / (1.0 + f))[:, None]
        return np.stack(deflection, 1) * scale, np.stack(rotation, 1) * scale, np.stack(slope, 1) * scale

    def instants(self) -> Iterator[tuple[float, float]]:
        """Gauss points on (0, 1) and their weights."""
        places, weights = np.polynomial.legendre.leggauss(_GAUSS_POINTS)
        return zip((places + 1.0) / 2.0, weights / 2.0, strict=True)

    @cached_property
    def _slopes(self) -> list[tuple[float, tuple[int, ...], np.ndarray]]:
        """Slopes (e, 4) by the freedoms of bending in both planes at Gauss points, whose weights are first."""
        planes = ((BENDING_Y, self.shear_ratio_y, np.ones(4)), (BENDING_Z, self.shear_ratio_z, _SIGNS_Z))
        return [
            (weight, freedoms, self._bending(place, ratio)[2] * signs)
            for place, weight in self.instants()
            for freedoms, ratio, signs in planes
        ]

    def assemble(self, blocks: np.ndarray, size: int) -> sparse.csr_array:
        """The symmetric sparse matrix of `size` rows from (e, 12, 12) blocks in component axes."""
        blocks = 0.5 * (blocks + blocks.transpose(0, 2, 1))
        rows = np.repeat(self.freedoms, 12, axis=1).ravel()
        columns = np.tile(self.freedoms, (1, 12)).ravel()
        matrix = sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(size, size)).tocsr()
        return (0.5 * (matrix + matrix.T)).tocsr()  # blocks are added up in another order below the diagonal

    def _in_component_axes(self, local: np.ndarray) -> np.ndarray:
        return self._turn.transpose(0, 2, 1) @ local @ self._turn

    def stiffness_matrix(self, size: int) -> sparse.csr_array:
        """The stiffness matrix; bending with shear as in [FriedmanKosmatka1993]."""
        return self.assemble(self._in_component_axes(self._local_stiffness), size)

    @cached_property
    def _local_stiffness(self) -> np.ndarray:
        """(e, 12, 12): in local axes."""
        local = np.zeros((len(self.edges), 12, 12))
        for first, rigidity in ((0, self.young * self.area), (3, self.shear * self.torsion)):
            pair = np.array([[1.0, -1.0], [-1.0, 1.0]]) * (rigidity / self.length)[:, None, None]
            local[:, first : first + 7 : 6, first : first + 7 : 6] = pair
        for freedoms, moment, ratio, signs in (
            (BENDING_Y, self.second_moment_z, self.shear_ratio_y, np.ones(4)),
            (BENDING_Z, self.second_moment_y, self.shear_ratio_z, _SIGNS_Z),
        ):
            L, f = self.length, ratio
            twelve, six = np.full_like(L, 12.0), 6.0 * L
            near, far = (4.0 + f) * L**2, (2.0 - f) * L**2
            rows = [
                [twelve, six, -twelve, six],
                [six, near, -six, far],
                [-twelve, -six, twelve, -six],
                [six, far, -six, near],
            ]
            block = np.moveaxis(np.array(rows), 2, 0) * (self.young * moment / (L**3 * (1.0 + f)))[:, None, None]
            local[np.ix_(range(len(L)), freedoms, freedoms)] = block * np.outer(signs, signs)
        return local

    def end_forces(self, displacement: np.ndarray, loads: np.ndarray) -> np.ndarray:
        """(e, 2, 6, k): forces and moments on both ends of the elements, in their axes.

        For k small displacements of all freedoms, (n, k), and loads within the elements as those of their freedoms,
        (e, 12, k).
        """
        forces = self._local_stiffness @ (self._turn @ displacement[self.freedoms]) - self._turn @ loads
        return forces.reshape(len(self.length), 2, 6, -1)

    @property
    def has_fibres(self) -> bool:
        """Whether it is known where in the sections stress is taken."""
        return bool(self.fibres.size or self.radius.size)

    def fibre_stress(self, element: int, forces: np.ndarray, component: str) -> tuple[np.ndarray, float]:
        """(n,): the stress of largest size in a section, from N, Vy, Vz, T, My, Mz in it, (n, 6).

        σ = N/A + My z/Iy - Mz y/Iz along x ("xx"), and with the shear τ of torsion √(σ² + 3 τ²) (von Mises). The shear
        of Vy and Vz, which is zero in outer fibres, is left out. Second: the largest shear by torsion that the fibres
        do not know, about T r/J.
        """
        tension, torque = forces[:, 0, None] / self.area[element], forces[:, 3, None]
        about_y = forces[:, 4, None] / self.second_moment_y[element]
        about_z = forces[:, 5, None] / self.second_moment_z[element]
        missing = 0.0
        if self.radius.size:
            radius = self.radius[element]
            bent = radius * np.hypot(about_y, about_z)
            along = tension + np.where(tension < 0.0, -bent, bent)
            shear = torque * radius / self.torsion[element]
        else:
            y, z, per_torque = self.fibres[element].T
            along = tension + about_y * z - about_z * y
            known = np.isfinite(per_torque)
            shear = torque * np.where(known, per_torque, 0.0)
            if not known.all():
                reach = np.hypot(y, z)[~known].max()
                missing = float(np.abs(torque).max(initial=0.0) * reach / self.torsion[element])
        whole = along if component == "xx" else np.sqrt(along**2 + 3.0 * shear**2)
        most = np.abs(whole).argmax(axis=1)
        return np.asarray(whole[np.arange(len(whole)), most]), missing

    def mass_points(self, nodes: np.ndarray) -> MassPoints:
        """Four Gauss points in each element, which give the consistent mass matrix exactly.

        A point has the mass of its part of the beam, its polar inertia ρ (Iy + Iz) about the axis and, where `rotary`
        says so, ρ Iy and ρ Iz about the others.
        """
        positions, masses, inertias, maps = [], [], [], []
        local = np.zeros((len(self.edges), 3, 3))
        local[:, 0, 0] = self.second_moment_y + self.second_moment_z
        local[:, 1, 1] = np.where(self.rotary, self.second_moment_y, 0.0)
        local[:, 2, 2] = np.where(self.rotary, self.second_moment_z, 0.0)
        section = self.axes.transpose(0, 2, 1) @ local @ self.axes * self.density[:, None, None]
        start, end = nodes[self.edges[:, 0]], nodes[self.edges[:, 1]]
        for place, weight in self.instants():
            positions.append((1.0 - place) * start + place * end)
            masses.append(weight * self.length * self.density * self.area)
            inertias.append((weight * self.length)[:, None, None] * section)
            maps.append(self.interpolation(place))
        count = _GAUSS_POINTS * len(self.edges)
        rows = np.repeat(np.arange(6 * count), 12)
        columns = np.tile(np.repeat(self.freedoms, 6, axis=0).ravel(), _GAUSS_POINTS)
        displacement = sparse.csr_array(
            (np.concatenate(maps).ravel(), (rows, columns)), shape=(6 * count, _FREEDOMS * len(nodes))
        )
        blocks = np.zeros((count, 6, 6))
        blocks[:, :3, :3] = np.concatenate(masses)[:, None, None] * np.eye(3)
        blocks[:, 3:, 3:] = np.concatenate(inertias)
        places = np.arange(count + 1, dtype=np.int32)
        inertia = sparse.csr_array(sparse.bsr_array((blocks, places[:-1], places)))
        inertia.eliminate_zeros()
        return MassPoints(np.concatenate(positions), inertia, displacement)

    def axial_forces(self, displacement: np.ndarray) -> np.ndarray:
        """(e,): tension E A (u2 - u1)/L of the elements in a small displacement of all freedoms, N."""
        ends = displacement[self.freedoms]
        extension = np.einsum("ei,ei->e", self.axes[:, 0], ends[:, 6:9] - ends[:, 0:3])
        return self.young * self.area / self.length * extension

    def geometric_stiffness(self, axial_forces: np.ndarray, size: int) -> sparse.csr_array:
        """K_g = Σ N ∫ (v'ᵀ v' + w'ᵀ w' + r² φ'ᵀ φ') dx: what tension N (N, one number per element) adds.

        It acts against deflection, and against twist φ with the radius of gyration r of the section.
        """
        local = np.zeros((len(self.edges), 12, 12))
        pair = np.array([[1.0, -1.0], [-1.0, 1.0]])
        local[:, 3:10:6, 3:10:6] = pair * (axial_forces * self._squared_radius / self.length)[:, None, None]
        for weight, freedoms, slope in self._slopes:
            block = np.einsum("e,ei,ej->eij", weight * self.length * axial_forces, slope, slope)
            local[np.ix_(range(len(slope)), freedoms, freedoms)] += block
        return self.assemble(self._in_component_axes(local), size)

    def shortening_loads(self, first: np.ndarray, other: np.ndarray, stretch_only: bool = False) -> np.ndarray:
        """(n, k): loads -K d of what pairs of displacements strain the elements by, d, in second order.

        `first` and `other` (n, k) are displacements a and b of all freedoms, column by column. An element is stretched
        by ∫ (v_a' v_b' + w_a' w_b' + r² φ_a' φ_b') dx: fibres of a twisted section are inclined by their distance from
        the axis, r² = (Iy + Iz)/A in the mean, so that tension N adds N r² to the rigidity G J against twist φ
        [Wagner1936]. Its ends turn relative to its chord as `_turned` says, which is left out with `stretch_only`.
        """
        a, b = (np.einsum("eij,ejk->eik", self._turn, x[self.freedoms]) for x in (first, other))
        strained = np.zeros_like(a) if stretch_only else self._turned(a, b)
        twisted = [x[:, 9] - x[:, 3] for x in (a, b)]
        strained[:, 6] += (self._squared_radius / self.length)[:, None] * twisted[0] * twisted[1]
        for weight, freedoms, slope in self._slopes:
            slopes = [np.einsum("ei,eik->ek", slope, x[:, list(freedoms)]) for x in (a, b)]
            strained[:, 6] += (weight * self.length)[:, None] * slopes[0] * slopes[1]
        forces = self._turn.transpose(0, 2, 1) @ (self._local_stiffness @ strained)
        loads = np.zeros_like(first)
        np.subtract.at(loads, self.freedoms, forces)
        return loads

    def _turned(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(e, 12, k): second derivatives of the ends' rotations relative to the chord, for pairs of displacements.

        The axes of the element turn by c with its chord, c_y = -(w_2 - w_1)/L and c_z = (v_2 - v_1)/L to first order,
        and by the mean of its ends about it. An end that turns by exp(e~) turns relative to them by the logarithm of
        exp(-c~) exp(e~), which is e - c - ½ c x e to second order; and the chord is along x + c x x + ½ c x (c x x), so
        that c_y has ½ c_x c_z, and c_z -½ c_x c_y, of second order. This is how twist and bending come together.
        """
        chords, ends = [], []
        for x in (a, b):
            turns = np.stack([x[:, 3:6], x[:, 9:12]])
            across = (x[:, 7:9] - x[:, 1:3]) / self.length[:, None, None]
            chords.append(np.stack([turns[:, :, 0].mean(axis=0), -across[:, 1], across[:, 0]], axis=1))
            ends.append(turns)
        (c, d), (e, f) = chords, ends
        relative = -0.5 * (np.cross(c[None], f, axis=2) + np.cross(d[None], e, axis=2))
        relative[:, :, 0] -= relative[:, :, 0].mean(axis=0)
        relative[:, :, 1] -= 0.5 * (c[:, 0] * d[:, 2] + d[:, 0] * c[:, 2])
        relative[:, :, 2] += 0.5 * (c[:, 0] * d[:, 1] + d[:, 0] * c[:, 1])
        strained = np.zeros_like(a)
        strained[:, 3:6], strained[:, 9:12] = relative
        return strained
