"""The equations tab: the law of the selected joint or force, and its numbers at the state that is shown."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb

from ...base.names import one_line, unformatted
from ...base.turns import single_shot
from ...base.words import class_label, spaced
from ...document.document import Document
from ...solving.latest import Latest
from ...solving.tasks import Model
from ...widgets import icons, theme
from ...widgets.arranging import scrolled, stack
from ...widgets.banner import Banner
from .formulas import documented, headline, printed
from .grid import NumberGrid
from .number_tables import as_latex, as_numpy, as_text, row_symbol, tables_of
from .tasks import EquationsTask

PAUSE: Final = 30
"""Milliseconds that requests are held back, so that a change of many parameters is one request."""
EMPTY: Final = (
    "Select a joint, a driver or a force: its formula appears here, and with the numbers of this instant its residual "
    "C, its Jacobian J for each body and its right-hand side γ; of a force its loads and generalized forces."
)


class EquationsPanel(QWidget):
    """Follows the selection, the instant that is played, pulls and edits."""

    shown = Signal(object)
    """The `JointEquations` or `ForceEquations` that are shown now."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("equations_panel")
        self.document = document
        self.element: Any = None
        self.found: Any = None
        self._model: Model | None = None
        self._words = ""
        self.asking = Latest(solver, self)
        self._soon = single_shot(self, self.ask, PAUSE)
        self._build()
        self._connect()
        self._choose(document.selection)

    # --- widgets -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.banner = Banner("equations_banner")
        self.name = QLabel()
        self.name.setObjectName("equations_element")
        self.name.setProperty("role", "heading")
        self.where = QLabel()
        self.where.setObjectName("equations_state")
        self.where.setProperty("role", "muted")
        self.copy = QToolButton()
        self.copy.setObjectName("copy_equations")
        self.copy.setText("Copy")
        self.copy.setToolTip("Copy all numbers: as text for a table, as NumPy arrays or as LaTeX")
        self.copy.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        icons.set_icon(self.copy, "copy")
        menu = QMenu(self.copy)
        for label, form in (("As text", "text"), ("As NumPy arrays", "numpy"), ("As LaTeX", "latex")):
            menu.addAction(label, partial(self.copy_as, form)).setObjectName(f"copy_as_{form}")
        self.copy.setMenu(menu)
        head = QHBoxLayout()
        head.setContentsMargins(10, 6, 8, 4)
        head.setSpacing(12)
        head.addWidget(self.name)
        head.addWidget(self.where, 1)
        head.addWidget(self.copy)

        self.law = QLabel()
        self.law.setObjectName("equations_law")
        self.law.setWordWrap(True)
        self.law.setTextFormat(Qt.TextFormat.RichText)
        self.law.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.law.setContentsMargins(10, 2, 8, 6)
        self.law.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column = QVBoxLayout()
        self._column.setContentsMargins(8, 2, 8, 6)
        self._column.setSpacing(4)
        self._column.addStretch(1)
        numbers = QWidget()
        numbers.setLayout(self._column)
        self.grids: list[tuple[QLabel, NumberGrid]] = []
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(scrolled(self.law))
        splitter.addWidget(scrolled(numbers))
        splitter.setSizes([3000, 7000])
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 7)
        splitter.setChildrenCollapsible(False)

        page = stack(QWidget(), self.banner, head, splitter, growing=splitter)
        self.empty = QLabel(EMPTY)
        self.empty.setObjectName("equations_empty")
        self.empty.setProperty("role", "muted")
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(60, 0, 60, 0)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.empty)
        self.pages.addWidget(page)
        stack(self, self.pages)

    def _connect(self) -> None:
        document = self.document
        document.selection_changed.connect(self._choose)
        document.replaced.connect(self._model_changed)
        document.structure_changed.connect(self._model_changed)
        document.element_changed.connect(self._model_changed)
        document.state_shown.connect(self._outdated)
        document.runs.current_changed.connect(self._outdated)
        document.animation_owner_changed.connect(self._outdated)
        document.units_changed.connect(self._show_numbers)
        self.asking.finished.connect(self._answered)
        self.asking.failed.connect(self._failed)
        theme.changed().connect(self._show_law)

    def showEvent(self, event: QShowEvent) -> None:
        """Equations are evaluated when somebody looks here."""
        super().showEvent(event)
        self._outdated()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._soon.stop()

    # --- what is asked for -------------------------------------------------------------------------------------------

    def _choose(self, element: Any) -> None:
        """Another element is selected."""
        ours = isinstance(element, mb.Joint | mb.BasicConstraint | mb.ForceElement)
        self.element = element if ours else None
        self.found = None
        self.asking.drop()
        self.banner.say("")
        self.pages.setCurrentIndex(int(ours))
        self._show_law()
        self._show_numbers()
        self._outdated()

    def _model_changed(self, *_: object) -> None:
        self._model = None
        self._show_law()
        self._outdated()

    def _outdated(self, *_: object) -> None:
        if self.element is not None and self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _state(self) -> tuple[Any, str]:
        """The state that is seen in the view, and what it is; None is the described one."""
        document = self.document
        run, state = document.runs.current, document.shown_state
        played = run is not None and not run.stale
        bodies = {body.name for body in document.system.bodies}
        if state is None or set(state.motions) != bodies or not (played or document.animation_owner is not None):
            return None, "as it is described"
        if run is not None and played:
            return state, f"{run.name}, t = {state.t:.4g} s"
        return state, "in the state that the view shows"

    def ask(self) -> None:
        """Ask for the numbers of the selected element."""
        if self.element is None or self.element not in self.document.system:
            return
        try:
            if self._model is None:
                self._model = Model.of(self.document.system)
        except mb.ModelError as error:
            self._failed(error)
            return
        state, self._words = self._state()
        self.asking.ask(EquationsTask(self._model, self.element.name, state))

    def _answered(self, found: Any) -> None:
        if self.element is None or found.element != self.element.name:
            return
        known, self.found = getattr(self.found, "parts", None), found
        self.banner.say("")
        self.where.setText(self._words)
        if getattr(found, "parts", None) != known:
            self._show_law()
        self._show_numbers()
        self.shown.emit(found)

    def _failed(self, failure: Any) -> None:
        self.found = None
        self._show_numbers()
        self.banner.say(str(failure), "error")

    # --- what is shown -----------------------------------------------------------------------------------------------

    def _show_law(self, *_: object) -> None:
        element = self.element
        if element is None:
            self.law.clear()
            return
        self.name.setText(unformatted(f"{one_line(element.name)}: {class_label(type(element)).lower()}"))
        whole = documented(type(element))
        blocks = [_formula(headline(whole)), f"<p>{printed(whole)}</p>"]
        for part in self.found.parts if isinstance(self.found, mb.JointEquations) else ():
            law = documented(part.law)
            values = ", ".join(
                f"{name.replace('_', ' ')} = {_value(name, value)}" for name, value in part.values.items()
            )
            rows = ", ".join(row_symbol(row) for row in part.rows)
            title = f"<b>{escape(spaced(part.kind))}: {rows}</b>"
            blocks.append(f"<p>{title}{f' ({escape(values)})' if values else ''}</p>")
            blocks.append(_formula(headline(law)) or f"<p>{printed(law)}</p>")
        self.law.setText("".join(blocks))

    def _show_numbers(self, *_: object) -> None:
        element, found = self.element, self.found
        self.copy.setEnabled(found is not None)
        if element is None or found is None:
            self.where.clear()
            for title, grid in self.grids:
                title.hide()
                grid.hide()
            return
        tables = tables_of(found, element)
        while len(self.grids) < len(tables):
            title, grid = QLabel(), NumberGrid()
            title.setProperty("role", "section")
            for widget in (title, grid):
                self._column.insertWidget(self._column.count() - 1, widget)
            self.grids.append((title, grid))
        for number, (title, grid) in enumerate(self.grids):
            title.setVisible(number < len(tables))
            grid.setVisible(number < len(tables))
            if number < len(tables):
                title.setText(tables[number].title)
                grid.setAccessibleName(tables[number].title)
                grid.show_table(tables[number], self.document.units)

    def copy_as(self, form: str) -> None:
        """Put all numbers on the clipboard: "text", "numpy" or "latex". They are in SI units."""
        if self.found is None:
            return
        makers = {"text": lambda: as_text(tables_of(self.found, self.element)), "numpy": lambda: as_numpy(self.found)}
        text = makers.get(form, lambda: as_latex(self.found))()
        QGuiApplication.clipboard().setText(text)
        self.document.messages.post(f"The equations of {self.element.name} are on the clipboard.")


def _formula(text: str) -> str:
    """An equation on a line of its own."""
    if not text:
        return ""
    color, size = theme.current().accent, theme.font_sizes()["heading_size"]
    style = f"font-size: {size:g}pt; font-family: serif; color: {color}; margin: 4px 0 4px 6px"
    return f'<p style="{style}">{printed(text)}</p>'


def _value(name: str, value: Any) -> str:
    if name in ("axis_i", "axis_j"):
        return "xyz"[int(value)]
    return f"{value:.5g}" if isinstance(value, float) else str(value)
