"""Flexible bodies in the plane against the same bodies in space, which joints confine to it, and closed forms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.errors import ModelError

STEEL = {"young": 2.1e11, "shear": 8.1e10, "density": 7850.0}
FLAT = mb.flexible.rectangle(0.02, 0.01)
TIGHT = mb.DormandPrince(order=8, rtol=1e-12, atol=1e-14)


def beam(**values: Any) -> mb.flexible.Component:
    return mb.flexible.beam(length=1.0, elements=6, **(STEEL | FLAT | values))


def gusset() -> mb.flexible.Component:
    """A bent frame of two sections in the plane."""
    nodes = np.array([[0.0, 0.0, 0.0], [0.6, 0.15, 0.0], [1.0, 0.0, 0.0], [0.5, -0.2, 0.0]])
    return mb.flexible.frame(
        nodes, [(0, 1), (1, 2), (0, 3), (3, 2)], y_axis=(0, 0, 1), subdivisions=2, **(STEEL | FLAT)
    )


def matrices() -> mb.flexible.Component:
    part = beam()
    return mb.flexible.Component(part.nodes, part.mass_matrix, part.stiffness_matrix, lines=part.lines)


def modes_of(part: mb.flexible.Component, kind: str = "craig_bampton") -> mb.flexible.Modes:
    ends = [int(np.argmin(np.linalg.norm(part.nodes - [x, 0, 0], axis=1))) for x in (0.0, 1.0)]
    if kind == "clamped":
        return mb.flexible.clamped_modes(part, node=ends[0], n_modes=8)
    return mb.flexible.craig_bampton(part, interfaces=ends, n_modes=4)


def slider_crank(modes: Any, dimension: int, middle: float = 0.5, **options: Any) -> mb.System:
    """A crank of 0.2 m, the flexible rod and a block, at a dead point where the rod begins to swing; a load on it."""
    plane = dimension == 2

    def at(x: float, y: float = 0.0) -> tuple[float, ...]:
        return (x, y) if plane else (x, y, 0.0)

    def rigid(name: str, mass: float, inertia: float, x: float, speed: float = 0.0, spin: float = 0.0) -> Any:
        kind = mb.PlanarBody if plane else mb.RigidBody
        return kind(
            name,
            mass=mass,
            inertia=inertia if plane else (inertia,) * 3,
            position=at(x),
            velocity=at(0.0, speed),
            angular_velocity=spin if plane else (0.0, 0.0, spin),
        )

    system = mb.System("slider-crank", dimension=dimension, gravity=at(0.0, -9.81))
    crank = system.add(rigid("crank", 1.0, 0.02, 0.1, speed=0.5, spin=5.0))
    swing = {"velocity": at(0.0, 1.0), "angular_velocity": -1.0 if plane else (0.0, 0.0, -1.0)}
    kind = mb.PlanarFlexibleBody if plane else mb.FlexibleBody
    if not plane:
        modes = mb.PlanarFlexibleBody("rod", modes).used_modes
    rod = system.add(kind("rod", modes, position=at(0.2), damping_ratios=0.02, **swing, **options))
    block = system.add(rigid("block", 0.5, 0.01, 1.2))
    normal = {} if plane else {"axis": (0, 0, 1)}
    system.add(mb.RevoluteJoint("A", system.ground, crank, at=at(0.0), **normal))
    system.add(mb.RevoluteJoint("B", crank, rod, at=at(0.2), **normal))  # in space this keeps the rod in the plane
    system.add((mb.RevoluteJoint if plane else mb.PointOnLineJoint)("C", block, rod, at=at(1.2), **normal))
    system.add(mb.TranslationalJoint("D", system.ground, block, at=at(1.2), axis=at(1.0)))
    system.add(mb.PointForce("load", rod, at=at(0.2 + middle), force=at(1.0, -3.0)))
    return system


def planar_part(vectors: np.ndarray) -> np.ndarray:
    return vectors[..., :2]


def run(system: mb.System) -> mb.Result:
    return mb.simulate(system, t_end=0.05, t_eval=np.linspace(0.0, 0.05, 6), integrator=TIGHT)


@pytest.mark.parametrize(
    ("options", "stiffened"),
    [({"frame": "mean"}, False), ({"frame": "node"}, False), ({"geometric_stiffening": True}, True)],
    ids=["mean", "node", "stiffened"],
)
def test_a_slider_crank_moves_as_in_space(options: dict[str, Any], stiffened: bool) -> None:
    modes = modes_of(beam())
    plane, space = (run(slider_crank(modes, dimension, **options)) for dimension in (2, 3))
    for quantity in ("position", "velocity", "acceleration"):
        for body in ("rod", "block"):
            found, expected = (getattr(r, quantity)(body) for r in (plane, space))
            assert found == pytest.approx(planar_part(expected), abs=1e-9 * np.abs(expected).max())
    assert plane.modal("rod") == pytest.approx(space.modal("rod"), abs=1e-9 * np.abs(space.modal("rod")).max())
    assert plane.angle("rod") == pytest.approx(np.arctan2(*space.rotation_matrix("rod")[:, [1, 0], 0].T), abs=1e-10)
    for joint in ("A", "C"):
        found, expected = plane.reaction(joint).force, space.reaction(joint).force
        assert found == pytest.approx(planar_part(expected), abs=1e-9 * np.abs(expected).max())
    found, expected = plane.stress("rod"), space.stress("rod")
    assert found == pytest.approx(expected, abs=1e-9 * expected.max())
    assert np.abs(plane.energy.balance).max() < 1e-9 * plane.energy.kinetic.max()


@pytest.mark.parametrize("part", [beam, gusset, matrices], ids=["beam", "frame", "matrices"])
@pytest.mark.parametrize("stiffened", [False, True], ids=["linear", "stiffened"])
def test_roots_are_those_in_space_without_what_leaves_the_plane(part: Any, stiffened: bool) -> None:
    """A clamped, loaded body about its rest: equal positions, reactions, roots; the rest of space is left out."""
    component = part()
    if stiffened and not component.knows_elements:
        pytest.skip("matrices do not say how bending shortens a body")
    modes = modes_of(component)
    found = []
    for dimension in (2, 3):
        plane = dimension == 2

        def at(x: float, y: float = 0.0, plane: bool = plane) -> tuple[float, ...]:
            return (x, y) if plane else (x, y, 0.0)

        system = mb.System("held", dimension=dimension, gravity=at(0.0, -9.81))
        kind = mb.PlanarFlexibleBody if plane else mb.FlexibleBody
        used = modes if plane else mb.PlanarFlexibleBody("rod", modes).used_modes
        rod = system.add(kind("rod", used, damping_ratios=0.05, geometric_stiffening=stiffened))
        system.add(mb.FixedJoint("wall", system.ground, rod, at=at(0.0)))
        system.add(mb.PointForce("load", rod, at=at(1.0), force=at(-30.0, 5.0)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rest = mb.equilibrium(system)
            found.append((mb.evaluate(system, rest), mb.linearize(system, rest)))
    (plane, lin), (space, whole) = found
    assert lin.eigenvalues == pytest.approx(whole.eigenvalues, rel=1e-9)
    assert len(lin.eigenvalues) == 2 * rod.used_modes.count
    assert plane.modal("rod") == pytest.approx(space.modal("rod"), abs=1e-9 * np.abs(space.modal("rod")).max())
    assert plane.reaction("wall").force[0] == pytest.approx(space.reaction("wall").force[0, :2], rel=1e-9)
    assert plane.reaction("wall").torque[0] == pytest.approx(space.reaction("wall").torque[0, 2], rel=1e-9)
    if component.knows_elements:
        assert plane.stress("rod") == pytest.approx(space.stress("rod"), abs=1e-9 * space.stress("rod").max())


def test_a_cantilever_in_the_plane_bends_and_vibrates_as_beam_theory_says() -> None:
    load, iz = 0.5, FLAT["second_moments"][1]
    system = mb.System("cantilever", dimension=2, gravity=(0, 0))
    rod = system.add(mb.PlanarFlexibleBody("rod", modes_of(beam()), position=(0.3, -0.2), angle=0.7))
    tip = np.array([0.3 + np.cos(0.7), -0.2 + np.sin(0.7)])
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0.3, -0.2)))
    lowest = min(mode.frequency for mode in mb.linearize(system).modes)
    first = 1.8751040687**2 / (2 * np.pi) * np.sqrt(2.1e11 * iz / (7850.0 * FLAT["area"]))
    assert lowest == pytest.approx(first, rel=5e-4)
    across = np.array([-np.sin(0.7), np.cos(0.7)])
    system.add(mb.PointForce("load", rod, at=tip, force=load * across))
    result = mb.evaluate(system, mb.equilibrium(system))
    moved = result.position(rod, local_point=(1, 0))[0] - tip
    assert moved @ across == pytest.approx(load / (3 * 2.1e11 * iz), rel=1e-6)
    assert result.stress(rod)[0, 0] == pytest.approx(load * 0.01 / iz, rel=1e-6)
    assert result.section_forces(rod, 0.0).bending[0, 1] == pytest.approx(-load, rel=1e-7)
    assert result.reaction("wall").torque[0] == pytest.approx(-load, rel=1e-7)


def four_bar(modes: Any, formulation: Any = None, **options: Any) -> mb.Result:
    """Two rigid bars and a flexible coupler that turns once; one bar is driven."""
    system = mb.System("four-bar", dimension=2, gravity=(0, -9.81))
    crank = system.add(mb.PlanarBody("crank", mass=1.0, inertia=0.02, position=(0, 0.2), angle=np.pi / 2))
    coupler = system.add(mb.PlanarFlexibleBody("coupler", modes, position=(0, 0.4), damping_ratios=0.05, **options))
    rocker = system.add(mb.PlanarBody("rocker", mass=1.0, inertia=0.05, position=(1.0, 0.0), angle=np.pi / 2))
    motor = system.add(mb.RevoluteJoint("A", system.ground, crank, at=(0, 0)))
    system.add(mb.RevoluteJoint("B", crank, coupler, at=(0, 0.4)))
    system.add(mb.RevoluteJoint("C", coupler, rocker, at=(1.0, 0.4)))
    system.add(mb.RevoluteJoint("D", system.ground, rocker, at=(1.0, -0.4)))
    system.add(mb.Driver("motor", motor, angle="-5*t**2"))
    system.add(mb.SpringDamper("spring", system.ground, coupler, at_i=(0.5, 1.0), at_j=(0.5, 0.4), stiffness=50.0))
    system.add(mb.TorsionalSpringDamper("coil", crank, coupler, at=(0, 0.4), stiffness=1.0, damping=0.01))
    return mb.simulate(system, t_end=0.3, t_eval=np.linspace(0, 0.3, 4), formulation=formulation, integrator=TIGHT)


@pytest.mark.parametrize("formulation", [mb.PlanarNatural(), mb.PlanarEulerParameters()], ids=repr)
def test_any_formulation_may_stand_beside_it(formulation: mb.Formulation) -> None:
    modes = modes_of(beam())
    found, expected = four_bar(modes, formulation), four_bar(modes)
    assert found.modal("coupler") == pytest.approx(expected.modal("coupler"), abs=1e-9)
    assert found.reaction("B").force == pytest.approx(expected.reaction("B").force, rel=1e-6)
    assert np.abs(expected.energy.balance).max() < 1e-9 * expected.energy.kinetic.max()


@pytest.mark.parametrize("options", [{"frame": "node"}, {"frame": "mean"}, {"geometric_stiffening": True}], ids=repr)
def test_sections_of_a_four_bar_balance_inertia_and_reactions(options: dict[str, Any]) -> None:
    """The section at the first joint carries its reaction, and so does that at the last one."""
    modes = modes_of(beam())
    result = four_bar(modes, **options)
    angle = result.angle("coupler")
    seen = result.reaction("B").force
    along = np.cos(angle) * seen[:, 0] + np.sin(angle) * seen[:, 1]
    first, last = result.section_forces("coupler", 0.0), result.section_forces("coupler", 1.0)
    size = np.abs(seen).max()
    if options.get("frame") == "node":  # whose axes are those of the node
        assert first.axial == pytest.approx(-along, abs=1e-8 * size)
    assert np.hypot(first.axial, first.shear[:, 0]) == pytest.approx(np.linalg.norm(seen, axis=1), rel=1e-8)
    assert np.abs(first.shear[:, 1]).max() <= 1e-12 * size
    away = result.reaction("C").force
    assert np.hypot(last.axial, last.shear[:, 0]) == pytest.approx(np.linalg.norm(away, axis=1), rel=1e-8)


def test_stress_does_not_depend_on_the_floating_frame() -> None:
    """Of a body that is hardly bent: linear theories of two frames differ by the square of that."""
    modes = modes_of(beam(young=2.1e13, shear=8.1e12))
    node, mean = (four_bar(modes, frame=frame).stress("coupler") for frame in ("node", "mean"))
    assert node == pytest.approx(mean, abs=3e-5 * mean.max())


@pytest.mark.parametrize("integrator", [mb.RadauIIA(rtol=1e-8), mb.GeneralizedAlpha()], ids=["radau", "alpha"])
def test_implicit_steps_know_its_tangent(integrator: mb.Integrator) -> None:
    results = []
    for used in (integrator, TIGHT):
        system = slider_crank(modes_of(beam(), "clamped"), 2, geometric_stiffening=True)
        dt = {} if used.adaptive else {"dt": 2e-5}
        results.append(mb.simulate(system, t_end=0.02, integrator=used, t_eval=[0.0, 0.02], **dt))
    assert results[0].position("block")[-1] == pytest.approx(results[1].position("block")[-1], abs=1e-7)


def test_modes_that_leave_the_plane_are_left_out_and_told() -> None:
    modes = modes_of(beam())
    rod = mb.PlanarFlexibleBody("rod", modes)
    out = np.abs(modes.shapes.reshape(-1, 6, modes.count)[:, 2:5]).max(axis=(0, 1))
    assert rod.left_out == tuple(np.flatnonzero(out > 1e-6 * np.abs(modes.shapes).max(axis=0)).tolist())
    assert rod.used_modes.count + len(rod.left_out) == modes.count
    assert ("Modes left out", list(rod.left_out), "") in rod.facts()
    mixed = mb.flexible.user_modes(modes.component, modes.shapes @ np.linalg.qr(np.ones((10, 10)) + np.eye(10))[0])
    parts = mb.PlanarFlexibleBody("rod", mixed).used_modes  # mixtures of what stays and what leaves
    assert parts.count == rod.used_modes.count
    assert parts.frequencies == pytest.approx(rod.used_modes.frequencies, rel=1e-6)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            lambda: mb.flexible.frame([[0, 0, 0], [1, 0, 0.2]], [(0, 1)], **STEEL, **FLAT),
            "no image in a mirror at z = 0",
        ),
        (
            lambda: mb.flexible.frame([[0, 0, 0], [1, 0, 0]], [(0, 1)], y_axis=(0, 1, 0.3), **STEEL, **FLAT),
            "changes in a mirror",
        ),
    ],
    ids=["slanted", "tilted section"],
)
def test_components_that_leave_the_plane_are_refused(part: Any, told: str) -> None:
    modes = mb.flexible.free_modes(part(), n_modes=4)
    with pytest.raises(ModelError, match=told):
        mb.PlanarFlexibleBody("rod", modes)


def test_modes_that_all_leave_the_plane_are_refused() -> None:
    modes = modes_of(beam())
    out = mb.PlanarFlexibleBody("rod", modes).left_out
    only = mb.flexible.user_modes(modes.component, modes.shapes[:, list(out)])
    with pytest.raises(ModelError, match="all 6 shapes leave the plane"):
        mb.PlanarFlexibleBody("rod", only)
