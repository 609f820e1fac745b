"""From a kernel to LLVM's intermediate representation, as text.

One loop of each nest is vectorised: it goes on by ``LANES`` elements, the last time by so many that
end with the last, some of them for a second time. Nothing of a program is in the text but numbers
of slots and small integers: lengths, offsets and numbers are arguments.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from math import inf

from gradwire_engine.backends.llvm import functions
from gradwire_engine.kernels.form import (
    LEAST_ARGUMENT,
    Affine,
    Apply,
    Kernel,
    Literal,
    Load,
    Nest,
    Number,
    Reduce,
    Store,
    Value,
    Within,
)

#: Terms from which on sums remember what rounding loses: NumPy adds up by pairs.
_MANY_TERMS = 512
#: Elements of a vector: two registers with AVX2, one with AVX-512.
LANES = functions.LANES
#: LLVM's types of elements in registers and in memory.
TYPES = {"d": "double", "f": "float", "l": "i64", "?": "i1"}
MEMORY = {**TYPES, "?": "i8"}
_ARITHMETIC = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div"}
_COMPARED = {
    "equal": ("oeq", "eq"),
    "not_equal": ("une", "ne"),
    "less": ("olt", "slt"),
    "less_equal": ("ole", "sle"),
    "greater": ("ogt", "sgt"),
    "greater_equal": ("oge", "sge"),
}
_NEUTRAL = {"sum": 0.0, "finite": 0.0, "max": -inf, "min": inf}
#: Functions that processors have.
_INTRINSIC = {
    "sqrt": "sqrt",
    "fabs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "round": "rint",
    "copysign": "copysign",
}


def constant(value: float, char: str) -> str:
    """A number of a dtype."""
    if char == "?":
        return "true" if value else "false"
    if char == "l":
        return str(int(value))
    if char == "f":  # written as the double that it is
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Printer:
    """Writes the function ``name`` that computes a kernel.

    It takes an array of pointers: to the buffers, to the integers, of which the first two bound the
    outermost loop of the only nest, and to the numbers.
    """

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel = kernel
        self._name = name
        self._lines: list[str] = []
        self._declared: set[str] = set()
        self._count = 0
        self._block = "entry"
        self._integers = {n: number + 2 for n, number in kernel.integers().items()}
        self.ranged = len(kernel.nests) == 1 and bool(kernel.nests[0].lengths)

    def text(self) -> str:
        """The whole text."""
        kernel = self.kernel
        tables = len(kernel.buffers)
        for number in range(tables + 2):
            self._write(f"%p{number} = getelementptr ptr, ptr %pointers, i64 {number}")
            self._write(f"%b{number} = load ptr, ptr %p{number}")
        if self.ranged:
            self._write(f"%begin = load i64, ptr %b{tables}")
            self._write(f"%behind = getelementptr i64, ptr %b{tables}, i64 1")
            self._write("%end = load i64, ptr %behind")
        for number in self._integers.values():
            self._write(f"%g{number} = getelementptr i64, ptr %b{tables}, i64 {number}")
            self._write(f"%n{number} = load i64, ptr %g{number}")
        for number in range(len(kernel.numbers)):
            self._write(f"%q{number} = getelementptr double, ptr %b{tables + 1}, i64 {number}")
            self._write(f"%x{number} = load double, ptr %q{number}")
        for nest in kernel.nests:
            _NestPrinter(self, nest).print()
        body = "\n".join(self._lines)
        declared = "\n".join(sorted(self._declared))
        return (
            f"{declared}\ndefine void @{self._name}(ptr noalias %pointers) {{\nentry:\n{body}\n"
            "  ret void\n}\n"
        )

    # What nests write with

    def _write(self, line: str) -> None:
        self._lines.append("  " + line)

    def new(self) -> int:
        """A number for names."""
        self._count += 1
        return self._count

    def let(self, code: str) -> str:
        """A name for the value of an instruction."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {code}")
        return name

    do = _write

    def reserve(self) -> int:
        """A line to be filled."""
        self._lines.append("")
        return len(self._lines) - 1

    def fill(self, line: int, code: str) -> None:
        """Write a reserved line."""
        self._lines[line] = "  " + code

    def label(self, block: str) -> None:
        """Begin a block."""
        self._lines.append(f"{block}:")
        self._block = block

    @property
    def block(self) -> str:
        """The block that is being written."""
        return self._block

    def declare(self, declaration: str) -> None:
        """A function that is called."""
        self._declared.add(f"declare {declaration}")

    def integer(self, value: int) -> str:
        """An integer: an argument, if it is not small."""
        return f"%n{self._integers[value]}" if abs(value) >= LEAST_ARGUMENT else str(value)


class _NestPrinter:
    """Writes one nest."""

    def __init__(self, printer: Printer, nest: Nest) -> None:
        self._p, self._nest = printer, nest
        self._loops = len(nest.lengths)
        self._along = _vectorized(nest)
        self._levels: list[int] = []
        self._vector: list[bool] = []
        #: The values that are read as vectors though they are the same in all lanes.
        self._repeated: set[Value] = set()
        self._analyse()
        self._values: list[str] = [""] * len(nest.nodes)
        self._splats: dict[Value, str] = {}
        self._at: list[str] = []
        self._mask: str | None = None
        self._accumulated: dict[int, str] = {}
        self._by_level: list[list[Value]] = [[] for _ in range(self._loops + 1)]
        for value, level in enumerate(self._levels):
            self._by_level[level].append(value)
        self._places: list[dict[tuple[int, ...], str]] = []

    def _analyse(self) -> None:
        """The level of each node, that is of the innermost loop it needs, and which are vectors."""
        along = self._along
        for node in self._nest.nodes:
            args: tuple[Value, ...] = ()
            level, vector = 0, False
            match node:
                case Load(_, at, guard, _):
                    args = () if guard is None else (guard,)
                    level, vector = _level(at), along is not None and bool(at.coefficients[along])
                case Within(at):
                    level = _level(at)
                    vector = along is not None and bool(at.coefficients[along])
                case Apply(_, operands, _):
                    args = operands
            self._levels.append(max([level, *[self._levels[a] for a in args]]))
            self._vector.append(vector or any(self._vector[a] for a in args))
        if along is not None:
            read = {root.value for root in self._nest.roots}
            for value, node in enumerate(self._nest.nodes):
                if self._vector[value]:
                    if isinstance(node, Apply):
                        read.update(node.args)
                    elif isinstance(node, Load) and node.guard is not None:
                        read.add(node.guard)
            plain = [isinstance(node, Literal) for node in self._nest.nodes]
            self._repeated = {v for v in read if not (self._vector[v] or plain[v])}

    def print(self) -> None:
        """Write it."""
        self._enter(0)

    # Loops

    def _enter(self, level: int) -> None:
        """Write what is within ``level`` loops."""
        p, nest = self._p, self._nest
        self._places.append({})
        for value in self._by_level[level]:
            self._values[value] = self._computed(value)
            if value in self._repeated:
                self._splats[value] = self._splat(self._values[value], self._nest.nodes[value].char)
        if level == self._loops:
            self._finish_pass()
            self._places.pop()
            return
        reduces = level == nest.kept
        for number, root in enumerate(nest.roots):
            if isinstance(root, Reduce):
                everywhere = root.kind == "finite"
                if (everywhere and level == 0) or (reduces and not everywhere):
                    self._accumulated[number] = self._neutral(root, level)
                    if self._is_compensated(root):
                        self._accumulated[~number] = self._neutral(root, level)
        carried = [*self._accumulated]
        length = p.integer(nest.lengths[level])
        start, end = ("%begin", "%end") if p.ranged and level == 0 else ("0", length)
        number, before = p.new(), p.block
        p.do(f"br label %head{number}")
        p.label(f"head{number}")
        i, step = f"%i{number}", 1
        p.do(f"{i} = phi i64 [ {start}, %{before} ], [ %j{number}, %latch{number} ]")
        phis: dict[int, tuple[int, str]] = {}
        for key in carried:
            name = f"%a{number}.{key}" if key >= 0 else f"%c{number}.{~key}"
            kind, first = self._accumulator_type(key), self._accumulated[key]
            begun = f"{name} = phi {kind} [ {first}, %{before} ]"
            phis[key] = p.reserve(), begun
            self._accumulated[key] = name
        if level == self._along:
            step = LANES
            self._at.append(self._overlapping(i, nest.lengths[level], length))
        else:
            self._at.append(i)
        self._enter(level + 1)
        self._at.pop()
        p.do(f"br label %latch{number}")
        p.label(f"latch{number}")
        for key, (line, begun) in phis.items():
            p.fill(line, f"{begun}, [ {self._accumulated[key]}, %latch{number} ]")
        p.do(f"%j{number} = add nsw i64 {i}, {step}")
        again = p.let(f"icmp slt i64 %j{number}, {end}")
        p.do(f"br i1 {again}, label %head{number}, label %exit{number}")
        p.label(f"exit{number}")
        if level == self._along:
            self._mask = None
        for key in carried:
            root = nest.roots[max(key, ~key)]
            assert isinstance(root, Reduce)
            if level == (0 if root.kind == "finite" else nest.kept):
                reduced = self._accumulated.pop(key)
                if key >= 0:
                    self._finish_reduction(root, reduced, level)
        self._places.pop()

    def _overlapping(self, i: str, length: int, n: str) -> str:
        """Where a vector begins: the last one ends with the last element."""
        p = self._p
        if length % LANES == 0:
            self._mask = None
            return i
        last = p.let(f"sub i64 {n}, {LANES}")
        beyond = p.let(f"icmp sgt i64 {i}, {last}")
        base = p.let(f"select i1 {beyond}, i64 {last}, i64 {i}")
        if any(isinstance(root, Reduce) for root in self._nest.roots):
            done = self._splat(p.let(f"sub i64 {i}, {base}"), "l")
            self._mask = p.let(f"icmp sge {_of('l', True)} {_lanes(1)}, {done}")
        return base

    # Roots

    def _finish_pass(self) -> None:
        """Store, and bring in what is reduced."""
        p = self._p
        for number, root in enumerate(self._nest.roots):
            char = self._nest.nodes[root.value].char
            wide = self._along is not None
            value = self._wide(root.value) if wide else self._values[root.value]
            if isinstance(root, Store):
                self._store(root.buffer, root.at, value, char)
                continue
            kind = _of(char, wide)
            old = self._accumulated[number]
            if root.kind == "finite":
                value = p.let(f"fmul {kind} {value}, {self._constant(0.0, char, wide=wide)}")
            if self._is_compensated(root):
                new = self._compensated(number, old, value, kind)
            elif root.kind in ("sum", "finite"):
                new = p.let(f"fadd {kind} {old}, {value}")
            else:
                new = self._extreme(root.kind, old, value, kind)
            if self._mask is not None and self._counts_twice(root):
                new = p.let(f"select {_of('?', True)} {self._mask}, {kind} {new}, {kind} {old}")
            self._accumulated[number] = new

    def _is_compensated(self, root: Reduce) -> bool:
        """Whether rounding would add up: of many terms."""
        terms = math.prod(self._nest.lengths[self._nest.kept :])
        return root.kind == "sum" and terms >= _MANY_TERMS

    def _compensated(self, number: int, old: str, value: str, kind: str) -> str:
        """Add, and remember what rounding lost.

        Source: Kahan, Further Remarks on Reducing Truncation Errors (1965).
        """
        p, lost = self._p, self._accumulated[~number]
        term = p.let(f"fsub {kind} {value}, {lost}")
        new = p.let(f"fadd {kind} {old}, {term}")
        rest = p.let(f"fsub {kind} {p.let(f'fsub {kind} {new}, {old}')}, {term}")
        if self._mask is not None and self._along is not None and self._along >= self._nest.kept:
            rest = p.let(f"select {_of('?', True)} {self._mask}, {kind} {rest}, {kind} {lost}")
        self._accumulated[~number] = rest
        return new

    def _counts_twice(self, root: Reduce) -> bool:
        """Whether what vectors compute again would be added up again."""
        assert self._along is not None
        return root.kind == "finite" or (root.kind == "sum" and self._along >= self._nest.kept)

    def _extreme(self, kind: str, old: str, value: str, of: str) -> str:
        """The larger or smaller of two, NaN if one is."""
        p = self._p
        truth = f"<{LANES} x i1>" if of.startswith("<") else "i1"
        wins = p.let(f"fcmp {'ogt' if kind == 'max' else 'olt'} {of} {value}, {old}")
        is_nan = p.let(f"fcmp uno {of} {value}, {value}")
        either = p.let(f"or {truth} {wins}, {is_nan}")
        return p.let(f"select {truth} {either}, {of} {value}, {of} {old}")

    def _char(self, number: int) -> str:
        return self._nest.nodes[self._nest.roots[max(number, ~number)].value].char

    def _accumulator_type(self, number: int) -> str:
        return _of(self._char(number), self._along is not None)

    def _neutral(self, root: Reduce, level: int) -> str:
        char = self._nest.nodes[root.value].char
        return self._constant(_NEUTRAL[root.kind], char, wide=self._along is not None)

    def _finish_reduction(self, root: Reduce, value: str, level: int) -> None:
        """Store what was reduced, together with what passes before ``begin`` gave."""
        p, char = self._p, self._nest.nodes[root.value].char
        if self._along is not None and self._along >= level:
            value = self._across(root.kind, value, char)
        if root.kind == "finite":
            old = p.let(f"load double, ptr %b{root.buffer}")
            if char == "f":
                value = p.let(f"fpext float {value} to double")
            value = p.let(f"fadd double {old}, {value}")
            p.do(f"store double {value}, ptr %b{root.buffer}")
            return
        if p.ranged and level == 0:
            first = p.let("icmp eq i64 %begin, 0")
            place = p.integer(root.at.offset)
            at = p.let(f"getelementptr {TYPES[char]}, ptr %b{root.buffer}, i64 {place}")
            old = p.let(f"load {TYPES[char]}, ptr {at}")
            neutral = constant(_NEUTRAL[root.kind], char)
            old = p.let(f"select i1 {first}, {TYPES[char]} {neutral}, {TYPES[char]} {old}")
            value = self._combined(root.kind, old, value, TYPES[char])
        self._store(root.buffer, root.at, value, char)

    def _combined(self, kind: str, x: str, y: str, of: str) -> str:
        if kind == "sum":
            return self._p.let(f"fadd {of} {x}, {y}")
        return self._extreme(kind, x, y, of)

    def _across(self, kind: str, value: str, char: str) -> str:
        """The lanes of a vector put together."""
        p, of, vector = self._p, TYPES[char], _of(char, True)
        if kind in ("sum", "finite"):
            name = f"llvm.vector.reduce.fadd.v{LANES}f{64 if char == 'd' else 32}"
            p.declare(f"{of} @{name}({of}, {vector})")
            zero = constant(-0.0, char)
            return p.let(f"call reassoc {of} @{name}({of} {zero}, {vector} {value})")
        lanes = [p.let(f"extractelement {vector} {value}, i32 {k}") for k in range(LANES)]
        while len(lanes) > 1:
            pairs = zip(lanes[::2], lanes[1::2], strict=True)
            lanes = [self._extreme(kind, x, y, of) for x, y in pairs]
        return lanes[0]

    # Nodes

    def _computed(self, value: Value) -> str:
        node = self._nest.nodes[value]
        match node:
            case Number(argument, char):
                name = f"%x{argument}"
                return name if char == "d" else self._p.let(f"fptrunc double {name} to float")
            case Literal(number, char):
                return constant(number, char)
            case Load():
                return self._load(node, wide=self._vector[value])
            case Within():
                return self._within(node, wide=self._vector[value])
            case Apply(function, args, char):
                wide = self._vector[value]
                chars = [self._nest.nodes[a].char for a in args]
                operands = [self._wide(a) if wide else self._values[a] for a in args]
                return self._applied(function, operands, chars, char, wide=wide)
        raise AssertionError(node)

    def _wide(self, value: Value) -> str:
        """A value as a vector."""
        if self._vector[value]:
            return self._values[value]
        node = self._nest.nodes[value]
        if isinstance(node, Literal):
            return self._constant(node.value, node.char, wide=True)
        return self._splats[value]

    def _splat(self, value: str, char: str) -> str:
        p, vector = self._p, _of(char, True)
        first = p.let(f"insertelement {vector} poison, {TYPES[char]} {value}, i32 0")
        return p.let(
            f"shufflevector {vector} {first}, {vector} poison, <{LANES} x i32> zeroinitializer"
        )

    def _constant(self, number: float, char: str, *, wide: bool) -> str:
        each = constant(number, char)
        return f"<{', '.join([f'{TYPES[char]} {each}'] * LANES)}>" if wide else each

    def _applied(
        self, function: str, operands: list[str], chars: list[str], char: str, *, wide: bool
    ) -> str:
        p, kind = self._p, _of(chars[0], wide)
        listed = ", ".join(operands)
        floating = chars[0] in "df"
        if function in _ARITHMETIC:
            return p.let(f"{'f' if floating else ''}{_ARITHMETIC[function]} {kind} {listed}")
        if function in _COMPARED:
            by = _COMPARED[function][not floating]
            if chars[0] == "?" and function not in ("equal", "not_equal"):
                by = by.replace("s", "u", 1)
            return p.let(f"{'fcmp' if floating else 'icmp'} {by} {kind} {listed}")
        if function == "negative":
            return p.let(
                f"fneg {kind} {listed}" if floating else f"sub {kind} {_zero(wide)}, {listed}"
            )
        if function == "where":
            condition, x, y = operands
            of = _of(char, wide)
            return p.let(f"select {kind} {condition}, {of} {x}, {of} {y}")
        if function in ("and", "or"):
            return p.let(f"{function} {kind} {listed}")
        if function == "not":
            return p.let(f"xor {kind} {operands[0]}, {self._constant(1, '?', wide=wide)}")
        if function == "convert":
            return self._converted(operands[0], chars[0], char, wide=wide)
        if function in ("isnan", "isinf", "isfinite"):
            return self._tested(function, operands[0], chars[0], wide=wide)
        return self._called(function, operands, char, wide=wide)

    def _converted(self, x: str, source: str, char: str, *, wide: bool) -> str:
        by = {
            ("f", "d"): "fpext",
            ("d", "f"): "fptrunc",
            ("l", "d"): "sitofp",
            ("l", "f"): "sitofp",
            ("?", "d"): "uitofp",
            ("?", "f"): "uitofp",
            ("?", "l"): "zext",
        }[source, char]
        return self._p.let(f"{by} {_of(source, wide)} {x} to {_of(char, wide)}")

    def _tested(self, function: str, x: str, char: str, *, wide: bool) -> str:
        p, kind = self._p, _of(char, wide)
        if function == "isnan":
            return p.let(f"fcmp uno {kind} {x}, {x}")
        size = self._called("fabs", [x], char, wide=wide)
        infinite = self._constant(inf, char, wide=wide)
        return p.let(f"fcmp {'oeq' if function == 'isinf' else 'olt'} {kind} {size}, {infinite}")

    def _called(self, function: str, operands: list[str], char: str, *, wide: bool) -> str:
        p, kind = self._p, _of(char, wide)
        if function in _INTRINSIC:
            width = f"v{LANES}" if wide else ""
            name = f"llvm.{_INTRINSIC[function]}.{width}f{64 if char == 'd' else 32}"
            return self._call(name, operands, kind)
        if char == "f":
            double = _of("d", wide)
            operands = [p.let(f"fpext {kind} {x} to {double}") for x in operands]
            z = self._called(function, operands, "d", wide=wide)
            return p.let(f"fptrunc {double} {z} to {kind}")
        return self._call(functions.symbol(function, wide=wide), operands, kind)

    def _call(self, name: str, operands: Iterable[str], kind: str) -> str:
        given = [f"{kind} {x}" for x in operands]
        self._p.declare(f"{kind} @{name}({', '.join([kind] * len(given))})")
        return self._p.let(f"call {kind} @{name}({', '.join(given)})")

    # Memory

    def _place(self, index: Affine) -> str:
        """The number that an index is, in the vectorised loop that of the first lane."""
        p = self._p
        for known in self._places:
            if index.coefficients in known:
                total = known[index.coefficients]
                break
        else:
            total = ""
            for loop, c in enumerate(index.coefficients):
                if not c:
                    continue
                i = self._at[loop]
                term = i if c == 1 else p.let(f"mul i64 {i}, {p.integer(c)}")
                total = term if not total else p.let(f"add i64 {total}, {term}")
            self._places[-1][index.coefficients] = total
        if not total:
            return p.integer(index.offset)
        if not index.offset:
            return total
        return p.let(f"add i64 {total}, {p.integer(index.offset)}")

    def _within(self, node: Within, *, wide: bool) -> str:
        """One comparison without sign tells both."""
        p = self._p
        low = p.let(f"sub i64 {self._place(node.at)}, {p.integer(node.low)}")
        span = p.let(f"sub i64 {p.integer(node.high)}, {p.integer(node.low)}")
        if not wide:
            return p.let(f"icmp ult i64 {low}, {span}")
        assert self._along is not None
        kind = _of("l", True)
        lanes = self._steps(node.at.coefficients[self._along])
        each = p.let(f"add {kind} {self._splat(low, 'l')}, {lanes}")
        return p.let(f"icmp ult {kind} {each}, {self._splat(span, 'l')}")

    def _steps(self, by: int) -> str:
        """``by`` times the number of each lane."""
        if abs(by) < LEAST_ARGUMENT:
            return _lanes(by)
        kind, factor = _of("l", True), self._splat(self._p.integer(by), "l")
        return self._p.let(f"mul {kind} {_lanes(1)}, {factor}")

    def _load(self, node: Load, *, wide: bool) -> str:
        p, char = self._p, node.char
        memory = MEMORY[char]
        guard = None if node.guard is None else self._values[node.guard]
        place = self._place(node.at)
        if not wide:
            if guard is not None:
                place = p.let(f"select i1 {guard}, i64 {place}, i64 0")
            at = p.let(f"getelementptr {memory}, ptr %b{node.buffer}, i64 {place}")
            return self._from_memory(p.let(f"load {memory}, ptr {at}"), char, wide=False)
        assert self._along is not None
        step = node.at.coefficients[self._along]
        if node.guard is not None:
            guard = self._wide(node.guard)
        vector = f"<{LANES} x {memory}>"
        if step not in (1, -1):
            x = self._gathered(node.buffer, place, step, guard, memory)
            return self._from_memory(x, char, wide=True)
        if step == -1:
            place = p.let(f"sub i64 {place}, {LANES - 1}")
        at = p.let(f"getelementptr {memory}, ptr %b{node.buffer}, i64 {place}")
        bits = {"double": "f64", "float": "f32", "i64": "i64", "i8": "i8"}[memory]
        size = {"double": 8, "float": 4, "i64": 8, "i8": 1}[memory]
        if guard is None:
            x = p.let(f"load {vector}, ptr {at}, align {size}")
        else:
            truth = _of("?", True)
            if step == -1:
                guard = self._reversed(guard, truth)
            name = f"llvm.masked.load.v{LANES}{bits}.p0"
            p.declare(f"{vector} @{name}(ptr, i32, {truth}, {vector})")
            x = p.let(
                f"call {vector} @{name}(ptr {at}, i32 {size}, {truth} {guard}, "
                f"{vector} zeroinitializer)"
            )
        if step == -1:
            x = self._reversed(x, vector)
        return self._from_memory(x, char, wide=True)

    def _gathered(self, buffer: int, place: str, step: int, guard: str | None, memory: str) -> str:
        p, vector, truth = self._p, f"<{LANES} x {memory}>", _of("?", True)
        each = p.let(f"add {_of('l', True)} {self._splat(place, 'l')}, {self._steps(step)}")
        at = p.let(f"getelementptr {memory}, ptr %b{buffer}, {_of('l', True)} {each}")
        bits = {"double": "f64", "float": "f32", "i64": "i64", "i8": "i8"}[memory]
        size = {"double": 8, "float": 4, "i64": 8, "i8": 1}[memory]
        name = f"llvm.masked.gather.v{LANES}{bits}.v{LANES}p0"
        p.declare(f"{vector} @{name}(<{LANES} x ptr>, i32, {truth}, {vector})")
        held = guard or self._constant(1, "?", wide=True)
        return p.let(
            f"call {vector} @{name}(<{LANES} x ptr> {at}, i32 {size}, {truth} {held}, "
            f"{vector} zeroinitializer)"
        )

    def _reversed(self, x: str, vector: str) -> str:
        order = ", ".join([f"i32 {k}" for k in reversed(range(LANES))])
        return self._p.let(
            f"shufflevector {vector} {x}, {vector} poison, <{LANES} x i32> <{order}>"
        )

    def _from_memory(self, x: str, char: str, *, wide: bool) -> str:
        if char != "?":
            return x
        kind = f"<{LANES} x i8>" if wide else "i8"
        return self._p.let(f"icmp ne {kind} {x}, {_zero(wide)}")

    def _store(self, buffer: int, index: Affine, value: str, char: str) -> None:
        p, memory = self._p, MEMORY[char]
        along = self._along
        step = 0 if along is None or len(self._at) <= along else index.coefficients[along]
        wide = bool(step)
        if char == "?":
            value = p.let(f"zext {_of('?', wide)} {value} to {f'<{LANES} x i8>' if wide else 'i8'}")
        place = self._place(index)
        at = p.let(f"getelementptr {memory}, ptr %b{buffer}, i64 {place}")
        if not wide:
            p.do(f"store {memory} {value}, ptr {at}")
            return
        size = {"double": 8, "float": 4, "i64": 8, "i8": 1}[memory]
        vector = f"<{LANES} x {memory}>"
        if step == 1:
            p.do(f"store {vector} {value}, ptr {at}, align {size}")
            return
        for lane in range(LANES):
            x = p.let(f"extractelement {vector} {value}, i32 {lane}")
            off = p.let(f"mul i64 {p.integer(step)}, {lane}")
            each = p.let(f"getelementptr {memory}, ptr {at}, i64 {off}")
            p.do(f"store {memory} {x}, ptr {each}")


def _vectorized(nest: Nest) -> int | None:
    """The loop along which the most accesses are to neighbours, if there is one long enough."""
    affine = [*[node.at for node in nest.nodes if isinstance(node, Load)]]
    affine += [root.at for root in nest.roots if isinstance(root, Store)]

    def cost(loop: int) -> tuple[int, int]:
        steps = [at.coefficients[loop] for at in affine]
        return sum([0 if step in (0, 1) else 1 if step == -1 else LANES for step in steps]), -loop

    long = [loop for loop, n in enumerate(nest.lengths) if n >= LANES]
    return min(long, key=cost) if long else None


def _level(index: Affine) -> int:
    """How many loops are around what needs an index."""
    return max([loop + 1 for loop, c in enumerate(index.coefficients) if c], default=0)


def _of(char: str, wide: bool) -> str:
    """The type of a number, or of a vector of them."""
    return f"<{LANES} x {TYPES[char]}>" if wide else TYPES[char]


def _lanes(by: int) -> str:
    """``by`` times the number of each lane, as a constant."""
    return f"<{', '.join([f'i64 {lane * by}' for lane in range(LANES)])}>"


def _zero(wide: bool) -> str:
    return "zeroinitializer" if wide else "0"


#: What writes a kernel as text.
Print = Callable[[Kernel, str], str]
