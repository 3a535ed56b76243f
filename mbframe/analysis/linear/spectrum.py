"""The roots at one value of a parameter, and how they are recognized at the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, Problem
from ...system import System
from .linearize import Ignorable, Linearization, linearize

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SMALL = 0.05  # of the middle size of all roots: what sizes of roots near zero are compared with


@dataclass(frozen=True)
class Spectrum:
    """The roots of a linearization that are not ignorable, with the shapes of their modes (columns)."""

    roots: Complex
    shapes: Complex
    mass: Array
    margins: Array
    """How far rounding can have moved each root."""
    stability: str
    ignorable: list[Ignorable]
    complete: bool = True
    """Whether these are all roots."""

    @classmethod
    def of(cls, made: System | Linearization) -> Spectrum:
        """Of a system in the state in which it is described, or of a linearization about another."""
        if not isinstance(made, System | Linearization):
            message = f"found {made!r}; it must return a system, or the linearization of one about a state of your own"
            raise ModelError([Problem("build", "", message)])
        lin = linearize(made) if isinstance(made, System) else made
        kept = [k for k, root in enumerate(lin.roots) if not root.explanation]
        shapes = np.array([lin.roots[k].shape for k in kept], complex).reshape(len(kept), lin.equations.size).T
        rounded = lin.rounding[kept]
        return cls(lin.eigenvalues[kept], shapes, lin.mass, rounded, lin.stability, lin.ignorable, lin.complete)

    @classmethod
    def whole(cls, made: System | Linearization) -> Spectrum:
        """The same for those who count roots: all of them must have been computed."""
        found = cls.of(made)
        if not found.complete:
            message = "found a linearization with only some of its roots, among which those that grow may be missing"
            raise ModelError([Problem("build", "n_modes", f"{message}; leave n_modes out")])
        return found

    @property
    def signs(self) -> NDArray[np.int64]:
        """1 for a root that grows, -1 for one that decays, 0 where rounding does not tell."""
        growth = self.roots.real
        return np.where(np.abs(growth) <= self.margins, 0, np.sign(growth)).astype(np.int64)

    @property
    def unstable(self) -> int:
        """Number of roots with a positive real part."""
        return int(np.sum(self.signs > 0))

    @property
    def growth(self) -> float:
        """The largest real part; 0 if it is zero but for rounding, -inf without roots."""
        return float(np.where(self.signs == 0, 0.0, self.roots.real).max(initial=-np.inf))


def similarity(first: Spectrum, second: Spectrum) -> Array:
    """How much the modes of one spectrum (rows) look like those of another (columns): 1 alike, 0 unlike.

    The modal assurance criterion |a^H W b|^2/((a^H W a) (b^H W b)) of the states a = (xi, lambda xi), weighted with the
    mass matrix and, for xi, with the square of a rate that is the geometric mean of both roots. The velocities tell
    modes of the same shape apart, such as a root and its conjugate.
    """
    size = _sizes(first, second)
    rate = size[0] * size[1]
    product = first.shapes.conj().T @ second.mass @ second.shapes
    own = [np.sum(s.shapes.conj() * (second.mass @ s.shapes), axis=0).real for s in (first, second)]
    a, b = np.conj(first.roots)[:, None], second.roots[None, :]
    top = np.abs((rate + a * b) * product) ** 2
    bottom = (rate + np.abs(a) ** 2) * (rate + np.abs(b) ** 2) * np.outer(*own)
    return np.asarray(top / np.where(bottom > 0.0, bottom, 1.0), float)


def partners(
    first: Spectrum, second: Spectrum, predicted: Complex | None = None, alike: Array | None = None
) -> list[tuple[int, int]]:
    """Pairs of modes of two spectra that belong together: the assignment with least difference in all.

    A difference is 1 - `similarity` plus the distance of the roots relative to their sizes. `predicted` is where the
    roots of the first spectrum are expected in the second; `alike` is the similarity, if it is known.
    """
    from scipy.optimize import linear_sum_assignment

    if not len(first.roots) or not len(second.roots):
        return []
    expected = first.roots if predicted is None else predicted
    distance = np.abs(expected[:, None] - second.roots[None, :]) / sum(_sizes(first, second))
    rows, columns = linear_sum_assignment(distance + 1.0 - (similarity(first, second) if alike is None else alike))
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]


def _sizes(first: Spectrum, second: Spectrum) -> tuple[Array, Array]:
    """Sizes of roots as a column and a row; those near zero count as a small part of the others."""
    sizes = np.abs(first.roots), np.abs(second.roots)
    both = sorted(np.concatenate(sizes).tolist())
    least = SMALL * both[len(both) // 2] or 1.0
    return np.maximum(sizes[0], least)[:, None], np.maximum(sizes[1], least)[None, :]
