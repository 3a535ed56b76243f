"""Work in pieces, one per turn of the event loop."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEventLoop, QTimer

from gui.base.turns import Turns, single_shot


@pytest.fixture
def turns(qapp) -> Turns:
    return Turns()


def test_the_event_loop_goes_on_between_pieces(turns, qtbot):
    seen = []

    def work():
        for k in range(3):
            QTimer.singleShot(0, lambda: seen.append("event"))
            yield seen.append(k)
        seen.append("end")

    turns.start(work())
    assert not seen
    assert turns.busy
    qtbot.waitUntil(lambda: not turns.busy)
    assert [one for one in seen if one != "event"] == [0, 1, 2, "end"]
    assert seen.index("event") < seen.index(2)


@pytest.mark.parametrize(("patience", "at_first"), [(10.0, [0, 1, 2]), (0.0, [0])])
def test_short_pieces_are_done_together(qapp, qtbot, patience, at_first):
    turns, seen = Turns(patience=patience), []
    turns.start(iter(map(seen.append, range(3))))
    turns._go_on()
    assert seen == at_first
    qtbot.waitUntil(lambda: not turns.busy)
    assert seen == [0, 1, 2]


def test_another_work_takes_the_place_of_one_that_is_under_way(turns, qtbot):
    seen = []

    def work():
        seen.append("first")
        turns.start(iter(map(seen.append, "ab")))
        yield
        seen.append("never")

    turns.start(work())
    qtbot.waitUntil(lambda: not turns.busy)
    assert seen == ["first", "a", "b"]
    turns.start(iter(map(seen.append, "cd")))
    turns.stop()
    qtbot.wait(5)
    assert seen[3:] == []

    def ends_itself():
        yield turns.stop()
        seen.append("never")

    turns.start(ends_itself())
    qtbot.wait(5)
    assert seen[3:] == []


def test_a_piece_may_let_the_event_loop_run(turns, qtbot):
    """As a dialog does: the next piece waits for the end of this one."""
    seen = []

    def work():
        loop = QEventLoop()
        QTimer.singleShot(20, loop.quit)
        seen.append("begin")
        loop.exec()
        seen.append("end")
        yield
        seen.append("next")

    turns.start(work())
    qtbot.waitUntil(lambda: "next" in seen)
    assert seen == ["begin", "end", "next"]


def test_an_error_ends_the_work(turns, qtbot):
    with qtbot.captureExceptions() as exceptions:
        turns.start(1 // k for k in (1, 0, 1))
        qtbot.waitUntil(lambda: bool(exceptions))
    assert exceptions[0][0] is ZeroDivisionError
    assert not turns.busy


def test_a_single_shot_waits_for_its_last_start(turns, qtbot):
    seen = []
    timer = single_shot(turns, lambda: seen.append(True), 30)
    for _ in range(3):
        timer.start()
        qtbot.wait(10)
        assert not seen
    qtbot.waitUntil(lambda: bool(seen))
    qtbot.wait(50)
    assert seen == [True]
