"""What `mbframe explain` says of a model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import mbframe as mb
from mbframe.cli import main
from mbframe.solvers.explain import HOME, StageLine, explain


def found(lines: list[StageLine], start: str) -> StageLine:
    """The first line of a role."""
    return next(line for line in lines if line.role.startswith(start))


def source(place: str) -> str:
    """A line of the sources."""
    file, _, number = place.rpartition(": ")[2].rpartition(":")
    path = Path(file) if Path(file).is_absolute() else HOME / file
    return path.read_text().splitlines()[int(number) - 1].strip()


@pytest.mark.parametrize("example", ["car_suspension", "crane_trolley", "sliding_block", "rolling_disk", "four_bar"])
def test_all_sources_are_functions(example):
    for line in explain(getattr(mb.examples, example)()):
        assert line.sources
        assert all(source(place).startswith(("def ", "@")) for place in line.sources), line
        assert line.origin in ("compiled, from the cache", "compiled just now", "compiled when it is needed")


def test_stages_come_in_the_order_of_the_march():
    lines = explain(mb.examples.car_suspension())
    roles = [line.role.split(",")[0] for line in lines]
    order = ["march", "step", "accelerate", "evaluate", "NewtonEuler", "Coincident", "SpringDamper", "factorize"]
    order += ["solve", "correct", "displacement"]
    assert [role for role in dict.fromkeys(roles) if role in order] == order
    assert [line.rows for line in lines if line.name == "forces"] == [2, 1, 1]
    assert found(lines, "NewtonEuler").rows == 3
    assert any("forces/springs.py" in place for place in found(lines, "SpringDamper").sources)


def test_methods_that_were_chosen_are_shown():
    chosen = {"integrator": mb.GeneralizedAlpha(), "formulation": mb.NaturalAbsolute(), "dt": 1e-3}
    lines = explain(mb.examples.heavy_top(), **chosen)
    assert found(lines, "step, GeneralizedAlpha").name == "generalized_alpha"
    assert found(lines, "NaturalAbsolute").rows == 1


class Compiled(mb.ForceElement):
    def wrench(self, t, i, j):
        return (0.0, 0.0, t), (0.0, 0.0, 0.0)


class Called(mb.ForceElement):
    def wrench(self, t, i, j):
        f"{self}".strip()
        return [0.0, 0.0, t], [0.0, 0.0, 0.0]


class OfPlane(mb.ForceElement):
    def wrench(self, t, i, j):
        return (0.0, t), 0.0


class Euler(mb.Integrator):
    def step(self, eq, t, q, v, h):
        v_rate, _ = eq.accelerate(t, q, v)
        return q + h * eq.coordinate_rates(q, v), v + h * v_rate


def test_users_classes_are_shown_with_their_own_lines():
    system = mb.System("users")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    for k, kind in enumerate((Compiled, Called, Called)):
        system.add(kind(f"force {k}", system.ground, body))
    lines = explain(system, integrator=Euler(), dt=0.01)
    compiled, called, step = (found(lines, role) for role in ("Compiled", "Called", "step, Euler"))
    assert (compiled.rows, compiled.origin) == (1, "compiled for this process")
    assert (called.rows, called.origin, called.name) == (2, "called from Python", "Called.wrench")
    assert (step.origin, step.name) == ("called from Python", "Euler.step")
    for line, name in ((compiled, "wrench"), (called, "wrench"), (step, "step")):
        assert __file__ in line.sources[-1]
        assert source(line.sources[-1]).startswith(f"def {name}(")


def test_a_users_method_of_the_plane_is_shown_and_not_what_lifts_it():
    system = mb.System("plane", dimension=2)
    body = system.add(mb.PlanarBody("body", mass=1.0, inertia=1.0))
    system.add(OfPlane("force", system.ground, body))
    assert __file__ in found(explain(system), "OfPlane").sources[-1]


def test_the_command_prints_all_stages(capsys):
    assert main(["explain", "heavy_top", "--integrator", "RungeKutta4", "--dt", "0.001"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^march: march, compiled", text)
    step = r"^  step, RungeKutta4: runge_kutta, compiled.*\n +mbframe/kernels/integrators/runge_kutta.py:\d+$"
    assert re.search(step, text, re.MULTILINE)
    assert re.search(r"^ +NewtonEuler: bodies, 1 row, compiled", text, re.MULTILINE)
    assert main(["explain", "heavy_top", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [stage["level"] for stage in data["stages"]][:4] == [0, 1, 2, 3]
    assert main(["explain", "heavy_top", "--integrator", "RungeKutta4"]) == 2
