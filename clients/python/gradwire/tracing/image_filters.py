"""Linear filters of ``scipy.ndimage``: one matrix along each axis."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tracing.linear_maps import arguments, record_linear
from gradwire.tracing.traces import not_traceable

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: The parameters of which each axis has its own value.
_OF_AXES = ("sigma", "size", "order", "mode", "origin", "radius")
#: Weights along the axis of the derivative, and along the others.
_DERIVATIVES = {"sobel": [1.0, 2.0, 1.0], "prewitt": [1.0, 1.0, 1.0]}
#: NumPy's names of what stands around an image.
_PADDING: dict[str, Any] = {
    "reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "constant": "constant",
    "wrap": "wrap",
}  # fmt: skip


def _separable(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A filter that is one along each axis, one after the other."""
    given = _given(original, args, kwargs)
    data, axes = given.pop("input"), given.pop("axes", None)
    along = vars(sys.modules["scipy.ndimage"])[f"{original.__name__}1d"]
    chosen = range(data.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    for i, axis in enumerate(chosen):
        own = {name: _of_axis(value, i) if name in _OF_AXES else value
               for name, value in given.items()}  # fmt: skip
        if own.get("sigma", 1) > 1e-15 and own.get("size", 2) > 1:
            data = record_linear(along, data, axis=axis, **own)
    return data


def _derivative(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``sobel`` and ``prewitt``."""
    given = _given(original, args, kwargs)
    data, axis = given.pop("input"), given.pop("axis")
    for each in [axis % data.ndim, *(i for i in range(data.ndim) if i != axis % data.ndim)]:
        weights = [-1.0, 0.0, 1.0] if each == axis % data.ndim else _DERIVATIVES[original.__name__]
        data = _correlated(data, weights, each, given)
    return data


def _windows(given: dict[str, Any], sizes: Sequence[int], *, mirrored: bool = False) -> Any:
    """The elements that each element of the result is computed from, in further axes."""
    data, mode = given["input"], given["mode"]
    if data.dtype.kind not in "fc" or mode not in _PADDING:
        raise not_traceable(
            f"a filter of scipy.ndimage of {data.dtype}, or by mode={mode!r}, cannot be recorded",
            f"convert integers to floats; modes are {', '.join(_PADDING)}",
        )
    widths = []
    for size, shift in zip(sizes, np.broadcast_to(given["origin"], len(sizes)), strict=True):
        before = size // 2 + int(shift)
        before = size - 1 - before if mirrored else before
        widths.append((before, size - 1 - before))
    options = {"constant_values": given["cval"]} if mode == "constant" else {}
    padded = _np.pad(data, widths, mode=_PADDING[mode], **options)
    return _np.lib.stride_tricks.sliding_window_view(padded, tuple(sizes))


def _weighted(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``correlate`` and ``convolve``: sums of windows with weights."""
    given = _given(original, args, kwargs)
    weights, data = _np.asarray(given["weights"]), given["input"]
    mirrored = original.__name__ == "convolve"
    if mirrored:
        weights = weights[(slice(None, None, -1),) * weights.ndim]
    windows = _windows(given, weights.shape, mirrored=mirrored)
    return _np.tensordot(windows, weights, weights.ndim).astype(data.dtype)


def _ranked(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``median_filter``, ``minimum_filter`` and ``maximum_filter`` of boxes."""
    given = _given(original, args, kwargs)
    if given["footprint"] is not None or given.get("axes") is not None:
        raise not_traceable(
            f"scipy.ndimage.{original.__name__} with a footprint or axes cannot be recorded",
            "give size",
        )
    ndim = given["input"].ndim
    sizes = [int(size) for size in np.broadcast_to(given["size"], ndim)]
    windows = _windows(given, sizes)
    each = _np.sort(windows.reshape(*windows.shape[:ndim], -1), axis=-1)
    count = each.shape[-1]
    rank = {"minimum_filter": 0, "median_filter": count // 2}.get(original.__name__, count - 1)
    return each[..., rank]


def _laplace(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``laplace``: the sum of second differences."""
    given = _given(original, args, kwargs)
    data, axes = given.pop("input"), given.pop("axes", None)
    chosen = range(data.ndim) if axes is None else axes
    terms = [_correlated(data, [1.0, -2.0, 1.0], axis, given) for axis in chosen]
    return sum(terms[1:], terms[0])


def _correlated(data: Any, weights: Sequence[float], axis: int, given: dict[str, Any]) -> Any:
    along = vars(sys.modules["scipy.ndimage"])["correlate1d"]
    mode = _of_axis(given["mode"], axis)
    return record_linear(along, data, weights, axis=axis, mode=mode, cval=given["cval"])


def _given(original: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    given = arguments(original, args, kwargs)
    if given.pop("output") is not None:
        raise not_traceable(
            f"scipy.ndimage.{original.__name__} with output cannot be recorded", "take its result"
        )
    return given


def _of_axis(value: Any, axis: int) -> Any:
    return value if np.ndim(value) == 0 else value[axis]


#: Records of functions of ``scipy.ndimage``, given the original first.
IMAGE_FILTERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("gaussian_filter", "uniform_filter"), _separable),
    **dict.fromkeys(
        ("gaussian_filter1d", "uniform_filter1d", "correlate1d", "convolve1d"), record_linear
    ),
    **dict.fromkeys(_DERIVATIVES, _derivative),
    "laplace": _laplace,
    **dict.fromkeys(("correlate", "convolve"), _weighted),
    **dict.fromkeys(("median_filter", "minimum_filter", "maximum_filter"), _ranked),
}
