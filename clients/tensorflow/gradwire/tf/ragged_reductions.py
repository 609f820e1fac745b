"""Sums and the like of ragged tensors: of all, of each row, or across rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.ragged_parts import is_ragged, positions
from gradwire.tf.scatter_host import Integers, integers, summed
from gradwire.tf.tensors import METHODS, Tensor

#: The reduction of the elements at one place, by the name of the operation.
HOW: dict[str, str] = {
    "tf.reduce_sum": "sum",
    "tf.reduce_mean": "mean",
    "tf.reduce_prod": "prod",
    "tf.reduce_max": "max",
    "tf.reduce_min": "min",
    "tf.reduce_any": "any",
    "tf.reduce_all": "all",
    "tf.math.reduce_variance": "variance",
    "tf.formulas.reduce_std": "std",
}


def reduced(rows: Any, name: str, function: Callable[..., Any], axis: Any, keepdims: bool) -> Any:
    """The result of a reduction along axes; ``function`` reduces a tensor along one axis."""
    rank = len(rows.shape)
    axes = sorted({int(a) % rank for a in integers(axis).ravel()}) if axis is not None else None
    if axes is None or axes == list(range(rows.ragged_rank + 1)):
        return function(rows.flat_values, None if axes is None else 0)
    for each in reversed(axes):
        rows = _along(rows, name, function, each) if is_ragged(rows) else function(rows, each)
    if keepdims:
        for each in axes:
            rows = METHODS["getitem"](rows, (slice(None),) * each + (None,))
    return rows


def _along(rows: Any, name: str, function: Callable[..., Any], axis: int) -> Any:
    values = rows._values
    if axis > 1:
        inner = _along(values, name, function, axis - 1) if is_ragged(values) else None
        return rows.with_values(function(values, axis - 1) if inner is None else inner)
    if is_ragged(values):
        raise invalid(f"axis {axis} of rows of rows cannot be reduced before those within it")
    lengths = rows._lengths()
    if axis == 1:
        return _at_places(name, values, rows._rowids(), len(rows))
    return _at_places(name, values, positions(lengths), int(lengths.max(initial=0)))


def _at_places(name: str, values: Tensor, places: Integers, count: int) -> Any:
    how = HOW.get(name)
    if how is None:
        raise TypeError(f"{name} is not for ragged tensors")
    if how in ("any", "all"):
        combine = np.logical_or if how == "any" else np.logical_and
        found = np.full(count, how == "all")
        combine.at(found, places, values._value())
        return tensor_of(found)
    if how in ("sum", "prod", "max", "min"):
        most = summed(values, places, count, how)
        empty = np.bincount(places, minlength=count) == 0
        if how in ("sum", "prod") or not empty.any():
            return most
        # As TensorFlow says it: the least, or greatest, of all finite numbers.
        limit = values.dtype.min if how == "max" else values.dtype.max
        empty = empty.reshape(count, *[1] * (len(values._lengths()) - 1))
        ends = np.asarray(limit, values.dtype.storage)
        return call("np.where", empty, ends, most, spec=Spec(values.dtype, most._lengths()))
    counts = np.bincount(places, minlength=count).astype(values.dtype.storage)
    counts = counts.reshape(count, *[1] * (len(values._lengths()) - 1))
    mean = summed(values, places, count) / convert_to_tensor(counts)
    if how == "mean":
        return mean
    variance = summed(values * values, places, count) / convert_to_tensor(counts) - mean * mean
    return variance if how == "variance" else METHODS["pow"](variance, 0.5)
