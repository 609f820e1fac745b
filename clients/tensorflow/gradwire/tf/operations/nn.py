"""``tf.nn``: activations, losses, convolutions, poolings.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from typing import Any

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.types import Axis, Ints, Padding, Shape, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "depth_to_space",
    "depthwise_conv2d",
    "elu",
    "gelu",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "moments",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "selu",
    "separable_conv2d",
    "silu",
    "space_to_depth",
    "swish",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
]


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Rectifier: ``z = max(0, x)``. Convention: derivative 0 at 0."""
    return rules.unary("tf.formulas.relu", "Relu", kinds.RECTIFIED, features)


def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """Rectifier with a ceiling: ``z = min(6, max(0, x))``. Convention: derivative 0 at 0 and 6."""
    return rules.unary("tf.formulas.relu6", "Relu6", kinds.ORDERED, features)


def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """Exponential linear unit: ``z = x`` where ``x > 0``, else ``alpha (exp(x) - 1)``."""
    return rules.unary("tf.formulas.elu", "Elu", kinds.LAYER, features)


def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Self-normalising exponential linear unit: ``z = λ x`` where ``x >= 0``, else ``λ elu(x,
    α)``.
    """
    return rules.unary("tf.nn.selu", "Selu", kinds.LAYER, features)


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """Gaussian error linear unit: ``z = x Φ(x)`` with the normal distribution function ``Φ``."""
    return rules.same(
        "tf.nn.gelu", "Gelu", kinds.LAYER, {"features": features}, {"approximate": approximate}
    )


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """``relu(x)`` and ``relu(-x)``, one after the other along ``axis``."""
    return rules.like(
        "tf.formulas.crelu", "Relu", kinds.RECTIFIED, {"features": features}, {"axis": axis}
    )


def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Tensor:
    """``z = x`` where ``x > 0``, else ``negative_slope x``."""
    return rules.same(
        "tf.formulas.leaky_relu", "LeakyRelu", None, {"features": features, "alpha": alpha}, {}
    )


def silu(features: TensorLike, beta: TensorLike = 1.0, name: str | None = None) -> Tensor:
    """Sigmoid linear unit: ``z = x sigmoid(beta x)``."""
    return rules.same(
        "tf.nn.silu", "Sigmoid", kinds.INEXACT, {"features": features, "beta": beta}, {}
    )


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of squares: ``z = sum(t²) / 2``."""
    return rules.scalar("tf.nn.l2_loss", "L2Loss", kinds.LAYER, {"t": t}, {})


def l2_normalize(
    x: TensorLike, axis: Axis = None, epsilon: TensorLike = 1e-12, name: str | None = None
) -> Tensor:
    """``z = x / sqrt(max(sum(x²), epsilon))`` along ``axis``."""
    return rules.same(
        "tf.formulas.l2_normalize",
        "Square",
        kinds.ARITHMETIC,
        {"x": x, "epsilon": epsilon},
        {"axis": axis},
    )


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """Cross entropy whose positive labels count ``pos_weight`` times."""
    return rules.same(
        "tf.formulas.weighted_cross_entropy_with_logits",
        "Mul",
        kinds.LAYER,
        {"labels": labels, "logits": logits, "pos_weight": pos_weight},
        {},
    )


def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """``z = exp(c) - t c`` for targets ``t`` and the logarithm ``c`` of what was predicted."""
    return rules.same(
        "tf.formulas.log_poisson_loss",
        "Mul",
        kinds.LAYER,
        {"targets": targets, "log_input": log_input},
        {"compute_full_loss": compute_full_loss},
    )


def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """``z = value + bias``, a vector along the last axis, or along axis 1 if ``data_format``
    begins with "NC".
    """
    return rules.same(
        "tf.nn.bias_add",
        "BiasAdd",
        kinds.SUMS,
        {"value": value, "bias": bias},
        {"data_format": data_format},
    )


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:
    """``z = (x - mean) scale / sqrt(variance + variance_epsilon) + offset``, all broadcast."""
    return rules.same(
        "tf.nn.batch_normalization",
        "Mul",
        None,
        {
            "x": x,
            "mean": mean,
            "variance": variance,
            "offset": offset,
            "scale": scale,
            "variance_epsilon": variance_epsilon,
        },
        {},
    )


def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """``z = x / (bias + alpha sum(x²))^beta``, the sum over channels up to ``depth_radius``
    away.
    """
    return rules.like(
        "tf.nn.local_response_normalization",
        "LRN",
        kinds.LAYER,
        {"input": input},
        {"depth_radius": depth_radius, "bias": bias, "alpha": alpha, "beta": beta},
    )


def moments(
    x: TensorLike, axes: Axis, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> list[Tensor]:
    """A list of the mean and the variance over ``axes``."""
    return rules.list(
        2, "tf.formulas.moments", "Mean", kinds.SUMS, {"x": x}, {"axes": axes, "keepdims": keepdims}
    )


def weighted_moments(
    x: TensorLike,
    axes: Axis,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """A list of the mean and the variance over ``axes``, elements counted by their weights."""
    return rules.list(
        2,
        "tf.formulas.weighted_moments",
        "Mul",
        kinds.SUMS,
        {"x": x, "frequency_weights": frequency_weights},
        {"axes": axes, "keepdims": keepdims},
    )


def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """A list of the mean and the variance that ``sufficient_statistics`` make up."""
    return rules.list(
        2,
        "tf.nn.normalize_moments",
        "Mul",
        kinds.SUMS,
        {"counts": counts, "mean_ss": mean_ss, "variance_ss": variance_ss, "shift": shift},
        {},
    )


def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: Ints,
    padding: Padding,
    data_format: str = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Layer of ``filters``, an array of shape (length, channels, filters)."""
    return rules.like(
        "tf.nn.conv1d",
        "Conv2D",
        kinds.CONVOLVED,
        {"input": input, "filters": filters},
        {"stride": stride, "padding": padding, "data_format": data_format, "dilations": dilations},
    )


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Layer of ``filters``, an array of shape (lengths, channels, filters)."""
    return rules.like(
        "tf.nn.conv2d",
        "Conv2D",
        kinds.CONVOLVED,
        {"input": input, "filters": filters},
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def conv3d(
    input: TensorLike,
    filters: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Layer of ``filters``, an array of shape (lengths, channels, filters)."""
    return rules.like(
        "tf.nn.conv3d",
        "Conv3D",
        kinds.LAYER,
        {"input": input, "filters": filters},
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: Ints | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Layer of ``filters``, an array of shape (lengths, channels, filters), of 1 to 3 lengths."""
    return rules.like(
        "tf.nn.convolution",
        "Conv2D",
        kinds.CONVOLVED,
        {"input": input, "filters": filters},
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Shape,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""
    return rules.like(
        "tf.nn.conv1d_transpose",
        "Conv2DBackpropInput",
        kinds.CONVOLVED,
        {"input": input, "filters": filters},
        {
            "output_shape": output_shape,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Shape,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""
    return rules.like(
        "tf.nn.conv2d_transpose",
        "Conv2DBackpropInput",
        kinds.CONVOLVED,
        {"input": input, "filters": filters},
        {
            "output_shape": output_shape,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def conv3d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Shape,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""
    return rules.like(
        "tf.nn.conv3d_transpose",
        "Conv3DBackpropInputV2",
        kinds.LAYER,
        {"input": input, "filters": filters},
        {
            "output_shape": output_shape,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Shape,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""
    return rules.like(
        "tf.nn.conv_transpose",
        "Conv2DBackpropInput",
        kinds.CONVOLVED,
        {"input": input, "filters": filters},
        {
            "output_shape": output_shape,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Each channel with its own filters: ``filter`` is (height, width, channels, multiplier)."""
    return rules.like(
        "tf.nn.depthwise_conv2d",
        "DepthwiseConv2dNative",
        kinds.LAYER,
        {"input": input, "filter": filter},
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Filters of each channel, then a layer of filters of one element over all channels."""
    return rules.like(
        "tf.nn.separable_conv2d",
        "Conv2D",
        kinds.LAYER,
        {
            "input": input,
            "depthwise_filter": depthwise_filter,
            "pointwise_filter": pointwise_filter,
        },
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def avg_pool(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.nn.avg_pool",
        "AvgPool",
        kinds.LAYER,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def avg_pool1d(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.nn.avg_pool1d",
        "AvgPool",
        kinds.LAYER,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def avg_pool2d(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.nn.avg_pool2d",
        "AvgPool",
        kinds.LAYER,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def avg_pool3d(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.nn.avg_pool3d",
        "AvgPool3D",
        kinds.LAYER,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def max_pool(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.formulas.max_pool",
        "MaxPool",
        kinds.ORDERED,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def max_pool1d(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.formulas.max_pool1d",
        "MaxPool",
        kinds.ORDERED,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def max_pool2d(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.formulas.max_pool2d",
        "MaxPool",
        kinds.ORDERED,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def max_pool3d(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window, or its average, without the padding."""
    return rules.like(
        "tf.formulas.max_pool3d",
        "MaxPool3D",
        kinds.LAYER,
        {"input": input},
        {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format},
    )


def pool(
    input: TensorLike,
    window_shape: Ints,
    pooling_type: str,
    strides: Ints | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Largest elements (``pooling_type`` ``MAX``) or averages (``AVG``) of windows."""
    return rules.like(
        "tf.formulas.pool",
        "MaxPool",
        kinds.ORDERED,
        {"input": input},
        {
            "window_shape": window_shape,
            "pooling_type": pooling_type,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
        },
    )


def depth_to_space(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Channels as blocks of pixels: (n, h, w, r² c) to (n, h r, w r, c), block before channel."""
    return rules.like(
        "tf.nn.depth_to_space",
        "DepthToSpace",
        None,
        {"input": input},
        {"block_size": block_size, "data_format": data_format},
    )


def space_to_depth(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Blocks of pixels as channels: (n, h r, w r, c) to (n, h, w, r² c), block before channel."""
    return rules.like(
        "tf.nn.space_to_depth",
        "SpaceToDepth",
        None,
        {"input": input},
        {"block_size": block_size, "data_format": data_format},
    )


swish = silu

lrn = local_response_normalization
