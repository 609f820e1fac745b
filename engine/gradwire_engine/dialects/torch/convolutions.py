"""PyTorch's convolutions and poolings, of one to three axes after batch and channels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.dialects.torch.scatters import scatter
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.windows import per_axis
from gradwire_engine.ops.axes import integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var
    from gradwire_engine.tape import Shape


def _images(b: Builder, x: Any, n: int) -> Var:
    """``x`` with channels and ``n`` lengths, and at most one axis of batches."""
    var = b.array(x)
    if var.ndim not in (n + 1, n + 2):
        raise ShapeMismatch(
            f"expected an array of shape (batch, channels and {n} lengths), or one without batch, "
            f"got {var.type}"
        )
    return var


def _sizes(value: Any, n: int, name: str = "kernel_size") -> Shape:
    return per_axis(value, n, name)


def _with_bias(b: Builder, z: Var, bias: Any, n: int) -> Any:
    if bias is None:
        return z
    return recorded("add")(b, z, recorded("reshape")(b, bias, (-1, *[1] * n)))


def _filters(b: Builder, weight: Any, n: int) -> Var:
    w = b.array(weight)
    if w.ndim != n + 2:
        raise ShapeMismatch(f"weight needs {n + 2} axes, got {w.type}")
    return w


def _conv(n: int) -> Callable[..., Any]:
    def conv(
        b: Builder,
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Static = 1,
        padding: Static = 0,
        dilation: Static = 1,
        groups: Static = 1,
    ) -> Any:
        """Layer of filters ``weight`` over the lengths after the channels, plus ``bias``."""
        if padding == "same" and any(step != 1 for step in integers(stride, "stride")):
            raise BadArgument("padding 'same' needs stride 1")
        x, w = _images(b, input, n), _filters(b, weight, n)
        z = recorded("conv")(b, x, w, stride, padding, dilation, groups)
        return _with_bias(b, z, bias, n)

    return conv


def _conv_transpose(n: int) -> Callable[..., Any]:
    def conv_transpose(
        b: Builder,
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Static = 1,
        padding: Static = 0,
        output_padding: Static = 0,
        groups: Static = 1,
        dilation: Static = 1,
    ) -> Any:
        """The transpose of a layer of filters ``weight``, plus ``bias``."""
        x, w = _images(b, input, n), _filters(b, weight, n)
        padding = per_axis(padding, n, "padding", 0)
        z = recorded("conv_transpose")(b, x, w, stride, padding, output_padding, dilation, groups)
        return _with_bias(b, z, bias, n)

    return conv_transpose


def _max_pool(n: int) -> Callable[..., Any]:
    def max_pool(
        b: Builder,
        input: Any,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        dilation: Static = 1,
        ceil_mode: Static = False,
        return_indices: Static = False,
    ) -> Any:
        """Largest element of each window, with its index if asked."""
        x, size = _images(b, input, n), _sizes(kernel_size, n)
        return recorded("max_pool")(
            b, x, size, _by_size(stride), padding, dilation, ceil_mode, return_indices
        )

    return max_pool


def _max_unpool(n: int) -> Callable[..., Any]:
    def max_unpool(
        b: Builder,
        input: Any,
        indices: Any,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        output_size: Static = None,
    ) -> Any:
        """Zeros, but for what max_pool took at the ``indices`` that it gave, of repeats the last.

        ``output_size`` is of the last axes, by default what the windows just cover.
        """
        x, at = _images(b, input, n), b.array(indices)
        if at.shape != x.shape:
            raise ShapeMismatch(f"max_unpool needs an index for each element, got {at.type}")
        sizes = _sizes(kernel_size, n)
        strides = sizes if _by_size(stride) is None else _sizes(stride, n, "stride")
        edges = per_axis(padding, n, "padding", 0)
        parts = zip(x.shape[-n:], strides, edges, sizes, strict=True)
        shape = tuple([(count - 1) * step - 2 * edge + size for count, step, edge, size in parts])
        if output_size is not None:
            shape = _fitting(integers(output_size, "output_size")[-n:], shape, strides)
        lead = x.shape[:-n]
        flat, places = (recorded("reshape")(b, v, (math.prod(lead), -1)) for v in (x, at))
        zeros = recorded("zeros")(b, (math.prod(lead), math.prod(shape)), x.dtype)
        return recorded("reshape")(b, scatter(b, zeros, 1, places, flat), (*lead, *shape))

    return max_unpool


def _fitting(lengths: Shape, default: Shape, strides: Shape) -> Shape:
    """``lengths``, if the same windows could have come from them as from ``default`` ones."""
    bounds = zip(lengths, default, strides, strict=False)
    if len(lengths) != len(default) or any(abs(n - own) >= step for n, own, step in bounds):
        raise BadArgument(f"output_size {lengths} is not within a stride, {strides}, of {default}")
    return lengths


def _by_size(stride: Any) -> Any:
    """``stride``, which is the windows' size where none is given."""
    return None if stride in ([], ()) else stride


def _avg_pool(n: int) -> Callable[..., Any]:
    def avg_pool(
        b: Builder,
        input: Any,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        ceil_mode: Static = False,
        count_include_pad: Static = True,
        divisor_override: Static = None,
    ) -> Any:
        """Average of each window, by default with the zeros of the padding."""
        x, size = _images(b, input, n), _sizes(kernel_size, n)
        return recorded("average_pool")(
            b, x, size, _by_size(stride), padding, 1, ceil_mode, count_include_pad, divisor_override
        )

    return avg_pool


def _adaptive_avg_pool(n: int) -> Callable[..., Any]:
    def adaptive_avg_pool(b: Builder, input: Any, output_size: Static) -> Any:
        """Averages of parts, as many as ``output_size`` says along each axis."""
        x = _images(b, input, n)
        return recorded("adaptive_average_pool")(b, x, _lengths(output_size, n))

    return adaptive_avg_pool


def _adaptive_max_pool(n: int) -> Callable[..., Any]:
    def adaptive_max_pool(
        b: Builder, input: Any, output_size: Static, return_indices: Static = False
    ) -> Any:
        """Largest elements of parts, as many as ``output_size`` says along each axis."""
        x = _images(b, input, n)
        return recorded("adaptive_max_pool")(b, x, _lengths(output_size, n), return_indices)

    return adaptive_max_pool


def _lengths(output_size: Any, n: int) -> Any:
    given = output_size if isinstance(output_size, list | tuple) else (output_size,) * n
    if len(given) != n:
        raise BadArgument(f"output_size needs {n} lengths, got {len(given)}")
    return given


def _lp_pool(n: int) -> Callable[..., Any]:
    def lp_pool(
        b: Builder,
        input: Any,
        norm_type: Static,
        kernel_size: Static,
        stride: Static = None,
        ceil_mode: Static = False,
    ) -> Any:
        """``z = (sum x^p)^(1/p)`` of each window; a window that is not full counts as if it were.

        Convention: derivative 0 where the sum is 0.
        """
        if isinstance(norm_type, bool) or not isinstance(norm_type, int | float) or not norm_type:
            raise BadArgument("norm_type must be a number other than 0")
        x, size = b.inexact(_images(b, input, n)), _sizes(kernel_size, n)
        powers = recorded("power")(b, x, norm_type)
        total = recorded("average_pool")(b, powers, size, _by_size(stride), ceil_mode=ceil_mode)
        for length in size:
            total = recorded("multiply")(b, total, length)
        root = recorded("power")(b, total, 1 / norm_type)
        return recorded("where")(b, recorded("equal")(b, total, 0), 0, root)

    return lp_pool


@TORCH.macro("nn.functional.unfold")
def unfold(
    b: Builder,
    input: Any,
    kernel_size: Static,
    dilation: Static = 1,
    padding: Static = 0,
    stride: Static = 1,
) -> Any:
    """Windows of images as columns."""
    x = _images(b, input, 2)
    return recorded("unfold")(b, x, _sizes(kernel_size, 2), stride, padding, dilation)


@TORCH.macro("nn.functional.fold")
def fold(
    b: Builder,
    input: Any,
    output_size: Static,
    kernel_size: Static,
    dilation: Static = 1,
    padding: Static = 0,
    stride: Static = 1,
) -> Any:
    """Columns added up where the windows of images lie."""
    shape, sizes = _sizes(output_size, 2, "output_size"), _sizes(kernel_size, 2)
    return recorded("fold")(b, input, shape, sizes, stride, padding, dilation)


_FAMILIES = {
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "max_pool": _max_pool,
    "max_unpool": _max_unpool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": _adaptive_avg_pool,
    "adaptive_max_pool": _adaptive_max_pool,
    "lp_pool": _lp_pool,
}
for _name, _of in _FAMILIES.items():
    for _n in (1, 2, 3):
        _short = f"{_name}{_n}d"
        _plain = f" {_short}" if _name in ("conv", "conv_transpose") else ""
        TORCH.macro(f"nn.functional.{_short}{_plain}")(_of(_n))
