"""A crane's trolley on a girder that bends."""

from __future__ import annotations

import numpy as np

from ..bodies import FlexibleBody, PointMass, RigidBody
from ..joints import DistanceJoint, Driver, KeyedSleeveJoint, PointOnLineJoint, RevoluteJoint
from ..shapes import Box, Cylinder
from ..system import System

SPAN, ROPE = 8.0, 3.0  # m
START, WAY = 1.5, 5.0  # m: where the trolley begins, and how far it goes
YOUNG, SHEAR, DENSITY = 2.1e11, 8.1e10, 7850.0  # steel
AREA, SECOND, TORSION = 2.0e-3, 3.7e-6, 6e-8  # m^2, m^4, m^4: a light girder that sags visibly
TROLLEY, LOAD = 100.0, 500.0  # kg
GRAVITY = 9.81  # m/s^2


def crane_trolley(swings: float = 2.0) -> System:
    """A trolley with a load on a rope runs along a girder on two supports and bends it where it is.

    It slides along the bent axis of the girder ([FlexibleNotes], section 2.4.2), driven with one period of a sine as
    its acceleration: if that lasts a whole number of swings of the load, two or more, the load hangs still in the end.

    Parameters
    ----------
    swings
        How long the way takes, in periods of the hanging load.
    """
    from ..flexible import beam, craig_bampton

    part = beam(
        length=SPAN,
        elements=16,
        area=AREA,
        second_moments=(SECOND, SECOND),
        torsion=TORSION,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
    )
    system = System("crane trolley", gravity=(0.0, 0.0, -GRAVITY))
    girder = system.add(FlexibleBody("girder", craig_bampton(part, interfaces=[0, 16], n_modes=8), damping_ratios=0.02))
    at = np.array([START, 0.0, 0.0])
    trolley = system.add(
        RigidBody(
            "trolley",
            mass=TROLLEY,
            inertia=(4.0, 6.0, 6.0),
            position=at,
            shapes=[
                Box(size=(0.6, 0.35, 0.22), position=(0.0, 0.0, 0.2)),
                *(
                    Cylinder(radius=0.1, length=0.06, position=(x, y, 0.14), rotation=ACROSS)
                    for x in (-0.2, 0.2)
                    for y in (-0.2, 0.2)
                ),
            ],
        )
    )
    hook = at - (0.0, 0.0, ROPE)
    load = system.add(PointMass("load", mass=LOAD, position=hook, shapes=[Box(size=(0.7, 0.7, 0.7))]))
    system.add(RevoluteJoint("support", system.ground, girder, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(PointOnLineJoint("roller", system.ground, girder, at=(SPAN, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    run = system.add(KeyedSleeveJoint("run", girder, trolley, at=at, axis=(1.0, 0.0, 0.0)))
    system.add(DistanceJoint("rope", trolley, load, at_i=at, at_j=hook))
    way = f"min(t/{duration(swings)!r}, 1)"
    system.add(Driver("winch", run, displacement=f"{WAY}*({way} - sin(2*pi*{way})/(2*pi))"))
    return system


ACROSS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # takes z to -y


def duration(swings: float) -> float:
    """Time in s of a number of small swings of the load on its rope."""
    return float(swings * 2.0 * np.pi * np.sqrt(ROPE / GRAVITY))
