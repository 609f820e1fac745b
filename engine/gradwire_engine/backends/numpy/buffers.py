"""Memory for large arrays that is used again once nothing refers to it.

The kernel zeroes every page that it gives a process anew; for an array of a million numbers this
takes as long as several operations on it. A thread's pool keeps the memory of large arrays. What
it has lent is free again when nothing but the pool refers to it: arrays of an answer too, as soon
as the answer has been sent and forgotten. What blocks are computed in never leaves a function, so
it is taken and given back.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from sys import getrefcount

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.tape import DType, Shape

#: Arrays from this size on are lent by pools; the allocator is quick with smaller ones.
POOLED_BYTES = 1 << 16
#: Most memory that a thread's pool keeps, and that larger arrays do not enter.
_KEPT_BYTES = 1 << 27
#: Most blocks of one size, all of which are looked at, and most sets of buffers.
_MOST_ALIKE, _KEPT_SETS = 32, 16
#: Vector instructions want their operands aligned to a line of the cache.
_LINE = 64


class Pool(threading.local):
    """The memory of each thread."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Keep nothing; what is lent is its users' alone."""
        #: What has been lent, by size, and all of it in the order in which it was made.
        self._blocks: dict[int, list[Array]] = {}
        self._kept: list[Array] = []
        self._kept_bytes = 0
        self._sets: dict[str, list[Array]] = {}

    def empty(self, shape: Shape, dtype: DType) -> Array:
        """An array of any content."""
        nbytes = math.prod(shape) * dtype.itemsize
        if not POOLED_BYTES <= nbytes <= _KEPT_BYTES // 2:
            return np.empty(shape, dtype)
        size = nbytes + -nbytes % (1 << nbytes.bit_length() - 4)  # an eighth more at most
        blocks = self._blocks.setdefault(size, [])
        for i in range(len(blocks)):
            if _references(blocks, i) == _UNLENT:
                block = blocks[i]
                break
        else:
            if len(blocks) == _MOST_ALIKE:
                return np.empty(shape, dtype)
            block = self._make(size, blocks)
        return block[:nbytes].view(dtype).reshape(shape)

    def _make(self, size: int, blocks: list[Array]) -> Array:
        """One more block; of others, lent or not, the pool forgets those that are too many."""
        block = _aligned(size)
        blocks.append(block)
        self._kept.append(block)
        self._kept_bytes += size
        while self._kept_bytes > _KEPT_BYTES:
            oldest = self._kept.pop(0)
            self._kept_bytes -= oldest.nbytes
            others = self._blocks[oldest.nbytes]
            others[:] = [other for other in others if other is not oldest]
        return block

    def take(self, key: str, kinds: Sequence[tuple[Shape, DType]]) -> list[Array]:
        """Arrays of these kinds, which ``key`` stands for, to be given back."""
        found = self._sets.pop(key, None)
        if found is not None:
            return found
        sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in kinds]
        arrays = [_aligned(max(size, 1))[:size] for size in sizes]
        pairs = zip(arrays, kinds, strict=True)
        return [array.view(dtype).reshape(shape) for array, (shape, dtype) in pairs]

    def give(self, key: str, arrays: list[Array]) -> None:
        """Keep what was taken, the latest sets of all."""
        self._sets[key] = arrays
        if len(self._sets) > _KEPT_SETS:
            del self._sets[next(iter(self._sets))]


def _aligned(nbytes: int) -> Array:
    """Bytes that begin at a line of the cache."""
    raw = np.empty(nbytes + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + nbytes]


def _references(blocks: list[Array], i: int) -> int:
    """References to what block ``i`` is a view of, which views of the block refer to as well."""
    return getrefcount(blocks[i].base)


#: What this counts of a block that is not lent; it depends on the version of Python.
_UNLENT = _references([_aligned(_LINE)], 0)

#: Lends to the thread that asks.
POOL = Pool()
