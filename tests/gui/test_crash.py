"""Faults that nobody foresaw: a report in a file, a dialog that can copy it, and the program goes on."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

import mbframe as mb
from gui.app.crash import LARGEST_LOG, CrashReporter, crash_dialog


@pytest.fixture
def reporter(qtbot, tmp_path):
    reporter = CrashReporter(tmp_path)
    reporter.install()
    yield reporter
    reporter.uninstall()
    for window in QApplication.topLevelWidgets():
        if window.objectName() == "crash_dialog":
            window.close()


def dialogs():
    return [w for w in QApplication.topLevelWidgets() if w.objectName() == "crash_dialog" and w.isVisible()]


def fail():
    raise RuntimeError("a wheel came off")


def caught(reporter):
    try:
        fail()
    except RuntimeError as error:
        reporter._catch(type(error), error, error.__traceback__)


def test_a_fault_is_written_and_shown_once(qtbot, reporter, capsys):
    caught(reporter)
    caught(reporter)
    qtbot.waitUntil(lambda: len(dialogs()) == 1)
    log = reporter.file.read_text()
    assert log.count("RuntimeError: a wheel came off") == 2
    assert f"mbframe {mb.__version__}" in log
    (dialog,) = dialogs()
    assert "a wheel came off" in dialog.informativeText()
    dialog.close()
    qtbot.waitUntil(lambda: not dialogs())
    caught(reporter)
    qtbot.waitUntil(lambda: len(dialogs()) == 1)


def test_exceptions_in_other_threads_are_caught(qtbot, reporter, capsys):
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(dialogs()))
    assert "a wheel came off" in reporter.file.read_text()


def test_the_report_can_be_copied(qtbot, tmp_path):
    dialog = crash_dialog("RuntimeError: x", "the whole report", tmp_path / "crash.log")
    qtbot.addWidget(dialog)
    dialog.open()
    (copy,) = [button for button in dialog.buttons() if button.objectName() == "copy_report"]
    copy.click()
    assert QGuiApplication.clipboard().text() == "the whole report"
    assert dialog.isVisible()
    assert isinstance(dialog, QMessageBox)


def test_ctrl_c_ends_the_loop(reporter, qapp):
    soon = QTimer(singleShot=True, interval=50)
    soon.timeout.connect(lambda: reporter._catch(KeyboardInterrupt, KeyboardInterrupt(), None))
    soon.start()
    late = QTimer(singleShot=True, interval=10_000)
    late.timeout.connect(lambda: qapp.exit(1))
    late.start()
    assert qapp.exec() == 0
    assert not reporter.file.exists()


def test_a_long_log_begins_anew_and_an_unwritable_one_does_no_harm(qtbot, reporter, capsys, tmp_path):
    reporter.file.write_text("x" * (LARGEST_LOG + 1))
    caught(reporter)
    assert reporter.file.stat().st_size < LARGEST_LOG
    reporter.file.unlink()
    reporter.file.mkdir()
    caught(reporter)
    qtbot.waitUntil(lambda: bool(dialogs()))


def test_a_native_crash_is_known_at_the_next_start(tmp_path, qapp):
    program = (
        "import ctypes, sys; from pathlib import Path; from gui.app.crash import CrashReporter; "
        "from PySide6.QtCore import QCoreApplication; app = QCoreApplication([]); "
        "CrashReporter(Path(sys.argv[1])).install(); ctypes.string_at(0)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, timeout=300)
    assert ended.returncode != 0
    reporter = CrashReporter(tmp_path)
    assert "Segmentation fault" in reporter.last_native_crash()
    reporter.install()
    reporter.uninstall()
    assert reporter.last_native_crash() == ""


def test_a_clean_end_restores_what_was_there(tmp_path, qapp):
    before = sys.excepthook, threading.excepthook
    reporter = CrashReporter(tmp_path)
    reporter.install()
    reporter.uninstall()
    assert (sys.excepthook, threading.excepthook) == before
    assert reporter.last_native_crash() == ""
