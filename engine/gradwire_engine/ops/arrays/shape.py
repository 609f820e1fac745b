"""Shape: other views of the same elements in the same order, axes permuted, new and unit axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axes_of, few_axes, integers, lengths, reshaped
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, no_arithmetic, register
from gradwire_engine.ops.batching import raised
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.tape import ArrayType, Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class View(Op):
    """The operand's elements seen with another shape; no arithmetic."""

    rounds = False
    linear = True
    views = True

    flops = no_arithmetic


@register("reshape")
class Reshape(View):
    """The elements in row-major order (or "F") with another shape; one length may be -1."""

    shape: Shape

    @classmethod
    def record(cls, b: Builder, a: Any, shape: Static, order: Any = "C") -> Any:
        """Record where the shape differs; order "F" counts the first index fastest."""
        if order not in ("C", "F"):
            raise BadArgument("the order is 'C', row-major, or 'F', column-major")
        var = b.array(a)
        target = reshaped(var.shape, integers(shape, "shape"))
        if order == "C":
            return reshape(var, target)
        turned = transpose(var, tuple(reversed(range(var.ndim))))
        return transpose(reshape(turned, target[::-1]), tuple(reversed(range(len(target)))))

    def infer(self, *types: ArrayType) -> ArrayType:
        """As many elements as before."""
        (x,) = types
        return ArrayType(x.dtype, reshaped(x.shape, self.shape), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Reshape."""
        return operands[0].reshape(self.shape)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` reshaped back."""
        return (reshape(z_bar, operands[0].shape),)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Keep the batch axis."""
        (x,) = operands
        return reshape(x, (x.shape[0], *self.shape))


@register("transpose", "permute_dims")
class Transpose(View):
    """Axes permuted: axis i of the result is axis ``axes[i]``; reversed by default."""

    axes: tuple[int, ...]

    @classmethod
    def record(cls, b: Builder, a: Any, axes: Static = None) -> Any:
        """Record where the order of axes changes."""
        var = b.array(a)
        if axes is None:
            return transpose(var, tuple(reversed(range(var.ndim))))
        order = axes_of(axes, var.ndim, "transpose")
        if len(order) != var.ndim:
            raise ShapeMismatch(f"transpose needs all {var.ndim} axes, got {order}")
        return transpose(var, order)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Lengths permuted."""
        (x,) = types
        return ArrayType(x.dtype, tuple([x.shape[axis] for axis in self.axes]), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Permute strides."""
        return operands[0].transpose(self.axes)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` with the axes back in place."""
        return (transpose(z_bar, tuple([self.axes.index(i) for i in range(len(self.axes))])),)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Keep the batch axis first."""
        return Transpose((0, *[axis + 1 for axis in self.axes]))(*operands)


@register("broadcast_to")
class BroadcastTo(View):
    """The operand repeated along new leading axes and axes of length 1."""

    shape: Shape

    @classmethod
    def record(cls, b: Builder, array: Any, shape: Static) -> Any:
        """Record where the shape differs."""
        return b.broadcast(b.array(array), lengths(shape))

    def infer(self, *types: ArrayType) -> ArrayType:
        """The target shape, if the operand's broadcasts to it."""
        (x,) = types
        if broadcast_shapes(x.shape, self.shape) != self.shape:
            raise ShapeMismatch(f"{x.shape} does not broadcast to {self.shape}")
        return ArrayType(x.dtype, few_axes(self.shape), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Repeat by strides of 0."""
        return xp.broadcast_to(operands[0], self.shape)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``; the reverse walk sums over what was repeated."""
        return (z_bar,)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Keep the batch axis before the new ones."""
        x = raised(operands[0], len(self.shape))
        return x.builder.broadcast(x, (x.shape[0], *self.shape))


def reshape(x: Var, shape: Shape) -> Var:
    """``x`` with the given shape, which has no -1."""
    return x if x.shape == shape else Reshape(shape)(x)


def transpose(x: Var, axes: tuple[int, ...]) -> Var:
    """``x`` with its axes permuted."""
    return x if axes == tuple(range(len(axes))) else Transpose(axes)(x)


@macro("ravel", "flatten")
def ravel(b: Builder, a: Any, order: Any = "C") -> Any:
    """All elements along one axis, in row-major order, or column-major ("F")."""
    return Reshape.record(b, a, -1 if b.array(a).type.size else 0, order)


@macro("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(b: Builder, x: Any) -> Any:
    """The last two axes exchanged."""
    return swap_last(b.array(x))


def swap_last(x: Var) -> Var:
    """``x`` with its last two axes exchanged."""
    n = x.ndim
    if n < 2:
        raise ShapeMismatch(f"matrices need at least 2 axes, got {x.type}")
    return Transpose((*range(n - 2), n - 1, n - 2))(x)


@macro("moveaxis")
def moveaxis(b: Builder, a: Any, source: Static, destination: Static) -> Any:
    """The axes ``source`` moved to the places ``destination``, the others in their order."""
    var = b.array(a)
    sources, places = (axes_of(axes, var.ndim, "moveaxis") for axes in (source, destination))
    if source is None or destination is None or len(sources) != len(places):
        raise BadArgument("moveaxis needs as many destinations as sources")
    order = [axis for axis in range(var.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return transpose(var, tuple(order))


def unsqueeze(x: Var, places: tuple[int, ...]) -> Var:
    """``x`` with axes of length 1 at ``places`` of the result."""
    rest = iter(x.shape)
    ndim = len(few_axes((*x.shape, *places)))
    return reshape(x, tuple([1 if axis in places else next(rest) for axis in range(ndim)]))
