"""The constraint-method laboratory: one model, many methods."""

from __future__ import annotations

import math
import pickle
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bodies import Formulation
from ...errors import MbframeError, ModelError, Problem
from ...results import Result
from ...solvers.acceleration import Acceleration
from ...solvers.integrators import DormandPrince, Integrator
from ...solvers.interrupts import interrupts_passed_on
from ...solvers.simulate import simulate
from ...solvers.stabilization import DirectCorrection, Stabilization
from ...system import System
from ...unknown import refuse_unknown_classes
from ..parameters.executors import Executor, chosen, reported, results
from .comparison import Comparison, History, Outcome, Samples
from .methods import Method, product_of, selection

Array = NDArray[np.float64]

NUMBER = re.compile(r"[-+]?\d[\d.e+-]*")
SAMPLES = 201  # instants of a run at which it is compared with the reference
MOST_REPEATS = 1000
REFINEMENTS = (4.0, 2.0, 1.0)  # default steps, in units of dt
REFERENCE: dict[str, Any] = {
    "integrator": DormandPrince(order=8, rtol=1e-12, atol=1e-13),
    "stabilization": DirectCorrection(tolerance=1e-12),
}


def compare(
    system: System,
    t_end: float,
    dt: float = 1e-3,
    *,
    formulations: Sequence[Formulation | None] | None = None,
    accelerations: Sequence[Acceleration] | None = None,
    stabilizations: Sequence[Stabilization] | None = None,
    integrators: Sequence[Integrator] | None = None,
    steps: Sequence[float] | None = None,
    repeats: int = 3,
    time_limit: float = 60.0,
    executor: Executor | str | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Comparison:
    """Simulate a system with many methods and measure how accurate and how costly each is.

    Parameters
    ----------
    system
        What to simulate.
    t_end
        End of the simulations, s.
    dt
        Step of the fixed-step integrators, s.
    formulations, accelerations, stabilizations, integrators
        What to combine: every combination of those given is simulated, with bodies as described,
        `AugmentedFormulation`, `DirectCorrection` and `RungeKutta4` for what is left out. If all four are left out:
        the methods of the literature, and what differs from the usual ones in one choice.
    steps
        Step sizes of the fixed-step integrators, s; by default 4 dt, 2 dt and dt.
    repeats
        How often each method is run; the median of the times counts.
    time_limit
        Longest time that a run may take, s; one that takes longer counts as failed.
    executor
        Where to compute: None here, one after the other; "processes" in new processes on all processors; or any
        executor in the manner of `concurrent.futures`. Runs side by side disturb each other's times.
    progress
        True for a bar in the terminal, or a function that takes the number of finished methods and that of all.

    Returns
    -------
    Comparison
        `table()`, `plot()` and `report("lab.html")`. A method that fails has the reason in its row and stops no other;
        Ctrl-C ends the comparison with what was measured until then.
    """
    choices: dict[str, Sequence[Any] | None] = {
        "formulations": formulations,
        "accelerations": accelerations,
        "stabilizations": stabilizations,
        "integrators": integrators,
    }
    sizes = [factor * dt for factor in REFINEMENTS] if steps is None and _is_step(dt) else steps
    _check(system, t_end, dt, choices, sizes, repeats, time_limit)
    refuse_unknown_classes(system)
    assert sizes is not None
    if any(given is not None for given in choices.values()):
        methods = product_of(formulations, accelerations, stabilizations, integrators, sizes)
    else:
        methods = selection(system, sizes)
    experiment = Experiment(system, float(t_end), int(repeats), float(time_limit))
    with interrupts_passed_on():
        outcomes: list[Outcome] = []
        try:
            with chosen(executor, "compare", len(methods), experiment.check_sendable) as pool:
                run = results(pool, experiment, methods, _lost)
                for outcome in reported(run, len(methods), progress, "comparing"):
                    outcomes.append(outcome)
            return measured(system, float(t_end), outcomes)
        except KeyboardInterrupt:
            if not outcomes:
                raise
            note = f"stopped by the user after {len(outcomes)} of {len(methods)} methods: there is no reference"
            return Comparison(system.name, float(t_end), outcomes, [note], completed=False)


class Experiment:
    """What is done with each method; it travels to other processes."""

    def __init__(self, system: System, t_end: float, repeats: int, time_limit: float) -> None:
        self.system, self.t_end, self.repeats, self.time_limit = system, t_end, repeats, time_limit

    def __call__(self, method: Method) -> Outcome:
        try:
            runs = [self._run(method) for _ in range(self.repeats)]
        except Exception as error:
            return Outcome(method, failure=_in_words(error))
        first = runs[0]
        wall_time = statistics.median(result.info.wall_time for result in runs)
        history = History(first.t, first.violation.position, first.violation.velocity, first.energy.total)
        if not all(np.all(np.isfinite(values)) for values in vars(history).values()):
            return Outcome(method, failure="the motion has values that are not finite")
        return Outcome(
            method,
            steps=first.info.steps,
            evaluations=first.info.evaluations,
            wall_time=wall_time,
            warnings=tuple(first.info.warnings),
            history=history,
            samples=sampled(first),
        )

    def check_sendable(self) -> None:
        """Refuse to go to other processes what cannot."""
        try:
            pickle.dumps(self)
        except Exception as error:
            message = f"this system cannot be sent to other processes ({error}); leave executor out"
            raise ModelError([Problem("compare", "executor", message)]) from error

    def _run(self, method: Method) -> Result:
        begun: list[float] = []  # at the first step: what is compiled before does not count

        def watch(t: float) -> None:
            now = time.perf_counter()
            if not begun:
                begun.append(now)
            if now > begun[0] + self.time_limit:
                raise TimeoutError(f"stopped after {self.time_limit:g} s of computing, at t = {t:.4g} s")

        with interrupts_passed_on():  # here as well, because it may be another process
            return simulate(self.system, self.t_end, **method.settings(), progress=watch)


def sampled(result: Result, instants: Array | None = None) -> Samples:
    """Poses of the bodies and the energy at some instants: those given, or evenly spread ones of the result's own."""
    if instants is None:
        rows = np.unique(np.linspace(0, len(result) - 1, SAMPLES).round().astype(int))
    else:
        rows = np.searchsorted(result.t, instants)
    bodies = result.system.bodies
    positions = np.stack([result.position(body)[rows] for body in bodies], axis=1)
    rotations = np.stack([result.rotation(body).as_matrix()[rows] for body in bodies], axis=1)
    return Samples(result.t[rows], positions, rotations, result.energy.total[rows])


def measured(system: System, t_end: float, outcomes: Sequence[Outcome]) -> Comparison:
    """The outcomes with their distance from a tight reference, which is computed once, at all their instants."""
    samples = [outcome.samples for outcome in outcomes if outcome.samples is not None]
    notes = warned(outcomes)
    reference: Result | None = None
    if samples:
        instants = np.unique(np.concatenate([one.t for one in samples]))
        try:
            reference = simulate(system, t_end, t_eval=instants, **REFERENCE)
        except MbframeError as error:
            notes.append(f"there is no reference: {error}")
    if reference is None:
        return Comparison(system.name, t_end, list(outcomes), notes)
    found = []
    for outcome in outcomes:
        if outcome.samples is not None:
            exact = sampled(reference, outcome.samples.t)
            outcome = replace(
                outcome, error=outcome.samples.error(exact), energy_drift=outcome.samples.energy_drift(exact)
            )
        found.append(outcome)
    said = {NUMBER.sub("", note) for outcome in outcomes for note in outcome.warnings}
    notes += [note for note in reference.info.warnings if NUMBER.sub("", note) not in said]
    return Comparison(system.name, t_end, found, notes)


def warned(outcomes: Sequence[Outcome]) -> list[str]:
    """What runs warn of, each once with its number of methods; those that differ in their numbers alone are one."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        for kind, note in {NUMBER.sub("", note): note for note in outcome.warnings}.items():
            found.setdefault(kind, []).append(note)
    done = sum(not outcome.failure for outcome in outcomes)
    return [f"{notes[0]} ({len(notes)} of {done} methods)" for notes in found.values()]


def _lost(method: Method, error: Exception) -> Outcome:
    """What stands for a method whose process ended, or sent what cannot be read."""
    return Outcome(method, failure=_in_words(error))


def _in_words(error: Exception) -> str:
    """Why a method failed, in one line."""
    kind = "" if isinstance(error, MbframeError | TimeoutError) else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())


def _is_step(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0.0 < float(value) < math.inf


def _check(
    system: Any,
    t_end: Any,
    dt: Any,
    selected: dict[str, Sequence[Any] | None],
    steps: Any,
    repeats: Any,
    time_limit: Any,
) -> None:
    """Refuse what no method could be run with, all at once."""
    problems = []

    def refuse(field: str, found: Any, allowed: str) -> None:
        problems.append(Problem("compare", field, f"found {found!r}; allowed is {allowed}"))

    if not isinstance(system, System):
        refuse("system", system, "a System; pass one")
    if not _is_step(t_end):
        refuse("t_end", t_end, "a positive time (s); give one such as 5.0")
    if not _is_step(dt):
        refuse("dt", dt, "a positive step (s); give one such as 1e-3")
    elif not isinstance(steps, Sequence | np.ndarray) or not len(steps) or not all(map(_is_step, steps)):
        refuse("steps", steps, "a list of positive steps (s); give one such as [2e-3, 1e-3]")
    if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
        refuse("repeats", repeats, f"a whole number from 1 to {MOST_REPEATS}; give one such as 3")
    if not _is_step(time_limit):
        refuse("time_limit", time_limit, "a positive time (s); give one such as 60.0")
    kinds = (Formulation, Acceleration, Stabilization, Integrator)
    for (field, choices), kind in zip(selected.items(), kinds, strict=True):
        if choices is None:
            continue
        optional = kind is Formulation
        listed = isinstance(choices, Sequence) and not isinstance(choices, str) and len(choices) > 0
        if not listed or not all(isinstance(c, kind) or (c is None and optional) for c in choices):
            refuse(field, choices, f"a list of objects of type {kind.__name__}; put them in brackets: [...]")
    if problems:
        raise ModelError(problems)
