"""Opening and saving with dialogs, asking before changes are lost, and files that are dropped onto the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

import mbframe as mb

from ..base.names import unformatted
from ..base.settings import Settings
from ..document import opening
from ..document.document import Document, saving_place
from ..document.opening import PROJECT_SUFFIX, RESULT_SUFFIXES, ROBOT_SUFFIXES, SUFFIXES
from ..fields import commit_focused
from ..widgets.waiting import CancelledError, beside

PROGRAM_SUFFIX: Final = ".py"
KINDS: Final = {
    "Projects": (PROJECT_SUFFIX,),
    "Models": (".json",),
    "Results": RESULT_SUFFIXES,
    "Robots (URDF)": ROBOT_SUFFIXES,
    "Programs (Python)": (PROGRAM_SUFFIX,),
}
PROJECT_FILTER: Final = f"Projects: model, runs, view and plots (*{PROJECT_SUFFIX})"
MODEL_FILTER: Final = "Models (*.json)"


Stamp = tuple[int, int, int]


class Files(QObject):
    """Actions of the File menu. Failures are messages of the document; everything stays as it was.

    `opened` is called after another document was opened, `failed` with a sentence after a failure.
    """

    read = Signal(object)
    """A file was opened: its folder."""
    program_chosen = Signal(object)
    """A Python program, which others may run for the system that it builds."""

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
        self._seen: tuple[Path, Stamp | None] | None = None  # the file of the document, as it was read or written

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
            self._window,
            "Open a project, a model, a result, a robot or a program",
            str(self.settings.last_folder),
            open_filter(),
        )
        if name:
            self._open(Path(name))

    def open(self, path: Path | str) -> None:
        """Open a file, after asking about changes."""
        if self.may_leave():
            self._open(Path(path))

    def _open(self, path: Path) -> None:
        place = path.expanduser().absolute()
        if place.suffix.lower() == PROGRAM_SUFFIX:
            self.program_chosen.emit(place)
            return
        stamp = stamp_of(place)
        try:
            folder = self.document.run_folder
            self.document.take(beside(self._window, f"Opening {path.name}…", partial(opening.read, place, folder)))
        except CancelledError:
            return
        except (mb.MbframeError, OSError) as error:
            self.settings.remove_recent_file(path)
            self._failed(f"{path.name} could not be opened: {error}")
            return
        self._seen = (place, stamp)
        self.settings.last_folder = path.parent
        self.settings.add_recent_file(path)
        if not self.document.is_project:  # which brings its own
            self.document.units = self.settings.units(path.absolute())
        self._opened()
        self.read.emit(place.parent)

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

    def save_as(self, *, project: bool | None = None) -> bool:
        """Ask for a name and save; whether it is saved. A project is proposed if there are runs."""
        known = self.document.path
        if project is None:
            project = self.document.is_project if known is not None else bool(self.document.runs)
        suffix = PROJECT_SUFFIX if project else ".json"
        start = known if known is not None else self.settings.last_folder / _file_name(self.document.title)
        filters = [PROJECT_FILTER, MODEL_FILTER] if project else [MODEL_FILTER, PROJECT_FILTER]
        name, chosen = QFileDialog.getSaveFileName(
            self._window, "Save", str(start.with_suffix(suffix)), ";;".join(filters), filters[0]
        )
        if name and not Path(name).suffix:
            name += PROJECT_SUFFIX if chosen == PROJECT_FILTER or (not chosen and project) else ".json"
        return bool(name) and self._save(Path(name))

    def _save(self, path: Path) -> bool:
        commit_focused()  # what is being typed belongs into the file
        try:
            place = saving_place(path)
            if self._changed_by_others(place) and not self._may_replace(place):
                return False
            beside(self._window, f"Saving {place.name}…", self.document.writing(place))
        except CancelledError:
            return False
        except (mb.MbframeError, OSError) as error:
            self._failed(f"{path.name} could not be saved: {error}")
            return False
        self._seen = (place, stamp_of(place))
        self.document.saved(place)
        self.settings.add_recent_file(place)
        self.settings.last_folder = place.parent
        self.settings.set_units(self.document.units, place)
        self.document.messages.post(f"Saved as {place}.{self._left_out()}")
        return True

    def _changed_by_others(self, place: Path) -> bool:
        """Whether the document's file is not the one that was opened or saved here: another window has saved it."""
        if self._seen is None or place != self.document.path or place != self._seen[0]:
            return False
        now = stamp_of(place)
        return now is not None and now != self._seen[1]

    def _may_replace(self, place: Path) -> bool:
        """Ask whether what others have saved may be lost."""
        box = QMessageBox(self._window)
        box.setObjectName("replaced_dialog")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Changed elsewhere")
        box.setText(unformatted(f"“{place.name}” was changed by another window or program since it was opened here."))
        box.setInformativeText("Saving replaces these changes. To keep both, cancel and save under another name.")
        choices = QMessageBox.StandardButton
        box.setStandardButtons(choices.Yes | choices.Cancel)
        box.button(choices.Yes).setText("Replace")
        box.setDefaultButton(choices.Cancel)
        return box.exec() == choices.Yes

    def _left_out(self) -> str:
        """What is not in the file that was just saved."""
        runs = self.document.runs.unsaved
        if not runs:
            return ""
        names = ", ".join(run.name for run in runs)
        if self.document.is_project:
            return f" {names}: still computing, and not in it yet."
        return f" {names}: not in it, since a model has no runs; save a project to keep them."

    def may_leave(self) -> bool:
        """Whether the present document may be left: its changes are saved, or not wanted."""
        if not self.document.unsaved:
            return True
        box = QMessageBox(self._window)
        box.setObjectName("unsaved_dialog")
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Unsaved work")
        box.setText(unformatted(self._question()))
        computing = any(run.computing for run in self.document.runs)
        lost = "A run is still being computed: it ends, and is not saved. " if computing else ""
        box.setInformativeText(f"{lost}What is not saved is lost.")
        choices = QMessageBox.StandardButton
        box.setStandardButtons(choices.Save | choices.Discard | choices.Cancel)
        box.setDefaultButton(choices.Save)
        answer = box.exec()
        if answer == choices.Save:
            with_runs = bool(self.document.runs.unsaved) and not self.document.is_project
            return self.save_as(project=True) if with_runs else self.save()
        return answer == choices.Discard

    def _question(self) -> str:
        document = self.document
        runs = document.runs.unsaved
        counted = f"the run “{runs[0].name}”" if len(runs) == 1 else f"{len(runs)} runs"
        if not runs:
            return f"Save the changes to “{document.title}”?"
        if document.dirty:
            return f"Save the changes to “{document.title}”, and {counted}, as a project?"
        return f"Save {counted} of “{document.title}” in a project?"


def stamp_of(path: Path) -> Stamp | None:
    """Tells a file from what it was before it was saved again; None if there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def open_filter() -> str:
    """The kinds of files in the dialog that opens one."""
    kinds = [(name, " ".join(f"*{suffix}" for suffix in suffixes)) for name, suffixes in KINDS.items()]
    every = ("All of mbframe", " ".join(f"*{suffix}" for suffix in SUFFIXES))
    return ";;".join(f"{name} ({patterns})" for name, patterns in (every, *kinds, ("All files", "*")))


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
