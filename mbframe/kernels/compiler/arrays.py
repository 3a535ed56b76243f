"""Matrices that a table row points to: for data whose size differs from row to row."""

from __future__ import annotations

import ctypes

import numpy as np


def numbers(address, rows, columns):
    """The matrix (rows x columns, row by row) whose numbers begin at an address; who made the row keeps it alive.

    This is what interpreted methods call; compiled ones read the memory directly (`kernels.compiler.compile`).
    """
    if rows * columns == 0:
        return np.zeros((rows, columns))
    return np.ctypeslib.as_array((ctypes.c_double * int(rows * columns)).from_address(int(address))).reshape(
        int(rows), int(columns)
    )
