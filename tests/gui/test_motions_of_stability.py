"""The stability tab about motions: tasks against closed forms, and what is clicked and dragged."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtTest import QTest

import mbframe as mb
from gui.panels.stability.branch_plot import pieces
from gui.panels.stability.campbell_page import CampbellPage
from gui.panels.stability.circle import behaviour_of
from gui.panels.stability.motion_pages import FollowPage, PeriodicPage
from gui.panels.stability.motion_tasks import (
    BranchFound,
    CampbellTask,
    DisturbedTask,
    FollowTask,
    Mark,
    Multiplier,
    Orbit,
    PeriodicTask,
    Point,
)
from gui.panels.stability.tasks import EQUILIBRIUM, Subject
from gui.panels.stability.variation import ElementNumber, example_arguments
from gui.solving.process import Cancelled, Failure
from gui.solving.tasks import Model
from mbframe.analysis.states.describing import described_state
from mbframe.state import Motion

MASS, STIFFNESS, DAMPING, RATE = 2.0, 50.0, 4.0, 3.0


def quiet(fraction, info=None):
    """A report that nobody hears."""


def driven():
    """A mass on a spring with a damper, pushed by a sine."""
    system = mb.System("driven", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=MASS, inertia=(1, 1, 1), position=(1, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(1, 0, 0), axis=(1, 0, 0)))
    spring = {"stiffness": STIFFNESS, "damping": DAMPING, "free_length": 1.0}
    system.add(mb.SpringDamper("spring", system.ground, body, at_i=(0, 0, 0), at_j=(1, 0, 0), **spring))
    system.add(mb.PointForce("push", body, at=(1, 0, 0), force=(f"10*cos({RATE}*t)", 0, 0)))
    return system


@pytest.fixture(scope="module")
def orbit():
    """The periodic motion of the driven mass, as the task finds it."""
    return PeriodicTask(Subject(Model.of(driven())), 2.0 * np.pi / RATE).run(quiet)


def test_multipliers_of_a_driven_oscillator_are_exp_of_its_roots(orbit):
    root = -DAMPING / (2 * MASS) + 1j * np.sqrt(STIFFNESS / MASS - (DAMPING / (2 * MASS)) ** 2)
    expected = np.exp(root * 2.0 * np.pi / RATE)
    values = np.array([one.value for one in orbit.multipliers])
    assert min(np.abs(values - expected)) < 1e-7
    assert orbit.point.stability == "asymptotic"
    assert {one.said for one in orbit.multipliers} == {"dies out"}
    size = 10.0 / abs(STIFFNESS - MASS * RATE**2 + 1j * RATE * DAMPING)
    x = np.array([state.motions["mass"].position[0] for state in orbit.point.states]) - 1.0
    assert x.max() == pytest.approx(size, rel=5e-3)  # of 48 samples the largest is a little below


def test_a_disturbance_of_it_dies_out(orbit):
    played = DisturbedTask(Subject(Model.of(driven())), orbit, 0).run(quiet)
    rest = np.array([state.motions["mass"].position[0] for state in orbit.point.states])
    seen = np.array([state.motions["mass"].position[0] for state in played.states])
    along = np.linspace(0.0, 3.0, len(seen))  # periods
    away = np.abs(seen - np.interp(along % 1.0, np.arange(len(rest) + 1) / len(rest), np.append(rest, rest[0])))
    assert away[:40].max() > 5.0 * away[-40:].max()
    assert played.period == pytest.approx(3.0 * orbit.point.period)


def column():
    """A pendulum on its head that a torsional spring holds: it gives way at mass = k/(g l)."""
    system = mb.System("column", dimension=2, gravity=(0, -10.0))
    bar = system.add(mb.PlanarBody("bar", mass=0.7, inertia=0.1, position=(0, 0.5)))
    hinge = system.add(mb.RevoluteJoint("foot", system.ground, bar, at=(0, 0)))
    assert hinge
    system.add(mb.TorsionalSpringDamper("spring", system.ground, bar, at=(0, 0), stiffness=5.0))
    return system


def test_a_branch_of_equilibria_with_its_branch_point():
    number = ElementNumber("bar", "mass", None, "kg")
    heard = []
    task = FollowTask(Subject(Model.of(column()), variation=number), EQUILIBRIUM, 0.7, (0.5, 1.4))
    found = task.run(lambda fraction, info: heard.append((fraction, info)))
    assert [(mark.kind, mark.point.value) for mark in found.marks] == [("branch", pytest.approx(1.0, abs=1e-6))]
    for point in found.points:
        if abs(point.value - 1.0) > 1e-3 and abs(point.states[0].motions["bar"].position[0]) < 1e-9:
            assert (point.stability == "unstable") == (point.value > 1.0)
    assert heard[-1][1][0] >= 2
    assert 0.0 < heard[-1][0] < 1.0


def test_a_cancelled_branch_keeps_what_was_found():
    calls = []

    def report(fraction, info=None):
        calls.append(info)
        if len(calls) == 3:
            raise Cancelled

    number = ElementNumber("bar", "mass", None, "kg")
    found = FollowTask(Subject(Model.of(column()), variation=number), EQUILIBRIUM, 0.7, (0.5, 1.4)).run(report)
    assert 2 <= len(found.points) < 40


def test_a_rotor_over_its_speed():
    (speed,) = example_arguments("rotor_with_disks")
    task = CampbellTask(Subject(Model.of(mb.examples.rotor_with_disks()), variation=speed), (0.0, 50.0, 100.0))
    found = task.run(quiet)
    whole = mb.campbell(mb.examples.rotor_with_disks, (0.0, 50.0, 100.0))
    np.testing.assert_allclose(found.frequencies, whole.frequencies, rtol=1e-9)
    assert [c[0] for c in found.critical] == [c.speed for c in whole.critical_speeds]


# ---- Pages ----------------------------------------------------------------------------------------------------------


class FakeJob(QObject):
    progressed = Signal(float, object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, task):
        super().__init__()
        self.task, self.stopped = task, False

    def cancel(self):
        self.stopped = True


class FakeSolver(QObject):
    def __init__(self):
        super().__init__()
        self.jobs = []

    def submit(self, task):
        self.jobs.append(FakeJob(task))
        return self.jobs[-1]


def state_at(system, x):
    state = described_state(system)
    motion = state.motions["bar"]
    moved = Motion(np.array([x, 0.5, 0.0]), motion.rotation, motion.velocity, motion.angular_velocity)
    return mb.State(0.0, {"bar": moved}, {}, 2)


def branch(system):
    points = tuple(
        Point(value, "asymptotic" if value < 1.0 else "unstable", (state_at(system, 0.1 * value),))
        for value in np.linspace(0.5, 1.5, 11).tolist()
    )
    mark = Mark("branch", Point(1.0, "marginal", (state_at(system, 0.1),)), 0.0, "1: branch")
    return BranchFound(EQUILIBRIUM, points, (mark,), ("the end of the interval", "the end of the interval"))


@pytest.fixture
def follow(document, qtbot):
    document.open_system(column())
    page = FollowPage(document, FakeSolver())
    qtbot.addWidget(page)
    page.resize(700, 260)
    page.show()
    qtbot.waitExposed(page)
    return page


def test_a_branch_is_drawn_clicked_and_dragged(follow, qtbot):
    document, shown = follow.document, []
    document.state_shown.connect(shown.append)
    follow.range.choose(next(one for one in follow.range.choices if one.label == "bar · mass"))
    follow.button.click()
    job = follow.solver.jobs[-1]
    assert (job.task.start, job.task.value) == (EQUILIBRIUM, 0.7)
    job.progressed.emit(0.4, (7, 0.9))
    assert follow.waiting.isVisible()
    assert "7 solutions" in follow.waiting.bar.text()
    job.finished.emit(branch(document.system))
    assert not follow.waiting.isVisible()
    assert "branch point at 1" in follow.words.text()
    follow.shown.setCurrentIndex(follow.shown.findText("bar x"))
    follow.shown.activated.emit(0)
    plot = follow.plot

    def pixel(number):
        _, _, x, y = plot._places[number]
        return plot.mapFromScene(plot.getPlotItem().vb.mapViewToScene(QPointF(x, y)))

    def send(kind, place):
        call = {"press": QTest.mousePress, "release": QTest.mouseRelease}[kind]
        call(plot.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)

    send("press", pixel(2))
    assert plot.selected == (0, 2)
    assert shown[-1].motions["bar"].position[0] == pytest.approx(0.07)
    QTest.mouseMove(plot.viewport(), pixel(8))
    qtbot.waitUntil(lambda: plot.selected == (0, 8))
    assert shown[-1].motions["bar"].position[0] == pytest.approx(0.13)
    send("release", pixel(8))
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert plot.selected == (0, 7)


def test_a_failure_and_another_model(follow):
    follow.button.click()
    job = follow.solver.jobs[-1]
    job.failed.emit(Failure("there is no equilibrium near the described state"))
    assert "There is no equilibrium" in follow.banner.text.text()
    follow.button.click()
    follow.document.open_system(column())
    assert follow.solver.jobs[-1].stopped
    assert not follow.busy
    assert not follow.banner.isVisibleTo(follow)


def test_multipliers_are_listed_and_a_click_disturbs(document, qtbot):
    document.open_system(column())
    page = PeriodicPage(document, FakeSolver())
    qtbot.addWidget(page)
    page.button.click()
    states = tuple(state_at(document.system, 0.1 * k) for k in range(4))
    multipliers = (Multiplier(1.5 + 0j, 0.4 + 0j, 1, ""), Multiplier(1.0 + 0j, 0j, 0, "it comes later"))
    found = []
    page.found.connect(found.append)
    page.solver.jobs[-1].finished.emit(Orbit(Point(0.0, "unstable", states, 1.0), multipliers, 1e-12))
    assert found
    assert page.player.playing
    assert "Unstable" in page.sentence.text()
    assert "grows" in page.list.item(0).text()
    assert [behaviour_of(one) for one in multipliers] == ["grows", "ignorable"]
    page.plane.chosen.emit(0)
    task = page.solver.jobs[-1].task
    assert isinstance(task, DisturbedTask)
    assert task.number == 0
    page.solver.jobs[-1].finished.emit(Point(0.0, "unstable", states * 3, 3.0))
    assert len(page.player.states) == 12
    page.player.stop()


def test_the_period_must_be_a_number_above_zero(document, qtbot):
    document.open_system(column())
    page = PeriodicPage(document, FakeSolver())
    qtbot.addWidget(page)
    page.period.setText("-1")
    page.button.click()
    assert not page.solver.jobs
    assert "above 0" in page.banner.text.text()


def test_the_campbell_page_begins_with_the_speed(document, qtbot):
    document.open_example("rotor_with_disks")
    page = CampbellPage(document, FakeSolver())
    qtbot.addWidget(page)
    assert page.range.variation.label == "speed"
    assert page.range.low == 0.0
    page.button.click()
    assert len(page.solver.jobs[-1].task.speeds) == 25


def test_pieces_of_a_line():
    assert list(pieces([True, True, False, False])) == [(0, 1, True), (1, 3, False)]
    assert list(pieces([False, False])) == [(0, 1, False)]
    assert list(pieces([True])) == []
