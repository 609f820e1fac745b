"""Threads in lockstep: who is active, what their registers hold, and where each of them is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tests.engine.gpu.nvptx.simt.faults import Undefined
from tests.engine.gpu.nvptx.simt.types import Array, Register

if TYPE_CHECKING:
    from tests.engine.gpu.nvptx.simt.functions import Function
    from tests.engine.gpu.nvptx.simt.memory import Memory


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
            return register if len(self.threads) == len(register) else register[self.threads]
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
        self.epoch = np.zeros(self.threads, np.int64)
        self.steps_left = 0
        self.memory: Memory
        self.block, self.registers = _registers(grid, block)
        self.lane = self.registers["laneid"]


@lru_cache(64)
def _registers(grid: tuple[int, ...], block: tuple[int, ...]) -> tuple[Array, dict[str, Array]]:
    """The block of each thread, and the registers that are read alone."""
    of_block, within = np.divmod(np.arange(int(np.prod(grid + block))), int(np.prod(block)))
    found = {"laneid": (within % 32).astype(np.int32), "warpsize": np.array([32], np.int32)}
    for axis, blocks, threads in zip("xyz", grid, block, strict=True):
        found[f"nctaid.{axis}"] = np.array([blocks], np.int32)
        found[f"ntid.{axis}"] = np.array([threads], np.int32)
    for kind, number, sizes in (("ctaid", of_block, grid), ("tid", within, block)):
        for axis, place in zip("zyx", np.unravel_index(number, sizes[::-1]), strict=True):
            found[f"{kind}.{axis}"] = place.astype(np.int32)
    for each in (of_block, *found.values()):
        each.flags.writeable = False
    return of_block, found


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
