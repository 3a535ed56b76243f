"""The linear equations of small motions about a state, in variations that no formulation and no wheel's turning enters.

Freezing redundant coordinates gives wrong roots for everything that rolls. Here the unknowns are the small motions xi =
(dr, phi) of the bodies, global or in a frame that turns with a steady motion: see `bodies.formulations.Variation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...equations.equations import Equations
from ...equations.numbered import Table
from ...equations.tangent import Tangent
from ...errors import AnalysisError
from ...markers import AXIS, converted
from ...rotations import matrix_from_vector, skew
from ...solvers.starting import extent
from ...state import State
from ..states.own_states import acting_states
from ..states.own_states import places as places_of

Array = NDArray[np.float64]
Matrix = Any  # a dense array, or a sparse array of the same shape


class TurningFrame:
    """A frame that turns about `axis` (global) with `rate` (rad/s); the steady motion of a turn stands still in it.

    Only directions matter: small motions are given by their components along the frame's axes, so its origin has no
    influence.
    """

    def __init__(self, axis: ArrayLike = (0.0, 0.0, 1.0), rate: float = 0.0) -> None:
        self.axis = converted(AXIS, axis, "TurningFrame", "axis")
        self.axis = self.axis / np.linalg.norm(self.axis) + 0.0  # without signs of zeros
        self.rate = float(rate)

    @property
    def angular_velocity(self) -> Array:
        """Omega: rate times axis."""
        return self.rate * self.axis

    def turned(self, duration: float) -> Array:
        """R: the rotation matrix after some time."""
        return matrix_from_vector(duration * self.angular_velocity)

    def path(self, velocity: Array, duration: float) -> Array:
        """The displacement after some time of a point whose velocity turns with the frame: integral of R velocity."""
        if self.rate == 0.0:
            return duration * velocity
        along = (velocity @ self.axis) * self.axis
        angle = self.rate * duration
        # sin(a)/a and (1 - cos(a))/a without cancellation
        sine, versine = np.sinc(angle / np.pi), np.sin(0.5 * angle) * np.sinc(0.5 * angle / np.pi)
        return duration * (along + sine * (velocity - along) + versine * np.cross(self.axis, velocity))

    def __repr__(self) -> str:
        return f"TurningFrame(axis={tuple(self.axis.tolist())}, rate={self.rate:.12g})"


def on_vectors(block: Array, size: int) -> Array:
    """diag(block, block, 0): what acts on dr and phi of a body, and leaves further variations alone."""
    whole = np.zeros((size, size))
    for first in range(0, min(size, 6), 3):
        whole[first : first + 3, first : first + 3] = block
    return whole


def width(places: Mapping[str, slice]) -> int:
    """Number of small motions of all bodies."""
    return list(places.values())[-1].stop


def turning(places: Mapping[str, slice], frame: TurningFrame) -> Array:
    """S: what turning the frame does to the small motions of all bodies, R' = S R."""
    S = np.zeros((width(places), width(places)))
    if frame.rate:
        spin = skew(frame.angular_velocity)
        for place in places.values():
            S[place, place] = on_vectors(spin, place.stop - place.start)
    return S


def collected(places: Mapping[str, slice], parts: Mapping[str, tuple[Array, ...]]) -> Array:
    """The small motions of all bodies in one vector, from dr and phi of some; a body that does not turn has no phi.

    A flexible body may have the changes of its modal coordinates as a third part; left out, they are zero.
    """
    whole = np.zeros(width(places))
    for name, (dr, phi, *modal) in parts.items():
        place = places[name]
        whole[place.start : place.start + 3] = dr
        if place.stop - place.start >= 6:
            whole[place.start + 3 : place.start + 6] = phi
        if modal and place.stop - place.start > 6:
            whole[place.start + 6 : place.stop] = modal[0]
    return whole


def on_bodies(
    places: Mapping[str, slice], motion: NDArray[Any]
) -> dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """dr, phi and changes of modal coordinates of each body, from the small motions of all."""
    return {
        name: (
            motion[place.start : place.start + 3],
            motion[place.start + 3 : place.start + 6] if place.stop - place.start >= 6 else np.zeros(3, motion.dtype),
            motion[place.start + 6 : place.stop],
        )
        for name, place in places.items()
    }


@dataclass(frozen=True)
class OperatingPoint:
    """A state to linearize about, with its accelerations and multipliers."""

    eq: Equations
    state: State
    q: Array
    v: Array
    z: Array
    v_rate: Array
    multipliers: Array
    z_rate: Array

    @classmethod
    def at(cls, eq: Equations, state: State, y: Array | None = None) -> OperatingPoint:
        """A state, whose coordinates are `y` if they are known."""
        q, v, z = eq.split(eq.coordinates(state) if y is None else y)
        v_rate, multipliers = eq.accelerate(state.t, q, v, z)
        return cls(eq, state, q, v, z, v_rate, multipliers, eq.work.z_rate.copy())

    @cached_property
    def size(self) -> float:
        """How large the model is in this state, m."""
        return extent(self.eq, self.state)

    @cached_property
    def accelerations(self) -> dict[str, tuple[Array, Array]]:
        """Acceleration of the origin and angular acceleration of each body, global."""
        found = {}
        for table in self.eq.tables.body_tables:
            both = table.elements[0].formulation.accelerations(*self.rows(table))
            found.update({b.body.name: (a, alpha) for b, a, alpha in zip(table.elements, *both, strict=True)})
        return found

    @cached_property
    def joint_rows(self) -> NDArray[np.bool_]:
        """Which holonomic equations belong to joints, and not to the coordinates of a body."""
        found = np.ones(self.eq.tables.n_holonomic, bool)
        for b in self.eq.tables.bodies:
            found[b.row : b.row + b.formulation.n_intrinsic] = False
        return found

    def rows(self, bodies: Table) -> tuple[Array, Array, Array]:
        """q, v and v' of the bodies of a table, a row each."""
        q, v = bodies.places
        return self.q[q], self.v[v], self.v_rate[v]


@dataclass(frozen=True)
class LinearEquations:
    """M xi'' + R xi' + K xi + F zeta + J^T dlambda + G^T dmu = 0, J xi = 0, G xi' + W xi = 0, zeta' = L xi + H xi' + A
    zeta.

    xi are the small motions of the bodies at their `places`, in the frame's axes; zeta the changes of the own states of
    force elements.
    """

    places: dict[str, slice]
    mass: Matrix  # M
    damping: Matrix  # R
    stiffness: Matrix  # K
    holonomic: Matrix  # J
    nonholonomic: Matrix  # G
    drift: Matrix  # W
    own_force: Array  # F
    own_position: Array  # L
    own_velocity: Array  # H
    own_feedback: Array  # A
    imbalance: Array  # what is left of the balance of loads at the state itself
    gaps: Array  # and of C
    acting: dict[str, NDArray[np.int64]]  # which own states of each element are in zeta
    pace: float  # 1/s: how fast things happen at least, even where all stiffness and damping is rounding

    @property
    def size(self) -> int:
        """Number of small motions."""
        return self.mass.shape[0]

    @cached_property
    def reaches(self) -> Array:
        """How far each small motion of size 1 moves its body, m: 1, radii of gyration, and those of deformations.

        Measured by them, motions of all kinds are comparable, whatever a body's size and mass; all rotations of a body
        have the same, which does not change when it turns.
        """
        masses = self.mass.diagonal()
        found = np.ones(self.size)
        for place in self.places.values():
            mass = masses[place.start : place.start + 3].sum()
            turns, shapes = slice(place.start + 3, min(place.start + 6, place.stop)), slice(place.start + 6, place.stop)
            found[turns] = np.sqrt(masses[turns].sum() / mass) if mass > 0.0 else 1.0
            found[shapes] = np.sqrt(3.0 * masses[shapes] / mass) if mass > 0.0 else 1.0
        return np.where(found > 0.0, found, 1.0)


def linear_equations(
    point: OperatingPoint,
    frame: TurningFrame,
    turned: Array | None = None,
    dense: bool = True,
    own_states: Callable[[Equations, float], dict[str, NDArray[np.int64]]] = acting_states,
) -> LinearEquations:
    """The equations of small motions about an operating point.

    `turned` is the rotation R of the frame at that instant, by default none. Sparse matrices unless `dense`.
    `own_states` says which own states of force elements are unknowns.
    """
    eq = point.eq
    eq.set_state(point.q, point.v, point.z)
    tangent = eq.tangent(point.state.t, point.q, point.v, point.v_rate, point.multipliers, dense=dense)
    places, P, P_rate, Z, Z_rate = variations(point, frame, turned, dense)
    M, R, K, J, D = tangent.mass, tangent.damping, tangent.stiffness, tangent.jacobian, tangent.velocity_stiffness
    first = eq.tables.n_holonomic
    own = point.joint_rows
    G = J[first:]
    acting = own_states(eq, point.state.t)
    kept = places_of(eq, acting)
    if len(kept):
        states = tangent.own
        own_force, stiffness = states.force[:, kept], states.stiffness[kept]
        own_damping, feedback = states.damping[kept], states.feedback[np.ix_(kept, kept)]
    else:
        own_force, feedback = np.zeros((eq.n_v, 0)), np.zeros((0, 0))
        stiffness = own_damping = own_force.T
    by_rate, by_place, drift = M @ (P_rate + Z) + R @ P, M @ Z_rate + R @ Z + K @ P, G @ Z + D @ P
    if slides(tangent):
        rubbing = Rubbing.of(point, tangent)
        by_rate = by_rate + rubbing.by_load(by_rate) + rubbing.by_slip(drift)
        by_place = by_place + rubbing.by_load(by_place)
        own_force = own_force + rubbing.by_load(own_force)
    return LinearEquations(
        places=places,
        mass=P.T @ M @ P,
        damping=P.T @ by_rate,
        stiffness=P.T @ by_place,
        holonomic=_with_held(J[:first][own] @ P, point, places),
        nonholonomic=G @ P,
        drift=drift,
        own_force=P.T @ own_force,
        own_position=stiffness @ P + own_damping @ Z,
        own_velocity=own_damping @ P,
        own_feedback=feedback,
        imbalance=P.T @ (M @ point.v_rate - eq.rub(point.state.t, point.multipliers) + J.T @ point.multipliers),
        gaps=eq.work.residual[own].copy(),
        acting=acting,
        pace=pace(point, frame),
    )


def slides(tangent: Tangent) -> bool:
    """Whether a force changes with reactions to first order: friction of a joint that slides, not of one at rest."""
    return bool(abs(tangent.by_reactions).sum() > 0.0)


@dataclass(frozen=True)
class Rubbing:
    """How friction Q(lambda) follows small changes of the reactions, which are unknowns no longer.

    In M dv' + X + (J^T - Q_lambda) dlambda = 0 the product with 1 + Q_lambda L, where L (J^T - Q_lambda) = 1 and
    L M = -S J, leaves J^T dlambda and adds Q_lambda L X to the loads X. On dv' = P xi'' it leaves no more than the
    accelerations that rolling needs: J P xi'' = -(0, (G Z + D P) xi') in a steady motion.
    """

    forces: Matrix  # Q_lambda, of the multipliers by which it is not zero
    loads: Array  # L
    slips: Array  # S, of nonholonomic equations

    @classmethod
    def of(cls, point: OperatingPoint, tangent: Tangent) -> Rubbing:
        eq = point.eq
        if eq.factor_record["left_out"]:
            rubbing = next(f.force for f in eq.tables.forces if f.force.reactive)
            raise AnalysisError(
                f"{rubbing}: while a joint slides the equations are not linearized with friction where constraints "
                "depend on each other, because how they share their load changes with the motion; remove the "
                "dependent constraints"
            )
        forces = tangent.by_reactions
        dense = isinstance(forces, np.ndarray)
        felt = np.flatnonzero(abs(forces).sum(axis=0))
        right = np.zeros((eq.n_v + eq.n_rows, len(felt)))
        right[eq.n_v + felt, np.arange(len(felt))] = 1.0
        parts: list[list[Any]] = [[tangent.mass.T, tangent.jacobian.T], [tangent.jacobian - forces.T, None]]
        if dense:
            parts[1][1] = np.zeros((eq.n_rows, eq.n_rows))
            found: Any = np.linalg.solve(np.block(parts), right)
        else:
            import scipy.sparse as sparse
            from scipy.sparse.linalg import splu

            found = splu(sparse.block_array(parts, format="csc")).solve(right)
        return cls(forces[:, felt], found[: eq.n_v].T, found[eq.n_v + eq.tables.n_holonomic :].T)

    def by_load(self, loads: Matrix) -> Matrix:
        """What is added to loads X."""
        return self.forces @ self._like(self.loads @ loads)

    def by_slip(self, drift: Matrix) -> Matrix:
        """What is added to the loads by xi' for G P xi'' = -drift xi'."""
        return self.forces @ self._like(self.slips @ drift)

    def _like(self, product: Array) -> Matrix:
        if isinstance(self.forces, np.ndarray):
            return product
        import scipy.sparse as sparse

        return sparse.csr_array(product)


def pace(point: OperatingPoint, frame: TurningFrame) -> float:
    """How fast things happen, 1/s: rates of the turn, of spins, and of a pendulum as long as the model."""
    gravity = float(np.linalg.norm(point.eq.system.gravity))
    spins = np.array([m.angular_velocity for m in point.state.motions.values()])
    spin = np.sqrt((spins**2).sum(axis=1).max())
    return float(max(abs(frame.rate), spin, np.sqrt(gravity / point.size)))


def _with_held(holonomic: Matrix, point: OperatingPoint, places: Mapping[str, slice]) -> Matrix:
    """The rows of J, and those that hold what bodies of the plane cannot do."""
    held = [places[b.body.name].start + k for b in point.eq.tables.bodies for k in b.formulation.held]
    if not held:
        return holonomic
    rows = np.zeros((len(held), holonomic.shape[1]))
    rows[np.arange(len(held)), held] = 1.0
    if isinstance(holonomic, np.ndarray):
        return np.concatenate([holonomic, rows])
    import scipy.sparse as sparse

    return sparse.vstack([holonomic, sparse.csr_array(rows)], format="csr")


def variations(
    point: OperatingPoint, frame: TurningFrame, turned: Array | None = None, dense: bool = True
) -> tuple[dict[str, slice], Matrix, Matrix, Matrix, Matrix]:
    """Where each body's variations are, and P, P', Z, Z' of all bodies in the turning frame: xi = R x, R' = S R."""
    tables = point.eq.tables
    blocks: dict[str, Array] = {}
    for table in tables.body_tables:
        P, P_rate, Z, Z_rate = table.elements[0].formulation.variation(*point.rows(table))
        if frame.rate:
            S, R = (
                on_vectors(part, P.shape[2])
                for part in (skew(frame.angular_velocity), np.eye(3) if turned is None else turned)
            )
            R[6:, 6:] = np.eye(len(R[6:]))
            P, P_rate, Z, Z_rate = (
                P @ R,
                (P_rate + P @ S) @ R,
                (Z + P @ S) @ R,
                (Z_rate + P_rate @ S + Z @ S + P @ S @ S) @ R,
            )
        stacked = np.array([P, P_rate, Z, Z_rate])
        blocks.update((b.body.name, stacked[:, k]) for k, b in enumerate(table.elements))
    places, n = {}, 0
    for b in tables.bodies:
        width = blocks[b.body.name].shape[2]
        places[b.body.name] = slice(n, n + width)
        n += width
    if not dense:
        import scipy.sparse as sparse

        in_order = [blocks[b.body.name] for b in tables.bodies]
        matrices = [sparse.block_diag([sparse.coo_array(own[k]) for own in in_order], format="csr") for k in range(4)]
        return places, *matrices
    whole = np.zeros((4, tables.n_v, n))
    for b in tables.bodies:
        whole[:, b.v_slice, places[b.body.name]] = blocks[b.body.name]
    return places, *whole
