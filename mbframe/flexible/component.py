"""A finite-element model of one body: nodes, mass matrix, stiffness matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..disk.atomic import FilePath
from .beam_elements import BeamElements
from .interface_points import InterfacePoint, node_motion
from .mass_points import MassPoints, rigid_fields
from .matrices import check_semidefinite, checked_matrix
from .problems import indices, points, wrong
from .problems import point as checked_point
from .solid_elements import SolidElements
from .storage import (
    Tree,
    array_of,
    beams_from,
    beams_tree,
    fields_of,
    matrix_from,
    matrix_tree,
    opened,
    plain,
    read_matrix,
    read_nodes,
    read_npz,
    solids_from,
    solids_tree,
    write_npz,
)

Place = int | str | Sequence[float]

_ROUNDING = 1e-11  # of the largest that an entry of a matrix can be by its diagonal
_RIGID = 1e-6  # elastic energy of a rigid motion relative to that of its parts, below which it is rounding
_NO_INERTIA = 1e-13  # smallest over largest principal inertia below which it is rounding
_DIRECTIONS = (*(f"translation along {axis}" for axis in "xyz"), *(f"rotation about {axis}" for axis in "xyz"))


@dataclass(frozen=True, eq=False)
class Component:
    """A body as finite elements see it: n nodes with 6 freedoms each (ux uy uz rx ry rz) or 3 (ux uy uz).

    Free, that is not supported anywhere: the multibody system holds it by joints. Rotations are small, in radians,
    about the component's axes. Immutable: what changes it makes a new one.

    Parameters
    ----------
    nodes
        (n, 3): positions of the nodes in the component's axes, m.
    mass_matrix, stiffness_matrix
        (6n, 6n) or (3n, 3n): symmetric, positive semidefinite; dense or SciPy sparse. kg, kg m, kg m²; N/m, N, N m.
    lines, triangles
        Node numbers, (k, 2) and (k, 3): what is drawn of it. No influence on the motion.
    interface_points
        Points that sets of nodes carry (`with_interface` adds one). They are numbered after the nodes: n, n + 1, …
    beams
        The beam elements that the stiffness matrix comes from; `beam` and `frame` give them. Then the inertia of the
        deformed beam is integrated along the elements, and tension stiffens them. What a mass matrix has beside theirs,
        such as disks on a shaft, is inertia of nodes.
    solids
        The solid elements that the matrices come from; `solid` gives them. Then tension stiffens them.
    """

    nodes: np.ndarray
    mass_matrix: sparse.csr_array
    stiffness_matrix: sparse.csr_array
    lines: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    triangles: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    interface_points: tuple[InterfacePoint, ...] = ()
    beams: BeamElements | None = None
    solids: SolidElements | None = None

    def __post_init__(self) -> None:
        nodes = points("Component", "nodes", self.nodes)
        mass = checked_matrix("mass_matrix", self.mass_matrix, len(nodes))
        stiffness = checked_matrix("stiffness_matrix", self.stiffness_matrix, len(nodes))
        if mass.shape != stiffness.shape:
            raise wrong(
                "Component",
                "stiffness_matrix",
                f"has {stiffness.shape[0]} rows and the mass matrix {mass.shape[0]}; give both for the same freedoms",
            )
        check_semidefinite("mass_matrix", mass)
        check_semidefinite("stiffness_matrix", stiffness)
        if self.beams is not None and not self._fits(self.beams, stiffness):
            raise wrong(
                "Component",
                "stiffness_matrix",
                "is not that of its beams, along which tension stiffens it; give the matrices without `beams`, or make "
                "the beams as stiff as they are (`frame`)",
            )
        values = {
            "nodes": nodes,
            "mass_matrix": mass,
            "stiffness_matrix": stiffness,
            "lines": indices("Component", "lines", self.lines, len(nodes), 2),
            "triangles": indices("Component", "triangles", self.triangles, len(nodes), 3),
            "interface_points": tuple(self.interface_points),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_translations()

    def _check_translations(self) -> None:
        """One mass in all directions: nothing else can be the mass of a body."""
        translations = self.rigid_modes()[:, :3]
        masses = np.diag(translations.T @ (self.mass_matrix @ translations))
        if np.ptp(masses) > 1e-6 * masses.max() or masses.min() <= 0.0:
            found = ", ".join(f"{mass:.6g}" for mass in masses)
            raise wrong(
                "Component",
                "mass_matrix",
                f"gives the masses {found} kg along x, y and z, which must be equal and above 0; "
                "check the order of the freedoms (ux uy uz rx ry rz node by node)",
            )

    @staticmethod
    def _fits(beams: BeamElements, stiffness: sparse.csr_array) -> bool:
        size = stiffness.shape[0]
        return bool(beams.freedoms.max() < size) and _beyond_rounding(stiffness, beams.stiffness_matrix(size)) is None

    def __repr__(self) -> str:
        points = f", {len(self.interface_points)} interface points" * bool(self.interface_points)
        return f"<Component: {len(self.nodes)} nodes, {self.n_freedoms} freedoms{points}, {self.mass:.6g} kg>"

    # ---- sizes and mass properties

    @property
    def freedoms_per_node(self) -> int:
        """6 or 3."""
        return self.mass_matrix.shape[0] // len(self.nodes)

    @property
    def n_freedoms(self) -> int:
        """Rows of the matrices."""
        return self.mass_matrix.shape[0]

    @cached_property
    def positions(self) -> np.ndarray:
        """(n + k, 3): the nodes, then the k interface points."""
        return np.vstack([self.nodes, *(point.position for point in self.interface_points)])

    def rigid_modes(self, about: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(n_freedoms, 6): unit translations along x, y, z and unit turns about axes through the point `about`."""
        fields = rigid_fields(self.nodes - np.asarray(about, dtype=float))
        return fields[:, : self.freedoms_per_node].reshape(-1, 6)

    @cached_property
    def _rigid_mass(self) -> np.ndarray:
        rigid = self.rigid_modes()
        return rigid.T @ (self.mass_matrix @ rigid)

    @property
    def mass(self) -> float:
        """Total mass, kg."""
        return float(self._rigid_mass[0, 0])

    @property
    def centre_of_mass(self) -> np.ndarray:
        """Centre of mass in component axes, m."""
        coupling = self._rigid_mass[:3, 3:]  # -m c~, since a turn e moves the centre c by e x c
        return np.array([coupling[1, 2], coupling[2, 0], coupling[0, 1]]) / self.mass

    @property
    def inertia(self) -> np.ndarray:
        """(3, 3): inertia tensor about the centre of mass, kg m²."""
        rigid = self.rigid_modes(self.centre_of_mass)[:, 3:]
        return rigid.T @ (self.mass_matrix @ rigid)

    @cached_property
    def mass_points(self) -> MassPoints:
        """The mass as points, from which integrals over the moving and deforming body follow exactly."""
        if self.beams is not None:
            points, added = self._beam_points, self.added_mass
            return points if added is None else points.with_nodes(self.nodes, added)
        per_node, count = self.freedoms_per_node, len(self.nodes)
        rows = (6 * np.arange(count)[:, None] + np.arange(per_node)).ravel()
        place = sparse.csr_array(
            (np.ones(self.n_freedoms), (rows, np.arange(self.n_freedoms))), shape=(6 * count, self.n_freedoms)
        )
        return MassPoints(self.nodes, sparse.csr_array(place @ self.mass_matrix @ place.T), place)

    @cached_property
    def _beam_points(self) -> MassPoints:
        """The mass of the beams as points."""
        return self._beams().mass_points(self.nodes)

    @cached_property
    def added_mass(self) -> sparse.csr_array | None:
        """What the mass matrix has beside that of the beams, if anything."""
        if self.beams is None:
            return None
        return _beyond_rounding(self.mass_matrix, self._beam_points.mass_matrix())

    def check_free(self, purpose: str) -> None:
        """A `ModelError` unless rigid motions cost no elastic energy and all have inertia, which `purpose` needs."""
        about = self.nodes.mean(axis=0)
        rigid = self.rigid_modes(about)
        energy = np.einsum("ij,ij->j", rigid, self.stiffness_matrix @ rigid)
        bound = np.einsum("ij,ij->j", abs(rigid), abs(self.stiffness_matrix) @ abs(rigid))
        ratio = abs(energy) / np.where(bound > 0.0, bound, 1.0)
        worst = int(ratio.argmax())
        if ratio[worst] > _RIGID:
            raise wrong(
                "Component",
                "stiffness_matrix",
                f"resists a {_DIRECTIONS[worst]} of the whole body (energy {energy[worst]:.3g} J per unit, "
                f"{ratio[worst]:.1g} of that of its parts): the rigid-body modes that {purpose} needs are missing; "
                "give the matrix of the unsupported body and hold it by joints",
            )
        principal = np.linalg.eigvalsh(self.inertia)
        if not principal[0] > _NO_INERTIA * principal[-1]:
            found = ", ".join(f"{moment:.3g}" for moment in principal)
            raise wrong(
                "Component",
                "mass_matrix",
                f"gives the principal inertias {found} kg m²: {purpose} needs all of them above 0; add masses "
                "beside the axis, or inertia of the nodes' rotations",
            )

    # ---- nodes and interface points

    def with_interface(
        self,
        nodes: Sequence[int] | np.ndarray,
        position: Sequence[float] | np.ndarray | None = None,
        name: str = "",
        kind: str = "rigid",
    ) -> Component:
        """The same component with one more interface point, which has the number ``len(positions)`` of this one.

        Parameters
        ----------
        nodes
            The nodes that carry the point, such as those on the surface of a bore; three that are not in line, or any
            number with 6 freedoms each.
        position
            Where the point is, m; None for the mean of the nodes.
        name
            A name by which it can be given instead of its number.
        kind
            ``"rigid"``: component modes keep the set rigid. ``"mean"``: it may deform, and the point follows the rigid
            motion that fits best.
        """
        point = InterfacePoint.of(self.nodes, nodes, position, name, kind)
        if name and any(other.name == name for other in self.interface_points):
            raise wrong("Component", "interface_points", f"there is one named {name!r} already; choose another name")
        return replace(self, interface_points=(*self.interface_points, point))

    def node_at(self, point: Sequence[float], tolerance: float | None = None) -> int:
        """The number of the interface point or node at `point`, m; of equally near ones the interface point.

        Farther away than `tolerance` (None: 1e-6 of the component's extent) is a `ModelError` with the distance.
        """
        where = checked_point("Component", "node_at", point)
        asked = (*where.tolist(), tolerance)
        if (known := self._places.get(asked)) is not None:
            return known
        allowed = 1e-6 * self.extent if tolerance is None else float(tolerance)
        distances = np.linalg.norm(self.positions - where, axis=1)
        candidates = np.flatnonzero(distances <= max(allowed, distances.min()))
        number = int(candidates[-1]) if candidates[-1] >= len(self.nodes) else int(distances.argmin())
        if distances[number] > allowed:
            raise wrong(
                "Component",
                "node_at",
                f"no node or interface point at {where.tolist()}: the nearest, number {number} at "
                f"{self.positions[number].tolist()}, is {distances[number]:.6g} m away and {allowed:.3g} m are "
                "allowed; attach there, put a node or an interface point at the place, or allow a larger tolerance",
            )
        self._places[asked] = number
        return number

    @cached_property
    def _places(self) -> dict[tuple[float | None, ...], int]:
        """What `node_at` has found: markers ask for their nodes again and again."""
        return {}

    @cached_property
    def extent(self) -> float:
        """Diagonal of the box around the nodes, m."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0))) or 1.0

    def number_of(self, place: Place) -> int:
        """The number of a node or interface point that is given by number, name or position."""
        if isinstance(place, str):
            for k, point in enumerate(self.interface_points):
                if point.name == place:
                    return len(self.nodes) + k
            names = ", ".join(repr(point.name) for point in self.interface_points) or "none"
            raise wrong("Component", "interface_points", f"there is no {place!r}; there are: {names}")
        if isinstance(place, int | np.integer) and not isinstance(place, bool):
            if not 0 <= place < len(self.positions):
                raise wrong(
                    "Component", "nodes", f"there is no number {place}; they go from 0 to {len(self.positions) - 1}"
                )
            return int(place)
        return self.node_at(place)  # type: ignore[arg-type]

    def motion_at(self, place: Place) -> sparse.csr_array:
        """(6, n_freedoms): displacement and small rotation of a node or interface point.

        Nodes of three freedoms turn as the affine field that fits their neighbours best.
        """
        number = self.number_of(place)
        if number >= len(self.nodes):
            return self.interface_points[number - len(self.nodes)].motion(self.nodes, self.freedoms_per_node)
        return node_motion(self.nodes, self.freedoms_per_node, self.stiffness_matrix, number)

    # ---- loads

    def load_at(
        self, place: Place, force: Sequence[float] = (0.0, 0.0, 0.0), torque: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> np.ndarray:
        """(n_freedoms,): a force (N) and a torque (N m) at a node or interface point as loads on the freedoms."""
        return self.motion_at(place).T @ np.concatenate([force, torque]).astype(float)

    def weight(self, acceleration: Sequence[float]) -> np.ndarray:
        """(n_freedoms,): the load of a uniform acceleration of gravity (m/s²)."""
        return self.mass_matrix @ (self.rigid_modes()[:, :3] @ np.asarray(acceleration, dtype=float))

    # ---- stiffening

    def beam_forces(self, displacement: np.ndarray) -> np.ndarray:
        """(elements,): tension of the beam elements in a small displacement of all freedoms, N."""
        return self._beams().axial_forces(displacement)

    def geometric_stiffness(self, axial_forces: Any) -> sparse.csr_array:
        """(n_freedoms, n_freedoms): what tension N in the beam elements (N, one each) adds to the stiffness."""
        beams = self._beams()
        forces = np.asarray(axial_forces, dtype=float)
        if forces.shape != beams.length.shape or not np.all(np.isfinite(forces)):
            raise wrong(
                "Component",
                "geometric_stiffness",
                f"found axial forces of the shape {forces.shape}; give {len(beams.length)} finite numbers (N), one "
                "for each element",
            )
        return beams.geometric_stiffness(forces, self.n_freedoms)

    def shortening_loads(self, first: np.ndarray, other: np.ndarray, stretch_only: bool = False) -> np.ndarray:
        """(n_freedoms, k): loads that strain the body as pairs of displacements, column by column, do in second order.

        A body that bends is shortened by them; see `BeamElements.shortening_loads`, `SolidElements.shortening_loads`.
        Of beams the stretch can be had without what brings twist and bending together; of solids it cannot.
        """
        if self.solids is not None:
            return self.solids.shortening_loads(self.nodes, first, other)
        return self._beams().shortening_loads(first, other, stretch_only)

    @property
    def knows_elements(self) -> bool:
        """Whether its elements are known, and by them how bending shortens it; not if it was given as matrices."""
        return self.beams is not None or self.solids is not None

    def _beams(self) -> BeamElements:
        if self.beams is None:
            raise wrong(
                "Component",
                "geometric_stiffness",
                "is known for components made of beams only; use `beam` or `frame`, or leave out the stiffening",
            )
        return self.beams

    # ---- files

    @classmethod
    def of_beams(cls, nodes: np.ndarray, beams: BeamElements) -> Component:
        """The component that consists of these beam elements."""
        points, stiffness = beams.mass_points(nodes), beams.stiffness_matrix(6 * len(nodes))
        part = cls(nodes, points.mass_matrix(), stiffness, lines=beams.edges, beams=beams)
        part.__dict__.update(_beam_points=points, added_mass=None)  # which it would find again
        return part

    @classmethod
    def from_files(cls, nodes: Any, mass_matrix: Any, stiffness_matrix: Any) -> Component:
        """A component from files of another program; each argument is a path, or the array itself.

        Parameters
        ----------
        nodes
            Text with x, y, z (m) in each row (`.csv` with commas) or `.npy`.
        mass_matrix, stiffness_matrix
            Matrix Market (`.mtx`, `.mtx.gz`), SciPy's sparse `.npz` or NumPy's `.npy`.
        """
        return cls(
            read_nodes(nodes),
            read_matrix("mass_matrix", mass_matrix),
            read_matrix("stiffness_matrix", stiffness_matrix),
        )

    def tree(self) -> Tree:
        """Everything as dictionaries of arrays; `from_values` reads it."""
        tree: Tree = {"nodes": self.nodes}
        if self.beams is not None:
            tree["beams"] = beams_tree(self.beams)
            if self.added_mass is not None:
                tree["mass_matrix"] = matrix_tree(self.mass_matrix)
        else:
            tree["mass_matrix"] = matrix_tree(self.mass_matrix)
            tree["stiffness_matrix"] = matrix_tree(self.stiffness_matrix)
            tree["freedoms_per_node"] = self.freedoms_per_node
            tree |= {name: array for name in ("lines", "triangles") if len(array := getattr(self, name))}
        if self.solids is not None:
            tree["solids"] = solids_tree(self.solids)
        if self.interface_points:
            tree["interface_points"] = [vars(point) for point in self.interface_points]
        return tree

    def to_values(self) -> Tree:
        """Everything as dictionaries, lists, numbers and words, as JSON has them."""
        return plain(self.tree())

    @classmethod
    def from_values(cls, values: Any) -> Component:
        """The component of `to_values` or `tree`; what is wrong in it is a `ModelError`."""
        matrices = ("mass_matrix", "stiffness_matrix", "freedoms_per_node", "lines", "triangles", "solids")
        tree = fields_of("Component", values, ("nodes",), ("beams", "interface_points", *matrices))
        nodes = points("Component", "nodes", opened("Component", "nodes", tree["nodes"]))
        if "beams" in tree:
            component = cls.of_beams(nodes, beams_from(tree["beams"], nodes))
            if "mass_matrix" in tree:
                mass = matrix_from("mass_matrix", tree["mass_matrix"], component.n_freedoms)
                component = replace(component, mass_matrix=mass)
        else:
            tree = fields_of("Component", values, ("nodes", *matrices[:2]), ("interface_points", *matrices[2:]))
            if (per_node := tree.get("freedoms_per_node", 6)) not in (3, 6):
                raise wrong("Component", "freedoms_per_node", f"found {per_node!r}; allowed are 3 and 6")
            mass, stiffness = (matrix_from(name, tree[name], per_node * len(nodes)) for name in matrices[:2])
            lines, triangles = (array_of("Component", name, tree.get(name, ()), int) for name in matrices[3:5])
            solids = solids_from(tree["solids"], nodes, per_node) if "solids" in tree else None
            component = cls(nodes, mass, stiffness, lines, triangles, solids=solids)
        if not isinstance(entries := tree.get("interface_points", []), list | tuple):
            raise wrong("Component", "interface_points", f"found {type(entries).__name__}; needed is a list")
        for entry in entries:
            point = fields_of("InterfacePoint", entry, ("name", "position", "nodes", "kind"))
            numbers = array_of("InterfacePoint", "nodes", point["nodes"], int)
            component = component.with_interface(numbers, point["position"], str(point["name"]), str(point["kind"]))
        return component

    def save(self, path: FilePath) -> None:
        """Write it to a `.npz` file."""
        write_npz(path, self.tree())

    @classmethod
    def load(cls, path: FilePath) -> Component:
        """Read what `save` wrote, or a file with the arrays `nodes`, `mass_matrix` and `stiffness_matrix`."""
        return cls.from_values(read_npz(path))


def _beyond_rounding(matrix: sparse.csr_array, other: sparse.csr_array) -> sparse.csr_array | None:
    """The difference of two matrices without what is rounding; None if nothing is left."""
    found = sparse.coo_array(matrix - other)
    size = np.sqrt(np.abs(matrix.diagonal()))  # no entry of a semidefinite matrix is larger than size_i size_j
    kept = np.abs(found.data) > _ROUNDING * size[found.row] * size[found.col]
    if not kept.any():
        return None
    return sparse.csr_array((found.data[kept], (found.row[kept], found.col[kept])), shape=matrix.shape)
