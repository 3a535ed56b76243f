"""What methods of users' elements do with the time themselves: found by reading and by trying them before a run."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..equations.control import measured
from ..equations.equations import Equations
from ..equations.numbered import NumberedController, users_among, users_methods
from ..equations.user import method_of
from ..features import Features, features_of_method
from ..measures import Measure
from ..parameters import Element
from ..rotations import matrix_from_vector

Array = NDArray[np.float64]
Calls = Iterator[Callable[[float], Any]]

METHODS: Final = ("wrench", "state_rate")
EQUATIONS: Final = ("residual", "velocity_residual")
ACTING: Final = ("output", "state_rate")
"""Methods of controllers that act all the time."""
EVALUATIONS: Final = ("evaluate", "slope", "bend")
"""Functions that take a declared function and its argument."""
TRIES: Final = 3
"""Other states than that of the start that are tried until a method has values in one."""
TURN: Final = 0.3
"""How far the axes of a marker are turned in another state (rad); it is moved and set in motion by units."""


def time_logic(eq: Equations, y: Array, start: float, end: float) -> Iterator[tuple[Element, str, Features]]:
    """Users' methods that read the time other than for a declared function, and what was found.

    Looked at are forces, constraints, controllers that act all the time, and measures that these see, each in the state
    of the start and in another one: what a switch multiplies, such as a velocity, may be zero at the start.
    """
    found = [*_of_markers(eq, y), *_of_controllers(eq)]
    if not found:
        return
    eq.update(start, *eq.split(y))
    for element, name, calls in found:
        yield element, name, _features(calls, start, end)


def _of_markers(eq: Equations, y: Array) -> Iterator[tuple[Element, str, Calls]]:
    """Forces and constraints with the name of such a method, and its calls in several states."""
    for tables, names in ((eq.tables.force_tables, METHODS), (eq.tables.constraint_tables, EQUATIONS)):
        for table in tables:
            users = users_methods(table.type)
            read = [name for name in names if name in users and reads_time(getattr(table.type, name))]
            elements = [getattr(e, "force", None) or e.constraint for e in table.elements]
            for name in read:
                for e, row in zip(elements, table.rows, strict=True):
                    yield e, name, _calls_between(eq, y, e, row, name)


def _of_controllers(eq: Equations) -> Iterator[tuple[Element, str, Calls]]:
    """Controllers and what they see, likewise."""
    acting = acting_controllers(eq)
    for c in acting:
        kind = type(c.controller)
        for name in ACTING[: 2 if c.controller.states else 1]:
            if users_among(kind, (name,)) and reads_time(getattr(kind, name)):
                yield c.controller, name, _calls_of_controller(eq, c, name)
    for measure in measures_seen(acting):
        users = users_among(type(measure), ("value", "gradient"))
        if any(reads_time(getattr(type(measure), name)) for name in users):
            yield measure, "value", _calls_of_measure(eq, measure)


def acting_controllers(eq: Equations) -> list[NumberedController]:
    """Controllers without a sample time."""
    return [c for c in eq.tables.controllers if not c.sampled]


def measures_seen(controllers: list[NumberedController]) -> list[Measure]:
    """The measures that controllers see, each once."""
    return list({s.name: s.measure for c in controllers for s in c.sights if s.measure is not None}.values())


def _features(calls: Calls, start: float, end: float) -> Features:
    """What a method makes of the time, in the state of the start and in another one."""
    here = features_of_method(next(calls), start, end)
    if not here.seen:
        return here
    for call in islice(calls, TRIES):
        there = features_of_method(call, start, end, "in other states than that of the start")
        if there.seen:
            pole = here.pole if here.pole is not None else there.pole
            jumps = np.union1d(here.jumps, there.jumps)
            return Features(jumps, here.nodes, here.bounds.both(there.bounds), pole=pole)
    return there


def _calls_between(eq: Equations, y: Array, element: Any, row: Any, name: str) -> Calls:
    """A method of two markers in the state of the start, and then in others."""
    markers = _quick(eq.tables.seen_by(row))
    states = getattr(element, "states", 0)
    own = [eq.split(y)[2][row.z : row.z + states].copy()] if states else []
    yield _numbers(element, name, markers, own)
    random = np.random.default_rng(3)
    while True:
        others = [_elsewhere(marker, random, element.body_j.dimension) for marker in markers]
        yield _numbers(element, name, others, [z + random.normal(size=z.shape) for z in own])


def _calls_of_controller(eq: Equations, c: NumberedController, name: str) -> Calls:
    """A method of a controller for what it sees at the start, and then for something else; unknown rates are zero."""
    method = getattr(eq.tables.fed_controllers[c.name], name)
    random = np.random.default_rng(3)
    seen = [np.nan_to_num(part) for part in eq.stages.control.seen_by(c)]
    while True:
        yield partial(_given_by, method, seen)
        seen = [part + random.normal(size=part.shape) for part in seen]


def _given_by(method: Callable[..., Any], seen: list[Array], t: float) -> Any:
    """What a method of a controller returns at an instant; it is given copies, as it may change them."""
    return method(t, *(part.copy() for part in seen))


def _calls_of_measure(eq: Equations, measure: Measure) -> Calls:
    """A measure and its rate in the state of the start, and then in others."""
    i, j = eq.tables.place(measure.i), eq.tables.place(measure.j)
    counter = eq.tables.sight_counters.get(measure.name, 0)
    markers = _quick(eq.tables.seen_by(SimpleNamespace(i=i, j=j, counter=counter)))
    random = np.random.default_rng(3)
    while True:
        yield partial(_measure_of, measure, markers)
        markers = [_elsewhere(marker, random, measure.body_j.dimension) for marker in markers]


def _measure_of(measure: Measure, markers: list[Any], t: float) -> tuple[float, float]:
    return measured(measure, t, *markers)


def _quick(markers: Any) -> list[Any]:
    """Markers as plain objects: records look their fields up by name, ten times slower, too slow for so many calls."""
    return [SimpleNamespace(**{field: marker[field] for field in marker.dtype.names}) for marker in markers]


def _elsewhere(marker: Any, random: np.random.Generator, dimension: int) -> Any:
    """A marker in another place, direction and motion."""
    turned = matrix_from_vector(TURN * random.normal(size=3) * ([0.0, 0.0, 1.0] if dimension == 2 else 1.0))
    moved = {
        field: getattr(marker, field) + random.normal(size=3) for field in ("position", "velocity", "angular_velocity")
    }
    axes = turned @ marker.axes
    moved |= {"axes": axes, "axes_rate": np.cross(moved["angular_velocity"], axes, axisb=0, axisc=0)}
    return SimpleNamespace(**vars(marker) | moved)


def _numbers(element: Any, name: str, markers: list[Any], own: list[Array]) -> Callable[[float], Any]:
    """What a method returns at an instant, as one list."""
    method = method_of(element, name)
    if name != "wrench":
        return lambda t: method(t, *markers, *(z.copy() for z in own))

    def both(t: float) -> list[float]:
        push, turn = method(t, *markers, *(z.copy() for z in own))
        return [*push, *turn]

    return both


@cache
def reads_time(method: Any) -> bool:
    """Whether a method uses its argument t for something else than the value of a declared function."""
    function = inspect.unwrap(method)
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount < 2:
        return True
    owner, name = code.co_varnames[:2]
    try:
        root = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        used = [i.argval for i in dis.get_instructions(code) if i.opname.startswith("LOAD")]
        return any(name == value or (isinstance(value, tuple) and name in value) for value in used)
    allowed = {id(node.args[1]) for node in ast.walk(root) if isinstance(node, ast.Call) and _evaluates(node, owner)}
    return any(isinstance(n, ast.Name) and n.id == name and id(n) not in allowed for n in ast.walk(root))


def _evaluates(node: ast.Call, owner: str) -> bool:
    """Whether a call is like evaluate(self.law, t)."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in EVALUATIONS or len(node.args) != 2:
        return False
    law = node.args[0]
    return isinstance(law, ast.Attribute) and isinstance(law.value, ast.Name) and law.value.id == owner
