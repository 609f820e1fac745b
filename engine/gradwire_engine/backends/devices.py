"""Failures of the device that a backend computes on, as opposed to those of a program."""

from __future__ import annotations

from traceback import clear_frames
from typing import Literal, TypeAlias

#: What a GPU may round the factors of products of single precision to: to 24 or 11 digits.
MatmulPrecision: TypeAlias = Literal["float32", "tensorfloat32"]


class DeviceFailure(Exception):
    """The device has failed, not the program: nothing is recorded anew or computed elsewhere."""


class GpuUnavailable(DeviceFailure):
    """There is no GPU to compute on; the message says why."""


class GpuLost(DeviceFailure):
    """The GPU's context is lost: no replay of this process succeeds any more."""


class OutOfGpuMemory(DeviceFailure):
    """The GPU has no memory left for a replay; what was kept for later replays is free again.

    If that was anything, the replay may have memory now: ``freed``.
    """

    def __init__(self, message: str, *, freed: bool = False) -> None:
        super().__init__(message)
        self.freed = freed

    def forget_calls(self) -> None:
        """Free what is in the variables of the calls that it has ended."""
        error: BaseException | None = self
        while error is not None:
            clear_frames(error.__traceback__)
            error = error.__cause__
