"""The Python that makes passes whose number is known when they are made, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.llvm.spans import STEPS_BETWEEN_POLLS
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.kernels.form import Kernel, Place, Repeat, dtype_of
from gradwire_engine.tape import Shape

#: Passes for which there is room at first, and most that are made.
_FEW_PASSES, _MOST_PASSES = 1024, 1 << 62


class Call(Protocol):
    """The call of a kernel, by the name of its table of integers."""

    integers: Array

    def code(self, table: str) -> str:
        """Code of it."""


class Passing(NamedTuple):
    """Passes that are counted as they are made, some at a time: ``total`` is code for the most.

    Before more are made, ``check`` looks at what they keep. ``trips`` is where their number goes.
    """

    total: str
    check: Callable[[int], None]
    trips: Place | None

    def lines(self, kernel: Kernel, call: Call, text: Text) -> Iterator[tuple[int, str]]:
        """Lines that make passes until they end, with room for what is kept."""
        (repeat,) = kernel.nests
        assert isinstance(repeat, Repeat)
        rows = max(STEPS_BETWEEN_POLLS // max(repeat.pass_steps, 1), 1)
        status = f"b{repeat.status}"
        stacks = [number for number, buffer in enumerate(kernel.buffers) if buffer.grows]
        whole, least = text.bind(int, "int"), text.bind(min, "min")
        check, room = text.bind(self.check, "check"), text.bind(_room, "room")
        yield 1, f"total = {whole}({self.total or _MOST_PASSES})"
        if self.total:
            yield 1, f"{check}(total)"
        yield 1, f"most = {'total' if self.total else min(rows, _FEW_PASSES)}"
        for number in stacks:
            shape, char = kernel.buffers[number].shape[1:], kernel.buffers[number].char
            dtype = text.bind(dtype_of(char), dtype_of(char).name)
            yield 1, f"b{number} = {room}(None, most, {shape}, {dtype})"
        yield 1, f"n = {text.bind(call.integers)}.copy(); n[2] = total; at = 0"
        yield 1, "while at < total:"
        yield 2, f"n[0] = at; at = {least}(at + {rows}, most); n[1] = at"
        yield 2, call.code("n")
        yield 2, "poll()"
        yield 2, f"if {status}[0]: break"
        yield 2, f"{check}(at)"
        yield 2, f"if at == most: most = {least}(2 * most, total)"
        for number in stacks:
            yield 2, f"if len(b{number}) < most: b{number} = {room}(b{number}, most)"
        text.bind(len, "len")
        yield 1, f"at = {whole}({status}[1]) if {status}[0] else at"
        for number in stacks:
            yield 1, f"b{number} = b{number}[:at]"
        if self.trips is not None:
            yield 1, f"b{self.trips.buffer}[{self.trips.element}] = at"


def _room(stack: Any, items: int, shape: Shape = (), dtype: Any = None) -> Any:
    """Memory for so many items, the first of them those of ``stack``."""
    if stack is None:
        return np.empty((items, *shape), dtype)
    more = np.empty((items, *stack.shape[1:]), stack.dtype)
    more[: len(stack)] = stack
    return more
