"""The tangent by what causes it: stiffness and damping of every force, and of every body by its nature.

F = M v' - Q + J^T lambda is a sum over loads: forces, and of each body its weight, elasticity and inertia. Each load
also has its part of the reactions, J^T lambda_e, with

    M a + J^T lambda_e = Q_e,  J a = 0

so that the lambda_e add up to lambda, and what these do to K (the geometric stiffness of a hinge that carries a
pendulum) belongs to the load that makes them. That is the second derivative of the load's energy along motions that
keep the joints closed and are otherwise free; it does not depend on coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import AnalysisError
from ..kernels.layout import PLACE
from .equations import Equations
from .numbered import NumberedForce
from .tangent import TableStage, TangentAssembly

Array = NDArray[np.float64]

STIFFNESS: Final = "stiffness"
PRESTRESS: Final = "prestress"
GRAVITY: Final = "gravity"
MOTION: Final = "motion"
CONTROL: Final = "control"
NONE: Final = 1e-14
"""Part of all loads below which one is none."""
CENTRAL: Final = 1e-12
"""Sine of the angle between a central force and the line between its points."""


@dataclass(frozen=True)
class TangentShare:
    """What one load adds to the tangent.

    Attributes
    ----------
    element
        Name of the force or body.
    part
        Of a force "stiffness", by which it changes, and "prestress", the force and its reactions as they are, in
        directions that turn with what moves; of a body "stiffness" (elasticity and damping), "gravity" and "motion"
        (inertia), their reactions included. "control" is how a force changes with what controllers see.
    stiffness, damping
        As in `Tangent`, sparse.
    load
        What the load and its reactions leave of each other, -Q_e + J^T lambda_e; adds up to zero over all shares.
    own
        (n_v, own states): how the force changes with states of controllers; None for other parts.
    """

    element: str
    part: str
    stiffness: Any
    damping: Any
    load: Array
    own: Array | None = None


def tangent_shares(eq: Equations, t: float, q: Array, v: Array, z: Array, v_rate: Array) -> list[TangentShare]:
    """The tangent at a state, load by load."""
    if any(b.formulation.n_intrinsic for b in eq.tables.bodies):
        raise AnalysisError("coordinates with equations of their own are not taken apart; choose NewtonEuler")
    return _Shares(eq, t, q, v, z, v_rate).found()


class _Shares:
    """Runs the stages of the tangent, each over the rows of one element."""

    def __init__(self, eq: Equations, t: float, q: Array, v: Array, z: Array, v_rate: Array) -> None:
        self.eq, self.t, self.state, self.v_rate = eq, t, (q, v, z), v_rate
        self.assembly: TangentAssembly = eq.tangent_assembly
        self.none = np.zeros(eq.n_rows)
        if eq.stages.reactive:
            self.assembly.reactions[:] = eq.accelerate(t, q, v, z)[1]

    def found(self) -> list[TangentShare]:
        eq, v = self.eq, self.state[1]
        still = 0.0 * v
        with self._weightless():
            rest = self._forces_of_bodies(still)
            elastic = self._bodies(still, still)
        weight = self._forces_of_bodies(still) - rest
        held = self._bodies(still, still)
        inertia = self._forces_of_bodies(v) - rest - weight
        moving = self._bodies(v, self.v_rate)

        mass, _ = eq.matrices()
        eq.factor()
        inertia = inertia - mass @ self.v_rate
        self.largest = max(float(np.abs(part).max(initial=0.0)) for part in (rest, weight, inertia, eq.work.force))
        shares = []
        for b in eq.tables.bodies:
            inside = np.zeros(eq.n_v + eq.n_own, bool)
            inside[b.v_slice] = True
            for part, load, upper, lower in (
                (STIFFNESS, rest, elastic, None),
                (GRAVITY, weight, held, elastic),
                (MOTION, inertia, moving, held),
            ):
                own = inside[self.assembly.places[0]]
                K, R = (np.where(own, a, 0.0) for a in upper)
                if lower is not None:
                    K, R = (a - np.where(own, c, 0.0) for a, c in zip((K, R), lower, strict=True))
                shares.append(self._share(b.body.name, part, np.where(inside[: eq.n_v], load, 0.0), K, R))
        for stage in self.assembly.forces:
            for k, numbered in enumerate(stage.elements):
                K, R, loads = self._force(stage, k)
                turning = self._turning(numbered, loads)
                shares.append(self._plain(numbered.force.name, STIFFNESS, K - turning, R))
                force = self._generalized(loads)
                shares.append(self._share(numbered.force.name, PRESTRESS, force, turning, loads=loads))
                if self.assembly.control is not None:
                    shares.append(self._controlled(numbered))
        return shares

    def _controlled(self, numbered: NumberedForce) -> TangentShare:
        """What a force adds by the signals of controllers that it names."""
        n, a = self.eq.n_v, self.assembly
        pools = np.zeros(a.size), np.zeros(a.size)
        assert a.control is not None
        a.control.fill(self.t, *pools, only=numbered)
        K, R = (a.whole(pool, dense=False) for pool in pools)
        return TangentShare(numbered.force.name, CONTROL, K[:n, :n], R[:n, :n], np.zeros(n), R[:n, n:].toarray())

    def _turning(self, numbered: NumberedForce, loads: Array) -> Array:
        """Pool of what a central force T along the line between its points adds as the line turns: T/l across it."""
        tables, a = self.eq.tables, self.assembly
        i, j = (tables.markers[m] for m in (numbered.i, numbered.j))
        arm, load = j.position - i.position, loads[PLACE * numbered.j : PLACE * (numbered.j + 1)]
        force, length = load[:3], float(np.linalg.norm(arm))
        none = np.zeros(a.size)
        across = np.abs(np.cross(arm, force)).max()
        if not length or np.abs(load[3:]).max() or across > CENTRAL * length * np.linalg.norm(force):
            return none
        u = arm / length
        matrix = (force @ u) / length * (np.eye(3) - np.outer(u, u))
        owner = tables.marker_bodies()
        ends = [(m, owner[n], sign) for m, n, sign in ((i, numbered.i, -1.0), (j, numbered.j, 1.0)) if owner[n] >= 0]
        bases = [self.eq.work.jacobians[m.jacobian : m.jacobian + 3 * m.n].reshape(3, m.n) for m, *_ in ends]
        for (_, one, sign), left in zip(ends, bases, strict=True):
            for (_, other, opposite), right in zip(ends, bases, strict=True):
                block = sign * opposite * left.T @ matrix @ right
                first = a.blocks[one, other]
                none[first : first + block.size] += block.ravel()
        return none

    @contextmanager
    def _weightless(self) -> Iterator[None]:
        """Bodies without weight."""
        rows = [table.rows for table in self.eq.tables.body_tables]
        kept = [table["gravity"].copy() for table in rows]
        try:
            for table in rows:
                table["gravity"] = 0.0
            yield
        finally:
            for table, gravity in zip(rows, kept, strict=True):
                table["gravity"] = gravity

    def _forces_of_bodies(self, v: Array) -> Array:
        """Weight, elastic and inertia forces of the bodies, without those of force elements."""
        q, _, z = self.state
        self.eq.update(self.t, q, v, z)
        whole = self.eq.work.force.copy()
        self._bodies(v, 0.0 * v)  # brings rates of markers up to date
        for stage in self.assembly.forces:
            for k in range(stage.count):
                whole -= self._generalized(self._force(stage, k)[2])
        return whole

    def _bodies(self, v: Array, v_rate: Array) -> tuple[Array, Array]:
        """Pools of what inertia, weight and elasticity of the bodies add."""
        a = self.assembly
        self.eq.work.v[:] = v
        a.v_rate[:], a.multipliers[:] = v_rate, 0.0
        self._clear()
        for stage in a.bodies:
            self._run(stage)
        return a.stiffness.copy(), a.damping.copy()

    def _force(self, stage: TableStage, k: int) -> tuple[Array, Array, Array]:
        """Pools of what the change of one force adds, and the force as loads of the markers."""
        a = self.assembly
        self._clear()
        for fill in a.fillers:
            fill(self.t)
        self.eq.work["tangent"] = a.record
        self.eq.run(stage.address, self.t, stage.table + k * stage.rows.itemsize, 1)
        if np.abs(a.by_reactions).max(initial=0.0) > 0.0:
            raise AnalysisError(
                f"{stage.elements[k].force}: while a joint slides its friction changes with all reactions, and has no "
                "share of energies by itself; ask for energies of modes about a state of rest, or without friction"
            )
        return a.stiffness.copy(), a.damping.copy(), a.loads.copy()

    def _share(
        self, name: str, part: str, load: Array, K: Array | None = None, R: Array | None = None, loads: Any = None
    ) -> TangentShare:
        """A load with its reactions, and what both of them do as bodies move."""
        a, eq = self.assembly, self.eq
        if np.abs(load).max(initial=0.0) <= NONE * self.largest:
            return self._plain(name, part, K, R)
        right = np.concatenate([load, self.none])
        multipliers = eq.solve(right)[eq.n_v :]
        self._clear()
        a.multipliers[:] = multipliers
        for fill in a.fillers:
            fill(self.t)
        for stage in a.constraints:
            self._run(stage)
        if loads is not None:
            a.loads += loads
        for stage in a.last:
            self._run(stage)
        K = a.stiffness + (0.0 if K is None else K)
        R = a.damping + (0.0 if R is None else R)
        reaction = eq.matrices()[1].T @ multipliers
        return TangentShare(name, part, a.matrix(K, False), a.matrix(R, False), reaction - load)

    def _plain(self, name: str, part: str, K: Array | None, R: Array | None) -> TangentShare:
        none = np.zeros(self.assembly.size)
        K, R = (self.assembly.matrix(none if pool is None else pool, False) for pool in (K, R))
        return TangentShare(name, part, K, R, np.zeros(self.eq.n_v))

    def _generalized(self, loads: Array) -> Array:
        """Q of loads of the markers, which are those in F."""
        force = np.zeros(self.eq.n_v)
        for k, m in enumerate(self.eq.tables.markers):
            basis = self.eq.work.jacobians[m.jacobian : m.jacobian + PLACE * m.n].reshape(PLACE, m.n)
            force[m.v : m.v + m.n] -= basis.T @ loads[PLACE * k : PLACE * (k + 1)]
        return force

    def _clear(self) -> None:
        a = self.assembly
        for array in (a.stiffness, a.damping, a.loads, a.velocity_stiffness, a.by_reactions):
            array[:] = 0.0

    def _run(self, stage: TableStage) -> None:
        self.eq.work["tangent"] = self.assembly.record
        self.eq.run(stage.address, self.t, stage.table, stage.count)
