"""Controllers that are given by matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import Problem
from ..kernels.compiler.arrays import numbers
from ..linear_systems import same_time
from ..parameters import parameter
from .base import Controller


class MatrixController(Controller):
    """A controller whose numbers are in matrices of any size: its compiled methods fill arrays.

    `fill_output` and `fill_change` do what `output`, and `state_rate` or `update`, say in matrices.
    """

    outputs: Any = parameter({"force": "N"}, kind="units", help="names of the outputs, and their units")

    def fill_output(self, t, y, y_rate, z, out):
        """out := the outputs."""
        raise NotImplementedError

    def fill_change(self, t, y, y_rate, z, out):
        """out := z', or the next z."""
        raise NotImplementedError

    def matrices(self) -> tuple[np.ndarray, ...]:
        """All of them."""
        raise NotImplementedError

    def slopes(self) -> np.ndarray:
        """How outputs, and then rates or next values of states, change with y, with y', and with z."""
        raise NotImplementedError

    @cached_property
    def _numbers(self) -> np.ndarray:
        return np.concatenate([matrix.ravel() for matrix in self.matrices()])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_numbers"}

    @property
    def at(self) -> int:
        """Where the numbers of the matrices are, row by row."""
        return self._numbers.ctypes.data


def rearranged(matrix, controller, measures, outputs, rows=True, columns=True):
    """A matrix of a controller for other outputs and measures; rows and columns of the names that stay are kept.

    Without `rows` (or `columns`) these belong to something else and stay as they are.
    """
    found = np.zeros((len(outputs), len(measures)))
    before_rows, before_columns = list(controller.outputs), list(controller.measures)
    for r, row in enumerate(outputs):
        for c, column in enumerate(measures):
            known = (not rows or row in before_rows) and (not columns or column in before_columns)
            if known:
                place = before_rows.index(row) if rows else r, before_columns.index(column) if columns else c
                found[r, c] = matrix[place]
    return found


class StateFeedback(MatrixController):
    """u = -K (y, y'), with all that it sees before the rates of that: a regulator of what is measured.

    `gain` has a row for each output, and a column for each measure, then for each rate. With a sample time u is held
    from one sample to the next. Setpoints belong into the expressions that name the outputs: "lqr.force + 40*target".
    """

    gain = parameter(
        kind="vector",
        shape=(None, None),
        unit="outputs/seen",
        help="K: a row per output; columns y, then y'",
    )

    def check(self) -> Iterator[Problem]:
        vars(self).pop("_numbers", None)
        yield from super().check()
        wanted = (len(self.outputs), 2 * len(self.measures))
        if self.gain.shape != wanted:
            rows, columns = self.gain.shape
            message = (
                f"found {rows} x {columns} numbers; allowed are {wanted[0]} x {wanted[1]}, a row for each output and a "
                "column for each measure, then one for each rate; change it, or the measures"
            )
            yield self.problem("gain", message)

    def matrices(self) -> tuple[np.ndarray, ...]:
        return (self.gain,)

    @classmethod
    def proposed(cls, measures: Sequence[str], outputs: Mapping[str, str]) -> dict[str, Any]:
        gain = np.zeros((len(outputs), 2 * len(measures)))
        return super().proposed(measures, outputs) | {"gain": gain}

    def fitted(self, measures: Sequence[str], outputs: Mapping[str, str]) -> dict[str, Any]:
        halves = [rearranged(half, self, measures, outputs) for half in np.split(self.gain, 2, axis=1)]
        return self.proposed(measures, outputs) | {"gain": np.hstack(halves)}

    def slopes(self) -> np.ndarray:
        return -self.gain

    def output(self, t, y, y_rate, z):
        by_value, by_rate = np.split(self.gain, 2, axis=1)
        used = np.flatnonzero(by_rate.any(axis=0))  # of others the rate need not be known
        return -(by_value @ y + by_rate[:, used] @ y_rate[used])

    def fill_output(self, t, y, y_rate, z, out):
        gain = numbers(self.at, len(out), 2 * len(y))
        for k in range(len(out)):
            total = 0.0
            for m in range(len(y)):
                total += gain[k, m] * y[m]
                if gain[k, len(y) + m] != 0.0:
                    total += gain[k, len(y) + m] * y_rate[m]
            out[k] = -total

    @classmethod
    def example(cls, *bodies: Any) -> StateFeedback:
        return cls("feedback", measures=["measure"], gain=[[20.0, 3.0]])


class LinearController(MatrixController):
    """z' = A z + B y, u = C z + D y: a linear controller of any order; with a sample time z and u change at samples.

    `system` is (A, B, C, D), or a system of the package control or of `scipy.signal`, whose step is taken for the
    sample time. Matrices with a sample time are discrete: u_k = C z_k + D y_k, z_(k+1) = A z_k + B y_k. Rates are not
    used; what is wanted of them is among the measures ("hinge.angle_rate").
    """

    system = parameter(kind="state space", help="(A, B, C, D), or a system of control or scipy.signal")
    start = parameter(None, kind="vector", help="z at the beginning; zeros by default")

    def __init__(self, name: str, **values: Any) -> None:
        own = same_time(name, values.get("system"), values.get("sample_time"))
        super().__init__(name, **values | ({"sample_time": own} if own is not None else {}))

    def check(self) -> Iterator[Problem]:
        vars(self).pop("_numbers", None)
        yield from super().check()
        A, _, _, D = self.system
        wanted = (len(self.outputs), len(self.measures))
        if D.shape != wanted:
            message = (
                f"found one of {D.shape[1]} inputs and {D.shape[0]} outputs; allowed is one of {wanted[1]} and "
                f"{wanted[0]}, as there are measures and outputs; change it, or these"
            )
            yield self.problem("system", message)
        if self.start is not None and len(self.start) != len(A):
            yield self.problem("start", f"found {len(self.start)} numbers; allowed are {len(A)}, one for each state")

    @classmethod
    def proposed(cls, measures: Sequence[str], outputs: Mapping[str, str]) -> dict[str, Any]:
        """A lag of one second whose output is not used yet."""
        matrices = ([[-1.0]], np.ones((1, len(measures))), np.zeros((len(outputs), 1)))
        return super().proposed(measures, outputs) | {"system": (*matrices, np.zeros((len(outputs), len(measures))))}

    def fitted(self, measures: Sequence[str], outputs: Mapping[str, str]) -> dict[str, Any]:
        A, B, C, D = self.system
        seen = rearranged(B, self, measures, dict.fromkeys(range(len(A))), rows=False)
        told = rearranged(C, self, dict.fromkeys(range(len(A))), outputs, columns=False)
        matrices = (A, seen, told, rearranged(D, self, measures, outputs))
        return self.proposed(measures, outputs) | {"system": matrices}

    @property
    def states(self) -> int:
        return len(self.system[0])

    @property
    def feedthrough(self) -> bool:
        return bool(self.system[3].any())

    def gives(self, method: str) -> bool:
        return True

    def matrices(self) -> tuple[np.ndarray, ...]:
        return self.system

    def slopes(self) -> np.ndarray:
        A, B, C, D = self.system
        return np.block([[D, 0.0 * D, C], [B, 0.0 * B, A]])

    def initial_states(self) -> list[float]:
        return [0.0] * self.states if self.start is None else self.start.tolist()

    def output(self, t, y, y_rate, z):
        _, _, C, D = self.system
        return C @ z + D @ y

    def change(self, t, y, y_rate, z):
        """A z + B y."""
        A, B, _, _ = self.system
        return A @ z + B @ y

    state_rate = next_states = change

    def fill_output(self, t, y, y_rate, z, out):
        n, m = len(z), len(y)
        C = numbers(self.at + 8 * n * (n + m), len(out), n)
        D = numbers(self.at + 8 * (n * (n + m) + len(out) * n), len(out), m)
        for k in range(len(out)):
            total = 0.0
            for c in range(n):
                total += C[k, c] * z[c]
            for c in range(m):
                total += D[k, c] * y[c]
            out[k] = total

    def fill_change(self, t, y, y_rate, z, out):
        n, m = len(z), len(y)
        A, B = numbers(self.at, n, n), numbers(self.at + 8 * n * n, n, m)
        for k in range(n):
            total = 0.0
            for c in range(n):
                total += A[k, c] * z[c]
            for c in range(m):
                total += B[k, c] * y[c]
            out[k] = total

    @classmethod
    def example(cls, *bodies: Any) -> LinearController:
        matrices = ([[-1.0, 0.3], [0.0, -2.0]], [[1.0], [0.5]], [[4.0, -1.0]], [[0.2]])
        return cls("controller", measures=["measure"], system=matrices, start=(0.1, 0.2))
