"""Meshes that a file names outside of its folder: never read unasked, never lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mbframe as mb
from mbframe.shapes import OUTSIDE, named_meshes

STL = """solid t
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid t
"""


@pytest.fixture(autouse=True)
def new_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process in which nobody has named a mesh yet."""
    named_meshes.clear()
    monkeypatch.delenv("MBFRAME_MESH_FOLDERS", raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for models, with a mesh in it, one below it and one outside."""
    for place in ("private", "home/meshes"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("private/key.stl", "home/wheel.stl", "home/meshes/rim.stl"):
        (tmp_path / place).write_text(STL)
    return tmp_path / "home"


def model(home: Path, mesh: str) -> Path:
    """A stranger's model that names a mesh."""
    body = {"type": "PointMass", "name": "ball", "mass": 1.0, "shapes": [{"type": "Mesh", "path": mesh}]}
    content = {"format": "mbframe model", "version": 2, "name": "m", "gravity": [0, 0, -9.81], "elements": [body]}
    (home / "model.json").write_text(json.dumps(content))
    return home / "model.json"


def meshed(path: str | Path) -> mb.System:
    system = mb.System("meshed")
    system.add(mb.PointMass("ball", mass=1.0, shapes=[mb.Mesh(path=str(path))]))
    return system


def mesh_of(system: mb.System) -> str:
    return str(system["ball"].shapes[0].path)


def drawn(system: mb.System) -> None:
    pytest.importorskip("trimesh")
    from mbframe.render.bodies import shape_surface

    shape_surface(system["ball"].shapes[0])


@pytest.mark.parametrize("name", ["wheel.stl", "meshes/rim.stl", "meshes/../wheel.stl", "./wheel.stl"])
def test_meshes_of_the_folder_are_read_wherever_one_is(
    home: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    system = mb.load(model(home, name))
    assert Path(mesh_of(system)).samefile(home / name)
    drawn(system)
    assert mesh_of(mb.load(model(home, str(home / "wheel.stl")))) == str(home / "wheel.stl")


ESCAPES = {
    "above": "../private/key.stl",
    "around": "meshes/../../private/key.stl",
    "absolute": "{}/private/key.stl",
    "a device": "/dev/zero.stl",
    "marked": "outside:{}/private/key.stl",
    "a link": "link.stl",
    "through a linked folder": "folder/key.stl",
    "of a null character": "/\0.stl",
    "of another computer": "//server/share/key.stl",
}


@pytest.mark.parametrize("name", ESCAPES.values(), ids=ESCAPES.keys())
def test_no_path_is_followed_out_of_the_folder(home: Path, name: str, tmp_path: Path) -> None:
    os.symlink(tmp_path / "private/key.stl", home / "link.stl")
    os.symlink(tmp_path / "private", home / "folder")
    path = model(home, name.format(tmp_path))
    with pytest.warns(mb.MeshNotice, match=r"PointMass 'ball' \$.elements\[0\].shapes\[0\].path: .*mesh_folders"):
        system = mb.load(path)
    assert mesh_of(system).startswith(OUTSIDE)
    with pytest.raises(mb.ModelError, match=r"Mesh, path: .* outside of the folder .* copy it there, or allow"):
        drawn(system)
    # Not after it went through the documents of the application, either.
    from mbframe.files.model import document, system_from

    assert mesh_of(system_from(document(system))).startswith(OUTSIDE)
    mb.save(system, home / "again.json")
    with pytest.warns(mb.MeshNotice, match="lies outside"):
        again = mb.load(home / "again.json")
    assert mesh_of(again) == mesh_of(system)


def test_the_folder_that_is_named_is_the_one_to_allow(home: Path, tmp_path: Path) -> None:
    os.symlink(tmp_path / "private/key.stl", home / "link.stl")
    with pytest.warns(mb.MeshNotice, match=rf"mesh_folders=\['{tmp_path}/private'\]"):
        mb.load(model(home, "link.stl"))
    with mb.import_limits(mesh_folders=[tmp_path / "private"]):
        drawn(mb.load(home / "model.json"))


def test_what_is_allowed_is_read(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = model(home, "../private/key.stl")
    with mb.import_limits(mesh_folders=[tmp_path / "private"]):
        drawn(mb.load(path))
    named_meshes.clear()
    with mb.import_limits(mesh_folders=[tmp_path / "elsewhere"]), pytest.warns(mb.MeshNotice):
        mb.load(path)
    monkeypatch.setenv("MBFRAME_MESH_FOLDERS", os.pathsep.join(["/nowhere", str(tmp_path)]))
    drawn(mb.load(path))
    named_meshes.clear()
    os.symlink(tmp_path / "private", home / "linked")
    drawn(mb.load(model(home, "linked/key.stl")))
    for wrong in ("meshes", [], 3, [3]):
        with pytest.raises(mb.ModelError, match="mesh_folders"), mb.import_limits(mesh_folders=wrong):  # type: ignore
            pass


def test_own_models_come_back_with_their_meshes(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    mb.save(meshed("wheel.stl"), home / "inside.json")
    mb.save(meshed(home / "meshes" / "rim.stl"), home / "below.json")
    for name, path in (("inside.json", "wheel.stl"), ("below.json", "meshes/rim.stl")):
        assert json.loads((home / name).read_text())["elements"][0]["shapes"][0]["path"] == path
    home.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    named_meshes.clear()
    for name in ("inside.json", "below.json"):
        drawn(mb.load(tmp_path / "moved" / name))


def test_a_mesh_elsewhere_is_told_when_it_is_saved_and_is_not_lost(home: Path, tmp_path: Path) -> None:
    key = tmp_path / "private" / "key.stl"
    with pytest.warns(mb.MeshNotice, match=r"'ball', shapes: .*key.stl' lies outside .* .*mesh_folders"):
        mb.save(meshed(key), home / "mine.json")
    drawn(mb.load(home / "mine.json"))  # in the session in which it was named
    named_meshes.clear()
    with pytest.warns(mb.MeshNotice, match="lies outside"):
        assert mesh_of(mb.load(home / "mine.json")) == f"{OUTSIDE}{key}"
    with mb.import_limits(mesh_folders=[key.parent]):
        assert mesh_of(mb.load(home / "mine.json")) == str(key)


def test_meshes_are_copied_beside_a_model_if_asked(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "key.stl"  # another file of that name
    other.write_text(STL.replace("1 0 0", "2 0 0"))
    system = meshed(tmp_path / "private" / "key.stl")
    for number, place in enumerate((other, tmp_path / "private" / "key.stl")):
        system.add(mb.PointMass(f"{number}", mass=1.0, shapes=[mb.Mesh(path=str(place))]))
    mb.save(system, home / "car.json", copy_meshes=True)
    mb.save(system, home / "car.json", copy_meshes=True)
    assert sorted(os.listdir(home / "car meshes")) == ["key 2.stl", "key.stl"]
    named_meshes.clear()
    again = mb.load(home / "car.json")
    found = [Path(body.shapes[0].path) for body in again.bodies]
    assert [file.read_bytes() for file in found] == [key.read_bytes() for key in (found[2], other, found[0])]


def test_meshes_of_several_files_are_copied_with_all_of_them(home: Path, tmp_path: Path) -> None:
    part = tmp_path / "private" / "part.gltf"
    (part.parent / "data here").mkdir()
    (part.parent / "data here" / "a.bin").write_bytes(b"numbers")
    files = {"buffers": [{"uri": "data%20here/a.bin"}, {"uri": "data:;base64,AAAA"}], "images": [{"bufferView": 0}]}
    part.write_text(json.dumps(files))
    for _ in range(2):
        mb.save(meshed(part), home / "car.json", copy_meshes=True)
    part.write_text(json.dumps(files | {"asset": {}}))  # another content under the same name
    mb.save(meshed(part), home / "car.json", copy_meshes=True)
    copies = home / "car meshes"
    found = sorted(str(file.relative_to(copies)) for file in copies.rglob("*") if file.is_file())
    assert found == [f"{folder}/{name}" for folder in ("part 2", "part") for name in ("data here/a.bin", "part.gltf")]
    assert (copies / "part 2" / "data here" / "a.bin").read_bytes() == b"numbers"
    named_meshes.clear()
    assert mesh_of(mb.load(home / "car.json")) == str(copies / "part 2" / "part.gltf")


@pytest.mark.parametrize(
    "described", ['{"buffers": [{"uri": "../key.bin"}]}', '{"buffers": [{"uri": 1}]}', "[", "[" * 9999]
)
def test_meshes_that_lead_elsewhere_stay_where_they_are(home: Path, tmp_path: Path, described: str) -> None:
    (tmp_path / "key.bin").write_bytes(b"secret")
    part = tmp_path / "private" / "part.gltf"
    part.write_text(described)
    with pytest.warns(mb.MeshNotice, match="part.gltf"):
        mb.save(meshed(part), home / "car.json", copy_meshes=True)
    assert not (home / "car meshes").exists()


def test_results_say_where_their_meshes_are(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mb.simulate(meshed("private/key.stl"), 0.1, dt=0.01).save(home / "run.h5")
    monkeypatch.chdir(home)
    assert mesh_of(mb.load_result("run.h5").system) == str(tmp_path / "private" / "key.stl")
    named_meshes.clear()
    result = mb.load_result("run.h5")
    with pytest.warns(mb.MeshNotice, match="lies outside"):
        assert mesh_of(result.system).startswith(OUTSIDE)
    assert result.quantity("ball.position.z").values[-1] < 0.0
    with mb.import_limits(mesh_folders=[tmp_path]):
        allowed = mb.load_result("run.h5")
    assert mesh_of(allowed.system) == str(tmp_path / "private" / "key.stl")


ROBOT = """<robot name="r"><link name="ball"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><geometry><mesh filename="{}"/></geometry></visual></link></robot>"""


def shapes_of(file: Path, name: str, **options: object) -> tuple[int, str]:
    """How many shapes a robot gets of a mesh, and what is told."""
    file.write_text(ROBOT.format(name))
    notices: list[str] = []
    system = mb.import_urdf(file, notices=notices, **options)  # type: ignore[arg-type]
    return len(system["ball"].shapes), "".join(notices)


def test_robots_have_meshes_of_their_folder_and_of_packages(home: Path, tmp_path: Path) -> None:
    file = home / "r.urdf"
    for name in ("wheel.stl", "meshes/rim.stl", "package://meshes/rim.stl", "package://home/wheel.stl"):
        assert shapes_of(file, name)[0] == 1, name
    for name in ("../private/key.stl", f"file://{tmp_path}/private/key.stl", f"{tmp_path}/private/key.stl"):
        count, told = shapes_of(file, name)
        assert count == 0
        for words in ("link 'ball', filename", name, "lies outside", "copy it there"):
            assert words in told
        with mb.import_limits(mesh_folders=[tmp_path / "private"]):
            assert shapes_of(file, name)[0] == 1
    for name in ("package://private/key.stl", "package://home/../private/key.stl", "package://../private/key.stl"):
        count, told = shapes_of(file, name)
        assert count == 0
        assert "packages={" in told
    given = {"private": tmp_path / "private", "home": home}
    assert shapes_of(file, "package://private/key.stl", packages=given)[0] == 1
    for name in ("package://home/../private/key.stl", "package://private/../home/wheel.stl"):
        assert shapes_of(file, name, packages=given)[0] == 0


def test_a_robot_knows_the_package_that_it_is_part_of(home: Path, tmp_path: Path) -> None:
    (home / "urdf").mkdir()
    file = home / "urdf" / "r.urdf"
    assert shapes_of(file, "package://home/wheel.stl")[0] == 0
    (home / "package.xml").write_text("<package/>")
    assert shapes_of(file, "package://home/wheel.stl")[0] == 1
    assert shapes_of(file, "package://home/../private/key.stl")[0] == 0
    os.symlink(tmp_path / "private/key.stl", home / "link.stl")
    assert shapes_of(file, "package://home/link.stl")[0] == 0


def test_the_command_line_tells_and_can_be_told(home: Path, tmp_path: Path) -> None:
    path = model(home, "../private/key.stl")

    def told(**environment: str) -> str:
        command = [sys.executable, "-m", "mbframe.cli", "check", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert "PointMass 'ball'" in told()
    assert told(MBFRAME_MESH_FOLDERS=str(tmp_path / "private")) == ""
