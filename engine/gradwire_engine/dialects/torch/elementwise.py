"""PyTorch's elementwise functions that mean something else than the unprefixed ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


def scaled(b: Builder, x: Any, by: Any) -> Any:
    """``by x``, nothing recorded for 1."""
    return x if isinstance(by, int | float) and by == 1 else recorded("multiply")(b, by, x)


def held(value: float, dtype: Any) -> Any:
    """``value``, or for an infinite one that integers are to hold the outermost of these."""
    if dtype.kind not in "iu" or math.isfinite(value):
        return value
    bounds = np.iinfo(dtype)
    return int(bounds.max if value > 0 else bounds.min)
