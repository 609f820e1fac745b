"""Python's cyclic garbage collector, held back while a program is read, recorded or lowered.

All of these make many objects that live on and no cycles; the collector, which runs by the number
of objects made, would walk them again and again: two thirds of the time of a long program. Nothing
else runs meanwhile, a second for some millions of objects.
"""

from __future__ import annotations

import gc
import sys
import threading

#: So many objects made while it was held are put where it does not look, rather than walked.
_MANY = 50_000
#: It looks there, too, when memory has so many blocks more than twice those that it left last:
#: some hundreds of megabytes.
_ROOM = 4_000_000


class GcPause:
    """A context without collections, in any thread; afterwards all is as it was before.

    Cycles that are made meanwhile take no more than ``room``, and what there is beside them.
    """

    def __init__(self, room: int = _ROOM) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._holders = 0
        self._was_enabled = False
        self._most_blocks = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._holders:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            # Also while others hold it: they may take turns for ever.
            if self._was_enabled and gc.get_count()[0] > _MANY:
                self._relieve()
            if not self._holders and self._was_enabled:
                gc.enable()

    def _relieve(self) -> None:
        """Spare the collector what is there by now, unless cycles of others may have piled up."""
        blocks = sys.getallocatedblocks()
        if blocks > self._most_blocks > 0:
            gc.unfreeze()
            gc.collect()
            blocks = sys.getallocatedblocks()
            self._most_blocks = 0
        if not self._most_blocks:
            self._most_blocks = 2 * blocks + self._room
        gc.freeze()


#: ``with gc_paused:`` may be nested and shared among threads.
gc_paused = GcPause()
