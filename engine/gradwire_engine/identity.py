"""Keys that are equal only where values are the same: to Python 0.0, -0.0 and False are equal."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

_INTEGER = frozenset((int,))


def exact(value: Any) -> Hashable:
    """A key of ``value``: of its type, the sign of a zero, and NaN, which is the same as itself."""
    kind = type(value)
    if kind is int or kind is str or value is None:
        same: Hashable = value
        return same
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if kind is tuple and _INTEGER.issuperset(map(type, value)):
        return tuple(value)
    if isinstance(value, tuple):
        return kind, *map(exact, value)
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    return kind, value
