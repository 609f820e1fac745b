"""``tf.nn``: activations, losses, normalizations."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
from gradwire.tf.operations.families import activation
from gradwire.tf.operations.types import Axis, Name, TensorLike, Unused
from gradwire.tf.tensors import Tensor

__all__ = [
    "batch_normalization", "bias_add", "crelu", "depth_to_space", "elu", "gelu", "l2_loss",
    "l2_normalize", "leaky_relu", "local_response_normalization", "log_poisson_loss", "lrn",
    "moments", "normalize_moments", "relu", "relu6", "selu", "silu", "space_to_depth", "swish",
    "weighted_cross_entropy_with_logits", "weighted_moments",
]  # fmt: skip


@activation("tf.formulas.relu", "Relu", kinds.RECTIFIED)
def relu() -> None:
    """Rectifier: ``z = max(0, x)``. Convention: derivative 0 at 0."""


@activation("tf.formulas.relu6", "Relu6", kinds.ORDERED)
def relu6() -> None:
    """Rectifier with a ceiling: ``z = min(6, max(0, x))``. Convention: derivative 0 at 0 and 6."""


@activation("tf.formulas.elu", "Elu")
def elu() -> None:
    """Exponential linear unit: ``z = x`` where ``x > 0``, else ``alpha (exp(x) - 1)``."""


@activation("tf.nn.selu", "Selu")
def selu() -> None:
    """Self-normalising exponential linear unit: ``z = λ x`` where ``x >= 0``, else ``λ elu(x,
    α)``.
    """


@operation(rules.same, "tf.nn.gelu", "Gelu", kinds.LAYER)
def gelu(features: TensorLike, approximate: bool = False, name: Name = None) -> Tensor:
    """Gaussian error linear unit: ``z = x Φ(x)`` with the normal distribution function ``Φ``."""


@operation(rules.like, "tf.formulas.crelu", "Relu", kinds.RECTIFIED)
def crelu(features: TensorLike, axis: int = -1, name: Name = None) -> Tensor:
    """``relu(x)`` and ``relu(-x)``, one after the other along ``axis``."""


@operation(rules.same, "tf.formulas.leaky_relu", "LeakyRelu")
def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: Name = None) -> Tensor:
    """``z = x`` where ``x > 0``, else ``negative_slope x``."""


@operation(rules.same, "tf.nn.silu", "Sigmoid", kinds.INEXACT)
def silu(features: TensorLike, beta: TensorLike = 1.0, name: Name = None) -> Tensor:
    """Sigmoid linear unit: ``z = x sigmoid(beta x)``."""


@operation(rules.scalar, "tf.nn.l2_loss", "L2Loss", kinds.LAYER)
def l2_loss(t: TensorLike, name: Name = None) -> Tensor:
    """Half the sum of squares: ``z = sum(t²) / 2``."""


@operation(rules.same, "tf.formulas.l2_normalize", "Square", kinds.ARITHMETIC)
def l2_normalize(
    x: TensorLike, axis: Axis = None, epsilon: TensorLike = 1e-12, name: Name = None
) -> Tensor:
    """``z = x / sqrt(max(sum(x²), epsilon))`` along ``axis``."""


@operation(rules.same, "tf.formulas.weighted_cross_entropy_with_logits", "Mul", kinds.LAYER)
def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: Name = None
) -> Tensor:
    """Cross entropy whose positive labels count ``pos_weight`` times."""


@operation(rules.same, "tf.formulas.log_poisson_loss", "Mul", kinds.LAYER)
def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: Name = None
) -> Tensor:
    """``z = exp(c) - t c`` for targets ``t`` and the logarithm ``c`` of what was predicted."""


@operation(rules.same, "tf.nn.bias_add", "BiasAdd", kinds.SUMS)
def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: Name = None
) -> Tensor:
    """``z = value + bias``, a vector along the last axis, or along axis 1 if ``data_format``
    begins with "NC".
    """


@operation(rules.same, "tf.nn.batch_normalization", "Mul")
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
    name: Name = None,
) -> Tensor:
    """``z = (x - mean) scale / sqrt(variance + variance_epsilon) + offset``, all broadcast."""


@operation(rules.like, "tf.nn.local_response_normalization", "LRN", kinds.LAYER)
def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: Name = None,
) -> Tensor:
    """``z = x / (bias + alpha sum(x²))^beta``, the sum over channels up to ``depth_radius``
    away.
    """


@operation(rules.two, "tf.formulas.moments", "Mean", kinds.SUMS)
def moments(
    x: TensorLike, axes: Axis, shift: Unused = None, keepdims: bool = False, name: Name = None
) -> list[Tensor]:
    """A list of the mean and the variance over ``axes``."""


@operation(rules.two, "tf.formulas.weighted_moments", "Mul", kinds.SUMS)
def weighted_moments(
    x: TensorLike,
    axes: Axis,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: Name = None,
) -> list[Tensor]:
    """A list of the mean and the variance over ``axes``, elements counted by their weights."""


@operation(rules.two, "tf.nn.normalize_moments", "Mul", kinds.SUMS)
def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike | None = None,
    name: Name = None,
) -> list[Tensor]:
    """A list of the mean and the variance that ``sufficient_statistics`` make up."""


@operation(rules.like, "tf.nn.depth_to_space", "DepthToSpace")
def depth_to_space(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: Name = None
) -> Tensor:
    """Channels as blocks of pixels: (n, h, w, r² c) to (n, h r, w r, c), block before channel."""


@operation(rules.like, "tf.nn.space_to_depth", "SpaceToDepth")
def space_to_depth(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: Name = None
) -> Tensor:
    """Blocks of pixels as channels: (n, h r, w r, c) to (n, h, w, r² c), block before channel."""


swish = silu
lrn = local_response_normalization
