"""NumPy's functions that change their first argument, by assignments to recorded arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from gradwire.tracing.calls import into
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace, not_traceable

Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def _copyto(
    trace: Trace, dst: Any, src: Any, casting: Casting = "same_kind", where: Any = True
) -> None:
    kind = src.dtype if hasattr(src, "dtype") else np.asarray(src).dtype
    if not (np.isscalar(src) or np.can_cast(kind, dst.dtype, casting)):
        raise TypeError(f"Cannot cast array data from {kind!r} to {dst.dtype!r}")
    into(dst, src if where is True else _np.where(where, src, dst))


def _putmask(trace: Trace, a: Any, mask: Any, values: Any) -> None:
    into(a, _np.where(mask, _np.resize(values, np.shape(a)), a))


#: How indices outside of an array come to be inside of it, by ``numpy.put``'s mode.
_WITHIN: dict[str, Callable[[Any, int], Any]] = {
    "raise": lambda places, count: places,
    "wrap": lambda places, count: places % count,
    "clip": lambda places, count: np.clip(places, 0, count - 1),
}


def _put(trace: Trace, a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if not isinstance(a, Tracer):
        into(a, v)
    places: Any = ind if isinstance(ind, Tracer) else np.asarray(ind)
    if mode not in _WITHIN:
        raise ValueError(f"clipmode must be one of {', '.join(_WITHIN)} (got {mode!r})")
    ind = _WITHIN[mode](places, a.size)
    a.flat[ind] = v if np.ndim(v) == 0 else _np.resize(v, np.shape(ind))


def _put_along_axis(trace: Trace, arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if not isinstance(arr, Tracer):
        into(arr, values)
    if axis is None:
        arr.flat[indices] = values
        return
    places: list[Any] = list(np.indices(np.shape(indices), sparse=True))
    places[axis] = indices
    arr[tuple(places)] = values


def _fill_diagonal(trace: Trace, a: Any, val: Any, wrap: bool = False) -> None:
    if not isinstance(a, Tracer):
        into(a, val)
    if wrap or np.ndim(val) > 1:
        raise not_traceable(
            "numpy.fill_diagonal with wrap, or values of several axes, cannot be recorded",
            "assign to a[i, i] with i = numpy.arange(n)",
        )
    places = np.arange(min(a.shape))
    a[(places,) * a.ndim] = val


UPDATES: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.copyto: _copyto,
    np.putmask: _putmask,
    np.put: _put,
    np.put_along_axis: _put_along_axis,
    np.fill_diagonal: _fill_diagonal,
}
