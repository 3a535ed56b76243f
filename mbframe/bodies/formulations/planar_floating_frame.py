"""Flexible bodies in the plane: a floating frame by its origin and angle, and small deformations in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...kernels.compiler.arrays import numbers
from ...kernels.layout import PLACE
from ...plane import angle_of
from .base import Array, Formulation, MassProperties, Pattern, Variation
from .floating_frame import DEFINITE
from .planar import PlanarFormulation, padded, spins
from .planar_angle import PlanarAngle

if TYPE_CHECKING:
    from ...flexible.in_plane import PlanarInertia
    from ...markers import Marker
    from ...state import Motion
    from ..base import Body


class PlanarFloatingFrame(PlanarFormulation):
    r"""Coordinates q = (x, y, \theta, \eta), velocities v = q': 3 + m / 3 + m per body.

    A material point at x moves as r + A(\theta) (x + \psi \eta): `FloatingFrame` in the plane, where the rotations of
    nodes add up as numbers. With n the normal, a = A^T (r'' - g), the first moment s = s_0 + S \eta, the moment of
    inertia I about the origin, J_k = dI/d\eta_k, H = n.\int (x + \psi \eta) x \psi dm and P_kl = dH_l/d\eta_k,

        m a + w' n x s + S \eta'' - w^2 s + 2 w n x S \eta'                                = force
        n.(s x a) + I w' + H \eta'' + w J_k \eta'_k + P_kl \eta'_k \eta'_l                   = moment about the origin
        S^T a + H^T w' + M \eta'' + w (P_lk - P_kl) \eta'_l - 1/2 w^2 J_k + K \eta + D \eta' = modal force

    With geometric stiffening points move by u = \psi \eta + 1/2 \eta^T g \eta, as in `StiffenedFrame`. The shape of a
    marker has 3 rows \psi (x, y, turn) and, with stiffening, 3 more for each mode k: g_k.

    Parameters
    ----------
    inertia
        Mass, shapes and stiffness; without it the body is rigid.
    axes
        What the frame follows, in words.
    stiffened
        Whether bending shortens the body.
    """

    sized_by_body = True
    counts_turns = True
    fields: ClassVar = [
        ("n_q", "i8"),
        ("n_v", "i8"),
        ("n_frame", "i8"),
        ("n_modes", "i8"),
        ("curved", "i8"),  # 0 without stiffening; 1: g moves nodes, 2: it turns them as well
        ("mass", "f8"),
        ("moment", "f8", 2),  # s undeformed
        ("inertia", "f8"),  # I undeformed
        ("gravity", "f8", 3),
        # where matrices begin
        ("stiffness", "i8"),  # K (m x m)
        ("damping", "i8"),  # D (m x m)
        ("moments", "i8"),  # S (2 x m)
        ("spins", "i8"),  # H undeformed (1 x m)
        ("spin_pairs", "i8"),  # P (m x m)
        ("inertias", "i8"),  # J undeformed (1 x m)
        ("inertia_pairs", "i8"),  # second derivatives of I (m x m)
    ]
    n_q: ClassVar[int] = 3
    n_v: ClassVar[int] = 3
    n_frame: ClassVar[int] = 4

    def __init__(self, inertia: PlanarInertia | None = None, axes: str = "", stiffened: bool = False) -> None:
        self.inertia_data, self.axes, self.stiffened = inertia, axes, stiffened  # type: ignore[misc]
        m = self.n_modes
        # Instances of one class differ in size; what is compiled reads these numbers from the rows.
        self.n_q, self.n_v, self.n_frame = 3 + m, 3 + m, 4 + m  # type: ignore[misc]
        numbers_of = [(f"modal_coordinate.{k}", "") for k in range(m)]
        self.q_names = [*PlanarAngle.q_names, *numbers_of]  # type: ignore[misc]
        self.v_names = [*PlanarAngle.v_names, *[(f"modal_velocity.{k}", "1/s") for k in range(m)]]  # type: ignore[misc]

    @property
    def n_modes(self) -> int:
        """Number of shapes, m."""
        return 0 if self.inertia_data is None else self.inertia_data.n_modes

    @property
    def dissipates(self) -> bool:
        return self.inertia_data is not None and bool(np.any(self.inertia_data.damping))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlanarFloatingFrame) and self.inertia_data is other.inertia_data

    def __hash__(self) -> int:
        return hash((PlanarFloatingFrame, id(self.inertia_data)))

    def __repr__(self) -> str:
        return f"PlanarFloatingFrame({self.n_modes} modes)"

    # --- described once ----------------------------------------------------------------------------------------------

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        sizes = {"n_q": self.n_q, "n_v": self.n_v, "n_frame": self.n_frame, "n_modes": self.n_modes, "gravity": gravity}
        data = self.inertia_data
        if data is None:
            rigid = Formulation.row(self, body, gravity)
            moment = rigid["mass"] * rigid["center"][:2]
            return sizes | {"mass": rigid["mass"], "moment": moment, "inertia": rigid["inertia"][2, 2]}
        curved = 0 if not self.stiffened else 2 if data.curves_turn else 1
        own = {"curved": curved, "mass": data.mass, "moment": data.moment, "inertia": data.inertia}
        return sizes | own | data.addresses()

    def marker_shape(self, marker: Marker) -> Array | None:
        from ...flexible.in_plane import within_plane

        return None if self.inertia_data is None else within_plane(marker.node_shape)

    def constant_mass(self, row: Any) -> Array:
        mass = np.zeros((self.n_v, self.n_v))
        mass[:2, :2], mass[2, 2] = row.mass * np.eye(2), row.inertia
        if self.inertia_data is not None:
            mass[3:, 3:] = self.inertia_data.modal_mass
        return mass

    def mass_pattern(self, row: Any) -> Pattern:
        pattern = np.eye(self.n_v, dtype=bool)
        pattern[2, :2] = pattern[:2, 2] = bool(np.any(row.moment != 0.0))
        if (data := self.inertia_data) is not None:
            pattern[2, :2] |= bool(np.any(data.moments != 0.0))
            pattern[:2, 2] = pattern[2, :2]
            translating = np.any(data.moments != 0.0, axis=0)
            spinning = (data.spins != 0.0) | np.any(data.spin_pairs != 0.0, axis=0)
            pattern[:2, 3:], pattern[3:, :2] = translating, translating[:, None]
            pattern[2, 3:], pattern[3:, 2] = spinning, spinning
            pattern[3:, 3:] |= data.modal_mass != 0.0
        return pattern

    def constant_jacobian(self, marker: Any) -> Array:
        return np.eye(PLACE, self.n_v) * ([1.0, 1.0] + [0.0] * (self.n_v - 2))

    def jacobian_pattern(self, marker: Any) -> Pattern:
        m = self.n_modes
        shape = numbers(marker.node_shape, 3 + 3 * m if self.stiffened else 3, m)
        moves = shape[:3] != 0.0
        if self.stiffened:
            moves |= np.any(shape[3:].reshape(m, 3, m) != 0.0, axis=2).T
        b = np.zeros((PLACE, self.n_v), bool)
        b[:2, :2] = np.eye(2)
        b[:2, 2] = bool(np.any(marker.point != 0.0) or np.any(moves[:2]))
        b[:2, 3:] = np.any(moves[:2], axis=0)
        turning = np.any(marker.frame[:2] != 0.0, axis=0)
        for rows in (slice(3, 6), slice(6, 9)):
            b[rows, 2] = turning
            b[rows, 3:] = turning[:, None] & moves[2]
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
        q[:3] = position[0], position[1], angle_of(rotation)
        v[:3] = velocity[0], velocity[1], angular_velocity[2]
        pairs = (("modal_coordinates", modal_coordinates, q[3:]), ("modal_velocities", modal_velocities, v[3:]))
        for name, given, target in pairs:
            if len(given) not in (0, self.n_modes):
                raise ValueError(f"its {name} has {len(given)} numbers; the body has {self.n_modes} modes in the plane")
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

    def angles(self, q: Array) -> Array:
        return q[:, 2]

    def poses(self, q: Array) -> tuple[Array, Array]:
        return PlanarAngle().poses(q)

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return padded(v[:, :2]), spins(v[:, 2])

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        return self.twists(q, v_rate)

    def deformations(self, q: Array, v: Array) -> tuple[Array, Array]:
        return q[:, 3:], v[:, 3:]

    def local_turns(self, v: Array) -> Array:
        """Angular velocities (n, 3) in the axes of the frame."""
        return spins(v[:, 2])

    def in_space(self, columns: Array) -> Array:
        """(..., 6 + m): numbers for each velocity (last axis) as those of a frame that moves in space."""
        whole = np.zeros((*columns.shape[:-1], columns.shape[-1] + 3))
        whole[..., [0, 1, 5]], whole[..., 6:] = columns[..., :3], columns[..., 3:]
        return whole

    def energies(self, q: Array, v: Array, properties: MassProperties, gravity: Array) -> tuple[Array, Array]:
        if (data := self.inertia_data) is None:
            return super().energies(q, v, properties, gravity)
        linear, angular, s, rotation = self._momenta(q, v)
        back = np.einsum("nji,nj->ni", rotation, v[:, :2])
        modal = (data.spins + q[:, 3:] @ data.spin_pairs) * v[:, 2:3] + v[:, 3:] @ data.modal_mass + back @ data.moments
        kinetic = 0.5 * np.sum(v * np.hstack([linear, angular[:, None], modal]), axis=1)
        center = data.mass * q[:, :2] + np.einsum("nij,nj->ni", rotation, s)
        elastic = 0.5 * np.einsum("nk,kl,nl->n", q[:, 3:], data.stiffness, q[:, 3:])
        return kinetic, elastic - center @ gravity[:2]

    def momenta(self, q: Array, v: Array, properties: MassProperties) -> tuple[Array, Array]:
        if self.inertia_data is None:
            return super().momenta(q, v, properties)
        linear, angular, _, _ = self._momenta(q, v)
        return padded(linear), spins(q[:, 0] * linear[:, 1] - q[:, 1] * linear[:, 0] + angular)

    def _momenta(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """dT/dr' (n, 2), dT/dw (n,), first moment in the axes of the frame (n, 2) and rotation (n, 2, 2)."""
        data = self.inertia_data
        assert data is not None
        rotation = self.poses(q)[1][:, :2, :2]
        omega, modal, rate = v[:, 2], q[:, 3:], v[:, 3:]
        s = data.moment + modal @ data.moments.T
        inertia = data.inertia + modal @ data.inertias + 0.5 * np.sum(modal @ data.inertia_pairs * modal, axis=1)
        swept = omega[:, None] * np.stack([-s[:, 1], s[:, 0]], axis=1) + rate @ data.moments.T
        linear = data.mass * v[:, :2] + np.einsum("nij,nj->ni", rotation, swept)
        back = np.einsum("nji,nj->ni", rotation, v[:, :2])
        angular = s[:, 0] * back[:, 1] - s[:, 1] * back[:, 0] + inertia * omega
        return linear, angular + np.sum((data.spins + modal @ data.spin_pairs) * rate, axis=1), s, rotation

    def beyond(self, q: Array) -> str:
        if (data := self.inertia_data) is None:
            return ""
        from scipy import linalg

        now, undeformed = (self._relative_mass(data, eta) for eta in (q[3:], 0.0 * q[3:]))
        least = float(linalg.eigvalsh(now, undeformed, subset_by_index=(0, 0))[0])
        if least > DEFINITE:
            return ""
        remedy = "reduce the loads" if self.stiffened else 'set frame="mean" or geometric_stiffening=True'
        return (
            "it is deformed so far that its inertia, known to second order in the deformation, is none any more (in "
            f"some motion {least:.2g} of that undeformed); {remedy}, or divide the body into several"
        )

    def _relative_mass(self, data: PlanarInertia, modal: Array) -> Array:
        """(1 + m, 1 + m): the mass matrix of w and eta' without the motion of the centre of mass."""
        s = data.moment + data.moments @ modal
        inertia = data.inertia + data.inertias @ modal + 0.5 * modal @ data.inertia_pairs @ modal
        coupling = data.spins + modal @ data.spin_pairs
        mass = np.block([[np.full((1, 1), inertia), coupling[None]], [coupling[:, None], data.modal_mass]])
        carried = np.hstack([np.array([[-s[1]], [s[0]]]), data.moments])
        return np.asarray(mass - carried.T @ carried / data.mass)

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        m = self.n_modes
        moved = np.zeros((len(q), 3 + m, 6 + m))
        moved[:, [0, 1, 2], [0, 1, 5]] = 1.0
        moved[:, 3:, 6:] = np.eye(m)
        none = np.zeros_like(moved)
        return Variation(moved, none, none, none)

    # --- kernels -----------------------------------------------------------------------------------------------------

    @staticmethod
    def prepare(body, q, frame):
        c, s = np.cos(q[2]), np.sin(q[2])
        frame[0, 0], frame[0, 1], frame[0, 2] = c, -s, 0.0
        frame[1, 0], frame[1, 1], frame[1, 2] = s, c, 0.0
        frame[2, 0], frame[2, 1], frame[2, 2] = 0.0, 0.0, 1.0
        for k in range(body.n_modes):
            frame[0, 3 + k] = q[3 + k]

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        c, s, n, local = frame[0, 0], frame[1, 0], body.n_modes, marker.frame
        shape = numbers(marker.node_shape, shape_rows(body, n), n)
        curved = body.curved
        x, y, e = marker.point[0] + 0.0 * c, marker.point[1] + 0.0 * c, 0.0 * c
        x_rate = y_rate = e_rate = x_curl = y_curl = e_curl = 0.0 * c
        w, oriented = v[2], marker.oriented != 0
        for k in range(n):
            eta, rate = q[3 + k], v[3 + k]
            px, py, pt = shape[0, k], shape[1, k], shape[2, k]
            if curved > 0:
                gx, gy, gt = bend_of(shape, k, q, n)
                x += 0.5 * eta * gx
                y += 0.5 * eta * gy
                e += 0.5 * eta * gt
                x += eta * px
                y += eta * py
                e += eta * pt
                px, py, pt = px + gx, py + gy, pt + gt
                cx, cy, ct = bend_of(shape, k, v, n)
                x_curl += rate * cx
                y_curl += rate * cy
                e_curl += rate * ct
            else:
                x += eta * px
                y += eta * py
                e += eta * pt
            if level > 0:
                x_rate += rate * px
                y_rate += rate * py
                e_rate += rate * pt
                jacobian[0, 3 + k] = c * px - s * py
                jacobian[1, 3 + k] = s * px + c * py
                if oriented:
                    jacobian[3, 3 + k] = pt  # until the axes are known
        gx, gy = c * x - s * y, s * x + c * y
        marker.position[0] = q[0] + gx
        marker.position[1] = q[1] + gy
        if oriented:
            ce, se = np.cos(e), np.sin(e)
            ct, st = c * ce - s * se, s * ce + c * se
            for k in range(3):
                marker.axes[0, k] = ct * local[0, k] - st * local[1, k]
                marker.axes[1, k] = st * local[0, k] + ct * local[1, k]
                marker.axes[2, k] = local[2, k]
        if level == 0:
            return
        ux, uy = c * x_rate - s * y_rate, s * x_rate + c * y_rate
        marker.velocity[0] = v[0] - w * gy + ux
        marker.velocity[1] = v[1] + w * gx + uy
        marker.bias[0] = -w * w * gx - 2.0 * w * uy + c * x_curl - s * y_curl
        marker.bias[1] = -w * w * gy + 2.0 * w * ux + s * x_curl + c * y_curl
        jacobian[0, 2] = -gy
        jacobian[1, 2] = gx
        if not oriented:
            return
        omega = w + e_rate
        marker.angular_velocity[2] = omega
        for k in range(3):
            dx, dy = marker.axes[0, k], marker.axes[1, k]
            marker.axes_rate[0, k] = -omega * dy
            marker.axes_rate[1, k] = omega * dx
            marker.axes_bias[0, k] = -omega * omega * dx - e_curl * dy
            marker.axes_bias[1, k] = -omega * omega * dy + e_curl * dx
            jacobian[3 + k, 2] = -dy
            jacobian[6 + k, 2] = dx
        for m in range(n):
            turn = jacobian[3, 3 + m]
            for k in range(3):
                jacobian[3 + k, 3 + m] = -turn * marker.axes[1, k]
                jacobian[6 + k, 3 + m] = turn * marker.axes[0, k]

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        c, s, n, w, g = frame[0, 0], frame[1, 0], body.n_modes, v[2], body.gravity
        deform(body, n, frame)
        moments, pairs = numbers(body.moments, 2, n), numbers(body.spin_pairs, n, n)
        elastic, viscous = numbers(body.stiffness, n, n), numbers(body.damping, n, n)
        gx, gy = c * g[0] + s * g[1], c * g[1] - s * g[0]
        sx, sy = frame[1, 3 + n], frame[2, 3 + n]
        x_rate = y_rate = change = 0.0 * c
        for k in range(n):
            rate = v[3 + k]
            x_rate += moments[0, k] * rate
            y_rate += moments[1, k] * rate
            modal, along = 0.5 * w * w * frame[1, 3 + k] + moments[0, k] * gx + moments[1, k] * gy, 0.0 * c
            for l in range(n):
                other = v[3 + l]
                modal -= w * other * (pairs[l, k] - pairs[k, l])
                along += pairs[k, l] * other
                modal -= elastic[k, l] * q[3 + l] + viscous[k, l] * other
            change += rate * (w * frame[1, 3 + k] + along)
            force[3 + k] += modal
        fx, fy = w * w * sx + 2.0 * w * y_rate, w * w * sy - 2.0 * w * x_rate
        force[0] += body.mass * g[0] + c * fx - s * fy
        force[1] += body.mass * g[1] + s * fx + c * fy
        force[2] += sx * gy - sy * gx - change
        mass[0, 2] = mass[2, 0] = -(s * sx + c * sy)
        mass[1, 2] = mass[2, 1] = c * sx - s * sy
        mass[2, 2] = frame[0, 3 + n]
        for k in range(n):
            mass[0, 3 + k] = mass[3 + k, 0] = c * moments[0, k] - s * moments[1, k]
            mass[1, 3 + k] = mass[3 + k, 1] = s * moments[0, k] + c * moments[1, k]
            mass[2, 3 + k] = mass[3 + k, 2] = frame[2, 3 + k]

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(3 + body.n_modes):
            q_rate[c] = v[c]

    @staticmethod
    def loss(body, v):
        n, total = body.n_modes, 0.0
        viscous = numbers(body.damping, n, n)
        for k in range(n):
            for l in range(n):
                total += v[3 + k] * viscous[k, l] * v[3 + l]
        return total

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        c, s, n, g = frame[0, 0], frame[1, 0], body.n_modes, body.gravity
        deform(body, n, frame)
        moments, second = numbers(body.moments, 2, n), numbers(body.inertia_pairs, n, n)
        pairs = numbers(body.spin_pairs, n, n)
        elastic, viscous = numbers(body.stiffness, n, n), numbers(body.damping, n, n)
        w, alpha = v[2], v_rate[2]
        ax, ay = v_rate[0] - g[0], v_rate[1] - g[1]
        bx, by = c * ax + s * ay, c * ay - s * ax  # a of the class's equations
        sx, sy = frame[1, 3 + n], frame[2, 3 + n]
        x_rate = y_rate = x_second = y_second = faster = 0.0 * c
        for k in range(n):
            x_rate += moments[0, k] * v[3 + k]
            y_rate += moments[1, k] * v[3 + k]
            x_second += moments[0, k] * v_rate[3 + k]
            y_second += moments[1, k] * v_rate[3 + k]
            faster += frame[1, 3 + k] * v[3 + k]
        # what stands after A in the first row
        fx = -alpha * sy + x_second - w * w * sx - 2.0 * w * y_rate
        fy = alpha * sx + y_second - w * w * sy + 2.0 * w * x_rate
        stiffness[0, 2] -= s * fx + c * fy
        stiffness[1, 2] += c * fx - s * fy
        stiffness[2, 2] -= sx * bx + sy * by
        dx, dy = -2.0 * (w * sx + y_rate), -2.0 * (w * sy - x_rate)
        damping[0, 2] += c * dx - s * dy
        damping[1, 2] += s * dx + c * dy
        damping[2, 2] += faster
        for k in range(n):
            mx, my = moments[0, k], moments[1, k]
            dx, dy = -alpha * my - w * w * mx, alpha * mx - w * w * my
            stiffness[0, 3 + k] += c * dx - s * dy
            stiffness[1, 3 + k] += s * dx + c * dy
            damping[0, 3 + k] -= 2.0 * w * (c * my + s * mx)
            damping[1, 3 + k] += 2.0 * w * (c * mx - s * my)
            bent = mx * by - my * bx + alpha * frame[1, 3 + k]
            swept, twirl = w * frame[1, 3 + k], -w * frame[1, 3 + k]
            for l in range(n):
                bent += pairs[k, l] * v_rate[3 + l] + w * second[l, k] * v[3 + l]
                swept += (pairs[k, l] + pairs[l, k]) * v[3 + l]
                gyro = pairs[l, k] - pairs[k, l]
                twirl += gyro * v[3 + l]
                stiffness[3 + k, 3 + l] += alpha * pairs[l, k] - 0.5 * w * w * second[l, k] + elastic[k, l]
                damping[3 + k, 3 + l] += w * gyro + viscous[k, l]
            stiffness[2, 3 + k] += bent
            damping[2, 3 + k] += swept
            stiffness[3 + k, 2] += mx * by - my * bx
            damping[3 + k, 2] += twirl

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        c, s, n, w = frame[0, 0], frame[1, 0], body.n_modes, v[2]
        shape = numbers(marker.node_shape, shape_rows(body, n), n)
        for x in range(PLACE):
            for k in range(3 + n):
                rate_tangent[x, k] = 0.0
        rate_tangent[0, 2] = v[1] - marker.velocity[1]
        rate_tangent[1, 2] = marker.velocity[0] - v[0]
        for r in range(3):
            rate_tangent[3 + r, 2] = -marker.axes_rate[1, r]
            rate_tangent[6 + r, 2] = marker.axes_rate[0, r]
        omega = marker.angular_velocity[2]
        for k in range(n):
            px, py, pt = shape_now(body, shape, k, frame, n)
            x, y, turn = -w * py, w * px, 0.0 * w
            if body.curved > 0:
                gx, gy, turn = bend_of(shape, k, v, n)
                x += gx
                y += gy
            rate_tangent[0, 3 + k] = c * x - s * y
            rate_tangent[1, 3 + k] = s * x + c * y
            for r in range(3):
                dx, dy = marker.axes[0, r], marker.axes[1, r]
                rate_tangent[3 + r, 3 + k] = -turn * dy - omega * pt * dx
                rate_tangent[6 + r, 3 + k] = turn * dx - omega * pt * dy

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        # B^T f is (f, n.(u x f) + M, psi^T f + psi_theta M) in the axes of the frame, M = n . sum e_k x f_k.
        c, s, n, local = frame[0, 0], frame[1, 0], body.n_modes, marker.frame
        shape = numbers(marker.node_shape, shape_rows(body, n), n)
        fx, fy = c * load[0] + s * load[1], c * load[1] - s * load[0]
        x, y, e = marker.point[0] + 0.0 * c, marker.point[1] + 0.0 * c, 0.0 * c
        for k in range(n):
            eta = frame[0, 3 + k]
            px, py, pt = shape_now(body, shape, k, frame, n)
            x += 0.5 * eta * (shape[0, k] + px)
            y += 0.5 * eta * (shape[1, k] + py)
            e += 0.5 * eta * (shape[2, k] + pt)
        ce, se = np.cos(e), np.sin(e)
        ct, st = c * ce - s * se, s * ce + c * se
        moment = turned = 0.0 * c
        for k in range(3):
            dx, dy = ct * local[0, k] - st * local[1, k], st * local[0, k] + ct * local[1, k]
            moment += dx * load[6 + k] - dy * load[3 + k]
            turned -= dx * load[3 + k] + dy * load[6 + k]
        stiffness[2, 2] += turned - x * fx - y * fy
        for k in range(n):
            px, py, pt = shape_now(body, shape, k, frame, n)
            lever = px * fy - py * fx + pt * turned
            stiffness[2, 3 + k] += lever
            stiffness[3 + k, 2] += lever
            for l in range(n):
                other = shape_now(body, shape, l, frame, n)[2]
                stiffness[3 + k, 3 + l] += pt * other * turned
                if body.curved > 0:
                    row = 3 + 3 * k
                    stiffness[3 + k, 3 + l] += shape[row, l] * fx + shape[row + 1, l] * fy + shape[row + 2, l] * moment


# --- what the kernels share; compiled with them ---------------------------------------------------------------------


def shape_rows(body, n):
    """The rows of a marker's shape."""
    return 3 + 3 * n if body.curved > 0 else 3


def bend_of(shape, k, values, n):
    """g_k eta, or g_k eta', of modal numbers that begin behind three others."""
    x = y = turn = 0.0 * values[0]
    for l in range(n):
        value = values[3 + l]
        x += shape[3 + 3 * k, l] * value
        y += shape[4 + 3 * k, l] * value
        turn += shape[5 + 3 * k, l] * value
    return x, y, turn


def shape_now(body, shape, k, frame, n):
    """The shape k of the deformed body, psi_k + g_k eta."""
    if body.curved > 0:
        x, y, turn = bend_of(shape, k, frame[0], n)
        return shape[0, k] + x, shape[1, k] + y, shape[2, k] + turn
    zero = 0.0 * frame[0, 0]
    return shape[0, k] + zero, shape[1, k] + zero, shape[2, k] + zero


def deform(body, n, frame):
    """What follows in the frame after A and eta: J and H under eta, then I and s of the deformed body."""
    moments, spins, inertias = numbers(body.moments, 2, n), numbers(body.spins, 1, n), numbers(body.inertias, 1, n)
    pairs, second = numbers(body.spin_pairs, n, n), numbers(body.inertia_pairs, n, n)
    zero = 0.0 * frame[0, 0]
    whole, x, y = body.inertia + zero, body.moment[0] + zero, body.moment[1] + zero
    for k in range(n):
        eta, change, spin = frame[0, 3 + k], inertias[0, k] + zero, spins[0, k] + zero
        for l in range(n):
            change += second[l, k] * frame[0, 3 + l]
            spin += pairs[l, k] * frame[0, 3 + l]
        frame[1, 3 + k], frame[2, 3 + k] = change, spin
        whole += 0.5 * eta * (inertias[0, k] + change)  # I is quadratic in eta
        x += moments[0, k] * eta
        y += moments[1, k] * eta
    frame[0, 3 + n], frame[1, 3 + n], frame[2, 3 + n] = whole, x, y
