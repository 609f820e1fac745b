"""Makes passes whose number is known when they are made, some at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Array, Poll
from gradwire_engine.backends.llvm.spans import STEPS_BETWEEN_POLLS
from gradwire_engine.kernels.form import For, Kernel, Place, dtype_of
from gradwire_engine.tape import Shape

#: Passes for which there is room at first, and most that are made.
_FEW_PASSES, _MOST_PASSES = 1024, 1 << 62


class ChunkedLoop(NamedTuple):
    """Passes that are counted as they are made, some at a time.

    The most are ``total``, or in the operand of this number. Before more are made, ``check`` looks
    at what they keep. ``trips`` is where their number goes.
    """

    total: int | None
    operand: int | None
    check: Callable[[int], None]
    trips: Place | None

    def make(
        self,
        kernel: Kernel,
        integers: Array,
        call: Callable[[Array], None],
        poll: Poll,
        arrays: list[Any],
    ) -> None:
        """Make passes until they end; ``arrays`` is the memory for what is kept."""
        (repeat,) = kernel.nests
        assert isinstance(repeat, For)
        assert repeat.status is not None
        rows = max(STEPS_BETWEEN_POLLS // max(repeat.pass_steps, 1), 1)
        status = arrays[repeat.status]
        stacks = [number for number, buffer in enumerate(kernel.buffers) if buffer.grows]
        total = self.total if self.operand is None else int(arrays[self.operand])
        if total is None:
            total, most = _MOST_PASSES, min(rows, _FEW_PASSES)
        else:
            self.check(total)
            most = total
        for number in stacks:
            buffer = kernel.buffers[number]
            arrays[number] = _room(None, most, buffer.shape[1:], dtype_of(buffer.char))
        bounds, at = integers.copy(), 0
        bounds[2] = total
        while at < total:
            bounds[0], at = at, min(at + rows, most)
            bounds[1] = at
            call(bounds)
            poll()
            if status[0]:
                break
            self.check(at)
            if at == most:
                most = min(2 * most, total)
            for number in stacks:
                if len(arrays[number]) < most:
                    arrays[number] = _room(arrays[number], most)
        at = int(status[1]) if status[0] else at
        for number in stacks:
            arrays[number] = arrays[number][:at]
        if self.trips is not None:
            arrays[self.trips.buffer][self.trips.element] = at


def _room(stack: Any, items: int, shape: Shape = (), dtype: Any = None) -> Any:
    """Memory for so many items, the first of them those of ``stack``."""
    if stack is None:
        return np.empty((items, *shape), dtype)
    more = np.empty((items, *stack.shape[1:]), stack.dtype)
    more[: len(stack)] = stack
    return more
