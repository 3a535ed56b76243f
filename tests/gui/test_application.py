"""The application's start and end: where no window can be opened, with files, and with signals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mbframe as mb
from gui.app import application
from gui.base import display
from gui.base.ending import EndOnSignals
from gui.document.autosave import Autosave, leftovers

CHECKOUT = Path(__file__).parents[2]


def started(*arguments, **environment):
    """The application in a process of its own, with another environment; None removes a variable."""
    changed = {**os.environ, "PYTHONPATH": str(CHECKOUT), **environment}
    return subprocess.run(
        [sys.executable, "-m", "gui", *arguments],
        env={name: value for name, value in changed.items() if value is not None},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=300,
    )


WITHOUT = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "QT_QPA_PLATFORM": None}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_without_a_display_there_is_a_message_and_no_traceback():
    ended = started(**WITHOUT)
    assert ended.returncode == 2
    assert ended.stderr.startswith("There is no display to open a window on.")
    assert "xvfb-run" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_a_display_that_does_not_answer_is_told():
    ended = started(**WITHOUT | {"DISPLAY": ":4711"})
    assert ended.returncode == 2
    assert "does not answer" in ended.stderr or "libraries" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_without_qt_there_is_a_message(tmp_path):
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "__init__.py").write_text("raise ImportError('no Qt here')")
    ended = started(PYTHONPATH=f"{tmp_path}{os.pathsep}{CHECKOUT}", QT_QPA_PLATFORM="offscreen")
    assert ended.returncode == 3
    assert 'pip install "mbframe[gui]"' in ended.stderr
    assert "Traceback" not in ended.stderr


def test_missing_libraries_are_named_with_their_packages(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(display, "_loads", lambda library: "cursor" not in library)
    message = display.hindrance({"DISPLAY": ":0"})
    assert "apt-get install --yes libxcb-cursor0" in message
    assert display.hindrance({"QT_QPA_PLATFORM": "offscreen"}) == ""
    assert display.hindrance({"WAYLAND_DISPLAY": "wayland-0"}) == ""


def test_the_x_server_is_preferred(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(display, "_loads", lambda library: True)
    monkeypatch.setattr(display, "_answers", lambda name: True)
    environment = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
    assert display.hindrance(environment) == ""
    assert environment["QT_QPA_PLATFORM"] == "xcb"


def test_help_is_there():
    ended = started("--help")
    assert ended.returncode == 0
    assert "FILE" in ended.stdout


# ---- In this process ----------------------------------------------------------------------------------------------


@pytest.fixture
def running(qtbot, monkeypatch):
    """An application whose window is open."""
    opened = []

    def begin(*files, answer=None):
        app = application.Application(files, warm=False)
        monkeypatch.setattr(app, "_ask", lambda recovery: answer)
        opened.append(app)
        app.open()
        qtbot.waitUntil(lambda: app.autosave is not None)
        return app

    yield begin
    for app in opened:
        app.document.abandon()
        app.close()


def test_a_model_is_opened_and_remembered(running, tmp_path):
    mb.save(mb.examples.four_bar(), tmp_path / "linkage.json")
    app = running(tmp_path / "linkage.json")
    assert app.document.path == tmp_path / "linkage.json"
    assert app.settings.recent_files() == [tmp_path / "linkage.json"]
    assert app.window.isVisible()


def test_an_example_opens_by_its_name(running):
    app = running("four_bar")
    assert app.document.system.name == mb.examples.four_bar().name
    assert app.document.path is None
    assert app.window.model_shown


def test_a_file_that_cannot_be_opened_is_a_message(running, tmp_path):
    app = running(tmp_path / "nothing.json")
    message = app.document.messages[-1]
    assert message.level == "error"
    assert "no such file" in message.text
    assert app.window.isVisible()
    app.settings.add_recent_file(tmp_path / "gone.json")
    app.open_file(str(tmp_path / "gone.json"))
    assert app.settings.recent_files() == []


def left_behind(document, folder, qtbot):
    autosave = Autosave(document, folder, delay_ms=1)
    document.open_example("four_bar")
    with qtbot.waitSignal(autosave.written):
        document.set(document.system["bar 1"], mass=7.0)
    autosave.session._lock.unlock()
    return autosave.file


def test_unsaved_changes_are_offered_and_kept_until_they_are_safe_again(running, document, own_folders, qtbot):
    folder = application.Application().folder
    file = left_behind(document, folder, qtbot)
    app = running(answer=True)
    assert app.document.system["bar 1"].mass == 7.0
    assert app.document.dirty
    qtbot.waitUntil(lambda: not file.exists())
    assert app.autosave.file.exists()


def test_unsaved_changes_may_be_discarded(running, document, own_folders, qtbot):
    folder = application.Application().folder
    file = left_behind(document, folder, qtbot)
    app = running(answer=False)
    assert not file.exists()
    assert not app.document.dirty


def test_a_polite_kill_keeps_unsaved_changes(running, qtbot):
    app = running()
    app.document.open_example("four_bar")
    app.document.set(app.document.system["bar 1"], mass=7.0)
    app._interrupted()
    file = app.autosave.file
    app.close()
    assert '"mass": 7.0' in file.read_text()
    (left,) = leftovers(app.folder)
    assert left.file == file


def test_the_loop_ends_on_a_signal(qapp):
    import signal

    from PySide6.QtCore import QTimer

    before = signal.getsignal(signal.SIGTERM)
    ended = []

    def end():
        ended.append(True)
        qapp.exit(0)

    ending = EndOnSignals(end)
    late = QTimer(singleShot=True, interval=10_000)
    late.timeout.connect(lambda: qapp.exit(1))
    late.start()
    soon = QTimer(singleShot=True, interval=50)
    soon.timeout.connect(lambda: os.kill(os.getpid(), signal.SIGTERM))
    soon.start()
    try:
        while not ended:  # a window of a test before may have asked to quit as well
            assert qapp.exec() == 0
    finally:
        soon.stop()
        ending.close()
    assert signal.getsignal(signal.SIGTERM) is before


def test_ctrl_c_while_the_window_is_made_ends_the_program(running, qapp):
    """Nothing is there yet that could be left; it was forgotten."""
    from PySide6.QtCore import QTimer

    running()._interrupted()
    late = QTimer(singleShot=True, interval=20_000)
    late.timeout.connect(lambda: qapp.exit(1))
    late.start()
    assert qapp.exec() == 0
    late.stop()
