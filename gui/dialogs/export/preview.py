"""Preview of an export: its first, middle and last picture, drawn in another process."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ...base.turns import single_shot
from ...solving.latest import Latest
from ...solving.tasks import PreviewTask
from ...widgets import theme

NAMES: Final = ("first", "middle", "last")
SHOWN: Final = ("camera", "follow", "start", "end", "theme")
"""Of what an export is asked for: what its pictures show, the size apart."""
WIDTH: Final = 150
"""Of a picture, in pixels of the window."""
QUIET: Final = 250
"""Milliseconds without a change after which the pictures are drawn again."""


class ExportPreview(QWidget):
    """Three pictures side by side; `ask` has them drawn."""

    def __init__(self, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("export_preview")
        self.setAccessibleName("Preview: first, middle and last picture")
        self.pictures: list[QImage] = []
        self._words = ""
        self._shape = 9.0 / 16.0
        self._task: PreviewTask | None = None
        self._latest = Latest(solver, self)
        self._latest.finished.connect(self._take)
        self._latest.failed.connect(self._failed)
        self._soon = single_shot(self, self._ask_now, QUIET)

    def sizeHint(self) -> QSize:
        return QSize(3 * WIDTH + 16, round(WIDTH * 9.0 / 16.0) + self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @property
    def busy(self) -> bool:
        """Whether other pictures are on their way."""
        return self._soon.isActive() or self._latest.busy

    def ask(self, result: str, keywords: dict[str, Any], model: Any = None) -> None:
        """Have the pictures of an export drawn, with what `mbframe.render.export` is called with."""
        width, height = keywords.get("size", (16, 9))
        self._shape = height / width
        across = min(WIDTH, WIDTH * (9.0 / 16.0) / self._shape)
        size = (max(16, round(2 * across)), max(16, round(2 * across * self._shape)))
        wanted: dict[str, Any] = {
            name: keywords[name] for name in ("camera", "follow", "start", "end", "theme") if name in keywords
        }
        task = PreviewTask(result, {**wanted, "size": size}, model)
        if task != self._task:
            self._task = task
            self._soon.start()

    def forget(self) -> None:
        """Show none: there is nothing to be drawn."""
        self._soon.stop()
        self._latest.drop()
        self._task = None
        self.pictures, self._words = [], ""
        self.update()

    def give_way(self) -> None:
        """Stop drawing: the export itself needs the process. What there is stays; the rest is asked for afterwards."""
        if self.busy:
            self._task = None
        self._soon.stop()
        if self._latest.job is not None:
            self._latest.waiting = None
            self._latest.job.cancel()
        self.update()

    def _ask_now(self) -> None:
        if self._task is not None:
            self._latest.ask(self._task)

    def _take(self, found: list[Any]) -> None:
        self.pictures = []
        for picture in found:
            pixels = np.ascontiguousarray(picture)
            height, width, _ = pixels.shape
            self.pictures.append(QImage(pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy())
        self._words = ""
        self.update()

    def _failed(self, failure: Any) -> None:
        self.pictures, self._words = [], str(failure)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setPen(look.color("muted"))
        height = WIDTH * 9.0 / 16.0
        if self._words:
            painter.drawText(QRectF(self.rect()), Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop, self._words)
        for k, name in enumerate(NAMES if not self._words else ()):
            place = QRectF(k * (WIDTH + 8.0), 0.0, WIDTH, height)
            words = QRectF(place.left(), height + 2.0, WIDTH, self.fontMetrics().height())
            painter.fillRect(place, look.color("hover"))
            if self.pictures:
                picture = self.pictures[min(k, len(self.pictures) - 1)]
                size = picture.size().scaled(place.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio)
                box = QRectF(0.0, 0.0, size.width(), size.height())
                box.moveCenter(place.center())
                painter.drawImage(box, picture)
            elif self.busy:
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, "drawing…")
            painter.drawText(words, Qt.AlignmentFlag.AlignHCenter, f"{name} picture" if self.pictures else name)
        painter.end()
