"""Pulling a mechanism by a point: the bodies follow with the least motion that keeps the joints closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...bodies.base import Body
from ...bodies.formulations import NewtonEuler, PlanarAngle
from ...equations.equations import Equations
from ...errors import ModelError, Problem, check_kinds
from ...kernels import workspace as codes
from ...kernels.stages import dynamics
from ...markers import POINT, converted
from ...plane import lifted
from ...solvers.starting import extent
from ...state import State, no_such_body
from ...system import System

Array = NDArray[np.float64]
Pose = tuple[Array, Array]

CLOSED = 1e-8  # gaps that count as closed, relative to the model
NEAR = 1e-7  # how exactly the nearest position is found, relative to the model
LARGEST_STEP = 0.5  # rad, or lengths of the model: bodies are not moved farther in one step
IMMOBILE = 1e-10  # mobility of a point in a direction, relative to others and to the free body, that counts as none
ITERATIONS = 25  # of closing the joints after a step
SLOW = 0.1  # closing that leaves more than this of the gaps per iteration gets new factors
LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e6  # of a step, relative to the mobility of the point


class Puller:
    """Drags a point of a body towards targets, and lets the mechanism follow.

    With p(q) the point and b its target, |p - b|^2 becomes least among the positions with C(q) = 0 that are reached
    from the present one. A step minimizes

        1/2 |p + P d - b|^2 + mu/2 d^T M d   subject to   J d = 0,

    with the mass matrix M as the measure of motion: heavy bodies stay where light ones can follow. With the mobility of
    the point Y = N (N^T M N)^-1 N^T P^T, N spanning the null space of J, the step is d = Y (P Y + mu)^-1 (b - p). It is
    damped (Levenberg-Marquardt) so that each one comes nearer, and closed again by Newton's method with the same
    factors, in the least change.

    What can be reached is a matter of positions: nonholonomic constraints (rolling without slip) do not hold a wheel
    back, because manoeuvres lead everywhere; the contact with the ground does. Drivers hold what they drive where it is
    at the time of the state.

    Parameters
    ----------
    system
        The mechanism; it is read once.
    state
        Where to begin, by default where the model is described. Joints that are open are closed by the first pull as
        far as Newton's method closes them; assemble before if they gape.
    """

    def __init__(self, system: System, state: State | None = None) -> None:
        check_kinds("Puller", system=(system, System), state=(state, State))
        self.eq = eq = Equations(system, NewtonEuler() if system.dimension == 3 else PlanarAngle())
        self.start = state.checked(system.bodies) if state is not None else eq.described()
        self.t = self.start.t
        self._q, self._v, self._z = (part.copy() for part in eq.split(eq.coordinates(self.start)))
        self._bodies = {b.body.name: b for b in eq.tables.bodies}
        self._violation(self._q)  # marker positions, from which the size follows
        self.size = extent(eq, self.start)
        self._spans = self._reach()
        self._damping = LEAST_DAMPING
        s = eq.structure
        slipping = s.source_row >= eq.n_v + eq.tables.n_holonomic
        self._of_slipping = s.source[slipping]

    @property
    def state(self) -> State:
        """The position reached, with the velocities of the beginning as far as the constraints admit them there."""
        v = self._velocities() if self._v.any() else self._v
        return self.eq.state(self.t, np.concatenate([self._q, v, self._z]))

    def to(self, body: Body | str, local_point: ArrayLike, target: ArrayLike, iterations: int = 12) -> State:
        """Pull a point of a body (in body axes, m) towards a target (global, m); returns the state reached.

        One of few `iterations` takes little time; where that was not enough the next one goes on from there.
        """
        name = body if isinstance(body, str) else body.name
        if name not in self._bodies:
            raise ModelError([Problem("Puller", "body", no_such_body(name, self._bodies))])
        dimension = self.eq.system.dimension
        point = lifted(converted(POINT, local_point, "Puller", "local_point", dimension))
        goal = lifted(converted(POINT, target, "Puller", "target", dimension))
        pose = self._pose(self._q, name)
        for _ in range(iterations):
            if (nearer := self._approach(name, pose, point, goal)) is None:
                break
            pose = nearer
        return self.state

    def gap(self) -> float:
        """The norm of the constraint residuals at the position reached (m, or rad)."""
        return float(np.linalg.norm(self._violation(self._q)))

    def _approach(self, name: str, pose: Pose, point: Array, goal: Array) -> Pose | None:
        """One step of the body towards the goal; its pose then, or None if it cannot come nearer."""
        self._factor(self._q)
        jacobian = self._point_jacobian(name, pose[1] @ point)
        mobility = np.column_stack([self._moved(row) for row in jacobian])
        sizes, directions = np.linalg.eigh(jacobian @ mobility)
        able = sizes > IMMOBILE * max(sizes[-1], 1.0 / self._bodies[name].body.mass_properties()[0])
        sizes, directions = sizes[able], directions[:, able]  # where the joints let the point go
        if not len(sizes):
            return None
        away = goal - pose[0] - pose[1] @ point
        wish = directions.T @ away
        growth = 2.0
        while self._damping <= MOST_DAMPING:
            load = wish / (sizes + self._damping * sizes[-1])
            promised = float(sizes * load @ (2.0 * wish - sizes * load))  # decrease of |p - b|^2
            d = mobility @ (directions @ load)
            far = float(np.max(np.abs(d) * self._spans))
            if far <= NEAR or promised <= (NEAR * self.size) ** 2:
                return None
            share = min(1.0, LARGEST_STEP / far)
            trial = self._closed(self.eq.displaced(self._q, share * d))
            if trial is not None:
                position, rotation = self._pose(trial, name)
                left = goal - position - rotation @ point
                gain = float(away @ away - left @ left) / promised
                if gain > 0.0:
                    self._q = trial
                    if self.eq.n_followers:
                        self.eq.set_state(trial, np.zeros(self.eq.n_v), self._z)
                        self.eq.accept(self.t)
                        self._z = self.eq.work.z.copy()
                    self._damping *= max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3)  # Nielsen's rule
                    self._damping = max(self._damping, LEAST_DAMPING)
                    return position, rotation
            self._damping *= growth
            growth *= 2.0
        self._damping = LEAST_DAMPING
        return None

    # --- linear algebra -----------------------------------------------------------------------------------------------

    def _factor(self, q: Array) -> None:
        """Factors of [M J^T; J 0] at a position, of the constraints of positions alone."""
        eq = self.eq
        eq.set_state(q, np.zeros(eq.n_v), self._z)
        eq.run(dynamics.evaluate.address, self.t, n=codes.DYNAMICS)
        eq.work.entries[self._of_slipping] = 0.0  # an equation without coefficients is left out
        eq.factor()

    def _solved(self, right: Array) -> Array:
        """The displacements of [M J^T; J 0] x = right; which multipliers go with them does not matter."""
        w = self.eq.work
        w.right[:] = right
        self.eq.run(int(w["solve"]), self.t, self.eq.factor_record.address, int(w["entries"]))
        return w.solution[: self.eq.n_v].copy()

    def _moved(self, force: Array) -> Array:
        """The displacement that a generalized force causes, with J d = 0 and M as inertia."""
        return self._solved(np.concatenate([force, np.zeros(self.eq.n_rows)]))

    def _closed(self, q: Array) -> Array | None:
        """The position with closed joints beside q, by Newton's method with the factors at hand; None if it fails."""
        enough, before, fresh = CLOSED * self.size, np.inf, False
        right = np.zeros(self.eq.n_v + self.eq.n_rows)
        for _ in range(ITERATIONS):
            residual = self._violation(q)
            now = float(np.linalg.norm(residual))
            if not now < np.inf or (fresh and not now < before):
                return None
            fresh = now > SLOW * before and now > enough
            if fresh:
                self._factor(q)
            before = now
            right[self.eq.n_v : self.eq.n_v + len(residual)] = -residual
            q = self.eq.displaced(q, self._solved(right))
            if now <= enough:  # the last change makes gaps so small that they do not count as coming nearer
                return q
        return None

    def _violation(self, q: Array) -> Array:
        """The residuals of the constraints of positions."""
        eq = self.eq
        eq.set_state(q, np.zeros(eq.n_v), self._z)
        eq.run(dynamics.evaluate.address, self.t, n=codes.POSITION)
        return eq.work.residual.copy()

    def _velocities(self) -> Array:
        """The velocities nearest to those of the beginning, in the norm of M, that keep all constraints here."""
        eq = self.eq
        twists = {
            name: replace(m, velocity=start.velocity, angular_velocity=start.angular_velocity)
            for name, m in eq.state(self.t, np.concatenate([self._q, self._v, self._z])).motions.items()
            for start in [self.start.motions[name]]
        }
        v = eq.split(eq.coordinates(State(self.t, twists)))[1].copy()
        e = eq.evaluate(self.t, self._q, v, self._z)
        eq.factor()
        return v + self._solved(np.concatenate([np.zeros(eq.n_v), -e.constraint_rate]))

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _pose(self, q: Array, name: str) -> Pose:
        """Position and rotation of a body."""
        b = self._bodies[name]
        position, rotation = b.formulation.poses(q[None, b.q_slice])
        return position[0], rotation[0]

    def _point_jacobian(self, name: str, arm: Array) -> Array:
        """P, (3, n_v): the velocity of a body's point, `arm` from its origin, per velocity of the coordinates."""
        b = self._bodies[name]
        n = b.formulation.n_v
        velocity, omega = b.formulation.twists(np.tile(self._q[b.q_slice], (n, 1)), np.eye(n))
        jacobian = np.zeros((3, self.eq.n_v))
        jacobian[:, b.v_slice] = (velocity + np.cross(omega, arm)).T
        return jacobian

    def _reach(self) -> Array:
        """How far a unit of each velocity moves a body: the angle (rad), or the displacement relative to the model."""
        spans = np.zeros(self.eq.n_v)
        for b in self.eq.tables.bodies:
            n = b.formulation.n_v
            velocity, omega = b.formulation.twists(np.tile(self._q[b.q_slice], (n, 1)), np.eye(n))
            spans[b.v_slice] = np.maximum(np.linalg.norm(omega, axis=1), np.linalg.norm(velocity, axis=1) / self.size)
        return spans
