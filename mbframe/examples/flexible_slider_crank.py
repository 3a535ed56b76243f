"""A slider-crank mechanism with a rod that bends."""

from __future__ import annotations

import numpy as np

from ..bodies import FlexibleBody, RigidBody
from ..joints import Driver, RevoluteJoint, SphericalJoint, TranslationalJoint, UniversalJoint
from ..shapes import Box
from ..system import System

CRANK, ROD, DIAMETER = 0.15, 0.3, 0.006  # m
SPEED = 150.0  # rad/s
DENSITY, YOUNG, SHEAR = 7870.0, 2e11, 7.7e10  # kg/m^3, Pa
ELEMENTS = 10


def flexible_slider_crank(
    n_modes: int = 8, elements: int = ELEMENTS, speed: float = SPEED, stiffening: bool = True
) -> System:
    """A crank at constant speed, a thin steel rod that bends, and a slider without friction or gravity.

    The rod's inertia bends it by some millimetres at a sixth of its first frequency as a simply supported beam, and
    pulls and presses it: that changes its stiffness by up to an eighth, and its deflection by a fifth. The
    joints are those of a spatial slider-crank, so that no equation depends on others: a ball at the crank, a universal
    joint at the slider. The numbers are chosen, of the size that is usual for this mechanism.

    Parameters
    ----------
    n_modes
        Vibrations of the rod between its ends, beside the six static shapes of these.
    elements
        Beam elements of the rod; they have no influence on the time of a simulation.
    speed
        Of the crank, rad/s.
    stiffening
        Whether the axial force in the rod acts on its bending.
    """
    from ..flexible import beam, craig_bampton

    area, second = np.pi * DIAMETER**2 / 4.0, np.pi * DIAMETER**4 / 64.0
    part = beam(
        length=ROD,
        elements=elements,
        area=area,
        second_moments=(second, second),
        torsion=2.0 * second,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
    )
    system = System("flexible slider-crank mechanism", gravity=(0.0, 0.0, 0.0))
    b, c = np.array([CRANK, 0.0, 0.0]), np.array([CRANK + ROD, 0.0, 0.0])
    turn = np.array([0.0, 0.0, speed])
    width = 0.02
    crank = system.add(
        RigidBody(
            "crank",
            mass=0.2,
            inertia=(2e-5, 4e-4, 4e-4),
            position=b / 2.0,
            velocity=np.cross(turn, b / 2.0),
            angular_velocity=turn,
            shapes=[Box(size=(CRANK, width, width))],
        )
    )
    # The rod points along x with both ends on the axis: its first end has the speed of the crank, its last none.
    swing = np.array([0.0, 0.0, -speed * CRANK / ROD])
    rod = system.add(
        FlexibleBody(
            "rod",
            craig_bampton(part, interfaces=[0, elements], n_modes=n_modes),
            position=b,
            velocity=np.cross(turn, b),
            angular_velocity=swing,
            damping_ratios=0.01,
            geometric_stiffening=stiffening,
        )
    )
    slider = system.add(
        RigidBody("slider", mass=0.03, inertia=(1e-5, 1e-5, 1e-5), position=c, shapes=[Box(size=(0.04, 0.03, 0.03))])
    )
    hinge = system.add(RevoluteJoint("A", system.ground, crank, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(SphericalJoint("B", crank, rod, at=b))
    system.add(UniversalJoint("C", rod, slider, at=c, axis_i=(0.0, 0.0, 1.0), axis_j=(0.0, 1.0, 0.0)))
    system.add(TranslationalJoint("guide", system.ground, slider, at=c, axis=(1.0, 0.0, 0.0)))
    system.add(Driver("motor", hinge, angle=f"{speed!r}*t"))
    return system
