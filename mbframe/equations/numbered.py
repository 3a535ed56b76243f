"""Elements of a system with their places in the equations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.base import Body
from ..bodies.formulations import Formulation
from ..constraints.base import BasicConstraint
from ..controllers.base import Controller
from ..controllers.sight import Sight
from ..errors import ModelError
from ..forces.base import ForceElement
from ..functions import Function
from ..joints.base import Joint
from ..kernels.layout import MOTIONS, PLACES
from ..kernels.stages.loops import by_rate
from ..markers import Marker
from ..registry import is_ours
from ..state import Motion
from .axes import random_markers

Array = NDArray[np.float64]

PART_BITS = np.array([1, 2, 4, 8])  # of the parts of a marker: point, axes x, y, z
MOST_PATTERNS = 1000
_PATTERNS: dict[Hashable, NDArray[np.bool_]] = {}  # of constraints of the same class with the same parameters


@dataclass
class NumberedBody:
    """A body with its formulation and its places in q, v and the rows."""

    body: Body
    formulation: Formulation
    q: int
    v: int
    row: int = 0
    mass_block: int = 0
    row_block: int = 0
    markers: list[Marker] = field(default_factory=list)
    first_marker: int = 0
    work_at: int = -1

    def coordinates(self, motion: Motion) -> tuple[Array, Array]:
        """q and v of a motion; a pose that the formulation cannot describe is a `ModelError`."""
        try:
            return self.formulation.coordinates_of(motion)
        except ValueError as error:
            raise ModelError([self.body.problem("formulation", str(error))]) from None

    @property
    def q_slice(self) -> slice:
        return slice(self.q, self.q + self.formulation.n_q)

    @property
    def v_slice(self) -> slice:
        return slice(self.v, self.v + self.formulation.n_v)


@dataclass
class NumberedConstraint:
    """A basic constraint with the element it belongs to and its first row."""

    constraint: BasicConstraint
    owner: Joint | BasicConstraint
    owner_name: str
    row: int
    i: int
    j: int
    block_i: int = 0
    block_j: int = 0
    counter: int = 0
    parts_i: int = 0
    parts_j: int = 0
    record: Any = None  # its row of the table, which the solver keeps up to date

    @property
    def rows(self) -> slice:
        return slice(self.row, self.row + self.constraint.equations)

    @cached_property
    def row_values(self) -> dict[str, Any]:
        """Its parameters as they stand in the row of its table."""
        return self.constraint.row_values()

    @cached_property
    def gradient_pattern(self) -> NDArray[np.bool_]:
        """Which of the 24 marker numbers each equation depends on: found at random markers, where nothing cancels."""
        key = (type(self.constraint), *(np.asarray(value).tobytes() for value in self.row_values.values()))
        if (known := _PATTERNS.get(key)) is None:
            known = _PATTERNS[key] = _found_pattern(self.constraint)
            while len(_PATTERNS) > MOST_PATTERNS:
                del _PATTERNS[next(iter(_PATTERNS))]
        return known

    @cached_property
    def parts(self) -> tuple[int, int]:
        """What its equations read of both markers, as far as their derivatives tell: a bit for each part of a marker.

        Parts are the point and the axes x, y, z. The axes are given by rows.
        """
        numbers = self.gradient_pattern.any(axis=0).reshape(2, 4, 3)
        read = np.concatenate([numbers[:, :1].any(axis=2), numbers[:, 1:].any(axis=1)], axis=1)
        i, j = (read @ PART_BITS).tolist()
        return i, j


@dataclass
class NumberedForce:
    """A force element with its markers and the place of its own states."""

    force: ForceElement
    name: str
    i: int
    j: int
    z: int
    counter: int = 0
    work_at: int = -1

    @property
    def states(self) -> slice:
        return slice(self.z, self.z + self.force.states)


@dataclass
class NumberedController:
    """A controller with the place of its states, and of its outputs if it holds them; z is -1 where there are none."""

    controller: Controller
    name: str
    sights: list[Sight]
    z: int = -1
    held: int = -1

    @property
    def states(self) -> slice:
        return slice(self.z, self.z + self.controller.states)

    @property
    def signals(self) -> list[str]:
        """What expressions call its outputs."""
        return [f"{self.name}.{output}" for output in self.controller.outputs]

    @property
    def sampled(self) -> bool:
        return self.controller.sample_time is not None


@dataclass(frozen=True)
class Stateful:
    """An element with own states, and their place in z."""

    element: Any
    name: str
    states: slice


@dataclass
class Table:
    """All elements of one type as a structured array, a row each."""

    type: Any  # the class
    rows: np.recarray
    elements: list[Any]
    kept: list[Function] = field(default_factory=list)  # whose programs the rows point to

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of bodies, a row each: where their coordinates are in q, and their velocities in v."""
        formulation = self.elements[0].formulation
        q, v = (self.rows[name][:, None] + np.arange(n) for name, n in (("q", formulation.n_q), ("v", formulation.n_v)))
        return q, v


def users_methods(cls: type) -> frozenset[str]:
    """Which methods of an element class are a user's: in a planar system they take markers of the plane."""
    return users_among(cls, ("residual", "velocity_residual", "wrench", "state_rate", "energy"))


def users_among(cls: type, names: Iterable[str]) -> frozenset[str]:
    """Those of some methods of a class that are a user's."""
    owners = {name: next((c for c in cls.__mro__ if name in vars(c)), None) for name in names}
    return frozenset(name for name, owner in owners.items() if owner is not None and not is_ours(owner))


def _found_pattern(constraint: Any) -> NDArray[np.bool_]:
    markers = random_markers()
    if constraint.nonholonomic:
        given = np.zeros((constraint.equations, MOTIONS))
        constraint.velocity_gradient(0.0, markers[0], markers[1], given)
        return rate_gradient(given, *markers) != 0.0
    g = np.zeros((constraint.equations, PLACES))
    constraint.in_general().gradient(0.0, markers[0], markers[1], g)
    return g != 0.0


def rate_gradient(given: Array, i: Any, j: Any) -> Array:
    """Derivatives of a nonholonomic constraint by the 24 rates of its markers, from those in the 36 numbers."""
    g = np.zeros((len(given), PLACES))
    for side, marker in enumerate((i, j)):
        by_rate.py_func(marker, given, g, side, len(given))
    return g
