"""What the status of a stage means, in words: the culprit, what happened, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import SimulationError
from ..kernels import workspace as codes
from ..kernels.compile import PythonStage
from .redundancy import misfit_message

if TYPE_CHECKING:
    from .equations import Equations

RUNAWAY = 1e8  # lengths of the model per second, or rad/s: no mechanism moves that fast
BEYOND = 1e8  # an own state of that size, growing by itself in less than 1/BEYOND s, has no bounds
SINGULAR = 1e-13  # smallest eigenvalue of a body's mass block, relative to the largest, that is none
NO_CONVERGENCE = (
    "the constraint cannot be closed again: the mechanism may have reached a position that it cannot leave or enter; "
    "reduce the step, or check drivers, limits and loads there"
)
DIVERGED = (
    "the motion diverges: it is not finite any more, or faster than any mechanism; steps are too large for the forces, "
    "or a force has no value there: reduce dt, or use an integrator that chooses its steps, such as mb.DormandPrince()"
)


def failure(eq: Equations, status: int) -> Exception:
    """The error that a status stands for, at the last evaluated state."""
    t, culprit = float(eq.work["t"]), int(eq.work["culprit"])
    if status == PythonStage.FAILED:
        return eq.python_error(t)
    if status == codes.USER_METHOD:
        return eq.stages.user_error(t)
    if status == codes.SINGULAR_POSE and not diverged(eq):
        b = eq.body_of(culprit)
        _, rotation = b.formulation.poses(eq.work.q[None, b.q_slice])
        return SimulationError(b.formulation.singular_pose(rotation[0]), t, str(b.body))
    if status == codes.OWN_STATE:
        return own_state(eq, t, culprit)
    if status in (codes.SINGULAR, codes.SINGULAR_POSE, codes.NOT_FINITE) and diverged(eq):
        return SimulationError(DIVERGED, t, eq.unknown_label(culprit))
    if status in (codes.NO_CONVERGENCE, codes.NOT_FINITE, codes.STEP_TOO_SMALL, codes.NO_STEP):
        for explained in (eq.stages.function_error, eq.stages.not_finite):
            if (error := explained(t)) is not None:
                return error
    if status in (codes.STEP_TOO_SMALL, codes.NO_STEP) and (state := unbounded(eq)) is not None:
        return own_state(eq, t, state)
    if status == codes.NO_CONVERGENCE:
        return SimulationError(NO_CONVERGENCE, t, eq.row_label(culprit))
    if status == codes.MISFIT:
        return SimulationError(misfit_message(eq), t, eq.row_label(culprit))
    if status == codes.SINGULAR:
        message = "the mass matrix is singular; give the body mass and inertia in all directions"
        if culprit >= eq.n_v or not massless(eq, culprit):
            message = DIVERGED
        return SimulationError(message, t, eq.unknown_label(culprit))
    if status == codes.NO_FRICTION:
        message = (
            "friction and reactions do not agree on a motion (the mechanism may lock): reduce the coefficient, or "
            "check the directions of the loads"
        )
        return SimulationError(message, t, eq.row_label(culprit))
    if status == codes.NOT_FINITE:
        message = "the acceleration is not a finite number; look at the forces on the body and at their parameters"
        return SimulationError(message, t, eq.unknown_label(culprit))
    if status == codes.NO_STEP:
        message = (
            "the equations of an implicit step could not be solved: reduce the step, or look for a force that jumps"
        )
        return SimulationError(message, t)
    if status == codes.STEP_TOO_SMALL:
        message = (
            "the step size became too small to go on; a force is too stiff or jumps for this integrator, or the "
            "tolerance is below rounding"
        )
        return SimulationError(message, t)
    raise AssertionError(f"a stage returned the unknown status {status}")


def diverged(eq: Equations) -> bool:
    """Whether the current state is that of no mechanism: not finite, or faster than any."""
    q, v = eq.work.q, eq.work.v
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
        return True
    return bool(np.abs(v).max(initial=0.0) > RUNAWAY * max(1.0, eq.size))


def unbounded(eq: Equations) -> int | None:
    """The own state that grows beyond all bounds, if there is one."""
    z, rate = np.abs(eq.work.z), np.abs(eq.work.z_rate)
    with np.errstate(invalid="ignore"):
        found = ~np.isfinite(z) | ~np.isfinite(rate) | ((z > BEYOND) & (rate > BEYOND * z))
    return int(np.argmax(found)) if np.any(found) else None


def own_state(eq: Equations, t: float, state: int) -> SimulationError:
    """The error of an element whose own state is not finite, or soon will not be."""
    message = (
        f"its own state grows beyond all bounds (it is {eq.work.z[state]:.3g}, its rate {eq.work.z_rate[state]:.3g}); "
        "check the sign and the size of its feedback, or reduce the step"
    )
    return SimulationError(message, t, eq.state_owner(state))


def massless(eq: Equations, velocity: int) -> bool:
    """Whether the body behind a velocity has no mass or inertia in some direction, as described."""
    b = eq.body_of(velocity)
    eq.evaluate(0.0, *eq.split(eq.coordinates(eq.described())))
    block = eq.matrices(dense=True)[0][b.v_slice, b.v_slice]
    sizes = np.linalg.eigvalsh(block / np.abs(block).max())
    return bool(sizes[0] <= SINGULAR)
