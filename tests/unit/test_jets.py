"""Exact derivatives of numpy code: `mbframe.jets`.

The independent reference is Cauchy's integral: on a circle s = r exp(iθ) the samples f(x + s u) of an analytic function
have the Fourier coefficients f'·u and ½ uᵀ f'' u. The trapezoidal rule with N points errs by (r/R)^N, R being the
distance of the nearest singularity, and by rounding of about 2 eps |f| / r²: for r = 1/4, N = 64 some 1e-14, so 1e-12
is asked for.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mbframe.jets import (
    Jet,
    derivatives,
    extrapolated_differences,
    gather,
    jacobian,
    second_difference_along,
    seed,
)

Array = NDArray[np.float64]

RNG = np.random.default_rng(20240501)
A, B = RNG.normal(size=(3, 3)) / 4 + np.eye(3), RNG.normal(size=(3, 3)) / 4 - np.eye(3)
P, R = np.array([0.9, -1.3, 1.7]), np.array([-0.8, 1.1, 1.4])


def along(function: Callable[..., Any], arrays: list[Any], direction: Array) -> tuple[Array, Array, Array]:
    """Value, first and second derivative along a direction, from Cauchy's integral."""
    s = 0.25 * np.exp(2j * np.pi * np.arange(64) / 64)
    stops = np.cumsum([np.size(x) for x in arrays])[:-1]
    steps = [u.reshape(np.shape(x)) for x, u in zip(arrays, np.split(direction, stops), strict=True)]
    samples = np.array([function(*(x + h * u for x, u in zip(arrays, steps, strict=True))) for h in s])
    value, first, second = (np.tensordot(s**-k, samples, 1) / s.size for k in range(3))
    return value.real, first.real, 2 * second.real


def reference(function: Callable[..., Any], arrays: list[Any]) -> tuple[Array, Array, Array]:
    """Value, gradient and Hessian of an analytic function; mixed derivatives by polarization."""
    n = sum(np.size(x) for x in arrays)
    unit = np.eye(n)
    lines = [along(function, arrays, u) for u in unit]
    value, gradient = lines[0][0], np.stack([first for _, first, _ in lines], axis=-1)
    hessian = np.empty((*value.shape, n, n))
    for k, m in itertools.combinations_with_replacement(range(n), 2):
        between = along(function, arrays, (unit[k] + unit[m]) / 2)[2]
        hessian[..., k, m] = hessian[..., m, k] = 2 * between - (lines[k][2] + lines[m][2]) / 2
    return value, gradient, hessian


def assert_derivatives(function: Callable[..., Any], arrays: list[Any], analytic: Callable[..., Any]) -> None:
    value, gradient, hessian = derivatives(function, arrays, order=2)
    assert hessian is not None
    for got, wanted in zip((value, gradient, hessian), reference(analytic, arrays), strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * max(1.0, abs(wanted).max()))
    first_order_value, first_order_gradient = jacobian(function, arrays)
    np.testing.assert_allclose(first_order_value, value, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(first_order_gradient, gradient, rtol=1e-14, atol=1e-15)


ELEMENTARY: list[tuple[np.ufunc, Callable[..., Any], list[float]]] = [
    (np.positive, lambda x: x, [0.7, -0.4]),
    (np.negative, lambda x: 0 - x, [0.7, -0.4]),
    (np.absolute, lambda x: np.sqrt(x * x), [0.9, -1.4]),
    (np.square, lambda x: x * x, [0.7, 0.0]),
    (np.reciprocal, lambda x: 1 / x, [0.9, -1.4]),
    (np.sqrt, np.sqrt, [0.9, 2.5]),
    (np.exp, np.exp, [0.7, -0.4]),
    (np.expm1, np.expm1, [0.7, 1e-9]),
    (np.log, np.log, [0.9, 2.5]),
    (np.log2, np.log2, [0.9, 2.5]),
    (np.log10, np.log10, [0.9, 2.5]),
    (np.log1p, np.log1p, [0.9, 1e-9]),
    (np.sin, np.sin, [0.7, -2.4]),
    (np.cos, np.cos, [0.7, -2.4]),
    (np.tan, np.tan, [0.7, -0.4]),
    (np.arcsin, np.arcsin, [0.3, -0.4]),
    (np.arccos, np.arccos, [0.3, -0.4]),
    (np.arctan, np.arctan, [0.7, -2.4]),
    (np.sinh, np.sinh, [0.7, -0.4]),
    (np.cosh, np.cosh, [0.7, -0.4]),
    (np.tanh, np.tanh, [0.7, -0.4]),
    (np.arcsinh, np.arcsinh, [0.7, -0.4]),
    (np.arccosh, np.arccosh, [1.9, 2.5]),
    (np.arctanh, np.arctanh, [0.3, -0.4]),
    (np.deg2rad, lambda x: x * math.pi / 180, [40.0, -10.0]),
    (np.radians, lambda x: x * math.pi / 180, [40.0, -10.0]),
    (np.rad2deg, lambda x: x * 180 / math.pi, [0.7, -0.4]),
    (np.degrees, lambda x: x * 180 / math.pi, [0.7, -0.4]),
]


@pytest.mark.parametrize(("function", "analytic", "x"), ELEMENTARY, ids=lambda v: getattr(v, "__name__", None))
def test_functions_of_one_variable(function: np.ufunc, analytic: Callable[..., Any], x: list[float]) -> None:
    # The square in the argument gives the operand a Hessian of its own.
    assert_derivatives(lambda y: function(y + 0.1 * (y - x) ** 2), [x], lambda y: analytic(y + 0.1 * (y - x) * (y - x)))


def polar_angle(y: Any, x: Any) -> Any:
    return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))


BINARY: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (np.add, lambda x, y: x + y),
    (np.subtract, lambda x, y: x - y),
    (np.multiply, lambda x, y: x * y),
    (np.divide, lambda x, y: x / y),
    (np.hypot, lambda x, y: np.sqrt(x * x + y * y)),
    (np.arctan2, polar_angle),
    (np.maximum, lambda x, y: [x[0], y[1], y[2], y[3]]),
    (np.minimum, lambda x, y: [y[0], x[1], x[2], x[3]]),
    (np.remainder, lambda x, y: x - y * np.array([-2, -2, 0, 1])),
    (lambda x, y: np.power(np.abs(x), y), lambda x, y: np.exp(y * np.log(np.sqrt(x * x)))),
]


@pytest.mark.parametrize(("function", "analytic"), BINARY, ids=lambda v: getattr(v, "__name__", None))
def test_functions_of_two_variables(function: Callable[..., Any], analytic: Callable[..., Any]) -> None:
    x, y = np.array([0.9, -1.3, 1.1, -1.2]), np.array([-0.8, 1.1, 1.4, -0.9])  # one point in each quadrant
    assert_derivatives(function, [x, y], analytic)
    assert_derivatives(lambda v: function(v, y), [x], lambda v: analytic(v, y))
    assert_derivatives(lambda v: function(x, v), [y], lambda v: analytic(x, v))


def test_operands_that_depend_on_the_same_variables_and_broadcast() -> None:
    def function(x: Any, y: Any) -> Any:
        return (x[:, None] * y / (4 + y @ x)) ** 2 - x[1] * y

    assert_derivatives(function, [P, R], function)


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 3, 0.5, 2.5])
def test_powers_with_constant_exponent(exponent: float) -> None:
    x = [0.9, 1.7] if exponent % 1 else [0.9, -1.7]
    assert_derivatives(lambda v: v**exponent, [x], lambda v: v ** complex(exponent))
    assert_derivatives(lambda v: 2.0**v, [x], lambda v: np.exp(v * math.log(2.0)))


@pytest.mark.parametrize(("exponent", "first", "second"), [(0, 0, 0), (1, 1, 0), (2, 0, 2), (3, 0, 0)])
def test_integer_powers_of_zero(exponent: int, first: float, second: float) -> None:
    _, gradient, hessian = derivatives(lambda x: x**exponent, [0.0])
    np.testing.assert_array_equal(gradient, [first])
    np.testing.assert_array_equal(hessian, [[second]])


PRODUCTS: list[tuple[str, Callable[..., Any], list[Array]]] = [
    ("vector @ vector", operator.matmul, [P, R]),
    ("matrix @ vector", operator.matmul, [A, P]),
    ("vector @ matrix", operator.matmul, [P, A]),
    ("matrix @ matrix", operator.matmul, [A[:, :2], B[:2]]),
    ("stack @ matrix", operator.matmul, [np.stack([A[:2, :2], B[:2, :2]]), A[:2, :2]]),
    ("stack @ vector", operator.matmul, [np.stack([A[:2, :2], B[:2, :2]]), P[:2]]),
    ("dot", np.dot, [A, P]),
    ("dot with a number", np.dot, [np.array(0.3), P]),
    ("inner", np.inner, [P, R]),
    ("outer", np.outer, [P, R]),
    ("cross", np.cross, [P, R]),
    ("cross of rows", np.cross, [A[:2], P]),
    ("einsum", functools.partial(np.einsum, "i,ij,j->"), [P, A, R]),
    ("einsum implicit", functools.partial(np.einsum, "ji, j"), [A, P]),
    ("einsum ellipsis", functools.partial(np.einsum, "...i,i"), [A, P]),
    ("einsum trace", functools.partial(np.einsum, "ii,j->j"), [A, P]),
    ("trace of product", lambda x, y: np.trace(x @ y), [A[:2], B[:, :2]]),
    ("sum", lambda x, y: np.sum(x * y, axis=0), [A[:2], P]),
    ("sum keepdims", lambda x, y: np.sum(x * y, axis=(-1,), keepdims=True), [A[:2], P]),
    ("mean", lambda x, y: np.mean(x * y, axis=1), [A[:2], P]),
    ("solve", np.linalg.solve, [A, P]),
    ("solve for columns", np.linalg.solve, [A[:2, :2], B[:2]]),
    ("inverse", lambda x: np.linalg.inv(x), [A]),
    ("determinant", lambda x: np.linalg.det(x), [A]),
]


@pytest.mark.parametrize(("function", "arrays"), [p[1:] for p in PRODUCTS], ids=[p[0] for p in PRODUCTS])
def test_products_and_small_linear_algebra(function: Callable[..., Any], arrays: list[Array]) -> None:
    assert_derivatives(function, arrays, function)
    for k in range(len(arrays) if len(arrays) > 1 else 0):  # one operand varies, the others are plain arrays

        def partly(x: Any, k: int = k) -> Any:
            return function(*arrays[:k], x, *arrays[k + 1 :])

        assert_derivatives(partly, [arrays[k]], partly)


def test_determinant_of_a_singular_matrix() -> None:
    matrix = np.diag([2.0, 3.0, 0.0])
    _, gradient, hessian = derivatives(np.linalg.det, [matrix])
    np.testing.assert_array_equal(gradient.reshape(3, 3), np.diag([0.0, 0.0, 6.0]))  # the cofactors
    assert hessian is not None
    assert hessian[0, 8] == 3.0  # ∂²/∂x₁₁∂x₃₃ = x₂₂
    assert hessian[2, 6] == -3.0  # ∂²/∂x₁₃∂x₃₁ = -x₂₂


@pytest.mark.parametrize(
    ("function", "analytic"),
    [
        (np.linalg.norm, lambda x: np.sqrt(np.sum(x * x))),
        (lambda x: np.linalg.norm(x, axis=1), lambda x: np.sqrt(np.sum(x * x, axis=1))),
        (lambda x: np.linalg.norm(x[0], 2), lambda x: np.sqrt(x[0] @ x[0])),
        (lambda x: np.linalg.norm(x, axis=0, keepdims=True), lambda x: np.sqrt(np.sum(x * x, axis=0, keepdims=True))),
        (lambda x: np.linalg.norm(np.array([x[0, 0], 0.0, x[1, 2]])), lambda x: np.sqrt(x[0, 0] ** 2 + x[1, 2] ** 2)),
        (np.max, lambda x: x[1, 2]),
        (lambda x: np.min(x, axis=0), lambda x: [x[1, 0], x[0, 1], x[0, 2]]),
        (lambda x: x.max(axis=1, keepdims=True), lambda x: [[x[0, 0]], [x[1, 2]]]),
        (lambda x: max(x[0, 0], x[1, 2], 0.3), lambda x: x[1, 2]),
        (lambda x: min(x[0, 0] ** 2, x[1, 2]), lambda x: x[0, 0] ** 2),
        (lambda x: np.where(x > 0, x * x, 3.0), lambda x: [[x[0, 0] ** 2, 3, 3], [3, 3, x[1, 2] ** 2]]),
        (lambda x: np.clip(x[0], -1.0, 0.5), lambda x: [0.5 + 0 * x[0, 0], x[0, 1], -1.0]),
        (lambda x: x.clip(0.0, None)[0], lambda x: [x[0, 0], 0, 0]),
        (
            lambda x: np.interp(x[0], [-2, 0, 2], [5, 1, 7]),
            lambda x: [1 + 3 * x[0, 0], 1 - 2 * x[0, 1], 1 - 2 * x[0, 2]],
        ),
        (lambda x: np.sign(x[0]) * x[0] ** 3, lambda x: [x[0, 0] ** 3, -(x[0, 1] ** 3), -(x[0, 2] ** 3)]),
        (lambda x: (x[0] + 7) // 2 * x[1], lambda x: [3 * x[1, 0], 3 * x[1, 1], 2 * x[1, 2]]),
        (lambda x: abs(x[0, 1]) + math.pi, lambda x: math.pi - x[0, 1]),
        (lambda x: sum(x[0]) / x.sum(), lambda x: np.sum(x[0]) / np.sum(x)),
    ],
)
def test_functions_with_kinks_away_from_them(function: Callable[..., Any], analytic: Callable[..., Any]) -> None:
    assert_derivatives(function, [np.array([[0.9, -0.6, -1.9], [-1.4, -0.3, 2.1]])], analytic)


def test_magnet_has_its_closed_form() -> None:
    # F = s d / r³, d = a - b: F' = s (1/r³ - 3 d d/r⁵), F'' = s (15 d d d/r⁷ - 3 (d 1 + …)/r⁵); b counts negative.
    a, b, strength = np.array([0.0, 0.1, 5.0]), np.array([4.0, -0.7, 0.3]), 3.0

    def wrench(i: Any, j: Any) -> tuple[Any, Any]:
        d = i - j
        return strength * d / np.linalg.norm(d) ** 3, np.zeros(3)

    value, gradient, hessian = derivatives(wrench, [a, b])
    d, one = a - b, np.eye(3)
    r = math.sqrt(d @ d)
    first = strength * (one / r**3 - 3 * np.outer(d, d) / r**5)
    spread = np.einsum("ab,c->abc", one, d) + np.einsum("ac,b->abc", one, d) + np.einsum("bc,a->abc", one, d)
    second = strength * (15 * np.einsum("a,b,c->abc", d, d, d) / r**7 - 3 * spread / r**5)
    assert hessian is not None
    np.testing.assert_allclose(value, [strength * d / r**3, np.zeros(3)], rtol=1e-14)
    np.testing.assert_allclose(gradient[0], np.hstack([first, -first]), rtol=0, atol=1e-14 * abs(first).max())
    signs = np.kron([[1, -1], [-1, 1]], np.ones((3, 3)))
    np.testing.assert_allclose(hessian[0], signs * np.tile(second, (2, 2)), rtol=0, atol=1e-14 * abs(second).max())
    assert not gradient[1].any()
    assert not hessian[1].any()


def test_residual_of_two_markers() -> None:
    # C = a₀·b₁ over the 3×3 axes of two markers: the Hessian couples a_k0 with b_k1, and nothing else.
    value, gradient, hessian = derivatives(lambda a, b: [a[:, 0] @ b[:, 1]], [A, B])
    wanted = np.zeros((18, 18))
    for k in range(3):
        wanted[3 * k, 9 + 3 * k + 1] = wanted[9 + 3 * k + 1, 3 * k] = 1.0
    np.testing.assert_allclose(value, [A[:, 0] @ B[:, 1]], rtol=1e-15)
    assert gradient.shape == (1, 18)
    np.testing.assert_array_equal(gradient[0, 0:9:3], B[:, 1])
    np.testing.assert_array_equal(gradient[0, 10::3], A[:, 0])
    np.testing.assert_array_equal(hessian, wanted[None])


def test_hessian_is_symmetric() -> None:
    _, _, hessian = derivatives(
        lambda x, y: np.hypot(x, y) ** y * np.arctan2(y, x @ x) / np.linalg.norm(y), [P, abs(R)]
    )
    assert hessian is not None
    np.testing.assert_allclose(hessian, np.swapaxes(hessian, -1, -2), rtol=1e-14)


def random_jet(*shape: int, order: int = 2) -> Jet:
    return Jet(*(RNG.normal(size=shape + (4,) * k) for k in range(order + 1)))


LINEAR: list[Callable[..., Any]] = [
    lambda x: x.T,
    lambda x: np.transpose(x),
    lambda x: x.transpose(1, 0),
    lambda x: x.transpose((1, 0)),
    lambda x: x.reshape(3, 2),
    lambda x: x.reshape((6,)),
    lambda x: np.reshape(x, (-1, 1)),
    lambda x: x.ravel(),
    lambda x: x.flatten(),
    lambda x: x.copy(),
    lambda x: np.expand_dims(x, 1),
    lambda x: np.squeeze(x[:, :1]),
    lambda x: np.moveaxis(x, 0, 1),
    lambda x: np.swapaxes(x, 0, 1),
    lambda x: np.flip(x, axis=1),
    lambda x: np.roll(x, 1),
    lambda x: np.tile(x, 2),
    lambda x: np.repeat(x, 2, axis=0),
    lambda x: np.take(x, [2, 0], axis=1),
    lambda x: np.delete(x, 1, axis=1),
    lambda x: np.broadcast_to(x, (2, 2, 3)),
    lambda x: np.atleast_1d(x[0, 0]),
    lambda x: np.diagonal(x),
    lambda x: np.diag(x[0]),
    lambda x: np.tril(x),
    lambda x: np.triu(x),
    lambda x: np.split(x, 3, axis=1)[1],
    lambda x: np.stack([x[0], 0 * x[0], x[1]]),
    lambda x: np.stack([x[0], x[1]], axis=-1),
    lambda x: np.concatenate([x, 0 * x[:1]]),
    lambda x: np.concatenate((x[0], [0.0]), axis=0),
    lambda x: np.vstack((x[0], np.zeros(3), x)),
    lambda x: np.hstack([x[0], x[1, :2], 0.0]),
    lambda x: np.column_stack([x[0], x[1]]),
    lambda x: np.dstack([x, x]),
    lambda x: np.block([[x, np.zeros((2, 1))], [x[1:], 0 * x[1:, :1]]]),
    lambda x: np.append(x, x[0]),
    lambda x: np.where([True, False, True], x, 0.0),
    lambda x: x[1],
    lambda x: x[1, 2],
    lambda x: x[-1:, ::2],
    lambda x: x[..., 1],
    lambda x: x[1, ...],
    lambda x: x[:, None, 1],
    lambda x: x[[0, 1, 0], [2, 2, 1]],
    lambda x: x[..., [2, 0]],
    lambda x: x[np.array([[True, False, True], [False, True, False]])],
    lambda x: np.stack(list(x)),
    lambda x: np.stack([row[1] for row in x]),
    lambda x: x.sum(),
    lambda x: x.sum(axis=-1),
    lambda x: np.mean(x, axis=(0, 1)),
    lambda x: x.trace(),
    lambda x: x.dot([1.0, 2.0, 3.0]),
    lambda x: [[1.0, -2.0]] @ x,
    lambda x: np.zeros_like(x),
    lambda x: 0.5 * x - x / 4.0,
]


@pytest.mark.parametrize("function", LINEAR)
@pytest.mark.parametrize("order", [1, 2])
def test_linear_functions_act_alike_on_values_and_derivatives(function: Callable[..., Any], order: int) -> None:
    jet = random_jet(2, 3, order=order)
    result = function(jet)
    assert isinstance(result, Jet)
    assert result.order == order
    np.testing.assert_allclose(result.value, function(jet.value), rtol=1e-15, atol=1e-15)
    for k in range(4):
        np.testing.assert_allclose(result.gradient[..., k], function(jet.gradient[..., k]), rtol=1e-15, atol=1e-15)
        for m in range(4 if order == 2 else 0):
            np.testing.assert_allclose(result.parts[2][..., k, m], function(jet.parts[2][..., k, m]), atol=1e-15)


def test_values_are_seen_by_comparisons_and_step_functions() -> None:
    x = seed([P])[0]
    assert (x.shape, x.ndim, x.size, len(x), x.dtype) == ((3,), 1, 3, 3, np.dtype(float))
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((3,), 1, 3)
    for got, wanted in [
        (x > 0, P > 0),
        (x <= [0.9, 0, 0], P <= [0.9, 0, 0]),
        (x == P, [True] * 3),
        (x != x, [False] * 3),
        (np.isfinite(x), [True] * 3),
        (np.sign(x), np.sign(P)),
        (np.floor(x), np.floor(P)),
        (np.argsort(x), np.argsort(P)),
        (np.argmax(a=x), 2),
        (np.round(x, 1), np.round(P, 1)),
    ]:
        assert not isinstance(got, Jet)
        np.testing.assert_array_equal(got, wanted)
    assert np.allclose(x, P)
    assert x.any()
    assert x[0]
    assert not (x[0] - x[0])
    assert repr(x) == "Jet([ 0.9 -1.3  1.7], 3 variables, order 1)"


def test_seeds_are_unit_rows() -> None:
    position, axes, angle = seed([P, A, 0.5], order=2)
    assert [jet.shape for jet in (position, axes, angle)] == [(3,), (3, 3), ()]
    rows = np.concatenate([jet.gradient.reshape(-1, 13) for jet in (position, axes, angle)])
    np.testing.assert_array_equal(rows, np.eye(13))
    assert axes.hessian is not None
    assert axes.hessian.shape == (3, 3, 13, 13)
    assert not axes.hessian.any()
    assert seed([P])[0].hessian is None
    assert seed([]) == []
    with pytest.raises(ValueError, match="order 1 or 2"):
        seed([P], order=3)


def test_seeds_do_not_share_memory_with_their_values() -> None:
    values = P.copy()
    jet = seed([values])[0]
    jet[0] = 7.0
    assert values[0] == P[0]


def test_item_assignment() -> None:
    x = seed([P], order=2)[0]
    out: Any = np.zeros_like(x)
    out[0] = x[0] * x[1]
    out[1:] = [x[2], 4.0]
    np.testing.assert_array_equal(out.value, [P[0] * P[1], P[2], 4.0])
    np.testing.assert_array_equal(out.gradient, [[P[1], P[0], 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(out.hessian[0], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    out[...] = 1.0
    assert not out.gradient.any()
    assert not out.hessian.any()
    out[out > 0] = x
    np.testing.assert_array_equal(out.gradient, np.eye(3))


def test_slices_are_views_and_elements_are_copies() -> None:
    x = seed([P])[0]
    element, part = x[0], x[1:]
    part += 2 * part
    x[0] = 5.0
    np.testing.assert_allclose(x.value, [5.0, 3 * P[1], 3 * P[2]])
    np.testing.assert_array_equal(x.gradient, np.diag([0.0, 3.0, 3.0]))
    assert element.value == P[0]
    np.testing.assert_array_equal(element.gradient, [1, 0, 0])
    alias = element
    element *= 2.0
    assert alias.value == P[0]
    assert element.gradient[0] == 2.0
    with pytest.raises(TypeError, match="item assignment"):
        element[()] = 1.0


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x.reshape(6), lambda x: x.ravel(), lambda x: np.flip(x)])
def test_copies_in_place_of_views_refuse_writes(view: Callable[[Jet], Jet]) -> None:
    with pytest.raises(ValueError, match="read-only"):
        view(random_jet(2, 3))[0] = 1.0
    view(random_jet(2, 3)).copy()[0] = 1.0


RETURNED: list[Callable[[Any], Any]] = [
    lambda x: x * x,
    lambda x: [x[0] ** 2, x[1] ** 2, x[2] ** 2],
    lambda x: np.array([x[0] ** 2, x[1] ** 2, x[2] ** 2]),
    lambda x: np.asarray(x) * x,
    lambda x: np.asarray(x) * np.asarray(x),
    lambda x: np.array([x[0], 0.0, x[2]]) * x + np.array([0, x[1], 0]) * x,
    lambda x: x * np.array([x[0], 0.0, 0]) + np.array([0, x[1], x[2]]) * x,
    lambda x: np.diag(x) @ np.array([x[0], x[1], x[2]]),
    lambda x: np.array([[x[0], 0, 0], [0, x[1], 0], [0, 0, x[2]]]) @ x,
    lambda x: np.concatenate([x[:1] ** 2, np.array([x[1] ** 2, x[2] ** 2])]),
    lambda x: [0, 0, x[2] * x[2]] - np.cross(np.cross(x * x, [0, 0, 1]), np.array([0.0, 0.0, 1.0])),
]


@pytest.mark.parametrize("function", RETURNED)
@pytest.mark.parametrize("order", [1, 2])
def test_gather_takes_whatever_a_function_returns(function: Callable[[Any], Any], order: int) -> None:
    value, gradient, hessian = derivatives(function, [P], order)
    np.testing.assert_allclose(value, P**2, rtol=1e-15)
    np.testing.assert_allclose(gradient, 2 * np.diag(P), rtol=1e-15)
    if order == 2:
        wanted = np.zeros((3, 3, 3))
        wanted[range(3), range(3), range(3)] = 2.0
        np.testing.assert_array_equal(hessian, wanted)
    else:
        assert hessian is None


def test_gather_takes_constants_and_nested_lists() -> None:
    x = seed([P], order=2)[0]
    constant = gather(3, 3, 2)
    assert (constant.shape, constant.gradient.shape, constant.parts[2].shape) == ((), (3,), (3, 3))
    assert not constant.gradient.any()
    assert gather([], 3, 1).gradient.shape == (0, 3)
    nested = gather([(x[0], 1), [2.0, x[2]]], 3, 2)
    np.testing.assert_array_equal(nested.value, [[P[0], 1], [2, P[2]]])
    np.testing.assert_array_equal(nested.gradient, [[[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]]])
    assert gather((x, np.zeros(3)), 3, 2).shape == (2, 3)


@pytest.mark.parametrize("value", [None, "1.0", 1j, [1.0, None], object()])
def test_gather_refuses_what_is_not_a_number(value: Any) -> None:
    with pytest.raises(TypeError):
        gather(value, 3, 1)


def test_jets_of_different_seeds_do_not_mix() -> None:
    x = seed([P])[0]
    for other in (seed([P, 1.0])[0], seed([P], order=2)[0]):
        with pytest.raises(ValueError, match="different seeds"):
            x + other
        with pytest.raises(ValueError, match="different seeds"):
            np.stack([x, other])
        with pytest.raises(ValueError, match="different seeds"):
            gather(other, 3, 1)


def write_item(x: Jet) -> None:
    out = np.zeros(3)
    out[0] = x[0]


def write_slice(x: Jet) -> None:
    out = np.zeros(3)
    out[:] = x


def write_in_place(x: Jet) -> None:
    out = np.zeros(3)
    out += x


LOUD: list[Callable[[Jet], Any]] = [
    write_item,
    write_slice,
    write_in_place,
    lambda x: float(x[0]),
    lambda x: int(x[0]),
    lambda x: complex(x[0]),
    lambda x: round(x[0]),
    lambda x: math.sqrt(x[0]),
    lambda x: math.hypot(*x),
    lambda x: f"{x[0]:.3f}",
    lambda x: np.float64(x[0]),
    lambda x: np.array([x[0], 1.0], dtype=float),
    lambda x: np.asarray(x, dtype=float),
    lambda x: np.sin(np.array([x[0], 1.0])),
    lambda x: np.exp(x, out=np.zeros(3)),
    lambda x: np.add.reduce(x),
    lambda x: np.add(x, 1.0, where=[True, False, True]),
    lambda x: np.linalg.eigvalsh(np.diag(x)),
    lambda x: np.linalg.norm(x, 1),
    lambda x: np.linalg.norm(np.diag(x), 2),
    lambda x: np.linalg.det(np.diag([*x, *x])),
    lambda x: np.cross(x[:2], x[:2]),
    lambda x: np.dot(np.ones((2, 2, 3)), x),
    lambda x: np.stack(arrays=[x, x]),
    lambda x: np.where(x[0], 1.0, 2.0),
    lambda x: np.copyto(np.zeros(3), x),
    lambda x: x * 1j,
]


@pytest.mark.parametrize("function", LOUD)
def test_what_would_lose_derivatives_fails(function: Callable[[Jet], Any]) -> None:
    # numpy turns the TypeError of `float` into a ValueError where it writes into an array.
    with pytest.raises((TypeError, ValueError)):
        derivatives(function, [P])


def test_conversion_says_what_to_do_instead() -> None:
    x = seed([P])[0]
    with pytest.raises(TypeError, match="would drop its derivatives: use numpy functions instead of math"):
        math.cos(x[0])
    with pytest.raises(AttributeError, match="no attribute 'item'"):
        x.item()


def test_kinks_take_the_mean_of_the_one_sided_derivatives() -> None:
    zero = np.zeros(2)
    cases: list[tuple[Callable[..., Any], Array]] = [
        (np.abs, np.zeros((2, 2))),
        (np.linalg.norm, np.zeros(2)),
        (lambda x: np.hypot(x[0], x[1]), np.zeros(2)),
        (lambda x: np.arctan2(x[0], x[1]), np.zeros(2)),
        (lambda x: np.maximum(x, 0.0), np.eye(2) / 2),
        (lambda x: np.minimum(0.0, x), np.eye(2) / 2),
        (lambda x: np.maximum(x[0], 3 * x[1]), np.array([0.5, 1.5])),
        (np.max, np.array([0.5, 0.5])),
        (lambda x: np.clip(x, 0.0, 1.0), np.eye(2) / 2),
        (lambda x: np.interp(x, [-1, 0, 1], [0, 1, 5]), np.eye(2) * 2.5),
    ]
    for function, slope in cases:
        _, gradient, hessian = derivatives(function, [zero])
        np.testing.assert_array_equal(gradient, slope)
        assert hessian is not None
        assert not hessian.any()
    for function in (np.abs, np.linalg.norm, lambda x: np.maximum(x, 0.0)):
        np.testing.assert_array_equal(extrapolated_differences(function, [zero])[1], jacobian(function, [zero])[1])


def test_infinite_slopes_stay_infinite_and_vanish_times_zero() -> None:
    np.testing.assert_array_equal(jacobian(np.sqrt, [np.zeros(2)])[1], [[np.inf, 0.0], [0.0, np.inf]])
    np.testing.assert_array_equal(jacobian(lambda x: np.sqrt(x @ x), [np.zeros(2)])[1], [0.0, 0.0])


def test_values_warn_like_numpy_and_derivatives_do_not() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        derivatives(lambda x: 1.0 / x, [0.0])
    _, gradient, hessian = derivatives(np.tanh, [np.array([-800.0, 800.0])])
    assert not gradient.any()
    assert hessian is not None
    assert not hessian.any()


def spring(a: Any, b: Any) -> Any:
    d = a - b
    length = np.sqrt(d @ d)
    return np.tanh(length - 1.0) * d / length


def with_math(x: Any) -> Any:
    return [math.sqrt(x[0]) * math.sin(x[1]), math.acos(x[1])]


def test_extrapolated_differences_are_good_to_ten_digits() -> None:
    arrays = [P, R]
    value, gradient = extrapolated_differences(spring, arrays)
    wanted_value, wanted, _ = reference(spring, arrays)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-13)
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=1e-11)
    number, slope = extrapolated_differences(lambda x: x[0] ** 3, [[2.0, 5.0]])
    assert number == 8.0
    np.testing.assert_allclose(slope, [12.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_differences_follow_the_scale_of_the_variables(unit: float) -> None:
    x, u = np.array([0.3, -0.4]), np.array([2.0, 1.0])
    _, gradient = extrapolated_differences(lambda y: np.sin(y / unit), [x * unit], scale=unit)
    np.testing.assert_allclose(gradient * unit, np.diag(np.cos(x)), rtol=0, atol=1e-11)
    second = second_difference_along(lambda y: np.sin(y / unit), [x * unit], [u * unit], scale=unit)
    np.testing.assert_allclose(second, -np.sin(x) * u**2, rtol=0, atol=1e-10)


def test_differences_of_functions_that_cannot_take_jets() -> None:
    x = np.array([0.06, 0.95])  # both nearer to the end of the domain than the first step
    with pytest.raises(TypeError):
        jacobian(with_math, [x])
    _, gradient = extrapolated_differences(with_math, [x])
    root = math.sqrt(x[0])
    wanted = [[math.sin(x[1]) / (2 * root), root * math.cos(x[1])], [0.0, -1 / math.sqrt(1 - x[1] ** 2)]]
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=1e-10)


def test_differences_see_the_near_side_of_a_kink() -> None:
    np.testing.assert_allclose(extrapolated_differences(np.abs, [[0.01]])[1], [[1.0]], rtol=1e-12)
    np.testing.assert_array_equal(extrapolated_differences(lambda x: np.maximum(x, 0), [[-0.05]])[1], [[0.0]])


def test_differences_are_not_a_number_where_nothing_can_be_computed() -> None:
    assert np.isnan(extrapolated_differences(lambda x: math.sqrt(x[0]), [[0.0]])[1]).all()
    with pytest.raises(TypeError, match="real numbers"):
        extrapolated_differences(lambda x: None, [P])


def test_second_difference_is_the_quadratic_form_of_the_hessian() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        arrays = [rng.normal(size=3), rng.normal(size=3)]
        u = rng.normal(size=6)
        _, _, wanted = along(spring, arrays, u / 16)  # a short direction keeps the circle away from zero length
        got = second_difference_along(spring, arrays, [u[:3], u[3:]])
        np.testing.assert_allclose(got, 256 * wanted, rtol=0, atol=2e-10 * max(1.0, abs(256 * wanted).max()))
        np.testing.assert_array_equal(second_difference_along(spring, arrays, u), got)
    np.testing.assert_array_equal(second_difference_along(spring, arrays, np.zeros(6)), np.zeros(3))


def test_differences_leave_their_arguments_alone() -> None:
    def greedy(x: Array) -> Array:
        x *= 2.0
        return x

    x = P.copy()
    np.testing.assert_allclose(extrapolated_differences(greedy, [x])[1], 2 * np.eye(3), rtol=1e-12)
    np.testing.assert_array_equal(x, P)
