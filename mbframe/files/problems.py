"""The list of what is wrong with a document, with its places."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np

from ..errors import ModelError, Problem
from ..limits import no_collection
from .json_text import child

MAX_PROBLEMS: Final = 500
"""After so many a file is not read further."""
NEAREST: Final = 50
"""A misspelled name is compared with known ones for so many problems, and if there are not too many known ones."""

_ELEMENT: Final = re.compile(r"\$\.elements\[(\d+)\]")


class _Full(Exception):  # noqa: N818 (a signal, no error)
    """There are enough problems."""


class Problems:
    """Collects problems while something is read, and raises them all at its end."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def finish(self, read: Any, value: Any) -> Any:
        """What `read` makes of a value; a `ModelError` if there are problems."""
        try:
            # Extreme numbers overflow in some checks; the comparisons that follow refuse them.
            with np.errstate(all="ignore"), no_collection():  # of garbage, among all elements again and again
                found = read(value)
        except _Full:
            rest = Problem("", "", f"there are more than {MAX_PROBLEMS} problems; correct these first")
            raise ModelError([*sorted(self.problems, key=_place), rest]) from None
        if self.problems:
            raise ModelError(sorted(self.problems, key=_place))
        return found

    def refuse(self, path: str, message: str, label: str = "") -> None:
        if len(self.problems) >= MAX_PROBLEMS:
            raise _Full
        self.problems.append(Problem(label, path, message))

    def nearest(self, word: str, known: Collection[str]) -> str:
        """A proposal for a misspelled word, or nothing."""
        if len(word) > 100 or len(known) > 2000 or len(self.problems) >= NEAREST:
            return ""
        lower = {name.lower(): name for name in reversed(list(known))}
        near = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
        return f"did you mean {lower[near[0]]!r}? " if near else ""

    def keys(self, data: Mapping[str, Any], allowed: Collection[str], path: str, label: str) -> None:
        """Refuse keys that have no meaning."""
        for key in data:
            if key not in allowed:
                meant = self.nearest(key, allowed)
                known = ", ".join(allowed)
                self.refuse(child(path, key), f"there is no such parameter; {meant}allowed are {known}", label)

    def take_over(self, error: ModelError, path: str, label: str, keys: Mapping[str, str]) -> None:
        """The problems that a class found in its parameters, with their places in the file."""
        for problem in error.problems:
            key = keys.get(problem.field, problem.field)
            self.refuse(child(path, key) if key else path, problem.message, label)


def _place(problem: Problem) -> int:
    """Number of the element in which a problem is; -1 for the head of a file, which comes first."""
    found = _ELEMENT.match(problem.field)
    return int(found.group(1)) if found else -1
