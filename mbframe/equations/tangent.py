"""The tangent of the equations of motion, for implicit integrators and linearization."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..abilities import given_with, has_derivatives
from ..bodies.formulations import Formulation
from ..bodies.formulations.base import refuse_raising
from ..constraints.axis import AxisConstraint
from ..errors import ModelError, Problem
from ..kernels import bindings
from ..kernels.compiler.compile import PythonStage
from ..kernels.layout import MOTIONS, PLACE, PLACES
from ..kernels.tangent import reactive, velocity_tangent
from ..kernels.tangent import tangent as kernels
from ..kernels.workspace import MOST_EQUATIONS
from ..registry import is_ours
from .control_tangent import ControlTangent
from .followers import may_count
from .numbered import NumberedConstraint, NumberedForce, Table
from .user import (
    Differentiated,
    configuration,
    motion,
    motion_by_axes,
    own_state_function,
    rate_function,
    residual_function,
    uncompiled_function,
    wrench_function,
)
from .workspace import Record

if TYPE_CHECKING:
    import scipy.sparse

    from .equations import Equations

Array = NDArray[np.float64]
Places = tuple[NDArray[np.int64], NDArray[np.int64]]
NO_PLACE = (0, 0, 0)
NONE: Places = (np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Tangent:
    """Derivatives of F = M v' - Q + J^T lambda at fixed v' and lambda; sparse matrices unless asked for dense.

    stiffness
        dF along dq = T d, as a matrix for d (n_v x n_v); with N = T P the product dF/dq N of a linearization is
        stiffness P.
    damping
        dF/dv.
    mass, jacobian
        M = dF/dv' and J; the tangent of the holonomic constraints along dq = T d is J itself.
    velocity_stiffness
        dD along dq = T d of the nonholonomic constraints, a row each.
    by_reactions
        dQ/dlambda of the forces that depend on reactions, with which dF/dlambda = J^T - dQ/dlambda.
    own
        What concerns own states of force elements.
    """

    stiffness: scipy.sparse.csr_array
    damping: scipy.sparse.csr_array
    mass: scipy.sparse.csr_array
    jacobian: scipy.sparse.csr_array
    velocity_stiffness: Array
    by_reactions: scipy.sparse.csr_array
    own: StateTangent


@dataclass(frozen=True)
class StateTangent:
    """Derivatives that concern the own states z of force elements, dense.

    force
        dF/dz of F = M v' - Q + J^T lambda.
    stiffness, damping, feedback
        dz' along dq = T d, along dv, and along dz.
    """

    force: Array
    stiffness: Array
    damping: Array
    feedback: Array


@dataclass(frozen=True)
class TableStage:
    """A stage and the table that it runs over, by their addresses."""

    address: int
    table: int
    count: int
    rows: np.ndarray
    elements: list[Any]  # a row each

    @classmethod
    def of(cls, stage: Any, rows: np.ndarray, elements: list[Any]) -> TableStage:
        return cls(stage.address, rows.ctypes.data, len(rows), rows, elements)


class TangentAssembly:
    """Blocks, tables and stages of the tangent of some equations; made when the first tangent is taken."""

    def __init__(self, eq: Equations) -> None:
        # It belongs to the equations, and a cycle would keep the memory of both until it is looked for.
        self.eq: Equations = weakref.proxy(eq)
        tables = eq.tables
        for table in tables.body_tables:
            _check_tangent_kernels(table.elements[0].formulation)
        self.blocks: dict[tuple[int, int], int] = {}
        self.size = 0
        owner = tables.marker_bodies()
        for k in range(len(tables.bodies)):
            self._block(k, k)
        links: list[NumberedConstraint | NumberedForce] = [*tables.constraints, *tables.forces]
        for link in links:
            a, b = owner[link.i], owner[link.j]
            if a >= 0 and b >= 0:
                self._block(a, b)
                self._block(b, a)
        self.owns: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # rows and columns of blocks of own states
        own_places = {f.z: self._own_blocks(f, owner) for f in tables.forces if f.force.states}
        rate_tangents = np.zeros(tables.n_jacobians)
        self.control = ControlTangent(self.eq, rate_tangents, self.size) if tables.acting else None
        if self.control is not None:
            self.owns += [block.places for block in self.control.blocks.values()]
            self.size += self.control.size
        self.stiffness, self.damping = np.zeros(self.size), np.zeros(self.size)
        self.loads = np.zeros(PLACE * len(tables.markers))
        self.v_rate, self.multipliers = np.zeros(eq.n_v), np.zeros(eq.n_rows)
        self.record = Record(kernels.TANGENT)
        for name in ("stiffness", "damping", "loads", "v_rate", "multipliers"):
            self.record[name] = getattr(self, name)
        self.record["rate_tangents"] = rate_tangents
        self.record["add_constraint"] = kernels.add_constraint.address if tables.constraints else 0
        self.record["add_force"] = kernels.add_force.address if tables.forces else 0
        self.record["add_own"] = kernels.add_own.address if own_places else 0
        most = max((f.force.states for f in tables.forces), default=0)
        self.record["own_gradient"] = np.zeros((6 + most) * (MOTIONS + most))
        self.by_reactions, self.reaction_places = np.zeros(0), NONE
        self.reactions = np.zeros(eq.n_rows)
        self.velocity_stiffness = np.zeros((eq.n_rows - tables.n_holonomic, eq.n_v))
        if eq.n_rows > tables.n_holonomic:
            self.record["add_velocity_constraint"] = velocity_tangent.add_velocity_constraint.address
            most, numbers = MOST_EQUATIONS, velocity_tangent.NUMBERS
            self.record["velocity_given"] = np.zeros((most, MOTIONS), complex)
            self.record["velocity_gradient"] = np.zeros((most, numbers))
            self.record["velocity_hessian"] = np.zeros((numbers, numbers))
        self.record["velocity_stiffness"] = self.velocity_stiffness
        self.fillers: list[Callable[[float], None]] = []
        self.bodies: list[TableStage] = []
        self.constraints: list[TableStage] = []
        self.forces: list[TableStage] = []
        self.last: list[TableStage] = []
        for table in tables.body_tables:
            for row, numbered in zip(table.rows, table.elements, strict=True):
                k = tables.index[numbered.body.name]
                row.tangent_block = self.blocks[k, k]
            kind = table.type
            stages = bindings.body_tangent_stages(kind, is_ours(kind), table.rows.dtype)
            self.bodies.append(TableStage.of(stages[0], table.rows, table.elements))
            self.last.append(TableStage.of(stages[1], table.rows, table.elements))
        for table in tables.constraint_tables:
            if table.type.nonholonomic:
                self._velocity_constraints(table, owner)
            else:
                self._constraints(table, owner)
        for table in tables.force_tables:
            for row, numbered in zip(table.rows, table.elements, strict=True):
                row.own, row.own_i, row.own_j = own_places.get(numbered.z, NO_PLACE) if table.type.states else NO_PLACE
            if table.type.reactive:
                self._reactive(table, owner)
            else:
                self._forces(table, owner)

    def _block(self, a: int, b: int) -> None:
        if (a, b) not in self.blocks:
            bodies = self.eq.tables.bodies
            self.blocks[a, b] = self.size
            self.size += bodies[a].formulation.n_v * bodies[b].formulation.n_v

    def _own_blocks(self, numbered: NumberedForce, owner: list[int]) -> tuple[int, int, int]:
        """Places of the blocks of own states of a force: among themselves, and with the velocities of both bodies.

        With those of a body come first the loads by the states, then the rates of the states by the velocities.
        """
        eq = self.eq
        states = eq.n_v + np.arange(numbered.states.start, numbered.states.stop)
        at: dict[int, int] = {}

        def block(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> int:
            first, self.size = self.size, self.size + len(rows) * len(columns)
            self.owns.append((np.repeat(rows, len(columns)), np.tile(columns, len(rows))))
            return first

        own = block(states, states)
        for marker in (numbered.i, numbered.j):
            body = owner[marker]
            if body < 0:  # the ground has no velocities
                at[body] = own
            elif body not in at:
                b = eq.tables.bodies[body]
                velocities = np.arange(b.v, b.v + b.formulation.n_v)
                at[body] = block(velocities, states)
                block(states, velocities)
        return own, at[owner[numbered.i]], at[owner[numbered.j]]

    @property
    def stages(self) -> list[TableStage]:
        """What fills the blocks, in order, before what the bodies add last."""
        return [*self.bodies, *self.constraints, *self.forces]

    def _locate(self, rows: np.recarray, owner: list[int]) -> None:
        """Where the four blocks of each link are; blocks of the ground have no entries and may be anywhere."""
        ends = {"i": [owner[m] for m in rows["i"].tolist()], "j": [owner[m] for m in rows["j"].tolist()]}
        for left, right in ("ii", "ij", "ji", "jj"):
            pairs = zip(ends[left], ends[right], strict=True)
            rows[f"tangent_{left}{right}"] = [self.blocks.get(pair, 0) for pair in pairs]

    def _constraints(self, table: Table, owner: list[int]) -> None:
        kind, equations = table.type, table.type.equations
        if is_ours(kind) and has_derivatives(kind):
            self._locate(table.rows, owner)
            stage = bindings.constraint_tangent_stage(kind, is_ours(kind), table.rows.dtype, equations)
            self.constraints.append(TableStage.of(stage, table.rows, table.elements))
            if issubclass(kind, AxisConstraint):
                stage = bindings.bend_tangent_stage(kind, table.rows.dtype, equations)
                self.constraints.append(TableStage.of(stage, table.rows, table.elements))
            return
        rows = self._filled_rows(table, owner, residual_function, configuration, PLACES)
        stage = bindings.constraint_rows_stage(rows.dtype, equations)
        self.constraints.append(TableStage.of(stage, rows, table.elements))

    def _velocity_constraints(self, table: Table, owner: list[int]) -> None:
        kind, equations = table.type, table.type.equations
        if is_ours(kind) and has_derivatives(kind):
            self._locate(table.rows, owner)
            stage = bindings.velocity_tangent_stage(kind, table.rows.dtype, equations)
            self.constraints.append(TableStage.of(stage, table.rows, table.elements))
            return
        rows = self._filled_rows(table, owner, rate_function, motion_by_axes, velocity_tangent.NUMBERS)
        stage = bindings.velocity_rows_stage(rows.dtype, equations)
        self.constraints.append(TableStage.of(stage, rows, table.elements))

    def _filled_rows(
        self,
        table: Table,
        owner: list[int],
        function_of: Callable[[Any, Callable[[], float]], Callable[..., Any]],
        numbers_of: Callable[[Any], list[Array]],
        n_numbers: int,
    ) -> np.recarray:
        """Rows of a user's constraints that Python fills: each a function of t and of numbers of its two markers."""
        dtype = np.dtype(kernels.constraint_fields(table.type.equations, n_numbers), align=True)
        rows = np.zeros(len(table.rows), dtype).view(np.recarray)
        for name in ("i", "j", "row"):
            rows[name] = table.rows[name]
        self._locate(rows, owner)
        turns = [self.eq.tables.turns_of(c.counter) for c in table.elements]
        functions = [Differentiated(function_of(c.constraint, n)) for c, n in zip(table.elements, turns, strict=True)]
        markers = self.eq.tables.markers

        def fill(t: float) -> None:
            for row, function, c in zip(rows, functions, table.elements, strict=True):
                arrays = [t, *numbers_of(markers[row.i]), *numbers_of(markers[row.j])]
                function.settle(arrays)
                row.gradient[:] = function.gradient(arrays)[1][:, 1:]
                row.hessian[:] = np.tensordot(self.multipliers[c.rows], function.hessian(arrays), 1)[1:, 1:]

        self.fillers.append(fill)
        return rows

    def _forces(self, table: Table, owner: list[int]) -> None:
        kind, states = table.type, table.type.states
        ours = is_ours(kind) and given_with(kind, "wrench", "wrench_gradient")
        ours = ours and (not states or given_with(kind, "state_rate", "state_gradient"))
        if ours and uncompiled_function([f.force for f in table.elements]) is None:
            self._locate(table.rows, owner)
            stage = bindings.force_tangent_stage(kind, table.rows.dtype, states, may_count(kind))
            self.forces.append(TableStage.of(stage, table.rows, table.elements))
            return
        rows = np.zeros(len(table.rows), np.dtype(kernels.force_fields(states), align=True)).view(np.recarray)
        for name in ("i", "j", "own", "own_i", "own_j"):
            rows[name] = table.rows[name]
        self._locate(rows, owner)
        tables, markers, work = self.eq.tables, self.eq.tables.markers, self.eq.work

        def fill(t: float) -> None:
            for row, numbered in zip(rows, table.elements, strict=True):
                turns = float(tables.counters.turns[numbered.counter])
                numbers = [*motion(markers[row.i]), *motion(markers[row.j])]
                if states:
                    function = Differentiated(own_state_function(numbered.force, t, turns))
                    numbers = [work.z[numbered.states].copy(), *numbers]
                else:
                    function = Differentiated(wrench_function(numbered.force, t, turns=turns))
                function.settle(numbers)
                value, gradient = function.gradient(numbers)
                row.force[:], row.torque[:] = value[:3], value[3:6]
                row.gradient[:] = gradient[:6, states:]
                if states:
                    row.own_gradient[:] = np.hstack([gradient[:, states:], gradient[:, :states]])

        self.fillers.append(fill)
        stage = bindings.force_rows_stage(rows.dtype, states)
        self.forces.append(TableStage.of(stage, rows, table.elements))

    def _reactive(self, table: Table, owner: list[int]) -> None:
        """Forces that depend on reactions of joints, whose own stages they run again."""
        eq, bodies, rows = self.eq, self.eq.tables.bodies, table.rows
        self._locate(rows, owner)
        at_rows, at_columns, widest = [self.reaction_places[0]], [self.reaction_places[1]], 0
        for row, numbered in zip(rows, table.elements, strict=True):
            parts = [
                (stage.address, stage.table + k * stage.rows.itemsize)
                for stage in self.constraints
                for k, c in enumerate(stage.elements)
                if c.owner is numbered.force.joint
            ]
            row.n_parts = len(parts)
            row.part_stages[: len(parts)], row.part_tables[: len(parts)] = zip(*parts, strict=True)
            row.by_reactions = sum(len(part) for part in at_rows)
            columns = row.reaction_rows[: row.n_reactions]
            for body in (owner[numbered.i], owner[numbered.j]):
                if body >= 0:
                    velocities = np.arange(bodies[body].v, bodies[body].v + bodies[body].formulation.n_v)
                    at_rows.append(np.repeat(velocities, len(columns)))
                    at_columns.append(np.tile(columns, len(velocities)))
                    widest = max(widest, len(velocities))
        self.reaction_places = np.concatenate(at_rows), np.concatenate(at_columns)
        self.by_reactions = np.zeros(len(self.reaction_places[0]))
        self.record["by_reactions"], self.record["n_by_reactions"] = self.by_reactions, len(self.by_reactions)
        self.record["reactions"] = self.reactions
        self.record["reaction_stiffness"] = np.zeros(self.size)
        self.record["reaction_loads"] = np.zeros(PLACE * len(eq.tables.markers))
        self.record["reaction_gradient"], self.record["reaction_push"] = np.zeros(18), np.zeros(3 * widest)
        self.record["add_reactive"] = reactive.add_reactive.address
        stage = bindings.reactive_tangent_stage(table.type, rows.dtype)
        self.forces.append(TableStage.of(stage, rows, table.elements))

    def take(self, t: float, v_rate: ArrayLike, multipliers: ArrayLike) -> None:
        """Fill the blocks at the state of the last evaluation."""
        self.v_rate[:], self.multipliers[:] = v_rate, multipliers
        self.reactions[:] = multipliers
        self._fill(t)

    def _fill(self, t: float) -> None:
        eq = self.eq
        for array in (self.stiffness, self.damping, self.loads, self.velocity_stiffness, self.by_reactions):
            array[:] = 0.0
        eq.work["tangent"] = self.record
        self._fill_first(t)
        for stage in (*self.stages, *self.last):
            eq.run(stage.address, t, stage.table, stage.count)
        self._fill_last(t)

    def _fill_first(self, t: float) -> None:
        """Derivatives of users' elements that are taken in Python."""
        for fill in self.fillers:
            fill(t)

    def _fill_last(self, t: float) -> None:
        """What controllers add: it needs Y of all bodies."""
        if self.control is not None:
            self.control.fill(t, self.stiffness, self.damping)

    def stage(self) -> tuple[int, PythonStage | None]:
        """What fills the blocks for the v' and multipliers in the record, as a stage: its address, and what to keep.

        Python has a part in it where users' elements are differentiated there.
        """
        self.eq.work["tangent"] = self.record
        stages = [(stage.address, stage.table, stage.count) for stage in (*self.stages, *self.last)]
        python = None
        if self.fillers or self.control is not None:
            python = PythonStage(lambda t, n: (self._fill_first, self._fill_last)[n](t))
            stages = [(python.address, 0, 0), *stages, (python.address, 0, 1)]
        self.record["size"], self.record["n_stages"] = self.size, len(stages)
        for name, numbers in zip(("stages", "tables", "counts"), zip(*stages, strict=True), strict=True):
            self.record[name] = np.array(numbers, np.int64)
        return kernels.take.address, python

    def matrix(self, values: Array, dense: bool) -> Any:
        """A pool of blocks as a matrix for changes of v."""
        v = slice(self.eq.n_v)
        return self.whole(values, dense)[v, v] if self.eq.n_own else self.whole(values, dense)

    def whole(self, values: Array, dense: bool) -> Any:
        """A pool of blocks as a matrix for changes of v and of own states."""
        shape = (self.eq.n_v + self.eq.n_own,) * 2
        if dense:
            whole = np.zeros(shape)
            np.add.at(whole, self.places, values)  # what controllers add may stand where other numbers do
            return whole
        import scipy.sparse as sparse

        return sparse.coo_array((values, self.places), shape=shape).tocsr()

    def matrix_by_reactions(self, dense: bool) -> Any:
        """dQ/dlambda."""
        shape = (self.eq.n_v, self.eq.n_rows)
        if dense:
            whole = np.zeros(shape)
            np.add.at(whole, self.reaction_places, self.by_reactions)
            return whole
        import scipy.sparse as sparse

        return sparse.coo_array((self.by_reactions, self.reaction_places), shape=shape).tocsr()

    @cached_property
    def places(self) -> Places:
        """Row and column of every number of a pool of blocks."""
        bodies = [(b.v, b.formulation.n_v) for b in self.eq.tables.bodies]
        rows, columns = _block_places(tuple((bodies[a], bodies[b]) for a, b in self.blocks))
        if not self.owns:
            return rows, columns
        return np.concatenate([rows, *(r for r, _ in self.owns)]), np.concatenate([columns, *(c for _, c in self.owns)])


def _check_tangent_kernels(formulation: Formulation) -> None:
    """Refuse a formulation without derivatives: what its missing kernels raise would vanish in compiled code."""
    kind = type(formulation)
    needed = ["inertia_tangent", "place_tangent", "load_tangent"]
    needed += ["intrinsic_tangent"] if kind.n_intrinsic else []
    if missing := [name for name in needed if getattr(kind, name) is getattr(Formulation, name)]:
        message = (
            f"not defined; linearization and implicit integrators need these derivatives: write {', '.join(missing)} "
            "as static methods as mb.Formulation describes them, or choose an explicit integrator"
        )
        raise ModelError([Problem(kind.__name__, missing[0], message)])
    if not is_ours(kind):
        refuse_raising(kind, needed)


@lru_cache(maxsize=16)
def _block_places(blocks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]) -> Places:
    """Row and column of every number of blocks, which are given by their first row and column and their sizes."""
    rows = [np.repeat(first + np.arange(n), m) for (first, n), (_, m) in blocks]
    columns = [np.tile(first + np.arange(m), n) for (_, n), (first, m) in blocks]
    return np.concatenate(rows), np.concatenate(columns)


def tangent(
    eq: Equations,
    t: float,
    q: ArrayLike,
    v: ArrayLike,
    v_rate: ArrayLike,
    multipliers: ArrayLike,
    dense: bool = False,
) -> Tangent:
    """The tangent of `eq` at a state with given accelerations and multipliers."""
    evaluation = eq.evaluate(t, q, v, dense=dense)
    assembly = eq.tangent_assembly
    assembly.take(t, v_rate, multipliers)
    stiffness, damping = assembly.whole(assembly.stiffness, dense), assembly.whole(assembly.damping, dense)
    velocities = slice(eq.n_v)
    return Tangent(
        stiffness[velocities, velocities],
        damping[velocities, velocities],
        evaluation.mass,
        evaluation.jacobian,
        assembly.velocity_stiffness.copy(),
        assembly.matrix_by_reactions(dense),
        _of_own_states(stiffness, damping, eq.n_v),
    )


def _of_own_states(stiffness: Any, damping: Any, n_v: int) -> StateTangent:
    """The parts of both matrices that concern own states, whose rows are z' - f."""
    v, z = slice(n_v), slice(n_v, None)
    parts = damping[v, z], -stiffness[z, v], -damping[z, v], -damping[z, z]
    return StateTangent(*(part if isinstance(part, np.ndarray) else part.toarray() for part in parts))
