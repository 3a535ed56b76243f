"""The equations of motion M v' = Q - J^T lambda, J v' = gamma of a system."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bodies.formulations import Formulation
from ..bodies.node_motion import NodeMotion
from ..errors import ModelError, Problem, SimulationError
from ..kernels import workspace as codes
from ..kernels.compiler.compile import PythonStage, StageOnDemand, run_stage
from ..kernels.integrators.march import REPLAY, replay, replay_energies
from ..kernels.layout import PLACE
from ..kernels.linear_algebra import bodywise, factorization
from ..kernels.stages import dynamics
from ..state import Motion, State
from ..system import System
from ..unknown import refuse_unknown_classes
from .bodywise import bodywise_record
from .failures import Begun, failure
from .following import Following
from .numbered import NumberedBody
from .pattern import blocks, pattern
from .redundancy import extent
from .stages import Stages
from .structure import Structure, analyze
from .tables import Tables
from .workspace import Record, Workspace, factor_record

if TYPE_CHECKING:
    import scipy.sparse

    from .tangent import Tangent, TangentAssembly

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """The tables of one evaluation: mass matrix and constraint Jacobian (sparse, if not asked for dense), Q, gamma, C
    and (C', D).
    """

    mass: scipy.sparse.csr_array
    jacobian: scipy.sparse.csr_array
    force: Array
    gamma: Array
    residual: Array
    constraint_rate: Array


@dataclass(frozen=True)
class Strategy:
    """A strategy bound to equations: the address of its stage and the record of its data."""

    address: int
    data: Record | None = None
    python: PythonStage | None = None
    label: str = ""
    feedback: tuple[float, float] = (0.0, 0.0)
    """Of a stabilization: what it subtracts from gamma per (C', D) and per C."""

    @property
    def data_address(self) -> int:
        return self.data.address if self.data is not None else 0


def strategy_error(strategy: Strategy, cause: BaseException, t: float) -> Exception:
    """The error that a strategy written in Python raised."""
    if not isinstance(cause, Exception) or isinstance(cause, SimulationError):
        raise cause
    error = SimulationError(f"raised {type(cause).__name__}: {cause}", t, strategy.label)
    error.__cause__ = cause
    return error


@cache
def _rare_stages() -> dict[str, StageOnDemand]:
    """Stages that are hardly ever called where no equations depend on each other."""
    rare = {"share": factorization.share, "spread": factorization.spread, "weigh": bodywise.weigh}
    fields: Any = codes.WORK.fields
    return {name: StageOnDemand(stage, fields[name][1]) for name, stage in rare.items()}


class Equations:
    """The equations of a system in a choice of coordinates.

    Parameters
    ----------
    system
        The described system; it is read once.
    formulation
        Replaces the formulations of the rigid bodies.
    works
        Whether the work of all that is not in the energy is integrated along with the motion (`tables.Work`).

    State vectors: q (coordinates), v (velocities), z (own states of elements), and y = (q, v, z) in one piece. The last
    `n_followers` of z follow the motion (`tables.Follower`).
    """

    def __init__(self, system: System, formulation: Formulation | None = None, works: bool = False) -> None:
        refuse_unknown_classes(system)
        if not system.bodies:
            raise ModelError(
                f"System {system.name!r}: there is no body to move; add one with system.add(mb.RigidBody(...))"
            )
        self.system, self.formulation = system, formulation
        self.tables = t = Tables(system, formulation, works)
        self.n_q, self.n_v, self.n_z, self.n_rows = t.n_q, t.n_v, t.n_z, t.n_rows
        self.n_followers, self.n_own = t.n_followers, t.n_z - t.n_followers
        rows, columns, source = pattern(t)
        self.structure: Structure = analyze(blocks(t), rows, columns, source, t.n_v)
        self.work = Workspace(
            *(t.n_q, t.n_v, t.n_z, t.n_followers, t.n_rows, t.n_holonomic, t.n_entries),
            *(t.markers, t.n_jacobians, t.n_scratch),
        )
        self.work.make_groups(max(1, len(t.bodies)))
        self.factor_record = factor_record(self.structure)
        self.sharing_record = factor_record(self.structure)
        self.work["factor"], self.work["sharing"] = self.factor_record, self.sharing_record
        self.write_constants()
        self.size = extent(t)
        for c in t.constraints:
            if c.constraint.unit == "m":
                self.work.row_sizes[c.rows] = self.size
        self.stages = Stages(t, self.work)
        self.notices = self.stages.notices
        self._strategies: dict[str, Strategy] = {}
        self._following: Following | None = None
        self.when_changed: Callable[[], None] | None = None  # for who keeps mass properties of its own
        self.work["evaluate"] = dynamics.evaluate.address
        self.work["settle"] = dynamics.settle_friction.address if self.stages.reactive else 0
        self.work["rub"] = dynamics.rub.address if self.stages.reactive else 0
        for stage in ("eliminate", "factorize", "solve"):
            self.work[stage] = getattr(factorization, stage).address
        for name, on_demand in _rare_stages().items():
            self.work[name] = on_demand.address
        self.work["bodywise"] = bodywise_record(t)
        self.work["augmented"] = dynamics.accelerate_augmented.address
        self.bind("accelerate", Strategy(dynamics.accelerate_augmented.address))

    def __reduce__(self) -> Any:
        message = "equations hold addresses of this process, and cannot be copied; copy or send the system instead"
        raise TypeError(message)

    def write_constants(self, body: str | None = None) -> None:
        """What formulations leave constant, of all bodies or of one: mass blocks and marker Jacobians."""
        first = self.tables.markers["jacobian"].tolist()
        for table in self.tables.body_tables:
            for row, b in zip(table.rows, table.elements, strict=True):
                if body is not None and b.body.name != body:
                    continue
                n = b.formulation.n_v
                self.work.entries[b.mass_block : b.mass_block + n * n] = b.formulation.constant_mass(row).ravel()
                for k in range(b.first_marker, b.first_marker + len(b.markers)):
                    place = slice(first[k], first[k] + PLACE * n)
                    self.work.jacobians[place] = b.formulation.constant_jacobian(self.tables.markers[k]).ravel()

    # --- states ------------------------------------------------------------------------------------------------------

    def described(self) -> State:
        """The state in which the model is described."""
        motions = {b.body.name: b.body.motion for b in self.tables.bodies}
        states = {name: np.array(start, float) for name, _, start in self.tables.own_states()}
        return State(0.0, motions, states, self.system.dimension)

    def coordinates(self, state: State) -> Array:
        """y = (q, v, z) of a state."""
        y = np.zeros(self.n_q + self.n_v + self.n_z)
        q, v, z = self.split(y)
        problems: list[Problem] = []
        for b in self.tables.bodies:
            m = state.motion(b.body)
            try:
                q[b.q_slice], v[b.v_slice] = b.coordinates(m)
            except ModelError as error:
                problems += error.problems
        if problems:
            raise ModelError(problems)
        for place, value in self.tables.own_states_in(state.element_states):
            if np.shape(value) != z[place].shape:
                owner, count = self.state_owner(place.start), len(z[place])
                message = f"found {np.size(value)} own states of {owner}, which has {count}; is it of this system?"
                raise ModelError([Problem("State", "element_states", message)])
            z[place] = value
        return y

    def state(self, t: float, y: Array) -> State:
        """The state of coordinates y = (q, v, z)."""
        q, v, z = (part[None] for part in self.split(y))
        motions = {}
        for b in self.tables.bodies:
            position, rotation = b.formulation.poses(q[:, b.q_slice])
            velocity, omega = b.formulation.twists(q[:, b.q_slice], v[:, b.v_slice])
            modal = (part[0].copy() for part in b.formulation.deformations(q[:, b.q_slice], v[:, b.v_slice]))
            motion = Motion(position[0].copy(), rotation[0], velocity[0].copy(), omega[0], *modal)
            motions[b.body.name] = replace(motion, axes=b.formulation.axes) if b.formulation.axes else motion
        states = {name: z[0, place].copy() for name, place, _ in self.tables.own_states()}
        return State(float(t), motions, states, self.system.dimension)

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """q, v and z as views of y (along its last axis)."""
        return y[..., : self.n_q], y[..., self.n_q : self.n_q + self.n_v], y[..., self.n_q + self.n_v :]

    def set_state(self, q: ArrayLike, v: ArrayLike, z: ArrayLike | None = None) -> None:
        """Make (q, v, z) the current state; without z, or with own states of elements alone, the others stay."""
        self.work.q[:], self.work.v[:] = q, v
        if z is not None:
            self.work.z[: np.size(z)] = z
        self.work["evaluated"] = 0
        self.factor_record["valid"] = min(int(self.factor_record["valid"]), 0)

    def _has_own_states(self, v: ArrayLike) -> bool:
        """Whether own states of elements stand behind the velocities."""
        return self.n_own > 0 and np.size(v) == self.n_v + self.n_own

    def _set_state(self, t: float, q: ArrayLike, v: ArrayLike, z: ArrayLike | None) -> None:
        if z is None and self._has_own_states(v):
            v, z = np.split(np.asarray(v, float), [self.n_v])
        self.set_state(q, v, z)
        if self._following is not None and (z is None or np.size(z) < self.n_z):
            self.work.followers[:] = self._following.at(t)

    # --- evaluation --------------------------------------------------------------------------------------------------

    def evaluate(
        self, t: float, q: ArrayLike, v: ArrayLike, z: ArrayLike | None = None, *, dense: bool = False
    ) -> Evaluation:
        """Mass, forces and constraints at a state; gamma contains the feedback of the stabilization in use."""
        self.update(t, q, v, z)
        mass, jacobian = self.matrices(dense)
        w = self.work
        return Evaluation(
            mass=mass,
            jacobian=jacobian,
            force=w.force.copy(),
            gamma=w.gamma.copy(),
            residual=w.residual.copy(),
            constraint_rate=w.constraint_rate.copy(),
        )

    def update(self, t: float, q: ArrayLike, v: ArrayLike, z: ArrayLike | None = None) -> None:
        """Evaluate a state as `evaluate` does, for what is in `work` and can be factored: no matrices are collected."""
        self._set_state(t, q, v, z)
        self.run(dynamics.evaluate.address, t, n=codes.DYNAMICS)

    def matrices(self, dense: bool = False) -> tuple[Any, Any]:
        """M and J of the last evaluation."""
        s, n = self.structure, self.n_v
        values = self.work.entries[s.source]
        shape = (n + self.n_rows, n + self.n_rows)
        if dense:
            whole = np.zeros(shape)
            np.add.at(whole, (s.source_row, s.source_column), values)  # terms of a relation meet in one place
            mass = whole[:n, :n]
            return mass + np.tril(mass, -1).T, whole[n:, :n]
        import scipy.sparse as sparse

        lower = sparse.coo_array((values, (s.source_row, s.source_column)), shape=shape).tocsr()
        mass = lower[:n, :n]
        return (mass + sparse.tril(mass, -1).T).tocsr(), lower[n:, :n]

    def violation(self, t: float, y: Array) -> tuple[Array, Array]:
        """C and (C', D) at a state."""
        self.set_state(*self.split(y))
        self.run(dynamics.evaluate.address, t, n=codes.VELOCITY)
        return self.work.residual.copy(), self.work.constraint_rate.copy()

    def factor(self) -> None:
        """Factor [M J^T; J 0] of the last evaluation."""
        w = self.work
        self.run(int(w["factorize"]), float(w["t"]), self.factor_record.address, int(w["entries"]))

    def solve(self, right: ArrayLike) -> Array:
        """Solve [M J^T; J 0] x = right with the factors at hand; multipliers of minimum norm."""
        w = self.work
        w.right[:] = right
        for stage in ("solve", "share") if self.factor_record["left_out"] else ("solve",):
            self.run(int(w[stage]), float(w["t"]), self.factor_record.address, int(w["entries"]))
        return w.solution.copy()

    def accelerate(self, t: float, q: ArrayLike, v: ArrayLike, z: ArrayLike | None = None) -> tuple[Array, Array]:
        """v' and the multipliers, by the acceleration strategy in use.

        If own states of elements stand behind the velocities in v, their rates stand behind v'.
        """
        self._set_state(t, q, v, z)
        self.call("accelerate", t, codes.REACTIONS)
        own = self.n_own if z is None and self._has_own_states(v) else 0
        return np.concatenate([self.work.v_rate, self.work.z_rate[:own]]), self.work.multipliers.copy()

    def drive(self, rows: NDArray[np.intp], multipliers: Array) -> None:
        """The power of drives, among the rates of z, at the last evaluated state for multipliers of some rows."""
        power = np.zeros(self.n_rows)
        power[rows] = multipliers * self.work.drift[rows]
        for _, _, z in self.tables.drives:
            self.work.z_rate[z] = 0.0
        for row, n, z in self.tables.drives:
            self.work.z_rate[z] += power[row : row + n].sum()

    def rub(self, t: float, multipliers: Array) -> Array:
        """The forces of the last evaluation, with those that depend on reactions, which some multipliers exert."""
        if self.stages.reactive:
            self.work.multipliers[:] = multipliers
            self.run(dynamics.rub.address, t)
        return self.work.force.copy()

    @contextmanager
    def following(self, t: float, low: float = -np.inf, high: float = np.inf) -> Iterator[Following]:
        """Let followers run along with the step that begins at t, taken by someone who does not know them."""
        self._following = Following(self, t, low, high)
        try:
            yield self._following
        finally:
            self._following = None

    def accept(self, t: float) -> None:
        """Let followers (turns of angles) take up the current state, as after a step."""
        self.run(dynamics.evaluate.address, t, n=codes.POSITION)
        for stage in self.stages.accepts:
            assert stage.table is not None
            self.run(stage.address, t, stage.table.ctypes.data, stage.count)

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """q' = T(q) v."""
        q, v = np.asarray(q, float), np.asarray(v, float)
        rates = np.empty(self.n_q)
        for table in self.tables.body_tables:
            for row, b in zip(table.rows, table.elements, strict=True):
                b.formulation.rates(row, q[b.q_slice], v[b.v_slice], rates[b.q_slice])
        return rates

    def displaced(self, q: Array, d: ArrayLike) -> Array:
        """q + T(q) d, normalized: the coordinates after a small displacement d."""
        moved = q + self.coordinate_rates(q, d)
        for table in self.tables.body_tables:
            for row, b in zip(table.rows, table.elements, strict=True):
                b.formulation.normalize(row, moved[b.q_slice])
        return moved

    def replay(self, t: Array, y: Array) -> dict[str, Array]:
        """Rates, multipliers and violations at stored states."""
        n = len(t)
        out = {"rates": np.zeros_like(y, float), "multipliers": np.zeros((n, self.n_rows))}
        out |= {"residual": np.zeros(n), "constraint_rate": np.zeros(n)}
        data = self._replaying(t, y, out)  # kept while the stage runs
        self.run(replay.address, 0.0, data.address)
        return out

    def energies(self, t: Array, y: Array, grouped: bool = False) -> tuple[Array, Array]:
        """Potential energies of the force elements at stored states, and of those in `tables.works`, (n, works).

        The first is that of all, (n, 1), or that of those on each of `tables.groups`, (n, groups).
        """
        works = [self.n_q + self.n_v + work.z for work in self.tables.works]
        of_bodies = self.tables.groups if grouped else np.zeros(len(self.tables.bodies), np.int64)
        count = int(of_bodies.max(initial=0)) + 1
        out = {"rates": np.zeros_like(y, float), "potential": np.zeros((len(t), count))}
        if energies := self.stages.energies:
            self.work.group(np.append(of_bodies, -1)[self.tables.marker_bodies()], count)
            data = self._replaying(t, y, out)
            tables = [0 if s.table is None else s.table.ctypes.data for s in energies]
            data["energy_stages"] = np.array([s.address for s in energies], np.int64)
            data["energy_tables"], data["n_energy"] = np.array(tables, np.int64), len(energies)
            data["energy_counts"] = np.array([s.count for s in energies], np.int64)
            self.run(replay_energies.address, 0.0, data.address)
        return out["potential"], out["rates"][:, works]

    def _replaying(self, t: Array, y: Array, out: dict[str, Array]) -> Record:
        """What a stage needs that goes through stored states and fills `out`, a row per instant."""
        data = Record(REPLAY)
        data["n"], data["times"], data["states"] = len(t), np.array(t, float), np.ascontiguousarray(y, float)
        for name, array in out.items():
            data[name] = array
        return data

    def reactions(self, joint: str, t: Array, y: Array, multipliers: Array) -> tuple[Array, Array]:
        """Force and moment about its marker j that a joint exerts on its second body, (n, 3) each."""
        force, torque = np.zeros((len(t), 3)), np.zeros((len(t), 3))
        parts = [c for c in self.tables.constraints if c.owner_name == joint]
        body, point, shape = self.tables.joint_points[joint]
        markers = self.tables.markers
        for k in range(len(t)):
            self.set_state(*self.split(y[k]))
            self.run(dynamics.evaluate.address, t[k], n=codes.VELOCITY)
            at = self._place(body, point, shape, y[k])
            for c in parts:
                i, j = markers[c.i], markers[c.j]
                loads = -multipliers[k, c.rows] @ self.stages.gradient(c, t[k], i, j)
                for marker, load in ((i, loads[:PLACE]), (j, loads[PLACE:])):
                    if marker.body == body:
                        force[k] += load[:3]
                        torque[k] += np.cross(marker.axes, load[3:].reshape(3, 3), axis=0).sum(axis=1)
                        torque[k] += np.cross(marker.position - at, load[:3])
        return force, torque

    def _place(self, body: int, point: Array, shape: Array | None, y: Array) -> Array:
        """Global position of a local point of a numbered body; -1 is the ground. `shape` is that of a flexible one."""
        if body < 0:
            return point
        b = self.tables.bodies[body]
        q, v, _ = (part[None] for part in self.split(y))
        position, rotation = b.formulation.poses(q[:, b.q_slice])
        if shape is not None:
            modal, _ = b.formulation.deformations(q[:, b.q_slice], v[:, b.v_slice])
            point = point + NodeMotion.of(shape, modal, 0.0 * modal, 0.0 * modal).displacement[0]
        return position[0] + rotation[0] @ point

    @cached_property
    def tangent_assembly(self) -> TangentAssembly:
        """Blocks and stages of the tangent."""
        from .tangent import TangentAssembly

        return TangentAssembly(self)

    def tangent(
        self,
        t: float,
        q: ArrayLike,
        v: ArrayLike,
        v_rate: ArrayLike,
        multipliers: ArrayLike,
        *,
        dense: bool = False,
    ) -> Tangent:
        """Exact derivatives of M v' - Q + J^T lambda; see `equations.tangent`."""
        from .tangent import tangent

        return tangent(self, t, q, v, v_rate, multipliers, dense)

    def unit_weights(self) -> Array:
        """Matrix entries in which the mass blocks are identities; the constraint blocks are filled by who uses them."""
        entries = np.zeros(self.tables.n_entries)
        for b in self.tables.bodies:
            n = b.formulation.n_v
            entries[b.mass_block : b.mass_block + n * n] = np.eye(n).ravel()
        return entries

    # --- running stages ----------------------------------------------------------------------------------------------

    def bind(self, role: str, strategy: Strategy) -> None:
        """Make a strategy the one in use; `role` is accelerate, correct, step or interpolate."""
        self._strategies[role] = strategy
        self.work[role] = strategy.address
        if role == "accelerate" and self.tables.drives:
            self.work["own_accelerate"] = strategy.address
            self.work[role] = dynamics.accelerate_and_drive.address
        self.work[f"{role}_data"] = strategy.data_address
        if role == "correct":
            self.work["feedback_rate"], self.work["feedback_position"] = strategy.feedback
            self.work["evaluated"] = 0

    def inputs(self, y: Array | None = None) -> dict[str, float]:
        """The values of inputs at a state, by default the current one."""
        z = self.work.z if y is None else self.split(y)[2]
        return {name: float(z[place]) for name, place in self.tables.inputs.items()}

    def signals(self, t: float, y: Array) -> dict[str, float]:
        """The values of inputs and of the outputs of controllers at a state."""
        found = self.inputs(y)
        if self.tables.controllers:
            found |= {name: float(values[0]) for name, values in self.outputs(np.array([t]), y[None]).items()}
        return found

    def outputs(self, t: Array, y: Array) -> dict[str, Array]:
        """What controllers give at some states, (n,) for each output; the current state stays."""
        here, at = self.work.y.copy(), float(self.work["t"])
        controllers, given = self.tables.controllers, self.stages.control.outputs
        found = {signal: np.zeros(len(t)) for c in controllers for signal in c.signals}
        acting = any(not c.sampled for c in controllers)
        for k in range(len(t)):
            self.set_state(*self.split(y[k]))
            if acting:
                self.run(dynamics.evaluate.address, t[k], n=codes.VELOCITY)
            for c in controllers:
                for signal, value in zip(c.signals, given[c.name], strict=True):
                    found[signal][k] = value
        self.set_state(*self.split(here))
        self.work["t"] = at
        return found

    def begin_samples(self, t: float) -> None:
        """Let controllers take their first sample at the current state."""
        control = self.stages.control
        control.begin(t)
        if control.sampled:
            self.run(int(self.work["sample"]), t, int(self.work["sampler"]))

    def set_input(self, name: str, value: float) -> int:
        """Give an input another value; returns where it stands in y."""
        place = self.tables.inputs[name]
        self.work.z[place] = value
        self.work["evaluated"] = 0
        self.work["restart"] = 1
        return self.n_q + self.n_v + place

    def changed(self) -> None:
        """Let nothing that was computed for the current state count, nor the history of steps: it is another model."""
        self.work["evaluated"] = 0
        self.factor_record["valid"] = min(int(self.factor_record["valid"]), 0)
        self.work["restart"] = 1
        if self.when_changed is not None:
            self.when_changed()

    def strategy(self, role: str) -> Strategy:
        """The strategy in use."""
        return self._strategies[role]

    def call(self, role: str, t: float, n: int = 0) -> None:
        """Run the strategy in use once on the current state."""
        self.run(int(self.work[role]), t, int(self.work[f"{role}_data"]), n)

    def apply(self, strategy: Strategy, t: float, n: int = 0) -> None:
        """Run a strategy once on the current state; what is in use stays in use."""
        self.run(strategy.address, t, strategy.data_address, n)

    def run(self, address: int, t: float, data: int = 0, n: int = 0, before: Callable[[], Begun] | None = None) -> int:
        """Run a stage; failures become errors, the statuses of `march` are returned.

        `before` tells when and in which state the step that failed began.
        """
        status = run_stage(address, t, self.work.address, data, n)
        if status in (codes.OK, codes.DONE, codes.FULL):
            return status
        raise failure(self, status, before() if before is not None else None)

    def python_error(self, t: float) -> Exception:
        """What Python code in a stage raised."""
        for stage in _rare_stages().values():
            if (raised := stage.raised()) is not None:
                raise raised
        for strategy in self._strategies.values():
            if strategy.python is not None and strategy.python.raised:
                return strategy_error(strategy, strategy.python.raised.pop(), t)
        return self.stages.user_error(t)

    def row_owner(self, row: int) -> Any:
        """The joint, constraint or body that a constraint row belongs to."""
        for c in self.tables.constraints:
            if c.rows.start <= row < c.rows.stop:
                return c.owner
        return next(b.body for b in reversed(self.tables.bodies) if b.row <= row)

    def owned_rows(self) -> dict[Any, NDArray[np.int64]]:
        """The constraint rows of every joint, and of every body that has intrinsic ones."""
        rows: dict[Any, set[int]] = {}
        for c in self.tables.constraints:
            rows.setdefault(c.owner, set()).update(range(c.rows.start, c.rows.stop))
        for b in self.tables.bodies:
            if b.formulation.n_intrinsic:
                rows[b.body] = set(range(b.row, b.row + b.formulation.n_intrinsic))
        return {owner: np.array(sorted(own), np.int64) for owner, own in rows.items()}

    def state_owner(self, state: int) -> str:
        """The element behind an own state."""
        for one in self.tables.stateful:
            if one.states.start <= state < one.states.stop:
                return str(one.element)
        return next((str(f.owner) for f in self.tables.followers if f.z == state), "")

    def row_label(self, row: int) -> str:
        """The joint, constraint or body behind a row of J."""
        return str(self.row_owner(row))

    def unknown_label(self, unknown: int) -> str:
        """The body or joint behind an unknown of the system matrix."""
        if unknown >= self.n_v:
            return self.row_label(unknown - self.n_v)
        return str(self.body_of(unknown).body)

    def body_of(self, velocity: int) -> NumberedBody:
        """The body that a velocity belongs to."""
        return next(b for b in reversed(self.tables.bodies) if b.v <= velocity)
