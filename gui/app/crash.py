"""Crash reports: a file on this computer, and a dialog that can copy it."""

from __future__ import annotations

import faulthandler
import platform
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from PySide6.QtCore import QCoreApplication, QObject, Qt, QThread, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

import mbframe as mb

LARGEST_LOG: Final = 500_000
"""Bytes; a longer one begins anew."""


def report_of(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> str:
    """Facts for somebody who is to find the fault."""
    lines = "".join(traceback.format_exception(kind, error, trace))
    return f"{_about()}\n{lines}"


def _about() -> str:
    import PySide6

    return (
        f"mbframe {mb.__version__}, Python {platform.python_version()}, PySide6 {PySide6.__version__} "
        f"(Qt {qVersion()}), {platform.platform()}, {time.strftime('%Y-%m-%d %H:%M:%S')}"
    )


class CrashReporter(QObject):
    """Catches exceptions that nobody caught, writes them to `crash.log` and shows the first of them in a dialog."""

    _caught = Signal(str, str)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.file = folder / "crash.log"
        self._native_file = folder / "native-crash.log"
        self._native: IO[str] | None = None
        self._dialog: QMessageBox | None = None
        self._previous: Any = None
        self._previous_in_threads: Any = None
        self._caught.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Catch from now on."""
        self._previous, sys.excepthook = sys.excepthook, self._catch
        self._previous_in_threads = threading.excepthook
        threading.excepthook = lambda args: self._catch(
            args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
        )
        with suppress(OSError):  # without a place for it, there is no report of native crashes
            self._native = self._native_file.open("w")
            faulthandler.enable(self._native)

    def uninstall(self) -> None:
        """A clean end."""
        if self._previous is not None:
            sys.excepthook, threading.excepthook = self._previous, self._previous_in_threads
        if self._native is not None:
            faulthandler.disable()
            self._native.close()
            with suppress(OSError):
                self._native_file.unlink()

    def last_native_crash(self) -> str:
        """Where the program was when it crashed last time, if it did; call it before `install`."""
        with suppress(OSError):
            return self._native_file.read_text(errors="replace")[:LARGEST_LOG]
        return ""

    def _catch(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QCoreApplication.quit()
            return
        report = report_of(kind, error, trace)
        print(report, file=sys.stderr)
        self._write(report)
        self._caught.emit(f"{kind.__name__}: {error}", report)

    def _write(self, report: str) -> None:
        with suppress(OSError):
            longer = self.file.is_file() and self.file.stat().st_size > LARGEST_LOG
            with self.file.open("w" if longer else "a", encoding="utf-8") as log:
                log.write(report + "\n")

    def _show(self, summary: str, report: str) -> None:
        if QThread.currentThread() is not self.thread() or QApplication.instance() is None or self._dialog is not None:
            return
        self._dialog = dialog = crash_dialog(summary, report, self.file)
        dialog.finished.connect(self._closed)
        dialog.open()

    def _closed(self, _: int) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
            self._dialog = None


def crash_dialog(summary: str, report: str, file: Path) -> QMessageBox:
    """The dialog with the report."""
    dialog = QMessageBox(
        QMessageBox.Icon.Warning,
        "Something went wrong",
        "Something went wrong that should not have. Your model is still there; save it under another name to be safe.",
    )
    dialog.setObjectName("crash_dialog")
    dialog.setInformativeText(f"{summary}\n\nThe report is in {file}. Nothing is sent anywhere.")
    dialog.setDetailedText(report)
    copy: QPushButton = dialog.addButton("Copy report", QMessageBox.ButtonRole.ActionRole)
    copy.setObjectName("copy_report")
    copy.clicked.disconnect()  # so that the dialog stays
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report))
    proceed = dialog.addButton("Continue", QMessageBox.ButtonRole.AcceptRole)
    dialog.setDefaultButton(proceed)
    dialog.setEscapeButton(proceed)  # without one it would not close, and keep the whole program from closing
    dialog.setWindowModality(Qt.WindowModality.NonModal)
    return dialog
