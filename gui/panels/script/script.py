"""The steps of a document as Python: each line does what the user did. No widgets."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

import mbframe as mb
from mbframe.files.python_writer import assignment_to_python, element_to_python

from ...document.commands import Rename, SetParameters, Structure
from ...document.document import Document


class Script(QObject):
    """Keeps the Python of every step that is done; undoing takes lines away, redoing brings them back."""

    changed = Signal()

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        document.undo_stack.indexChanged.connect(self._follow)
        document.element_changed.connect(self._renew_last)

    @property
    def lines(self) -> list[str]:
        """The Python of the steps that are done, in their order."""
        stack = self.document.undo_stack
        steps: list[Any] = [stack.command(k) for k in range(stack.index())]
        return [step.python for step in steps]

    def _follow(self, index: int) -> None:
        """A step that is new is written down now, when the model is as it left it; it keeps its text."""
        stack = self.document.undo_stack
        for k in range(index):
            command: Any = stack.command(k)
            if not command.python:
                command.python = written(self.document, command)
        self.changed.emit()

    def _renew_last(self, *_: object) -> None:
        """A slider or a drag goes on: its step has other values now."""
        stack = self.document.undo_stack
        if stack.index() and stack.index() == stack.count():
            command: Any = stack.command(stack.index() - 1)
            if isinstance(command, SetParameters) and command.python and _is_now(command):
                command.python = written(self.document, command)
                self.changed.emit()


def _is_now(command: SetParameters) -> bool:
    """Whether the model has the values of a step: before it is undone, and while no later one is taken."""
    return all(
        (now := getattr(one.element, name)) is value or np.array_equal(now, value)
        for one in command.assignments
        for name, value in one.new.items()
    )


def written(document: Document, command: Any) -> str:
    """The Python of a step that has just been done."""
    system = document.system
    try:
        if isinstance(command, Structure):
            lines = [f"system.remove(system[{_quoted(element.name)}])" for element in command.removed]
            lines += [element_to_python(system, element.name) for element in command.added]
            return "\n".join(lines)
        if isinstance(command, Rename):
            return f"system[{_quoted(command.old)}].name = {_quoted(command.new)}"
        if isinstance(command, SetParameters):
            return "\n".join(
                assignment_to_python(system, "" if one.element is system else one.element.name, one.new)
                for one in command.assignments
            )
    except mb.ModelError as error:
        return f"# {command.text()}: {str(error).splitlines()[0]}"
    return f"# {command.text()}"


def whole(document: Document) -> str:
    """The whole model as a script that runs by itself."""
    return mb.to_python(document.system)


def _quoted(text: str) -> str:
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in text else plain
