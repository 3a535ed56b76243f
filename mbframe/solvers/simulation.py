"""A simulation that is stepped from outside."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..abilities import functions_of
from ..bodies.formulations import Formulation
from ..constraints.base import BasicConstraint
from ..disk.atomic import FilePath
from ..equations.changes import UnchangeableError, refused, rewrite
from ..equations.equations import Equations
from ..errors import ModelError, Problem, SimulationError
from ..joints.base import Joint
from ..kernels.integrators.schedule import SAME
from ..parameters import Element
from ..quantities import Catalogue, catalogue, select
from ..registry import is_ours
from ..results import Energy, EventRecord, Info, Result
from ..signals import named_by
from ..state import State
from ..stored_states import StatesInMemory
from ..system import System
from . import run as runs
from .acceleration import Acceleration
from .integrators import BDF, Integrator
from .prepare import first_state, prepared
from .progress import reporter
from .stabilization import Stabilization
from .starting import extent, joint_norms

Array = NDArray[np.float64]
Key = tuple[Element | str, str]

OPEN: Final = 1e-6
"""Of the model's size, and per second: what a changed joint may miss in the state in which it is changed."""
REMEDY: Final = "restore(...) a snapshot or reset() the simulation"


@dataclass(frozen=True)
class Snapshot:
    """A simulation at some instant, to come back to: `Simulation.snapshot` makes it, `Simulation.restore` takes it."""

    of: object
    time: float
    run: runs.Snapshot
    parameters: dict[tuple[str, str], Any]


class Parameters:
    """Parameters of the elements in a simulation: `sim.parameters["spring", "stiffness"] = 300.0`.

    The system that was given stays as it is. What decides on the structure of the equations (points, axes, poses,
    references) is refused.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.changed: dict[tuple[str, str], Any] = {}
        """Values of all that was ever assigned, as they are now."""
        self.first: dict[tuple[str, str], Any] = {}
        """And as they were before."""

    def __getitem__(self, key: Key) -> Any:
        element, field = self._found(key)
        return getattr(element, field)

    def __setitem__(self, key: Key, value: Any) -> None:
        element, field = self._found(key)
        with self._simulation.in_use():
            self.assign(element, field, value)

    def assign(self, element: Element, field: str, value: Any) -> None:
        """Assign a parameter and bring the equations up to date; all stays as it was if that is refused."""
        old = getattr(element, field)
        setattr(element, field, value)
        try:
            self._simulation.rewrite(element, field)
            if isinstance(element, Joint | BasicConstraint) and (gap := self._simulation.gap(element)):
                raise UnchangeableError(gap)
        except UnchangeableError as why:
            setattr(element, field, old)
            self._simulation.rewrite_back(element, field)
            raise refused(element, field, str(why)) from None
        self.first.setdefault((element.name, field), old)
        self.changed[element.name, field] = getattr(element, field)

    def put_back(self, values: dict[tuple[str, str], Any]) -> None:
        """Assign what differs from the values of a snapshot."""
        for key, now in list(self.changed.items()):
            wanted = values.get(key, self.first[key])
            if wanted is not now:
                self.assign(*self._found(key), wanted)

    def rewrite(self) -> None:
        """Write all that was changed into the rows again."""
        for key in self.changed:
            element, field = self._found(key)
            self._simulation.rewrite(element, field)

    def _found(self, key: Key) -> tuple[Element, str]:
        if not isinstance(key, tuple) or len(key) != 2 or not isinstance(key[1], str):
            message = f'found {key!r}; allowed are an element and a parameter, such as ["spring", "stiffness"]'
            raise ModelError([Problem("Simulation", "parameters", message)])
        system = self._simulation.system
        name = key[0] if isinstance(key[0], str) else key[0].name
        element: Element = system if name == system.name and name not in system else system[name]
        if key[1] not in type(element).parameters():
            known = ", ".join(type(element).parameters())
            raise ModelError([element.problem(key[1], f"there is no such parameter; there are {known}")])
        return element, key[1]


class Inputs(Mapping[str, float]):
    """Current values of the inputs of a simulation: `sim.inputs["push"] = 3.0` holds from now on."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def __getitem__(self, name: str) -> float:
        return self._simulation.signals()[self._known(name)]

    def __setitem__(self, name: str, value: float) -> None:
        self._simulation.set_input(self._known(name), value)

    def update(self, **values: float) -> None:
        """Set several."""
        for name, value in values.items():
            self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._simulation.signals())

    def __len__(self) -> int:
        return len(self._simulation.signals())

    def __repr__(self) -> str:
        return f"<Inputs {dict(self)!r}>"

    def _known(self, name: str) -> str:
        known = self._simulation.system.inputs
        if all(one.name != name for one in known):
            names = ", ".join(repr(one.name) for one in known) or "none: add one with system.add(mb.Input(...))"
            raise ModelError([Problem("Simulation", "inputs", f"there is no input {name!r}; there are {names}")])
        return name


class Simulation:
    """A simulation that is kept open and stepped from outside.

    It takes what `simulate` takes, but the end:

        with mb.Simulation(system, dt=1e-3) as sim:
            while sim.time < 5.0:
                sim.inputs["push"] = 3.0 if sim.quantity("cart.position.x") < 1.0 else 0.0
                sim.step()
            result = sim.result()

    Steps are those of `simulate`: with a fixed step the results are the same to the last bit. An adaptive `step()` is
    one accepted step, of the length that the tolerance asks for; `advance(to=t)` ends exactly at t.

    What is changed between steps acts from then on, and the integrator begins without a history. `snapshot` keeps all
    that the further motion depends on, and `restore` continues from there to the last bit, as often as wanted; what a
    user's own Python classes keep in attributes of their own is not part of it.

    One thread at a time can use it. As a context it is closed at the end of the block.

    Parameters
    ----------
    system
        What to simulate, as it is now: later changes of it do not matter.
    dt
        Step of a fixed-step integrator; first step tried by an adaptive one, s.
    initial
        State to start from; by default the one in which the model is described.
    formulation, acceleration, stabilization, integrator
        As in `simulate`, with the same defaults.
    t_eval
        Increasing instants at which the state is stored; by default every accepted step.
    events
        Functions f(t, state) whose zeros are looked for; see `Event`. One that is terminal finishes the simulation.
    output
        HDF5 file to write the states to as they are computed. `result()` then ends the simulation, and there are no
        snapshots.
    progress
        True for a progress bar in `advance`, or a function that is called with the current time.
    recording
        Whether states are stored for `result()`. It may be switched on and off at any time.
    """

    def __init__(
        self,
        system: System,
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
        recording: bool = True,
    ) -> None:
        ready = prepared(
            "Simulation",
            system.as_described() if isinstance(system, System) else system,
            None,
            dt,
            initial=initial,
            formulation=formulation,
            acceleration=acceleration,
            stabilization=stabilization,
            integrator=copy.copy(integrator),  # which belongs to one run at a time
            t_eval=t_eval,
            events=events,
            output=output,
        )
        self._turn = threading.Lock()
        self._closed = ""
        self._error: SimulationError | None = None
        self._progress, self._streams = progress, output is not None
        self._run = run = ready.begin()
        self._dt = None if run.integrator.adaptive else dt
        self._own: Equations | None = None  # of results and quantities: they must not disturb the run
        self._instant: _Instant | None = None
        self.system: System = run.eq.system
        """The system that is simulated: a copy of the one that was given."""
        self.parameters = Parameters(self)
        self.inputs = Inputs(self)
        self._seeing = {name for e in self.system for name in _seen_signals(e)}
        self._began = ready.start, ready.y
        if not recording:
            run.output.begin_again(run.t, run.eq.work.y, False)
        self._first = run.snapshot() if not self._streams else None

    # --- where it is --------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Current time, s."""
        return self._run.t

    @property
    def state(self) -> State:
        """Current state, for `simulate(..., initial=...)` and analyses."""
        with self.in_use(any_state=True):
            return self._run.eq.state(self._run.t, self._run.eq.work.y)

    @property
    def steps(self) -> int:
        """How many steps were accepted."""
        return int(self._run.eq.work["steps"])

    @property
    def finished(self) -> bool:
        """Whether a terminal event has ended it."""
        return self._run.finished

    @property
    def events(self) -> list[EventRecord]:
        """The events that have occurred."""
        return self._run.found.copy()

    @property
    def warnings(self) -> list[str]:
        """What there is to say until now; `result().info.warnings` has what only the whole motion tells, too."""
        return self._run.info.warnings.copy()

    def quantity(self, name: str) -> Any:
        """The current value of a quantity by its name, such as "cart.position.x": a number, or an array of a vector.

        Names are those of `Result.quantity`, and no result is made for it. An angle that the run does not count over
        turns is the one within half a turn of the described one.
        """
        with self.in_use(any_state=True):
            if self._instant is None:
                self._instant = _Instant(self._equations(), self._run)
            return self._instant.quantity(name)

    # --- going on -----------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Take one accepted step, or n of them; fewer if a terminal event finishes the simulation."""
        if n.__class__ is not int or n < 1:
            message = f"found {n!r}; allowed is a positive number of steps; give one such as 10"
            raise ModelError([Problem("Simulation", "step", message)])
        with self.in_use():
            self._run.step(n)

    def advance(self, to: float) -> None:
        """March to the time `to`, s, and not a rounding farther. With fixed steps it must be the end of a step."""
        with self.in_use():
            end = self._end(to)
            if end == self._run.t:
                return
            shown = reporter(self._progress, self._run.t, end)
            with shown:
                self._run.advance(end, shown)

    def _end(self, to: Any) -> float:
        """The time to march to; refused if it is none, lies behind, or is off the grid of fixed steps."""
        now = self._run.t

        def refuse(message: str) -> ModelError:
            return ModelError([Problem("Simulation", "advance", f"found to={to!r}; {message}")])

        if not isinstance(to, Real) or isinstance(to, bool) or not math.isfinite(to):
            raise refuse("allowed is a time (s); give a number")
        if to < now:
            raise refuse(f"allowed are times from now on, t = {now:.6g} s; to go back, {REMEDY}")
        if self._dt is not None:
            steps = (float(to) - self._run.start) / self._dt
            if abs(steps - round(steps)) > SAME * max(1.0, abs(steps)):
                near = [self._run.start + k * self._dt for k in (math.floor(steps), math.ceil(steps))]
                raise refuse(
                    f"allowed are ends of steps of {self._dt:g} s, such as {near[0]!r} or {near[1]!r}; choose one of "
                    "them, another dt, or an adaptive integrator"
                )
        return float(to)

    # --- coming back --------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that the further motion depends on: state, history of the integrator, counters, parameters."""
        with self.in_use(any_state=True):
            self._refuse_snapshots()
            if self._error is not None:
                self._refuse()
            return Snapshot(self, self._run.t, self._run.snapshot(), self.parameters.changed.copy())

    def restore(self, mark: Snapshot) -> None:
        """Be again where a snapshot of this simulation was taken."""
        with self.in_use(any_state=True):
            self._refuse_snapshots()
            if not isinstance(mark, Snapshot) or mark.of is not self:
                message = "found no snapshot of this simulation; pass one that its snapshot() has made"
                raise ModelError([Problem("Simulation", "restore", message)])
            self.parameters.put_back(mark.parameters)
            self._run.restore(mark.run)
            self._error = None

    def reset(self, state: State | None = None) -> None:
        """Begin anew at the start, or at a state, whose time then counts. Parameters keep their values.

        What was stored is forgotten.
        """
        with self.in_use(any_state=True):
            self._refuse_snapshots()
            assert self._first is not None
            start, y = self._began
            if state is not None:
                given = state.checked(self.system.bodies)
                y, notes = first_state(self._equations(), given.t, given)
                start = given.t
                self._run.info.warnings += [note for note in notes if note not in self._run.info.warnings]
            self._run.restart(self._first, start, y)
            self.parameters.rewrite()
            self._error = None

    def _refuse_snapshots(self) -> None:
        if self._streams or isinstance(self._run.integrator, BDF):
            message = "BDF cannot go back, because SUNDIALS keeps its history; use RadauIIA()"
            if self._streams:
                message = "a run that writes to a file (output=) cannot go back; leave output= out"
            raise ModelError([Problem("Simulation", "snapshot", message)])

    # --- what is stored -----------------------------------------------------------------------------------------------

    @property
    def recording(self) -> bool:
        """Whether states are stored; assign to switch it."""
        return self._run.output.recording

    @recording.setter
    def recording(self, on: bool) -> None:
        with self.in_use(any_state=True):
            self._run.output.record_states(bool(on), self._run.t, self._run.eq.work.y)

    def result(self) -> Result:
        """The result until now; the simulation can go on, unless it writes to a file.

        Loads, reactions and energies are computed from stored states with the parameters as they are now.
        """
        with self.in_use(any_state=True):
            return self._result(self._error is None)

    def _result(self, completed: bool) -> Result:
        if self._streams:
            self._closed = "its result was taken, and it writes to a file"
            self._run.info.completed = completed
            return self._run.result(self._equations(), self._run.info, None)
        self._own, self._instant = None, None  # the result keeps its equations
        result = self._run.result_now(self._equations(), completed, not self.parameters.changed)
        self._own = None
        if self.parameters.changed:
            names = ", ".join(f"{element}.{field}" for element, field in self.parameters.changed)
            result.info.warnings.append(
                f"parameters were changed during the run ({names}): loads, reactions, energies and accelerations are "
                "computed with their last values at all instants"
            )
        return result

    def close(self) -> None:
        """End the simulation; a file that it writes is completed."""
        with self.in_use(any_state=True, closed=True):
            if self._streams and not self._closed:
                self._run.output.close(self._run.info)
            self._closed = self._closed or "it was closed"

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self._run.info.completed = False
        self.close()

    def __repr__(self) -> str:
        return f"<Simulation of {self.system.name!r} at t = {self.time:g} s>"

    # --- inside -------------------------------------------------------------------------------------------------------

    def in_use(self, any_state: bool = False, closed: bool = False) -> _Turn:
        """Let this thread use the simulation for a block, in which steps may be taken unless it is in `any_state`."""
        return _Turn(self, any_state, closed)

    def signals(self) -> dict[str, float]:
        """The values of the inputs."""
        return self._run.eq.inputs()

    def set_input(self, name: str, value: Any) -> None:
        """Give an input another value from now on."""
        one: Any = self.system[name]
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            raise ModelError([one.problem("value", f"found {value!r}; allowed is a finite number; give one")])
        if message := one.refusal(float(value)):
            raise ModelError([one.problem("value", message)])
        with self.in_use():
            run = self._run
            run.output.amend(run.t, run.eq.set_input(name, float(value)), float(value))
            if name in self._seeing:
                run.look_again()

    def rewrite(self, element: Element, field: str) -> None:
        """Bring the equations up to date after a parameter was assigned."""
        for eq in (self._run.eq, self._own):
            if eq is not None:
                rewrite(eq, element, field)
        self._instant = None
        if is_heeded(element, field):
            self._run.look_again()

    def gap(self, element: Joint | BasicConstraint) -> str:
        """What the equations of a joint miss in the present state, in words; empty if they are met."""
        eq, run = self._equations(), self._run
        y = run.eq.work.y.copy()
        size = extent(eq, eq.state(run.t, y))
        for values, what in zip(eq.violation(run.t, y), ("position", "velocity"), strict=True):
            for owner, norm in joint_norms(eq, values):
                if norm > OPEN * size and owner.name == element.name:
                    return f"would open it at once: its {what} misses by {norm:.3g}, and the bodies cannot jump"
        return ""

    def rewrite_back(self, element: Element, field: str) -> None:
        """The same for a value that was there before."""
        try:
            self.rewrite(element, field)
        except UnchangeableError:  # as before: nothing was written
            return

    def _equations(self) -> Equations:
        """Equations beside those of the run, with its strategies."""
        if self._own is None:
            eq = self._run.eq
            self._own = Equations(eq.system, eq.formulation, works=True)
            self._run.bind(self._own)
        return self._own

    def _refuse(self) -> None:
        if self._closed:
            message = f"the simulation is closed: {self._closed}; make a new one"
        elif self._error is not None:
            message = f"the simulation has failed before ({self._error}); {REMEDY}"
        else:
            message = f"the simulation is finished: a terminal event has ended it; {REMEDY}"
        raise SimulationError(message, self._run.t)

    def _fail(self, error: SimulationError) -> None:
        """Keep what was computed with an error, and stay at the last accepted state."""
        t, y = self._run.output.before()
        self._error = error
        error.result = self._result(False)
        for warning in error.result.info.warnings:
            error.add_note(f"Warning of this run: {warning}")
        self._run.stay(t, y)


class _Turn:
    """The block in which one thread uses a simulation."""

    __slots__ = ("any_state", "closed", "simulation")

    def __init__(self, simulation: Simulation, any_state: bool, closed: bool) -> None:
        self.simulation, self.any_state, self.closed = simulation, any_state, closed

    def __enter__(self) -> None:
        simulation = self.simulation
        if not simulation._turn.acquire(blocking=False):
            message = "the simulation is being used by another thread, or by what it calls; let one wait for the other"
            raise SimulationError(message, simulation._run.t)
        blocked = simulation._closed and not self.closed
        if blocked or (not self.any_state and (simulation._error is not None or simulation._run.finished)):
            simulation._turn.release()
            simulation._refuse()

    def __exit__(self, kind: Any, error: Any, trace: object) -> None:
        simulation = self.simulation
        try:
            if kind is not None and simulation._run.broken and not self.any_state:
                simulation._run.broken = False
                if not isinstance(error, SimulationError):  # Ctrl-C in the middle of a step, and the like
                    error = SimulationError(f"stopped by {kind.__name__} within a step", simulation._run.t)
                simulation._fail(error)
        finally:
            simulation._turn.release()


class _Instant:
    """The quantities of a simulation where it is."""

    def __init__(self, eq: Equations, run: runs.Run) -> None:
        self._run = run
        self._states = StatesInMemory(eq, np.array([run.t]), run.eq.work.y[None].copy(), run.settings)
        self._result = Result.of(self._states, Info(), [])
        self._known: Catalogue = catalogue(cast(Result, self))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    @property
    def energy(self) -> Energy:
        """Energies, and the work since the beginning."""
        return Result.of(self._states, Info(start=self._run.beginning), []).energy

    def quantity(self, name: str) -> Any:
        """A value."""
        t, y = self._run.t, self._run.eq.work.y
        if t != self._states.t[0] or not np.array_equal(y, self._states.whole()[0]):
            self._states = self._states.at(np.array([t]), y[None].copy())
            self._result = Result.of(self._states, Info(), [])
        found = select(cast(Result, self), [name], self._known)[0]
        return found.values[0] if np.ndim(found.values[0]) else float(found.values[0])


def _seen_signals(element: Element) -> Iterator[str]:
    """Signals on which it depends where a function of time jumps or bends."""
    for field in named_by(element):
        value = getattr(element, field)
        for function in value if isinstance(value, tuple) else (value,):
            if not function.plain:
                yield from function.signals


def is_heeded(element: Element, field: str) -> bool:
    """Whether steps may have to heed another value of a parameter: of a function, of what one acts by, of a stop."""
    kind: Any = type(element)
    said = kind.parameters()[field].kind
    acts = "function" in said or said == "list" or hasattr(kind, "stops")
    return acts or not is_ours(kind) or bool(functions_of([element]))
