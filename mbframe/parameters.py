"""Declared parameters: one line in a class gives validation, units, help, repr, files and the row of a compiled table.

>>> class Magnet(Element):
...     strength = parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")
>>> Magnet("m", strength=3)
Magnet('m', strength=3.0)
"""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Final, overload

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError, Problem
from .functions import NO_ROW, ROW_FORMAT, Function
from .plane import is_normal, lifted
from .rotations import matrix_from_quaternion


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""The default of a parameter that must be given."""

UNIT_TOLERANCE: Final = 1e-6
"""How far a quaternion's norm or a rotation matrix's products may be from one: typed numbers with seven digits pass."""
ROUNDING: Final = 1e-14
"""A rotation matrix orthonormal to this is kept digit for digit; an inertia this close to singular is singular."""
INERTIA_MARGIN: Final = 1e-3
"""Excess over the triangle inequality of principal moments that passes, relative to the largest moment. Published
tables are rounded to three or four digits, which breaks the exact equality of thin disks and rods by that much."""

Observer = Callable[["Element", str, Any, Any], None]
RowField = tuple[Any, ...]


class Parameter:
    """A declared parameter of an `Element` (public as `parameter`).

    Parameters
    ----------
    default
        Value if none is given; None makes the parameter optional; left out, a value must be given.
    kind
        One of `KINDS`: "vector" is any array of numbers, "numbers" one or a list of them, "point", "axis" (not zero)
        and "free vector" are global vectors that move with the model; by default inferred: float number, bool flag, int
        integer, str with choices choice, sequence of numbers vector, callable function, other sequences list, SciPy
        rotation rotation.
    unit
        SI unit, for messages and the inspector.
    minimum, maximum, above
        Bounds, included for the first two and excluded for `above`; for vectors they hold for each component.
    choices
        The allowed texts of a choice.
    shape
        Shape of a vector or matrix, number of functions; a None in it stands for any length (which has no place in a
        table row).
    variables
        Arguments of a function.
    planar
        Default in a planar system, if it is not that of space without its third component.
    help
        One sentence for users.
    """

    def __init__(
        self,
        default: Any = REQUIRED,
        *,
        kind: str | None = None,
        unit: str = "",
        minimum: float | None = None,
        maximum: float | None = None,
        above: float | None = None,
        choices: Sequence[str] | None = None,
        shape: tuple[int | None, ...] | None = None,
        variables: Sequence[str] = ("t",),
        planar: Any = None,
        help: str = "",
    ) -> None:
        self.name = ""
        self.planar = planar
        self.unit = unit
        self.minimum = minimum
        self.maximum = maximum
        self.above = above
        self.choices = tuple(choices) if choices is not None else None
        self.variables = tuple(variables)
        self.help = help
        name = kind or _inferred_kind(default, self.choices, shape)
        if name not in KINDS:
            raise TypeError(f"there is no kind of parameter {name!r}; known are {', '.join(KINDS)}")
        if name == "choice" and not self.choices:
            raise TypeError("a choice needs choices=(...)")
        self.kind = name
        self.rules = KINDS[name]
        self.shape = shape
        if self.rules.in_plane is not None and shape is None:
            self.shape = (3,)
        elif name == "vector" and shape is None:
            self.shape = (None,) if default is REQUIRED or default is None else np.shape(default)
        self.optional = default is None
        try:
            self.default = default if default is REQUIRED else self.convert(default)
        except ValueError as error:
            raise TypeError(f"the default of this parameter is refused: {error}") from error

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @cached_property
    def in_plane(self) -> Parameter:
        """The parameter as it is in a planar system: global vectors have two components there, torques are numbers."""
        if self.rules.in_plane is None or self.shape != (3,):
            return self
        twin = copy.copy(self)
        twin.rules, twin.shape = self.rules.in_plane, (2,)
        if self.planar is not None:
            twin.default = twin.convert(self.planar)
        elif self.kind in ("point", "free vector") and isinstance(self.default, np.ndarray):
            twin.default = _frozen(self.default[:2].copy())
        return twin

    def of(self, dimension: int) -> Parameter:
        """The parameter as it is in a system of that dimension."""
        return self.in_plane if dimension == 2 else self

    @overload
    def __get__(self, instance: None, owner: type) -> Parameter: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Any: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        try:
            return instance.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"{self.name!r} has no value yet") from None

    def __set__(self, instance: Element, value: Any) -> None:
        instance.update(**{self.name: value})

    def __repr__(self) -> str:
        return f"<parameter {self.name!r}: {self.allowed()}>"

    def convert(self, value: Any) -> Any:
        """The value as it is stored; a wrong one is a ValueError with what was found, what is allowed, the remedy."""
        if value is None and self.optional:
            return None
        return self.rules.convert(self, value)

    def allowed(self) -> str:
        """What is allowed, in words."""
        text = self.rules.allowed(self)
        bounds = [
            f"{word} {bound:g}"
            for word, bound in (("above", self.above), ("at least", self.minimum), ("at most", self.maximum))
            if bound is not None
        ]
        return f"{text}{' ' if bounds else ''}{' and '.join(bounds)}{f' ({self.unit})' if self.unit else ''}"

    def moved(self, value: Any, turn: NDArray[np.float64], shift: NDArray[np.float64]) -> Any:
        """The value after the whole model was turned and then shifted: global points and directions go with it."""
        return value if value is None else self.rules.moved(value, turn, shift)

    def row_field(self) -> RowField | None:
        """Entry of a NumPy structured dtype for this parameter, or None if it has no place in a row."""
        layout = self.rules.row_format(self)
        return None if layout is None else (self.name, *layout)

    def row_value(self, value: Any) -> Any:
        """What the row holds for a stored value; NaN, -1 or null addresses stand for None."""
        return self.rules.row_missing(self) if value is None else self.rules.row_value(self, value)

    def refuse(self, found: Any, remedy: str) -> ValueError:
        text = found if isinstance(found, _Words) else _shortened(found)
        return ValueError(f"found {text}; allowed is {self.allowed()}; {remedy}")

    def check_bounds(self, values: NDArray[np.float64] | float, given: Any) -> None:
        for breaks, bound, direction in (
            (np.less, self.minimum, "increase it to at least"),
            (np.greater, self.maximum, "reduce it to at most"),
            (np.less_equal, self.above, "increase it above"),
        ):
            if bound is not None and np.any(breaks(values, bound)):
                raise self.refuse(given, f"{direction} {bound:g}")


parameter = Parameter


class derived(property):  # noqa: N801 (a decorator, like property)
    """A number that follows from the parameters and stands in the table row beside them, for compiled methods.

    >>> class Disk(Element):
    ...     diameter = parameter(2.0, unit="m", help="D")
    ...
    ...     @derived
    ...     def radius(self):
    ...         return self.diameter / 2
    """


class _Words(str):
    """A description of what was found, as opposed to a text that was found."""

    __slots__ = ()


def _shortened(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _inferred_kind(default: Any, choices: tuple[str, ...] | None, shape: tuple[int | None, ...] | None) -> str:
    if choices is not None:
        return "choice"
    if shape is not None:
        return "vector"
    if isinstance(default, bool | np.bool_):
        return "flag"
    if isinstance(default, Integral):
        return "integer"
    if isinstance(default, Real):
        return "number"
    if hasattr(default, "as_matrix"):
        return "rotation"
    if callable(default):
        return "function"
    if isinstance(default, tuple | list | np.ndarray):
        array = np.array(default, dtype=object)
        numeric = array.size > 0 and all(isinstance(entry, Real) for entry in array.flat)
        return "vector" if numeric else "list"
    raise TypeError(f"give kind=...: it does not follow from the default {default!r}; known are {', '.join(KINDS)}")


# ---- Kinds --------------------------------------------------------------------------------------------------------


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
    if not isinstance(value, Integral) or isinstance(value, bool):
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


def _array(p: Parameter, value: Any, remedy: str) -> NDArray[np.float64]:
    """A float copy of an array of finite numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise p.refuse(value, "rows of equal length are needed") from None
    if array.dtype.kind not in "iuf":
        raise p.refuse(value, remedy)
    if not np.all(np.isfinite(array)):
        raise p.refuse(value, "give finite numbers")
    return np.array(array, dtype=np.float64)


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


def _vector(p: Parameter, value: Any) -> NDArray[np.float64]:
    wanted = p.shape or (None,)
    array = _array(p, value, "give a sequence of plain numbers")
    fits = array.ndim == len(wanted) and all(n is None or n == m for n, m in zip(wanted, array.shape, strict=True))
    if not fits:
        raise p.refuse(_Words(f"{_shortened(value)} of shape {array.shape}"), f"give {_numbers_of(wanted)}")
    p.check_bounds(array, value)
    return _frozen(array)


def _numbers(p: Parameter, value: Any) -> float | NDArray[np.float64]:
    return _vector(p, value) if np.ndim(value) == 1 else _number(p, value)


def _axis(p: Parameter, value: Any) -> NDArray[np.float64]:
    array = _vector(p, value)
    if not np.any(array):
        raise p.refuse(value, "an axis needs a length other than zero: give its direction")
    return array


def _planar_axis(p: Parameter, value: Any) -> NDArray[np.float64]:
    array = _array(p, value, "give a sequence of plain numbers")
    return _frozen(array) if array.shape == (3,) and is_normal(array) else _axis(p, value)


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
        norm = float(np.linalg.norm(array))
        if abs(norm - 1.0) > UNIT_TOLERANCE:
            raise p.refuse(_Words(f"{_shortened(value)} of norm {norm:.9g}"), "divide the quaternion by its norm")
        return _frozen(matrix_from_quaternion(array))
    if array.shape != (3, 3):
        found = _Words(f"{_shortened(value)} of shape {array.shape}")
        raise p.refuse(found, "build it with scipy.spatial.transform.Rotation")
    deviation = float(np.max(np.abs(array.T @ array - np.eye(3))))
    if deviation > UNIT_TOLERANCE:
        found = _Words(f"a matrix whose columns are off orthonormal by {deviation:.3g}")
        raise p.refuse(found, "give more digits, or build it with scipy.spatial.transform.Rotation")
    if np.linalg.det(array) < 0.0:
        raise p.refuse(_Words("a left-handed matrix (determinant -1)"), "a mirror is no rotation: reverse one column")
    if deviation > ROUNDING:
        # Newton's iteration for the nearest orthonormal matrix squares the deviation each time.
        for _ in range(2):
            array = 1.5 * array - 0.5 * array @ array.T @ array
    return _frozen(array)


def _inertia(p: Parameter, value: Any) -> NDArray[np.float64]:
    array = _array(p, value, "give plain numbers")
    if array.shape == (3,):
        tensor = np.diag(array)
    elif array.shape == (6,):
        xx, yy, zz, xy, xz, yz = array
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    elif array.shape == (3, 3):
        if np.max(np.abs(array - array.T)) > UNIT_TOLERANCE * np.max(np.abs(array)):
            raise p.refuse(value, "the tensor is not symmetric: make Ixy = Iyx, Ixz = Izx, Iyz = Izy")
        tensor = 0.5 * (array + array.T)
    else:
        raise p.refuse(_Words(f"{_shortened(value)} of shape {array.shape}"), "use one of the three forms")
    smallest, middle, largest = np.linalg.eigvalsh(tensor)
    if smallest <= ROUNDING * abs(largest):
        remedy = "all three must be positive; a body without size is a PointMass"
    elif largest - middle - smallest > INERTIA_MARGIN * largest:
        remedy = "the largest exceeds the sum of the others, as in no body: check digits, signs and reference point"
    else:
        return _frozen(tensor)
    moments = f"principal moments {smallest:.6g}, {middle:.6g}, {largest:.6g}"
    raise p.refuse(_Words(f"{_shortened(value)} with {moments}"), remedy)


def _function(p: Parameter, value: Any) -> Function:
    try:
        if not isinstance(value, Function):
            return Function(value, variables=p.variables)
        if value.kind == "constant":
            return Function(value(*(0.0,) * len(value.variables)), variables=p.variables)
    except ModelError as error:
        raise ValueError("; ".join(problem.message for problem in error.problems)) from error
    if len(value.variables) != len(p.variables):
        found = _Words(f"a function of {', '.join(value.variables)}")
        raise p.refuse(found, f"write it with {len(p.variables)} variable(s)")
    return value


def _functions(p: Parameter, value: Any) -> tuple[Function, ...]:
    count = (p.shape or (None,))[0]
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable) or len(parts := tuple(value)) != count:
        raise p.refuse(value, f"give {count} of them")
    return tuple(_function(p, part) for part in parts)


def _matrix(p: Parameter, value: Any) -> NDArray[np.float64]:
    wanted = p.shape or (None,)
    array = _array(p, value, "give plain numbers")
    if array.shape == wanted[:1]:
        array = np.diag(array)
    if array.shape != wanted:
        raise p.refuse(_Words(f"{_shortened(value)} of shape {array.shape}"), "give its diagonal or all its rows")
    return _frozen(array)


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
    return tuple(_shape(p, entry) for entry in _list(p, value))


def _list(p: Parameter, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise p.refuse(value, "put it in brackets: [...]")
    return tuple(value)


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
}


# ---- Elements -----------------------------------------------------------------------------------------------------


class Element:
    """Anything with a name and declared parameters: bodies, joints, forces, measures.

    A subclass declares its parameters in the class body and needs no ``__init__``. If it has one, it sets what its
    `check` reads before it calls ``super().__init__(name, **values)``.

    Parameters
    ----------
    name
        A non-empty text, unique in its system.
    **values
        Values of the parameters. All wrong ones are reported in one `ModelError`.
    """

    # What `parameters` and `_derived` found; classes do not change, and every element asks often.
    _declared: ClassVar[dict[str, Parameter] | None] = None
    _computed: ClassVar[list[str] | None] = None

    def __init__(self, name: str, **values: Any) -> None:
        self._observers: list[Observer] = []
        declared = self.parameters()
        problems: list[Problem] = []
        self._name = name
        if not isinstance(name, str) or not name.strip():
            self._name = "?"
            problems.append(self.problem("name", _NAME_MESSAGE.format(name)))
        dimension = self._dimension(values)
        declared = {key: p.of(dimension) for key, p in declared.items()}
        missing = [p for key, p in declared.items() if p.default is REQUIRED and key not in values]
        problems += [
            self.problem(p.name, f"found nothing; allowed is {p.allowed()}; add {p.name}=... to the call")
            for p in missing
        ]
        defaults = {key: p.default for key, p in declared.items() if p.default is not REQUIRED}
        converted, wrong = self._convert(values)
        problems += wrong
        self.__dict__.update(defaults | converted)
        problems = problems or list(self.check())
        if problems:
            raise ModelError(problems)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, entry in vars(cls).items():
            if isinstance(entry, Parameter) and hasattr(Element, name):
                raise TypeError(f"{cls.__name__}.{name}: every element has an attribute {name!r}; choose another name")

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The parameters of the class and its bases by name, bases first, in the order of their definition."""
        if (known := vars(cls).get("_declared")) is not None:
            return known
        found: dict[str, Parameter] = {}
        for owner in reversed(cls.__mro__):
            for name, entry in vars(owner).items():
                if isinstance(entry, Parameter):
                    found[name] = entry
                elif name in found:
                    del found[name]
        cls._declared = found
        return found

    @classmethod
    def example(cls, *bodies: Any) -> Any:
        """An instance in general position, between the given bodies if it connects any; tests use every class's."""
        raise NotImplementedError(f"{cls.__name__} has no example yet: override the class method example()")

    @classmethod
    def row_fields(cls) -> list[RowField]:
        """Fields of the NumPy structured dtype that holds elements of this class, one a row."""
        declared = [field for p in cls.parameters().values() if (field := p.row_field()) is not None]
        return declared + [(name, "f8") for name in cls._derived()]

    def row_values(self) -> dict[str, Any]:
        """What goes into the row, by field."""
        dimension = self._dimension({})
        declared = {
            name: p.of(dimension).row_value(getattr(self, name))
            for name, p in self.parameters().items()
            if p.row_field() is not None
        }
        return declared | {name: getattr(self, name) for name in self._derived()}

    @classmethod
    def _derived(cls) -> list[str]:
        if (known := vars(cls).get("_computed")) is not None:
            return known
        names = dict.fromkeys(name for owner in reversed(cls.__mro__) for name in vars(owner))
        cls._computed = [name for name in names if isinstance(getattr(cls, name, None), derived)]
        return cls._computed

    def _dimension(self, values: Mapping[str, Any]) -> int:
        """Dimension of the space that its global vectors belong to, if it is given these values."""
        return 3

    def values(self) -> dict[str, Any]:
        """The current values of all parameters."""
        return {name: getattr(self, name) for name in self.parameters()}

    def check(self) -> Iterator[Problem]:
        """Yield the problems that concern several parameters at once. Override it; `problem` makes them."""
        yield from ()

    def problem(self, field: str, message: str) -> Problem:
        """A `Problem` in this element's name."""
        return Problem(str(self), field, message)

    @property
    def name(self) -> str:
        """Name of the element, unique in its system."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ModelError([self.problem("name", _NAME_MESSAGE.format(name))])
        old, self._name = self._name, name
        self._notify("name", old, name)

    def update(self, **values: Any) -> None:
        """Assign several parameters at once: all of them, or none if one is refused (`ModelError`)."""
        converted, problems = self._convert(values)
        if problems:
            raise ModelError(problems)
        old = {name: self.__dict__.get(name) for name in converted}
        self.__dict__.update(converted)
        if problems := list(self.check()):
            self.__dict__.update(old)
            raise ModelError(problems)
        for name, new in converted.items():
            self._notify(name, old[name], new)

    def observe(self, callback: Observer) -> Callable[[], None]:
        """Call ``callback(element, parameter_name, old, new)`` after each assignment; returns what ends that."""
        self._observers.append(callback)

        def unsubscribe() -> None:
            if callback in self._observers:
                self._observers.remove(callback)

        return unsubscribe

    def _notify(self, name: str, old: Any, new: Any) -> None:
        for callback in tuple(self._observers):
            callback(self, name, old, new)

    def _convert(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        declared, dimension = self.parameters(), self._dimension(values)
        converted: dict[str, Any] = {}
        problems: list[Problem] = []
        for name, value in values.items():
            if name not in declared:
                near = difflib.get_close_matches(name, declared, n=1)
                meant = f"did you mean {near[0]!r}? " if near else ""
                allowed = f"allowed are {', '.join(declared)}" if declared else "there are none"
                problems.append(self.problem(name, f"there is no such parameter; {meant}{allowed}"))
                continue
            try:
                converted[name] = declared[name].of(dimension).convert(value)
            except ValueError as error:
                problems.append(self.problem(name, str(error)))
        return converted, problems

    def __str__(self) -> str:
        return f"{type(self).__name__} {self._name!r}"

    def __repr__(self) -> str:
        parts = [repr(self._name)]
        for name, p in self.parameters().items():
            default = p.of(self._dimension({})).default
            value = self.__dict__.get(name, default)
            if not _same(value, default):
                parts.append(f"{name}={_represented(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __getstate__(self) -> dict[str, Any]:
        # Observers belong to this process (windows, systems), not to the element's description.
        return {**self.__dict__, "_observers": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in self.values().values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


_NAME_MESSAGE: Final = "found {!r}; allowed is a non-empty text; give the element a name"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or (type(a) is type(b) and bool(a == b))


def _represented(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(tuple(value.tolist())) if value.ndim == 1 else repr(value.tolist())
    return repr(value.name) if isinstance(value, Element) else repr(value)
