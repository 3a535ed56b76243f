"""Expressions as trees: values at many points at once, where they switch, and whether they can hide something short.

The interpreter runs a program point by point. Before a run its functions are looked at as a whole, at tens of thousands
of points; a tree of array operations does that in a fraction of a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .expressions import Program
from .kernels.programs import expressions as ops

Array = NDArray[np.float64]

PLAIN_DEGREE: Final = 8
"""Polynomials up to this degree, and products of as many factors, change everywhere alike."""
SAMPLES: Final = 20480
"""Points at which a function is looked at: features of 1e-4 of the interval hold two of them."""
PLAIN_SAMPLES: Final = 2048
"""The same of what changes everywhere alike: besides, its waves have `PER_PERIOD` points each."""
AT_ONCE: Final = 8192
"""Points whose values are found at once: arrays of more numbers are asked of the system each time, page by page."""
PER_PERIOD: Final = 16
MOST_PERIODS: Final = 20_000
"""Periods within which what switches with a wave is looked for."""
NARROWINGS: Final = 25
CHORDS: Final = 4
"""How often a chord leads to a zero, each time into a part `NARROWER` times as long on both sides of its own."""
NARROWER: Final = 1e-3
NEGLIGIBLE: Final = 1e-24
"""Part of an interval that no place in it is told from another by."""
SECTIONS: Final = 6
PARTS: Final = np.linspace(0.0, 1.0, 65)[:, None]
MOST_DIPS: Final = 4000
MOST_LANDMARKS: Final = 50

_COMPARED: Final = {
    ops.LESS: np.less,
    ops.LESS_EQUAL: np.less_equal,
    ops.GREATER: np.greater,
    ops.GREATER_EQUAL: np.greater_equal,
    ops.EQUAL: np.equal,
    ops.NOT_EQUAL: np.not_equal,
}
_ONE: Final[dict[int, Callable[[Array], Array]]] = {
    ops.NEGATE: np.negative,
    ops.SIN: np.sin,
    ops.COS: np.cos,
    ops.TAN: np.tan,
    ops.ASIN: np.arcsin,
    ops.ACOS: np.arccos,
    ops.ATAN: np.arctan,
    ops.SINH: np.sinh,
    ops.COSH: np.cosh,
    ops.TANH: np.tanh,
    ops.EXP: np.exp,
    ops.LOG: np.log,
    ops.SQRT: np.sqrt,
    ops.ABS: np.abs,
    ops.SIGN: np.sign,
}
_TWO: Final[dict[int, Callable[[Array, Array], Array]]] = {
    ops.ADD: np.add,
    ops.SUBTRACT: np.subtract,
    ops.MULTIPLY: np.multiply,
    ops.DIVIDE: np.divide,
    ops.POWER: np.power,
    ops.ATAN2: np.arctan2,
    ops.MINIMUM: np.minimum,
    ops.MAXIMUM: np.maximum,
}
_LEAST: Final[dict[int, Callable[[list[float]], float]]] = {ops.ADD: sum, ops.MINIMUM: min, ops.MAXIMUM: max}
IF: Final = ops.JUMP_IF_ZERO


@dataclass(frozen=True, eq=False)
class Node:
    """An operation on the values of others; `data` are the numbers of constants, polynomials and tables."""

    opcode: int
    parts: tuple[Node, ...] = ()
    data: Any = None

    def values(self, x: Array) -> Array:
        """Values at the points x; NaN where there is none."""
        if x.size > AT_ONCE:
            blocks = [self.values(x[first : first + AT_ONCE]) for first in range(0, x.size, AT_ONCE)]
            return np.concatenate(blocks)
        stack: list[Array] = []  # of what is constant one number
        for node in self.all:
            first = len(stack) - len(node.parts)
            stack[first:] = [node._values(x, stack[first:])]
        found = stack[0]
        return found if found.shape == x.shape else np.full(x.shape, found)

    def _values(self, x: Array, given: list[Array]) -> Array:
        code = self.opcode
        if code == ops.CONSTANT:
            number: Array = self.data
            return number
        if code == ops.VARIABLE:
            return x
        if code in _ONE:
            return _ONE[code](given[0])
        if code in _TWO:
            if code == ops.POWER and self.parts[1].opcode == ops.CONSTANT:
                return np.power(given[0], self.parts[1].data)  # NumPy knows squares and roots
            return _TWO[code](*given)
        if code in _COMPARED:
            return np.asarray(_COMPARED[code](*given), float)
        if code == IF:
            return np.where(given[0] != 0.0, given[1], given[2])
        if code == ops.STEP:
            t, t0, h0, t1, h1 = given
            s = np.clip((t - t0) / (t1 - t0), 0.0, 1.0)
            return h0 + (h1 - h0) * s * s * (3.0 - 2.0 * s)
        if code == ops.POLYNOMIAL:
            return np.polynomial.polynomial.polyval(given[0], self.data)
        breaks, pieces = self.data
        piece = np.searchsorted(breaks, given[0], side="right")
        u = given[0] - breaks[np.maximum(piece - 1, 0)]
        c = pieces[piece].T
        return c[0] + u * (c[1] + u * (c[2] + u * c[3]))

    @cached_property
    def least(self) -> float:
        """A number that no value is below, by what is never negative; minus infinity where nothing tells."""
        code, known = self.opcode, [part.least for part in self.parts]
        if code == ops.CONSTANT:
            return float(self.data)
        if code == ops.COSH:
            return 1.0
        if code in _LEAST:
            return _LEAST[code](known)
        if code in (ops.MULTIPLY, ops.DIVIDE) and min(known) >= 0.0:
            return known[0] * known[1] if code == ops.MULTIPLY else 0.0
        square = code == ops.POWER and self.parts[1].opcode == ops.CONSTANT and float(self.parts[1].data) % 2.0 == 0.0
        return 0.0 if square or code in (ops.ABS, ops.EXP, ops.SQRT) else -math.inf

    @cached_property
    def degree(self) -> tuple[float, bool]:
        """Degree of a polynomial, or number of factors of a product with sines; and whether it has no sines.

        Pieces count as what they are in between. Infinite for what may hide something short.
        """
        code, shapes = self.opcode, [part.degree for part in self.parts]
        degrees, plain = [d for d, _ in shapes], all(p for _, p in shapes)
        if code == ops.VARIABLE:
            return 1.0, True
        if code in (ops.CONSTANT, ops.SIGN) or code in _COMPARED:
            return 0.0, True
        if code == IF:
            return max(degrees[1:]), shapes[1][1] and shapes[2][1]
        if code in (ops.NEGATE, ops.ABS, ops.ADD, ops.SUBTRACT, ops.MINIMUM, ops.MAXIMUM):
            return max(degrees), plain
        if not any(degrees):
            return 0.0, True
        if code == ops.MULTIPLY:
            return sum(degrees), plain
        if code == ops.DIVIDE and degrees[1] == 0.0:
            return degrees[0], plain
        if code == ops.POWER and self.parts[1].opcode == ops.CONSTANT:
            exponent = float(self.parts[1].data)
            if exponent >= 0.0 and exponent == int(exponent):
                return degrees[0] * exponent, plain
        if code in (ops.SIN, ops.COS) and plain and degrees[0] <= 1.0:
            return 2.0, False
        if code == ops.STEP and not any(degrees[1:]):
            return 3.0 * degrees[0], plain
        if code == ops.POLYNOMIAL:
            return degrees[0] * (len(self.data) - 1), plain
        return math.inf, False

    @cached_property
    def all(self) -> tuple[Node, ...]:
        """All nodes, parts first."""
        found, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += node.parts
        return tuple(found[::-1])

    def switches(self) -> Iterator[Node]:
        """What changes sign where this node, apart from its parts, may jump or have a kink."""
        code, parts = self.opcode, self.parts
        if code in _COMPARED or code in (ops.MINIMUM, ops.MAXIMUM):
            yield Node(ops.SUBTRACT, parts)
        elif code in (ops.ABS, ops.SIGN, ops.ATAN2, ops.SQRT):
            yield parts[0]
        elif code in (ops.ASIN, ops.ACOS) and parts[0].opcode in (ops.SIN, ops.COS):  # a wave of straight lines
            yield Node(ops.COS if parts[0].opcode == ops.SIN else ops.SIN, parts[0].parts)
        elif code == ops.STEP:
            yield Node(ops.SUBTRACT, (parts[0], parts[1]))
            yield Node(ops.SUBTRACT, (parts[0], parts[3]))
        elif code == IF and parts[0].opcode not in _COMPARED:
            yield parts[0]

    def switching(self) -> bool:
        """Whether the value, or a part of it, may jump or have a kink."""
        return any(True for node in self.all for _ in node.switches())

    def rate(self) -> float:
        """Largest factor of the variable in a linear argument of a sine, cosine or tangent."""
        rates = [0.0]
        for node in self.all:
            if node.opcode in (ops.SIN, ops.COS, ops.TAN) and node.parts[0].degree == (1.0, True):
                a, b = node.parts[0].values(np.array([0.0, 1.0]))
                rates.append(abs(b - a))
        return float(max(rates))

    @cached_property
    def fastest(self) -> float:
        """Largest angular frequency: that of sines of linear arguments; factors of a product add theirs.

        High powers of a sine are pulses rather than waves: those are looked at.
        """
        rates = [part.fastest for part in self.parts]
        if self.opcode in (ops.SIN, ops.COS, ops.TAN) and self.parts[0].degree == (1.0, True):
            a, b = self.parts[0].values(np.array([0.0, 1.0]))
            return float(abs(b - a))
        if self.opcode == ops.MULTIPLY:
            return sum(rates)
        if self.opcode == ops.POWER and self.parts[1].opcode == ops.CONSTANT:
            return rates[0] * min(max(1.0, abs(float(self.parts[1].data))), PLAIN_DEGREE)
        return max(rates, default=0.0)


def landmarks(root: Node, low: float, high: float) -> Array:
    """Where something may be shorter than samples show: peaks of exponents, zeros of what `tanh` is taken of.

    There the argument tells of a feature that the value hides: exp(-((t - 3)/1e-6)**2) is zero at all samples.
    """
    search, peaks = Search(root, low, high), []
    with np.errstate(all="ignore"):
        for argument, sign in _telling(root):
            if sign == 0.0:
                search.add(argument)
            else:
                peaks.append(_peaks(argument, low, high, sign))
    found = np.unique(np.concatenate([np.array(search.found), *peaks]))
    found = found[(found > low) & (found < high)]
    return found if len(found) <= MOST_LANDMARKS else np.zeros(0)


def spread(root: Node, places: Array) -> Array:
    """How far around landmarks something happens: until an exponent or an argument of `tanh` changed by one.

    Until a denominator doubled, too. A row for each such argument, a column for each place; zero if nothing is near.
    """
    offsets = np.logspace(-12.0, 6.0, 73)
    telling = list(_telling(root))
    widths = np.zeros((len(telling), len(places)))
    with np.errstate(all="ignore"):
        for row, (argument, sign) in zip(widths, telling, strict=True):
            for k, place in enumerate(places.tolist()):
                at = float(argument.values(np.array([place]))[0])
                change = np.abs(argument.values(place + offsets) - at)
                reached = offsets[change >= (abs(at) if sign < 0.0 else 1.0)]
                row[k] = float(reached[0]) if len(reached) else 0.0
    return widths


def _telling(root: Node) -> Iterator[tuple[Node, float]]:
    """Arguments that tell of short features: by zeros (0), maxima (1) or minima (-1)."""
    for node in root.all:
        if node.opcode in (ops.TANH, ops.ATAN, ops.COSH, ops.SINH):
            yield node.parts[0], 0.0
        elif node.opcode == ops.EXP:
            yield node.parts[0], 1.0
        elif node.opcode == ops.DIVIDE and node.parts[1].degree[0] > 0.0:
            yield Node(ops.ABS, node.parts[1:]), -1.0


def _peaks(argument: Node, low: float, high: float, sign: float) -> Array:
    """Inner maxima of an argument, or with the sign -1 its minima."""
    degree, plain = argument.degree
    if degree <= 2.0 and plain and not argument.switching():
        return _vertex(argument, low, high, sign)
    x = np.linspace(low, high, SAMPLES // 10 + 1)
    y = sign * np.nan_to_num(argument.values(x))
    k = np.flatnonzero((y[1:-1] >= y[:-2]) & (y[1:-1] > y[2:])) + 1
    if not len(k) or len(k) > MOST_LANDMARKS:
        return np.zeros(0)
    return lowest(argument, -sign, x[k - 1], x[k + 1])


def _vertex(parabola: Node, low: float, high: float, sign: float) -> Array:
    """The inner maximum of a parabola, or with the sign -1 its minimum, from three of its values."""
    half = 0.5 * (high - low)
    left, middle, right = sign * parabola.values(np.array([low, low + half, high]))
    bend = left - 2.0 * middle + right
    return np.array([low + half + 0.5 * half * (left - right) / bend]) if bend < 0.0 else np.zeros(0)


def lowest(node: Node, factor: Array | float, a: Array, b: Array) -> Array:
    """The places between a and b where factor times the value is least, by ever smaller sections."""
    columns = np.arange(len(a))
    for _ in range(SECTIONS):
        x = a + (b - a) * PARTS
        y = factor * node.values(x.ravel()).reshape(x.shape)
        k = np.argmin(np.where(np.isnan(y), np.inf, y), axis=0)
        a, b = x[np.maximum(k - 1, 0), columns], x[np.minimum(k + 1, len(x) - 1), columns]
    return 0.5 * (a + b)


def switches_too_often(root: Node, low: float, high: float, most: int = MOST_PERIODS) -> bool:
    """Whether a wave makes an expression switch more often in an interval than is looked for: in more periods."""
    search = Search(root, low, high)
    waving = (s for node in root.all for s in node.switches() if s.degree not in ((0.0, True), (1.0, True)))
    return any(search.periods(switch) > most for switch in waving)


@lru_cache(maxsize=256)
def tree(program: Program) -> Node:
    """The tree of a program of one variable."""
    code, constants = program.lists
    with np.errstate(all="ignore"):
        root = _parsed(code, constants, 0, len(code) // 2)[-1]
        for node in root.all:  # parts first: a sum of a thousand terms is as many nodes deep
            _ = node.degree, node.least, node.fastest
    return root


def _parsed(code: list[int], constants: list[float], first: int, end: int) -> list[Node]:
    """The stack after the instructions from `first` to `end`."""
    stack: list[Node] = []
    k = first
    while k < end:
        opcode, operand = code[2 * k], code[2 * k + 1]
        k += 1
        if opcode == ops.JUMP_IF_ZERO:  # a jump to the end stands before the other branch
            after = code[2 * operand - 1]
            branches = (_parsed(code, constants, k, operand - 1)[-1], _parsed(code, constants, operand, after)[-1])
            stack.append(Node(IF, (stack.pop(), *branches)))
            k = after
        elif opcode == ops.CONSTANT:
            stack.append(Node(opcode, (), np.float64(constants[operand])))
        elif opcode == ops.VARIABLE:
            stack.append(Node(opcode))
        elif opcode in (ops.POLYNOMIAL, ops.PIECEWISE):
            count, start = int(constants[operand]), operand + 1
            data: Any = np.array(constants[start : start + count])
            if opcode == ops.PIECEWISE:
                pieces = np.array(constants[start + count : start + 5 * count + 4])
                data = (data, pieces.reshape(count + 1, 4))
            stack.append(Node(opcode, (stack.pop(),), data))
        else:
            arity = 1 if opcode in _ONE else 5 if opcode == ops.STEP else 2
            stack, parts = stack[:-arity], stack[-arity:]
            node = Node(opcode, tuple(parts))
            if all(part.opcode == ops.CONSTANT for part in parts):
                node = Node(ops.CONSTANT, (), np.float64(node.values(np.zeros(1))[0]))
            stack.append(node)
    return stack


# ---- Where an expression switches ---------------------------------------------------------------------------------


@dataclass
class Search:
    """Zeros, in an interval, of everything by which an expression switches."""

    root: Node
    low: float
    high: float
    found: list[float] = field(default_factory=list)

    def run(self) -> Array:
        """All of them, in order; a place may be there twice, a few roundings apart."""
        with np.errstate(all="ignore"):
            for node in self.root.all:
                for switch in node.switches():
                    self.add(switch)
        return np.unique([x for x in self.found if self.low <= x <= self.high])

    def add(self, switch: Node) -> None:
        degree, plain = switch.degree
        if degree == 0.0 and plain:
            return  # it jumps where its parts switch, and nowhere else
        if degree == 1.0 and plain:
            self.add_lines(switch)
            return
        if self.periods(switch) > MOST_PERIODS:
            return  # as `switches_too_often` tells
        x = self.grid(switch)
        x, sign = self.with_dips(switch, x, switch.values(x))
        change = np.flatnonzero(sign[1:] != sign[:-1])
        if len(change):
            signs = sign[change], sign[change + 1]
            near = self.by_chords(switch, x[change], x[change + 1], *signs)
            self.found += self.narrowed(switch, *near, *signs).tolist()

    def add_lines(self, switch: Node) -> None:
        """Zeros of what consists of straight lines, to the last digit: between places where its parts switch."""
        slack = 1e-9 * (self.high - self.low)
        edges = np.array([self.low - slack, self.high + slack])
        if switch.switching():
            edges = np.union1d(edges, self.beside(self.inner()))
        y = switch.values(edges)
        sign = self.signs(y)
        for k in np.flatnonzero(sign[1:] != sign[:-1]).tolist():
            a, b = edges[k : k + 2]
            at = a - y[k] * (b - a) / (y[k + 1] - y[k])
            for near in (16.0 * np.spacing(max(abs(a), abs(b))), slack, b - a):
                x = np.array([max(a, at - near), min(b, at + near)])
                before, after = self.sign(switch, x)
                if before == sign[k] and after == sign[k + 1]:
                    self.found += self.narrowed(switch, x[:1], x[1:], sign[k : k + 1], sign[k + 1 : k + 2]).tolist()
                    break

    def inner(self) -> Array:
        """What was found inside the interval."""
        return np.array([place for place in self.found if self.low <= place <= self.high])

    @staticmethod
    def beside(places: Array) -> Array:
        """Places and their next neighbours on both sides."""
        return np.concatenate([places, np.nextafter(places, -np.inf), np.nextafter(places, np.inf)])

    def grid(self, switch: Node) -> Array:
        """Points between which a switch has one zero at most: many, and all places where its parts switch."""
        samples = SAMPLES if switch.degree[0] > PLAIN_DEGREE else PLAIN_SAMPLES
        n = max(samples, int(PER_PERIOD * self.periods(switch)))
        x = np.linspace(self.low, self.high, n + 1)
        inner = self.inner()
        return np.union1d(x, self.beside(inner)) if len(inner) else x

    def periods(self, switch: Node) -> float:
        """Of the fastest wave in a switch."""
        return switch.rate() * (self.high - self.low) / (2.0 * np.pi)

    @staticmethod
    def signs(values: Array) -> Array:
        """Signs of values, of which those that are none have the sign 0."""
        found = np.sign(values)
        found[found != found] = 0.0  # what is not equal to itself is not a number
        return found

    def sign(self, switch: Node, x: Array) -> Array:
        return self.signs(switch.values(x))

    def with_dips(self, switch: Node, x: Array, values: Array) -> tuple[Array, Array]:
        """The grid with those minima of |g| between its points where g may pass zero twice, and the signs there."""
        g, sign = np.abs(values), self.signs(values)
        left, middle, right = g[:-2], g[1:-1], g[2:]
        same = (sign[:-2] == sign[1:-1]) & (sign[1:-1] == sign[2:])
        dips = np.flatnonzero(same & (middle <= left) & (middle <= right))
        left, middle, right = left[dips], middle[dips], right[dips]
        bend = left - 2.0 * middle + right
        bottom = middle - (right - left) ** 2 / (8.0 * np.where(bend > 0.0, bend, np.inf))
        dips = dips[(bend > 0.0) & (bottom < 0.1 * middle)]
        if not len(dips) or len(dips) > MOST_DIPS:
            return x, sign
        side = sign[dips + 1]
        lows = lowest(switch, side, x[dips], x[dips + 2])
        x = np.unique(np.concatenate([x, lows[self.sign(switch, lows) != side]]))
        return x, self.sign(switch, x)

    def narrowed(self, switch: Node, a: Array, b: Array, at_a: Array, at_b: Array) -> Array:
        """Where the sign changes between a and b: the point at which it is zero, or the first after the change.

        Parts are cut until no number is left between, or what is left is rounding.
        """
        columns = np.arange(len(a))
        rounding = NEGLIGIBLE * (self.high - self.low)
        for _ in range(NARROWINGS):
            x = a + (b - a) * PARTS
            x[-1] = b
            inside = (x > a) & (x < b) & (b - a > rounding)
            if not inside.any():
                break
            other = self.sign(switch, x.ravel()).reshape(x.shape)
            changed = np.where(inside, other != at_a, x == b)
            k = np.argmax(changed, axis=0)
            a, b, at_b = x[k - 1, columns], x[k, columns], np.where(inside[k, columns], other[k, columns], at_b)
        return np.where((at_a == 0.0) & (at_b != 0.0), a, b)

    def by_chords(self, switch: Node, a: Array, b: Array, at_a: Array, at_b: Array) -> tuple[Array, Array]:
        """Narrower a and b with the same signs: both sides of where chords pass zero, if the signs agree there."""
        for _ in range(CHORDS):
            left, right = switch.values(np.concatenate([a, b])).reshape(2, -1)
            part = np.nan_to_num(left / (left - right), nan=0.5, posinf=0.5, neginf=0.5)
            guess = a + (b - a) * np.clip(part, 0.0, 1.0)
            tried = np.array([np.maximum(a, guess - NARROWER * (b - a)), np.minimum(b, guess + NARROWER * (b - a))])
            before, after = self.sign(switch, tried.ravel()).reshape(2, -1)
            a, b = np.where(before == at_a, tried[0], a), np.where(after == at_b, tried[1], b)
        return a, b
