"""Modes as motions with closed joints: fast enough to be shown while they are computed.

What computes is imported where it is used, as for `mobility.free_motions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...bodies.base import Body
from ...bodies.formulations import NewtonEuler, PlanarAngle

if TYPE_CHECKING:
    from ...results import Result
    from ...state import State
    from .linearize import Linearization, Mode

CLOSED = 1e-9  # relative to the size of the model; far below a pixel
CHORDS = 40
ROUNDS = 6  # halvings of an amplitude that the mechanism cannot reach
DAMPING = 1e-12
WIDE = 0.35  # rad: the largest turn that is shown to begin with
FAR = 0.15  # of the model's size: the largest displacement
UNHURRIED = 2.5  # s that a cycle lasts of a mode without a frequency
FOLDS = 2.0  # time constants that a growing or decaying motion is shown for


def cycle_duration(mode: Mode) -> float:
    """Duration of a cycle of a mode in its own time, s; one that suits the eye where it has no frequency."""
    root = mode.eigenvalue
    if root.imag:
        return float(2.0 * np.pi / abs(root.imag))
    if root.real and not mode.ignorable:
        return float(2.0 * FOLDS / abs(root.real))
    return UNHURRIED


def cycle(mode: Mode, frames: int, amplitude: float) -> Result:
    """One cycle of a mode as a result, in so many equal steps."""
    from ...results import Info, Result

    motion = ModeMotion(mode.linearization)
    size = amplitude * motion.amplitude(mode)
    states = [motion.state(mode, size, 2.0 * np.pi * (k % frames) / frames) for k in range(frames + 1)]
    t = mode.linearization.state.t + np.linspace(0.0, cycle_duration(mode), frames + 1)
    return Result(motion.eq, t, np.array([motion.eq.coordinates(state) for state in states]), Info())


class ModeMotion:
    """States along the modes of a linearization, with the joints closed.

    A displacement of finite size along a mode opens joints by its square. They are closed by Newton's method with the
    matrices of the reference state, d = -M^-1 J^T (J M^-1 J^T)^-1 C, which are factorized once.
    """

    def __init__(self, linearization: Linearization) -> None:
        import scipy.sparse as sparse
        from scipy.sparse.linalg import splu

        from ...equations.equations import Equations
        from ...solvers.starting import extent

        self.linearization = linearization
        self._joints = joints_of(linearization.system)
        system, state = linearization.system, linearization.state
        self.eq = Equations(system, NewtonEuler() if system.dimension == 3 else PlanarAngle())
        self.size = max(extent(self.eq, state), 1e-9)
        q, v, z = self.eq.split(self.eq.coordinates(state))
        e = self.eq.evaluate(state.t, q, v, z)
        n = self.eq.tables.n_holonomic
        blocks = [np.linalg.pinv(e.mass[b.v_slice, b.v_slice].toarray()) for b in self.eq.tables.bodies]
        jacobian = e.jacobian[:n]
        self.spread = sparse.block_diag([sparse.coo_array(block) for block in blocks], format="csr") @ jacobian.T
        matrix = (jacobian @ self.spread).tocsc()
        scale = matrix.diagonal()
        scale[scale <= 0.0] = 1.0
        self.factors = splu(matrix + DAMPING * sparse.diags_array(scale, format="csc")) if n else None
        self.rows = n

    def follow(self, linearization: Linearization) -> bool:
        """Go on with another linearization if its joints are the same, which saves most of the work; whether so."""
        if linearization is not self.linearization and joints_of(linearization.system) != self._joints:
            return False
        self.linearization = linearization
        return True

    def amplitude(self, mode: Mode) -> float:
        """An amplitude at which the mode is seen well."""
        turn = max((float(np.abs(part.rotation).max()) for part in mode.shape.values()), default=0.0)
        shift = max((float(np.abs(part.translation).max()) for part in mode.shape.values()), default=0.0)
        return min(WIDE / max(turn, 1e-12), FAR * self.size / max(shift, 1e-12), 1e6)

    def state(self, mode: Mode, amplitude: float, phase: float) -> State:
        """The reference state displaced by Re(amplitude exp(i phase) shape), or less far where joints end the way."""
        for _ in range(ROUNDS):
            moved = mode.state(amplitude, phase, assembled=False)
            closed = self._closed(moved)
            if closed is not None:
                return closed
            amplitude *= 0.5
        return self.linearization.state

    def _closed(self, state: State) -> State | None:
        if self.factors is None:
            return state
        q, v, z = self.eq.split(self.eq.coordinates(state))
        for _ in range(CHORDS):
            y = np.concatenate([q, v, z])
            residual = self.eq.violation(state.t, y)[0][: self.rows]
            gap = float(np.abs(residual).max())
            if gap <= CLOSED * max(1.0, self.size):
                return self.eq.state(state.t, y)
            if not np.isfinite(gap):
                return None
            q = self.eq.displaced(q, -self.spread @ self.factors.solve(residual))
        return None


def joints_of(system: Any) -> tuple[Any, ...]:
    """All that decides on whether joints are closed: equal for systems with the same joints at the same places."""
    forces = set(map(id, system.forces))
    values_of = []
    for element in system:
        fields = ("position", "rotation", "angle") if isinstance(element, Body) else tuple(element.parameters())
        if id(element) not in forces:
            values = [getattr(element, field, None) for field in fields]
            values_of.append((element.name, *(v.tobytes() if isinstance(v, np.ndarray) else _plain(v) for v in values)))
    return tuple(values_of)


def _plain(value: Any) -> Any:
    return getattr(value, "name", None) or repr(value)
