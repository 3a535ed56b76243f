"""Masses on a rail, joined by springs and dampers."""

from __future__ import annotations

from ..bodies import Body, RigidBody
from ..forces import SpringDamper
from ..joints import TranslationalJoint
from ..shapes import Box
from ..system import System

SPACING = 1.0


def mass_spring_damper_chain(n: int = 5, mass: float = 1.0, stiffness: float = 100.0, damping: float = 0.5) -> System:
    """`n` equal masses that slide along x; each is tied to the one before it, the first to the ground.

    With w = sqrt(stiffness/mass) the undamped frequencies are 2 w sin((2 k - 1) pi / (4 n + 2)), k = 1 ... n.
    """
    system = System(f"chain of {n} masses", gravity=(0.0, 0.0, 0.0))
    previous: Body = system.ground
    for k in range(1, n + 1):
        here = (SPACING * k, 0.0, 0.0)
        body = system.add(
            RigidBody(
                f"mass {k}", mass=mass, inertia=3 * (0.01 * mass,), position=here, shapes=[Box(size=(0.4, 0.3, 0.3))]
            )
        )
        system.add(TranslationalJoint(f"rail {k}", system.ground, body, at=here, axis=(1.0, 0.0, 0.0)))
        before = (SPACING * (k - 1), 0.0, 0.0)
        spring = SpringDamper(f"spring {k}", previous, body, at_i=before, at_j=here, free_length=SPACING)
        spring.update(stiffness=stiffness, damping=damping)
        system.add(spring)
        previous = body
    return system
