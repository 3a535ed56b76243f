"""Degrees of freedom: how many velocities are independent, and which equations depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ...bodies.formulations import Formulation
from ...equations.equations import Equations, Evaluation
from ...equations.redundancy import DEPENDENT
from ...errors import AnalysisError, check_kinds
from ...solvers.starting import joint_norms
from ...state import State
from ...system import System
from ..states.assemble import Assembler
from .counted_freedom import Freedom, number
from .null_space import readable

Array = NDArray[np.float64]

MARGIN = 10.0  # between what a violation can do to singular values and what counts as zero
BLURRED = 1e-3  # a tolerance above that says nothing about the mechanism
SIGNIFICANT = 1e-6  # least part of an equation in a dependency
ROUNDING = 1e-12  # part of an equation that is none
NEARBY = 0.02  # rad, or lengths of the model: where to look for a position that is not singular
TRIES = 3


def degrees_of_freedom(
    system: System, state: State | None = None, *, formulation: Formulation | None = None
) -> Freedom:
    """Count the independent velocities of a system, and find equations that depend on each other.

    The rank of the constraint Jacobian is found by singular values of S J N: the columns of N span the velocities that
    the coordinates themselves allow, and S scales the rows to unit length. N measures the motion of a body by lengths:
    turning counts by its radius of gyration and by the arms of its constraints together, since equations of a body that
    is a point beside its arms all look like turning alone. So the rank does not depend on the formulation, on units, on
    how masses differ or on how small an inertia is. Nonholonomic equations count like others.

    A position that violates the constraints a little (a drift of 1e-9, say) hides dependencies: the zero singular
    values become as large as the change of S J N between this position and a closed one, and no larger (Weyl). So the
    tolerance of the rank is ten times that change, at least 3e-8: redundant joints that fit to 1e-8 are dependent, as
    in a run, which shares and keeps such gaps.

    Dense matrices, with a cost that grows with the cube of the number of bodies.

    Parameters
    ----------
    system
        What to count in.
    state
        Where to count; by default where the model is described.
    formulation
        Coordinates of the rigid bodies, instead of their own choice.
    """
    check_kinds(
        "degrees_of_freedom", system=(system, System), state=(state, State), formulation=(formulation, Formulation)
    )
    eq = Equations(system, formulation)
    at = state.checked(system.bodies) if state is not None else eq.described()
    q, v, z = eq.split(eq.coordinates(at))
    here = Rank(eq, at.t, q, v, z)
    rows = {str(owner.name): here.places[own] for owner, own in eq.owned_rows().items()}
    joints = {name: own for name, own in rows.items() if np.all(own >= 0)}
    significant = max(SIGNIFICANT, 100 * here.tolerance)
    null = here.dependencies
    involved = [name for name, own in joints.items() if np.linalg.norm(null[own]) > significant]
    # A load along a dependency changes a reaction if it does not cancel within the joint.
    unique = [n for n, own in joints.items() if np.linalg.norm(here.matrix[own].T @ null[own]) <= significant]
    return Freedom(
        count=here.count,
        redundant=here.redundant,
        rank=here.rank,
        equations=len(here.matrix),
        joints_involved=involved,
        dependencies=[_weights(one, joints, significant) for one in readable(null, significant)],
        unique_reactions=unique,
        singular=singularity(eq, at, here) if here.redundant and here.count else "",
    )


class Rank:
    """Rank and null spaces of the scaled constraint Jacobian at one position.

    `matrix` is S J N, `velocities` is N, `places` has the row of the matrix that belongs to a row of J (-1 for
    intrinsic ones). The columns of `free` span the free velocities, with free^T M free = 1 for the mass matrix, or for
    another that is given for it, which measures N as well.
    """

    def __init__(self, eq: Equations, t: float, q: Array, v: Array, z: Array, mass: Any = None) -> None:
        e = eq.evaluate(t, q, v, z)
        own = np.ones(eq.n_rows, bool)
        for b in eq.tables.bodies:
            own[b.row : b.row + b.formulation.n_intrinsic] = False
        self.places = np.where(own, np.cumsum(own) - 1, -1)
        measure = (e.mass if mass is None else mass).copy()
        self.matrix, self.velocities, lengths, self._inertia = _scaled(eq, e, q, own, measure)
        # The step to a closed position, and what it does to the matrix.
        holonomic = own[: len(e.residual)]
        gaps = e.residual[holonomic] / lengths[: holonomic.sum()]
        step = self.velocities @ np.linalg.pinv(self.matrix[: len(gaps)], rcond=1e-6) @ -gaps
        beside = eq.displaced(q, step)
        at_beside = eq.evaluate(t, beside, v, z)
        closed = _scaled(eq, at_beside, beside, own, at_beside.mass if mass is None else mass)[0]
        difference = np.linalg.norm(closed - self.matrix, 2) if self.matrix.size else 0.0
        self.tolerance = float(max(DEPENDENT, MARGIN * difference))
        if not self.tolerance < BLURRED:
            owner, gap = joint_norms(eq, e.residual)[0]
            raise AnalysisError(
                f"{owner} is open by {gap:.3g} (m, or rad): freedoms can only be counted in a closed position; pass "
                "state=mb.assemble(system)"
            )
        left, values, right = np.linalg.svd(self.matrix)
        self.rank = int(np.sum(values > self.tolerance))
        self.dependencies, self.free = left[:, self.rank :], self._normalized(right[self.rank :].T)

    def _normalized(self, free: Array) -> Array:
        """Velocities that are orthonormal by mass and span the same as N free."""
        return np.linalg.solve(np.linalg.qr(self._inertia.T @ free)[1].T, (self.velocities @ free).T).T

    def free_of(self, rows: NDArray[np.int64]) -> Array:
        """The velocities that some rows of the matrix alone leave free, orthonormal by mass."""
        _, values, right = np.linalg.svd(self.matrix[rows])
        return self._normalized(right[int(np.sum(values > self.tolerance)) :].T)

    def weighted(self, eq: Equations) -> Array:
        """N with the masses of the bodies: their velocities when each has the kinetic energy 1/2."""
        masses = [b.body.mass_properties()[0] for b in eq.tables.bodies]
        each = [b.formulation.n_v - b.formulation.n_intrinsic for b in eq.tables.bodies]
        return self.velocities / np.sqrt(np.repeat(masses, each))

    @property
    def count(self) -> int:
        return self.free.shape[1]

    @property
    def redundant(self) -> int:
        return self.dependencies.shape[1]


def _scaled(
    eq: Equations, e: Evaluation, q: Array, own: NDArray[np.bool_], mass: Any
) -> tuple[Array, Array, Array, Array]:
    """S J N without intrinsic rows, N, the lengths of the rows of J N that S removes, and a root of N^T M N.

    Many N serve. This one is made of velocities and angular velocities along global axes, so that it changes little
    between neighbouring positions, which can be compared, and a tiny inertia is not lost beside the mass.
    """
    jacobian = e.jacobian.toarray()
    columns: list[Array] = []
    roots: list[Array] = []
    for b in eq.tables.bodies:
        n = b.formulation.n_intrinsic
        basis = np.linalg.qr(jacobian[b.row : b.row + n, b.v_slice].T, mode="complete")[0][:, n:]
        lengths = np.zeros(basis.shape[1])
        if not b.formulation.n_modes:
            twists = np.hstack(b.formulation.twists(np.tile(q[b.q_slice], (len(lengths), 1)), basis.T))
            possible = np.abs(twists).max(axis=0) > ROUNDING * np.abs(twists).max()
            basis = np.linalg.solve(twists[:, possible], basis.T).T
            turning = np.flatnonzero(possible) >= 3
            lengths[turning] = _arm(jacobian[own][:, b.v_slice] @ basis, turning, eq.size)
        inertia = basis.T @ mass[b.v_slice, b.v_slice].toarray() @ basis
        root = np.linalg.cholesky(inertia / b.body.mass_properties()[0] + np.diag(lengths**2))
        part = np.zeros((eq.n_v, len(lengths)))
        part[b.v_slice] = np.linalg.solve(root, basis.T).T
        columns.append(part)
        roots.append(np.linalg.solve(root, np.linalg.cholesky(inertia)))
    velocities = np.hstack(columns)
    matrix = jacobian[own] @ velocities
    lengths = np.linalg.norm(matrix, axis=1)
    lengths[lengths <= ROUNDING * lengths.max(initial=0.0)] = 1.0  # equations without effect stay zero
    return matrix / lengths[:, None], velocities, lengths, block_diag(*roots)


def _arm(rows: Array, turning: NDArray[np.bool_], size: float) -> float:
    """How far from a body's origin its constraints act, m: the longest arm of their rows, at most the model's size."""
    pushes, moments = (np.linalg.norm(rows[:, part], axis=1) for part in (~turning, turning))
    acting = pushes * size > ROUNDING * moments
    return float(np.minimum(moments[acting] / pushes[acting], size).max(initial=0.0))


def _weights(dependency: Array, joints: dict[str, NDArray[np.int64]], significant: float) -> dict[str, float]:
    """The parts of joints in a dependency, relative to the largest."""
    parts = {name: float(np.linalg.norm(dependency[own])) for name, own in joints.items()}
    largest = max(parts.values())
    return {name: part / largest for name, part in parts.items() if part > significant * largest}


def singularity(eq: Equations, at: State, here: Rank) -> str:
    """What distinguishes this position from those nearby; empty if nothing does."""
    q, v, z = eq.split(eq.coordinates(at))
    assembler = Assembler(eq, at, set(), 1e-12)
    values = np.random.default_rng(0)
    for attempt in range(TRIES):
        aside = here.free @ values.normal(size=here.count)
        aside *= NEARBY / 2**attempt / assembler.span(q, aside)
        found, gap = assembler.close(eq.displaced(q, aside))
        if gap > assembler.enough(found):
            continue
        there = Rank(eq, at.t, found, v, z)
        if there.rank <= here.rank:
            return ""
        return f"nearby {there.rank} equations are independent and {number(there.count, 'degree')} of freedom left"
    return "no other position nearby could be reached; the freedoms may be infinitesimal only"
