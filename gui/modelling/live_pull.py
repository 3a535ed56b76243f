"""Pulling at a body with a spring while the model runs live; its force is written beside it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPen

import mbframe as mb

from ..document.document import Document
from ..playing.hands import Spring
from ..playing.live import Live
from ..view.tools import ViewTool, facing, on_plane, paint_label, pixels
from ..view.view import View
from ..widgets import theme
from .pull import EDGE_ON, body_to_pull

Array = NDArray[np.float64]

COIL: Final = 5.0
"""Half the width of the spring that is drawn, pixels."""


class LivePull(ViewTool):
    """While the model runs, a press on a body takes it, and dragging pulls."""

    def __init__(self, document: Document, live: Live, view: View) -> None:
        super().__init__(view)
        self.document, self.live = document, live
        self.body: str | None = None
        """The body in the hand."""
        self._point = self._target = self._normal = np.zeros(3)
        live.framed.connect(lambda _: view.update() if self.body is not None else None)
        live.changed.connect(self._follow)

    @property
    def active(self) -> bool:
        return self.body is not None

    def press(self, event: QMouseEvent) -> bool:
        live = self.live
        if event.button() != Qt.MouseButton.LeftButton or not live.on or live.frame is None or self.view.scene is None:
            return False
        found = self.view.pick(event.position())
        body = body_to_pull(found.element, self.document.system) if found is not None else None
        if found is None or body is None or body.name not in live.frame.state.motions:
            return False
        self.take(body, np.asarray(found.point))
        return True

    def take(self, body: mb.Body, grip: Array) -> None:
        """Take a body at a global point of it."""
        assert self.live.frame is not None
        motion = self.live.frame.state.motions[body.name]
        planar = self.document.system.dimension == 2
        grip = grip * [1.0, 1.0, 0.0] if planar else grip
        towards = facing(self.view)
        flat = planar and abs(towards[2]) >= EDGE_ON
        self._normal = np.array([0.0, 0.0, 1.0]) if flat else towards
        self._point = motion.rotation.T @ (grip - motion.position)
        self.body = body.name
        self.document.select(body)
        self.view.setCursor(Qt.CursorShape.ClosedHandCursor)
        self.pull_to(grip)

    def pull_to(self, target: Array) -> None:
        """Pull towards a global point."""
        if self.body is not None:
            self._target = np.asarray(target, float)
            self.live.pull(Spring(self.body, _three(self._point), _three(self._target)))
            self.view.update()

    def drag(self, event: QMouseEvent) -> None:
        target = on_plane(self.view, event.position(), self._target, self._normal)
        if target is not None:
            self.pull_to(target)

    def release(self, event: QMouseEvent) -> None:
        self.cancel()

    def cancel(self) -> None:
        if self.body is not None:
            self.body = None
            self.live.let_go()
            self.view.setCursor(Qt.CursorShape.ArrowCursor)
            self.view.update()

    def _follow(self) -> None:
        """The hand is empty when it has ended."""
        if self.body is not None and not self.live.on:
            self.cancel()

    def paint(self, painter: QPainter) -> None:
        """The spring between the point that is held and the mouse, with its force."""
        frame = self.live.frame
        if self.body is None or frame is None or self.body not in frame.state.motions:
            return
        motion = frame.state.motions[self.body]
        held, target = pixels(self.view, [motion.position + motion.rotation @ self._point, self._target])
        if held is None or target is None:
            return
        accent = theme.current().color("accent")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent, 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(coils(held, target))
        painter.drawEllipse(target, 6.0, 6.0)
        painter.setBrush(accent)
        painter.drawEllipse(held, 4.0, 4.0)
        if frame.force is not None:
            paint_label(painter, target + QPointF(14.0, -10.0), f"{frame.force:.3g} N")


def coils(a: QPointF, b: QPointF, turns: int = 7) -> list[QPointF]:
    """The corners of a drawn spring between two pixels."""
    along = b - a
    length = float(np.hypot(along.x(), along.y()))
    if length < 4.0 * COIL:
        return [a, b]
    across = QPointF(-along.y(), along.x()) * (COIL / length)
    middle = [a + along * ((k + 1.0) / (2 * turns + 2.0)) + across * (1.0 if k % 2 else -1.0) for k in range(2 * turns)]
    return [a, *middle, b]


def _three(point: Array) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in point)
    return x, y, z
