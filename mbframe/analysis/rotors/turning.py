"""Floquet exponents of a rotor that spins evenly, where neither it nor its surroundings are round.

The reference motion is known: everything spins on. The equations of its small motions have coefficients that repeat
after a turn, and are integrated over it as `motions.variation` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...errors import AnalysisError
from ...system import System
from ..linear.linear_equations import OperatingPoint, TurningFrame
from ..linear.steadiness import advanced, check_steady
from ..motions import collocation
from ..motions.floquet import floquet_modes, stability_of
from ..motions.shifts import later, shifts, small_motions, unnoticed
from ..motions.variation import Window, window
from .circles import observed

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

WINDOWS: Final = 12
"""Parts of a turn to begin with."""
SAFETY: Final = 0.8
CHANGES: Final = (0.2, 2.5)
MOST: Final = 5000
BEYOND: Final = 4
"""Harmonics beyond those with the frequencies of the rotor."""


@dataclass(frozen=True)
class Exponent:
    """A Floquet exponent with the harmonics of its motion in the fixed frame: exp((exponent + i k W) t)."""

    exponent: complex
    harmonics: dict[int, Complex]


def exponents(system: System, frame: TurningFrame) -> tuple[list[Exponent], bool]:
    """All exponents that say something about stability, one of each pair, and whether none of them grows."""
    eq = Equations(system)
    start = eq.described()
    fixed = TurningFrame(axis=frame.axis, rate=0.0)
    check_steady(OperatingPoint.at(eq, start), fixed)
    period = 2.0 * np.pi / abs(frame.rate)
    windows = _turn(eq, start, fixed, period)
    first, last = windows[0].bases[0], windows[-1].bases[-1]
    flow = np.eye(first.size)
    starts = []
    for part in windows:
        starts.append(flow)
        flow = part.flow[-1] @ flow
    to_x, to_u = first.from_motion
    back = to_x @ last.motion + to_u @ last.velocity
    own = len(first.equations.own_feedback)
    if own:
        back[first.size - own :, first.size - own :] = np.eye(own)
    candidates = shifts(eq)
    symmetry = unnoticed(eq, candidates, windows, True)
    point = OperatingPoint.at(eq, start)
    ahead = later(point, first.equations.places)
    motion, rate = (
        np.column_stack([part, time]) @ symmetry.combinations
        for part, time in zip(small_motions(candidates, point, first.equations.places), ahead, strict=True)
    )
    trivial = to_x @ motion + to_u @ rate
    known = floquet_modes(system, period, first, back @ flow, trivial, symmetry.names)
    counted = [mode for mode in known if not mode.ignorable and mode.exponent.imag >= 0.0]
    rates = np.abs(np.linalg.eigvals(first.A).imag).max(initial=0.0)
    most = int(np.ceil(rates / abs(frame.rate))) + BEYOND
    weights = collocation.integration()[-1]
    places = collocation.places()[1:]
    found = [np.zeros((2 * most + 1, 0), complex)] * len(counted)
    numbers = np.arange(-most, most + 1)
    for part, before in zip(windows, starts, strict=True):
        for j, weight in enumerate(weights, 1):
            t = part.start - start.t + places[j - 1] * part.duration
            bases = part.bases[j]
            seen = observed(bases.state, bases.equations.places, system) @ bases.motion @ part.flow[j] @ before
            turns = np.exp(-1j * numbers * abs(frame.rate) * t) * weight * part.duration / period
            for n, mode in enumerate(counted):
                values = seen @ mode.shape * np.exp(-mode.exponent * t)
                added = turns[:, None] * values
                found[n] = added if not found[n].size else found[n] + added
    modes = [
        Exponent(mode.exponent, {int(k): rows[i] for i, k in enumerate(numbers)})
        for mode, rows in zip(counted, found, strict=True)
    ]
    return modes, stability_of(known) != "unstable"


def _turn(eq: Equations, start: Any, fixed: TurningFrame, period: float) -> list[Window]:
    """Windows over a turn, each so short that the coefficients are resolved in it."""
    found: list[Window] = []
    t, duration, before = 0.0, period / WINDOWS, None
    while t < period * (1.0 - 1e-12):
        length = min(duration, period - t)
        length = 0.5 * (period - t) if length < period - t < 1.5 * length else length
        states = [advanced(start, fixed, t + part * length) for part in collocation.places()]
        made = window(eq, states, start.t + t, length, before)
        duration = length * float(np.clip(SAFETY * max(made.error, 1e-30) ** (-1.0 / collocation.POINTS), *CHANGES))
        if made.error > 1.0:
            continue
        found.append(made)
        t, before = t + length, made.bases[-1]
        if len(found) > MOST:
            raise AnalysisError(
                f"{eq.system.name!r}: a turn takes {period:.3g} s and has vibrations so fast that {MOST:,} windows do "
                "not resolve it; leave out speeds near zero or shapes of high frequency"
            )
    check_steady(OperatingPoint.at(eq, states[-1]), fixed)
    return found
