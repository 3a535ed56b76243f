"""Budgets of readers: what a file may cost in time and memory before it is refused.

A file is refused for what it would do, not for its size: its cost is estimated before the work is done.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from .errors import ModelError, Problem

T = TypeVar("T")

SECONDS: Final = 10.0
MEMORY: Final = 1e9
WAITING: Final = 4.0
AGAIN: Final = 0.05  # s, at least, until a reader that goes on is told again to end
REMEDY: Final = "if you trust it, raise the limit: with mb.import_limits({}): ..."


@dataclass(frozen=True)
class Limits:
    """What reading one file may cost, and where it may lead.

    seconds: time, s. memory: bytes that are held at once. mesh_folders: where meshes may lie that it names outside of
    its own folder.
    """

    seconds: float
    memory: float
    mesh_folders: tuple[str, ...] = ()


_given: ContextVar[Limits | None] = ContextVar("import limits", default=None)


def allowed() -> Limits:
    """The limits that hold here: those of `import_limits`, else of the environment, else 10 s and 1 GB."""
    given = _given.get()
    if given is not None:
        return given
    folders = filter(None, os.environ.get("MBFRAME_MESH_FOLDERS", "").split(os.pathsep))
    return Limits(
        _of_environment("MBFRAME_IMPORT_SECONDS", SECONDS),
        _of_environment("MBFRAME_IMPORT_MEMORY", MEMORY),
        tuple(map(_absolute, folders)),
    )


def _absolute(folder: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.path.expanduser(folder))


def _of_environment(name: str, otherwise: float) -> float:
    try:
        number = float(os.environ.get(name, otherwise))
    except ValueError:
        return otherwise
    return number if number > 0.0 else otherwise


@contextmanager
def import_limits(
    *,
    seconds: float | None = None,
    memory: float | None = None,
    mesh_folders: Iterable[str | os.PathLike[str]] | None = None,
) -> Iterator[None]:
    """Other limits for what is read in the block: ``with mb.import_limits(memory=8e9): mb.load(...)``.

    The command line and the application take them from `MBFRAME_IMPORT_SECONDS`, `MBFRAME_IMPORT_MEMORY` and
    `MBFRAME_MESH_FOLDERS` (separated as in `PATH`).

    Parameters
    ----------
    seconds
        Time that one file may take, s; 10 by default.
    memory
        Bytes that one file may fill; 1e9 by default.
    mesh_folders
        Folders in which, or below which, meshes may lie besides that of the file that names them; none by default.
    """
    here = allowed()
    wanted = {"seconds": seconds, "memory": memory}
    problems = [
        Problem("import_limits", field, f"found {value!r}; allowed are numbers above 0; give one")
        for field, value in wanted.items()
        if value is not None and not (isinstance(value, int | float) and value > 0 and not math.isnan(value))
    ]
    folders = here.mesh_folders
    if mesh_folders is not None:
        try:
            folders = () if isinstance(mesh_folders, str) else tuple(map(_absolute, mesh_folders))
        except TypeError:
            folders = ()
        if not folders:
            message = f"found {mesh_folders!r}; allowed is a list of folders, such as ['meshes']; give one"
            problems.append(Problem("import_limits", "mesh_folders", message))
    if problems:
        raise ModelError(problems)
    chosen = Limits(here.seconds if seconds is None else seconds, here.memory if memory is None else memory, folders)
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
    when they return. On a busy machine time counts while the reader computes, and waiting at most `WAITING` times that.
    A reader that goes on, because it caught what was to end it or was in a destructor, is told again.
    """
    seconds, thread = allowed().seconds, threading.get_ident()
    state = {"over": False, "late": False}
    lock = threading.Lock()
    began, worked = time.monotonic(), _processor_time(thread)
    timers: list[threading.Timer] = []

    def watch(delay: float) -> None:
        timer = threading.Timer(min(delay, threading.TIMEOUT_MAX), end)
        timer.daemon = True
        timers[:] = [timer]
        timer.start()

    def end() -> None:
        with lock:
            left = seconds - (_processor_time(thread) - worked)
            if not state["over"] and left > 0.0 and time.monotonic() - began < WAITING * seconds:
                watch(max(left, 0.1 * seconds))
            elif not state["over"]:
                state["late"] = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_LateError))
                watch(max(0.1 * seconds, AGAIN))

    def settle() -> None:
        """Wait until nothing more comes; what was sent comes now. Taking it back would stop Python 3.11."""
        with lock:
            timers[0].cancel()
        for _ in range(1000 * state["late"]):
            time.sleep(0.0)

    try:  # no `with`: its own instructions would be outside of this block
        watch(seconds)
        try:
            found = read()
        finally:
            state["over"] = True  # first, and one instruction: afterwards at most one more is sent
            settle()
        if not state["late"]:
            return found
    except _LateError:
        state["over"] = True
        try:  # noqa: SIM105 (the same: `suppress` has instructions of its own)
            settle()
        except _LateError:
            pass
    remedy = REMEDY.format(f"seconds={6 * seconds:g}")
    raise ModelError([Problem(source, "", f"takes longer than the {seconds:g} s that are allowed; {remedy}")])


def _processor_time(thread: int) -> float:
    """Processor time of a thread, s; where it cannot be asked for, the time of the clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic()
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


_lock: Final = threading.Lock()
_held = {"blocks": 0, "enabled": True}


@contextmanager
def no_collection() -> Iterator[None]:
    """No cycles of garbage are collected in the block, nor in other threads meanwhile."""
    with _lock:
        if not _held["blocks"]:
            _held["enabled"] = gc.isenabled()
            gc.disable()
        _held["blocks"] += 1
    try:
        yield
    finally:
        with _lock:
            _held["blocks"] -= 1
            if not _held["blocks"] and _held["enabled"]:
                gc.enable()
