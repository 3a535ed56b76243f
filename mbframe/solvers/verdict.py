"""What a run says about itself when it is over: doubts about its motion that only its states can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..equations.equations import Equations
from ..equations.redundancy import held_fast, kept_gap, listed, lost_beside_heavy, open_dependency
from ..forces.contact import SphereSphereContact
from ..forces.friction import Friction
from ..joints.library import ConstantVelocityJoint
from ..kernels.stages import dynamics
from ..kernels.workspace import DYNAMICS, POSITION
from ..results import Info, Result, twists_of_bodies
from . import balance
from .acceleration import Acceleration, UdwadiaKalaba
from .integrators import Integrator
from .stabilization import Stabilization

if TYPE_CHECKING:
    from ..system import System
    from .output import Output

Array = NDArray[np.float64]
Samples = tuple[Array, Array]
"""Some instants of a run, and the states there."""

GAP_SAMPLES = 8  # states of a run without corrections at which redundant joints are compared
WIDE = 1e-2  # of the model's size, or rad: a joint that is open by more is none, whatever its energy says
ROUNDING = 1e-13  # of the model's size: smaller gaps between them are none
LARGEST_TURN = 1.0  # rad in a step: quaternions of RungeKutta4 are then off by 5e-4 a step


def of_samples(
    eq: Equations,
    samples: Samples,
    dt: float | None,
    integrator: Integrator,
    acceleration: Acceleration,
    stabilization: Stabilization,
    same: bool,
) -> list[str]:
    """What some states of a run tell; of energies only if the model was the `same` all the time."""
    notes = []
    if eq.factor_record["dependent"]:
        notes += dependent(eq, samples, acceleration)
        notes += gaps(eq, samples, stabilization)
    held = stabilization.corrects
    if not held:
        notes += opened(eq, samples)
    if same:
        notes += balance.remarks(eq, *samples, integrator, held)
    if dt is not None and not integrator.adaptive and eq.system.dimension == 3:
        notes += whirled(eq, samples[1], dt)
    return notes


def asks_for_all(system: System) -> bool:
    """Whether some element can only be judged by all stored states."""
    judged = (FlexibleBody, ConstantVelocityJoint, SphereSphereContact, Friction)
    return any(isinstance(element, judged) for element in system)


def of_result(eq: Equations, result: Result, output: Output) -> list[str]:
    """What all stored states tell."""
    notes = []
    if any(isinstance(body, FlexibleBody) for body in eq.system.bodies):
        from .flexible_range import run_remarks  # late: it loads finite elements and SciPy

        notes += run_remarks(eq, result, output.seen())
    for joint in eq.system.joints:
        if isinstance(joint, ConstantVelocityJoint):
            axes = (result.rotation_matrix(marker) for marker in (joint.i, joint.j))
            notes += joint.remarks(result.t, *axes)
    for force in eq.system.forces:
        if isinstance(force, SphereSphereContact):
            centres = (result.position(marker) for marker in (force.i, force.j))
            notes += force.judged(result.t, *centres)
        if isinstance(force, Friction):
            samples = output.samples()
            reactions = eq.reactions(force.joint.name, *samples, Result(eq, *samples, Info()).multipliers)
            notes += force.judged(*reactions, float(eq.work.row_sizes.max()))
    return notes


def dependent(eq: Equations, samples: Samples, acceleration: Acceleration) -> list[str]:
    """What to say about equations that could not be told apart, from some states of the motion."""
    t, y = samples
    for k in range(0, len(t), max(1, len(t) // GAP_SAMPLES)):
        joints = lost_beside_heavy(eq, t[k], y[k])
        if joints is None:
            break
        if joints:
            other = "acceleration=mb.AugmentedFormulation() and " if isinstance(acceleration, UdwadiaKalaba) else ""
            return [
                f"masses differ so much that the equations of {listed(joints)} can hardly be told from dependent "
                f"ones: digits of motion and reactions are lost; use {other}formulation=mb.NewtonEuler(), or "
                "masses that differ by less than 1e9"
            ]
    locked = held_fast(eq, t[0], y[0]) if len(t) else ""
    return [locked] * bool(locked) + [
        "constraints depend on each other (or did at some instant): the motion is unique, but reactions are those of "
        "minimum norm"
    ]


def gaps(eq: Equations, samples: Samples, stabilization: Stabilization) -> list[str]:
    """What to say about redundant joints that do not fit exactly, from some states of the motion."""
    t, y = samples
    gap = float(eq.work["gap"])
    some = slice(-1, None) if stabilization.corrects else slice(None, None, max(1, len(t) // GAP_SAMPLES))
    for instant, state in zip(t[some], y[some], strict=True):
        eq.set_state(*eq.split(state))
        eq.run(dynamics.evaluate.address, float(instant), n=DYNAMICS)  # without matrices
        if not stabilization.corrects:
            gap = max(gap, open_dependency(eq))
    return [kept_gap(eq, gap)] if len(t) and gap > ROUNDING else []


def opened(eq: Equations, samples: Samples) -> list[str]:
    """What to say of joints that have drifted apart in a run without corrections, from some of its states."""
    widest, said = WIDE, ""
    for instant, state in zip(*samples, strict=True):
        if not np.isfinite(state).all():
            break
        eq.set_state(*eq.split(state))
        eq.run(dynamics.evaluate.address, float(instant), n=POSITION)
        open_by = np.abs(eq.work.residual / eq.work.row_sizes)
        if open_by.max(initial=0.0) > widest:
            row = int(np.argmax(open_by))
            widest = float(open_by[row])
            said = f"the equations of {eq.row_label(row)} are open by {widest:.2g} at t = {instant:.6g} s"
    remedy = "use stabilization=mb.DirectCorrection(), or smaller steps"
    return [f"{said} (of the model's size, or rad), since nothing corrects their drift: {remedy}"] if said else []


def whirled(eq: Equations, y: Array, dt: float) -> list[str]:
    """What to say of bodies that turn too far in a step for any formula, though their energy may be kept.

    Of some states y of the motion.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of a motion that goes to infinity
        spins = twists_of_bodies(eq, y)[1]
        turns = dt * np.sqrt((spins * spins).sum(axis=2).max(axis=1, initial=0.0))
    return [
        f"{b.body} turns by up to {turn:.2g} rad in a step of {dt:g} s, which falsifies its angles; reduce dt "
        f"below {0.5 * dt * LARGEST_TURN / turn:.1g} s"
        for b, turn in zip(eq.tables.bodies, turns.tolist(), strict=True)
        if LARGEST_TURN < turn < np.inf
    ]
