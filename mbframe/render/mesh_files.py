"""Surfaces from files: STL, OBJ, PLY, glTF, OFF.

They are read by trimesh, which is written in Python: a damaged file ends with an exception, while readers of VTK end
the process.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import ModelError, Problem
from ..shapes import MESH_SUFFIXES
from .surfaces import Surface

MAX_BYTES = 200_000_000
FEATURE_ANGLE = 35.0  # deg: edges sharper than this stay edges, others are shaded as a smooth surface


def read_surface(path: str, scale: float = 1.0) -> Surface:
    """The triangles of a mesh file, with its lengths multiplied by `scale`."""
    file = Path(path)
    if file.suffix.lower() not in MESH_SUFFIXES:
        allowed = ", ".join(MESH_SUFFIXES)
        raise _unusable(path, f"has the suffix {file.suffix!r}; allowed are {allowed}; convert the file to one of them")
    if not file.is_file():
        raise _unusable(path, "is not there; give the path of a file that exists")
    state = file.stat()
    if state.st_size > MAX_BYTES:
        raise _unusable(path, f"has {state.st_size:,} bytes; allowed are {MAX_BYTES:,}; reduce its triangles")
    return _read(str(file), state.st_mtime_ns, scale)


@lru_cache(maxsize=64)
def _read(path: str, changed: int, scale: float) -> Surface:
    """`changed` is when the file was last written: a new version is read again."""
    from .availability import pyvista, trimesh

    load = trimesh().load
    try:
        mesh = load(path, force="mesh", process=False, skip_materials=True)
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
        vertices, faces = scale * np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64).reshape(-1, 3)
    except Exception as error:
        raise _unusable(path, f"cannot be read as a surface: {error}; check the file in another program") from error
    used = faces.ravel()
    spatial = vertices.ndim == 2 and vertices.shape[1] == 3 and np.isfinite(vertices).all()
    if not spatial or not len(faces) or used.min() < 0 or used.max() >= len(vertices):
        raise _unusable(path, "holds no triangles with finite corners; export it as a triangulated surface")
    surface = pyvista().PolyData.from_regular_faces(vertices, faces)
    surface = surface.compute_normals(split_vertices=True, feature_angle=FEATURE_ANGLE, cell_normals=False)
    return Surface.of(surface.points, np.asarray(surface.point_data["Normals"]), np.asarray(surface.regular_faces))


def _unusable(path: str, message: str) -> ModelError:
    return ModelError([Problem("Mesh", "path", f"{path!r} {message}")])
