"""Building to measure: typed numbers with units, typed points, ends before corners, sections that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

import mbframe as mb
from gui.base.units import DisplayUnits
from gui.document.document import Document
from gui.fields import Surroundings, field_for, typed_units
from gui.fields.numbers import NumberEdit
from gui.modelling import bodies
from gui.modelling.measuring import Measuring, plane_axes
from gui.modelling.snapping import END, candidates

from .builder import Builder
from .modelling_window import window  # noqa: F401

NORMAL = np.array([0.0, 0.0, 1.0])

# --- units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["SI", "mm/deg"])
@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("2500 g", "kg", 2.5),
        ("3 lb", "kg", 1.36077711),
        ("1500 mm", "m", 1.5),
        ("1500mm", "m", 1.5),
        ("12 rpm", "rad/s", 12 * 2 * np.pi / 60),
        ("90°", "rad", np.pi / 2),
        ("90 deg", "rad", np.pi / 2),
        ("2*pi rad", "rad", 2 * np.pi),
        ("5 N/mm", "N/m", 5000.0),
        ("5 N mm/deg", "N m/rad", 0.005 * 180 / np.pi),
        ("2 g mm²", "kg m^2", 2e-9),
        ("7.85 g/cm^3", "kg/m^3", 7850.0),
        ("1 in", "m or rad", 0.0254),
        ("200 ms", "s", 0.2),
    ],
)
def test_numbers_take_units(text, unit, value, system, qtbot):
    edit = NumberEdit(unit, DisplayUnits(system))
    qtbot.addWidget(edit)
    edit.setText(text)
    assert edit.read() == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [("3 kg", "m", "in m"), ("3 m", "", "no unit"), ("3 furlong", "m", "not a number"), ("5 Hz", "rad/s", "rad/s")],
)
def test_units_that_do_not_fit_are_refused(text, unit, message, qtbot):
    edit = NumberEdit(unit, DisplayUnits("SI"))
    qtbot.addWidget(edit)
    edit.setText(text)
    with pytest.raises(ValueError, match=message):
        edit.read()


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.1 m*cos(60 deg)", "m", 0.05),
        ("100 mm*sin(30°)", "m", 0.05),
        ("50 mm + 2 in", "m", 0.1008),
        ("(50 + 2.5) mm", "m", 0.0525),
        ("1500/2 mm", "m", 0.75),
        ("sqrt((3 mm)^2 + (4 mm)^2)", "m", 0.005),
        ("-(2 m - 50 cm)/3", "m", -0.5),
        ("5 N/mm * 2 mm", "N", 10.0),
        ("0.5*2 kg*(3 m/s)^2", "N m", 9.0),
        ("2 rad/s * 0.1 m", "m/s", 0.2),
        ("atan2(30 mm, 40 mm)", "rad", np.arctan2(3.0, 4.0)),
        ("pi/2 rad", "rad", np.pi / 2),
        ("90° - 30°", "rad", np.pi / 3),
        ("min(3 mm, 1 cm)", "m", 0.003),
        ("3 m²/(2 m)", "m", 1.5),
        ("30 mm/20 mm", "", 1.5),
    ],
)
@pytest.mark.parametrize("system", ["SI", "mm/deg"])
def test_numbers_take_calculations_with_units(text, unit, value, system, qtbot):
    edit = NumberEdit(unit, DisplayUnits(system))
    qtbot.addWidget(edit)
    edit.setText(text)
    assert edit.read() == pytest.approx(value, rel=1e-12)


def test_what_has_no_unit_in_the_end_is_in_the_shown_units(qtbot):
    for system, value in (("SI", 0.05), ("mm/deg", 5e-5)):
        edit = NumberEdit("m", DisplayUnits(system))
        qtbot.addWidget(edit)
        edit.setText("0.1*cos(60 deg)")
        assert edit.read() == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("1 + 2 mm", "m", "give each its unit"),
        ("2 m + 3 kg", "m", "different kinds"),
        ("cos(3 m)", "m", "sin\\(30 deg\\)"),
        ("exp(20 mm)", "m", "argument of a function"),
        ("2^(3 mm)", "m", "power"),
        ("2 m * 3 m", "m", "in m"),
        ("5 Hz + 2 Hz", "rad/s", "in rad/s"),
        ("30 deg + 2 deg", "", "no unit"),
        ("0.1*cos(60 deg", "m", "not a number"),
        ("__import__('os').getpid() mm", "m", "not a number"),
        ("1 mm/(2 - 2)", "m", "no value"),
        ("if(1 m > 2 m, 3 m, 4 m)", "m", "comparisons"),
        ("0,5 mm", "m", "written with a point"),
    ],
)
def test_calculations_whose_units_do_not_fit_are_refused(text, unit, message, qtbot):
    edit = NumberEdit(unit, DisplayUnits("SI"))
    qtbot.addWidget(edit)
    edit.setText(text)
    with pytest.raises(ValueError, match=message):
        edit.read()


def test_calculations_are_no_units(qtbot):
    edit = NumberEdit("m", DisplayUnits("mm/deg"))
    qtbot.addWidget(edit)
    for text, value in (("2*pi", 2e-3 * np.pi), ("1e3", 1.0), ("3*e", 3e-3 * np.e), ("-5", -0.005)):
        edit.setText(text)
        assert edit.read() == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2500 g mm²", 2.5e-6),
        ("2e-6, 3e-6, 4 g mm^2", [2e-6, 3e-6, 4e-9]),
        ("0.3^2 * 1e-3", 9e-5),
    ],
)
def test_lists_of_numbers_take_units(text, value, qtbot):
    field = field_for(mb.PlanarBody.parameters()["inertia"], Surroundings(DisplayUnits("SI")))
    qtbot.addWidget(field)
    field.edit.setText(text)
    assert field._read() == pytest.approx(value)


@pytest.mark.parametrize(
    ("cls", "name", "text", "at_two"),
    [
        (mb.Driver, "angle", "90 deg", np.pi / 2),
        (mb.Driver, "angle", "30*t deg", np.pi / 3),
        (mb.Driver, "displacement", "1500 mm", 1.5),
        (mb.Driver, "displacement", "20*sin(t) mm", 0.02 * np.sin(2.0)),
        (mb.Driver, "angle", "t^2", 4.0),
        (mb.Driver, "angle", "2*t", 4.0),
    ],
)
def test_functions_take_units(cls, name, text, at_two, qtbot):
    """At the end of a number or of a formula; without one a formula is in SI units, as its label says."""
    parameter = cls.parameters()[name]
    field = field_for(parameter, Surroundings(DisplayUnits("mm/deg")))
    qtbot.addWidget(field)
    field.edits[0].edit.setText(text)
    assert mb.Function(field._read())(2.0) == pytest.approx(at_two, rel=1e-12)


def test_points_of_functions_take_units_and_wrong_ones_are_refused(qtbot):
    field = field_for(mb.Driver.parameters()["displacement"], Surroundings(DisplayUnits("SI")))
    qtbot.addWidget(field)
    edit = field.edits[0]
    edit.edit.setText("3 kg")
    with pytest.raises(ValueError, match="in m"):
        field._read()
    edit.kind.setCurrentIndex(edit.kind.findData("piecewise_linear"))
    edit.edit.setText("0: 0, 1: 500 mm")
    assert field._read()(1.0) == pytest.approx(0.5)


def test_lists_of_numbers_show_no_cut_exponent(qtbot):
    """A field of the width of the inspector's showed 1.624351046589 for 1.624351046589e-21."""
    field = field_for(mb.PlanarBody.parameters()["inertia"], Surroundings(DisplayUnits("SI")))
    qtbot.addWidget(field)
    field.resize(110, 30)
    field.show()
    field.show_value(1.624351046589e-21)
    assert field.edit.text() == "1.6244e-21"
    assert not field.edit.changed
    assert field._read() == 1.624351046589e-21
    with qtbot.waitActive(field):
        field.activateWindow()
    field.edit.setFocus()
    assert field.edit.text() == "1.624351046589e-21"


def test_units_of_all_parameters_are_understood():
    for cls in (mb.RigidBody, mb.SpringDamper, mb.TorsionalSpringDamper, mb.RevoluteJoint, mb.PlanarBody):
        for parameter in cls.parameters().values():
            if parameter.unit:
                assert typed_units.parsed(parameter.unit.split(" or ")[0]) is not None, parameter.unit


def test_rotations_are_in_the_units_of_the_document(qtbot):
    for name, shown in (("SI", np.pi / 2), ("mm/deg", 90.0)):
        field = field_for(mb.RigidBody.parameters()["rotation"], Surroundings(DisplayUnits(name)))
        qtbot.addWidget(field)
        field.grid.edits[2].setMinimumWidth(200)  # numbers are rounded to the room there is
        field.show_value(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
        assert float(field.grid.edits[2].text()) == pytest.approx(shown, rel=1e-3)


# --- snapping, sections, floors ---------------------------------------------------------------------------------------


def test_the_ends_of_a_link_are_preferred():
    system = mb.System("new", dimension=2)
    link = bodies.made(bodies.PRESETS[0], "link", [np.zeros(3), np.array([1.0, 0, 0])], system, bodies.Stock(), NORMAL)
    system.add(link)
    ends = [snap for snap in candidates(system, [link]) if snap.preferred]
    assert sorted(snap.point[0] for snap in ends) == pytest.approx([0.0, 1.0])
    assert all(snap.label == END and snap.point[1] == 0.0 for snap in ends)
    cube = system.add(mb.PlanarBody("cube", shapes=[mb.Box(size=(0.1, 0.1, 0.1))], mass=1.0, inertia=1.0))
    assert not any(snap.preferred for snap in candidates(system, [cube]))


def test_a_longer_link_has_the_same_section():
    system, stock = mb.System("new"), bodies.Stock("Steel")
    short, long = (
        bodies.made(bodies.PRESETS[0], "link", [np.zeros(3), np.array([reach, 0, 0])], system, stock, NORMAL)
        for reach in (0.2, 0.6)
    )
    assert long.mass == pytest.approx(3.0 * short.mass)
    stock.sizes["link"] = 0.05
    other = bodies.made(bodies.PRESETS[0], "link", [np.zeros(3), np.array([1.0, 0, 0])], system, stock, NORMAL)
    assert other.mass == pytest.approx(7850.0 * 0.05**2)


@pytest.mark.parametrize("name", ["box", "cylinder", "disk", "ball"])
def test_bodies_stand_on_the_floor(name):
    preset = next(preset for preset in bodies.PRESETS if preset.name == name)
    system = mb.System("new")
    body = bodies.made(preset, name, [np.array([0.3, 0.2, 0.5])], system, bodies.Stock(), NORMAL, standing=True)
    shape = body.shapes[0]
    half = {"box": lambda: shape.size[2] / 2, "ball": lambda: shape.radius}.get(name, lambda: shape.length / 2)()
    assert body.position == pytest.approx([0.3, 0.2, 0.5 + half])
    assert body.rotation[:, 2] == pytest.approx([0.0, 0.0, 1.0])


# --- typed points -----------------------------------------------------------------------------------------------------


def test_typed_numbers_hold_and_the_mouse_gives_the_rest(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 500)
    over.show()
    bar = Measuring(over)
    start = np.array([0.1, 0.0, 0.0])
    bar.begin(DisplayUnits("mm/deg"), 2, start, NORMAL)
    assert bar.edits["length"].isVisible()
    assert not bar.edits["z"].isVisible()

    def typed(name, text):
        bar.edits[name].setText(text)
        bar.edits[name].textEdited.emit(text)

    typed("length", "300")
    assert bar.point(start + np.array([0.0, 2.0, 0.0])) == pytest.approx([0.1, 0.3, 0.0])
    typed("angle", "30")
    assert bar.point(np.zeros(3)) == pytest.approx(start + 0.3 * np.array([np.cos(np.pi / 6), 0.5, 0.0]))
    typed("length", "12 in")
    assert np.linalg.norm(bar.point(np.zeros(3)) - start) == pytest.approx(0.3048)
    typed("length", "")
    typed("angle", "")
    typed("x", "250")
    assert bar.point(np.array([9.0, 0.4, 0.0])) == pytest.approx([0.25, 0.4, 0.0])
    assert plane_axes(np.array([0.0, 1.0, 0.0]))[1] == pytest.approx([0.0, 0.0, 1.0])


def measuring(qtbot, start, dimension=2):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(900, 500)
    over.show()
    bar = Measuring(over)
    bar.over = over
    bar.begin(DisplayUnits("SI"), dimension, np.array(start, float), NORMAL)

    def typed(name, text):
        bar.edits[name].setText(text)
        bar.edits[name].textEdited.emit(text)

    return bar, typed


def test_a_length_and_a_coordinate_fix_a_point(qtbot):
    """A rod of 0.3 m that ends on y = 0 was 0.312 m long, with 0.3 in its field."""
    start = np.array([0.05, 0.05 * np.sqrt(3.0), 0.0])
    bar, typed = measuring(qtbot, start)
    typed("length", "0.3")
    typed("y", "0")
    right = bar.point(np.array([1.0, 1.0, 0.0]))
    assert right == pytest.approx([0.05 + np.sqrt(0.0825), 0.0, 0.0], abs=1e-12)
    assert bar.point(np.array([-1.0, 1.0, 0.0]))[0] == pytest.approx(0.05 - np.sqrt(0.0825), abs=1e-12)
    typed("length", "0.05")
    with pytest.raises(ValueError, match=r"0.05 m does not reach y = 0 m"):
        bar.point(right)
    typed("length", "")
    typed("angle", "-30 deg")
    assert bar.point(right) == pytest.approx([0.05 + 0.05 * 3.0, 0.0, 0.0], abs=1e-12)
    typed("angle", "30 deg")
    with pytest.raises(ValueError, match="no y = 0 m"):
        bar.point(right)


def test_a_third_number_takes_the_place_of_the_oldest(qtbot):
    bar, typed = measuring(qtbot, (0.0, 0.0, 0.0))
    typed("length", "0.3")
    typed("x", "0.1")
    typed("y", "0.2")
    assert bar.point(np.zeros(3)) == pytest.approx([0.1, 0.2, 0.0])
    bar.follow(np.zeros(3))
    assert bar.edits["length"].read() == pytest.approx(np.hypot(0.1, 0.2))


def test_in_space_a_length_counts_out_of_the_plane_too(qtbot):
    bar, typed = measuring(qtbot, (0.0, 0.0, 0.0), dimension=3)
    typed("z", "0.3")
    typed("length", "0.5")
    typed("x", "0")
    assert bar.point(np.array([1.0, 1.0, 0.0])) == pytest.approx([0.0, 0.4, 0.3])
    typed("length", "0.2")
    with pytest.raises(ValueError, match="does not reach that far"):
        bar.point(np.ones(3))


def test_numbers_that_make_no_sense_place_nothing(window, qtbot):  # noqa: F811
    """Enter took the last point that did: a link of no length."""
    window.files.new(2)
    qtbot.waitUntil(lambda: window.view.scene is not None)
    assert window.view.camera.first_view == "front"
    Builder(window).start("link")
    placing = window.modelling.placing
    bar = placing.measuring
    qtbot.waitUntil(lambda: bar.isVisible())
    for text, count in (("0", 1), ("0.3 kg", 1), ("0.3", 0)):
        for name in ("x", "y") if count and not placing.points else ("length",):
            bar.edits[name].setFocus()
            bar.edits[name].selectAll()
            QTest.keyClicks(bar.edits[name], text)
        QTest.keyClick(bar.edits[name], Qt.Key.Key_Return)
        assert len(placing.points) == count
    assert len(window.document.system.bodies) == 1


def test_a_number_is_judged_when_it_is_meant(window, qtbot):  # noqa: F811
    """In the middle of a calculation it was called no number, and the bar jumped aside for that."""
    window.files.new(2)
    qtbot.waitUntil(lambda: window.view.scene is not None)
    Builder(window).start("link")
    placing, guide = window.modelling.placing, window.modelling.guide
    x = placing.measuring.edits["x"]
    qtbot.waitUntil(x.isVisible)
    x.setFocus()
    x.selectAll()
    place = guide.geometry()
    for letter in "0.1*cos(60":
        QTest.keyClicks(x, letter)
        assert guide.fact.text() == ""
        assert guide.geometry() == place
    QTest.keyClick(x, Qt.Key.Key_Return)
    assert guide.fact.text()
    assert not placing.points
    QTest.keyClick(x, Qt.Key.Key_End)
    QTest.keyClicks(x, " deg)")
    assert guide.fact.text() == ""
    QTest.keyClick(x, Qt.Key.Key_Return)
    assert placing.points[0][0] == pytest.approx(0.05, abs=1e-15)


def test_two_ends_in_one_place_make_no_link():
    ends = [np.array([0.1, 0.2, 0.0]), np.array([0.1, 0.2 + 1e-16, 0.0]) * (1.0 + 3e-16)]
    with pytest.raises(mb.ModelError, match="same place"):
        bodies.made(bodies.PRESETS[0], "link", ends, mb.System("new", dimension=2), bodies.Stock(), NORMAL)


def test_a_crank_is_built_with_the_keyboard(window, qtbot):  # noqa: F811
    """Typed into the view: digits are no shortcuts meanwhile, and the link is exact."""
    window.files.new(2)
    qtbot.waitUntil(lambda: window.view.scene is not None)
    build = Builder(window)
    build.start("link")
    view, bar = window.view, window.modelling.placing.measuring
    before = view.camera.pose
    view.setFocus()
    qtbot.waitUntil(lambda: bar.isVisible())
    QTest.keyClicks(view, "0")
    for name, text in (("x", "0"), ("y", "0")):
        bar.edits[name].setFocus()
        bar.edits[name].selectAll()
        QTest.keyClicks(bar.edits[name], text)
    QTest.keyClick(bar.edits["y"], Qt.Key.Key_Return)
    assert len(window.modelling.placing.points) == 1
    QTest.keyClicks(view, "1")
    QTest.keyClicks(bar.edits["length"], "00 mm")
    bar.edits["angle"].setFocus()
    bar.edits["angle"].selectAll()
    QTest.keyClicks(bar.edits["angle"], "30 deg")
    QTest.keyClick(bar.edits["angle"], Qt.Key.Key_Return)
    link = build.last()
    assert not bar.isVisible()
    end = mb.State(0.0, {link.name: link.motion}, {}, 2).position(link, (0.05, 0.0))
    assert end == pytest.approx([0.1 * np.cos(np.pi / 6), 0.05], abs=1e-12)
    np.testing.assert_array_equal(view.camera.pose.frame, before.frame)


# --- moving -----------------------------------------------------------------------------------------------------------


def test_moving_a_body_says_what_moves_along(qapp):
    document = Document()
    document.open_example("four_bar")
    bar = document.system["bar 1"]
    document.set(bar, position=bar.position + np.array([0.1, 0.0]))
    assert document.messages[-1].text.startswith("The points of A, B")
    assert "Undo takes both back" in document.messages[-1].text
    point = document.system["A"].at.copy()
    document.undo()
    assert not np.array_equal(document.system["A"].at, point)
    document.set(bar, mass=7.0)
    assert len(document.messages) == 1
    document.close()


# --- what a new user stumbled over ---------------------------------------------------------------------------------


def begun(window, qtbot) -> Builder:  # noqa: F811
    """A crank and a rod in the plane, in a window that has the keyboard."""
    window.files.new(2)
    with qtbot.waitActive(window, timeout=20_000):
        window.activateWindow()
    qtbot.waitUntil(lambda: window.view.scene is not None, timeout=20_000)
    builder = Builder(window)
    builder.link((0.0, 0.0), (0.2, 0.2))
    builder.link((0.2, 0.2), (0.6, 0.0))
    return builder


def test_after_add_the_keyboard_is_in_the_view(window, qtbot):  # noqa: F811
    """The button that had it went, and the field after it took it: the next shortcut renamed the joint."""
    builder = begun(window, qtbot)
    joint = builder.joint("TranslationalJoint", (0.0, -0.25), (0.4, 0.1), (0.6, 0.0), axis="x")
    assert window.view.hasFocus()
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_F)
    assert joint.name == "translational joint"


def test_a_click_beside_a_number_places_nothing(window, qtbot):  # noqa: F811
    """Clicks on the names in the bars went on into the view below them."""
    builder = begun(window, qtbot)
    builder.start("link")
    placing = window.modelling.placing
    builder.click((0.6, 0.0))
    measuring, guide = placing.measuring, window.modelling.guide
    label = measuring._labels["length"]
    QTest.mouseClick(label, Qt.MouseButton.LeftButton)
    assert measuring.edits["length"].hasFocus()
    for widget in (measuring.hint, guide.text, guide):
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().bottomLeft())
    assert len(placing.points) == 1


def test_tab_goes_round_the_numbers_of_a_point(window, qtbot):  # noqa: F811
    """From the last one it went to the speed of the player, and the next number with it."""
    builder = begun(window, qtbot)
    builder.start("link")
    builder.click((0.6, 0.0))
    edits = window.modelling.placing.measuring.edits
    edits["angle"].setFocus()
    for key, name in (
        (Qt.Key.Key_Tab, "x"),
        (Qt.Key.Key_Tab, "y"),
        (Qt.Key.Key_Backtab, "x"),
        (Qt.Key.Key_Backtab, "angle"),
    ):
        QTest.keyClick(window.focusWidget(), key)
        assert edits[name].hasFocus(), name


def test_the_bar_says_which_bodies_were_taken(window, qtbot):  # noqa: F811
    """A click beside a thin link takes the ground: it said "first body" all the same."""
    builder = begun(window, qtbot)
    guide = window.modelling.guide
    window.document.rename(window.document.system["link"], "<b>crank")
    builder.start("RevoluteJoint")
    builder.click((0.0, -0.25))
    assert "1&nbsp;ground" in guide.text.text()
    builder.click((0.1, 0.1))
    assert "2&nbsp;&lt;b&gt;crank" in guide.text.text()


def test_a_body_that_would_reach_beyond_the_view_is_brought_into_it(window, qtbot):  # noqa: F811
    """A block at the end of a rod was half outside."""
    builder = begun(window, qtbot)
    window.view.camera.see_all()
    window.view.camera.resized()
    builder.start("box")
    edge = window.modelling.guide.findChild(NumberEdit, "size")
    edge.setFocus()
    QTest.keyClicks(edge, "300 mm")
    QTest.keyClick(edge, Qt.Key.Key_Return)
    builder.click((0.6, 0.0))
    box = builder.last()
    assert box.shapes[0].size == (0.3, 0.3, 0.3)
    window.view.rebuild_now()
    for x, y in ((0.45, -0.15), (0.75, 0.15), (0.0, 0.0)):
        assert window.view.rect().contains(builder.spot((x, y)))


def test_what_is_seen_as_a_whole_is_not_below_the_bars(window, qtbot):  # noqa: F811
    """The ends to be clicked next were below the steps and the numbers."""
    window.resize(1280, 800)
    window.files.new(2)
    qtbot.waitUntil(lambda: window.view.scene is not None, timeout=20_000)
    builder = Builder(window)
    builder.link((0.0, 0.0), (0.0, 0.4))
    window.view.camera.see_all()
    window.view.camera.resized()
    builder.start("link")
    bars = (window.modelling.guide, window.modelling.placing.measuring)
    for point in ((0.0, 0.0), (0.0, 0.4)):
        assert not any(bar.geometry().contains(builder.spot(point)) for bar in bars)


def test_a_calculation_can_be_read_while_it_is_typed(qtbot):
    """A field of the bar is as wide as its text, and as narrow as before when it is empty again."""
    view = QWidget()
    qtbot.addWidget(view)
    view.resize(900, 500)
    view.show()
    bar = Measuring(view)
    bar.begin(DisplayUnits("SI"), 2, None, NORMAL)
    edit = bar.edits["x"]
    narrow = edit.width()
    QTest.keyClicks(edit, "0.1*cos(60 deg)")
    assert edit.width() > narrow
    assert not edit.is_cut
    assert bar.geometry().right() < view.width()
    edit.clear()
    assert edit.width() == narrow
