"""The Check tab: what is wrong with the model, found while it is built, with Select and Fix; gaps are drawn in red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

import mbframe as mb

from ...base.turns import single_shot
from ...document.document import Document
from ...solving.tasks import Model
from ...view.tools import ViewTool, paint_label, pixels
from ...view.view import View
from ...widgets import theme
from ...widgets.arranging import RowList, stack
from ...widgets.icons import LEVELS, icon
from .checks import Check, Gap, gaps, listed, started_at_zero
from .tasks import CheckTask, Findings

PAUSE: Final = 350
"""Milliseconds after the last change before the model is checked again."""
FIXES: Final = {"assemble": "Assemble", "start at zero": "Begin with zero", "explain": "Explain"}


class ChecksPanel(QWidget):
    """Lists what is wrong. `checks` are the sentences, `findings` what the solver found; `assemble` closes joints."""

    def __init__(
        self,
        document: Document,
        solver: Any,
        view: View,
        assemble: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("checks_panel")
        self.document, self.solver, self.assemble = document, solver, assemble
        self.checks: list[Check] = []
        self.findings: Findings | None = None
        self.rows: list[CheckRow] = []
        self._theme = theme.current()
        self._job: Any = None
        self.gaps = GapTool(view)
        view.tools.append(self.gaps)
        self.summary = QLabel(self)
        self.summary.setObjectName("check_summary")
        self.summary.setProperty("role", "muted")
        self.summary.setWordWrap(True)
        self.summary.setContentsMargins(12, 8, 12, 0)
        self._list = RowList(self)
        stack(self, self.summary, self._list, growing=self._list)
        self._soon = single_shot(self, self.check, PAUSE)
        for signal in (document.structure_changed, document.element_changed):
            signal.connect(self._changed)
        document.replaced.connect(self._forget)
        document.units_changed.connect(self._show)
        theme.changed().connect(self._show)
        self._forget()

    def _changed(self, *_: object) -> None:
        self._soon.start()

    def _forget(self) -> None:
        """Another model: nothing is known of it."""
        self._job, self.findings, self.checks = None, None, []
        self.gaps.set([])
        self._show()
        self._changed()

    def check(self) -> None:
        """Ask the solver process what is wrong."""
        if not len(self.document.system.bodies):
            self._job = None
            self.findings = Findings()
            self._show()
            return
        try:
            task = CheckTask(Model.of(self.document.system))
        except mb.ModelError as error:
            self.summary.setText(str(error).splitlines()[0])
            return
        self._job = self.solver.submit(task)
        self._job.finished.connect(self._found)
        self._job.failed.connect(self._failed)

    def _failed(self, failure: Any) -> None:
        if self.sender() is self._job:
            self._job = None
            self.findings, self.checks = None, [Check(failure.message, "error")]
            self._show()

    def _found(self, findings: Any) -> None:
        if self.sender() is self._job:
            self._job = None
            self.findings = findings
            self._show()

    def _show(self, *_: object) -> None:
        system, units = self.document.system, self.document.units
        if self.findings is not None:
            self.checks = listed(self.findings, system, units)
            self.gaps.set(gaps(self.findings, system, units))
        self.summary.setText(self._summary())
        if [row.check for row in self.rows] == self.checks and theme.current() is self._theme:
            return  # rows are as they have to be; making widgets anew at every change would cost memory
        self._theme = theme.current()
        for row in self.rows:
            self._list.drop(row)
        self.rows = [CheckRow(check, self) for check in self.checks]
        for row in self.rows:
            self._list.append(row)

    def _summary(self) -> str:
        if not len(self.document.system.bodies):
            return "Add a body to begin. What is wrong with the model will be listed here."
        freedom = self.findings.freedom if self.findings is not None else None
        free = "" if freedom is None else f" {'1 freedom' if freedom.count == 1 else f'{freedom.count} freedoms'}."
        if self.findings is None and not self.checks:
            return "Looking at the model…"
        serious = [check for check in self.checks if check.level != "info"]
        return f"{'Nothing is wrong.' if not serious else f'{len(serious)} to look at.'}{free}"

    def fix(self, check: Check) -> None:
        """Do what a check proposes."""
        if check.fix == "assemble":
            self.assemble()
        elif check.fix == "start at zero":
            try:
                values = started_at_zero(self.document.system, check.element)
                if values:
                    self.document.set(check.element, **values)
            except mb.ModelError as error:
                self.document.messages.post_error(error)


class CheckRow(QFrame):
    """A sentence with its buttons."""

    def __init__(self, check: Check, panel: ChecksPanel) -> None:
        super().__init__(panel)
        self.setObjectName("check")
        self.check, self.panel = check, panel
        sign = QLabel(self)
        name, color = LEVELS[check.level]
        sign.setPixmap(icon(name, color).pixmap(18, 18))
        sign.setAccessibleName(check.level)
        self.text = QLabel(check.text, self)
        self.text.setObjectName("check_text")
        self.text.setWordWrap(True)
        self.detail = QLabel(check.detail, self)
        self.detail.setObjectName("check_detail")
        self.detail.setProperty("role", "muted")
        self.detail.setWordWrap(True)
        self.detail.hide()
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.text)
        words.addWidget(self.detail)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 3, 2, 3)
        layout.setSpacing(8)
        layout.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        self.select = QPushButton("Select", self)
        self.select.setObjectName("check_select")
        self.select.setVisible(check.element is not None)
        self.select.clicked.connect(lambda: panel.document.select(check.element))
        self.fix = QPushButton(FIXES.get(check.fix, ""), self)
        self.fix.setObjectName("check_fix")
        self.fix.setVisible(bool(check.fix))
        self.fix.clicked.connect(self._fix)
        layout.addWidget(self.select, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.fix, 0, Qt.AlignmentFlag.AlignTop)

    def _fix(self) -> None:
        if self.check.fix == "explain":
            self.detail.setVisible(self.detail.isHidden())
        else:
            self.panel.fix(self.check)


class GapTool(ViewTool):
    """Draws open joints in red over the picture, where the model is described."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.gaps: list[Gap] = []

    def set(self, found: list[Gap]) -> None:
        """Draw these."""
        self.gaps = found
        self.view.update()

    def paint(self, painter: QPainter) -> None:
        if not self.gaps or self.view.document.runs.current is not None:
            return
        red = theme.current().color("bad")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for gap in self.gaps:
            start, end = pixels(self.view, np.array([gap.start, gap.end]))
            if start is None or end is None:
                continue
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(red, 3.0, Qt.PenStyle.DashLine))
            painter.drawLine(start, end)
            painter.setPen(QPen(red, 2.5))
            for spot in {(start.x(), start.y()), (end.x(), end.y())}:
                painter.drawEllipse(QPointF(*spot), 7.0, 7.0)
            paint_label(painter, end + QPointF(12.0, -12.0), gap.text)
