"""One function of many values: here, one after the other, or wherever an executor has them computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import ModelError, Problem

if TYPE_CHECKING:
    from .processes import Processes

MOST_PROCESSES = 61  # what Windows can wait for


class Pending(Protocol):
    """What `Executor.submit` returns."""

    def result(self) -> Any: ...

    def cancel(self) -> Any: ...


class Executor(Protocol):
    """What is asked of an executor; those of `concurrent.futures`, Dask, loky and mpi4py offer it."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


@contextmanager
def chosen(
    executor: Executor | str | None, task: str, n: int, sendable: Callable[[], Any]
) -> Iterator[Executor | Processes | None]:
    """The executor that was asked for, None for here; or processes for `n` values.

    `sendable` raises now, and once, if the function cannot go to other processes; `task` names who asks.
    """
    if executor == "processes":
        from .processes import Processes

        sendable()
        yield Processes(max(1, min(n, os.cpu_count() or 1, MOST_PROCESSES)))
    elif executor is None or hasattr(executor, "submit"):
        yield executor
    else:
        message = f'found {executor!r}; allowed are None, "processes", or an object with a method submit; choose one'
        raise ModelError([Problem(task, "executor", message)])


def results(
    pool: Executor | Processes | None,
    function: Callable[[Any], Any],
    values: Sequence[Any],
    failed: Callable[[Any, Exception], Any],
) -> Iterator[Any]:
    """What the function gives, in the order of the values; `failed` makes something of what was lost on the way.

    What is still waiting is cancelled if the caller is interrupted.
    """
    if pool is None:
        yield from map(function, values)
        return
    from .processes import Processes

    if isinstance(pool, Processes):
        yield from pool.results(function, values, failed)
        return
    pending: list[Pending] = [pool.submit(function, value) for value in values]
    try:
        for value, future in zip(values, pending, strict=True):
            try:
                yield future.result()
            except Exception as error:
                yield failed(value, error)
    finally:
        for future in pending:
            future.cancel()


def reported(
    found: Iterable[Any], total: int, progress: bool | Callable[[int, int], None], words: str
) -> Iterator[Any]:
    """The results as they come, and word of it to whom it may concern."""
    if progress is True:
        from rich.progress import track

        yield from track(found, words, total=total, transient=True)
        return
    for done, one in enumerate(found, 1):
        yield one
        if callable(progress):
            progress(done, total)
