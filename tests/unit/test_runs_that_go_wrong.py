"""Runs that go wrong say so: which element, which line, what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbframe as mb


def falling(force: type[mb.ForceElement] | None = None, dimension: int = 3, **values: Any) -> mb.System:
    """A body in free fall, and a force on it."""
    if dimension == 2:
        system = mb.System("falling", dimension=2)
        body: mb.Body = system.add(mb.PlanarBody("body", mass=1.0, inertia=1.0, position=(1.0, 0.0)))
    else:
        system = mb.System("falling")
        body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0)))
    if force is not None:
        system.add(force("force", system.ground, body, **values))
    return system


# ---- Own states -----------------------------------------------------------------------------------------------------


class Explosion(mb.ForceElement):
    """z' = z²: infinite at t = 1, without any effect on the body."""

    states = 1

    def initial_states(self) -> list[float]:
        return [1.0]

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)

    def state_rate(self, t, i, j, z):
        return np.array([z[0] * z[0]])


@pytest.mark.parametrize(
    "settings",
    [
        {"dt": 0.01},
        {"dt": 0.01, "integrator": mb.AdamsBashforth(order=2)},
        {},
        {"integrator": mb.DormandPrince(order=5)},
        {"integrator": mb.RadauIIA()},
    ],
    ids=str,
)
def test_own_states_that_become_infinite_end_the_run(settings: dict[str, Any]) -> None:
    with pytest.raises(mb.SimulationError, match="Explosion 'force': its own state grows beyond all bounds") as caught:
        mb.simulate(falling(Explosion), 3.0, **settings)
    assert caught.value.time is not None
    assert 0.5 < caught.value.time < 2.0
    assert caught.value.result is not None
    assert np.all(np.isfinite(caught.value.result.position("body")))


# ---- Users' methods -------------------------------------------------------------------------------------------------


class ReadsBeyond(mb.ForceElement):
    reach = mb.parameter(3, help="index that is read")

    def wrench(self, t, i, j):
        k = self.reach
        return np.array([i.position[k], 0.0, 0.0]), np.zeros(3)  # beyond


class WritesBeyond(mb.ForceElement):
    reach = mb.parameter(1000, help="index that is written")

    def wrench(self, t, i, j):
        force = np.zeros(3)
        if t > 0.1:
            force[self.reach] = 1.0  # beyond
        return force, np.zeros(3)


def line_of(cls: type) -> int:
    import inspect

    lines, first = inspect.getsourcelines(cls)
    return first + next(k for k, line in enumerate(lines) if "# beyond" in line)


@pytest.mark.parametrize("reach", [3, 10_000, -4, -10_000])
@pytest.mark.parametrize("cls", [ReadsBeyond, WritesBeyond])
def test_an_index_out_of_bounds_is_an_error_with_its_line(cls: type[mb.ForceElement], reach: int) -> None:
    with pytest.raises(mb.SimulationError, match=f"{cls.__name__} 'force': wrench raised IndexError") as caught:
        mb.simulate(falling(cls, reach=reach), 1.0, dt=0.01)
    assert f"(line {line_of(cls)} of test_runs_that_go_wrong.py)" in str(caught.value)


class BadRow(mb.BasicConstraint):
    equations = 1
    reach = mb.parameter(7, help="index that is read")

    def residual(self, t, i, j):
        return [i.axes[self.reach, 0]]  # beyond


def test_an_index_out_of_bounds_in_a_constraint() -> None:
    system = falling()
    system.add(BadRow("row", system.ground, system["body"], at=(0, 0, 0)))
    with pytest.raises(mb.SimulationError, match=r"BadRow 'row': residual raised IndexError.*line \d+ of test_runs"):
        mb.simulate(system, 1.0, dt=0.01)


class Changes(mb.ForceElement):
    """Returns another number of components later on."""

    count = mb.parameter(2, help="components after 0.1 s")

    def wrench(self, t, i, j):
        return np.zeros(3 if t < 0.1 else self.count), np.zeros(3)


class ChangesInPlane(mb.ForceElement):
    count = mb.parameter(1, help="components after 0.1 s")

    def wrench(self, t, i, j):
        return np.zeros(2 if t < 0.1 else self.count), 0.0


class ChangesRate(mb.ForceElement):
    states = 2

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)

    def state_rate(self, t, i, j, z):
        return np.zeros(2 if t < 0.1 else 1)


@pytest.mark.parametrize(
    ("system", "shape"),
    [
        (lambda: falling(Changes, count=2), r"force of shape \(2,\); allowed is \(3,\)"),
        (lambda: falling(Changes, count=5), r"force of shape \(5,\); allowed is \(3,\)"),
        (lambda: falling(ChangesInPlane, 2, count=1), r"force of shape \(1,\); allowed is \(2,\)"),
        (lambda: falling(ChangesInPlane, 2, count=3), r"force of shape \(3,\); allowed is \(2,\)"),
        (lambda: falling(ChangesRate), r"state_rate of shape \(1,\); allowed is \(2,\)"),
    ],
    ids=["short", "long", "short in plane", "long in plane", "rate"],
)
def test_a_wrong_number_of_components_is_refused_whenever_it_comes(system: Callable[[], mb.System], shape: str) -> None:
    with pytest.raises(mb.ModelError, match=shape):
        mb.simulate(system(), 1.0, dt=0.01)


class Complex(mb.ForceElement):
    def wrench(self, t, i, j):
        return np.array([np.sqrt(-1.0 + 0j), 0.0, 0.0]), np.zeros(3)


class ComplexLater(mb.ForceElement):
    def wrench(self, t, i, j):
        return [0.0 if t < 0.1 else complex(0.0, 1.0), 0.0, 0.0], [0.0, 0.0, 0.0]


class Scalar(mb.ForceElement):
    def wrench(self, t, i, j):
        return 1.0, 0.0


class OnlyForce(mb.ForceElement):
    def wrench(self, t, i, j):
        return [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (Complex, "Complex 'force', wrench: returned a complex force"),
        (ComplexLater, "ComplexLater 'force', wrench: returned a complex force"),
        (Scalar, r"Scalar 'force', wrench: returned a force of shape \(\)"),
        (OnlyForce, "OnlyForce 'force', wrench: returned .*allowed are a force and a torque"),
    ],
)
def test_what_is_no_wrench_is_refused(cls: type[mb.ForceElement], says: str) -> None:
    with pytest.raises(mb.ModelError, match=says):
        mb.simulate(falling(cls), 1.0, dt=0.01)


class NotANumber(mb.ForceElement):
    def wrench(self, t, i, j):
        return np.array([np.sqrt(0.05 + j.position[2]), 0.0, 0.0]), np.zeros(3)


class NotANumberInPython(mb.ForceElement):
    def wrench(self, t, i, j):
        values = {"x": np.sqrt(max(0.05 + j.position[2], 0.0)) if j.position[2] > -0.05 else float("nan")}
        return np.array([values["x"], 0.0, 0.0]), np.zeros(3)


@pytest.mark.parametrize("settings", [{"dt": 0.01}, {}, {"integrator": mb.RadauIIA()}], ids=str)
@pytest.mark.parametrize("cls", [NotANumber, NotANumberInPython])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_blames_the_element(cls: type[mb.ForceElement], settings: dict[str, Any]) -> None:
    """The body falls below z = -0.05 m, where the force has no value."""
    says = f"{cls.__name__} 'force': wrench gives numbers that are not finite"
    if "integrator" in settings:  # whose iteration does not come back to a finite state
        says += "|a force has no value there"
    with pytest.raises(mb.SimulationError, match=says):
        mb.simulate(falling(cls), 1.0, **settings)


def test_nan_of_our_own_elements_blames_them_too() -> None:
    system = falling()
    system.add(mb.SpringDamper("spring", system.ground, system["body"], at_i=(1, 0, 0), stiffness=1.0, free_length=1.0))
    with pytest.raises(mb.SimulationError, match="SpringDamper 'spring': wrench gives numbers that are not finite"):
        mb.simulate(system, 1.0, dt=0.01)


# ---- Divergence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute()], ids=repr)
def test_a_step_that_is_too_large_is_called_that(formulation: mb.Formulation) -> None:
    """Not a singular mass matrix: the body has mass and inertia."""
    system = falling()
    bushing = mb.Bushing("bushing", system.ground, system["body"], at=(1, 0, 0), stiffness=[1e8] * 6)
    system.add(bushing)
    with pytest.raises(mb.SimulationError, match=r"the motion diverges.*reduce dt"):
        mb.simulate(system, 100.0, dt=0.05, formulation=formulation)


# ---- Events ---------------------------------------------------------------------------------------------------------


def test_an_event_without_a_value_is_an_error() -> None:
    def lost(t: float, state: mb.State) -> float:
        return float("nan") if t > 0.3 else 1.0

    with pytest.raises(mb.SimulationError, match=r"event 'lost': has no value \(nan\)"):
        mb.simulate(falling(), 1.0, events=[lost])


METHODS = [
    {},
    {"integrator": mb.DormandPrince(order=5)},
    {"integrator": mb.RadauIIA()},
    {"dt": 0.4},
    {"dt": 0.4, "integrator": mb.AdamsBashforth(order=3)},
]


@pytest.mark.parametrize("settings", METHODS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_two_zeros_within_a_step_are_found(settings: dict[str, Any], seed: int) -> None:
    """A stone thrown up passes a height a little below its apex twice, within a step: t = (u ± sqrt(u² - 2 g h))/g."""
    values = np.random.default_rng(seed)
    speed, below = values.uniform(4.0, 6.0), 10.0 ** values.uniform(-4.0, -1.0)
    system = falling()
    system["body"].velocity = (0.0, 0.0, speed)
    height = speed**2 / (2 * 9.81) - below
    crossing = mb.Event(lambda t, state: state.position("body")[2] - height, name="height")
    result = mb.simulate(system, 1.2, events=[crossing], **settings)
    half = np.sqrt(2 * below / 9.81)
    np.testing.assert_allclose([e.t for e in result.events], speed / 9.81 + np.array([-half, half]), atol=1e-7)
    falls = mb.Event(crossing.function, direction=-1, terminal=True)
    ended = mb.simulate(system, 1.2, events=[falls], **settings)
    assert ended.t[-1] == pytest.approx(speed / 9.81 + half, abs=1e-7)


def test_events_do_not_change_the_motion_and_near_misses_are_none() -> None:
    system = falling()
    system["body"].velocity = (0.0, 0.0, 5.0)
    apex = 25.0 / (2 * 9.81)
    miss = mb.Event(lambda t, state: state.position("body")[2] - apex - 1e-6)
    result, plain = mb.simulate(system, 1.2, events=[miss]), mb.simulate(system, 1.2)
    assert not result.events
    np.testing.assert_array_equal(result.position("body"), plain.position("body"))


# ---- Before the run -------------------------------------------------------------------------------------------------


def test_a_state_of_another_system_is_refused() -> None:
    other = mb.assemble(mb.examples.triple_pendulum())
    with pytest.raises(mb.ModelError, match="'bar 1'"):
        mb.simulate(falling(), 1.0, initial=other)
    pendulum = mb.examples.triple_pendulum()
    pendulum.remove("C")
    pendulum.remove("bar 3")
    with pytest.raises(mb.ModelError, match="has 'bar 3', which this system has not"):
        mb.simulate(pendulum, 1.0, initial=other)
    flat = mb.assemble(falling(dimension=2))
    with pytest.raises(mb.ModelError, match="planar system, but this one is spatial"):
        mb.simulate(falling(), 1.0, initial=flat)
    wrong = mb.simulate(falling(ChangesRate), 0.05).state(-1)
    with pytest.raises(mb.ModelError, match="found 2 own states of Explosion 'force', which has 1"):
        mb.simulate(falling(Explosion), 1.0, initial=wrong)


@pytest.mark.parametrize("settings", [{"dt": 1e-20}, {"dt": 1e-17, "integrator": mb.DormandPrince()}], ids=str)
def test_a_step_that_does_not_change_the_time_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(mb.ModelError, match=r"simulate, dt: .*no longer changes t"):
        mb.simulate(falling(), 1.0, **settings)


def test_rows_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    with pytest.raises(mb.ModelError, match=r"simulate, dt: asks for 1e\+13 states .*output="):
        mb.simulate(falling(), 1e6, dt=1e-7)
    monkeypatch.setattr("mbframe.solvers.output.physical_memory", lambda: 1e5)
    with pytest.raises(mb.ModelError, match=r"simulate, t_eval: asks for 1e\+03 states"):
        mb.simulate(falling(), 1.0, t_eval=np.linspace(0.0, 1.0, 1000))
    assert len(mb.simulate(falling(), 1.0, t_eval=[0.5, 1.0])) == 2
    assert len(mb.simulate(falling(), 2.0, dt=1e-3, output=tmp_path / "run.h5")) == 2001


# ---- Many runs ------------------------------------------------------------------------------------------------------


def interrupted(system: mb.System) -> float:
    def stop(t: float) -> None:
        raise KeyboardInterrupt

    return float(mb.simulate(system, 1.0, dt=1e-3, progress=stop).t[-1])


def test_an_interrupted_sweep_ends() -> None:
    begun: list[float] = []

    def build(value: float) -> mb.System:
        begun.append(value)
        return falling()

    with pytest.raises(KeyboardInterrupt):
        mb.sweep(build, [1.0, 2.0, 3.0], interrupted)
    assert begun == [1.0]
    assert interrupted(falling()) < 1.0  # alone, what was computed is kept


def test_an_interrupted_reference_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from mbframe.analysis import compare

    whole = compare.simulate

    def simulate(*given: Any, **settings: Any) -> mb.Result:
        if "t_eval" not in settings:
            return whole(*given, **settings)

        def stop(t: float) -> None:
            raise KeyboardInterrupt

        return whole(*given, **settings, progress=stop)

    monkeypatch.setattr(compare, "simulate", simulate)
    with pytest.raises(KeyboardInterrupt):
        mb.compare(mb.examples.simple_pendulum(), 0.1, 0.01, integrators=[mb.RungeKutta4()], repeats=1)
