"""Natural absolute coordinates: the origin and the nine direction cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...rotations import skew
from .base import RIGID_FIELDS, Array, Formulation, Pattern, Variation, beside, named

if TYPE_CHECKING:
    from ..base import Body

# The axes whose product each intrinsic constraint fixes.
FIRST = np.array([0, 1, 2, 0, 0, 1])
SECOND = np.array([0, 1, 2, 1, 2, 2])

THIN = 1e-3  # ratio of the extreme second moments about the centre of mass below which a body counts as thin


class NaturalAbsolute(Formulation):
    """Coordinates q = (r, a, b, c), velocities v = q': 12 / 12 per body, six intrinsic constraints.

    a, b, c are the body's axes in global components. The mass matrix is constant and there are no inertia forces
    quadratic in the velocities; with the first moments m c and the second moments J = 1/2 tr(I) 1 - I about the
    origin

        M = [m, m c^T; m c, J] (x) 1_3,    C = (a.a - 1, b.b - 1, c.c - 1, a.b, a.c, b.c).

    [PappalardoGuida2018b], section 2.2, eqs. 13-21.

    Of a lamina, a thin disk or a rod one or two second moments vanish, and M is singular. The equations of such a
    thin body get in addition

        alpha A (A^T A)'',    alpha the mean second moment about the centre of mass,

    which is zero, because the intrinsic constraints are A^T A = 1, and changes neither accelerations nor reactions.
    Its part with v' is alpha J^T W J with J of the intrinsic rows (W = 1/2 for the first three, 1 for the others),
    and makes M regular, but no longer constant.
    """

    n_q = 12
    n_v = 12
    n_intrinsic = 6
    q_names: ClassVar = [*named("position", "m"), *(name for k in "xyz" for name in named(f"axis_{k}", ""))]
    v_names: ClassVar = [*named("velocity", "m/s"), *(name for k in "xyz" for name in named(f"axis_{k}_rate", "1/s"))]
    fields: ClassVar = [*RIGID_FIELDS, ("alpha", "f8")]

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        inertia = body.mass_properties()[2]
        moments = 0.5 * np.trace(inertia) - np.linalg.eigvalsh(inertia)
        thin = moments.min() < THIN * moments.max()
        return super().row(body, gravity) | {"alpha": moments.mean() if thin else 0.0}

    def constant_mass(self, row: Any) -> Array:
        second = 0.5 * np.trace(row.inertia) * np.eye(3) - row.inertia
        first = row.mass * row.center
        moments = np.block([[np.full((1, 1), row.mass), first[None, :]], [first[:, None], second]])
        return np.kron(moments, np.eye(3))

    def mass_pattern(self, row: Any) -> Pattern:
        pattern = (self.constant_mass(row) != 0.0) | np.eye(12, dtype=bool)
        pattern[3:, 3:] |= row.alpha != 0.0
        return pattern

    def constant_jacobian(self, marker: Any) -> Array:
        b = np.zeros((12, 12))
        for r in range(3):
            b[r, r] = 1.0
            for k in range(3):
                b[r, 3 + 3 * k + r] = marker.point[k]
                b[3 + 3 * r : 6 + 3 * r, 3 + 3 * k + r] = marker.frame[k]
        return b

    def jacobian_pattern(self, marker: Any) -> Pattern:
        return self.constant_jacobian(marker) != 0.0

    def intrinsic_pattern(self) -> Pattern:
        j = np.zeros((6, 12))
        q = np.arange(1.0, 13.0)
        self.intrinsic(q, q, np.empty(6), np.empty(6), np.empty(6), j, 1)
        return j != 0.0

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        q = np.concatenate([position, rotation.T.ravel()])
        return q, np.concatenate([velocity, np.cross(angular_velocity, rotation.T).ravel()])

    def poses(self, q: Array) -> tuple[Array, Array]:
        return q[:, :3], self._axes(q)

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        return v[:, :3], 0.5 * np.cross(self._axes(q), self._axes(v), axis=1).sum(axis=2)

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        # omega' = 1/2 sum d_k x d_k'', because d_k' x d_k' = 0
        return self.twists(q, v_rate)

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        return Variation.of_rates(*(beside(t, self._turning(x)) for t, x in ((1.0, q), (0.0, v), (0.0, v_rate))))

    @staticmethod
    def _turning(q):
        """The change phi x d of the axes d, linear in them: -d~ one below the other, (n, 9, 3)."""
        return -skew(q[:, 3:].reshape(-1, 3, 3)).reshape(-1, 9, 3)

    @staticmethod
    def _axes(q):
        return np.swapaxes(q[:, 3:].reshape(-1, 3, 3), 1, 2)

    @staticmethod
    def prepare(body, q, frame):
        for k in range(3):
            for r in range(3):
                frame[r, k] = q[3 + 3 * k + r]

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        u, local = marker.point, marker.frame
        for r in range(3):
            marker.position[r] = q[r] + u[0] * q[3 + r] + u[1] * q[6 + r] + u[2] * q[9 + r]
            if level > 0:
                marker.velocity[r] = v[r] + u[0] * v[3 + r] + u[1] * v[6 + r] + u[2] * v[9 + r]
        if marker.oriented == 0:
            return
        for r in range(3):
            for k in range(3):
                marker.axes[r, k] = local[0, k] * q[3 + r] + local[1, k] * q[6 + r] + local[2, k] * q[9 + r]
                if level > 0:
                    marker.axes_rate[r, k] = local[0, k] * v[3 + r] + local[1, k] * v[6 + r] + local[2, k] * v[9 + r]
        if level == 0:
            return
        axes, rate, w = marker.axes, marker.axes_rate, marker.angular_velocity
        w[0] = w[1] = w[2] = 0.0
        for k in range(3):
            w[0] += 0.5 * (axes[1, k] * rate[2, k] - axes[2, k] * rate[1, k])
            w[1] += 0.5 * (axes[2, k] * rate[0, k] - axes[0, k] * rate[2, k])
            w[2] += 0.5 * (axes[0, k] * rate[1, k] - axes[1, k] * rate[0, k])

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        for r in range(3):
            weight = body.mass * body.gravity[r]
            force[r] += weight
            for k in range(3):
                force[3 + 3 * k + r] += body.center[k] * weight
        if body.alpha == 0.0:
            return
        i = body.inertia
        half = 0.5 * (i[0, 0] + i[1, 1] + i[2, 2])
        for a in range(3):
            for b in range(3):
                second = (half if a == b else 0.0) - i[a, b]
                speeds = 0.0
                for r in range(3):
                    speeds += v[3 + 3 * a + r] * v[3 + 3 * b + r]
                for r in range(3):
                    force[3 + 3 * a + r] -= 2.0 * body.alpha * q[3 + 3 * b + r] * speeds
                    for s in range(3):
                        entry = second if r == s else 0.0
                        entry += body.alpha * (q[3 + 3 * b + r] * q[3 + 3 * a + s])
                        if a == b:
                            for k in range(3):
                                entry += body.alpha * (q[3 + 3 * k + r] * q[3 + 3 * k + s])
                        mass[3 + 3 * a + r, 3 + 3 * b + s] = entry

    @staticmethod
    def rates(body, q, v, q_rate):
        for c in range(12):
            q_rate[c] = v[c]

    @staticmethod
    def intrinsic(q, v, residual, rate, gamma, jacobian, level):
        for row in range(6):
            first, second = 3 + 3 * FIRST[row], 3 + 3 * SECOND[row]
            residual[row] = -1.0 if row < 3 else 0.0
            for r in range(3):
                residual[row] += q[first + r] * q[second + r]
            if level == 0:
                continue
            rate[row] = 0.0
            gamma[row] = 0.0
            for r in range(3):
                jacobian[row, first + r] = 0.0
                jacobian[row, second + r] = 0.0
            for r in range(3):
                rate[row] += q[first + r] * v[second + r] + v[first + r] * q[second + r]
                gamma[row] -= 2.0 * v[first + r] * v[second + r]
                jacobian[row, first + r] += q[second + r]
                jacobian[row, second + r] += q[first + r]

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        if body.alpha == 0.0:
            return
        # alpha d_b (d_a.d_b'' + d_b.d_a'' + 2 d_a'.d_b'), summed over b, for each axis d_a
        for a in range(3):
            for b in range(3):
                second = 0.0
                for r in range(3):
                    second += q[3 + 3 * a + r] * v_rate[3 + 3 * b + r] + v_rate[3 + 3 * a + r] * q[3 + 3 * b + r]
                    second += 2.0 * v[3 + 3 * a + r] * v[3 + 3 * b + r]
                for r in range(3):
                    x = 3 + 3 * a + r
                    stiffness[x, 3 + 3 * b + r] += body.alpha * second
                    for s in range(3):
                        d = body.alpha * q[3 + 3 * b + r]
                        stiffness[x, 3 + 3 * a + s] += d * v_rate[3 + 3 * b + s]
                        stiffness[x, 3 + 3 * b + s] += d * v_rate[3 + 3 * a + s]
                        damping[x, 3 + 3 * a + s] += 2.0 * d * v[3 + 3 * b + s]
                        damping[x, 3 + 3 * b + s] += 2.0 * d * v[3 + 3 * a + s]

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        for x in range(12):
            for c in range(12):
                rate_tangent[x, c] = 0.0

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        """Nothing: B is constant."""

    @staticmethod
    def intrinsic_tangent(q, multipliers, stiffness):
        for row in range(6):
            for r in range(3):
                a, b = 3 + 3 * FIRST[row] + r, 3 + 3 * SECOND[row] + r
                stiffness[a, b] += multipliers[row]
                stiffness[b, a] += multipliers[row]
