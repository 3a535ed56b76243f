"""The tangent of forces that depend on the reaction of a joint, such as friction.

Their load Q(q, v, R) takes part in F = M v' - Q + J^T lambda by the motion at a fixed reaction, as every force does,
and by the reaction R = -G^T lambda, G being the columns of J that belong to the origin of the body on which R acts:

    dQ = Q_R (R_q d + R_lambda dlambda),    R_lambda = -G^T,    R_q d = -(sum lambda C_xx) B d at that point

The second derivatives of the joint are the ones that it adds to K, of which these are the rows that belong to the
origin: so its stages run again, into a pool of their own.
"""

from __future__ import annotations

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, part, record, records, vector
from ..compiler.templates import template
from ..free import ROW, reactive_gradient, reactive_wrench
from ..layout import MOTION_J, MOTIONS, PLACE
from ..stages.loops import hand_over, reaction_by, reaction_of
from ..workspace import GRADIENT_AT, HESSIAN_AT, MARKER, OK, REACTIVE, workspace
from .tangent import add, column, cross, dot, moved, tangent_record

FORCE = 3


@template(ROW, reactive_wrench, reactive_gradient)
def reactive_forces(t, work, table, n):
    """Forces of a type, for the multipliers in `reactions`."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g, by_reaction = block(w.scratch, GRADIENT_AT, 6, MOTIONS), block(a.reaction_gradient, 0, 6, FORCE)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        reactions = vector(a.reactions, w.n_rows)
        reaction = reaction_of(
            w, e.n_reactions, e.reaction_rows, e.reaction_entries, e.reaction_sign, e.reaction_components, reactions
        )
        clear(g)
        clear(by_reaction)
        force, torque = reactive_wrench(e, t, i, j, reaction)
        reactive_gradient(e, t, i, j, reaction, g, by_reaction)
        hand_over(w, force, torque)
        call(a.add_force, t, work, table + k * rows.itemsize, 0)
        call(a.add_reactive, t, work, table + k * rows.itemsize, 0)
    return OK


@Stage
def add_reactive(t, work, link, n):
    """What one force adds by the change of the reaction: to K by the motion, and by the multipliers of the joint."""
    w = workspace(work)
    a = tangent_record(w)
    e = record(link, REACTIVE)
    markers = records(w.markers, w.n_markers, MARKER)
    i, j = markers[e.i], markers[e.j]
    bend_joint(w, a, e, t, work)
    arm = (j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2])
    g, moves = block(a.reaction_gradient, 0, 6, FORCE), part(w.scratch, HESSIAN_AT, MOTION_J)
    on_second = e.reaction_sign > 0.0  # what acts on the ground is told by what acts on the first body
    place = e.by_reactions
    for second in range(2):
        m = j if second else i
        jacobian = block(w.jacobians, m.jacobian, PLACE, m.n)
        tangents = block(a.rate_tangents, m.jacobian, PLACE, m.n)
        push = block(a.reaction_push, 0, m.n, FORCE)
        for c in range(m.n):
            _, du, spin = moved(moves, m, jacobian, tangents, 1, c)
            for x in range(FORCE):
                f, moment = column(g, 0, 1, x), column(g, 3, 1, x)
                if second:
                    push[c, x] = dot(f, du) + dot(moment, spin)
                else:
                    push[c, x] = -dot(f, du) - dot(add(moment, 1.0, cross(arm, f)), spin)
        for other in range(2):
            p = j if other else i
            if second:
                offset = e.tangent_jj if other else e.tangent_ji
            else:
                offset = e.tangent_ij if other else e.tangent_ii
            if on_second:
                source = e.tangent_jj if other else e.tangent_ji
            else:
                source = e.tangent_ij if other else e.tangent_ii
            if m.n == 0 or p.n == 0 or (j if on_second else i).n == 0:
                continue
            out, change = block(a.stiffness, offset, m.n, p.n), block(a.reaction_stiffness, source, FORCE, p.n)
            for c in range(m.n):
                for x in range(e.reaction_components):
                    factor = e.reaction_sign * push[c, x]
                    for d in range(p.n):
                        out[c, d] += factor * change[x, d]
        by_reactions = block(a.by_reactions, place, m.n, e.n_reactions)
        for r in range(e.n_reactions):
            by = reaction_by(w, e.reaction_entries[r], e.reaction_sign, e.reaction_components)
            for c in range(m.n):
                by_reactions[c, r] = push[c, 0] * by[0] + push[c, 1] * by[1] + push[c, 2] * by[2]
        place += m.n * e.n_reactions
    return OK


@inner
def bend_joint(w, a, e, t, work):
    """What the joint by itself adds to K, in a pool of its own."""
    markers = records(w.markers, w.n_markers, MARKER)
    i, j = markers[e.i].n, markers[e.j].n
    clear(part(a.reaction_stiffness, e.tangent_ii, i * i))
    clear(part(a.reaction_stiffness, e.tangent_ij, i * j))
    clear(part(a.reaction_stiffness, e.tangent_ji, j * i))
    clear(part(a.reaction_stiffness, e.tangent_jj, j * j))
    kept = a.stiffness, a.loads, a.multipliers
    a.stiffness, a.loads, a.multipliers = a.reaction_stiffness, a.reaction_loads, a.reactions
    for k in range(e.n_parts):
        call(e.part_stages[k], t, work, e.part_tables[k], 1)
    a.stiffness, a.loads, a.multipliers = kept
