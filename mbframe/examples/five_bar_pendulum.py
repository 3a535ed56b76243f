"""A pendulum of five bars in space."""

from __future__ import annotations

from ..system import System
from .bricard import add_rods


def five_bar_pendulum() -> System:
    """Five bars hung one to the next by hinges, released from rest: five freedoms, 25 equations.

    [MarquesSoutoFlores2017], section 4: homogeneous bars of 1 m and 1 kg with a square section of 0.1 m, gravity
    along -z. The axes of the hinges and the start are in a figure that is not part of the text at hand. The bars are
    those of the Bricard mechanism, and so are the choices made here: the bars start along the edges of a cube, in the
    directions x, -y, z, -x, y, and each hinge is perpendicular to both bars that it joins (the first along y).

    The last bar, `rod 5`, carries the tip at its local point (0.5, 0, 0).
    """
    system = System("five-bar pendulum")
    add_rods(system)
    return system
