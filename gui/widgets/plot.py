"""A small plot: the colours of the theme, names of its axes inside, and no menus of pyqtgraph's own."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from . import theme

GRID = 0.15  # of the opacity of axes
RING = 24  # pixels, around a point that is selected
MOST_ROOM = 0.22  # of the height of a plot, for the name of an axis


class Plot(pg.PlotWidget):
    """A plot in the colours of the theme, without pyqtgraph's own menus; a double click shows everything."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        item = self.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.showGrid(x=True, y=True, alpha=GRID)
        item.layout.setContentsMargins(2, 4, 6, 2)
        self.setFrameShape(self.Shape.NoFrame)
        self._words = {side: pg.TextItem(anchor=anchor) for side, anchor in (("bottom", (1, 1)), ("left", (0, 0)))}
        for words in self._words.values():  # inside the plot, because the tab is not high
            words.setParentItem(item.vb)
            words.setZValue(-1)
        item.vb.sigResized.connect(self._place_words)
        theme.changed().connect(self._dress)

    def _dress(self, _: object = None) -> None:
        look = theme.current()
        self.setBackground(look.surface)
        for side in ("left", "bottom"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(look.border)
            axis.setTextPen(look.muted)
        self.redraw()

    def redraw(self) -> None:
        """Draw everything again, in the present colours."""

    def fit(self) -> None:
        """Show everything."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()
        event.accept()

    def label(self, side: str, text: str) -> None:
        """Name an axis ("bottom", "left")."""
        self._words[side].setText(text, color=theme.current().muted)
        self._place_words()

    def show_range(self, x: tuple[float, float], y: tuple[float, float], padding: float) -> None:
        """Show a range, with room for the names of the axes above and below."""
        vb = self.getPlotItem().vb
        words = max(one.boundingRect().height() for one in self._words.values()) + RING / 2
        share = min(max(words / max(vb.height(), 1.0), padding), MOST_ROOM)
        room = (y[1] - y[0]) * share / (1.0 - 2.0 * share)
        vb.setRange(xRange=x, padding=padding)
        vb.setRange(yRange=(y[0] - room, y[1] + room), padding=0.0)

    def _place_words(self, *_: object) -> None:
        room = self.getPlotItem().vb.rect()
        self._words["bottom"].setPos(room.right() - 2.0, room.bottom() - 1.0)
        self._words["left"].setPos(room.left() + 2.0, room.top() + 1.0)
