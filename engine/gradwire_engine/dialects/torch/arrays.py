"""PyTorch's functions of shapes that mean something else than the unprefixed ones."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.axes import flag, integer
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("combinations")
def combinations(b: Builder, input: Any, r: Static = 2, with_replacement: Static = False) -> Any:
    """All choices of ``r`` elements of a vector, in its order, one a row."""
    x, count = b.array(input), integer(r, "r")
    if x.ndim != 1 or count < 0:
        raise ShapeMismatch(f"combinations takes a vector and r of at least 0, got {x.type}, {r}")
    again = flag(with_replacement, "with_replacement")
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    length = x.type.shape[0]
    total = _chosen(length + count - 1 if again else length, count, b.limits.array_bytes)
    b.afford(*[ArrayType(DTYPES["int64"], shape) for shape in ((total, count), (5, length))])
    following = itertools.chain.from_iterable(choose(range(length), count))

    def rows(row: Any, _: Any) -> Any:
        return np.fromiter(following, np.int64, row.size * count).reshape(row.size, count)

    return recorded("take")(b, x, b.table((total, count), rows, by=0), 0)


def _chosen(n: int, k: int, most: int) -> int:
    """The number of choices of ``k`` from ``n``, or one above ``most``."""
    total = int(k <= max(n, 0))
    for i in range(min(k, n - k)):
        total = total * (n - i) // (i + 1)
        if total > most:
            break
    return total
