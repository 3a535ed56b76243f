"""Results as HDF5 files, written at once or while a run goes on, and read column by column.

    format, version, name, run      attributes of the file; `run` identifies the run whatever the file is called
    t, q, v, z                      stored instants and states, a row per instant; a chunk holds rows of one column
    names/q, units/q, ...           of the columns: "bar.position.x", "m"
    model                           the model and the settings of the run as JSON
    arrays/0, ...                   long arrays of the model; in its JSON {"array": 0} stands for the first of them
    quantities/<name>               further quantities that were asked for, with their unit as attribute
    log                             lines of JSON: how the run went, and its events
    written                         how many rows of t, q, v, z and of `tail` are valid
    tail                            of a run that was ended from outside: the last rows (t, q, v, z)

A run that goes on writes in HDF5's single-writer-multiple-reader mode: it can be read meanwhile, and what was written
before the process was killed stays readable (`h5py.File(path, swmr=True)`).
"""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

import mbframe

from ..disk.atomic import FilePath, check_free, refused, replacing, replacing_as_owner, unwritten, writable
from ..disk.inputs import regular_file
from ..disk.room import give_back, take
from ..equations.equations import Equations
from ..equations.tables import Tables
from ..errors import ModelError
from ..limits import allowed, check_memory, import_limits, within_time
from ..plane import lifted
from ..results import EventRecord, Info, Result
from ..state import Motion, State
from ..stored_states import (
    OF_THIS_PROCESS,
    PARTS,
    STRATEGIES,
    Columns,
    NamedColumns,
    Snapshot,
    States,
    columns_of,
    equations_with,
    is_work,
)
from ..system import System
from ..unknown import UnknownStrategy, refuse_unknown_classes
from .hdf5 import Closed, NewFile, Superblock
from .hdf5_checks import check_content, check_reading
from .json_text import parse, parsed_bytes
from .meshes import MeshNotice, place_meshes
from .model import document, settings_from, system_from, text_of
from .model_arrays import one_model, with_arrays, without_arrays

if TYPE_CHECKING:
    import h5py

    from ..quantities import Quantity

Array = NDArray[np.float64]
T = TypeVar("T")

FORMAT: Final = "mbframe result"
VERSION: Final = 2
WITH_FOLLOWERS: Final = 2  # from this version on z has all followers
BLOCK_NUMBERS: Final = 2**17  # about what is held in memory before it is written
FEWEST_ROWS, MOST_ROWS = 256, 2**14  # of a block, which is one chunk of each column
COMPRESSION: Final = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
CHECKPOINT_SECONDS: Final = 1.0
PAUSES: Final = (0.001, 0.003, 0.01, 0.03, 0.1)  # s, before a file is read again that a run writes
SLACK_BYTES: Final = 2**20  # of the disk, for indices of chunks, the log and closing the file
UNFINISHED: Final = "the run that wrote the file still goes on, or was ended from outside"


def load_result(path: FilePath, *, classes: Iterable[type[Any]] = (), system: System | None = None) -> Result:
    """Read a result that `Result.save` or `simulate(..., output=...)` wrote, also while that still goes on.

    Arrays are read when they are used. The model is built when something must be computed from it; instants,
    coordinates and stored quantities need no class of yours.

    Parameters
    ----------
    path
        The file.
    classes
        Your own classes that the model names; nothing is imported or executed because a file asks for it.
    system
        The simulated system, for a file that cannot hold it (Python functions as parameters).
    """
    found = ResultFile(path, classes=classes, system=system)
    if len(found):
        found.span()  # which refuses instants that are none
    return found.result()


def save(result: Result, path: FilePath, quantities: Sequence[str] = ()) -> None:
    """Write a result, whole or not at all."""
    place = overwritable(path)
    states = result.states
    names = [*states.extra, *quantities] if isinstance(states, ResultFile) else quantities
    chosen = {part.name: part for name in names for part in result.quantity(name).components()}
    content = Content.of(states)
    with replacing(place) as temporary:
        with _errors_of(path), _created(temporary, content) as file:
            rows = Rows(file, content)
            for start in range(0, len(states), rows.block):
                span = slice(start, min(start + rows.block, len(states)))
                rows.append(states.t[span], states.whole(span))
            rows.finish()
            for quantity in chosen.values():
                _add_quantity(file, quantity)
            _log(file, *({"event": _event_record(event)} for event in result.events), {"info": asdict(result.info)})
        _read_back(temporary, path, content, states)


def _read_back(temporary: Path, path: FilePath, content: Content, states: States) -> None:
    """Read what was just written: its description, the model with its arrays, and the last row."""
    try:
        again = ResultFile(temporary)
        kept = again.content.run == content.run and len(again) == len(states) and one_model(again.model, content.model)
        last = slice(max(len(states) - 1, 0), len(states))
        if not kept or again.whole(last).tobytes() != states.whole(last).tobytes():
            raise refused(path, "is not what was written; check the disk")
    except ModelError as error:
        messages = "; ".join(problem.message for problem in error.problems)
        raise refused(path, f"could be written but not be read again: {messages}") from error


def _add_quantity(file: h5py.File, quantity: Quantity) -> None:
    place = f"quantities/{quantity.name.replace('/', '|')}"  # in HDF5 a stroke separates groups
    stored = file.create_dataset(place, data=quantity.values, chunks=bool(len(quantity.values)) or None, **COMPRESSION)
    stored.attrs.update(name=_stored(quantity.name), unit=_stored(quantity.unit))


# ---- What a file holds --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Content:
    """What is known of a run before its first row."""

    run: str
    name: str
    model: dict[str, Any]
    lacks: str
    """Why the model is not in it; empty if it is."""
    columns: Columns

    @classmethod
    def of(cls, states: States) -> Content:
        if isinstance(states, ResultFile):
            columns = columns_of(states.tables) if len(states.added) else states.columns
            return replace(states.content, model=states.model, columns=columns)
        try:
            model, lacks = document(states.snapshot.described, states.settings), ""
        except ModelError as error:  # the motion is worth keeping; its settings say in which coordinates it is
            model, lacks = document(System(states.name), states.settings), str(error)
        place_meshes(model, None)
        return cls(uuid.uuid4().hex, states.name, model, lacks, states.columns)

    @property
    def width(self) -> int:
        return sum(map(len, self.columns.values()))


@contextmanager
def _created(path: Path, content: Content) -> Iterator[h5py.File]:
    """A new file with everything but rows."""
    import h5py

    with NewFile(path) as disk:
        with h5py.File(disk, "w", libver="v110") as file:
            about = {"format": FORMAT, "name": content.name, "run": content.run, "mbframe": mbframe.__version__}
            file.attrs.update({key: _stored(text) for key, text in about.items()})
            file.attrs["version"] = VERSION
            file["model_lacks"] = _stored(content.lacks)
            model, arrays = without_arrays(content.model)
            file["model"] = _stored(text_of(model, f"the model of {content.name!r}"))
            for number, array in enumerate(arrays):
                file.create_dataset(f"arrays/{number}", data=array, **COMPRESSION)
            for part, described in content.columns.items():
                file[f"names/{part}"] = _stored([name for name, _ in described])
                file[f"units/{part}"] = _stored([unit for _, unit in described])
            file.create_dataset("written", data=np.zeros(2, np.int64))
            file.create_dataset("log", (0,), np.uint8, maxshape=(None,), chunks=(4096,))
            file.create_dataset("t", (0,), float, maxshape=(None,), chunks=(block_rows(content),), **COMPRESSION)
            file["t"].attrs["unit"] = _stored("s")
            for part, described in content.columns.items():
                shape, limit, chunks = (0, len(described)), (None, len(described)), (block_rows(content), 1)
                if described:
                    file.create_dataset(part, shape, float, maxshape=limit, chunks=chunks, **COMPRESSION)
                else:
                    file.create_dataset(part, shape, float, maxshape=(None, None))
            yield file
        if disk.refusal is not None:
            raise disk.refusal


def block_rows(content: Content) -> int:
    """Rows of a block: a power of two."""
    wanted = max(FEWEST_ROWS, min(MOST_ROWS, BLOCK_NUMBERS // (content.width + 1)))
    return 1 << (wanted.bit_length() - 1)


class Rows:
    """The growing arrays of a file. Whole blocks are written, so that no compressed chunk is written twice."""

    def __init__(self, file: h5py.File, content: Content) -> None:
        self._file = file
        self.block = block_rows(content)
        ends = np.cumsum([1, *(len(content.columns[part]) for part in PARTS)])
        self._places = {part: slice(a, b) for part, a, b in zip(PARTS, ends[:-1], ends[1:], strict=True)}
        self._rows = np.zeros((self.block, content.width + 1))  # of the block that is not full: t, q, v, z
        self._filled = 0
        self._written = 0
        self._saved = 0

    def append(self, t: Array, y: Array) -> None:
        start = 0
        while start < len(t):
            count = min(len(t) - start, self.block - self._filled)
            rows = self._rows[self._filled : self._filled + count]
            rows[:, 0], rows[:, 1:] = t[start : start + count], y[start : start + count]
            start += count
            self._filled += count
            if self._filled == self.block:
                self._write_block()

    def save_tail(self) -> None:
        """Write what the block holds to a place that can be written again and again."""
        if self._filled > self._saved:
            self._file["tail"][self._saved : self._filled] = self._rows[self._saved : self._filled]
            self._file["tail"].flush()
            self._count(self._filled)

    def finish(self) -> None:
        """Write the last, shorter block."""
        if self._filled:
            self._write_block()

    def _write_block(self) -> None:
        total = self._written + self._filled
        rows = self._rows[: self._filled]
        columns = [("t", rows[:, 0]), *((part, rows[:, place]) for part, place in self._places.items())]
        for part, values in columns:
            stored = self._file[part]
            stored.resize(total, axis=0)
            if values.size:
                stored[self._written : total] = values
            stored.flush()
        self._written, self._filled = total, 0
        self._count(0)

    def _count(self, tail: int) -> None:
        """Say what is valid. Both numbers are written at once, after the rows themselves."""
        self._saved = tail
        self._file["written"][:] = (self._written, tail)
        self._file["written"].flush()


def _log(file: h5py.File, *entries: dict[str, Any]) -> None:
    text = "".join(json.dumps(entry, default=str) + "\n" for entry in entries).encode()
    log, end = file["log"], len(file["log"])
    log.resize(end + len(text), axis=0)
    log[end:] = np.frombuffer(text, np.uint8)
    log.flush()


# ---- Writing while a run goes on ----------------------------------------------------------------------------------


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
        content = Content.of(states)
        if content.lacks:
            info.warnings.append(
                f"{str(path)!r} lacks the model, so that load_result needs it as system=...: {content.lacks}"
            )
        renames_open_files = os.name == "posix"
        with replacing_as_owner(path) as (temporary, lock), _errors_of(path):
            with _created(temporary, content) as file:
                _reserve_tail(file, content)
                _log(file, {"info": asdict(replace(info, completed=False, warnings=[*info.warnings, UNFINISHED]))})
            _read_back(temporary, path, content, states)
            self._lock = lock.kept()
            self._row_bytes = 8 * (content.width + 1)
            self.block = block_rows(content)
            self._take(2 * self.block)
            if renames_open_files:  # so that under its name the file can be read from the first moment
                self._file = _growing(temporary)
        if not renames_open_files:
            with _errors_of(path):
                self._file = _growing(self._path)
        self._rows = Rows(self._file, content)
        self._looked = time.perf_counter()
        self._broken = False

    def append(self, t: Array, y: Array) -> None:
        """Add rows. If there is no room for more than those in hand, these are added, and an `OSError` says so."""
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
        end = os.fstat(self._lock.descriptor).st_size if self._lock.descriptor >= 0 else 0
        take(self._lock.descriptor, self._path.parent, end, rows * self._row_bytes + SLACK_BYTES)

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.perf_counter() - self._looked > CHECKPOINT_SECONDS

    def checkpoint(self) -> None:
        """Make sure that all rows so far are in the file."""
        tail = self._file["tail"]
        take(self._lock.descriptor, self._path.parent, tail.id.get_offset(), tail.nbytes)
        with self._watched():
            self._rows.save_tail()
        self._looked = time.perf_counter()

    def note(self, event: EventRecord) -> None:
        """Note an event."""
        self._take(3 * self.block)
        with self._watched():
            _log(self._file, {"event": _event_record(event)})

    def finish(self, info: Info) -> None:
        """Write the last rows, and how the run went."""
        with self._watched():
            self._rows.finish()
            _log(self._file, {"info": asdict(info)})

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
        self.moved = f"{self.name!r} was replaced by another file during the run, whose rows are now in {str(own)!r}"
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


# ---- Reading ------------------------------------------------------------------------------------------------------


class ResultFile(NamedColumns):
    """Stored states in a file (`results.States`). Columns are read when they are asked for; nothing stays open."""

    def __init__(
        self,
        path: FilePath,
        *,
        classes: Iterable[type[Any]] = (),
        system: System | None = None,
        equations: Equations | None = None,
        snapshot: Snapshot | None = None,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self._classes = tuple(classes)
        self._mesh_folders = allowed().mesh_folders  # where the result was asked for: the model is built later
        self.given_system = system
        _reading(self.path, self._describe)
        self.name = self.content.name
        if equations is not None and snapshot is not None:
            self.equations, self.tables, self.snapshot = equations, equations.tables, snapshot
            self.gravity, self.mass_properties = self._masses()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in OF_THIS_PROCESS}

    def _describe(self, file: h5py.File) -> None:
        """All but the arrays."""
        if _text(file.attrs.get("format", "")) != FORMAT:
            raise refused(self.path, "is not a result of mbframe; give a file that result.save(...) wrote")
        if file.attrs["version"] > VERSION:
            message = f"has version {file.attrs['version']}; this mbframe reads up to {VERSION}; install a newer one"
            raise refused(self.path, message)
        self._version = int(file.attrs["version"])
        described = [
            *file["names"].values(),
            *file["units"].values(),
            *(file[key] for key in ("model", "log", "written")),
        ]
        check_memory(f"file {str(self.path)!r}", 10 * sum(one.nbytes for one in described))
        self.columns: Columns = {
            part: list(zip(_texts(file[f"names/{part}"]), _texts(file[f"units/{part}"]), strict=True)) for part in PARTS
        }
        for key in ("model", "model_lacks"):
            if key in file and file[key].shape != ():
                raise ValueError(f"{key} is no single text")
        model = parse(file["model"][()], f"file {str(self.path)!r}, model")  # its arrays are read when they are used
        run, name = (_text(file.attrs[key]) for key in ("run", "name"))
        lacks = file["model_lacks"][()] if "model_lacks" in file else file.attrs["model_lacks"]
        self.content = Content(run, name, model, _text(lacks), self.columns)
        self._length = self._checked_length(file)
        self.extra = {
            _text(stored.attrs["name"]): (stored.name, _text(stored.attrs["unit"]))
            for stored in file.get("quantities", {}).values()
        }
        if "" in self.extra:
            raise ValueError("a quantity has no name")
        for stored in file.get("quantities", {}).values():
            _check_numbers(stored)
        lines = bytes(file["log"][:])
        check_memory(f"file {str(self.path)!r}, log", parsed_bytes(lines))
        log = [json.loads(line) for line in lines.decode().splitlines()]
        self._info = _read_info([entry["info"] for entry in log if "info" in entry][-1], self.content.width)
        self._events = [_read_event(entry["event"]) for entry in log if "event" in entry]

    def _checked_length(self, file: h5py.File) -> int:
        """Number of instants; arrays that cannot be right are a ValueError."""
        rows, in_tail = map(int, file["written"][:])
        if Superblock.of(self.path).being_written:  # arrays were looked at before, and may have grown since
            for part in ("t", *PARTS, *(["tail"] if in_tail else [])):
                file[part].refresh()
        shapes = {"t": file["t"].shape} | {part: file[part].shape for part in PARTS}
        widths: dict[str, tuple[int, ...]] = {"t": ()} | {part: (len(names),) for part, names in self.columns.items()}
        if in_tail:
            shapes["tail"], widths["tail"] = file["tail"].shape, (self.content.width + 1,)
        for name, (found, *width) in shapes.items():
            if not found >= (in_tail if name == "tail" else rows) >= 0 or tuple(width) != widths[name]:
                raise ValueError(f"{name} has the shape {shapes[name]}")
            _check_numbers(file[name])
        return rows + in_tail

    def result(self) -> Result:
        """The result in this file."""
        return Result.of(self, self._info, self._events)

    def __len__(self) -> int:
        return self._length

    @cached_property
    def t(self) -> Array:
        return self._ordered(self.rows_of("t", slice(0, len(self)), slice(0, 1))[:, 0])

    def span(self) -> tuple[float, float]:
        ends = [self.rows_of("t", slice(k, k + 1), slice(0, 1)).item() for k in (0, len(self) - 1)]
        first, last = map(float, self._ordered(np.array(ends)))
        return first, last

    def _ordered(self, instants: Array) -> Array:
        """Instants that follow each other; others are a `ModelError`."""
        if not (np.all(np.isfinite(instants)) and np.all(np.diff(instants) >= 0.0)):
            raise refused(self.path, "is damaged: its instants t are not finite, or do not follow each other")
        return instants

    def part(self, name: str, columns: slice = slice(None)) -> Array:
        if name == "z" and len(self.added):
            return self._with_added(self._stored_part("z", slice(None)))[:, columns]
        return self._stored_part(name, columns)

    def whole(self, rows: slice = slice(None)) -> Array:
        start, stop, step = rows.indices(len(self))
        parts = [self.rows_of(part, slice(start, stop), slice(0, len(self.columns[part])))[::step] for part in PARTS]
        return self._with_added(np.hstack(parts))

    def _stored_part(self, name: str, columns: slice) -> Array:
        first, last, _ = columns.indices(len(self.columns[name]))
        return self.rows_of(name, slice(0, len(self)), slice(first, last))

    def _with_added(self, rows: Array) -> Array:
        return np.hstack([rows, np.tile(self.added, (len(rows), 1))])

    @cached_property
    def added(self) -> Array:
        """What stands for the followers that a file of an earlier version does not have."""
        if self._version >= WITH_FOLLOWERS:
            return np.zeros(0)
        try:
            followers, known = self.tables.followers, len(self.columns["z"])
        except ModelError:  # a model that cannot be built here: the file has what it has
            return np.zeros(0)
        return np.array([follower.unknown for follower in followers if follower.z >= known])

    def rows_of(self, name: str, rows: slice, columns: slice) -> Array:
        """Rows of columns of "t", "q", "v" or "z". While a run goes on they move from `tail` to their place."""
        offset = 0 if name == "t" else 1 + sum(len(self.columns[part]) for part in PARTS[: PARTS.index(name)])

        count = 8 * (rows.stop - rows.start) * (columns.stop - columns.start)
        check_reading(f"file {str(self.path)!r}, {name}", count, self.path.stat().st_size)

        def read(file: h5py.File) -> tuple[int, Array, Array]:
            written = int(file["written"][0])
            place = slice(min(rows.start, written), min(rows.stop, written))
            values = file[name][place][:, None] if name == "t" else file[name][place, columns]
            if rows.stop <= written:
                return written, values, values[:0]
            place = slice(max(rows.start - written, 0), rows.stop - written)
            return written, values, file["tail"][place, offset + columns.start : offset + columns.stop]

        while True:
            written, values, tail = self._read(read)
            if rows.stop <= written:
                return values
            if self._read(lambda file: int(file["written"][0])) == written:
                return np.concatenate([values, tail])

    def stored(self, name: str) -> tuple[Array, str] | None:
        if name in self.extra:
            place, unit = self.extra[name]
            size = self.path.stat().st_size

            def read(file: h5py.File) -> Array:
                check_reading(f"file {str(self.path)!r}, {name}", file[place].nbytes, size)
                return file[place][:]

            return self._read(read), unit
        if (column := self._places.get(name)) is None:
            return None
        part, k, unit = column
        return self._stored_part(part, slice(k, k + 1))[:, 0], unit

    def stored_units(self) -> dict[str, str]:
        return super().stored_units() | {name: unit for name, (_, unit) in self.extra.items()}

    @cached_property
    def snapshot(self) -> Snapshot:
        if self.given_system is not None:
            return Snapshot(self.given_system)
        if self.content.lacks:
            message = f"lacks its model ({self.content.lacks:.500}); pass system=... to load_result to compute from it"
            raise refused(self.path, message)
        model = f"file {str(self.path)!r}, model"
        notices: list[str] = []
        with import_limits(mesh_folders=self._mesh_folders) if self._mesh_folders else nullcontext():
            system = within_time(model, lambda: system_from(self.model, self._classes, self.path.parent, notices))
        for notice in notices:
            warnings.warn(f"{model}: {notice}", MeshNotice, stacklevel=2)
        return Snapshot(system)

    @cached_property
    def model(self) -> dict[str, Any]:
        """The document of the model, with its arrays."""
        return self._read(lambda file: with_arrays(self.content.model, file.get("arrays", {})))

    @property
    def system(self) -> System:
        return self.snapshot.system

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The arguments of `simulate`."""
        return settings_from(self.model, self._classes, keep_unknown=True)

    @property
    def _has_works(self) -> bool:
        """Whether the work of elements was kept, as `simulate` does: not in files of earlier versions."""
        return any(is_work(*column) for column in self.columns["z"])

    @cached_property
    def tables(self) -> Tables:
        described = self.snapshot.described
        tables = Tables(described, self.settings.get("formulation"), self._has_works and not described.unknown)
        expected, known = columns_of(tables), len(self.columns["z"])
        if described.unknown and {**expected, "z": []} == {**self.columns, "z": []}:
            return tables  # motions follow from q and v, whatever the forces are whose classes are not known
        refuse_unknown_classes(described)
        if self._version < WITH_FOLLOWERS and known >= tables.n_z - tables.n_followers:
            expected["z"] = expected["z"][:known]
        if expected != self.columns:
            message = (
                f"{self.system} has other coordinates than the result in the file; pass the system that was simulated"
            )
            raise refused(self.path, message)
        return tables

    @cached_property
    def equations(self) -> Equations:
        self.tables  # noqa: B018 (refuses a system that does not fit)
        for setting in STRATEGIES.values():
            if isinstance(strategy := self.settings.get(setting), UnknownStrategy):
                raise refused(self.path, strategy.reason)
        return equations_with(self.snapshot.described, self.settings, self._has_works)

    @cached_property
    def gravity(self) -> Array:
        return self._masses()[0]

    @cached_property
    def mass_properties(self) -> list[tuple[float, Array, Array]]:
        return self._masses()[1]

    def _masses(self) -> tuple[Array, list[tuple[float, Array, Array]]]:
        return lifted(self.snapshot.described.gravity), [b.body.mass_properties() for b in self.tables.bodies]

    def _read(self, read: Callable[[h5py.File], T]) -> T:
        def of_this_run(file: h5py.File) -> T:
            if _text(file.attrs.get("run", "")) != self.content.run:
                raise refused(self.path, "was replaced by another result meanwhile; load it again")
            return read(file)

        return _reading(self.path, of_this_run)


def _reading(path: Path, read: Callable[[h5py.File], T]) -> T:
    """What is read from a file; while a run writes it, it is read again where a write was met half done."""
    pauses = iter(PAUSES)
    while True:
        try:
            with _opened(path) as file, _sound(path):
                return read(file)
        except ModelError:
            pause = next(pauses, None)
            if pause is None or not _being_written(path):
                raise
            time.sleep(pause)


def _being_written(path: Path) -> bool:
    try:
        return path.is_file() and Superblock.of(path).being_written
    except OSError:  # a disk that fails; what was raised before says so
        return False


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    import h5py

    with regular_file(path) as given:
        if not os.fstat(given.fileno()).st_size:  # as of what the system tells in /proc, which may wait to be read
            raise refused(path, "is empty; give a file that result.save(...) wrote")
    try:
        head = Superblock.of(path)
        file = h5py.File(Closed(path, head) if head.being_written or head.missing else path, "r")
    except (OSError, RuntimeError, ValueError) as error:
        raise refused(path, f"cannot be read: {error}; give a file that result.save(...) wrote") from error
    with file:
        with _sound(path):
            check_content(file, path, os.stat(path).st_size)
        yield file


@contextmanager
def _sound(path: FilePath) -> Iterator[None]:
    """All that a damaged file can lead to, as one error."""
    try:
        yield
    except MemoryError as error:
        raise refused(path, "needs more memory than there is; it may be damaged") from error
    except (TypeError, IndexError, AttributeError) as error:
        raise refused(path, "is damaged: something in it has another kind or shape than in a result") from error
    except (OSError, KeyError, ValueError, RuntimeError, OverflowError) as error:
        raise refused(path, f"is damaged: {error}") from error


@contextmanager
def _errors_of(path: FilePath) -> Iterator[None]:
    """HDF5 reports a full disk by several kinds of error."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise unwritten(path, error) from error


def overwritable(path: FilePath) -> Path:
    """The place of a result to be written; a file there that is something else is left alone."""
    place = writable(path)
    check_free(path)
    if place.exists() and place.stat().st_size:
        try:
            ResultFile(place)
        except ModelError as error:
            message = "is there and is not a result of mbframe; choose another name or remove the file"
            raise refused(path, message) from error
    return place


def _stored(text: str | list[str]) -> Any:
    """Text with its length, which HDF5 keeps where it belongs.

    Strings of variable length would go to a heap that has no checksum: damaged, it keeps a reader busy forever.
    """
    import h5py

    encoded = np.array(np.char.encode(np.array(text, dtype=str), "utf-8"))
    return encoded.astype(h5py.string_dtype("utf-8", max(1, encoded.dtype.itemsize)))


def _text(value: Any) -> str:
    """A text of a file; a `ValueError` if it has what is no character, and could not be written again."""
    text = value.decode() if isinstance(value, bytes) else str(value)
    text.encode()
    return text


def _texts(dataset: h5py.Dataset) -> list[str]:
    return list(dataset.asstr()[:])


def _check_numbers(dataset: h5py.Dataset) -> None:
    """Texts and the like in the place of numbers are a ValueError, before somebody computes with them."""
    if dataset.dtype.kind not in "fiu":
        raise ValueError(f"{dataset.name} has no real numbers but {dataset.dtype}")


def _read_info(record: dict[str, Any], width: int) -> Info:
    """How a run of so many coordinates came about; a `ValueError` if something there is of another kind."""
    info = Info(**record)
    numbers = [info.steps, info.rejected, info.evaluations, info.factorizations, info.wall_time]
    _of_kind("angles", info.angles, dict)
    for number in (*numbers, *info.angles.values()):
        float(_of_kind("info", number, int, float))
    for text in _of_kind("warnings", info.warnings, list):
        _text(_of_kind("warnings", text, str))
    _of_kind("settings", info.settings, dict)
    _of_kind("completed", info.completed, bool)
    if info.start is not None and np.array(info.start, dtype=float).shape != (1 + width,):
        raise ValueError("start is no instant with its coordinates")
    return info


def _of_kind(name: str, value: Any, *kinds: type[Any]) -> Any:
    """The value; a `ValueError` if it is of none of these kinds."""
    if type(value) not in kinds:
        raise ValueError(f"{name} in its log is of the kind {type(value).__name__}")
    return value


def _event_record(event: EventRecord) -> dict[str, Any]:
    state = event.state
    motions = {
        name: {key: np.asarray(getattr(motion, key)).tolist() for key in Motion.__dataclass_fields__}
        for name, motion in state.motions.items()
    }
    elements = {name: np.asarray(values).tolist() for name, values in state.element_states.items()}
    return {
        "name": event.name,
        "t": event.t,
        "dimension": state.dimension,
        "motions": motions,
        "element_states": elements,
    }


def _read_event(record: dict[str, Any]) -> EventRecord:
    motions = {}
    for name, motion in record["motions"].items():
        arrays = {key: np.array(value, dtype=float) for key, value in motion.items() if key != "axes"}
        motions[name] = Motion(**arrays, axes=str(motion.get("axes", "")))
    elements = {name: np.array(values, dtype=float) for name, values in record["element_states"].items()}
    event, t = _text(_of_kind("event", record["name"], str)), float(_of_kind("event", record["t"], int, float))
    dimension = _of_kind("event", record["dimension"], int)
    return EventRecord(event, t, State(t, motions, elements, dimension))
