"""Reductions: sums over axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.axes import axes_of, flag, with_ones, without
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.shape import reshape
from gradwire_engine.tape import ArrayType, DType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Reduction(Op):
    """Elements along ``axes`` become one; the axes go, and ``keepdims`` puts them back as 1."""

    axes: tuple[int, ...]

    @classmethod
    def over(cls, x: Var, axes: tuple[int, ...], *, keepdims: bool = False) -> Var:
        """Record over ``axes`` (counted from the first, each once)."""
        op = cls(tuple(sorted(axes)))
        if not axes and op.result_dtype(x.dtype) == x.dtype:
            return x
        z = op(x)
        return reshape(z, with_ones(x.type.shape, axes)) if keepdims else z

    def infer(self, *types: ArrayType) -> ArrayType:
        """The shape less ``axes``."""
        (x,) = types
        return ArrayType(self.result_dtype(x.dtype), without(x.shape, self.axes), x.weak)

    def result_dtype(self, dtype: DType) -> DType:
        """The operand's dtype."""
        return dtype

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One operation per element."""
        return types[0].size


def widened(dtype: DType) -> DType:
    """Where NumPy adds and multiplies many: booleans and small integers in 64 bits."""
    if dtype.kind in "bi":
        return DTYPES["int64"]
    return DTYPES["uint64"] if dtype.kind == "u" else dtype


@register("sum", "reduce_sum")
class Sum(Reduction):
    """Sum over ``axis`` (all axes by default): ``z = sum x``; integers add up in 64 bits."""

    axes: tuple[int, ...]
    linear = True

    @classmethod
    def record(
        cls, b: Builder, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False
    ) -> Any:
        """Record on one array, converted first where a dtype is named."""
        x = b.array(a) if dtype is None else AsType.record(b, a, dtype)
        return cls.over(x, axes_of(axis, x.ndim, "sum"), keepdims=flag(keepdims, "keepdims"))

    def result_dtype(self, dtype: DType) -> DType:
        """At least 64 bits for integers."""
        return widened(dtype)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Add up."""
        return xp.sum(operands[0], axis=self.axes)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, broadcast."""
        return (spread(z_bar, self.axes, operands[0].type.shape),)


def spread(z: Var, axes: tuple[int, ...], shape: Shape) -> Var:
    """What a reduction over ``axes`` gave, broadcast to the operand's ``shape`` again."""
    if axes != tuple(range(len(axes))):
        z = reshape(z, with_ones(shape, axes))
    return z.builder.broadcast(z, shape)


def sum_to(x: Var, shape: Shape) -> Var:
    """Sum over what broadcasting from ``shape`` repeated: broadcasting transposed."""
    if x.type.shape == shape:
        return x
    extra = x.ndim - len(shape)
    axes = [*range(extra)]
    axes += [
        axis
        for axis, (short, long) in enumerate(zip(shape, x.type.shape[extra:], strict=True), extra)
        if short == 1 and long != 1
    ]
    return reshape(Sum(tuple(axes))(x), shape)
