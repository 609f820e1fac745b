"""TensorFlow's functions of arrays that mean something else than the unprefixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import axis_of, flag, integer, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.cumulative import shifted
from gradwire_engine.ops.indexing import GetItem
from gradwire_engine.ops.patterns import ARRAY, complete_pattern

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("transpose")
def transpose(b: Builder, a: Any, perm: Static = None, conjugate: Static = False) -> Any:
    """The array with its axes in the order ``perm``, else in reverse; its conjugate if asked."""
    z = recorded("transpose")(b, a, perm)
    return recorded("conj")(b, z) if flag(conjugate, "conjugate") else z


@TF.macro("math.cumsum cumsum")
def cumsum(
    b: Builder, x: Any, axis: Static = 0, exclusive: Static = False, reverse: Static = False
) -> Any:
    """Running sum along ``axis``, without the element itself if ``exclusive``, from the end if
    ``reverse``.
    """
    z = b.array(x)
    place = axis_of(axis, z.ndim, "cumsum")
    backwards = flag(reverse, "reverse")
    if backwards:
        z = recorded("flip")(b, z, place)
    z = recorded("cumsum")(b, z, place)
    if flag(exclusive, "exclusive"):
        z = shifted(z, place, 0)
    return recorded("flip")(b, z, place) if backwards else z


@TF.macro("gather")
def gather(
    b: Builder,
    params: Any,
    indices: Any,
    validate_indices: Static = None,
    axis: Static = 0,
    batch_dims: Static = 0,
) -> Any:
    """Slices of ``params`` along ``axis``, repeats allowed."""
    if batch_dims != 0:
        hint = "take_along_axis picks by one index array for each row"
        raise BadArgument("gather knows batch_dims=0 only", hint=hint)
    return recorded("take")(b, params, indices, 0 if axis is None else axis)


@TF.macro("gather_nd")
def gather_nd(b: Builder, params: Any, indices: Any, batch_dims: Static = 0) -> Any:
    """Elements or slices of ``params`` whose indices stand along the last axis of ``indices``."""
    if batch_dims != 0:
        raise BadArgument("gather_nd knows batch_dims=0 only")
    x, picked = b.array(params), recorded("unstack")(b, indices, -1)
    return GetItem(complete_pattern((ARRAY,) * len(picked), x.ndim))(x, *picked)


@TF.macro("split")
def split(b: Builder, value: Any, num_or_size_splits: Static, axis: Static = 0) -> Any:
    """A list of parts along ``axis``: so many of equal length, or of the given lengths."""
    if not isinstance(num_or_size_splits, list | tuple):
        return recorded("split")(b, value, num_or_size_splits, axis)
    x, sizes = b.array(value), integers(num_or_size_splits, "num_or_size_splits")
    place = axis_of(axis, x.ndim, "split")
    if any(size < 0 for size in sizes) or sum(sizes) != x.type.shape[place]:
        raise BadArgument(f"parts of {sizes} do not make up a length of {x.type.shape[place]}")
    return recorded("split")(b, x, [sum(sizes[:i]) for i in range(1, len(sizes))], place)


@TF.macro("pad")
def pad(
    b: Builder,
    tensor: Any,
    paddings: Static,
    mode: Static = "CONSTANT",
    constant_values: Any = 0,
) -> Any:
    """The array with ``paddings``, a pair (before, after) for each axis, around it."""
    lowered = mode.lower() if isinstance(mode, str) else mode
    if lowered != "constant":
        return recorded("pad")(b, tensor, paddings, lowered)
    return recorded("pad")(b, tensor, paddings, lowered, constant_values)


@TF.macro("one_hot")
def one_hot(
    b: Builder,
    indices: Any,
    depth: Static,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    axis: Static = -1,
    dtype: Static = None,
) -> Any:
    """``on_value`` where the index along the new ``axis`` is the given one, else ``off_value``."""
    index = b.array(indices)
    place = axis_of(-1 if axis is None else axis, index.ndim + 1, "one_hot")
    counter = recorded("arange")(b, integer(depth, "depth"))
    shape = [-1 if i == place else 1 for i in range(index.ndim + 1)]
    same = recorded("equal")(
        b, recorded("expand_dims")(b, index, place), recorded("reshape")(b, counter, shape)
    )
    on, off = b.promote(
        *[recorded("array")(b, v, dtype or "float64") for v in (on_value, off_value)]
    )
    return recorded("where")(b, same, on, off)


@TF.macro("shape")
def shape(b: Builder, input: Any) -> Any:
    """Lengths of the axes, integers known while recording."""
    return b.array(input).shape


@TF.macro("size")
def size(b: Builder, input: Any) -> Any:
    """Number of elements, an integer known while recording."""
    return b.array(input).type.size


@TF.macro("rank")
def rank(b: Builder, input: Any) -> Any:
    """Number of axes, an integer known while recording."""
    return b.array(input).ndim


@TF.macro("add_n math.add_n math.accumulate_n")
def add_n(b: Builder, inputs: Any) -> Any:
    """Sum of the arrays in a list, elementwise."""
    if not isinstance(inputs, list | tuple) or not inputs:
        raise BadArgument("add_n needs a list of at least one array")
    total = b.array(inputs[0])
    for item in inputs[1:]:
        total = recorded("add")(b, total, item)
    return total


@TF.macro("math.multiply_no_nan")
def multiply_no_nan(b: Builder, x: Any, y: Any) -> Any:
    """``z = x y``, and 0 where ``y`` is 0, whatever ``x`` is."""
    x, y = b.promote(x, y)
    zero = recorded("equal")(b, y, 0)
    product = recorded("multiply")(b, recorded("where")(b, zero, 0, x), y)
    return recorded("where")(b, zero, 0, product)


@TF.macro("clip_by_norm")
def clip_by_norm(b: Builder, t: Any, clip_norm: Any, axes: Static = None) -> Any:
    """``t`` scaled down to a Euclidean norm of at most ``clip_norm`` over ``axes``."""
    length = recorded("vector_norm")(b, t, axes, keepdims=True)
    scale = recorded("divide")(b, clip_norm, recorded("maximum")(b, length, clip_norm))
    return recorded("multiply")(b, t, scale)


@TF.macro("slice")
def slice(b: Builder, input_: Any, begin: Static, size: Static) -> Any:
    """``size`` elements along each axis from ``begin`` on; -1 means all that follow."""
    x = b.array(input_)
    starts, counts = integers(begin, "begin"), integers(size, "size")
    if not len(starts) == len(counts) == x.ndim:
        raise BadArgument(f"slice needs a start and a size for each of {x.ndim} axes")
    for axis, (start, count) in enumerate(zip(starts, counts, strict=True)):
        length = x.type.shape[axis]
        stop = length if count == -1 else start + count
        if not 0 <= start <= stop <= length:
            raise BadArgument(f"slice cannot take {count} of {length} elements from {start} on")
        x = recorded("split")(b, x, [start, stop], axis)[1]
    return x


@TF.macro("math.lbeta")
def lbeta(b: Builder, x: Any) -> Any:
    """Logarithm of the beta function along the last axis: ``z = sum ln Γ(x) - ln Γ(sum x)``."""
    parts = recorded("sum")(b, recorded("gammaln")(b, x), -1)
    return recorded("subtract")(b, parts, recorded("gammaln")(b, recorded("sum")(b, x, -1)))


@TF.macro("signal.rfft")
def rfft(b: Builder, input_tensor: Any, fft_length: Static = None) -> Any:
    """Spectrum of real rows in the last axis, padded or cut to ``fft_length``, a list of one."""
    return recorded("fft.rfft")(b, input_tensor, _length(fft_length))


@TF.macro("signal.irfft")
def irfft(b: Builder, input_tensor: Any, fft_length: Static = None) -> Any:
    """Real rows of length ``fft_length``, a list of one, that have this spectrum."""
    return recorded("fft.irfft")(b, input_tensor, _length(fft_length))


def _length(fft_length: Any) -> int | None:
    if fft_length is None:
        return None
    lengths = integers(fft_length, "fft_length")
    if len(lengths) != 1:
        raise BadArgument("fft_length is a list of one length")
    return lengths[0]


@TF.macro("scatter_nd")
def scatter_nd(b: Builder, indices: Any, updates: Any, shape: Static) -> Any:
    """Zeros of ``shape`` to which ``updates`` are added at ``indices``, repeats summed."""
    x = b.array(updates)
    zeros = recorded("zeros")(b, shape, x.dtype)
    return recorded("tensor_scatter_nd_add")(b, zeros, indices, x)
