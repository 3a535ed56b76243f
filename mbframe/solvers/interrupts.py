"""Who hears of Ctrl-C: a run keeps what it has and returns; in the midst of many runs it must end them all."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_passed_on: ContextVar[bool] = ContextVar("interrupts are passed on", default=False)


@contextmanager
def interrupts_passed_on() -> Iterator[None]:
    """In the block an interrupted simulation raises `KeyboardInterrupt` instead of returning a part of its motion."""
    token = _passed_on.set(True)
    try:
        yield
    finally:
        _passed_on.reset(token)


def passed_on() -> bool:
    """Whether interruptions are passed on here."""
    return _passed_on.get()


@contextmanager
def held_back() -> Iterator[None]:
    """In the block Ctrl-C waits for its end: for what must not be done by halves, such as handing rows to a file."""
    usual = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(usual):  # Python tells the main thread only, and where it is asked to
        yield
        return
    pressed = []
    signal.signal(signal.SIGINT, lambda *told: pressed.append(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if pressed:
            usual(*pressed[0])
