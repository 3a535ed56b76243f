"""The Assemble button: joints are closed with the least motion, and the user reads what moved and by how much."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

import mbframe as mb
from mbframe.analysis.states.describing import description

from ..document.document import Document
from ..solving.tasks import AssembleTask, Model

NOTHING = 1e-12


class Assembling(QObject):
    """Asks the solver for an assembled state, and describes the model there: one step to undo."""

    done = Signal(object)
    """The assembly, or None if it failed."""

    def __init__(self, document: Document, solver: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document, self.solver = document, solver
        self._job: Any = None
        self._text = ""

    @property
    def running(self) -> bool:
        """Whether the solver is at it."""
        return self._job is not None

    def start(self) -> None:
        """Assemble the model as it is described."""
        if self._job is not None or not len(self.document.system.bodies):
            return
        try:
            task = AssembleTask(Model.of(self.document.system))
        except mb.ModelError as error:
            self.document.messages.post_error(error)
            return
        self._text = self.document.model_text()
        self._job = self.solver.submit(task)
        self._job.finished.connect(self._found)
        self._job.failed.connect(self._failed)
        self._job.cancelled.connect(self._failed)

    def _failed(self, failure: Any = None) -> None:
        if self.sender() is not self._job:
            return
        self._job = None
        if failure is not None:
            named = [one for one in self.document.system if one.name and f"{one}" in failure.message]
            self.document.messages.post(f"Assemble: {failure.message}", "error", named[0] if named else None)
        self.done.emit(None)

    def _found(self, assembly: Any) -> None:
        if self.sender() is not self._job:
            return
        self._job = None
        if self._text != self.document.model_text():  # it was changed meanwhile
            self.document.messages.post(
                "The model was changed while it was assembled; press Assemble again.", "warning"
            )
            self.done.emit(None)
            return
        if self.document.runs.current is not None:
            self.document.runs.choose(None)
        try:
            changes = description(self.document.system, assembly)
            if changes:
                self.document.set_many(changes, text="Assemble")
        except mb.ModelError as error:
            self.document.messages.post_error(error)
            self.done.emit(None)
            return
        self.document.messages.post(report(assembly, self.document))
        self.done.emit(assembly)


def report(assembly: mb.Assembly, document: Document) -> str:
    """List what moved and by how much, the farthest first, in the units of the document."""
    units = document.units
    moved = [(name, way, turn) for name, (way, turn) in assembly.moved.items() if way > NOTHING or turn > NOTHING]
    if not moved:
        return "Assembled: all joints were closed, nothing had to move."
    moved.sort(key=lambda item: -(item[1] + item[2]))
    parts = [
        f"{name} by {units.to_display(way, 'm'):.3g} {units.label('m')}"
        + (f" and {units.to_display(turn, 'rad'):.3g} {units.label('rad')}" if turn > 1e-9 else "")
        for name, way, turn in moved[:6]
    ]
    more = f" and {len(moved) - 6} more" if len(moved) > 6 else ""
    return f"Assembled: moved {', '.join(parts)}{more}."
