"""Bases of the views of a tape: kernels read through them."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.answer import Poll
from gradwire_engine.kernels.maps import is_view
from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, Instruction, Shape

#: Most views that are looked through one after the other: each takes four calls in depth.
_MOST_PASSED = 20


class Views:
    """For each slot the one that it is a view of, itself if it is none.

    What is beyond many views is its own base: they are gone through by recursion. A view whose
    elements are in ``order`` has them in the order of its base, with another shape.
    """

    def __init__(self, instructions: Sequence[Instruction], poll: Poll = no_deadline) -> None:
        self.bases = [*range(len(instructions))]
        self.ordered = bytearray(len(instructions))
        #: The number of views on the way to the base, the slot itself counted.
        self.passed = [0] * len(instructions)
        of = self.bases
        #: Whether all views between a slot and its base are reshaped.
        plain = bytearray(b"\1") * len(instructions)
        for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
            if not is_view(op) or not isinstance(kind, ArrayType) or not kind.size:
                continue
            (x,) = args
            shape = instructions[x].type.shape  # type: ignore[union-attr]
            general = type(op) is Reshape and not only_units(shape, kind.shape)
            if general and not plain[x]:
                continue  # it may have to be copied
            if self.passed[x] == _MOST_PASSED:
                continue
            self.passed[slot] = self.passed[x] + 1
            of[slot] = of[x]
            self.ordered[slot] = self.ordered[x] or general
            plain[slot] = plain[x] and type(op) is Reshape


def only_units(source: Shape, target: Shape) -> bool:
    """True if only axes of length 1 come or go."""
    return [n for n in source if n != 1] == [n for n in target if n != 1]
