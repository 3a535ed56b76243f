"""A pendulum on a vibrating pivot, which can stand upright."""

from __future__ import annotations

import numpy as np

from ..bodies import PlanarBody
from ..joints import Driver, RevoluteJoint, TranslationalJoint
from ..shapes import Box, Cylinder, Sphere
from ..system import System

LENGTH, MASS = 0.3, 0.2  # m, kg


def mathieu_pendulum(depth: float = 0.02, rate: float = 240.0, upright: bool = True, tilt: float = 0.0) -> System:
    """A rod with a bob on a pivot that moves up and down as depth cos(rate t): small swings obey Mathieu's equation.

    Hanging, it begins to swing by itself where the pivot vibrates about twice as fast as it would swing. Upright, it
    falls unless the pivot vibrates fast enough, (depth rate)^2 > 2 g length for small depths: then it stays where
    nothing holds it. `mb.periodic(system, mb.assemble(system), 2*pi/rate)` has the multipliers.

    Parameters
    ----------
    depth
        Amplitude of the pivot, m.
    rate
        Of its vibration, rad/s.
    upright
        Whether it stands above the pivot or hangs below it.
    tilt
        By how much it leans in the beginning, rad.
    """
    system = System("Mathieu pendulum", dimension=2, gravity=(0.0, -9.81))
    way = (np.sin(tilt), np.cos(tilt)) if upright else (np.sin(tilt), -np.cos(tilt))
    slider = system.add(PlanarBody("slider", mass=0.5, inertia=1e-3, shapes=[Box(size=(0.05, 0.03, 0.03))]))
    rod = Cylinder(radius=0.004, length=LENGTH, position=(-0.5 * LENGTH, 0.0, 0.0), rotation=ALONG)
    bob = PlanarBody("bob", mass=MASS, inertia=1e-5, position=(LENGTH * way[0], LENGTH * way[1]))
    bob.angle = float(np.arctan2(way[1], way[0]))
    bob.shapes = [rod, Sphere(radius=0.02)]
    system.add(bob)
    rail = system.add(TranslationalJoint("rail", system.ground, slider, at=(0.0, 0.0), axis=(0.0, 1.0)))
    system.add(RevoluteJoint("pin", slider, bob, at=(0.0, 0.0)))
    system.add(Driver("shaker", rail, displacement=f"{float(depth)!r}*(cos({float(rate)!r}*t) - 1)"))
    return system


ALONG = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # takes z to x
