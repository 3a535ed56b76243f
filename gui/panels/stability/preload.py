"""Loading of what roots and modes need, beside the window, which would stand still for a second otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

POLL = 15  # ms


def _load() -> None:
    import scipy.optimize
    import scipy.sparse.linalg  # noqa: F401

    import mbframe.analysis.linear.linearize
    import mbframe.analysis.linear.spectrum
    import mbframe.analysis.parameters.root_locus
    import mbframe.analysis.statics.steady  # noqa: F401


class Background(QObject):
    """Runs a function in a thread, then another in that of the window."""

    def __init__(
        self, work: Callable[[], object], then: Callable[[object], None] | None = None, parent: QObject | None = None
    ):
        super().__init__(parent)
        self._value: object = None
        self._error: BaseException | None = None
        self._then = then
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._timer = QTimer(self)
        self._timer.setInterval(POLL)
        self._timer.timeout.connect(self._look)
        self._thread.start()
        self._timer.start()

    def _run(self, work: Callable[[], object]) -> None:
        try:
            self._value = work()
        except BaseException as error:
            self._error = error

    def _look(self) -> None:
        if self._thread.is_alive():
            return
        self._timer.stop()
        if self._error is not None:
            raise self._error
        if self._then is not None:
            self._then(self._value)


class Preload(QObject):
    """Loads once what linearizations need."""

    _loaded = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Callable[[], None]] = []
        self._work: Background | None = None

    @property
    def done(self) -> bool:
        return Preload._loaded

    def start(self) -> None:
        """Begin to load."""
        if not self.done and self._work is None:
            self._work = Background(_load, self._end, self)

    def then(self, call: Callable[[], None]) -> None:
        """Call a function when everything is there: at once, or later."""
        if self.done:
            call()
            return
        self._waiting.append(call)
        self.start()

    def _end(self, _: object) -> None:
        Preload._loaded = True
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
