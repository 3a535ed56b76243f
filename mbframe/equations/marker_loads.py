"""What acts on flexible bodies: forces and torques of joints and force elements at their markers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..bodies.formulations import FlexibleFormulation
from ..errors import MbframeError
from ..markers import AxisMarker
from .equations import Equations
from .numbered import NumberedBody, NumberedForce
from .user import method_of

Array = NDArray[np.float64]

SPREAD = 64  # states over a run whose loads are looked at whatever happens there


def telling(eq: Equations, t: Array, y: Array, bodies: list[NumberedBody]) -> list[int]:
    """Which of some states to look at: `SPREAD` of them, and those of the largest accelerations and reactions.

    All accelerations and reactions take as long as one evaluation of the equations for each state. What is short and
    is in neither of them, such as a pulse of two forces that balance each other on one body, can be missed.
    """
    if len(t) <= SPREAD:
        return list(range(len(t)))
    picked = set(np.linspace(0, len(t) - 1, SPREAD).astype(int).tolist())
    own = {b.first_marker + k for b in bodies for k in range(len(b.markers))}
    with suppress(MbframeError):  # of a state at which the equations have no solution
        found = eq.replay(t, y)
        rates = eq.split(found["rates"])[1]
        columns = [rates[:, b.v_slice] for b in bodies]
        columns += [found["multipliers"][:, c.rows] for c in eq.tables.constraints if c.i in own or c.j in own]
        largest = np.abs(np.concatenate(columns, axis=1))
        picked |= set(np.where(np.isfinite(largest), largest, 0.0).argmax(axis=0).tolist())
    return sorted(picked)


class Side(NamedTuple):
    """One side of a constraint: its rows, the marker, and where in the solver's entries its Jacobian stands.

    Of the columns these are six: of the velocity of the body, and of its angular velocity along its own axes; in the
    plane three.
    """

    rows: slice
    number: int
    places: NDArray[np.int64]
    body: NumberedBody

    def in_space(self, entries: Array) -> Array:
        """Entries at the places (..., columns) as six columns."""
        return cast(FlexibleFormulation, self.body.formulation).in_space(entries)


def sides_of(eq: Equations, bodies: list[NumberedBody]) -> list[Side]:
    """The constraints on some flexible bodies."""
    owners = {b.first_marker + k: b for b in bodies for k in range(len(b.markers))}
    found = []
    for c in eq.tables.constraints:
        for number, first in ((c.i, c.block_i), (c.j, c.block_j)):
            if (b := owners.get(number)) is not None:
                starts = first + b.formulation.n_v * np.arange(c.constraint.equations)
                found.append(Side(c.rows, number, starts[:, None] + np.arange(b.formulation.modal_v.start), b))
    return found


class Solved(NamedTuple):
    """What acts in those of some states at which the equations have a solution, n of them.

    numbers, rates
        (n,): which of the states; (n, n_v): the accelerations there.
    positions, loads
        (n, markers, 3): where the markers are; (n, markers, 6): force and torque, global, of joints and force elements
        on those of the flexible bodies. Those on others are not complete.
    """

    numbers: NDArray[np.intp]
    rates: Array
    positions: Array
    loads: Array


def marker_loads(eq: Equations, t: Array, y: Array, bodies: list[NumberedBody]) -> Solved:
    """Solve the equations at some states for the loads on the markers of some bodies.

    Reactions are found from the Jacobian as the solver has it.
    """
    sides = sides_of(eq, bodies)
    owners = {b.first_marker + k for b in bodies for k in range(len(b.markers))}
    where = np.concatenate([side.places.ravel() for side in sides]) if sides else np.zeros(0, np.int64)
    forces = [f for f in eq.tables.forces if f.i in owners or f.j in owners]
    markers, kept = eq.tables.markers["position"], []
    solved: list[int] = []
    applied = np.zeros((len(t), len(markers), 6))
    for k in range(len(t)):
        try:
            rates, multipliers = eq.accelerate(float(t[k]), *eq.split(y[k]))
            kept.append((rates, multipliers, eq.work.entries[where], markers.copy()))
            for f in forces:
                _apply(eq, f, float(t[k]), y[k], multipliers, applied[k])
        except MbframeError:  # a state at which the equations have no solution: the run says so
            del kept[len(solved) :]
            continue
        solved.append(k)
    if not solved:
        return Solved(np.zeros(0, np.intp), np.zeros((0, eq.n_v)), applied[:0, :, :3], applied[:0])
    rates, multipliers, entries, positions = (np.array(part) for part in zip(*kept, strict=True))
    numbers, loads = np.array(solved), applied[solved]
    q, first = eq.split(y[numbers])[0], 0
    poses = {b.first_marker: b.formulation.poses(q[:, b.q_slice]) for b in bodies}
    for side in sides:
        rows, number, places, b = side
        block = side.in_space(entries[:, first : first + places.size].reshape(-1, *places.shape))
        first += places.size
        load = -np.einsum("nr,nrk->nk", multipliers[:, rows], block)
        origin, rotation = poses[b.first_marker]
        loads[:, number, :3] += load[:, :3]
        loads[:, number, 3:] += np.einsum("nij,nj->ni", rotation, load[:, 3:])
        loads[:, number, 3:] -= np.cross(positions[:, number] - origin, load[:, :3])
    return Solved(numbers, rates, positions, loads)


def _apply(eq: Equations, f: NumberedForce, t: float, y: Array, multipliers: Array, loads: Array) -> None:
    """Add what a force element does to its markers in the state that was evaluated last."""
    element: Any = f.force
    i, j = eq.tables.seen_by(f)
    force, torque = np.zeros(3), np.zeros(3)
    if element.reactive:
        reaction, _ = eq.reactions(element.joint.name, np.array([t]), y[None], multipliers[None])
        force[:], torque[:] = element.reactive_wrench(t, i, j, reaction[0])
    else:
        states = (eq.split(y)[2][f.states],) if element.states else ()
        force[:], torque[:] = method_of(element, "wrench")(t, i, j, *states)
    loads[f.j] += np.concatenate([force, torque])
    loads[f.i] -= np.concatenate([force, torque + np.cross(j.position - i.position, force)])


def nodes_at(eq: Equations, body: FlexibleBody, number: int, marker: Any, local: Array) -> Array:
    """(n,): the node at a marker; where something slides along the body, the one that is nearest to it.

    `local` (n, markers, 3) are the places of all markers in the axes of the body.
    """
    if not isinstance(marker, AxisMarker):
        return np.full(len(local), body.node_at(marker.at))
    partner = next(c.j if number == c.i else c.i for c in eq.tables.constraints if number in (c.i, c.j))
    arms = body.modes.component.positions - local[:, partner, None]
    return np.linalg.norm(arms, axis=2).argmin(axis=1)
