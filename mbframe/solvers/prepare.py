"""What comes before the first step: strategies that fit together, sensible times, a state that fulfils all joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bodies.formulations import Formulation
from ..disk.atomic import FilePath
from ..equations.equations import Equations
from ..errors import ModelError, Problem, check_kinds
from ..files.result_files import overwritable
from ..joints.driven import Drive
from ..parameters import Element
from ..results import Info
from ..signals import with_signals
from ..state import State
from ..system import System
from .acceleration import Acceleration, AugmentedFormulation
from .events import Event
from .integrators import DormandPrince, GeneralizedAlpha, Integrator, RungeKutta4
from .output import refuse_rows
from .run import Run
from .schedule import Schedule, scheduled
from .stabilization import CoordinatePartitioning, DirectCorrection, Stabilization
from .starting import (
    ambiguous_friction,
    assembled,
    clamped_points,
    counted_angles,
    refuse_conflicting_drivers,
    refuse_misaligned_joints,
    rigid_lines,
    vanishing_equations,
)

Array = NDArray[np.float64]

LATEST = 1e18  # s: the universe is younger, and a time like 1e300 is a mistake that would be computed for ever
SLACK = 1e-12  # part of a time by which rounding may carry an instant beyond it


@dataclass(frozen=True)
class Prepared:
    """A run that can begin, and with what."""

    run: Run
    y: Array
    start: float
    moved: list[str]
    """What was said of the first state, which is among the warnings of `info`."""
    settings: dict[str, Any]
    info: Info
    instants: Array | None
    events: list[Event]
    output: FilePath | None

    def begin(self) -> Run:
        """The run, ready for its first step."""
        self.run.begin(self.y, self.start, self.settings, self.info, self.instants, self.events, self.output)
        return self.run


def prepared(
    who: str,
    system: System,
    t_end: float | None,
    dt: float | None,
    *,
    initial: State | None,
    formulation: Formulation | None,
    acceleration: Acceleration | None,
    stabilization: Stabilization | None,
    integrator: Integrator | None,
    t_eval: ArrayLike | None,
    events: Sequence[Any],
    output: FilePath | None,
) -> Prepared:
    """Check everything and find the first state; the arguments are those of `simulate`, or of `Simulation` (`who`).

    Without `t_end` the end is not known.
    """
    chosen = integrator or (RungeKutta4() if dt is not None else DormandPrince(rtol=1e-6))
    check_kinds(
        who,
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
    instants = _checked(who, start, t_end, dt, chosen, t_eval, events)
    eq = Equations(system, formulation, works=True)
    if output is None:
        if instants is not None:
            refuse_rows(eq, len(instants), "t_eval")
        elif t_end is not None and dt is not None and not chosen.adaptive:
            refuse_rows(eq, (float(t_end) - start) / dt, "dt")
        elif t_end is not None and (longest := getattr(chosen, "max_step", None)) is not None:
            refuse_rows(eq, (float(t_end) - start) / longest, "max_step")
    info = Info(warnings=list(eq.notices))
    if eq.n_rows:
        info.warnings += lost_order(chosen, stabilization)
    y, moved = first_state(eq, start, begin)
    info.warnings += moved
    if begin is not None:
        info.warnings += [
            f"{owner}: the state given as initial= does not tell how often its angle has turned; it is taken to be "
            "within half a turn of the described one. Start from a state of a run that has this element"
            for owner in eq.tables.uncounted(begin.element_states)
        ]
        info.angles = counted_angles(eq, begin)
    info.warnings += clamped_points(system) + rigid_lines(system)
    refuse_misaligned_joints(eq, start, y)
    bounded = getattr(chosen, "max_step", None) is not None

    def look(t: float, y: Array, end: float) -> Schedule:
        refuse_conflicting_drivers(eq, t, end)
        schedule = scheduled(eq, y, t, end, None if chosen.adaptive else dt, bounded)
        signals = eq.signals(t, y)
        forces = [with_signals(force, signals) for force in eq.system.forces]
        remarkable = forces + [j for j in eq.system.joints if isinstance(j, Drive)]
        schedule.warnings[:0] = [remark for element in remarkable for remark in element.remarks(t, end)]
        return schedule

    corrected = stabilization or DirectCorrection(tolerance=1e-10)
    run = Run(eq, chosen, acceleration or AugmentedFormulation(), corrected, look)
    settings = {"dt": dt, "formulation": formulation, **run.strategies()}
    if t_end is not None:
        settings = {"t_end": float(t_end), **settings}
    info.settings = {name: repr(s) if isinstance(s, Element | Formulation) else s for name, s in settings.items()}
    return Prepared(run, y, start, moved, settings, info, instants, [Event.of(e) for e in events], output)


def first_state(eq: Equations, t: float, given: State | None) -> tuple[Array, list[str]]:
    """y of a given state, or of the described one, that fulfils the constraints, and what had to be moved for that."""
    y, notes = assembled(eq, given or eq.described(), given is not None)
    notes += vanishing_equations(eq, t, y)
    notes += ambiguous_friction(eq, t, y)
    return y, notes


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


def lost_order(integrator: Integrator, stabilization: Stabilization | None) -> list[str]:
    """What to say of a stabilization that takes an order of accuracy from the integrator."""
    if not isinstance(integrator, GeneralizedAlpha) or not isinstance(stabilization, CoordinatePartitioning):
        return []
    if integrator.velocity_level:
        return []
    return [
        f"{stabilization} makes {integrator} a method of order one instead of two: its corrections of velocities act "
        "like impulses; use GeneralizedAlpha(velocity_level=True), or stabilization=DirectCorrection()"
    ]


def _checked(
    who: str, start: float, t_end: Any, dt: Any, integrator: Integrator, t_eval: Any, events: Any
) -> Array | None:
    """Refuse senseless times and events, all at once; returns the instants asked for."""
    problems = []

    def refuse(field: str, message: str) -> None:
        problems.append(Problem(who, field, message))

    if t_end is None:
        t_end = math.inf
    elif not _is_number(t_end) or not t_end > start:
        refuse("t_end", f"found {t_end!r}; allowed is a number after the start at t = {start:g} s; give a later time")
    elif abs(t_end) > LATEST:
        refuse("t_end", f"found {t_end!r}; allowed are times up to {LATEST:g} s; give an earlier one")
    if dt is not None and (not _is_number(dt) or not dt > 0.0):
        refuse("dt", f"found {dt!r}; allowed is a positive step (s); give one such as 1e-3")
    elif dt is not None and _is_number(t_end) and max(abs(start), abs(t_end)) + 0.5 * dt == max(abs(start), abs(t_end)):
        refuse("dt", f"found {dt!r}, which no longer changes t = {t_end:g} s in double precision; give a larger step")
    longest = getattr(integrator, "max_step", None)
    if longest is not None and _is_number(t_end) and abs(t_end) + 0.5 * longest == abs(t_end):
        message = f"found {longest!r}, which no longer changes t = {t_end:g} s in double precision; give a larger one"
        problems.append(Problem(str(integrator), "max_step", message))
    if dt is None and not integrator.adaptive:
        refuse("dt", f"found nothing, but {integrator} has a fixed step; add dt=1e-3 or another step")
    instants = None if t_eval is None else _checked_instants(start, t_end, t_eval, refuse)
    if not isinstance(events, Sequence):
        refuse("events", f"found {events!r}; allowed is a list of functions f(t, state); put it in brackets: [...]")
    else:
        for event in events:
            if not callable(event) and not isinstance(event, Event):
                refuse("events", f"found {event!r}; allowed are functions f(t, state) and Event objects; pass these")
    if problems:
        raise ModelError(problems)
    return instants


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _checked_instants(start: float, t_end: Any, t_eval: Any, refuse: Callable[[str, str], None]) -> Array:
    """Refuse instants that are none, do not increase or lie outside of the run."""
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
    elif t_end == math.inf and instants[0] < start:
        refuse("t_eval", f"found {instants[0]:g} s, before the start at t = {start:g} s; leave it out")
    elif _is_number(t_end) and t_end > start:
        slack = SLACK * max(abs(start), abs(t_end))  # 7 * 0.1 is a little more than 0.7
        if instants[0] < start - slack or instants[-1] > t_end + slack:
            found = f"instants from {instants[0]:g} to {instants[-1]:g} s"
            refuse("t_eval", f"found {found}; allowed is {start:g} to {t_end:g} s; change them or t_end")
        instants = np.clip(instants, start, t_end)
    return instants
