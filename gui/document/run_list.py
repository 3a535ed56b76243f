"""The runs of a document, which of them is looked at, and how the next one is computed. No widgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from .commands import ChooseSettings, RunRemoval
from .runs import COLORS, Run, RunSettings

if TYPE_CHECKING:
    from .document import Document


class RunList(QObject):
    """Runs in the order in which they were made. What changes them announces it, but for `keep`, `take` and `put`."""

    changed = Signal()
    """Runs came, went or look different."""
    current_changed = Signal(object)
    settings_changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._runs: list[Run] = []
        self._removed: list[Run] = []
        self._made = 0
        self._settings = RunSettings()
        self.current: Run | None = None

    def reset(self, settings: RunSettings | None = None) -> None:
        """Begin again without runs."""
        self.discard()
        self._runs, self._removed, self._made, self.current = [], [], 0, None
        self._settings = settings or RunSettings()

    def discard(self) -> None:
        """Remove the temporary files of all runs."""
        for run in (*self._runs, *self._removed):
            run.discard()

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __contains__(self, run: object) -> bool:
        return run in self._runs

    def __getitem__(self, place: int) -> Run:
        return self._runs[place]

    def index(self, run: Run) -> int:
        """The place of a run in the list."""
        return self._runs.index(run)

    @property
    def unsaved(self) -> list[Run]:
        """The runs that are in no file of the user."""
        return [run for run in self if run.unsaved]

    @property
    def storable(self) -> list[Run]:
        """The runs that a project can hold: those that have ended."""
        return [run for run in self if run.path is not None and not run.computing]

    def saved(self) -> None:
        """Those that a project can hold are in its file; it has none of those that were removed."""
        for run in self.storable:
            run.unsaved = False
        for run in self._removed:
            run.unsaved = True

    # ---- Settings -------------------------------------------------------------------------------------------------

    @property
    def settings(self) -> RunSettings:
        """How the next run is computed; saved with the model."""
        return self._settings

    @settings.setter
    def settings(self, settings: RunSettings) -> None:
        if settings != self._settings:
            self._settings = settings
            self.settings_changed.emit()

    def choose_settings(self, settings: RunSettings, gesture: Any = None) -> None:
        """Run the model in another way from now on: one step to undo, also for several with equal `gesture`."""
        if settings == self._settings:
            return
        stack = self._document.undo_stack
        top = stack.command(stack.count() - 1) if stack.index() == stack.count() and not stack.isClean() else None
        if gesture is not None and isinstance(top, ChooseSettings) and top.gesture is gesture:
            top.new = settings
            top.forward()
        else:
            stack.push(ChooseSettings(self._document, settings, gesture))

    # ---- Runs -----------------------------------------------------------------------------------------------------

    def next_name(self) -> str:
        """What the next run is called."""
        return f"Run {self._made + 1}"

    def add(self, run: Run) -> None:
        """Keep a run, and look at it."""
        self.keep(run)
        self.changed.emit()
        self.current_changed.emit(run)
        self._document.title_changed.emit()

    def keep(self, run: Run) -> None:
        """Keep a run, and look at it, without a word."""
        self._made += run.name != "Stored"
        run.color = run.color or COLORS[len(self) % len(COLORS)]
        self._judge(run)
        self._runs.append(run)
        self.current = run

    def remove(self, run: Run) -> None:
        """Remove a run: a step to undo."""
        step = RunRemoval(self._document, run)
        self.take(run)
        self._document.undo_stack.push(step)
        self._document.messages.post(f"{run.name} was removed; undo brings it back.")

    def take(self, run: Run) -> None:
        """Take a run out of the list; who puts it back announces it."""
        self._runs.remove(run)
        self._removed.append(run)
        run.release()
        if self.current is run:
            self.current = self._runs[-1] if self._runs else None

    def put(self, run: Run, place: int) -> None:
        """Put a run back to its place in the list, and look at it."""
        self._removed.remove(run)
        run.reload()
        self._judge(run)
        self._runs.insert(place, run)
        self.current = run

    def report(self) -> None:
        """Announce that runs came or went."""
        self.current_changed.emit(self.current)
        self.changed.emit()
        self._document.title_changed.emit()

    def choose(self, run: Run | None) -> None:
        """Look at a run."""
        if run is not self.current:
            self.current = run
            self.current_changed.emit(run)

    def report_change(self, run: Run) -> None:
        """Announce that a run has grown, ended, or looks different."""
        if run in self:
            self._judge(run)
            self.changed.emit()

    def compare(self) -> None:
        """Mark the runs that no longer belong to the model, and those that do again."""
        before = [run.stale for run in self]
        for run in self:
            self._judge(run)
        if before != [run.stale for run in self]:
            self.changed.emit()

    def _judge(self, run: Run) -> None:
        run.stale = bool(run.model_text) and run.model_text != self._document.model_text()
