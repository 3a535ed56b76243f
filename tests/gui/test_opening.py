"""What can be opened besides models: robots with a report, meshes with a unit."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QFileDialog, QInputDialog

import mbframe as mb
from gui.fields.shapes import ShapesField
from gui.modelling import bodies
from gui.modelling.snapping import Snap
from gui.window.files import dropped_file, open_filter
from mbframe.parameters import parameter

from .modelling_window import window  # noqa: F401

ROBOT = """<robot name="arm"><link name="world"/><link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.17" iyy="0.17" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="3" velocity="4"/></joint>
<transmission name="drive"/><gazebo reference="upper"/></robot>"""


def cube(path, size):
    """A cube of an edge length, as an ASCII STL file."""
    corners = size * np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    lines = ["solid cube"]
    for a, b, c, d in quads:
        for corner in ((a, b, c), (a, c, d)):
            at = [" ".join(map(str, corners[k])) for k in corner]
            lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {p}" for p in at), "endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid cube"]))
    return str(path)


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_a_robot_is_opened_with_a_report(document, tmp_path, suffix):
    path = tmp_path / f"arm{suffix}"
    path.write_text(ROBOT)
    reported = []
    document.left_out.connect(reported.append)
    document.open(path)
    assert [body.name for body in document.system.bodies] == ["upper"]
    assert isinstance(document.system["shoulder"], mb.RevoluteJoint)
    assert document.path is None  # saving it makes a model
    (notices,) = reported
    assert any("transmission" in notice for notice in notices)
    told = [message.text for message in document.messages]
    assert "metres" in told[0]
    assert all(any(notice in text for text in told) for notice in notices)


def test_what_is_no_robot_is_refused(document, tmp_path):
    document.open_example("four_bar")
    path = tmp_path / "page.xml"
    path.write_text("<html/>")
    with pytest.raises(mb.ModelError):
        document.open(path)
    assert document.example == "four_bar"


def test_the_dialog_offers_what_can_be_opened(tmp_path):
    from PySide6.QtCore import QMimeData, QUrl

    assert all(f"*{suffix}" in open_filter() for suffix in (".urdf", ".mbproject", ".json", ".h5"))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "arm.urdf"))])
    assert dropped_file(data) == tmp_path / "arm.urdf"


@pytest.mark.parametrize(("size", "guess"), [(100.0, "mm"), (0.1, "m")])
def test_a_mesh_has_the_unit_that_is_chosen(size, guess, tmp_path):
    stock = bodies.Stock("Steel")
    assert stock.take_mesh(cube(tmp_path / "cube.stl", size)) == pytest.approx(size)
    assert stock.mesh_unit == guess
    preset = next(preset for preset in bodies.PRESETS if preset.name == "mesh")
    normal = np.array([0.0, 0.0, 1.0])
    body = bodies.made(preset, "cube", [np.zeros(3)], mb.System("new"), stock, normal)
    assert body.mass == pytest.approx(7850.0 * 1e-3, rel=1e-6)
    stock.mesh_unit = "inch"
    body = bodies.made(preset, "cube", [np.zeros(3)], mb.System("new"), stock, normal)
    assert body.mass == pytest.approx(7850.0 * (size * 0.0254) ** 3, rel=1e-6)


def test_the_inspector_asks_for_the_unit(qtbot, tmp_path, monkeypatch):
    path = cube(tmp_path / "cube.stl", 50.0)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (path, ""))
    asked = []

    def choose(parent, title, text, items, current, editable):
        asked.append((text, items[current]))
        return items[2], True

    monkeypatch.setattr(QInputDialog, "getItem", choose)
    field = ShapesField(parameter(kind="shapes", default=()))
    qtbot.addWidget(field)
    offered = []
    field.committed.connect(lambda value, *_: offered.append(value))
    field.show_value(())
    field.append(mb.Mesh)
    assert asked == [("cube.stl was drawn in", "mm: 0.05 m long")]
    assert offered[0][0].scale == 1e-2


def test_the_bar_asks_for_the_unit_while_a_mesh_is_placed(window, document, tmp_path, monkeypatch):  # noqa: F811
    path = cube(tmp_path / "cube.stl", 100.0)
    window.files.new(3)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (path, ""))
    mesh = next(preset for preset in bodies.PRESETS if preset.name == "mesh")
    window.modelling.add_body(mesh)
    choice = window.modelling.guide.findChild(QComboBox, "mesh_unit")
    assert choice.currentText() == "File in mm: 0.1 m long"
    choice.setCurrentIndex(choice.findData("cm"))
    placing = window.modelling.placing
    placing._take_place(Snap(np.zeros(3), "origin"))
    (body,) = document.system.bodies
    assert body.shapes[0].scale == 1e-2
    assert "taken as cm" in document.messages[-1].text
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "none.stl"), ""))
    window.modelling.add_body(mesh)
    assert "cannot be read" in document.messages[-1].text
    assert not placing.active


def test_what_would_fill_the_memory_is_not_opened(document, tmp_path):
    """A result of some kilobytes that claims gigabytes, and a project that holds it."""
    import resource

    import h5py

    from mbframe.files import model as model_files
    from mbframe.files import projects

    bomb = tmp_path / "bomb.h5"
    mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=0.01).save(bomb)
    with h5py.File(bomb, "r+") as file:
        for name in ("t", "q", "v", "z"):
            file[name].resize(10**9, axis=0)
        file["written"][0] = 10**9
    model = model_files.document(mb.examples.simple_pendulum())
    projects.save(projects.Project(model, [projects.StoredRun(bomb, {"name": "bomb"})]), tmp_path / "bomb.mbproject")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(mb.ModelError, match=r"memory|damaged"):
        document.open(bomb)
    document.open(tmp_path / "bomb.mbproject")
    assert not document.runs
    assert any("bomb could not be read and is left out" in message.text for message in document.messages)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB
