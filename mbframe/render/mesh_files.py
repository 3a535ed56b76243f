"""Surfaces from files: STL, OBJ, PLY, glTF."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import ModelError, Problem
from ..shapes import MESH_SUFFIXES
from .surfaces import Surface


def read_surface(path: str, scale: float = 1.0) -> Surface:
    """The triangles of a mesh file, with its lengths multiplied by `scale`."""
    file = Path(path)
    if file.suffix.lower() not in MESH_SUFFIXES:
        allowed = ", ".join(MESH_SUFFIXES)
        raise _unusable(path, f"has the suffix {file.suffix!r}; allowed are {allowed}; convert the file to one of them")
    if not file.is_file():
        raise _unusable(path, "is not there; give the path of a file that exists")
    return _read(str(file), file.stat().st_mtime_ns, scale)


@lru_cache(maxsize=64)
def _read(path: str, changed: int, scale: float) -> Surface:
    """`changed` is when the file was last written: a new version is read again."""
    from .availability import pyvista

    try:
        data = pyvista().read(path)
        if hasattr(data, "combine"):  # a file of several blocks
            data = data.combine()
        surface = data.extract_surface(algorithm="dataset_surface").triangulate()
        surface = surface.compute_normals(split_vertices=True, feature_angle=35.0, cell_normals=False)
        vertices, faces = np.asarray(surface.points), np.asarray(surface.regular_faces)
    except Exception as error:
        raise _unusable(path, f"cannot be read as a surface: {error}; check the file in another program") from error
    if not len(faces) or not np.all(np.isfinite(vertices)):
        raise _unusable(path, "holds no triangles with finite corners; export it as a triangulated surface")
    return Surface.of(scale * vertices, np.asarray(surface.point_data["Normals"]), faces)


def _unusable(path: str, message: str) -> ModelError:
    return ModelError([Problem("Mesh", "path", f"{path!r} {message}")])
