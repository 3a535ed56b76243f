"""Files of every version that was ever written are read forever: these are never written again.

When a format changes, its files of the version before join them, with what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.files.old_versions import DEFAULTS, REMOVED
from mbframe.files.reader import VERSION
from mbframe.files.schema import schema

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "old_files"


def crane() -> mb.System:
    """What `model_1.json` describes: something of everything."""
    system = mb.System("crane", gravity=(0, 0, -9.81))
    boom = system.add(
        mb.RigidBody(
            "boom",
            mass=30.0,
            inertia=(1.0, 10.0, 10.5, 0.1, 0.0, -0.2),
            center_of_mass=(0.1, 0.0, 0.0),
            position=(1.0, 0.0, 2.0),
            rotation=[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            formulation=mb.EulerAngles("XYZ"),
            shapes=[mb.Box(size=(2.0, 0.1, 0.1), color="red"), mb.Sphere(radius=0.2, position=(1.0, 0.0, 0.0))],
        )
    )
    load = system.add(mb.PointMass("load", mass=5.0, position=(1.0, 1.0, 0.5), velocity=(0.0, 0.25, 0.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, boom, at=(1.0, -1.0, 2.0), axis=(0.0, 0.0, 1.0)))
    system.add(mb.DistanceJoint("rope", boom, load, at_i=(1.0, 1.0, 2.0), at_j=(1.0, 1.0, 0.5)))
    system.add(mb.Driver("motor", hinge, angle="0.5*sin(2*t)"))
    laws = {"force": "3*x**2", "damping_force": mb.Function.polynomial([0.0, 2.0], "v")}
    system.add(mb.SpringDamper("spring", system.ground, load, stiffness=10.0, free_length=0.3, **laws))
    table = mb.Function.table([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], interpolation="spline")
    system.add(mb.PointForce("wind", load, force=(1.0, "sin(t)", table)))
    system.add(mb.Bushing("mount", system.ground, boom, at=(0, 0, 2), stiffness=(1, 2, 3, 4, 5, 6)))
    system.add(mb.Friction("rub", hinge, coefficient=0.2, radius=0.05))
    system.add(mb.FixedDistance(mb.Marker(boom, at=(1, 0, 2)), mb.Marker(load, at=(1, 1, 0.5)), distance=2.0))
    system.add(mb.Angle("turned", system.ground, boom, axis=(0.0, 0.0, 1.0)))
    return system


def slider() -> mb.System:
    """What `planar_model_1.json` describes."""
    system = mb.System("slider", dimension=2, gravity=(0.0, -9.81))
    block = system.add(mb.PlanarBody("block", mass=2.0, inertia=0.3, position=(1.0, 0.0), angle=0.25))
    system.add(mb.TranslationalJoint("rail", system.ground, block, at=(1.0, 0.0), axis=(1.0, 0.0)))
    system.add(
        mb.SpringDamper(
            "spring", system.ground, block, at_i=(0, 0), at_j=(1, 0), stiffness=50.0, damping=1.0, free_length=0.0
        )
    )
    system.add(mb.Torque("twist", block, torque="t**2"))
    return system


SETTINGS = {"t_end": 2.0, "dt": 0.01, "integrator": mb.DormandPrince(rtol=1e-8), "formulation": mb.NaturalAbsolute()}


@pytest.mark.parametrize(("name", "meant"), [("model_1", crane), ("planar_model_1", slider)])
def test_models_of_version_1(name: str, meant: Callable[[], mb.System]) -> None:
    path = FILES / f"{name}.json"
    assert json.loads(path.read_text())["version"] == 1
    assert mb.to_python(mb.load(path)) == mb.to_python(meant())


def test_settings_of_version_1() -> None:
    found = mb.load_settings(FILES / "model_1.json")
    assert {key: repr(value) for key, value in found.items()} == {key: repr(value) for key, value in SETTINGS.items()}


def test_results_of_version_1() -> None:
    """A stone thrown with (1, 0, 1) m/s where gravity is 10 m/s²: its flight, in closed form."""
    result = mb.load_result(FILES / "result_1.h5")
    assert np.array_equal(result.t, np.linspace(0.0, 0.5, 11))
    assert np.allclose(result.position("stone"), np.column_stack([result.t, 0 * result.t, result.t - 5 * result.t**2]))
    assert np.allclose(result.velocity("stone")[:, 2], 1.0 - 10.0 * result.t)
    assert np.allclose(result.quantity("energy.total").values, 2.0)  # stored with it: m v²/2 of 2 kg at the start
    assert np.allclose(result.energy.total, 2.0)  # computed from the model in the file
    assert result.info.completed
    assert [(event.name, event.t) for event in result.events] == [("apex", pytest.approx(0.1))]
    assert result.system.gravity[2] == -10.0


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_parameters_of_every_version(version: int) -> None:
    """Files leave out what is the default, so names and defaults of parameters are part of the format.

    `parameters_1.json` has those of version 1 by class, as [default] or []. A default that has to change needs a new
    version of the format, whose reader gives older files the old one: `DEFAULTS` has exactly those.
    """
    kept = json.loads((FILES / f"parameters_{version}.json").read_text())
    today = schema()["$defs"]
    given = {
        (name, key): default
        for name in kept
        for since in range(version, VERSION)
        for owner, key, default in DEFAULTS[since]
        if isinstance(cls := getattr(mb, name, None), type) and issubclass(cls, owner)
    }
    changed = {
        (name, key): default[0]
        for name, parameters in kept.items()
        for key, default in parameters.items()
        if key not in today[name]["properties"] or listed(today[name]["properties"][key]) != default
    }
    gone = {(owner.__name__, key) for since in range(version, VERSION) for owner, key in REMOVED[since]}
    assert gone <= changed.keys()
    assert {place: default for place, default in changed.items() if place not in gone} == given
    required = {name: set(today[name].get("required", ())) - {"type", *parameters} for name, parameters in kept.items()}
    assert {name: keys for name, keys in required.items() if keys} == {}  # what is new is optional


def test_what_had_no_effect_is_left_out(tmp_path: Path) -> None:
    """The turns of an angle term were the solver's own; a file of version 1 may say how many there were."""
    system = mb.System("lock")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.AngleTerm("lock", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    path = tmp_path / "lock.json"
    mb.save(system, path)
    document = json.loads(path.read_text())
    document["version"] = 1
    (lock,) = (element for element in _entries(document) if element.get("type") == "AngleTerm")
    lock["turns"] = 3.0
    path.write_text(json.dumps(document))
    assert mb.to_python(mb.load(path)) == mb.to_python(system)


def _entries(part: Any) -> list[dict[str, Any]]:
    """All objects in a document."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    found = [entry for value in inner for entry in _entries(value)]
    return [part, *found] if isinstance(part, dict) else found


def listed(parameter: dict[str, Any]) -> list[Any]:
    return [parameter["default"]] if "default" in parameter else []
