"""Planar systems outside of the computation: model files, scripts, results, tables, plots, the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbframe as mb
from mbframe.cli import main
from mbframe.files.json_text import dumps, parse
from mbframe.files.model import document, system_from
from mbframe.files.schema import schema

MASS, INERTIA, ARM, TORQUE, SPIN = 2.0, 0.5, 0.75, 0.25, 3.0


def plate() -> mb.System:
    """A plate that flies and is turned by a torque: x = t, y = 2 t - 5 t^2, angle = 3 t + t^2/4."""
    system = mb.System("plate", dimension=2, gravity=(0.0, -10.0))
    body = mb.PlanarBody("plate", mass=MASS, inertia=INERTIA, velocity=(1.0, 2.0), angular_velocity=SPIN)
    system.add(body)
    system.add(mb.Torque("motor", body, torque=TORQUE))
    return system


def pendulum() -> mb.System:
    """A plate that hangs on a pin, its centre ARM below it."""
    system = mb.System("pendulum", dimension=2)
    body = system.add(mb.PlanarBody("plate", mass=MASS, inertia=INERTIA, position=(0.0, -ARM)))
    system.add(mb.RevoluteJoint("pin", system.ground, body, at=(0.0, 0.0)))
    return system


def text_of(system: mb.System) -> str:
    return dumps(document(system))


def read_back(system: mb.System) -> mb.System:
    return system_from(parse(text_of(system), "text"))


def problems(change: dict[str, Any], system: mb.System | None = None) -> list[str]:
    """What is wrong with a model whose document is changed; keys are element numbers or top-level names."""
    content = document(system or pendulum())
    for key, value in change.items():
        if isinstance(key, int):
            content["elements"][key] |= value
        else:
            content[key] = value
    with pytest.raises(mb.ModelError) as caught:
        system_from(content)
    return [f"{problem.field}: {problem.message}" for problem in caught.value.problems]


# --- models -----------------------------------------------------------------------------------------------------------


def test_the_text_of_a_planar_model() -> None:
    assert (
        text_of(pendulum())
        == """\
{
  "format": "mbframe model",
  "version": 2,
  "name": "pendulum",
  "dimension": 2,
  "gravity": [0.0, -9.81],
  "elements": [
    {"type": "PlanarBody", "name": "plate", "mass": 2.0, "inertia": 0.5, "position": [0.0, -0.75]},
    {"type": "RevoluteJoint", "name": "pin", "i": "ground", "j": "plate", "at": [0.0, 0.0]}
  ]
}
"""
    )


def test_torques_are_single_functions_and_forces_have_two_components() -> None:
    system = plate()
    body = system["plate"]
    system.add(mb.Torque("swing", body, torque=mb.Function.polynomial([1.0, -2.0])))
    system.add(mb.PointForce("push", body, force=(1.5, "sin(2*t)"), at=(0.1, 0.2)))
    stored = {data["name"]: data for data in document(system)["elements"]}
    assert stored["motor"]["torque"] == TORQUE
    assert stored["swing"]["torque"] == {"polynomial": [1.0, -2.0]}
    assert stored["push"]["force"] == [1.5, "sin(2*t)"]
    scope: dict[str, Any] = {}
    exec(mb.to_python(system), scope)
    for twin in (read_back(system), scope["system"]):
        assert text_of(twin) == text_of(system)
        assert twin["swing"].torque(3.0) == -5.0  # type: ignore[attr-defined]


def test_markers_ground_and_formulations_of_the_plane_are_kept() -> None:
    system = pendulum()
    system.ground.name = "table"
    system.ground.update(shapes=[mb.Box(size=(1, 1, 0.1))])
    body: Any = system["plate"]
    body.formulation = mb.PlanarNatural()
    rod = mb.FixedDistance(mb.Marker(system.ground, at=(2.0, -ARM)), body.marker((0.5, -ARM), (1.0, 1.0)), distance=1.5)
    rod.name = "rod"
    system.add(rod)
    data = document(system)["elements"][-1]
    assert (data["i"]["at"], data["j"]["at"]) == ([2.0, -ARM], [0.5, -ARM])
    assert "at" not in data
    script = mb.to_python(system)
    assert "PlanarGround" not in script
    scope: dict[str, Any] = {}
    exec(script, scope)
    for twin in (read_back(system), scope["system"]):
        assert text_of(twin) == text_of(system)
        assert twin["rod"].j.axes.tobytes() == rod.j.axes.tobytes()  # type: ignore[attr-defined]


def test_a_road_with_its_wheel_and_drivers_in_the_plane() -> None:
    system = pendulum()
    body: Any = system["plate"]
    system.add(mb.Tire("tire", system.ground, body, radius=0.9, stiffness=1e4, plane_point=(0.0, -1.5)))
    system.add(mb.Driver("motor", system["pin"], angle="2*pi*t"))  # type: ignore[arg-type]
    length = system.add(mb.Distance("length", system.ground, body, at_i=(3.0, 0.0)))
    system.add(mb.Prescribed("jack", length, value="3 + 0.1*sin(t)"))
    system.add(mb.PointDriver("path", system.ground, body, at=(0.0, -ARM), x="0.1*t**2"))
    system.add(mb.DistanceLimit("strap", system.ground, body, at_i=(0.0, 1.0), upper=2.0, stiffness=1e3))
    twin = read_back(system)
    assert text_of(twin) == text_of(system)
    assert twin["tire"].normal.tolist() == [0.0, 1.0]  # type: ignore[attr-defined]
    assert np.allclose(twin["tire"].i.axes, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {0: {"position": [0, 0, 0]}},
            "$.elements[0].position: found [0, 0, 0] of shape (3,); allowed is two components",
        ),
        ({1: {"at": [0, 0, 0]}}, "$.elements[1].at: found [0, 0, 0] of shape (3,); allowed is two components"),
        ({1: {"axis": [1, 0]}}, "$.elements[1].axis: found [1. 0.]; in a planar system it is the normal"),
        ({0: {"rotation": [1, 0, 0, 0]}}, "$.elements[0].rotation: there is no such parameter"),
        ({0: {"inertia": [1, 1]}}, "$.elements[0].inertia: found 2 numbers; allowed are Izz, or Ixx, Iyy and Izz"),
        ({0: {"formulation": "NaturalAbsolute"}}, "$.elements[0].formulation: found NaturalAbsolute()"),
        ({"gravity": [0, 0, -9.81]}, "$.gravity: found [0, 0, -9.81] of shape (3,); allowed is two components"),
        ({"dimension": 4}, "$.dimension: found 4; allowed is a whole number at least 2 and at most 3"),
        ({"dimension": "2"}, "$.dimension: found '2'; allowed is a whole number"),
        ({1: {"type": "CylindricalJoint"}}, "$.elements[1]: has no meaning in a planar system"),
        ({0: {"type": "RigidBody", "inertia": [1, 1, 1], "position": [0, 0, 0]}}, "$.elements[0]: cannot be in system"),
    ],
)
def test_what_does_not_fit_the_plane_is_refused(change: dict[Any, Any], expected: str) -> None:
    found = problems(change)
    assert any(problem.startswith(expected) for problem in found), found


def test_a_torque_of_three_components_belongs_to_space() -> None:
    (found,) = problems({1: {"torque": [0, 0, 1]}}, plate())
    assert found.startswith("$.elements[1].torque: ")
    content = document(plate()) | {"dimension": 3, "gravity": [0.0, 0.0, -9.81]}
    with pytest.raises(mb.ModelError, match="cannot be in system 'plate', which is spatial"):
        system_from(content)


def test_the_schema_knows_the_plane() -> None:
    validator = jsonschema.Draft202012Validator(schema())
    for system in (plate(), pendulum()):
        validator.validate(document(system))
    content = document(plate())
    for wrong in ({"position": [0, 0, 0]}, {"inertia": [[1, 1, 1]]}, {"rotation": [1, 0, 0, 0]}, {"angle": "pi"}):
        changed = json.loads(json.dumps(content))
        changed["elements"][0] |= wrong
        assert not validator.is_valid(changed), wrong
    assert not validator.is_valid(content | {"dimension": 4})
    assert not validator.is_valid(content | {"gravity": [1.0]})


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[mb.Result, mb.Result]:
    """A result, and itself from a file."""
    result = mb.simulate(plate(), 2.0, t_eval=np.linspace(0.0, 2.0, 21))
    path = tmp_path_factory.mktemp("planar") / "run.h5"
    result.save(path)
    return result, mb.load_result(path)


def test_quantities_of_the_plane(made: tuple[mb.Result, mb.Result]) -> None:
    t = made[0].t
    expected = {
        "plate.position.x": t,
        "plate.position.y": 2.0 * t - 5.0 * t**2,
        "plate.velocity.magnitude": np.hypot(1.0, 2.0 - 10.0 * t),
        "plate.angle": SPIN * t + TORQUE / INERTIA * t**2 / 2,  # counted over turns
        "plate.angular_velocity": SPIN + TORQUE / INERTIA * t,
        "plate.angular_acceleration": np.full_like(t, TORQUE / INERTIA),
        "momentum.linear.y": MASS * (2.0 - 10.0 * t),
        "plate.point(0, 1).position.x": t - np.sin(SPIN * t + TORQUE / INERTIA * t**2 / 2),
    }
    for result in made:
        for name, values in expected.items():
            np.testing.assert_allclose(result.quantity(name).values, values, rtol=1e-6, atol=1e-6, err_msg=name)
    names = made[0].quantities()
    assert not [name for name in names if name.endswith((".z", "quaternion.0", "angular_velocity.x"))]
    assert made[1].quantities() == names
    for name in names:
        assert made[1].quantity(name).values.tobytes() == made[0].quantity(name).values.tobytes(), name


def test_reactions_of_the_plane_are_two_components_and_a_number() -> None:
    result = mb.simulate(pendulum(), 0.1, t_eval=[0.0, 0.1])
    np.testing.assert_allclose(result.quantity("pin.reaction.force").values, [[0.0, MASS * 9.81]] * 2, atol=1e-9)
    np.testing.assert_allclose(result.quantity("pin.reaction.torque").values, [0.0, 0.0], atol=1e-9)


def test_tables_of_the_plane(made: tuple[mb.Result, mb.Result], tmp_path: Path) -> None:
    made[1].export(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    names = ["position.x [m]", "position.y [m]", "velocity.x [m/s]", "velocity.y [m/s]"]
    assert {f"plate.{name}" for name in names} <= set(header)
    column = header.index("plate.angle [rad]")
    assert np.array_equal(np.array(rows, float)[:, column], made[0].angle("plate"))
    assert np.array_equal(
        np.array(rows, float)[:, header.index("plate.angular_velocity [rad/s]")], made[0].angular_velocity("plate")
    )


def test_plots_of_the_plane(made: tuple[mb.Result, mb.Result]) -> None:
    position, angle = made[1].plot("plate.position", "plate.angle").axes
    assert [line.get_label() for line in position.lines] == ["plate · x", "plate · y"]
    assert np.array_equal(angle.lines[0].get_ydata(), made[0].angle("plate"))


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_in_the_plane(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, run, table = (str(tmp_path / name) for name in ("model.json", "run.h5", "run.csv"))
    mb.save(pendulum(), model)
    assert main(["check", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["freedom"]["count"] == 1
    assert main(["eig", model, "--json"]) == 0
    roots = np.array(json.loads(capsys.readouterr().out)["eigenvalues"])
    frequency = np.sqrt(MASS * 9.81 * ARM / (INERTIA + MASS * ARM**2))
    np.testing.assert_allclose(roots, [[0.0, -frequency], [0.0, frequency]], rtol=1e-7, atol=1e-7)
    assert main(["run", model, "--t-end", "0.1", "--formulation", "PlanarNatural", "--output", run, "--quiet"]) == 0
    assert main(["export", run, table, "--quantities", "plate.angle", "--quiet"]) == 0
    assert Path(table).read_text().startswith("t [s],plate.angle [rad]")
    assert main(["export", run, str(tmp_path / "again.json"), "--quiet"]) == 0
    assert text_of(mb.load(tmp_path / "again.json")) == text_of(pendulum())
