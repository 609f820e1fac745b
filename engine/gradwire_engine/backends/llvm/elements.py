"""The values of a nest's nodes: functions of numbers and vectors, and elements in memory."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.backends.llvm.arithmetic import Arithmetic
from gradwire_engine.backends.llvm.lanes import terms_of
from gradwire_engine.backends.llvm.writer import (
    LANES,
    MEMORY,
    SIZES,
    SUFFIXES,
    TYPES,
    Writer,
    constant,
    lanes,
    type_of,
    zero,
)
from gradwire_engine.kernels.form import (
    INTEGERS,
    LEAST_ARGUMENT,
    Add,
    Affine,
    Apply,
    Carried,
    Count,
    Literal,
    Load,
    Nest,
    Number,
    Value,
    Within,
)


class ElementPrinter:
    """Writes the values of the nodes of a nest, each within the loops that it needs.

    The loop ``along`` is vectorised, if there is one.
    """

    def __init__(
        self,
        writer: Writer,
        nest: Nest,
        around: Sequence[str] = (),
        *,
        along: int | None = None,
        arithmetic: Arithmetic | None = None,
    ) -> None:
        self._p, self._nest = writer, nest
        self._arithmetic = arithmetic or Arithmetic(writer)
        self._loops = len(nest.lengths)
        #: The numbers of the loops around, then of those that are entered.
        self._at: list[str] = [*around]
        self._along = along
        self._levels: list[int] = []
        self._vector: list[bool] = []
        #: The values that are read as vectors though they are the same in all lanes.
        self._repeated: set[Value] = set()
        self._analyse()
        self._values: list[str] = [""] * len(nest.nodes)
        self._splats: dict[Value, str] = {}
        #: The lanes of a vector that were not computed before, where some were.
        self._mask: str | None = None
        self._in_place = nest.is_in_place
        #: The values carried over from the pass before.
        self._carried: list[str] = []
        self._by_level: list[list[Value]] = [[] for _ in range(self._loops + 1)]
        for value, level in enumerate(self._levels):
            self._by_level[level].append(value)
        self._places: list[dict[tuple[object, ...], str]] = []

    def _analyse(self) -> None:
        """The level of each node, that is of the innermost loop it needs, and which are vectors."""
        along = self._along
        for node in self._nest.nodes:
            args: tuple[Value, ...] = ()
            level, vector = 0, False
            match node:
                case Load(_, at, guard, _):
                    args = (*terms_of(at), *(() if guard is None else (guard,)))
                    level, vector = self._level(at), bool(self._step(at))
                case Within(at) | Count(at):
                    args = terms_of(at)
                    level, vector = self._level(at), bool(self._step(at))
                case Carried():
                    level, vector = self._nest.kept + 1, along is not None
                case Apply(_, operands, _):
                    args = operands
            self._levels.append(max([level, *[self._levels[a] for a in args]]))
            self._vector.append(vector or any(self._vector[a] for a in args))
        if along is not None:
            read = {output.value for output in self._nest.outputs}
            for value, node in enumerate(self._nest.nodes):
                if self._vector[value]:
                    if isinstance(node, Apply):
                        read.update(node.args)
                    elif isinstance(node, Load) and node.guard is not None:
                        read.add(node.guard)
            plain = [isinstance(node, Literal) for node in self._nest.nodes]
            self._repeated = {v for v in read if not (self._vector[v] or plain[v])}

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
            case Carried(carry):
                return self._carried[carry]
            case Count(at):
                return self._places_at(at) if self._vector[value] else self._place(at)
            case Apply(function, args, char):
                wide = self._vector[value]
                chars = [self._nest.nodes[a].char for a in args]
                operands = [self._wide(a) if wide else self._values[a] for a in args]
                return self._arithmetic.apply(function, operands, chars, char, wide=wide)
        raise AssertionError(node)

    def _step(self, index: Affine) -> int:
        """By how much an index grows along the loop that is vectorised."""
        return 0 if self._along is None else index.coefficients[self._nest.outer + self._along]

    def _level(self, index: Affine) -> int:
        """The number of the nest's loops around the code that needs an index."""
        own = index.coefficients[self._nest.outer :]
        return max([loop + 1 for loop, c in enumerate(own) if c], default=0)

    def _wide(self, value: Value) -> str:
        """A value as a vector."""
        if self._vector[value]:
            return self._values[value]
        node = self._nest.nodes[value]
        if isinstance(node, Literal):
            return self._constant(node.value, node.char, wide=True)
        return self._splats[value]

    def _constant(self, number: float, char: str, *, wide: bool) -> str:
        return self._arithmetic.constant(number, char, wide=wide)

    def _splat(self, value: str, char: str) -> str:
        return self._arithmetic.splat(value, char)

    # Memory

    def _place(self, index: Affine) -> str:
        """The number that an index is, in the vectorised loop that of the first lane.

        Terms that differ between lanes are left out.
        """
        p = self._p
        terms = [term for term in index.terms if not self._vector[term[0]]]
        key = index.coefficients, *terms
        for known in self._places:
            if key in known:
                total = known[key]
                break
        else:
            total = ""
            for loop, c in enumerate(index.coefficients):
                if not c:
                    continue
                total = self._plus(total, self._at[loop], c)
            for value, factor in terms:
                total = self._plus(total, self._values[value], factor)
            self._places[-1][key] = total
        if not total:
            return p.integer(index.offset)
        if not index.offset:
            return total
        return p.let(f"add i64 {total}, {p.integer(index.offset)}")

    def _plus(self, total: str, i: str, factor: int) -> str:
        p = self._p
        term = i if factor == 1 else p.let(f"mul i64 {i}, {p.integer(factor)}")
        return term if not total else p.let(f"add i64 {total}, {term}")

    def _places_at(self, index: Affine) -> str:
        """The number that an index is in each lane."""
        p, kind = self._p, type_of("l", wide=True)
        assert self._along is not None
        total = self._splat(self._place(index), "l")
        if step := self._step(index):
            total = p.let(f"add {kind} {total}, {self._steps(step)}")
        for value, factor in index.terms:
            if self._vector[value]:
                each = self._values[value]
                if factor != 1:
                    by = self._splat(p.integer(factor), "l")
                    each = p.let(f"mul {kind} {each}, {by}")
                total = p.let(f"add {kind} {total}, {each}")
        return total

    def _is_scattered(self, index: Affine) -> bool:
        """True if terms of an index differ between lanes."""
        return any(self._vector[value] for value, _ in index.terms)

    def _within(self, node: Within, *, wide: bool) -> str:
        """One comparison without sign decides both."""
        p = self._p
        kind = type_of("l", wide=wide)
        low, span = (
            p.integer(node.low),
            p.let(f"sub i64 {p.integer(node.high)}, {p.integer(node.low)}"),
        )
        each = self._places_at(node.at) if wide else self._place(node.at)
        if wide:
            low, span = self._splat(low, "l"), self._splat(span, "l")
        return p.let(f"icmp ult {kind} {p.let(f'sub {kind} {each}, {low}')}, {span}")

    def _steps(self, by: int) -> str:
        """``by`` times the number of each lane."""
        if abs(by) < LEAST_ARGUMENT:
            return lanes(by)
        kind, factor = type_of("l", wide=True), self._splat(self._p.integer(by), "l")
        return self._p.let(f"mul {kind} {lanes(1)}, {factor}")

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
        step = self._step(node.at)
        if node.guard is not None:
            guard = self._wide(node.guard)
        vector = f"<{LANES} x {memory}>"
        if step == 2 and guard is None and not self._is_scattered(node.at):
            return self._from_memory(self._every_other(node.buffer, place, memory), char, wide=True)
        if step not in (1, -1) or self._is_scattered(node.at):
            x = self._gathered(node.buffer, node.at, guard, memory)
            return self._from_memory(x, char, wide=True)
        if step == -1:
            place = p.let(f"sub i64 {place}, {LANES - 1}")
        at = p.let(f"getelementptr {memory}, ptr %b{node.buffer}, i64 {place}")
        size = SIZES[memory]
        if node.guard is not None and not self._vector[node.guard]:
            # Not by a mask: LLVM 20 may set lanes 8 to 15 of one that is alike in all lanes.
            at = p.let(f"select i1 {self._values[node.guard]}, ptr {at}, ptr {p.zeros()}")
            guard = None
        if guard is None:
            x = p.let(f"load {vector}, ptr {at}, align {size}")
        else:
            truth = type_of("?", wide=True)
            if step == -1:
                guard = self._reversed(guard, truth)
            load = f"{vector} @llvm.masked.load.v{LANES}{SUFFIXES[memory]}.p0"
            p.declare(f"{load}(ptr, i32, {truth}, {vector})")
            given = f"ptr {at}, i32 {size}, {truth} {guard}, {vector} zeroinitializer"
            x = p.let(f"call {load}({given})")
        if step == -1:
            x = self._reversed(x, vector)
        return self._from_memory(x, char, wide=True)

    def _every_other(self, buffer: int, place: str, memory: str) -> str:
        """Of two vectors, of which the second ends with the last element that is read."""
        p, vector, size = self._p, f"<{LANES} x {memory}>", SIZES[memory]
        halves: list[str] = []
        for offset in (0, LANES - 1):
            where = p.let(f"add i64 {place}, {offset}")
            at = p.let(f"getelementptr {memory}, ptr %b{buffer}, i64 {where}")
            halves.append(p.let(f"load {vector}, ptr {at}, align {size}"))
        taken = [*range(0, LANES, 2), *range(LANES + 1, 2 * LANES, 2)]
        order = ", ".join([f"i32 {k}" for k in taken])
        first, second = halves
        return p.let(
            f"shufflevector {vector} {first}, {vector} {second}, <{LANES} x i32> <{order}>"
        )

    def _gathered(self, buffer: int, index: Affine, guard: str | None, memory: str) -> str:
        """Elements that are not neighbours, one by one.

        Some processors take several times as long for their instructions that gather elements.
        """
        p, vector, truth = self._p, f"<{LANES} x {memory}>", type_of("?", wide=True)
        step = p.integer(self._step(index))
        at = places = ""
        if guard is not None or self._is_scattered(index):
            places = self._places_at(index)
        else:
            at = p.let(f"getelementptr {memory}, ptr %b{buffer}, i64 {self._place(index)}")
        if guard is not None:
            kind, nowhere = type_of("l", wide=True), zero(wide=True)
            places = p.let(f"select {truth} {guard}, {kind} {places}, {kind} {nowhere}")
        gathered = "poison"
        for lane in range(LANES):
            if places:
                at = self._lane_at(buffer, places, lane, memory)
            elif lane:
                at = p.let(f"getelementptr {memory}, ptr {at}, i64 {step}")
            x = p.let(f"load {memory}, ptr {at}")
            gathered = p.let(f"insertelement {vector} {gathered}, {memory} {x}, i32 {lane}")
        if guard is None:
            return gathered
        return p.let(f"select {truth} {guard}, {vector} {gathered}, {vector} {zero(wide=True)}")

    def _reversed(self, x: str, vector: str) -> str:
        order = ", ".join([f"i32 {k}" for k in reversed(range(LANES))])
        return self._p.let(
            f"shufflevector {vector} {x}, {vector} poison, <{LANES} x i32> <{order}>"
        )

    def _from_memory(self, x: str, char: str, *, wide: bool) -> str:
        if char != "?":
            return x
        kind = f"<{LANES} x i8>" if wide else "i8"
        return self._p.let(f"icmp ne {kind} {x}, {zero(wide=wide)}")

    def _store(self, buffer: int, index: Affine, value: str, char: str) -> None:
        p, memory = self._p, MEMORY[char]
        # what is stored behind the loop that is vectorised is a number
        behind = self._along is None or len(self._at) <= self._nest.outer + self._along
        step = 0 if behind else self._step(index)
        scattered = self._is_scattered(index)
        wide = bool(step) or scattered
        if char == "?":
            value = p.let(
                f"zext {type_of('?', wide=wide)} {value} to {f'<{LANES} x i8>' if wide else 'i8'}"
            )
        vector = f"<{LANES} x {memory}>"
        if scattered:
            places = self._places_at(index)
            for lane in range(LANES):
                x = p.let(f"extractelement {vector} {value}, i32 {lane}")
                p.do(f"store {memory} {x}, ptr {self._lane_at(buffer, places, lane, memory)}")
            return
        place = self._place(index)
        at = p.let(f"getelementptr {memory}, ptr %b{buffer}, i64 {place}")
        if not wide:
            p.do(f"store {memory} {value}, ptr {at}")
            return
        size = SIZES[memory]
        held = self._mask if self._in_place else None
        # what was computed before may have been from what is replaced since
        if step == 1 and not held:
            p.do(f"store {vector} {value}, ptr {at}, align {size}")
            return
        if step == 1:
            bits = SUFFIXES[memory]
            truth, name = type_of("?", wide=True), f"llvm.masked.store.v{LANES}{bits}.p0"
            p.declare(f"void @{name}({vector}, ptr, i32, {truth})")
            p.do(f"call void @{name}({vector} {value}, ptr {at}, i32 {size}, {truth} {held})")
            return
        if held:
            old = self._gathered(buffer, index, None, memory)
            value = p.let(
                f"select {type_of('?', wide=True)} {held}, {vector} {value}, {vector} {old}"
            )
        for lane in range(LANES):
            x = p.let(f"extractelement {vector} {value}, i32 {lane}")
            off = p.let(f"mul i64 {p.integer(step)}, {lane}")
            each = p.let(f"getelementptr {memory}, ptr {at}, i64 {off}")
            p.do(f"store {memory} {x}, ptr {each}")

    def _add(self, output: Add) -> None:
        """Add to what is there, lane after lane where several may go to one place."""
        p, char, along = self._p, self._nest.nodes[output.value].char, self._along
        kind, add = TYPES[char], "add" if char in INTEGERS else "fadd"
        if along is None:
            at = p.let(f"getelementptr {kind}, ptr %b{output.buffer}, i64 {self._place(output.at)}")
            self._add_at(at, self._values[output.value], kind, add)
            return
        value, vector = self._wide(output.value), type_of(char, wide=True)
        if self._mask is not None:  # what was added before: adding -0 changes nothing
            nothing = self._constant(-0.0, char, wide=True)
            truth = type_of("?", wide=True)
            value = p.let(f"select {truth} {self._mask}, {vector} {value}, {vector} {nothing}")
        if self._step(output.at) == 1 and not self._is_scattered(output.at):
            at = p.let(f"getelementptr {kind}, ptr %b{output.buffer}, i64 {self._place(output.at)}")
            self._add_at(at, value, vector, add)
            return
        places = self._places_at(output.at)
        for lane in range(LANES):
            x = p.let(f"extractelement {vector} {value}, i32 {lane}")
            self._add_at(self._lane_at(output.buffer, places, lane, kind), x, kind, add)

    def _add_at(self, at: str, value: str, kind: str, add: str) -> None:
        p, size = self._p, 4 if "float" in kind else 8
        old = p.let(f"load {kind}, ptr {at}, align {size}")
        p.do(f"store {kind} {p.let(f'{add} {kind} {old}, {value}')}, ptr {at}, align {size}")

    def _lane_at(self, buffer: int, places: str, lane: int, memory: str) -> str:
        """The address of a lane."""
        p = self._p
        place = p.let(f"extractelement {type_of('l', wide=True)} {places}, i32 {lane}")
        return p.let(f"getelementptr {memory}, ptr %b{buffer}, i64 {place}")
