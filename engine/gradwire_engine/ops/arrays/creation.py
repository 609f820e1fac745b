"""Arrays made from nothing but numbers: filled, counted; never stored in the tape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.axes import lengths
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.promotion import DTYPES, dtype_of
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, DType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Scalar, Var


@macro("zeros", "empty")
def zeros(b: Builder, shape: Static, dtype: Static = "float64") -> Any:
    """An array of zeros."""
    return b.full(0, ArrayType(dtype_of(dtype), lengths(shape)))


@macro("ones")
def ones(b: Builder, shape: Static, dtype: Static = "float64") -> Any:
    """An array of ones."""
    return b.full(1, ArrayType(dtype_of(dtype), lengths(shape)))


@macro("full", "fill")
def full(b: Builder, shape: Static, fill_value: Any, dtype: Static = None) -> Any:
    """An array in which every element is ``fill_value``, or it repeated, if it is an array."""
    value = b.array(fill_value)
    target = value.dtype if dtype is None else dtype_of(dtype)
    return b.broadcast(AsType.record(b, value, target), lengths(shape))


def _like(b: Builder, a: Any, value: Scalar, dtype: Any, shape: Any) -> Var:
    kind = b.array(a).type
    target = kind.dtype if dtype is None else dtype_of(dtype)
    return b.full(value, ArrayType(target, kind.shape if shape is None else lengths(shape)))


@macro("zeros_like", "empty_like", differentiable=False)
def zeros_like(b: Builder, a: Any, dtype: Static = None, shape: Static = None) -> Any:
    """Zeros of the shape and dtype of ``a``, on whose values they do not depend."""
    return _like(b, a, 0, dtype, shape)


@macro("ones_like", differentiable=False)
def ones_like(b: Builder, a: Any, dtype: Static = None, shape: Static = None) -> Any:
    """Ones of the shape and dtype of ``a``, on whose values they do not depend."""
    return _like(b, a, 1, dtype, shape)


@macro("full_like")
def full_like(
    b: Builder, a: Any, fill_value: Any, dtype: Static = None, shape: Static = None
) -> Any:
    """An array of the shape and dtype of ``a`` in which every element is ``fill_value``."""
    kind = b.array(a).type
    return full(b, kind.shape if shape is None else shape, fill_value, dtype or kind.dtype)


@register("progression", public=False)
class Progression(Op):
    """``length`` numbers from ``start`` in steps of ``step``: ``z_k = start + k step``."""

    length: int
    linear = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """A vector."""
        return types[0]._replace(shape=(self.length,))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Count, scale and shift."""
        start, step = operands
        dtype = xp.asarray(start).dtype
        return start + xp.arange(self.length).astype(dtype) * step

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Scale and shift one count by the numbers of each example."""
        start, step = [reshape(x, (x.shape[0], 1)) for x in everywhere(operands, batched)]
        zero, one = (start.constant(n) for n in (0, 1))
        return start + self(zero, one) * step

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``start_bar = sum z_bar``, ``step_bar = sum k z_bar_k``."""
        return Sum((0,))(z_bar), Sum((0,))(z_bar * count(z_bar.builder, self.length, z.dtype))

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum per element."""
        return 2 * self.length


def count(b: Builder, length: int, dtype: DType) -> Var:
    """The numbers from 0 to before ``length``."""
    return Progression(length)(b.scalar(0, dtype), b.scalar(1, dtype))


@macro("arange", "range", differentiable=False)
def arange(
    b: Builder, start: Static, stop: Static = None, step: Static = 1, dtype: Static = None
) -> Any:
    """Numbers from ``start`` (0 if only one is given) to before ``stop`` in steps of ``step``."""
    first, last = (0, start) if stop is None else (start, stop)
    for bound in (first, last, step):
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            raise BadArgument(
                f"arange needs known numbers, got {describe(bound)}",
                hint="a length may come from a literal, a shape or an integer variable",
            )
    if step == 0 or not math.isfinite(first + last + step):
        raise BadArgument("arange needs finite bounds and a step other than 0")
    whole = all(isinstance(bound, int) for bound in (first, last, step))
    target = DTYPES["int64" if whole else "float64"] if dtype is None else dtype_of(dtype)
    steps = (last - first) / step
    if not math.isfinite(steps):
        raise BadArgument("arange would have infinitely many numbers: the step is too small")
    length = -((first - last) // step) if whole else math.ceil(steps)
    return Progression(max(0, length))(b.scalar(first, target), b.scalar(step, target))
