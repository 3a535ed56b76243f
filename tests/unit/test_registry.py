"""The registry of classes: what is found, what is ours, and how users' classes become known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

import mbframe as mb
from mbframe import registry
from mbframe.registry import BASES, built_in, defined, is_concrete, is_ours, is_public, name_of, ours, registered


class Magnet(mb.ForceElement):
    """A force of constant size along the line of two points."""

    strength = mb.parameter(1.0, unit="N", help="attraction")

    def wrench(self, t: Any, i: Any, j: Any) -> Any:
        d = j.position - i.position
        return -self.strength * d / (d @ d) ** 0.5, 0.0 * d

    @classmethod
    def example(cls, *bodies: Any) -> Magnet:
        return cls("magnet", *bodies, at_i=(1.0, 2.0, 3.0), at_j=(0.0, 0.0, 0.0), strength=2.0)


class Half(mb.Acceleration):
    """A strategy of a user."""

    def solve(self, eq: Any, t: float, q: Any, v: Any) -> Any:
        return mb.AugmentedFormulation().solve(eq, t, q, v)


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


@pytest.mark.parametrize("base", BASES)
def test_public_classes_are_those_that_mbframe_exports(base: str) -> None:
    """Bases that are exported to be subclassed are not concrete; the grounds come with their systems."""
    family = getattr(mb, base)
    exported = {n for n in mb.__all__ if isinstance(c := getattr(mb, n), type) and issubclass(c, family)}
    assert set(built_in(family)) == {n for n in exported if is_concrete(getattr(mb, n)) and n != base} - {"Ground"}
    assert exported - set(built_in(family)) <= {base, "Ground", "RungeKutta"}
    assert set(built_in(family).values()) <= set(ours(family))


def test_ours_and_theirs() -> None:
    assert is_ours(mb.RevoluteJoint)
    assert is_ours(mb.simulate)
    assert not is_ours(Magnet)
    assert not is_ours(eval("lambda: 0", {}))  # of no module
    assert is_public(mb.RevoluteJoint)
    assert not is_public(type("RevoluteJoint", (mb.RevoluteJoint,), {}))
    assert name_of(mb.RevoluteJoint) == "RevoluteJoint"
    assert name_of(Magnet) == f"{__name__}.Magnet"


def test_a_class_is_known_below_its_base_when_it_is_defined() -> None:
    assert defined(mb.ForceElement)[name_of(Magnet)] is Magnet
    assert defined(mb.Acceleration)[name_of(Half)] is Half
    assert Magnet not in built_in(mb.ForceElement).values()
    assert registered(mb.ForceElement) == {}


def test_a_registered_class_is_known_to_files(tmp_path: Path) -> None:
    system = mb.System("two")
    bodies = [system.add(mb.RigidBody(name, mass=1.0, inertia=(1.0, 1.0, 1.0))) for name in ("a", "b")]
    system.add(Magnet("m", *bodies, at_i=(0.0, 0.0, 1.0), at_j=(1.0, 0.0, 0.0), strength=3.0))
    mb.save(system, tmp_path / "m.json")
    with pytest.raises(mb.ModelError, match="hand it over"):
        mb.simulate(mb.load(tmp_path / "m.json"), 1.0)
    mb.register(Magnet, Half)
    assert mb.load(tmp_path / "m.json")["m"].strength == 3.0
    assert json.loads((tmp_path / "m.json").read_text())["elements"][2]["type"] == f"{__name__}.Magnet"
    assert set(registered(mb.ForceElement, mb.Acceleration).values()) == {Magnet, Half}


def test_a_class_that_is_defined_again_replaces_the_former() -> None:
    mb.register(Magnet)
    again = type("Magnet", (mb.ForceElement,), {"__module__": __name__, "wrench": Magnet.wrench})
    mb.register(again)
    assert registered(mb.ForceElement) == {name_of(Magnet): again}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (int, "allowed is a class below one of Body, Joint"),
        (3, "allowed is a class below one of Body, Joint"),
        (mb.Joint, "allowed is a class below one of Body, Joint"),
        (type("RevoluteJoint", (mb.Joint,), {}), "found the name of mbframe.joints.library.RevoluteJoint; rename"),
        (type("simulate", (mb.Joint,), {}), "found the name of mbframe.solvers.simulate.simulate; rename"),
        (
            type("Abstract", (mb.ForceElement,), {"__annotations__": {"law": ClassVar[Any]}}),
            "is only a base: give it law",
        ),
        (
            type("Wrong", (Magnet,), {"example": classmethod(lambda cls, *bodies: cls("w", *bodies, strenght=1.0))}),
            r"its example\(\) cannot be built: ModelError.*did you mean 'strength'",
        ),
    ],
    ids=["no element", "no class", "a base", "name of ours", "name of a function", "abstract", "example"],
)
def test_what_cannot_be_registered_is_refused_by_name(given: Any, message: str) -> None:
    with pytest.raises(mb.ModelError, match=message):
        mb.register(Half, given)
    assert registered(mb.Acceleration, mb.ForceElement, mb.Joint) == {}  # all or none


def test_two_classes_of_one_name_are_refused() -> None:
    mb.register(Magnet)
    with pytest.raises(mb.ModelError, match=f"found the name of {__name__}.Magnet; rename your class"):
        mb.register(type("Magnet", (mb.ForceElement,), {"__module__": "elsewhere"}))


def test_examples_of_couplings_and_bodies_are_built() -> None:
    class Belt(mb.GearJoint):
        @classmethod
        def example(cls, *joints: Any) -> Belt:
            return cls("belt", *joints, ratio=2.0)

    class Flywheel(mb.RigidBody):
        @classmethod
        def example(cls) -> Flywheel:
            return cls("flywheel", mass=1.0, inertia=(1.0, 1.0, 2.0))

    mb.register(Belt, Flywheel)
    assert set(registered(mb.Joint, mb.Body).values()) == {Belt, Flywheel}
