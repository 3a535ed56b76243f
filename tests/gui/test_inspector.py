"""The inspector: every parameter of every class can be shown and edited; the document has the last word."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton

import mbframe as mb
from gui.base.units import DisplayUnits
from gui.base.words import first_sentence
from gui.document.document import Document
from gui.document.runs import Run, RunSettings
from gui.fields.numbers import short
from gui.panels.inspector.editing import derived_numbers
from gui.panels.inspector.panel import Inspector
from gui.widgets import theme
from mbframe.forces.base import OnBody
from mbframe.joints.coupled import Coupling
from mbframe.registry import ADDED, built_in

from .hands import type_into


def bodies():
    """A system with two bodies in general position."""
    system = mb.System("specimen")
    turned = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]]
    for name, place in (("one", (0.1, 0.2, 0.3)), ("two", (1.0, -0.4, 0.7))):
        system.add(
            mb.RigidBody(name, mass=2.0, inertia=(0.3, 0.4, 0.5, 0.01, 0.02, 0.03), position=place, rotation=turned)
        )
    return system


def specimens():
    """Every class that a system has, and the system itself."""
    return [mb.System, mb.Ground, *(cls for base in ADDED for cls in built_in(getattr(mb, base)).values())]


def in_a_system(cls):
    """(system, element); None for base classes that have no example."""
    if cls is mb.System:
        system = bodies()
        return system, system
    if issubclass(cls, mb.Ground):
        system = bodies()
        return system, system.ground
    try:
        if issubclass(cls, Coupling):
            system = bodies()
            carrier = system.add(mb.RigidBody("carrier", mass=1.0, inertia=(1.0, 1.0, 1.0)))
            kinds = zip((cls.first_kind[0], cls.second_kind[0]), ("one", "two"), strict=True)
            joints = [
                kind(f"guide of {name}", carrier, system[name], at=(0, 0, 0), axis=(0, 1, 0)) for kind, name in kinds
            ]
            element = cls.example(*map(system.add, joints))
        elif issubclass(cls, mb.Body):
            element = cls.example()
            system = mb.System("plane", dimension=2) if element.dimension == 2 else bodies()
        else:
            system = bodies()
            element = cls.example(*([system["two"]] if issubclass(cls, OnBody) else [system["one"], system["two"]]))
    except (NotImplementedError, TypeError):
        return None
    for name in ("joint", "measure", "first", "second"):
        needed = getattr(element, name, None)
        if isinstance(needed, mb.Element) and needed not in system:
            system.add(needed)
    if isinstance(element, mb.Controller):
        for name in element.measures:
            system.add(mb.Distance(name, system["one"], system["two"], at_i=(0, 0, 0), at_j=(1, 0, 0)))
    system.add(element)
    return system, element


@pytest.fixture
def shown(qtbot):
    def make(system, element=None, units="SI"):
        document = Document(system)
        document.units = DisplayUnits(units)
        panel = Inspector(document)
        qtbot.addWidget(panel)
        panel.resize(320, 900)
        panel.show()
        with qtbot.waitActive(panel):
            panel.activateWindow()
        document.select(element)
        return document, panel

    return make


@pytest.mark.parametrize("cls", specimens(), ids=lambda cls: cls.__name__)
def test_every_parameter_can_be_shown_and_typed_back_without_a_change(qtbot, cls):
    """In SI, and in millimetres and degrees, where no digit of a stored number may be lost on the way."""
    made = in_a_system(cls)
    if made is None:
        pytest.skip("a base class without an example")
    system, element = made
    for units in ("SI", "mm/deg"):
        document = Document(system)
        document.units = DisplayUnits(units)
        panel = Inspector(document)
        qtbot.addWidget(panel)
        document.select(element)
        before = {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in element.values().items()}
        for name, row in panel.rows.items():
            for edit in row.findChildren(QLineEdit):
                edit.setText(edit.text())
                edit.textEdited.emit(edit.text())
            row.field.commit()
            assert row.field.problem == "", f"{cls.__name__}.{name}"
        assert document.undo_stack.count() == 0
        for name, value in element.values().items():
            assert np.array_equal(value, before[name]) if isinstance(value, np.ndarray) else value == before[name]


def test_the_system_is_shown_while_nothing_is_selected(shown):
    document, panel = shown(bodies())
    assert panel.page.findChild(QLabel, "inspector_kind").text() == "System"
    assert "gravity" in panel.rows
    assert not panel.rows["dimension"].field.isEnabled()
    document.select(document.system["one"])
    assert panel.page.findChild(QLabel, "inspector_kind").text() == "Rigid body"


def test_an_edit_is_one_step_and_undo_shows_the_old_value(shown, qtbot):
    document, panel = shown(bodies(), None)
    body = document.system["one"]
    document.select(body)
    edit = panel.rows["mass"].field.edit
    type_into(qtbot, edit, "3.25")
    assert body.mass == 3.25
    assert document.undo_stack.count() == 1
    document.undo()
    assert body.mass == 2.0
    assert edit.text() == "2"
    document.redo()
    assert edit.text() == "3.25"


@pytest.mark.parametrize("text", ["abc", "-1", "0", "nan", "1e999", ""])
def test_a_bad_mass_keeps_the_last_valid_one(shown, qtbot, text):
    document, panel = shown(bodies())
    body = document.system["one"]
    document.select(body)
    row = panel.rows["mass"]
    type_into(qtbot, row.field.edit, text)
    assert body.mass == 2.0
    assert document.undo_stack.count() == 0
    assert row.problem.isVisible()
    assert row.problem.text().endswith(".")
    assert row.field.edit.property("invalid")
    qtbot.keyClick(row.field.edit, Qt.Key.Key_Escape)
    assert not row.problem.isVisible()
    assert row.field.edit.text() == "2"


def test_what_concerns_several_parameters_is_refused_while_typing(shown, qtbot):
    """Two bodies of a joint must differ: said in words, before anything is assigned."""
    system = bodies()
    joint = system.add(mb.RevoluteJoint("pin", system["one"], system["two"], at=(0, 0, 0), axis=(0, 1, 0)))
    document, panel = shown(system, joint)
    combo = panel.rows["body_j"].field.combo
    combo.setCurrentText("one")
    combo.activated.emit(combo.currentIndex())
    assert "itself" in panel.rows["body_j"].problem.text()
    assert joint.body_j is system["two"]
    combo.setCurrentText("ground")
    combo.activated.emit(combo.currentIndex())
    assert joint.body_j is system.ground
    assert document.undo_stack.count() == 1


def test_steps_with_the_arrow_keys_are_one_step_to_undo(shown, qtbot):
    document, panel = shown(bodies())
    body = document.system["one"]
    document.select(body)
    edit = panel.rows["mass"].field.edit
    edit.setFocus()
    for _ in range(6):
        qtbot.keyClick(edit, Qt.Key.Key_Up)
    assert body.mass == pytest.approx(2.6)
    assert document.undo_stack.count() == 1
    document.undo()
    assert body.mass == 2.0


def test_moving_a_body_moves_its_joint(shown, qtbot):
    system = bodies()
    joint = system.add(mb.SphericalJoint("ball", system.ground, system["one"], at=(0.1, 0.2, 0.3)))
    document, panel = shown(system, system["one"])
    type_into(qtbot, panel.rows["position"].field.grid.edits[0], "1.1")
    assert joint.at.tolist() == [1.1, 0.2, 0.3]
    document.undo()
    assert joint.at.tolist() == [0.1, 0.2, 0.3]


def test_reset_to_the_default(shown, qtbot):
    document, panel = shown(bodies())
    button = panel.page.findChild(QToolButton, "reset_gravity")
    assert not button.isVisible()
    type_into(qtbot, panel.rows["gravity"].field.grid.edits[2], "-1.62")
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert document.system.gravity.tolist() == [0.0, 0.0, -9.81]
    assert not button.isVisible()


def test_names(shown, qtbot):
    document, panel = shown(bodies())
    body = document.system["one"]
    document.select(body)
    type_into(qtbot, panel.name, "two")
    assert "another element" in panel.page.name_problem.text()
    assert body.name == "one"
    type_into(qtbot, panel.name, "  ")
    assert "empty" in panel.page.name_problem.text()
    type_into(qtbot, panel.name, "crank")
    assert document.system["crank"] is body
    document.undo()
    assert panel.name.text() == "one"
    type_into(qtbot, panel.name, "two", enter=False)
    qtbot.keyClick(panel.name, Qt.Key.Key_Escape)
    assert (panel.name.text(), panel.page.name_problem.text()) == ("one", "")


def test_display_units(shown, qtbot):
    document, panel = shown(bodies(), units="mm/deg")
    body = document.system["one"]
    document.select(body)
    position = panel.rows["position"]
    assert position.unit.text() == "mm"
    assert [edit.text() for edit in position.field.grid.edits] == ["100", "200", "300"]
    type_into(qtbot, position.field.grid.edits[2], "450")
    assert body.position.tolist() == [0.1, 0.2, 0.45]
    assert panel.rows["angular_velocity"].unit.text() == "°/s"
    assert panel.rows["inertia"].unit.text() == "kg mm²"
    document.units = DisplayUnits("SI")
    assert panel.rows["position"].unit.text() == "m"


def test_elements_on_a_joint_show_the_joint_and_take_its_bodies(shown, qtbot):
    system = bodies()
    one = system.add(mb.RevoluteJoint("one pin", system.ground, system["one"], at=(0, 0, 0), axis=(0, 1, 0)))
    two = system.add(mb.RevoluteJoint("two pin", system.ground, system["two"], at=(0, 0, 0), axis=(0, 1, 0)))
    motor = system.add(mb.Driver("motor", one, angle="t"))
    document, panel = shown(system, motor)
    assert "body_i" not in panel.rows
    combo = panel.rows["joint"].field.combo
    assert [combo.itemText(k) for k in range(combo.count())] == ["one pin", "two pin"]
    combo.setCurrentText("two pin")
    combo.activated.emit(combo.currentIndex())
    assert motor.joint is two
    assert motor.body_j is system["two"]
    document.undo()
    assert (motor.joint, motor.body_j) == (one, system["one"])
    type_into(qtbot, panel.rows["displacement"].field.edits[0].edit, "t")
    assert "either" in panel.rows["displacement"].problem.text()


def test_a_driver_shows_what_its_joint_can_do(shown):
    system = mb.System("driven", dimension=2)
    document, inspector = shown(system)
    bar = system.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    block = system.add(mb.PlanarBody("block", mass=1.0, inertia=0.1))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0)))
    slide = system.add(mb.TranslationalJoint("slide", system.ground, block, at=(0, 0), axis=(1, 0)))
    motor = system.add(mb.Driver("motor", hinge, angle="2*t"))
    ram = system.add(mb.Driver("ram", slide, displacement="0.1*t"))
    for driver, there, absent in ((motor, "angle", "displacement"), (ram, "displacement", "angle")):
        document.select(driver)
        assert not inspector.rows[there].isHidden()
        assert inspector.rows[absent].isHidden()
    numbers = {label: list(values) for label, values, _ in derived_numbers(system)}
    assert (numbers["Joints"], numbers["Drivers"]) == ([2], [2])
    assert "equations" not in first_sentence(mb.RevoluteJoint), "five in space, two in the plane"


def test_values_at_the_instant_that_is_shown(shown, qtbot):
    system = mb.System("pendulum", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=2.0, inertia=0.1, position=(0.5, 0.0)))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    document, inspector = shown(system)
    assert not inspector.instant.isVisible(), "without a run there are none"
    result = mb.simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 51))
    document.runs.add(Run("Run 1", RunSettings(), document.model_text(), result))
    document.select(bar)
    document.set_time(0.3)
    values = inspector.instant.values
    x, y = result.position("bar")[30][:2]
    expected = f"{short(float(x))}, {short(float(y))} m"
    qtbot.waitUntil(lambda: values["position"].text() == expected)
    assert inspector.instant.title.text() == "At t = 0.3000 s"
    document.select(system["pin"])
    values = inspector.instant.values
    force = result.quantity("pin.reaction.force.magnitude").values[30]
    qtbot.waitUntil(lambda: values["reaction.force.magnitude"].text() == f"{short(float(force))} N")
    document.set_time(0.0)
    qtbot.waitUntil(lambda: values["reaction.force"].text().startswith("0, "))
    document.set(bar, mass=3.0)
    assert not inspector.instant.isVisible(), "the run is of another model"


def test_the_work_of_a_full_turn_is_nothing(shown, qtbot, monkeypatch):
    """What the accuracy of a run leaves of it is no number to be read."""
    system = mb.System("crank", dimension=2, gravity=(0.0, -9.81))
    bar = system.add(mb.PlanarBody("bar", mass=2.0, inertia=0.1, position=(0.5, 0.0)))
    pin = system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    motor = system.add(mb.Driver("motor", pin, angle="2*t"))
    document, inspector = shown(system)
    result = mb.simulate(system, np.pi, t_eval=np.linspace(0.0, np.pi, 41))
    document.runs.add(Run("Run 1", RunSettings(), document.model_text(), result))
    document.select(motor)
    course = SimpleNamespace(t=np.array([0.0, 1.0, np.pi]), values=np.array([0.0, 0.03, 2e-13]), problem="")
    monkeypatch.setattr(inspector.instant.curves, "get", lambda run, name: course)
    document.set_time(float(np.pi))
    qtbot.waitUntil(lambda: inspector.instant.values["work"].text() == "0 J")


def test_planar_systems_have_two_components(shown):
    document, panel = shown(mb.examples.four_bar())
    assert len(panel.rows["gravity"].field.grid.edits) == 2
    joint = document.system.joints[0]
    document.select(joint)
    assert "axis" not in panel.rows, "it can only be the normal"
    document.select(document.system.ground)
    assert list(panel.rows) == ["shapes"]


def test_help_stands_below_and_in_the_tooltip(shown):
    _, panel = shown(bodies())
    row = panel.rows["gravity"]
    assert row.help.text() == "Acceleration of gravity, global."
    assert "m/s^2" in row.label.toolTip()


def test_derived_numbers_follow(shown, qtbot):
    """The length of a spring is that between its points, and its tension k (l - l0): 3-4-5."""
    system = bodies()
    spring = system.add(
        mb.SpringDamper(
            "spring", system.ground, system["one"], at_i=(0, 0, 0), at_j=(3, 4, 0), stiffness=10.0, free_length=2.0
        )
    )
    numbers = {label: values[0] for label, values, _ in derived_numbers(spring)}
    assert numbers["Length as described"] == pytest.approx(5.0)
    assert numbers["Tension as described"] == pytest.approx(30.0)
    _, panel = shown(system, spring)
    type_into(qtbot, panel.rows["stiffness"].field.edit, "20")
    assert panel.page.findChild(QLabel, "derived_tension_as_described").text() == "60 N"


@pytest.mark.parametrize(
    ("cls", "count"),
    [(mb.RevoluteJoint, 5), (mb.SphericalJoint, 3), (mb.FixedJoint, 6), (mb.CylindricalJoint, 4), (mb.PlanarJoint, 3)],
)
def test_the_equations_of_a_joint_are_the_freedoms_it_takes(cls, count):
    system = bodies()
    axis = {"axis": (0.0, 1.0, 0.0)} if cls is not mb.SphericalJoint else {}
    joint = cls("joint", system.ground, system["one"], at=(0, 0, 0), **axis)
    assert {label: values[0] for label, values, _ in derived_numbers(joint)}["Equations"] == count


def test_a_hinge_in_the_plane_takes_two_freedoms():
    joint = mb.examples.four_bar().joints[0]
    assert {label: values[0] for label, values, _ in derived_numbers(joint)}["Equations"] == 2


def test_principal_moments_are_those_of_the_tensor():
    """(2 ± 1) for [[2, 1], [1, 2]] in the plane of x and y."""
    body = mb.RigidBody("b", mass=1.0, inertia=(2.0, 2.0, 2.5, 1.0, 0.0, 0.0))
    (moments,) = [values for label, values, _ in derived_numbers(body) if label == "Principal moments"]
    assert np.allclose(moments, [1.0, 2.5, 3.0])


def test_a_removed_element_leaves_the_inspector(shown):
    document, panel = shown(bodies())
    body = document.system["one"]
    document.select(body)
    document.remove(body)
    assert panel.element is document.system
    document.undo()
    document.select(body)
    assert panel.rows["mass"].field.value == 2.0


def test_pages_are_used_again_and_hold_nothing_of_the_former_element(shown, qtbot):
    document, panel = shown(bodies())
    one, two = document.system["one"], document.system["two"]
    document.select(one)
    page = panel.page
    type_into(qtbot, panel.rows["mass"].field.edit, "-1")
    assert panel.rows["mass"].problem.isVisible()
    document.select(two)
    assert panel.page is page
    assert not panel.rows["mass"].problem.isVisible()
    type_into(qtbot, panel.rows["mass"].field.edit, "7")
    assert (one.mass, two.mass) == (2.0, 7.0)
    document.select(None)
    assert panel.page is not page


def test_what_is_being_typed_goes_to_the_element_it_was_typed_for(shown, qtbot):
    """A click in the view selects without taking the focus."""
    document, panel = shown(bodies())
    one, two = document.system["one"], document.system["two"]
    document.select(one)
    type_into(qtbot, panel.rows["mass"].field.edit, "5", enter=False)
    document.select(two)
    assert (one.mass, two.mass) == (5.0, 2.0)
    assert panel.rows["mass"].field.edit.text() == "2"


def test_a_python_function_stays_usable(shown):
    system = bodies()
    force = system.add(mb.PointForce("push", system["one"], at=(0, 0, 0), force=(math.sin, 0.0, 0.0)))
    document, panel = shown(system, force)
    assert panel.rows["force"].field.edits[0].edit.text() == "Python: sin"
    panel.rows["force"].field.commit()
    assert document.undo_stack.count() == 0


def test_the_page_fits_a_narrow_dock(shown):
    theme.apply("light")
    for name in ("whipple_bicycle", "car_suspension"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            system = getattr(mb.examples, name)()
        document, panel = shown(system)
        for element in system:
            document.select(element)
            widths = {name: row.minimumSizeHint().width() for name, row in panel.rows.items()}
            assert panel.page.minimumSizeHint().width() <= panel.minimumWidth() - 11, (element, widths)
