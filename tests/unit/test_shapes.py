"""Shapes are checked, comparable data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.errors import ModelError
from mbframe.shapes import Arrow, Box, Cone, Cylinder, Mesh, Shape, Sphere, solid_of

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


def test_masses_of_shapes_have_their_closed_forms():
    mass, center, inertia = mb.Cone(radius=0.3, length=0.8).solid(1000.0)
    assert mass == pytest.approx(1000.0 * np.pi * 0.3**2 * 0.8 / 3.0)
    assert center[2] == pytest.approx(0.2)
    assert inertia[2, 2] == pytest.approx(0.3 * mass * 0.3**2)
    assert inertia[0, 0] == pytest.approx(mass * (3.0 / 20.0 * 0.3**2 + 3.0 / 80.0 * 0.8**2))
    two = [mb.Sphere(radius=0.1, position=(x, 0.0, 0.0)) for x in (-0.5, 0.5)]
    total, middle, tensor = solid_of(two, 500.0)
    one = 500.0 * 4.0 / 3.0 * np.pi * 1e-3
    assert total == pytest.approx(2.0 * one)
    assert middle == pytest.approx([0.0, 0.0, 0.0])
    assert tensor[2, 2] == pytest.approx(2.0 * (0.4 * one * 0.01 + one * 0.25))
    assert tensor[0, 0] == pytest.approx(0.8 * one * 0.01)


def test_bodies_are_made_of_shapes_and_a_density():
    shapes = [mb.Box(size=(0.4, 0.2, 0.1), position=(0.2, 0.0, 0.0))]
    mass = 7850.0 * 0.4 * 0.2 * 0.1
    block = mb.RigidBody.from_shapes("block", shapes, 7850.0, position=(1.0, 2.0, 3.0))
    assert block.mass == pytest.approx(mass)
    np.testing.assert_allclose(block.center_of_mass, (0.2, 0.0, 0.0))
    np.testing.assert_allclose(np.diag(block.inertia), mass / 12.0 * np.array([0.05, 0.17, 0.2]))
    assert list(block.shapes) == shapes
    plate = mb.PlanarBody.from_shapes("plate", shapes, 7850.0, angle=0.3)
    assert (plate.mass, plate.inertia) == pytest.approx((mass, mass / 12.0 * 0.2))
    with pytest.raises(mb.ModelError, match="enclose no volume"):
        mb.RigidBody.from_shapes("arrow", [mb.Arrow(length=1.0)], 7850.0)
