"""Functions against closed forms; compiled against interpreted; what the grammar refuses."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import pickle
from math import acos, asin, atan, atan2, cos, cosh, e, exp, log, pi, sin, sinh, sqrt, tan, tanh
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from mbframe.errors import ModelError
from mbframe.expression_trees import AT_ONCE, SAMPLES, Node, tree
from mbframe.expressions import MAX_NESTING, Compiler, compiled_with_signals
from mbframe.features import features
from mbframe.functions import NO_ROW, Function
from mbframe.kernels.programs import expressions as ops

# Expression in t; value, first and second derivative by hand; where.
CLOSED_FORMS = [
    ("3", lambda t: (3, 0, 0), 0.7),
    ("-t", lambda t: (-t, -1, 0), 0.7),
    ("+t", lambda t: (t, 1, 0), 0.7),
    ("pi*t + e", lambda t: (pi * t + e, pi, 0), 0.7),
    ("1 - 2*t", lambda t: (1 - 2 * t, -2, 0), 0.7),
    ("2 - 3 - t", lambda t: (-1 - t, -1, 0), 0.7),
    ("t*t*t", lambda t: (t**3, 3 * t**2, 6 * t), 0.7),
    ("1/t", lambda t: (1 / t, -1 / t**2, 2 / t**3), 0.7),
    ("8/2/t", lambda t: (4 / t, -4 / t**2, 8 / t**3), 0.7),
    ("t**3", lambda t: (t**3, 3 * t**2, 6 * t), -0.7),
    ("t**2", lambda t: (0, 0, 2), 0.0),
    ("t**1", lambda t: (0, 1, 0), 0.0),
    ("t**0", lambda t: (1, 0, 0), 0.0),
    ("t**-2", lambda t: (t**-2, -2 * t**-3, 6 * t**-4), -0.7),
    ("t**2.5", lambda t: (t**2.5, 2.5 * t**1.5, 3.75 * t**0.5), 0.7),
    ("t**2", lambda t: (0, 2e-170, 2), 1e-170),
    ("-t**2", lambda t: (-(t**2), -2 * t, -2), 0.7),
    ("2**-t", lambda t: (2**-t, -log(2) * 2**-t, log(2) ** 2 * 2**-t), 0.7),
    ("2**3**0.5*t", lambda t: (2**3**0.5 * t, 2**3**0.5, 0), 0.7),
    ("t**t", lambda t: (t**t, t**t * (log(t) + 1), t**t * ((log(t) + 1) ** 2 + 1 / t)), 0.7),
    ("sin(2*t)", lambda t: (sin(2 * t), 2 * cos(2 * t), -4 * sin(2 * t)), 0.7),
    ("cos(t**2)", lambda t: (cos(t * t), -2 * t * sin(t * t), -2 * sin(t * t) - 4 * t * t * cos(t * t)), 0.7),
    ("tan(t)", lambda t: (tan(t), 1 / cos(t) ** 2, 2 * tan(t) / cos(t) ** 2), 0.7),
    ("asin(t)", lambda t: (asin(t), (1 - t * t) ** -0.5, t * (1 - t * t) ** -1.5), 0.7),
    ("acos(t)", lambda t: (acos(t), -((1 - t * t) ** -0.5), -t * (1 - t * t) ** -1.5), 0.7),
    ("atan(t)", lambda t: (atan(t), 1 / (1 + t * t), -2 * t / (1 + t * t) ** 2), 0.7),
    ("sinh(t)", lambda t: (sinh(t), cosh(t), sinh(t)), 0.7),
    ("cosh(t)", lambda t: (cosh(t), sinh(t), cosh(t)), 0.7),
    ("tanh(t)", lambda t: (tanh(t), 1 / cosh(t) ** 2, -2 * tanh(t) / cosh(t) ** 2), 0.7),
    ("exp(-3*t)", lambda t: (exp(-3 * t), -3 * exp(-3 * t), 9 * exp(-3 * t)), 0.7),
    ("log(t)", lambda t: (log(t), 1 / t, -1 / t**2), 0.7),
    ("sqrt(t)", lambda t: (sqrt(t), 0.5 * t**-0.5, -0.25 * t**-1.5), 0.7),
    ("abs(t)", lambda t: (-t, -1, 0), -0.7),
    ("abs(t)", lambda t: (t, 1, 0), 0.7),
    ("sign(t)*t**2", lambda t: (-t * t, -2 * t, -2), -0.7),
    ("sign(t)", lambda t: (0, 0, 0), 0.0),
    ("atan2(t, 1 + t)", lambda t: (atan2(t, 1 + t), 1 / _r2(t), -(4 * t + 2) / _r2(t) ** 2), 0.7),
    ("atan2(t, -1)", lambda t: (atan2(t, -1), -1 / (1 + t * t), 2 * t / (1 + t * t) ** 2), 0.7),
    ("min(t**2, t, 5)", lambda t: (t * t, 2 * t, 2), 0.7),
    ("max(t**2, t, -5)", lambda t: (t, 1, 0), 0.7),
    ("min(t, t**2)", lambda t: (t, 1, 0), 1.7),
    ("max(t, t**2)", lambda t: (t * t, 2 * t, 2), 1.7),
    ("step(t, 1, 0.1, 3, 0.3)", lambda t: (0.1, 0, 0), 0.7),
    ("step(t, 1, 0.1, 3, 0.3)", lambda t: (0.3, 0, 0), 3.0),
    ("step(t, 0, 2, 4, 6)", lambda t: (2 + t * t * (12 - 2 * t) / 16, (24 * t - 6 * t * t) / 16, 1.5 - 0.75 * t), 0.7),
    ("step(t, 0, t, 1, t**2)", lambda t: _blend(t), 0.7),
    ("step(0.5, -t, 0, t, 1)", lambda t: _moving_step(t), 0.7),
    ("if(t < 1, t**2, 1/t)", lambda t: (t * t, 2 * t, 2), 0.7),
    ("if(t < 1, t**2, 1/t)", lambda t: (1 / t, -1 / t**2, 2 / t**3), 1.7),
    ("if(t > 0, log(t), 0)", lambda t: (0, 0, 0), -0.7),
    ("if(t > 0, if(t > 1, 5, t), 7) + t", lambda t: (2 * t, 2, 0), 0.7),
    ("10*(t<1) + 20*(t<=1) + 40*(t>1) + 80*(t>=1) + 160*(t==1) + 320*(t!=1)", lambda t: (350, 0, 0), 0.7),
    ("10*(t<1) + 20*(t<=1) + 40*(t>1) + 80*(t>=1) + 160*(t==1) + 320*(t!=1)", lambda t: (260, 0, 0), 1.0),
    ("10*(t<1) + 20*(t<=1) + 40*(t>1) + 80*(t>=1) + 160*(t==1) + 320*(t!=1)", lambda t: (440, 0, 0), 1.7),
    ("1 + t < 2*t", lambda t: (0, 0, 0), 0.7),
    (".5e1*t + 1.", lambda t: (5 * t + 1, 5, 0), 0.7),
    ("sqrt(0)*t", lambda t: (0, 0, 0), 0.7),
]


def _r2(t: float) -> float:
    """t² + (1 + t)², the denominator of d/dt atan2(t, 1 + t)."""
    return 2 * t * t + 2 * t + 1


def _blend(t: float) -> tuple[float, float, float]:
    """t + (t² - t) t² (3 - 2 t) = t - 3 t³ + 5 t⁴ - 2 t⁵."""
    return (
        t - 3 * t**3 + 5 * t**4 - 2 * t**5,
        1 - 9 * t**2 + 20 * t**3 - 10 * t**4,
        -18 * t + 60 * t**2 - 40 * t**3,
    )


def _moving_step(t: float) -> tuple[float, float, float]:
    """p = s² (3 - 2 s) with s = (0.5 + t) / (2 t) = 1/(4 t) + 1/2, that is p = 1/2 + 3/(8 t) - 1/(32 t³)."""
    return 0.5 + 3 / (8 * t) - 1 / (32 * t**3), -3 / (8 * t**2) + 3 / (32 * t**4), 3 / (4 * t**3) - 3 / (8 * t**5)


def all_three(f: Function, *values: float) -> tuple[float, float, float]:
    return f(*values), f.derivative(*values), f.second_derivative(*values)


@pytest.mark.parametrize(
    ("text", "expected", "t"), CLOSED_FORMS, ids=lambda entry: entry if isinstance(entry, str) else ""
)
def test_expressions_against_closed_forms(text, expected, t):
    assert all_three(Function(text), t) == pytest.approx(expected(t), rel=1e-13, abs=1e-14)


def test_step_ends_exactly():
    f = Function("step(t, 0.1, 0.1, 0.7, 0.3)")
    assert f(0.1) == 0.1
    assert f(0.7) == 0.3
    assert f(0.7 - 1e-12) == pytest.approx(0.3, abs=1e-15)


def test_partial_derivatives():
    f = Function("k*x + c*sqrt(abs(v)) + x**2*v", variables=("x", "v", "k", "c"))
    x, v, k, c = 0.3, -0.8, 5.0, 2.0
    assert f(x, v, k, c) == pytest.approx(k * x + c * sqrt(-v) + x * x * v, rel=1e-15)
    assert f.derivative(x, v, k, c) == pytest.approx(k + 2 * x * v, rel=1e-15)
    assert f.second_derivative(x, v, k, c, variable="x") == pytest.approx(2 * v, rel=1e-15)
    assert f.derivative(x, v, k, c, variable="v") == pytest.approx(-c / (2 * sqrt(-v)) + x * x, rel=1e-15)
    assert f.second_derivative(x, v, k, c, variable="v") == pytest.approx(-c / 4 * (-v) ** -1.5, rel=1e-15)
    # At v = 0 there is no derivative by v, which must not spoil the one by x.
    assert f.derivative(x, 0.0, k, c, variable="x") == k
    with pytest.raises(ModelError, match="first derivative"):
        f.derivative(x, 0.0, k, c, variable="v")


def test_arrays_are_taken_element_by_element():
    t = np.linspace(0.0, 1.0, 6).reshape(2, 3)
    np.testing.assert_allclose(Function("sin(t)").derivative(t), np.cos(t), rtol=1e-15)
    f = Function("x*v", variables=("x", "v"))
    np.testing.assert_array_equal(f([1.0, 2.0], 3.0), [3.0, 6.0])
    assert isinstance(f(1, 2), float)


def test_constant_and_polynomial():
    assert all_three(Function(3), 5.0) == (3.0, 0.0, 0.0)
    t = 0.3
    f = Function.polynomial([1.0, -2.0, 0.5, 4.0])
    assert all_three(f, t) == pytest.approx(
        (1 - 2 * t + 0.5 * t**2 + 4 * t**3, -2 + t + 12 * t**2, 1 + 24 * t), rel=1e-14
    )
    assert all_three(Function.polynomial([7.0]), t) == (7.0, 0.0, 0.0)


def test_table_is_the_natural_spline_with_its_tangents():
    # By hand: points (0, 0), (1, 1), (2, 0). Natural: M0 = M2 = 0 and M0 + 4 M1 + M2 = 6 (0 - 2 + 0), so M1 = -3 and
    # y = 1.5 x - 0.5 x³ on [0, 1], symmetric about x = 1, with slopes 1.5 and -1.5 at the ends.
    f = Function.table([0, 1, 2], [0, 1, 0], interpolation="spline")
    for x in (0.0, 0.25, 0.9):
        expected = (1.5 * x - 0.5 * x**3, 1.5 - 1.5 * x**2, -3 * x)
        assert all_three(f, x) == pytest.approx(expected, abs=1e-14)
        assert f(2.0 - x) == pytest.approx(expected[0], abs=1e-14)
    assert all_three(f, -2.0) == pytest.approx((-3.0, 1.5, 0.0), abs=1e-14)
    assert all_three(f, 4.0) == pytest.approx((-3.0, -1.5, 0.0), abs=1e-14)
    for x in (0.0, 1.0, 2.0):
        assert all_three(f, x - 1e-9) == pytest.approx(all_three(f, x + 1e-9), abs=1e-7)
    line = Function.table([0, 2], [1, 5], interpolation="spline")
    assert all_three(line, 3.0) == pytest.approx((7.0, 2.0, 0.0), abs=1e-14)


def test_a_monotone_table_keeps_the_shape_of_its_points():
    # By hand: (0, 0), (1, 1), (2, 0). A peak has slope 0; at the ends the parabola through three points has slope 2,
    # so y = 2 x - x² on [0, 1]. Outside the end values are held.
    f = Function.table([0, 1, 2], [0, 1, 0])
    assert f.interpolation == "monotone"
    for x in (0.0, 0.25, 0.9):
        assert all_three(f, x) == pytest.approx((2 * x - x * x, 2 - 2 * x, -2.0), abs=1e-14)
        assert f(2.0 - x) == pytest.approx(2 * x - x * x, abs=1e-14)
    assert all_three(f, -3.0) == all_three(f, 5.0) == (0.0, 0.0, 0.0)
    assert all_three(Function.table([0, 2], [1, 5]), 0.5) == pytest.approx((2.0, 2.0, 0.0), abs=1e-14)
    rng = np.random.default_rng(3)
    for n in (3, 4, 9):
        x, y = np.cumsum(rng.uniform(0.1, 2.0, n)), rng.normal(size=n)
        where = np.linspace(x[0], x[-1], 203)
        np.testing.assert_allclose(Function.table(x, y)(where), PchipInterpolator(x, y)(where), atol=1e-13)
        rises = np.diff(Function.table(x, np.sort(y))(where))
        assert rises.min() >= -1e-14


def test_a_table_names_its_interpolations():
    with pytest.raises(ModelError, match="interpolation: found 'cubic'; allowed are 'monotone' and 'spline'"):
        Function.table([0, 1], [0, 1], interpolation="cubic")
    assert Function.from_source({"table": [[0, 1, 2], [0, 1, 0]]}).interpolation == "spline"  # as files once meant it


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("if(t > 3, 100, 0)", [3.0]),
        ("if(t >= 3, 100, 0)", [3.0]),
        ("if(t > 7.3, if(t < 7.8, 100, 0), 0)", [7.3, 7.8]),
        ("100*(t >= 0.1)*(t <= 0.30000000000000004)", [0.1, 0.30000000000000004]),
        ("step(t, 1, 0, 2, 5) - step(t, 2, 0, 3, 5)", [1.0, 2.0, 3.0]),
        ("max(0, 1 - abs(t - 2)/0.0001)", [1.9999, 2.0, 2.0001]),
        ("min(t, 3, 10 - t)", [3.0, 7.0]),
        ("(t - 3)**2 < 1e-10", [2.99999, 3.00001]),
        ("sign(t - 4)", [4.0]),
        ("if(t > 0, if(t < 10, 1, 0), 0)", [0.0, 10.0]),
        ("sin(t) + t**2 - exp(-t)", []),
        ("if(sin(50*t) > 0.3, 1, 0)", [(2 * k * pi + x) / 50 for k in range(80) for x in (asin(0.3), pi - asin(0.3))]),
        ("sign(abs(sin(pi*t)) - 0.5)", [k + x for k in range(10) for x in (0.0, 1 / 6, 5 / 6)]),
        ("asin(sin(pi*t))", [k + 0.5 for k in range(10)]),
        ("if(t < 12, 0, 1)", []),
    ],
)
def test_an_expression_knows_where_it_switches(text, places):
    np.testing.assert_allclose(Function(text).breakpoints(0.0, 10.0), places, rtol=0, atol=2e-14)


def test_tables_and_callables_have_breakpoints():
    assert Function.piecewise_linear([0, 1, 3, 9], [0, 1, 0, 0]).breakpoints(0.5, 4.0).tolist() == [1.0, 3.0]
    assert Function.table([0, 1, 3], [0, 1, 0]).breakpoints(0.0, 4.0).tolist() == [0.0, 1.0, 3.0]
    assert Function(lambda t: t, breakpoints=[3.2, 3.0]).breakpoints(0.0, 10.0).tolist() == [3.0, 3.2]
    assert Function("tanh(t)", breakpoints=[1.0]).breakpoints(0.0, 10.0).tolist() == [1.0]
    assert not len(Function(lambda t: t).breakpoints(0.0, 10.0))
    with pytest.raises(ModelError, match="breakpoints= is for a callable or an expression of one variable"):
        Function(3.0, breakpoints=[1.0])
    with pytest.raises(ModelError, match="found 'soon'; allowed is a sequence of 1 or more finite numbers"):
        Function("t", breakpoints="soon")
    with pytest.raises(ValueError, match="has the variables x, y; breakpoints need one"):
        Function("x + y", ("x", "y")).breakpoints(0.0, 1.0)


def test_a_tree_has_the_values_of_its_program():
    x = np.linspace(-3.0, 4.0, 141)
    text = (
        "if(t < 0.3, sin(2*t)**2, max(cos(t), tan(t/9), 0.1)) + step(t, -1, 2, 1, 3)*abs(t) - atan2(t, 2) + "
        "asin(t/9) + acos(t/9) + atan(t) + sinh(t/3)/cosh(t) + tanh(-t)*exp(-t*t) + log(t + 4) + sqrt(t + 3) + "
        "sign(t)*(t >= 1) + (t != 2) + (t == 2) + (t <= 0.1)*(t > -2) + min(t, 2)"
    )
    for f in (Function(text), Function.table([-1, 0, 2], [1, -1, 3]), Function.polynomial([1, 2, -0.5])):
        np.testing.assert_allclose(tree(f.program).values(x), f(x), rtol=1e-13, atol=1e-13)


def test_a_tree_of_a_thousand_terms():
    """As deep as it is long: Python's limit of recursion ended a run without a word about the expression."""
    f = Function("+".join(["abs(t - 1)"] * 900) + "+exp(-t)")
    assert f.program is not None
    t = np.linspace(0.0, 3.0, 7)
    np.testing.assert_allclose(tree(f.program).values(t), 900 * abs(t - 1) + np.exp(-t), rtol=1e-12)
    looked = features(f, 0.0, 3.0)
    np.testing.assert_allclose(looked.jumps, 1.0, atol=1e-14)


def test_many_points_are_evaluated_in_blocks():
    f = Function("if(t > 1.23, t*sin(40*t), exp(-((t - 0.7)/0.01)**2))")
    t = np.linspace(0.0, 3.0, 3 * AT_ONCE + 5)
    root = tree(f.program)
    np.testing.assert_array_equal(root.values(t), np.concatenate([root.values(t[:5]), root.values(t[5:])]))
    np.testing.assert_array_equal(tree(Function("7").program).values(t), np.full(len(t), 7.0))


def test_what_changes_everywhere_alike_is_looked_at_less_often(monkeypatch):
    """A wave of known period needs its own points only; whether it is smooth or folded."""
    points = []
    values = Node.values
    monkeypatch.setattr(Node, "values", lambda node, x: points.append(x.size) or values(node, x))
    found = Function("abs(sin(3*t) - 0.2)").breakpoints(0.0, 10.0)
    expected = np.concatenate([np.arcsin(0.2) + 2 * pi * np.arange(6), pi - np.arcsin(0.2) + 2 * pi * np.arange(6)]) / 3
    np.testing.assert_allclose(found, np.sort(expected[expected < 10.0]), atol=1e-14)
    assert sum(points) < SAMPLES / 2


def test_table_converges_to_a_smooth_function():
    x = np.linspace(0.0, 2 * pi, 401)  # sin has no curvature at these ends, so the natural spline is of fourth order
    f = Function.table(x, np.sin(x), interpolation="spline")
    where = np.linspace(0.1, 6.0, 77)
    np.testing.assert_allclose(f(where), np.sin(where), atol=1e-9)
    np.testing.assert_allclose(f.derivative(where), np.cos(where), atol=1e-6)


def test_piecewise_linear():
    f = Function.piecewise_linear([0.0, 1.0, 3.0], [0.0, 2.0, 1.0])
    for t, expected in [
        (-1.0, (-2, 2, 0)),
        (0.5, (1, 2, 0)),
        (1.0, (2, -0.5, 0)),
        (2.0, (1.5, -0.5, 0)),
        (5.0, (0, -0.5, 0)),
    ]:
        assert all_three(f, t) == pytest.approx(expected, abs=1e-15)


def test_callables():
    f = Function(np.sin, derivatives=(np.cos, lambda t: -np.sin(t)))
    assert all_three(f, 0.7) == pytest.approx((sin(0.7), cos(0.7), -sin(0.7)), rel=1e-15)
    g = Function(lambda x, y: math.exp(x) * y**3, variables=("x", "y"))
    x, y = 0.4, 1.3
    assert g(x, y) == pytest.approx(exp(x) * y**3, rel=1e-15)
    assert g.derivative(x, y) == pytest.approx(exp(x) * y**3, rel=1e-10)
    assert g.derivative(x, y, variable="y") == pytest.approx(exp(x) * 3 * y**2, rel=1e-10)
    assert g.second_derivative(x, y, variable="y") == pytest.approx(exp(x) * 6 * y, rel=1e-8)
    fast = Function(lambda t: math.sin(200.0 * t))
    assert fast.derivative(0.3) == pytest.approx(200.0 * cos(60.0), rel=1e-8)
    with pytest.raises(ModelError, match="not finite"):
        Function(lambda t: math.inf)(0.0)
    with pytest.raises(ModelError, match="derivatives="):
        Function("t", derivatives=(np.cos, np.cos))


REFUSED = {
    "": "empty",
    "   ": "empty",
    "t.real": "position 2: found '.'; an expression has no attributes",
    "().__class__": "position 3: found '.'",
    "__import__": "there is no variable '__import__'",
    "__import__(t)": "there is no function '__import__'",
    "eval(t)": "there is no function 'eval'",
    "t(3)": "there is no function 't'",
    "1 + sni(t)": "position 5: there is no function 'sni'; did you mean 'sin'?",
    "sin": "needs arguments",
    "'abc'": "an expression has no text",
    '"abc"': "an expression has no text",
    "x + t": "position 1: there is no variable 'x'",
    "2t": "position 2",
    "t +": "position 4: found the end",
    "(t": "position 3: found the end where ')' is expected",
    "t)": "position 2",
    "t^2": "powers are written **",
    "t = 1": "compare with ==",
    "0 < t < 1": "cannot be chained",
    "[t]": "no lists",
    "lambda: t": "position 7",
    "t if t else 1": "position 3",
    "sin(t, t)": "position 1: found 2 arguments; write sin(x)",
    "atan2(t)": "write atan2",
    "step(t, 0, 1)": "write step",
    "min(t)": "two or more",
    "if(t, 1)": "',' is expected",
    "if(t, 1, 2, 3)": "is expected",
    "1e999": "too large",
    "t;t": "position 2",
    "τ": "position 1",
    "(" * 10_000 + "t" + ")" * 10_000: "characters",
    "(" * 4_000 + "t" + ")" * 4_000: "nested",
    "-" * 5_000 + "t": "nested",
    "2**" * 2_000 + "2": "nested",
    "sin(" * 1_000 + "t" + ")" * 1_000: "nested",
    "9**9**9**9": "not finite",
    "1/0": "division by zero",
}


# 9**9**9**9 in whole numbers would never end.
@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=lambda entry: entry[:20])
def test_refusals(text, message):
    with pytest.raises(ModelError) as caught:
        Function(text)
    assert message in str(caught.value)


def expressions() -> st.SearchStrategy[str]:
    """Random arithmetic that Python reads in the same way, with as few parentheses as the grammar allows."""
    leaves = st.sampled_from(["t", "2.0", "0.5", "3e0", "pi"])
    return st.recursive(
        leaves,
        lambda inner: (
            st.tuples(inner, st.sampled_from([" + ", "-", "*", " / ", "**"]), inner).map("".join)
            | inner.map("-{}".format)
            | inner.map("({})".format)
            | inner.map("cos({})".format)
            | st.tuples(inner, inner).map("atan2({0[0]}, {0[1]})".format)
        ),
        max_leaves=8,
    )


@settings(deadline=None)  # which a busy machine would miss
@given(text=expressions(), t=st.floats(0.1, 3.0))
def test_precedence_is_that_of_python(text: str, t: float):
    try:
        expected = eval(text, {"t": t, "pi": pi, "cos": cos, "atan2": atan2})
    except (ZeroDivisionError, OverflowError, TypeError):  # Python goes on with complex numbers until cos meets one
        expected = math.inf
    assume(isinstance(expected, complex) or not 1e300 < abs(expected) < math.inf)  # derivatives may overflow there
    if isinstance(expected, complex) or not abs(expected) < 1e300:
        with pytest.raises(ModelError):
            Function(text)(t)
    else:
        assert Function(text)(t) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(deadline=None)  # which a busy machine would miss
@given(text=st.text("t109.e+-*/()<>=, sincosqrtabifmx_\"'[]{}:\\", max_size=40), t=st.floats())
def test_any_text_is_a_function_or_a_model_error(text: str, t: float):
    with contextlib.suppress(ModelError):
        assert math.isfinite(Function(text)(t))


def test_expressions_that_differ_in_their_numbers_only_share_what_was_parsed():
    """They are most of what models with many loads have; each tells its own positions."""
    second = Function.with_signals("123.456*log(0.25*t) + 1e-3*u")
    assert second.bound({"u": 1e3})(4.0) == 1.0
    third = Function.with_signals("7*log(2*t) + 1E+5*u")
    assert third.program.code is second.program.code
    with pytest.raises(ModelError, match="position 9: log needs"):
        second.bound({"u": 0.0})(-1.0)
    with pytest.raises(ModelError, match="position 3: log needs"):
        third.bound({"u": 0.0})(-1.0)


PIECES = ("t", "pi", "2", "2.5", "1e-3", ".5", "3.", "1E+5", "u.force", "push", "+", "*", "**", "-", " ", "(", ")")
PIECES += ("sin(", "max(", ",", "e", ".", "e93", "if(", "<", "x1", "é")


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_shared_pattern_is_what_the_whole_text_is(text: str):
    """Numbers are taken out of the text before it is parsed: with them it has the same program, or the same fault."""

    def outcome(compiled: Any) -> Any:
        try:
            program, signals = compiled()
        except ModelError as error:
            return str(error)
        return program.code.tolist(), program.constants.tolist(), program.positions, program.varies, tuple(signals)

    def at_once() -> Any:
        compiler = Compiler(text, ("t",), [])
        return compiler.compile(), compiler.signals

    assert outcome(lambda: compiled_with_signals(text, ("t",))) == outcome(at_once)


def test_nesting_and_length_that_are_allowed():
    deep = MAX_NESTING - 1
    assert Function("(" * deep + "t" + ")" * deep)(2.0) == 2.0
    assert Function("+".join(["t"] * 4000))(2.0) == 8000.0


def test_nesting_that_needs_too_much_stack():
    with pytest.raises(ModelError, match="too deeply"):
        Function("step(1,1,1,1," * 20 + "t" + ")" * 20)


@pytest.mark.parametrize(
    ("text", "t", "reason"),
    [
        ("log(t)", 0.0, "position 1: log needs a positive argument"),
        ("1 + sqrt(t)", -1.0, "position 5: sqrt"),
        ("1/t", 0.0, "position 2: division by zero"),
        ("asin(t)", 1.1, "asin"),
        ("acos(t)", -1.1, "acos"),
        ("exp(t)", 1e3, "overflow"),
        ("cosh(t)", 1e3, "overflow"),
        ("sinh(t)", -1e3, "overflow"),
        ("t*t", 1e200, "overflow"),
        ("t**0.5", -1.0, "negative base"),
        ("t**-1", 0.0, "divides by zero"),
        ("9**9**t", 9.0, "power overflows"),
        ("step(1, t, 0, 0, 1)", 0.0, "t0 < t1"),
        ("t", math.inf, "not finite"),
        ("t", math.nan, "not finite"),
    ],
)
def test_values_that_are_not_finite_are_errors(text, t, reason):
    with pytest.raises(ModelError, match=reason):
        Function(text)(t)


@pytest.mark.parametrize(("text", "t"), [("sqrt(t)", 0.0), ("asin(t)", 1.0), ("acos(t)", -1.0), ("t**0.5", 0.0)])
def test_a_value_without_a_derivative(text, t):
    f = Function(text)
    assert math.isfinite(f(t))
    with pytest.raises(ModelError, match="first derivative"):
        f.derivative(t)


def test_bad_data_is_refused_with_all_problems():
    with pytest.raises(ModelError, match="increase strictly"):
        Function.table([0, 1, 1], [0, 1, 2])
    with pytest.raises(ModelError) as caught:
        Function.table([0, 2, 1], [0, math.nan, 1])
    assert [problem.field for problem in caught.value.problems] == ["y", "x"]
    for make in (
        lambda: Function.table([0, 1], [0, 1, 2]),
        lambda: Function.table([0], [0]),
        lambda: Function.table([[0, 1]], [0, 1]),
        lambda: Function.piecewise_linear([1, 0], [0, 1]),
        lambda: Function.polynomial([]),
        lambda: Function.polynomial(["a"]),
        lambda: Function(math.inf),
        lambda: Function(True),
        lambda: Function(None),  # type: ignore[arg-type]
        lambda: Function(Function("t")),
        lambda: Function("t", variables=("t", "t")),
        lambda: Function("t", variables=()),
        lambda: Function("sin", variables=("sin",)),
        lambda: Function("e", variables=("e",)),
        lambda: Function("_a", variables=("_a",)),
    ):
        with pytest.raises(ModelError):
            make()


def test_wrong_calls():
    with pytest.raises(TypeError, match="2 arguments"):
        Function("t")(1.0, 2.0)
    with pytest.raises(ValueError, match="not 'x'"):
        Function("t").derivative(1.0, variable="x")


PROGRAMS = [
    Function("sin(2*t)"),
    Function("x*v", variables=("x", "v")),
    Function(3.5),
    Function(3.5, variables=("x", "v")),
    Function.polynomial([1, 2, 3], variable="x"),
    Function.table([0, 1, 3], [0, 2, 1]),
    Function.piecewise_linear([0, 1, 3], [0, 2, 1], variable="u"),
]


@pytest.mark.parametrize("f", PROGRAMS, ids=repr)
def test_source_repr_pickle_and_equality(f: Function):
    for same in (
        Function.from_source(json.loads(json.dumps(f.source))),
        pickle.loads(pickle.dumps(f)),
        copy.deepcopy(f),
        eval(repr(f), {"Function": Function}),
    ):
        assert same == f
        assert hash(same) == hash(f)
        assert repr(same) == repr(f)
        assert same.source == f.source
    assert [other for other in PROGRAMS if other == f] == [f]


def test_callables_have_no_source():
    f = Function(math.sin)
    assert f.source is None
    assert f.row == NO_ROW
    assert f == Function(math.sin)
    assert f != Function(math.cos)
    assert pickle.loads(pickle.dumps(f)) == f


@pytest.mark.parametrize(
    "source", [None, [], {}, {"table": [1]}, {"code": "t"}, {"table": [[0, 1], [0, 1]], "x": 1}, True]
)
def test_bad_sources_are_refused(source):
    with pytest.raises(ModelError):
        Function.from_source(source)


def test_row_points_to_the_program():
    f = Function("2*t + 1")
    code, n_code, constants, n_constants, *_ = f.row
    assert f.program is not None
    assert (n_code, n_constants) == (f.program.code.size, f.program.constants.size)
    seen = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_int64 * n_code).from_address(code))
    np.testing.assert_array_equal(seen, f.program.code)
    assert np.ctypeslib.ctypes.c_double.from_address(constants).value == 2.0
    assert not f.program.code.flags.writeable
    assert not f.program.constants.flags.writeable


@pytest.mark.boundscheck
def test_compiled_equals_interpreted_on_all_opcodes():
    compiled = numba.njit(ops.evaluate_program)
    cases = [(Function(text), t) for text, _, t in CLOSED_FORMS]
    cases += [(f, t) for f in PROGRAMS if len(f.variables) == 1 for t in (-0.5, 0.0, 0.4, 1.0, 2.3, 4.0)]
    # Values and derivatives that do not exist.
    bad = ["log(t)", "sqrt(t)", "1/t", "t**-1", "t**0.5", "acos(t+2)", "asin(t+1)", "exp(t+800)", "cosh(t+800)", "t**t"]
    bad += ["atan2(t, t)", "(t-1)**0.5", "step(t, t, 0, t, 1)", "sinh(t+800)", "abs(t)"]
    cases += [(Function(text), 0.0) for text in bad]
    seen: set[int] = set()
    for f, t in cases:
        assert f.program is not None
        seen.update(f.program.code[::2].tolist())
        for which in (0, -1):
            status, expected = f.program.run((t,), which)
            stack = np.full((ops.STACK_ROWS, ops.STACK_DEPTH), np.nan)
            with np.errstate(all="ignore"):  # run without the compiler, arrays give NumPy's scalars, which warn
                assert compiled(f.program.code, f.program.constants, np.array([t]), which, stack) == status, f
            if status == 0:
                np.testing.assert_allclose(stack[:3, 0], expected, rtol=1e-13, atol=0.0, err_msg=repr(f))
    assert seen == set(range(ops.STEP + 1))
