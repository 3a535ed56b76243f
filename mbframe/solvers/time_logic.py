"""What methods of users' elements do with the time themselves: found by reading and by trying them before a run."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..equations.equations import Equations
from ..equations.numbered import users_methods
from ..equations.user import method_of
from ..features import Features, features_of_method
from ..parameters import Element
from ..rotations import matrix_from_vector

Array = NDArray[np.float64]

METHODS: Final = ("wrench", "state_rate")
EQUATIONS: Final = ("residual", "velocity_residual")
EVALUATIONS: Final = ("evaluate", "slope", "bend")
"""Functions that take a declared function and its argument."""
TRIES: Final = 3
"""Other states than that of the start that are tried until a method has values in one."""
TURN: Final = 0.3
"""How far the axes of a marker are turned in another state (rad); it is moved and set in motion by units."""


def time_logic(eq: Equations, y: Array, start: float, end: float) -> Iterator[tuple[Element, str, Features]]:
    """Users' forces and constraints whose methods read the time other than for a declared function, and what was found.

    A method is looked at in the state of the start, and in another one: what a switch multiplies, such as a velocity,
    may be zero at the start.
    """
    found = []
    for tables, names in ((eq.tables.force_tables, METHODS), (eq.tables.constraint_tables, EQUATIONS)):
        for table in tables:
            users = users_methods(table.type)
            read = [name for name in names if name in users and reads_time(getattr(table.type, name))]
            elements = [getattr(e, "force", None) or e.constraint for e in table.elements]
            found += [(name, e, row) for name in read for e, row in zip(elements, table.rows, strict=True)]
    if not found:
        return
    eq.update(start, *eq.split(y))
    for name, element, row in found:
        yield element, name, _features(eq, y, element, row, name, start, end)


def _features(eq: Equations, y: Array, element: Any, row: Any, name: str, start: float, end: float) -> Features:
    """What a method makes of the time, in the state of the start and in another one."""
    # Records look their fields up by name, ten times slower: too slow for so many calls.
    markers = [
        SimpleNamespace(**{field: marker[field] for field in marker.dtype.names}) for marker in eq.tables.seen_by(row)
    ]
    states = getattr(element, "states", 0)
    own = [eq.split(y)[2][row.z : row.z + states].copy()] if states else []
    here = features_of_method(_numbers(element, name, markers, own), start, end)
    random = np.random.default_rng(3)
    for _ in range(TRIES if here.seen else 0):
        others = [_elsewhere(marker, random, element.body_j.dimension) for marker in markers]
        call = _numbers(element, name, others, [z + random.normal(size=z.shape) for z in own])
        there = features_of_method(call, start, end, "in other states than that of the start")
        if there.seen:
            pole = here.pole if here.pole is not None else there.pole
            jumps = np.union1d(here.jumps, there.jumps)
            return Features(jumps, here.nodes, here.bounds.both(there.bounds), pole=pole)
    return there if here.seen else here


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
