"""Every basic constraint: its derivatives in the 24 numbers of its markers, interpreted and compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.equations.tables import Tables, has_derivatives

from .specimens import (
    SEEDS,
    along,
    assert_close,
    assert_compiles,
    name_of,
    random_markers,
    rate_of,
    shifted,
    two_bodies,
    walk,
)

EXACT = 1e-12
CLASSES = walk(mb.BasicConstraint)
PLACE = ("position", "axes")
TIME = 0.4


def variants(constraint: mb.BasicConstraint) -> Iterator[mb.BasicConstraint]:
    """The constraint with each value that the bounds of its integer parameters allow, one parameter at a time."""
    yield constraint
    for name, p in type(constraint).parameters().items():
        if p.kind == "integer" and p.minimum is not None and p.maximum is not None:
            given = getattr(constraint, name)
            for value in range(int(p.minimum), int(p.maximum) + 1):
                constraint.update(**{name: value})
                yield constraint
            constraint.update(**{name: given})


@pytest.fixture(params=CLASSES, ids=name_of)
def constraint(request: pytest.FixtureRequest) -> mb.BasicConstraint:
    _, i, j = two_bodies()
    return request.param.example(i, j)


@pytest.fixture(params=SEEDS)
def markers(request: pytest.FixtureRequest) -> np.recarray:
    return random_markers(np.random.default_rng(request.param))


def gradient(constraint: Any, markers: np.recarray) -> np.ndarray:
    g = np.zeros((constraint.equations, 24), complex)
    constraint.gradient(TIME, markers[0], markers[1], g)
    return g


def rates(markers: np.recarray) -> np.ndarray:
    return np.concatenate([rate_of(markers[0]), rate_of(markers[1])])


def test_gives_its_derivatives(constraint: mb.BasicConstraint) -> None:
    assert has_derivatives(type(constraint))


def test_gradient_is_the_derivative_of_the_residual(constraint: Any, markers: np.recarray) -> None:
    for c in variants(constraint):
        expected = [along(lambda h, d=d, c=c: c.residual(TIME, *shifted(markers, PLACE, h * d))) for d in np.eye(24)]
        assert_close(gradient(c, markers), np.transpose(expected), EXACT)


def test_curvature_is_the_second_derivative_along_the_motion(constraint: Any, markers: np.recarray) -> None:
    x_rate = rates(markers)
    for c in variants(constraint):
        found = np.array(c.curvature(TIME, markers[0], markers[1]))
        expected = along(lambda h, c=c: gradient(c, shifted(markers, PLACE, h * x_rate)) @ x_rate)
        assert_close(found, expected, EXACT)


def test_hessian_is_the_derivative_of_the_gradient(constraint: Any, markers: np.recarray) -> None:
    rng = np.random.default_rng(4)
    weights, before = rng.normal(size=constraint.equations), rng.normal(size=(24, 24))
    for c in variants(constraint):
        found = before.astype(complex)
        c.hessian(TIME, markers[0], markers[1], weights, found)
        expected = [
            along(lambda h, d=d, c=c: weights @ gradient(c, shifted(markers, PLACE, h * d))) for d in np.eye(24)
        ]
        assert_close(found, before + np.transpose(expected), EXACT)


def test_axes_are_used_only_if_the_class_says_so(constraint: Any, markers: np.recarray) -> None:
    """Where `uses_axes` is False the axes may not even be computed."""
    axes = np.r_[3:12, 15:24]
    assert constraint.uses_axes or not gradient(constraint, markers)[:, axes].any()


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_compiled_equals_interpreted(cls: Any) -> None:
    system, i, j = two_bodies()
    constraint = system.add(cls.example(i, j))
    (table,) = Tables(system, None).constraint_tables
    at = (constraint, table.rows[0]), TIME, *random_markers(np.random.default_rng(1), "f8")
    assert_compiles(cls.residual, *at)
    assert_compiles(cls.gradient, *at, np.zeros((cls.equations, 24)))
    assert_compiles(cls.curvature, *at)
    assert_compiles(cls.hessian, *at, np.linspace(1.0, 2.0, cls.equations), np.zeros((24, 24)))
