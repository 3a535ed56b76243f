"""A beam on a hub that is spun up."""

from __future__ import annotations

from ..bodies import FlexibleBody
from ..joints import Driver, RevoluteJoint
from ..system import System

# A common benchmark of stiffening, with E A = 2.8e7 N, E I = 1.4e4 N m^2 and rho A = 1.2 kg/m. In SI units. Its first
# bending frequency without rotation is 3.8 rad/s.
LENGTH, AREA, SECOND_MOMENT = 10.0, 4e-4, 2e-7
YOUNG, SHEAR, DENSITY = 7e10, 2.7e10, 3000.0
SPEED, DURATION = 6.0, 15.0


def spin_up_beam(stiffening: bool = True, speed: float = SPEED) -> System:
    """A long beam that a motor turns from rest to a constant speed above its first bending frequency.

    The rotation rises as (speed / T) (t - (T / 2 pi) sin(2 pi t / T)) over T = 15 s. With
    geometric stiffening the tip lags while the speed rises and comes back. Without it the centrifugal load, which
    grows with the deflection, overcomes the elastic forces: the deflection grows without bound, as in no real beam.

    Parameters
    ----------
    stiffening
        Whether tension stiffens the beam.
    speed
        Final angular velocity, rad/s.
    """
    from ..flexible import beam, clamped_modes

    part = beam(
        length=LENGTH,
        elements=16,
        area=AREA,
        second_moments=(SECOND_MOMENT, SECOND_MOMENT),
        torsion=2.0 * SECOND_MOMENT,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
    )
    system = System("spin-up of a beam", gravity=(0.0, 0.0, 0.0))
    blade = system.add(FlexibleBody("blade", clamped_modes(part, node=0, n_modes=6), geometric_stiffening=stiffening))
    hub = system.add(RevoluteJoint("hub", system.ground, blade, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    rising = f"{speed!r}/{DURATION!r}*(t**2/2 + ({DURATION!r}/(2*pi))**2*(cos(2*pi*t/{DURATION!r}) - 1))"
    steady = f"{speed!r}*(t - {DURATION / 2.0!r})"
    system.add(Driver("motor", hub, angle=f"if(t < {DURATION!r}, {rising}, {steady})"))
    return system
