"""One analysis at many values of a parameter, here or on other processors."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import AnalysisError, ModelError, Problem

MOST_PROCESSES = 61  # what Windows can wait for


class Pending(Protocol):
    """What `Executor.submit` returns."""

    def result(self) -> Any: ...

    def cancel(self) -> Any: ...


class Executor(Protocol):
    """What a sweep asks of an executor; those of `concurrent.futures`, Dask, loky and mpi4py offer it."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


@dataclass(frozen=True)
class Failure:
    """Stands in the results of a sweep where a point has none: its value, and the error."""

    value: Any
    error: Exception

    def __str__(self) -> str:
        return f"at {self.value}: {type(self.error).__name__}: {self.error}"


def sweep(
    build: Callable[[Any], Any],
    values: Iterable[Any],
    analysis: Callable[[Any], Any],
    executor: Executor | str | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> list[Any]:
    """Build a system for each value and analyse it.

    Parameters
    ----------
    build
        Makes a system from a value.
    values
        Of the parameter; each may be anything that `build` takes.
    analysis
        What to do with each system, such as `mb.linearize`.
    executor
        Where to compute: None here, one after the other; "processes" in new processes on all processors; or any
        executor in the manner of `concurrent.futures`, such as `client.get_executor()` of a Dask cluster. Functions
        that go to other processes must be importable there, unless cloudpickle is installed (it comes with Dask).
    progress
        True for a bar in the terminal, or a function that takes the number of finished points and that of all.

    Returns
    -------
    list
        What `analysis` returned, in the order of the values; a `Failure` where a point ended in an error.
    """
    chosen = list(values)
    point = Point(build, analysis)
    with _executor(executor, point, len(chosen)) as pool:
        found = (point(value) for value in chosen) if pool is None else _collected(pool, point, chosen)
        return list(_reported(found, len(chosen), progress))


def successes(points: Sequence[Any], task: str) -> list[Any]:
    """The results that are no failures; an `AnalysisError` if there are none."""
    found = [point for point in points if not isinstance(point, Failure)]
    if not found:
        first = f"; the first is {points[0]}" if points else ""
        raise AnalysisError(f"{task}: none of the {len(points)} points has a result{first}")
    return found


class Point:
    """What is done with each value. Travels to other processes by cloudpickle where that is installed."""

    def __init__(self, build: Callable[[Any], Any], analysis: Callable[[Any], Any]) -> None:
        self.build, self.analysis = build, analysis

    def __call__(self, value: Any) -> Any:
        try:
            return self.analysis(self.build(value))
        except Exception as error:
            return Failure(value, error)

    def __getstate__(self) -> bytes:
        functions = (self.build, self.analysis)
        try:
            import cloudpickle
        except ImportError:
            pass
        else:
            return cloudpickle.dumps(functions)
        interactive = not hasattr(sys.modules["__main__"], "__file__")
        try:
            if interactive and any(getattr(f, "__module__", "") == "__main__" for f in functions):
                raise pickle.PicklingError("functions of an interactive session are not known elsewhere")
            return pickle.dumps(functions)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            message = (
                f"these functions cannot be sent to other processes ({error}); define them with def at the top level "
                "of a module, or install cloudpickle, which also sends lambdas: pip install cloudpickle"
            )
            raise ModelError([Problem("sweep", "executor", message)]) from error

    def __setstate__(self, state: bytes) -> None:
        self.build, self.analysis = pickle.loads(state)


@contextmanager
def _executor(executor: Executor | str | None, point: Point, n: int) -> Iterator[Executor | None]:
    """The executor that was asked for; one made here ends with the sweep."""
    if executor == "processes":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        pickle.dumps(point)  # says now, and once, what cannot be sent
        workers = max(1, min(n, os.cpu_count() or 1, MOST_PROCESSES))
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            yield pool
    elif executor is None or hasattr(executor, "submit"):
        yield executor
    else:
        message = f'found {executor!r}; allowed are None, "processes", or an object with a method submit; choose one'
        raise ModelError([Problem("sweep", "executor", message)])


def _collected(pool: Executor, point: Point, values: Sequence[Any]) -> Iterator[Any]:
    """The results of an executor in order; what is still waiting is cancelled if the sweep is interrupted."""
    from concurrent.futures import BrokenExecutor

    pending: list[Pending] = [pool.submit(point, value) for value in values]
    try:
        for value, future in zip(values, pending, strict=True):
            try:
                yield future.result()
            except BrokenExecutor as error:
                message = (
                    f"a process ended before it could answer ({error}); a script that starts processes needs "
                    'if __name__ == "__main__": around what it does, and each process needs memory of its own'
                )
                yield Failure(value, AnalysisError(message))
            except Exception as error:
                yield Failure(value, error)
    finally:
        for future in pending:
            future.cancel()


def _reported(points: Iterable[Any], total: int, progress: bool | Callable[[int, int], None]) -> Iterator[Any]:
    """The points as they come, and word of it to whom it may concern."""
    if progress is True:
        from rich.progress import track

        yield from track(points, "sweeping", total=total, transient=True)
        return
    for done, point in enumerate(points, 1):
        yield point
        if callable(progress):
            progress(done, total)
