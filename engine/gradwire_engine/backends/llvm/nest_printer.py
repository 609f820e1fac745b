"""From a nest to LLVM's intermediate representation.

One loop of it is vectorised: it goes on by ``LANES`` elements, the last time by so many that end
with the last, some of them for a second time.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from gradwire_engine.backends.llvm.elements import ElementPrinter
from gradwire_engine.backends.llvm.writer import (
    LANES,
    TYPES,
    constant,
    lanes,
    type_of,
)
from gradwire_engine.kernels.form import (
    EVERYWHERE,
    Add,
    Load,
    Reduce,
    Store,
)

#: So many terms are added up before what rounding loses is looked at: NumPy adds up by pairs.
_TERMS = 64
_NEUTRAL = {"sum": 0.0, "finite": 0.0, "max": -inf, "min": inf, "all": 1.0}


class Part(NamedTuple):
    """Of what a output's values are put together in."""

    output: int
    #: ``new`` since they were last brought in, all ``before`` that, and what rounding ``lost``.
    of: str = "new"


class NestPrinter(ElementPrinter):
    """Writes one nest: its loops, and what they store and reduce."""

    def print(self) -> None:
        """Write it."""
        self._accumulated: dict[Part, str] = {}
        self._enter(0)

    @property
    def _bounded(self) -> int:
        """The number of its loops, from the outermost on, that go from ``begin`` to ``end``."""
        return self._p.bounded if self._p.ranged and not self._nest.outer else 0

    # Loops

    def _enter(self, level: int) -> None:
        """Write what is within ``level`` loops."""
        p, nest = self._p, self._nest
        self._places.append({})
        for value in self._by_level[level]:
            self._values[value] = self._computed(value)
            if value in self._repeated:
                self._splats[value] = self._splat(self._values[value], self._nest.nodes[value].char)
        for number, output in enumerate(nest.outputs):
            if isinstance(output, Reduce) and level == self._begins(output):
                neutral, parts = self._neutral(output, level), ["new"]
                if self._rejoined(output) is not None:
                    parts += ["before", "lost"]
                self._accumulated.update({Part(number, of): neutral for of in parts})
        if level == self._loops:
            self._finish_pass()
            if not level:
                self._finish_reductions(level)
            self._places.pop()
            return
        carried = [*self._accumulated]
        length = p.integer(nest.lengths[level])
        start, end = _bounds(level) if level < self._bounded else ("0", length)
        number, before = p.new(), p.block
        p.do(f"br label %head{number}")
        p.label(f"head{number}")
        i, step = f"%i{number}", 1
        p.do(f"{i} = phi i64 [ {start}, %{before} ], [ %j{number}, %latch{number} ]")
        phis: dict[Part, tuple[int, str]] = {}
        for key in carried:
            name = f"%{key.of}{number}.{key.output}"
            kind, first = self._accumulator_type(key), self._accumulated[key]
            begun = f"{name} = phi {kind} [ {first}, %{before} ]"
            phis[key] = p.reserve(), begun
            self._accumulated[key] = name
        carries: list[tuple[int, str]] = []
        if level == nest.kept and nest.carries:
            self._carried = [f"%d{number}.{k}" for k in range(len(nest.carries))]
            for name, carry in zip(self._carried, nest.carries, strict=True):
                wide = self._along is not None
                first = self._constant(carry.first, carry.char, wide=wide)
                begun = f"{name} = phi {type_of(carry.char, wide=wide)} [ {first}, %{before} ]"
                carries.append((p.reserve(), begun))
        if level == self._along:
            step = LANES
            self._at.append(self._overlapping(i, nest.lengths[level], length))
        else:
            self._at.append(i)
        self._enter(level + 1)
        self._at.pop()
        p.do(f"%j{number} = add nsw i64 {i}, {step}")
        self._rejoin(level, number, step)
        for key, (line, begun) in phis.items():
            p.fill(line, f"{begun}, [ {self._accumulated[key]}, %latch{number} ]")
        for (line, begun), carry in zip(carries, nest.carries, strict=False):
            wide = self._along is not None
            given = self._wide(carry.value) if wide else self._values[carry.value]
            p.fill(line, f"{begun}, [ {given}, %latch{number} ]")
        again = p.let(f"icmp slt i64 %j{number}, {end}")
        p.do(f"br i1 {again}, label %head{number}, label %exit{number}")
        p.label(f"exit{number}")
        if level == self._along:
            self._mask = None
        self._finish_reductions(level)
        self._places.pop()

    def _begins(self, output: Reduce) -> int:
        """The number of loops around the range of a reduction."""
        return 0 if output.kind in EVERYWHERE else self._nest.kept

    def _finish_reductions(self, level: int) -> None:
        """Those that begin within so many loops."""
        for key in [*self._accumulated]:
            output = self._nest.outputs[key.output]
            assert isinstance(output, Reduce)
            if level == self._begins(output) and key.of == "new":
                if self._rejoined(output) is not None:
                    self._compensate(key.output)
                    reduced = self._accumulated.pop(Part(key.output, "before"))
                    del self._accumulated[key], self._accumulated[Part(key.output, "lost")]
                else:
                    reduced = self._accumulated.pop(key)
                self._finish_reduction(output, reduced, level)

    def _overlapping(self, i: str, length: int, n: str) -> str:
        """The first element of a vector: the last one ends with the last element."""
        p = self._p
        if length % LANES == 0:
            self._mask = None
            return i
        last = p.let(f"sub i64 {n}, {LANES}")
        beyond = p.let(f"icmp sgt i64 {i}, {last}")
        base = p.let(f"select i1 {beyond}, i64 {last}, i64 {i}")
        added = any(isinstance(output, Reduce | Add) for output in self._nest.outputs)
        if self._in_place or added:
            done = self._splat(p.let(f"sub i64 {i}, {base}"), "l")
            self._mask = p.let(f"icmp sge {type_of('l', wide=True)} {lanes(1)}, {done}")
        return base

    # Outputs

    def _finish_pass(self) -> None:
        """Store, and bring in what is reduced."""
        p = self._p
        for number, output in enumerate(self._nest.outputs):
            char = self._nest.nodes[output.value].char
            wide = self._along is not None
            if isinstance(output, Add):
                self._add(output)
                continue
            value = self._wide(output.value) if wide else self._values[output.value]
            if isinstance(output, Store):
                self._store(output.buffer, output.at, value, char)
                continue
            kind = type_of(char, wide=wide)
            old = self._accumulated[Part(number)]
            if output.kind == "finite":
                value = p.let(f"fmul {kind} {value}, {self._constant(0.0, char, wide=wide)}")
            if output.kind in ("sum", "finite"):
                new = p.let(f"fadd {kind} {old}, {value}")
            elif output.kind == "all":
                new = p.let(f"and {kind} {old}, {value}")
            else:
                new = self._extreme(output.kind, old, value, kind)
            if self._mask is not None and self._counts_twice(output):
                truth = type_of("?", wide=True)
                new = p.let(f"select {truth} {self._mask}, {kind} {new}, {kind} {old}")
            self._accumulated[Part(number)] = new

    def _rejoined(self, output: Reduce) -> tuple[int, int] | None:
        """In which loop, and after how many passes of it, sums of many terms are looked at.

        A sum of so many terms waits for one addition each, but for four if what rounding loses were
        looked at in each.
        """
        if output.kind != "sum":
            return None
        terms = 1
        for level in reversed(range(self._nest.kept, self._loops)):
            passes = self._nest.lengths[level]
            if level == self._along:
                passes = -(-passes // LANES)
            if terms * passes > _TERMS:
                return level, 1 << max(_TERMS // terms, 1).bit_length() - 1
            terms *= passes
        return None

    def _rejoin(self, level: int, number: int, step: int) -> None:
        """The end of a pass: now and then with what is added up since the last time."""
        p, found = self._p, {}
        for output, each in enumerate(self._nest.outputs):
            place = self._rejoined(each) if isinstance(each, Reduce) else None
            if place is not None and place[0] == level:
                found[output] = place[1]
        if not found:
            p.do(f"br label %latch{number}")
            p.label(f"latch{number}")
            return
        (passes,) = {*found.values()}
        rest = p.let(f"and i64 %j{number}, {passes * step - 1}")
        is_due = p.let(f"icmp eq i64 {rest}, 0")
        p.do(f"br i1 {is_due}, label %join{number}, label %latch{number}")
        parts = [Part(output, of) for output in found for of in ("new", "before", "lost")]
        old, before = [self._accumulated[part] for part in parts], p.block
        p.label(f"join{number}")
        for output in found:
            self._compensate(output)
        p.do(f"br label %latch{number}")
        p.label(f"latch{number}")
        for part, was in zip(parts, old, strict=True):
            kind, now = self._accumulator_type(part), self._accumulated[part]
            self._accumulated[part] = p.let(
                f"phi {kind} [ {was}, %{before} ], [ {now}, %join{number} ]"
            )

    def _compensate(self, output: int) -> None:
        """Add what is new to what was before, and remember what rounding lost.

        Source: Kahan, Further Remarks on Reducing Truncation Errors (1965).
        """
        p, char, wide = self._p, self._char(output), self._along is not None
        kind, truth = type_of(char, wide=wide), type_of("?", wide=wide)
        new, before, lost = (
            self._accumulated[Part(output, of)] for of in ("new", "before", "lost")
        )
        term = p.let(f"fsub {kind} {new}, {lost}")
        total = p.let(f"fadd {kind} {before}, {term}")
        rest = p.let(f"fsub {kind} {p.let(f'fsub {kind} {total}, {before}')}, {term}")
        # of an infinite sum nothing is lost
        is_number = p.let(f"fcmp ord {kind} {rest}, {rest}")
        nothing = self._constant(0.0, char, wide=wide)
        rest = p.let(f"select {truth} {is_number}, {kind} {rest}, {kind} {nothing}")
        found = {"new": nothing, "before": total, "lost": rest}
        self._accumulated.update({Part(output, of): value for of, value in found.items()})

    def _counts_twice(self, output: Reduce) -> bool:
        """True if what vectors compute again would be added up again."""
        assert self._along is not None
        return output.kind == "finite" or (output.kind == "sum" and self._along >= self._nest.kept)

    def _extreme(self, kind: str, old: str, value: str, of: str) -> str:
        """The larger or smaller of two, NaN if one is."""
        p = self._p
        truth = f"<{LANES} x i1>" if of.startswith("<") else "i1"
        wins = p.let(f"fcmp {'ogt' if kind == 'max' else 'olt'} {of} {value}, {old}")
        is_nan = p.let(f"fcmp uno {of} {value}, {value}")
        either = p.let(f"or {truth} {wins}, {is_nan}")
        return p.let(f"select {truth} {either}, {of} {value}, {of} {old}")

    def _char(self, output: int) -> str:
        return self._nest.nodes[self._nest.outputs[output].value].char

    def _accumulator_type(self, part: Part) -> str:
        return type_of(self._char(part.output), wide=self._along is not None)

    def _neutral(self, output: Reduce, level: int) -> str:
        char = self._nest.nodes[output.value].char
        return self._constant(_NEUTRAL[output.kind], char, wide=self._along is not None)

    def _finish_reduction(self, output: Reduce, value: str, level: int) -> None:
        """Store what was reduced, together with what passes before ``begin`` gave."""
        p, char = self._p, self._nest.nodes[output.value].char
        if self._along is not None and self._along >= level:
            value = self._across(output.kind, value, char)
        if output.kind == "finite":
            old = p.let(f"load double, ptr %b{output.buffer}")
            if char == "f":
                value = p.let(f"fpext float {value} to double")
            value = p.let(f"fadd double {old}, {value}")
            p.do(f"store double {value}, ptr %b{output.buffer}")
            return
        if output.kind == "all":
            fails = p.let(f"zext i1 {p.let(f'xor i1 {value}, true')} to i8")
            old = p.let(f"load i8, ptr %b{output.buffer}")
            p.do(f"store i8 {p.let(f'or i8 {old}, {fails}')}, ptr %b{output.buffer}")
            return
        if level < self._bounded:
            value = self._with_passes_before(output, value, level, char)
        self._store(output.buffer, output.at, value, char)

    def _with_passes_before(self, output: Reduce, value: str, level: int, char: str) -> str:
        """With what earlier calls stored, unless this is the first for these elements."""
        p = self._p
        wide = self._along is not None and self._along < level and bool(self._step(output.at))
        kind = type_of(char, wide=wide)
        first = "true"
        for each in range(level, self._bounded):
            begins = p.let(f"icmp eq i64 {_bounds(each)[0]}, 0")
            first = p.let(f"and i1 {first}, {begins}")
        stored = self._load(Load(output.buffer, output.at, None, char), wide=wide)
        neutral = self._constant(_NEUTRAL[output.kind], char, wide=wide)
        old = p.let(f"select i1 {first}, {kind} {neutral}, {kind} {stored}")
        both = self._combined(output.kind, old, value, kind)
        if wide and self._mask is not None:  # lanes that the vector before has brought in
            truth = type_of("?", wide=True)
            both = p.let(f"select {truth} {self._mask}, {kind} {both}, {kind} {stored}")
        return both

    def _combined(self, kind: str, x: str, y: str, of: str) -> str:
        if kind == "sum":
            return self._p.let(f"fadd {of} {x}, {y}")
        return self._extreme(kind, x, y, of)

    def _across(self, kind: str, value: str, char: str) -> str:
        """The lanes of a vector put together."""
        p, of, vector = self._p, TYPES[char], type_of(char, wide=True)
        if kind in ("sum", "finite"):
            name = f"llvm.vector.reduce.fadd.v{LANES}f{64 if char == 'd' else 32}"
            p.declare(f"{of} @{name}({of}, {vector})")
            zero = constant(-0.0, char)
            return p.let(f"call reassoc {of} @{name}({of} {zero}, {vector} {value})")
        if kind == "all":
            name = f"llvm.vector.reduce.and.v{LANES}i1"
            p.declare(f"i1 @{name}({vector})")
            return p.let(f"call i1 @{name}({vector} {value})")
        lanes = [p.let(f"extractelement {vector} {value}, i32 {k}") for k in range(LANES)]
        while len(lanes) > 1:
            pairs = zip(lanes[::2], lanes[1::2], strict=True)
            lanes = [self._extreme(kind, x, y, of) for x, y in pairs]
        return lanes[0]


def _bounds(level: int) -> tuple[str, str]:
    """The first and last index of a bounded loop."""
    return (f"%begin{level}", f"%end{level}") if level else ("%begin", "%end")
