"""The cube in the corner of the view: shows how the camera is turned, and turns it with a click or a drag."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QWidget

from ..widgets import theme

Array = NDArray[np.float64]
Zone = tuple[int, int, int]
"""A face, an edge or a corner of the cube: signs along (right, towards the viewer, up) of the front view."""

SIDE: Final = 104
HALF: Final = 25.0
"""Half an edge, pixels."""
RIM: Final = 0.62
"""Distance from the middle of a face at which its edges begin."""
FACES: Final[dict[Zone, tuple[str, tuple[int, int, int]]]] = {
    (0, 1, 0): ("Front", (1, 0, 0)),
    (0, -1, 0): ("Back", (-1, 0, 0)),
    (1, 0, 0): ("Right", (0, -1, 0)),
    (-1, 0, 0): ("Left", (0, 1, 0)),
    (0, 0, 1): ("Top", (1, 0, 0)),
    (0, 0, -1): ("Bottom", (1, 0, 0)),
}
"""Outward normal of each face: its name, and the direction in which it is read."""
AXES: Final = (("x", "#d0502f"), ("y", "#2a9474"), ("z", "#2f6fb0"))


class ViewCube(QWidget):
    """A cube whose faces, edges and corners are directions to look from."""

    chosen = Signal(object)
    """A zone was clicked: the direction (right, towards the viewer, up) from which to look."""
    dragged = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("view_cube")
        self.setFixedSize(SIDE, SIDE)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip("Click a face, an edge or a corner to look from there; drag to turn")
        self._frame = np.eye(3)
        self._front = np.eye(3)
        self._hovered: Zone | None = None
        self._pressed_at: QPointF | None = None
        self._dragging = False
        theme.changed().connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    def turn(self, camera: Array, front: Array) -> None:
        """Show a camera with the axes (right, up, towards the viewer) over a front view with (right, towards, up)."""
        self._frame, self._front = camera, front
        self.update()

    # --- geometry -----------------------------------------------------------------------------------------------------

    def _to_screen(self, point: Array) -> QPointF:
        """A point in cube coordinates (right, towards, up of the front view) as pixels."""
        seen = self._frame.T @ (self._front @ point)
        return QPointF(SIDE / 2.0 + HALF * seen[0], SIDE / 2.0 - 4.0 - HALF * seen[1])

    def _visible_faces(self) -> list[Zone]:
        depth = {normal: float((self._frame.T @ (self._front @ np.array(normal, float)))[2]) for normal in FACES}
        return [normal for normal, z in sorted(depth.items(), key=lambda item: item[1]) if z > 0.02]

    @staticmethod
    def _face_axes(normal: Zone) -> tuple[Array, Array]:
        """To the right and upwards on a face, as it is read."""
        n, right = np.array(normal, float), np.array(FACES[normal][1], float)
        # (right, towards, up) is left-handed in this order, so the product is taken the other way round.
        return right, np.cross(right, n)

    def _corners(self, normal: Zone, low: tuple[float, float], high: tuple[float, float]) -> QPolygonF:
        right, up = self._face_axes(normal)
        n = np.array(normal, float)
        spots = ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))
        return QPolygonF([self._to_screen(n + u * right + v * up) for u, v in spots])

    def zone_at(self, place: QPointF) -> Zone | None:
        """The face, edge or corner under a pixel; None beside the cube."""
        for normal in reversed(self._visible_faces()):
            polygon = self._corners(normal, (-1.0, -1.0), (1.0, 1.0))
            if not polygon.containsPoint(place, Qt.FillRule.OddEvenFill):
                continue
            flat = QTransform()
            if not QTransform.quadToSquare(polygon, flat):
                continue
            spot = flat.map(place)
            right, up = self._face_axes(normal)
            u, v = 2.0 * spot.x() - 1.0, 2.0 * spot.y() - 1.0
            sides = [np.sign(w) if abs(w) > RIM else 0.0 for w in (u, v)]
            zone = np.array(normal, float) + sides[0] * right + sides[1] * up
            return tuple(round(float(c)) for c in zone)  # type: ignore[return-value]
        return None

    def center_of(self, zone: Zone) -> QPointF:
        """The pixel in the middle of a zone; it is seen if a face of it is."""
        inside = 0.9 if sum(map(abs, zone)) > 1 else 0.0  # edges and corners: a little inside, on one of the faces
        spot = np.array(zone, float)
        first = int(np.argmax([self._facing(axis, zone) for axis in range(3)]))
        return self._to_screen(np.where(np.arange(3) == first, spot, inside * spot))

    def _facing(self, axis: int, zone: Zone) -> float:
        """How much the face of a zone across an axis is turned to the viewer."""
        normal = np.zeros(3)
        normal[axis] = zone[axis]
        return float((self._frame.T @ (self._front @ normal))[2])

    # --- painting -----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axes(painter, behind=True)
        font = QFont(self.font())
        font.setPixelSize(100)
        font.setWeight(QFont.Weight.DemiBold)
        for normal in self._visible_faces():
            polygon = self._corners(normal, (-1.0, -1.0), (1.0, 1.0))
            facing = float((self._frame.T @ (self._front @ np.array(normal, float)))[2])
            base = theme.mixed(look.surface, look.border, 0.55 + 0.45 * facing)
            base.setAlpha(240)
            painter.setPen(QPen(look.color("border").darker(115), 1.0))
            painter.setBrush(base)
            painter.drawPolygon(polygon)
            self._paint_hover(painter, normal)
            self._paint_name(painter, polygon, FACES[normal][0], font, look.color("text"), facing)
        self._paint_axes(painter, behind=False)
        painter.end()

    def _paint_hover(self, painter: QPainter, normal: Zone) -> None:
        zone = self._hovered
        if zone is None or not all(n == 0 or n == z for n, z in zip(normal, zone, strict=True)):
            return
        right, up = self._face_axes(normal)
        u, v = float(right @ np.array(zone)), float(up @ np.array(zone))
        spans = [(-1.0, -RIM) if w < -0.5 else (RIM, 1.0) if w > 0.5 else (-RIM, RIM) for w in (u, v)]
        painter.setPen(Qt.PenStyle.NoPen)
        tint = theme.current().color("accent")
        tint.setAlpha(150)
        painter.setBrush(tint)
        painter.drawPolygon(self._corners(normal, (spans[0][0], spans[1][0]), (spans[0][1], spans[1][1])))

    def _paint_name(
        self, painter: QPainter, polygon: QPolygonF, name: str, font: QFont, color: QColor, facing: float
    ) -> None:
        if facing < 0.25:
            return
        place = QTransform()
        square = QPolygonF([QPointF(0, 400), QPointF(400, 400), QPointF(400, 0), QPointF(0, 0)])
        if not QTransform.quadToQuad(square, polygon, place):
            return
        painter.save()
        painter.setTransform(place, True)
        painter.setFont(font)
        color.setAlphaF(min(1.0, 1.6 * facing))
        painter.setPen(color)
        painter.drawText(0, 0, 400, 400, Qt.AlignmentFlag.AlignCenter, name)
        painter.restore()

    def _paint_axes(self, painter: QPainter, behind: bool) -> None:
        """The global axes along three edges of the cube, from the corner in which all of them begin."""
        turned = self._front.T  # global axes in cube coordinates, columns
        origin = -1.1 * turned.sum(axis=1)
        font = QFont(self.font())
        font.setPixelSize(10)
        font.setBold(True)
        painter.setFont(font)
        for along, (name, code) in zip(turned.T, AXES, strict=True):
            middle = origin + 1.25 * along
            if (float((self._frame.T @ (self._front @ middle))[2]) < 0.0) != behind:
                continue
            painter.setPen(QPen(QColor(code), 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(self._to_screen(origin), self._to_screen(origin + 2.4 * along))
            painter.drawText(self._to_screen(origin + 2.75 * along) + QPointF(-3.0, 4.0), name)

    # --- the mouse ----------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at, self._dragging = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed_at is None:
            self._hover(self.zone_at(event.position()))
            return
        moved = event.position() - self._pressed_at
        if self._dragging or moved.manhattanLength() > 4.0:
            self._dragging = True
            self._pressed_at = event.position()
            self.dragged.emit(moved.x(), moved.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._pressed_at is not None:
            zone = None if self._dragging else self.zone_at(event.position())
            self._pressed_at, self._dragging = None, False
            if zone is not None:
                self.chosen.emit(zone)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, zone: Zone | None) -> None:
        if zone != self._hovered:
            self._hovered = zone
            self.update()
