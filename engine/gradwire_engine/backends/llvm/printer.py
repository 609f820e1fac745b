"""From a kernel to LLVM's intermediate representation, as text.

Nothing of a program is in the text but numbers of slots and small integers: lengths, offsets and
numbers are arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradwire_engine.backends.llvm.lanes import vectorized
from gradwire_engine.backends.llvm.nest_printer import NestPrinter
from gradwire_engine.backends.llvm.writer import (
    MEMORY,
    Writer,
    bounds_of,
)
from gradwire_engine.kernels.form import (
    COMPLEX,
    ENDED,
    FAILED,
    LEAST_ARGUMENT,
    Break,
    For,
    If,
    Kernel,
    Nest,
    Step,
    real_char,
)


class Printer:
    """Writes the function ``name`` that computes a kernel.

    It takes an array of pointers: to the buffers, to the integers, of which the first bound the
    outermost loops of the only nest, and to the numbers.
    """

    def __init__(self, kernel: Kernel, name: str, bounded: int = 1) -> None:
        self.kernel = kernel
        self._name = name
        self._writer = Writer(kernel, bounded)
        self.ranged = self._writer.ranged

    def text(self) -> str:
        """The whole text."""
        kernel = self.kernel
        tables = kernel.passed
        names = [*[f"%b{number}" for number in range(tables)], "%integers", "%numbers"]
        for number, name in enumerate(names):
            self._writer.do(f"%p{number} = getelementptr ptr, ptr %pointers, i64 {number}")
            self._writer.do(f"{name} = load ptr, ptr %p{number}")
        if self.ranged:
            self._writer.do("%begin = load i64, ptr %integers")
            self._writer.do("%behind = getelementptr i64, ptr %integers, i64 1")
            self._writer.do("%end = load i64, ptr %behind")
            self._writer.do("%last = getelementptr i64, ptr %integers, i64 2")
            self._writer.do("%passes = load i64, ptr %last")
            for level in range(1, self._writer.bounded):
                for number, name in enumerate(("begin", "end"), bounds_of(level)):
                    at = self._writer.let(f"getelementptr i64, ptr %integers, i64 {number}")
                    self._writer.do(f"%{name}{level} = load i64, ptr {at}")
        for number in self._writer.integers.values():
            self._writer.do(f"%g{number} = getelementptr i64, ptr %integers, i64 {number}")
            self._writer.do(f"%n{number} = load i64, ptr %g{number}")
        for number in range(len(kernel.numbers)):
            self._writer.do(f"%q{number} = getelementptr double, ptr %numbers, i64 {number}")
            self._writer.do(f"%x{number} = load double, ptr %q{number}")
        for number in range(tables, len(kernel.buffers)):
            self._writer.do(self._room(number))
        self._print(kernel.nests, _Around())
        body = "\n".join(self._writer.lines)
        declared = "\n".join(sorted(self._writer.declared))
        return (
            f"{declared}\ndefine void @{self._name}(ptr noalias %pointers) {{\nentry:\n{body}\n"
            "  ret void\n}\n"
        )

    def _room(self, number: int) -> str:
        """Room on the stack: for so many elements that few lengths are in the text."""
        buffer = self.kernel.buffers[number]
        size = math.prod(buffer.shape) * (2 if buffer.char in COMPLEX else 1)
        size = size if size < LEAST_ARGUMENT else 1 << (size - 1).bit_length()
        memory = MEMORY[real_char(buffer.char)]
        return f"%b{number} = alloca [{size} x {memory}], align 64"

    def _print(self, steps: Sequence[Step], around: _Around) -> None:
        for step in steps:
            match step:
                case For():
                    self._repeat(step, around)
                case If():
                    self._choose(step, around)
                case Break():
                    self._leave(step, around)
                case Nest():
                    along = vectorized(step)
                    NestPrinter(self._writer, step, around.numbers, along=along).print()

    def _repeat(self, repeat: For, around: _Around) -> None:
        """Write the passes, of which there is one at least."""
        p = self._writer
        bounded = p.ranged and not around.numbers
        start, end = ("%begin", "%end") if bounded else ("0", p.integer(repeat.passes or 0))
        number, before = p.new(), p.block
        p.do(f"br label %again{number}")
        p.label(f"again{number}")
        line, t = p.reserve(), f"%t{number}"
        k = t
        if repeat.backward:
            passes = "%passes" if repeat.passes is None else p.integer(repeat.passes)
            k = p.let(f"sub i64 {p.let(f'sub i64 {passes}, 1')}, {t}")
        within = _Around((*around.numbers, k), t, f"done{number}", repeat.status)
        self._print(repeat.nests, within)
        p.fill(line, f"{t} = phi i64 [ {start}, %{before} ], [ %u{number}, %{p.block} ]")
        p.do(f"%u{number} = add nsw i64 {t}, 1")
        more = p.let(f"icmp slt i64 %u{number}, {end}")
        p.do(f"br i1 {more}, label %again{number}, label %done{number}")
        p.label(f"done{number}")

    def _choose(self, choice: If, around: _Around) -> None:
        """Write both ways."""
        p = self._writer
        number = p.new()
        byte = p.let(f"load i8, ptr %b{choice.buffer}")
        true = p.let(f"icmp ne i8 {byte}, 0")
        p.do(f"br i1 {true}, label %chosen{number}, label %otherwise{number}")
        for name, steps in (("chosen", choice.chosen), ("otherwise", choice.otherwise)):
            p.label(f"{name}{number}")
            self._print(steps, around)
            p.do(f"br label %both{number}")
        p.label(f"both{number}")

    def _leave(self, leave: Break, around: _Around) -> None:
        """Write the end of all passes."""
        p, status = self._writer, around.status
        passes = p.let(f"add i64 {around.turn}, {int(leave.counted)}")
        at = p.let(f"getelementptr i64, ptr %b{status}, i64 1")
        p.do(f"store i64 {FAILED if leave.fails else ENDED}, ptr %b{status}")
        p.do(f"store i64 {passes}, ptr {at}")
        p.do(f"br label %{around.done}")
        p.label(f"behind{p.new()}")


class _Around(NamedTuple):
    """The numbers of passes around, and of the innermost: its turn, its end, and its status."""

    numbers: tuple[str, ...] = ()
    turn: str = ""
    done: str = ""
    status: int | None = None
