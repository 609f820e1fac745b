"""NumPy's functions that change an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from gradwire.bfloat16 import can_cast
from gradwire.tracing.calls import check_recorded
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable

Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def _copyto(dst: Any, src: Any, casting: Casting = "same_kind", where: Any = True) -> None:
    kind = src.dtype if hasattr(src, "dtype") else np.asarray(src).dtype
    if not (np.isscalar(src) or can_cast(kind, dst.dtype, casting)):
        raise TypeError(f"Cannot cast array data from {kind!r} to {dst.dtype!r}")
    check_recorded(dst)
    dst[...] = src if where is True else _np.where(where, src, dst)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    check_recorded(a)
    a[...] = _np.where(mask, _np.resize(values, np.shape(a)), a)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    check_recorded(arr)
    places = np.flatnonzero(np.asarray(mask))  # decided here, if it is recorded
    if places.size:
        arr.flat[places] = _np.resize(vals, places.shape)


#: The treatment of indices outside of an array, by ``numpy.put``'s mode.
_WITHIN: dict[str, Callable[[Any, int], Any]] = {
    "raise": lambda places, count: places,
    "wrap": lambda places, count: places % count,
    "clip": lambda places, count: np.clip(places, 0, count - 1),
}


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    check_recorded(a)
    places: Any = ind if isinstance(ind, Tracer) else np.asarray(ind)
    if mode not in _WITHIN:
        raise ValueError(f"clipmode must be one of {', '.join(_WITHIN)} (got {mode!r})")
    ind = _WITHIN[mode](places, a.size)
    a.flat[ind] = v if np.ndim(v) == 0 else _np.resize(v, np.shape(ind))


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    check_recorded(arr)
    if axis is None:
        arr.flat[indices] = values
        return
    places: list[Any] = list(np.indices(np.shape(indices), sparse=True))
    places[axis] = indices
    arr[tuple(places)] = values


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    check_recorded(a)
    if wrap or np.ndim(val) > 1:
        raise not_traceable(
            "numpy.fill_diagonal with wrap, or values of several axes, cannot be recorded",
            "assign to a[i, i] with i = numpy.arange(n)",
        )
    a[(np.arange(min(a.shape)),) * a.ndim] = val


MUTATIONS: dict[Any, Callable[..., None]] = {
    np.copyto: _copyto,
    np.putmask: _putmask,
    np.place: _place,
    np.put: _put,
    np.put_along_axis: _put_along_axis,
    np.fill_diagonal: _fill_diagonal,
}
