"""Functions: their instructions as a list of closures, cut where threads part and meet again.

Of all the threads of a call, those run that are at the first instruction in the order of the text:
so threads that diverged meet again, since blocks are printed in the order of the program.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.engine.gpu.nvptx.simt import accesses, arithmetic, conversions
from tests.engine.gpu.nvptx.simt.faults import Divergence, Endless, Fault
from tests.engine.gpu.nvptx.simt.frames import Active, Execute, Frame, Machine, Operand
from tests.engine.gpu.nvptx.simt.intrinsics import intrinsic
from tests.engine.gpu.nvptx.simt.memory import Allocations
from tests.engine.gpu.nvptx.simt.reader import Reader
from tests.engine.gpu.nvptx.simt.types import Array, Register, Type, Void

INSTRUCTIONS: dict[str, Callable[[Reader, str], Execute]] = {
    **arithmetic.INSTRUCTIONS,
    **conversions.INSTRUCTIONS,
    **accesses.INSTRUCTIONS,
}
BARRIER = re.compile(r"@llvm\.nvvm\.barrier(0|\.cta\.sync\.aligned\.all)\(")
#: Added to where a thread continues after a barrier, while it waits there.
WAITING = 1 << 20
RETURNED = 1 << 30
RESULT = "the result"


class Parameter(NamedTuple):
    """A parameter, and what is promised of a pointer: ``readonly``, ``noalias``."""

    type: Type
    name: str
    promises: frozenset[str]


@dataclass
class Function:
    """A function; its instructions are added by ``compile_function``."""

    name: str
    parameters: list[Parameter]
    #: Runs of instructions that threads execute together, each with its text.
    segments: list[list[tuple[Callable[[Frame, Active], None], str]]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    #: What phi nodes take, by the labels of an edge.
    moves: dict[tuple[str, str], list[tuple[str, Operand]]] = field(default_factory=dict)
    has_barrier: bool = False
    most_threads: int = 1024  # of a block


def call(function: Function, arguments: list[Array], machine: Machine, active: Active) -> Frame:
    """Execute a function until all active threads have returned."""
    frame = Frame(machine, function, np.where(active.lanes, 0, RETURNED))
    for parameter, value in zip(function.parameters, arguments, strict=True):
        frame.registers[parameter.name] = value
    entered = Active(active.lanes, whole=True)
    while (current := int(frame.at.min())) != RETURNED:
        if current >= WAITING:
            _pass_barrier(frame)
            continue
        lanes = frame.at == current
        now = entered if (lanes == entered.lanes).all() else Active(lanes, whole=False)
        machine.steps_left -= 1
        if machine.steps_left < 0:
            raise Endless("too many steps")
        for execute, text in function.segments[current]:
            try:
                execute(frame, now)
            except Fault as fault:
                fault.instruction = fault.instruction or text
                raise
    return frame


def _pass_barrier(frame: Frame) -> None:
    """Let blocks continue whose threads have all returned or wait at the same barrier."""
    machine, at = frame.machine, frame.at
    waiting = at < RETURNED
    by_block = at.reshape(-1, machine.block_threads)
    first = by_block.min(axis=1)
    last = np.where(by_block < RETURNED, by_block, -1).max(axis=1)
    parted = (first != last) & (first < RETURNED)
    if parted.any():
        block = int(np.argmax(parted))
        there, other = (
            frame.function.segments[int(one[block]) - WAITING - 1][-1][1] for one in (first, last)
        )
        fault = Divergence(f"threads of block {block} wait at another barrier, {other},")
        fault.instruction = there
        raise fault
    machine.epoch[waiting] += 1
    at[waiting] -= WAITING


def compile_function(
    function: Function, lines: list[str], allocations: Allocations, others: Mapping[str, Function]
) -> None:
    """Add the instructions of a function that ``others`` calls, and that calls others."""
    names = Counter(re.findall(r"%[-\w$.]+", "\n".join(lines)))
    used = frozenset([name for name, count in names.items() if count > 1])
    label = ""
    for line in lines:
        if match := re.match(r'("[^"]*"|[-\w$.]+):', line):
            label = "%" + match[1]
        if match or not function.segments:
            label = label or "%entry"
            function.labels[label] = len(function.segments)
            function.segments.append([])
        if match or not line.strip():
            continue
        name, equals, _ = line.strip().partition(" = ")
        reader = Reader(line, allocations, used)
        if equals:
            reader.take()
            reader.take()
        step = _step(reader, function, label, others, name if equals else None)
        if step is not None:
            function.segments[-1].append((step, f"{line.strip()} (in {function.name})"))
        if BARRIER.search(line):
            function.has_barrier = True
            function.segments.append([])


def _step(
    reader: Reader,
    function: Function,
    label: str,
    others: Mapping[str, Function],
    name: str | None,
) -> Callable[[Frame, Active], None] | None:
    opcode = reader.take()
    while opcode in ("tail", "notail", "musttail"):
        opcode = reader.take()
    if opcode == "phi":
        assert name is not None
        _phi(reader, function, label, name)
        return None
    if opcode in ("br", "switch"):
        return _branch(reader, label) if opcode == "br" else _switch(reader, label)
    if opcode == "ret":
        return _return(reader)
    if opcode == "call":
        if BARRIER.search(reader.text):
            return _wait(len(function.segments))
        execute = _call(reader, others)
    elif opcode in INSTRUCTIONS:
        execute = INSTRUCTIONS[opcode](reader, opcode)
    else:
        raise NotImplementedError(f"the instruction {reader.text}")
    reader.end()

    def step(frame: Frame, active: Active) -> None:
        result = execute(frame, active)
        if result is not None and name is not None:
            frame.put(name, result, active)

    return step


def _phi(reader: Reader, function: Function, label: str, name: str) -> None:
    reader.flags()
    type = reader.type()
    while reader.peek():
        reader.expect("[")
        operand = reader.operand(type)
        reader.expect(",")
        edge = reader.take(), label
        moves = function.moves.setdefault(edge, [])
        if name not in [one for one, _ in moves]:
            moves.append((name, operand))
        reader.expect("]")
        if not reader.skip(","):
            break
    reader.end()


def _go(frame: Frame, active: Active, source: str, target: str) -> None:
    """Move threads along an edge: phi nodes take their values at once."""
    moves = frame.function.moves.get((source, target), ())
    values = [(name, operand(frame)) for name, operand in moves]
    for name, value in values:
        frame.put(name, value, active)
    frame.at[active.threads] = frame.function.labels[target]


def _branch(reader: Reader, label: str) -> Callable[[Frame, Active], None]:
    if reader.skip("label"):
        target = reader.take()
        return lambda frame, active: _go(frame, active, label, target)
    _, condition = reader.typed()
    reader.expect(",", "label")
    one = reader.take()
    reader.expect(",", "label")
    other = reader.take()

    def step(frame: Frame, active: Active) -> None:
        chosen = condition(frame)
        for target, lanes in ((one, active.lanes & chosen), (other, active.lanes & ~chosen)):
            _part(frame, active, lanes, label, target)

    return step


def _part(frame: Frame, active: Active, lanes: Array, label: str, target: str) -> None:
    """Move some of the active threads along an edge."""
    count = np.count_nonzero(lanes)
    if count == len(active.threads):
        _go(frame, active, label, target)
    elif count:
        _go(frame, Active(lanes, whole=False), label, target)


def _switch(reader: Reader, label: str) -> Callable[[Frame, Active], None]:
    _, value = reader.typed()
    reader.expect(",", "label")
    default = reader.take()
    reader.expect("[")
    cases = []
    while not reader.skip("]"):
        number = reader.constant(reader.type())
        reader.expect(",", "label")
        cases.append((number, reader.take()))

    def step(frame: Frame, active: Active) -> None:
        chosen, left = value(frame), active.lanes
        for number, target in cases:
            _part(frame, active, left & (chosen == number), label, target)
            left = left & (chosen != number)
        _part(frame, active, left, label, default)

    return step


def _return(reader: Reader) -> Callable[[Frame, Active], None]:
    type = reader.type()
    operand = None if isinstance(type, Void) else reader.operand(type)

    def step(frame: Frame, active: Active) -> None:
        if operand is not None:
            frame.put(RESULT, operand(frame), active)
        frame.at[active.threads] = RETURNED

    return step


def _wait(continues: int) -> Callable[[Frame, Active], None]:
    def step(frame: Frame, active: Active) -> None:
        frame.at[active.threads] = WAITING + continues

    return step


def _call(reader: Reader, others: Mapping[str, Function]) -> Execute:
    reader.flags()
    result = reader.type()
    name = reader.take()
    reader.expect("(")
    types, operands = [], []
    while not reader.skip(")"):
        type, operand = reader.typed()
        types.append(type)
        operands.append(operand)
        reader.skip(",")
    if name in others:
        callee = others[name]

        def execute(frame: Frame, active: Active) -> Register | None:
            if callee.has_barrier:
                raise NotImplementedError(f"a barrier in a function that is called: {name}")
            arguments = [operand(frame) for operand in operands]
            return call(callee, arguments, frame.machine, active).registers.get(RESULT)

        return execute
    compute = intrinsic(name.removeprefix("@"), result, types)
    return lambda frame, active: compute(
        frame.machine, active, [operand(frame) for operand in operands]
    )
