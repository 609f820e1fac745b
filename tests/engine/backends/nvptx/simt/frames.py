"""Threads in lockstep: who is active, what their registers hold, and where each of them is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tests.engine.backends.nvptx.simt.faults import Undefined
from tests.engine.backends.nvptx.simt.types import Array, Register

if TYPE_CHECKING:
    from tests.engine.backends.nvptx.simt.functions import Function
    from tests.engine.backends.nvptx.simt.memory import Memory


class Active:
    """The threads that execute an instruction, and whether these are all of their frame."""

    def __init__(self, lanes: Array, whole: bool) -> None:
        self.lanes = lanes
        self.whole = whole

    @cached_property
    def threads(self) -> Array:
        """Their numbers."""
        return np.flatnonzero(self.lanes)

    def of(self, register: Array) -> Array:
        """What they have in a register."""
        if len(register) == len(self.lanes):
            return register[self.threads]
        return np.broadcast_to(register, (len(self.threads), *register.shape[1:]))

    def spread(self, values: Array) -> Array:
        """A register in which they have these values, and others nothing of meaning."""
        if len(values) == len(self.lanes):
            return values
        register = np.zeros((len(self.lanes), *values.shape[1:]), values.dtype)
        register[self.threads] = values
        return register

    def require(self, right: Array, message: str) -> None:
        """Raise ``Undefined`` unless it is right for all of them."""
        right = self.of(right)
        if not right.all():
            at = self.threads[int(np.argmin(right.reshape(len(right), -1).all(axis=1)))]
            raise Undefined(f"{message} (thread {at})")


class Machine:
    """What the threads of a launch share: ``grid`` blocks of ``block`` threads, by axis."""

    def __init__(self, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
        self.block_threads = int(np.prod(block))
        self.threads = int(np.prod(grid)) * self.block_threads
        number = np.arange(self.threads)
        self.block, within = number // self.block_threads, number % self.block_threads
        self.lane = (within % 32).astype(np.int32)
        self.epoch = np.zeros(self.threads, np.int64)
        self.steps_left = 0
        self.memory: Memory
        self.registers = {"laneid": self.lane, "warpsize": np.array([32], np.int32)}
        for axis, blocks, threads in zip("xyz", grid, block, strict=True):
            self.registers[f"nctaid.{axis}"] = np.array([blocks], np.int32)
            self.registers[f"ntid.{axis}"] = np.array([threads], np.int32)
        for kind, left, sizes in (("ctaid", self.block, grid), ("tid", within, block)):
            step = 1
            for axis, size in zip("xyz", sizes, strict=True):
                self.registers[f"{kind}.{axis}"] = (left // step % size).astype(np.int32)
                step *= size


class Frame:
    """A call of a function by some threads."""

    def __init__(self, machine: Machine, function: Function, at: Array) -> None:
        self.machine = machine
        self.function = function
        #: By thread, the segment of the function that it executes next.
        self.at = at
        self.registers: dict[str, Any] = {}

    def put(self, name: str, value: Register, active: Active) -> None:
        """Assign a register of the active threads."""
        old = None if active.whole else self.registers.get(name)
        self.registers[name] = value if old is None else _merged(active.lanes, value, old)


def _merged(lanes: Array, value: Any, old: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_merged(lanes, *both) for both in zip(value, old, strict=True))
    return np.where(lanes if value.ndim == 1 else lanes[:, None], value, old)


#: Reads a register or a constant.
Operand: TypeAlias = Callable[[Frame], Any]
#: Executes an instruction for the active threads and returns its result, or None.
Execute: TypeAlias = Callable[[Frame, Active], Register | None]
