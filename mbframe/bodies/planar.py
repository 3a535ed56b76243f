"""Bodies of planar systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import Problem
from ..parameters import parameter
from ..plane import about_normal, lifted, rotation_by
from ..shapes import Shape, solid_of
from ..state import Motion
from .base import Body, Ground
from .formulations import Formulation, PlanarAngle

Array = NDArray[np.float64]
ROUNDING = 1e-9  # typed numbers with ten digits obey the triangle inequalities of inertia


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

    `inertia` is the moment of inertia Izz about the centre of mass, or (Ixx, Iyy, Izz) in body axes: only the mass
    matrix of `PlanarNatural` tells them apart, and no motion depends on Ixx and Iyy, which are Izz/2 each where they
    are not given. `formulation` chooses its coordinates: `PlanarAngle` (the default), `PlanarEulerParameters` or
    `PlanarNatural`.
    """

    mass = parameter(kind="number", unit="kg", above=0.0, help="mass")
    inertia = parameter(kind="numbers", unit="kg m^2", above=0.0, help="Izz about the centre of mass, or Ixx, Iyy, Izz")
    center_of_mass = parameter((0.0, 0.0), kind="vector", unit="m", help="in body axes")

    def check(self) -> Iterator[Problem]:
        if self.formulation is not None and self.formulation.dimension != 2:
            message = f"found {self.formulation!r}; allowed are PlanarAngle, PlanarEulerParameters and PlanarNatural"
            yield self.problem("formulation", f"{message}; choose one of these or leave it out")
        if np.ndim(self.inertia) and np.shape(self.inertia) != (3,):
            yield self.problem("inertia", f"found {len(self.inertia)} numbers; allowed are Izz, or Ixx, Iyy and Izz")
        elif np.ndim(self.inertia):
            xx, yy, zz = (float(value) for value in self.inertia)
            for name, other, one in (("Ixx", yy, xx), ("Iyy", xx, yy)):
                if not one < (other + zz) * (1.0 - ROUNDING):
                    message = f"found {name} = {one:.6g}; allowed is less than the sum of the others, {other + zz:.6g}"
                    yield self.problem("inertia", f"{message}, because mass has an extent along both axes")
            if not zz <= (xx + yy) * (1.0 + ROUNDING):
                message = f"found Izz = {zz:.6g}; allowed is at most Ixx + Iyy = {xx + yy:.6g}"
                yield self.problem("inertia", f"{message}; check the order Ixx, Iyy, Izz")

    def formulation_for(self, wanted: Formulation | None) -> Formulation:
        return wanted or self.formulation or PlanarAngle()

    def mass_properties(self) -> tuple[float, Array, Array]:
        """Ixx and Iyy as given, or those of a lamina of equal second moments: [PappalardoGuida2018a], eqs. 55-58."""
        one = np.ndim(self.inertia) == 0
        principal = self.inertia * np.array([0.5, 0.5, 1.0]) if one else self.inertia
        return self.mass, lifted(self.center_of_mass), np.diag(principal)

    @classmethod
    def from_shapes(cls, name: str, shapes: Sequence[Shape], density: float, **values: Any) -> Self:
        """A body of homogeneous shapes (m, in body axes) of a density (kg/m^3): they give mass, centre and Izz."""
        mass, center, inertia = solid_of(shapes, density)
        return cls(name, mass=mass, inertia=inertia[2, 2], center_of_mass=center[:2], shapes=shapes, **values)

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
