"""Meshes made to do harm: what they claim, what they place, where they lie, and how long they would take."""

from __future__ import annotations

import base64
import json
import os
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

import mbframe as mb

pytest.importorskip("trimesh")
pytest.importorskip("pyvista")

from mbframe.render.mesh_files import read_surface
from mbframe.render.mesh_normals import shaded, welded
from mbframe.render.surfaces import Surface

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4")


def tree(corners: Any = CORNERS, **changes: Any) -> dict[str, Any]:
    """A glTF file of one mesh without indices, in one node."""
    data = np.asarray(corners, "<f4").tobytes()
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": "data:;base64," + base64.b64encode(data).decode(), "byteLength": len(data)}],
        "bufferViews": [{"buffer": 0, "byteLength": len(data)}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(corners), "type": "VEC3"}],
        **changes,
    }


def surface(path: Path, document: dict[str, Any], scale: float = 1.0) -> Surface:
    file = path / f"{len(os.listdir(path))}.gltf"
    file.write_text(json.dumps(document))
    return read_surface(str(file), scale)


# ---- scenes


def test_nodes_that_share_a_mesh_take_their_share(tmp_path: Path) -> None:
    """20,000 of them in one place took minutes: their edges have 20,000 triangles."""
    count = 20_000
    nodes = [{"mesh": 0} for _ in range(count)]
    before = time.process_time()
    found = surface(tmp_path, tree(nodes=nodes, scenes=[{"nodes": list(range(count))}]))
    assert len(found.faces) == count
    assert time.process_time() - before < 10.0  # the budget of one file


def test_a_long_chain_of_nodes_is_followed_once(tmp_path: Path) -> None:
    count = 20_000
    nodes: list[dict[str, Any]] = [{"translation": [1.0, 0.0, 0.0], "children": [k + 1]} for k in range(count)]
    before = time.process_time()
    found = surface(tmp_path, tree(nodes=[*nodes, {"mesh": 0}]))
    np.testing.assert_allclose(found.bounds, [[count, 0, 0], [count + 1, 1, 0]])
    assert time.process_time() - before < 10.0


def test_nodes_are_placed_by_their_scene(tmp_path: Path) -> None:
    """A quarter turn about z, then twice as long along its own x, above a matrix that mirrors y; one is hidden."""
    half = np.sqrt(0.5)
    nodes = [
        {"matrix": [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 10, 20, 30, 1], "children": [1], "camera": 0},
        {"rotation": [0, 0, half, half], "scale": [2, 1, 1], "translation": [1, 0, 0], "mesh": 0},
        {"mesh": 0, "translation": [0, 0, 99]},
    ]
    found = surface(tmp_path, tree(nodes=nodes))
    np.testing.assert_allclose(found.bounds, [[10, 18, 30], [11, 20, 30]], atol=1e-5)


def test_without_scenes_the_topmost_nodes_are_drawn(tmp_path: Path) -> None:
    document = tree(nodes=[{"children": [1], "translation": [5, 0, 0]}, {"mesh": 0}])
    del document["scenes"], document["scene"]
    np.testing.assert_allclose(surface(tmp_path, document).bounds, [[5, 0, 0], [6, 1, 0]])


def test_images_and_attributes_of_others_are_not_read(tmp_path: Path) -> None:
    primitive = {"attributes": {"POSITION": 0, "COLOR_0": 99}, "material": 7}
    images = [{"uri": "/etc/hostname"}, {"uri": "http://nowhere.invalid/a.png"}]
    document = tree(meshes=[{"primitives": [primitive]}], images=images, textures=[{"source": 0}])
    assert len(surface(tmp_path, document).faces) == 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"nodes": [{"mesh": 0, "children": [0]}]}, "no tree: node 0"),
        ({"nodes": [{"children": [1, 1]}, {"mesh": 0}]}, "no tree: node 1"),
        ({"nodes": [{"children": [7]}]}, "node 7, and has 1"),
        ({"nodes": [{"mesh": -1}]}, "mesh -1, and has 1"),
        ({"nodes": [{"mesh": [0]}]}, r"mesh \[0\], and has 1"),
        ({"nodes": [{"mesh": 0, "matrix": [float("nan")] * 16}]}, "matrix of node 0 is not 16 finite numbers"),
        ({"nodes": [{"mesh": 0, "matrix": [10**400] * 16}]}, "matrix of node 0 is not 16 finite numbers"),
        ({"nodes": [{"mesh": 0, "matrix": [1, 2]}]}, "matrix of node 0 is not 16 finite numbers"),
        ({"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}, "rotation of node 0 is none"),
        ({"nodes": [{"mesh": 0, "scale": [1e200] * 3}]}, "m from its origin"),
        ({"nodes": [{"scale": [1e200] * 3, "children": [1]}, {"mesh": 0, "scale": [1e200] * 3}]}, "node 1 is not at"),
        ({"nodes": [{"mesh": 0, "scale": [0, 0, 0]}]}, "check its unit"),
        ({"nodes": {"mesh": 0}}, "its nodes are no list"),
        ({"nodes": [0]}, "one of its nodes is no table"),
        ({"scene": 3}, "scene 3, and has 1"),
        ({"accessors": [{"bufferView": 0, "componentType": 99, "count": 3, "type": "VEC3"}]}, "cannot be read"),
        ({"accessors": [{"bufferView": 0, "componentType": 5126, "count": -3, "type": "VEC3"}]}, "count is -3"),
        ({"accessors": [{"bufferView": 0, "componentType": 5126, "count": 1e3, "type": "VEC3"}]}, r"count is 1000\.0"),
        ({"accessors": [{"componentType": 5126, "count": 10**12, "type": "VEC3"}]}, "of memory"),
        ({"bufferViews": [{"buffer": 0, "byteLength": 10**9}] * 2}, "of memory"),
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "needs KHR_draco_mesh_compression, which is not read"),
        ({"asset": {"version": "1.0"}}, "only GLTF 2"),
    ],
)
def test_scenes_that_cannot_be_are_refused(changes: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(mb.ModelError, match=told):
        surface(tmp_path, tree(**changes))


def test_compressed_parts_are_refused_by_name(tmp_path: Path) -> None:
    primitive = {"attributes": {"POSITION": 0}, "extensions": {"KHR_draco_mesh_compression": {"bufferView": 0}}}
    with pytest.raises(mb.ModelError, match=r"is compressed .* export it uncompressed"):
        surface(tmp_path, tree(meshes=[{"primitives": [primitive]}]))


def test_what_is_drawn_is_counted_before_it_is_made(tmp_path: Path) -> None:
    """20,000 nodes of a mesh of 3,000 corners: 60 million."""
    corners = np.random.default_rng(0).random((3000, 3))
    nodes = [{"mesh": 0} for _ in range(20_000)]
    before = time.process_time()
    with pytest.raises(mb.ModelError, match="60,000,000 corners, would fill"):
        surface(tmp_path, tree(corners, nodes=nodes, scenes=[{"nodes": list(range(20_000))}]))
    assert time.process_time() - before < 10.0


def test_a_buffer_that_is_named_often_counts_as_often(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(1_000_000))
    document = tree(buffers=[{"uri": "a.bin", "byteLength": 36}] * 200)
    with mb.import_limits(memory=1e8), pytest.raises(mb.ModelError, match="bytes that are allowed"):
        surface(tmp_path, document)


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        (b"", "does not begin as"),
        (b"glTF" + struct.pack("<II", 2, 20), "does not begin as"),
        (b"glTF" + struct.pack("<III4s", 2, 2**32 - 1, 4, b"JSON") + b"{}  ", "says that it has 4,294,967,295 bytes"),
        (b"glTF" + struct.pack("<III4s", 2, 24, 2**32 - 1, b"JSON") + b"{}  ", "one of its chunks says"),
        (b"glTF" + struct.pack("<III4s", 2, 24, 4, b"BIN\0") + b"{}  ", "no description"),
        (b"glTF" + struct.pack("<III4s", 2, 28, 4, b"JSON") + b"{}  " + b"rest", "cut off"),
        (b"glTF" + struct.pack("<III4s", 1, 24, 4, b"JSON") + b"{}  ", "version 1 of glTF"),
        (b"glTF" + struct.pack("<III4s", 2, 24, 4, b"JSON") + b"[]  ", "it is no table"),
    ],
)
def test_binary_scenes_have_the_lengths_they_claim(whole: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(whole)
    with pytest.raises(mb.ModelError, match=told):
        read_surface(str(tmp_path / "a.glb"))


# ---- other formats


def stl(corners: Any) -> bytes:
    found = np.asarray(corners, "<f4").reshape(-1, 9)
    rows = b"".join(bytes(12) + row.tobytes() + bytes(2) for row in found)
    return bytes(80) + np.uint32(len(found)).tobytes() + rows


def ply(vertices: int, faces: int, kind: str = "ascii") -> bytes:
    head = f"ply\nformat {kind} 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n"
    head += f"element face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    return head.encode() + b"0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("far.stl", stl(3e38 * CORNERS), "3e[+]38 m from its origin"),
        ("infinite.stl", stl([[0, 0, 0], [np.inf, 0, 0], [0, 1, 0]]), "finite corners"),
        ("unknown.stl", stl([[0, 0, 0], [np.nan, 0, 0], [0, 1, 0]]), "finite corners"),
        ("point.stl", stl(0 * CORNERS), "0 m long"),
        ("line.stl", stl([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), "no triangles that have an area"),
        ("elsewhere.stl", stl(CORNERS + 1e7), "lies .* from its origin, too far"),
        ("claims.stl", bytes(80) + np.uint32(2**32 - 1).tobytes() + bytes(50), "cannot be read|no triangles"),
        ("text.ply", ply(10**12, 10**12), "cannot be read|no triangles"),
        ("binary.ply", ply(10**12, 10**12, "binary_little_endian"), "cannot be read|no triangles"),
        ("negative.ply", ply(-3, -1), "cannot be read|no triangles"),
        ("claims.off", b"OFF\n999999999999 999999999999 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "cannot be read|no triang"),
        ("beyond.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 999999999999\n", "cannot be read|no triangles"),
        ("beyond.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 999999999999\n", "cannot be read|no triangles"),
        ("text.dae", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "suffix"),
        ("packed.3mf", b"PK\x03\x04", "suffix"),
    ],
)
def test_meshes_that_are_none_are_refused(name: str, content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(mb.ModelError, match=told):
        read_surface(str(tmp_path / name))


@pytest.mark.skipif(os.name != "posix", reason="special files of POSIX")
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".off", ".glb", ".gltf"])
def test_meshes_are_regular_files(suffix: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"device{suffix}").symlink_to("/dev/zero")
    for kind in ("pipe", "folder", "device"):
        with pytest.raises(mb.ModelError, match=f"is a {kind}"):
            read_surface(str(tmp_path / f"{kind}{suffix}"))


def test_a_mesh_far_too_large_is_read_in_its_unit(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_bytes(stl(1e15 * CORNERS))
    found = read_surface(str(tmp_path / "a.stl"), scale=1e-15)
    np.testing.assert_allclose(found.bounds, [[0, 0, 0], [1, 1, 0]], rtol=1e-6)


# ---- normals


def test_a_fan_around_one_corner_takes_its_share(tmp_path: Path) -> None:
    """VTK compares all triangles that meet in a corner: 60,000 took 30 s, and could not be ended."""
    n = 60_000
    angles = np.linspace(0.0, 6.28, n)
    corners = "".join(f"v {x:.6f} {y:.6f} 0\n" for x, y in zip(np.cos(angles), np.sin(angles), strict=True))
    (tmp_path / "fan.obj").write_text(corners + "".join(f"f 1 {k} {k + 1}\n" for k in range(2, n)))
    before = time.process_time()
    found = read_surface(str(tmp_path / "fan.obj"))
    assert len(found.faces) > 0.9 * n
    assert time.process_time() - before < 10.0


@pytest.mark.parametrize("kind", ["Cube", "Sphere", "Cylinder", "Cone", "ParametricTorus"])
def test_normals_are_those_of_vtk(kind: str) -> None:
    """With the same angle of edges, whichever way the triangles of the file wind."""
    import pyvista

    mesh = getattr(pyvista, kind)().triangulate()
    points, faces = welded(np.asarray(mesh.points, float), mesh.regular_faces.astype(np.int64), 1e-8)
    turned = np.random.default_rng(2).random(len(faces)) < 0.4
    faces[turned] = faces[turned][:, ::-1]
    places, normals, triangles = shaded(points, faces, np.radians(35.0))
    vtk = pyvista.PolyData.from_regular_faces(points, faces)
    vtk = vtk.compute_normals(split_vertices=True, feature_angle=35.0, cell_normals=False)

    ours, theirs = np.c_[places, np.abs(normals)], np.c_[vtk.points, np.abs(vtk["Normals"])]
    assert len(ours) == len(theirs)
    assert cKDTree(ours).query(theirs)[0].max() < 2e-4
    assert cKDTree(theirs).query(ours)[0].max() < 2e-4
    a, b, c = (places[triangles[:, k]] for k in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[triangles[:, 0]])
    assert (outward > 0.0).all()
    volume = abs(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0
    assert volume == pytest.approx(mesh.volume, rel=1e-5)
