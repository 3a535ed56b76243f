"""Remedies where there are no roots: a sentence, and what to do about it. No widgets here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .tasks import ASSEMBLED, EQUILIBRIUM, SHOWN, STEADY, About

NAMED = 3  # bodies in a sentence about what moved


@dataclass(frozen=True)
class Explanation:
    """Explanation of a failure, with buttons: the label of each, and the state to linearize about instead."""

    text: str
    remedies: tuple[tuple[str, About], ...] = ()


FIND_EQUILIBRIUM = ("Find equilibrium", About(EQUILIBRIUM))
FIND_STEADY = ("Find steady motion", About(STEADY))


def explained(message: str, about: About) -> Explanation:
    """A failure in words for the window; the library's own hints are about its functions."""
    if turn := re.search(r"TurningFrame\(axis=\(([^)]*)\), rate=([-+.\de]+)\)", message):
        axis = tuple(float(part) for part in turn[1].split(","))
        rate = float(turn[2])
        return Explanation(
            f"The model moves in a steady turn of {rate:.4g} rad/s. It has roots in a frame that turns with it.",
            (("Use the turning frame", About(about.kind, about.state, (axis, rate))),),
        )
    if "neither an equilibrium nor part of a steady motion" in message:
        start = "It has no roots here: this state is neither an equilibrium nor part of a steady motion"
        found = re.search(r"of ('[^']*') (\S+ m/s\^2) and (\S+ rad/s\^2)", message)
        worst = f"; {found[1].strip(chr(39))} would accelerate by {found[2]} and {found[3]}" if found else ""
        return Explanation(f"{start}{worst}.".replace("^2", "²"), (FIND_EQUILIBRIUM, FIND_STEADY))
    if "violate the constraints" in message:
        found = re.search(r"the (positions|velocities) violate the constraints: ([^;]*);", message)
        listed = f" ({found[2]})" if found else ""
        words = "slip or tear" if found and found[1] == "velocities" else "are open"
        return Explanation(
            f"Joints {words}{listed}. Roots need a state that fulfils all constraints.", (_assemble(about),)
        )
    if "coefficients of the linear equations change" in message:
        return Explanation(_sentence(message.split("; roots do not exist")[0]) + " Such a motion has no roots.")
    if about.kind == STEADY and "no steady motion" in message:
        return Explanation(_sentence(message.split("; give other")[0]), (FIND_EQUILIBRIUM,))
    if about.kind == EQUILIBRIUM:
        return Explanation(_sentence(message), (FIND_STEADY,))
    return Explanation(_sentence(message))


def _assemble(about: About) -> tuple[str, About]:
    return ("Assemble first", About(ASSEMBLED)) if about.kind != SHOWN else FIND_EQUILIBRIUM


def _sentence(message: str) -> str:
    text = message.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def what_moved(kind: str, moved: dict[str, tuple[float, float]], state: object) -> str:
    """Sentence about the state that was found and what moved on the way there."""
    head = {
        EQUILIBRIUM: "Equilibrium found",
        STEADY: "Steady motion found",
        ASSEMBLED: "Joints closed",
    }[kind]
    if (kind_of := getattr(state, "kind", "")) and kind == EQUILIBRIUM:
        head += f" ({_KINDS.get(kind_of, kind_of)})"
    frame = getattr(state, "frame", None)
    if kind == STEADY and frame is not None and abs(frame.rate) > 1e-9:
        head += f" (turning by {frame.rate:.4g} rad/s)"
    changed = {name: size for name, size in moved.items() if max(size) > 1e-9}
    if not changed:
        return f"{head}: it is the described state."
    largest = sorted(changed.items(), key=lambda item: -max(item[1]))
    parts = [f"{name} {_distance(*size)}" for name, size in largest[:NAMED]]
    more = f", and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return f"{head}. From the described state moved: {', '.join(parts)}{more}."


def what_is_left_out(names: tuple[str, ...], t: float) -> str:
    """Which loads take no part, and what to do if they should; empty if all do."""
    if not names:
        return ""
    listed = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    them, they = ("it", "it acts") if len(names) == 1 else ("them", "they act")
    return (
        f"Without {listed}, zero around t = {t:.4g} s. If {they} all the time, make {them} constant; otherwise "
        f"linearize about the shown state of a time at which {they}."
    )


_KINDS = {
    "minimum": "least potential energy",
    "maximum": "greatest potential energy",
    "saddle": "a saddle of the potential energy",
    "indifferent": "indifferent",
    "without potential": "loads without potential energy",
}


def _distance(shift: float, turn: float) -> str:
    parts = []
    if shift > 1e-9:
        parts.append(f"{shift:.3g} m")
    if turn > 1e-9:
        parts.append(f"{math.degrees(turn):.3g}°")
    return " and ".join(parts)
