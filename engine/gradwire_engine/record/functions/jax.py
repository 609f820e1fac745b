"""JAX's functions that values decide on: how many elements there are, unless a size is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.record.functions.counted import COUNTED
from gradwire_engine.record.indexing import nonzero
from gradwire_engine.record.recorder import Recorder

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _sized(r: Recorder, x: Var, size: Any, filler: Any) -> Var:
    """The first ``size`` items of ``x``, and where there are fewer ``filler`` after them."""
    if size is None:
        return x
    wanted, (length, *rest) = r.integer(size), x.shape
    missing = r.operation("full", (max(wanted - length, 0), *rest), filler or 0, x.dtype)
    filled = r.operation("concatenate", [x, missing])
    kept: Var = r.operation("split", filled, [wanted])[0]
    return kept


def _nonzero(r: Recorder, a: Any, *, size: Any = None, fill_value: Any = None) -> tuple[Var, ...]:
    """Indices of the elements that are not zero, an array for each axis, of length ``size``."""
    return tuple([_sized(r, index, size, fill_value) for index in nonzero(r, a)])


def _where(
    r: Recorder,
    condition: Any,
    x: Any = None,
    y: Any = None,
    *,
    size: Any = None,
    fill_value: Any = None,
) -> Any:
    """``x`` where the condition is true, else ``y``; alone, the indices where it is."""
    if x is None and y is None:
        return _nonzero(r, condition, size=size, fill_value=fill_value)
    return r.operation("where", condition, x, y)


def _flatnonzero(r: Recorder, a: Any, *, size: Any = None, fill_value: Any = None) -> Var:
    """Indices, in row-major order, of the elements that are not zero, ``size`` of them."""
    return _sized(r, COUNTED["flatnonzero"](r, a), size, fill_value)


def _argwhere(r: Recorder, a: Any, *, size: Any = None, fill_value: Any = None) -> Var:
    """Indices of the elements that are not zero, a row for each, ``size`` of them."""
    return _sized(r, COUNTED["argwhere"](r, a), size, fill_value)


def _bincount(
    r: Recorder, x: Any, weights: Any = None, minlength: Any = 0, *, length: Any = None
) -> Any:
    """The count of each of 0, 1, 2, … up to ``length`` in ``x``, or the sum of its ``weights``."""
    least = minlength if length is None else length
    counts = COUNTED["bincount"](r, x, weights, least)
    return counts if length is None else r.operation("split", counts, [r.integer(length)])[0]


def _segments(kind: str, doc: str) -> Callable[..., Any]:
    def segment(r: Recorder, data: Any, segment_ids: Any, num_segments: Any = None) -> Any:
        if num_segments is None:
            num_segments = r.integer(r.operation("max", segment_ids)) + 1
        return r.operation(f"jax.ops.segment_{kind}", data, segment_ids, num_segments)

    segment.__doc__ = f"{doc} of the rows of each segment, by default of as many as occur."
    return segment


_OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "nonzero": _nonzero,
    "where": _where,
    "flatnonzero": _flatnonzero,
    "argwhere": _argwhere,
    "bincount": _bincount,
}
#: Called as ``function(recorder, *args, **named)``.
COUNTED_BY_JAX: dict[str, Callable[..., Any]] = {
    f"{prefix}.{name}": function
    for prefix in ("jnp", "jax.numpy")
    for name, function in _OF_ARRAYS.items()
} | {
    "jax.ops.segment_sum": _segments("sum", "Sum"),
    "jax.ops.segment_prod": _segments("prod", "Product"),
    "jax.ops.segment_max": _segments("max", "Largest"),
    "jax.ops.segment_min": _segments("min", "Smallest"),
}
