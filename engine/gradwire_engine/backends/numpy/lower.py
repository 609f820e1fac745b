"""Tape → one generated straight-line Python function over NumPy.

The generated text holds only names made here; constants, functions and parameters are bound by
reference. Every line is one instruction, so a line number in a traceback finds its instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Poll
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.tape import Tape

#: Operations between two looks at the deadline: about a millisecond's work.
_FLOPS_BETWEEN_POLLS = 1_000_000
#: Predicted time: an instruction's overhead, an arithmetic operation, a byte written.
_SECONDS_PER_INSTRUCTION = 1e-6
_SECONDS_PER_FLOP = 1e-9


class Executable:
    """A tape ready to replay. ``peak_bytes`` and ``flops`` are predictions, known beforehand."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.flops = 0
        self.peak_bytes = 0
        #: The instruction of each generated line.
        self._lines: list[int] = [-1, -1]
        self._replay = self._generate()

    @property
    def seconds(self) -> float:
        """Predicted time of a replay."""
        count = len(self.tape.instructions)
        return count * _SECONDS_PER_INSTRUCTION + self.flops * _SECONDS_PER_FLOP

    @property
    def nbytes(self) -> int:
        """Approximate memory the executable itself takes."""
        constants = [i.op.value for i in self.tape.instructions if isinstance(i.op, Constant)]
        return 600 * len(self.tape.instructions) + sum(np.asarray(c).nbytes for c in constants)

    def run(self, inputs: Sequence[Array], poll: Poll) -> tuple[Any, ...]:
        """Replay with ``inputs``; gives the outputs, NumPy scalars where they have no axes."""
        scalars = [x[()] if x.ndim == 0 else x for x in inputs]
        with np.errstate(all="ignore"):
            return self._replay(scalars, poll)

    def failed_at(self, error: BaseException) -> int | None:
        """The instruction during which ``error`` was raised."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is self._replay.__code__:
                return self._lines[trace.tb_lineno]
            trace = trace.tb_next
        return None

    def _generate(self) -> Callable[[Sequence[Any], Poll], tuple[Any, ...]]:
        instructions = self.tape.instructions
        names: dict[str, Any] = {"__builtins__": {}}
        registers = _Registers(self.tape)
        where = registers.where
        text = ["def replay(inputs, poll):"]
        since_poll = 0
        for slot, (op, args, kind, _) in enumerate(instructions):
            if isinstance(op, Constant):
                names[f"c{slot}"] = op.value
                where[slot] = f"c{slot}"
                continue
            if isinstance(op, Input):
                value = f"inputs[{op.index}]"
            else:
                value = _expression(op, [where[a] for a in args], names)
                flops = op.flops(kind, *[instructions[a].type for a in args])  # type: ignore[arg-type]
                self.flops += flops
                since_poll += flops
            text.append(f" {registers.place(slot, args)} = {value}")
            self._lines.append(slot)
            if since_poll > _FLOPS_BETWEEN_POLLS:
                text.append(" poll()")
                self._lines.append(slot)
                since_poll = 0
        self.peak_bytes = registers.peak_bytes
        outputs = "".join([f"{where[slot]}, " for slot in self.tape.outputs])
        text.append(f" return ({outputs})")
        exec(compile("\n".join(text), "<tape>", "exec"), names)
        replay: Callable[[Sequence[Any], Poll], tuple[Any, ...]] = names["replay"]
        return replay


def _expression(op: Op, operands: Sequence[str], names: dict[str, Any]) -> str:
    """The right-hand side that computes ``op``."""
    if op.template:
        return op.template.format(*operands)
    listed = ", ".join(operands)
    name = "u_" + op.ufunc.replace(".", "_") if op.is_ufunc else f"k{len(names)}"
    if name not in names:
        names[name] = op.bind(NUMPY)
    return f"{name}({listed})"


class _Registers:
    """Local variables reused as soon as the value in them is dead, so that memory is too."""

    def __init__(self, tape: Tape) -> None:
        #: The name that holds each slot.
        self.where: dict[int, str] = {}
        self.peak_bytes = 0
        self._bytes = 0
        self._free: list[str] = []
        self._count = 0
        self._nbytes = [i.type.nbytes for i in tape.instructions]
        self._last = last = [-1] * len(tape.instructions)
        for slot, instruction in enumerate(tape.instructions):
            for arg in instruction.args:
                last[arg] = slot
        for slot in tape.outputs:
            last[slot] = len(last)

    def place(self, slot: int, args: Sequence[int]) -> str:
        """A register for the result of ``slot``: it may be one that an operand leaves."""
        free, last, where = self._free, self._last, self.where
        self._bytes += self._nbytes[slot]
        if self._bytes > self.peak_bytes:
            self.peak_bytes = self._bytes
        for arg in args:
            if last[arg] == slot:
                last[arg] = -1  # an operand that is read twice is left once
                name = where[arg]
                if name[0] == "r":
                    free.append(name)
                    self._bytes -= self._nbytes[arg]
        if free:
            name = free.pop()
        else:
            name, self._count = f"r{self._count}", self._count + 1
        where[slot] = name
        if last[slot] < 0:
            free.append(name)
        return name
