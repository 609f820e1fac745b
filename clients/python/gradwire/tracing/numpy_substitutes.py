"""Substitutes of NumPy's functions that do not dispatch: those that make arrays, or take lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from gradwire.tracing.calls import is_ordered
from gradwire.tracing.lazy_arrays import holds_recorded
from gradwire.tracing.numpy_trace import NumpyTrace
from gradwire.tracing.substitutes import (
    Method,
    Substitute,
    making,
    substitute,
    substituted_method,
)
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: Functions of a sequence of arrays, each of which may be a list.
OF_SEQUENCES = frozenset("concatenate stack hstack vstack dstack column_stack multi_dot".split())
#: Functions of lists that are not arrays.
OF_NESTED_LISTS = frozenset("block choose select piecewise histogramdd".split())
#: Those that make an array of none.
MAKERS = (
    "zeros", "ones", "zeros_like", "ones_like", "full_like", "arange", "linspace", "eye",
    "identity", "copy",
)  # fmt: skip
#: Those that make an array of a value.
CONVERSIONS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
#: Their order in memory, of those that decide it.
_ORDERS = {"ascontiguousarray": "C", "asfortranarray": "F"}
#: The axes of each argument in a signature.
_CORE = re.compile(r"\(([^)]*)\)")
#: The ``copy`` argument of ``numpy.array`` for a copy only if needed.
_ONLY_IF_NEEDED = (None, False, np._CopyMode.IF_NEEDED, np._CopyMode.NEVER)


def functions() -> Iterator[Substitute]:
    """The substitutes of functions; of two for one, the later is taken."""
    of_lists: dict[Any, Any] = {}
    for original in (*vars(np).values(), *vars(np.linalg).values()):
        if not isinstance(original, type(np.sum)) or original in NumpyTrace.mutations:
            continue
        if original.__name__ not in OF_NESTED_LISTS:
            takes = _of_sequences if original.__name__ in OF_SEQUENCES else _of_lists
            of_lists[original] = substitute(original, partial(takes, original), _has_recorded_list)
    yield from of_lists.items()
    made_by = {name: of_lists.get(vars(np)[name], vars(np)[name]) for name in MAKERS}
    for name in CONVERSIONS:
        made_by[name] = substitute(vars(np)[name], partial(_array, name))
    made_by["fromiter"] = partial(_from_iterable, np.fromiter)
    made_by["full"] = substitute(np.full, partial(_full, np.full))
    made_by["empty"], made_by["empty_like"] = np.zeros, np.zeros_like  # what is in them is unknown
    for kind, record in ((np.nditer, _iterated), (np.ndenumerate, _enumerated)):
        yield kind, substitute(kind, record)
    yield np.bmat, substitute(np.bmat, _no_matrix, holds_recorded)
    for name, maker in made_by.items():
        yield vars(np)[name], making(vars(np)[name], maker)


def methods() -> Iterator[Method]:
    """The substitutes of methods."""
    yield substituted_method(np.vectorize, "__call__", _vectorized)
    kind = type(np.r_).__mro__[1]
    yield substituted_method(kind, "__getitem__", partial(_joined, vars(kind)["__getitem__"]))


def _no_matrix(*_: Any, **__: Any) -> Any:
    raise not_traceable(
        "numpy.bmat makes a numpy.matrix, which cannot be recorded", "numpy.block joins arrays"
    )


def _array(name: str, object: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    """``np.array`` and the like: a copy, the array itself, or a list's rows stacked."""
    made = _stacked(object)
    if dtype is not None and made.dtype != np.dtype(dtype):
        made = made.astype(dtype)
    copied = options.get("copy", name == "array") not in _ONLY_IF_NEEDED
    order = _ORDERS.get(name, order or "K")
    if order in "CcFf":
        made = _in_order(made, order, may_be_same=made is object and not copied)
    if copied and made is object:
        made = made.copy(order)
    least = options.get("ndmin", 0)
    return made.reshape((1,) * (least - made.ndim) + made.shape) if made.ndim < least else made


def _in_order(array: Tracer, order: str, *, may_be_same: bool) -> Tracer:
    """An array in an order of memory: itself if it has it, as vectors have both."""
    known = is_ordered(array)
    if known and (order in "Cc" or sum(length != 1 for length in array.shape) < 2):
        return array
    made: Tracer = array.copy(order)
    if may_be_same and not known:
        made.be_view(array, lambda term: Term("copy", (term,)), may_be_copy=True)
    return made


def _has_recorded_list(args: tuple[Any, ...]) -> bool:
    return any(isinstance(arg, (list, tuple)) and holds_recorded(arg) for arg in args)


def _of_lists(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function of NumPy that dispatches once lists among its arguments are arrays."""
    return original(
        *map(_stacked, args), **{name: _stacked(value) for name, value in kwargs.items()}
    )


def _of_sequences(original: Callable[..., Any], arrays: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of a sequence of arrays, in which lists are."""
    if isinstance(arrays, (list, tuple)):
        arrays = list(map(_stacked, arrays))
    return original(arrays, *args, **kwargs)


def _stacked(value: Any) -> Any:
    if not (isinstance(value, (list, tuple)) and holds_recorded(value)):
        return value
    rows = list(map(_stacked, value))
    shapes = {np.shape(row) for row in rows}
    if len(shapes) > 1:
        raise not_traceable(
            f"an array needs rows of one shape, got {sorted(shapes)}",
            "numpy.concatenate joins arrays of unequal lengths",
        )
    return _np.stack(rows)


def _vectorized(function: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.vectorize(f)(…)``: ``f`` of each element, or of each part by a signature.

    As in NumPy, the first results say the dtypes, unless ``otypes`` does.
    """
    given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    names = [name for name in given if name not in function.excluded]
    arrays = [_np.asarray(given[name]) for name in names]
    axes = [0] * len(arrays)
    if function.signature is not None:
        axes = [
            part.count(",") + 1 if part else 0
            for part in _CORE.findall(function.signature.replace(" ", "").split("->")[0])
        ]
    outer = np.broadcast_shapes(
        *[array.shape[: array.ndim - count] for array, count in zip(arrays, axes, strict=True)]
    )
    wide = [
        _np.broadcast_to(array, (*outer, *array.shape[array.ndim - count :]))
        for array, count in zip(arrays, axes, strict=True)
    ]
    each = []
    for place in np.ndindex(*outer):
        whole = given | {name: array[place] for name, array in zip(names, wide, strict=True)}
        by_place = [whole.pop(i) for i in range(len(args))]
        each.append(function.pyfunc(*by_place, **whole))
    if not each:
        raise ValueError("cannot call `vectorize` on size 0 inputs")
    parts = [*zip(*each, strict=True)] if isinstance(each[0], tuple) else [each]
    kinds = function.otypes or [_np.asarray(part[0]).dtype for part in parts]
    made = []
    for part, kind in zip(parts, kinds, strict=True):
        rows = _np.array([_np.asarray(value).astype(kind) for value in part])
        made.append(rows.reshape(*outer, *rows.shape[1:]))
    return tuple(made) if isinstance(each[0], tuple) else made[0]


def _iterated(op: Any, *options: Any, **named: Any) -> Iterator[Any]:
    """``np.nditer`` to read one array, or several that are broadcast."""
    if options or named:
        raise not_traceable(
            "numpy.nditer with options cannot be recorded", "iterate over numpy.ndindex(x.shape)"
        )
    for array in op if isinstance(op, (list, tuple)) else [op]:
        if not is_ordered(array):
            raise not_traceable(
                "numpy.nditer goes in the order of the elements in memory, which is not known here",
                "iterate over numpy.ndindex(x.shape)",
            )
    if not isinstance(op, (list, tuple)):
        return iter([op[place] for place in np.ndindex(op.shape)])
    arrays = _np.broadcast_arrays(*op)
    return iter([tuple([each[i] for each in arrays]) for i in np.ndindex(arrays[0].shape)])


def _enumerated(arr: Any) -> Iterator[Any]:
    """``np.ndenumerate``: the places and elements of an array."""
    array = _np.asarray(arr)
    return iter([(place, array[place]) for place in np.ndindex(array.shape)])


def _from_iterable(
    original: Callable[..., Any], iterable: Any, dtype: Any, count: int = -1, **named: Any
) -> Any:
    """``np.fromiter``, of recorded values, too."""
    items = list(iterable if count < 0 else islice(iterable, count))
    if not holds_recorded(items):
        return original(items, dtype, count, **named)
    return _np.array(items).astype(dtype)


def _full(
    original: Callable[..., Any],
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    if not isinstance(fill_value, Tracer):  # like=x
        return original(shape, fill_value, dtype, *args, **kwargs)
    made = _np.broadcast_to(fill_value, shape).copy()
    return made if dtype is None else made.astype(dtype)


def _joined(original: Callable[..., Any], joining: Any, key: Any) -> Any:
    """The arrays that ``np.r_[…]`` and ``np.c_[…]`` join."""
    items = key if isinstance(key, tuple) else (key,)
    if any(isinstance(item, str) for item in items):
        raise not_traceable(
            "numpy.r_ with axes as text cannot be recorded", "join with numpy.concatenate"
        )
    rows = [
        original(joining, item) if isinstance(item, slice) else np.atleast_1d(_stacked(item))
        for item in items
    ]
    if joining is np.c_:
        rows = [np.reshape(row, (-1, 1)) if np.ndim(row) == 1 else row for row in rows]
    return np.concatenate(rows, axis=-1 if joining is np.c_ else 0)
