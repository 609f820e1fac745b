"""Convolution: layers of filters over channels, and of arrays with each other."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


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
