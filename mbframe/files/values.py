"""Values of declared parameters as plain JSON values: numbers, texts, lists and objects. `model` reads them back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..bodies.formulations import Formulation
from ..functions import Function
from ..packed import PACKED_FROM, compact, packed
from ..parameters import REQUIRED, Element, Parameter
from ..registry import name_of
from ..shapes import Shape
from ..unknown import UnknownFormulation, UnknownShape, UnknownStrategy
from .catalogue import settings_of
from .json_text import one_line, text_fault

FUNCTION_KINDS: Final = ("constant", "expression", "polynomial", "table", "piecewise_linear")
FUNCTION_KEYS: Final = ("interpolation", "breakpoints")
"""What else a table and an expression may say."""
"""Kinds of functions that files hold. Python callables are code, which they do not."""
SEVERAL_FUNCTIONS: Final = ("functions", "vector functions", "axial functions")
"""Kinds of parameters that are several functions; axial ones are a single function in a planar system."""
MAX_POINTS: Final = 5_000_000
"""Most numbers in a list of a table or polynomial: a simulation holds some hundred bytes for each."""


def encoded(p: Parameter, value: Any) -> Any:
    """The JSON value of a parameter's value; a `ValueError` says why there is none."""
    encode: Callable[[Any, Any], Any] = _ENCODERS.get(p.kind, _plain)
    return None if value is None else encode(p, value)


def is_default(p: Parameter, value: Any) -> bool:
    """Whether a JSON value is the one that the parameter's default would have, down to the sign of zero."""
    return p.default is not REQUIRED and one_line(value) == _default_text(p)


@cache
def _default_text(p: Parameter) -> str:
    return one_line(encoded(p, p.default))


def _plain(p: Parameter | None, value: Any) -> Any:
    """Numbers, texts, and lists of them."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind == "f" and value.size >= PACKED_FROM and np.all(np.isfinite(value)):
            return packed(value)
        value = value.tolist()
    if type(value) is list and set(map(type, value)) == _FLOATS and all(map(math.isfinite, value)):
        return value
    if isinstance(value, list | tuple):
        return [_plain(p, entry) for entry in value]
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError(f"found {value!r}, which a file cannot hold; allowed are numbers, texts and lists of them")
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"found {value!r}; allowed are finite numbers")
    if isinstance(value, str) and (fault := text_fault(value)):
        raise ValueError(fault)
    return value


def _is_zero(values: Iterable[float]) -> bool:
    """Whether all values are +0: a -0 must be written, because it is another number."""
    return all(value == 0.0 and math.copysign(1.0, value) > 0.0 for value in values)


def _matrix(p: Parameter, value: NDArray[np.float64]) -> Any:
    off_diagonal = value[~np.eye(len(value), dtype=bool)]
    return (np.diag(value) if _is_zero(off_diagonal) else value).tolist()


def _inertia(p: Parameter, value: Any) -> Any:
    """(Ixx, Iyy, Izz), followed by (Ixy, Ixz, Iyz) if they are not zero."""
    if np.ndim(value) != 2:
        return _plain(p, value)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = value.tolist()
    return [xx, yy, zz] if _is_zero((xy, xz, yz)) else [xx, yy, zz, xy, xz, yz]


def _function(p: Parameter, f: Function) -> Any:
    """A number or an expression in the parameter's variables; otherwise an object with kind, data and variables."""
    if f.kind not in FUNCTION_KINDS:
        remedy = "use an expression, a polynomial or a table instead: mb.Function"
        raise ValueError(f"found {f!r}, Python code, which a file cannot hold; {remedy}")
    data = f.source[f.kind] if isinstance(f.source, dict) else f.source
    lists = {"polynomial": [data], "table": data, "piecewise_linear": data}.get(f.kind, [])
    if any(len(one) > MAX_POINTS for one in lists):
        raise ValueError(f"found a {f.kind} of more than {MAX_POINTS:,} points; thin it out")
    if any(len(one) >= PACKED_FROM for one in lists):
        data = packed(data) if f.kind == "polynomial" else [packed(one) for one in data]
    more = {key: f.source[key] for key in FUNCTION_KEYS if isinstance(f.source, dict) and key in f.source}
    if f.variables != p.variables:
        return {f.kind: data, **more, "variables": list(f.variables)}
    return data if f.kind in ("constant", "expression") and not more else {f.kind: data, **more}


def _functions(p: Parameter, value: Function | tuple[Function, ...]) -> Any:
    return _function(p, value) if isinstance(value, Function) else [_function(p, f) for f in value]


def _reference(p: Parameter, value: Element) -> str:
    return value.name


def _shape(p: Parameter | None, shape: Shape) -> dict[str, Any]:
    if isinstance(shape, UnknownShape):
        return shape.stored
    stored: dict[str, Any] = {"type": name_of(type(shape))}
    for field in dataclasses.fields(shape):
        value = _plain(None, getattr(shape, field.name))
        left_out = field.default is not dataclasses.MISSING and one_line(value) == one_line(_plain(None, field.default))
        if not left_out:
            stored[field.name] = value
    return stored


def _shapes(p: Parameter, values: tuple[Shape, ...]) -> list[Any]:
    return [_shape(p, shape) for shape in values]


_FLOATS: Final = {float}

_modes_written: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Values of modes by the modes themselves, which never change: an edited model is described again and again."""


def _modes(p: Parameter, value: Any) -> Any:
    if value not in _modes_written:
        _modes_written[value] = compacted(value.tree())
    return _modes_written[value]


def compacted(tree: Any) -> Any:
    """The tree in plain values, with its long arrays packed."""
    if isinstance(tree, Mapping):
        return {key: compacted(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [compacted(value) for value in tree]
    return compact(tree) if isinstance(tree, np.ndarray | np.generic) else tree


def _units(p: Parameter, value: Mapping[str, str]) -> Any:
    return {name: _plain(p, unit) for name, unit in value.items()}


_ENCODERS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "matrix": _matrix,
    "inertia": _inertia,
    "function": _function,
    **dict.fromkeys(SEVERAL_FUNCTIONS, _functions),
    "reference": _reference,
    "shape": _shape,
    "shapes": _shapes,
    "modes": _modes,
    "units": _units,
}


def encoded_strategy(strategy: Any) -> Any:
    """A formulation or strategy: its name, or an object of its type and the parameters that are not the default."""
    if isinstance(strategy, UnknownFormulation | UnknownStrategy):
        return strategy.stored
    name, stored = name_of(type(strategy)), {}
    if isinstance(strategy, Formulation):
        for key, argument in settings_of(type(strategy)).items():
            value = _plain(None, getattr(strategy, key))
            if argument.default is argument.empty or one_line(value) != one_line(_plain(None, argument.default)):
                stored[key] = value
    else:
        for key, p in strategy.parameters().items():
            value = encoded(p, getattr(strategy, key))
            if not is_default(p, value):
                stored[key] = value
    return {"type": name, **stored} if stored else name
