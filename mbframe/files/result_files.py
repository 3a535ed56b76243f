"""Results as HDF5 files (`result_layout`), written whole and read column by column."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..disk.atomic import FilePath, check_free, refused, replacing, unwritten, writable
from ..disk.inputs import regular_file
from ..equations.equations import Equations
from ..equations.tables import Tables
from ..errors import ModelError
from ..limits import allowed, check_memory, import_limits, within_time
from ..plane import lifted
from ..results import Result
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
from .hdf5 import Closed, Superblock
from .hdf5_checks import check_content, check_reading
from .json_text import parse, parsed_bytes
from .meshes import MeshNotice
from .model import settings_from, system_from
from .model_arrays import one_model, with_arrays
from .result_layout import (
    COMPRESSION,
    FORMAT,
    VERSION,
    WITH_FOLLOWERS,
    Content,
    Rows,
    check_numbers,
    created,
    event_record,
    log,
    read_event,
    read_info,
    stored_text,
    text_in,
    texts,
)

if TYPE_CHECKING:
    import h5py

    from ..quantities import Quantity

Array = NDArray[np.float64]
T = TypeVar("T")

PAUSES: Final = (0.001, 0.003, 0.01, 0.03, 0.1)  # s, before a file is read again that a run writes


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
    content = content_of(states)
    with replacing(place) as temporary:
        with errors_of(path), created(temporary, content) as file:
            rows = Rows(file, content)
            for start in range(0, len(states), rows.block):
                span = slice(start, min(start + rows.block, len(states)))
                rows.append(states.t[span], states.whole(span))
            rows.finish()
            for quantity in chosen.values():
                _add_quantity(file, quantity)
            log(file, *({"event": event_record(event)} for event in result.events), {"info": asdict(result.info)})
        read_back(temporary, path, content, states)


def content_of(states: States) -> Content:
    """What is to be written of a run: of one that was read from a file, what is in the file."""
    if not isinstance(states, ResultFile):
        return Content.of(states)
    columns = columns_of(states.tables) if len(states.added) else states.columns
    return replace(states.content, model=states.model, columns=columns)


def read_back(temporary: Path, path: FilePath, content: Content, states: States) -> None:
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
    stored.attrs.update(name=stored_text(quantity.name), unit=stored_text(quantity.unit))


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
        if text_in(file.attrs.get("format", "")) != FORMAT:
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
            part: list(zip(texts(file[f"names/{part}"]), texts(file[f"units/{part}"]), strict=True)) for part in PARTS
        }
        for key in ("model", "model_lacks"):
            if key in file and file[key].shape != ():
                raise ValueError(f"{key} is no single text")
        model = parse(file["model"][()], f"file {str(self.path)!r}, model")  # its arrays are read when they are used
        run, name = (text_in(file.attrs[key]) for key in ("run", "name"))
        lacks = file["model_lacks"][()] if "model_lacks" in file else file.attrs["model_lacks"]
        self.content = Content(run, name, model, text_in(lacks), self.columns)
        self._length = self._checked_length(file)
        self.extra = {
            text_in(stored.attrs["name"]): (stored.name, text_in(stored.attrs["unit"]))
            for stored in file.get("quantities", {}).values()
        }
        if "" in self.extra:
            raise ValueError("a quantity has no name")
        for stored in file.get("quantities", {}).values():
            check_numbers(stored)
        lines = bytes(file["log"][:])
        check_memory(f"file {str(self.path)!r}, log", parsed_bytes(lines))
        told = [json.loads(line) for line in lines.decode().splitlines()]
        self._info = read_info([entry["info"] for entry in told if "info" in entry][-1], self.content.width)
        self._events = [read_event(entry["event"]) for entry in told if "event" in entry]

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
            check_numbers(file[name])
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
            if text_in(file.attrs.get("run", "")) != self.content.run:
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
def errors_of(path: FilePath) -> Iterator[None]:
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
