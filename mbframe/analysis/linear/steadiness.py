"""Whether a state is an equilibrium or part of a steady motion, and whether the coefficients stay what they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...abilities import functions_of
from ...bodies.flexible import FlexibleBody
from ...equations.equations import Equations
from ...equations.redundancy import DEPENDENT
from ...errors import AnalysisError
from ...plane import lifted
from ...registry import is_ours
from ...rotations import matrix_from_vector, skew
from ...solvers.schedule import time_functions
from ...solvers.starting import extent, joint_norms
from ...state import Motion, State
from ..mobility.null_space import null_space
from ..states.own_states import acting_states
from .linear_equations import LinearEquations, OperatingPoint, TurningFrame, linear_equations, variations

Array = NDArray[np.float64]

CLOSED = 1e-7  # largest violation of a constraint, and of its rate, relative to the size and speed of the model
STEADY = 1e-6  # largest unsteady acceleration, relative to gravity and the accelerations of the motion
BALANCED = 1e-11  # part of the loads on a body that rounding may leave without balance
POSITIONED = 1e-15  # of the size of the model: how exactly positions are known
CONSTANT = 1e-7  # largest relative change of the coefficients along the motion
ROUNDING = 1e-6  # part of a matrix below which a projection of it may be rounding: CONSTANT of that is 1e-13
STILL = 1e-9  # rates that are rounding, relative to those of the turn and of a pendulum as long as the model
TURN = 1.0  # rad: how far the fastest wheel turns until the coefficients are compared
LATER = 0.777  # s; no part of a period that anyone would choose
EPSILON = 1e-15  # components of an axis that are rounding
LISTED = 5  # bodies named in a message


def check_closed(eq: Equations, state: State, y: Array | None = None) -> None:
    """Refuse a state that violates the constraints; `y` are its coordinates, if they are known."""
    residual, rate = eq.violation(state.t, eq.coordinates(state) if y is None else y)
    if max(np.linalg.norm(residual), np.linalg.norm(rate)) <= CLOSED:
        return
    size = max(1.0, extent(eq, state))
    speed = max(1.0, _largest(state, np.zeros(3))[0])
    for values, scale, unit in ((residual, size, "(m, or rad)"), (rate, speed, "(m/s, or rad/s)")):
        if np.linalg.norm(values) <= CLOSED * scale:
            continue
        broken = [(owner, norm) for owner, norm in joint_norms(eq, values) if norm > CLOSED * scale]
        if broken:
            listed = ", ".join(f"{owner} {norm:.3g}" for owner, norm in broken[:LISTED])
            what = "positions" if values is residual else "velocities"
            raise AnalysisError(
                f"the {what} violate the constraints: {listed} {unit}; a linearization needs a consistent state: pass "
                "mb.assemble(system), or a state found by mb.equilibrium or mb.steady"
            )


def unsteadiness(point: OperatingPoint, frame: TurningFrame) -> dict[str, tuple[float, float]]:
    """|r'' - Omega x r'| (m/s^2) and |w' - Omega x w| (rad/s^2) of each body."""
    names = list(point.accelerations)
    motions = [point.state.motions[name] for name in names]
    turn = skew(frame.angular_velocity).T
    left = []
    for kind, velocities in enumerate(([m.velocity for m in motions], [m.angular_velocity for m in motions])):
        accelerations = np.array([point.accelerations[name][kind] for name in names])
        left.append(np.linalg.norm(accelerations - np.array(velocities) @ turn, axis=1).tolist())
    return dict(zip(names, zip(*left, strict=True), strict=True))


def check_steady(point: OperatingPoint, frame: TurningFrame) -> None:
    """Refuse a state that is neither an equilibrium nor part of a motion that is steady in the frame."""
    limits = _limits(point, frame)
    found = unsteadiness(point, frame)
    _check_own_states(point)
    unsteady = {
        name: sizes for name, sizes in found.items() if sizes[0] > STEADY * limits[0] or sizes[1] > STEADY * limits[1]
    }
    if unsteady:
        rounded = _rounded(point, frame)
        unsteady = {name: (a, b) for name, (a, b) in unsteady.items() if a > rounded[name][0] or b > rounded[name][1]}
    if not unsteady:
        return
    worst = sorted(unsteady.items(), key=lambda item: -max(item[1][0] / limits[0], item[1][1] / limits[1]))
    listed = "; ".join(f"{name!r} {a:.3g} m/s^2 and {alpha:.3g} rad/s^2" for name, (a, alpha) in worst[:LISTED])
    more = f" (and {len(worst) - LISTED} more)" if len(worst) > LISTED else ""
    raise AnalysisError(
        "the state is neither an equilibrium nor part of a steady motion; left over are accelerations "
        f"r'' - Omega x r' and w' - Omega x w of {listed}{more}; {_remedy(point)}"
    )


def _rounded(point: OperatingPoint, frame: TurningFrame) -> dict[str, tuple[float, float]]:
    """Accelerations (m/s^2, rad/s^2) of each body that are rounding of its loads, whatever gravity is.

    BALANCED of what its loads do to a body by itself, and what stiffnesses make of rounded positions.
    """
    e = linear_equations(point, frame, dense=False)
    P = variations(point, frame, dense=False)[1]
    loads = np.abs(P.T @ point.eq.work.force)
    motions = np.ones(e.size)
    for name, place in e.places.items():
        motions[place.start : place.start + 3] = point.size
        motions[place.start + 6 : place.stop] = np.abs(point.state.motions[name].modal_coordinates)
    left = BALANCED * loads + POSITIONED * (np.abs(e.stiffness) @ motions)
    found = {}
    for name, place in e.places.items():
        reaches = e.reaches[place]
        mass = e.mass[place, place].toarray() / reaches / reaches[:, None]
        own = np.abs(np.linalg.pinv(mass, hermitian=True)) @ (left[place] / reaches) / reaches
        found[name] = float(np.linalg.norm(own[:3])), float(np.linalg.norm(own[3:6]))
    return found


def _check_own_states(point: OperatingPoint) -> None:
    """Refuse own states of force elements that change, unless nothing depends on them."""
    having = point.eq.tables.stateful
    if not having:
        return
    point.eq.update(point.state.t, point.q, point.v, point.z)
    acting = acting_states(point.eq, point.state.t)
    for one in having:
        rates = point.z_rate[one.states][acting[one.element.name]]
        if np.abs(rates).max(initial=0.0) > STEADY:
            raise AnalysisError(
                f"the own states of {one.element} are not at rest, they change with {rates.tolist()} per second; set "
                "them in state.element_states, or simulate until they have settled"
            )


def inexact(point: OperatingPoint, frame: TurningFrame) -> float:
    """How far a state is from meeting its constraints and from being steady, in relative terms."""
    eq, state = point.eq, point.state
    residual, rate = eq.violation(state.t, np.concatenate([point.q, point.v, point.z]))
    speed = _largest(state, np.zeros(3))[0]
    found = [np.linalg.norm(residual) / max(1.0, point.size), np.linalg.norm(rate) / max(1.0, speed)]
    for sizes, limit in zip(zip(*unsteadiness(point, frame).values(), strict=True), _limits(point, frame), strict=True):
        found.append(max(sizes) / limit)
    return float(max(found))


def _limits(point: OperatingPoint, frame: TurningFrame) -> tuple[float, float]:
    """Sizes of acceleration and angular acceleration in which an unsteady part is measured."""
    gravity = float(np.linalg.norm(point.eq.system.gravity))
    speed, spin = _largest(point.state, np.zeros(3))
    size = point.size
    turn = abs(frame.rate) if abs(frame.rate) > STILL * spin else 0.0
    linear = max(gravity, turn * max(speed, spin * size)) or 1.0
    return linear, linear / size


def _largest(state: State, turn: Array) -> tuple[float, float]:
    """The largest speed of a body, and the largest angular velocity against one that is given."""
    velocities = np.array([(m.velocity, m.angular_velocity - turn) for m in state.motions.values()])
    speed, spin = np.sqrt((velocities**2).sum(axis=2)).max(axis=0).tolist()
    return speed, spin


def _remedy(point: OperatingPoint) -> str:
    """What to do: pass the frame in which the state is steady, if there is one."""
    gravity = lifted(point.eq.system.gravity)
    # Gravity does not turn with a frame, so it can only turn about the direction of gravity.
    axes = np.eye(3) if not np.any(gravity) else (gravity / np.linalg.norm(gravity))[:, None]
    rows, values = [], []
    for name, (acceleration, alpha) in point.accelerations.items():
        m = point.state.motions[name]
        rows += [-skew(m.velocity) @ axes, -skew(m.angular_velocity) @ axes]
        values += [acceleration, alpha]
    spin = axes @ np.linalg.lstsq(np.vstack(rows), np.concatenate(values), rcond=1e-9)[0]
    if rate := float(np.linalg.norm(spin)):
        other = TurningFrame(axis=spin, rate=rate)
        limits = _limits(point, other)
        if all(a <= STEADY * limits[0] and b <= STEADY * limits[1] for a, b in unsteadiness(point, other).values()):
            return f"it is steady in a turning frame: pass {_frame_words(other)}"
    for element, name, function in time_functions(point.eq.system):
        if function.kind != "constant":
            return (
                f"{name} of {element} changes with the time, so that no state need stay as it is: make it constant to "
                "linearize, then start from mb.equilibrium(system)"
            )
    return (
        "start from mb.equilibrium(system) or mb.steady(system, ...), and give the frame of a turn; the origin of a "
        "body that spins must lie on the axis of its spin"
    )


def advanced(state: State, frame: TurningFrame, duration: float) -> State:
    """A steady motion some time later."""
    R = frame.turned(duration)
    motions = {
        name: Motion(
            m.position + frame.path(m.velocity, duration),
            R @ matrix_from_vector(duration * (m.angular_velocity - frame.angular_velocity)) @ m.rotation,
            R @ m.velocity,
            R @ m.angular_velocity,
            m.modal_coordinates,
            m.modal_velocities,
            m.axes,
        )
        for name, m in state.motions.items()
    }
    return State(state.t + duration, motions, state.element_states, state.dimension)


def until_turned(eq: Equations, state: State, frame: TurningFrame, size: float | None = None) -> float:
    """A time in which the fastest body turns by about 1 rad against the frame; 0 at rest. `size`: of the model, m."""
    speed, spin = _largest(state, frame.angular_velocity)
    size = extent(eq, state) if size is None else size
    # Velocities that are rounding would lead to a time in which rounding is all that is left.
    still = STILL * (max(np.sqrt(np.linalg.norm(eq.system.gravity) / size), abs(frame.rate)) or 1.0)
    spin, speed = (spin if spin > still else 0.0), (speed if speed > still * size else 0.0)
    fastest = spin or max(speed / size, abs(frame.rate))
    return TURN / fastest if fastest > 0.0 else 0.0


def check_constant(point: OperatingPoint, frame: TurningFrame, here: LinearEquations, basis: Array) -> None:
    """Refuse equations whose coefficients change along the motion.

    Eigenvalues would not tell: those of a frozen rolling wheel are wrong and do not even change. What is compared are
    the admissible motions (the projector Pi on them), Pi M Pi, Pi R Pi, Pi K Pi and the rows [W Pi, G Pi], which do not
    depend on how wheels and their markers have turned. `basis` spans the admissible motions of `here`.
    """
    changed = _changed(point, frame, here, basis)
    if not changed:
        return
    bodies = [name for name, size in sorted(changed.items(), key=lambda item: -item[1]) if size > CONSTANT]
    listed = ", ".join(f"{name!r} ({changed[name]:.2g})" for name in bodies[:LISTED])
    message = f"the coefficients of the linear equations change along the motion, in relative terms those of {listed}: "
    if other := _standing(point, frame):
        raise AnalysisError(message + f"seen from a turning frame they stand still; pass {other}")
    if flexible := _spinning_flexible(point, bodies):
        raise AnalysisError(
            message
            + f"{flexible} spins and is flexible, and its shapes turn with it: without a turning frame they see "
            "the surroundings change, even if it is round, and in a frame that turns with it bearings that are not "
            "alike in all directions turn. If it is round, let it stand still and let what spins on it be rigid bodies "
            "on RevoluteJoints along it, which leaves out no more than the gyroscopic moments of its own sections; or "
            "give the bearings the same stiffness and damping in all directions across the axis. If it is not round, "
            "roots do not exist: mb.periodic(system, state, period=) of a turn has Floquet multipliers instead"
        )
    raise AnalysisError(
        message + "a body that spins is not symmetric about its axis, or the surroundings change; roots do not exist "
        "then: mb.periodic(system, state, period=) of a turn has Floquet multipliers instead"
    )


def _spinning_flexible(point: OperatingPoint, names: list[str]) -> FlexibleBody | None:
    """The first of some bodies, by their names, that spins and is flexible."""
    spin = _largest(point.state, np.zeros(3))[1]
    for b in point.eq.tables.bodies:
        rate = np.linalg.norm(point.state.motions[b.body.name].angular_velocity)
        if isinstance(b.body, FlexibleBody) and b.body.name in names and rate > STILL * spin:
            return b.body
    return None


def _changed(point: OperatingPoint, frame: TurningFrame, here: LinearEquations, basis: Array) -> dict[str, float]:
    """How much the coefficients of each body change along the motion, in relative terms; empty if they do not."""
    duration = until_turned(point.eq, point.state, frame, point.size)
    moving = duration > 0.0
    if not moving:
        elements = [*point.eq.system.forces, *point.eq.system.joints]
        if not functions_of(elements) and all(is_ours(type(element)) for element in elements):
            return {}
        duration = LATER  # at rest, but perhaps not for long: something may be a function of time
    state = advanced(point.state, frame, duration)
    y = point.eq.coordinates(state)
    if counted := point.eq.n_followers:  # angles of a steady motion run on, perhaps by many turns of the frame
        y[-counted:] += duration * point.z_rate[-counted:]
    check_closed(point.eq, state, y)
    later = OperatingPoint.at(point.eq, state, y)
    check_steady(later, frame)
    there = linear_equations(later, frame, frame.turned(duration))
    rate = max(TURN / duration, abs(frame.rate)) if moving else 0.0
    before, after = _invariants(here, basis, rate), _invariants(there, admissible(there), rate)
    changed: dict[str, float] = {}
    for (a, size), (b, _) in zip(before, after, strict=True):
        # What a projection leaves of a matrix may be rounding alone, which is as large as the matrix was.
        scale = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0), ROUNDING * size)
        difference = np.abs(a - b)
        if difference.max(initial=0.0) <= CONSTANT * scale:
            continue
        by_motion = difference.max(axis=0).reshape(-1, here.size).max(axis=0) / scale
        for name, place in here.places.items():
            changed[name] = max(changed.get(name, 0.0), float(by_motion[place].max()))
    return changed


def _standing(point: OperatingPoint, frame: TurningFrame) -> str:
    """The frame in which the coefficients of a steady motion are constant, as it is passed; empty if none was found.

    Candidates are frames that turn as one of the bodies does.
    """
    tried = [frame.angular_velocity]
    for m in point.state.motions.values():
        spin = m.angular_velocity
        size = float(np.linalg.norm(spin))
        if not size or min(float(np.linalg.norm(spin - other)) for other in tried) <= STEADY * size:
            continue
        tried.append(spin)
        other = TurningFrame(axis=spin, rate=size)
        try:
            check_steady(point, other)
            equations = linear_equations(point, other)
            if not _changed(point, other, equations, admissible(equations)):
                return _frame_words(other)
        except AnalysisError:
            continue
    return ""


def _frame_words(frame: TurningFrame) -> str:
    axis = ", ".join(f"{x:.6g}" for x in np.where(np.abs(frame.axis) > EPSILON, frame.axis, 0.0))
    return f"frame=mb.TurningFrame(axis=({axis}), rate={frame.rate:.12g})"


def admissible(e: LinearEquations) -> Array:
    """A basis (columns) of the motions that the holonomic constraints allow, orthonormal in units of their reaches."""
    reaches = e.reaches
    return null_space(e.holonomic / reaches, dependent=DEPENDENT) / reaches[:, None]


def _invariants(e: LinearEquations, basis: Array, rate: float) -> list[tuple[Array, float]]:
    """What does not depend on the choice of markers and multipliers, and the sizes that rounding is measured by.

    Damping and stiffness are sums of terms as large as the mass times `rate`, that of the motion, and its square; these
    may cancel all but rounding.
    """
    reaches = e.reaches
    scaled = reaches[:, None] * basis
    Pi = scaled @ scaled.T
    found = [(Pi, 1.0)]
    inertia = 0.0
    for power, part in enumerate((e.mass, e.damping, e.stiffness)):
        matrix = part / reaches / reaches[:, None]
        inertia = inertia or float(np.abs(matrix).max(initial=0.0))  # the first is the mass
        found.append((Pi @ matrix @ Pi, max(float(np.abs(matrix).max(initial=0.0)), inertia * rate**power)))
    if len(e.nonholonomic):
        rows = np.hstack([e.drift / reaches @ Pi, e.nonholonomic / reaches @ Pi])
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        span = np.linalg.svd(rows, full_matrices=False)
        independent = span[2][span[1] > 1e-9 * span[1][0]]
        found.append((independent.T @ independent, 1.0))
    return found
