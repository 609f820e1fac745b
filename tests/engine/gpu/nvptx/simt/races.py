"""Finds races: what each element's accesses have in common, whichever order they ran in.

A barrier orders the accesses of a block, nothing those of different blocks. Atomic operations do
not race with each other, but with plain reads and writes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from tests.engine.gpu.nvptx.simt.faults import Race
from tests.engine.gpu.nvptx.simt.types import Array

Kind = Literal["read", "write", "atomic"]
RIVALS: dict[Kind, tuple[Kind, ...]] = {
    "read": ("write", "atomic"),
    "write": ("read", "atomic", "write"),
    "atomic": ("read", "write"),
}
SEVERAL = (1 << 32) - 1


class _Latest:
    """Who touched each element in the latest epoch that touched it: one, or several.

    Held is ``epoch << 32 | who``; epochs count from 1, so that 0 is nobody.
    """

    def __init__(self, size: int) -> None:
        self._held = np.zeros(size, np.int64)

    def others(self, elements: Array, mine: Array) -> Array:
        """Of each element, who else touched it in this epoch, -1 for nobody."""
        held = self._held[elements]
        same_epoch = held >> 32 == mine >> 32
        return np.where(same_epoch & (held != mine), held & SEVERAL, -1)

    def add(self, elements: Array, mine: Array) -> Array:
        """Note an access, and return what ``others`` gives with those of the same instruction."""
        others = self.others(elements, mine)
        self._held[elements] = mine
        others = np.where(self._held[elements] != mine, SEVERAL, others)
        several = others >= 0
        self._held[elements[several]] = mine[several] | SEVERAL
        return others


class Races:
    """The accesses of one launch to so many bytes.

    Each thread is of a block, and has passed so many barriers, which changes while it runs.
    """

    def __init__(self, size: int, block: Array, epoch: Array) -> None:
        self._blocks = {kind: _Latest(size) for kind in RIVALS}
        self._threads = {kind: _Latest(size) for kind in RIVALS}
        self._block = block
        self._epoch = epoch

    def access(self, kind: Kind, elements: Array, threads: Array) -> None:
        """Note that threads touch elements, one each."""
        by_block = 1 << 32 | self._block[threads]
        by_thread = self._epoch[threads] + 1 << 32 | threads
        for rival in RIVALS[kind]:
            if rival == kind:
                continue
            self._clash(rival, kind, self._blocks[rival].others(elements, by_block), threads)
            self._clash(rival, kind, self._threads[rival].others(elements, by_thread), threads)
        for seen, mine in ((self._blocks, by_block), (self._threads, by_thread)):
            others = seen[kind].add(elements, mine)
            if kind in RIVALS[kind]:
                self._clash(kind, kind, others, threads)

    def _clash(self, rival: Kind, kind: Kind, others: Array, threads: Array) -> None:
        if (others >= 0).any():
            at = int(np.argmax(others >= 0))
            raise Race(
                f"{kind} by thread {threads[at]} (block {self._block[threads[at]]}) "
                f"and {rival} by another thread of the same element are not ordered"
            )
