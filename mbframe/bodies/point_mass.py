"""The point mass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Problem
from ..parameters import Element, parameter
from .base import Body
from .formulations import Formulation, Translation

Array = NDArray[np.float64]


class PointMass(Body):
    """A body without size: it has a mass and does not turn, so its axes keep the directions of `rotation`.

    Three coordinates, r, whatever formulation the rigid bodies use. A moment on it has no effect; a joint should hold
    its position only (`SphericalJoint`, not `RevoluteJoint`), because its axes cannot follow.
    """

    mass = parameter(kind="number", unit="kg", above=0.0, help="mass")

    def __init__(self, name: str, **values: Any) -> None:
        Element.__init__(self, name, **values)  # its coordinates are not to be chosen

    def check(self) -> Iterator[Problem]:
        if np.any(self.angular_velocity != 0.0):
            found = tuple(self.angular_velocity.tolist())
            yield self.problem(
                "angular_velocity", f"found {found}; a point mass does not turn; leave it out, or use a RigidBody"
            )

    def mass_properties(self) -> tuple[float, Array, Array]:
        return self.mass, np.zeros(3), np.zeros((3, 3))

    def formulation_for(self, wanted: Formulation | None) -> Formulation:
        return Translation(tuple(map(tuple, self.rotation.tolist())))

    @classmethod
    def example(cls) -> PointMass:
        return cls(
            "point", mass=0.7, position=(0.3, 0.1, -0.2), rotation=(0.5, 0.5, -0.5, 0.5), velocity=(0.4, -0.3, 0.2)
        )
