"""Whirl of rotors inside a component: gyroscopic moments of sections and disks, in all frames and kinds of modes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import block_diag

import mbframe as mb

from .random_rotors import disagreements, lowest, modes_of, rotor
from .rotor_model import Disk, Rotor, turning_roots

YOUNG, SHEAR, DENSITY = 2.1e11, 8.1e10, 7850.0
LENGTH, ELEMENTS = 1.0, 8


def shaft(diameter: float, kind: str = "rayleigh", elements: int = ELEMENTS) -> mb.flexible.Component:
    moment = np.pi * diameter**4 / 64
    return mb.flexible.beam(
        length=LENGTH,
        elements=elements,
        area=np.pi * diameter**2 / 4,
        second_moments=(moment, moment),
        torsion=2 * moment,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
        shear_factors=(0.9, 0.9) if kind == "timoshenko" else None,
        rotary_inertia=kind == "rayleigh",
    )


def reference(
    diameter: float, kind: str = "rayleigh", disks: tuple[Disk, ...] = (), pinned: tuple[int, ...] = (0, ELEMENTS)
) -> Rotor:
    moment, area = np.pi * diameter**4 / 64, np.pi * diameter**2 / 4
    return Rotor(
        LENGTH,
        ELEMENTS,
        YOUNG * moment,
        DENSITY * area,
        0.0 if kind == "euler" else DENSITY * moment,
        2 * DENSITY * moment,
        0.9 * SHEAR * area if kind == "timoshenko" else np.inf,
        disks,
        pinned,
    )


def with_disks(part: mb.flexible.Component, disks: tuple[Disk, ...]) -> mb.flexible.Component:
    mass = sparse.lil_matrix(part.mass_matrix)
    for node, m, polar, diametral in disks:
        for k, value in enumerate((m, m, m, polar, diametral, diametral)):
            mass[6 * node + k, 6 * node + k] += value
    return mb.flexible.Component(part.nodes, sparse.csr_array(mass), part.stiffness_matrix)


def roots(system: mb.System, speed: float) -> np.ndarray:
    """Frequencies in axes that turn with the shaft, rad/s, in order."""
    found = mb.linearize(system, frame=mb.TurningFrame(axis=(1, 0, 0), rate=speed)).eigenvalues
    assert np.abs(found.real).max() < 1e-4 * np.abs(found).max(), "nothing dissipates"
    return np.sort(found.imag[found.imag > 0.0])


def assert_whirls(found: np.ndarray, expected: np.ndarray, speed: float, tolerance: float) -> None:
    """A whirl ω in fixed axes is |ω - Ω| in turning ones."""
    for omega in expected:
        assert np.abs(found - abs(omega - speed)).min() < tolerance * abs(omega), (omega, found)


CASES = {
    "Jeffcott": (0.03, "rayleigh", ((4, 20.0, 0.4, 0.2),), (0, 8)),
    "overhung": (0.03, "rayleigh", ((8, 12.0, 0.5, 0.26),), (0, 5)),
    "two disks": (0.04, "rayleigh", ((2, 15.0, 0.6, 0.3), (6, 25.0, 0.4, 0.3)), (0, 8)),
    "Rayleigh shaft": (0.12, "rayleigh", (), (0, 8)),
    "Timoshenko shaft": (0.12, "timoshenko", (), (0, 8)),
    "Euler-Bernoulli shaft": (0.12, "euler", (), (0, 8)),
}


@pytest.mark.sample
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["craig_bampton", "free", "clamped"])
@pytest.mark.parametrize("frame", ["node", "mean"])
def test_whirl_is_that_of_a_rotor_model(case: str, kind: str, frame: str) -> None:
    diameter, theory, disks, pinned = CASES[case]
    part = shaft(diameter, theory)
    if disks:
        part = with_disks(part, disks)
    modes = modes_of(part, kind, sorted({*pinned, *(disk[0] for disk in disks)}))
    model = reference(diameter, theory, disks, pinned)
    slowest = abs(model.whirl(0.0)[0])
    for speed in np.linspace(0.1, 2.5, 10) * slowest:
        assert_whirls(roots(rotor(modes, frame, speed, pinned), speed), model.whirl(speed)[:4], speed, 1e-4)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(8))
def test_random_rotors_do_not_depend_on_the_frame_and_equal_rigid_disks(seed: int) -> None:
    assert max(disagreements(seed)) < 1e-6


def test_a_free_spin_is_known_where_large_inertias_cancel() -> None:
    """Seen from the node of a far bearing; taken for other roots its double zero is off by the root of rounding."""
    assert max(disagreements(915080)) < 1e-10


@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize("speed", [60.0, 120.0, 200.0])
def test_rotors_that_are_not_round(speed: float, frame: str) -> None:
    """Unlike planes of bending and three unlike inertias, in rigid bearings; against a Lagrangian in turning axes.

    Between its two critical speeds, about 95 and 147 rad/s, such a rotor is unstable.
    """
    moments, area, disks = (4e-8, 1.6e-8), 6e-4, ((3, 15.0, (0.4, 0.26, 0.18)), (6, 8.0, (0.1, 0.05, 0.08)))
    section = {"area": area, "second_moments": moments, "torsion": sum(moments), "rotary_inertia": True}
    part = mb.flexible.beam(length=LENGTH, elements=ELEMENTS, young=YOUNG, shear=SHEAR, density=DENSITY, **section)
    values = {"bending": tuple(YOUNG * m for m in moments), "mass": DENSITY * area}
    values |= {"tilt": tuple(DENSITY * m for m in moments), "disks": disks, "pinned": (0, ELEMENTS)}
    expected = turning_roots(speed, LENGTH, ELEMENTS, **values)
    mass = part.mass_matrix.toarray()
    for node, heavy, inertia in disks:
        mass[range(6 * node, 6 * node + 6), range(6 * node, 6 * node + 6)] += (heavy,) * 3 + inertia
    whole = replace(part, mass_matrix=mass)
    modes = modes_of(whole, "craig_bampton", [0, 3, 6, ELEMENTS])
    found = mb.linearize(
        rotor(modes, frame, speed, (0, ELEMENTS)), frame=mb.TurningFrame(axis=(1, 0, 0), rate=speed)
    ).eigenvalues
    for root in expected[np.argsort(np.abs(expected))][:12]:
        assert np.abs(found - root).min() < 1e-5 * abs(root)
    assert (expected.real.max() > 1.0) == (found.real.max() > 1.0) == (speed == 120.0)


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_a_light_shaft_with_a_heavy_disk(frame: str) -> None:
    """The shaft has 4e-8 of the disk's mass; the disk is at a quarter of it and whirls as on a massless one."""
    diameter, disks, speed = 0.02, ((2, 8.0, 0.1, 0.05),), 300.0
    moment, area = np.pi * diameter**4 / 64, np.pi * diameter**2 / 4
    part = mb.flexible.beam(
        length=LENGTH,
        elements=ELEMENTS,
        area=area,
        second_moments=(moment, moment),
        torsion=2 * moment,
        young=YOUNG,
        shear=SHEAR,
        density=1e-3,
    )
    modes = mb.flexible.craig_bampton(with_disks(part, disks), interfaces=[0, 2, ELEMENTS], n_modes=4)
    model = Rotor(LENGTH, ELEMENTS, YOUNG * moment, 1e-3 * area, disks=disks, pinned=(0, ELEMENTS))
    assert_whirls(roots(rotor(modes, frame, speed, (0, 8)), speed), model.whirl(speed)[:2], speed, 1e-4)


def test_a_mass_matrix_with_disks_on_beams_keeps_both() -> None:
    """Disks in the mass matrix of a shaft made of beams: they whirl, and the shaft can be stiffened by tension."""
    part = shaft(0.06)
    mass = sparse.lil_matrix(part.mass_matrix)
    for k, value in enumerate((20.0, 20.0, 20.0, 0.55, 0.3, 0.3)):
        mass[18 + k, 18 + k] += value
    with_disk = replace(part, mass_matrix=sparse.csr_array(mass))
    bare = mb.flexible.Component(part.nodes, with_disk.mass_matrix, part.stiffness_matrix)
    disks = ((3, 20.0, np.array([0.55, 0.3, 0.3])),)
    again = mb.flexible.Component.from_values(with_disk.to_values())
    assert abs(again.mass_matrix - with_disk.mass_matrix).max() == 0.0
    speed = 300.0
    expected = lowest(rotor(modes_of(part, "craig_bampton", [0, 3, 8]), "mean", speed, (0, 8), disks), speed)
    for whole, error in ((with_disk, 1e-6), (again, 1e-6), (bare, 1e-4)):  # a matrix does not know sections
        for frame in ("node", "mean"):
            found = lowest(rotor(modes_of(whole, "craig_bampton", [0, 3, 8]), frame, speed, (0, 8)), speed)
            assert found == pytest.approx(expected, rel=error)
    # Pulled by a force along it, with the disk outside and inside.
    roots = []
    for component, outside in ((part, disks), (again, ())):
        system = rotor(modes_of(component, "craig_bampton", [0, 3, 8]), "mean", 0.0, (0, 8), outside)
        system["shaft"].geometric_stiffening = True
        system.add(mb.PointForce("pull", system["shaft"], at=(LENGTH, 0, 0), force=(3e5, 0, 0)))
        roots.append(mb.linearize(system, mb.equilibrium(system)).eigenvalues)
        roots[-1] = np.sort(roots[-1].imag[roots[-1].imag > 1.0])[:4]
    assert roots[1] == pytest.approx(roots[0], rel=1e-4)  # the strain is 5e-4
    assert roots[1][0] > 1.05 * expected.imag.min()


def test_another_stiffness_than_that_of_the_beams_is_refused() -> None:
    part = shaft(0.06)
    with pytest.raises(mb.ModelError, match="not that of its beams"):
        replace(part, stiffness_matrix=1.1 * part.stiffness_matrix)


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_a_far_origin_does_not_make_a_rotor_unstable(frame: str) -> None:
    """Round, on damped bearings alike in all directions; its component has its origin far away, as CAD has it.

    In the frame of a node inertias of 10,000 kg m^2 cancel, and what rounding leaves of that is no growth.
    """
    speed, length, diameter, along = 900.0, 0.8, 0.02, np.array([1.0, 2.0, -2.0]) / 3
    moment, shift = np.pi * diameter**4 / 64, np.array([30.0, -10.0, 20.0])
    part = mb.flexible.frame(
        np.linspace(0.0, length, ELEMENTS + 1)[:, None] * along + shift,
        [(k, k + 1) for k in range(ELEMENTS)],
        area=np.pi * diameter**2 / 4,
        second_moments=(moment, moment),
        torsion=2 * moment,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
        rotary_inertia=True,
    )
    mass = part.mass_matrix.toarray()
    for node, heavy, polar, diametral in ((8, 5.0, 0.04, 0.02), (4, 3.0, 0.02, 0.01)):
        own = diametral * np.eye(3) + (polar - diametral) * np.outer(along, along)
        mass[6 * node : 6 * node + 3, 6 * node : 6 * node + 3] += heavy * np.eye(3)
        mass[6 * node + 3 : 6 * node + 6, 6 * node + 3 : 6 * node + 6] += own
    given = mb.flexible.Component(part.nodes, mass, part.stiffness_matrix)
    modes = mb.flexible.craig_bampton(given, [0, 5], n_modes=36)
    system, spin = mb.System("rotor", gravity=(0, 0, 0)), speed * along
    body = mb.FlexibleBody("shaft", modes, frame=frame, position=-shift, angular_velocity=spin)
    body.velocity = np.cross(spin, -shift)
    system.add(body)
    for k, at in enumerate((0.0 * along, 5 / 8 * length * along)):
        bearing = {"stiffness": (4e6,) * 3 + (0,) * 3, "damping": (300.0,) * 3 + (0,) * 3}
        system.add(mb.Bushing(f"bearing {k}", system.ground, body, at=tuple(at), **bearing))
    lin = mb.linearize(system, frame=mb.TurningFrame(axis=along, rate=speed))
    assert lin.stability == "marginal", "torsion and stretching are not damped"
    system["bearing 1"].update(damping=(-1e-2,) * 3 + (0,) * 3)
    system["bearing 0"].update(damping=(0.0,) * 6)
    assert mb.linearize(system, frame=mb.TurningFrame(axis=along, rate=speed)).stability == "unstable"


def test_a_flexible_rotor_on_bearings_that_are_not_alike_in_all_directions() -> None:
    """Its shapes turn with it, so that it is refused in both frames, by its name and with a remedy that works.

    The remedy is a shaft that stands still and rigid disks that spin on it: as a finite-element model in two planes.
    """
    disks, speed, diameter = ((8, 5.0, 0.04, 0.02), (4, 3.0, 0.02, 0.01)), 400.0, 0.02
    across = {0: (4e6, 8e5), 5: (4e6, 8e5)}  # N/m along y and z
    part = shaft(diameter, "euler")

    def on_bearings(modes: mb.flexible.Modes, spin: float) -> mb.System:
        system = mb.System("rotor", gravity=(0, 0, 0))
        body = system.add(mb.FlexibleBody("shaft", modes, angular_velocity=(spin, 0, 0)))
        for node, values in across.items():
            at, stiffness = (node / ELEMENTS * LENGTH, 0, 0), (4e6, *values, 0 if spin else 1e3, 0, 0)
            system.add(mb.Bushing(f"bearing {node}", system.ground, body, at=at, stiffness=stiffness))
        return system

    spinning = on_bearings(mb.flexible.craig_bampton(with_disks(part, disks), [0, 5], n_modes=12), speed)
    for frame in (None, mb.TurningFrame(axis=(1, 0, 0), rate=speed)):
        with pytest.raises(mb.AnalysisError, match=r"FlexibleBody 'shaft' spins and is flexible.*on RevoluteJoints"):
            mb.linearize(spinning, frame=frame)

    standing = on_bearings(mb.flexible.craig_bampton(part, [0, 4, 5, 8], n_modes=20), 0.0)
    for node, mass, polar, diametral in disks:
        at = (node / ELEMENTS * LENGTH, 0, 0)
        values = {"mass": mass, "inertia": (polar, diametral, diametral), "position": at}
        disk = standing.add(mb.RigidBody(f"disk {node}", angular_velocity=(speed, 0, 0), **values))
        standing.add(mb.RevoluteJoint(f"hub {node}", standing["shaft"], disk, at=at, axis=(1, 0, 0)))
    found = mb.linearize(standing).eigenvalues.imag

    M, G, K = replace(reference(diameter, "euler", disks, pinned=()), polar=0.0).matrices()
    planes = [K.copy(), K.copy()]
    for node, values in across.items():
        for plane, value in zip(planes, values, strict=True):
            plane[2 * node, 2 * node] += value
    none = np.zeros_like(M)
    stiffness, gyro = block_diag(*planes), speed * np.block([[none, G], [-G, none]])
    inverse = np.linalg.inv(block_diag(M, M))
    state = np.block([[np.zeros_like(stiffness), np.eye(len(stiffness))], [-inverse @ stiffness, -inverse @ gyro]])
    right = np.sort(np.linalg.eigvals(state).imag)
    for omega in right[right > 1.0][:6]:
        assert np.abs(found - omega).min() < 1e-4 * omega
