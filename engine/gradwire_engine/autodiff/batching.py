"""Batching: the instructions of a tape recorded anew, for many examples at once."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.tape import ArrayType, Tape


def batch(
    b: Builder, tape: Tape, inputs: Sequence[Var], batched: Sequence[bool], size: int
) -> list[Var]:
    """Outputs of ``tape`` for ``size`` examples, along a new first axis.

    ``inputs`` marked as ``batched`` have that axis too; the others are the same for all examples.
    What depends on none of the former is recorded once.
    """
    found: list[Var] = []
    marks = bytearray()
    before = b.origin
    for op, args, kind, b.origin in tape.instructions:
        operands = [found[arg] for arg in args]
        own = [bool(marks[arg]) for arg in args]
        if isinstance(op, Input):
            marks.append(batched[op.index])
            found.append(inputs[op.index])
            continue
        if isinstance(op, Constant):
            assert isinstance(kind, ArrayType)
            found.append(b.constant(op.value, weak=kind.weak))
        else:
            found.append(op.batch(operands, own) if any(own) else b.emit(op, *operands))
        marks.append(any(own))
    b.origin = before
    return [
        found[slot] if marks[slot] else b.broadcast(found[slot], (size, *found[slot].shape))
        for slot in tape.outputs
    ]
