"""What a GPU costs, as measured: launches, copies, arithmetic, and from which size on it pays."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from gradwire_engine.backends.base import Backend
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply
from gradwire_engine.ops.pointwise.exponential import Exp
from gradwire_engine.polling import unhurried
from gradwire_engine.tape import ArrayType, Instruction, Tape

#: Elements of what is measured: as few as there are, and so many that the rest counts for nothing.
_FEW, _MANY = 1, 1 << 22
_ROUNDS = 5
#: Sizes among which the one is looked for from which on the GPU is quicker.
_SIZES = tuple([1 << k for k in range(8, 25, 2)])


def measured(
    gpu: Backend, host: Backend, copies: tuple[Callable[..., Any], ...]
) -> tuple[Any, ...]:
    """Seconds of a launch; bytes in and out and arithmetic in a second; elements that pay.

    ``copies`` are functions that copy an array to the device, and one back.
    """
    to, back = copies
    x = np.ones(_MANY)
    on_device = to(x)
    inward = x.nbytes / _seconds(lambda: to(x))
    outward = x.nbytes / _seconds(lambda: back(on_device))
    launch = _seconds(_replay(gpu, _FEW))
    formula = _replay(gpu, _MANY)
    computing = max(_seconds(formula) - launch - x.nbytes / inward - x.nbytes / outward, 1e-6)
    flops = _FLOPS * _MANY / computing
    for n in _SIZES:
        if _seconds(_replay(gpu, n)) < _seconds(_replay(host, n)):
            return launch, inward, outward, flops, n
    return launch, inward, outward, flops, _SIZES[-1]


def _seconds(function: Callable[[], Any]) -> float:
    function()
    function()
    times: list[float] = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return median(times)


def _replay(backend: Backend, n: int) -> Callable[[], Any]:
    """The replay of a formula of so many elements."""
    tape = _formula(n)
    executable, x = backend.compile(tape, unhurried), np.linspace(0, 1, n)
    return lambda: executable.replay([x], unhurried)


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


_FLOPS = sum([i.op.flops(i.type, *[i.type] * len(i.args)) for i in _formula(1).instructions])
