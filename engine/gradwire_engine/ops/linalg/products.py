"""Products of matrices, vectors and tensors: all of them matmul, or plain products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, swap_last, unsqueeze
from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import aligned
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("matmul", "linalg.matmul")
class MatMul(Op):
    """Matrix product: ``z[..., i, j] = sum_k x[..., i, k] y[..., k, j]``.

    Shapes: matrices in the last two axes, the axes before them broadcast; a vector is a row on the
    left and a column on the right, and that axis goes.
    """

    @classmethod
    def record(cls, b: Builder, x1: Any, x2: Any) -> Any:
        """Record on two arrays, promoted."""
        return cls()(*b.promote(x1, x2))

    def infer(self, *types: ArrayType) -> ArrayType:
        """NumPy's shape rule for vectors, matrices and stacks of matrices."""
        x, y = types
        if not x.shape or not y.shape:
            raise ShapeMismatch(
                f"matmul needs at least 1 axis, got {x} and {y}", hint="multiply scalars with *"
            )
        if x.shape[-1] != y.shape[max(-2, -len(y.shape))]:
            hint = "x @ y sums over the last axis of x and the last but one, or only one, of y"
            if len(y.shape) > 1 and x.shape[-1] == y.shape[-1]:
                hint = "transpose the second operand"
            elif len(x.shape) > 1 and x.shape[-2] == y.shape[max(-2, -len(y.shape))]:
                hint = "transpose the first operand"
            raise ShapeMismatch(
                f"matmul needs equal inner sizes, got {x.shape} and {y.shape}", hint=hint
            )
        batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
        shape = (*batch, *x.shape[-2:-1], *(y.shape[-1:] if len(y.shape) > 1 else ()))
        return ArrayType(x.dtype, shape, x.weak and y.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Multiply; BLAS does it for floating dtypes."""
        return xp.matmul(*operands)

    def cotangent(self, number: int, z_bar: Var, z: Var, *operands: Var) -> Var:
        """``x_bar = z_bar y^H``, ``y_bar = x^H z_bar``; the reverse walk sums broadcast axes."""
        x, y = operands
        if x.ndim == y.ndim == 1:
            return z_bar * conj(operands[1 - number])
        row, column = x.ndim == 1, y.ndim == 1
        if row and y.ndim == 2:
            return pairs(conj(x), z_bar) if number else self(conj(y), z_bar)
        if column and x.ndim == 2:
            return self(conj(swap_last(x)), z_bar) if number else pairs(z_bar, conj(y))
        bar = unsqueeze(z_bar, (z_bar.ndim - row,)) if row or column else z_bar
        if number:
            y_bar = times(conj(swap_last(unsqueeze(x, (0,)) if row else x)), bar)
            return squeezed(y_bar, -1) if column else y_bar
        x_bar = times(bar, conj(swap_last(unsqueeze(y, (1,)) if column else y)))
        return squeezed(x_bar, -2) if row else x_bar

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Stack the products; one shared matrix takes the vectors of all examples at once."""
        (x, y), (left, right) = operands, batched
        row, column = x.ndim - left == 1, y.ndim - right == 1
        if left and not right and y.ndim == 2:
            rows = reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
            return reshape(self(rows, y), (*x.shape[:-1], y.shape[1]))
        if right and not left and x.ndim == 2 and (column or y.shape[2:] == (1,)):
            rows = self(reshape(y, y.shape[:2]), swap_last(x))
            return rows if column else reshape(rows, (*rows.shape, 1))
        rows = unsqueeze(x, (x.ndim - 1,)) if row else x
        columns = unsqueeze(y, (y.ndim,)) if column else y
        z = self(*aligned((rows, columns), batched))
        z = squeezed(z, -1) if column else z
        return squeezed(z, -1 if column else -2) if row else z

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each pair of inner elements."""
        assert isinstance(result, ArrayType)
        return 2 * result.size * types[0].shape[-1]


def squeezed(x: Var, axis: int) -> Var:
    """``x`` without its axis ``axis``, of length 1 and counted from the last."""
    shape = list(x.shape)
    del shape[axis]
    return reshape(x, tuple(shape))


def times(x: Var, y: Var) -> Var:
    """Matrix product, as a plain product where there is nothing to add."""
    return Multiply()(x, y) if x.shape[-1] == 1 else MatMul()(x, y)


def pairs(x: Var, y: Var) -> Var:
    """Products of all pairs of elements."""
    return reshape(x, (x.type.size, 1)) * reshape(y, (1, y.type.size))
