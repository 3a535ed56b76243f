"""Plain JSON values as the values of parameters: the other way round from `values`."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import numpy as np

from ..errors import ModelError
from ..functions import Function
from ..packed import is_packed, unpacked
from ..parameters import Parameter
from .values import FUNCTION_KEYS, FUNCTION_KINDS, MAX_POINTS

_NUMBERS: Final = {float, int}
_LAWS: Final = {str, float, int}


def allowed_for(p: Parameter) -> str:
    return "the name of an element" if p.kind == "reference" else p.allowed()


def brief(value: Any) -> str:
    """A value in an error message: never long."""
    if isinstance(value, dict):
        return "an object {...}"
    if isinstance(value, list):
        return "a list [...]"
    text = "null" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def is_numeric(value: Any) -> bool:
    """Whether these are nested lists of numbers; true and false are none."""
    if isinstance(value, list):
        return is_flat(value) or all(map(is_numeric, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_short(value: Any) -> bool:
    """Whether this is a list of a few numbers, as most values are, or a small matrix."""
    if type(value) is not list or len(value) >= 10:
        return False
    return is_flat(value) or (len(value) < 4 and all(map(is_short, value)))


def is_plain_law(value: Any) -> bool:
    """Whether these are expressions and numbers, one or a few."""
    kind = type(value)
    return kind in _LAWS or (kind is list and len(value) < 4 and set(map(type, value)) <= _LAWS)


def is_flat(value: list[Any]) -> bool:
    """Whether a list holds numbers and nothing else; long ones are looked at in compiled code."""
    return set(map(type, value)) <= _NUMBERS


def function_of(p: Parameter, value: Any) -> Any:
    """A function from its description; a `ValueError` says what is wrong with it."""
    if not isinstance(value, dict):
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return value
        if value is None and p.optional:
            return None
        raise p.refuse(value, "give a number, an expression, or an object of one of " + ", ".join(FUNCTION_KINDS))
    kinds = [key for key in value if key != "variables" and key not in FUNCTION_KEYS]
    variables = value.get("variables", list(p.variables))
    if len(kinds) != 1 or kinds[0] not in FUNCTION_KINDS:
        allowed = f"one of {', '.join(FUNCTION_KINDS)} with its data, and variables"
        raise ValueError(f"found the keys {', '.join(map(brief, kinds)) or 'none'}; allowed is {allowed}")
    if not isinstance(variables, list) or not all(isinstance(name, str) for name in variables):
        raise ValueError(f"found {brief(variables)} as variables; allowed is a list of names")
    kind, data = kinds[0], value[kinds[0]]
    if is_array(data):
        data = _long_list(data)
    elif isinstance(data, list):
        data = [_long_list(one) if is_array(one) else one for one in data]
    _check_data(kind, data)
    for key, owner in (("interpolation", "table"), ("breakpoints", "expression")):
        if key in value and kind != owner:
            raise ValueError(f"found {key} in a function of the kind {kind}; only {owner} has it; remove it")
    if "breakpoints" in value:
        _check_data("polynomial", value["breakpoints"])
    try:
        more = {key: value[key] for key in FUNCTION_KEYS if key in value}
        function = Function.from_source({kind: data, **more, "variables": variables})
    except ModelError as error:
        raise ValueError("; ".join(problem.message for problem in error.problems)) from None
    if function.program is None or not np.all(np.isfinite(function.program.constants)):
        raise ValueError(f"the numbers of the {kind} are too large or too close to each other; scale it")
    return function


def modes_of(value: dict[str, Any]) -> Any:
    """Component modes; a `ValueError` says what is wrong with them."""
    from ..flexible import Modes

    try:
        return Modes.from_values(value)
    except ModelError as error:
        raise ValueError("; ".join(f"{one.element} {one.field}: {one.message}" for one in error.problems)) from None


def digest(value: dict[str, Any]) -> bytes:
    """What only equal values have in common, down to the bits of the arrays that a result file has in them."""
    found = hashlib.sha256()

    def bits(array: np.ndarray) -> str:
        found.update(np.ascontiguousarray(array).tobytes())
        return f"{array.dtype} {array.shape}"

    found.update(json.dumps(value, default=bits).encode())
    return found.digest()


def is_array(value: Any) -> bool:
    """Whether this is a long array: packed, or as a result file has it."""
    return isinstance(value, np.ndarray) or is_packed(value)


def array_of(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else unpacked(value)


def _long_list(data: Any) -> list[Any]:
    """The numbers of a long list; a `ValueError` if there are too many, or not in a row."""
    array = array_of(data)
    if array.ndim != 1 or array.size > MAX_POINTS:
        raise ValueError(f"found numbers of the shape {array.shape}; allowed are up to {MAX_POINTS:,} in a row")
    return array.astype(float).tolist()


def _check_data(kind: str, data: Any) -> None:
    """Refuse data that do not belong to a kind of function, before they are copied into messages."""
    if kind == "expression":
        if not isinstance(data, str):
            raise ValueError(f"found {brief(data)} as expression; allowed is a text")
    elif kind == "constant":
        if not is_numeric(data) or isinstance(data, list):
            raise ValueError(f"found {brief(data)} as constant; allowed is a number")
    else:
        lists = [data] if kind == "polynomial" else data
        shape = "a list of numbers" if kind == "polynomial" else "two lists of numbers, x and y"
        if not isinstance(lists, list) or (kind != "polynomial" and len(lists) != 2):
            raise ValueError(f"found {brief(data)} as {kind}; allowed is {shape}")
        for one in lists:
            if not isinstance(one, list) or not is_flat(one):
                raise ValueError(f"found {brief(one)} in {kind}; allowed is {shape}")
            if len(one) > MAX_POINTS:
                raise ValueError(f"found {len(one):,} numbers in {kind}; allowed are {MAX_POINTS:,}: thin it out")
