"""Motion and loads of an element at the instant that is shown: the lower part of the inspector."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLabel, QWidget

import mbframe as mb

from ...base.names import unformatted
from ...base.quantity_names import split
from ...base.turns import single_shot
from ...base.words import parameter_label, unit_label
from ...document.document import Document
from ...fields.numbers import readable
from ...solving.curves import Curves

PAUSE: Final = 100
"""Milliseconds between two readings while a motion plays: nobody reads faster."""
RESIDUE: Final = 1e-10
"""Of the largest value of a quantity in a run: what is smaller is left by its accuracy, as of the work of a turn."""
LEFT_OUT: Final = ("quaternion", "state")
"""Kinds of quantities that nobody reads as numbers."""


class InstantValues(QWidget):
    """The quantities of the selected element at the document's time; nothing without a run.

    They are read from the current run; what has to be computed for it (reactions, accelerations) comes a little later.
    """

    def __init__(self, document: Document, solver: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("instant_values")
        self.document = document
        self.curves = Curves(document, solver, self)
        self.title = QLabel(self)
        self.title.setObjectName("instant")
        self.title.setProperty("role", "section")
        self._form = QFormLayout(self)
        self._form.setContentsMargins(12, 0, 12, 12)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._form.addRow(self.title)
        self._shown: tuple[str, ...] = ()
        self.values: dict[str, QLabel] = {}
        self._kinds: dict[str, tuple[list[str], str]] = {}
        self._soon = single_shot(self, self._show_values, PAUSE)
        document.time_changed.connect(lambda _: None if self._soon.isActive() else self._soon.start())
        for signal in (document.selection_changed, document.runs.current_changed, document.runs.changed):
            signal.connect(self.refresh)
        for signal in (document.replaced, document.structure_changed, document.units_changed):
            signal.connect(self.refresh)
        self.curves.changed.connect(lambda *_: self._show_values())
        self.refresh()

    def refresh(self, _: object = None) -> None:
        """Show the quantities of what is selected now."""
        self._kinds = self._found()
        if tuple(self._kinds) != self._shown:
            self._shown = tuple(self._kinds)
            self._build()
        self.setVisible(bool(self._kinds))
        self._show_values()

    def _found(self) -> dict[str, tuple[list[str], str]]:
        """Names of quantities and their unit by kind, as "reaction.force"."""
        run, element = self.document.runs.current, self.document.selection
        if run is None or run.stale or run.result is None or element in (None, self.document.system.ground):
            return {}
        names = [one.name for one in self.document.system]
        owner = "energy" if isinstance(element, mb.System) else element.name
        found: dict[str, tuple[list[str], str]] = {}
        for name, unit in self.curves.units(run).items():
            if not name.startswith(owner):
                continue
            mine, kind, component = split(name, names)
            if mine != owner or kind in LEFT_OUT:
                continue
            if component == "magnitude" and "force" not in kind:
                continue
            key = f"{kind}.magnitude" if component == "magnitude" else kind
            found.setdefault(key, ([], unit))[0].append(name)
        return found

    def _build(self) -> None:
        while self._form.rowCount() > 1:
            self._form.removeRow(1)
        self.values = {}
        for kind in self._shown:
            what = f"{kind} energy" if isinstance(self.document.selection, mb.System) else kind
            what = "magnitude" if kind.endswith(".magnitude") else what
            text = QLabel(parameter_label(what.replace(".", "_")) or "Value", self)
            text.setProperty("role", "muted")
            value = QLabel(self)
            value.setObjectName(f"instant_{kind}")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._form.addRow(text, value)
            self.values[kind] = value

    def _show_values(self, _: object = None) -> None:
        run, t = self.document.runs.current, self.document.time
        if run is None or not self._kinds or not self.isVisible():
            return
        units = self.document.units
        self.title.setText(f"At t = {t:.4f} s")
        for kind, (names, unit) in self._kinds.items():
            curves = [self.curves.get(run, name) for name in names]
            known = [curve for curve in curves if curve is not None and len(curve.t)]
            problem = next((curve.problem for curve in curves if curve is not None and curve.problem), "")
            self.values[kind].setToolTip(unformatted(problem))
            if len(known) < len(names):
                self.values[kind].setText("not known" if problem else "…")
                continue
            scale = max((float(np.max(np.abs(curve.values))) for curve in known), default=0.0)
            numbers = [float(np.interp(t, curve.t, curve.values)) for curve in known]
            factor = float(units.to_display(1.0, unit)) if unit else 1.0
            numbers = [number if abs(number) > RESIDUE * scale else 0.0 for number in numbers]
            text = ", ".join(readable(factor * number, abs(factor) * scale) for number in numbers)
            self.values[kind].setText(f"{text} {unit_label(units.label(unit)) if unit else ''}".strip())

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._show_values()
