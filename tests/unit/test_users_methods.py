"""Methods of users' classes that cannot work are refused, or named with their line when they fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbframe as mb

from .falling import every_integrator, falling


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
    assert f"(line {line_of(cls)} of test_users_methods.py)" in str(caught.value)


class BadRow(mb.BasicConstraint):
    equations = 1
    reach = mb.parameter(7, help="index that is read")

    def residual(self, t, i, j):
        return [i.axes[self.reach, 0]]  # beyond


def test_an_index_out_of_bounds_in_a_constraint() -> None:
    system = falling()
    system.add(BadRow("row", system.ground, system["body"], at=(0, 0, 0)))
    with pytest.raises(mb.SimulationError, match=r"BadRow 'row': residual raised IndexError.*line \d+ of test_users"):
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


class CountsCalls(mb.ForceElement):
    count = 0

    def wrench(self, t, i, j):
        self.count += 1
        return np.array([float(self.count), 0.0, 0.0]), np.zeros(3)


class Largest(mb.ForceElement):
    """Hysteresis as it must not be written."""

    def __init__(self, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.largest = [0.0]

    def wrench(self, t, i, j):
        self.largest.append(max(self.largest[-1], abs(j.velocity[0])))
        return np.array([-self.largest[-1], 0.0, 0.0]), np.zeros(3)


class Noise(mb.ForceElement):
    def wrench(self, t, i, j):
        return np.random.default_rng().normal(size=3), np.zeros(3)


class RemembersInItsRate(mb.ForceElement):
    states = 1
    last = 0.0

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)

    def state_rate(self, t, i, j, z):
        rate, self.last = self.last, j.position[0]
        return [rate]


@pytest.mark.parametrize(
    ("cls", "method"),
    [(CountsCalls, "wrench"), (Largest, "wrench"), (Noise, "wrench"), (RemembersInItsRate, "state_rate")],
)
def test_a_method_that_depends_on_earlier_calls_is_refused(cls: type[mb.ForceElement], method: str) -> None:
    with pytest.raises(mb.ModelError, match=rf"{cls.__name__} 'force', {method}: gives .*own states \(states"):
        mb.simulate(falling(cls), 0.1)


class KeepsARecord(mb.ForceElement):
    calls = 0
    law = None

    def wrench(self, t, i, j):
        if self.law is None:
            self.law = [1.0, 2.0]  # made once: no memory
        self.calls += 1
        return np.array([self.law[0], 0.0, 0.0]), np.zeros(3)


class MadeOnce(mb.ForceElement):
    law = None

    def wrench(self, t, i, j):
        if self.law is None:
            self.law = [1.0, 2.0]
        return np.array([self.law[0], 0.0, 0.0]), np.zeros(3)


def test_a_record_of_calls_is_told_and_what_is_made_once_is_not() -> None:
    system = falling(KeepsARecord)
    notices = [n for n in mb.Equations(system).notices if "self." in n]
    assert len(notices) == 1
    assert "KeepsARecord 'force': wrench changes self.calls" in notices[0]
    assert "own states" in notices[0]
    assert system["force"].calls <= 2, "calls in other states leave no trace"
    assert not any("self." in n for n in mb.Equations(falling(MadeOnce)).notices)


class ReadsStatesBeyond(mb.ForceElement):
    states = 1

    def state_rate(self, t, i, j, z):
        k = 1 if t > 0.1 else 0
        return [1.0 + 0.0 * z[k]]  # beyond

    def wrench(self, t, i, j, z):
        return z[0] * i.axes[:, 0], np.zeros(3)


class ReadsStatesBeyondInPython(ReadsStatesBeyond):
    def state_rate(self, t, i, j, z):
        k = {"k": 1}["k"] if t > 0.1 else 0
        return [1.0 + 0.0 * z[k]]  # beyond


@pytest.mark.parametrize("cls", [ReadsStatesBeyond, ReadsStatesBeyondInPython])
def test_an_error_in_a_state_rate_is_said_to_be_there(cls: type[mb.ForceElement]) -> None:
    with pytest.raises(mb.SimulationError, match=f"{cls.__name__} 'force': state_rate raised IndexError") as caught:
        mb.simulate(falling(cls), 1.0, dt=0.01)
    assert f"(line {line_of(cls)} of test_users_methods.py)" in str(caught.value)


class NoEnergy(mb.ForceElement):
    def wrench(self, t, i, j):
        return np.zeros(3), np.zeros(3)

    def energy(self, t, i, j):
        return np.nan


def test_an_energy_that_is_no_number_is_refused() -> None:
    with pytest.raises(mb.ModelError, match="NoEnergy 'force', energy: returned nan, which is not finite"):
        mb.simulate(falling(NoEnergy), 0.1)


class WithVelocity(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [j.velocity[0]]


class Absolute(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [abs(j.position[0] - 1.0)]


class Squared(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [(j.position[0] - 1.0) ** 2]


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (WithVelocity, "uses velocity of a marker.*give velocity_residual"),
        (Absolute, "its derivative vanishes where it is fulfilled"),
        (Squared, "its derivative vanishes where it is fulfilled"),
    ],
)
def test_equations_that_cannot_hold_are_refused(cls: type[mb.BasicConstraint], says: str) -> None:
    system = falling()
    system.add(cls("row", system.ground, system["body"], at=(1, 0, 0)))
    with pytest.raises(mb.ModelError, match=f"{cls.__name__} 'row', residual: {says}"):
        mb.simulate(system, 0.1)


class HoldsNothing(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [0.0 * t]


def test_an_equation_that_depends_on_nothing_is_told() -> None:
    system = falling()
    system.add(HoldsNothing("row", system.ground, system["body"], at=(1, 0, 0)))
    told = mb.simulate(system, 0.1).info.warnings
    assert any("HoldsNothing 'row': an equation of its residual depends on no position" in w for w in told)


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


class RootOfMath(mb.ForceElement):
    """Compiled, its root is NaN below z = -0.05 m, where Python raises an error."""

    def wrench(self, t, i, j):
        return np.array([math.sqrt(0.05 + j.position[2]), 0.0, 0.0]), np.zeros(3)


@pytest.mark.sample
@every_integrator
@pytest.mark.parametrize("cls", [NotANumber, NotANumberInPython, RootOfMath])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_blames_the_element(cls: type[mb.ForceElement], settings: dict[str, Any]) -> None:
    """The body falls below z = -0.05 m, where the force has no value."""
    says = f"{cls.__name__} 'force': wrench gives numbers that are not finite"
    with pytest.raises(mb.SimulationError, match=says):
        mb.simulate(falling(cls), 1.0, **settings)


class LogarithmOfMath(mb.ForceElement):
    states = 1

    def state_rate(self, t, i, j, z):
        return (math.log(0.5 - t),)

    def wrench(self, t, i, j, z):
        return (0.0, 0.0, z[0]), (0.0, 0.0, 0.0)


@every_integrator
def test_a_rate_that_has_no_value_from_an_instant_on_blames_the_element(settings: dict[str, Any]) -> None:
    says = "LogarithmOfMath 'force': state_rate gives numbers that are not finite .*math domain error"
    with pytest.raises(mb.SimulationError, match=says):
        mb.simulate(falling(LogarithmOfMath), 1.0, **settings)


@every_integrator
def test_a_function_of_time_that_ends_blames_the_load(settings: dict[str, Any]) -> None:
    system = falling()
    system.add(mb.PointForce("load", system["body"], at=(1, 0, 0), force=("sqrt(0.5 - t)", 0, 0)))
    with pytest.raises(mb.SimulationError, match=r"PointForce 'load': the value is not finite .*change the function"):
        mb.simulate(system, 1.0, **settings)


def test_nan_of_our_own_elements_blames_them_too() -> None:
    system = falling()
    system.add(mb.SpringDamper("spring", system.ground, system["body"], at_i=(1, 0, 0), stiffness=1.0, free_length=1.0))
    with pytest.raises(mb.SimulationError, match="SpringDamper 'spring': wrench gives numbers that are not finite"):
        mb.simulate(system, 1.0, dt=0.01)


class MakesLists(mb.ForceElement):
    def wrench(self, t, i, j):
        return [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]


def test_why_a_method_is_not_compiled_is_said_in_words() -> None:
    (notice,) = mb.simulate(falling(MakesLists), 0.1).info.warnings
    assert notice.isprintable()
    assert "tuples and np.array(...) are compiled" in notice


class RaisingInertia(mb.NewtonEuler):
    @staticmethod
    def inertia(body: Any, q: Any, v: Any, frame: Any, mass: Any, force: Any) -> None:
        if q[0] > 0.1:
            raise ValueError


class WithoutRates(mb.NewtonEuler):
    rates = staticmethod(mb.Formulation.rates)


class RaisingTangent(mb.NewtonEuler):
    @staticmethod
    def inertia_tangent(*_: Any) -> None:
        raise ValueError


@pytest.mark.parametrize(
    ("formulation", "says"),
    [
        (RaisingInertia(), "RaisingInertia, inertia: raises an exception .*line"),
        (WithoutRates(), "WithoutRates, rates: not defined"),
        (RaisingTangent(), "RaisingTangent, inertia_tangent: raises an exception"),
    ],
    ids=repr,
)
def test_kernels_of_a_formulation_that_raise_are_refused(formulation: mb.Formulation, says: str) -> None:
    """What they raise vanishes in compiled code: runs went on with what was left in the arrays."""
    with pytest.raises(mb.ModelError, match=says):
        mb.linearize(mb.examples.heavy_top(), formulation=formulation)


ours = mb.NewtonEuler.rates


def read_beyond(q: Any, speed: float) -> float:
    k = 7 if speed > 1.0 else 0
    return q[k]


class BeyondRates(mb.NewtonEuler):
    """Reads beyond the end of q as soon as the body falls with a metre per second."""

    @staticmethod
    def rates(body: Any, q: Any, v: Any, q_rate: Any) -> None:
        ours(body, q, v, q_rate)
        q_rate[0] += 0.0 * read_beyond(q, abs(v[1]) + abs(v[2]))


def test_an_index_beyond_an_array_in_a_kernel_of_a_formulation_is_an_error() -> None:
    """It vanished in compiled code: what was read came from elsewhere, and the run went on."""
    says = r"BeyondRates of RigidBody 'body': rates raised IndexError: .*line \d+ of test_users_methods.py"
    with pytest.raises(mb.SimulationError, match=says) as caught:
        mb.simulate(falling(), 1.0, formulation=BeyondRates())
    assert 0.0 < caught.value.time < 1.0
