"""The function around the lines of a block: it goes through all blocks, on threads if so asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any, NamedTuple

from gradwire_engine.backends.numpy.blocks import Block
from gradwire_engine.backends.numpy.buffers import empty
from gradwire_engine.backends.numpy.quiet import quiet
from gradwire_engine.backends.numpy.rows import Cut
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.tape import ArrayType, Instruction, Shape, Tape

#: What the buffers and the operands of a block take: half of a core's second cache, as measured.
BLOCK_BYTES = 1 << 20
#: Blocks of more rows than this are of a multiple of it, so that all begin at a line of the cache.
ALIGNED = 64
#: Operations between two looks at the deadline.
_FLOPS_BETWEEN_POLLS = 1_000_000


class Framed(NamedTuple):
    """The text of ``sweep(poll, *operands)``, the rows of a block, and the bytes of its buffers."""

    text: Text
    block: int
    nbytes: int


def framed(
    key: Shape,
    tape: Tape,
    slots: Sequence[int],
    operands: Sequence[int],
    results: Sequence[int],
    cuts: Mapping[int, Cut],
    threads: int,
) -> Framed:
    """Write the function that gives the ``results`` of the group ``slots``."""
    text = Text(f"def sweep(poll, {', '.join(f'a{slot}' for slot in operands)}):")
    block = Block(key, tape, slots, results, cuts, text)
    rows = _rows(block)
    count = 1 if _overlaps(block) > rows else threads
    _Frame(block, rows, count).write()
    return Framed(text, rows, block.scratch * rows * count)


def _rows(block: Block) -> int:
    """How many rows to compute at a time."""
    arrays = [*block.cut_operands, *[s for s in block.results if not block.cuts[s].joined]]
    each = block.scratch + sum(block.instructions[s].type.nbytes // block.rows for s in arrays)
    blocks = -(-block.rows // max(BLOCK_BYTES // max(each, 1), 1))
    rows = -(-block.rows // blocks)
    return rows + -rows % ALIGNED if rows > ALIGNED else rows


def _overlaps(block: Block) -> int:
    """The most rows by which what is added to slices goes beyond a block."""
    shifts = [block.cuts[slot].shifts for slot in block.results]
    return max([max(s) - min(s) for s in shifts if s], default=0)


class _Frame:
    def __init__(self, block: Block, rows: int, threads: int) -> None:
        self.block = block
        self.rows = rows
        self.text = block.text
        self.threads = threads
        reduced = [s for s in block.results if block.cuts[s].joined and not block.cuts[s].shifts]
        #: Results that are reduced of parts, and those that are made whole.
        self.reduced = {slot: number for number, slot in enumerate(reduced)}
        self.whole = [slot for slot in block.results if slot not in self.reduced]

    def write(self) -> None:
        """Write the results, the function of one thread's part, and what joins the parts."""
        block, text = self.block, self.text
        for value, name in ((empty, "empty"), (range, "range"), (len, "len")):
            text.bind(value, name)
        if block.flat:
            for slot in block.cut_operands:
                text.write(f"a{slot} = a{slot}.reshape(-1)")
        for slot in self.whole:
            kind, shifts = block.instructions[slot].type, block.cuts[slot].shifts
            assert isinstance(kind, ArrayType)
            shape = kind.shape if shifts else (block.rows, *block.row_shape(kind))
            text.write(f"o{slot} = empty({shape}, {text.bind(kind.dtype)})")
            if shifts:  # where the foremost operand does not come
                text.write(f"o{slot}[:{max(shifts)}] = o{slot}[{max(shifts) + block.rows}:] = 0")
        text.write("late = []")
        text.write("def part(first, last):")
        self._part()
        ends = _parts(block.rows, self.rows, self.threads)
        run = partial(_on_threads, ends) if len(ends) > 1 else None
        text.write(f"parts = {text.bind(run)}(part)" if run else f"parts = [part(0, {block.rows})]")
        text.write("for o, at, x in late: o[at:at + len(x)] += x")
        text.write(f"return ({''.join(map(self._returned, block.results))})")

    def _part(self) -> None:
        """Write the loop over the blocks of a part."""
        block, text, rows = self.block, self.text, self.rows
        for slot in self.reduced:
            scalar = not block.instructions[slot].type.shape  # type: ignore[union-attr]
            text.write(f"p{slot} = {'[]' if scalar else None}", indent=2)
        for i, (dtype, shape) in enumerate(block.buffers):
            text.write(f"b{i} = empty({(rows, *shape)}, {text.bind(dtype)})", indent=2)
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
        for slot in block.cut_operands:
            text.write(f"x{slot} = a{slot}[lo:hi]", indent=3)
        for slot in block.written:
            text.write(f"v{slot} = o{slot}[lo:hi]", indent=3)
        since_poll = 0
        for line, instruction in block.lines:
            text.write(line, instruction, indent=3)
            since_poll += self._flops(instruction)
            if since_poll > _FLOPS_BETWEEN_POLLS:
                text.write("poll()", indent=3)
                since_poll = 0
        text.write(f"return ({''.join(f'p{slot}, ' for slot in self.reduced)})", indent=2)

    def _flops(self, instruction: Instruction) -> int:
        """Arithmetic of an instruction in a block."""
        op, args, kind, _ = instruction
        types = [self.block.instructions[a].type for a in args]
        return op.flops(kind, *types) * self.rows // self.block.rows  # type: ignore[arg-type]

    def _returned(self, slot: int) -> str:
        block = self.block
        kind, how = block.instructions[slot].type, block.cuts[slot]
        assert isinstance(kind, ArrayType)
        if slot in self.reduced:
            number = self.reduced[slot]
            found = f"for q in parts{'' if kind.shape else f' for p in q[{number}]'}"
            return f"u_{how.joined}.reduce([{f'q[{number}]' if kind.shape else 'p'} {found}]), "
        return f"o{slot}.reshape({kind.shape}), " if block.flat else f"o{slot}, "


def _parts(rows: int, block: int, threads: int) -> list[tuple[int, int]]:
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
