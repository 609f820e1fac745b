"""Groups of instructions that are one kernel, whichever backend prints its code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.kernels.build import KernelBuilder
from gradwire_engine.kernels.form import COMPLEX, FLOATS, HALVES
from gradwire_engine.kernels.partition import Part, parts
from gradwire_engine.kernels.scope import is_kernel
from gradwire_engine.kernels.stacks import densified
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.base import Op
from gradwire_engine.tape import ArrayType, Instruction, Tape, Type


class Partition(NamedTuple):
    """A tape with its stacks as arrays where these have a known length, and the parts of it."""

    tape: Tape
    made: Sequence[Instruction]
    views: Views
    parts: Sequence[Part]


def partition(
    tape: Tape,
    poll: Poll,
    takes: Callable[[Op, Type, Sequence[Type]], bool] = is_kernel,
    *,
    on_device: bool = False,
) -> Partition:
    """Divide a tape into kernels of what a backend ``takes``, as ``parts`` does."""
    made = densified(tape.instructions, poll)
    views, dense = Views(made, poll), Tape(tuple(made), tape.inputs, tape.outputs)
    return Partition(tape, made, views, parts(dense, views, poll, takes, on_device=on_device))


class KernelGroup(FusedGroup):
    """The instructions of one part, and the kernel that code is printed of.

    Of its results those among ``outputs`` are checked in the kernel, from so many bytes on.
    ``order_of`` a slot outside is that of its axes in memory.
    """

    def __init__(
        self,
        of: Partition,
        part: Part,
        outputs: Collection[int],
        checked_bytes: int = 0,
        order_of: Callable[[int], tuple[int, ...] | None] = lambda _: None,
    ) -> None:
        made = of.made
        self.slots, self.results = part
        self.instructions = [of.tape.instructions[slot] for slot in part.slots]
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        self._shapes = [made[slot].type.shape for slot in part.results]  # type: ignore[union-attr]
        returned = [s for s in part.results if s in outputs and _is_floating(made[s].type)]
        large = [s for s in returned if made[s].type.nbytes >= checked_bytes]
        builder = KernelBuilder(made, of.views, part.slots, part.results, large, order_of)
        self.form = builder.kernel()
        given = builder.memory.operands
        self.operands = [operand.slot for operand in given]
        self._orders = [operand.order for operand in given]
        self._constants = builder.memory.constants
        #: The slots of floating outputs that it does not check.
        self._unchecked = [slot for slot in returned if made[slot].type.nbytes < checked_bytes]
        self.checked = self._numbers(builder.checked)

    def _numbers(self, slots: Sequence[int]) -> frozenset[int]:
        """The numbers of the results that these slots are."""
        return frozenset([self.results.index(slot) for slot in slots])

    def __str__(self) -> str:
        return f"{self.name}[{len(self.slots)} instructions]"


def _is_floating(kind: Type) -> bool:
    return isinstance(kind, ArrayType) and kind.dtype.char in FLOATS + COMPLEX + HALVES
