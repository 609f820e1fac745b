"""``jax.lax``: reductions of windows and of axes by a function, and what windows hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.dialects.jax.products import axis_orders, ordered
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.windows import Windows, bordered, borders, per_axis
from gradwire_engine.ops.axes import integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Functions that reduce: what they are called, of nothing what they give, and the reduction.
_REDUCTIONS = {
    "add": (0, "sum"),
    "mul": (1, "prod"),
    "multiply": (1, "prod"),
    "max": (-math.inf, "max"),
    "maximum": (-math.inf, "max"),
    "min": (math.inf, "min"),
    "minimum": (math.inf, "min"),
}


def _reduction(computation: Any, init_value: Any) -> str:
    """The reduction that a function such as ``lax.max`` is, from its neutral element."""
    name = getattr(computation, "name", "").rpartition(".")[2]
    if name not in _REDUCTIONS:
        raise BadArgument("a reduction takes lax.add, lax.mul, lax.max or lax.min")
    neutral, reduction = _REDUCTIONS[name]
    if isinstance(init_value, bool | int | float) and init_value == neutral:
        return reduction
    raise BadArgument(f"a reduction by {name} begins with {neutral}", hint="combine others after")


@JAX.macro("lax.reduce")
def reduce(
    b: Builder, operands: Any, init_values: Any, computation: Any, dimensions: Static
) -> Any:
    """The reduction over ``dimensions`` by ``lax.add``, ``mul``, ``max`` or ``min``."""
    axes = integers(dimensions, "dimensions")
    return recorded(_reduction(computation, init_values))(b, operands, axes)


@JAX.macro("lax.reduce_window")
def reduce_window(
    b: Builder,
    operand: Any,
    init_value: Any,
    computation: Any,
    window_dimensions: Static,
    window_strides: Static = None,
    padding: Static = "VALID",
    base_dilation: Static = None,
    window_dilation: Static = None,
) -> Any:
    """Sum, largest or smallest of each window over all axes: ``lax.add``, ``max`` or ``min``.

    Convention: of equal elements the first has the derivative.
    """
    x, name = b.array(operand), _reduction(computation, init_value)
    if base_dilation is not None and any(n != 1 for n in integers(base_dilation, "base_dilation")):
        raise BadArgument("reduce_window has base_dilation 1 only", hint="lax.pad puts between")
    strides = 1 if window_strides is None else window_strides
    apart = 1 if window_dilation is None else window_dilation
    if name == "max":
        return recorded("max_pool")(b, x, window_dimensions, strides, padding, apart)
    if name == "min":
        return -recorded("max_pool")(b, -x, window_dimensions, strides, padding, apart)
    if name != "sum":
        raise BadArgument("reduce_window takes lax.add, lax.max or lax.min")
    return recorded("average_pool")(b, x, window_dimensions, strides, padding, apart, divisor=1)


@JAX.macro("lax.conv_general_dilated_patches")
def conv_general_dilated_patches(
    b: Builder,
    lhs: Any,
    filter_shape: Static,
    window_strides: Static,
    padding: Static,
    lhs_dilation: Static = None,
    rhs_dilation: Static = None,
    dimension_numbers: Static = None,
) -> Any:
    """The windows of a convolution, along the channels' axis: all of a channel first."""
    x = b.array(lhs)
    given, _, wanted = axis_orders(dimension_numbers, x.ndim)
    lengths = "".join(name for name in given if name not in "NC")
    if lhs_dilation is not None and any(n != 1 for n in integers(lhs_dilation, "lhs_dilation")):
        raise BadArgument("patches have lhs_dilation 1 only", hint="lax.pad puts between")
    n = len(lengths)
    sizes = per_axis(filter_shape, n, "filter_shape")
    strides = per_axis(window_strides, n, "window_strides")
    apart = per_axis(1 if rhs_dilation is None else rhs_dilation, n, "rhs_dilation")
    x = ordered(b, x, given, f"NC{lengths}")
    pairs = borders(padding, x.shape[2:], sizes, strides, apart)
    z: Var = Windows(sizes, strides, apart)(bordered(x, pairs))
    rows, channels = x.shape[:2]
    z = reshape(z, (rows, channels * math.prod(sizes), *z.shape[2 + n :]))
    return ordered(b, z, f"NC{lengths}", wanted)
