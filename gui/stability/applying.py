"""A state that was found becomes the described one. No widgets here."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbframe as mb
from mbframe.plane import angle_of, lifted, lowered, rotation_by

OF_SECOND = ("at_j", "axis_j", "direction")
"""Parameters of a connection that belong to its second body; other global ones go with the first."""
OF_BOTH = ("at", "axis", "frame")
"""Those that go with the second body where the first is the ground."""
SAME = 1e-6  # relative difference of roots that are the same


def changes_to(system: mb.System, state: mb.State) -> list[tuple[Any, dict[str, Any]]]:
    """What to assign to which elements so that the model is described in a state.

    Bodies get their poses and velocities; points and axes of joints and forces go with their bodies. Where a joint has
    one point for both bodies it goes with the first, which is enough because joints are closed in the state.
    """
    changes: list[tuple[Any, dict[str, Any]]] = [(body, _motion(body, state)) for body in system.bodies]
    for element in system:
        moved = {}
        for name, declared in type(element).parameters().items():
            value = getattr(element, name, None)
            if declared.kind not in ("point", "axis", "rotation") or not isinstance(value, np.ndarray):
                continue
            body = _owner(element, name)
            if body is not None and body.name in state.motions:
                moved[name] = _carried(declared.kind, value, body, state)
        if moved:
            changes.append((element, moved))
    return changes


def same_roots(one: Any, other: Any) -> bool:
    """Whether two linearizations have the same roots, ignorable ones apart."""
    a, b = (np.array([m.eigenvalue for m in lin.modes if not m.ignorable], complex) for lin in (one, other))
    return len(a) == len(b) and bool(np.abs(a - b).max(initial=0.0) <= SAME * max(np.abs(a).max(initial=0.0), 1e-9))


def _motion(body: Any, state: mb.State) -> dict[str, Any]:
    motion, dimension = state.motion(body), body.dimension
    values: dict[str, Any] = {
        "position": lowered(motion.position, dimension),
        "velocity": lowered(motion.velocity, dimension),
    }
    if dimension == 2:
        turn = float(angle_of(motion.rotation)) - body.angle
        values["angle"] = body.angle + float(np.arctan2(np.sin(turn), np.cos(turn)))  # whole turns stay
        values["angular_velocity"] = float(motion.angular_velocity[2])
    else:
        values |= {"rotation": motion.rotation, "angular_velocity": motion.angular_velocity}
    return {name: value for name, value in values.items() if name in type(body).parameters()}


def _owner(element: Any, name: str) -> Any:
    """The body that a global parameter of a connection is fixed to; None is the ground, or no body."""
    if isinstance(element, mb.Body):
        return None
    first, second = getattr(element, "body_i", None), getattr(element, "body_j", None)
    if name in OF_SECOND:
        return second
    return second if name in OF_BOTH and (first is None or isinstance(first, mb.Ground)) else first


def _carried(kind: str, value: Any, body: Any, state: mb.State) -> Any:
    """A global point, direction or rotation fixed to a body, as it is in a state."""
    motion = state.motion(body)
    before = rotation_by(body.angle) if body.dimension == 2 else body.rotation
    turn = motion.rotation @ before.T
    if kind == "rotation":
        return turn @ value
    if kind == "axis":
        return lowered(turn @ lifted(value), len(value))
    return lowered(motion.position + turn @ (lifted(value) - lifted(body.position)), len(value))
