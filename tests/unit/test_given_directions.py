"""What an element cannot assume is asked for; a spring takes the length in which it is described."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb

AXIAL = {
    "RevoluteJoint": {},
    "CylindricalJoint": {},
    "TranslationalJoint": {},
    "PlanarJoint": {},
    "PointOnLineJoint": {},
    "ScrewJoint": {"pitch": 0.1},
    "ConstantVelocityJoint": {},
    "RollingDisk": {"radius": 1.0, "normal": (0.0, 1.0, 0.0)},
    "KnifeEdge": {},
    "PointOnAxisJoint": {},
    "SleeveJoint": {},
    "KeyedSleeveJoint": {},
    "TorsionalSpringDamper": {},
    "AngleLimit": {"lower": -1.0, "upper": 1.0, "stiffness": 1.0},
    "DisplacementLimit": {"lower": -1.0, "upper": 1.0, "stiffness": 1.0},
    "PIDActuator": {},
}


def two_bodies() -> tuple[mb.System, mb.RigidBody, mb.RigidBody]:
    system = mb.System("pair", gravity=(0.0, 0.0, 0.0))
    bodies = [system.add(mb.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1))) for name in ("one", "two")]
    return system, *bodies


@pytest.mark.parametrize("name", AXIAL)
def test_what_acts_about_or_along_an_axis_in_space_needs_it(name: str) -> None:
    system, one, _ = two_bodies()
    with pytest.raises(mb.ModelError) as caught:
        getattr(mb, name)("joint", system.ground, one, at=(0, 0, 0), **AXIAL[name])
    problem = caught.value.problems[0]
    assert problem.element == f"{name} 'joint'"
    assert problem.field.startswith("axis")
    assert "axis=" in problem.message


@pytest.mark.parametrize("name", ["Angle", "Displacement"])
def test_measures_about_or_along_an_axis_need_it_too(name: str) -> None:
    system, one, _ = two_bodies()
    with pytest.raises(mb.ModelError, match=rf"{name} 'measure', axis: .*add axis="):
        getattr(mb, name)("measure", system.ground, one)


def test_a_cross_needs_both_axes() -> None:
    system, one, _ = two_bodies()
    with pytest.raises(mb.ModelError, match="add axis_j="):
        mb.UniversalJoint("joint", system.ground, one, at=(0, 0, 0), axis_i=(1, 0, 0))


@pytest.mark.parametrize("name", ["SphericalJoint", "FixedJoint"])
def test_joints_that_are_alike_in_all_directions_need_none(name: str) -> None:
    system, one, _ = two_bodies()
    system.add(getattr(mb, name)("joint", system.ground, one, at=(0, 0, 0)))


def test_the_plane_has_a_normal() -> None:
    plane = mb.System("plane", dimension=2)
    body = plane.add(mb.PlanarBody("body", mass=1.0, inertia=1.0))
    assert mb.RevoluteJoint("pin", plane.ground, body, at=(0, 0)).axis.tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(mb.ModelError, match=r"add axis=\(x, y\)"):
        mb.TranslationalJoint("slide", plane.ground, body, at=(0, 0))


class Hinge(mb.Joint):
    """A user's hinge: its axis is the z axis unless it is given."""

    def constraints(self) -> list[Any]:
        i, j = self.i, self.j
        return [mb.Coincident(i, j), mb.Perpendicular(i.z, j.x), mb.Perpendicular(i.z, j.y)]


class Strict(Hinge):
    axis = mb.parameter(kind="axis", help="direction of the hinge")


def test_users_joints_decide_themselves() -> None:
    system, one, _ = two_bodies()
    assert Hinge("hinge", system.ground, one, at=(0, 0, 0)).axis.tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(mb.ModelError, match="add axis="):
        Strict("hinge", system.ground, one, at=(0, 0, 0))


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("ratio", lambda hinge, other, slide: mb.GearJoint("x", hinge, other, ratio=0.0)),
        ("radius", lambda hinge, other, slide: mb.RackAndPinionJoint("x", hinge, slide, radius=0.0)),
        ("pitch", lambda hinge, *_: mb.ScrewJoint("x", *hinge_bodies(hinge), at=(0, 0, 0), axis=(0, 0, 1), pitch=0.0)),
    ],
)
def test_a_ratio_of_zero_couples_nothing(field: str, make: Callable[..., mb.Joint]) -> None:
    system, one, two = two_bodies()
    ground, z = system.ground, (0.0, 0.0, 1.0)
    hinge, other = (mb.RevoluteJoint(b.name, ground, b, at=(0, 0, 0), axis=z) for b in (one, two))
    slide = mb.TranslationalJoint("slide", ground, two, at=(0, 0, 0), axis=z)
    with pytest.raises(mb.ModelError) as caught:
        make(hinge, other, slide)
    assert [problem.field for problem in caught.value.problems] == [field]
    assert "found 0" in caught.value.problems[0].message


def hinge_bodies(hinge: mb.Joint) -> tuple[mb.Body, mb.Body]:
    return hinge.body_i, hinge.body_j


def test_a_point_mass_takes_no_torque() -> None:
    point = mb.PointMass("point", mass=1.0)
    with pytest.raises(mb.ModelError, match="PointMass 'point' does not turn"):
        mb.Torque("m", point, torque=(0, 0, 1))
    turned = mb.Torque("m", mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)), torque=(0, 0, 1))
    with pytest.raises(mb.ModelError, match="does not turn"):
        turned.body_j = point


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("TorsionalSpringDamper", {"stiffness": 1.0}),
        ("AngleLimit", {"lower": -1.0, "upper": 1.0, "stiffness": 1.0}),
        ("PIDActuator", {"proportional": 1.0}),
    ],
)
def test_a_point_mass_takes_no_torque_about_an_axis(name: str, values: dict[str, float]) -> None:
    body, point = mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)), mb.PointMass("point", mass=1.0)
    for pair, field in (((body, point), "body_j"), ((point, body), "body_i")):
        with pytest.raises(mb.ModelError, match="PointMass 'point' does not turn") as caught:
            getattr(mb, name)("element", *pair, at=(0, 0, 0), axis=(0, 0, 1), **values)
        assert [problem.field for problem in caught.value.problems] == [field]
    pushed = mb.PIDActuator("p", body, point, at=(0, 0, 0), axis=(0, 0, 1), quantity="displacement")
    with pytest.raises(mb.ModelError, match="does not turn"):
        pushed.quantity = "angle"


def test_the_torque_of_a_bushing_on_a_point_mass_is_named() -> None:
    for stiffness, said in (((9.0, 9.0, 9.0, 0.0, 0.0, 0.0), 0), ((9.0, 9.0, 9.0, 1.0, 1.0, 1.0), 1)):
        system = mb.System("held", gravity=(0.0, 0.0, 0.0))
        point = system.add(mb.PointMass("point", mass=1.0))
        system.add(mb.Bushing("bushing", system.ground, point, at=(0, 0, 0), stiffness=stiffness))
        warnings = mb.simulate(system, 0.01).info.warnings
        assert len(warnings) == said
        assert all(w.startswith("Bushing 'bushing': PointMass 'point' does not turn") for w in warnings)


def test_the_lost_kick_of_a_jumping_setpoint_is_named() -> None:
    def warnings(setpoint: Any, derivative: float) -> list[str]:
        system = mb.System("controlled", gravity=(0.0, 0.0, 0.0))
        point = system.add(mb.PointMass("point", mass=1.0))
        motor = mb.PIDActuator("motor", system.ground, point, at=(0, 0, 0), axis=(1, 0, 0), quantity="displacement")
        motor.update(setpoint=setpoint, proportional=10.0, derivative=derivative)
        system.add(motor)
        return [w for w in mb.simulate(system, 1.0).info.warnings if "it jumps" in w]

    jump = "if(t > 0.3, 0.2, 0)"
    told = mb.Function(lambda t: 0.2 * (t > 0.3), breakpoints=[0.3])
    for setpoint in (jump, told):
        (warning,) = warnings(setpoint, 2.0)
        assert warning.startswith("PIDActuator 'motor', setpoint: it jumps at t = 0.3 s")
        assert "step(" in warning
        assert "derivative=0" in warning
    assert warnings(jump, 0.0) == []
    assert warnings("step(t, 0.3, 0, 0.4, 0.2)", 2.0) == []


def test_a_spring_whose_points_coincide_asks_for_its_length() -> None:
    _, one, two = two_bodies()
    with pytest.raises(mb.ModelError, match="its points coincide: give free_length or move a point") as caught:
        mb.SpringDamper("spring", one, two, stiffness=1.0)
    assert caught.value.problems[0].element == "SpringDamper 'spring'"
    mb.SpringDamper("spring", one, two, stiffness=1.0, free_length=0.1)
    mb.SpringDamper("spring", one, two, stiffness=1.0, at_j=(0.1, 0.0, 0.0))


# ---- Springs --------------------------------------------------------------------------------------------------------


def hanging(**values: Any) -> mb.System:
    """A point mass of 2 kg, 1.3 m below the point (0.1, 0.2, 3) on a spring."""
    system = mb.System("hanging")
    mass = system.add(mb.PointMass("mass", mass=2.0, position=(0.1, 0.2, 1.7)))
    system.add(mb.SpringDamper("spring", system.ground, mass, at_i=(0.1, 0.2, 3.0), stiffness=50.0, **values))
    return system


def test_a_spring_takes_the_length_it_is_described_in() -> None:
    """z'' = -g - k (z - z0)/m from rest: z0 - z = m g/k (1 - cos(w t)), w = sqrt(k/m)."""
    result = mb.simulate(hanging(), 2.0, t_eval=np.linspace(0.0, 2.0, 21), integrator=mb.DormandPrince(rtol=1e-10))
    sag = 2.0 * 9.81 / 50.0 * (1.0 - np.cos(5.0 * result.t))
    np.testing.assert_allclose(result.position("mass")[:, 2], 1.7 - sag, atol=1e-8)
    np.testing.assert_allclose(result.quantity("spring.tension").values, 50.0 * sag, atol=1e-6)
    np.testing.assert_allclose(result.energy.total, result.energy.total[0], atol=1e-7)


def test_other_integrators_and_tangents_take_it_too() -> None:
    system = hanging()
    found = mb.equilibrium(system)
    assert found.position("mass")[2] == pytest.approx(1.7 - 2.0 * 9.81 / 50.0, abs=1e-12)
    frequencies = np.sort(np.abs(mb.linearize(system, found).eigenvalues.imag))
    assert frequencies[-1] == pytest.approx(5.0, abs=1e-9)


def test_a_spring_of_a_plane() -> None:
    plane = mb.System("plane", dimension=2, gravity=(0.0, 0.0))
    body = plane.add(mb.PlanarBody("body", mass=1.0, inertia=1.0, position=(3.0, 4.0)))
    spring = plane.add(mb.SpringDamper("spring", plane.ground, body, at_i=(0.0, 0.0), stiffness=10.0))
    assert spring.rest_length == 5.0
    np.testing.assert_array_equal(mb.evaluate(plane).acceleration(body), [[0.0, 0.0]])


def test_another_description_another_length() -> None:
    spring = hanging()["spring"]
    assert spring.rest_length == pytest.approx(1.3)
    spring.at_i = (0.1, 0.2, 2.0)
    assert spring.rest_length == pytest.approx(0.3)
    spring.free_length = 0.7
    assert spring.rest_length == 0.7
    spring.free_length = None
    assert spring.rest_length == pytest.approx(0.3)


def test_files_scripts_and_includes_keep_the_length(tmp_path: Path) -> None:
    system = hanging()
    mb.save(system, tmp_path / "model.json")
    stored = json.loads((tmp_path / "model.json").read_text())["elements"][1]
    assert "free_length" not in stored
    whole = mb.System("whole")
    whole.include(system, "a ", position=(5.0, 0.0, 0.0), rotation=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
    for spring in (mb.load(tmp_path / "model.json")["spring"], whole["a spring"]):
        assert spring.rest_length == pytest.approx(1.3, abs=1e-15)
    system["spring"].free_length = 0.0
    mb.save(system, tmp_path / "model.json")
    assert mb.load(tmp_path / "model.json")["spring"].free_length == 0.0


# ---- Files of version 1 ---------------------------------------------------------------------------------------------


def version_1(*elements: dict[str, Any], **head: Any) -> dict[str, Any]:
    body = {"type": "RigidBody", "name": "body", "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "position": [0.0, 0.0, 1.0]}
    return {"format": "mbframe model", "version": 1, "name": "old", "elements": [body, *elements]} | head


def joint(kind: str, **values: Any) -> dict[str, Any]:
    return {"type": kind, "name": "joint", "i": "ground", "j": "body", "at": [0.0, 0.0, 0.0]} | values


def loaded(document: dict[str, Any], path: Path, **options: Any) -> mb.System:
    (path / "old.json").write_text(json.dumps(document))
    return mb.load(path / "old.json", **options)


@pytest.mark.parametrize("name", [name for name in AXIAL if "Axis" not in name and "Sleeve" not in name])
def test_old_files_mean_what_they_meant(name: str, tmp_path: Path) -> None:
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in AXIAL[name].items()}
    found = loaded(version_1(joint(name, **values)), tmp_path)["joint"]
    assert found.axis.tolist() == ([1.0, 0.0, 0.0] if name == "KnifeEdge" else [0.0, 0.0, 1.0])
    with pytest.raises(mb.ModelError, match="axis"):
        loaded(version_1(joint(name, **values), version=2), tmp_path)


def test_old_crosses_and_springs(tmp_path: Path) -> None:
    cross = loaded(version_1(joint("UniversalJoint", axis_j=[0.0, 0.0, 1.0])), tmp_path)["joint"]
    assert (cross.axis_i.tolist(), cross.axis_j.tolist()) == ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    spring = {"type": "SpringDamper", "name": "spring", "i": "ground", "j": "body", "stiffness": 2.0}
    assert loaded(version_1(spring), tmp_path)["spring"].free_length == 0.0
    assert loaded(version_1(spring | {"free_length": 0.5}), tmp_path)["spring"].free_length == 0.5
    assert loaded(version_1(spring, version=2), tmp_path)["spring"].free_length is None


def test_old_blades_of_a_plane(tmp_path: Path) -> None:
    body = {"type": "PlanarBody", "name": "body", "mass": 1.0, "inertia": 1.0}
    blade = {"type": "KnifeEdge", "name": "joint", "i": "ground", "j": "body", "at": [0.0, 0.0]}
    document = version_1(dimension=2) | {"elements": [body, blade]}
    assert loaded(document, tmp_path)["joint"].axis.tolist() == [1.0, 0.0]


class Weak(mb.SpringDamper):
    """A user's spring, which inherits its length."""


class Fixed(mb.SpringDamper):
    free_length = mb.parameter(0.25, unit="m", help="its own default")


def test_old_files_with_users_classes(tmp_path: Path) -> None:
    spring = {"name": "spring", "i": "ground", "j": "body", "stiffness": 2.0}
    for kind, length in ((Weak, 0.0), (Fixed, 0.25)):
        document = version_1(spring | {"type": f"{kind.__module__}.{kind.__qualname__}"})
        assert loaded(document, tmp_path, classes=[kind])["spring"].free_length == length
