"""The array namespace that kernels compute with: NumPy, with SciPy's parts beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
import scipy.special


def _namespace() -> Any:
    names = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    beside = {"special": scipy.special, "scipy_linalg": scipy.linalg, "sparse": scipy.sparse}
    return SimpleNamespace(**{**names, **beside})


#: ``xp`` of this backend.
NUMPY = _namespace()
