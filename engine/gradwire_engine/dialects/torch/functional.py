"""PyTorch's ``torch.nn.functional``: activations, layers, normalisations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.elementwise import scaled
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import choice, flag, integer, integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: What the modes of padding are called without prefix.
_PADDINGS = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
#: Modes that repeat what is left when negative widths are cut off; the others what was there.
_CUT_FIRST = ("constant", "circular")


@TORCH.macro("nn.functional.softplus")
def softplus(b: Builder, input: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    """``z = ln(1 + exp(beta x)) / beta``, and ``x`` itself where ``beta x > threshold``."""
    x = b.inexact(input)
    large = recorded("greater")(b, scaled(b, x, beta), threshold)
    return recorded("where")(b, large, x, recorded("softplus")(b, x, beta))


@TORCH.macro("nn.functional.tanhshrink")
def tanhshrink(b: Builder, input: Any) -> Any:
    """``z = x - tanh(x)``."""
    return recorded("subtract")(b, input, recorded("tanh")(b, input))


@TORCH.macro("nn.functional.linear")
def linear(b: Builder, input: Any, weight: Any, bias: Any = None) -> Any:
    """``z = input weight^T + bias``."""
    z = recorded("matmul")(b, input, recorded("transpose")(b, weight))
    return z if bias is None else recorded("add")(b, z, bias)


@TORCH.macro("nn.functional.normalize")
def normalize(b: Builder, input: Any, p: Static = 2.0, dim: Static = 1, eps: Any = 1e-12) -> Any:
    """``z = x / max(‖x‖, eps)`` with norm ``p`` along ``dim``."""
    length = recorded("vector_norm")(b, input, dim, keepdims=True, ord=p)
    return recorded("divide")(b, input, recorded("maximum")(b, length, eps))


@TORCH.macro("nn.functional.one_hot")
def one_hot(b: Builder, tensor: Any, num_classes: Static) -> Any:
    """Integers: 1 where the index along a new last axis is the given one, else 0."""
    count = integer(num_classes, "num_classes")
    if count < 1:
        raise BadArgument(f"one_hot needs to know how many classes there are, got {count}")
    counter = recorded("arange")(b, count)
    same = recorded("equal")(b, recorded("expand_dims")(b, tensor, -1), counter)
    return recorded("astype")(b, same, "int64")


@TORCH.macro("nn.functional.layer_norm")
def layer_norm(
    b: Builder,
    input: Any,
    normalized_shape: Static,
    weight: Any = None,
    bias: Any = None,
    eps: Any = 1e-5,
) -> Any:
    """``z = (x - mean x) / sqrt(var x + eps) weight + bias`` over the last axes."""
    x = b.inexact(input)
    shape = integers(normalized_shape, "normalized_shape")
    if not shape or x.type.shape[-len(shape) :] != shape:
        raise ShapeMismatch(f"layer_norm over {shape} of an array of shape {x.type.shape}")
    axes = tuple(range(-len(shape), 0))
    mean, variance = (recorded(name)(b, x, axes, keepdims=True) for name in ("mean", "var"))
    scale = recorded("rsqrt")(b, recorded("add")(b, variance, eps))
    z = recorded("multiply")(b, recorded("subtract")(b, x, mean), scale)
    z = z if weight is None else recorded("multiply")(b, z, weight)
    return z if bias is None else recorded("add")(b, z, bias)


@TORCH.macro("cosine_similarity nn.functional.cosine_similarity")
def cosine_similarity(b: Builder, x1: Any, x2: Any, dim: Static = 1, eps: Any = 1e-8) -> Any:
    """``z = x1 · x2 / (max(‖x1‖, eps) max(‖x2‖, eps))`` along ``dim`` of both broadcast."""
    pair = recorded("broadcast_arrays")(b, x1, x2)
    product = recorded("sum")(b, recorded("multiply")(b, *pair), dim)
    lengths = [recorded("maximum")(b, recorded("vector_norm")(b, x, dim), eps) for x in pair]
    return recorded("divide")(b, product, recorded("multiply")(b, *lengths))


@TORCH.macro("softmax special.softmax nn.functional.softmax")
def softmax(b: Builder, input: Any, dim: Static, *, dtype: Static = None) -> Any:
    """``z = exp x / sum exp x`` along ``dim``, of ``x`` as ``dtype``."""
    return recorded("softmax")(b, _as(b, input, dtype), dim)


@TORCH.macro("log_softmax special.log_softmax nn.functional.log_softmax")
def log_softmax(b: Builder, input: Any, dim: Static, *, dtype: Static = None) -> Any:
    """``z = x - ln sum exp x`` along ``dim``, of ``x`` as ``dtype``."""
    return recorded("log_softmax")(b, _as(b, input, dtype), dim)


@TORCH.macro("nn.functional.softmin")
def softmin(b: Builder, input: Any, dim: Static, *, dtype: Static = None) -> Any:
    """Softmax of ``-x`` along ``dim``."""
    return recorded("softmax")(b, recorded("negative")(b, _as(b, input, dtype)), dim)


def _as(b: Builder, x: Any, dtype: Any) -> Any:
    return x if dtype is None else recorded("astype")(b, x, dtype)


@TORCH.macro("prelu nn.functional.prelu")
def prelu(b: Builder, input: Any, weight: Any) -> Any:
    """``z = x`` where positive, else ``weight x``: one number, or one a channel along axis 1."""
    x, slope = b.promote(input, weight)
    if slope.ndim:
        channels = [1] * (x.ndim - 2)
        slope = recorded("reshape")(b, slope, (-1, *channels) if slope.type.size > 1 else ())
    return recorded("where")(b, x.exceeds(0), x, slope * x)


@TORCH.macro("nn.functional.rrelu")
def rrelu(
    b: Builder, input: Any, lower: Any = 0.125, upper: Any = 1 / 3, training: Static = False
) -> Any:
    """``z = x`` where positive, else ``x`` times the mean of ``lower`` and ``upper``."""
    if flag(training, "training"):
        raise BadArgument("rrelu draws no slopes", hint="leave training out")
    slope = recorded("multiply")(b, recorded("add")(b, lower, upper), 0.5)
    return recorded("leaky_relu")(b, input, slope)


@TORCH.macro("threshold nn.functional.threshold")
def threshold(b: Builder, input: Any, threshold: Any, value: Any) -> Any:
    """``x`` where it is above ``threshold``, else ``value``."""
    return recorded("where")(b, recorded("greater")(b, input, threshold), input, value)


@TORCH.macro("hardshrink nn.functional.hardshrink")
def hardshrink(b: Builder, input: Any, lambd: Any = 0.5) -> Any:
    """``x`` where ``|x| > lambd``, else 0."""
    large = recorded("greater")(b, recorded("abs")(b, input), lambd)
    return recorded("where")(b, large, input, 0)


@TORCH.macro("nn.functional.softshrink")
def softshrink(b: Builder, input: Any, lambd: Any = 0.5) -> Any:
    """``x`` moved towards 0 by ``lambd`` where ``|x| > lambd``, else 0."""
    x, bound = b.promote(b.inexact(input), lambd)
    large = recorded("abs")(b, x).exceeds(bound)
    return recorded("where")(b, large, x - bound * recorded("sign")(b, x), 0)


@TORCH.macro("nn.functional.pdist pdist")
def pdist(b: Builder, input: Any, p: Static = 2.0) -> Any:
    """Distances in norm ``p`` of all pairs of rows, the first of each pair slowest.

    Convention: derivative 0 where two rows are equal.
    """
    x = b.array(input)
    if x.ndim != 2:
        raise ShapeMismatch(f"pdist takes a matrix, got {x.type}")
    pairs = recorded("triu_indices")(b, x.type.shape[0], 1)
    apart = [recorded("take")(b, x, index, 0) for index in pairs]
    return recorded("vector_norm")(b, recorded("subtract")(b, *apart), -1, ord=p)


#: Ways to compute Euclidean distances, which are all of differences here.
_COMPUTED = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@TORCH.macro("cdist")
def cdist(
    b: Builder, x1: Any, x2: Any, p: Static = 2.0, compute_mode: Static = _COMPUTED[0]
) -> Any:
    """Distances of all pairs of rows in the norm ``p``: ``z[i, j] = |x1[i] - x2[j]|``.

    ``compute_mode`` changes nothing.  Convention: derivative 0 where two rows are equal.
    """
    if compute_mode is not None:
        choice(compute_mode, _COMPUTED, "compute_mode")
    return recorded("cdist")(b, x1, x2, p)


@TORCH.macro("constant_pad_nd")
def constant_pad_nd(b: Builder, input: Any, pad: Static, value: Any = 0) -> Any:
    """The array with ``value`` around it; ``pad`` is (before, after) for the last axis first."""
    return padded(b, input, pad, "constant", value)


@TORCH.macro("nn.functional.pad")
def padded(b: Builder, input: Any, pad: Static, mode: Static = "constant", value: Any = 0) -> Any:
    """The array with ``value`` around it, or (``reflect``, ``replicate``, ``circular``) itself.

    ``pad`` is (before, after) for the last axis first; negative widths cut off.
    """
    x, widths = b.array(input), integers(pad, "pad")
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise BadArgument(f"pad needs pairs for at most {x.ndim} axes, got {len(widths)} numbers")
    choice(mode, _PADDINGS, "mode")
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)]
    pairs = [*[(0, 0)] * (x.ndim - len(pairs)), *pairs[::-1]]
    if any(sum(pair) + n < 0 for n, pair in zip(x.shape, pairs, strict=True)):
        raise BadArgument(f"pad cannot cut off more than there is, got {pairs} for {x.type}")
    grown = [(max(before, 0), max(after, 0)) for before, after in pairs]
    filled = () if value is None or mode != "constant" else (value,)
    before = mode in _CUT_FIRST
    x = _without_ends(b, x, pairs) if before else x
    z = recorded("pad")(b, x, grown, _PADDINGS[mode], *filled)
    return z if before else _without_ends(b, z, pairs)


def _without_ends(b: Builder, x: Var, pairs: list[tuple[int, int]]) -> Any:
    """``x`` with negative widths cut off."""
    for axis, (before, after) in enumerate(pairs):
        if min(before, after) < 0:
            stop = x.type.shape[axis] - max(-after, 0)
            x = recorded("split")(b, x, [max(-before, 0), stop], axis)[1]
    return x


@TORCH.macro("channel_shuffle nn.functional.channel_shuffle")
def channel_shuffle(b: Builder, input: Any, groups: Static) -> Any:
    """Channels, along axis 1, that stood group after group, the first of each group first."""
    x, count = b.array(input), integer(groups, "groups")
    if x.ndim < 2 or count < 1 or x.type.shape[1] % count:
        raise ShapeMismatch(f"channel_shuffle cannot divide the channels of {x.type} by {count}")
    batch, channels, *rest = x.type.shape
    grouped = recorded("reshape")(b, x, (batch, count, channels // count, *rest))
    return recorded("reshape")(b, recorded("swapaxes")(b, grouped, 1, 2), x.type.shape)
