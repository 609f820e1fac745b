"""Steps by one block, whose threads wait for each other between nests."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.kernels.form import ENDED, FAILED, Break, For, If, Nest, Step

from gradwire_gpu.nvptx.code import GpuCode
from gradwire_gpu.nvptx.nests import GpuNestPrinter
from gradwire_gpu.nvptx.schedules import is_ordered, scheduled


class SingleBlockPrinter:
    """Writes steps for the threads of one block."""

    def __init__(self, code: GpuCode) -> None:
        self._code = code
        self._thread = code.thread()
        #: How many passes the innermost loop has made.
        self._turn = ""

    def print(
        self, steps: Sequence[Step], around: Sequence[str] = (), inside: For | None = None
    ) -> None:
        """Write them one after the other."""
        for step in steps:
            match step:
                case Nest():
                    self._nest(step, around)
                    self._code.barrier()
                case For():
                    self._repeat(step, around)
                case If():
                    self._choose(step, around, inside)
                case Break():
                    self._leave(step, inside)

    def _nest(self, nest: Nest, around: Sequence[str]) -> None:
        code, thread = self._code, self._thread
        schedule = scheduled(nest, code.threads, alone=True)
        printer = GpuNestPrinter(code, nest, schedule, around)
        if is_ordered(nest):
            with code.when(code.p.let(f"icmp eq i64 {thread}, 0")):
                printer.print("0", "1")
        elif schedule.group == 1:
            printer.print(thread, code.p.integer(code.threads))
        else:
            printer.print_tiles(thread, "0", "1")

    def _repeat(self, repeat: For, around: Sequence[str]) -> None:
        code, p = self._code, self._code.p
        passes = p.integer(repeat.passes or 0)
        with code.loop(code.variable("i64", "0"), passes, "1") as turn:
            k = turn
            if repeat.backward:
                k = p.let(f"sub i64 {p.let(f'sub i64 {passes}, 1')}, {turn}")
            before, self._turn = self._turn, turn
            self.print(repeat.nests, [*around, k], repeat)
            self._turn = before

    def _choose(self, choice: If, around: Sequence[str], inside: For | None) -> None:
        p, number = self._code.p, self._code.p.new()
        byte = p.let(f"load i8, ptr %b{choice.buffer}")
        true = p.let(f"icmp ne i8 {byte}, 0")
        self._code.barrier()  # before it changes
        p.do(f"br i1 {true}, label %chosen{number}, label %otherwise{number}")
        for name, steps in (("chosen", choice.chosen), ("otherwise", choice.otherwise)):
            p.label(f"{name}{number}")
            self.print(steps, around, inside)
            p.do(f"br label %both{number}")
        p.label(f"both{number}")

    def _leave(self, leave: Break, inside: For | None) -> None:
        """Write the end of all passes."""
        assert inside is not None
        p, status = self._code.p, inside.status
        passes = p.let(f"add i64 {self._turn}, {int(leave.counted)}")
        at = p.let(f"getelementptr i64, ptr %b{status}, i64 1")
        with self._code.when(p.let(f"icmp eq i64 {self._thread}, 0")):
            p.do(f"store i64 {FAILED if leave.fails else ENDED}, ptr %b{status}")
            p.do(f"store i64 {passes}, ptr {at}")
        p.do(f"br label %{self._code.exits[-1]}")
        p.label(f"after{p.new()}")
