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
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .expression_trees import AT_ONCE, MOST_PERIODS, PLAIN_DEGREE, SAMPLES, landmarks, spread, switches_too_often, tree
from .functions import Function
from .poles import first_pole, may_have_poles

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
FIVE: Final = np.arange(5)[:, None]
THIRD: Final = np.array([-1.0, 3.0, -3.0, 1.0])
"""Weights of a third difference."""
LEAST: Final = 40
"""Points between two breaks, at least."""
CLOSEST: Final = 1e-10
"""Part of the interval within which a change is a jump."""
CALLABLE_SECONDS: Final = 0.02
"""What calling a Python function so often may cost, of the processor's time."""
METHOD_SECONDS: Final = 0.5
"""What calling a method of a user's element so often may cost: it makes arrays, and was compiled for seconds."""
UNEVEN: Final = np.array([0.0, 0.0713, 0.1931, 0.3217, 0.4409, 0.5783, 0.6947, 0.8219, 0.9371, 1.0])
"""Where a piece is looked at to see whether it changes: at no distances that a wave would share."""
MARGIN: Final = 64 * float(np.finfo(float).eps)
"""Part of the time, or of the interval, around a break within which rounding may decide the side."""
CONTINUES: Final = 1e-4
"""A table's pieces continue each other at a node if they differ by less than this part of the values around it."""

FAR: Final = 1e6
"""How far off an argument of which nothing is known is looked for switches."""
NEARER: Final = 1e3
"""How far off it is looked for landmarks too, more closely."""
WIDTHS: Final = 8.0
"""How many of its widths on each side of a landmark matter."""
MOST_CUT_PERIODS: Final = 2000
"""Periods of a wave, about zero, within which an integral is cut where it switches."""
TAIL: Final = 7
"""How often a tail is cut, each time so many times farther from its landmark."""


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
        parts = [(edges[begins], limits[begins]) for edges, limits in parts if len(begins := _begins(limits))]
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
        """How far one may go from x: as `kernels.integrators.schedule.reach`."""
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
    """False: a Python callable takes too long to be looked at, or fails, or an expression switches too often."""
    why_not: str = "the Python function takes too long to be looked at before the run"
    pole: float | None = None
    """The first place where the function grows so much that its integral does not exist."""


def _begins(limits: Array) -> NDArray[np.intp]:
    """Where runs of equal limits begin."""
    begins = np.flatnonzero(limits[1:] != limits[:-1]) + 1
    return np.concatenate([[0], begins]) if len(limits) else begins


def features(function: Function, low: float, high: float) -> Features:
    """Breaks and bounds of a function between two values of its variable."""
    none = np.zeros(0)
    if function.kind in ("constant", "polynomial"):
        return Features(none, none, Bounds.none())
    given = function.breakpoints(low, high)
    if function.kind in ("table", "piecewise_linear"):
        nodes, weak = _nodes(function, given)
        smooth = _not_cubic(given, weak, np.unique(np.concatenate([[low], nodes, [high]])))
        jumps, bounds = _looked_at(values_of(function), smooth, high - low, high)
        return Features(jumps, nodes, bounds)
    if function.kind == "callable":
        return _of_callable(function, given, low, high)
    assert function.program is not None
    if switches_too_often(tree(function.program), low, high):
        why = f"it switches in more than {MOST_PERIODS:,} periods, too many to be looked for"
        return Features(given, none, Bounds.none(), seen=False, why_not=why)
    if tree(function.program).degree[0] <= PLAIN_DEGREE:
        return Features(given, none, Bounds.none())
    root, values = tree(function.program), values_of(function)
    marks = landmarks(root, low, high)
    found, bounds = _looked_at(values, _pieces(given, low, high), high - low, high, marks)
    jumps, pole = np.union1d(given, found), None
    if may_have_poles(root):
        x = np.linspace(low, high, SAMPLES + 1)
        pole = first_pole(values, x, values(x), np.union1d(jumps, marks))
    return Features(jumps, none, bounds, pole=pole)


def waves(function: Function, breaks: Array, low: float, high: float) -> Bounds:
    """The period of the fastest sine of a linear argument, where the function changes; none where it is constant."""
    if function.program is None or (rate := tree(function.program).fastest) == 0.0:
        return Bounds.none()
    edges = np.union1d(breaks[(breaks > low) & (breaks < high)], [low, high])
    near = np.array([margin(edge, high - low) for edge in edges.tolist()])
    a, b = edges[:-1] + near[:-1], edges[1:] - near[1:]
    places = a[:, None] + (b - a)[:, None] * UNEVEN
    values = values_of(function)(places.ravel()).reshape(places.shape)
    return Bounds.of([(edges[:-1], np.where(np.ptp(values, axis=1) > 0.0, 2.0 * np.pi / rate, np.inf))], high)


def features_of_method(
    call: Callable[[float], Sequence[float]], low: float, high: float, where: str = "in the state of the start"
) -> Features:
    """Breaks and bounds of all numbers that a method returns at an instant; not seen if it takes too long or fails."""
    began, allowed = time.thread_time(), METHOD_SECONDS
    memory: dict[bytes, Array] = {}

    def row(t: float) -> Sequence[float]:
        try:
            return call(t)
        except ZeroDivisionError:  # just there, at a pole
            return nothing

    def sampled(x: Array) -> Array:
        key = x.tobytes()
        if key not in memory:
            blocks: list[Array] = []  # thousands of lists would make Python search all objects for cycles meanwhile
            for first in range(0, len(x), NEAR):
                if time.thread_time() - began > allowed:
                    raise TimeoutError
                blocks.append(np.array([row(t) for t in x[first : first + NEAR].tolist()], float))
            memory[key] = np.nan_to_num(np.concatenate(blocks))
        return memory[key]

    none = np.zeros(0)
    try:
        places = np.linspace(low + margin(low, high - low), high - margin(high, high - low), SAMPLES + 1)
        nothing = np.zeros_like(np.asarray(call(float(places[0])), float)).tolist()
        whole = sampled(places)
        allowed = np.inf
        jumps, bounds, pole = none, Bounds.none(), None
        for k in np.flatnonzero(np.ptp(whole, axis=0) > 0.0).tolist():

            def component(x: Array, k: int = k) -> Array:
                return sampled(x)[:, k] if len(x) else x

            found, more = _looked_at(component, [(low, high)], high - low, high)
            pole = first_pole(component, places, whole[:, k], found) if pole is None else pole
            ends = _jumps_at_ends(component, low, high)
            jumps, bounds = np.unique(np.concatenate([jumps, found, ends])), bounds.both(more)
    except TimeoutError:
        return Features(none, none, Bounds.none(), seen=False, why_not="it takes too long")
    except Exception as error:  # whatever a user's method raises in a state that it did not expect
        fails = f"{where} it raises {type(error).__name__}: {error}"
        return Features(none, none, Bounds.none(), seen=False, why_not=fails)
    return Features(jumps, none, bounds, pole=pole)


@lru_cache(maxsize=256)
def changing(function: Function, low: float, high: float) -> Bounds:
    """How far the variable of a function may go at once, so that nothing between is passed unseen.

    A function that only rises or only falls hides nothing: what is on both sides of a step shows that it changed.
    """
    if function.program is None or function.kind in ("constant", "polynomial"):
        return Bounds.none()
    root, values = tree(function.program), values_of(function)
    breaks = function.breakpoints(low, high)
    plain = root.degree[0] <= PLAIN_DEGREE
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


def landmarks_anywhere(function: Function) -> Array:
    """Landmarks of a function whose argument may be anything."""
    if function.program is None or (root := tree(function.program)).degree[0] <= PLAIN_DEGREE:
        return np.zeros(0)
    return np.unique(np.concatenate([landmarks(root, -far, far) for far in (FAR, NEARER, 1.0)]))


@lru_cache(maxsize=256)
def cuts(function: Function) -> Array:
    """Where an integral over the variable of a function is cut, so that nothing narrow lies inside a part unseen.

    Those are its breakpoints, and places around each landmark: one width of what happens there, then ever farther off,
    since the tail of a hill such as 1/(1 + u**2) counts too.
    """
    if function.program is None:
        return function.breakpoints(-FAR, FAR)
    marks = landmarks_anywhere(function)
    widths = spread(tree(function.program), marks)
    far = WIDTHS ** np.arange(TAIL)
    around = [(marks + part * widths).ravel() for part in (*-far, 0.0, *far)]
    return np.unique(np.concatenate([function.breakpoints(-FAR, FAR), _waved_switches(function), *around]))


def _waved_switches(function: Function) -> Array:
    """Where a function switches with a wave that is too long to be followed everywhere: about zero, where it begins."""
    assert function.program is not None
    root, far = tree(function.program), FAR
    if not switches_too_often(root, -far, far):
        return np.zeros(0)
    while switches_too_often(root, -far, far, MOST_CUT_PERIODS):
        far *= 0.5
    return function.breakpoints(-far, far)


def _window(values: Callable[[Array], Array], low: float, high: float, rough_by: float) -> tuple[Bounds, bool]:
    """Bounds in a narrow part, and whether it must be looked at more closely still."""
    x = np.linspace(low, high, NEAR + 1)
    limits, rough = _limits(values(x), (high - low) / NEAR, 0.0, rough_by)
    return Bounds.of([(x[:-1], limits)], high), len(rough) > 0


def values_of(function: Function) -> Callable[[Array], Array]:
    """What gives the values at many points at once; zero where there is none."""
    if function.program is None:
        call = function.python
        assert call is not None
        return lambda x: _finite(_called(call, x.tolist()))
    root = tree(function.program)

    def values(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return _finite(root.values(x))

    return values


def _called(call: Callable[[float], float], places: list[float]) -> Array:
    """What a Python function gives at some places; NaN where it divides by zero."""
    try:
        return np.array([float(call(x)) for x in places])
    except ArithmeticError:
        if len(places) == 1:
            return np.array([np.nan])
        half = len(places) // 2
        return np.concatenate([_called(call, places[:half]), _called(call, places[half:])])


def _finite(values: Array) -> Array:
    """Values with zeros where they are not finite."""
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # so are all of them
            return values
        return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


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
        x = np.linspace(low, high, SAMPLES + 1)
        y = sampled(x)
        allowed = np.inf  # looking closer at some places takes no longer than that
        found, bounds = _looked_at(sampled, _pieces(given, low, high), high - low, high)
        pole = first_pole(sampled, x, y, np.union1d(given, found))
        found = np.union1d(found, _jumps_at_ends(sampled, low, high))
    except TimeoutError:
        return Features(given, np.zeros(0), Bounds.none(), seen=len(given) > 0)
    except Exception:  # it has no value somewhere: the run says so if it gets there
        return Features(given, np.zeros(0), Bounds.none())
    return Features(np.union1d(given, found), np.zeros(0), bounds, pole=pole)


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


def _not_cubic(given: Array, weak: Array, edges: Array) -> list[tuple[float, float]]:
    """Where, between edges, a table is no single cubic: around its weak nodes, with as much again on both sides."""
    first, last = np.searchsorted(weak, edges[:-1], side="right"), np.searchsorted(weak, edges[1:])
    parts = []
    for k in np.flatnonzero(first < last).tolist():
        begin, end = weak[first[k]], weak[last[k] - 1]
        near = np.searchsorted(given, [begin, end])
        begin = given[near[0] - 1] if near[0] > 0 else edges[k]
        end = given[near[1] + 1] if near[1] + 1 < len(given) else edges[k + 1]
        parts.append((max(float(edges[k]), 2.0 * begin - end), min(float(edges[k + 1]), 2.0 * end - begin)))
    return parts


def _nodes(function: Function, inside: Array) -> tuple[Array, Array]:
    """Nodes at which the pieces of a table do not continue each other, and others at which they differ at all."""
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
    strong = gap > CONTINUES * around + SENSITIVITY * _size(values)
    here = np.isin(breaks, inside)
    return breaks[strong & here], breaks[~strong & (gap > 0.0) & here]


# ---- Looking ------------------------------------------------------------------------------------------------------


def _looked_at(
    values: Callable[[Array], Array],
    pieces: list[tuple[float, float]],
    length: float,
    high: float,
    marks: Array | None = None,
) -> tuple[Array, Bounds]:
    """Jumps that nobody told of, and bounds, in pieces without breaks, which come in order.

    `marks` are places to look at in any case.
    """
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
    before = pieces[0][0]
    for (a, b), (x, y) in zip(pieces, samples, strict=True):
        if a > before:
            parts.append((np.array([before]), np.array([np.inf])))  # nothing was looked at in between
        before = b
        look.closer = 0
        found, part = look.part(x, y, 0)
        found = look.new(found, [a, b])
        for _ in range(3):
            if not found:
                break
            jumps += found  # look again on both sides of them
            part, again = [], []
            for begin, end in _pieces(np.array(sorted(jumps)), a, b):
                more, inner = look.part(*look.sampled(begin, end), 0)
                part += inner
                again += more
            found = look.new(again, [a, b, *jumps])
        parts += part
    return np.unique(jumps), Bounds.of(parts, min(before, high))


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

    def new(self, jumps: list[float], known: list[float]) -> list[float]:
        """Jumps that are none of those known: beside the kink of a root, each closer look finds another one."""
        return [place for place in jumps if min(abs(place - at) for at in known) > CLOSEST * self.length]

    def part(self, x: Array, y: Array, depth: int) -> tuple[list[float], list[tuple[Array, Array]]]:
        """Jumps, and edges with the limits behind them, for values at equal distances."""
        limits, found = _limits(y, float(x[1] - x[0]), self.least)
        here = (self.marks > x[0]) & (self.marks < x[-1])
        hidden = np.abs(self.at_marks[here] - np.interp(self.marks[here], x, y)) > self.least
        hiding = np.searchsorted(x, self.marks[here][hidden])
        if not len(found) and not len(hiding):
            return [], [(x[:-1], limits)]
        rough = np.zeros(len(limits) + 2, bool)  # with one that is not on either side
        rough[found + 1] = True
        for k in hiding.tolist():
            rough[max(k - 1, 1) : min(k + 2, len(rough) - 1)] = True
        edges = np.flatnonzero(rough[1:] != rough[:-1])
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


def _limits(y: Array, spacing: float, least: float, rough_by: float | None = None) -> tuple[Array, NDArray[np.intp]]:
    """The bound in each cell between values, and those cells in which even neighbours are too far apart.

    `rough_by` is what fourth differences are compared with, instead of a part of the range of their five values.
    """
    stride, limits = 1, np.full(len(y) - 1, np.inf)
    while (len(y) - 1) % (2 * stride) == 0 and (len(y) - 1) // (2 * stride) >= 4:
        stride *= 2
    with np.errstate(over="ignore", invalid="ignore"):  # of values near the largest number
        while True:
            rough = _rough(y[::stride], least, rough_by)
            if len(rough):
                limits.reshape(-1, stride)[rough] = 4.0 * stride * spacing
            if stride == 1:
                return limits, rough
            stride //= 2


def _rough(y: Array, least: float, rough_by: float | None) -> NDArray[np.intp]:
    """Cells in which five values in a row do not lie on a cubic; some of them several times."""
    if len(y) > AT_ONCE + 4:
        blocks = [_rough(y[k : k + AT_ONCE + 4], least, rough_by) + k for k in range(0, len(y) - 4, AT_ONCE)]
        return np.concatenate(blocks)
    # Of first differences, which are exact where values are near to each other: a constant has none.
    fourth = np.correlate(y[1:] - y[:-1], THIRD)
    np.abs(fourth, out=fourth)
    # The range of five values counts beyond `least` only, and few exceed that: only their range is looked at.
    bad = (fourth > (ROUGH * least if rough_by is None else rough_by)).nonzero()[0]
    if not len(bad):
        return bad
    if rough_by is None:
        five = y[bad + FIVE]
        extent = five.max(axis=0) - five.min(axis=0)
        bad = bad[(fourth[bad] > ROUGH * extent) & (extent > least)]
    return (bad + FIVE[:4]).ravel()
