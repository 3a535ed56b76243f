"""Large results: nothing in the window's thread grows with a file, opening can be cancelled, memory is bounded."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QProgressDialog, QPushButton

import mbframe as mb
from gui.document.long_track import KEPT, LongTrack
from gui.document.opening import read, stored_run
from gui.document.runs import track_of
from gui.document.track import Track
from gui.solving.curves import Curves
from gui.widgets import waiting
from gui.widgets.waiting import CancelledError, beside
from mbframe.files.result_files import ResultFile
from mbframe.files.result_layout import block_rows


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A run of 3,000 instants."""
    place = tmp_path_factory.mktemp("large") / "run.h5"
    mb.simulate(mb.examples.triple_pendulum(), 1.0, t_eval=np.linspace(0.0, 1.0, 3001), output=place)
    return place


@pytest.fixture
def large(monkeypatch):
    """Any result counts as one that is too large for memory, in blocks of 256 rows."""
    monkeypatch.setattr("gui.document.runs.LARGEST_IN_MEMORY", 1000)
    monkeypatch.setattr("gui.document.long_track.block_rows", lambda content: 256)


def test_a_long_track_is_the_same_motion(path, large):
    run = stored_run(path, "run")
    assert isinstance(run.track, LongTrack)
    expected = Track(mb.load_result(path))
    for t in (0.0, 0.1234, 0.0853, 0.27, 0.99, 1.0, 256 / 3000, 2.0):
        found, meant = run.track.state(t), expected.state(t)
        for name in expected.names:
            np.testing.assert_array_equal(found.position(name), meant.position(name))
            np.testing.assert_array_equal(found.velocity(name), meant.velocity(name))
            np.testing.assert_array_equal(found.rotation(name).as_matrix(), meant.rotation(name).as_matrix())
    assert len(run.track._stretches) <= KEPT
    assert sum(map(len, run.track._stretches.values())) <= KEPT * 257
    assert [state.t for state in run.track.sampled(5)] == pytest.approx([0.0, 10 / 39, 20 / 39, 29 / 39, 1.0], abs=0.03)
    assert run.track.places(4).shape == (4 * len(expected.names), 3)


def test_a_run_that_grows_does_not_read_its_first_block_again(path, large):
    result = stored_run(path, "run").result
    before = LongTrack(result)
    before.state(0.99)
    after = LongTrack(result, before)
    after.state(0.99)
    assert sorted(before._stretches) == [0, 2970 // 256]  # which tells whether states are stored too rarely
    assert list(after._stretches) == [2970 // 256]


def test_blocks_are_those_of_the_file(path):
    states = ResultFile(path)
    assert LongTrack(states.result())._block == block_rows(states.content)


def test_paths_of_long_tracks_come_later(path, large, qtbot, monkeypatch):
    """The thread that reads them waits for a gate, so that "not yet read" can be seen however fast it is."""
    track, expected = stored_run(path, "run").track, Track(mb.load_result(path))
    name = track.names[-1]
    gate, read_path = threading.Event(), LongTrack._read_path

    def gated(self, body, local_point):
        gate.wait(100)
        read_path(self, body, local_point)

    monkeypatch.setattr(LongTrack, "_read_path", gated)
    assert len(track.path(name, 0.5)) == 1
    gate.set()
    qtbot.waitUntil(lambda: len(track.path(name, 0.5)) > 1)
    np.testing.assert_allclose(track.path(name, 0.5), expected.path(name, 0.5))


def test_the_window_reads_no_more_than_a_stretch(path, large, document, solver, qtbot, monkeypatch):
    """Opened in a thread; then playing and plotting ask the window's thread for a block at a time."""
    expected = mb.load_result(path).quantity("bar 1.position.x").values
    read_here, rows = [], ResultFile.rows_of

    def noted(self, name, which, columns):
        if threading.current_thread() is threading.main_thread():
            read_here.append(which.stop - which.start)
        return rows(self, name, which, columns)

    monkeypatch.setattr(ResultFile, "rows_of", noted)
    from PySide6.QtWidgets import QWidget

    window = QWidget()
    qtbot.addWidget(window)
    document.take(beside(window, "Opening", lambda progress: read(path, document.run_folder, progress)))
    assert read_here == []
    run = document.runs.current
    for t in np.linspace(0.0, 1.0, 50):
        run.track.state(t)
    run.track.sampled(40)
    run.track.places(12)
    curves = Curves(document, solver, window)
    name = "bar 1.position.x"
    assert curves.get(run, name) is None  # the solver reads it
    qtbot.waitUntil(lambda: curves.get(run, name) is not None)
    np.testing.assert_array_equal(curves.get(run, name).values, expected)
    assert max(read_here) <= 257


def test_small_results_are_read_in_the_thread_as_a_whole(path, document, qtbot, monkeypatch):
    read_here, rows = [], ResultFile.rows_of

    def noted(self, name, which, columns):
        read_here.append(threading.current_thread() is threading.main_thread())
        return rows(self, name, which, columns)

    monkeypatch.setattr(ResultFile, "rows_of", noted)
    monkeypatch.setattr("gui.document.growing.PIECE", 20_000)
    from PySide6.QtWidgets import QWidget

    window, told = QWidget(), []
    qtbot.addWidget(window)

    def work(progress):
        return read(path, document.run_folder, lambda share: (told.append(share), progress(share)))

    document.take(beside(window, "Opening", work))
    document.runs.current.track.state(0.5)
    assert read_here
    assert not any(read_here)
    assert len(told) > 3
    expected = Track(mb.load_result(path)).state(0.3)
    name = document.runs.current.track.names[0]
    np.testing.assert_array_equal(document.runs.current.track.state(0.3).position(name), expected.position(name))


def test_waiting_can_be_cancelled(qtbot, monkeypatch):
    from PySide6.QtWidgets import QWidget

    monkeypatch.setattr(waiting, "SOON_MS", 10)
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    go_on, seen = threading.Event(), []

    def work(progress):
        for k in range(10_000):
            progress(min(1.0, k / 100))
            go_on.wait(0.01)

    def cancel():
        for dialog in QApplication.topLevelWidgets():
            if isinstance(dialog, QProgressDialog) and dialog.isVisible() and dialog.value() > 0:
                seen.append(dialog.value())
                dialog.findChild(QPushButton).click()

    timer = QTimer()
    timer.timeout.connect(cancel)
    timer.start(50)
    with pytest.raises(CancelledError):
        beside(window, "Opening", work)
    timer.stop()
    assert seen

    def broken(progress):
        raise mb.ModelError("no")

    with pytest.raises(mb.ModelError, match="no"):
        beside(window, "Opening", broken)
    assert beside(window, "Opening", lambda progress: 3) == 3


def test_a_track_of_a_result_in_memory_is_whole():
    result = mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=0.01)
    assert type(track_of(result)) is Track
