"""What `given`, `evaluate`, `slope` and others of `kernels.programs.expressions` are in compiled methods."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import address_of, integers, record, room, vector
from ..workspace import OK
from . import expressions
from .expressions import STACK_DEPTH, STACK_ROWS

PROGRAM = np.dtype(expressions.PROGRAM_FIELDS, align=True)

evaluate_program = inner(expressions.evaluate_program)
cut_after = inner(expressions.cut_after)


@Stage
def run(x, work, program, n):
    """Value, slope and bend (second derivative) of a program at x into its record; NaN where it has none.

    A stage, called by address, because the interpreter is long: it is compiled once and not once per type of element.
    """
    p = record(program, PROGRAM)
    p.argument = x
    p.value = p.slope = p.bend = np.nan
    if p.n_code == 0:
        return OK
    stack, variables = room(STACK_ROWS, STACK_DEPTH), room(1, 1)[0]
    variables[0] = x
    status = evaluate_program(integers(p.code, p.n_code), vector(p.constants, p.n_constants), variables, 0, stack)
    if status == 0:
        p.value, p.slope, p.bend = stack[0, 0], stack[1, 0], stack[2, 0]
    return OK


@Stage
def hold(x, work, program, n):
    """Of a function that Python samples before the methods that use it are run: its results are in the record."""
    return OK


@inner
def run_at(function, x):
    """Run the program of a row's function at x."""
    call(function.run, x, 0, address_of(function), 0)


@overload(expressions.given)
def given(function):
    return lambda function: function.n_code > 0


@overload(expressions.evaluate)
def evaluate(function, x):
    if isinstance(x, types.Complex):

        def complex_step(function, x):
            run_at(function, x.real)
            return complex(function.value, function.slope * x.imag)

        return complex_step

    def value(function, x):
        run_at(function, x)
        return function.value

    return value


@overload(expressions.components)
def components(functions, t):
    def values(functions, t):
        x = expressions.evaluate(functions[0], t)
        y = expressions.evaluate(functions[1], t)
        return x, y, expressions.evaluate(functions[2], t)

    return values


@overload(expressions.watch)
def watch(element, x):
    def note(element, x):
        element.reached = x

    def differentiated(element, x):
        pass

    return differentiated if isinstance(x, types.Complex) else note


@overload(expressions.slope)
def slope(function, x):
    def value(function, x):
        run_at(function, x)
        return function.slope

    return value


@overload(expressions.bend)
def bend(function, x):
    def value(function, x):
        run_at(function, x)
        return function.bend

    return value


@overload(expressions.next_cut)
def next_cut(function, x, done):
    return lambda function, x, done: cut_after(vector(function.cuts, function.n_cuts), x.real, done)
