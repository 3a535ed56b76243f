"""Units of mesh files, which do not name them. No widgets here."""

from __future__ import annotations

from typing import Final

import numpy as np

MESH_UNITS: Final = {"mm": 1e-3, "m": 1.0, "cm": 1e-2, "inch": 0.0254}
"""Units of mesh files, in metres."""
LARGEST_MESH: Final = 20.0
"""Largest mesh that is taken to be drawn in metres."""


def mesh_size(path: str) -> float:
    """The largest dimension of a mesh, in the unit of its file, which no mesh file names."""
    from mbframe.render.mesh_files import read_surface

    return float(np.ptp(read_surface(path).vertices, axis=0).max())
