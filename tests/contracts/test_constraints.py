"""Every basic constraint: its derivatives in the numbers of its markers, interpreted and compiled."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.abilities import has_derivatives
from mbframe.constraints.axis import AxisConstraint
from mbframe.equations.tables import Tables
from mbframe.equations.user import configuration, motion, residual_function, velocity_function

from .specimens import (
    SEEDS,
    along,
    assert_close,
    assert_compiles,
    exact_derivative,
    name_of,
    random_markers,
    rate_of,
    shifted,
    two_bodies,
    walk,
)

EXACT = 1e-12
CLASSES = walk(mb.BasicConstraint)
HOLONOMIC = [cls for cls in CLASSES if not cls.nonholonomic]
NONHOLONOMIC = [cls for cls in CLASSES if cls.nonholonomic]
ON_AXES = [cls for cls in CLASSES if issubclass(cls, AxisConstraint)]
PLACE = ("position", "axes")
TIME = 0.4


def variants(constraint: mb.BasicConstraint) -> Iterator[mb.BasicConstraint]:
    """The constraint with each value that the bounds of its integer parameters allow, one parameter at a time.

    One on an axis is also tried where that is bent.
    """
    yield constraint
    if isinstance(constraint, AxisConstraint):
        yield bent(constraint)
    for name, p in type(constraint).parameters().items():
        if p.kind == "integer" and p.minimum is not None and p.maximum is not None:
            given = getattr(constraint, name)
            for value in range(int(p.minimum), int(p.maximum) + 1):
                constraint.update(**{name: value})
                yield constraint
            constraint.update(**{name: given})


def bent(constraint: AxisConstraint, rate: float = 0.0) -> AxisConstraint:
    """The constraint on an axis that is bent and twisted at random, and bends further."""
    rng = np.random.default_rng(8)
    constraint = copy.copy(constraint)
    constraint.start = 0.3
    constraint.cubic, constraint.cubic_rate = rng.normal(size=(4, 3)), rate * rng.normal(size=(4, 3))
    return constraint


def example(cls: Any) -> Any:
    _, i, j = two_bodies()
    return cls.example(i, j)


@pytest.fixture(params=HOLONOMIC, ids=name_of)
def constraint(request: pytest.FixtureRequest) -> mb.BasicConstraint:
    return example(request.param)


@pytest.fixture(params=SEEDS)
def markers(request: pytest.FixtureRequest) -> np.recarray:
    return random_markers(np.random.default_rng(request.param))


def gradient(constraint: Any, markers: np.recarray) -> np.ndarray:
    g = np.zeros((constraint.equations, 24), complex)
    constraint.gradient(TIME, markers[0], markers[1], g)
    return g


def rates(markers: np.recarray) -> np.ndarray:
    return np.concatenate([rate_of(markers[0]), rate_of(markers[1])])


@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_gives_its_derivatives(cls: Any) -> None:
    assert has_derivatives(cls)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_is_the_derivative_of_the_residual(constraint: Any, seed: int) -> None:
    i, j = random_markers(np.random.default_rng(seed), "f8")
    for c in variants(constraint):
        expected = exact_derivative(residual_function(c), [TIME, *configuration(i), *configuration(j)])
        found = np.zeros((c.equations, 24))
        c.gradient(TIME, i, j, found)
        assert_close(found, expected[:, 1:], EXACT)


def time_rate(constraint: Any, t: Any, markers: np.recarray) -> np.ndarray:
    """dC/dt at fixed markers."""
    if not hasattr(constraint, "time_rate"):
        return np.zeros(constraint.equations)
    return np.array(constraint.time_rate(t, markers[0], markers[1]))


def test_curvature_is_the_second_derivative_along_the_motion(constraint: Any, markers: np.recarray) -> None:
    x_rate = rates(markers)

    def rate(c: Any, h: complex) -> np.ndarray:
        moved = shifted(markers, PLACE, h * x_rate)
        return gradient(c, moved) @ x_rate + time_rate(c, TIME + h, moved)

    for c in variants(constraint):
        found = np.array(c.curvature(TIME, markers[0], markers[1]))
        assert_close(found, along(lambda h, c=c: rate(c, h)), EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_time_rate_is_the_derivative_of_the_residual(constraint: Any, seed: int) -> None:
    markers = random_markers(np.random.default_rng(seed), "f8")
    places = [*configuration(markers[0]), *configuration(markers[1])]
    expected = exact_derivative(residual_function(constraint), [TIME, *places])
    assert_close(time_rate(constraint, TIME, markers), expected[:, 0], EXACT)


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


def axis_gradient(constraint: AxisConstraint, markers: np.recarray) -> np.ndarray:
    g = np.zeros((constraint.equations, 12), complex)
    constraint.axis_gradient(TIME, markers[0], markers[1], g)
    return g


def shifted_axis(constraint: AxisConstraint, change: np.ndarray) -> AxisConstraint:
    moved = copy.copy(constraint)
    moved.cubic = constraint.cubic + change.reshape(4, 3)
    return moved


@pytest.mark.parametrize("cls", ON_AXES, ids=name_of)
def test_axis_gradient_is_the_derivative_by_the_cubic(cls: Any, markers: np.recarray) -> None:
    c = bent(example(cls))
    found = axis_gradient(c, markers)
    expected = [along(lambda h, d=d: shifted_axis(c, h * d).residual(TIME, *markers)) for d in np.eye(12)]
    assert_close(found, np.transpose(expected), EXACT)
    assert np.abs(found).max(axis=1).min() > 0.1


@pytest.mark.parametrize("cls", ON_AXES, ids=name_of)
def test_curvature_counts_the_bending_of_the_axis(cls: Any, markers: np.recarray) -> None:
    """C'' with all numbers, those of the cubic too, moving at constant rates."""
    c = bent(example(cls), rate=1.0)
    x_rate, c_rate = rates(markers), c.cubic_rate.ravel()

    def rate(h: complex) -> np.ndarray:
        moved, axis = shifted(markers, PLACE, h * x_rate), shifted_axis(c, h * c_rate)
        return gradient(axis, moved) @ x_rate + axis_gradient(axis, moved) @ c_rate

    assert_close(np.array(c.curvature(TIME, *markers)), along(rate), EXACT)


@pytest.mark.parametrize("cls", ON_AXES, ids=name_of)
def test_axis_hessian_is_the_derivative_of_the_axis_gradient(cls: Any, markers: np.recarray) -> None:
    c, rng = bent(example(cls)), np.random.default_rng(4)
    weights, before = rng.normal(size=c.equations), rng.normal(size=(12, 24))
    found = before.astype(complex)
    c.axis_hessian(TIME, *markers, weights, found)
    moved = [along(lambda h, d=d: weights @ axis_gradient(c, shifted(markers, PLACE, h * d))) for d in np.eye(24)]
    assert_close(found, before + np.transpose(moved), EXACT)
    linear = [along(lambda h, d=d: axis_gradient(shifted_axis(c, h * d), markers)) for d in np.eye(12)]
    assert not np.any(linear)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cls", NONHOLONOMIC, ids=name_of)
def test_velocity_gradient_is_the_derivative_of_the_velocity_residual(cls: Any, seed: int) -> None:
    i, j = random_markers(np.random.default_rng(seed), "f8")
    for c in variants(example(cls)):
        expected = exact_derivative(velocity_function(c), [TIME, *motion(i), *motion(j)])
        found = np.zeros((c.equations, 36))
        c.velocity_gradient(TIME, i, j, found)
        assert_close(found, expected[:, 1:], EXACT)
        assert np.abs(found).max(axis=1).min() > 0.1  # no equation is empty


def test_axes_are_used_only_if_the_class_says_so(constraint: Any, markers: np.recarray) -> None:
    """Where `uses_axes` is False the axes may not even be computed."""
    axes = np.r_[3:12, 15:24]
    assert constraint.uses_axes or not gradient(constraint, markers)[:, axes].any()


def test_only_those_parts_of_the_markers_are_read_that_are_computed(constraint: Any) -> None:
    """Axes on which no equation depends are left out: with nothing but nan in them all stays as it is."""
    whole = random_markers(np.random.default_rng(3), "f8")
    (table,) = Tables(constraint_system(constraint), None).constraint_tables
    lacking = whole.copy()
    for marker, parts in zip(lacking, (table.rows[0].parts_i, table.rows[0].parts_j), strict=True):
        for k in range(3):
            if not parts >> (k + 1) & 1:
                marker.axes[:, k] = marker.axes_rate[:, k] = np.nan
    expected, found = np.zeros((2, constraint.equations, 24))
    constraint.gradient(TIME, *whole, expected)
    constraint.gradient(TIME, *lacking, found)
    np.testing.assert_array_equal(found, expected)
    for method in (constraint.residual, constraint.curvature):
        np.testing.assert_array_equal(method(TIME, *lacking), method(TIME, *whole))


def constraint_system(constraint: Any) -> mb.System:
    system, i, j = two_bodies()
    system.add(type(constraint).example(i, j))
    return system


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls.joins_points], ids=name_of)
def test_points_that_coincide_are_a_difference(cls: Any) -> None:
    """The loop for such classes does not call their methods: it must give what they give."""
    markers = random_markers(np.random.default_rng(4), "f8")
    constraint, n = example(cls), cls.equations
    difference = markers[1].position - markers[0].position
    np.testing.assert_array_equal(constraint.residual(TIME, *markers), difference[:n])
    g = np.zeros((n, 24))
    constraint.gradient(TIME, *markers, g)
    np.testing.assert_array_equal(g, np.hstack([-np.eye(n, 12), np.eye(n, 12)]))
    np.testing.assert_array_equal(constraint.curvature(TIME, *markers), np.zeros(n))


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_compiled_equals_interpreted(cls: Any) -> None:
    system, i, j = two_bodies()
    constraint = system.add(cls.example(i, j))
    (table,) = Tables(system, None).constraint_tables
    if isinstance(constraint, AxisConstraint):
        constraint = bent(constraint, rate=1.0)
        for name in ("start", "cubic", "cubic_rate"):
            table.rows[name][0] = getattr(constraint, name)
    at = (constraint, table.rows[0]), TIME, *random_markers(np.random.default_rng(1), "f8")
    if cls.nonholonomic:
        assert_compiles(cls.velocity_residual, *at)
        assert_compiles(cls.velocity_gradient, *at, np.zeros((cls.equations, 36)))
        return
    assert_compiles(cls.residual, *at)
    assert_compiles(cls.gradient, *at, np.zeros((cls.equations, 24)))
    assert_compiles(cls.curvature, *at)
    if hasattr(cls, "time_rate"):
        assert_compiles(cls.time_rate, *at)
    assert_compiles(cls.hessian, *at, np.linspace(1.0, 2.0, cls.equations), np.zeros((24, 24)))
    if issubclass(cls, AxisConstraint):
        assert_compiles(cls.axis_gradient, *at, np.zeros((cls.equations, 12)))
        assert_compiles(cls.axis_hessian, *at, np.linspace(1.0, 2.0, cls.equations), np.zeros((12, 24)))
