"""Lines of code for a GPU: loops, variables, threads and what they exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gradwire_engine.backends.llvm.arithmetic import Arithmetic
from gradwire_engine.backends.llvm.functions.forms import DOUBLES, SINGLES
from gradwire_engine.backends.llvm.functions.library import NAMES, has_seldom, symbol, usual_symbol
from gradwire_engine.backends.llvm.halves import Halves
from gradwire_engine.backends.llvm.writer import TYPES, Writer, type_of

from gradwire_gpu.nvptx.schedules import WARP

#: Numbers from which on divisions need 64 bits, which take several times as long.
_LARGE = 1 << 31


class GpuHalves(Halves):
    """Conversions by instructions."""

    has_float16 = True

    def bfloat16(self, x: str, *, wide: bool) -> str:
        """The nearest one of a float."""
        half = self._p.let(f"fptrunc float {x} to bfloat")
        return self._p.let(f"bitcast bfloat {half} to i16")


class GpuArithmetic(Arithmetic):
    """Functions of numbers by our own, since a GPU has no library of C."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self.halves = GpuHalves(writer)
        #: The functions that are called, by their forms.
        self.called: set[tuple[str, str]] = set()
        #: Conditions for values not to be the right ones; None if all values are to be.
        self.seldom: list[str] | None = None

    def has_seldom(self, function: str, char: str) -> bool:
        """True if a function of numbers of a dtype has a usual form, and another one."""
        form = SINGLES if char == "f" else DOUBLES
        return char in "df" and function in NAMES and has_seldom(function, form)

    def _library(self, function: str, operands: list[str], char: str, *, wide: bool) -> str:
        self.called.add((function, char))
        p, kind, form = self._p, TYPES[char], SINGLES if char == "f" else DOUBLES
        given = ", ".join([f"{kind} {x}" for x in operands])
        if self.seldom is None or not self.has_seldom(function, char):
            return p.let(f"call {kind} @{symbol(function, form)}({given})")
        both = f"{{ {kind}, i1 }}"
        found = p.let(f"call {both} @{usual_symbol(function, form)}({given})")
        self.seldom.append(p.let(f"extractvalue {both} {found}, 1"))
        return p.let(f"extractvalue {both} {found}, 0")


class GpuCode:
    """Writes into a ``writer`` what code of a block of ``threads`` needs beside expressions."""

    def __init__(self, writer: Writer, threads: int) -> None:
        self.p, self.threads = writer, threads
        self.arithmetic = GpuArithmetic(writer)
        #: Lines at the beginning: variables are in registers if they are made there.
        self.entry: list[str] = []
        #: The dtypes that threads of a block exchange by memory.
        self.shared: set[str] = set()
        #: Where the loops end that are being written.
        self.exits: list[str] = []

    def variable(self, kind: str, first: str) -> str:
        """A variable that begins with a value."""
        name = f"%a{self.p.new()}"
        self.entry.append(f"  {name} = alloca {'i8' if kind == 'i1' else kind}")
        self.set(name, kind, first)
        return name

    def set(self, variable: str, kind: str, value: str) -> None:
        """Give a variable a value."""
        if kind == "i1":
            kind, value = "i8", self.p.let(f"zext i1 {value} to i8")
        self.p.do(f"store {kind} {value}, ptr {variable}")

    def get(self, variable: str, kind: str) -> str:
        """The value of a variable."""
        if kind == "i1":
            return self.p.let(f"icmp ne i8 {self.get(variable, 'i8')}, 0")
        return self.p.let(f"load {kind}, ptr {variable}")

    @contextmanager
    def loop(self, at: str, end: str, step: str) -> Iterator[str]:
        """A loop of the number that a variable has, to before ``end``; there may be no pass."""
        p, number = self.p, self.p.new()
        p.do(f"br label %head{number}")
        p.label(f"head{number}")
        i = self.get(at, "i64")
        p.do(f"br i1 {p.let(f'icmp slt i64 {i}, {end}')}, label %body{number}, label %exit{number}")
        p.label(f"body{number}")
        self.exits.append(f"exit{number}")
        yield i
        self.exits.pop()
        self.set(at, "i64", p.let(f"add nsw i64 {i}, {step}"))
        p.do(f"br label %head{number}")
        p.label(f"exit{number}")

    def loop_of_two_bodies(
        self,
        bounds: tuple[str, str, str, str],
        first: Callable[[str, str], None],
        second: Callable[[str], None],
    ) -> None:
        """A loop of the number that a variable has, to before an end, by a step.

        Up to before ``last`` passes have the first body, which may go on at the second, a block
        that it is given; others have the second. Each pass ends for all threads before the next.
        """
        at, last, end, step = bounds
        p, name = self.p, f"pass{self.p.new()}"
        p.do(f"br label %{name}")
        p.label(name)
        i = self.get(at, "i64")
        p.do(f"br i1 {p.let(f'icmp slt i64 {i}, {last}')}, label %{name}.1, label %{name}.rest")
        p.label(f"{name}.rest")
        p.do(f"br i1 {p.let(f'icmp slt i64 {i}, {end}')}, label %{name}.2, label %{name}.end")
        p.label(f"{name}.1")
        first(i, f"{name}.2")
        p.do(f"br label %{name}.next")
        p.label(f"{name}.2")
        second(i)
        p.do(f"br label %{name}.next")
        p.label(f"{name}.next")
        self.set(at, "i64", p.let(f"add nsw i64 {i}, {step}"))
        p.do(f"br label %{name}")
        p.label(f"{name}.end")

    def go_if_any(self, conditions: Sequence[str], block: str) -> None:
        """Go on at another block where some of these conditions hold."""
        p, number = self.p, self.p.new()
        either = conditions[0]
        for other in conditions[1:]:
            either = p.let(f"or i1 {either}, {other}")
        p.do(f"br i1 {either}, label %{block}, label %usual{number}")
        p.label(f"usual{number}")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """The code inside runs only where a condition holds."""
        p, number = self.p, self.p.new()
        p.do(f"br i1 {condition}, label %then{number}, label %behind{number}")
        p.label(f"then{number}")
        yield
        p.do(f"br label %behind{number}")
        p.label(f"behind{number}")

    def divided(self, n: str, by: int, below: int) -> tuple[str, str]:
        """The quotient and the rest of a number that is less than ``below``."""
        p = self.p
        divisor = p.integer(by)
        if below >= _LARGE:
            return p.let(f"udiv i64 {n}, {divisor}"), p.let(f"urem i64 {n}, {divisor}")
        short, other = (p.let(f"trunc i64 {x} to i32") if x[0] == "%" else x for x in (n, divisor))
        found = [p.let(f"{each} i32 {short}, {other}") for each in ("udiv", "urem")]
        quotient, rest = (p.let(f"zext i32 {x} to i64") for x in found)
        return quotient, rest

    # Threads

    def thread(self) -> str:
        """The number of the thread in its block."""
        return self._register("tid.x")

    def block(self) -> str:
        """The number of the block."""
        return self._register("ctaid.x")

    def _register(self, name: str) -> str:
        p = self.p
        p.declare(f"i32 @llvm.nvvm.read.ptx.sreg.{name}()")
        return p.let(f"zext i32 {p.let(f'call i32 @llvm.nvvm.read.ptx.sreg.{name}()')} to i64")

    def barrier(self) -> None:
        """Wait for all threads of the block."""
        self.p.declare("void @llvm.nvvm.barrier0()")
        self.p.do("call void @llvm.nvvm.barrier0()")

    def from_neighbour(self, value: str, char: str, distance: int) -> str:
        """The value of the thread so much further in the warp."""
        p = self.p
        name = "@llvm.nvvm.shfl.sync.down.i32"
        p.declare(f"i32 {name}(i32, i32, i32, i32)")

        def moved(x: str) -> str:
            return p.let(f"call i32 {name}(i32 -1, i32 {x}, i32 {distance}, i32 {WARP - 1})")

        if char == "f":
            bits = moved(p.let(f"bitcast float {value} to i32"))
            return p.let(f"bitcast i32 {bits} to float")
        bits = p.let(f"bitcast double {value} to i64")
        low = moved(p.let(f"trunc i64 {bits} to i32"))
        high = moved(p.let(f"trunc i64 {p.let(f'lshr i64 {bits}, 32')} to i32"))
        low, high = (p.let(f"zext i32 {x} to i64") for x in (low, high))
        both = p.let(f"or i64 {p.let(f'shl i64 {high}, 32')}, {low}")
        return p.let(f"bitcast i64 {both} to double")

    def shared_at(self, char: str, place: str) -> str:
        """The address of an element of the block's own memory, one for each thread."""
        self.shared.add(char)
        return self.p.let(
            f"getelementptr {TYPES[char]}, ptr addrspace(3) @shared_{char}, i64 {place}"
        )

    def memory(self) -> str:
        """The block's own memory."""
        return "".join(
            f"@shared_{char} = internal addrspace(3) global"
            f" [{self.threads} x {type_of(char, wide=False)}] undef\n"
            for char in sorted(self.shared)
        )
