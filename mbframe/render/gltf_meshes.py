"""Triangles of glTF files: what is drawn where is told by us, arrays are decoded by trimesh.

Nothing of a file is read but the corners and triangles of its meshes: no images, no cameras, no animations. Its sizes
are added up before anything is decoded, and nodes that share a mesh are placed in one operation.
"""

from __future__ import annotations

import io
import json
import math
import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..files.json_text import parsed_bytes
from ..limits import check_memory
from .mesh_parts import Neighbours

Array = NDArray[np.float64]
Triangles = tuple[Array, NDArray[np.int64]]

MOST_NODES: Final = 100_000
DECODED: Final = 8  # bytes that each number of an array takes while it is read
PLACED: Final = 150  # bytes that each drawn corner, or corner of a triangle, takes until it is shown
SHAPES: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
ARRAYS: Final = ("asset", "buffers", "bufferViews", "accessors")
DRACO: Final = "KHR_draco_mesh_compression"
HARMLESS: Final = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "KHR_mesh_quantization")
_GLB, _JSON, _HEAD, _CHUNK = b"glTF", b"JSON", struct.Struct("<4sII"), struct.Struct("<I4s")


def triangles(content: bytes, binary: bool, beside: Neighbours) -> Triangles:
    """Corners and triangles of all that a glTF file draws, in the axes of its scene.

    `binary` is of .glb. What is wrong is a `ModelError` or a `ValueError`.
    """
    from .availability import trimesh

    text, rest = _chunks(content) if binary else (content, b"")
    check_memory("its description", parsed_bytes(text))
    described = _table(json.loads(text), "it")
    _check_extensions(described)
    _check_sizes(described)
    meshes = [_primitives(one) for one in _tables(described, "meshes")]
    places = _places(described, meshes)
    _check_drawn(described, meshes, places)

    parts = [(mesh, one) for mesh in places for one in meshes[mesh]]
    plain: dict[str, Any] = {key: described[key] for key in ARRAYS if key in described}
    plain["meshes"] = [{"name": str(number), "primitives": [one]} for number, (_, one) in enumerate(parts)]
    plain["nodes"] = [{"mesh": number} for number in range(len(parts))]
    plain["scenes"] = [{"nodes": list(range(len(parts)))}]
    source = json.dumps(plain).encode()
    if binary:
        body = _CHUNK.pack(len(source), _JSON) + source + rest
        source = _HEAD.pack(_GLB, 2, _HEAD.size + len(body)) + body
    kind = "glb" if binary else "gltf"
    scene = trimesh().load_scene(
        io.BytesIO(source), file_type=kind, resolver=beside, process=False, skip_materials=True
    )

    corners: list[Array] = [np.zeros((0, 3))]
    faces: list[NDArray[np.int64]] = [np.zeros((0, 3), np.int64)]
    count = 0
    for number, (mesh, _) in enumerate(parts):
        found = scene.geometry.get(str(number))
        if not hasattr(found, "faces"):  # lines and points
            continue
        own = np.asarray(found.vertices, float).reshape(-1, 3)
        each = np.asarray(found.faces, np.int64).reshape(-1, 3)
        placed = np.stack(places[mesh])
        corners.append((own @ placed[:, :3, :3].transpose(0, 2, 1) + placed[:, None, :3, 3]).reshape(-1, 3))
        shifts = count + len(own) * np.arange(len(placed))
        faces.append((each + shifts[:, None, None]).reshape(-1, 3))
        count += len(own) * len(placed)
    return np.concatenate(corners), np.concatenate(faces)


def _chunks(content: bytes) -> tuple[bytes, bytes]:
    """The description in a .glb file, and the chunks after it."""
    if len(content) < _HEAD.size + _CHUNK.size or not content.startswith(_GLB):
        raise ValueError("it does not begin as a .glb file does")
    _, version, length = _HEAD.unpack_from(content)
    if version != 2:
        raise ValueError(f"it has version {version} of glTF; 2 is read")
    if length > len(content):
        raise ValueError(f"it says that it has {length:,} bytes, and has {len(content):,}")
    found = []
    start = _HEAD.size
    while start < length:
        if length - start < _CHUNK.size:
            raise ValueError("its last chunk is cut off")
        size, kind = _CHUNK.unpack_from(content, start)
        start += _CHUNK.size
        if size > length - start:
            raise ValueError(f"one of its chunks says that it has {size:,} bytes; {length - start:,} are left")
        found.append((start, size, kind))
        start += size
    start, size, kind = found[0]
    if kind != _JSON:
        raise ValueError("its first chunk is no description")
    return content[start : start + size], content[start + size : length]


# ---- what a file says ------------------------------------------------------------------------------------------------


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no table")
    return value


def _list(owner: dict[str, Any], key: str) -> list[Any]:
    value = owner.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"its {key} are no list")
    return value


def _tables(owner: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [_table(one, f"one of its {key}") for one in _list(owner, key)]


def _of(listed: list[Any], number: Any, kind: str) -> Any:
    """An entry of a list by its number."""
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(listed):
        raise ValueError(f"it names {kind} {number!r}, and has {len(listed):,} of them")
    return listed[number]


def _size(owner: dict[str, Any], key: str) -> int:
    value = owner.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"its arrays have no size: {key} is {value!r}")
    return value


def _check_extensions(described: dict[str, Any]) -> None:
    """A `ValueError` for extensions that change what the corners are."""
    needed = [one for one in _list(described, "extensionsRequired") if not str(one).startswith(HARMLESS)]
    if needed:
        names = ", ".join(str(one)[:60] for one in needed[:5])
        raise ValueError(f"it needs {names}, which is not read; export it without (uncompressed)")


def _check_sizes(described: dict[str, Any]) -> None:
    """A `ModelError` if a file claims arrays that would fill the memory; views of a buffer are copies."""
    arrays, views = _tables(described, "accessors"), _tables(described, "bufferViews")
    numbers = sum(_size(one, "count") * SHAPES.get(str(one.get("type")), 16) for one in arrays)
    check_memory("its arrays", DECODED * numbers + sum(_size(one, "byteLength") for one in views))


def _primitives(mesh: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a mesh, with nothing but what their triangles need."""
    found: list[dict[str, Any]] = []
    for one in _tables(mesh, "primitives"):
        attributes = _table(one.get("attributes", {}), "what a part of its meshes has at its corners")
        if "POSITION" not in attributes:
            continue
        if DRACO in _table(one.get("extensions", {}), "extensions"):
            raise ValueError(f"it is compressed ({DRACO}), which is not read; export it uncompressed")
        part = {key: one[key] for key in ("indices", "mode") if key in one}
        found.append(part | {"attributes": {"POSITION": attributes["POSITION"]}})
    return found


def _check_drawn(described: dict[str, Any], meshes: list[list[dict[str, Any]]], places: dict[int, list[Array]]) -> None:
    """A `ModelError` if all that is drawn would fill the memory: nodes may share a mesh, and parts their corners."""
    arrays = _tables(described, "accessors")
    drawn = 0
    for mesh, placed in places.items():
        for one in meshes[mesh]:
            named = [one["attributes"]["POSITION"], *([one["indices"]] if "indices" in one else [])]
            drawn += len(placed) * sum(_size(_of(arrays, number, "accessor"), "count") for number in named)
    check_memory(f"what it draws, {drawn:,} corners,", PLACED * drawn)


def _places(described: dict[str, Any], meshes: list[Any]) -> dict[int, list[Array]]:
    """Where each mesh is drawn, by its number: matrices (4, 4) from its axes to those of the scene."""
    nodes = _tables(described, "nodes")
    if len(nodes) > MOST_NODES:
        raise ValueError(f"it has {len(nodes):,} nodes; allowed are {MOST_NODES:,}")
    places: dict[int, list[Array]] = defaultdict(list)
    ahead = [(number, np.eye(4)) for number in _roots(described, nodes)]
    seen = set()
    while ahead:
        number, above = ahead.pop()
        node = _of(nodes, number, "node")
        if number in seen:
            raise ValueError(f"its nodes are no tree: node {number} is drawn twice, or in itself")
        seen.add(number)
        with np.errstate(all="ignore"):
            here = above @ _motion(node, number)
        if not np.isfinite(here).all():
            raise ValueError(f"node {number} is not at a finite place")
        if "mesh" in node:
            _of(meshes, node["mesh"], "mesh")
            places[node["mesh"]].append(here)
        ahead += [(child, here) for child in _list(node, "children")]
    return places


def _roots(described: dict[str, Any], nodes: list[dict[str, Any]]) -> Iterator[int]:
    """The nodes of the scene that is shown; without scenes, all that are in no other."""
    scenes = _tables(described, "scenes")
    if scenes:
        yield from _list(_of(scenes, described.get("scene", 0), "scene"), "nodes")
    else:
        below = {child for node in nodes for child in _list(node, "children") if isinstance(child, int)}
        yield from (number for number in range(len(nodes)) if number not in below)


def _motion(node: dict[str, Any], number: int) -> Array:
    """The matrix of a node in the one above: its own, by columns, or translation, rotation (x, y, z, w) and scale."""
    if "matrix" in node:
        return _numbers(node, "matrix", 16, number).reshape(4, 4).T
    motion = np.eye(4)
    if "rotation" in node:
        x, y, z, w = _numbers(node, "rotation", 4, number)
        size = x * x + y * y + z * z + w * w
        if not (0.0 < size < math.inf):
            raise ValueError(f"rotation of node {number} is none")
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        motion[:3, :3] += 2.0 / size * (w * cross + cross @ cross)
    if "scale" in node:
        motion[:3, :3] *= _numbers(node, "scale", 3, number)
    if "translation" in node:
        motion[:3, 3] = _numbers(node, "translation", 3, number)
    return motion


def _numbers(node: dict[str, Any], key: str, count: int, number: int) -> Array:
    values = node[key]
    fit = isinstance(values, list) and len(values) == count
    if not fit or not all(isinstance(one, int | float) and abs(one) <= 1e300 for one in values):
        raise ValueError(f"{key} of node {number} is not {count} finite numbers")
    return np.array(values, float)
