"""Branches: solutions one behind the other, whether they are stable, and where they bend, fork or begin to swing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError

Array = NDArray[np.float64]

WORDS: Final = {
    "fold": "the branch turns back, two solutions meet",
    "branch": "another branch crosses or begins",
    "Hopf": "a vibration begins to grow or to die out, limit cycles begin",
    "period doubling": "a motion of twice the period begins",
    "torus": "a vibration of another frequency begins to grow or to die out beside the motion",
}


@dataclass(frozen=True)
class Bifurcation:
    """A place of a branch where solutions or their stability change in kind.

    Attributes
    ----------
    kind
        "fold": the branch turns back; "branch": a root passes zero, or a multiplier 1, and another branch begins;
        "Hopf": a pair of roots passes the imaginary axis with a frequency; "period doubling": a multiplier passes -1;
        "torus" (Neimark-Sacker): a pair of multipliers passes the unit circle.
    value
        Of the parameter.
    point
        The state, steady or periodic motion there.
    eigenvalue
        The root there, 1/s, on the imaginary axis; of a periodic motion the multiplier on the unit circle.
    """

    kind: str
    value: float
    point: Any
    eigenvalue: complex
    _begin: Callable[[], Branch] | None = field(default=None, repr=False, compare=False)

    @property
    def frequency(self) -> float:
        """|Im|/(2 pi), Hz, of the vibration that begins at a Hopf point; 0 elsewhere."""
        return abs(self.eigenvalue.imag) / (2.0 * np.pi) if self.kind == "Hopf" else 0.0

    def switch(self) -> Branch:
        """The branch that begins here: at a Hopf point that of its limit cycles."""
        if self._begin is None:
            raise AnalysisError(
                f"switching is for Hopf points, this is one of the kind {self.kind!r} at {self.value:.6g}; to follow "
                "another branch, start mb.continuation from one of its own points"
            )
        return self._begin()

    def __str__(self) -> str:
        at = f" with {self.frequency:.6g} Hz" if self.kind == "Hopf" else ""
        return f"{self.value:.12g}: {self.kind}{at}, {WORDS[self.kind]}"


@dataclass(frozen=True)
class Branch:
    """Solutions one behind the other along a curve: see `mb.continuation`.

    Attributes
    ----------
    values
        (n,): of the parameter.
    points
        The equilibria, steady or periodic motions at these values.
    stable
        (n,): whether no small disturbance grows.
    stability
        "asymptotic", "marginal" or "unstable" for each point.
    bifurcations
        In the order of the branch.
    closed
        Whether the branch comes back to where it began: its last point is its first.
    ends
        Why the branch ends at its first and last point, in words.
    """

    values: Array
    points: list[Any]
    stability: list[str]
    bifurcations: list[Bifurcation]
    closed: bool
    ends: tuple[str, str]

    @property
    def stable(self) -> NDArray[np.bool_]:
        return np.array([word != "unstable" for word in self.stability], bool)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<Branch of {len(self)} points from {self.values[0]:.6g} to {self.values[-1]:.6g}>"

    def __str__(self) -> str:
        n = int(self.stable.sum())
        how = "all of them stable" if n == len(self) else f"{n} of them stable"
        lines = [f"branch of {len(self)} points, {how}; ends: {self.ends[0]}; {self.ends[1]}"]
        return "\n".join([*lines, *map(str, self.bifurcations)])
