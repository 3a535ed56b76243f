"""What an export shows, whatever its format: the frames, the parts in them, the view and the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem
from .camera import ANGLE, fitted, place, view_directions
from .frames import Frames
from .geometry import parts_of
from .parts import Part, Sketch, swept
from .surroundings import Floor, floor_of

Array = NDArray[np.float64]

Camera = str | Sequence[ArrayLike]


@dataclass(frozen=True)
class View:
    """Where the camera is, what it looks at, and which direction is up in the picture."""

    position: Array
    focus: Array
    up: Array
    angle: float = ANGLE  # degrees, from the lower to the upper edge

    def place(self, camera: Any) -> None:
        """Put a PyVista camera there."""
        distance = float(np.linalg.norm(self.position - self.focus))
        place(camera, self.focus, (self.position - self.focus) / distance, self.up, distance)


@dataclass(frozen=True)
class Film:
    """A motion as it is shown.

    Parameters
    ----------
    frames
        The states.
    title
        Shown in a corner; empty for none.
    show_time
        Whether the instant is shown.
    size
        Width and height of the picture, pixels.
    camera
        The name of a view, or three vectors: position, what it looks at, upwards.
    theme
        "light" or "dark".
    smooth
        Whether edges are drawn without steps.
    """

    frames: Frames
    title: str
    show_time: bool
    size: tuple[int, int]
    camera: Camera
    theme: str
    smooth: bool

    @property
    def system(self) -> Any:
        return self.frames.result.described

    @cached_property
    def sketch(self) -> Sketch:
        return Sketch(self.system, self.frames.poses)

    @cached_property
    def parts(self) -> list[Part]:
        """All that is drawn."""
        return parts_of(self.sketch)

    @cached_property
    def corners(self) -> Array:
        """Outermost points (n, 3) of all parts at all frames."""
        return swept(self.parts, self.frames.poses)

    @cached_property
    def bounds(self) -> Array:
        """Lower and upper corner of the space that the motion needs, (2, 3)."""
        return np.array([self.corners.min(axis=0), self.corners.max(axis=0)])

    @cached_property
    def floor(self) -> Floor:
        """Where the grid is."""
        return floor_of(self.sketch, self.corners)

    @cached_property
    def view(self) -> View:
        """The view asked for; a named one is so far away that the whole motion is in it."""
        if not isinstance(self.camera, str):
            return self._given_view(self.camera)
        towards, up = view_directions(self.camera, self.sketch.up, self.sketch.planar)
        center, distance = fitted(self.corners, towards, up, self.size[0] / self.size[1])
        return View(center + distance * towards, center, up)

    def _given_view(self, camera: Sequence[ArrayLike]) -> View:
        try:
            position, focus, up = np.array([np.asarray(vector, float) for vector in camera]).reshape(3, 3)
        except (TypeError, ValueError):
            position = focus = up = np.full(3, np.nan)
        if not np.linalg.norm(np.cross(position - focus, up)) > 0.0:
            message = (
                f"found {camera!r}; allowed is the name of a view or three vectors: the camera's position, the point "
                "it looks at and a direction that is up; give such, with up not along the line of sight"
            )
            raise ModelError([Problem("export", "camera", message)])
        return View(position, focus, up / np.linalg.norm(up))
