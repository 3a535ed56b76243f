"""Pulling with the mouse: joints stay closed, the release is one step to undo, Escape returns."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import mbframe as mb
from gui.view.tools import pixels
from mbframe.analysis.states.describing import described_state, description

from .modelling_window import opened, window  # noqa: F401


def violation(system: mb.System) -> float:
    eq = mb.Equations(system)
    residual, _ = eq.violation(0.0, eq.coordinates(eq.described()))
    return float(np.abs(residual).max(initial=0.0))


@pytest.mark.parametrize("name", mb.examples.names())
def test_a_pulled_state_describes_the_same_mechanism(name):
    """Points of joints go along: the model described anew is closed, with the bodies in the same places."""
    system = getattr(mb.examples, name)()
    puller = mb.Puller(system)
    if puller.gap() > 1e-6 * puller.size:
        pytest.skip("described with open joints")
    body = system.bodies[len(system.bodies) // 2]
    target = puller.state.position(body) + 0.05 * puller.size * np.ones(system.dimension)
    state = puller.to(body, np.zeros(system.dimension), target)
    for element, values in description(system, state):
        element.update(**values)
    after = described_state(system)
    for other in system.bodies:
        assert np.allclose(after.position(other), state.position(other), atol=1e-12)
        bend = state.motions[other.name].modal_coordinates
        assert np.allclose(after.motions[other.name].modal_coordinates, bend, atol=1e-12)
    assert violation(system) < 1e-6 * puller.size


def test_a_kept_state_keeps_lengths_and_shafts():
    """A spring without a free length has that of the first description; shafts in line are described bent then."""
    system = mb.System("kept", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    free = system.add(mb.RigidBody("free", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, 2)))
    system.add(mb.ConstantVelocityJoint("cv", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.SpringDamper("spring", body, free, stiffness=1.0))
    turn = np.array([[np.cos(0.3), 0.0, np.sin(0.3)], [0.0, 1.0, 0.0], [-np.sin(0.3), 0.0, np.cos(0.3)]])
    motions = dict(described_state(system).motions)
    motions["body"] = replace(motions["body"], rotation=turn)
    motions["free"] = replace(motions["free"], position=np.array([0.0, 0.0, 3.0]))
    for element, values in description(system, mb.State(0.0, motions, {}, 3)):
        element.update(**values)
    assert system["spring"].rest_length == 2.0
    assert np.allclose(system["cv"].shaft_i, (0, 0, 1))
    assert np.allclose(system["cv"].shaft_j, turn[:, 2])
    assert np.allclose(system["cv"].j.axes, turn @ system["cv"].i.axes)
    assert violation(system) < 1e-15


def test_kept_numbers_are_free_of_rounding():
    """A slider that was pulled along its line is still on it, not 1e-17 m beside, which the inspector would show."""
    system = mb.examples.slider_crank()
    motions = dict(described_state(system).motions)
    motions["slider"] = replace(motions["slider"], position=motions["slider"].position + np.array([0.1, 1e-17, 0.0]))
    changes = {element.name: values for element, values in description(system, mb.State(0.0, motions, {}, 2))}
    assert changes["slider"]["position"][0] == pytest.approx(13.484, abs=1e-3)
    assert changes["slider"]["position"][1] == 0.0


def test_a_bead_between_nodes_is_kept_on_the_bent_axis():
    system = mb.System("bead")
    rod = system.add(mb.FlexibleBody.example())
    rod.update(velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    at = rod.position + rod.rotation @ [0.4, 0.0, 0.0]
    bead = system.add(mb.RigidBody("bead", mass=1.0, inertia=(0.01, 0.01, 0.01), position=at))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=rod.position))
    system.add(mb.KeyedSleeveJoint("slide", rod, bead, at=at, axis=rod.rotation[:, 0]))
    puller = mb.Puller(system)
    state = puller.to(bead, np.zeros(3), at + rod.rotation @ [0.07, 0.0, 0.01])
    assert np.abs(state.motions["rod"].modal_coordinates).max() > 1e-4
    for element, values in description(system, state):
        element.update(**values)
    assert np.linalg.norm(system["slide"].at - at) > 0.05
    assert violation(system) < 1e-9


def grab(window, name: str) -> QPoint:  # noqa: F811
    """A pixel of the view that shows a body: its centre of mass, or near it."""
    view = window.view
    body = window.document.system[name]
    (place,) = pixels(view, [body.motion.position])
    for dx in range(0, 40, 3):
        for dy in (0, 5, -5, 10, -10):
            spot = place + QPoint(dx, dy)
            if view.element_at(spot) is body:
                return spot.toPoint()
    raise AssertionError(f"{name} is not seen")


def drag(window, start: QPoint, way: QPoint, steps: int = 12, release: bool = True, modifier=None) -> None:  # noqa: F811
    view = window.view
    held = modifier or Qt.KeyboardModifier.NoModifier
    QTest.mousePress(view, Qt.MouseButton.LeftButton, held, start)
    for k in range(1, steps + 1):
        point = start + way * k / steps
        QTest.mouseMove(view, point)
        event_loop(0.02)
    if release:
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, held, start + way)


def event_loop(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QApplication.processEvents()
        time.sleep(0.002)


def test_a_drag_moves_the_mechanism_and_is_one_step(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    document, pull = window.document, window.modelling.pull
    before, count = document.model_text(), document.undo_stack.count()
    window.actions_["pull"].trigger()
    assert pull.on
    assert document.runs.current is None
    updates = []
    pull.updated.connect(updates.append)
    drag(window, grab(window, "bar 2"), QPoint(-60, 40))
    qtbot.waitUntil(lambda: pull.body is None)
    assert updates
    assert document.model_text() != before
    assert document.undo_stack.count() == count + 1
    assert violation(document.system) < 1e-6 * 4.0
    after = document.model_text()
    document.undo()
    assert document.model_text() == before
    document.redo()
    assert document.model_text() == after
    assert document.undo_stack.undoText() == "Pull bar 2"


def test_escape_returns_and_leaves_no_step(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    document, pull = window.document, window.modelling.pull
    before, count = document.model_text(), document.undo_stack.count()
    updates = []
    pull.updated.connect(updates.append)
    drag(window, grab(window, "bar 2"), QPoint(-50, 30), release=False, modifier=Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: bool(updates))
    assert pull.body == "bar 2"
    window.actions_["deselect"].trigger()
    assert pull.body is None
    assert document.model_text() == before
    assert document.undo_stack.count() == count
    assert np.allclose(document.shown_state.position("bar 2"), document.system["bar 2"].position)
    QTest.mouseRelease(window.view, Qt.MouseButton.LeftButton)
    event_loop(0.3)
    assert document.model_text() == before


def test_a_drag_beside_the_bodies_turns_the_view(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    window.actions_["pull"].trigger()
    before = window.view.camera.placement
    drag(window, QPoint(12, window.view.height() - 12), QPoint(40, -30), steps=4)
    assert window.view.camera.placement != before
    assert window.document.undo_stack.count() == 0
    window.actions_["deselect"].trigger()
    assert not window.modelling.pull.on
    assert not window.actions_["pull"].isChecked()


def test_the_window_answers_while_it_is_pulled(window, qtbot):  # noqa: F811
    """Every position is computed elsewhere: whoever pulls does not wait, and the event loop turns in between."""
    opened(window, "whipple_bicycle", qtbot)
    pull = window.modelling.pull
    beats, updates = [0], []

    def beat() -> None:
        beats[0] += 1

    pull.updated.connect(lambda _: updates.append(beats[0]))
    heart = QTimer()
    heart.timeout.connect(beat)
    heart.start(0)
    body = window.document.system["frame"]
    pull._show_described()
    pull.begin(body, body.motion.position)
    for k in range(4):
        pull.pull_to(body.motion.position + np.array([0.01 * k, 0.005 * k, 0.0]))
        assert len(updates) == k
        qtbot.waitUntil(lambda expected=k + 1: len(updates) == expected)
    heart.stop()
    pull.cancel()
    assert np.all(np.diff([0, *updates]) > 0)
