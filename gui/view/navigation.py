"""The camera of the view, moved as in CAD programs: orbit, pan, zoom to the cursor, preset directions.

Only geometry; widgets call it with pixels. The vertical stays vertical in the picture (a turntable), because a
mechanism has an up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

ORBIT: Final = 0.4
"""Degrees per pixel."""
STEEPEST: Final = 89.5
"""Steepest angle of sight when orbiting, degrees; preset views may look straight down."""
NEAREST, FARTHEST = 1e-3, 1e3
"""Bounds of the distance, in extents of the mechanism."""


@dataclass(frozen=True)
class Pose:
    """Pose of a camera: its position, what it looks at, what is up in its picture, its angle of view in degrees."""

    position: Array
    focus: Array
    up: Array
    angle: float = 25.0

    @classmethod
    def of(cls, camera: Any) -> Pose:
        """That of a PyVista camera."""
        return cls(np.array(camera.position), np.array(camera.focal_point), np.array(camera.up), camera.view_angle)

    def give(self, camera: Any) -> None:
        """Put a PyVista camera there."""
        camera.position, camera.focal_point = tuple(self.position), tuple(self.focus)
        camera.up, camera.view_angle = tuple(self.up), self.angle
        camera.parallel_scale = 0.5 * self.metres_per_pixel(1)  # what a parallel projection sees is as large

    @property
    def distance(self) -> float:
        """From the camera to what it looks at, m."""
        return float(np.linalg.norm(self.position - self.focus))

    @property
    def towards(self) -> Array:
        """Unit vector from what is looked at to the camera."""
        return (self.position - self.focus) / self.distance

    @property
    def frame(self) -> Array:
        """Right, up and towards the viewer: columns."""
        z = self.towards
        x = np.cross(self.up, z)
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z])

    def moved(self, shift: ArrayLike) -> Pose:
        """Shifted without turning."""
        return replace(self, position=self.position + np.asarray(shift), focus=self.focus + np.asarray(shift))

    def metres_per_pixel(self, height: int) -> float:
        """Length that a pixel shows at the distance of what is looked at."""
        return 2.0 * self.distance * float(np.tan(np.radians(self.angle) / 2.0)) / max(height, 1)


def orbited(pose: Pose, dx: float, dy: float, vertical: ArrayLike, pivot: ArrayLike | None = None) -> Pose:
    """Turned about a pivot (by default what is looked at) by a drag of (dx, dy) pixels, y downwards.

    A drag to the right turns the mechanism to the right about the vertical, one downwards shows more of its top.
    """
    up = np.asarray(vertical, float) / np.linalg.norm(vertical)
    center = pose.focus if pivot is None else np.asarray(pivot, float)
    about_vertical = _rotation(up, -np.radians(ORBIT * dx))
    tilt_axis = pose.frame[:, 0]
    elevation = np.degrees(np.arcsin(np.clip(pose.towards @ up, -1.0, 1.0)))
    wanted = np.clip(elevation + ORBIT * dy, -STEEPEST, STEEPEST)
    tilt = _rotation(tilt_axis, -np.radians(wanted - elevation))
    turn = about_vertical @ tilt
    new_up = turn @ pose.up
    towards = turn @ pose.towards
    flat = up - (up @ towards) * towards
    if np.linalg.norm(flat) > 1e-3:  # what was upright stays so; from a view straight down it becomes so
        new_up = flat / np.linalg.norm(flat)
    return replace(
        pose, position=center + turn @ (pose.position - center), focus=center + turn @ (pose.focus - center), up=new_up
    )


def panned(pose: Pose, dx: float, dy: float, height: int) -> Pose:
    """Shifted so that what is looked at follows a drag of (dx, dy) pixels in a picture of that height."""
    x, y, _ = pose.frame.T
    return pose.moved(pose.metres_per_pixel(height) * (dy * y - dx * x))


def zoomed(pose: Pose, factor: float, x: float, y: float, size: tuple[int, int], extent: float) -> Pose:
    """Nearer (factor < 1) or farther, with what is under the pixel (x, y) staying there."""
    factor = float(np.clip(pose.distance * factor, NEAREST * extent, FARTHEST * extent)) / pose.distance
    width, height = size
    right, above, _ = pose.frame.T
    scale = pose.metres_per_pixel(height)
    fixed = pose.focus + scale * ((x - 0.5 * width) * right + (0.5 * height - y) * above)
    return replace(pose, position=fixed + factor * (pose.position - fixed), focus=fixed + factor * (pose.focus - fixed))


def looking(pose: Pose, towards: ArrayLike, vertical: ArrayLike, sideways: ArrayLike) -> Pose:
    """From another direction at the same point and distance; `sideways` is up where one looks along the vertical."""
    direction = np.asarray(towards, float) / np.linalg.norm(towards)
    up = np.asarray(vertical, float)
    flat = up - (up @ direction) * direction
    if np.linalg.norm(flat) < 1e-6:
        flat = np.asarray(sideways, float) * -np.sign(up @ direction)
    return replace(pose, position=pose.focus + pose.distance * direction, up=flat / np.linalg.norm(flat))


def between(start: Pose, end: Pose, share: float) -> Pose:
    """On the way from one pose to another, turning evenly."""
    turn = end.frame @ start.frame.T
    angle = np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0))
    if angle < 1e-9:
        partial = np.eye(3)
    else:
        axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        if np.linalg.norm(axis) < 1e-9:  # half a turn: about the picture's vertical
            axis = start.frame[:, 1]
        partial = _rotation(axis / np.linalg.norm(axis), share * angle)
    frame = partial @ start.frame
    distance = start.distance ** (1.0 - share) * end.distance**share
    focus = (1.0 - share) * start.focus + share * end.focus
    return Pose(focus + distance * frame[:, 2], focus, frame[:, 1], start.angle)


def _rotation(axis: Array, angle: float) -> Array:
    """The matrix of a rotation about a unit vector (Rodrigues)."""
    x, y, z = axis
    tilde = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * tilde + (1.0 - np.cos(angle)) * tilde @ tilde
