"""PyTorch's methods: ``x.view(2, -1)``, or ``torch.Tensor.view(x, 2, -1)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import DTYPES, TORCH, listed
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.windows import Windows
from gradwire_engine.ops.axes import axis_of, integer, integers, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.elementwise import broadcast_shapes

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("Tensor.expand")
def expand(b: Builder, input: Any, *size: Static) -> Any:
    """The array repeated along new leading axes and those of length 1; a length -1 stays."""
    x = b.array(input)
    target = integers(listed(size), "size")
    new = len(target) - x.ndim
    if new < 0:
        raise ShapeMismatch(f"expand needs a length for each axis of {x.type}, got {target}")
    kept = [x.shape[i - new] if n == -1 and i >= new else n for i, n in enumerate(target)]
    return b.broadcast(x, lengths(kept, "size"))


@TORCH.macro("Tensor.expand_as")
def expand_as(b: Builder, input: Any, other: Any) -> Any:
    """The array repeated to the shape of ``other``."""
    return expand(b, input, *b.array(other).type.shape)


@TORCH.macro("Tensor.view")
def view(b: Builder, input: Any, *shape: Static) -> Any:
    """The elements in row-major order with other lengths, one of them perhaps -1."""
    return recorded("reshape")(b, input, listed(shape))


@TORCH.macro("Tensor.repeat")
def repeat(b: Builder, input: Any, *sizes: Static) -> Any:
    """The array as often one after the other as ``sizes`` says, along new leading axes too."""
    x, counts = b.array(input), integers(listed(sizes), "sizes")
    if len(counts) < x.ndim:
        raise ShapeMismatch(f"repeat needs a count for each axis of {x.type}, got {counts}")
    return recorded("tile")(b, x, counts)


@TORCH.macro("Tensor.size")
def size(b: Builder, input: Any, dim: Static = None) -> Any:
    """Lengths of all axes, or of ``dim``, known while recording."""
    x = b.array(input)
    return x.shape if dim is None else x.shape[axis_of(dim, x.ndim, "size")]


@TORCH.macro("Tensor.to")
def to(
    b: Builder,
    input: Any,
    *args: Any,
    dtype: Static = None,
    device: Any = None,
    non_blocking: Any = False,
    copy: Any = False,
) -> Any:
    """The elements as a dtype, or as that of another array; where they are is no matter here."""
    for given in args:
        if not isinstance(given, str | bool):
            dtype = given.dtype if isinstance(given, Var) else given
    return b.array(input) if dtype is None else recorded("astype")(b, input, dtype)


def _new(b: Builder, input: Any, size: tuple[Any, ...], value: Any, dtype: Any) -> Any:
    return recorded("full")(b, listed(size), value, dtype or b.array(input).dtype)


@TORCH.macro("Tensor.new_zeros Tensor.new_empty")
def new_zeros(b: Builder, input: Any, *size: Static, dtype: Static = None) -> Any:
    """Zeros of the array's dtype."""
    return _new(b, input, size, 0, dtype)


@TORCH.macro("Tensor.new_ones")
def new_ones(b: Builder, input: Any, *size: Static, dtype: Static = None) -> Any:
    """Ones of the array's dtype."""
    return _new(b, input, size, 1, dtype)


@TORCH.macro("Tensor.sum_to_size")
def sum_to_size(b: Builder, input: Any, *size: Static) -> Any:
    """Sums over the axes along which an array of ``size`` would be repeated to this shape."""
    x, target = b.array(input), lengths(listed(size), "size")
    if broadcast_shapes(x.shape, target) != x.shape:
        raise ShapeMismatch(f"shape {target} does not broadcast to {x.shape}")
    new = x.ndim - len(target)
    ones = [i for i, n in enumerate(x.shape) if i >= new and n != target[i - new]]
    total = recorded("sum")(b, x, (*range(new), *ones))
    return recorded("reshape")(b, total, target)


@TORCH.macro("Tensor.unfold")
def unfold(b: Builder, input: Any, dimension: Static, size: Static, step: Static) -> Any:
    """Windows of ``size`` elements along an axis, ``step`` apart, their elements along a last one.

    Of an array without axes, its only element.
    """
    x = b.array(input)
    if not x.ndim:
        single = recorded("reshape")(b, x, (1,))
        return recorded("take")(b, unfold(b, single, dimension, size, step), 0, 0)
    axis, width = axis_of(dimension, x.ndim, "unfold"), integer(size, "size")
    apart, length = integer(step, "step"), x.shape[axis]
    if not 0 <= width <= length or apart < 1:
        raise BadArgument(f"unfold cannot take {width} of {length} elements in steps of {apart}")
    if not width:
        counts = [length // apart + 1 if i == axis else n for i, n in enumerate(x.shape)]
        return recorded("zeros")(b, (*counts, 0), x.dtype)
    turned = recorded("moveaxis")(b, x, axis, -1)
    return recorded("moveaxis")(b, Windows((width,), (apart,), (1,))(turned), -1, axis)


def _conversion(dtype: str) -> Callable[..., Any]:
    def conversion(b: Builder, input: Any) -> Any:
        """The elements as the dtype of that name, as ``astype`` converts them."""
        return recorded("astype")(b, input, dtype)

    return conversion


for _name, _dtype in {**DTYPES, "bfloat16": "bfloat16", "byte": "uint8", "char": "int8"}.items():
    TORCH.macro(f"Tensor.{_name}")(_conversion(_dtype))
