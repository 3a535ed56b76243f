"""Joints that are told by a point and an axis on each body: the same joints, wherever the bodies are described."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb

TURN = Rotation.from_rotvec([0.4, -0.9, 0.3])


def arm(local: bool, place: Rotation = TURN, shift: Any = (0.3, -2.0, 1.0)) -> mb.System:
    """Three links: a hinge on the ground, a hinge across it, a ball; the second link's own axes are turned."""
    system = mb.System("arm")
    own = [Rotation.identity(), Rotation.from_euler("xyz", [0.3, -1.1, 2.0]), Rotation.from_euler("z", 0.7)]
    centres = np.array([[0.4, 0.0, 0.0], [1.1, 0.0, 0.0], [1.6, 0.0, 0.0]])
    points = np.array([[0.0, 0.0, 0.0], [0.8, 0.0, 0.0], [1.4, 0.0, 0.0]])
    axes = np.array([[0.0, 1.0, 0.0], [0.2, 0.0, 1.0], [0.0, 0.0, 1.0]])
    bodies: list[mb.Body] = [system.ground]
    for k in range(3):
        rotation = place * own[k]
        bodies.append(
            system.add(
                mb.RigidBody(
                    f"link {k}",
                    mass=1.0 + k,
                    inertia=(0.02, 0.05, 0.06),
                    position=place.apply(centres[k]) + shift,
                    rotation=rotation,
                )
            )
        )
    for k, cls in enumerate((mb.RevoluteJoint, mb.RevoluteJoint, mb.SphericalJoint)):
        i, j = bodies[k], bodies[k + 1]
        at, axis = place.apply(points[k]) + shift, place.apply(axes[k])
        values: dict[str, Any] = {"at": at, "axis": axis}
        if local:
            values = {"local": True}
            for side, body in (("i", i), ("j", j)):
                values[f"at_{side}"] = body.rotation.T @ (at - body.position)
                values[f"axis_{side}"] = body.rotation.T @ axis
        system.add(cls(f"joint {k}", i, j, **values))
    return system


def four_bar(local: bool) -> mb.System:
    """In the plane; the crank is turned and described by its end."""
    system = mb.System("four-bar", dimension=2)
    a, b, c, d = np.array([[0.0, 0.0], [0.0, 0.3], [0.8, 0.6], [0.7, 0.0]])

    def bar(name: str, start: Any, end: Any, where: float) -> mb.PlanarBody:
        angle = float(np.arctan2(*(end - start)[::-1]))
        return system.add(
            mb.PlanarBody(name, mass=1.0, inertia=0.02, position=start + where * (end - start), angle=angle)
        )

    crank, coupler, rocker = bar("crank", a, b, 0.0), bar("coupler", b, c, 0.5), bar("rocker", d, c, 0.25)
    pairs = {
        "A": (system.ground, crank, a),
        "B": (crank, coupler, b),
        "C": (coupler, rocker, c),
        "D": (system.ground, rocker, d),
    }
    for name, (i, j, at) in pairs.items():
        if local:
            own = {side: body.rotation[:2, :2].T @ (at - body.position) for side, body in (("i", i), ("j", j))}
            system.add(mb.RevoluteJoint(name, i, j, local=True, at_i=own["i"], at_j=own["j"]))
        else:
            system.add(mb.RevoluteJoint(name, i, j, at=at))
    return system


def motion(system: mb.System, **more: Any) -> np.ndarray[Any, Any]:
    result = mb.simulate(system, 0.5, dt=0.005, integrator=mb.RungeKutta4(), **more)
    return np.hstack([np.hstack([result.position(b), result.velocity(b)]) for b in system.bodies])


@pytest.mark.parametrize("build", [arm, four_bar])
def test_a_mechanism_moves_alike_however_its_joints_are_told(build: Any) -> None:
    local, told = build(True), build(False)
    np.testing.assert_allclose(motion(local), motion(told), atol=1e-12)
    freedoms = [mb.degrees_of_freedom(system).count for system in (local, told)]
    assert freedoms[0] == freedoms[1] > 0


def one(local: dict[str, Any], cls: Any = mb.RevoluteJoint, **body: Any) -> mb.System:
    system = mb.System("one", gravity=(0, 0, 0))
    mass: dict[str, Any] = {"mass": 1.0, "inertia": (0.1, 0.2, 0.25)}
    system.add(cls("joint", system.ground, system.add(mb.RigidBody("body", **mass, **body)), local=True, **local))
    return system


HINGE = {"at_i": (0, 0, 0.5), "at_j": (-0.5, 0, 0), "axis_i": (0, 0, 1), "axis_j": (0, 0, 1)}


def test_the_angle_is_zero_where_the_x_axes_coincide() -> None:
    """Wherever the body is described: at 0.6 rad, the angle is 0.6 there and a driver counts from zero."""
    turned = Rotation.from_euler("z", 0.6)
    system = one(
        HINGE, position=turned.apply([0.5, 0, 0]) + HINGE["at_i"], rotation=turned, angular_velocity=(0, 0, 2.0)
    )
    system["body"].velocity = np.cross([0, 0, 2.0], turned.apply([0.5, 0, 0]))
    result = mb.simulate(system, 4.0, dt=0.01)
    np.testing.assert_allclose(result.quantity("joint.angle").values, 0.6 + 2.0 * result.t, atol=1e-8)
    state = mb.assemble(system, joints={"joint": 0.2})
    np.testing.assert_allclose(state.motions["body"].rotation, Rotation.from_euler("z", 0.2).as_matrix(), atol=1e-9)
    system.add(mb.Driver("motor", system["joint"], angle="0.6 + 2*t"))
    np.testing.assert_allclose(mb.simulate(system, 1.0, dt=0.01).quantity("joint.angle").values[-1], 2.6, atol=1e-8)
    mb.describe(system, result.state(-1))
    np.testing.assert_array_equal(system["joint"].at_i, HINGE["at_i"])
    angle = mb.evaluate(system, result.state(-1)).quantity("joint.angle").values[0]
    np.testing.assert_allclose([np.sin(angle), np.cos(angle)], [np.sin(8.6), np.cos(8.6)], atol=1e-8)


@pytest.mark.parametrize("cls", [mb.FixedJoint, mb.TranslationalJoint])
def test_second_directions_are_held_together(cls: Any) -> None:
    """A part that is welded on, or guided, by directions that are no axes of either body."""
    turned = Rotation.from_euler("zx", [0.7, 0.2])
    told = {"axis_i": (0, 0.6, 0.8), "second_i": (1.0, 0.3, 0.1), "at_i": (0.2, 0.1, 0.0), "at_j": (0.1, -0.3, 0.2)}
    told |= {f"{name}_j": tuple(turned.inv().apply(told[f"{name}_i"])) for name in ("axis", "second")}
    system = one(told, cls=cls, rotation=turned, position=told["at_i"] - turned.apply(told["at_j"]))
    state = mb.assemble(system)
    np.testing.assert_allclose(state.motions["body"].rotation, turned.as_matrix(), atol=1e-12)
    assert mb.degrees_of_freedom(system).count == (0 if cls is mb.FixedJoint else 1)
    with pytest.raises(mb.ModelError, match=r"second_j: found .* along the axis"):
        system["joint"].update(second_j=told["axis_j"])
    with pytest.raises(mb.ModelError, match="second_i: is told in the axes of a body"):
        cls("other", system.ground, system["body"], at=(0, 0, 0), axis=(0, 0, 1), second_i=(1, 0, 0))


def test_a_second_direction_tells_the_zero_of_a_hinge() -> None:
    system = one(HINGE | {"second_j": (0, 1, 0)}, position=(0.5, 0, 0.5))
    angle = mb.evaluate(system, mb.assemble(system)).quantity("joint.angle").values[0]
    np.testing.assert_allclose(angle, np.pi / 2, atol=1e-12)


def test_a_planar_part_is_welded_on_aslant() -> None:
    system = mb.System("plane", dimension=2, gravity=(0, 0))
    body = system.add(mb.PlanarBody("body", mass=1.0, inertia=1.0, angle=0.3))
    own = {"local": True, "at_i": (0, 0), "at_j": (0, 0)}
    across = (np.cos(0.3), -np.sin(0.3))
    joint = system.add(mb.FixedJoint("weld", system.ground, body, **own, second_i=(1, 0), second_j=across))
    assert mb.assemble(system).motions["body"].rotation[1, 0] == pytest.approx(np.sin(0.3), abs=1e-12)
    with pytest.raises(mb.ModelError, match=r"second_i: found .* two components"):
        joint.update(second_i=(0, 0, 1))


def test_a_joint_that_is_described_open_is_closed_or_refused() -> None:
    turned = Rotation.from_rotvec([0.002, 0.001, 0.3])
    system = one(HINGE, position=np.add(turned.apply([0.5, 0, 0]), (0.001, 0, 0.501)), rotation=turned)
    state = mb.assemble(system)
    found = state.motions["body"]
    np.testing.assert_allclose(found.position + found.rotation @ [-0.5, 0, 0], [0, 0, 0.5], atol=1e-9)
    np.testing.assert_allclose(found.rotation[:, 2], [0, 0, 1], atol=1e-9)
    system["body"].position = (3.0, 0, 0)
    with pytest.raises(mb.ModelError, match=r"at_j.*does not close"):
        mb.simulate(system, 0.1, dt=0.01)


@pytest.mark.parametrize("cls", [mb.FixedJoint, mb.RevoluteJoint])
def test_a_moved_assembly_takes_them_along(cls: Any) -> None:
    """Bodies keep their values; those on the ground, which stays, go with the model, and so do its axes."""
    shift, turn = np.array([1.0, 2.0, 3.0]), Rotation.from_rotvec([0.2, 0.5, -0.4])
    inner = arm(True)
    base = inner.add(mb.RigidBody("base", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0.5)))
    inner.add(cls("foot", inner.ground, base, local=True, **HINGE))
    copies = mb.System("outer").include(inner, "left ", position=shift, rotation=turn)
    np.testing.assert_array_equal(copies["joint 1"].at_i, inner["joint 1"].at_i)
    np.testing.assert_array_equal(copies["foot"].at_j, HINGE["at_j"])
    for name in ("joint 0", "joint 1", "joint 2", "foot"):
        for side in "ij":
            old, new = getattr(inner[name], side), getattr(copies[name], side)
            np.testing.assert_allclose(new.at, turn.apply(old.at) + shift, atol=1e-12)
            np.testing.assert_allclose(new.axes, turn.as_matrix() @ old.axes, atol=1e-12)


CASES: list[tuple[Any, dict[str, Any]]] = [
    (mb.SphericalJoint, {}),
    (mb.FixedJoint, {}),
    (mb.RevoluteJoint, {"axis_i": (0, 1, 0), "axis_j": (1, 0, 0)}),
    (mb.CylindricalJoint, {"axis_i": (0, 1, 0), "axis_j": (0, 1, 0)}),
    (mb.TranslationalJoint, {"axis_i": (0, 1, 0), "axis_j": (0, 1, 0)}),
    (mb.PlanarJoint, {"axis_i": (0, 1, 0), "axis_j": (0, 1, 1)}),
    (mb.PointOnLineJoint, {"axis_i": (0, 1, 0)}),
    (mb.UniversalJoint, {"axis_i": (1, 0, 0), "axis_j": (0, 1, 0)}),
    (mb.ConstantVelocityJoint, {"axis_i": (1, 0, 0), "axis_j": (1, 1, 0)}),
    (mb.ScrewJoint, {"axis_i": (0, 1, 0), "axis_j": (0, 1, 0), "pitch": 0.1}),
]


@pytest.mark.parametrize(("cls", "values"), CASES)
def test_every_joint_is_stored_and_written(cls: Any, values: dict[str, Any], tmp_path: Any) -> None:
    system = one({"at_i": (0.1, 0.2, 0.3), "at_j": (0, 0.1, 0), **values}, cls, position=(0.1, 0.1, 0.3))
    mb.save(system, tmp_path / "model.json")
    names: dict[str, Any] = {}
    exec(mb.to_python(system), names)
    written = next(value for value in names.values() if isinstance(value, mb.System))
    for other in (mb.load(tmp_path / "model.json"), written):
        joint, own = other["joint"], system["joint"]
        assert repr(joint) == repr(own)
        for a, b in ((joint.i, own.i), (joint.j, own.j)):
            np.testing.assert_array_equal(a.local_point, b.local_point)
            np.testing.assert_array_equal(a.local_axes, b.local_axes)


@pytest.mark.parametrize(("cls", "values"), CASES)
def test_every_joint_is_the_global_one_where_it_is_closed(cls: Any, values: dict[str, Any]) -> None:
    """Bodies in parallel and equal axes on both: every local joint has the equations of the global one."""
    if cls in (mb.UniversalJoint, mb.ConstantVelocityJoint):
        told = {"at": (0.1, 0.2, 0.3), **values}
    else:
        values = values | ({"axis_j": values["axis_i"]} if "axis_j" in values else {})
        told = {"at": (0.1, 0.2, 0.3), **{k: v for k, v in values.items() if k == "pitch"}}
        told |= {"axis": values["axis_i"]} if "axis_i" in values else {}
    moving: dict[str, Any] = {"position": (0.4, 0.1, 0.3), "angular_velocity": (0.3, 0.2, -0.4)}
    local = one({"at_i": (0.1, 0.2, 0.3), "at_j": (-0.3, 0.1, 0), **values}, cls, **moving)
    other = one({"at_i": (0, 0, 0), "at_j": (0, 0, 0), **values}, cls, **moving)
    other["joint"].update(local=False, at_i=None, at_j=None, **{"axis_i": None, "axis_j": None} | told)
    for system in (local, other):
        system.gravity = (1.0, -2.0, 3.0)
    np.testing.assert_allclose(motion(local), motion(other), atol=1e-11)


def test_a_slide_in_the_plane_has_an_axis_on_each_body() -> None:
    """A body turned by 0.5 rad slides along the direction (1, 1): its own axis is that direction seen from it."""
    system, told = mb.System("slide", dimension=2), mb.System("slide", dimension=2)
    way = np.array([np.cos(np.pi / 4 - 0.5), np.sin(np.pi / 4 - 0.5)])
    for one_system in (system, told):
        one_system.add(mb.PlanarBody("body", mass=1.0, inertia=0.1, position=(1, 1), angle=0.5))
    values: dict[str, Any] = {"local": True, "at_i": (0, 0), "at_j": (0, 0), "axis_i": (1, 1), "axis_j": way}
    system.add(mb.TranslationalJoint("slide", system.ground, system["body"], **values))
    told.add(mb.TranslationalJoint("slide", told.ground, told["body"], at=(0, 0), axis=(1, 1)))
    np.testing.assert_allclose(motion(system), motion(told), atol=1e-12)
    result = mb.simulate(system, 0.1, dt=0.01)
    assert result.quantity("slide.displacement").values[0] == pytest.approx(np.sqrt(2.0))


def test_a_flexible_body_is_held_at_a_node_in_its_axes() -> None:
    told, local = mb.System("beam"), mb.System("beam")
    for system in (told, local):
        system.add(mb.FlexibleBody.example())
        system["rod"].update(velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    rod = told["rod"]
    end = rod.position + rod.rotation @ rod.modes.component.positions[0]
    axis = np.array([0.0, 1.0, 0.0])
    told.add(mb.RevoluteJoint("hinge", told.ground, rod, at=end, axis=axis))
    own = {"at_j": rod.modes.component.positions[0], "axis_j": rod.rotation.T @ axis}
    local.add(mb.RevoluteJoint("hinge", local.ground, local["rod"], local=True, at_i=end, axis_i=axis, **own))
    results = [mb.simulate(system, 0.05, dt=0.0005, integrator=mb.GeneralizedAlpha()) for system in (told, local)]
    np.testing.assert_allclose(results[0].position("rod"), results[1].position("rod"), atol=1e-9)
    mb.describe(local, results[1].state(-1))  # bent: the joint stays at its node
    gap = local["hinge"].i.at - local["hinge"].j.at
    np.testing.assert_allclose(gap, 0.0, atol=1e-9)
    local["hinge"].at_j = (0.123, 0.0, 0.0)
    with pytest.raises(mb.ModelError, match=r"'hinge'.*no node"):
        mb.simulate(local, 0.01)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({**HINGE, "local": True, "at": (0, 0, 0)}, "at: has no meaning beside local=True"),
    ({**HINGE, "local": True, "axis": (0, 0, 1)}, "axis: has no meaning beside local=True"),
    ({**HINGE, "local": True, "at_j": None}, "at_j: found nothing; a local joint needs"),
    ({**HINGE, "local": True, "axis_i": None}, "axis_i: found nothing; a local joint needs"),
    ({"at": (0, 0, 0), "axis": (0, 0, 1), "at_i": (0, 0, 0)}, "at_i: .*add local=True"),
    ({"at": (0, 0, 0), "axis": (0, 0, 1), "axis_j": (0, 0, 1)}, "axis_j: .*add local=True"),
    ({"axis": (0, 0, 1)}, "at: found nothing.*add at="),
    ({"at": (0, 0, 0)}, "axis: found nothing.*add axis="),
]


@pytest.mark.parametrize(("values", "message"), REFUSED)
def test_senseless_combinations_are_refused(values: dict[str, Any], message: str) -> None:
    system = mb.System("one")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(mb.ModelError, match=message):
        mb.RevoluteJoint("joint", system.ground, body, **values)


def test_a_frame_is_refused_where_it_would_not_count() -> None:
    system = mb.System("two")
    bodies = [system.add(mb.RigidBody(name, mass=1.0, inertia=(1, 1, 1))) for name in "ab"]
    with pytest.raises(mb.ModelError, match="frame: has no meaning beside local=True"):
        mb.RevoluteJoint("joint", *bodies, local=True, **HINGE, frame=Rotation.from_euler("x", 1.0))


def test_axes_that_have_no_meaning_in_the_plane_are_refused() -> None:
    system = mb.System("plane", dimension=2)
    body = system.add(mb.PlanarBody("body", mass=1.0, inertia=1.0))
    points: dict[str, Any] = {"local": True, "at_i": (0, 0), "at_j": (0, 0)}
    with pytest.raises(mb.ModelError, match=r"axis_i.*normal"):
        mb.RevoluteJoint("pin", system.ground, body, axis_i=(1, 0), **points)
    with pytest.raises(mb.ModelError, match="axis_j: found nothing"):
        mb.TranslationalJoint("slide", system.ground, body, axis_i=(1, 0), **points)
