"""Results: stored states, and everything that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import over_time
from .bodies.base import Body
from .bodies.flexible import FlexibleBody
from .bodies.formulations.base import Formulation
from .bodies.formulations.planar import PlanarFormulation
from .bodies.node_motion import NodeMotion
from .display import Displayed
from .errors import ModelError, Problem
from .forces.base import ForceElement
from .joints.coordinates import coordinates_of
from .joints.driven import Drive
from .markers import POINT, Marker, converted
from .measures import Measure
from .over_time import MarkerMotion, unwrapped
from .plane import lifted, lowered, lowered_axial
from .registry import is_ours
from .state import COUNTED, State, nearest_turn, no_such_body
from .stored_states import States, StatesInMemory, is_work

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from .disk.atomic import FilePath
    from .equations import Equations
    from .equations.numbered import NumberedBody
    from .flexible.section_forces import SectionForces
    from .plots import Plot
    from .quantities import Quantity
    from .stresses import StressPeak
    from .system import System

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
    start: list[float] | None = None
    """Time and coordinates (t, q, v, z) where the run began, if they are not those of the first stored instant."""
    angles: dict[str, float] = field(default_factory=dict)
    """Angles of bodies in the plane where the run began, over turns, by name."""


@dataclass(frozen=True)
class Reaction:
    """Force and moment that a joint exerts on its second body at its marker j, global, (n, 3) each.

    In the plane (n, 2) and (n,).
    """

    force: Array
    torque: Array


@dataclass(frozen=True)
class Energy:
    """Energies at the stored instants, J: kinetic, potential (gravity, deformation, force elements), and their sum.

    What is not in them is work. `work` has that of each element that does some, by its name and since the start of the
    run, whether that is stored or not; what it puts into the system counts positive. That is the work of loads, of
    dampers, friction and contacts beyond what they store, of actuators, of drivers (and of whatever else prescribes a
    motion), and of the damping of a flexible body. It was integrated in the run with the weights of each step.
    `balance` is what remains, with E(0) at the start of the run,

        balance = E(t) - E(0) - sum of the works

    which vanishes in the exact solution: the error of the integration, of the corrections of constraints, and of
    constraints that are not fulfilled while they carry loads.
    """

    kinetic: Array
    potential: Array
    _works: Mapping[str, Array] | None = None
    _start: float | None = None  # total energy at the start, of a run whose first stored instant is a later one

    def later(self) -> Energy:
        """The same without the first instant, which is the start."""
        works = None if self._works is None else {name: work[1:] for name, work in self._works.items()}
        return Energy(self.kinetic[1:], self.potential[1:], works, float(self.total[0]))

    @property
    def total(self) -> Array:
        return self.kinetic + self.potential

    @property
    def work(self) -> Mapping[str, Array]:
        """Work of each element that does some, by its name, (n,) each."""
        if self._works is None:
            message = (
                "this result does not have the work of elements: it was not computed by simulate, or is from a file of "
                "an earlier version; simulate again"
            )
            raise ModelError([Problem("Result", "energy.work", message)])
        return self._works

    @property
    def balance(self) -> Array:
        """E(t) - E(0) - work of all that is not in E, (n,)."""
        if not len(self.kinetic):
            return np.zeros(0)
        total = self.total
        start = total[0] if self._start is None else self._start
        return total - start - sum(self.work.values(), start=np.zeros(len(total)))


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


class Result(Displayed):
    """The motion of a system: stored instants `t` and what follows from them.

    Elements may be given by object or by name. Vectors have global components and one row per instant, (n, 3). In a
    planar system they have two, (n, 2), and what is about the normal (angles, angular velocities, torques) is (n,).
    Every quantity also has a name such as "bar.position.x", which `quantity`, `plot` and `export` take; `quantities`
    lists them. `states` are the stored states themselves, with the equations that they belong to.
    """

    states: States
    info: Info
    events: list[EventRecord]

    def __init__(
        self,
        eq: Equations,
        t: Array,
        y: Array,
        info: Info,
        events: list[EventRecord] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._open(StatesInMemory(eq, t, y, settings or {}), info, events or [])

    @classmethod
    def of(cls, states: States, info: Info, events: list[EventRecord]) -> Result:
        """The result with these stored states."""
        result = cls.__new__(cls)
        result._open(states, info, events)
        return result

    def _open(self, states: States, info: Info, events: list[EventRecord]) -> None:
        self.states, self.info, self.events = states, info, events
        self._reactions: dict[str, Reaction] = {}
        self._angles: dict[str, Array] = {}

    @property
    def system(self) -> Any:
        """The system that was simulated."""
        return self.states.system

    @property
    def described(self) -> System:
        """The system as it was in the run, for reading; `system` itself may have been changed since."""
        return self.states.snapshot.described

    @cached_property
    def dimension(self) -> int:
        """3, or 2 for a planar system."""
        return self.described.dimension

    @cached_property
    def t(self) -> Array:
        """Stored instants, s."""
        return self.states.t

    @cached_property
    def q(self) -> Array:
        """Coordinates, a row per instant."""
        return self.states.part("q")

    @cached_property
    def v(self) -> Array:
        """Velocities, a row per instant."""
        return self.states.part("v")

    @cached_property
    def z(self) -> Array:
        """Own states of elements, a row per instant."""
        works = sum(is_work(*column) for column in self.states.columns["z"])
        whole = self.states.part("z")  # of a file of an earlier version with followers that it does not have
        return whole[:, : whole.shape[1] - works]

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        span = "t = {:g} … {:g} s".format(*self.states.span()) if len(self) else "empty"
        return f"<Result of {self.states.name!r}: {span}, {len(self)} instants>"

    # --- by name ------------------------------------------------------------------------------------------------------

    def quantity(self, name: str) -> Quantity:
        """A quantity by its name, such as "bar.position.x": values, unit, and how to call it in a plot."""
        from .quantities import select

        return select(self, [name])[0]

    def quantities(self) -> dict[str, str]:
        """The names of all quantities with their units. Besides them, "bar.point(2, 0, 0).position.x" is any point."""
        from .quantities import catalogue

        return catalogue(self).units()

    def plot(self, *names: str, against: str = "t", title: str | None = None, theme: str = "light") -> Plot:
        """A figure of quantities over time, or over another quantity (`against`): a panel per unit.

        A matplotlib `Figure`, made without pyplot; `figure.save("motion.svg")` writes PNG, SVG or PDF. Also
        `plot("energy")` and `plot("violation")`.
        """
        from .plots import plot

        return plot(self, names, against=against, title=title, theme=theme)

    def save(self, path: FilePath, quantities: Sequence[str] = ()) -> None:
        """Write the result to an HDF5 file, whole or not at all; `mbframe.load_result` reads it.

        It holds the stored states with names and units, the model, the settings and the events. All else is computed
        from them again; `quantities` are stored as well, for programs that only read the file.
        """
        from .files.result_files import save

        save(self, path, quantities)

    def export(self, path: FilePath, *names: str) -> None:
        """Write quantities as a table: .csv, or .parquet if pyarrow is installed. Default: the bodies' motion."""
        from .files.result_tables import export

        export(self, path, names)

    # --- bodies -------------------------------------------------------------------------------------------------------

    def position(self, body: Body | Marker | str, local_point: ArrayLike | None = None) -> Array:
        """Position of the body's origin, of a point in body axes, or of a marker."""
        return lowered(self._position(body, local_point), self.dimension)

    def velocity(self, body: Body | Marker | str, local_point: ArrayLike | None = None) -> Array:
        """Velocity of the body's origin, of a point in body axes, or of a marker."""
        return lowered(self._velocity(body, local_point), self.dimension)

    def acceleration(self, body: Body | Marker | str, local_point: ArrayLike | None = None) -> Array:
        """Acceleration of the body's origin, of a point in body axes, or of a marker."""
        _, rotation, point = self._point(body, local_point)
        acceleration, alpha = self._acceleration(body)
        _, omega = self._twist(body)
        node = self._node(body, local_point, second=True)
        arm = rotation @ point if node is None else along(rotation, point + node.displacement)
        total = acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        if node is not None:
            total = total + 2.0 * np.cross(omega, along(rotation, node.velocity)) + along(rotation, node.acceleration)
        return lowered(total, self.dimension)

    def rotation(self, body: Body | Marker | str) -> Rotation:
        """Rotation of the body (or of the marker's axes) as a SciPy `Rotation` stack."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.rotation_matrix(body))

    def rotation_matrix(self, body: Body | Marker | str) -> Array:
        """Axes of the body (or of the marker) as columns, (n, 3, 3)."""
        _, rotation, _ = self._point(body, None)
        if (node := self._node(body, None)) is not None:
            rotation = rotation @ node.rotation
        return rotation @ body.local_axes if isinstance(body, Marker) else rotation

    def angle(self, body: Body | str) -> Array:
        """Angle of a body in the plane, over all turns.

        A run begins within half a turn of the described angle, or with the turns of the state given as `initial`, if
        that tells them. Coordinates that do not count turns are unwrapped by the rates at both ends of an interval.
        """
        b = self.numbered(body)
        if self.dimension != 2 or b is None or not isinstance(b.formulation, PlanarFormulation):
            message = "only a moving body of a planar system has an angle; ask for rotation, or for a measure"
            raise ModelError([Problem("Result", "angle", message)])
        name = self.states.snapshot.name_of(body)
        if name not in self._angles:
            self._angles[name] = self._counted(b, b.formulation, name)
        return self._angles[name].copy()

    def _counted(self, b: Any, formulation: PlanarFormulation, name: str) -> Array:
        """The angle of a body in the plane, over turns."""
        t, q, v = self.t, *self.body_coordinates(b)
        start = self.info.start
        if start is not None:
            first, rates, _ = self.states.equations.split(np.array(start[1:]))
            t, q, v = np.append(start[:1], t), np.vstack([first[b.q_slice], q]), np.vstack([rates[b.v_slice], v])
        angles = formulation.angles(q)
        if not formulation.counts_turns:
            angles = unwrapped(t, angles, formulation.twists(q, v)[1][:, 2])
        described: Any = self.described[name]
        angles = nearest_turn(angles, self.info.angles.get(name, described.angle))
        return angles if start is None else angles[1:]

    def angular_velocity(self, body: Body | Marker | str) -> Array:
        """Global angular velocity."""
        return lowered_axial(self._spin(body), self.dimension).copy()

    def angular_acceleration(self, body: Body | Marker | str) -> Array:
        """Global angular acceleration."""
        alpha = self._acceleration(body)[1]
        if (node := self._node(body, None, second=True)) is not None:
            _, rotation, _ = self._point(body, None)
            own = along(rotation, node.angular_velocity)
            alpha = alpha + np.cross(self._twist(body)[1], own) + along(rotation, node.angular_acceleration)
        return lowered_axial(alpha, self.dimension)

    def modal(self, body: Body | str) -> Array:
        """Modal coordinates of a flexible body, (n, number of modes)."""
        return self._modal(body)[0].copy()

    def modal_velocity(self, body: Body | str) -> Array:
        """Rates of the modal coordinates of a flexible body, (n, number of modes)."""
        return self._modal(body)[1].copy()

    def modal_acceleration(self, body: Body | str) -> Array:
        """Second derivatives of the modal coordinates of a flexible body, (n, number of modes)."""
        self._modal(body)
        b = self.numbered(body)
        assert b is not None
        return b.formulation.deformations(self.body_coordinates(b)[0], self.v_rate[:, b.v_slice])[1].copy()

    def _modal(self, body: Body | str) -> tuple[Array, Array]:
        b = self.numbered(body)
        if b is None or not isinstance(b.body, FlexibleBody):
            raise ModelError([Problem("Result", "modal", f"found {body}; only a flexible body has modal coordinates")])
        return b.formulation.deformations(*self.body_coordinates(b))

    def measure(self, measure: Measure | str) -> Array:
        """A measure at every instant; an angle is counted over turns.

        An `Angle` in the system was counted in the run. Of others (one that is not in the system, a user's measure in
        rad) the rates at both ends of an interval tell the number of turns in it.
        """
        element = self._element(measure, Measure)
        if not isinstance(element, Measure):
            raise ModelError([element.problem("", "is not a measure; use Distance, Displacement or Angle")])
        return over_time.measured(self, element)

    def joint_coordinate(self, joint: Any, name: str) -> tuple[Array, Array]:
        """A coordinate of a joint and its rate, (n,) each: "angle" or "displacement", zero as described.

        Turns are counted by the rates at both ends of each interval; the first value is within half a turn of zero.
        """
        element = self._element(joint)
        if name not in (known := coordinates_of(element)):
            there = f"it has {' and '.join(known)}" if known else "it leaves no angle about, or way along, an axis free"
            raise ModelError([element.problem("", f"there is no {name!r}; {there}")])
        return over_time.joint_coordinate(self, element, name)

    def wrench(self, force: ForceElement | str) -> tuple[Array, Array]:
        """Force and torque that a force element exerts on its second body, at its marker j, global, (n, 3) each.

        In the plane (n, 2) and (n,).
        """
        forces, torques = over_time.wrench(self, self._force(force))
        return lowered(forces, self.dimension), lowered_axial(torques, self.dimension)

    def output(self, force: ForceElement | str, name: str) -> Array:
        """What a force element gives beside its wrench, by the name in its `outputs`: a spring's "length"."""
        element = self._force(force)
        if name not in element.outputs:
            known = ", ".join(element.outputs) or "none"
            raise ModelError([element.problem("outputs", f"there is no {name!r}; there are {known}")])
        return over_time.output(self, element, name)

    def _force(self, force: ForceElement | str) -> Any:
        """A force element."""
        element = self._element(force, ForceElement)
        if not isinstance(element, ForceElement):
            raise ModelError([element.problem("", "is not a force element; use one of system.forces")])
        return element

    def marker_motion(self, marker: Marker) -> MarkerMotion:
        """What measures and forces see of a marker, in space."""
        axes, turns = self.rotation_matrix(marker), np.zeros(len(self))
        return MarkerMotion(self._position(marker, None), axes, self._velocity(marker, None), self._spin(marker), turns)

    def state(self, index: int) -> State:
        """The state at a stored instant, for `simulate(..., initial=...)` and analyses."""
        try:
            index = range(len(self))[index]
        except (IndexError, TypeError):
            message = (
                f"found {index!r}; allowed is the number of a stored instant, 0 to {len(self) - 1} or from -1 back"
            )
            raise ModelError([Problem("Result", "state", message)]) from None
        state = self.states.equations.state(self.t[index], self.states.whole(slice(index, index + 1))[0])
        counted = {
            f"{b.body.name}{COUNTED}": self.angle(name)[index : index + 1]
            for name, b in zip(self.states.tables.index, self.states.tables.bodies, strict=True)
            if isinstance(b.formulation, PlanarFormulation)
        }
        return replace(state, element_states={**state.element_states, **counted})

    def spread(self, most: int) -> tuple[Array, Array]:
        """At most so many of the stored instants, spread over the run, and the coordinates y = (q, v, z) there."""
        rows = slice(None, None, max(1, -(-len(self) // most)))
        return self.t[rows], self.states.whole(rows)

    def element_states(self, element: Any) -> Array:
        """Own states of an element, (n, number of states)."""
        known = self._element(element)
        for c in self.states.tables.controllers:
            if c.name == known.name:
                return self.states.part("z", c.states).copy()
        for f in self.states.tables.forces:
            if f.name == known.name:
                return self.states.part("z", f.states).copy()
        raise ModelError([known.problem("", "has no own states: it is not a force element")])

    def section_forces(self, body: Body | str, x: float) -> SectionForces:
        """What the part of a beam before a section exerts on the part beyond it; x in m from the first node.

        `axial` (tension, N), `shear` (along y and z, N), `torsion` and `bending` (about y and z, N m), in the axes of
        the section, which turn with the bent beam. They balance weight and inertia of the part beyond with all that
        joints and force elements exert on it, whatever shapes the body has. A load at x itself acts on the part before.
        """
        from .stresses import section_forces

        return section_forces(self, body, x)

    def stress(
        self, body: Body | str, nodes: Any = None, t: ArrayLike | None = None, component: str = "von_mises"
    ) -> Array:
        """Stress at nodes of a flexible body, Pa, (n, nodes).

        `nodes`: numbers or positions (None: all); `t`: stored instants (None: all). Of solids the components "xx",
        "yy", "zz", "xy", "xz", "yz" in body axes, means of the elements around a node; of beams "xx" along them, the
        largest of the fibres of their sections. Loads that the modes cannot carry are added by static solutions.
        """
        from .stresses import stress

        return stress(self, body, nodes, t, component)

    def stress_peak(self, body: Body | str, component: str = "von_mises") -> StressPeak:
        """The largest stress of a flexible body in the run: `value`, `node`, `position` and `t`."""
        from .stresses import stress_peak

        return stress_peak(self, body, component)

    # --- constraints and energies -------------------------------------------------------------------------------------

    @property
    def v_rate(self) -> Array:
        """Accelerations v'."""
        return self.states.equations.split(self._replayed["rates"])[1]

    @property
    def multipliers(self) -> Array:
        """Lagrange multipliers, joints first, then intrinsic constraints."""
        return self._replayed["multipliers"]

    def reaction(self, joint: Any) -> Reaction:
        """Force and moment that a joint exerts on its second body, at its marker j, in global components.

        The marker force is -g^T lambda with g = dC/dx; its part on the axes d_k gives the moment sum d_k x f_k.
        """
        element = self._element(joint)
        if element.name not in self.states.tables.joint_points:
            raise ModelError([element.problem("", "has no reaction: it is not a joint")])
        if element.name not in self._reactions:
            states = self.states
            force, torque = states.equations.reactions(element.name, self.t, states.whole(), self.multipliers)
            self._reactions[element.name] = Reaction(
                lowered(force, self.dimension), lowered_axial(torque, self.dimension)
            )
        return self._reactions[element.name]

    def driving_force(self, driver: Any) -> Array:
        """The force (N), or torque (N m) for an angle, with which a driver drives its measure, (n,).

        Of a `PointDriver` with several components (n, k), one for each. The power is this times the rate f' of the
        function.
        """
        element = self._element(driver)
        if not isinstance(element, Drive):
            raise ModelError(
                [element.problem("", "drives nothing; pass a Driver, PointDriver, Prescribed or LinearConstraint")]
            )
        rows = list(dict.fromkeys(c.row for c in self.states.tables.constraints if c.owner_name == element.name))
        return -self.multipliers[:, rows[0] if len(rows) == 1 else rows]

    @cached_property
    def violation(self) -> Violation:
        """Norms of the violations of the constraints."""
        return Violation(self._replayed["residual"], self._replayed["constraint_rate"])

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy, the work of what is not in them, and how these balance."""
        states = self.states
        t, y = self.t, states.whole()
        if self.info.start is not None:
            t, y = np.append(self.info.start[:1], t), np.vstack([self.info.start[1:], y])
        found = energy_of(states.equations, states.mass_properties, states.gravity, t, y)
        return found if self.info.start is None else found.later()

    @cached_property
    def momentum(self) -> Momentum:
        """Linear momentum, and angular momentum about the global origin."""
        linear, angular = np.zeros((len(self), 3)), np.zeros((len(self), 3))
        for b, properties in self.masses():
            of_body = b.formulation.momenta(*self.body_coordinates(b), properties)
            linear += of_body[0]
            angular += of_body[1]
        return Momentum(lowered(linear, self.dimension), lowered_axial(angular, self.dimension))

    # --- inside -------------------------------------------------------------------------------------------------------

    @cached_property
    def _replayed(self) -> Mapping[str, Array]:
        return self.states.equations.replay(self.t, self.states.whole())

    def _element(self, given: Any, own: type | tuple[()] = ()) -> Any:
        """An element of the run as it was then, given by object or name; one of the kind `own` may be any other."""
        snapshot = self.states.snapshot
        if isinstance(given, own) and not snapshot.knows(given):
            return given
        if not isinstance(name := snapshot.name_of(given), str):
            message = f"found {given!r}; allowed is an element of the system, or its name; pass one of them"
            raise ModelError([Problem("Result", "", message)])
        return snapshot.described[name]

    def numbered(self, body: Body | Marker | str) -> NumberedBody | None:
        """A body of the run with its formulation and places in q and v; None for the ground."""
        if isinstance(body, Marker):
            body = body.body
        name = self.states.snapshot.name_of(body)
        if name == self.described.ground.name:
            return None
        tables = self.states.tables
        if not isinstance(name, str) or name not in tables.index:
            raise ModelError([Problem("Result", "", no_such_body(name, tables.index))])
        return tables.bodies[tables.index[name]]

    def _point(self, body: Body | Marker | str, local_point: ArrayLike | None) -> tuple[Array, Array, Array]:
        """Origins, rotation matrices, and the local point asked for."""
        default = body.local_point if isinstance(body, Marker) else np.zeros(3)
        point = default
        if local_point is not None:
            point = lifted(converted(POINT, local_point, "Result", "local_point", self.dimension))
        if (b := self.numbered(body)) is None:
            return np.zeros((len(self), 3)), np.tile(np.eye(3), (len(self), 1, 1)), point
        return *self._poses(b), point

    def _position(self, body: Body | Marker | str, local_point: ArrayLike | None) -> Array:
        origin, rotation, point = self._point(body, local_point)
        if (node := self._node(body, local_point)) is not None:
            return origin + along(rotation, point + node.displacement)
        return origin + rotation @ point

    def _velocity(self, body: Body | Marker | str, local_point: ArrayLike | None) -> Array:
        _, rotation, point = self._point(body, local_point)
        velocity, omega = self._twist(body)
        if (node := self._node(body, local_point)) is not None:
            swing = np.cross(omega, along(rotation, point + node.displacement))
            return velocity + swing + along(rotation, node.velocity)
        return velocity + np.cross(omega, rotation @ point)

    def _spin(self, body: Body | Marker | str) -> Array:
        """Angular velocity of a body, or of a marker."""
        _, omega = self._twist(body)
        if (node := self._node(body, None)) is not None:
            omega = omega + along(self._point(body, None)[1], node.angular_velocity)
        return omega

    def _acceleration(self, body: Body | Marker | str) -> tuple[Array, Array]:
        """Accelerations of the origin and angular accelerations."""
        if (b := self.numbered(body)) is None:
            return np.zeros((len(self), 3)), np.zeros((len(self), 3))
        q, v = self.states.part("q", b.q_slice), self.states.part("v", b.v_slice)
        return b.formulation.accelerations(q, v, self.v_rate[:, b.v_slice])

    def _twist(self, body: Body | Marker | str) -> tuple[Array, Array]:
        if (b := self.numbered(body)) is None:
            return np.zeros((len(self), 3)), np.zeros((len(self), 3))
        return self._twists(b)

    def masses(self) -> Iterator[tuple[NumberedBody, tuple[float, Array, Array]]]:
        """Bodies with mass, centre of mass and inertia."""
        return zip(self.states.tables.bodies, self.states.mass_properties, strict=True)

    def _poses(self, b: NumberedBody) -> tuple[Array, Array]:
        return b.formulation.poses(self.states.part("q", b.q_slice))

    def _twists(self, b: NumberedBody) -> tuple[Array, Array]:
        return b.formulation.twists(self.states.part("q", b.q_slice), self.states.part("v", b.v_slice))

    def body_coordinates(self, b: NumberedBody) -> tuple[Array, Array]:
        """Coordinates and velocities of a body as its formulation has them, a row per instant."""
        return self.states.part("q", b.q_slice), self.states.part("v", b.v_slice)

    def _node(
        self, body: Body | Marker | str, local_point: ArrayLike | None, second: bool = False
    ) -> NodeMotion | None:
        """The motion in its frame of a marker, or of the node at a local point, of a flexible body; None for others.

        Accelerations are those of the modal coordinates if `second`, else zero.
        """
        b = self.numbered(body)
        flexible = None if b is None else b.body
        if b is None or not isinstance(flexible, FlexibleBody):
            return None
        if local_point is not None:
            point = lifted(converted(POINT, local_point, "Result", "local_point", self.dimension))
            shape = flexible.node_shape(flexible.modes.component.node_at(point))
        elif isinstance(body, Marker):
            shape = body.node_shape
        else:
            return None
        modal, rate = b.formulation.deformations(*self.body_coordinates(b))
        bend = np.zeros_like(rate)
        if second:
            bend = b.formulation.deformations(self.body_coordinates(b)[0], self.v_rate[:, b.v_slice])[1]
        return NodeMotion.of(shape, modal, rate, bend)


def energy_of(
    eq: Equations, masses: Sequence[tuple[float, Array, Array]], gravity: Array, t: Array, y: Array
) -> Energy:
    """Energies at stored states, with mass, centre of mass and inertia of the bodies as they were in the run."""
    kinetic, resting = energies_of_bodies(eq, masses, gravity, y)
    potential, stored = eq.energies(t, y)
    works = works_of(eq, y, stored) if eq.tables.keeps_works else None
    nothing = np.zeros(len(t))
    return Energy(sum(kinetic, nothing), sum(resting, potential[:, 0]), works)


def works_of(eq: Equations, y: Array, stored: Array) -> dict[str, Array]:
    """Work of each element that does some, by its name, with what these elements have stored."""
    given = eq.split(y)[2][:, [work.z for work in eq.tables.works]] + stored
    return {work.owner_name: given[:, k] - given[:1, k] for k, work in enumerate(eq.tables.works)}


def energies_of_bodies(
    eq: Equations, masses: Sequence[tuple[Any, Array, Array]], gravity: Array, y: Array
) -> tuple[list[Array], list[Array]]:
    """Kinetic energy of each body, and that of gravity and deformation.

    Mass, centre and inertia of a rigid body may be given for each of the states.
    """
    tables = eq.tables
    q, v, _ = eq.split(y)
    kinetic, potential = [np.zeros(0)] * len(tables.bodies), [np.zeros(0)] * len(tables.bodies)
    for alike in alike_bodies(tables.bodies):
        bodies = [tables.bodies[k] for k in alike]
        properties: Any = masses[alike[0]]
        if len(alike) > 1:
            each = zip(*(masses[k] for k in alike), strict=True)
            by_state = np.ndim(properties[0]) == 1
            properties = tuple(np.concatenate(v) if by_state else np.repeat(np.array(v), len(y), axis=0) for v in each)
        rows = np.concatenate([q[:, b.q_slice] for b in bodies])
        rates = np.concatenate([v[:, b.v_slice] for b in bodies])
        moving, resting = bodies[0].formulation.energies(rows, rates, properties, gravity)
        for k, *courses in zip(alike, moving.reshape(len(alike), -1), resting.reshape(len(alike), -1), strict=True):
            kinetic[k], potential[k] = courses
    return kinetic, potential


def twists_of_bodies(eq: Equations, y: Array) -> tuple[Array, Array]:
    """Velocities of the origins and angular velocities of all bodies at stored states, (bodies, n, 3) each."""
    bodies, (q, v, _) = eq.tables.bodies, eq.split(y)
    twists = np.zeros((2, len(bodies), len(y), 3))
    for alike in alike_bodies(bodies):
        rows = np.concatenate([q[:, bodies[k].q_slice] for k in alike])
        rates = np.concatenate([v[:, bodies[k].v_slice] for k in alike])
        for found, part in zip(twists, bodies[alike[0]].formulation.twists(rows, rates), strict=True):
            found[alike] = part.reshape(len(alike), -1, 3)
    return twists[0], twists[1]


def alike_bodies(bodies: Sequence[NumberedBody]) -> Iterable[list[int]]:
    """Numbers of bodies, those together whose energies one call gives: rigid ones of one formulation."""
    groups: dict[Any, list[int]] = {}
    for k, b in enumerate(bodies):
        kind = type(b.formulation)
        shared = kind.energies is Formulation.energies or (is_ours(kind) and not b.formulation.n_modes)
        groups.setdefault(b.formulation if shared else k, []).append(k)
    return groups.values()


def along(rotation: Array, vectors: Array) -> Array:
    """Vectors (n, 3), one for each rotation matrix (n, 3, 3), turned by it."""
    return np.einsum("nij,nj->ni", rotation, vectors)
