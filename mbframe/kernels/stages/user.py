"""Constraints and forces that a user wrote: their values and derivatives are put into rows, which fixed loops then use.

The rows are filled by a compiled stage (`residual_rows`: derivatives by complex step) or by Python.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, copy, part, records
from ..compiler.templates import template
from ..free import (
    EQUATIONS,
    LOOP,
    ROW,
    STATES,
    curvature,
    energy,
    gradient,
    residual,
    state_rate,
    velocity_residual,
    wrench,
)
from ..layout import AXES_AT, MOTION_J, MOTIONS, PLACE, PLACES, SPIN_AT, VELOCITY_AT
from ..workspace import (
    DYNAMICS,
    GRADIENT_AT,
    HESSIAN_AT,
    LINK_FIELDS,
    MARKER,
    OK,
    POSITION,
    USER_METHOD,
    VALUE_AT,
    marker_dtype,
    workspace,
)
from .counters import turns_of
from .loops import hand_over, note_energy

MARKER_COMPLEX = marker_dtype("c16")
STEP = 1e-30
REACH = 0.25  # radius of the first circle on which the second derivative looks around (s, or m or rad of the motion)
SMALLER = 4.0  # a circle is so many times smaller than the one before
CIRCLES = 11
TAIL = 1e-9  # part of the change on a circle below which its highest coefficients show that the series has converged
ROUNDING = 32.0 * np.finfo(float).eps
# Where a circle is sampled: half of it, since the residual takes conjugate values on the other half.
AROUND = np.exp(1j * np.pi * (np.arange(8) + 0.5) / 8.0)
# Weights of the samples in the coefficients of s^2, s^14 and s^15, times powers of the radius.
COEFFICIENTS = np.array([AROUND**-power / 8.0 for power in (2, 14, 15)])


def constraint_fields(equations: int) -> list[tuple]:
    """Fields that rows of a user's constraint have: its values and derivatives at the last evaluation."""
    return [
        *LINK_FIELDS,
        ("value", "f8", (equations,)),
        ("drift", "f8", (equations,)),  # dC/dt at fixed markers
        ("curvature", "f8", (equations,)),  # second derivative of C along the motion, for x'' = 0
        ("gradient", "f8", (equations, PLACES)),
        ("change", "f8", (equations,)),  # largest one of C on a circle around the state
        ("coefficients", "f8", (equations, len(COEFFICIENTS))),  # of the powers there
        ("doubt", "f8", (equations,)),  # about the curvature
    ]


FORCE_ROW = np.dtype([*LINK_FIELDS, ("force", "f8", (3,)), ("torque", "f8", (3,))], align=True)


@template(LOOP)
def guarded(t, work, table, n):
    """A loop over the bodies of a user's formulation, whose kernels may raise: no element is to blame."""
    status = OK
    try:
        status = LOOP(t, work, table, n)
    except Exception:
        status = USER_METHOD
    if status == USER_METHOD:
        workspace(work).culprit = -1
    return status


@template(ROW, EQUATIONS, residual)
def residual_rows(t, work, table, n):
    """Fill the rows of a user's constraint from its compiled `residual`.

    First derivatives by complex step. The second derivative along the motion is that of the power series in the time s
    from now, whose coefficients are sums of values on a circle in the plane of complex s. Unlike differences of real
    times these miss no frequency: what is fast grows exponentially there, and then the circle is made smaller.
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    pair = records(w.scratch, 2, MARKER_COMPLEX)
    i, j = pair[0], pair[1]
    samples = 1 if w.level == POSITION else 26 + CIRCLES * len(AROUND)
    for k in range(n):
        e = rows[k]
        radius = REACH / max(1.0, largest_rate(markers[e.i]), largest_rate(markers[e.j]))
        # Sample 0 is the state itself, 1 … 24 change one of the marker numbers, 25 changes t, the rest move along the
        # motion. One call for all of them: each place from which the user's method is called would be compiled apart.
        for sample in range(samples):
            s, time, step = 0.0j, t + 0.0j, 0
            if sample > 25:
                step = (sample - 26) % len(AROUND)
                s = radius * AROUND[step]
                time += s
            elif sample == 25:
                time += STEP * 1j
            moved(i, markers[e.i], s)
            moved(j, markers[e.j], s)
            j.turns = turns_of(w, e.counter)
            if 0 < sample < 25:
                disturb(pair[(sample - 1) // PLACE], (sample - 1) % PLACE)
            try:
                value = residual(e, time, i, j)
                if len(value) != EQUATIONS:
                    raise ValueError
                for r in range(EQUATIONS):
                    if sample == 0:
                        e.value[r] = value[r].real
                        e.doubt[r] = np.inf
                        e.curvature[r] = 0.0
                    elif sample < 25:
                        e.gradient[r, sample - 1] = value[r].imag / STEP
                    elif sample == 25:
                        e.drift[r] = value[r].imag / STEP
                    else:
                        gather(e, r, step, value[r] - e.value[r])
            except Exception:
                if sample < 26:
                    w.culprit = k
                    return USER_METHOD
                e.change[:] = np.inf  # far out in the complex plane it may have no value
            if sample > 25 and step == len(AROUND) - 1:
                if settled(e, t, markers[e.i], markers[e.j], radius):
                    break
                radius /= SMALLER
    return OK


@inner
def gather(e, r, step, change):
    """Add a sample on a circle, the change of a residual from the middle, to the coefficients of its series."""
    if step == 0:
        e.change[r] = 0.0
        e.coefficients[r] = 0.0
    size = abs(change)
    e.change[r] = max(e.change[r], size) if np.isfinite(size) else np.inf
    for c in range(len(COEFFICIENTS)):
        e.coefficients[r, c] += (change * COEFFICIENTS[c, step]).real


@inner
def settled(e, t, i, j, radius):
    """Whether a circle shows the second derivatives; each is taken if it is less doubtful than those of others."""
    done = True
    for r in range(len(e.value)):
        second, tail = e.coefficients[r, 0], max(abs(e.coefficients[r, 1]), abs(e.coefficients[r, 2]))
        if not np.isfinite(e.change[r]):
            done = False
            continue
        if tail / radius**2 < e.doubt[r]:
            e.doubt[r] = tail / radius**2
            e.curvature[r] = 2.0 * second / radius**2
        size = abs(e.drift[r]) * (abs(t) + radius) + terms(e.gradient[r, :PLACE], i, radius)
        size += terms(e.gradient[r, PLACE:], j, radius)
        if tail > TAIL * e.change[r] + ROUNDING * size:
            done = False
    return done


@inner
def terms(gradient, marker, radius):
    """Size of what the numbers of a marker add to a residual, near to a state: rounding errors are parts of it."""
    size = 0.0
    for x in range(3):
        size += abs(gradient[x]) * (abs(marker.position[x]) + radius * abs(marker.velocity[x]))
    for x in range(9):
        rate = radius * abs(marker.axes_rate[x // 3, x % 3])
        size += abs(gradient[3 + x]) * (abs(marker.axes[x // 3, x % 3]) + rate)
    return size


@inner
def disturb(marker, x):
    """Add the imaginary step to one of the 12 numbers of a marker."""
    if x < AXES_AT:
        marker.position[x] += STEP * 1j
    else:
        marker.axes[(x - AXES_AT) // 3, (x - AXES_AT) % 3] += STEP * 1j


@inner
def moved(out, marker, s):
    """out := the marker displaced by s times its rate."""
    for r in range(3):
        out.position[r] = marker.position[r] + s * marker.velocity[r]
        out.velocity[r] = marker.velocity[r]
        out.angular_velocity[r] = marker.angular_velocity[r]
        for c in range(3):
            out.axes[r, c] = marker.axes[r, c] + s * marker.axes_rate[r, c]
            out.axes_rate[r, c] = marker.axes_rate[r, c]


@inner
def largest_rate(marker):
    largest = 0.0
    for r in range(3):
        largest = max(largest, abs(marker.velocity[r]))
        for c in range(3):
            largest = max(largest, abs(marker.axes_rate[r, c]))
    return largest


@template(ROW, EQUATIONS, residual, gradient, curvature)
def given_rows(t, work, table, n):
    """Fill the rows of a user's constraint that gives its own derivatives."""
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        e = rows[k]
        i, j = copies(w, e.i, e.j, e.counter)
        clear(e.drift)
        clear(e.gradient)
        try:
            value = residual(e, t, i, j)
            if len(value) != EQUATIONS:
                raise ValueError
            for r in range(EQUATIONS):
                e.value[r] = value[r]
            if w.level > POSITION:
                gradient(e, t, i, j, e.gradient)
                bend = curvature(e, t, i, j)
                if len(bend) != EQUATIONS:
                    raise ValueError
                for r in range(EQUATIONS):
                    e.curvature[r] = bend[r]
        except Exception:
            w.culprit = k
            return USER_METHOD
    return OK


@inner
def copies(w, i, j, counter):
    """Copies of the two markers of an element, which a user's method may overwrite, with the turns of its angle."""
    markers, pair = records(w.markers, w.n_markers, MARKER), records(w.scratch, 2, MARKER)
    pair[0] = markers[i]
    pair[1] = markers[j]
    pair[1].turns = turns_of(w, counter)
    return pair[0], pair[1]


@template(ROW, EQUATIONS)
def projected_rows(t, work, table, n):
    """Residual, rate, gamma and Jacobian blocks from filled rows."""
    w = workspace(work)
    rows = records(table, n, ROW)
    g = block(w.scratch, GRADIENT_AT, EQUATIONS, PLACES)
    for k in range(n):
        e = rows[k]
        c = part(w.residual, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            c[r] += e.value[r]
        if w.level == POSITION:
            continue
        rate, gamma = part(w.constraint_rate, e.row, EQUATIONS), part(w.gamma, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            rate[r] += e.drift[r]
            gamma[r] -= e.curvature[r]
        if w.n_drives > 0:
            drift = part(w.drift, e.row, EQUATIONS)
            for r in range(EQUATIONS):
                drift[r] += e.drift[r]
        copy(e.gradient, g)
        call(w.project, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


def velocity_fields(equations: int) -> list[tuple]:
    """Fields that rows of a user's nonholonomic constraint have."""
    return [
        *LINK_FIELDS,
        ("value", "f8", (equations,)),
        ("drift", "f8", (equations,)),  # dD/dt at fixed markers
        ("gradient", "f8", (equations, MOTIONS)),
    ]


@template(ROW, EQUATIONS, velocity_residual)
def velocity_rows(t, work, table, n):
    """Fill the rows of a user's nonholonomic constraint from its compiled method.

    Derivatives by complex step: sample 0 is the state itself, 1 … 36 change one number of a marker, 37 changes t.
    """
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    pair = records(w.scratch, 2, MARKER_COMPLEX)
    i, j = pair[0], pair[1]
    for k in range(n):
        e = rows[k]
        for sample in range(38):
            moved(i, markers[e.i], 0.0j)
            moved(j, markers[e.j], 0.0j)
            j.turns = turns_of(w, e.counter)
            if 0 < sample < 37:
                disturb_motion(pair[(sample - 1) // MOTION_J], (sample - 1) % MOTION_J)
            try:
                value = velocity_residual(e, t + (STEP * 1j if sample == 37 else 0.0j), i, j)
                if len(value) != EQUATIONS:
                    raise ValueError
                for r in range(EQUATIONS):
                    if sample == 0:
                        e.value[r] = value[r].real
                    elif sample < 37:
                        e.gradient[r, sample - 1] = value[r].imag / STEP
                    else:
                        e.drift[r] = value[r].imag / STEP
            except Exception:
                w.culprit = k
                return USER_METHOD
    return OK


@inner
def disturb_motion(marker, x):
    """Add the imaginary step to one of the 18 numbers (position, axes, velocity, angular velocity) of a marker."""
    if x < PLACE:
        disturb(marker, x)
    elif x < SPIN_AT:
        marker.velocity[x - VELOCITY_AT] += STEP * 1j
    else:
        marker.angular_velocity[x - SPIN_AT] += STEP * 1j


@template(ROW, EQUATIONS)
def projected_velocity_rows(t, work, table, n):
    """Rates, gamma and Jacobian blocks of nonholonomic constraints from filled rows."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    g, out = block(w.scratch, HESSIAN_AT, EQUATIONS, MOTIONS), part(w.scratch, VALUE_AT, EQUATIONS)
    for k in range(n):
        e = rows[k]
        gamma = part(w.gamma, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            out[r] = e.value[r]
            gamma[r] -= e.drift[r]
        copy(e.gradient, g)
        call(w.project_velocity, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@template(ROW, STATES, wrench, state_rate)
def guarded_forces(t, work, table, n):
    """All forces of a user's type, as `loops.forces`; but its methods may raise, and each gets copies of its arguments.

    The interpreted method is called afterwards to show the error.
    """
    w = workspace(work)
    if w.level < DYNAMICS:
        return OK
    rows = records(table, n, ROW)
    for k in range(n):
        e = rows[k]
        i, j = copies(w, e.i, e.j, e.counter)
        try:
            if STATES == 0:
                force, torque = wrench(e, t, i, j)
            else:
                z, z_rate = part(w.y, w.n_q + w.n_v + e.z, STATES), part(w.rates, w.n_q + w.n_v + e.z, STATES)
                rate = state_rate(e, t, i, j, z.copy())
                if len(rate) != STATES:
                    raise ValueError
                for s in range(STATES):
                    z_rate[s] = rate[s]
                i, j = copies(w, e.i, e.j, e.counter)
                force, torque = wrench(e, t, i, j, z.copy())
            if len(force) != 3 or len(torque) != 3:
                raise ValueError
            hand_over(w, force, torque)
        except Exception:
            w.culprit = k
            return USER_METHOD
        call(w.apply, t, work, table + k * rows.itemsize, 0)
    return OK


@template(ROW, energy)
def guarded_energies(t, work, table, n):
    """Potential energy of all elements of a user's type."""
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        e = rows[k]
        i, j = copies(w, e.i, e.j, e.counter)
        try:
            note_energy(w, e, energy(e, t, i, j))
        except Exception:
            w.culprit = k
            return USER_METHOD
    return OK


@Stage
def applied_rows(t, work, table, n):
    """Generalized forces from rows whose force and torque Python filled in."""
    w = workspace(work)
    if w.level < DYNAMICS:
        return OK
    rows = records(table, n, FORCE_ROW)
    for k in range(n):
        hand_over(w, rows[k].force, rows[k].torque)
        call(w.apply, t, work, table + k * rows.itemsize, 0)
    return OK
