"""The state of a mechanism, independent of formulation."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, Problem
from .markers import POINT, converted

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from .bodies.base import Body

Array = NDArray[np.float64]


def no_such_body(name: object, names: Iterable[str]) -> str:
    """What to say when a body is asked for that is not there."""
    known = list(names)
    if near := difflib.get_close_matches(str(name), known, n=1):
        return f"there is no body {name!r}; did you mean {near[0]!r}?"
    listed = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    return f"there is no body {name!r}; there are {listed or 'none'}"


@dataclass(frozen=True)
class Motion:
    """Pose and twist of a body: position (3,), rotation matrix (3, 3), velocity, angular velocity (3,), all global."""

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

    def checked(self, bodies: Iterable[Body]) -> State:
        """This state with its arrays as these bodies store them; all that is missing or wrong is one `ModelError`."""
        motions, problems = {}, []
        for body in bodies:
            if (motion := self.motions.get(body.name)) is None:
                problems.append(Problem("State", "motions", no_such_body(body.name, self.motions)))
                continue
            values = {}
            for name in ("position", "rotation", "velocity", "angular_velocity"):
                try:
                    values[name] = getattr(type(body), name).convert(getattr(motion, name))
                except ValueError as error:
                    problems.append(Problem(f"State of {body}", name, str(error)))
            if not problems:
                motions[body.name] = Motion(**values)
        if problems:
            raise ModelError(problems)
        return State(self.t, motions, self.element_states)

    def motion(self, body: Body | str) -> Motion:
        """Pose and twist of a body."""
        name = body if isinstance(body, str) else body.name
        if name not in self.motions:
            raise ModelError([Problem("State", "", no_such_body(name, self.motions))])
        return self.motions[name]

    def position(self, body: Body | str, local_point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Global position of the body's origin, or of a point given in body axes."""
        m = self.motion(body)
        return m.position + m.rotation @ converted(POINT, local_point, "State.position", "local_point")

    def velocity(self, body: Body | str, local_point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Global velocity of the body's origin, or of a point given in body axes."""
        m = self.motion(body)
        arm = m.rotation @ converted(POINT, local_point, "State.velocity", "local_point")
        return m.velocity + np.cross(m.angular_velocity, arm)

    def rotation(self, body: Body | str) -> Rotation:
        """Rotation from body to global axes."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.motion(body).rotation)

    def angular_velocity(self, body: Body | str) -> Array:
        """Global angular velocity."""
        return self.motion(body).angular_velocity
