"""Linear systems of other packages as matrices (A, B, C, D)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError, Problem

Array = NDArray[np.float64]

SAME = 1e-9
"""Part of a sample time by which two may differ by rounding."""


def matrices_of(value: Any) -> tuple[Any, Any, Any, Any]:
    """A, B, C and D of a tuple of them, of a system of control or of scipy.signal; a ValueError says why not."""
    if isinstance(value, tuple | list):
        if len(value) != 4:
            raise ValueError(f"found {len(value)} entries; allowed are four, (A, B, C, D); give these")
        return value[0], value[1], value[2], value[3]
    if not hasattr(value, "A") and callable(getattr(value, "to_ss", None)):  # a transfer function of scipy.signal
        value = value.to_ss()
    elif not hasattr(value, "A") and type(value).__module__.partition(".")[0] == "control":
        value = importlib.import_module("control").ss(value)
    if not all(hasattr(value, name) for name in "ABCD"):
        raise ValueError(f"found {value!r}; allowed are (A, B, C, D) or a system of control or scipy.signal; give one")
    return value.A, value.B, value.C, value.D


def checked(value: Any) -> tuple[Array, Array, Array, Array]:
    """The four matrices, whose sizes fit together."""
    found = []
    for name, given in zip("ABCD", matrices_of(value), strict=True):
        try:
            array = np.array(given, float, ndmin=2)
        except (TypeError, ValueError):
            raise ValueError(f"found {given!r} for {name}; allowed is a matrix of numbers; give one") from None
        if array.ndim != 2 or not np.all(np.isfinite(array)):
            raise ValueError(f"found {given!r} for {name}; allowed is a matrix of finite numbers; give one")
        found.append(array)
    A, B, C, D = found
    n, (p, m) = (0 if A.size == 0 else len(A)), D.shape
    if n == 0:  # a gain without states
        A, B, C = np.zeros((0, 0)), np.zeros((0, m)), np.zeros((p, 0))
    shapes = {"A": (A, (n, n)), "B": (B, (n, m)), "C": (C, (p, n))}
    for name, (array, wanted) in shapes.items():
        if array.shape != wanted:
            sizes = " x ".join(map(str, array.shape))
            raise ValueError(
                f"found {name} of {sizes} numbers; allowed are {wanted[0]} x {wanted[1]}, since A has {n} states and D "
                f"has {p} outputs and {m} inputs; change the matrices"
            )
    for array in (A, B, C, D):
        array.setflags(write=False)
    return A, B, C, D


def same_time(name: str, system: Any, sample_time: Any) -> float | None:
    """The sample time that a discrete system brings; refused if it is another one than the given one."""
    step = getattr(system, "dt", None)
    if step is None or step is False or step == 0:
        return None
    owner = f"LinearController {name!r}"
    if step is True:  # discrete, with a step that is not said
        if sample_time is None:
            message = "the system is discrete and does not say its step; add sample_time="
            raise ModelError([Problem(owner, "sample_time", message)])
        return None
    if isinstance(sample_time, int | float) and abs(sample_time - step) > SAME * step:
        message = f"found {sample_time!r}, but the system was made for {step!r} s; leave it out, or make another system"
        raise ModelError([Problem(owner, "sample_time", message)])
    return float(step)
