"""A connecting rod as a mesh of hexahedra: two eyes and a shank between them.

``python -m mbframe.flexible.rod_mesh > assets/meshes/connecting_rod.msh`` renews the mesh that ships with the
application; a test keeps it current.
"""

from __future__ import annotations

import sys

import numpy as np

from .problems import wrong


def connecting_rod(
    length: float = 0.15,
    big_bore: float = 0.024,
    big_rim: float = 0.036,
    small_bore: float = 0.011,
    small_rim: float = 0.018,
    widths: tuple[float, float] = (0.032, 0.021),
    eye_thickness: float = 0.024,
    shank_thickness: float = 0.014,
    refinement: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """(points, cells): the rod lies along x, with the centre of the big eye at the origin and the bores along z.

    Parameters
    ----------
    length
        Between the centres of the bores, m.
    big_bore, big_rim, small_bore, small_rim
        Radii, m.
    widths
        Of the shank where it meets the rims of the big and the small eye, m.
    eye_thickness, shank_thickness
        Along z, m. The shank's changes smoothly from one to the other.
    refinement
        Elements per direction are multiplied by this.

    Notes
    -----
    Cells have 8 nodes in the order of VTK: four below counterclockwise, then four above.
    """
    if big_rim + small_rim >= length:
        raise wrong(
            "connecting_rod", "length", f"found {length!r}; the rims reach {big_rim + small_rim:.3g} m, give more"
        )
    across, around, radial, along, layers = (refinement * n for n in (4, 16, 2, 12, 2))
    big = _ring(big_bore, big_rim, widths[0], across, around, radial)
    small = _ring(small_bore, small_rim, widths[1], across, around, radial) * [-1.0, 1.0] + [length, 0.0]
    start, end = big[-1, : across + 1], small[-1, : across + 1]
    part = np.linspace(0.0, 1.0, along + 1)[1:-1, None, None]
    shank = (1.0 - part) * start + part * end

    ring = np.arange((radial + 1) * (across + around)).reshape(radial + 1, -1)
    rings = [ring, ring.size + ring]
    middle = 2 * ring.size + np.arange((along - 1) * (across + 1)).reshape(along - 1, -1)
    rows = np.vstack([rings[0][-1, : across + 1], middle, rings[1][-1, : across + 1]])
    quads = np.vstack([_quads(np.column_stack([grid, grid[:, 0]])) for grid in rings] + [_quads(rows)])

    plane = np.vstack([big.reshape(-1, 2), small.reshape(-1, 2), shank.reshape(-1, 2)])
    ends = np.clip(4.0 * np.minimum(part, 1.0 - part), 0.0, 1.0)  # a quarter of the shank on either side
    waist = (shank_thickness - eye_thickness) * np.sin(0.5 * np.pi * ends) ** 2
    thickness = np.full(len(plane), eye_thickness)
    thickness[2 * ring.size :] += np.repeat(waist.ravel(), across + 1)
    heights = np.linspace(-0.5, 0.5, layers + 1)
    points = np.vstack([np.column_stack([plane, height * thickness]) for height in heights])
    corners = plane[quads]
    diagonals = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    clockwise = diagonals[0][:, 0] * diagonals[1][:, 1] < diagonals[0][:, 1] * diagonals[1][:, 0]
    quads = np.where(clockwise[:, None], quads[:, ::-1], quads)
    below = [np.hstack([quads, quads + len(plane)]) + k * len(plane) for k in range(layers)]
    return points, np.vstack(below)


def _ring(bore: float, rim: float, width: float, across: int, around: int, radial: int) -> np.ndarray:
    """(radial + 1, across + around, 2): points of a ring about the origin; the first face the shank, towards +x."""
    reach = np.arcsin(0.5 * width / rim)
    facing = np.linspace(-reach, reach, across + 1)
    away = np.linspace(reach, 2.0 * np.pi - reach, around + 1)[1:-1]
    angles = np.concatenate([facing, away])
    radii = np.linspace(bore, rim, radial + 1)
    return radii[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _quads(grid: np.ndarray) -> np.ndarray:
    """(k, 4): the cells of a grid of point numbers, each once around."""
    corners = [grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]]
    return np.stack([corner.ravel() for corner in corners], axis=1)


def gmsh_text(points: np.ndarray, cells: np.ndarray) -> str:
    """A mesh of hexahedra in Gmsh's format 2.2."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(points))]
    lines += [f"{k} " + " ".join(f"{x:.9g}" for x in point + 0.0) for k, point in enumerate(points, 1)]
    lines += ["$EndNodes", "$Elements", str(len(cells))]
    lines += [f"{k} 5 2 1 1 " + " ".join(map(str, cell + 1)) for k, cell in enumerate(cells, 1)]
    return "\n".join([*lines, "$EndElements", ""])


if __name__ == "__main__":
    sys.stdout.write(gmsh_text(*connecting_rod()))
