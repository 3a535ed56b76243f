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
from ..equations.tables import users_methods
from ..equations.user import method_of
from ..features import Features, features_of_method
from ..parameters import Element

Array = NDArray[np.float64]

METHODS: Final = ("wrench", "state_rate")
EVALUATIONS: Final = ("evaluate", "slope", "bend")
"""Functions that take a declared function and its argument."""


def time_logic(eq: Equations, y: Array, start: float, end: float) -> Iterator[tuple[Element, str, Features]]:
    """Users' forces whose methods read the time other than for a declared function, and what was found in them.

    Markers and own states are those of the start, all along.
    """
    found = []
    for table in eq.tables.force_tables:
        users = users_methods(table.type)
        names = [name for name in METHODS if name in users and reads_time(getattr(table.type, name))]
        found += [(name, f.force, row) for name in names for f, row in zip(table.elements, table.rows, strict=True)]
    if not found:
        return
    eq.evaluate(start, *eq.split(y))
    for name, force, row in found:
        yield force, name, features_of_method(_numbers(eq, force, row, name), start, end)


def _numbers(eq: Equations, force: Any, row: Any, name: str) -> Callable[[float], Any]:
    """What a method returns at an instant, as one list."""
    method = method_of(force, name)
    seen = eq.tables.seen_by(row)
    # Records look their fields up by name, ten times slower: too slow for so many calls.
    i, j = (SimpleNamespace(**{field: marker[field] for field in marker.dtype.names}) for marker in seen)
    own = [np.array(force.initial_states(), float)] if force.states else []
    if name == "state_rate":
        return lambda t: method(t, i, j, own[0].copy())

    def both(t: float) -> list[float]:
        push, turn = method(t, i, j, *(z.copy() for z in own))
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
