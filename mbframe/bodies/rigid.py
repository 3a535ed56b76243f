"""The rigid body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..parameters import parameter
from ..shapes import Shape, solid_of
from .base import Body

Array = NDArray[np.float64]


class RigidBody(Body):
    """A rigid body.

    `inertia` is about the centre of mass in body axes: (Ixx, Iyy, Izz), (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or 3 x 3,
    where Ixy is the element of the tensor. `formulation` chooses its coordinates; without one it is the default of
    the analysis (`NewtonEuler`).
    """

    mass = parameter(kind="number", unit="kg", above=0.0, help="mass")
    inertia = parameter(kind="inertia", unit="kg m^2", help="about the centre of mass, in body axes")
    center_of_mass = parameter((0.0, 0.0, 0.0), kind="vector", unit="m", help="in body axes")

    def mass_properties(self) -> tuple[float, Array, Array]:
        return self.mass, self.center_of_mass, self.inertia

    @classmethod
    def from_shapes(cls, name: str, shapes: Sequence[Shape], density: float, **values: Any) -> Self:
        """A body of homogeneous shapes (m, in body axes) of a density (kg/m^3): they give mass, centre and inertia."""
        mass, center, inertia = solid_of(shapes, density)
        return cls(name, mass=mass, inertia=inertia, center_of_mass=center, shapes=shapes, **values)

    def facts(self) -> list[tuple[str, Sequence[float], str]]:
        return [("Principal moments", np.linalg.eigvalsh(self.inertia).tolist(), "kg m^2"), *super().facts()]

    @classmethod
    def example(cls) -> RigidBody:
        return cls(
            "body",
            mass=1.5,
            inertia=(0.3, 0.5, 0.6, 0.02, -0.03, 0.05),
            center_of_mass=(0.1, -0.2, 0.05),
            position=(0.3, 0.1, -0.2),
            rotation=(0.5, 0.5, -0.5, 0.5),
            velocity=(0.4, -0.3, 0.2),
            angular_velocity=(1.0, -2.0, 0.7),
        )
