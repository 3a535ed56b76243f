"""Random systems of round bodies that spin and roll steadily, as mbframe and the dense reference see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import mbframe as mb

from .dense_linearization import RefBody, RefSystem, polynomial_difference, slip, state_matrix, unsteady

X, Y, Z = np.eye(3)
SAME = 100.0  # roundings by which polynomials may differ; loads of constraints that cancel make ten of them
GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Case:
    """A family's name, the system for the reference, and the frame in which it stands still (None: none is needed)."""

    family: str
    reference: RefSystem
    frame: mb.TurningFrame | None


def ball(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.02, 1.0) * np.eye(3)


def top(rng: np.random.Generator, axis: np.ndarray) -> np.ndarray:
    """Inertia of a body that is round about an axis, or about all."""
    across = rng.uniform(0.05, 1.0)
    along = across if rng.random() < 0.4 else across * rng.uniform(0.1, 1.9)
    return across * np.eye(3) + (along - across) * np.outer(axis, axis)


def hub_with_arms(rng: np.random.Generator) -> Case:
    """A hub that spins about the vertical and carries arms on hinges, beside its axis or below it."""
    s = RefSystem(turn=rng.uniform(0.5, 6.0) * Z)
    free, below = rng.random() < 0.4, rng.random() < 0.3
    inertia = ball(rng) if rng.random() < 0.5 else top(rng, Z)
    s.bodies.append(RefBody("hub", rng.uniform(0.5, 3.0), inertia, np.zeros(3), np.zeros(3), s.turn))
    if not free:
        s.joints.append(("hinge", -1, 0, np.zeros(3), Z))
        if below or rng.random() < 0.2:
            s.gravity = GRAVITY if below else np.zeros(3)
    count = 1 if free or below else int(rng.integers(1, 4))
    for k in range(count):
        angle = rng.uniform(0.0, 2.0 * np.pi)
        out = -Z if below else np.array([np.cos(angle), np.sin(angle), 0.0])
        side = np.array([-np.sin(angle), np.cos(angle), 0.0])
        hinge = rng.uniform(0.0, 0.6) * out
        center = hinge + rng.uniform(0.2, 0.8) * out
        axes = np.column_stack([out, side, np.cross(out, side)])
        moments = rng.uniform(0.05, 0.1, 3) if rng.random() < 0.5 else np.full(3, rng.uniform(0.01, 0.3))
        s.bodies.append(
            RefBody(
                f"arm {k}",
                rng.uniform(0.2, 2.0),
                axes @ np.diag(moments) @ axes.T,
                center,
                np.cross(s.turn, center),
                s.turn,
            )
        )
        tilt = 0.0 if below else rng.choice([0.0, np.pi / 2])  # flapping or lagging
        s.joints.append(("hinge", 0, k + 1, hinge, np.cos(tilt) * side + np.sin(tilt) * Z))
        if rng.random() < 0.3:
            fixed = hinge + 0.3 * np.cross(out, side)
            s.springs.append((0, k + 1, fixed, center, rng.uniform(1.0, 50.0), rng.uniform(0.0, 2.0), 0.0))
            s.springs.append((0, k + 1, 2.0 * hinge - fixed, center, *s.springs[-1][4:]))
    if free:  # about the common centre of mass, which runs along the axis
        mass = sum(b.mass for b in s.bodies)
        center = sum(b.mass * b.position for b in s.bodies) / mass
        along = rng.uniform(-1.0, 1.0) * Z
        for b in s.bodies:
            b.velocity = np.cross(s.turn, b.position - center) + along
    return Case("hub with arms", s, mb.TurningFrame(Z, s.turn[2]))


def coaxial(rng: np.random.Generator) -> Case:
    """Round bodies in a row on one vertical line, each with a spin of its own, on hinges or ball joints."""
    s = RefSystem()
    held = rng.random() < 0.6
    if held and rng.random() < 0.7:
        s.gravity = GRAVITY
    along = 0.0 if held else rng.uniform(-1.0, 1.0)
    height, count = 0.0, int(rng.integers(1, 4))
    for k in range(count):
        half = rng.uniform(0.0, 0.5) * rng.choice([-1.0, 1.0]) if rng.random() < 0.8 else 0.0
        joint, center, height = height, height + half, height + 2.0 * half
        spin = rng.uniform(-8.0, 8.0) * Z if rng.random() < 0.8 else np.zeros(3)
        s.bodies.append(RefBody(f"body {k}", rng.uniform(0.3, 2.0), top(rng, Z), center * Z, along * Z, spin))
        if k or held:
            s.joints.append((("ball", "hinge")[rng.integers(2)], k - 1, k, joint * Z, Z))
    rate = rng.choice([0.0, rng.uniform(-4.0, 4.0)])
    s.turn = rate * Z
    return Case("coaxial", s, mb.TurningFrame(Z, rate) if rate else None)


def skate(rng: np.random.Generator) -> Case:
    """A body on a blade that runs straight on and tows others on vertical hinges, with flywheels."""
    s = RefSystem(gravity=GRAVITY if rng.random() < 0.5 else np.zeros(3))
    velocity = rng.uniform(-3.0, 3.0) * X
    place, last = np.zeros(3), -1
    for k in range(int(rng.integers(1, 4))):
        center = place - rng.uniform(-0.5, 0.5) * X
        s.bodies.append(RefBody(f"body {k}", rng.uniform(0.3, 2.0), top(rng, Z), center, velocity, np.zeros(3)))
        s.joints.append(("plane", -1, k, np.zeros(3)) if k == 0 else ("hinge", last, k, place, Z))
        if k == 0 or rng.random() < 0.5:
            s.joints.append(("knife", -1, k, place - rng.uniform(0.0, 0.6) * X, X))
        place, last = place - rng.uniform(0.3, 1.0) * X, k
    for _ in range(int(rng.integers(0, 3))):
        carrier = int(rng.integers(last + 1))
        axis = (X, Y, Z)[rng.integers(3)]
        b = s.bodies[carrier]
        wheel = RefBody(f"wheel {len(s.bodies)}", rng.uniform(0.1, 1.0), top(rng, axis), b.position, velocity, 0 * X)
        wheel.spin = rng.uniform(-9.0, 9.0) * axis
        s.bodies.append(wheel)
        s.joints.append(("hinge", carrier, len(s.bodies) - 1, b.position, axis))
    return Case("skate", s, None)


def wheel(rng: np.random.Generator) -> Case:
    """A disk that rolls straight on, with a body on its axle, or a ball that rolls and spins."""
    s = RefSystem(gravity=GRAVITY if rng.random() < 0.7 else np.zeros(3))
    R, speed = rng.uniform(0.2, 0.6), rng.uniform(-4.0, 4.0)
    if rng.random() < 0.4:
        spin = speed / R * Y + rng.uniform(-5.0, 5.0) * rng.integers(2) * Z
        s.bodies.append(RefBody("ball", rng.uniform(0.5, 2.0), ball(rng), R * Z, speed * X, spin))
        s.joints.append(("sphere", -1, 0, R))
        return Case("ball", s, None)
    s.bodies.append(RefBody("disk", rng.uniform(0.5, 2.0), top(rng, Y), R * Z, speed * X, speed / R * Y))
    s.joints.append(("disk", -1, 0, Y, R))
    if rng.random() < 0.6:
        arm = rng.uniform(0.0, 0.2) * rng.choice([-1.0, 1.0]) * Z
        inertia = ball(rng) if rng.random() < 0.5 else np.diag(rng.uniform(0.05, 0.1, 3))
        s.bodies.append(RefBody("rider", rng.uniform(0.1, 1.0), inertia, R * Z + arm, speed * X, np.zeros(3)))
        s.joints.append(("hinge", 0, 1, R * Z, Y))
    return Case("disk", s, None)


def turning_disk(rng: np.random.Generator) -> Case:
    """A disk in a steady turn: the spin that belongs to its lean and rate balances its moments."""
    R, lean, rate = rng.uniform(0.2, 0.6), rng.uniform(0.1, 0.8), rng.uniform(1.5, 4.0)
    axle = np.array([0.0, np.cos(lean), np.sin(lean)])
    inertia, mass = top(rng, axle), rng.uniform(0.5, 2.0)
    up = np.cross(X, axle)

    def disk(spin: float) -> RefSystem:
        w = rate * Z + spin * axle
        body = RefBody("disk", mass, inertia, R * up, np.cross(w, R * up), w)
        return RefSystem([body], [("disk", -1, 0, axle, R)], gravity=GRAVITY, turn=rate * Z)

    def tilting(spin: float) -> float:
        from .dense_linearization import _accelerations

        s = disk(spin)
        return float((_accelerations(s, np.zeros(12)).real[0, 3:] - np.cross(s.turn, s.bodies[0].spin))[0])

    spins = np.linspace(-60.0, 60.0, 241)
    values = [tilting(x) for x in spins]
    k = next(k for k in range(240) if values[k] * values[k + 1] <= 0.0)
    s = disk(brentq(tilting, spins[k], spins[k + 1], xtol=1e-14, rtol=1e-15))
    return Case("turning disk", s, mb.TurningFrame(Z, rate))


FAMILIES = [hub_with_arms, coaxial, skate, wheel, turning_disk]


def case(seed: int, number: int) -> Case:
    """One of a series of cases."""
    rng = np.random.default_rng([seed, number])
    return FAMILIES[number % len(FAMILIES)](rng)


def built(found: Case, seed: int) -> mb.System:
    """The same in mbframe, with body axes and origins chosen at random: on the axis of its spin where a body spins."""
    rng = np.random.default_rng(seed)
    s = found.reference
    system = mb.System(found.family, gravity=s.gravity)
    for b in s.bodies:
        R = Rotation.random(random_state=rng.integers(2**31)).as_matrix() if rng.random() < 0.5 else np.eye(3)
        relative = b.spin - s.turn
        away = rng.uniform(-0.3, 0.3) * (relative / np.linalg.norm(relative) if np.any(relative) else X)
        if rng.random() < 0.5:
            away = np.zeros(3)
        inertia = R.T @ b.inertia @ R
        system.add(
            mb.RigidBody(
                b.name,
                mass=b.mass,
                inertia=0.5 * (inertia + inertia.T),
                center_of_mass=-R.T @ away,
                position=b.position + away,
                rotation=R,
                velocity=b.velocity + np.cross(b.spin, away),
                angular_velocity=b.spin,
            )
        )
    bodies = [*system.bodies, system.ground]  # -1 is the ground
    for n, (kind, i, j, *numbers) in enumerate(s.joints):
        pair = f"{kind} {n}", bodies[i], bodies[j]
        if kind == "hinge":
            system.add(mb.RevoluteJoint(*pair, at=numbers[0], axis=numbers[1]))
        elif kind == "ball":
            system.add(mb.SphericalJoint(*pair, at=numbers[0]))
        elif kind == "plane":
            system.add(mb.PlanarJoint(*pair, at=numbers[0], axis=Z))
        elif kind == "knife":
            system.add(mb.KnifeEdge(*pair, at=numbers[0], axis=numbers[1]))
        elif kind == "disk":
            system.add(mb.RollingDisk(*pair, at=s.bodies[j].position, axis=numbers[0], radius=numbers[1]))
        else:
            system.add(mb.RollingSphere(*pair, at=s.bodies[j].position, radius=numbers[0]))
    for n, (i, j, at_i, at_j, stiffness, damping, free) in enumerate(s.springs):
        spring = mb.SpringDamper(f"spring {n}", bodies[i], bodies[j], at_i=at_i, at_j=at_j)
        spring.update(stiffness=stiffness, damping=damping, free_length=free)
        system.add(spring)
    return system


def problems_of(seed: int, number: int) -> list[str]:
    """What is wrong with the roots of one case; nothing if all is well."""
    found = case(seed, number)
    matrix, leads_out = state_matrix(found.reference)
    size = 1.0 + float(np.abs(matrix).max(initial=0.0))
    assert max(unsteady(found.reference), slip(found.reference), leads_out) < 1e-9 * size, "the case is not steady"
    lin = mb.linearize(built(found, number), frame=found.frame)
    expected = np.linalg.eigvals(matrix)
    problems = []
    for name, roots in (("eigenvalues", lin.eigenvalues), ("roots of lin.A", np.linalg.eigvals(lin.A))):
        difference = polynomial_difference(matrix, roots, lin.A)
        if not difference <= SAME:
            problems.append(f"{found.family}: {name} {np.round(roots, 4)} instead of {np.round(expected, 4)}")
    growing = int(np.sum(expected.real > 1e-4 * size))  # zeros without vectors of their own scatter in the reference
    if lin.unstable_count != growing:
        problems.append(f"{found.family}: {lin.unstable_count} roots grow instead of {growing}: {lin.eigenvalues}")
    if not lin.residuals.max(initial=0.0) < 1e-9:
        problems.append(f"{found.family}: residuals {lin.residuals}")
    return problems
