"""The 3D view: what it shows of the document, how the mouse moves the camera, what it adds to the mechanism."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

import mbframe as mb
from gui.document.runs import Run
from gui.playing.playback import Player
from gui.view import drawing as view_drawing
from gui.view import navigation as nav
from gui.view.camera import TURN, ViewCamera
from gui.view.cube import ViewCube
from gui.view.menu import PRESETS, menu_for
from gui.view.view import View
from gui.widgets import theme
from mbframe.render.canvas import SAMPLES

pytestmark = pytest.mark.skipif(not mb.render.can_draw(), reason="nothing can be drawn here")

SLOWLY = ViewCamera._go


@pytest.fixture(scope="module")
def shared_canvas():
    """One canvas for all views: each would ask the driver for a context of its own."""
    canvas = mb.render.Canvas((480, 320))
    close, canvas.close = canvas.close, canvas.clear
    yield canvas
    close()


@pytest.fixture
def view(document, qtbot, shared_canvas, monkeypatch):
    monkeypatch.setattr(mb.render, "Canvas", lambda size: shared_canvas)
    monkeypatch.setattr(ViewCamera, "_go", lambda self, start, end: self.put(end))  # without a delay
    document.open_example("four_bar")
    view = View(document, Player(document))
    qtbot.addWidget(view)
    view.resize(480, 320)
    view.show()
    qtbot.waitExposed(view)
    view.prepare()
    yield view
    view.close_canvas()


def pose(view: View) -> nav.Pose:
    return nav.Pose.of(view.canvas.plotter.camera)


def place_of(view: View, point) -> QPoint:
    pixels, _ = view.canvas.project([point])
    return QPoint(round(pixels[0][0]), round(pixels[0][1]))


def drag(view: View, start: QPoint, end: QPoint, button, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    """A drag with the button held; qtbot's moves come without buttons."""
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent

    steps = [start + (end - start) * k / 4 for k in range(5)]
    kinds = [QEvent.Type.MouseButtonPress, *([QEvent.Type.MouseMove] * 4), QEvent.Type.MouseButtonRelease]
    for kind, place in zip(kinds, [*steps, end], strict=True):
        held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else button
        own = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else button
        event = QMouseEvent(kind, QPointF(place), view.mapToGlobal(QPointF(place)), own, held, modifier)
        QApplication.sendEvent(view, event)


# --- the document -----------------------------------------------------------------------------------------------------


def test_the_first_picture_is_painted(document, qtbot):
    document.open_example("slider_crank")
    view = View(document, Player(document))
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    assert view.message == "Preparing the view…"
    with qtbot.waitSignal(view.first_shown):
        view.prepare()
    assert view.message == ""
    assert view.cube.isVisible()
    image = view.grab().toImage()
    assert len({image.pixel(x, y) for x in range(0, 300, 3) for y in range(0, 200, 3)}) > 50
    view.close_canvas()


def test_states_move_the_bodies_and_nothing_is_built_anew(view, document):
    scene = view.scene
    moved = view.player.track.state(1.0)
    document.show(moved)
    assert view.scene is scene
    np.testing.assert_allclose(scene._poses.of("bar 1")[0], moved.motions["bar 1"].position)


def test_leaving_a_run_builds_nothing_anew(view, document):
    """It drew all of the scene again before a body could be pulled, which were the longest pauses of the window."""
    view.rebuild_now()
    scene, body = view.scene, document.system["bar 1"]
    view.player.seek(1.0)
    document.runs.choose(None)
    view.rebuild_now()
    assert view.scene is scene
    np.testing.assert_allclose(scene._poses.of("bar 1")[0][:2], body.position)


def test_edits_are_drawn_once_and_from_the_same_camera(view, document, monkeypatch):
    view.camera.orbit(40.0, 10.0)
    before, built = pose(view), []
    draw = view.canvas.draw_system
    monkeypatch.setattr(view.canvas, "draw_system", lambda *a, **k: (built.append(1), draw(*a, **k))[1])
    for x in (1.0, 1.1, 1.2):
        document.set(document.system["bar 2"], position=(x, -3.0))
    document.add(mb.PlanarBody("weight", mass=1.0, inertia=1.0, position=(2.0, -6.0)))
    QApplication.processEvents()
    assert len(built) == 1
    np.testing.assert_allclose(pose(view).position, before.position)
    assert "weight" in {part.element for part in mb.render.drawing(document.system)}


def test_parameters_that_are_not_seen_build_nothing(view, document, monkeypatch):
    monkeypatch.setattr(view.canvas, "draw_system", lambda *a, **k: pytest.fail("was drawn again"))
    document.set(document.system["spring"], stiffness=123.0)
    QApplication.processEvents()


def test_an_edit_shows_the_model_as_described(view, document):
    view.player.seek(2.0)
    document.set(document.system["bar 1"], position=(0.5, 0.5))
    view.rebuild_now()
    np.testing.assert_allclose(view.scene._poses.of("bar 1")[0][:2], (0.5, 0.5))
    view.player.seek(1.0)
    assert not np.allclose(view.scene._poses.of("bar 1")[0][:2], (0.5, 0.5))


def test_an_edit_that_is_undone_shows_the_instant_again(view, document):
    """The run belonged to the model again, and numbers told of its instant, but the picture was the described one."""
    view.player.seek(2.0)
    seen = view.scene._poses.of("bar 1")[0].copy()
    document.set(document.system["bar 1"], mass=7.0)
    view.rebuild_now()
    assert not np.allclose(view.scene._poses.of("bar 1")[0], seen)
    document.undo()
    view.rebuild_now()
    np.testing.assert_allclose(view.scene._poses.of("bar 1")[0], seen)


def test_a_run_of_other_bodies_is_shown_as_far_as_it_goes(view, document):
    document.add(mb.PlanarBody("weight", mass=1.0, inertia=1.0, position=(2.0, -6.0)))
    view.rebuild_now()
    view.player.seek(1.0)
    np.testing.assert_allclose(view.scene._poses.of("weight")[0], (2.0, -6.0, 0.0))
    document.remove(document.system["bar 3"])
    view.rebuild_now()
    view.player.seek(1.5)


def test_empty_models_say_so(view, document, qtbot):
    document.new(3)
    view.rebuild_now()
    assert "empty" in view.message
    view.grab()
    document.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    view.rebuild_now()
    assert view.message == ""


@pytest.mark.parametrize("name", ["bricard", "whipple_bicycle", "free_body", "car_suspension"])
def test_examples_in_space(view, document, name):
    document.open_example(name)
    view.rebuild_now()
    view.player.seek(0.5)
    view.grab()
    assert view.message == ""


def test_a_mesh_that_cannot_be_read_is_left_out(view, document, tmp_path):
    broken = tmp_path / "part.stl"
    broken.write_text("this is not a mesh")
    meshes = [mb.Mesh(path=str(broken)), mb.Mesh(path=str(tmp_path / "missing.stl"))]
    document.set(document.system["bar 1"], shapes=[mb.Box(size=(1.0, 1.0, 1.0)), *meshes])
    document.set(document.system["bar 2"], shapes=meshes)
    view.rebuild_now()
    view.grab()
    assert view.message == ""
    drawn = {piece.element for part in view.scene.parts for piece in getattr(part, "pieces", ())}
    assert {"bar 1", "bar 2"} <= drawn


def test_a_model_that_cannot_be_drawn_says_so(view, document, monkeypatch):
    def refuse(*_, **__):
        raise mb.ModelError("the shape has no surface")

    with monkeypatch.context() as patched:
        patched.setattr(view.canvas, "draw_system", refuse)
        document.set(document.system["bar 1"], mass=2.0)
        view.rebuild_now()
        view.grab()
        assert view.message == "The model cannot be drawn: the shape has no surface"
        document.select(document.system["bar 1"])
        view.player.seek(1.0)
    document.undo()
    view.rebuild_now()
    assert view.message == ""
    assert view.scene is not None


def test_without_opengl_the_view_says_so(document, qtbot, monkeypatch):
    def refuse(*_):
        raise mb.render.RenderError("there is no driver")

    monkeypatch.setattr(mb.render, "Canvas", refuse)
    view = View(document, Player(document))
    qtbot.addWidget(view)
    view.show()
    view.prepare()
    assert "not available" in view.message
    assert "there is no driver" in view.message
    document.open_example("four_bar")
    view.player.seek(1.0)
    view.camera.fit()
    view.camera.look("top")
    view.set_labels(True)
    view.set_trail("bar 2", True)
    view.set_arrows("velocity", True)
    view.follow("bar 1")
    assert view.camera.placement is None
    view.grab()
    view.picture()
    view.close_canvas()


def test_themes_reach_the_scene(view, qtbot):
    def brightness() -> int:
        view.rebuild_now()
        return view.grab().toImage().pixelColor(5, 5).lightness()

    bright = brightness()
    theme.apply("dark")
    try:
        assert brightness() < 60 < 180 < bright
    finally:
        theme.apply("light")


# --- selecting --------------------------------------------------------------------------------------------------------


def test_a_click_selects_and_beside_it_deselects(view, document, qtbot):
    view.camera.look("front")
    middle = mb.render.Poses.described(document.system).of("bar 2")[0]
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place_of(view, middle + np.array([0.0, 0.0, 0.2])))
    assert document.selection is document.system["bar 2"]
    assert view.scene._selected == "bar 2"
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert document.selection is None
    assert view.scene._selected is None


def test_what_the_document_selects_is_highlighted(view, document):
    document.select(document.system["spring"])
    assert view.scene._selected == "spring"
    document.select(document.system)
    assert view.scene._selected is None
    document.select(document.system["bar 1"])
    view._rebuild()
    assert view.scene._selected == "bar 1"


def test_the_floor_does_not_sink_under_what_is_put_on_it(view, document):
    """Each body that was put on the floor hung above the next one."""
    system = mb.System("boxes")
    system.add(mb.RigidBody("first", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=[mb.Box(size=(0.2, 0.2, 0.2))]))
    document.open_system(system)
    view.rebuild_now()
    before = float(view.scene.floor.point[2])
    assert before < -0.1
    for k in range(3):
        box, place = mb.Box(size=(0.1, 0.1, 0.1)), (0.3 * k + 0.3, 0.0, before + 0.05)
        document.add(mb.RigidBody(f"on it {k}", mass=1.0, inertia=(1.0, 1.0, 1.0), position=place, shapes=[box]))
        view.rebuild_now()
        assert view.scene.floor.point[2] == before
    document.add(mb.RigidBody("below", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, before - 0.5)))
    view.rebuild_now()
    assert view.scene.floor.point[2] < before - 0.5
    document.open_system(mb.examples.heavy_top())
    view.rebuild_now()
    assert view.scene.floor.point[2] != before


def test_the_top_of_the_cube_is_read_upright(view):
    """What lies behind in the front view is above in the view from the top, as in the preset view."""
    for zone, name in (((0, 0, 1), "top"), ((0, 0, -1), "bottom")):
        view.camera.look(name)
        preset = pose(view).frame
        view.camera.look("front")
        view.camera.look_from(zone)
        view.camera._turning and view.camera._turning.setCurrentTime(10_000)
        np.testing.assert_allclose(pose(view).frame, preset, atol=1e-9)


# --- the camera -------------------------------------------------------------------------------------------------------


def test_dragging_orbits_without_selecting(view, document):
    view.camera.look("front")
    before = pose(view)
    drag(view, QPoint(200, 150), QPoint(260, 150), Qt.MouseButton.LeftButton)
    after = pose(view)
    assert document.selection is None
    assert after.distance == pytest.approx(before.distance)
    turned = np.degrees(np.arccos(after.towards @ before.towards))
    assert turned == pytest.approx(60.0 * nav.ORBIT, abs=1e-6)


@pytest.mark.parametrize(
    ("button", "modifier"),
    [
        (Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier),
        (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier),
        (Qt.MouseButton.MiddleButton, Qt.KeyboardModifier.ShiftModifier),
    ],
)
def test_dragging_pans(view, button, modifier):
    view.camera.look("front")
    point = pose(view).focus
    before = place_of(view, point)
    drag(view, QPoint(200, 150), QPoint(230, 165), button, modifier)
    moved = place_of(view, point) - before
    assert abs(moved.x() - 30) <= 1
    assert abs(moved.y() - 15) <= 1


def test_the_wheel_zooms_to_the_cursor(view):
    view.camera.look("front")
    place = QPointF(120.0, 80.0)
    origin, direction = view.canvas.ray(place.x(), place.y())
    target = origin + direction * (pose(view).distance / -(direction @ pose(view).towards))
    before = pose(view).distance
    no = Qt.MouseButton.NoButton
    event = QWheelEvent(
        place,
        view.mapToGlobal(place),
        QPoint(),
        QPoint(0, 240),
        no,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)
    assert pose(view).distance == pytest.approx(before * 0.85**2)
    pixels, _ = view.canvas.project([target])
    np.testing.assert_allclose(pixels[0], (120.0, 80.0), atol=1.0)


@pytest.mark.parametrize("name", PRESETS)
def test_preset_views_bring_all_of_it_into_view(view, name):
    view.camera.look(name)
    QApplication.processEvents()
    view.camera.fit()
    poses = mb.render.Poses.described(view.document.system)
    corners = np.array([poses.of(body.name)[0] for body in view.document.system.bodies])
    pixels, depth = view.canvas.project(corners)
    assert (depth > 0.0).all()
    assert (pixels > 0.0).all()
    assert (pixels < (view.width(), view.height())).all()


def test_models_in_space_are_drawn_without_perspective_if_asked(view, document):
    """Only models in the plane were; what is looked at keeps its size, and the next picture its projection."""
    document.open_example("bricard")
    view.rebuild_now()
    assert not view.parallel
    middle = np.array(view.canvas.plotter.camera.focal_point)
    aside = middle + 0.1 * view.camera.pose.frame[:, 0]
    before = view.canvas.project([middle, aside])[0]
    view.set_parallel(True)
    assert view.canvas.plotter.camera.parallel_projection
    np.testing.assert_allclose(view.canvas.project([middle, aside])[0], before, atol=1e-6)
    view.set_shadows(False)
    view.rebuild_now()
    assert view.canvas.plotter.camera.parallel_projection
    document.open_example("rolling_disk")
    assert not view.parallel
    document.open_example("four_bar")
    assert view.parallel


def test_fitting_keeps_the_direction(view):
    view.camera.orbit(70.0, -20.0)
    before = pose(view).towards
    view.camera.move(pose(view).moved((100.0, 0.0, 0.0)))
    view.camera.fit()
    np.testing.assert_allclose(pose(view).towards, before, atol=1e-9)
    assert np.linalg.norm(pose(view).focus) < 20.0


def test_a_fitted_view_stays_so_when_it_is_resized(view, qtbot):
    view.camera.fit()
    distance = pose(view).distance
    view.resize(240, 320)
    qtbot.wait(10)
    assert pose(view).distance > 1.3 * distance
    view.camera.orbit(5.0, 0.0)
    moved = pose(view)
    view.resize(480, 320)
    qtbot.wait(10)
    np.testing.assert_allclose(pose(view).position, moved.position)


def test_preset_views_turn_smoothly(view, qtbot, monkeypatch):
    monkeypatch.setattr(ViewCamera, "_go", SLOWLY)
    monkeypatch.setattr(view_drawing, "SLOW", 1e9)
    view.camera.look("front")
    qtbot.waitUntil(lambda: pose(view).towards @ np.array([0.0, 0.0, 1.0]) > 0.999999)
    view.camera.look("right")
    assert pose(view).towards @ np.array([0.0, 0.0, 1.0]) > 0.9  # it has only begun
    qtbot.waitUntil(lambda: pose(view).towards @ np.array([1.0, 0.0, 0.0]) > 0.999999)


def test_moving_by_hand_ends_a_turn(view, qtbot, monkeypatch):
    monkeypatch.setattr(ViewCamera, "_go", SLOWLY)
    monkeypatch.setattr(view_drawing, "SLOW", 1e9)
    view.camera.look("right")
    view.camera.zoom(2.0, 240.0, 160.0)
    there = pose(view)
    qtbot.wait(2 * TURN)
    np.testing.assert_allclose(pose(view).position, there.position)


def test_the_camera_is_given_as_exports_take_it(view):
    position, focus, up = view.camera.placement
    np.testing.assert_allclose(position, pose(view).position)
    assert len(focus) == len(up) == 3


def test_a_double_click_makes_its_point_the_middle(view, qtbot):
    view.camera.look("front")
    at = mb.render.Poses.described(view.document.system).of("bar 3")[0] + np.array([0.0, 0.0, 0.2])
    qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=place_of(view, at))
    np.testing.assert_allclose(pose(view).focus[:2], at[:2], atol=0.1)


# --- what is added ----------------------------------------------------------------------------------------------------


def test_trails_grow_with_the_motion(view, document):
    view.set_trail("bar 2", True)
    view.player.seek(1.0)
    short = view.scene._trails["bar 2"].GetMapper().GetInput().GetNumberOfPoints()
    view.player.seek(2.0)
    long = view.scene._trails["bar 2"].GetMapper().GetInput().GetNumberOfPoints()
    assert long > short > 40
    view.set_trail("bar 2", False)
    assert "bar 2" not in view.scene._trails
    assert "bar 2" not in view.trails


def test_trails_of_removed_bodies_are_forgotten(view, document):
    view.set_trail("bar 2", True)
    view.follow("bar 2")
    document.remove(document.system["bar 2"])
    view.rebuild_now()
    assert "bar 2" not in view.trails
    assert view.followed is None


def test_arrows_show_the_velocities_of_the_state(view, document):
    view.set_arrows("velocity", True)
    view.player.seek(0.7)
    shown = [actor for actor in view.scene._arrows["velocity"] if actor.actor.GetVisibility()]
    assert len(shown) == 3
    view.set_arrows("velocity", False)
    assert not any(actor.actor.GetVisibility() for actor in view.scene._arrows["velocity"])
    with pytest.raises(ValueError, match="known are velocity, force, reaction"):
        view.set_arrows("speed", True)


def test_reactions_come_from_the_solver_process(document, solver, qtbot):
    document.open_example("four_bar")
    view = View(document, Player(document), solver)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    view.prepare()
    view.player.seek(1.0)
    view.set_arrows("reaction", True)
    qtbot.waitUntil(lambda: "reaction" in view.arrows._vectors)
    vectors = view.arrows._vectors["reaction"]
    assert vectors.names == ["A", "B", "C", "D"]
    shown = [actor for actor in view.scene._arrows["reaction"] if actor.actor.GetVisibility()]
    assert len(shown) == 4
    view.close_canvas()


def test_following_moves_the_camera_with_the_body(view, document):
    view.follow("bar 1")
    view.player.seek(0.0)
    before = pose(view)
    start = view.player.track.state(0.0).position("bar 1")
    view.player.seek(1.0)
    moved = view.player.track.state(1.0).position("bar 1") - start
    np.testing.assert_allclose((pose(view).position - before.position)[:2], moved, atol=1e-9)


def test_labels_are_painted(view):
    plain = view.grab().toImage()
    view.set_labels(True)
    assert view.grab().toImage() != plain
    names = {name for text, _ in view.scene.label_positions() for name in text.split(", ")}
    assert {"bar 1", "A", "spring"} <= names


def test_the_context_menu_of_a_body(view, document):
    menu = menu_for(view, document.system["bar 1"])
    texts = {action.text(): action for action in menu.actions()}
    texts["Draw its path"].setChecked(True)
    assert "bar 1" in view.trails
    texts["Follow with the camera"].setChecked(True)
    assert view.followed == "bar 1"
    assert "Fit all" in {action.text() for action in menu_for(view, None).actions()}


def rolling(t_end: float) -> mb.Result:
    """A body that moves along x with 1 m/s."""
    system = mb.System("rolling", gravity=(0.0, 0.0, 0.0))
    shape = mb.Box(size=(0.2, 0.2, 0.2))
    system.add(mb.RigidBody("box", mass=1.0, inertia=(1.0, 1.0, 1.0), velocity=(1.0, 0.0, 0.0), shapes=[shape]))
    return mb.simulate(system, t_end, t_eval=np.linspace(0.0, t_end, 11))


@pytest.mark.parametrize(("touched", "held"), [(False, False), (True, False), (False, True)])
def test_a_motion_that_leaves_the_picture_is_brought_into_view(view, document, touched, held):
    result = rolling(10.0)
    document.open_system(result.system)
    view.rebuild_now()
    if touched:
        view.camera.orbit(10.0, 5.0)
    if held:  # as while bodies are placed
        view.camera.hold()
    before = view.camera.placement
    run = Run("Run 1", result=result, computing=True)
    document.runs.add(run)
    assert view.camera.placement == before  # as long as it grows the camera stands still
    run.computing = False
    document.runs.report_change(run)
    view.rebuild_now()
    assert (view.camera.placement == before) is touched
    if not touched:
        x = view.canvas.project([(t, 0.0, 0.0) for t in (0.0, 5.0, 10.0)])[0][:, 0]
        assert ((x > 0.0) & (x < view.canvas.size[0])).all()


def test_a_motion_that_stays_in_the_picture_leaves_the_camera_alone(view, document):
    before = view.camera.placement
    document.runs.add(Run("Run 1", result=mb.simulate(document.system, 0.5, t_eval=np.linspace(0.0, 0.5, 11))))
    view.rebuild_now()
    assert view.camera.placement == before


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_picture_is_drawn_however_late_frames_come(view, qtbot, monkeypatch):
    """Each frame that came before the picture put it off: on a busy machine the old one stayed while time went on."""
    drawn: list[int] = []
    monkeypatch.setattr(view.drawing, "draw_if_changed", lambda: drawn.append(1))
    frames = QTimer(interval=1, timerType=Qt.TimerType.PreciseTimer)
    frames.timeout.connect(lambda: (time.sleep(0.005), came.append(1), view.drawing.changed()))
    came: list[int] = []
    frames.start()
    qtbot.waitUntil(lambda: len(came) >= 40)
    frames.stop()
    assert len(drawn) > 10


def test_slow_machines_get_fewer_pixels_while_it_moves(view, document):
    view.drawing.frame_time = 1.0
    document.animation_owner = object()
    view.drawing.changed()
    view.grab()
    assert view.canvas.size[0] == round(view_drawing.COARSE * 480)
    document.animation_owner = None
    view.drawing._best.draw()
    assert view.canvas.size[0] == 480


def test_a_machine_that_was_busy_gets_all_pixels_again_while_it_moves(view, document, monkeypatch):
    """The time of a full picture was only learnt at rest: whatever began coarse was played coarse to its end."""
    now = [0.0]
    monkeypatch.setattr(view_drawing.time, "perf_counter", lambda: now.__setitem__(0, now[0] + 0.004) or now[0])
    view.drawing.frame_time = 1.0
    document.animation_owner = object()
    widths = []
    for _ in range(8):
        view.drawing.changed()
        view.grab()
        widths.append(view.canvas.size[0])
    assert widths[0] == round(view_drawing.COARSE * 480)
    assert widths[-1] == 480


def test_graphics_cards_draw_all_pixels_smoothly_while_it_moves(view, document, monkeypatch):
    """However long a picture takes: what is drawn by software gets fewer pixels then, see above."""
    monkeypatch.setattr(view.canvas, "_in_hardware", True)
    view.drawing.frame_time = 0.0  # as before the first picture, after which the canvas is asked what draws
    view.drawing.changed()
    view.grab()
    assert view.canvas.plotter.render_window.GetMultiSamples() == 8
    view.drawing.frame_time = 1.0
    for moving in (object(), None):
        document.animation_owner = moving
        view.drawing.changed()
        view.grab()
        assert view.canvas.size == view.drawing.pixel_size()
        assert view.drawing.image.width() == 480


def test_the_picture_becomes_smooth_piece_by_piece(view, qtbot, monkeypatch):
    view.drawing.changed()
    view.grab()
    view.drawing.frame_time = 0.001  # whatever it took on a busy machine
    plain, drawn, image = view.drawing.image, [], view.canvas.image
    monkeypatch.setattr(view.canvas, "image", lambda: drawn.append(view.drawing.image) or image())
    view.drawing._best.draw()
    assert not drawn  # the event loop goes on in between
    qtbot.waitUntil(lambda: view.drawing.image is not plain)
    assert drawn == [plain] * len(SAMPLES)
    assert len(set(_colours(view.drawing.image))) > len(set(_colours(plain)))


def test_a_change_ends_the_smoothing(view, qtbot, monkeypatch):
    view.drawing.changed()
    view.grab()
    view.drawing.frame_time = 0.001  # whatever it took on a busy machine
    drawn, image = [], view.canvas.image
    monkeypatch.setattr(view.canvas, "image", lambda: drawn.append(True) or image())
    plain = view.drawing.image
    view.drawing._best.draw()
    view.drawing._best._turns._go_on()
    view.drawing._best._turns._go_on()
    view.drawing._best.later()
    qtbot.waitUntil(lambda: view.drawing.image is not plain)
    assert len(drawn) == 2 + len(SAMPLES)  # all of them anew


def _colours(image):
    return memoryview(image.constBits()).cast("I").tolist()


def test_a_picture_has_the_size_of_the_view(view):
    picture = view.picture()
    assert picture.size() == view.size() * view.devicePixelRatioF()


def test_playing_many_bodies_only_moves_matrices(view, document, monkeypatch):
    """Surfaces, mappers and actors stay as they are; each actor gets one other matrix, and nothing is drawn at once."""
    document.open_system(mb.examples.n_four_bar(n=10))
    view.rebuild_now()
    monkeypatch.setattr(view, "update", lambda: None)
    start = mb.assemble(document.system)
    document.show(start)
    scene, actors = view.scene, list(view.scene._actors)
    data = [actor.mapper.GetInput() for actor in actors]
    built, drawn = [surface.GetMTime() for surface in data], []
    places = [actor.actor.GetUserMatrix().GetElement(0, 3) for actor in actors]
    monkeypatch.setattr(view.drawing, "_draw", lambda *arguments: drawn.append(arguments))
    state = mb.simulate(document.system, 0.2, dt=0.01).state(-1)
    document.show(state)
    assert view.scene is scene
    assert all(a is b for a, b in zip(scene._actors, actors, strict=True))
    assert [actor.mapper.GetInput().GetMTime() for actor in actors] == built
    assert drawn == []
    moved = [actor.actor.GetUserMatrix().GetElement(0, 3) for actor in actors]
    assert np.count_nonzero(np.abs(np.subtract(moved, places)) > 1e-6) >= 20  # each of the bars


# --- the cube ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def cube(qtbot) -> ViewCube:
    cube = ViewCube()
    qtbot.addWidget(cube)
    cube.show()
    return cube


def test_clicks_on_the_cube_choose_faces_edges_and_corners(cube, qtbot):
    frame = nav.Pose(np.array([2.0, -3.0, 2.0]), np.zeros(3), np.array([0.0, 0.0, 1.0])).frame
    front = np.column_stack([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    cube.turn(frame, front)
    for zone in ((0, 1, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (0, 1, 1), (1, 1, 1)):
        with qtbot.waitSignal(cube.chosen) as caught:
            qtbot.mouseClick(cube, Qt.MouseButton.LeftButton, pos=cube.center_of(zone).toPoint())
        assert caught.args == [zone]
    assert cube.zone_at(QPointF(1.0, 1.0)) is None
    cube.grab()


def test_a_face_of_the_cube_shows_that_side(view):
    for zone, direction in (((1, 0, 0), (1, 0, 0)), ((0, 0, 1), (0, 1, 0)), ((0, 1, 0), (0, 0, 1))):
        view.cube.chosen.emit(zone)
        np.testing.assert_allclose(pose(view).towards, direction, atol=1e-9)  # y is up in the plane


# --- the camera's geometry --------------------------------------------------------------------------------------------

HOME = nav.Pose(np.array([3.0, -4.0, 2.0]), np.array([0.5, 0.2, 0.1]), np.array([0.0, 0.0, 1.0]))


def test_orbiting_keeps_distance_and_horizon():
    turned = nav.orbited(HOME, 33.0, -21.0, (0.0, 0.0, 1.0))
    assert turned.distance == pytest.approx(HOME.distance)
    assert turned.frame[2, 0] == pytest.approx(0.0, abs=1e-12)  # to the right is level
    np.testing.assert_allclose(turned.focus, HOME.focus)


def test_orbiting_stops_before_the_pole():
    pose = HOME
    for _ in range(50):
        pose = nav.orbited(pose, 0.0, 40.0, (0.0, 0.0, 1.0))
    assert np.degrees(np.arcsin(pose.towards[2])) == pytest.approx(nav.STEEPEST, abs=1e-6)
    assert np.isfinite(pose.frame).all()


def test_orbiting_from_straight_above_gets_upright_again():
    above = nav.Pose(np.array([0.0, 0.0, 5.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]))
    tilted = nav.orbited(above, 0.0, -40.0, (0.0, 0.0, 1.0))
    assert tilted.frame[2, 1] > 0.0


def test_zooming_has_bounds():
    pose = HOME
    for _ in range(200):
        pose = nav.zoomed(pose, 0.5, 10.0, 10.0, (100, 100), 1.0)
    assert pose.distance == pytest.approx(nav.NEAREST)
    for _ in range(200):
        pose = nav.zoomed(pose, 2.0, 10.0, 10.0, (100, 100), 1.0)
    assert pose.distance == pytest.approx(nav.FARTHEST)


def test_the_way_between_two_poses():
    end = nav.looking(HOME, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    for share, expected in ((0.0, HOME), (1.0, end)):
        between = nav.between(HOME, end, share)
        np.testing.assert_allclose(between.position, expected.position, atol=1e-9)
        np.testing.assert_allclose(between.frame, expected.frame, atol=1e-9)
    middle = nav.between(HOME, end, 0.5)
    assert middle.distance == pytest.approx(HOME.distance)
    back = nav.Pose(2.0 * HOME.focus - HOME.position, HOME.focus, HOME.up)
    assert np.isfinite(nav.between(HOME, back, 0.5).position).all()
