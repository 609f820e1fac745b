"""The function around the lines of a block: it goes through all blocks, on threads if so asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any, NamedTuple

from gradwire_engine.backends.numpy.blocks import TileBody
from gradwire_engine.backends.numpy.buffers import POOL
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.numpy.tiling import Tiling
from gradwire_engine.backends.quiet import quiet
from gradwire_engine.tape import ArrayType, Instruction, Shape, Tape

#: What the buffers and the operands of a block take: half of a core's second cache, as measured.
BLOCK_BYTES = 1 << 20
#: Where there are many buffers, blocks are at least so large: else calling outweighs computing.
FEWEST_ELEMENTS = 4096
#: Blocks of more rows than this are of a multiple of it, so that all begin at a line of the cache.
ALIGNED = 64
#: Operations between two looks at the deadline.
_FLOPS_BETWEEN_POLLS = 1_000_000


class TileLoop(NamedTuple):
    """The text of a function, the rows of a block, and the bytes of its buffers.

    ``fused(poll, *operands)`` gives results, and then the sum of squares of those ``checked``.
    """

    text: Text
    block: int
    nbytes: int
    checked: frozenset[int]


def tile_loop(
    key: Shape,
    tape: Tape,
    slots: Sequence[int],
    operands: Sequence[int],
    results: Sequence[int],
    tilings: Mapping[int, Tiling],
    outputs: Collection[int],
    threads: int,
) -> TileLoop:
    """Write the function that gives the ``results`` of the group ``slots``."""
    text = Text(f"def fused(poll, {', '.join(f'a{slot}' for slot in operands)}):")
    block = TileBody(key, tape, slots, results, tilings, text)
    rows = _rows(block)
    count = 1 if _overlaps(block) > rows else threads
    writer = _Writer(block, rows, count, outputs)
    writer.write()
    wanted = frozenset(writer.squared)
    checked = frozenset([number for number, slot in enumerate(results) if slot in wanted])
    return TileLoop(text, rows, block.scratch * rows * count, checked)


def _rows(block: TileBody) -> int:
    """How many rows to compute at a time."""
    arrays = [*block.cut_operands, *[s for s in block.results if not block.tilings[s].joined]]
    each = block.scratch + sum(block.instructions[s].type.nbytes // block.rows for s in arrays)
    widest = max([math.prod(shape) for _, shape in block.buffers], default=1)
    most = max(BLOCK_BYTES // max(each, 1), FEWEST_ELEMENTS // widest, 1)
    blocks = -(-block.rows // most)
    rows = -(-block.rows // blocks)
    return rows + -rows % ALIGNED if rows > ALIGNED else rows


def _overlaps(block: TileBody) -> int:
    """The most rows by which what is added to slices goes beyond a block."""
    shifts = [block.tilings[slot].shifts for slot in block.results]
    return max([max(s) - min(s) for s in shifts if s], default=0)


class _Writer:
    def __init__(self, block: TileBody, rows: int, threads: int, outputs: Collection[int]) -> None:
        self.block = block
        self.rows = rows
        self.text = block.text
        self.threads = threads
        reduced = [
            s for s in block.results if block.tilings[s].joined and not block.tilings[s].shifts
        ]
        #: Results that are reduced of parts, and those that are made whole.
        self.reduced = {slot: number for number, slot in enumerate(reduced)}
        self.whole = [slot for slot in block.results if slot not in self.reduced]
        returned = frozenset(outputs)
        self.squared = [slot for slot in self.whole if slot in returned and self._real(slot)]

    def _real(self, slot: int) -> bool:
        kind = self.block.instructions[slot].type
        return isinstance(kind, ArrayType) and kind.dtype.kind == "f"

    def write(self) -> None:
        """Write the results, the function of one thread's part, and what joins the parts."""
        block, text = self.block, self.text
        text.bind(POOL.empty, "empty")
        text.bind(range, "range")
        text.bind(len, "len")
        if block.flat:
            for slot in block.cut_operands:
                text.write(f"a{slot} = a{slot}.reshape(-1)")
        if self.squared:
            text.write("squares = []")
        for slot in self.whole:
            kind, shifts = block.instructions[slot].type, block.tilings[slot].shifts
            assert isinstance(kind, ArrayType)
            shape = kind.shape if shifts else (block.rows, *block.row_shape(kind))
            text.write(f"o{slot} = empty({shape}, {text.bind(kind.dtype)})")
            if shifts:  # where the foremost operand does not come
                text.write(f"o{slot}[:{max(shifts)}] = o{slot}[{max(shifts) + block.rows}:] = 0")
        if self.rows >= block.rows:
            self._alone()
        else:
            self._parts()
        total = f"{text.bind(sum, 'sum')}(squares)" if self.squared else ""
        text.write(f"return ({''.join(map(self._returned, block.results))}{total})")

    def _alone(self) -> None:
        """Write what computes the only block."""
        text = self.text
        text.write(f"lo, hi, first = 0, {self.block.rows}, 0")
        self._take(1)
        if self.squared:
            text.write("total = 0.0")
        self._block(1, "")
        if self.squared:
            text.write("squares.append(total)")
        text.write("give(taken)")

    def _parts(self) -> None:
        """Write the function of a thread's part, which goes through its blocks, and the calls."""
        block, text, rows = self.block, self.text, self.rows
        text.write("late = []")
        text.write("def part(first, last):")
        for slot in self.reduced:
            text.write(f"q{slot} = []", indent=2)
        if self.squared:
            text.write("total = 0.0", indent=2)
        self._take(2)
        text.write(f"for lo in range(first, last, {rows}):", indent=2)
        each = sum([self._flops(instruction) for _, instruction in block.lines])
        between = max(_FLOPS_BETWEEN_POLLS // max(each, 1), 1)
        text.write(f"if not lo % {between * rows}: poll()", indent=3)
        text.write(f"hi = lo + {rows}", indent=3)
        if left := block.rows % rows:
            text.write("if hi > last:", indent=3)
            text.write("hi = last", indent=4)
            for i in range(len(block.buffers)):
                text.write(f"b{i} = b{i}[:{left}]", indent=4)
        self._block(3, "[lo:hi]")
        for slot in self.reduced:
            text.write(self._kept(slot), indent=3)
        if self.squared:
            text.write("squares.append(total)", indent=2)
        text.write("give(taken)", indent=2)
        text.write(f"return ({''.join(f'q{slot}, ' for slot in self.reduced)})", indent=2)
        ends = _ends(block.rows, rows, self.threads)
        run = partial(_on_threads, ends) if len(ends) > 1 else None
        text.write(f"parts = {text.bind(run)}(part)" if run else f"parts = [part(0, {block.rows})]")
        text.write("for o, at, x in late: o[at:at + len(x)] += x")
        for slot in self.squared:
            if shifts := block.tilings[slot].shifts:
                last = f"o{slot}[{block.rows + min(shifts)}:{block.rows + max(shifts)}]"
                text.write(f"squares.append({self._square(last)})")
        sums = f"squares.append({self._square('o[at:at + len(x)]')})"
        text.write(f"for o, at, x in late: {sums}")

    def _take(self, indent: int) -> None:
        """Write what takes the buffers of a block."""
        rows = min(self.rows, self.block.rows)
        kinds = [((rows, *shape), dtype) for dtype, shape in self.block.buffers]
        key = " ".join(f"{dtype.str}{shape}" for shape, dtype in kinds)
        names = ", ".join(f"b{i}" for i in range(len(kinds)))
        take = partial(POOL.take, key, kinds)
        self.text.bind(partial(POOL.give, key), "give")
        self.text.write(f"[{names}] = taken = {self.text.bind(take)}()", indent=indent)

    def _block(self, indent: int, part: str) -> None:
        """Write the lines of a block, this ``part``, with looks at the deadline between."""
        block, text = self.block, self.text
        for slot in block.cut_operands:
            text.write(f"x{slot} = a{slot}{part}", indent=indent)
        for slot in block.written:
            text.write(f"v{slot} = o{slot}{part}", indent=indent)
        since_poll = 0
        for line, instruction in block.lines:
            text.write(line, instruction, indent=indent)
            since_poll += self._flops(instruction)
            if since_poll > _FLOPS_BETWEEN_POLLS:
                text.write("poll()", indent=indent)
                since_poll = 0
        for slot in self.squared:
            text.write(f"total += {self._square(block.parts[slot])}", indent=indent)

    def _square(self, name: str) -> str:
        """The sum of squares of an array."""
        return f"{self.text.bind(_square, 'square')}({name})"

    def _kept(self, slot: int) -> str:
        """What keeps the parts of a reduction: numbers one by one, arrays as they add up."""
        scalar = not self.block.instructions[slot].type.shape  # type: ignore[union-attr]
        joined = f"u_{self.block.tilings[slot].joined}"
        if scalar:
            return f"q{slot}.append(p{slot})"
        return f"q{slot} = [{joined}(q{slot}[0], p{slot}, out=p{slot}) if q{slot} else p{slot}]"

    def _flops(self, instruction: Instruction) -> int:
        """Arithmetic of an instruction in a block."""
        op, args, kind, _ = instruction
        types = [self.block.instructions[a].type for a in args]
        return op.flops(kind, *types) * min(self.rows, self.block.rows) // self.block.rows  # type: ignore[arg-type]

    def _returned(self, slot: int) -> str:
        block = self.block
        kind, how = block.instructions[slot].type, block.tilings[slot]
        assert isinstance(kind, ArrayType)
        if slot in self.reduced:
            if self.rows >= block.rows:
                return f"p{slot}, "
            number = self.reduced[slot]
            return f"u_{how.joined}.reduce([p for part in parts for p in part[{number}]]), "
        return f"o{slot}.reshape({kind.shape}), " if block.flat else f"o{slot}, "


def _square(x: Any) -> Any:
    flat = x.reshape(-1)
    return flat.dot(flat)


def _ends(rows: int, block: int, threads: int) -> list[tuple[int, int]]:
    """Where each thread's part begins and ends, in whole blocks."""
    blocks = -(-rows // block)
    each = -(-blocks // threads) * block
    return [(first, min(first + each, rows)) for first in range(0, rows, each)]


def _on_threads(ends: Sequence[tuple[int, int]], part: Callable[..., Any]) -> list[Any]:
    """All parts, the first on this thread."""

    def elsewhere(first: int, last: int) -> Any:
        return quiet.run(part, first, last)

    mine, *others = ends
    futures = [_executor(len(others)).submit(elsewhere, *other) for other in others]
    try:
        return [part(*mine), *[future.result() for future in futures]]
    finally:  # nothing writes on after a failure
        wait(futures)


@cache
def _executor(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "gradwire-block")
