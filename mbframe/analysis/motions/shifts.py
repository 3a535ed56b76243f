"""Shifts: displacements and turns of the whole and spins of round bodies, after which a motion may be another one.

A bicycle that has gone through a period of its wobble is elsewhere, heads elsewhere, and its wheels have turned; its
motion is periodic all the same. Which shifts a system does not notice is found along a motion: those whose small
motions obey the equations of its variations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...plane import lifted
from ...rotations import matrix_from_vector, skew
from ...state import Motion, State
from ..linear.linear_equations import LinearEquations, OperatingPoint, collected, width
from ..linear.symmetry import round_axes, tied_together
from ..mobility.null_space import readable
from .variation import Window

Array = NDArray[np.float64]

EXACT: Final = 1e-6
"""Part of a shift that may be something else, by the error of variations."""
LOOKED_AT: Final = 12
"""Instants of a motion, spread over it, at which shifts are compared with its variations."""
NAMED: Final = 1e-4
"""Part of a combination that is named."""
TIME: Final = "time: the same motion, later or earlier"


@dataclass(frozen=True)
class Shift:
    """A displacement along, or a turn about, an axis through the global origin, of some bodies; or a spin of one body.

    A twist (displacement, turn) in global axes, or in those of the body for its spin about its centre of mass.
    """

    name: str
    bodies: tuple[str, ...]
    displacement: Array
    turn: Array
    center: Array | None = None  # of mass, in axes of the body that spins

    def small(self, motion: Motion) -> tuple[Array, Array]:
        """xi of a body for a unit of the shift, and xi', its rate along the motion, (6,) each."""
        if self.center is None:
            dr = self.displacement + np.cross(self.turn, motion.position)
            return np.concatenate([dr, self.turn]), np.concatenate([np.cross(self.turn, motion.velocity), np.zeros(3)])
        axis = motion.rotation @ self.turn
        arm = -motion.rotation @ np.cross(self.turn, self.center)
        spin = motion.angular_velocity
        return np.concatenate([arm, axis]), np.concatenate([np.cross(spin, arm), np.cross(spin, axis)])


def shifts(eq: Equations) -> list[Shift]:
    """All that may be symmetries: of bodies that are tied together, and of round ones."""
    return [*_of_groups(eq), *_spins(eq)]


def _of_groups(eq: Equations) -> Iterator[Shift]:
    groups = tied_together(eq)
    gravity = lifted(eq.system.gravity)
    axes = [-gravity / np.linalg.norm(gravity)] if np.any(gravity) else list(np.eye(3))
    for names in groups:
        called = "the whole" if len(groups) == 1 else ", ".join(map(repr, names[:4]))
        for k, letter in enumerate("xyz"):
            yield Shift(f"path: displacement of {called} along {letter}", tuple(names), np.eye(3)[k], np.zeros(3))
        for axis in axes:
            direction = ", ".join(f"{x + 0.0:.4g}" for x in axis.tolist())
            yield Shift(f"heading: turn of {called} about ({direction})", tuple(names), np.zeros(3), axis)


def _spins(eq: Equations) -> Iterator[Shift]:
    for b in eq.tables.bodies:
        if not b.formulation.n_modes:
            _, center, inertia = b.body.mass_properties()
            for local, _ in round_axes(center, inertia):
                name = b.body.name
                yield Shift(f"spin: turn of {name!r} about its own axis", (name,), np.zeros(3), local, center)


def small_motions(candidates: list[Shift], point: OperatingPoint, places: Mapping[str, slice]) -> tuple[Array, Array]:
    """xi and xi' of all bodies (columns) for each shift."""
    whole = np.zeros((2, width(places), len(candidates)))
    for k, shift in enumerate(candidates):
        for name in shift.bodies:
            place, own = places[name], shift.small(point.state.motions[name])
            last = min(place.start + 6, place.stop)
            whole[:, place.start : last, k] = np.array(own)[:, : last - place.start]
    return whole[0], whole[1]


def later(point: OperatingPoint, places: Mapping[str, slice]) -> tuple[Array, Array]:
    """xi and xi' of being a unit of time later: velocities and accelerations of all bodies."""
    velocities, accelerations = {}, {}
    for b in point.eq.tables.bodies:
        m, modes = point.state.motions[b.body.name], b.formulation.n_modes
        bent = point.v_rate[b.v_slice][-modes:] if modes else np.zeros(0)
        velocities[b.body.name] = m.velocity, m.angular_velocity, m.modal_velocities
        accelerations[b.body.name] = *point.accelerations[b.body.name], bent
    return collected(places, velocities), collected(places, accelerations)


@dataclass(frozen=True)
class Displacement:
    """Finite shifts: of each group of bodies a rotation and a displacement, x -> R x + d, and angles of spins."""

    rigid: Mapping[tuple[str, ...], tuple[Array, Array]] = field(default_factory=dict)
    spins: Mapping[str, tuple[Shift, float]] = field(default_factory=dict)

    def then(self, candidates: list[Shift], amounts: Array) -> Displacement:
        """This one, and small or finite shifts after it; displacements and turns of a group act together."""
        twists: dict[tuple[str, ...], Array] = {}
        spins = dict(self.spins)
        for shift, amount in zip(candidates, amounts.tolist(), strict=True):
            if shift.center is None:
                part = amount * np.array([shift.displacement, shift.turn])
                twists[shift.bodies] = twists.get(shift.bodies, np.zeros((2, 3))) + part
            elif amount:
                key = f"{shift.name} {shift.turn}"
                spins[key] = shift, amount + (spins[key][1] if key in spins else 0.0)
        rigid = dict(self.rigid)
        for names, (along, turn) in twists.items():
            R, way = matrix_from_vector(turn), _left_jacobian(turn) @ along
            before, gone = rigid.get(names, (np.eye(3), np.zeros(3)))
            rigid[names] = R @ before, R @ gone + way
        return Displacement(rigid, spins)

    def of(self, state: State) -> State:
        """A state after it."""
        motions = dict(state.motions)
        for shift, angle in self.spins.values():
            motions[shift.bodies[0]] = _spun(motions[shift.bodies[0]], shift, angle)
        for names, (R, way) in self.rigid.items():
            for name in names:
                m = motions[name]
                motions[name] = replace(
                    m,
                    position=R @ m.position + way,
                    rotation=R @ m.rotation,
                    velocity=R @ m.velocity,
                    angular_velocity=R @ m.angular_velocity,
                )
        return State(state.t, motions, state.element_states, state.dimension)

    def carry(self, places: Mapping[str, slice], parts: Array) -> Array:
        """Small motions (rows) of all bodies after it: they turn as their group does, and spins leave them alone.

        Changes of modal coordinates belong to axes of their body and stay.
        """
        found = np.array(parts, float)
        for names, (R, _) in self.rigid.items():
            for name in names:
                place = places[name]
                for first in range(place.start, min(place.start + 6, place.stop), 3):
                    found[first : first + 3] = R @ found[first : first + 3]
        return found


def _spun(m: Motion, shift: Shift, angle: float) -> Motion:
    """A body turned about an axis of its own through its centre of mass, which goes on as before."""
    center = shift.center if shift.center is not None else np.zeros(3)
    turned = m.rotation @ matrix_from_vector(angle * shift.turn)
    arm = (m.rotation - turned) @ center
    return replace(
        m,
        position=m.position + arm,
        rotation=turned,
        velocity=m.velocity + np.cross(m.angular_velocity, arm),
    )


def _left_jacobian(turn: Array) -> Array:
    """Integral of exp(s turn~) over s from 0 to 1."""
    angle = float(np.linalg.norm(turn))
    spin = skew(turn)
    if angle < 1e-4:
        return np.asarray(np.eye(3) + 0.5 * spin + spin @ spin / 6.0, float)
    return np.asarray(
        np.eye(3) + (1.0 - np.cos(angle)) / angle**2 * spin + (angle - np.sin(angle)) / angle**3 * spin @ spin, float
    )


@dataclass(frozen=True)
class Unnoticed:
    """Combinations of shifts, and of being later, that a motion does not notice.

    combinations
        (shifts + 1, n): columns; the last row is the part of time.
    names
        In words, one for each.
    """

    combinations: Array
    names: list[str]


def unnoticed(eq: Equations, candidates: list[Shift], windows: list[Window], timeless: bool) -> Unnoticed:
    """The combinations whose small motions are variations of the motion: they obey constraints and go as the flow does.

    `timeless` says whether being later may be one of them: where loads depend on the time it cannot.
    """
    n = len(candidates) + 1
    rows, start, since = [], np.zeros((0, n)), np.eye(windows[0].bases[0].size)
    effects = np.zeros((0, n))
    every = -(-len(windows) // LOOKED_AT)
    instants = [(windows[0].bases[0], None)] + [(w.bases[-1], w) for w in windows]
    scale = np.ones(n)
    for k, (bases, w) in enumerate(instants):
        if w is not None:
            since = w.flow[-1] @ since
            if k % every and k != len(windows):
                continue
        point = OperatingPoint.at(eq, bases.state)
        e = bases.equations
        motion, rate = small_motions(candidates, point, e.places)
        ahead = later(point, e.places) if timeless else (np.full(e.size, 1.0), np.zeros(e.size))
        motion, rate = np.column_stack([motion, ahead[0]]), np.column_stack([rate, ahead[1]])
        to_x, to_u = bases.from_motion
        y = to_x @ motion + to_u @ rate
        own = len(e.own_feedback)
        if own and timeless:
            y[len(y) - own :, -1] = own_rates(point, e)
        reach = e.reaches[:, None]
        if w is None:
            scale = np.sqrt(((reach * motion) ** 2).sum(axis=0) + ((reach * rate) ** 2).sum(axis=0))
            scale = np.where(scale > 0.0, scale, 1.0)
            start, effects = y, np.vstack([reach * motion, reach * rate]) / scale
        else:
            rows.append((y - since @ start) / max(1.0, float(np.abs(since).max(initial=0.0))))
        rows += [reach * (bases.motion @ y - motion), reach * (bases.velocity @ y - rate)]
    test = np.vstack(rows) / scale
    if not timeless:
        test[:, -1] = 1e3  # never
    _, sizes, right = np.linalg.svd(test, full_matrices=len(test) < n)
    sizes = np.concatenate([sizes, np.zeros(len(right) - len(sizes))])
    size = max(1.0, float(np.abs(start / scale).max(initial=0.0)))
    kept = right[sizes <= EXACT * size * np.sqrt(len(test))].T
    # A turn of everything and the opposite spins of all do nothing, nor does a turn of a point about itself.
    _, sizes, right = np.linalg.svd(effects @ kept, full_matrices=False)
    found = kept @ right[sizes > EXACT].T / scale[:, None]
    columns = readable(found, NAMED).T if found.shape[1] else found
    called = [*(c.name for c in candidates), TIME]
    names = []
    for column in columns.T:
        weights = np.abs(column) * scale
        order = [k for k in np.argsort(-weights, kind="stable") if weights[k] > NAMED * weights.max()]
        names.append(" with ".join(called[k] for k in order[:4]))
    return Unnoticed(columns, names)


def own_rates(point: OperatingPoint, e: LinearEquations) -> Array:
    """Rates of the own states that act, in the order of the equations."""
    having = point.eq.tables.stateful
    return np.concatenate([point.z_rate[one.states][e.acting[one.element.name]] for one in having])
