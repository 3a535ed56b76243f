"""Joints that slide along the axis of a flexible body, against beam theory, rigid joints and conservation laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import mbframe as mb

LENGTH, AREA, SECOND, TORSION = 1.0, 4e-4, 1.3e-8, 2e-8  # m, m^2, m^4
YOUNG, SHEAR, DENSITY = 2e8, 7e7, 1200.0
STIFFNESS, MASS = YOUNG * SECOND, DENSITY * AREA  # E I, and mass per length
X, Y, Z = np.eye(3)
RIGID = {
    mb.PointOnAxisJoint: mb.PointOnLineJoint,
    mb.SleeveJoint: mb.CylindricalJoint,
    mb.KeyedSleeveJoint: mb.TranslationalJoint,
}
JOINTS = list(RIGID)


def accurate(rtol: float = 1e-10) -> dict[str, Any]:
    return {"integrator": mb.DormandPrince(rtol=rtol, atol=rtol / 100.0)}


def beam(elements: int, young: float = YOUNG) -> mb.flexible.Component:
    return mb.flexible.beam(
        length=LENGTH,
        elements=elements,
        area=AREA,
        second_moments=(SECOND, SECOND),
        torsion=TORSION,
        young=young,
        shear=young * SHEAR / YOUNG,
        density=DENSITY,
    )


def all_modes(elements: int) -> mb.flexible.Modes:
    return mb.flexible.craig_bampton(beam(elements), interfaces=range(elements + 1), n_modes=0)


def simply_supported(modes: mb.flexible.Modes) -> tuple[mb.System, mb.FlexibleBody]:
    """A beam on a pin at its begin and a roller at its end, without gravity."""
    system = mb.System("simply supported", gravity=(0, 0, 0))
    girder = system.add(mb.FlexibleBody("girder", modes))
    system.add(mb.RevoluteJoint("pin", system.ground, girder, at=(0, 0, 0), axis=Y))
    system.add(mb.PointOnLineJoint("roller", system.ground, girder, at=(LENGTH, 0, 0), axis=X))
    return system, girder


# --- statics ----------------------------------------------------------------------------------------------------------


def sag(elements: int, a: float, force: float) -> float:
    """Deflection under a load on a bead that is held at the distance a on a simply supported beam."""
    system, girder = simply_supported(all_modes(elements))
    bead = system.add(mb.PointMass("bead", mass=0.01, position=(a, 0, 0)))
    slide = system.add(mb.PointOnAxisJoint("slide", girder, bead, at=(a, 0, 0), axis=X))
    system.add(mb.Driver("hold", slide, displacement=0.0))
    system.add(mb.PointForce("load", bead, at=(a, 0, 0), force=(0, 0, -force)))
    rest = mb.equilibrium(system)
    result = mb.evaluate(system, rest)
    assert result.reaction(slide).force[0] == pytest.approx([0, 0, force], abs=1e-4 * force)
    return -float(rest.position(bead)[2])


@pytest.mark.parametrize("a", [0.25, 0.5, 0.75])
def test_sag_under_a_load_at_a_node_is_that_of_beam_theory(a: float) -> None:
    """w = P a^2 b^2 / (3 E I L)."""
    force = 1e-4
    expected = force * a**2 * (LENGTH - a) ** 2 / (3.0 * STIFFNESS * LENGTH)
    assert sag(4, a, force) == pytest.approx(expected, rel=1e-8)


def test_sag_under_a_load_between_nodes_converges() -> None:
    """What a beam element cannot bend under a load within it is of third order in its length."""
    force, errors = 1e-4, []
    for elements, a in ((4, 0.375), (8, 0.4375), (16, 0.46875)):  # in the middle of the element before the middle
        expected = force * a**2 * (LENGTH - a) ** 2 / (3.0 * STIFFNESS * LENGTH)
        errors.append(abs(sag(elements, a, force) / expected - 1.0))
    assert errors[0] < 0.01
    assert np.log2(errors[0] / errors[1]) > 2.7
    assert np.log2(errors[1] / errors[2]) > 2.7


def held_sleeve(elements: int, a: float, moment: float, torque: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation of a sleeve at the distance a on a cantilever that it loads by a moment and a torque."""
    system = mb.System("cantilever", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", all_modes(elements)))
    sleeve = system.add(mb.RigidBody("sleeve", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=(a, 0, 0)))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    slide = system.add(mb.KeyedSleeveJoint("slide", rod, sleeve, at=(a, 0, 0), axis=X))
    system.add(mb.Driver("hold", slide, displacement=0.0))
    system.add(mb.Torque("load", sleeve, torque=(torque, -moment, 0.0)))
    rest = mb.equilibrium(system)
    return rest.position(sleeve), rest.rotation(sleeve).as_matrix()


def test_sleeve_hands_moments_to_the_beam() -> None:
    """w = M a^2/(2 E I), w' = M a/(E I), phi = T a/(G J). The spline rounds off the jump of the curvature there, which
    takes from the slope what falls with the distance of the nodes.
    """
    a, moment, torque = 0.5, 2e-4, 3e-4
    errors = []
    for elements in (4, 8, 16):
        position, turn = held_sleeve(elements, a, moment, torque)
        assert position[2] == pytest.approx(moment * a**2 / (2.0 * STIFFNESS), rel=1e-6)
        assert turn[2, 1] == pytest.approx(torque * a / (SHEAR * TORSION), rel=1e-6)
        errors.append(1.0 - turn[2, 0] * STIFFNESS / (moment * a))
    assert 0.0 < errors[0] < 0.08
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.05)


def test_bead_on_the_middle_line_of_a_solid() -> None:
    """Nodes without rotations: F a^3/(3 E I) + F a/(k G A), k = 5/6, under a bead on a cantilever with nu = 0."""
    skfem = pytest.importorskip("skfem")
    side, a, force, young = 0.1, 0.5, 100.0, 2.1e11
    lines = (np.linspace(0, LENGTH, 9), np.linspace(-side / 2, side / 2, 3), np.linspace(-side / 2, side / 2, 3))
    part = mb.flexible.solid(skfem.MeshHex.init_tensor(*lines), young=young, poisson=0.0, density=7850.0, order=2)
    part = part.with_interface(np.flatnonzero(part.nodes[:, 0] < 1e-9), name="root")
    load = part.load_at(part.node_at((a, 0, 0)), (0, 0, -force))
    modes = mb.flexible.craig_bampton(part, ["root"], n_modes=4, loads=load[:, None])
    system = mb.System("solid", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", modes))
    bead = system.add(mb.PointMass("bead", mass=0.1, position=(a, 0, 0)))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    slide = system.add(mb.PointOnAxisJoint("slide", rod, bead, at=(a, 0, 0), axis=X))
    system.add(mb.Driver("hold", slide, displacement=0.0))
    system.add(mb.PointForce("load", bead, at=(a, 0, 0), force=(0, 0, -force)))
    expected = force * a**3 / (3.0 * young * side**4 / 12.0) + force * a / (5.0 / 6.0 * young / 2.0 * side**2)
    assert -mb.equilibrium(system).position(bead)[2] == pytest.approx(expected, rel=0.02)


# --- loads that move --------------------------------------------------------------------------------------------------


def sine_modes(count: int, elements: int = 40) -> mb.flexible.Modes:
    """The shapes sin(k pi x / L) in the vertical plane, of deflections and slopes."""
    part = beam(elements)
    shapes = np.zeros((part.n_freedoms, count))
    for k in range(count):
        wave = (k + 1) * np.pi / LENGTH
        shapes[2::6, k] = np.sin(wave * part.nodes[:, 0])
        shapes[4::6, k] = -wave * np.cos(wave * part.nodes[:, 0])
    return mb.flexible.user_modes(part, shapes)


def crossing(mass: float, force: float, speed: float, count: int, t: np.ndarray) -> np.ndarray:
    """Height of a bead that is drawn over a simply supported beam at a constant speed, loaded by a force."""
    system, girder = simply_supported(sine_modes(count))
    bead = system.add(mb.PointMass("bead", mass=mass, velocity=(speed, 0, 0)))
    slide = system.add(mb.PointOnAxisJoint("slide", girder, bead, at=(0, 0, 0), axis=X))
    system.add(mb.Driver("winch", slide, displacement=f"{speed!r}*t"))
    system.add(mb.PointForce("load", bead, at=(0, 0, 0), force=(0, 0, -force)))
    result = mb.simulate(system, t[-1], t_eval=t, **accurate(1e-9))
    assert result.position(bead)[:, 0] == pytest.approx(speed * t, abs=1e-6)
    return result.position(bead)[:, 2]


def test_moving_force() -> None:
    """The series of Krylov and Timoshenko for a force P that crosses at the speed u, with W = k pi u / L:

    w(x, t) = sum 2 P/(m L) sin(k pi x/L) (sin W t - W/w_k sin w_k t) / (w_k^2 - W^2).
    """
    count, force, speed = 6, 1e-4, 2.0
    t = np.linspace(0.0, LENGTH / speed, 41)
    expected = np.zeros_like(t)
    for k in range(1, count + 1):
        own, passing = (k * np.pi / LENGTH) ** 2 * np.sqrt(STIFFNESS / MASS), k * np.pi * speed / LENGTH
        shape = np.sin(passing * t)
        response = (np.sin(passing * t) - passing / own * np.sin(own * t)) / (own**2 - passing**2)
        expected -= 2.0 * force / (MASS * LENGTH) * shape * response
    found = crossing(1e-9, force, speed, count, t)
    assert found == pytest.approx(expected, abs=2e-5 * np.abs(expected).max())


def test_moving_mass() -> None:
    """Against equations of modal coordinates q that contain the acceleration of the mass on its path, w'' = phi.q'' +
    2 u phi'.q' + u^2 phi''.q.
    """
    count, mass, force, speed = 6, 0.2, 1e-3, 2.0
    wave = np.arange(1, count + 1) * np.pi / LENGTH
    own = wave**4 * STIFFNESS / MASS
    t = np.linspace(0.0, LENGTH / speed, 41)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, q_rate = np.split(y, 2)
        sine, cosine = np.sin(wave * speed * t), np.cos(wave * speed * t)
        path = 2.0 * speed * wave * cosine @ q_rate - speed**2 * wave**2 * sine @ q
        matrix = 0.5 * MASS * LENGTH * np.eye(count) + mass * np.outer(sine, sine)
        load = -sine * (force + mass * path) - 0.5 * MASS * LENGTH * own * q
        return np.concatenate([q_rate, np.linalg.solve(matrix, load)])

    modal = solve_ivp(rates, (0.0, t[-1]), np.zeros(2 * count), "DOP853", t_eval=t, rtol=1e-10, atol=1e-16).y[:count]
    expected = np.einsum("kn,kn->n", np.sin(wave[:, None] * speed * t), modal)
    found = crossing(mass, force, speed, count, t)
    assert np.abs(expected).max() > 1e-5
    assert found == pytest.approx(expected, abs=2e-4 * np.abs(expected).max())


def test_beam_with_a_mass_in_its_middle_vibrates_as_theory_says() -> None:
    """With k^4 = m w^2/(E I) the deflection up to the middle is A (sin k x / cos(k L/2) - sinh k x / cosh(k L/2)), and
    the mass M there demands -2 E I u''' = M w^2 u: 2 = (M/m) k (tan(k L/2) - tanh(k L/2)) / 2.
    """
    mass = 0.3
    system, girder = simply_supported(all_modes(16))
    bead = system.add(mb.PointMass("bead", mass=mass, position=(LENGTH / 2, 0, 0)))
    system.add(mb.PointOnAxisJoint("slide", girder, bead, at=(LENGTH / 2, 0, 0), axis=X))
    wave = brentq(lambda k: mass / MASS * k * (np.tan(k / 2) - np.tanh(k / 2)) / 2.0 - 2.0, 0.5, 3.1)
    expected = wave**2 * np.sqrt(STIFFNESS / MASS) / (2.0 * np.pi)
    found = np.array([mode.frequency for mode in mb.linearize(system).modes if mode.eigenvalue.imag > 1e-3])
    assert np.abs(found / expected - 1.0).min() < 1e-5


# --- large motions ----------------------------------------------------------------------------------------------------


def swing(cls: Any, young: float | None, modes: int = 2, bead: str = "rigid") -> mb.System:
    """A bead or sleeve on a bar that swings down from a hinge; without Young's modulus the bar is rigid."""
    part = beam(10, young or YOUNG)
    system = mb.System("swing", gravity=(0.3, 0.2, -9.81))
    bar: mb.Body = mb.RigidBody("bar", mass=part.mass, inertia=part.inertia, center_of_mass=part.centre_of_mass)
    if young is not None:
        bar = mb.FlexibleBody("bar", mb.flexible.craig_bampton(part, interfaces=[0, 10], n_modes=modes))
    system.add(bar)
    place = {"mass": 0.2, "position": (0.33, 0, 0), "velocity": (0.6, 0, 0)}
    slider = (
        mb.PointMass("slider", **place)
        if bead == "point"
        else mb.RigidBody("slider", **place, inertia=(1e-4, 2e-4, 2.5e-4))
    )
    system.add(slider)
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=Y))
    kind = cls if young is not None else RIGID[cls]
    system.add(kind("slide", bar, slider, at=(0.33, 0, 0), axis=X))
    return system


@pytest.mark.parametrize("cls", JOINTS)
def test_stiff_bar_gives_the_motion_of_the_rigid_joint(cls: Any) -> None:
    t = np.linspace(0.0, 0.3, 16)
    expected = mb.simulate(swing(cls, None), 0.3, t_eval=t, **accurate()).position("slider")
    errors = []
    for young in (2e9, 2e10, 2e11):
        found = mb.simulate(swing(cls, young, modes=0), 0.3, t_eval=t, **accurate(1e-8)).position("slider")
        errors.append(np.abs(found - expected).max())
    assert 1e-4 < errors[0] < 2e-3
    assert errors[1] < errors[0] / 5.0
    assert errors[2] < errors[1] / 5.0


@pytest.mark.parametrize("cls", JOINTS)
def test_energy_is_kept_while_nodes_are_passed(cls: Any) -> None:
    """No work is done on what slides, and nothing jumps at the nodes: the curvature of the axis is continuous."""
    result = mb.simulate(swing(cls, 5e7), 0.32, **accurate())
    way = np.linalg.norm(result.position("slider"), axis=1)
    assert way[0] == pytest.approx(0.33)
    assert 0.7 < way[-1] < 0.75  # past four nodes
    assert np.ptp(result.energy.total) < 1e-10 * result.energy.kinetic.max()
    assert result.violation.position.max() < 1e-10
    assert result.violation.velocity.max() < 1e-8


@pytest.mark.parametrize("cls", JOINTS)
def test_runge_kutta_keeps_its_order_across_nodes(cls: Any) -> None:
    """Errors of steps of 1 and 0.5 ms, about sixteen to one; a jump at a node would leave them in proportion."""
    system, t = swing(cls, 5e7), np.array([0.0, 0.3])
    exact = mb.simulate(system, 0.3, t_eval=t, **accurate(1e-12)).position("slider")[-1]
    errors = [
        np.linalg.norm(
            mb.simulate(system, 0.3, dt=dt, t_eval=t, integrator=mb.RungeKutta4()).position("slider")[-1] - exact
        )
        for dt in (1e-3, 5e-4)
    ]
    assert errors[0] / errors[1] > 8.0


def test_floating_beam_and_bead_keep_their_momentum() -> None:
    system = mb.System("adrift", gravity=(0, 0, 0))
    bar = system.add(
        mb.FlexibleBody(
            "bar",
            mb.flexible.free_modes(beam(10), n_modes=6),
            angular_velocity=(1.0, 2.0, -3.0),
            velocity=(0.1, 0.2, 0.3),
            geometric_stiffening=True,
        )
    )
    place = np.array([0.42, 0.0, 0.0])
    spin = np.array([1.0, 2.0, -3.0])
    motion = {"velocity": np.array([0.1, 0.2, 0.3]) + np.cross(spin, place), "angular_velocity": spin}
    slider = system.add(mb.RigidBody("slider", mass=0.2, inertia=(1e-4, 2e-4, 2.5e-4), position=place, **motion))
    system.add(mb.KeyedSleeveJoint("slide", bar, slider, at=place, axis=X))
    result = mb.simulate(system, 0.25, **accurate(1e-11))
    assert np.ptp(result.momentum.linear, axis=0).max() < 1e-10
    assert np.ptp(result.momentum.angular, axis=0).max() < 1e-10
    assert np.ptp(result.energy.total) < 1e-8 * result.energy.kinetic.max()


def test_flexible_body_slides_on_a_flexible_one() -> None:
    """The tip of a second bar rides on the first: energy is kept."""
    system = swing(mb.PointOnAxisJoint, 5e7)
    system.remove("slide")
    system.remove("slider")
    second = system.add(
        mb.FlexibleBody(
            "second",
            mb.flexible.craig_bampton(beam(4, 5e7), interfaces=[0, 4], n_modes=1),
            position=(0.4, 0, 0),
            rotation=np.column_stack([Z, Y, -X]),
        )
    )
    system.add(mb.PointOnAxisJoint("slide", system["bar"], second, at=(0.4, 0, 0), axis=X))
    result = mb.simulate(system, 0.2, **accurate())
    assert np.abs(result.modal("second")).max() > 1e-3
    assert np.ptp(result.energy.total) < 1e-8 * result.energy.kinetic.max()


def test_beyond_its_end_the_axis_goes_on_along_its_tangent() -> None:
    system = swing(mb.PointOnAxisJoint, YOUNG)
    result = mb.simulate(system, 0.5, **accurate())
    bar = system["bar"]
    tip = bar.marker(at=(LENGTH, 0, 0))
    arm, turns = result.position("slider") - result.position(tip), result.rotation(bar).as_matrix()
    outside = np.einsum("ni,nij->nj", arm, turns)[:, 0] > 0.01
    assert outside.sum() > 20
    off_node = np.linalg.norm(np.cross(arm, result.rotation(tip).as_matrix()[:, :, 0]), axis=1)[outside]
    off_frame = np.linalg.norm(np.cross(arm, turns[:, :, 0]), axis=1)[outside]
    assert off_frame.max() > 1e-3
    # the tangent of the linear theory and the exactly turned node differ by what is of second order
    assert off_node.max() < 0.01 * off_frame.max()


# --- strategies, states, files ----------------------------------------------------------------------------------------


METHODS: list[tuple[dict[str, Any], float]] = [
    *(({"formulation": f}, 1e-7) for f in (mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles())),
    *(({"acceleration": a}, 1e-7) for a in (mb.UdwadiaKalaba(), mb.AugmentedLagrangian(), mb.ProjectionMatrix())),
    *(({"stabilization": s}, 1e-6) for s in (mb.NoStabilization(), mb.Baumgarte(), mb.CoordinatePartitioning())),
    ({"stabilization": mb.MassOrthogonalProjection()}, 1e-7),
    ({"integrator": mb.AdamsBashforth(order=4)}, 1e-7),
    ({"integrator": mb.GeneralizedAlpha(rho_infinity=0.9)}, 1e-5),
    ({"integrator": mb.RadauIIA(rtol=1e-8, atol=1e-10)}, 1e-7),
]


@pytest.mark.parametrize(("method", "tolerance"), METHODS, ids=lambda x: repr(x))
def test_all_methods_agree(method: dict[str, Any], tolerance: float) -> None:
    system, t = swing(mb.KeyedSleeveJoint, 5e7), np.array([0.0, 0.1])
    expected = mb.simulate(system, 0.1, t_eval=t, **accurate()).position("slider")[-1]
    options: dict[str, Any] = {"dt": 1e-4, "integrator": mb.RungeKutta4()} | method
    found = mb.simulate(system, 0.1, t_eval=t, **options).position("slider")[-1]
    assert found == pytest.approx(expected, abs=tolerance)


def test_point_mass_slides_too() -> None:
    result = mb.simulate(swing(mb.PointOnAxisJoint, 5e7, bead="point"), 0.3, **accurate())
    assert np.ptp(result.energy.total) < 1e-9 * result.energy.kinetic.max()


def test_assembly_puts_a_bead_back_on_the_axis() -> None:
    system = swing(mb.PointOnAxisJoint, YOUNG)
    assert mb.degrees_of_freedom(system).count == 1 + len(system["bar"].modes.frequencies) + 6 - 2
    described = mb.Equations(system).described()
    moved = replace(described.motions["slider"], position=np.array([0.35, 0.005, -0.01]))
    closed = mb.assemble(system, replace(described, motions=described.motions | {"slider": moved}))
    eq = mb.Equations(system)
    assert np.abs(eq.violation(0.0, eq.coordinates(closed))[0]).max() < 1e-12


@pytest.mark.parametrize("cls", JOINTS)
def test_a_state_with_a_bent_axis_may_be_the_described_one(cls: Any) -> None:
    """The joint is then given at a point of the bent axis, and the motion goes on as before."""
    system, t = swing(cls, 5e7), np.array([0.0, 0.05, 0.1])
    result = mb.simulate(system, 0.1, t_eval=t, **accurate())
    middle = result.state(1)
    again = mb.System("again", gravity=system.gravity)
    for body in (system["bar"], system["slider"]):
        m = middle.motions[body.name]
        values = {"position": m.position, "rotation": m.rotation, "velocity": m.velocity}
        values |= {"angular_velocity": m.angular_velocity}
        if isinstance(body, mb.FlexibleBody):
            values |= {"modal_coordinates": m.modal_coordinates, "modal_velocities": m.modal_velocities}
            again.add(mb.FlexibleBody(body.name, body.modes, **values))
        else:
            again.add(mb.RigidBody(body.name, mass=body.mass, inertia=body.inertia, **values))
    bar = again["bar"]
    again.add(mb.RevoluteJoint("hinge", again.ground, bar, at=middle.position(bar, (0, 0, 0)), axis=Y))
    at, axis = middle.position("slider"), middle.rotation("bar").as_matrix()[:, 0]
    again.add(cls("slide", bar, again["slider"], at=at, axis=axis))
    eq = mb.Equations(again)
    assert np.abs(eq.violation(0.0, eq.coordinates(eq.described()))[0]).max() < 1e-9
    found = mb.simulate(again, 0.05, t_eval=[0.0, 0.05], **accurate()).position("slider")[-1]
    assert found == pytest.approx(result.position("slider")[-1], abs=1e-7)


def test_an_axis_needs_a_row_of_nodes() -> None:
    system = swing(mb.PointOnAxisJoint, YOUNG)
    for at, axis in (((0.33, 0.1, 0.0), X), ((0.3, 0.0, 0.0), Z)):
        system.remove("slide")
        system.add(mb.PointOnAxisJoint("slide", system["bar"], system["slider"], at=at, axis=axis))
        with pytest.raises(mb.ModelError, match=r"PointOnAxisJoint 'slide', at: .* nodes on the line .* at least two"):
            mb.Equations(system)


def test_files_keep_the_joint(tmp_path: Any) -> None:
    system = swing(mb.KeyedSleeveJoint, YOUNG)
    mb.save(system, tmp_path / "swing.json")
    again = mb.load(tmp_path / "swing.json")
    names: dict[str, Any] = {}
    exec(mb.to_python(system), names)
    written = next(value for value in names.values() if isinstance(value, mb.System))
    t = np.array([0.0, 0.05])
    expected = mb.simulate(system, 0.05, t_eval=t).position("slider")[-1]
    for other in (again, written):
        assert mb.simulate(other, 0.05, t_eval=t).position("slider")[-1] == pytest.approx(expected, abs=1e-14)
