"""Followers: numbers that follow the motion, such as angles that are counted over turns, and the work of elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..connections import Connection
from ..constraints.relations import MeasureTerm
from ..state import COUNTED


@dataclass(frozen=True)
class Follower:
    """A number that follows the motion, f' = g(t, q, v), integrated along with it and set anew at accepted steps.

    Inputs have one too, without a rate and a label: they stay as they are until they are given another value.

    It has a place in z behind the own states of elements, so that integrators, results, files and restarts keep it. But
    no error is estimated for it, and analyses leave it alone: nothing depends on it but the choice of a turn.
    """

    owner: Any  # the element
    owner_name: str  # as it was when it was numbered
    label: str  # what it is, behind the name of its owner
    unit: str
    z: int
    start: float
    unknown: float  # what stands for it in states and files that do not have it
    held: bool = False  # what a controller holds from one sample to the next

    @property
    def place(self) -> slice:
        return slice(self.z, self.z + 1)

    @property
    def named(self) -> bool:
        """Whether its owner is an element of the system, which may get another name."""
        return hasattr(self.owner, "name") and not isinstance(self.owner, MeasureTerm)

    @property
    def column(self) -> tuple[str, str]:
        """Name and unit of its values in a result."""
        name = f"{self.owner_name}{self.label}"
        return (name, self.unit) if self.label.startswith(".") or not self.label else (f"{name}.state.0", "")


@dataclass(frozen=True)
class Work:
    """The energy that an element has delivered to the bodies since the start of a run: the integral of its power.

    It has a place in z behind all followers, and is treated as one. But it belongs to a run, not to a state: each run
    begins with zero.
    """

    owner: Any  # a force, a joint that prescribes a motion, or a body whose deformation is damped
    owner_name: str
    z: int


def described_angle(element: Connection) -> float:
    """The angle between the markers of an element where it is described, between -pi and pi."""
    axes, x = element.i.axes, element.j.axes[:, 0]
    return float(np.arctan2(x @ axes[:, 1], x @ axes[:, 0]))


def may_count(cls: Any) -> bool:
    """Whether elements of a class may have angles that are counted over turns; each says for itself if it has."""
    return cls.counts_turns is not False


__all__ = ["COUNTED", "Follower", "Work", "described_angle", "may_count"]
