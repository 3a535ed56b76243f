"""The errors of finite-element data: they name the argument and carry the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError, Problem

LARGEST = 1e60  # a larger number is no quantity, and its powers overflow


def usable(array: np.ndarray) -> np.ndarray:
    """Which numbers are finite and not absurdly large."""
    return abs(array) < LARGEST


def wrong(element: str, field: str, message: str) -> ModelError:
    """The error for one argument that cannot be used."""
    return ModelError([Problem(element, field, message)])


def positive(element: str, **values: float) -> None:
    """All of these are finite and above zero; a `ModelError` lists those that are not."""
    problems = []
    for field, value in values.items():
        try:
            allowed = 0.0 < float(value) < LARGEST
        except (TypeError, ValueError):
            allowed = False
        if not allowed:
            problems.append(Problem(element, field, f"found {value!r}; allowed are numbers above 0; give one"))
    if problems:
        raise ModelError(problems)


def counted(element: str, field: str, value: Any, minimum: int) -> int:
    """A whole number that is not below `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        raise wrong(element, field, f"found {value!r}; allowed are whole numbers from {minimum} on; give one")
    return int(value)


def points(element: str, field: str, values: Any) -> np.ndarray:
    """An array of finite points, one a row, that cannot be written to."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise wrong(element, field, "found no numbers; give one row of x, y, z (m) for each point") from None
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise wrong(element, field, f"has the shape {array.shape}; needed is (n, 3): x, y, z (m) of each point")
    if not np.all(usable(array)):
        row = int(np.argwhere(~usable(array))[0, 0])
        raise wrong(element, field, f"point {row} is {array[row].tolist()}; give finite numbers")
    array.flags.writeable = False
    return array


def point(element: str, field: str, value: Any) -> np.ndarray:
    """One finite point that cannot be written to."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.all(usable(array)):
        raise wrong(element, field, f"found {value!r}; give three finite coordinates, m")
    array.flags.writeable = False
    return array


def indices(element: str, field: str, values: Any, count: int, width: int) -> np.ndarray:
    """An (n, width) array of whole numbers from 0 to count - 1 that cannot be written to."""
    array = np.array(values)
    if array.size == 0:
        array = np.zeros((0, width), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != width or not np.issubdtype(array.dtype, np.integer):
        raise wrong(
            element,
            field,
            f"has the shape {array.shape}, type {array.dtype}; needed are rows of {width} node numbers",
        )
    if array.size and (array.min() < 0 or array.max() >= count):
        row = int(np.argwhere((array < 0) | (array >= count))[0, 0])
        raise wrong(
            element,
            field,
            f"row {row} is {array[row].tolist()}; the {count} nodes are numbered from 0 to {count - 1}",
        )
    array = array.astype(np.int64)
    array.flags.writeable = False
    return array
