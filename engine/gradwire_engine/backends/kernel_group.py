"""Groups of instructions that are one kernel, whichever backend prints its code."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.kernels.build import KernelBuilder
from gradwire_engine.kernels.partition import Part, Partition


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
        made = of.dense
        self.slots, self.results = part
        self.instructions = [of.tape.instructions[slot] for slot in part.slots]
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        self._shapes = [made[slot].type.shape for slot in part.results]  # type: ignore[union-attr]
        self._returned = [s for s in part.results if s in outputs and made[s].type.differentiable]  # type: ignore[union-attr]
        large = [s for s in self._returned if made[s].type.nbytes >= checked_bytes]
        builder = KernelBuilder(made, of.views, part.slots, part.results, large, order_of)
        self.form = builder.kernel()
        given = builder.memory.operands
        self.operands = [operand.slot for operand in given]
        self._orders = [operand.order for operand in given]
        self._constants = builder.memory.constants
        self.checked = frozenset(map(part.results.index, builder.checked))

    def __str__(self) -> str:
        return f"{self.name}[{len(self.slots)} instructions]"
