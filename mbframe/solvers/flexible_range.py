"""Whether flexible bodies stay in the range of their theory: by rotation, by loads along them, by deflection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..bodies.flexible import FlexibleBody
from ..bodies.formulations import FloatingFrame
from ..equations.equations import Equations
from ..equations.tables import NumberedBody
from ..equations.user import method_of
from ..errors import MbframeError
from ..flexible.load_stiffness import PRODUCTS, LoadStiffness
from ..markers import AxisMarker
from ..results import Result

Array = NDArray[np.float64]
Loaded = tuple[NumberedBody, FlexibleBody, LoadStiffness]

MOST = 4096  # states of a run of which accelerations and reactions are computed, to find the largest
APART = 1e-2  # of what two nodes can come nearer by for a load: where joints leave less, they hold them apart
HELD = 1e-8  # of a unit impulse: a deformation that it moves by less is one that joints do not allow
FEW = 8  # states whose inertia is looked at: those in which nodes turn most
SPREAD = 64  # states over a run whose loads are looked at whatever happens there
Courses = Callable[
    [FlexibleBody], tuple[Array, Array, Array]
]  # instants, angular velocity in its axes, modal coordinates


def flexible_bodies(eq: Equations) -> Iterator[tuple[NumberedBody, FlexibleBody]]:
    """The flexible bodies of a system."""
    return ((b, b.body) for b in eq.tables.bodies if isinstance(b.body, FlexibleBody))


def run_remarks(eq: Equations, result: Result) -> list[str]:
    """Warnings of a run from what it has stored; of one that ended early also from where it is."""
    numbered = {body.name: b for b, body in flexible_bodies(eq)}
    if not numbered:
        return []
    last = [] if result.info.completed else [(float(eq.work["t"]), eq.work.y.copy())]
    last = [(t, y) for t, y in last if np.isfinite(y).all()]

    def courses(body: FlexibleBody) -> tuple[Array, Array, Array]:
        t, modal = result.t, result.modal(body)
        turned = np.zeros((0, 3))
        if len(t):
            turned = result.rotation(body).apply(result.angular_velocity(body), inverse=True)
        for instant, y in last:
            q, v, _ = eq.split(y)
            t, modal = np.append(t, instant), np.vstack([modal, q[numbered[body.name].q_slice][7:]])
            turned = np.vstack([turned, v[numbered[body.name].v_slice][3:6]])
        return t, turned, modal

    return remarks(eq, *result.spread(MOST), courses)


def remarks(eq: Equations, t: Array, y: Array, courses: Courses) -> list[str]:
    """Warnings of a motion: `courses` are turns and deformations of a body at all instants, loads are looked for in
    states (t, y); see `load_remarks`.
    """
    found: list[str] = []
    loaded: list[Loaded] = []
    finite = np.isfinite(y).all(axis=1) if len(t) else np.zeros(0, bool)
    t, y = t[finite], y[finite]
    for b, body in flexible_bodies(eq):
        instants, omega, modal = courses(body)
        found.append(body.bending_remark(instants, modal))
        if body.geometric_stiffening or not len(t):
            continue
        with suppress(MbframeError):  # a state at which the equations have no solution: the run says so
            motions = free_motions(eq, b, float(t[0]), y[0])
            found.append(body.rotation_remark(omega, motions))
            deformed = eq.split(y)[0][:, b.q_slice][:, 7:]
            turned = body.most_turned(deformed)[-FEW:]
            if body.can_stiffen and not found[-1]:  # centrifugal forces are loads too
                loaded.append((b, body, body.load_stiffness(motions)))
                tight = {tightened(eq, loaded[-1], motions, deformed[k]): float(t[k]) for k in turned}
                found += [body.tightened_remark(tight[max(tight)], max(tight))] if tight else []
            if body.shapes_in_frame.reference == "mean":  # in which nothing cancels
                continue
            left = {least_inertia(eq, b, float(t[k]), y[k]): float(t[k]) for k in turned}
            if left:
                found.append(body.inertia_remark(left[min(left)], min(left)))
    return [remark for remark in found + load_remarks(eq, t, y, loaded) if remark]


def load_remarks(eq: Equations, t: Array, y: Array, bodies: list[Loaded]) -> list[str]:
    """Warnings of bodies without geometric stiffening that loads stiffen or soften, at some of these states.

    The loads are those of joints and force elements at their markers and of the rotation; weight and acceleration
    balance them. See `mbframe.flexible.load_stiffness`. Of many states those are looked at that `_telling` picks.
    """
    if not bodies:
        return []
    worst = {body.name: np.zeros((3, 2)) for _, body, _ in bodies}  # shares of the three kinds of loads, and when
    for k in _telling(eq, t, y, bodies):
        try:
            loads = marker_loads(eq, float(t[k]), y[k], bodies)
        except MbframeError:  # a state at which the equations have no solution: the run says so
            continue
        for b, body, added in bodies:
            for kept, share in zip(worst[body.name], _shares(eq, b, body, y[k], loads, added), strict=True):
                if abs(share) > abs(kept[0]):
                    kept[:] = share, t[k]
    return [body.load_remark(*worst[body.name].T) for _, body, _ in bodies]


def _telling(eq: Equations, t: Array, y: Array, bodies: list[Loaded]) -> list[int]:
    """Which of some states to look at: `SPREAD` of them, and those of the largest accelerations and reactions.

    All accelerations and reactions take as long as one evaluation of the equations for each state. What is short and
    is in neither of them, such as a pulse of two forces that balance each other on one body, can be missed.
    """
    if len(t) <= SPREAD:
        return list(range(len(t)))
    picked = set(np.linspace(0, len(t) - 1, SPREAD).astype(int).tolist())
    own = {b.first_marker + k for b, _, _ in bodies for k in range(len(b.markers))}
    with suppress(MbframeError):  # of a state at which the equations have no solution
        found = eq.replay(t, y)
        rates = eq.split(found["rates"])[1]
        columns = [rates[:, b.v_slice] for b, _, _ in bodies]
        columns += [found["multipliers"][:, c.rows] for c in eq.tables.constraints if c.i in own or c.j in own]
        largest = np.abs(np.concatenate(columns, axis=1))
        picked |= set(np.where(np.isfinite(largest), largest, 0.0).argmax(axis=0).tolist())
    return sorted(picked)


def free_motions(eq: Equations, b: NumberedBody, t: float, y: Array) -> Array:
    """(6 + m, k): in which motions of its frame, in its own axes, a body deforms as its joints let it; a column each.

    These are the velocities after impulses on its modal coordinates alone. Of all that the joints allow, they have the
    least kinetic energy for a given deformation: a frame follows what is held, and stays as a mean otherwise. They are
    normalized and orthogonal by that energy, which is that of all bodies that move with it.
    """
    responses, scale = _responses(eq, b, t, y)
    sizes, vectors = np.linalg.eigh(scale.T @ responses[6:])
    moving = sizes > HELD
    found = responses @ (vectors[:, moving] / np.sqrt(sizes[moving]))
    found[:3] = b.formulation.poses(eq.split(y)[0][None, b.q_slice])[1][0].T @ found[:3]
    return found


def least_inertia(eq: Equations, b: NumberedBody, t: float, y: Array) -> float:
    """What is left of the inertia of a deformed body in any motion that its joints allow, of that undeformed."""
    flat = y.copy()
    eq.split(flat)[0][b.q_slice][7:] = 0.0
    (now, scale), (before, _) = (_responses(eq, b, t, state) for state in (y, flat))
    sizes, vectors = np.linalg.eigh(scale.T @ before[6:])
    moving = sizes > HELD
    basis = vectors[:, moving] / np.sqrt(sizes[moving])
    changed = np.linalg.eigvalsh(basis.T @ (scale.T @ now[6:]) @ basis)  # impulses make motions: the inverse of inertia
    return 1.0 if not len(changed) else 0.0 if changed[0] <= 0.0 else float(1.0 / changed[-1])


def tightened(eq: Equations, loaded: Loaded, motions: Array, modal: Array) -> float:
    """What tension adds to the stiffness of a deformed body where joints keep two of its nodes from coming nearer.

    Nodes are held apart if no motion that joints allow (`motions`) brings them nearer as the shapes by themselves would
    let them. What they would come nearer by is stretched then, with the stiffness of the shapes.
    """
    b, body, added = loaded
    jointed = {number for c in eq.tables.constraints for number in (c.i, c.j)}
    markers = [m for k, m in enumerate(b.markers, b.first_marker) if k in jointed and not isinstance(m, AxisMarker)]
    modes, free = body.shapes_in_frame, motions[6:]
    form, most = free.T @ modes.stiffness @ free, 0.0
    for first, other in combinations(sorted({body.node_at(marker.at) for marker in markers}), 2):
        arm = modes.component.positions[other] - modes.component.positions[first]
        if not (length := np.linalg.norm(arm)) > 0.0:
            continue
        pull = arm / length @ (modes.motion_at(other) - modes.motion_at(first))[:3]
        alone, held = pull @ np.linalg.solve(modes.stiffness, pull), 0.0
        if free.shape[1]:
            held = pull @ free @ np.linalg.solve(form, free.T @ pull)
        if not alone > 0.0 or held > APART * alone:
            continue
        shortening, parts = added.shortening(first, other), added.deformation(modal)
        tension = max(0.5 * parts @ shortening @ parts, 0.0) / alone
        most = max(most, tension * float(np.linalg.eigvalsh(shortening)[-1]))
    return most


def _responses(eq: Equations, b: NumberedBody, t: float, y: Array) -> tuple[Array, Array]:
    """(6 + m, m): velocities of a body after impulses on its modal coordinates, and the columns of these, (m, m)."""
    q, v, z = eq.split(y)
    eq.evaluate(t, q, v, z)
    eq.factor()
    own, data = np.arange(eq.n_v)[b.v_slice], cast(FloatingFrame, b.formulation).inertia_data
    assert data is not None
    scale = linalg.cholesky(data.modal_mass, lower=True)
    responses = np.zeros((len(own), len(scale)))
    for k, impulse in enumerate(scale.T):
        right = np.zeros(eq.n_v + eq.n_rows)
        right[own[6:]] = impulse
        responses[:, k] = eq.solve(right)[own]
    return responses, scale


def marker_loads(eq: Equations, t: float, y: Array, bodies: list[Loaded]) -> Array:
    """(markers, 6): force and torque, global, of joints and force elements on the markers of some bodies.

    Those of other markers are not complete.
    """
    own = {b.first_marker + k for b, _, _ in bodies for k in range(len(b.markers))}
    _, multipliers = eq.accelerate(t, *eq.split(y))
    markers, loads = eq.tables.markers, np.zeros((len(eq.tables.markers), 6))
    for c in eq.tables.constraints:
        if c.i not in own and c.j not in own:
            continue
        both = -multipliers[c.rows] @ eq.stages.gradient(c, t, markers[c.i], markers[c.j])
        for number, load in ((c.i, both[:12]), (c.j, both[12:])):
            loads[number, :3] += load[:3]
            loads[number, 3:] += np.cross(markers[number].axes, load[3:].reshape(3, 3), axis=0).sum(axis=1)
    for f in eq.tables.forces:
        if f.i not in own and f.j not in own:
            continue
        element: Any = f.force
        i, j = eq.tables.seen_by(f)
        force, torque = np.zeros(3), np.zeros(3)
        if element.reactive:
            reaction, _ = eq.reactions(element.joint.name, np.array([t]), y[None], multipliers[None])
            force[:], torque[:] = element.reactive_wrench(t, i, j, reaction[0])
        else:
            states = (eq.split(y)[2][f.states],) if element.states else ()
            force[:], torque[:] = method_of(element, "wrench")(t, i, j, *states)
        loads[f.j] += np.concatenate([force, torque])
        loads[f.i] -= np.concatenate([force, torque + np.cross(j.position - i.position, force)])
    return loads


def _shares(
    eq: Equations, b: NumberedBody, body: FlexibleBody, y: Array, loads: Array, added: LoadStiffness
) -> tuple[float, float, float]:
    """The changes of stiffness where loads along a body press it, where they pull it, and by loads across it.

    They are relative to the stiffness, and the largest among its deformations; negative where stiffness is lost.
    """
    q, v, _ = (part[None] for part in eq.split(y))
    position, rotation = (part[0] for part in b.formulation.poses(q[:, b.q_slice]))
    omega = rotation.T @ b.formulation.twists(q[:, b.q_slice], v[:, b.v_slice])[1][0]
    change = np.tensordot([omega[i] * omega[j] for i, j in PRODUCTS], added.spin, axes=(0, 1))
    change += np.tensordot(eq.work.v_rate[b.v_slice][6:], added.inertia, axes=(0, 1))
    for number, marker in enumerate(b.markers, b.first_marker):
        load = (loads[number].reshape(2, 3) @ rotation).ravel()
        change += np.tensordot(load, added.at(_node(eq, body, number, marker, position, rotation)), axes=(0, 1))
    along, across = np.linalg.eigvalsh(change)
    return float(along.min(initial=0.0)), float(along.max(initial=0.0)), float(across.min(initial=0.0))


def _node(eq: Equations, body: FlexibleBody, number: int, marker: Any, position: Array, rotation: Array) -> int:
    """The node at a marker; where something slides along the body, the one that is nearest to it."""
    if not isinstance(marker, AxisMarker):
        return body.node_at(marker.at)
    for c in eq.tables.constraints:
        if number in (c.i, c.j):
            partner = eq.tables.markers[c.j if number == c.i else c.i].position
            places = body.modes.component.positions
            return int(np.linalg.norm(places - rotation.T @ (partner - position), axis=1).argmin())
    return 0
