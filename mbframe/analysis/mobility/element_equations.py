"""The equations of one joint or force at one state: what it contributes to M v' = Q - J^T lambda, J v' = gamma."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...abilities import given_with
from ...connections import PointConnection
from ...equations.equations import Equations
from ...equations.numbered import NumberedConstraint
from ...equations.user import method_of
from ...errors import ModelError, check_kinds
from ...forces.base import ForceElement
from ...functions import Function
from ...kernels.layout import PLACE
from ...plane import lifted
from ...results import Info, Result
from ...state import State
from ...stored_states import columns_of
from ...system import System

Array = NDArray[np.float64]

LETTERS = "xyz"


@dataclass(frozen=True)
class Part:
    """Equations of a joint that belong together: a basic constraint, or one term of a relation.

    Parameters
    ----------
    kind
        Name of its class.
    law
        Docstring of its class.
    rows
        Which of the joint's equations these are; terms of a relation share one.
    values
        Its own parameters, such as the axes that it keeps perpendicular.
    """

    kind: str
    law: str
    rows: range
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JointEquations:
    """The constraint equations of a joint at a state, a row each.

    Parameters
    ----------
    rows
        Name and unit of each equation. A rate has this unit per second.
    residual
        C; nan for a nonholonomic equation, which has none.
    rate
        C', or the residual D of a nonholonomic equation.
    jacobian
        J by body: the derivatives of `rate` with respect to the body's velocities.
    velocities
        By body: name and unit of each column of its Jacobian.
    gamma
        Right-hand side of J v' = gamma.
    multipliers
        lambda; the joint acts on the bodies by -J^T lambda.
    force, torque
        The reaction: on the second body at its marker, global (N, N m).
    """

    element: str
    t: float
    parts: list[Part]
    rows: list[tuple[str, str]]
    residual: Array
    rate: Array
    jacobian: dict[str, Array]
    velocities: dict[str, list[tuple[str, str]]]
    gamma: Array
    multipliers: Array
    force: Array
    torque: Array


@dataclass(frozen=True)
class ForceEquations:
    """What a force element exerts at a state; vectors are global and have three components.

    Parameters
    ----------
    force, torque
        On the second body at marker j (N, N m).
    force_i, torque_i
        On the first body at marker i: the opposite of the load at j, seen from there, so torque_i = -torque - (r_j -
        r_i) x force.
    point_i, point_j
        Where the markers are, m.
    power
        Of the load on both bodies, W: negative where energy is stored or lost.
    energy
        Potential energy, J; None for a force that has none.
    generalized
        By body: its part of Q, conjugate to the body's velocities.
    velocities
        By body: name and unit of each velocity.
    outputs
        Name, value and unit of what the element measures, such as its length.
    states
        Own states.
    """

    element: str
    t: float
    force: Array
    torque: Array
    force_i: Array
    torque_i: Array
    point_i: Array
    point_j: Array
    power: float
    energy: float | None
    generalized: dict[str, Array]
    velocities: dict[str, list[tuple[str, str]]]
    outputs: list[tuple[str, float, str]]
    states: Array


def equations_of(
    system: System | Equations, element: Any, state: State | None = None
) -> JointEquations | ForceEquations:
    """Residual, Jacobian and right-hand side of a joint, or loads and generalized forces of a force element.

    equations_of(system, "hinge").jacobian["crank"]. In the plane vectors have three components here too.

    Parameters
    ----------
    system
        The mechanism, or its `Equations`: these serve for many states, and say which coordinates are meant.
    element
        A joint, constraint or force, or its name.
    state
        Where to look; by default where the model is described.
    """
    if not isinstance(system, Equations):
        check_kinds("equations_of", system=(system, System))
    check_kinds("equations_of", state=(state, State))
    eq = system if isinstance(system, Equations) else Equations(system)
    name = getattr(element, "name", element)
    found = eq.system[name]
    at = eq.described() if state is None else state.checked(eq.system.bodies)
    result = Result(eq, np.array([at.t]), eq.coordinates(at)[None], Info())
    if name in eq.tables.joint_points:
        return _joint(eq, found, result)
    if isinstance(found, ForceElement):
        return _force(eq, found, result)
    raise ModelError([found.problem("", "has no equations of its own; choose a joint, a driver or a force")])


# ---- Joints ---------------------------------------------------------------------------------------------------------


def _joint(eq: Equations, joint: Any, result: Result) -> JointEquations:
    own = [c for c in eq.tables.constraints if c.owner_name == joint.name]
    reaction, multipliers = result.reaction(joint), result.multipliers[0]
    rows = eq.owned_rows()[joint]
    e = eq.evaluate(float(result.t[0]), result.q[0], result.v[0], result.z[0])
    holonomic = rows < eq.tables.n_holonomic
    residual = np.full(len(rows), np.nan)
    residual[holonomic] = e.residual[rows[holonomic]]
    jacobian = e.jacobian[rows].toarray()
    bodies = _bodies(eq, [marker for c in own for marker in (c.i, c.j)])
    parts = [_part(c, rows) for c in own]
    torque = np.atleast_1d(reaction.torque[0])
    return JointEquations(
        element=joint.name,
        t=float(result.t[0]),
        parts=parts,
        rows=_row_names(own, parts, len(rows)),
        residual=residual,
        rate=e.constraint_rate[rows],
        jacobian={b.body.name: jacobian[:, b.v_slice] for b in bodies},
        velocities=_velocities(eq, bodies),
        gamma=e.gamma[rows],
        multipliers=multipliers[rows],
        force=lifted(reaction.force[0]),
        torque=torque if len(torque) == 3 else np.array([0.0, 0.0, torque[0]]),
    )


def _part(c: NumberedConstraint, rows: NDArray[np.int64]) -> Part:
    constraint = c.constraint
    first = int(np.searchsorted(rows, c.row))
    values = {
        name: str(value) if isinstance(value, Function) else value
        for name, value in constraint.values().items()
        if name not in PointConnection.parameters() and value is not None
    }
    law = (inspect.getdoc(type(constraint)) or "").partition("\n\nParameters\n")[0]
    return Part(type(constraint).__name__, law, range(first, first + constraint.equations), values)


def _row_names(own: list[NumberedConstraint], parts: list[Part], count: int) -> list[tuple[str, str]]:
    """What the rows are called: points that coincide have components, others are numbered if there are several."""
    names = [("", "")] * count
    for c, part in zip(own, parts, strict=True):
        for k, row in enumerate(part.rows):
            several = part.kind if c.constraint.equations == 1 else f"{part.kind} {k + 1}"
            label = f"{part.kind} {LETTERS[k]}" if c.constraint.joins_points else several
            if not names[row][0]:  # a relation has the name and the unit of its first term
                names[row] = (label, c.constraint.unit)
    return names


# ---- Forces ---------------------------------------------------------------------------------------------------------


def _force(eq: Equations, element: Any, result: Result) -> ForceEquations:
    numbered = next(f for f in eq.tables.forces if f.name == element.name)
    force, torque = (part[0] for part in result.wrench(element))
    force, torque = lifted(force), (np.array([0.0, 0.0, torque]) if np.ndim(torque) == 0 else torque)
    outputs = [(name, float(result.output(element, name)[0]), unit) for name, unit in element.outputs.items()]
    t, q, v, z = float(result.t[0]), result.q[0], result.v[0], result.z[0]
    eq.update(t, q, v, z)
    i, j = eq.tables.seen_by(numbered)
    sides = [(i, -force, -torque - np.cross(j.position - i.position, force)), (j, force, torque)]
    bodies = _bodies(eq, [numbered.i, numbered.j])
    generalized = {b.body.name: np.zeros(b.formulation.n_v) for b in bodies}
    power = 0.0
    for marker, push, moment in sides:
        if marker.body >= 0:
            b = eq.tables.bodies[marker.body]
            part = _generalized(eq, marker, push, moment)
            generalized[b.body.name] += part
            power += float(part @ v[b.v_slice])
    kind: Any = type(element)
    conservative = not element.reactive and given_with(kind, "wrench", "energy")
    return ForceEquations(
        element=element.name,
        t=t,
        force=force,
        torque=torque,
        force_i=sides[0][1],
        torque_i=sides[0][2],
        point_i=np.array(i.position),
        point_j=np.array(j.position),
        power=power,
        energy=float(method_of(numbered.force, "energy")(t, i, j)) if conservative else None,
        generalized=generalized,
        velocities=_velocities(eq, bodies),
        outputs=outputs,
        states=z[numbered.states].copy(),
    )


def _generalized(eq: Equations, marker: Any, force: Array, torque: Array) -> Array:
    """Q = B^T (force, (torque x d_k)/2) of a load at a marker, as in `kernels.stages.loops.apply`."""
    n = int(marker.n)
    first = int(marker.jacobian)
    B = eq.work.jacobians[first : first + PLACE * n].reshape(PLACE, n)
    turning = 0.5 * np.cross(torque, marker.axes, axis=0) if torque.any() else np.zeros((3, 3))
    return force @ B[:3] + turning.ravel() @ B[3:]


# ---- Both -----------------------------------------------------------------------------------------------------------


def _bodies(eq: Equations, markers: list[int]) -> list[Any]:
    """The moving bodies that some markers lie on, in the order of the system."""
    owners = eq.tables.marker_bodies()
    return [eq.tables.bodies[k] for k in sorted({owners[m] for m in markers}) if k >= 0]


def _velocities(eq: Equations, bodies: list[Any]) -> dict[str, list[tuple[str, str]]]:
    names = columns_of(eq.tables)["v"]
    return {
        b.body.name: [(name.removeprefix(f"{b.body.name}."), unit) for name, unit in names[b.v_slice]] for b in bodies
    }
