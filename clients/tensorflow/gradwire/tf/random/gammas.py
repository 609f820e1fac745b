"""Gamma numbers, differentiated in their parameters as implicit functions of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.conversion import constant, convert_to_tensor
from gradwire.tf.custom import custom_gradient
from gradwire.tf.operations.arrays import broadcast_to
from gradwire.tf.operations.math import exp, igamma, lgamma, log, maximum
from gradwire.tf.operations.types import DTypeLike, TensorLike
from gradwire.tf.philox import Philox
from gradwire.tf.random import rejection
from gradwire.tf.tapes import GradientTape
from gradwire.tf.tensors import Tensor


def gamma_from(
    source: Philox,
    shape: tuple[int, ...],
    alpha: TensorLike,
    beta: TensorLike | None,
    dtype: DTypeLike,
) -> Tensor:
    """Gamma numbers of a generator, ``shape`` being the whole shape."""
    kind = dtypes.as_dtype(dtype)
    shapes = convert_to_tensor(alpha, kind)
    rates = convert_to_tensor(1.0 if beta is None else beta, kind)
    batch = np.broadcast_shapes(shapes._lengths(), rates._lengths())
    each = np.broadcast_to(static.array(shapes), batch)
    found = rejection.drawn(rejection.gamma, source, shape, each)
    drawn = _differentiable(constant(found, kind), broadcast_to(shapes, shape))
    least = constant(dtypes.finfo(kind.storage).tiny, kind)
    return maximum(least, drawn / rates)


def _differentiable(numbers: Tensor, alpha: Tensor) -> Tensor:
    @custom_gradient
    def drawn(alpha: Tensor) -> Any:
        return numbers, lambda upstream: upstream * _slope(alpha, numbers)

    found: Tensor = drawn(alpha)
    return found


def _slope(alpha: Tensor, x: Tensor) -> Tensor:
    """``∂x/∂α = -∂P(α, x)/∂α / p(x; α)``, where ``P`` is the distribution and ``p`` its density."""
    with GradientTape() as tape:
        tape.watch(alpha)
        distribution = igamma(alpha, x)
    density = exp((alpha - 1.0) * log(x) - x - lgamma(alpha))
    found: Tensor = -tape.gradient(distribution, alpha) / density
    return found
