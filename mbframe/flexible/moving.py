"""A component in motion: how its axes and its shapes move at some instants, and what acts on it from outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Acting:
    """A force and a torque on a component at n instants, (n, 3) each, in its axes, both about `point`.

    places
        (n,): numbers of the nodes or interface points that carry them; where something slides, the nearest node.
    slides
        Whether they move along the component.
    """

    places: NDArray[np.intp]
    point: Array
    force: Array
    torque: Array
    slides: bool = False


@dataclass(frozen=True)
class Moving:
    """A component at n instants, in the axes of its floating frame.

    modal, rate, second
        (n, m): modal coordinates and their derivatives.
    acceleration
        (n, 3): of the frame's origin minus gravity, m/s²: what its mass resists besides being turned.
    angular_velocity, angular_acceleration
        (n, 3): of the frame.
    acting
        Joints and force elements; weight is in `acceleration`.
    """

    modal: Array
    rate: Array
    second: Array
    acceleration: Array
    angular_velocity: Array
    angular_acceleration: Array
    acting: tuple[Acting, ...]

    def __len__(self) -> int:
        return len(self.modal)

    def at(self, rows: slice | NDArray[np.intp]) -> Moving:
        """Some of the instants."""
        acting = tuple(
            Acting(one.places[rows], one.point[rows], one.force[rows], one.torque[rows], one.slides)
            for one in self.acting
        )
        return Moving(
            self.modal[rows],
            self.rate[rows],
            self.second[rows],
            self.acceleration[rows],
            self.angular_velocity[rows],
            self.angular_acceleration[rows],
            acting,
        )
