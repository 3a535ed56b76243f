"""Fields for what is written as text: lists of anything, as Python literals; component modes, only to be read."""

from __future__ import annotations

import ast
from typing import Any

from .texts import TextField


class ListField(TextField):
    """A list such as [1, 2, "three"]; what cannot be written as text is shown and left alone."""

    wide = True

    def _display(self, value: Any) -> None:
        text = "" if value is None else self._text(value)
        self.edit.show_text(text)
        try:
            ast.literal_eval(text or "None")
            self.edit.setReadOnly(False)
        except (ValueError, SyntaxError):
            self.edit.setReadOnly(True)

    def _text(self, value: Any) -> str:
        return repr(list(value))

    def _read(self) -> Any:
        text = self.edit.text().strip()
        if not self.edit.changed:
            return self._value
        try:
            found = ast.literal_eval(text or "[]")
        except (ValueError, SyntaxError):
            raise ValueError("this is not a list; write one such as [1, 2, 3]") from None
        return tuple(found) if isinstance(found, list | tuple) else (found,)


class UnitsField(ListField):
    """Names with units, such as {"force": "N"}."""

    def _text(self, value: Any) -> str:
        return repr(dict(value))

    def _read(self) -> Any:
        text = self.edit.text().strip()
        if not self.edit.changed:
            return self._value
        try:
            found = ast.literal_eval(text or "{}")
        except (ValueError, SyntaxError):
            found = None
        if not isinstance(found, dict):
            raise ValueError("these are no names with units; write them as {'force': 'N'}")
        return found


class MatricesField(ListField):
    """Several matrices, such as [[[-1.0]], [[1.0]], [[1.0]], [[0.0]]]: rows in brackets."""

    def _text(self, value: Any) -> str:
        return repr([matrix.tolist() for matrix in value])


class WordField(ListField):
    """Any text, such as the unit of an input."""

    def _display(self, value: Any) -> None:
        self.edit.show_text(value)

    def _read(self) -> Any:
        return self.edit.text().strip()


class ModesField(ListField):
    """Component modes of a flexible body, in a few words; they are made in Python or come with a file."""

    def _text(self, value: Any) -> str:
        part = value.component
        return f"{value.count} modes of {len(part.nodes):,} nodes, up to {max(value.frequencies):.4g} Hz"
