"""Partial results of passes that threads share: each has its own, which are put together in order.

So answers depend on the number of threads, but not on which of them is first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.kernels.form import EVERYWHERE, Kernel, Load, Nest, Reduce, Store

#: The neutral element, and the combination of two.
_NEUTRAL = {"sum": 0.0, "finite": 0.0, "all": False, "max": -inf, "min": inf}
_JOINED = {
    "sum": np.add,
    "finite": np.add,
    "all": np.logical_or,  # in memory it is whether any is false
    "max": np.maximum,
    "min": np.minimum,
}


class Partial(NamedTuple):
    """The elements of a buffer that passes of the outermost loop are put together in."""

    buffer: int
    kinds: dict[int, str]

    def own(self, whole: Array) -> Array:
        """A thread's own buffer."""
        mine = whole.copy()
        for element, kind in self.kinds.items():
            mine.reshape(-1)[element] = _NEUTRAL[kind]
        return mine

    def join(self, whole: Array, parts: Sequence[Array]) -> None:
        """Put together what threads have: a flag with what it was before."""
        flat = whole.reshape(-1)
        for element, kind in self.kinds.items():
            found: Any = flat[element] if kind in EVERYWHERE else flat.dtype.type(_NEUTRAL[kind])
            for part in parts:
                found = _JOINED[kind](found, part.reshape(-1)[element])
            flat[element] = found


def partials(kernel: Kernel) -> list[Partial] | None:
    """The partial results of threads that share a kernel's outermost loop; None if they cannot."""
    nest, *more = kernel.nests
    if more or not isinstance(nest, Nest) or nest.outer:
        return None
    kinds: dict[int, dict[int, str]] = {}
    stored: set[int] = set()
    for output in nest.outputs:
        if isinstance(output, Reduce) and (output.kind in EVERYWHERE or not nest.kept):
            kinds.setdefault(output.buffer, {})[output.at.offset] = output.kind
        elif isinstance(output, Store | Reduce):
            stored.add(output.buffer)
        else:
            return None
    if stored & ({node.buffer for node in nest.nodes if isinstance(node, Load)} | kinds.keys()):
        return None  # what is read may be another thread's
    return [Partial(*each) for each in kinds.items()]
