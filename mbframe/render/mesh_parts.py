"""What a mesh file leads to: files beside it, and arrays that it only claims to have."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, Final

from ..disk.atomic import refused
from ..disk.inputs import contents
from ..files.json_text import parsed_bytes
from ..limits import allowed, check_memory

GROWTH: Final = 10
"""Bytes of memory that a byte of a mesh file may become."""
MOST_NODES: Final = 100_000
COMPONENTS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_GLB: Final = b"glTF"


def largest_file() -> int:
    """The longest mesh file that may be read, in bytes."""
    return int(allowed().memory) // GROWTH


class Neighbours:
    """Files that a mesh file names: those in its folder and below, and no others. (trimesh's `Resolver`.)"""

    def __init__(self, folder: Path, below: str = "") -> None:
        self.folder, self.below = folder, below

    def keys(self) -> list[str]:
        """Nothing is listed."""
        return []

    def get(self, name: str) -> bytes:
        """The bytes of a file."""
        place, home = Path(os.path.realpath(self.folder / self.below / name)), Path(os.path.realpath(self.folder))
        if os.path.isabs(name) or os.path.isabs(self.below) or not place.is_relative_to(home):
            raise refused(name, "lies outside of the folder of the mesh that names it and is not read")
        return contents(place, largest_file())

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def namespaced(self, namespace: str) -> Neighbours:
        """The files of a folder below."""
        return Neighbours(self.folder, os.path.join(self.below, namespace))

    def write(self, name: str, data: bytes) -> None:
        """Nothing is written."""
        raise ValueError("a mesh is only read")


def check_gltf(content: bytes) -> None:
    """A `ModelError` or `ValueError` if a glTF file claims arrays or nodes that would fill the memory or the time."""
    text = content
    if content.startswith(_GLB):
        text = content[20 : 20 + int.from_bytes(content[12:16], "little")]
    check_memory("its description", parsed_bytes(text))
    described: Any = json.loads(text)
    accessors, nodes = described.get("accessors", []), described.get("nodes", [])
    claimed = sum(8 * int(one.get("count", 0)) * COMPONENTS.get(one.get("type", ""), 16) for one in accessors)
    if claimed < 0 or not math.isfinite(claimed):
        raise ValueError("its arrays have no size")
    check_memory("its arrays", claimed)
    drawn = _drawn(nodes)
    if drawn > MOST_NODES:
        raise ValueError(f"it has {drawn:,} nodes; allowed are {MOST_NODES:,}")


def _drawn(nodes: list[Any]) -> int:
    """How many nodes there are and are drawn: children may be named more than once."""
    return len(nodes) + sum(len(node.get("children", ())) for node in nodes)
