"""Inputs: named scalars from outside, which expressions name."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.cli import main

INTEGRATORS = [
    (mb.RungeKutta4(), 0.01, 1e-12),
    (mb.AdamsBashforth(order=4), 0.01, 1e-12),
    (mb.GeneralizedAlpha(), 0.01, 1e-6),
    (mb.DormandPrince(), None, 1e-12),
    (mb.RadauIIA(), None, 1e-9),
]


def cart(force: Any = "2*push + 0.1*t", **given: Any) -> mb.System:
    """2 kg on a rail along x, pushed: v' = push + 0.05 t."""
    system = mb.System("cart")
    body = system.add(mb.RigidBody("cart", mass=2.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mb.Input("push", unit="N", **given))
    system.add(mb.PointForce("f", body, at=(0, 0, 0), force=(force, 0, 0)))
    return system


# --- in a run ---------------------------------------------------------------------------------------------------------


def test_simulate_holds_the_value_with_which_an_input_is_described() -> None:
    result = mb.simulate(cart(value=3.0), 2.0, dt=0.01)
    t = result.t
    np.testing.assert_allclose(result.velocity("cart")[:, 0], 3.0 * t + 0.025 * t**2, atol=1e-12)
    np.testing.assert_allclose(result.acceleration("cart")[:, 0], 3.0 + 0.05 * t, atol=1e-12)
    np.testing.assert_allclose(result.quantity("f.force.x").values, 6.0 + 0.1 * t, atol=1e-13)
    np.testing.assert_array_equal(result.quantity("push").values, 3.0)
    assert result.quantities()["push"] == "N"
    np.testing.assert_allclose(result.energy.balance, 0.0, atol=1e-11)


@pytest.mark.parametrize(("integrator", "dt", "tolerance"), INTEGRATORS, ids=lambda i: type(i).__name__)
def test_an_input_that_is_set_acts_from_then_on(integrator: mb.Integrator, dt: float | None, tolerance: float) -> None:
    """v(1) is the sum of the held values times their durations: no method needs to know what was before."""
    values = np.random.default_rng(5).normal(size=10)
    with mb.Simulation(cart(), dt, integrator=integrator) as sim:
        for k, value in enumerate(values):
            sim.inputs["push"] = value
            assert sim.quantity("cart.acceleration.x") == pytest.approx(value + 0.05 * sim.time, abs=1e-12)
            sim.advance(to=(k + 1) / 10)
        assert sim.quantity("cart.velocity.x") == pytest.approx(0.1 * values.sum() + 0.025, abs=tolerance)
        result = sim.result()
    starts = np.searchsorted(result.t, np.arange(10) / 10 - 1e-9)
    np.testing.assert_array_equal(result.quantity("push").values[starts], values)  # what holds from that instant on
    np.testing.assert_allclose(result.acceleration("cart")[starts, 0], values + 0.005 * np.arange(10), atol=1e-9)


def test_snapshots_and_resets_bring_inputs_back() -> None:
    with mb.Simulation(cart(value=1.0), dt=0.01) as sim:
        sim.step(10)
        mark = sim.snapshot()
        sim.inputs["push"] = 5.0
        assert sim.result().quantity("push").values[-1] == 5.0
        sim.step(10)
        sim.restore(mark)
        assert sim.inputs["push"] == 1.0
        assert sim.result().quantity("push").values[-1] == 1.0
        sim.inputs.update(push=2.0)
        assert dict(sim.inputs) == {"push": 2.0}
        sim.reset()
        assert sim.inputs["push"] == 1.0


def test_a_state_tells_its_inputs() -> None:
    with mb.Simulation(cart(), dt=0.01) as sim:
        sim.inputs["push"] = 4.0
        sim.step(5)
        state = sim.state
    assert state.element_states["push"][0] == 4.0
    again = mb.simulate(cart(), 1.0, dt=0.01, initial=state)
    assert again.quantity("push").values[0] == 4.0
    assert mb.evaluate(cart(), state).acceleration("cart")[0, 0] == pytest.approx(4.0 + 0.05 * state.t)


def test_jumps_depend_on_the_value() -> None:
    """A force of 2 N from t = push on: what steps heed follows the input."""
    system = cart("if(t > push, 2, 0)", value=0.503)
    exact = mb.simulate(system, 1.0)
    assert exact.velocity("cart")[-1, 0] == pytest.approx(0.497, abs=1e-10)
    with mb.Simulation(system) as sim:
        sim.step()
        sim.inputs["push"] = 0.7531
        sim.advance(to=1.0)
        assert sim.quantity("cart.velocity.x") == pytest.approx(1.0 - 0.7531, abs=1e-10)


def test_setpoints_may_be_inputs() -> None:
    system = cart(0.0)
    system.add(
        mb.PIDActuator(
            *("servo", system.ground, system["cart"]),
            at=(0, 0, 0),
            axis=(1, 0, 0),
            quantity="displacement",
            proportional=50.0,
            integral=20.0,
            derivative=20.0,
            setpoint="push",
        )
    )
    with mb.Simulation(system) as sim:
        sim.inputs["push"] = 0.2
        sim.advance(to=30.0)
        assert sim.quantity("cart.position.x") == pytest.approx(0.2, abs=1e-5)
    lin = mb.linearize(system, inputs=["push"], outputs=["cart.position.x"])
    gain = lin.D - lin.C @ np.linalg.solve(lin.A[:3, :3], lin.B) if len(lin.A) == 3 else None
    assert gain is not None
    assert gain[0, 0] == pytest.approx(1.0, abs=1e-9)


def test_linearized_by_an_input() -> None:
    """v' = push + push^2/2 about push = 0."""
    lin = mb.linearize(cart("2*push + push**2"), inputs=["push"], outputs=[("acceleration", "cart")])
    assert lin.inputs == ["push"]
    np.testing.assert_allclose(lin.D[:, 0], [1.0, 0.0, 0.0], atol=1e-13)


# --- names ------------------------------------------------------------------------------------------------------------


def test_unknown_names_are_refused_where_they_appear() -> None:
    system = cart()
    with pytest.raises(mb.ModelError, match="names 'pull', but there are t, push"):
        system.add(mb.PointForce("g", system["cart"], at=(0, 0, 0), force=("pull", 0, 0)))
    with pytest.raises(mb.ModelError, match="names 'pull'"):
        system["f"].force = ("pull", 0, 0)
    assert system["f"].force[0] == mb.Function.with_signals("2*push + 0.1*t")
    with pytest.raises(mb.ModelError, match="would name what is not there"):
        system["push"].name = "pull"
    assert system["push"].name == "push"
    with pytest.raises(mb.ModelError, match="cannot be removed"):
        system.remove("push")
    system.remove("f")
    system["push"].name = "pull"
    system.remove("pull")


@pytest.mark.parametrize("name", ["sin", "t", "pi", "a b", "2x", "a.b", "if"])
def test_names_that_expressions_cannot_have_are_refused(name: str) -> None:
    with pytest.raises(mb.ModelError, match="name"):
        mb.Input(name)


def test_values_out_of_bounds_are_refused() -> None:
    with pytest.raises(mb.ModelError, match="allowed are values from -1 to 2 N"):
        mb.Input("push", value=3.0, lower=-1.0, upper=2.0, unit="N")
    with pytest.raises(mb.ModelError, match="exchange them"):
        mb.Input("push", lower=2.0, upper=1.0)
    with mb.Simulation(cart(upper=2.0), dt=0.1) as sim:
        for wrong in (2.5, np.nan, "1", True):
            with pytest.raises(mb.ModelError, match="push"):
                sim.inputs["push"] = wrong
        with pytest.raises(mb.ModelError, match="there is no input 'pull'; there are 'push'"):
            sim.inputs["pull"] = 1.0
        with pytest.raises(mb.ModelError, match="there is no input"):
            sim.inputs["pull"]
        assert sim.inputs["push"] == 0.0


def test_drivers_do_not_follow_what_may_jump() -> None:
    system = cart()
    with pytest.raises(mb.ModelError, match="no body can follow a jump"):
        system.add(mb.Driver("motor", system["rail"], displacement="push"))


def test_functions_with_signals_have_values_when_these_are_known() -> None:
    function = mb.Function.with_signals("2*push + lqr.force*t")
    assert function.signals == ("push", "lqr.force")
    with pytest.raises(mb.ModelError, match=r"names push, lqr\.force"):
        function(1.0)
    bound = function.bound({"push": 3.0, "lqr.force": 0.5})
    assert (bound(2.0), bound.derivative(2.0)) == (7.0, 0.5)
    assert pickle.loads(pickle.dumps(function)) == function
    assert function.renamed({"push": "pull"}).signals == ("pull", "lqr.force")
    with pytest.raises(mb.ModelError, match="there is no variable 'push'"):
        mb.Function("2*push")


# --- files ------------------------------------------------------------------------------------------------------------


def test_models_with_inputs_go_through_files_and_scripts(tmp_path: Path) -> None:
    system = cart(value=1.5, lower=-2.0)
    mb.save(system, tmp_path / "model.json")
    names: dict[str, Any] = {}
    exec(mb.to_python(system), names)
    for again in (mb.load(tmp_path / "model.json"), names["system"]):
        assert (again["push"].value, again["push"].unit, again["push"].lower) == (1.5, "N", -2.0)
        np.testing.assert_array_equal(mb.simulate(again, 0.1, dt=0.01).q, mb.simulate(system, 0.1, dt=0.01).q)


def test_an_input_that_was_added_later_stands_before_what_names_it(tmp_path: Path) -> None:
    system = cart(0.0)
    system.add(mb.Input("more", value=1.0))
    system["f"].force = ("more", 0, 0)
    mb.save(system, tmp_path / "model.json")
    assert mb.load(tmp_path / "model.json")["f"].force[0].signals == ("more",)


def test_results_with_inputs_go_through_files(tmp_path: Path) -> None:
    with mb.Simulation(cart(), dt=0.01) as sim:
        sim.step(10)
        sim.inputs["push"] = 2.0
        sim.step(10)
        result = sim.result()
    result.save(tmp_path / "run.h5")
    again = mb.load_result(tmp_path / "run.h5")
    np.testing.assert_array_equal(again.quantity("push").values, result.quantity("push").values)
    np.testing.assert_array_equal(again.acceleration("cart"), result.acceleration("cart"))


def test_systems_with_inputs_are_included_with_a_prefix() -> None:
    whole = mb.System("two")
    for prefix in ("a_", "b_"):
        whole.include(cart(), prefix)
    assert [one.name for one in whole.inputs] == ["a_push", "b_push"]
    with mb.Simulation(whole, dt=0.01) as sim:
        sim.inputs["b_push"] = 2.0
        sim.advance(to=1.0)
        assert sim.quantity("a_cart.velocity.x") == pytest.approx(0.025)
        assert sim.quantity("b_cart.velocity.x") == pytest.approx(2.025)


def test_the_command_line_gives_values_and_tables(tmp_path: Path) -> None:
    mb.save(cart(), tmp_path / "cart.json")
    (tmp_path / "push.csv").write_text("t, push\n0, 1\n0.5, -1\n")
    common = ["run", str(tmp_path / "cart.json"), "--t-end", "1", "--output", str(tmp_path / "run.h5"), "--quiet"]
    for given, velocity in (("push=3", 3.025), (f"push={tmp_path / 'push.csv'}", 0.025)):
        assert main([*common, "--input", given]) == 0
        assert mb.load_result(tmp_path / "run.h5").velocity("cart")[-1, 0] == pytest.approx(velocity, abs=1e-9)
    for wrong in ("pull=3", "push=much", "push"):
        assert main([*common, "--input", wrong]) != 0
