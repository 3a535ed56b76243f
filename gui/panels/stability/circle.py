"""Floquet multipliers in the complex plane, with the unit circle: what is outside grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from mbframe.analysis.linear.root_words import DECAYS, GROWS, IGNORABLE, NEUTRAL

from ...widgets import theme
from ...widgets.plot import RING, Plot
from .motion_tasks import Multiplier
from .plane import REACH, SIZES, SYMBOLS, behaviour_color

CIRCLE: Final = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 181))
SEEN: Final = 1.25
"""Of the plane, at least, in each direction."""


class MultiplierPlane(Plot):
    """Multipliers; a click or an arrow key chooses one."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("multiplier_plane")
        self.setAccessibleName("Multipliers and the unit circle")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.multipliers: Sequence[Multiplier] = ()
        self.selected = -1
        self.getPlotItem().vb.setAspectLocked(True)
        self._circle = pg.PlotCurveItem(CIRCLE.real, CIRCLE.imag)
        self._ring, self._dots = pg.ScatterPlotItem(pxMode=True), pg.ScatterPlotItem(pxMode=True)
        for depth, item in ((-10, self._circle), (5, self._ring), (10, self._dots)):
            item.setZValue(depth)
            self.addItem(item)
        self._dress()
        self.fit()

    def show_multipliers(self, multipliers: Sequence[Multiplier], selected: int = -1) -> None:
        """Show other multipliers."""
        self.multipliers, self.selected = multipliers, selected
        self.redraw()
        self.fit()

    def select(self, number: int) -> None:
        """Mark one."""
        self.selected = number
        self.redraw()

    def fit(self) -> None:
        values = [m.value for m in self.multipliers]
        reach = max(
            [SEEN, *(1.15 * abs(value.real) for value in values), *(1.15 * abs(value.imag) for value in values)]
        )
        left = min([-SEEN, *(1.15 * value.real for value in values)])
        right = max([SEEN, *(1.15 * value.real for value in values)])
        self.getPlotItem().vb.setRange(xRange=(left, right), yRange=(-min(reach, SEEN), min(reach, SEEN)), padding=0.02)

    def redraw(self) -> None:
        look = theme.current()
        self._circle.setPen(pg.mkPen(look.muted, width=1.4))
        self.label("bottom", "Re μ")
        self.label("left", "Im μ")
        spots = []
        for one in self.multipliers:
            behaviour = behaviour_of(one)
            color = behaviour_color(behaviour)
            spots.append(
                {
                    "pos": (one.value.real, one.value.imag),
                    "symbol": SYMBOLS[behaviour],
                    "size": SIZES[behaviour],
                    "brush": pg.mkBrush(color),
                    "pen": pg.mkPen(color if behaviour == IGNORABLE else look.surface, width=1.2),
                }
            )
        self._dots.setData(spots)
        marked = [one.value for number, one in enumerate(self.multipliers) if number == self.selected]
        self._ring.setData(
            [m.real for m in marked],
            [m.imag for m in marked],
            symbol="o",
            size=RING,
            pen=pg.mkPen(look.accent, width=2),
            brush=pg.mkBrush(theme.mixed(look.accent, look.surface, 0.25)),
        )

    def number_at(self, position: QPointF) -> int:
        """The multiplier nearest to a place in pixels, -1 if none is near."""
        nearest, number = float(REACH), -1
        for k, one in enumerate(self.multipliers):
            scene = self.getPlotItem().vb.mapViewToScene(QPointF(one.value.real, one.value.imag))
            away = QPointF(self.mapFromScene(scene)) - position
            distance = float(np.hypot(away.x(), away.y())) + (4.0 if one.explanation else 0.0)
            if distance < nearest:
                nearest, number = distance, k
        return number

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (number := self.number_at(event.position())) >= 0:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.chosen.emit(number)
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        number = self.number_at(event.position())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if number >= 0 else Qt.CursorShape.ArrowCursor)
        if number >= 0:
            QToolTip.showText(event.globalPosition().toPoint(), words_of(self.multipliers[number]), self)
        else:
            QToolTip.hideText()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}
        if event.key() in steps and self.multipliers:
            step = steps[Qt.Key(event.key())]
            self.chosen.emit(min(max(self.selected + step, 0), len(self.multipliers) - 1))
            event.accept()
        else:
            super().keyPressEvent(event)


def behaviour_of(one: Multiplier) -> str:
    """What the perturbation of a multiplier does, in the words of roots."""
    return IGNORABLE if one.explanation else {1: GROWS, 0: NEUTRAL, -1: DECAYS}[one.side]


def words_of(one: Multiplier) -> str:
    """A multiplier in a line."""
    mu = one.value
    imaginary = f" {'+' if mu.imag > 0 else '−'} {abs(mu.imag):.4g} i" if abs(mu.imag) > 1e-12 else ""
    return f"|μ| = {abs(mu):.4g}, {one.said} (μ = {mu.real:.5g}{imaginary})"
