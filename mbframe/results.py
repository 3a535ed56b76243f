"""Results: stored states, and everything that follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bodies.base import Body
from .bodies.formulations.planar import PlanarFormulation
from .errors import ModelError, Problem
from .markers import POINT, Marker, converted
from .measures import Measure
from .plane import lifted, lowered, lowered_axial
from .state import State, no_such_body

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from .equations import Equations
    from .equations.tables import NumberedBody

Array = NDArray[np.float64]


@dataclass
class Info:
    """How a result came about."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    factorizations: int = 0
    wall_time: float = 0.0
    warnings: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    completed: bool = True


@dataclass(frozen=True)
class Reaction:
    """Force and moment that a joint exerts on its second body at its marker j, global, (n, 3) each.

    In the plane (n, 2) and (n,).
    """

    force: Array
    torque: Array


@dataclass(frozen=True)
class Energy:
    """Energies at the stored instants, J: kinetic, potential (gravity and force elements), and their sum."""

    kinetic: Array
    potential: Array

    @property
    def total(self) -> Array:
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Violation:
    """Euclidean norms of the constraint residuals and of their rates at the stored instants."""

    position: Array
    velocity: Array


@dataclass(frozen=True)
class Momentum:
    """Linear momentum (n, 3), N s, and angular momentum about the global origin (n, 3), N m s.

    In the plane (n, 2) and (n,).
    """

    linear: Array
    angular: Array


@dataclass(frozen=True)
class EventRecord:
    """An event that occurred: its name, time and state."""

    name: str
    t: float
    state: State


class Result:
    """The motion of a system: stored instants `t` and what follows from them.

    Elements may be given by object or by name. Vectors have global components and one row per instant, (n, 3). In a
    planar system they have two, (n, 2), and what is about the normal (angles, angular velocities, torques) is (n,).
    """

    def __init__(self, eq: Equations, t: Array, y: Array, info: Info, events: list[EventRecord] | None = None) -> None:
        self._eq = eq
        self.t = t
        self._y = y
        self.q, self.v, self.z = eq.split(y)
        self.info = info
        self.events = events or []
        # The system may be changed after the run; the motion belongs to these numbers.
        self._gravity = lifted(eq.system.gravity)
        self._dimension = eq.system.dimension
        self._mass_properties = [b.body.mass_properties() for b in eq.tables.bodies]
        self._described = {b.body.name: getattr(b.body, "angle", 0.0) for b in eq.tables.bodies}

    @property
    def system(self) -> Any:
        """The system that was simulated."""
        return self._eq.system

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "empty"
        return f"<Result of {self.system.name!r}: {span}, {len(self.t)} instants>"

    # --- bodies -------------------------------------------------------------------------------------------------------

    def position(self, body: Body | Marker | str, local_point: ArrayLike | None = None) -> Array:
        """Position of the body's origin, of a point in body axes, or of a marker."""
        return lowered(self._position(body, local_point), self._dimension)

    def velocity(self, body: Body | Marker | str, local_point: ArrayLike | None = None) -> Array:
        """Velocity of the body's origin, of a point in body axes, or of a marker."""
        return lowered(self._velocity(body, local_point), self._dimension)

    def acceleration(self, body: Body | Marker | str, local_point: ArrayLike | None = None) -> Array:
        """Acceleration of the body's origin, of a point in body axes, or of a marker."""
        _, rotation, point = self._point(body, local_point)
        acceleration, alpha = self._acceleration(body)
        _, omega = self._twist(body)
        arm = rotation @ point
        total = acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        return lowered(total, self._dimension)

    def rotation(self, body: Body | Marker | str) -> Rotation:
        """Rotation of the body (or of the marker's axes) as a SciPy `Rotation` stack."""
        from scipy.spatial.transform import Rotation

        _, rotation, _ = self._point(body, None)
        return Rotation.from_matrix(rotation @ body.local_axes if isinstance(body, Marker) else rotation)

    def angle(self, body: Body | str) -> Array:
        """Angle of a body in the plane, from its described angle on over all turns.

        Coordinates that do not count turns are unwrapped by the rates at both ends of an interval.
        """
        b = self._numbered(body)
        if self._dimension != 2 or b is None or not isinstance(b.formulation, PlanarFormulation):
            message = "only a moving body of a planar system has an angle; ask for rotation, or for a measure"
            raise ModelError([Problem("Result", "angle", message)])
        angles = b.formulation.angles(self.q[:, b.q_slice])
        if not b.formulation.counts_turns:
            angles = unwrapped(self.t, angles, self._twist(body)[1][:, 2])
        return angles + 2.0 * np.pi * np.round((self._described[b.body.name] - angles[:1]) / (2.0 * np.pi))

    def angular_velocity(self, body: Body | Marker | str) -> Array:
        """Global angular velocity."""
        return lowered_axial(self._twist(body)[1], self._dimension).copy()

    def angular_acceleration(self, body: Body | Marker | str) -> Array:
        """Global angular acceleration."""
        return lowered_axial(self._acceleration(body)[1], self._dimension)

    def measure(self, measure: Measure | str) -> Array:
        """A measure at every instant; an angle is unwrapped over turns.

        Its rates at both ends of an interval tell the number of turns in it, so the instants may lie far apart.
        """
        element = self.system[measure] if isinstance(measure, str) else measure
        if not isinstance(element, Measure):
            raise ModelError([element.problem("", "is not a measure; use Distance, Displacement or Angle")])
        i, j = self._marker_states(element.i), self._marker_states(element.j)
        values = np.array([element.value(*sample) for sample in zip(self.t, i, j, strict=True)])
        if element.unit != "rad":
            return values
        rates = np.zeros(len(values))
        for k, (t, a, b) in enumerate(zip(self.t, i, j, strict=True)):
            g = np.zeros((1, 24))
            element.gradient(t, a, b, g)
            rates[k] = g[0] @ np.concatenate([a.velocity, a.axes_rate.ravel(), b.velocity, b.axes_rate.ravel()])
        return unwrapped(self.t, values, rates)

    def _marker_states(self, marker: Marker) -> list[SimpleNamespace]:
        """What a measure sees of a marker, instant by instant."""
        position, axes = self._position(marker, None), self.rotation(marker).as_matrix()
        velocity, rates = self._velocity(marker, None), np.cross(self._twist(marker)[1][:, :, None], axes, axis=1)
        return [
            SimpleNamespace(position=p, axes=a, velocity=v, axes_rate=r)
            for p, a, v, r in zip(position, axes, velocity, rates, strict=True)
        ]

    def state(self, index: int) -> State:
        """The state at a stored instant, for `simulate(..., initial=...)` and analyses."""
        return self._eq.state(self.t[index], self._y[index])

    def element_states(self, element: Any) -> Array:
        """Own states of an element, (n, number of states)."""
        name = element if isinstance(element, str) else element.name
        for f in self._eq.tables.forces:
            if f.force.name == name:
                return self.z[:, f.states].copy()
        raise ModelError([self.system[name].problem("", "has no own states: it is not a force element")])

    # --- constraints and energies -------------------------------------------------------------------------------------

    @property
    def v_rate(self) -> Array:
        """Accelerations v'."""
        return self._eq.split(self._replayed["rates"])[1]

    @property
    def multipliers(self) -> Array:
        """Lagrange multipliers, joints first, then intrinsic constraints."""
        return self._replayed["multipliers"]

    def reaction(self, joint: Any) -> Reaction:
        """Force and moment that a joint exerts on its second body, at its marker j, in global components.

        The marker force is -g^T lambda with g = dC/dx; its part on the axes d_k gives the moment sum d_k x f_k.
        """
        element = self.system[joint if isinstance(joint, str) else joint.name]
        if element.name not in self._eq.tables.joint_points:
            raise ModelError([element.problem("", "has no reaction: it is not a joint")])
        force, torque = self._eq.reactions(element.name, self.t, self._y, self.multipliers)
        return Reaction(lowered(force, self._dimension), lowered_axial(torque, self._dimension))

    @cached_property
    def violation(self) -> Violation:
        """Norms of the violations of the constraints."""
        return Violation(self._replayed["residual"], self._replayed["constraint_rate"])

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy."""
        kinetic, potential = np.zeros(len(self.t)), self._replayed["potential"].copy()
        for b, (mass, center_of_mass, inertia) in self._masses():
            center, velocity, rotation, omega = self._mass_center(b, center_of_mass)
            local = np.einsum("nji,nj->ni", rotation, omega)
            kinetic += 0.5 * mass * np.sum(velocity**2, axis=1) + 0.5 * np.einsum("ni,ij,nj->n", local, inertia, local)
            potential -= mass * center @ self._gravity
        return Energy(kinetic, potential)

    @cached_property
    def momentum(self) -> Momentum:
        """Linear momentum, and angular momentum about the global origin."""
        linear, angular = np.zeros((len(self.t), 3)), np.zeros((len(self.t), 3))
        for b, (mass, center_of_mass, inertia) in self._masses():
            center, velocity, rotation, omega = self._mass_center(b, center_of_mass)
            spin = np.einsum("nij,jk,nlk,nl->ni", rotation, inertia, rotation, omega)
            linear += mass * velocity
            angular += np.cross(center, mass * velocity) + spin
        return Momentum(lowered(linear, self._dimension), lowered_axial(angular, self._dimension))

    # --- inside -------------------------------------------------------------------------------------------------------

    @cached_property
    def _replayed(self) -> Mapping[str, Array]:
        return self._eq.replay(self.t, self._y)

    def _numbered(self, body: Body | Marker | str) -> NumberedBody | None:
        """The numbered body; None for the ground."""
        if isinstance(body, Marker):
            body = body.body
        name = body if isinstance(body, str) else getattr(body, "name", body)
        if name == self.system.ground.name:
            return None
        index = self._eq.tables.index
        if name not in index:
            raise ModelError([Problem("Result", "", no_such_body(name, index))])
        return self._eq.tables.bodies[index[name]]

    def _point(self, body: Body | Marker | str, local_point: ArrayLike | None) -> tuple[Array, Array, Array]:
        """Origins, rotation matrices, and the local point asked for."""
        default = body.local_point if isinstance(body, Marker) else np.zeros(3)
        point = default
        if local_point is not None:
            point = lifted(converted(POINT, local_point, "Result", "local_point", self._dimension))
        if (b := self._numbered(body)) is None:
            return np.zeros((len(self.t), 3)), np.tile(np.eye(3), (len(self.t), 1, 1)), point
        return *b.formulation.poses(self.q[:, b.q_slice]), point

    def _position(self, body: Body | Marker | str, local_point: ArrayLike | None) -> Array:
        origin, rotation, point = self._point(body, local_point)
        return origin + rotation @ point

    def _velocity(self, body: Body | Marker | str, local_point: ArrayLike | None) -> Array:
        _, rotation, point = self._point(body, local_point)
        velocity, omega = self._twist(body)
        return velocity + np.cross(omega, rotation @ point)

    def _acceleration(self, body: Body | Marker | str) -> tuple[Array, Array]:
        """Accelerations of the origin and angular accelerations."""
        if (b := self._numbered(body)) is None:
            return np.zeros((len(self.t), 3)), np.zeros((len(self.t), 3))
        return b.formulation.accelerations(self.q[:, b.q_slice], self.v[:, b.v_slice], self.v_rate[:, b.v_slice])

    def _twist(self, body: Body | Marker | str) -> tuple[Array, Array]:
        if (b := self._numbered(body)) is None:
            return np.zeros((len(self.t), 3)), np.zeros((len(self.t), 3))
        return b.formulation.twists(self.q[:, b.q_slice], self.v[:, b.v_slice])

    def _masses(self) -> Iterator[tuple[NumberedBody, tuple[float, Array, Array]]]:
        """Bodies with mass, centre of mass and inertia."""
        return zip(self._eq.tables.bodies, self._mass_properties, strict=True)

    def _mass_center(self, b: NumberedBody, center: Array) -> tuple[Array, Array, Array, Array]:
        """Position and velocity of the centre of mass, rotation and angular velocity."""
        origin, rotation = b.formulation.poses(self.q[:, b.q_slice])
        velocity, omega = b.formulation.twists(self.q[:, b.q_slice], self.v[:, b.v_slice])
        arm = rotation @ center
        return origin + arm, velocity + np.cross(omega, arm), rotation, omega


def unwrapped(t: Array, angles: Array, rates: Array) -> Array:
    """Angles over turns: the rates at both ends of an interval tell the number of turns in it."""
    expected = 0.5 * np.diff(t) * (rates[1:] + rates[:-1])
    turns = np.round((expected - np.diff(angles)) / (2.0 * np.pi))
    return angles + 2.0 * np.pi * np.concatenate([[0.0], np.cumsum(turns)])
