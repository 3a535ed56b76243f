"""Expressions: text that is compiled to programs for the interpreter in `mbframe.kernels.programs.expressions`.

Text is parsed here and never executed as code.
"""

from __future__ import annotations

import difflib
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, Problem
from .kernels.programs import expressions as ops

MAX_LENGTH: Final = 10_000
"""Longest expression, in characters."""
MAX_NESTING: Final = 50
"""Deepest nesting of parentheses, signs and powers in an expression."""

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

_DIGITS: Final = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TOKEN: Final = re.compile(
    rf"(?P<space>\s+)|(?P<number>{_DIGITS})|(?P<name>[A-Za-z_]\w*)|(?P<operator>\*\*|<=|>=|==|!=|[-+*/<>(),])",
    re.ASCII,
)
_SIGNAL_TOKEN: Final = re.compile(_TOKEN.pattern.replace(r"[A-Za-z_]\w*", r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?"), re.ASCII)
"""A name may be that of an output of an element, such as "lqr.force"."""
_NUMBER: Final = re.compile(rf"(?<![\w.])({_DIGITS})", re.ASCII)
"""A number that follows on neither a name nor a number, as in every expression that is right."""
_ANY_NUMBER: Final = "1.e0"  # which nothing that follows on a number continues
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


@dataclass(eq=False)  # freezing would take as long as filling it
class Program:
    """A compiled function: the arrays `evaluate_program` reads, and where in the text each instruction comes from."""

    code: NDArray[np.int64]
    constants: NDArray[np.float64]
    positions: tuple[int, ...]
    varies: bool = True
    """Whether it depends on its variables."""

    @classmethod
    def of(cls, code: Sequence[int], constants: ArrayLike, positions: Sequence[int] | None = None) -> Program:
        places = tuple(positions or (0,) * (len(code) // 2))
        return cls(_frozen(code, np.int64), _frozen(constants, np.float64), places, ops.VARIABLE in code[::2])

    @cached_property
    def lists(self) -> tuple[list[int], list[float]]:
        """The arrays as lists: Python's own numbers are faster to interpret and do not warn of overflow."""
        return self.code.tolist(), self.constants.tolist()

    def run(self, point: Sequence[float], which: int) -> tuple[int, tuple[float, float, float]]:
        """Status (see `evaluate_program`) and the value with its two derivatives."""
        changing = self.constants.flags.writeable  # values of signals, which a run gives it
        code, constants = (self.code.tolist(), self.constants.tolist()) if changing else self.lists
        stack = [[0.0] * ops.STACK_DEPTH for _ in range(ops.STACK_ROWS)]
        status = ops.evaluate_program(code, constants, point, which, stack)
        return status, (stack[0][0], stack[1][0], stack[2][0])

    def reason(self, status: int) -> str:
        """What failed in a run that ended with this status, and where; nothing if it went well."""
        if status == 0:
            return ""
        failed = _REASONS.get(int(self.code[2 * (status - 1)]), "overflow")
        return f" (position {self.positions[status - 1]}: {failed})"


def _frozen(values: ArrayLike, kind: type) -> NDArray[Any]:
    array: NDArray[Any] = np.array(values, dtype=kind)
    array.setflags(write=False)
    return array


def refuse(element: str, message: str, field: str = "") -> NoReturn:
    """A function cannot be used as it is."""
    raise ModelError([Problem(element, field, message)])


def label(text: str) -> str:
    """How an expression is called in messages."""
    return f"Function {text if len(text) <= 60 else text[:57] + '...'!r}"


def checked_variables(variables: Sequence[str]) -> tuple[str, ...]:
    """Names of variables, if they are such."""
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


class Token(NamedTuple):
    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        return repr(self.text) if self.text else "the end"


def reserved(name: str) -> bool:
    """Whether a name is that of a function or a constant."""
    return name in _FUNCTIONS or name in _CONSTANTS


def compiled(text: str, variables: tuple[str, ...]) -> Program:
    """The program of an expression; what is wrong in it is said with its position."""
    return Compiler(text, variables).compile()


def compiled_with_signals(text: str, variables: tuple[str, ...]) -> tuple[Program, tuple[str, ...]]:
    """The program of an expression that may name signals, and these: variables behind the others."""
    parts = _NUMBER.split(text)
    pattern = _pattern(tuple(parts[::2]), variables)
    if pattern is not None:
        numbers = parts[1::2]
        values = list(map(float, numbers))
        if all(map(math.isfinite, values)):
            return pattern.filled(values, [len(number) for number in numbers]), pattern.signals
    compiler = Compiler(text, variables, [])  # which says what is wrong, and where
    program = compiler.compile()
    return program, tuple(compiler.signals or ())


@dataclass(frozen=True)
class _Pattern:
    """What expressions have in common that differ in their numbers only, as those of a model often do.

    program
        Of all of them but for the constants at `places`, which are the numbers in their order.
    signals
        The names of what comes from outside.
    before
        Of each instruction: its position if numbers had no length, and how many numbers are before it.
    """

    program: Program
    places: tuple[int, ...]
    signals: tuple[str, ...]
    before: tuple[tuple[int, int], ...]

    def filled(self, values: Sequence[float], lengths: Sequence[int]) -> Program:
        """The program of the expression with these numbers, as long as they are in its text."""
        constants = self.program.constants.tolist()
        for place, value in zip(self.places, values, strict=True):
            constants[place] = value
        ends = [0, *accumulate(lengths)]
        positions = tuple([start + ends[count] for start, count in self.before])
        return Program(self.program.code, _frozen(constants, np.float64), positions, self.program.varies)


@lru_cache(maxsize=512)
def _pattern(parts: tuple[str, ...], variables: tuple[str, ...]) -> _Pattern | None:
    """The pattern of the expressions with numbers between these parts; None if they are wrong."""
    length = len(_ANY_NUMBER)
    with suppress(ModelError):
        compiler = Compiler(_ANY_NUMBER.join(parts), variables, [])
        program = compiler.compile()
        starts = [end + length * k + 1 for k, end in enumerate(accumulate(map(len, parts[:-1])))]
        counts = [bisect_left(starts, position) for position in program.positions]
        before = tuple((p - length * count, count) for p, count in zip(program.positions, counts, strict=True))
        return _Pattern(program, tuple(compiler.numbers), tuple(compiler.signals or ()), before)
    return None


class Compiler:
    """Parser by operator precedence that emits postfix code while it reads; positions count from 1."""

    def __init__(self, text: str, variables: tuple[str, ...], signals: list[str] | None = None) -> None:
        self.text = text
        self.variables = variables
        self.signals = signals  # names of what comes from outside, as they are found; None: there is no such thing
        self.code: list[int] = []
        self.constants: list[float] = []
        self.numbers: list[int] = []  # which of the constants are numbers of the text
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
        refuse(label(self.text), f"position {position}: {message}", "expression")

    def tokenize(self) -> Iterable[Token]:
        position = 0
        while position < len(self.text):
            match = (_TOKEN if self.signals is None else _SIGNAL_TOKEN).match(self.text, position)
            if match is None:
                character = self.text[position]
                hint = _HINTS.get(
                    character, "allowed are numbers, names, + - * / **, comparisons, parentheses and commas"
                )
                self.fail(position + 1, f"found {character!r}; {hint}")
            if match.lastgroup != "space":
                yield Token(str(match.lastgroup), match.group(), position + 1)
            position = match.end()
        yield Token("end", "", len(self.text) + 1)

    def advance(self) -> Token:
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
            self.numbers.append(len(self.constants))
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

    def constant(self, value: float, token: Token) -> None:
        if not math.isfinite(value):
            self.fail(token.position, f"the number {token.text} is too large")
        self.constants.append(value)
        self.emit(ops.CONSTANT, len(self.constants) - 1, +1, token.position)

    def name(self, token: Token) -> None:
        name = token.text
        called = self.token.text == "("
        if called and name in _FUNCTIONS:
            self.call(token)
        elif not called and name in self.variables:
            self.emit(ops.VARIABLE, self.variables.index(name), +1, token.position)
        elif not called and name in _CONSTANTS:
            self.constant(_CONSTANTS[name], token)
        elif not called and self.signals is not None and name not in _FUNCTIONS:
            if name not in self.signals:
                self.signals.append(name)
            place = len(self.variables) + self.signals.index(name)
            self.emit(ops.VARIABLE, place, +1, token.position)
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

    def call(self, function: Token) -> None:
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
