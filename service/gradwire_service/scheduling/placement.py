"""Placement of computations: on the event loop, the CPU or the GPU, by their expected time."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gradwire_engine.queries import Entry
from gradwire_gpu import Crossover, GpuDevice
from gradwire_solvers import Work

#: Bytes of an element, where only the bytes of all inputs are known.
_ELEMENT_BYTES = 8
#: Arithmetic on the CPU, of what has never run there: about that of one pass over an array.
_CPU_SECONDS_PER_FLOP = 1e-9
#: Replays before measured times count: earlier ones walk the tape, compile, or capture a graph.
_WARM_CPU, _WARM_GPU = 2, 3
#: The event loop tries what it failed at once in so many times 2 requests, at last.
_MOST_HALVINGS = 16
#: Maximum keys that are remembered.
_MOST_KNOWN = 10_000


class Device(NamedTuple):
    """A GPU that is ready: what it is, what it costs, and the memory that arrays may take."""

    gpu: GpuDevice
    crossover: Crossover
    room_bytes: int


class Cost(NamedTuple):
    """The prediction of an executable for its replays; ``input_bytes`` are without residents."""

    flops: int
    input_bytes: int
    answer_bytes: int
    peak_bytes: int


@dataclass(slots=True, eq=False)
class Known:
    """Knowledge of one computation: its cost, its shortest replays, and what proved too long."""

    cost: Cost | None = None
    cpu_seconds: float = math.inf
    cpu_replays: int = 0
    #: The CPU's own prediction for the next replay.
    next_seconds: float = math.inf
    gpu_seconds: float = math.inf
    gpu_replays: int = 0
    #: Whether the GPU had too little memory for it.
    too_large: bool = False
    #: The longest time of parsing and compiling, and whether it is short by all that is known.
    prepare_seconds: float = 0.0
    short: bool = False
    #: Attempts on the event loop that took too long, and requests until the next one.
    failures: int = 0
    _pause: int = 0

    def learn(
        self, cost: Cost | None, seconds: float, next_seconds: float, *, on_gpu: bool
    ) -> None:
        """Include a replay that took ``seconds``; the next one is predicted there."""
        self.cost = cost or self.cost
        if on_gpu:
            self.gpu_replays += 1
            if self.gpu_replays >= _WARM_GPU:
                self.gpu_seconds = min(self.gpu_seconds, seconds)
        else:
            self.cpu_replays += 1
            self.cpu_seconds = min(self.cpu_seconds, seconds)
            self.next_seconds = next_seconds

    def may_try(self) -> bool:
        """True if the event loop may try it: after each failure half as often."""
        if self._pause:
            self._pause -= 1
            return False
        return True

    def fail(self) -> None:
        """Include an attempt on the event loop that took too long."""
        self.failures += 1
        self._pause = 1 << min(self.failures, _MOST_HALVINGS)

    def expected_seconds(self, *, on_gpu: bool) -> float | None:
        """The expected time of a replay; None before any."""
        seconds = self.gpu_seconds if on_gpu else self.cpu_seconds
        return None if seconds == math.inf else seconds


def predicted_seconds(cost: Cost, crossover: Crossover) -> float:
    """The predicted time of a replay on the GPU: launch, transfers, arithmetic."""
    return (
        crossover.launch_seconds
        + cost.input_bytes / crossover.bytes_per_second_in
        + cost.answer_bytes / crossover.bytes_per_second_out
        + cost.flops / crossover.flops_per_second
    )


def is_faster_on_gpu(known: Known, input_bytes: int, device: Device) -> bool:
    """True if a computation is expected to take less time on the GPU, and fits there.

    Before its first replay only the bytes of its inputs are known: from the crossover on, the GPU
    is tried. Then measured times count, and in their place predicted ones.
    """
    crossover = device.crossover
    if known.too_large:
        return False
    cost = known.cost
    if cost is None:
        return input_bytes >= _ELEMENT_BYTES * crossover.elements
    if cost.peak_bytes > device.room_bytes:
        return False
    cpu_seconds, gpu_seconds = known.cpu_seconds, known.gpu_seconds
    if known.cpu_replays == 0:
        cpu_seconds = cost.flops * _CPU_SECONDS_PER_FLOP
    elif known.cpu_replays < _WARM_CPU:
        cpu_seconds = min(cpu_seconds, known.next_seconds)
    if gpu_seconds == math.inf:
        gpu_seconds = predicted_seconds(cost, crossover)
    return gpu_seconds < cpu_seconds


def is_faster_moved(work: Work, device: Device) -> bool:
    """True if an optimisation's evaluations would have taken less time on the GPU, and fit there.

    Fixed variables stay on it, so they are not counted as sent.
    """
    if not work.replays or work.peak_bytes > device.room_bytes:
        return False
    cost = Cost(work.flops, work.input_bytes, work.answer_bytes, work.peak_bytes)
    launches = (work.replays - 1) * device.crossover.launch_seconds
    return predicted_seconds(cost, device.crossover) + launches < work.seconds


class Placement:
    """Chooses where computations run; everywhere the CPU while no GPU is ready.

    With ``always``, the GPU computes everything that is a computation. Only for the event loop.
    """

    def __init__(self, *, always: bool = False) -> None:
        self.device: Device | None = None
        self._always = always
        self._of_entries = WeakKeyDictionary[Entry, Known]()
        self._of_others = OrderedDict[Hashable, Known]()

    @property
    def always_gpu(self) -> bool:
        """True if everything is computed on the GPU."""
        return self._always and self.device is not None

    def known(self, entry: Entry | None, key: Hashable) -> Known:
        """The knowledge of a computation: by its entry of the cache, or else by ``key``.

        What has no entry, as its body is long or the event loop is busy, is taken for the last of
        its key; an entry begins with what its key has shown.
        """
        known = None if entry is None else self._of_entries.get(entry)
        if known is None:
            known = self._of_others.get(key) or Known()
            if entry is not None:
                known = self._of_entries[entry] = replace(known)
        self._of_others[key] = known
        self._of_others.move_to_end(key)
        if len(self._of_others) > _MOST_KNOWN:
            self._of_others.popitem(last=False)
        return known

    def of_entry(self, entry: Entry | None) -> Known | None:
        """The knowledge of a computation by its entry alone, if there is any."""
        return None if entry is None else self._of_entries.get(entry)

    def is_on_gpu(self, known: Known, input_bytes: int) -> bool:
        """True if a computation runs on the GPU."""
        if self.device is None:
            return False
        return self._always or is_faster_on_gpu(known, input_bytes, self.device)
