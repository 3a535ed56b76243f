"""Scalar functions of time or of other variables: expressions, tables, polynomials, Python callables.

Every `Function` that is not a Python callable is a program for the interpreter in `mbframe.kernels.programs`: it
runs inside compiled loops and has exact first and second derivatives.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, Problem
from .expressions import Program, checked_variables, compiled, compiled_with_signals, label, refuse
from .kernels.programs import expressions as ops
from .kernels.programs.expressions import bend as bend
from .kernels.programs.expressions import components as components
from .kernels.programs.expressions import evaluate as evaluate
from .kernels.programs.expressions import given as given
from .kernels.programs.expressions import integral as integral
from .kernels.programs.expressions import slope as slope
from .kernels.programs.expressions import watch as watch

ROW_FORMAT: Final = ops.PROGRAM_FIELDS
"""How an element's table row holds a function."""
PARTS: Final = 2000
"""Into which an interval is cut to look for jumps."""
STEEPEST: Final = 20
"""How many of these parts are looked at."""
SAME: Final = 1e-14
"""Part of an interval by which rounding may split a place where a function switches."""
INTERPOLATIONS: Final = ("monotone", "spline")
"""How a table goes from point to point."""
NO_ROW: Final = (0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0)
"""What the row holds where there is none."""

_Scalar = Callable[[float], float]


class Function:
    """A scalar function with exact first and second derivatives.

    Parameters
    ----------
    definition
        An expression such as ``"2*pi*t + 0.1*sin(5*t)"``, a number for a constant, or a Python callable.
    variables
        Names of the arguments, in the order of a call.
    derivatives
        Only for a callable of one variable: its first and second derivative. Without them, derivatives of a callable
        are extrapolated differences (about 1e-10 and 1e-8 relative for smooth functions).
    breakpoints
        Only for a callable or an expression of one variable: where its value or slope jumps. Adaptive integrators end a
        step there. Expressions and tables know such places themselves; callables are sampled before a run.

    Notes
    -----
    Expressions have numbers, the variables, ``pi``, ``e``, ``+ - * / **``, comparisons (1 if they hold, else 0),
    ``if(condition, a, b)``, ``sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt abs sign min max`` and
    ``step(t, t0, h0, t1, h1)``: h0 before t0, h1 after t1, and h0 + (h1 - h0) s² (3 - 2 s) with s = (t - t0)/(t1 - t0)
    between. Only the branch that ``if`` chooses is evaluated. A kink has the derivative of one of its sides.
    A value or derivative that is not finite is an error. A `Function` does not change.

    Examples
    --------
    >>> f = Function("sin(2*t)")
    >>> f(0.0), f.derivative(0.0), f.second_derivative(0.0)
    (0.0, 2.0, 0.0)
    """

    variables: tuple[str, ...]
    signals: tuple[str, ...] = ()
    """Inputs and outputs of controllers that an expression of time names beside its variables; see `with_signals`."""
    kind: str
    """``"constant"``, ``"expression"``, ``"table"``, ``"piecewise_linear"``, ``"polynomial"`` or ``"callable"``."""
    _breakpoints: tuple[float, ...]
    interpolation: str
    """Of a table: ``"monotone"`` or ``"spline"``; otherwise empty."""
    program: Program | None
    """What the interpreter runs; None for a Python callable."""

    def __init__(
        self,
        definition: float | str | Callable[..., float],
        variables: Sequence[str] = ("t",),
        derivatives: tuple[_Scalar, _Scalar] | None = None,
        breakpoints: ArrayLike = (),
    ) -> None:
        if isinstance(definition, str):
            self._set("expression", definition, variables)
        elif isinstance(definition, Real) and not isinstance(definition, bool):
            self._set("constant", float(definition), variables)
        elif callable(definition) and not isinstance(definition, Function):
            self._set("callable", definition, variables, derivatives)
        else:
            refuse("Function", f"found {definition!r}; allowed are an expression, a number or a Python callable")
        if derivatives is not None and (self.kind != "callable" or len(self.variables) != 1):
            refuse(
                self._label, "derivatives= is for a callable of one variable; leave it out: others are differentiated"
            )
        if np.size(breakpoints):
            self._breakpoints = self._checked_breakpoints(breakpoints)

    def _checked_breakpoints(self, places: ArrayLike) -> tuple[float, ...]:
        if self.kind == "constant" or len(self.variables) != 1:
            refuse(self._label, "breakpoints= is for a callable or an expression of one variable; leave it out")
        problems: list[Problem] = []
        numbers = _numbers(places, "breakpoints", self._label, 1, problems)
        if problems:
            raise ModelError(problems)
        return tuple(sorted(set(numbers)))

    def _set(
        self,
        kind: str,
        data: Any,
        variables: Sequence[str],
        derivatives: tuple[_Scalar, _Scalar] | None = None,
        interpolation: str = "",
        program: Program | None = None,
    ) -> None:
        """Take a definition; `program` is the one that it stands for, if that is known already."""
        self.kind = kind
        self._data = data
        self.variables = checked_variables(variables) if program is None else tuple(variables)
        self._derivatives = derivatives
        self._breakpoints = ()
        self.interpolation = interpolation
        if program is None and kind != "callable":
            program = _PROGRAMS[interpolation or kind](data, self.variables)
        self.program = program
        if self.program is not None and not self.program.varies:
            # A constant is checked here and not first in the middle of a simulation.
            self._at((0.0,) * len(self.variables), -1, 0)

    @classmethod
    def _from_data(cls, kind: str, data: Any, variables: Sequence[str], interpolation: str = "") -> Function:
        self = cls.__new__(cls)
        self._set(kind, data, variables, interpolation=interpolation)
        return self

    @classmethod
    def with_signals(cls, text: str, variables: Sequence[str] = ("t",)) -> Function:
        """An expression that may name inputs and outputs of controllers, such as "2*push + 0.1*t"; see `mb.Input`.

        Other names than those of the variables, constants and functions are taken for such. It has values once these
        are known, in a system; `bound` gives the function for some.
        """
        return cls._known(text, ("t",) if variables == ("t",) else checked_variables(variables))

    @classmethod
    @lru_cache(maxsize=128)  # models have the same few expressions, such as "0", again and again
    def _known(cls, text: str, variables: tuple[str, ...]) -> Function:
        self = cls.__new__(cls)
        program, signals = compiled_with_signals(text, variables)
        self._set("expression", text, variables, program=program)
        if signals:
            self.signals = signals
        return self

    def bound(self, values: Mapping[str, float]) -> Function:
        """This function for some values of its signals; itself if it names none."""
        if not self.signals:
            return self
        assert self.program is not None
        first, code = len(self.program.constants), self.program.code.copy()
        named = (code[::2] == ops.VARIABLE) & (code[1::2] >= len(self.variables))
        code[1::2][named] += first - len(self.variables)
        code[::2][named] = ops.CONSTANT
        constants = np.append(self.program.constants, [values[name] for name in self.signals])
        other = Function.__new__(Function)
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("cuts", None)
        varies = ops.VARIABLE in code[::2]
        other.signals, other.program = (), Program(code, constants, self.program.positions, varies)
        return other

    def renamed(self, names: Mapping[str, str]) -> Function:
        """This function with other names for its signals."""
        if not self.signals:
            return self
        text = re.sub(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", lambda found: names.get(found[0], found[0]), self._data)
        return Function.with_signals(text, self.variables)

    @property
    def plain(self) -> bool:
        """Whether an expression has sums and products only: nothing happens in it that steps would have to heed."""
        return self.kind != "expression" or re.search(r"\w\s*\(|[<>=/]|\*\*", self._data) is None

    @classmethod
    def table(cls, x: ArrayLike, y: ArrayLike, variable: str = "t", interpolation: str = "monotone") -> Function:
        """Smooth curve through the points (x, y), of cubics between them.

        ``"monotone"`` keeps the shape of the points: between two of them it only rises or only falls, so that it never
        leaves their range, and outside it holds the end values [FritschButland1984]. Its slope is continuous between
        the points; its curvature jumps at them.

        ``"spline"`` is the natural cubic spline, continued by its end tangents: value, slope and curvature are
        continuous everywhere, as a `Driver` needs it, but it swings beyond the points beside a steep rise, and its
        tangents leave their range.
        """
        points = _points(x, y, "Function.table")
        if interpolation not in INTERPOLATIONS:
            allowed = f"allowed are {' and '.join(map(repr, INTERPOLATIONS))}; choose one of them"
            raise ModelError([Problem("Function.table", "interpolation", f"found {interpolation!r}; {allowed}")])
        return cls._from_data("table", points, (variable,), interpolation)

    @classmethod
    def piecewise_linear(cls, x: ArrayLike, y: ArrayLike, variable: str = "t") -> Function:
        """Straight lines through the points (x, y); the first and the last line continue outside.

        At a point the derivative is that of the line to its right. To hold an end value, add a point at its height.
        """
        return cls._from_data("piecewise_linear", _points(x, y, "Function.piecewise_linear"), (variable,))

    @classmethod
    def polynomial(cls, coefficients: ArrayLike, variable: str = "t") -> Function:
        """c0 + c1 t + c2 t² + ..., coefficients in ascending order."""
        problems: list[Problem] = []
        c = _numbers(coefficients, "coefficients", "Function.polynomial", 1, problems)
        if problems:
            raise ModelError(problems)
        return cls._from_data("polynomial", c, (variable,))

    @classmethod
    def from_source(cls, source: Any) -> Function:
        """The function that `source` describes; a table that does not say its interpolation is a spline."""
        if isinstance(source, dict):
            variables = source.get("variables", ["t"])
            data = {key: value for key, value in source.items() if key != "variables"}
            interpolation, breakpoints = data.pop("interpolation", None), data.pop("breakpoints", None)
            if len(data) == 1 and isinstance(variables, list) and variables:
                ((kind, content),) = data.items()
                points = content if isinstance(content, list) and len(content) == 2 else []
                if kind == "expression" and interpolation is None:
                    return cls(content, variables, breakpoints=() if breakpoints is None else breakpoints)
                if kind == "table" and points and breakpoints is None:
                    chosen = "spline" if interpolation is None else interpolation
                    return cls.table(points[0], points[1], variables[0], chosen)
                if interpolation is None and breakpoints is None:
                    if kind == "constant":
                        return cls(content, variables)
                    if kind == "polynomial":
                        return cls.polynomial(content, variables[0])
                    if kind == "piecewise_linear" and points:
                        return cls.piecewise_linear(points[0], points[1], variables[0])
        elif isinstance(source, str | float | int):
            return cls(source)
        refuse(
            "Function",
            f"found the source {source!r}; allowed are a number, an expression, or one of expression, constant, table, "
            "piecewise_linear, polynomial with its data and the list of variables, a table with its interpolation and "
            "an expression with its breakpoints",
        )

    @property
    def source(self) -> Any:
        """What `from_source` needs, in numbers, text, lists and dictionaries; None for a Python callable."""
        if self.kind == "callable":
            return None
        if self.kind in ("constant", "expression") and self.variables == ("t",) and not self._breakpoints:
            return self._data
        data = [list(part) for part in self._data] if self.kind in ("table", "piecewise_linear") else self._data
        more: dict[str, Any] = {"breakpoints": list(self._breakpoints)} if self._breakpoints else {}
        if self.interpolation:
            more["interpolation"] = self.interpolation
        return {self.kind: list(data) if self.kind == "polynomial" else data, **more, "variables": list(self.variables)}

    @property
    def row(self) -> tuple[int, int, int, int, int, float, float, float, float, int, int]:
        """Content of a table row in `ROW_FORMAT`; valid while this function is kept.

        Who makes the table puts the address of the interpreter into the field `run`. Zeros for what has no place there:
        a Python callable and a function of several variables.
        """
        if self.program is None or len(self.variables) > 1:
            return NO_ROW
        code, constants = self.program.code, self.program.constants
        places = (self.cuts.ctypes.data, self.cuts.size)
        return (code.ctypes.data, code.size, constants.ctypes.data, constants.size, 0, 0.0, 0.0, 0.0, 0.0, *places)

    @cached_property
    def cuts(self) -> NDArray[np.float64]:
        """Where an integral over the variable is cut: breakpoints, and places around what is narrow; none for time."""
        if self.variables == ("t",) or len(self.variables) > 1 or self.kind in ("constant", "polynomial"):
            return np.zeros(0)
        from .features import cuts

        return cuts(self)

    def __call__(self, *values: ArrayLike) -> Any:
        """The value: a number, or an array if an argument is an array."""
        if self.signals:
            names = ", ".join(self.signals)
            refuse(self._label, f"names {names}, whose values belong to a system; give them with bound({{...}})")
        return self._map(values, -1, 0)

    def derivative(self, *values: ArrayLike, variable: str | None = None) -> Any:
        """First derivative with respect to `variable` (default: the first)."""
        return self._map(values, self._index(variable), 1)

    def second_derivative(self, *values: ArrayLike, variable: str | None = None) -> Any:
        """Second derivative with respect to `variable` (default: the first)."""
        return self._map(values, self._index(variable), 2)

    def _index(self, variable: str | None) -> int:
        if variable is None:
            return 0
        if variable not in self.variables:
            raise ValueError(f"{self._label} has the variables {', '.join(self.variables)}, not {variable!r}")
        return self.variables.index(variable)

    def _map(self, values: tuple[ArrayLike, ...], which: int, order: int) -> Any:
        if len(values) != len(self.variables):
            raise TypeError(f"{self._label} takes {', '.join(self.variables)}; {len(values)} arguments were given")
        if all(np.ndim(value) == 0 for value in values):
            return self._at(tuple(float(value) for value in values), which, order)  # type: ignore[arg-type]
        grid = np.broadcast(*values)
        return np.array([self._at(tuple(map(float, point)), which, order) for point in grid]).reshape(grid.shape)

    def _at(self, point: tuple[float, ...], which: int, order: int) -> float:
        if self.program is None:
            result = self._call(point, which, order)
            reason = ""
        else:
            status, results = self.program.run(point, which)
            result = results[order] if status == 0 else math.nan
            reason = self.program.reason(status)
        if not math.isfinite(result):
            what = ("value", "first derivative", "second derivative")[order]
            at = ", ".join(f"{name} = {value!r}" for name, value in zip(self.variables, point, strict=True))
            refuse(
                self._label, f"the {what} at {at} is not finite{reason}; change the function or keep away from there"
            )
        return result

    def _call(self, point: tuple[float, ...], which: int, order: int) -> float:
        if order == 0:
            return float(self._data(*point))
        if self._derivatives is not None:
            return float(self._derivatives[order - 1](*point))

        def line(x: float) -> float:
            return float(self._data(*point[:which], x, *point[which + 1 :]))

        return _extrapolated_difference(line, point[which], order)

    @property
    def python(self) -> Callable[..., float] | None:
        """The Python callable, of a function that is one."""
        return self._data if self.kind == "callable" else None

    def breakpoints(self, low: float, high: float) -> NDArray[np.float64]:
        """Where, from `low` to `high`, the value or the slope may jump: in order, each place once.

        Expressions switch where what is compared is equal, and at zeros of what `abs` and `sign` are taken of; tables
        at their points; a callable where `breakpoints=` says so. More may be there: those of other kinds are not known.
        """
        if len(self.variables) != 1:
            raise ValueError(f"{self._label} has the variables {', '.join(self.variables)}; breakpoints need one")
        places = np.array(self._breakpoints)
        if self.kind in ("table", "piecewise_linear"):
            places = np.array(self._data[0])
        elif self.kind == "expression" and self.program is not None:
            from .expression_trees import Search, tree

            places = np.concatenate([places, Search(tree(self.program), float(low), float(high)).run()])
        places = np.sort(places[(places >= low) & (places <= high)])
        if len(places) < 2:
            return places
        # Of several that differ by roundings, the one of the fewest digits was meant.
        apart = np.flatnonzero(np.diff(places) > SAME * (high - low)) + 1
        if len(apart) == len(places) - 1:
            return places
        groups = np.split(places, apart)
        return np.array([min(group.tolist(), key=lambda x: len(repr(x))) for group in groups])

    @property
    def has_two_derivatives(self) -> bool:
        """Of a table: whether its slope and its curvature are continuous everywhere, as those of a spline are."""
        if self.interpolation != "monotone" or self.program is None:
            return self.interpolation == "spline"
        n = len(self._data[0])
        pieces = self.program.constants[1 + n :].reshape(n + 1, 4)
        back = np.concatenate([[0.0], np.diff(self._data[0])])  # a piece counts from where it begins
        left, right = pieces[:-1], pieces[1:]
        slopes = left[:, 1] + back * (2.0 * left[:, 2] + 3.0 * back * left[:, 3])
        bends = left[:, 2] + 3.0 * back * left[:, 3]
        gaps = np.abs(slopes - right[:, 1]).max(), np.abs(bends - right[:, 2]).max()
        sizes = np.abs(pieces[:, 1]).max(), np.abs(pieces[:, 2]).max()
        return bool(gaps[0] <= 1e-9 * sizes[0] and gaps[1] <= 1e-9 * sizes[1])

    @property
    def bent(self) -> bool:
        """Whether its value or its slope may jump somewhere; of Python callables that is not known, and taken as no."""
        if self.kind == "expression":
            return re.search(r"\b(if|sign|abs|min|max)\b|[<>]", self._data) is not None
        return self.kind == "piecewise_linear"

    @property
    def _label(self) -> str:
        if self.kind == "callable":
            return f"Function {getattr(self._data, '__name__', self._data)!r}"
        return label(self._data) if self.kind == "expression" else f"Function.{self.kind}"

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Function) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        if self.program is None:
            return (self.variables, self._data, self._derivatives, self._breakpoints)
        content = (self.program.code.tobytes(), self.program.constants.tobytes())
        return (self.variables, self.signals, *content, self._breakpoints)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.program is None:
            return Function, (self._data, self.variables, self._derivatives, self._breakpoints)
        return (
            (Function.with_signals, (self._data, self.variables))
            if self.signals
            else (Function.from_source, (self.source,))
        )

    def __repr__(self) -> str:
        variables = "" if self.variables == ("t",) else f", variables={self.variables!r}"
        if self.signals:
            return f"Function.with_signals({self._data!r}{variables})"
        if self.kind in ("constant", "expression", "callable"):
            breakpoints = f", breakpoints={list(self._breakpoints)!r}" if self._breakpoints else ""
            return f"Function({self._data!r}{variables}{breakpoints})"
        variable = "" if self.variables == ("t",) else f", {self.variables[0]!r}"
        if self.kind == "polynomial":
            return f"Function.polynomial({list(self._data)!r}{variable})"
        x, y = self._data
        points = f"{list(x)!r}, {list(y)!r}" if len(x) <= 8 else f"<{len(x)} points from {x[0]!r} to {x[-1]!r}>"
        interpolation = ", interpolation='spline'" if self.interpolation == "spline" else ""
        return f"Function.{self.kind}({points}{variable}{interpolation})"


# ---- Checks -------------------------------------------------------------------------------------------------------


def _numbers(values: ArrayLike, field: str, element: str, least: int, problems: list[Problem]) -> tuple[float, ...]:
    """The values as floats; a problem is added unless they are a sequence of at least `least` finite numbers."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0)
    if array.ndim == 1 and array.size >= least and array.dtype.kind in "iuf" and np.all(np.isfinite(array)):
        return tuple(array.astype(float).tolist())
    allowed = f"allowed is a sequence of {least} or more finite numbers"
    problems.append(Problem(element, field, f"found {values!r}; {allowed}"))
    return ()


def _points(x: ArrayLike, y: ArrayLike, element: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    problems: list[Problem] = []
    xs = _numbers(x, "x", element, 2, problems)
    ys = _numbers(y, "y", element, 2, problems)
    array = np.array(xs)
    for k in (np.flatnonzero(array[1:] <= array[:-1])[:1] + 1).tolist():
        message = f"x[{k}] = {xs[k]!r} follows {xs[k - 1]!r}; x must increase strictly: sort the points, drop doubles"
        problems.append(Problem(element, "x", message))
    if xs and ys and len(xs) != len(ys):
        problems.append(Problem(element, "y", f"found {len(ys)} values for {len(xs)} x; give one for each"))
    if problems:
        raise ModelError(problems)
    return xs, ys


# ---- Programs of the kinds of function ----------------------------------------------------------------------------


def _of_constant(value: float, variables: tuple[str, ...]) -> Program:
    return Program.of([ops.CONSTANT, 0], [value])


def _of_expression(text: str, variables: tuple[str, ...]) -> Program:
    return compiled(text, variables)


def _of_polynomial(coefficients: tuple[float, ...], variables: tuple[str, ...]) -> Program:
    return Program.of([ops.VARIABLE, 0, ops.POLYNOMIAL, 0], [len(coefficients), *coefficients])


def _of_monotone(points: tuple[tuple[float, ...], tuple[float, ...]], variables: tuple[str, ...]) -> Program:
    x, y = np.array(points)
    h, rise = np.diff(x), np.diff(y) / np.diff(x)
    d = _monotone_slopes(h, rise)
    second = (3.0 * rise - 2.0 * d[:-1] - d[1:]) / h
    third = (d[:-1] + d[1:] - 2.0 * rise) / h**2
    return _piecewise(x, y, np.column_stack([y[:-1], d[:-1], second, third]), (0.0, 0.0))


def _monotone_slopes(h: NDArray[Any], rise: NDArray[Any]) -> NDArray[Any]:
    """Slopes at the points by which cubics keep the shape of the points: [FritschButland1984].

    In between the weighted harmonic mean of the slopes of the lines on both sides, zero at a peak; at the ends that of
    a parabola through three points, as far as it keeps the shape. Two points lie on a line.
    """
    if len(h) == 1:
        return np.array([rise[0], rise[0]])
    d = np.zeros(len(h) + 1)
    before, after = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    alike = rise[:-1] * rise[1:] > 0.0
    weights = (before / np.where(alike, rise[:-1], 1.0) + after / np.where(alike, rise[1:], 1.0)) / (before + after)
    d[1:-1] = np.where(alike, 1.0 / np.where(alike, weights, 1.0), 0.0)
    for end, (h0, h1, m0, m1) in ((0, (h[0], h[1], rise[0], rise[1])), (-1, (h[-1], h[-2], rise[-1], rise[-2]))):
        slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
        if slope * m0 <= 0.0:
            slope = 0.0
        elif m0 * m1 <= 0.0 and abs(slope) > 3.0 * abs(m0):
            slope = 3.0 * m0
        d[end] = slope
    return d


def _of_spline(points: tuple[tuple[float, ...], tuple[float, ...]], variables: tuple[str, ...]) -> Program:
    from scipy.interpolate import CubicSpline

    x, y = np.array(points)
    spline = CubicSpline(x, y, bc_type="natural")
    return _piecewise(x, y, spline.c[::-1].T, (spline(x[0], 1), spline(x[-1], 1)))


def _of_piecewise_linear(points: tuple[tuple[float, ...], tuple[float, ...]], variables: tuple[str, ...]) -> Program:
    x, y = np.array(points)
    slopes = np.diff(y) / np.diff(x)
    flat = np.zeros_like(slopes)
    return _piecewise(x, y, np.column_stack([y[:-1], slopes, flat, flat]), (slopes[0], slopes[-1]))


def _piecewise(x: NDArray[Any], y: NDArray[Any], pieces: NDArray[Any], end_slopes: tuple[float, float]) -> Program:
    """The program of cubic pieces between the points x, with straight lines of the given slopes outside."""
    before = [y[0], end_slopes[0], 0.0, 0.0]
    after = [y[-1], end_slopes[1], 0.0, 0.0]
    table = np.concatenate([[x.size], x, before, pieces.ravel(), after])
    return Program.of([ops.VARIABLE, 0, ops.PIECEWISE, 0], table)


_PROGRAMS: Final[dict[str, Callable[[Any, tuple[str, ...]], Program]]] = {
    "constant": _of_constant,
    "expression": _of_expression,
    "polynomial": _of_polynomial,
    "monotone": _of_monotone,
    "spline": _of_spline,
    "piecewise_linear": _of_piecewise_linear,
}


# ---- Python callables ---------------------------------------------------------------------------------------------


def _extrapolated_difference(f: _Scalar, x: float, order: int) -> float:
    """First or second derivative of f at x by central differences of halved steps, extrapolated to step zero.

    Richardson's scheme; the entry of the tableau that changes least against its neighbours is taken (Ridders 1982).
    """
    step = 0.01 * max(1.0, abs(x))
    best, best_error = math.nan, math.inf
    previous: list[float] = []
    middle = f(x) if order == 2 else 0.0
    for _ in range(10):
        h = (x + step) - x
        if order == 1:
            row = [(f(x + h) - f(x - h)) / (2.0 * h)]
        else:
            row = [(f(x + h) - 2.0 * middle + f(x - h)) / (h * h)]
        for k, older in enumerate(previous):
            weight = 4.0 ** (k + 1)
            row.append((weight * row[k] - older) / (weight - 1.0))
            error = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - older))
            if error < best_error:
                best, best_error = row[k + 1], error
        previous = row
        step *= 0.5
    return best


# ---- Jumps --------------------------------------------------------------------------------------------------------


def jumps(values: Callable[[NDArray[Any]], NDArray[Any]], low: float, high: float) -> list[float]:
    """Where a function jumps between two places: steep parts are halved, and a jump stays as high as it was.

    `values` gives it at many places at once.
    """
    edges = np.linspace(low, high, PARTS + 1)
    known = values(edges)
    steepest = np.sort(np.argsort(-np.abs(np.diff(known)))[:STEEPEST])
    a, b, at_a, at_b = edges[steepest], edges[steepest + 1], known[steepest], known[steepest + 1]
    rise = np.abs(at_b - at_a)
    while np.any(wide := b - a > 1e-12 * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))):
        middle = 0.5 * (a + b)
        at_middle = values(middle)
        left = np.abs(at_middle - at_a) >= np.abs(at_b - at_middle)
        b, at_b = np.where(wide & left, middle, b), np.where(wide & left, at_middle, at_b)
        a, at_a = np.where(wide & ~left, middle, a), np.where(wide & ~left, at_middle, at_a)
    jumping = (rise > 1e-9 * float(np.abs(known).max())) & (np.abs(at_b - at_a) > 0.5 * rise)
    found: list[float] = []
    for place in b[jumping].tolist():
        if not found or place - found[-1] >= 1e-9 * max(1.0, abs(place)):
            found.append(place)
    return found
