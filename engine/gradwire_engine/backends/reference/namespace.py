"""The array namespace that kernels compute with: NumPy, and beside it SciPy's parts and ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from gradwire_engine.backends.reference import indexing, kernels
from gradwire_engine.backends.reference.special import SPECIAL

#: NumPy's names of the vector instructions with which float64 tangents are quick.
_VECTORS = frozenset(("AVX512_SKX", "X86_V4"))


def _namespace() -> Any:
    names = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    beside = {"special": SPECIAL, "scipy_linalg": scipy.linalg, "sparse": scipy.sparse}
    return SimpleNamespace(**{**names, **beside, **_ours(), "quick": _quick()})


def _ours() -> dict[str, Any]:
    return {name: getattr(part, name) for part in (indexing, kernels) for name in part.__all__}


def _quick() -> frozenset[str]:
    """The functions that this NumPy computes by vector instructions on this processor only.

    Only what rules of the optimiser ask for is looked at: float64 tangents.
    """
    introspect = getattr(np.lib, "introspect", None)
    if introspect is None:
        return frozenset()
    found = introspect.opt_func_info(func_name="^tan$", signature="^float64")
    kinds = {kind["current"] for kind in found.get("tan", {}).values()}
    return frozenset() if _VECTORS.isdisjoint(kinds) else frozenset(("tan",))


#: ``xp`` of this backend.
NUMPY = _namespace()
