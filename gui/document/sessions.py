"""Files of a window while it is open: those of its runs, and unsaved changes for the case of a crash.

Everything of one window has one name in the folder "recovery", and a lock as long as the window lives: what has no
living owner was left behind by a crash.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path
from threading import Lock

from PySide6.QtCore import QLockFile


class Session:
    """The place of one window. It is made when it is needed first.

    Parameters
    ----------
    folder
        The folder "recovery"; without one a temporary one is taken, which does not survive.
    name
        Of its file and its runs there; one that nobody has by default.
    """

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        self._folder, self._temporary = folder, folder is None
        self._name = name or uuid.uuid4().hex[:12]
        self._lock: QLockFile | None = None
        self._opening = Lock()  # runs begin in the window's thread, unsaved changes are written in another one
        self._closed = False

    @property
    def file(self) -> Path:
        """The file of the unsaved changes."""
        return self._place / f"{self._name}.json"

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self._place / self._name

    @property
    def _place(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="mbframe-runs-"))
        return self._folder

    def open(self) -> None:
        """Make the folder and lock it. `OSError` where that is not possible."""
        with self._opening:
            self._place.mkdir(parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = locked(self.file)

    def run_file(self) -> Path:
        """A name for the file of a new run."""
        try:
            self.open()
            self.runs.mkdir(exist_ok=True)
        except OSError:  # a home that cannot be written: runs can be computed, and do not survive
            self._folder, self._temporary = None, True
            self.runs.mkdir(parents=True)
        return self.runs / f"{uuid.uuid4().hex[:12]}.h5"

    def close(self, *, keep: bool = False) -> None:
        """The end: nothing is left behind, unless it is to be offered at the next start (`keep`)."""
        if self._closed:
            return
        self._closed = True
        if self._folder is not None and not (keep and not self._temporary):
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
            shutil.rmtree(self.runs, ignore_errors=True)
            if self._temporary:
                shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock is not None:
            self._lock.unlock()


def locked(file: Path) -> QLockFile:
    """The lock of a file of unsaved changes, taken if nobody has it."""
    lock = QLockFile(str(file.with_suffix(".lock")))
    lock.setStaleLockTime(0)
    lock.tryLock(0)
    return lock


def abandoned(folder: Path) -> list[Path]:
    """The files of unsaved changes without a living owner. Runs to which no such file belongs are removed."""
    files = []
    for name in sorted({entry.stem for entry in folder.glob("*") if not entry.name.startswith(".")}):
        file = folder / f"{name}.json"
        lock = locked(file)
        if not lock.isLocked():
            continue
        lock.unlock()
        if file.exists() or file.is_symlink():
            files.append(file)
        elif (runs := folder / name).is_dir() and not runs.is_symlink():
            shutil.rmtree(runs, ignore_errors=True)
    return files
