"""Functions of TensorFlow that need dicts or the bounds of dtypes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import dtype_of, finfo

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder
    from gradwire_engine.tape import DType


def _limits(dtype: DType) -> tuple[Any, Any]:
    """The least and the largest number, of integers exactly."""
    found = np.iinfo(dtype) if dtype.kind in "iu" else finfo(dtype)
    kind = int if dtype.kind in "iu" else float
    return kind(found.min), kind(found.max)


@TF.macro("saturate_cast")
def saturate_cast(b: Builder, value: Any, dtype: Static) -> Any:
    """The array in another dtype, with what that cannot hold at its least or largest number."""
    x, target = b.array(value), dtype_of(dtype)
    limits, own = _limits(target), _limits(x.dtype)
    least = x.dtype.type(max(limits[0], own[0]))
    most = x.dtype.type(min(limits[1], own[1]))
    if x.dtype.kind == "f" and int(most) > limits[1]:  # rounded up
        most = np.nextafter(most, x.dtype.type(0))
    held = recorded("clip")(b, x, least.item(), most.item())
    return recorded("astype")(b, held, target)


@TF.macro("dynamic_stitch")
def dynamic_stitch(b: Builder, indices: Static, data: Any) -> Any:
    """The rows of all ``data`` put at their ``indices``; of rows at one place the last stays.

    The indices are taken as known while recording.
    """
    if not isinstance(indices, list | tuple) or not isinstance(data, list | tuple):
        raise BadArgument("dynamic_stitch takes two lists, one of indices and one of arrays")
    parts = [b.array(part) for part in data]
    places = [integers(index, "indices") for index in indices]
    if not places or len(places) != len(parts):
        raise BadArgument("dynamic_stitch needs as many lists of indices as arrays")
    rest = parts[0].shape[isinstance(indices[0], list | tuple) :]
    rows = [
        recorded("reshape")(b, part, (len(place), *rest))
        for place, part in zip(places, parts, strict=True)
    ]
    last = {place: row for row, place in enumerate(chain.from_iterable(places))}
    if sorted(last) != [*range(len(last))]:
        raise BadArgument("dynamic_stitch needs a row for each place up to the last")
    order = [last[place] for place in range(len(last))]
    return recorded("take")(b, recorded("concatenate")(b, rows), b.constant(order), 0)
