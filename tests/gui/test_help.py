"""The help: its pages are complete, their code runs, their links lead somewhere, and F1 finds the right one."""

from __future__ import annotations

import re
from unittest.mock import MagicMock

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QLabel, QWidget

import mbframe as mb
from gui.dialogs.help import FOLDER, INDEX, TOPICS, HelpWindow, matching, page, title, topic_for, topics
from gui.panels import declared

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def window(qtbot):
    window = HelpWindow()
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    return window


def test_every_page_is_in_the_index():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(topics())
    assert len(topics()) == len(set(topics()))
    assert set(TOPICS.values()) <= set(topics())
    assert {panel.help for panel in declared().values()} <= {*topics(), ""}


@pytest.mark.parametrize("topic", topics())
def test_links_lead_to_pages(topic):
    for target in re.findall(r"\]\(([^)]*)\)", page(topic)):
        assert (FOLDER / target).is_file(), f"{topic}: {target}"
    assert page(topic).startswith("# ")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("topic", [topic for topic in topics() if CODE.search(page(topic))])
def test_the_code_of_a_page_runs(topic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mb, "show", MagicMock())  # windows have a test in a program of their own
    monkeypatch.setattr(mb, "edit", lambda system: system)
    names: dict[str, object] = {"__name__": "help"}
    for number, block in enumerate(CODE.findall(page(topic))):
        exec(compile(block, f"{topic} block {number}", "exec"), names)


def test_numbers_of_the_elements_hold(tmp_path, monkeypatch, capsys):
    """Each block prints what the sentence beside it says."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "help"}
    printed = []
    for block in CODE.findall(page("elements")):
        exec(block, names)
        printed.append(capsys.readouterr().out.split())
    loads, crank, gears, stops, friction, mount, fall, walker = printed
    assert float(loads[0]) == pytest.approx(25.0, rel=1e-6)
    assert float(gears[0]) == pytest.approx(-2.0, rel=1e-9)
    assert 4.0 < float(stops[0]) < 4.1
    for found, by_hand in (crank, friction, mount, fall):
        assert float(found) == pytest.approx(float(by_hand), rel=1e-3)
    assert len(walker) == 4


def test_what_the_pages_promise_holds(tmp_path, monkeypatch, capsys):
    """The orbit of the magnet closes, and the sign of the reaction is the one in the table."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "help"}
    exec(CODE.findall(page("python"))[1], names)
    x, y, z = names["result"].position(names["ball"])[-1]
    assert (x, y, z) == (pytest.approx(1.0, abs=1e-3), pytest.approx(0.0, abs=1e-3), pytest.approx(0.0, abs=1e-3))
    exec(CODE.findall(page("stability"))[0], names)
    printed = capsys.readouterr().out
    assert "is stable. Small disturbances die out" in printed
    assert "4.2923825" in printed  # [Meijaard2007]: the weave speed
    assert "6.0242620" in printed  # the capsize speed


class Anything:
    """Has every attribute, and can be called: a window, as far as the menus need one to name their keys."""

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *arguments):
        return None


def test_the_shortcuts_are_those_of_the_menus():
    from gui.window.menus import entries

    cells = set(re.findall(r"^\| (.+?) \| ", page("shortcuts"), re.MULTILINE)) - {"key"}
    told = {key for cell in cells for key in ([cell] if len(cell) == 1 else cell.split(", "))}
    wanted = {key for entry in entries(Anything()) for key in entry.keys if not key.isdigit()}
    assert told == wanted | {"1 … 7"}


def test_f1_opens_the_page_about_a_panel(qtbot, window):
    panel = QWidget()
    panel.setProperty("help", "stability")
    inside = QLabel("a root", panel)
    qtbot.addWidget(panel)
    assert topic_for(inside) == "stability"
    assert topic_for(None) == INDEX
    window.open_for(inside)
    assert window.topic == "stability"
    assert window.list.currentItem().text() == "Stability"
    assert "Whipple bicycle" in window.page.toPlainText()


def test_links_and_the_way_back(qtbot, window):
    window.page.anchorClicked.emit(QUrl("stability.md"))
    assert window.topic == "stability"
    qtbot.mouseClick(window.back, Qt.MouseButton.LeftButton)
    assert window.topic == INDEX
    assert not window.back.isEnabled()
    window.open_topic("no such page")
    assert window.topic == INDEX


def test_the_list_is_walked_with_the_keyboard(qtbot, window):
    window.list.setFocus()
    qtbot.keyClick(window.list, Qt.Key.Key_Down)
    assert window.topic == topics()[1]
    assert title(window.topic) == "First steps"


def test_search_finds_pages_and_marks_words(qtbot, window):
    qtbot.keyClicks(window.search, "hopf divergence")
    assert window.topic == "stability"
    shown = [window.list.item(k).text() for k in range(window.list.count()) if not window.list.item(k).isHidden()]
    assert shown == ["Stability"]
    assert len(window.page.extraSelections()) >= 2
    window.search.clear()
    qtbot.keyClicks(window.search, "xyzzy")
    assert window.none.isVisible()
    assert matching("xyzzy") == []
    window.search.clear()
    assert not window.none.isVisible()
    assert not any(window.list.item(k).isHidden() for k in range(window.list.count()))


def test_pages_change_with_the_theme(qtbot, window):
    from gui.widgets import theme

    window.open_topic("python")
    try:
        for name in ("dark", "light"):
            theme.apply(name)
            html = window.page.toHtml()
            assert theme.current().raised in html  # behind code
    finally:
        theme.apply("light")
