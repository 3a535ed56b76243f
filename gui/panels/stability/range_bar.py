"""A number of the model and the range over which it is followed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QHBoxLayout, QLabel, QWidget

from ...document.document import Document
from ...fields.base import mark
from ...fields.numbers import NumberEdit
from .variation import ExampleArgument, Variation, variations


class RangeBar(QWidget):
    """The choice of a number, and of its lowest and highest value, SI."""

    changed = Signal()

    def __init__(self, document: Document, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.choices: list[Variation] = []
        self.low, self.high = 0.0, 1.0
        self.parameter = QComboBox(self)
        self.parameter.setObjectName(f"{name}_parameter")
        self.parameter.setAccessibleName("Number to vary")
        self.parameter.setToolTip("The number to vary; type to search")
        self.parameter.setEditable(True)
        self.parameter.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.parameter.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.parameter.setMinimumContentsLength(7)
        completer = self.parameter.completer()
        assert completer is not None  # because it is editable
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.edits = {end: NumberEdit(parent=self) for end in ("low", "high")}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.parameter, 1)
        for end, words in (("low", "Lowest value"), ("high", "Highest value")):
            edit = self.edits[end]
            edit.setObjectName(f"{name}_{end}")
            edit.setAccessibleName(words)
            edit.setToolTip(words)
            edit.setFixedWidth(16 + edit.fontMetrics().horizontalAdvance("0.00000"))
            edit.confirmed.connect(lambda _, end=end: self._typed(end))
            edit.left.connect(lambda end=end: self._typed(end))
            if end == "high":
                row.addWidget(QLabel("…", self))
            row.addWidget(edit)
        self.unit = QLabel(self)
        self.unit.setProperty("role", "muted")
        row.addWidget(self.unit)
        self.parameter.activated.connect(lambda _: self._chosen())
        document.replaced.connect(self.renew)
        document.structure_changed.connect(self.renew)
        document.units_changed.connect(self._show)
        self.renew()

    @property
    def variation(self) -> Variation | None:
        """The number that is varied."""
        place = self.parameter.currentIndex()
        return self.choices[place] if 0 <= place < len(self.choices) else None

    @property
    def words(self) -> str:
        """The number with its unit, for an axis."""
        if self.variation is None:
            return "parameter"
        unit = self.document.units.label(self.variation.unit)
        return f"{self.variation.label} ({unit})" if unit else self.variation.label

    @property
    def factor(self) -> float:
        """How many shown units make one SI unit."""
        return self.document.units.factor(self.variation.unit) if self.variation is not None else 1.0

    @property
    def value(self) -> float:
        """What the number is in the model, brought into the range."""
        assert self.variation is not None
        value = float(self.variation.value(self.document.system))
        return min(max(value, self.low), self.high)

    def renew(self) -> None:
        """List what can be varied; what was chosen stays if it is still there."""
        before = self.variation
        document = self.document
        self.choices = variations(document.system, document.example, document.arguments)
        self.parameter.blockSignals(True)
        self.parameter.clear()
        self.parameter.addItems([choice.label for choice in self.choices])
        place = self.choices.index(before) if before in self.choices else min(0, len(self.choices) - 1)
        self.parameter.setCurrentIndex(place)
        self.parameter.blockSignals(False)
        self.setEnabled(bool(self.choices))
        if self.variation != before:
            self._chosen()

    def choose(self, variation: Variation) -> None:
        """Vary another number."""
        self.parameter.setCurrentIndex(self.choices.index(variation))
        self._chosen()

    def set_range(self, low: float, high: float) -> None:
        """Another range, SI."""
        self.low, self.high = low, high
        self._show()
        self.changed.emit()

    def prefer(self, argument: str) -> None:
        """Begin with an argument of the example, if it has one of that name."""
        for choice in self.choices:
            if isinstance(choice, ExampleArgument) and choice.argument == argument:
                self.choose(choice)

    def _chosen(self) -> None:
        if self.variation is not None:
            self.low, self.high = self.variation.bounds(self.document.system)
            self._show()
        self.changed.emit()

    def _typed(self, end: str) -> None:
        edit = self.edits[end]
        try:
            value = edit.read()
            if value is None or not (value < self.high if end == "low" else value > self.low):
                raise ValueError
        except ValueError:
            mark(edit, True)
            edit.setToolTip("A number; the lowest must be below the highest")
            return
        setattr(self, end, value)
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        unit = self.variation.unit if self.variation is not None else ""
        self.unit.setText(self.document.units.label(unit))
        for end, edit in self.edits.items():
            mark(edit, False)
            edit.set_unit(unit, self.document.units)
            edit.set_value(getattr(self, end))
