"""Base of all fields: show a value, read it back, say in words what is wrong with it.

A field knows a declared parameter and its surroundings, nothing of documents: who shows it listens to `committed` and
answers with `show_value` (accepted) or `refuse` (not). While a text is wrong the last valid value stays in force.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from mbframe.parameters import REQUIRED, Element, Parameter

from ..base.words import unit_label


class PlainUnits:
    """SI as it is; stands in where there is no document with display units."""

    def to_display(self, value: Any, unit: str) -> Any:
        return value

    def from_display(self, value: Any, unit: str) -> Any:
        return value

    def label(self, unit: str) -> str:
        return unit


@dataclass(frozen=True)
class Surroundings:
    """Surroundings of a field: display units, elements that a reference may choose from, sizes."""

    units: Any
    candidates: Callable[[Parameter, Any], Sequence[Element]] = lambda parameter, current: ()
    scale: Callable[[str], float] = lambda unit: 0.0
    """Size of numbers with an SI unit in the model: what is noise against that is shown as nothing."""


PLAIN = Surroundings(PlainUnits())


class Field(QWidget):
    """The value of one parameter. Subclasses give `_display`, `_read` and `editors`.

    Parameters
    ----------
    parameter
        The declared parameter, as it is in the system's dimension.
    surroundings
        Display units and candidates for references.
    convert
        How a value is checked and stored, if that is not the parameter's own rule.
    """

    committed = Signal(object, object)
    """A checked value, and the key of the gesture that it belongs to (None: a step of its own)."""
    problem_changed = Signal(str)
    """Problem in words; empty if there is none."""

    wide = False  # whether it needs a line of its own below its label

    def __init__(
        self,
        parameter: Parameter,
        surroundings: Surroundings = PLAIN,
        parent: QWidget | None = None,
        convert: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(parent)
        self.parameter = parameter
        self.surroundings = surroundings
        self.setObjectName(parameter.name)
        self.problem = ""
        self.checker: Callable[[Any], None] = lambda value: None  # raises ValueError for what the element refuses
        self._convert = convert or parameter.convert
        self._value: Any = None

    # --- what subclasses give ----------------------------------------------------------------------------------------

    def _display(self, value: Any) -> None:
        """Put a stored value on the screen."""
        raise NotImplementedError

    def _read(self) -> Any:
        """What is on the screen; a ValueError says what is wrong with it."""
        raise NotImplementedError

    def editors(self) -> list[QWidget]:
        """The widgets that get a red edge while the value is wrong."""
        return []

    # --- for who shows the field -------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:
        """The last valid value."""
        return self._value

    @property
    def unit(self) -> str:
        """The unit beside the field, as displayed."""
        return unit_label(self.surroundings.units.label(self.parameter.unit)) if self.parameter.unit else ""

    def show_value(self, value: Any) -> None:
        """Show a stored value; whatever was wrong is forgotten."""
        self._value = value
        self._display(value)
        self._say("")

    def restore(self) -> None:
        """Show the last valid value again."""
        self.show_value(self._value)

    def refuse(self, reason: str) -> None:
        """Say why a committed value was not accepted; the text stays, to be corrected."""
        self._say(sentence(reason))

    @property
    def resettable(self) -> bool:
        """Whether there is a default to go back to that is not in force."""
        default = self.parameter.default
        return default is not REQUIRED and not same(self._value, default)

    def reset(self) -> None:
        """Go back to the default."""
        self._offer(self.parameter.default, None)

    # --- while it is edited ------------------------------------------------------------------------------------------

    def validate(self) -> None:
        """Say what is wrong with what is on the screen, if anything."""
        try:
            self._checked()
        except ValueError as error:
            self._say(sentence(str(error)))
        else:
            self._say("")

    def commit(self, gesture: object = None) -> None:
        """Hand over what is on the screen if it is right and differs from the value in force."""
        try:
            value = self._checked()
        except ValueError as error:
            self._say(sentence(str(error)))
            return
        self._offer(value, gesture)

    def _offer(self, value: Any, gesture: object) -> None:
        self._say("")
        if not same(value, self._value):
            self.committed.emit(value, gesture)
        else:
            self._display(self._value)

    def _checked(self) -> Any:
        value = self._read()
        if not same(value, self._value):
            check_bounds(self.parameter, value, self.surroundings.units)
            value = self._convert(value)
            self.checker(value)
        return value

    def _say(self, problem: str) -> None:
        if problem == self.problem:
            return
        self.problem = problem
        for editor in self.editors():
            mark(editor, bool(problem))
        self.problem_changed.emit(problem)


def show(edit: QLineEdit, text: str) -> None:
    """Put a text that is in force into a line edit: nothing is left to undo there, and the cursor stays if it can."""
    place = edit.cursorPosition() if text == edit.text() else len(text)
    edit.setText(text)
    edit.setCursorPosition(place if edit.hasFocus() else 0)


def mark(widget: QWidget, wrong: bool) -> None:
    """Give a widget the red edge of wrong input, or take it away; the theme's style sheet draws it."""
    if bool(widget.property("invalid")) != wrong:
        widget.setProperty("invalid", wrong)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


def sentence(text: str) -> str:
    """A message with a capital letter, unless it begins with a symbol ("k: stiffness"), and a full stop."""
    text = text.strip()
    if not text:
        return ""
    first = text[0] if re.match(r"\w{1,2}(_\w+)?:", text) else text[0].upper()
    return first + text[1:] + ("" if text[-1] in ".!?" else ".")


def same(a: Any, b: Any) -> bool:
    """Whether two parameter values are equal, arrays and tuples of arrays included."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if a is None or b is None:
            return False
        try:
            return np.array_equal(np.asarray(a, float), np.asarray(b, float))
        except (TypeError, ValueError):
            return False
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def check_bounds(parameter: Parameter, value: Any, units: Any) -> None:
    """Refuse numbers beyond the parameter's bounds with a sentence in display units."""
    bounds = (
        (np.less, parameter.minimum, "at least"),
        (np.greater, parameter.maximum, "at most"),
        (np.less_equal, parameter.above, "above"),
    )
    if all(bound is None for _, bound, _ in bounds):
        return
    try:
        numbers = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError):
        return
    for breaks, bound, words in bounds:
        if bound is not None and np.any(breaks(numbers, bound)):
            limit = units.to_display(bound, parameter.unit) if parameter.unit else bound
            label = f" {unit_label(units.label(parameter.unit))}" if parameter.unit else ""
            each = "every number" if numbers.ndim else "the number"
            raise ValueError(f"{each} must be {words} {limit:g}{label}")
