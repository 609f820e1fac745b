"""Replays of tapes whose kernels are launched in the interpreter of GPU code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from gradwire_engine.backends.base import evaluated
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.kernels.form import FAILED, dtype_of
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import GuardFailed
from gradwire_engine.tape import Tape
from gradwire_gpu.cupy.groups import GpuKernel, kernels_of
from gradwire_gpu.cupy.lanes import device_dtype
from gradwire_gpu.nvptx.launches import Launch

from tests.engine.gpu.nvptx.simt.program import Program

_program = lru_cache(512)(Program)


def go_on() -> None:
    """There is no deadline."""


def launched(kernel: GpuKernel, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a kernel."""
    form, program = kernel.form, kernel.program
    given = [*operands, *kernel._constants]
    arrays = [
        np.ascontiguousarray(np.asarray(x, dtype_of(buffer.char)))
        for x, buffer in zip(given, form.buffers, strict=False)
    ]
    zeroed = {*form.flags, *form.faults, *form.statuses}
    for number, buffer in enumerate(program.buffers[len(arrays) :], len(arrays)):
        room = np.empty(math.prod(buffer.shape), dtype_of(buffer.char))
        room.view(np.uint8)[:] = 0 if number in zeroed else 0xFF
        arrays.append(room)
    flat = [array.reshape(-1) for array in arrays]
    for order in program.orders:
        launches = [order] if isinstance(order, Launch) else [*order.launches]
        turns = range(1) if isinstance(order, Launch) else range(order.passes)
        if not isinstance(order, Launch) and order.backward:
            turns = turns[::-1]
        for turn in turns:
            for launch in launches:
                arguments = [
                    *[
                        flat[number].view(device_dtype(flat[number].dtype))
                        for number in launch.buffers
                    ],
                    *launch.integers,
                    *launch.numbers,
                    *([turn] if launch.counted else []),
                ]
                _program(launch.text).launch("kernel", launch.blocks, launch.threads, arguments)
    if any(flat[number][0] for number in form.faults):
        raise IndexError
    if any(flat[number][0] == FAILED for number in form.statuses):
        raise GuardFailed
    results = [
        flat[buffer].reshape(shape) if shape else flat[buffer][element]
        for (buffer, element), shape in zip(form.results, kernel._shapes, strict=True)
    ]
    finite = np.isfinite([flat[number][0] for number in form.flags]).all()
    checked = [results[k] for k in sorted(kernel.checked)]
    assert finite == all(np.isfinite(x).all() for x in checked)
    return tuple(results)


def replayed(tape: Tape, inputs: Sequence[Any]) -> tuple[list[Any], list[GpuKernel]]:
    """The outputs of a tape, and the kernels that it was computed by."""
    kernels = kernels_of(tape, go_on)
    made = regrouped(tape, kernels)

    def evaluate(op: Op, *operands: Any) -> Any:
        if isinstance(op, GpuKernel):
            return launched(op, operands)
        return REFERENCE.evaluate(op, go_on, *operands)

    slots = range(len(made.instructions))
    with np.errstate(all="ignore"):
        values = {slot: value for slot, _, value in evaluated(made, inputs, slots, evaluate)}
    return [values[slot] for slot in made.outputs], kernels
