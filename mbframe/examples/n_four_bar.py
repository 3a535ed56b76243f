"""Many four-bar mechanisms in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import PlanarBody
from ..joints import RevoluteJoint
from ..shapes import Box
from ..system import System

# [Gonzalez2006]: rods of 1 m and 1 kg, and the speed at which the upper ones start
LENGTH, MASS, SPEED, WIDTH = 1.0, 1.0, 1.0, 0.05
INERTIA = MASS * LENGTH**2 / 12.0
UPRIGHT = np.pi / 2.0


def n_four_bar(n: int = 2, speed: float = SPEED) -> System:
    """A row of n windows: n + 1 rods stand on the ground, n level ones join their tops; one freedom.

    The benchmark of [Gonzalez2006]. The rods stand upright at first and the level ones move to the right at `speed`
    (m/s), so that the mechanism turns over and over. Whenever all rods lie in one line it is in a singular position,
    from which every window could go on as a parallelogram or cross over.
    """
    system = System(f"row of {n} four-bar mechanisms", dimension=2)

    def rod(name: str, x: float, y: float, **motion: Any) -> PlanarBody:
        size = (LENGTH, WIDTH, WIDTH)
        return system.add(
            PlanarBody(name, mass=MASS, inertia=INERTIA, position=(x, y), shapes=[Box(size=size)], **motion)
        )

    turning: dict[str, Any] = {"angle": UPRIGHT, "velocity": (speed / 2.0, 0.0), "angular_velocity": -speed / LENGTH}
    posts = [rod(f"post {k}", k * LENGTH, LENGTH / 2.0, **turning) for k in range(n + 1)]
    for k, post in enumerate(posts):
        system.add(RevoluteJoint(f"A{k}", system.ground, post, at=(k * LENGTH, 0.0)))
    for k in range(n):
        beam = rod(f"beam {k + 1}", (k + 0.5) * LENGTH, LENGTH, velocity=(speed, 0.0))
        system.add(RevoluteJoint(f"B{k}", posts[k], beam, at=(k * LENGTH, LENGTH)))
        system.add(RevoluteJoint(f"C{k + 1}", beam, posts[k + 1], at=((k + 1) * LENGTH, LENGTH)))
    return system
