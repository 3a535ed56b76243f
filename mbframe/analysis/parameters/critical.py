"""Values of a parameter at which a system gains or loses stability."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, ModelError, Problem
from ..linear.spectrum import Spectrum, partners
from .executors import Executor
from .sweep import Failure, sweep

Array = NDArray[np.float64]

REAL = 1e-9  # imaginary part, relative to the size of the spectrum, up to which a root passes through zero
CROSSED = 1e-6  # real part, relative to the size of the spectrum, up to which a root is on the imaginary axis
COARSE = 1e-3  # part of an interval at which a search by counting becomes one for the zero of a smooth function
SUBDIVISIONS = 12
LOOKS = 4  # halvings of an interval in which a root may have come and gone
NEARBY = 1e-6  # part of an interval by which rounding may separate values


@dataclass(frozen=True)
class CriticalValue:
    """A value of a parameter at which roots pass through the imaginary axis.

    Attributes
    ----------
    value
        Of the parameter.
    kind
        "Hopf" if a pair of roots passes with a frequency, "divergence" if one passes through zero.
    eigenvalue
        The root there, on the imaginary axis: that of the pair with a positive imaginary part, or zero.
    direction
        "becomes stable" or "becomes unstable": what the mode does with a growing parameter. Others may be unstable.
    """

    value: float
    kind: str
    eigenvalue: complex
    direction: str

    @property
    def frequency(self) -> float:
        """|Im|/(2 pi), Hz; 0 for divergence."""
        return abs(self.eigenvalue.imag) / (2.0 * np.pi)

    def __str__(self) -> str:
        at = f" with {self.frequency:.6g} Hz" if self.kind == "Hopf" else ""
        return f"{self.value:.12g}: {self.kind}{at}, {self.direction}"


def critical_values(
    build: Callable[[float], Any],
    interval: tuple[float, float],
    points: int = 41,
    tolerance: float = 1e-12,
    executor: Executor | str | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> list[CriticalValue]:
    """Find the values of a parameter at which roots pass through the imaginary axis.

    Ignorable roots, which stay there, are split off beforehand. Where a root moves farther between two neighbouring
    points than it is away from the axis, which it may have crossed and crossed back, further points are looked at: up
    to sixteen in an interval, and up to four thousand where its real part bends towards the axis.

    Parameters
    ----------
    build
        Makes a system from a value, or its linearization; see `mb.root_locus`.
    interval
        Lowest and highest value.
    points
        Number of points, equally spaced, of the first search.
    tolerance
        Of the values, relative to the larger end of the interval.
    executor, progress
        For the first search; see `mb.sweep`.

    Returns
    -------
    list of CriticalValue
        With growing values; an `AnalysisError` says where a system has no linearization, and a warning where the
        number of growing roots changes by more than these, or a root may have passed the axis and come back unseen.
    """
    try:
        low, high = map(float, interval)
    except (TypeError, ValueError):
        message = f"found {interval!r}; allowed are the lowest and the highest value; give a pair: (low, high)"
        raise ModelError([Problem("critical_values", "interval", message)]) from None
    if not (np.isfinite([low, high]).all() and low < high and points >= 2):
        message = f"found ({low:g}, {high:g}) and {points} points; allowed are low < high and at least two points"
        raise ModelError([Problem("critical_values", "interval", message)])
    values = np.linspace(low, high, points)
    first = sweep(build, values.tolist(), Spectrum.whole, executor, progress)

    def spectrum(value: float) -> Spectrum:
        return _checked(sweep(build, [value], Spectrum.whole)[0])

    search = Crossings(spectrum, tolerance * max(abs(low), abs(high)))
    for value, point in zip(values.tolist(), first, strict=True):
        search.known[value] = _checked(point)
    found = []
    for a, b in pairwise(values.tolist()):
        within = search.between(a, b)
        if missed := search.missed(a, b, within):
            warnings.warn(missed, stacklevel=2)
        found += within
    return sorted(found, key=lambda critical: critical.value)


def _checked(point: Spectrum | Failure) -> Spectrum:
    if isinstance(point, Failure):
        message = f"critical_values: there are no roots {point}; choose an interval in which there are"
        raise AnalysisError(message) from point.error
    return point


class Crossings:
    """Looks for crossings between values whose spectra are known.

    `spectrum` gives that of a value; with `doubting` further values are looked at where a root may have come and gone.
    """

    def __init__(self, spectrum: Callable[[float], Spectrum], tolerance: float, doubting: bool = True) -> None:
        self.spectrum, self.tolerance, self.doubting = spectrum, tolerance, doubting
        self.known: dict[float, Spectrum] = {}
        self.doubtful: list[tuple[float, float]] = []
        """Parts of intervals, as short as any that are looked at, in which a root may still pass and come back."""

    def at(self, value: float) -> Spectrum:
        """The spectrum at a value."""
        if value not in self.known:
            self.known[value] = self.spectrum(value)
        return self.known[value]

    def between(self, a: float, b: float, depth: int = 0) -> list[CriticalValue]:
        """The crossings between two values.

        A root that is off the axis at both ends and changes its side is followed. Where roots meet on the axis before
        they leave it, as they do without damping, only the number of unstable roots tells, which is bisected.
        """
        first, last = self.at(a), self.at(b)
        crossing = [
            (i, j)
            for i, j in partners(first, last)
            if first.signs[i] * last.signs[j] < 0 and (first.roots[i].imag >= 0.0 or last.roots[j].imag > 0.0)
        ]
        found = []
        for i, j in crossing:
            critical = self._followed(a, b, i, j)
            if critical is None and depth < SUBDIVISIONS:
                middle = 0.5 * (a + b)
                return self.between(a, middle, depth + 1) + self.between(middle, b, depth + 1)
            found += [critical] if critical is not None else []
        if last.unstable - first.unstable != _gained(found):
            if found and depth < SUBDIVISIONS:
                middle = 0.5 * (a + b)
                return self.between(a, middle, depth + 1) + self.between(middle, b, depth + 1)
            found = list(self._counted(a, b))
        doubtful = self.doubting and (
            (depth < LOOKS and self._may_have_crossed(first, last)) or self._bends_across(a, b)
        )
        if not found and depth < SUBDIVISIONS and doubtful:
            middle = 0.5 * (a + b)
            return self.between(a, middle, depth + 1) + self.between(middle, b, depth + 1)
        if not found and doubtful:
            self.doubtful.append((a, b))
        return found

    def missed(self, a: float, b: float, found: list[CriticalValue]) -> str:
        """What to say if crossings between two values may be missing among those found; "" if none are."""
        change, gained = self.at(b).unstable - self.at(a).unstable, _gained(found)
        if change != gained:
            return (
                f"critical_values: between {a:.6g} and {b:.6g} the number of growing roots changes by {change}, and by "
                f"{gained} at the values found there: some roots pass the axis together, or at values too close to be "
                "told apart; give a shorter interval around them, with more points"
            )
        if near := [part for part in self.doubtful if a <= part[0] < b]:
            return (
                f"critical_values: a root may pass the axis and come back between {near[0][0]:.9g} and "
                f"{near[-1][1]:.9g}, too fast to be followed; give a shorter interval there, with more points"
            )
        return ""

    @staticmethod
    def _may_have_crossed(first: Spectrum, last: Spectrum) -> bool:
        """Whether a root that is on one side of the axis at both ends moves farther between them than it is away."""
        return any(
            first.signs[i] * last.signs[j] > 0
            and abs(first.roots[i] - last.roots[j]) > min(abs(first.roots[i].real), abs(last.roots[j].real))
            for i, j in partners(first, last)
        )

    def _bends_across(self, a: float, b: float) -> bool:
        """Whether a real part, which has one sign at both ends, bends so much beside them that it may change it twice.

        A parabola through it here and at the next value beside leaves its chord by an eighth of the second difference;
        a real part that is not larger than the whole difference is in doubt.
        """
        first, last, width = self.at(a), self.at(b), b - a
        pairs = [(i, j) for i, j in partners(first, last) if first.signs[i] * last.signs[j] > 0]
        for here, other, beside in ((0, 1, a - width), (1, 0, b + width)):
            known = [value for value in self.known if abs(value - beside) < NEARBY * width]
            if not known or not pairs:
                continue
            ends, there = (first, last), self.known[known[0]]
            partner = dict(partners(ends[here], there))
            for pair in pairs:
                if pair[here] in partner:
                    near, far = (ends[k].roots[pair[k]].real for k in (here, other))
                    bend = abs(there.roots[partner[pair[here]]].real - 2.0 * near + far)
                    if min(abs(near), abs(far)) < bend:
                        return True
        return False

    def _followed(self, a: float, b: float, i: int, j: int) -> CriticalValue | None:
        """Where the root i of the spectrum at a, which is the root j at b, passes; None if it was mistaken."""
        from scipy.optimize import brentq

        place = {a: i, b: j}

        def root(value: float) -> complex:
            here = self.at(value)
            if value not in place:
                near = min(place, key=lambda other: abs(other - value))
                before = self.at(near)
                partner = dict(partners(before, here)).get(place[near])
                if partner is None:  # it is zero to the last digit, and counts as ignorable
                    return 0j
                place[value] = partner
            return complex(here.roots[place[value]])

        value = brentq(lambda v: root(v).real, a, b, xtol=self.tolerance, rtol=4 * np.finfo(float).eps)
        there, size = root(value), _size(self.at(value))
        if not abs(there.real) <= CROSSED * size:
            return None
        growing = self.at(b).roots[j].real > 0.0
        return _critical(value, there, size, growing)

    def _counted(self, a: float, b: float) -> Iterator[CriticalValue]:
        """Every change of the number of unstable roots that bisection meets on the way from a to b."""
        while self.at(a).unstable != self.at(b).unstable:
            low, high = self._bisected(a, b, COARSE * (b - a))
            critical = self._change(low, high)
            smooth = self._product(low, high) if critical.kind == "divergence" else self._meeting(critical.eigenvalue)
            value = self._zero(smooth, low, high, a, b)
            if value is not None:
                root = critical.eigenvalue
                if critical.kind == "Hopf":
                    root = complex(0.0, self._nearest(value, root).imag.mean())
                critical = replace(critical, value=value, eigenvalue=root)
            else:
                critical = self._change(*self._bisected(low, high, self.tolerance))
            yield critical
            a = high

    def _bisected(self, low: float, high: float, width: float) -> tuple[float, float]:
        """A short interval in which the number of unstable roots changes for the first time after `low`."""
        before = self.at(low).unstable
        while high - low > width and low < (middle := 0.5 * (low + high)) < high:
            low, high = (middle, high) if self.at(middle).unstable == before else (low, middle)
        return low, high

    def _change(self, low: float, high: float) -> CriticalValue:
        """What happens in a short interval."""
        before, after = self.at(low), self.at(high)
        growing = after.unstable > before.unstable
        rich, poor = (after, before) if growing else (before, after)
        # The roots that left the axis are the slowest of those that grow, but for those that grew before.
        grown = np.sort_complex(rich.roots[rich.signs > 0])[: rich.unstable - poor.unstable]
        return _critical(0.5 * (low + high), grown[np.argmax(grown.imag)], _size(rich), growing)

    def _product(self, low: float, high: float) -> Callable[[float], float]:
        """The product of all roots, smooth where a pair of them meets in zero; scaled by the sizes at both ends."""
        sizes = np.concatenate([np.abs(self.at(end).roots) for end in (low, high)])
        scale = np.exp(np.mean(np.log(sizes[sizes > 0.0])))
        return lambda value: float(np.prod(self.at(value).roots / scale).real)

    def _meeting(self, root: complex) -> Callable[[float], float]:
        """The squared difference of the two roots next to one on the axis, smooth where they meet and leave it."""

        def difference(value: float) -> float:
            near = self._nearest(value, root)
            return float(((near[0] - near[1]) ** 2).real) if len(near) == 2 else np.nan

        return difference

    def _nearest(self, value: float, root: complex) -> NDArray[np.complex128]:
        """The two roots next to a number."""
        roots = self.at(value).roots
        return roots[np.argsort(np.abs(roots - root), kind="stable")[:2]]

    def _zero(self, function: Callable[[float], float], low: float, high: float, a: float, b: float) -> float | None:
        """Where a function changes its sign in a short interval or near it, between a and b; None if it does not.

        Roots that are on the axis but for rounding count as stable, so that the number of unstable ones changes late.
        """
        from scipy.optimize import brentq

        width = high - low
        while not function(low) * function(high) < 0.0:
            if low <= a and high >= b:
                return None
            low, high, width = max(a, low - width), min(b, high + width), 2.0 * width
        return float(brentq(function, low, high, xtol=self.tolerance, rtol=4 * np.finfo(float).eps))


def _gained(found: list[CriticalValue]) -> int:
    """By how many the roots that grow become more at some critical values."""
    return sum((1 if c.direction.endswith("unstable") else -1) * (2 if c.kind == "Hopf" else 1) for c in found)


def _size(spectrum: Spectrum) -> float:
    return float(np.abs(spectrum.roots).max())


def _critical(value: float, root: complex, size: float, growing: bool) -> CriticalValue:
    real = abs(root.imag) <= REAL * size
    return CriticalValue(
        float(value),
        "divergence" if real else "Hopf",
        0j if real else complex(0.0, abs(root.imag)),
        "becomes unstable" if growing else "becomes stable",
    )
