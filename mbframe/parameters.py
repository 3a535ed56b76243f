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
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError, Problem
from .parameter_kinds import KINDS, Words, frozen, shortened
from .registry import is_ours


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""The default of a parameter that must be given."""

Observer = Callable[["Element", str, Any, Any], None]
RowField = tuple[Any, ...]


class Parameter:
    """A declared parameter of an `Element` (public as `parameter`).

    Parameters
    ----------
    default
        Value if none is given; None makes the parameter optional; left out, a value must be given.
    kind
        One of `KINDS`: "text" is any text, "vector" any array of numbers, "numbers" one or a list of them, "point",
        "axis" (not zero) and "free vector" are global vectors that move with the model; by default inferred: float
        number, bool flag, int integer, str with choices choice, sequence of numbers vector, callable function, other
        sequences list, SciPy rotation rotation.
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
    on
        Of a point, axis or rotation of a connection: the body that it lies on and goes with, "i", "j" or "both". By
        default the name says it: `axis_i` lies on the first body, `axis_j` on the second, any other on both.
    unless
        Of a parameter that must be given: the flag with which it has no meaning, and is None.
    help
        One sentence for users.
    """

    shape: tuple[int | None, ...] | None
    choices: tuple[str, ...] | None
    variables: tuple[str, ...]

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
        on: str | None = None,
        unless: str = "",
        help: str = "",
    ) -> None:
        self.name = ""
        self.planar = planar
        if on not in (None, "i", "j", "both"):
            raise TypeError(f'found on={on!r}; allowed are "i", "j" and "both"')
        self._on = on
        self.unless = unless
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

    @property
    def on(self) -> str:
        """On which body of a connection it lies: "i", "j" or "both"."""
        return self._on or {"_i": "i", "_j": "j"}.get(self.name[-2:], "both")

    @property
    def is_placed(self) -> bool:
        """Whether it is a global place or direction of the described configuration, which goes with a body."""
        return self.kind in ("point", "axis", "rotation")

    def is_lifted(self, values: Mapping[str, Any]) -> bool:
        """Whether it need not be given beside these values."""
        return bool(self.unless) and values.get(self.unless) is True

    def lying_on(self, side: str) -> Parameter:
        """The same parameter on another body: `axis = Joint.axis.lying_on("j")`."""
        twin = copy.copy(self)
        twin.__dict__.pop("in_plane", None)
        twin.__dict__["_on"] = side
        return twin

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
            twin.default = frozen(self.default[:2].copy())
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
        if value is None and (self.optional or self.unless):
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
        """The error that says what was found, what is allowed and what to do."""
        text = found if isinstance(found, Words) else shortened(found)
        return ValueError(f"found {text}; allowed is {self.allowed()}; {remedy}")

    def check_bounds(self, values: NDArray[np.float64] | float, given: Any) -> None:
        """Refuse values outside the bounds; the message quotes them as they were given."""
        if self.minimum is None and self.maximum is None and self.above is None:
            return
        if isinstance(values, np.ndarray):
            few = values.ravel().tolist() if values.size < 10 else None  # for which plain Python is faster
            least = values.min() if few is None else min(few, default=math.inf)
            most = values.max() if few is None else max(few, default=-math.inf)
        else:
            least = most = values
        if self.minimum is not None and least < self.minimum:
            raise self.refuse(given, f"increase it to at least {self.minimum:g}")
        if self.maximum is not None and most > self.maximum:
            raise self.refuse(given, f"reduce it to at most {self.maximum:g}")
        if self.above is not None and least <= self.above:
            raise self.refuse(given, f"increase it above {self.above:g}")


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


# ---- Elements -----------------------------------------------------------------------------------------------------


class Scheme(NamedTuple):
    """The parameters of a class in a system of some dimension."""

    declared: dict[str, Parameter]
    defaults: dict[str, Any]
    required: list[Parameter]
    in_rows: dict[str, Parameter]  # those with a place in a table row


class _Signature:
    """The signature of an element's class, made when it is asked for."""

    def __get__(self, instance: object, owner: type[Element]) -> Any:
        from .signatures import signature  # which knows elements

        return signature(owner)


class _Documentation:
    """The docstring of an element's class with its parameters, made when it is asked for."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type[Element]) -> str | None:
        from .signatures import documented

        return documented(owner, self.text)


_PATH = re.compile(r"(M[\sMmLlHhVvCcSsQqTtAaZz0-9.,eE+-]*)?")
"""A path as SVG has it, or nothing."""


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

    # What `parameters`, `_scheme` and `_derived` found; classes do not change, and every element asks often.
    _declared: ClassVar[dict[str, Parameter] | None] = None
    _schemes: ClassVar[dict[int, Scheme] | None] = None
    _computed: ClassVar[list[str] | None] = None

    __signature__: ClassVar[Any] = _Signature()

    glyph: ClassVar[str] = ""
    """The icon of a class in the application, if not that of its base: an SVG path in a square of 24 by 24."""

    if TYPE_CHECKING:  # of every element; what a class leaves to its subclasses is annotated without a value
        _observers: list[Observer]
        _name: str

    def __init__(self, name: str, **values: Any) -> None:
        self._begin(name, values, {})

    def _begin(self, name: str, values: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        """Set name and parameters; those in `known` come from another element, as it stores them."""
        problems: list[Problem] = []
        own = self.__dict__  # files have thousands of elements: assigning to `self` would look each name up
        own["_observers"] = []
        own["_name"] = name
        if not isinstance(name, str) or not name.strip():
            own["_name"] = "?"
            problems.append(self.problem("name", _NAME_MESSAGE.format(name)))
        scheme = self._scheme(self.dimension_with(known or values))
        own.update(scheme.defaults)
        own.update(known)
        for p in scheme.required:
            if p.name not in values and p.name not in known:
                if p.is_lifted(values):
                    own[p.name] = None
                    continue
                message = f"found nothing; allowed is {p.allowed()}; add {p.name}=... to the call"
                problems.append(self.problem(p.name, message))
        converted, wrong = self._convert(values, scheme)
        problems += wrong
        own.update(converted)
        problems = problems or list(self.check())
        if problems:
            raise ModelError(problems)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if (text := vars(cls).get("__doc__")) is not None:  # without one, that of its base is found
            cls.__doc__ = _Documentation(text)  # type: ignore[assignment]
        if not isinstance(glyph := vars(cls).get("glyph", ""), str) or not _PATH.fullmatch(glyph):
            allowed = 'the path of an SVG in a square of 24 by 24, such as "M4 20 L12 4 L20 20 Z"'
            raise TypeError(f"{cls.__name__}.glyph: found {glyph!r}; allowed is {allowed}")
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
    def _scheme(cls, dimension: int) -> Scheme:
        """The parameters as they are in a system of that dimension."""
        known = cls.__dict__.get("_schemes")
        if known is None:
            known = cls._schemes = {}
        if dimension not in known:
            declared = {name: p.of(dimension) for name, p in cls.parameters().items()}
            known[dimension] = Scheme(
                declared,
                {name: p.default for name, p in declared.items() if p.default is not REQUIRED},
                [p for p in declared.values() if p.default is REQUIRED],
                {name: p for name, p in declared.items() if cls.parameters()[name].row_field() is not None},
            )
        return known[dimension]

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
        in_rows = self._scheme(self.dimension_with({})).in_rows
        declared = {name: p.row_value(getattr(self, name)) for name, p in in_rows.items()}
        return declared | {name: getattr(self, name) for name in self._derived()}

    @classmethod
    def _derived(cls) -> list[str]:
        if (known := vars(cls).get("_computed")) is not None:
            return known
        names = dict.fromkeys(name for owner in reversed(cls.__mro__) for name in vars(owner))
        cls._computed = [name for name in names if isinstance(getattr(cls, name, None), derived)]
        return cls._computed

    def __setattr__(self, name: str, value: Any) -> None:
        """Assign; what is nearly the name of a parameter is refused, because it would be kept and never be read.

        Users' classes may have attributes of any name.
        """
        known = name.startswith("_") or name in self.__dict__ or hasattr(type(self), name)
        if not known and is_ours(type(self)):
            near = difflib.get_close_matches(name, type(self).parameters(), n=1, cutoff=0.8)
            if near:
                raise ModelError([self.problem(name, f"there is no such parameter; did you mean {near[0]!r}?")])
        super().__setattr__(name, value)

    def dimension_with(self, values: Mapping[str, Any]) -> int:
        """Dimension of the space that its global vectors belong to, if it is given these values."""
        return 3

    def values(self) -> dict[str, Any]:
        """The current values of all parameters."""
        return {name: getattr(self, name) for name in type(self).parameters()}

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
        told: list[Observer] = []
        try:
            for callback in tuple(self._observers):
                told.append(callback)
                callback(self, "name", old, name)
        except ModelError:  # taken in one of its systems: those that know the new name get the old one back
            self._name = old
            for callback in told[:-1]:
                callback(self, "name", name, old)
            raise

    def update(self, **values: Any) -> None:
        """Assign several parameters at once: all of them, or none if one is refused (`ModelError`)."""
        converted, problems = self._convert(values, self._scheme(self.dimension_with(values)))
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

    def _convert(self, values: Mapping[str, Any], scheme: Scheme) -> tuple[dict[str, Any], list[Problem]]:
        declared = scheme.declared
        converted: dict[str, Any] = {}
        problems: list[Problem] = []
        for name, value in values.items():
            p = declared.get(name)
            if p is None:
                near = difflib.get_close_matches(name, declared, n=1)
                meant = f"did you mean {near[0]!r}? " if near else ""
                allowed = f"allowed are {', '.join(declared)}" if declared else "there are none"
                problems.append(self.problem(name, f"there is no such parameter; {meant}{allowed}"))
                continue
            try:
                converted[name] = p.convert(value)
            except ValueError as error:
                problems.append(self.problem(name, str(error)))
        return converted, problems

    def __str__(self) -> str:
        return f"{type(self).__name__} {self._name!r}"

    def __repr__(self) -> str:
        parts = [repr(self._name)]
        for name, p in type(self).parameters().items():
            default = p.of(self.dimension_with({})).default
            value = self.__dict__.get(name, default)
            if not _same(value, default):
                parts.append(f"{name}={_represented(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __copy__(self) -> Any:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__getstate__())  # arrays are shared, and cannot be written to
        return twin

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
