"""All that builds a model by hand, for the window to hold in one place."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from ..document import Document
from ..view import View
from .guide import Guide
from .pull import Pull


class Modelling(QObject):
    """The tools of the view that change the model, and the bar that leads through them."""

    changed = Signal()
    """A tool was taken up or put down."""

    def __init__(self, document: Document, solver: Any, view: View) -> None:
        super().__init__(view)
        self.document, self.solver, self.view = document, solver, view
        self.guide = Guide(view)
        self.pull = Pull(document, solver, view, self.guide)
        view.tools = [self.pull]
        self.pull.changed.connect(self.changed)
        self.guide.cancelled.connect(self.cancel)

    def cancel(self) -> bool:
        """End what is under way; whether there was anything."""
        for tool in self.view.tools:
            if tool.active:
                tool.cancel()
                return True
        return False

    def escape(self) -> None:
        """The key: end what is under way, else select nothing."""
        if not self.cancel():
            self.document.select(None)
