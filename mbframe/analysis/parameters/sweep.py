"""One analysis at many values of a parameter, here or on other processors."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import AnalysisError, ModelError, Problem
from ...solvers.interrupts import interrupts_passed_on
from .executors import Executor, chosen, reported, results


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
        What `analysis` returned, in the order of the values; a `Failure` where a point ended in an error. Ctrl-C ends
        the sweep, also in the midst of a simulation.
    """
    points = list(values)
    point = Point(build, analysis)
    with interrupts_passed_on(), chosen(executor, "sweep", len(points), lambda: pickle.dumps(point)) as pool:
        return list(reported(results(pool, point, points, _lost), len(points), progress, "sweeping"))


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


def _lost(value: Any, error: Exception) -> Failure:
    """What stands for a point whose result did not come back."""
    from concurrent.futures import BrokenExecutor

    if not isinstance(error, BrokenExecutor):
        return Failure(value, error)
    message = (
        f"a process ended before it could answer, also when it had nothing else to do ({error}); a script that starts "
        'processes needs if __name__ == "__main__": around what it does, and each process needs memory of its own'
    )
    return Failure(value, AnalysisError(message))
