"""Statics: positions in which a mechanism stays at rest, and whether they are minima of the potential energy."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import Formulation, NewtonEuler, PlanarAngle
from ...equations.equations import Equations
from ...equations.redundancy import DEPENDENT
from ...errors import AnalysisError, check_kinds
from ...solvers.flexible_range import flexible_bodies
from ...solvers.starting import refuse_misaligned_joints
from ...state import Motion, State
from ...system import System
from ..mobility.freedom import Rank
from ..states.assemble import Assembler
from ..states.controllers import refuse_sampled
from ..states.own_states import acting_states, places
from ..states.range_warnings import lacking_shapes, warn_of_flexible, warn_of_gap

Array = NDArray[np.float64]

CLOSED = 1e-13  # of the constraint residuals
NEWTON_STEPS, DESCENT_STEPS = 50, 200
BENDING_STEPS = 16  # of Newton's method where bodies bend: after more they are astray, and loads grow step by step
LONG_WAY = 2000  # steps of Newton's method at most, however far the way is
SHORTEST = 1.0 / 256.0  # part of a Newton step, and of the loads
FIRST_SHARE = 0.125  # of the loads that grow, the first
# Steps and distances in rad, or lengths of the model
NEAR = 1e-10  # a last Newton step, after which rounding is all that is left
LARGEST_STEP = 0.5
LARGEST_ROLL = 0.05  # the same where bodies roll: they go as far as they turn only in small steps
FARTHEST = 50.0  # what moves that far falls
NUDGE = 1e-3  # off an equilibrium that is not a minimum
FREE_LOAD = 1e-8  # largest load that no motion removes, relative to all loads
DIFFERENCE = 1e-6  # step of differences by own states
ZERO = 1e-10  # stiffnesses below that, relative to the largest, are zero
LEAST = 1e-14  # the same where a load acts on them: thin wires bend so easily beside their stretching
UNSYMMETRIC = 1e-7  # a stiffness matrix whose asymmetry exceeds that has no potential


@dataclass(frozen=True)
class Equilibrium(State):
    """A state at rest in which all loads are balanced, and what kind of equilibrium it is.

    stiffness
        Stiffnesses of the free motions, 1/s^2, ascending: the eigenvalues of the second derivative of the potential
        energy along the constraints, relative to the mass matrix. A positive one is the square of an angular frequency
        of undamped vibration.
    kind
        "minimum" of the potential energy (all stiffnesses are positive, or there is no freedom), "maximum" (all are
        negative), "saddle" (some are), "indifferent" (none is negative, but one is zero to rounding: higher derivatives
        decide), or "without potential" (loads that no potential energy has, such as follower forces and controllers).
    residual
        What is left of the loads: norm of the accelerations with which the mechanism would start, weighted by mass,
        relative to that of the loads there and at the start (of the bodies without constraints; at least of gravity).
    iterations
        Steps that were needed.
    """

    stiffness: Array = field(default_factory=lambda: np.empty(0))
    kind: str = "minimum"
    residual: float = 0.0
    iterations: int = 0

    @property
    def minimum(self) -> bool:
        """Whether the potential energy has a strict minimum here, so that the equilibrium is stable."""
        return self.kind == "minimum"

    def __str__(self) -> str:
        softest = f", softest motion {self.stiffness[0]:.4g} 1/s^2" if len(self.stiffness) else ", no freedom"
        return f"equilibrium ({self.kind}{softest}), residual {self.residual:.2g} after {self.iterations} steps"


def equilibrium(
    system: System,
    initial: State | None = None,
    *,
    minimum: bool = False,
    formulation: Formulation | None = None,
) -> Equilibrium:
    """A position of rest near the given one: Q = J^T lambda, C = 0, z' = 0 with v = 0.

    Newton's method on these equations, in coordinates along the constraints (null space of J): it finds equilibria of
    all kinds, usually the one that is nearest. Where it does not converge and bodies are flexible, loads grow step by
    step. Where that does not help, or with `minimum=True`, the mechanism moves
    as in honey, x' = -M^-1 grad V, by implicit steps that grow as it comes to rest: that leads downhill to a minimum of
    the potential energy, also through contacts, and needs no such energy to exist. Constraints may be redundant. Time
    stands still at that of `initial`, and with it functions of time; drivers hold their position. Nonholonomic
    constraints restrict how bodies move on the way to the equilibrium.

    Dense matrices, with a cost per step that grows with the cube of the number of bodies.

    Parameters
    ----------
    system
        What to balance.
    initial
        Where to start; by default where the model is described. Its velocities do not matter.
    minimum
        Look for a minimum of the potential energy only.
    formulation
        Coordinates to compute in, by default `NewtonEuler()`, in the plane `PlanarAngle()`; the state found does not
        depend on them.

    Returns
    -------
    Equilibrium
        A state, for `simulate(..., initial=...)` and the other analyses, that says what kind of equilibrium it is. If
        there is none near, an `AnalysisError` names the body that keeps moving.
    """
    check_kinds(
        "equilibrium", system=(system, System), initial=(initial, State), formulation=(formulation, Formulation)
    )
    eq = Equations(system, formulation or (NewtonEuler() if system.dimension == 3 else PlanarAngle()))
    refuse_sampled(eq)
    eq.tables.come_to_rest()
    start = initial.checked(system.bodies) if initial is not None else eq.described()
    still = {
        name: Motion(m.position, m.rotation, np.zeros(3), np.zeros(3), m.modal_coordinates, axes=m.axes)
        for name, m in start.motions.items()
    }
    at_rest = State(start.t, still, start.element_states, start.dimension)
    refuse_misaligned_joints(eq, start.t, eq.coordinates(at_rest))
    search = Search(eq, at_rest)
    place = search.start()
    found = None if minimum else search.newton(place) or search.gradually(place)
    result = search.equilibrium(search.descent(place) if found is None else found)
    warn_of_flexible(eq, result)
    if search.assembler.kept:
        warn_of_gap(eq, result)
    return result


@dataclass(frozen=True)
class Place:
    """A position on the constraints, with the loads along the free motions.

    free
        Free velocities, a column each, with free^T M free = 1.
    velocities
        As many as the bodies have without constraints, weighted by their masses.
    load
        free^T Q, then z' of the own states that are to rest.
    """

    q: Array
    z: Array
    free: Array
    velocities: Array
    mass: Array
    jacobian: Array
    force: Array
    load: Array

    @property
    def unbalanced(self) -> float:
        return float(np.linalg.norm(self.load))


class Search:
    """The search for an equilibrium from one start."""

    def __init__(self, eq: Equations, start: State) -> None:
        self.eq, self.t = eq, start.t
        self.assembler = Assembler(eq, start, set(), CLOSED)
        eq.update(self.t, *eq.split(eq.coordinates(start)))
        self.own = places(eq, acting_states(eq, self.t))
        self.rest = np.zeros(eq.n_v)
        self.largest_step = LARGEST_ROLL if eq.n_rows > eq.tables.n_holonomic else LARGEST_STEP
        mass = sum(b.body.mass_properties()[0] for b in eq.tables.bodies)
        self.inertia = float(np.sqrt(mass)) * self.assembler.size
        self.reference = float(np.sqrt(mass) * np.linalg.norm(eq.system.gravity))  # how large loads are at least
        self.steps = 0
        self.withheld = np.zeros(eq.n_v)  # of the loads, while they grow
        self.flexible = np.zeros(eq.n_q, bool)  # which coordinates are deformations
        for b, _ in flexible_bodies(eq):
            self.flexible[b.q_slice.start + 7 : b.q_slice.stop] = True

    def start(self) -> Place:
        """The closed position to start from."""
        z = self.eq.split(self.eq.coordinates(self.assembler.start))[2].copy()
        place = self._place(self.assembler.closed(), z)
        self.reference = max(self.reference, self._size_of_loads(place))
        return place

    def _place(self, q: Array, z: Array, deformed: bool = False) -> Place:
        """A place, whose motions are measured by the mass of the undeformed bodies, or of the `deformed` ones.

        Statics needs no inertia, which flexible bodies lose in the frame of a node where they are bent much.
        """
        measure = None
        if self.flexible.any() and not deformed:
            flat = np.where(self.flexible, 0.0, q)
            measure = self.eq.evaluate(self.t, flat, self.rest, z).mass.copy()
        e = self.eq.evaluate(self.t, q, self.rest, z)
        mass, jacobian = (e.mass if measure is None else measure).toarray(), e.jacobian.toarray()
        force = e.force - self.withheld
        z_rate = self.eq.work.z_rate[self.own].copy()
        rank = Rank(self.eq, self.t, q, self.rest, z, measure)
        load = np.concatenate([rank.free.T @ force, z_rate])
        return Place(q, z, rank.free, rank.weighted(self.eq), mass, jacobian, force, load)

    # --- two ways ----------------------------------------------------------------------------------------------------

    def newton(self, place: Place) -> Place | None:
        """Newton's method with shortened steps; None if it does not come nearer.

        A step counts if the loads after it are smaller, or if the next step is: a slender body that bends also
        stretches by what is of second order, which is a large load and a small distance. Steps of a long way, such as
        many turns, are cut: as long as each leaves less to go, they are not among the `NEWTON_STEPS`.
        """
        step, arrived = self._newton_step(place, self._matrix(place))
        left = BENDING_STEPS if self.flexible.any() else NEWTON_STEPS
        for _ in range(LONG_WAY):
            if not left:
                break
            if arrived:
                return self._better(place, step) or place
            part, length = 1.0, self._length(place, step)
            while part >= SHORTEST:
                moved = self._moved(place, part * step)
                if moved is not None:
                    following, at_end = self._newton_step(moved, self._matrix(moved))
                    lighter = moved.unbalanced < (1.0 - 1e-4 * part) * place.unbalanced
                    if lighter or self._length(moved, following) < (1.0 - 0.25 * part) * length:
                        break
                part *= 0.5
            else:
                return None
            left -= length - self._length(moved, following) < 0.5 * self.largest_step
            place, step, arrived = moved, following, at_end
        return None

    def gradually(self, place: Place) -> Place | None:
        """Newton's method while the loads of flexible bodies grow from nothing to all of them; None if it gets stuck.

        A slender body that bends by much in one step is stretched by far more than the loads would, and following steps
        go astray. What is withheld of the loads is a constant part of those at the start: there all is balanced without
        them, and each step begins near its end.
        """
        if not self.flexible.any():
            return None
        start, share, growth = place.force, 0.0, FIRST_SHARE
        try:
            while share < 1.0:
                reached = min(share + growth, 1.0)
                self.withheld = (1.0 - reached) * start
                found = self.newton(self._place(place.q, place.z))
                if found is not None:
                    place, share, growth = found, reached, 2.0 * growth
                elif growth > SHORTEST:
                    growth *= 0.25
                else:
                    return None
            return place
        finally:
            self.withheld = np.zeros(self.eq.n_v)

    def descent(self, place: Place) -> Place:
        """Implicit Euler steps of x' = -M^-1 grad V and of the own states, the longer the smaller the loads are."""
        place = self._off(place)
        damping = place.unbalanced / NUDGE  # the first step goes about as far as a nudge
        for _ in range(DESCENT_STEPS):
            matrix = self._matrix(place)
            step, arrived = self._newton_step(place, matrix)
            softest = float(np.linalg.eigvals(matrix).real.min(initial=np.inf))
            if arrived and softest >= -ZERO * np.abs(matrix).max(initial=0.0):
                return self._better(place, step) or place
            shift = max(damping, -1.5 * softest, 1e-14 * np.abs(matrix).max(initial=0.0))
            step[:] = np.linalg.solve(matrix + shift * np.eye(len(matrix)), place.load)
            trial = self._better(place, step, 2.0)
            if trial is None:
                damping *= 4.0
                continue
            damping *= min(0.5, trial.unbalanced / place.unbalanced)
            place = trial
            if np.linalg.norm(place.q - self.assembler.q) > FARTHEST * self.assembler.size:
                break
        raise AnalysisError(self._failure(place))

    def _off(self, place: Place) -> Place:
        """A place a little beside an equilibrium, which need not be a minimum; other places as they are."""
        n = place.free.shape[1]
        if not n or not self._newton_step(place, self._matrix(place))[1]:
            return place
        nudge = np.zeros(len(place.load))
        nudge[:n] = np.random.default_rng(0).normal(size=n)
        return self._moved(place, nudge * NUDGE / self.assembler.span(place.q, place.free @ nudge[:n])) or place

    def _failure(self, place: Place) -> str:
        acceleration = place.free @ place.load[: place.free.shape[1]]
        motions = self.eq.state(self.t, np.concatenate([place.q, acceleration, place.z])).motions
        speeds = {n: float(np.linalg.norm(m.velocity)) for n, m in motions.items()}
        turns = {n: float(np.linalg.norm(m.angular_velocity)) for n, m in motions.items()}
        name, far = max(speeds, key=speeds.__getitem__), self.assembler.size
        size = f"{speeds[name]:.3g} m/s^2"
        if max(turns.values()) * far > 1e3 * speeds[name]:  # it turns about its centre of mass
            name = max(turns, key=turns.__getitem__)
            size = f"{turns[name]:.3g} rad/s^2"
        return (
            f"System {self.eq.system.name!r}: no equilibrium was found; {name!r} would still start with {size}. "
            "Hold what is free to fall or to spin by a joint or a spring, check the loads, or start from a state that "
            "is nearer to an equilibrium (initial=...)"
        ) + "".join(f". Besides, {lacking}" for lacking in lacking_shapes(self.eq))

    # --- steps -------------------------------------------------------------------------------------------------------

    def _newton_step(self, place: Place, matrix: Array) -> tuple[Array, bool]:
        """The Newton step, and whether it is the last one: so short that rounding is all that is left after it."""
        reference = max(self.reference, self._size_of_loads(place))
        for least in (ZERO, LEAST):
            step: Array = np.linalg.lstsq(matrix, place.load, rcond=least)[0].astype(float)
            rest = np.linalg.norm(place.load - matrix @ step)
            if rest <= FREE_LOAD * reference:
                break
        rounding = 1e-13 * np.abs(matrix).max(initial=0.0) * self.inertia
        short = self._length(place, step) <= NEAR
        return step, bool(short and rest <= FREE_LOAD * reference + rounding)

    def _size_of_loads(self, place: Place) -> float:
        """Of the bodies without constraints, weighted by mass."""
        return float(np.linalg.norm(place.velocities.T @ place.force))

    def _length(self, place: Place, step: Array) -> float:
        """How far a step goes, in rad or lengths of the model."""
        return self.assembler.span(place.q, place.free @ step[: place.free.shape[1]])

    def _better(self, place: Place, step: Array, factor: float = 1.0) -> Place | None:
        """The place after a step, if the loads there are smaller than a factor times those here."""
        moved = self._moved(place, step)
        return moved if moved is not None and moved.unbalanced < factor * place.unbalanced else None

    def _matrix(self, place: Place) -> Array:
        """Minus the derivative of the loads by free motions and own states."""
        hessian, _ = self._hessian(place)
        n, size = place.free.shape[1], len(place.load)
        matrix = np.zeros((size, size))
        matrix[:n, :n] = hessian
        for k in range(size):
            if k < n and not len(self.own):
                continue
            change = np.zeros(size)
            change[k] = DIFFERENCE * (1.0 if k < n else 1.0 + abs(place.z[self.own[k - n]]))
            ahead, behind = (self._loads(place, s * change) for s in (1.0, -1.0))
            column = (behind - ahead) / (2.0 * change[k])
            matrix[n:, k] = column[n:]
            if k >= n:
                matrix[:n, k] = column[:n]
        return matrix

    def _loads(self, place: Place, change: Array) -> Array:
        """The loads a little beside a place, along its free motions."""
        n = place.free.shape[1]
        z = place.z.copy()
        z[self.own] += change[n:]
        e = self.eq.evaluate(self.t, self.eq.displaced(place.q, place.free @ change[:n]), self.rest, z)
        return np.concatenate([place.free.T @ e.force, self.eq.work.z_rate[self.own]])

    def _hessian(self, place: Place) -> tuple[Array, float]:
        """Second derivative of the potential energy along the free motions, and how large stiffnesses are at all.

        N^T K N with the tangent K of -Q + J^T lambda: lambda adds the curvature of the constraints.
        """
        # Those of the motion that would start here, which balance the rest of the loads.
        rest = place.force - place.mass @ (place.free @ (place.free.T @ place.force))
        own = np.concatenate([np.arange(b.row, b.row + b.formulation.n_intrinsic) for b in self.eq.tables.bodies])
        normals = place.jacobian[own].T  # out of what coordinates allow
        normals = normals / np.sqrt(np.sum(normals * (place.mass @ normals), axis=0))
        along = np.hstack([place.velocities, normals]).T
        spread = along @ place.jacobian.T
        lengths = np.linalg.norm(spread, axis=0)
        lengths[lengths == 0.0] = 1.0
        multipliers = np.linalg.lstsq(spread / lengths, along @ rest, rcond=DEPENDENT)[0] / lengths
        self.eq.set_state(place.q, self.rest, place.z)
        stiffness = self.eq.tangent(self.t, place.q, self.rest, self.rest, multipliers).stiffness
        size = np.abs(place.velocities.T @ (stiffness @ place.velocities)).max(initial=0.0)
        return place.free.T @ (stiffness @ place.free), float(size)

    def _moved(self, place: Place, step: Array) -> Place | None:
        """The place after a step along free motions and own states; None if constraints cannot be closed there."""
        self.steps += 1
        n = place.free.shape[1]
        d = place.free @ step[:n]
        if not np.all(np.isfinite(step)):
            return None
        shorter = self.largest_step / max(self.assembler.span(place.q, d), self.largest_step)
        self.assembler.z = place.z  # with the turns up to here
        q, gap = self.assembler.close(self.eq.displaced(place.q, shorter * d))
        self.assembler.keep(q, gap)
        if gap > self.assembler.enough(q):
            return None
        z = place.z.copy()
        z[self.own] += shorter * step[n:]
        self.eq.set_state(q, self.rest, z)
        self.eq.accept(self.t)
        try:
            moved = self._place(q, self.eq.work.z.copy())
        except np.linalg.LinAlgError:
            return None
        return moved if np.isfinite(moved.unbalanced) else None

    # --- the answer --------------------------------------------------------------------------------------------------

    def equilibrium(self, place: Place) -> Equilibrium:
        """The state at a place that is an equilibrium."""
        with suppress(np.linalg.LinAlgError, AnalysisError):  # without inertia it is one too, and warned of
            place = self._place(place.q, place.z, deformed=True)
        hessian, size = self._hessian(place)
        n = len(hessian)
        state = self.eq.state(self.t, np.concatenate([place.q, self.rest, place.z]))
        reference = max(self.reference, self._size_of_loads(place))
        residual = place.unbalanced / reference if reference > 0.0 else 0.0
        return classified(state, hessian, size, bool(np.any(self._matrix(place)[:n, n:])), residual, self.steps)


def classified(
    state: State, hessian: Array, size: float, coupled: bool, residual: float, iterations: int
) -> Equilibrium:
    """The equilibrium in a state, and of what kind it is.

    `hessian` is the stiffness of the free motions relative to their mass, `size` how large stiffnesses are at all;
    `coupled` says whether loads depend on own states.
    """
    values: Array = np.linalg.eigvalsh(0.5 * (hessian + hessian.T)).astype(float)
    if np.abs(hessian - hessian.T).max(initial=0.0) > UNSYMMETRIC * size or coupled:
        kind = "without potential"
    elif np.any(values < -ZERO * size):
        kind = "maximum" if np.all(values < -ZERO * size) else "saddle"
    else:
        kind = "minimum" if np.all(values > ZERO * size) else "indifferent"
    return Equilibrium(
        state.t, state.motions, state.element_states, state.dimension, values, kind, residual, iterations
    )
