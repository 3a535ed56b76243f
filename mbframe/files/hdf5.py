"""HDF5 files that are not as they should be: written at this moment, or shorter than they say."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Superblock:
    """What the first bytes say of a file (File Format Specification of HDF5, superblock of version 3).

    being_written: a run writes it, or was killed while it did. Only then it is opened as a file that grows: its reader
    takes damage for a write under way, and waits for minutes. missing: bytes at its end that a full disk did not take.
    """

    being_written: bool
    missing: int

    @classmethod
    def of(cls, path: Path) -> Superblock:
        with path.open("rb") as file:
            head = file.read(36)
        if len(head) < 36 or head[8] < 3:
            return cls(False, 0)
        return cls(bool(head[11] & 0b101), int.from_bytes(head[28:36], "little") - path.stat().st_size)


class Completed(io.RawIOBase):
    """A file with zeros for what is missing at its end: HDF5 refuses to open a shorter one, whatever is still in it."""

    def __init__(self, path: Path, missing: int) -> None:
        self._file = path.open("rb", buffering=0)
        self._size = path.stat().st_size + missing
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._at))
        self._file.seek(self._at)
        found = self._file.readinto(view[:count]) or 0
        view[found:count] = bytes(count - found)
        self._at += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
