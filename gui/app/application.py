"""The application from its start to its end. Qt is imported late, so that without it there is a sentence to say."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from ..base.display import hindrance

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    import mbframe as mb

    from ..document.autosave import Recovery
    from ..window.window import MainWindow
    from .editing import Editing

UNAVAILABLE: Final = 2
"""Exit code where no window can be opened."""
MISSING: Final = 3
"""Exit code where the packages of the application are not installed."""
TIDY_MS: Final = 1500
"""After a model was changed, or another one opened: by then it is drawn."""

# More threads only wait for each other in matrices of our size; it must be said before NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("QT_API", "pyside6")
# Processes that are started look for modules first where they are started, unless they are told not to: there may be a
# folder that somebody sent, with a multiprocessing.py beside the model.
os.environ.setdefault("PYTHONSAFEPATH", "1")


def main(files: Sequence[str] | None = None) -> int:
    """Open the application, with a model or a result if one is given; returns the exit code."""
    options = _options(sys.argv[1:] if files is None else list(files))
    if options.install_desktop_entry:
        return _install_desktop_entry()
    if find_spec("PySide6") is None:
        return _without_packages("there is no PySide6")
    if obstacle := hindrance():
        print(obstacle, file=sys.stderr)
        return UNAVAILABLE
    try:
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        return _without_packages(str(error))
    return Application(options.files, classes=options.classes, editing=options.edit).run()


def _without_packages(reason: str) -> int:
    print(
        f"The desktop application needs packages that are not here ({reason}).\n"
        '    pip install "mbframe[gui]"\n'
        "On Debian and Ubuntu it also needs: apt-get install libgl1 libegl1 libxkbcommon0 libdbus-1-3 "
        "libfontconfig1 libglib2.0-0",
        file=sys.stderr,
    )
    return MISSING


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mbframe gui", description="Open the desktop application.")
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="models (.json), results (.h5), programs (.py), names of examples"
    )
    parser.add_argument(
        "--classes",
        metavar="FILE_OR_MODULE",
        action="append",
        default=[],
        help="your own classes: a Python file or an importable module, which is run; may be repeated",
    )
    parser.add_argument("--install-desktop-entry", action="store_true", help="only put it into the desktop's menu")
    parser.add_argument("--edit", metavar="FOLDER", help=argparse.SUPPRESS)  # of `mbframe.edit`
    return parser.parse_args(arguments)


def _install_desktop_entry() -> int:
    from .desktop_entry import install

    if sys.platform in ("win32", "darwin"):
        print("Desktop entries are for Linux and the like; here, pin or link `mbframe gui`.", file=sys.stderr)
        return UNAVAILABLE
    print(*(f"written to {path}" for path in install()), sep="\n")
    return 0


def make_qt_application() -> QApplication:
    """The Qt application, with its names and its behaviour on screens of any resolution."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from ..base.imports import spare_sources
    from ..base.settings import APPLICATION, ORGANIZATION

    spare_sources()
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    qt = QApplication(["mbframe"])
    qt.setOrganizationName(ORGANIZATION)
    qt.setApplicationName(APPLICATION)
    qt.setApplicationDisplayName("mbframe")
    qt.setDesktopFileName("mbframe")
    return qt


class Application:
    """Puts document, solver, autosave and window together."""

    def __init__(
        self,
        files: Sequence[str] = (),
        *,
        classes: Sequence[str] = (),
        warm: bool = True,
        editing: str | None = None,
    ) -> None:
        from ..base.memory import Collector
        from ..base.settings import Settings, data_folder
        from ..document.document import Document
        from ..solving.solver import Solver
        from .crash import CrashReporter
        from .editing import Editing

        self.qt = make_qt_application()
        self._collector = Collector(loading=True)
        self.folder = data_folder()
        self.reporter = CrashReporter(self.folder)
        self._crashed = self.reporter.last_native_crash()
        self.settings = Settings()
        self.document = Document()
        self.document.units = self.settings.units()
        self.solver = Solver(warm=warm)
        self.solver.broke.connect(lambda message: self.document.messages.post(message, "error"))
        self._tidying = self._tidy_later()
        self.autosave: Any = None
        self.window: MainWindow | None = None
        self._files, self._classes = [str(file) for file in files], list(classes)
        self._editing = Editing(editing) if editing is not None else None
        self._asked = True
        self._opened_early: mb.System | None = None

    def _tidy_later(self) -> Any:
        """Some time after a change the memory of what was drawn and shown before is given back."""
        from ..base.memory import give_back
        from ..base.turns import single_shot

        def tidy() -> None:
            if self._opened_early is not None and self.document.system is not self._opened_early:
                self._opened_early = None
                self._collector.look_again()
            give_back()

        timer = single_shot(self.document, tidy, TIDY_MS)

        def soon(*_: object) -> None:
            if not timer.isActive():  # many changes in a row are no reason to put it off
                timer.start()

        for changed in (self.document.replaced, self.document.structure_changed, self.document.runs.changed):
            changed.connect(soon)
        return timer

    def _settle(self) -> None:
        """The program is loaded. A model that is there already is looked at once more when it is left."""
        self._opened_early = self.document.system if self.document.system.bodies else None
        self._collector.settle()

    def run(self) -> int:
        """Show the window, and return when it is closed."""
        from ..base.ending import EndOnSignals

        self.reporter.install()
        ending = EndOnSignals(self._interrupted)
        try:
            self.open()
            return self.qt.exec()
        finally:
            ending.close()
            self.close()
            self.reporter.uninstall()

    def _interrupted(self) -> None:
        """Ctrl-C or a polite kill: no questions; unsaved changes are offered at the next start."""
        from PySide6.QtCore import QTimer

        self._asked = False
        QTimer.singleShot(0, lambda: self.qt.exit(0))  # in its turn: before the loop has begun, nothing ends it

    def open(self) -> None:
        """Show the window; all that takes longer follows when it is visible."""
        from ..window.window import MainWindow

        give_back = partial(self._editing.give_back, self.document) if self._editing is not None else None
        self.window = MainWindow(self.document, self.solver, self.settings, give_back)
        self.window.first_painted.connect(self._go_on)
        self.window.panels_ready.connect(self._settle)
        self.window.show()

    def _go_on(self) -> None:
        from ..document.autosave import Autosave, offer

        if self._editing is not None:
            self._open_given(self._editing)
            return
        self.solver.start()
        self.autosave = Autosave(self.document, self.folder)
        recovered = offer(self.document, self.folder, self._ask)
        if recovered is not None:
            # When it is kept under another name. (A connection would hold the method alone only weakly.)
            self.autosave.written.connect(lambda: recovered.discard())
            self.autosave.save_now()
        if self._crashed:
            self.document.messages.post(
                f"The program ended unexpectedly last time; the report is in {self.reporter.file.parent}.", "warning"
            )
        if self.window is not None:
            first = self._files[:1] if recovered is None else []
            self.window.own_classes.use_given(self._classes, lambda: self._open_first(first))
        for other in self._files[1:]:
            self._open_elsewhere(other)

    def _open_given(self, editing: Editing) -> None:
        """Show what Python has given; a failure ends the program, which says it to Python."""
        import mbframe as mb

        try:
            self.solver.sources = editing.open(self.document)
        except mb.MbframeError as error:
            print(" ".join(str(error).split()), file=sys.stderr)
            self._interrupted()
            return
        self.solver.start()
        if self.window is not None:
            self.window.show_model()
            self.window.raise_()
            self.window.activateWindow()

    def _open_first(self, files: list[str]) -> None:
        """Open the file that was given, now that classes are known, or say what a recovered model lacks."""
        for name in files:
            self.open_file(name)
        if not files and self.window is not None:
            self.window.own_classes.look(self.document.path.parent if self.document.path is not None else None)

    def open_file(self, name: str) -> None:
        """Open a file, or an example by its name; what cannot be opened is a message, and all stays as it was."""
        from ..base.showcase import exhibit  # late: it loads the examples

        if self.window is None:
            return
        if not os.path.exists(name) and exhibit(name) is not None:
            self.window.open_example(name)
        else:
            self.window.files.open(name)

    def _open_elsewhere(self, name: str) -> None:
        """A window holds one document; another one gets a window of its own."""
        from PySide6.QtCore import QProcess

        own = [word for source in self._classes for word in ("--classes", source)]
        package = "mbframe_gui" if find_spec("mbframe_gui") is not None else __name__.partition(".")[0]
        QProcess.startDetached(sys.executable, ["-m", package, name, *own], os.getcwd())

    def _ask(self, recovery: Recovery) -> bool | None:
        """Ask whether to recover."""
        import time

        from PySide6.QtWidgets import QMessageBox

        from ..base.names import unformatted

        dialog = QMessageBox(self.window)
        dialog.setObjectName("recovery_dialog")
        dialog.setIcon(QMessageBox.Icon.Question)
        dialog.setWindowTitle("Recover unsaved changes")
        when = time.strftime("%d %B, %H:%M", time.localtime(recovery.saved_at))
        dialog.setText(unformatted(f"Left from {when}: {recovery.what} “{recovery.name}”."))
        file = " The file itself was not changed." if recovery.path is not None else ""
        dialog.setInformativeText(f"mbframe was not closed properly the last time.{file}")
        yes = dialog.addButton("Recover", QMessageBox.ButtonRole.AcceptRole)
        no = dialog.addButton("Discard", QMessageBox.ButtonRole.DestructiveRole)
        dialog.addButton("Later", QMessageBox.ButtonRole.RejectRole)
        dialog.setDefaultButton(yes)
        dialog.exec()
        clicked = dialog.clickedButton()
        return True if clicked is yes else False if clicked is no else None

    def close(self) -> None:
        """End everything, in an order in which nobody misses what is gone."""
        from PySide6.QtCore import QEvent

        self.solver.close()
        if self.autosave is not None:
            self.autosave.close(keep=not self._asked)
        else:
            self.document.close()
        if self.window is not None:
            self.window.deleteLater()
            self.window = None
        self.qt.processEvents()
        self.qt.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # which the former leaves for a loop
        self._collector.close()
