"""What controllers add to the tangent: loads and own states depend on all that is seen, wherever it is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..constraints.relations import AngleTerm, DisplacementTerm, DistanceTerm, MeasureTerm
from ..controllers.library import MatrixController
from ..controllers.sight import Sight
from ..functions import Function
from ..jets import derivatives, extrapolated_differences
from ..kernels.layout import AXES_AT, PLACE, PLACES, SPIN_AT, VELOCITY_AT
from ..measures import Angle, Displacement, Distance
from ..signals import named_by
from .numbered import NumberedController, NumberedForce
from .user import Differentiated, method_of, motion, moving

if TYPE_CHECKING:
    from .equations import Equations

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
NONE: Indices = np.zeros(0, np.int64)
KNOWN: dict[type, Callable[[Any, Any], MeasureTerm]] = {
    Angle: lambda i, j: AngleTerm(i, j, coefficient=1.0),
    Displacement: lambda i, j: DisplacementTerm(i, j, coefficient=1.0),
    Distance: lambda i, j: DistanceTerm(i, j, coefficient=1.0),
}
"""Measures whose second derivatives are known, as the terms that have them."""


class Row:
    """How a number changes along dq = T d, along dv, and with own states z."""

    def __init__(self, eq: Equations) -> None:
        self.by_place, self.by_velocity, self.by_state = np.zeros(eq.n_v), np.zeros(eq.n_v), np.zeros(eq.n_own)

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        return self.by_place, self.by_velocity, self.by_state

    def add(self, weight: float, other: Row) -> None:
        """Add a multiple of another one."""
        for part, more in zip(self.parts, other.parts, strict=True):
            part += weight * more


@dataclass(frozen=True)
class Block:
    """What signals of controllers drive, and what they depend on, by numbers of velocities and then own states.

    `first` is where its numbers begin in the pools of the tangent, row by row.
    """

    rows: Indices
    columns: Indices
    first: int

    @property
    def places(self) -> tuple[Indices, Indices]:
        """Row and column of each of its numbers."""
        return np.repeat(self.rows, len(self.columns)), np.tile(self.columns, len(self.rows))


class ControlTangent:
    """Derivatives of the loads Q and of the rates of own states, as far as they come through controllers.

    The markers must be those of the last tangent, whose rates of B along dq = T d it reads. The pools of the tangent
    have `blocks` for it, from `first` on: of the states of each controller, and of each force that names an output.
    """

    def __init__(self, eq: Equations, rate_tangents: Array, first: int) -> None:
        self.eq, self.rate_tangents, self.size = eq, rate_tangents, 0
        self.blocks: dict[str, Block] = {}
        tables, n = eq.tables, eq.n_v + eq.n_own
        owner = tables.marker_bodies()

        def velocities(markers: Iterable[int]) -> Indices:
            bodies = [tables.bodies[k] for k in sorted({owner[m] for m in markers}) if k >= 0]
            return np.concatenate([NONE, *(np.arange(b.v, b.v + b.formulation.n_v) for b in bodies)])

        def add(name: str, rows: Indices, columns: NDArray[np.bool_]) -> None:
            block = Block(rows, np.flatnonzero(columns), first + self.size)
            self.blocks[name] = block
            self.size += len(block.rows) * len(block.columns)

        self.acting = [c for c in tables.controllers if not c.sampled]
        reach = {name: np.zeros(n, bool) for c in self.acting for name in c.signals}  # what a signal can depend on
        for _ in self.acting:  # what one sees that has states may depend on what comes later in their order
            for c in self.acting:
                found = reach[c.signals[0]]  # all of its outputs share it
                found[eq.n_v + np.arange(c.states.start, c.states.stop)] = True
                for sight in c.sights:
                    if sight.signal:
                        found |= reach.get(sight.signal, False)
                    else:
                        found[velocities(tables.place(marker) for marker in sight.markers)] = True
                reach |= dict.fromkeys(c.signals, found)
        for c in self.acting:
            if c.states.stop > c.states.start:
                add(c.name, eq.n_v + np.arange(c.states.start, c.states.stop), reach[c.signals[0]])
        for f, described in zip(tables.forces, eq.system.forces, strict=True):
            if names := self.named(described, reach):
                own = eq.n_v + np.arange(f.states.start, f.states.stop)
                rows = np.concatenate([velocities((f.i, f.j)), own])
                add(f.force.name, rows, np.any([reach[name] for name in names], axis=0))

    @staticmethod
    def named(described: Any, known: Mapping[str, Any]) -> list[str]:
        """The outputs of controllers that act all the time, which a force names."""
        return [name for found in named_by(described).values() for name in found if name in known]

    def fill(self, t: float, stiffness: Array, damping: Array, only: NumberedForce | None = None) -> None:
        """Add to pools of dF/dq and dF/dv, with F = M v' - Q + J^T lambda over z' - f; by own states in the latter.

        `only`: what the loads of one force add.
        """
        eq = self.eq

        def add(block: Block, weights: Array, row: Row) -> None:
            shape = len(block.rows), len(block.columns)
            pool = slice(block.first, block.first + shape[0] * shape[1])
            changes = np.concatenate([row.by_velocity, row.by_state])[block.columns]
            damping[pool].reshape(shape)[:] -= np.outer(weights, changes)
            moved = np.concatenate([row.by_place, 0.0 * row.by_state])[block.columns]
            stiffness[pool].reshape(shape)[:] -= np.outer(weights, moved)

        signals: dict[str, Row] = {}
        looks: dict[str, tuple[Row, Row]] = {}
        gradients = []
        for c in self.acting:
            gradient = self.slopes(c, t)
            if not np.isfinite(gradient).all():
                return  # what it gives is no number either: the step fails by that, and it is named
            n = len(c.signals)
            signals |= dict(zip(c.signals, self.rows(c, gradient[:n], t, signals, looks), strict=True))
            gradients.append(gradient[n:])
        for c, gradient in zip(self.acting, gradients, strict=True):  # rates of states may depend on all outputs
            for k, change in enumerate(self.rows(c, gradient, t, signals, looks) if only is None else []):
                add(self.blocks[c.name], np.eye(len(gradient))[k], change)
        for f, described in zip(eq.tables.forces, eq.system.forces, strict=True):
            if f.force.name in self.blocks and (only is None or f is only):
                block, names = self.blocks[f.force.name], self.named(described, signals)
                loads, rates = self.force(f, described, t, names)
                rows = block.rows[: len(block.rows) - len(rates)]
                for k, name in enumerate(names):
                    add(block, np.concatenate([loads[rows, k], rates[:, k]]), signals[name])

    # --- what is seen -------------------------------------------------------------------------------------------------

    def seen(self, sight: Sight, t: float) -> tuple[Row, Row]:
        """How what is seen of the motion changes, and its rate; one that is not known has none."""
        value, rate = Row(self.eq), Row(self.eq)
        if sight.motion is not None:
            marker, vector, component = sight.motion
            m = self.eq.tables.markers[self.eq.tables.place(marker)]
            by_place, by_velocity = self.motion(m)
            first = {"position": 0, "velocity": VELOCITY_AT, "angular_velocity": SPIN_AT}[vector] + component
            own = slice(m.v, m.v + m.n)
            value.by_place[own], value.by_velocity[own] = by_place[first], by_velocity[first]
            if vector == "position":
                first = VELOCITY_AT + component
                rate.by_place[own], rate.by_velocity[own] = by_place[first], by_velocity[first]
            return value, rate
        self._between(sight, t, value, rate)
        return (rate, Row(self.eq)) if sight.rate else (value, rate)

    def _between(self, sight: Sight, t: float, value: Row, rate: Row) -> None:
        """Of a measure or a coordinate: s = f(x), s' = g x', ds' = dx H x' + g dx'."""
        tables = self.eq.tables
        ends: Any = sight.ends
        markers = [tables.markers[tables.place(marker)] for marker in ends]
        x_rate = np.concatenate([part for m in markers for part in (m.velocity, m.axes_rate.ravel())])
        known: Any = sight.term or KNOWN.get(type(sight.measure), lambda i, j: None)(*ends)
        if known is not None:
            g, h = np.zeros((1, PLACES)), np.zeros((PLACES, PLACES))
            i, j = (SimpleNamespace(position=m.position, axes=m.axes) for m in markers)
            known.gradient(t, i, j, g)
            known.hessian(t, i, j, (1.0,), h)
            gradient, bent = g[0], h @ x_rate
        else:
            gradient, bent = self._differentiated(sight, t, markers, x_rate)
        for k, m in enumerate(markers):
            own, part = slice(m.v, m.v + m.n), slice(k * PLACE, (k + 1) * PLACE)
            basis, change = self._pools(m)
            value.by_place[own] += gradient[part] @ basis
            rate.by_place[own] += bent[part] @ basis + gradient[part] @ change
            rate.by_velocity[own] += gradient[part] @ basis

    def _differentiated(self, sight: Sight, t: float, markers: list[Any], x_rate: Array) -> tuple[Array, Array]:
        """Gradient, and its rate, of a user's measure."""
        tables, measure = self.eq.tables, sight.measure
        assert measure is not None
        turns = float(tables.counters.turns[tables.sight_counters.get(sight.name, 0)])

        def scalar(*x: Any) -> Any:
            i, j = (SimpleNamespace(position=x[k], axes=x[k + 1], turns=0.0) for k in (0, 2))
            j.turns = turns
            return [measure.value(t, i, j)]

        function = Differentiated(scalar)
        x = [part for m in markers for part in (m.position, m.axes)]
        function.settle(x)
        return function.gradient(x)[1][0], function.hessian(x)[0] @ x_rate

    def _pools(self, m: Any) -> tuple[Array, Array]:
        """B of a marker, x' = B v, and how x' changes along dq = T d."""
        pool = slice(m.jacobian, m.jacobian + PLACE * m.n)
        jacobians = self.eq.work.jacobians
        return jacobians[pool].reshape(PLACE, m.n), self.rate_tangents[pool].reshape(PLACE, m.n)

    def motion(self, m: Any) -> tuple[Array, Array]:
        """Derivatives of (position, axes, velocity, angular velocity) of a marker along dq = T d, and along dv."""
        basis, change = self._pools(m)

        def spin(axes: Array, rates: Array) -> Array:
            """1/2 sum axes x rates, column by column."""
            return 0.5 * np.cross(axes.reshape(3, 3, -1), rates.reshape(3, 3, -1), axis=0).sum(axis=1)

        axes, rates = m.axes[:, :, None], m.axes_rate[:, :, None]
        turned = spin(axes, change[AXES_AT:]) + spin(basis[AXES_AT:], rates)
        first = np.vstack([basis, change[:AXES_AT], turned])
        return first, np.vstack([0.0 * basis, basis[:AXES_AT], spin(axes, basis[AXES_AT:])])

    # --- controllers --------------------------------------------------------------------------------------------------

    def slopes(self, c: NumberedController, t: float) -> Array:
        """How outputs, and then rates of states, change with what is seen, its rates, and z; not those at a limit."""
        one = self.eq.tables.fed_controllers[c.name]
        values, gradient = slopes(one, t, *self.eq.stages.control.seen_by(c))
        n = len(c.signals)
        gradient[:n][np.abs(values[:n]) > one.largest()] = 0.0
        return gradient if np.isfinite(values).all() else np.full_like(gradient, np.nan)

    def rows(
        self,
        c: NumberedController,
        gradient: Array,
        t: float,
        signals: Mapping[str, Row],
        looks: dict[str, tuple[Row, Row]],
    ) -> list[Row]:
        """How numbers of a controller change, whose derivatives are in `gradient`; `looks` is what was seen so far."""
        rows, m = [Row(self.eq) for _ in gradient], len(c.sights)
        for k, sight in enumerate(c.sights):
            if not gradient[:, [k, m + k]].any():
                continue
            if sight.signal:
                value, rate = signals.get(sight.signal, Row(self.eq)), Row(self.eq)
            else:
                if sight.name not in looks:
                    looks[sight.name] = self.seen(sight, t)
                value, rate = looks[sight.name]
            for row, weights in zip(rows, gradient, strict=True):
                row.add(weights[k], value)
                row.add(weights[m + k], rate)
        for row, weights in zip(rows, gradient, strict=True):
            row.by_state[c.states] += weights[2 * m :]
        return rows

    # --- forces -------------------------------------------------------------------------------------------------------

    def force(self, f: NumberedForce, described: Any, t: float, names: list[str]) -> tuple[Array, Array]:
        """Derivatives of Q and of the rates of own states of a force by the signals that it names."""
        eq = self.eq
        i, j = (eq.tables.markers[m] for m in (f.i, f.j))
        turns = float(eq.tables.counters.turns[f.counter])
        known = {name: eq.stages.control.value(name) for name in eq.system.signals}
        z = eq.work.z[f.states].copy()
        numbers = [*motion(i), *motion(j)]

        def loads(u: Any) -> Any:
            twin = copy.copy(described.as_evaluated)
            for field in named_by(described):
                given = getattr(described, field)
                parts = given if isinstance(given, tuple) else (given,)
                bound = tuple(Along(part, known, names, u) for part in parts)
                vars(twin)[field] = bound if isinstance(given, tuple) else bound[0]
            more = [z] if f.force.states else []
            push, turn = method_of(twin, "wrench")(t, *moving(numbers, turns), *more)
            rates = method_of(twin, "state_rate")(t, *moving(numbers, turns), z) if more else ()
            return [*push, *turn, *rates]

        u = np.array([known[name] for name in names])
        try:
            by_signal = derivatives(loads, [u], order=1)[1]
        except Exception:
            by_signal = extrapolated_differences(loads, [u])[1]
        push, turn = by_signal[:3], by_signal[3:6]
        opposite = -turn - np.cross(j.position - i.position, push, axis=0)
        found = np.zeros((eq.n_v, len(names)))
        for m, force, torque in ((i, -push, opposite), (j, push, turn)):
            by_velocity = self.motion(m)[1]
            found[m.v : m.v + m.n] += by_velocity[VELOCITY_AT:SPIN_AT].T @ force + by_velocity[SPIN_AT:].T @ torque
        return found, by_signal[6:]


class Along:
    """A function of time for signals that carry derivatives."""

    def __init__(self, function: Function, known: dict[str, float], names: list[str], values: Any) -> None:
        self.function, self.known, self.names, self.values = function, known, names, values

    def __call__(self, t: float) -> Any:
        return self._with(0, t)

    def derivative(self, t: float) -> Any:
        return self._with(1, t)

    def second_derivative(self, t: float) -> Any:
        return self._with(2, t)

    def _with(self, order: int, t: float) -> Any:
        """The value, or a derivative by time."""
        here = {name: float(value) for name, value in zip(self.names, plain(self.values), strict=True)}
        own = [k for k, name in enumerate(self.names) if name in self.function.signals]

        def by(*changed: float) -> Any:
            moved = dict(zip((self.names[k] for k in own), changed, strict=True))
            bound = self.function.bound(self.known | here | moved)
            return [(bound, bound.derivative, bound.second_derivative)[order](t)]

        total: Any = by(*(here[self.names[k]] for k in own))[0]
        if not own or not hasattr(self.values, "gradient"):
            return total
        if order == 0 and self.function.program is not None:
            signals = self.function.signals
            point = (t, *((self.known | here)[name] for name in signals))
            slopes = [self.function.program.run(point, 1 + signals.index(self.names[k]))[1][1] for k in own]
        else:
            slopes = extrapolated_differences(lambda u: by(*u), [np.array([here[self.names[k]] for k in own])])[1][0]
        for k, slope in zip(own, slopes, strict=True):
            total = total + float(slope) * (self.values[k] - here[self.names[k]])
        return total


def plain(values: Any) -> Array:
    """The numbers of what may carry derivatives."""
    return np.asarray(getattr(values, "value", values), float)


def slopes(one: Any, t: float, y: Array, y_rate: Array, z: Array) -> tuple[Array, Array]:
    """Outputs and rates of states of a controller, and how they change with y, y' and z."""
    if isinstance(one, MatrixController):
        values = one.output(t, y, y_rate, z)
        return np.asarray(values, float), one.slopes()
    y_rate = np.where(np.isfinite(y_rate), y_rate, 0.0)

    def both(y: Any, y_rate: Any, z: Any) -> Any:
        given = [*one.output(t, y, y_rate, z)]
        return given + ([*one.state_rate(t, y, y_rate, z)] if one.states else [])

    function = Differentiated(both)
    function.settle([y, y_rate, z])
    return function.gradient([y, y_rate, z])
