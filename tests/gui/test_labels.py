"""Labels that need no more room than there is."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics, QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from gui.widgets.banner import Banner
from gui.widgets.labels import ElidedLabel, broken

TEXT = "Small disturbances die out; the slowest halves in 2.15 s."


@pytest.fixture
def metrics(qapp) -> QFontMetrics:
    return QFontMetrics(qapp.font())


def test_a_text_is_broken_between_words(metrics):
    whole = metrics.horizontalAdvance(TEXT)
    assert broken(TEXT, metrics, whole, 2) == [TEXT]
    first, second = broken(TEXT, metrics, round(0.6 * whole), 2)
    assert f"{first} {second}" == TEXT
    assert metrics.horizontalAdvance(first) <= 0.6 * whole


def test_the_last_line_that_there_is_room_for_is_elided(metrics):
    width = round(0.3 * metrics.horizontalAdvance(TEXT))
    first, second = broken(TEXT, metrics, width, 2)
    assert TEXT.startswith(first)
    assert second.endswith("…")
    assert max(map(metrics.horizontalAdvance, (first, second))) <= width
    assert broken("", metrics, width, 2) == [""]


@pytest.mark.parametrize(("share", "told"), [(0.3, True), (1.5, False)])
def test_a_tooltip_has_what_is_not_seen(qtbot, share, told):
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText(TEXT)
    label.resize(round(share * label.sizeHint().width()), 20)
    label.show()
    QToolTip.hideText()
    middle = label.rect().center()
    QApplication.sendEvent(label, QHelpEvent(QHelpEvent.Type.ToolTip, middle, label.mapToGlobal(middle)))
    assert (QToolTip.text() == TEXT) is told
    QToolTip.hideText()


def test_more_lines_need_more_height(qtbot):
    one, two = ElidedLabel(), ElidedLabel(lines=2)
    for label in (one, two):
        qtbot.addWidget(label)
        label.setText(TEXT)
    assert two.sizeHint().height() == one.sizeHint().height() + one.fontMetrics().lineSpacing()
    assert two.minimumSizeHint().width() == 0


def test_a_banner_leaves_room_for_what_is_below(qtbot):
    banner = Banner("banner")
    qtbot.addWidget(banner)
    banner.say("No steady motion was found. " * 20, "warning", [("Do something", lambda: None)])
    short = Banner("other")
    qtbot.addWidget(short)
    short.say("No.", "warning", [("Do something", lambda: None)])
    line = banner.fontMetrics().lineSpacing()
    assert banner.heightForWidth(700) <= short.heightForWidth(700) + 2 * line
    assert banner.text.text().endswith("found. ")
