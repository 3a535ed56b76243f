"""Systems, states, results and linearizations that are copied, or sent to other processes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb


def sent(given: Any) -> Any:
    return pickle.loads(pickle.dumps(given))


TRAVEL: list[Callable[[Any], Any]] = [sent, copy.deepcopy]
RUNS: dict[str, Callable[[], mb.Result]] = {
    "plane": lambda: mb.simulate(mb.examples.four_bar(), 0.1, formulation=mb.PlanarNatural()),
    "feedback": lambda: mb.simulate(mb.examples.triple_pendulum(), 0.05, dt=1e-3, stabilization=mb.Baumgarte()),
    "penalty": lambda: mb.simulate(mb.examples.triple_pendulum(), 0.05, dt=1e-3, acceleration=mb.Penalty()),
    "instants": lambda: mb.simulate(mb.examples.car_suspension(), 0.1, t_eval=[0.05, 0.1]),
    "tree": lambda: mb.simulate(mb.examples.triple_pendulum(), 0.05, formulation=mb.Relative()),
    "implicit": lambda: mb.simulate(mb.examples.four_bar(), 0.05, integrator=mb.RadauIIA()),
    "flexible": lambda: mb.simulate(mb.examples.flexible_pendulum(), 0.02),
}


@pytest.mark.parametrize("travel", TRAVEL, ids=["sent", "copied"])
@pytest.mark.parametrize("run", RUNS)
def test_results_compute_the_same_where_they_arrive(run: str, travel: Callable[[Any], Any]) -> None:
    result = RUNS[run]()
    body, joint = result.system.bodies[-1], result.system.joints[0]
    other = travel(result)
    assert other.quantities() == result.quantities()
    assert repr(other) == repr(result)
    for values in (
        lambda r, b, j: r.t,
        lambda r, b, j: r.position(b),
        lambda r, b, j: r.acceleration(b),
        lambda r, b, j: r.reaction(j).force,
        lambda r, b, j: r.energy.balance,
        lambda r, b, j: r.violation.velocity,
    ):
        expected = values(result, body, joint)
        np.testing.assert_array_equal(values(other, body.name, joint.name), expected)
        np.testing.assert_array_equal(values(other, other.system[body.name], other.system[joint.name]), expected)


def test_a_result_goes_on_from_where_it_arrived() -> None:
    system = mb.examples.four_bar()
    result = mb.simulate(system, 0.1)
    other = sent(result)
    here, there = (mb.simulate(r.system, 0.2, initial=r.state(-1)) for r in (result, other))
    np.testing.assert_array_equal(here.q, there.q)
    other.system["spring"].stiffness = 1e4  # the copy is another system
    assert system["spring"].stiffness != 1e4
    np.testing.assert_array_equal(other.energy.total, result.energy.total)


def test_a_result_in_a_file_travels_as_its_name(tmp_path: Path) -> None:
    result = mb.simulate(mb.examples.four_bar(), 0.05, dt=1e-3, output=tmp_path / "run.h5")
    other = sent(result)
    np.testing.assert_array_equal(other.energy.total, result.energy.total)
    np.testing.assert_array_equal(sent(mb.load_result(tmp_path / "run.h5")).q, result.q)


def test_linearizations_travel_with_their_modes() -> None:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=5.0))
    other = sent(lin)
    np.testing.assert_array_equal(other.eigenvalues, lin.eigenvalues)
    assert str(other) == str(lin)
    np.testing.assert_array_equal(
        other.modes[0].state(0.1).position("front wheel"), lin.modes[0].state(0.1).position("front wheel")
    )


def test_equations_say_that_they_stay() -> None:
    equations = mb.simulate(mb.examples.simple_pendulum(), 0.01).states.equations
    with pytest.raises(TypeError, match="copy or send the system instead"):
        copy.deepcopy(equations)


def test_sweeps_of_runs_on_processes_give_results() -> None:
    build = partial(mb.examples.mass_spring_damper_chain, 1, 1.0, damping=0.0)
    run = partial(mb.simulate, t_end=0.5, dt=1e-2)
    found = mb.sweep(build, [25.0, 100.0], run, "processes")
    with ThreadPoolExecutor(1) as pool:
        here = mb.sweep(build, [25.0, 100.0], run, pool)
    for there, mine in zip(found, here, strict=True):
        np.testing.assert_array_equal(there.energy.total, mine.energy.total)
