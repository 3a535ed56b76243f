"""The dialog that adds what has no place in the view: inputs and controllers."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QLabel, QVBoxLayout, QWidget

import mbframe as mb
from mbframe.controllers.sight import seeable
from mbframe.parameters import REQUIRED

from ..base.words import class_label, first_sentence, parameter_label, unit_label
from ..document.document import Document
from ..fields import Field, Surroundings, field_for
from ..fields.base import sentence
from ..fields.texts import TextEdit
from ..widgets.labels import ProblemLabel

SHOWN = ("value", "unit", "lower", "upper", "measures", "outputs", "sample_time")
"""Parameters that are asked for, beside those that a class cannot be without; the inspector has all."""
NAMES = {"Input": "push", "StateFeedback": "lqr"}


class SignalDialog(QDialog):
    """Asks for the name of an input or a controller, and for what it cannot be without; Add puts it into the model."""

    def __init__(self, document: Document, cls: type[Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("signal_dialog")
        self.setWindowTitle(f"Add: {class_label(cls).lower()}")
        self.document, self.cls = document, cls
        self.fields: dict[str, Field] = {}
        about = QLabel(first_sentence(cls), self)
        about.setProperty("role", "caption")
        about.setWordWrap(True)
        self.form = QGridLayout()
        self.form.setHorizontalSpacing(8)
        self.form.setVerticalSpacing(6)
        self.form.setColumnStretch(1, 1)
        self.name = TextEdit(self)
        self.name.setObjectName("signal_name")
        self.name.setText(document.free_name(NAMES.get(cls.__name__, cls.__name__.lower()), ""))
        self.name.setToolTip("Expressions name it: letters, digits and underscores, a letter first")
        self.form.addWidget(QLabel("Name", self), 0, 0)
        self.form.addWidget(self.name, 0, 1, 1, 2)
        for name, parameter in cls.parameters().items():
            if name in SHOWN or parameter.default is REQUIRED:
                self._add(name)
        self.problem = ProblemLabel("signal_problem", self)
        buttons = QDialogButtonBox(self)
        add = buttons.addButton("Add", QDialogButtonBox.ButtonRole.AcceptRole)
        add.setObjectName("add_signal")
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(10)
        column.addWidget(about)
        column.addLayout(self.form)
        column.addStretch(1)
        column.addWidget(self.problem)
        column.addWidget(buttons)
        self.name.selectAll()
        self.name.setFocus()
        self.resize(440, self.sizeHint().height())

    def _add(self, name: str) -> None:
        if name in self._matrices():  # numbers for each of what it sees: they begin as nothing, for the inspector
            return
        parameter = self.cls.parameters()[name].of(self.document.system.dimension)
        seen = seeable(self.document.system)
        surroundings = Surroundings(self.document.units, lambda *_: seen, self.document.scale)  # type: ignore[arg-type]
        field = field_for(parameter, surroundings, self)
        field.show_value(None if parameter.default is REQUIRED else parameter.default)
        field.committed.connect(lambda value, _: field.show_value(value))
        field.setToolTip(sentence(parameter.help))
        label, row = QLabel(parameter_label(name), self), self.form.rowCount()
        label.setToolTip(sentence(parameter.help))
        label.setBuddy(field)
        problem = ProblemLabel(f"problem_{name}", self)
        field.problem_changed.connect(problem.say)
        shown = field.unit if parameter.unit and not parameter.unit.startswith("that of") else ""
        self.form.addWidget(label, row, 0)
        self.form.addWidget(field, row, 1, 1, 1 if shown else 2)
        if shown:
            self.form.addWidget(QLabel(unit_label(shown), self), row, 2)
        self.form.addWidget(problem, row + 1, 1, 1, 2)
        self.fields[name] = field

    def _matrices(self) -> set[str]:
        """Parameters whose size follows from what a controller sees and sets."""
        if not issubclass(self.cls, mb.Controller):
            return set()
        return set(self.cls.proposed((), {})) - {"measures", "outputs"}

    def accept(self) -> None:
        """Add it: one step to undo."""
        for field in self.fields.values():
            field.commit()
        if any(field.problem for field in self.fields.values()):
            return
        values = {name: field.value for name, field in self.fields.items() if field.value is not None}
        if issubclass(self.cls, mb.Controller):
            outputs = values.get("outputs", self.cls.outputs)
            values |= self.cls.proposed(values.get("measures", ()), outputs)
        try:
            self.document.add(self.cls(self.name.text().strip(), **values))
        except mb.ModelError as error:
            self.problem.say(sentence("; ".join(one.message for one in error.problems) or str(error)))
            return
        super().accept()
