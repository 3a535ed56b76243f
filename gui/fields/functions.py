"""Fields for functions: an expression, a number, points of a table, or the coefficients of a polynomial."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

import mbframe as mb
from mbframe.parameters import Parameter

from ..base.words import unit_label
from . import typed_units
from .base import PLAIN, Field, Surroundings
from .choices import ComboBox
from .numbers import exact, is_number, read_number, read_quantity
from .texts import TextEdit

KINDS: Final = {
    "expression": ("Formula", "such as 0.5*{0} + 0.1*sin(5*{0})"),
    "table": ("Curve", "x: y pairs, such as 0: 0, 1: 0.5, 2: 0.7"),
    "spline": ("Spline", "x: y pairs, such as 0: 0, 1: 0.5, 2: 0.7"),
    "piecewise_linear": ("Lines", "x: y pairs, such as 0: 0, 1: 0.5, 2: 0.7"),
    "polynomial": ("Polynomial", "coefficients c0, c1, c2, such as 0, 1, 0.5"),
}
"""Ways to enter a function: name of the choice, and what to write."""


class FunctionEdit(QWidget):
    """One function in words: a choice of how it is written, and its text."""

    typed = Signal()
    confirmed = Signal()
    escaped = Signal()

    def __init__(
        self,
        variables: tuple[str, ...],
        name: str,
        parent: QWidget | None = None,
        optional: bool = False,
        unit: str = "",
    ) -> None:
        super().__init__(parent)
        self._variables, self._optional, self._unit = variables, optional, unit
        self._function: mb.Function | None = None
        self.kind = ComboBox(self)
        self.kind.setObjectName(f"{name}_kind")
        for key, (label, _) in KINDS.items():
            if key == "expression" or len(variables) == 1:
                self.kind.addItem(label, key)
        self.kind.setToolTip(
            "How the function is written: as a formula, through points as a curve that keeps their shape, a spline "
            "(for drivers) or straight lines, or as a polynomial"
        )
        self.edit = TextEdit(self)
        self.edit.setObjectName(f"{name}_edit")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.edit, 1)
        layout.addWidget(self.kind)
        self.setFocusProxy(self.edit)
        self.kind.activated.connect(self._change_kind)
        self.edit.typed.connect(self.typed)
        self.edit.confirmed.connect(self.confirmed)
        self.edit.escaped.connect(self.escaped)

    def set_function(self, function: mb.Function | None) -> None:
        """Show a function; None is an empty text."""
        self._function = function
        kind = kind_of(function)
        with QSignalBlocker(self.kind):
            self.kind.setCurrentIndex(max(0, self.kind.findData(kind)))
        self.edit.show_text(text_of(function))
        self._hint()
        python = function is not None and function.kind == "callable"
        self.edit.setToolTip("A Python function; writing an expression replaces it" if python else self._usage())

    def read(self) -> mb.Function | str | float | None:
        """The function of the text; the one that was shown as long as nothing is changed."""
        kind, text = self.kind.currentData(), self.edit.text().strip()
        shown = self._function
        if kind == kind_of(shown) and text == text_of(shown):
            return shown
        if not text:
            return None
        try:
            if kind == "polynomial":
                return mb.Function.polynomial([read_number(c) for c in text.split(",")], self._variables[0])
            if kind == "spline":
                return mb.Function.table(*points_of(text, self._unit), self._variables[0], interpolation="spline")
            if kind != "expression":
                return getattr(mb.Function, kind)(*points_of(text, self._unit), self._variables[0])
        except mb.ModelError as error:
            raise ValueError("; ".join(problem.message for problem in error.problems)) from None
        return self._formula(text.replace("^", "**"))

    def _formula(self, text: str) -> str | float:
        """What a formula means; one that ends with a unit, such as 12 rpm or 20*sin(t) mm, is converted."""
        typed = typed_units.split(text)
        if typed is None or self._is_formula(text):
            return text
        formula, unit = typed
        factor = typed_units.factor(unit, self._unit)
        if is_number(formula):
            return read_number(formula) * factor
        return formula if factor == 1.0 else f"({formula})*{factor!r}"

    def _is_formula(self, text: str) -> bool:
        try:
            mb.Function(text, variables=self._variables)
        except mb.ModelError:
            return False
        return True

    def _change_kind(self) -> None:
        self._hint()
        self.edit.setFocus()
        if self._function is None or self.kind.currentData() != kind_of(self._function):
            self.edit.clear()
            self.typed.emit()
        else:
            self.escaped.emit()

    def _hint(self) -> None:
        kind = self.kind.currentData()
        hint = KINDS[kind][1].format(self._variables[0])
        self.edit.setPlaceholderText("none" if self._optional and kind == "expression" else hint)

    def _usage(self) -> str:
        return (
            f"Variables: {', '.join(self._variables)}. Numbers, pi, e, + - * / **, comparisons, if(condition, a, b), "
            "sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt abs sign min max, step(t, t0, h0, t1, h1)"
        )


def kind_of(function: mb.Function | None) -> str:
    """Way in which a function is written: a key of `KINDS`."""
    if function is None or function.kind not in KINDS:
        return "expression"
    return "spline" if function.interpolation == "spline" else function.kind


def text_of(function: mb.Function | None) -> str:
    """A function as it is typed."""
    if function is None:
        return ""
    if function.kind == "callable":
        return f"Python: {getattr(function.python, '__name__', 'function')}"
    source = function.source
    data = source[function.kind] if isinstance(source, dict) else source
    if function.kind == "polynomial":
        return ", ".join(map(exact, data))
    if function.kind in ("table", "piecewise_linear"):
        return ", ".join(f"{exact(x)}: {exact(y)}" for x, y in zip(*data, strict=True))
    return exact(data) if isinstance(data, float) else str(data)


def points_of(text: str, unit: str = "") -> tuple[list[float], list[float]]:
    """The points of a text such as "0: 0, 1: 0.5", or "0: 0, 1: 500 mm" for values with an SI unit."""
    x, y = [], []
    for pair in text.strip(", ").split(","):
        parts = pair.split(":")
        if len(parts) != 2:
            raise ValueError(f"“{pair.strip()}” is not a point; write x: y, and commas between points")
        x.append(read_number(parts[0]))
        y.append(read_quantity(parts[1], unit, PLAIN.units))
    return x, y


class FunctionField(Field):
    """One function, or several: a line for each, with captions x, y, z where they are components."""

    wide = True

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        several = parameter.kind in ("functions", "vector functions") or (
            parameter.kind == "axial functions" and parameter.rules.convert.__name__ == "_functions"
        )
        self.count = int((parameter.shape or (3,))[0] or 3) if several else 0
        self.edits: list[FunctionEdit] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for k in range(self.count or 1):
            name = f"{parameter.name}_{k}" if several else parameter.name
            edit = FunctionEdit(parameter.variables, name, self, parameter.optional, parameter.unit)
            row = QHBoxLayout()
            row.setSpacing(6)
            if several:
                row.addWidget(QLabel("xyz"[k] if self.count <= 3 else str(k), self))
            row.addWidget(edit, 1)
            layout.addLayout(row)
            edit.typed.connect(self.validate)
            edit.confirmed.connect(self.commit)
            edit.escaped.connect(self.restore)
            self.edits.append(edit)
        self.setFocusProxy(self.edits[0])

    @property
    def unit(self) -> str:
        # An expression is computed with as it is written, so its unit is not converted.
        variables = ", ".join(self.parameter.variables)
        return f"f({variables}) in {unit_label(self.parameter.unit)}" if self.parameter.unit else f"f({variables})"

    def editors(self) -> list[QWidget]:
        return [edit.edit for edit in self.edits]

    def _display(self, value: Any) -> None:
        functions = list(value) if self.count and value is not None else [value] * len(self.edits)
        for edit, function in zip(self.edits, functions, strict=True):
            edit.set_function(function)

    def _read(self) -> Any:
        found = [edit.read() for edit in self.edits]
        empty = [function is None for function in found]
        if any(empty) and not (all(empty) and self.parameter.optional):
            raise ValueError("the field is empty; write a number, or an expression such as sin(2*t)")
        if not self.count:
            return found[0]
        if self._value is not None and all(a is b for a, b in zip(found, self._value, strict=True)):
            return self._value
        return None if all(empty) else tuple(found)
