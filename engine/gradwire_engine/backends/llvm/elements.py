"""The values of a nest's nodes: where they are computed, and elements in memory."""

from __future__ import annotations

from gradwire_engine.backends.llvm.arithmetic import Arithmetic
from gradwire_engine.backends.llvm.functions.vectors import LANES
from gradwire_engine.backends.llvm.writer import (
    MEMORY,
    SIZES,
    SUFFIXES,
    Writer,
    constant,
    lanes,
    type_of,
    zero,
)
from gradwire_engine.kernels.form import (
    LEAST_ARGUMENT,
    Affine,
    Apply,
    Literal,
    Load,
    Nest,
    Number,
    Store,
    Value,
    Within,
)


class ElementPrinter:
    """Writes the values of the nodes of a nest, each within the loops that it needs."""

    def __init__(self, writer: Writer, nest: Nest) -> None:
        self._p, self._nest = writer, nest
        self._arithmetic = Arithmetic(writer)
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
                return self._arithmetic.apply(function, operands, chars, char, wide=wide)
        raise AssertionError(node)

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
        kind = type_of("l", wide=True)
        lanes = self._steps(node.at.coefficients[self._along])
        each = p.let(f"add {kind} {self._splat(low, 'l')}, {lanes}")
        return p.let(f"icmp ult {kind} {each}, {self._splat(span, 'l')}")

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
        step = node.at.coefficients[self._along]
        if node.guard is not None:
            guard = self._wide(node.guard)
        vector = f"<{LANES} x {memory}>"
        if step == 2 and guard is None:
            return self._from_memory(self._every_other(node.buffer, place, memory), char, wide=True)
        if step not in (1, -1):
            x = self._gathered(node.buffer, place, step, guard, memory)
            return self._from_memory(x, char, wide=True)
        if step == -1:
            place = p.let(f"sub i64 {place}, {LANES - 1}")
        at = p.let(f"getelementptr {memory}, ptr %b{node.buffer}, i64 {place}")
        bits, size = SUFFIXES[memory], SIZES[memory]
        if guard is None:
            x = p.let(f"load {vector}, ptr {at}, align {size}")
        else:
            truth = type_of("?", wide=True)
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

    def _gathered(self, buffer: int, place: str, step: int, guard: str | None, memory: str) -> str:
        p, vector, truth = self._p, f"<{LANES} x {memory}>", type_of("?", wide=True)
        each = p.let(
            f"add {type_of('l', wide=True)} {self._splat(place, 'l')}, {self._steps(step)}"
        )
        at = p.let(f"getelementptr {memory}, ptr %b{buffer}, {type_of('l', wide=True)} {each}")
        bits, size = SUFFIXES[memory], SIZES[memory]
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
        return self._p.let(f"icmp ne {kind} {x}, {zero(wide=wide)}")

    def _store(self, buffer: int, index: Affine, value: str, char: str) -> None:
        p, memory = self._p, MEMORY[char]
        along = self._along
        step = 0 if along is None or len(self._at) <= along else index.coefficients[along]
        wide = bool(step)
        if char == "?":
            value = p.let(
                f"zext {type_of('?', wide=wide)} {value} to {f'<{LANES} x i8>' if wide else 'i8'}"
            )
        place = self._place(index)
        at = p.let(f"getelementptr {memory}, ptr %b{buffer}, i64 {place}")
        if not wide:
            p.do(f"store {memory} {value}, ptr {at}")
            return
        size = SIZES[memory]
        vector = f"<{LANES} x {memory}>"
        if step == 1:
            p.do(f"store {vector} {value}, ptr {at}, align {size}")
            return
        for lane in range(LANES):
            x = p.let(f"extractelement {vector} {value}, i32 {lane}")
            off = p.let(f"mul i64 {p.integer(step)}, {lane}")
            each = p.let(f"getelementptr {memory}, ptr {at}, i64 {off}")
            p.do(f"store {memory} {x}, ptr {each}")


#: What an access takes by how far neighbours in a vector are apart; all others take it by lane.
_COSTS = {0: 0, 1: 0, -1: 1, 2: 2}


def _vectorized(nest: Nest) -> int | None:
    """The loop along which the most accesses are to neighbours, if there is one long enough."""
    affine = [*[node.at for node in nest.nodes if isinstance(node, Load)]]
    affine += [root.at for root in nest.roots if isinstance(root, Store)]

    def cost(loop: int) -> tuple[int, int]:
        steps = [at.coefficients[loop] for at in affine]
        return sum([_COSTS.get(step, LANES) for step in steps]), -loop

    long = [loop for loop, n in enumerate(nest.lengths) if n >= LANES]
    return min(long, key=cost) if long else None


def _level(index: Affine) -> int:
    """How many loops are around what needs an index."""
    return max([loop + 1 for loop, c in enumerate(index.coefficients) if c], default=0)
