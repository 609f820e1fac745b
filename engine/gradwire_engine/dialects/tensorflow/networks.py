"""TensorFlow's ``tf.nn``: activations, losses, normalisation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import axes_of
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.conversion import floating

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("nn.sufficient_statistics")
def sufficient_statistics(
    b: Builder, x: Any, axes: Static, shift: Any = None, keepdims: Static = False
) -> Any:
    """A list: how many elements there are over ``axes``, the sums of ``x - shift`` and of its
    square, and ``shift``.
    """
    z = floating(b, x)
    count = math.prod([z.shape[axis] for axis in axes_of(axes, z.ndim, "sufficient_statistics")])
    moved = z if shift is None else recorded("subtract")(b, z, shift)
    sums = [
        recorded("sum")(b, part, axes, keepdims=keepdims)
        for part in (moved, recorded("square")(b, moved))
    ]
    return [b.scalar(count, z.dtype), *sums, shift]


@TF.macro("nn.bias_add")
def bias_add(b: Builder, value: Any, bias: Any, data_format: Static = None) -> Any:
    """``z = value + bias``, a vector along the last axis, or along axis 1 if ``data_format`` begins
    with "NC".
    """
    x, vector = b.promote(value, bias)
    if not isinstance(data_format, str | None) or vector.ndim != 1:
        raise BadArgument("bias_add needs a vector, and a data_format like 'NHWC' or 'NCHW'")
    if data_format is not None and data_format.startswith("NC"):
        vector = recorded("reshape")(b, vector, [-1, *[1] * (x.ndim - 2)])
    return x + vector
