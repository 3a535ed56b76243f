"""Surfaces are closed, face outwards and enclose the volume that they should."""

from __future__ import annotations

import numpy as np
import pytest

from mbframe.render import surfaces as s
from mbframe.render.gear_glyphs import gear

SQUARE = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]


def volume(surface: s.Surface) -> float:
    """By the divergence theorem: positive if the triangles wind counterclockwise seen from outside."""
    a, b, c = (surface.vertices[surface.faces[:, k]].astype(float) for k in range(3))
    return float(np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0)


CASES = {
    "box": (s.box((1.0, 2.0, 3.0)), 6.0, 1e-6),
    "box with round edges": (s.box((1.0, 2.0, 3.0), bevel=0.05), 6.0, 0.01),
    "cylinder": (s.cylinder(0.5, 2.0), np.pi * 0.25 * 2.0, 0.01),
    "cylinder with bevels": (s.cylinder(0.5, 2.0, bevel=0.02), np.pi * 0.25 * 2.0, 0.01),
    "tube": (s.tube(0.5, 0.3, 2.0), np.pi * (0.25 - 0.09) * 2.0, 0.01),
    "cone": (s.cone(0.5, 2.0), np.pi * 0.25 * 2.0 / 3.0, 0.01),
    "sphere": (s.sphere(0.7), 4.0 / 3.0 * np.pi * 0.7**3, 0.02),
    "bowl": (s.bowl(0.6, 0.1, sides=80), 2.0 / 3.0 * np.pi * (0.7**3 - 0.6**3), 0.02),
    "torus": (s.torus(1.0, 0.2), 2.0 * np.pi**2 * 0.2**2, 0.03),
    "prism": (s.extruded(SQUARE, 0.5), 1.0, 1e-6),
    "prism with bevels": (s.extruded(SQUARE, 0.5, bevel=0.01), 1.0, 0.03),
    "rounded plate": (
        s.extruded(s.rounded_hull([(0, 0), (3, 0), (3, 2), (0, 2), (1, 1)], 0.5), 0.1),
        0.1 * (6.0 + 10.0 * 0.5 + np.pi * 0.25),  # hull + its circumference times the radius + a circle
        0.01,
    ),
    "link": (s.extruded(s.rounded_hull([(0, 0), (3, 0)], 0.5), 0.1), 0.1 * (3.0 + np.pi * 0.25), 0.01),
    "wire": (s.swept([(0, 0, 0), (0, 0, 1), (0, 0, 2)], 0.1, sides=48), np.pi * 0.01 * 2.0, 0.01),
    "coil": (
        s.coil(1.0, 0.05, turns=6, length=3.0, straight=0.1),
        # The section is a decagon; five turns have the full radius, both ends are straight, and half a turn between
        # them at either end spirals out: its length is that of r = phi/pi, int_0^pi sqrt(1 + phi^2)/pi dphi = 1.94.
        5.0 * np.sin(np.pi / 5.0) * 0.05**2 * (5.0 * np.hypot(2.0 * np.pi, 2.4 / 6.0) + 0.6 + 2.0 * 1.94),
        0.04,
    ),
    "arrow": (
        s.arrow(1.0, 0.02, head=0.2),
        np.pi * 0.02**2 * 0.8 + np.pi * 0.084**2 * 0.2 / 3.0,
        0.02,
    ),
    "gear": (gear(1.0, 30, 0.2), np.pi * 0.2, 0.06),
}


@pytest.mark.parametrize("name", CASES)
def test_volume(name: str):
    surface, expected, tolerance = CASES[name]
    assert volume(surface) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_normals_are_of_unit_length_and_point_outwards(name: str):
    surface, _, _ = CASES[name]
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-5)
    a, b, c = (surface.vertices[surface.faces[:, k]].astype(float) for k in range(3))
    facing = np.cross(b - a, c - a)
    facing /= np.linalg.norm(facing, axis=1)[:, None]
    for k in range(3):
        assert np.sum(facing * surface.normals[surface.faces[:, k]], axis=1).min() > 0.0


@pytest.mark.parametrize("name", CASES)
def test_closed(name: str):
    """Every edge is shared by two triangles that run along it in opposite directions (up to doubled vertices)."""
    surface, _, _ = CASES[name]
    a, b, c = (surface.vertices[surface.faces[:, k]].astype(float) for k in range(3))
    np.testing.assert_allclose(0.5 * np.cross(b - a, c - a).sum(axis=0), 0.0, atol=2e-4 * np.abs(a).max())


def test_arrays_are_what_files_and_graphics_take():
    surface = s.joined([s.sphere(1.0), s.box((1, 1, 1)).moved((3.0, 0.0, 0.0))])
    assert surface.vertices.dtype == surface.normals.dtype == np.float32
    assert surface.faces.dtype == np.int32
    assert surface.faces.max() == len(surface.vertices) - 1
    np.testing.assert_allclose(surface.bounds, [[-1, -1, -1], [3.5, 1, 1]], atol=1e-6)


def test_moved_and_turned():
    pole = s.cylinder(0.1, 2.0).along((1.0, 0.0, 0.0), (5.0, 0.0, 0.0))
    np.testing.assert_allclose(pole.bounds, [[4.0, -0.1, -0.1], [6.0, 0.1, 0.1]], atol=1e-3)


@pytest.mark.parametrize("size", [0.0, 1e-320, np.inf, np.nan])
def test_a_size_that_no_picture_can_show_is_a_point(size: float) -> None:
    """A model of a stranger may have one, and its picture must not end the window."""
    with np.errstate(all="ignore"):
        for made in (s.cylinder(size, size), s.sphere(size), s.cone(size, size)):
            assert len(made.faces) == 0
            assert np.isfinite(made.vertices).all()
