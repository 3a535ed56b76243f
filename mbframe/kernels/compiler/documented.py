"""The compiler that numba documents: the same code as `pipeline`, with any numba, in twice the time of compiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cfunc, njit

from .notices import UNUSABLE, say_once

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
inner: Any = njit(**_OPTIONS)


def compiled_stage(function: Callable, signature: Any, kept: bool) -> Any:
    """A stage from numba's own cache, or compiled and put there; without one it stays in memory."""
    try:
        return cfunc(signature, cache=kept, **_OPTIONS)(function)
    except Exception as error:  # a damaged or full cache
        if not kept:
            raise
        stage = compiled_stage(function, signature, kept=False)  # which raises where the function is to blame
        say_once(UNUSABLE, error)
        return stage
