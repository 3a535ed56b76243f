"""Flexible bodies by hand: section data, files, the dialog, joints at nodes, and pulled states that bend."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import mbframe as mb
from gui.modelling.bodies import PRESETS, flexible_pose
from gui.modelling.flexible import BeamData, ComponentData, farthest
from gui.modelling.flexible_dialog import FlexibleDialog, outline
from gui.modelling.snapping import candidates, nearest_attachment
from gui.solving.tasks import Model
from mbframe.analysis.states.describing import described_state, description

from .builder import Builder
from .modelling_window import window  # noqa: F401


def aluminium_beam(**values) -> mb.flexible.Component:
    return BeamData("beam", **values).component()


# --- data ------------------------------------------------------------------------------------------------------------


def test_sections():
    """Area and second moments of elementary sections; torsion of a square from Roark's 0.1406 a^4, of tubes exact."""
    area, (iy, iz), torsion = BeamData("b", section="rectangle", width=0.02, height=0.05).properties()
    assert (area, iy, iz) == pytest.approx((1e-3, 0.02 * 0.05**3 / 12, 0.05 * 0.02**3 / 12))
    assert torsion == pytest.approx(0.249 * 0.05 * 0.02**3, rel=0.005)  # Timoshenko's table, a/b = 2.5
    square = BeamData("b", section="rectangle", width=0.1, height=0.1).properties()[2]
    assert square == pytest.approx(0.1406e-4, rel=0.005)
    area, (iy, iz), torsion = BeamData("b", section="tube", diameter=0.04, wall=0.01).properties()
    assert area == pytest.approx(np.pi * (0.02**2 - 0.01**2))
    assert iy == iz == pytest.approx(np.pi / 4 * (0.02**4 - 0.01**4))
    assert torsion == pytest.approx(2 * iy)
    full, round_ = (BeamData("b", section=kind, diameter=0.04, wall=0.02).properties() for kind in ("tube", "round"))
    np.testing.assert_allclose(np.hstack(full), np.hstack(round_))


def test_a_beam_bends_as_in_the_book():
    """The free-free beam: f = 4.73004^2/(2 pi) sqrt(E I/(rho A L^4))."""
    data = BeamData("b", length=2.0, width=0.02, height=0.01, elements=20)
    modes = mb.flexible.free_modes(data.component(), n_modes=1)
    expected = 4.73004074**2 / (2 * np.pi) * np.sqrt(7.0e10 * 0.02 * 0.01**3 / 12 / (2700.0 * 2e-4 * 2.0**4))
    assert modes.frequencies[0] == pytest.approx(expected, rel=1e-4)
    assert data.component().mass == pytest.approx(2700.0 * 2e-4 * 2.0)


def test_wrong_data_are_refused():
    with pytest.raises(mb.ModelError, match="half of the diameter"):
        BeamData("b", section="tube", diameter=0.02, wall=0.03)
    with pytest.raises(mb.ModelError, match="choose the file"):
        ComponentData("c").modes()


def test_components_come_from_files(tmp_path):
    part = aluminium_beam(length=0.8, elements=4)
    part.save(tmp_path / "part.npz")
    direct = ComponentData("c", {"component": str(tmp_path / "part.npz")}, vibrations=2).modes()
    assert direct.interfaces == (0, 4)
    direct.save(tmp_path / "modes.npz")
    again = ComponentData("c", {"component": str(tmp_path / "modes.npz")}).modes()
    np.testing.assert_array_equal(again.frequencies, direct.frequencies)
    scipy.io.mmwrite(tmp_path / "mass.mtx", part.mass_matrix)
    scipy.io.mmwrite(tmp_path / "stiffness.mtx", part.stiffness_matrix)
    np.savetxt(tmp_path / "nodes.csv", part.nodes, delimiter=",")
    paths = {"nodes": "nodes.csv", "mass": "mass.mtx", "stiffness": "stiffness.mtx"}
    files = {key: str(tmp_path / name) for key, name in paths.items()}
    other = ComponentData("c", files, vibrations=2, interfaces=(0, 4)).modes()
    np.testing.assert_allclose(other.frequencies, direct.frequencies, rtol=1e-6)
    with pytest.raises(mb.ModelError, match="there is no such file"):
        ComponentData("c", {**files, "mass": str(tmp_path / "nothing.mtx")}).modes()


def test_the_farthest_points():
    assert farthest(np.array([[0.0, 0, 0], [0.5, 0.1, 0], [1.0, 0, 0], [3.0, 0, 0]])) == [0, 3]


def test_the_picture_shows_bending():
    modes = BeamData("b", length=1.0, elements=8).modes()
    rest, bent, lines = outline(modes, 0)
    assert np.ptp(rest[:, 0]) == pytest.approx(1.0)
    assert np.ptp(rest[:, 1]) < 1e-12
    assert 0.05 < np.ptp(bent[:, 1]) < 0.5
    assert len(lines) == 8
    for number in range(modes.count):  # stretching and twisting ones too
        assert np.all(np.isfinite(outline(modes, number)[1]))


# --- points ----------------------------------------------------------------------------------------------------------


def bent_system() -> tuple[mb.System, mb.FlexibleBody]:
    """A beam that hangs on a pin and carries a link at its end."""
    system = mb.System("bent", gravity=(0, 0, -9.81))
    part = mb.flexible.beam(
        length=1.0,
        elements=4,
        area=1e-4,
        second_moments=(8e-10, 8e-10),
        torsion=1.4e-9,
        young=2e10,
        shear=8e9,
        density=2000.0,
    )
    rod = mb.FlexibleBody("rod", mb.flexible.craig_bampton(part, [0, 4], n_modes=1), position=(0, 0, 1))
    system.add(rod)
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 1)))
    link = system.add(mb.RigidBody("link", mass=0.2, inertia=(1e-3,) * 3, position=(1, 0, 0.8)))
    system.add(mb.RevoluteJoint("pin", rod, link, at=(1, 0, 1), axis=(0, 1, 0)))
    return system, rod


def test_joints_snap_to_nodes():
    system, rod = bent_system()
    snaps = [snap for snap in candidates(system, [rod]) if snap.label.startswith("node") or "point of" in snap.label]
    assert sorted(float(snap.point[0]) for snap in snaps) == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
    assert nearest_attachment(rod, np.array([0.55, 0.02, 1.0])).label == "node 2"
    for snap in snaps:
        assert rod.node_at(snap.point) in range(5)


def test_a_bent_state_is_kept():
    """Described anew, the model is where it was: frames, deformations, points and axes of joints."""
    system, rod = bent_system()
    before = Model.of(system)
    rest = mb.equilibrium(system)
    assert np.abs(rest.motions["rod"].modal_coordinates).max() > 1e-3
    changes = description(system, rest)
    assert {element.name for element, _ in changes} >= {"rod", "link", "pin"}
    old = [(element, {name: getattr(element, name) for name in values}) for element, values in changes]
    for element, values in changes:
        element.update(**values)
    eq = mb.Equations(system)
    residual, _ = eq.violation(0.0, eq.coordinates(eq.described()))
    assert np.abs(residual).max() < 1e-8
    after = described_state(system)
    np.testing.assert_allclose(after.position(rod, (1, 0, 0)), rest.position(rod, (1, 0, 0)), atol=1e-10)
    # It is still at rest there: the model is the same, not only closed.
    again = mb.equilibrium(system)
    for name, motion in rest.motions.items():
        np.testing.assert_allclose(again.motions[name].position, motion.position, atol=1e-6)
        np.testing.assert_allclose(again.motions[name].modal_coordinates, motion.modal_coordinates, atol=1e-6)
    for element, values in old:
        element.update(**values)
    assert Model.of(system) == before


# --- the dialog ------------------------------------------------------------------------------------------------------


@pytest.fixture
def dialog(qtbot, document, solver):
    document.new(3)
    data = BeamData("beam", length=1.0)
    made = FlexibleDialog(document, solver, data, flexible_pose([np.zeros(3), np.array([0.0, 0, 1])], np.eye(3)[1]))
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.modes is not None)
    return made


def typed(field, text: str) -> None:
    edit = field.edit
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def test_the_dialog_adds_a_beam(dialog, qtbot):
    document = dialog.document
    assert dialog.add.isEnabled()
    assert "11 nodes" in dialog.facts.text()
    first = dialog.modes.frequencies[0]
    typed(dialog.fields["width"], "0.1")
    qtbot.waitUntil(lambda: dialog.modes is not None)
    assert dialog.modes.component.mass == pytest.approx(2700.0 * 0.1 * 0.05)
    assert dialog.modes.frequencies[0] == pytest.approx(first, rel=1e-9)  # it bends across its width as before
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    (body,) = document.system.bodies
    np.testing.assert_allclose(body.rotation @ [1, 0, 0], [0, 0, 1], atol=1e-12)
    assert body.modes.component.extent == pytest.approx(1.0)
    assert document.undo_stack.count() == 1
    document.undo()
    assert not document.system.bodies


def test_the_dialog_says_what_is_wrong(dialog, qtbot):
    typed(dialog.fields["width"], "-1")
    assert dialog.fields["width"].problem
    assert not dialog.add.isEnabled()
    typed(dialog.fields["width"], "0.05")
    qtbot.waitUntil(dialog.add.isEnabled)
    combo = dialog.fields["section"].combo
    combo.setCurrentIndex(combo.findData("tube"))
    combo.activated.emit(combo.currentIndex())
    assert dialog.rows["wall"][1].isVisible()
    assert not dialog.rows["width"][1].isVisible()
    typed(dialog.fields["wall"], "0.2")
    assert "half of the diameter" in dialog.fields["wall"].problem
    assert not dialog.add.isEnabled()


def test_a_file_that_is_no_component(qtbot, document, solver, tmp_path):
    document.new(3)
    data = ComponentData("component")
    made = FlexibleDialog(document, solver, data, (np.zeros(3), np.eye(3)))
    qtbot.addWidget(made)
    made.show()
    assert "Choose the file" in made.facts.text()
    assert not made.add.isEnabled()
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    made.paths["component"].setText(str(tmp_path / "bad.npz"))
    made.paths["component"].editingFinished.emit()
    qtbot.waitUntil(made.problem.isVisible)
    assert "bad.npz" in made.problem.text()
    part = aluminium_beam(elements=3)
    part.save(tmp_path / "good.npz")
    made.paths["component"].setText(str(tmp_path / "good.npz"))
    made.paths["component"].editingFinished.emit()
    qtbot.waitUntil(made.add.isEnabled)
    assert not made.problem.isVisible()
    made.accept()
    assert document.system.bodies[0].name == "good"


# --- in the window ---------------------------------------------------------------------------------------------------


def test_a_cantilever_by_hand(window, qtbot):  # noqa: F811
    """Two clicks, the dialog, a joint at its end; one step each, and it can be simulated and written as a script."""
    document = window.document
    window.files.new(3)
    qtbot.waitUntil(lambda: window.view.scene is not None)
    builder = Builder(window)
    preset = next(p for p in PRESETS if p.name == "flexible beam")
    assert window.actions_[f"add_{preset.name}"].isEnabled()
    builder.start(preset.name)
    builder.click((0.0, 0.0, 0.0))
    builder.click((0.5, 0.0, 0.0))
    dialog = next(w for w in QApplication.topLevelWidgets() if isinstance(w, FlexibleDialog))
    qtbot.waitUntil(lambda: dialog.modes is not None)
    dialog.accept()
    (beam,) = document.system.bodies
    assert beam.modes.component.extent == pytest.approx(np.linalg.norm(beam.deformed(np.zeros(beam.modes.count))[-1]))
    window.view.camera.fit()
    end = beam.motion.position + beam.motion.rotation @ beam.modes.component.nodes[-1]
    system = document.system
    system_joint = mb.FixedJoint("wall", system.ground, beam, at=end)
    document.add(system_joint)
    assert document.undo_stack.count() == 2
    names: dict = {}
    exec(mb.to_python(system), names)
    result = mb.simulate(system, 0.01)
    assert np.all(np.isfinite(result.modal(beam)))


def test_flexible_bodies_are_spatial(window, qtbot):  # noqa: F811
    window.files.new(2)
    assert not window.actions_["add_flexible beam"].isEnabled()
