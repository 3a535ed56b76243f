"""A guard: PySide6 6.12.0 loses a reference to True with every emitted signal and aborts after some 570 of them."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, Signal


class Source(QObject):
    told = Signal(object, bool)


def test_emitting_costs_no_references(qtbot):
    source, heard = Source(), []
    source.told.connect(lambda thing, flag: heard.append(flag))
    counted = [True, False, None, source, heard]
    before = [sys.getrefcount(thing) for thing in counted]
    for _ in range(2_000):
        source.told.emit(source, True)
    assert len(heard) == 2_000
    heard.clear()
    after = [sys.getrefcount(thing) for thing in counted]
    assert all(abs(a - b) < 50 for a, b in zip(after, before, strict=True))
