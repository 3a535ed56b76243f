"""Motions for ParaView: unstructured grids, one for each frame, listed with their instants in a .pvd file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..errors import shown
from ..state import Motion, State
from .film import Film
from .parts import Part
from .placement import Fixed, Poses

Array = NDArray[np.float64]
Cells = tuple[int, NDArray[np.int64]]  # VTK's kind, and node numbers (c, k) in its order

LINE, TRIANGLE = 3, 5
SOLIDS = {4: "Tetra", 10: "QuadraticTetra", 8: "Hexahedron", 27: "TriQuadraticHexahedron"}


@dataclass(frozen=True)
class Piece:
    """What is written of a body: points in its axes, of a flexible body its nodes, and cells between them."""

    body: str
    points: Array
    cells: Sequence[Cells]
    flexible: FlexibleBody | None = None

    def at(self, motion: Motion) -> tuple[Array, Array, Array]:
        """Where the points are, how far deformation displaces them, and their velocities; global, (n, 3) each."""
        rotation = np.asarray(motion.rotation)
        places, moved, rate = self.points, np.zeros_like(self.points), np.zeros_like(self.points)
        if self.flexible is not None and len(motion.modal_coordinates):
            modal, speeds = motion.modal_coordinates, motion.modal_velocities
            moves = self.flexible.shapes_in_frame.translations
            moved, rate = moves @ modal, moves @ speeds
            if (bends := self.flexible.curves) is not None:
                moved, rate = moved + 0.5 * (bends @ modal) @ modal, rate + (bends @ speeds) @ modal
        arms = (places + moved) @ rotation.T
        velocity = motion.velocity + np.cross(motion.angular_velocity, arms)
        return motion.position + arms, moved @ rotation.T, velocity + rate @ rotation.T


def write_series(film: Film, states: Iterable[State], folder: Path, stem: str) -> list[Path]:
    """Write `stem_0000.vtu` and so on; the instants are those of the film's frames."""
    pieces = pieces_of(film)
    written = []
    for number, state in enumerate(states):
        written.append(folder / f"{stem}_{number:04d}.vtu")
        _write(pieces, film, state, written[-1])
    return written


def collection(names: Sequence[str], times: Sequence[float]) -> str:
    """The content of a .pvd file that lists files with their instants."""
    lines = [
        f'    <DataSet timestep="{t:.12g}" part="0" file={quoteattr(name)}/>'
        for name, t in zip(names, times, strict=True)
    ]
    head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n  <Collection>'
    return "\n".join([head, *lines, "  </Collection>", "</VTKFile>", ""])


def pieces_of(film: Film) -> list[Piece]:
    """The bodies of a film: flexible ones by their elements, others by the surfaces by which they are drawn."""
    found = []
    for body in film.system.bodies:
        if isinstance(body, FlexibleBody):
            part = body.modes.component
            if cells := _cells(part):
                found.append(Piece(body.name, part.nodes, cells, body))
                continue
        drawn = [part for part in film.parts if part.element == body.name and part.role == "body"]
        found += [_surface(body.name, part) for part in drawn if isinstance(part.placement, Fixed)]
    return found


def _cells(part: Any) -> list[Cells]:
    """The elements of a component in VTK's order of nodes; of one given as matrices what is drawn of it."""
    if part.solids is not None:
        return [_solid_cells(part.solids, part.nodes)]
    return [(kind, cells) for kind, cells in ((LINE, part.lines), (TRIANGLE, part.triangles)) if len(cells)]


def _solid_cells(solids: Any, nodes: Array) -> Cells:
    """Solid elements in VTK's order, in which the axes of a cell are right-handed."""
    from vtkmodules import vtkCommonDataModel

    kind = getattr(vtkCommonDataModel, f"vtk{SOLIDS[solids.cells.shape[1]]}")()
    theirs = np.array(kind.GetParametricCoords()).reshape(-1, 3)

    def order(places: Array) -> NDArray[np.intp]:
        return np.linalg.norm(places[:, None] - solids.places[None], axis=2).argmin(axis=1)

    cells = solids.cells[:, order(theirs)]
    origin, *ends = (int(np.argmin(np.linalg.norm(theirs - place, axis=1))) for place in (np.zeros(3), *np.eye(3)))
    edges = nodes[cells[:, ends]] - nodes[cells[:, [origin]]]
    turned = np.linalg.det(edges) < 0.0
    cells[turned] = solids.cells[turned][:, order(theirs[:, [1, 0, 2]])]
    return kind.GetCellType(), cells


def _surface(body: str, part: Part) -> Piece:
    """The surface of a rigid body, in its axes."""
    still = part.transform(Poses({body: (np.zeros(3), np.eye(3))}))
    points = np.asarray(part.surface.vertices, float) * still.scale @ np.asarray(still.rotation).T + still.translation
    return Piece(body, points, [(TRIANGLE, np.asarray(part.surface.faces, np.int64))])


def _write(pieces: Sequence[Piece], film: Film, state: State, path: Path) -> None:
    import pyvista as pv

    columns: dict[str, list[Array]] = {"displacement": [], "velocity": [], "stress": []}
    points, cells, kinds, owners, count = [], [], [], [], 0
    for number, piece in enumerate(pieces):
        places, moved, velocity = piece.at(state.motions[piece.body])
        points.append(places)
        told = film.coloring is not None and piece.flexible is not None and piece.body in film.coloring.values
        stress = film.coloring.at(piece.body, state.t) if told and film.coloring is not None else None
        columns["stress"].append(np.full(len(places), np.nan) if stress is None else stress)
        columns["displacement"].append(moved)
        columns["velocity"].append(velocity)
        for kind, nodes in piece.cells:
            sizes = np.full((len(nodes), 1), nodes.shape[1])
            cells.append(np.hstack([sizes, nodes + count]).ravel())
            kinds.append(np.full(len(nodes), kind, np.uint8))
            owners.append(np.full(len(nodes), number))
        count += len(places)
    grid = pv.UnstructuredGrid(np.concatenate(cells), np.concatenate(kinds), np.concatenate(points))
    for name, parts in columns.items():
        if name != "stress" or film.coloring is not None:
            grid.point_data[name] = np.concatenate(parts)
    grid.cell_data["body"] = np.concatenate(owners)
    grid.field_data["bodies"] = [shown(piece.body) for piece in pieces]
    grid.field_data["TimeValue"] = [state.t]
    grid.save(path)
