"""TensorFlow's ``tf.nn``: activations, losses, normalisation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import axes_of, flag, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("nn.silu nn.swish")
def silu(b: Builder, features: Any, beta: Any = 1.0) -> Any:
    """Sigmoid linear unit: ``z = x sigmoid(beta x)``."""
    gate = features if beta == 1 else recorded("multiply")(b, beta, features)
    return recorded("multiply")(b, features, recorded("sigmoid")(b, gate))


@TF.macro("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy(b: Builder, labels: Any, logits: Any, pos_weight: Any) -> Any:
    """Cross entropy whose positive labels count ``pos_weight`` times."""
    yes = recorded("softplus")(b, recorded("negative")(b, logits))
    no = recorded("softplus")(b, logits)
    missing = recorded("subtract")(b, 1.0, labels)
    weighted = recorded("multiply")(b, recorded("multiply")(b, pos_weight, labels), yes)
    return recorded("add")(b, weighted, recorded("multiply")(b, missing, no))


@TF.macro("nn.l2_loss")
def l2_loss(b: Builder, t: Any) -> Any:
    """Half the sum of squares: ``z = sum(t²) / 2``."""
    return recorded("divide")(b, recorded("sum")(b, recorded("square")(b, t)), 2)


@TF.macro("nn.l2_normalize math.l2_normalize linalg.l2_normalize")
def l2_normalize(b: Builder, x: Any, axis: Static = None, epsilon: Any = 1e-12) -> Any:
    """``z = x / sqrt(max(sum(x²), epsilon))`` along ``axis``."""
    total = recorded("sum")(b, recorded("square")(b, x), axis, keepdims=True)
    floor = recorded("maximum")(b, total, epsilon)
    return recorded("multiply")(b, x, recorded("rsqrt")(b, floor))


@TF.macro("nn.moments")
def moments(b: Builder, x: Any, axes: Static, shift: Any = None, keepdims: Static = False) -> Any:
    """A list of the mean and the variance over ``axes``."""
    return [recorded(name)(b, x, axes, keepdims=keepdims) for name in ("mean", "var")]


@TF.macro("nn.weighted_moments")
def weighted_moments(
    b: Builder, x: Any, axes: Static, frequency_weights: Any, keepdims: Static = False
) -> Any:
    """A list of the mean and the variance over ``axes``, elements counted by their weights."""
    x, weights = b.promote(x, frequency_weights, rule=inexact_promoted)
    weights = b.broadcast(weights, broadcast_shapes(weights.shape, x.shape))
    total = recorded("sum")(b, weights, axes, keepdims=True)
    mean = recorded("sum")(b, weights * x, axes, keepdims=True) / total
    squares = recorded("sum")(b, weights * recorded("square")(b, x - mean), axes, keepdims=True)
    found = [mean, squares / total]
    return found if flag(keepdims, "keepdims") else [recorded("squeeze")(b, z, axes) for z in found]


@TF.macro("nn.sufficient_statistics")
def sufficient_statistics(
    b: Builder, x: Any, axes: Static, shift: Any = None, keepdims: Static = False
) -> Any:
    """A list: how many elements there are over ``axes``, the sums of ``x - shift`` and of its
    square, and ``shift``.
    """
    z = floating(b, x)
    count = math.prod([z.shape[axis] for axis in axes_of(axes, z.ndim, "sufficient_statistics")])
    moved = z if shift is None else recorded("subtract")(b, z, shift)
    sums = [
        recorded("sum")(b, part, axes, keepdims=keepdims)
        for part in (moved, recorded("square")(b, moved))
    ]
    return [b.scalar(count, z.dtype), *sums, shift]


@TF.macro("nn.normalize_moments")
def normalize_moments(
    b: Builder, counts: Any, mean_ss: Any, variance_ss: Any, shift: Any = None
) -> Any:
    """A list of the mean and the variance that ``sufficient_statistics`` make up."""
    mean = recorded("divide")(b, mean_ss, counts)
    square = recorded("divide")(b, variance_ss, counts)
    variance = recorded("subtract")(b, square, recorded("square")(b, mean))
    return [mean if shift is None else recorded("add")(b, mean, shift), variance]


@TF.macro("nn.crelu")
def crelu(b: Builder, features: Any, axis: Static = -1) -> Any:
    """``relu(x)`` and ``relu(-x)``, one after the other along ``axis``.

    Source: Shang et al., Concatenated Rectified Linear Units (2016).
    """
    signs = (features, recorded("negative")(b, features))
    return recorded("concatenate")(b, [recorded("relu")(b, x) for x in signs], axis)


@TF.macro("nn.bias_add")
def bias_add(b: Builder, value: Any, bias: Any, data_format: Static = None) -> Any:
    """``z = value + bias``, a vector along the last axis, or along axis 1 if ``data_format`` begins
    with "NC".
    """
    x, vector = b.promote(value, bias)
    if not isinstance(data_format, str | None) or vector.ndim != 1:
        raise BadArgument("bias_add needs a vector, and a data_format like 'NHWC' or 'NCHW'")
    if data_format is not None and data_format.startswith("NC"):
        vector = recorded("reshape")(b, vector, [-1, *[1] * (x.ndim - 2)])
    return x + vector


@TF.macro("nn.log_poisson_loss")
def log_poisson_loss(
    b: Builder, targets: Any, log_input: Any, compute_full_loss: Static = False
) -> Any:
    """``z = exp(c) - t c`` for targets ``t`` and the logarithm ``c`` of what was predicted.

    The full loss has Stirling's approximation of ``ln t!`` for ``t > 1`` besides, ``t ln t - t +
    ln(2 π t) / 2``.
    """
    t, c = b.promote(targets, log_input, rule=inexact_promoted)
    z = recorded("exp")(b, c) - t * c
    if not flag(compute_full_loss, "compute_full_loss"):
        return z
    log = recorded("log")(b, t)
    stirling = t * log - t + (log + math.log(2 * math.pi)) * 0.5
    return z + recorded("where")(b, recorded("greater")(b, t, 1), stirling, 0)


@TF.macro("nn.compute_average_loss")
def compute_average_loss(
    b: Builder,
    per_example_loss: Any,
    sample_weight: Any = None,
    global_batch_size: Static = None,
) -> Any:
    """Sum of the losses, weighted if so asked, over ``global_batch_size``, else their number."""
    loss = floating(b, per_example_loss)
    size = loss.shape[:1] if global_batch_size is None else integers(global_batch_size, "size")
    if sample_weight is not None:
        loss = recorded("multiply")(b, loss, sample_weight)
    return recorded("divide")(b, recorded("sum")(b, loss), size[0] if size else 1)
