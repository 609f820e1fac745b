"""float16 and bfloat16 on a device: CuPy has the former, of the latter arrays hold the bits."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np
from gradwire_engine.ops.promotion import BFLOAT16
from gradwire_engine.tape import DType

__all__ = ["of_bfloat16", "rounded", "to_bfloat16"]


def rounded(x: Any, dtype: DType) -> Any:
    """Each number as the nearest of a coarser dtype."""
    if dtype != BFLOAT16:
        return x.astype(dtype).astype(x.dtype)
    return of_bfloat16(to_bfloat16(x))


def of_bfloat16(bits: Any) -> Any:
    """The float32 numbers with these bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(x: Any) -> Any:
    """The bits of the nearest numbers, at ties the even ones; NaN stays NaN."""
    bits = cupy.ascontiguousarray(x).view(np.uint32)
    near = bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))
    kept = cupy.where(cupy.isnan(x), bits | np.uint32(1 << 22), near)
    return (kept >> 16).astype(np.uint16)
