"""Bodies of planar systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Problem
from ..parameters import parameter
from ..plane import about_normal, lifted, rotation_by
from ..state import Motion
from .base import Body, Ground
from .formulations import Formulation, PlanarAngle

Array = NDArray[np.float64]


class InPlane:
    """What bodies in the plane have in common: vectors of two components, an angle and its rate for the rotation.

    `rotation` is the matrix of `angle` in space.
    """

    dimension = 2
    position: Any
    velocity: Any

    angle = parameter(0.0, kind="angle", unit="rad", help="from the global to the local x axis, counter-clockwise")
    angular_velocity = parameter(0.0, unit="rad/s", help="rate of the angle")

    @property
    def rotation(self) -> Array:
        return rotation_by(self.angle)

    @property
    def motion(self) -> Motion:
        return Motion(lifted(self.position), self.rotation, lifted(self.velocity), about_normal(self.angular_velocity))


class PlanarGround(InPlane, Ground):
    """The fixed frame of a planar system."""

    @classmethod
    def example(cls) -> PlanarGround:
        return cls("ground")


class PlanarBody(InPlane, Body):
    """A rigid body that moves in the plane.

    `inertia` is the moment of inertia about the centre of mass. `formulation` chooses its coordinates: `PlanarAngle`
    (the default), `PlanarEulerParameters` or `PlanarNatural`.
    """

    mass = parameter(kind="number", unit="kg", above=0.0, help="mass")
    inertia = parameter(kind="number", unit="kg m^2", above=0.0, help="about the centre of mass")
    center_of_mass = parameter((0.0, 0.0), kind="vector", unit="m", help="in body axes")

    def __init__(self, name: str, *, formulation: Formulation | None = None, **values: Any) -> None:
        self.formulation = formulation
        super().__init__(name, **values)

    def check(self) -> Iterator[Problem]:
        if self.formulation is not None and self.formulation.dimension != 2:
            message = f"found {self.formulation!r}; allowed are PlanarAngle, PlanarEulerParameters and PlanarNatural"
            yield self.problem("formulation", f"{message}; choose one of these or leave it out")

    def formulation_for(self, wanted: Formulation | None) -> Formulation:
        return wanted or self.formulation or PlanarAngle()

    def mass_properties(self) -> tuple[float, Array, Array]:
        """As those of a lamina whose two second moments are equal, I/2 each: [PappalardoGuida2018a], eqs. 55-58."""
        return self.mass, lifted(self.center_of_mass), np.diag([0.5 * self.inertia, 0.5 * self.inertia, self.inertia])

    @classmethod
    def example(cls) -> PlanarBody:
        return cls(
            "body",
            mass=1.5,
            inertia=0.3,
            center_of_mass=(0.1, -0.2),
            position=(0.3, 0.1),
            angle=0.7,
            velocity=(0.4, -0.3),
            angular_velocity=-2.0,
        )
