"""Python programs in the window: one that builds a system is run, after a question, and its system is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QProgressDialog

import mbframe as mb
from mbframe.plug_ins import Source

from ..solving.tasks import ScriptTask

if TYPE_CHECKING:
    from ..solving.tasks import Model
    from .window import MainWindow

SHOWN_AFTER_MS = 500
"""Of the dialog that lets one cancel: most programs have ended by then."""


class Scripts(QObject):
    """Runs programs in a process of their own, for the system that they build."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self.document, self.solver = window, window.document, window.solver

    def open(self, path: Path) -> None:
        """Run a program if somebody agrees, and show what it built."""
        try:
            source = Source.of(str(path))
        except mb.ModelError as error:
            self._tell(str(error))
            return
        if not self._window.own_classes.may_use(source, f"To open the system that {path.name} builds"):
            return
        waiting = QProgressDialog(f"Running {path.name}…", "Cancel", 0, 0, self._window)
        waiting.setObjectName("script_dialog")
        waiting.setWindowTitle("Running a program")
        waiting.setWindowModality(Qt.WindowModality.WindowModal)
        waiting.setMinimumDuration(SHOWN_AFTER_MS)
        waiting.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        waiting.setValue(0)
        job = self.solver.submit(ScriptTask(source))
        waiting.canceled.connect(job.cancel)
        for ended in (job.finished, job.failed, job.cancelled):
            ended.connect(waiting.close)
        job.finished.connect(lambda built: self._show(source, *built))
        job.failed.connect(lambda failure: self._tell(f"{path.name} could not be opened: {failure}"))

    def _show(self, source: Source, model: Model, classes: list[str]) -> None:
        """Open the system; its own classes are imported here, as those of any file that was agreed to."""
        if classes:
            self._window.own_classes.use(source, lambda: self._open(source, model))
        else:
            self._open(source, model)

    def _open(self, source: Source, model: Model) -> None:
        try:
            system = model.system()
        except mb.ModelError as error:
            self._tell(f"{Path(source.path).name} could not be opened: {error}")
            return
        self.document.open_system(system)
        self._window.show_model()
        name = Path(source.path).name
        self.document.messages.post(
            f"{system.name} was built by {name}. The program stays as it is; save it as a model."
        )

    def _tell(self, text: str) -> None:
        self.document.messages.post(text, "error")
        self._window.statusBar().showMessage(text.splitlines()[0], 8000)
