"""Who hears of Ctrl-C: a run keeps what it has and returns; in the midst of many runs it must end them all."""

from __future__ import annotations

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
