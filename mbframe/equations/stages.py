"""Which stages evaluate a system: one per type of element, in order."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ..abilities import functions_of, given_with, has_derivatives
from ..bodies.formulations import Formulation
from ..bodies.formulations.base import KERNELS, refuse_raising
from ..constraints.axis import AxisConstraint
from ..controllers.base import Controller
from ..errors import MbframeError, ModelError, SimulationError
from ..functions import Function
from ..kernels import bindings
from ..kernels.compiler.compile import PythonStage, Stage, run_stage
from ..kernels.layout import MOTIONS, PLACE, PLACES
from ..kernels.programs import overloads as programs
from ..kernels.stages import controllers, counters, loops, signals, user
from ..kernels.stages.signals import FEED
from ..kernels.tangent import axes
from ..kernels.workspace import DRIVE, DYNAMICS
from ..registry import is_ours
from .control import Control
from .followers import may_count
from .numbered import NumberedBody, NumberedConstraint, Table, rate_gradient
from .tables import Tables
from .user import (
    NO_VALUE,
    Caller,
    PythonConstraints,
    PythonForces,
    PythonVelocityConstraints,
    check_memory,
    check_shapes,
    method_of,
    residuals,
    state_rate_of,
    uncompiled_function,
    uncounted,
    wrench_of,
)
from .workspace import Workspace

UNBOUNDED: Final = 1e8
"""An own state of that size, growing by itself in less than 1/UNBOUNDED s, has no bounds."""
KINKED: Final = (
    "where the model is described its derivatives jump, as those of abs, norm or max at zero or at a tie, or it uses a "
    "function that takes no complex steps; describe the model beside the jump, or give gradient and curvature"
)
PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass
class BoundStage:
    """A stage with its table. `elements` are those of the rows; `method` is the user's method that it calls, if any."""

    address: int
    table: np.ndarray | None
    count: int
    elements: list[Any] = field(default_factory=list)
    method: str = ""
    python: PythonStage | None = None
    caller: Caller | None = None


class Stages:
    """The evaluation stages of a system, with notices about how users' elements are run."""

    def __init__(self, tables: Tables, work: Workspace) -> None:
        self.tables, self.work = tables, work
        self.notices: list[str] = []
        self.evaluation: list[BoundStage] = []
        self.moves: list[int] = []
        self.accepts: list[BoundStage] = []
        self.reactive: list[BoundStage] = []
        self.interpreted: dict[type, PythonConstraints] = {}
        self.energies: list[BoundStage] = []
        for table in tables.body_tables:
            self._bodies(table)
        self._counters(tables)
        self._works(tables)
        self.control = control = Control(tables, work)
        self.notices += control.notices
        if fed := [entry for entry in tables.fed if entry[3]]:
            self.evaluation.append(self._feeds(fed))
        self.evaluation += control.evaluation
        if fed := [entry for entry in tables.fed if not entry[3]]:
            self.evaluation.append(self._feeds(fed))
        if tables.constraints:
            work["project"] = loops.project.address
        if tables.n_rows > tables.n_holonomic:
            work["project_velocity"] = loops.project_velocity.address
        if tables.forces:
            work["apply"] = loops.apply.address
        for table in tables.constraint_tables:
            if table.type.nonholonomic:
                self._velocity_constraints(table)
            else:
                self._constraints(table)
        for table in tables.force_tables:
            if table.type.reactive:
                stage = bindings.reactive_stage(table.type, table.rows.dtype)
                self.reactive.append(BoundStage(stage.address, table.rows, len(table.rows)))
            else:
                self._forces(table)
                self._energy(table)
        self.evaluation += control.rates
        control.prepare(len(self.evaluation) + len(self.energies), controllers.sample.address if control.sampled else 0)
        arrays = [np.array([getattr(s, name) for s in self.evaluation], np.int64) for name in ("address", "count")]
        work["stages"], work["counts"] = arrays
        work["tables"] = np.array([0 if s.table is None else s.table.ctypes.data for s in self.evaluation], np.int64)
        work["moves"] = np.array(self.moves, np.int64)
        for name, short, stages in (("accepts", "accept", self.accepts), ("reactive", "reactive", self.reactive)):
            work[name] = np.array([s.address for s in stages], np.int64)
            work[f"{short}_tables"] = np.array([s.table.ctypes.data for s in stages if s.table is not None], np.int64)
            work[f"{short}_counts"] = np.array([s.count for s in stages], np.int64)
            work[f"n_{name}"] = len(stages)
        work["base_force"] = np.zeros(tables.n_v)
        work["n_stages"], work["n_moves"] = len(self.evaluation), len(self.moves)

    def _bodies(self, table: Table) -> None:
        kind = table.type
        assert issubclass(kind, Formulation)
        if not is_ours(kind):
            refuse_raising(kind, (*KERNELS, "intrinsic") if kind.n_intrinsic else KERNELS)
        evaluate, move = bindings.body_stages(kind, is_ours(kind), table.rows.dtype)
        self.evaluation.append(BoundStage(evaluate.address, table.rows, len(table.rows), table.elements))
        self.moves.append(move.address)

    def _counters(self, tables: Tables) -> None:
        """Turns of angles are counted before an element asks for them, and at accepted steps."""
        rows = tables.counters
        self.work["counters"], self.work["n_counters"] = rows, len(rows)
        if len(rows) > 1:
            self.evaluation.append(BoundStage(counters.counters.address, rows, len(rows)))
            self.accepts.append(BoundStage(counters.accept_counters.address, rows, len(rows)))

    def _feeds(self, fed: list[tuple[str, np.ndarray, int, bool]]) -> BoundStage:
        """Programs get the values of the signals that they name before they are run."""
        rows = np.zeros(len(fed), FEED).view(np.recarray)
        for row, (name, constants, slot, _) in zip(rows, fed, strict=True):
            row.source = self.control.address(name)
            row.target = constants[slot:].ctypes.data
        return BoundStage(signals.feed.address, rows, len(rows))

    def _works(self, tables: Tables) -> None:
        """What keeps the work of elements, besides the loops over forces: modal damping, and motions of drives."""
        for table in tables.body_tables:
            if np.any(table.rows["work_at"] >= 0):
                loss = bindings.loss_stage(table.type, is_ours(table.type), table.rows.dtype)
                self.evaluation.append(BoundStage(loss.address, table.rows, len(table.rows)))
        self.work["drives"], self.work["n_drives"] = np.array(tables.drives, DRIVE), len(tables.drives)
        if tables.drives:
            self.evaluation.append(BoundStage(loops.forget_drift.address, None, 0))

    def _constraints(self, table: Table) -> None:
        kind, rows = table.type, table.rows
        equations: int = kind.equations
        elements = [c.constraint for c in table.elements]
        if is_ours(kind) and has_derivatives(kind):
            self._sample(elements, rows)
            if issubclass(kind, AxisConstraint):  # rows of all such types begin alike
                self.evaluation += [BoundStage(axes.follow.address, rows[k : k + 1], 1) for k in range(len(rows))]
            stage = bindings.constraint_stage(kind, True, rows.dtype, equations, may_count(kind))
            self.evaluation.append(BoundStage(stage.address, rows, len(rows), elements, "residual"))
            if issubclass(kind, AxisConstraint):
                bend = bindings.bend_stage(kind, rows.dtype, equations)
                self.evaluation.append(BoundStage(bend.address, rows, len(rows)))
            if hasattr(kind, "time_rate") and functions_of(elements):
                clock = bindings.clock_stage(kind, rows.dtype, equations)
                self.evaluation.append(BoundStage(clock.address, rows, len(rows)))
            return
        make = bindings.given_stage if self.tables.gives_derivatives(kind) else bindings.residual_stage
        filling = make(self.tables.kernels(kind), rows.dtype, equations)
        projection = bindings.projection_stage(kind, rows.dtype, equations)
        interpreted = PythonConstraints(elements, rows, self.tables)
        self._filled_rows(table, interpreted, filling, projection, "residual")

    def _sample(self, elements: list[Any], rows: np.recarray) -> None:
        """Let Python callables among the functions of time of some constraints be sampled before each evaluation."""
        functions = functions_of(elements)
        sampled = [
            (element, row[name], function)
            for element, row in zip(elements, rows, strict=True)
            for name, function in (element.values() if functions else {}).items()
            if isinstance(function, Function) and function.kind == "callable"
        ]
        if not sampled:
            return
        caller = Caller(sampled[0][0])
        for _, record, _ in sampled:
            record["run"], record["n_code"] = programs.hold.address, 1

        def fill(t: float, n: int) -> None:
            for caller.current, record, f in sampled:
                record["value"], record["slope"], record["bend"] = f(t), f.derivative(t), f.second_derivative(t)

        self._python(fill, caller, elements, "motion")

    def _velocity_constraints(self, table: Table) -> None:
        kind, rows = table.type, table.rows
        equations: int = kind.equations
        elements = [c.constraint for c in table.elements]
        method = "velocity_residual"
        if is_ours(kind) and has_derivatives(kind):
            stage = bindings.velocity_constraint_stage(kind, rows.dtype, equations)
            self.evaluation.append(BoundStage(stage.address, rows, len(rows), elements, method))
            return
        filling = bindings.velocity_residual_stage(self.tables.kernels(kind), rows.dtype, equations)
        projection = bindings.velocity_projection_stage(kind, rows.dtype, equations)
        interpreted = PythonVelocityConstraints(elements, rows, self.tables)
        self._filled_rows(table, interpreted, filling, projection, method)

    def _filled_rows(
        self, table: Table, interpreted: PythonConstraints, filling: Stage, projection: Stage, method: str
    ) -> None:
        """Rows of a user's constraints: `filling` fills them if it compiles and is right, else Python does."""
        kind, rows, work, elements = table.type, table.rows, self.work, interpreted.constraints
        self.interpreted[kind] = interpreted
        self._sample_motion()
        differences = interpreted.settle()
        reason = bindings.refusal(filling)
        if reason is None:
            work["level"] = 1
            status = run_stage(filling.address, 0.0, work.address, rows.ctypes.data, len(rows))
            if status == 0 and not interpreted.agree(0.0):
                reason = KINKED
        if reason is None:
            self.evaluation.append(BoundStage(filling.address, rows, len(rows), elements, method))
        else:
            self.notices += differences
            self.notices.append(f"{kind.__name__}.{method} is called from Python, about 1 ms a time: {reason}")
            self._python(lambda t, n: interpreted.fill(t, int(work["level"])), interpreted, elements, method)
        self.evaluation.append(BoundStage(projection.address, rows, len(rows), elements))

    def _sample_motion(self) -> None:
        """Generic rates in the marker table, to try derivatives on; the next evaluation overwrites them."""
        values = np.random.default_rng(1)
        for numbered in self.tables.bodies:
            m = numbered.body.motion
            m = replace(m, velocity=values.normal(size=3), angular_velocity=values.normal(size=3))
            q, v = numbered.coordinates(m)
            self.work.q[numbered.q_slice], self.work.v[numbered.v_slice] = q, v
        self.work["level"] = 1
        for stage in self.evaluation[: len(self.tables.body_tables)]:
            assert stage.table is not None
            run_stage(stage.address, 0.0, self.work.address, stage.table.ctypes.data, stage.count)

    def _forces(self, table: Table) -> None:
        kind, rows = table.type, table.rows
        states: int = kind.states
        elements = [f.force for f in table.elements]
        if not is_ours(kind):
            self._sample_motion()
            for row, element in zip(rows, elements, strict=True):
                check_shapes(element, *self.tables.seen_by(row))
                self.notices += check_memory(element, *self.tables.seen_by(row))
                if (notice := uncounted(element, *self.tables.seen_by(row))) is not None:
                    self.notices.append(notice)
        stage = bindings.force_stage(self.tables.kernels(kind), is_ours(kind), rows.dtype, states, may_count(kind))
        reason = uncompiled_function(elements) or bindings.refusal(stage)
        if reason is None:
            self.evaluation.append(BoundStage(stage.address, rows, len(rows), elements, "wrench"))
            return
        self.notices.append(f"{kind.__name__}.wrench is called from Python, about 0.1 ms a time: {reason}")
        out = np.zeros(len(rows), user.FORCE_ROW).view(np.recarray)
        out.i, out.j, out.work_at = rows.i, rows.j, rows.work_at
        work = self.work
        forces = PythonForces(elements, rows, out, self.tables, work.z, work.z_rate)
        self._python(lambda t, n: forces.fill(t) if work["level"] == 2 else None, forces, elements, "wrench")
        self.evaluation.append(BoundStage(user.applied_rows.address, out, len(out), elements))

    def _energy(self, table: Table) -> None:
        kind, rows = table.type, table.rows
        if not given_with(kind, "wrench", "energy"):
            return
        elements = [f.force for f in table.elements]
        stage = bindings.energy_stage(self.tables.kernels(kind), is_ours(kind), rows.dtype, may_count(kind))
        if (uncompiled_function(elements) or bindings.refusal(stage)) is None:
            self.energies.append(BoundStage(stage.address, rows, len(rows), elements, "energy"))
            return
        work, tables = self.work, self.tables

        caller = Caller(elements[0])

        def add(t: float, n: int) -> None:
            for caller.current, row in zip(elements, rows, strict=True):
                i, j = tables.seen_by(row)
                value = method_of(caller.current, "energy")(t, i, j)
                work.potentials[max(work.groups[row.i], work.groups[row.j], 0)] += value
                if row.work_at >= 0:
                    work.z_rate[row.work_at] = value

        python = PythonStage(add)
        self.energies.append(BoundStage(python.address, None, 0, elements, "energy", python, caller))

    def _python(self, function: Callable[[float, int], None], caller: Caller, elements: list[Any], method: str) -> None:
        python = PythonStage(function)
        self.evaluation.append(BoundStage(python.address, None, 0, elements, method, python, caller))

    def gradient(self, numbered: NumberedConstraint, t: float, i: Any, j: Any) -> np.ndarray:
        """dC/dx of a constraint, interpreted."""
        constraint = numbered.constraint
        if constraint.nonholonomic:
            return self.rate_gradient(constraint, t, i, j)
        if not self.tables.gives_derivatives(type(constraint)):
            return self.interpreted[type(constraint)].gradient(constraint, t, i, j)
        g = np.zeros((constraint.equations, PLACES))
        # How an axis is bent is kept in the row.
        source = numbered.record if isinstance(constraint, AxisConstraint) else constraint
        type(constraint).gradient(source, t, i, j, g)  # type: ignore[attr-defined]
        return g

    def rate_gradient(self, constraint: Any, t: float, i: Any, j: Any) -> np.ndarray:
        """dD/dx' of a nonholonomic constraint, interpreted."""
        if is_ours(type(constraint)) and has_derivatives(type(constraint)):
            given = np.zeros((constraint.equations, MOTIONS))
            constraint.velocity_gradient(t, i, j, given)
        else:
            given = self.interpreted[type(constraint)].gradient(constraint, t, i, j)
        return rate_gradient(given, i, j)

    def user_error(self, t: float) -> SimulationError:
        """The error that a user's method raised, with its own traceback as the cause."""
        if int(self.work["culprit"]) < 0:
            return self._kernel_error(t)
        all_stages = self.evaluation + self.energies + self.control.sampling
        stage = all_stages[int(self.work["culprit_stage"])]
        cause: BaseException | None = None
        if stage.python is not None:
            assert stage.caller is not None
            element = stage.caller.current
            cause = stage.python.raised.pop()
            if not isinstance(cause, Exception):
                raise cause  # Ctrl-C and the like
            if isinstance(cause, MbframeError):
                raise cause
        else:
            element = stage.elements[int(self.work["culprit"])]
            cause = self._repeated(stage, int(self.work["culprit"]), t)
        if isinstance(cause, ModelError):
            raise cause
        what = "an error that Python does not repeat"
        if cause is not None:
            what = f"{type(cause).__name__}: {cause}{_line_of(cause)}"
        own_states = stage.method == "wrench" and element.states and _came_through(cause, type(element).state_rate)
        method = "state_rate" if own_states else stage.method
        failure = SimulationError(f"{method} raised {what}", time=t, culprit=self._label(element))
        failure.__cause__ = cause
        return failure

    def _kernel_error(self, t: float) -> SimulationError:
        """The error that a kernel of a user's formulation raised, found by calling all of them once more in Python."""
        theirs = [table for table in self.tables.body_tables if not is_ours(table.type)]
        bodies = [(table.type, row, b) for table in theirs for row, b in zip(table.rows, table.elements, strict=True)]
        for kind, row, b in bodies:
            for name, kernel, arguments in self._kernel_calls(kind, row, b):
                try:
                    kernel(*arguments)
                except Exception as cause:
                    what = f"{name} raised {type(cause).__name__}: {cause}{_line_of(cause)}"
                    error = SimulationError(what, time=t, culprit=f"{kind.__name__} of {b.body}")
                    error.__cause__ = cause
                    return error
        names = ", ".join(sorted({table.type.__name__ for table in theirs}))
        return SimulationError("a kernel raised an error that Python does not repeat", time=t, culprit=names)

    def _kernel_calls(self, kind: Any, row: Any, b: NumberedBody) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        """The kernels of a body's formulation with their arguments at the last state; what they write is forgotten."""
        n_q, n_v, n_rows = b.formulation.n_q, b.formulation.n_v, b.formulation.n_intrinsic
        q, v = self.work.q[b.q_slice].copy(), self.work.v[b.v_slice].copy()
        frame, full = np.zeros((3, b.formulation.n_frame)), DYNAMICS
        yield "prepare", kind.prepare, (row, q, frame)
        yield "regular", kind.regular, (row, q, frame)
        for k in range(b.first_marker, b.first_marker + len(b.markers)):
            yield "place", kind.place, (row, q, v, frame, self.tables.markers[k].copy(), np.zeros((PLACE, n_v)), full)
        yield "rates", kind.rates, (row, q, v, np.zeros(n_q))
        yield "inertia", kind.inertia, (row, q, v, frame, np.zeros((n_v, n_v)), np.zeros(n_v))
        if n_rows:
            rows = (np.zeros(n_rows) for _ in range(3))
            yield "intrinsic", kind.intrinsic, (q, v, *rows, np.zeros((n_rows, n_v)), full)
        yield "normalize", kind.normalize, (row, q)

    def function_error(self, t: float) -> SimulationError | None:
        """The error of the first element that has a function without a finite value at the last evaluated state."""
        for stage in self.evaluation:
            called = stage.method in ("wrench", "residual") and stage.table is not None
            for k, element in enumerate(stage.elements if called else ()):
                cause = self._repeated(stage, k, t) if functions_of([element]) else None
                if isinstance(cause, ModelError):
                    message = cause.problems[0].message.replace(f" at t = {t!r}", "")  # the error says it
                    failure = SimulationError(message, time=t, culprit=self._label(element))
                    failure.__cause__ = cause
                    return failure
        return None

    def _label(self, element: Any) -> str:
        """An element by name; an equation by that of the joint it belongs to."""
        return next((str(c.owner) for c in self.tables.constraints if c.constraint is element), str(element))

    def _repeated(self, stage: BoundStage, k: int, t: float) -> Exception | None:
        """What the interpreted methods of an element raise at the last evaluated state; the compiled ones failed."""
        assert stage.table is not None
        if isinstance(element := stage.elements[k], Controller):
            return self.control.repeated(element, stage.method, t)
        row = stage.table[k]
        arguments = [t, *self.tables.seen_by(row)]
        if stage.method == "wrench" and element.states:
            arguments.append(self.work.z[row.z : row.z + element.states].copy())
        methods = ("residual", "time_rate", "curvature") if hasattr(element, "time_rate") else (stage.method,)
        own = not is_ours(type(element))
        try:
            if own and stage.method == "wrench":
                if element.states:
                    state_rate_of(element, *arguments)
                wrench_of(element, *arguments)
            for method in methods:
                found = method_of(element, method)(*arguments)
                if own and method in ("residual", "velocity_residual"):
                    residuals(element, found)
        except Exception as error:
            return error
        return None

    def not_finite(self, t: float) -> SimulationError | None:
        """The error of the first element that gives no finite numbers at the last evaluated state, if that is finite.

        A state that is not finite itself is nobody's fault: then there is none.
        """
        markers = self.tables.markers
        if not all(np.all(np.isfinite(markers[name])) for name in ("position", "axes", "velocity")):
            return None
        for stage in self.evaluation:
            if stage.method not in ("wrench", "residual", "velocity_residual"):
                continue
            rows = stage.table if stage.table is not None else self._rows_of(stage.elements)
            for element, row in zip(stage.elements, rows, strict=False):
                for method, numbers in self._numbers_of(stage.method, element, row, t):
                    if isinstance(numbers, Exception):
                        values = f"{type(numbers).__name__}: {numbers}{_line_of(numbers)}"
                    elif np.all(np.isfinite(numbers)):
                        continue
                    else:
                        values = ", ".join(f"{number:.6g}" for number in numbers)
                    message = (
                        f"{method} gives numbers that are not finite ({values}); look for a division by zero, or a "
                        "root or logarithm of a negative number"
                    )
                    return SimulationError(message, time=t, culprit=self._label(element))
        return None

    def _numbers_of(
        self, method: str, element: Any, row: Any, t: float
    ) -> Iterator[tuple[str, np.ndarray | Exception]]:
        """What a method of an element gives at the last evaluated state; with a wrench, what its own states do.

        Own states without bounds are left out: what becomes of them is no fault of a formula. Where a formula has no
        value, Python's `math` raises an error, which comes instead; compiled, it gives a number that is not finite.
        """
        i, j = self.tables.seen_by(row)
        given: list[Any] = [t, i, j]
        methods = [method]
        if method == "wrench" and element.states:
            z = self.work.z[row.z : row.z + element.states].copy()
            if not np.all(np.abs(z) < UNBOUNDED):
                return
            given.append(z)
            methods.append("state_rate")
        for name in methods:
            try:
                with np.errstate(all="ignore"):
                    found = method_of(element, name)(*given)
                parts = found if name != "energy" else [found]
                yield name, np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])
            except NO_VALUE as error:
                yield name, error
            except Exception:  # that is said elsewhere, if it matters
                continue

    def energy_not_finite(self, t: float) -> str | None:
        """What to say of the first element whose energy is not finite at the last evaluated state, if there is one."""
        for stage in self.energies:
            rows = stage.table if stage.table is not None else self._rows_of(stage.elements)
            for element, row in zip(stage.elements, rows, strict=False):
                for _, numbers in self._numbers_of("energy", element, row, t):
                    given = "no number" if isinstance(numbers, Exception) else f"{numbers[0]:.6g}"
                    if isinstance(numbers, Exception) or not np.all(np.isfinite(numbers)):
                        return (
                            f"{self._label(element)}: energy gives {given} at t = {t:.6g} s, so that the "
                            "energies of the run are not known; look for a division by zero, or a root or logarithm "
                            "of a negative number"
                        )
        return None

    def _rows_of(self, elements: list[Any]) -> list[Any]:
        """The rows of elements that are called from Python."""
        tables = (*self.tables.constraint_tables, *self.tables.force_tables)
        found = {
            id(getattr(e, "force", None) or getattr(e, "constraint", None)): row
            for table in tables
            for row, e in zip(table.rows, table.elements, strict=True)
        }
        return [found[id(element)] for element in elements]


def _came_through(cause: BaseException | None, method: Any) -> bool:
    """Whether an error was raised in a method, whatever name it was defined by, or in what it called."""
    code = getattr(inspect.unwrap(method), "__code__", None)
    return cause is not None and any(frame.f_code is code for frame, _ in traceback.walk_tb(cause.__traceback__))


def _line_of(cause: BaseException) -> str:
    """Where a user's method raised: the last place outside of libraries."""
    for frame in reversed(traceback.extract_tb(cause.__traceback__)):
        if "site-packages" not in frame.filename and not frame.filename.startswith(PACKAGE):
            return f" (line {frame.lineno} of {os.path.basename(frame.filename)})"
    return ""
