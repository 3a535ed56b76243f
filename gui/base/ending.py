"""Ctrl-C and a polite kill, heard while Qt's loop runs."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QSocketNotifier


class EndOnSignals:
    """Ctrl-C and a polite kill end the program.

    Python handles signals between two of its instructions, and Qt's loop may wait for long without any: a byte that
    the signal writes into a socket wakes it.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        self._reading, self._writing = socket.socketpair()
        for side in (self._reading, self._writing):
            side.setblocking(False)
        self._previous_fd = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._previous = {number: signal.signal(number, lambda *_: end()) for number in (signal.SIGINT, signal.SIGTERM)}
        self._notifier = QSocketNotifier(self._reading.fileno(), QSocketNotifier.Type.Read)
        self._notifier.activated.connect(lambda: self._reading.recv(64))

    def close(self) -> None:
        """Leave signals as they were."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._previous_fd)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._reading.close()
        self._writing.close()
