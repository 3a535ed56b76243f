"""Constraints and forces that a user wrote: their values and derivatives are put into rows, which fixed loops then use.

The rows are filled by a compiled stage (`residual_rows`: derivatives by complex step) or by Python.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .compile import Stage, records
from .loops import apply_wrench, project
from .workspace import (
    DYNAMICS,
    OK,
    POSITION,
    USER_METHOD,
    block,
    marker_dtype,
    marker_table,
    part,
    workspace,
)

MARKER_COMPLEX = marker_dtype("c16")
STEP = 1e-30
REACH = 1e-2  # how far the second derivative looks along the motion; truncation REACH^8/630, rounding 1e-16/REACH
# Central difference of order eight for a first derivative: weights of f(k d) - f(-k d), k = 1 … 4.
CENTRAL = np.array([4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0])

ROW: np.dtype = np.dtype("f8")
EQUATIONS = 0
residual = None


def constraint_fields(equations: int) -> list[tuple]:
    """Fields that rows of a user's constraint have: its values and derivatives at the last evaluation."""
    return [
        ("i", "i8"),
        ("j", "i8"),
        ("row", "i8"),
        ("block_i", "i8"),
        ("block_j", "i8"),
        ("value", "f8", (equations,)),
        ("drift", "f8", (equations,)),  # dC/dt at fixed markers
        ("curvature", "f8", (equations,)),  # second derivative of C along the motion, for x'' = 0
        ("gradient", "f8", (equations, 24)),
    ]


FORCE_FIELDS = [("i", "i8"), ("j", "i8"), ("force", "f8", (3,)), ("torque", "f8", (3,))]
FORCE_ROW = np.dtype(FORCE_FIELDS, align=True)


@Stage
def residual_rows(t, work, table, n):
    """Fill the rows of a user's constraint from its compiled `residual`. Binds ROW, EQUATIONS, residual.

    First derivatives by complex step. The second derivative along the motion is the derivative of the first one by a central
    difference of order eight: errors of 1e-13 for functions of moderate size.
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = marker_table(w)
    pair = records(w.scratch, 2, MARKER_COMPLEX)
    i, j = pair[0], pair[1]
    for k in range(n):
        e = rows[k]
        moved(i, markers[e.i], 0.0 + 0.0j)
        moved(j, markers[e.j], 0.0 + 0.0j)
        try:
            value = residual(e, t + 0.0j, i, j)
            for r in range(EQUATIONS):
                e.value[r] = value[r].real
            if w.level == POSITION:
                continue
            for side in range(2):
                m = pair[side]
                for x in range(12):
                    if x < 3:
                        m.position[x] += STEP * 1j
                    else:
                        m.axes[(x - 3) // 3, (x - 3) % 3] += STEP * 1j
                    value = residual(e, t + 0.0j, i, j)
                    for r in range(EQUATIONS):
                        e.gradient[r, 12 * side + x] = value[r].imag / STEP
                    if x < 3:
                        m.position[x] = m.position[x].real
                    else:
                        m.axes[(x - 3) // 3, (x - 3) % 3] = m.axes[(x - 3) // 3, (x - 3) % 3].real
            value = residual(e, t + STEP * 1j, i, j)
            for r in range(EQUATIONS):
                e.drift[r] = value[r].imag / STEP
                e.curvature[r] = 0.0
            speed = max(1.0, largest_rate(markers[e.i]), largest_rate(markers[e.j]))
            reach = REACH / speed
            for step in range(4):
                for sign in range(-1, 2, 2):
                    s = sign * (step + 1) * reach + STEP * 1j
                    moved(i, markers[e.i], s)
                    moved(j, markers[e.j], s)
                    value = residual(e, t + s, i, j)
                    for r in range(EQUATIONS):
                        e.curvature[r] += sign * CENTRAL[step] * value[r].imag / STEP / reach
        except Exception:
            w.culprit = k
            return USER_METHOD
    return OK


@njit
def moved(out, marker, s):
    """out := the marker displaced by s times its rate."""
    for r in range(3):
        out.position[r] = marker.position[r] + s * marker.velocity[r]
        out.velocity[r] = marker.velocity[r]
        out.angular_velocity[r] = marker.angular_velocity[r]
        for c in range(3):
            out.axes[r, c] = marker.axes[r, c] + s * marker.axes_rate[r, c]
            out.axes_rate[r, c] = marker.axes_rate[r, c]


@njit
def largest_rate(marker):
    largest = 0.0
    for r in range(3):
        largest = max(largest, abs(marker.velocity[r]))
        for c in range(3):
            largest = max(largest, abs(marker.axes_rate[r, c]))
    return largest


@Stage
def projected_rows(t, work, table, n):
    """Residual, rate, gamma and Jacobian blocks from filled rows. Binds ROW, EQUATIONS."""
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = marker_table(w)
    g = block(w.scratch, 0, EQUATIONS, 24)
    for k in range(n):
        e = rows[k]
        c = part(w.residual, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            c[r] = e.value[r]
        if w.level == POSITION:
            continue
        rate, gamma = part(w.constraint_rate, e.row, EQUATIONS), part(w.gamma, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            rate[r] = e.drift[r]
            gamma[r] = -e.curvature[r]
            for x in range(24):
                g[r, x] = e.gradient[r, x]
        project(w, markers[e.i], g, 0, EQUATIONS, e.block_i, rate, gamma)
        project(w, markers[e.j], g, 12, EQUATIONS, e.block_j, rate, gamma)
    return OK


@Stage
def applied_rows(t, work, table, n):
    """Generalized forces from rows whose force and torque Python filled in."""
    w = workspace(work)
    if w.level < DYNAMICS:
        return OK
    rows = records(table, n, FORCE_ROW)
    markers = marker_table(w)
    for k in range(n):
        e = rows[k]
        apply_wrench(w, markers[e.i], markers[e.j], e.force, e.torque)
    return OK
