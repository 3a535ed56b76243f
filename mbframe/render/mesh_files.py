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
from ..limits import within_time
from ..shapes import MESH_SUFFIXES, OUTSIDE
from .gltf_meshes import triangles as gltf_triangles
from .mesh_normals import shaded, welded
from .mesh_parts import Neighbours, largest_file
from .surfaces import Surface

FEATURE_ANGLE = 35.0  # deg: edges sharper than this stay edges, others are shaded as a smooth surface

WELD = 1e-8  # corners nearer than this, relative to the mesh, are one
LARGEST, SMALLEST = 1e12, 1e-12  # m: in single precision, in which all is drawn, cubes of lengths must be finite
RESOLVED = 1e-5  # extent over distance from the origin, at least: single precision resolves 1e-7 of the distance


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
    from .availability import trimesh

    file = Path(path)
    kind = file.suffix.lower()[1:]
    try:
        content = contents(path, largest_file())

        def read() -> Surface:
            beside = Neighbours(file.parent)
            if kind in ("gltf", "glb"):
                points, faces = gltf_triangles(content, kind == "glb", beside)
            else:
                options = {"force": "mesh", "process": False, "skip_materials": True}
                mesh = trimesh().load(io.BytesIO(content), file_type=kind, resolver=beside, **options)
                points, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64).reshape(-1, 3)
            return _surface(points, faces, scale)

        return within_time(repr(path), read)
    except ModelError as error:
        named = (repr(path), f"file {path!r}", "Mesh")
        told = [one.message if one.element in named else f"{one.element} {one.message}" for one in error.problems]
        raise _unusable(path, "; ".join(told)) from error
    except (Exception, MemoryError) as error:
        reason = str(error) or type(error).__name__  # checks inside of readers often say nothing
        raise _unusable(path, f"cannot be read as a surface: {reason}; check the file in another program") from error


def _surface(points: np.ndarray, faces: np.ndarray, scale: float) -> Surface:
    """The triangles of a file as they are shown; a `ModelError` if they cannot be."""
    used = faces.ravel()
    fit = points.ndim == 2 and points.shape[1] == 3 and len(used) > 0 and used.min() >= 0 and used.max() < len(points)
    if not fit or not np.isfinite(points[used]).all():
        raise _refused("holds no triangles with finite corners; export it as a triangulated surface")
    with np.errstate(over="ignore"):
        points = scale * points
        farthest, extent = float(np.abs(points[used]).max()), float(np.ptp(points[used], axis=0).max())
    if not farthest <= LARGEST or not extent >= SMALLEST:
        found = f"reaches {farthest:.3g} m from its origin and is {extent:.3g} m long"
        raise _refused(
            f"{found}; allowed are at most {LARGEST:g} m and at least {SMALLEST:g} m; check its unit (scale)"
        )
    if extent < RESOLVED * farthest:
        found = f"is {extent:.3g} m long and lies {farthest:.3g} m from its origin, too far to be shown"
        raise _refused(f"{found}; export it with coordinates near the origin")
    corners, triangles = welded(points, faces, WELD)
    surface = Surface.of(*shaded(corners, triangles, np.radians(FEATURE_ANGLE)))
    if not len(surface.faces):
        raise _refused("holds no triangles that have an area; check it in another program")
    return surface


def _refused(message: str) -> ModelError:
    return ModelError([Problem("Mesh", "path", message)])


def _unusable(path: str, message: str) -> ModelError:
    return _refused(f"{path!r} {message}")
