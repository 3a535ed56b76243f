"""Models through files and scripts and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings

import mbframe as mb
from mbframe.files.json_text import dumps, parse
from mbframe.files.model import document, system_from

from .random_models import systems

STEP = 1e-3
# The same models in every run. A failing one is not shrunk: that would simulate for many minutes.
REPRODUCIBLE: dict[str, Any] = {
    "database": None,
    "deadline": None,
    "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck),
}


def text_of(system: mb.System, simulation: Any = None) -> str:
    return dumps(document(system, simulation))


def read_back(system: mb.System) -> mb.System:
    return system_from(parse(text_of(system), "text"))


def run_as_script(system: mb.System) -> mb.System:
    scope: dict[str, Any] = {}
    exec(mb.to_python(system), scope)
    return scope["system"]


def motion(system: mb.System, t_end: float = 2 * STEP, dt: float = STEP) -> Any:
    """Stored times and states as bytes; or, for a model that cannot move, what is said about it."""
    try:
        with np.errstate(all="ignore"):
            result = mb.simulate(system, t_end, dt=dt)
    except (mb.MbframeError, ArithmeticError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return result.t.tobytes(), result.q.tobytes(), result.v.tobytes(), result.z.tobytes()


def survive(number: int, dimension: int = 3) -> int:
    """Fifty random models: read back, or run as scripts, they are the same and move the same; how many move at all."""
    moved = []

    @seed(number)
    @hypothesis_settings(max_examples=50, **REPRODUCIBLE)
    @given(systems(dimension=dimension))
    def survives(system: mb.System) -> None:
        text, twin = text_of(system), read_back(system)
        assert text_of(twin) == text
        assert text_of(run_as_script(system)) == text
        found = motion(system)
        assert motion(twin) == found
        moved.append(isinstance(found, tuple))

    survives()
    assert len(moved) == 50
    return sum(moved)  # the others cannot be assembled, and said the same
