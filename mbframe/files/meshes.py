"""Meshes that files name: those of their own folder, and no reader follows a path out of it.

In memory the path of a mesh is that of its file. In a model file it is relative to the file's folder if it lies there.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from ..disk.atomic import FilePath, refused, replacing
from ..disk.inputs import contents, regular_file
from ..errors import ModelError
from ..limits import allowed, check_memory
from ..shapes import OUTSIDE, named_meshes
from .json_text import most_bytes, parsed_bytes

REMEDY: Final = "copy it there, or allow its folder: with mb.import_limits(mesh_folders=[{!r}]): ..."
_COMPOSED: Final = ".gltf"  # a file that may need others beside it


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


def names_a_mesh(value: Any) -> bool:
    """Whether a value of a document may be a shape with a mesh: of unknown classes nobody can tell."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("path"), str)


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
    lies = place
    if _below(place, [os.path.abspath(folder)]):  # it may be a link
        with suppress(OSError, ValueError):  # a name with a null character
            lies = os.path.realpath(place)
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

    A .gltf file gets a folder of its own, with the files that it needs. It stays where it is if these lie outside of
    its folder, or if it cannot be read.
    """
    folder = file.with_name(f"{file.stem} meshes")
    for _, shape in _described(document):
        place = shape["path"]
        if place.startswith(OUTSIDE) or not os.path.isfile(place) or within(os.path.abspath(place), file.parent):
            continue
        source = Path(place)
        if source.suffix.lower() != _COMPOSED:
            shape["path"] = str(_copied({source.name: source}, folder, source.stem, source.suffix))
        elif (parts := _parts(source)) is not None:
            shape["path"] = str(_copied(parts, folder, source.stem) / source.name)


def _parts(source: Path) -> dict[str, Path] | None:
    """A .gltf file and those that it needs, by their paths in its folder; None if they cannot be told or lie elsewhere.

    Their addresses are relative to it, with %20 for spaces and the like; data within the file begin with `data:`.
    """
    try:
        text = contents(source, most_bytes())
        check_memory(f"file {str(source)!r}", parsed_bytes(text))
        described = json.loads(text)
        listed = [one for key in ("buffers", "images") for one in described.get(key, [])]
        named = [one["uri"] for one in listed if "uri" in one and not one["uri"].startswith("data:")]
        parts = {os.path.normpath(unquote(name)): source.parent / unquote(name) for name in named}
    except (ModelError, AttributeError, TypeError, ValueError, RecursionError):
        return None
    if all(within(place, source.parent) and os.path.isfile(place) for place in parts.values()):
        return {source.name: source, **parts}
    return None


def _copied(parts: dict[str, Path], folder: Path, stem: str, suffix: str = "") -> Path:
    """Copies of files in a folder, under a name that no other content has there: one file, or a folder of several."""
    number = 1
    while True:
        target = folder / f"{stem}{f' {number}' if number > 1 else ''}{suffix}"
        places = {target if suffix else target / name: source for name, source in parts.items()}
        if all(not place.exists() or filecmp.cmp(source, place, shallow=False) for place, source in places.items()):
            break
        number += 1
    for place, source in places.items():
        if place.exists():
            continue
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(place.parent, f"could not be made for copies of meshes: {error.strerror}") from error
        with regular_file(source) as file, replacing(place) as temporary, temporary.open("wb") as copy:
            shutil.copyfileobj(file, copy)
    return target


def _described(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The shapes of a document that have a path, with the names of their bodies."""
    ground = document.get("ground", {})
    for entry in (ground, *document["elements"]):
        for value in entry.values():
            for shape in value if isinstance(value, list) else [value]:
                if names_a_mesh(shape):
                    yield repr(entry.get("name", "ground")), shape
