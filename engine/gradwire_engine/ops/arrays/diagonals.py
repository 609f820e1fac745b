"""Diagonals and triangles of matrices in the last two axes, and matrices made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.shape import View
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Cotangents, Op, Static, no_arithmetic, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.tape import ArrayType, Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def diagonal_length(rows: int, columns: int, offset: int) -> int:
    """The number of elements on a diagonal."""
    return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))


def nearest_offset(offset: int, shape: Shape) -> int:
    """``offset``, or that of the nearest empty diagonal: NumPy's integers hold none far beyond.

    The triangles on both sides of it are those of all farther ones.
    """
    return max(-shape[-2], min(offset, shape[-1]))


@register("matrix_diagonal", public=False)
class MatrixDiagonal(View):
    """Elements ``offset`` above the diagonal of each matrix: ``z_i = x[i, i + offset]``."""

    offset: int
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """Diagonals along the last axis."""
        (x,) = types
        *batch, rows, columns = x.shape
        length = diagonal_length(rows, columns, self.offset)
        return ArrayType(x.dtype, (*batch, length), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Take strides along both axes at once."""
        (x,) = operands
        return xp.diagonal(x, nearest_offset(self.offset, x.shape), -2, -1)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is zero but for the diagonal, which is ``z_bar``."""
        *_, rows, columns = operands[0].shape
        return (OnDiagonal(rows, columns, self.offset)(z_bar),)


@register("on_diagonal", public=False)
class OnDiagonal(Op):
    """Matrices of zeros but for the diagonal ``offset``, which is the operand's last axis."""

    rows: int
    columns: int
    offset: int
    rounds = False
    linear = True
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """One axis becomes two."""
        (x,) = types
        return ArrayType(x.dtype, (*x.shape[:-1], self.rows, self.columns), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Write into zeros."""
        (x,) = operands
        z = xp.zeros((*x.shape[:-1], self.rows * self.columns), x.dtype)
        first, step = max(self.offset, -self.offset * self.columns), self.columns + 1
        z[..., first : first + x.shape[-1] * step : step] = x
        return z.reshape(*x.shape[:-1], self.rows, self.columns)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is the diagonal of ``z_bar``."""
        return (MatrixDiagonal(self.offset)(z_bar),)

    flops = no_arithmetic


class Triangle(Op):
    """Each matrix with zeros on one side of diagonal ``k``."""

    k: int
    rounds = False
    linear = True
    batch = over_stacks

    @classmethod
    def record(cls, b: Builder, m: Any, k: Static = 0) -> Any:
        """Record on matrices in the last two axes."""
        return cls(integer(k, "k"))(b.array(m))

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type, of matrices."""
        (x,) = types
        if x.ndim < 2:
            raise ShapeMismatch(f"{self.name} needs at least 2 axes, got {x}")
        return x

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Select."""
        (x,) = operands
        return getattr(xp, self.ufunc)(x, nearest_offset(self.k, x.shape))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is the same side of ``z_bar``."""
        return (self(z_bar),)

    flops = no_arithmetic


@register("tril")
class Tril(Triangle):
    """Lower triangle of each matrix: zeros above diagonal ``k``."""

    k: int = 0
    ufunc = "tril"


@register("triu")
class Triu(Triangle):
    """Upper triangle of each matrix: zeros below diagonal ``k``."""

    k: int = 0
    ufunc = "triu"


def embedded(x: Var, offset: int = 0) -> Var:
    """Square matrices with the last axis of ``x`` on diagonal ``offset``, else zeros."""
    side = x.shape[-1] + abs(offset)
    return OnDiagonal(side, side, offset)(x)
