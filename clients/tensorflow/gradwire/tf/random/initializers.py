"""``tf.random_normal_initializer`` and ``tf.random_uniform_initializer``, older than Keras's.

Without a seed each call draws other numbers, as the global seed decides.
"""

from __future__ import annotations

from typing import Any

from gradwire.tf import dtypes
from gradwire.tf.operations.types import DTypeLike, Shape
from gradwire.tf.random import stateful, stateless
from gradwire.tf.tensors import Tensor


class RandomNormal:
    """Normally distributed."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean: float = mean
        self.stddev: float = stddev
        self.seed: int | None = seed

    def __call__(self, shape: Shape, dtype: DTypeLike = dtypes.float32) -> Tensor:
        """The first value of a variable."""
        kind = dtypes.as_dtype(dtype)
        if not kind.is_floating:
            raise ValueError(f"Argument `dtype` expected to be floating point. Received: {kind}.")
        if self.seed is not None:
            pair = (self.seed, 0)
            return stateless.stateless_normal(shape, pair, self.mean, self.stddev, kind)
        return stateful.normal(shape, self.mean, self.stddev, kind)

    def get_config(self) -> dict[str, Any]:
        """The arguments of another one like this one."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class RandomUniform:
    """Evenly distributed from ``minval`` to below ``maxval``, which integers need."""

    def __init__(
        self, minval: float = -0.05, maxval: float | None = 0.05, seed: int | None = None
    ) -> None:
        self.minval: float = minval
        self.maxval: float | None = maxval
        self.seed: int | None = seed

    def __call__(self, shape: Shape, dtype: DTypeLike = dtypes.float32) -> Tensor:
        """The first value of a variable."""
        if self.seed is not None:
            pair = (self.seed, 0)
            return stateless.stateless_uniform(shape, pair, self.minval, self.maxval, dtype)
        return stateful.uniform(shape, self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of another one like this one."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}
