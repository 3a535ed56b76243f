"""Velocities, forces and reactions of a result, as what `Scene.arrows` draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, Problem
from ..results import Result
from .placement import point3
from .style import ARROWS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Vectors:
    """Vectors of a kind at all instants: names of the m elements, points and values (n, m, 3), global."""

    kind: str
    names: list[str]
    points: Array
    values: Array


def vectors(result: Result, kind: str) -> Vectors:
    """The vectors of a result that a kind of arrow shows.

    "velocity": of the bodies' centres of mass, m/s. "reaction": the force that each joint exerts on its second body, at
    its marker there, N. "force": the same for each force element, N. For one state use `mb.evaluate(system, state)`.
    """
    if kind not in ARROWS:
        allowed = ", ".join(map(repr, ARROWS))
        raise ModelError([Problem("vectors", "kind", f"found {kind!r}; allowed are {allowed}; choose one of them")])
    found = list({"velocity": _velocities, "reaction": _reactions, "force": _forces}[kind](result))
    empty = np.zeros((len(result.t), 0, 3))
    return Vectors(
        kind,
        [name for name, _, _ in found],
        np.stack([point for _, point, _ in found], axis=1) if found else empty,
        np.stack([value for _, _, value in found], axis=1) if found else empty,
    )


Sample = tuple[str, Array, Array]  # name, points (n, 3), vectors (n, 3)


def _velocities(result: Result) -> Iterator[Sample]:
    for body in result.described.bodies:
        center = getattr(body, "center_of_mass", None)
        yield body.name, point3(result.position(body, center)), point3(result.velocity(body, center))


def _reactions(result: Result) -> Iterator[Sample]:
    for joint in result.described.joints:
        yield joint.name, point3(result.position(joint.j)), point3(result.reaction(joint).force)


def _forces(result: Result) -> Iterator[Sample]:
    for force in result.described.forces:
        yield force.name, point3(result.position(force.j)), point3(result.wrench(force)[0])
