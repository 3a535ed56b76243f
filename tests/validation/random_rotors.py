"""Random rotors with asymmetric shafts and disks: both frames against each other and against rigid disks.

`python -m tests.validation.random_rotors 200` looks at 200 of them and prints the largest disagreement.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import sparse

import mbframe as mb

YOUNG, SHEAR, DENSITY = 2.1e11, 8.1e10, 7850.0
Disk = tuple[int, float, np.ndarray]  # node, mass, principal inertias


def modes_of(part: mb.flexible.Component, kind: str, interfaces: list[int]) -> mb.flexible.Modes:
    everything = part.n_freedoms - 6
    if kind == "free":
        return mb.flexible.free_modes(part, n_modes=everything)
    if kind == "clamped":
        return mb.flexible.clamped_modes(part, node=0, n_modes=everything)
    return mb.flexible.craig_bampton(part, interfaces=interfaces, n_modes=everything - 6 * (len(interfaces) - 1))


def rotor(
    modes: mb.flexible.Modes,
    frame: str | None,
    speed: float,
    pinned: tuple[int, ...],
    disks: tuple[Disk, ...] = (),
) -> mb.System:
    """A spinning shaft in bearings, with rigid disks if any are given."""
    system, spin = mb.System("rotor", gravity=(0, 0, 0)), (speed, 0.0, 0.0)
    body = system.add(mb.FlexibleBody("shaft", modes, frame=frame, angular_velocity=spin))
    first, *others = (tuple(modes.component.nodes[k]) for k in pinned)
    system.add(mb.SphericalJoint("A", system.ground, body, at=first))
    for k, at in enumerate(others):
        system.add(mb.PointOnLineJoint(f"B{k}", system.ground, body, at=at, axis=(1, 0, 0)))
    for node, m, inertia in disks:
        at = tuple(modes.component.nodes[node])
        disk = system.add(mb.RigidBody(f"disk {node}", mass=m, inertia=inertia, position=at, angular_velocity=spin))
        system.add(mb.FixedJoint(f"fit {node}", body, disk, at=at))
    return system


def random_rotor(seed: int) -> tuple[mb.flexible.Component, tuple[Disk, ...], int, float]:
    """A shaft with unlike stiffnesses, disks (node, mass, principal inertias), the second bearing and a speed.

    The disks are attached where the shaft is; their inertias obey the triangle inequalities of bodies.
    """
    rng = np.random.default_rng(seed)
    elements = int(rng.integers(4, 8))
    moments = 10.0 ** rng.uniform(-8.5, -7.5, size=2)
    part = mb.flexible.beam(
        length=rng.uniform(0.5, 2.0),
        elements=elements,
        area=8.0 * np.sqrt(moments.max()),
        second_moments=moments,
        torsion=moments.sum(),
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
        shear_factors=(0.9, 0.8) if rng.random() < 0.5 else None,
        rotary_inertia=rng.random() < 0.5,
    )
    nodes = rng.choice(elements + 1, size=int(rng.integers(1, 4)), replace=False)
    disks = []
    for node in sorted(int(k) for k in nodes):
        masses = rng.uniform(0.1, 1.0, size=3)  # of three pairs of points on the principal axes
        radius, mass = rng.uniform(0.05, 0.25), rng.uniform(1.0, 20.0)
        squares = mass * radius**2 * masses / masses.sum()
        disks.append((node, mass, squares.sum() - squares))
    bearing = int(rng.integers(2, elements + 1))
    return part, tuple(disks), bearing, float(rng.uniform(20.0, 600.0))


def disagreements(seed: int) -> tuple[float, float]:
    """Of the lowest roots, relative to the larger of root and speed: node against mean frame, against rigid disks."""
    part, disks, bearing, speed = random_rotor(seed)
    bare = mb.flexible.Component(part.nodes, part.mass_matrix, part.stiffness_matrix)
    mass = sparse.lil_matrix(bare.mass_matrix)
    for node, m, inertia in disks:
        for k, value in enumerate((m, m, m, *inertia)):
            mass[6 * node + k, 6 * node + k] += value
    whole = mb.flexible.Component(bare.nodes, sparse.csr_array(mass), bare.stiffness_matrix)
    interfaces = sorted({0, bearing, *(disk[0] for disk in disks)})
    kind = ("craig_bampton", "free", "clamped")[seed % 3]
    pinned = (0, bearing)
    node, mean = (lowest(rotor(modes_of(whole, kind, interfaces), f, speed, pinned), speed) for f in ("node", "mean"))
    rigid = lowest(rotor(modes_of(bare, kind, interfaces), "mean", speed, pinned, disks), speed)
    scale = np.maximum(np.abs(node), speed)
    return float(np.abs((node - mean) / scale).max()), float(np.abs((node - rigid) / scale).max())


def lowest(system: mb.System, speed: float, count: int = 12) -> np.ndarray:
    """The first roots in axes that turn with the shaft, in order of size.

    Without dissipation λ, -λ and their conjugates are roots together: one of the first quadrant stands for them.
    """
    found = mb.linearize(system, frame=mb.TurningFrame(axis=(1, 0, 0), rate=speed)).eigenvalues
    found = np.abs(found.real) + 1j * np.abs(found.imag)
    return found[np.argsort(np.abs(found), kind="stable")][: 2 * count]


if __name__ == "__main__":
    worst = np.array([disagreements(seed) for seed in range(int(sys.argv[1]))])
    print("frames", worst[:, 0].max(), worst[:, 0].argmax(), "rigid disks", worst[:, 1].max(), worst[:, 1].argmax())
