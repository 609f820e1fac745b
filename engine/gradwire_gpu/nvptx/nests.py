"""From a nest to code for the threads of a GPU."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from gradwire_engine.backends.llvm.elements import ElementPrinter
from gradwire_engine.backends.llvm.writer import SUFFIXES, TYPES, constant
from gradwire_engine.kernels.form import (
    EVERYWHERE,
    INTEGERS,
    Add,
    Apply,
    Load,
    Nest,
    Output,
    Reduce,
    Store,
    Value,
)

from gradwire_gpu.nvptx.code import GpuCode
from gradwire_gpu.nvptx.schedules import WARP, Schedule, adds_alone

_NEUTRAL = {"sum": 0.0, "finite": 0.0, "max": -inf, "min": inf, "all": 1.0}


class Member(NamedTuple):
    """A thread of a group: its number in the block, its place in the group, and if it counts."""

    thread: str
    place: str
    counts: str


class _Begun(NamedTuple):
    """A pass: its loops' numbers, the places known in it, its values, and what memory gave."""

    at: list[str]
    places: dict[tuple[object, ...], str]
    values: list[str]
    known: dict[Value, str]


class GpuNestPrinter(ElementPrinter):
    """Writes one nest for the threads that share it by a ``schedule``.

    ``around`` are the numbers of the loops around it; the first of its own have the numbers
    ``fixed``. Passes go from ``begin`` to ``end``, if not all are made. Buffers that are
    ``private`` belong to the thread.
    """

    def __init__(
        self,
        code: GpuCode,
        nest: Nest,
        schedule: Schedule,
        around: Sequence[str] = (),
        fixed: Sequence[str] = (),
        private: Collection[int] = (),
    ) -> None:
        super().__init__(code.p, nest, around, arithmetic=code.arithmetic)
        self._code, self._schedule, self._private = code, schedule, private
        self._at += fixed
        self._fixed = len(fixed)
        #: The lengths of the loops of points, and of those of passes.
        self._points = nest.lengths[self._fixed : schedule.parallel]
        self._passes = nest.lengths[schedule.parallel :]
        self.begin, self.end = "0", code.p.integer(math.prod(self._passes))
        #: How many passes are begun before the first of them is finished.
        self.at_once = 1
        #: The variables in which outputs are put together, by their numbers.
        self._sums: dict[int, str] = {}

    def print(self, first: str, step: str) -> None:
        """Write the points from ``first`` on, by ``step``, each by this thread alone."""
        end = self._p.integer(math.prod(self._points))
        with self._flags(), self._code.loop(self._code.variable("i64", first), end, step) as point:
            self._point(point, None)

    def print_flat(self, block: str, thread: str, blocks: int) -> None:
        """Write the passes of the only point, which stay apart, for the threads of all blocks.

        A thread's passes at once are as far apart as a block has threads: code knows the distance.
        """
        p, threads = self._p, self._code.threads
        share = threads * self.at_once
        first = p.let(f"add i64 {p.let(f'mul i64 {block}, {share}')}, {thread}")
        with self._flags(), self._inside(()):
            self._compute(0)
            self._make(first, threads, p.integer(blocks * share))

    def print_tiles(self, thread: str, first: str, step: str) -> None:
        """Write the points of tiles from ``first`` on, each by a group of the block's threads.

        Threads meet at barriers: those that have no point make as many rounds.
        """
        code, p, schedule = self._code, self._p, self._schedule
        across, points = code.threads // schedule.group, math.prod(self._points)
        by = across if schedule.strided else schedule.group
        low = p.let(f"and i64 {thread}, {by - 1}")
        high = p.let(f"lshr i64 {thread}, {by.bit_length() - 1}")
        own, place = (low, high) if schedule.strided else (high, low)
        tiles = p.integer(-(-points // across))
        with self._flags(), code.loop(code.variable("i64", first), tiles, step) as tile:
            point = p.let(f"add i64 {p.let(f'mul i64 {tile}, {across}')}, {own}")
            counts = p.let(f"icmp slt i64 {point}, {p.integer(points)}")
            point = p.let(f"select i1 {counts}, i64 {point}, i64 0")
            self._point(point, Member(thread, place, counts))

    # Points and passes

    def _point(self, point: str, member: Member | None) -> None:
        """One point: its passes, and what they are put together to."""
        nest, p = self._nest, self._p
        reduced = [k for k, output in enumerate(nest.outputs) if _is_put_together(output)]
        with self._inside(self._numbers(point, self._points)):
            self._begin(reduced)
            for level in range(self._schedule.parallel + 1):
                self._compute(level)
            if nest.carries:
                self._carry()
            elif self._passes:
                first = self.begin
                if member is not None:
                    first = p.let(f"add i64 {first}, {member.place}")
                    first = p.let(f"select i1 {member.counts}, i64 {first}, i64 {self.end}")
                group = self._schedule.group
                self._make(first, group, str(group * self.at_once))
            else:
                self._finish_pass()
            for number in reduced:
                self._finish(number, member)

    def _make(self, first: str, apart: int, step: str) -> None:
        """Make passes from ``first`` to the end by ``step``.

        If several are made at once, they are ``apart`` from each other, and so is what is left.
        """
        code, p = self._code, self._code.p
        at = code.variable("i64", first)
        if self.at_once > 1:
            last = p.let(f"sub i64 {self.end}, {apart * (self.at_once - 1)}")
            if self._has_seldom:
                code.loop_of_two_bodies(
                    (at, last, self.end, step),
                    lambda number, other: self._pass(self._share(number, apart), other),
                    lambda number: self._make_singly(number, apart),
                )
                return
            with code.loop(at, last, step) as number:
                self._pass(self._share(number, apart))
            step = str(apart)
        with code.loop(at, self.end, step) as number:
            self._pass([number])

    def _share(self, first: str, apart: int) -> list[str]:
        """The numbers of the passes that are made at once from ``first`` on."""
        p = self._code.p
        further = range(apart, apart * self.at_once, apart)
        return [first, *[p.let(f"add i64 {first}, {more}") for more in further]]

    @property
    def _has_seldom(self) -> bool:
        """True if a pass has a function that seldom does something else than usual."""
        has, nodes = self._code.arithmetic.has_seldom, [self._nest.nodes[v] for v in self._inner]
        return any(isinstance(node, Apply) and has(node.function, node.char) for node in nodes)

    def _make_singly(self, first: str, apart: int) -> None:
        """Make the passes that could be made at once from ``first`` on, one by one."""
        code, p = self._code, self._code.p
        left, share = p.let(f"sub i64 {self.end}, {first}"), apart * self.at_once
        less = p.let(f"icmp slt i64 {left}, {share}")
        end = p.let(f"select i1 {less}, i64 {left}, i64 {share}")
        # frozen, or LLVM would count these addresses along with those of passes made at once
        begin = p.let(f"freeze i64 {first}")
        with code.loop(code.variable("i64", "0"), end, str(apart)) as further:
            self._pass([p.let(f"add i64 {begin}, {further}")])

    def _pass(self, numbers: Sequence[str], other: str = "") -> None:
        """Some passes: what memory gives comes first, so that a thread waits for it once.

        If a block ``other`` is given, functions give what is usual; where that is not right in all
        passes, it goes on there, before anything is stored.
        """
        begun: list[_Begun] = []
        for number in numbers:
            with self._inside(self._numbers(number, self._passes)):
                known = {v: self._computed(v) for v in self._inner if self._is_from_memory(v)}
                values = [*self._values] if begun else self._values
                begun.append(_Begun([*self._at], self._places[-1], values, known))
        conditions = self._code.arithmetic.seldom = [] if other else None
        for pass_ in begun:
            with self._within_pass(pass_):
                for value in self._inner:
                    self._values[value] = pass_.known.get(value) or self._computed(value)
        self._code.arithmetic.seldom = None
        if conditions:
            self._code.go_if_any(conditions, other)
        for pass_ in begun:
            with self._within_pass(pass_):
                self._finish_pass()

    @contextmanager
    def _within_pass(self, pass_: _Begun) -> Iterator[None]:
        """Write what is of one pass."""
        before = self._at, self._values
        self._at, self._values = pass_.at, pass_.values
        self._places.append(pass_.places)
        yield
        self._places.pop()
        self._at, self._values = before

    @property
    def _inner(self) -> list[Value]:
        """The values that are computed in each pass."""
        inner = self._by_level[self._schedule.parallel + 1 :]
        return sorted([value for level in inner for value in level])

    def _is_from_memory(self, value: Value) -> bool:
        """True if it is read from a place that needs no other value, and that nobody writes."""
        node = self._nest.nodes[value]
        if not isinstance(node, Load) or node.guard is not None or node.at.terms:
            return False
        return all(output.buffer != node.buffer for output in self._nest.outputs)

    def _carry(self) -> None:
        """The passes of the last loop, each of which carries values on to the next."""
        code, carries = self._code, self._nest.carries
        kinds = [TYPES[carry.char] for carry in carries]
        pairs = zip(kinds, carries, strict=True)
        places = [code.variable(kind, constant(c.first, c.char)) for kind, c in pairs]
        with code.loop(code.variable("i64", "0"), self.end, "1") as number:
            self._carried = [code.get(*each) for each in zip(places, kinds, strict=True)]
            self._pass([number])
            for place, kind, carry in zip(places, kinds, carries, strict=True):
                code.set(place, kind, self._values[carry.value])

    @contextmanager
    def _inside(self, numbers: Sequence[str]) -> Iterator[None]:
        """Write what is within loops that have these numbers."""
        self._places.append({})
        before = len(self._at)
        self._at += numbers
        yield
        del self._at[before:]
        self._places.pop()

    def _numbers(self, n: str, lengths: Sequence[int]) -> list[str]:
        """The numbers of loops of these lengths in the pass ``n`` of all of them together."""
        found: list[str] = []
        below = math.prod(lengths)
        for length in reversed(lengths[1:]):
            n, rest = self._code.divided(n, length, below)
            below //= length
            found.insert(0, rest)
        return [n, *found] if lengths else []

    def _compute(self, level: int) -> None:
        """Compute the values that need so many of its loops."""
        for value in self._by_level[level]:
            self._values[value] = self._computed(value)

    # Outputs

    @contextmanager
    def _flags(self) -> Iterator[None]:
        """Write what is said of all values, behind their computation."""
        everywhere = [k for k, r in enumerate(self._nest.outputs) if _is_flag(r)]
        self._places.append({})
        self._begin(everywhere)
        yield
        for number in everywhere:
            self._flag(number)
        self._places.pop()

    def _begin(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            output, char = self._nest.outputs[number], self._output_char(number)
            assert isinstance(output, Reduce)
            neutral = constant(_NEUTRAL[output.kind], char)
            self._sums[number] = self._code.variable(TYPES[char], neutral)

    def _output_char(self, number: int) -> str:
        return self._nest.nodes[self._nest.outputs[number].value].char

    def _finish_pass(self) -> None:
        """Store, and bring in what is reduced."""
        code = self._code
        for number, output in enumerate(self._nest.outputs):
            char = self._output_char(number)
            value = self._values[output.value]
            match output:
                case Store():
                    self._store(output.buffer, output.at, value, char)
                case Add():
                    self._add(output)
                case Reduce():
                    kind, place = TYPES[char], self._sums[number]
                    before = code.get(place, kind)
                    if output.kind == "finite":
                        both = self._with_zero_times(value, before, char)
                    else:
                        both = self._combined(output.kind, before, value, kind)
                    code.set(place, kind, both)

    def _with_zero_times(self, x: str, y: str, char: str) -> str:
        """``0 x + y``, which is NaN from when on an ``x`` was not finite."""
        p, kind = self._p, TYPES[char]
        name = f"llvm.fma.{SUFFIXES[kind]}"
        p.declare(f"{kind} @{name}({kind}, {kind}, {kind})")
        return p.let(f"call {kind} @{name}({kind} {x}, {kind} {constant(0.0, char)}, {kind} {y})")

    def _combined(self, kind: str, x: str, y: str, of: str) -> str:
        p = self._p
        if kind in ("sum", "finite"):
            return p.let(f"fadd {of} {x}, {y}")
        if kind == "all":
            return p.let(f"and {of} {x}, {y}")
        wins = p.let(f"fcmp {'ogt' if kind == 'max' else 'olt'} {of} {y}, {x}")
        either = p.let(f"or i1 {wins}, {p.let(f'fcmp uno {of} {y}, {y}')}")
        return p.let(f"select i1 {either}, {of} {y}, {of} {x}")

    def _finish(self, number: int, member: Member | None) -> None:
        """Put together what the threads of a group have, and store it by the first of them."""
        p, code = self._p, self._code
        output, char = self._nest.outputs[number], self._output_char(number)
        assert isinstance(output, Reduce)
        total = code.get(self._sums[number], TYPES[char])
        if member is None:
            self._store(output.buffer, output.at, total, char)
            return
        total = self._together(output.kind, total, char, member.thread)
        is_first = p.let(f"icmp eq i64 {member.place}, 0")
        with code.when(p.let(f"and i1 {member.counts}, {is_first}")), self._inside(()):
            self._store(output.buffer, output.at, total, char)

    def _together(self, kind: str, total: str, char: str, thread: str) -> str:
        """The values of a group in its first thread: by memory, within a warp by exchange."""
        p, code, schedule = self._p, self._code, self._schedule
        of, stride = TYPES[char], code.threads // schedule.group if schedule.strided else 1
        distance = stride * schedule.group // 2
        while distance >= max(WARP, stride):
            p.do(f"store {of} {total}, ptr addrspace(3) {code.shared_at(char, thread)}")
            code.barrier()
            further = p.let(f"add i64 {thread}, {distance}")
            further = p.let(f"and i64 {further}, {code.threads - 1}")
            other = p.let(f"load {of}, ptr addrspace(3) {code.shared_at(char, further)}")
            code.barrier()
            total = self._combined(kind, total, other, of)
            distance //= 2
        while distance >= stride:
            other = code.from_neighbour(total, char, distance)
            total = self._combined(kind, total, other, of)
            distance //= 2
        return total

    def _flag(self, number: int) -> None:
        """Say what does not hold for all values: whichever thread finds it says the same."""
        p, code = self._p, self._code
        output, char = self._nest.outputs[number], self._output_char(number)
        found = code.get(self._sums[number], TYPES[char])
        if output.kind == "all":  # type: ignore[union-attr]
            with code.when(p.let(f"xor i1 {found}, true")):
                p.do(f"store atomic i8 1, ptr %b{output.buffer} monotonic, align 1")
            return
        with code.when(p.let(f"fcmp uno {TYPES[char]} {found}, {found}")):
            nan = constant(math.nan, "d")
            p.do(f"store atomic double {nan}, ptr %b{output.buffer} monotonic, align 8")

    def _add(self, output: Add) -> None:
        """Add to what is there: several threads may at once."""
        if output.buffer in self._private or adds_alone(self._nest, output):
            super()._add(output)
            return
        p, char = self._p, self._nest.nodes[output.value].char
        at = p.let(
            f"getelementptr {TYPES[char]}, ptr %b{output.buffer}, i64 {self._place(output.at)}"
        )
        how = "add" if char in INTEGERS else "fadd"
        p.do(f"atomicrmw {how} ptr {at}, {TYPES[char]} {self._values[output.value]} monotonic")


def _is_flag(output: Output) -> bool:
    return isinstance(output, Reduce) and output.kind in EVERYWHERE


def _is_put_together(output: Output) -> bool:
    return isinstance(output, Reduce) and output.kind not in EVERYWHERE
