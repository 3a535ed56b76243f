"""What a run knows of its functions beforehand: breaks, bounds, and nothing where there is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.equations import Equations
from mbframe.expression_trees import tree
from mbframe.features import Bounds, changing, features
from mbframe.functions import evaluate
from mbframe.kernels.integrators.schedule import reach
from mbframe.poles import may_have_poles
from mbframe.solvers.schedule import scheduled, time_functions


def bounds_at_random(rng: np.random.Generator) -> Bounds:
    places = np.sort(rng.uniform(-5.0, 5.0, 8))
    limits = rng.uniform(0.1, 3.0, 8)
    limits[rng.integers(8, size=3)] = np.inf
    return Bounds(places, limits)


@pytest.mark.parametrize("forward", [True, False])
def test_how_far_one_may_go(forward: bool) -> None:
    """From the definition: never farther into a stretch than its bound, and within one never farther than that."""
    rng = np.random.default_rng(5)
    function: Any = getattr(reach, "py_func", reach)
    for _ in range(50):
        bounds = bounds_at_random(rng)
        for x in (*rng.uniform(-7.0, 7.0, 5), bounds.places[3]):
            edges = np.concatenate([[-np.inf], bounds.places, [np.inf]])
            limits = np.concatenate([[np.inf], bounds.limits])
            expected = np.inf
            for a, b, limit in zip(edges[:-1], edges[1:], limits, strict=True):
                if a <= x < b:
                    expected = min(expected, limit)
                elif forward and a > x:
                    expected = min(expected, a - x + limit)
                elif not forward and b <= x:
                    expected = min(expected, x - b + limit)
            assert bounds.reach(float(x), forward) == pytest.approx(expected)
            assert function(bounds.places, bounds.limits, 8, float(x), forward) == pytest.approx(expected)


def test_the_smaller_bound_holds() -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        one, other = bounds_at_random(rng), bounds_at_random(rng)
        x = rng.uniform(-6.0, 6.0, 50)
        np.testing.assert_array_equal(one.both(other).at(x), np.minimum(one.at(x), other.at(x)))


@pytest.mark.parametrize(
    "text",
    [
        "3",
        "2*t**3 - t",
        "sin(50*t + 1)",
        "(1 + t)*cos(3*t)*sin(2*t)",
        "if(t > 20, 7, 5*t)",
    ],
)
def test_what_needs_no_look_gets_no_bounds(text: str) -> None:
    found = features(mb.Function(text), 0.0, 10.0)
    assert not len(found.jumps)
    assert not len(found.bounds.places)


def test_bounds_follow_the_width_of_a_pulse() -> None:
    """Steps at the peak of exp(-(t/s)²/2) are not longer than 2 s, nor so short that they cost more than they must."""
    for width in (1e-3, 1e-2, 0.1, 1.0):
        bounds = features(mb.Function(f"exp(-((t - 4)/{width})**2/2)"), 0.0, 10.0).bounds
        assert 0.2 * width < bounds.reach(4.0) < 2.0 * width
        assert bounds.reach(4.0 - 5.0 * width) < 6.0 * width


def test_tables_stop_steps_only_where_their_pieces_part() -> None:
    x = np.linspace(0.0, 10.0, 401)
    smooth = features(mb.Function.table(x, np.sin(x), interpolation="spline"), 0.0, 10.0)
    assert len(smooth.nodes) < 5
    pulse = features(mb.Function.table([0, 4, 4.1, 4.2, 10], [0, 0, 1, 0, 0]), 0.0, 10.0)
    assert pulse.nodes.tolist() == [4.0, 4.1, 4.2]
    narrow = np.linspace(3.9, 4.1, 301)  # many points on a narrow hill: no step may pass it
    hill = features(mb.Function.table(narrow, np.exp(-(((narrow - 4.0) / 0.02) ** 2))), 0.0, 10.0)
    assert hill.bounds.reach(3.0) < 1.05 or np.any((hill.nodes > 3.95) & (hill.nodes < 4.05))


def test_only_what_rises_and_falls_is_watched() -> None:
    assert not len(changing(mb.Function("if(x < 0, 2*x, 5*x)", ("x",)), -10.0, 10.0).places)
    assert not len(changing(mb.Function("0.1*sin(x)", ("x",)), -100.0, 100.0).places)
    bump = changing(mb.Function("if(x < 15, 0, if(x > 20, 0, 0.1*(1 - cos(2*pi*(x - 15)/5))))", ("x",)), -90.0, 110.0)
    assert bump.reach(14.0) < 3.5
    assert bump.reach(17.0) <= 2.5


def test_examples_without_pulses_have_nothing_to_heed() -> None:
    for name in mb.examples.names():
        for _, _, function in time_functions(getattr(mb.examples, name)()):
            found = features(function, 0.0, 5.0)
            assert not len(found.jumps)
            assert not len(found.bounds.places)
    system = mb.examples.slider_crank()
    eq = Equations(system)
    schedule = scheduled(eq, eq.coordinates(eq.described()), 0.0, 5.0, None, False)
    assert schedule.empty
    assert schedule.record() == 0


def test_breaks_that_rounding_cannot_tell_apart_are_one() -> None:
    system = mb.System("mass")
    body = system.add(mb.RigidBody("mass", mass=1.0, inertia=(1, 1, 1)))
    forces = ("if(t > 0.3, 1, 0)", "if(t >= 0.1 + 0.2, 1, 0)", "if(t > 1e-17, 1, 0)")
    system.add(mb.PointForce("loads", body, force=forces))
    eq = Equations(system)
    schedule = scheduled(eq, eq.coordinates(eq.described()), 0.0, 1.0, None, False)
    assert schedule.breaks[:, 1].tolist() == [0.0, 0.30000000000000004]
    before, _, after, anew = schedule.breaks[1]
    assert before < 0.3 < after
    assert anew == 1.0


class Modulated(mb.ForceElement):
    """z' = cos(7 t) v: it uses the time itself, and reads a marker."""

    states = 1

    def state_rate(self, t, i, j, z):
        return [np.cos(7.0 * t) * j.velocity[0]]

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)


class ModulatedBeyond(Modulated):
    """The same, which has no value later on."""

    def state_rate(self, t, i, j, z):
        return [np.cos(7.0 * t) / {"x": 1.0}["x" if t < 1.0 else "y"]]


def beside(force: type[mb.ForceElement]) -> mb.System:
    system = mb.System("beside", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=1.0, velocity=(3, 0, 0)))
    system.add(force("force", system.ground, mass))
    return system


def warnings_before(system: mb.System, told: bool = False, dt: float | None = None) -> list[str]:
    eq = Equations(system)
    return scheduled(eq, eq.coordinates(eq.described()), 0.0, 3.0, dt, told).warnings


def test_a_method_that_multiplies_time_with_a_velocity_is_looked_at() -> None:
    assert warnings_before(beside(Modulated)) == []


def test_a_method_that_cannot_be_looked_at_says_why() -> None:
    (warning,) = warnings_before(beside(ModulatedBeyond))
    assert "ModulatedBeyond 'force', state_rate: it uses the time itself" in warning
    assert "(in the state of the start it raises KeyError: 'y')" in warning


class NarrowPlace(mb.ForceElement):
    def wrench(self, t, i, j):
        x = j.position[0]
        push = np.zeros(3)
        if 5.0 < x < 5.01:
            push[0] = -100.0
        return push, np.zeros(3)


class Touches(mb.ForceElement):
    def wrench(self, t, i, j):
        d = j.position - i.position
        return max(0.1 - np.linalg.norm(d), 0.0) * d, np.zeros(3)


def within(x: float) -> float:
    return np.where(x > 5.0, np.where(x < 5.01, -100.0, 0.0), 0.0)


class CallsOther(mb.ForceElement):
    def wrench(self, t, i, j):
        return within(j.position[0]) * i.axes[:, 0], np.zeros(3)


class CallsOwnMethod(mb.ForceElement):
    def law(self, x):
        return -100.0 if 5.0 < x < 5.01 else 0.0

    def wrench(self, t, i, j):
        return self.law(j.position[0]) * i.axes[:, 0], np.zeros(3)


class CallsStaticMethod(mb.ForceElement):
    @staticmethod
    def law(sign, *, x):
        return sign * np.clip(x, 5.0, 5.01)

    def wrench(self, t, i, j):
        return self.law(1.0, x=j.position[0]) * i.axes[:, 0], np.zeros(3)


class CallsInherited(NarrowPlace):
    def wrench(self, t, i, j):
        push, turn = super().wrench(t, i, j)
        return 2.0 * push, turn


class NarrowHill(mb.ForceElement):
    """Smooth, and stepped over all the same."""

    def wrench(self, t, i, j):
        return 100.0 * np.exp(-(((j.position[0] - 7.3) / 1e-3) ** 2)) * i.axes[:, 1], np.zeros(3)


class NarrowFraction(mb.ForceElement):
    def wrench(self, t, i, j):
        u = (j.position[0] - 7.3) / 1e-3
        return 100.0 / (1.0 + u**2) * i.axes[:, 1], np.zeros(3)


class CallsSmoothMethod(mb.ForceElement):
    """Its other method switches, by a velocity."""

    def law(self, x, speed):
        return -3.0 * x + (1.0 if speed > 0.0 else -1.0)

    def wrench(self, t, i, j):
        return self.law(j.position[0], j.velocity[0]) * i.axes[:, 0], np.zeros(3)


class Guarded(mb.ForceElement):
    """Smooth but for a guard against a division by zero."""

    def wrench(self, t, i, j):
        d = i.position - j.position
        length = np.linalg.norm(d)
        if length < 1e-9:
            return np.zeros(3), np.zeros(3)
        return d / max(length, 1e-12), np.zeros(3)


class DryFriction(mb.ForceElement):
    """Switches by the velocity, and by a parameter."""

    size = mb.parameter(1.0)

    def wrench(self, t, i, j):
        v = j.velocity - i.velocity
        push = np.zeros(3)
        if self.size > 0.0:
            push -= self.size * np.sign(v) * min(1.0, np.linalg.norm(v))
        return push + 2.0 * j.position, np.zeros(3)


INSIDE = [CallsOther, CallsOwnMethod, CallsStaticMethod, CallsInherited]


@pytest.mark.parametrize("force", [NarrowPlace, Touches, NarrowHill, NarrowFraction, *INSIDE])
def test_a_method_that_switches_at_a_place_is_warned_of(force: type[mb.ForceElement]) -> None:
    (warning,) = warnings_before(beside(force))
    assert f"{force.__name__} 'force', wrench: it compares or limits what follows from positions" in warning
    assert "max_step=" in warning
    assert warnings_before(beside(force), told=True) == []


@pytest.mark.parametrize("force", [Guarded, DryFriction, Modulated, CallsSmoothMethod])
def test_a_method_that_is_smooth_in_space_is_not_warned_of(force: type[mb.ForceElement]) -> None:
    assert warnings_before(beside(force)) == []


class DeclaredPlace(mb.ForceElement):
    law = mb.parameter("-100*(x > 5)*(x < 5.01)", kind="function", variables=("x",))

    def wrench(self, t, i, j):
        return np.array([evaluate(self.law, j.position[0]), 0.0, 0.0]), np.zeros(3)


def test_a_declared_function_of_the_place_is_found() -> None:
    """As the warning says: v^2 = 9 - 2 * 100 * 0.01."""
    result = mb.simulate(beside(DeclaredPlace), 10.0)
    assert result.info.warnings == []
    np.testing.assert_allclose(result.velocity("mass")[-1, 0], np.sqrt(7.0), rtol=1e-4)


def test_a_landmark_in_the_last_cell_of_a_piece_is_looked_at() -> None:
    """The zero of the denominator is a break too, and a piece ends there."""
    for text in ("1/(t - 2.1)**2", "1/(t - 2.1)**4", "t/(t - 2.1)**2"):
        found = features(mb.Function(text), 0.0, 5.0)
        assert np.abs(found.jumps - 2.1).min() < 1e-9


class TimePole(mb.ForceElement):
    def wrench(self, t, i, j):
        return np.array([1.0 / (t - 2.1), 0.0, 0.0]), np.zeros(3)


POLES = [
    ("1/(t - 2)", 2.0),
    ("1/(t - 2.1)**2", 2.1),
    ("1000 + 0.01/abs(t - 2.1)", 2.1),
    ("tan(t)", np.pi / 2),
    ("1/sin(t - 2.1)", 2.1),
    ("(t - 2.1)**-1", 2.1),
    ("1/(t**2 - 4.2*t + 4.41)", 2.1),
    ("if(t > 2.1, 1/(t - 2.1), 0)", 2.1),
    (lambda t: 1.0 / (t - 2.0), 2.0),
    (lambda t: 1.0 / (t - 2.1) ** 2, 2.1),
]


@pytest.mark.parametrize(("force", "place"), POLES, ids=lambda given: "callable" if callable(given) else str(given))
def test_a_load_with_a_pole_is_refused(force: Any, place: float) -> None:
    assert features(mb.Function(force), 0.0, 5.0).pole == pytest.approx(place, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "log(abs(t - 2.1))",
        "1/sqrt(abs(t - 2.1))",
        "1/(t - 20)**2",
        "if(abs(t - 2.1) < 0.01, 0, 1/(t - 2.1)**2)",
        "min(100, 1/(t - 2.1)**2)",
        "sin(t - 2.1)/(t - 2.1)",
        "1e-9/((t - 2.1)**2 + 1e-6)**2",
        "100/(1 + ((t - 2.1)/1e-8)**2)",
        "1/(t + 1e-9)**2",
        "tan(t/5)",
        "100*sign(t - 2.1)/(t + 1)",
    ],
)
def test_what_has_an_integral_is_no_pole(text: str) -> None:
    assert features(mb.Function(text), 0.0, 5.0).pole is None


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("cosh(t)", 1.0),
        ("2 + t**2 + exp(-t)", 2.0),
        ("max(t, 3)*(1 + abs(t))", 3.0),
        ("min(5, 1 + sqrt(t))/cosh(t)", 0.0),
        ("t**3", -np.inf),
        ("2 - exp(t)", -np.inf),
    ],
)
def test_what_is_never_below_a_number(text: str, least: float) -> None:
    program = mb.Function(text).program
    assert program is not None
    assert tree(program).least == least


def test_a_divisor_that_never_vanishes_is_no_pole() -> None:
    suspected = [
        text
        for text in ("1/cosh(t)", "1/(1 + t**2)", "(1 + exp(t))**-2", "1/t**2", "1/sin(t)", "abs(t)**-0.5")
        if (program := mb.Function(text).program) is not None and may_have_poles(tree(program))
    ]
    assert suspected == ["1/t**2", "1/sin(t)", "abs(t)**-0.5"]


def test_a_pole_is_refused_by_name() -> None:
    system = mb.System("loads", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    load = system.add(mb.PointForce("load", body, at=(0, 0, 0), force=("1/(t - 2.1)", 0, 0)))
    for settings in ({}, {"dt": 0.01}):
        with pytest.raises(mb.ModelError, match=r"PointForce 'load', force: .*without bound towards t = 2\.1 s"):
            mb.simulate(system, 5.0, **settings)
    assert mb.simulate(system, 2.0).velocity(body)[-1, 0] == pytest.approx(np.log(0.1 / 2.1), rel=1e-5)
    system.remove(load)
    system.add(TimePole("force", system.ground, body))
    with pytest.raises(mb.ModelError, match=r"TimePole 'force', wrench: .*without bound towards t = 2\.1 s"):
        mb.simulate(system, 5.0)


def test_values_near_the_largest_number_do_not_warn() -> None:
    """Their differences are infinite, which is no affair of the user; warnings are errors here."""
    features(mb.Function("exp(1/(t - 0.05))"), 0.0, 1.0)


def test_a_high_power_of_a_wave_is_not_a_fast_wave() -> None:
    """Steps are short at the pulses of cos(t)**100000 only: 3.5 of them in 10 s, each sqrt(2 pi/100000) wide."""
    system = mb.System("pulses", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("load", body, at=(0, 0, 0), force=("100*cos(t)**100000", 0, 0)))
    result = mb.simulate(system, 10.0)
    assert result.velocity(body)[-1, 0] == pytest.approx(350.0 * np.sqrt(2e-5 * np.pi), rel=1e-4)
    assert result.info.steps < 5000


def test_the_kink_of_a_root_is_one_break() -> None:
    """Close to it a root bends at every distance, which is no reason for further breaks beside it."""
    found = features(mb.Function("sqrt(abs(t-5))"), 0.0, 10.0)
    np.testing.assert_array_equal(found.jumps, [5.0])


def test_what_of_a_callable_is_not_looked_at_is_told() -> None:
    """A blow of 1e-5 of the run falls between samples: the run says how far these are apart, and what to do."""

    def blow(t: float) -> float:
        return 1e4 if 7.3 < t < 7.3001 else 0.0

    def run(force: Any) -> mb.Result:
        system = mb.System("mass", gravity=(0, 0, 0))
        system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
        system.add(mb.PointForce("load", system["body"], at=(0, 0, 0), force=(force, 0, 0)))
        return mb.simulate(system, 10.0)

    told = [w for w in run(blow).info.warnings if "values 0.00049 s apart are looked at" in w]
    assert len(told) == 1
    assert "breakpoints=" in told[0]
    heeded = run(mb.Function(blow, breakpoints=[7.3, 7.3001]))
    assert not any("apart are looked at" in w for w in heeded.info.warnings)
    np.testing.assert_allclose(heeded.velocity("body")[-1, 0], 1.0, rtol=1e-6)
