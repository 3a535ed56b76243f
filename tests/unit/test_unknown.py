"""Models that name classes which nobody knows: they open, keep what they do not understand, and are not computed."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe import registry
from mbframe.cli import main
from mbframe.files.json_text import dumps
from mbframe.files.meshes import MeshNotice
from mbframe.files.model import read, settings_from
from mbframe.files.renewing import renew
from mbframe.unknown import UnknownFormulation

HERE = {"module": "hooks", "file": "hooks.py"}


class Hook(mb.ForceElement):
    """A spring of length zero, which says where it pulls."""

    stiffness = mb.parameter(10.0, unit="N/m", help="k")
    note = mb.parameter("", kind="text", help="a word about it")

    def wrench(self, t: Any, i: Any, j: Any) -> Any:
        return self.stiffness * (i.position - j.position), np.zeros(3)


class Wheel(mb.RigidBody):
    """A disk by its radius."""

    radius = mb.parameter(0.1, unit="m", above=0.0, help="r")

    def __init__(self, name: str, **values: Any) -> None:
        values.setdefault("mass", 10.0 * values.get("radius", 0.1))
        values.setdefault("inertia", (0.1, 0.1, 0.2))
        super().__init__(name, **values)


def content(**more: Any) -> dict[str, Any]:
    """A model with a force and a body of unknown classes, a joint to this body, and a formulation and a shape."""
    return {
        "format": "mbframe model",
        "version": 2,
        "name": "m",
        "gravity": [0.0, 0.0, -9.81],
        "elements": [
            {"type": "RigidBody", "name": "bar", "mass": 2.0, "inertia": [1.0, 1.0, 1.0]},
            {"type": "hooks.Hook", "name": "spring", "i": "ground", "j": "bar", "at_i": [0.0, 0.0, 1.0]}
            | {"stiffness": 3.5e-7, "note": "push me"},
            {"type": "hooks.Wheel", "name": "wheel", "mass": 2.5, "inertia": [0.1, 0.1, 0.2], "radius": 0.25},
            {"type": "RevoluteJoint", "name": "axle", "i": "bar", "j": "wheel"}
            | {"at": [0.0, 0.0, 0.0], "axis": [0.0, 1.0, 0.0]},
            {"type": "RigidBody", "name": "odd", "mass": 2.0, "inertia": [1.0, 1.0, 1.0]}
            | {"shapes": [{"type": "Sphere", "radius": 0.5}, {"type": "hooks.Blob", "size": 3.0}]}
            | {"formulation": "hooks.Own"},
        ],
        "classes": {f"hooks.{name}": HERE for name in ("Hook", "Wheel", "Blob", "Own", "Heun")},
        "simulation": {"t_end": 1.0, "integrator": {"type": "hooks.Heun", "order": 2}},
        **more,
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.json"
    made = content()
    order = ("format", "version", "name", "gravity", "elements", "simulation", "classes")
    path.write_text(dumps({key: made[key] for key in order}))
    return path


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


def test_a_model_opens_and_says_what_is_unknown(file: Path) -> None:
    system = mb.load(file)
    assert [(one.name, one.type) for one in system.unknown] == [
        ("spring", "hooks.Hook"),
        ("wheel", "hooks.Wheel"),
        ("axle", "RevoluteJoint"),  # whose body is unknown
    ]
    spring, wheel, axle = system.unknown
    joined = {"i": "ground", "j": "bar", "at_i": [0.0, 0.0, 1.0]}
    assert spring.parameters == joined | {"stiffness": 3.5e-7, "note": "push me"}
    assert (spring.joined, wheel.joined, axle.joined) == (["ground", "bar"], [], ["bar", "wheel"])
    assert [body.name for body in system.bodies] == ["bar", "odd"]


def test_it_is_saved_byte_for_byte(file: Path, tmp_path: Path) -> None:
    system, settings = mb.load(file), settings_from(read(file), keep_unknown=True)
    for kept in (system, copy.deepcopy(system), pickle.loads(pickle.dumps(system)), system.as_described()):
        mb.save(kept, tmp_path / "again.json", simulation=settings)
        assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_names_are_followed_or_kept(file: Path) -> None:
    system = mb.load(file)
    system["bar"].name = "rod"
    assert system["spring"].parameters["j"] == system["axle"].parameters["i"] == "rod"
    system.ground.name = "floor"
    assert system["spring"].parameters["i"] == "floor"
    push = system.add(mb.Input("push", value=1.0))
    with pytest.raises(mb.ModelError, match=r"hooks.Hook 'spring', of an unknown class, may mean 'push'"):
        push.name = "pull"
    assert push.name == "push"
    assert "push" in system
    system["spring"].name = "hook"
    assert system["hook"] is system.unknown[0]
    other = system.add(mb.RigidBody("push me", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(mb.ModelError, match="may mean 'push me'"):
        other.name = "x"


def test_what_it_is_attached_to_cannot_go_or_move_without_it(file: Path) -> None:
    system = mb.load(file)
    assert [one.name for one in system.dependents(system["bar"])] == ["spring", "axle"]
    with pytest.raises(mb.ModelError, match="remove first what is attached: spring, axle"):
        system.remove("bar")
    state = mb.State(0.0, {b.name: b.motion for b in system.bodies}, {}, 3)
    mb.describe(system, state)  # nothing moves
    other = copy.deepcopy(system)
    other["bar"].position = (1.0, 0.0, 0.0)
    with pytest.raises(mb.ModelError, match=r"'spring': is attached to 'bar' and would not go along"):
        mb.describe(system, mb.State(0.0, {b.name: b.motion for b in other.bodies}, {}, 3))
    with pytest.raises(mb.ModelError, match="of unknown classes, which cannot be moved"):
        mb.System("s").include(system, "a ")
    for name in ("axle", "spring", "wheel"):
        system.remove(name)
    assert system.unknown == []


def test_nothing_is_computed_of_it(file: Path) -> None:
    system = mb.load(file)
    remedy = r"'hooks.Hook' is a class of a user from the file hooks.py; .*--classes hooks.py.*Use my classes"
    for compute in (
        lambda: mb.simulate(system, 1.0),
        lambda: mb.linearize(system),
        lambda: mb.assemble(system),
        lambda: mb.degrees_of_freedom(system),
        lambda: mb.equilibrium(system),
        lambda: mb.Simulation(system),
        lambda: mb.compare(system, 1.0, dt=0.1),
    ):
        with pytest.raises(mb.ModelError, match=rf"hooks.Hook 'spring': cannot be computed: {remedy}"):
            compute()
    for element in ("axle", "spring", "wheel"):
        system.remove(element)
    assert isinstance(system["odd"].formulation, UnknownFormulation)
    with pytest.raises(mb.ModelError, match=r"'odd', formulation: cannot be computed: 'hooks.Own' is a class"):
        mb.simulate(system, 0.01)
    assert mb.simulate(system, 0.01, dt=0.005, formulation=mb.EulerParameters()).t[-1] == 0.01
    with pytest.raises(mb.ModelError, match=r"simulation, integrator: 'hooks.Heun' is a class of a user"):
        mb.load_settings(file)
    with pytest.raises(mb.ModelError, match="cannot be written as Python"):
        mb.to_python(mb.load(file))


def test_what_follows_a_signal_of_an_unknown_class_is_kept_too(tmp_path: Path) -> None:
    made = content(simulation={})
    made["elements"] += [
        {"type": "parts.Relay", "name": "relay", "limit": 3.0},
        {"type": "PointForce", "name": "push", "body": "bar", "at": [0.0, 0.0, 0.0], "force": ["2*relay.force", 0, 0]},
        {"type": "parts.Height", "name": "far end", "i": "ground", "j": "bar"},
        {
            "type": "StateFeedback",
            "name": "lqr",
            "outputs": {"force": "N"},
            "measures": ["far end"],
            "gain": [[1.0, 2.0]],
        },
    ]
    (tmp_path / "m.json").write_text(json.dumps(made))
    system = mb.load(tmp_path / "m.json")
    assert [one.name for one in system.unknown][-4:] == ["relay", "push", "far end", "lqr"]
    with pytest.raises(mb.ModelError, match="may mean 'far end'"):
        system["far end"].name = "height"
    with pytest.raises(mb.ModelError, match=r"'push'.*may mean 'relay'"):
        system["relay"].name = "switch"


def test_it_becomes_what_it_is_when_its_class_is_given(file: Path) -> None:
    system, before = mb.load(file), read(file)
    spring, wheel, axle = system.unknown
    known = {}
    for cls in (Hook, Wheel):
        known[cls] = type(cls.__name__, (cls,), {"__module__": "hooks", "__qualname__": cls.__name__})
    mb.register(*known.values())
    changed = renew(system)
    assert {one.name for one in changed} >= {"spring", "wheel", "axle"}
    assert system.unknown == []
    assert system["spring"] is spring
    assert (type(spring), spring.stiffness) == (known[Hook], 3.5e-7)
    assert isinstance(axle, mb.RevoluteJoint)
    assert (axle.body_j, axle.body_i) == (wheel, system["bar"])
    assert wheel.radius == 0.25
    wheel.name = "disk"
    assert system["disk"] is wheel
    wheel.name = "wheel"
    mb.save(system, file, simulation=settings_from(read(file), keep_unknown=True))
    again = read(file)
    assert [one["name"] for one in again["elements"]] == [one["name"] for one in before["elements"]]
    assert again["elements"][1] == before["elements"][1]
    kept = {key: value for key, value in before["elements"][2].items() if key != "inertia"}  # the constructor makes it
    assert again["elements"][2] == kept
    assert again["elements"][3:] == before["elements"][3:]
    assert mb.simulate(system, 0.01, dt=0.005, formulation=mb.NewtonEuler()).t[-1] == 0.01


def test_elements_follow_a_class_that_is_defined_again() -> None:
    def hook(factor: float) -> Any:
        def wrench(self: Any, t: Any, i: Any, j: Any) -> Any:
            return factor * self.stiffness * (i.position - j.position), np.zeros(3)

        cls = type("Hook", (Hook,), {"__module__": "hooks", "__qualname__": "Hook", "wrench": wrench})
        mb.register(cls)
        return cls

    first = hook(1.0)
    system = mb.System("m", gravity=(0, 0, 0))
    ball = system.add(mb.PointMass("ball", mass=1.0, position=(1.0, 0.0, 0.0)))
    spring = system.add(first("spring", system.ground, ball, at_i=(0, 0, 0), at_j=(1.0, 0, 0), stiffness=2.0))
    assert renew(system) == []
    second = hook(3.0)
    assert renew(system) == [spring]
    assert (type(spring), spring.stiffness) == (second, 2.0)
    assert mb.evaluate(system).acceleration("ball")[0] == pytest.approx([-6.0, 0.0, 0.0])


def test_a_class_that_refuses_leaves_the_system_as_it_was(file: Path) -> None:
    class Strict(Hook):
        def check(self) -> Any:
            yield self.problem("stiffness", "found too little; give more")

    Strict.__module__, Strict.__qualname__ = "hooks", "Hook"
    system = mb.load(file)
    with pytest.raises(mb.ModelError, match="found too little"):
        renew(system, [Strict])
    assert len(system.unknown) == 3
    assert system["spring"].parameters["stiffness"] == 3.5e-7


def test_a_result_plays_without_its_classes(tmp_path: Path) -> None:
    system = mb.System("m")
    ball = system.add(mb.PointMass("ball", mass=1.0, position=(1.0, 0.0, 0.0)))
    system.add(Hook("spring", system.ground, ball, at_i=(0, 0, 0), at_j=(1.0, 0, 0)))
    result = mb.simulate(system, 0.2, dt=0.1)
    result.save(tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    assert [one.name for one in loaded.system.unknown] == ["spring"]
    assert np.array_equal(loaded.position("ball"), result.position("ball"))
    assert np.array_equal(loaded.velocity("ball", local_point=(0, 0, 0)), result.velocity("ball"))
    with pytest.raises(mb.ModelError, match="hand it over"):
        loaded.acceleration("ball")
    loaded.save(tmp_path / "again.h5")
    assert mb.load_result(tmp_path / "again.h5", classes=[Hook]).energy.total == pytest.approx(result.energy.total)


def test_commands_say_what_is_unknown(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file)]) == 2
    told = capsys.readouterr().out
    assert "hooks.Hook 'spring': 'hooks.Hook' is a class of a user from the file hooks.py" in told
    assert main(["check", str(file), "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["type"]) for one in found["unknown"]][:2] == [
        ("spring", "hooks.Hook"),
        ("wheel", "hooks.Wheel"),
    ]
    assert found["elements"] == {"RigidBody": 2, "hooks.Hook": 1, "hooks.Wheel": 1, "RevoluteJoint": 1}
    assert main(["export", str(file), str(tmp_path / "again.json")]) == 0
    assert "unknown: hooks.Hook 'spring'" in capsys.readouterr().out
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
    assert main(["export", str(file), str(tmp_path / "again.py")]) == 2
    assert main(["run", str(file), "--t-end", "0.1"]) == 2
    assert "hand it over if you trust it: --classes hooks.py" in capsys.readouterr().err


def test_elements_of_older_files_are_not_saved_as_new_ones(file: Path, tmp_path: Path) -> None:
    made = content(version=1)
    (tmp_path / "old.json").write_text(json.dumps(made))
    system = mb.load(tmp_path / "old.json")
    with pytest.raises(mb.ModelError, match=r"'spring': cannot be stored: is of a file of version 1"):
        mb.save(system, tmp_path / "new.json")


def test_meshes_of_unknown_bodies_stay_beside_the_file(tmp_path: Path) -> None:
    made = content()
    made["elements"][2]["shapes"] = [{"type": "Mesh", "path": "parts/wheel.stl"}, {"type": "Mesh", "path": "../x.stl"}]
    (tmp_path / "m.json").write_text(json.dumps(made))
    with pytest.warns(mb.MeshNotice, match=r"x.stl' lies outside"):
        system = mb.load(tmp_path / "m.json")
    wheel: Any = system["wheel"]
    assert wheel.parameters["shapes"][0]["path"] == str(tmp_path / "parts/wheel.stl")
    mb.save(system, tmp_path / "again.json")
    paths = [shape["path"] for shape in json.loads((tmp_path / "again.json").read_text())["elements"][2]["shapes"]]
    assert paths == ["parts/wheel.stl", str(tmp_path.parent / "x.stl")]


def test_only_shapes_have_paths_of_meshes(tmp_path: Path) -> None:
    """Any other object with a key `path` was rewritten when the model was saved: "../x" became "/home/me/x"."""
    data = content()
    data["elements"].append(
        {"type": "hooks.Log", "name": "log", "to": {"path": "../x//y"}, "from": [{"path": "a/../b"}]}
    )
    (tmp_path / "m.json").write_text(dumps(data))
    mb.save(mb.load(tmp_path / "m.json"), tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["elements"][-1] == data["elements"][-1]


def test_a_path_that_cannot_be_one_is_told_as_any_other(tmp_path: Path) -> None:
    """A null character in it ended in a plain ValueError."""
    data, shape = content(), {"type": "Mesh", "path": "a\0b.stl"}
    data["elements"][0]["shapes"] = [shape]
    data["elements"].append({"type": "hooks.Wheel", "name": "other", "shapes": [shape]})
    (tmp_path / "m.json").write_text(dumps(data))
    with pytest.warns(MeshNotice, match="outside of the folder"):
        assert "other" in mb.load(tmp_path / "m.json")
