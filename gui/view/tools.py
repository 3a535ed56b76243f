"""Tools of the mouse in the view: they are asked before it looks around."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter

from ..widgets import theme

if TYPE_CHECKING:
    from .view import View

Array = NDArray[np.float64]


class ViewTool(QObject):
    """A tool of the view. A press that it takes is its own until the release; all else looks around as usual.

    `view.tools` are asked in their order.
    """

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.view = view

    @property
    def active(self) -> bool:
        """Whether there is something that `cancel` would end."""
        return False

    def press(self, event: QMouseEvent) -> bool:
        """The mouse is pressed: whether the tool takes it."""
        return False

    def click(self, event: QMouseEvent) -> bool:
        """The left button was pressed and released in one place: whether the tool takes it, or it selects."""
        return False

    def drag(self, event: QMouseEvent) -> None:
        """The mouse moves after a press that was taken."""

    def release(self, event: QMouseEvent) -> None:
        """It is released."""

    def hover(self, event: QMouseEvent) -> None:
        """The mouse moves without a button."""

    def cancel(self) -> None:
        """Escape: end without a trace."""

    def paint(self, painter: QPainter) -> None:
        """Paint over the picture, in pixels of the view."""


def ray(view: View, place: QPointF) -> tuple[Array, Array]:
    """The line of sight through a pixel of the view: its beginning, and its direction."""
    assert view.canvas is not None
    scale = view.canvas.size[0] / max(view.width(), 1)
    return view.canvas.ray(place.x() * scale, place.y() * scale)


def on_plane(view: View, place: QPointF, point: ArrayLike, normal: ArrayLike) -> Array | None:
    """Point at which the line of sight meets a plane; None if it does not, in front of the camera."""
    begin, direction = ray(view, place)
    slope = float(direction @ np.asarray(normal, float))
    if abs(slope) < 1e-6:
        return None
    far = float((np.asarray(point, float) - begin) @ np.asarray(normal, float)) / slope
    return begin + far * direction if far > 0.0 else None


def pixels(view: View, points: ArrayLike) -> list[QPointF | None]:
    """Pixels of points in the view; None for those behind the camera."""
    assert view.canvas is not None
    found, depth = view.canvas.project(points)
    scale = max(view.width(), 1) / view.canvas.size[0]
    return [QPointF(x * scale, y * scale) if z > 0.0 else None for (x, y), z in zip(found, depth, strict=True)]


def facing(view: View) -> Array:
    """The direction towards the camera, a unit vector."""
    pose = view.camera.pose
    assert pose is not None
    return pose.towards


def paint_label(painter: QPainter, place: QPointF, text: str) -> None:
    """Text on a soft background, to the right of a place."""
    look = theme.current()
    metrics = QFontMetricsF(painter.font())
    box = metrics.boundingRect(text).adjusted(-5.0, -2.0, 5.0, 2.0)
    right = painter.window().right()
    box.moveLeft(min(place.x(), right - box.width() - 4.0))
    box.moveBottom(place.y() + 4.0)
    back = look.color("surface")
    back.setAlpha(215)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(back)
    painter.drawRoundedRect(box, 4.0, 4.0)
    painter.setPen(look.color("text"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
