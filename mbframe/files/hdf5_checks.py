"""HDF5 files of strangers: everything in them is looked at before anything is read.

HDF5 can lead out of a file (links, external and virtual data), run filters of others, and unpack a thousand bytes from
one. Results of mbframe need none of that: groups of plain arrays in chunks of at most a megabyte.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..limits import check_memory

if TYPE_CHECKING:
    import h5py

DEFLATE, SHUFFLE = 1, 2  # numbers of HDF5's filters
LARGEST_CHUNK: Final = 2**20
"""Bytes of a chunk, unpacked; h5py makes none larger by itself."""
PACKING: Final = 1100
"""zlib packs at most 1032 bytes into one."""
PIECE: Final = 2**24  # bytes that are searched at once
HEAP: Final = b"GCOL\x01\0\0\0"
DEPTH: Final = 2
MOST_OBJECTS: Final = 200_000
LARGEST_ATTRIBUTE: Final = 2**16
SLACK: Final = 2**12  # bytes by which packing may enlarge a chunk


def check_content(file: h5py.File, path: Path, size: int) -> None:
    """A `ValueError` if something in a file of so many bytes may be dangerous to read.

    A file that was found harmless is not looked at again as long as it does not change.
    """
    state = os.stat(path)
    seen = (str(path), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    if seen not in _harmless:
        longest = _longest_text(path)
        for dataset in _datasets(file, DEPTH, [MOST_OBJECTS], longest):
            _check_dataset(dataset, path, size, longest)
        _note(seen)


_harmless: dict[tuple[Any, ...], None] = {}


def _note(seen: tuple[Any, ...]) -> None:
    while len(_harmless) >= 64:
        _harmless.pop(next(iter(_harmless)), None)
    _harmless[seen] = None


def _datasets(group: Any, depth: int, left: list[int], longest: int) -> Iterator[Any]:
    """All datasets below a group, whose links and attributes are in order; `left` counts what may still come."""
    import h5py

    _check_attributes(group, longest)
    for name in group:
        left[0] -= 1
        if left[0] < 0:
            raise ValueError(f"it has more than {MOST_OBJECTS:,} objects")
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{name!r:.60} is a link to another place, which is not followed")
        found = group.get(name, getclass=True)
        if found is h5py.Dataset:
            yield group[name]
        elif found is h5py.Group and depth > 1:
            yield from _datasets(group[name], depth - 1, left, longest)
        else:
            raise ValueError(f"{name!r:.60} is neither an array nor a group of arrays")


def _check_attributes(holder: Any, longest: int) -> None:
    import h5py

    count = h5py.h5a.get_num_attrs(holder.id)
    if count > 100:
        raise ValueError(f"something has {count:,} attributes")
    for number in range(count):
        attribute = h5py.h5a.open(holder.id, index=number)
        item = _check_type(attribute.get_type(), "an attribute", longest)
        count = attribute.get_space().get_simple_extent_npoints()
        if max(attribute.get_storage_size(), item * count) > max(LARGEST_ATTRIBUTE, longest):
            raise ValueError("an attribute is too large")


def _longest_text(path: Path) -> int:
    """Bytes of the longest text in a heap, where HDF5 keeps texts of any length, as in the first results.

    A heap is "GCOL", its version 1, three zeros and its size, then objects: number (0 for free room, the last), count
    of uses, four zeros, size, content up to a multiple of eight bytes. A damaged one, in which HDF5 would walk for
    ever, is a `ValueError`.
    """
    longest = 0
    if not path.stat().st_size:
        return longest
    with path.open("rb") as source, mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begin = _found(data, 0)
        while begin >= 0:
            end = begin + int.from_bytes(data[begin + 8 : begin + 16], "little")
            at = begin + 16
            if not at < end <= len(data):
                raise ValueError("a heap of texts does not end where it says")
            while at + 16 <= end and any(data[at : at + 2]):
                size = int.from_bytes(data[at + 8 : at + 16], "little")
                longest, at = max(longest, size), at + 16 + -(-size // 8) * 8
            if at > end:
                raise ValueError("a text is longer than the heap that it is in")
            if at + 16 <= end and int.from_bytes(data[at + 8 : at + 16], "little") != end - at:
                raise ValueError("the free room in a heap of texts does not reach to its end")
            begin = _found(data, end)
    return longest


def _found(data: mmap.mmap, start: int) -> int:
    """Where the next heap begins, or -1; piece by piece, so that other threads have their turn."""
    for piece in range(start, len(data), PIECE):
        if (begin := data.find(HEAP, piece, piece + PIECE + len(HEAP) - 1)) >= 0:
            return begin
    return -1


def _check_type(kind: Any, what: str, longest: int) -> int:
    """Bytes that one value may have, which must be a number or a text."""
    import h5py

    known = kind.get_class()
    number = known in (h5py.h5t.INTEGER, h5py.h5t.FLOAT) and kind.get_size() <= 8
    if not number and known != h5py.h5t.STRING:
        raise ValueError(f"{what} holds neither numbers nor texts")
    return longest if known == h5py.h5t.STRING and kind.is_variable_str() else int(kind.get_size())


def _check_dataset(dataset: Any, path: Path, size: int, longest: int) -> None:
    import h5py

    name = f"{dataset.name!r:.60}"
    made = dataset.id.get_create_plist()  # before its shape is asked for, which looks into other files
    layout = made.get_layout()
    if layout not in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED) or made.get_external_count():
        raise ValueError(f"{name} has its numbers in another file, which is not opened")
    filters = [made.get_filter(number)[0] for number in range(made.get_nfilters())]
    if not set(filters) <= {DEFLATE, SHUFFLE} or len(filters) > 2:
        raise ValueError(f"{name} is packed by filters that are not ours ({filters})")
    item = _check_type(dataset.id.get_type(), name, longest)
    _check_attributes(dataset, longest)
    needed, stored = item * int(dataset.size or 0), int(dataset.id.get_storage_size())
    if stored > size:
        raise ValueError(f"{name} claims {stored:,} bytes in a file of {size:,}")
    if item != dataset.id.get_type().get_size():  # texts in a heap: each may be the longest
        check_memory(str(path), needed)
        needed = stored
    if layout != h5py.h5d.CHUNKED:
        if needed > max(stored, LARGEST_ATTRIBUTE):
            raise ValueError(f"{name} has {stored:,} of its {needed:,} bytes")
        return
    chunk = item
    for count in made.get_chunk():
        chunk *= count
    if chunk > LARGEST_CHUNK:
        raise ValueError(f"{name} has chunks of {chunk:,} bytes; allowed are {LARGEST_CHUNK:,}")
    chunks = _stored_chunks(dataset, chunk, name)
    # A run that is killed may leave one row of chunks unwritten.
    there = chunks + math.prod(-(-n // count) for n, count in zip(dataset.shape[1:], made.get_chunk()[1:], strict=True))
    check_memory(str(path), chunk * (there - chunks))  # a row may be very wide
    if needed > chunk * there or needed > PACKING * stored + chunk * (there - chunks):
        raise ValueError(f"{name} has {needed:,} bytes, of which only {chunks:,} chunks are there")


def _stored_chunks(dataset: Any, largest: int, name: str) -> int:
    """How many chunks of a dataset are there; a `ValueError` if one is larger, packed, than it is unpacked."""
    found = [0]

    def look(info: Any) -> None:
        found[0] += 1
        if info.size > largest + SLACK:
            raise ValueError(f"{name} has a chunk of {info.size:,} bytes, where {largest:,} are needed")

    if dataset.size:
        dataset.id.chunk_iter(look)
    return found[0]


def check_reading(source: str, count: int, size: int) -> None:
    """A `ModelError` if reading `count` bytes from a file of `size` bytes is more than is allowed at once.

    What is twenty times as large as its file, and beyond the limit of memory, is no motion.
    """
    if count > 20 * size:
        check_memory(source, count)
