"""Component modes: the shapes in which a body may deform, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from scipy import linalg

from ..disk.atomic import FilePath
from ..errors import ModelError
from .component import Component, Place
from .problems import wrong
from .storage import Tree, array_of, fields_of, plain, read_npz, write_npz
from .supports import Floating, settled, without_momentum

DEPENDENT = 1e-10  # smallest eigenvalue of the normalized shapes' products below which they are dependent
SOME = 64  # nodes of a solid by which its turns are judged
PAIRS_AT_ONCE = 32  # of shapes, whose strains in all cells are in memory together
ROUNDING = 1e-9  # turns of quadratic displacements, relative to these over the extent, that are not there
SMALL = 3000  # freedoms of a component whose factors may be kept in memory
Frame = Literal["node", "mean"]

_floating: WeakKeyDictionary[Component, Floating] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Participation:
    """How much of the body moves in modes of the held component.

    Parameters
    ----------
    frequencies
        (k,): of the held component, Hz.
    effective_masses
        (k, 6): (φᵀ M r)² for a rigid motion r of the supports along or about x, y and z; kg, and kg m² about `about`.
    totals
        (6,): the same of the whole body; sums over all modes approach them.
    about
        (3,): the point, m.
    """

    frequencies: np.ndarray
    effective_masses: np.ndarray
    totals: np.ndarray
    about: np.ndarray

    def __str__(self) -> str:
        heads = ("Hz", "x", "y", "z", "about x", "about y", "about z")
        lines = ["".join(f"{head:>12}" for head in heads)]
        shares = np.divide(
            self.effective_masses, self.totals, out=np.zeros_like(self.effective_masses), where=self.totals > 0.0
        )
        for frequency, row in zip(self.frequencies, shares, strict=True):
            lines.append(f"{frequency:12.6g}" + "".join(f"{100.0 * share:10.2f} %" for share in row))
        lines.append(f"{'sum':>12}" + "".join(f"{100.0 * share:10.2f} %" for share in shares.sum(axis=0)))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Modes:
    """m shapes of a component; its displacement is u = shapes @ q with the modal coordinates q.

    Made by `free_modes`, `clamped_modes`, `craig_bampton` and `user_modes`. Immutable.

    Parameters
    ----------
    component
        What deforms.
    shapes
        (n_freedoms, m): one shape a column.
    frequencies
        (m,): frequencies of the problem that the shapes come from, Hz.
    reference
        How the shapes are tied to the floating frame: the number of the node (or interface point) that neither moves
        nor turns in any of them; ``"mean"`` if they have no momentum (M-orthogonal to rigid motions); None if neither.
    interfaces
        Numbers of the nodes and interface points for which the shapes were made.
    method
        Which function made them.
    participation
        Effective masses of the modes of the held component, where there are any.
    """

    component: Component
    shapes: np.ndarray
    frequencies: np.ndarray
    reference: int | str | None
    interfaces: tuple[int, ...] = ()
    method: str = "user_modes"
    participation: Participation | None = None

    def __post_init__(self) -> None:
        for name in ("shapes", "frequencies"):
            # Rows in order, as files keep them: products of shapes of another layout are rounded otherwise, and a body
            # that comes back from a file would move a little differently.
            array = np.array(getattr(self, name), dtype=float, order="C")
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    # ---- sizes and reduced matrices

    @property
    def count(self) -> int:
        """Number of modes, m."""
        return self.shapes.shape[1]

    @cached_property
    def mass(self) -> np.ndarray:
        """(m, m): Φᵀ M Φ."""
        matrix = self.shapes.T @ (self.component.mass_matrix @ self.shapes)
        return 0.5 * (matrix + matrix.T)

    @cached_property
    def stiffness(self) -> np.ndarray:
        """(m, m): Φᵀ K Φ."""
        matrix = self.shapes.T @ (self.component.stiffness_matrix @ self.shapes)
        return 0.5 * (matrix + matrix.T)

    @cached_property
    def fingerprint(self) -> str:
        """Three numbers by which other shapes, or the same in another order, differ: their size and two mixtures."""
        size = float(np.linalg.norm(self.shapes)) or 1.0
        row, column = np.arange(len(self.shapes)), np.arange(self.count)
        mixed = [np.cos(a * row) @ self.shapes @ np.sin(1.0 + a * column) / size for a in (np.sqrt(2.0), np.sqrt(5.0))]
        return " ".join(f"{number:.9g}" for number in (size, *mixed))

    # ---- shapes at places

    @cached_property
    def translations(self) -> np.ndarray:
        """(n, 3, m): displacements of the nodes, ψ_R."""
        per_node = self.component.freedoms_per_node
        return self.shapes.reshape(len(self.component.nodes), per_node, self.count)[:, :3]

    @cached_property
    def rotations(self) -> np.ndarray:
        """(n, 3, m): small rotations of the nodes, ψ_θ; only with six freedoms per node (else see `motion_at`)."""
        if self.component.freedoms_per_node != 6:
            raise wrong("Modes", "rotations", "nodes have three freedoms, no rotations; ask `motion_at` for one node")
        return self.shapes.reshape(len(self.component.nodes), 6, self.count)[:, 3:]

    @cached_property
    def some_rotations(self) -> np.ndarray:
        """(k, 3, m): `rotations`; of nodes with three freedoms those of some that are spread over the component."""
        if self.component.freedoms_per_node == 6:
            return self.rotations
        count, found = len(self.component.nodes), []
        for node in range(0, count, -(-count // SOME)):
            with suppress(ModelError):  # one that has too few neighbours to turn
                found.append(self.motion_at(node)[3:])
        return np.reshape(found, (-1, 3, self.count))

    def motion_at(self, place: Place) -> np.ndarray:
        """(6, m): displacement ψ_R and rotation ψ_θ at a node or interface point (number, name or position)."""
        number = self.component.number_of(place)
        if number not in self._motions:
            found = self.component.motion_at(number) @ self.shapes
            found.setflags(write=False)
            self._motions[number] = found
        return self._motions[number]

    @cached_property
    def _motions(self) -> dict[int, np.ndarray]:
        """`motion_at` of the places that were asked for: markers ask again and again."""
        return {}

    # ---- floating frame

    def relative_to(self, frame: Frame, node: Place | None = None) -> Modes:
        """The same deformations seen from another floating frame: rigid motions are subtracted from every shape.

        Parameters
        ----------
        frame
            ``"node"``: the frame is attached to `node`, which neither moves nor turns in any shape. ``"mean"``: the
            shapes carry no momentum (Tisserand's mean axes): Φᵀ M R = 0 for rigid motions R.
        node
            Number, name or position; None for the reference of the modes, their first interface or node 0.

        Notes
        -----
        Shapes that differ by a rigid motion only are one deformation. If some are, a basis of what is left is returned,
        orthonormal with respect to the mass; the new `count` says how many.
        """
        if frame not in ("node", "mean"):
            raise wrong("Modes", "frame", f"found {frame!r}; allowed are 'node' and 'mean'")
        self.component.check_free("a floating frame")
        shapes = without_rigid_motion(self.component, self.shapes)
        basis = independent(self.component, shapes, np.sqrt(np.diag(self.mass)))
        if not basis.shape[1]:
            raise wrong("Modes", "shapes", f"all {self.count} shapes are rigid motions; give deformations")
        if basis.shape[1] < self.count:
            shapes, frequencies = orthonormal_modes(self.component, basis)
            kept = replace(self, shapes=shapes, frequencies=frequencies)
        else:
            kept = replace(self, shapes=shapes)
        if frame == "mean":
            return replace(kept, reference="mean")
        number = self._node(node)
        about = self.component.positions[number]
        motion = self.component.motion_at(number) @ kept.shapes
        return replace(kept, shapes=kept.shapes - self.component.rigid_modes(about) @ motion, reference=number)

    def _node(self, node: Place | None) -> int:
        if node is not None:
            return self.component.number_of(node)
        if isinstance(self.reference, int):
            return self.reference
        return self.interfaces[0] if self.interfaces else 0

    # ---- stiffening

    @cached_property
    def curves(self) -> np.ndarray:
        """(n_freedoms, m, m): g with the displacement u = Φ q + ½ qᵀ g q of a body that bends without being stretched.

        The strain is ε(u) + ½ ε₂(u, u): for von Kármán's beams u' + ½ (v'² + w'²), for solids that of Green and
        Lagrange with ε₂(a, b) = ½ (∇aᵀ∇b + ∇bᵀ∇a). g_kl is the displacement that undoes as much of ε₂(φ_k, φ_l) as any
        displacement can: ∫ ε(w) : C : (ε(g) + ε₂) dV = 0 for all w, which is K g = -f with the forces f of that
        strain. So the energy has no terms of third order, ε(Φq) : C : (ε(qᵀgq) + ε₂(Φq, Φq)) / 2, and is ½ qᵀ K q up to
        the fourth. (The derivative of the tangent stiffness, of which modal derivatives are made as a rule, has the
        stresses of Φq besides: these are in the work that loads do on g.) g has no momentum, as shapes in mean axes.
        """
        return self._curved()

    @cached_property
    def shortened(self) -> np.ndarray:
        """(n_freedoms, m, m): `curves` of what only stretches beams, without the part that twists them where they bend.

        Of solids, whose strain has no such parts, the same as `curves`.
        """
        return self._curved(stretch_only=True) if self.component.beams is not None else self.curves

    def _curved(self, stretch_only: bool = False) -> np.ndarray:
        component, m = self.component, self.count
        first, other = np.triu_indices(m)
        body, moved = floating(component), np.empty((component.n_freedoms, len(first)))
        for some in np.array_split(np.arange(len(first)), -(-len(first) // PAIRS_AT_ONCE)) if m else ():
            loads = component.shortening_loads(self.shapes[:, first[some]], self.shapes[:, other[some]], stretch_only)
            moved[:, some] = body.displacement(loads)
        if component.freedoms_per_node == 6:
            turns = moved.reshape(-1, 6, len(first))[:, 3:]
            turns[np.abs(turns) * component.extent < ROUNDING * np.abs(moved).max(initial=0.0)] = 0.0
        curves = np.zeros((component.n_freedoms, m, m))
        curves[:, first, other] = curves[:, other, first] = moved
        return curves

    def curve_at(self, place: Place) -> np.ndarray:
        """(6, m, m): second derivatives of the displacement and the rotation vector at a node or interface point."""
        flat = self.component.motion_at(place) @ self.curves.reshape(self.component.n_freedoms, -1)
        return flat.reshape(6, self.count, self.count) + self.bend_at(place)

    def bend_at(self, place: Place) -> np.ndarray:
        """(6, m, m): what of them is no displacement of nodes, but a finite turn of an interface point."""
        number = self.component.number_of(place) - len(self.component.nodes)
        if number < 0:
            return np.zeros((6, self.count, self.count))
        point = self.component.interface_points[number]
        return point.bend(self.component.nodes, self.component.freedoms_per_node, self.shapes)

    # ---- files

    def tree(self) -> Tree:
        """Everything as dictionaries of arrays; `from_values` reads it."""
        tree: Tree = {
            "component": self.component.tree(),
            "shapes": self.shapes,
            "frequencies": self.frequencies,
            "interfaces": np.array(self.interfaces, dtype=np.int64),
            "method": self.method,
        }
        if self.reference is not None:
            tree["reference"] = self.reference
        if self.participation is not None:
            tree["participation"] = vars(self.participation)
        return tree

    def to_values(self) -> Tree:
        """Everything as dictionaries, lists, numbers and words, as JSON has them; see `save` for large components."""
        return plain(self.tree())

    @classmethod
    def from_values(cls, values: Any) -> Modes:
        """The modes of `to_values` or `tree`; what is wrong in them is a `ModelError`."""
        needed = ("component", "shapes", "frequencies", "interfaces", "method")
        tree = fields_of("Modes", values, needed, ("reference", "participation"))
        component = Component.from_values(tree["component"])
        shapes, frequencies = (array_of("Modes", name, tree[name]) for name in ("shapes", "frequencies"))
        if shapes.ndim != 2 or len(shapes) != component.n_freedoms or shapes.shape[1:] != frequencies.shape:
            raise wrong(
                "Modes",
                "shapes",
                f"has the shape {shapes.shape} and there are {frequencies.size} frequencies; needed is "
                f"({component.n_freedoms}, m) and m frequencies",
            )
        reference = tree.get("reference")
        if not (reference is None or (isinstance(reference, str) and reference == "mean")):
            reference = component.number_of(reference)
        numbers = array_of("Modes", "interfaces", tree["interfaces"], int).ravel().tolist()
        participation = None
        if "participation" in tree:
            names = tuple(declared.name for declared in fields(Participation))
            given = fields_of("Modes.participation", tree["participation"], names)
            participation = Participation(*(array_of("Modes.participation", name, given[name]) for name in names))
        return cls(
            component,
            shapes,
            frequencies,
            reference,
            as_numbers(component, numbers),
            str(tree["method"]),
            participation,
        )

    def save(self, path: FilePath) -> None:
        """Write the modes, with their component, to a `.npz` file."""
        write_npz(path, self.tree())

    @classmethod
    def load(cls, path: FilePath) -> Modes:
        """Read what `save` wrote."""
        return cls.from_values(read_npz(path))

    # ---- words

    def __str__(self) -> str:
        part = self.component
        tied = {None: "", "mean": ", mean axes"}.get(self.reference, f", frame at node {self.reference}")  # type: ignore[arg-type]
        held = f", interfaces {', '.join(map(str, self.interfaces))}" if self.interfaces else ""
        first = f"{self.method}: {self.count} modes of {len(part.nodes)} nodes ({part.n_freedoms} freedoms){held}{tied}"
        lines = [first, "frequencies (Hz): " + "  ".join(f"{value:.6g}" for value in self.frequencies)]
        if self.participation is not None and len(self.participation.frequencies):
            about = ", ".join(f"{x:.6g}" for x in self.participation.about)
            lines += [f"modes of the held component and their effective masses, about ({about}):"]
            lines += [str(self.participation)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Modes: {str(self).splitlines()[0]}>"


def without_rigid_motion(component: Component, shapes: np.ndarray) -> np.ndarray:
    """The shapes without the rigid motion that carries their momentum."""
    rigid = component.rigid_modes(component.centre_of_mass)
    return without_momentum(shapes, rigid, component.mass_matrix @ rigid)


def floating(component: Component) -> Floating:
    """The component without supports; factors of a small one are kept, since making them takes longest."""
    if component in _floating:
        return _floating[component]
    component.check_free("a floating body")
    rigid = component.rigid_modes(component.centre_of_mass)
    made = Floating(component.stiffness_matrix, component.mass_matrix, rigid)
    if component.n_freedoms <= SMALL:
        _floating[component] = made
    return made


def independent(component: Component, shapes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """A basis of the shapes' span with Φᵀ M Φ = 1. `sizes` (√φᵀ M φ) say what a shape was from which parts were taken
    away: if next to nothing is left of it, that is rounding.
    """
    left = np.sqrt(np.einsum("ij,ij->j", shapes, component.mass_matrix @ shapes))
    usable = shapes[:, left > np.sqrt(DEPENDENT) * sizes]
    usable = usable / left[left > np.sqrt(DEPENDENT) * sizes]
    values, vectors = linalg.eigh(usable.T @ (component.mass_matrix @ usable))
    good = values > DEPENDENT
    return usable @ (vectors[:, good] / np.sqrt(values[good]))


def orthonormal_modes(component: Component, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shapes in the span of a basis with Φᵀ M Φ = 1 and diagonal Φᵀ K Φ, and their frequencies in Hz."""
    mass = basis.T @ (component.mass_matrix @ basis)
    stiffness = basis.T @ (component.stiffness_matrix @ basis)
    inverse, coefficients = linalg.eigh(0.5 * (mass + mass.T), 0.5 * (stiffness + stiffness.T))
    order = np.argsort(-inverse)
    squares = 1.0 / inverse[order]
    shapes = settled(basis @ coefficients[:, order], squares, component.mass_matrix)
    return shapes, np.sqrt(squares) / (2.0 * np.pi)


def as_numbers(component: Component, places: Sequence[Place]) -> tuple[int, ...]:
    """The numbers of interfaces that are given by number, name or position; each may be given once."""
    numbers = tuple(component.number_of(place) for place in places)
    for number in numbers:
        if numbers.count(number) > 1:
            raise wrong(
                "craig_bampton", "interfaces", f"number {number} is given {numbers.count(number)} times; give it once"
            )
    return numbers
