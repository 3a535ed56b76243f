"""Small changes of any motion, in independent coordinates whose bases move with the motion.

At every instant the small motions xi of the bodies obey linear equations (`linear_equations`)

    M xi'' + R xi' + K xi + F zeta + J^T dlambda + G^T dmu = 0
    J xi = 0,  G xi' + W xi = 0,  zeta' = L xi + H xi' + B zeta

with coefficients that change along the motion. With a smooth basis V(t) of the null space of J, V^T M V = 1, is
xi = V x, and with V' = Y + V C, V^T M Y = 0, is xi' = V a + Y x, a = x' + C x. The nonholonomic rows leave of this
a = N u - S x, where N(t) is a smooth orthonormal basis of the null space of G V and S = (G V)^+ (G Y + W V). Then
a = V^T M xi', and the state y = (x, u, zeta) of minimal perturbations obeys y' = A(t) y with

    x' = N u - (S + C) x
    u' = N^T [-V^T (R xi' + K xi + F zeta) + (M V)'^T xi'] + N'^T (N u - S x)

Only first derivatives of bases are needed, and the constraints hold to rounding, because nothing but x, u and zeta is
integrated. Where the motion is steady the bases stand still and A is that of `linearize`. Of all bases the one is taken
that turns least: V^T M V' and N^T N' are symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...errors import AnalysisError
from ...state import State
from ..linear.linear_equations import LinearEquations, OperatingPoint, TurningFrame, collected, linear_equations
from ..linear.reduction import normalized
from ..linear.steadiness import admissible
from ..mobility.null_space import null_space
from ..states.own_states import all_states
from . import collocation

Array = NDArray[np.float64]

RESOLVED: Final = 1e-7
"""What the cruder of two derivatives may differ by over a window; the finer one is then better by some orders."""
SMOOTH: Final = 1e-2
"""What an error of A counts: derivatives of bases enter A, but A is integrated."""
EXACT: Final = 1e-11
"""What a step over a window may differ from two of half its length, relative to the flow."""
EVEN: Final = 1e-3
"""Part of the accelerations of a window by which they may differ from a smooth course: where they jump it is one."""
SLOW: Final = 1e-6
"""Part of the velocities below which changes of them in a window are rounding."""
BALANCED: Final = 1e-12
"""Part of loads that balance each other; a thousandth of it may be rounding."""
ALIGNED: Final = 0.1
"""Smallest cosine between bases of a window: beyond it they are no longer the same motions."""


@dataclass(frozen=True)
class Bases:
    """V and N at an instant, with the equations there: what a minimal perturbation y = (x, u, zeta) means."""

    state: State
    equations: LinearEquations
    V: Array  # admissible small motions, V^T M V = 1
    N: Array  # of them the velocities without slip, N^T N = 1
    S: Array  # x' = N u - (S + C) x
    Y: Array  # xi' = V (N u - S x) + Y x
    A: Array

    @property
    def size(self) -> int:
        """Number of minimal perturbations."""
        return len(self.A)

    @property
    def motion(self) -> Array:
        """xi of y."""
        return np.hstack([self.V, np.zeros((len(self.V), self.size - self.V.shape[1]))])

    @property
    def velocity(self) -> Array:
        """xi' of y."""
        own = self.size - self.V.shape[1] - self.N.shape[1]
        return np.hstack([self.Y - self.V @ self.S, self.V @ self.N, np.zeros((len(self.V), own))])

    @property
    def from_motion(self) -> tuple[Array, Array]:
        """x and u of admissible xi and xi': y = first @ xi + second @ xi', own states apart."""
        weights = self.V.T @ self.equations.mass
        x = np.vstack([weights, np.zeros((self.size - len(weights), weights.shape[1]))])
        u = np.zeros_like(x)
        u[len(weights) : len(weights) + self.N.shape[1]] = self.N.T @ weights
        return x, u


@dataclass(frozen=True)
class Window:
    """The variations within a short window: bases, A and the flow from its start at all places of it."""

    start: float
    duration: float
    bases: list[Bases]
    flow: Array  # (s + 1, k, k)
    error: float  # of derivatives, coefficients and flow, as a multiple of what is allowed

    def at(self, t: float) -> tuple[Array, Array]:
        """A and the flow from the start of the window, at an instant in it."""
        weights = collocation.at((t - self.start) / self.duration)
        return np.tensordot(weights, np.array([b.A for b in self.bases]), 1), np.tensordot(weights, self.flow, 1)


def window(eq: Equations, states: list[State], start: float, duration: float, before: Bases | None) -> Window:
    """The variations between states at the places of a window; the bases go on from those where the last one ended."""
    if rubbing := [f.force for f in eq.tables.forces if f.force.reactive]:
        raise AnalysisError(
            f"{rubbing[0]}: variations along a motion are not taken with friction that depends on reactions; put a "
            "force in its place whose normal load is a number"
        )
    frame = TurningFrame()
    points = [OperatingPoint.at(eq, state) for state in states]
    found = [linear_equations(point, frame, own_states=all_states) for point in points]
    V = _along([normalized(e, admissible(e)) for e in found], found, before, states[0].t)
    V = _least_turning(V, duration, np.array([e.mass for e in found]))
    rows = np.array([e.nonholonomic @ v for e, v in zip(found, V, strict=True)])
    N = _allowed(rows, found, V, before, duration, states[0].t)
    MV = np.array([e.mass @ v for e, v in zip(found, V, strict=True)])
    V_rate, MV_rate, N_rate = (collocation.rates(part, duration) for part in (V, MV, N))
    bases = []
    for k, e in enumerate(found):
        C = MV[k].T @ V_rate[k]
        Y = V_rate[k] - V[k] @ C
        S = np.linalg.lstsq(rows[k], e.nonholonomic @ Y + e.drift @ V[k], rcond=1e-9)[0]
        by_x, by_u = Y - V[k] @ S, V[k] @ N[k]
        load = MV_rate[k].T - V[k].T @ e.damping
        n_x, n_u = N[k].shape
        x, u, z = slice(n_x), slice(n_x, n_x + n_u), slice(n_x + n_u, None)
        A = np.zeros((n_x + n_u + len(e.own_feedback),) * 2)
        A[x, x], A[x, u] = -S - C, N[k]
        A[u, x] = N[k].T @ (load @ by_x - V[k].T @ e.stiffness @ V[k]) - N_rate[k].T @ S
        A[u, u] = N[k].T @ load @ by_u + N_rate[k].T @ N[k]
        A[u, z] = -N[k].T @ V[k].T @ e.own_force
        A[z, x] = e.own_position @ V[k] + e.own_velocity @ by_x
        A[z, u], A[z, z] = e.own_velocity @ by_u, e.own_feedback
        bases.append(Bases(states[k], e, V[k], N[k], S, Y, A))
    A = np.array([b.A for b in bases])
    flow = collocation.flow(A, duration)
    error = max(_unresolved(V, N, A, duration) / RESOLVED, collocation.error(A, duration, flow[-1]) / EXACT)
    error = max(error, _jumping(points, bases[0], duration) / EVEN)
    return Window(start, duration, bases, flow, error)


def _along(V: list[Array], found: list[LinearEquations], before: Bases | None, t: float) -> Array:
    """Bases of the same spaces that are as near as possible to the first one, so that they are smooth in time."""
    if len({v.shape for v in V}) > 1 or (before is not None and before.V.shape != V[0].shape):
        raise _lost(t)
    reference = V[0] if before is None else before.V
    return np.array([_nearest(v, v.T @ e.mass @ reference, t) for v, e in zip(V, found, strict=True)])


def _nearest(basis: Array, overlap: Array, t: float) -> Array:
    """The basis of a space that is nearest to another one, with which it has an overlap (polar decomposition)."""
    left, cosines, right = np.linalg.svd(overlap)
    if cosines.size and cosines[-1] < ALIGNED:
        raise _lost(t)
    return np.asarray(basis @ left @ right, float)


def _lost(t: float) -> AnalysisError:
    return AnalysisError(
        f"the motions that the constraints allow change abruptly near t = {t:.6g} s: constraints begin or cease to "
        "depend on each other there (a dead point, a redundant joint); variations end before it, choose a shorter run"
    )


def _least_turning(bases: Array, duration: float, mass: Array | None = None) -> Array:
    """The bases turned so that B^T M B' is symmetric: O' = -skew(B^T M B') O, O(0) = 1."""
    if not bases.shape[2]:
        return bases
    rates = collocation.rates(bases, duration)
    weighted = bases if mass is None else mass @ bases
    overlap = weighted.transpose(0, 2, 1) @ rates
    turns = collocation.flow(-0.5 * (overlap - overlap.transpose(0, 2, 1)), duration)
    left, _, right = np.linalg.svd(turns)  # rotations up to the error of the integration
    return np.asarray(bases @ left @ right, float)


def _allowed(
    rows: Array, found: list[LinearEquations], V: Array, before: Bases | None, duration: float, t: float
) -> Array:
    """N: smooth orthonormal bases of what the nonholonomic constraints leave of the velocities."""
    free = [
        null_space(row, float(np.linalg.norm(e.nonholonomic) * np.linalg.norm(v)))
        for row, e, v in zip(rows, found, V, strict=True)
    ]
    if len({n.shape for n in free}) > 1:
        raise _lost(t)
    reference = free[0] if before is None else before.N
    return _least_turning(np.array([_nearest(n, n.T @ reference, t) for n in free]), duration)


def _unresolved(V: Array, N: Array, A: Array, duration: float) -> float:
    """How much polynomials through all places and through all but the first differ, over the window.

    That is the error of the latter, of the derivatives of bases and of A where it begins, and far above that of the
    former.
    """
    found = [SMOOTH * duration * float(np.abs(collocation.before(A) - A[0]).max(initial=0.0))]
    for part in (V, N):
        if part.size:
            whole, less = collocation.rates(part, duration)[1:], collocation.rates(part, duration, 1)
            found.append(duration * float(np.abs(whole - less).max() / np.abs(part).max()))
    return max(found)


def _jumping(points: list[OperatingPoint], bases: Bases, duration: float) -> float:
    """How much accelerations at the start of a window differ from what those in it lead to expect, relative to them.

    A load that jumps where something is (dry friction, a switch) leaves A as it is on both sides, but not the motion.
    At rest accelerations are what rounding of positions leaves of loads, the larger the stiffer the system is.
    """
    e, (n_x, n_u) = bases.equations, bases.N.shape
    sizes = np.sqrt(np.abs(np.diag(e.mass)))[:, None]
    moving = {name: (m.velocity, m.angular_velocity) for name, m in points[0].state.motions.items()}
    accelerations = np.array([sizes * collected(e.places, point.accelerations)[:, None] for point in points])
    speed = float(np.abs(sizes[:, 0] * collected(e.places, moving)).max(initial=0.0))
    stiffest = float(np.linalg.norm(bases.A[n_x : n_x + n_u, :n_x]))
    loads = float(sizes.max(initial=0.0)) * (
        stiffest * points[0].size + float(np.linalg.norm(points[0].eq.system.gravity))
    )
    size = duration * (float(np.abs(accelerations).max(initial=0.0)) + BALANCED * loads) + SLOW * speed
    off = duration * float(np.abs(collocation.before(accelerations) - accelerations[0]).max(initial=0.0))
    return off / size if size else 0.0


def on_side(state: State, t: float) -> State:
    """The same state, as if it were at another instant: just before or behind a jump."""
    return replace(state, t=t)
