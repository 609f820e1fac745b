"""Findings of a replay on a GPU about its values: bytes on the device, read with the outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from operator import and_
from typing import Any, NamedTuple

import numpy as np
from gradwire_engine.kernels.form import FAILED
from gradwire_engine.ops.constants import GuardFailed, UnrecordedPath

from gradwire_gpu.cupy.device import Device
from gradwire_gpu.cupy.groups import GpuKernel, Zeroed
from gradwire_gpu.cupy.requirements import Requirement

#: Bytes of a status of a kernel, and of a number that is finite if its results are.
_WORD = 8


class Found(NamedTuple):
    """Which guard has failed, whether values fail, and numbers that are finite if outputs are."""

    guard: type[GuardFailed] | None
    fails: bool
    unsure: tuple[Any, ...]


class Flags:
    """The flags of ``kernels``, then a byte for each of some slots, which are 1 where values fail.

    These are ``guards``, then operations of CuPy's that may be ``requiring`` something, then the
    ``unchecked`` outputs, which no kernel looks through for values that are not finite: with what
    makes numbers of those that are bits.
    """

    def __init__(
        self,
        device: Device,
        kernels: Iterable[GpuKernel],
        guards: Sequence[int],
        requiring: Sequence[int],
        unchecked: Mapping[int, Callable[[Any], Any] | None],
    ) -> None:
        self._device, self._numbers_of = device, unchecked
        end = 0
        #: Where each kernel writes.
        self.zeroed: dict[GpuKernel, Zeroed] = {}
        for kernel in kernels:
            self.zeroed[kernel] = zeroed = kernel.zeroed(end)
            end = zeroed.end
        found = [*self.zeroed.values()]
        self._statuses = _places([zeroed.statuses for zeroed in found]) // _WORD
        self._numbers = _places([zeroed.flags for zeroed in found]) // _WORD
        self._faults = _places([zeroed.faults for zeroed in found])
        self._words = slice(0, end // _WORD * _WORD)
        ends = [*accumulate(map(len, (guards, requiring, unchecked)), initial=end)]
        self._guards, self._required, self._finite = (
            {slot: at + k for k, slot in enumerate(slots)}
            for slots, at in zip((guards, requiring, unchecked), ends, strict=False)
        )
        self._of_guards, self._of_required, self._of_finite = map(slice, ends, ends[1:])
        self.memory: Any = device.cupy.empty(ends[-1], np.uint8) if ends[-1] else None

    def clear(self) -> None:
        """Begin a replay, for which nothing has failed."""
        if self.memory is not None:
            self.memory.data.memset_async(0, self.memory.nbytes, self._device.stream)

    def guard(self, slot: int, value: Any, expected: bool | int) -> None:
        """Write whether a guard fails."""
        self.memory[self._guards[slot]] = value != expected

    def require(self, slot: int, requirements: Sequence[Requirement]) -> None:
        """Write whether a requirement of an operation does not hold."""
        holds = reduce(and_, [holds for holds, _ in requirements])
        self.memory[self._required[slot]] = holds == 0

    def look_through(self, values: Sequence[Any], begin: int, end: int) -> None:
        """Write which of the outputs between two slots are not finite."""
        for slot, place in self._finite.items():
            if begin <= slot < end:
                of = self._numbers_of[slot]
                x = values[slot] if of is None else of(values[slot])
                self.memory[place] = self._device.cupy.isfinite(x).all() == 0

    def found(self, flags: np.ndarray[Any, Any]) -> Found:
        """The findings of a replay, from the bytes that it has left in the memory."""
        words = flags[self._words].view(np.int64)
        guard: type[GuardFailed] | None = None
        if self._guards and flags[self._of_guards].any():
            guard = GuardFailed
        elif len(self._statuses) and (words[self._statuses] == FAILED).any():
            guard = UnrecordedPath
        fails = len(self._required) > 0 and flags[self._of_required].any()
        fails = fails or (len(self._faults) > 0 and flags[self._faults].any())
        unsure = list[Any]()
        if len(self._numbers):
            unsure.append(words.view(np.float64)[self._numbers])
        if self._finite:
            unsure.append(np.where(flags[self._of_finite], np.nan, 0.0))
        return Found(guard, bool(fails), tuple(unsure))


def _places(each: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    return np.array([place for places in each for place in places], np.intp)
