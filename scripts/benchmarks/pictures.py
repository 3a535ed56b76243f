"""How long pictures take: functions that `bench.py` calls in processes of their own, in milliseconds of CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import mbframe as mb

HD = (1280, 720)
BODIES = 200


def per_call(function: Callable[[], object], calls: int, repeats: int) -> float:
    """The best of some averages, ms."""
    function()
    averages = []
    for _ in range(repeats):
        began = time.process_time()
        for _ in range(calls):
            function()
        averages.append((time.process_time() - began) / calls)
    return 1e3 * min(averages)


def frame_times(frames: int, repeats: int) -> dict[str, float]:
    """Pictures of the triple pendulum, and moving a scene of many bodies without drawing it."""
    system = mb.examples.triple_pendulum()
    state = described(system)
    found = {}
    for smooth in (False, True):
        with mb.render.Scene(system, size=HD, smooth=smooth) as scene:
            name = f"frame of {HD[0]} x {HD[1]}, {'smooth' if smooth else 'plain'}"

            def frame(scene: mb.render.Scene = scene) -> None:
                scene.show(state)
                scene.image()

            found[name] = per_call(frame, frames, repeats)
    many = chain(BODIES)
    with mb.render.Scene(many, size=(64, 64)) as scene:
        moved = described(many)
        found[f"moving a scene of {BODIES} bodies"] = per_call(lambda: scene.show(moved), frames, repeats)
    return found


def described(system: mb.System) -> mb.State:
    from mbframe.state import Motion

    return mb.State(
        0.0, {b.name: Motion(b.position, b.rotation, b.velocity, b.angular_velocity) for b in system.bodies}
    )


def chain(n: int) -> mb.System:
    system = mb.System("chain")
    previous = system.ground
    for k in range(n):
        link = mb.RigidBody(f"link {k}", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(k + 0.5, 0.0, 0.0))
        system.add(link)
        system.add(mb.RevoluteJoint(f"joint {k}", previous, link, at=np.array([k, 0.0, 0.0]), axis=(0, 1, 0)))
        previous = link
    return system
