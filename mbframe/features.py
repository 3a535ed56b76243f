"""What an integrator must know of a function before it steps over it: breaks, and how fast it changes where.

A function is looked at between its breaks at `SAMPLES` points over the whole interval. Fourth differences of five
points in a row, at all distances from that of two neighbours up to a quarter of the interval, show where it is no cubic
any more: there that distance, the whole width of the five, bounds the step. Where that happens between neighbours
already, the place is looked at again more closely. What stays rough down to `CLOSEST` of the interval is a jump.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .expression_trees import PLAIN_DEGREE, SAMPLES, landmarks, tree
from .functions import Function

Array = NDArray[np.float64]

ROUGH: Final = 0.1
"""Fourth difference, as part of the range of its five values, beyond which these are too far apart."""
SENSITIVITY: Final = 1e-6
"""Part of the function's range below which a change does not count."""
NEAR: Final = 256
"""Points in a part that is looked at more closely."""
DEPTH: Final = 5
"""How often a place is looked at more closely."""
MOST_PARTS: Final = 40
"""How many places of a function are looked at more closely; a part of more than `NEAR` points is not."""
NARROW: Final = 8
"""Distances of samples within which a piece, or what is around a landmark, is looked at more closely."""
LEAST: Final = 40
"""Points between two breaks, at least."""
CLOSEST: Final = 1e-10
"""Part of the interval within which a change is a jump."""
CALLABLE_SECONDS: Final = 0.02
"""What calling a Python function so often may cost, of the processor's time."""
METHOD_SECONDS: Final = 0.1
"""What calling a method of a user's element so often may cost: it makes arrays, and was compiled for seconds."""
UNEVEN: Final = np.array([0.0, 0.0713, 0.1931, 0.3217, 0.4409, 0.5783, 0.6947, 0.8219, 0.9371, 1.0])
"""Where a piece is looked at to see whether it changes: at no distances that a wave would share."""
MARGIN: Final = 64 * float(np.finfo(float).eps)
"""Part of the time, or of the interval, around a break within which rounding may decide the side."""
CONTINUES: Final = 1e-4
"""A table's pieces continue each other at a node if they differ by less than this part of the values around it."""


@dataclass(frozen=True)
class Bounds:
    """Piecewise constant bounds: `limits[k]` from `places[k]` on; before the first there is none."""

    places: Array
    limits: Array

    @classmethod
    def none(cls) -> Bounds:
        return cls(np.zeros(0), np.zeros(0))

    @classmethod
    def of(cls, parts: list[tuple[Array, Array]], end: float) -> Bounds:
        """From edges and the limits of the cells that begin there, in order; none after the end."""
        if not parts:
            return cls.none()
        places = np.concatenate([*(edges for edges, _ in parts), [end]])
        limits = np.concatenate([*(limits for _, limits in parts), [np.inf]])
        keep = np.concatenate([[np.isfinite(limits[0])], limits[1:] != limits[:-1]])
        return cls(places[keep], limits[keep])

    def at(self, places: Array) -> Array:
        """The limits that hold from these places on."""
        limits = np.concatenate([[np.inf], self.limits])
        return limits[np.searchsorted(self.places, places, side="right")]

    def both(self, other: Bounds) -> Bounds:
        """The smaller one of two everywhere."""
        if not len(self.places) or not len(other.places):
            return self if len(self.places) else other
        places = np.union1d(self.places, other.places)
        limits = np.minimum(self.at(places), other.at(places))
        keep = np.concatenate([[np.isfinite(limits[0])], limits[1:] != limits[:-1]])
        return Bounds(places[keep], limits[keep])

    def reach(self, x: float, forward: bool = True) -> float:
        """How far one may go from x: as `kernels.schedule.reach`."""
        ahead = np.flatnonzero(self.places > x if forward else self.places <= x)
        beyond = self.limits[ahead] if forward else np.concatenate([[np.inf], self.limits])[ahead]
        ways = np.abs(self.places[ahead] - x) + beyond
        return min(float(self.at(np.array([x]))[0]), float(ways.min(initial=np.inf)))

    @property
    def narrowest(self) -> tuple[float, float]:
        """The smallest limit, and where it holds first; infinite if there is none."""
        if not len(self.limits):
            return np.inf, 0.0
        k = int(np.argmin(self.limits))
        return float(self.limits[k]), float(self.places[k])


@dataclass(frozen=True)
class Features:
    """Of a function of one variable in an interval."""

    jumps: Array
    """Breaks after which the step size is found anew."""
    nodes: Array
    """Breaks of a table, whose values continue."""
    bounds: Bounds
    seen: bool = True
    """False: a Python callable takes too long to be looked at."""


def features(function: Function, low: float, high: float) -> Features:
    """Breaks and bounds of a function between two values of its variable."""
    none = np.zeros(0)
    if function.kind in ("constant", "polynomial"):
        return Features(none, none, Bounds.none())
    given = function.breakpoints(low, high)
    if function.kind in ("table", "piecewise_linear"):
        nodes = _nodes(function, given)
        # Between neighbouring nodes a table is a cubic.
        smooth = [(a, b) for a, b in _pieces(nodes, low, high) if np.any((given > a) & (given < b))]
        jumps, bounds = _looked_at(values_of(function), smooth, high - low, high)
        return Features(jumps, nodes, bounds)
    if function.kind == "callable":
        return _of_callable(function, given, low, high)
    assert function.program is not None
    if tree(function.program).shape()[0] <= PLAIN_DEGREE:
        return Features(given, none, Bounds.none())
    marks = landmarks(tree(function.program), low, high)
    found, bounds = _looked_at(values_of(function), _pieces(given, low, high), high - low, high, marks)
    return Features(np.union1d(given, found), none, bounds)


def waves(function: Function, breaks: Array, low: float, high: float) -> Bounds:
    """The period of the fastest sine of a linear argument, where the function changes; none where it is constant."""
    if function.program is None or (rate := tree(function.program).fastest()) == 0.0:
        return Bounds.none()
    edges = np.union1d(breaks[(breaks > low) & (breaks < high)], [low, high])
    near = np.array([margin(edge, high - low) for edge in edges.tolist()])
    a, b = edges[:-1] + near[:-1], edges[1:] - near[1:]
    places = a[:, None] + (b - a)[:, None] * UNEVEN
    values = values_of(function)(places.ravel()).reshape(places.shape)
    return Bounds.of([(edges[:-1], np.where(np.ptp(values, axis=1) > 0.0, 2.0 * np.pi / rate, np.inf))], high)


def features_of_method(call: Callable[[float], Sequence[float]], low: float, high: float) -> Features:
    """Breaks and bounds of all numbers that a method returns at an instant; not seen if it takes too long or fails."""
    began, allowed = time.thread_time(), METHOD_SECONDS
    memory: dict[bytes, Array] = {}

    def sampled(x: Array) -> Array:
        key = x.tobytes()
        if key not in memory:
            rows: list[Sequence[float]] = []
            for first in range(0, len(x), NEAR):
                if time.thread_time() - began > allowed:
                    raise TimeoutError
                rows += [call(t) for t in x[first : first + NEAR].tolist()]
            memory[key] = np.nan_to_num(np.array(rows, float))
        return memory[key]

    none = np.zeros(0)
    try:
        whole = sampled(np.linspace(low + margin(low, high - low), high - margin(high, high - low), SAMPLES + 1))
        allowed = np.inf
        jumps, bounds = none, Bounds.none()
        for k in np.flatnonzero(np.ptp(whole, axis=0) > 0.0).tolist():

            def component(x: Array, k: int = k) -> Array:
                return sampled(x)[:, k] if len(x) else x

            found, more = _looked_at(component, [(low, high)], high - low, high)
            ends = _jumps_at_ends(component, low, high)
            jumps, bounds = np.unique(np.concatenate([jumps, found, ends])), bounds.both(more)
    except Exception:  # whatever a user's method raises in a state that it did not expect
        return Features(none, none, Bounds.none(), seen=False)
    return Features(jumps, none, bounds)


def changing(function: Function, low: float, high: float) -> Bounds:
    """How far the variable of a function may go at once, so that nothing between is passed unseen.

    A function that only rises or only falls hides nothing: what is on both sides of a step shows that it changed.
    """
    if function.program is None or function.kind in ("constant", "polynomial"):
        return Bounds.none()
    root, values = tree(function.program), values_of(function)
    breaks = function.breakpoints(low, high)
    plain = root.shape()[0] <= PLAIN_DEGREE
    if plain and not len(breaks):
        return Bounds.none()
    marks = np.zeros(0) if plain else landmarks(root, low, high)
    x, spacing = np.linspace(low, high, SAMPLES + 1), (high - low) / SAMPLES
    y = values(x)
    near = np.flatnonzero(np.diff(breaks) < NARROW * spacing)[:MOST_PARTS]
    places = np.unique(np.concatenate([x, marks, 0.5 * (breaks[near] + breaks[near + 1])]))
    seen = values(places)
    size, rise = _size(seen), np.diff(seen)
    if size == 0.0 or not (rise.min() < -SENSITIVITY * size and rise.max() > SENSITIVITY * size):
        return Bounds.none()
    limits, _ = _limits(y, spacing, 0.0, ROUGH * size)
    bounds = Bounds.of([(x[:-1], limits)], high)
    for k in near.tolist():  # a piece that lies between the samples
        a, b = float(breaks[k]), float(breaks[k + 1])
        if b - a > 4.0 * margin(b, high - low):
            bounds = bounds.both(_window(values, 2.0 * a - b, 2.0 * b - a, ROUGH * size)[0])
    for mark in marks.tolist():
        half = NARROW * spacing
        while half > CLOSEST * (high - low):
            window, rough = _window(values, mark - half, mark + half, ROUGH * size)
            bounds = bounds.both(window)
            if not rough:
                break
            half *= 2.0 * NARROW / NEAR
    return bounds


def _window(values: Callable[[Array], Array], low: float, high: float, rough_by: float) -> tuple[Bounds, bool]:
    """Bounds in a narrow part, and whether it must be looked at more closely still."""
    x = np.linspace(low, high, NEAR + 1)
    limits, rough = _limits(values(x), (high - low) / NEAR, 0.0, rough_by)
    return Bounds.of([(x[:-1], limits)], high), bool(rough.any())


def values_of(function: Function) -> Callable[[Array], Array]:
    """What gives the values at many points at once; zero where there is none."""
    if function.program is None:
        call = function.python
        assert call is not None
        return lambda x: np.array([float(call(value)) for value in x.tolist()])
    root = tree(function.program)

    def values(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.nan_to_num(root.values(x), nan=0.0, posinf=0.0, neginf=0.0)

    return values


def _size(values: Array) -> float:
    return float(np.ptp(values)) if len(values) else 0.0


def _of_callable(function: Function, given: Array, low: float, high: float) -> Features:
    began, values = time.thread_time(), values_of(function)
    allowed = CALLABLE_SECONDS

    def sampled(x: Array) -> Array:
        out = np.empty(len(x))
        for first in range(0, len(x), NEAR):
            if time.thread_time() - began > allowed:
                raise TimeoutError
            out[first : first + NEAR] = values(x[first : first + NEAR])
        return out

    try:
        sampled(np.linspace(low, high, SAMPLES + 1))
        allowed = np.inf  # looking closer at some places takes no longer than that
        found, bounds = _looked_at(sampled, _pieces(given, low, high), high - low, high)
        found = np.union1d(found, _jumps_at_ends(sampled, low, high))
    except TimeoutError:
        return Features(given, np.zeros(0), Bounds.none(), seen=len(given) > 0)
    except Exception:  # it has no value somewhere: the run says so if it gets there
        return Features(given, np.zeros(0), Bounds.none())
    return Features(np.union1d(given, found), np.zeros(0), bounds)


def _jumps_at_ends(values: Callable[[Array], Array], low: float, high: float) -> Array:
    """Those ends of an interval at which a function has another value than just inside."""
    near = np.array([margin(low, high - low), -margin(high, high - low)])
    ends = np.array([low, high])
    at, inside = values(ends), values(ends + 4.0 * near)
    farther = values(ends + 8.0 * near)  # a steep but continuous function changes as much again
    return ends[np.abs(at - inside) > 10.0 * np.abs(farther - inside) + SENSITIVITY * np.abs(inside)]


def _pieces(breaks: Array, low: float, high: float) -> list[tuple[float, float]]:
    """The intervals between breaks."""
    edges = [low, *breaks[(breaks > low) & (breaks < high)].tolist(), high]
    return [(a, b) for a, b in pairwise(edges) if b - a > 4.0 * margin(b, high - low)]


def margin(place: float, length: float) -> float:
    """How far from a break one is on a side of it for sure."""
    return MARGIN * max(abs(place), length)


def _nodes(function: Function, inside: Array) -> Array:
    """Nodes at which the pieces of a table do not continue each other."""
    assert function.program is not None
    breaks, pieces = tree(function.program).data
    width = np.diff(breaks)
    left, right = pieces[:-1], pieces[1:]  # at each node
    back = np.concatenate([[width[0]], width])  # where the left piece counts from: its first node, or this one outside
    back[0] = 0.0
    slope = left[:, 1] + back * (2.0 * left[:, 2] + 3.0 * back * left[:, 3])
    bend = left[:, 2] + 3.0 * back * left[:, 3]
    near = np.minimum(np.concatenate([[width[0]], width]), np.concatenate([width, [width[-1]]]))
    gap = near * (abs(slope - right[:, 1]) + near * (abs(bend - right[:, 2]) + near * abs(left[:, 3] - right[:, 3])))
    values = right[:, 0]
    steps = np.abs(np.diff(values))
    around = np.maximum(np.concatenate([[steps[0]], steps]), np.concatenate([steps, [steps[-1]]]))
    strong = breaks[gap > CONTINUES * around + SENSITIVITY * _size(values)]
    return strong[np.isin(strong, inside)]


# ---- Looking ------------------------------------------------------------------------------------------------------


def _looked_at(
    values: Callable[[Array], Array],
    pieces: list[tuple[float, float]],
    length: float,
    high: float,
    marks: Array | None = None,
) -> tuple[Array, Bounds]:
    """Jumps that nobody told of, and bounds, in pieces without breaks; `marks` are places to look at in any case."""
    marks = np.zeros(0) if marks is None else marks
    look = _Look(values, length, marks, values(marks))
    samples = [look.sampled(a, b) for a, b in pieces]
    if not samples:
        return np.zeros(0), Bounds.none()
    look.least = SENSITIVITY * _size(np.concatenate([look.at_marks, *([y.min(), y.max()] for _, y in samples)]))
    if look.least == 0.0:
        return np.zeros(0), Bounds.none()
    parts: list[tuple[Array, Array]] = []
    jumps: list[float] = []
    for (a, b), (x, y) in zip(pieces, samples, strict=True):
        look.closer = 0
        found, part = look.part(x, y, 0)
        for _ in range(3):
            if not found:
                break
            jumps += found  # look again on both sides of them
            part, again = [], []
            for begin, end in _pieces(np.array(sorted(jumps)), a, b):
                more, inner = look.part(*look.sampled(begin, end), 0)
                part += inner
                again += more
            found = [place for place in again if place not in jumps]
        parts += part
    return np.unique(jumps), Bounds.of(parts, high)


@dataclass
class _Look:
    values: Callable[[Array], Array]
    length: float
    marks: Array
    at_marks: Array
    least: float = 0.0  # change that counts
    closer: int = 0  # places that were looked at more closely

    def sampled(self, a: float, b: float) -> tuple[Array, Array]:
        """Points between two breaks, and the values there."""
        a, b = a + margin(a, self.length), b - margin(b, self.length)
        count = LEAST
        while count < SAMPLES * (b - a) / self.length:
            count *= 2
        x = np.linspace(a, b, count + 1)
        return x, self.values(x)

    def part(self, x: Array, y: Array, depth: int) -> tuple[list[float], list[tuple[Array, Array]]]:
        """Jumps, and edges with the limits behind them, for values at equal distances."""
        limits, rough = _limits(y, float(x[1] - x[0]), self.least)
        here = (self.marks > x[0]) & (self.marks < x[-1])
        hidden = np.abs(self.at_marks[here] - np.interp(self.marks[here], x, y)) > self.least
        for k in np.searchsorted(x, self.marks[here][hidden]).tolist():
            rough[max(0, k - 2) : k + 1] = True
        edges = np.flatnonzero(np.diff(np.concatenate([[False], rough, [False]])))
        runs = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
        if len(runs) > MOST_PARTS:
            return [], [(x[:-1], limits)]
        jumps: list[float] = []
        parts: list[tuple[Array, Array]] = []
        done = 0
        for first, last in runs:
            if last - first > NEAR // 8 or self.closer > MOST_PARTS * DEPTH:
                continue
            parts.append((x[done:first], limits[done:first]))
            self.closer += 1
            if depth == DEPTH or x[last] - x[first] < CLOSEST * self.length:
                jumps.append(self.jump(float(x[first]), float(x[last]), y[first : last + 1]))
                parts.append((x[first:last], limits[first:last]))
            else:
                near = np.linspace(float(x[first]), float(x[last]), NEAR + 1)
                more, inner = self.part(near, self.values(near), depth + 1)
                jumps += more
                parts += inner
            done = last
        parts.append((x[done:-1], limits[done:]))
        return jumps, parts

    def jump(self, a: float, b: float, values: Array) -> float:
        """Where the largest change between a and b is."""
        grid = np.linspace(a, b, len(values))
        k = int(np.argmax(np.abs(np.diff(values))))
        a, b, at_a, at_b = float(grid[k]), float(grid[k + 1]), float(values[k]), float(values[k + 1])
        while a < (middle := 0.5 * (a + b)) < b:
            at_middle = float(self.values(np.array([middle]))[0])
            if abs(at_middle - at_a) >= abs(at_b - at_middle):
                b, at_b = middle, at_middle
            else:
                a, at_a = middle, at_middle
        return b


def _limits(y: Array, spacing: float, least: float, rough_by: float | None = None) -> tuple[Array, NDArray[np.bool_]]:
    """The bound in each cell between values, and where even neighbours are too far apart.

    `rough_by` is what fourth differences are compared with, instead of a part of the range of their five values.
    """
    stride = 1
    while (len(y) - 1) % (2 * stride) == 0 and (len(y) - 1) // (2 * stride) >= 4:
        stride *= 2
    limits = np.full((len(y) - 1) // stride, np.inf)
    while True:
        rough = _rough(y[::stride], least, rough_by)
        limits[rough] = 4.0 * stride * spacing
        if stride == 1:
            return limits, rough
        stride //= 2
        limits = np.repeat(limits, 2)


def _rough(y: Array, least: float, rough_by: float | None) -> NDArray[np.bool_]:
    """Cells in which five values in a row do not lie on a cubic."""
    a, b, c, d, e = y[:-4], y[1:-3], y[2:-2], y[3:-1], y[4:]
    extent = np.maximum(np.maximum(np.maximum(a, b), np.maximum(c, d)), e)
    extent = extent - np.minimum(np.minimum(np.minimum(a, b), np.minimum(c, d)), e)
    most = ROUGH * extent if rough_by is None else rough_by
    bad = (np.abs(a + e - 4.0 * (b + d) + 6.0 * c) > most) & (extent > least)
    cells = np.zeros(len(y) - 1, bool)
    for k in range(4):
        cells[k : k + len(bad)] |= bad
    return cells
