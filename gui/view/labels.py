"""Names of elements over the picture of the view, and the scale of its grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ..widgets import theme

if TYPE_CHECKING:
    from .view import View


def paint_scale(view: View, painter: QPainter) -> None:
    """Say in a corner how far apart the lines of the grid are, with a bar of that length where it does not depend."""
    scene, canvas = view.scene, view.canvas
    if scene is None or canvas is None or scene.spacing <= 0.0:
        return
    look = theme.current()
    words = f"grid {scene.spacing:g} m"
    left, low = 12.0, view.height() - 12.0
    painter.setPen(QPen(look.color("muted"), 1.5))
    if scene.parallel:
        length = scene.spacing * view.height() / (2.0 * canvas.plotter.camera.parallel_scale)
        if 8.0 <= length <= 0.4 * view.width():
            for x, y, right, down in ((0.0, 0.0, length, 0.0), (0.0, -4.0, 0.0, 4.0), (length, -4.0, length, 4.0)):
                painter.drawLine(QPointF(left + x, low + y), QPointF(left + right, low + down))
            left += length + 10.0
            low += 4.0
    painter.drawText(QPointF(left, low), words)


def paint_labels(view: View, painter: QPainter) -> None:
    """Write names beside what is drawn; where there is no room, fewer of them."""
    if view.scene is None or view.canvas is None:
        return
    found = view.scene.label_positions()
    if not found:
        return
    look = theme.current()
    pixels, depth = view.canvas.project([point for _, point in found])
    scale = view.width() / view.canvas.size[0]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    back = look.color("surface")
    back.setAlpha(190)
    metrics = painter.fontMetrics()
    height = metrics.height() + 2.0
    taken: list[QRectF] = []
    for (text, _), (x, y), z in zip(found, pixels * scale, depth, strict=True):
        width = metrics.horizontalAdvance(text) + 10.0
        places = [QRectF(x - width / 2.0, y + (k - 0.5) * height, width, height) for k in (0, 1, -1, 2, -2)]
        box = next((one for one in places if not any(one.intersects(other) for other in taken)), None)
        if z <= 0.0 or box is None:  # behind the camera, or there is no room for it
            continue
        taken.append(box)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(back)
        painter.drawRoundedRect(box, 4.0, 4.0)
        painter.setPen(look.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
