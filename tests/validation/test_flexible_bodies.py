"""Flexible bodies against closed forms, conservation laws and rigid bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import mbframe as mb

LENGTH, YOUNG, DENSITY, AREA, MOMENT = 1.0, 2.1e11, 7850.0, 1e-4, 8e-10
TIP = np.array([LENGTH, 0.0, 0.0])


def part(elements: int = 10, **changes: Any) -> Any:
    values = {"area": AREA, "second_moments": (MOMENT, MOMENT), "torsion": 2 * MOMENT, "density": DENSITY}
    return mb.flexible.beam(
        **({"length": LENGTH, "elements": elements, "young": YOUNG, "shear": 8.1e10} | values | changes)
    )


def accurate(**options: Any) -> dict[str, Any]:
    return {"integrator": mb.DormandPrince(rtol=1e-11, atol=1e-13)} | options


# --- free motion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("frame", "amplitude"), [("node", 0.15), ("mean", 0.15), ("mean", 1.0)])
def test_free_body_keeps_energy_and_momentum(frame: str, amplitude: float) -> None:
    """Tumbling and vibrating: momentum to 1e-10, energy to 1e-8; both are computed from q and v alone.

    In mean axes at any amplitude. Seen from its end the rod turns faster than it bends there, and without stiffening
    its deflection grows: see the next test.
    """
    modes = mb.flexible.craig_bampton(part(young=2.1e9, shear=8.1e8), interfaces=[0, 10], n_modes=2)
    system = mb.System("free", gravity=(0, 0, 0))
    size = amplitude / (2.0 * np.pi * modes.frequencies)  # as much energy in each shape
    values = np.random.default_rng(2)
    rod = system.add(
        mb.FlexibleBody(
            "rod",
            modes,
            frame=frame,
            velocity=(1.0, -2.0, 0.5),
            angular_velocity=(3.0, -5.0, 4.0),
            modal_coordinates=size * values.normal(size=modes.count),
            modal_velocities=amplitude * values.normal(size=modes.count),
        )
    )
    result = mb.simulate(system, 0.2, **accurate())
    momentum, energy = result.momentum, result.energy
    assert np.ptp(momentum.linear, axis=0).max() < 1e-10
    assert np.ptp(momentum.angular, axis=0).max() < 1e-10
    assert np.ptp(energy.total) < 1e-8 * energy.kinetic.max()
    assert np.ptp(energy.potential) > 1e-3 * energy.kinetic.max(), "it must vibrate for this to mean anything"
    # the energies and momenta of results are those of the mass matrix
    eq = mb.Equations(system)
    q, v = result.q[-1], result.v[-1]
    mass = eq.evaluate(0.0, q, v).mass
    assert energy.kinetic[-1] == pytest.approx(0.5 * v @ (mass @ v), rel=1e-12)
    assert momentum.linear[-1] == pytest.approx((mass @ v)[:3], rel=1e-11)
    turn = result.rotation(rod).as_matrix()[-1]
    assert momentum.angular[-1] == pytest.approx(np.cross(q[:3], (mass @ v)[:3]) + turn @ (mass @ v)[3:6], rel=1e-11)


def test_a_body_without_inertia_left_is_named() -> None:
    """Deflected by four times its length, a rod has a mass matrix of second order that is none."""
    modes = mb.flexible.craig_bampton(part(young=2.1e9, shear=8.1e8), interfaces=[0, 10], n_modes=2)
    system = mb.System("free", gravity=(0, 0, 0))
    values = np.random.default_rng(2)
    rod = mb.FlexibleBody("rod", modes, frame="node", velocity=(1.0, -2.0, 0.5), angular_velocity=(3.0, -5.0, 4.0))
    rod.modal_coordinates = values.normal(size=modes.count) / (2.0 * np.pi * modes.frequencies)
    rod.modal_velocities = values.normal(size=modes.count)
    system.add(rod)
    with pytest.raises(mb.SimulationError, match=r"rod.*deformed so far that its inertia.*geometric_stiffening=True"):
        mb.simulate(system, 0.2, integrator=mb.DormandPrince(rtol=1e-8, atol=1e-10))


def test_kinetic_energy_is_a_sum_over_the_nodes() -> None:
    """A solid's nodes carry its mass: positions and velocities of result points give momentum and energy."""
    values = np.random.default_rng(4)
    nodes = values.uniform(-0.5, 0.5, (6, 3))
    masses = values.uniform(0.5, 1.5, 6)
    mass = np.kron(np.diag(masses), np.eye(3))
    stiffness = np.zeros((18, 18))
    for a in range(6):
        for b in range(a):
            e = (nodes[a] - nodes[b]) / np.linalg.norm(nodes[a] - nodes[b])
            row = np.zeros(18)
            row[3 * a : 3 * a + 3], row[3 * b : 3 * b + 3] = e, -e
            stiffness += 900.0 * np.outer(row, row)
    modes = mb.flexible.free_modes(mb.flexible.Component(nodes, mass, stiffness), n_modes=5)
    system = mb.System("lattice", gravity=(0.3, 0.0, -9.81))
    body = system.add(
        mb.FlexibleBody(
            "body",
            modes,
            position=(1.0, 2.0, 3.0),
            rotation=Rotation.from_rotvec([0.3, 0.5, -1.0]),
            velocity=(1.0, 0.2, 0.4),
            angular_velocity=(1.0, -3.0, 2.0),
            modal_coordinates=0.1 * values.normal(size=5),
            modal_velocities=values.normal(size=5),
        )
    )
    result = mb.simulate(system, 0.3, **accurate())
    x = np.array([result.position(body, local_point=node) for node in nodes])
    v = np.array([result.velocity(body, local_point=node) for node in nodes])
    assert result.energy.kinetic == pytest.approx(0.5 * np.einsum("k,kni,kni->n", masses, v, v), rel=1e-12)
    assert result.momentum.linear == pytest.approx(np.einsum("k,kni->ni", masses, v), rel=1e-11)
    assert result.momentum.angular == pytest.approx(np.einsum("k,kni->ni", masses, np.cross(x, v)), rel=1e-11)
    fallen = -np.einsum("k,kni,i->n", masses, x, system.gravity)
    strain = 0.5 * np.einsum("nk,kl,nl->n", result.modal(body), modes.stiffness, result.modal(body))
    assert result.energy.potential == pytest.approx(fallen + strain, rel=1e-12)
    assert np.ptp(result.energy.total) < 1e-8 * result.energy.kinetic.max()
    # velocities and accelerations of a node are the derivatives of its position
    node = nodes[2]
    fine = mb.simulate(system, 0.2, t_eval=[0.1 - 1e-4, 0.1, 0.1 + 1e-4], **accurate())
    near = fine.position(body, local_point=node)
    assert fine.velocity(body, local_point=node)[1] == pytest.approx((near[2] - near[0]) / 2e-4, rel=1e-6)
    speeds = fine.velocity(body, local_point=node)
    change = (speeds[2] - speeds[0]) / 2e-4
    assert fine.acceleration(body, local_point=node)[1] == pytest.approx(change, abs=1e-5 * np.abs(change).max())


# --- held bodies ------------------------------------------------------------------------------------------------------


def cantilever(modes: Any, **options: Any) -> tuple[mb.System, mb.FlexibleBody]:
    """A beam along global y, fixed at its first node."""
    system = mb.System("cantilever", gravity=options.pop("gravity", (0, 0, 0)))
    turn = Rotation.from_euler("z", 90, degrees=True)
    rod = system.add(mb.FlexibleBody("rod", modes, position=(0.2, 0.1, 0.3), rotation=turn, **options))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0.2, 0.1, 0.3)))
    return system, rod


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_cantilever_deflects_by_the_closed_form(frame: str) -> None:
    """w = F L^3 / 3 E I at the tip, slope F L^2 / 2 E I, reactions F and F L."""
    modes = mb.flexible.craig_bampton(part(), interfaces=[0, 10], n_modes=0)
    system, rod = cantilever(modes, frame=frame)
    force = 1e-4
    tip = np.array([0.2, 1.1, 0.3])
    system.add(mb.PointForce("load", rod, at=tip, force=(0.0, 0.0, force)))
    state = mb.equilibrium(system)
    result = mb.evaluate(system, state)
    found = result.position(rod, local_point=TIP)[0] - tip
    assert found[2] == pytest.approx(force * LENGTH**3 / (3 * YOUNG * MOMENT), rel=1e-6)
    marker = mb.Marker(rod, at=tip)
    slope = result.rotation(marker).as_rotvec()[0]
    assert slope[0] == pytest.approx(force * LENGTH**2 / (2 * YOUNG * MOMENT), rel=1e-6)
    reaction = result.reaction("wall")
    assert reaction.force[0] == pytest.approx([0.0, 0.0, -force], abs=1e-12)
    assert reaction.torque[0] == pytest.approx([-force * LENGTH, 0.0, 0.0], abs=1e-10)


def test_cantilever_bends_under_its_weight() -> None:
    """w = rho A g L^4 / 8 E I, with the static deflection under the weight among the shapes."""
    beam = part()
    modes = mb.flexible.residual_modes(
        mb.flexible.craig_bampton(beam, interfaces=[0], n_modes=0, loads=beam.weight((0, 0, 1.0))),
        beam.weight((0, 0, 1.0)),
    )
    gravity = 1e-3
    system, rod = cantilever(modes, gravity=(0, 0, -gravity))
    result = mb.evaluate(system, mb.equilibrium(system))
    sag = result.position(rod, local_point=TIP)[0][2] - 0.3
    assert sag == pytest.approx(-DENSITY * AREA * gravity * LENGTH**4 / (8 * YOUNG * MOMENT), rel=1e-6)


def test_cantilever_held_by_a_joint_vibrates_as_the_finite_elements_do() -> None:
    """With all modes the linearization has the frequencies of the clamped finite-element model."""
    beam = part(4)
    modes = mb.flexible.craig_bampton(beam, interfaces=[0], n_modes=24)
    expected = np.sort(mb.flexible.clamped_modes(beam, node=0, n_modes=24).frequencies)
    system, _ = cantilever(modes)
    found = np.sort([m.frequency for m in mb.linearize(system).modes if m.eigenvalue.imag > 0])
    assert found == pytest.approx(expected, rel=1e-6)
    # first three bending frequencies: (beta L)^2 / 2 pi sqrt(E I / rho A L^4)
    bends = np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2
    theory = bends / (2 * np.pi) * np.sqrt(YOUNG * MOMENT / (DENSITY * AREA * LENGTH**4))
    system, _ = cantilever(mb.flexible.craig_bampton(part(20), interfaces=[0], n_modes=12))
    found = np.sort([m.frequency for m in mb.linearize(system).modes if m.eigenvalue.imag > 0])
    assert found[[0, 2, 4]] == pytest.approx(theory, rel=1e-4)


@pytest.mark.parametrize("supported", [False, True], ids=["pinned and free", "simply supported"])
def test_a_pinned_beam_vibrates_as_the_finite_elements_do(supported: bool) -> None:
    """The finite elements without the held freedoms are an independent eigenvalue problem."""
    beam = part(4)
    held = [0, 1, 2, 25, 26] if supported else [0, 1, 2]  # displacements of the first node; across the axis of the last
    free = np.setdiff1d(np.arange(30), held)
    mass, stiffness = (m.toarray()[np.ix_(free, free)] for m in (beam.mass_matrix, beam.stiffness_matrix))
    squares = eigh(stiffness, mass, eigvals_only=True)
    expected = np.sqrt(squares[squares > 1.0]) / (2 * np.pi)
    system = mb.System("pinned", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", mb.flexible.craig_bampton(beam, interfaces=[0, 4], n_modes=18)))
    system.add(mb.SphericalJoint("pin", system.ground, rod, at=(0, 0, 0)))
    if supported:
        system.add(mb.PointOnLineJoint("roller", system.ground, rod, at=TIP, axis=(1, 0, 0)))
    found = np.sort([m.frequency for m in mb.linearize(system).modes if m.eigenvalue.imag > 1.0])
    assert found == pytest.approx(expected, rel=1e-6)


def test_transfer_functions_see_the_deformation() -> None:
    """The static gain from a force and from a torque at the tip to its displacement: L^3 / 3 E I and L^2 / 2 E I."""
    modes = mb.flexible.craig_bampton(part(), interfaces=[0, 10], n_modes=0)
    system, rod = cantilever(modes, damping_ratios=0.01)
    tip = (0.2, 1.1, 0.3)
    system.add(mb.PointForce("force", rod, at=tip, force=(0.0, 0.0, 0.0)))
    system.add(mb.Torque("torque", rod, at=tip, torque=(0.0, 0.0, 0.0)))
    measure = mb.Displacement("height", system.ground, rod, at_i=tip, at_j=tip, axis=(0, 0, 1))
    system.add(measure)
    lin = mb.linearize(system, inputs=["force", "torque"], outputs=["height"])
    gain = lin.D - lin.C @ np.linalg.solve(lin.A, lin.B)
    stiffness = YOUNG * MOMENT
    expected = [0.0, 0.0, LENGTH**3 / (3 * stiffness), LENGTH**2 / (2 * stiffness), 0.0, 0.0]
    assert gain[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)


# --- stiff bodies are rigid -------------------------------------------------------------------------------------------


def pendulum(young: float) -> tuple[mb.System, Any]:
    system = mb.System("pendulum", gravity=(0, 0, -9.81))
    modes = mb.flexible.craig_bampton(part(young=young, shear=young / 2.6), interfaces=[0, 10], n_modes=0)
    rod = system.add(mb.FlexibleBody("rod", modes))
    system.add(mb.RevoluteJoint("pin", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    return system, rod


def test_stiff_body_moves_as_a_rigid_one() -> None:
    """The difference to the rigid motion falls in proportion to the compliance."""
    mass, center, inertia = part().mass, np.array([0.5, 0, 0]), part().inertia
    rigid = mb.System("rigid", gravity=(0, 0, -9.81))
    bar = rigid.add(mb.RigidBody("rod", mass=mass, center_of_mass=center, inertia=inertia))
    rigid.add(mb.RevoluteJoint("pin", rigid.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    t = np.linspace(0.0, 0.5, 6)
    expected = mb.simulate(rigid, 0.5, t_eval=t, **accurate()).position(bar, local_point=TIP)
    errors = []
    for young in (2.1e10, 2.1e11):
        system, rod = pendulum(young)
        result = mb.simulate(system, 0.5, t_eval=t, integrator=mb.RadauIIA(rtol=1e-8, atol=1e-10))
        errors.append(np.abs(result.position(rod, local_point=TIP) - expected).max())
    assert errors[0] < 1e-2
    assert errors[1] < 0.15 * errors[0]


# --- bad input --------------------------------------------------------------------------------------------------------


def test_a_point_far_from_any_node_is_refused_with_the_distance() -> None:
    system, rod = pendulum(2.1e11)
    system.add(mb.SphericalJoint("ball", system.ground, rod, at=(0.52, 0.0, 0.0)))
    with pytest.raises(mb.ModelError, match=r"ball.*at.*rod.*0\.02 m"):
        mb.Equations(system)


def test_modal_numbers_must_fit() -> None:
    modes = mb.flexible.craig_bampton(part(), interfaces=[0, 10], n_modes=0)
    with pytest.raises(mb.ModelError, match=r"modal_coordinates.*found 2 numbers; allowed are 6"):
        mb.FlexibleBody("rod", modes, modal_coordinates=(0.1, 0.2))
    with pytest.raises(mb.ModelError, match=r"modes.*craig_bampton"):
        mb.FlexibleBody("rod", "modes")


def test_a_node_turns_with_the_body_that_is_fixed_to_it():
    """Angular velocities and accelerations at a node of a bending rod are those of the rigid body clamped there."""
    part = mb.flexible.beam(
        length=1.0,
        elements=4,
        area=1e-4,
        second_moments=(8e-10, 8e-10),
        torsion=1.6e-9,
        young=2.1e9,
        shear=8.1e8,
        density=7850.0,
    )
    system = mb.System("clamped tip")
    rod = system.add(mb.FlexibleBody("rod", mb.flexible.craig_bampton(part, interfaces=[0, 4], n_modes=2)))
    system.add(mb.RevoluteJoint("pin", system.ground, rod, at=(0, 0, 0), axis=(0.3, 1.0, 0.2)))
    tip = system.add(mb.RigidBody("tip", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(1, 0, 0)))
    end = system.add(mb.FixedJoint("end", rod, tip, at=(1, 0, 0)))
    result = mb.simulate(system, 0.2, t_eval=np.linspace(0.0, 0.2, 6))
    assert np.abs(result.angular_velocity(tip) - result.angular_velocity(rod)).max() > 1e-2  # the rod is bent
    np.testing.assert_allclose(result.angular_velocity(end.i), result.angular_velocity(tip), rtol=0.0, atol=1e-9)
    alpha = result.angular_acceleration(tip)
    size = np.abs(alpha).max()
    np.testing.assert_allclose(result.angular_acceleration(end.i), alpha, rtol=0.0, atol=1e-9 * size)


# --- imported mass matrices -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_the_origin_of_an_imported_component_does_not_matter(frame: str) -> None:
    """A mass matrix with six freedoms a node, and the same with its origin 50 m away from the body."""
    beam = part(4, shear_factors=(0.8, 0.8))
    spin = np.array([0.0, 3.0, 5.0])

    def tip(shift: np.ndarray) -> np.ndarray:
        moved = mb.flexible.Component(beam.nodes + shift, beam.mass_matrix, beam.stiffness_matrix)
        modes = mb.flexible.craig_bampton(moved, interfaces=[0, 4], n_modes=1)
        system = mb.System("pendulum")
        speed = np.cross(spin, -shift)
        rod = mb.FlexibleBody("rod", modes, position=-shift, angular_velocity=spin, velocity=speed, frame=frame)
        system.add(mb.SphericalJoint("A", system.ground, system.add(rod), at=(0, 0, 0)))
        result = mb.simulate(system, 0.5, integrator=mb.DormandPrince(rtol=1e-9, atol=1e-11), t_eval=[0.5])
        return result.position(rod, local_point=TIP + shift)[0]

    assert tip(np.array([3.0, -20.0, 45.0])) == pytest.approx(tip(np.zeros(3)), abs=2e-8)
