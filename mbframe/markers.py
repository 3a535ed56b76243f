"""Markers: points with axes, fixed to bodies. Joints, forces and measures know bodies only through them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, Problem
from .parameters import Parameter
from .plane import lifted
from .rotations import frame_with_axis

if TYPE_CHECKING:
    from .bodies.base import Body
    from .bodies.sliding_axis import SlidingAxis

Array = NDArray[np.float64]

POINT: Final = Parameter(kind="point", unit="m")
AXIS: Final = Parameter(kind="axis")
AXES: Final = Parameter(kind="rotation")
ANGLE: Final = Parameter(kind="angle", unit="rad")


def converted(rule: Parameter, value: Any, owner: str, field: str, dimension: int = 3) -> Any:
    """An argument as the rule of a parameter stores it; a wrong one is a `ModelError` that names owner and field."""
    try:
        return rule.of(dimension).convert(value)
    except ValueError as error:
        raise ModelError([Problem(owner, field, str(error))]) from None


class Marker:
    """A point with three axes, fixed to a body.

    Parameters
    ----------
    body
        The body it is fixed to.
    at
        Global position in the configuration in which the model is described, in metres.
    axis
        Global direction of the marker's z axis there. By default its axes are parallel to the global ones.
    axes
        All three axes as a rotation (the columns of its matrix), instead of `axis`.

    The local values derive from these and from the described pose of the body. On a planar body `at` and `axis` have
    two components, and the default axis is the normal; the marker itself has three, as everything computed.
    """

    def __init__(
        self, body: Body, *, at: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0), axes: object | None = None
    ) -> None:
        if not hasattr(body, "mass_properties"):
            message = f"found {body!r}; allowed is a body; pass the object that you added to the system"
            raise ModelError([Problem("Marker", "body", message)])
        self.body = body
        owner = f"Marker on {body}"
        self.at = lifted(converted(POINT, at, owner, "at", body.dimension))
        self.axes = (
            frame_with_axis(lifted(converted(AXIS, axis, owner, "axis", body.dimension)))
            if axes is None
            else converted(AXES, axes, owner, "axes")
        )

    @classmethod
    def placed(cls, body: Body, at: Array, axes: Array) -> Self:
        """A marker from values that were checked before, such as parameters of a joint; `at` as on the body."""
        marker = cls.__new__(cls)
        marker.body, marker.at, marker.axes = body, lifted(at), axes
        return marker

    @property
    def local_point(self) -> Array:
        """Position in the body's axes."""
        return self.body.localized(self.at, self.axes)[0]

    @property
    def local_axes(self) -> Array:
        """Axes (columns) in the body's axes."""
        return self.body.localized(self.at, self.axes)[1]

    @property
    def node_shape(self) -> Array:
        """How it moves and turns with the modal coordinates of a flexible body: see `FlexibleBody.node_shape`."""
        return self.body.shape_at(self.at)  # type: ignore[attr-defined]

    @property
    def x(self) -> Axis:
        return Axis(self, 0)

    @property
    def y(self) -> Axis:
        return Axis(self, 1)

    @property
    def z(self) -> Axis:
        return Axis(self, 2)

    def __repr__(self) -> str:
        return f"Marker({self.body.name!r}, at={self.at.tolist()})"


class LocalMarker(Marker):
    """A marker that is told in the axes of its body, and so is where that is described.

    Angles and displacements between two of them count from where their x axes and points coincide, not from the
    described configuration.
    """

    def __init__(self, body: Body, point: Array, axes: Array) -> None:
        self.body = body
        self._local = point, axes

    @classmethod
    def placed(cls, body: Body, at: Array, axes: Array) -> Marker:  # type: ignore[override]
        """From global values, such as those of a moved copy: a marker that is described globally."""
        return Marker.placed(body, at, axes)

    @cached_property
    def _described(self) -> tuple[Array, Array]:
        return self.body.globalized(*self._local)

    @property
    def at(self) -> Array:  # type: ignore[override]
        """Global position where the body is described."""
        return self._described[0]

    @property
    def axes(self) -> Array:  # type: ignore[override]
        """Axes (columns) where the body is described."""
        return self._described[1]

    @property
    def local_point(self) -> Array:
        _ = self.at  # of a flexible body: it has to be one of its nodes
        return self._local[0]

    @property
    def local_axes(self) -> Array:
        return self._local[1]


class AxisMarker(Marker):
    """A marker on the axis of a body on which something slides: z is the direction of the undeformed axis.

    It moves with the frame of the body; how the axis of a flexible body bends is told by `sliding_axis`. The point of
    a bent axis that it is given stands for the foot of that point on the undeformed axis.
    """

    @classmethod
    def on(cls, marker: Marker) -> AxisMarker:
        """The marker itself, or one at the same place of the axis."""
        return marker if isinstance(marker, AxisMarker) else cls.placed(marker.body, marker.at, marker.axes)

    @cached_property
    def sliding_axis(self) -> SlidingAxis:
        """The axis in body axes."""
        return self.body.axis_along(self.at, self.axes)

    @property
    def local_point(self) -> Array:
        return self.sliding_axis.point

    @property
    def local_axes(self) -> Array:
        return self.sliding_axis.axes

    @property
    def node_shape(self) -> Array:
        return np.zeros_like(self.body.node_shape(0)) if hasattr(self.body, "node_shape") else np.zeros((6, 0))


@dataclass(frozen=True)
class Axis:
    """One axis of a marker: `marker.x`, `marker.y`, `marker.z`."""

    marker: Marker
    index: int
