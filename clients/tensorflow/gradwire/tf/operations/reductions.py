"""``tf.math``: reductions and running totals."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import family, operation
from gradwire.tf.operations.types import Axis, Name, Places, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "cumprod", "cumsum", "cumulative_logsumexp", "in_top_k", "invert_permutation", "lbeta",
    "log_softmax", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "zero_fraction",
]  # fmt: skip


@family(rules.reduce, kinds.SUMS)
def _reduction(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: Name = None
) -> Tensor:
    """The parameters of reductions."""


@_reduction("tf.reduce_sum", "Sum")
def reduce_sum() -> None:
    """Sum over ``axis`` (all axes by default): ``z = sum x``; integers add up in 64 bits."""


@_reduction("tf.reduce_mean", "Mean")
def reduce_mean() -> None:
    """Mean over ``axis``: ``z = sum x / n``; in float64 for integers, NaN of no elements."""


@_reduction("tf.reduce_prod", "Prod")
def reduce_prod() -> None:
    """Product over ``axis``: ``z = prod x``; integers multiply in 64 bits."""


@_reduction("tf.reduce_max", "Max", kinds.EXTREMES)
def reduce_max() -> None:
    """Largest element over ``axis``; NaN if there is one."""


@_reduction("tf.reduce_min", "Min", kinds.EXTREMES)
def reduce_min() -> None:
    """Smallest element over ``axis``; NaN if there is one."""


@_reduction("tf.reduce_all", "All", kinds.BOOL)
def reduce_all() -> None:
    """True if every element over ``axis`` is nonzero."""


@_reduction("tf.reduce_any", "Any", kinds.BOOL)
def reduce_any() -> None:
    """True if some element over ``axis`` is nonzero."""


@_reduction("tf.formulas.reduce_logsumexp", "IsFinite", kinds.FLOATS)
def reduce_logsumexp() -> None:
    """Logarithm of a sum of exponentials over ``axis`` (all by default): ``z = ln sum(b
    exp(a))``.
    """


@_reduction("tf.formulas.reduce_euclidean_norm", "EuclideanNorm")
def reduce_euclidean_norm() -> None:
    """Norm ``ord`` of all elements over ``axis`` (one, several, or all) as one vector."""


@family(rules.scan, kinds.SUMS)
def _scan(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> Tensor:
    """The parameters of running totals."""


@_scan("tf.cumsum", "Cumsum")
def cumsum() -> None:
    """Running sum along ``axis``, without the element itself if ``exclusive``, from the end if
    ``reverse``.
    """


@_scan("tf.math.cumprod", "Cumprod")
def cumprod() -> None:
    """Running product along ``axis``, without the element itself if ``exclusive``, from the end
    if ``reverse``.
    """


@_scan("tf.math.cumulative_logsumexp", "CumulativeLogsumexp", kinds.FLOATS)
def cumulative_logsumexp() -> None:
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
