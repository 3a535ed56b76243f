"""What the status of a stage means, in words: the culprit, what happened, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import SimulationError
from ..kernels import workspace as codes
from ..kernels.compiler.compile import PythonStage, run_stage
from ..kernels.stages import dynamics
from .redundancy import misfit_message
from .stages import UNBOUNDED

if TYPE_CHECKING:
    from .equations import Equations

Array = NDArray[np.float64]
Begun = tuple[float, Array]
"""When a step began, and in which state."""

RUNAWAY = 1e8  # lengths of the model per second, or rad/s: no mechanism moves that fast
SINGULAR = 1e-13  # smallest eigenvalue of a body's mass block, relative to the largest, that is none
SUDDEN = 1e100  # per second: an own state that changes so quickly grows beyond all bounds in any step
DEFORMED = (codes.SINGULAR, codes.NOT_FINITE, codes.STEP_TOO_SMALL, codes.NO_STEP)  # of a mass matrix that is none
UNEXPLAINED = (
    codes.SINGULAR,
    codes.NO_CONVERGENCE,
    codes.NOT_FINITE,
    codes.STEP_TOO_SMALL,
    codes.NO_STEP,
    codes.OWN_STATE,
)
"""What an element without a value may be behind."""
SHORTLY = np.logspace(-12.0, -2.0, 11)  # s after the last state, at which an element without a value is looked for;
# differences about a state, which tangents of users' forces are made of, reach some tenths of a millimetre ahead
PARTS = np.array([0.25, 0.5, 0.75, 1.0])  # of the step that failed, where it is looked for too
NO_CONVERGENCE = (
    "the constraint cannot be closed again: the mechanism may have reached a position that it cannot leave or enter; "
    "reduce the step, or check drivers, limits and loads there"
)
DIVERGED = (
    "the motion diverges: it is not finite any more, or faster than any mechanism; steps are too large for the forces, "
    "or a force has no value there: reduce dt, or use an integrator that chooses its steps, such as mb.DormandPrince()"
)


def failure(eq: Equations, status: int, before: Begun | None = None) -> Exception:
    """The error that a status stands for, at the last evaluated state; `before` is where the step began, if known."""
    t, culprit = float(eq.work["t"]), int(eq.work["culprit"])
    if status == PythonStage.FAILED:
        return eq.python_error(t)
    if status == codes.USER_METHOD:
        return eq.stages.user_error(t)
    if status == codes.NO_OUTPUT:
        return eq.stages.control.not_finite(culprit, t)
    if status == codes.SINGULAR_POSE and not diverged(eq):
        b = eq.body_of(culprit)
        _, rotation = b.formulation.poses(eq.work.q[None, b.q_slice])
        return SimulationError(b.formulation.singular_pose(rotation[0]), t, str(b.body))
    if status in DEFORMED and (error := deformed_beyond(eq, t)) is not None:
        return error
    wild = status in (codes.SINGULAR, codes.SINGULAR_POSE, codes.NOT_FINITE) and diverged(eq)
    if (wild or status in UNEXPLAINED) and (error := explained(eq, t, before)) is not None:
        return error
    if status == codes.OWN_STATE:
        return own_state(eq, t, culprit)
    if wild:
        return SimulationError(DIVERGED, t, eq.unknown_label(culprit))
    if status == codes.MISFIT and (diverged(eq) or open_by(eq) > 1.0):
        return SimulationError(DIVERGED, t, eq.row_label(culprit))
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


def explained(eq: Equations, t: float, before: Begun | None) -> SimulationError | None:
    """The error of the element that a step failed by, if there is one: at the last evaluated state, or shortly before.

    An element has no value there, or an own state grows beyond all bounds. Steps that were tried may have got there,
    failed and become shorter, until the last one left no trace of the reason: so it is looked for ahead of `before`.
    """
    if slow(eq) and (error := without_value(eq, t)) is not None:
        return error
    last = eq.work.y.copy()
    begun, y = before if before is not None else (t, last)
    if not np.all(np.isfinite(y)):
        return None
    try:
        look(eq, begun, y)
        run_stage(int(eq.work["accelerate"]), begun, eq.work.address, int(eq.work["accelerate_data"]), codes.MOTION)
        if (error := without_value(eq, begun)) is not None:
            return error
        if (state := unbounded(eq)) is not None:
            return own_state(eq, begun, state)
        rates = np.where(np.isfinite(eq.work.rates), eq.work.rates, 0.0)
        for later in (*SHORTLY, *(PARTS * (t - begun))):
            look(eq, begun + later, y + later * rates)
            if slow(eq) and (error := without_value(eq, begun + later)) is not None:
                return error
        return None
    finally:
        eq.set_state(*eq.split(last))


def look(eq: Equations, t: float, y: Array) -> None:
    """Evaluate a state; what is wrong there is looked for by name, so the status does not matter."""
    eq.set_state(*eq.split(y))
    run_stage(dynamics.evaluate.address, t, eq.work.address, 0, codes.DYNAMICS)


def without_value(eq: Equations, t: float) -> SimulationError | None:
    """The error of a function or an element that has no finite value at the last evaluated state, if there is one."""
    return eq.stages.control.without_value(t) or eq.stages.function_error(t) or eq.stages.not_finite(t)


def slow(eq: Equations) -> bool:
    """Whether forces were last asked for at speeds of a mechanism; beyond, they overflow since the motion diverges."""
    with np.errstate(over="ignore", invalid="ignore"):
        speed = np.linalg.norm(eq.tables.markers["velocity"], axis=-1).max(initial=0.0)
    return bool(speed <= RUNAWAY * max(1.0, eq.size))


def deformed_beyond(eq: Equations, t: float) -> SimulationError | None:
    """The error of a body whose equations do not hold any more where it is, if there is one."""
    for b in eq.tables.bodies:
        q = eq.work.q[b.q_slice]
        if np.all(np.isfinite(q)) and (message := b.formulation.beyond(q)):
            return SimulationError(message, t, str(b.body))
    return None


def diverged(eq: Equations) -> bool:
    """Whether the current state is that of no mechanism: not finite, or faster than any."""
    q, v = eq.work.q, eq.work.v
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
        return True
    return bool(np.abs(v).max(initial=0.0) > RUNAWAY * max(1.0, eq.size))


def open_by(eq: Equations) -> float:
    """The largest gap of a constraint at the last evaluated state, of the model's size or in rad."""
    return float(np.abs(eq.work.residual / eq.work.row_sizes).max(initial=0.0))


def unbounded(eq: Equations) -> int | None:
    """The own state that grows beyond all bounds, if there is one."""
    z, rate = np.abs(eq.work.z[: eq.n_own]), np.abs(eq.work.z_rate[: eq.n_own])
    with np.errstate(invalid="ignore"):
        found = ~np.isfinite(z) | ~(rate < SUDDEN) | ((z > UNBOUNDED) & (rate > UNBOUNDED * z))
    return int(np.argmax(found)) if np.any(found) else None


def own_state(eq: Equations, t: float, state: int) -> SimulationError:
    """The error of an element whose own state is not finite, or soon will not be."""
    z, rate = eq.work.z[state], eq.work.z_rate[state]
    message = (
        f"its own state grows beyond all bounds (it is {z:.3g}, its rate {rate:.3g}); check the sign and the size of "
        "its feedback, or reduce the step"
    )
    if unbounded(eq) is None:
        message = (
            f"its own state changes too quickly for steps of this size (it is {z:.3g}, its rate {rate:.3g}): reduce "
            "dt, or use RadauIIA(); if it grows without bounds, check the sign and the size of its feedback"
        )
    return SimulationError(message, t, eq.state_owner(state))


def massless(eq: Equations, velocity: int) -> bool:
    """Whether the body behind a velocity has no mass or inertia in some direction, as described."""
    b = eq.body_of(velocity)
    eq.update(0.0, *eq.split(eq.coordinates(eq.described())))
    block = eq.matrices(dense=True)[0][b.v_slice, b.v_slice]
    sizes = np.linalg.eigvalsh(block / np.abs(block).max())
    return bool(sizes[0] <= SINGULAR)
