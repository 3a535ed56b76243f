"""The steps that a document can undo. Each is taken, and so found valid, before it is put on the stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QUndoCommand

import mbframe as mb

if TYPE_CHECKING:
    from .document import Document
    from .runs import Run, RunSettings


@dataclass
class Assignment:
    """New and old values of parameters of one element."""

    element: mb.Element
    old: dict[str, Any]
    new: dict[str, Any]


def assigned(element: mb.Element, values: dict[str, Any]) -> Assignment:
    """Assign the values; refused ones are a `ModelError` and leave the element as it was."""
    old = {name: getattr(element, name) for name in values if name in type(element).parameters()}
    element.update(**values)
    return Assignment(element, old, {name: getattr(element, name) for name in values})


def revert(assignments: Sequence[Assignment]) -> None:
    """Take assignments back, last first."""
    for assignment in reversed(assignments):
        assignment.element.update(**assignment.old)


class Step(QUndoCommand):
    """A step that has already been taken when it is put on the stack, whose first `redo` therefore does nothing."""

    def __init__(self, document: Document, text: str) -> None:
        super().__init__(text)
        self.document = document
        self.python = ""
        """What does the same in a script; written by who shows it."""
        self._taken = True

    changes_model = True
    """Whether the model is another one afterwards."""

    def redo(self) -> None:
        if self._taken:
            self._taken = False
        else:
            self.forward()
        self.notify()

    def undo(self) -> None:
        self.backward()
        self.notify()

    def forward(self) -> None:
        """Take the step again."""
        raise NotImplementedError

    def backward(self) -> None:
        """Take it back."""
        raise NotImplementedError

    def notify(self) -> None:
        """Tell the document what has changed."""
        raise NotImplementedError


class SetParameters(Step):
    """New values of parameters, of one element or of several that belong together."""

    def __init__(self, document: Document, text: str, assignments: list[Assignment]) -> None:
        super().__init__(document, text)
        self.assignments = assignments

    def absorb(self, later: list[Assignment]) -> None:
        """Take later assignments into this step: those of the same gesture."""
        known = {id(mine.element): mine for mine in self.assignments}
        for assignment in later:
            if (mine := known.get(id(assignment.element))) is None:
                self.assignments.append(assignment)
            else:
                mine.old = assignment.old | mine.old
                mine.new |= assignment.new

    def forward(self) -> None:
        for assignment in self.assignments:
            assignment.element.update(**assignment.new)

    def backward(self) -> None:
        revert(self.assignments)

    def notify(self) -> None:
        self.document.report_changes([(one.element, name) for one in self.assignments for name in one.new])


class Structure(Step):
    """Elements that are added or removed. The order of all others stays, and undoing restores it exactly."""

    def __init__(
        self,
        document: Document,
        text: str,
        *,
        added: Sequence[mb.Element] = (),
        removed: Sequence[mb.Element] = (),
        before: Sequence[str] = (),
    ) -> None:
        super().__init__(document, text)
        self.added, self.removed = list(added), list(removed)
        self._before, self._after = list(before), [element.name for element in document.system]

    def forward(self) -> None:
        self._exchange(self.removed, self.added, self._after)

    def backward(self) -> None:
        self._exchange(list(reversed(self.added)), list(reversed(self.removed)), self._before)

    def _exchange(self, out: list[mb.Element], into: list[mb.Element], order: list[str]) -> None:
        system = self.document.system
        for element in out:
            system.remove(element)
        for element in into:
            system.add(element)
        system.reorder(order)

    def notify(self) -> None:
        self.document.report_structure()


class Rename(Step):
    """Another name of an element or of the system."""

    def __init__(self, document: Document, element: mb.Element, old: str, new: str) -> None:
        super().__init__(document, f"Rename {old} to {new}")
        self._element, self.old, self.new = element, old, new

    def forward(self) -> None:
        self._element.name = self.new

    def backward(self) -> None:
        self._element.name = self.old

    def notify(self) -> None:
        self.document.report_structure()


class ChooseSettings(Step):
    """Another way to run the model: it is saved with it, and taken back as any other change of it."""

    def __init__(self, document: Document, new: RunSettings, gesture: object = None) -> None:
        old = document.runs.settings
        super().__init__(
            document, "Change the end time" if new == old.changed(t_end=new.t_end) else "Change the method"
        )
        self._old, self.new, self.gesture = old, new, gesture
        self.forward()

    def forward(self) -> None:
        self.document.runs.settings = self.new

    def backward(self) -> None:
        self.document.runs.settings = self._old

    def notify(self) -> None:
        """The settings themselves do."""


class RunRemoval(Step):
    """A run that is removed. Its file stays as long as the step can be undone."""

    changes_model = False

    def __init__(self, document: Document, run: Run) -> None:
        super().__init__(document, f"Remove {run.name}")
        self.run, self._place = run, document.runs.index(run)
        self.python = f"# {run.name} was removed"

    def forward(self) -> None:
        self.document.runs.take(self.run)

    def backward(self) -> None:
        self.document.runs.put(self.run, self._place)

    def notify(self) -> None:
        self.document.runs.report()
