"""Mesh files of other programs, read by meshio from a copy that has nothing beside it.

meshio opens what a file names wherever that lies, looks for more files beside it, and unpacks without a limit. So only
formats that need none of this are read, all that is needed is copied into a folder of its own first, and a file that is
included is one of the folder of the mesh.
"""

from __future__ import annotations

import io
import lzma
import math
import os
import re
import sys
import tempfile
import zlib
from contextlib import redirect_stdout
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from ..disk.inputs import contents
from ..errors import ModelError
from ..limits import allowed, check_memory, within_time
from .problems import wrong

INCLUDES: Final = 10  # files that include each other, one below the other
TOGETHER: Final = {".node": ".ele", ".ele": ".node"}
"""Formats of two files."""
XML: Final = (".vtu", ".xml")
SUFFIXES: Final = (
    *(".msh", ".vtk", ".inp", ".bdf", ".fem", ".nas", ".mesh", ".meshb", ".su2", ".ugrid", ".vol", ".avs", ".f3grid"),
    *(".mdpa", ".dat", ".tec", ".post", ".dato", *TOGETHER, *XML),
)
"""Formats that are one file, or two, and not HDF5."""


def read_mesh(path: Path, meshio: Any) -> Any:
    """The meshio mesh of a file; a `ModelError` if that cannot be read, leads elsewhere or takes too much."""
    source = f"file {str(path)!r}"

    def read() -> Any:
        _watch_sizes(meshio)
        token = _left.set(int(allowed().memory) // 4)
        try:
            # Formats of one suffix are tried one after the other; what the refused ones say meshio prints.
            with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
                return meshio.read(Copies(path, Path(folder)).copied(path, INCLUDES))
        finally:
            _left.reset(token)

    try:
        return within_time(source, read)
    except ModelError:
        raise
    except SystemExit:  # meshio ends the interpreter where no reader succeeds
        raise wrong(
            "solid", "mesh", f"{str(path)!r} cannot be read by meshio: it is not what its suffix says"
        ) from None
    except Exception as error:
        raise wrong("solid", "mesh", f"{str(path)!r} cannot be read by meshio: {error}") from error


class Copies:
    """The files of a mesh, copied into a folder of their own.

    Parameters
    ----------
    mesh
        The file that the user names; others must lie in its folder, or below it.
    folder
        Where copies are put.
    """

    def __init__(self, mesh: Path, folder: Path) -> None:
        self.home, self.folder = Path(os.path.realpath(mesh.parent.expanduser())), folder
        self.count, self.left = 0, int(allowed().memory) // 10

    def copied(self, path: Path, depth: int) -> Path:
        """The copy of a file, and of those that it needs."""
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            known = "may lead to other files or is not known; convert it to one of " + ", ".join(SUFFIXES)
            raise wrong("solid", "mesh", f"{str(path)!r} has the suffix {path.suffix!r}, which {known}")
        content = self._content(path)
        if suffix in XML and re.search(rb"<!\s*(DOCTYPE|ENTITY)", content.replace(b"\0", b"")):
            raise wrong("solid", "mesh", f"{str(path)!r} has a document type or entities, which are not read")
        if suffix == ".inp":
            content = self._included(path, content, depth)
        self.count += 1
        copy = self.folder / f"{self.count}{suffix}"
        copy.write_bytes(content)
        if suffix in TOGETHER:
            other = self._at_home(path, path.with_suffix(TOGETHER[suffix]).name)
            copy.with_suffix(TOGETHER[suffix]).write_bytes(self._content(other))
        return copy

    def _at_home(self, path: Path, name: str) -> Path:
        """The file that another one names, links followed."""
        other = Path(os.path.realpath(self.home / name))
        if not other.is_relative_to(self.home):
            told = f"{str(path)!r} includes {str(other)!r}, outside of its folder; move it there"
            raise wrong("solid", "mesh", told)
        return other

    def _content(self, path: Path) -> bytes:
        content = contents(path, self.left)
        self.left -= len(content)
        return content

    def _included(self, path: Path, content: bytes, depth: int) -> bytes:
        """The text of an Abaqus file that includes copies; lines and keywords are told apart as meshio does it."""
        lines = []
        for line in io.StringIO(content.decode(errors="replace"), newline=None):
            keyword = line.partition(",")[0].strip().replace("*", "").upper()
            if keyword == "INCLUDE" and not line.startswith("**"):
                if depth == 0:
                    raise wrong("solid", "mesh", f"{str(path)!r} includes itself, or too many files in each other")
                other = self._at_home(path, line.split("=")[-1].strip())
                line = f"*INCLUDE, INPUT={self.copied(other, depth - 1)}\n"
            lines.append(line)
        return "".join(lines).encode()


# ---- meshio believes what a file says about its sizes

_left: ContextVar[int | None] = ContextVar("bytes that may be unpacked", default=None)


class Watched:
    """A module of which some functions are others."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


class Unpacking(Watched):
    """`zlib` or `lzma`, of which unpacking stops where a mesh is read and no more is allowed."""

    def decompress(self, data: bytes) -> bytes:
        left = _left.get()
        if left is None:
            return bytes(self._module.decompress(data))
        left = max(left, 1)  # 0 would be no limit
        unpacker = zlib.decompressobj() if self._module is zlib else lzma.LZMADecompressor(memlimit=left)
        found = unpacker.decompress(data, left)
        if not unpacker.eof:
            raise ValueError(f"its arrays are damaged, or unpack to more than the {left:,} bytes that are left for it")
        _left.set(left - len(found))
        return found


class Allocating(Watched):
    """NumPy, which makes no arrays that would fill the memory where a mesh is read."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name == "mgrid":
            return Grids()
        if name not in ("full", "ones", "zeros", "empty"):
            return found
        return lambda shape, *given, **named: found(_allowed(shape), *given, **named)

    def arange(self, *given: Any, **named: Any) -> Any:
        start, stop, step = [*given, 1][:3] if len(given) > 1 else (0, *given, 1)
        _allowed((float(stop) - float(start)) / float(step))
        return np.arange(*given, **named)


class Grids:
    """NumPy's `mgrid`, with the same limit."""

    def __getitem__(self, axes: tuple[slice, ...]) -> Any:
        _allowed([len(axes), *(axis.stop - axis.start for axis in axes)])
        return np.mgrid[axes]


def _allowed(shape: Any) -> Any:
    """A shape whose numbers fit."""
    if _left.get() is not None:
        check_memory("an array of it", 8.0 * math.prod(map(float, np.atleast_1d(shape))))
    return shape


@cache
def _watch_sizes(meshio: Any) -> None:
    """Let the readers of meshio unpack and make arrays through these classes: they cannot be told otherwise."""
    others = {np: Allocating(np), zlib: Unpacking(zlib), lzma: Unpacking(lzma)}
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{meshio.__name__}."):
            for used in ("np", "zlib", "lzma"):
                if (known := getattr(module, used, None)) in others:
                    setattr(module, used, others[known])
