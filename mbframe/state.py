"""The state of a mechanism, independent of formulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from .bodies.base import Body

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """Pose and twist of one body: position (3,) and rotation matrix (3, 3), velocity and angular velocity (3,), global."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


@dataclass(frozen=True)
class State:
    """Poses and twists of all bodies and the own states of elements, by name, at time `t`."""

    t: float
    motions: Mapping[str, Motion]
    element_states: Mapping[str, Array] = field(default_factory=dict)

    def motion(self, body: Body | str) -> Motion:
        """Pose and twist of a body."""
        name = body if isinstance(body, str) else body.name
        try:
            return self.motions[name]
        except KeyError:
            raise ModelError(f"State: there is no body {name!r}; there are {', '.join(self.motions)}") from None

    def position(self, body: Body | str, local_point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Global position of the body's origin, or of a point given in body axes."""
        m = self.motion(body)
        return m.position + m.rotation @ np.asarray(local_point, float)

    def velocity(self, body: Body | str, local_point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Global velocity of the body's origin, or of a point given in body axes."""
        m = self.motion(body)
        return m.velocity + np.cross(m.angular_velocity, m.rotation @ np.asarray(local_point, float))

    def rotation(self, body: Body | str) -> Rotation:
        """Rotation from body to global axes."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.motion(body).rotation)

    def angular_velocity(self, body: Body | str) -> Array:
        """Global angular velocity."""
        return self.motion(body).angular_velocity
