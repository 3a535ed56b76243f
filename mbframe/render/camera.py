"""Where a picture is taken from."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem

Array = NDArray[np.float64]

# From where to look, in (right, towards the viewer, up) of the front view.
VIEWS: Final[dict[str, tuple[float, float, float]]] = {
    "iso": (0.62, 1.0, 0.5),
    "front": (0.0, 1.0, 0.0),
    "back": (0.0, -1.0, 0.0),
    "right": (1.0, 0.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "top": (0.0, 0.0, 1.0),
    "bottom": (0.0, 0.0, -1.0),
}
PLANAR_ISO: Final = (0.3, 1.0, 0.3)
ANGLE: Final = 25.0  # of view, degrees: long enough a lens that parallel bars look parallel
MARGIN: Final = 1.15  # how much more than needed is in view


def view_directions(name: str, up: ArrayLike, planar: bool = False) -> tuple[Array, Array]:
    """Unit vectors from the mechanism to the camera and upwards in the picture, for the vertical `up`.

    A planar mechanism is tilted less in the view "iso", because its lengths matter more than its depth.
    """
    if name not in VIEWS:
        allowed = ", ".join(map(repr, VIEWS))
        raise ModelError([Problem("Scene", "view", f"found {name!r}; allowed are {allowed}; choose one of them")])
    frame = front_frame(up)
    direction = PLANAR_ISO if planar and name == "iso" else VIEWS[name]
    towards = frame @ (np.array(direction) / np.linalg.norm(direction))
    vertical = frame[:, 1] if name in ("top", "bottom") else frame[:, 2]
    return towards, (-vertical if name == "top" else vertical)


def front_frame(up: ArrayLike) -> Array:
    """Right, towards the viewer, up: columns. With z up the front view looks along y, with y up against z."""
    z = np.asarray(up, float)
    z = z / np.linalg.norm(z)
    right = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    right = right - (right @ z) * z
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(right, z), z])


def distance_for(points: Array, towards: Array, up: Array, center: Array, angle: float, aspect: float) -> float:
    """How far a camera must be from `center` for all points (n, 3) to be in its view of an angle in degrees."""
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    above = np.cross(towards, right)
    offset = points - center
    half = np.tan(np.radians(angle) / 2.0)
    needed = np.maximum(np.abs(offset @ above) / half, np.abs(offset @ right) / (half * aspect)) + offset @ towards
    return float(np.max(needed, initial=1e-9))


def fitted(points: Array, towards: Array, up: Array, aspect: float, margin: float = MARGIN) -> tuple[Array, float]:
    """Where to look and from how far, so that all points (n, 3) are in view with some room around them."""
    right = np.cross(up, towards)
    sides = np.stack([right, np.cross(towards, right), towards], axis=-1)
    seen = points @ sides
    center = sides @ ((seen.min(axis=0) + seen.max(axis=0)) / 2.0)
    return center, distance_for(points, towards, up, center, ANGLE / margin, aspect)


def place(camera: Any, center: Array, towards: Array, up: Array, distance: float) -> None:
    """Put a PyVista camera there."""
    camera.focal_point = tuple(center)
    camera.position = tuple(center + distance * towards)
    camera.up = tuple(up)
    camera.view_angle = ANGLE
    camera.parallel_scale = distance * np.tan(np.radians(ANGLE) / 2.0)
