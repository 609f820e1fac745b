"""Sums of products of two arrays along axes, without their product."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.axes import without
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import aligned
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.reductions.reductions import spread
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Along shorter rows, of which there are many, einsum is quicker than a call of BLAS for each.
_LONG, _MANY = 32, 2048


@register("inner_products", public=False)
class InnerProducts(Op):
    """Sums of products: ``z = sum x y`` over ``axes`` of operands that broadcast."""

    axes: tuple[int, ...]

    def infer(self, *types: ArrayType) -> ArrayType:
        """The common shape less ``axes``."""
        x, y = types
        shape = broadcast_shapes(x.shape, y.shape)
        return ArrayType(x.dtype, without(shape, self.axes), x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """BLAS where all is summed or rows are long, else einsum."""
        x, y = operands
        if x.shape != y.shape:
            return xp.einsum(_subscripts(self.axes, x.ndim, y.ndim), x, y)
        if len(self.axes) == x.ndim == 1:
            return x.dot(y)
        if self.by_rows(x.shape, x.dtype.kind):
            return xp.vecdot(x, y)
        return xp.einsum(_subscripts(self.axes, x.ndim, y.ndim), x, y)

    def by_rows(self, shape: Shape, kind: str) -> bool:
        """Whether whole rows are summed, each by a call of BLAS."""
        if kind != "f" or self.axes != (len(shape) - 1,):  # of complex rows it conjugates one
            return False
        count = 1
        for length in shape:
            count *= length
        return shape[-1] >= _LONG or count <= _MANY

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar y*``, ``y_bar = z_bar x*``; the reverse walk sums broadcast axes."""
        x, y = operands
        bar = spread(z_bar, self.axes, broadcast_shapes(x.type.shape, y.type.shape))
        return bar * conj(y), bar * conj(x)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Sum in each example."""
        ndim = max([x.ndim - own for x, own in zip(operands, batched, strict=True)])
        axes = tuple([axis + 1 for axis in self.axes])
        return InnerProducts(axes)(*aligned(operands, batched, ndim))

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each element of the product."""
        x, y = types
        return 2 * ArrayType(x.dtype, broadcast_shapes(x.shape, y.shape)).size


@lru_cache(maxsize=1024)
def _subscripts(axes: tuple[int, ...], *ndims: int) -> str:
    """Einsum's, of operands whose axes are aligned from the last."""
    letters = ascii_letters[: max(ndims)]
    result = "".join([letter for i, letter in enumerate(letters) if i not in axes])
    return f"{','.join([letters[len(letters) - ndim :] for ndim in ndims])}->{result}"
