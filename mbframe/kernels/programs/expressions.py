"""The postfix interpreter behind `mbframe.functions.Function`.

A program is a pair of arrays. ``code`` (int64) holds instructions of two entries each, an opcode and its operand;
``constants`` (float64) holds numbers, polynomial coefficients and tables. `evaluate_program` is plain Python made of
loops and scalar arithmetic: it runs as it stands, with lists or arrays, and compiles unchanged with ``numba.njit``.
This module does not import numba, so that evaluating a function once does not load a compiler.

Each stack entry is a truncated Taylor series: value, first and second derivative with respect to one chosen variable.
"""

from __future__ import annotations

import math
from typing import Any, Final

PROGRAM_FIELDS: Final = [
    ("code", "i8"),  # addresses and lengths of the two arrays of the program; no code: there is none
    ("n_code", "i8"),
    ("constants", "i8"),
    ("n_constants", "i8"),
    ("run", "i8"),  # address of the stage that runs it
    ("value", "f8"),  # its last results
    ("slope", "f8"),
    ("bend", "f8"),
    ("argument", "f8"),  # where they were taken
    ("cuts", "i8"),  # address and number of the places at which an integral is cut
    ("n_cuts", "i8"),
]
"""How the row of an element's table holds a function of one variable."""

# Control: the operand is the index of an instruction.
JUMP: Final = 0
JUMP_IF_ZERO: Final = 1

# Push one entry: the operand is an index into `constants` or `variables`.
CONSTANT: Final = 2
VARIABLE: Final = 3

# Replace the top entry u by f(u).
NEGATE: Final = 4
SIN: Final = 5
COS: Final = 6
TAN: Final = 7
ASIN: Final = 8
ACOS: Final = 9
ATAN: Final = 10
SINH: Final = 11
COSH: Final = 12
TANH: Final = 13
EXP: Final = 14
LOG: Final = 15
SQRT: Final = 16
ABS: Final = 17
SIGN: Final = 18
POLYNOMIAL: Final = 19
"""Operand: where in `constants` the number of coefficients stands, followed by the coefficients, ascending."""
PIECEWISE: Final = 20
"""Operand: where in `constants` the number n of breaks stands, followed by the n breaks, increasing, and by four
ascending coefficients of each of the n + 1 cubic pieces. Piece k holds from break k - 1 (included) on, and is a
polynomial in u - break[max(k - 1, 0)]."""

# Replace the two top entries a, b by f(a, b).
ADD: Final = 21
SUBTRACT: Final = 22
MULTIPLY: Final = 23
DIVIDE: Final = 24
POWER: Final = 25
ATAN2: Final = 26
MINIMUM: Final = 27
MAXIMUM: Final = 28
LESS: Final = 29
LESS_EQUAL: Final = 30
GREATER: Final = 31
GREATER_EQUAL: Final = 32
EQUAL: Final = 33
NOT_EQUAL: Final = 34

# Replace the five top entries t, t0, h0, t1, h1 by the smooth step.
STEP: Final = 35

STACK_ROWS: Final = 4
STACK_DEPTH: Final = 64
"""A stack of shape (STACK_ROWS, STACK_DEPTH) is enough for every program that `Function` makes."""

LARGEST: Final = 1.7976931348623157e308
LOG_LARGEST: Final = 709.78
"""exp(LOG_LARGEST) is the largest power computed: beyond it, Python raises and machine code returns infinity."""
HYPERBOLIC_LARGEST: Final = 710.47
"""The same for sinh and cosh."""


def evaluate_program(code: Any, constants: Any, variables: Any, which: int, stack: Any) -> int:
    """Run a program; leave value, first and second derivative in ``stack[0][0]``, ``stack[1][0]``, ``stack[2][0]``.

    Derivatives are with respect to ``variables[which]``; ``which = -1`` makes them zero. A kink has the derivative of
    one of its sides (``abs`` at zero: zero, the mean). Where a derivative does not exist although the value does, such
    as that of ``sqrt(t)`` at zero, it is left infinite or NaN and the caller decides.

    Parameters
    ----------
    code, constants
        The program: see this module's docstring.
    variables
        Values of the variables.
    which
        Index of the variable of differentiation, or -1.
    stack
        Scratch of STACK_ROWS rows: value, first and second derivative, and whether the entry depends on the variable.

    Returns
    -------
    int
        0, or one plus the index of the instruction that has no finite value.
    """
    value, first, second, depends = stack[0], stack[1], stack[2], stack[3]
    top = -1
    following = 0
    while following < len(code) // 2:
        instruction = following
        opcode = code[2 * instruction]
        operand = code[2 * instruction + 1]
        following += 1

        if opcode == JUMP:
            following = operand
            continue
        if opcode == JUMP_IF_ZERO:
            if value[top] == 0.0:
                following = operand
            top -= 1
            continue

        # What the instruction leaves on top of the stack: f, its derivatives, and whether it depends on the variable.
        f = math.nan
        f1 = 0.0
        f2 = 0.0
        varies = 0.0

        if opcode <= VARIABLE:
            top += 1
            if opcode == CONSTANT:
                f = constants[operand]
            else:
                f = variables[operand]
                if operand == which:
                    f1 = 1.0
                    varies = 1.0

        elif opcode <= PIECEWISE:
            # f(u), f'(u), f''(u), then the chain rule once for all.
            u = value[top]
            varies = depends[top]
            if opcode == NEGATE:
                f = -u
                f1 = -1.0
            elif opcode == SIN:
                f = math.sin(u)
                f1 = math.cos(u)
                f2 = -f
            elif opcode == COS:
                f = math.cos(u)
                f1 = -math.sin(u)
                f2 = -f
            elif opcode == TAN:
                f = math.tan(u)
                f1 = 1.0 + f * f
                f2 = 2.0 * f * f1
            elif opcode == ASIN:
                if abs(u) <= 1.0:
                    f = math.asin(u)
                    root = math.sqrt((1.0 - u) * (1.0 + u))
                    f1 = 1.0 / root if root > 0.0 else math.inf
                    f2 = u * f1 * f1 * f1
            elif opcode == ACOS:
                if abs(u) <= 1.0:
                    f = math.acos(u)
                    root = math.sqrt((1.0 - u) * (1.0 + u))
                    f1 = -1.0 / root if root > 0.0 else -math.inf
                    f2 = u * f1 * f1 * f1
            elif opcode == ATAN:
                f = math.atan(u)
                f1 = 1.0 / (1.0 + u * u)
                f2 = -2.0 * (u * f1) * f1
            elif opcode == SINH:
                if abs(u) <= HYPERBOLIC_LARGEST:
                    f = math.sinh(u)
                    f1 = math.cosh(u)
                    f2 = f
            elif opcode == COSH:
                if abs(u) <= HYPERBOLIC_LARGEST:
                    f = math.cosh(u)
                    f1 = math.sinh(u)
                    f2 = f
            elif opcode == TANH:
                f = math.tanh(u)
                f1 = (1.0 - f) * (1.0 + f)
                f2 = -2.0 * f * f1
            elif opcode == EXP:
                if u <= LOG_LARGEST:
                    f = math.exp(u)
                    f1 = f
                    f2 = f
            elif opcode == LOG:
                if u > 0.0:
                    f = math.log(u)
                    f1 = 1.0 / u
                    f2 = -f1 * f1
            elif opcode == SQRT:
                if u > 0.0:
                    f = math.sqrt(u)
                    f1 = 0.5 / f
                    f2 = -0.5 * f1 / u
                elif u == 0.0:
                    f = 0.0
                    f1 = math.inf
                    f2 = -math.inf
            elif opcode <= SIGN:
                sign = 1.0 if u > 0.0 else (-1.0 if u < 0.0 else 0.0)
                if opcode == ABS:
                    f = sign * u
                    f1 = sign
                else:
                    f = sign
            else:
                # A polynomial in x = u - break whose coefficients start at `start`.
                x = u
                start = operand + 1
                count = int(constants[operand])
                if opcode == PIECEWISE:
                    piece = 0
                    end = count
                    while piece < end:
                        middle = (piece + end) // 2
                        if constants[start + middle] <= u:
                            piece = middle + 1
                        else:
                            end = middle
                    x = u - constants[start + piece - 1 if piece > 0 else start]
                    start += count + 4 * piece
                    count = 4
                f = 0.0
                for k in range(count - 1, -1, -1):
                    f2 = f2 * x + 2.0 * f1
                    f1 = f1 * x + f
                    f = f * x + constants[start + k]
            if varies != 0.0:
                u1 = first[top]
                f2 = f2 * u1 * u1 + f1 * second[top]
                f1 = f1 * u1
            else:
                f1 = 0.0
                f2 = 0.0

        elif opcode <= NOT_EQUAL:
            b = value[top]
            b1 = first[top]
            b2 = second[top]
            b_varies = depends[top]
            top -= 1
            a = value[top]
            a1 = first[top]
            a2 = second[top]
            a_varies = depends[top]
            varies = a_varies + b_varies
            if opcode == ADD:
                f = a + b
                f1 = a1 + b1
                f2 = a2 + b2
            elif opcode == SUBTRACT:
                f = a - b
                f1 = a1 - b1
                f2 = a2 - b2
            elif opcode == MULTIPLY:
                f = a * b
                f1 = a1 * b + a * b1
                f2 = a2 * b + 2.0 * a1 * b1 + a * b2
            elif opcode == DIVIDE:
                if b != 0.0:
                    f = a / b
                    f1 = (a1 - f * b1) / b
                    f2 = (a2 - 2.0 * f1 * b1 - f * b2) / b
            elif opcode == POWER:
                # Derivatives of a**b for fixed b, of the orders 0, 1, 2 in turn, pass through (f, f1, f2).
                factor = 1.0
                for order in range(3):
                    exponent = b - order
                    if factor == 0.0:
                        power = 0.0
                    elif a == 0.0:
                        power = 1.0 if exponent == 0.0 else (0.0 if exponent > 0.0 else math.inf)
                    elif a < 0.0 and exponent % 1.0 != 0.0:
                        power = math.nan
                    elif exponent * math.log(abs(a)) > LOG_LARGEST:
                        power = math.inf
                    else:
                        power = math.pow(a, exponent)
                    f = f1
                    f1 = f2
                    f2 = factor * power
                    factor *= exponent
                if b_varies == 0.0:
                    if a_varies != 0.0:
                        f2 = f2 * a1 * a1 + f1 * a2
                        f1 = f1 * a1
                    else:
                        f1 = 0.0
                        f2 = 0.0
                elif a > 0.0:
                    # a**b = exp(b log a)
                    log_a = math.log(a)
                    rate = a1 / a
                    u1 = b1 * log_a + b * rate
                    f2 = f * (u1 * u1 + b2 * log_a + 2.0 * b1 * rate + b * (a2 / a - rate * rate))
                    f1 = f * u1
                else:
                    f1 = math.nan
                    f2 = math.nan
            elif opcode == ATAN2:
                f = math.atan2(a, b)
                r = math.hypot(a, b)
                if r > 0.0:
                    sine = a / r
                    cosine = b / r
                    f1 = (cosine * a1 - sine * b1) / r
                    f2 = (cosine * a2 - sine * b2 - 2.0 * f1 * (sine * a1 + cosine * b1)) / r
                elif varies != 0.0:
                    f1 = math.nan
                    f2 = math.nan
            elif opcode <= MAXIMUM:
                if (b < a) == (opcode == MINIMUM):
                    f = b
                    f1 = b1
                    f2 = b2
                else:
                    f = a
                    f1 = a1
                    f2 = a2
            else:
                varies = 0.0
                if opcode == LESS:
                    holds = a < b
                elif opcode == LESS_EQUAL:
                    holds = a <= b
                elif opcode == GREATER:
                    holds = a > b
                elif opcode == GREATER_EQUAL:
                    holds = a >= b
                else:
                    holds = (a == b) == (opcode == EQUAL)
                f = 1.0 if holds else 0.0

        else:
            # STEP: with s = (t - t0) / (t1 - t0) and p = s^2 (3 - 2 s), f = h0 (1 - p) + h1 p.
            top -= 4
            varies = depends[top] + depends[top + 1] + depends[top + 2] + depends[top + 3] + depends[top + 4]
            t0 = value[top + 1]
            t01 = first[top + 1]
            t02 = second[top + 1]
            h0 = value[top + 2]
            h01 = first[top + 2]
            h02 = second[top + 2]
            h1 = value[top + 4]
            h11 = first[top + 4]
            h12 = second[top + 4]
            width = value[top + 3] - t0
            if width > 0.0:
                width1 = first[top + 3] - t01
                s = (value[top] - t0) / width
                s1 = (first[top] - t01 - s * width1) / width
                s2 = (second[top] - t02 - 2.0 * s1 * width1 - s * (second[top + 3] - t02)) / width
                if s <= 0.0:
                    f = h0
                    f1 = h01
                    f2 = h02
                elif s >= 1.0:
                    f = h1
                    f1 = h11
                    f2 = h12
                else:
                    p = s * s * (3.0 - 2.0 * s)
                    p1 = 6.0 * s * (1.0 - s) * s1
                    p2 = 6.0 * (1.0 - 2.0 * s) * s1 * s1 + 6.0 * s * (1.0 - s) * s2
                    f = h0 + (h1 - h0) * p
                    f1 = h01 + (h11 - h01) * p + (h1 - h0) * p1
                    f2 = h02 + (h12 - h02) * p + 2.0 * (h11 - h01) * p1 + (h1 - h0) * p2

        value[top] = f
        first[top] = f1
        second[top] = f2
        depends[top] = varies
        if not abs(f) <= LARGEST:
            return instruction + 1
    return 0


# ---- Functions in the methods of elements -------------------------------------------------------------------------
# There a parameter of kind "function" is a `Function` when the method is interpreted, and a record of PROGRAM_FIELDS
# when it is compiled. `given`, `evaluate`, `slope` and `bend` take both; what they are when compiled is in
# `kernels.programs.overloads`.


def given(function):
    """Whether an optional function was given."""
    return function is not None


def evaluate(function, x):
    """f(x). A complex x is a step of a derivative, f(re) + i f'(re) im; a jet carries its derivatives through."""
    if isinstance(x, complex):
        return complex(function(x.real), function.derivative(x.real) * x.imag)
    if hasattr(x, "compose"):
        return x.compose(function, function.derivative, function.second_derivative)
    return function(x)


def watch(element: Any, x: Any) -> None:
    """Note where the measure of an element is, in its `reached`, for steps that must not pass a stop.

    Compiled methods do so; to one that is interpreted it means nothing.
    """


def slope(function, x):
    """f'(x), for complex x and jets as in `evaluate`."""
    if isinstance(x, complex):
        return complex(function.derivative(x.real), function.second_derivative(x.real) * x.imag)
    if hasattr(x, "compose"):
        return x.compose(function.derivative, function.second_derivative)
    return function.derivative(x)


def bend(function, x):
    """f''(x). A complex x or a jet would need the third derivative, which functions do not have: a `TypeError`."""
    return function.second_derivative(x)


def components(functions, t):
    """Values of the three functions of a vector; of two in the plane, or of one about its normal."""
    if not isinstance(functions, tuple):
        return 0.0, 0.0, functions(t)
    values = tuple(evaluate(function, t) for function in functions)
    return values if len(values) == 3 else (*values, 0.0)


def next_cut(function, x, done):
    """The next part of x, after the part that is done, at which an integral from 0 to x is cut; 1 if there is none."""
    number = x.value if hasattr(x, "compose") else x.real
    return cut_after(function.cuts, float(number), done)


def cut_after(cuts, x, done):
    """Of places in ascending order, the next one from done x towards x, as part of x."""
    low, high = 0, len(cuts)
    place = done * x
    while low < high:  # the first place beyond, for a negative x the first one that is not before
        middle = (low + high) // 2
        if cuts[middle] < place or (x > 0.0 and cuts[middle] == place):
            low = middle + 1
        else:
            high = middle
    k = low if x > 0.0 else low - 1
    while 0 <= k < len(cuts) and cuts[k] / x <= done:  # by rounding
        k += 1 if x > 0.0 else -1
    return min(cuts[k] / x, 1.0) if 0 <= k < len(cuts) else 1.0


REPLACED: Final = (given, evaluate, watch, slope, bend, components, next_cut)
"""What compiled code replaces instead of compiling it."""

# Gauss-Legendre quadrature with eight nodes on (-1, 1): the positive ones and their weights. Exact to degree 15.
NODES: Final = (0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363)
WEIGHTS: Final = (0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763)
AGREEMENT: Final = 1e-14
NOISE: Final = 1e-8
NARROWEST: Final = 2.0**-44
MOST_HALVINGS: Final = 500


def integral(function, x):
    """The integral of f from 0 to x, f being finite there.

    The range is cut where f is known to switch or to have something narrow, and between two cuts a part is halved until
    its halves agree with it. So polynomials up to degree 15 and tables are integrated exactly, smooth functions and
    those with kinks to rounding, and at a jump that nobody knows of a part of 2^-44 of the range is in doubt.
    Where rounding of x is seen in f, as in a peak of 1e-7 of x, halves agree no better than that. The number of
    halvings is limited too.
    """
    total = 0.0 * evaluate(function, 0.0 * x)  # not finite if f(0) is not: there is no such integral then
    done = 0.0
    while done < 1.0:
        end = next_cut(function, x, done) if x != 0.0 else 1.0
        width, halvings, before = end - done, 0, 1.0
        while done < end:
            stop = done + width if width < end - done else end
            width = stop - done  # as rounded: else many small parts add up to another range
            whole, size = panel(function, x, done, width)
            left, _ = panel(function, x, done, 0.5 * width)
            right, _ = panel(function, x, done + 0.5 * width, 0.5 * width)
            error = abs(left + right - whole)
            agree = not error > AGREEMENT * (size + abs(total))  # nor if they are not finite
            rounded = error < NOISE * size and error > 0.25 * before * size  # halving does not help any more
            if not agree and not rounded and width > NARROWEST and halvings < MOST_HALVINGS:
                before = error / size
                width *= 0.5
                halvings += 1
            else:
                total += left + right
                done, before = stop, 1.0
                width = min(2.0 * width, end - done)
    return total


def panel(function, x, start, width):
    """Integral of f, and of |f|, from start x to (start + width) x."""
    total, size = 0.0, 0.0
    half = 0.5 * width
    for k in range(len(NODES)):
        for side in range(2):
            at = start + half * (1.0 + (1 - 2 * side) * NODES[k])
            value = half * WEIGHTS[k] * evaluate(function, at * x) * x
            total += value
            size += abs(value)
    return total, size
