"""``tf.math``: reductions and running totals."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
from gradwire.tf.operations.types import Axis, Name, Places, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "cumprod", "cumsum", "cumulative_logsumexp", "in_top_k", "invert_permutation", "lbeta",
    "log_softmax", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "zero_fraction",
]  # fmt: skip


@operation(rules.reduce, "tf.reduce_sum", "Sum", kinds.SUMS)
def reduce_sum(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Sum over ``axis`` (all axes by default): ``z = sum x``; integers add up in 64 bits."""


@operation(rules.reduce, "tf.reduce_mean", "Mean", kinds.SUMS)
def reduce_mean(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Mean over ``axis``: ``z = sum x / n``; in float64 for integers, NaN of no elements."""


@operation(rules.reduce, "tf.reduce_prod", "Prod", kinds.SUMS)
def reduce_prod(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Product over ``axis``: ``z = prod x``; integers multiply in 64 bits."""


@operation(rules.reduce, "tf.reduce_max", "Max", kinds.EXTREMES)
def reduce_max(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Largest element over ``axis``; NaN if there is one."""


@operation(rules.reduce, "tf.reduce_min", "Min", kinds.EXTREMES)
def reduce_min(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Smallest element over ``axis``; NaN if there is one."""


@operation(rules.reduce, "tf.reduce_all", "All", kinds.BOOL)
def reduce_all(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """True if every element over ``axis`` is nonzero."""


@operation(rules.reduce, "tf.reduce_any", "Any", kinds.BOOL)
def reduce_any(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """True if some element over ``axis`` is nonzero."""


@operation(rules.reduce, "tf.formulas.reduce_logsumexp", "IsFinite", kinds.FLOATS)
def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Logarithm of a sum of exponentials over ``axis`` (all by default): ``z = ln sum(b
    exp(a))``.
    """


@operation(rules.reduce, "tf.formulas.reduce_euclidean_norm", "EuclideanNorm", kinds.SUMS)
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """Norm ``ord`` of all elements over ``axis`` (one, several, or all) as one vector."""


@operation(rules.scan, "tf.cumsum", "Cumsum", kinds.SUMS)
def cumsum(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> Tensor:
    """Running sum along ``axis``, without the element itself if ``exclusive``, from the end if
    ``reverse``.
    """


@operation(rules.scan, "tf.math.cumprod", "Cumprod", kinds.SUMS)
def cumprod(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> Tensor:
    """Running product along ``axis``, without the element itself if ``exclusive``, from the end
    if ``reverse``.
    """


@operation(rules.scan, "tf.math.cumulative_logsumexp", "CumulativeLogsumexp", kinds.FLOATS)
def cumulative_logsumexp(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> Tensor:
    """Logarithm of the running sum of exponentials along ``axis``; ``-inf`` of none."""


@operation(rules.along_last, "tf.math.softmax", "Softmax", kinds.LAYER)
def softmax(logits: TensorLike, axis: int | None = None, name: Name = None) -> Tensor:
    """Exponentials normalised to sum 1 over ``axis``: ``z = exp(x) / sum exp(x)``."""


@operation(rules.along_last, "tf.math.log_softmax", "LogSoftmax", kinds.LAYER)
def log_softmax(logits: TensorLike, axis: int | None = None, name: Name = None) -> Tensor:
    """Logarithm of softmax over ``axis``: ``z = x - ln sum exp(x)``."""


@operation(rules.like, "tf.formulas.lbeta", "Lgamma", kinds.FLOATS)
def lbeta(x: TensorLike, name: Name = None) -> Tensor:
    """Logarithm of the beta function along the last axis: ``z = sum ln Γ(x) - ln Γ(sum x)``."""


@operation(rules.typed("bool"), "tf.math.in_top_k", "InTopKV2", kinds.ARITHMETIC)
def in_top_k(targets: Places, predictions: Places, k: int, name: Name = None) -> Tensor:
    """True where fewer than ``k`` predictions of a row exceed its target's, and all are finite."""


@operation(rules.like, "tf.math.invert_permutation", "InvertPermutation", kinds.ARITHMETIC)
def invert_permutation(x: TensorLike, name: Name = None) -> Tensor:
    """The place of each of ``0 … n - 1`` in ``x``."""


@operation(rules.typed("float32"), "tf.math.zero_fraction", "ZeroFraction")
def zero_fraction(value: TensorLike, name: Name = None) -> Tensor:
    """Part of the elements that are zero, in single precision."""
