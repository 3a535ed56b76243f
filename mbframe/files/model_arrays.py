"""Long arrays of a model beside its text: in a result they are datasets of HDF5, where JSON has their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..limits import check_memory
from ..packed import is_packed, unpacked
from .json_text import one_line

ARRAY: Final = "array"


def without_arrays(model: Any) -> tuple[Any, list[np.ndarray]]:
    """A document with ``{"array": k}`` in place of its k-th long array, and these arrays."""
    arrays: list[np.ndarray] = []

    def kept(value: Any) -> Any:
        if is_packed(value):
            value = unpacked(value)
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {ARRAY: len(arrays) - 1}
        if isinstance(value, dict):
            return {key: kept(part) for key, part in value.items()}
        return [kept(part) for part in value] if isinstance(value, list) else value

    return kept(model), arrays


def with_arrays(model: Any, datasets: Mapping[str, Any]) -> Any:
    """The document with its arrays, as NumPy has them; a `ValueError` if one is missing or no array of numbers."""
    check_memory("the model in the result", sum(getattr(one, "nbytes", 0) for one in datasets.values()))

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {ARRAY}:
                return _array(value[ARRAY], datasets)
            return {key: filled(part) for key, part in value.items()}
        return [filled(part) for part in value] if isinstance(value, list) else value

    return filled(model)


def one_model(one: Any, other: Any) -> bool:
    """Whether two documents are the same, down to the bits of their arrays."""
    (text, arrays), (other_text, other_arrays) = without_arrays(one), without_arrays(other)
    alike = one_line(text) == one_line(other_text) and len(arrays) == len(other_arrays)
    return alike and all(
        (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())
        for a, b in zip(arrays, other_arrays, strict=True)
    )


def _array(number: Any, datasets: Mapping[str, Any]) -> np.ndarray:
    if type(number) is not int or str(number) not in datasets:
        raise ValueError(f"its model needs the array {number!r:.60}, which is not there")
    found = datasets[str(number)][()]
    if not isinstance(found, np.ndarray) or found.dtype not in (np.float64, np.int64):
        raise ValueError(f"its array {number} does not hold numbers of 8 bytes")
    return found
