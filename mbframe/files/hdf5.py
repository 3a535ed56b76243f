"""HDF5 files that are not as they should be: being written, left by a killed process, cut off, or on a full disk."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
SIZE: Final = 48  # bytes of a superblock of version 3 with addresses of 8 bytes
ROOM: Final = 2**26  # bytes by which a file may grow while it is read, or be too short: damage asks for no more of them
WRITING: Final = 0b101  # open for writing, and so that others may read


@dataclass(frozen=True)
class Superblock:
    """The first bytes of a file (File Format Specification of HDF5, superblock of version 3).

    being_written: a run writes the file, or was killed while it did. missing: bytes at its end that a full disk did
    not take. A superblock that is damaged says neither: HDF5 refuses it at once.
    """

    content: bytes
    size: int  # of the file

    @classmethod
    def of(cls, path: Path) -> Superblock:
        with path.open("rb") as file:
            return cls(file.read(SIZE), path.stat().st_size)

    @property
    def sound(self) -> bool:
        start = self.content[:11]
        known = len(self.content) == SIZE and start[:8] == SIGNATURE and start[8] >= 3 and start[9:] == b"\x08\x08"
        return known and int.from_bytes(self.content[44:], "little") == checksum(self.content[:44])

    @property
    def being_written(self) -> bool:
        return self.sound and bool(self.content[11] & WRITING)

    @property
    def missing(self) -> int:
        lacking = int.from_bytes(self.content[28:36], "little") - self.size if self.sound else 0
        return lacking if 0 < lacking <= ROOM else 0

    def closed(self, end: int) -> bytes:
        """The superblock of the same file, had it been closed with this size."""
        head = bytearray(self.content[:44])
        head[11] &= ~WRITING
        head[28:36] = end.to_bytes(8, "little")
        return bytes(head) + checksum(head).to_bytes(4, "little")


class Closed(io.RawIOBase):
    """A file as if it had been closed properly, with zeros for what is missing at its end.

    HDF5 refuses to open a shorter file, whatever is still in it. One that is being written it opens for patient readers
    only (swmr), who take damage for a write under way, and wait twice as long each time, up to centuries.
    """

    def __init__(self, path: Path, superblock: Superblock) -> None:
        self._size = superblock.size + (ROOM if superblock.being_written else superblock.missing)
        self._head = superblock.closed(self._size)
        self._file = path.open("rb", buffering=0)
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
        if self._at < SIZE:
            own = self._head[self._at : self._at + count]
            view[: len(own)] = own
        self._at += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class NewFile(io.FileIO):
    """A new file that keeps what the disk refuses as `refusal`, instead of raising it.

    HDF5 cannot close a file that it could not write, tries again when the interpreter ends, and takes it down.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self.refusal: OSError | None = None

    def write(self, content: Any) -> int:
        left = memoryview(content).cast("B")
        size = len(left)
        try:
            while len(left):
                left = left[super().write(left) :]
        except OSError as error:
            self.refusal = self.refusal or error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.refusal = self.refusal or error
            return self.tell() if size is None else size


def checksum(content: bytes | bytearray) -> int:
    """Of metadata in HDF5 files: Bob Jenkins' lookup3, hashlittle(content, 0); for content that is not empty."""
    a = b = c = (0xDEADBEEF + len(content)) & 0xFFFFFFFF
    words = [int.from_bytes(content[k : k + 4], "little") for k in range(0, len(content), 4)]
    words += [0] * (-len(words) % 3)
    for k in range(0, len(words), 3):
        a, b, c = ((x + w) & 0xFFFFFFFF for x, w in zip((a, b, c), words[k : k + 3], strict=True))
        for turn in (4, 6, 8, 16, 19, 4) if k + 3 < len(words) else ():
            a, b, c = b, (c + b) & 0xFFFFFFFF, ((a - c) & 0xFFFFFFFF) ^ _turned(c, turn)
    for turn in (14, 11, 25, 16, 4, 14, 24):
        a, b, c = b, ((c ^ b) - _turned(b, turn)) & 0xFFFFFFFF, a
    return b


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & 0xFFFFFFFF
