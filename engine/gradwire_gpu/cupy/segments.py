"""The segments of a tape: what one graph captures, and between them what is launched each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.ops.constants import Constant, Guard, Input, Item, Pack
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.polling import polled
from gradwire_engine.tape import Instruction, StackType, Tape, TupleType, Type

from gradwire_gpu.cupy.groups import GpuKernel
from gradwire_gpu.cupy.half_products import ContractHalves
from gradwire_gpu.cupy.host import is_capturable

#: Seconds of Python for a launch, and launches that take as long as that of a graph.
_SECONDS_PER_LAUNCH, _LAUNCHES_PER_GRAPH = 1e-5, 2
#: Seconds in which the device copies a byte.
_SECONDS_PER_BYTE = 1e-12


class Segment(NamedTuple):
    """The instructions from ``begin`` to ``end``: one graph, or launched one after the other.

    Of a ``captured`` one are known the slots that it ``reads``: inputs, and what comes from before;
    those of them that nothing reads afterwards; and its own that others read, or that are outputs.
    """

    begin: int
    end: int
    captured: bool
    reads: Sequence[int] = ()
    last: Sequence[int] = ()
    kept: Sequence[int] = ()


def segments(
    tape: Tape, dead: Sequence[Sequence[int]], most_bytes: int, poll: Poll
) -> list[Segment]:
    """The segments of a tape; ``dead`` are the slots that nothing reads after each instruction.

    One graph is all of a tape that can be captured throughout. Otherwise a graph must save more
    time than copies into its memory take, and what graphs read and leave, which is held between
    replays, has at most ``most_bytes``.
    """
    made, runs = tape.instructions, _runs(tape, poll)
    found: list[Segment] = []
    #: Slots whose values are elsewhere in each replay; and bytes of what is held.
    moving, held = {*tape.inputs}, 0
    for begin, end, capturable in runs:
        poll()
        reads, last, kept = _bounds(tape, dead, begin, end)
        copied = _nbytes(made, [slot for slot in reads if slot in moving])
        holding = held + copied + _nbytes(made, kept)
        saved = sum([launches(i) for i in made[begin:end]]) - _LAUNCHES_PER_GRAPH
        pays = saved * _SECONDS_PER_LAUNCH > copied * _SECONDS_PER_BYTE and holding <= most_bytes
        if capturable and (pays or len(runs) == 1):
            held = holding
            moving.difference_update(reads)
            found.append(Segment(begin, end, True, reads, last, kept))
        else:
            moving.update(kept)
            joins = found and not found[-1].captured
            found.append(Segment(found.pop().begin if joins else begin, end, captured=False))
    return found


def _nbytes(made: Sequence[Instruction], slots: Sequence[int]) -> int:
    return sum([made[slot].type.nbytes for slot in slots])


def launches(instruction: Instruction) -> int:
    """Launches of an instruction, at least."""
    op = instruction.op
    if isinstance(op, GpuKernel):
        return op.launched
    return 0 if op.views or isinstance(op, Input | Constant | Item | Pack) else 1


def _runs(tape: Tape, poll: Poll) -> list[tuple[int, int, bool]]:
    """Where what can be captured begins and ends, and the rest.

    What launches nothing goes with what is before it, unless it cannot be captured.
    """
    made = tape.instructions
    runs, captured = [0], list[bool]()
    for slot, instruction in enumerate(polled(made, poll)):
        capturable = _captures(instruction, made)
        if not captured or captured[-1] != capturable:
            if capturable and not launches(instruction):
                continue
            runs += [slot] if captured else []
            captured.append(capturable)
    return [*zip(runs, [*runs[1:], len(made)], captured or [False], strict=True)]


def _captures(instruction: Instruction, made: Sequence[Instruction]) -> bool:
    op, args, kind, _ = instruction
    types = [made[arg].type for arg in args]
    if any(map(_has_stacks, [kind, *types])):
        return False  # how many items there are differs from replay to replay
    return isinstance(op, GpuKernel | Guard | Contract | ContractHalves) or is_capturable(op, types)


def _has_stacks(kind: Type) -> bool:
    items = kind.items if isinstance(kind, TupleType) else (kind,)
    return any(isinstance(item, StackType) for item in items)


def _bounds(
    tape: Tape, dead: Sequence[Sequence[int]], begin: int, end: int
) -> tuple[list[int], list[int], list[int]]:
    """The slots that are read, read for the last time, and left; inputs are read, not made."""
    made, own = tape.instructions, range(begin, end)
    inputs, outputs = {*tape.inputs}, {*tape.outputs}
    reads = {arg for slot in own for arg in made[slot].args if arg < begin or arg in inputs}
    reads |= {slot for slot in inputs & outputs if slot in own}
    gone = {slot for each in dead[begin:end] for slot in each}
    constants = {slot for slot in {*reads, *own} if isinstance(made[slot].op, Constant)}
    kept = {*own} - gone - inputs - constants
    return sorted(reads - constants), sorted(gone & reads), sorted(kept)
