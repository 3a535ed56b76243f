"""The simulation: from a system and a choice of strategies to a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
from ..results import Info, Result
from ..state import State
from ..system import System
from .acceleration import Acceleration, AugmentedFormulation
from .events import Event
from .integrators import DormandPrince, GeneralizedAlpha, Integrator, RungeKutta4
from .output import refuse_rows
from .progress import reporter
from .run import Run
from .schedule import scheduled
from .stabilization import CoordinatePartitioning, DirectCorrection, Stabilization
from .starting import (
    assembled,
    clamped_points,
    counted_angles,
    refuse_ambiguous_friction,
    refuse_conflicting_drivers,
    refuse_misaligned_joints,
    rigid_lines,
    vanishing_equations,
)

Array = NDArray[np.float64]

LATEST = 1e18  # s: the universe is younger, and a time like 1e300 is a mistake that would be computed for ever
SLACK = 1e-12  # part of a time by which rounding may carry an instant beyond it


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
    eq = Equations(system, formulation, works=True)
    if output is None and instants is not None:
        refuse_rows(eq, len(instants), "t_eval")
    elif output is None and dt is not None and not chosen.adaptive:
        refuse_rows(eq, (float(t_end) - start) / dt, "dt")
    elif output is None and (longest := getattr(chosen, "max_step", None)) is not None:
        refuse_rows(eq, (float(t_end) - start) / longest, "max_step")
    info = Info(warnings=list(eq.notices))
    if eq.n_rows:
        info.warnings += lost_order(chosen, stabilization)
    y, moved = assembled(eq, begin or eq.described(), begin is not None)
    info.warnings += moved
    info.warnings += vanishing_equations(eq, start, y)
    if begin is not None:
        info.warnings += [
            f"{owner}: the state given as initial= does not tell how often its angle has turned; it is taken to be "
            "within half a turn of the described one. Start from a state of a run that has this element"
            for owner in eq.tables.uncounted(begin.element_states)
        ]
        info.angles = counted_angles(eq, begin)
    remarkable = [f.force for f in eq.tables.forces] + [j for j in system.joints if isinstance(j, Drive)]
    info.warnings += [remark for element in remarkable for remark in element.remarks(start, float(t_end))]
    info.warnings += clamped_points(system) + rigid_lines(system)
    refuse_ambiguous_friction(eq, start, y)
    refuse_conflicting_drivers(eq, start, float(t_end))
    refuse_misaligned_joints(eq, start, y)
    bounded = getattr(chosen, "max_step", None) is not None
    schedule = scheduled(eq, y, start, float(t_end), None if chosen.adaptive else dt, bounded)
    info.warnings += schedule.warnings
    corrected = stabilization or DirectCorrection(tolerance=1e-10)
    run = Run(eq, chosen, acceleration or AugmentedFormulation(), corrected, schedule)
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


def _checked(start: float, t_end: Any, dt: Any, integrator: Integrator, t_eval: Any, events: Any) -> Array | None:
    """Refuse senseless times and events, all at once; returns the instants asked for."""
    problems = []

    def refuse(field: str, message: str) -> None:
        problems.append(Problem("simulate", field, message))

    def number(value: Any) -> bool:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)

    if not number(t_end) or not t_end > start:
        refuse("t_end", f"found {t_end!r}; allowed is a number after the start at t = {start:g} s; give a later time")
    elif abs(t_end) > LATEST:
        refuse("t_end", f"found {t_end!r}; allowed are times up to {LATEST:g} s; give an earlier one")
    if dt is not None and (not number(dt) or not dt > 0.0):
        refuse("dt", f"found {dt!r}; allowed is a positive step (s); give one such as 1e-3")
    elif dt is not None and number(t_end) and max(abs(start), abs(t_end)) + 0.5 * dt == max(abs(start), abs(t_end)):
        refuse("dt", f"found {dt!r}, which no longer changes t = {t_end:g} s in double precision; give a larger step")
    longest = getattr(integrator, "max_step", None)
    if longest is not None and number(t_end) and abs(t_end) + 0.5 * longest == abs(t_end):
        message = f"found {longest!r}, which no longer changes t = {t_end:g} s in double precision; give a larger one"
        problems.append(Problem(str(integrator), "max_step", message))
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
