"""The text of a function that sweeps a nest of a kernel by blocks of its outermost loop.

What a block computes stays in the processor's cache: each node is a call of a function of NumPy's,
which writes to one of a few buffers, in the place of an operand that is dead if it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from gradwire_engine.backends.numpy.buffers import POOL
from gradwire_engine.backends.numpy.emit import function, ufunc_of
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.numpy.windows import Rows, Windows
from gradwire_engine.backends.quiet import quiet
from gradwire_engine.kernels.form import Affine, Apply, Load, Nest, Number, Reduce, Store
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.tape import Shape

#: What the arrays of a block take: half of a core's second cache, as measured.
BLOCK_BYTES = 1 << 20
#: Where there are many arrays, blocks are at least so large: else calling outweighs computing.
FEWEST_ELEMENTS = 4096
#: Blocks of more rows than this are of a multiple of it, so that all begin at a line of the cache.
ALIGNED = 64
#: Operations that pieces of arrays are put together by, where their names are not these.
_LOGICAL = {"and": "logical_and", "or": "logical_or", "not": "logical_not"}
#: What puts reductions of parts together.
JOINS = {"sum": np.add, "max": np.maximum, "min": np.minimum}
#: Arrays of so many rows beyond a block's, and of these shapes beside, can be in one buffer.
_Kind: TypeAlias = tuple[str, int, Shape]


class Sweep:
    """Writes the function ``part{number}`` for the rows of a nest from ``begin`` to ``end``.

    It reads and writes ``b0``, ``b1``, ...: the kernel's buffers, each as an array of one axis. It
    gives a list for each root that is a reduction, of what is to be put together.
    """

    def __init__(self, text: Text, nest: Nest, number: int, numbers: Sequence[float]) -> None:
        if not nest.lengths:
            nest = _with_loop(nest)
        self._text, self._nest, self._numbers = text, nest, numbers
        self._name = f"part{number}"
        self._inner = nest.lengths[1:]
        windows = Windows(nest)
        self._arrays, self._roots = windows.arrays, windows.roots
        self._names: dict[int, str] = {}
        self._lines: list[str] = []
        self._buffers: list[_Kind] = []
        self._free: dict[_Kind, list[str]] = {}
        self._held: dict[int, tuple[_Kind, str]] = {}
        self._before: list[str] = []
        self._heads: list[str] = []
        #: Bytes of a row of what is read and stored.
        self._row_bytes = 0
        self._last = self._last_readers()
        self._ends: dict[int, list[int]] = {}
        for array, reader in self._last.items():
            self._ends.setdefault(reader, []).append(array)
        self._stores = self._direct_stores()
        self._inner_products = self._products()
        for array in range(len(self._arrays)):
            self._array(array)
        each = self._row_bytes + sum([_nbytes(kind) for kind in self._buffers])
        widest = max([prod(shape) for _, _, shape in self._buffers], default=1)
        most = max(BLOCK_BYTES // max(each, 1), FEWEST_ELEMENTS // max(widest, 1), 1)
        length = nest.lengths[0]
        rows = -(-length // -(-length // most))
        #: The rows of a block.
        self.rows: int = rows + -rows % ALIGNED if rows > ALIGNED else rows

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        return sum([_nbytes(kind, min(self.rows, self._nest.lengths[0])) for kind in self._buffers])

    def write(self, threads: int) -> None:
        """Write the function, and what calls it on so many threads: parts by root, for each."""
        text, length = self._text, self._nest.lengths[0]
        for line in self._before:
            text.write(line)
        text.write(f"def {self._name}(begin, end):")
        reductions = [k for k, root in enumerate(self._nest.roots) if isinstance(root, Reduce)]
        for k in reductions:
            text.write(f"q{k} = []", indent=2)
        rows = min(self.rows, length)
        if self._buffers:
            kinds = [((rows + more, *shape), np.dtype(char)) for char, more, shape in self._buffers]
            key = " ".join(f"{char}{shape}" for shape, char in kinds)
            take = text.bind(partial(POOL.take, key, kinds))
            names = [f"t{k}" for k in range(len(kinds))]
            text.write(f"[{', '.join(names)}] = taken = {take}()", indent=2)
        text.write(f"for lo in {text.bind(range, 'range')}(begin, end, {rows}):", indent=2)
        text.write("poll()", indent=3)
        text.write(f"hi = {text.bind(min, 'min')}(lo + {rows}, end)", indent=3)
        text.write("n = hi - lo", indent=3)
        if length % rows and self._buffers:
            text.write(f"if n < {rows}:", indent=3)
            for k, (_, more, _) in enumerate(self._buffers):
                text.write(f"t{k} = t{k}[:n + {more}]", indent=4)
        for line in [*self._heads, *self._lines]:
            text.write(line, indent=3)
        if self._buffers:
            text.write(f"{text.bind(partial(POOL.give, key))}(taken)", indent=2)
        text.write(f"return ({''.join([f'q{k}, ' for k in reductions])})", indent=2)
        ends = _ends(length, rows, threads)
        run = text.bind(partial(_on_threads, ends), f"run{self._name}")
        text.write(f"found = {run}({self._name})")
        for at, k in enumerate(reductions):
            root = self._nest.roots[k]
            assert isinstance(root, Reduce)
            joined = "squares" if root.kind == "finite" else f"s{root.buffer}_{root.at.offset}"
            text.write(f"for each in found: {joined}.extend(each[{at}])")

    # Which arrays are where

    def _last_readers(self) -> dict[int, int]:
        last = {number: number for number in range(len(self._arrays))}
        for number, rows in enumerate(self._arrays):
            for arg, _ in rows.args:
                last[arg] = number
        return last

    def _direct_stores(self) -> dict[int, int]:
        """The root that is stored where it is computed, by array."""
        found: dict[int, int] = {}
        for k, (root, (number, moved)) in enumerate(
            zip(self._nest.roots, self._roots, strict=True)
        ):
            rows = self._arrays[number]
            alone = rows.low == rows.high == moved and self._is_full(rows)
            if isinstance(root, Store) and alone and self._writes(rows):
                found.setdefault(number, k)
        return found

    def _products(self) -> frozenset[int]:
        """Arrays of products that are read only to be summed, which BLAS does."""
        reads = [0] * len(self._arrays)
        for number, _ in [each for rows in self._arrays for each in rows.args]:
            reads[number] += 2
        sums = set()
        for root, (number, _) in zip(self._nest.roots, self._roots, strict=True):
            reads[number] += 1
            if isinstance(root, Reduce) and root.kind == "sum":
                sums.add(number)
        return frozenset(
            [
                number
                for number in sums
                if reads[number] == 1
                and isinstance(node := self._arrays[number].node, Apply)
                and node.function == "multiply"
                and all(self._is_full(self._arrays[arg]) for arg, _ in self._arrays[number].args)
            ]
        )

    def _is_full(self, rows: Rows) -> bool:
        """Whether it varies along all loops."""
        return len(rows.loops) == len(self._nest.lengths) and all(rows.loops)

    def _writes(self, rows: Rows) -> bool:
        """Whether its function writes where it is told to."""
        return isinstance(rows.node, Apply) and isinstance(_called(rows.node.function), np.ufunc)

    # The lines

    def _array(self, number: int) -> None:
        """Write what computes an array, then what stores and reduces it."""
        rows = self._arrays[number]
        if isinstance(rows.node, Load):
            self._load(number, rows, rows.node)
        elif not isinstance(rows.node, Apply):
            node = rows.node
            value = self._numbers[node.argument] if isinstance(node, Number) else node.value  # type: ignore[union-attr]
            self._names[number] = self._text.bind(np.asarray(value, node.char))
        elif number not in self._inner_products:
            self._apply(number, rows, rows.node)
        for k, (of, moved) in enumerate(self._roots):
            if of == number:
                self._root(k, number, moved)
        self._release([end for end in self._ends.get(number, ()) if end in self._held])

    def _view(self, buffer: int, at: Affine, char: str, low: int, high: int) -> str:
        """The elements of a buffer that all rows read or store, as an array with these axes."""
        first, *_ = at.coefficients
        shape = [n if c else 1 for n, c in zip(self._nest.lengths, at.coefficients, strict=True)]
        size = np.dtype(char).itemsize
        if first:
            shape[0] += high - low
            self._row_bytes += prod(shape[1:]) * size
        offset = (at.offset + first * low) * size
        steps = [c * size for c in at.coefficients]
        if not any(at.coefficients):
            shape, steps = [], []
        view, dtype = self._text.bind(np.ndarray, "view"), self._text.bind(np.dtype(char))
        return f"{view}({tuple(shape)}, {dtype}, b{buffer}, {offset}, {tuple(steps)})"

    def _load(self, number: int, rows: Rows, node: Load) -> None:
        name = f"x{self._name[4:]}_{number}"
        self._before.append(
            f"{name} = {self._view(node.buffer, node.at, node.char, rows.low, rows.high)}"
        )
        if rows.moves:
            self._heads.append(f"x{number} = {name}[lo:{_plus('hi', rows.high - rows.low)}]")
            name = f"x{number}"
        self._names[number] = name

    def _apply(self, number: int, rows: Rows, node: Apply) -> None:
        operands = [self._window(arg, rows.low + m, rows.high + m) for arg, m in rows.args]
        if not rows.moves:  # the same for all blocks
            name = self._names[number] = f"y{self._name[4:]}_{number}"
            self._before.append(f"{name} = {self._code(node, operands)}")
            return
        if not self._writes(rows):
            name = self._names[number] = f"y{number}"
            self._lines.append(f"{name} = {self._code(node, operands)}")
            return
        out = self._place(number, rows)
        self._lines.append(self._code(node, [*operands, f"out={out}"]))

    def _code(self, node: Apply, operands: Sequence[str]) -> str:
        if node.function == "convert":
            return f"{operands[0]}.astype({self._text.bind(np.dtype(node.char))})"
        called = self._text.bind(_called(node.function), f"u_{node.function}")
        return f"{called}({', '.join(operands)})"

    def _window(self, number: int, low: int, high: int) -> str:
        """The rows of an array from ``lo + low`` to ``hi + high``."""
        rows, name = self._arrays[number], self._names[number]
        if not rows.moves or (rows.low, rows.high) == (low, high):
            return name
        return f"{name}[{low - rows.low}:{_plus('n', high - rows.low)}]"

    def _place(self, number: int, rows: Rows) -> str:
        """Where an array is computed: in a result, in the place of an operand, or in a buffer."""
        if number in self._stores:
            k = self._stores[number]
            root = self._nest.roots[k]
            self._names[number] = self._stored(k, root.buffer, root.at, rows.node.char)
            return self._names[number]
        shape = tuple([n if c else 1 for n, c in zip(self._inner, self._along(rows), strict=True)])
        kind = rows.node.char, rows.high - rows.low, shape
        for arg, _ in rows.args:
            held = self._held.get(arg)
            whole = {(rows.low + m, rows.high + m) for a, m in rows.args if a == arg}
            dies = self._last[arg] == number and whole == {self._arrays[arg][-2:]}
            if dies and held is not None and held[0] == kind:
                self._release([arg])
                break
        free = self._free.get(kind)
        if free:
            name = free.pop()
        else:
            name = f"t{len(self._buffers)}"
            self._buffers.append(kind)
        self._held[number] = kind, name
        self._names[number] = name
        return name

    def _along(self, rows: Rows) -> Sequence[bool]:
        """Along which of the inner loops it varies."""
        return [*rows.loops[1:], *[False] * (len(self._nest.lengths) - len(rows.loops))]

    def _release(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            kind, name = self._held.pop(number)
            self._free.setdefault(kind, []).append(name)

    def _stored(self, k: int, buffer: int, at: Affine, char: str) -> str:
        """The rows of a result that a block stores."""
        name = f"v{self._name[4:]}_{k}"
        self._before.append(f"{name} = {self._view(buffer, at, char, 0, 0)}")
        self._heads.append(f"v{k} = {name}[lo:hi]")
        return f"v{k}"

    def _root(self, k: int, number: int, moved: int) -> None:
        root, rows = self._nest.roots[k], self._arrays[number]
        if isinstance(root, Store):
            if self._stores.get(number) != k:
                stored = self._stored(k, root.buffer, root.at, rows.node.char)
                self._lines.append(f"{stored}[...] = {self._window(number, moved, moved)}")
            return
        if number in self._inner_products:
            sides = [self._window(a, moved + m, moved + m) for a, m in rows.args]
            self._lines.append(f"q{k}.append({_flat_dot(*sides, flat=not self._inner)})")
            return
        x = self._window(number, moved, moved)
        if root.kind == "finite":
            self._lines.append(f"q{k}.append({_flat_dot(x, x, flat=not self._inner)})")
            return
        if not self._is_full(rows):
            shape = ", ".join(["n", *map(str, self._inner)])
            x = f"{self._text.bind(np.broadcast_to, 'broadcast_to')}({x}, ({shape},))"
        reduce = self._text.bind(JOINS[root.kind].reduce, f"{root.kind}_up")
        self._lines.append(f"q{k}.append({reduce}({x}, None))")


def _with_loop(nest: Nest) -> Nest:
    """The same with one loop, of length 1."""

    def within(each: Any) -> Any:
        return each._replace(at=Affine((1,), each.at.offset)) if hasattr(each, "at") else each

    nodes, roots = (tuple(map(within, each)) for each in (nest.nodes, nest.roots))
    return Nest((1,), min(nest.kept, 1), nodes, roots)


@cache
def _called(name: str) -> Callable[..., Any] | None:
    """The function of a node: a ufunc, if it is one alone."""
    if name == "convert":
        return None
    op = SINGLETONS[_LOGICAL.get(name, name)]
    return ufunc_of(op) or function(op)


def _flat_dot(x: str, y: str, *, flat: bool) -> str:
    return f"{x}.dot({y})" if flat else f"{x}.reshape(-1).dot({y}.reshape(-1))"


def _plus(name: str, rows: int) -> str:
    return f"{name} + {rows}" if rows else name


def _nbytes(kind: _Kind, rows: int = 1) -> int:
    char, _, shape = kind
    return rows * prod(shape, start=np.dtype(char).itemsize)


def _ends(rows: int, block: int, threads: int) -> list[tuple[int, int]]:
    """Where each thread's part begins and ends, in whole blocks."""
    blocks = -(-rows // block)
    each = -(-blocks // threads) * block
    return [(first, min(first + each, rows)) for first in range(0, rows, each)]


def _on_threads(ends: Sequence[tuple[int, int]], part: Callable[..., Any]) -> list[Any]:
    """All parts, the first on this thread."""

    def elsewhere(first: int, last: int) -> Any:
        return quiet.run(part, first, last)

    mine, *others = ends
    futures = [_executor(len(ends) - 1).submit(elsewhere, *other) for other in others]
    try:
        return [part(*mine), *[future.result() for future in futures]]
    finally:  # nothing writes on after a failure
        wait(futures)


@cache
def _executor(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "gradwire-block")
