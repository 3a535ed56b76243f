"""Work that takes long and that everything else waits for, such as reading a file: the window answers meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any, Final, TypeVar

from PySide6.QtCore import QElapsedTimer, QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QProgressDialog, QWidget

from ..base.names import unformatted

T = TypeVar("T")

AT_ONCE: Final = 0.02
"""Seconds for which the window itself waits: most files are read by then."""
SOON_MS: Final = 300
"""Delay of the dialog: shorter work shows none."""
LOOK_MS: Final = 15
"""Between two looks whether it is done. Signals of a thread may come when their sender is gone; looks do not."""
STEPS: Final = 1000


class CancelledError(Exception):
    """The user does not want to wait."""


class _Work:
    """A function that runs in a thread; it tells its progress, and ends at the next time that it does if it should."""

    def __init__(self, call: Callable[[Callable[[float], object]], Any]) -> None:
        self._call = call
        self._unwanted = Event()
        self.share = 0.0
        self.value: Any = None
        self.error: BaseException | None = None
        self.thread = Thread(target=self._run, name="file", daemon=True)

    def cancel(self) -> None:
        self._unwanted.set()

    def _run(self) -> None:
        try:
            self.value = self._call(self._progress)
        except BaseException as error:  # whatever it is, it belongs to who waits
            self.error = error

    def _progress(self, share: float) -> None:
        if self._unwanted.is_set():
            raise CancelledError
        self.share = share


def beside(window: QWidget, text: str, call: Callable[[Callable[[float], object]], T]) -> T:
    """Run a function in a thread, while a dialog shows how far it is and can cancel it.

    Nothing else can be done in the window meanwhile. The function is given another one, to tell the share that is done;
    what it raises is raised here, and `CancelledError` if the user does not want to wait.
    """
    work = _Work(call)
    work.thread.start()
    work.thread.join(AT_ONCE)
    if work.thread.is_alive():
        _wait(work, window, text)
        work.thread.join()
    if work.error is not None:
        raise work.error
    return work.value


def _wait(work: _Work, window: QWidget, text: str) -> None:
    """Let the event loop run until a work is done."""
    loop, clock, timer = QEventLoop(), QElapsedTimer(), QTimer()
    dialog: QProgressDialog | None = None

    def look() -> None:
        if not work.thread.is_alive() or (dialog is None and clock.elapsed() > SOON_MS):
            loop.quit()
        elif dialog is not None and (value := round(STEPS * work.share)) != dialog.value():
            dialog.setValue(value)

    clock.start()
    timer.timeout.connect(look)
    timer.start(LOOK_MS)
    loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
    if work.thread.is_alive():
        dialog = QProgressDialog(unformatted(text), "Cancel", 0, STEPS, window)
        dialog.setObjectName("waiting_dialog")
        dialog.setWindowTitle("mbframe")
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.setAutoClose(False)
        dialog.setAutoReset(False)
        dialog.setMinimumDuration(0)
        dialog.canceled.connect(work.cancel)
        dialog.show()
        while work.thread.is_alive():
            loop.exec()
    timer.stop()
    if dialog is not None:
        dialog.close()
        dialog.deleteLater()
