"""Mass, centre and inertia of the homogeneous solid inside a closed mesh."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem
from .mesh_files import read_surface

Array = NDArray[np.float64]

WELD = 1e-6  # corners nearer than this, relative to the mesh, are one


def mesh_mass_properties(path: str, density: float, scale: float = 1.0) -> tuple[float, Array, Array]:
    """Mass (kg), centre of mass (m) and inertia about it (kg m^2) of a mesh file, in the axes of the file.

    `density` is in kg/m^3, `scale` turns the file's unit into metres. A mesh that is not closed is a `ModelError`.
    """
    surface = read_surface(path, scale)
    try:
        return solid_properties(surface.vertices, surface.faces, density)
    except ValueError as error:
        raise ModelError([Problem("Mesh", "path", f"{path!r} {error}")]) from error


def solid_properties(vertices: ArrayLike, faces: ArrayLike, density: float) -> tuple[float, Array, Array]:
    """Mass, centre and inertia of the solid inside triangles.

    The divergence theorem makes them sums over the tetrahedra of the triangles with the origin: with the corners a, b,
    c of a triangle, V = det(a, b, c) / 6, the first moments are V (a + b + c) / 4 and the second ones
    int x x^T dV = V / 20 ((a + b + c)(a + b + c)^T + a a^T + b b^T + c c^T).
    """
    points, triangles = _welded(np.asarray(vertices, float), np.asarray(faces, int))
    _check_closed(triangles)
    middle = points.mean(axis=0)  # near the solid, so that differences of large numbers do not arise
    a, b, c = (points[triangles[:, k]] - middle for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    if abs(volume) <= 1e-12 * float(np.ptp(points, axis=0).max()) ** 3:
        raise ValueError("encloses no volume; export it as a solid")
    sums = a + b + c
    first = volumes @ sums / 4.0
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (sums, a, b, c)) / 20.0
    if volume < 0.0:  # the triangles look inwards
        volume, first, second = -volume, -first, -second
    center = first / volume
    moments = density * (second - volume * np.outer(center, center))
    return density * volume, center + middle, np.trace(moments) * np.eye(3) - moments


def _welded(points: Array, triangles: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """One corner for those in the same place: files store them once per triangle, or per crease."""
    size = float(np.ptp(points, axis=0).max()) or 1.0
    keys = np.round(points / (WELD * size)).astype(np.int64)
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    kept = which.reshape(-1)[triangles]
    proper = (kept[:, 0] != kept[:, 1]) & (kept[:, 1] != kept[:, 2]) & (kept[:, 2] != kept[:, 0])
    return points[first], kept[proper]


def _check_closed(triangles: NDArray[np.int64]) -> None:
    """Every edge must be passed once in each direction."""
    edges = Counter(map(tuple, np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)]).tolist()))
    single = sum(count != edges.get((j, i), 0) for (i, j), count in edges.items())
    if single or not edges:
        raise ValueError(
            f"is not closed: {single} edges have no partner; close its holes, or enter mass and inertia by hand"
        )
