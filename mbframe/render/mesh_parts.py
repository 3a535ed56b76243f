"""What a mesh file leads to: files beside it, and how much of them is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ..disk.atomic import refused
from ..disk.inputs import contents
from ..limits import allowed

GROWTH: Final = 18
"""Bytes of memory that a byte of a mesh file may become: 850 for a triangle, which is 50 in a binary STL file."""


def largest_file() -> int:
    """The longest mesh file that may be read, in bytes."""
    return int(allowed().memory) // GROWTH


class Neighbours:
    """Files that a mesh file names: those in its folder and below, and no others. (trimesh's `Resolver`.)"""

    def __init__(self, folder: Path, below: str = "", given: list[int] | None = None) -> None:
        self.folder, self.below = folder, below
        self.given = [] if given is None else given  # lengths: a file may name one of them many times

    def keys(self) -> list[str]:
        """Nothing is listed."""
        return []

    def get(self, name: str) -> bytes:
        """The bytes of a file."""
        place, home = Path(os.path.realpath(self.folder / self.below / name)), Path(os.path.realpath(self.folder))
        if os.path.isabs(name) or os.path.isabs(self.below) or not place.is_relative_to(home):
            raise refused(name, "lies outside of the folder of the mesh that names it and is not read")
        found = contents(place, largest_file() - sum(self.given))
        self.given.append(len(found))
        return found

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def namespaced(self, namespace: str) -> Neighbours:
        """The files of a folder below."""
        return Neighbours(self.folder, os.path.join(self.below, namespace), self.given)

    def write(self, name: str, data: bytes) -> None:
        """Nothing is written."""
        raise ValueError("a mesh is only read")
