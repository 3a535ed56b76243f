"""The march through time: the compiled loop in chunks, with progress, events and Ctrl-C between them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..disk.atomic import FilePath
from ..equations.equations import Equations, Strategy
from ..equations.redundancy import kept_gap, listed, lost_beside_heavy, open_dependency
from ..errors import SimulationError
from ..files.result_files import ResultStream
from ..forces.contact import SphereSphereContact
from ..forces.friction import Friction
from ..joints.library import ConstantVelocityJoint
from ..kernels import dynamics
from ..kernels.march import interpolate_hermite, march
from ..kernels.workspace import DONE, DYNAMICS, FULL, POSITION
from ..results import EventRecord, Info, Result, alike_bodies
from ..stored_states import StatesInMemory
from . import balance
from .acceleration import Acceleration, UdwadiaKalaba
from .events import Event
from .integrators import Integrator
from .interrupts import passed_on
from .output import Output
from .progress import Progress
from .schedule import Schedule
from .stabilization import Stabilization

Array = NDArray[np.float64]

INSIDE = (0.25, 0.5, 0.75)  # parts of a step at which events are looked at
MOST_CROSSINGS = 100  # zeros of an event in a step, of at most 256 parts, beyond which not all may be seen
GAP_SAMPLES = 8  # states of a run without corrections at which redundant joints are compared
WIDE = 1e-2  # of the model's size, or rad: a joint that is open by more is none, whatever its energy says
ROUNDING = 1e-13  # of the model's size: smaller gaps between them are none
LARGEST_TURN = 1.0  # rad in a step: quaternions of RungeKutta4 are then off by 5e-4 a step
CHUNK_SECONDS = 0.05  # how long the compiled loop runs before it comes back: Ctrl-C, progress, cancelling


class Run:
    """One simulation: the equations with their strategies, and the march through time in chunks."""

    def __init__(
        self,
        eq: Equations,
        integrator: Integrator,
        acceleration: Acceleration,
        stabilization: Stabilization,
        schedule: Schedule | None = None,
    ) -> None:
        self.eq, self.schedule = eq, schedule
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
        self.integrator.heed(self.schedule)
        correction = self.stabilization.bound(eq)
        eq.bind("accelerate", self.stabilization.accelerating(self.acceleration.bound(eq), correction))
        eq.bind("correct", correction)
        if self.schedule is not None:
            self.schedule.begin(eq, t, y, t_end)
        eq.bind("step", self.integrator.bound(eq))
        eq.set_state(*eq.split(y))
        if eq.n_followers:
            eq.accept(t)
        if instants is not None and instants[0] > t:
            info.start = [t, *work.y.tolist()]
        stream = None if output is None else ResultStream(output, StatesInMemory.none(eq, settings), info)
        flexible, sizes = any(isinstance(body, FlexibleBody) for body in eq.system.bodies), None
        if flexible and instants is not None:
            from .flexible_range import watched_sizes  # late: it loads finite elements and SciPy

            sizes = watched_sizes(eq)
        self.output = Output(eq, t, t_end, dt if not self.integrator.adaptive else None, instants, stream, sizes)
        if instants is not None or events:
            dense = self.integrator.interpolation(eq) or Strategy(interpolate_hermite.address, self.output.record)
            eq.bind("interpolate", dense)
        for counter in ("steps", "rejected", "evaluations", "factorizations", "gap"):
            work[counter] = 0
        work["t"] = t
        if instants is None:
            self.output.append(t, work.y)
        self.output.look(t, work.y)
        found: list[EventRecord] = []
        self.swinging: dict[str, float] = {}
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
            if passed_on():
                self.output.close(info)
                raise
            info.warnings.append(f"stopped by the user at t = {float(work['t']):.6g} s")
        except SimulationError as error:
            info.completed = False
            failure = error
        except BaseException:
            info.completed = False
            self.output.close(info)
            raise
        info.wall_time = time.perf_counter() - began
        info.warnings += [
            f"event {name!r}: it passes zero so often in the step from t = {begin:.6g} s that others may be missed; "
            + ("bound the steps with max_step= of the integrator" if self.integrator.adaptive else "reduce dt")
            for name, begin in self.swinging.items()
        ]
        info.steps, info.rejected = int(work["steps"]), int(work["rejected"])
        info.evaluations, info.factorizations = int(work["evaluations"]), int(work["factorizations"])
        if eq.factor_record["dependent"]:
            info.warnings += self._dependent(*self.output.samples())
            info.warnings += self._gaps(*self.output.samples())
        held = self.stabilization.corrects
        if not held:
            info.warnings += self._opened(*self.output.samples())
        info.warnings += balance.remarks(eq, *self.output.samples(), self.integrator, held)
        if dt is not None and not self.integrator.adaptive and eq.system.dimension == 3:
            info.warnings += self._whirled(dt, *self.output.samples())
        unwritten = self.output.close(info)
        failure = failure or unwritten
        result: Result | None
        if stream is None:
            result = Result(eq, *self.output.arrays(), info, found, settings)
        else:
            result = stream.result(eq, info, found)
        if result is not None:
            if flexible:
                from .flexible_range import run_remarks

                info.warnings += run_remarks(eq, result, self.output.seen())
            for joint in eq.system.joints:
                if isinstance(joint, ConstantVelocityJoint):
                    axes = (result.rotation_matrix(marker) for marker in (joint.i, joint.j))
                    info.warnings += joint.remarks(result.t, *axes)
            for force in eq.system.forces:
                if isinstance(force, SphereSphereContact):
                    centres = (result.position(marker) for marker in (force.i, force.j))
                    info.warnings += force.judged(result.t, *centres)
                if isinstance(force, Friction):
                    samples = self.output.samples()
                    reactions = eq.reactions(force.joint.name, *samples, Result(eq, *samples, info).multipliers)
                    info.warnings += force.judged(*reactions, float(eq.work.row_sizes.max()))
        if failure is not None:
            failure.result = result
            for warning in info.warnings:  # which may tell why, and would stay unseen
                failure.add_note(f"Warning of this run: {warning}")
            raise failure
        assert result is not None
        return result

    def _dependent(self, t: Array, y: Array) -> list[str]:
        """What to say about equations that could not be told apart, from some states of the motion."""
        for k in range(0, len(t), max(1, len(t) // GAP_SAMPLES)):
            joints = lost_beside_heavy(self.eq, t[k], y[k])
            if joints is None:
                break
            if joints:
                other = (
                    "acceleration=mb.AugmentedFormulation() and "
                    if isinstance(self.acceleration, UdwadiaKalaba)
                    else ""
                )
                return [
                    f"masses differ so much that the equations of {listed(joints)} can hardly be told from dependent "
                    f"ones: digits of motion and reactions are lost; use {other}formulation=mb.NewtonEuler(), or "
                    "masses that differ by less than 1e9"
                ]
        return [
            "constraints depend on each other (or did at some instant): the motion is unique, but reactions are those "
            "of minimum norm"
        ]

    def _gaps(self, t: Array, y: Array) -> list[str]:
        """What to say about redundant joints that do not fit exactly, from some states of the motion."""
        gap = float(self.eq.work["gap"])
        some = slice(-1, None) if self.stabilization.corrects else slice(None, None, max(1, len(t) // GAP_SAMPLES))
        for instant, state in zip(t[some], y[some], strict=True):
            self.eq.set_state(*self.eq.split(state))
            self.eq.run(dynamics.evaluate.address, float(instant), n=DYNAMICS)  # without matrices
            if not self.stabilization.corrects:
                gap = max(gap, open_dependency(self.eq))
        return [kept_gap(self.eq, gap)] if len(t) and gap > ROUNDING else []

    def _opened(self, t: Array, y: Array) -> list[str]:
        """What to say of joints that have drifted apart in a run without corrections, from some of its states."""
        eq, widest, said = self.eq, WIDE, ""
        for instant, state in zip(t, y, strict=True):
            if not np.isfinite(state).all():
                break
            eq.set_state(*eq.split(state))
            eq.run(dynamics.evaluate.address, float(instant), n=POSITION)
            gaps = np.abs(eq.work.residual / eq.work.row_sizes)
            if gaps.max(initial=0.0) > widest:
                row = int(np.argmax(gaps))
                widest = float(gaps[row])
                said = f"the equations of {eq.row_label(row)} are open by {widest:.2g} at t = {instant:.6g} s"
        remedy = "use stabilization=mb.DirectCorrection(), or smaller steps"
        return [f"{said} (of the model's size, or rad), since nothing corrects their drift: {remedy}"] if said else []

    def _whirled(self, dt: float, t: Array, y: Array) -> list[str]:
        """What to say of bodies that turn too far in a step for any formula, though their energy may be kept."""
        notes = []
        q, v, _ = self.eq.split(y)
        turned: dict[int, float] = {}
        for alike in alike_bodies(self.eq.tables.bodies):
            bodies = [self.eq.tables.bodies[k] for k in alike]
            rows = np.concatenate([q[:, b.q_slice] for b in bodies])
            _, spins = bodies[0].formulation.twists(rows, np.concatenate([v[:, b.v_slice] for b in bodies]))
            squares = (spins * spins).sum(axis=1).reshape(len(alike), -1).max(axis=1, initial=0.0)
            turned |= zip(alike, (dt * np.sqrt(squares)).tolist(), strict=True)
        for k, b in enumerate(self.eq.tables.bodies):
            turn = turned[k]
            if LARGEST_TURN < turn < np.inf:
                notes.append(
                    f"{b.body} turns by up to {turn:.2g} rad in a step of {dt:g} s, which falsifies its angles; reduce "
                    f"dt below {0.5 * dt * LARGEST_TURN / turn:.1g} s"
                )
        return notes

    def _march_freely(self, progress: Progress) -> None:
        steps = 1
        while True:
            began = time.perf_counter()
            status = self._advance(steps)
            progress.at(float(self.eq.work["t"]))
            self.output.look(float(self.eq.work["t"]), self.eq.work.y)
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
        steps = self.output.watching(steps)
        status = self.eq.run(
            march.address, float(self.eq.work["t"]), self.output.record.address, steps, before=self.output.before
        )
        for b in self.eq.tables.bodies:
            if isinstance(b.body, FlexibleBody):
                modal, _ = b.formulation.deformations(self.eq.work.q[None, b.q_slice], self.eq.work.v[None, b.v_slice])
                if message := b.body.unbounded(modal[0]):
                    raise SimulationError(message, float(self.eq.work["t"]), str(b.body))
        return status

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
            crossings = self._crossings(events, before, after) if t > self.output.t0 else []
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

    def _crossings(
        self, events: list[Event], before: list[float], after: list[float]
    ) -> list[tuple[EventRecord, bool, Array]]:
        """All zeros of the events' functions in the last step."""
        eq, t0, t1 = self.eq, self.output.t0, float(self.eq.work["t"])
        times = [t0, *(t0 + part * (t1 - t0) for part in INSIDE), t1]
        inside = [eq.state(t, self._between(t)) for t in times[1:-1]]
        found = []
        for event, a, b in zip(events, before, after, strict=True):

            def value(t: float, event: Event = event) -> float:
                return event.value(eq.state(t, self._between(t)))

            values = [a, *(event.value(state) for state in inside), b]
            crossings = event.crossings(times, values, value)
            if len(crossings) > MOST_CROSSINGS:
                self.swinging.setdefault(event.name, t0)
            found += [self._locate(event, *interval) for interval in crossings]
        return [one for one in found if one is not None]

    def _between(self, t: float) -> Array:
        """The state at an instant inside the last step, to look at; it is not corrected."""
        eq, work = self.eq, self.eq.work
        t1, y1 = float(work["t"]), work.y.copy()
        if self.integrator.implicit:  # whose own interpolation is a step
            eq.apply(Strategy(interpolate_hermite.address, self.output.record), t)
        else:
            eq.call("interpolate", t)
        y = work.y.copy()
        eq.set_state(*eq.split(y1))
        work["t"] = t1
        return y

    def _locate(self, event: Event, begin: float, end: float) -> tuple[EventRecord, bool, Array] | None:
        """Where in an interval of the last step the event's function is zero; None if it is not, more closely seen."""
        from scipy.optimize import brentq

        eq, work = self.eq, self.eq.work
        t1, y1 = float(work["t"]), work.y.copy()

        def state_at(t: float) -> Array:
            if t <= self.output.t0:
                return self.output.y0.copy()
            if t < t1:
                eq.call("interpolate", t)
                eq.call("correct", t)
                eq.accept(t)
            y = work.y.copy()
            eq.set_state(*eq.split(y1))
            work["t"] = t1
            return y

        def value(t: float) -> float:
            return event.value(eq.state(t, state_at(t)))

        function = value
        if not event.crossed(value(begin), value(end)):  # a zero so near to an end that the correction moves it across
            if self.integrator.implicit:
                begin, end = self.output.t0, t1
                if not event.crossed(value(begin), value(end)):
                    return None
            else:
                function = lambda t: event.value(eq.state(t, self._between(t) if t < t1 else y1))  # noqa: E731
        t = float(brentq(function, begin, end, xtol=1e-13 * max(1.0, abs(t1)), rtol=1e-14))
        y = state_at(t)
        return EventRecord(event.name, t, eq.state(t, y)), event.terminal, y
