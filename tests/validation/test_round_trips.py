"""Nothing is lost in a file: models read back, or run as scripts, are the same and move the same, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings

import mbframe as mb
from mbframe.files.json_text import dumps, parse
from mbframe.files.model import document, settings_from, system_from

from .random_models import CONNECTIONS, IN_PLANE, example, guides, place, planar_example, settings, systems

STEP = 1e-3
SHORT_STEP = 1e-4  # for the dampers of the flyball governor
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


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", mb.examples.names())
def test_examples_survive_file_and_script_and_move_the_same(name: str) -> None:
    system = getattr(mb.examples, name)()
    step = min(SHORT_STEP, 1e-4 * mb.examples.DURATIONS.get(name, 5.0))
    moved = motion(system, 50 * step, step)
    assert isinstance(moved, tuple)
    for twin in (read_back(system), run_as_script(system)):
        assert text_of(twin) == text_of(system)
        assert motion(twin, 50 * step, step) == moved


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", range(10))
def test_random_models_survive_file_and_script_and_move_the_same(number: int) -> None:
    survive(systems(), number)


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", range(4))
def test_random_planar_models_survive_file_and_script_and_move_the_same(number: int) -> None:
    survive(systems(dimension=2), number)


def survive(models: Any, number: int) -> None:
    moved = []

    @seed(number)
    @hypothesis_settings(max_examples=50, **REPRODUCIBLE)
    @given(models)
    def survives(system: mb.System) -> None:
        text, twin = text_of(system), read_back(system)
        assert text_of(twin) == text
        assert text_of(run_as_script(system)) == text
        found = motion(system)
        assert motion(twin) == found
        moved.append(isinstance(found, tuple))

    survives()
    assert len(moved) == 50
    assert sum(moved) >= 17  # the others cannot be assembled, and must say the same


@pytest.mark.parametrize("cls", CONNECTIONS, ids=lambda cls: cls.__name__)
def test_every_class_survives_file_and_script(cls: Any) -> None:
    system = mb.System("one of each")
    first, second = (mb.RigidBody.example() for _ in range(2))
    second.name = "second"
    place(system, first)
    place(system, second)
    element = example(cls, [first, second], guides(cls, [first, second]))
    place(system, element)
    for twin in (read_back(system), run_as_script(system)):
        assert text_of(twin) == text_of(system)
        assert repr(twin[element.name]) == repr(element)


@pytest.mark.parametrize("cls", IN_PLANE, ids=lambda cls: cls.__name__)
def test_every_class_survives_file_and_script_in_the_plane(cls: Any) -> None:
    system = mb.System("one of each", dimension=2)
    first, second = (system.add(mb.PlanarBody(name, mass=1.0, inertia=0.3)) for name in ("a", "b"))
    element = planar_example(cls, [first, second])
    place(system, element)
    for twin in (read_back(system), run_as_script(system)):
        assert text_of(twin) == text_of(system)
        assert repr(twin[element.name]) == repr(element)


@seed(0)
@hypothesis_settings(max_examples=100, **REPRODUCIBLE)
@given(settings())
def test_random_settings_survive_a_file_and_a_script(simulation: dict[str, Any]) -> None:
    system = mb.examples.free_body()
    text = text_of(system, simulation)
    assert text_of(system, settings_from(parse(text, "text"))) == text
    called: dict[str, Any] = {}
    lines = mb.to_python(system, simulation=simulation)
    exec(lines.replace("mb.simulate(", "called.update("), {"called": _Recorder(called)})
    assert text_of(system, called) == text


class _Recorder:
    """Stands for `mb.simulate` in a script: keeps the arguments."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._arguments = arguments

    def update(self, system: mb.System, **settings: Any) -> None:
        self._arguments.update(settings)
