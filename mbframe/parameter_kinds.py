"""The kinds of parameters: how a value of each is checked and stored, and what it is in the row of a table."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError
from .functions import NO_ROW, ROW_FORMAT, Function
from .plane import is_normal, lifted
from .rotations import matrix_from_quaternion

if TYPE_CHECKING:
    from .parameters import Parameter

UNIT_TOLERANCE: Final = 1e-6
"""How far a quaternion's norm or a rotation matrix's products may be from one: typed numbers with seven digits pass."""
ROUNDING: Final = 1e-14
"""A rotation matrix orthonormal to this is kept digit for digit; an inertia this close to singular is singular."""
INERTIA_MARGIN: Final = 1e-3
"""Excess over the triangle inequality of principal moments that passes, relative to the largest moment. Published
tables are rounded to three or four digits, which breaks the exact equality of thin disks and rods by that much."""


class Words(str):
    """A description of what was found, as opposed to a text that was found."""

    __slots__ = ()


def shortened(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True)
class Kind:
    """What the parameters of one kind have in common; each entry takes the parameter first."""

    convert: Callable[[Parameter, Any], Any]
    allowed: Callable[[Parameter], str]
    row_format: Callable[[Parameter], tuple[Any, ...] | None] = lambda _: None
    row_value: Callable[[Parameter, Any], Any] = lambda _, value: value
    row_missing: Callable[[Parameter], Any] = lambda _: math.nan
    moved: Callable[[Any, NDArray[np.float64], NDArray[np.float64]], Any] = lambda value, turn, shift: value
    in_plane: Kind | None = None  # what it is in a planar system, if that is something else


def _number(p: Parameter, value: Any) -> float:
    if type(value) is float and math.isfinite(value):  # as from files: an ABC asks slowly
        p.check_bounds(value, value)
        return value
    plain = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(plain, Real) or isinstance(plain, bool):
        raise p.refuse(value, "give a plain number, without quotes or unit")
    try:
        number = float(plain)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise p.refuse(value, "give a finite number")
    p.check_bounds(number, value)
    return number


def _integer(p: Parameter, value: Any) -> int:
    if type(value) is not int and (not isinstance(value, Integral) or isinstance(value, bool)):  # an ABC asks slowly
        raise p.refuse(value, "give a whole number, without a decimal point")
    p.check_bounds(int(value), value)
    return int(value)


def _flag(p: Parameter, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise p.refuse(value, "give True or False")
    return bool(value)


def _choice(p: Parameter, value: Any) -> str:
    choices = p.choices or ()
    if not isinstance(value, str) or value not in choices:
        near = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.5)
        raise p.refuse(value, f"did you mean {near[0]!r}?" if near else "choose one of them")
    return value


_FLOATS: Final = {float}


def _array(p: Parameter, value: Any, remedy: str) -> NDArray[np.float64]:
    """A float copy of an array of finite numbers."""
    # Most arrays have three numbers, for which plain Python is faster.
    if type(value) is list and len(value) < 10 and set(map(type, value)) == _FLOATS and all(map(math.isfinite, value)):
        return np.array(value)
    try:
        array = np.asarray(value)
    except ValueError:
        raise p.refuse(value, "rows of equal length are needed") from None
    if array.dtype.kind not in "iuf":
        raise p.refuse(value, remedy)
    finite = all(map(math.isfinite, array.ravel().tolist())) if array.size < 10 else np.isfinite(array).all()
    if not finite:
        raise p.refuse(value, "give finite numbers")
    return array if type(value) is list and array.dtype == np.float64 else np.array(array, dtype=np.float64)


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


def _vector(p: Parameter, value: Any) -> NDArray[np.float64]:
    wanted = p.shape or (None,)
    array = _array(p, value, "give a sequence of plain numbers")
    if array.shape != wanted and not _fits(array.shape, wanted):
        raise p.refuse(Words(f"{shortened(value)} of shape {array.shape}"), f"give {_numbers_of(wanted)}")
    p.check_bounds(array, value)
    return frozen(array)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(n is None or n == m for n, m in zip(wanted, shape, strict=True))


def _numbers(p: Parameter, value: Any) -> float | NDArray[np.float64]:
    return _vector(p, value) if np.ndim(value) == 1 else _number(p, value)


def _axis(p: Parameter, value: Any) -> NDArray[np.float64]:
    array = _vector(p, value)
    if not any(array.tolist()):
        raise p.refuse(value, "an axis needs a length other than zero: give its direction")
    return array


def _planar_axis(p: Parameter, value: Any) -> NDArray[np.float64]:
    array = _array(p, value, "give a sequence of plain numbers")
    return frozen(array) if array.shape == (3,) and is_normal(array) else _axis(p, value)


def _turned(value: NDArray[np.float64], turn: NDArray[np.float64]) -> NDArray[np.float64]:
    return turn[: len(value), : len(value)] @ value


def _numbers_of(shape: tuple[int | None, ...]) -> str:
    lengths = ["n" if n is None else str(n) for n in shape]
    return f"{lengths[0]} numbers" if len(lengths) == 1 else f"{' x '.join(lengths)} numbers"


def _vector_format(p: Parameter) -> tuple[Any, ...] | None:
    shape = p.shape or (None,)
    return None if None in shape else ("f8", shape)


def _rotation(p: Parameter, value: Any) -> NDArray[np.float64]:
    matrix = value.as_matrix() if callable(getattr(value, "as_matrix", None)) else value
    array = _array(p, matrix, "build it with scipy.spatial.transform.Rotation")
    if array.shape == (4,):
        norm = math.hypot(*array.tolist())
        if abs(norm - 1.0) > UNIT_TOLERANCE:
            raise p.refuse(Words(f"{shortened(value)} of norm {norm:.9g}"), "divide the quaternion by its norm")
        return frozen(matrix_from_quaternion(array))
    if array.shape != (3, 3):
        found = Words(f"{shortened(value)} of shape {array.shape}")
        raise p.refuse(found, "build it with scipy.spatial.transform.Rotation")
    (a, b, c), (d, e, f), (g, h, i) = array.tolist()  # plain Python is faster for so few numbers
    lengths = max(abs(a * a + d * d + g * g - 1.0), abs(b * b + e * e + h * h - 1.0), abs(c * c + f * f + i * i - 1.0))
    deviation = max(lengths, abs(a * b + d * e + g * h), abs(a * c + d * f + g * i), abs(b * c + e * f + h * i))
    if deviation > UNIT_TOLERANCE:
        found = Words(f"a matrix whose columns are off orthonormal by {deviation:.3g}")
        raise p.refuse(found, "give more digits, or build it with scipy.spatial.transform.Rotation")
    if a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0.0:
        raise p.refuse(Words("a left-handed matrix (determinant -1)"), "a mirror is no rotation: reverse one column")
    if deviation > ROUNDING:
        # Newton's iteration for the nearest orthonormal matrix squares the deviation each time.
        for _ in range(2):
            array = 1.5 * array - 0.5 * array @ array.T @ array
    return frozen(array)


def moments_between(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> tuple[float, float]:
    """Bounds of the principal moments: Gershgorin's disks about the diagonal, of the sizes of what is beside it."""
    x, y, z = xy + xz, xy + yz, xz + yz
    return min(xx - x, yy - y, zz - z), max(xx + x, yy + y, zz + z)


def _inertia(p: Parameter, value: Any) -> NDArray[np.float64]:
    array = _array(p, value, "give plain numbers")
    if array.shape in ((3,), (6,)):
        xx, yy, zz, xy, xz, yz = (*array.tolist(), 0.0, 0.0, 0.0)[:6]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    elif array.shape == (3, 3):
        if np.max(np.abs(array - array.T)) > UNIT_TOLERANCE * np.max(np.abs(array)):
            raise p.refuse(value, "the tensor is not symmetric: make Ixy = Iyx, Ixz = Izx, Iyz = Izy")
        tensor = 0.5 * (array + array.T)
    else:
        raise p.refuse(Words(f"{shortened(value)} of shape {array.shape}"), "use one of the three forms")
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor.tolist()
    if xy == xz == yz == 0.0:
        smallest, middle, largest = sorted((xx, yy, zz))
    else:
        low, high = moments_between(xx, yy, zz, abs(xy), abs(xz), abs(yz))
        if low > 2.0 * ROUNDING * high and high * (2.0 - INERTIA_MARGIN) < xx + yy + zz:
            return frozen(tensor)  # whatever they are between these bounds
        smallest, middle, largest = np.linalg.eigvalsh(tensor).tolist()
    if smallest <= ROUNDING * abs(largest):
        remedy = "all three must be positive; a body without size is a PointMass"
    elif largest - middle - smallest > INERTIA_MARGIN * largest:
        remedy = "the largest exceeds the sum of the others, as in no body: check digits, signs and reference point"
    else:
        return frozen(tensor)
    moments = f"principal moments {smallest:.6g}, {middle:.6g}, {largest:.6g}"
    raise p.refuse(Words(f"{shortened(value)} with {moments}"), remedy)


def _text(p: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        raise p.refuse(value, "put it in quotation marks")
    return value


def _function(p: Parameter, value: Any) -> Function:
    try:
        if isinstance(value, str) and tuple(p.variables) == ("t",):
            return Function.with_signals(value)
        if not isinstance(value, Function):
            return Function(value, variables=p.variables)
        if value.kind == "constant":
            return Function(value(*(0.0,) * len(value.variables)), variables=p.variables)
    except ModelError as error:
        raise ValueError("; ".join(problem.message for problem in error.problems)) from error
    if len(value.variables) != len(p.variables):
        found = Words(f"a function of {', '.join(value.variables)}")
        raise p.refuse(found, f"write it with {len(p.variables)} variable(s)")
    return value


def _functions(p: Parameter, value: Any) -> tuple[Function, ...]:
    count = (p.shape or (None,))[0]
    several = type(value) is list or (isinstance(value, Iterable) and not isinstance(value, str | Mapping))
    if not several or len(parts := tuple(value)) != count:
        raise p.refuse(value, f"give {count} of them")
    return tuple([_function(p, part) for part in parts])


def _matrix(p: Parameter, value: Any) -> NDArray[np.float64]:
    wanted = p.shape or (None,)
    array = _array(p, value, "give plain numbers")
    if array.shape == wanted[:1]:
        array = np.diag(array)
    if array.shape != wanted:
        raise p.refuse(Words(f"{shortened(value)} of shape {array.shape}"), "give its diagonal or all its rows")
    return frozen(array)


def _reference(p: Parameter, value: Any) -> Any:
    if isinstance(value, type) or not isinstance(getattr(value, "name", None), str):
        raise p.refuse(value, "pass the object that you added to the system")
    return value


def _shape(p: Parameter, value: Any) -> Any:
    # Shapes are themselves declared with this module's parameters.
    from .shapes import Shape

    if not isinstance(value, Shape):
        raise p.refuse(value, "pass one, such as Sphere(0.1)")
    return value


def _modes(p: Parameter, value: Any) -> Any:
    # By what they can do: finite elements, with SciPy, are imported only by who has some.
    if isinstance(value, type) or not callable(getattr(value, "relative_to", None)):
        raise p.refuse(value, "make some with mb.flexible.craig_bampton(part, interfaces=[...], n_modes=...)")
    return value


def _shapes(p: Parameter, value: Any) -> tuple[Any, ...]:
    return tuple([_shape(p, entry) for entry in _list(p, value)])


def _list(p: Parameter, value: Any) -> tuple[Any, ...]:
    if type(value) is not list and (isinstance(value, str | Mapping) or not isinstance(value, Iterable)):
        raise p.refuse(value, "put it in brackets: [...]")
    return tuple(value)


def _seen(p: Parameter, value: Any) -> tuple[str, ...]:
    """Names of what is seen; an element stands for its name."""
    names = []
    for entry in _list(p, value):
        name = entry if isinstance(entry, str) else getattr(entry, "name", None)
        if not isinstance(name, str) or not name or isinstance(entry, type):
            raise p.refuse(entry, "pass a measure, or a name such as 'hinge.angle'")
        names.append(name)
    return tuple(names)


def _units(p: Parameter, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise p.refuse(value, 'give them as {"force": "N"}')
    return dict(value)


def _state_space(p: Parameter, value: Any) -> Any:
    from .linear_systems import checked

    return checked(value)


def _one_function(p: Parameter) -> str:
    return f"a number, an expression in {', '.join(p.variables)}, a Function or a callable"


_TWO: Final = "two components in a planar system"
_ZERO: Final = Function(0.0)
_FUNCTIONS: Final = Kind(
    _functions,
    lambda p: f"{(p.shape or (None,))[0]} numbers, expressions in {', '.join(p.variables)}, Functions or callables",
    lambda p: (ROW_FORMAT, p.shape),
    lambda p, value: [part.row for part in value],
    lambda p: NO_ROW,
)


def _planar_too(kind: Kind, **changes: Any) -> Kind:
    """A kind of global vector, with what is different in a planar system. Rows have three components in both."""
    given = {"allowed": lambda p: _TWO, "row_value": lambda p, value: lifted(value)} | changes
    return replace(kind, in_plane=replace(kind, **given))


KINDS: Final[dict[str, Kind]] = {
    "number": Kind(_number, lambda p: "a finite number", lambda p: ("f8",)),
    "integer": Kind(_integer, lambda p: "a whole number", lambda p: ("i8",), row_missing=lambda p: -1),
    "flag": Kind(_flag, lambda p: "True or False", lambda p: ("b1",), row_missing=lambda p: False),
    "choice": Kind(
        _choice,
        lambda p: f"one of {', '.join(map(repr, p.choices or ()))}",
        lambda p: ("i8",),
        lambda p, value: (p.choices or ()).index(value),
        lambda p: -1,
    ),
    "text": Kind(_text, lambda p: "a text"),
    "vector": Kind(_vector, lambda p: _numbers_of(p.shape or (None,)), _vector_format),
    "numbers": Kind(_numbers, lambda p: "a finite number, or a list of them"),
    "matrix": Kind(
        _matrix,
        lambda p: f"{_numbers_of(p.shape or (None,))}, or the {(p.shape or (None,))[0]} of its diagonal",
        _vector_format,
    ),
    "point": _planar_too(
        Kind(
            _vector,
            lambda p: _numbers_of(p.shape or (None,)),
            _vector_format,
            moved=lambda value, turn, shift: _turned(value, turn) + shift[: len(value)],
        )
    ),
    "axis": _planar_too(
        Kind(
            _axis,
            lambda p: f"{_numbers_of(p.shape or (None,))}, not all zero",
            _vector_format,
            moved=lambda value, turn, shift: _turned(value, turn),
        ),
        convert=_planar_axis,
        allowed=lambda p: f"{_TWO}, not both zero (or the normal (0, 0, 1))",
    ),
    "free vector": _planar_too(
        Kind(
            _vector,
            lambda p: _numbers_of(p.shape or (None,)),
            _vector_format,
            moved=lambda value, turn, shift: _turned(value, turn),
        )
    ),
    "angle": Kind(
        _number,
        lambda p: "a finite number",
        lambda p: ("f8",),
        moved=lambda value, turn, shift: value + math.atan2(turn[1, 0], turn[0, 0]),
    ),
    "rotation": Kind(
        _rotation,
        lambda p: "a SciPy Rotation, a right-handed orthonormal 3x3 matrix or a scalar-first unit quaternion",
        lambda p: ("f8", (3, 3)),
        moved=lambda value, turn, shift: turn @ value,
    ),
    "inertia": Kind(
        _inertia,
        lambda p: "(Ixx, Iyy, Izz), (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) with tensor elements, or a symmetric 3x3 tensor",
        lambda p: ("f8", (3, 3)),
    ),
    "function": Kind(
        _function,
        _one_function,
        lambda p: (ROW_FORMAT,),
        lambda p, value: value.row,
        lambda p: NO_ROW,
    ),
    "functions": _FUNCTIONS,
    "vector functions": _planar_too(
        _FUNCTIONS,
        allowed=lambda p: f"{_TWO}, {_one_function(p)} each",
        row_value=lambda p, value: [*(part.row for part in value), _ZERO.row],
    ),
    "axial functions": _planar_too(
        _FUNCTIONS,
        convert=_function,
        allowed=lambda p: f"{_one_function(p)} in a planar system",
        row_value=lambda p, value: [_ZERO.row, _ZERO.row, value.row],
    ),
    "reference": Kind(_reference, lambda p: "a named element of the model"),
    "shape": Kind(_shape, lambda p: "a shape"),
    "shapes": Kind(_shapes, lambda p: "a list of shapes"),
    "modes": Kind(_modes, lambda p: "component modes"),
    "list": Kind(_list, lambda p: "a list"),
    "seen": Kind(_seen, lambda p: "a list of measures and of names of quantities"),
    "units": Kind(_units, lambda p: "names with units"),
    "state space": Kind(_state_space, lambda p: "(A, B, C, D), or a linear system of control or scipy.signal"),
}
