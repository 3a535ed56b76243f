"""The inputs of the model in the run panel: a slider and a number for each."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSlider, QWidget

import mbframe as mb

from ...base.names import one_line, unformatted
from ...base.words import unit_label
from ...document.document import Document
from ...fields.base import mark
from ...fields.numbers import NumberEdit
from ...playing.live import Live
from ...widgets.labels import ProblemLabel

STEPS: Final = 1000
FIRST: Final = 10.0
"""Range of an input without bounds and value; it grows with what is typed."""


class InputRow:
    """One input: name, slider, number, unit. `read` and `write` are SI, as the input has it."""

    def __init__(self, rows: Inputs, one: mb.Input, place: int) -> None:
        self.rows, self.input = rows, one
        self.low, self.high = bounds(one)
        self._gesture: object = None
        self.value = float(one.value)
        label = QLabel(one_line(one.name), rows)
        label.setToolTip(unformatted(f"Input {one.name}: expressions of forces, torques and setpoints name it"))
        self.slider = QSlider(Qt.Orientation.Horizontal, rows)
        self.slider.setObjectName(f"input_slider_{one.name}")
        self.slider.setAccessibleName(f"Value of {one.name}")
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setMinimumWidth(40)
        self.edit = NumberEdit(parent=rows)
        self.edit.setObjectName(f"input_value_{one.name}")
        self.edit.setAccessibleName(f"Value of {one.name}")
        self.edit.setFixedWidth(16 + self.edit.fontMetrics().horizontalAdvance("-0.0000"))
        grid = rows.grid
        grid.addWidget(label, place, 0)
        grid.addWidget(self.slider, place, 1)
        grid.addWidget(self.edit, place, 2)
        grid.addWidget(QLabel(unit_label(one.unit), rows), place, 3)
        self.slider.sliderPressed.connect(self._begin)
        self.slider.valueChanged.connect(self._slid)
        self.edit.confirmed.connect(lambda _: self._typed())
        self.edit.escaped.connect(lambda: self.show(self.value))
        self.show(self.value)

    def show(self, value: float) -> None:
        """Show a value; it is not sent."""
        self.value = value
        self.low, self.high = min(self.low, value), max(self.high, value)
        mark(self.edit, False)
        self.edit.set_value(value)
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(STEPS * (value - self.low) / ((self.high - self.low) or 1.0)))

    @property
    def held(self) -> bool:
        """Whether somebody moves it at the moment: what comes back late must not pull at the slider."""
        return self.slider.isSliderDown() or self.edit.hasFocus()

    def _begin(self) -> None:
        self._gesture = object()

    def _slid(self, place: int) -> None:
        self._take(self.low + (self.high - self.low) * place / STEPS, self._gesture or self)

    def _typed(self) -> None:
        try:
            value = self.edit.read()
            if value is None:
                raise ValueError("the field is empty; write a number")
            if message := self.input.refusal(value):
                raise ValueError(message)
        except ValueError as error:
            mark(self.edit, True)
            self.rows.problem.say(f"{self.input.name}: {error}")
            return
        self.show(value)
        self._take(value, None)

    def _take(self, value: float, gesture: object) -> None:
        self.value = value
        self.rows.problem.say("")
        mark(self.edit, False)
        self.edit.set_value(value)
        self.rows.take(self.input, value, gesture)


class Inputs(QWidget):
    """The inputs of the document's model. While it runs live they act there; otherwise they are values of the model."""

    def __init__(self, document: Document, live: Live | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_inputs")
        self.document, self.live = document, live
        self.rows: dict[str, InputRow] = {}
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(6)
        self.grid.setVerticalSpacing(3)
        self.grid.setColumnStretch(1, 1)
        self.problem = ProblemLabel("problem_inputs", self)
        for signal in (document.replaced, document.structure_changed):
            signal.connect(self._renew)
        document.element_changed.connect(self._element_changed)
        if live is not None:
            live.changed.connect(self._show)
            live.framed.connect(lambda _: self._show())
        self._renew()

    def _renew(self) -> None:
        while (item := self.grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None and widget is not self.problem:
                widget.hide()
                widget.deleteLater()
        inputs = self.document.system.inputs
        self.rows = {one.name: InputRow(self, one, place) for place, one in enumerate(inputs)}
        self.grid.addWidget(self.problem, len(inputs), 0, 1, 4)
        self.problem.say("")
        self.setVisible(bool(inputs))
        self._show()

    def take(self, one: mb.Input, value: float, gesture: object) -> None:
        """Somebody has given an input a value."""
        if self.live is not None and self.live.on:
            self.live.set_input(one.name, value)
            return
        try:
            self.document.set(one, gesture=gesture, value=value)
        except mb.ModelError as error:
            self.problem.say(str(error))

    def _show(self) -> None:
        now = self.live.inputs if self.live is not None and self.live.on else {}
        for name, row in self.rows.items():
            value = now.get(name, row.input.value)
            if not row.held and value != row.value:
                row.show(value)

    def _element_changed(self, element: object, name: str) -> None:
        row = next((row for row in self.rows.values() if row.input is element), None)
        if row is None:
            return
        if name == "value":
            self._show()
        else:
            self._renew()


def bounds(one: mb.Input) -> tuple[float, float]:
    """The range of the slider: that of the input, or around its value."""
    reach = max(2.0 * abs(one.value), 0.0 if one.value else FIRST)
    low = one.lower if one.lower is not None else -reach if one.upper is None else one.upper - 2.0 * reach
    high = one.upper if one.upper is not None else reach if one.lower is None else one.lower + 2.0 * reach
    return (low, high) if low < high else (low - 1.0, high + 1.0)
