"""What all bodies share: a described pose and twist, shapes, and mass properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Problem
from ..markers import Marker
from ..parameters import REQUIRED, Element, parameter
from ..plane import lifted, lowered
from ..state import Motion
from .sliding_axis import SlidingAxis

if TYPE_CHECKING:
    from ..proposals import Scale
    from .formulations import Formulation

Array = NDArray[np.float64]


class Body(Element):
    """Base class of bodies. `position` and `velocity` are those of the origin; `rotation` takes local to global axes.

    A subclass gives `mass_properties()`; a rigid body of another kind (a shape with a density, say) needs nothing else.
    `formulation` chooses its coordinates; without one it is the default of the analysis.
    """

    position = parameter((0.0, 0.0, 0.0), kind="point", unit="m", help="origin, global")
    rotation = parameter(np.eye(3), kind="rotation", help="local to global components")
    velocity = parameter((0.0, 0.0, 0.0), kind="free vector", unit="m/s", help="of the origin, global")
    angular_velocity = parameter((0.0, 0.0, 0.0), kind="free vector", unit="rad/s", help="global")
    shapes = parameter((), kind="shapes", help="how the body looks, in body axes")

    symbol: ClassVar[str] = "body"  # as what lists show it
    dimension: ClassVar[int] = 3  # of the systems it belongs to
    formulation: Formulation | None = None

    def __init__(self, name: str, *, formulation: Formulation | None = None, **values: Any) -> None:
        self.formulation = formulation
        super().__init__(name, **values)

    def dimension_with(self, values: Mapping[str, Any]) -> int:
        return self.dimension

    @property
    def motion(self) -> Motion:
        """Pose and twist as described."""
        return Motion(self.position, self.rotation, self.velocity, self.angular_velocity)

    def formulation_for(self, wanted: Formulation | None) -> Formulation | None:
        """The formulation in which an analysis treats this body if it asks for `wanted`; None: its default.

        A body that is not free to choose overrides this.
        """
        return wanted or self.formulation

    def mass_properties(self) -> tuple[float, Array, Array]:
        """Mass, centre of mass (3,) and inertia about it (3 x 3), in body axes."""
        raise NotImplementedError(f"{type(self).__name__} does not define mass_properties()")

    @property
    def extent(self) -> float:
        """Its largest dimension, of its shapes, m."""
        return max((max(shape.extent) for shape in self.shapes), default=0.0)

    @property
    def radii(self) -> list[float]:
        """Radii of its round shapes, m."""
        return [0.5 * x for x, y, _ in (shape.extent for shape in self.shapes if hasattr(shape, "radius")) if x == y]

    def attachments(self) -> list[tuple[str, Array]]:
        """Names and global positions, as described, of the only points where it can be held; none if it is rigid."""
        return []

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        """Values of parameters with which a new one begins in a model of a scale, at the global `position` picked."""
        numbers = {name: p for name, p in cls.parameters().items() if p.kind == "number" and p.default is REQUIRED}
        values: dict[str, Any] = {name: scale.number(p) for name, p in numbers.items()}
        return values | {"position": lowered(np.asarray(picked["position"], float), scale.dimension)}

    def facts(self) -> list[tuple[str, Sequence[float], str]]:
        """Numbers that follow from the parameters and help to judge them: label, values, unit."""
        return [("Speed", [float(np.linalg.norm(self.velocity))], "m/s")]

    def localized(self, at: Array, axes: Array) -> tuple[Array, Array]:
        """A global point and axes (columns) of the described configuration in the axes of the undeformed body."""
        inverse = self.rotation.T
        return inverse @ (at - lifted(self.position)), inverse @ axes

    def globalized(self, point: Array, axes: Array) -> tuple[Array, Array]:
        """A point and axes (columns) of the undeformed body, in its axes, where it is described: global."""
        return lifted(self.position) + self.rotation @ point, self.rotation @ axes

    def axis_along(self, at: Array, axes: Array) -> SlidingAxis:
        """The axis through a global point along axes[:, 2] of the described configuration, on which bodies slide."""
        return SlidingAxis.straight(*Body.localized(self, at, axes))

    def moving_point(self, point: Array, modal_coordinates: Array, modal_velocities: Array) -> tuple[Array, Array]:
        """Position and velocity, in body axes, of the point that is at `point` in the undeformed body."""
        return point, np.zeros(3)

    def marker(self, at: ArrayLike | None = None, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Marker:
        """A marker on this body at a global point (default: the origin)."""
        return Marker(self, at=self.position if at is None else at, axis=axis)


class Ground(Body):
    """The fixed frame. Every system has one: `system.ground`."""

    symbol = "ground"

    def __init__(self, name: str, **values: Any) -> None:
        Element.__init__(self, name, **values)  # it has no coordinates to choose

    def facts(self) -> list[tuple[str, Sequence[float], str]]:
        return []

    def check(self) -> Iterator[Problem]:
        for field, p in self.parameters().items():
            value, default = getattr(self, field), p.of(self.dimension).default
            if field != "shapes" and value is not default and np.any(value != default):
                yield self.problem(field, "the ground stays where it is; move the bodies instead")

    @classmethod
    def example(cls) -> Ground:
        return cls("ground")
