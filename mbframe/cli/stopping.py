"""Ctrl-C in the midst of the compiler: LLVM takes seconds for a call, in which Python hears nothing.

Nothing is lost by ending the process there: entries of the cache and other files are put in place whole, and rows that
a run has recorded lie in its file.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

from .outcome import INTERRUPTED, Interrupted, report

GRACE: Final = 0.2  # s that the compiler has to come back
LOOKS: Final = 0.05  # s between two looks at it
COMPILERS: Final = ("numba", "llvmlite")


@contextmanager
def ends_in_compiler(as_json: bool) -> Iterator[None]:
    """In the block Ctrl-C ends the process, with its message and code, if it waits for the compiler for longer.

    Signals write a byte into a socket, whatever Python is doing, and a thread waits for it. It is for the process that
    a command has for itself: a session in which somebody works is never ended so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    watched = threading.get_ident()
    before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    arguments = (reading, lambda: compiles(watched), lambda: end(as_json))
    threading.Thread(target=_watch, args=arguments, name="Ctrl-C", daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writing.close()  # ends the thread, which closes the other side


def _watch(reading: socket.socket, waits: Callable[[], bool], stop: Callable[[], None]) -> None:
    """Read the numbers of signals; `stop` when the process `waits` all through the grace after Ctrl-C."""
    with reading:
        while told := reading.recv(64):
            until = time.monotonic() + GRACE
            while signal.SIGINT in told and waits():
                if time.monotonic() > until:
                    stop()
                    return
                time.sleep(LOOKS)


def compiles(thread: int) -> bool:
    """Whether a thread is within the compiler. What it has compiled runs without any frame of the compiler."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001  the documented way to see the frame of another thread
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in COMPILERS:
            return True
        frame = frame.f_back
    return False


def end(as_json: bool) -> NoReturn:
    """End the process as Ctrl-C does, at once."""
    with suppress(OSError, ValueError):
        report(Interrupted("stopped"), as_json)
        sys.stdout.flush()
    os._exit(INTERRUPTED)
