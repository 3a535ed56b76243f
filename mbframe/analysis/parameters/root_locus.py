"""How the roots of a system move with a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..linear.linearize import Ignorable
from ..linear.spectrum import Spectrum, partners, similarity
from .executors import Executor
from .sweep import Failure, successes, sweep

if TYPE_CHECKING:
    from ...plots.style import Plot
    from .critical import CriticalValue

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

ALIKE = 0.25  # similarity below which two modes are not the same with certainty
LISTED = 5


@dataclass(frozen=True)
class RootLocus:
    """The roots of a system along the values of a parameter.

    Attributes
    ----------
    values
        Of the parameter.
    eigenvalues
        A row for each value, a column for each branch; nan where a branch has no root or a point failed. Ignorable
        roots are left out.
    similarity
        How much each mode looks like that of its branch before, from 0 to 1, in the places of `eigenvalues`; a low
        number says that the values are too far apart to follow the branch with certainty. nan where a branch begins.
    stability
        As that of a `Linearization`: "asymptotic", "marginal", "unstable" …; "" where a point failed.
    ignorable
        The ignorable roots at each value, and why they are.
    failures
        The points without a result.
    warnings
        In words, where branches could not be followed with certainty.
    """

    values: Array
    eigenvalues: Complex
    similarity: Array
    stability: list[str]
    ignorable: list[list[Ignorable]]
    failures: list[Failure]

    @property
    def warnings(self) -> list[str]:
        """Where branches were joined although their modes hardly look alike, in words; empty if nowhere."""
        doubtful = np.flatnonzero(np.nanmin(np.where(np.isnan(self.similarity), 1.0, self.similarity), axis=1) < ALIKE)
        if not len(doubtful):
            return []
        listed = ", ".join(f"{value:.6g}" for value in self.values[doubtful[:LISTED]])
        more = f" and {len(doubtful) - LISTED} more" if len(doubtful) > LISTED else ""
        return [
            f"modes change too much between neighbouring values to follow all branches with certainty, up to {listed}"
            f"{more}; give values that are closer there"
        ]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether no root grows, for each value."""
        known = ("asymptotic", "marginal", "not determined: no root grows")
        return np.array([word.startswith(known) for word in self.stability])

    def plot(
        self,
        *,
        plane: bool = False,
        critical: Sequence[CriticalValue] = (),
        label: str = "parameter",
        title: str | None = None,
        theme: str = "light",
    ) -> Plot:
        """Real and imaginary parts over the parameter, or in the complex `plane`.

        `critical` are critical values to be marked, as `mb.critical_values` finds them; `label` names the parameter.
        """
        from ...plots.stability import root_locus_over_values, root_locus_plane

        return (root_locus_plane if plane else root_locus_over_values)(self, critical, label, title, theme)


def root_locus(
    build: Callable[[Any], Any],
    values: Iterable[float],
    executor: Executor | str | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> RootLocus:
    """Follow the roots of a system along the values of a parameter.

    Roots of neighbouring values are joined to branches by the similarity of their modes and by where the branches were
    heading, so that branches keep their identity where they cross.

    Parameters
    ----------
    build
        Makes a system from a value; it is linearized about the state in which it is described. For another state return
        the linearization: `lambda v: mb.linearize(system := bicycle(v), mb.steady(system, ...))`.
    values
        Of the parameter, in order.
    executor, progress
        See `mb.sweep`.
    """
    chosen = np.array(list(values), float)
    points = sweep(build, chosen.tolist(), Spectrum.of, executor, progress)
    successes(points, "root_locus")
    return followed(chosen, points)


def followed(values: Array, points: list[Spectrum | Failure]) -> RootLocus:
    """The branches through spectra along the values of a parameter."""
    branches: list[_Branch] = []
    for k, point in enumerate(points):
        if isinstance(point, Failure):
            continue
        last = _gathered(branches, point)
        predicted = np.array([branch.predicted(values[k]) for branch in branches], complex)
        alike = similarity(last, point)
        free = set(range(len(point.roots)))
        for i, j in partners(last, point, predicted, alike):
            branches[i].add(values[k], k, point, j, alike[i, j])
            free.remove(j)
        for j in sorted(free):
            branches.append(_Branch())
            branches[-1].add(values[k], k, point, j, np.nan)
    eigenvalues = np.full((len(values), len(branches)), complex(np.nan, np.nan))
    alike = np.full(eigenvalues.shape, np.nan)
    for column, branch in enumerate(branches):
        eigenvalues[branch.rows, column] = branch.roots
        alike[branch.rows, column] = branch.similarity
    return RootLocus(
        values,
        eigenvalues,
        alike,
        ["" if isinstance(point, Failure) else point.stability for point in points],
        [[] if isinstance(point, Failure) else point.ignorable for point in points],
        [point for point in points if isinstance(point, Failure)],
    )


class _Branch:
    """One root along the parameter, so far."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.rows: list[int] = []
        self.roots: list[complex] = []
        self.similarity: list[float] = []
        self.shape: Complex = np.zeros(0, complex)

    def add(self, value: float, row: int, spectrum: Spectrum, k: int, alike: float) -> None:
        self.values.append(value)
        self.rows.append(row)
        self.roots.append(spectrum.roots[k])
        self.similarity.append(alike)
        self.shape = spectrum.shapes[:, k]

    def predicted(self, value: float) -> complex:
        """Where a straight line through the last two roots leads."""
        if len(self.roots) < 2 or self.values[-1] == self.values[-2]:
            return self.roots[-1]
        share = (value - self.values[-1]) / (self.values[-1] - self.values[-2])
        return self.roots[-1] + share * (self.roots[-1] - self.roots[-2])


def _gathered(branches: list[_Branch], like: Spectrum) -> Spectrum:
    """The last root of each branch."""
    roots = np.array([branch.roots[-1] for branch in branches], complex)
    shapes = np.array([branch.shape for branch in branches], complex).reshape(len(branches), len(like.shapes)).T
    return Spectrum(roots, shapes, like.mass, np.zeros(len(roots)), "", [])
