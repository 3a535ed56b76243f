"""Markers: points with axes, fixed to bodies. Joints, forces and measures know bodies only through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .rotations import frame_with_axis

if TYPE_CHECKING:
    from .bodies.base import Body

Array = NDArray[np.float64]


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
        All three axes as columns of a rotation matrix, instead of `axis`.

    The local values derive from these and from the described pose of the body.
    """

    def __init__(
        self, body: Body, *, at: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0), axes: ArrayLike | None = None
    ) -> None:
        self.body = body
        self.at: Array = np.array(at, float)
        self.axes: Array = frame_with_axis(axis) if axes is None else np.array(axes, float)

    @property
    def local_point(self) -> Array:
        """Position in the body's axes."""
        return self.body.rotation.T @ (self.at - self.body.position)

    @property
    def local_axes(self) -> Array:
        """Axes (columns) in the body's axes."""
        return self.body.rotation.T @ self.axes

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


@dataclass(frozen=True)
class Axis:
    """One axis of a marker: `marker.x`, `marker.y`, `marker.z`."""

    marker: Marker
    index: int
