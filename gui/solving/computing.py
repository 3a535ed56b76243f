"""What is computed from a result in memory, in a thread of this program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

import mbframe as mb

Wanted = Callable[[], bool]


class Computation(QObject):
    """Computes in a thread; looks like a job of the solver."""

    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, compute: Callable[[Wanted], Any], parent: QObject) -> None:
        """`compute` is given what tells whether its answer is still wanted."""
        super().__init__(parent)
        self._compute, self._wanted = compute, True

    def start(self) -> None:
        """Begin."""
        QThreadPool.globalInstance().start(QRunnable.create(self._run))

    def cancel(self) -> None:
        """The answer is not wanted any more."""
        self._wanted = False

    def _run(self) -> None:
        try:
            try:
                found = self._compute(lambda: self._wanted)
            except mb.MbframeError as error:
                self.failed.emit(error)
            else:
                self.finished.emit(found) if self._wanted else self.cancelled.emit()
        except RuntimeError as error:  # Qt has deleted the receiver: the window was closed
            if "deleted" not in str(error):
                raise
