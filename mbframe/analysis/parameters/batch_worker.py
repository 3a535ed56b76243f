"""One thread of a batch: an open run whose parameters and start are replaced, again and again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ...bodies.flexible import FlexibleBody
from ...equations.changes import UnchangeableError, rewrite
from ...errors import MbframeError, SimulationError
from ...forces.base import ForceElement
from ...parameters import Element
from ...quantities import Catalogue, Quantity, catalogue, select
from ...results import Info, Result
from ...solvers import balance, verdict
from ...solvers.integrators import BDF
from ...solvers.interrupts import interrupts_passed_on
from ...solvers.prepare import Prepared, first_state, prepared
from ...solvers.progress import Progress
from ...solvers.run import Run
from ...solvers.simulation import is_heeded
from ...state import State
from ...stored_states import StatesInMemory
from ...system import System
from .number import Number

Array = NDArray[np.float64]

TOGETHER: Final = 32
"""Runs whose energies are judged together: arrays of some 2,000 states are no longer dear because of their number."""


class CancelledError(Exception):
    """Nobody waits for this batch any longer."""


class Watch(Progress):
    """Ends a run in whose results nobody is interested any longer."""

    def __init__(self, unwanted: Callable[[], bool]) -> None:
        self._unwanted = unwanted

    def at(self, t: float) -> None:
        if self._unwanted():
            raise CancelledError


@dataclass(frozen=True)
class Outcome:
    """One run: values of each quantity, what went wrong, and what there is to say (more until the worker has ended)."""

    values: dict[str, Array]
    failure: str
    warnings: list[str]


class Worker:
    """Runs of a system of its own, one after the other.

    Values that stand in rows of the tables are written there, and the run begins again from a snapshot of its beginning
    (`equations.changes`, `Run.restart`); what decides on the structure of the equations needs a run of its own, which
    gives the same at a higher price.
    """

    def __init__(
        self, system: System, numbers: Sequence[Number], quantities: Sequence[str], asked: Mapping[str, Any]
    ) -> None:
        self._given, self._numbers, self._names, self._asked = system, numbers, quantities, asked
        owners = [number.owner(system) for number in numbers]
        # Own states of elements may begin with what a parameter says; joints may ask for another first state.
        fixed = any(isinstance(owner, ForceElement) and owner.states for owner in owners)
        self._starts_anew = not all(o is system or isinstance(o, ForceElement) or _is_body(system, o) for o in owners)
        ready = _ready(system.as_described(), asked, asked["initial"])
        self.first: list[Quantity] = select(_at_start(ready), quantities)
        """The quantities where runs begin."""
        keeps_open = not fixed and not isinstance(asked["integrator"], BDF)
        self._open = _Open(ready, numbers) if keeps_open else None

    def compute(self, values: Sequence[Any], start: State | None, unwanted: Callable[[], bool]) -> Outcome:
        """One run with these values of the parameters, from a state if one is given."""
        watch = Watch(unwanted)
        with interrupts_passed_on():
            if self._open is not None:
                try:
                    anew = self._starts_anew or start is not None
                    return self._open.compute(values, start or self._asked["initial"], anew, self._names, watch)
                except UnchangeableError:
                    pass
                except MbframeError as error:
                    return _failed(error)
            return self._on_its_own(values, start, watch)

    def finish(self) -> None:
        """Say what is still to be said about runs."""
        if self._open is not None:
            self._open.judge()

    def _on_its_own(self, values: Sequence[Any], start: State | None, watch: Watch) -> Outcome:
        system = self._given.as_described()
        try:
            for number, value in zip(self._numbers, values, strict=True):
                number.applied(system, value)
            ready = _ready(system, self._asked, start or self._asked["initial"])
            ready.begin()
        except MbframeError as error:
            return _failed(error)
        run = ready.run
        outcome = _marched(run, _Latest(StatesInMemory.none(run.eq, run.settings)), self._names, watch)
        outcome.warnings[:0] = dict.fromkeys([*run.info.warnings, *run.doubts(run.eq)])
        return outcome


class _Open:
    """A run that begins again with other values."""

    def __init__(self, ready: Prepared, numbers: Sequence[Number]) -> None:
        self._run, self._numbers, self._began = ready.run, numbers, (ready.start, ready.y)
        self._said, self._moved = list(ready.info.warnings), set(ready.moved)
        ready.begin()
        self._schedule_said = ready.info.warnings[len(self._said) :]
        self._first = self._run.snapshot()
        self._system: System = self._run.eq.system
        self._states = StatesInMemory.none(self._run.eq, self._run.settings)
        self._latest = _Latest(self._states)
        self._unjudged: list[tuple[Sequence[Any], balance.Course, Outcome]] = []
        flexible = any(isinstance(body, FlexibleBody) for body in self._system.bodies)
        self._alone = flexible or any(number.parameter == "gravity" for number in numbers)

    def compute(
        self, values: Sequence[Any], start: State | None, anew: bool, names: Sequence[str], watch: Watch
    ) -> Outcome:
        run, eq = self._run, self._run.eq
        changed = self._assigned(values)
        (t, y), said = self._began, self._said
        if anew:
            self._write(changed)
            begin = None if start is None else start.checked(self._system.bodies)
            y, notes = first_state(eq, t, begin)
            said = [note for note in said if note not in self._moved] + notes
        run.info.warnings = list(said)
        run.restart(self._first, t, y)
        self._write(changed)
        if any(is_heeded(element, field) for element, field in changed):
            run.look_again()  # and what there is to say about functions is said again
        else:
            run.info.warnings += self._schedule_said
        if any(_is_body(self._system, element) for element, _ in changed):
            self._states.mass_properties = [b.body.mass_properties() for b in eq.tables.bodies]
        self._states.gravity = eq.tables.gravity
        outcome = _marched(run, self._latest, names, watch)
        outcome.warnings[:0] = dict.fromkeys([*run.info.warnings, *run.doubts(eq, same=False)])
        self._account(values, outcome)
        return outcome

    def _account(self, values: Sequence[Any], outcome: Outcome) -> None:
        """Note what is needed to tell whether the energies of a run balance: that is seen for many runs together."""
        eq, (t, y) = self._run.eq, self._run.output.samples()
        if len(t) < 2:
            return
        try:
            if self._alone or not np.isfinite(y).all():
                outcome.warnings.extend(self._run.balance(eq))
                return
            self._unjudged.append((values, balance.Course.of(eq, t, y, self._states.mass_properties), outcome))
        except MbframeError:  # of a user's energy: that of the motion stays unknown
            return
        if len(self._unjudged) == TOGETHER:
            self.judge()

    def judge(self) -> None:
        """Say of which runs the energies do not balance."""
        if self._unjudged:
            courses = [course for _, course, _ in self._unjudged]
            for k in balance.doubtful(self._run.eq, courses, self._run.integrator):
                values, course, outcome = self._unjudged[k]
                self._write(self._assigned(values))
                outcome.warnings.extend(self._run.balance(self._run.eq, (course.t, course.y)))
        self._unjudged = []

    def _assigned(self, values: Sequence[Any]) -> list[tuple[Element, str]]:
        """Give the elements their values; in what results are computed from, too."""
        changed = []
        for number, value in zip(self._numbers, values, strict=True):
            for element, fields in number.changes(self._system, value):
                element.update(**fields)
                number.owner(self._states.snapshot.described).update(**fields)
                changed += [(element, field) for field in fields]
        return changed

    def _write(self, changed: Sequence[tuple[Element, str]]) -> None:
        for element, field in changed:
            rewrite(self._run.eq, element, field)


def _at_start(ready: Prepared) -> Result:
    """The result that has the first state alone."""
    eq = ready.run.eq
    ready.run.bind(eq)
    return Result(eq, np.array([ready.start]), ready.y[None], Info(), settings=ready.settings)


def _ready(system: System, asked: Mapping[str, Any], start: State | None) -> Prepared:
    """A run of one system; strategies belong to one run at a time."""
    own = {name: copy.copy(asked[name]) for name in ("integrator", "acceleration", "stabilization")}
    return prepared("batch", system, **{**asked, **own, "initial": start})


def _marched(run: Run, latest: _Latest, names: Sequence[str], watch: Watch) -> Outcome:
    """March to the end and take what was asked for."""
    failure, values, warnings = "", {}, []
    try:
        run.advance(run.settings["t_end"], watch)
    except SimulationError as error:
        failure = str(error)
    latest.become(*run.output.arrays(), run.info)
    try:
        if verdict.asks_for_all(run.eq.system):
            warnings += verdict.of_result(run.eq, latest.result, run.output)
        values = {found.name: found.values.copy() for found in select(cast(Result, latest), names, latest.known)}
    except MbframeError as error:
        failure = failure or str(error)
    return Outcome(values, failure, warnings)


class _Latest:
    """The result of the latest run, for a catalogue that is made once."""

    def __init__(self, states: StatesInMemory) -> None:
        self._empty, self.result = states, Result.of(states, Info(), [])
        self.known: Catalogue = catalogue(cast(Result, self))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)

    def become(self, t: Array, y: Array, info: Info) -> None:
        """Belong to these instants and states."""
        self.result = Result.of(self._empty.at(t, y), Info(start=info.start, angles=info.angles), [])


def _failed(error: MbframeError) -> Outcome:
    return Outcome({}, str(error), [])


def _is_body(system: System, element: Any) -> bool:
    return any(element is body for body in system.bodies)
