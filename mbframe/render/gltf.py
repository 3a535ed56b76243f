"""Animated glTF 2.0 in one binary file (GLB): bodies as nodes, their motion as key frames.

Every body is a node with its name, whose translation and rotation are animated; its parts are children of it, at rest
in the body. A part that deforms has morph targets with animated weights; what stretches between two bodies (a spring,
say) is a node of its own with an animated scale. In glTF the y axis points up: the root node turns the model's axes
there, so the nodes below it keep the model's numbers.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import shown
from .frames import Frames
from .parts import Part
from .placement import Fixed
from .surfaces import Surface

Array = NDArray[np.float64]

FLOAT, UNSIGNED_INT = 5126, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
SHADE = 1.0 / 512.0  # half a step of a screen, as the mean over vertices and frames
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}


def animated(
    name: str, frames: Frames, parts: Sequence[Part], up: ArrayLike, generator: str, colored: bool = False
) -> bytes:
    """The content of a GLB file with the given parts in motion; `up` is the model's direction that points up.

    With `colored` parts that say so have colours at their vertices that change with time.
    """
    glb = Glb(generator)
    root = glb.node(name, rotation=_upright(up).tolist())
    courses: dict[int, dict[str, Array]] = {}
    carriers: dict[str | None, int] = {None: root}
    for body, (position, rotation) in frames.poses.bodies.items():
        carriers[body] = glb.node(str(body), root)
        courses[carriers[body]] = {"translation": position, "rotation": quaternions(rotation)}
    for part in parts:
        targets, weights = _deformation(part, frames)
        painted = _painted(part, frames) if colored else None
        if painted is None:
            mesh = glb.mesh(part.name, part.surface, glb.material(part.color, part.opacity), targets)
        else:
            material = glb.material((1.0, 1.0, 1.0), part.opacity)
            mesh = glb.mesh(part.name, part.surface, material, targets, painted)
            weights = np.hstack([weights, painted.weights])
        if isinstance(part.placement, Fixed):
            anchor, axes = part.placement.anchor, part.placement.axes
            pose = {"translation": anchor.point.tolist(), "rotation": quaternions(axes[None])[0].tolist()}
            node = glb.node(part.name, carriers[part.body], mesh=mesh, **pose)
            courses[node] = {}
        else:
            course = part.transform(frames.poses)
            node = glb.node(part.name, root, mesh=mesh)
            courses[node] = {
                "translation": course.translation,
                "rotation": quaternions(course.rotation),
                "scale": course.scale,
            }
        if weights.shape[1]:
            courses[node]["weights"] = weights
    glb.animation("motion", frames.playing_times, courses)
    return glb.to_bytes()


def _deformation(part: Part, frames: Frames) -> tuple[Array, Array]:
    """Displacements of the vertices as sums of a few fields (k, n, 3) with weights (frames, k), none if it is rigid.

    They are the singular vectors of all displacements: as many as there are modes in the motion, whatever made it.
    """
    rest = np.asarray(part.surface.vertices, float)
    if part.deformed is None:
        return np.zeros((0, *rest.shape)), np.zeros((len(frames), 0))
    moved = np.array([np.asarray(part.deformed(state)) - rest for state in frames])
    left, sizes, fields = np.linalg.svd(moved.reshape(len(frames), -1), full_matrices=False)
    # A single coordinate is off by no more than the norm of what is left out.
    kept = sizes > 1e-6 * float(np.max(np.abs(rest), initial=0.0))
    scale = np.max(np.abs(left[:, kept]), axis=0, initial=1e-300)
    return (fields[kept] * (sizes[kept] * scale)[:, None]).reshape(-1, *rest.shape), left[:, kept] / scale


class Painted(NamedTuple):
    """Linear colours (n, 3) of vertices at the first frame, and fields (k, n, 3) that are added with weights."""

    first: Array
    fields: Array
    weights: Array


def _painted(part: Part, frames: Frames) -> Painted | None:
    """The colours of a part over time as sums of a few fields, off by less than one step of a screen; None without."""
    if part.colored is None:
        return None
    shown = np.array([np.asarray(part.colored(state)) for state in frames])
    # Vertices around one node have one colour: fewer columns have the same singular values.
    alike, back = np.unique(shown.transpose(1, 0, 2).reshape(shown.shape[1], -1), axis=0, return_inverse=True)
    courses = linear(alike.reshape(len(alike), len(frames), 3).transpose(1, 0, 2))
    left, sizes, found = np.linalg.svd((courses - courses[0]).reshape(len(frames), -1), full_matrices=False)
    rest = np.sqrt(np.append(np.cumsum((sizes**2)[::-1])[::-1], 0.0))  # a single number is off by no more
    count = int(np.argmax(rest <= SHADE * np.sqrt(courses[0].size)))
    kept = np.arange(len(sizes)) < count
    scale = np.max(np.abs(left[:, kept]), axis=0, initial=1e-300)
    fields = (found[kept] * (sizes[kept] * scale)[:, None]).reshape(count, len(alike), 3)
    return Painted(courses[0][back.ravel()], fields[:, back.ravel()], left[:, kept] / scale)


def linear(srgb: Array) -> Array:
    """Colours as glTF wants them, in proportion to light."""
    return np.asarray(np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4))


def quaternions(rotations: Array) -> Array:
    """Quaternions (x, y, z, w) of rotation matrices (n, 3, 3), without jumps of sign: viewers interpolate them."""
    from scipy.spatial.transform import Rotation

    found = Rotation.from_matrix(rotations).as_quat()
    flips = np.sum(found[1:] * found[:-1], axis=1) < 0.0
    found[1:][np.cumsum(flips) % 2 == 1] *= -1.0
    return found


def _upright(up: ArrayLike) -> Array:
    """The shortest rotation (x, y, z, w) that takes `up` to glTF's y axis."""
    x, y, z = np.asarray(up, float) / np.linalg.norm(up)
    if y < -1.0 + 1e-12:
        return np.array([1.0, 0.0, 0.0, 0.0])
    q = np.array([-z, 0.0, x, 1.0 + y])  # (up x e_y, 1 + up . e_y)
    return q / np.linalg.norm(q)


class Glb:
    """A glTF document while it is put together; indices refer to its lists."""

    def __init__(self, generator: str) -> None:
        self._document: dict[str, Any] = {"asset": {"version": "2.0", "generator": generator}, "scene": 0}
        self._binary = bytearray()
        self._materials: dict[tuple[float, ...], int] = {}

    def node(self, name: str, parent: int | None = None, **properties: Any) -> int:
        """A node below `parent`, or the root of the scene."""
        index = self._append("nodes", {"name": name, **properties})
        if parent is None:
            self._append("scenes", {"name": name, "nodes": [index]})
        else:
            self._document["nodes"][parent].setdefault("children", []).append(index)
        return index

    def mesh(
        self,
        name: str,
        surface: Surface,
        material: int,
        targets: Array | Sequence[Array] = (),
        painted: Painted | None = None,
    ) -> int:
        """A mesh of triangles; `targets` are displacements (n, 3) of its vertices, before those of its colours."""
        primitive: dict[str, Any] = {
            "attributes": {
                "POSITION": self._accessor(surface.vertices, ARRAY_BUFFER, bounds=True),
                "NORMAL": self._accessor(surface.normals, ARRAY_BUFFER),
            },
            "indices": self._accessor(surface.faces.astype(np.uint32).reshape(-1, 1), ELEMENT_ARRAY_BUFFER),
            "material": material,
        }
        mesh: dict[str, Any] = {"name": name, "primitives": [primitive]}
        if painted is not None:
            primitive["attributes"]["COLOR_0"] = self._accessor(painted.first.astype(np.float32), ARRAY_BUFFER)
            still = np.zeros(surface.vertices.shape, np.float32)
            nothing = self._accessor(still, ARRAY_BUFFER, bounds=True)
            moves = [self._accessor(np.asarray(t, np.float32), ARRAY_BUFFER, bounds=True) for t in targets]
            paints = [self._accessor(t.astype(np.float32), ARRAY_BUFFER) for t in painted.fields]
            primitive["targets"] = [{"POSITION": move, "COLOR_0": nothing} for move in moves]
            primitive["targets"] += [{"POSITION": nothing, "COLOR_0": paint} for paint in paints]
            if not primitive["targets"]:
                del primitive["targets"]
            else:
                mesh["weights"] = [0.0] * len(primitive["targets"])
        elif len(targets):
            morphs = [self._accessor(np.asarray(t, np.float32), ARRAY_BUFFER, bounds=True) for t in targets]
            primitive["targets"] = [{"POSITION": morph} for morph in morphs]
            mesh["weights"] = [0.0] * len(targets)
        return self._append("meshes", mesh)

    def material(self, color: tuple[float, float, float], opacity: float) -> int:
        """A surface of an sRGB colour; glTF wants it linear."""
        key = (*color, opacity)
        if key not in self._materials:
            description: dict[str, Any] = {
                "pbrMetallicRoughness": {
                    "baseColorFactor": [*linear(np.array(color)).tolist(), opacity],
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.6,
                }
            }
            if opacity < 1.0:
                description["alphaMode"] = "BLEND"
            self._materials[key] = self._append("materials", description)
        return self._materials[key]

    def animation(self, name: str, times: ArrayLike, courses: Mapping[int, Mapping[str, Array]]) -> None:
        """Key frames at `times`, s: each node's "translation", "rotation" (x, y, z, w), "scale", "weights" by row."""
        clock = self._accessor(np.asarray(times, np.float32).reshape(-1, 1), bounds=True)
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []
        for node, course in courses.items():
            for path, values in course.items():
                channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
                rows = np.asarray(values, np.float32)
                output = self._accessor(rows.reshape(-1, 1) if path == "weights" else rows)
                samplers.append({"input": clock, "output": output})
        if channels:
            self._append("animations", {"name": name, "samplers": samplers, "channels": channels})

    def to_bytes(self) -> bytes:
        """The file's content."""
        if self._binary:
            self._document["buffers"] = [{"byteLength": len(self._binary)}]
        text = json.dumps(self._document, separators=(",", ":"), ensure_ascii=False).encode()
        chunks = _chunk(b"JSON", text, b" ") + (_chunk(b"BIN\0", bytes(self._binary), b"\0") if self._binary else b"")
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def _append(self, kind: str, item: dict[str, Any]) -> int:
        items = self._document.setdefault(kind, [])
        items.append(item | {"name": shown(item["name"])} if "name" in item else item)
        return len(items) - 1

    def _accessor(self, values: NDArray[Any], target: int | None = None, bounds: bool = False) -> int:
        """Rows of numbers in the binary part; all our types have four bytes, so everything is aligned."""
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": values.nbytes}
        if target is not None:
            view["target"] = target
        self._binary += values.tobytes()
        accessor: dict[str, Any] = {
            "bufferView": self._append("bufferViews", view),
            "componentType": FLOAT if values.dtype == np.float32 else UNSIGNED_INT,
            "count": len(values),
            "type": KINDS[values.shape[1]],
        }
        if bounds:
            accessor |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        return self._append("accessors", accessor)


def _chunk(kind: bytes, content: bytes, padding: bytes) -> bytes:
    content += padding * (-len(content) % 4)
    return struct.pack("<I4s", len(content), kind) + content
