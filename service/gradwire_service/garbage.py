"""The cyclic garbage collector of the event loop's process, called by the clock."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from time import monotonic

#: The most of the time that it takes, that where objects pile up, and the least time between calls.
_MOST_OF_TIME, _MOST_IF_MANY, _LEAST_SECONDS = 0.004, 0.1, 1.0
#: Objects more than at the last call that are many.
_MANY = 200_000
#: It looks at what earlier calls have left, too, when memory has so many blocks more than twice
#: those that were left last: some hundreds of megabytes.
_ROOM = 4_000_000


class Collector:
    """Has the collector take a small part of the time, whatever clients do.

    Python calls it by the number of objects. A thousand clients that come and go each second keep
    that number as it is, so that tens of thousands of objects are new when it is called: 50 ms in
    which nobody is answered, every other second. Hardly any of them are garbage.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        collect: Callable[[], object] = gc.collect,
        new_objects: Callable[[], int] = lambda: gc.get_count()[0],
    ) -> None:
        self._clock, self._collect, self._new_objects = clock, collect, new_objects
        self._next = self._next_if_many = 0.0
        self._most_blocks = 0

    @staticmethod
    def begin() -> None:
        """Leave out what is there by now, which stays; from here on only ``look`` collects."""
        gc.freeze()
        gc.disable()

    def look(self) -> None:
        """Collect if it is time to."""
        begin = self._clock()
        if begin < self._next and (begin < self._next_if_many or self._new_objects() < _MANY):
            return
        if sys.getallocatedblocks() > self._most_blocks > 0:
            gc.unfreeze()
            self._most_blocks = 0
        self._collect()
        if not self._most_blocks:
            self._most_blocks = 2 * sys.getallocatedblocks() + _ROOM
        gc.freeze()
        end = self._clock()
        self._next = end + max((end - begin) / _MOST_OF_TIME, _LEAST_SECONDS)
        self._next_if_many = end + (end - begin) / _MOST_IF_MANY
