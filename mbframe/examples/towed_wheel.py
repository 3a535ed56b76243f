"""A wheel on a trailing arm, towed by a pivot that gives way: it shimmies above a critical speed."""

from __future__ import annotations

from ..bodies import RigidBody
from ..forces import SpringDamper, TorsionalSpringDamper
from ..joints import Driver, KnifeEdge, RevoluteJoint, TranslationalJoint
from ..shapes import Box, Cylinder
from ..system import System

TRAIL, OFFSET = 0.3, 0.12  # m, from the pivot to the wheel, and to the centre of mass of the arm
ARM_MASS, ARM_INERTIA, PIVOT_MASS = 2.0, 0.06, 1.0  # kg, kg m^2, kg
LATERAL_STIFFNESS, LATERAL_DAMPING = 2000.0, 0.5  # N/m, N s/m
STEER_DAMPING, STEER_HARDENING = 0.2, 0.02  # N m s/rad, N m s^3/rad^3


UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""The axis of a cylinder along y."""


def towed_wheel(speed: float = 4.0, kick: float = 0.0) -> System:
    """A caster seen from above: its pivot is towed along x and held across it by a spring.

    The wheel does not slip aside: it is an edge that runs along the arm. Above a critical speed running straight is
    unstable, and the wheel shimmies in a limit cycle, the wider the faster it is towed: `mb.continuation` finds where
    it begins, and `switch()` follows the cycles.

    Parameters
    ----------
    speed
        Of the tow, m/s.
    kick
        How fast the pivot moves aside in the beginning, m/s; 0 runs straight.
    """
    system = System("towed wheel", gravity=(0.0, 0.0, 0.0))
    cart = system.add(
        RigidBody(
            "cart",
            mass=5.0,
            inertia=(0.1, 0.1, 0.1),
            velocity=(speed, 0.0, 0.0),
            shapes=[Box(size=(0.1, 0.5, 0.03))],
        )
    )
    pivot = system.add(
        RigidBody(
            "pivot",
            mass=PIVOT_MASS,
            inertia=(0.01, 0.01, 0.01),
            velocity=(speed, kick, 0.0),
            shapes=[Cylinder(radius=0.03, length=0.1)],
        )
    )
    arm = system.add(
        RigidBody(
            "arm",
            mass=ARM_MASS,
            inertia=(ARM_INERTIA, ARM_INERTIA, ARM_INERTIA),
            position=(-OFFSET, 0.0, 0.0),
            velocity=(speed, kick, 0.0),
            shapes=[
                Box(size=(TRAIL, 0.03, 0.03), position=(OFFSET - 0.5 * TRAIL, 0.0, 0.0)),
                Cylinder(radius=0.1, length=0.03, position=(OFFSET - TRAIL, 0.0, 0.0), rotation=UPRIGHT),
            ],
        )
    )
    at = (0.0, 0.0, 0.0)
    rail = system.add(TranslationalJoint("rail", system.ground, cart, at=at, axis=(1.0, 0.0, 0.0)))
    system.add(Driver("tow", rail, displacement=f"{float(speed)!r}*t"))
    system.add(TranslationalJoint("slide", cart, pivot, at=at, axis=(0.0, 1.0, 0.0)))
    system.add(RevoluteJoint("pin", pivot, arm, at=at, axis=(0.0, 0.0, 1.0)))
    spring = {"stiffness": LATERAL_STIFFNESS, "damping": LATERAL_DAMPING, "free_length": 0.5}
    system.add(SpringDamper("spring", cart, pivot, at_i=(0.0, -0.5, 0.0), at_j=at, **spring))
    damper = {"damping": STEER_DAMPING, "damping_torque": f"{STEER_HARDENING}*v**3"}
    system.add(TorsionalSpringDamper("damper", pivot, arm, at=at, axis=(0.0, 0.0, 1.0), **damper))
    system.add(KnifeEdge("wheel", system.ground, arm, at=(-TRAIL, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system
