"""Products of float16 and bfloat16, of which a GPU makes several times as many as of float32."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.conversion import AsType, Rounded
from gradwire_engine.ops.halves import HALVES
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.optimize.expressions import Expression, ValueTable
from gradwire_engine.tape import ArrayType, DType, Type

#: Fewer products take no longer in float32 than the conversion of their factors.
_FEWEST_PRODUCTS = 1 << 20
#: Most operations that are looked through between a product and the rounding of a factor.
_MOST_BETWEEN = 8
_SINGLE = DTYPES["float32"]


@register("contract_halves", public=False)
class ContractHalves(Op):
    """A ``Contract`` of float16 or bfloat16, added up in float32, and not rounded.

    Only optimised tapes have it, of which nobody asks derivatives.
    """

    subscripts: str
    differentiable = False
    batch = over_stacks  # not asked

    @property
    def whole(self) -> Contract:
        """The same on float32."""
        return Contract(self.subscripts)

    def infer(self, *types: ArrayType) -> ArrayType:
        """The same shape, in float32."""
        return self.whole.infer(*types)._replace(dtype=_SINGLE)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """On the host: in float32, by BLAS."""
        factors = [xp.asarray(x, dtype=_SINGLE) for x in operands]
        return xp.einsum(self.subscripts, *factors, optimize=True)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """As many as on float32."""
        return self.whole.flops(result, *types)


def of_halves(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Many products of what has been rounded to one of the dtypes: of that dtype."""
    assert isinstance(op, Contract)
    products = math.prod(op.lengths(*map(values.shape, args)).values())
    if products < _FEWEST_PRODUCTS:
        return None
    left, right = (_half_of(arg, values) for arg in args)
    if left is None or left != right:
        return None
    factors: list[Expression] = [_in_half(arg, left, values) for arg in args]
    return ContractHalves(op.subscripts), factors


def _half_of(slot: int, values: ValueTable) -> DType | None:
    """The dtype that a value in float32 has been rounded to."""
    for _ in range(_MOST_BETWEEN):
        op, args, _, _ = values.code[slot]
        if isinstance(op, Rounded):
            return op.dtype
        if len(args) != 1 or op.composite:
            return None
        (slot,) = args
        if isinstance(op, AsType):
            dtype = values.dtype(slot)
            return dtype if dtype in HALVES else None
        if op.rounds:
            return None
    return None


def _in_half(slot: int, half: DType, values: ValueTable) -> Expression:
    """The value in that dtype: what it was converted from, or a conversion."""
    op, args, _, _ = values.code[slot]
    return args[0] if isinstance(op, AsType) else (AsType(half), [slot])
