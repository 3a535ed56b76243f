"""Processes of this machine that compute one value after the other, and are replaced when they die."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Final

FORGETTING: Final = 1.0
"""s, within which a pool forgets what it has not begun: a safety net."""

_held: Any = None  # of a worker: the shared numbers of the values that workers hold, and the place of its own
_place = -1


def _enter(held: Any, places: Any) -> None:
    """Begin as a worker. A terminal tells it of Ctrl-C as well, but who ends it is the process that asks."""
    global _held, _place
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with places.get_lock():
        _held, _place, places.value = held, places.value, places.value + 1


def _compute(number: int, function: Callable[[Any], Any], value: Any) -> Any:
    """What the function gives; until then it is known that this worker holds the value."""
    _held[_place] = number
    found = function(value)
    _held[_place] = -1
    return found


@dataclass
class _Lost:
    """What died with a process: numbers of values, and what the pool said."""

    numbers: list[int] = field(default_factory=list)
    error: Exception | None = None


class Processes:
    """So many processes. One that dies costs nothing but what it held, which is tried once more, alone.

    A pool of `concurrent.futures` is lost as a whole when one process dies, and does not tell which value it held. So
    the workers note what they hold in shared memory, and what was lost goes on in a new pool.
    """

    def __init__(self, count: int) -> None:
        self._count, self._context = count, get_context("spawn")

    def results(
        self, function: Callable[[Any], Any], values: Sequence[Any], failed: Callable[[Any, Exception], Any]
    ) -> Iterator[Any]:
        """What the function gives, in the order of the values; `failed` makes something of what is lost for good."""
        found: dict[int, Any] = {}
        waiting, told = list(range(len(values))), 0
        while waiting:
            lost = _Lost()
            for number, outcome in self._round(self._count, function, values, waiting, failed, lost):
                found[number] = outcome
                while told in found:
                    yield found.pop(told)
                    told += 1
            waiting = [number for number in waiting if number >= told and number not in found]
            if lost.error is not None and not lost.numbers:  # processes that cannot even begin
                found |= {number: failed(values[number], lost.error) for number in waiting}
            for number in lost.numbers:
                again = _Lost()
                found |= dict(self._round(1, function, values, [number], failed, again))
                if again.error is not None:
                    found[number] = failed(values[number], again.error)
            waiting = [number for number in waiting if number not in found]
        while told in found:
            yield found.pop(told)
            told += 1

    def _round(
        self,
        count: int,
        function: Callable[[Any], Any],
        values: Sequence[Any],
        waiting: Sequence[int],
        failed: Callable[[Any, Exception], Any],
        lost: _Lost,
    ) -> Iterator[tuple[int, Any]]:
        """Results with their numbers, until a process dies: `lost` then tells what died with it."""
        held, places = self._context.Array("q", [-1] * count), self._context.Value("q", 0)
        pool = ProcessPoolExecutor(count, self._context, initializer=_enter, initargs=(held, places))
        futures: dict[int, Future[Any]] = {}
        whole = False
        try:
            try:
                for number in waiting:
                    futures[number] = pool.submit(_compute, number, function, values[number])
                for number, future in futures.items():
                    try:
                        yield number, future.result()
                    except BrokenProcessPool:
                        raise
                    except Exception as error:
                        yield number, failed(values[number], error)
            except BrokenProcessPool as error:
                kept = {number for number, future in futures.items() if future.done() and future.exception() is None}
                for number in kept:
                    yield number, futures[number].result()
                lost.numbers = [number for number in held[:] if number >= 0 and number not in kept]
                lost.error = error
            whole = True
        finally:
            self._end(pool, whole)

    @staticmethod
    def _end(pool: ProcessPoolExecutor, whole: bool) -> None:
        """End a pool; if not all of it was waited for nobody wants what is being computed."""
        if whole:
            pool.shutdown()
            return
        processes: list[Any] = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + FORGETTING
        while pool._cancel_pending_futures and time.monotonic() < end:
            time.sleep(0.001)  # if processes ended before, it would complain about what is cancelled
        for process in processes:
            process.terminate()
