"""Sums, means and the like of the parts of a tensor that have one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf import checks, dtypes, static
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.errors import invalid
from gradwire.tf.gathering import where
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import kinds
from gradwire.tf.operations.types import Ints, TensorLike
from gradwire.tf.operators import cast
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant

__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum",
]  # fmt: skip


def _of_sorted(
    data: TensorLike, segment_ids: TensorLike, name: str | None = None
) -> Callable[..., Tensor]:
    return lambda kind: _sorted(kind, data, segment_ids)


@variant(_of_sorted, "sum")
def segment_sum() -> Tensor:
    """Sum of the rows with each number; numbers are sorted."""


@variant(_of_sorted, "mean")
def segment_mean() -> Tensor:
    """Mean of the rows with each number, 0 of none; numbers are sorted."""


@variant(_of_sorted, "max")
def segment_max() -> Tensor:
    """Largest elements of the rows with each number, 0 of none; numbers are sorted."""


@variant(_of_sorted, "min")
def segment_min() -> Tensor:
    """Least elements of the rows with each number, 0 of none; numbers are sorted."""


@variant(_of_sorted, "prod")
def segment_prod() -> Tensor:
    """Product of the rows with each number, 1 of none; numbers are sorted."""


def _of_unsorted(
    data: Any, segment_ids: Any, num_segments: Ints, name: str | None = None
) -> Callable[..., Tensor]:
    return lambda kind: _unsorted(kind, data, segment_ids, num_segments)


@variant(_of_unsorted, "sum")
def unsorted_segment_sum() -> Tensor:
    """Sum of the parts with each number; those with a negative one are left out."""


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Ints, name: str | None = None
) -> Tensor:
    """Mean of the parts with each number, 0 of none; in float64 for integers."""
    kind = data.dtype if hasattr(data, "dtype") else convert_to_tensor(data).dtype
    data = cast(data, dtypes.float64) if dtypes.as_dtype(kind).is_integer else data
    return _unsorted("mean", data, segment_ids, num_segments)


@variant(_of_unsorted, "max")
def unsorted_segment_max() -> Tensor:
    """Largest elements of the parts with each number, the least finite number of none."""


@variant(_of_unsorted, "min")
def unsorted_segment_min() -> Tensor:
    """Least elements of the parts with each number, the largest finite number of none."""


@variant(_of_unsorted, "prod")
def unsorted_segment_prod() -> Tensor:
    """Product of the parts with each number."""


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Ints, name: str | None = None
) -> Tensor:
    """Sum of the parts with each number, divided by the root of how many they are."""
    kind = data.dtype if hasattr(data, "dtype") else convert_to_tensor(data).dtype
    checks.check_allowed("Sqrt", dtypes.as_dtype(kind), kinds.INEXACT)
    return _unsorted("sqrt_n", data, segment_ids, num_segments)


def _sorted(kind: str, data: Any, segment_ids: Any) -> Tensor:
    x, numbers = convert_to_tensor(data), static.array(segment_ids)
    op = f"Segment{kind.title()}"
    if numbers.ndim != 1:
        raise invalid(f"segment_ids should be a vector. [Op:{op}]")
    if len(numbers) != x._lengths()[0]:
        raise invalid(f"segment_ids should be the same size as dimension 0 of input. [Op:{op}]")
    if np.any(np.diff(numbers) < 0) or (len(numbers) and numbers[0] < 0):
        raise invalid(f"segment ids are not increasing [Op:{op}]")
    count = int(numbers[-1]) + 1 if len(numbers) else 0
    reduced = _unsorted(kind, x, numbers, count)
    return _filled(reduced, numbers, 0) if kind in ("max", "min") else reduced


def _unsorted(kind: str, data: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    if hasattr(data, "flat_values") and hasattr(segment_ids, "flat_values"):
        data, segment_ids = data.flat_values, segment_ids.flat_values
    x, numbers = convert_to_tensor(data), convert_to_tensor(segment_ids)
    op = f"UnsortedSegment{kind.title()}"
    checks.check_allowed(op, x.dtype, kinds.EXTREMES if kind in ("max", "min") else kinds.SUMS)
    count, lengths, places = static.integer(num_segments), x._lengths(), numbers._value()
    if lengths[: places.ndim] != places.shape:
        raise invalid(
            f"data.shape = {static.listed(lengths)} does not start with segment_ids.shape = "
            f"{static.listed(places.shape)} [Op:{op}]"
        )
    if places.size and places.max() >= count:
        first = tuple(np.argwhere(places >= count)[0].tolist())
        raise invalid(
            f"segment_ids[{','.join(map(str, first))}] = {places[first]} is out of range "
            f"[0, {count}) [Op:{op}]"
        )
    spec = Spec(x.dtype, (count, *lengths[places.ndim :]))
    reduced = call(f"tf.math.unsorted_segment_{kind}", x, numbers, count, spec=spec)
    if kind not in ("max", "min"):
        return reduced
    return _filled(reduced, places, x.dtype.min if kind == "max" else x.dtype.max)


def _filled(reduced: Tensor, numbers: Any, value: Any) -> Tensor:
    """Segments of a largest or least element: those of nothing have a value of their own."""
    count, *rest = reduced._lengths()
    present = np.isin(np.arange(count), numbers)
    if present.all():
        return reduced
    kept = present.reshape(-1, *[1] * len(rest))
    return where(kept, reduced, np.asarray(value, reduced.dtype.storage))
