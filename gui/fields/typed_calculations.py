"""Calculations with units as people type them: 0.1 m*cos(60 deg), 50 mm + 2 in, sqrt((3 mm)^2 + (4 mm)^2).

The text is read by the parser of the library's expressions and is never executed; dimensions are followed beside it.
"""

from __future__ import annotations

import re
from typing import Final

import mbframe as mb
from mbframe.expressions import compiled
from mbframe.kernels.programs import expressions as ops

from .typed_units import UNITS, parsed

Powers = tuple[float, ...]
"""Powers of metre, kilogram, second and radian; those of a square root need not be whole."""

PLAIN_NUMBER: Final[Powers] = (0, 0, 0, 0)
_ANGLE: Final[Powers] = (0, 0, 0, 1)
_WAVES: Final = (ops.SIN, ops.COS, ops.TAN)
_ARCS: Final = (ops.ASIN, ops.ACOS, ops.ATAN)
_BARE: Final = (ops.SINH, ops.COSH, ops.TANH, ops.EXP, ops.LOG)
_ALIKE: Final = (ops.ADD, ops.SUBTRACT, ops.MINIMUM, ops.MAXIMUM, ops.ATAN2)
_NUMBER: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NAME: Final = re.compile(r"[A-Za-zµ°_][A-Za-zµ°_]*")
_UNIT: Final = re.compile(r"([A-Za-zµ°]+)(?:\^[-−]?\d+|\*\*-?\d+|[²³])?(?!\w|\s*\()")
_JOINED: Final = re.compile(r"\s*[*·/]\s*|\s+")


def read_calculation(text: str) -> tuple[float, Powers]:
    """The number in SI units that a calculation means, and its dimension; a `ValueError` where there is none."""
    plain, units = _without_units(text.replace("−", "-"))
    sizes: list[float] = []
    dimensions: list[Powers] = []
    for unit in units:
        found = parsed(unit)
        assert found is not None
        sizes.append(found[0])
        dimensions.append(found[1])
    names = tuple(f"unit{k}" for k in range(len(units)))
    try:
        program = compiled(plain.replace("^", "**"), names)
    except mb.ModelError:
        raise ValueError(_unreadable(text)) from None
    status, (value, _, _) = program.run(sizes, 0)
    if status:
        raise ValueError(f"“{text}” has no value; look for a division by zero, or a root of a negative number")
    return value, _dimension(*program.lists, dimensions) if units else PLAIN_NUMBER


def is_sum(text: str) -> bool:
    """Whether a calculation without units adds: in 1 + 2 mm nobody can tell what the first number is in."""
    try:
        code = compiled(text.replace("−", "-").replace("^", "**"), ()).lists[0]
    except mb.ModelError:
        return False
    return code[-2] in (ops.ADD, ops.SUBTRACT)


def _unreadable(text: str) -> str:
    if "," in text and "(" not in text:
        return f"“{text}” is not a number; decimals are written with a point, as in 0.5"
    return f"“{text}” is not a number; write one such as 0.25 or 1e-3, or a calculation such as 0.1 m*cos(60 deg)"


def _without_units(text: str) -> tuple[str, list[str]]:
    """The text with a variable for each unit, which belongs to the number before it, and the units."""
    parts: list[str] = []
    units: list[str] = []
    at = 0
    while at < len(text):
        number = _NUMBER.match(text, at)
        word = number or _NAME.match(text, at)
        end = word.end() if word else at + 1
        piece, at = text[at:end], end
        if number or piece == ")" or piece == "pi":
            unit, end = _unit_from(text, at)
            if unit:
                piece = f"({piece}*unit{len(units)})" if number else f"{piece}*unit{len(units)}"
                units.append(unit)
                at = end
        parts.append(piece)
    return "".join(parts), units


def _unit_from(text: str, at: int) -> tuple[str, int]:
    """The unit that begins here, as long as it goes on, and where it ends; nothing if none begins."""
    begin = end = at + len(text[at:]) - len(text[at:].lstrip())
    at = begin
    while (found := _UNIT.match(text, at)) is not None and found[1] in UNITS:
        end = found.end()
        joined = _JOINED.match(text, end)
        if joined is None:
            break
        at = joined.end()
    return text[begin:end].replace("**", "^"), end


def _dimension(code: list[int], constants: list[float], units: list[Powers]) -> Powers:
    """The dimension of what a program computes from quantities with these."""
    stack: list[tuple[Powers, float | None]] = []  # with the number of what is one, for exponents
    for opcode, operand in zip(code[::2], code[1::2], strict=True):
        number: float | None = None
        if opcode == ops.CONSTANT:
            kind, number = PLAIN_NUMBER, constants[operand]
        elif opcode == ops.VARIABLE:
            kind = units[operand]
        elif opcode in (ops.NEGATE, ops.ABS):
            kind, number = stack.pop()
            number = -number if number is not None and opcode == ops.NEGATE else number
        elif opcode == ops.SQRT:
            kind = tuple(power / 2 for power in stack.pop()[0])
        elif opcode == ops.SIGN:
            stack.pop()
            kind = PLAIN_NUMBER
        elif opcode in (*_WAVES, *_ARCS, *_BARE):
            if stack.pop()[0] not in ((PLAIN_NUMBER, _ANGLE) if opcode in _WAVES else (PLAIN_NUMBER,)):
                raise ValueError("the argument of a function has a unit that it cannot have; sin(30 deg) can be read")
            kind = _ANGLE if opcode in _ARCS else PLAIN_NUMBER
        elif opcode in (ops.MULTIPLY, ops.DIVIDE):
            (second, _), (first, _) = stack.pop(), stack.pop()
            sign = 1 if opcode == ops.MULTIPLY else -1
            kind = tuple(a + sign * b for a, b in zip(first, second, strict=True))
        elif opcode == ops.POWER:
            (second, exponent), (first, _) = stack.pop(), stack.pop()
            if second != PLAIN_NUMBER or (first != PLAIN_NUMBER and exponent is None):
                raise ValueError("a power has a unit, or is no plain number; (3 mm)^2 can be read")
            kind = PLAIN_NUMBER if exponent is None else tuple(exponent * power for power in first)
        elif opcode in _ALIKE:
            (second, _), (first, _) = stack.pop(), stack.pop()
            if first != second:
                raise ValueError("numbers of different kinds are added; give each its unit, as in 1 m + 2 mm")
            kind = _ANGLE if opcode == ops.ATAN2 else first
        else:
            raise ValueError("comparisons and choices cannot be calculated with units; write numbers without units")
        stack.append((kind, number))
    return stack[-1][0]
