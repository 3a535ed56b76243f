"""Scalar functions of time or of other variables: expressions, tables, polynomials, Python callables.

Every `Function` that is not a Python callable is a program for the interpreter in `mbframe.kernels.expressions`: it
runs inside compiled loops and has exact first and second derivatives. Text is parsed here and never executed as code.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, Problem
from .kernels import expressions as ops
from .kernels.expressions import bend as bend
from .kernels.expressions import components as components
from .kernels.expressions import evaluate as evaluate
from .kernels.expressions import given as given
from .kernels.expressions import integral as integral
from .kernels.expressions import slope as slope

MAX_LENGTH: Final = 10_000
"""Longest expression, in characters."""
MAX_NESTING: Final = 50
"""Deepest nesting of parentheses, signs and powers in an expression."""

ROW_FORMAT: Final = ops.PROGRAM_FIELDS
"""How an element's table row holds a function."""
PARTS: Final = 2000
"""Into which an interval is cut to look for jumps."""
STEEPEST: Final = 20
"""How many of these parts are looked at."""
NO_ROW: Final = (0, 0, 0, 0, 0, 0.0, 0.0, 0.0)
"""What the row holds where there is none."""

_UNARY: Final = {
    "sin": ops.SIN,
    "cos": ops.COS,
    "tan": ops.TAN,
    "asin": ops.ASIN,
    "acos": ops.ACOS,
    "atan": ops.ATAN,
    "sinh": ops.SINH,
    "cosh": ops.COSH,
    "tanh": ops.TANH,
    "exp": ops.EXP,
    "log": ops.LOG,
    "sqrt": ops.SQRT,
    "abs": ops.ABS,
    "sign": ops.SIGN,
}
_FOLDED: Final = {"min": ops.MINIMUM, "max": ops.MAXIMUM}
_FUNCTIONS: Final = (*_UNARY, *_FOLDED, "atan2", "step", "if")
_CONSTANTS: Final = {"pi": math.pi, "e": math.e}

_BINARY: Final = {
    "<": (1, ops.LESS),
    "<=": (1, ops.LESS_EQUAL),
    ">": (1, ops.GREATER),
    ">=": (1, ops.GREATER_EQUAL),
    "==": (1, ops.EQUAL),
    "!=": (1, ops.NOT_EQUAL),
    "+": (2, ops.ADD),
    "-": (2, ops.SUBTRACT),
    "*": (3, ops.MULTIPLY),
    "/": (3, ops.DIVIDE),
    "**": (5, ops.POWER),
}
"""Precedence and opcode. As in Python, a sign binds tighter than * and looser than **: -t**2 = -(t**2)."""
_COMPARISON, _SIGN, _POWER = 1, 4, 5

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operator>\*\*|<=|>=|==|!=|[-+*/<>(),])",
    re.ASCII,
)
_VARIABLE: Final = re.compile(r"[A-Za-z]\w*", re.ASCII)
_HINTS: Final = {
    ".": "an expression has no attributes",
    "'": "an expression has no text",
    '"': "an expression has no text",
    "=": "compare with ==",
    "^": "powers are written **",
    "%": "there is no remainder",
    "[": "there are no lists or indices",
}
_REASONS: Final = {
    ops.DIVIDE: "division by zero or overflow",
    ops.POWER: "the power overflows, divides by zero, or has a negative base and a fractional exponent",
    ops.LOG: "log needs a positive argument",
    ops.SQRT: "sqrt needs an argument that is not negative",
    ops.ASIN: "asin needs an argument between -1 and 1",
    ops.ACOS: "acos needs an argument between -1 and 1",
    ops.STEP: "step(t, t0, h0, t1, h1) needs t0 < t1",
}

_Scalar = Callable[[float], float]


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled function: the arrays `evaluate_program` reads, and where in the text each instruction comes from."""

    code: NDArray[np.int64]
    constants: NDArray[np.float64]
    positions: tuple[int, ...]

    @classmethod
    def of(cls, code: Sequence[int], constants: ArrayLike, positions: Sequence[int] | None = None) -> Program:
        code_array = np.array(code, dtype=np.int64)
        constant_array = np.array(constants, dtype=np.float64)
        code_array.setflags(write=False)
        constant_array.setflags(write=False)
        return cls(code_array, constant_array, tuple(positions or (0,) * (len(code) // 2)))

    @cached_property
    def lists(self) -> tuple[list[int], list[float]]:
        """The arrays as lists: Python's own numbers are faster to interpret and do not warn of overflow."""
        return self.code.tolist(), self.constants.tolist()

    def run(self, point: Sequence[float], which: int) -> tuple[int, tuple[float, float, float]]:
        """Status (see `evaluate_program`) and the value with its two derivatives."""
        code, constants = self.lists
        stack = [[0.0] * ops.STACK_DEPTH for _ in range(ops.STACK_ROWS)]
        status = ops.evaluate_program(code, constants, point, which, stack)
        return status, (stack[0][0], stack[1][0], stack[2][0])


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
    kind: str
    """``"constant"``, ``"expression"``, ``"table"``, ``"piecewise_linear"``, ``"polynomial"`` or ``"callable"``."""
    program: Program | None
    """What the interpreter runs; None for a Python callable."""

    def __init__(
        self,
        definition: float | str | Callable[..., float],
        variables: Sequence[str] = ("t",),
        derivatives: tuple[_Scalar, _Scalar] | None = None,
    ) -> None:
        if isinstance(definition, str):
            self._set("expression", definition, variables)
        elif isinstance(definition, Real) and not isinstance(definition, bool):
            self._set("constant", float(definition), variables)
        elif callable(definition) and not isinstance(definition, Function):
            self._set("callable", definition, variables, derivatives)
        else:
            _refuse("Function", f"found {definition!r}; allowed are an expression, a number or a Python callable")
        if derivatives is not None and (self.kind != "callable" or len(self.variables) != 1):
            _refuse(
                self._label, "derivatives= is for a callable of one variable; leave it out: others are differentiated"
            )

    def _set(
        self, kind: str, data: Any, variables: Sequence[str], derivatives: tuple[_Scalar, _Scalar] | None = None
    ) -> None:
        self.kind = kind
        self._data = data
        self.variables = _checked_variables(variables)
        self._derivatives = derivatives
        self.program = None if kind == "callable" else _PROGRAMS[kind](data, self.variables)
        if self.program is not None and ops.VARIABLE not in self.program.code[::2]:
            # A constant is checked here and not first in the middle of a simulation.
            self._at((0.0,) * len(self.variables), -1, 0)

    @classmethod
    def _from_data(cls, kind: str, data: Any, variables: Sequence[str]) -> Function:
        self = cls.__new__(cls)
        self._set(kind, data, variables)
        return self

    @classmethod
    def table(cls, x: ArrayLike, y: ArrayLike, variable: str = "t") -> Function:
        """Natural cubic spline through the points (x, y), continued by its end tangents.

        A natural spline has no curvature at its ends, so value, slope and curvature are continuous everywhere.
        """
        return cls._from_data("table", _points(x, y, "Function.table"), (variable,))

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
        """The function that `source` describes."""
        if isinstance(source, dict):
            variables = source.get("variables", ["t"])
            data = {key: value for key, value in source.items() if key != "variables"}
            if len(data) == 1 and isinstance(variables, list) and variables:
                ((kind, content),) = data.items()
                if kind in ("expression", "constant"):
                    return cls(content, variables)
                if kind == "polynomial":
                    return cls.polynomial(content, variables[0])
                if kind in ("table", "piecewise_linear") and isinstance(content, list) and len(content) == 2:
                    return getattr(cls, kind)(*content, variables[0])
        elif isinstance(source, str | float | int):
            return cls(source)
        _refuse(
            "Function",
            f"found the source {source!r}; allowed are a number, an expression, or one of expression, constant, table, "
            "piecewise_linear, polynomial with its data and the list of variables",
        )

    @property
    def source(self) -> Any:
        """What `from_source` needs, in numbers, text, lists and dictionaries; None for a Python callable."""
        if self.kind == "callable":
            return None
        if self.kind in ("constant", "expression") and self.variables == ("t",):
            return self._data
        data = [list(part) for part in self._data] if self.kind in ("table", "piecewise_linear") else self._data
        return {self.kind: list(data) if self.kind == "polynomial" else data, "variables": list(self.variables)}

    @property
    def row(self) -> tuple[int, int, int, int, int, float, float, float]:
        """Content of a table row in `ROW_FORMAT`; valid while this function is kept.

        Who makes the table puts the address of the interpreter into the field `run`. Zeros for what has no place there:
        a Python callable and a function of several variables.
        """
        if self.program is None or len(self.variables) > 1:
            return NO_ROW
        code, constants = self.program.code, self.program.constants
        return (code.ctypes.data, code.size, constants.ctypes.data, constants.size, 0, 0.0, 0.0, 0.0)

    def __call__(self, *values: ArrayLike) -> Any:
        """The value: a number, or an array if an argument is an array."""
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
            reason = self._reason(status)
        if not math.isfinite(result):
            what = ("value", "first derivative", "second derivative")[order]
            at = ", ".join(f"{name} = {value!r}" for name, value in zip(self.variables, point, strict=True))
            _refuse(
                self._label, f"the {what} at {at} is not finite{reason}; change the function or keep away from there"
            )
        return result

    def _reason(self, status: int) -> str:
        """What failed in a run of the program that ended with this status."""
        if self.program is None or status == 0:
            return ""
        reason = _REASONS.get(int(self.program.code[2 * (status - 1)]), "overflow")
        return f" (position {self.program.positions[status - 1]}: {reason})"

    def _call(self, point: tuple[float, ...], which: int, order: int) -> float:
        if order == 0:
            return float(self._data(*point))
        if self._derivatives is not None:
            return float(self._derivatives[order - 1](*point))

        def line(x: float) -> float:
            return float(self._data(*point[:which], x, *point[which + 1 :]))

        return _extrapolated_difference(line, point[which], order)

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
        return _label(self._data) if self.kind == "expression" else f"Function.{self.kind}"

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Function) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        if self.program is None:
            return (self.variables, self._data, self._derivatives)
        return (self.variables, self.program.code.tobytes(), self.program.constants.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        if self.program is None:
            return Function, (self._data, self.variables, self._derivatives)
        return Function.from_source, (self.source,)

    def __repr__(self) -> str:
        variables = "" if self.variables == ("t",) else f", variables={self.variables!r}"
        if self.kind in ("constant", "expression", "callable"):
            return f"Function({self._data!r}{variables})"
        variable = "" if self.variables == ("t",) else f", {self.variables[0]!r}"
        if self.kind == "polynomial":
            return f"Function.polynomial({list(self._data)!r}{variable})"
        x, y = self._data
        points = f"{list(x)!r}, {list(y)!r}" if len(x) <= 8 else f"<{len(x)} points from {x[0]!r} to {x[-1]!r}>"
        return f"Function.{self.kind}({points}{variable})"


# ---- Checks -------------------------------------------------------------------------------------------------------


def _refuse(element: str, message: str, field: str = "") -> NoReturn:
    raise ModelError([Problem(element, field, message)])


def _label(text: str) -> str:
    return f"Function {text if len(text) <= 60 else text[:57] + '...'!r}"


def _checked_variables(variables: Sequence[str]) -> tuple[str, ...]:
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    problems = []
    for name in names:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            message = f"found {name!r}; allowed are names of letters, digits and underscores that begin with a letter"
            problems.append(Problem("Function", "variables", message))
        elif name in _FUNCTIONS or name in _CONSTANTS:
            problems.append(Problem("Function", "variables", f"{name!r} has a meaning of its own; choose another name"))
    if not names or len(set(names)) != len(names):
        problems.append(Problem("Function", "variables", f"found {names!r}; give at least one name, each once"))
    if problems:
        raise ModelError(problems)
    return names


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
    for k in range(1, len(xs)):
        if xs[k] <= xs[k - 1]:
            message = (
                f"x[{k}] = {xs[k]!r} follows {xs[k - 1]!r}; x must increase strictly: sort the points, drop doubles"
            )
            problems.append(Problem(element, "x", message))
            break
    if xs and ys and len(xs) != len(ys):
        problems.append(Problem(element, "y", f"found {len(ys)} values for {len(xs)} x; give one for each"))
    if problems:
        raise ModelError(problems)
    return xs, ys


# ---- Programs of the kinds of function ----------------------------------------------------------------------------


def _of_constant(value: float, variables: tuple[str, ...]) -> Program:
    return Program.of([ops.CONSTANT, 0], [value])


def _of_expression(text: str, variables: tuple[str, ...]) -> Program:
    return _Compiler(text, variables).compile()


def _of_polynomial(coefficients: tuple[float, ...], variables: tuple[str, ...]) -> Program:
    return Program.of([ops.VARIABLE, 0, ops.POLYNOMIAL, 0], [len(coefficients), *coefficients])


def _of_table(points: tuple[tuple[float, ...], tuple[float, ...]], variables: tuple[str, ...]) -> Program:
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
    "table": _of_table,
    "piecewise_linear": _of_piecewise_linear,
}


# ---- Expressions --------------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        return repr(self.text) if self.text else "the end"


class _Compiler:
    """Parser by operator precedence that emits postfix code while it reads; positions count from 1."""

    def __init__(self, text: str, variables: tuple[str, ...]) -> None:
        self.text = text
        self.variables = variables
        self.code: list[int] = []
        self.constants: list[float] = []
        self.positions: list[int] = []
        self.nesting = 0
        self.height = 0
        if len(text) > MAX_LENGTH:
            self.fail(
                1, f"the expression has {len(text)} characters; allowed are {MAX_LENGTH}: use a table or a callable"
            )
        self.tokens = iter(list(self.tokenize()))
        self.token = next(self.tokens)

    def compile(self) -> Program:
        if self.token.kind == "end":
            self.fail(1, "the expression is empty; give one, such as 'sin(2*t)', or the number 0")
        self.expression(_COMPARISON)
        if self.token.kind != "end":
            self.fail(self.token.position, f"found {self.token} where an operator or the end is expected")
        return Program.of(self.code, self.constants, self.positions)

    def fail(self, position: int, message: str) -> NoReturn:
        _refuse(_label(self.text), f"position {position}: {message}", "expression")

    def tokenize(self) -> Iterable[_Token]:
        position = 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                character = self.text[position]
                hint = _HINTS.get(
                    character, "allowed are numbers, names, + - * / **, comparisons, parentheses and commas"
                )
                self.fail(position + 1, f"found {character!r}; {hint}")
            if match.lastgroup != "space":
                yield _Token(str(match.lastgroup), match.group(), position + 1)
            position = match.end()
        yield _Token("end", "", len(self.text) + 1)

    def advance(self) -> _Token:
        token = self.token
        if token.kind != "end":
            self.token = next(self.tokens)
        return token

    def expect(self, text: str) -> None:
        if self.token.text != text:
            self.fail(self.token.position, f"found {self.token} where {text!r} is expected")
        self.advance()

    def emit(self, opcode: int, operand: int, growth: int, position: int) -> int:
        """Append an instruction that changes the height of the stack by `growth`; return its index."""
        self.height += growth
        if self.height > ops.STACK_DEPTH:
            self.fail(position, "the expression is nested too deeply; split it")
        self.code += (opcode, operand)
        self.positions.append(position)
        return len(self.positions) - 1

    def jump_to_here(self, instruction: int) -> None:
        self.code[2 * instruction + 1] = len(self.positions)

    def expression(self, lowest: int) -> None:
        """Read operands joined by operators of at least the precedence `lowest`."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(self.token.position, f"the expression is nested more than {MAX_NESTING} deep; split it")
        self.operand()
        compared = False
        while self.token.kind == "operator" and self.token.text in _BINARY:
            precedence, opcode = _BINARY[self.token.text]
            if precedence < lowest:
                break
            operator = self.advance()
            if precedence == _COMPARISON and compared:
                self.fail(operator.position, "comparisons cannot be chained; write (0 < t)*(t < 1)")
            compared = precedence == _COMPARISON
            # Powers associate to the right, everything else to the left.
            self.expression(precedence if precedence == _POWER else precedence + 1)
            self.emit(opcode, 0, -1, operator.position)
        self.nesting -= 1

    def operand(self) -> None:
        token = self.advance()
        if token.kind == "number":
            self.constant(float(token.text), token)
        elif token.kind == "name":
            self.name(token)
        elif token.text == "(":
            self.expression(_COMPARISON)
            self.expect(")")
        elif token.text == "-":
            self.expression(_SIGN)
            self.emit(ops.NEGATE, 0, 0, token.position)
        elif token.text == "+":
            self.expression(_SIGN)
        else:
            self.fail(token.position, f"found {token} where a number, a name or '(' is expected")

    def constant(self, value: float, token: _Token) -> None:
        if not math.isfinite(value):
            self.fail(token.position, f"the number {token.text} is too large")
        self.constants.append(value)
        self.emit(ops.CONSTANT, len(self.constants) - 1, +1, token.position)

    def name(self, token: _Token) -> None:
        name = token.text
        called = self.token.text == "("
        if called and name in _FUNCTIONS:
            self.call(token)
        elif not called and name in self.variables:
            self.emit(ops.VARIABLE, self.variables.index(name), +1, token.position)
        elif not called and name in _CONSTANTS:
            self.constant(_CONSTANTS[name], token)
        else:
            known: Sequence[str] = _FUNCTIONS if called or name in _FUNCTIONS else (*self.variables, *_CONSTANTS)
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]!r}? " if near and near[0] != name else ""
            if called:
                found = f"there is no function {name!r}; "
            elif name in _FUNCTIONS:
                found = f"the function {name!r} needs arguments in parentheses; "
            else:
                found = f"there is no variable {name!r}; "
            self.fail(token.position, f"{found}{meant}known are {', '.join(known)}")

    def call(self, function: _Token) -> None:
        name, position = function.text, function.position
        self.expect("(")
        if name == "if":
            self.condition(position)
        else:
            self.arguments(name, position)
        self.expect(")")

    def condition(self, position: int) -> None:
        """if(condition, a, b): only the chosen branch runs."""
        self.argument()
        if_zero = self.emit(ops.JUMP_IF_ZERO, 0, -1, position)
        self.expect(",")
        self.argument()
        # Only one of the two branches leaves its value on the stack, hence -1.
        to_end = self.emit(ops.JUMP, 0, -1, position)
        self.jump_to_here(if_zero)
        self.expect(",")
        self.argument()
        self.jump_to_here(to_end)

    def argument(self) -> None:
        self.expression(_COMPARISON)

    def arguments(self, name: str, position: int) -> None:
        count = 0
        while self.token.text != ")":
            if count > 0:
                self.expect(",")
            self.argument()
            count += 1
            if name in _FOLDED and count > 1:
                self.emit(_FOLDED[name], 0, -1, position)
        if name in _FOLDED:
            if count < 2:
                self.fail(position, f"{name} takes two or more arguments, found {count}")
            return
        needed = {"atan2": 2, "step": 5}.get(name, 1)
        if count != needed:
            usage = {"atan2": "atan2(y, x)", "step": "step(t, t0, h0, t1, h1)"}.get(name, f"{name}(x)")
            self.fail(position, f"found {count} arguments; write {usage}")
        self.emit({"atan2": ops.ATAN2, "step": ops.STEP}.get(name) or _UNARY[name], 0, 1 - needed, position)


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


def jumps(function: Callable[[Any], Any], low: float, high: float) -> list[float]:
    """Where a function jumps between two places: steep parts are halved, and a jump stays as high as it was."""
    edges = np.linspace(low, high, PARTS + 1)
    values = function(edges)
    rounding = 1e-9 * float(np.abs(values).max())
    found: list[float] = []
    for k in np.sort(np.argsort(-np.abs(np.diff(values)))[:STEEPEST]):
        a, b, at_a, at_b = float(edges[k]), float(edges[k + 1]), float(values[k]), float(values[k + 1])
        rise = abs(at_b - at_a)
        while b - a > 1e-12 * max(1.0, abs(a), abs(b)):
            middle = 0.5 * (a + b)
            at_middle = float(function(middle))
            if abs(at_middle - at_a) >= abs(at_b - at_middle):
                b, at_b = middle, at_middle
            else:
                a, at_a = middle, at_middle
        if (
            rise > rounding
            and abs(at_b - at_a) > 0.5 * rise
            and not (found and b - found[-1] < 1e-9 * max(1.0, abs(b)))
        ):
            found.append(b)
    return found
