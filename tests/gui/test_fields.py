"""Fields: what is typed is read, checked in words, stepped through and put back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QDialog, QToolTip, QVBoxLayout, QWidget

import mbframe as mb
from gui.base.units import DisplayUnits
from gui.fields import Surroundings, field_for
from gui.fields.numbers import exact, read_number, short
from gui.fields.rotation import axis_and_angle, euler_angles, from_euler_angles
from mbframe.parameters import KINDS

from .hands import type_into

MM = Surroundings(DisplayUnits("mm/deg"))


def declared(**rule):
    found = mb.parameter(**rule)
    found.name = "strength"
    return found


class Form:
    """A field in a window, with what it committed."""

    def __init__(self, qtbot, field, value):
        self.window = QWidget()
        self.elsewhere = QWidget(self.window)
        self.elsewhere.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        layout = QVBoxLayout(self.window)
        layout.addWidget(field)
        layout.addWidget(self.elsewhere)
        field.setParent(self.window)
        layout.insertWidget(0, field)
        self.field, self.qtbot = field, qtbot
        self.values, self.gestures = [], []
        field.show_value(value)
        field.committed.connect(self._accept)
        qtbot.addWidget(self.window)
        self.window.show()
        with qtbot.waitActive(self.window):
            self.window.activateWindow()

    def _accept(self, value, gesture):
        self.values.append(value)
        self.gestures.append(gesture)
        self.field.show_value(value)

    def type(self, edit, text, enter=True):
        edit.setFocus()
        edit.selectAll()
        self.qtbot.keyClick(edit, Qt.Key.Key_Delete)
        self.qtbot.keyClicks(edit, text)
        if enter:
            self.qtbot.keyClick(edit, Qt.Key.Key_Return)


@pytest.fixture
def form(qtbot):
    def make(value, surroundings=None, **rule):
        parameter = declared(**rule)
        field = field_for(parameter, *([surroundings] if surroundings else []))
        return Form(qtbot, field, value if value is None else parameter.convert(value))

    return make


# ---- Texts and numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", 2.0), (" -1.5e-3 ", -1.5e-3), ("2*pi/3", 2 * math.pi / 3), ("−4", -4.0), (".5", 0.5), ("sqrt(2)", 2**0.5)],
)
def test_numbers_and_calculations_are_read(text, value):
    assert read_number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("abc", "not a number"),
        ("0,5", "point"),
        ("nan", "finite"),
        ("1e999", "finite"),
        ("2*t", "not a"),
    ],
)
def test_what_is_no_number_is_said_in_words(text, word):
    with pytest.raises(ValueError, match=word):
        read_number(text)


@pytest.mark.parametrize("value", [0.0, 0.1 + 0.2, 1 / 3, -1e-12, 1.7976931348623157e308, 5e-324, 123456789.123])
def test_exact_text_gives_the_number_back(value):
    assert float(exact(value)) == pytest.approx(value, rel=4e-16)


def test_many_zeros_are_an_exponent():
    assert [exact(value) for value in (1e7, -25e6, 100000.0, 0.0, 1e22)] == ["1e7", "-25e6", "100000", "0", "1e+22"]


def test_short_text_is_for_reading():
    assert short(1 / 3) == "0.33333"
    assert short(1e7) == "1e7"
    assert short(2.5e-9) == "2.5e-9"


# ---- One number -----------------------------------------------------------------------------------------------------


def test_a_number_is_committed_by_enter(form):
    mass = form(2.0, default=1.0, unit="kg", above=0.0)
    mass.type(mass.field.edit, "3.5")
    assert mass.values == [3.5]
    assert mass.field.edit.text() == "3.5"


def test_a_number_is_committed_by_leaving_the_field(form):
    mass = form(2.0, default=1.0, unit="kg")
    mass.type(mass.field.edit, "3.5", enter=False)
    assert mass.values == []
    mass.elsewhere.setFocus()
    assert mass.values == [3.5]


def test_escape_restores(form):
    mass = form(2.0, default=1.0)
    mass.type(mass.field.edit, "abc", enter=False)
    assert mass.field.problem
    mass.qtbot.keyClick(mass.field.edit, Qt.Key.Key_Escape)
    assert (mass.field.edit.text(), mass.field.problem, mass.values) == ("2", "", [])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("abc", "not a number"),
        ("-1", "above 0 kg"),
        ("0", "above 0 kg"),
        ("nan", "finite"),
        ("1e999", "finite"),
        ("", "empty"),
        ("1;2", "not a number"),
    ],
)
def test_bad_input_is_said_while_typing_and_keeps_the_last_valid_value(form, text, word):
    mass = form(2.0, default=1.0, unit="kg", above=0.0)
    mass.type(mass.field.edit, text, enter=False)
    assert word in mass.field.problem
    assert mass.field.edit.property("invalid")
    mass.qtbot.keyClick(mass.field.edit, Qt.Key.Key_Return)
    mass.elsewhere.setFocus()
    assert mass.values == []
    assert mass.field.value == 2.0
    assert word in mass.field.problem, "the text stays to be corrected, and so does the message"
    mass.type(mass.field.edit, "4")
    assert mass.values == [4.0]
    assert not mass.field.edit.property("invalid")


def test_unchanged_text_is_no_change_whatever_its_digits(form):
    third = form(1 / 3, default=1.0, unit="m", surroundings=MM)
    assert third.field.edit.text() == "333.3333"
    third.field.edit.setFocus()
    third.qtbot.keyClick(third.field.edit, Qt.Key.Key_Return)
    third.elsewhere.setFocus()
    assert third.values == []
    assert third.field.value == 1 / 3


def test_display_units_are_typed_and_si_is_stored(form):
    length = form(0.25, default=1.0, unit="m", surroundings=MM, minimum=0.1)
    assert length.field.unit == "mm"
    length.type(length.field.edit, "300")
    assert length.values == [0.3]
    length.type(length.field.edit, "50")
    assert "at least 100 mm" in length.field.problem
    angle = form(math.pi / 2, default=0.0, unit="rad", surroundings=MM)
    assert angle.field.edit.text() == "90"
    angle.type(angle.field.edit, "45")
    assert angle.values == [pytest.approx(math.pi / 4, rel=1e-15)]


def test_an_optional_number_may_be_empty(form):
    length = form(2.5, default=None, kind="number", unit="m")
    length.type(length.field.edit, "")
    assert length.values == [None]
    assert length.field.edit.text() == ""


def test_arrow_keys_step_and_are_one_gesture(form):
    mass = form(2.0, default=1.0, unit="kg")
    mass.field.edit.setFocus()
    for _ in range(5):
        mass.qtbot.keyClick(mass.field.edit, Qt.Key.Key_Up)
    assert mass.values == [2.1, 2.2, 2.3, 2.4, 2.5]
    assert len(set(mass.gestures)) == 1
    assert mass.gestures[0] is not None
    mass.elsewhere.setFocus()
    mass.field.edit.setFocus()
    mass.qtbot.keyClick(mass.field.edit, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert mass.values[-1] == 1.5
    assert mass.gestures[-1] != mass.gestures[0]


def test_steps_stop_at_the_bounds(form):
    mass = form(0.1, default=1.0, unit="kg", above=0.0)
    mass.field.edit.setFocus()
    for _ in range(15):
        mass.qtbot.keyClick(mass.field.edit, Qt.Key.Key_Down)
    assert min(mass.values) == pytest.approx(0.01)
    assert mass.field.value > 0.0


def test_the_wheel_steps_only_with_control(form):
    mass = form(2.0, default=1.0)
    edit = mass.field.edit
    edit.setFocus()

    def turn(modifiers):
        middle = QPointF(edit.rect().center())
        event = QWheelEvent(
            middle, QPointF(edit.mapToGlobal(middle.toPoint())), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
            modifiers, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(edit, event)

    turn(Qt.KeyboardModifier.NoModifier)
    assert mass.values == []
    turn(Qt.KeyboardModifier.ControlModifier)
    assert mass.values == [2.1]


def test_reset_goes_back_to_the_default(form):
    number = form(2.0, default=0.5)
    assert number.field.resettable
    number.field.reset()
    assert number.values == [0.5]
    assert not number.field.resettable
    assert not form(2.0, kind="number").field.resettable, "a required parameter has no default"


def test_whole_numbers(form):
    order = form(4, default=4, minimum=1, maximum=6)
    order.type(order.field.edit, "2.5", enter=False)
    assert "whole" in order.field.problem
    order.type(order.field.edit, "9", enter=False)
    assert "at most 6" in order.field.problem
    order.type(order.field.edit, "3")
    assert order.values == [3]
    order.qtbot.keyClick(order.field.edit, Qt.Key.Key_Up)
    assert order.values == [3, 4]


# ---- Several numbers ------------------------------------------------------------------------------------------------


def test_a_component_of_a_vector(form):
    gravity = form((0.0, 0.0, -9.81), default=(0.0, 0.0, 0.0), unit="m/s^2")
    gravity.type(gravity.field.grid.edits[2], "-1.62")
    assert [v.tolist() for v in gravity.values] == [[0.0, 0.0, -1.62]]
    gravity.type(gravity.field.grid.edits[0], "", enter=False)
    assert "missing" in gravity.field.problem
    gravity.type(gravity.field.grid.edits[0], "x", enter=False)
    assert "not a number" in gravity.field.problem
    assert gravity.field.value.tolist() == [0.0, 0.0, -1.62]


def test_a_vector_is_one_change_when_the_focus_leaves_all_components(form):
    axis = form((1.0, 0.0, 0.0), default=(0.0, 0.0, 1.0), kind="axis")
    axis.type(axis.field.grid.edits[0], "0", enter=False)
    axis.type(axis.field.grid.edits[1], "2", enter=False)
    assert axis.values == []
    axis.elsewhere.setFocus()
    assert [v.tolist() for v in axis.values] == [[0.0, 2.0, 0.0]]


def test_an_optional_point_is_none_when_all_is_empty(form):
    point = form((1.0, 2.0, 3.0), default=None, kind="point", unit="m")
    for edit in point.field.grid.edits:
        point.type(edit, "", enter=False)
    point.elsewhere.setFocus()
    assert point.values == [None]


def test_an_axis_has_buttons_and_refuses_zero(form, qtbot):
    axis = form((1.0, 2.0, -1.0), default=(0.0, 0.0, 1.0), kind="axis")
    along_y = axis.field.findChild(QWidget, "strength_along_y")
    qtbot.mouseClick(along_y, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(along_y, Qt.MouseButton.LeftButton)
    assert [v.tolist() for v in axis.values] == [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]
    axis.type(axis.field.grid.edits[1], "0")
    assert "length" in axis.field.problem
    assert len(axis.values) == 2


def test_inertia_says_what_no_body_can_have(form):
    inertia = form((1.0, 2.0, 2.5), kind="inertia", unit="kg m^2")
    inertia.type(inertia.field.grid.edits[2], "10")
    assert "sum of the others" in inertia.field.problem
    assert inertia.values == []
    inertia.type(inertia.field.grid.edits[2], "2.8")
    inertia.type(inertia.field.grid.edits[3], "0.1")
    expected = [[1.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.8]]
    assert inertia.values[-1].tolist() == expected


def test_a_matrix_is_its_diagonal_until_all_entries_are_asked_for(form, qtbot):
    stiffness = form(np.diag([1.0, 2.0, 3.0]), kind="matrix", shape=(3, 3))
    assert len(stiffness.field.grid.edits) == 3
    stiffness.type(stiffness.field.grid.edits[1], "5")
    assert stiffness.values[-1].tolist() == np.diag([1.0, 5.0, 3.0]).tolist()
    stiffness.field._all.click()
    assert len(stiffness.field.grid.edits) == 9
    stiffness.type(stiffness.field.grid.edits[1], "0.5")
    assert stiffness.values[-1][0, 1] == 0.5
    stiffness.field._all.click()
    assert len(stiffness.field.grid.edits) == 9, "a matrix that is not diagonal cannot be shown by its diagonal"


def test_a_number_that_is_cut_is_told_by_its_tooltip(form, qtbot):
    stiffness = form(np.full((6, 6), 1234.5678), kind="matrix", shape=(6, 6))
    edit = stiffness.field.grid.edits[0]
    edit.setFixedWidth(120)
    assert (edit.text(), edit.is_cut) == ("1234.568", False)
    edit.setFixedWidth(30)
    QToolTip.hideText()
    middle = edit.rect().center()
    QApplication.sendEvent(edit, QHelpEvent(QHelpEvent.Type.ToolTip, middle, edit.mapToGlobal(middle)))
    assert QToolTip.text() == "1234.5678"
    QToolTip.hideText()


def test_an_exponent_is_never_cut_and_noise_is_nothing(form):
    one = form(-2.0283e-21, kind="number")
    small = one.field
    for width in range(140, 55, -5):
        small.edit.setFixedWidth(width)
        QApplication.processEvents()
        assert small.edit.text().endswith("e-21"), width
        assert not small.edit.is_cut, width
        assert float(small.edit.text()) == pytest.approx(-2.0283e-21, rel=0.5)
    assert small.edit.read() == -2.0283e-21, "what is shown is not what is stored"
    other = form(np.array([1.5, -1.3878e-17, 0.0]), kind="point", shape=(3,), unit="m")
    place = other.field
    assert [edit.text() for edit in place.grid.edits] == ["1.5", "0", "0"]
    assert place.grid.read()[1] == -1.3878e-17
    place.grid.edits[1].setFocus()
    assert place.grid.edits[1].text() == "-1.3878e-17", "all digits while it is edited"


@pytest.mark.parametrize(
    ("kind", "shape", "words"),
    [
        ("vector", (None,), "numbers with commas"),
        ("matrix", (None, 3), "numbers with commas; rows with semicolons"),
    ],
)
def test_only_a_table_is_asked_for_by_rows(form, kind, shape, words):
    shown = form(None, default=None, kind=kind, shape=shape)
    assert shown.field.edit.placeholderText() == words


def test_numbers_are_one_or_a_list(form):
    alpha = form(1e7, kind="numbers", above=0.0)
    alpha.type(alpha.field.edit, "1e6, 2e6")
    assert alpha.values[-1].tolist() == [1e6, 2e6]
    alpha.type(alpha.field.edit, "5")
    assert alpha.values[-1] == 5.0
    alpha.type(alpha.field.edit, "1, -2")
    assert "above 0" in alpha.field.problem
    alpha.type(alpha.field.edit, "1, two")
    assert "two" in alpha.field.problem


def test_long_arrays_are_text(form):
    points = form([[0.0, 1.0], [2.0, 3.0]], kind="vector", shape=(None, 2))
    assert points.field.edit.text() == "0, 1; 2, 3"
    points.type(points.field.edit, "0, 1; 2")
    assert "different lengths" in points.field.problem
    points.type(points.field.edit, "0, 1; 2, 4")
    assert points.values[-1].tolist() == [[0.0, 1.0], [2.0, 4.0]]


# ---- Rotations ------------------------------------------------------------------------------------------------------


def quarter_turn():
    return np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("form_index", range(4))
def test_a_rotation_can_be_written_in_four_ways(form, form_index):
    """A quarter turn about z in each way, against the matrix written down by hand."""
    rotation = form(np.eye(3), kind="rotation", default=np.eye(3), surroundings=MM)
    rotation.field.form.setCurrentIndex(form_index)
    texts = {
        0: {2: "90"},
        1: {3: "90"},
        2: {0: "sqrt(0.5)", 3: "sqrt(0.5)"},
        3: {0: "0", 1: "-1", 3: "1", 4: "0"},
    }[form_index]
    edits = rotation.field.grid.edits
    *first, last = texts
    for k in first:
        rotation.type(edits[k], texts[k], enter=False)
    rotation.type(edits[last], texts[last])
    assert np.allclose(rotation.values[-1], quarter_turn(), atol=1e-15)


def test_angles_are_intrinsic_and_in_the_units_of_the_document(form):
    """R = Rx(30°) Ry(45°): the second turn is about the turned axis."""
    rotation = form(np.eye(3), kind="rotation", default=np.eye(3), surroundings=MM)
    rotation.type(rotation.field.grid.edits[0], "30")
    rotation.type(rotation.field.grid.edits[1], "45")
    a, b = math.radians(30), math.radians(45)
    rx = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    ry = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    assert np.allclose(rotation.values[-1], rx @ ry, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_angles_and_axes_give_the_matrix_back(seed):
    """Against SciPy, in general position and in the singular one."""
    from scipy.spatial.transform import Rotation

    one = Rotation.random(random_state=seed)
    angles = euler_angles(one.as_matrix())
    assert np.allclose(Rotation.from_euler("XYZ", angles).as_matrix(), one.as_matrix(), atol=1e-14)
    assert np.allclose(from_euler_angles(angles), one.as_matrix(), atol=1e-14)
    *axis, angle = axis_and_angle(one.as_matrix())
    assert np.allclose(Rotation.from_rotvec(angle * np.array(axis)).as_matrix(), one.as_matrix(), atol=1e-14)
    upright = Rotation.from_euler("XYZ", [0.3 + seed, math.pi / 2, 0.0]).as_matrix()
    assert np.allclose(from_euler_angles(euler_angles(upright)), upright, atol=1e-14)


def test_a_rotation_survives_being_shown_in_every_form(form):
    value = quarter_turn() @ np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    rotation = form(value, kind="rotation", default=np.eye(3))
    for k in (1, 2, 3, 0):
        rotation.field.form.setCurrentIndex(k)
        edit = rotation.field.grid.edits[0]
        edit.setFocus()
        rotation.qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert rotation.values == []
    assert np.array_equal(rotation.field.value, value)


def test_bad_rotations_are_refused_in_words(form):
    rotation = form(np.eye(3), kind="rotation", default=np.eye(3))
    rotation.type(rotation.field.grid.edits[0], "many")
    assert "not a number" in rotation.field.problem
    rotation.qtbot.keyClick(rotation.field.grid.edits[0], Qt.Key.Key_Escape)
    rotation.field.form.setCurrentIndex(3)
    rotation.type(rotation.field.grid.edits[0], "2")
    assert "orthonormal" in rotation.field.problem
    assert rotation.values == []


# ---- Functions ------------------------------------------------------------------------------------------------------


def test_an_expression(form):
    motion = form("2*pi*t", kind="function", unit="rad")
    edit = motion.field.edits[0].edit
    assert edit.text() == "2*pi*t"
    motion.type(edit, "3*sin(t)")
    assert motion.values[-1](math.pi / 2) == pytest.approx(3.0)
    motion.type(edit, "5")
    assert motion.values[-1].kind == "expression"
    motion.type(edit, "sin(")
    assert "position" in motion.field.problem.lower()
    motion.type(edit, "")
    assert "empty" in motion.field.problem
    motion.type(edit, "1/0")
    assert "finite" in motion.field.problem


def test_tables_and_polynomials(form):
    motion = form(0.0, kind="function")
    one = motion.field.edits[0]
    one.kind.setCurrentIndex(one.kind.findData("piecewise_linear"))
    one.kind.activated.emit(one.kind.currentIndex())
    motion.type(one.edit, "0: 0, 2: 4")
    assert motion.values[-1](1.0) == pytest.approx(2.0)
    assert one.edit.text() == "0: 0, 2: 4"
    motion.type(one.edit, "0: 0, 2")
    assert "point" in motion.field.problem
    motion.type(one.edit, "2: 0, 1: 1")
    assert "increase" in motion.field.problem
    one.kind.setCurrentIndex(one.kind.findData("polynomial"))
    one.kind.activated.emit(one.kind.currentIndex())
    motion.type(one.edit, "1, 0, 3")
    assert motion.values[-1](2.0) == pytest.approx(13.0)


def test_components_that_are_functions(form):
    force = form((1.0, "cos(t)", 0.0), kind="vector functions")
    assert [one.edit.text() for one in force.field.edits] == ["1", "cos(t)", "0"]
    force.type(force.field.edits[2].edit, "-2*t")
    assert force.values[-1][2](1.5) == pytest.approx(-3.0)
    assert force.values[-1][1] is force.field.value[1]


def test_a_python_function_is_shown_and_kept(form):
    def ramp(t):
        return 2.0 * t

    motion = form(ramp, kind="function")
    edit = motion.field.edits[0].edit
    assert edit.text() == "Python: ramp"
    edit.setFocus()
    motion.qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert motion.values == []


# ---- Choices, shapes, lists -----------------------------------------------------------------------------------------


def test_flags_and_choices(form, qtbot):
    flag = form(False, default=False)
    flag.field.box.click()
    assert flag.values == [True]
    choice = form("global", default="global", choices=("global", "body"))
    choice.field.combo.setFocus()
    qtbot.keyClick(choice.field.combo, Qt.Key.Key_Down)
    choice.field.combo.activated.emit(choice.field.combo.currentIndex())
    assert choice.values == ["body"]


def test_references_choose_from_the_candidates(qtbot):
    bodies = [mb.PointMass(name, mass=1.0) for name in ("a", "b", "c")]
    parameter = declared(kind="reference")
    field = field_for(parameter, Surroundings(DisplayUnits(), lambda parameter, current: bodies))
    form = Form(qtbot, field, bodies[0])
    assert [field.combo.itemText(k) for k in range(field.combo.count())] == ["a", "b", "c"]
    field.combo.setCurrentIndex(2)
    field.combo.activated.emit(2)
    assert form.values == [bodies[2]]


def test_shapes_are_added_changed_and_removed(form, qtbot):
    look = form((mb.Sphere(0.1),), default=(), kind="shapes", surroundings=MM)
    assert look.field.shapes[0].header.words == "Sphere, radius 100 mm"
    look.field.append(mb.Box)
    assert [type(s) for s in look.values[-1]] == [mb.Sphere, mb.Box]
    card = look.field.shapes[0]
    qtbot.mouseClick(card.header, Qt.MouseButton.LeftButton)
    look.type(card.fields["radius"].edit, "250")
    assert look.values[-1][0].radius == 0.25
    look.type(look.field.shapes[0].fields["radius"].edit, "-1")
    assert "above" in look.field.shapes[0].fields["radius"].problem
    look.type(look.field.shapes[0].fields["color"].edit, "steelblu")
    assert "not a colour" in look.field.shapes[0].fields["color"].problem
    look.type(look.field.shapes[0].fields["color"].edit, "steelblue")
    assert look.values[-1][0].color == "steelblue"
    qtbot.mouseClick(look.field.findChild(QWidget, "shape_0_remove"), Qt.MouseButton.LeftButton)
    assert [type(s) for s in look.values[-1]] == [mb.Box]


def test_lists_are_literals(form):
    entries = form(("a", 1), default=("a", 1), kind="list")
    entries.type(entries.field.edit, "[1, 2, 'three']")
    assert entries.values == [(1, 2, "three")]
    entries.type(entries.field.edit, "[1, 2")
    assert "not a list" in entries.field.problem


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_field(qtbot, kind):
    shape = {"matrix": (3, 3)}.get(kind, (3,) if "vector" in kind or "functions" in kind else None)
    parameter = declared(kind=kind, choices=("a", "b") if kind == "choice" else None, shape=shape)
    field = field_for(parameter)
    qtbot.addWidget(field)
    assert field.objectName() == "strength"


def test_escape_takes_back_what_is_typed_and_then_closes_a_dialog(qtbot):
    dialog = QDialog()
    qtbot.addWidget(dialog)
    field = field_for(declared(default=1.0, kind="number"), parent=dialog)
    field.show_value(2.0)
    QVBoxLayout(dialog).addWidget(field)
    dialog.show()
    with qtbot.waitActive(dialog):
        dialog.activateWindow()
    type_into(qtbot, field.edit, "7", enter=False)
    qtbot.keyClick(field.edit, Qt.Key.Key_Escape)
    assert (field.edit.text(), dialog.isVisible()) == ("2", True)
    qtbot.keyClick(field.edit, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
