"""Names of elements over the picture of the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from . import theme

if TYPE_CHECKING:
    from .view import View


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
