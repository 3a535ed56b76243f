"""Options of a view that go by what is selected, and what its actions show of them."""

from __future__ import annotations

from ..document.document import Document
from ..widgets.actions import Actions
from .additions import KINDS
from .view import View


class ViewOptions:
    """Switches paths and the following camera for the selected body."""

    def __init__(self, document: Document, view: View) -> None:
        self._document, self._view = document, view

    @property
    def selected_body(self) -> str | None:
        """The name of the selected body; None if nothing or something else is selected."""
        chosen = self._document.selection
        if chosen is not None and chosen in self._document.system.bodies:
            return chosen.name
        return None

    def toggle_trail(self, on: bool) -> None:
        """Draw the path of the selected body, or take paths away: all of them if no body is selected."""
        name = self.selected_body
        if not on:
            for trail in [name] if name is not None else list(self._view.trails):
                self._view.set_trail(trail, False)
        elif name is not None:
            self._view.set_trail(name, True)
        else:
            self._document.messages.post("Select a body first: its path is drawn while the motion plays.")
            self._view.options_changed.emit()

    def toggle_follow(self, on: bool) -> None:
        """Let the camera move along with the selected body, or stand still."""
        name = self.selected_body
        if on and name is None:
            self._document.messages.post("Select a body first: the camera then moves along with it.")
            self._view.options_changed.emit()
        else:
            self._view.follow(name if on else None)

    def show(self, actions: Actions) -> None:
        """Let the actions of `entries.looking` show what is switched on."""
        name, view = self.selected_body, self._view
        actions.check("labels", view.labels)
        actions.check("parallel", view.parallel)
        actions.check("stress", view.stress.on)
        actions.check("trail", name in view.trails if name else bool(list(view.trails)))
        actions.check("follow", view.followed is not None and name in (None, view.followed))
        for kind in KINDS:
            actions.check(f"arrows_{kind}", kind in view.arrows.shown)
