"""A pendulum that bends."""

from __future__ import annotations

from ..bodies import FlexibleBody
from ..joints import RevoluteJoint
from ..system import System

LENGTH, SIDE = 1.0, 0.02  # m, square section
DENSITY, YOUNG, SHEAR = 1200.0, 2e8, 7e7  # kg/m^3, Pa: a rubber that is stiff enough to deflect little


def flexible_pendulum(young: float = YOUNG, stiffening: bool = True) -> System:
    """A bar of rubber, hinged at one end and released from rest where it is horizontal.

    Ten Euler-Bernoulli elements; the shapes are the static ones of both ends and two vibrations between them:
    [FlexibleNotes], sections 2.1 and 2.2. Numbers are chosen, since the notes have none: it deflects by a centimetre.

    Parameters
    ----------
    young
        Young's modulus, Pa; with 2e11 the bar is as good as rigid.
    stiffening
        Whether the tension by weight and rotation resists bending, which it does noticeably: the bar swings with two
        thirds of its first frequency as a cantilever.
    """
    from ..flexible import beam, craig_bampton

    second = SIDE**4 / 12.0
    bar = beam(
        length=LENGTH,
        elements=10,
        area=SIDE**2,
        second_moments=(second, second),
        torsion=0.141 * SIDE**4,
        young=young,
        shear=young * SHEAR / YOUNG,
        density=DENSITY,
    )
    system = System("flexible pendulum")
    rod = system.add(
        FlexibleBody("bar", craig_bampton(bar, interfaces=[0, 10], n_modes=2), geometric_stiffening=stiffening)
    )
    system.add(RevoluteJoint("hinge", system.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system
