"""Substitutes of NumPy's functions that do not dispatch: those that make arrays, or take lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import update_wrapper
from typing import Any, cast

import numpy as np

import gradwire.tracing.numpy_calls  # noqa: F401 - its tables name what is replaced here, later
from gradwire.tracing.recordable import called_by_user, holds_recorded, recordable
from gradwire.tracing.substitutes import Method, Substitute, recording
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace, current, not_traceable

#: NumPy's functions of one array that are called with lists of numbers, which do not dispatch.
OF_LISTS = (
    "sum", "prod", "mean", "max", "min", "amax", "amin", "var", "std", "median", "average", "ptp",
    "any", "all", "argmax", "argmin", "sort", "argsort", "cumsum", "cumprod", "diff", "dot", "vdot",
    "inner", "outer", "kron", "cross", "trapezoid", "interp", "convolve", "polyval", "diag", "flip",
    "append", "insert", "repeat", "roll", "clip", "round",
    "where", "triu", "tril", "trace", "diagonal", "gradient", "nansum", "nanmean",
    "quantile", "percentile", "atleast_1d", "atleast_2d",
    "nan_to_num", "real", "imag", "angle", "correlate", "vander", "cov", "corrcoef", "tensordot",
    "count_nonzero", "allclose", "isclose", "array_equal",
    "linalg.norm", "linalg.det", "linalg.inv", "linalg.solve", "linalg.eigvalsh", "linalg.cholesky",
    "linalg.slogdet", "linalg.eigh", "linalg.svd", "linalg.qr", "linalg.pinv",
    "linalg.matrix_power",
)  # fmt: skip
#: Those of a sequence of arrays, each of which may be a list.
OF_SEQUENCES = ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack")
#: Those that make an array of none.
MAKERS = (
    "zeros", "ones", "zeros_like", "ones_like", "full_like", "arange", "linspace", "eye",
    "identity", "copy",
)  # fmt: skip
#: The ``copy`` argument of ``numpy.array`` for a copy only if needed.
_ONLY_IF_NEEDED = (None, False, np._CopyMode.IF_NEEDED, np._CopyMode.NEVER)


def functions() -> Iterator[Substitute]:
    """The substitutes of functions."""
    for path in OF_LISTS:
        yield _of_numpy(path), recording(_of_numpy(path), _of_lists)
    for name in OF_SEQUENCES:
        yield _of_numpy(name), recording(_of_numpy(name), _of_sequences)
    for name in MAKERS:
        yield _of_numpy(name), _making(_of_numpy(name), _of_numpy(name))
    of_array = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
    for name, record in (*[(name, _array) for name in of_array], ("full", _full)):
        yield _of_numpy(name), _making(_of_numpy(name), recording(_of_numpy(name), record))
    for name in ("empty", "empty_like"):  # what is in them is nothing to send
        yield _of_numpy(name), _making(_of_numpy(name), _of_numpy(name.replace("empty", "zeros")))


def _of_numpy(path: str) -> Any:
    holder, _, name = path.rpartition(".")
    return vars(np.linalg if holder else np)[name]


def methods() -> Iterator[Method]:
    """The substitutes of methods."""
    found: list[tuple[type, str, Any]] = [
        (np.vectorize, "__call__", _vectorized),
        (type(np.r_).__mro__[1], "__getitem__", _joined),
    ]
    for kind, name, record in found:
        original = vars(kind)[name]
        yield kind, name, recording(original, record)


def _making(original: Callable[..., Any], made_by: Callable[..., Any]) -> Callable[..., Any]:
    """A function of which the array may become recorded."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return original(*args, **kwargs)
        made = made_by(*args, **kwargs)
        is_new = all(made is not arg for arg in args)
        return recordable(made) if is_new and called_by_user() else made

    return update_wrapper(function, original)


def _array(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """``np.array`` and the like: a copy, the array itself, or a list's rows stacked."""
    given, dtype = args[0], kwargs.get("dtype", args[1] if len(args) > 1 else None)
    made = _stacked(given)
    if dtype is not None and made.dtype != np.dtype(dtype):
        made = made.astype(dtype)
    copied = original.__name__ == "array" and kwargs.get("copy", True) not in _ONLY_IF_NEEDED
    in_order = original.__name__ in ("ascontiguousarray", "asfortranarray")
    return made.copy() if (copied or in_order) and made is given else made


def _of_lists(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """A function of NumPy that dispatches once lists among its arguments are arrays."""
    return original(
        *map(_stacked, args), **{name: _stacked(value) for name, value in kwargs.items()}
    )


def _of_sequences(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """A function of a sequence of arrays, in which lists are."""
    arrays, *rest = args
    if isinstance(arrays, (list, tuple)):
        arrays = [_stacked(item) for item in arrays]
    return original(arrays, *rest, **kwargs)


def _stacked(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and holds_recorded(value):
        stack = cast(Any, np.stack)
        rows = [_stacked(item) for item in value]
        shapes = {np.shape(row) for row in rows}
        if len(shapes) > 1:
            raise not_traceable(
                f"an array needs rows of one shape, got {sorted(shapes)}",
                "numpy.concatenate joins arrays of unequal lengths",
            )
        return stack(rows)
    return value


def _vectorized(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """``np.vectorize(f)(…)``: ``f`` of each element."""
    function, *given = args
    if kwargs or function.signature is not None or function.excluded:
        raise not_traceable(
            "numpy.vectorize with a signature, excluded or named arguments cannot be recorded",
            "gradwire.vmap maps a function over an axis",
        )
    arrays: Any = np.broadcast_arrays(*given)
    flat = [array.reshape(-1) for array in arrays]
    each = [function.pyfunc(*[column[i] for column in flat]) for i in range(arrays[0].size)]
    if isinstance(each[0], tuple):
        return tuple(
            [_stacked(list(part)).reshape(arrays[0].shape) for part in zip(*each, strict=True)]
        )
    return _stacked(each).reshape(arrays[0].shape)


def _full(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    given = dict(zip(("shape", "fill_value", "dtype"), args, strict=False)) | dict(kwargs)
    value, dtype = given["fill_value"], given.get("dtype")
    if not isinstance(value, Tracer):  # like=x
        return original(*args, **kwargs)
    broadcast: Any = np.broadcast_to
    made = broadcast(value, given["shape"]).copy()
    return made if dtype is None else made.astype(dtype)


def _joined(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """The arrays that ``np.r_[…]`` and ``np.c_[…]`` join."""
    joining, key = args
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
