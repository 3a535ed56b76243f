"""Degrees of freedom: how many velocities are independent, and which equations depend on each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.formulations import Formulation
from ..equations.equations import Equations, Evaluation
from ..equations.redundancy import DEPENDENT
from ..errors import AnalysisError, check_kinds
from ..solvers.starting import joint_norms
from ..state import State
from ..system import System
from .assemble import Assembler
from .null_space import readable

Array = NDArray[np.float64]

MARGIN = 10.0  # between what a violation can do to singular values and what counts as zero
BLURRED = 1e-3  # a tolerance above that says nothing about the mechanism
SIGNIFICANT = 1e-6  # least part of an equation in a dependency
NEARBY = 0.02  # rad, or lengths of the model: where to look for a position that is not singular
TRIES = 3


@dataclass(frozen=True)
class Freedom:
    """What the constraints leave free.

    Parameters
    ----------
    count
        Number of independent velocities.
    redundant
        Number of equations that follow from others.
    rank
        Number of independent equations.
    equations
        Number of equations of the joints; normalizations of coordinates do not count.
    joints_involved
        Joints whose equations take part in a dependency.
    dependencies
        One for each redundant equation: how strongly joints take part in it, 1 for the one that does most.
    unique_reactions
        Joints whose reactions are determined by the motion and the loads. Those of the others are not: rigid bodies
        share loads along a dependency in a way that only their elasticity could decide.
    singular
        Empty, or what is special about this position: nearby more equations are independent.
    """

    count: int
    redundant: int
    rank: int
    equations: int
    joints_involved: list[str]
    dependencies: list[dict[str, float]]
    unique_reactions: list[str]
    singular: str = ""

    def __str__(self) -> str:
        equations = _number(self.equations, "equation")
        lines = [f"{_number(self.count, 'degree')} of freedom: {equations}, {self.rank} independent"]
        if self.redundant:
            lines.append(f"{_number(self.redundant, 'dependency', 'dependencies')} between equations of the joints:")
            alike = Counter(", ".join(f"{n} ({w:.2g})" for n, w in parts.items()) for parts in self.dependencies)
            lines += [f"  {times} x  {parts}" for parts, times in alike.items()]
            lines.append(f"unique reactions: {', '.join(self.unique_reactions) or 'none'}")
        if self.singular:
            lines.append(f"singular position: {self.singular}")
        return "\n".join(lines)


def _number(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def degrees_of_freedom(
    system: System, state: State | None = None, *, formulation: Formulation | None = None
) -> Freedom:
    """Count the independent velocities of a system, and find equations that depend on each other.

    The rank of the constraint Jacobian is found by singular values of S J N: the columns of N span the velocities that
    the coordinates themselves allow, with N^T M N = 1, and S scales the rows to unit length. This does not depend on
    the formulation, on units or on how masses differ. Nonholonomic equations count like others.

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

    `matrix` is S J N, `places` has the row of the matrix that belongs to a row of J (-1 for intrinsic ones). N is
    normalized by the mass matrix, or by another that is given for it.
    """

    def __init__(self, eq: Equations, t: float, q: Array, v: Array, z: Array, mass: Any = None) -> None:
        e = eq.evaluate(t, q, v, z)
        own = np.ones(eq.n_rows, bool)
        for b in eq.tables.bodies:
            own[b.row : b.row + b.formulation.n_intrinsic] = False
        self.places = np.where(own, np.cumsum(own) - 1, -1)
        self.matrix, self.velocities, lengths = _scaled(eq, e, own, mass=mass)
        # The step to a closed position, and what it does to the matrix.
        holonomic = own[: len(e.residual)]
        gaps = e.residual[holonomic] / lengths[: holonomic.sum()]
        step = self.velocities @ np.linalg.pinv(self.matrix[: len(gaps)], rcond=1e-6) @ -gaps
        closed, _, _ = _scaled(eq, eq.evaluate(t, eq.displaced(q, step), v, z), own, self.velocities, mass)
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
        self.dependencies, self.free = left[:, self.rank :], self.velocities @ right[self.rank :].T

    @property
    def count(self) -> int:
        return self.free.shape[1]

    @property
    def redundant(self) -> int:
        return self.dependencies.shape[1]


def _scaled(
    eq: Equations, e: Evaluation, own: NDArray[np.bool_], like: Array | None = None, mass: Any = None
) -> tuple[Array, Array, Array]:
    """S J N without intrinsic rows, N, and the lengths of the rows of J N that S removes.

    Many N serve; `like` asks for the one next to the N of a neighbouring position, so that both can be compared.
    """
    jacobian = e.jacobian.toarray()
    columns: list[Array] = []
    for b in eq.tables.bodies:
        n, free = b.formulation.n_intrinsic, b.formulation.n_v - b.formulation.n_intrinsic
        basis = np.linalg.qr(jacobian[b.row : b.row + n, b.v_slice].T, mode="complete")[0][:, n:]
        if like is not None:
            first = sum(part.shape[1] for part in columns)
            basis = basis @ basis.T @ like[b.v_slice, first : first + free]
        own_mass = (e.mass if mass is None else mass)[b.v_slice, b.v_slice].toarray()
        part = np.zeros((eq.n_v, free))
        part[b.v_slice] = np.linalg.solve(np.linalg.cholesky(basis.T @ own_mass @ basis), basis.T).T
        columns.append(part)
    velocities = np.hstack(columns)
    matrix = jacobian[own] @ velocities
    lengths = np.linalg.norm(matrix, axis=1)
    lengths[lengths <= 1e-12 * lengths.max(initial=0.0)] = 1.0  # equations without effect stay zero
    return matrix / lengths[:, None], velocities, lengths


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
        return f"nearby {there.rank} equations are independent and {_number(there.count, 'degree')} of freedom left"
    return "no other position nearby could be reached; the freedoms may be infinitesimal only"
