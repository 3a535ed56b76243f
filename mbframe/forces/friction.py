"""Friction in joints: forces that depend on the joint's own reaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.base import Body
from ..errors import ModelError, Problem
from ..joints.base import Joint
from ..joints.library import RevoluteJoint, TranslationalJoint
from ..kernels.layout import AXES_AT, MOTION_J, MOTIONS, PLACE, SPIN_AT, SPIN_J, VELOCITY_AT, VELOCITY_J
from ..markers import Marker
from ..parameters import parameter
from ..proposals import Scale, rounded
from ..vectors import column, cross, dot, minus, plus, scaled, triple, unit
from .base import ForceElement

Array = NDArray[np.float64]

HALF_A_GUIDE = 0.1  # of the model's size
NO_MOMENT = 1e-9  # N m, or N: rounding


class Friction(ForceElement):
    """Dry friction in a revolute or translational joint, regularized: called as `Friction(name, joint, ...)`.

    With N the size of the joint's reaction force across its axis a, and mu the coefficient,

        sliding:  force  -mu N tanh(u / u_0) a on the second body, u its relative velocity along a
        turning:  torque -mu N r tanh(r w / u_0) a on the second body, w its relative angular velocity about a, r the
                  radius of the pin

    At speeds well above u_0 this is Coulomb's law; a joint that sticks creeps at a small fraction of u_0. Reaction
    moments do not add to N; a run warns where they are large. N and the friction determine each other; the acceleration
    finds both by iteration, implicit integrators by Newton's method. Where constraints depend on each other N is not
    unique: friction takes the reactions of least norm, as `result.reaction` shows them, and a run says so. `RadauIIA`
    takes steps whose length does not depend on u_0; explicit integrators need some 0.7 mu N/(m u_0) a second where a
    joint sticks.
    """

    reactive = True

    joint = parameter(kind="reference", help="the joint that rubs")
    coefficient = parameter(0.1, minimum=0.0, help="mu")
    velocity_scale = parameter(1e-3, unit="m/s", above=0.0, help="u_0: speed at which three quarters of the force act")
    radius = parameter(0.0, unit="m", minimum=0.0, help="r: radius of the pin of a revolute joint")

    def __init__(self, name: str, joint: Joint, **values: Any) -> None:
        if not isinstance(joint, RevoluteJoint | TranslationalJoint):
            message = f"found {joint!r}; allowed is a RevoluteJoint or a TranslationalJoint of the system"
            raise ModelError([Problem(f"{type(self).__name__} {name!r}", "joint", message)])
        super().__init__(name, joint.body_i, joint.body_j, joint=joint, **values)

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if isinstance(self.joint, RevoluteJoint) and self.radius == 0.0:
            yield self.problem("radius", "found 0; friction in a hinge needs the radius of its pin: add radius=...")

    @property
    def i(self) -> Marker:
        return self.joint.i

    @property
    def j(self) -> Marker:
        return self.joint.j

    def reactive_wrench(self, t, i, j, reaction):
        """Force and torque on the second body for a given reaction force on it."""
        a = (j.axes[0, 2], j.axes[1, 2], j.axes[2, 2])
        along = reaction[0] * a[0] + reaction[1] * a[1] + reaction[2] * a[2]
        n0, n1, n2 = reaction[0] - along * a[0], reaction[1] - along * a[1], reaction[2] - along * a[2]
        normal = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if self.radius > 0.0:
            rate = 0.0
            for r in range(3):
                rate += (j.angular_velocity[r] - i.angular_velocity[r]) * a[r]
            m = -self.coefficient * normal * self.radius * np.tanh(self.radius * rate / self.velocity_scale)
            return (0.0, 0.0, 0.0), (m * a[0], m * a[1], m * a[2])
        x, y, z = j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2]
        w = i.angular_velocity
        speed = (
            (j.velocity[0] - i.velocity[0] - (w[1] * z - w[2] * y)) * a[0]
            + (j.velocity[1] - i.velocity[1] - (w[2] * x - w[0] * z)) * a[1]
            + (j.velocity[2] - i.velocity[2] - (w[0] * y - w[1] * x)) * a[2]
        )
        f = -self.coefficient * normal * np.tanh(speed / self.velocity_scale)
        return (f * a[0], f * a[1], f * a[2]), (0.0, 0.0, 0.0)

    def reactive_gradient(self, t, i, j, reaction, g, by_reaction):
        """Derivatives of both by the motions of the markers, in g as for `wrench_gradient`, and by the reaction."""
        a, f = column(j.axes, 2), reaction
        along = dot(f, a)
        n = plus(f, -along, a)
        normal = np.sqrt(dot(n, n))
        by_force = scaled(1.0 / normal, n) if normal > 0.0 else (0.0, 0.0, 0.0)
        turns = self.radius > 0.0
        x, w = minus(j.position, i.position), triple(i.angular_velocity)
        if turns:
            relative, reach, first = minus(j.angular_velocity, i.angular_velocity), self.radius, 3
        else:
            relative, reach, first = minus(minus(j.velocity, i.velocity), cross(w, x)), 1.0, 0
        s = np.tanh(reach * dot(relative, a) / self.velocity_scale)
        slope = (1.0 - s * s) * reach / self.velocity_scale
        size = -self.coefficient * reach
        for k in range(3):
            for r in range(3):
                by_reaction[first + r, k] = size * s * by_force[k] * a[r]
        for c in range(MOTIONS):
            # One number of a marker changes by one: the axis a, the relative velocity and the pressure N follow.
            turned = MOTION_J + AXES_AT <= c < MOTION_J + PLACE and (c - MOTION_J) % 3 == 2
            da = unit((c - MOTION_J - AXES_AT) // 3) if turned else (0.0, 0.0, 0.0)
            dw = unit(c - SPIN_AT)
            if turns:
                change = minus(unit(c - SPIN_J), dw)
            else:
                dx = minus(unit(c - MOTION_J), unit(c))
                change = minus(unit(c - VELOCITY_J), unit(c - VELOCITY_AT))
                change = minus(change, plus(cross(dw, x), 1.0, cross(w, dx)))
            pressed = -along * dot(by_force, da)
            rate = dot(change, a) + dot(relative, da)
            for r in range(3):
                g[first + r, c] = size * ((pressed * s + normal * slope * rate) * a[r] + normal * s * da[r])

    def judged(self, force: Array, torque: Array, size: float) -> Iterator[str]:
        """What to say of reactions (n, 3) of the joint in a model of a size, m, whose moments the law leaves out.

        A force N that acts beside the joint presses a guide at both ends, together with more than N if that is farther
        off than half of its length, which is taken to be the diameter of a pin, or a fifth of the model's size.
        """
        normal, moment = (float(np.linalg.norm(values, axis=1).max(initial=0.0)) for values in (force, torque))
        half = self.radius or HALF_A_GUIDE * size
        if self.coefficient > 0.0 and moment > half * normal + NO_MOMENT:
            reach = 2.0 * moment / max(normal, NO_MOMENT)
            yield (
                f"{self}: {self.joint} carries moments of up to {moment:.3g} N m beside forces of up to {normal:.3g} "
                f"N, and moments do not add to the friction; the ends of a guide of a length L below {reach:.2g} m "
                f"press with more than these forces: multiply coefficient by {reach:.2g} m / L then"
            )

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        pin = {"radius": rounded(0.02 * scale.length)} if "angle" in picked["joint"].freedoms else {}
        return super().proposed(scale, picked) | pin

    @classmethod
    def example(cls, *bodies: Body) -> Friction:
        joint = TranslationalJoint("slide", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, -1.0))
        return cls("friction", joint, coefficient=0.3, velocity_scale=0.1)
