"""A tape as people read it: its instructions with their costs and their places in the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.backends import base
from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.errors import Place
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.optimize.liveness import readers
from gradwire_engine.tape import Instruction, Tape, Type

#: The place in the source of what an instruction computes.
Where: TypeAlias = Callable[[Instruction], Place]


class Step(NamedTuple):
    """One instruction: ``%slot = op(operands)``, and where the client wrote what it computes.

    ``flops`` and ``nbytes``, of its result, are predictions. A ``derivative`` came of
    differentiating what is at that place. What is not ``needed``, a later pass drops. Of a loop,
    ``body`` is what its passes do; of a fused kernel, those that it computes block by block, by
    their slots before they were fused. Of a constant without axes, ``constant`` is the number.
    """

    slot: int
    op: Op
    operands: tuple[int, ...]
    type: Type
    flops: int
    nbytes: int
    place: Place
    derivative: bool
    needed: bool
    body: Listing | None
    constant: Any = None


class Listing(NamedTuple):
    """A tape, and the slots that it returns."""

    steps: tuple[Step, ...]
    outputs: tuple[int, ...]


class Line(NamedTuple):
    """A line of generated code, with the operation and the place of its instruction."""

    text: str
    op: str | None
    place: Place | None


class Lister:
    """Lists tapes, at most so many instructions and operands of them, bodies included.

    Those of a tape have their places from ``where``, those in bodies from ``within``.
    """

    def __init__(self, where: Where, within: Where, most: int | None = None) -> None:
        self._where = where
        self._within = within
        self._left = most
        #: Whether instructions were left out.
        self.cut = False

    def listed(self, tape: Tape) -> Listing:
        """The instructions of a tape, up to the first for which there is no room."""
        return self._tape(tape, self._where)

    def _tape(self, tape: Tape, where: Where) -> Listing:
        made = tape.instructions
        needed = readers(made, tape.outputs)
        steps: list[Step] = []
        for slot, instruction in enumerate(made):
            if not self._take(instruction):
                break
            op, args, kind, _ = instruction
            nbytes, body = kind.nbytes, None
            if isinstance(op, Loop):
                nbytes, body = op.nbytes, self._tape(op.body.tape, self._within)
            elif isinstance(op, FusedGroup):
                body = self._fused(op)
            flops = op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            steps.append(_step(slot, instruction, where, flops, nbytes, bool(needed[slot]), body))
        return Listing(tuple(steps), tape.outputs)

    def _fused(self, op: FusedGroup) -> Listing:
        steps: list[Step] = []
        for slot, instruction, flops in zip(op.slots, op.instructions, op.each, strict=True):
            if not self._take(instruction):
                break
            nbytes = instruction.type.nbytes
            steps.append(_step(slot, instruction, self._where, flops, nbytes, True, None))
        return Listing(tuple(steps), tuple(op.results))

    def _take(self, instruction: Instruction) -> bool:
        """True if there is room for one more, which is counted."""
        if self._left is not None:
            self._left -= 1 + len(instruction.args)
            self.cut |= self._left < 0
        return not self.cut


def _step(
    slot: int,
    instruction: Instruction,
    where: Where,
    flops: int,
    nbytes: int,
    needed: bool,
    body: Listing | None,
) -> Step:
    op, args, kind, origin = instruction
    constant = op.value if type(op) is Constant and not op.value.ndim else None
    known = slot, op, args, kind, flops, nbytes, where(instruction)
    return Step(*known, origin < 0, needed, body, constant)


def parameters(op: Op) -> str:
    """The static parameters of an operation as text: ``axes=(0,)``; not the number of an input."""
    if type(op) is Input:
        return ""
    known = str(op).removeprefix(op.name)
    return known[1:-1] if known.startswith("[") else ""


def lines(code: Sequence[base.Line], where: Where) -> list[Line]:
    """Generated code, with the places of its instructions."""
    return [
        Line(line, None, None) if of is None else Line(line, of.op.name, where(of))
        for line, of in code
    ]
