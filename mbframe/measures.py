"""Measures: scalars of two markers, each with its rate and its gradient.

Springs, drivers, gears, limits and plots are laws and relations on measures. Each measure is a set of plain functions, so that
an element's compiled method can call them.
"""

from __future__ import annotations

import numpy as np


def distance(i, j):
    """Length l = |r_i - r_j| and the unit vector e from j to i; l > 0."""
    x, y, z = i.position[0] - j.position[0], i.position[1] - j.position[1], i.position[2] - j.position[2]
    length = np.sqrt(x * x + y * y + z * z)
    return length, x / length, y / length, z / length


def distance_rate(i, j):
    """l' = e . (r_i' - r_j')."""
    _, x, y, z = distance(i, j)
    return (
        x * (i.velocity[0] - j.velocity[0]) + y * (i.velocity[1] - j.velocity[1]) + z * (i.velocity[2] - j.velocity[2])
    )
