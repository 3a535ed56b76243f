"""The description of a mechanism: names, lookup, removal, copies, and sub-assemblies moved as a whole."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb

TURN = Rotation.from_rotvec([0.8, -0.5, 1.7])
A = TURN.as_matrix()
SHIFT = np.array([2.0, -1.0, 0.5])


def bar(name: str = "bar", **values) -> mb.RigidBody:
    return mb.RigidBody(name, **({"mass": 2.0, "inertia": (0.1, 0.7, 0.7)} | values))


class Orthogonal(mb.BasicConstraint):
    """Depends on the x and y axes of its markers, which `axis` alone does not fix."""

    equations = 1

    def residual(self, t, i, j):
        return [i.axes[:, 0] @ j.axes[:, 1]]


class Mount(mb.ForceElement):
    """An elastic mount with another stiffness in each direction of the first marker's axes."""

    stiffness = mb.parameter((100.0, 200.0, 400.0), unit="N/m")

    def wrench(self, t, i, j):
        offset = i.axes.T @ (i.position - j.position)
        return i.axes @ (self.stiffness * offset), np.zeros(3)


def pendulum(gravity=(0.0, 0.0, -9.81)) -> mb.System:
    """Two bars with every kind of element, moving in space."""
    system = mb.System("pendulum", gravity=gravity)
    upper = system.add(
        bar("upper", position=(0.5, 0.0, 0.0), center_of_mass=(0.1, 0.05, 0.0), angular_velocity=(0.0, 0.0, 2.0))
    )
    upper.velocity = (0.0, 1.0, 0.0)
    turn = Rotation.from_rotvec([0.3, 0.2, -0.4])
    lower = system.add(bar("lower", position=(1.0, 0.0, -0.5), rotation=turn, velocity=(0.0, 2.0, 0.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, upper, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.SphericalJoint("ball", upper, lower, at=(1, 0, 0)))
    system.add(Orthogonal("square", upper, lower, at=(1, 0, 0), axis=(1, 1, 3)))
    system.add(
        mb.SpringDamper("spring", system.ground, lower, at_i=(0, 1, 0), stiffness=30.0, damping=2.0, free_length=0.0)
    )
    system.add(Mount("mount", upper, lower, at_i=(1, 0, -0.5)))
    system.add(mb.Displacement("stroke", upper, lower, at_i=(0, 0, 0), axis=(1, 2, 3)))
    return system


# --- names -----------------------------------------------------------------------------------------------------------


def test_elements_are_found_by_name_and_kind():
    system = pendulum()
    assert system["upper"] is system.bodies[0]
    assert [e.name for e in system.bodies] == ["upper", "lower"]
    assert [e.name for e in system.joints] == ["hinge", "ball", "square"]
    assert [e.name for e in system.forces] == ["spring", "mount"]
    assert [e.name for e in system.measures] == ["stroke"]
    assert system["ground"] is system.ground
    assert len(system) == 9
    assert next(iter(system)) is system.ground


def test_membership_by_name_and_by_object():
    system = pendulum()
    assert "upper" in system
    assert system["upper"] in system
    assert "Upper" not in system
    assert bar("upper") not in system  # another object of the same name
    assert 3 not in system


def test_add_returns_the_element():
    body = bar()
    assert mb.System("s").add(body) is body


def test_a_name_is_given_once():
    system = pendulum()
    with pytest.raises(mb.ModelError) as caught:
        system.add(bar("hinge"))
    assert str(caught.value) == (
        "RigidBody 'hinge', name: found 'hinge', which is taken by RevoluteJoint 'hinge' in system 'pendulum'; "
        "choose another name"
    )
    with pytest.raises(mb.ModelError, match="taken by Ground 'ground'"):
        system.add(bar("ground"))
    assert len(system) == 9


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(mb.ModelError, match=r"^System 'pendulum': there is no element 'uper'; did you mean 'upper'\?$"):
        pendulum()["uper"]
    with pytest.raises(mb.ModelError, match=r"there is no element 'xyz'$"):
        pendulum()["xyz"]


def test_renaming_keeps_lookup_and_order():
    system = pendulum()
    body = system["upper"]
    body.name = "arm"
    assert system["arm"] is body
    assert "upper" not in system
    assert [b.name for b in system.bodies] == ["arm", "lower"]
    body.name = "arm"  # its own name is not taken
    assert system["arm"] is body


def test_renaming_to_a_taken_name_is_refused_and_changes_nothing():
    system = pendulum()
    body = system["upper"]
    with pytest.raises(
        mb.ModelError, match="RigidBody 'upper', name: found 'lower', which is taken by RigidBody 'lower'"
    ):
        body.name = "lower"
    assert body.name == "upper"
    assert system["upper"] is body


def test_removal():
    system = pendulum()
    spring = system["spring"]
    system.remove("spring")
    system.remove("stroke")
    system.remove(system["mount"])
    assert system.forces == []
    with pytest.raises(mb.ModelError, match="'lower': cannot be removed; remove first what is attached: ball, square"):
        system.remove("lower")
    with pytest.raises(mb.ModelError, match="Ground 'ground': cannot be removed"):
        system.remove(system.ground)
    with pytest.raises(mb.ModelError, match="there is no element 'spring'"):
        system.remove("spring")
    with pytest.raises(mb.ModelError, match="RigidBody 'lower' is not in this system"):
        system.remove(bar("lower"))  # another object of the same name
    spring.name = "lower"  # what was removed is free
    assert system["lower"] is system.bodies[1]
    system.add(bar("spring"))


def test_only_elements_with_bodies_of_the_system_are_added():
    system = mb.System("s")
    body, stranger = system.add(bar("a")), bar("b")
    for wrong in ("a", mb.RigidBody, None):
        with pytest.raises(mb.ModelError, match=r"only bodies, .*, measures, inputs and controllers can be added"):
            system.add(wrong)
    with pytest.raises(mb.ModelError, match=r"include\(...\) takes systems"):
        system.add(mb.System("other"))
    with pytest.raises(
        mb.ModelError, match="'j', body_j: found RigidBody 'b', which is not in system 's'; add it first"
    ):
        system.add(mb.SphericalJoint("j", body, stranger, at=(0, 0, 0)))
    with pytest.raises(mb.ModelError, match="'j', body_i: found Ground 'ground', which is not in system 's'"):
        system.add(mb.SpringDamper("j", mb.System("other").ground, body, free_length=1.0))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["copy", "deepcopy", "pickle"]
)
def test_copies_are_whole_systems(duplicate):
    system = mb.System("s", gravity=(0, 0, -1.62))
    body = system.add(bar())
    system.add(mb.SphericalJoint("pin", system.ground, body, at=(0, 0, 0)))
    twin = duplicate(system)
    assert twin["pin"].body_j is twin["bar"]
    assert twin["pin"].body_i is twin.ground
    assert twin["bar"] is not body
    twin["bar"].name = "rod"
    assert twin["rod"].name == "rod"
    assert "bar" not in twin
    assert system["bar"] is body
    np.testing.assert_array_equal(twin.gravity, system.gravity)


# --- sub-assemblies --------------------------------------------------------------------------------------------------


def test_included_elements_are_prefixed_copies_that_refer_to_each_other():
    part, system = pendulum(), mb.System("whole")
    copies = system.include(part, "left ")
    system.include(part, "right ", position=SHIFT, rotation=TURN)
    assert [e.name for e in system][1:9] == [f"left {e.name}" for e in part][1:]
    assert set(copies) == {e.name for e in part}
    assert copies["ball"] is system["left ball"]
    assert copies["ball"].body_i is system["left upper"]
    assert system["right ball"].body_j is system["right lower"]
    assert copies["hinge"].body_i is system.ground


def test_the_original_is_untouched():
    part, system = pendulum(), mb.System("whole")
    before = {e.name: repr(e) for e in part}
    system.include(part, "p ", position=SHIFT, rotation=TURN)
    assert {e.name: repr(e) for e in part} == before
    system["p upper"].mass = 99.0
    system["p spring"].name = "other"
    assert {e.name: repr(e) for e in part} == before
    part["upper"].name = "renamed"
    assert "p upper" in system


def test_global_quantities_move_as_one_rigid_whole():
    part, system = pendulum(), mb.System("whole")
    system.include(part, "", position=SHIFT, rotation=TURN)
    for body in part.bodies:
        twin = system[body.name]
        np.testing.assert_allclose(twin.position, A @ body.position + SHIFT, atol=1e-15)
        np.testing.assert_allclose(twin.rotation, A @ body.rotation, atol=1e-15)
        np.testing.assert_allclose(twin.velocity, A @ body.velocity, atol=1e-15)
        np.testing.assert_allclose(twin.angular_velocity, A @ body.angular_velocity, atol=1e-15)
        np.testing.assert_array_equal(twin.center_of_mass, body.center_of_mass)
        np.testing.assert_array_equal(twin.inertia, body.inertia)
    np.testing.assert_allclose(system["square"].axis, TURN.apply((1, 1, 3)), atol=1e-15)
    np.testing.assert_allclose(system["spring"].at_i, TURN.apply((0, 1, 0)) + SHIFT, atol=1e-15)
    assert system["spring"].at_j is None


def test_a_moved_copy_moves_as_the_original_seen_from_a_moved_frame():
    part = pendulum()
    system = mb.System("whole", gravity=A @ part.gravity)
    system.include(part, "p ", position=SHIFT, rotation=TURN)
    instants = np.linspace(0.0, 1.0, 5)
    options = {"integrator": mb.DormandPrince(rtol=1e-11), "stabilization": mb.DirectCorrection(), "t_eval": instants}
    original, moved = (mb.simulate(s, 1.0, **options) for s in (part, system))
    assert np.abs(np.diff(original.position("lower"), axis=0)).max() > 0.1
    for name in ("upper", "lower"):
        expected = TURN.apply(original.position(name, (0.3, 0.2, 0.1))) + SHIFT
        np.testing.assert_allclose(moved.position(f"p {name}", (0.3, 0.2, 0.1)), expected, atol=1e-8)
        np.testing.assert_allclose(moved.velocity(f"p {name}"), TURN.apply(original.velocity(name)), atol=1e-8)
        difference = moved.rotation(f"p {name}") * (TURN * original.rotation(name)).inv()
        assert difference.magnitude().max() < 1e-8
    np.testing.assert_allclose(moved.measure("p stroke"), original.measure("stroke"), atol=1e-8)
    for name in ("hinge", "ball", "square"):
        for quantity in ("force", "torque"):
            found = getattr(moved.reaction(f"p {name}"), quantity)
            expected = TURN.apply(getattr(original.reaction(name), quantity))
            np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=f"{name} {quantity}")


def test_assemblies_nest():
    inner, middle, outer = pendulum(), mb.System("middle"), mb.System("outer")
    middle.include(inner, "a ", position=SHIFT, rotation=TURN)
    outer.include(middle, "b ", position=(0, 0, 1), rotation=TURN.inv())
    expected = inner["lower"].position + TURN.inv().apply(SHIFT) + [0, 0, 1]
    np.testing.assert_allclose(outer["b a lower"].position, expected, atol=1e-14)
    np.testing.assert_allclose(outer["b a square"].i.axes, inner["square"].i.axes, atol=1e-14)
    assert outer["b a ball"].body_j is outer["b a lower"]


def test_constraints_made_from_markers_go_along():
    """One that was made from two markers acts between the copies of their bodies, at the moved markers."""
    part = mb.System("part")
    first = part.add(mb.RigidBody("first", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0)))
    second = part.add(mb.RigidBody("second", mass=2.0, inertia=(2, 2, 2), position=(2, 0, 0)))
    held = part.add(
        mb.Coincident(mb.Marker(first, at=(1.5, 0.2, 0)), mb.Marker(second, at=(1.5, 0.2, 0), axis=(1, 0, 0)))
    )
    system = mb.System("whole")
    copies = system.include(part, "p ", position=SHIFT, rotation=TURN)
    twin = copies[held.name]
    for end, original, body in ((twin.i, held.i, "first"), (twin.j, held.j, "second")):
        assert end.body is copies[body]
        np.testing.assert_allclose(end.at, A @ original.at + SHIFT, atol=1e-15)
        np.testing.assert_allclose(end.axes, A @ original.axes, atol=1e-15)
        np.testing.assert_allclose(end.local_point, original.local_point, atol=1e-14)
        np.testing.assert_allclose(end.local_axes, original.local_axes, atol=1e-14)
    part["first"].position = (5, 5, 5)  # the copy does not know the original any more
    assert mb.degrees_of_freedom(system).count == 9
    assert mb.evaluate(system).violation.position[0] < 1e-14


def test_a_system_may_include_itself():
    system = pendulum()
    system.include(system, "second ")
    assert len(system) == 17
    assert system["second ball"].body_i is system["second upper"]


def test_a_clash_of_names_includes_nothing():
    system = mb.System("whole")
    system.add(bar("p spring"))
    with pytest.raises(
        mb.ModelError, match=r"found 'p spring', which is taken by RigidBody 'p spring' .* another prefix"
    ):
        system.include(pendulum(), "p ")
    assert [e.name for e in system] == ["ground", "p spring"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"position": (1, 2)}, "System 'whole', include, position: found .* give 3 numbers"),
        ({"rotation": (1, 2, 3, 4)}, "System 'whole', include, rotation: found .* divide the quaternion by its norm"),
    ],
)
def test_a_senseless_pose_is_refused(values, message):
    system = mb.System("whole")
    with pytest.raises(mb.ModelError, match=message):
        system.include(pendulum(), "p ", **values)
    with pytest.raises(mb.ModelError, match="allowed is a system"):
        system.include("pendulum", "p ")
    assert len(system) == 1


def test_dependents_are_found_over_several_steps_nearest_first():
    system = mb.System("pair")
    first, second = system.add(bar("first")), system.add(bar("second"))
    hinge = system.add(mb.RevoluteJoint("hinge", first, second, at=(0, 0, 0), axis=(0.0, 0.0, 1.0)))
    driver = system.add(mb.Driver("motor", joint=hinge, angle="t"))
    assert system.dependents(first) == [hinge, driver]
    assert system.dependents(hinge) == [driver]
    assert system.dependents(driver) == []


def test_a_removed_element_can_come_back_to_its_place():
    system = pendulum()
    names = [element.name for element in system]
    removed = [*reversed(system.dependents(system["upper"])), system["upper"]]
    for element in removed:
        system.remove(element)
    for element in reversed(removed):
        system.add(element)
    assert [element.name for element in system] != names
    system.reorder(names)
    assert [element.name for element in system] == names
    system["upper"].name = "above"  # which it hears of once, not as often as it was added
    assert "above" in system
    assert "upper" not in system
    with pytest.raises(mb.ModelError, match="allowed are those of all elements, each once"):
        system.reorder(names)


def test_a_removed_element_may_take_any_name():
    system = mb.System("pair")
    first, second = system.add(bar("first")), system.add(bar("second"))
    system.remove(first)
    first.name = second.name
    assert system["second"] is second


def test_a_reordered_system_is_included_whole():
    """Lists may show joints before bodies; copies refer to each other all the same, in the order of the original."""
    part = mb.System("part")
    bar = part.add(mb.RigidBody("bar", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0)))
    hinge = part.add(mb.RevoluteJoint("hinge", part.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    part.add(mb.Driver("motor", hinge, angle="t"))
    part.reorder(["motor", "hinge", "ground", "bar"])
    whole = mb.System("whole")
    copies = whole.include(part, "left ")
    assert [element.name for element in whole] == ["ground", "left motor", "left hinge", "left bar"]
    assert copies["motor"].joint is whole["left hinge"]
    assert copies["hinge"].body_j is whole["left bar"]


def test_a_prefix_is_a_text():
    whole = mb.System("whole")
    with pytest.raises(mb.ModelError, match="include, prefix: found 3; allowed is a text"):
        whole.include(mb.System("part"), 3)


def test_a_name_that_one_of_two_systems_refuses_changes_neither():
    first, second = mb.System("first"), mb.System("second")
    shared = first.add(mb.PointMass("shared", mass=1.0))
    second.add(shared)
    second.add(mb.PointMass("taken", mass=1.0))
    with pytest.raises(mb.ModelError, match="which is taken by PointMass 'taken' in system 'second'"):
        shared.name = "taken"
    assert shared.name == "shared"
    assert first["shared"] is second["shared"] is shared
    assert "taken" not in first
