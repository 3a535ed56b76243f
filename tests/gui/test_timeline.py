"""The timeline: scrubbing, stepping, speed, and how far a run has got."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt

import mbframe as mb
from gui.base.showcase import exhibit
from gui.document.runs import Run, RunSettings
from gui.playing.playback import Player
from gui.playing.timeline import Timeline, nice_step


def stored(document):
    """The instants of the motion that is played."""
    return document.runs.current.result.t


@pytest.fixture
def timeline(document, qtbot) -> Timeline:
    document.open_example("four_bar")
    timeline = Timeline(document, Player(document))
    qtbot.addWidget(timeline)
    timeline.resize(900, 50)
    timeline.show()
    qtbot.waitExposed(timeline)
    return timeline


def test_an_empty_document_has_nothing_to_play(document, qtbot):
    timeline = Timeline(document, Player(document))
    qtbot.addWidget(timeline)
    timeline.resize(700, 50)
    timeline.grab()
    assert not timeline.play_button.isEnabled()
    assert not timeline.scrubber.isEnabled()
    assert timeline.time_label.text() == "No motion yet"


def test_clicking_and_dragging_scrubs(timeline, document, qtbot):
    scrubber = timeline.scrubber
    middle = QPoint(round(scrubber.x_of(2.5)), 12)
    qtbot.mouseClick(scrubber, Qt.MouseButton.LeftButton, pos=middle)
    assert document.time == pytest.approx(2.5, abs=0.02)
    qtbot.mousePress(scrubber, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseMove(scrubber, QPoint(round(scrubber.x_of(4.0)), 12))
    qtbot.mouseRelease(scrubber, Qt.MouseButton.LeftButton, pos=QPoint(round(scrubber.x_of(4.0)), 12))
    assert timeline.scrubber.time_at(scrubber.x_of(4.0)) == pytest.approx(4.0)
    assert scrubber.time_at(-100.0) == 0.0
    assert scrubber.time_at(1e4) == 5.0


def test_keys_step_and_jump(timeline, document, qtbot):
    scrubber = timeline.scrubber
    scrubber.setFocus()
    qtbot.keyClick(scrubber, Qt.Key.Key_End)
    assert document.time == 5.0
    qtbot.keyClick(scrubber, Qt.Key.Key_Left)
    assert document.time == pytest.approx(5.0 - stored(document)[1])
    qtbot.keyClick(scrubber, Qt.Key.Key_Home)
    assert document.time == 0.0
    qtbot.keyClick(scrubber, Qt.Key.Key_PageUp)
    assert document.time == pytest.approx(stored(document)[10])


def test_buttons_play_step_and_rewind(timeline, document, qtbot):
    qtbot.mouseClick(timeline.forward_button, Qt.MouseButton.LeftButton)
    assert document.time == pytest.approx(stored(document)[1])
    qtbot.mouseClick(timeline.back_button, Qt.MouseButton.LeftButton)
    assert document.time == 0.0
    qtbot.mouseClick(timeline.play_button, Qt.MouseButton.LeftButton)
    assert timeline.player.playing
    qtbot.waitUntil(lambda: document.time > 0.01)
    qtbot.mouseClick(timeline.play_button, Qt.MouseButton.LeftButton)
    assert not timeline.player.playing
    qtbot.mouseClick(timeline.rewind_button, Qt.MouseButton.LeftButton)
    assert document.time == 0.0
    qtbot.mouseClick(timeline.loop_button, Qt.MouseButton.LeftButton)
    assert not timeline.player.loop


def test_the_speed_is_chosen_and_shown(timeline):
    index = timeline.speed_box.findText("0.1×")
    timeline.speed_box.setCurrentIndex(index)
    timeline.speed_box.activated.emit(index)
    assert timeline.player.speed == 0.1
    timeline.player.set_speed(0.3)
    assert timeline.speed_box.currentText() == "0.3×"


def test_scrubbing_pauses(timeline, document):
    timeline.player.play()
    timeline.scrubber.moved.emit(1.0)
    assert not timeline.player.playing
    assert document.time == 1.0
    assert timeline.time_label.text() == "1.000 / 5 s"


def test_a_run_that_computes_has_room_for_the_rest(timeline, document):
    result = mb.load_result(exhibit("four_bar").result)
    settings = RunSettings(t_end=20.0)
    document.runs.add(Run("Run 1", settings, document.model_text(), result, complete=False, computing=True))
    assert timeline.scrubber.end == 20.0
    assert timeline.scrubber.x_of(5.0) < timeline.scrubber.x_of(10.0)
    assert timeline.scrubber.time_at(timeline.scrubber.x_of(20.0)) == 5.0
    timeline.grab()


def test_short_runs_have_digits_enough(document, qtbot):
    document.open_example("andrews_squeezer")
    timeline = Timeline(document, Player(document))
    qtbot.addWidget(timeline)
    timeline.player.seek(0.0123)
    assert timeline.time_label.text().startswith("0.01230 / 0.03")


@pytest.mark.parametrize(
    ("raw", "nice"), [(0.013, 0.02), (1.0, 1.0), (0.5, 0.5), (3.0, 5.0), (6.0, 10.0), (700.0, 1000.0)]
)
def test_ticks_have_round_numbers(raw, nice):
    assert nice_step(raw) == pytest.approx(nice)


def test_the_last_number_below_the_line_is_whole(timeline, document):
    result = mb.load_result(exhibit("four_bar").result)
    settings = RunSettings(t_end=20_000.0)
    document.runs.add(Run("Run 1", settings, document.model_text(), result, complete=False, computing=True))
    metrics = timeline.scrubber.fontMetrics()
    ticks = list(timeline.scrubber.ticks(metrics))
    assert ticks[-1][2] == "20000"
    assert all(left >= 0.0 for _, left, _ in ticks)
    assert all(left + metrics.horizontalAdvance(text) <= timeline.scrubber.width() for _, left, text in ticks)
    assert all(left + metrics.horizontalAdvance(text) < after for (_, left, text), (_, after, _) in pairwise(ticks))
