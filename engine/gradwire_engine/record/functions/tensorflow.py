"""TensorFlow's functions that values decide on: how many elements, rows or classes there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.ops.patterns import ARRAY, FULL, complete_pattern
from gradwire_engine.record.functions.numpy import COUNTED
from gradwire_engine.record.functions.tensorflow_control import CONTROL_BY_TENSORFLOW
from gradwire_engine.record.indexing import nonzero
from gradwire_engine.record.recorder import Recorder

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _where(r: Recorder, condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """``x`` where the condition is true, else ``y``; alone, the indices where it is, in rows."""
    if x is None and y is None:
        return r.operation("stack", nonzero(r, condition), 1)
    return r.operation("where", condition, x, y)


def _boolean_mask(r: Recorder, tensor: Any, mask: Any, axis: Any = None, name: Any = None) -> Var:
    """The parts of ``tensor`` where the mask is true; its axes are those from ``axis`` on."""
    x, chosen = r.b.array(tensor), r.b.array(mask)
    first = 0 if axis is None else axis_of(axis, x.ndim, "boolean_mask")
    if not chosen.ndim or chosen.shape != x.shape[first : first + chosen.ndim]:
        raise BadArgument(f"a mask {chosen.type} does not fit axes {first}… of {x.type}")
    pattern = (*(FULL,) * first, *(ARRAY,) * chosen.ndim)
    return GetItem(complete_pattern(pattern, x.ndim))(x, *nonzero(r, chosen))


def _dynamic_partition(
    r: Recorder, data: Any, partitions: Any, num_partitions: Any, name: Any = None
) -> list[Any]:
    """A list of the parts of ``data`` by the partition that each one's integer names."""
    numbers = range(r.integer(num_partitions))
    return [_boolean_mask(r, data, r.operation("equal", partitions, i)) for i in numbers]


def _segments(reduction: str, none: str) -> Callable[..., Any]:
    def segments(r: Recorder, data: Any, segment_ids: Any, name: Any = None) -> Any:
        x, ids = r.b.array(data), r.b.array(segment_ids)
        count = _least_above(r, ids)
        z = r.operation(f"segment_{reduction}", x, ids, count)
        if reduction not in ("max", "min"):
            return z
        sizes = r.operation("segment_sum", r.operation("ones_like", ids), ids, count)
        empty = r.operation("equal", r.operation("reshape", sizes, (-1, *[1] * (x.ndim - 1))), 0)
        return r.operation("where", empty, 0, z)

    segments.__doc__ = f"Rows with equal ids, which rise, reduced to {none} without rows."
    return segments


def _least_above(r: Recorder, numbers: Var) -> int:
    """The successor of the largest of whole numbers, 0 without any."""
    return r.integer(r.operation("max", numbers)) + 1 if numbers.type.size else 0


def _bincount(
    r: Recorder,
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    name: Any = None,
) -> Any:
    """The count of each of 0, 1, 2, … in ``arr``, or the sum of its ``weights``.

    As many counts as the largest needs, at least ``minlength``, at most ``maxlength``.
    """
    index = r.operation("ravel", r.b.array(arr))
    each = None if weights is None else r.operation("ravel", weights)
    length = _least_above(r, index)
    counts = r.operation("bincount", index, each, max(length, r.integer(minlength or 0), 1))
    if maxlength is not None:
        counts = r.operation("split", counts, [r.integer(maxlength)])[0]
    return counts if each is not None else r.operation("astype", counts, dtype)


def _confusion_matrix(
    r: Recorder,
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = "int32",
    name: Any = None,
) -> Any:
    """The count of each prediction for each label; by default of as many classes as occur."""
    if num_classes is None:
        num_classes = _least_above(r, r.operation("stack", [labels, predictions]))
    given = (labels, predictions, num_classes, weights, dtype)
    return r.operation("tf.math.confusion_matrix", *given)


def _sequence_mask(
    r: Recorder, lengths: Any, maxlen: Any = None, dtype: Any = "bool", name: Any = None
) -> Any:
    """True where a place along a new last axis is below the given length, else the largest."""
    if maxlen is None:
        maxlen = r.operation("max", lengths)
    return r.operation("tf.sequence_mask", lengths, maxlen, dtype)


def _unique_with_counts(r: Recorder, x: Any, out_idx: Any = "int32", name: Any = None) -> list[Any]:
    """A list: the different elements of a vector as they first occur, which of them each element
    is, and how often each occurs.
    """
    values, first, which, counts = COUNTED["unique"](r, x, True, True, True)
    order = r.operation("argsort", first)
    places = r.operation("take", r.operation("argsort", order), which)
    found = [r.operation("take", part, order) for part in (values, counts)]
    return [found[0], *[r.operation("astype", part, out_idx) for part in (places, found[1])]]


def _unique(r: Recorder, x: Any, out_idx: Any = "int32", name: Any = None) -> list[Any]:
    """A list: the different elements of a vector as they first occur, and which of them each is."""
    return _unique_with_counts(r, x, out_idx)[:2]


#: Called as ``function(recorder, *args, **named)``.
COUNTED_BY_TENSORFLOW: dict[str, Callable[..., Any]] = {
    **CONTROL_BY_TENSORFLOW,
    "tf.where": _where,
    "tf.boolean_mask": _boolean_mask,
    "tf.dynamic_partition": _dynamic_partition,
    "tf.math.bincount": _bincount,
    "tf.math.confusion_matrix": _confusion_matrix,
    "tf.sequence_mask": _sequence_mask,
    "tf.unique": _unique,
    "tf.unique_with_counts": _unique_with_counts,
    "tf.math.segment_sum": _segments("sum", "their sum, 0"),
    "tf.math.segment_mean": _segments("mean", "their mean, 0"),
    "tf.math.segment_max": _segments("max", "their largest elements, 0"),
    "tf.math.segment_min": _segments("min", "their smallest elements, 0"),
    "tf.math.segment_prod": _segments("prod", "their product, 1"),
}
