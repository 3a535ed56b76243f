"""Surfaces from files: STL, OBJ, PLY, glTF, OFF.

They are read by trimesh, which is written in Python: a damaged file ends with an exception, while readers of VTK end
the process.
"""

from __future__ import annotations

import io
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..disk.inputs import contents
from ..errors import ModelError, Problem
from ..limits import check_time, within_time
from ..shapes import MESH_SUFFIXES, OUTSIDE
from .mesh_parts import Neighbours, check_gltf, largest_file
from .surfaces import Surface

FEATURE_ANGLE = 35.0  # deg: edges sharper than this stay edges, others are shaded as a smooth surface

NORMALS = 8e-9  # s for each pair of triangles that meet in a corner: VTK compares all of them


def read_surface(path: str, scale: float = 1.0) -> Surface:
    """The triangles of a mesh file, with its lengths multiplied by `scale`."""
    if path.startswith(OUTSIDE):
        place = path.removeprefix(OUTSIDE)
        remedy = f"copy it there, or allow its folder: with mb.import_limits(mesh_folders=[{os.path.dirname(place)!r}])"
        raise _unusable(place, f"lies outside of the folder of the file that names it, and is not read; {remedy}: ...")
    file = Path(path)
    if file.suffix.lower() not in MESH_SUFFIXES:
        allowed = ", ".join(MESH_SUFFIXES)
        raise _unusable(path, f"has the suffix {file.suffix!r}; allowed are {allowed}; convert the file to one of them")
    try:
        changed = file.stat().st_mtime_ns
    except (OSError, ValueError):
        raise _unusable(path, "is not there; give the path of a file that exists") from None
    return _read(str(file), changed, scale)


@lru_cache(maxsize=64)
def _read(path: str, changed: int, scale: float) -> Surface:
    """`changed` is when the file was last written: a new version is read again."""
    from .availability import pyvista, trimesh

    load, file = trimesh().load, Path(path)
    suffix = file.suffix.lower()
    try:
        content = contents(path, largest_file())

        def read() -> tuple[np.ndarray, np.ndarray]:
            if suffix in (".gltf", ".glb"):
                check_gltf(content)
            beside = Neighbours(file.parent)
            options = {"force": "mesh", "process": False, "skip_materials": True}
            mesh = load(io.BytesIO(content), file_type=suffix[1:], resolver=beside, **options)
            mesh.merge_vertices(merge_tex=True, merge_norm=True)
            return scale * np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64).reshape(-1, 3)

        vertices, faces = within_time(repr(path), read)
    except ModelError as error:
        raise _unusable(path, "; ".join(problem.message for problem in error.problems)) from error
    except (Exception, MemoryError) as error:
        raise _unusable(path, f"cannot be read as a surface: {error}; check the file in another program") from error
    used = faces.ravel()
    spatial = vertices.ndim == 2 and vertices.shape[1] == 3 and np.isfinite(vertices).all()
    if not spatial or not len(faces) or used.min() < 0 or used.max() >= len(vertices):
        raise _unusable(path, "holds no triangles with finite corners; export it as a triangulated surface")
    meeting = np.bincount(used).astype(float)
    try:
        check_time("its normals", NORMALS * float(meeting @ meeting))
    except ModelError as error:
        most = f"{meeting.max():,.0f} triangles meet in one corner"
        raise _unusable(path, f"{most}; {error.problems[0].message}; or triangulate it otherwise") from None
    surface = pyvista().PolyData.from_regular_faces(vertices, faces)
    surface = surface.compute_normals(split_vertices=True, feature_angle=FEATURE_ANGLE, cell_normals=False)
    return Surface.of(surface.points, np.asarray(surface.point_data["Normals"]), np.asarray(surface.regular_faces))


def _unusable(path: str, message: str) -> ModelError:
    return ModelError([Problem("Mesh", "path", f"{path!r} {message}")])
