"""Recursive filters of ``scipy.signal``, as scans over the samples."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from gradwire.tracing.control import scan
from gradwire.tracing.linear_maps import record_linear
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def record_lfilter(
    original: Callable[..., Any], b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None
) -> Any:
    """``scipy.signal.lfilter``: ``a[0] y[n] = sum_k b[k] x[n-k] - sum_k a[k] y[n-k]``."""
    numerator, denominator = _coefficients(b, a)
    samples = _np.moveaxis(_float(x), axis, -1)
    dtype = np.result_type(*[each.dtype for each in (numerator, denominator, samples)])
    state = None if zi is None else _np.moveaxis(_float(zi), axis, -1)
    if state is not None:
        dtype = np.result_type(dtype, state.dtype)
    made, last = _filtered(numerator, denominator, samples.astype(dtype), state)
    made = _np.moveaxis(made, -1, axis)
    return made if zi is None else (made, _np.moveaxis(last, -1, axis))


def _filtered(b: Any, a: Any, x: Any, state: Any) -> tuple[Any, Any]:
    """Samples along the last axis, filtered, and the state after them (transposed form II)."""
    order = b.shape[0] - 1
    shape = (*x.shape[:-1], order)
    carry = _np.broadcast_to(0.0 if state is None else state, shape).astype(x.dtype)
    if not order:
        return b[0] * x, carry

    def step(held: Any, sample: Any) -> tuple[Any, Any]:
        y = b[0] * sample + held[..., 0]
        later = _np.concatenate([held[..., 1:], 0 * held[..., :1]], axis=-1)
        moved = later + b[1:] * sample[..., None] - a[1:] * y[..., None]
        return moved.astype(x.dtype), y.astype(x.dtype)

    last, rows = scan(step, carry, _np.moveaxis(x, -1, 0))
    return _np.moveaxis(rows, 0, -1), last


def record_filtfilt(
    original: Callable[..., Any],
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Any:
    """``scipy.signal.filtfilt`` with padding: a filter forward and backward."""
    if method != "pad":
        raise not_traceable(
            f"scipy.signal.filtfilt with method={method!r} cannot be recorded", "use method='pad'"
        )
    numerator, denominator = _coefficients(b, a)
    taps = max(np.size(b), np.size(a))
    zi = _initial(numerator, denominator)

    def filtered(rows: Any, first: Any) -> Any:
        return _filtered(numerator, denominator, rows, zi * first[..., None])[0]

    dtype = np.result_type(numerator.dtype, denominator.dtype, _float(x).dtype)
    return _forward_and_back(filtered, _float(x).astype(dtype), axis, padtype, padlen, 3 * taps)


def record_sosfilt(
    original: Callable[..., Any], sos: Any, x: Any, axis: int = -1, zi: Any = None
) -> Any:
    """``scipy.signal.sosfilt``: second-order sections, one after the other."""
    rows = _np.moveaxis(_float(x), axis, -1)
    rows = rows.astype(np.result_type(rows.dtype, _float(sos).dtype))
    states = None if zi is None else _np.moveaxis(_float(zi), axis if axis < 0 else axis + 1, -1)
    made, ended = _sections(sos, rows, states)
    made = _np.moveaxis(made, -1, axis)
    if zi is None:
        return made
    return made, _np.moveaxis(_np.stack(ended), -1, axis if axis < 0 else axis + 1)


def record_sosfiltfilt(
    original: Callable[..., Any],
    sos: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
) -> Any:
    """``scipy.signal.sosfiltfilt``: second-order sections forward and backward."""
    taps = 2 * len(sos) + 1
    taps -= min(sum(bool(row[2] == 0) for row in sos), sum(bool(row[5] == 0) for row in sos))
    start = _initial_of_sections(sos)

    def filtered(rows: Any, first: Any) -> Any:
        return _sections(sos, rows, [zi * first[..., None] for zi in start])[0]

    data = _float(x)
    data = data.astype(np.result_type(data.dtype, _float(sos).dtype))
    return _forward_and_back(filtered, data, axis, padtype, padlen, 3 * taps)


def record_lfilter_zi(original: Callable[..., Any], b: Any, a: Any) -> Any:
    """``scipy.signal.lfilter_zi``: the state in which the response to ones is steady."""
    return _initial(*_coefficients(b, a))


def record_sosfilt_zi(original: Callable[..., Any], sos: Any) -> Any:
    """``scipy.signal.sosfilt_zi``: such states of all sections."""
    return _np.stack(_initial_of_sections(sos))


def _sections(sos: Any, rows: Any, states: Any) -> tuple[Any, list[Any]]:
    ended = []
    for i in range(len(sos)):
        b, a = _coefficients(sos[i][:3], sos[i][3:])
        rows, last = _filtered(b, a, rows, None if states is None else states[i])
        ended.append(last)
    return rows, ended


def _record_medfilt(original: Callable[..., Any], volume: Any, kernel_size: Any = 3) -> Any:
    """``scipy.signal.medfilt``: the median of each window, with zeros around."""
    sizes = np.broadcast_to(np.asarray(kernel_size, int), volume.ndim)
    if np.any(sizes % 2 == 0):
        raise ValueError("Each element of kernel_size should be odd.")
    padded = _np.pad(volume, [(size // 2, size // 2) for size in sizes])
    windows = _np.lib.stride_tricks.sliding_window_view(padded, tuple(map(int, sizes)))
    return _np.median(windows, axis=tuple(range(-volume.ndim, 0))).astype(volume.dtype)


def _initial(b: Any, a: Any) -> Any:
    order = b.shape[0] - 1
    if not order:
        return np.zeros(0)
    matrix = np.eye(order) - np.eye(order, k=1) + a[1:, None] * np.eye(order)[:1]
    return _np.linalg.solve(matrix, b[1:] - a[1:] * b[0])


def _initial_of_sections(sos: Any) -> list[Any]:
    found, scale = [], 1.0
    for i in range(len(sos)):
        b, a = _coefficients(sos[i][:3], sos[i][3:])
        found.append(scale * _initial(b, a))
        scale = scale * _np.sum(b) / _np.sum(a)
    return found


def _forward_and_back(
    filtered: Callable[[Any, Any], Any],
    x: Any,
    axis: int,
    padtype: str | None,
    padlen: int | None,
    default: int,
) -> Any:
    rows = _np.moveaxis(x, axis, -1)
    if padtype not in ("odd", "even", "constant", None):
        raise ValueError(f"Unknown value {padtype!r} given to padtype.")
    edge = 0 if padtype is None else default if padlen is None else padlen
    if rows.shape[-1] <= edge:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {edge}."
        )
    first, last = rows[..., :1], rows[..., -1:]
    if edge and padtype == "constant":
        before, after = [_np.repeat(end, edge, axis=-1) for end in (first, last)]
    elif edge:
        before, after = rows[..., edge:0:-1], rows[..., -2 : -(edge + 2) : -1]
        if padtype == "odd":
            before, after = 2 * first - before, 2 * last - after
    padded = _np.concatenate([before, rows, after], axis=-1) if edge else rows
    there = filtered(padded, padded[..., 0])
    back = filtered(there[..., ::-1], there[..., -1])[..., ::-1]
    return _np.moveaxis(back[..., edge : back.shape[-1] - edge], -1, axis)


def _coefficients(b: Any, a: Any) -> tuple[Any, Any]:
    """Both of one length, and the first of the denominator 1."""
    pair = [_np.atleast_1d(_float(each)) for each in (b, a)]
    if any(each.ndim != 1 for each in pair):
        raise ValueError("object of too small depth for desired array")
    if not isinstance(pair[1], Tracer) and pair[1][0] == 0:
        raise ValueError("First element of the denominator must be nonzero")
    length = max(each.shape[0] for each in pair)
    whole = [_np.concatenate([each, np.zeros(length - each.shape[0])]) for each in pair]
    return whole[0] / whole[1][0], whole[1] / whole[1][0]


def _float(value: Any) -> Any:
    array = _np.asarray(value)
    return array if array.dtype.kind in "fc" else array.astype(float)


def _record_resample(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    given = signature(original).bind(*args, **kwargs).arguments
    if given.get("t") is not None or given.get("padtype") in ("median", "maximum", "minimum"):
        raise not_traceable(
            f"scipy.signal.{original.__name__} with t, or padding by order, cannot be recorded",
            "leave t out; pad with 'constant', 'line' or 'mean'",
        )
    return record_linear(original, *args, **kwargs)


#: Records of functions of ``scipy.signal``, given the original first.
FILTERS: dict[str, Callable[..., Any]] = {
    "lfilter": record_lfilter,
    "filtfilt": record_filtfilt,
    "sosfilt": record_sosfilt,
    "sosfiltfilt": record_sosfiltfilt,
    "lfilter_zi": record_lfilter_zi,
    "sosfilt_zi": record_sosfilt_zi,
    "medfilt": _record_medfilt,
    "resample": _record_resample,
    "resample_poly": _record_resample,
    **dict.fromkeys(("savgol_filter", "detrend", "decimate", "hilbert"), record_linear),
}
