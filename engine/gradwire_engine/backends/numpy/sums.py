"""Sums as products with ones."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from gradwire_engine.ops.base import register
from gradwire_engine.ops.reductions.reductions import Reduction
from gradwire_engine.tape import DType

#: Longer vectors of ones are made each time: they take less than what they multiply.
_KEPT_ONES = 4096


@register("sum_by_product", public=False)
class SumByProduct(Reduction):
    """Sum over ``axes``, which are the first or the last: ``z = 1ᵀ x`` or ``z = x 1``."""

    axes: tuple[int, ...]
    differentiable = False

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """BLAS takes no time to begin a row."""
        (x,) = operands
        shape, axes = x.shape, len(self.axes)
        if self.axes[0] == 0:
            count = math.prod(shape[:axes])
            return (_ones(count, x.dtype) @ x.reshape(count, -1)).reshape(shape[axes:])
        count = math.prod(shape[-axes:])
        return (x.reshape(-1, count) @ _ones(count, x.dtype)).reshape(shape[:-axes])


def _ones(count: int, dtype: DType) -> Any:
    return _kept_ones(count, dtype) if count <= _KEPT_ONES else np.ones(count, dtype)


@lru_cache(maxsize=64)
def _kept_ones(count: int, dtype: DType) -> Any:
    return np.ones(count, dtype)
