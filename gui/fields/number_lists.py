"""Fields for as many numbers as one likes, written as a line of text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from PySide6.QtGui import QFocusEvent, QResizeEvent

from .numbers import exact, fits, read_quantity, readable
from .texts import TextEdit, TextField

Style = Callable[[float], str]
"""Writes a number."""


class NumbersEdit(TextEdit):
    """A line of numbers: all digits while it is edited, else as many as there is room for; no exponent is cut."""

    def __init__(self) -> None:
        super().__init__()
        self._write: Callable[[Style], str] = lambda style: ""
        self._scale = 0.0

    def show_numbers(self, write: Callable[[Style], str], scale: float = 0.0) -> None:
        """Show what is written in a style; numbers that are noise against `scale` are nothing."""
        self._write, self._scale = write, scale
        self._put()

    def _put(self) -> None:
        text = self._write(exact)
        if not self.hasFocus():
            styles = (partial(readable, scale=self._scale, digits=digits) for digits in range(5, 0, -1))
            text = next((shorter for style in styles if fits(self, shorter := self._write(style))), text)
        self.show_text(text)
        self.setCursorPosition(0)
        self.setToolTip("" if text == self._write(exact) else self._write(exact))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.changed:
            self._put()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if not self.changed:
            self._put()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.changed:
            self._put()


class NumberListField(TextField):
    """Numbers in display units. A text that is still as it was shown is exactly the value that was shown.

    Subclasses say how a value is written (`_text`) and what a text means (`_meant`).
    """

    edit: NumbersEdit

    def _new_edit(self) -> TextEdit:
        return NumbersEdit()

    def _text(self, value: Any, style: Style) -> str:
        raise NotImplementedError

    def _meant(self, text: str) -> Any:
        raise NotImplementedError

    def _display(self, value: Any) -> None:
        unit = self.parameter.unit
        scale = abs(self.surroundings.units.to_display(self.surroundings.scale(unit), unit)) if unit else 0.0
        self.edit.show_numbers(lambda style: "" if value is None else self._text(value, style), scale)

    def _read(self) -> Any:
        text = self.edit.text().strip()
        if not self.edit.changed:
            return self._value
        if text:
            return self._meant(text)
        if self.parameter.optional:
            return None
        raise ValueError(f"the field is empty; write {self.placeholder}")

    def _written(self, numbers: Any, style: Style) -> str:
        units, unit = self.surroundings.units, self.parameter.unit
        return ", ".join(style(float(units.to_display(float(n), unit) if unit else n)) for n in numbers)

    def _numbers(self, text: str) -> list[float]:
        return [read_quantity(part, self.parameter.unit, self.surroundings.units) for part in text.split(",")]


class NumbersField(NumberListField):
    """A number or a list of them, separated by commas: what may differ from row to row."""

    placeholder = "a number, or several with commas"

    def _text(self, value: Any, style: Style) -> str:
        return self._written([value] if isinstance(value, Real) else value, style)

    def _meant(self, text: str) -> Any:
        numbers = self._numbers(text.rstrip(", "))
        return numbers[0] if len(numbers) == 1 and self.parameter.kind == "numbers" else numbers


class ArrayField(NumberListField):
    """An array of any length: numbers are separated by commas, rows by semicolons."""

    wide = True

    @property
    def placeholder(self) -> str:  # type: ignore[override]
        """What to write."""
        return "numbers with commas" if self._flat else "numbers with commas; rows with semicolons"

    @property
    def _flat(self) -> bool:
        """Whether there is one row only."""
        return len(self.parameter.shape or (None,)) == 1

    def _text(self, value: Any, style: Style) -> str:
        return "; ".join(self._written(row, style) for row in np.atleast_2d(np.asarray(value, float)))

    def _meant(self, text: str) -> Any:
        rows = [self._numbers(row) for row in text.rstrip("; ").split(";")]
        if len({len(row) for row in rows}) > 1:
            raise ValueError("the rows have different lengths; give each row as many numbers")
        return rows[0] if self._flat else rows
