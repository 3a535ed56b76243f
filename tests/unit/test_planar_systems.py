"""Planar systems: what users give and receive has two components; their own classes see the plane."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import mbframe as mb

TIGHT = mb.DormandPrince(rtol=1e-11, atol=1e-12)


def swinging(**values: Any) -> tuple[mb.System, mb.PlanarBody]:
    """A body of the plane on a hinge at the origin."""
    system = mb.System("plane", dimension=2)
    body = system.add(mb.PlanarBody("bar", mass=2.0, inertia=0.3, position=(1.0, 0.0), **values))
    system.add(mb.RevoluteJoint("A", system.ground, body, at=(0, 0)))
    return system, body


def problems(action: Callable[[], Any]) -> str:
    with pytest.raises(mb.ModelError) as raised:
        action()
    return str(raised.value)


# --- description ------------------------------------------------------------------------------------------------------


def test_gravity_points_down() -> None:
    assert mb.System("s", dimension=2).gravity.tolist() == [0.0, -9.81]
    assert mb.System("s", dimension=2, gravity=(1, 2)).gravity.tolist() == [1.0, 2.0]


def test_values_are_kept_as_given() -> None:
    system, body = swinging(angle=7.0, angular_velocity=2)
    assert body.position.tolist() == [1.0, 0.0]
    assert (body.angle, body.angular_velocity) == (7.0, 2.0)
    assert system["A"].at.tolist() == [0.0, 0.0]
    assert "axis" not in repr(system["A"])
    slide = mb.TranslationalJoint("B", system.ground, body, at=(1, 2), axis=(3, 4))
    assert slide.axis.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("at", lambda s, b: mb.RevoluteJoint("B", s.ground, b, at=(0, 0, 0))),
        ("at_i", lambda s, b: mb.SpringDamper("S", s.ground, b, at_i=(0, 0, 0))),
        ("axis", lambda s, b: mb.TranslationalJoint("B", s.ground, b, at=(0, 0), axis=(1, 0, 0))),
        ("force", lambda s, b: mb.PointForce("F", b, force=(1, 0, 0))),
        ("position", lambda s, b: mb.PlanarBody("c", mass=1, inertia=1, position=(0, 0, 0))),
        ("local_point", lambda s, b: mb.evaluate(s).position(b, local_point=(0, 0, 0))),
        ("at", lambda s, b: b.marker(at=(0, 0, 0))),
        ("gravity", lambda s, b: mb.System("s", dimension=2, gravity=(0, 0, -9.81))),
    ],
)
def test_vectors_have_two_components(field: str, make: Callable[..., Any]) -> None:
    message = problems(lambda: make(*swinging()))
    assert field in message
    assert "two components in a planar system" in message


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("PlanarBody", lambda s, b: s.add(mb.RigidBody("c", mass=1, inertia=(1, 1, 1)))),
        ("PlanarBody", lambda s, b: s.add(mb.PointMass("c", mass=1))),
        ("dimension=2", lambda s, b: mb.System("t").add(mb.PlanarBody("c", mass=1, inertia=1))),
        ("leave it out", lambda s, b: mb.RevoluteJoint("B", s.ground, b, at=(0, 0), axis=(1, 0))),
        ("axis=(x, y)", lambda s, b: mb.TranslationalJoint("B", s.ground, b, at=(0, 0))),
        ("no meaning", lambda s, b: mb.UniversalJoint("B", s.ground, b, at=(0, 0))),
        ("planar, such as PlanarAngle()", lambda s, b: mb.simulate(s, 1.0, formulation=mb.NewtonEuler())),
        ("PlanarNatural", lambda s, b: mb.PlanarBody("c", mass=1, inertia=1, formulation=mb.NewtonEuler())),
        ("keeps its dimension", lambda s, b: s.update(dimension=3, gravity=(0, 0, 0))),
        ("one is planar", lambda s, b: mb.SphericalJoint("B", mb.System("t").ground, b, at=(0, 0, 0))),
        ("a number", lambda s, b: mb.Torque("T", b, torque=(0, 0, 1))),
        ("the ground stays", lambda s, b: s.ground.update(angle=1.0)),
        ("dimension 3", lambda s, b: s.include(mb.System("t"), "p ")),
        ("dimension", lambda s, b: mb.System("s", dimension=4)),
    ],
)
def test_what_does_not_fit_is_refused(words: str, make: Callable[..., Any]) -> None:
    assert words in problems(lambda: make(*swinging()))


def test_spatial_formulation_is_needed_in_space() -> None:
    system = mb.System("s")
    system.add(mb.RigidBody("b", mass=1, inertia=(1, 1, 1)))
    assert "spatial, such as NewtonEuler()" in problems(
        lambda: mb.simulate(system, 1.0, formulation=mb.PlanarNatural())
    )


def test_included_assembly_turns_and_shifts() -> None:
    part, _ = swinging(angle=0.2, velocity=(0.0, 2.0), angular_velocity=2.0)
    part.add(mb.TranslationalJoint("guide", part.ground, part["bar"], at=(1, 0), axis=(1, 0)))
    part.remove("A")
    whole = mb.System("whole", dimension=2)
    whole.include(part, "p ", position=(3.0, 1.0), rotation=np.pi / 2)
    bar, guide = whole["p bar"], whole["p guide"]
    np.testing.assert_allclose(bar.position, [3.0, 2.0], atol=1e-15)
    np.testing.assert_allclose(bar.velocity, [-2.0, 0.0], atol=1e-15)
    assert bar.angle == pytest.approx(0.2 + np.pi / 2)
    np.testing.assert_allclose([guide.at, guide.axis], [[3.0, 2.0], [0.0, 1.0]], atol=1e-15)
    twin = copy.deepcopy(whole)
    assert twin["p bar"].angle == bar.angle


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
@pytest.mark.parametrize("formulation", [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()], ids=str)
def test_results_have_two_components(formulation: mb.Formulation) -> None:
    """A rotor at constant speed: all closed forms, over ten turns from the described angle of 7 rad."""
    system = mb.System("rotor", dimension=2, gravity=(0, 0))
    rotor = system.add(
        mb.PlanarBody("rotor", mass=2.0, inertia=0.3, position=(1, 0), angle=7.0, velocity=(0, 5), angular_velocity=5.0)
    )
    hinge = system.add(mb.RevoluteJoint("A", system.ground, rotor, at=(0, 0)))
    system.add(mb.Angle("turn", system.ground, rotor))
    t = np.linspace(0.0, 4.0 * np.pi, 41)
    result = mb.simulate(system, t[-1], integrator=TIGHT, formulation=formulation, t_eval=t)
    circle = np.column_stack([np.cos(5 * t), np.sin(5 * t)])
    across = np.column_stack([-circle[:, 1], circle[:, 0]])
    for found, expected in [
        (result.position(rotor), circle),
        (
            result.position(rotor, local_point=(1.0, 0.0)),
            circle + np.column_stack([np.cos(7 + 5 * t), np.sin(7 + 5 * t)]),
        ),
        (result.velocity(rotor), 5 * across),
        (result.acceleration(rotor), -25 * circle),
        (result.angle(rotor), 7.0 + 5 * t),
        (result.angular_velocity(rotor), 0 * t + 5),
        (result.angular_acceleration(rotor), 0 * t),
        (result.reaction(hinge).force, -50 * circle),
        (result.reaction(hinge).torque, 0 * t),
        (result.momentum.linear, 10 * across),
        (result.momentum.angular, 0 * t + 10 + 1.5),
        (result.energy.kinetic, 0 * t + 25 + 3.75),
        (result.measure("turn"), 5 * t),
        (result.position(system.ground), np.zeros((41, 2))),
    ]:
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    assert result.rotation(rotor)[0].as_matrix()[0, 0] == pytest.approx(np.cos(7.0))
    state = result.state(-1)
    np.testing.assert_allclose(state.position(rotor), circle[-1], atol=1e-8)
    np.testing.assert_allclose(state.velocity(rotor, local_point=(0, 0)), 5 * across[-1], atol=1e-7)
    assert state.angle(rotor) == pytest.approx(7.0 + 20 * np.pi, abs=1e-8)
    assert state.angular_velocity(rotor) == pytest.approx(5.0)


def test_angle_counts_turns_however_far_apart_the_instants_are() -> None:
    """A torque speeds up a free body by 300 turns between two instants, unevenly."""
    system = mb.System("spin", dimension=2, gravity=(0, 0))
    wheel = system.add(mb.PlanarBody("wheel", mass=1.0, inertia=2.0, angle=-1.0))
    system.add(mb.Torque("m", wheel, torque="600*t"))
    result = mb.simulate(system, 3.0, integrator=TIGHT, t_eval=[0.0, 3.0])
    np.testing.assert_allclose(result.angle(wheel), [-1.0, -1.0 + 50.0 * 27.0], atol=1e-6)


def test_space_has_no_angle() -> None:
    system = mb.System("s")
    body = system.add(mb.RigidBody("b", mass=1, inertia=(1, 1, 1)))
    result = mb.evaluate(system)
    assert "rotation" in problems(lambda: result.angle(body))
    assert "rotation" in problems(lambda: result.state(0).angle(body))
    plane, _ = swinging()
    assert "planar" in problems(lambda: mb.evaluate(plane).angle(plane.ground))


def test_restart_from_a_state() -> None:
    system, body = swinging()
    whole = mb.simulate(system, 2.0, integrator=TIGHT)
    half = mb.simulate(system, 1.0, integrator=TIGHT)
    rest = mb.simulate(system, 2.0, initial=half.state(-1), integrator=TIGHT, formulation=mb.PlanarNatural())
    np.testing.assert_allclose(rest.position(body)[-1], whole.position(body)[-1], atol=1e-9)
    out = half.state(-1)
    out.motions["bar"].position[2] = 0.1
    assert "out of the plane" in problems(lambda: mb.simulate(system, 2.0, initial=out))


def test_assembled_with_the_least_change() -> None:
    """A bar whose end should be at the origin but is off: turned and shifted until it is."""
    system = mb.System("open", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=2.0, inertia=0.3, position=(1.0, 0.1), angle=0.2, velocity=(0.0, 1.0)))
    system.add(mb.RevoluteJoint("A", system.ground, bar, at=(0, 0)))
    system.add(mb.PointOnLineJoint("B", system.ground, bar, at=(2, 0.1), axis=(1, 1)))
    bar.update(position=(1.02, 0.13), angle=0.15)
    state = mb.assemble(system)
    assert state.residual <= 1e-12
    assert state.position(bar).shape == (2,)
    free = mb.degrees_of_freedom(system)
    assert (free.count, free.equations, free.redundant) == (0, 3, 0)


# --- users' classes ---------------------------------------------------------------------------------------------------


class Rope(mb.ForceElement):
    """A spring of the user's, with a torque that opposes rotation."""

    stiffness = mb.parameter(40.0, unit="N/m", help="k")

    def wrench(self, t, i, j):
        d = i.position - j.position
        length = np.sqrt(d[0] ** 2 + d[1] ** 2)
        return self.stiffness * (length - 0.5) * d / length, -0.3 * j.angular_velocity + 0.0 * i.axes[0, 0]

    def energy(self, t, i, j):
        d = i.position - j.position
        return 0.5 * self.stiffness * (np.sqrt(d[0] ** 2 + d[1] ** 2) - 0.5) ** 2


class PythonRope(Rope):
    """The same, in a way that does not compile."""

    def wrench(self, t, i, j):
        assert {"plane": len(i.position)}["plane"] == 2
        return super().wrench(t, i, j)

    def energy(self, t, i, j):
        return float([super().energy(t, i, j)][0])


def hung(force: Any) -> tuple[mb.System, Any]:
    system, body = swinging(angle=0.3)
    element = system.add(force("rope", system.ground, body, at_i=(0.5, 1.0), at_j=(1.5, 0.2)))
    return system, element


@pytest.mark.boundscheck
@pytest.mark.parametrize("formulation", [mb.PlanarAngle(), mb.PlanarNatural()], ids=str)
def test_users_force_is_that_of_the_library(formulation: mb.Formulation) -> None:
    system, _ = hung(Rope)
    like, body = swinging(angle=0.3)
    like.add(mb.SpringDamper("s", like.ground, body, at_i=(0.5, 1.0), at_j=(1.5, 0.2), stiffness=40.0, free_length=0.5))
    like.add(mb.TorsionalSpringDamper("d", like.ground, body, at=(0, 0), damping=0.3))
    runs = [mb.simulate(s, 1.0, integrator=TIGHT, formulation=formulation) for s in (system, like)]
    assert not runs[0].info.warnings
    np.testing.assert_allclose(runs[0].position("bar")[-1], runs[1].position("bar")[-1], atol=1e-9)
    np.testing.assert_allclose(runs[0].energy.total[-1], runs[1].energy.total[-1], atol=1e-9)
    eqs = [mb.Equations(s, formulation) for s in (system, like)]
    found, expected = (
        e.tangent(0.0, *e.split(e.coordinates(e.described()))[:2], np.zeros(e.n_v), np.zeros(e.n_rows)) for e in eqs
    )
    np.testing.assert_allclose(found.stiffness.toarray(), expected.stiffness.toarray(), atol=1e-10)
    np.testing.assert_allclose(found.damping.toarray(), expected.damping.toarray(), atol=1e-10)


def test_arrays_that_users_methods_make_do_not_stay_behind() -> None:
    system, _ = hung(Rope)
    mb.simulate(system, 0.1, dt=1e-2)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        _ = mb.simulate(system, 0.1, dt=1e-2).energy
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc > before.alloc
    assert after.free - before.free == after.alloc - before.alloc


def test_users_force_in_python_is_the_same() -> None:
    runs = [mb.simulate(hung(kind)[0], 0.2, dt=1e-2) for kind in (Rope, PythonRope)]
    assert any("called from Python" in w for w in runs[1].info.warnings)
    np.testing.assert_allclose(runs[0].position("bar"), runs[1].position("bar"), atol=1e-13)
    np.testing.assert_allclose(runs[0].energy.potential, runs[1].energy.potential, atol=1e-12)


def test_same_class_in_the_plane_and_in_space() -> None:
    class Magnet(mb.ForceElement):
        """As in the documentation, for vectors of any size."""

        strength = mb.parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")

        def wrench(self, t, i, j):
            d = i.position - j.position
            return self.strength * d / np.linalg.norm(d) ** 3, 0.0 * i.angular_velocity

    plane, body = swinging()
    plane.add(Magnet("magnet", plane.ground, body, at_i=(0, 2), at_j=(1, 0), strength=3.0))
    space = mb.System("space", gravity=(0, -9.81, 0))
    bar = space.add(mb.RigidBody("bar", mass=2.0, inertia=(0.15, 0.15, 0.3), position=(1, 0, 0)))
    space.add(mb.RevoluteJoint("A", space.ground, bar, at=(0, 0, 0), axis=(0.0, 0.0, 1.0)))
    space.add(Magnet("magnet", space.ground, bar, at_i=(0, 2, 0), at_j=(1, 0, 0), strength=3.0))
    for _ in range(2):
        flat, full = mb.evaluate(plane), mb.evaluate(space)
        np.testing.assert_allclose(flat.acceleration("bar")[0], full.acceleration("bar")[0, :2], atol=1e-12)


def test_wrench_of_the_wrong_size_is_refused() -> None:
    class Wrong(mb.ForceElement):
        """Forces of space in the plane."""

        def wrench(self, t, i, j):
            return np.zeros(3), 0.0

    class Twisted(mb.ForceElement):
        """Torques of space in the plane."""

        def wrench(self, t, i, j):
            return np.zeros(2), np.zeros(3)

    for cls, shape in ((Wrong, "(2,)"), (Twisted, "()")):
        assert f"allowed is {shape}" in problems(lambda: mb.simulate(hung(cls)[0], 0.1))  # noqa: B023


class Upright(mb.BasicConstraint):
    """The second body's x axis is normal to the first one's: a user's constraint."""

    equations = 1

    def residual(self, t, i, j):
        return [i.axes[:, 0] @ j.axes[:, 1] * len(i.position) / 2]


class Skate(mb.BasicConstraint):
    """A blade along the second body's x axis: a user's nonholonomic constraint."""

    equations = 1

    def velocity_residual(self, t, i, j):
        return [j.axes[0, 1] * j.velocity[0] + j.axes[1, 1] * j.velocity[1]]


class Pin(mb.Joint):
    """A hinge as a user writes it in space."""

    def constraints(self):
        i, j = self.i, self.j
        return [mb.Coincident(i, j), mb.Perpendicular(i.z, j.x), mb.Perpendicular(i.z, j.y)]


@pytest.mark.boundscheck
def test_users_constraint_keeps_the_angle() -> None:
    system = mb.System("s", dimension=2)
    body = system.add(mb.PlanarBody("b", mass=1.0, inertia=0.2, angle=0.0, center_of_mass=(0.3, 0.0)))
    system.add(Upright("u", system.ground, body, at=(0, 0)))
    result = mb.simulate(system, 0.5, integrator=TIGHT)
    np.testing.assert_allclose(result.angle(body), 0.0, atol=1e-10)
    np.testing.assert_allclose(result.position(body)[-1], [0.0, -0.5 * 9.81 * 0.25], atol=1e-9)


@pytest.mark.boundscheck
def test_users_blade_is_a_knife_edge() -> None:
    ends = []
    for edge in (Skate, mb.KnifeEdge):
        system = mb.System("sleigh", dimension=2, gravity=(0, 0))
        sleigh = system.add(
            mb.PlanarBody(
                "sleigh", mass=2.0, inertia=0.5, center_of_mass=(0.2, 0), velocity=(1, 0), angular_velocity=0.8
            )
        )
        blade = {"axis": (1, 0)} if edge is mb.KnifeEdge else {}
        system.add(edge("blade", system.ground, sleigh, at=(0, 0), **blade))
        result = mb.simulate(system, 2.0, integrator=TIGHT)
        assert np.ptp(result.energy.total) <= 1e-9
        ends.append(result.position(sleigh)[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_users_hinge_of_space_is_a_hinge_of_the_plane() -> None:
    system, body = swinging()
    system.remove("A")
    system.add(Pin("pin", system.ground, body, at=(0, 0)))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.equations, freedom.redundant) == (1, 2, 0)


@pytest.mark.parametrize(
    ("joint", "equations"),
    [
        (lambda s, b: mb.RevoluteJoint("j", s.ground, b, at=(0, 0)), 2),
        (lambda s, b: mb.SphericalJoint("j", s.ground, b, at=(0, 0)), 2),
        (lambda s, b: mb.TranslationalJoint("j", s.ground, b, at=(0, 0), axis=(1, 2)), 2),
        (lambda s, b: mb.FixedJoint("j", s.ground, b, at=(0, 0)), 3),
        (lambda s, b: mb.PointOnLineJoint("j", s.ground, b, at=(0, 0), axis=(1, 2)), 1),
        (lambda s, b: mb.DistanceJoint("j", s.ground, b, at_i=(0, 0), at_j=(1, 0)), 1),
    ],
)
def test_joints_have_the_equations_of_the_plane(joint: Callable[..., Any], equations: int) -> None:
    system, body = swinging()
    system.remove("A")
    system.add(joint(system, body))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.equations, freedom.redundant, freedom.count) == (equations, 0, 3 - equations)


# --- contact and friction ---------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
def test_disk_falls_on_a_line_and_leaves_with_its_restitution() -> None:
    """The ground is the line y = 0 with the normal (0, 1) if nothing else is given."""
    system = mb.System("disk", dimension=2)
    disk = system.add(mb.PlanarBody("disk", mass=1.0, inertia=0.02, position=(0, 0.6)))
    system.add(mb.SpherePlaneContact("c", system.ground, disk, radius=0.1, stiffness=1e7, restitution=0.8))
    fall = np.sqrt(2 * 0.5 / 9.81)
    result = mb.simulate(system, 1.5 * fall, integrator=mb.DormandPrince(rtol=1e-9), t_eval=[0.0, 1.5 * fall])
    (x, y), (u, v) = result.position(disk)[-1], result.velocity(disk)[-1]
    assert (x, u) == (0.0, 0.0)
    # the square of the speed at which it left the line, from where it is now
    assert v**2 + 2 * 9.81 * (y - 0.1) == pytest.approx(0.8**2 * 2 * 9.81 * 0.5, rel=5e-3)


def test_block_slides_with_friction_in_its_guide() -> None:
    """On a slope of 0.5 rad: x'' = g (sin - mu cos)."""
    down = np.array([np.cos(0.5), -np.sin(0.5)])
    system = mb.System("slope", dimension=2)
    block = system.add(mb.PlanarBody("block", mass=3.0, inertia=0.1, velocity=down))
    guide = system.add(mb.TranslationalJoint("guide", system.ground, block, at=(0, 0), axis=down))
    system.add(mb.Friction("f", guide, coefficient=0.2))
    found = mb.evaluate(system).acceleration(block)[0]
    np.testing.assert_allclose(found, 9.81 * (np.sin(0.5) - 0.2 * np.cos(0.5)) * down, atol=1e-10)
