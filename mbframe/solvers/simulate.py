"""The simulation: from a system and a choice of strategies to a result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bodies.formulations import Formulation
from ..equations.equations import Equations, Strategy
from ..equations.workspace import Record
from ..errors import ModelError, Problem, SimulationError
from ..kernels.march import MARCH, interpolate_hermite, march
from ..kernels.workspace import DONE, FULL
from ..parameters import Element
from ..results import EventRecord, Info, Result
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
    progress
        True for a progress bar, or a function that is called with the current time.

    Returns
    -------
    Result
        Also after Ctrl-C, with what was computed until then. A failure raises `SimulationError`, which carries the
        time, the culprit and the partial result.
    """
    chosen = integrator or (RungeKutta4() if dt is not None else DormandPrince(rtol=1e-6))
    kinds = {
        "system": (system, System),
        "initial": (initial, State),
        "formulation": (formulation, Formulation),
        "acceleration": (acceleration, Acceleration),
        "stabilization": (stabilization, Stabilization),
        "integrator": (chosen, Integrator),
    }
    _check_kinds(kinds)
    begin = initial.checked(system.bodies) if initial is not None else None
    start = begin.t if begin is not None else 0.0
    instants = _checked(start, t_end, dt, chosen, t_eval, events)
    eq = Equations(system, formulation)
    info = Info(warnings=list(eq.notices))
    y, moved = assembled(eq, begin or eq.described())
    info.warnings += moved
    refuse_ambiguous_friction(eq, start, y)
    run = Run(eq, chosen, acceleration or AugmentedFormulation(), stabilization or DirectCorrection(tolerance=1e-10))
    info.settings = run.settings(formulation, dt, t_end)
    looked_for = [Event.of(e) for e in events]
    return run.march(y, start, float(t_end), dt, instants, looked_for, info, reporter(progress, start, float(t_end)))


def _check_kinds(arguments: dict[str, tuple[Any, type]]) -> None:
    """Refuse objects of a wrong kind, all at once. None is left out: it stands for a default."""
    problems = []
    for field, (value, kind) in arguments.items():
        if isinstance(value, kind) or (value is None and field != "system"):
            continue
        remedy = "pass such an object"
        if isinstance(value, type) and issubclass(value, kind):
            remedy = f"call the class: {value.__name__}()"
        message = f"found {value!r}; allowed is an object of type {kind.__name__}; {remedy}"
        problems.append(Problem("simulate", field, message))
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
        elif number(t_end) and (instants[0] < start or instants[-1] > t_end):
            found = f"instants from {instants[0]:g} to {instants[-1]:g} s"
            refuse("t_eval", f"found {found}; allowed is {start:g} to {t_end:g} s; change them or t_end")
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


def extent(eq: Equations, state: State) -> float:
    """How large the model is, m: the longest side of a box around its bodies and markers."""
    positions = np.array([m.position for m in state.motions.values()])
    points = np.concatenate([positions, eq.tables.markers.position])
    return float(np.max(np.ptp(points, axis=0), initial=0.0)) or 1.0


def refuse_ambiguous_friction(eq: Equations, t: float, y: Array) -> None:
    """Friction needs the reaction of its joint: refuse it where dependent constraints leave that reaction open."""
    frictions: list[Any] = [f.force for f in eq.tables.forces if f.force.reactive]
    if not frictions:
        return
    eq.accelerate(t, *eq.split(y))
    if not eq.factor_record["regularized"]:
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

    def settings(self, formulation: Formulation | None, dt: float | None, t_end: float) -> dict[str, Any]:
        """What was chosen, in words."""
        strategies = {name: repr(getattr(self, name)) for name in ("integrator", "acceleration", "stabilization")}
        return {"t_end": float(t_end), "dt": dt, "formulation": repr(formulation) if formulation else None} | strategies

    def march(
        self,
        y: Array,
        t: float,
        t_end: float,
        dt: float | None,
        instants: Array | None,
        events: list[Event],
        info: Info,
        progress: Progress,
    ) -> Result:
        """March from (t, y) to t_end and return the result."""
        eq, work = self.eq, self.eq.work
        self.integrator.begin(t, t_end, dt)
        eq.bind("accelerate", self.acceleration.bound(eq))
        eq.bind("correct", self.stabilization.bound(eq))
        eq.bind("step", self.integrator.bound(eq))
        self.output = Output(eq, t, t_end, dt if not self.integrator.adaptive else None, instants)
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
        info.wall_time = time.perf_counter() - began
        info.steps, info.rejected = int(work["steps"]), int(work["rejected"])
        info.evaluations, info.factorizations = int(work["evaluations"]), int(work["factorizations"])
        if eq.factor_record["dependent"]:
            info.warnings.append(
                "constraints depend on each other (or did at some instant): the motion is unique, but reactions are "
                "those of minimum norm"
            )
        result = Result(eq, *self.output.arrays(), info, found)
        if failure is not None:
            failure.result = result
            raise failure
        return result

    def _march_freely(self, progress: Progress) -> None:
        steps = 1
        while True:
            began = time.perf_counter()
            status = self._advance(steps)
            progress.at(float(self.eq.work["t"]))
            if status == DONE:
                return
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
            status = self._advance(1)
            if status == FULL:
                self.output.empty()
                continue
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
                if terminal:
                    self.output.cut(record.t, y)
                    return
            if status == DONE:
                return
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
    """Stored states: a buffer that the compiled loop fills, and what was taken out of it."""

    def __init__(self, eq: Equations, t: float, t_end: float, dt: float | None, instants: Array | None) -> None:
        n = eq.n_q + eq.n_v + eq.n_z
        if instants is not None:
            capacity = len(instants)
        elif dt is not None:
            capacity = min(math.ceil((t_end - t) / dt) + 2, max(64, LARGEST_BUFFER_NUMBERS // n))
        else:
            capacity = max(64, BUFFER_NUMBERS // n)
        self._taken: list[tuple[Array, Array]] = []
        self._exact = instants is not None
        self._times, self._states = np.zeros(capacity), np.zeros((capacity, n))
        self.record = Record(MARCH)
        self.record["t_end"], self.record["capacity"] = t_end, capacity
        self.record["times"], self.record["states"] = self._times, self._states
        self.record["t_eval"] = np.zeros(1) if instants is None else instants
        self.record["n_eval"] = 0 if instants is None else len(instants)
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
        self._taken.append((self._times[:k].copy(), self._states[:k].copy()))
        self.record["stored"] = 0

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
