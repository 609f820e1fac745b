"""The array namespace that kernels compute with: NumPy, and beside it SciPy's parts and ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from gradwire_engine.backends.reference import indexing, kernels
from gradwire_engine.backends.reference.special import SPECIAL


def _namespace() -> Any:
    names = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    beside = {"special": SPECIAL, "scipy_linalg": scipy.linalg, "sparse": scipy.sparse}
    return SimpleNamespace(**{**names, **beside, **_ours()})


def _ours() -> dict[str, Any]:
    return {name: getattr(part, name) for part in (indexing, kernels) for name in part.__all__}


#: ``xp`` of this backend.
NUMPY = _namespace()
