"""Names of strangers in the window: control characters are escaped, and nothing is taken for HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QTreeWidget, QWidget

import mbframe as mb
from gui.base.names import one_line, unformatted

from .modelling_window import window  # noqa: F401

NASTY = "a\x1b]0;x\x07\n\u202ecba\x00<img src='file:///dev/zero'>"


def test_one_line_has_no_control_characters() -> None:
    assert one_line("a\nb\t\x1b\u202e") == "a\\nb\\t\\x1b\\u202e"
    assert one_line("größe") == "größe"


def test_what_looks_like_html_is_shown_as_it_is(qapp: Any) -> None:
    assert unformatted("plain: a < b, c > d") == "plain: a < b, c > d"
    label = QLabel(unformatted("between <img src='file:///x'> and b"))
    assert "&lt;img" in label.text()


@pytest.fixture
def system() -> mb.System:
    system = mb.System(NASTY + "m", gravity=(0, 0, -9.81))
    mesh = mb.Mesh(path=f"{NASTY.replace(chr(0), '')}.stl")
    body = system.add(mb.RigidBody(NASTY, mass=1.0, inertia=(1, 1, 1), shapes=[mesh]))
    system.add(mb.SphericalJoint("joint" + NASTY, system.ground, body, at=(0, 0, 0)))
    return system


def test_the_window_shows_names_escaped(qtbot: Any, window: Any, system: mb.System, tmp_path: Path) -> None:  # noqa: F811
    mb.save(system, tmp_path / "model.json")  # as a file gives it
    document = window.document
    document.open_system(mb.load(tmp_path / "model.json"))
    window.show_model()
    window.show_tab("stability")
    document.select(document.system.bodies[0])
    qtbot.waitUntil(lambda: window.findChild(QWidget, "shape_0_header") is not None)
    texts = [window.windowTitle(), *(widget.toolTip() for widget in window.findChildren(QWidget))]
    texts += [button.text() for button in window.findChildren(QAbstractButton)]
    for choice in window.findChildren(QComboBox):
        texts += [choice.itemText(number) for number in range(choice.count())]
    for tree in window.findChildren(QTreeWidget):
        for item in tree.findItems("", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive):
            texts += [item.text(0), item.toolTip(0)]
    document.messages.post(f"{NASTY} says this", "warning", document.system.bodies[0])
    texts += [label.text() for label in window.findChildren(QLabel)]
    assert any("\\x1b" in text for text in texts)
    for text in texts:
        assert not {"\x1b", "\x07", "\x00", "\u202e"} & set(text), text
        assert not (text.startswith("<") and "<img" in text), text
    name = document.system.bodies[0].name

    def found() -> Any:
        fields = window.findChildren(QWidget, "inspector_name")
        return next((one for one in fields if one.text() == one_line(name)), None)

    qtbot.waitUntil(lambda: found() is not None)
    page = found()
    page.confirmed.emit()
    assert document.system.bodies[0].name == name == NASTY  # what is only shown otherwise is not renamed
