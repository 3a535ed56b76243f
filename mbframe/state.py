"""The state of a mechanism, independent of formulation."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, Problem
from .markers import AXES, POINT, converted
from .plane import NORMAL, angle_of, lifted, lowered, lowered_axial

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from .bodies.base import Body

Array = NDArray[np.float64]

COUNTED: Final = ".counted_angle"  # behind the name of an element: its angle over turns among the element states
SHAPES: Final = ", shapes "  # between the axes of a motion and the fingerprint of its shapes
SAME_SHAPES: Final = 1e-6  # by which numbers of fingerprints may differ: modes of another machine are rounded otherwise
OUT_OF_PLANE: Final = 1e-9  # what a state may deviate from the plane by rounding


def no_such_body(name: object, names: Iterable[str]) -> str:
    """What to say when a body is asked for that is not there."""
    known = list(names)
    if near := difflib.get_close_matches(str(name), known, n=1):
        return f"there is no body {name!r}; did you mean {near[0]!r}?"
    listed = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    return f"there is no body {name!r}; there are {listed or 'none'}"


@dataclass(frozen=True)
class Motion:
    """Pose and twist of a body: position (3,), rotation matrix (3, 3), velocity, angular velocity (3,), all global.

    Bodies in the plane have them too: the third components of position and velocity are zero, rotation and angular
    velocity are about z. A flexible body also has modal coordinates and their rates; left out, it is not deformed.
    `axes` says of a flexible body which axes these are, in words, and behind `SHAPES` the `Modes.fingerprint`. A
    deformed motion is refused where the body moves in other axes (by its `frame` or `geometric_stiffening`) or has
    other modes, in which the same numbers are another motion. What is left out is as the body has it.
    """

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    modal_coordinates: Array = field(default_factory=lambda: np.zeros(0))
    modal_velocities: Array = field(default_factory=lambda: np.zeros(0))
    axes: str = ""


@dataclass(frozen=True)
class State:
    """Poses and twists of all bodies and the own states of elements, by name, at time `t`.

    In a system of dimension 2 vectors have two components and angular velocities are numbers.
    """

    t: float
    motions: Mapping[str, Motion]
    element_states: Mapping[str, Array] = field(default_factory=dict)
    dimension: int = 3

    @property
    def state(self) -> State:
        """Itself: what is a state (an equilibrium, a steady motion) and what has one answer to the same name."""
        return self

    def checked(self, bodies: Iterable[Body]) -> State:
        """This state with its arrays as these bodies store them; all that is missing or wrong is one `ModelError`."""
        motions, problems = {}, []
        dimension = 3
        bodies = list(bodies)
        known = {body.name for body in bodies}
        if bodies and self.dimension < bodies[0].dimension:
            raise ModelError([Problem("State", "", "is one of a planar system, but this one is spatial")])
        if strangers := [name for name in self.motions if name not in known]:
            listed = ", ".join(map(repr, strangers[:5])) + (", ..." if len(strangers) > 5 else "")
            message = (
                f"has {listed}, which this system has not; pass a state of this system, such as mb.assemble(system) or "
                "result.state(-1)"
            )
            problems.append(Problem("State", "motions", message))
        for body in bodies:
            dimension = body.dimension
            if (motion := self.motions.get(body.name)) is None:
                problems.append(Problem("State", "motions", no_such_body(body.name, self.motions)))
                continue
            described = body.motion
            values: dict[str, Any] = {
                n: np.array(getattr(motion, n), float) for n in ("modal_coordinates", "modal_velocities")
            }
            if any(np.any(given) for given in values.values()) and (
                message := _another_motion(motion.axes, described.axes)
            ):
                problems.append(Problem(f"State of {body}", "motions", message))
                continue
            undeformed = np.zeros(len(described.modal_coordinates))
            values = {n: given if len(given) else undeformed for n, given in values.items()}
            values["axes"] = described.axes
            for name in ("position", "rotation", "velocity", "angular_velocity"):
                rule, given = (AXES if name == "rotation" else POINT), getattr(motion, name)
                try:
                    values[name] = converted(rule, given, f"State of {body}", name)
                except ModelError as error:
                    problems += error.problems
            if not problems:
                motions[body.name] = m = Motion(**values)
                if dimension == 2 and not in_plane(m):
                    message = "found a motion out of the plane; allowed are z = 0 and a rotation about z"
                    problems.append(Problem(f"State of {body}", "motions", message))
        if problems:
            raise ModelError(problems)
        return State(self.t, motions, self.element_states, dimension)

    def motion(self, body: Body | str) -> Motion:
        """Pose and twist of a body."""
        name = body if isinstance(body, str) else body.name
        if name not in self.motions:
            raise ModelError([Problem("State", "", no_such_body(name, self.motions))])
        return self.motions[name]

    def position(self, body: Body | str, local_point: ArrayLike | None = None) -> Array:
        """Global position of the body's origin, or of a point given in body axes.

        Of a flexible body (the object, not its name) it is the node that lies there undeformed.
        """
        m = self.motion(body)
        point, _ = self._moving_point("position", body, local_point)
        return lowered(m.position + m.rotation @ point, self.dimension)

    def velocity(self, body: Body | str, local_point: ArrayLike | None = None) -> Array:
        """Global velocity of the body's origin, or of a point given in body axes as in `position`."""
        m = self.motion(body)
        point, rate = self._moving_point("velocity", body, local_point)
        arm = m.rotation @ point
        return lowered(m.velocity + np.cross(m.angular_velocity, arm) + m.rotation @ rate, self.dimension)

    def angle(self, element: Any) -> float:
        """Angle of an element that counts turns, such as a torsion spring, an angle limit or an `Angle`, over turns.

        Of a body in the plane it is over turns too if the state tells them, as that of a stored instant does
        (`result.state`), and between -pi and pi otherwise.
        """
        name = element if isinstance(element, str) else element.name
        counted = self.element_states.get(f"{name}{COUNTED}")
        if name not in self.motions and counted is not None:
            return float(counted[0])
        if self.dimension != 2:
            message = "only bodies in the plane, and elements that count turns, have an angle; ask for rotation"
            raise ModelError([Problem("State", "angle", message)])
        angle = float(angle_of(self.motion(name).rotation))
        return angle if counted is None else nearest_turn(angle, float(counted[0]))

    def rotation(self, body: Body | str) -> Rotation:
        """Rotation from body to global axes."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.motion(body).rotation)

    def angular_velocity(self, body: Body | str) -> Any:
        """Global angular velocity; a number in the plane."""
        return lowered_axial(self.motion(body).angular_velocity, self.dimension)

    def _moving_point(self, asked: str, body: Body | str, local_point: ArrayLike | None) -> tuple[Array, Array]:
        """Where a point of a body is in its axes, and how fast it moves there."""
        point = self._point(asked, local_point)
        if local_point is None:
            return point, np.zeros(3)
        m = self.motion(body)
        if isinstance(body, str):
            if len(m.modal_coordinates):
                message = (
                    f"found the name {body!r} of a flexible body, which does not tell how its nodes move; pass the "
                    f"body, system[{body!r}]"
                )
                raise ModelError([Problem("State", asked, message)])
            return point, np.zeros(3)
        return body.moving_point(point, m.modal_coordinates, m.modal_velocities)

    def _point(self, asked: str, local_point: ArrayLike | None) -> Array:
        if local_point is None:
            return np.zeros(3)
        return lifted(converted(POINT, local_point, f"State.{asked}", "local_point", self.dimension))


def _another_motion(found: str, needed: str) -> str:
    """Why modal coordinates of some `Motion.axes` mean something else in others; nothing if they mean the same."""
    (axes, _, shapes), (here, _, own) = (text.partition(SHAPES) for text in (found, needed))
    if axes not in ("", here):
        return (
            f"found a deformed body seen from {axes}; here it is one seen from {here}, and the same numbers would be "
            "another motion; set its frame and geometric_stiffening as they were for this state, or make the state "
            "again with those that it has now"
        )
    if shapes and own:
        before, now = (np.array(text.split(), float) for text in (shapes, own))
        if before.shape != now.shape or not np.allclose(before, now, rtol=SAME_SHAPES, atol=SAME_SHAPES):
            return (
                "found a body deformed in other shapes than it has here, and the same numbers would be another motion; "
                "give it the modes that it had for this state, or make the state again with those that it has now"
            )
    return ""


def nearest_turn(angle: Any, to: float) -> Any:
    """Angles with as many full turns more that the first one is within half a turn of another angle."""
    first = angle if np.ndim(angle) == 0 else angle[:1]
    return angle + 2.0 * np.pi * np.round((to - first) / (2.0 * np.pi))


def in_plane(motion: Motion) -> bool:
    """Whether a motion is one of the plane, up to rounding."""
    out = [motion.position[2], motion.velocity[2], *motion.angular_velocity[:2], *(motion.rotation[:, 2] - NORMAL)]
    return float(np.max(np.abs(out))) <= OUT_OF_PLANE
