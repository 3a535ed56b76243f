"""Arrays that carry exact first and second derivatives through a user's numpy code.

A `Jet` is an array of shape S together with its gradient, shape S + (n,), and its Hessian, shape S + (n, n), with
respect to n seed variables. Every operation applies the chain rule

    y = f(x₁, x₂, …):   ∇y = Σ f_k ∇x_k,    ∇²y = Σ f_k ∇²x_k + Σ f_kl ∇x_k ⊗ ∇x_l,

so derivatives are exact to rounding, also through `abs`, `norm`, `arctan2` and `max`, where a complex step is silently
wrong. numpy hands its functions over through two protocols (`__array_ufunc__`, `__array_function__`); a function not
known here raises a `TypeError`, and so does all that would drop the derivatives (`float`, `math.sqrt`, writing into a
plain array). The caller may then fall back on `extrapolated_differences`.

Where a function has no derivative the mean of the one-sided ones is used, which is what a central difference sees:
0 for `abs` and `norm` at zero, ½ for either operand of `maximum` at a tie; `hypot` and `arctan2` at the origin give 0.
Second derivatives are 0 there. An infinite derivative (`sqrt` at 0) stays infinite, except that 0·∞ counts as 0.
Values warn as they do in plain numpy; derivatives never warn.
"""

from __future__ import annotations

import functools
import itertools
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_LN2, _LN10, _DEGREE = np.log(2.0), np.log(10.0), np.pi / 180.0


class Jet(NDArrayOperatorsMixin):
    """An array with its derivatives with respect to n seed variables; made by `seed` and `gather`.

    It behaves like a numpy array of floats: basic slices are views, `+=` works in place, comparisons look at the values
    and give plain booleans. What numpy would return as another kind of view (`.T`, `reshape`, …) is a read-only copy.

    Parameters
    ----------
    value : array of shape S
    gradient : array of shape S + (n,)
    hessian : array of shape S + (n, n), or None for derivatives of first order only
    """

    __slots__ = ("gradient", "hessian", "order", "parts", "value", "variables")

    def __init__(self, value: ArrayLike, gradient: Array, hessian: Array | None = None) -> None:
        self.value: Array = np.asarray(value, dtype=float)
        self.gradient = gradient
        self.hessian = hessian
        # Part k has k derivative axes, each of length `variables`, behind the axes of the value.
        self.parts: tuple[Array, ...] = (self.value, gradient) + (() if hessian is None else (hessian,))
        self.variables = gradient.shape[-1]
        self.order = len(self.parts) - 1

    @property
    def T(self) -> Jet:
        return _rearranged(np.transpose, self)

    def reshape(self, *shape: Any) -> Jet:
        return _rearranged(np.reshape, self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Jet:
        return _rearranged(np.transpose, self, (axes[0] if len(axes) == 1 else axes) or None)

    def flatten(self) -> Jet:
        return _rearranged(np.ndarray.flatten, self)

    def compose(self, *derivatives: Callable[[Any], Any]) -> Jet:
        """f(x) of a number x; `derivatives` are f, f' and, for jets of second order, f''."""
        if self.ndim or len(derivatives) <= self.order:
            raise TypeError(f"f(x) of a Jet needs a number and {self.order} derivatives of f")
        value, *partials = (f(float(self.value)) for f in derivatives[: self.order + 1])
        return _chain(value, [self], (*partials, None)[:2])

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype"):
            return getattr(self.value, name)
        if name in _METHODS:
            return functools.partial(getattr(np, name), self)
        raise AttributeError(f"a Jet has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"Jet({self.value}, {self.variables} variables, order {self.order})"

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Jet]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        raise TypeError(
            "a Jet cannot become a plain float, that would drop its derivatives: use numpy functions instead of math, "
            "and np.array([...]), np.stack or np.zeros_like(<Jet>) instead of writing into an array of floats"
        )

    __int__ = __complex__ = __float__

    def __getitem__(self, key: Any) -> Jet:
        item = Jet(*(part[_index(key, k)] for k, part in enumerate(self.parts)))
        # A single element is a copy, like numpy's scalars: later writes into the array must not reach it.
        return item if item.ndim else Jet(*(part.copy() for part in item.parts))

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.ndim == 0:
            raise TypeError("a Jet of shape () stands for a number and does not support item assignment")
        for k, (part, new) in enumerate(zip(self.parts, gather(value, self.variables, self.order).parts, strict=True)):
            part[_index(key, k)] = new

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method != "__call__" or kwargs:
            return NotImplemented
        if out is not None and not isinstance(out[0], Jet):
            raise TypeError(
                f"np.{ufunc.__name__} cannot write a Jet into a plain array, that would drop its derivatives"
            )
        operands = [_operand(x, self.variables, self.order) for x in inputs]
        values = [_value(x) for x in operands]
        if ufunc in _STEPS and out is None:
            return ufunc(*values)
        if ufunc is np.matmul:
            result = _matmul(*operands)
        elif ufunc in _PARTIALS:
            value = ufunc(*values)
            with np.errstate(all="ignore"):
                partials = _PARTIALS[ufunc](*values, value)
            result = _chain(value, operands, partials)
        else:
            return NotImplemented
        # A Jet of shape () stands for numpy's scalars, which `x += y` binds anew instead of changing them.
        if out is None or out[0].ndim == 0:
            return result
        out[0][...] = result
        return out[0]

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if function not in _FUNCTIONS:
            return NotImplemented
        operands = (
            _operand(x, self.variables, self.order) if isinstance(x, np.ndarray) and x.dtype == object else x
            for x in args
        )
        return _FUNCTIONS[function](*operands, **kwargs)


def seed(values: Sequence[ArrayLike], order: int = 1) -> list[Jet]:
    """Jets of the given arrays, their seed variables being all elements of all arrays, one after the other.

    Parameters
    ----------
    values : the arrays x₁, x₂, …; n is the sum of their sizes
    order : 1 for gradients, 2 for Hessians as well
    """
    if order not in (1, 2):
        raise ValueError(f"derivatives are of order 1 or 2, not {order}")
    arrays = [np.array(value, dtype=float) for value in values]
    stops = np.cumsum([array.size for array in arrays])
    jets = []
    for array, stop in zip(arrays, stops, strict=True):
        n = stops[-1]
        gradient = np.eye(n)[stop - array.size : stop].reshape((*array.shape, n))
        jets.append(Jet(array, gradient, np.zeros((*array.shape, n, n)) if order == 2 else None))
    return jets


def gather(value: Any, n: int, order: int) -> Jet:
    """One Jet from whatever a user's function returned: a Jet, numbers, nested lists or object arrays of both.

    `np.array([jet, 0.0])` is an array of Python objects, since numpy does not hand nested lists over; it becomes a Jet
    here. Constants get zero derivatives with respect to the n variables.
    """
    operand = _operand(value, n, order)
    if isinstance(operand, Jet):
        return operand
    return Jet(operand, *(np.zeros(operand.shape + (n,) * k) for k in range(1, order + 1)))


def derivatives(
    function: Callable[..., Any], arrays: Sequence[ArrayLike], order: int = 2
) -> tuple[Array, Array, Array | None]:
    """Value, gradient and Hessian (None for order 1) of `function(*arrays)`, exact to rounding.

    The variables are the elements of all arrays in sequence. Raises whatever the function raises when it cannot take
    Jets, usually a `TypeError`.
    """
    jets = seed(arrays, order)
    result = gather(function(*jets), sum(jet.size for jet in jets), order)
    return result.value, result.gradient, result.hessian


def jacobian(function: Callable[..., Any], arrays: Sequence[ArrayLike]) -> tuple[Array, Array]:
    """Value and gradient of `function(*arrays)`, exact to rounding; the exact twin of `extrapolated_differences`."""
    value, gradient, _ = derivatives(function, arrays, order=1)
    return value, gradient


def extrapolated_differences(
    function: Callable[..., Any], arrays: Sequence[ArrayLike], scale: float = 1.0
) -> tuple[Array, Array]:
    """Value and gradient of `function(*arrays)` from central differences, extrapolated to vanishing step.

    For a smooth function about ten digits are right, provided that it varies over distances of the order of `scale`
    (in the units of the variables). The gradient is NaN where no step gave a finite value.
    """
    value, moved, size = _around(function, arrays)

    def slope(u: Array, step: float) -> tuple[Array, Array]:
        forward, backward = moved(step * u), moved(-step * u)
        return (forward - backward) / (2.0 * step), (abs(forward) + abs(backward)) / (2.0 * step)

    columns = [_extrapolated(functools.partial(slope, u), scale / 8.0) for u in np.eye(size)]
    return value, np.stack(columns, axis=-1)


def second_difference_along(
    function: Callable[..., Any],
    arrays: Sequence[ArrayLike],
    direction: Sequence[ArrayLike] | Array,
    scale: float = 1.0,
) -> Array:
    """Second derivative d²f(x + s u)/ds² at s = 0 along a direction u, from extrapolated central differences.

    This is uᵀ ∇²f u: for the residual C of a constraint and u = x', the part of C'' that is quadratic in velocities.

    Parameters
    ----------
    direction : arrays of the same sizes as `arrays`, or all their elements in one array
    scale : distance over which the function varies noticeably, in the units of the variables
    """
    value, moved, _ = _around(function, arrays)
    u = np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in direction])
    length = float(np.linalg.norm(u))
    if length == 0.0:
        return np.zeros_like(value)

    def curvature(step: float) -> tuple[Array, Array]:
        h = step / length
        forward, backward = moved(h * u), moved(-h * u)
        return ((forward - value) + (backward - value)) / h**2, (abs(forward) + abs(backward) + abs(value)) / h**2

    return _extrapolated(curvature, scale / 4.0)


def _around(function: Callable[..., Any], arrays: Sequence[ArrayLike]) -> tuple[Array, Callable[[Array], Array], int]:
    """The function's value at the arrays, its value as function of all their displacements, and the number of these."""
    parts = [np.array(array, dtype=float) for array in arrays]
    stops = np.cumsum([part.size for part in parts])

    def moved(displacement: Array) -> Array:
        pieces = np.split(displacement, stops[:-1])
        try:
            return _numbers(function(*(x + dx.reshape(x.shape) for x, dx in zip(parts, pieces, strict=True))))
        except (ArithmeticError, ValueError):  # a wide step may leave the domain of math.sqrt or math.acos
            return np.full_like(value, np.nan)

    value = _numbers(function(*(part.copy() for part in parts)))
    return value, moved, int(stops[-1])


ROWS = 11  # of Romberg's table: its narrowest step is a thousandth of its widest one, or, where a fast wave asks ...
MORE_ROWS = 23  # ... for it, a 4-millionth
DEEPER = 4  # rows more at most, while more than ...
SURE = 1e-9  # ... this part of a value is in doubt


def _extrapolated(quotient: Callable[[float], tuple[Array, Array]], first_step: float) -> Array:
    """Limit of a difference quotient whose error is even in the step (Romberg's table, Ridders' choice in it).

    `quotient` gives its value at a step and the magnitude that rounding errors are relative to. Steps are halved row by
    row. Each component takes the entry that agrees best with the two it was made from, rounding counted in, so steps so
    wide that they meet a kink or a singularity, or so narrow that rounding prevails, drop out by themselves. Wide steps
    over a fast wave may agree with each other too: where two narrow ones agree, what contradicts them does not count;
    narrower ones are taken until they do, and the table goes on to these.
    """
    above: list[Array] = []
    best, error, rounding = np.asarray(np.nan), np.asarray(np.inf), np.asarray(0.0)
    with np.errstate(all="ignore"):
        rows, known, near, narrow = _narrowest(quotient, first_step)
        for row in range(rows + DEEPER):
            if row >= rows and np.all(error <= np.maximum(SURE * abs(best), 2.0 * rounding)):
                break
            value, magnitude = quotient(first_step / 2.0**row)
            rounding = np.finfo(float).eps * magnitude
            entries = [value]
            for m, coarse in enumerate(above, start=1):
                entry = entries[-1] + (entries[-1] - coarse) / (4.0**m - 1.0)
                doubt = np.maximum(abs(entry - entries[-1]), abs(entry - coarse)) + rounding
                doubt = np.where(known & (abs(entry - narrow) > near), np.inf, doubt)
                best, error = np.where(doubt < error, entry, best), np.where(doubt < error, doubt, error)
                entries.append(entry)
            above = entries
            if np.all(error <= 2.0 * rounding):
                break  # narrower steps would only round worse
    return best


def _narrowest(
    quotient: Callable[[float], tuple[Array, Array]], first_step: float
) -> tuple[int, NDArray[np.bool_], Array, Array]:
    """How many rows a table needs, which components its narrow steps know, how nearly, and what these give.

    Where no steps agree, as beside a kink, it is the fewest.
    """
    settled: tuple[int, NDArray[np.bool_], Array, Array] | None = None
    for rows in range(ROWS, MORE_ROWS + 1, 4):
        narrow, magnitude = quotient(first_step / 2.0 ** (rows + 2))
        near = 0.1 * abs(narrow)
        difference = abs(quotient(first_step / 2.0 ** (rows - 1))[0] - narrow)
        within = near + 4.0 * np.finfo(float).eps * magnitude
        found = rows, difference < near, within, narrow
        settled = settled or found
        if np.all(difference <= within):
            return found
    assert settled is not None
    return settled


def _numbers(x: Any) -> Array:
    array = np.asarray(x)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected real numbers, not {x!r}")
    return array.astype(float)


def _operand(x: Any, n: int, order: int) -> Jet | Array:
    """The Jet or the constant array that x stands for."""
    if isinstance(x, Jet):
        if (x.variables, x.order) != (n, order):
            raise ValueError(f"Jets of different seeds: {x.variables} and {n} variables, order {x.order} and {order}")
        return x
    array = np.asarray(x)
    if array.dtype != object:
        return _numbers(array)
    jets = [item if isinstance(item, Jet) else gather(float(item), n, order) for item in array.flat]
    parts = (np.stack([jet.parts[k] for jet in jets]) for k in range(order + 1))
    return Jet(*(part.reshape(array.shape + part.shape[1:]) for part in parts))


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Jet) else x


def _index(key: Any, derivative_axes: int) -> tuple[Any, ...]:
    """An index of the value, extended by all of the derivative axes."""
    key = key if isinstance(key, tuple) else (key,)
    if any(item is Ellipsis for item in key):
        return key + (slice(None),) * derivative_axes
    return (*key, Ellipsis)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes of a reduction counted from the front, where derivative axes do not disturb."""
    every = range(ndim)
    return tuple(every) if axis is None else tuple(every[a] for a in np.atleast_1d(axis))


def _scaled(factor: Any, part: Array, derivative_axes: int) -> Array:
    """A partial derivative times a gradient (one derivative axis) or a Hessian (two), with 0·∞ = 0."""
    factor = np.asarray(factor, dtype=float)
    product: Array = factor[(..., *[None] * derivative_axes)] * part
    return product if np.isfinite(factor).all() else np.where(part == 0.0, 0.0, product)


def _chain(value: Any, operands: Sequence[Jet | Array], partials: Sequence[Any]) -> Jet:
    """The chain rule; `partials` are f₁, f₁₁ for one operand, f₁, f₂, f₁₁, f₁₂, f₂₂ for two; constants drop out."""
    count = len(operands)
    jets = [(k, x) for k, x in enumerate(operands) if isinstance(x, Jet)]
    n, order, shape = jets[0][1].variables, jets[0][1].order, np.shape(value)
    gradient = np.zeros((*shape, n))
    hessian = np.zeros((*shape, n, n)) if order == 2 else None
    second = dict(zip(itertools.combinations_with_replacement(range(count), 2), partials[count:], strict=True))
    with np.errstate(all="ignore"):
        for k, x in jets:
            gradient += _scaled(partials[k], x.gradient, 1)
            if hessian is not None and x.hessian is not None:
                hessian += _scaled(partials[k], x.hessian, 2)
        for (k, x), (m, y) in itertools.combinations_with_replacement(jets, 2):
            if hessian is None or second[k, m] is None:
                continue
            outer = x.gradient[..., :, None] * y.gradient[..., None, :]
            hessian += _scaled(second[k, m], outer if k == m else outer + np.swapaxes(outer, -1, -2), 2)
    return Jet(value, gradient, hessian)


def _power(x: Array, y: Array, f: Array) -> tuple[Any, ...]:
    def term(coefficient: Array, exponent: Array) -> Array:
        return np.where(coefficient == 0.0, 0.0, coefficient * x**exponent)

    log = np.where(x == 0.0, 0.0, np.log(x))
    return term(y, y - 1), f * log, term(y * (y - 1), y - 2), x ** (y - 1) * (1 + y * log), f * log**2


def _hypot(x: Array, y: Array, f: Array) -> tuple[Any, ...]:
    r = np.where(f > 0.0, f, np.inf)
    return x / r, y / r, y * y / r**3, -x * y / r**3, x * x / r**3


def _arctan2(y: Array, x: Array, _: Array) -> tuple[Any, ...]:
    r2 = np.where((x == 0.0) & (y == 0.0), np.inf, x * x + y * y)
    return x / r2, -y / r2, -2 * x * y / r2**2, (y * y - x * x) / r2**2, 2 * x * y / r2**2


def _share(x: Array, y: Array) -> Array:
    """1 where x exceeds y, 0 where it falls short, ½ at a tie."""
    return (x > y) + 0.5 * (x == y)


# Partial derivatives f₁, f₁₁, or f₁, f₂, f₁₁, f₁₂, f₂₂, from the operands and the value f; None is a second one of 0.
_PARTIALS: dict[np.ufunc, Callable[..., tuple[Any, ...]]] = {
    np.positive: lambda x, f: (1.0, None),
    np.negative: lambda x, f: (-1.0, None),
    np.absolute: lambda x, f: (np.sign(x), None),
    np.square: lambda x, f: (2 * x, 2.0),
    np.reciprocal: lambda x, f: (-(f**2), 2 * f**3),
    np.sqrt: lambda x, f: (0.5 / f, -0.25 / (x * f)),
    np.exp: lambda x, f: (f, f),
    np.expm1: lambda x, f: (np.exp(x), np.exp(x)),
    np.log: lambda x, f: (1 / x, -1 / x**2),
    np.log2: lambda x, f: (1 / (_LN2 * x), -1 / (_LN2 * x**2)),
    np.log10: lambda x, f: (1 / (_LN10 * x), -1 / (_LN10 * x**2)),
    np.log1p: lambda x, f: (1 / (1 + x), -1 / (1 + x) ** 2),
    np.sin: lambda x, f: (np.cos(x), -f),
    np.cos: lambda x, f: (-np.sin(x), -f),
    np.tan: lambda x, f: (1 + f**2, 2 * f * (1 + f**2)),
    np.arcsin: lambda x, f: (((1 - x) * (1 + x)) ** -0.5, x * ((1 - x) * (1 + x)) ** -1.5),
    np.arccos: lambda x, f: (-(((1 - x) * (1 + x)) ** -0.5), -x * ((1 - x) * (1 + x)) ** -1.5),
    np.arctan: lambda x, f: (1 / (1 + x**2), -2 * x / (1 + x**2) ** 2),
    np.sinh: lambda x, f: (np.cosh(x), f),
    np.cosh: lambda x, f: (np.sinh(x), f),
    np.tanh: lambda x, f: (np.cosh(x) ** -2, -2 * f * np.cosh(x) ** -2),
    np.arcsinh: lambda x, f: ((1 + x**2) ** -0.5, -x * (1 + x**2) ** -1.5),
    np.arccosh: lambda x, f: (((x - 1) * (x + 1)) ** -0.5, -x * ((x - 1) * (x + 1)) ** -1.5),
    np.arctanh: lambda x, f: (1 / ((1 - x) * (1 + x)), 2 * x / ((1 - x) * (1 + x)) ** 2),
    np.deg2rad: lambda x, f: (_DEGREE, None),
    np.radians: lambda x, f: (_DEGREE, None),
    np.rad2deg: lambda x, f: (1 / _DEGREE, None),
    np.degrees: lambda x, f: (1 / _DEGREE, None),
    np.add: lambda x, y, f: (1.0, 1.0, None, None, None),
    np.subtract: lambda x, y, f: (1.0, -1.0, None, None, None),
    np.multiply: lambda x, y, f: (y, x, None, 1.0, None),
    np.divide: lambda x, y, f: (1 / y, -f / y, None, -1 / y**2, 2 * f / y**2),
    np.remainder: lambda x, y, f: (1.0, -np.floor(x / y), None, None, None),
    np.maximum: lambda x, y, f: (_share(x, y), _share(y, x), None, None, None),
    np.minimum: lambda x, y, f: (_share(y, x), _share(x, y), None, None, None),
    np.power: _power,
    np.hypot: _hypot,
    np.arctan2: _arctan2,
}

# Piecewise constant functions: they see the values only and return plain arrays.
_STEPS: frozenset[Any] = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite, np.isnan, np.isinf}
    | {np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.signbit, np.sign, np.heaviside}
    | {np.floor, np.ceil, np.rint, np.trunc, np.floor_divide}
    | {np.shape, np.ndim, np.size, np.any, np.all, np.isclose, np.allclose, np.array_equal, np.count_nonzero}
    | {np.argmax, np.argmin, np.argsort, np.nonzero, np.round}
)


def _step(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*map(_value, args), **{name: _value(x) for name, x in kwargs.items()})


def _rearranged(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function that only moves elements, run on the elements' numbers, which then pick from the parts of the Jets.

    Number 0 is the constant zero that `diag` or `tril` fill in.
    """
    pool: list[Any] = [0.0]
    count = 1

    def numbered(x: Any) -> Any:
        nonlocal count
        if isinstance(x, list | tuple):
            return [numbered(item) for item in x]
        operand = x if isinstance(x, Jet) else np.asarray(x)
        pool.append(operand)
        count += operand.size
        return np.arange(count - operand.size, count).reshape(operand.shape)

    moved = [numbered(x) if k in _MOVED_ARGUMENTS[function] else _value(x) for k, x in enumerate(args)]
    like = next((x for x in pool if isinstance(x, Jet)), None)
    if like is None:
        raise TypeError(f"np.{function.__name__} takes Jets by position, and no Jet instead of a condition or a number")
    numbers = function(*moved, **kwargs)
    jets = [gather(x, like.variables, like.order) for x in pool]
    parts = [
        np.concatenate([jet.parts[k].reshape((jet.size,) + (like.variables,) * k) for jet in jets])
        for k in range(like.order + 1)
    ]

    def picked(number: Array) -> Jet:
        result = Jet(*(part[number] for part in parts))
        for part in result.parts:
            # A lost write would be silent: numpy would have written through such a view, this copy cannot.
            part.flags.writeable = function not in _VIEWS
        return result

    return [picked(number) for number in numbers] if isinstance(numbers, list | tuple) else picked(numbers)


_VIEWS: frozenset[Any] = frozenset(
    {np.transpose, np.reshape, np.ravel, np.squeeze, np.expand_dims, np.moveaxis, np.swapaxes, np.diagonal, np.flip}
    | {np.broadcast_to, np.atleast_1d, np.atleast_2d, np.split, np.array_split, np.hsplit, np.vsplit}
)

# Functions that only move elements, with the positions of the arguments that hold these elements.
_MOVED_ARGUMENTS: dict[Callable[..., Any], tuple[int, ...]] = {
    **dict.fromkeys(_VIEWS, (0,)),
    **dict.fromkeys((np.copy, np.diag, np.tril, np.triu, np.roll, np.tile, np.repeat, np.take, np.delete), (0,)),
    **dict.fromkeys((np.stack, np.concatenate, np.vstack, np.hstack, np.dstack, np.column_stack, np.block), (0,)),
    np.ndarray.flatten: (0,),
    np.append: (0, 1),
    np.where: (1, 2),
}


def _einsum(subscripts: str, *operands: Any) -> Jet:
    """A product linear in each of its operands: derivatives replace one of them, or two, by their derivatives."""
    like = next(x for x in operands if isinstance(x, Jet))
    factors = [_operand(x, like.variables, like.order) for x in operands]
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    letters = inputs.replace("...", "").replace(",", "")
    if not arrow:
        output = "..." * ("..." in inputs) + "".join(sorted(a for a in letters if letters.count(a) == 1))
    a, b = [letter for letter in string.ascii_letters if letter not in letters][:2]

    def contract(derived: dict[int, tuple[Array, str]]) -> Array:
        terms = [derived.get(k, (_value(x), "")) for k, x in enumerate(factors)]
        joined = ",".join(term + axes for term, (_, axes) in zip(inputs.split(","), terms, strict=True))
        extra = "".join(axes for _, axes in terms)
        return np.asarray(np.einsum(f"{joined}->{output}{extra}", *(array for array, _ in terms)))

    jets = [(k, x) for k, x in enumerate(factors) if isinstance(x, Jet)]
    value = contract({})
    with np.errstate(all="ignore"):
        gradient = np.sum([contract({k: (x.gradient, a)}) for k, x in jets], axis=0)
        if like.order == 1:
            return Jet(value, gradient)
        hessian = np.sum([contract({k: (x.parts[2], a + b)}) for k, x in jets], axis=0)
        for (k, x), (m, y) in itertools.combinations(jets, 2):
            mixed = contract({k: (x.gradient, a), m: (y.gradient, b)})
            hessian += mixed + np.swapaxes(mixed, -1, -2)
    return Jet(value, gradient, hessian)


def _matmul(x: Any, y: Any) -> Jet:
    if np.ndim(x) == 1:
        return _einsum("i,i->" if np.ndim(y) == 1 else "i,...ij->...j", x, y)
    return _einsum("...hi,i->...h" if np.ndim(y) == 1 else "...hi,...ij->...hj", x, y)


def _dot(x: Any, y: Any) -> Any:
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return x * y
    if np.ndim(x) > 2 or np.ndim(y) > 2:
        raise TypeError("np.dot of Jets takes vectors and matrices; use @ for stacks of matrices")
    return x @ y


def _cross(x: Any, y: Any) -> Any:
    x, y = (v if isinstance(v, Jet) else np.asarray(v) for v in (x, y))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise TypeError("np.cross of Jets takes vectors of three components")
    ahead, behind = [1, 2, 0], [2, 0, 1]
    return x[..., ahead] * y[..., behind] - x[..., behind] * y[..., ahead]


def _sum(x: Jet, axis: Any = None, *, keepdims: bool = False) -> Jet:
    axes = _axes(axis, x.ndim)
    return Jet(*(part.sum(axis=axes, keepdims=keepdims) for part in x.parts))


def _mean(x: Jet, axis: Any = None, *, keepdims: bool = False) -> Any:
    total = _sum(x, axis, keepdims=keepdims)
    return total * (total.size / x.size)


def _extreme(function: Callable[..., Any], x: Jet, axis: Any = None, *, keepdims: bool = False) -> Jet:
    """Largest or smallest element; those that tie share its derivative."""
    axes = _axes(axis, x.ndim)
    value = function(x.value, axis=axes, keepdims=True)
    share = (x.value == value).astype(float)
    with np.errstate(all="ignore"):
        share /= share.sum(axis=axes, keepdims=True)
    picked = [_scaled(share, part, k).sum(axis=axes, keepdims=keepdims) for k, part in enumerate(x.parts) if k > 0]
    return Jet(value if keepdims else value.squeeze(axes), *picked)


def _clip(x: Any, a_min: Any = None, a_max: Any = None) -> Any:
    x = x if a_min is None else np.maximum(x, a_min)
    return x if a_max is None else np.minimum(x, a_max)


def _norm(x: Jet, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Jet:
    if not (ord is None or (ord == 2 and (x.ndim == 1 or isinstance(axis, int)))):
        raise TypeError("np.linalg.norm of Jets is the Euclidean norm only")
    value = np.linalg.norm(x.value, ord, axis, keepdims)
    inverse = np.divide(1.0, value, out=np.zeros_like(value), where=np.asarray(value > 0.0))
    return _chain(value, [_sum(x * x, axis, keepdims=keepdims)], (inverse / 2, -(inverse**3) / 4))


def _solve(a: Any, b: Any) -> Any:
    """x = a⁻¹ b by x ← x + a₀⁻¹ (b − a x), a₀ the value of a: each turn makes one more order of derivatives exact."""
    inverse = np.linalg.inv(_value(a))
    x: Any = np.linalg.solve(_value(a), _value(b))
    for _ in range((a if isinstance(a, Jet) else b).order):
        x = x + inverse @ (b - a @ x)
    return x


def _det(x: Jet) -> Any:
    """Expansion along the first row, which holds for singular matrices too."""
    if x.ndim != 2 or len(x) != x.shape[1] or len(x) > 4:
        raise TypeError("np.linalg.det of Jets takes one square matrix of at most four rows")
    if len(x) == 1:
        return x[0, 0]
    return sum((-1) ** k * x[0, k] * _det(_rearranged(np.delete, x[1:], k, axis=1)) for k in range(len(x)))


def _interp(x: Jet, xp: Any, fp: Any) -> Jet:
    slopes = np.concatenate([[0.0], np.diff(fp) / np.diff(xp), [0.0]])
    left, right = (np.searchsorted(xp, x.value, side) for side in ("left", "right"))
    return _chain(np.interp(x.value, xp, fp), [x], ((slopes[left] + slopes[right]) / 2, None))


def _like(function: Callable[..., Any], x: Jet) -> Jet:
    return gather(function(x.value), x.variables, x.order)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{f: functools.partial(_step, f) for f in _STEPS},
    **{f: functools.partial(_rearranged, f) for f in _MOVED_ARGUMENTS},
    **{f: functools.partial(_extreme, f) for f in (np.max, np.min, np.amax, np.amin)},
    **{f: functools.partial(_like, f) for f in (np.zeros_like, np.ones_like, np.empty_like)},
    np.sum: _sum,
    np.mean: _mean,
    np.trace: lambda x: _sum(_rearranged(np.diagonal, x), -1),
    np.clip: _clip,
    np.dot: _dot,
    np.inner: lambda x, y: _einsum("i,i->", x, y),
    np.outer: lambda x, y: _einsum("i,j->ij", np.ravel(x), np.ravel(y)),
    np.cross: _cross,
    np.einsum: _einsum,
    np.interp: _interp,
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    np.linalg.inv: lambda a: _solve(a, np.eye(a.shape[-1])),
    np.linalg.det: _det,
}

_METHODS = {"all", "any", "argmax", "argmin", "argsort", "clip", "copy", "diagonal", "dot", "max", "mean", "min"}
_METHODS |= {"nonzero", "ravel", "repeat", "round", "squeeze", "sum", "swapaxes", "take", "trace"}
