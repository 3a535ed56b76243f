"""Inputs made to do harm: special files, paths that lead elsewhere, and small files with much behind them."""

from __future__ import annotations

import base64
import gzip
import io
import json
import lzma
import os
import socket
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from scipy import sparse

import mbframe as mb
from mbframe import limits
from mbframe.files import projects
from mbframe.limits import within_time

pytestmark = pytest.mark.skipif(os.name != "posix", reason="special files of POSIX")


def surface(path: Path) -> Any:
    pytest.importorskip("trimesh")
    from mbframe.render.mesh_files import read_surface

    return read_surface(str(path))


def solid(path: Path) -> Any:
    pytest.importorskip("skfem")
    return mb.flexible.solid(path, young=1e9, poisson=0.3, density=1000.0)


READERS: dict[str, Callable[[Path], Any]] = {
    "model.json": mb.load,
    "run.h5": mb.load_result,
    "robot.urdf": mb.import_urdf,
    "mesh.stl": surface,
    "mesh.obj": surface,
    "mesh.gltf": surface,
    "part.npz": mb.flexible.Component.load,
    "modes.npz": mb.flexible.Modes.load,
    "nodes.csv": lambda path: mb.flexible.Component.from_files(path, np.eye(6), np.eye(6)),
    "mass.mtx": lambda path: mb.flexible.Component.from_files(np.zeros((1, 3)), path, np.eye(6)),
    "mass.npy": lambda path: mb.flexible.Component.from_files(np.zeros((1, 3)), path, np.eye(6)),
    "solid.msh": solid,
    "solid.inp": solid,
}


@pytest.mark.parametrize("name", READERS)
def test_only_regular_files_are_read(name: str, tmp_path: Path) -> None:
    """A device without end, a pipe without a writer, a folder, a socket: refused at once."""
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(mb.ModelError, match="is a pipe"):
        READERS[name](path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(mb.ModelError, match="is a device"):
        READERS[name](path)
    path.unlink()
    path.mkdir()
    with pytest.raises(mb.ModelError, match="is a folder"):
        READERS[name](path)
    path.rmdir()
    with socket.socket(socket.AF_UNIX) as listening:
        folder = os.getcwd()
        os.chdir(tmp_path)  # names of sockets are short
        try:
            listening.bind(name)
        finally:
            os.chdir(folder)
        with pytest.raises(mb.ModelError, match="give a regular file"):
            READERS[name](path)


@pytest.mark.parametrize("name", ["model.json", "robot.urdf", "part.npz", "nodes.csv"])
def test_what_has_nothing_to_tell_yet_is_empty(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's messages in /proc look like a regular file, but wait for the next message."""
    os.mkfifo(tmp_path / name)
    writer = os.open(tmp_path / name, os.O_RDWR)
    monkeypatch.setattr("mbframe.disk.inputs.stat.S_ISREG", lambda mode: True)
    with pytest.raises(mb.ModelError):
        READERS[name](tmp_path / name)
    os.close(writer)


def test_a_project_that_has_nothing_to_tell_yet_is_none() -> None:
    class Waiting(io.BytesIO):
        def read(self, *_: Any) -> Any:
            return None

    with pytest.raises(zipfile.BadZipFile, match="does not end as a project"):
        projects._directory_bytes(Waiting(), 0)


def test_more_than_is_allowed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(mb.ModelError, match=r"more than the 333,333,333 bytes that are allowed"):
        mb.load(path)


# ---- paths that lead elsewhere


def gltf(uri: str, count: int = 3) -> dict[str, Any]:
    """One triangle whose corners are in a buffer."""
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": uri, "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3"}],
    }


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32).tobytes()


def test_buffers_of_meshes_lie_in_their_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "below").mkdir(parents=True)
    for place in (tmp_path, home, home / "below"):
        (place / "corners.bin").write_bytes(CORNERS)
    (home / "link.bin").symlink_to(tmp_path / "corners.bin")
    inline = "data:application/octet-stream;base64," + base64.b64encode(CORNERS).decode()
    for number, uri in enumerate(("corners.bin", "below/corners.bin", inline)):
        (home / f"{number}.gltf").write_text(json.dumps(gltf(uri)))
        assert len(surface(home / f"{number}.gltf").vertices) == 3
    outside = ("../corners.bin", str(tmp_path / "corners.bin"), "below/../../corners.bin", "link.bin")
    for number, uri in enumerate(outside):
        (home / f"out{number}.gltf").write_text(json.dumps(gltf(uri)))
        with pytest.raises(mb.ModelError, match=rf"out{number}\.gltf"):
            surface(home / f"out{number}.gltf")


TETRAHEDRON = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n"


def test_meshes_include_files_of_their_folder_only(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for place in (tmp_path, home):
        (place / "cells.inp").write_text(TETRAHEDRON)
    (home / "fine.inp").write_text("*INCLUDE, INPUT=cells.inp\n")
    assert len(solid(home / "fine.inp").nodes) == 10
    for text in ("*INCLUDE, INPUT=../cells.inp\n", f"*include, input = {tmp_path / 'cells.inp'}\n"):
        (home / "out.inp").write_text(text)
        with pytest.raises(mb.ModelError, match="outside of its folder"):
            solid(home / "out.inp")
    (home / "itself.inp").write_text("*INCLUDE, INPUT=itself.inp\n")
    with pytest.raises(mb.ModelError, match="includes"):
        solid(home / "itself.inp")
    for name in ("mesh.xdmf", "mesh.hmf", "mesh.e", "mesh.vol.gz"):
        (home / name).write_text("<Xdmf/>")
        with pytest.raises(mb.ModelError, match="may lead to other files"):
            solid(home / name)


@pytest.mark.parametrize(
    "text",
    [
        "*INCLUDE, INPUT=fine.inp, X=../cells.inp\n",  # the last one counts
        "*INCLUDE, FILE=../cells.inp\n",
        "*NODE\r*INCLUDE, INPUT=../cells.inp\r",
        "*IN*CLUDE, INPUT=../cells.inp\n",
    ],
)
def test_includes_are_found_however_they_are_written(text: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "cells.inp").write_text(TETRAHEDRON)
    (home / "fine.inp").write_text(TETRAHEDRON)
    (home / "out.inp").write_bytes(text.encode())
    with pytest.raises(mb.ModelError, match="outside of its folder"):
        solid(home / "out.inp")


def test_included_files_are_those_of_the_mesh_and_not_of_where_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for place, size in ((home, "1"), (elsewhere, "2")):
        place.mkdir()
        (place / "cells.inp").write_text(TETRAHEDRON.replace("4, 0, 0, 1", f"4, 0, 0, {size}"))
    (home / "fine.inp").write_text("*INCLUDE, INPUT=cells.inp\n")
    monkeypatch.chdir(elsewhere)
    assert solid(home / "fine.inp").mass == pytest.approx(1000.0 / 6.0)


def test_meshes_of_two_files_have_both_in_their_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "t.node").write_text("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    (tmp_path / "t.ele").write_text("1 4 0\n1 1 2 3 4\n")
    (home / "t.ele").write_bytes((tmp_path / "t.ele").read_bytes())
    assert len(solid(home / "t.node").nodes) == len(solid(home / "t.ele").nodes) == 10
    (home / "t.ele").unlink()
    (home / "t.ele").symlink_to(tmp_path / "t.ele")
    with pytest.raises(mb.ModelError, match="outside of its folder"):
        solid(home / "t.node")
    (home / "t.ele").unlink()
    os.mkfifo(home / "t.ele")
    with pytest.raises(mb.ModelError, match="is a pipe"):
        solid(home / "t.node")


# ---- much behind little


def npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(shape: tuple[int, ...], numbers: int) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(8 * numbers)


def test_archives_unpack_to_what_is_allowed(tmp_path: Path) -> None:
    path = npz(tmp_path / "part.npz", nodes=npy((1_000_000, 3), 3_000_000))
    assert path.stat().st_size < 50_000
    with mb.import_limits(memory=20e6), pytest.raises(mb.ModelError, match="allowed are 20 MB"):
        mb.flexible.Component.load(path)
    npz(path, nodes=npy((10**12, 3), 30))
    with pytest.raises(mb.ModelError, match="claims the shape"):
        mb.flexible.Component.load(path)
    with pytest.raises(mb.ModelError, match="claims the shape"):
        mb.flexible.Component.from_files(np.zeros((1, 3)), path, np.eye(6))
    (tmp_path / "mass.npy").write_bytes(npy((10**6, 10**6), 1))
    with pytest.raises(mb.ModelError, match="claims the shape"):
        mb.flexible.Component.from_files(np.zeros((1, 3)), tmp_path / "mass.npy", np.eye(6))
    header = b"%%MatrixMarket matrix array real general\n"
    (tmp_path / "mass.mtx").write_bytes(header + b"1000000 1000000\n1.0\n")
    with pytest.raises(mb.ModelError, match="claims 1,000,000,000,000 numbers"):
        mb.flexible.Component.from_files(np.zeros((1, 3)), tmp_path / "mass.mtx", np.eye(6))
    (tmp_path / "mass.mtx.gz").write_bytes(gzip.compress(header + b" " * 30_000_000))
    with mb.import_limits(memory=20e6), pytest.raises(mb.ModelError, match="unpacks to more"):
        mb.flexible.Component.from_files(np.zeros((1, 3)), tmp_path / "mass.mtx.gz", np.eye(6))


def vtu(points: bytes, packing: Any = zlib) -> str:
    """A mesh whose points are packed."""
    packed = packing.compress(points)
    head = np.array([1, len(points), 0, len(packed)], "<u4").tobytes()
    data = base64.b64encode(head).decode() + base64.b64encode(packed).decode()
    name = {zlib: "ZLib", lzma: "LZMA"}[packing]
    return (
        '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian" header_type="UInt32" '
        f'compressor="vtk{name}DataCompressor"><UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1"><Points>'
        f'<DataArray type="Float64" Name="Points" NumberOfComponents="3" format="binary">{data}</DataArray></Points>'
        '<Cells><DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3</DataArray>'
        '<DataArray type="Int64" Name="offsets" format="ascii">4</DataArray>'
        '<DataArray type="Int64" Name="types" format="ascii">10</DataArray></Cells>'
        "</Piece></UnstructuredGrid></VTKFile>"
    )


@pytest.mark.parametrize("packing", [zlib, lzma])
def test_packed_meshes_unpack_to_what_is_allowed(packing: Any, tmp_path: Path) -> None:
    path = tmp_path / "mesh.vtu"
    path.write_text(vtu(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float).tobytes(), packing))
    assert len(solid(path).nodes) == 10
    path.write_text(vtu(bytes(40_000_000), packing))
    assert path.stat().st_size < 100_000
    with mb.import_limits(memory=40e6), pytest.raises(mb.ModelError, match="unpack to more than the 10,000,000 bytes"):
        solid(path)


CLAIMS = {
    "tags.msh": "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4000000000\n0 0 0\n1 0 0\n"
    "0 1 0\n0 0 1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n",
    "sets.inp": TETRAHEDRON + "*NSET, NSET=all, GENERATE\n1, 2000000000, 1\n",
    "grid.vtk": "# vtk DataFile Version 5.1\nx\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3000 3000 3000\n"
    "ORIGIN 0 0 0\nSPACING 1 1 1\n",
}


@pytest.mark.parametrize("name", CLAIMS)
def test_meshes_do_not_claim_more_than_is_allowed(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(CLAIMS[name])
    with pytest.raises(mb.ModelError, match="of memory"):
        solid(tmp_path / name)


def test_meshes_in_xml_have_no_entities(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-16"):
        text = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><VTKFile>&a;</VTKFile>'
        (tmp_path / "mesh.vtu").write_bytes(text.encode(encoding))
        with pytest.raises(mb.ModelError, match="document type or entities"):
            solid(tmp_path / "mesh.vtu")


def test_archives_are_not_deeper_than_components_are(tmp_path: Path) -> None:
    path = npz(tmp_path / "deep.npz", **{"a/" * 20_000 + "x": npy((3,), 3)})
    with pytest.raises(mb.ModelError, match="20,000 others above it"):
        mb.flexible.Component.load(path)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_archive_of_very_many_arrays_is_given_up(tmp_path: Path) -> None:
    path = npz(tmp_path / "many.npz", **{str(k): npy((3,), 3) for k in range(20_000)})
    with mb.import_limits(seconds=0.005), pytest.raises(mb.ModelError, match=r"takes longer than the 0\.005 s"):
        mb.flexible.Component.load(path)


MARKET = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.0\n2 2 1.0\n"


@pytest.mark.parametrize(
    "text",
    [
        MARKET.replace("2 2 2\n", "2 2 1\n"),
        MARKET.replace("2 2 2\n", "2 2 3\n"),
        MARKET.replace("2 2 2\n", "2 3 2\n"),
        MARKET.replace("2 2 1.0", "2 3 1.0"),
        MARKET.replace("2 2 1.0", "0 2 1.0"),
        MARKET.replace("2 2 1.0", "-9999999999 2 1.0"),
        MARKET.replace("2 2 1.0", "2 2 x"),
        MARKET.replace("1.0", "1.0 1.0"),
        MARKET.replace("real", "complex"),
        MARKET.replace("2 2 2\n", "2000000000000 2000000000000 2\n"),
    ],
)
def test_damaged_matrices_are_refused(text: str, tmp_path: Path) -> None:
    """SciPy's reader ended the process for some of them."""
    (tmp_path / "mass.mtx").write_text(text)
    with pytest.raises(mb.ModelError, match=r"cannot be read|of memory"):
        mb.flexible.Component.from_files(np.zeros((1, 3)), tmp_path / "mass.mtx", np.eye(6))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_sparse_matrices_with_indices_out_of_them_are_refused(form: str, tmp_path: Path) -> None:
    matrix = sparse.csr_array(np.eye(6)).asformat(form)
    matrix.indices[3] = 10**6
    sparse.save_npz(tmp_path / "mass.npz", matrix)
    with pytest.raises(mb.ModelError, match="cannot be read"):
        mb.flexible.Component.from_files(np.zeros((1, 3)), tmp_path / "mass.npz", np.eye(6))


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("form", ["coordinate", "array"])
def test_matrices_come_back_as_other_programs_write_them(form: str, symmetry: str, tmp_path: Path) -> None:
    from mbframe.flexible.storage import read_matrix

    whole = np.random.default_rng(1).random((5, 5))
    whole = {"general": whole, "symmetric": whole + whole.T, "skew-symmetric": whole - whole.T}[symmetry]
    scipy.io.mmwrite(
        tmp_path / "a.mtx", sparse.coo_array(whole) if form == "coordinate" else whole, symmetry=symmetry, precision=17
    )
    found = read_matrix("mass_matrix", tmp_path / "a.mtx")
    assert sparse.issparse(found) == (form == "coordinate")
    np.testing.assert_array_equal(found.toarray() if form == "coordinate" else found, whole)


@pytest.mark.parametrize(
    ("cells", "told"),
    [("1, 1, 2, 3, 9\n", "cannot be read"), ("1, 1, 2, 3\n", "without their 4 points|cannot be read")],
)
def test_cells_have_points_that_are_there(cells: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "mesh.inp").write_text(TETRAHEDRON.replace("1, 1, 2, 3, 4\n", cells))
    with pytest.raises(mb.ModelError, match=told):
        solid(tmp_path / "mesh.inp")
    (tmp_path / "mesh.mesh").write_text(
        "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
        "Tetrahedra\n1\n1 2 3 7 1\nEnd\n"
    )
    with pytest.raises(mb.ModelError, match="not among its 4"):
        solid(tmp_path / "mesh.mesh")


def test_modes_whose_frame_is_an_array(tmp_path: Path) -> None:
    from mbframe.flexible.storage import write_npz

    material = {"young": 2e11, "shear": 8e10, "density": 7800.0}
    part = mb.flexible.beam(length=1.0, elements=2, area=1e-4, second_moments=(1e-9, 1e-9), torsion=2e-9, **material)
    tree = mb.flexible.free_modes(part, 2).tree()
    write_npz(tmp_path / "modes.npz", {**tree, "reference": np.zeros(0)})
    with pytest.raises(mb.ModelError):
        mb.flexible.Modes.load(tmp_path / "modes.npz")


def test_meshes_have_what_they_claim(tmp_path: Path) -> None:
    path = tmp_path / "claims.gltf"
    claims = gltf("corners.bin", count=10**9)
    del claims["accessors"][0]["bufferView"]
    path.write_text(json.dumps(claims))
    with pytest.raises(mb.ModelError, match="of memory"):
        surface(path)
    many = gltf("corners.bin")
    many["nodes"] = [{"mesh": 0}] * 200_000
    (tmp_path / "many.gltf").write_text(json.dumps(many))
    with pytest.raises(mb.ModelError, match="200,000 nodes"):
        surface(tmp_path / "many.gltf")


def test_a_mesh_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    """A polygon of very many corners."""
    corners = "".join(f"v {np.cos(a):.9f} {np.sin(a):.9f} 0\n" for a in np.linspace(0.0, 6.28, 60_000))
    (tmp_path / "polygon.obj").write_text(corners + "f " + " ".join(str(k + 1) for k in range(60_000)) + "\n")
    with mb.import_limits(seconds=0.005), pytest.raises(mb.ModelError, match=r"takes longer than the 0\.005 s"):
        surface(tmp_path / "polygon.obj")


def test_files_beside_a_mesh_are_those_of_its_folder_in_every_namespace(tmp_path: Path) -> None:
    from mbframe.render.mesh_parts import Neighbours

    home = tmp_path / "home"
    (home / "below").mkdir(parents=True)
    for place in (tmp_path, home / "below"):
        (place / "a.bin").write_bytes(b"content")
    assert Neighbours(home).namespaced("below").get("a.bin") == b"content"
    for namespace in ("..", "below/../..", str(tmp_path)):
        with pytest.raises(mb.ModelError, match="outside of the folder"):
            Neighbours(home).namespaced(namespace).get("a.bin")


# ---- the watch itself


def test_time_counts_while_a_reader_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that waits for its turn on a busy machine is given more time; not for ever."""
    with mb.import_limits(seconds=0.1):
        monkeypatch.setattr(limits, "WAITING", 1e3)
        assert within_time("the file", lambda: time.sleep(0.2)) is None
        monkeypatch.setattr(limits, "WAITING", 2.0)
        with pytest.raises(mb.ModelError, match="takes longer"):
            within_time("the file", lambda: [time.sleep(0.01) for _ in range(1000)])


def test_the_watch_ends_what_takes_too_long() -> None:
    def spin() -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # readers catch what they like
                continue

    with mb.import_limits(seconds=0.05), pytest.raises(mb.ModelError, match="the file: takes longer"):
        within_time("the file", spin)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_watch_ends_a_reader_that_lost_the_first_word() -> None:
    """What is raised in a destructor is lost, and the reader goes on."""
    entered = []

    class Member:
        def __del__(self) -> None:
            entered.append(True)
            end = time.thread_time() + 0.2
            while time.thread_time() < end:
                pass

    def read() -> None:
        Member()  # gone at once
        assert entered
        end = time.thread_time() + 5.0
        while time.thread_time() < end:
            sum(range(1000))
        raise KeyError("it was not ended")

    with mb.import_limits(seconds=0.05), pytest.raises(mb.ModelError, match="the file: takes longer"):
        within_time("the file", read)


def test_the_watch_leaves_alone_what_is_in_time() -> None:
    """Work that ends about when its time is over is done or refused, and nothing comes later."""
    outcomes = []
    for pause in np.linspace(0.0, 0.004, 60):
        with mb.import_limits(seconds=0.002):
            try:
                outcomes.append(within_time("the file", lambda pause=pause: time.sleep(pause)))
            except mb.ModelError as error:
                outcomes.append(error)
        sum(range(10_000))
    assert len(outcomes) == 60

    def failing(pause: float) -> None:
        time.sleep(pause)
        raise KeyError

    for pause in np.linspace(0.0, 0.004, 60):
        with mb.import_limits(seconds=0.002), pytest.raises((KeyError, mb.ModelError)):
            within_time("the file", lambda pause=pause: failing(pause))
        sum(range(10_000))
    with pytest.raises(KeyError):
        within_time("the file", lambda: {}["nothing"])


def test_robots_of_very_many_links_take_their_share(tmp_path: Path) -> None:
    """Twice as many links take about twice as many calls, not four times."""
    import cProfile
    import pstats

    def calls(n: int) -> int:
        links = "".join(
            f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>"
            for k in range(n)
        )
        joints = "".join(
            f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/>'
            '<limit effort="1" velocity="1"/></joint>'
            for k in range(n - 1)
        )
        (tmp_path / f"{n}.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
        profile = cProfile.Profile()
        profile.enable()
        mb.import_urdf(tmp_path / f"{n}.urdf", notices=[])
        profile.disable()
        return pstats.Stats(profile).total_calls

    assert calls(200) < 2.3 * calls(100)


@pytest.mark.parametrize("uri", ["data:;base64,!!!!", "", None, 7])
def test_a_mesh_that_is_refused_says_why(tmp_path: Path, uri: object) -> None:
    view = {"buffer": 0, "byteLength": 36}
    accessor = {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [accessor],
        "bufferViews": [view],
        "buffers": [{"byteLength": 36, "uri": uri}],
    }
    path = tmp_path / "odd.gltf"
    path.write_text(json.dumps(tree))
    with pytest.raises(mb.ModelError) as refused:
        surface(path)
    assert ": ;" not in str(refused.value)
