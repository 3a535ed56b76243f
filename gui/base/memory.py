"""Memory: where garbage is collected, and that what is free goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS: Final = 200
GROWTH: Final = 1.2
"""Of the small pieces of memory in use since everything was looked at, until that is done again."""


class Collector(QObject):
    """Collects cycles of garbage in the window's thread, and in no other.

    Python collects in whichever thread allocates. A widget destroyed in another thread than its own holds a lock of Qt
    and waits for Python's, while the window's thread may hold Python's and wait for that of Qt, forever. Readers,
    timers and libraries have threads of their own, so that Python's collection is off while this object exists; a
    timer of the window does the same in its place.

    Modules, and the window itself, are most of what there is, and stay. `settle` has them looked at no more: to collect
    everything takes a tenth of the time afterwards. With `loading` nothing is collected before.
    """

    def __init__(self, parent: QObject | None = None, loading: bool = False) -> None:
        super().__init__(parent)
        self._enabled = gc.isenabled()
        self._loading = loading
        self._used = sys.getallocatedblocks()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(INTERVAL_MS)

    def settle(self) -> None:
        """Look no more at what is there now; all else is collected from now on."""
        self._loading = False
        gc.freeze()
        self._used = sys.getallocatedblocks()

    def look_again(self) -> None:
        """Collect everything, also what was there when it settled, and settle again: models that are left are gone."""
        gc.unfreeze()
        gc.collect()
        self.settle()

    def collect(self) -> None:
        """Collect what is young if much was made, and everything if that made the memory in use grow."""
        if self._loading:
            return
        if sys.getallocatedblocks() > GROWTH * self._used:
            gc.collect()
            self._used = sys.getallocatedblocks()
            return
        (made, rounds, _), (most, most_rounds, _) = gc.get_count(), gc.get_threshold()
        if made > most:
            gc.collect(1 if rounds > most_rounds else 0)

    def close(self) -> None:
        """Let Python collect again as it did before."""
        self._timer.stop()
        gc.unfreeze()
        if self._enabled:
            gc.enable()


def give_back() -> None:
    """Return what the allocator keeps for later; with glibc, which otherwise keeps what lies between things in use.

    Scenes, results and pages of a model that is left are freed in pieces, and a window that was used for hours would
    seem to grow with every model. Takes a few milliseconds.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


def _trim() -> Any:
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
