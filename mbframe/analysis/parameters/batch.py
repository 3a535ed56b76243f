"""Many runs of one system with other values of its parameters, or from other states."""

from __future__ import annotations

import math
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...bodies.formulations import Formulation
from ...errors import ModelError, Problem, check_kinds
from ...quantities import Quantity
from ...solvers.acceleration import Acceleration
from ...solvers.integrators import DormandPrince, Integrator
from ...solvers.output import physical_memory
from ...solvers.stabilization import Stabilization
from ...state import State
from ...system import System
from .batch_worker import CancelledError, Outcome, Worker
from .executors import reported
from .number import Number

Array = NDArray[np.float64]

COMPONENT: Final = re.compile(r"(?P<name>.+)\[(?P<indices>\s*\d+\s*(,\s*\d+\s*)?)\]")
WAIT: Final = 0.1  # s, after which the thread that waits for runs hears of Ctrl-C


@dataclass(frozen=True)
class Batch:
    """What the runs of a batch gave: `batch["bar.position.x"]` is an array (runs, instants); a vector has (…, k).

    Attributes
    ----------
    t
        Instants, s, the same in all runs.
    parameters
        The values of each parameter, by its name, one per run.
    units
        Of the quantities, by name.
    failures
        Why a run ended before its end, by its number; what it would have had is nan.
    warnings
        What there is to say about a run, by its number; runs without doubts are left out.
    """

    t: Array
    parameters: dict[str, Any]
    units: dict[str, str]
    failures: dict[int, str]
    warnings: dict[int, list[str]]
    _values: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        if name not in self._values:
            listed = ", ".join(map(repr, self._values))
            message = f"was not asked for; there are {listed}. Name it in quantities="
            raise ModelError([Problem("Batch", f"quantity {name!r}", message)])
        return self._values[name]

    def __len__(self) -> int:
        return len(next(iter(self._values.values())))

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<Batch of {len(self)} runs{failed}, {len(self.t)} instants: {', '.join(self._values)}>"


def batch(
    system: System,
    parameters: Mapping[str, Sequence[Any] | ArrayLike] | None = None,
    t_end: float | None = None,
    dt: float | None = None,
    *,
    quantities: Sequence[str],
    initial: State | Sequence[State] | None = None,
    formulation: Formulation | None = None,
    acceleration: Acceleration | None = None,
    stabilization: Stabilization | None = None,
    integrator: Integrator | None = None,
    t_eval: ArrayLike | None = None,
    events: Sequence[Any] = (),
    threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Batch:
    """Simulate one system many times, with other values of parameters or from other states.

    The equations are made once for each thread, and threads compute side by side: runs cost little more than their
    compiled steps. Each run gives what `simulate` gives with its values, to the last bit, whatever ran before it.

    Parameters
    ----------
    system
        What to simulate; it is not changed.
    parameters
        Values by name, one per run: `{"spring.stiffness": k, "bar.mass": m, "bar.center_of_mass[0]": x}`. All have
        the same length. Whatever an element declares can be varied; what decides on the structure of the equations
        (points, poses) takes some milliseconds more per run.
    t_end, dt, formulation, acceleration, stabilization, integrator, t_eval, events
        As in `simulate`. Without `t_eval` all steps of a fixed `dt` are kept; adaptive steps need it.
    quantities
        Names of what to keep, as in `Result.quantity`.
    initial
        The state to start from, or a list with one for each run; without parameters it decides how many there are.
    threads
        How many runs are computed at the same time; by default as many as there are processors. Elements and strategies
        that are not compiled take turns.
    progress
        True for a bar in the terminal, or a function that takes the number of finished runs and that of all.

    Returns
    -------
    Batch
        Arrays by name of quantity. A run that fails is told in `failures` and leaves nan; Ctrl-C ends the batch.
    """
    check_kinds("batch", system=(system, System))
    numbers, values, starts = _runs(system, parameters or {}, initial)
    n = len(starts)
    chosen = integrator or (DormandPrince(rtol=1e-6) if dt is None else None)
    if t_eval is None and chosen is not None and chosen.adaptive:
        message = f"found nothing, but adaptive steps ({chosen}) differ from run to run; give the instants to keep"
        raise ModelError([Problem("batch", "t_eval", message)])
    if t_end is None:
        raise ModelError([Problem("batch", "t_end", "found nothing; give the end of the runs, s")])
    _refuse_no_names(quantities)
    start = initial if initial is None or isinstance(initial, State) else starts[0]
    strategies = {"acceleration": acceleration, "stabilization": stabilization, "integrator": integrator}
    asked: dict[str, Any] = {"t_end": t_end, "dt": dt, "formulation": formulation, **strategies, "t_eval": t_eval}
    asked |= {"events": events, "output": None, "initial": start}
    crew = [Worker(system, numbers, quantities, asked) for _ in range(_threads(threads, n))]
    kept = _Kept(n, _instants(asked, start), crew[0].first)
    for run, outcome in reported(_computed(crew, values, starts), n, progress, "simulating"):
        kept.take(run, outcome)
    warnings = {run: said for run, said in sorted(kept.warnings.items()) if said}
    return Batch(kept.t, dict(parameters or {}), kept.units, dict(sorted(kept.failures.items())), warnings, kept.values)


def _runs(
    system: System, parameters: Mapping[str, Any], initial: State | Sequence[State] | None
) -> tuple[list[Number], list[tuple[Any, ...]], list[State | None]]:
    """The parameters, their values in each run, and where each run starts if it has a state of its own."""
    problems, lengths = [], {}
    numbers = []
    for name, given in parameters.items():
        try:
            numbers.append(_number(system, name))
            lengths[name] = len(given)
        except ModelError as error:
            problems += error.problems
        except TypeError:
            problems.append(Problem("batch", name, f"found {given!r}; allowed is a list of values, one for each run"))
    states = None if initial is None or isinstance(initial, State) else list(initial)
    if states is not None:
        lengths["initial"] = len(states)
        problems += [
            Problem("batch", "initial", f"found {state!r} for run {k}; allowed are states; pass these")
            for k, state in enumerate(states)
            if not isinstance(state, State)
        ][:5]
    if not problems and (len(set(lengths.values())) != 1 or 0 in lengths.values()):
        found = ", ".join(f"{count} of {name}" for name, count in lengths.items()) or "no values at all"
        message = f"found {found}; give one value of each parameter, and one state if there is a list, for each run"
        problems.append(Problem("batch", "parameters", message))
    if not problems and states is not None and any(state.t != states[0].t for state in states):
        message = f"found states at t = {min(s.t for s in states):g} to {max(s.t for s in states):g} s; give the same"
        problems.append(Problem("batch", "initial", message))
    if problems:
        raise ModelError(problems)
    n = next(iter(lengths.values()))
    rows = [tuple(_plain(given[k]) for given in parameters.values()) for k in range(n)]
    return numbers, rows, [None] * n if states is None else [*states]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _number(system: System, name: str) -> Number:
    """The parameter of a name such as "spring.stiffness" or "bar.center_of_mass[0]"."""
    match = COMPONENT.fullmatch(name) if isinstance(name, str) else None
    whole = match["name"] if match else name
    owner_name, dot, field = whole.rpartition(".") if isinstance(name, str) else ("", "", "")
    if not dot:
        message = f'found {name!r}; allowed are names such as "spring.stiffness"; pass such a text'
        raise ModelError([Problem("batch", "parameters", message)])
    on_system = owner_name == system.name and owner_name not in system
    owner: Any = system if on_system else system[owner_name]
    if field not in (known := type(owner).parameters()):
        raise ModelError([owner.problem(field, f"there is no such parameter; there are {', '.join(known)}")])
    if match is None:
        return Number(None if on_system else owner_name, field)
    indices = tuple(int(k) for k in match["indices"].split(","))
    try:
        component = np.array(getattr(owner, field), float)[indices]
    except (TypeError, ValueError, IndexError):
        component = None
    if np.ndim(component) or component is None:
        raise ModelError([owner.problem(field, f"has no component {list(indices)}; leave it out, or take another")])
    return Number(None if on_system else owner_name, field, indices if len(indices) > 1 else indices[0])


def _refuse_no_names(names: Sequence[str]) -> None:
    if isinstance(names, str) or not names or any(not isinstance(name, str) for name in names):
        message = f'found {names!r}; allowed is a list of names such as ["bar.position.x"]; pass one'
        raise ModelError([Problem("batch", "quantities", message)])


def _threads(threads: int | None, n: int) -> int:
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    elif threads.__class__ is not int or threads < 1:
        message = f"found {threads!r}; allowed is a positive number, or None for one on each processor; give one"
        raise ModelError([Problem("batch", "threads", message)])
    return min(threads, n)


def _instants(asked: Mapping[str, Any], start: State | None) -> Array:
    """The instants that all runs have: those asked for, or the ends of all steps."""
    if asked["t_eval"] is not None:
        return np.array(asked["t_eval"], float)
    begin, end, dt = 0.0 if start is None else start.t, float(asked["t_end"]), float(asked["dt"])
    steps = max(1, math.ceil((end - begin) / dt - 1e-9))
    return np.append(begin + dt * np.arange(steps), end)


def _computed(
    crew: Sequence[Worker], values: Sequence[tuple[Any, ...]], starts: Sequence[State | None]
) -> Iterator[tuple[int, Outcome]]:
    """The runs, as threads finish them."""
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Outcome] | BaseException] = queue.SimpleQueue()
    unwanted = threading.Event()
    for run in range(len(values)):
        todo.put(run)

    def finish(worker: Worker) -> None:
        try:
            worker.finish()
        except BaseException as error:
            done.put(error)

    def work(worker: Worker) -> None:
        try:
            while not unwanted.is_set():
                run = todo.get_nowait()
                done.put((run, worker.compute(values[run], starts[run], unwanted.is_set)))
        except queue.Empty:
            finish(worker)
        except CancelledError:
            return
        except BaseException as error:  # of our own, or of a user's code: whoever asked for the batch gets it
            done.put(error)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True, name="mbframe batch") for worker in crew]
    for thread in threads:
        thread.start()
    try:
        for _ in values:
            yield _next(done)
        for thread in threads:
            thread.join()
        if not done.empty():
            _next(done)  # what went wrong at the end
    finally:
        unwanted.set()
        for thread in threads:
            thread.join()


def _next(done: queue.SimpleQueue[tuple[int, Outcome] | BaseException]) -> tuple[int, Outcome]:
    while True:
        try:
            found = done.get(timeout=WAIT)
        except queue.Empty:
            continue
        if isinstance(found, BaseException):
            raise found
        return found


class _Kept:
    """The arrays of a batch while they fill."""

    def __init__(self, n: int, t: Array, quantities: Sequence[Quantity]) -> None:
        self.t = t
        self.units = {one.name: one.unit for one in quantities}
        self.failures: dict[int, str] = {}
        self.warnings: dict[int, list[str]] = {}
        shapes = {one.name: (n, len(t), *one.values.shape[1:]) for one in quantities}
        needed, there = 8.0 * sum(map(math.prod, shapes.values())), physical_memory()
        if needed > there:
            message = (
                f"ask for {needed / 1e9:.3g} GB, where this machine has {there / 1e9:.3g} GB of memory; keep fewer "
                "instants (t_eval=), or make several batches"
            )
            raise ModelError([Problem("batch", "quantities", message)])
        self.values = {name: np.full(shape, np.nan) for name, shape in shapes.items()}

    def take(self, run: int, outcome: Outcome) -> None:
        """Keep what a run gave."""
        if outcome.failure:
            self.failures[run] = outcome.failure
        self.warnings[run] = outcome.warnings
        for name, found in outcome.values.items():
            self.values[name][run, : len(found)] = found
