"""The stability tab: roots, modes that move with closed joints, the slider, root locus and critical values."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QPushButton, QStyle, QStyleOptionComboBox

import mbframe as mb
from gui.panels.stability.heading import CriticalValues
from gui.panels.stability.remedies import explained, what_moved
from gui.panels.stability.table import LETTERS, MOVING, TIME
from gui.panels.stability.tasks import ASSEMBLED, EQUILIBRIUM, STEADY, About, idle
from gui.panels.stability.variation import ElementNumber, ExampleArgument, example_arguments, variations
from gui.widgets.labels import broken
from mbframe.analysis.linear.mode_motion import ModeMotion, joints_of
from mbframe.analysis.linear.root_words import DECAYS, GROWS, IGNORABLE, NEUTRAL, Roots, root_text, tooltip, what_moves


@pytest.fixture(scope="module")
def bicycle() -> Roots:
    """The bicycle at 5 m/s: capsize, weave and caster mode, all of them decaying."""
    return Roots(mb.linearize(mb.examples.whipple_bicycle(speed=5.0)))


@pytest.fixture
def panel(qtbot, document, solver):
    from gui.panels.stability.panel import StabilityPanel

    panel = StabilityPanel(document, solver)
    qtbot.addWidget(panel)
    panel.resize(1300, 380)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    panel.player.stop()


def linearized(qtbot, panel, about: About | None = None) -> Roots:
    with qtbot.waitSignal(panel.linearized):
        panel.linearize(about)
    return panel.roots


def pair(roots: Roots) -> int:
    return next(k for k, row in enumerate(roots.rows) if row.pair)


# --- words ------------------------------------------------------------------------------------------------------------


def test_a_pair_is_one_row_and_ignorable_roots_come_last(bicycle):
    behaviours = [row.behaviour for row in bicycle.rows]
    assert behaviours == [DECAYS] * 3 + [IGNORABLE] * 6
    assert [row.pair for row in bicycle.rows[:3]] == [False, True, False]
    assert [row.root.real for row in bicycle.rows[:3]] == sorted((r.root.real for r in bicycle.rows[:3]), reverse=True)
    # [Meijaard2007], Table 2, v = 5 m/s.
    weave = bicycle.rows[1].root
    assert weave.real == pytest.approx(-0.775341882195845, abs=1e-9)
    assert abs(weave.imag) == pytest.approx(4.46486771378823, abs=1e-9)
    assert root_text(bicycle.rows[1]) == "−0.77534 ± 4.4649 i"
    assert set(bicycle.row_of_mode) == set(range(10))


def test_verdicts_name_the_decisive_time(bicycle):
    word, sentence = bicycle.verdict
    slowest = np.log(2.0) / 0.32286642900409  # the capsize root of the same table
    assert word == "stable"
    assert f"{slowest:.3g} s" in sentence
    word, sentence = Roots(mb.linearize(mb.examples.whipple_bicycle(speed=8.0))).verdict
    assert word == "unstable"
    assert "One mode grows" in sentence


def test_an_undamped_vibration_is_neutral():
    governor = mb.examples.watt_governor()
    roots = Roots(mb.linearize(governor, mb.steady(governor)))
    assert {row.behaviour for row in roots.rows} == {NEUTRAL, IGNORABLE}
    assert root_text(roots.rows[0]).startswith("0 ±")
    assert roots.verdict[0] == "marginal"


def test_what_moves_is_named_with_its_direction():
    system = mb.System("pair", gravity=(0, 0, 0))
    for k, name in enumerate(("near", "far")):
        body = system.add(mb.RigidBody(name, mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0)))
        system.add(mb.TranslationalJoint(f"guide {name}", system.ground, body, at=(k, 0, 0), axis=(1, 0, 0)))
    anchors = {"at_i": (-1, 0, 0), "at_j": (0, 0, 0)}
    system.add(mb.SpringDamper("spring", system.ground, system["near"], **anchors, stiffness=4.0, free_length=1.0))
    held = {"at_i": (3, 0, 0), "at_j": (1, 0, 0)}
    system.add(mb.SpringDamper("stiff", system.ground, system["far"], **held, stiffness=9.0, free_length=2.0))
    roots = Roots(mb.linearize(system))
    found = {round(abs(row.root.imag), 6): what_moves(row.mode) for row in roots.rows}
    assert found == {2.0: "near moves along x", 3.0: "far moves along x"}  # sqrt(k/m) = 2 and 3
    plane = mb.System("pendulum", dimension=2)
    bar = plane.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0, -0.5)))
    plane.add(mb.RevoluteJoint("pin", plane.ground, bar, at=(0, 0)))
    assert Roots(mb.linearize(plane)).rows[0].moving == "bar turns"


def test_bodies_that_move_alike_share_their_words():
    system = mb.System("twins", gravity=(0, 0, 0))
    twins = [
        system.add(mb.RigidBody(name, mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0)))
        for k, name in enumerate(("one", "two"))
    ]
    for twin in twins:
        system.add(mb.TranslationalJoint(f"guide {twin.name}", system.ground, twin, at=twin.position, axis=(0, 0, 1)))
    system.add(mb.Bushing("between", *twins, at=(0.5, 0, 0), stiffness=(0, 0, 8, 0, 0, 0)))
    system.add(mb.Bushing("held", system.ground, twins[0], at=(0, 0, 0), stiffness=(0, 0, 1, 0, 0, 0)))
    system.add(mb.Bushing("kept", system.ground, twins[1], at=(1, 0, 0), stiffness=(0, 0, 1, 0, 0, 0)))
    found = {round(abs(row.root.imag), 6): row.moving for row in Roots(mb.linearize(system)).rows}
    assert sorted(found) == [1.0, round(17.0**0.5, 6)]  # sqrt(k/m), and sqrt((k + 2 * 8)/m) against each other
    for words in found.values():
        assert sorted(words.removesuffix(" move along z").split(", ")) == ["one", "two"]


def test_directions_beside_the_axes_are_left_to_the_tooltip(bicycle):
    weave = bicycle.rows[1]
    assert weave.moving_briefly == "fork, front wheel turn"  # about the inclined axis of the steering
    assert weave.moving.startswith("fork, front wheel turn about (")
    assert weave.moving in tooltip(weave)
    assert bicycle.rows[0].moving_briefly == bicycle.rows[0].moving == "rear wheel, frame move along y"


def test_tooltips_tell_residual_condition_or_the_reason(bicycle):
    assert "residual" in tooltip(bicycle.rows[0])
    assert "condition" in tooltip(bicycle.rows[0])
    assert "says nothing about stability: path" in tooltip(bicycle.rows[3])


def test_roots_keep_their_identity_while_a_parameter_changes(bicycle):
    before, row = bicycle, pair(bicycle)
    for speed in np.arange(5.1, 8.0, 0.1):
        after = Roots(mb.linearize(mb.examples.whipple_bicycle(speed=speed)))
        row = after.following(before, row)
        assert row is not None
        assert after.rows[row].pair  # the weave pair, whatever its place in the table
        before = after
    assert before.following(bicycle, 3) == [r.moving for r in before.rows].index(bicycle.rows[3].moving)
    assert before.following(bicycle, 99) is None


def test_errors_become_sentences_with_remedies():
    with pytest.raises(mb.AnalysisError) as error:
        mb.linearize(mb.examples.four_bar())
    found = explained(str(error.value), About())
    assert "neither an equilibrium nor part of a steady motion; bar 1 would accelerate" in found.text
    assert [(label, about.kind) for label, about in found.remedies] == [
        ("Find equilibrium", EQUILIBRIUM),
        ("Find steady motion", STEADY),
    ]
    assert "mb." not in found.text


def test_open_joints_and_turns_have_their_own_remedies():
    system = mb.examples.simple_pendulum()
    body = system.bodies[0]
    body.update(velocity=np.array([0.0, 1.0, 0.3])[: system.dimension])
    message = (
        "the positions violate the constraints: pin 0.3 (m, or rad); a linearization needs a consistent state: pass"
    )
    assert explained(message, About()).remedies == (("Assemble first", About(ASSEMBLED)),)
    turning = "r; it is steady in a turning frame: pass frame=mb.TurningFrame(axis=(0, 0, 1), rate=0.5)"
    ((label, about),) = explained(turning, About()).remedies
    assert label == "Use the turning frame"
    assert about.turn == ((0.0, 0.0, 1.0), 0.5)


def test_what_moved_is_told_in_words():
    text = what_moved(EQUILIBRIUM, {"bar": (0.5, np.pi / 6), "rod": (0.0, 0.0)}, object())
    assert "bar 0.5 m and 30°" in text
    assert "rod" not in text
    assert "described state." in what_moved(STEADY, {"bar": (0.0, 0.0)}, object())


# --- motion -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["whipple_bicycle", "four_bar", "bricard"])
def test_no_joint_opens_in_a_mode(name):
    system = getattr(mb.examples, name)()
    try:
        lin = mb.linearize(system)
    except mb.AnalysisError:
        lin = mb.linearize(system, mb.equilibrium(system))
    motion = ModeMotion(lin)
    mode = Roots(lin).rows[0].mode
    amplitude = motion.amplitude(mode)
    for phase in np.linspace(0.0, 2.0 * np.pi, 7):
        state = motion.state(mode, amplitude, phase)
        violation = mb.evaluate(system, state).violation.position
        assert violation.max() < 1e-8 * max(1.0, motion.size)
        moved = mode.state(amplitude, phase, assembled=False)
        for body in system.bodies:  # near the linear motion: joints open by its square at most
            gap = np.linalg.norm(state.position(body) - moved.position(body))
            assert gap < 2.0 * amplitude**2 * motion.size


def test_the_joints_of_a_motion_are_reused_only_if_they_are_the_same():
    slow, fast = (mb.examples.whipple_bicycle(speed=v) for v in (4.0, 6.0))
    motion = ModeMotion(mb.linearize(slow))
    assert motion.follow(mb.linearize(fast))
    other = mb.examples.whipple_bicycle(speed=6.0, parameters={"trail": 0.1})
    assert joints_of(other) != joints_of(slow)
    assert not motion.follow(mb.linearize(other))


# --- what can be varied -----------------------------------------------------------------------------------------------


def test_arguments_of_examples_have_the_units_of_their_docstrings():
    assert example_arguments("whipple_bicycle") == [ExampleArgument("whipple_bicycle", "speed", 5.0, "m/s")]
    assert {a.argument: a.unit for a in example_arguments("heavy_top")} == {"spin": "rad/s", "lean": "rad"}
    assert example_arguments("no such example") == []


def test_an_argument_changes_what_it_decides_and_leaves_edits_alone():
    system = mb.examples.whipple_bicycle()
    system["frame"].update(mass=70.0)
    ExampleArgument("whipple_bicycle", "speed", 5.0).applied(system, 7.0)
    assert system["frame"].mass == 70.0
    assert system["frame"].velocity[0] == 7.0
    assert system["rear wheel"].angular_velocity[1] == pytest.approx(7.0 / 0.3)
    wanted = mb.examples.whipple_bicycle(speed=7.0)
    wanted["frame"].update(mass=70.0)
    assert np.allclose(mb.linearize(system).eigenvalues, mb.linearize(wanted).eigenvalues, atol=1e-9)


@pytest.mark.parametrize(("example", "argument"), [("heavy_top", "lean"), ("rolling_disk", "lean")])
def test_an_argument_that_moves_bodies_leaves_their_joints_where_the_example_has_them(document, example, argument):
    document.open_example(example)
    variation = next(a for a in example_arguments(example) if a.argument == argument)
    document.set_many(variation.changes(document.system, 0.3))
    wanted = getattr(mb.examples, example)(**{argument: 0.3})
    for element in wanted:
        for field in element.parameters():
            value, found = getattr(element, field), getattr(document.system[element.name], field)
            if isinstance(value, np.ndarray):
                assert np.allclose(value, found, atol=1e-12), (element.name, field)
    assert document.undo_stack.count() == 1


def test_every_number_of_every_example_has_a_range():
    for name in mb.examples.names():
        system = getattr(mb.examples, name)()
        for variation in variations(system, name):
            low, high = variation.bounds(system)
            assert low <= variation.value(system) <= high
            assert low < high
            variation.applied(system, 0.5 * (low + high))


def test_all_numbers_of_a_model_can_be_varied():
    system = mb.examples.four_bar()
    found = variations(system, None)
    assert ElementNumber("spring", "stiffness", None, "N/m") == found[0]
    assert ElementNumber(None, "gravity", 1, "m/s^2") in found
    gravity = ElementNumber(None, "gravity", 1)
    gravity.applied(system, -3.7)
    assert tuple(system.gravity) == (0.0, -3.7)
    assert found[0].bounds(system)[0] == 0.0
    mass = ElementNumber("bar 1", "mass", None, "kg")
    assert mass.bounds(system)[0] > 0.0  # a mass is above zero


def test_a_found_state_becomes_the_described_one():
    system = mb.examples.four_bar()
    state = mb.equilibrium(system)
    mb.describe(system, state)
    again = mb.equilibrium(system)
    for body in system.bodies:
        assert np.allclose(again.position(body), body.position, atol=1e-8)
    assert np.linalg.norm(mb.evaluate(system, mb.assemble(system)).violation.position) < 1e-10


# --- the tab ----------------------------------------------------------------------------------------------------------


def test_the_empty_tab_says_what_it_shows_and_has_one_button(qtbot, panel, document):
    assert not panel.empty.button.isEnabled()  # nothing to linearize
    document.open_example("whipple_bicycle")
    assert panel.pages.currentIndex() == 0
    assert panel.empty.button.isEnabled()
    with qtbot.waitSignal(panel.linearized):
        qtbot.mouseClick(panel.empty.button, Qt.MouseButton.LeftButton)
    assert panel.pages.currentIndex() == 1
    assert panel.heading.verdict.text() == "Stable"
    assert panel.table.modes.rowCount() == 9
    document.open_example("four_bar")
    assert panel.pages.currentIndex() == 0


@pytest.mark.parametrize("width", [815, 583])  # windows of 1400 and 1100 pixels
def test_the_empty_tab_shows_the_whole_name_of_each_state(qtbot, panel, document, width):
    panel.resize(width, 380)
    document.open_example("four_bar")
    choice = panel.empty.about
    for k in range(choice.count()):
        choice.setCurrentIndex(k)
        option = QStyleOptionComboBox()
        choice.initStyleOption(option)
        kind, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = choice.style().subControlRect(kind, option, part, choice).width()
        assert room >= choice.fontMetrics().horizontalAdvance(choice.currentText())


USUAL, LESS, SMALL = 815, 690, 583  # the widths of the tab in windows of 1400, 1280 and 1100 pixels


@pytest.mark.parametrize("points", [0, 14], ids=["usual font", "large font"])
@pytest.mark.parametrize("width", [USUAL, LESS, SMALL])
def test_nothing_of_the_table_is_cut(qtbot, panel, document, width, points):
    if points:
        font = QFont(panel.font())
        font.setPointSizeF(points)
        panel.setFont(font)
    panel.resize(width, 260)
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    table, header = panel.table, panel.table.horizontalHeader()
    for column in range(table.modes.columnCount()):
        if table.isColumnHidden(column):
            continue
        title = table.modes.headerData(column, Qt.Orientation.Horizontal)
        assert header.sectionSize(column) > header.fontMetrics().horizontalAdvance(title) + 16  # what the style leaves
        if column != MOVING:
            assert header.sectionSize(column) >= table.sizeHintForColumn(column)
    assert header.sectionSize(MOVING) >= LETTERS * table.fontMetrics().averageCharWidth()
    seen = table.viewport().width()
    if not points:
        assert header.length() == seen  # and nothing has to be scrolled
    if width >= LESS and not points:
        about, room = panel.heading.about, 40  # for the arrow and the frame
        words = about.fontMetrics().horizontalAdvance(about.currentText())
        assert about.width() >= words + room
        assert panel.heading.sentence.shown == broken_in_two(panel.heading.sentence.text(), panel.heading.sentence)
    assert not any(table.isColumnHidden(column) for column in (0, MOVING, TIME))


def broken_in_two(text: str, label) -> list[str]:
    """The lines of a text that ends within two of them."""
    lines = broken(text, label.fontMetrics(), label.contentsRect().width(), 99)
    assert len(lines) <= 2
    return lines


def test_columns_do_not_shrink_while_roots_change(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    panel.sweep.set_value(8.0)  # "grows" in the column of times
    qtbot.waitUntil(lambda: panel.heading.verdict.text() == "Unstable")
    last = TIME
    wide = panel.table.columnWidth(last)
    panel.sweep.set_value(5.0)
    qtbot.waitUntil(lambda: panel.heading.verdict.text() == "Stable")
    assert panel.table.columnWidth(last) == wide
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    assert panel.table.columnWidth(last) < wide


def test_a_narrow_tab_leaves_words_away_before_it_scrolls(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    assert panel.heading.button.text() == "Linearize"
    panel.resize(SMALL, 260)
    QApplication.processEvents()
    assert panel.heading.button.text() == ""
    assert "Linearize" in panel.heading.button.toolTip()
    assert panel.minimumSizeHint().width() <= SMALL
    panel.resize(USUAL, 260)
    QApplication.processEvents()
    assert panel.heading.button.text() == "Linearize"


def test_a_click_on_the_weave_root_moves_the_bicycle(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    roots = linearized(qtbot, panel)
    row = pair(roots)
    shown = []
    document.state_shown.connect(shown.append)
    place = panel.plane.pixel(roots.rows[row].root).toPoint()
    qtbot.mouseClick(panel.plane.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    assert panel.selected == row
    assert panel.table.currentIndex().row() == row
    qtbot.waitUntil(lambda: len(shown) > 5)
    assert document.animation_owner is panel.player
    lean = [state.motion("frame").rotation[2, 1] for state in shown]
    assert np.ptp(lean) > 0.01  # it does lean
    for state in shown:
        assert mb.evaluate(document.system, state).violation.position.max() < 1e-8
    document.animation_owner = object()  # something else begins to move the bodies
    assert not panel.player.playing


def test_arrow_keys_walk_through_the_modes(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    roots = linearized(qtbot, panel)
    panel.choose(0)
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert panel.selected == 1
    qtbot.keyClick(panel.plane, Qt.Key.Key_Right)
    assert panel.selected == panel.plane.selected == panel.table.currentIndex().row() == 2
    qtbot.keyClick(panel.plane, Qt.Key.Key_Up)
    assert panel.selected == 1
    for _ in roots.rows:
        qtbot.keyClick(panel.plane, Qt.Key.Key_Down)
    assert panel.selected == len(roots.rows) - 1


def test_size_speed_and_growth_of_a_mode(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    roots = linearized(qtbot, panel)
    panel.choose(pair(roots))
    qtbot.waitUntil(lambda: panel.player.playing)
    panel.player.stop()
    assert panel.controls.speed_label.text() == "real time"  # 0.7 Hz is pleasant as it is
    player = panel.player
    row = roots.rows[panel.selected]
    amplitude, _ = player._place(0.0)
    panel.controls.amplitude.setValue(50)
    assert player._place(0.0)[0] == pytest.approx(0.5 * amplitude)
    panel.controls.growth.setChecked(True)
    elapsed = 0.25 * player.period * player.cycles
    assert player._place(0.25)[0] == pytest.approx(0.5 * amplitude * np.exp(row.root.real * elapsed))
    panel.choose(2)  # the caster mode, 71 ms: slow motion
    assert panel.player.speed < 1.0
    qtbot.mouseClick(panel.controls.play, Qt.MouseButton.LeftButton)
    assert not panel.player.playing


def test_a_mode_that_grows_has_another_shape_in_plane_and_table(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    panel.sweep.set_value(8.0)  # before there are roots: remembered for the first ones
    roots = linearized(qtbot, panel)
    assert roots.rows[0].behaviour == GROWS
    symbols = {spot.symbol() for spot in panel.plane._dots.points()}
    assert {"t1", "o", "x"} <= symbols
    assert panel.heading.verdict.text() == "Unstable"


def test_the_slider_moves_roots_and_the_playing_mode(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    roots = linearized(qtbot, panel)
    panel.choose(pair(roots))
    qtbot.waitUntil(lambda: panel.player.playing)
    counted = []
    panel.linearized.connect(lambda found: counted.append(panel.value))
    slider = panel.sweep.slider
    slider.setFocus()
    for _ in range(12):
        qtbot.keyClick(slider, Qt.Key.Key_PageUp)
        qtbot.wait(10)
    qtbot.waitUntil(lambda: not panel.live.busy and counted and counted[-1] == panel.sweep.value)
    assert panel.sweep.value > 7.0
    expected = mb.linearize(mb.examples.whipple_bicycle(speed=panel.sweep.value)).eigenvalues
    assert np.allclose(np.sort_complex(panel.roots.linearization.eigenvalues), np.sort_complex(expected), atol=1e-8)
    assert panel.roots.rows[panel.selected].pair  # still the weave mode
    assert panel.player.playing
    assert not document.dirty  # looking changes nothing


def test_a_value_is_applied_as_one_step(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    with qtbot.waitSignal(panel.linearized):
        panel.sweep.set_value(6.5)
    before = document.model_text()
    with qtbot.waitSignal(panel.linearized):
        qtbot.mouseClick(panel.sweep.apply, Qt.MouseButton.LeftButton)
    assert document.system["frame"].velocity[0] == 6.5
    assert document.undo_stack.count() == 1
    with qtbot.waitSignal(panel.linearized):
        document.undo()
    assert document.model_text() == before


def test_roots_follow_an_edit_of_the_model(qtbot, panel, document):
    document.open_example("four_bar")
    before = linearized(qtbot, panel, About(EQUILIBRIUM)).rows[0].root
    with qtbot.waitSignal(panel.linearized):
        document.set(document.system["spring"], damping=2.0 * document.system["spring"].damping)
    assert panel.roots.rows[0].root.real == pytest.approx(2.0 * before.real, rel=0.05)


def test_the_root_locus_of_the_bicycle(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    panel.sweep.edits["high"].setFocus()
    panel.sweep.edits["high"].setText("8")
    qtbot.keyClick(panel.sweep.edits["high"], Qt.Key.Key_Return)
    assert panel.sweep.high == 8.0
    qtbot.mouseClick(panel.sweep.locus, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.locus is not None)
    weave, capsize = panel.locus.critical
    # [Meijaard2007], section 6: weave speed 4.29238253634111 m/s, capsize speed 6.02426201538837 m/s.
    assert (weave.kind, weave.value) == ("Hopf", pytest.approx(4.29238253634111, abs=1e-9))
    assert (capsize.kind, capsize.value) == ("divergence", pytest.approx(6.02426201538837, abs=1e-9))
    chip = panel.findChild(QPushButton, "critical_0")
    assert "Hopf" in chip.text()
    with qtbot.waitSignal(panel.linearized):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert panel.sweep.value == weave.value
    assert abs(panel.roots.rows[pair(panel.roots)].root.real) < 1e-6
    with qtbot.waitSignal(panel.linearized):  # the line in the plot over the speed
        place = panel.over.pixel_of(capsize.value).toPoint()
        qtbot.mouseClick(panel.over.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.sweep.value == capsize.value
    panel.sweep.colors["branch"].trigger()
    assert panel.plane.color_by == "branch"
    panel.sweep.remove_locus.trigger()
    assert panel.locus is None
    assert not panel.over.isVisible()


def test_critical_values_leave_their_kinds_to_tooltips_where_there_is_no_room(qtbot):
    values = CriticalValues()
    qtbot.addWidget(values)
    crossings = ((4.292, "Hopf"), (6.024, "divergence"))
    found = [SimpleNamespace(value=v, kind=kind, frequency=0.5, direction="grows") for v, kind in crossings]
    values.resize(600, 30)
    values.show()
    values.show_values(SimpleNamespace(critical=found), "m/s", 1.0)
    chips = values.findChildren(QPushButton)
    assert [chip.text() for chip in chips] == ["4.292 m/s Hopf", "6.024 m/s divergence"]
    values.resize(200, 30)
    QApplication.processEvents()
    assert [chip.text() for chip in chips] == ["4.292 m/s", "6.024 m/s"]
    assert [chip.toolTip().split(":")[0] for chip in chips] == ["Hopf", "divergence"]
    with qtbot.waitSignal(values.chosen) as chosen:
        qtbot.mouseClick(chips[1], Qt.MouseButton.LeftButton)
    assert chosen.args == [6.024]


def test_a_locus_can_be_cancelled(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    panel.draw_locus()
    assert panel.heading.waiting.isVisible()
    qtbot.mouseClick(panel.heading.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.heading.waiting.isVisible())
    assert panel.locus is None
    assert panel.sweep.locus.isEnabled()


def test_bad_numbers_in_the_range_are_refused_inline(qtbot, panel, document):
    document.open_example("whipple_bicycle")
    edit = panel.sweep.edits["low"]
    edit.setFocus()
    for text, words in (("abc", "not a number"), ("99", "must be below the highest")):
        edit.setText(text)
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        assert words in panel.banner.text.text()
        assert panel.sweep.low == 0.0
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert edit.text() == "0"


def test_a_state_that_is_no_equilibrium_offers_to_find_one(qtbot, panel, document):
    document.open_example("four_bar")
    panel.linearize()
    qtbot.waitUntil(panel.banner.isVisible)
    assert panel.pages.currentIndex() == 0
    button = panel.banner.buttons[0]
    assert button.text() == "Find equilibrium"
    with qtbot.waitSignal(panel.linearized):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "Equilibrium found" in panel.banner.text.text()
    assert "bar 2" in panel.banner.text.text()
    found = panel.roots.linearization
    before = document.model_text()
    with qtbot.waitSignal(panel.linearized):
        qtbot.mouseClick(panel.banner.buttons[0], Qt.MouseButton.LeftButton)  # apply to the model
    assert document.undo_stack.count() == 1
    assert np.allclose(panel.roots.linearization.eigenvalues, found.eigenvalues, atol=1e-6)
    document.undo()
    assert document.model_text() == before


def test_a_steady_turn_with_a_given_rate(qtbot, panel, document, monkeypatch):
    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    proposed = lambda parent, title, words, value, *_: (value, True)  # noqa: E731
    monkeypatch.setattr("gui.panels.stability.heading.QInputDialog.getDouble", proposed)
    with qtbot.waitSignal(panel.linearized):
        panel.heading.steady_turn.trigger()
    lin = panel.roots.linearization
    assert lin.frame.rate == pytest.approx(0.2)
    assert "turning by 0.2 rad/s" in panel.banner.text.text()
    speed = np.linalg.norm(lin.state.velocity("rear wheel"))
    yaw = np.cross(lin.frame.angular_velocity, lin.state.velocity("rear wheel"))
    assert np.linalg.norm(yaw) == pytest.approx(0.2 * speed)  # a level circle
    lean = np.arcsin(lin.state.rotation("rear wheel").as_matrix()[2, 1])
    assert abs(lean) == pytest.approx(np.arctan(0.2 * speed / 9.81), rel=0.15)  # as for a point mass, about


@pytest.mark.parametrize(
    ("source", "t", "expected"),
    [
        ("if(t > 3, 100, 0)", 0.0, True),  # a push to come
        ("if(t > 3, 100, 0)", 2.95, True),
        ("if(t > 3, 100, 0)", 3.0, False),  # it begins right here
        ("if(t > 3, 100, 0)", 3.5, False),
        ("if(t > 3, if(t < 4, 100, 0), 0)", 5.0, True),  # one that has been
        ("if(t < 0.2, 50*sin(5*pi*t), 0)", 0.0, False),  # begins with zero
        ("100*sin(2*t)", 0.0, False),  # passes zero
        ("100*sin(2*t)", np.pi, False),
        ("t**3", 0.0, False),
        ("5*t", 0.0, False),
        (0.0, 0.0, True),
        (2.0, 0.0, False),
    ],
)
def test_a_load_is_idle_where_it_is_zero_all_around(source, t, expected):
    assert idle(mb.Function(source), t) == expected


def test_tables_and_callables_are_idle_where_they_are_zero_all_around():
    pulse = mb.Function.table([0.0, 1.0, 1.1, 1.2, 5.0], [0.0, 0.0, 10.0, 0.0, 0.0])
    assert idle(pulse, 0.5)
    assert idle(pulse, 3.0)
    assert not idle(pulse, 1.05)
    assert not idle(mb.Function(lambda t: 3.0 * t), 0.0)
    assert idle(mb.Function(lambda t: 3.0 if t > 1.0 else 0.0), 0.0)


def test_loads_that_are_left_out_are_named_with_a_remedy(qtbot, panel, document):
    system = mb.examples.four_bar()
    body = system.bodies[0]
    system.add(mb.PointForce("push", body, at=(0, 0), force=("if(t > 3, 100, 0)", 0)))
    document.open_system(system)
    roots = linearized(qtbot, panel, About(EQUILIBRIUM))
    words = panel.banner.text.text()
    assert panel.banner.isVisible()
    assert "Without push, zero around t = 0 s" in words
    assert "make it constant" in words
    without = mb.examples.four_bar()
    expected = mb.linearize(without, mb.equilibrium(without)).eigenvalues
    assert np.allclose(roots.linearization.eigenvalues, expected, atol=1e-9)


def test_a_load_that_passes_zero_takes_part(qtbot, panel, document):
    """It is no equilibrium for long, and that is said."""
    system = mb.examples.four_bar()
    body = system.bodies[0]
    system.add(mb.PointForce("shake", body, at=(0.1, 0), force=("100*sin(2*t)", 0)))
    document.open_system(system)
    panel.linearize(About(EQUILIBRIUM))
    qtbot.waitUntil(panel.banner.isVisible)
    assert "neither an equilibrium nor part of a steady motion" in panel.banner.text.text()


def test_a_motion_that_is_not_steady_is_told():
    with pytest.raises(mb.AnalysisError, match="no steady motion"):
        About(STEADY, rate=1.0).found(mb.examples.chaplygin_sleigh())


def test_a_state_is_not_applied_where_that_would_change_the_mechanics(qtbot, panel, document):
    system = mb.System("held", gravity=(0, 0, -9.81))
    bar = system.add(mb.RigidBody("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.TorsionalSpringDamper("coil", hinge.body_i, bar, at=(0, 0, 0), axis=(0, 1, 0), stiffness=20.0))
    document.open_system(system)
    linearized(qtbot, panel, About(EQUILIBRIUM))
    panel.apply_state()
    qtbot.waitUntil(lambda: "cannot become" in panel.banner.text.text())
    assert document.undo_stack.count() == 0


def test_about_the_state_at_the_current_time(qtbot, panel, document):
    from gui.document.runs import Run

    document.open_example("four_bar")
    rest = mb.equilibrium(document.system)
    result = mb.simulate(document.system, 0.1, initial=rest, t_eval=np.linspace(0.0, 0.1, 5))
    document.runs.add(Run("rest", result=result))
    document.set_time(0.05)
    about = panel.about_of("shown")
    assert about.state.t == pytest.approx(0.05)
    roots = linearized(qtbot, panel, about)
    assert np.allclose(roots.linearization.eigenvalues, mb.linearize(document.system, rest).eigenvalues, atol=1e-4)


def test_both_themes(qtbot, panel, document):
    from gui.widgets import theme

    document.open_example("whipple_bicycle")
    linearized(qtbot, panel)
    try:
        for name in ("dark", "light"):
            theme.apply(name)
            assert not panel.grab().isNull()
            background = panel.plane.backgroundBrush().color().name()
            assert background == theme.current().surface
    finally:
        theme.apply("light")


def test_closing_while_roots_are_computed(qtbot, document, solver):
    from PySide6.QtCore import QCoreApplication, QEvent

    from gui.panels.stability.panel import StabilityPanel

    document.open_example("whipple_bicycle")
    panel = StabilityPanel(document, solver)
    panel.show()
    with qtbot.waitSignal(panel.linearized):
        panel.linearize()
    panel.choose(1)
    panel.draw_locus()
    panel.linearize()
    jobs = [panel.live.job, panel._locus_job]
    panel.close()
    panel.deleteLater()
    QCoreApplication.sendPostedEvents(panel, QEvent.Type.DeferredDelete)
    jobs[1].cancel()
    qtbot.waitUntil(lambda: all(job.done for job in jobs))
    document.set(document.system["frame"], mass=80.0)  # nobody is left who would answer with an error
