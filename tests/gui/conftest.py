"""What all tests of the application share.

They run in a virtual display (`scripts/test` sees to it) or, without any, on Qt's off-screen platform; workers of
pytest-xdist have a display each, since windows in one display take the keyboard from each other. Settings and files of
the application lie in a folder of the test. pytest-qt fails a test on an exception in a slot.

Whatever a test waits for, it goes on as soon as that has happened. How long it waits at most is said once, here.
"""

from __future__ import annotations

import os
import sys

from tests.gui.displays import open_own_display

if os.environ.get("PYTEST_XDIST_WORKER") and os.environ.get("DISPLAY"):
    open_own_display()
os.environ.setdefault("QT_API", "pyside6")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the application's packages are not installed", exc_type=ImportError)

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

import gui.app.application  # noqa: F401 (says for the processes that it starts where they do not look for modules)
from gui.base.memory import Collector
from gui.base.settings import Settings
from gui.document.document import Document
from gui.solving.solver import Solver

os.environ.pop(
    "PYTHONSAFEPATH", None
)  # tests start programs that find this checkout in the folder where they are started
PATIENCE = 150_000  # ms; a busy machine needs a minute for what takes a second

for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed, QtBot.waitActive):
    wait.__kwdefaults__["timeout"] = PATIENCE  # pytest-qt has no setting for it


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    """The application's own class, so that tests see what users see."""
    return QApplication


@pytest.fixture(scope="session")
def collector(qapp):
    """Garbage is collected in the window's thread only: workers of pytest-xdist receive messages in another one."""
    collector = Collector()
    yield collector
    collector.close()


@pytest.fixture(autouse=True)
def collected(collector):
    """What a test leaves is collected before the next, also where no event loop ran."""
    yield
    collector.collect()


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory, monkeypatch):
    """Settings, autosaves and crash reports of a test do not meet those of the user or of another test."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    for kind in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
        QSettings.setPath(kind, QSettings.Scope.UserScope, str(folder / "config"))
    return folder


@pytest.fixture
def settings(own_folders) -> Settings:
    """Empty settings."""
    return Settings(QSettings(str(own_folders / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def document(qapp):
    """A document with an empty system."""
    document = Document()
    yield document
    document.close()


@pytest.fixture(scope="session")
def session_solver(qapp):
    """One solver for all tests: starting a process takes seconds."""
    solver = Solver(warm=False)
    solver.start()
    yield solver
    solver.close()


@pytest.fixture
def solver(session_solver):
    """The shared solver, idle at the beginning and at the end."""
    yield session_solver
    session_solver.cancel_all()
    session_solver.sources = ()  # classes that a test used, whose file goes with it


@pytest.fixture(autouse=True)
def nothing_is_saved(monkeypatch):
    """The question about unsaved work is answered with "discard", unless a test answers it: nobody else would."""
    ask = QMessageBox.exec

    def answered(box):
        return QMessageBox.StandardButton.Discard if box.objectName() == "unsaved_dialog" else ask(box)

    monkeypatch.setattr(QMessageBox, "exec", answered)
