"""Runs that go wrong say so: which element, which line, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb

from .falling import every_integrator, falling

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


@every_integrator
def test_own_states_that_become_infinite_end_the_run(settings: dict[str, Any]) -> None:
    grows = r"(grows beyond all bounds|changes too quickly for steps of this size.*reduce dt)"
    with pytest.raises(mb.SimulationError, match=f"Explosion 'force': its own state {grows}") as caught:
        mb.simulate(falling(Explosion), 3.0, **settings)
    assert caught.value.time is not None
    assert 0.5 < caught.value.time < 2.0
    assert caught.value.result is not None
    assert np.all(np.isfinite(caught.value.result.position("body")))


class StateWithoutValue(mb.ForceElement):
    """z' = sqrt(0.05 m + height): it has no value below."""

    states = 1

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)

    def state_rate(self, t, i, j, z):
        return np.array([np.sqrt(0.05 + j.position[2])])


class ExplosionThatPushes(Explosion):
    """The body is fast when the state becomes infinite, but not the cause of it."""

    def wrench(self, t, i, j, z):
        return np.array([z[0], 0.0, 0.0]), np.zeros(3)

    def state_rate(self, t, i, j, z):
        return np.array([z[0] * z[0]])


@every_integrator
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rates_of_own_states_without_a_value_blame_the_element(settings: dict[str, Any]) -> None:
    says = "StateWithoutValue 'force': state_rate gives numbers that are not finite"
    with pytest.raises(mb.SimulationError, match=says):
        mb.simulate(falling(StateWithoutValue), 1.0, **settings)


@every_integrator
def test_a_motion_that_diverges_by_an_own_state_blames_its_element(settings: dict[str, Any]) -> None:
    with pytest.raises(mb.SimulationError, match="ExplosionThatPushes 'force': its own state"):
        mb.simulate(falling(ExplosionThatPushes), 3.0, **settings)


class Overwrites(mb.ForceElement):
    """z' = 1 and F = z, in methods that overwrite all that they are given."""

    states = 1

    def state_rate(self, t, i, j, z):
        z[0] = 3.0
        j.axes[:, 0] = 5.0
        return np.array([1.0])

    def wrench(self, t, i, j, z):
        push = z[0] * j.axes[:, 0]
        z[0] = 7.0
        return push, np.zeros(3)


class OverwritesInPython(Overwrites):
    """The same, which does not compile."""

    def state_rate(self, t, i, j, z):
        z[0] = {"x": 3.0}["x"]
        j.axes[:, 0] = 5.0
        return [1.0]


@pytest.mark.sample
@every_integrator
@pytest.mark.parametrize("cls", [Overwrites, OverwritesInPython])
def test_a_method_cannot_change_the_states_that_it_is_given(cls: type[mb.ForceElement], settings: dict) -> None:
    """m v' = z = t."""
    system = falling(cls)
    result = mb.simulate(system, 1.0, **settings)
    np.testing.assert_allclose(result.z[-1, 0], 1.0, rtol=1e-6)
    np.testing.assert_allclose(result.velocity("body")[-1, 0], 0.5, rtol=0.0, atol=6e-3)


# ---- Divergence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute()], ids=repr)
def test_a_step_that_is_too_large_is_called_that(formulation: mb.Formulation) -> None:
    """Not a singular mass matrix: the body has mass and inertia."""
    system = falling()
    bushing = mb.Bushing("bushing", system.ground, system["body"], at=(1, 0, 0), stiffness=[1e8] * 6)
    system.add(bushing)
    with pytest.raises(mb.SimulationError, match=r"the motion diverges.*reduce dt"):
        mb.simulate(system, 100.0, dt=0.05, formulation=formulation)


def test_steps_that_are_too_large_are_no_misaligned_joints() -> None:
    with pytest.raises(mb.SimulationError, match=r"the motion diverges.*reduce dt"):
        mb.simulate(mb.examples.flyball_governor(), 0.5, dt=1e-3)


# ---- Events ---------------------------------------------------------------------------------------------------------


def test_an_event_without_a_value_is_an_error() -> None:
    def lost(t: float, state: mb.State) -> float:
        return float("nan") if t > 0.3 else 1.0

    with pytest.raises(mb.SimulationError, match=r"event 'lost': has no value \(nan\)"):
        mb.simulate(falling(), 1.0, events=[lost])


def test_an_event_that_is_true_or_false_is_an_error() -> None:
    with pytest.raises(mb.SimulationError, match=r"event 'late': returned False.*give a number that does"):
        mb.simulate(falling(), 1.0, events=[mb.Event(lambda t, state: t > 0.5, name="late")])


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


class TwoStates(mb.ForceElement):
    states = 2

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)

    def state_rate(self, t, i, j, z):
        return np.zeros(2)


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
    wrong = mb.simulate(falling(TwoStates), 0.05).state(-1)
    with pytest.raises(mb.ModelError, match="found 2 own states of Explosion 'force', which has 1"):
        mb.simulate(falling(Explosion), 1.0, initial=wrong)


def test_a_state_of_another_system_with_the_same_names_is_to_blame_itself() -> None:
    def pendulum(length: float) -> mb.System:
        system = mb.System("pendulum")
        bob = system.add(mb.RigidBody("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(length, 0, 0)))
        system.add(mb.RevoluteJoint("pin", system.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
        return system

    with pytest.raises(
        mb.ModelError, match=r"RevoluteJoint 'pin', initial: does not close: .*by 1 .*give a state of this system"
    ):
        mb.simulate(pendulum(1.0), 1.0, initial=mb.assemble(pendulum(2.0)))


@pytest.mark.parametrize("settings", [{"dt": 1e-20}, {"dt": 1e-17, "integrator": mb.DormandPrince()}], ids=str)
def test_a_step_that_does_not_change_the_time_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(mb.ModelError, match=r"simulate, dt: .*no longer changes t"):
        mb.simulate(falling(), 1.0, **settings)


def test_a_longest_step_that_does_not_change_the_time_is_refused() -> None:
    with pytest.raises(mb.ModelError, match=r"RadauIIA, max_step: found 1e-18, which no longer changes t = 1 s"):
        mb.simulate(falling(), 1.0, integrator=mb.RadauIIA(max_step=1e-18))
    with pytest.raises(mb.ModelError, match=r"simulate, max_step: asks for 1e\+14 states"):
        mb.simulate(falling(), 1.0, integrator=mb.DormandPrince(max_step=1e-14))


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
    from mbframe.analysis.laboratory import compare

    whole = compare.simulate

    def simulate(*given: Any, **settings: Any) -> mb.Result:
        if "t_eval" not in settings:
            return whole(*given, **settings)

        def stop(t: float) -> None:
            raise KeyboardInterrupt

        return whole(*given, **settings, progress=stop)

    monkeypatch.setattr(compare, "simulate", simulate)
    found = mb.compare(mb.examples.simple_pendulum(), 0.1, 0.01, integrators=[mb.RungeKutta4()], repeats=1)
    assert not found.completed
    assert found.notes[-1].endswith("there is no reference")
    assert all(row["error"] is None for row in found.table())


@pytest.mark.parametrize(("stiffness", "told"), [(1e8, True), (1e12, False)])
def test_spheres_that_are_too_soft_say_that_they_pass_through_each_other(stiffness: float, told: bool) -> None:
    """At 300 m/s two masses of 1 kg press k d^1.5 by (5/8 300^2/k)^0.4: 5 cm for 1e8, 1.3 mm for 1e12; radii: 1 cm."""
    system = mb.System("spheres", gravity=(0, 0, 0))
    one, other = mb.RigidBody("one", mass=1.0, inertia=(1, 1, 1)), mb.RigidBody("other", mass=1.0, inertia=(1, 1, 1))
    other.update(position=(1, 0, 0), velocity=(-300, 0, 0))
    contact = mb.SphereSphereContact(
        "touch", system.add(one), system.add(other), radius_i=0.01, radius_j=0.01, stiffness=stiffness
    )
    contact.update(at_i=(0, 0, 0), at_j=(1, 0, 0))
    system.add(contact)
    run = mb.simulate(system, 0.01)
    warnings = [w for w in run.info.warnings if w.startswith("SphereSphereContact 'touch': the spheres are pressed")]
    assert len(warnings) == told
    if not told:
        np.testing.assert_allclose(run.velocity(one)[-1], [-300.0, 0.0, 0.0], rtol=1e-3, atol=1e-6)


def test_a_run_that_fails_tells_its_warnings_too() -> None:
    system = mb.System("jumping")
    hub = system.add(mb.RigidBody("hub", mass=1.0, inertia=(0.2, 0.3, 0.4)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, hub, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("motor", hinge, angle="if(t > 1, 1, 0)"))
    with pytest.raises(mb.SimulationError) as failed:
        mb.simulate(system, 2.0, integrator=mb.RadauIIA())
    assert any("Driver 'motor', angle: the function jumps at t = 1 s" in note for note in failed.value.__notes__)


def test_an_energy_beyond_all_numbers_blames_no_spring() -> None:
    """omega dt = 2.8: the motion grows to 1e156 m/s, where the energy of the spring overflows."""
    system = mb.System("stiff", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(1, 0, 0)))
    system.add(mb.SpringDamper("spring", system.ground, body, at_i=(0, 0, 0), at_j=(1, 0, 0), stiffness=2e4))
    result = mb.simulate(system, 5.0, dt=0.02, integrator=mb.AdamsBashforth(order=2))
    said = [w for w in result.info.warnings if "energy" in w]
    assert len(said) == 1
    assert "the energy grows beyond all numbers" in said[0]
    assert "reduce dt" in said[0]


def fails_late(self, t, i, j, z):
    if t > 0.5:
        raise ValueError("late")
    return [1.0]


class Borrowed(mb.ForceElement):
    """Its state_rate was defined by another name."""

    states = 1
    state_rate = fails_late

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)


def test_an_error_names_the_method_that_raised_it() -> None:
    system = mb.System("s")
    mass = system.add(mb.PointMass("mass", mass=1.0))
    system.add(Borrowed("own", system.ground, mass))
    with pytest.raises(mb.SimulationError, match=r"Borrowed 'own': state_rate raised ValueError: late"):
        mb.simulate(system, 1.0)


class Called(mb.ForceElement):
    """Calls its law as Python does."""

    law = mb.parameter("t", kind="function", variables=("t",))

    def wrench(self, t, i, j):
        return np.array([self.law(t), 0.0, 0.0]), np.zeros(3)


def test_a_reason_not_to_compile_is_a_sentence() -> None:
    system = mb.System("s")
    mass = system.add(mb.PointMass("mass", mass=1.0))
    system.add(Called("called", system.ground, mass))
    (notice,) = mb.simulate(system, 0.1).info.warnings
    assert notice.endswith(
        "it calls a function of time as Python does; mbframe.functions.evaluate(self.law, x) is compiled"
    )


class Explodes(mb.ForceElement):
    """Its own state jumps beyond all bounds in the first step of any length."""

    states = 1

    def state_rate(self, t, i, j, z):  # type: ignore[no-untyped-def]
        return [1e300 * np.exp(z[0])]

    def wrench(self, t, i, j, z):  # type: ignore[no-untyped-def]
        return np.zeros(3), np.zeros(3)


@pytest.mark.parametrize("integrator", [mb.DormandPrince(), mb.RadauIIA()], ids=["explicit", "implicit"])
def test_an_own_state_that_explodes_at_once_is_named(integrator: mb.Integrator) -> None:
    system = mb.System("bomb", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(Explodes("fuse", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    with pytest.raises(mb.SimulationError, match="Explodes 'fuse': its own state grows beyond all bounds"):
        mb.simulate(system, 1.0, integrator=integrator)
