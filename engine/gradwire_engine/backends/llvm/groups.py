"""Divides a tape into kernels, and makes the tape that calls them: in bodies of loops, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.backends.llvm.kernels import NativeKernel
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.kernels.partition import partition
from gradwire_engine.loops.loop import Body, Loop
from gradwire_engine.polling import polled
from gradwire_engine.tape import Tape

#: Most kernels of a tape.
_MOST_KERNELS = 200
#: Paths of which one goes on and the other ends: a kernel is computed where any of it is needed.
_FEW_PATHS = 2


class Kernels(NamedTuple):
    """The kernels of a tape, and of loops in it of which others compute parts."""

    own: list[NativeKernel]
    within: Mapping[Loop, Kernels]

    def __iter__(self) -> Iterator[NativeKernel]:
        yield from self.own
        for kernels in self.within.values():
            yield from kernels


def kernels_of(tape: Tape, poll: Poll, outputs: Collection[int] | None = None) -> Kernels:
    """The kernels of a tape, to be compiled and loaded; ``outputs`` are to be checked."""
    outputs = {*tape.outputs} if outputs is None else outputs
    found = partition(tape, poll)
    own: list[NativeKernel] = []
    for part in found.parts if len(found.parts) <= _MOST_KERNELS else ():
        own.append(NativeKernel(found, part, outputs))
        poll()
    known = {slot for kernel in own for slot in kernel.slots}
    within: dict[Loop, Kernels] = {}
    for slot, (op, _, _, _) in enumerate(polled(tape.instructions, poll)):
        if isinstance(op, Loop) and slot not in known and len(op.paths) <= _FEW_PATHS:
            kernels = kernels_of(op.body.tape, poll, ())
            if any(kernels):
                within[op] = kernels
    return Kernels(own, within)


def calling(tape: Tape, kernels: Kernels, poll: Poll) -> Tape:
    """``tape`` with kernels in place of their instructions."""
    made = [*tape.instructions]
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        op = instruction.op
        if isinstance(op, Loop) and op in kernels.within:
            body = calling(op.body.tape, kernels.within[op], poll)
            made[slot] = instruction._replace(op=replace(op, body=Body(body)))
    return regrouped(replace(tape, instructions=tuple(made)), kernels.own, poll)
