"""Meshes that files name: those of their own folder, and no reader follows a path out of it.

In memory the path of a mesh is that of its file. In a model file it is relative to the file's folder if it lies there.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..disk.atomic import FilePath, refused, replacing
from ..disk.inputs import regular_file
from ..limits import allowed
from ..shapes import OUTSIDE, named_meshes

REMEDY: Final = "copy it there, or allow its folder: with mb.import_limits(mesh_folders=[{!r}]): ..."
_COMPOSED: Final = (".gltf",)  # files that may need others beside them


class MeshNotice(UserWarning):
    """A mesh that lies outside of the folder of the file that names it."""


# ---- Reading ------------------------------------------------------------------------------------------------------


def located(name: str, folder: Path) -> str:
    """Where the mesh lies that a file in `folder` names; with the mark `OUTSIDE` if it must not be read."""
    path = name.removeprefix(OUTSIDE)
    place = os.path.normpath(os.path.join(folder, path))
    if not path.strip() or place in named_meshes:
        return path and place
    return place if within(place, folder, *allowed().mesh_folders) else OUTSIDE + place


def within(place: FilePath, *homes: FilePath) -> bool:
    """Whether a path leads to somewhere in one of some folders or below it, links followed."""
    folders = [os.path.abspath(home) for home in homes]
    if not _below(place, folders):  # before anything is asked of a path that may lead to another computer
        return False
    try:
        return _below(os.path.realpath(place), [os.path.realpath(folder) for folder in folders])
    except (OSError, ValueError):  # a name with a null character
        return False


def _below(place: FilePath, folders: list[str]) -> bool:
    return any(Path(place).is_relative_to(folder) for folder in folders)


def outside(path: str, folder: Path) -> str:
    """What is to be told of a mesh with the mark `OUTSIDE`."""
    place = path.removeprefix(OUTSIDE)
    lies = os.path.realpath(place) if _below(place, [os.path.abspath(folder)]) else place  # it may be a link
    remedy = REMEDY.format(os.path.dirname(lies))
    return f"{place!r} lies outside of the folder {str(folder)!r} of the file, out of which none is read; {remedy}"


# ---- Writing ------------------------------------------------------------------------------------------------------


def place_meshes(document: dict[str, Any], folder: Path | None) -> list[str]:
    """Write the paths of meshes as a file in `folder` holds them; returns sentences about those that lie elsewhere.

    Without a folder all of them are absolute, for files that are moved about.
    """
    told = []
    for body, shape in _described(document):
        path, known = shape["path"].removeprefix(OUTSIDE), not shape["path"].startswith(OUTSIDE)
        shape["path"], place = path, os.path.abspath(path)
        if os.path.isabs(path) or os.path.exists(place):
            shape["path"] = place
            if folder is not None and within(place, folder):
                shape["path"] = Path(place).relative_to(os.path.abspath(folder)).as_posix()
            elif folder is not None and known:
                told.append(f"{body}, shapes: {outside(place, folder)}")
    return told


def gather_meshes(document: dict[str, Any], file: Path) -> None:
    """Copy meshes that lie elsewhere to a folder beside a model file, and name them there in its document.

    Files that may need others beside them (.gltf) stay where they are.
    """
    folder = file.with_name(f"{file.stem} meshes")
    for _, shape in _described(document):
        place = shape["path"]
        readable = os.path.isfile(place) and Path(place).suffix.lower() not in _COMPOSED
        if readable and not place.startswith(OUTSIDE) and not within(os.path.abspath(place), file.parent):
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise refused(folder, f"could not be made for copies of meshes: {error.strerror}") from error
            shape["path"] = str(_copied(place, folder))


def _copied(place: str, folder: Path) -> Path:
    """A copy of a file in a folder, under a name that no other content has there."""
    source = Path(place)
    number = 1
    while True:
        target = folder / (source.name if number == 1 else f"{source.stem} {number}{source.suffix}")
        if not target.exists():
            break
        if filecmp.cmp(source, target, shallow=False):  # False for what is no regular file
            return target
        number += 1
    with regular_file(place) as file, replacing(target) as temporary, temporary.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return target


def _described(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The shapes of a document that have a path, with the names of their bodies."""
    ground = document.get("ground", {})
    for entry in (ground, *document["elements"]):
        for value in entry.values():
            for shape in value if isinstance(value, list) else [value]:
                if isinstance(shape, dict) and isinstance(shape.get("path"), str):
                    yield repr(entry.get("name", "ground")), shape
