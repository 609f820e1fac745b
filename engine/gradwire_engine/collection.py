"""Python's cyclic garbage collector, held back while a program is read or recorded.

Both make many objects that live on and no cycles; the collector, which runs by the number of
objects made, would walk all of them again and again: two thirds of the time of a long program.
"""

from __future__ import annotations

import gc
import threading


class _CollectionHeld:
    """A context without collections, in any thread; afterwards all is as it was before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._holders:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders and self._was_enabled:
                gc.enable()


#: ``with collection_held:`` may be nested and shared among threads.
collection_held = _CollectionHeld()
