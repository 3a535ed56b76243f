"""Shapes are checked, comparable data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbframe.errors import ModelError
from mbframe.shapes import Arrow, Box, Cone, Cylinder, Mesh, Shape, Sphere

EXAMPLES = [
    Box(size=(1, 2, 3)),
    Cylinder(0.1, 2),
    Sphere(0.5),
    Cone(0.1, 0.3),
    Arrow(1.0),
    Mesh("wheel.stl", scale=0.001),
]


@pytest.mark.parametrize("shape", EXAMPLES, ids=lambda shape: type(shape).__name__)
def test_common_fields_and_value_semantics(shape: Shape):
    assert isinstance(shape, Shape)
    assert shape.position == (0.0, 0.0, 0.0)
    assert shape.rotation == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    assert shape.color is None
    assert shape.opacity == 1.0
    same = type(shape)(**{field.name: getattr(shape, field.name) for field in fields(shape)})
    assert same == shape
    assert hash(same) == hash(shape)
    with pytest.raises(FrozenInstanceError):
        shape.opacity = 0.5  # type: ignore[misc]


def test_values_are_converted():
    turned = Cylinder(
        1, np.float32(2), rotation=Rotation.from_euler("x", 90, degrees=True), position=np.array([1, 2, 3])
    )
    assert (turned.radius, turned.length, turned.position) == (1.0, 2.0, (1.0, 2.0, 3.0))
    # The long axis (local z) points along -y after a quarter turn about x.
    np.testing.assert_allclose(np.array(turned.rotation) @ [0, 0, 1], [0, -1, 0], atol=1e-15)
    assert Mesh(Path("a") / "b.stl").path == str(Path("a") / "b.stl")
    assert Sphere(1.0, color=[1, 0.5, 0]).color == (1.0, 0.5, 0.0)
    assert Sphere(1.0, color="tomato").color == "tomato"


def test_all_problems_are_reported_at_once():
    with pytest.raises(ModelError) as caught:
        Cylinder(-1.0, "long", opacity=2.0, color=(2, 0, 0), position=(0, 0))  # type: ignore[arg-type]
    problems = {problem.field: problem for problem in caught.value.problems}
    assert set(problems) == {"radius", "length", "opacity", "color", "position"}
    assert problems["radius"].element == "Cylinder"
    assert "above 0 (m)" in problems["radius"].message


@pytest.mark.parametrize("make", [lambda: Mesh(""), lambda: Mesh(3), lambda: Box((1, 1)), lambda: Sphere(0.0)])
def test_refusals(make):
    with pytest.raises(ModelError):
        make()
