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
from ..errors import AnalysisError, ModelError, Problem
from ..kernels import bindings
from ..kernels.compiler.compile import PythonStage
from ..kernels.layout import MOTION_J, MOTIONS, PLACE, PLACES, SPIN_AT, VELOCITY_AT
from ..kernels.tangent import tangent as kernels
from ..kernels.tangent import velocity_tangent
from ..kernels.workspace import MOST_EQUATIONS
from ..registry import is_ours
from .control_tangent import ControlTangent
from .followers import may_count
from .tables import NumberedConstraint, NumberedForce, Table
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
    """

    stiffness: scipy.sparse.csr_array
    damping: scipy.sparse.csr_array
    mass: scipy.sparse.csr_array
    jacobian: scipy.sparse.csr_array
    velocity_stiffness: Array


@dataclass(frozen=True)
class StateTangent:
    """Derivatives that concern the own states z of force elements.

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
        if reactive := [f.force for f in tables.forces if f.force.reactive]:
            raise AnalysisError(
                f"{reactive[0]}: the equations are not linearized with friction, whose force depends on reactions; "
                "remove it, or put a damper in its place with the slope mu N/u_0 that it has where it sticks"
            )
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
        self.stiffness, self.damping = np.zeros(self.size), np.zeros(self.size)
        self.loads = np.zeros(PLACE * len(tables.markers))
        self.v_rate, self.multipliers = np.zeros(eq.n_v), np.zeros(eq.n_rows)
        self.record = Record(kernels.TANGENT)
        for name in ("stiffness", "damping", "loads", "v_rate", "multipliers"):
            self.record[name] = getattr(self, name)
        self.record["rate_tangents"] = np.zeros(tables.n_jacobians)
        self.record["add_constraint"] = kernels.add_constraint.address if tables.constraints else 0
        self.record["add_force"] = kernels.add_force.address if tables.forces else 0
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
            self._forces(table, owner)

    def _block(self, a: int, b: int) -> None:
        if (a, b) not in self.blocks:
            bodies = self.eq.tables.bodies
            self.blocks[a, b] = self.size
            self.size += bodies[a].formulation.n_v * bodies[b].formulation.n_v

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
        kind = table.type
        ours = is_ours(kind) and given_with(kind, "wrench", "wrench_gradient")
        if ours and uncompiled_function([f.force for f in table.elements]) is None:
            self._locate(table.rows, owner)
            stage = bindings.force_tangent_stage(kind, True, table.rows.dtype, kind.states, may_count(kind))
            self.forces.append(TableStage.of(stage, table.rows, table.elements))
            return
        rows = np.zeros(len(table.rows), kernels.FORCE_ROW).view(np.recarray)
        rows.i, rows.j = table.rows.i, table.rows.j
        self._locate(rows, owner)
        tables, markers, work = self.eq.tables, self.eq.tables.markers, self.eq.work

        def fill(t: float) -> None:
            for row, numbered in zip(rows, table.elements, strict=True):
                states = [work.z[numbered.states].copy()] if numbered.force.states else []
                turns = float(tables.counters.turns[numbered.counter])
                function = Differentiated(wrench_function(numbered.force, t, *states, turns=turns))
                arrays = [*motion(markers[row.i]), *motion(markers[row.j])]
                function.settle(arrays)
                value, row.gradient[:] = function.gradient(arrays)
                row.force[:], row.torque[:] = value[:3], value[3:]

        self.fillers.append(fill)
        self.forces.append(TableStage.of(kernels.force_rows, rows, table.elements))

    def take(self, t: float, v_rate: ArrayLike, multipliers: ArrayLike) -> None:
        """Fill the blocks at the state of the last evaluation."""
        self.v_rate[:], self.multipliers[:] = v_rate, multipliers
        self._fill(t)

    def _fill(self, t: float) -> None:
        eq = self.eq
        for array in (self.stiffness, self.damping, self.loads, self.velocity_stiffness):
            array[:] = 0.0
        eq.work["tangent"] = self.record
        for fill in self.fillers:
            fill(t)
        for stage in (*self.stages, *self.last):
            eq.run(stage.address, t, stage.table, stage.count)

    def stage(self) -> tuple[int, PythonStage | None]:
        """What fills the blocks for the v' and multipliers in the record, as a stage: its address, and what to keep.

        Python has a part in it where users' elements are differentiated there.
        """
        self.eq.work["tangent"] = self.record
        if self.fillers:
            python = PythonStage(lambda t, n: self._fill(t))
            return python.address, python
        stages = [*self.stages, *self.last]
        self.record["size"], self.record["n_stages"] = self.size, len(stages)
        for name, numbers in (("stages", "address"), ("tables", "table"), ("counts", "count")):
            self.record[name] = np.array([getattr(stage, numbers) for stage in stages], np.int64)
        return kernels.take.address, None

    def own_states(self, t: float) -> StateTangent:
        """Derivatives that concern own states, at the state of the last tangent."""
        eq = self.eq
        n_z, n_v = eq.n_z, eq.n_v
        out = StateTangent(np.zeros((n_v, n_z)), np.zeros((n_z, n_v)), np.zeros((n_z, n_v)), np.zeros((n_z, n_z)))
        for f in eq.tables.forces:
            if not f.force.states:
                continue
            i, j = (eq.tables.markers[m] for m in (f.i, f.j))
            function = Differentiated(own_state_function(f.force, t, float(eq.tables.counters.turns[f.counter])))
            arrays = [eq.work.z[f.states].copy(), *motion(i), *motion(j)]
            function.settle(arrays)
            gradient = function.gradient(arrays)[1]
            by_state, by_motion = gradient[:, : f.force.states], gradient[6:, f.force.states :]
            out.feedback[f.states, f.states] = by_state[6:]
            push, turn = by_state[:3], by_state[3:6]
            opposite = -turn - np.cross(j.position - i.position, push, axis=0)
            for m, force, torque, first in ((i, -push, opposite, 0), (j, push, turn, MOTION_J)):
                own = slice(m.v, m.v + m.n)
                by_position, by_velocity = self._motion_tangent(m)
                # The power of a wrench is F . r' + M . w: its generalized force follows from how r' and w depend on v.
                power = by_velocity[VELOCITY_AT:SPIN_AT].T @ force + by_velocity[SPIN_AT:].T @ torque
                out.force[own, f.states] -= power
                out.stiffness[f.states, own] += by_motion[:, first : first + MOTION_J] @ by_position
                out.damping[f.states, own] += by_motion[:, first : first + MOTION_J] @ by_velocity
        if eq.tables.acting:
            stiffness, damping = self.control.matrices(t)
            v, z = slice(n_v), slice(n_v, n_v + eq.n_own)
            out.force[:, : eq.n_own] += damping[v, z]
            out.stiffness[: eq.n_own] -= stiffness[z, v]
            out.damping[: eq.n_own] -= damping[z, v]
            out.feedback[: eq.n_own, : eq.n_own] -= damping[z, z]
        return out

    @cached_property
    def control(self) -> ControlTangent:
        """What controllers add."""
        return ControlTangent(self.eq, self.record.array("rate_tangents"))

    def _motion_tangent(self, m: Any) -> tuple[Array, Array]:
        """Derivatives of (position, axes, velocity, angular velocity) of a marker along dq = T d, and along dv."""
        pool = slice(m.jacobian, m.jacobian + PLACE * m.n)
        basis = self.eq.work.jacobians[pool].reshape(PLACE, m.n)
        change = self.record.array("rate_tangents")[pool].reshape(PLACE, m.n)

        def spin(axes: Array, rates: Array) -> Array:
            """1/2 sum axes x rates, column by column."""
            return 0.5 * np.cross(axes.reshape(3, 3, -1), rates.reshape(3, 3, -1), axis=0).sum(axis=1)

        axes, rates = m.axes[:, :, None], m.axes_rate[:, :, None]
        turned = spin(axes, change[3:]) + spin(basis[3:], rates)
        return np.vstack([basis, change[:3], turned]), np.vstack([0.0 * basis, basis[:3], spin(axes, basis[3:])])

    def matrix(self, values: Array, dense: bool) -> Any:
        """A pool of blocks as a matrix."""
        shape = (self.eq.n_v, self.eq.n_v)
        if dense:
            whole = np.zeros(shape)
            whole[self.places] = values
            return whole
        import scipy.sparse as sparse

        return sparse.coo_array((values, self.places), shape=shape).tocsr()

    @cached_property
    def places(self) -> Places:
        """Row and column of every number of a pool of blocks."""
        own = [(b.v, b.formulation.n_v) for b in self.eq.tables.bodies]
        return _block_places(tuple((own[a], own[b]) for a, b in self.blocks))


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
    stiffness, damping = assembly.matrix(assembly.stiffness, dense), assembly.matrix(assembly.damping, dense)
    if eq.tables.acting:
        more = [matrix[: eq.n_v, : eq.n_v] for matrix in assembly.control.matrices(t)]
        if not dense:
            import scipy.sparse as sparse

            more = [sparse.csr_array(matrix) for matrix in more]
        stiffness, damping = stiffness + more[0], damping + more[1]
    return Tangent(
        stiffness,
        damping,
        evaluation.mass,
        evaluation.jacobian,
        assembly.velocity_stiffness.copy(),
    )
