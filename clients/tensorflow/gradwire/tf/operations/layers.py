"""``tf.nn``: convolutions and poolings."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import family, operation
from gradwire.tf.operations.types import Ints, Name, Padding, Shape, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "conv1d", "conv1d_transpose", "conv2d",
    "conv2d_transpose", "conv3d", "conv3d_transpose", "conv_transpose", "convolution",
    "depthwise_conv2d", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "pool",
    "separable_conv2d",
]  # fmt: skip


@operation(rules.like, "tf.nn.conv1d", "Conv2D", kinds.CONVOLVED)
def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: Ints,
    padding: Padding,
    data_format: str = "NWC",
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """Layer of ``filters``, an array of shape (length, channels, filters)."""


@family(rules.like, kinds.CONVOLVED)
def _convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """The parameters of convolutions of pictures and volumes."""


@_convolution("tf.nn.conv2d", "Conv2D")
def conv2d() -> None:
    """Layer of ``filters``, an array of shape (lengths, channels, filters)."""


@_convolution("tf.nn.conv3d", "Conv3D", kinds.LAYER, data_format="NDHWC")
def conv3d() -> None:
    """Layer of ``filters``, an array of shape (lengths, channels, filters)."""


@operation(rules.like, "tf.nn.convolution", "Conv2D", kinds.CONVOLVED)
def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: Ints | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """Layer of ``filters``, an array of shape (lengths, channels, filters), of 1 to 3 lengths."""


@family(rules.like, kinds.CONVOLVED)
def _transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Shape,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str = "NWC",
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """The parameters of transposes of convolutions along so many axes."""


@_transpose("tf.nn.conv1d_transpose", "Conv2DBackpropInput")
def conv1d_transpose() -> None:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""


@_transpose("tf.nn.conv2d_transpose", "Conv2DBackpropInput", data_format="NHWC")
def conv2d_transpose() -> None:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""


@_transpose("tf.nn.conv3d_transpose", "Conv3DBackpropInputV2", kinds.LAYER, data_format="NDHWC")
def conv3d_transpose() -> None:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""


@operation(rules.like, "tf.nn.conv_transpose", "Conv2DBackpropInput", kinds.CONVOLVED)
def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Shape,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """The transpose of a layer of ``filters`` that takes an array of ``output_shape``."""


@operation(rules.like, "tf.nn.depthwise_conv2d", "DepthwiseConv2dNative", kinds.LAYER)
def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """Each channel with its own filters: ``filter`` is (height, width, channels, multiplier)."""


@operation(rules.like, "tf.nn.separable_conv2d", "Conv2D", kinds.LAYER)
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """Filters of each channel, then a layer of filters of one element over all channels."""


@family(rules.like, kinds.LAYER)
def _pooling(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str | None = None,
    name: Name = None,
) -> Tensor:
    """The parameters of poolings along any axes."""


@_pooling("tf.nn.avg_pool", "AvgPool")
def avg_pool() -> None:
    """The largest element of each window, or its average, without the padding."""


@family(rules.like, kinds.LAYER)
def _pooling_along(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: Padding,
    data_format: str = "NWC",
    name: Name = None,
) -> Tensor:
    """The parameters of poolings along so many axes."""


@_pooling_along("tf.nn.avg_pool1d", "AvgPool")
def avg_pool1d() -> None:
    """The largest element of each window, or its average, without the padding."""


@_pooling_along("tf.nn.avg_pool2d", "AvgPool", data_format="NHWC")
def avg_pool2d() -> None:
    """The largest element of each window, or its average, without the padding."""


@_pooling_along("tf.nn.avg_pool3d", "AvgPool3D", data_format="NDHWC")
def avg_pool3d() -> None:
    """The largest element of each window, or its average, without the padding."""


@_pooling("tf.formulas.max_pool", "MaxPool", kinds.ORDERED)
def max_pool() -> None:
    """The largest element of each window, or its average, without the padding."""


@_pooling_along("tf.formulas.max_pool1d", "MaxPool", kinds.ORDERED)
def max_pool1d() -> None:
    """The largest element of each window, or its average, without the padding."""


@_pooling_along("tf.formulas.max_pool2d", "MaxPool", kinds.ORDERED, data_format="NHWC")
def max_pool2d() -> None:
    """The largest element of each window, or its average, without the padding."""


@_pooling_along("tf.formulas.max_pool3d", "MaxPool3D", data_format="NDHWC")
def max_pool3d() -> None:
    """The largest element of each window, or its average, without the padding."""


@operation(rules.like, "tf.formulas.pool", "MaxPool", kinds.ORDERED)
def pool(
    input: TensorLike,
    window_shape: Ints,
    pooling_type: str,
    strides: Ints | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: Name = None,
) -> Tensor:
    """Largest elements (``pooling_type`` ``MAX``) or averages (``AVG``) of windows."""
