"""Whether methods of users' forces and controllers switch at places: found by reading them before a run.

What a method compares, limits or rounds, or a hill such as exp(-((x - 7)/0.001)**2), may make a force act in a narrow
place, which long steps pass unseen. Only what follows from positions and axes counts: laws of velocities, such as
friction, switch without a place. A comparison with a tiny number guards a division and counts neither. Plain functions
that a method calls, and other methods of the element, are read too. What compiled libraries do, such as a spline of
SciPy, stays unseen. For a controller that acts all the time what it sees counts as places do, but for velocities,
inputs and what is held, and so do its own states.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any, Final

from ..equations.equations import Equations
from ..equations.numbered import NumberedController, users_among, users_methods
from ..parameters import Element
from ..registry import is_ours
from .time_logic import ACTING, METHODS, acting_controllers, measures_seen

PLACES: Final = ("position", "axes", "turns")
SWITCHES: Final = {
    *("where", "select", "piecewise", "min", "max", "minimum", "maximum", "fmin", "fmax", "clip", "sign", "copysign"),
    *("heaviside", "floor", "ceil", "trunc", "round", "rint", "interp", "searchsorted", "digitize", "argmin", "argmax"),
}
"""Functions that bend, jump or choose."""
HILLS: Final = {*("exp", "exp2", "expm1", "tanh", "cosh", "sinh", "arctan", "atan", "erf", "erfc", "sinc")}
"""Functions that change within a width of their own, however narrow it is."""
GUARD: Final = 1e-6
"""A number compared with one so small, but not with zero, is kept away from a division by zero."""
DEEPEST: Final = 4
"""Calls within calls that are followed."""


def place_logic(eq: Equations) -> Iterator[tuple[Element, str]]:
    """Users' forces, and measures that controllers see, whose methods switch at places, and the names of these."""
    for table in eq.tables.force_tables:
        users = users_methods(table.type)
        names = [name for name in METHODS if name in users and switches_at_places(table.type, name)]
        for f in table.elements:
            yield from ((f.force, name) for name in names)
    for measure in measures_seen(acting_controllers(eq)):
        kind: Any = type(measure)
        if users_among(kind, ("value",)) and switches_at_places(kind, "value"):
            yield measure, "value"


def sight_logic(eq: Equations) -> Iterator[tuple[Element, str]]:
    """Users' controllers that act all the time and switch by what they see, and the names of these methods."""
    for c in acting_controllers(eq):
        kind: Any = type(c.controller)
        for name in ACTING[: 2 if c.controller.states else 1]:
            if users_among(kind, (name,)) and switches_by_sight(kind, name, len(c.sights), _no_places(eq, c)):
                yield c.controller, name


def _no_places(eq: Equations, c: NumberedController) -> frozenset[int]:
    """Which of the numbers that a controller sees are velocities, or change between steps alone."""
    kept = eq.tables.inputs | eq.tables.held
    return frozenset(
        k
        for k, seen in enumerate(c.sights)
        if seen.rate or seen.signal in kept or (seen.motion is not None and seen.motion[1] != "position")
    )


@cache
def switches_at_places(owner: type, name: str) -> bool:
    """Whether a method compares, limits or rounds what follows from the place of its markers, or has a hill there."""
    function = inspect.unwrap(getattr(owner, name))
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount < 4:
        return False
    markers = set(code.co_varnames[2:4])
    return _switches(function, owner, _Reader(markers, markers), DEEPEST)


@cache
def switches_by_sight(owner: type, name: str, count: int, no_places: frozenset[int]) -> bool:
    """Whether a method of a controller does so with what it sees, `count` numbers, or with its own states."""
    function = inspect.unwrap(getattr(owner, name))
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount < 5:
        return False
    seen, states = code.co_varnames[2], code.co_varnames[4]
    derived = {states} if len(no_places) == count else {seen, states}
    return _switches(function, owner, _Reader(derived, set(), (seen, no_places)), DEEPEST)


def _switches(function: Any, owner: type, reader: _Reader, depth: int) -> bool:
    """Whether a function switches by something that follows from a place; `owner` is the class of its element."""
    try:
        root = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # its code alone: whether it has any comparison or choice
        names = {i.opname for i in dis.get_instructions(function)} | set(function.__code__.co_names)
        return bool(names & {"COMPARE_OP", *SWITCHES, *HILLS})
    while reader.grows(root):
        pass
    return any(reader.switches(node) or _calls(node, function, owner, reader, depth) for node in ast.walk(root))


def _calls(node: ast.AST, function: Any, owner: type, reader: _Reader, depth: int) -> bool:
    """Whether a node calls a function of the user, with something that follows from a place, which switches by it."""
    if not isinstance(node, ast.Call) or depth == 0:
        return False
    values: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in node.keywords}
    if not any(map(reader.follows, (*node.args, *values.values()))):
        return False
    called, bound = _called(node.func, function, owner)
    if not isinstance(called, FunctionType) or is_ours(called):
        return False
    names = called.__code__.co_varnames[: called.__code__.co_argcount + called.__code__.co_kwonlyargcount]
    values |= dict(zip(names[1:] if bound else names, node.args, strict=False))
    given = {name for name, value in values.items() if name is not None and reader.follows(value)}
    markers = {name for name in given if getattr(values[name], "id", None) in reader.markers}
    return _switches(called, owner, _Reader(given, markers), depth - 1)


def _called(called: ast.expr, function: Any, owner: type) -> tuple[Any, bool]:
    """The function that is meant, and whether it is given the element first: a function of the module, or a method."""
    if isinstance(called, ast.Name):
        return function.__globals__.get(called.id), False
    if not isinstance(called, ast.Attribute):
        return None, False
    name = called.value.id if isinstance(called.value, ast.Name) else ""
    by_class = name == owner.__name__
    above = isinstance(called.value, ast.Call) and getattr(called.value.func, "id", "") == "super"
    if not above and not by_class and name not in function.__code__.co_varnames[:1]:
        return None, False
    below = function if above else None
    for kind in owner.__mro__:
        found = vars(kind).get(called.attr)
        if below is not None:  # what `super()` means comes after the class of the method that says so
            below = None if below in map(_plain, vars(kind).values()) else below
        elif found is not None:
            return _plain(found), not by_class and not isinstance(found, staticmethod)
    return None, False


def _plain(method: Any) -> Any:
    """The function behind a method."""
    return inspect.unwrap(getattr(method, "__func__", method))


class _Reader:
    """Reads which variables of a function follow from a place: at first `derived`, of which `markers` are markers.

    `sight` names a variable whose numbers with some indices are no places.
    """

    def __init__(
        self, derived: set[str], markers: set[str], sight: tuple[str, frozenset[int]] = ("", frozenset())
    ) -> None:
        self.derived, self.markers, self.sight = set(derived), markers, sight

    def follows(self, node: ast.AST) -> bool:
        """Whether an expression follows from a place."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.markers:
            return node.attr in PLACES
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == self.sight[0]:
            return getattr(node.slice, "value", None) not in self.sight[1] and self.follows(node.value)
        if isinstance(node, ast.Name):
            return node.id in self.derived
        return any(map(self.follows, ast.iter_child_nodes(node)))

    def grows(self, root: ast.AST) -> bool:
        """Find more variables that are assigned what follows from a place; whether there were any."""
        before = len(self.derived)
        for node in ast.walk(root):
            if isinstance(node, ast.Assign) and self.follows(node.value):
                self._take(*node.targets)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
                if self.follows(node.value):
                    self._take(node.target)
            elif isinstance(node, ast.For) and self.follows(node.iter):
                self._take(node.target)
        return len(self.derived) > before

    def _take(self, *targets: ast.AST) -> None:
        variables = [target for target in targets if not isinstance(target, ast.Attribute)]
        names = {n.id for target in variables for n in ast.walk(target) if isinstance(n, ast.Name)}
        self.derived |= names - self.markers

    def switches(self, node: ast.AST) -> bool:
        """Whether a node of the syntax tree switches by what follows from a place."""
        if isinstance(node, ast.Compare):
            return self.follows(node) and not any(map(_guards, (node.left, *node.comparators)))
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            return name in SWITCHES | HILLS and self.follows(node) and not any(map(_guards, node.args))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv):
            return self.follows(node.left)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):  # 1/(1 + u**2) is a hill, 1/r is none
            return self.follows(node.right) and _adds_a_number(node.right)
        return False


def _adds_a_number(node: ast.AST) -> bool:
    """Whether an expression is a sum with a number that is not tiny."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return False
    parts = (node.left, node.right)
    return any(isinstance(part, ast.Constant) and not _guards(part) for part in parts) or any(
        map(_adds_a_number, parts)
    )


def _guards(node: ast.AST) -> bool:
    """Whether an expression is a tiny number."""
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and 0.0 < abs(node.value) <= GUARD
