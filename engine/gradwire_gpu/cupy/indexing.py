"""Gathers and scatters on the device, by NumPy's rules.

CuPy takes indices out of range modulo the length, and of repeated ones any may be the last.
"""

from __future__ import annotations

from typing import Any

import cupy
import cupyx
from gradwire_engine.tape import Shape

from gradwire_gpu.cupy.requirements import require

__all__ = [
    "add_at",
    "add_rows",
    "combine_rows",
    "getitem",
    "last_writer",
    "setitem",
    "take_along_axis",
]


def getitem(x: Any, index: Any) -> Any:
    """The selected elements.

    Raises: ``IndexError``.
    """
    _require_range(x.shape, index)
    return x[index]


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """The elements at ``indices`` of each vector along ``axis``.

    Raises: ``IndexError``.
    """
    _require_in(indices, x.shape[axis])
    return cupy.take_along_axis(x, indices, axis)


def setitem(x: Any, index: Any, value: Any) -> Any:
    """``x`` with ``value`` at the selected elements; of repeated ones the last stays.

    Raises: ``IndexError``.
    """
    if not _arrays(index):
        z = x.copy()
        z[index] = value
        return z
    writer, numbers = _writers(x.shape, index)
    if not numbers.size:
        return x.copy()
    values = cupy.broadcast_to(value, numbers.shape).ravel()
    return cupy.where(writer > 0, values[cupy.maximum(writer, 1).astype("int64") - 1], x)


def last_writer(shape: Shape, index: Any) -> Any:
    """Where the selected elements are the last of their place in an array of ``shape``.

    Raises: ``IndexError``.
    """
    writer, numbers = _writers(shape, index)
    return writer[index] == numbers


def add_at(shape: Shape, index: Any, rows: Any) -> Any:
    """Zeros of ``shape`` to which ``rows`` are added at the selected elements, in any order.

    Raises: ``IndexError``.
    """
    _require_range(shape, index)
    if rows.dtype.kind == "c":
        z = cupy.empty(shape, rows.dtype)
        z.real, z.imag = (add_at(shape, index, part) for part in (rows.real, rows.imag))
        return z
    # CUDA adds no signed integers of 64 bits, nor shorter ones: modulo 2^64 they are the same.
    dtype = rows.dtype if rows.dtype.kind == "f" else cupy.dtype("uint64")
    z = cupy.zeros(shape, dtype)
    if rows.size:
        cupyx.scatter_add(z, index, rows.astype(dtype, copy=False))
    return z.astype(rows.dtype, copy=False)


def add_rows(shape: Shape, index: Any, rows: Any) -> Any:
    """Zeros of ``shape`` to which ``rows`` are added where ``index`` says, in any order.

    Raises: ``IndexError``.
    """
    return add_at(shape, (index,), rows)


def combine_rows(ufunc: Any, z: Any, ids: Any, rows: Any) -> Any:
    """``z`` with each of its rows combined by ``ufunc`` with those of ``rows`` that have its id.

    Rows are sorted by id; then each is combined with the one before of the same id, with what two
    before have become, with what four before have, and so on.

    Raises: ``IndexError``.
    """
    count = len(z)
    _require_in(ids, count)
    if not rows.size or not count:
        return z
    ids = ids.astype("int64")
    ids = cupy.where(ids < 0, ids + count, ids)
    order = cupy.argsort(ids)
    ids, rows = ids[order], rows[order]
    wide = (slice(None), *[None] * (rows.ndim - 1))
    step = 1
    while step < len(rows):
        both = ufunc(rows[:-step], rows[step:])
        same = (ids[:-step] == ids[step:])[wide]
        rows = cupy.concatenate((rows[:step], cupy.where(same, both, rows[step:])))
        step *= 2
    own = cupy.arange(count)
    last = cupy.maximum(cupy.searchsorted(ids, own, side="right") - 1, 0)
    return cupy.where((ids[last] == own)[wide], ufunc(z, rows[last]), z)


def sliding_window_view(x: Any, window_shape: Shape, axis: Shape) -> Any:
    """All windows of this shape over some axes: their places instead of these, their axes last.

    CuPy's copies the shape to the device, and waits until it was compared there.
    """
    shape = [*x.shape]
    for number, size in zip(axis, window_shape, strict=True):
        shape[number] -= size - 1
    strides = *x.strides, *[x.strides[number] for number in axis]
    return cupy.lib.stride_tricks.as_strided(x, (*shape, *window_shape), strides)


def _writers(shape: Shape, index: Any) -> tuple[Any, Any]:
    """For each element the number of the last that writes it, from 1, else 0; and all numbers."""
    _require_range(shape, index)
    writer = cupy.zeros(shape, "uint64")
    region = writer[index]
    numbers = cupy.arange(1, region.size + 1, dtype="uint64").reshape(region.shape)
    if region.size:
        cupyx.scatter_max(writer, index, numbers)
    return writer, numbers


def _arrays(index: Any) -> list[Any]:
    parts = index if isinstance(index, tuple) else (index,)
    return [part for part in parts if isinstance(part, cupy.ndarray)]


def _require_range(shape: Shape, index: Any) -> None:
    parts = index if isinstance(index, tuple) else (index,)
    axes = [part for part in parts if part is not None]
    for part, length in zip(axes, shape, strict=False):
        if isinstance(part, cupy.ndarray):
            _require_in(part, length)


def _require_in(indices: Any, length: int) -> None:
    if indices.size:
        signed = indices.astype("int64", copy=False)
        inside = (signed >= -length) & (signed < length)
        require(inside.all(), IndexError("an index is out of range"))
