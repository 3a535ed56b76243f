"""Consistent states: bodies brought together so that every joint closes, with the least change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bodies.base import Body
from ...bodies.formulations import Formulation, NewtonEuler, PlanarAngle
from ...equations.equations import Equations, Evaluation
from ...equations.numbered import NumberedBody
from ...equations.redundancy import may_stay
from ...equations.reuse import borrowed
from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...joints.driven import Driver
from ...kernels.stages.dynamics import LARGEST_GAP
from ...results import Info, Result
from ...rotations import quaternion_from_matrix
from ...solvers.flexible_range import flexible_bodies
from ...solvers.starting import extent, joint_norms
from ...state import Motion, State, no_such_body
from ...system import System
from .range_warnings import warn_of_flexible

Array = NDArray[np.float64]

ITERATIONS = 200
TOLERANCE = 1e-12  # of the norm of what is left open
ROUNDING = 16 * np.finfo(float).eps
LEAST_DAMPING, MOST_DAMPING = 1e-10, 1e4  # of a step that closes gaps, relative to diag(J M^-1 J^T)
LARGEST_STEP = 0.5  # rad, or lengths of the model: bodies are not moved farther in one step
NUDGES = (0.02, 0.1, 0.5)  # rad: turns from which to try again where the bodies are caught in an open position
LEAST_CHANGE = 1e-6  # how exactly the least change is found, relative to it


@dataclass(frozen=True)
class Assembly(State):
    """A consistent state, and what was changed to reach it.

    `moved` has for each body the distance by which its origin moved (m) and the angle by which it turned (rad),
    `velocity_change` the change of its velocity (m/s) and of its angular velocity (rad/s). `residual` is the norm of
    what is left of the violation of the constraints.
    """

    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    velocity_change: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    residual: float = 0.0

    def __str__(self) -> str:
        lines = [
            f"{name!r} moved by {distance:.3g} m and {angle:.3g} rad"
            for name, (distance, angle) in self.moved.items()
            if distance or angle
        ]
        lines += [
            f"{name!r} changed its velocity by {speed:.3g} m/s and {spin:.3g} rad/s"
            for name, (speed, spin) in self.velocity_change.items()
            if speed or spin
        ]
        return "\n".join([f"assembled, residual {self.residual:.2g}", *(lines or ["nothing had to be changed"])])


def assemble(
    system: System,
    initial: State | None = None,
    fixed: Iterable[Body | str] = (),
    *,
    joints: Mapping[str, Any] | None = None,
    joint_rates: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCE,
    formulation: Formulation | None = None,
) -> Assembly:
    """Positions and velocities that fulfil the constraints, changed as little as possible.

    The positions found are those with the least 1/2 int |x - x_0|^2 dm over the particles of all bodies, x_0 being
    where they were given: light bodies move more than heavy ones. Of the velocities there, those with the least change
    1/2 dv^T M dv from the given velocities of the origins and angular velocities.

    Gaps are closed by Newton's method with least changes, damped (Levenberg-Marquardt) and limited in its steps, so
    that it converges from far. Which of several closed positions it finds depends on where it starts.

    Parameters
    ----------
    system
        What to assemble.
    initial
        State to start from; by default the one in which the model is described.
    fixed
        Bodies (or their names) that keep their position and velocity.
    joints
        Coordinates that joints shall have, by their names: {"hinge": 0.3, "slider": 0.1}, an angle (rad) or a
        displacement (m) from the described position; of a joint with both {"rod": {"angle": 0.3, "displacement": 0.1}}.
        Other joints follow, so that loops close. Whole turns are left out: they are no part of a pose.
    joint_rates
        Rates that coordinates of joints shall have, likewise, rad/s or m/s.
    tolerance
        Largest norm of the constraint residuals; ten times that for their rates.
    formulation
        Coordinates to compute in, by default `NewtonEuler()`, in the plane `PlanarAngle()`; the state found does not
        depend on them.

    Returns
    -------
    Assembly
        A state that says what was changed. An `AnalysisError` names the joint that could not be closed.
    """
    check_kinds("assemble", system=(system, System), initial=(initial, State), formulation=(formulation, Formulation))
    eq = Equations(system, formulation or _usual(system))
    if joints or joint_rates:
        return _with_joints(system, initial, fixed, joints or {}, joint_rates or {}, tolerance, eq.formulation)
    found = _assembly(eq, initial, fixed, tolerance)
    warn_of_flexible(eq, found, loaded=False)
    return found


def _with_joints(
    system: System,
    initial: State | None,
    fixed: Iterable[Body | str],
    joints: Mapping[str, Any],
    rates: Mapping[str, Any],
    tolerance: float,
    formulation: Formulation | None,
) -> Assembly:
    """The assembly with some joint coordinates and rates: drivers hold them, the former first, then the latter."""
    names = _names(system, fixed)
    start = initial.checked(system.bodies) if initial is not None else Equations(system, formulation).described()
    wanted, turning = _coordinates(system, joints, "joints"), _coordinates(system, rates, "joint_rates")
    held = {(joint, name): (wrapped(value, name), 0.0) for (joint, name), value in wanted.items()}
    placed = _assembly(Equations(_driven(system, held), formulation), start, names, tolerance)
    kept = {
        body: replace(motion, velocity=given.velocity, angular_velocity=given.angular_velocity)
        for (body, motion), given in zip(placed.motions.items(), start.motions.values(), strict=True)
    }
    there = replace(start, motions=kept, element_states=_own(placed, system))
    result = Result(eq := Equations(system, formulation), np.array([start.t]), eq.coordinates(there)[None], Info())
    moving = {
        (joint, name): (wrapped(float(result.joint_coordinate(joint, name)[0][0]), name), rate)
        for (joint, name), rate in turning.items()
    }
    found = _assembly(Equations(_driven(system, moving, start.t), formulation), there, names, tolerance)
    warn_of_flexible(eq, found, loaded=False)
    return replace(found, element_states=_own(found, system), moved=placed.moved)


def wrapped(value: float, name: str) -> float:
    """A coordinate without whole turns."""
    return value - 2.0 * np.pi * round(value / (2.0 * np.pi)) if name == "angle" else value


def _own(state: State, system: System) -> dict[str, Array]:
    """The element states of a state that belong to the elements of a system."""
    known = {name for name, _, _ in Equations(system).tables.own_states()}
    return {name: values for name, values in state.element_states.items() if name in known}


def _driven(system: System, wanted: Mapping[tuple[str, str], tuple[float, float]], t: float = 0.0) -> System:
    """A copy of a system in which drivers give joints these coordinates and rates."""
    twin = system.as_described()
    for (joint, name), (value, rate) in wanted.items():
        label = f"{name} of {joint}"
        while label in twin:
            label += "'"
        law = f"{value!r} + ({rate!r})*(t - ({t!r}))" if rate else value
        twin.add(Driver(label, twin[joint], **{name: law}))  # type: ignore[arg-type]
    return twin


def _coordinates(system: System, given: Mapping[str, Any], field: str) -> dict[tuple[str, str], float]:
    """The joints and coordinates that are meant, with their values; what is wrong is one error."""
    problems, found = [], {}
    driven = {driver.joint.name: driver for driver in system.joints if isinstance(driver, Driver)}

    def refuse(message: str) -> None:
        problems.append(Problem("assemble", field, message))

    for key, value in given.items():
        name = getattr(key, "name", key)
        joint: Any = next((one for one in system.joints if one.name == name), None)
        free = tuple(getattr(joint, "freedoms", ()))
        parts = value if isinstance(value, Mapping) else {free[0]: value} if len(free) == 1 else {}
        if joint is None:
            refuse(f"there is no joint {name!r}")
        elif not free:
            refuse(f"{joint} leaves no angle about, or way along, its axis free; give coordinates of hinges and slides")
        elif name in driven:
            refuse(f"{joint} is driven by {driven[name]}, which decides on its coordinate; leave it out")
        elif not parts or not set(parts) <= set(free):
            refuse(f"{joint}: found {value!r}; allowed is {{{', '.join(f'{one!r}: value' for one in free)}}}")
        for part, number in parts.items():
            if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
                refuse(f"{name}: found {number!r}; allowed is a finite number; give one")
            else:
                found[name, part] = float(number)
    if problems:
        raise ModelError(problems)
    return found


def consistent(system: System, initial: State | None, least: bool = True) -> Assembly:
    """What `assemble` finds, without its warnings: for analyses that start from it and warn themselves.

    Without `least` the change of positions is the least one to first order only, which is found sooner: for states that
    are nearly closed.
    """
    with borrowed(system, _usual(system)) as eq:
        return _assembly(eq, initial, (), TOLERANCE, least)


def _usual(system: System) -> Formulation:
    return NewtonEuler() if system.dimension == 3 else PlanarAngle()


def _assembly(
    eq: Equations, initial: State | None, fixed: Iterable[Body | str], tolerance: float, least: bool = True
) -> Assembly:
    system = eq.system
    start = initial.checked(system.bodies) if initial is not None else eq.described()
    assembler = Assembler(eq, start, _names(system, fixed), tolerance)
    q = assembler.closed()
    if least:
        q = assembler.nearest(q)
    return assembler.report(q, assembler.projected(q))


def _names(system: System, bodies: Iterable[Body | str]) -> set[str]:
    """The names of some bodies of a system."""
    given = [bodies] if isinstance(bodies, Body | str) else bodies
    names: list[Any] = [getattr(body, "name", body) for body in given]
    known = [system.ground.name, *(body.name for body in system.bodies)]
    if problems := [Problem("assemble", "fixed", no_such_body(name, known)) for name in names if name not in known]:
        raise ModelError(problems)
    return set(names)


class Assembler:
    """Changes coordinates by least steps; `fixed` bodies have an infinite mass."""

    def __init__(self, eq: Equations, start: State, fixed: set[str], tolerance: float) -> None:
        self.eq, self.start, self.fixed, self.tolerance = eq, start, fixed, tolerance
        self.q, self.v, self.z = eq.split(eq.coordinates(start))
        self.kept = 0.0  # gap between redundant joints that do not fit exactly
        self._evaluate(self.q)
        self.size = extent(eq, start)

    # --- positions ---------------------------------------------------------------------------------------------------

    def closed(self) -> Array:
        """A closed position that Newton's method finds from the start, or from positions around it."""
        best, least = self.close(self.q)
        self.keep(best, least)
        values = np.random.default_rng(0)
        for nudge in NUDGES:
            if least <= self.enough(best):
                break
            turns = {
                name: (np.zeros(3), values.normal(size=3)) for name in self.start.motions if name not in self.fixed
            }
            found, gap = self.close(self.eq.displaced(self.q, nudge * self._velocities(self.q, turns)))
            if gap < least:
                best, least = found, gap
        if least <= self.enough(best):
            return best
        owner, gap = joint_norms(self.eq, self._evaluate(best).residual)[0]
        held = f", fixed are {', '.join(map(repr, sorted(self.fixed)))}" if self.fixed else ""
        raise AnalysisError(
            f"{owner} cannot be closed: a gap of {gap:.3g} (m, or rad) stays open{held}; check the lengths of the "
            "parts, leave more bodies free, or start from a state that is nearer to a closed one"
        )

    def close(self, q: Array) -> tuple[Array, float]:
        """Where damped Newton steps lead from q, and the norm of the residuals there."""
        damping = LEAST_DAMPING
        e = self._evaluate(q)
        for _ in range(ITERATIONS):
            if np.linalg.norm(e.residual) <= self.enough(q) or damping > MOST_DAMPING:
                break
            step, weight = self._step(e, e.residual, damping=damping)
            trial = self._limited(q, step)
            after = self._evaluate(trial)
            if weight @ after.residual**2 < weight @ e.residual**2:
                q, e = trial, after
                damping = max(damping / 10, LEAST_DAMPING)
            else:
                damping = max(10 * damping, 1e-6)
        return q, float(np.linalg.norm(e.residual))

    def keep(self, q: Array, gap: float) -> None:
        """Take a position for closed in which redundant joints leave a gap because they do not fit exactly."""
        self._evaluate(q)
        if gap > self.enough(q) and may_stay(self.eq):
            self.kept = 2.0 * gap  # what it leaves changes a little from one position to the next

    def nearest(self, q: Array) -> Array:
        """The closed position with the least change from the start; q is one that is not far from it.

        Gauss-Newton steps along the closed positions: the part of M^-1 grad that keeps the constraints.
        """
        if q is self.q:
            return q
        for _ in range(ITERATIONS):
            size, descent = self._change(q)
            e = self._evaluate(q)
            step, _ = self._step(e, e.residual, wish=-descent)
            if step @ e.mass @ step <= LEAST_CHANGE**2 * size:
                break
            for part in (1.0, 0.5, 0.25, 0.125):
                trial, gap = self.close(self._limited(q, part * step))
                if gap <= self.enough(trial) and self._change(trial)[0] < size:
                    q = trial
                    break
            else:
                break
        return q

    def enough(self, q: Array) -> float:
        """The norm of the residuals that counts as closed: the tolerance, or what rounding or redundancy allows."""
        floor = ROUNDING * max(1.0, np.abs(q).max()) * np.sqrt(1.0 + len(self.eq.work.residual))
        return float(max(self.tolerance, floor, self.kept))

    def _change(self, q: Array) -> tuple[float, Array]:
        """The change from the start to q, and M^-1 times its gradient.

        A body whose centre of mass moved by u and which turned from A_0 to A contributes, with its second moments
        J = 1/2 tr(I) 1 - I about the centre of mass, 1/2 m u^2 + 1/2 tr((A - A_0) J (A - A_0)^T). The gradient is a
        force m u at the centre of mass and a moment, twice the axial vector of A J A_0^T; divided by mass and inertia
        it is a twist.
        """
        total, twists = 0.0, {}
        now = self._state(q).motions
        for b in self.eq.tables.bodies:
            if b.body.name in self.fixed:
                continue
            mass, center, inertia = b.body.mass_properties()
            start, m = self.start.motions[b.body.name], now[b.body.name]
            arm = m.rotation @ center
            u = m.position + arm - start.position - start.rotation @ center
            moments = 0.5 * np.trace(inertia) * np.eye(3) - inertia
            g = m.rotation @ moments @ start.rotation.T
            moment = np.array([g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]])
            # The pseudoinverse, because a point mass has no inertia; it does not turn.
            turn = np.linalg.pinv(m.rotation @ inertia @ m.rotation.T) @ moment
            difference = m.rotation - start.rotation
            total += 0.5 * mass * u @ u + 0.5 * np.trace(difference @ moments @ difference.T)
            bend = m.modal_coordinates - start.modal_coordinates
            if len(bend):
                total += 0.5 * bend @ self._modal_mass(b) @ bend
            twists[b.body.name] = (u - np.cross(turn, arm), turn, bend)
        return float(total), self._velocities(q, twists)

    def _modal_mass(self, b: NumberedBody) -> Array:
        """The part of the mass matrix that belongs to the modal coordinates of a flexible body; it is constant."""
        place = slice(b.v + 6, b.v_slice.stop)
        return self._evaluate(self.q).mass[place, place].toarray()

    def span(self, q: Array, step: Array) -> float:
        """How far a step goes: largest angle by which it turns a body (rad), or displacement relative to the model.

        A flexible body also goes as far as it is deformed.
        """
        motions = self._state(q, step).motions
        turns = [_length(m.angular_velocity) for m in motions.values()]
        moves = [_length(m.velocity) for m in motions.values()]
        for _, body in flexible_bodies(self.eq):
            move, turn = body.deformed_by(motions[body.name].modal_velocities)
            moves.append(move)
            turns.append(turn)
        return max(*turns, max(moves) / self.size)

    def _limited(self, q: Array, step: Array) -> Array:
        """q after a step, which is shortened if it goes too far for a linear one."""
        return self.eq.displaced(q, step * (LARGEST_STEP / max(self.span(q, step), LARGEST_STEP)))

    # --- velocities --------------------------------------------------------------------------------------------------

    def projected(self, q: Array) -> Array:
        """The velocities nearest to those of the start that keep the constraints at q."""
        twists = {n: (m.velocity, m.angular_velocity, m.modal_velocities) for n, m in self.start.motions.items()}
        v = self.v if q is self.q else self._velocities(q, twists)
        for _ in range(ITERATIONS):
            e = self._evaluate(q, v)
            floor = ROUNDING * max(1.0, float(np.linalg.norm(v))) * np.sqrt(1.0 + self.eq.n_rows)
            if np.linalg.norm(e.constraint_rate) <= max(10 * self.tolerance, floor):
                return v
            v = v + self._step(e, e.constraint_rate)[0]
        if self._shares_rates(q, v):
            return v
        owner, rate = joint_norms(self.eq, e.constraint_rate)[0]
        raise AnalysisError(
            f"{owner} cannot keep its equations in motion: they are violated at a rate of {rate:.3g} (m/s, or rad/s) "
            "whatever the velocities; check drivers and fixed bodies"
        )

    def _shares_rates(self, q: Array, v: Array) -> bool:
        """Whether redundant joints contradict each other in motion by no more than runs share between them."""
        e = self._evaluate(q, v)
        n = len(e.residual)
        rates = float(np.abs(e.constraint_rate[:n] / self.eq.work.row_sizes).max(initial=0.0))
        others = float(np.linalg.norm(e.constraint_rate[n:]))
        return rates <= LARGEST_GAP * self.span(q, v) and others <= 10 * self.tolerance and may_stay(self.eq)

    # --- least changes -----------------------------------------------------------------------------------------------

    def _evaluate(self, q: Array, v: Array | None = None) -> Evaluation:
        return self.eq.evaluate(self.start.t, q, np.zeros(self.eq.n_v) if v is None else v, self.z)

    def _state(self, q: Array, v: Array | None = None) -> State:
        y = np.concatenate([q, np.zeros(self.eq.n_v) if v is None else v, self.z])
        return self.eq.state(self.start.t, y)

    def _velocities(self, q: Array, twists: Mapping[str, tuple[Array, ...]]) -> Array:
        """v of bodies at q with the given velocities, angular and modal velocities; those not given stand still."""
        still = (np.zeros(3), np.zeros(3))
        motions = {}
        for name, m in self._state(q).motions.items():
            velocity, angular, *modal = twists.get(name, still)
            rates = modal[0] if modal else np.zeros(0)
            motions[name] = Motion(m.position, m.rotation, velocity, angular, m.modal_coordinates, rates)
        return self.eq.split(self.eq.coordinates(State(self.start.t, motions)))[1]

    def _step(
        self, e: Evaluation, values: Array, wish: Array | None = None, damping: float = LEAST_DAMPING
    ) -> tuple[Array, Array]:
        """The step d nearest to a wish p that removes the violations `values` of the first rows, and row weights.

        d = p - M^-1 J^T (J M^-1 J^T + damping S)^-1 (values + J p), S = diag(J M^-1 J^T); the weights are S^-1, in
        which the step makes the sum of squares smaller however large the damping. Dependent rows do no harm.
        """
        import scipy.sparse as sparse
        from scipy.sparse.linalg import splu

        blocks = [
            np.zeros((n, n)) if b.body.name in self.fixed else np.linalg.inv(e.mass[b.v_slice, b.v_slice].toarray())
            for b in self.eq.tables.bodies
            for n in [b.formulation.n_v]
        ]
        j = e.jacobian[: len(values)]
        spread = sparse.block_diag([sparse.coo_array(block) for block in blocks], format="csr") @ j.T
        matrix = (j @ spread).tocsc()
        scale = matrix.diagonal()
        scale[scale <= 0.0] = 1.0  # rows between fixed bodies
        p = np.zeros(self.eq.n_v) if wish is None else wish
        if len(values):
            p = p - spread @ splu(matrix + damping * sparse.diags_array(scale, format="csc")).solve(values + j @ p)
        return p, 1.0 / scale

    # --- report ------------------------------------------------------------------------------------------------------

    def report(self, q: Array, v: Array) -> Assembly:
        """The assembled state, with what was changed."""
        start, motions = self.start.motions, dict(self._state(q, v).motions)
        for b in self.eq.tables.bodies:
            same = np.all(q[b.q_slice] == self.q[b.q_slice]) and np.all(v[b.v_slice] == self.v[b.v_slice])
            if same or b.body.name in self.fixed:  # as given, to the last digit
                motions[b.body.name] = start[b.body.name]
        residual = float(np.linalg.norm(self._evaluate(q, v).residual))
        moved, hastened = {}, {}
        for name, m in motions.items():
            a = start[name]
            moved[name] = (_length(m.position - a.position), _length(turned(a.rotation, m.rotation)))
            hastened[name] = (_length(m.velocity - a.velocity), _length(m.angular_velocity - a.angular_velocity))
        return Assembly(
            self.start.t, motions, self.start.element_states, self.start.dimension, moved, hastened, residual
        )


def turned(before: Array, after: Array) -> Array:
    """The rotation vector (global) from one rotation matrix to another."""
    p = quaternion_from_matrix(after @ before.T)
    sine = _length(p[1:])
    return 2.0 * np.arctan2(sine, p[0]) / sine * p[1:] if sine > 0.0 else np.zeros(3)


def _length(vector: Array) -> float:
    return float(np.linalg.norm(vector))
