"""Multipliers of periodic motions over a branch, and where they pass the unit circle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..motions.floquet import stability_of
from ..motions.shooting import Shooting
from ..parameters.critical import CriticalValue

Complex = NDArray[np.complex128]

REAL: Final = 1e-9


@dataclass(frozen=True)
class Multipliers:
    """Floquet multipliers that say something about stability, and on which side of the unit circle each is."""

    values: Complex
    sides: NDArray[np.int64]
    stability: str

    @classmethod
    def of(cls, shooting: Shooting) -> Multipliers:
        modes = [mode for mode in shooting.modes() if not mode.ignorable]
        values = np.array([mode.multiplier for mode in modes], complex)
        sides = np.array([mode.side for mode in modes], np.int64)
        return cls(values, sides, stability_of(modes))

    @property
    def outside(self) -> int:
        """How many are outside the unit circle."""
        return int(np.sum(self.sides > 0))

    def past(self, place: float) -> float:
        """The product of all multipliers minus 1 or -1: it changes its sign where one of them passes there."""
        return float(np.prod((self.values - place) / (1.0 + np.abs(self.values))).real)

    def meeting(self) -> float:
        """The product of all products of two multipliers, minus 1: zero where a pair is on the unit circle."""
        pairs = [(a * b - 1.0) / (1.0 + abs(a * b)) for a, b in combinations(self.values.tolist(), 2)]
        return float(np.prod(pairs).real) if pairs else 1.0


class MultiplierCrossings:
    """Looks for places of the arc at which multipliers pass the unit circle."""

    def __init__(self, spectrum: Callable[[float], Multipliers], tolerance: float) -> None:
        self.spectrum, self.tolerance = spectrum, tolerance
        self.known: dict[float, Multipliers] = {}

    def at(self, arc: float) -> Multipliers:
        """The multipliers at an arc."""
        if arc not in self.known:
            self.known[arc] = self.spectrum(arc)
        return self.known[arc]

    def between(self, a: float, b: float) -> list[CriticalValue]:
        """The crossings between two arcs."""
        return list(self._crossings(a, b))

    def _crossings(self, a: float, b: float) -> Iterator[CriticalValue]:
        first, last = self.at(a), self.at(b)
        if len(first.values) != len(last.values) or first.outside == last.outside:
            return
        change = last.outside - first.outside
        words = "becomes unstable" if change > 0 else "becomes stable"
        passed = 0
        for place, kind in ((1.0, "divergence"), (-1.0, "period doubling")):
            if first.past(place) * last.past(place) < 0.0:
                arc = self._zero(partial(Multipliers.past, place=place), a, b)
                passed += 1
                yield CriticalValue(arc, kind, complex(place), words)
        if abs(change) > passed and first.meeting() * last.meeting() < 0.0:
            arc = self._zero(Multipliers.meeting, a, b)
            there = self.at(arc).values
            nearest = there[np.argmin(np.abs(np.abs(there) - 1.0))]
            yield CriticalValue(arc, "torus", complex(nearest.real, abs(nearest.imag)), words)

    def _zero(self, function: Callable[[Multipliers], float], a: float, b: float) -> float:
        from scipy.optimize import brentq

        return float(brentq(lambda arc: function(self.at(arc)), a, b, xtol=self.tolerance))
