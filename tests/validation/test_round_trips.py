"""Nothing is lost in a file: models read back, or run as scripts, are the same and move the same, bit by bit.

`scripts/stress endure models` takes more random ones.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings

import mbframe as mb
from mbframe.files.json_text import parse
from mbframe.files.model import settings_from

from .random_models import CONNECTIONS, IN_PLANE, example, guides, place, planar_example, settings
from .round_trips import REPRODUCIBLE, motion, read_back, run_as_script, survive, text_of

SHORT_STEP = 1e-4  # for the dampers of the flyball governor


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
@pytest.mark.parametrize("number", range(4))
def test_random_models_survive_file_and_script_and_move_the_same(number: int) -> None:
    assert survive(number) >= 17


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", range(2))
def test_random_planar_models_survive_file_and_script_and_move_the_same(number: int) -> None:
    assert survive(number, dimension=2) >= 15


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
