"""What flexible bodies of a result carry within: section forces and stresses, from motion and loads."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .bodies.flexible import FlexibleBody
from .equations.marker_loads import marker_loads, nodes_at
from .errors import ModelError, Problem
from .flexible.moving import Acting, Moving
from .flexible.section_forces import SectionForces
from .flexible.section_forces import section_forces as forces_in_section
from .flexible.stress import VON_MISES
from .flexible.stress import stresses as stresses_at_nodes
from .markers import AxisMarker
from .plane import lifted

if TYPE_CHECKING:
    from .results import Result

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

SAME_INSTANT = 1e-9  # of the length of a run: an instant that is as near is a stored one
INSTANTS = 256  # that are looked at together for the largest stress of a run


@dataclass(frozen=True)
class StressPeak:
    """The largest stress of a body in a run, Pa: at which node, where that is undeformed (body axes, m), when (s)."""

    value: float
    node: int
    position: Array
    t: float


def section_forces(result: Result, name: Any, x: float) -> SectionForces:
    """Section forces of a flexible body made of one line of beams; NaN where the equations have no solution."""
    body, moving, solved = moving_body(result, name, slice(None))
    found = forces_in_section(body.shapes_in_frame, moving, x, body.geometric_stiffening)
    return SectionForces(*(_spread(part, solved, len(result)) for part in vars(found).values()))


def stress(result: Result, name: Any, nodes: Any, t: Any, component: str) -> Array:
    """Stresses at nodes and stored instants, (n, nodes)."""
    return _stress(result, name, nodes, _rows(result, t), component)


def _stress(result: Result, name: Any, nodes: Any, rows: slice | Rows, component: str) -> Array:
    body, moving, solved = moving_body(result, name, rows)
    part = body.modes.component
    every = np.arange(len(part.nodes))
    numbers = every if nodes is None else np.array([_node(part, one) for one in _several(nodes)], np.intp)
    found, remark = stresses_at_nodes(body.shapes_in_frame, moving, numbers, component)
    remarks = [remark] if remark else []
    if any(one.slides for one in moving.acting):
        remarks.append(
            "what slides along it between nodes is taken to act at the nearest one, where its stress is sharp"
        )
    for text in remarks:
        warnings.warn(f"{body}: {text}", UserWarning, stacklevel=4)
    return _spread(found, solved, len(result.t[rows]))


def largest_stresses(result: Result, name: Any, component: str = VON_MISES) -> tuple[Array, Rows]:
    """The stress of largest size in the whole body at each stored instant, and the node where it is."""
    values, where = np.zeros(len(result)), np.zeros(len(result), np.intp)
    for first in range(0, len(result), INSTANTS):
        part = slice(first, min(first + INSTANTS, len(result)))
        found = _stress(result, name, None, part, component)
        most = np.abs(np.where(np.isnan(found), 0.0, found)).argmax(axis=1)
        values[part], where[part] = found[np.arange(len(found)), most], most
    return values, where


def stress_peak(result: Result, name: Any, component: str) -> StressPeak:
    """The stress of largest size in a run."""
    values, where = largest_stresses(result, name, component)
    if not np.isfinite(values).any():
        raise ModelError([Problem("Result", "stress", "there is no instant at which the equations have a solution")])
    row = int(np.nanargmax(np.abs(values)))
    b = result.numbered(name)
    assert b is not None
    body: Any = b.body
    node = int(where[row])
    return StressPeak(float(values[row]), node, body.modes.component.nodes[node].copy(), float(result.t[row]))


def _several(nodes: Any) -> Sequence[Any]:
    """A list of places, of which one may be given alone."""
    array = np.asarray(nodes) if not isinstance(nodes, str) else np.zeros(())
    return [nodes] if array.ndim == 0 else list(nodes)


def _node(part: Any, place: Any) -> int:
    number = int(part.number_of(place))
    if number >= len(part.nodes):
        message = f"found interface point {place!r}; stress is known at nodes, 0 to {len(part.nodes) - 1}; give these"
        raise ModelError([Problem("Result", "stress, nodes", message)])
    return number


def _rows(result: Result, t: Any) -> slice | Rows:
    """The stored instants that are asked for."""
    if t is None:
        return slice(None)
    wanted = np.atleast_1d(np.asarray(t, float))
    stored = result.t
    if not len(stored):
        raise ModelError([Problem("Result", "stress, t", "the result has no instants")])
    rows = (
        np.abs(stored[:, None] - wanted[None]).argmin(axis=0)
        if len(stored) * wanted.size < 10**6
        else np.array([int(np.abs(stored - one).argmin()) for one in wanted])
    )
    off = ~(np.abs(stored[rows] - wanted) <= SAME_INSTANT * max(1.0, float(np.ptp(stored))))
    if off.any():
        message = (
            f"found {wanted[off][0]:.9g} s, which is no stored instant; the nearest is {stored[rows][off][0]:.9g} s; "
            "give stored ones, or simulate with t_eval"
        )
        raise ModelError([Problem("Result", "stress, t", message)])
    return np.asarray(rows, np.intp)


def moving_body(result: Result, name: Any, rows: slice | Rows) -> tuple[FlexibleBody, Moving, Rows]:
    """A flexible body, how it moves at some stored instants and what acts on it; which of these have a solution."""
    b = result.numbered(name)
    if b is None or not isinstance(body := b.body, FlexibleBody):
        raise ModelError([Problem("Result", "body", f"found {name}; only a flexible body has sections and stresses")])
    eq = result.states.equations
    t = result.t[rows]
    y = result.states.whole(rows) if isinstance(rows, slice) else result.states.whole()[rows]
    solved = marker_loads(eq, t, y, [b])
    q, v, _ = eq.split(y[solved.numbers])
    q, v, rates = q[:, b.q_slice], v[:, b.v_slice], solved.rates[:, b.v_slice]
    origin, rotation = b.formulation.poses(q)
    modal, rate = b.formulation.deformations(q, v)
    second = b.formulation.deformations(q, rates)[1]

    def seen(vectors: Array) -> Array:
        return np.asarray(np.einsum("nij,ni->nj", rotation, vectors))

    acceleration, turning = b.formulation.accelerations(q, v, rates)
    gravity = lifted(np.asarray(result.described.gravity, float))
    local = np.einsum("nij,nki->nkj", rotation, solved.positions - origin[:, None])
    acting = []
    for k, marker in enumerate(b.markers):
        number = b.first_marker + k
        load = solved.loads[:, number]
        if not load.any():
            continue
        places = np.asarray(nodes_at(eq, body, number, marker, local), np.intp)
        slides = isinstance(marker, AxisMarker)
        acting.append(Acting(places, local[:, number], seen(load[:, :3]), seen(load[:, 3:]), slides))
    moving = Moving(
        modal,
        rate,
        second,
        seen(acceleration - gravity),
        seen(b.formulation.twists(q, v)[1]),
        seen(turning),
        tuple(acting),
    )
    return body, moving, solved.numbers


def _spread(values: Array, rows: Rows, count: int) -> Array:
    """Values of some instants among all; NaN elsewhere."""
    if len(values) == count:
        return values
    found = np.full((count, *values.shape[1:]), np.nan)
    found[rows] = values
    return found
