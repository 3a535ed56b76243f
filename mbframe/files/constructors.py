"""Whether what the constructor of a user's class makes can be made again from a file, which holds parameters only.

A constructor may set parameters that follow from others. So an object is made once without these: what comes out right
by itself is left out of the file, and what cannot be made again is refused when it is saved, not when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..constraints.base import BasicConstraint
from ..parameters import REQUIRED, Element, Parameter
from .catalogue import named, takes_formulation
from .json_text import one_line
from .values import encoded


def remade(element: Element, known: Mapping[str, Parameter], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The values, of those to be stored, from which the constructor makes the element again.

    A `ValueError` says why it does not.
    """
    cls: Any = type(element)
    if isinstance(element, BasicConstraint) and element.given_markers:
        return dict(stored)
    _check_arguments(element, known)
    given = {key: getattr(element, p.name) for key, p in known.items()}
    choice = {"formulation": getattr(element, "formulation", None)} if takes_formulation(cls) else {}
    arguments = [key for key in known if key in named(cls)]
    required = [key for key, p in known.items() if p.default is REQUIRED and key not in arguments]
    made = None
    for keys in (arguments, [*arguments, *required], [*arguments, *stored]):
        with suppress(Exception):  # of a user's constructor, which may need more
            made, kept = cls(element.name, **{key: given[key] for key in keys}, **choice), set(keys)
            break
    if made is None:
        kept = set(known)
    elif differing := _differing(made, element, known):
        kept |= set(differing)
        made = None
    if made is None:
        try:
            made = cls(element.name, **{key: given[key] for key in known if key in kept}, **choice)
        except Exception as error:
            message = f"its constructor cannot make it from its parameters: {type(error).__name__}: {error}"
            raise ValueError(f"{message}; let it take all of them in **values, as in values.setdefault(...)") from error
    if differing := _differing(made, element, known):
        raise ValueError(f"its constructor gives other values to {', '.join(differing)}; let it keep those in **values")
    return {key: encoded(known[key], given[key]) for key in known if key in kept}


def _check_arguments(element: Element, known: Mapping[str, Parameter]) -> None:
    """Refuse an argument which is no parameter and has another value than its default."""
    for name, argument in named(type(element)).items():
        if name not in known and name != "formulation" and hasattr(element, name):
            value = getattr(element, name)
            if value is not argument.default and repr(value) != repr(argument.default):
                remedy = f"declare it in the class: {name} = mb.parameter(...)"
                raise ValueError(f"its constructor takes the argument {name!r}, which is no parameter; {remedy}")


def _differing(made: Element, element: Element, known: Mapping[str, Parameter]) -> list[str]:
    """The parameters in which two elements differ, down to the sign of zero."""
    return [
        key
        for key, p in known.items()
        if one_line(encoded(p, getattr(made, p.name))) != one_line(encoded(p, getattr(element, p.name)))
    ]
