"""Where a system is stable, in the plane of two parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..linear.spectrum import Spectrum
from .executors import Executor
from .sweep import Failure, successes, sweep

if TYPE_CHECKING:
    from ...plots.style import Plot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StabilityMap:
    """Stability over a grid of two parameters; rows belong to `values_1`, columns to `values_2`.

    Attributes
    ----------
    values_1, values_2
        Of the parameters.
    growth
        The largest real part of a root that is not ignorable, 1/s; 0 where rounding cannot tell it from zero, nan where
        a point failed.
    unstable
        Number of roots with a positive real part; -1 where a point failed.
    failures
        The points without a result.
    """

    values_1: Array
    values_2: Array
    growth: Array
    unstable: NDArray[np.int64]
    failures: list[Failure]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether no root grows; False where a point failed."""
        return self.unstable == 0

    def plot(
        self,
        *,
        labels: tuple[str, str] = ("parameter 1", "parameter 2"),
        title: str | None = None,
        theme: str = "light",
    ) -> Plot:
        """The growth as colours with the boundary of stability; `labels` name the parameters."""
        from ...plots.stability import stability_map_plot

        return stability_map_plot(self, labels, title, theme)


def stability_map(
    build: Callable[[float, float], Any],
    values_1: Iterable[float],
    values_2: Iterable[float],
    executor: Executor | str | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> StabilityMap:
    """Stability of the systems `build(value_1, value_2)`; see `mb.root_locus` for what `build` may return."""
    first, second = (np.array(list(values), float) for values in (values_1, values_2))
    pairs = [(a, b) for a in first.tolist() for b in second.tolist()]
    points = sweep(_OfPair(build), pairs, Spectrum.whole, executor, progress)
    successes(points, "stability_map")
    growth = [np.nan if isinstance(point, Failure) else point.growth for point in points]
    unstable = [-1 if isinstance(point, Failure) else point.unstable for point in points]
    shape = len(first), len(second)
    failures = [point for point in points if isinstance(point, Failure)]
    return StabilityMap(first, second, np.reshape(growth, shape), np.reshape(unstable, shape), failures)


@dataclass(frozen=True)
class _OfPair:
    """A function of two values as one of a pair; an object, so that it can be sent to other processes."""

    function: Callable[[float, float], Any]

    def __call__(self, pair: tuple[float, float]) -> Any:
        return self.function(*pair)
