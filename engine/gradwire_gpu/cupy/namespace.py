"""The array namespace that kernels compute with on a GPU: CuPy, and beside it what is ours."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special


@cache
def namespace() -> Any:
    """``xp`` on CuPy, which is imported now: NumPy's names, and those that kernels have beside.

    Raises: ``ImportError`` where CuPy or a library of CUDA's is not installed.
    """
    import cupy
    import cupyx.scipy.special

    from gradwire_gpu.cupy import elementwise, halves, indexing, kernels, linalg

    names = {name: getattr(cupy, name) for name in np.__all__ if hasattr(cupy, name)}
    special = {name: getattr(cupyx.scipy.special, name) for name in dir(cupyx.scipy.special)}
    special |= {"exprel": elementwise.exprel, "logit": elementwise.logit}
    special |= {"polygamma": kernels.polygamma, "bernoulli": scipy.special.bernoulli}
    windows = {"sliding_window_view": indexing.sliding_window_view}
    beside = {
        "lib": SimpleNamespace(stride_tricks=SimpleNamespace(**windows)),
        "special": SimpleNamespace(**special),
        "scipy_linalg": cupyx.scipy.linalg,
    }
    parts = elementwise, halves, indexing, kernels, linalg
    ours = {name: getattr(part, name) for part in parts for name in part.__all__}
    return SimpleNamespace(**{**names, **beside, **ours})
