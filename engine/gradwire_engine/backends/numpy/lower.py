"""Tape → one generated straight-line Python function over NumPy.

The generated text holds only names made here; constants, functions and parameters are bound by
reference. Every line is one instruction, so a line number in a traceback finds its instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
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
        tape = self.tape
        names: dict[str, Any] = {"xp": NUMPY, "__builtins__": {}}
        registers = _Registers(tape)
        text = ["def replay(inputs, poll):"]
        since_poll = 0
        for slot, (op, args, kind, _) in enumerate(tape.instructions):
            operands = [registers.name[a] for a in args]
            if isinstance(op, Constant):
                names[f"c{slot}"] = op.value
                registers.name[slot] = f"c{slot}"
                continue
            if isinstance(op, Input):
                line = f"inputs[{op.index}]"
            else:
                line = _expression(op, operands, names)
                types = [tape.instructions[a].type for a in args]
                flops = op.flops(kind, *types)  # type: ignore[arg-type]
                self.flops += flops
                since_poll += flops
            registers.release(slot, args)
            result = registers.take(slot)
            text.append(f" {result} = {line}")
            self._lines.append(slot)
            if since_poll > _FLOPS_BETWEEN_POLLS:
                text.append(" poll()")
                self._lines.append(slot)
                since_poll = 0
        self.peak_bytes = registers.peak_bytes
        outputs = "".join(f"{registers.name[slot]}, " for slot in tape.outputs)
        text.append(f" return ({outputs})")
        exec(compile("\n".join(text), "<tape>", "exec"), names)
        replay: Callable[[Sequence[Any], Poll], tuple[Any, ...]] = names["replay"]
        return replay


def _expression(op: Op, operands: Sequence[str], names: dict[str, Any]) -> str:
    """The right-hand side that computes ``op``."""
    if op.template:
        return op.template.format(*operands)
    listed = ", ".join(operands)
    if type(op).kernel is Op.kernel:
        name = "u_" + op.ufunc.replace(".", "_")
        names[name] = attrgetter(op.ufunc)(NUMPY)
        return f"{name}({listed})"
    name = f"k{len(names)}"
    names[name] = op.kernel
    return f"{name}(xp, {listed})"


class _Registers:
    """Local variables reused as soon as the value in them is dead, so that memory is too."""

    def __init__(self, tape: Tape) -> None:
        self.name: dict[int, str] = {}
        self.peak_bytes = 0
        self._bytes = 0
        self._free: list[str] = []
        self._count = 0
        self._types = [i.type for i in tape.instructions]
        self._last = [-1] * len(tape.instructions)
        for slot, (_, args, _, _) in enumerate(tape.instructions):
            for arg in args:
                self._last[arg] = slot
        for slot in tape.outputs:
            self._last[slot] = len(tape.instructions)

    def release(self, slot: int, args: Sequence[int]) -> None:
        """Free the operands that ``slot`` reads last; its result may take their place."""
        self._bytes += self._types[slot].nbytes
        self.peak_bytes = max(self.peak_bytes, self._bytes)
        for arg in set(args):
            if self._last[arg] == slot and self.name[arg][0] == "r":
                self._free.append(self.name[arg])
                self._bytes -= self._types[arg].nbytes

    def take(self, slot: int) -> str:
        """A register for the result of ``slot``."""
        if self._free:
            name = self._free.pop()
        else:
            name, self._count = f"r{self._count}", self._count + 1
        self.name[slot] = name
        if self._last[slot] < 0:
            self._free.append(name)
        return name
