"""Rendering policy of the view: fast while something moves, smooth at rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

import mbframe as mb

from ..base.turns import single_shot
from ..solving.solver import BUSY
from .best_picture import BestPicture

SLOW: Final = 0.055
"""Seconds per frame: moving pictures that take longer are drawn with fewer pixels."""
TOO_SLOW: Final = 0.08
"""Seconds per frame: pictures that take longer are not smoothed either, which takes eight of them."""
COARSE: Final = 0.6
"""Share of the pixels, each way, of moving pictures on a slow machine."""


class Drawing(QObject):
    """Draws what is on a canvas for a widget, which paints `image` and says by `changed` when it is out of date.

    Parameters
    ----------
    widget
        Whose size the picture has, and which is updated when there is another one.
    moving
        Tells whether something moves: then a picture has to be quick, and is not smoothed.
    solver
        While it is busy nothing is smoothed, because the window has to answer quickly.
    """

    def __init__(self, widget: QWidget, moving: Callable[[], bool], solver: Any = None) -> None:
        super().__init__(widget)
        self._widget, self._moving, self._solver = widget, moving, solver
        self.canvas: mb.render.Canvas | None = None
        self.image: QImage | None = None
        """The last picture; None as long as there is none."""
        self.frame_time = 0.0
        """Seconds that a picture with all pixels takes, as pictures so far tell; 0 as long as none was drawn."""
        self._outdated = True
        self._soon = single_shot(self, self._draw_changed)
        self._best = BestPicture(self._begin_best, self._show_best, self)

    def open(self) -> None:
        """Make the canvas; this imports VTK."""
        self.canvas = mb.render.Canvas(self.pixel_size())

    def close(self) -> None:
        """Free what VTK holds."""
        self._soon.stop()
        self._best.stop()
        if self.canvas is not None:
            self.canvas.close()
            self.canvas = None
        self.image = None

    @property
    def scene(self) -> mb.render.Scene | None:
        """What is drawn; None as long as there is nothing to draw."""
        return self.canvas.scene if self.canvas is not None else None

    @property
    def slow(self) -> bool:
        """Whether pictures take too long to be drawn one after another with all pixels; a graphics card is not slow."""
        return self.frame_time > SLOW and not (self.canvas is not None and self.canvas.in_hardware)

    @property
    def seen(self) -> bool:
        """Whether the widget is visible."""
        return self._widget.isVisible()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the widget, in its own pixels."""
        return self._widget.width(), self._widget.height()

    def pixel_size(self, share: float = 1.0) -> tuple[int, int]:
        """Width and height of a picture, with a share of all the pixels of the screen each way."""
        ratio = self._widget.devicePixelRatioF() * share
        width, height = self.size
        return max(1, round(width * ratio)), max(1, round(height * ratio))

    def resize(self) -> None:
        """Give the canvas the size of the widget now, and not with the next picture."""
        if self.canvas is not None:
            self.canvas.resize(*self.pixel_size())

    # --- quickly ------------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """The picture has to be drawn again."""
        self._outdated = True
        if not self._soon.isActive():  # else a busy machine, on which each frame comes late, would put it off forever
            self._soon.start()
        self.settle()

    def draw_if_changed(self) -> None:
        """Draw now what would be drawn in the next turn of the event loop."""
        if self._outdated and self.canvas is not None and self.scene is not None:
            self._draw(COARSE if self._moving() and self.slow else 1.0)

    def _draw_changed(self) -> None:
        """Draw in a turn of the event loop of its own: painting the rest of the window takes as long."""
        handle = self._widget.window().windowHandle()
        if self.seen and handle is not None and handle.isExposed():
            self.draw_if_changed()
        self._widget.update()

    def _draw(self, share: float = 1.0) -> None:
        assert self.canvas is not None
        begin = time.perf_counter()
        self.canvas.resize(*self.pixel_size(share))
        first = self.frame_time == 0.0
        self._take(self.canvas.image())
        if first and self.canvas.in_hardware:
            self.canvas.smooth_always()
            self.changed()
        # A coarse picture tells what all pixels take at most: a machine that was busy for a while does not stay coarse.
        taken = (time.perf_counter() - begin) / share**2
        self.frame_time = taken if self.frame_time == 0.0 else 0.5 * (self.frame_time + taken)

    def _take(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture from now on."""
        self.image = image_of(picture)
        self._outdated = False

    def paint(self, painter: QPainter) -> None:
        """Paint the last picture."""
        if self.image is not None:
            painter.drawImage(self._widget.rect(), self.image)

    # --- at its best --------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Have the picture drawn at its best when nothing has happened for a while."""
        self._best.later()

    def draw_at_its_best(self) -> None:
        """Draw with all pixels and smooth edges, and wait for it."""
        if self.canvas is not None and self.scene is not None:
            self.resize()
            self._take(self.canvas.smooth_image())

    def _begin_best(self) -> mb.render.Canvas | None:
        """Nothing happens: draw with all pixels, and have it smoothed if that does not take too long."""
        if self.canvas is None or self.scene is None or self._moving() or not self.seen:
            return None
        if self._solver is not None and self._solver.state == BUSY:
            self.settle()
            return None
        if self.canvas.size != self.pixel_size() or self._outdated:
            self._draw()
            self._widget.update()
        return self.canvas if self.frame_time < TOO_SLOW else None

    def _show_best(self, picture: NDArray[np.uint8]) -> None:
        self._take(picture)
        self._widget.update()


def image_of(picture: NDArray[np.uint8]) -> QImage:
    """The picture of a canvas (height, width, 4) as one of Qt."""
    pixels = np.ascontiguousarray(picture[::-1])
    height, width, _ = pixels.shape
    # The format of the window: painting, and scaling where pixels were saved, takes half the time.
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBX8888)
    return image.convertToFormat(QImage.Format.Format_RGB32)
