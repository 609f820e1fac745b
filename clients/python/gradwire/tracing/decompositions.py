"""Decompositions of NumPy's functions that the language lacks into functions that it has.

Also functions that read only an array's shape or dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, reduce
from inspect import signature
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from gradwire.bfloat16 import can_cast, dtype_of, result_type
from gradwire.tracing.calls import into, known_order, record_call
from gradwire.tracing.multi_output import named_tuple
from gradwire.tracing.shapes import Aval, stand_in
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.views import as_view

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def _astype(
    x: Any, dtype: DTypeLike, /, *, copy: bool = True, device: Literal["cpu"] | None = None
) -> Any:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    target = dtype_of(dtype)
    if not copy and x.dtype == target:
        return x
    term = Term("np.astype", (x._term, target))
    return Tracer(term, infer=lambda: Aval(x.shape, target), is_ordered=x.is_ordered)


def _copy(a: Any, order: str = "K", subok: bool = False) -> Tracer:
    np.copy(0, order)  # type: ignore[call-overload]  # refuses what is no order
    in_order = order == "C" or (order not in ("F", "f") and a.is_ordered)
    term = Term("copy", (a._term,))
    return Tracer(term, infer=lambda: a.aval, is_ordered=in_order)


def _reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    np.reshape(0, 1, order)  # type: ignore[call-overload]  # as above
    if copy:
        return _np.copy(_np.reshape(a, shape, order))
    if known_order(order, a) == "F":
        lengths = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        return _np.transpose(_np.reshape(_np.transpose(a), lengths[::-1]))
    return _view(np.reshape, a, shape)


def _ravel(a: Any, order: str = "C") -> Any:
    np.ravel(0, order)  # type: ignore[call-overload]  # as above
    return _view(np.ravel, _np.transpose(a) if known_order(order, a) == "F" else a)


def _view(function: Any, *args: Any) -> Any:
    base = args[0]
    made = record_call(f"np.{function.__name__}", function, *args)
    as_view(made, function, args, {}, is_writable=True, may_be_copy=not base.is_ordered)
    made._is_ordered = base.is_ordered
    return made


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    shape = np.broadcast_shapes(*map(np.shape, args))
    return tuple([_np.broadcast_to(array, shape) for array in args])


def _nan_to_num(x: Any, copy: bool = True, **kwargs: Any) -> Any:
    made = record_call("np.nan_to_num", np.nan_to_num, x, **kwargs)
    return made if copy else into(x, made)


def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = _np.moveaxis(a, axisa, -1), _np.moveaxis(b, axisb, -1)
    made = record_call("np.cross", np.cross, *vectors)
    has_axis = 3 in (np.shape(vectors[0])[-1], np.shape(vectors[1])[-1])
    return _np.moveaxis(made, -1, axisc) if has_axis else made


def _diag(v: Any, k: int = 0) -> Any:
    if np.ndim(v) == 2:
        return _np.diagonal(v, k)
    return record_call("np.diag", np.diag, v, k)


def _sort(a: Any, axis: int | None = -1, *_: Any, **__: Any) -> Any:
    return record_call("np.sort", np.sort, a, axis)


def _argsort(a: Any, axis: int | None = -1, *_: Any, **__: Any) -> Any:
    return record_call("np.argsort", np.argsort, a, axis)


def _iscomplex(x: Any) -> Any:
    return np.not_equal(_np.imag(x), 0)


def _isreal(x: Any) -> Any:
    return np.equal(_np.imag(x), 0)


def _array_equiv(a1: Any, a2: Any) -> Any:
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return _np.all(np.equal(a1, a2))


def _isin(element: Any, test_elements: Any, *_: Any, invert: bool = False, **__: Any) -> Any:
    found = record_call("torch.isin", np.isin, element, test_elements)
    return np.logical_not(found) if invert else found


def _where(condition: Any, *chosen: Any) -> Any:
    if not chosen:
        return _np.nonzero(condition)
    return record_call("np.where", np.where, condition, *chosen)


def _average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = np._NoValue,
) -> Any:
    mean = record_call("np.average", np.average, a, axis=axis, weights=weights, keepdims=keepdims)
    if not returned:
        return mean
    if weights is None:
        return mean, np.full(mean.shape, np.size(a) / max(mean.size, 1))[()]
    spread = weights
    if np.ndim(weights) != np.ndim(a):
        lengths = [1] * np.ndim(a)
        lengths[axis] = np.size(weights)
        spread = _np.reshape(weights, lengths)
    total = _np.sum(_np.broadcast_to(np.multiply(spread, 1.0), np.shape(a)), axis=axis)
    return mean, _np.broadcast_to(total, mean.shape)


def _einsum(subscripts: Any, *operands: Any, **kwargs: Any) -> Any:
    if not isinstance(subscripts, str):
        subscripts, operands = _subscripts((subscripts, *operands))
    given = {name: value for name, value in kwargs.items() if name != "optimize"}
    made = record_call("np.einsum", np.einsum, subscripts, *operands, **given)
    if len(operands) == 1 and isinstance(operands[0], Tracer):
        _share_axes(made, subscripts, operands[0])
    return made


def _share_axes(made: Tracer, subscripts: str, base: Tracer) -> None:
    """Make what ``einsum`` takes of one array a view of it, unless NumPy sums elements."""
    take = partial(np.einsum, subscripts)
    like = stand_in(base.aval)
    with suppress(ValueError):  # the service says what is wrong
        if np.may_share_memory(take(like), like):
            as_view(made, take, (base,), {}, is_writable=True)


def _subscripts(given: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """The subscripts of axes that are lists of numbers, one after each operand."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def text(axes: Any) -> str:
        return "".join("..." if axis is ... else letters[axis] for axis in axes)

    operands, axes = given[: len(given) // 2 * 2 : 2], given[1::2]
    inputs = ",".join(map(text, axes))
    return (f"{inputs}->{text(given[-1])}" if len(given) % 2 else inputs), tuple(operands)


def _meshgrid(*xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> Any:
    if copy and not sparse:
        return record_call("np.meshgrid", np.meshgrid, *xi, indexing=indexing)
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[:2] = [1, 0]
    lengths = [[-1 if place == i else 1 for i in range(len(xi))] for place in places]
    made = tuple([_np.reshape(x, length) for x, length in zip(xi, lengths, strict=True)])
    if copy:
        return tuple(map(_np.copy, made))
    return made if sparse else _np.broadcast_arrays(*made)


def _linspace(*args: Any, retstep: bool = False, **kwargs: Any) -> Any:
    made = record_call("np.linspace", np.linspace, *args, **kwargs)
    if not retstep:
        return made
    start, stop = args[:2]
    count = kwargs.get("num", args[2] if len(args) > 2 else 50)
    return made, np.subtract(stop, start) / (count - bool(kwargs.get("endpoint", True)))


def _unless_none(name: str, function: Callable[..., Any], by: str, none: int) -> Any:
    """A function that gives its first argument itself where the count ``by`` is ``none``."""

    def record(*args: Any, **kwargs: Any) -> Any:
        given = signature(function).bind(*args, **kwargs).arguments
        (base, *_), count = given.values(), given.get(by)
        if isinstance(count, (int, np.integer)) and count == none:
            function(stand_in(base.aval), count)  # raises where it is no array for it
            return base
        return record_call(name, function, *args, **kwargs)

    return record


# Sets


def _unique(function: Any, **asked: bool) -> Callable[[Any], Any]:
    return lambda x: named_tuple(function)(*_np.unique(x, **asked))


def _union1d(ar1: Any, ar2: Any) -> Any:
    return _np.unique(_np.concatenate([_np.ravel(ar1), _np.ravel(ar2)]))


def _intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = _np.unique(ar1)
    return values[_np.isin(values, ar2)]


def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = ar1 if assume_unique else _np.unique(ar1)
    return values[_np.isin(values, ar2, invert=True)]


# Functions that call Python functions


def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    moved = _np.moveaxis(arr, axis, -1)
    outer = moved.shape[:-1]
    rows = moved.reshape(-1, moved.shape[-1])
    made = _np.stack([func1d(row, *args, **kwargs) for row in rows])
    inner = made.shape[1:]
    whole = made.reshape(*outer, *inner)
    place = axis % np.ndim(arr)
    return (
        _np.moveaxis(whole, range(len(outer), whole.ndim), range(place, place + len(inner)))
        if inner
        else whole
    )


def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    for axis in [axes] if isinstance(axes, int) else axes:
        made = func(a, axis)
        a = made if np.ndim(made) == np.ndim(a) else _np.expand_dims(made, axis)
    return a


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> Any:
    conditions = condlist if isinstance(condlist, list) and np.ndim(condlist[0]) else [condlist]
    chosen, result = list(funclist), _np.zeros_like(x)
    if len(chosen) == len(conditions) + 1:
        conditions = [np.logical_not(reduce(np.logical_or, conditions)), *conditions]
        chosen = [chosen[-1], *chosen[:-1]]
    for condition, function in zip(conditions, chosen, strict=True):
        made = function(x, *args, **kwargs) if callable(function) else function
        result = _np.where(condition, made, result)
    return result.astype(x.dtype)


def _dtype_of(value: Any) -> Any:
    if not isinstance(value, Tracer):
        return value
    return {"f": 0.0, "c": 0j}.get(value.dtype.kind, 0) if value._weak else value.dtype


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.isfortran: lambda a: known_order("K", a) == "F",
    np.result_type: lambda *given: result_type(*map(_dtype_of, given)),
    np.can_cast: lambda given, to, *rest, **how: can_cast(given.dtype, dtype_of(to), *rest, **how),
    np.tril_indices_from: lambda arr, k=0: np.tril_indices(len(arr), k, arr.shape[1]),
    np.triu_indices_from: lambda arr, k=0: np.triu_indices(len(arr), k, arr.shape[1]),
    np.diag_indices_from: lambda arr: np.diag_indices(len(arr), arr.ndim),
    np.min_scalar_type: lambda a: a.dtype,
    np.common_type: lambda *arrays: np.common_type(*[np.ones(1, a.dtype) for a in arrays]),
    np.astype: _astype,
    np.copy: _copy,
    np.broadcast_arrays: _broadcast_arrays,
    np.nan_to_num: _nan_to_num,
    np.cross: _cross,
    np.diag: _diag,
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.sort: _sort,
    np.argsort: _argsort,
    np.iscomplex: _iscomplex,
    np.isreal: _isreal,
    np.array_equiv: _array_equiv,
    np.isin: _isin,
    np.where: _where,
    np.average: _average,
    np.einsum: _einsum,
    np.linspace: _linspace,
    np.meshgrid: _meshgrid,
    np.diff: _unless_none("np.diff", np.diff, "n", 0),
    np.polyder: _unless_none("np.polyder", np.polyder, "m", 0),
    np.polyint: _unless_none("np.polyint", np.polyint, "m", 0),
    np.linalg.matrix_power: _unless_none("np.linalg.matrix_power", np.linalg.matrix_power, "n", 1),
    np.unique_values: _np.unique,
    np.unique_counts: _unique(np.unique_counts, return_counts=True),
    np.unique_inverse: _unique(np.unique_inverse, return_inverse=True),
    np.unique_all: _unique(
        np.unique_all, return_index=True, return_inverse=True, return_counts=True
    ),
    np.union1d: _union1d,
    np.intersect1d: _intersect1d,
    np.setdiff1d: _setdiff1d,
    np.apply_along_axis: _apply_along_axis,
    np.apply_over_axes: _apply_over_axes,
    np.piecewise: _piecewise,
    np.rollaxis: _np.rollaxis.__wrapped__,
    np.resize: _np.resize.__wrapped__,
}
