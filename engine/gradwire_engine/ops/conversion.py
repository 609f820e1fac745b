"""Conversion: dtypes of arrays, and arrays of what is none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.promotion import DTYPES, dtype_of
from gradwire_engine.tape import FLOATING, ArrayType, DType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("astype", "cast")
class AsType(Op):
    """The same numbers as ``dtype``; complex to real takes the real part.

    Gradients pass between floating and complex dtypes and return in the operand's; integers and
    booleans carry none.
    """

    dtype: DType
    weak: bool = False
    elementwise = True
    linear = True
    batch = over_stacks

    @classmethod
    def record(cls, b: Builder, x: Any, dtype: Static) -> Any:
        """Record where the dtype differs; naming a dtype makes a literal strong."""
        var, target = b.array(x), dtype_of(dtype)
        if var.type.dtype == target and not var.type.weak:
            return var
        return b.emit(cls(target), var)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same shape, the new dtype."""
        return ArrayType(self.dtype, types[0].shape, self.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Convert; the operand itself where nothing changes."""
        (x,) = operands
        return xp.asarray(xp.real(x) if self.dtype.kind in "iu" + FLOATING else x, dtype=self.dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar`` in the operand's dtype."""
        kind = operands[0].type
        if not (kind.differentiable and z.type.differentiable):
            return (None,)
        return (z_bar.builder.cast(z_bar, kind.dtype),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One conversion per element."""
        return types[0].size


@register("rounded", public=False)
class Rounded(Op):
    """Each number of float32 as the nearest of ``dtype``, float16 or bfloat16, still in float32.

    Also of each item of a stack. Only optimised tapes have it, of which nobody asks derivatives.
    """

    dtype: DType
    differentiable = False
    elementwise = True
    batch = over_stacks

    def infer(self, *types: Any) -> Type:
        """The same."""
        kind: Type = types[0]
        return kind

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Convert there and back."""
        (x,) = operands
        if isinstance(x, list):
            return [xp.rounded(item, self.dtype) for item in x]
        return xp.rounded(x, self.dtype)

    def flops(self, result: Type, *types: Type) -> int:
        """Two conversions per element, of a stack for those of an item."""
        return 2 * result.nbytes // DTYPES["float32"].itemsize


@macro("array", "asarray", "convert_to_tensor")
def array(b: Builder, object: Any, dtype: Static = None) -> Any:
    """An array of ``object``: numbers, arrays, or nested lists of them, which are stacked."""
    var = b.array(object)
    return var if dtype is None else AsType.record(b, var, dtype)


def floating(b: Builder, x: Any) -> Var:
    """``x`` for what NumPy computes in float64 for all integers: means, linear algebra."""
    var = b.array(x)
    if var.type.differentiable:
        return var
    return b.cast(var, DTYPES["float64"], weak=var.type.weak)
