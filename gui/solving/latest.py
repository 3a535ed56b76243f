"""Live requests: while one is computed only the newest of those that follow is kept."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid


class Latest(QObject):
    """Submits tasks to the solver one at a time; a newer request replaces the one that waits."""

    finished = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(bool)

    def __init__(self, solver: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.solver = solver
        self.waiting: Any = None
        self.job: Any = None

    @property
    def busy(self) -> bool:
        return self.job is not None

    def ask(self, task: Any) -> None:
        """Compute a task as soon as possible."""
        if self.job is not None:
            self.waiting = task
            return
        self._start(task)

    def drop(self) -> None:
        """Forget the request that waits, and the answer to the one that is computed, which is left to end."""
        self.waiting = None
        if self.job is not None:
            self.job = None
            self.busy_changed.emit(False)

    def _start(self, task: Any) -> None:
        self.waiting = None
        job = self.job = self.solver.submit(task)
        self.busy_changed.emit(True)
        job.finished.connect(lambda found: self._end(job, self.finished, found))
        job.failed.connect(lambda error: self._end(job, self.failed, error))
        job.cancelled.connect(lambda: self._end(job, None, None))

    def _end(self, job: Any, signal: Any, value: Any) -> None:
        if not isValid(self) or job is not self.job:
            return  # the window is closed, or the request was dropped
        self.job = None
        following = self.waiting
        if following is not None:
            self._start(following)
        else:
            self.busy_changed.emit(False)
        if signal is not None:
            signal.emit(value)
