"""Result files that grow while a run goes on.

They are written in HDF5's single-writer-multiple-reader mode: they can be read meanwhile, and what was written before
the process was killed stays readable (`h5py.File(path, swmr=True)`).
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ..disk.atomic import CutError, FilePath, replacing, replacing_as_owner
from ..disk.room import give_back, take
from ..equations.equations import Equations
from ..results import EventRecord, Info, Result
from ..stored_states import States
from .result_files import ResultFile, content_of, errors_of, overwritable, read_back
from .result_layout import Content, Rows, block_rows, created, event_record, log

if TYPE_CHECKING:
    import h5py

Array = NDArray[np.float64]

CHECKPOINT_SECONDS: Final = 1.0
SLACK_BYTES: Final = 2**20  # of the disk, for indices of chunks, the log and closing the file
UNFINISHED: Final = "the run that wrote the file still goes on, or was ended from outside"


def _reserve_tail(file: h5py.File, content: Content) -> None:
    """A place that stays the same while the file grows, and costs nothing as long as it is not used."""
    import h5py

    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((block_rows(content), content.width + 1))
    h5py.h5d.create(file.id, b"tail", h5py.h5t.NATIVE_DOUBLE, space, dcpl=layout)


def _growing(path: Path) -> h5py.File:
    """The file, open as its only writer while others may read it."""
    import h5py

    file = h5py.File(path, "r+", libver="v110")
    file.swmr_mode = True
    return file


class ResultStream:
    """A file that grows with a run. From its first moment it has its final name and can be read.

    At most a second of computing is lost when the process is killed. What goes wrong with the file is a `ModelError`
    before the first row and an `OSError` or a `RuntimeError` afterwards. A full disk is one of them: room for the rows
    in hand and for closing the file is taken beforehand, so that none of them is lost.

    Nobody else writes the file meanwhile. If somebody takes its name all the same (by hand, or where there are no
    locks), the rows are kept under a name of their own.
    """

    def __init__(self, path: FilePath, states: States, info: Info) -> None:
        self.name, self.moved = str(path), ""
        self._path = overwritable(path)
        self._snapshot = states.snapshot
        content = content_of(states)
        if content.lacks:
            info.warnings.append(
                f"{str(path)!r} lacks the model, so that load_result needs it as system=...: {content.lacks}"
            )
        renames_open_files = os.name == "posix"
        with replacing_as_owner(path) as (temporary, lock), errors_of(path):
            with created(temporary, content) as file:
                _reserve_tail(file, content)
                log(file, {"info": asdict(replace(info, completed=False, warnings=[*info.warnings, UNFINISHED]))})
            read_back(temporary, path, content, states)
            self._lock, self._longest, self._broken = lock.kept(), 0, False
            self._row_bytes = 8 * (content.width + 1)
            self.block = block_rows(content)
            self._take(2 * self.block)
            if renames_open_files:  # so that under its name the file can be read from the first moment
                self._file = _growing(temporary)
        if not renames_open_files:
            with errors_of(path):
                self._file = _growing(self._path)
        self._rows = Rows(self._file, content)
        self._looked = time.perf_counter()

    def append(self, t: Array, y: Array) -> None:
        """Add rows. If there is no room for more than those in hand, these are added, and an `OSError` says so."""
        self._length()
        try:
            self._take(len(t) + 3 * self.block)
        except OSError:
            with self._watched():
                self._rows.append(t[: self.block], y[: self.block])
            raise
        with self._watched():
            self._rows.append(t, y)

    def _take(self, rows: int) -> None:
        """Take room on the disk for so many rows beyond those in the file, and for all that goes with them."""
        end = self._length()
        take(self._lock.descriptor, self._path.parent, end, rows * self._row_bytes + SLACK_BYTES)

    def _length(self) -> int:
        """Bytes of the file. It never gets shorter by itself: HDF5 would wait forever for what somebody cut off."""
        if self._lock.descriptor < 0:
            return 0
        length = os.fstat(self._lock.descriptor).st_size
        if length < self._longest:
            self._broken = True
            raise CutError
        self._longest = length
        return length

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.perf_counter() - self._looked > CHECKPOINT_SECONDS

    def checkpoint(self) -> None:
        """Make sure that all rows so far are in the file."""
        self._length()
        tail = self._file["tail"]
        take(self._lock.descriptor, self._path.parent, tail.id.get_offset(), tail.nbytes)
        with self._watched():
            self._rows.save_tail()
        self._looked = time.perf_counter()

    def note(self, event: EventRecord) -> None:
        """Note an event."""
        self._take(3 * self.block)
        with self._watched():
            log(self._file, {"event": event_record(event)})

    def finish(self, info: Info) -> None:
        """Write the last rows, and how the run went."""
        self._length()
        with self._watched():
            self._rows.finish()
            log(self._file, {"info": asdict(info)})

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError, RuntimeError):
            self._file.close()
        with suppress(OSError):
            give_back(self._lock.descriptor)
        if not self._broken and not self._lock.owns(self._path):
            self._keep_rows()
        self._lock.close()

    def _keep_rows(self) -> None:
        """Give the rows a name of their own, since somebody has taken theirs."""
        own = self._path.with_name(f"{self._path.stem}-{uuid.uuid4().hex[:8]}{self._path.suffix}")
        with replacing(own) as temporary, temporary.open("wb") as copied:
            os.lseek(self._lock.descriptor, 0, os.SEEK_SET)
            with open(os.dup(self._lock.descriptor), "rb") as file:
                shutil.copyfileobj(file, copied)
        self.moved = f"{self.name!r} was removed or replaced during the run, whose rows are now in {str(own)!r}"
        self._path = own

    def result(self, equations: Equations, info: Info, events: list[EventRecord]) -> Result | None:
        """The result in the file, with the equations that made it.

        None if the system refused to write: HDF5 then still holds the file, and only another process can read it.
        """
        if self._broken:
            return None
        if self.moved:
            info.warnings.append(self.moved)
        return Result.of(ResultFile(self._path, equations=equations, snapshot=self._snapshot), info, events)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError):
            self._broken = True
            raise
