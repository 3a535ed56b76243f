"""The document: every change can be undone exactly, refused changes leave no trace, everything is announced."""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pytest

import mbframe as mb
from gui.base.units import DisplayUnits
from gui.document.document import Document
from gui.document.runs import Run, RunSettings
from mbframe.rotations import matrix_from_vector


@pytest.fixture
def four_bar(document):
    document.open_example("four_bar")
    return document


class Heard:
    """What a document announces."""

    def __init__(self, document, *names):
        self.calls = []
        for name in names:
            getattr(document, name).connect(lambda *args, name=name: self.calls.append((name, *args)))

    def __call__(self, name):
        return [call[1:] for call in self.calls if call[0] == name]


# ---- Parameters ---------------------------------------------------------------------------------------------------


def test_a_change_is_announced_and_can_be_undone(four_bar):
    heard = Heard(four_bar, "element_changed", "title_changed")
    bar, before = four_bar.system["bar 1"], four_bar.model_text()
    four_bar.set(bar, mass=7.0)
    assert bar.mass == 7.0
    assert four_bar.dirty
    assert heard("element_changed") == [(bar, "mass")]
    assert heard("title_changed")
    assert four_bar.undo_stack.undoText() == "Change mass of bar 1"
    after = four_bar.model_text()
    four_bar.undo()
    assert four_bar.model_text() == before
    assert not four_bar.dirty
    four_bar.redo()
    assert four_bar.model_text() == after
    assert len(heard("element_changed")) == 3


def test_a_refused_change_leaves_everything_as_it_was(four_bar):
    heard = Heard(four_bar, "element_changed")
    before = four_bar.model_text()
    with pytest.raises(mb.ModelError, match="mass") as refused:
        four_bar.set(four_bar.system["bar 1"], position=(9.0, 9.0), mass=-1.0)
    assert refused.value.problems[0].field == "mass"
    with pytest.raises(mb.ModelError, match="there is no such parameter"):
        four_bar.set(four_bar.system["bar 1"], colour="red")
    assert four_bar.model_text() == before
    assert not four_bar.dirty
    assert four_bar.undo_stack.count() == 0
    assert not heard("element_changed")


def test_setting_what_is_there_is_no_step(four_bar):
    four_bar.set(four_bar.system["bar 1"], mass=four_bar.system["bar 1"].mass)
    assert not four_bar.dirty


def test_several_elements_change_together_or_not_at_all(four_bar):
    first, second = four_bar.system["bar 1"], four_bar.system["bar 2"]
    before = four_bar.model_text()
    with pytest.raises(mb.ModelError):
        four_bar.set_many([(first, {"mass": 5.0}), (second, {"mass": -5.0})])
    assert four_bar.model_text() == before
    four_bar.set_many([(first, {"mass": 5.0}), (second, {"mass": 6.0})], text="Masses")
    assert (first.mass, second.mass) == (5.0, 6.0)
    assert four_bar.undo_stack.count() == 1
    four_bar.undo()
    assert four_bar.model_text() == before


def test_a_gesture_is_one_step(four_bar):
    bar, before = four_bar.system["bar 1"], four_bar.model_text()
    for mass in np.linspace(4.0, 8.0, 20):
        four_bar.set(bar, gesture="drag 1", mass=mass)
    four_bar.set(bar, gesture="drag 2", mass=9.0)
    assert four_bar.undo_stack.count() == 2
    four_bar.undo()
    assert bar.mass == 8.0
    four_bar.undo()
    assert four_bar.model_text() == before
    four_bar.redo()
    assert bar.mass == 8.0


def test_a_gesture_does_not_reach_over_other_steps_or_a_save(four_bar, tmp_path):
    bar = four_bar.system["bar 1"]
    four_bar.set(bar, gesture="g", mass=4.0)
    four_bar.set(bar, inertia=5.0)
    four_bar.set(bar, gesture="g", mass=5.0)
    assert four_bar.undo_stack.count() == 3
    four_bar.save_as(tmp_path / "a.json")
    four_bar.set(bar, gesture="g", mass=6.0)
    assert four_bar.undo_stack.count() == 4
    assert four_bar.dirty
    four_bar.undo()
    assert not four_bar.dirty
    four_bar.set(bar, gesture="g", mass=7.0)
    assert four_bar.undo_stack.count() == 4


def test_a_gesture_may_change_different_parameters(four_bar):
    bar, before = four_bar.system["bar 1"], four_bar.model_text()
    four_bar.set(bar, gesture=1, mass=4.0)
    four_bar.set(bar, gesture=1, inertia=5.0)
    four_bar.set(four_bar.system["spring"], gesture=1, stiffness=5.0)
    assert four_bar.undo_stack.count() == 1
    four_bar.undo()
    assert four_bar.model_text() == before


def test_gravity_belongs_to_the_system(four_bar):
    four_bar.set(four_bar.system, gravity=(0.0, -1.62))
    assert four_bar.undo_stack.undoText() == "Change gravity of four-bar linkage"
    four_bar.undo()
    np.testing.assert_array_equal(four_bar.system.gravity, [0.0, -9.81])


# ---- Moving bodies ------------------------------------------------------------------------------------------------


def test_a_moved_body_takes_its_points_along_in_the_same_step(four_bar):
    system, before = four_bar.system, four_bar.model_text()
    bar, points = system["bar 1"], {name: system[name].at.copy() for name in "ABCD"}
    end = system["spring"].at_j.copy()
    fixed = system["spring"].at_i.copy()
    four_bar.set(bar, position=np.add(bar.position, (0.5, 0.25)))
    np.testing.assert_allclose(system["A"].at, points["A"] + [0.5, 0.25], atol=1e-15)
    np.testing.assert_allclose(system["B"].at, points["B"] + [0.5, 0.25], atol=1e-15)
    np.testing.assert_allclose(system["spring"].at_j, np.add(end, (0.5, 0.25)), atol=1e-15)
    np.testing.assert_array_equal(system["C"].at, points["C"])
    np.testing.assert_array_equal(system["spring"].at_i, fixed)
    assert four_bar.undo_stack.count() == 1
    four_bar.undo()
    assert four_bar.model_text() == before


def test_points_keep_their_place_on_a_body_that_turns(document):
    system = mb.System("turning")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 2.0, 3.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(2.0, 2.0, 3.0), axis=(1.0, 2.0, 2.0)))
    spring = system.add(
        mb.SpringDamper("spring", system.ground, body, at_i=(0, 0, 0), at_j=(1, 3, 3), stiffness=1.0, free_length=0.0)
    )
    document.open_system(system)
    local = hinge.j.local_point, hinge.j.local_axes, spring.j.local_point
    turn = mb.RigidBody("r", mass=1.0, inertia=(1, 1, 1), rotation=(np.cos(0.3), 0.0, np.sin(0.3), 0.0)).rotation
    document.set(body, rotation=turn, position=(0.0, -1.0, 0.5))
    np.testing.assert_allclose(hinge.j.local_point, local[0], atol=1e-14)
    np.testing.assert_allclose(hinge.j.local_axes, local[1], atol=1e-14)
    np.testing.assert_allclose(spring.j.local_point, local[2], atol=1e-14)
    np.testing.assert_array_equal(spring.at_i, [0, 0, 0])
    document.undo()
    np.testing.assert_array_equal(hinge.at, [2.0, 2.0, 3.0])
    np.testing.assert_array_equal(body.rotation, np.eye(3))


def test_an_angle_in_the_plane_turns_points_too(four_bar):
    bar, joint = four_bar.system["bar 1"], four_bar.system["B"]
    local = joint.i.local_point
    four_bar.set(bar, angle=bar.angle + 0.7)
    np.testing.assert_allclose(joint.i.local_point, local, atol=1e-14)


def test_a_drag_returns_exactly(four_bar):
    before, bar = four_bar.model_text(), four_bar.system["bar 2"]
    for shift in np.linspace(0.0, 1.3, 37):
        four_bar.set(bar, gesture="drag", position=[shift, -2.0 * shift])
    assert four_bar.undo_stack.count() == 1
    four_bar.undo()
    assert four_bar.model_text() == before


# ---- Structure ----------------------------------------------------------------------------------------------------


def test_added_elements_are_selected(four_bar):
    heard = Heard(four_bar, "structure_changed", "selection_changed")
    ball = four_bar.add(mb.PlanarBody("ball", mass=1.0, inertia=1.0))
    assert heard("structure_changed")
    assert heard("selection_changed") == [(ball,)]
    four_bar.undo()
    assert "ball" not in four_bar.system
    assert four_bar.selection is None
    four_bar.redo()
    assert four_bar.system["ball"] is ball


def test_a_name_that_is_taken_is_refused(four_bar):
    before = four_bar.model_text()
    with pytest.raises(mb.ModelError, match="taken"):
        four_bar.add(mb.PlanarBody("bar 1", mass=1.0, inertia=1.0))
    with pytest.raises(mb.ModelError, match="taken"):
        four_bar.rename(four_bar.system["bar 1"], "bar 2")
    with pytest.raises(mb.ModelError, match="non-empty"):
        four_bar.rename(four_bar.system["bar 1"], " ")
    assert four_bar.model_text() == before
    assert not four_bar.dirty


def test_removing_takes_dependents_along_and_restores_the_order(four_bar):
    before, bar = four_bar.model_text(), four_bar.system["bar 1"]
    four_bar.select(bar)
    assert [element.name for element in four_bar.dependents(bar)] == ["A", "B", "spring"]
    four_bar.remove(bar)
    assert [element.name for element in four_bar.system] == ["ground", "bar 2", "bar 3", "C", "D"]
    assert four_bar.undo_stack.undoText() == "Delete bar 1 and 3 that depend on it"
    assert four_bar.selection is None
    after = four_bar.model_text()
    four_bar.undo()
    assert four_bar.model_text() == before
    assert four_bar.system["bar 1"] is bar
    four_bar.redo()
    assert four_bar.model_text() == after


def test_several_are_removed_together_and_the_ground_never(four_bar):
    before = four_bar.model_text()
    with pytest.raises(mb.ModelError, match="ground"):
        four_bar.remove([four_bar.system["A"], four_bar.system.ground])
    assert four_bar.model_text() == before
    four_bar.remove([four_bar.system["spring"], four_bar.system["bar 1"], four_bar.system["A"]])
    four_bar.undo()
    assert four_bar.model_text() == before


def test_long_chains_of_dependents_are_removed(document):
    document.open_example("quick_return")
    before = document.model_text()
    for body in list(document.system.bodies):
        document.remove(body)
    assert [element.name for element in document.system] == ["ground"]
    while document.undo_stack.canUndo():
        document.undo()
    assert document.model_text() == before


def test_renaming_keeps_the_order(four_bar):
    before = four_bar.model_text()
    names = [element.name for element in four_bar.system]
    four_bar.rename(four_bar.system["bar 1"], "crank")
    assert [element.name for element in four_bar.system] == [n if n != "bar 1" else "crank" for n in names]
    four_bar.rename(four_bar.system, "linkage")
    assert four_bar.title == "linkage"
    four_bar.undo()
    four_bar.undo()
    assert four_bar.model_text() == before


def test_duplicates_have_names_of_their_own(four_bar):
    twin = four_bar.duplicate(four_bar.system["bar 1"])
    assert twin.name == "bar 4"
    assert not np.array_equal(twin.position, four_bar.system["bar 1"].position)
    assert four_bar.duplicate(four_bar.system["spring"]).name == "spring 2"
    assert four_bar.duplicate(four_bar.system["spring"]).name == "spring 3"
    with pytest.raises(mb.ModelError, match="one ground"):
        four_bar.duplicate(four_bar.system.ground)


@pytest.mark.parametrize("name", ["four_bar", "whipple_bicycle", "watt_governor"])
@pytest.mark.parametrize("seed", [0, 1])
def test_undo_all_the_way_and_redo_all_the_way(document, name, seed):
    document.open_example(name)
    draw = random.Random(seed)
    texts, steps = [document.model_text()], 0
    while steps < 60:
        element = draw.choice(list(document.system))
        action = draw.choice(["number", "number", "move", "remove", "rename", "duplicate", "undo"])
        try:
            if action == "number":
                numbers = [n for n, p in element.parameters().items() if p.kind == "number"]
                if numbers:
                    document.set(element, **{draw.choice(numbers): draw.uniform(0.1, 3.0)})
            elif action == "move" and isinstance(element, mb.Body):
                document.set(element, gesture=steps // 3, position=element.position + draw.uniform(-1, 1))
            elif action == "remove" and draw.random() < 0.3:
                document.remove(element)
            elif action == "rename":
                document.rename(element, f"{element.name[:6]} {steps}")
            elif action == "duplicate":
                document.duplicate(element)
            elif action == "undo":
                document.undo()
        except mb.ModelError:
            pass
        steps += 1
    end, count = document.model_text(), document.undo_stack.index()
    assert count > 10
    while document.undo_stack.canUndo():
        document.undo()
        texts.append(document.model_text())
    assert texts[-1] == texts[0]
    for _ in range(count):
        document.redo()
    assert document.model_text() == end


# ---- Files --------------------------------------------------------------------------------------------------------


def test_save_and_open_again(four_bar, tmp_path, qtbot):
    four_bar.set(four_bar.system["bar 1"], mass=7.0)
    four_bar.runs.settings = RunSettings("accurate", 2.5)
    text = four_bar.model_text()
    with qtbot.waitSignal(four_bar.title_changed):
        four_bar.save_as(tmp_path / "linkage")
    assert four_bar.path == tmp_path / "linkage.json"
    assert four_bar.title == "linkage.json"
    assert not four_bar.dirty
    four_bar.undo()
    assert four_bar.dirty
    other = Document()
    heard = Heard(other, "replaced")
    other.open(tmp_path / "linkage.json")
    assert heard("replaced")
    assert other.model_text() == text
    assert other.runs.settings == RunSettings("accurate", 2.5)
    assert not other.dirty
    other.set(other.system["bar 2"], mass=8.0)
    other.save()
    assert mb.load(tmp_path / "linkage.json")["bar 2"].mass == 8.0


@pytest.mark.parametrize(
    "content", ["", "{", "[1, 2]", '{"format": "mbframe model", "version": 99}', "\x00\x01", '{"elements": 3}']
)
def test_a_broken_file_leaves_the_document_as_it_was(four_bar, tmp_path, content):
    four_bar.set(four_bar.system["bar 1"], mass=7.0)
    system, text = four_bar.system, four_bar.model_text()
    for suffix in (".json", ".h5"):
        path = tmp_path / f"broken{suffix}"
        path.write_text(content)
        with pytest.raises(mb.ModelError) as refused:
            four_bar.open(path)
        assert str(refused.value)
    assert four_bar.system is system
    assert four_bar.model_text() == text
    assert four_bar.dirty
    with pytest.raises(mb.ModelError, match="no such file"):
        four_bar.open(tmp_path / "nothing.json")
    with pytest.raises(mb.ModelError, match="no example"):
        four_bar.open_example("perpetual_motion")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused_by_permission(four_bar, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(mb.ModelError, match="cannot be written"):
        four_bar.save_as(tmp_path / "a.json")


def test_a_folder_that_cannot_be_written_keeps_the_changes(four_bar, tmp_path, monkeypatch):
    four_bar.set(four_bar.system["bar 1"], mass=7.0)
    with pytest.raises(mb.ModelError, match="no folder"):
        four_bar.save_as(tmp_path / "nowhere" / "a.json")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(mb.ModelError, match="cannot be written"):
        four_bar.save_as(tmp_path / "a.json")
    with pytest.raises(mb.ModelError, match="save it under a name"):
        four_bar.save()
    with pytest.raises(mb.ModelError, match=r"\.json"):
        four_bar.save_as(tmp_path / "a.h5")
    assert four_bar.dirty
    assert four_bar.path is None
    assert four_bar.example == "four_bar"


def test_a_missing_mesh_is_told(document, tmp_path):
    system = mb.System("meshed")
    system.add(mb.PointMass("ball", mass=1.0, shapes=[mb.Mesh(str(tmp_path / "ball.stl"))]))
    mb.save(system, tmp_path / "meshed.json")
    document.open(tmp_path / "meshed.json")
    assert "ball" in document.system
    (message,) = document.messages
    assert message.level == "warning"
    assert "no mesh file" in message.text
    assert message.element is document.system["ball"]


def test_a_model_with_a_function_of_python_can_be_used_but_not_saved(document, tmp_path):
    system = mb.System("pushed")
    ball = system.add(mb.PointMass("ball", mass=1.0))
    system.add(mb.PointForce("push", ball, force=(lambda t: t, 0.0, 0.0)))
    document.open_system(system)
    assert "push" in document.unsavable()
    before = document.model_text()
    document.set(ball, mass=2.0)
    assert document.model_text() != before
    document.undo()
    assert document.model_text() == before
    with pytest.raises(mb.ModelError, match="push"):
        document.save_as(tmp_path / "a.json")
    document.remove(system["push"])
    assert document.unsavable() == ""


def test_a_result_opens_with_its_model_and_its_run(document, tmp_path):
    system = mb.examples.simple_pendulum()
    result = mb.simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 6))
    result.save(tmp_path / "swing.h5")
    document.open(tmp_path / "swing.h5")
    (run,) = document.runs
    assert run is document.runs.current
    assert (run.name, run.complete, run.stale, len(run.result)) == ("swing", True, False, 6)
    assert document.path is None
    body = document.system.bodies[0]
    document.set(body, mass=body.mass + 1.0)
    assert run.stale
    np.testing.assert_allclose(run.result.energy.total, result.energy.total, rtol=1e-12)  # not that of the new mass
    document.undo()
    assert not run.stale


def test_new_documents_have_a_dimension(document):
    document.open_example("four_bar")
    document.new(dimension=2)
    assert document.system.dimension == 2
    assert (document.title, document.example, list(document.runs)) == ("Untitled", None, [])
    document.new()
    assert document.system.dimension == 3


def test_a_recovered_system_counts_as_changed(document, tmp_path):
    document.open_system(mb.examples.four_bar(), tmp_path / "a.json", changed=True)
    assert document.dirty
    document.save()
    assert not document.dirty
    assert json.loads((tmp_path / "a.json").read_text())["name"] == "four-bar linkage"


# ---- Runs ---------------------------------------------------------------------------------------------------------


def test_runs_are_kept_coloured_and_marked_stale(four_bar):
    heard = Heard(four_bar.runs, "changed", "current_changed")
    for run in list(four_bar.runs):
        four_bar.runs.remove(run)
    assert four_bar.runs.current is None
    first = Run(four_bar.runs.next_name(), model_text=four_bar.model_text())
    four_bar.runs.add(first)
    four_bar.set(four_bar.system["bar 1"], mass=7.0)
    assert first.stale
    second = Run(four_bar.runs.next_name(), model_text=four_bar.model_text())
    four_bar.runs.add(second)
    assert [run.name for run in four_bar.runs] == ["Run 1", "Run 2"]
    assert first.color != second.color
    assert (first.stale, second.stale) == (True, False)
    four_bar.undo()
    assert (first.stale, second.stale) == (False, True)
    assert heard("current_changed")[-1] == (second,)
    four_bar.runs.choose(first)
    assert heard("current_changed")[-1] == (first,)
    four_bar.runs.remove(first)
    assert four_bar.runs.current is second
    assert heard("changed")


def test_temporary_files_go_with_their_run(four_bar, tmp_path):
    kept, removed = tmp_path / "kept.h5", tmp_path / "removed.h5"
    for path in (kept, removed):
        path.touch()
    four_bar.runs.add(Run("a", path=kept))
    four_bar.runs.add(Run("b", path=removed, temporary=True))
    four_bar.new()
    assert kept.exists()
    assert not removed.exists()


# ---- Selection, time, units, messages -----------------------------------------------------------------------------


def test_what_is_shown_is_announced_once(four_bar):
    heard = Heard(
        four_bar, "selection_changed", "time_changed", "state_shown", "units_changed", "animation_owner_changed"
    )
    four_bar.select(four_bar.system["A"])
    four_bar.select(four_bar.system["A"])
    assert heard("selection_changed") == [(four_bar.system["A"],)]
    four_bar.set_time(0.5)
    four_bar.set_time(0.5)
    assert heard("time_changed") == [(0.5,)]
    state = object()
    four_bar.show(state)
    assert heard("state_shown") == [(state,)]
    assert four_bar.shown_state is state
    four_bar.units = DisplayUnits("mm/deg")
    four_bar.units = DisplayUnits("mm/deg")
    assert heard("units_changed") == [()]
    four_bar.animation_owner = "player"
    four_bar.animation_owner = "player"
    assert heard("animation_owner_changed") == [("player",)]


def test_messages_name_the_element(four_bar):
    heard = Heard(four_bar.messages, "posted")
    error = mb.ModelError([four_bar.system["B"].problem("at", "does not close")])
    four_bar.messages.post_error(error)
    (message,) = [args[0] for args in heard("posted")]
    assert message.element is four_bar.system["B"]
    assert message.level == "error"
    assert "does not close" in message.text
    four_bar.messages.post_error(ValueError("odd"))
    assert four_bar.messages[-1].text == "odd."
    with pytest.raises(ValueError, match="level"):
        four_bar.messages.post("x", "panic")
    for number in range(600):
        four_bar.messages.post(str(number))
    assert len(four_bar.messages) == 500


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_turned_wheel_leaves_its_road_in_place(document, axis):
    document.open_example("car_suspension")
    tire = next(element for element in document.system.forces if isinstance(element, mb.Tire))
    road = [value.copy() for value in (tire.plane_point, tire.normal, tire.direction)]
    angles = np.zeros(3)
    angles[axis] = np.radians(5.0)
    document.set(tire.body_j, rotation=matrix_from_vector(angles))
    assert all(map(np.array_equal, road, (tire.plane_point, tire.normal, tire.direction)))
