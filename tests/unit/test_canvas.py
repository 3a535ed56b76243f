"""Pictures for windows: pixels, picking, merged parts, levels of detail."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial import cKDTree

import mbframe as mb
from mbframe.render import Canvas, Scene, availability, can_draw, drawing
from mbframe.render.merging import MergedPart, merged
from mbframe.render.surfaces import cylinder, detail, sphere

pytestmark = pytest.mark.skipif(not can_draw(), reason=str(availability.why_not()))


@pytest.fixture
def canvas():
    canvas = Canvas((320, 240))
    yield canvas
    canvas.close()


def two_boxes() -> mb.System:
    """A large box behind, a small one in front of it."""
    system = mb.System("boxes", gravity=(0.0, 0.0, 0.0))
    for name, y, size in (("far", 2.0, 2.0), ("near", -2.0, 0.5)):
        system.add(
            mb.RigidBody(
                name, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, y, 0.0), shapes=[mb.Box(size=(size,) * 3)]
            )
        )
    return system


def test_pixels_show_the_scene(canvas):
    canvas.draw_system(two_boxes(), grid=False, shadows=False)
    image = canvas.image()
    assert image.shape == (240, 320, 4)
    background = image[2, 2, :3].astype(int)
    assert np.abs(image[120, 160, :3] - background).sum() > 60
    assert (image[:, :, 3] == 255).all()


def test_the_picture_is_that_of_a_pyvista_plotter(canvas):
    system = mb.examples.four_bar()
    canvas.draw_system(system)
    ours = canvas.image()[::-1, :, :3].astype(int)
    for merge, most in ((True, 0.0), (False, 1.0)):  # merged, reflections have another tint
        with Scene(system, size=(320, 240), smooth=False, axes=False, merge=merge) as scene:
            assert np.abs(ours - scene.image()).mean() <= most


def test_resizing_keeps_the_scene(canvas):
    canvas.draw_system(two_boxes())
    canvas.resize(200, 100)
    assert canvas.size == (200, 100)
    assert canvas.image().shape == (100, 200, 4)
    canvas.resize(0, -5)
    assert canvas.size == (1, 1)


def test_a_smooth_picture_has_more_shades(canvas):
    canvas.draw_system(two_boxes(), grid=False, shadows=False)
    canvas.scene.view("iso")
    rough = np.unique(canvas.image().reshape(-1, 4), axis=0)
    smooth = np.unique(canvas.smooth_image().reshape(-1, 4), axis=0)
    assert len(smooth) > len(rough)
    assert len(np.unique(canvas.image().reshape(-1, 4), axis=0)) == len(rough)


def test_a_smooth_picture_is_the_mean_of_a_finer_one(canvas):
    canvas.draw_system(two_boxes(), grid=False, shadows=False)
    canvas.scene.view("iso")
    plain, smooth = canvas.image().astype(float), canvas.smooth_image().astype(float)
    canvas.resize(8 * 320, 8 * 240)
    fine = canvas.image().reshape(240, 8, 320, 8, 4).mean(axis=(1, 3))
    rough = np.abs(plain - fine).max(axis=2) > 30.0  # pixels that an edge crosses
    assert rough.sum() > 100
    error, before = (np.abs(picture - fine)[rough].mean() for picture in (smooth, plain))
    assert error < 0.2 * before
    assert np.abs(smooth - fine)[~rough].max() < 40.0


def test_picking_finds_what_is_in_front(canvas):
    system = two_boxes()
    canvas.draw_system(system)
    canvas.scene.view("front")
    pixels, depth = canvas.project([(0.0, -2.25, 0.0), (0.9, 1.0, 0.8)])
    assert depth[0] < depth[1]
    near, far = (canvas.pick(*pixel) for pixel in pixels)
    assert near.element is system["near"]
    np.testing.assert_allclose(near.point, (0.0, -2.25, 0.0), atol=0.02)
    assert far.element is system["far"]
    assert canvas.pick(1, 1) is None


def test_picking_tells_elements_apart_that_are_drawn_as_one(canvas):
    """A pin and the bar that carries it are one actor; the triangle says which of them it was."""
    system = mb.examples.four_bar()
    scene = canvas.draw_system(system)
    scene.view("front")
    found = set()
    for x in range(0, 320, 6):
        for y in range(0, 240, 6):
            pick = canvas.pick(x, y)
            if pick is not None:
                found.add(pick.element.name)
    assert {"bar 1", "bar 2", "bar 3", "A", "B", "spring"} <= found


def test_rays_and_projections_are_inverse(canvas):
    canvas.draw_system(two_boxes())
    canvas.scene.view("iso")
    origin, direction = canvas.ray(70.0, 190.0)
    pixels, depth = canvas.project([origin + 3.0 * direction])
    np.testing.assert_allclose(pixels[0], (70.0, 190.0), atol=1e-6)
    assert depth[0] > 0.0
    assert canvas.project([origin - direction])[1][0] < 0.0


def test_nothing_is_picked_without_a_scene(canvas):
    canvas.draw_system(two_boxes())
    canvas.clear()
    assert canvas.scene is None
    assert canvas.pick(160, 120) is None
    assert np.ptp(canvas.image()[120].astype(int), axis=0).max() <= 2  # the background is dithered


def test_selected_elements_are_outlined(canvas):
    system = mb.examples.four_bar()
    scene = canvas.draw_system(system)
    plain = canvas.image().copy()
    scene.highlight("bar 2")
    assert np.abs(canvas.image().astype(int) - plain).max() > 50
    scene.highlight(None)
    np.testing.assert_array_equal(canvas.image(), plain)


def test_other_systems_take_the_place_of_the_first(canvas):
    first = canvas.draw_system(mb.examples.four_bar())
    second = canvas.draw_system(mb.examples.bricard())
    assert canvas.scene is second is not first
    assert canvas.plotter.renderer.GetLights().GetNumberOfItems() == 3


# --- merged parts ---------------------------------------------------------------------------------------------------


def test_parts_of_a_body_become_one():
    system = mb.examples.n_four_bar(n=3)
    parts = drawing(system)
    fewer = merged(parts)
    assert len(fewer) <= len(system.bodies) + 1 < len(parts)
    assert sum(len(p.surface.faces) for p in fewer) == sum(len(p.surface.faces) for p in parts)
    together = next(p for p in fewer if isinstance(p, MergedPart))
    names = {together.element_at(face) for face in range(len(together.surface.faces))}
    assert names == {piece.element for piece in together.pieces}
    assert together.element_at(len(together.surface.faces)) is None


def test_merged_parts_are_where_they_were():
    system = mb.examples.four_bar()
    poses = mb.render.Poses.described(system)

    def corners(parts):
        placed = []
        for part in parts:
            matrix = part.transform(poses).matrix
            placed.append(part.surface.vertices @ matrix[:3, :3].T + matrix[:3, 3])
        return np.concatenate(placed)

    parts = drawing(system)
    before, after = corners(parts), corners(merged(parts))
    assert len(before) == len(after)
    for one, other in ((before, after), (after, before)):
        assert cKDTree(one).query(other)[0].max() < 2e-6


def test_springs_and_transparent_parts_stay_alone():
    system = mb.System("one")
    shapes = [mb.Box(size=(1.0, 1.0, 1.0)), mb.Sphere(radius=1.0, opacity=0.4), mb.Sphere(radius=0.1)]
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=shapes))
    system.add(
        mb.SpringDamper("spring", system.ground, body, at_i=(0, 0, 3), at_j=(0, 0, 0), stiffness=1.0, free_length=0.0)
    )
    fewer = merged(drawing(system))
    (together,) = [part for part in fewer if isinstance(part, MergedPart) and part.body == "body"]
    assert all(part.opacity == 1.0 for part in fewer if isinstance(part, MergedPart))
    assert [piece.element for piece in together.pieces].count("body") == 2
    assert any(part.opacity == 0.4 for part in fewer)


# --- detail ---------------------------------------------------------------------------------------------------------


def test_less_detail_has_fewer_triangles_of_the_same_size():
    fine = sphere(1.0), cylinder(0.5, 2.0, 0.05)
    with detail(0.25):
        coarse = sphere(1.0), cylinder(0.5, 2.0, 0.05)
    for few, many in zip(coarse, fine, strict=True):
        assert len(few.faces) < 0.4 * len(many.faces)
        np.testing.assert_allclose(few.bounds, many.bounds, atol=0.06)
    assert sphere(1.0) is fine[0]


def test_round_surfaces_stay_round():
    """Normals of a coarse sphere still point away from its centre: no edges appear."""
    with detail(0.1):
        ball = sphere(2.0)
    off_poles = np.abs(ball.vertices[:, 2]) < 1.999  # there the normal is that of the cap
    np.testing.assert_allclose(ball.vertices[off_poles] / 2.0, ball.normals[off_poles], atol=1e-5)


def test_what_a_canvas_needs_is_imported_beforehand():
    """The application imports it in a thread beside its gallery: its first picture must not wait for it."""
    program = (
        "import sys, mbframe as mb\n"
        "system = mb.examples.four_bar()\n"
        "mb.render.prepare()\n"
        "before = set(sys.modules)\n"
        "canvas = mb.render.Canvas((64, 48))\n"
        "canvas.draw_system(system)\n"
        "canvas.image()\n"
        "print(*(name for name in set(sys.modules) - before if name.startswith(('vtk', 'pyvista', 'matplotlib'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert set(done.stdout.split()) <= {"vtkmodules.vtkViewsCore"}


def test_drawing_loads_nothing_for_charts_and_downloads():
    """PyVista imports it, which was more than half of what the first picture waits for; who asks for it gets it."""
    program = (
        "import sys, mbframe as mb\n"
        "mb.render.Canvas((64, 48)).draw_system(mb.examples.flexible_pendulum())\n"
        "print(*({'matplotlib.pyplot', 'matplotlib.backends.backend_agg', 'pooch', 'requests'} & set(sys.modules)))\n"
        "from pyvista.plotting import charts, colors\n"
        "from pyvista.core.utilities import reader_registry\n"
        "import matplotlib.pyplot, pooch\n"
        "print(colors.get_matplotlib_theme_cycler() == matplotlib.pyplot.rcParams['axes.prop_cycle'])\n"
        "print(charts.plt.subplots is matplotlib.pyplot.subplots)\n"
        "print(reader_registry.pooch.retrieve is pooch.retrieve)\n"
        "chart = charts.ChartMPL(matplotlib.pyplot.subplots()[0])\n"
        "from matplotlib.backends.backend_agg import FigureCanvasAgg\n"
        "print(type(chart._canvas) is FigureCanvasAgg)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines() == ["", "True", "True", "True", "True"]


def test_the_canvas_is_a_plotter_of_pyvista(canvas):
    import pyvista

    assert isinstance(canvas.plotter, pyvista.Plotter)
    assert isinstance(canvas.in_hardware, bool)


def test_points_and_lines_of_sight_agree_without_perspective():
    canvas = Canvas((300, 200))
    try:
        canvas.draw_system(mb.examples.four_bar())
        canvas.image()
        places = np.array([[1.0, -2.0, 0.3], [4.0, 0.0, -0.5]])
        pixels, depth = canvas.project(places)
        for place, (x, y), far in zip(places, pixels, depth, strict=True):
            begin, direction = canvas.ray(x, y)
            np.testing.assert_allclose(begin + far * direction, place, atol=1e-9)
        (x, y), _ = (found[0] for found in canvas.project([(np.sqrt(2.0), -np.sqrt(2.0), 0.0)]))
        assert canvas.pick(x, y).element.name == "bar 1"
    finally:
        canvas.close()


def test_where_nothing_can_be_drawn_a_canvas_says_so(monkeypatch):
    monkeypatch.setattr(availability, "has_display", lambda: False)
    monkeypatch.setattr(availability, "has_driver", lambda: False)
    availability.why_not.cache_clear()
    try:
        with pytest.raises(mb.render.RenderError, match="EGL finds no driver"):
            Canvas()
    finally:
        availability.why_not.cache_clear()
