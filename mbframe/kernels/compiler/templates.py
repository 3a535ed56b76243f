"""Templates: loops whose free names (methods of a type, layout of its rows, sizes) are bound for each type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .compile import Stage, rebound


class Free:
    """A name that is free in templates; `kernels.free` has all of them, with what they are bound to."""

    def __init__(self, name: str, meaning: str) -> None:
        self.name, self.meaning = name, meaning

    def __repr__(self) -> str:
        return f"{self.name}: {self.meaning}"


class Template:
    """A function with the signature of a stage and free names, which are exactly those that it lists."""

    def __init__(self, function: Callable, free: tuple[Free, ...]) -> None:
        self.function, self.names = function, tuple(name.name for name in free)


def template(*free: Any) -> Callable[[Callable], Template]:
    """Make a template of a function that reads these free names."""
    return lambda function: Template(function, free)


_specialized: dict[tuple, Stage] = {}


def specialize(template: Template, owner: type | str, cached: bool, layout: Any = None, **values: Any) -> Stage:
    """The stage that a template is with its free names bound.

    `owner`, the class that the kernels come from, must identify the values completely, because stages are looked up by
    it; or together with the `layout` of the rows, which differs where optional parameters of a user's class are left
    out. `cached` keeps the stage on disk too, by the owner's name: for our own classes, whose sources are part of the
    cache's key, and not for a user's.
    """
    function = template.function
    key = f"{owner.__module__}.{owner.__qualname__}" if isinstance(owner, type) else owner
    if different := set(template.names) ^ set(values):
        kinds = {name: "is not bound" if name in template.names else "is not free" for name in sorted(different)}
        said = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        raise TypeError(f"{function.__module__}.{function.__qualname__} for {key}: {said}")
    identity = (function.__module__, function.__qualname__, owner, layout)
    if identity not in _specialized:
        _specialized[identity] = Stage(rebound(function, f"{function.__qualname__}[{key}]", values), cached)
    return _specialized[identity]
