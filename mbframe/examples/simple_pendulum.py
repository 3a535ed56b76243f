"""A mass on a massless rod."""

from __future__ import annotations

from ..bodies import PlanarBody
from ..joints import DistanceJoint
from ..shapes import Sphere
from ..system import System

LENGTH, MASS = 1.0, 1.0  # m, kg: [Gonzalez2006]


def simple_pendulum() -> System:
    """A mass of 1 kg on a massless rod of 1 m, released from the level position: a benchmark of [Gonzalez2006].

    The rod holds the body at its centre of mass, where nothing turns it: its moment of inertia has no effect.
    """
    system = System("simple pendulum", dimension=2)
    mass = system.add(
        PlanarBody("mass", mass=MASS, inertia=1e-3, position=(-LENGTH, 0.0), shapes=[Sphere(radius=0.05)])
    )
    system.add(DistanceJoint("rod", system.ground, mass, at_i=(0.0, 0.0), at_j=(-LENGTH, 0.0)))
    return system
