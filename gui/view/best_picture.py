"""The view at its best, drawn when nothing has happened for a while, piece by piece: the window never waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from ..base.turns import Turns, single_shot

if TYPE_CHECKING:
    from mbframe.render import Canvas

QUIET: Final = 250
"""Milliseconds without a change after which a picture is drawn at its best."""


class BestPicture(QObject):
    """Draws smooth edges: the mean of pictures that are shifted by parts of a pixel, one per turn of the event loop."""

    def __init__(
        self, begin: Callable[[], Canvas | None], show: Callable[[NDArray[np.uint8]], object], parent: QObject
    ) -> None:
        """`begin` gives the canvas that is to be drawn, or None; `show` takes the picture."""
        super().__init__(parent)
        self._begin, self._show = begin, show
        self._turns, self._quiet = Turns(self), single_shot(self, self.draw, QUIET)

    def later(self) -> None:
        """Something has changed: what was begun is given up, and begun again when it is quiet."""
        self.stop()
        self._quiet.start()

    def stop(self) -> None:
        """Give up."""
        self._quiet.stop()
        self._turns.stop()

    def draw(self) -> None:
        """Begin to draw now."""
        self.stop()
        if (canvas := self._begin()) is not None:
            self._turns.start(self._pieces(canvas))

    def _pieces(self, canvas: Canvas) -> Iterator[None]:
        for picture in canvas.smoothed():
            if picture is None:
                yield
            else:
                self._show(picture)
