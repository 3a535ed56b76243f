"""Mass properties of closed meshes, against the closed forms of solids."""

import numpy as np
import pytest

import mbframe as mb
from mbframe.render.mesh_mass import mesh_mass_properties, solid_properties

FACES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6)]
FACES += [(3, 0, 4), (3, 4, 7)]


def brick(size, center=(0.0, 0.0, 0.0)):
    corners = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
    return np.array(corners) * np.array(size) / 2.0 + np.array(center)


def test_a_brick_far_from_the_origin():
    (a, b, c), center, density = (0.2, 0.5, 0.9), (100.0, -30.0, 7.0), 800.0
    mass, middle, inertia = solid_properties(brick((a, b, c), center), FACES, density)
    expected = density * a * b * c
    assert mass == pytest.approx(expected)
    assert middle == pytest.approx(center)
    diagonal = expected / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    assert inertia == pytest.approx(np.diag(diagonal), abs=1e-8 * expected)


def test_triangles_that_look_inwards_enclose_the_same_solid():
    outwards = solid_properties(brick((1.0, 2.0, 3.0)), FACES, 2.0)
    inwards = solid_properties(brick((1.0, 2.0, 3.0)), [face[::-1] for face in FACES], 2.0)
    for one, other in zip(outwards, inwards, strict=True):
        assert one == pytest.approx(other)


def test_a_tetrahedron_has_its_known_second_moments():
    """int x^2 dV over the corner of a cube of edge 1 is 1/60, int x y dV is 1/120, V = 1/6, centre 1/4."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    mass, middle, inertia = solid_properties(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], 6.0)
    assert mass == pytest.approx(1.0)
    assert middle == pytest.approx([0.25] * 3)
    diagonal, product = 6.0 * 2.0 / 60.0 - 2.0 / 16.0, -(6.0 / 120.0 - 1.0 / 16.0)
    expected = np.full((3, 3), product)
    np.fill_diagonal(expected, diagonal)
    assert inertia == pytest.approx(expected)


def test_a_hole_is_refused():
    with pytest.raises(ValueError, match="not closed: 3 edges"):
        solid_properties(brick((1.0, 1.0, 1.0)), FACES[1:], 1.0)


def test_a_file_in_millimetres(tmp_path):
    path = tmp_path / "brick.stl"
    lines = ["solid brick"]
    corners = brick((100.0, 200.0, 300.0))
    for face in FACES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(f"{x:g}" for x in corners[k]) for k in face] + ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid"]))
    mass, middle, inertia = mesh_mass_properties(str(path), 1000.0, scale=1e-3)
    assert mass == pytest.approx(6.0)
    assert middle == pytest.approx([0.0] * 3, abs=1e-7)
    assert np.diag(inertia) == pytest.approx(np.array([0.13, 0.10, 0.05]) * 6.0 / 12.0, rel=1e-5)
    path.write_text("\n".join(lines[:-7]) + "\nendsolid")
    with pytest.raises(mb.ModelError, match=r"brick\.stl.*not closed"):
        mesh_mass_properties(str(path), 1000.0)
