"""Convolution: layers of filters over channels, and of arrays with each other."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import reshape, swap_last
from gradwire_engine.ops.arrays.windows import (
    OverlapAdd,
    Windows,
    bordered,
    borders,
    per_axis,
    span,
)
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.linalg.products import times
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@macro("conv")
def conv(
    b: Builder,
    x: Any,
    w: Any,
    stride: Static = 1,
    padding: Static = 0,
    dilation: Static = 1,
    groups: Static = 1,
    input_dilation: Static = 1,
) -> Any:
    """Layer of filters: ``z[..., f, o] = sum x[..., c, i] w[f, c, k]`` over ``c`` and ``k``.

    ``i = stride o + dilation k - padding``.  Shapes: ``x`` ends in channels and as many lengths as
    ``w`` has after its two axes, filters and channels; with ``groups`` a filter sees only the
    channels of its group.  ``padding`` is a number, one for each axis, a pair (before, after) for
    each, ``same`` or ``valid``; ``input_dilation`` puts zeros between elements.  Source: Dumoulin
    and Visin, A guide to convolution arithmetic for deep learning (2016).
    """
    x, w = b.promote(x, w)
    n = _lengths(x, w, "conv")
    filters, channels, *rest = w.type.shape
    sizes, count = tuple(rest), _groups(groups, filters)
    if x.type.shape[-n - 1] != channels * count:
        raise ShapeMismatch(
            f"conv needs {channels * count} channels, {channels} in each of {count} groups, "
            f"before the last {n} axes, got shape {x.type.shape}"
        )
    strides, dilations = per_axis(stride, n, "stride"), per_axis(dilation, n, "dilation")
    x = _spaced(x, per_axis(input_dilation, n, "input_dilation"))
    pairs = borders(padding, x.type.shape[-n:], sizes, strides, dilations)
    columns = Windows(sizes, strides, dilations)(bordered(x, pairs))
    *batch, _ = x.type.shape[:-n]
    counts = columns.type.shape[-n:]
    inner = channels * math.prod(sizes)
    rows = reshape(w, (count, filters // count, inner))
    z = times(rows, reshape(columns, (*batch, count, inner, math.prod(counts))))
    return reshape(z, (*batch, filters, *counts))


@macro("conv_transpose")
def conv_transpose(
    b: Builder,
    x: Any,
    w: Any,
    stride: Static = 1,
    padding: Static = 0,
    output_padding: Static = 0,
    dilation: Static = 1,
    groups: Static = 1,
) -> Any:
    """The transpose of ``conv`` with the same filters, stride, padding, dilation and groups.

    ``z[..., c, i] = sum x[..., f, o] w[f, c, k]`` with ``i = stride o + dilation k - padding``.
    Shapes: ``w`` has the channels of ``x`` first; lengths are ``stride (n - 1) + dilation (k - 1)
    + 1``, less the padding, and ``output_padding`` zeros at the end.  Padding ``same`` gives
    ``stride n``.
    """
    x, w = b.promote(x, w)
    n = _lengths(x, w, "conv_transpose")
    filters, channels, *rest = w.type.shape
    sizes, count = tuple(rest), _groups(groups, filters)
    *batch, given = x.type.shape[:-n]
    counts = x.type.shape[-n:]
    if given != filters or not all(counts):
        raise ShapeMismatch(
            f"conv_transpose needs {filters} channels before the last {n} axes, none empty, "
            f"got shape {x.type.shape}"
        )
    strides, dilations = per_axis(stride, n, "stride"), per_axis(dilation, n, "dilation")
    more = per_axis(output_padding, n, "output_padding", 0)
    axes = zip(counts, strides, map(span, sizes, dilations), strict=True)
    grown = tuple([step * (m - 1) + over for m, step, over in axes])
    whole = tuple([m * step for m, step in zip(counts, strides, strict=True)])
    pairs = borders(padding, whole, sizes, strides, dilations)
    if isinstance(padding, str) and padding.lower() == "same":
        ends = zip(pairs, grown, whole, strict=True)
        pairs = [(before, length - before - kept) for (before, _), length, kept in ends]
    rows = reshape(w, (count, filters // count, channels * math.prod(sizes)))
    columns = reshape(x, (*batch, count, filters // count, math.prod(counts)))
    z = reshape(times(swap_last(rows), columns), (*batch, count * channels, *sizes, *counts))
    cut = [(-before, extra - end) for (before, end), extra in zip(pairs, more, strict=True)]
    return bordered(OverlapAdd(grown, strides, dilations)(z), cut)


def _lengths(x: Var, w: Var, op: str) -> int:
    """The number of axes of lengths that the filters ``w`` and the layer's input ``x`` end in."""
    n = w.ndim - 2
    if n < 1 or x.ndim <= n:
        raise ShapeMismatch(
            f"{op} needs arrays of (..., channels, *lengths) and (filters, channels, *sizes), "
            f"got {x.type} and {w.type}"
        )
    return n


def _groups(groups: Any, filters: int) -> int:
    count = integer(groups, "groups")
    if count < 1 or filters % count:
        raise ShapeMismatch(f"{filters} filters do not make {count} equal groups")
    return count


def _spaced(x: Var, steps: Shape) -> Var:
    """``x`` with ``step - 1`` zeros between the elements along each of its last axes."""
    n = len(steps)
    shape = x.type.shape
    if all(step == 1 for step in steps) or not all(shape[-n:]):
        return x
    ones = (1,) * n
    grown = tuple(map(span, shape[-n:], steps))
    return OverlapAdd(grown, steps, ones)(reshape(x, (*shape[:-n], *ones, *shape[-n:])))


@register("full_convolution", public=False)
class Convolve(Op):
    """All sums of products ``z_k = sum_j x_j y_{k-j}`` over the last ``ndim`` axes.

    Shapes: ``n + m - 1`` along each of those axes; the axes before them broadcast.
    """

    workspace = 1.0
    ndim: int
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """As long as both together, less 1."""
        x, y = types
        lengths = x.shape[-self.ndim :], y.shape[-self.ndim :]
        if not all(map(all, lengths)):
            raise ShapeMismatch(f"a convolution needs arrays that are not empty, got {x} and {y}")
        shape = [n + m - 1 for n, m in zip(*lengths, strict=True)]
        lead = broadcast_shapes(x.shape[: -self.ndim], y.shape[: -self.ndim])
        return ArrayType(x.dtype, (*lead, *shape), x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Convolve vectors; else add up the larger array, moved and scaled by the other's parts."""
        x, y = operands
        n = self.ndim
        if x.ndim == y.ndim == 1:
            return xp.convolve(x, y)
        if math.prod(x.shape[-n:]) < math.prod(y.shape[-n:]):
            x, y = y, x
        kept, moves = x.shape[-n:], y.shape[-n:]
        lead = broadcast_shapes(x.shape[:-n], y.shape[:-n])
        z = xp.zeros((*lead, *[k + m - 1 for k, m in zip(kept, moves, strict=True)]), x.dtype)
        for place in product(*map(range, moves)):
            target = [slice(i, i + k) for i, k in zip(place, kept, strict=True)]
            z[(..., *target)] += x * y[(..., *place, *[None] * n)]
        return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_j = sum_k z_bar_k y_{k-j}*``, ``y_bar`` likewise."""
        x, y = (reversed_conj(operand, self.ndim) for operand in operands)
        within = ConvolveWithin(self.ndim)
        return within(z_bar, y), within(z_bar, x)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each pair."""
        assert isinstance(result, ArrayType)
        x, y = (math.prod(kind.shape[-self.ndim :]) for kind in types)
        return 2 * math.prod(result.shape[: -self.ndim]) * x * y


@register("valid_convolution", public=False)
class ConvolveWithin(Op):
    """The part of a convolution where ``y`` lies within ``x``: ``z_k = sum_j x_{k+m-1-j} y_j``.

    Shapes: ``n - m + 1`` along each of the last ``ndim`` axes, of ``n`` and ``m <= n``; the axes
    before them broadcast.
    """

    workspace = 1.0
    ndim: int
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """As long as ``x``, less ``y`` but for one."""
        x, y = types
        pairs = list(zip(x.shape[-self.ndim :], y.shape[-self.ndim :], strict=True))
        if not all(n >= m > 0 for n, m in pairs):
            raise ShapeMismatch(f"a convolution needs an array within the other: {x} and {y}")
        lead = broadcast_shapes(x.shape[: -self.ndim], y.shape[: -self.ndim])
        shape = (*lead, *[n - m + 1 for n, m in pairs])
        return ArrayType(x.dtype, shape, x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Convolve vectors; else add up parts of ``x``, or sum each where there are fewer."""
        x, y = operands
        n = self.ndim
        if x.ndim == y.ndim == 1:
            return xp.convolve(x, y, "valid")
        moves = y.shape[-n:]
        kept = [length - m + 1 for length, m in zip(x.shape[-n:], moves, strict=True)]
        lead = broadcast_shapes(x.shape[:-n], y.shape[:-n])
        y = y[(..., *[slice(None, None, -1)] * n)]
        z = xp.zeros((*lead, *kept), x.dtype)
        if math.prod(moves) <= math.prod(kept):
            for place in product(*map(range, moves)):
                part = [slice(i, i + k) for i, k in zip(place, kept, strict=True)]
                z += x[(..., *part)] * y[(..., *place, *[None] * n)]
        else:
            axes = tuple(range(-n, 0))
            for place in product(*map(range, kept)):
                part = [slice(i, i + m) for i, m in zip(place, moves, strict=True)]
                z[(..., *place)] = (x[(..., *part)] * y).sum(axis=axes)
        return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_i = sum_j z_bar_{i-m+1+j} y_j*``, ``y_bar_j = sum_k z_bar_k x_{k+m-1-j}*``."""
        x, y = (reversed_conj(operand, self.ndim) for operand in operands)
        return Convolve(self.ndim)(z_bar, y), self(x, z_bar)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each pair."""
        assert isinstance(result, ArrayType)
        return 2 * math.prod(result.shape) * math.prod(types[1].shape[-self.ndim :])


def reversed_conj(y: Var, ndim: int) -> Var:
    """Conjugate of ``y`` backwards along its last axes: convolving with it correlates."""
    return Flip(tuple(range(y.ndim - ndim, y.ndim)))(conj(y))
