"""Outputs of linear equations: measures, vectors of bodies, reactions, and any quantity of a result by its name.

Motions of bodies, measures and the parts of reactions that follow from loads and accelerations have exact derivatives.
How else a quantity depends on a state (the force of a spring, an energy, the direction of a reaction) is differentiated
by central differences of order eight over displacements of `REACH` of the size of the model, which leave 1e-12 of the
quantity where it is smooth there; else, as in a stiff contact that is pressed in by next to nothing, over smaller ones.
A warning names what has no derivative at the state itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bodies.flexible import FlexibleBody
from ...errors import AnalysisError, ModelError, Problem
from ...markers import POINT, converted
from ...measures import Measure
from ...plane import lifted, lowered, lowered_axial
from ...quantities import POINT as NAMED_POINT
from ...quantities import Entry, catalogue, components_of
from ...results import Info, Result
from ...rotations import skew
from ...solvers.starting import extent
from ..states.own_states import places
from .linear_equations import LinearEquations, OperatingPoint, TurningFrame, turning, variations
from .signals import measure_row

Array = NDArray[np.float64]

QUANTITIES = ("position", "velocity", "acceleration", "rotation", "angular_velocity", "angular_acceleration")
REACH = 1e-2  # rad, sizes of the model, or of velocities: steps of differences
SMALLEST = 1e-9  # the same, where they find something that is not smooth
CENTRAL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # weights of f(k d) - f(-k d): the slope, order eight
LOWER = (3 / 4, -3 / 20, 1 / 60, 0.0)  # the same of order six
CORNER = np.linalg.inv([[k**n for n in (1, 2, 4, 6)] for k in CENTRAL])[0]  # of f(k d) + f(-k d) - 2 f(0): |d| in it
AGREE = 1e-8  # of a quantity, or of its largest slope: differences of a smooth one are as near to each other
DOUBTFUL = 1e-4  # the same: those of one without a derivative are not
OPEN = 1e-6  # part of a reaction in dependent constraints that makes it ambiguous


@dataclass(frozen=True)
class Rows:
    """Outputs a xi + b xi' + c xi'' + d zeta + e f, a row each: small motions, own states of elements, loads."""

    position: Array
    velocity: Array
    acceleration: Array
    own: Array
    load: Array

    @classmethod
    def of(cls, e: LinearEquations, position: Array, velocity: Array | None = None) -> Rows:
        """Rows that depend on small motions and perhaps their rates only."""
        none = np.zeros_like(position)
        own = np.zeros((len(position), len(e.own_feedback)))
        return cls(position, none if velocity is None else velocity, none, own, none)

    def combined(self, weights: Array) -> Rows:
        """Weighted sums of the rows."""
        return Rows(*(weights @ part for part in self.parts))

    def plus(self, other: Rows) -> Rows:
        return Rows(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Array, ...]:
        return self.position, self.velocity, self.acceleration, self.own, self.load


@dataclass(frozen=True)
class Outputs:
    """Named outputs."""

    names: list[str]
    rows: Rows


def output_signals(point: OperatingPoint, frame: TurningFrame, e: LinearEquations, outputs: Sequence[Any]) -> Outputs:
    """The outputs, in the order in which they are given.

    An output is a measure (or its name); ("rate", measure); a quantity of a body as in a result, ("velocity", body) or
    ("velocity", body, local_point), with three components along the axes of the frame; or the name of a quantity of a
    result, such as "pin.reaction.force.x" or "spring.force", which is a vector.
    """
    observer = Observer(point, frame, e)
    names: list[str] = []
    found: list[Rows] = []
    for given in outputs:
        own_names, rows = observer.observe(given)
        names += own_names
        found.append(rows)
    for doubt in observer.doubts:
        warnings.warn(doubt, UserWarning, stacklevel=4)
    stacked = [np.vstack([part, *(rows.parts[k] for rows in found)]) for k, part in enumerate(observer.nothing.parts)]
    return Outputs(names, Rows(*stacked))


class Observer:
    """What finds the rows of outputs at an operating point."""

    def __init__(self, point: OperatingPoint, frame: TurningFrame, e: LinearEquations) -> None:
        self.point, self.frame, self.e = point, frame, e
        self.system, self.dimension = point.eq.system, point.eq.system.dimension
        self.nothing = Rows.of(e, np.zeros((0, e.size)))
        self.doubts: list[str] = []

    def observe(self, given: Any) -> tuple[list[str], Rows]:
        """The names and rows of an output."""
        if isinstance(given, str) and given not in self.system:
            return self._named(given)
        kind, subject, *more = given if isinstance(given, tuple) else ("value", given)
        element = self.system[subject] if isinstance(subject, str) else subject
        if isinstance(element, Measure) and kind in ("value", "rate"):
            rows = self._measure(element, kind == "rate")
            return [element.name if kind == "value" else f"{element.name} rate"], rows
        if kind in QUANTITIES and getattr(element, "name", None) in self.e.places:
            if more and isinstance(element, FlexibleBody):
                message = f"found a point of {element}; allowed is its frame; use a measure between markers there"
                raise ModelError([Problem("linearize", "outputs", message)])
            local = converted(POINT, more[0] if more else np.zeros(3), "linearize", "outputs")
            return [f"{element.name} {kind} {letter}" for letter in "xyz"], self._motion(element.name, kind, local)
        message = (
            f"found {given!r}; allowed are a measure, ('rate', measure), one of {', '.join(QUANTITIES)} with a body, "
            "such as ('velocity', 'cart'), or the name of a quantity of a result, such as 'pin.reaction.force.x'"
        )
        raise ModelError([Problem("linearize", "outputs", message)])

    def _measure(self, measure: Measure, rate: bool) -> Rows:
        row = measure_row(measure, self.point.state, self.e.places)[None]
        return Rows.of(self.e, 0.0 * row, row) if rate else Rows.of(self.e, row)

    def _motion(self, body: str, kind: str, local: Array) -> Rows:
        """A vector of a body, three components along the axes of the frame."""
        a, b, c = _body_rows(self.point, body, self.e, kind, local)
        plain = Rows.of(self.e, a)
        return self._in_frame(Rows(a, b, c, plain.own, plain.load))

    # --- quantities of a result by their names -----------------------------------------------------------------------

    def _named(self, name: str) -> tuple[list[str], Rows]:
        """The rows of a quantity: all components of a vector, or the one that is named."""
        result = self._result(self._y[None])
        if (match := NAMED_POINT.fullmatch(name)) is not None:
            result.quantity(name)  # a wrong name is refused
            kind, component = match["kind"], match["component"] or ""
            local = lifted([float(number) for number in match["point"].split(",")])
            rows = self._lowered(self._motion(match["body"], kind, local), kind)
            components = components_of(kind, self.dimension)
            values = result.quantity(name.removesuffix(f".{component}") if component else name).values[0]
        else:
            entry, component = catalogue(result).find(name)
            rows, components = self._entry(entry), entry.components
            values = np.atleast_1d(result.quantity(entry.name).values[0])
        if component == "magnitude":
            if not (size := float(np.linalg.norm(values))):
                raise AnalysisError(f"output {name!r} is zero at the state, where a magnitude has no derivative")
            return [name], rows.combined(values[None] / size)
        if component:
            return [name], rows.combined(np.eye(len(values))[[components.index(component)]])
        columns = [f"{name}.{c}" for c in components if c != "magnitude"]
        return columns or [name], rows

    def _entry(self, entry: Entry) -> Rows:
        """The rows of all components of a quantity."""
        if entry.element in self.e.places and entry.kind in QUANTITIES:
            return self._lowered(self._motion(entry.element, entry.kind, np.zeros(3)), entry.kind)
        if entry.kind in ("reaction.force", "reaction.torque"):
            return self._reaction(entry)
        if entry.element in self.system and isinstance(measure := self.system[entry.element], Measure):
            return self._measure(measure, False)
        return self._in_frame(
            self._differences(lambda y: self._values(self._result(y).quantity(entry.name).values), entry.name)
        )

    def _lowered(self, rows: Rows, kind: str) -> Rows:
        """Components that a vector has in a planar system."""
        if self.dimension == 3:
            return rows
        kept = [2] if not components_of(kind, 2) else [0, 1]
        return rows.combined(np.eye(3)[kept])

    def _reaction(self, entry: Entry) -> Rows:
        """Force or torque of a joint: its multipliers change, and so do the directions in which they act."""
        eq, e, joint = self.point.eq, self.e, entry.element
        torque = entry.kind == "reaction.torque"

        def loads(y: Array, multipliers: Array) -> Array:
            pair = eq.reactions(joint, np.full(len(y), self.point.state.t), y, multipliers)
            chosen = lowered_axial(pair[1], self.dimension) if torque else lowered(pair[0], self.dimension)
            return self._values(chosen)

        numbers, among = self._equations(joint)
        unit = np.zeros((len(numbers), eq.n_rows))
        unit[np.arange(len(numbers)), numbers] = 1.0
        by_multiplier = loads(np.repeat(self._y[None], len(numbers), axis=0), unit).T
        # M xi'' + R xi' + K xi + F zeta + (J, G)^T (dlambda, dmu) = f
        inverse = by_multiplier @ self._multipliers(joint, among)
        by_load = Rows(-inverse @ e.stiffness, -inverse @ e.damping, -inverse @ e.mass, -inverse @ e.own_force, inverse)
        turned = self._differences(
            lambda y: loads(y, np.repeat(self.point.multipliers[None], len(y), axis=0)), entry.name
        )
        return by_load.plus(self._in_frame(turned))

    def _equations(self, joint: str) -> tuple[list[int], list[int]]:
        """Numbers of a joint's equations among all multipliers, and among the rows of (J, G)."""
        tables = self.point.eq.tables
        first, places = tables.n_holonomic, np.cumsum(self.point.joint_rows) - 1
        numbers = sorted(
            {row for c in tables.constraints if c.owner_name == joint for row in range(c.row, c.rows.stop)}
        )
        return numbers, [int(places[n]) if n < first else len(self.e.holonomic) + n - first for n in numbers]

    def _multipliers(self, joint: str, among: list[int]) -> Array:
        """Multipliers of a joint for unit loads on the small motions, if they are unique."""
        left, sizes, right = np.linalg.svd(np.vstack([self.e.holonomic, self.e.nonholonomic]))
        rank = int(np.sum(sizes > 1e-9 * sizes[0]))
        if np.abs(left[among, rank:]).max(initial=0.0) > OPEN:
            raise AnalysisError(
                f"the reaction of joint {joint!r} is not unique, so it cannot be an output; remove the dependent "
                "constraints, which mb.degrees_of_freedom names"
            )
        return (left[among, :rank] / sizes[:rank]) @ right[:rank]

    # --- differences -------------------------------------------------------------------------------------------------

    @property
    def _y(self) -> Array:
        return np.concatenate([self.point.q, self.point.v, self.point.z])

    def _result(self, y: Array) -> Result:
        return Result(self.point.eq, np.full(len(y), self.point.state.t), y, Info())

    @staticmethod
    def _values(values: Array) -> Array:
        return values.reshape(len(values), -1)

    def _differences(self, function: Callable[[Array], Array], name: str) -> Rows:
        """Derivatives along xi, xi' (inertial axes) and zeta of a function of states y, (instants, values).

        Those of a step at which orders six and eight disagree, or at which the function has a corner, are taken of a
        tenth of it, and of the step at which they differ least if there is none without.
        """
        e = self.e
        moves, scales = self._moves()
        value = function(self._y[None])[0]
        slopes, doubt = np.zeros((len(moves), len(value))), np.full(len(moves), np.inf)
        step = REACH
        while step >= SMALLEST and (looked := np.flatnonzero(doubt > AGREE)).size:
            states = [moves[k](s * n * step * scales[k]) for k in looked for n in CENTRAL for s in (1.0, -1.0)]
            ahead, behind = np.moveaxis(function(np.array(states)).reshape(len(looked), len(CENTRAL), 2, -1), 2, 0)
            weights = np.array([list(CENTRAL.values()), LOWER])
            found, lower = np.tensordot(weights, ahead - behind, (1, 1)) / step
            corner = np.tensordot(CORNER, ahead + behind - 2.0 * value, (0, 1)) / step
            size = np.maximum(np.abs(value), np.maximum(np.abs(found).max(axis=0), np.abs(slopes).max(axis=0)))
            off = np.maximum(np.abs(found - lower), np.abs(corner)) / np.maximum(size, np.finfo(float).tiny)
            better = off.max(axis=1, initial=0.0) < doubt[looked]
            slopes[looked[better]] = found[better]
            doubt[looked[better]] = off.max(axis=1, initial=0.0)[better]
            step *= 0.1
        if (worst := float(doubt.max(initial=0.0))) > DOUBTFUL:
            self.doubts.append(
                f"output {name!r} bends or jumps just at the state, so that its derivative there is uncertain by "
                f"{min(worst, 1.0):.2g} of it: linearize about a state beside it, or give a law that is smooth there"
            )
        a, b, d = np.split((slopes / scales[:, None]).T, [e.size, 2 * e.size], axis=1)
        return Rows(a, b, np.zeros_like(a), d, np.zeros_like(a))

    def _moves(self) -> tuple[list[Callable[[float], Array]], Array]:
        """The states y at a distance along each of xi, xi' and zeta, and the sizes by which distances are measured."""
        point, e, eq = self.point, self.e, self.point.eq
        _, P, _, Z, _ = variations(point, TurningFrame())
        size, speed = extent(eq, point.state), max(1.0, float(np.abs(point.v).max()))
        still = np.zeros((eq.n_v, e.size))
        scales = np.full(e.size, 1.0)
        for place in e.places.values():
            scales[place.start : place.start + 3] = size
        own = places(eq, e.acting)

        def moved(d: Array, dv: Array) -> Callable[[float], Array]:
            return lambda s: np.concatenate([eq.displaced(point.q, s * d), point.v + s * dv, point.z])

        def changed(place: int) -> Callable[[float], Array]:
            unit = np.zeros(len(self._y))
            unit[eq.n_q + eq.n_v + place] = 1.0
            return lambda s: self._y + s * unit

        moves = [moved(P[:, k], Z[:, k]) for k in range(e.size)]
        moves += [moved(still[:, k], P[:, k]) for k in range(e.size)]
        moves += [changed(place) for place in own]
        of_own = [max(1.0, abs(float(point.z[place]))) for place in own]
        return moves, np.concatenate([scales, np.full(e.size, speed), of_own])

    def _in_frame(self, rows: Rows) -> Rows:
        """Rows for small motions along the axes of the frame: xi = R x, xi' = R (x' + S x), and so on, where R = 1."""
        S = turning(self.e.places, self.frame)
        a, b, c = rows.position, rows.velocity, rows.acceleration
        return Rows(a + b @ S + c @ S @ S, b + 2.0 * c @ S, c, rows.own, rows.load)


def _body_rows(
    point: OperatingPoint, name: str, e: LinearEquations, kind: str, local: Array
) -> tuple[Array, Array, Array]:
    """How a vector of a body changes with its small motions and their first and second derivatives, inertial axes.

    A point moves by dr + phi x s, s = A l; velocities and accelerations are the derivatives of that. The angular
    velocity changes by phi' + phi x w.
    """
    m, alpha = point.state.motions[name], point.accelerations[name][1]
    omega, unit, none = m.angular_velocity, np.eye(3), np.zeros((3, 3))
    if kind in QUANTITIES[:3]:
        s = m.rotation @ local
        rate = np.cross(omega, s)
        bend = np.cross(alpha, s) + np.cross(omega, rate)
        arms = [np.hstack([u, -skew(x)]) for u, x in ((unit, s), (none, rate), (none, bend))]
        orders = [(arms[0],), (arms[1], arms[0]), (arms[2], 2.0 * arms[1], arms[0])][QUANTITIES.index(kind)]
    else:
        turn, by_spin, by_change = (np.hstack([none, x]) for x in (unit, -skew(omega), -skew(alpha)))
        orders = [(turn,), (by_spin, turn), (by_change, by_spin, turn)][QUANTITIES.index(kind) - 3]
    place = e.places[name]
    whole = [np.zeros((3, e.size)) for _ in range(3)]
    for rows, part in zip(whole, orders, strict=False):
        size = min(6, place.stop - place.start)
        rows[:, place.start : place.start + size] = part[:, :size]
    return whole[0], whole[1], whole[2]
