"""Where numbers of markers stand in gradients: of places x, of rates x', and of motions.

A place is a point and three axes, row by row; x' has the same order. A motion is a place, the velocity of the point and
the angular velocity. Gradients have the numbers of the first marker, then those of the second one.
"""

from __future__ import annotations

from typing import Final

AXES_AT: Final = 3
"""Where the axes begin, after the point."""
PLACE: Final = 12
"""Numbers of the place of a marker."""
PLACES: Final = 2 * PLACE
"""Of both markers: what holonomic constraints and measures depend on."""
POSITION_J: Final = PLACE
AXES_J: Final = PLACE + AXES_AT

VELOCITY_AT: Final = PLACE
SPIN_AT: Final = VELOCITY_AT + 3
"""Where the angular velocity begins."""
MOTION_J: Final = SPIN_AT + 3
"""Numbers of the motion of a marker; those of the second one begin there."""
MOTIONS: Final = 2 * MOTION_J
"""Of both markers: what forces and nonholonomic constraints depend on."""
VELOCITY_J: Final = MOTION_J + VELOCITY_AT
SPIN_J: Final = MOTION_J + SPIN_AT

CUBIC: Final = 12
"""Numbers of a cubic along the axis of a flexible body."""
