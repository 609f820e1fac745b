"""Dialects: the same operations under the names, orders and defaults of other libraries."""

from __future__ import annotations

from typing import Any

from gradwire_engine.dialects import stats
from gradwire_engine.dialects.base import Dialect, Recorded
from gradwire_engine.dialects.jax import JAX
from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.dialects.tensorflow import TF
from gradwire_engine.dialects.torch import TORCH
from gradwire_engine.dialects.torch.names import DTYPES as TORCH_DTYPES
from gradwire_engine.ops.base import Function
from gradwire_engine.ops.promotion import DTYPES

__all__ = ["DIALECTS", "TORCH", "Dialect", "Recorded", "dtype", "find", "full_name", "own", "stats"]

#: Every dialect whose names are not the unprefixed ones alone, longer prefixes before shorter.
DIALECTS = (JAX, SCIPY, TF, TORCH)
for _dialect in DIALECTS:
    _dialect.read_prelude()
#: Names of dtypes that only a dialect has.
_DTYPES = {
    "tf": {"half": "float16", "double": "float64", "bool": "bool"},
    "torch": TORCH_DTYPES,
}


def full_name(name: str) -> tuple[Dialect, str] | None:
    """The dialect that a prefix chooses, and the name there; ``None`` without such a prefix."""
    for dialect in DIALECTS:
        for written, meant in dialect.roots.items():
            if name.startswith(written):
                return dialect, meant + name.removeprefix(written)
    return None


def find(name: str) -> Function | None:
    """The function that a prefixed name means."""
    found = full_name(name)
    return None if found is None else found[0].functions.get(found[1])


def own(name: str) -> Dialect | None:
    """The dialect that alone says what a prefixed name means."""
    found = full_name(name)
    if found is None:
        return None
    dialect, full = found
    return None if dialect.unprefixed and full.startswith(dialect.unprefixed) else dialect


def dtype(name: str) -> Any:
    """The dtype that a prefixed name means, ``torch.long``, or ``None``."""
    root, _, rest = name.partition(".")
    return DTYPES.get(_DTYPES.get(root, {}).get(rest, ""))
