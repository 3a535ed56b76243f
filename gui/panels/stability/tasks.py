"""Tasks of the stability tab, computed in the solver process. No widgets here."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

import mbframe as mb

from ...solving.tasks import Model
from .variation import Variation

Report = Callable[..., Any]

DESCRIBED, SHOWN, EQUILIBRIUM, STEADY = "described", "shown", "equilibrium", "steady"
ASSEMBLED = "assembled"
AROUND = 0.1  # s: how far around its instant a load must be zero to be left out, unless it changes at a breakpoint
INSTANT = 1e-9  # s, or part of the time: a breakpoint so near is at the instant
SAMPLES = np.append(0.0, np.geomspace(1e-6, 0.999, 12))  # parts of the way to the end of what is looked at
LOCUS_SHARE = 0.8  # of the time of a root locus; the rest are critical values


@dataclass(frozen=True)
class About:
    """The state about which to linearize.

    `kind` is "described" (the model as it stands), "assembled" (the same with its joints closed), "shown" (`state`),
    "equilibrium" or "steady" (the nearest one to `state`, or to the described state; a steady motion may be given its
    `rate` of turn, rad/s). `turn` is the axis and the rate of the frame in which a steady turn stands still.
    """

    kind: str = DESCRIBED
    state: Any = None
    turn: tuple[tuple[float, ...], float] | None = None
    rate: float | None = None

    @property
    def searched(self) -> bool:
        """Whether the state has to be found."""
        return self.kind in (ASSEMBLED, EQUILIBRIUM, STEADY)

    def found(self, system: Any) -> Any:
        """The state in a system; None is the described one."""
        if self.kind == EQUILIBRIUM:
            return mb.equilibrium(system, self.state)
        if self.kind == STEADY:
            return mb.steady(system, self.state, rate=self.rate)
        if self.kind == ASSEMBLED:
            return mb.assemble(system)
        return self.state if self.kind == SHOWN else None

    def linearized(self, system: Any) -> tuple[Any, Any, tuple[str, ...]]:
        """The linearization of a system about the state, the state as it was found, and loads that were left out."""
        frame = None if self.turn is None else mb.TurningFrame(axis=self.turn[0], rate=self.turn[1])
        left_out = leave_out_idle_loads(system, 0.0 if self.state is None else self.state.t)
        state = self.found(system)
        return mb.linearize(system, state, frame), state, left_out


def leave_out_idle_loads(system: Any, t: float) -> tuple[str, ...]:
    """Remove loads that are functions of time and zero around t; their names.

    A push that comes or has been disturbs a motion, it is no part of it. A load that only passes zero is.
    """
    found = []
    for load in [load for load in system.forces if isinstance(load, (mb.PointForce, mb.Torque))]:
        parts = load.force if isinstance(load, mb.PointForce) else load.torque
        functions = parts if isinstance(parts, tuple) else (parts,)
        varying = any(function.kind != "constant" for function in functions)
        if varying and all(idle(function, t) for function in functions):
            system.remove(load)
            found.append(load.name)
    return tuple(found)


def idle(function: mb.Function, t: float) -> bool:
    """Whether a function of time is zero around t: there, and as far as its breakpoints or `AROUND` allow."""
    if function.kind == "constant":
        return bool(function(t) == 0.0)
    low, high = max(t - AROUND, min(t, 0.0)), t + AROUND  # time begins with zero
    breaks = function.breakpoints(low, high)
    if np.any(np.abs(breaks - t) <= INSTANT * max(1.0, abs(t))):
        return False  # it begins or ends right there
    before, after = breaks[breaks < t], breaks[breaks > t]
    first, last = (before.max() if len(before) else low), (after.min() if len(after) else high)
    # Off the breaks themselves, whose values belong to either side.
    places = t + np.concatenate([SAMPLES[1:] * (first - t), SAMPLES * (last - t)])
    return all(function(place) == 0.0 for place in places.tolist())


@dataclass(frozen=True)
class Subject:
    """A model, and perhaps a number in it that varies; it travels between processes."""

    model: Model
    about: About = field(default_factory=About)
    variation: Variation | None = None

    def system(self, value: float | None = None) -> Any:
        """The system with a value of the number that varies; None leaves it as it is."""
        system = pickle.loads(_pickled(self.model))
        return self.variation.applied(system, value) if self.variation is not None and value is not None else system

    def linearized(self, value: float | None = None) -> Any:
        """The linearization of the system."""
        return self.about.linearized(self.system(value))[0]


@lru_cache(maxsize=2)
def _pickled(model: Model) -> bytes:
    """A slider asks for the same model again and again, and reading its text takes longest."""
    return model.pickled or pickle.dumps(model.system())


Shares = dict[str, dict[str, float]]
"""Parts of an energy by kind and element; those of a kind make 1 together."""
ENERGIES = ("kinetic", "potential", "dissipation")
MOST_SHARED = 60
"""Modes."""


@dataclass(frozen=True)
class RootsFound:
    """A linearization, and the value of the parameter at which it holds (None: as in the model).

    `state` is the equilibrium or steady motion that was searched for (None: none was), and `moved` says how far bodies
    went to it from where they are described (m, rad), by name. `left_out` names loads that are zero around that instant
    and take no part.
    """

    linearization: Any
    value: float | None = None
    state: Any = None
    moved: dict[str, tuple[float, float]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    shares: dict[int, Shares] = field(default_factory=dict)
    """Of elements in the energies of modes, by the number of the mode."""


@dataclass(frozen=True)
class RootsTask:
    """Linearize a model."""

    subject: Subject
    value: float | None = None

    def run(self, report: Report) -> RootsFound:
        system = self.subject.system(self.value)
        lin, state, left_out = self.subject.about.linearized(system)
        if not self.subject.about.searched:
            return RootsFound(lin, self.value, left_out=left_out, shares=shares_of(lin))
        return RootsFound(lin, self.value, state, moved(system, state), left_out, shares_of(lin))


def shares_of(lin: Any) -> dict[int, Shares]:
    """Shares of elements in the energies of modes; of many modes nobody reads them, and they take long."""
    found: dict[int, Shares] = {}
    if len(lin.modes) > MOST_SHARED:
        return found
    for number, mode in enumerate(lin.modes):
        if mode.ignorable:
            continue
        try:
            energy = mode.energy
        except mb.MbframeError:  # of this mode nothing is known
            continue
        found[number] = {
            kind: {name: value for name, share in energy.items() if np.isfinite(value := getattr(share, kind))}
            for kind in ENERGIES
        }
    return found


def moved(system: Any, state: Any) -> dict[str, tuple[float, float]]:
    """Displacement (m) and turn (rad) of each body from where it is described to a state."""
    from mbframe.analysis.states.assemble import turned
    from mbframe.equations.equations import Equations

    start = Equations(system).described().motions
    return {
        name: (
            float(np.linalg.norm(motion.position - start[name].position)),
            float(np.linalg.norm(turned(start[name].rotation, motion.rotation))),
        )
        for name, motion in state.motions.items()
    }


@dataclass(frozen=True)
class LocusFound:
    """The roots along a range of values, and where stability is gained or lost; `warning` says what is missing."""

    locus: Any
    critical: list[Any]
    warning: str = ""


@dataclass(frozen=True)
class LocusTask:
    """Follow the roots along a range of values and find the critical ones in it."""

    subject: Subject
    values: tuple[float, ...]

    def run(self, report: Report) -> LocusFound:
        known: dict[float, Any] = {}
        count = len(self.values)

        def build(value: float) -> Any:
            if value not in known:
                # Past the given values it is the search for critical ones, of unknown length.
                done = len(known) / count
                report(LOCUS_SHARE * done if done < 1.0 else 1.0 - (1.0 - LOCUS_SHARE) / done**4, None)
                known[value] = self.subject.linearized(value)
            return known[value]

        values = np.asarray(self.values, float)
        locus = mb.root_locus(build, values)
        if locus.failures:
            first = locus.failures[0]
            return LocusFound(locus, [], f"{len(locus.failures)} of {count} values have no roots: {first}")
        # The search begins on the same values, so that only their refinement is computed again.
        critical = mb.critical_values(build, (float(values[0]), float(values[-1])), points=count)
        return LocusFound(locus, critical, " ".join(locus.warnings))
