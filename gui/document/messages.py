"""Messages to the user, as they were posted. No widgets."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, overload

from PySide6.QtCore import QObject, Signal

import mbframe as mb

LEVELS: Final = ("info", "warning", "error")
MOST: Final = 500


@dataclass(frozen=True)
class Message:
    """Something to tell the user: a sentence, with the element to select and what to do about it, if that is known."""

    text: str
    level: str = "info"
    element: Any = None
    fix: Any = None
    """None, or a pair (label of a button, function to call)."""
    at: float = field(default_factory=clock.time)


class Messages(QObject):
    """The messages of a document, the newest last; `elements` gives those that errors may be about."""

    posted = Signal(object)

    def __init__(self, elements: Callable[[], Iterable[mb.Element]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._elements = elements
        self._kept: list[Message] = []

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._kept)

    @overload
    def __getitem__(self, place: int) -> Message: ...

    @overload
    def __getitem__(self, place: slice) -> list[Message]: ...

    def __getitem__(self, place: int | slice) -> Message | list[Message]:
        return self._kept[place]

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()

    def post(self, text: str, level: str = "info", element: Any = None, fix: Any = None) -> Message:
        """Tell the user something; `fix` is a pair (label, function) or None."""
        if level not in LEVELS:
            raise ValueError(f"there is no level {level!r}; known are {', '.join(LEVELS)}")
        message = Message(ended(text), level, element, fix)
        self._kept.append(message)
        del self._kept[:-MOST]
        self.posted.emit(message)
        return message

    def post_error(self, error: Exception) -> None:
        """Post what an error says: each problem of a `ModelError` by itself, with the element it is in."""
        problems = error.problems if isinstance(error, mb.ModelError) else []
        for problem in problems:
            named = [element for element in self._elements() if str(element) == problem.element]
            self.post(str(problem), "error", named[0] if named else None)
        if not problems:
            self.post(str(error) or type(error).__name__, "error", getattr(error, "culprit", None))


def ended(text: str) -> str:
    """A text that ends as a sentence does."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…")) or not text else f"{text}."
