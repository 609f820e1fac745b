"""The memory of a replay, as Python's allocator counts it, NumPy's arrays included."""

import tracemalloc
from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.backends.walk import buffers
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.polling import no_deadline


def taken(executable: WalkExecutable, values: Sequence[Array]) -> int:
    """Most bytes at once, the inputs included, and not what a thread's pool keeps beside."""
    tracemalloc.start()
    try:
        with np.errstate(all="ignore"), patch.object(buffers.BUDGET, "most", 0):
            executable.replay(values, no_deadline)
        return tracemalloc.get_traced_memory()[1] + sum([v.nbytes for v in values])
    finally:
        tracemalloc.stop()
