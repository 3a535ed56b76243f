"""Whether flexible bodies stay in the range of their theory: by rotation, by loads along them, by deflection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as linalg_sparse

from ..bodies.flexible import FlexibleBody
from ..bodies.formulations import FlexibleFormulation
from ..equations.equations import Equations
from ..equations.marker_loads import Solved, marker_loads, nodes_at, sides_of, telling
from ..equations.numbered import NumberedBody
from ..errors import MbframeError
from ..flexible.load_stiffness import PRODUCTS, LoadStiffness, softest
from ..joints.library import FixedJoint
from ..markers import AxisMarker
from ..results import Result
from .output import Sizes
from .shape_range import missed_remarks

Array = NDArray[np.float64]
Loaded = tuple[NumberedBody, FlexibleBody, LoadStiffness]

MOST = 1024  # stored states of a run of which accelerations and reactions are computed, to find the largest
APART = 1e-2  # of what two nodes can come nearer by for a load: where joints leave less, they hold them apart
HELD = 1e-8  # of a unit impulse: a deformation that it moves by less is one that joints do not allow
GIVES = 1e-11  # of what a constraint would move by without the others: by so much it yields
MOST_JOINED = 600  # modal coordinates of bodies that are judged together: their eigenvalues cost the cube of it
SLOWEST = 3  # vibrations of a body whose loads its shapes have to follow
SMALL = 1e-5  # of the extent of a body: how far it is deformed for these
FEW = 8  # states whose inertia is looked at: those in which nodes turn most, each in another part of the run
Courses = Callable[
    [FlexibleBody], tuple[Array, Array, Array]
]  # instants, angular velocity in its axes, modal coordinates


def flexible_bodies(eq: Equations) -> Iterator[tuple[NumberedBody, FlexibleBody]]:
    """The flexible bodies of a system."""
    return ((b, b.body) for b in eq.tables.bodies if isinstance(b.body, FlexibleBody))


def frame_of(b: NumberedBody) -> FlexibleFormulation:
    """The formulation of a flexible body."""
    return cast(FlexibleFormulation, b.formulation)


def watched_sizes(eq: Equations) -> Sizes:
    """By what steps of a run are picked to be looked at: how far each body bends, how fast, and how fast it turns."""
    found: Sizes = []
    for b, body in flexible_bodies(eq):
        q, v = b.q_slice.start, eq.n_q + b.v_slice.start
        modal_q, modal_v = b.formulation.modal_q, b.formulation.modal_v
        found.append((slice(q + modal_q.start, q + modal_q.stop), body.turns))
        found.append((slice(v + eq.system.dimension, v + modal_v.start), np.ones(modal_v.start - eq.system.dimension)))
        found.append((slice(v + modal_v.start, v + modal_v.stop), body.turns))
    return found


def run_remarks(eq: Equations, result: Result, seen: tuple[Array, Array] | None) -> list[str]:
    """Warnings of a run from what it has stored, and from steps that it has `seen` besides if it did not store them.

    Of a run that ended early also from where it is.
    """
    numbered = {body.name: b for b, body in flexible_bodies(eq)}
    if not numbered:
        return []
    others = [] if seen is None else [seen]
    if not result.info.completed:
        others.append((np.array([float(eq.work["t"])]), eq.work.y[None].copy()))
    others = [(t[finite], y[finite]) for t, y in others if (finite := np.isfinite(y).all(axis=1)).any()]

    def courses(body: FlexibleBody) -> tuple[Array, Array, Array]:
        b = numbered[body.name]
        t, (q, v) = result.t, result.body_coordinates(b)
        t = np.concatenate([t, *(instants for instants, _ in others)])
        q = np.vstack([q, *(eq.split(y)[0][:, b.q_slice] for _, y in others)])
        v = np.vstack([v, *(eq.split(y)[1][:, b.v_slice] for _, y in others)])
        return t, frame_of(b).local_turns(v), q[:, b.formulation.modal_q]

    if seen is None:
        return remarks(eq, *result.spread(MOST), courses)
    stored = result.spread(MOST)
    t, first = np.unique(np.concatenate([stored[0], seen[0]]), return_index=True)
    return remarks(eq, t, np.concatenate([stored[1], seen[1]])[first], courses)


def remarks(eq: Equations, t: Array, y: Array, courses: Courses) -> list[str]:
    """Warnings of a motion: `courses` are turns and deformations of a body at all instants, loads are looked for in
    states (t, y); see `_load_remarks`.
    """
    found: list[str] = []
    loaded: list[Loaded] = []
    finite = np.isfinite(y).all(axis=1) if len(t) else np.zeros(0, bool)
    t, y = t[finite], y[finite]
    for b, body in flexible_bodies(eq):
        instants, omega, modal = courses(body)
        found += [body.bending_remark(instants, modal), body.section_remark(omega)]
        if body.geometric_stiffening or not len(t):
            continue
        with suppress(MbframeError):  # a state at which the equations have no solution: the run says so
            motions = free_motions(eq, b, float(t[0]), y[0])
            found.append(body.rotation_remark(omega, motions))
            deformed = eq.split(y)[0][:, b.q_slice][:, b.formulation.modal_q]
            turned = body.most_turned(deformed, FEW)
            if body.can_stiffen and motions.shape[1] and not found[-1]:  # centrifugal forces are loads too
                loaded.append((b, body, body.load_stiffness(motions)))
                tight = tightened(eq, loaded[-1], motions, deformed[turned])
                if len(tight):
                    found.append(body.tightened_remark(float(t[turned[tight.argmax()]]), float(tight.max())))
            if body.shapes_in_frame.reference == "mean":  # in which nothing cancels
                if len(turned):
                    dragged = dragged_mass(eq, b, body, float(t[turned[-1]]), y[turned[-1]])
                    found.append(body.dragging_remark(float(t[turned[-1]]), dragged))
                continue
            left = {least_inertia(eq, b, float(t[k]), y[k]): float(t[k]) for k in turned}
            if left:
                found.append(body.inertia_remark(left[min(left)], min(left)))
    return [remark for remark in found + _load_remarks(eq, t, y, loaded) if remark]


def _load_remarks(eq: Equations, t: Array, y: Array, bodies: list[Loaded]) -> list[str]:
    """Warnings of what loads do at some of these states, of many at those that `telling` picks.

    Of all bodies, if their shapes cannot follow them. Of some, those without geometric stiffening, if loads stiffen or
    soften them: those of joints and force elements at their markers and of the rotation; weight and acceleration
    balance them. See `mbframe.flexible.load_stiffness`.
    """
    every = [b for b, _ in flexible_bodies(eq)]
    if not len(t):
        return []
    groups = _together(eq, float(t[0]), y[0], bodies)
    picked = telling(eq, t, y, every)
    solved = marker_loads(eq, t[picked], y[picked], every)
    if not len(solved.numbers):
        return []
    t, y = t[picked][solved.numbers], y[picked][solved.numbers]
    found = missed_remarks(eq, every, t, y, solved)
    for group in groups:
        shares = _shares(np.sum([_changes(eq, one, y, solved) for one in group], axis=0))
        worst = np.abs(shares).argmax(axis=0)
        first, *others = (body for _, body, _ in group)
        found.append(first.load_remark(shares[worst, np.arange(3)], t[worst], others))
    return found


def _together(eq: Equations, t: float, y: Array, bodies: list[Loaded]) -> list[list[Loaded]]:
    """Bodies that buckle as one since they are fixed to each other, or to rigid bodies between them, and all others.

    Each alone would be judged as if the others were rigid or free: a column in four pieces would seem sixteen times as
    strong as it is.
    """
    names = {body.name: k for k, body in enumerate(eq.system.bodies)}
    ends = [
        (names[joint.i.body.name], names[joint.j.body.name])
        for joint in eq.system.joints
        if isinstance(joint, FixedJoint) and eq.system.ground not in (joint.i.body, joint.j.body)
    ]
    rows, columns = np.array(ends, np.intp).reshape(-1, 2).T
    links = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    labels = csgraph.connected_components(links, directed=False)[1]
    groups: dict[int, list[Loaded]] = {}
    for one in bodies:
        groups.setdefault(int(labels[names[one[1].name]]), []).append(one)
    found = []
    for group in groups.values():
        if len(group) == 1 or sum(body.modes.count for _, body, _ in group) > MOST_JOINED:
            found += [[one] for one in group]
            continue
        motions = joined_motions(eq, [b for b, _, _ in group], t, y)
        vectors = softest([(body.shapes_in_frame, own) for (_, body, _), own in zip(group, motions, strict=True)])
        found.append(
            [(b, body, body.load_stiffness(own, vectors)) for (b, body, _), own in zip(group, motions, strict=True)]
        )
    return found


def free_motions(eq: Equations, b: NumberedBody, t: float, y: Array) -> Array:
    """(6 + m, k): in which motions of its frame, in its own axes, a body deforms as its joints let it; a column each.

    These are the velocities after impulses on its modal coordinates alone. Of all that the joints allow, they have the
    least kinetic energy for a given deformation: a frame follows what is held, and stays as a mean otherwise. They are
    normalized and orthogonal by that energy, which is that of all bodies that move with it.
    """
    return joined_motions(eq, [b], t, y)[0]


def joined_motions(eq: Equations, bodies: list[NumberedBody], t: float, y: Array) -> list[Array]:
    """`free_motions` of some bodies together, after impulses on all their modal coordinates: what each of them does."""
    basis, _ = _moving(eq, bodies, t, y)
    found = []
    for b in bodies:
        own = frame_of(b).in_space(basis[b.v_slice].T).T.copy()
        own[:3] = b.formulation.poses(eq.split(y)[0][None, b.q_slice])[1][0].T @ own[:3]
        found.append(own)
    return found


def _moving(eq: Equations, bodies: list[NumberedBody], t: float, y: Array) -> tuple[Array, NDArray[np.intp]]:
    """(n_v, k): the velocities of which `joined_motions` has parts; and where the modal coordinates are among them."""
    responses, modal, scale = _responses(eq, bodies, t, y)
    sizes, vectors = np.linalg.eigh(scale.T @ responses[modal])
    moving = sizes > HELD
    return responses @ (vectors[:, moving] / np.sqrt(sizes[moving])), modal


def vibration_remarks(eq: Equations, t: float, y: Array) -> list[str]:
    """Warnings of bodies whose shapes cannot follow the loads of their slowest vibrations about a state.

    The loads at their markers are the changes of those in the state when it is deformed a little as the body vibrates.
    """
    found = []
    for b, body in flexible_bodies(eq):
        basis, modal = _moving(eq, [b], t, y)
        ways = basis @ np.linalg.eigh(basis[modal].T @ body.shapes_in_frame.stiffness @ basis[modal])[1][:, :SLOWEST]
        q, v, z = eq.split(y)
        states = [y]
        for way in ways.T:
            small = SMALL * body.modes.component.extent / max(body.deformed_by(way[modal])[0], np.finfo(float).tiny)
            states.append(np.concatenate([eq.displaced(q, small * way), v, z]))
        there = marker_loads(eq, np.full(len(states), t), np.array(states), [b])
        if len(there.numbers) < len(states):
            continue
        for k in range(1, len(states)):
            change = there._replace(positions=there.positions[:1], loads=there.loads[k : k + 1] - there.loads[:1])
            if remark := missed_remarks(eq, [b], np.array([t]), y[None], change, " as it vibrates"):
                found += remark
                break
    return found


def least_inertia(eq: Equations, b: NumberedBody, t: float, y: Array) -> float:
    """What is left of the inertia of a deformed body in any motion that its joints allow, of that undeformed."""
    flat = y.copy()
    eq.split(flat)[0][b.q_slice][b.formulation.modal_q] = 0.0
    (now, modal, scale), (before, _, _) = (_responses(eq, [b], t, state) for state in (y, flat))
    sizes, vectors = np.linalg.eigh(scale.T @ before[modal])
    moving = sizes > HELD
    basis = vectors[:, moving] / np.sqrt(sizes[moving])
    changed = np.linalg.eigvalsh(
        basis.T @ (scale.T @ now[modal]) @ basis
    )  # impulses make motions: the inverse of inertia
    return 1.0 if not len(changed) else 0.0 if changed[0] <= 0.0 else float(1.0 / changed[-1])


def dragged_mass(eq: Equations, b: NumberedBody, body: FlexibleBody, t: float, y: Array) -> float:
    """What deformation adds to the inertia of a body in mean axes that turns about its centre of mass, relative to it.

    A node that is displaced by w across its arm from the centre moves along that arm where the axes turn. Linear shapes
    do not make up for that, as a body does that becomes shorter where it bends: if joints hold the node along the arm,
    the whole mass moves by as much instead. So m w^2 is added to the inertia about the centre. It matters where that is
    small against m L^2: a heavy disk in the mass matrix of a light shaft.
    """
    eq.update(t, *eq.split(y))
    rotation = b.formulation.poses(eq.split(y)[0][None, b.q_slice])[1][0]
    holding: dict[int, list[Array]] = {}
    for side in sides_of(eq, [b]):
        marker = b.markers[side.number - b.first_marker]
        if not isinstance(marker, AxisMarker):
            rows = side.in_space(eq.work.entries[side.places])[:, :3] @ rotation
            holding.setdefault(body.node_at(marker.at), []).append(rows)
    mass, centre, inertia = body.mass_properties()
    modal, most = eq.split(y)[0][b.q_slice][b.formulation.modal_q], 0.0
    for node, blocks in holding.items():
        arm = body.modes.component.positions[node] - centre
        moved = body.shapes_in_frame.motion_at(node)[:3] @ modal
        about = np.cross(arm, moved)
        turn, length = float(np.linalg.norm(about)), float(np.linalg.norm(arm))
        if not turn > 0.0:
            continue
        rows = np.vstack(blocks)
        held = np.linalg.pinv(rows) @ (rows @ arm)
        if np.linalg.norm(held - arm) > APART * length:
            continue
        about = about / turn
        most = max(most, mass * (turn / length) ** 2 / float(about @ inertia @ about))
    return most


def tightened(eq: Equations, loaded: Loaded, motions: Array, modal: Array) -> Array:
    """(n,): what tension adds to the stiffness of a body where joints keep two of its nodes from coming nearer.

    Nodes are held apart if no motion that joints allow (`motions`) brings them nearer as the shapes by themselves would
    let them. What they would come nearer by is stretched then, with the stiffness of the shapes. `modal` (n, m) are n
    deformations.
    """
    b, body, added = loaded
    modes, free = body.shapes_in_frame, motions[6:]
    form, most = free.T @ modes.stiffness @ free, np.zeros(len(modal))
    for first, other in combinations(held_nodes(eq, b, body), 2):
        arm = modes.component.positions[other] - modes.component.positions[first]
        if not (length := np.linalg.norm(arm)) > 0.0:
            continue
        pull = arm / length @ (modes.motion_at(other) - modes.motion_at(first))[:3]
        alone, held = pull @ np.linalg.solve(modes.stiffness, pull), 0.0
        if free.shape[1]:
            held = pull @ free @ np.linalg.solve(form, free.T @ pull)
        if not alone > 0.0 or held > APART * alone:
            continue
        shortening, parts = added.shortening(first, other), added.deformation(modal.T)
        tension = np.maximum(0.5 * np.sum(parts * (shortening @ parts), axis=0), 0.0) / alone
        most = np.maximum(most, tension * np.linalg.eigvalsh(shortening)[-1])
    return most


def _responses(eq: Equations, bodies: list[NumberedBody], t: float, y: Array) -> tuple[Array, NDArray[np.intp], Array]:
    """(n_v, m): velocities after impulses on the modal coordinates of some bodies.

    Also where these are among the velocities, and the columns of the impulses, (m, m).
    """
    q, v, z = eq.split(y)
    eq.update(t, q, v, z)
    eq.factor()
    modal = np.concatenate([np.arange(eq.n_v)[b.v_slice][b.formulation.modal_v] for b in bodies])
    data = [frame_of(b).inertia_data for b in bodies]
    scale = linalg.block_diag(*(linalg.cholesky(d.modal_mass, lower=True) for d in data if d is not None))
    responses = np.zeros((eq.n_v, len(modal)))
    for k, impulse in enumerate(scale.T):
        right = np.zeros(eq.n_v + eq.n_rows)
        right[modal] = impulse
        responses[:, k] = eq.solve(right)[: eq.n_v]
    return responses, modal, scale


def bent_frequencies(eq: Equations, b: NumberedBody, body: FlexibleBody, t: float, y: Array) -> tuple[Array, Array]:
    """Frequencies of a body among all that joints connect it with, rad/s: by linear shapes, and as it is bent.

    A body that is bent by eta becomes shorter where it bends more: its nodes move by (psi + g eta) eta'. So what moves
    along it bends it, which linear theory does not know: it takes a bent bar for as stiff along itself as a straight
    one. In mean axes g carries no momentum, and matters where joints hold nodes: it is added to their equations.
    """
    flat = y.copy()
    own = np.arange(eq.n_v)[b.v_slice][b.formulation.modal_v]
    modal = eq.split(y)[0][b.q_slice][b.formulation.modal_q]
    eq.split(flat)[0][b.q_slice][b.formulation.modal_q] = 0.0
    e = eq.evaluate(t, *eq.split(flat))
    mass, jacobian = sparse.csr_array(e.mass), sparse.csr_array(e.jacobian)
    rotation = b.formulation.poses(eq.split(y)[0][None, b.q_slice])[1][0]
    mean = body.used_modes.relative_to("mean")
    rows, columns, values = [], [], []
    for side in sides_of(eq, [b]):
        marker = b.markers[side.number - b.first_marker]
        if isinstance(marker, AxisMarker):
            continue
        node = body.node_at(marker.at)
        held = side.in_space(eq.work.entries[side.places])  # by displacements and, about the origin, by turns
        forces = held[:, :3] @ rotation
        torques = held[:, 3:] - np.cross(body.modes.component.positions[node], forces)
        bends = mean.curve_at(node) @ modal
        added = forces @ bends[:3] + torques @ bends[3:]
        numbers = np.arange(eq.n_rows)[side.rows]
        rows += np.repeat(numbers, len(modal)).tolist()
        columns += np.tile(own, len(numbers)).tolist()
        values += added.ravel().tolist()
    bent = jacobian + sparse.coo_array((values, (rows, columns)), shape=jacobian.shape).tocsr()
    data = frame_of(b).inertia_data
    assert data is not None
    scale = linalg.cholesky(data.modal_mass, lower=True)
    found = []
    for constraints in (jacobian, bent):
        responses = _after_impulses(mass, constraints, own) @ scale
        sizes, vectors = np.linalg.eigh(scale.T @ responses)
        moving = sizes > HELD
        basis = responses @ (vectors[:, moving] / np.sqrt(sizes[moving]))
        squares = np.linalg.eigvalsh(basis.T @ body.shapes_in_frame.stiffness @ basis)
        found.append(np.sqrt(np.maximum(squares, 0.0)))
    count = min(map(len, found))
    return found[0][:count], found[1][:count]


def _after_impulses(mass: Any, jacobian: Any, own: NDArray[np.intp]) -> Array:
    """(m, m): velocities of some coordinates after unit impulses on them; constraints give way by next to nothing.

    Dependent ones, which would be contradictory otherwise, share what they hold.
    """
    soft = GIVES * (jacobian.multiply(jacobian) @ (1.0 / mass.diagonal()))
    whole = sparse.block_array([[mass, jacobian.T], [jacobian, -sparse.diags_array(soft)]], format="csc")
    right = np.zeros((whole.shape[0], len(own)))
    right[own, np.arange(len(own))] = 1.0
    found = linalg_sparse.splu(whole).solve(right)[own]
    return 0.5 * (found + found.T)


def held_nodes(eq: Equations, b: NumberedBody, body: FlexibleBody) -> list[int]:
    """The nodes of a body at which it is joined to others."""
    jointed = {number for c in eq.tables.constraints for number in (c.i, c.j)}
    markers = [m for k, m in enumerate(b.markers, b.first_marker) if k in jointed and not isinstance(m, AxisMarker)]
    return sorted({body.node_at(marker.at) for marker in markers})


def _changes(eq: Equations, loaded: Loaded, y: Array, solved: Solved) -> Array:
    """(n, 2, k, k): what loads along a body, and those across it, add to the stiffness of its deformations."""
    b, body, added = loaded
    q, v, _ = eq.split(y)
    position, rotation = b.formulation.poses(q[:, b.q_slice])
    omega = np.einsum("nij,ni->nj", rotation, b.formulation.twists(q[:, b.q_slice], v[:, b.v_slice])[1])
    products = np.stack([omega[:, i] * omega[:, j] for i, j in PRODUCTS], axis=1)
    change = np.tensordot(products, added.spin, axes=(1, 1))
    change += np.tensordot(solved.rates[:, b.v_slice][:, b.formulation.modal_v], added.inertia, axes=(1, 1))
    local = (solved.positions - position[:, None]) @ rotation
    for number, marker in enumerate(b.markers, b.first_marker):
        load = (solved.loads[:, number].reshape(-1, 2, 3) @ rotation).reshape(-1, 6)
        nodes = nodes_at(eq, body, number, marker, local)
        for node in np.unique(nodes):
            change[nodes == node] += np.tensordot(load[nodes == node], added.at(int(node)), axes=(1, 1))
    return change


def _shares(changes: Array) -> Array:
    """(n, 3): the changes of stiffness where loads along a body press it, where they pull it, and by loads across it.

    They are relative to the stiffness, and the largest among its deformations; negative where stiffness is lost.
    """
    along, across = np.moveaxis(np.linalg.eigvalsh(changes), 1, 0)
    return np.stack(
        [along.min(axis=1, initial=0.0), along.max(axis=1, initial=0.0), across.min(axis=1, initial=0.0)], 1
    )
