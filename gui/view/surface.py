"""The view drawn by OpenGL into the window, by PyVista's widget for Qt: the other surface beside `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

import mbframe as mb

from ..base.turns import single_shot
from .best_picture import BestPicture
from .drawing import SLOW, TOO_SLOW, image_of

if TYPE_CHECKING:
    from .view import View


class Overlay(QWidget):
    """What the view paints over its picture, on top of the surface; the mouse goes through."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._view = view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._view.drawing.paint(painter)
            self._view.paint_over(painter)
        finally:
            painter.end()


class Surface(QObject):
    """Draws in a widget of OpenGL that covers the view; answers to the same names as `Drawing`.

    No pixels are read back while something moves, and a graphics card smooths edges at once. But the window has a
    context of OpenGL: a program that uses it must not draw off-screen with another kind of context (see README.md).
    """

    drawn = Signal()
    """A picture was drawn."""

    def __init__(self, view: View, moving: Callable[[], bool], solver: Any = None) -> None:
        super().__init__(view)
        self._view, self._moving = view, moving
        self.canvas: mb.render.Canvas | None = None
        self.image: QImage | None = None
        """A smooth picture of what is at rest, which covers what OpenGL drew; else None."""
        self.frame_time = 0.0
        """Seconds that a picture takes; 0 as long as none was drawn."""
        self._widget: Any = None
        self._overlay: Overlay | None = None
        self._outdated = True
        self._soon = single_shot(self, self.draw_if_changed)
        self._best = BestPicture(self._begin_best, self._show_best, self)

    def open(self) -> None:
        """Make the widget, before the window is shown; this imports VTK."""
        from pyvistaqt import QtInteractor

        self._overlay = Overlay(self._view)
        self._overlay.lower()
        self._widget = QtInteractor(self._view, multi_samples=0, auto_update=False)
        self._widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._widget.setAcceptDrops(False)
        self._widget.lower()
        self._widget.frameSwapped.connect(self._note_picture)
        self.canvas = mb.render.Canvas(plotter=self._widget)
        self.resize()
        self._widget.show()
        self._overlay.show()

    def close(self) -> None:
        """Free what VTK holds, while its context is still there."""
        self._soon.stop()
        self._best.stop()
        if self.canvas is not None:
            self.canvas.close()
            self.canvas = None
        if self._widget is not None:
            self._widget.hide()
            self._widget.deleteLater()
            self._widget = None

    @property
    def scene(self) -> mb.render.Scene | None:
        """What is drawn; None as long as there is nothing to draw."""
        return self.canvas.scene if self.canvas is not None else None

    @property
    def slow(self) -> bool:
        """Whether pictures take too long to be drawn one after another; a graphics card is not slow."""
        return self.frame_time > SLOW

    @property
    def seen(self) -> bool:
        """Whether the view is visible."""
        return self._view.isVisible()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the view, in its own pixels."""
        return self._view.width(), self._view.height()

    def resize(self) -> None:
        """Give the widget the size of the view now, and not with the next picture."""
        if self.canvas is not None and self._overlay is not None:
            self._widget.setGeometry(self._view.rect())
            self._overlay.setGeometry(self._view.rect())
            ratio = self._view.devicePixelRatioF()
            self.canvas.resize(*(max(1, round(length * ratio)) for length in self.size))

    def changed(self) -> None:
        """The picture has to be drawn again."""
        if self.canvas is None:
            return
        self.image, self._outdated = None, True
        self.canvas.plotter.render_window.SetSwapBuffers(True)
        if not self._soon.isActive():
            self._soon.start()
        self.settle()

    def draw_if_changed(self) -> None:
        """Have the widget drawn in the next turn of the event loop."""
        if self._outdated and self.canvas is not None and self.scene is not None and self._overlay is not None:
            self._outdated = False
            self.resize()
            self.scene.prepare_picture()
            self._widget.update()
            self._overlay.update()

    def settle(self) -> None:
        """Have edges smoothed when nothing has happened for a while; a graphics card does so at once."""
        self._best.later()

    def draw_at_its_best(self) -> None:
        """Draw with smooth edges, and wait for it."""
        if self.canvas is not None and self.scene is not None:
            self.resize()
            self.image = image_of(self.canvas.smooth_image())

    def paint(self, painter: QPainter) -> None:
        """Paint the smooth picture, where there is one."""
        if self.image is not None:
            painter.drawImage(self._view.rect(), self.image)

    def _begin_best(self) -> mb.render.Canvas | None:
        if self.canvas is None or self.scene is None or self._moving() or not self.seen:
            return None
        if self.canvas.in_hardware or self.frame_time > TOO_SLOW:
            return None
        self.canvas.plotter.render_window.SetSwapBuffers(False)  # the shifted pictures are not for the screen
        return self.canvas

    def _show_best(self, picture: NDArray[np.uint8]) -> None:
        assert self.canvas is not None
        assert self._overlay is not None
        self.canvas.plotter.render_window.SetSwapBuffers(True)
        self.image = image_of(picture)
        self._overlay.update()

    def _note_picture(self) -> None:
        """A picture was drawn: how long it took, and the first time whether a graphics card did it."""
        if self.canvas is None:
            return
        taken = self.canvas.plotter.renderer.GetLastRenderTimeInSeconds()
        if self.frame_time == 0.0:
            self.canvas.first_drawn()
            if self.canvas.in_hardware:
                self.canvas.smooth_always()
                self.changed()
        self.frame_time = taken if self.frame_time == 0.0 else 0.5 * (self.frame_time + taken)
        self.drawn.emit()
