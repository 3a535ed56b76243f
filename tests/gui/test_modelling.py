"""Building models by hand: catalogue and defaults, snapping, masses, and a slider-crank from nothing with the mouse."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QCursor, QHelpEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QToolButton

import mbframe as mb
from gui.modelling import bodies, catalogue
from gui.modelling import placing as placing_module
from gui.modelling.snapping import END, candidates, grid_step, on_grid
from gui.view.menu import menu_for
from mbframe.proposals import Scale, rounded
from mbframe.registry import built_in

from .builder import Builder, slider_crank
from .modelling_window import opened, window  # noqa: F401

# ---- Catalogue ------------------------------------------------------------------------------------------------------


def playground(dimension: int) -> tuple[mb.System, dict]:
    """A system with two bodies, joints and a measure to refer to, and what the user would pick."""
    system = mb.System("playground", dimension=dimension)
    vector = lambda *x: x[:dimension]  # noqa: E731
    if dimension == 3:
        one = system.add(mb.RigidBody("one", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=[mb.Sphere(radius=0.2)]))
        two = system.add(mb.RigidBody("two", mass=2.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0)))
    else:
        one = system.add(mb.PlanarBody("one", mass=1.0, inertia=1.0))
        two = system.add(mb.PlanarBody("two", mass=2.0, inertia=1.0, position=(1.0, 0.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, one, at=vector(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    other = system.add(mb.RevoluteJoint("other", one, two, at=vector(0.5, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    slide = system.add(
        mb.TranslationalJoint("slide", system.ground, two, at=vector(1.0, 0.0, 0.0), axis=vector(1.0, 0.0, 0.0))
    )
    length = system.add(mb.Distance("length", one, two))
    return system, {"one": one, "two": two, "hinge": hinge, "other": other, "slide": slide, "length": length}


def picks(kind: catalogue.Kind, there: dict) -> dict:
    picked = {}
    for pick in kind.picks:
        picked |= {
            "first body": {"body_i": there["one"]},
            "second body": {"body_j": there["two"]},
            "body": {"body_j": there["two"]},
            "point": {"at": np.array([0.5, 0.0, 0.0])},
            "first point": {"body_i": there["one"], "at_i": np.zeros(3)},
            "second point": {"body_j": there["two"], "at_j": np.array([1.0, 0.0, 0.0])},
            "joint": {"joint": there["hinge"]},
            "first joint": {"first": there["hinge"]},
            "second joint": {"second": there["slide"] if "Rack" in kind.name else there["other"]},
            "measure": {"measure": there["length"]},
        }[pick]
    return picked


KINDS = list(catalogue.kinds())


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_class_is_made_from_what_is_picked(kind, dimension):
    if not kind.fits(dimension):
        pytest.skip("has no meaning in the plane")
    system, there = playground(dimension)
    axis = (0.0, 1.0, 0.0)
    references, values = catalogue.called(kind, picks(kind, there), Scale.of(system), axis)
    added = system.add(kind.cls("new", *references, **values))
    assert added in system
    assert mb.to_python(system)


def test_the_catalogue_has_every_exported_class_that_connects_bodies():
    found = {kind.name for kind in KINDS}
    for base in (mb.Joint, mb.ForceElement, mb.Measure):
        assert found >= set(built_in(base))


def test_a_spring_begins_without_tension_and_sizes_follow_the_model():
    system, there = playground(3)
    kind = next(kind for kind in KINDS if kind.name == "SpringDamper")
    _, values = catalogue.called(kind, picks(kind, there), Scale.of(system))
    assert "free_length" not in values  # the length as described
    large = kind.cls.proposed(Scale(10.0, 30.0), picks(kind, there))
    assert large["stiffness"] == pytest.approx(300.0)  # ten weights of 30 kg over 10 m, to one digit


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0.0), (0.0867, 0.09), (1234.0, 1000.0), (-0.25, -0.2)])
def test_defaults_have_one_digit(value, expected):
    assert rounded(value) == expected


# ---- Snapping -------------------------------------------------------------------------------------------------------


def test_a_box_offers_corners_faces_and_edges():
    shape = mb.Box(size=(2.0, 4.0, 6.0), position=(1.0, 0.0, 0.0))
    found = list(shape.features())
    corners = {tuple(point) for point, label, _ in found if label == "corner"}
    assert corners == {(x, y, z) for x in (0.0, 2.0) for y in (-2.0, 2.0) for z in (-3.0, 3.0)}
    faces = {tuple(point): axis for point, label, axis in found if label == "centre of a face"}
    assert len(faces) == 6
    assert np.allclose(faces[(1.0, 2.0, 0.0)], (0.0, 1.0, 0.0))
    assert sum(label == "middle of an edge" for _, label, _ in found) == 12


def test_points_turn_with_their_body_and_markers_come_first():
    system = mb.System("turned")
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rod = mb.RigidBody("rod", mass=1.0, inertia=(1, 1, 1), position=(1.0, 1.0, 0.0), rotation=quarter)
    rod.shapes = [mb.Cylinder(radius=0.1, length=2.0, rotation=[[0, 0, 1], [1, 0, 0], [0, 1, 0]])]
    system.add(rod)
    system.add(mb.SphericalJoint("ball", system.ground, rod, at=(1.0, 0.0, 0.0)))
    found = {(snap.body, tuple(np.round(snap.point, 9))): snap for snap in candidates(system)}
    assert found["rod", (1.0, 0.0, 0.0)].label == "point of ball"
    end = found["rod", (1.0, 2.0, 0.0)]
    assert end.label == END
    assert np.allclose(np.abs(end.axis), (0.0, 1.0, 0.0))
    assert found["ground", (0.0, 0.0, 0.0)].label == "origin"


def test_the_grid_is_round_and_keeps_the_plane():
    assert grid_step(0.001) == pytest.approx(0.02)
    assert grid_step(0.0004) == pytest.approx(0.005)
    point = on_grid(np.array([0.1234, 0.777, 5.4321]), np.array([0.0, 0.0, 1.0]), 0.05)
    assert point == pytest.approx([0.1, 0.8, 5.4321])


# ---- Bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("preset", bodies.PRESETS[:5], ids=lambda preset: preset.name)
def test_every_preset_makes_a_body(preset, dimension):
    system = mb.System("new", dimension=dimension)
    points = [np.zeros(3), np.array([0.3, 0.4, 0.0])][: len(preset.steps)]
    body = system.add(
        bodies.made(preset, preset.name, points, system, bodies.Stock("Steel"), np.array([0.0, 0.0, 1.0]))
    )
    assert body.mass > 0.0
    if preset.name == "link":
        assert body.mass == pytest.approx(7850.0 * 0.5 * 0.04**2)
        state = mb.State(0.0, {body.name: body.motion}, {}, dimension)
        end = state.position(body, (0.25, 0.0, 0.0)[:dimension])
        assert end == pytest.approx(points[1][:dimension])


def test_a_link_without_length_is_refused():
    system = mb.System("new")
    with pytest.raises(mb.ModelError, match="same place"):
        bodies.made(bodies.PRESETS[0], "link", [np.zeros(3)] * 2, system, bodies.Stock(), np.array([0.0, 0.0, 1.0]))


# ---- In the window --------------------------------------------------------------------------------------------------


def new_model(window, qtbot, dimension: int) -> Builder:  # noqa: F811
    window.files.new(dimension)
    qtbot.waitUntil(lambda: window.view.scene is not None)
    window.hint.hide()
    return Builder(window)


def test_bodies_are_placed_where_one_looks(window, qtbot):  # noqa: F811
    builder = new_model(window, qtbot, 2)
    window.view.rebuild_now()
    before = window.view.camera.pose
    builder.link((0.0, 0.0), (0.2, 0.2))
    builder.link((0.2, 0.2), (0.6, 0.0))
    window.view.rebuild_now()
    assert np.allclose(window.view.camera.pose.position, before.position)
    assert np.allclose(window.view.camera.pose.focus, before.focus)


def test_a_tool_waits_for_the_picture_or_says_that_there_is_none(window, qtbot, monkeypatch):  # noqa: F811
    """Who is quick presses a key before the picture is there: that was an exception."""
    new_model(window, qtbot, 2)
    tools = (
        lambda: window.modelling.add_body(bodies.PRESETS[0]),
        lambda: window.modelling.add(window.modelling.kinds["RevoluteJoint"]),
        lambda: window.modelling.set_pull(True),
    )
    for tool in tools:
        window.view.close_canvas()
        tool()
        assert window.view.canvas is not None
        window.modelling.cancel()
    window.modelling.set_pull(False)
    window.view.close_canvas()
    monkeypatch.setattr(window.view.drawing, "open", lambda: 1 / 0)
    for tool in tools:
        tool()
        assert not window.modelling.placing.active
        assert not window.modelling.pull.on
        assert "not available" in window.document.messages[-1].text


def test_quick_clicks_in_one_place_are_all_taken(window, qtbot):  # noqa: F811
    """The end of a link and the begin of the next: the second click comes as that of a double click."""
    builder = new_model(window, qtbot, 2)
    builder.link((0.0, 0.0), (0.2, 0.2))
    builder.start("link")
    place, none = builder.spot((0.2, 0.2)), Qt.KeyboardModifier.NoModifier
    pose = window.view.camera.pose
    press, release = QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease
    for kind, buttons in ((press, Qt.MouseButton.LeftButton), (release, Qt.MouseButton.NoButton)):
        where = window.view.mapToGlobal(place).toPointF()
        event = QMouseEvent(kind, place.toPointF(), where, Qt.MouseButton.LeftButton, buttons, none)
        QApplication.sendEvent(window.view, event)
    builder.click((0.6, 0.0))
    assert builder.last().name == "link 2"
    assert np.allclose(window.view.camera.pose.focus, pose.focus)


def test_a_slider_crank_from_nothing_and_back(window, qtbot):  # noqa: F811
    builder = new_model(window, qtbot, 2)
    document = window.document
    empty = document.model_text()
    slider_crank(builder)
    system = document.system
    assert [body.name for body in system.bodies] == ["link", "link 2", "box"]
    assert np.allclose(system["revolute joint"].at, (0.0, 0.0))
    assert {type(joint).__name__ for joint in system.joints} == {"RevoluteJoint", "TranslationalJoint"}
    assert mb.degrees_of_freedom(system).count == 1
    crank = system["link"]
    assert np.allclose(crank.position, (0.1, 0.1), atol=1e-9)
    built = document.model_text()
    steps = document.undo_stack.count()
    while document.undo_stack.canUndo():
        document.undo()
    assert document.model_text() == empty
    while document.undo_stack.canRedo():
        document.redo()
    assert document.model_text() == built
    assert document.undo_stack.count() == steps == 7
    document.runs.settings = document.runs.settings.changed(t_end=0.2)
    window.run()
    qtbot.waitUntil(lambda: bool(document.runs) and document.runs[-1].complete)
    result = document.runs[-1].result
    box = result.position("box")
    assert np.allclose(box[:, 1], 0.0, atol=1e-6)  # it slides along x


def test_escape_cancels_and_the_bar_leads(window, qtbot):  # noqa: F811
    builder = new_model(window, qtbot, 3)
    guide, placing = window.modelling.guide, window.modelling.placing
    assert not window.actions_["add_RevoluteJoint"].isEnabled()
    window.actions_["add_link"].trigger()
    assert guide.isVisible()
    assert "one end" in guide.text.text()
    builder.click((0.0, 0.0, 0.0))
    assert placing.points
    window.actions_["deselect"].trigger()
    assert not placing.active
    assert not guide.isVisible()
    assert window.document.undo_stack.count() == 0


def take(window, element) -> None:  # noqa: F811
    """Select an element while something is placed; it is taken in the next turn of the event loop."""
    window.document.select(element)
    QApplication.processEvents()


def test_freedoms_are_shown_before_a_joint_is_added(window, qtbot):  # noqa: F811
    opened(window, "simple_pendulum", qtbot)
    builder = Builder(window)
    guide, placing = window.modelling.guide, window.modelling.placing
    builder.start("FixedJoint")
    take(window, window.document.system.ground)  # bodies can be taken in the tree
    take(window, window.document.system["mass"])
    assert placing.pick == "point"
    builder.click((-1.0, 0.0))
    qtbot.waitUntil(lambda: not placing.active or "remaining" in guide.fact.text())
    if placing.active:
        placing.finish()
    assert isinstance(window.document.selection, mb.FixedJoint)


def test_a_wrong_pick_is_explained(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    placing, document = window.modelling.placing, window.document
    window.actions_["add_RevoluteJoint"].trigger()
    take(window, document.system["bar 1"])
    take(window, None)
    take(window, document.system["bar 1"])
    assert placing.pick == "second body"
    assert "already" in window.modelling.guide.fact.text()
    placing.cancel()
    window.actions_["add_Driver"].trigger()
    take(window, document.system["spring"])
    assert placing.active
    take(window, document.system["A"])
    assert isinstance(document.selection, mb.Driver)
    assert document.selection.angle(1.5) == 3.0


def test_what_a_click_would_take_is_named(window, qtbot, monkeypatch):  # noqa: F811
    """Over bodies, over joints where joints are picked, and over nothing that would be refused."""
    opened(window, "four_bar", qtbot)
    window.view.camera.look("front")
    told: list[str] = []
    monkeypatch.setattr(placing_module, "paint_label", lambda painter, place, text: told.append(text))
    builder, system = Builder(window), window.document.system

    def named(point) -> list[str]:
        told.clear()
        QTest.mouseMove(window.view, builder.spot(point))
        window.view.repaint()
        return told[-1:]

    middle, pin = system["bar 2"].position, system["B"].at
    builder.start("RevoluteJoint")
    assert named(middle) == ["bar 2"]
    window.modelling.cancel()
    builder.start("Driver")
    assert named(pin) == ["B"]
    assert named(middle) == []


def test_the_mouse_rests_on_an_element_and_its_name_is_told(window, qtbot, monkeypatch):  # noqa: F811
    opened(window, "four_bar", qtbot)
    window.view.camera.look("front")
    builder, system = Builder(window), window.document.system
    told: list[str] = []
    monkeypatch.setattr("gui.view.view.QToolTip", SimpleNamespace(showText=lambda place, text, over: told.append(text)))

    def tip(place) -> str:
        QApplication.sendEvent(window.view, QHelpEvent(QEvent.Type.ToolTip, place, window.view.mapToGlobal(place)))
        return told[-1]

    middle = builder.spot(system["bar 2"].position)
    assert tip(middle) == "bar 2"
    builder.start("RevoluteJoint")  # says it beside the mouse
    assert tip(middle) == ""


def test_the_button_of_a_menu_is_not_marked_after_it(window, qtbot):  # noqa: F811
    """A choice in a submenu takes the mouse away without telling the button, which stayed marked."""
    button = window.findChild(QToolButton, "toolbar_add")
    QCursor.setPos(window.mapToGlobal(window.rect().center()))
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    button.menu().aboutToHide.emit()
    qtbot.waitUntil(lambda: not button.testAttribute(Qt.WidgetAttribute.WA_UnderMouse))


def test_deleting_asks_when_more_goes_along(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    document = window.document
    before = document.model_text()
    document.select(document.system["bar 1"])
    shown = []

    def answer(button) -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(50, lambda: answer(button))
            return
        shown.append(box.informativeText())
        box.button(button).click()

    QTimer.singleShot(50, lambda: answer(QMessageBox.StandardButton.Cancel))
    window.actions_["delete"].trigger()
    assert document.model_text() == before
    assert all(name in shown[0] for name in ("A", "B", "spring"))
    QTimer.singleShot(50, lambda: answer(QMessageBox.StandardButton.Ok))
    window.actions_["delete"].trigger()
    assert "bar 1" not in document.system
    document.undo()
    assert document.model_text() == before


def test_hide_isolate_and_colour(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    document, view, modelling = window.document, window.view, window.modelling
    document.select(document.system["bar 2"])
    window.actions_["hide"].trigger()
    view.rebuild_now()
    assert view.hidden == {"bar 2"}
    tree = window.panels["model"]
    item = next(one for one in tree._items.values() if one.text(0) == "bar 2")
    assert "hidden" in item.toolTip(0)  # in the tree one sees what one does not see
    window.actions_["show_all"].trigger()
    assert "hidden" not in item.toolTip(0)
    document.select(document.system["bar 1"])
    window.actions_["isolate"].trigger()
    view.rebuild_now()
    assert "bar 3" in view.hidden
    assert "A" not in view.hidden
    modelling.show_all()
    modelling.paint(document.system["bar 1"], "#123456")
    assert document.system["bar 1"].shapes[0].color == "#123456"
    document.undo()
    assert document.system["bar 1"].shapes[0].color is None


def test_buttons_of_the_guide_stay_where_they_are(window, qtbot):  # noqa: F811
    """What is found out meanwhile comes behind them: Add was 65 pixels further right when it was clicked."""
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QPushButton

    window.files.new(2)
    window.resize(1400, 850)
    guide, view = window.modelling.guide, window.view
    qtbot.waitUntil(lambda: view.width() > 500)
    button = QPushButton("Add")
    guide.tell("joint", ["Click", "Axis"], 1)
    guide.set_buttons([button])
    qtbot.wait(20)
    before = button.mapTo(view, QPoint(0, 0))
    guide.set_fact("remaining: 1 freedom")
    qtbot.wait(20)
    assert button.mapTo(view, QPoint(0, 0)) == before
    with qtbot.waitActive(window):
        window.activateWindow()
    button.setFocus()
    guide.end()
    assert view.hasFocus()  # not the next field, into which the next shortcut would be typed


def test_what_is_selected_is_made_transparent(window, qtbot):  # noqa: F811
    """By an action, by the menus of tree and view; all of it is taken back by Show all."""
    opened(window, "four_bar", qtbot)
    view, tree, bar = window.view, window.panels["model"], window.document.system["bar 2"]
    window.document.select(bar)
    assert [key.toString() for key in window.actions_["transparent"].shortcuts()] == ["X"]
    window.actions_["transparent"].trigger()
    assert view.transparent == {"bar 2"}
    view.rebuild_now()
    assert {part.opacity for part in view.scene.parts if part.element == "bar 2"} == {0.3}
    assert window.actions_["transparent"].isChecked()
    window.document.select(window.document.system["bar 1"])
    assert not window.actions_["transparent"].isChecked()
    for menu in (tree.menu_for(bar), menu_for(view, bar)):
        texts = {action.text(): action for action in menu.actions()}
        assert {"Hide", "Isolate", "Transparent", "Show all"} <= texts.keys()
        assert texts["Transparent"].isChecked()
        texts["Transparent"].toggle()
        assert not view.transparent
        texts["Transparent"].toggle()
    window.actions_["show_all"].trigger()
    assert not view.transparent
    assert not window.actions_["show_all"].isEnabled()
