"""Periodic motions and their stability: Floquet multipliers, exponents, and the perturbations that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ...results import Result
from ...solvers.integrators import DormandPrince
from ...solvers.simulate import simulate
from ...state import State
from ...system import System
from ..linear.linearize import Ignorable
from .transition import perturbed_state
from .variation import Bases

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

ROUNDING: Final = 1e-7
"""How exactly sizes of multipliers are known, times their condition numbers."""
NEIGHBOUR: Final = 1e-5
"""How near to 1 a multiplier is that belongs to a family of periodic motions: it is one of a double root."""
FAMILY: Final = "family: neighbouring periodic motions, faster or wider ones"


@dataclass(frozen=True)
class FloquetMode:
    """A perturbation that is multiplied by a number in each period.

    Attributes
    ----------
    multiplier
        mu: the perturbation y at the start is mu y a period later.
    exponent
        ln(mu)/period, 1/s; imaginary parts are known up to multiples of 2 pi/period.
    explanation
        Why the multiplier says nothing about stability; empty if it does.
    condition
        How much a relative change of the transition matrix can change the multiplier.
    """

    multiplier: complex
    exponent: complex
    shape: Complex = field(repr=False)
    explanation: str
    condition: float
    system: System = field(repr=False, compare=False)
    period: float = field(repr=False)
    bases: Bases = field(repr=False, compare=False)  # what the shape means

    @property
    def ignorable(self) -> bool:
        """Whether the multiplier says nothing about stability."""
        return bool(self.explanation)

    @property
    def side(self) -> int:
        """1 outside the unit circle, -1 inside, 0 on it up to rounding."""
        size = abs(self.multiplier)
        slack = ROUNDING * max(1.0, self.condition) ** 0.5
        return int(size > 1.0 + slack) - int(size < 1.0 - slack)

    def state(self, amplitude: float = 1e-3, phase: float = 0.0) -> State:
        """The state at the start displaced by Re(amplitude exp(i phase) shape), with all joints closed."""
        y = (amplitude * np.exp(1j * phase) * self.shape).real
        return perturbed_state(self.system, self.bases, y)

    def play(self, amplitude: float = 1e-3, periods: float = 3.0, **options: Any) -> Result:
        """Simulate the disturbed motion over some periods, to see the perturbation grow or die out."""
        start = self.state(amplitude)
        end = start.t + periods * self.period
        instants = np.linspace(start.t, end, int(np.ceil(100 * periods)) + 1)
        chosen: dict[str, Any] = {"integrator": DormandPrince(rtol=1e-9, atol=1e-11), "t_eval": instants, **options}
        return simulate(self.system, end, initial=start, **chosen)


def stability_of(modes: Sequence[FloquetMode]) -> str:
    """ "asymptotic", "marginal" or "unstable"; ignorable multipliers do not count."""
    sides = [mode.side for mode in modes if not mode.ignorable]
    if any(side > 0 for side in sides):
        return "unstable"
    return "asymptotic" if sides and all(side < 0 for side in sides) else "marginal"


@dataclass(frozen=True)
class PeriodicMotion:
    """A periodic motion and its stability: see `mb.periodic`.

    Attributes
    ----------
    period
        s.
    state
        Where it begins; `mb.simulate(system, ..., initial=orbit.state)` goes along it.
    motion
        The motion over one period.
    multipliers
        Floquet multipliers of all minimal perturbations, the largest first.
    exponents
        ln(multipliers)/period, 1/s, in the same order.
    ignorable
        Multipliers that say nothing about stability, and why: being later, shifts that nothing resists, families.
    modes
        A `FloquetMode` for each multiplier.
    stability
        "asymptotic", "marginal" or "unstable"; ignorable multipliers do not count.
    error
        What is left open after the period, in lengths of the model or radians.
    """

    system: System
    period: float
    state: State
    motion: Result
    modes: list[FloquetMode]
    error: float
    monodromy: Array = field(repr=False)

    @property
    def multipliers(self) -> Complex:
        return np.array([mode.multiplier for mode in self.modes], complex)

    @property
    def exponents(self) -> Complex:
        return np.array([mode.exponent for mode in self.modes], complex)

    @property
    def ignorable(self) -> list[Ignorable]:
        groups: dict[str, list[complex]] = {}
        for mode in self.modes:
            if mode.explanation:
                groups.setdefault(mode.explanation, []).append(mode.multiplier)
        return [Ignorable(tuple(found), words) for words, found in groups.items()]

    @property
    def unstable_count(self) -> int:
        """Number of multipliers outside the unit circle, ignorable ones apart."""
        return sum(mode.side > 0 for mode in self.modes if not mode.ignorable)

    @property
    def stability(self) -> str:
        """ "asymptotic", "marginal" or "unstable"."""
        return stability_of(self.modes)

    @property
    def stable(self) -> bool:
        """Whether no perturbation grows."""
        return self.stability != "unstable"

    def __repr__(self) -> str:
        return f"<PeriodicMotion of {self.system.name!r}: period {self.period:.6g} s, {self.stability}>"

    def __str__(self) -> str:
        words = {"asymptotic": "stable", "marginal": "marginal", "unstable": "unstable"}[self.stability]
        lines = [f"{self.system.name!r} moves periodically with {self.period:.6g} s and is {words}."]
        lines += [f"{'multiplier':>24}  {'size':>10}  what it is"]
        for mode in self.modes:
            mu = mode.multiplier
            text = f"{mu.real:.6g}" + (f" {'+' if mu.imag > 0 else '−'} {abs(mu.imag):.6g} i" if mu.imag else "")
            said = mode.explanation or {1: "grows", 0: "stays", -1: "decays"}[mode.side]
            lines.append(f"{text:>24}  {abs(mu):>10.6g}  {said}")
        return "\n".join(lines)


def floquet_modes(
    system: System, period: float, bases: Bases, monodromy: Array, trivial: Array, names: Sequence[str]
) -> list[FloquetMode]:
    """The multipliers of a transition matrix over a period, with those that nothing resists split off exactly.

    `trivial` are perturbations (columns) that go over into themselves or into each other, `names` what they are.
    """
    from scipy.optimize import linear_sum_assignment

    units = _units(monodromy, bases)
    M, span = monodromy * units / units[:, None], trivial / units[:, None]
    Q, R = np.linalg.qr(span) if span.shape[1] else (np.zeros((len(M), 0)), np.zeros((0, 0)))
    if span.shape[1] and np.abs(np.diag(R)).min() < 1e-9 * np.abs(np.diag(R)).max():
        raise AnalysisError("shifts of the motion are not independent of each other")
    rest = np.linalg.svd(np.eye(len(M)) - Q @ Q.T)[0][:, : len(M) - Q.shape[1]]
    modes: list[tuple[complex, Complex, str, float]] = []
    if Q.shape[1]:
        own, shapes = np.linalg.eig(Q.T @ M @ Q)
        weights = np.abs(np.linalg.solve(R, shapes))
        weights /= weights.max(axis=1, keepdims=True)
        rows, columns = linear_sum_assignment(-weights)  # each multiplier gets a name of its own
        named = rows[np.argsort(columns)]
        modes += [(own[k], Q @ shapes[:, k], names[named[k]], 1.0) for k in range(len(own))]
    if rest.shape[1]:
        modes += _counted(M, rest)
    return [
        FloquetMode(
            complex(value),
            complex(np.log(complex(value)) / period) if value else complex(-np.inf),
            np.asarray(shape * units, complex),
            words,
            condition,
            system,
            period,
            bases,
        )
        for value, shape, words, condition in sorted(modes, key=lambda m: (-abs(m[0]), -complex(m[0]).imag))
    ]


def _units(monodromy: Array, bases: Bases) -> Array:
    """Units in which displacements and velocities of a motion are of one size: a rate of the motion."""
    n_x, n_u = bases.N.shape
    A = bases.A
    rate = max(float(np.sqrt(np.linalg.norm(A[n_x : n_x + n_u, :n_x]))), float(np.linalg.norm(A[:n_x, :n_x])), 1e-6)
    return np.concatenate([np.full(n_x, 1.0 / rate), np.ones(len(A) - n_x)])


def _counted(M: Array, rest: Array) -> list[tuple[complex, Complex, str, float]]:
    """Multipliers of what is left when trivial perturbations are split off, with their whole perturbations."""
    part = rest.T @ M @ rest
    values, left_vectors, right_vectors = _eigen(part)
    found = []
    for k, value in enumerate(values):
        small, left = right_vectors[:, k], left_vectors[:, k]
        condition = 1.0 / max(float(abs(np.vdot(left, small))), 1e-300)
        # The perturbation itself is rest @ small + Q c; where mu is that of the trivial part it has none of its own.
        shifted = M - value * np.eye(len(M))
        whole = rest @ small
        whole = whole - (np.eye(len(M)) - rest @ rest.T) @ np.linalg.pinv(
            shifted @ (np.eye(len(M)) - rest @ rest.T), rcond=1e-8
        ) @ (shifted @ whole)
        words = FAMILY if rest.shape[1] < len(M) and abs(value - 1.0) < NEIGHBOUR else ""
        found.append((complex(value), whole / np.abs(whole).max(), words, condition))
    return found


def _eigen(matrix: Array) -> tuple[Complex, Complex, Complex]:
    from scipy.linalg import eig

    values, left, right = eig(matrix, left=True, right=True)
    return values, left / np.linalg.norm(left, axis=0), right / np.linalg.norm(right, axis=0)
