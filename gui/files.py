"""Opening and saving with dialogs, asking before changes are lost, and files that are dropped onto the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

import mbframe as mb

from .document import Document
from .fields import commit_focused
from .settings import Settings

SUFFIXES: Final = (".json", ".h5", ".hdf5")
OPEN_FILTER: Final = "Models and results (*.json *.h5 *.hdf5);;Models (*.json);;Results (*.h5 *.hdf5);;All files (*)"
SAVE_FILTER: Final = "Models (*.json)"


class Files(QObject):
    """What the File menu does with documents. Failures are messages of the document; everything stays as it was.

    `opened` is called after another document was opened, `failed` with a sentence after a failure.
    """

    def __init__(
        self,
        document: Document,
        settings: Settings,
        window: QWidget,
        opened: Callable[[], None],
        failed: Callable[[str], None],
    ) -> None:
        super().__init__(window)
        self.document, self.settings, self._window = document, settings, window
        self._opened, self._failed = opened, failed

    # --- opening ------------------------------------------------------------------------------------------------------

    def new(self, dimension: int = 3) -> None:
        """An empty model in space (3) or in the plane (2)."""
        if self.may_leave():
            self.document.new(dimension)
            self._opened()

    def open_with_dialog(self) -> None:
        """Ask for a file and open it."""
        if not self.may_leave():
            return
        name, _ = QFileDialog.getOpenFileName(
            self._window, "Open a model or a result", str(self.settings.last_folder), OPEN_FILTER
        )
        if name:
            self._open(Path(name))

    def open(self, path: Path | str) -> None:
        """Open a file, after asking about changes."""
        if self.may_leave():
            self._open(Path(path))

    def _open(self, path: Path) -> None:
        try:
            self.document.open(path)
        except (mb.MbframeError, OSError) as error:
            self.settings.remove_recent_file(path)
            self._failed(f"{path.name} could not be opened: {error}")
            return
        self.settings.last_folder = path.parent
        self.settings.add_recent_file(path)
        self.document.units = self.settings.units(path.absolute())
        self._opened()

    def open_example(self, name: str) -> bool:
        """Open an example of the gallery; whether it was."""
        if not self.may_leave():
            return False
        self.document.open_example(name)
        self._opened()
        return True

    # --- saving -------------------------------------------------------------------------------------------------------

    def save(self) -> bool:
        """Save under the same name, or ask for one; whether it is saved."""
        return self.save_as() if self.document.path is None else self._save(self.document.path)

    def save_as(self) -> bool:
        """Ask for a name and save; whether it is saved."""
        known = self.document.path
        start = known if known is not None else self.settings.last_folder / f"{_file_name(self.document.title)}.json"
        name, _ = QFileDialog.getSaveFileName(self._window, "Save the model", str(start), SAVE_FILTER)
        return bool(name) and self._save(Path(name))

    def _save(self, path: Path) -> bool:
        commit_focused()  # what is being typed belongs into the file
        try:
            self.document.save_as(path)
        except (mb.MbframeError, OSError) as error:
            self._failed(f"{path.name} could not be saved: {error}")
            return False
        saved = self.document.path or path
        self.settings.add_recent_file(saved)
        self.settings.last_folder = saved.parent
        self.settings.set_units(self.document.units, saved)
        self.document.post(f"Saved as {saved}.")
        return True

    def may_leave(self) -> bool:
        """Whether the present document may be left: its changes are saved, or not wanted."""
        if not self.document.dirty:
            return True
        box = QMessageBox(self._window)
        box.setObjectName("unsaved_dialog")
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Unsaved changes")
        box.setText(f"Save the changes to “{self.document.title}”?")
        box.setInformativeText("They are lost otherwise.")
        choices = QMessageBox.StandardButton
        box.setStandardButtons(choices.Save | choices.Discard | choices.Cancel)
        box.setDefaultButton(choices.Save)
        answer = box.exec()
        if answer == choices.Save:
            return self.save()
        return answer == choices.Discard


def dropped_file(data: QMimeData) -> Path | None:
    """The first file of a drag that can be opened."""
    for url in data.urls():
        path = Path(url.toLocalFile())
        if url.isLocalFile() and path.suffix.lower() in SUFFIXES:
            return path
    return None


def _file_name(title: str) -> str:
    """A title as the name of a file."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in title).strip("_") or "model"
