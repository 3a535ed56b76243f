"""A four-bar mechanism with links that bend."""

from __future__ import annotations

import numpy as np

from ..bodies import FlexibleBody, RigidBody
from ..joints import Driver, RevoluteJoint, SphericalJoint, UniversalJoint
from ..shapes import Box
from ..system import System

GROUND, CRANK, COUPLER, ROCKER = 0.5, 0.15, 0.45, 0.4  # m: distances of the hinges
SPEED = 30.0  # rad/s
DENSITY, YOUNG, SHEAR = 2700.0, 7e10, 2.6e10  # aluminium
WIDTH, HEIGHT = 0.02, 0.004  # m: the sections are thin in the plane of the motion


def flexible_four_bar(speed: float = SPEED) -> System:
    """A crank-rocker with a rigid crank at constant speed, and coupler and rocker of thin aluminium.

    Flexible bodies are joined to each other in C. A ball and a universal joint take the place of two hinges, so that no
    equation depends on others. The dimensions are chosen.

    Parameters
    ----------
    speed
        Of the crank, rad/s.
    """
    system = System("flexible four-bar mechanism", gravity=(0.0, -9.81, 0.0))
    a, d = np.zeros(3), np.array([GROUND, 0.0, 0.0])
    b = np.array([0.0, CRANK, 0.0])
    # C lies where the circles about B and D meet, above.
    span = d - b
    distance = float(np.linalg.norm(span))
    along = (distance**2 + COUPLER**2 - ROCKER**2) / (2.0 * distance)
    normal = np.array([-span[1], span[0], 0.0]) / distance
    c = b + along * span / distance + np.sqrt(COUPLER**2 - along**2) * normal
    crank = system.add(
        RigidBody(
            "crank",
            mass=0.1,
            inertia=(2e-4, 1e-5, 2e-4),
            position=(a + b) / 2.0,
            velocity=np.cross((0.0, 0.0, speed), (a + b) / 2.0),
            angular_velocity=(0.0, 0.0, speed),
            shapes=[Box(size=(WIDTH, CRANK, WIDTH))],
        )
    )
    # (b - c) and (c - d) turn with the rates that make the velocities of C agree.
    velocity = np.cross((0.0, 0.0, speed), b)
    arms = np.column_stack([np.cross((0.0, 0.0, 1.0), c - b)[:2], -np.cross((0.0, 0.0, 1.0), c - d)[:2]])
    rates = np.linalg.solve(arms, -velocity[:2])
    coupler = system.add(_strip("coupler", b, c, velocity, rates[0]))
    rocker = system.add(_strip("rocker", d, c, np.zeros(3), rates[1]))
    hinge = system.add(RevoluteJoint("A", system.ground, crank, at=a, axis=(0.0, 0.0, 1.0)))
    system.add(RevoluteJoint("B", crank, coupler, at=b, axis=(0.0, 0.0, 1.0)))
    system.add(SphericalJoint("C", coupler, rocker, at=c))
    side = np.cross((0.0, 0.0, 1.0), c - d)
    system.add(UniversalJoint("D", system.ground, rocker, at=d, axis_i=(0.0, 0.0, 1.0), axis_j=side))
    system.add(Driver("motor", hinge, angle=f"{speed!r}*t"))
    return system


def _strip(name: str, start: np.ndarray, end: np.ndarray, velocity: np.ndarray, rate: float) -> FlexibleBody:
    """A thin strip between two hinges that turns in the plane."""
    from ..flexible import beam, craig_bampton

    length = float(np.linalg.norm(end - start))
    part = beam(
        length=length,
        elements=8,
        area=WIDTH * HEIGHT,
        second_moments=(HEIGHT * WIDTH**3 / 12.0, WIDTH * HEIGHT**3 / 12.0),
        torsion=WIDTH * HEIGHT**3 / 3.0,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
    )
    x = (end - start) / length
    turn = np.column_stack([x, np.cross((0.0, 0.0, 1.0), x), (0.0, 0.0, 1.0)])
    return FlexibleBody(
        name,
        craig_bampton(part, interfaces=[0, 8], n_modes=2),
        position=start,
        rotation=turn,
        velocity=velocity,
        angular_velocity=(0.0, 0.0, rate),
        damping_ratios=0.02,
    )
