"""Unsaved changes survive a crash: some seconds after an edit the model is written to the application's data folder.

A recovery file holds the model, the path of its file and the list of its runs, which were computed into a folder beside
it (`sessions`). It is removed when all is saved and at a clean end, or when the user says so: one that cannot be read
(of a newer version, with classes of the user) is kept as a file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, QThreadPool, Signal

import mbframe as mb
from mbframe.disk.atomic import write_text
from mbframe.disk.inputs import contents
from mbframe.files import model as model_files
from mbframe.files.json_text import dumps, most_bytes, parse

from ..base.turns import single_shot
from . import opening
from .document import Document
from .runs import RunSettings
from .sessions import Session, abandoned

DELAY_MS: Final = 2_000
"""Between an edit and its autosave: an edit is safe after this time and the time it takes to write the file."""
FORMAT: Final = "mbframe recovery"
KEPT: Final = "kept"
"""Folder of the unsaved changes that could not be read."""


@dataclass(frozen=True)
class Recovery:
    """Unsaved changes that a crash left behind; those that cannot be read have no `model` but a reason, `fault`."""

    file: Path
    path: Path | None
    name: str
    model: dict[str, Any]
    saved_at: float
    fault: str = ""
    runs: tuple[dict[str, Any], ...] = ()
    changed: bool = True
    """Whether the model differs from its file; otherwise it is for its runs only."""
    looks: dict[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """What there is, in words before the name of the model."""
        counted = "a run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        if not self.runs:
            return "unsaved changes to"
        return f"unsaved changes and {counted} of" if self.changed else f"{counted}, not saved, of"

    def restore(self, document: Document) -> None:
        """Open it in a document, as one with unsaved changes. `ModelError` if it cannot be read."""
        system = model_files.system_from(self.model)
        settings = RunSettings.from_stored(model_files.settings_from(self.model))
        opened = opening.Opened(system, self.path, settings, looks=self.looks)
        for about in self.runs:
            if (file := self._taken(about, document)) is not None:
                opening.add_run(opened, file, about)
        for run in opened.runs:
            run.unsaved = True
        document.take(opened)
        if self.changed:
            document.undo_stack.resetClean()
            document.title_changed.emit()

    def _taken(self, about: dict[str, Any], document: Document) -> Path | None:
        """The file of a run, moved to those of the document; None if there is none."""
        name = about.get("file")
        if not isinstance(name, str) or not re.fullmatch(r"[\w-]+\.h5", name):
            return None
        found = self._runs / name
        if self._runs.is_symlink() or found.is_symlink() or not found.is_file():
            return None
        target = document.session.run_file()
        shutil.move(found, target)
        return target

    @property
    def _runs(self) -> Path:
        """The folder of its runs."""
        return self.file.with_suffix("")

    def keep(self) -> Path:
        """Turn it into a file for the user: a model if it has one, otherwise its bytes. `OSError` if that fails."""
        folder = self.file.parent.parent / KEPT
        folder.mkdir(parents=True, exist_ok=True)
        word = re.sub(r"[^\w -]+", "_", self.name)[:60].strip() or "unreadable"
        when = time.strftime("%Y-%m-%d %H-%M-%S", time.localtime(self.saved_at))
        kept = folder / f"{word}, unsaved {when} {self.file.stem}.json"
        if self.model:
            write_text(kept, dumps(self.model))
            self.file.unlink()
        else:
            os.replace(self.file, kept)
        if self._runs.is_dir() and not self._runs.is_symlink():
            os.replace(self._runs, kept.with_name(f"{kept.stem} runs"))
        return kept

    def discard(self) -> None:
        """Remove it."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)
        if not self._runs.is_symlink():
            shutil.rmtree(self._runs, ignore_errors=True)


class Autosave(QObject):
    """Watches a document and keeps its unsaved changes in a recovery file."""

    written = Signal()
    failed = Signal(str)

    def __init__(
        self, document: Document, folder: Path, parent: QObject | None = None, *, delay_ms: int = DELAY_MS
    ) -> None:
        super().__init__(parent)
        self._document = document
        document.session = self.session = Session(folder / "recovery")
        self._text = ""
        self._complained = False
        # Writing waits for the disk. One thread: what is written or removed later is later on the disk, too.
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._timer = single_shot(self, self.save_now, delay_ms)
        self.failed.connect(self._complain)
        for signal in (document.element_changed, document.structure_changed, document.runs.settings_changed):
            signal.connect(self._changed)
        document.runs.changed.connect(self._title_changed)
        document.title_changed.connect(self._title_changed)
        document.replaced.connect(self._title_changed)

    @property
    def file(self) -> Path:
        """The file in which the changes are."""
        return self.session.file

    def _changed(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _title_changed(self) -> None:
        if self._document.unsaved:
            self._changed()
        else:
            self._forget()

    def save_now(self) -> None:
        """Write the recovery file, if there is anything to recover."""
        document = self._document
        if not document.unsaved:
            return
        try:
            model = model_files.document(document.system, document.runs.settings.stored())
        except mb.ModelError as error:
            self.failed.emit(f"This model is not saved automatically: {error}")
            return
        path = str(document.path) if document.path is not None else ""
        runs = [
            {**opening.about_run(run, run is document.runs.current), "file": run.path.name}
            for run in document.runs
            if run.path is not None and run.path.parent == self.session.runs
        ]
        about = {"format": FORMAT, "path": path, "name": document.title, "changed": document.dirty, "runs": runs}
        about["looks"] = document.looks()
        text = dumps({**about, "model": model})
        if text == self._text:
            return
        self._text = text
        content = json.dumps({"saved_at": time.time()})[:-1] + ", " + text.lstrip()[1:]
        self._pool.start(lambda: self._write(content))

    def _write(self, content: str) -> None:
        """Runs in the pool's thread."""
        try:
            self.session.open()
            parse(content, "unsaved changes")  # what is not read again would be no help
            write_text(self.file, content)
        except (OSError, mb.ModelError) as error:
            self._text = ""
            self.failed.emit(f"Unsaved changes are not kept for the case of a crash: {error}")
        else:
            self.written.emit()

    def _complain(self, message: str) -> None:
        """Once is enough."""
        if not self._complained:
            self._complained = True
            self._document.messages.post(message, "warning")

    def _forget(self) -> None:
        """There is nothing to recover any more."""
        self._timer.stop()
        if self._text:
            self._text = ""
            self._pool.start(lambda: self.file.unlink(missing_ok=True))

    def close(self, *, keep: bool = False) -> None:
        """The end. Nothing is left behind, unless the user was not asked (`keep`) and something is unsaved."""
        self._timer.stop()
        keep = keep and self._document.unsaved
        if keep:
            self.save_now()
        self._pool.waitForDone()
        self._document.close(keep=keep)


def leftovers(folder: Path) -> list[Recovery]:
    """Remains of crashed applications, latest first."""
    found = [_read(file) for file in abandoned(folder / "recovery")]
    return sorted(found, key=lambda recovery: recovery.saved_at, reverse=True)


def _read(file: Path) -> Recovery:
    try:
        content = parse(contents(file, most_bytes()), file.name)
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r:.60}")
        path = Path(content["path"]) if content["path"] else None
        runs = tuple(dict(run) for run in content.get("runs", ()))
        return Recovery(
            file,
            path,
            str(content["name"]),
            dict(content["model"]),
            float(content["saved_at"]),
            runs=runs,
            changed=content.get("changed") is not False,
            looks=looks if isinstance(looks := content.get("looks"), dict) else {},
        )
    except (OSError, mb.ModelError, KeyError, TypeError, ValueError) as error:
        try:
            saved_at = file.lstat().st_mtime
        except OSError:
            saved_at = 0.0
        return Recovery(file, None, "", {}, saved_at, str(error))


Ask = Callable[[Recovery], bool | None]
"""Asks the user whether to recover: yes, no (discard), or None for later."""


def offer(document: Document, folder: Path, ask: Ask) -> Recovery | None:
    """Offer what a crash left behind, one after the other, until one is taken; returns that one."""
    for recovery in leftovers(folder):
        if recovery.fault:
            _keep(document, recovery, recovery.fault)
            continue
        answer = ask(recovery)
        if answer is False:
            recovery.discard()
        elif answer:
            try:
                recovery.restore(document)
            except mb.ModelError as error:
                _keep(document, recovery, str(error))
                continue
            return recovery
    return None


def _keep(document: Document, recovery: Recovery, reason: str) -> None:
    """Keep what cannot be read as a file, and say where."""
    what = f"The unsaved changes of {recovery.name!r}" if recovery.name else "Unsaved changes that a crash left behind"
    try:
        place = f"they are kept in {recovery.keep()}"
    except (OSError, mb.ModelError) as error:
        place = f"they stay in {recovery.file} ({error})"
    document.messages.post(f"{what} cannot be read, {place}: {reason}", "error")
