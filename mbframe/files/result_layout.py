"""What a result file holds, and how its parts are written and read back.

    format, version, name, run      attributes of the file; `run` identifies the run whatever the file is called
    t, q, v, z                      stored instants and states, a row per instant; a chunk holds rows of one column
    names/q, units/q, ...           of the columns: "bar.position.x", "m"
    model                           the model and the settings of the run as JSON
    arrays/0, ...                   long arrays of the model; in its JSON {"array": 0} stands for the first of them
    quantities/<name>               further quantities that were asked for, with their unit as attribute
    log                             lines of JSON: how the run went, and its events
    written                         how many rows of t, q, v, z and of `tail` are valid
    tail                            of a run that was ended from outside: the last rows (t, q, v, z)

Blocks of rows are chunks of columns, because plots want signals. Only states are stored.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe

from ..errors import ModelError
from ..results import EventRecord, Info
from ..state import Motion, State
from ..stored_states import PARTS, Columns, States
from ..system import System
from .hdf5 import NewFile
from .meshes import place_meshes
from .model import document, text_of
from .model_arrays import without_arrays

if TYPE_CHECKING:
    import h5py

Array = NDArray[np.float64]

FORMAT: Final = "mbframe result"
VERSION: Final = 2
WITH_FOLLOWERS: Final = 2  # from this version on z has all followers
BLOCK_NUMBERS: Final = 2**17  # about what is held in memory before it is written
FEWEST_ROWS, MOST_ROWS = 256, 2**14  # of a block, which is one chunk of each column
COMPRESSION: Final = {"compression": "gzip", "compression_opts": 1, "shuffle": True}


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
        """What is to be written of states that are in no file yet."""
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
def created(path: Path, content: Content) -> Iterator[h5py.File]:
    """A new file with everything but rows."""
    import h5py

    with NewFile(path) as disk:
        with h5py.File(disk, "w", libver="v110") as file:
            about = {"format": FORMAT, "name": content.name, "run": content.run, "mbframe": mbframe.__version__}
            file.attrs.update({key: stored_text(text) for key, text in about.items()})
            file.attrs["version"] = VERSION
            file["model_lacks"] = stored_text(content.lacks)
            model, arrays = without_arrays(content.model)
            file["model"] = stored_text(text_of(model, f"the model of {content.name!r}"))
            for number, array in enumerate(arrays):
                file.create_dataset(f"arrays/{number}", data=array, **COMPRESSION)
            for part, described in content.columns.items():
                file[f"names/{part}"] = stored_text([name for name, _ in described])
                file[f"units/{part}"] = stored_text([unit for _, unit in described])
            file.create_dataset("written", data=np.zeros(2, np.int64))
            file.create_dataset("log", (0,), np.uint8, maxshape=(None,), chunks=(4096,))
            file.create_dataset("t", (0,), float, maxshape=(None,), chunks=(block_rows(content),), **COMPRESSION)
            file["t"].attrs["unit"] = stored_text("s")
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


def log(file: h5py.File, *entries: dict[str, Any]) -> None:
    text = "".join(json.dumps(entry, default=str) + "\n" for entry in entries).encode()
    log, end = file["log"], len(file["log"])
    log.resize(end + len(text), axis=0)
    log[end:] = np.frombuffer(text, np.uint8)
    log.flush()


def stored_text(text: str | list[str]) -> Any:
    """Text with its length, which HDF5 keeps where it belongs.

    Strings of variable length would go to a heap that has no checksum: damaged, it keeps a reader busy forever.
    """
    import h5py

    encoded = np.array(np.char.encode(np.array(text, dtype=str), "utf-8"))
    return encoded.astype(h5py.string_dtype("utf-8", max(1, encoded.dtype.itemsize)))


def text_in(value: Any) -> str:
    """A text of a file; a `ValueError` if it has what is no character, and could not be written again."""
    text = value.decode() if isinstance(value, bytes) else str(value)
    text.encode()
    return text


def texts(dataset: h5py.Dataset) -> list[str]:
    return list(dataset.asstr()[:])


def check_numbers(dataset: h5py.Dataset) -> None:
    """Texts and the like in the place of numbers are a ValueError, before somebody computes with them."""
    if dataset.dtype.kind not in "fiu":
        raise ValueError(f"{dataset.name} has no real numbers but {dataset.dtype}")


def read_info(record: dict[str, Any], width: int) -> Info:
    """How a run of so many coordinates came about; a `ValueError` if something there is of another kind."""
    info = Info(**record)
    numbers = [info.steps, info.rejected, info.evaluations, info.factorizations, info.wall_time]
    _of_kind("angles", info.angles, dict)
    for number in (*numbers, *info.angles.values()):
        float(_of_kind("info", number, int, float))
    for text in _of_kind("warnings", info.warnings, list):
        text_in(_of_kind("warnings", text, str))
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


def event_record(event: EventRecord) -> dict[str, Any]:
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


def read_event(record: dict[str, Any]) -> EventRecord:
    motions = {}
    for name, motion in record["motions"].items():
        arrays = {key: np.array(value, dtype=float) for key, value in motion.items() if key != "axes"}
        motions[name] = Motion(**arrays, axes=str(motion.get("axes", "")))
    elements = {name: np.array(values, dtype=float) for name, values in record["element_states"].items()}
    event, t = text_in(_of_kind("event", record["name"], str)), float(_of_kind("event", record["t"], int, float))
    dimension = _of_kind("event", record["dimension"], int)
    return EventRecord(event, t, State(t, motions, elements, dimension))
