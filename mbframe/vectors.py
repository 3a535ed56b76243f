"""Vectors in compiled methods: triples of numbers. The functions are compiled with the methods that call them."""

from __future__ import annotations


def triple(a):
    """The three components of an array."""
    return a[0], a[1], a[2]


def column(matrix, c):
    """Column c: an axis of a marker's axes."""
    return matrix[0, c], matrix[1, c], matrix[2, c]


def unit(k):
    """Unit vector along axis k; zero for any other k."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def minus(a, b):
    """a - b"""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def plus(a, s, b):
    """a + s b"""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


def scaled(s, a):
    """s a"""
    return s * a[0], s * a[1], s * a[2]


def times(matrix, a):
    """Matrix times vector: from components in a marker's axes to global ones."""
    return (
        matrix[0, 0] * a[0] + matrix[0, 1] * a[1] + matrix[0, 2] * a[2],
        matrix[1, 0] * a[0] + matrix[1, 1] * a[1] + matrix[1, 2] * a[2],
        matrix[2, 0] * a[0] + matrix[2, 1] * a[1] + matrix[2, 2] * a[2],
    )


def seen(matrix, a):
    """Transposed matrix times vector: from global components to those in a marker's axes."""
    return dot(column(matrix, 0), a), dot(column(matrix, 1), a), dot(column(matrix, 2), a)
