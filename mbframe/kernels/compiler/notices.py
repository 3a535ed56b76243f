"""What is said about compiling, once in a session."""

from __future__ import annotations

import logging

log = logging.getLogger("mbframe")

UNUSABLE = "compiled code in the cache cannot be used and is compiled again"
NOT_KEPT = "compiled code cannot be kept: it is compiled anew in each session"

_said: set[str] = set()


def say_once(message: str, error: Exception | None = None) -> None:
    """Say something, with the error that it comes from, unless it was said before."""
    if message not in _said:
        _said.add(message)
        log.warning("%s%s", message, f" ({error})" if error is not None else "")
