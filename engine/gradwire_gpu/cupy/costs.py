"""The measured costs of a GPU: launches, copies, arithmetic, and the size from which it pays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from gradwire_engine.backends.base import Backend
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply
from gradwire_engine.ops.pointwise.exponential import Exp
from gradwire_engine.polling import no_deadline
from gradwire_engine.tape import ArrayType, Instruction, Tape

#: Elements of what is measured: as few as there are, and so many that the rest counts for nothing.
_FEW, _MANY = 1, 1 << 22
#: Bytes of the device for each element: the operand, the result, copies of both, and room beside.
_BYTES_OF_EACH = 128
_ROUNDS = 5
#: Sizes among which the one is looked for from which on the GPU is quicker.
_SIZES = tuple([1 << k for k in range(8, 25, 2)])


def measured(
    gpu: Backend,
    host: Backend,
    copies: tuple[Callable[..., Any], ...],
    memory_bytes: int,
    clock: Callable[[], float],
) -> tuple[Any, ...]:
    """Seconds of a launch; bytes in and out and arithmetic in a second; elements that pay.

    ``copies`` are functions that copy an array to the device, and one back. Arrays are no larger
    than fits into ``memory_bytes`` of the device.
    """
    seconds = partial(_measured, clock)
    to, back = copies
    room = max(memory_bytes // _BYTES_OF_EACH, _SIZES[0])
    many, sizes = min(_MANY, room), [n for n in _SIZES if n <= room]
    x = np.ones(many)
    inward = x.nbytes / seconds(lambda: to(x))
    outward = x.nbytes / seconds(partial(back, to(x)))
    launch = seconds(_replay(gpu, _FEW))
    formula = _replay(gpu, many)
    computing = max(seconds(formula) - launch - x.nbytes / inward - x.nbytes / outward, 1e-6)
    flops = gpu.compile(_formula(many), no_deadline).flops / computing
    for n in sizes:
        if seconds(_replay(gpu, n)) < seconds(_replay(host, n)):
            return launch, inward, outward, flops, n
    return launch, inward, outward, flops, sizes[-1]


def _measured(clock: Callable[[], float], function: Callable[[], Any]) -> float:
    function()
    function()
    times: list[float] = []
    for _ in range(_ROUNDS):
        begun = clock()
        function()
        times.append(clock() - begun)
    return median(times)


def _replay(backend: Backend, n: int) -> Callable[[], Any]:
    """The replay of a formula of so many elements."""
    tape = _formula(n)
    executable, x = backend.compile(tape, no_deadline), np.linspace(0, 1, n)
    return lambda: executable.replay([x], no_deadline)


def _formula(n: int) -> Tape:
    """``y = exp(x^2 + x)``, then again of that, elementwise."""
    kind = ArrayType(np.dtype(np.float64), (n,))
    made = [Instruction(Input(0), (), kind, 0)]
    for _ in range(3):
        x = len(made) - 1
        made.append(Instruction(Multiply(), (x, x), kind, 0))
        made.append(Instruction(Add(), (x, x + 1), kind, 0))
        made.append(Instruction(Exp(), (x + 2,), kind, 0))
    return Tape(tuple(made), (0,), (len(made) - 1,))
