"""What a run knows beforehand of the functions in its model: where steps end, and where they must be short."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..controllers.base import Controller
from ..equations.equations import Equations
from ..equations.workspace import Record
from ..errors import MbframeError, ModelError, Problem
from ..expression_trees import SAMPLES, spread, switches_too_often, tree
from ..features import FAR, WIDTHS, Bounds, Features, changing, features, landmarks_anywhere, margin, values_of, waves
from ..forces.base import ForceElement
from ..functions import Function
from ..kernels.integrators.schedule import SCHEDULE, WATCHED
from ..kernels.programs.overloads import PROGRAM
from ..measures import Measure
from ..parameters import Element
from ..system import System
from .place_logic import place_logic, sight_logic
from .time_logic import acting_controllers, time_logic

Array = NDArray[np.float64]

SHORT: Final = 2.0
"""Steps of a fixed size within which a load that comes and goes is not integrated."""
PER_PERIOD: Final = 4.0
"""Steps of a fixed size in a period below which a wave is taken for another one."""
OF_A_PERIOD: Final = 0.45
"""Part of a period that an adaptive step may last: less than half, so that no wave is taken for a slower one."""
LOOK_AHEAD: Final = 1e-6
"""Part of the time that is left, over which rates of arguments are taken."""
SMALL: Final = 1e-3
"""Part of a function's range by which it may differ from a straight line there."""
MOST_PAIRS: Final = 200
OUTPUT: Final = "output_of_a_controller"
"""Name of the variable for which an output stands."""


@dataclass
class Schedule:
    """Breaks (before, at, after, whether the step size is found anew), bounds in time, and arguments with bounds."""

    breaks: Array
    bounds: Bounds
    watched: list[tuple[int, Bounds]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    first_rates: Array | None = None  # of the arguments, where the run begins
    end: float = np.inf
    """How far the functions were looked at, s."""
    _record: Record | None = None

    @property
    def empty(self) -> bool:
        return not len(self.breaks) and not len(self.bounds.places) and not self.watched

    def record(self) -> Record | int:
        """What steps read, always the same one; 0 if there is nothing to heed."""
        if self.empty:
            return 0
        if self._record is None:
            self._record = self._written()
        return self._record

    def follow(self, earlier: Schedule) -> None:
        """Begin with the rates of the arguments that an earlier schedule has noted."""
        if earlier._record is not None and len(earlier.watched) == len(self.watched):
            self.first_rates = earlier._record.array("watched")["rate"].copy()

    def _written(self) -> Record:
        data = Record(SCHEDULE)
        data["n_breaks"], data["breaks"] = len(self.breaks), self.breaks
        data["n_bounds"], data["times"], data["bounds"] = len(self.bounds.places), *_arrays(self.bounds)
        rows = np.zeros(len(self.watched), WATCHED)
        self._arrays = [_arrays(bounds) for _, bounds in self.watched]
        for row, (argument, _), (places, limits) in zip(rows, self.watched, self._arrays, strict=True):
            row["argument"], row["n_bounds"] = argument, len(places)
            row["places"], row["bounds"] = places.ctypes.data, limits.ctypes.data
        rows["rate"] = 0.0 if self.first_rates is None else self.first_rates
        data["n_watched"], data["watched"] = len(rows), rows
        return data

    def limits(self, t: float) -> tuple[float, float, float, float, bool]:
        """For a step from t: where it must end, the times between which it may look, its longest duration, and whether
        a break is just behind. As `kernels.integrators.schedule.prepare`.
        """
        k = int(np.searchsorted(self.breaks[:, 1], t, side="right"))
        low, behind = (float(self.breaks[k - 1, 2]), self.breaks[k - 1, 1] == t) if k else (-np.inf, False)
        high, stop = (float(self.breaks[k, 0]), float(self.breaks[k, 1])) if k < len(self.breaks) else (np.inf, np.inf)
        return stop, low, high, self.bounds.reach(t), bool(behind)

    def arguments(self) -> Array:
        """Those that are watched, where the functions were last evaluated."""
        return np.array([ctypes.c_double.from_address(address).value for address, _ in self.watched])

    def begin(self, eq: Equations, t: float, y: Array) -> None:
        """Find the rates of the arguments that are watched where a run begins, for its first step."""
        if self.watched:
            with suppress(MbframeError):  # the run says so
                _, self.first_rates = self.rates(eq, y, t)
            eq.set_state(*eq.split(y))

    def rates(self, eq: Equations, y: Array, t: float) -> tuple[Array, Array]:
        """The arguments that are watched, and their rates, in a state."""
        eq.accelerate(t, *eq.split(y))
        now, ahead = self.arguments(), LOOK_AHEAD * max(1e-3, self.end - t)
        eq.update(t + ahead, *eq.split(y + ahead * eq.work.rates))
        return now, (self.arguments() - now) / ahead

    def longest(self, arguments: Array, rates: Array) -> float:
        """How long a step may be from there for arguments that change at these rates."""
        known = zip(self.watched, arguments.tolist(), rates.tolist(), strict=True)
        return min((bounds.reach(x, rate > 0.0) / abs(rate) for (_, bounds), x, rate in known if rate), default=np.inf)


def _arrays(bounds: Bounds) -> tuple[Array, Array]:
    return np.ascontiguousarray(bounds.places), np.ascontiguousarray(bounds.limits)


def scheduled(eq: Equations, y: Array, start: float, end: float, dt: float | None, told: bool) -> Schedule:
    """The schedule of a run from the state y; `dt` is that of a fixed step, which heeds jumps but may be too long.

    `told` says that the user bounds the steps: then nothing needs to be said about what cannot be looked at.
    """
    jumps: list[float] = []
    nodes: list[float] = []
    bounds = Bounds.none()
    schedule = Schedule(np.zeros((0, 4)), bounds, end=end)
    known: dict[Function, tuple[Features, Bounds]] = {}
    signals = eq.signals(start, y)
    for element, name, function in time_functions(eq.system, signals):
        if function.kind in ("constant", "polynomial"):
            continue
        if function not in known:
            known[function] = _features(function, start, end)
        found, periods = known[function]
        _refuse_pole(element, name, found)
        jumps += found.jumps.tolist()
        if dt is not None:
            schedule.warnings += _for_fixed_steps(element, name, function, found, periods, start, end, dt)
            continue
        nodes += found.nodes.tolist()
        waves_bound = Bounds(periods.places, OF_A_PERIOD * periods.limits)
        bounds = bounds.both(found.bounds).both(waves_bound)
        if not found.seen and not told:
            schedule.warnings.append(
                f"{element}, {name}: {found.why_not}, so that something short in it may be stepped over; "
                f"{_telling(function)}, or bound the steps with max_step= of the integrator"
            )
        elif function.kind == "callable" and not told and not len(function.breakpoints(start, end)):
            schedule.warnings.append(
                f"{element}, {name}: of a Python function of the time only values {(end - start) / SAMPLES:.2g} s "
                f"apart are looked at before the run; if something in it is shorter, {_telling(function)}"
            )
    for element, name, found in time_logic(eq, y, start, end):
        _refuse_pole(element, name, found)
        jumps += found.jumps.tolist()
        bounds = bounds.both(found.bounds)
        schedule.warnings += _for_methods(element, name, found, dt, told)
    schedule.breaks = _breaks(jumps, nodes, start, end)
    if dt is None:
        schedule.bounds = bounds
        schedule.watched = [(program, limits) for *_, program, limits in _watched(eq, start, end)]
        schedule.watched += _stops(eq)
        if not told:
            schedule.warnings += _unknown_places(eq.system)
            schedule.warnings += _switched_methods(eq)
            schedule.warnings += _switched_by_outputs(eq, signals | {"t": start})
    else:
        schedule.warnings += _passed_by_fixed_steps(eq, y, start, end, dt)
    return schedule


def _refuse_pole(element: Element, name: str, found: Features) -> None:
    """Refuse a function of time that no step can pass."""
    if found.pole is not None:
        message = (
            f"it grows without bound towards t = {found.pole:.6g} s, so that no motion exists beyond; change the "
            "function so that it stays finite, or end the run before"
        )
        raise ModelError([Problem(str(element), name, message)])


def _for_fixed_steps(
    element: Element,
    name: str,
    function: Function,
    found: Features,
    periods: Bounds,
    start: float,
    end: float,
    dt: float,
) -> Iterator[str]:
    """What steps of a fixed size do not see of a function of time."""
    if not found.seen:
        yield (
            f"{element}, {name}: {found.why_not}, so that something shorter than steps of {dt:g} s may be missed; "
            f"{_telling(function)}"
        )
    elif (short := _too_short(function, found, start, end, dt)) is not None:
        width, at = short
        yield (
            f"{element}, {name}: it comes and goes within {width:.3g} s at t = {at:.6g} s, where steps of "
            f"{dt:g} s see little or nothing of it; reduce dt below {width / 10:.2g} s, or use an adaptive "
            "integrator such as DormandPrince(), which heeds it"
        )
    elif (period := periods.narrowest[0]) < PER_PERIOD * dt:
        yield (
            f"{element}, {name}: it swings with a period of {period:.3g} s, which steps of {dt:g} s take for another "
            f"one; reduce dt below {period / 20:.2g} s, or use an adaptive integrator such as DormandPrince(), which "
            "heeds it"
        )


def _telling(function: Function) -> str:
    """How to make a function known that was not looked at."""
    if function.kind == "callable":
        return "tell where it jumps with mb.Function(f, breakpoints=[...])"
    return "end the run earlier"


def _for_methods(element: Element, name: str, found: Features, dt: float | None, told: bool) -> Iterator[str]:
    """What a run does not see of the time in a user's method."""
    if not found.seen:
        if not told:
            bound = "bound the steps with max_step= of the integrator" if dt is None else f"reduce dt = {dt:g} s"
            yield (
                f"{element}, {name}: it uses the time itself, and could not be looked at before the run "
                f"({found.why_not}), so that something short in it may be stepped over; "
                f'{bound}, or make what depends on the time a declared mb.parameter(kind="function")'
            )
        return
    apart = float(np.min(np.diff(found.jumps), initial=np.inf))
    width = min(found.bounds.narrowest[0], 0.5 * apart)
    if dt is not None and width < dt:
        yield (
            f"{element}, {name}: what it makes of the time comes and goes within {width:.3g} s, where steps of {dt:g} "
            f"s see little or nothing of it; reduce dt below {width / 10:.2g} s, or use an adaptive integrator such "
            "as DormandPrince(), which heeds it"
        )


def _unknown_places(system: System) -> Iterator[str]:
    """Functions of something else than time: where they are short is not known, nor where the motion is."""
    for element, name, function, variables in _functions(system):
        if variables == ("t",):
            continue
        if function.kind == "callable":
            yield (
                f"{element}, {name}: of a Python function of {', '.join(variables)} the run does not know where it "
                "changes quickly, so that something short in it may be stepped over, with or without breakpoints=; "
                "write it as an expression or a table, or bound the steps with max_step= of the integrator"
            )
        elif isinstance(element, Controller | Measure) and _hides(function):
            yield (
                f"{element}, {name}: it rises and falls with {', '.join(variables)}, and the run does not know when "
                "the motion gets there, so that a narrow place may be stepped over; bound the steps with max_step= of "
                "the integrator so that several fall into the narrowest one"
            )
        elif function.kind == "expression" and len(variables) == 1 and _waving(function):
            yield (
                f"{element}, {name}: it switches with a wave of {variables[0]}, and the run does not know where, so "
                "that a narrow place may be stepped over; bound the steps with max_step= of the integrator so that "
                "several fall into the narrowest one"
            )


def _switched_by_outputs(eq: Equations, known: Mapping[str, float]) -> Iterator[str]:
    """Expressions of time that rise and fall with an output of a controller, which changes all the time."""
    outputs = {signal for c in acting_controllers(eq) for signal in c.signals}
    if not outputs:
        return
    for element, name, function, _ in _functions(eq.system):
        for signal in sorted(outputs.intersection(function.signals)):
            text = function.renamed({signal: OUTPUT}).source
            if isinstance(text, str) and _hides(Function.with_signals(text, (OUTPUT,)).bound(known)):
                yield (
                    f"{element}, {name}: it rises and falls with {signal}, and the run does not know when that gets "
                    "there, so that a narrow place may be stepped over; bound the steps with max_step= of the "
                    "integrator so that several fall into the narrowest one"
                )


def _hides(function: Function) -> bool:
    """Whether a step may pass something in a function, with the same values on both sides."""
    way = _way(function)
    return way is not None and len(changing(function, *way).places) > 0


@lru_cache(maxsize=256)
def _waving(function: Function) -> bool:
    """Whether an expression of one variable switches with a wave of it, and so at more places than are looked for."""
    return function.program is not None and switches_too_often(tree(function.program), -FAR, FAR)


def _switched_methods(eq: Equations) -> Iterator[str]:
    """Users' elements that switch at places: where these are is not known, nor when the motion gets there."""
    for element, name in sight_logic(eq):
        yield (
            f"{element}, {name}: it compares or limits what the controller sees or its own states, or makes hills of "
            "it, and the run does not know where, so that a narrow place may be stepped over; bound the steps with "
            "max_step= of the integrator so that several fall into the narrowest one, or give a sample_time="
        )
    for element, name in place_logic(eq):
        yield (
            f"{element}, {name}: it compares or limits what follows from positions, or makes hills of it, and the run "
            "does not know where, so that a narrow place may be stepped over; bound the steps with max_step= of the "
            "integrator so that several fall into the narrowest one, or make what depends on the place a declared "
            'mb.parameter(kind="function")'
        )


def _passed_by_fixed_steps(eq: Equations, y: Array, start: float, end: float, dt: float) -> Iterator[str]:
    """Functions of the motion, such as a road, of which a step at the rates of the start passes a whole feature."""
    watched = list(_watched(eq, start, end))
    if not watched:
        return
    arguments = [(program, limits) for *_, program, limits in watched]
    schedule = Schedule(np.zeros((0, 4)), Bounds.none(), arguments, end=end)
    for (element, name, function, way, _, _), rate in zip(watched, schedule.rates(eq, y, start)[1], strict=True):
        step = abs(float(rate)) * dt
        if step > 0.0 and (short := _too_short(function, features(function, *way), *way, step)) is not None:
            width, at = short
            yield (
                f"{element}, {name}: it comes and goes within {width:.3g} of its argument at {at:.6g}, where a step "
                f"of {dt:g} s passes {step:.3g} and sees little or nothing of it; reduce dt below "
                f"{dt * width / step / 10:.2g} s, or use an adaptive integrator such as DormandPrince(), which heeds it"
            )


def time_functions(
    system: System, signals: Mapping[str, float] | None = None
) -> Iterator[tuple[Element, str, Function]]:
    """All functions of time among the declared parameters of a system's elements, for some values of its inputs.

    By default the inputs have the values with which they are described.
    """
    known = signals
    if known is None:
        known = dict.fromkeys(system.signals, 0.0) | {one.name: one.value for one in system.inputs}
    for element, name, function, variables in _functions(system):
        if variables == ("t",):
            yield element, name, function.bound(known)


def _functions(system: System) -> Iterator[tuple[Element, str, Function, tuple[str, ...]]]:
    """All functions among the declared parameters, with their variables."""
    for element in system:
        kind: Any = type(element)
        for name, variables in _function_fields(kind):
            value = getattr(element, name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Function):
                    yield element, name, part, variables or part.variables


@cache
def _function_fields(cls: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Parameters of a class that may hold functions, and the variables of these; none for a list of anything."""
    parameters = cls.parameters().items()
    several = [(name, ()) for name, p in parameters if p.kind == "list"]
    return [(name, tuple(p.variables)) for name, p in parameters if "function" in p.kind] + several


def _features(function: Function, start: float, end: float) -> tuple[Features, Bounds]:
    """Features and periods of a function; a callable, which may depend on anything, is looked at for each run."""
    return (_look if function.kind == "callable" else _kept_look)(function, start, end)


def _look(function: Function, start: float, end: float) -> tuple[Features, Bounds]:
    found = features(function, start, end)
    return found, waves(function, found.jumps, start, end)


_kept_look = lru_cache(maxsize=256)(_look)


def _breaks(jumps: list[float], nodes: list[float], start: float, end: float) -> Array:
    """Rows of the schedule; places that rounding cannot tell from each other, or from an end of the run, are one."""
    rows: list[list[float]] = []
    for place, anew in sorted([(t, 1.0) for t in jumps] + [(t, 0.0) for t in nodes]):
        near = margin(place, end - start)
        at = start if place - near <= start else end if place + near >= end else place
        if rows and at - near <= rows[-1][2]:
            rows[-1][1:] = [at, at + near, max(rows[-1][3], anew)]
        else:
            rows.append([at - near, at, at + near, anew])
    return np.array(rows).reshape(-1, 4)


def laws(eq: Equations) -> Iterator[tuple[ForceElement, str, Function, int]]:
    """Functions of forces whose argument follows the motion, and the address of that argument in compiled code."""
    within: Any = PROGRAM.fields
    for table in eq.tables.force_tables:
        fields: Any = table.rows.dtype.fields
        for k, f in enumerate(table.elements):
            for name, variables in _function_fields(table.type):
                function = getattr(f.force, name)
                if not isinstance(function, Function) or (variables or function.variables) == ("t",):
                    continue
                if name in fields and table.rows[name][k]["n_code"]:
                    address = table.rows[k : k + 1].ctypes.data + fields[name][1] + within["argument"][1]
                    yield f.force, name, function, address


def _watched(
    eq: Equations, start: float, end: float
) -> Iterator[tuple[Element, str, Function, tuple[float, float], int, Bounds]]:
    """Laws with the way of their argument, its address, and how far it may go at once."""
    for force, name, function, address in laws(eq):
        way = force.way(name, start, end) or _way(function)
        if way is not None and len((bounds := changing(function, *way)).places):
            yield force, name, function, way, address, bounds


def _stops(eq: Equations) -> Iterator[tuple[int, Bounds]]:
    """Addresses of the measures of stops, and how far they may go at once."""
    for table in eq.tables.force_tables:
        fields: Any = table.rows.dtype.fields
        for k, f in enumerate(table.elements):
            if "reached" in fields and len((bounds := _beside(f.force.stops())).places):
                yield table.rows[k : k + 1].ctypes.data + fields["reached"][1], bounds


def _beside(stops: list[float]) -> Bounds:
    """How far a measure may go at once: up to the next stop, and no farther beyond than a small part of the room.

    So a step that comes to a stop ends in it, where its load is seen, and does not pass through.
    """
    bounds = Bounds.none()
    depth = SMALL * (float(np.ptp(stops)) or max(map(abs, stops), default=0.0))
    for stop in stops:
        bounds = bounds.both(Bounds(np.array([stop - depth, stop + depth]), np.array([depth, np.inf])))
    return bounds


def _way(function: Function) -> tuple[float, float] | None:
    """Where the argument of a function matters, by its table, switches or landmarks; None if nothing tells."""
    if function.program is None or function.kind in ("constant", "polynomial"):
        return None
    marks = landmarks_anywhere(function)
    places = np.union1d(function.breakpoints(-FAR, FAR), marks)
    if not len(places):
        return None
    room = float(np.ptp(places)) or max(1.0, float(np.abs(places).max()))
    room = max(room, WIDTHS * float(spread(tree(function.program), marks).max(initial=0.0)))
    return float(places[0]) - room, float(places[-1]) + room


def _too_short(function: Function, found: Features, start: float, end: float, dt: float) -> tuple[float, float] | None:
    """Width and instant of what comes and goes within two steps; None if nothing does.

    What is straight between two jumps may: steps end at these.
    """
    width, at = found.bounds.narrowest
    if width < dt:
        return width, at
    values: Any = values_of(function)
    near = margin(end, end - start)
    breaks = np.union1d(found.jumps, found.nodes)
    edges = np.union1d(breaks, [start, end])
    short = np.flatnonzero(np.diff(edges) < SHORT * dt)[:MOST_PAIRS]
    if not len(breaks) or not len(short):
        return None
    heeded = {start, end, *found.jumps.tolist()}
    size = float(np.ptp(values(np.concatenate([edges - near, edges + near, 0.5 * (edges[1:] + edges[:-1])]))))
    for a, b in zip(edges[short].tolist(), edges[short + 1].tolist(), strict=True):
        inside = values(np.linspace(a + near, b - near, 9))
        before, after = values(np.array([a - near if a > start else b + near, b + near if b < end else a - near]))
        if {a, b} <= heeded:
            before, after = inside[0], inside[-1]
        if float(np.max(np.abs(inside - np.linspace(before, after, 9)))) > SMALL * size:
            return b - a, a
    return None
