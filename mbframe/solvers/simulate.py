"""The simulation: from a system and a choice of strategies to a result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bodies.flexible import FlexibleBody
from ..bodies.formulations import Formulation
from ..bodies.point_mass import PointMass
from ..constraints.relations import MeasureTerm
from ..equations.equations import Equations, Strategy
from ..equations.workspace import Record
from ..errors import ModelError, Problem, SimulationError, check_kinds
from ..files.atomic import FilePath, reason
from ..files.result_files import ResultStream, overwritable
from ..joints.driven import Drive
from ..kernels.march import MARCH, interpolate_hermite, march
from ..kernels.workspace import DONE, FULL
from ..parameters import Element
from ..results import EventRecord, Info, Result, StatesInMemory
from ..state import State
from ..system import System
from .acceleration import Acceleration, AugmentedFormulation
from .integrators import DormandPrince, Integrator, RungeKutta4
from .progress import Progress, reporter
from .stabilization import DirectCorrection, Stabilization

Array = NDArray[np.float64]

CHUNK_SECONDS = 0.05  # how long the compiled loop runs before it comes back: Ctrl-C, progress, cancelling
BUFFER_NUMBERS = 1_000_000
LARGEST_BUFFER_NUMBERS = 100_000_000  # where the number of steps is known, one buffer holds them all up to this size
SAMPLES = 101  # instants at which drivers of the same measure are compared
SLACK = 1e-12  # part of a time by which rounding may carry an instant beyond it
CLOSED = 1e-10  # a described state with smaller violations is taken as it is
LARGEST_GAP = 1e-2  # of the model's size: larger gaps are mistakes, smaller ones are assembled


@dataclass(frozen=True)
class Event:
    """Something to look for during a run: a zero of `function(t, state)`.

    direction: +1 only where it increases, -1 only where it decreases, 0 both; terminal: the run ends there. A plain
    function with attributes `terminal` and `direction` is accepted as well. Zeros are found by the sign before and
    after each step: two of them within one step go unnoticed.
    """

    function: Callable[[float, State], float]
    terminal: bool = False
    direction: int = 0
    name: str = "event"

    @classmethod
    def of(cls, given: Any) -> Event:
        """The event that an entry of `simulate(events=...)` means."""
        if isinstance(given, cls):
            return given
        return cls(
            given,
            bool(getattr(given, "terminal", False)),
            int(getattr(given, "direction", 0)),
            getattr(given, "__name__", "event"),
        )

    def value(self, state: State) -> float:
        """The function at a state; what it raises becomes the cause of a `SimulationError`."""
        try:
            return float(self.function(state.t, state))
        except Exception as error:
            message = f"raised {type(error).__name__}: {error}"
            raise SimulationError(message, state.t, f"event {self.name!r}") from error

    def crossed(self, before: float, after: float) -> bool:
        """Whether the function passed zero in the wanted direction."""
        rises, falls = before < 0.0 <= after, before > 0.0 >= after
        return (rises and self.direction >= 0) or (falls and self.direction <= 0)


def simulate(
    system: System,
    t_end: float,
    dt: float | None = None,
    *,
    initial: State | None = None,
    formulation: Formulation | None = None,
    acceleration: Acceleration | None = None,
    stabilization: Stabilization | None = None,
    integrator: Integrator | None = None,
    t_eval: ArrayLike | None = None,
    events: Sequence[Any] = (),
    output: FilePath | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    """Simulate a system from its described state (or `initial`) to the time `t_end`.

    Parameters
    ----------
    system
        What to simulate.
    t_end
        End of the simulation, s. It starts at the time of `initial`, by default 0.
    dt
        Step of a fixed-step integrator; first step tried by an adaptive one, s.
    initial
        State to start from; by default the one in which the model is described.
    formulation
        Coordinates of the rigid bodies, instead of their own choice.
    acceleration, stabilization, integrator
        Strategies. Defaults: `AugmentedFormulation()`, `DirectCorrection(tolerance=1e-10)`, and
        `DormandPrince(rtol=1e-6)`, or `RungeKutta4()` if `dt` is given.
    t_eval
        Increasing instants at which the state is stored (corrected like all others); by default every accepted step.
    events
        Functions f(t, state) whose zeros are looked for; see `Event`.
    output
        HDF5 file to write the states to as they are computed, so that memory stays bounded and a run that is killed
        keeps what it had. The result then reads from that file; a result that is there is replaced.
    progress
        True for a progress bar, or a function that is called with the current time.

    Returns
    -------
    Result
        Also after Ctrl-C, with what was computed until then. A failure raises `SimulationError`, which carries the
        time, the culprit and the partial result.
    """
    chosen = integrator or (RungeKutta4() if dt is not None else DormandPrince(rtol=1e-6))
    check_kinds(
        "simulate",
        system=(system, System),
        initial=(initial, State),
        formulation=(formulation, Formulation),
        acceleration=(acceleration, Acceleration),
        stabilization=(stabilization, Stabilization),
        integrator=(chosen, Integrator),
    )
    check_combination(chosen, acceleration, stabilization)
    if output is not None:
        overwritable(output)
    begin = initial.checked(system.bodies) if initial is not None else None
    start = begin.t if begin is not None else 0.0
    instants = _checked(start, t_end, dt, chosen, t_eval, events)
    eq = Equations(system, formulation)
    info = Info(warnings=list(eq.notices))
    y, moved = assembled(eq, begin or eq.described())
    info.warnings += moved
    remarkable = [f.force for f in eq.tables.forces] + [j for j in system.joints if isinstance(j, Drive)]
    info.warnings += [remark for element in remarkable for remark in element.remarks(start, float(t_end))]
    info.warnings += clamped_points(system)
    refuse_ambiguous_friction(eq, start, y)
    refuse_conflicting_drivers(eq, start, float(t_end))
    run = Run(eq, chosen, acceleration or AugmentedFormulation(), stabilization or DirectCorrection(tolerance=1e-10))
    settings = {"t_end": float(t_end), "dt": dt, "formulation": formulation, **run.strategies()}
    info.settings = {name: repr(s) if isinstance(s, Element | Formulation) else s for name, s in settings.items()}
    looked_for = [Event.of(e) for e in events]
    shown = reporter(progress, start, float(t_end))
    return run.march(y, start, settings, instants, looked_for, info, shown, output)


def check_combination(
    integrator: Integrator, acceleration: Acceleration | None, stabilization: Stabilization | None
) -> None:
    """Refuse strategies that the integrator would not use."""
    if not integrator.implicit:
        return
    problems = []
    if acceleration is not None:
        message = (
            f"found {acceleration!r}, but {integrator} solves for accelerations and multipliers itself; leave "
            "acceleration out, or choose an explicit integrator"
        )
        problems.append(Problem("simulate", "acceleration", message))
    if stabilization is not None and stabilization.feedback != (0.0, 0.0):
        message = (
            f"found {stabilization!r}, which acts on accelerations, but {integrator} solves for these itself; choose a "
            "stabilization that corrects states, such as DirectCorrection()"
        )
        problems.append(Problem("simulate", "stabilization", message))
    if problems:
        raise ModelError(problems)


def _checked(start: float, t_end: Any, dt: Any, integrator: Integrator, t_eval: Any, events: Any) -> Array | None:
    """Refuse senseless times and events, all at once; returns the instants asked for."""
    problems = []

    def refuse(field: str, message: str) -> None:
        problems.append(Problem("simulate", field, message))

    def number(value: Any) -> bool:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)

    if not number(t_end) or not t_end > start:
        refuse("t_end", f"found {t_end!r}; allowed is a number after the start at t = {start:g} s; give a later time")
    if dt is not None and (not number(dt) or not dt > 0.0):
        refuse("dt", f"found {dt!r}; allowed is a positive step (s); give one such as 1e-3")
    if dt is None and not integrator.adaptive:
        refuse("dt", f"found nothing, but {integrator} has a fixed step; add dt=1e-3 or another step")
    instants = None
    if t_eval is not None:
        try:
            instants = np.array(t_eval, float)
        except (TypeError, ValueError):
            instants = np.array([np.nan])
        if instants.ndim != 1 or not len(instants):
            refuse("t_eval", f"found shape {instants.shape}; allowed are increasing instants (s); give a list of them")
        elif not np.all(np.isfinite(instants)):
            refuse("t_eval", "found what is not a finite number; allowed are increasing instants (s); remove it")
        elif np.any(np.diff(instants) <= 0.0):
            refuse("t_eval", "found instants that do not increase; sort them and leave out duplicates")
        elif number(t_end) and t_end > start:
            slack = SLACK * max(abs(start), abs(t_end))  # 7 * 0.1 is a little more than 0.7
            if instants[0] < start - slack or instants[-1] > t_end + slack:
                found = f"instants from {instants[0]:g} to {instants[-1]:g} s"
                refuse("t_eval", f"found {found}; allowed is {start:g} to {t_end:g} s; change them or t_end")
            instants = np.clip(instants, start, t_end)
    if not isinstance(events, Sequence):
        refuse("events", f"found {events!r}; allowed is a list of functions f(t, state); put it in brackets: [...]")
    else:
        for event in events:
            if not callable(event) and not isinstance(event, Event):
                refuse("events", f"found {event!r}; allowed are functions f(t, state) and Event objects; pass these")
    if problems:
        raise ModelError(problems)
    return instants


def assembled(eq: Equations, state: State) -> tuple[Array, list[str]]:
    """y of a state, made consistent with the constraints, and what had to be moved for that.

    A gap of more than `LARGEST_GAP` times the size of the model is an error that names the joint (the ten worst).
    """
    y = eq.coordinates(state)
    residual, rate = eq.violation(state.t, y)
    gap, speed = float(np.linalg.norm(residual)), float(np.linalg.norm(rate))
    if not gap > CLOSED and not speed > CLOSED:
        return y, []
    size = extent(eq, state)
    gaps = joint_norms(eq, residual)
    if gap > LARGEST_GAP * size:
        message = (
            "does not close: its equations are violated by {:.3g} (m, or rad), where the model measures {:.3g} m; "
            "move a body or the joint's points so that they meet"
        )
        open_joints = [(owner, value) for owner, value in gaps[:10] if value > gaps[0][1] / 10]
        if driven := [driver_gap(owner, state.t, value) for owner, value in open_joints if isinstance(owner, Drive)]:
            raise ModelError(driven)
        raise ModelError([Problem(str(owner), "at", message.format(value, size)) for owner, value in open_joints])
    try:
        q, v = DirectCorrection().correct(eq, state.t, *eq.split(y)[:2])
    except SimulationError as error:
        if error.__cause__ is not None:  # a user's method raised: not a matter of consistency
            raise
        message = f"the initial state cannot be made consistent; {error.message}"
        raise ModelError([Problem(str(error.culprit), "", message)]) from error
    corrected = np.concatenate([q, v, eq.split(y)[2]])
    notes = []
    if gap > CLOSED:
        moved = {
            name: float(np.linalg.norm(after.position - state.motions[name].position))
            for name, after in eq.state(state.t, corrected).motions.items()
        }
        farthest = max(moved, key=lambda name: moved[name])
        notes.append(
            f"the initial position violated {gaps[0][0]} by {gaps[0][1]:.3g}; it was assembled, and {farthest!r} moved "
            f"most, by {moved[farthest]:.3g} m"
        )
    if speed > CLOSED:
        owner, value = joint_norms(eq, rate)[0]
        change = float(np.max(np.abs(v - eq.split(y)[1])))
        notes.append(
            f"the initial velocities violated {owner} by {value:.3g}; they were projected, by at most {change:.3g} "
            "(m/s or rad/s)"
        )
    return corrected, notes


def clamped_points(system: System) -> list[str]:
    """What to say about joints that hold a point mass by a point away from it, as a clamp would."""
    notes = []
    for joint in system.joints:
        for marker in (joint.i, joint.j):
            if isinstance(marker.body, PointMass):
                arm = float(np.linalg.norm(marker.at - marker.body.position))
                if arm > CLOSED:
                    notes.append(
                        f"{joint}: {marker.body} does not turn, so that a point {arm:.3g} m away from it moves as it "
                        "does; put the joint at the mass, or use a RigidBody or a DistanceJoint"
                    )
    return notes


def driver_gap(driver: Drive, t: float, gap: float) -> Problem:
    """What to say where a driver asks for another position than the initial one."""
    functions = driver.functions()
    values = ", ".join(f"{name} = {function(t):.6g}" for name, function in functions.items())
    return driver.problem(
        next(iter(functions)),
        f"asks for {values} at t = {t:g} s, which the initial position misses by {gap:.3g} (m, or rad); let the "
        "function begin where the bodies are described, or pass initial=mb.assemble(system)",
    )


def extent(eq: Equations, state: State) -> float:
    """How large the model is, m: the longest side of a box around its bodies and markers."""
    positions = np.array([m.position for m in state.motions.values()])
    points = np.concatenate([positions, eq.tables.markers["position"]])
    return float(np.max(np.ptp(points, axis=0), initial=0.0)) or 1.0


def refuse_ambiguous_friction(eq: Equations, t: float, y: Array) -> None:
    """Friction needs the reaction of its joint: refuse it where dependent constraints leave that reaction open."""
    frictions: list[Any] = [f.force for f in eq.tables.forces if f.force.reactive]
    if not frictions:
        return
    eq.accelerate(t, *eq.split(y))
    if not eq.factor_record["left_out"]:
        return
    left, sizes, _ = np.linalg.svd(eq.evaluate(t, *eq.split(y)).jacobian.toarray())
    open_rows = left[:, np.count_nonzero(sizes > 1e-9 * sizes[0]) :]
    problems = [
        force.problem("joint", f"{force.joint} has a reaction that is not unique; remove the dependent constraints")
        for force in frictions
        if any(np.any(np.abs(open_rows[c.rows]) > 1e-6) for c in eq.tables.constraints if c.owner is force.joint)
    ]
    if problems:
        raise ModelError(problems)


def refuse_conflicting_drivers(eq: Equations, start: float, end: float) -> None:
    """Drivers of the same measure must ask for the same; sampled, because functions cannot be compared otherwise."""
    driven: list[tuple[Drive, str, Any, tuple[int, int]]] = []
    for c in eq.tables.constraints:
        if isinstance(c.owner, Drive) and isinstance(c.constraint, MeasureTerm):
            field = next(name for name, f in c.owner.functions().items() if f == c.constraint.motion)
            driven.append((c.owner, field, c.constraint, (c.i, c.j)))
    times = np.linspace(start, end, SAMPLES)
    problems = []
    for (one, field, a, at), (other, _, b, there) in combinations(reversed(driven), 2):
        if type(a) is type(b) and at == there:
            wanted = a.start + a.motion(times)
            gap = np.abs(wanted - b.start - b.motion(times))
            if gap.max() > CLOSED * (1.0 + np.abs(wanted).max()):
                t = times[np.argmax(gap > 0.5 * gap.max())]
                message = f"contradicts {other} (by t = {t:.3g} s at the latest); remove one of them"
                problems.append(one.problem(field, message))
    if problems:
        raise ModelError(problems)


def joint_norms(eq: Equations, values: Array) -> list[tuple[Element, float]]:
    """Norm of the given row values by joint (or body), largest first."""
    rows = eq.owned_rows().items()
    norms = [(owner, float(np.linalg.norm(values[own[own < len(values)]]))) for owner, own in rows]
    return sorted(norms, key=lambda pair: -pair[1])


class Run:
    """One simulation: the equations with their strategies, and the march through time in chunks."""

    def __init__(
        self, eq: Equations, integrator: Integrator, acceleration: Acceleration, stabilization: Stabilization
    ) -> None:
        self.eq = eq
        self.integrator, self.acceleration, self.stabilization = integrator, acceleration, stabilization

    def strategies(self) -> dict[str, Any]:
        """What was chosen."""
        return {name: getattr(self, name) for name in ("integrator", "acceleration", "stabilization")}

    def march(
        self,
        y: Array,
        t: float,
        settings: dict[str, Any],
        instants: Array | None,
        events: list[Event],
        info: Info,
        progress: Progress,
        output: FilePath | None = None,
    ) -> Result:
        """March from (t, y) to the end and return the result."""
        t_end, dt = settings["t_end"], settings["dt"]
        eq, work = self.eq, self.eq.work
        self.integrator.begin(t, t_end, dt)
        correction = self.stabilization.bound(eq)
        eq.bind("accelerate", self.stabilization.accelerating(self.acceleration.bound(eq), correction))
        eq.bind("correct", correction)
        eq.bind("step", self.integrator.bound(eq))
        stream = None if output is None else ResultStream(output, StatesInMemory.none(eq, settings), info)
        self.output = Output(eq, t, t_end, dt if not self.integrator.adaptive else None, instants, stream)
        if instants is not None or events:
            dense = self.integrator.interpolation(eq) or Strategy(interpolate_hermite.address, self.output.record)
            eq.bind("interpolate", dense)
        eq.set_state(*eq.split(y))
        for counter in ("steps", "rejected", "evaluations", "factorizations"):
            work[counter] = 0
        work["t"] = t
        if instants is None:
            self.output.append(t, y)
        found: list[EventRecord] = []
        failure: SimulationError | None = None
        began = time.perf_counter()
        try:
            with progress:
                if events:
                    self._march_with_events(events, found, progress)
                else:
                    self._march_freely(progress)
        except KeyboardInterrupt:
            info.completed = False
            info.warnings.append(f"stopped by the user at t = {float(work['t']):.6g} s")
        except SimulationError as error:
            info.completed = False
            failure = error
        except BaseException:
            info.completed = False
            self.output.close(info)
            raise
        info.wall_time = time.perf_counter() - began
        info.steps, info.rejected = int(work["steps"]), int(work["rejected"])
        info.evaluations, info.factorizations = int(work["evaluations"]), int(work["factorizations"])
        if eq.factor_record["dependent"]:
            info.warnings.append(
                "constraints depend on each other (or did at some instant): the motion is unique, but reactions are "
                "those of minimum norm"
            )
        unwritten = self.output.close(info)
        failure = failure or unwritten
        result: Result | None
        if stream is None:
            result = Result(eq, *self.output.arrays(), info, found, settings)
        else:
            result = stream.result(eq, info, found)
        if result is not None:
            for b in eq.tables.bodies:
                if isinstance(b.body, FlexibleBody):
                    info.warnings += b.body.remarks(b.markers, result.angular_velocity(b.body))
        if failure is not None:
            failure.result = result
            raise failure
        assert result is not None
        return result

    def _march_freely(self, progress: Progress) -> None:
        steps = 1
        while True:
            began = time.perf_counter()
            status = self._advance(steps)
            progress.at(float(self.eq.work["t"]))
            if status == DONE:
                return
            self.output.checkpoint()
            if status == FULL:
                self.output.empty()
                continue
            elapsed = max(time.perf_counter() - began, 1e-9)
            wanted = 2 * steps if elapsed < CHUNK_SECONDS else int(steps * CHUNK_SECONDS / elapsed)
            steps = max(1, min(wanted, 1_000_000))

    def _advance(self, steps: int) -> int:
        return self.eq.run(march.address, float(self.eq.work["t"]), self.output.record.address, steps)

    def _march_with_events(self, events: list[Event], found: list[EventRecord], progress: Progress) -> None:
        eq, work = self.eq, self.eq.work
        begin = eq.state(float(work["t"]), work.y)
        before = [e.value(begin) for e in events]
        while True:
            self.output.make_room()
            status = self._advance(1)
            while status == FULL:  # more instants in one step than fit: they belong to it until its events are known
                self.output.grow()
                status = self._advance(0)
            t, state = float(work["t"]), eq.state(float(work["t"]), work.y)
            progress.at(t)
            after = [e.value(state) for e in events]
            crossings = [
                self._locate(e)
                for e, a, b in zip(events, before, after, strict=True)
                if t > self.output.t0 and e.crossed(a, b)
            ]
            for record, terminal, y in sorted(crossings, key=lambda c: c[0].t):
                found.append(record)
                self.output.note(record)
                if terminal:
                    self.output.cut(record.t, y)
                    return
            if status == DONE:
                return
            self.output.checkpoint()
            before = after

    def _locate(self, event: Event) -> tuple[EventRecord, bool, Array]:
        """Where in the last step the event's function is zero."""
        from scipy.optimize import brentq

        eq, work = self.eq, self.eq.work
        t1, y1 = float(work["t"]), work.y.copy()

        def state_at(t: float) -> Array:
            if t < t1:
                eq.call("interpolate", t)
                eq.call("correct", t)
            y = work.y.copy()
            eq.set_state(*eq.split(y1))
            work["t"] = t1
            return y

        def value(t: float) -> float:
            return event.value(eq.state(t, state_at(t) if t > self.output.t0 else self.output.y0))

        t = float(brentq(value, self.output.t0, t1, xtol=1e-13 * max(1.0, abs(t1)), rtol=1e-14))
        y = state_at(t)
        return EventRecord(event.name, t, eq.state(t, y)), event.terminal, y


class Output:
    """Stored states: a buffer that the compiled loop fills, and where its content goes (memory, or a file)."""

    def __init__(
        self,
        eq: Equations,
        t: float,
        t_end: float,
        dt: float | None,
        instants: Array | None,
        stream: ResultStream | None = None,
    ) -> None:
        n = eq.n_q + eq.n_v + eq.n_z
        if stream is not None:
            capacity = stream.block
        elif instants is not None:
            capacity = len(instants)
        elif dt is not None:
            capacity = min(math.ceil((t_end - t) / dt) + 2, max(64, LARGEST_BUFFER_NUMBERS // n))
        else:
            capacity = max(64, BUFFER_NUMBERS // n)
        self._stream = stream
        self._taken: list[tuple[Array, Array]] = []
        self._exact = instants is not None
        self._times, self._states = np.zeros(capacity), np.zeros((capacity, n))
        self.record = Record(MARCH)
        self.record["t_end"], self.record["capacity"] = t_end, capacity
        self.record["times"], self.record["states"] = self._times, self._states
        self.record["t_eval"] = np.zeros(1) if instants is None else instants
        self.record["n_eval"] = 0 if instants is None else len(instants)
        self._last = t
        self.y0 = np.zeros(n)
        self.record["y0"] = self.y0
        for field in ("y1", "rates0", "rates1"):
            self.record[field] = np.zeros(n)

    @property
    def t0(self) -> float:
        """Time before the last step."""
        return float(self.record["t0"])

    def append(self, t: float, y: Array) -> None:
        """Store a state from outside the loop."""
        if self.record["stored"] == self.record["capacity"]:
            self.empty()
        k = int(self.record["stored"])
        self._times[k], self._states[k] = t, y
        self.record["stored"] = k + 1

    def empty(self) -> None:
        """Take the stored states out of the buffer."""
        k = int(self.record["stored"])
        if self._stream is None:
            self._taken.append((self._times[:k].copy(), self._states[:k].copy()))
        else:
            self._last = float(self._times[k - 1]) if k else self._last
            with self._writing():
                self._stream.append(self._times[:k], self._states[:k])
        self.record["stored"] = 0

    def make_room(self) -> None:
        """Keep half of the buffer free."""
        if 2 * self.record["stored"] > self.record["capacity"]:
            self.empty()

    def grow(self) -> None:
        """Make the buffer twice as large."""
        self._times = np.concatenate([self._times, np.zeros_like(self._times)])
        self._states = np.concatenate([self._states, np.zeros_like(self._states)])
        self.record["times"], self.record["states"] = self._times, self._states
        self.record["capacity"] = len(self._times)

    def checkpoint(self) -> None:
        """From time to time, make sure that a file has all that was computed."""
        if self._stream is not None and self._stream.due:
            self.empty()
            with self._writing():
                self._stream.checkpoint()

    def note(self, event: EventRecord) -> None:
        """Note an event in the file."""
        if self._stream is not None:
            with self._writing():
                self._stream.note(event)

    def close(self, info: Info) -> SimulationError | None:
        """End the file; returns what went wrong with that."""
        if self._stream is None:
            return None
        problem: SimulationError | None = None
        try:
            self.empty()
        except SimulationError as error:
            problem, info.completed = error, False
        try:  # the stream has rows of its own that may still have room
            with self._writing():
                self._stream.finish(info)
        except SimulationError as error:
            problem, info.completed = problem or error, False
        self._stream.close()
        return problem

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Errors of the file, such as a full disk, as errors of the run."""
        assert self._stream is not None
        try:
            yield
        except (OSError, RuntimeError) as error:
            message = f"could not be written: {reason(error)}; the rows before are in it"
            raise SimulationError(message, self._last, f"output {self._stream.name!r}") from error

    def cut(self, t: float, y: Array) -> None:
        """Forget what lies after t; where every step is stored, end with (t, y)."""
        k = int(self.record["stored"])
        keep = int(np.searchsorted(self._times[:k], t, side="right" if self._exact else "left"))
        self.record["stored"] = keep
        if not self._exact:
            self.append(t, y)

    def arrays(self) -> tuple[Array, Array]:
        """All stored instants and states."""
        k = int(self.record["stored"])
        if not self._taken:
            return self._times[:k], self._states[:k]
        self.empty()
        return np.concatenate([t for t, _ in self._taken]), np.concatenate([y for _, y in self._taken])
