"""PyTorch's ``torch.nn.functional``: activations and losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.arrays import scaled
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, integer, integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


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


@TORCH.macro("nn.functional.softmin")
def softmin(b: Builder, input: Any, dim: Static) -> Any:
    """Softmax of ``-x`` along ``dim``."""
    return recorded("softmax")(b, recorded("negative")(b, input), dim)


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
    counter = recorded("arange")(b, integer(num_classes, "num_classes"))
    same = recorded("equal")(b, recorded("expand_dims")(b, tensor, -1), counter)
    return recorded("astype")(b, same, "int64")


def _reduced(b: Builder, loss: Any, reduction: Any) -> Any:
    if reduction in ("mean", "sum"):
        return recorded(reduction)(b, loss)
    if reduction == "none":
        return loss
    raise BadArgument("reduction must be 'mean', 'sum' or 'none'")


@TORCH.macro("nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    b: Builder,
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    reduction: Static = "mean",
    pos_weight: Any = None,
) -> Any:
    """Cross entropy of independent labels, whose positive ones count ``pos_weight`` times."""
    yes = recorded("softplus")(b, recorded("negative")(b, input))
    no = recorded("softplus")(b, input)
    weighed = target if pos_weight is None else recorded("multiply")(b, pos_weight, target)
    missing = recorded("subtract")(b, 1.0, target)
    loss = recorded("add")(
        b, recorded("multiply")(b, weighed, yes), recorded("multiply")(b, missing, no)
    )
    return _reduced(b, loss if weight is None else recorded("multiply")(b, weight, loss), reduction)


@TORCH.macro("nn.functional.binary_cross_entropy")
def binary_cross_entropy(
    b: Builder, input: Any, target: Any, weight: Any = None, *, reduction: Static = "mean"
) -> Any:
    """Cross entropy of independent labels with the probabilities ``input``."""
    yes = recorded("xlogy")(b, target, input)
    other = recorded("negative")(b, input)
    no = recorded("xlog1py")(b, recorded("subtract")(b, 1.0, target), other)
    loss = recorded("negative")(b, recorded("add")(b, yes, no))
    return _reduced(b, loss if weight is None else recorded("multiply")(b, weight, loss), reduction)


@TORCH.macro("nn.functional.cross_entropy")
def cross_entropy(
    b: Builder,
    input: Any,
    target: Any,
    *,
    reduction: Static = "mean",
    label_smoothing: Static = 0.0,
) -> Any:
    """Cross entropy of logits whose classes stand along axis 1 (the only one of a vector).

    ``target`` has the classes as integers, or a probability for each; the mean is over items.
    """
    x, classes = b.inexact(input), b.array(target)
    axis = 0 if x.ndim == 1 else 1
    logs = recorded("log_softmax")(b, x, axis)
    count = x.type.shape[axis] if x.ndim else 1
    if classes.dtype.kind in "iu":
        index = recorded("expand_dims")(b, classes, axis)
        picked = recorded("squeeze")(b, recorded("take_along_axis")(b, logs, index, axis), axis)
    else:
        picked = recorded("sum")(b, recorded("multiply")(b, classes, logs), axis)
    if label_smoothing:
        even = recorded("multiply")(b, recorded("sum")(b, logs, axis), label_smoothing / count)
        kept = recorded("multiply")(b, picked, 1 - label_smoothing)
        picked = recorded("add")(b, kept, even)
    return _reduced(b, recorded("negative")(b, picked), reduction)


@TORCH.macro("nn.functional.nll_loss")
def nll_loss(b: Builder, input: Any, target: Any, *, reduction: Static = "mean") -> Any:
    """``z = -input[target]`` of logarithms whose classes stand along axis 1 (0 of a vector)."""
    logs = b.array(input)
    axis = 0 if logs.ndim == 1 else 1
    index = recorded("expand_dims")(b, target, axis)
    picked = recorded("squeeze")(b, recorded("take_along_axis")(b, logs, index, axis), axis)
    return _reduced(b, recorded("negative")(b, picked), reduction)


@TORCH.macro("nn.functional.kl_div")
def kl_div(
    b: Builder,
    input: Any,
    target: Any,
    *,
    reduction: Static = "mean",
    log_target: Static = False,
) -> Any:
    """``z = target (ln target - input)``, its mean by default; "batchmean" divides by the items."""
    if flag(log_target, "log_target"):
        apart = recorded("subtract")(b, target, input)
        loss = recorded("multiply")(b, recorded("exp")(b, target), apart)
    else:
        entropy = recorded("xlogy")(b, target, target)
        loss = recorded("subtract")(b, entropy, recorded("multiply")(b, target, input))
    if reduction == "batchmean":
        return recorded("divide")(b, recorded("sum")(b, loss), b.array(input).type.shape[0])
    return _reduced(b, loss, reduction)


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


@TORCH.macro("nn.functional.cosine_similarity")
def cosine_similarity(b: Builder, x1: Any, x2: Any, dim: Static = 1, eps: Any = 1e-8) -> Any:
    """``z = x1 · x2 / (max(‖x1‖, eps) max(‖x2‖, eps))`` along ``dim``."""
    product = recorded("sum")(b, recorded("multiply")(b, x1, x2), dim)
    lengths = [recorded("maximum")(b, recorded("vector_norm")(b, x, dim), eps) for x in (x1, x2)]
    return recorded("divide")(b, product, recorded("multiply")(b, *lengths))


@TORCH.macro("nn.functional.pad")
def pad(b: Builder, input: Any, pad: Static, mode: Static = "constant", value: Any = 0) -> Any:
    """The array with ``value`` around it; ``pad`` is (before, after) for the last axis first."""
    x, widths = b.array(input), integers(pad, "pad")
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise BadArgument(f"pad needs pairs for at most {x.ndim} axes, got {len(widths)} numbers")
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)]
    pairs += [(0, 0)] * (x.ndim - len(pairs))
    filled = () if value is None or mode != "constant" else (value,)
    return recorded("pad")(b, x, pairs[::-1], mode, *filled)
