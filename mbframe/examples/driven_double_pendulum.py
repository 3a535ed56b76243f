"""A double pendulum on a pivot that is shaken, whose period doubles."""

from __future__ import annotations

import numpy as np

from ..bodies import PlanarBody
from ..forces import TorsionalSpringDamper
from ..joints import Driver, RevoluteJoint, TranslationalJoint
from ..shapes import Box
from ..system import System

LENGTH, MASS = 0.5, 1.0  # of each bar, m and kg
RATE = 7.5  # of the shaking, rad/s
SLOPE = 0.4  # rad, of its direction against the vertical
DAMPING = 0.2  # of the hinges, N m s/rad


def driven_double_pendulum(depth: float = 0.06, rate: float = RATE) -> System:
    """Two bars hang from a pivot that is shaken along a slope; their damped motion has the period of the shaking.

    Where the pivot is shaken farther, a multiplier of this motion passes -1: it becomes unstable, and one of twice the
    period begins. `mb.periodic` finds the motion and `mb.continuation` the depth at which the period doubles.

    Parameters
    ----------
    depth
        Amplitude of the pivot, m.
    rate
        Of the shaking, rad/s; the period is 2 pi/rate.
    """
    system = System("driven double pendulum", dimension=2, gravity=(0.0, -9.81))
    slider = system.add(PlanarBody("slider", mass=0.5, inertia=1e-3, shapes=[Box(size=(0.1, 0.05, 0.05))]))
    before = slider
    way = (float(np.sin(SLOPE)), float(np.cos(SLOPE)))
    rail = system.add(TranslationalJoint("rail", system.ground, slider, at=(0.0, 0.0), axis=way))
    for k, name in enumerate(("upper", "lower")):
        top = (0.0, -k * LENGTH)
        bar = PlanarBody(name, mass=MASS, inertia=MASS * LENGTH**2 / 12.0, position=(0.0, -(k + 0.5) * LENGTH))
        bar.shapes = [Box(size=(0.04, LENGTH, 0.02))]
        system.add(bar)
        system.add(RevoluteJoint(f"{name} hinge", before, bar, at=top))
        system.add(TorsionalSpringDamper(f"{name} damper", before, bar, at=top, damping=DAMPING))
        before = bar
    system.add(Driver("shaker", rail, displacement=f"{float(depth)!r}*(cos({float(rate)!r}*t) - 1)"))
    return system
