"""TensorFlow's convolutions and poolings, whose channels come last by default."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops import formulas
from gradwire_engine.ops.arrays.windows import Windows, bordered, borders, per_axis, span
from gradwire_engine.ops.axes import integers, lengths
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var
    from gradwire_engine.tape import Shape

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class Images:
    """An operand with batches, channels and ``n`` lengths, its channels moved before the lengths.

    The numbers beside it, strides and the like, are one for all lengths, one for each, or one for
    each axis in the order that ``data_format`` says.
    """

    def __init__(self, b: Builder, x: Any, n: int, data_format: Any) -> None:
        var = b.array(x)
        if n not in _FORMATS or var.ndim < n + 2:
            raise ShapeMismatch(f"expected batches, channels and 1 to 3 lengths, got {var.type}")
        formats = _FORMATS[n]
        if data_format is not None and data_format not in formats:
            raise BadArgument(f"data_format is '{formats[0]}' or '{formats[1]}'")
        self.n = n
        self.channels_first = data_format == formats[1]
        self.x: Var = var if self.channels_first else recorded("moveaxis")(b, var, -1, -n - 1)

    @property
    def lengths(self) -> Shape:
        """The last axes of ``x``."""
        return self.x.type.shape[-self.n :]

    def numbers(self, value: Any, name: str) -> Shape:
        """``value`` for each length."""
        given = integers(1 if value is None else value, name)
        if len(given) == self.n + 2:
            given, outer = self._inner(given)
            if outer != (1, 1):
                raise BadArgument(f"{name} must be 1 for batches and channels")
        if len(given) not in (1, self.n):
            raise BadArgument(f"{name} needs 1, {self.n} or {self.n + 2} numbers")
        return per_axis(given, self.n, name)

    def padding(self, value: Any) -> Any:
        """``SAME`` and ``VALID`` as they are, pairs for each axis as pairs for each length."""
        if isinstance(value, str):
            return value
        pairs = value if isinstance(value, list | tuple) else ()
        if len(pairs) != self.n + 2:
            raise BadArgument("padding is 'SAME', 'VALID', or a pair for each axis")
        return self._inner(tuple(pairs))[0]

    def shape(self, value: Any) -> Shape:
        """The lengths in the whole shape ``value``, or themselves."""
        given = lengths(value, "output_shape")
        if len(given) not in (self.n, self.n + 2):
            raise BadArgument(f"output_shape needs {self.n} or {self.n + 2} lengths")
        return given if len(given) == self.n else self._inner(given)[0]

    def back(self, b: Builder, z: Var) -> Any:
        """A result like ``x``, its channels where the operand had them."""
        return z if self.channels_first else recorded("moveaxis")(b, z, -self.n - 1, -1)

    def _inner(self, given: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        if self.channels_first:
            return given[-self.n :], given[: -self.n]
        return given[-self.n - 1 : -1], (*given[: -self.n - 1], given[-1])


def _filters(b: Builder, filters: Any, n: int) -> Var:
    """Filters with their ``n`` lengths last and the two axes after them exchanged."""
    w = b.array(filters)
    if w.ndim != n + 2:
        raise ShapeMismatch(f"filters need {n} lengths and two axes more, got {w.type}")
    reordered: Var = recorded("transpose")(b, w, (n + 1, n, *range(n)))
    return reordered


def _conv(n: int, data_format: str) -> Callable[..., Any]:
    def conv(
        b: Builder,
        input: Any,
        filters: Any,
        strides: Static,
        padding: Static,
        data_format: Static = data_format,
        dilations: Static = None,
    ) -> Any:
        """Layer of ``filters``, an array of shape (lengths, channels, filters).

        Channels beyond those of the filters make groups.
        """
        images, w = Images(b, input, n, data_format), _filters(b, filters, n)
        return _convolved(b, images, w, strides, padding, dilations)

    return conv


def _convolved(
    b: Builder, images: Images, w: Var, strides: Any, padding: Any, dilations: Any
) -> Any:
    channels, each = images.x.type.shape[-images.n - 1], w.type.shape[1]
    groups = channels // each if each and channels % each == 0 else 1
    steps, apart = images.numbers(strides, "strides"), images.numbers(dilations, "dilations")
    padding = images.padding(padding)
    return images.back(b, recorded("conv")(b, images.x, w, steps, padding, apart, groups))


@TF.macro("nn.convolution")
def convolution(
    b: Builder,
    input: Any,
    filters: Any,
    strides: Static = None,
    padding: Static = "VALID",
    data_format: Static = None,
    dilations: Static = None,
) -> Any:
    """Layer of ``filters``, an array of shape (lengths, channels, filters), of 1 to 3 lengths."""
    n = b.array(filters).ndim - 2
    images, w = Images(b, input, n, data_format), _filters(b, filters, n)
    return _convolved(b, images, w, strides, padding, dilations)


@TF.macro("nn.conv1d")
def conv1d(
    b: Builder,
    input: Any,
    filters: Any,
    stride: Static,
    padding: Static,
    data_format: Static = "NWC",
    dilations: Static = None,
) -> Any:
    """Layer of ``filters``, an array of shape (length, channels, filters)."""
    images, w = Images(b, input, 1, data_format), _filters(b, filters, 1)
    return _convolved(b, images, w, stride, padding, dilations)


@TF.macro("nn.depthwise_conv2d")
def depthwise_conv2d(
    b: Builder,
    input: Any,
    filter: Any,
    strides: Static,
    padding: Static,
    data_format: Static = None,
    dilations: Static = None,
) -> Any:
    """Each channel with its own filters: ``filter`` is (height, width, channels, multiplier)."""
    images, w = Images(b, input, 2, data_format), b.array(filter)
    if w.ndim != 4:
        raise ShapeMismatch(f"filter needs 4 axes, got {w.type}")
    *sizes, channels, multiplier = w.type.shape
    w = recorded("transpose")(b, w, (2, 3, 0, 1))
    w = recorded("reshape")(b, w, (channels * multiplier, 1, *sizes))
    return _convolved(b, images, w, strides, padding, dilations)


def _conv_transpose(n: int, data_format: str | None) -> Callable[..., Any]:
    def conv_transpose(
        b: Builder,
        input: Any,
        filters: Any,
        output_shape: Static,
        strides: Static,
        padding: Static = "SAME",
        data_format: Static = data_format,
        dilations: Static = None,
    ) -> Any:
        """The transpose of a layer of ``filters`` that takes an array of ``output_shape``.

        Shapes: ``filters`` is (lengths, channels of the result, channels of ``input``).
        """
        axes = n or b.array(filters).ndim - 2
        images, w = Images(b, input, axes, data_format), _filters(b, filters, axes)
        return _transposed(b, images, w, output_shape, strides, padding, dilations)

    return conv_transpose


def _transposed(
    b: Builder, images: Images, w: Var, shape: Any, strides: Any, padding: Any, dilations: Any
) -> Any:
    steps, apart = images.numbers(strides, "strides"), images.numbers(dilations, "dilations")
    target, sizes = images.shape(shape), w.type.shape[2:]
    pairs = borders(images.padding(padding), target, sizes, steps, apart)
    cut = []
    axes = zip(images.lengths, target, map(span, sizes, apart), steps, pairs, strict=True)
    for count, length, reach, step, (before, after) in axes:
        if (length + before + after - reach) // step + 1 != count:
            raise ShapeMismatch(
                f"output_shape {target} gives other lengths than {images.lengths}",
                hint="it is the shape that the layer would take, not what it gives",
            )
        cut.append((before, step * (count - 1) + reach - before - length))
    z = recorded("conv_transpose")(b, images.x, w, steps, cut, 0, apart)
    return images.back(b, z)


def _pool(n: int, kind: str, data_format: str | None) -> Callable[..., Any]:
    def pool(
        b: Builder,
        input: Any,
        ksize: Static,
        strides: Static,
        padding: Static,
        data_format: Static = data_format,
    ) -> Any:
        """The largest element of each window, or its average, without the padding."""
        images = Images(b, input, n or b.array(input).ndim - 2, data_format)
        return _pooled(b, images, kind, ksize, strides, padding, None)

    return pool


def _passing(pool: Callable[..., Any]) -> Callable[..., Any]:
    """The same, whose second derivative is 0: TensorFlow has one."""

    @functools.wraps(pool)
    def passing(b: Builder, input: Any, *args: Any, **kwargs: Any) -> Any:
        return pool(b, formulas.passing(b.array(input)), *args, **kwargs)

    return passing


def _pooled(
    b: Builder, images: Images, kind: str, size: Any, strides: Any, padding: Any, dilations: Any
) -> Any:
    steps, apart = images.numbers(strides, "strides"), images.numbers(dilations, "dilations")
    sizes, border = images.numbers(size, "ksize"), images.padding(padding)
    return images.back(b, recorded(kind)(b, images.x, sizes, steps, border, apart))


@TF.macro("nn.pool")
def pool(
    b: Builder,
    input: Any,
    window_shape: Static,
    pooling_type: Static,
    strides: Static = None,
    padding: Static = "VALID",
    data_format: Static = None,
    dilations: Static = None,
) -> Any:
    """Largest elements (``pooling_type`` ``MAX``) or averages (``AVG``) of windows."""
    if pooling_type not in ("MAX", "AVG"):
        raise BadArgument("pooling_type is 'MAX' or 'AVG'")
    images = Images(b, input, b.array(input).ndim - 2, data_format)
    kind = "max_pool" if pooling_type == "MAX" else "average_pool"
    return _pooled(b, images, kind, window_shape, strides, padding, dilations)


TF.macro("formulas.pool")(_passing(pool))


@TF.macro("image.extract_patches")
def extract_patches(
    b: Builder, images: Any, sizes: Static, strides: Static, rates: Static, padding: Static
) -> Any:
    """Windows of images, each a row along the last axis: by line, column, channel."""
    found = Images(b, images, 2, "NHWC")
    size, steps = found.numbers(sizes, "sizes"), found.numbers(strides, "strides")
    apart = found.numbers(rates, "rates")
    pairs = borders(found.padding(padding), found.lengths, size, steps, apart)
    windows = Windows(size, steps, apart)(bordered(found.x, pairs))
    count, channels, height, width, *places = windows.type.shape
    rows = recorded("transpose")(b, windows, (0, 4, 5, 2, 3, 1))
    return recorded("reshape")(b, rows, (count, *places, height * width * channels))


for _n, (_last, _) in _FORMATS.items():
    if _n > 1:
        TF.macro(f"nn.conv{_n}d")(_conv(_n, _last))
    TF.macro(f"nn.conv{_n}d_transpose")(_conv_transpose(_n, _last))
    TF.macro(f"nn.max_pool{_n}d")(_pool(_n, "max_pool", _last))
    TF.macro(f"nn.avg_pool{_n}d")(_pool(_n, "average_pool", _last))
    TF.macro(f"formulas.max_pool{_n}d")(_passing(_pool(_n, "max_pool", _last)))
TF.macro("formulas.max_pool")(_passing(_pool(0, "max_pool", None)))
TF.macro("nn.conv_transpose")(_conv_transpose(0, None))
TF.macro("nn.max_pool")(_pool(0, "max_pool", None))
TF.macro("nn.avg_pool")(_pool(0, "average_pool", None))
