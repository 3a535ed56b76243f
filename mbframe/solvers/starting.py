"""Where a run starts: a consistent state, and what is refused before the first step."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..bodies.point_mass import PointMass
from ..constraints.relations import MeasureTerm
from ..equations.equations import Equations
from ..equations.redundancy import misaligned, misaligned_message
from ..errors import ModelError, Problem, SimulationError
from ..joints.driven import Drive
from ..joints.library import CylindricalJoint, PointOnLineJoint, TranslationalJoint
from ..joints.on_axis import KeyedSleeveJoint, PointOnAxisJoint, SleeveJoint
from ..parameters import Element
from ..state import State
from ..system import System
from .stabilization import DirectCorrection

Array = NDArray[np.float64]

SAMPLES = 101  # instants at which drivers of the same measure are compared
CLOSED = 1e-10  # a described state with smaller violations is taken as it is
LARGEST_GAP = 1e-2  # of the model's size: larger gaps are mistakes, smaller ones are assembled


def assembled(eq: Equations, state: State) -> tuple[Array, list[str]]:
    """y of a state, made consistent with the constraints, and what had to be moved for that.

    A gap of more than `LARGEST_GAP` times the size of the model is an error that names the joint (the ten worst).
    """
    y = eq.coordinates(state)
    residual, rate = eq.violation(state.t, y)
    gap, speed = float(np.linalg.norm(residual)), float(np.linalg.norm(rate))
    if not gap > CLOSED and not speed > CLOSED:
        return y, []
    size = extent(eq, state)
    gaps = joint_norms(eq, residual)
    if gap > LARGEST_GAP * size:
        message = (
            "does not close: its equations are violated by {:.3g} (m, or rad), where the model measures {:.3g} m; "
            "move a body or the joint's points so that they meet"
        )
        open_joints = [(owner, value) for owner, value in gaps[:10] if value > gaps[0][1] / 10]
        if driven := [driver_gap(owner, state.t, value) for owner, value in open_joints if isinstance(owner, Drive)]:
            raise ModelError(driven)
        raise ModelError([Problem(str(owner), "at", message.format(value, size)) for owner, value in open_joints])
    try:
        q, v = DirectCorrection().correct(eq, state.t, *eq.split(y)[:2])
    except SimulationError as error:
        if error.__cause__ is not None:  # a user's method raised: not a matter of consistency
            raise
        message = f"the initial state cannot be made consistent; {error.message}"
        raise ModelError([Problem(str(error.culprit), "", message)]) from error
    corrected = np.concatenate([q, v, eq.split(y)[2]])
    notes = []
    if gap > CLOSED:
        moved = {
            name: float(np.linalg.norm(after.position - state.motions[name].position))
            for name, after in eq.state(state.t, corrected).motions.items()
        }
        farthest = max(moved, key=lambda name: moved[name])
        notes.append(
            f"the initial position violated {gaps[0][0]} by {gaps[0][1]:.3g}; it was assembled, and {farthest!r} moved "
            f"most, by {moved[farthest]:.3g} m"
        )
    if speed > CLOSED:
        owner, value = joint_norms(eq, rate)[0]
        change = float(np.max(np.abs(v - eq.split(y)[1])))
        notes.append(
            f"the initial velocities violated {owner} by {value:.3g}; they were projected, by at most {change:.3g} "
            "(m/s or rad/s)"
        )
    return corrected, notes


def clamped_points(system: System) -> list[str]:
    """What to say about joints that hold a point mass by a point away from it, as a clamp would."""
    notes = []
    for joint in system.joints:
        for marker in (joint.i, joint.j):
            if isinstance(marker.body, PointMass):
                arm = float(np.linalg.norm(marker.at - marker.body.position))
                if arm > CLOSED:
                    notes.append(
                        f"{joint}: {marker.body} does not turn, so that a point {arm:.3g} m away from it moves as it "
                        "does; put the joint at the mass, or use a RigidBody or a DistanceJoint"
                    )
    return notes


def rigid_lines(system: System) -> list[str]:
    """What to say about joints that slide along a flexible body on a line that does not bend with it."""
    along: dict[type, type] = {
        CylindricalJoint: SleeveJoint,
        TranslationalJoint: KeyedSleeveJoint,
        PointOnLineJoint: PointOnAxisJoint,
    }
    return [
        f"{joint}: slides on a straight line fixed to the node of {joint.i.body} at {joint.i.at.tolist()}, however "
        f"that bends; use a {along[type(joint)].__name__} to follow its axis"
        for joint in system.joints
        if type(joint) in along and isinstance(joint.i.body, FlexibleBody)
    ]


def driver_gap(driver: Drive, t: float, gap: float) -> Problem:
    """What to say where a driver asks for another position than the initial one."""
    functions = driver.functions()
    values = ", ".join(f"{name} = {function(t):.6g}" for name, function in functions.items())
    return driver.problem(
        next(iter(functions)),
        f"asks for {values} at t = {t:g} s, which the initial position misses by {gap:.3g} (m, or rad); let the "
        "function begin where the bodies are described, or pass initial=mb.assemble(system)",
    )


def extent(eq: Equations, state: State) -> float:
    """How large the model is, m: the longest side of a box around its bodies and markers."""
    positions = np.array([m.position for m in state.motions.values()])
    points = np.concatenate([positions, eq.tables.markers["position"]])
    return float(np.max(np.ptp(points, axis=0), initial=0.0)) or 1.0


def refuse_ambiguous_friction(eq: Equations, t: float, y: Array) -> None:
    """Friction needs the reaction of its joint: refuse it where dependent constraints leave that reaction open."""
    frictions: list[Any] = [f.force for f in eq.tables.forces if f.force.reactive]
    if not frictions:
        return
    eq.accelerate(t, *eq.split(y))
    if not eq.factor_record["left_out"]:
        return
    left, sizes, _ = np.linalg.svd(eq.evaluate(t, *eq.split(y)).jacobian.toarray())
    open_rows = left[:, np.count_nonzero(sizes > 1e-9 * sizes[0]) :]
    problems = [
        force.problem("joint", f"{force.joint} has a reaction that is not unique; remove the dependent constraints")
        for force in frictions
        if any(np.any(np.abs(open_rows[c.rows]) > 1e-6) for c in eq.tables.constraints if c.owner is force.joint)
    ]
    if problems:
        raise ModelError(problems)


def refuse_misaligned_joints(eq: Equations, t: float, y: Array) -> None:
    """Refuse joints that would be redundant if they fitted: they lock what they are meant to leave free."""
    try:
        joints = misaligned(eq, t, y)
    except (SimulationError, np.linalg.LinAlgError):  # what is wrong there the run says, with what it could compute
        return
    if joints:
        raise ModelError([Problem(str(joints[-1]), "axis", misaligned_message(joints))])


def refuse_conflicting_drivers(eq: Equations, start: float, end: float) -> None:
    """Drivers of the same measure must ask for the same; sampled, because functions cannot be compared otherwise."""
    driven: list[tuple[Drive, str, Any, tuple[int, int]]] = []
    for c in eq.tables.constraints:
        if isinstance(c.owner, Drive) and isinstance(c.constraint, MeasureTerm):
            field = next(name for name, f in c.owner.functions().items() if f == c.constraint.motion)
            driven.append((c.owner, field, c.constraint, (c.i, c.j)))
    times = np.linspace(start, end, SAMPLES)
    problems = []
    for (one, field, a, at), (other, _, b, there) in combinations(reversed(driven), 2):
        if type(a) is type(b) and at == there:
            wanted = a.start + a.motion(times)
            gap = np.abs(wanted - b.start - b.motion(times))
            if gap.max() > CLOSED * (1.0 + np.abs(wanted).max()):
                t = times[np.argmax(gap > 0.5 * gap.max())]
                message = f"contradicts {other} (by t = {t:.3g} s at the latest); remove one of them"
                problems.append(one.problem(field, message))
    if problems:
        raise ModelError(problems)


def joint_norms(eq: Equations, values: Array) -> list[tuple[Element, float]]:
    """Norm of the given row values by joint (or body), largest first."""
    rows = eq.owned_rows().items()
    norms = [(owner, float(np.linalg.norm(values[own[own < len(values)]]))) for owner, own in rows]
    return sorted(norms, key=lambda pair: -pair[1])
