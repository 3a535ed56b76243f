"""The march through time: the compiled loop in chunks, with progress, events and Ctrl-C between them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..disk.atomic import FilePath
from ..equations.equations import Equations, Strategy
from ..equations.failures import failure
from ..errors import SimulationError
from ..files.result_streams import ResultStream
from ..kernels.compiler.compile import run_stage
from ..kernels.integrators.march import interpolate_hermite, march
from ..kernels.workspace import DONE, FULL, OK
from ..results import EventRecord, Info, Result
from ..stored_states import StatesInMemory
from . import balance, verdict
from .acceleration import Acceleration
from .crossings import Crossings
from .events import Event
from .integrators import Integrator
from .interrupts import passed_on
from .joint_march import JointMarch, joint_march
from .output import Mark, Output
from .progress import Progress
from .schedule import Schedule
from .stabilization import Stabilization

Array = NDArray[np.float64]
Look = Callable[[float, Array, float], Schedule]
"""Looks at the functions of a model from a time and a state to another time: what steps must heed until then."""

COUNTERS = ("steps", "rejected", "evaluations", "factorizations")
CHUNK_SECONDS = 0.05  # how long the compiled loop runs before it comes back: Ctrl-C, progress, cancelling
AHEAD_SECONDS = 10.0  # of the motion, which functions are looked at for if no end is known, and ...
AHEAD_STEPS = 10_000  # ... steps of a fixed size; later as far as the run has come


@dataclass(frozen=True)
class Numbers:
    """Numbers that compiled code may change, with the arrays in which they belong.

    Looks ahead may replace the schedule, and with it some of the arrays, so those of the moment are kept beside them.
    """

    arrays: list[NDArray[np.uint8]]
    values: NDArray[np.uint8]

    def put_back(self) -> None:
        begin = 0
        for array in self.arrays:
            array[:] = self.values[begin : begin + len(array)]
            begin += len(array)


@dataclass(frozen=True)
class Snapshot:
    """All that the further motion depends on, at some instant."""

    numbers: Numbers
    stored: Mark
    found: int
    values: list[float]
    """Of the functions of events."""
    schedule: Schedule | None
    finished: bool


class Run:
    """One simulation: the equations with their strategies, and the march through time in chunks.

    `look` tells what functions of time will do; without it no step heeds them.
    """

    def __init__(
        self,
        eq: Equations,
        integrator: Integrator,
        acceleration: Acceleration,
        stabilization: Stabilization,
        look: Look | None = None,
    ) -> None:
        self.eq, self._look = eq, look
        self.integrator, self.acceleration, self.stabilization = integrator, acceleration, stabilization
        self.joints: JointMarch | None = None
        self._flexible = [(b, b.body) for b in eq.tables.bodies if isinstance(b.body, FlexibleBody)]

    def strategies(self) -> dict[str, Any]:
        """What was chosen."""
        return {name: getattr(self, name) for name in ("integrator", "acceleration", "stabilization")}

    def bind(self, eq: Equations) -> None:
        """Let equations use the acceleration and the stabilization of this run."""
        correction = self.stabilization.bound(eq)
        eq.bind("accelerate", self.stabilization.accelerating(self.acceleration.bound(eq), correction))
        eq.bind("correct", correction)

    # --- beginning ----------------------------------------------------------------------------------------------------

    def begin(
        self,
        y: Array,
        t: float,
        settings: dict[str, Any],
        info: Info,
        instants: Array | None = None,
        events: list[Event] | None = None,
        output: FilePath | None = None,
    ) -> None:
        """Make everything ready for the first step from (t, y); `settings` have dt, and t_end if an end is known."""
        eq, work, dt, end = self.eq, self.eq.work, settings["dt"], settings.get("t_end", math.inf)
        self.info, self.settings, self.start, self.wall_time = info, settings, t, 0.0
        self.schedule: Schedule | None = None
        self._seen_to = math.inf if self._look is None else -math.inf
        if self._look is not None and end < math.inf:
            self.schedule, self._seen_to = self._look(t, y, end), end
            info.warnings += self.schedule.warnings
        self.integrator.begin(t, end, dt)
        self.integrator.heed(self.schedule)
        self.bind(eq)
        if self.schedule is not None:
            self.schedule.begin(eq, t, y)
        self.joints, notes = joint_march(eq, y, self.integrator, self.acceleration, self.stabilization)
        if self.joints is not None:
            self.joints.bind()
        else:
            eq.bind("step", self.integrator.bound(eq))
        info.warnings += notes
        self._place(t, y)
        eq.begin_samples(t)
        if instants is not None and instants[0] > t:
            info.start = [t, *work.y.tolist()]
        stream = None if output is None else ResultStream(output, StatesInMemory.none(eq, settings), info)
        sizes = None
        if self._flexible and instants is not None:
            from .flexible_range import watched_sizes  # late: it loads finite elements and SciPy

            sizes = watched_sizes(eq)
        known = end < math.inf and not self.integrator.adaptive
        self.output = Output(eq, t, math.ceil((end - t) / dt) if known else None, instants, stream, sizes)
        self._stream = stream
        if instants is not None or events:
            eq.bind("interpolate", self._interpolation())
        for counter in (*COUNTERS, "gap", "restart"):
            work[counter] = 0
        work["t_end"] = end
        self.beginning = [t, *work.y.tolist()]
        if instants is None:
            self.output.append(t, work.y)
        self.output.look(t, work.y)
        self.found: list[EventRecord] = []
        self.finished = self.broken = False
        self._now, self._steps, self._end = (work.view(field) for field in ("t", "steps", "t_end"))
        self._crossings = Crossings(eq, self.integrator, self.output, events) if events else None
        self._plain = not (events or self._flexible or stream is not None)
        self._numbers: list[NDArray[np.uint8]] = []

    def _interpolation(self) -> Strategy:
        """How states inside a step are found."""
        dense = self.joints.interpolation if self.joints is not None else self.integrator.interpolation(self.eq)
        if dense is None:
            return Strategy(interpolate_hermite.address, self.output.record)
        return dense if self.joints is None else self.joints.joints.strategy("interpolate")

    def _place(self, t: float, y: Array) -> None:
        """Make (t, y) the current state; angles over turns are counted there."""
        self.eq.set_state(*self.eq.split(y))
        if self.eq.n_followers:
            self.eq.accept(t)
        self.eq.work["t"] = t

    @property
    def t(self) -> float:
        """Where the run is, s."""
        return float(self._now.item())

    # --- functions ahead ----------------------------------------------------------------------------------------------

    def look_again(self) -> None:
        """Forget what was seen ahead: a function of the model is another one from now on."""
        self._seen_to = -math.inf if self._look is not None else math.inf

    def _see_to(self, t: float) -> None:
        """Know what functions of time do until t at least; nothing else changes."""
        if t <= self._seen_to or self._look is None:
            return
        kept, y = self._kept(), self.eq.work.y.copy()
        try:
            schedule = self._look(self.t, y, t)
            if self.schedule is None:
                schedule.begin(self.eq, self.t, y)
            else:
                schedule.follow(self.schedule)
        finally:
            kept.put_back()
        self.info.warnings += [warning for warning in schedule.warnings if warning not in self.info.warnings]
        self._heed(schedule)

    def _heed(self, schedule: Schedule | None) -> None:
        self.schedule, self._numbers = schedule, []
        self._seen_to = -math.inf if schedule is None else schedule.end
        self.integrator.heed(schedule)

    def _see_steps(self, count: int) -> None:
        """Know enough for so many steps without an end."""
        dt, t = self.settings["dt"], self.t
        far = max(t - self.start, AHEAD_SECONDS if dt is None else AHEAD_STEPS * dt)
        if self.integrator.adaptive:  # whose steps may have any length, so that they end where nothing more is known
            if self._seen_to <= t:
                self._see_to(t + far)
            self._end[0] = self._seen_to
        else:
            needed = (count + 1) * dt
            if self._seen_to <= t + needed:
                self._see_to(t + max(far, 2.0 * needed))
            self._end[0] = math.inf

    # --- going on -----------------------------------------------------------------------------------------------------

    def advance(self, to: float, progress: Progress | None = None) -> None:
        """March to a time, or to the event that ends the run."""
        self._see_to(to)
        self._end[0] = to
        began = time.perf_counter()
        try:
            self._march(math.inf, progress)
        finally:
            self.wall_time += time.perf_counter() - began

    def step(self, count: int) -> None:
        """Take so many accepted steps, or those to the event that ends the run."""
        wanted = self._steps.item() + count
        if self._seen_to < math.inf or self._end.item() < math.inf:
            self._see_steps(count)
        while self._steps.item() < wanted and not self.finished:
            if not self._plain or not self._quickly(wanted):
                self._march(wanted)
                if self._steps.item() < wanted and not self.finished:
                    self._see_steps(wanted - self._steps.item())

    def _quickly(self, wanted: int) -> bool:
        """Steps with nothing to do between them; returns whether they were all taken."""
        work, steps = self.eq.work, wanted - self._steps.item()
        if steps > AHEAD_STEPS:  # for which Ctrl-C should not wait
            return False
        self.broken = True
        status = run_stage(march.address, 0.0, work.address, self.output.record.address, steps)
        if status not in (OK, DONE, FULL):
            raise failure(self.eq, status, self.output.before())
        self.broken = False
        if status == FULL:
            self.output.empty()
        return self._steps.item() >= wanted

    def _march(self, wanted: float, progress: Progress | None = None) -> None:
        """March to the end, or until so many steps are taken in all."""
        steps, at = 1, None if progress is None else progress.at
        due = self.output.next_look(self._steps.item())
        while True:
            began = time.perf_counter()
            chunk = int(min(steps, min(wanted, due) - self._steps.item()))
            if self._crossings is None:
                status = self._advance(chunk)
            else:
                status = self._advance_and_look(self._crossings)
            if self._steps.item() >= due or status == DONE or self.finished:
                self.output.look(self.t, self.eq.work.y)
                due = self.output.next_look(self._steps.item())
            if at is not None:
                at(self.t)
            if status == DONE or self.finished:
                return
            self.output.checkpoint()
            if status == FULL:
                self.output.empty()
            elif self._steps.item() >= wanted:
                return
            else:
                elapsed = max(time.perf_counter() - began, 1e-9)
                if elapsed >= CHUNK_SECONDS:
                    steps = max(1, int(chunk * CHUNK_SECONDS / elapsed))
                elif chunk == steps:
                    steps = min(2 * steps, 1_000_000)

    def _advance(self, steps: int) -> int:
        steps = self.output.watching(steps)
        self.broken = True
        status = self.eq.run(march.address, self.t, self.output.record.address, steps, before=self.output.before)
        for b, body in self._flexible:
            modal, _ = b.formulation.deformations(self.eq.work.q[None, b.q_slice], self.eq.work.v[None, b.v_slice])
            if message := body.unbounded(modal[0]):
                raise SimulationError(message, self.t, str(body))
        self.broken = False
        return status

    def _advance_and_look(self, crossings: Crossings) -> int:
        """One step, and its events."""
        self.output.make_room()
        status = self._advance(1)
        while status == FULL:  # more instants in one step than fit: they belong to it until its events are known
            self.output.grow()
            status = self._advance(0)
        for record, terminal, y in crossings.passed():
            self.found.append(record)
            self.output.note(record)
            if terminal:
                self.output.cut(record.t, y)
                self._place(record.t, y)
                self.finished = True
                break
        return status

    # --- coming back --------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that the further motion depends on."""
        values = [] if self._crossings is None else self._crossings.values
        return Snapshot(self._kept(), self.output.mark(), len(self.found), values, self.schedule, self.finished)

    def restore(self, snapshot: Snapshot) -> None:
        """Be again where a snapshot was taken."""
        if snapshot.schedule is not self.schedule:
            self._heed(snapshot.schedule)
        snapshot.numbers.put_back()
        self.output.back(snapshot.stored)
        del self.found[snapshot.found :]
        if self._crossings is not None:
            self._crossings.values = snapshot.values
        self.finished, self.broken = snapshot.finished, False

    def restart(self, first: Snapshot, t: float, y: Array) -> None:
        """Begin anew at (t, y); `first` is the snapshot of the beginning."""
        recording = self.output.recording
        self.restore(first)
        self.integrator.restart(t)
        self._place(t, y)
        self.eq.begin_samples(t)
        if t != self.start:
            self.start = t
            self.look_again()
        self.output.begin_again(t, self.eq.work.y, recording)
        self.beginning = [t, *self.eq.work.y.tolist()]
        if self.info.start is not None:
            self.info.start = self.beginning
        if self._crossings is not None:
            self._crossings.values = self._crossings.now()

    def stay(self, t: float, y: Array) -> None:
        """Be at a state, after a step that failed."""
        self._place(t, y)

    def _kept(self) -> Numbers:
        """All numbers that compiled code may change, but for what is stored."""
        if not self._numbers:
            self._numbers = [array.reshape(-1).view(np.uint8) for array in self._changing()]
        return Numbers(self._numbers, np.concatenate(self._numbers))

    def _changing(self) -> Iterator[NDArray[Any]]:
        tables = self.eq.tables
        yield from self.eq.work.numbers()
        yield tables.counters
        for table in (*tables.body_tables, *tables.constraint_tables, *tables.force_tables):
            yield table.rows
        for role in ("accelerate", "correct", "step"):
            if (data := self.eq.strategy(role).data) is not None:
                yield from data.numbers()

    # --- the result ---------------------------------------------------------------------------------------------------

    def complete(self, t_end: float, progress: Progress) -> Result:
        """March to the end and return the result: also after Ctrl-C, and with an error that ends the run."""
        error: SimulationError | None = None
        try:
            with progress:
                self.advance(t_end, progress)
        except KeyboardInterrupt:
            self.info.completed = False
            if passed_on():
                self.output.close(self.info)
                raise
            self.info.warnings.append(f"stopped by the user at t = {self.t:.6g} s")
        except SimulationError as raised:
            self.info.completed = False
            error = raised
        except BaseException:
            self.info.completed = False
            self.output.close(self.info)
            raise
        return self.result(self.eq, self.info, error)

    def result_now(self, eq: Equations, completed: bool, same: bool) -> Result:
        """The result until now, with equations of its own; the run may go on.

        `same` says that no parameter was changed, so that energies can be compared.
        """
        work = self.eq.work
        eq.set_state(*eq.split(work.y))
        eq.work["t"], eq.work["gap"] = work["t"], work["gap"]
        eq.factor_record["dependent"] = self.eq.factor_record["dependent"]
        info = replace(self.info, warnings=list(self.info.warnings), completed=completed)
        return self.result(eq, info, None, same)

    def doubts(self, eq: Equations, same: bool = True) -> list[str]:
        """What events and some states tell of the motion until now; of energies only if the model was the `same`."""
        notes = [] if self._crossings is None else self._crossings.remarks()
        notes += [] if self.joints is None else self.joints.remarks()
        strategies = (self.integrator, self.acceleration, self.stabilization)
        return notes + verdict.of_samples(eq, self.output.samples(), self.settings["dt"], *strategies, same)

    def balance(self, eq: Equations, samples: verdict.Samples | None = None) -> list[str]:
        """What the energies at some states, by default those of the motion until now, tell."""
        t, y = samples or self.output.samples()
        return balance.remarks(eq, t, y, self.integrator, self.stabilization.corrects)

    def result(self, eq: Equations, info: Info, error: SimulationError | None, same: bool = True) -> Result:
        """What was stored, with what there is to say about it; `error` is raised with that."""
        work = self.eq.work
        info.wall_time = self.wall_time
        for counter in COUNTERS:
            setattr(info, counter, int(work[counter]))
        info.warnings += self.doubts(eq, same)
        unwritten = self.output.close(info)
        error = error or unwritten
        result: Result | None
        if self._stream is None:
            result = Result(eq, *self.output.arrays(), info, self.found.copy(), self.settings)
        else:
            result = self._stream.result(eq, info, self.found)
        if result is not None:
            info.warnings += verdict.of_result(eq, result, self.output)
        if error is not None:
            error.result = result
            for warning in info.warnings:  # which may tell why, and would stay unseen
                error.add_note(f"Warning of this run: {warning}")
            raise error
        assert result is not None
        return result
