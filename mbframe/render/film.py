"""What an export shows, whatever its format: the frames, the parts in them, the view and the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem
from .camera import ANGLE, place, view_directions
from .coloring import Coloring
from .frames import Frames
from .framing import Framing, Shot
from .geometry import parts_of
from .parts import Part, Sketch, swept
from .placement import Poses
from .surroundings import Floor, floor_of

Array = NDArray[np.float64]

Camera = str | Sequence[ArrayLike]
WHAT_MOVES = "what moves"
"""Says that a camera goes along with all that moves, as far as that is needed."""
INSTANTS = 400
"""Of a film are looked at to find out how the camera goes along."""


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
        The name of a view; two vectors, the direction towards the camera and upwards; or three: position, what it
        looks at, upwards. With three it sees what it sees, otherwise it is as near as it can be.
    follow
        "what moves", the name of a body that the camera goes along with, or None for a camera that stands still. A
        camera that is given by its position is where it would be if that body were where it is described.
    theme
        "light" or "dark".
    smooth
        Whether edges are drawn without steps.
    coloring
        What colours of flexible bodies show; None: how far they are deformed.
    """

    frames: Frames
    title: str
    show_time: bool
    size: tuple[int, int]
    camera: Camera
    theme: str
    smooth: bool
    follow: str | None = WHAT_MOVES
    coloring: Coloring | None = None

    @property
    def system(self) -> Any:
        return self.frames.result.described

    @cached_property
    def sketch(self) -> Sketch:
        return Sketch(self.system, self.frames.poses, coloring=self.coloring)

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
    def shot(self) -> Shot:
        """Where the camera looks from at each frame."""
        aspect = self.size[0] / self.size[1]
        if isinstance(self.camera, str):
            towards, up = view_directions(self.camera, self.sketch.up, self.sketch.planar)
        else:
            given = self._vectors(self.camera)
            if len(given) == 3:
                return self._given_shot(*given)
            towards, up = (vector / np.linalg.norm(vector) for vector in given)
        chosen = np.unique(np.linspace(0, len(self.frames) - 1, INSTANTS).astype(int))
        motion = {name: (origin[chosen], turn[chosen]) for name, (origin, turn) in self.frames.poses.bodies.items()}
        framing = Framing(self.sketch, self.parts, Poses(motion))
        if self.follow == WHAT_MOVES:
            return framing.calm(towards, up, aspect).between(
                chosen.astype(float), np.arange(len(self.frames), dtype=float)
            )
        if self.follow is None:
            return framing.standing(towards, up, aspect).between(
                chosen.astype(float), np.arange(len(self.frames), dtype=float)
            )
        near = framing.following(self.follow, towards, up, aspect)
        return self._going_along(
            near.centers[0] - framing.shifts(self.follow)[0], towards, up, float(near.distances[0])
        )

    def _given_shot(self, position: Array, focus: Array, up: Array) -> Shot:
        distance = float(np.linalg.norm(position - focus))
        return self._going_along(focus, (position - focus) / distance, up / np.linalg.norm(up), distance)

    def _going_along(self, focus: Array, towards: Array, up: Array, distance: float) -> Shot:
        """A camera at a constant distance from what it follows; `focus` is for that where it is described."""
        n = len(self.frames)
        centers = np.tile(focus, (n, 1))
        if self.follow not in (None, WHAT_MOVES):
            centers = centers + Framing(self.sketch, self.parts, self.frames.poses).shifts(str(self.follow))
        return Shot(towards, up, centers, np.full(n, distance))

    @property
    def room(self) -> float | None:
        """How much of the surroundings a camera that goes along sees at once, m; None for one that stands still."""
        if self.shot.still:
            return None
        return float(2.0 * np.tan(np.radians(ANGLE) / 2.0) * self.shot.distances.max() * self.size[0] / self.size[1])

    def place(self, camera: Any, number: int) -> None:
        """Put a PyVista camera where it is at a frame."""
        shot = self.shot
        distance = float(shot.distances[number])
        place(camera, shot.centers[number], shot.towards, shot.up, distance, parallel=self.sketch.planar)

    def _vectors(self, camera: Sequence[ArrayLike]) -> Array:
        """The vectors that a camera is given by, checked."""
        try:
            found = np.array([np.asarray(vector, float) for vector in camera])
            towards, up = (found[0] - found[1], found[2]) if found.shape == (3, 3) else found.reshape(2, 3)
        except (TypeError, ValueError):
            towards = up = np.full(3, np.nan)
        if not np.linalg.norm(np.cross(towards, up)) > 0.0:
            message = (
                f"found {camera!r}; allowed is the name of a view, two vectors (towards the camera, and up) or three "
                "(the camera's position, the point it looks at, and up); give such, with up not along the line of sight"
            )
            raise ModelError([Problem("export", "camera", message)])
        return found
