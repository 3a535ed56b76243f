"""Functions through which complex steps pass: what compiled residuals of users call instead of those of numpy and math.

A complex step differentiates f by f(x + ih), which is wrong where f takes absolute values or conjugates, and does not
compile where f compares. So `abs` is x or -x, `norm` is sqrt(x.x), `arctan2` an arctan in turned axes, `max` takes one
of its arguments, each chosen by real parts: on either side of the kink they are analytic, and at it they have the mean
of both derivatives, as `jets`. Arrays that a method makes are complex, since they may get complex entries. What has no
complex argument is left to the function itself.

`replacement` says what stands for a function or a module; the plain functions below are what numba knows by overloads.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

_stands_for: dict[Callable, Callable] = {}


def _stand_in(*originals: Callable) -> Callable[[Callable], Callable]:
    """What is decorated gives the compiled function for the types of its arguments, in the place of the originals."""

    def known(choose: Callable) -> Callable:
        def called(*arguments: Any) -> Any:
            return originals[0](*arguments)

        called.__name__ = called.__qualname__ = choose.__name__
        overload(called)(choose)
        _stands_for.update(dict.fromkeys(originals, called))
        return called

    return known


def _complex(*given: Any) -> bool:
    """Whether one of some types is that of complex numbers, of an array of them, or of a sequence with one."""
    found: list[Any] = [getattr(one, "dtype", one) for one in given]
    parts = [part for one in found for part in getattr(one, "types", (one,))]
    return any(isinstance(getattr(part, "dtype", part), types.Complex) for part in parts)


def _array(*given: Any) -> bool:
    return any(isinstance(one, types.Array) for one in given)


def _left_out(given: Any) -> bool:
    return given is None or isinstance(given, types.Omitted | types.NoneType)


# ---- Of one number --------------------------------------------------------------------------------------------------


@register_jitable
def _size(x):
    return x if x.real > 0.0 else (-x if x.real < 0.0 else 0.0 * x)


@register_jitable
def _side(x):
    return (1.0 + 0.0j) if x.real > 0.0 else ((-1.0 + 0.0j) if x.real < 0.0 else 0.0j)


def _elementwise(original: Callable, analytic: Callable) -> Callable:
    def choose(x):
        if not _complex(x):
            return lambda x: original(x)
        if not _array(x):
            return lambda x: analytic(x)

        def entries(x):
            found = x.copy()
            flat = found.reshape(found.size)
            for k in range(found.size):
                flat[k] = analytic(flat[k])
            return found

        return entries

    choose.__name__ = original.__name__
    return choose


_stand_in(builtins.abs, np.abs, np.absolute, np.fabs, math.fabs)(_elementwise(np.abs, _size))
_stand_in(np.sign)(_elementwise(np.sign, _side))


@_stand_in(builtins.float)
def to_float(x):
    return (lambda x: x) if _complex(x) else (lambda x: float(x))


def _same(of_math: Callable, of_numpy: Callable) -> None:
    """Functions of math that numpy has for complex numbers, too."""

    def choose(x):
        return (lambda x: of_numpy(x)) if _complex(x) else (lambda x: of_math(x))

    choose.__name__ = of_math.__name__
    _stand_in(of_math)(choose)


for _name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _same(getattr(math, _name), getattr(np, _name))
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _same(getattr(math, f"a{_name}"), getattr(np, f"arc{_name}"))


@_stand_in(np.deg2rad, np.radians, math.radians)
def radians(x):
    return (lambda x: x * (np.pi / 180.0)) if _complex(x) else (lambda x: np.deg2rad(x))


@_stand_in(np.rad2deg, np.degrees, math.degrees)
def degrees(x):
    return (lambda x: x * (180.0 / np.pi)) if _complex(x) else (lambda x: np.rad2deg(x))


# ---- Of two and more ------------------------------------------------------------------------------------------------


@_stand_in(np.arctan2, math.atan2)
def arctan2(y, x):
    if _array(y, x) or not _complex(y, x):
        return None if _complex(y, x) else (lambda y, x: np.arctan2(y, x))

    def angle(y, x):
        real = np.arctan2(y.real, x.real)
        along = np.cos(real) * x + np.sin(real) * y
        if along.real == 0.0:
            return real + 0.0j
        return real + np.arctan((np.cos(real) * y - np.sin(real) * x) / along)

    return angle


@_stand_in(np.hypot, math.hypot)
def hypot(x, y):
    if not _complex(x, y):
        return lambda x, y: np.hypot(x, y)

    def length(x, y):
        return np.sqrt(x * x + y * y) if x.real != 0.0 or y.real != 0.0 else 0.0j

    return None if _array(x, y) else length


@register_jitable
def _larger(x, y):
    return x if x.real > y.real else (y if x.real < y.real else 0.5 * (x + y))


@register_jitable
def _smaller(x, y):
    return x if x.real < y.real else (y if x.real > y.real else 0.5 * (x + y))


def _extreme(original: Callable, of_two: Callable) -> None:
    """`max` or `min` of several numbers, or of a sequence."""

    def choose(*given):
        if len(given) == 1:
            if not _complex(given[0]):
                return lambda *given: original(given[0])

            def of_all(*given):
                found = given[0][0] + 0.0j
                for k in range(1, len(given[0])):
                    found = of_two(found, given[0][k] + 0.0j)
                return found

            return of_all
        if not _complex(*given):
            if len(given) == 2:
                return lambda *given: original(given[0], given[1])
            return lambda *given: original(given[0], called(*given[1:]))
        if len(given) == 2:
            return lambda *given: of_two(given[0] + 0.0j, given[1] + 0.0j)
        return lambda *given: of_two(given[0] + 0.0j, called(*given[1:]) + 0.0j)

    choose.__name__ = original.__name__
    called = _stand_in(original)(choose)


def _extreme_entry(original: Callable, other_name: Callable, of_two: Callable) -> None:
    """`np.max` or `np.min` of an array."""

    def choose(a):
        if not _complex(a):
            return lambda a: original(a)
        if not _array(a):
            return None

        def of_all(a):
            flat = a.copy().reshape(a.size)
            found = flat[0]
            for k in range(1, a.size):
                found = of_two(found, flat[k])
            return found

        return of_all

    choose.__name__ = original.__name__
    _stand_in(original, other_name)(choose)


def _extreme_pair(original: Callable, of_two: Callable) -> None:
    """`np.maximum` or `np.minimum`."""

    def choose(x, y):
        if not _complex(x, y):
            return lambda x, y: original(x, y)
        if not _array(x, y):
            return lambda x, y: of_two(x + 0.0j, y + 0.0j)

        def entries(x, y):
            first, second = x + 0.0 * y, y + 0.0 * x
            found = first.copy()
            a, b, flat = first.reshape(found.size), second.reshape(found.size), found.reshape(found.size)
            for k in range(found.size):
                flat[k] = of_two(a[k], b[k])
            return found

        return entries

    choose.__name__ = original.__name__
    _stand_in(original)(choose)


_extreme(builtins.max, _larger)
_extreme(builtins.min, _smaller)
_extreme_entry(np.max, np.amax, _larger)
_extreme_entry(np.min, np.amin, _smaller)
_extreme_pair(np.maximum, _larger)
_extreme_pair(np.minimum, _smaller)


@_stand_in(np.clip)
def clip(x, low, high):
    if not _complex(x, low, high):
        return lambda x, low, high: np.clip(x, low, high)
    if _array(x, low, high):
        return None
    return lambda x, low, high: _smaller(_larger(x + 0.0j, low + 0.0j), high + 0.0j)


# ---- Of arrays ------------------------------------------------------------------------------------------------------


@_stand_in(np.linalg.norm)
def norm(x, ord=None):
    if not _left_out(ord):
        return None if _complex(x) else (lambda x, ord=None: np.linalg.norm(x, ord))
    if not _complex(x):
        return lambda x, ord=None: np.linalg.norm(x)

    def length(x, ord=None):
        square, real = 0.0j, 0.0
        for entry in x.flat:
            square += entry * entry
            real += entry.real * entry.real
        return np.sqrt(square) if real > 0.0 else 0.0j

    return length


@_stand_in(np.dot, np.inner, np.vdot)
def dot(a, b):
    if not _complex(a, b):
        return lambda a, b: np.dot(a, b)
    if not (_array(a) and _array(b)):
        return lambda a, b: a * b
    return lambda a, b: np.dot(a + 0.0j, b + 0.0j)


@overload(operator.matmul)
def product_of_real_and_complex(a, b):
    """Of real and complex arrays, which numba leaves out."""
    if _array(a) and _array(b) and _complex(a, b) and not (_complex(a) and _complex(b)):
        return lambda a, b: np.dot(a + 0.0j, b + 0.0j)
    return None


def _filled(original: Callable) -> None:
    def choose(shape, dtype=None):
        return lambda shape, dtype=None: original(shape, np.complex128)

    choose.__name__ = original.__name__
    _stand_in(original)(choose)


for _original in (np.zeros, np.ones, np.empty):
    _filled(_original)


@_stand_in(np.eye, np.identity)
def eye(n):
    return lambda n: np.eye(n) + 0.0j


@_stand_in(np.zeros_like, np.empty_like)
def zeros_like(a):
    return lambda a: 0.0j * a


@_stand_in(np.array, np.asarray)
def array(entries, dtype=None):
    if isinstance(entries, types.Array):
        return lambda entries, dtype=None: entries + 0.0j
    return lambda entries, dtype=None: np.array(entries) + 0.0j


# ---- In the names of a function -------------------------------------------------------------------------------------


class _Module(ModuleType):
    """A module with stand-ins for some of its functions."""

    def __init__(self, original: ModuleType) -> None:
        super().__init__(original.__name__)
        self._original = original

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._original, name)
        return replacement(found) or found


MODULES: Final = {id(module): _Module(module) for module in (np, np.linalg, math)}
BUILTINS: Final = ("abs", "float", "max", "min")


def replacement(value: Any) -> Any:
    """What stands for a function or a module in a method that takes complex steps; None for all others."""
    if isinstance(value, ModuleType):
        return MODULES.get(id(value))
    try:
        return _stands_for.get(value)
    except TypeError:  # it cannot be hashed
        return None


def replacements(function: Any) -> dict[str, Any]:
    """Names that a function reads, with what stands for them."""
    known = function.__globals__
    found = {name: replacement(known[name]) for name in function.__code__.co_names if name in known}
    found |= {
        name: replacement(getattr(builtins, name))
        for name in BUILTINS
        if name in function.__code__.co_names and name not in known
    }
    return {name: value for name, value in found.items() if value is not None}
