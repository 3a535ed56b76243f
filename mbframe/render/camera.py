"""Where a picture is taken from."""

from __future__ import annotations

from collections.abc import Sequence
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


def view_directions(name: str | Sequence[float], up: ArrayLike, planar: bool = False) -> tuple[Array, Array]:
    """Unit vectors from the mechanism to the camera and upwards in the picture, for the vertical `up`.

    `name` is that of a view, or a direction in (right, towards the viewer, up) of the front view. A planar mechanism is
    tilted less in the view "iso", because its lengths matter more than its depth.
    """
    if not isinstance(name, str):
        frame = front_frame(up)
        towards = frame @ (np.asarray(name, float) / np.linalg.norm(name))
        across = frame[:, 2] - (frame[:, 2] @ towards) * towards
        return towards, across / np.linalg.norm(across)
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
    right, above, near = ((points - center) @ view_axes(towards, up)).T
    half = np.tan(np.radians(angle) / 2.0)
    needed = np.maximum(np.abs(above) / half, np.abs(right) / (half * aspect)) + near
    return float(np.max(needed, initial=1e-9))


def fitted(points: Array, towards: Array, up: Array, aspect: float, margin: float = MARGIN) -> tuple[Array, float]:
    """Where to look and from how far, so that all points (n, 3) are in view with some room around them."""
    sides = view_axes(towards, up)
    seen = points @ sides
    center = sides @ ((seen.min(axis=0) + seen.max(axis=0)) / 2.0)
    return center, distance_for(points, towards, up, center, narrowed(margin), aspect)


def fitted_beside(
    points: Array, towards: Array, up: Array, aspect: float, margin: float = MARGIN, *, above: float, below: float
) -> tuple[Array, float]:
    """As `fitted`, in what is left of a picture of which shares of the height, above and below, are covered."""
    free = 1.0 - above - below
    center, distance = fitted(points, towards, up, aspect / free, margin)
    distance /= free
    height = 2.0 * distance * np.tan(np.radians(ANGLE) / 2.0)
    return center - 0.5 * (below - above) * height * view_axes(towards, up)[:, 1], distance


def narrowed(margin: float) -> float:
    """The angle of view, degrees, that leaves some room around what is seen."""
    return ANGLE / margin


def view_axes(towards: Array, up: Array) -> Array:
    """To the right, upwards in the picture and towards the camera: columns."""
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(towards, right), towards], axis=-1)


def seen_size(
    points: Array, center: Array, towards: Array, up: Array, distance: float, aspect: float
) -> tuple[float, float]:
    """Shares of the picture's width and height of the box around points (n, 3); a camera looks at `center`."""
    right, above, near = ((points - center) @ view_axes(towards, up)).T
    half = np.tan(np.radians(ANGLE) / 2.0) * (distance - near)
    return float(np.ptp(right / (half * aspect))) / 2.0, float(np.ptp(above / half)) / 2.0


def place(camera: Any, center: Array, towards: Array, up: Array, distance: float, parallel: bool = False) -> None:
    """Put a PyVista camera there; a `parallel` projection shows at the centre what the other one would."""
    camera.focal_point = tuple(center)
    camera.position = tuple(center + distance * towards)
    camera.up = tuple(up)
    camera.view_angle = ANGLE
    camera.parallel_scale = distance * np.tan(np.radians(ANGLE) / 2.0)
    camera.parallel_projection = parallel
