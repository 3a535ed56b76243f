"""Arrays of numbers as compact text, for files of plain values (JSON) that hold many of them.

    {"packed": "float64", "shape": [3675, 4], "data": "eJzt..."}

`data` is base64 of zlib of the numbers in C order, little endian, with the first bytes of all numbers first, then the
second ones, and so on: neighbours are alike then. Every bit of a number is kept, the sign of zero included.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

PACKED_FROM: Final = 1000
"""Fewer numbers are written as a list, which people can read."""
KEYS: Final = frozenset(("packed", "shape", "data"))
TYPES: Final = {"float64": np.dtype("<f8"), "int64": np.dtype("<i8")}
_BYTES: Final = 8
_LEVEL: Final = 1  # of compression: higher ones take ten times as long for a few percent
_DENSEST: Final = 1100  # zlib makes at most 1032 bytes of one


def compact(array: Any) -> Any:
    """An array as plain values: packed if it is long, otherwise a list."""
    return packed(array) if np.size(array) >= PACKED_FROM else np.asarray(array).tolist()


def packed(array: Any) -> dict[str, Any]:
    """An array as compact text."""
    given = np.asarray(array)
    kind = "int64" if given.dtype.kind in "iu" else "float64"
    content = np.ascontiguousarray(given, dtype=TYPES[kind])
    planes = content.reshape(-1).view(np.uint8).reshape(-1, _BYTES).T
    text = base64.b64encode(zlib.compress(planes.tobytes(), _LEVEL)).decode("ascii")
    return {"packed": kind, "shape": list(given.shape), "data": text}


def listed(value: Any) -> Any:
    """The list of a packed array; anything else as it is."""
    return unpacked(value).tolist() if is_packed(value) else value


def is_packed(value: Any) -> bool:
    """Whether a value claims to be a packed array."""
    return isinstance(value, Mapping) and value.keys() == KEYS


def described(value: Mapping[str, Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Type and shape that a packed array claims to have; a `ValueError` says what is wrong with them."""
    kind, shape = value["packed"], value["shape"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"found {kind!r:.60} as packed; allowed are {', '.join(TYPES)}")
    counts = (
        isinstance(shape, list | tuple) and len(shape) <= 4 and all(type(n) is int and 0 <= n < 2**40 for n in shape)
    )
    if not counts:
        raise ValueError(f"found {shape!r:.60} as shape of a packed array; allowed are up to four whole numbers")
    return TYPES[kind], tuple(shape)


def claimed_bytes(value: Mapping[str, Any]) -> int:
    """Memory that a packed array claims to need; a `ValueError` if it cannot be packed in so little text."""
    size = _BYTES * math.prod(described(value)[1])
    if not isinstance(value["data"], str) or size > _DENSEST * len(value["data"]) + _DENSEST:
        raise ValueError("found packed numbers that do not fit their shape; the file is damaged")
    return size


def unpacked(value: Mapping[str, Any]) -> np.ndarray:
    """The array of a packed one; a `ValueError` says what is wrong with it."""
    size = claimed_bytes(value)
    kind, shape = described(value)
    try:
        unpack = zlib.decompressobj()
        content = unpack.decompress(base64.b64decode(value["data"], validate=True), size + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise ValueError(f"found packed numbers that cannot be unpacked ({error}); the file is damaged") from None
    if len(content) != size or not unpack.eof:
        raise ValueError(f"found packed numbers that are not those of the shape {list(shape)}; the file is damaged")
    planes = np.frombuffer(content, np.uint8).reshape(_BYTES, -1)
    return np.ascontiguousarray(planes.T).reshape(-1).view(kind).reshape(shape)
