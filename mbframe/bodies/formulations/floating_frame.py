"""Flexible bodies: a floating frame that moves as a rigid body, and small deformations in it by modal coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...kernels.compiler.arrays import numbers
from ...kernels.layout import PLACE
from ...rotations import matrix_from_quaternion, quaternion_from_matrix, skew
from ...vectors import column, cross, dot, plus, scaled, seen, times, triple, unit
from .base import Array, Formulation, MassProperties, Pattern, Variation
from .newton_euler import NewtonEuler
from .node_rotation import coefficients, turn, twist, twist_change, untwist, untwist_change

if TYPE_CHECKING:
    from ...flexible.integrals import ModalInertia
    from ...markers import Marker
    from ...state import Motion
    from ..base import Body

DEFINITE = 0.01  # of the undeformed body's: a smaller inertia in some motion is one of the truncated energy only
rigid_frame, rigid_rates = NewtonEuler.prepare, NewtonEuler.rates


class FloatingFrame(Formulation):
    r"""Coordinates q = (r, p, \eta), velocities v = (r', \bar\omega, \eta'): 7 + m / 6 + m per body.

    r and p are origin and Euler parameters of the frame, as in `NewtonEuler`; \eta are the coordinates of m shapes. A
    material point at x moves as r + A (x + \psi \eta): [FlexibleNotes], eqs. (1) and (4). With a = A^T (r'' - g), the
    first moment s and the inertia I about the origin, H = \int (x + \psi \eta) x \psi dm, and J_k = dI/d\eta_k, the
    generalized Newton-Euler equations of [FlexibleNotes], eqs. (15), (16) and (22) are, in the axes of the frame,

        m a + w' x s + S \eta'' + w x (w x s) + 2 w x S \eta'                                 = force
        s x a + I w' + H \eta'' + I' w + H' \eta' + w x (I w + H \eta')                       = moment about the origin
        S^T a + H^T w' + M \eta'' + w.(H_lk - H_kl) \eta'_l - 1/2 w.J_k w + K \eta + D \eta'  = modal force

    s is linear, H linear and I quadratic in \eta with constant coefficients, so the cost does not depend on the size of
    the finite-element model. A node turns by exp(e~), e = \psi_\theta \eta (see `node_rotation`). The equations follow
    from a kinetic energy, so momentum and energy are kept; that needs the coupling of r'' and w' to be exactly -s~.

    Parameters
    ----------
    inertia
        Mass, shapes and stiffness; without it the body is rigid.
    axes
        What the frame follows, in words.
    """

    sized_by_body = True
    fields: ClassVar = [
        ("n_q", "i8"),
        ("n_v", "i8"),
        ("n_frame", "i8"),
        ("n_modes", "i8"),
        ("curved", "i8"),  # of `StiffenedFrame`, else 0; 1: g moves nodes, 2: it turns them as well
        ("mass", "f8"),
        ("moment", "f8", 3),  # s undeformed
        ("inertia", "f8", (3, 3)),  # I undeformed
        ("gravity", "f8", 3),
        # where matrices begin
        ("stiffness", "i8"),  # K (m x m)
        ("damping", "i8"),  # D (m x m)
        ("moments", "i8"),  # S (3 x m)
        ("spins", "i8"),  # H undeformed (3 x m)
        ("spin_pairs", "i8"),  # dH[c, l]/d eta_k in row 3 k + c, column l
        ("gyro_pairs", "i8"),  # the same minus k and l exchanged
        ("inertias", "i8"),  # xx, yy, zz, xy, xz, yz of J_k undeformed (6 x m)
        ("inertia_pairs", "i8"),  # second derivatives of I: component c for k, l in row 6 k + c, column l
    ]
    n_q: ClassVar[int] = 7
    n_v: ClassVar[int] = 6
    n_frame: ClassVar[int] = 7
    remedy: ClassVar[str] = 'set frame="mean" or geometric_stiffening=True'
    """What to do first where the body is deformed too far."""

    def __init__(self, inertia: ModalInertia | None = None, axes: str = "") -> None:
        self.inertia_data, self.axes = inertia, axes  # type: ignore[misc]
        m = self.n_modes
        # Instances of one class differ in size; what is compiled reads these numbers from the rows.
        self.n_q, self.n_v, self.n_frame = 7 + m, 6 + m, 7 + 6 * m  # type: ignore[misc]
        numbers_of = [(f"modal_coordinate.{k}", "") for k in range(m)]
        self.q_names = [*NewtonEuler.q_names, *numbers_of]  # type: ignore[misc]
        self.v_names = [*NewtonEuler.v_names, *[(f"modal_velocity.{k}", "1/s") for k in range(m)]]  # type: ignore[misc]

    @property
    def n_modes(self) -> int:
        """Number of shapes, m."""
        return 0 if self.inertia_data is None else self.inertia_data.n_modes

    @property
    def dissipates(self) -> bool:
        return self.inertia_data is not None and bool(np.any(self.inertia_data.damping))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FloatingFrame) and self.inertia_data is other.inertia_data

    def __hash__(self) -> int:
        return hash((FloatingFrame, id(self.inertia_data)))

    def __repr__(self) -> str:
        return f"FloatingFrame({self.n_modes} modes)"

    # --- described once ----------------------------------------------------------------------------------------------

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        sizes = {"n_q": self.n_q, "n_v": self.n_v, "n_frame": self.n_frame, "n_modes": self.n_modes, "gravity": gravity}
        data = self.inertia_data
        if data is None:
            rigid = super().row(body, gravity)
            moment = rigid["mass"] * rigid["center"]
            return sizes | {"mass": rigid["mass"], "moment": moment, "inertia": rigid["inertia"]}
        return sizes | {"mass": data.mass, "moment": data.moment, "inertia": data.inertia} | data.addresses()

    def marker_shape(self, marker: Marker) -> Array | None:
        return None if self.inertia_data is None else marker.node_shape

    def constant_mass(self, row: Any) -> Array:
        mass = np.zeros((self.n_v, self.n_v))
        mass[:3, :3] = row.mass * np.eye(3)
        mass[3:6, 3:6] = row.inertia
        mass[:3, 3:6] = -skew(row.moment)
        mass[3:6, :3] = skew(row.moment)
        if self.inertia_data is not None:
            mass[6:, 6:] = self.inertia_data.modal_mass
        return mass

    def mass_pattern(self, row: Any) -> Pattern:
        data = self.inertia_data
        pattern = np.zeros((self.n_v, self.n_v), bool)
        pattern[:3, :3] = np.eye(3)
        pattern[3:6, :3] = pattern[:3, 3:6] = bool(np.any(row.moment != 0.0))
        pattern[3:6, 3:6] = (row.inertia != 0.0) | np.eye(3, dtype=bool)
        if data is not None:
            moving = bool(np.any(data.moments != 0.0))
            pattern[3:6, :3] |= moving
            pattern[:3, 3:6] |= moving
            pattern[3:6, 3:6] |= bool(np.any(data.inertias != 0.0) or np.any(data.inertia_pairs != 0.0))
            translating = np.any(data.moments != 0.0, axis=0)
            spinning = (data.spins != 0.0) | np.any(data.spin_pairs.reshape(-1, 3, self.n_modes) != 0.0, axis=0)
            pattern[:3, 6:], pattern[6:, :3] = translating, translating[:, None]
            pattern[3:6, 6:], pattern[6:, 3:6] = spinning, spinning.T
            pattern[6:, 6:] = (data.modal_mass != 0.0) | np.eye(self.n_modes, dtype=bool)
        return pattern

    def constant_jacobian(self, marker: Any) -> Array:
        b = np.zeros((PLACE, self.n_v))
        b[:3, :3] = np.eye(3)
        return b

    def jacobian_pattern(self, marker: Any) -> Pattern:
        shape = numbers(marker.node_shape, 6, self.n_modes)
        b = np.zeros((PLACE, self.n_v), bool)
        b[:3, :3] = np.eye(3)
        b[:3, 3:6] = bool(np.any(marker.point != 0.0) or np.any(shape[:3] != 0.0))
        b[3:, 3:6] = True
        b[:3, 6:] = np.any(shape[:3] != 0.0, axis=0)
        b[3:, 6:] = np.any(shape[3:] != 0.0, axis=0)
        return b

    # --- coordinates and motions -------------------------------------------------------------------------------------

    def coordinates(
        self,
        position: Array,
        rotation: Array,
        velocity: Array,
        angular_velocity: Array,
        modal_coordinates: Sequence[float] | Array = (),
        modal_velocities: Sequence[float] | Array = (),
    ) -> tuple[Array, Array]:
        q, v = np.zeros(self.n_q), np.zeros(self.n_v)
        q[:3], q[3:7] = position, quaternion_from_matrix(rotation)
        v[:3], v[3:6] = velocity, rotation.T @ angular_velocity
        pairs = (("modal_coordinates", modal_coordinates, q[7:]), ("modal_velocities", modal_velocities, v[6:]))
        for name, given, target in pairs:
            if len(given) not in (0, self.n_modes):
                raise ValueError(f"its {name} has {len(given)} numbers; the body has {self.n_modes} modes")
            target[:] = given if len(given) else 0.0
        return q, v

    def coordinates_of(self, motion: Motion) -> tuple[Array, Array]:
        return self.coordinates(
            motion.position,
            motion.rotation,
            motion.velocity,
            motion.angular_velocity,
            motion.modal_coordinates,
            motion.modal_velocities,
        )

    def poses(self, q: Array) -> tuple[Array, Array]:
        return q[:, :3], matrix_from_quaternion(q[:, 3:7])

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return v[:, :3], np.einsum("nij,nj->ni", matrix_from_quaternion(q[:, 3:7]), v[:, 3:6])

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)

    def energies(self, q: Array, v: Array, properties: MassProperties, gravity: Array) -> tuple[Array, Array]:
        if (data := self.inertia_data) is None:
            return super().energies(q, v, properties, gravity)
        linear, angular, s, rotation = self._momenta(q, v)
        spins = data.spins + np.einsum("nk,kcl->ncl", q[:, 7:], data.spin_pairs.reshape(-1, 3, self.n_modes))
        modal = np.einsum("ncl,nc->nl", spins, v[:, 3:6]) + v[:, 6:] @ data.modal_mass
        modal += np.einsum("ck,nc->nk", data.moments, np.einsum("nji,nj->ni", rotation, v[:, :3]))
        momenta = np.hstack([linear, angular, modal])
        kinetic = 0.5 * np.sum(v * momenta, axis=1)
        center = data.mass * q[:, :3] + np.einsum("nij,nj->ni", rotation, s)
        return kinetic, 0.5 * np.einsum("nk,kl,nl->n", q[:, 7:], data.stiffness, q[:, 7:]) - center @ gravity

    def beyond(self, q: Array) -> str:
        if (data := self.inertia_data) is None:
            return ""
        now, undeformed = (self._relative_mass(data, eta) for eta in (q[7:], 0.0 * q[7:]))
        from scipy import linalg

        least = float(linalg.eigvalsh(now, undeformed, subset_by_index=(0, 0))[0])
        if least > DEFINITE:
            return ""
        return (
            "it is deformed so far that its inertia, known to second order in the deformation, is none any more (in "
            f"some motion {least:.2g} of that undeformed); {self.remedy}, or divide the body into several"
        )

    def _relative_mass(self, data: ModalInertia, modal: Array) -> Array:
        """(3 + m, 3 + m): the mass matrix of w and eta' without the motion of the centre of mass."""
        m = self.n_modes
        s = data.moment + data.moments @ modal
        changes = data.inertias @ modal + 0.5 * np.einsum(
            "k,kcl,l->c", modal, data.inertia_pairs.reshape(m, 6, m), modal
        )
        mass = np.zeros((3 + m, 3 + m))
        mass[:3, :3] = data.inertia + changes[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
        mass[:3, 3:] = data.spins + np.einsum("k,kcl->cl", modal, data.spin_pairs.reshape(m, 3, m))
        mass[3:, :3], mass[3:, 3:] = mass[:3, 3:].T, data.modal_mass
        carried = np.hstack([-skew(s), data.moments])
        return mass - carried.T @ carried / data.mass

    def momenta(self, q: Array, v: Array, properties: MassProperties) -> tuple[Array, Array]:
        if self.inertia_data is None:
            return super().momenta(q, v, properties)
        linear, angular, _, rotation = self._momenta(q, v)
        return linear, np.cross(q[:, :3], linear) + np.einsum("nij,nj->ni", rotation, angular)

    def _momenta(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """dT/dr' (global), dT/dw (in the axes of the frame), first moment and rotation; (n, 3) and (n, 3, 3)."""
        data, m = self.inertia_data, self.n_modes
        assert data is not None
        _, rotation = self.poses(q)
        omega, modal, rate = v[:, 3:6], q[:, 7:], v[:, 6:]
        s = data.moment + modal @ data.moments.T
        spins = data.spins + np.einsum("nk,kcl->ncl", modal, data.spin_pairs.reshape(-1, 3, m))
        changes = modal @ data.inertias.T
        changes += 0.5 * np.einsum("nk,kcl,nl->nc", modal, data.inertia_pairs.reshape(-1, 6, m), modal)
        inertia = data.inertia + changes[:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
        linear = data.mass * v[:, :3]
        linear = linear + np.einsum("nij,nj->ni", rotation, np.cross(omega, s) + rate @ data.moments.T)
        angular = np.cross(s, np.einsum("nji,nj->ni", rotation, v[:, :3])) + np.einsum("nij,nj->ni", inertia, omega)
        return linear, angular + np.einsum("ncl,nl->nc", spins, rate), s, rotation

    def deformations(self, q: Array, v: Array) -> tuple[Array, Array]:
        return q[:, 7:], v[:, 6:]

    def local_turns(self, v: Array) -> Array:
        """Angular velocities (n, 3) in the axes of the frame."""
        return v[:, 3:6]

    def in_space(self, columns: Array) -> Array:
        """(..., 6 + m): numbers for each velocity (last axis) as those of a frame that moves in space."""
        return columns

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        # As in NewtonEuler; small motions of a flexible body go on with the changes of its modal coordinates.
        back = np.swapaxes(matrix_from_quaternion(q[:, 3:7]), 1, 2)
        P, P_rate = np.zeros((2, len(q), self.n_v, self.n_v))
        P[:] = np.eye(self.n_v)
        P[:, 3:6, 3:6] = back
        P_rate[:, 3:6, 3:6] = -skew(v[:, 3:6]) @ back
        none = np.zeros_like(P)
        return Variation(P, P_rate, none, none)

    # --- kernels -----------------------------------------------------------------------------------------------------

    @staticmethod
    def prepare(body, q, frame):
        rigid_frame(body, q, frame)
        for k in range(body.n_modes):
            frame[0, 3 + k] = q[7 + k]

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        a, axes, n = frame, marker.axes, body.n_modes
        shape = numbers(marker.node_shape, 6, n)
        u = plus(triple(marker.point), 1.0, combined(shape, 0, q, 7, n))
        s = times(a, u)  # from the origin to the point
        for r in range(3):
            marker.position[r] = q[r] + s[r]
        oriented = marker.oriented != 0
        e = combined(shape, 3, q, 7, n) if oriented else (0.0, 0.0, 0.0)
        c1, c2, c1_rate, c2_rate = coefficients(dot(e, e))
        if oriented:
            for k in range(3):
                d = times(a, turn(c1, c2, e, column(marker.frame, k)))
                for r in range(3):
                    axes[r, k] = d[r]
        if level == 0:
            return
        w = (v[3], v[4], v[5])
        u_rate = combined(shape, 0, v, 6, n)
        wu = cross(w, u)
        velocity, bias = times(a, plus(wu, 1.0, u_rate)), times(a, plus(cross(w, wu), 2.0, cross(w, u_rate)))
        for r in range(3):
            marker.velocity[r] = v[r] + velocity[r]
            marker.bias[r] = bias[r]
        write_swing(a, s, jacobian, 0, 1)
        for c in range(n):
            for r in range(3):
                jacobian[r, 6 + c] = a[r, 0] * shape[0, c] + a[r, 1] * shape[1, c] + a[r, 2] * shape[2, c]
        if not oriented:
            return
        # The node turns with w + J e' in the axes of the frame; for constant velocities that changes by (J e')'.
        e_rate = combined(shape, 3, v, 6, n)
        own = twist(c1, c2, e, e_rate)
        local = plus(w, 1.0, own)
        change = plus(twist_change(c1, c2, c1_rate, c2_rate, e, e_rate, e_rate), 1.0, cross(w, own))
        omega, alpha = times(a, local), times(a, change)
        t0, t1, t2 = (
            times(a, twist(c1, c2, e, (1.0, 0.0, 0.0))),
            times(a, twist(c1, c2, e, (0.0, 1.0, 0.0))),
            times(a, twist(c1, c2, e, (0.0, 0.0, 1.0))),
        )
        turn_axes(a, axes, omega, alpha, marker, jacobian)
        for k in range(3):
            d = column(axes, k)
            g0, g1, g2 = cross(t0, d), cross(t1, d), cross(t2, d)
            for r in range(3):
                x, y, z = g0[r], g1[r], g2[r]
                for c in range(n):
                    jacobian[3 + 3 * r + k, 6 + c] = x * shape[3, c] + y * shape[4, c] + z * shape[5, c]

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        a, n = frame, body.n_modes
        deform(body, n, frame)
        diagonal, others, spin, last = 3 + n, 3 + 2 * n, 3 + 3 * n, 3 + 4 * n
        moments = numbers(body.moments, 3, n)
        w = (v[3], v[4], v[5])
        x, y, z = w
        s, g = column(frame, last + 3), seen(a, triple(body.gravity))
        s_rate = combined(moments, 0, v, 6, n)
        # H' eta' and the gyroscopic terms of the modal rows, pair by pair
        pairs, gyro, along, across = (
            numbers(body.spin_pairs, 3 * n, n),
            numbers(body.gyro_pairs, 3 * n, n),
            last + 4,
            last + 4 + n,
        )
        for c in range(3):
            for l in range(2 * n):
                frame[c, along + l] = 0.0
        for k in range(n):
            rate = v[6 + k]
            for c in range(3):
                for l in range(n):
                    frame[c, along + l] += rate * pairs[3 * k + c, l]
                    frame[c, across + l] += rate * gyro[3 * k + c, l]
        h = (0.0, 0.0, 0.0)  # H eta'
        load = (0.0, 0.0, 0.0)  # I' w + H' eta'
        for k in range(n):
            rate = v[6 + k]
            j0 = frame[0, diagonal + k] * x + frame[0, others + k] * y + frame[1, others + k] * z
            j1 = frame[0, others + k] * x + frame[1, diagonal + k] * y + frame[2, others + k] * z
            j2 = frame[1, others + k] * x + frame[2, others + k] * y + frame[2, diagonal + k] * z
            h = plus(h, rate, column(frame, spin + k))
            load = plus(load, rate, plus((j0, j1, j2), 1.0, column(frame, along + k)))
            force[6 + k] += (
                0.5 * (x * j0 + y * j1 + z * j2)
                - dot(w, column(frame, across + k))
                + moments[0, k] * g[0]
                + moments[1, k] * g[1]
                + moments[2, k] * g[2]
            )
        momentum = plus((frame[0, last] * x, frame[1, last] * x, frame[2, last] * x), 1.0, h)
        momentum = plus(plus(momentum, y, column(frame, last + 1)), z, column(frame, last + 2))
        load = plus(plus(load, 1.0, cross(w, momentum)), -1.0, cross(s, g))
        push = times(a, plus(cross(w, cross(w, s)), 2.0, cross(w, s_rate)))
        for r in range(3):
            force[r] += body.mass * body.gravity[r] - push[r]
            force[3 + r] -= load[r]
        add_elastic(body, n, q, v, force)
        # row r of -A s~, of A S; I and H
        for r in range(3):
            mass[r, 3] = a[r, 2] * s[1] - a[r, 1] * s[2]
            mass[r, 4] = a[r, 0] * s[2] - a[r, 2] * s[0]
            mass[r, 5] = a[r, 1] * s[0] - a[r, 0] * s[1]
            for c in range(3):
                mass[3 + c, r] = mass[r, 3 + c]
                mass[3 + r, 3 + c] = frame[r, last + c]
            for k in range(n):
                mass[r, 6 + k] = a[r, 0] * moments[0, k] + a[r, 1] * moments[1, k] + a[r, 2] * moments[2, k]
                mass[6 + k, r] = mass[r, 6 + k]
                mass[3 + r, 6 + k] = frame[r, spin + k]
                mass[6 + k, 3 + r] = frame[r, spin + k]

    @staticmethod
    def rates(body, q, v, q_rate):
        rigid_rates(body, q, v, q_rate)
        for k in range(body.n_modes):
            q_rate[7 + k] = v[6 + k]

    normalize = staticmethod(NewtonEuler.normalize)

    @staticmethod
    def loss(body, v):
        n, total = body.n_modes, 0.0
        viscous = numbers(body.damping, n, n)
        for k in range(n):
            for l in range(n):
                total += v[6 + k] * viscous[k, l] * v[6 + l]
        return total

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        a, n = frame, body.n_modes
        deform(body, n, frame)
        diagonal, others, spin, last = 3 + n, 3 + 2 * n, 3 + 3 * n, 3 + 4 * n
        moments, second = numbers(body.moments, 3, n), numbers(body.inertia_pairs, 6 * n, n)
        pairs, gyro = numbers(body.spin_pairs, 3 * n, n), numbers(body.gyro_pairs, 3 * n, n)
        w, alpha = (v[3], v[4], v[5]), (v_rate[3], v_rate[4], v_rate[5])
        g = body.gravity
        b = seen(a, (v_rate[0] - g[0], v_rate[1] - g[1], v_rate[2] - g[2]))  # a of the class's equations
        s, s_rate = column(frame, last + 3), combined(moments, 0, v, 6, n)
        h = combined(frame, 0, v, 6, n, spin)
        momentum = plus(plus(h, w[0], column(frame, last)), w[1], column(frame, last + 1))
        momentum = plus(momentum, w[2], column(frame, last + 2))
        # what stands after A in the first row
        first = plus(cross(alpha, s), 1.0, combined(moments, 0, v_rate, 6, n))
        first = plus(plus(first, 1.0, cross(w, cross(w, s))), 2.0, cross(w, s_rate))
        for c in range(3):
            axis = unit(c)
            by_turn, by_spin = times(a, cross(axis, first)), cross(axis, cross(w, s))
            by_spin = plus(plus(by_spin, 1.0, cross(w, cross(axis, s))), 2.0, cross(axis, s_rate))
            by_spin = times(a, by_spin)
            moment = cross(s, cross(b, axis))
            whole = column(frame, last + c)  # I axis
            spun = plus(cross(axis, momentum), 1.0, cross(w, whole))
            for k in range(n):
                jd = symmetric(frame, diagonal + k, others + k, axis)
                spun = plus(spun, v[6 + k], jd)
            for r in range(3):
                stiffness[r, 3 + c] += by_turn[r]
                damping[r, 3 + c] += by_spin[r]
                stiffness[3 + r, 3 + c] += moment[r]
                damping[3 + r, 3 + c] += spun[r]
        for k in range(n):
            shape = column(moments, k)
            carried = times(a, plus(cross(alpha, shape), 1.0, cross(w, cross(w, shape))))
            dragged = times(a, scaled(2.0, cross(w, shape)))
            jw = symmetric(frame, diagonal + k, others + k, w)
            # along eta_k, and along eta'_k, in the second row
            bent = plus(cross(shape, b), 1.0, symmetric(frame, diagonal + k, others + k, alpha))
            own, curl = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            swept, twirl = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            for l in range(n):
                pair = (pairs[3 * k, l], pairs[3 * k + 1, l], pairs[3 * k + 2, l])
                other = (pairs[3 * l, k], pairs[3 * l + 1, k], pairs[3 * l + 2, k])
                bent = plus(bent, v_rate[6 + l], pair)
                own = plus(own, v[6 + l], pair)
                swept = plus(swept, v[6 + l], plus(pair, 1.0, other))
                curl = plus(curl, v[6 + l], second_times(second, l, k, w))
                twirl = plus(twirl, v[6 + l], (gyro[3 * l, k], gyro[3 * l + 1, k], gyro[3 * l + 2, k]))
                # along eta_l and eta'_l in the modal row k
                stiffness[6 + k, 6 + l] += dot(alpha, other) - 0.5 * dot(w, second_times(second, l, k, w))
                damping[6 + k, 6 + l] += w[0] * gyro[3 * l, k] + w[1] * gyro[3 * l + 1, k] + w[2] * gyro[3 * l + 2, k]
            bent = plus(plus(bent, 1.0, curl), 1.0, cross(w, plus(jw, 1.0, own)))
            swept = plus(plus(swept, 1.0, jw), 1.0, cross(w, column(frame, spin + k)))
            turned, faster = cross(shape, b), plus(twirl, -1.0, jw)
            for r in range(3):
                stiffness[r, 6 + k] += carried[r]
                damping[r, 6 + k] += dragged[r]
                stiffness[3 + r, 6 + k] += bent[r]
                damping[3 + r, 6 + k] += swept[r]
                stiffness[6 + k, 3 + r] += turned[r]
                damping[6 + k, 3 + r] += faster[r]
        elastic, viscous = numbers(body.stiffness, n, n), numbers(body.damping, n, n)
        for k in range(n):
            for l in range(n):
                stiffness[6 + k, 6 + l] += elastic[k, l]
                damping[6 + k, 6 + l] += viscous[k, l]

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        # x' of the point is A (w x u + u'), that of an axis A (W x e_k) with the node's angular velocity W = w + J e'.
        a, n = frame, body.n_modes
        shape = numbers(marker.node_shape, 6, n)
        for x in range(PLACE):
            for c in range(6 + n):
                rate_tangent[x, c] = 0.0
        w = (v[3], v[4], v[5])
        e, e_rate = combined(shape, 3, frame[0], 3, n), combined(shape, 3, v, 6, n)
        c1, c2, c1_rate, c2_rate = coefficients(dot(e, e))
        local = plus(w, 1.0, twist(c1, c2, e, e_rate))
        velocity = (marker.velocity[0] - v[0], marker.velocity[1] - v[1], marker.velocity[2] - v[2])
        write_swing(a, velocity, rate_tangent, 0, 1)
        for c in range(n):
            swing = times(a, cross(w, (shape[0, c], shape[1, c], shape[2, c])))
            for r in range(3):
                rate_tangent[r, 6 + c] = swing[r]
        for k in range(3):
            d = turn(c1, c2, e, column(marker.frame, k))
            rate = times(a, cross(local, d))
            write_swing(a, rate, rate_tangent, 3 + k, 3)
            for c in range(n):
                bend = (shape[3, c], shape[4, c], shape[5, c])
                faster = twist_change(c1, c2, c1_rate, c2_rate, e, e_rate, bend)
                moved = cross(twist(c1, c2, e, bend), d)
                swing = times(a, plus(cross(faster, d), 1.0, cross(local, moved)))
                for r in range(3):
                    rate_tangent[3 + 3 * r + k, 6 + c] = swing[r]

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        # With f_0 on the point u and f_k on the axes e_k, in the axes of the frame, B^T f is (f, u x f_0 + m,
        # psi^T f_0 + psi_theta^T J^T m), m = sum e_k x f_k. A turn d of the frame changes f by f x d.
        a, n = frame, body.n_modes
        shape = numbers(marker.node_shape, 6, n)
        e = combined(shape, 3, frame[0], 3, n)
        c1, c2, c1_rate, c2_rate = coefficients(dot(e, e))
        u = plus(triple(marker.point), 1.0, combined(shape, 0, frame[0], 3, n))
        f = seen(a, (load[0], load[1], load[2]))
        moment = (0.0, 0.0, 0.0)
        for k in range(3):
            d, fk = turned_axis(a, marker, load, c1, c2, e, k)
            moment = plus(moment, 1.0, cross(d, fk))
        for c in range(6 + n):
            if c < 3:
                continue
            if c < 6:
                axis = unit(c - 3)
                force = cross(f, axis)
                lever, twisted = cross(u, force), (0.0, 0.0, 0.0)
                for k in range(3):
                    d, fk = turned_axis(a, marker, load, c1, c2, e, k)
                    twisted = plus(twisted, 1.0, cross(d, cross(fk, axis)))
                modal = untwist(c1, c2, e, twisted)
            else:
                force = (0.0, 0.0, 0.0)
                lever = cross((shape[0, c - 6], shape[1, c - 6], shape[2, c - 6]), f)
                bend = (shape[3, c - 6], shape[4, c - 6], shape[5, c - 6])
                spin, twisted = twist(c1, c2, e, bend), (0.0, 0.0, 0.0)
                for k in range(3):
                    d, fk = turned_axis(a, marker, load, c1, c2, e, k)
                    twisted = plus(twisted, 1.0, cross(cross(spin, d), fk))
                modal = untwist_change(c1, c2, c1_rate, c2_rate, e, moment, bend)
                modal = plus(modal, 1.0, untwist(c1, c2, e, twisted))
            for r in range(3):
                stiffness[3 + r, c] += lever[r] + twisted[r]
            for k in range(n):
                stiffness[6 + k, c] += (
                    shape[0, k] * force[0]
                    + shape[1, k] * force[1]
                    + shape[2, k] * force[2]
                    + shape[3, k] * modal[0]
                    + shape[4, k] * modal[1]
                    + shape[5, k] * modal[2]
                )


# --- what the kernels share; compiled with them ---------------------------------------------------------------------


def write_swing(a, s, columns, first, step):
    """Columns 3 + c, in rows first, first + step, ...: a unit local angular velocity turns a vector s by a_c x s."""
    for c in range(3):
        by = cross(column(a, c), s)
        for r in range(3):
            columns[first + step * r, 3 + c] = by[r]


def turn_axes(a, axes, omega, alpha, marker, jacobian):
    """The rates of a node's axes, their rates for constant velocities, and the columns of the frame's turn in B."""
    for r in range(3):
        marker.angular_velocity[r] = omega[r]
    for k in range(3):
        d = column(axes, k)
        rate = cross(omega, d)
        bend = plus(cross(omega, rate), 1.0, cross(alpha, d))
        for r in range(3):
            marker.axes_rate[r, k] = rate[r]
            marker.axes_bias[r, k] = bend[r]
        write_swing(a, d, jacobian, 3 + k, 3)


def combined(matrix, row, values, first, n, start=0):
    """Rows row to row + 2 of n columns of a matrix, combined with the n values that begin at `first`."""
    x = y = z = 0.0
    for c in range(n):
        value = values[first + c]
        x += matrix[row, start + c] * value
        y += matrix[row + 1, start + c] * value
        z += matrix[row + 2, start + c] * value
    return x, y, z


def symmetric(frame, diagonal, others, x):
    """A symmetric matrix times x: xx, yy, zz are in the column `diagonal` of the frame, xy, xz, yz in `others`."""
    return (
        frame[0, diagonal] * x[0] + frame[0, others] * x[1] + frame[1, others] * x[2],
        frame[0, others] * x[0] + frame[1, diagonal] * x[1] + frame[2, others] * x[2],
        frame[1, others] * x[0] + frame[2, others] * x[1] + frame[2, diagonal] * x[2],
    )


def second_times(second, k, l, x):
    """The second derivative of I by eta_k and eta_l, times x."""
    xx, yy, zz = second[6 * k, l], second[6 * k + 1, l], second[6 * k + 2, l]
    xy, xz, yz = second[6 * k + 3, l], second[6 * k + 4, l], second[6 * k + 5, l]
    return xx * x[0] + xy * x[1] + xz * x[2], xy * x[0] + yy * x[1] + yz * x[2], xz * x[0] + yz * x[1] + zz * x[2]


def turned_axis(a, marker, load, c1, c2, e, k):
    """An axis of a marker, and the load on it, in the axes of the frame."""
    return turn(c1, c2, e, column(marker.frame, k)), seen(a, (load[3 + k], load[6 + k], load[9 + k]))


def deform(body, n, frame):
    """The columns of the frame after A and eta: J_k, H, I and s of the deformed body."""
    diagonal, spin, last = 3 + n, 3 + 3 * n, 3 + 4 * n
    moments, spins, inertias = numbers(body.moments, 3, n), numbers(body.spins, 3, n), numbers(body.inertias, 6, n)
    pairs, second = numbers(body.spin_pairs, 3 * n, n), numbers(body.inertia_pairs, 6 * n, n)
    for c in range(3):
        for k in range(n):
            frame[c, diagonal + k] = inertias[c, k]
            frame[c, diagonal + n + k] = inertias[3 + c, k]
            frame[c, spin + k] = spins[c, k]
    for l in range(n):
        eta = frame[0, 3 + l]
        for c in range(3):
            for k in range(n):
                frame[c, diagonal + k] += eta * second[6 * l + c, k]
                frame[c, diagonal + n + k] += eta * second[6 * l + 3 + c, k]
                frame[c, spin + k] += eta * pairs[3 * l + c, k]
    # I = I_0 + sum eta_k (J_k undeformed + J_k) / 2, because it is quadratic in eta
    for c in range(3):
        own = mixed = 0.0
        for k in range(n):
            eta = 0.5 * frame[0, 3 + k]
            own += eta * (inertias[c, k] + frame[c, diagonal + k])
            mixed += eta * (inertias[3 + c, k] + frame[c, diagonal + n + k])
        frame[c, last + c] = body.inertia[c, c] + own
        row, other = (0 if c < 2 else 1), (1 if c == 0 else 2)
        frame[row, last + other] = body.inertia[row, other] + mixed
        frame[other, last + row] = frame[row, last + other]
    s = plus(triple(body.moment), 1.0, combined(moments, 0, frame[0], 3, n))
    for c in range(3):
        frame[c, last + 3] = s[c]


def add_elastic(body, n, q, v, force):
    """The modal forces -K eta - D eta'."""
    elastic, viscous = numbers(body.stiffness, n, n), numbers(body.damping, n, n)
    for l in range(n):
        eta, rate = q[7 + l], v[6 + l]
        for k in range(n):  # K and D are symmetric; this order reads their rows
            force[6 + k] -= elastic[l, k] * eta + viscous[l, k] * rate
