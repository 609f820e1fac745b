"""Memory for large arrays that is used again once nothing refers to it.

The kernel zeroes every page that it gives a process anew; for an array of a million numbers this
takes as long as several operations on it. A thread's pool keeps the memory of large arrays. What
it has lent is free again when nothing but the pool refers to it: arrays of an answer too, as soon
as the answer has been sent and forgotten.
"""

from __future__ import annotations

import math
import threading
from sys import getrefcount

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.tape import DType, Shape

#: Arrays from this size on are lent by pools; the allocator is quick with smaller ones.
POOLED_BYTES = 1 << 16
#: Most memory that a thread's pool keeps, and that larger arrays do not enter.
_KEPT_BYTES = 1 << 28
#: Vector instructions want their operands aligned to a line of the cache.
_LINE = 64


class Pool:
    """The memory of one thread, the least recently lent first."""

    def __init__(self) -> None:
        self._blocks: list[Array] = []
        self._kept = 0

    def empty(self, shape: Shape, dtype: DType) -> Array:
        """An array of any content."""
        nbytes = math.prod(shape) * dtype.itemsize
        if not POOLED_BYTES <= nbytes <= _KEPT_BYTES // 2:
            return np.empty(shape, dtype)
        block = self._free(nbytes)
        if block is None:
            block = _aligned(nbytes)
            self._blocks.append(block)
            self._kept += block.nbytes
            self._forget()
        return block[:nbytes].view(dtype).reshape(shape)

    def _free(self, nbytes: int) -> Array | None:
        """The smallest block that is not lent, and not far too large."""
        blocks, best, least = self._blocks, -1, 2 * nbytes + 1
        for i in range(len(blocks)):
            size = blocks[i].nbytes
            if nbytes <= size < least and _references(blocks, i) == _UNLENT:
                best, least = i, size
                if size == nbytes:
                    break
        if best < 0:
            return None
        blocks.append(blocks.pop(best))
        return blocks[-1]

    def _forget(self) -> None:
        """Keep no more than allowed: free blocks go, and of lent ones the pool's knowledge."""
        while self._kept > _KEPT_BYTES:
            self._kept -= self._blocks.pop(0).nbytes


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

_local = threading.local()


def empty(shape: Shape, dtype: DType) -> Array:
    """An array of any content, from the pool of this thread."""
    pool: Pool | None = getattr(_local, "pool", None)
    if pool is None:
        pool = _local.pool = Pool()
    return pool.empty(shape, dtype)
