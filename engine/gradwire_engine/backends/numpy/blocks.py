"""The text of a function that computes a group of instructions block by block.

Values that stay within the group share a few buffers of a block's size, which stay in the
processor's cache. An operation takes the place of an operand that nothing else reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.backends.numpy.buffers import empty
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.backends.numpy.rows import Cut
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.ops.arrays.shape import Reshape, View
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Item
from gradwire_engine.tape import ArrayType, DType, Instruction, Shape, Tape

#: What the buffers and the operands of a block take: half of a core's second cache, as measured.
BLOCK_BYTES = 1 << 20
#: Blocks of more rows than this are of a multiple of it, so that all begin at a line of the cache.
_ALIGNED = 64
#: Operations between two looks at the deadline.
_FLOPS_BETWEEN_POLLS = 1_000_000

#: What buffers that can stand for each other have in common.
_Kind: TypeAlias = tuple[DType, Shape]


class Written(NamedTuple):
    """The text, the rows of a block, and the bytes of the buffers."""

    text: Text
    block: int
    nbytes: int


def write(
    key: Shape,
    tape: Tape,
    slots: Sequence[int],
    operands: Sequence[int],
    results: Sequence[int],
    cuts: Mapping[int, Cut],
) -> Written:
    """Write ``sweep(poll, *operands)``, which gives the ``results`` of the group ``slots``."""
    return _Writer(key, tape, slots, operands, results, cuts).written()


class _Writer:
    def __init__(
        self,
        key: Shape,
        tape: Tape,
        slots: Sequence[int],
        operands: Sequence[int],
        results: Sequence[int],
        cuts: Mapping[int, Cut],
    ) -> None:
        self.rows = math.prod(key)
        self.flat = len(key) > 1
        self.instructions = tape.instructions
        self.slots = slots
        self.operands = operands
        self.results = results
        self.cuts = cuts
        self.text = Text(f"def sweep(poll, {', '.join(f'a{slot}' for slot in operands)}):")
        #: Lines of the block.
        self.lines: list[tuple[str, Instruction]] = []
        self.names: dict[int, str] = {}
        #: What holds the elements of a view or an item.
        self.holder = {slot: slot for slot in slots}
        self.buffers: list[_Kind] = []
        self.free: dict[_Kind, list[str]] = {}
        #: Buffers, and other names, of the slots that hold one.
        self.held: dict[int, tuple[_Kind | None, str]] = {}
        self.spare: list[str] = []
        self.cut_operands: dict[int, None] = {}
        self.bytes_per_row = 0

    def written(self) -> Written:
        """Write it all."""
        for slot in self.slots:
            op, args, _, _ = self.instructions[slot]
            if isinstance(op, View | Item) and args[0] in self.holder:
                self.holder[slot] = self.holder[args[0]]
        ends: dict[int, list[int]] = {}
        for holder, reader in self._last_readers().items():
            ends.setdefault(reader, []).append(holder)
        for slot in self.slots:
            self._line(slot, ends.get(slot, ()))
        each = [self._row_bytes(self.instructions[s].type) for s in self.cut_operands]
        each += [self._row_bytes(self.instructions[s].type) for s in self._whole_results]
        scratch = sum(dtype.itemsize * math.prod(shape) for dtype, shape in self.buffers)
        most = max(BLOCK_BYTES // max(sum(each) + scratch, 1), 1)
        blocks = -(-self.rows // most)
        block = -(-self.rows // blocks)
        if block > _ALIGNED:
            block += -block % _ALIGNED
        self._function(block)
        return Written(self.text, block, scratch * block)

    @property
    def _whole_results(self) -> list[int]:
        """Results that blocks are parts of."""
        return [slot for slot in self.results if not self.cuts[slot].joined]

    def _last_readers(self) -> dict[int, int]:
        last = {slot: slot for slot in self.slots}
        for slot in self.slots:
            last[self.holder[slot]] = slot
            for arg in self.instructions[slot].args:
                if arg in self.holder:
                    last[self.holder[arg]] = slot
        return last

    def _row_bytes(self, kind: Any) -> int:
        return int(kind.nbytes) // self.rows

    def _row_shape(self, kind: ArrayType) -> Shape:
        return () if self.flat else kind.shape[1:]

    def _name(self, arg: int, *, cut: bool) -> str:
        """An operand: of this group, or a part or all of what came from elsewhere."""
        if arg in self.holder:
            return self.names[arg]
        if not cut:
            return f"a{arg}"
        self.cut_operands[arg] = None
        return f"x{arg}"

    def _line(self, slot: int, dying: Sequence[int]) -> None:
        """The line of an instruction, after which the values of ``dying`` are not needed."""
        instruction = self.instructions[slot]
        op, args, kind, _ = instruction
        how = self.cuts[slot]
        operands = [self._name(a, cut=c) for a, c in zip(args, how.rows, strict=True)]
        if how.joined:
            self._join(slot, operands)
        elif self.holder[slot] != slot or isinstance(op, View):
            self.names[slot] = self._seen(op, operands[0], kind)
            if slot in self.results:
                self.lines.append((f"o{slot}[lo:hi] = {self.names[slot]}", instruction))
        elif _takes_out(op):
            # Elements are read before they are written, so an operand's place will do.
            self._release([d for d in dying if d in args and d != slot])
            name = self._place(slot)
            call = f"{self.text.bind(_ufunc(op), 'u_' + op.ufunc.replace('.', '_'))}"
            self.lines.append((f"{call}({', '.join(operands)}, out={name})", instruction))
            dying = [d for d in dying if d not in args or d == slot]
        else:
            name = self.names[slot] = self.spare.pop() if self.spare else f"t{slot}"
            self.held[slot] = (None, name)
            self.lines.append((f"{name} = {self._call(op, operands)}", instruction))
            if slot in self.results:
                self.lines.append((f"o{slot}[lo:hi] = {name}", instruction))
        self._release(dying)

    def _place(self, slot: int) -> str:
        """Where a ufunc writes: a part of a result, or a buffer."""
        kind = self.instructions[slot].type
        assert isinstance(kind, ArrayType)
        if slot in self.results:
            self.names[slot] = f"v{slot}"
            return f"v{slot}"
        like = (kind.dtype, self._row_shape(kind))
        free = self.free.get(like)
        if free:
            name = free.pop()
        else:
            name = f"b{len(self.buffers)}"
            self.buffers.append(like)
        self.held[slot] = (like, name)
        self.names[slot] = name
        return name

    def _release(self, slots: Sequence[int]) -> None:
        for slot in slots:
            like, name = self.held.pop(slot, (None, ""))
            if like is not None:
                self.free.setdefault(like, []).append(name)
            elif name:
                self.spare.append(name)

    def _join(self, slot: int, operands: Sequence[str]) -> None:
        """Keep a block's part of a reduction, or add its rows where they are placed."""
        op, _, kind, _ = instruction = self.instructions[slot]
        how = self.cuts[slot]
        joined = self.text.bind(getattr(np, how.joined), f"u_{how.joined}")
        if how.shifts:
            # What is furthest on comes first: nothing has been written there yet.
            ahead, *rest = sorted(zip(how.shifts, operands, strict=True), reverse=True)
            self.lines.append(
                (f"o{slot}[lo + {ahead[0]}:hi + {ahead[0]}] = {ahead[1]}", instruction)
            )
            for shift, name in rest:
                part = f"w{slot} = o{slot}[lo + {shift}:hi + {shift}]"
                self.lines.append((f"{part}; {joined}(w{slot}, {name}, out=w{slot})", instruction))
            return
        part = f"{joined}.reduce({operands[0]})" if self.flat else self._call(op, operands)
        if kind.shape:  # type: ignore[union-attr]
            line = (
                f"p{slot} = {part} if p{slot} is None else {joined}(p{slot}, {part}, out=p{slot})"
            )
        else:
            line = f"p{slot}.append({part})"
        self.lines.append((line, instruction))

    def _seen(self, op: Op, name: str, kind: Any) -> str:
        """A view or an item of a block."""
        if isinstance(op, Item):
            return f"{name}[{op.index}]"
        shape = ", ".join(["hi - lo", *map(str, self._row_shape(kind))])
        if isinstance(op, Reshape):
            return f"{name}.reshape({shape})"
        return f"{self.text.bind(np.broadcast_to, 'broadcast_to')}({name}, ({shape},))"

    def _call(self, op: Op, operands: Sequence[str]) -> str:
        if op.template:
            return op.template.format(*operands)
        return f"{self.text.bind(op.bind(NUMPY))}({', '.join(operands)})"

    def _function(self, block: int) -> None:
        """Put the function around the lines."""
        text, n = self.text, self.rows
        for value, name in ((empty, "empty"), (range, "range")):
            text.bind(value, name)
        if self.flat:
            for slot in self.cut_operands:
                text.write(f"a{slot} = a{slot}.reshape(-1)")
        for slot in self.results:
            kind = self.instructions[slot].type
            assert isinstance(kind, ArrayType)
            joined, shifts = self.cuts[slot][2:]
            if joined and not shifts:
                text.write(f"p{slot} = {'None' if kind.shape else '[]'}")
                continue
            shape = kind.shape if shifts else (n, *self._row_shape(kind))
            text.write(f"o{slot} = empty({shape}, {text.bind(kind.dtype)})")
            if shifts:
                text.write(f"o{slot}[:{max(shifts)}] = o{slot}[{max(shifts) + n}:] = 0")
        for i, (dtype, shape) in enumerate(self.buffers):
            text.write(f"b{i} = empty({(block, *shape)}, {text.bind(dtype)})")
        text.write(f"for lo in range(0, {n}, {block}):")
        flops = sum([self._flops(instruction) for _, instruction in self.lines]) * block // n
        between = max(_FLOPS_BETWEEN_POLLS // max(flops, 1), 1)
        text.write(f"if not lo % {between * block}: poll()", indent=2)
        text.write(f"hi = lo + {block}", indent=2)
        if n % block:
            text.write(f"if hi > {n}:", indent=2)
            text.write(f"hi = {n}", indent=3)
            for i in range(len(self.buffers)):
                text.write(f"b{i} = b{i}[:{n % block}]", indent=3)
        for slot in self.cut_operands:
            text.write(f"x{slot} = a{slot}[lo:hi]", indent=2)
        for slot in self._whole_results:
            if _takes_out(self.instructions[slot].op):
                text.write(f"v{slot} = o{slot}[lo:hi]", indent=2)
        since_poll = 0
        for line, instruction in self.lines:
            text.write(line, instruction, indent=2)
            since_poll += self._flops(instruction) * block // n
            if since_poll > _FLOPS_BETWEEN_POLLS:
                text.write("poll()", indent=2)
                since_poll = 0
        text.write(f"return ({''.join(self._returned(slot) for slot in self.results)})")

    def _flops(self, instruction: Instruction) -> int:
        op, args, kind, _ = instruction
        return op.flops(kind, *[self.instructions[a].type for a in args])  # type: ignore[arg-type]

    def _returned(self, slot: int) -> str:
        kind, (_, _, joined, shifts) = self.instructions[slot].type, self.cuts[slot]
        assert isinstance(kind, ArrayType)
        if joined and not shifts:
            return f"p{slot}, " if kind.shape else f"u_{joined}.reduce(p{slot}), "
        return f"o{slot}.reshape({kind.shape}), " if self.flat else f"o{slot}, "


def _ufunc(op: Op) -> Any:
    return attrgetter(op.ufunc)(NUMPY)


def _takes_out(op: Op) -> bool:
    """Whether the kernel is a function of NumPy's that writes where it is told to."""
    plain = op.is_ufunc and type(op).bind is Op.bind and bool(op.ufunc)
    return plain and isinstance(_ufunc(op), np.ufunc)
