"""The errors that mbframe raises: all derive from `MbframeError`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

_TERMINAL: Final = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}
_DIRECTION: Final = {code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}


def shown(text: str) -> str:
    """A text with escapes for what controls a terminal or turns the direction of writing; lines stay lines.

    Names come from files of strangers and are printed.
    """
    return text.translate(_TERMINAL | _DIRECTION)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a model.

    Parameters
    ----------
    element
        What it is wrong in, such as ``"RigidBody 'bar'"``.
    field
        The parameter concerned, such as ``"mass"``.
    message
        What was found, what is allowed, and the remedy.
    """

    element: str
    field: str
    message: str

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.element, self.field) if part)
        return shown(f"{place}: {self.message}" if place else self.message)


class MbframeError(Exception):
    """Root of all errors raised by mbframe."""


class ModelError(MbframeError):
    """A model, a file or a combination of methods that cannot be used as described.

    Parameters
    ----------
    problems
        Every problem found, or one sentence. ``str(error)`` lists all of them, one a line.
    """

    problems: list[Problem]

    def __init__(self, problems: Iterable[Problem] | str) -> None:
        self.problems = [Problem("", "", problems)] if isinstance(problems, str) else list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class SimulationError(MbframeError):
    """A run that could not be continued.

    Parameters
    ----------
    message
        What happened and what to change.
    time
        Instant at which it happened, s.
    culprit
        The element (or its name) that caused it, if that is known.
    result
        What was computed before, if anything.
    """

    def __init__(self, message: str, time: float, culprit: object = None, result: object = None) -> None:
        # All arguments go to `args`, so that the error survives the way back from another process.
        super().__init__(message, time, culprit, result)
        self.message = message
        self.time = time
        self.culprit = culprit
        self.result = result

    def __str__(self) -> str:
        place = f"t = {self.time:.6g} s"
        return f"{place}, {self.culprit}: {self.message}" if self.culprit is not None else f"{place}: {self.message}"


class AnalysisError(MbframeError):
    """An analysis that has no answer for the given model or state."""


def check_kinds(caller: str, **arguments: tuple[Any, type]) -> None:
    """Refuse arguments of a wrong kind, all at once. None is left out, except for a system: it stands for a default."""
    problems = []
    for field, (value, kind) in arguments.items():
        if isinstance(value, kind) or (value is None and field != "system"):
            continue
        remedy = "pass such an object"
        if isinstance(value, type) and issubclass(value, kind):
            remedy = f"call the class: {value.__name__}()"
        message = f"found {value!r}; allowed is an object of type {kind.__name__}; {remedy}"
        problems.append(Problem(caller, field, message))
    if problems:
        raise ModelError(problems)
