"""Elements of users' classes, with parameters and constructors of their own, through files and scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.files.json_text import dumps
from mbframe.files.model import document


class Flywheel(mb.Body):
    """A disk without a constructor of its own; its look and mass follow from its dimensions."""

    radius = mb.parameter(kind="number", unit="m", above=0.0, help="of the disk")
    density = mb.parameter(7850.0, unit="kg/m^3", above=0.0, help="of its material")

    @property
    def shapes(self) -> Any:
        return (mb.Cylinder(radius=self.radius, length=0.1),)

    def mass_properties(self) -> Any:
        mass = self.density * np.pi * self.radius**2 * 0.1
        return mass, np.zeros(3), mass * self.radius**2 / 4 * np.diag([1.0, 1.0, 2.0])


class HeavyFlywheel(Flywheel):
    """A subclass of a subclass, with another default."""

    density = mb.parameter(19300.0, unit="kg/m^3", above=0.0, help="of its material")


class Rod(mb.RigidBody):
    """Its constructor sets the inertia, the look and a velocity, if they are not given."""

    length = mb.parameter(kind="number", unit="m", above=0.0, help="from end to end")

    def __init__(self, name: str, *, length: float, mass: float, **values: Any) -> None:
        across = mass * length**2 / 12
        values.setdefault("inertia", (1e-6, across, across))
        values.setdefault("velocity", (1.0, 0.0, 0.0))
        values.setdefault("shapes", [mb.Cylinder(radius=0.01, length=length)])
        super().__init__(name, length=length, mass=mass, **values)


class Ruler(Rod):
    """A constructor above one."""

    marks = mb.parameter(10, minimum=1, help="on it")

    def __init__(self, name: str, *, marks: int = 20, **values: Any) -> None:
        super().__init__(name, marks=marks, **values)


class Strut(mb.SpringDamper):
    """A connection whose constructor passes on what it joins."""

    def __init__(self, name: str, **values: Any) -> None:
        values.setdefault("stiffness", 5.0)
        super().__init__(name, **values)


class Strict(mb.RigidBody):
    """Its constructor does not let anybody choose the inertia."""

    def __init__(self, name: str, *, mass: float, **values: Any) -> None:
        super().__init__(name, mass=mass, inertia=(mass, mass, mass), **values)


class Doubling(mb.PointMass):
    """Its constructor makes something else of its parameters."""

    def __init__(self, name: str, *, mass: float, **values: Any) -> None:
        super().__init__(name, mass=2 * mass, **values)


class Undeclared(mb.PointMass):
    def __init__(self, name: str, *, radius: float, **values: Any) -> None:
        super().__init__(name, mass=radius, **values)


class Kept(mb.PointMass):
    def __init__(self, name: str, *, label: str = "x", **values: Any) -> None:
        self.label = label
        super().__init__(name, **values)


CLASSES: list[Any] = [Flywheel, HeavyFlywheel, Rod, Ruler, Strut, Strict, Doubling, Kept]


def full() -> mb.System:
    system = mb.System("users")
    wheel = system.add(Flywheel("wheel", radius=0.3, formulation=mb.EulerParameters()))
    system.add(HeavyFlywheel("heavy", radius=0.2, position=(1, 0, 0)))
    rod = system.add(Rod("rod", length=2.0, mass=3.0, formulation=mb.NaturalAbsolute()))
    other = system.add(Rod("other", length=2.0, mass=3.0, inertia=(1, 2, 2), center_of_mass=(0.1, 0, 0)))
    other.velocity = (0.0, 0.0, 0.0)  # the default of the parameter, and not of the constructor
    system.add(Ruler("ruler", length=1.0, mass=0.1))
    system.add(Ruler("fine", length=1.0, mass=0.1, marks=10))
    system.add(Strut("strut", i=wheel, j=rod, at_i=(0, 0, 1), at_j=(0, 1, 0), stiffness=7.0))
    system.add(Strict("strict", mass=2.0))
    system.add(Kept("kept", mass=1.0))
    return system


def test_they_are_the_same_after_a_file(tmp_path: Path) -> None:
    system = full()
    mb.save(system, tmp_path / "m.json")
    twin: Any = mb.load(tmp_path / "m.json", classes=CLASSES)
    assert [repr(element) for element in twin] == [repr(element) for element in system]
    assert dumps(document(twin)) == dumps(document(system))
    assert repr(twin["wheel"].formulation) == "EulerParameters()"
    assert twin["other"].velocity.tolist() == [0.0, 0.0, 0.0]
    assert twin["heavy"].mass_properties()[0] == system["heavy"].mass_properties()[0]
    stored = {e["name"]: e for e in json.loads((tmp_path / "m.json").read_text())["elements"]}
    assert set(stored["rod"]) == {"type", "name", "length", "mass", "formulation"}  # the constructor does the rest
    assert stored["fine"]["marks"] == 10


def test_they_are_the_same_after_a_script() -> None:
    names: dict[str, Any] = {}
    script = mb.to_python(full())
    exec(script, names)
    assert dumps(document(names["system"])) == dumps(document(full()))
    assert f"from {__name__} import Rod" in script


def test_a_body_of_a_user_moves_in_the_coordinates_it_is_given() -> None:
    system = mb.System("free", gravity=(0, 0, 0))
    wheel = system.add(Flywheel("wheel", radius=0.3, angular_velocity=(0, 0, 2.0), formulation=mb.EulerParameters()))
    result = mb.simulate(system, t_end=0.01, dt=0.005)
    assert result.q.shape[1] == 7
    assert np.allclose(result.energy.kinetic, wheel.mass_properties()[2][2, 2] * 2.0**2 / 2)


@pytest.mark.parametrize("cls", [mb.PointMass, mb.FlexibleBody, mb.Ground])
def test_other_bodies_choose_their_coordinates(cls: Any) -> None:
    given = [None] if cls is mb.FlexibleBody else []
    with pytest.raises(mb.ModelError, match="formulation: there is no such parameter"):
        cls("b", *given, formulation=mb.NewtonEuler())


def changed() -> Any:
    rod = Strict("b", mass=2.0)
    rod.inertia = (1.0, 1.0, 1.5)
    return rod


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (
            lambda: Undeclared("b", radius=1.0),
            "takes the argument 'radius', which is no declared parameter; declare it",
        ),
        (
            lambda: Kept("b", mass=1.0, label="y"),
            "the argument 'label', which is no parameter; declare it in the class",
        ),
        (lambda: Doubling("b", mass=1.0), "its constructor gives other values to mass; let it keep"),
        (changed, r"multiple values for keyword argument 'inertia'.*values.setdefault"),
    ],
    ids=["undeclared", "kept", "doubling", "changed"],
)
def test_what_cannot_be_made_again_is_refused_when_it_is_saved(element: Any, message: str, tmp_path: Path) -> None:
    system = mb.System("s")
    system.add(element())
    for write in (lambda: mb.save(system, tmp_path / "m.json"), lambda: mb.to_python(system)):
        with pytest.raises(mb.ModelError, match=f"'b': cannot be stored: .*{message}"):
            write()


def test_a_file_with_such_a_class_is_a_problem_of_the_file(tmp_path: Path) -> None:
    content = {"format": "mbframe model", "version": 2, "name": "m"}
    content |= {"elements": [{"type": f"{__name__}.Undeclared", "name": "b", "mass": 1.0}]}
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(mb.ModelError, match=r"elements\[0\].type: cannot be read: Undeclared takes the argument"):
        mb.load(tmp_path / "m.json", classes=[Undeclared])
