"""Fields for as many numbers as one likes, written as a line of text."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .numbers import exact, read_number
from .texts import TextField


class NumberListField(TextField):
    """Numbers in display units. A text that is still as it was shown is exactly the value that was shown.

    Subclasses say how a value is written (`_text`) and what a text means (`_meant`).
    """

    def _text(self, value: Any) -> str:
        raise NotImplementedError

    def _meant(self, text: str) -> Any:
        raise NotImplementedError

    def _display(self, value: Any) -> None:
        self.edit.show_text("" if value is None else self._text(value))

    def _read(self) -> Any:
        text = self.edit.text().strip()
        if text == ("" if self._value is None else self._text(self._value)):
            return self._value
        if text:
            return self._meant(text)
        if self.parameter.optional:
            return None
        raise ValueError(f"the field is empty; write {self.placeholder}")

    def _written(self, numbers: Any) -> str:
        units, unit = self.surroundings.units, self.parameter.unit
        return ", ".join(exact(float(units.to_display(float(n), unit) if unit else n)) for n in numbers)

    def _numbers(self, text: str) -> list[float]:
        units, unit = self.surroundings.units, self.parameter.unit
        numbers = [read_number(part) for part in text.split(",")]
        return [float(units.from_display(n, unit)) for n in numbers] if unit else numbers


class NumbersField(NumberListField):
    """A number or a list of them, separated by commas: what may differ from row to row."""

    placeholder = "a number, or several with commas"

    def _text(self, value: Any) -> str:
        return self._written([value] if isinstance(value, Real) else value)

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

    def _text(self, value: Any) -> str:
        return "; ".join(self._written(row) for row in np.atleast_2d(np.asarray(value, float)))

    def _meant(self, text: str) -> Any:
        rows = [self._numbers(row) for row in text.rstrip("; ").split(";")]
        if len({len(row) for row in rows}) > 1:
            raise ValueError("the rows have different lengths; give each row as many numbers")
        return rows[0] if self._flat else rows
