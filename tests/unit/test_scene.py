"""Scenes: pictures against an independent projection, and updates without rebuilding."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.render import Poses, Scene, availability, can_draw, picture
from mbframe.render.availability import RenderError, missing_libraries, why_not
from mbframe.render.camera import ANGLE, VIEWS, view_directions
from mbframe.render.geometry import parts_of
from mbframe.render.parts import Part, Sketch
from mbframe.render.placement import rotation3
from mbframe.render.style import SELECTED, THEMES
from mbframe.state import Motion, State

SIZE = (320, 200)
PLAIN: dict[str, Any] = {"size": SIZE, "grid": False, "shadows": False, "axes": False, "smooth": False}

pytestmark = pytest.mark.skipif(not can_draw(), reason=str(why_not()))


def described(system: mb.System) -> State:
    return State(0.0, {b.name: Motion(b.position, b.rotation, b.velocity, b.angular_velocity) for b in system.bodies})


def shifted(system: mb.System, shift: Any, turn: Rotation | None = None) -> State:
    a = np.eye(3) if turn is None else turn.as_matrix()
    return State(
        0.0,
        {
            b.name: Motion(b.position + np.asarray(shift), a @ b.rotation, b.velocity, b.angular_velocity)
            for b in system.bodies
        },
    )


def ball(position: Any = (0.0, 0.0, 0.0), radius: float = 0.1) -> mb.System:
    system = mb.System("ball", gravity=(0, 0, 0))
    shape = mb.Sphere(radius, color="red")
    system.add(mb.RigidBody("ball", mass=1.0, inertia=(1, 1, 1), position=position, shapes=[shape]))
    return system


def projected(scene: Scene, points: np.ndarray) -> np.ndarray:
    """Pixels (column, row) of points, by a pinhole camera written down here."""
    camera = scene.plotter.camera
    eye, focus = np.array(camera.position), np.array(camera.focal_point)
    forward = (focus - eye) / np.linalg.norm(focus - eye)
    right = np.cross(forward, camera.up)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    width, height = SIZE
    ray = points - eye
    scale = height / 2.0 / np.tan(np.radians(camera.view_angle) / 2.0)
    depth = ray @ forward
    return np.column_stack([width / 2 + scale * (ray @ right) / depth, height / 2 - scale * (ray @ up) / depth])


def silhouette(scene: Scene, poses: Poses) -> np.ndarray:
    """Which pixels the parts cover: their triangles, projected and filled here."""
    fine = 8  # PIL fills a pixel that a polygon touches
    canvas = Image.new("L", (fine * SIZE[0], fine * SIZE[1]))
    draw = ImageDraw.Draw(canvas)
    for part in scene.parts:
        matrix = part.transform(poses).matrix
        pixels = projected(scene, part.surface.vertices @ matrix[:3, :3].T + matrix[:3, 3])
        for triangle in part.surface.faces:
            draw.polygon([tuple(fine * pixels[k]) for k in triangle], fill=255)
    return np.asarray(canvas.reduce(fine)) > 127


def foreground(image: np.ndarray, empty: np.ndarray) -> np.ndarray:
    return np.abs(image.astype(int) - empty.astype(int)).max(axis=2) > 6


@pytest.fixture
def pendulum() -> Iterator[Scene]:
    with Scene(mb.examples.triple_pendulum(), **PLAIN) as scene:
        yield scene


@pytest.mark.parametrize("name", ["triple_pendulum", "spatial_slider_crank", "heavy_top"])
def test_the_picture_covers_what_a_projection_of_the_parts_covers(name: str):
    system = getattr(mb.examples, name)()
    empty = picture(mb.System("empty"), **PLAIN)
    state = shifted(system, (0.01, -0.02, 0.03), Rotation.from_rotvec((0.1, 0.2, 0.3)))
    with Scene(system, motion=[state], **PLAIN) as scene:
        scene.show(state)
        seen = foreground(scene.image(), empty)
        expected = silhouette(scene, Poses.of_state(state))
    overlap = np.sum(seen & expected) / np.sum(seen | expected)
    assert expected.sum() > 500
    assert overlap > 0.93  # the rest is the edge, one pixel wide


def test_a_ball_is_where_the_camera_sees_it():
    system = ball()
    state = shifted(system, (0.05, 0.0, -0.04))
    with Scene(system, motion=[state], **PLAIN) as scene:
        scene.view("front")
        scene.show(state)
        image = scene.image().astype(int)
        red = (image[:, :, 0] - image[:, :, 2]) > 60
        rows, columns = np.nonzero(red)
        expected = projected(scene, np.array([[0.05, 0.0, -0.04]]))[0]
        assert (columns.mean(), rows.mean()) == pytest.approx(tuple(expected), abs=1.5)
        distance = np.linalg.norm(np.array(scene.plotter.camera.position) - [0.05, 0.0, -0.04])
        radius = np.tan(np.arcsin(0.1 / distance)) * SIZE[1] / 2 / np.tan(np.radians(ANGLE / 2))
        assert np.sqrt(red.sum() / np.pi) == pytest.approx(radius, rel=0.05)


def test_showing_a_state_moves_matrices_and_builds_nothing(pendulum: Scene):
    before = list(pendulum.plotter.actors.values())
    first = pendulum.image()
    state = shifted(pendulum.system, (0.5, 0.0, -1.0), Rotation.from_rotvec((0.0, 0.4, 0.0)))
    pendulum.show(state)
    assert list(pendulum.plotter.actors.values()) == before
    poses = Poses.of_state(state)
    for part, actor in zip(pendulum.parts, before, strict=False):
        matrix = actor.GetUserMatrix()
        found = [[matrix.GetElement(r, c) for c in range(4)] for r in range(4)]
        np.testing.assert_allclose(found, part.transform(poses).matrix, atol=1e-12)
    assert np.any(pendulum.image() != first)
    pendulum.show(described(pendulum.system))
    assert np.mean(np.abs(pendulum.image().astype(int) - first)) < 0.1


def test_a_spring_stretches_between_its_points():
    system = ball((0, 0, 1), 0.05)
    body = system["ball"]
    system.add(
        mb.SpringDamper("spring", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 1), stiffness=1.0, free_length=0.0)
    )
    with Scene(system, **PLAIN) as scene:
        index = next(k for k, part in enumerate(scene.parts) if part.name == "spring/coil")
        for height in (0.3, 1.7):
            scene.show(shifted(system, (0.0, 0.0, height - 1.0)))
            low, high = scene._actors[index].actor.GetBounds()[4:]
            assert (low, high) == pytest.approx((0.0, height), abs=0.02)


@pytest.mark.parametrize("theme", THEMES)
def test_background(theme: str):
    image = picture(ball(), theme=theme, **PLAIN)
    np.testing.assert_allclose(image[-1, 5] / 255.0, THEMES[theme].background, atol=0.02)
    np.testing.assert_allclose(image[0, 5] / 255.0, THEMES[theme].background_top, atol=0.02)


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_everything_from_their_direction(pendulum: Scene, name: str):
    pendulum.view(name)
    towards, up = view_directions(name, (0, 0, 1))
    camera = pendulum.plotter.camera
    offset = np.array(camera.position) - np.array(camera.focal_point)
    np.testing.assert_allclose(offset / np.linalg.norm(offset), towards, atol=1e-12)
    assert abs(towards @ up) < 0.7
    poses = Poses.described(pendulum.system)
    pixels = np.concatenate(
        [
            projected(pendulum, part.surface.vertices @ m[:3, :3].T + m[:3, 3])
            for part in pendulum.parts
            for m in [part.transform(poses).matrix]
        ]
    )
    assert np.all((pixels > 0) & (pixels < SIZE))
    assert np.max(np.ptp(pixels, axis=0) / SIZE) > 0.7  # and it is as large as it can be


def test_directions_of_views():
    """x to the right, z up: the front view looks along y; in the plane (y up) it looks against z."""
    np.testing.assert_allclose(view_directions("front", (0, 0, 1)), [(0, -1, 0), (0, 0, 1)])
    np.testing.assert_allclose(view_directions("front", (0, 1, 0)), [(0, 0, 1), (0, 1, 0)])
    np.testing.assert_allclose(view_directions("top", (0, 0, 1)), [(0, 0, 1), (0, 1, 0)])
    np.testing.assert_allclose(view_directions("right", (0, 0, 1)), [(1, 0, 0), (0, 0, 1)])


def test_the_camera_follows_a_body(pendulum: Scene):
    before = np.array(pendulum.plotter.camera.position)
    pendulum.follow("bar 2")
    pendulum.show(shifted(pendulum.system, (1.0, 2.0, 3.0)))
    np.testing.assert_allclose(np.array(pendulum.plotter.camera.position) - before, (1.0, 2.0, 3.0))
    pendulum.follow(None)
    pendulum.show(described(pendulum.system))
    np.testing.assert_allclose(np.array(pendulum.plotter.camera.position) - before, (1.0, 2.0, 3.0))


def test_highlight_outlines_an_element_and_keeps_its_colours(pendulum: Scene):
    def colors() -> list[Any]:
        return [actor.actor.GetProperty().GetColor() for actor in pendulum._actors]

    plain, before = colors(), pendulum.image()
    pendulum.highlight(pendulum.system["bar 2"])
    assert colors() == plain
    image = pendulum.image()
    marked = np.abs(image.astype(int) - np.round(255.0 * np.array(SELECTED))).max(axis=2) < 12
    changed = np.abs(image.astype(int) - before).max(axis=2) > 12
    assert 20 < marked.sum() < 0.5 * changed.size
    assert marked.sum() > 0.3 * changed.sum()  # nothing but the outline changes, up to smoothed edges
    pendulum.highlight(None)
    np.testing.assert_array_equal(pendulum.image(), before)


def test_an_outline_moves_with_its_body(pendulum: Scene):
    pendulum.highlight("bar 2")
    (_, outline) = pendulum._outlines[0]
    before = outline.matrix.GetElement(0, 3)
    state = mb.simulate(pendulum.system, 0.5, t_eval=[0.0, 0.5]).state(1)
    pendulum.show(state)
    assert outline.matrix.GetElement(0, 3) != before


def test_arrows_are_drawn_over_bodies():
    with Scene(mb.examples.four_bar(), **PLAIN) as scene:
        scene.view("front")
        scene.arrows("velocity", [(1.0, -1.0, -3.0)], [(1.0, -1.0, 0.0)])  # behind the first bar
        image = scene.image().astype(int)
    green = (image[:, :, 1] > image[:, :, 0] + 60) & (image[:, :, 1] > image[:, :, 2] + 20)
    with Scene(mb.examples.four_bar(), **PLAIN) as scene:
        scene.view("front")
        scene.highlight("bar 1")
        scene.arrows("velocity", [(1.0, -1.0, 3.0)], [(1.0, -1.0, 0.0)])  # before it
        image = scene.image().astype(int)
    before = (image[:, :, 1] > image[:, :, 0] + 60) & (image[:, :, 1] > image[:, :, 2] + 20)
    assert green.sum() >= 0.9 * before.sum() > 0


def test_shadows_are_seen_from_the_side_of_the_light_only():
    """From behind the wall of a planar mechanism its shadow covered it."""
    with Scene(mb.examples.four_bar(), **{**PLAIN, "shadows": True}) as scene:
        for view, seen in (("front", True), ("back", False), ("iso", True)):
            scene.view(view)
            scene.image()
            assert all(bool(shadow.actor.GetVisibility()) == seen for shadow in scene._shadows)


def test_the_plane_is_drawn_without_perspective():
    for system, parallel in ((mb.examples.four_bar(), True), (mb.examples.bricard(), False)):
        with Scene(system, **PLAIN) as scene:
            assert bool(scene.plotter.camera.parallel_projection) == parallel
    with Scene(mb.examples.bricard(), **PLAIN, parallel=True) as scene:
        assert scene.plotter.camera.parallel_projection


def chain(count: int) -> mb.System:
    """Links of a metre, hinged one to the next, without shapes."""
    system = mb.System("chain", dimension=2)
    before: Any = system.ground
    for k in range(count):
        link = system.add(mb.PlanarBody(f"link {k}", mass=1.0, inertia=0.1, position=(k + 0.5, 0.0)))
        system.add(mb.RevoluteJoint(f"pin {k}", before, link, at=(float(k), 0.0)))
        before = link
    return system


@pytest.mark.parametrize("count", [5, 500])
def test_links_and_pins_are_as_large_as_the_links_are_long(count: int):
    """A chain of 500 links was one grey slab: they were as thick as suits its whole length."""
    sketch = Sketch(chain(count))
    for part in parts_of(sketch):
        if part.element in ("link 2", "pin 2"):
            assert np.ptp(part.surface.vertices[:, 1]) < 0.5, part.name
            assert np.ptp(part.surface.vertices[:, 2]) < 0.5, part.name


def test_a_long_chain_is_seen_from_afar_and_moves():
    """Its links are a quarter of a pixel thick with all of it in view: there was an empty picture."""
    system = chain(500)
    with Scene(system, **PLAIN) as scene:
        scene.view("front")
        strong = np.ptp(scene.image().astype(int), axis=2).max(axis=0) > 60  # columns with a colour
        assert strong.mean() > 0.7
        turned = {link.name: (np.array([0.0, link.position[0], 0.0]), rotation3(np.pi / 2)) for link in system.bodies}
        scene.show(Poses(turned))
        assert (np.ptp(scene.image().astype(int), axis=2).max(axis=0) > 60).mean() < 0.1


def test_layers_of_a_chain_in_the_plane_are_a_link_apart():
    """Links were set off by a share of the whole length: seen aslant, a chain was a flight of stairs."""
    sketch = Sketch(chain(30))
    heights = list(sketch.layers.values())
    assert 0.0 < np.ptp(heights) <= max(sketch.thickness(body.name) for body in sketch.system.bodies)


@pytest.mark.parametrize("count", [5, 500])
def test_the_outline_of_a_link_is_no_larger_than_the_link(count: int):
    with Scene(chain(count), **PLAIN) as scene:
        before = set(scene.plotter.renderer.actors.values())
        scene.highlight("link 2")
        (skin,) = set(scene.plotter.renderer.actors.values()) - before
        low, high = skin.GetBounds()[2:4]
        assert 0.14 < high - low < 0.4


def test_pins_of_the_plane_show_in_front_of_their_links():
    """Heads of pins between two links were inside the nearer one."""
    system = mb.examples.four_bar()
    sketch = Sketch(system)
    parts = parts_of(sketch)

    def top(part: Part) -> float:
        matrix = part.transform(sketch.described).matrix
        return float((part.surface.vertices @ matrix[2, :3] + matrix[2, 3]).max())

    for joint in ("A", "B", "C", "D"):
        held = {port.body for port in sketch.ports[joint]}
        pin = next(part for part in parts if part.name == f"{joint}/pin")
        assert top(pin) > max(top(part) for part in parts if part.role == "body" and part.body in held), joint


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_pin_shows_on_both_sides_of_the_block_that_it_holds(dimension: int):
    """It was inside: neither seen nor to be clicked."""
    system = mb.System("block", dimension=dimension)
    cls: Any = mb.PlanarBody if dimension == 2 else mb.RigidBody
    solid = {"mass": 1.0, "inertia": 0.1 if dimension == 2 else (0.1, 0.1, 0.1)}
    rod = system.add(cls("rod", **solid, shapes=[mb.Box(size=(1.0, 0.02, 0.02))]))
    place = (0.5, 0.0, 0.0)[:dimension]
    block = system.add(cls("block", **solid, position=place, shapes=[mb.Box(size=(0.1, 0.1, 0.1))]))
    system.add(mb.RevoluteJoint("pin", rod, block, at=place, axis=(0.0, 0.0, 1.0)))
    sketch = Sketch(system)
    parts = parts_of(sketch)

    def heights(part: Part) -> np.ndarray:
        matrix = part.transform(sketch.described).matrix
        return part.surface.vertices @ matrix[2, :3] + matrix[2, 3]

    pin = heights(next(part for part in parts if part.name == "pin/pin"))
    solid_block = heights(next(part for part in parts if part.role == "body" and part.body == block.name))
    assert pin.max() > solid_block.max()
    assert pin.min() < solid_block.min()


def test_a_selected_body_that_one_sees_through_has_an_outline_and_its_own_colour():
    """The far side of the second skin was seen through it: it looked as if it was painted."""
    system = mb.System("ball")
    system.add(mb.RigidBody("ball", mass=1.0, inertia=(1, 1, 1), position=(1, 2, 3), shapes=[mb.Sphere(radius=1.0)]))
    with Scene(system, **PLAIN, transparent=["ball"]) as scene:
        before = scene.image().astype(int)
        scene.highlight("ball")
        after = scene.image().astype(int)
        changed = np.abs(after - before).max(axis=2) > 40
        assert changed.any(axis=1).sum() > 0.5 * SIZE[1]  # all around
        assert changed.mean() < 0.05  # and nothing but a line
        scene.highlight(None)
        np.testing.assert_array_equal(scene.image(), before)


def test_links_have_round_ends_about_their_pins():
    """A bar of 4 m by 0.4 m with a pin at each end reaches 0.2 m beyond, but not at its corners."""
    sketch = Sketch(mb.examples.four_bar())
    (bar,) = [part for part in parts_of(sketch) if part.element == "bar 2"]
    vertices = bar.surface.vertices
    assert np.abs(vertices[:, 0]).max() == pytest.approx(2.2, abs=1e-6)
    end = vertices[vertices[:, 0] > 2.0]
    np.testing.assert_array_less(np.hypot(end[:, 0] - 2.0, end[:, 1]), 0.2 + 1e-6)


def test_a_rail_ends_where_its_slider_does():
    """It is as long as the stroke that was computed and the slider, and no longer than that by a few pins."""
    system = mb.examples.slider_crank()
    result = mb.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 81))
    course = result.position("slider")[:, 0]
    with Scene(system, motion=result, **PLAIN) as scene:
        (rail,) = [part for part in scene.parts if part.name.endswith("/rail")]
        span = scene.sketch.span("slider")
    length = float(np.ptp(rail.surface.vertices[:, 2]))
    assert np.ptp(course) + span <= length <= np.ptp(course) + 2.0 * span + 8.0 * scene.sketch.bar


def test_picked_actors_lead_to_elements(pendulum: Scene):
    assert pendulum.element_of(pendulum._actors[0].actor) is pendulum.system[pendulum.parts[0].element]
    assert pendulum.element_of(object()) is None


def test_a_trail_in_the_plane_has_two_components():
    with Scene(mb.examples.four_bar(), **PLAIN) as scene:
        before = scene.image()
        scene.trail("bar 2", np.array([[0.0, -3.0], [3.0, -3.0], [6.0, -3.0]]), color=(1.0, 0.0, 0.0))
        assert np.abs(scene.image().astype(int) - before).max() > 100


def test_trails_are_replaced_and_removed(pendulum: Scene):
    count = len(pendulum.plotter.actors)
    plain = pendulum.image()
    path = np.column_stack([np.linspace(0, 4, 50), np.zeros(50), np.linspace(-2, 2, 50)])
    pendulum.trail("bar 1", path)
    assert np.any(pendulum.image() != plain)
    pendulum.trail("bar 1", path[:20])
    assert len(pendulum.plotter.actors) == count + 1
    pendulum.trail("bar 1", None)
    assert len(pendulum.plotter.actors) == count
    np.testing.assert_array_equal(pendulum.image(), plain)


def test_arrows_have_the_length_and_direction_of_their_vectors(pendulum: Scene):
    points = [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]
    pendulum.arrows("force", points, [(0.0, 0.0, 2.0), (3.0, 0.0, 0.0)], scale=0.5)
    bounds = [actor.actor.GetBounds() for actor in pendulum._arrows["force"]]
    assert bounds[0][4:] == pytest.approx((0.0, 1.0), abs=1e-6)
    assert bounds[1][:2] == pytest.approx((1.0, 2.5), abs=1e-6)
    pendulum.arrows("force", points[:1], [(0.0, 0.0, 2.0)], scale=0.5)
    assert [bool(actor.actor.GetVisibility()) for actor in pendulum._arrows["force"]] == [True, False]


def test_arrows_keep_their_scale(pendulum: Scene):
    pendulum.arrows("velocity", [(0.0, 0.0, 0.0)], [(0.0, 0.0, 4.0)])
    long = pendulum._arrows["velocity"][0].actor.GetBounds()[5]
    pendulum.arrows("velocity", [(0.0, 0.0, 0.0)], [(0.0, 0.0, 2.0)])
    assert pendulum._arrows["velocity"][0].actor.GetBounds()[5] == pytest.approx(0.5 * long)


def test_labels_and_surroundings_are_drawn():
    system = mb.examples.triple_pendulum()
    plain = picture(system, **PLAIN)
    for extra in ("labels", "grid", "shadows", "axes"):
        assert np.any(picture(system, **(PLAIN | {extra: True})) != plain), extra


def test_a_part_that_deforms_takes_its_shadow_along():
    system = mb.examples.triple_pendulum()
    with Scene(system, **(PLAIN | {"shadows": True})) as scene:
        part, actor, shadow = scene.parts[0], scene._actors[0], scene._shadows[0]
        x = part.surface.vertices[:, 0]
        bent = part.surface.vertices + np.column_stack([0 * x, 0 * x, 0.1 * x**2])  # upwards to 0.4 m at both ends
        object.__setattr__(part, "deformed", lambda state: bent)
        scene.show(described(system))
        np.testing.assert_allclose(actor.mapper.GetInput().points, bent, rtol=1e-6)
        assert actor.actor.GetBounds()[5] == pytest.approx(0.1 + 0.4, abs=0.01)  # the edges are rounded
        assert shadow.mapper is actor.mapper


def test_the_floor_is_where_the_mechanism_rolls():
    with Scene(mb.examples.rolling_disk(), **PLAIN) as scene:
        assert scene.floor.touched
        np.testing.assert_allclose(scene.floor.normal, (0, 0, 1))
    system = mb.examples.triple_pendulum()
    with Scene(system, motion=[shifted(system, (0, 0, -5))], **PLAIN) as scene:
        assert scene.floor.point[2] < -5.0


def test_a_shadow_lies_on_the_floor():
    with Scene(mb.examples.rolling_disk(), **PLAIN) as scene:
        matrix = scene.floor.shadow_matrix(0.0)
    points = np.column_stack([np.random.default_rng(3).normal(size=(20, 3)), np.ones(20)])
    np.testing.assert_allclose((points @ matrix.T)[:, 2], 0.0, atol=1e-12)


@pytest.mark.parametrize("call", [lambda s: Scene(s, theme="pink"), lambda s: Scene(s, **PLAIN).view("above")])
def test_wrong_choices_are_named(call: Any):
    with pytest.raises(mb.ModelError, match="allowed are"):
        call(ball())


def test_an_empty_system_and_a_given_plotter():
    import pyvista

    plotter = pyvista.Plotter(off_screen=True, window_size=list(SIZE))
    scene = Scene(mb.System("empty"), plotter)
    assert scene.plotter is plotter
    assert scene.image().shape == (SIZE[1], SIZE[0], 3)
    scene.close()


# --- where nothing can be drawn ---------------------------------------------------------------------------------------


def test_missing_libraries_are_an_error_and_not_a_crash(monkeypatch: pytest.MonkeyPatch):
    def refuse(name: str, *_: object) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    monkeypatch.setattr(sys, "platform", "linux")
    assert missing_libraries() == ["libGL.so.1", "libEGL.so.1"]
    why_not.cache_clear()
    try:
        with pytest.raises(RenderError, match=r"apt-get install libgl1 libegl1"):
            Scene(ball())
        page = ball()._repr_html_()
        assert "RigidBody" in page
        assert "<img" not in page
    finally:
        why_not.cache_clear()


def test_a_missing_driver_is_an_error_and_not_a_crash(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(availability, "has_display", lambda: False)
    monkeypatch.setattr(availability, "has_driver", lambda: False)
    why_not.cache_clear()
    try:
        with pytest.raises(RenderError, match="EGL finds no driver"):
            Scene(ball())
    finally:
        why_not.cache_clear()


def test_geometry_needs_no_pyvista():
    code = (
        "import sys; sys.modules['pyvista'] = None; import mbframe as mb; "
        "print(len(mb.render.drawing(mb.examples.triple_pendulum())))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= 3


def test_without_pyvista_the_remedy_is_named():
    code = "import sys; sys.modules['pyvista'] = None; import mbframe as mb; mb.render.Scene(mb.System('s'))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 1
    assert "pip install 'mbframe[render]'" in run.stderr


def test_names_are_written_while_a_new_body_waits_to_be_drawn():
    system = mb.examples.four_bar()
    with mb.render.Scene(system, size=(80, 60)) as scene:
        system.add(mb.PlanarBody("late", mass=1.0, inertia=1.0))
        assert not any("late" in text for text, _ in scene.label_positions())


@pytest.mark.parametrize("where", [np.nan, np.inf, 1e200])
def test_bodies_that_fly_away_leave_the_rest_in_view(where: float):
    """A damaged result, or a run that diverged: the grid had no spacing, and nothing was drawn."""
    system = mb.examples.four_bar()
    described = {body.name: body.motion for body in system.bodies}
    bar = system.bodies[0]
    lost = {**described, bar.name: Motion(np.array([where, 0.0]), bar.motion.rotation, np.zeros(2), np.zeros(1))}
    with Scene(system, motion=[State(0.0, described, {}, 2), State(1.0, lost, {}, 2)]) as scene:
        known, seen = scene.spacing, scene.plotter.camera.position
    with Scene(system, motion=[State(0.0, described, {}, 2)]) as scene:
        assert scene.spacing == known
        np.testing.assert_array_equal(scene.plotter.camera.position, seen)
