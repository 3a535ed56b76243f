"""Models as JSON: what is written, what is read, and what is said about a file that cannot be."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbframe as mb
from mbframe.cli import main
from mbframe.files import values
from mbframe.files.catalogue import ADDED, arguments, fields
from mbframe.files.json_text import WIDTH, dumps, parse
from mbframe.files.model import document, settings_from, system_from
from mbframe.files.order import by_dependency
from mbframe.files.schema import schema
from mbframe.registry import built_in


class Magnet(mb.ForceElement):
    """A user's force."""

    strength = mb.parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")
    parts = mb.parameter((), kind="list", help="anything")
    partner = mb.parameter(None, kind="reference", help="another element")


class Fussy(mb.RigidBody):
    """A class whose constructor raises what it likes."""

    def __init__(self, name: str, **values: Any) -> None:
        super().__init__(name, **values)
        if self.mass > 10.0:
            raise RuntimeError("too heavy for me")


class Assembled(mb.Joint):
    """Needs an argument that is not declared."""

    def __init__(self, name: str, i: Any, j: Any, recipe: object, **values: Any) -> None:
        super().__init__(name, i, j, **values)


def pendulum() -> mb.System:
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.053, 2.693, 2.693), position=(2, 0, 0)))
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
    return system


def problems(content: Any, **options: Any) -> dict[str, str]:
    """Messages of a refused document by JSON path."""
    with pytest.raises(mb.ModelError) as caught:
        system_from(content, **options)
    return {problem.field: problem.message for problem in caught.value.problems}


def text_of(system: mb.System) -> str:
    return dumps(document(system))


# ---- what is written ----


def test_the_text_of_a_model() -> None:
    assert (
        text_of(pendulum())
        == """\
{
  "format": "mbframe model",
  "version": 2,
  "name": "pendulum",
  "gravity": [0.0, 0.0, -9.81],
  "elements": [
    {"type": "RigidBody", "name": "bar", "mass": 2.0, "inertia": [0.053, 2.693, 2.693], "position": [2.0, 0.0, 0.0]},
    {"type": "SphericalJoint", "name": "A", "i": "ground", "j": "bar", "at": [0.0, 0.0, 0.0]}
  ]
}
"""
    )


def test_lines_stay_short_and_numbers_do_not_stand_alone() -> None:
    system = mb.examples.bouncing_block()
    x = np.linspace(0.0, 1.0, 100)
    system.add(mb.PointForce("push", system.bodies[0], force=(0, 0, mb.Function.table(x, np.sin(x)))))
    lines = text_of(system).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert sum(line.strip().rstrip(",").replace(".", "").isdigit() for line in lines) <= 2  # 0.0 beside the table


def test_numbers_are_exact_down_to_the_sign_of_zero() -> None:
    values = (-0.0, 5e-324, 0.1 + 0.2)
    system = mb.System("numbers")
    system.add(mb.RigidBody("b", mass=1 / 3, inertia=(1, 1, 1, -0.0, 0, 0), position=values, center_of_mass=values))
    body = system_from(parse(text_of(system), "text")).bodies[0]
    assert body.position.tobytes() == np.array(values).tobytes()
    assert body.inertia.tobytes() == system.bodies[0].inertia.tobytes()
    assert body.mass == 1 / 3


def test_everything_that_cannot_be_stored_is_named_at_once() -> None:
    system = pendulum()
    system.add(mb.PointForce("push", system["bar"], force=(0, 0, lambda t: t)))
    system.add(mb.SpringDamper("spring", system.ground, system["bar"], force=np.sin))
    system.add(Assembled("joint", system.ground, system["bar"], object(), at=(0, 0, 0)))
    system.add(Magnet("magnet", system.ground, system["bar"], parts=[object()]))
    with pytest.raises(mb.ModelError) as caught:
        document(system)
    found = [(problem.element, problem.field) for problem in caught.value.problems]
    assert found == [
        ("PointForce 'push'", "force"),
        ("SpringDamper 'spring'", "force"),
        ("Assembled 'joint'", ""),
        ("Magnet 'magnet'", "parts"),
    ]
    assert "Python code" in caught.value.problems[0].message


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = pendulum()
    system["bar"].name = "half a surrogate: \ud800"
    with pytest.raises(mb.ModelError, match="surrogate"):
        document(system)
    system = pendulum()
    system.add(Magnet("magnet", system.ground, system["bar"], parts=[2**60]))
    with pytest.raises(mb.ModelError, match="parts"):
        document(system)
    monkeypatch.setattr(values, "MAX_POINTS", 1000)
    x = np.arange(1001.0)
    system = pendulum()
    system.add(mb.SpringDamper("spring", system.ground, system["bar"], force=mb.Function.piecewise_linear(x, x)))
    with pytest.raises(mb.ModelError, match="SpringDamper 'spring', force: found a piecewise_linear of more than"):
        mb.save(system, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    mb.save(pendulum(), file)
    before = file.read_bytes()
    bad = pendulum()
    bad.add(mb.PointForce("push", bad["bar"], force=(0, 0, lambda t: t)))
    with pytest.raises(mb.ModelError):
        mb.save(bad, file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_elements_stand_behind_what_they_refer_to() -> None:
    system = pendulum()
    other = system.add(mb.RigidBody("other", mass=1.0, inertia=(1, 1, 1)))
    system["A"].body_j = other  # type: ignore[attr-defined]
    text = text_of(system)
    assert [e["name"] for e in json.loads(text)["elements"]] == ["bar", "other", "A"]
    assert text_of(system_from(json.loads(text))) == text


def test_order_by_dependency() -> None:
    assert by_dependency({"a": ["c"], "b": [], "c": ["b", "elsewhere"]}) == (["b", "c", "a"], [])
    order, circular = by_dependency({"a": ["b"], "b": ["a"], "c": ["c"]})
    assert sorted(order) == ["a", "b", "c"]
    assert circular == ["a", "c"]


def test_ground_markers_and_formulations_are_kept() -> None:
    system = pendulum()
    system.ground.name = "floor"
    system.ground.update(shapes=[mb.Box(size=(1, 1, 0.1), color=(0.5, 0.5, 0.5))])
    bar: Any = system["bar"]
    bar.formulation = mb.EulerAngles("XYZ", offset=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    rod = mb.FixedDistance(bar.marker((1, 0, 0)), mb.Marker(system.ground, at=(1, 0, 2), axis=(1, 1, 0)), distance=2.0)
    rod.name = "rod"
    system.add(rod)
    twin = system_from(json.loads(text_of(system)))
    assert text_of(twin) == text_of(system)
    assert twin.ground.name == "floor"
    assert twin.ground.shapes == system.ground.shapes
    assert twin["bar"].formulation == bar.formulation  # type: ignore[attr-defined]
    for side in ("i", "j"):
        marker, original = getattr(twin["rod"], side), getattr(rod, side)
        assert marker.body.name == original.body.name
        assert marker.at.tobytes() == original.at.tobytes()
        assert marker.axes.tobytes() == original.axes.tobytes()


def test_settings_are_arguments_of_simulate(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    simulation = {"t_end": 0.1, "dt": None, "integrator": mb.DormandPrince(order=5, rtol=1e-9), "t_eval": [0.0, 0.1]}
    mb.save(pendulum(), file, simulation=simulation | {"formulation": mb.NaturalAbsolute()})
    assert json.loads(file.read_text())["simulation"] == {
        "t_end": 0.1,
        "integrator": {"type": "DormandPrince", "order": 5, "rtol": 1e-09},
        "t_eval": [0.0, 0.1],
        "formulation": "NaturalAbsolute",
    }
    found = mb.load_settings(file)
    assert found["formulation"] == mb.NaturalAbsolute()
    assert repr(found["integrator"]) == "DormandPrince(order=5, rtol=1e-09)"
    with pytest.raises(mb.ModelError, match="there is no such setting"):
        mb.save(pendulum(), file, simulation={"t_edn": 1.0})


# ---- users' classes ----


def test_users_classes_are_read_only_if_they_are_handed_over(tmp_path: Path) -> None:
    system = pendulum()
    magnet = Magnet("magnet", system.ground, system["bar"], strength=3.0, parts=[1.0, "a", [True, None]])
    magnet.partner = system["A"]
    system.add(magnet)
    file = tmp_path / "model.json"
    mb.save(system, file)
    name = f"{Magnet.__module__}.Magnet"
    stranger = mb.load(file)
    assert [(one.name, one.type) for one in stranger.unknown] == [("magnet", name)]
    with pytest.raises(mb.ModelError, match=re.escape(name)):
        mb.simulate(stranger, 0.1)
    twin: Any = mb.load(file, classes=[Magnet])
    assert twin["magnet"].strength == 3.0
    assert twin["magnet"].partner is twin["A"]
    assert text_of(twin) == text_of(system)


def test_what_a_users_class_raises_is_a_problem_of_the_file() -> None:
    content = document(pendulum())
    content["elements"][0] |= {"type": f"{__name__}.Fussy", "mass": 100.0}
    content["elements"][0]["type"] = f"{Fussy.__module__}.Fussy"
    found = problems(content, classes=[Fussy])
    assert found == {"$.elements[0]": "could not be made: RuntimeError: too heavy for me"}


def test_only_classes_can_be_made_known() -> None:
    with pytest.raises(mb.ModelError, match="allowed are classes of elements"):
        system_from(document(pendulum()), classes=[int, "Magnet"])  # type: ignore[list-item]


def test_base_classes_and_the_ground_cannot_be_elements() -> None:
    content = document(pendulum())
    for name in ("Body", "Joint", "ForceElement", "Ground", "BasicConstraint", "System", "Element", "Contact"):
        content["elements"][1]["type"] = name
        assert "$.elements[1].type" in problems(content)


# ---- what is said about bad files ----


def test_all_problems_at_once_with_paths_and_proposals() -> None:
    content = document(pendulum(), {"t_end": 1.0, "integrator": mb.RungeKutta4()})
    bar, joint = content["elements"]
    bar |= {"mass": -2.0, "inertai": [1, 1, 1], "rotation": "none", "shapes": [{"type": "Boxx"}, {"type": "Box"}]}
    joint |= {"type": "SphericalJiont"}
    content["elements"] += [
        {"type": "RevoluteJoint", "name": "B", "i": "grund", "j": "bar", "at": [0, 0]},
        {"type": "SpringDamper", "name": "C", "i": "ground", "j": "bar", "force": "3*y"},
        {"type": "PointForce", "name": "bar", "body": "bar", "force": [0, 0, {"tabel": [[0, 1], [0, 1]]}]},
        {"type": "UniversalJoint", "name": "D", "i": "ground", "j": "ground", "at": [0, 0, 0]},
        {"name": "E"},
        7,
    ]
    content["simulation"] |= {"integrator": {"type": "DormandPrince", "ordr": 5}, "dt": 0}
    content["gravty"] = [0, 0, 0]
    found = problems(content)
    assert list(found) == [
        "$.gravty",
        "$.simulation.dt",
        "$.simulation.integrator.ordr",
        "$.elements[0].inertai",
        "$.elements[0].mass",
        "$.elements[0].rotation",
        "$.elements[0].shapes[0].type",
        "$.elements[0].shapes[1].size",
        "$.elements[1].type",
        "$.elements[2].i",
        "$.elements[2].at",
        "$.elements[2].axis",
        "$.elements[3].force",
        "$.elements[4].name",
        "$.elements[4].force",
        "$.elements[5].axis_i",
        "$.elements[5].axis_j",
        "$.elements[6].type",
        "$.elements[7]",
    ]
    assert "did you mean 'gravity'?" in found["$.gravty"]
    assert "did you mean 'order'?" in found["$.simulation.integrator.ordr"]
    assert "did you mean 'SphericalJoint'?" in found["$.elements[1].type"]
    assert "did you mean 'inertia'?" in found["$.elements[0].inertai"]
    assert "found -2.0; allowed is a finite number above 0 (kg)" in found["$.elements[0].mass"]
    assert "did you mean 'Box'?" in found["$.elements[0].shapes[0].type"]
    assert "did you mean 'ground'?" in found["$.elements[2].i"]
    assert "there is no variable 'y'" in found["$.elements[3].force"]


def test_problems_of_several_fields_have_a_path_too() -> None:
    content = document(pendulum())
    hinge = {"type": "UniversalJoint", "name": "B", "i": "ground", "j": "ground", "at": [0, 0, 0]}
    content["elements"] += [hinge | {"axis_i": [1, 0, 0], "axis_j": [1, 1, 0]}]
    found = problems(content)
    assert list(found) == ["$.elements[2].j", "$.elements[2].axis_j"]
    assert "itself" in found["$.elements[2].j"]


def test_missing_and_superfluous_things() -> None:
    content = document(pendulum())
    del content["elements"][0]["mass"], content["elements"][1]["j"]
    content["elements"][1]["formulation"] = "NewtonEuler"
    found = problems(content)
    assert list(found) == ["$.elements[0].mass", "$.elements[1].formulation", "$.elements[1].j"]
    assert "found nothing" in found["$.elements[0].mass"]


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"version": 3}, "$.version", "install a newer one"),
        ({"version": 10**9, "elements": 3, "format": 1}, "$.version", "reads versions up to 2"),
        ({"version": "1"}, "$.version", "a whole number"),
        ({"format": "urdf"}, "$.format", "is this a model of mbframe?"),
        ({"elements": {}}, "$.elements", "a list"),
        ({"name": " "}, "$.name", "not empty"),
        ({"ground": {"position": [1, 0, 0]}}, "$.ground.position", "stays where it is"),
        ({"ground": 3}, "$.ground", "an object"),
        ({"dimension": 7}, "$.dimension", "7"),
        ({"simulation": []}, "$.simulation", "an object"),
        ({"simulation": {"formulation": 5}}, "$.simulation.formulation", "a name, or an object"),
        ({"simulation": {"acceleration": "RungeKutta4"}}, "$.simulation.acceleration.type", "AugmentedFormulation"),
    ],
)
def test_the_head_of_a_file(change: dict[str, Any], path: str, words: str) -> None:
    found = problems(document(pendulum()) | change)
    assert list(found) == [path]
    assert words in found[path]


@pytest.mark.parametrize("content", [None, 3, "text", [], {}, {"elements": []}])
def test_what_is_no_model(content: Any) -> None:
    assert "$" in next(iter(problems(content)))


def test_elements_may_come_in_any_order() -> None:
    content = document(pendulum())
    content["elements"].reverse()
    assert [element.name for element in system_from(content)] == ["ground", "bar", "A"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(mb.ModelError, match="there is no such file"):
        mb.load(tmp_path / "nothing.json")
    with pytest.raises(mb.ModelError, match="is a folder and not a regular file"):
        mb.load(tmp_path)
    with pytest.raises(mb.ModelError, match="could not be read"):
        mb.load("a\0b")
    bad = tmp_path / "bad.json"
    bad.write_text('{\n  "format": oops\n}')
    with pytest.raises(mb.ModelError, match="line 2, column 13"):
        mb.load(bad)


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_bytes(b"\xef\xbb\xbf" + text_of(pendulum()).encode())
    assert text_of(mb.load(file)) == text_of(pendulum())


def test_a_file_full_of_problems_is_not_read_to_its_end() -> None:
    content = document(pendulum()) | {"elements": [7] * 10_000}
    with pytest.raises(mb.ModelError) as caught:
        system_from(content)
    assert len(caught.value.problems) == 501
    assert "there are more than 500 problems" in str(caught.value.problems[-1])


def test_a_settings_error_is_one_of_the_file() -> None:
    with pytest.raises(mb.ModelError, match="t_end"):
        settings_from(document(pendulum()) | {"simulation": {"t_end": "long"}})


# ---- all classes, and the schema ----


@pytest.mark.parametrize("cls", [cls for base in ADDED for cls in built_in(base).values()], ids=lambda c: c.__name__)
def test_every_class_says_what_it_takes(cls: Any) -> None:
    known = fields(cls)
    assert list(known)[: len(arguments(cls))] == list(arguments(cls))
    assert not {"type", "name", "formulation"} & set(known)


def test_every_exported_element_can_be_stored() -> None:
    stored = {name for base in ADDED for name in built_in(base)}
    expected = {"RigidBody", "PointMass", "GearJoint", "Friction", "PointForce", "FixedDistance", "Angle", "Bushing"}
    assert expected <= stored
    assert not stored & {"Body", "Joint", "ForceElement", "Measure", "BasicConstraint", "Contact", "Ground"}


def test_the_schema_is_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == dumps(schema())
    assert main(["schema", "--output", str(tmp_path / "model.schema.json")]) == 0
    assert json.loads((tmp_path / "model.schema.json").read_text()) == schema()


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("name", mb.examples.names())
def test_examples_follow_the_schema(name: str, validator: jsonschema.Draft202012Validator) -> None:
    validator.validate(document(getattr(mb.examples, name)(), {"t_end": 1.0, "integrator": mb.AdamsBashforth(order=2)}))


@pytest.mark.parametrize(
    "change",
    [
        {"mass": -1},
        {"mass": "2"},
        {"massiv": 1},
        {"type": "RigidBoddy"},
        {"position": [1, 2]},
        {"shapes": [{"type": "Box"}]},
        {"formulation": "Newton"},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(change: Any, validator: jsonschema.Draft202012Validator) -> None:
    content = document(pendulum())
    content["elements"][0] |= change
    assert not validator.is_valid(content)
    assert problems(content)


def test_numbers_per_equation_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    settings = {"t_end": 1.0, "acceleration": mb.Penalty(alpha=[1e6, 1e7, 1e8], omega=5.0)}
    mb.save(mb.examples.heavy_top(), file, simulation=settings)
    jsonschema.validate(json.loads(file.read_text()), schema())
    acceleration = mb.load_settings(file)["acceleration"]
    assert repr(acceleration) == "Penalty(alpha=(1000000.0, 10000000.0, 100000000.0), omega=5.0)"
