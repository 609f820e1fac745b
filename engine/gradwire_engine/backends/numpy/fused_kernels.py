"""A group of instructions on large arrays as one: computed together, block by block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from gradwire_engine.backends.base import FusedGroup, Line
from gradwire_engine.backends.numpy.tile_loop import TileLoop, tile_loop
from gradwire_engine.backends.numpy.tiling import Tiling
from gradwire_engine.tape import Instruction, Shape, Tape


class FusedKernel(FusedGroup):
    """What the instructions at ``slots`` of ``tape`` do; no program can name it.

    ``operands`` are the slots that it reads, ``results`` those of its own that others read. Its
    blocks are computed by as many ``threads``, that of the caller among them. Of the results among
    ``outputs``, of the numbers ``checked``, the squares are added up block by block.
    """

    name = "fused"

    def __init__(
        self,
        tape: Tape,
        slots: Sequence[int],
        tilings: Mapping[int, Tiling],
        results: Sequence[int],
        outputs: Collection[int],
        threads: int,
    ) -> None:
        self.slots = slots
        self.results = results
        self.instructions: list[Instruction] = [tape.instructions[slot] for slot in slots]
        self.key: Shape = tilings[slots[0]].key
        within = {*slots}
        read = [a for i in self.instructions for a in i.args if a not in within]
        self.operands = [*dict.fromkeys(read)]
        self._tile_loop: TileLoop = tile_loop(
            *(self.key, tape, slots, self.operands, results, tilings, outputs, threads)
        )
        #: The numbers of the results whose squares are added up.
        self.checked = self._tile_loop.checked
        #: Arithmetic of each instruction.
        self.each: list[int] = [
            op.flops(kind, *[tape.instructions[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]

    def __str__(self) -> str:
        return f"fused[{len(self.slots)} instructions, {self.block} rows at a time]"

    @property
    def block(self) -> int:
        """Rows of a block."""
        return self._tile_loop.block

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers beside the results."""
        return self._tile_loop.nbytes

    @property
    def lines(self) -> Sequence[Line]:
        """The function's text."""
        return self._tile_loop.text.lines

    @cached_property
    def passes(self) -> Callable[..., tuple[Any, ...]]:
        """From the poll of the deadline and operands to results, and a sum of squares."""
        return self._tile_loop.text.function("fused")
