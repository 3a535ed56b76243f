"""Stress in the view: colours of flexible bodies, their legend, and a mark where stress is largest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QMouseEvent, QPainter, QPen

import mbframe as mb
from mbframe.render.coloring import PALETTE, knows_stress

from ..solving.computing import Computation
from ..solving.tasks import Model
from ..widgets import theme
from .tasks import StressTask
from .tools import ViewTool, paint_label, pixels

if TYPE_CHECKING:
    from .view import View

WIDTH, MARGIN, ROW = 16.0, 16.0, 4.0
"""Pixels: of the bar of colours, from the edge of the view, between lines."""
TALL, SHARE = 180.0, 0.4
"""The bar is so many pixels high, and no more than this share of the view."""
NEAR = 9.0
"""Pixels from the mark at which a click is one on it."""


class StressColors(ViewTool):
    """Colours that show stress while a run is played. Another process finds the stresses, once for each run.

    A click on the words under the legend changes its range from that of the run to that of each frame and back; one on
    the mark plots the largest stress of the body.
    """

    plot_requested = Signal(str)

    def __init__(self, view: View, solver: Any) -> None:
        super().__init__(view)
        self._solver = solver
        self.on = False
        self.by_frame = False
        """Whether the range is that of each frame."""
        self._found: mb.render.Coloring | None = None
        self._job: Any = None
        self._of: Any = None
        self._switch = QRectF()
        self._mark: QPointF | None = None

    @property
    def coloring(self) -> mb.render.Coloring | None:
        """What a new scene is coloured by; None for the usual colours."""
        return None if self._found is None or not self.on else replace(self._found, by_frame=self.by_frame)

    def set(self, on: bool) -> None:
        """Show stress, or not."""
        if on == self.on:
            return
        if on and self.view.document.runs.current is not None and not self.known:
            self.view.document.messages.post(
                "No body of this run tells its stress: solids do, and beams with sections that say where it is taken."
            )
        self.on = on
        self.refresh()
        self.view.redraw()

    @property
    def known(self) -> bool:
        """Whether a body of the current run tells its stress."""
        run = self.view.document.runs.current
        return run is not None and run.result is not None and any(map(knows_stress, run.result.described.bodies))

    def refresh(self) -> None:
        """The current run may be another one, or complete now."""
        run = self.view.document.runs.current
        result = run.result if run is not None and not run.computing else None
        if result is not self._of:
            self._of = result
            self._job, self._mark = None, None
            if self._found is not None:
                self._found = None
                self.view.redraw()
        if self.on and result is not None and self._job is None and self.known and run is not None:
            self._ask(run, result)

    def _ask(self, run: Any, result: Any) -> None:
        if self._solver is None:
            job: Any = Computation(lambda _: mb.render.Coloring.of(result, "stress", result.t), self.view)
        elif run.path is None:
            return
        else:
            model = Model.of(self.view.document.system) if self.view.document.unsavable() else None
            job = self._solver.submit(StressTask(str(run.path), model))
        self._job = job
        job.finished.connect(lambda found: self._computed(job, found))
        if isinstance(job, Computation):
            job.start()
        self.view.update()

    def _computed(self, job: Any, found: mb.render.Coloring) -> None:
        if job is self._job:
            self._found = found
            self.view.redraw()

    # --- the mouse ----------------------------------------------------------------------------------------------------

    def click(self, event: QMouseEvent) -> bool:
        place = event.position()
        if self._switch.contains(place):
            self.by_frame = not self.by_frame
            self.view.redraw()
            return True
        if self._mark is not None and np.hypot(place.x() - self._mark.x(), place.y() - self._mark.y()) <= NEAR:
            coloring, t = self.coloring, self.view.document.time
            if coloring is not None:
                self.plot_requested.emit(f"{coloring.largest(t)[0]}.stress.max")
                return True
        return False

    # --- the picture --------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        self._switch, self._mark = QRectF(), None
        if not self.on or not self.known:
            return
        state = self.view.document.shown_state
        coloring = self.coloring
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if coloring is None:
            self._paint_words(painter, "finding stress…", 0.5 * self.view.height())
            return
        self._paint_legend(painter, coloring, self.view.document.time)
        if state is not None:
            self._paint_mark(painter, coloring, state)

    def _paint_legend(self, painter: QPainter, coloring: mb.render.Coloring, t: float) -> None:
        look, metrics = theme.current(), QFontMetricsF(painter.font())
        height = min(TALL, SHARE * self.view.height())
        top = 0.5 * (self.view.height() - height)
        ticks = coloring.ticks_of(coloring.limits(t))
        beside = max(metrics.horizontalAdvance(tick) for tick in ticks) + 6.0
        left = self.view.width() - MARGIN - beside - WIDTH
        range_words = "range: frame" if self.by_frame else "range: run"
        widest = max(metrics.horizontalAdvance(coloring.title), metrics.horizontalAdvance(range_words))
        back = look.color("surface")
        back.setAlpha(200)
        edge = self.view.width() - MARGIN
        line = metrics.height() + ROW
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(back)
        painter.drawRoundedRect(
            QRectF(edge - max(widest, beside + WIDTH) - 8.0, top - line - 10.0, 0, 0).united(
                QRectF(left, top, edge - left + 8.0, height + line + 10.0)
            ),
            5.0,
            5.0,
        )
        shades = QLinearGradient(0.0, top + height, 0.0, top)
        for k, color in enumerate(PALETTE):
            shades.setColorAt(k / (len(PALETTE) - 1), QColor.fromRgbF(*color.tolist()))
        painter.setBrush(shades)
        painter.drawRoundedRect(QRectF(left, top, WIDTH, height), 2.0, 2.0)
        painter.setPen(look.color("text"))
        for k, tick in enumerate(ticks):
            y = top + height * (1.0 - k / (len(ticks) - 1))
            place = QRectF(left + WIDTH + 6.0, y - 0.5 * line, beside, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, tick)
        self._paint_words(painter, coloring.title, top - line - 2.0)
        self._switch = self._paint_words(painter, range_words, top + height + ROW + 4.0, look.color("accent"))

    def _paint_words(self, painter: QPainter, words: str, top: float, color: QColor | None = None) -> QRectF:
        """Words at the right edge; returns where they are."""
        metrics = QFontMetricsF(painter.font())
        width, height = metrics.horizontalAdvance(words), metrics.height()
        place = QRectF(self.view.width() - MARGIN - width, top, width + 1.0, height)
        painter.setPen(theme.current().color("text") if color is None else color)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight, words)
        return place

    def _paint_mark(self, painter: QPainter, coloring: mb.render.Coloring, state: mb.State) -> None:
        name, node, value = coloring.largest(state.t)
        motion = state.motions.get(name)
        if motion is None or name not in self._of.described or self.view.scene is None:
            return
        local = self._of.described[name].deformed_in_axes(motion.modal_coordinates)[node]
        (place,) = pixels(self.view, (motion.position + motion.rotation @ local)[None])
        if place is None:
            return
        self._mark = place
        look = theme.current()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for width, color in ((4.0, look.color("surface")), (1.8, look.color("text"))):
            painter.setPen(QPen(color, width))
            painter.drawEllipse(place, 6.0, 6.0)
        paint_label(painter, place + QPointF(12.0, -8.0), coloring.words(value))
