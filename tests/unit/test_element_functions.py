"""Functions in the methods of elements: interpreted and compiled, and their integrals."""

import numpy as np
import pytest

import mbframe as mb
from mbframe import jets
from mbframe.equations.tables import Tables
from mbframe.functions import Function, evaluate, given, integral, slope
from mbframe.kernels.compiler.compile import jitted


class Probe(mb.ForceElement):
    """A force along x by a function of the position there."""

    law = mb.parameter(0.0, kind="function", variables=("x",), help="force by x")
    several = mb.parameter((0.0, 0.0), kind="functions", shape=(2,), help="two functions of time")

    def wrench(self, t, i, j):
        return (evaluate(self.law, j.position[0]), 0.0, 0.0), (0.0, 0.0, 0.0)


def values(probe, x):
    return evaluate(probe.law, x), slope(probe.law, x), evaluate(probe.several[0], x), evaluate(probe.several[1], x)


def complex_value(probe, x):
    return evaluate(probe.law, x)


def integrated(probe, x):
    return integral(probe.law, x)


def new_probe(law, **functions):
    """A probe in a system, and its row."""
    system = mb.System("probe")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    probe = system.add(Probe("probe", system.ground, body, law=law, **functions))
    return probe, Tables(system, None).force_tables[0]


LAWS = [
    "2*x + sin(3*x)*exp(-x**2) + if(x > 0.3, tanh(x), atan2(x, 2))",
    Function.table([-1.0, 0.0, 0.5, 2.0], [1.0, -1.0, 3.0, 0.5], "x"),
    Function.piecewise_linear([-1.0, 0.2, 2.0], [1.0, 0.0, 4.0], "x"),
    Function.polynomial([1.0, -2.0, 0.0, 3.0], "x"),
    4.5,
]


@pytest.mark.boundscheck
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_compiled_methods_evaluate_functions_as_interpreted_ones(law):
    probe, table = new_probe(law, several=("cos(t)", -2.0))
    for x in (-1.3, 0.1, 0.9, 2.5):
        expected = probe.law(x), probe.law.derivative(x), np.cos(x), -2.0
        np.testing.assert_allclose(values(probe, x), expected, rtol=1e-14)
        np.testing.assert_allclose(jitted(values)(table.rows[0], x), expected, rtol=1e-14)


def has_law(spring):
    return given(spring.force), given(spring.damping_force)


def test_optional_functions():
    """In rows of our own types: of a user's, what is not given is left out, so that `is None` means what it says."""
    system = mb.System("spring")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0)))
    spring = system.add(mb.SpringDamper("spring", system.ground, body, force="x", free_length=0.0))
    (table,) = Tables(system, None).force_tables
    assert has_law(spring) == jitted(has_law)(table.rows[0]) == (True, False)


def test_complex_steps_carry_the_derivative():
    probe, table = new_probe("sin(x)")
    for function, first in ((complex_value, probe), (jitted(complex_value), table.rows[0])):
        found = function(first, 0.7 + 1e-30j)
        assert found.real == pytest.approx(np.sin(0.7), rel=1e-15)
        assert found.imag == pytest.approx(1e-30 * np.cos(0.7), rel=1e-15)
    assert slope(probe.law, 0.7 + 1e-30j).imag == pytest.approx(-1e-30 * np.sin(0.7), rel=1e-15)


def test_jets_carry_derivatives():
    f = Function("x**3", ["x"])
    value, gradient, hessian = jets.derivatives(lambda x: evaluate(f, 2.0 * x[0] + x[1]), [[0.5, 1.0]])
    assert value == pytest.approx(8.0)
    np.testing.assert_allclose(gradient, 12.0 * np.array([2.0, 1.0]))
    np.testing.assert_allclose(hessian, 12.0 * np.array([[4.0, 2.0], [2.0, 1.0]]))
    _, gradient = jets.jacobian(lambda x: slope(f, x), [2.0])
    np.testing.assert_allclose(gradient, [12.0])
    with pytest.raises(TypeError, match="derivatives of f"):
        jets.derivatives(lambda x: slope(f, x), [2.0])


@pytest.mark.parametrize(
    ("law", "x", "expected"),
    [
        (Function.polynomial([1.0, 0.0, 3.0, 0.0, 5.0, 0.0, 0.0, 8.0], "x"), -1.5, -1.5 - 1.5**3 - 1.5**5 + 1.5**8),
        (Function("cos(20*x)", ["x"]), 3.0, np.sin(60.0) / 20.0),
        (Function("exp(x)*1e9", ["x"]), -30.0, 1e9 * np.expm1(-30.0)),
        (Function.piecewise_linear([0.0, 0.3, 1.0], [0.0, 0.0, 7.0], "x"), 0.9, 5.0 * 0.6**2),
        (Function("abs(x - 0.1)", ["x"]), -0.7, -0.5 * (0.8**2 - 0.1**2)),
        (Function("sqrt(abs(x))", ["x"]), 2.0, 2.0**1.5 * 2.0 / 3.0),
        (Function(3.0, ["x"]), 2.0, 6.0),
        (Function("x", ["x"]), 0.0, 0.0),
    ],
    ids=lambda value: str(value) if isinstance(value, Function) else "",
)
def test_integrals(law, x, expected):
    assert integral(law, x) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_integral_of_a_jump():
    assert integral(Function("if(x > 0.1, 1000, 0)", ["x"]), 0.7) == pytest.approx(600.0, rel=1e-11)


@pytest.mark.parametrize("x", [0.7, -3.3])
def test_integral_of_what_switches_with_a_wave(x):
    """5 in the first half of every period: its switches are too many to be known everywhere."""
    period = 2.0 * np.pi / 300.0
    whole = np.floor(x / period)
    expected = 5.0 * (0.5 * period * whole + min(x - whole * period, 0.5 * period))
    assert integral(Function("if(sin(300*x) > 0, 5, 0)", ["x"]), x) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("x", [0.9, -0.9])
def test_integral_over_something_narrow(width, x):
    """Of a peak, a notch, a pair of switches and a table: between the points of a plain quadrature nothing shows."""
    peak = f"50*x + 300*exp(-((abs(x) - 0.3)/{width})**2)"
    even = np.sign(x) * 300.0 * np.sqrt(np.pi) * width
    notch = f"100/(1 + ((x - {0.4 * x})/{width})**2)"
    arctangents = 100.0 * width * (np.arctan(0.6 * x / width) + np.arctan(0.4 * x / width))
    switches = f"tanh((x - {0.5 * x})/{width}) - tanh((x - {0.5 * x} - {20 * width})/{width})"
    nodes = sorted(0.3 * x + width * np.array([-1.0, 0.0, 1.0]))
    cases = [
        (Function(peak, ["x"]), 25.0 * x * x + even),
        (Function(notch, ["x"]), arctangents),
        (Function(f"if(abs(x - {0.7 * x}) < {width}, 40, 0)", ["x"]), np.sign(x) * 80.0 * width),
        (Function.table([-2.0, *nodes, 2.0], [0.0, 0.0, 8.0, 0.0, 0.0], "x"), np.sign(x) * 8.0 * width),
    ]
    if width < 1e-2:  # else the tails reach beyond
        cases.append((Function(switches, ["x"]), np.sign(x) * 40.0 * width))
    for law, expected in cases:
        assert integral(law, x) == pytest.approx(expected, rel=1e-9), law


def test_integral_over_rounding_ends():
    """f = -50 + 50 (x + 1) is rounding where x is tiny: no two halves agree there."""
    law = Function.piecewise_linear([-1.0, 0.0, 1.0], [-50.0, 0.0, 200.0], "x")
    assert abs(integral(law, -1e-13)) < 1e-20


def test_compiled_integral_is_the_interpreted_one():
    probe, table = new_probe("cos(5*x) + abs(x - 0.2) + exp(-((x - 0.3)/1e-5)**2)")
    expected = np.sin(5.0) / 5.0 + 0.5 * (0.2**2 + 0.8**2) + np.sqrt(np.pi) * 1e-5
    assert integrated(probe, 1.0) == pytest.approx(expected, rel=1e-13)
    assert jitted(integrated)(table.rows[0], 1.0) == pytest.approx(expected, rel=1e-13)


def test_integral_from_a_singular_point_is_refused():
    with pytest.raises(mb.ModelError, match="not finite"):
        integral(Function("1/x", ["x"]), 1.0)
    _, table = new_probe("1/x")
    assert np.isnan(jitted(integrated)(table.rows[0], 1.0))


@pytest.mark.parametrize(
    ("law", "note"),
    [("3*x", None), (lambda x: 3.0 * x, "law of Probe 'probe' is a Python callable")],
    ids=["expression", "callable"],
)
def test_users_elements_may_have_functions(law, note):
    """Of whatever kind: a body at x = 0.5 is pushed with 3 x."""
    system = mb.System("probe", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(1.0, 1.0, 1.0), position=(0.5, 0.0, 0.0)))
    system.add(Probe("probe", system.ground, body, law=law))
    eq = mb.Equations(system)
    y = eq.coordinates(eq.described())
    acceleration, _ = eq.accelerate(0.0, *eq.split(y))
    np.testing.assert_allclose(acceleration, [0.75, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-15)
    assert [n for n in eq.notices if note is None or note not in n] == []
    tangent = eq.tangent(0.0, *eq.split(y)[:2], np.zeros(6), np.zeros(0))
    expected = np.zeros((6, 6))
    expected[0, 0] = -3.0
    np.testing.assert_allclose(tangent.stiffness.toarray(), expected, atol=1e-9)


def test_functions_of_several_variables_run_in_python():
    class Pair(mb.ForceElement):
        law = mb.parameter("x*v", kind="function", variables=("x", "v"), help="force by x and v")

        def wrench(self, t, i, j):
            return (self.law(j.position[0], j.velocity[0]), 0.0, 0.0), (0.0, 0.0, 0.0)

    system = mb.System("pair", gravity=(0.0, 0.0, 0.0))
    body = mb.RigidBody("body", mass=2.0, inertia=(1.0, 1.0, 1.0), position=(0.5, 0.0, 0.0), velocity=(3.0, 0.0, 0.0))
    system.add(body)
    system.add(Pair("pair", system.ground, body))
    result = mb.evaluate(system)
    np.testing.assert_allclose(result.acceleration(body)[0, 0], 0.75)
    assert any("a function of several variables" in note for note in mb.Equations(system).notices)
