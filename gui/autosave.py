"""Unsaved changes survive a crash: some seconds after an edit the model is written to the application's data folder.

A recovery file holds the model and the path of its file. Whoever writes it also holds a lock on it, so that a file
without a living owner is one that a crash left behind. It is removed when the model is saved and at a clean end, or
when the user says so: one that cannot be read (of a newer version, with classes of the user) is kept as a file.
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QLockFile, QObject, QThreadPool, Signal

import mbframe as mb
from mbframe.disk.atomic import write_text
from mbframe.disk.inputs import contents
from mbframe.files import model as model_files
from mbframe.files.json_text import dumps, most_bytes, parse

from .document import Document
from .memory import beside_the_window
from .runs import RunSettings
from .turns import single_shot

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

    def restore(self, document: Document) -> None:
        """Open the model in a document, as one with unsaved changes. `ModelError` if it cannot be read."""
        system = model_files.system_from(self.model)
        settings = RunSettings.from_stored(model_files.settings_from(self.model))
        document.open_system(system, self.path, changed=True)
        document.run_settings = settings

    def keep(self) -> Path:
        """Turn it into a file for the user: a model if it has one, otherwise its bytes. `OSError` if that fails."""
        folder = self.file.parent.parent / KEPT
        folder.mkdir(parents=True, exist_ok=True)
        word = re.sub(r"[^\w -]+", "_", self.name)[:60].strip() or "unreadable"
        when = time.strftime("%Y-%m-%d %H-%M-%S", time.localtime(self.saved_at))
        kept = folder / f"{word}, unsaved {when} {self.file.stem}.json"
        if self.model:
            write_text(kept, dumps(self.model))
            self.discard()
        else:
            os.replace(self.file, kept)
        return kept

    def discard(self) -> None:
        """Remove it."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


class Autosave(QObject):
    """Watches a document and keeps its unsaved changes in a recovery file."""

    written = Signal()
    failed = Signal(str)

    def __init__(
        self, document: Document, folder: Path, parent: QObject | None = None, *, delay_ms: int = DELAY_MS
    ) -> None:
        super().__init__(parent)
        self._document, self._folder = document, folder / "recovery"
        self.file = self._folder / f"{uuid.uuid4().hex[:12]}.json"
        self._lock: QLockFile | None = None
        self._text = ""
        self._complained = False
        # Writing waits for the disk. One thread: what is written or removed later is later on the disk, too.
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._timer = single_shot(self, self.save_now, delay_ms)
        self.failed.connect(self._complain)
        for signal in (document.element_changed, document.structure_changed, document.run_settings_changed):
            signal.connect(self._changed)
        document.title_changed.connect(self._title_changed)
        document.replaced.connect(self._title_changed)

    def _changed(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _title_changed(self) -> None:
        if self._document.dirty:
            self._changed()
        else:
            self._forget()

    def save_now(self) -> None:
        """Write the recovery file, if there is anything to recover."""
        document = self._document
        if not document.dirty:
            return
        try:
            model = model_files.document(document.system, document.run_settings.stored())
        except mb.ModelError as error:
            self.failed.emit(f"This model is not saved automatically: {error}")
            return
        path = str(document.path) if document.path is not None else ""
        text = dumps({"format": FORMAT, "path": path, "name": document.title, "model": model})
        if text == self._text:
            return
        self._text = text
        content = json.dumps({"saved_at": time.time()})[:-1] + ", " + text.lstrip()[1:]
        self._pool.start(lambda: self._write(content))

    @beside_the_window()
    def _write(self, content: str) -> None:
        """Runs in the pool's thread."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = QLockFile(str(self.file.with_suffix(".lock")))
                self._lock.setStaleLockTime(0)
                self._lock.tryLock(0)
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
            self._document.post(message, "warning")

    def _forget(self) -> None:
        """There is nothing to recover any more."""
        self._timer.stop()
        if self._text:
            self._text = ""
            self._pool.start(lambda: self.file.unlink(missing_ok=True))

    def close(self, *, keep: bool = False) -> None:
        """The end. Nothing is left behind, unless the user was not asked (`keep`) and there are unsaved changes."""
        self._timer.stop()
        if keep and self._document.dirty:
            self.save_now()
        self._pool.waitForDone()
        if not (keep and self._document.dirty):
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.unlock()


def leftovers(folder: Path) -> list[Recovery]:
    """What crashed applications left, latest first."""
    found = []
    for file in sorted((folder / "recovery").glob("*.json")):
        if file.name.startswith("."):  # being written
            continue
        lock = QLockFile(str(file.with_suffix(".lock")))
        lock.setStaleLockTime(0)
        if not lock.tryLock(0):  # its owner lives
            continue
        lock.unlock()
        found.append(_read(file))
    return sorted(found, key=lambda recovery: recovery.saved_at, reverse=True)


def _read(file: Path) -> Recovery:
    try:
        content = parse(contents(file, most_bytes()), file.name)
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r:.60}")
        path = Path(content["path"]) if content["path"] else None
        return Recovery(file, path, str(content["name"]), dict(content["model"]), float(content["saved_at"]))
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
    document.post(f"{what} cannot be read, {place}: {reason}", "error")
