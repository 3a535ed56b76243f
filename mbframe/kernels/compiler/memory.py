"""Memory by address in compiled code: records and arrays that begin where an integer says.

They belong to somebody else, and nothing counts references to them. All are intrinsics, which write their few
instructions where they are called: as functions they would be compiled for every kind of their arguments, and linked
into and optimized with every stage.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import from_dtype, types
from numba.core.cgutils import alloca_once, memset, raw_memcpy
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def _view(element: Any, dimensions: int, *more: Any, offset: bool = False) -> tuple[Any, Any]:
    """What makes an array of `dimensions` sizes at an address, or so many elements after it."""
    kind = types.Array(element, dimensions, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored = context.get_data_type(element)
        size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(stored))
        address, shape = args[0], list(args[1 : 1 + offset + dimensions])
        if offset:
            address = builder.add(address, builder.mul(size, shape.pop(0)))
        strides = [size]
        for count in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], count))
        array = make_array(kind)(context, builder)
        data = builder.inttoptr(address, stored.as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(*[types.intp] * (1 + offset + dimensions), *more), generate


@intrinsic
def vector(typingctx, address, n):
    """`n` doubles."""
    return _view(types.float64, 1)


@intrinsic
def part(typingctx, address, offset, n):
    """The `n` doubles that start `offset` doubles after `address`."""
    return _view(types.float64, 1, offset=True)


@intrinsic
def matrix(typingctx, address, rows, columns):
    """Doubles, row by row."""
    return _view(types.float64, 2)


@intrinsic
def block(typingctx, address, offset, rows, columns):
    """The matrix that starts `offset` doubles after `address`."""
    return _view(types.float64, 2, offset=True)


@intrinsic
def matrices(typingctx, address, n, rows, columns):
    """`n` matrices of one size, one after the other."""
    return _view(types.float64, 3)


@intrinsic
def complex_matrix(typingctx, address, rows, columns):
    return _view(types.complex128, 2)


@intrinsic
def indices(typingctx, address, n):
    """Unsigned indices: numba then needs no test for negative ones, which halves the time of the sparse solver."""
    return _view(types.uint32, 1)


@intrinsic
def integers(typingctx, address, n):
    return _view(types.int64, 1)


@intrinsic(prefer_literal=True)
def room(typingctx, rows, columns):
    """A matrix of a constant size that lasts as long as the function that it is made in."""
    sizes = rows.literal_value, columns.literal_value
    signature, view = _view(types.float64, 2)

    def generate(context, builder, signature, args):
        counts = [ir.Constant(ir.IntType(64), n) for n in sizes]
        memory = alloca_once(builder, ir.DoubleType(), counts[0].constant * counts[1].constant)
        return view(context, builder, signature, [builder.ptrtoint(memory, ir.IntType(64)), *counts])

    return signature.return_type(rows, columns), generate


@intrinsic
def clear(typingctx, array):
    """array := 0, for an array without gaps."""
    if array.layout != "C":
        return None  # numba then says that it cannot

    def generate(context, builder, signature, args):
        view = make_array(array)(context, builder, args[0])
        memset(builder, view.data, builder.mul(view.nitems, view.itemsize), 0)
        return context.get_dummy_value()

    return types.void(array), generate


@intrinsic
def copy(typingctx, source, out):
    """out := source, for arrays without gaps and of the same size."""
    if source.layout != "C" or out.layout != "C":
        return None

    def generate(context, builder, signature, args):
        given, view = (make_array(kind)(context, builder, arg) for kind, arg in zip(signature.args, args, strict=True))
        raw_memcpy(builder, view.data, given.data, view.nitems, view.itemsize)
        return context.get_dummy_value()

    return types.void(source, out), generate


@intrinsic
def records(typingctx, address, n, dtype):
    """The `n` records of `dtype` that start at `address`."""
    return _view(dtype.dtype, 1, dtype)


def _record(kind: Any, *more: Any) -> tuple[Any, Any]:
    """What takes an address for a record."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.intp, *more), generate


def record_at(dtype: Any) -> tuple[Any, Any]:
    """For intrinsics whose argument is the address of a record of `dtype`."""
    return _record(from_dtype(dtype))


@intrinsic
def record(typingctx, address, dtype):
    """The record of `dtype` at `address`."""
    return _record(dtype.dtype, dtype)


@intrinsic
def address_of(typingctx, record):
    """Where a record lies."""

    def generate(context, builder, signature, args):
        return builder.ptrtoint(args[0], context.get_value_type(types.intp))

    return types.intp(record), generate
