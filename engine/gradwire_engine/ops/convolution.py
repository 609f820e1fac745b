"""Convolution and correlation of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.rearranging import Flip
from gradwire_engine.ops.slicing import sliced
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("full_convolution", public=False)
class Convolve(Op):
    """All sums of products ``z_k = sum_j x_j y_{k-j}``, ``n + m - 1`` of them."""

    def infer(self, *types: ArrayType) -> ArrayType:
        """A vector as long as both together, less 1."""
        x, y = types
        if x.ndim != 1 or y.ndim != 1 or not (x.size and y.size):
            raise ShapeMismatch(f"a convolution needs two vectors, not empty, got {x} and {y}")
        return ArrayType(x.dtype, (x.size + y.size - 1,), x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Convolve."""
        return xp.convolve(*operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_j = sum_k z_bar_k y_{k-j}*``, ``y_bar`` likewise."""
        x, y = operands
        return self._adjoint(z_bar, y, x), self._adjoint(z_bar, x, y)

    def _adjoint(self, z_bar: Var, other: Var, like: Var) -> Var:
        start = other.type.size - 1
        return sliced(self(z_bar, Flip((0,))(conj(other))), 0, start, start + like.type.size)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each pair."""
        return 2 * types[0].size * types[1].size


def _part(z: Var, shorter: int, mode: Any, *, late: bool = False) -> Var:
    total = z.type.size
    if mode == "full":
        return z
    if mode == "valid":
        return sliced(z, 0, shorter - 1, total - shorter + 1)
    if mode != "same":
        raise BadArgument("the mode is 'full', 'same' or 'valid'")
    start = shorter // 2 if late else (shorter - 1) // 2
    return sliced(z, 0, start, start + total - shorter + 1)


@macro("convolve")
def convolve(b: Builder, a: Any, v: Any, mode: Static = "full") -> Any:
    """Convolution of vectors: ``z_k = sum_j a_j v_{k-j}``.

    ``mode`` ``full`` gives all, ``same`` the middle ones, as many as the longer vector has, and
    ``valid`` those where the vectors overlap completely.
    """
    x, y = b.promote(a, v)
    return _part(Convolve()(x, y), min(x.type.size, y.type.size), mode)


@macro("correlate")
def correlate(b: Builder, a: Any, v: Any, mode: Static = "valid") -> Any:
    """Correlation of vectors: ``z_k = sum_j a_{j+k} v_j*``; modes as for ``convolve``."""
    x, y = b.promote(a, v)
    z = Convolve()(x, Flip((0,))(conj(y)))
    late = x.type.size < y.type.size
    return _part(z, min(x.type.size, y.type.size), mode, late=late)
