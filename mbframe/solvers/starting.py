"""Where a run starts: a consistent state, and what is refused before the first step."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..bodies.formulations.planar import PlanarFormulation
from ..bodies.point_mass import PointMass
from ..constraints.relations import MeasureTerm
from ..equations.equations import Equations
from ..equations.numbered import NumberedBody
from ..equations.redundancy import misaligned, misaligned_message
from ..errors import ModelError, Problem, SimulationError
from ..joints.coupled import ScrewJoint
from ..joints.driven import Drive
from ..joints.library import CylindricalJoint, PlanarJoint, PointOnLineJoint, TranslationalJoint
from ..joints.on_axis import AxisJoint
from ..parameters import Element
from ..registry import is_ours
from ..state import COUNTED, State
from ..system import System
from .stabilization import DirectCorrection

Array = NDArray[np.float64]

SAMPLES = 101  # instants at which drivers of the same measure are compared
CLOSED = 1e-10  # a described state with smaller violations is taken as it is
ROUNDING = 1e-12  # of the coordinates: points that are nearer to each other are one point
LARGEST_GAP = 1e-2  # of the model's size: larger gaps are mistakes, smaller ones are assembled
ASIDE = 0.05  # of the size of the model, or of an axis: how far off a derivative is compared
VANISHES = 1e-3  # part of the derivative there, below which it has none here


def counted_angles(eq: Equations, state: State) -> dict[str, float]:
    """Angles of bodies in the plane over turns, by name, as far as a state tells them.

    Its own count tells that of a body (`result.state`), and so do elements that count the turns between it and another
    body whose angle is known, or the ground.
    """
    bodies: list[Any] = [b.body for b in eq.tables.bodies if isinstance(b.formulation, PlanarFormulation)]
    described = {body: body.angle for body in bodies}
    counts = {body: state.element_states.get(f"{body.name}{COUNTED}") for body in bodies}
    turned: dict[Any, float] = {
        body: float(count[0]) - described[body] for body, count in counts.items() if count is not None
    }
    turned[eq.system.ground] = 0.0
    between = [
        (follower.owner.i.body, follower.owner.j.body, float(count[0]) - follower.start)
        for follower in eq.tables.followers
        if follower.label == COUNTED
        and (count := state.element_states.get(f"{follower.owner.name}{COUNTED}")) is not None
        and np.isfinite(count[0])
    ]
    before = 0
    while len(turned) > before:  # one element may tell the body by which another one knows its own
        before = len(turned)
        for i, j, turn in between:
            if i in turned:
                turned.setdefault(j, turned[i] + turn)
            elif j in turned:
                turned[i] = turned[j] - turn
    return {body.name: described[body] + turned[body] for body in bodies if body in turned}


def assembled(eq: Equations, state: State, given: bool = False) -> tuple[Array, list[str]]:
    """y of a state, made consistent with the constraints, and what had to be moved for that.

    `given` says that the state came from the user, and not from the description of the model.

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
        field, remedy = "at", "move a body or the joint's points so that they meet"
        if given:
            field, remedy = "initial", "give a state of this system as it is now"
        message = (
            "does not close: its equations are violated by {:.3g} (m, or rad), where the model measures {:.3g} m; {}"
        )
        open_joints = [(owner, value) for owner, value in gaps[:10] if value > gaps[0][1] / 10]
        if driven := [driver_gap(owner, state.t, value) for owner, value in open_joints if isinstance(owner, Drive)]:
            raise ModelError(driven)
        fields = ["at_j" if getattr(owner, "is_local", False) and not given else field for owner, _ in open_joints]
        raise ModelError(
            [
                Problem(str(owner), place, message.format(value, size, remedy))
                for (owner, value), place in zip(open_joints, fields, strict=True)
            ]
        )
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
    """What to say about joints that slide along a flexible body on a line or a plane that does not bend with it."""
    along: dict[type, str] = {
        CylindricalJoint: "use a SleeveJoint to follow its axis",
        TranslationalJoint: "use a KeyedSleeveJoint to follow its axis",
        PointOnLineJoint: "use a PointOnAxisJoint to follow its axis",
        ScrewJoint: "use a SleeveJoint to follow its axis, which has no thread, or let the nut travel little",
        PlanarJoint: "use a SleeveJoint to follow a row of its nodes, or let what slides travel little",
    }
    found = [
        f"{joint}: slides on a straight {_guide(joint)} fixed to the node of {joint.i.body} at {joint.i.at.tolist()}, "
        f"however that bends; {along[type(joint)]}"
        for joint in system.joints
        if type(joint) in along and _slides_on(joint, joint.i)
    ]
    return found + [
        f"{joint}: slides on the straight {_guide(joint)} of {joint.i.body}, its first body, and {joint.j.body} is "
        "held at one node; if that is the rail, exchange the bodies and "
        + along.get(type(joint), f"use a {type(joint).__name__}")
        for joint in system.joints
        if isinstance(joint, (*along, AxisJoint))
        and not isinstance(joint.i.body, FlexibleBody)
        and joint.i.body is not system.ground
        and _slides_on(joint, joint.j)
    ]


def _guide(joint: Any) -> str:
    return "plane" if isinstance(joint, PlanarJoint) else "line"


def _slides_on(joint: Any, marker: Any) -> bool:
    """Whether the body of a marker is flexible and has several nodes on the line or the plane that a joint has there.

    The line is the third axis of the marker, the plane is normal to it.
    """
    body = marker.body
    if not isinstance(body, FlexibleBody):
        return False
    direction = body.rotation.T @ np.asarray(marker.axes, float)[:, 2]
    place = body.modes.component.positions[body.node_at(marker.at)]
    nodes = body.nodes_across if isinstance(joint, PlanarJoint) else body.nodes_along
    return len(nodes(place, direction)) > 1


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
    """How large the model is, m: the longest side of a box around its bodies and markers, or a body's own reach."""
    positions = np.array([m.position for m in state.motions.values()])
    points = np.concatenate([positions, eq.tables.markers["position"]])
    found = max(float(np.max(np.ptp(points, axis=0), initial=0.0)), *map(_reach, eq.tables.bodies), 0.0)
    return found if found > ROUNDING * float(np.max(np.abs(points), initial=0.0)) else 1.0


def _reach(b: NumberedBody) -> float:
    """How far the mass of a body lies from its origin, m: its radius of gyration there."""
    mass, centre, inertia = b.body.mass_properties()
    return math.sqrt(centre @ centre + 0.5 * sum(inertia.diagonal().tolist()) / mass) if mass > 0.0 else 0.0


def ambiguous_friction(eq: Equations, t: float, y: Array) -> list[str]:
    """Frictions whose joints have reactions that dependent constraints leave open, in words."""
    frictions: list[Any] = [f.force for f in eq.tables.forces if f.force.reactive]
    if not frictions:
        return []
    eq.accelerate(t, *eq.split(y))
    if not eq.factor_record["left_out"]:
        return []
    left, sizes, _ = np.linalg.svd(eq.evaluate(t, *eq.split(y)).jacobian.toarray())
    open_rows = left[:, np.count_nonzero(sizes > 1e-9 * sizes[0]) :]
    return [
        f"{force}: {force.joint} has a reaction that is not unique, because constraints depend on each other; friction "
        "takes the reactions of least norm, as if all joints were equally stiff: where others are meant remove the "
        "dependent constraints, or put a bushing in the place of a joint"
        for force in frictions
        if any(np.any(np.abs(open_rows[c.rows]) > 1e-6) for c in eq.tables.constraints if c.owner is force.joint)
    ]


def refuse_misaligned_joints(eq: Equations, t: float, y: Array) -> None:
    """Refuse joints that would be redundant if they fitted: they lock what they are meant to leave free."""
    try:
        joints = misaligned(eq, t, y)
    except (SimulationError, np.linalg.LinAlgError):  # what is wrong there the run says, with what it could compute
        return
    if joints:
        raise ModelError([Problem(str(joints[-1]), "axis", misaligned_message(joints))])


def vanishing_equations(eq: Equations, t: float, y: Array) -> list[str]:
    """Refuse equations of users whose derivatives vanish where they hold; returns warnings about those of nothing.

    The square or the absolute value of an equation vanishes where the equation does, but its derivative does too: there
    is no direction in which a reaction could act.
    """
    users = [c for c in eq.tables.constraints if not is_ours(type(c.constraint)) and not c.constraint.nonholonomic]
    if not users:
        return []
    eq.update(t, *eq.split(y))
    random, warnings, problems = np.random.default_rng(3), [], []
    for c in users:
        here = [eq.tables.markers[m].copy() for m in (c.i, c.j)]
        beside = [marker.copy() for marker in here]
        for marker in beside:
            marker.position += ASIDE * eq.size * random.normal(size=3)
            marker.axes += ASIDE * random.normal(size=(3, 3))
        sizes, others = (np.linalg.norm(eq.stages.gradient(c, t, *pair), axis=1) for pair in (here, beside))
        if np.any(sizes < VANISHES * others):
            message = (
                "its derivative vanishes where it is fulfilled, so that nothing holds it there; give an equation that "
                "changes its sign, such as x - a in place of (x - a)**2 or abs(x - a)"
            )
            problems.append(Problem(str(c.owner), "residual", message))
        elif np.any((sizes == 0.0) & (others == 0.0)):
            warnings.append(
                f"{c.owner}: an equation of its residual depends on no position, so that it holds nothing; remove it"
            )
    if problems:
        raise ModelError(problems)
    return warnings


def refuse_conflicting_drivers(eq: Equations, start: float, end: float) -> None:
    """Drivers of the same measure must ask for the same; sampled, because functions cannot be compared otherwise."""
    driven: list[tuple[Drive, str, Any, tuple[int, int]]] = []
    terms = Counter(c.row for c in eq.tables.constraints)
    for c in eq.tables.constraints:
        if isinstance(c.owner, Drive) and isinstance(c.constraint, MeasureTerm) and terms[c.row] == 1:
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
