"""Live: a model that runs in the solver's process while one looks at it, changes it and pulls at it. No Qt here.

Window and process take turns: the process shows a `Frame` and goes on, and shows the next one when the window has
answered with `Orders`. So at most one message is under way in each direction, however slow either of them is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

import mbframe as mb

from ..document.runs import RunSettings
from ..solving.process import Failure
from ..solving.tasks import Model
from .hands import Hands, Spring

FRAME: Final = 1.0 / 60.0
"""Seconds between two pictures at least, and of motion between two instants at most while it runs in real time."""
BUSY: Final = 1.0 / 20.0
"""Seconds of computing after which a picture is due, also of a model that is too slow for real time."""
PATIENCE: Final = 0.5
"""Seconds between two looks whether there is something new while it pauses."""
JUDGED: Final = 0.5
"""Seconds over which the real-time factor is taken."""
MOST_NUMBERS: Final = 40_000_000
"""Of states that are kept, which is 320 MB; what is seen after that is not."""


@dataclass(frozen=True)
class Orders:
    """What the window answers to a frame; None leaves all as it is."""

    factor: float | None = None
    paused: bool | None = None
    steps: int = 0
    again: bool = False
    inputs: dict[str, float] = field(default_factory=dict)
    parameters: dict[tuple[str, str], Any] = field(default_factory=dict)
    spring: Spring | None = None
    let_go: bool = False
    watched: tuple[str, ...] | None = None
    end: bool = False


@dataclass(frozen=True)
class Frame:
    """What is seen at an instant. `rate` is the time in the motion per time on the wall, 0 while it pauses."""

    t: float
    state: mb.State
    rate: float
    inputs: dict[str, float]
    values: dict[str, float]
    force: float | None = None
    """Of the spring that pulls, N."""
    refused: tuple[str, ...] = ()
    began_again: bool = False


@dataclass(frozen=True)
class LiveOutcome:
    """How it ended: the file with what was seen, and why, if it failed."""

    path: str
    t: float
    failure: Failure | None = None


@dataclass(frozen=True)
class LiveTask:
    """Runs a model until it is told to end; what was seen is written to a file then."""

    model: Model
    settings: RunSettings
    path: str
    factor: float = 1.0
    watched: tuple[str, ...] = ()

    def run(self, report: Any) -> LiveOutcome:
        session = _Session(self, report)
        try:
            session.run()
        except mb.MbframeError as error:
            seen: Any = getattr(error, "result", None) or session.simulation.result()
            return session.outcome(seen, None if session.ending else Failure.of(error))
        except KeyboardInterrupt:
            if not session.ending:  # the window has gone, or wants the process for something else
                raise
        return session.outcome(session.simulation.result(), None)


class _Session:
    """The simulation, the clock on the wall, and what the window wants."""

    def __init__(self, task: LiveTask, report: Any) -> None:
        self._task, self._report = task, report
        strategies = task.settings.strategies()
        self._hands = Hands(task.model.system())
        self.simulation = mb.Simulation(self._hands.system, progress=self._look, **strategies)
        self._dt = strategies.get("dt") if not _adaptive(strategies) else None
        self._factor, self._paused, self.ending = task.factor, False, False
        self._watched = tuple(name for name in task.watched)
        self._orders: list[Orders] = []
        self._refused: list[str] = []
        self._again = False
        bodies = self.simulation.system.bodies
        self._width = 14 * len(bodies) + 8
        self._rebase()

    # --- the clock ----------------------------------------------------------------------------------------------------

    def _rebase(self) -> None:
        """The motion and the wall are together again, here and now."""
        self._wall, self._base = time.perf_counter(), self.simulation.time
        self._judged, self._judged_t, self._rate = self._wall, self._base, 0.0

    def _judge(self) -> None:
        now = time.perf_counter()
        if now - self._judged >= JUDGED:
            self._rate = (self.simulation.time - self._judged_t) / (now - self._judged)
            self._judged, self._judged_t = now, self.simulation.time

    # --- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Go on until it is told to end."""
        answered, shown = True, 0.0
        while not self.ending:
            if not self._paused:
                self._advance()
            due = shown + FRAME - time.perf_counter()
            if answered and (due <= 0.0 or self._paused):
                self._report.show(self._frame())
                answered, shown = False, time.perf_counter()
                due = FRAME
            patience = PATIENCE if self._paused else max(0.0, min(due, FRAME))
            self._orders += self._report.heard(patience)
            while self._orders:
                answered = True
                self._obey(self._orders.pop(0))

    def _advance(self) -> None:
        """March to where the clock is, or as far as one gets until a picture is due."""
        sim, began = self.simulation, time.perf_counter()
        target = self._base + self._factor * (began - self._wall)
        while sim.time < target and not self.ending:
            self._hands.act(sim)
            self._march(min(target, sim.time + self._slice()))
            self._limit_memory()
            if time.perf_counter() - began > BUSY:
                self._wall, self._base = time.perf_counter(), sim.time  # it does not keep up: nothing is made up for
                return

    def _slice(self) -> float:
        """How long the motion goes on undisturbed, s."""
        return self._hands.hold if self._hands.spring is not None else max(FRAME, FRAME * self._factor)

    def _march(self, to: float) -> None:
        sim = self.simulation
        if self._dt is None:
            sim.advance(to=to)
        else:
            sim.step(max(1, round((to - sim.time) / self._dt)))

    def _look(self, _: float) -> None:
        """Within a long march: whether it is to end."""
        self._orders += self._report.heard()
        if any(orders.end for orders in self._orders):
            self.ending = True
            raise KeyboardInterrupt

    def _limit_memory(self) -> None:
        sim = self.simulation
        if sim.recording and sim.steps * self._width > MOST_NUMBERS:
            sim.recording = False
            self._refused.append(f"From t = {sim.time:.4g} s on what is seen is not kept: it is too much for memory.")

    # --- orders -------------------------------------------------------------------------------------------------------

    def _obey(self, orders: Orders) -> None:
        sim = self.simulation
        for name, value in orders.inputs.items():
            self._try(partial(sim.inputs.__setitem__, name, value))
        for key, value in orders.parameters.items():
            self._try(partial(sim.parameters.__setitem__, key, value))
        if orders.watched is not None:
            self._watched = orders.watched
        if orders.let_go:
            self._hands.let_go(sim)
        if orders.spring is not None:
            self._try(partial(self._hands.take, sim, orders.spring))
        if orders.again:
            self._hands.let_go(sim)
            self._again = self._try(sim.reset)
            self._rebase()
        if orders.factor is not None:
            self._factor = orders.factor
            self._rebase()
        if orders.paused is not None:
            self._paused = orders.paused
            self._rebase()
        if orders.steps:
            self._hands.act(sim)
            sim.step(orders.steps)
            self._rebase()
        self.ending |= orders.end

    def _try(self, change: Callable[[], object]) -> bool:
        """Change something; what is refused is told and leaves all as it was."""
        try:
            change()
        except mb.ModelError as error:
            self._refused.append("; ".join(problem.message for problem in error.problems) or str(error))
            return False
        return True

    # --- what is seen -------------------------------------------------------------------------------------------------

    def _frame(self) -> Frame:
        sim = self.simulation
        self._judge()
        values = {}
        for name in self._watched:
            try:
                values[name] = float(np.asarray(sim.quantity(name)))
            except (mb.ModelError, TypeError, ValueError):  # one that has no value here
                values[name] = float("nan")
        inputs = {name: value for name, value in sim.inputs.items() if not self._hands.owns(name)}
        refused, again = tuple(self._refused), self._again
        self._refused, self._again = [], False
        rate = 0.0 if self._paused else self._rate
        return Frame(sim.time, sim.state, rate, inputs, values, self._hands.force, refused, again)

    def outcome(self, result: mb.Result, failure: Failure | None) -> LiveOutcome:
        """Write what was seen, without the hands that took nothing."""
        self._hands.without_idle(result).save(self._task.path)
        return LiveOutcome(self._task.path, float(result.t[-1]), failure)


def _adaptive(strategies: dict[str, Any]) -> bool:
    integrator = strategies.get("integrator")
    return (integrator is None and "dt" not in strategies) or bool(getattr(integrator, "adaptive", False))
