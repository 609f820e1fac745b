"""Memory for large arrays that is used again once nothing refers to it.

The kernel zeroes every page that it gives a process anew; for an array of a million numbers this
takes as long as several operations on it. A thread's pool keeps the memory of large arrays. It is
free again when nothing but the pool refers to it: arrays of an answer too, as soon as the answer
has been sent and forgotten.

The pools of all threads share a budget, which is counted only where memory is made or dropped:
reusing what is there takes no lock.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from sys import getrefcount

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.shared_budget import BudgetShare, SharedBudget
from gradwire_engine.tape import DType, Shape

#: Arrays from this size on come from pools; the allocator is quick with smaller ones.
POOLED_BYTES = 1 << 16
#: Most memory that the pools of all threads keep, unless it is set.
_MOST_BYTES = 1 << 27
#: Most blocks of one size, all of which are looked at.
_MOST_ALIKE = 32
#: Vector instructions want their operands aligned to a line of the cache.
_LINE = 64


class _Memory(BudgetShare):
    """The contents of one thread's pool: blocks that it reuses.

    Its own thread reads it without the lock, while others may drop what is oldest: so a list of
    blocks is replaced, not changed.
    """

    def __init__(self, budget: SharedBudget) -> None:
        super().__init__(budget)
        #: The blocks by size, and all of them in the order in which they were allocated.
        self.blocks: dict[int, list[Array]] = {}
        self.order: list[Array] = []

    def __len__(self) -> int:
        return len(self.order)

    def drop_oldest(self) -> int:
        """Forget a block, whether it is in use or not."""
        oldest = self.order.pop(0)
        others = self.blocks[oldest.nbytes]
        self.blocks[oldest.nbytes] = [other for other in others if other is not oldest]
        return oldest.nbytes

    def add_block(self, size: int) -> Array:
        """One more block."""
        block = _aligned(size)
        with self.budget.lock:
            self.blocks[size] = [*self.blocks.get(size, ()), block]
            self.order.append(block)
            self.take(size)
        return block


class Pool(threading.local):
    """The memory of each thread; ``budget`` is what all of them share."""

    def __init__(self, budget: SharedBudget) -> None:
        self._memory = _Memory(budget)

    def forget(self) -> None:
        """Keep nothing; what is in use is its users' alone."""
        self._memory = _Memory(self._memory.budget)

    def empty(self, shape: Shape, dtype: DType) -> Array:
        """An array of any content."""
        nbytes = math.prod(shape) * dtype.itemsize
        memory = self._memory
        if not POOLED_BYTES <= nbytes <= memory.budget.most // 2:
            return np.empty(shape, dtype)
        size = nbytes + -nbytes % (1 << nbytes.bit_length() - 4)  # an eighth more at most
        blocks = memory.blocks.get(size, ())
        for i in range(len(blocks)):
            if _references(blocks, i) == _UNUSED:
                block = blocks[i]
                break
        else:
            if len(blocks) == _MOST_ALIKE:
                return np.empty(shape, dtype)
            block = memory.add_block(size)
        return block[:nbytes].view(dtype).reshape(shape)


def _aligned(nbytes: int) -> Array:
    """Bytes that begin at a line of the cache."""
    raw = np.empty(nbytes + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + nbytes]


def _references(blocks: Sequence[Array], i: int) -> int:
    """References to what block ``i`` is a view of, which views of the block refer to as well."""
    return getrefcount(blocks[i].base)


#: The count of a block that is not in use; it depends on the version of Python.
_UNUSED = _references([_aligned(_LINE)], 0)

#: The budget of the pools of all threads.
BUDGET = SharedBudget(_MOST_BYTES)
#: Lends to the thread that asks.
POOL = Pool(BUDGET)
