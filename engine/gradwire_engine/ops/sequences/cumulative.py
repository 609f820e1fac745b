"""Running sums and products, and the recurrence behind their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.ops.base import Cotangents, Op, Static, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.reductions.reductions import widened
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Cumulative(Op):
    """Element i along the axis is the reduction of the elements up to i."""

    axis: int
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, a: Any, axis: Static = None, dtype: Static = None) -> Any:
        """Record along one axis, or over all elements in row-major order.

        A dtype that is named is that of elements and result.
        """
        x = b.array(a) if dtype is None else AsType.record(b, a, dtype)
        if axis is None:
            x, axis = Reshape.record(b, x, x.type.size), 0
        z = cls(axis_of(axis, x.ndim, cls.name))(x)
        return z if dtype is None else b.cast(z, x.dtype)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same shape; integers in 64 bits."""
        (x,) = types
        return x._replace(dtype=widened(x.dtype))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Accumulate."""
        return getattr(xp, self.ufunc)(operands[0], axis=self.axis)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One operation per element."""
        return types[0].size


@register("cumsum")
class CumSum(Cumulative):
    """Running sum along ``axis``: ``z_i = sum_{j<=i} x_j``."""

    axis: int
    ufunc = "cumsum"
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_i = sum_{j>=i} z_bar_j``."""
        flip = Flip((self.axis,))
        return (flip(self(flip(z_bar))),)


@register("cumprod")
class CumProd(Cumulative):
    """Running product along ``axis``: ``z_i = prod_{j<=i} x_j``.

    Convention: right to all orders where some elements are zero, as nothing is divided.
    """

    axis: int
    ufunc = "cumprod"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_i = z_{i-1}* s_i`` with ``s_i = z_bar_i + x_{i+1}* s_{i+1}``."""
        (x,) = operands
        return (conj(shifted(z, self.axis, 1)) * backwards(conj(x), z_bar, self.axis),)


@register("linear_recurrence", public=False)
class LinearRecurrence(Op):
    """``z_i = b_i + a_i z_{i-1}`` along ``axis``, from ``z_0 = b_0``; operands are ``a``, ``b``."""

    axis: int
    batch = along_axes

    def infer(self, *types: ArrayType) -> ArrayType:
        """The operands' type."""
        return types[1]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Step along the axis; all other axes at once."""
        a, b = (xp.moveaxis(x, self.axis, 0) for x in operands)
        z = xp.array(b)
        for i in range(1, len(z)):
            z[i] += a[i] * z[i - 1]
        return xp.moveaxis(z, 0, self.axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``b_bar_i = z_bar_i + a_{i+1}* b_bar_{i+1}``, ``a_bar_i = b_bar_i z_{i-1}*``."""
        b_bar = backwards(conj(operands[0]), z_bar, self.axis)
        return b_bar * conj(shifted(z, self.axis, 0)), b_bar

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum per element."""
        return 2 * types[0].size


def backwards(a: Var, b: Var, axis: int) -> Var:
    """The solution of ``s_i = b_i + a_{i+1} s_{i+1}``."""
    flip = Flip((axis,))
    return flip(LinearRecurrence(axis)(shifted(flip(a), axis, 0), flip(b)))


def shifted(x: Var, axis: int, first: int) -> Var:
    """``x`` moved on by one along ``axis``, with ``first`` in front and its last element gone."""
    shape = x.shape
    if shape[axis] == 0:
        return x
    front = x.builder.full(first, x.type._replace(shape=(*shape[:axis], 1, *shape[axis + 1 :])))
    return Concatenate(axis)(front, sliced(x, axis, 0, shape[axis] - 1))
