"""The force elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..measures import distance, distance_rate
from ..parameters import parameter
from .base import ForceElement

if TYPE_CHECKING:
    from ..bodies.base import Body


class SpringDamper(ForceElement):
    """Linear spring and damper along the line between two points.

    Tension s = k (l - l0) + c l' (positive pulls the points together), with the distance l > 0. The force on the
    second body is s e, e being the unit vector from its point to the first body's point. Energy k (l - l0)^2 / 2.
    """

    stiffness = parameter(0.0, unit="N/m", minimum=0.0, help="k")
    damping = parameter(0.0, unit="N s/m", minimum=0.0, help="c")
    free_length = parameter(0.0, unit="m", minimum=0.0, help="l0: length without tension")

    def wrench(self, t, i, j):
        length, x, y, z = distance(i, j)
        s = self.stiffness * (length - self.free_length) + self.damping * distance_rate(i, j)
        return (s * x, s * y, s * z), (0.0, 0.0, 0.0)

    def energy(self, t, i, j):
        length, _, _, _ = distance(i, j)
        return 0.5 * self.stiffness * (length - self.free_length) ** 2

    def wrench_gradient(self, t, i, j, g):
        # F = s e with ds = k dl + c dl', dl = e.d, de = (d - e e.d)/l, dl' = de.u + e.u' for a change d of r_i - r_j,
        # rate u
        length, x, y, z = distance(i, j)
        rate = distance_rate(i, j)
        s = self.stiffness * (length - self.free_length) + self.damping * rate
        e = (x, y, z)
        for a in range(3):
            for b in range(3):
                transverse = (1.0 if a == b else 0.0) - e[a] * e[b]
                u = i.velocity[b] - j.velocity[b]
                by_position = self.stiffness * e[a] * e[b] + s / length * transverse
                by_position += self.damping * e[a] * (u - rate * e[b]) / length
                by_velocity = self.damping * e[a] * e[b]
                g[a, b] = by_position
                g[a, 18 + b] = -by_position
                g[a, 12 + b] = by_velocity
                g[a, 30 + b] = -by_velocity

    @classmethod
    def example(cls, *bodies: Body) -> SpringDamper:
        spring = cls("spring", *bodies, stiffness=120.0, damping=3.0, free_length=0.7)
        spring.update(at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6))
        return spring
