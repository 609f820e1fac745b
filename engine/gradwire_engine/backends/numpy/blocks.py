"""The lines that compute a group of instructions for one block.

Values that stay within the group share a few buffers of a block's size, which stay in the
processor's cache. An operation takes the place of an operand that nothing else reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gradwire_engine.backends.numpy.contraction import as_matmul
from gradwire_engine.backends.numpy.emit import function, ufunc_of
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.numpy.tiling import Tiling
from gradwire_engine.ops.arrays.shape import Reshape, View
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.linalg.contraction import Contract, contract
from gradwire_engine.tape import ArrayType, DType, Instruction, Shape, Tape

#: What buffers that can stand for each other have in common.
Kind: TypeAlias = tuple[DType, Shape]


class TileBody:
    """The lines, with the ``buffers`` that they need, of a group that ``cuts`` tells how to cut.

    ``key`` is what the rows are. In the lines a block is the rows from ``lo`` to ``hi``; ``a3`` is
    what came from elsewhere for slot 3, ``x3`` its part, ``b0`` a buffer, ``o3`` a result and
    ``v3`` its part, ``p3`` what a block is reduced to.
    """

    def __init__(
        self,
        key: Shape,
        tape: Tape,
        slots: Sequence[int],
        results: Sequence[int],
        tilings: Mapping[int, Tiling],
        text: Text,
    ) -> None:
        self.rows = math.prod(key)
        self.flat = len(key) > 1
        self.instructions = tape.instructions
        self.results = results
        self._given = frozenset(results)
        self.tilings = tilings
        self.text = text
        self.lines: list[tuple[str, Instruction]] = []
        self.buffers: list[Kind] = []
        #: What comes from elsewhere and is cut, and which results are written in place.
        self.cut_operands: dict[int, None] = {}
        self.written: list[int] = []
        #: The part of each result that is complete after a block.
        self.parts: dict[int, str] = {}
        self._names: dict[int, str] = {}
        #: What holds the elements of a view or an item.
        self._holder = {slot: slot for slot in slots}
        self._free: dict[Kind, list[str]] = {}
        #: Buffers, and other names, of the slots that hold one.
        self._held: dict[int, tuple[Kind | None, str]] = {}
        self._spare: list[str] = []
        for slot in slots:
            op, args, _, _ = self.instructions[slot]
            if isinstance(op, View | Item) and args[0] in self._holder:
                self._holder[slot] = self._holder[args[0]]
        ends: dict[int, list[int]] = {}
        for holder, reader in self._last_readers(slots).items():
            ends.setdefault(reader, []).append(holder)
        for slot in slots:
            self._line(slot, ends.get(slot, ()))

    def row_shape(self, kind: ArrayType) -> Shape:
        """The shape of a row of an array."""
        return () if self.flat else kind.shape[1:]

    @property
    def scratch(self) -> int:
        """Bytes of a row of all buffers."""
        return sum(dtype.itemsize * math.prod(shape) for dtype, shape in self.buffers)

    def _last_readers(self, slots: Sequence[int]) -> dict[int, int]:
        last = {slot: slot for slot in slots}
        for slot in slots:
            last[self._holder[slot]] = slot
            for arg in self.instructions[slot].args:
                if arg in self._holder:
                    last[self._holder[arg]] = slot
        return last

    def _name(self, arg: int, *, cut: bool) -> str:
        """An operand: of this group, or a part or all of what came from elsewhere."""
        if arg in self._holder:
            return self._names[arg]
        if not cut:
            return f"a{arg}"
        self.cut_operands[arg] = None
        return f"x{arg}"

    def _line(self, slot: int, dying: Sequence[int]) -> None:
        """The line of an instruction, after which the values of ``dying`` are not needed."""
        instruction = self.instructions[slot]
        op, args, kind, _ = instruction
        how = self.tilings[slot]
        operands = [self._name(a, cut=c) for a, c in zip(args, how.rows, strict=True)]
        if how.joined:
            self._join(slot, operands)
        elif self._holder[slot] != slot or isinstance(op, View):
            self._names[slot] = self._seen(op, operands[0], kind)
            if slot in self._given:
                self.parts[slot] = f"o{slot}[lo:hi]"
                self.lines.append((f"o{slot}[lo:hi] = {self._names[slot]}", instruction))
        elif (function := writing(op)) is not None:
            if op.elementwise:  # elements are read before they are written: in an operand's place
                self._release([d for d in dying if d in args and d != slot])
                dying = [d for d in dying if d not in args or d == slot]
            name = self._place(slot)
            operands = written_operands(op, operands)
            call = self.text.bind(function, f"u_{function.__name__}")
            self.lines.append((f"{call}({', '.join(operands)}, out={name})", instruction))
        else:
            name = self._names[slot] = self._spare.pop() if self._spare else f"t{slot}"
            self._held[slot] = (None, name)
            self.lines.append((f"{name} = {self._call(op, operands)}", instruction))
            if slot in self._given:
                self.parts[slot] = f"o{slot}[lo:hi]"
                self.lines.append((f"o{slot}[lo:hi] = {name}", instruction))
        self._release(dying)

    def _place(self, slot: int) -> str:
        """Where a ufunc writes: a part of a result, or a buffer."""
        kind = self.instructions[slot].type
        assert isinstance(kind, ArrayType)
        if slot in self._given:
            self.written.append(slot)
            self.parts[slot] = f"v{slot}"
            self._names[slot] = f"v{slot}"
            return f"v{slot}"
        like = (kind.dtype, self.row_shape(kind))
        free = self._free.get(like)
        if free:
            name = free.pop()
        else:
            name = f"b{len(self.buffers)}"
            self.buffers.append(like)
        self._held[slot] = (like, name)
        self._names[slot] = name
        return name

    def _release(self, slots: Sequence[int]) -> None:
        for slot in slots:
            like, name = self._held.pop(slot, (None, ""))
            if like is not None:
                self._free.setdefault(like, []).append(name)
            elif name:
                self._spare.append(name)

    def _join(self, slot: int, operands: Sequence[str]) -> None:
        """Keep a block's part of a reduction, or add its rows where they are placed."""
        op, _, _, _ = instruction = self.instructions[slot]
        how = self.tilings[slot]
        joined = self.text.bind(getattr(np, how.joined), f"u_{how.joined}")
        if how.shifts:
            # What is furthest on comes first: nothing has been written there yet. What a thread's
            # first block would add to what another writes there comes late.
            (ahead, name), *rest = sorted(zip(how.shifts, operands, strict=True), reverse=True)
            self.lines.append((f"o{slot}[lo + {ahead}:hi + {ahead}] = {name}", instruction))
            least = min(how.shifts)  # what comes before is complete after the block
            self.parts[slot] = f"o{slot}[lo + {least}:hi + {least}]"
            for shift, other in rest:
                line = f"g = {ahead - shift} if lo == first > 0 else 0\n"
                line += f"if g: late.append((o{slot}, lo + {shift}, {other}[:g].copy()))\n"
                line += f"w{slot} = o{slot}[lo + {shift} + g:hi + {shift}]\n"
                line += f"{joined}(w{slot}, {other}[g:], out=w{slot})"
                self.lines += [(text, instruction) for text in line.split("\n")]
            return
        if self.flat:  # elements of one axis
            op = contract("a", "a", "") if isinstance(op, Contract) else type(op)((0,))
        reduced = self._call(op, operands)
        self.lines.append((f"p{slot} = {reduced}", instruction))

    def _seen(self, op: Op, name: str, kind: Any) -> str:
        """A view or an item of a block."""
        if isinstance(op, Item):
            return f"{name}[{op.index}]"
        shape = ", ".join(["hi - lo", *map(str, self.row_shape(kind))])
        if isinstance(op, Reshape):
            return f"{name}.reshape({shape})"
        return f"{self.text.bind(np.broadcast_to, 'broadcast_to')}({name}, ({shape},))"

    def _call(self, op: Op, operands: Sequence[str]) -> str:
        if op.template:
            return op.template.format(*operands)
        return f"{self.text.bind(function(op))}({', '.join(operands)})"


def writing(op: Op) -> Any:
    """NumPy's function that is the kernel, if it writes where it is told to."""
    if isinstance(op, Contract):
        return None if as_matmul(op) is None else np.matmul
    return ufunc_of(op)


def written_operands(op: Op, names: Sequence[str]) -> list[str]:
    """The code of the operands of the function that writes."""
    turns = as_matmul(op) if isinstance(op, Contract) else None
    return [*map("".join, zip(names, turns, strict=True))] if turns else [*names]
