"""Declared parameters: conversion, refusals, rows, observers, subclasses."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbframe.errors import ModelError, Problem
from mbframe.functions import Function
from mbframe.parameter_kinds import INERTIA_MARGIN, moments_between
from mbframe.parameters import REQUIRED, Element, Parameter, derived, parameter
from mbframe.shapes import Sphere


class Base(Element):
    stiffness = parameter(100.0, unit="N/m", minimum=0.0, help="force per length")
    mass = parameter(kind="number", unit="kg", above=0.0)


class Everything(Base):
    count = parameter(3, minimum=1, maximum=10)
    active = parameter(True)
    mode = parameter("linear", choices=("linear", "cubic"))
    point = parameter((0.0, 0.0, 0.0), unit="m")
    points = parameter(np.zeros((0, 3)), shape=(None, 3))
    matrix = parameter(np.eye(2))
    rotation = parameter(Rotation.identity())
    inertia = parameter((1.0, 1.0, 1.0), kind="inertia", unit="kg m^2")
    law = parameter(0.0, kind="function", variables=("x", "v"), unit="N")
    body = parameter(None, kind="reference")
    shape = parameter(None, kind="shape")
    parts = parameter(())
    free_length = parameter(None, kind="number", unit="m", minimum=0.0)

    def check(self) -> Iterator[Problem]:
        if self.free_length is not None and self.free_length > self.stiffness:
            yield self.problem("free_length", "exceeds the stiffness, which only this test forbids; reduce it")


def converted(kind: str, value: Any, **rule: Any) -> Any:
    return Parameter(kind=kind, **rule).convert(value)


def refusal(kind: str, value: Any, **rule: Any) -> str:
    with pytest.raises(ValueError, match="found") as caught:
        converted(kind, value, **rule)
    return str(caught.value)


# ---- The descriptor -----------------------------------------------------------------------------------------------


def test_class_access_gives_the_declaration_and_kinds_are_inferred():
    assert isinstance(Base.stiffness, Parameter)
    assert (Base.stiffness.unit, Base.stiffness.minimum, Base.stiffness.help) == ("N/m", 0.0, "force per length")
    assert Base.mass.default is REQUIRED
    kinds = {name: p.kind for name, p in Everything.parameters().items()}
    assert kinds == {
        "stiffness": "number",
        "mass": "number",
        "count": "integer",
        "active": "flag",
        "mode": "choice",
        "point": "vector",
        "points": "vector",
        "matrix": "vector",
        "rotation": "rotation",
        "inertia": "inertia",
        "law": "function",
        "body": "reference",
        "shape": "shape",
        "parts": "list",
        "free_length": "number",
    }


def test_parameters_come_bases_first_and_can_be_replaced():
    assert list(Everything.parameters())[:3] == ["stiffness", "mass", "count"]

    class Stiffer(Base):
        stiffness = parameter(1e6, minimum=1e3)
        mass = 2.0

    assert list(Stiffer.parameters()) == ["stiffness"]
    assert Stiffer("s").stiffness == 1e6
    assert Stiffer("s").mass == 2.0


@pytest.mark.parametrize(
    "declare",
    [
        lambda: parameter(None),
        lambda: parameter("text"),
        lambda: parameter(1.0, kind="nmber"),
        lambda: parameter(kind="choice"),
        lambda: parameter(-1.0, minimum=0.0),
        lambda: parameter("c", choices=("a", "b")),
        lambda: type("Bad", (Element,), {"values": parameter(1.0)}),
    ],
)
def test_senseless_declarations_are_refused(declare):
    with pytest.raises(TypeError):
        declare()


# ---- Kinds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), Fraction(4, 2)])
def test_numbers(value):
    stored = converted("number", value)
    assert type(stored) is float
    assert stored == 2.0


@pytest.mark.parametrize("value", [True, np.True_, "2", None, 2j, [2.0], math.nan, math.inf, 10**400])
def test_refused_numbers(value):
    assert "allowed is a finite number" in refusal("number", value)


def test_bounds_say_found_allowed_and_remedy():
    assert refusal("number", -2.0, minimum=0.0, unit="N/m") == (
        "found -2.0; allowed is a finite number at least 0 (N/m); increase it to at least 0"
    )
    assert refusal("number", 0.0, above=0.0).endswith("increase it above 0")
    assert refusal("number", 3.0, maximum=2.5).endswith("reduce it to at most 2.5")
    assert converted("number", 0.0, minimum=0.0, maximum=0.0) == 0.0
    assert "at least 0" in refusal("vector", (1.0, -1.0), minimum=0.0)


def test_integers_flags_and_choices():
    assert converted("integer", np.int32(4)) == 4
    for value in (4.0, True, "4"):
        assert "whole number" in refusal("integer", value)
    assert "at most 10" in refusal("integer", 11, maximum=10)
    assert converted("flag", np.False_) is False
    for value in (0, 1, "yes", None):
        assert "True or False" in refusal("flag", value)
    assert converted("choice", "cubic", choices=("linear", "cubic")) == "cubic"
    assert "did you mean 'cubic'?" in refusal("choice", "cubik", choices=("linear", "cubic"))
    assert "one of 'linear', 'cubic'" in refusal("choice", 3, choices=("linear", "cubic"))


def test_vectors_are_read_only_copies():
    given = np.array([1, 2, 3])
    stored = converted("vector", given, shape=(3,))
    given[0] = 7
    assert stored.dtype == np.float64
    np.testing.assert_array_equal(stored, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        stored[0] = 1.0
    assert converted("vector", [1.0] * 5).shape == (5,)
    assert converted("vector", np.zeros((4, 3)), shape=(None, 3)).shape == (4, 3)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), "of shape (2,); allowed is 3 numbers; give 3 numbers"),
        (5.0, "of shape ()"),
        (np.eye(3), "of shape (3, 3)"),
        ((1, 2, math.nan), "finite"),
        (("1", "2", "3"), "plain numbers"),
        ((True, False, True), "plain numbers"),
        ((1, 2, 3j), "plain numbers"),
        ((1, (2, 3)), "equal length"),
        (None, "plain numbers"),
        ({1, 2, 3}, "plain numbers"),
    ],
)
def test_refused_vectors(value, message):
    assert message in refusal("vector", value, shape=(3,))


def test_rotations_in_every_form():
    # 120 degrees about (1, 1, 1): x -> y -> z -> x.
    expected = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    third = Rotation.from_rotvec(2 * np.pi / 3 * np.ones(3) / np.sqrt(3))
    for value in (third, expected, expected.tolist(), (0.5, 0.5, 0.5, 0.5), (0.50000001, 0.5, 0.5, 0.5)):
        stored = converted("rotation", value)
        np.testing.assert_allclose(stored, expected, atol=2e-8)
        np.testing.assert_allclose(stored.T @ stored, np.eye(3), atol=1e-15)
        assert not stored.flags.writeable
    # Scalar first: (cos, sin k) turns about z by twice the angle.
    angle = 0.3
    stored = converted("rotation", (math.cos(angle / 2), 0, 0, math.sin(angle / 2)))
    np.testing.assert_allclose(stored[:, 0], [math.cos(angle), math.sin(angle), 0.0], atol=1e-15)


def test_rounded_matrices_are_polished_and_exact_ones_kept():
    exact = Rotation.from_euler("ZXY", [0.3, -0.8, 1.1]).as_matrix()
    stored = converted("rotation", np.round(exact, 7))
    np.testing.assert_allclose(stored.T @ stored, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(stored, exact, atol=1e-7)
    np.testing.assert_array_equal(converted("rotation", stored), stored)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.diag([1.0, 1.0, -1.0]), "left-handed"),
        (np.diag([1.0, 1.0, 1.00001]), "off orthonormal"),
        ((1.0, 0.0, 0.0, 0.01), "divide the quaternion by its norm"),
        ((0.0, 0.0, 0.0, 0.0), "norm 0"),
        ((1.0, 0.0, 0.0), "of shape (3,)"),
        (Rotation.from_rotvec(np.eye(3)[:2]), "of shape (2, 3, 3)"),
        (np.full((3, 3), math.nan), "finite"),
        ("identity", "scipy"),
    ],
)
def test_refused_rotations(value, message):
    assert message in refusal("rotation", value)


def test_inertia_in_every_form():
    tensor = np.array([[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]])
    for value in (tensor, (2.0, 3.0, 4.0, 0.1, -0.2, 0.3)):
        np.testing.assert_array_equal(converted("inertia", value), tensor)
    np.testing.assert_array_equal(converted("inertia", (2, 3, 4)), np.diag([2.0, 3.0, 4.0]))
    assert not converted("inertia", (2, 3, 4)).flags.writeable


def test_an_inertia_far_from_its_limits_is_judged_as_by_its_principal_moments():
    """Bounds of the moments answer without computing them; near the limits they leave it to the moments."""
    random = np.random.default_rng(5)
    quickly = 0
    for _ in range(400):
        tensor = np.diag(random.uniform(0.1, 1.0, 3)) + random.choice([0.01, 0.1, 1.0]) * random.normal(size=(3, 3))
        tensor = 0.5 * (tensor + tensor.T)
        smallest, middle, largest = np.linalg.eigvalsh(tensor)
        sound = smallest > 0.0 and largest - middle - smallest <= INERTIA_MARGIN * largest
        low, high = moments_between(*np.diag(tensor), *np.abs(tensor[np.triu_indices(3, 1)]))
        assert low <= smallest
        assert high >= largest
        quickly += low > 0.0 and high * (2.0 - INERTIA_MARGIN) < np.trace(tensor)
        six = (*np.diag(tensor), *tensor[np.triu_indices(3, 1)])
        if sound:
            np.testing.assert_array_equal(converted("inertia", six), tensor)
        else:
            assert "principal moments" in refusal("inertia", six)
    assert 20 < quickly < 200


def test_inertia_triangle_inequality():
    # A thin disk (equality), and the front wheel of a published bicycle, rounded: 0.28 = 2 x 0.1405 - 0.001.
    for value in ((1.0, 1.0, 2.0), (0.1405, 0.28, 0.1405), (1.0, 1.0, 2.0019), (0.053, 2.693, 2.693)):
        converted("inertia", value)
    for value in ((1.0, 1.0, 2.0021), (1.0, 1.0, 3.0), (1.0, 1.0, 1.0, 0.8, 0.0, 0.0)):
        assert "exceeds the sum" in refusal("inertia", value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1.0, 1.0, 0.0), "positive"),
        ((1.0, 1.0, -1.0), "positive"),
        ((1.0, 1.0, 1.0, 1.0, 0.0, 0.0), "positive"),
        ((0.0, 0.0, 0.0), "positive"),
        (np.array([[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]), "not symmetric"),
        ((1.0, 1.0), "of shape (2,)"),
        (1.0, "of shape ()"),
    ],
)
def test_refused_inertias(value, message):
    assert message in refusal("inertia", value)


def test_functions_in_every_form():
    for value in (3, "3", Function(3.0), Function(3.0, variables=("a", "b", "c")), lambda x, v: 3.0):
        assert converted("function", value, variables=("x", "v"))(1.0, 2.0) == 3.0
    f = Function("a*b", variables=("a", "b"))
    assert converted("function", f, variables=("x", "v")) is f
    assert "found a function of t" in refusal("function", Function("t"), variables=("x", "v"))
    with pytest.raises(ValueError, match="position 1: there is no function 'sn'; did you mean 'sin'"):
        converted("function", "sn(t)")
    assert "found None" in refusal("function", None)


def test_references_shapes_and_lists():
    body = Base("bar", mass=1.0)
    assert converted("reference", body) is body
    for value in ("bar", 3, Base, None):
        assert "named element" in refusal("reference", value)
    assert converted("shape", Sphere(1.0)) == Sphere(1.0)
    assert "a shape" in refusal("shape", "sphere")
    assert converted("list", [1, "a"]) == (1, "a")
    for value in ("abc", 3, {"a": 1}):
        assert "a list" in refusal("list", value)


def test_only_a_default_of_none_allows_none():
    assert Everything("e", mass=1.0, free_length=None).free_length is None
    with pytest.raises(ModelError, match="stiffness: found None"):
        Everything("e", mass=1.0, stiffness=None)


# ---- Elements -----------------------------------------------------------------------------------------------------


def test_construction_and_values():
    element = Everything("e", mass=2, point=(1, 2, 3), law="5*x + v")
    assert element.mass == 2.0
    assert element.law(2.0, 0.5) == 10.5
    assert list(element.values()) == list(Everything.parameters())
    assert element.values()["count"] == 3
    assert str(element) == "Everything 'e'"


def test_all_problems_are_reported_at_once():
    with pytest.raises(ModelError) as caught:
        Everything("", count=0, stifness=3.0, point=(1, 2))
    problems = {problem.field: problem.message for problem in caught.value.problems}
    assert set(problems) == {"name", "mass", "count", "stifness", "point"}
    assert "did you mean 'stiffness'?" in problems["stifness"]
    assert problems["mass"] == "found nothing; allowed is a finite number above 0 (kg); add mass=... to the call"
    assert len(str(caught.value).splitlines()) == 5


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_names(name):
    with pytest.raises(ModelError, match="non-empty text"):
        Base(name, mass=1.0)
    element = Base("a", mass=1.0)
    with pytest.raises(ModelError, match="Base 'a', name"):
        element.name = name
    assert element.name == "a"


def test_cross_field_check_runs_at_construction_and_assignment():
    with pytest.raises(ModelError, match="Everything 'e', free_length: exceeds"):
        Everything("e", mass=1.0, stiffness=1.0, free_length=2.0)
    element = Everything("e", mass=1.0, stiffness=10.0, free_length=2.0)
    with pytest.raises(ModelError, match="exceeds"):
        element.stiffness = 1.0
    assert element.stiffness == 10.0
    element.update(stiffness=1.0, free_length=0.5)
    assert (element.stiffness, element.free_length) == (1.0, 0.5)


def test_assignment_validates_and_keeps_the_old_value():
    element = Everything("e", mass=1.0)
    with pytest.raises(ModelError, match="Everything 'e', mass: found -1"):
        element.mass = -1
    assert element.mass == 1.0
    with pytest.raises(ModelError) as caught:
        element.update(mass=5.0, count="many", mde="cubic")
    assert [problem.field for problem in caught.value.problems] == ["count", "mde"]
    assert element.mass == 1.0


def test_observers():
    element = Base("a", mass=1.0)
    seen: list[tuple[Any, ...]] = []
    unsubscribe = element.observe(lambda *change: seen.append(change))
    element.mass = 2
    element.name = "b"
    with pytest.raises(ModelError):
        element.mass = 0
    assert seen == [(element, "mass", 1.0, 2.0), (element, "name", "a", "b")]
    unsubscribe()
    unsubscribe()
    element.mass = 3
    assert len(seen) == 2


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(Base("a", mass=2, stiffness=100.0)) == "Base('a', mass=2.0)"
    other = Base("bar", mass=1.0)
    element = Everything("e", mass=1.0, point=(1, 0, 0), law="x", body=other, mode="linear", matrix=[[1, 2], [3, 4]])
    assert repr(element) == (
        "Everything('e', mass=1.0, point=(1.0, 0.0, 0.0), matrix=[[1.0, 2.0], [3.0, 4.0]], "
        "law=Function('x', variables=('x', 'v')), body='bar')"
    )


def test_rows_follow_from_the_declaration():
    dtype = np.dtype(Everything.row_fields())
    assert dtype.names == (
        "stiffness",
        "mass",
        "count",
        "active",
        "mode",
        "point",
        "matrix",
        "rotation",
        "inertia",
        "law",
        "free_length",
    )
    assert dtype["point"].shape == (3,)
    assert dtype["matrix"].shape == (2, 2)
    names = (
        "code",
        "n_code",
        "constants",
        "n_constants",
        "run",
        "value",
        "slope",
        "bend",
        "argument",
        "cuts",
        "n_cuts",
    )
    assert dtype["law"].names == names
    element = Everything("e", mass=2.0, mode="cubic", point=(1, 2, 3), law="x*v", active=False)
    row = np.zeros(1, dtype)
    for name, value in element.row_values().items():
        row[name] = value
    assert (row["mass"][0], row["count"][0], row["mode"][0], row["active"][0]) == (2.0, 3, 1, False)
    np.testing.assert_array_equal(row["point"][0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(row["rotation"][0], np.eye(3))
    np.testing.assert_array_equal(row["inertia"][0], np.eye(3))
    assert tuple(row["law"][0]) == element.law.row
    assert math.isnan(row["free_length"][0])


def test_derived_numbers_stand_in_the_row_and_follow_the_parameters():
    class Disk(Base):
        diameter = parameter(2.0, unit="m", help="D")

        @derived
        def radius(self) -> float:
            return self.diameter / 2.0

    class Ring(Disk):
        width = parameter(0.1, unit="m", help="w")

        @derived
        def radius(self) -> float:
            return self.diameter / 2.0 - self.width

    assert np.dtype(Ring.row_fields()).names == ("stiffness", "mass", "diameter", "width", "radius")
    ring = Ring("r", mass=1.0)
    assert ring.row_values()["radius"] == pytest.approx(0.9)
    ring.diameter = 4.0
    assert ring.row_values()["radius"] == ring.radius == pytest.approx(1.9)
    assert Disk("d", mass=1.0).row_values()["radius"] == 1.0
    assert "radius" not in Ring.parameters()


def test_pickle_and_copy_keep_values_read_only_and_leave_observers():
    element = Everything("e", mass=1.0, point=(1, 2, 3), law="x")
    element.observe(lambda *change: None)
    for same in (pickle.loads(pickle.dumps(element)), copy.deepcopy(element)):
        assert repr(same) == repr(element)
        assert not same.point.flags.writeable
        same.mass = 2.0
        assert element.mass == 1.0


def test_a_class_without_example_says_what_to_do():
    with pytest.raises(NotImplementedError, match="override the class method example"):
        Base.example()


# ---- Matrices and several functions -------------------------------------------------------------------------------


def test_matrix_takes_its_rows_or_its_diagonal():
    full = converted("matrix", [[1, 2], [3, 4]], shape=(2, 2))
    np.testing.assert_array_equal(full, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(converted("matrix", (5, 6), shape=(2, 2)), [[5.0, 0.0], [0.0, 6.0]])
    assert not full.flags.writeable
    assert Parameter((0.0, 0.0), kind="matrix", shape=(2, 2)).row_field() == ("", "f8", (2, 2))


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], [[1.0, 2.0]], 3.0, "stiff", [[1.0, math.nan], [0.0, 1.0]]])
def test_other_matrices_are_refused(value):
    assert "2 x 2 numbers, or the 2 of its diagonal" in refusal("matrix", value, shape=(2, 2))


def test_several_functions():
    parts = converted("functions", (1, "sin(t)", Function("2*t")), shape=(3,))
    assert [part(1.0) for part in parts] == pytest.approx([1.0, math.sin(1.0), 2.0])
    p = Parameter((0.0, "t", 0.0), kind="functions", shape=(3,))
    row = np.zeros(1, np.dtype([("f", *p.row_field()[1:])]))
    row["f"][0] = p.row_value(p.default)
    assert [tuple(entry) for entry in row["f"][0]] == [part.row for part in p.default]


@pytest.mark.parametrize("value", ["sin(t)", (1.0, 2.0), 3.0, {"x": 1, "y": 2, "z": 3}])
def test_other_numbers_of_functions_are_refused(value):
    assert "give 3 of them" in refusal("functions", value, shape=(3,))


def test_a_wrong_function_among_several_is_refused():
    with pytest.raises(ValueError, match="operator or the end"):
        converted("functions", (0.0, "2 t", 0.0), shape=(3,))


def test_numbers_are_one_or_a_list() -> None:
    class Damped(Element):
        ratio = parameter(1.0, kind="numbers", minimum=0.0, help="damping ratio")

    assert Damped("d", ratio=2).ratio == 2.0
    several = Damped("d", ratio=[1, 0.5]).ratio
    np.testing.assert_array_equal(several, [1.0, 0.5])
    assert not several.flags.writeable
    assert Damped.row_fields() == []
    for wrong, words in (
        ([1.0, -1.0], "at least 0"),
        ([[1.0]], "a list of them"),
        ("2", "a plain number"),
        (-1.0, "at least 0"),
    ):
        with pytest.raises(ModelError, match=words):
            Damped("d", ratio=wrong)
