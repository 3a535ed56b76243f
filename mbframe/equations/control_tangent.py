"""What controllers add to the tangent: loads and own states depend on all that is seen, wherever it is."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..controllers.sight import Sight
from ..functions import Function
from ..jets import derivatives, extrapolated_differences
from ..kernels.layout import AXES_AT, PLACE, SPIN_AT, VELOCITY_AT
from ..signals import named_by
from .numbered import NumberedController, NumberedForce
from .user import Differentiated, method_of, motion, moving

if TYPE_CHECKING:
    from .equations import Equations

Array = NDArray[np.float64]


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


class ControlTangent:
    """Derivatives of the loads Q and of the rates of own states, as far as they come through controllers.

    The markers must be those of the last tangent, whose rates of B along dq = T d it reads.
    """

    def __init__(self, eq: Equations, rate_tangents: Array) -> None:
        self.eq, self.rate_tangents = eq, rate_tangents

    def matrices(self, t: float, only: NumberedForce | None = None) -> tuple[Array, Array]:
        """What is added to dF/dq and dF/dv, with F = M v' - Q + J^T lambda over z' - f; by own states in the latter.

        `only`: what the loads of one force add.
        """
        eq = self.eq
        n = eq.n_v + eq.n_own
        stiffness, damping = np.zeros((n, n)), np.zeros((n, n))

        def add(rows: slice | NDArray[np.intp], weights: Array, row: Row) -> None:
            stiffness[rows, : eq.n_v] -= np.outer(weights, row.by_place)
            damping[rows, : eq.n_v] -= np.outer(weights, row.by_velocity)
            damping[rows, eq.n_v :] -= np.outer(weights, row.by_state)

        signals: dict[str, Row] = {}
        for c in eq.tables.controllers:
            if c.sampled:
                continue
            seen = [self.seen(sight, t, signals) for sight in c.sights]
            given, changes = self.controller(c, t, seen)
            signals |= dict(zip(c.signals, given, strict=True))
            for place, change in zip(range(c.states.start, c.states.stop), changes, strict=True):
                add(slice(eq.n_v + place, eq.n_v + place + 1), np.ones(1), change)
        for f, described in zip(eq.tables.forces, eq.system.forces, strict=True):
            names = [name for found in named_by(described).values() for name in found if name in signals]
            if not names or (only is not None and f is not only):
                continue
            loads, rates = self.force(f, described, t, names)
            for k, name in enumerate(names):
                add(slice(eq.n_v), loads[:, k], signals[name])
                add(slice(eq.n_v + f.states.start, eq.n_v + f.states.stop), rates[:, k], signals[name])
        return stiffness, damping

    # --- what is seen -------------------------------------------------------------------------------------------------

    def seen(self, sight: Sight, t: float, signals: dict[str, Row]) -> tuple[Row, Row]:
        """How what is seen changes, and its rate; one that is not known has none."""
        value, rate = Row(self.eq), Row(self.eq)
        if sight.signal:
            return signals.get(sight.signal, value), rate
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
        element: Any = sight.measure or sight.term
        markers = [tables.markers[tables.place(marker)] for marker in (element.i, element.j)]
        turns = float(tables.counters.turns[tables.sight_counters.get(sight.name, 0)])

        def scalar(*x: Any) -> Any:
            i, j = (SimpleNamespace(position=x[k], axes=x[k + 1], turns=0.0) for k in (0, 2))
            j.turns = turns
            return [element.value(t, i, j)] if sight.measure is not None else element.residual(t, i, j)

        function = Differentiated(scalar)
        x = [part for m in markers for part in (m.position, m.axes)]
        function.settle(x)
        gradient, hessian = function.gradient(x)[1][0], function.hessian(x)[0]
        x_rate = np.concatenate([part for m in markers for part in (m.velocity, m.axes_rate.ravel())])
        bent = hessian @ x_rate
        for k, m in enumerate(markers):
            own, part = slice(m.v, m.v + m.n), slice(k * PLACE, (k + 1) * PLACE)
            basis, change = self._pools(m)
            value.by_place[own] += gradient[part] @ basis
            rate.by_place[own] += bent[part] @ basis + gradient[part] @ change
            rate.by_velocity[own] += gradient[part] @ basis

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

    def controller(self, c: NumberedController, t: float, seen: list[tuple[Row, Row]]) -> tuple[list[Row], list[Row]]:
        """How its outputs and the rates of its states change; outputs at their limits do not."""
        one = self.eq.tables.fed_controllers[c.name]
        y, y_rate, z = self.eq.stages.control.seen_by(c)
        y_rate = np.where(np.isfinite(y_rate), y_rate, 0.0)

        def both(y: Any, y_rate: Any, z: Any) -> Any:
            given = [*one.output(t, y, y_rate, z)]
            return given + ([*one.state_rate(t, y, y_rate, z)] if one.states else [])

        function = Differentiated(both)
        function.settle([y, y_rate, z])
        values, gradient = function.gradient([y, y_rate, z])
        n = len(one.outputs)
        gradient[:n][np.abs(values[:n]) > one.largest()] = 0.0
        rows = []
        for weights in gradient:
            row = Row(self.eq)
            for k, (value, rate) in enumerate(seen):
                row.add(weights[k], value)
                row.add(weights[len(seen) + k], rate)
            if one.states:
                row.by_state[c.states] += weights[2 * len(seen) :]
            rows.append(row)
        return rows[:n], rows[n:]

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
