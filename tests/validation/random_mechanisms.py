"""Random mechanisms that are assembled by construction, and what must hold for each of them.

Bodies hang on each other in a tree of joints of all kinds, tied by springs; some joints are there twice, some trees are
free, and masses differ by up to eight orders of magnitude. All bodies begin with the motion of one rigid whole, which
every joint allows. Nothing dissipates, so energy is conserved, and of a floating tree both momenta.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import mbframe as mb

JOINTS = [
    *(mb.SphericalJoint, mb.RevoluteJoint, mb.CylindricalJoint, mb.TranslationalJoint, mb.PlanarJoint, mb.FixedJoint),
    *(
        mb.PointOnLineJoint,
        mb.UniversalJoint,
    ),  # a ConstantVelocityJoint that folds back is singular, and random ones do
]
FORMULATIONS = [mb.NewtonEuler, mb.EulerParameters, mb.NaturalAbsolute]
DURATION = 0.1
RTOL = 1e-10
# Local errors of some hundred steps with RTOL, each relative to the largest energy or momentum involved.
CONSERVED = 1e-7
CLOSED = 1e-8


def direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def mechanism(rng: np.random.Generator) -> mb.System:
    """A random mechanism."""
    floating = rng.random() < 0.3
    gravity = (0.0, 0.0, 0.0) if floating else 9.81 * direction(rng)
    system = mb.System("random", gravity=gravity)
    spread = rng.choice([0.5, 1.0, 4.0])  # decimal orders of the masses, up and down
    velocity, spin = (rng.normal(size=3), rng.normal(size=3)) if floating else (np.zeros(3), np.zeros(3))
    for k in range(rng.integers(1, 7)):
        parent = None if floating and k == 0 else rng.choice([*([] if floating else [system.ground]), *system.bodies])
        size = rng.uniform(0.2, 0.8, 3)
        mass = 10.0 ** rng.uniform(-spread, spread)
        inertia = mass / 12.0 * (np.sum(size**2) - size**2)
        turned = Rotation.random(random_state=rng.integers(2**31)).as_matrix()
        position = rng.uniform(-1.0, 1.0, 3)
        body = mb.RigidBody(
            f"body {k}",
            mass=mass,
            inertia=turned @ np.diag(inertia) @ turned.T,
            center_of_mass=rng.uniform(-0.2, 0.2, 3),
            position=position,
            rotation=Rotation.random(random_state=rng.integers(2**31)),
            velocity=velocity + np.cross(spin, position),
            angular_velocity=spin,
        )
        system.add(body)
        if parent is not None:
            for copy in range(1 if rng.random() < 0.8 else 2):  # of a joint that is there twice all is redundant
                add_joint(system, rng, f"joint {k}.{copy}", parent, body, k + 100 * copy)
    for k in range(rng.integers(0, 4)):
        choice = [*([] if floating else [system.ground]), *system.bodies]
        if len(choice) > 1:
            i, j = rng.choice(len(choice), 2, replace=False)
            ends = {"at_i": rng.uniform(-2.0, -1.2, 3), "at_j": rng.uniform(1.2, 2.0, 3)}
            system.add(
                mb.SpringDamper(
                    f"spring {k}", choice[i], choice[j], **ends, stiffness=rng.uniform(1.0, 50.0), free_length=0.0
                )
            )
    return system


def add_joint(
    system: mb.System, rng: np.random.Generator, name: str, parent: mb.Body, body: mb.Body, number: int
) -> None:
    if name.endswith(".1"):
        twin = system[name.removesuffix(".1") + ".0"]
        again = {key: getattr(twin, key) for key in ("at", "axis", "axis_i", "axis_j") if hasattr(twin, key)}
        system.add(type(twin)(name, parent, body, **{key: value for key, value in again.items() if value is not None}))
        return
    cls = JOINTS[rng.integers(len(JOINTS))]
    place: dict[str, object] = {"at": (np.asarray(parent.position) + body.position) / 2.0 + rng.uniform(-0.3, 0.3, 3)}
    if cls is mb.UniversalJoint:
        first = direction(rng)
        place |= {"axis_i": first, "axis_j": np.cross(first, direction(rng))}
    elif cls not in (mb.SphericalJoint, mb.FixedJoint):
        place["axis"] = direction(rng)
    system.add(cls(name, parent, body, **place))


def problems_of(seed: int) -> list[str]:
    """What does not hold for the mechanism of a seed."""
    rng = np.random.default_rng(seed)
    system = mechanism(rng)
    formulation = FORMULATIONS[rng.integers(len(FORMULATIONS))]()
    integrator = mb.DormandPrince(order=8, rtol=RTOL, atol=1e-12)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        mb.save(system, path)
        again = mb.load(path)
    found = [] if mb.to_python(again) == mb.to_python(system) else ["the model read again is another one"]
    result = mb.simulate(system, DURATION, formulation=formulation, integrator=integrator)
    energy = result.energy
    moved = np.max(np.abs(energy.kinetic)) + np.ptp(energy.potential)
    drift = np.ptp(energy.total)
    # Rounding of the potential itself: differences of large numbers when it hardly changes.
    allowed = CONSERVED * moved + 1e-13 * np.max(np.abs(energy.potential))
    if drift > allowed:
        found.append(f"energy changes by {drift:.1e} of {moved:.1e} J")
    largest = max(np.max(result.violation.position), np.max(result.violation.velocity))
    if largest > CLOSED:
        found.append(f"constraints are violated by {largest:.1e}")
    if not np.any(np.asarray(system.gravity)):
        for kind, size in moved_momenta(result).items():
            course = getattr(result.momentum, kind)
            change = np.max(np.linalg.norm(course - course[0], axis=1))
            if change > CONSERVED * size:
                found.append(f"{kind} momentum changes by {change:.1e} of {size:.1e}")
    twice = mb.simulate(again, DURATION, formulation=formulation, integrator=integrator)
    if not (np.array_equal(twice.t, result.t) and np.array_equal(twice.q, result.q)):
        found.append("the model read again moves differently")
    return found


def moved_momenta(result: mb.Result) -> dict[str, float]:
    """Sums of the largest momenta of the single bodies: what they exchange, while the whole keeps its own."""
    linear = angular = 0.0
    for body in result.system.bodies:
        position, velocity, spin = (
            np.linalg.norm(course, axis=1)
            for course in (result.position(body), result.velocity(body), result.angular_velocity(body))
        )
        linear += np.max(body.mass * velocity)
        angular += np.max(body.mass * position * velocity + np.trace(body.inertia) * spin)
    return {"linear": linear, "angular": angular}
