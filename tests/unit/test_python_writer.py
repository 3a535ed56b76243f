"""Models as Python scripts."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.files.json_text import dumps
from mbframe.files.model import document


class Outer:
    """Classes may be defined inside others."""

    class Magnet(mb.ForceElement):
        """A user's force."""

        strength = mb.parameter(1.0, help="attraction at one metre")


def executed(script: str) -> mb.System:
    scope: dict[str, Any] = {}
    exec(script, scope)
    return scope["system"]


def test_the_script_of_a_model() -> None:
    system = mb.System("pendulum with spring")
    bar = system.add(mb.RigidBody("the bar", mass=2.0, inertia=(0.05, 2.7, 2.7), shapes=[mb.Sphere(radius=0.1)]))
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
    system.add(mb.SpringDamper("spring", system.ground, bar, at_i=(4, 0, 3), stiffness=200.0, force="3*x"))
    expected = '''\
"""The model 'pendulum with spring'."""

import mbframe as mb

system = mb.System("pendulum with spring", gravity=(0.0, 0.0, -9.81))
ground = system.ground

the_bar = system.add(
    mb.RigidBody("the bar", mass=2.0, inertia=(0.05, 2.7, 2.7), shapes=[mb.Sphere(radius=0.1)])
)
system.add(mb.SphericalJoint("A", ground, the_bar, at=(0.0, 0.0, 0.0)))
system.add(
    mb.SpringDamper("spring", ground, the_bar, at_i=(4.0, 0.0, 3.0), stiffness=200.0, force="3*x")
)

result = mb.simulate(system, t_end=2.0, integrator=mb.DormandPrince(rtol=1e-08))
'''
    assert mb.to_python(system, simulation={"t_end": 2.0, "integrator": mb.DormandPrince(rtol=1e-8)}) == expected


def test_a_model_without_settings_is_not_simulated(tmp_path: Path) -> None:
    mb.save(mb.examples.four_bar(), tmp_path / "model.json")
    script = mb.to_python(mb.load(tmp_path / "model.json"), simulation=mb.load_settings(tmp_path / "model.json"))
    assert "mb.simulate" not in script


def test_scripts_are_laid_out_as_formatters_do(tmp_path: Path) -> None:
    for name in mb.examples.names():
        system = getattr(mb.examples, name)()
        # The numbers of component modes are packed into lines, which formatters would not do.
        if not any(isinstance(body, mb.FlexibleBody) for body in system.bodies):
            (tmp_path / f"{name}.py").write_text(mb.to_python(system))
    for command in (["format", "--check"], ["check"]):
        options = ["--isolated", "--no-cache", "--line-length", "100"]
        process = subprocess.run([sys.executable, "-m", "ruff", *command, *options, tmp_path], capture_output=True)
        assert process.returncode == 0, process.stdout.decode()


def test_names_become_identifiers_that_do_not_clash() -> None:
    names = [
        "system",
        "mb",
        "ground ",
        "Rod 1",
        "rod-1",
        "rod_1",
        "1st",
        "Kö­rper",
        "for",
        "print",
        "日本",
        "''",
        '"',
        "a\nb\\",
    ]
    system = mb.System("names")
    for name in names:
        body = system.add(mb.RigidBody(name, mass=1.0, inertia=(1, 1, 1)))
        system.add(mb.SphericalJoint(f"joint of {name}", system.ground, body, at=(0, 0, 0)))
    script = mb.to_python(system)
    assert dumps(document(executed(script))) == dumps(document(system))
    bound = [node.targets[0].id for node in ast.parse(script).body if isinstance(node, ast.Assign)]  # type: ignore[attr-defined]
    assert len(set(bound)) == len(bound)
    assert {"system_2", "mb_2", "rod_1", "rod_1_2", "rod_1_3", "rigid_body_1st", "for_2", "print_2"} <= set(bound)


def test_functions_of_all_kinds_and_long_tables() -> None:
    system = mb.System("functions")
    body = system.add(mb.RigidBody("b", mass=1.0, inertia=(1, 1, 1)))
    x = np.linspace(0.0, 1.0, 60)
    laws = [
        mb.Function("u**2", variables=("u",)),
        mb.Function.table(x, np.sin(x)),
        mb.Function.piecewise_linear([0, 1], [0, 2], "x"),
        mb.Function.polynomial([1, 2, 3]),
        mb.Function(3.0),
        "x**3",
    ]
    for number, law in enumerate(laws):
        system.add(mb.SpringDamper(f"spring {number}", system.ground, body, at_i=(0, 0, 1), force=law))
    script = mb.to_python(system)
    assert dumps(document(executed(script))) == dumps(document(system))
    assert max(map(len, script.splitlines())) <= 100
    assert len(script.splitlines()) < 80


def test_classes_of_users_are_imported() -> None:
    system = mb.System("magnet")
    body = system.add(mb.RigidBody("b", mass=1.0, inertia=(1, 1, 1)))
    system.add(Outer.Magnet("m", system.ground, body, at_i=(0, 0, 1), strength=2.0))
    script = mb.to_python(system)
    assert f"from {Outer.__module__} import Outer" in script
    assert 'Outer.Magnet("m", ground, b' in script
    assert dumps(document(executed(script))) == dumps(document(system))


def test_a_class_inside_a_function_cannot_be_imported() -> None:
    class Local(mb.RigidBody):
        """Out of reach."""

    system = mb.System("local")
    system.add(Local("b", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(mb.ModelError, match="defined inside a function"):
        mb.to_python(system)


def test_a_callable_is_refused_with_the_name_of_its_element() -> None:
    system = mb.System("callable")
    body = system.add(mb.RigidBody("b", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("push", body, force=(0, 0, lambda t: t)))
    with pytest.raises(mb.ModelError, match="PointForce 'push', force"):
        mb.to_python(system)


def test_titles_cannot_leave_their_quotes() -> None:
    system = mb.System('""" + print("executed") + """ \\')
    assert executed(mb.to_python(system)).name == system.name
