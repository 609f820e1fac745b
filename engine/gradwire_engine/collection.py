"""Python's cyclic garbage collector, held back while a program is read or recorded.

Both make many objects that live on and no cycles; the collector, which runs by the number of
objects made, would walk all of them again and again: two thirds of the time of a long program.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_held = 0
_was_enabled = False


@contextmanager
def collection_held() -> Iterator[None]:
    """No collections within, in any thread; afterwards as it was before."""
    global _held, _was_enabled
    with _lock:
        if not _held:
            _was_enabled = gc.isenabled()
            gc.disable()
        _held += 1
    try:
        yield
    finally:
        with _lock:
            _held -= 1
            if not _held and _was_enabled:
                gc.enable()
