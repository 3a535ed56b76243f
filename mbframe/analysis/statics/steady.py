"""Steady motions: seen from a frame that turns or runs along, all bodies stand still but for spins of round ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...bodies.formulations import NewtonEuler, PlanarAngle
from ...equations.equations import Equations
from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...joints.driven import Driver, Prescribed
from ...markers import AXIS, converted
from ...measures import Measure
from ...plane import lifted
from ...rotations import matrix_from_vector
from ...solvers.starting import extent
from ...state import Motion, State
from ...system import System
from ..linear.linear_equations import (
    LinearEquations,
    OperatingPoint,
    TurningFrame,
    collected,
    linear_equations,
    on_bodies,
    turning,
    variations,
)
from ..linear.reduction import Reduction, reduce
from ..linear.signals import measure_value
from ..linear.steadiness import LATER, admissible, check_closed, check_steady
from ..linear.symmetry import round_axes
from ..mobility.null_space import null_space
from ..states.assemble import Assembler, consistent
from ..states.controllers import refuse_sampled
from ..states.range_warnings import warn_of_flexible

Array = NDArray[np.float64]
Function = Callable[[State], float]

CLOSED = 1e-13
LARGEST_STEP = 0.2  # rad, lengths of the model, or of a velocity: what Newton's method may do at once
SMALL_STEP = 1e-12
HALVINGS = 12
RANK = 1e-9  # relative size of singular values that count as zero
DRIVEN = 1e-3  # of the tolerance: part of the weight that counts as a drive or loss along the motion
SPUN = 0.7  # rad
SLIGHT = 1e-3  # part of conceivable loads that real ones are measured by at least: rounding is 1e-13 of these
AHEAD = np.array([0.0, 0.013, 0.17, 0.61, 1.0])  # parts of a time, at which rates of drivers are compared
UNEVEN = 1e-6  # part of a driver's rate that may be the rounding of a difference
DIFFERENCE = 1e-5  # for derivatives of given quantities
FEW, MANY = 60, 100  # steps of Newton's method
PATIENCE = 50  # steps after which drives and losses along the motion are looked at in any case
OTHER_SPEEDS = (0.15, 8.0, 25)  # factors of the velocities at the start, from which a few steps are tried
TRIED, BEST = 4, 6  # steps, and how many of them are followed on
LOST = 0.5  # of a spin: what is lost at least where no steady velocity can stand for it


@dataclass(frozen=True)
class SteadyMotion(State):
    """A state of a steady motion, and the frame in which it stands still; `mb.linearize` takes both from it."""

    frame: TurningFrame = field(default_factory=TurningFrame)
    residual: float = 0.0
    """Largest force or moment that is left without balance, relative to the largest load."""
    given: tuple[tuple[Any, float], ...] = field(default=(), repr=False)
    """Quantities that were given with their values; `mb.continuation` keeps them."""
    rate: float | None = field(default=None, repr=False)
    """The rate of the turn if it was given, rad/s."""


@dataclass(frozen=True)
class LocalEquations:
    """Linear equations of steady motions near a state: see `Trim.local`.

    directions
        Columns: displacement of all bodies, change of the coefficients c.
    kept, rows, left
        Which loads are balanced, their derivatives along the directions and those of given values, what is left.
    powers, power_rows, power_left
        The same of drives and losses along the motion.
    """

    equations: LinearEquations
    directions: Array
    kept: Array
    rows: Array
    left: Array
    powers: Array
    power_rows: Array
    power_left: Array


def steady(
    system: System,
    initial: State | None = None,
    given: Sequence[tuple[Measure | str | Function, float]] = (),
    *,
    axis: ArrayLike | None = None,
    rate: float | None = None,
    tolerance: float = 1e-10,
) -> SteadyMotion:
    """Find a steady motion of a system, such as a bicycle in a turn, near a state.

    All bodies turn with the rate Omega about `axis` (0: they run straight on), and round ones spin about their own axis
    besides. Unknown are the poses, the velocities of that kind, and Omega; known are the constraints, the balance of
    forces with the accelerations r'' = Omega x r', w' = Omega x w, and what is `given`. Newton's method with least
    changes finds, of all steady motions with these properties, one near the start.

    Parameters
    ----------
    system
        What moves.
    initial
        Where to start; by default the state in which the model is described.
    given
        Pairs of a quantity and the value that it shall have. A quantity is a measure or its name, or a function of the
        state, such as `lambda state: np.linalg.norm(state.velocity("frame"))`.
    axis
        Axis of the turn, by default against gravity, or without gravity that about which the fastest body turns.
    rate
        Omega, rad/s; left out, it is found.
    tolerance
        Largest part of the loads that may be left without balance, and largest error of given values.

    Returns
    -------
    SteadyMotion
        A `State` that knows its frame. An `AnalysisError` says what is left where none was found.
    """
    check_kinds("steady", system=(system, System), initial=(initial, State))
    try:
        pairs = [(quantity, float(value)) for quantity, value in given]
    except (TypeError, ValueError):
        message = f"found {given!r}; allowed are pairs of a quantity and its value; give a list: [(quantity, value)]"
        raise ModelError([Problem("steady", "given", message)]) from None
    start = consistent(system, initial)
    direction = converted(AXIS, axis if axis is not None else usual_axis(system, start), "steady", "axis")
    trim = Trim(system, start, direction / np.linalg.norm(direction), rate, pairs, tolerance)
    if axis is None and rate is None:
        trim.check_kept_spins()
    try:
        if trim.search(FEW if pairs or rate is not None else MANY, tolerance):
            return trim.checked()
        if pairs or rate is not None:
            # A straight run is a singular start for a turn with a given rate, which may exist at another speed alone.
            trials = [(trim.promise(faster), faster) for faster in np.geomspace(*OTHER_SPEEDS).tolist()]
            for faster, steps in [*((faster, FEW) for _, faster in sorted(trials)[:BEST]), (1.0, MANY)]:
                trim.restart(faster)
                if trim.search(steps, tolerance):
                    return trim.checked()
    except np.linalg.LinAlgError as error:
        raise AnalysisError(
            "no steady motion was found: on the way there a load or a given quantity is not a finite number; start "
            "from a state that is nearer to the motion, or check what is given"
        ) from error
    raise AnalysisError(
        f"no steady motion was found in {MANY} steps: {trim.remains()}; give other values or fewer of them, or start "
        "from a state that is nearer to the motion"
    )


def usual_axis(system: System, start: State) -> Array:
    """Against gravity; without it the axis about which the fastest body turns, which may be any."""
    gravity = lifted(system.gravity)
    if np.any(gravity):
        return -gravity
    fastest = max((m.angular_velocity for m in start.motions.values()), key=lambda w: float(w @ w))
    if not np.any(fastest):
        return np.array([0.0, 0.0, 1.0])
    largest = fastest[np.argmax(np.abs(fastest))]
    return np.asarray(fastest * np.sign(largest), float)


def _function(system: System, quantity: Measure | str | Function) -> Function:
    """A quantity as a function of the state."""
    element = system[quantity] if isinstance(quantity, str) else quantity
    if isinstance(element, Measure):
        return lambda state: measure_value(element, state)
    if not callable(element):
        message = f"found {quantity!r}; allowed are a measure, its name, or a function of the state; give one of these"
        raise ModelError([Problem("steady", "given", message)])
    return element


@dataclass(frozen=True)
class _Balances:
    """Loads that must be balanced in a steady motion: rows of drives and losses along it, and of all others."""

    equations: LinearEquations
    reduction: Reduction
    slip: Array
    faster: Array
    powers: Array
    others: Array
    by_c: Array


def refuse_changing_rates(system: System, t: float) -> None:
    """Refuse drivers of an angle, a displacement or a measure whose rate is not constant from an instant on."""
    for driver in system.joints:
        if not isinstance(driver, Driver | Prescribed):
            continue
        for name, function in driver.functions().items():
            rates = np.asarray(function.derivative(t + LATER * AHEAD), float)
            if np.ptp(rates) > UNEVEN * np.abs(rates).max():
                raise AnalysisError(
                    f"{driver}, {name}: it drives a motion that is not steady, its rate goes from {rates[0]:.6g} to "
                    f"{rates[-1]:.6g} within {LATER:g} s from t = {t:g} s; drive with a constant rate, such as 2*t, or "
                    "start from a state at a time from which on it is constant"
                )


class Trim:
    """Newton's method for a steady motion: closed poses, and coefficients c of velocities along `_twists` without slip.

    Numbers are scaled to the size and mass of the system and to the acceleration of gravity.
    """

    def __init__(
        self,
        system: System,
        start: State,
        axis: Array,
        rate: float | None,
        given: Sequence[tuple[Any, float]],
        tolerance: float,
    ) -> None:
        # With these velocities (r' and the local angular velocity) accelerations map to v' as velocities do to v.
        self.eq = Equations(system, NewtonEuler() if system.dimension == 3 else PlanarAngle())
        refuse_sampled(self.eq)
        self.axis, self.rate, self.given = axis, rate, tuple(given)
        self.wanted = [(_function(system, quantity), value) for quantity, value in given]
        self.length = extent(self.eq, start)
        self.acceleration = float(np.linalg.norm(system.gravity)) or 1.0
        self.root_mass = np.sqrt(sum(b.body.mass_properties()[0] for b in self.eq.tables.bodies))
        self.drive = DRIVEN * tolerance * self.root_mass * self.acceleration
        self.spins = [
            (b.body.name, local)
            for b in self.eq.tables.bodies
            if not b.formulation.n_modes
            for local, arm in round_axes(*b.body.mass_properties()[1:])
            if np.abs(arm).max() <= 1e-12 * self.length
        ]
        self.balance, self.drives, self.driven = np.inf, False, np.zeros(0, bool)  # drives: to be balanced too
        self.state, self.unseen = start, list[int]()
        e = linear_equations(OperatingPoint.at(self.eq, start), TurningFrame())
        self.places = e.places
        twists, _ = self._twists(start)
        changing = self._changing(start, twists, _size(e.holonomic) or 1.0)
        allowed = self._steady(start, e, twists, changing)
        energy = np.linalg.cholesky(allowed.T @ twists.T @ e.mass @ twists @ allowed)
        self.mixed = np.linalg.solve(energy, allowed.T).T * self.root_mass * np.sqrt(self.acceleration * self.length)
        now = collected(self.places, {n: (m.velocity, m.angular_velocity) for n, m in start.motions.items()})
        nearest = np.asarray(np.linalg.lstsq(twists, now, rcond=1e-12)[0], float)
        self.driving = self._driving(start, np.vstack([e.holonomic @ twists, changing]), nearest)
        left = now - twists @ self.driving
        self.start = start
        self.usual: Array = np.asarray(np.linalg.lstsq(twists @ self.mixed, left, rcond=1e-12)[0], float)
        self.restart(1.0)
        self.unseen = self._unseen()

    def search(self, steps: int, tolerance: float) -> bool:
        """Newton's method; whether it arrives within some steps."""
        for k in range(steps):
            found = self.improve() <= tolerance
            if found and self.balance <= tolerance:
                return True
            self.drives |= found or k >= PATIENCE
        return False

    def promise(self, faster: float) -> float:
        """What is left without balance some steps after a start that is a factor faster."""
        self.restart(faster)
        for _ in range(TRIED):
            self.improve()
        return self.balance

    def restart(self, faster: float) -> None:
        """Begin at the start, with velocities that are a factor faster."""
        self.balance, self.drives, self.driven = np.inf, False, np.zeros(0, bool)
        self.state, self.c = self._closed(self.start, faster * self.usual)

    def check_kept_spins(self) -> None:
        """Refuse to forget the spin of a flexible body, which cannot be one of its own axis as of a round one."""
        for b in self.eq.tables.bodies:
            before, now = (s.motions[b.body.name].angular_velocity for s in (self.start, self.state))
            if b.formulation.n_modes and np.linalg.norm(now - before) > LOST * np.linalg.norm(before) > 0.0:
                turn = ", ".join(f"{x:.6g}" for x in before)
                raise AnalysisError(
                    f"{b.body} turns with ({turn}) rad/s, but steady motions turn about one axis, here "
                    f"({', '.join(f'{x:.6g}' for x in self.axis + 0.0)}): pass axis= and rate= of its turn, or start "
                    "from a state at rest"
                )

    def _driving(self, start: State, rows: Array, now: Array) -> Array:
        """Coefficients of the velocities nearest to those `now` that follow the drivers: rows c = -dC/dt."""
        eq = self.eq
        refuse_changing_rates(eq.system, start.t)
        q, v, z = eq.split(eq.coordinates(start))
        rates = eq.evaluate(start.t, q, 0.0 * v, z).constraint_rate[: eq.tables.n_holonomic]
        own = OperatingPoint(eq, start, q, v, z, 0.0 * v, np.zeros(eq.n_rows), 0.0 * z).joint_rows
        wanted = np.zeros(len(rows))  # what keeps plane bodies in the plane, and loads constant, follows these
        wanted[: int(own.sum())] = -rates[own]
        if not np.any(wanted):
            return np.zeros(rows.shape[1])
        left = wanted - rows @ now
        found: Array = np.asarray(now + np.linalg.lstsq(rows, left, rcond=1e-9)[0], float)
        if np.abs(rows @ found - wanted).max() > 1e-9 * np.abs(wanted).max():
            moving = [c.owner_name for c in eq.tables.constraints if np.any(rates[c.row : c.rows.stop])]
            raise AnalysisError(
                f"{', '.join(map(repr, dict.fromkeys(moving)))} drives a motion that is not steady: all bodies must "
                "turn about one axis with one rate, and round ones may spin besides; drive with a constant rate about "
                f"the axis ({', '.join(f'{x:.6g}' for x in self.axis + 0.0)}), or pass another axis="
            )
        return found

    def improve(self) -> float:
        """One step of Newton's method; returns its size, and the error of given values if that is larger.

        The step is halved until the next one would be shorter, which asks nothing of how equations are scaled.
        """
        directions, rows, left = self._equations()
        state, c, n = self.state, self.c, len(directions) - len(self.c)
        step = np.linalg.lstsq(rows, -left, rcond=RANK)[0]
        size = float(np.abs(directions @ step).max(initial=0.0))
        for halvings in range(HALVINGS):
            share = 0.5**halvings
            if share * size > LARGEST_STEP:
                continue
            change = share * directions @ step
            self.state, self.c = self._closed(_displaced(state, self.places, change[:n]), c + change[n:])
            following = np.linalg.lstsq(rows, -self._equations(left_only=True)[2], rcond=RANK)[0]
            if size <= SMALL_STEP or np.linalg.norm(following) <= (1.0 - 0.25 * share) * np.linalg.norm(step):
                break
        return max(size, *(abs(function(self.state) - value) for function, value in self.wanted), 0.0)

    def checked(self) -> SteadyMotion:
        """The motion found, after an independent look at it: its accelerations by the equations of motion."""
        point, frame = OperatingPoint.at(self.eq, self.state), self.frame
        check_closed(self.eq, self.state)
        check_steady(point, frame)
        warn_of_flexible(self.eq, self.state, 3)
        s = self.state
        return SteadyMotion(s.t, s.motions, s.element_states, s.dimension, frame, self.balance, self.given, self.rate)

    # --- for who follows a motion over a parameter -------------------------------------------------------------------

    @property
    def frame(self) -> TurningFrame:
        """The frame in which the motion of now stands still; it does not turn if its rate is rounding."""
        frame, speeds = self._frame(self.c), np.abs(self.speeds())
        fastest = float(max(speeds[:3].max() / self.length, speeds[3:].max()))
        return frame if abs(frame.rate) > RANK * fastest else TurningFrame(self.axis, 0.0)

    def speeds(self) -> Array:
        """Velocities along the directions of steady motions: three translations, the turn, spins."""
        return np.asarray(self.driving + self.mixed @ self.c, float)

    def speeds_of(self, state: State) -> Array:
        """The same of another state."""
        moving = collected(self.places, {n: (m.velocity, m.angular_velocity) for n, m in state.motions.items()})
        return np.asarray(np.linalg.lstsq(self._twists(state)[0], moving, rcond=1e-12)[0], float)

    def described_speeds(self) -> Array:
        """The same of the state in which the model is described."""
        return self.speeds_of(self.eq.described())

    def moved(self, x: Array, speeds: Array) -> State:
        """The state with bodies displaced by x, and with these velocities."""
        there = _displaced(self.state, self.places, x)
        twist = on_bodies(self.places, self._twists(there)[0] @ speeds)
        motions = {n: replace(m, velocity=twist[n][0], angular_velocity=twist[n][1]) for n, m in there.motions.items()}
        return replace(there, motions=motions)

    def local(self) -> LocalEquations:
        """The linear equations near the state of now, those of drives and losses along the motion apart."""
        b = self._balances()
        directions, along = self._along(b)
        unit = self.root_mass * self.acceleration
        others, powers, imbalance = b.others / unit, b.powers / unit, b.equations.imbalance
        return LocalEquations(
            equations=b.equations,
            directions=directions,
            kept=others,
            rows=np.vstack([others @ along, self._wanted_rows(directions)]),
            left=np.concatenate([others @ imbalance, self._missed()]),
            powers=powers,
            power_rows=powers @ along,
            power_left=powers @ imbalance,
        )

    def remains(self) -> str:
        """What is not met, in words."""
        missed = ", ".join(f"{function(self.state) - value:.3g}" for function, value in self.wanted) or "none"
        return f"{self.balance:.2g} of the loads is left without balance, given values are missed by {missed}"

    # --- inside ------------------------------------------------------------------------------------------------------

    def _changing(self, start: State, twists: Array, size: float) -> Array:
        """How loads on free motions change with steady velocities, such as of a torsion spring that is wound.

        Rows that must give zero, relative to the stiffness, times a size. Loads may turn along with a turn of the
        whole, and what joints and drivers carry does not matter.
        """
        eq = self.eq
        q, v, z = eq.split(eq.coordinates(start))
        point = OperatingPoint(eq, start, q, 0.0 * v, z, 0.0 * v, np.zeros(eq.n_rows), 0.0 * z)
        e = linear_equations(point, TurningFrame())
        free = admissible(e)
        found = free.T @ e.stiffness @ twists
        # Without multipliers and accelerations the imbalance is minus the loads.
        found[:, 3] -= free.T @ turning(self.places, TurningFrame(self.axis, 1.0)) @ e.imbalance
        return found * (size / (_size(free.T @ e.stiffness) or 1.0))

    def _steady(self, start: State, e: LinearEquations, twists: Array, changing: Array) -> Array:
        """Combinations (columns) of velocities that open no joint: spins about hinges, turns about a fixed shaft.

        A ball that hangs on a hinge may begin to swing, as a displacement with a spin, but not steadily: the joints
        must also stay closed at once where the bodies have spun on a little, and loads must stay as they are.
        """
        full = _size(e.holonomic) * _size(twists)
        rows = [e.holonomic @ twists, changing]
        for c in null_space(rows[0], full).T:
            spun = self._jacobian(_displaced(start, self.places, self._spin(start, c))) @ twists
            if np.abs(spun @ c).max(initial=0.0) > RANK * full:
                rows.append(spun)
        still = null_space(twists, _size(twists))
        if still.shape[1] and self.rate == 0.0:
            rows.append(np.eye(twists.shape[1])[[3]] * full)  # a turn and the opposite spin are no motion: do not turn
        allowed = null_space(np.vstack(rows), full)
        _, sizes, right = np.linalg.svd(twists @ allowed, full_matrices=False)
        moving = sizes > RANK * _size(twists)
        return allowed if moving.all() else allowed @ right[moving].T

    def _spin(self, state: State, c: Array) -> Array:
        """The spins of a combination as small motions: the fastest body turns by SPUN."""
        spins = {name: (np.zeros(3), np.zeros(3)) for name in state.motions}
        for (name, local), part in zip(self.spins, c[4:], strict=True):
            spins[name] = (np.zeros(3), spins[name][1] + part * state.motions[name].rotation @ local)
        turned = collected(self.places, spins)
        fastest = np.abs(turned).max()
        return turned * (SPUN / fastest if fastest > RANK else 0.0)

    def _jacobian(self, state: State) -> Array:
        """The holonomic equations for small motions about a state that need not be closed."""
        eq = self.eq
        q, v, z = eq.split(eq.coordinates(state))
        jacobian = eq.evaluate(state.t, q, v, z, dense=True).jacobian
        point = OperatingPoint(eq, state, q, v, z, 0.0 * v, np.zeros(eq.n_rows), 0.0 * z)
        rows = jacobian[: eq.tables.n_holonomic][point.joint_rows] @ variations(point, TurningFrame())[1]
        return np.asarray(rows, float)

    def _frame(self, c: Array) -> TurningFrame:
        return TurningFrame(self.axis, float(self.driving[3] + self.mixed[3] @ c))

    def _twists(self, state: State) -> tuple[Array, Array]:
        """Directions of steady velocities, and their rates (columns): three translations, the turn, spins."""
        none = np.zeros(3)
        names = state.motions
        Parts = dict[str, tuple[Array, Array]]
        columns: list[tuple[Parts, Parts]] = [(dict.fromkeys(names, (axis, none)), {}) for axis in np.eye(3)]
        turn = {n: (np.cross(self.axis, m.position), self.axis) for n, m in names.items()}
        columns.append((turn, {n: (np.cross(self.axis, m.velocity), none) for n, m in names.items()}))
        for name, local in self.spins:
            m = names[name]
            a = m.rotation @ local
            columns.append(({name: (none, a)}, {name: (none, np.cross(m.angular_velocity, a))}))
        both = [[collected(self.places, part) for part in column] for column in columns]
        twists, rates = (np.array(part).T for part in zip(*both, strict=True))
        return twists, rates

    def _moving(self, state: State, c: Array) -> State:
        """A state with the velocities of the coefficients c."""
        twist = on_bodies(self.places, self._twists(state)[0] @ (self.driving + self.mixed @ c))
        motions = {
            n: Motion(m.position, m.rotation, *twist[n][:2], m.modal_coordinates, axes=m.axes)
            for n, m in state.motions.items()
        }
        return State(state.t, motions, state.element_states, state.dimension)

    def _closed(self, state: State, c: Array) -> tuple[State, Array]:
        """The nearest closed position, and there the nearest velocities without slip."""
        eq, first = self.eq, self.eq.tables.n_holonomic
        q, _, z = eq.split(eq.coordinates(state))
        q, _ = Assembler(eq, state, set(), CLOSED).close(q)
        eq.set_state(q, np.zeros(eq.n_v), z)
        eq.accept(state.t)  # turns of angles are counted on the way
        z = eq.work.z.copy()
        closed = eq.state(state.t, np.concatenate([q, np.zeros(eq.n_v), z]))
        for _ in range(2):  # once more, because constraints need not be linear in the velocities
            v = eq.split(eq.coordinates(self._moving(closed, c)))[1]
            e = eq.evaluate(state.t, q, v, z, dense=True)
            ahead = [eq.split(eq.coordinates(self._moving(closed, c + unit)))[1] for unit in np.eye(len(c))]
            columns = [there - v for there in ahead]
            slip = e.jacobian[first:] @ np.array(columns).reshape(len(c), eq.n_v).T
            c = c - np.linalg.pinv(slip, rcond=1e-9) @ e.constraint_rate[first:]
        return self._moving(closed, c), c

    def _point(self, state: State, c: Array) -> OperatingPoint:
        """A state with its steady accelerations, and the multipliers that balance the loads best."""
        eq, spin = self.eq, self._frame(c).angular_velocity
        q, v, z = eq.split(eq.coordinates(state))
        accelerating = {
            n: Motion(m.position, m.rotation, np.cross(spin, m.velocity), np.cross(spin, m.angular_velocity))
            for n, m in state.motions.items()
        }
        v_rate = eq.split(eq.coordinates(State(state.t, accelerating)))[1]
        e = eq.evaluate(state.t, q, v, z, dense=True)
        multipliers = np.linalg.lstsq(e.jacobian.T, e.force - e.mass @ v_rate, rcond=1e-12)[0]
        return OperatingPoint(eq, state, q, v, z, v_rate, multipliers, 0.0 * z)

    def _equations(self, left_only: bool = False, drives_too: bool = False) -> tuple[Array, Array, Array]:
        """Independent directions (columns: displacement, change of c), linear equations along them, what is left.

        With `drives_too` drives and losses along the motion belong to what is left.
        """
        b = self._balances()
        imbalance = b.equations.imbalance
        if not left_only:  # what is left along a step is compared in the same equations
            self.driven = self.drives & (np.abs(b.powers @ imbalance) > self.drive)
        unit = self.root_mass * self.acceleration
        kept = np.vstack([b.powers if drives_too else b.powers[self.driven], b.others]) / unit
        left = np.concatenate([kept @ imbalance, self._missed()])
        if left_only:
            return np.zeros((0, 0)), np.zeros((0, 0)), left
        directions, along = self._along(b)
        return directions, np.vstack([kept @ along, self._wanted_rows(directions)]), left

    def _missed(self) -> Array:
        """By how much given values are missed."""
        missed = [function(self.state) - value for function, value in self.wanted]
        if self.rate is not None:
            missed.append(self.frame.rate - self.rate)
        return np.array(missed, float)

    def _balances(self) -> _Balances:
        """The equations of small motions at the state of now, and the loads that must be balanced in them."""
        frame = self.frame
        e = linear_equations(self._point(self.state, self.c), frame)
        self.balance = float(np.abs(e.imbalance).max() / self._largest_load(e))
        r = reduce(e, admissible(e))
        twists, rates = (part @ self.mixed for part in self._twists(self.state))
        slip = e.nonholonomic @ twists
        faster = null_space(slip, _size(e.nonholonomic) * _size(twists))
        # Along the steady velocities themselves loads without drive and loss are balanced whatever the pose. What is
        # left there off the solution has a derivative along turns of the whole, so it comes last.
        free, along = r.V @ r.N, np.linalg.qr(r.N.T @ r.weights @ twists @ faster, mode="complete")[0]
        powers, others = np.split((free @ along).T, [faster.shape[1]])
        # x' = twists dc, and x'' = (rates - S twists) dc
        by_c = e.mass @ (rates - turning(self.places, frame) @ twists) + e.damping @ twists
        return _Balances(e, r, slip, faster, powers, others, by_c)

    def _along(self, b: _Balances) -> tuple[Array, Array]:
        """Independent directions, and how loads change along them."""
        e = b.equations
        # A displacement x changes c so that nothing slips: G twists dc + W x = 0; other changes of c are free.
        x = b.reduction.V * self.root_mass * self.length
        moved = np.vstack([x, -np.linalg.pinv(b.slip, rcond=1e-9) @ e.drift @ x])
        directions = np.hstack([moved, np.vstack([np.zeros((e.size, b.faster.shape[1])), b.faster])])
        if self.unseen:  # as coordinates of the directions
            spun = np.array([self._spun(self.state, k) for k in self.unseen]).T
            x_part = b.reduction.weights @ spun / (self.root_mass * self.length)
            directions = directions @ null_space(np.vstack([x_part, -b.faster.T @ moved[e.size :] @ x_part]).T)
        return directions, np.hstack([e.stiffness, b.by_c]) @ directions

    def _wanted_rows(self, directions: Array) -> Array:
        """How given quantities change along directions."""
        rows = [self._slopes(function, directions) for function, _ in self.wanted]
        if self.rate is not None:
            rows.append(np.concatenate([np.zeros(len(directions) - len(self.c)), self.mixed[3]]) @ directions)
        return np.array(rows).reshape(len(rows), directions.shape[1])

    def _largest_load(self, e: LinearEquations) -> float:
        """The largest load; where there is hardly any, what rounding of poses and velocities makes is small against it.

        So large are, but for `SLIGHT`, the loads of a deflection by the size of the model, and of its spins.
        """
        motions, fastest = np.ones(e.size), 0.0
        for name, place in e.places.items():
            m = self.state.motions[name]
            motions[place.start : place.start + 3] = self.length
            motions[place.start + 6 : place.stop] = np.abs(m.modal_coordinates)
            fastest = max(fastest, float(m.angular_velocity @ m.angular_velocity))
        slight = SLIGHT * (np.abs(e.stiffness) + fastest * np.abs(e.mass)) @ motions
        return float(max(np.abs(self.eq.work.force).max(), slight.max(), 1e-300))

    def _spun(self, state: State, k: int) -> Array:
        """The small motion of a body that turns about one of its round axes by 1 rad."""
        name, local = self.spins[k]
        return collected(self.places, {name: (np.zeros(3), state.motions[name].rotation @ local)})

    def _unseen(self) -> list[int]:
        """Which spins change nothing: joints stay closed and loads as they are when the body has turned on.

        Off the solution a spin turns what is left without balance, and would seem to balance it, but leads nowhere.
        """
        start, left = self.state, np.linalg.norm(self._equations(left_only=True, drives_too=True)[2])
        found = []
        for k in range(len(self.spins)):
            spun = _displaced(start, self.places, SPUN * self._spun(start, k))
            gap = np.abs(self.eq.violation(start.t, self.eq.coordinates(spun))[0]).max(initial=0.0)
            if gap <= RANK * self.length:
                self.state = self._moving(spun, self.c)
                then = np.linalg.norm(self._equations(left_only=True, drives_too=True)[2])
                found += [k] if abs(then - left) <= RANK * (1.0 + left) else []
        self.state = start
        return found

    def _slopes(self, function: Function, directions: Array) -> Array:
        """Derivatives of a quantity along directions: central differences, exact enough for Newton's method."""
        n = len(directions) - len(self.c)
        ends = [
            [
                function(self._moving(_displaced(self.state, self.places, step[:n]), self.c + step[n:]))
                for step in (DIFFERENCE * direction, -DIFFERENCE * direction)
            ]
            for direction in directions.T
        ]
        return np.array([(after - before) / (2.0 * DIFFERENCE) for after, before in ends])


def _size(matrix: Array) -> float:
    return float(np.linalg.norm(matrix))


def _displaced(state: State, places: dict[str, slice], x: Array) -> State:
    """A state whose bodies are displaced; velocities stay."""
    parts = on_bodies(places, x)
    motions = {
        n: Motion(
            *(m.position + parts[n][0], matrix_from_vector(parts[n][1]) @ m.rotation, m.velocity, m.angular_velocity),
            m.modal_coordinates + parts[n][2],
            m.modal_velocities,
            m.axes,
        )
        for n, m in state.motions.items()
    }
    return State(state.t, motions, state.element_states, state.dimension)
