"""Panels: each folder declares one, and the window needs no more than that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

import gui.panels
from gui.panels import declared
from gui.widgets import icons
from gui.window.menus import analysis_menu

NEW = """
from gui.panels import Panel

PANEL = Panel("notes", "panel.Notes", ("document", "view.camera"), "Notes", "tab", 45, entry="&Notes", key="Ctrl+9")
"""
WIDGET = """
from PySide6.QtWidgets import QLabel


class Notes(QLabel):
    def __init__(self, document, camera):
        super().__init__(f"{document} and {camera}")
"""


def test_every_folder_declares_its_panel():
    folders = {path.parent.name for path in Path(gui.panels.__file__).parent.glob("*/__init__.py")}
    assert {name for name, panel in declared().items() if name == panel.name} == folders


def test_declarations_name_what_is_there():
    for panel in declared().values():
        assert issubclass(panel.load(), QWidget), panel.name
        assert panel.place in ("left", "right", "tab", "check"), panel.name
        assert bool(panel.entry) == bool(panel.icon), panel.name
        assert panel.icon in ("", *icons.names()), panel.name
    keys = [panel.key for panel in declared().values() if panel.key]
    assert len(keys) == len(set(keys))


def test_declarations_load_no_widgets():
    code = "import sys; from gui.panels import declared; declared(); sys.exit('PySide6' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place for one more panel."""
    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(gui.panels, "__path__", [*gui.panels.__path__, str(tmp_path)])
    declared.cache_clear()
    yield tmp_path / "notes"
    declared.cache_clear()
    for name in [name for name in sys.modules if name.startswith("gui.panels.notes")]:
        del sys.modules[name]


class Window:
    """As much of a window as menus and panels need."""

    document, view = "a document", type("View", (), {"camera": "a camera"})

    def show_tab(self, name):
        self.shown = name


def test_a_new_folder_is_a_panel(folder, qtbot):
    (folder / "__init__.py").write_text(NEW)
    (folder / "panel.py").write_text(WIDGET)
    window = Window()
    entries = list(analysis_menu(window))
    assert [entry.name for entry in entries][:3] == ["plots", "notes", "stability"]
    assert entries[1].keys == ("Ctrl+9",)
    entries[1].call()
    assert window.shown == "notes"
    from gui.window.panels import _made

    made = _made(declared()["notes"], window)
    qtbot.addWidget(made)
    assert made.text() == "a document and a camera"
