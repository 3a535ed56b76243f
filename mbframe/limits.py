"""Budgets of readers: what a file may cost in time and memory before it is refused.

A file is refused for what it would do, not for its size: its cost is estimated before the work is done.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from .errors import ModelError, Problem

T = TypeVar("T")

SECONDS: Final = 10.0
MEMORY: Final = 1e9
REMEDY: Final = "if you trust it, raise the limit: with mb.import_limits({}): ..."


@dataclass(frozen=True)
class Limits:
    """What reading one file may cost.

    seconds: time, s. memory: bytes that are held at once.
    """

    seconds: float
    memory: float


_given: ContextVar[Limits | None] = ContextVar("import limits", default=None)


def allowed() -> Limits:
    """The limits that hold here: those of `import_limits`, else of the environment, else 10 s and 1 GB."""
    given = _given.get()
    if given is not None:
        return given
    return Limits(_of_environment("MBFRAME_IMPORT_SECONDS", SECONDS), _of_environment("MBFRAME_IMPORT_MEMORY", MEMORY))


def _of_environment(name: str, otherwise: float) -> float:
    try:
        number = float(os.environ.get(name, otherwise))
    except ValueError:
        return otherwise
    return number if number > 0.0 else otherwise


@contextmanager
def import_limits(*, seconds: float | None = None, memory: float | None = None) -> Iterator[None]:
    """Other limits for what is read in the block: ``with mb.import_limits(memory=8e9): mb.load(...)``.

    The command line and the application take them from `MBFRAME_IMPORT_SECONDS` and `MBFRAME_IMPORT_MEMORY`.

    Parameters
    ----------
    seconds
        Time that one file may take, s; 10 by default.
    memory
        Bytes that one file may fill; 1e9 by default.
    """
    here = allowed()
    wanted = {"seconds": seconds, "memory": memory}
    problems = [
        Problem("import_limits", field, f"found {value!r}; allowed are numbers above 0; give one")
        for field, value in wanted.items()
        if value is not None and not (isinstance(value, int | float) and value > 0 and not math.isnan(value))
    ]
    if problems:
        raise ModelError(problems)
    chosen = Limits(here.seconds if seconds is None else seconds, here.memory if memory is None else memory)
    token = _given.set(chosen)
    try:
        yield
    finally:
        _given.reset(token)


def check_memory(source: str, needed: float) -> None:
    """A `ModelError` in the name of `source` if reading it would fill more bytes than are allowed."""
    limit = allowed().memory
    if needed > limit:
        remedy = REMEDY.format(f"memory={needed:.2g}")
        message = f"would fill about {needed / 1e6:.3g} MB of memory; allowed are {limit / 1e6:.3g} MB; {remedy}"
        raise ModelError([Problem(source, "", message)])


class _LateError(BaseException):
    """Ends a reader that takes too long; no `except Exception` of others stops it."""


def within_time(source: str, read: Callable[[], T]) -> T:
    """What `read` returns; a `ModelError` in the name of `source` when it takes longer than is allowed.

    It ends between two instructions of Python, so readers that are written in Python end at once, and compiled ones
    when they return.
    """
    seconds, thread = allowed().seconds, threading.get_ident()
    state = {"over": False, "late": False}
    lock = threading.Lock()

    def end() -> None:
        with lock:
            if not state["over"]:
                state["late"] = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_LateError))

    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    try:  # no `with`: its own instructions would be outside of this block
        timer.start()
        try:
            found = read()
        finally:
            with lock:
                state["over"] = True
                timer.cancel()
            for _ in range(1000 * state["late"]):  # it comes now, or came before; taking it back would stop Python 3.11
                time.sleep(0.0)
        if not state["late"]:
            return found
    except _LateError:  # it comes once, wherever that is
        pass
    remedy = REMEDY.format(f"seconds={6 * seconds:g}")
    raise ModelError([Problem(source, "", f"takes longer than the {seconds:g} s that are allowed; {remedy}")])
