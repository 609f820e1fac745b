"""The text of a function that sweeps a nest of a kernel by blocks of its outermost loop.

What a block computes stays in the processor's cache: each node is a call of a function of NumPy's,
which writes to one of a few buffers, in the place of an operand that is dead if it can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.finite import sum_of_squares
from gradwire_engine.backends.numpy.buffers import POOL
from gradwire_engine.backends.numpy.emit import function, ufunc_of
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.numpy.threads import on_threads
from gradwire_engine.kernels.form import (
    COMPLEX,
    Add,
    Affine,
    Apply,
    Load,
    Nest,
    Node,
    Number,
    Reduce,
    Store,
    dtype_of,
)
from gradwire_engine.kernels.windows import Rows, Windows
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.tape import Shape

#: Bytes of the arrays of a block: half of a core's second cache, as measured.
BLOCK_BYTES = 1 << 20
#: Least size of blocks where there are many arrays: else calling outweighs computing.
FEWEST_ELEMENTS = 4096
#: Blocks of more rows than this are of a multiple of it, so that all begin at a line of the cache.
ALIGNED = 64
#: Elements that are computed between two looks at the deadline: about a millisecond's work.
_ELEMENTS_BETWEEN_POLLS = 200_000
#: Nests of no more elements, as the ends of arrays are, are computed sooner than written.
FEW_STEPS = 512
#: Operations by which pieces of arrays are put together, where their names are not these.
_LOGICAL = {"and": "logical_and", "or": "logical_or", "not": "logical_not"}
#: Functions that combine reductions of parts.
JOINS = {"sum": np.add, "max": np.maximum, "min": np.minimum}
#: The dtype, the rows beyond those of the block, and the inner shape of arrays that can be in one
#: buffer.
_Kind: TypeAlias = tuple[str, int, Shape]


def viewed(buffer: Array, at: Affine, lengths: Shape, low: int = 0, more: int = 0) -> Array:
    """The elements at an index: an axis for each loop, of length 1 where the index stays.

    Of the outermost loop it has ``more`` rows, and begins with row ``low``.
    """
    coefficients, size = at.coefficients, buffer.itemsize
    if not any(coefficients):
        return buffer[at.offset : at.offset + 1].reshape(())
    shape = [n if c else 1 for n, c in zip(lengths, coefficients, strict=True)]
    shape[0] += more if coefficients[0] else 0
    offset = (at.offset + low * coefficients[0]) * size
    return np.ndarray(shape, buffer.dtype, buffer, offset, [c * size for c in coefficients])


def walked(
    nest: Nest,
    numbers: Sequence[float],
    buffers: Sequence[Array],
    parts: Mapping[tuple[int, int], list[Any]],
    squares: list[Any],
) -> None:
    """Compute a nest of few elements, with nothing written."""
    values: list[Any] = []
    for node in nest.nodes:
        if isinstance(node, Load):
            values.append(viewed(buffers[node.buffer], node.at, nest.lengths))
        elif isinstance(node, Apply):
            values.append(called(node)(*[values[arg] for arg in node.args]))
        else:
            values.append(_number(node, numbers))
    for root in nest.roots:
        x = values[root.value]
        assert not isinstance(root, Add)  # of what only machine code computes
        if isinstance(root, Store):
            viewed(buffers[root.buffer], root.at, nest.lengths)[...] = x
        elif root.kind == "finite":
            squares.append(sum_of_squares(x))
        else:
            whole = np.broadcast_to(x, nest.lengths)
            parts[root.buffer, root.at.offset].append(JOINS[root.kind].reduce(whole, None))


def called(node: Apply) -> Callable[..., Any]:
    """The function of a node, a ufunc if it is one alone."""
    if node.function == "convert":
        return partial(_converted, node.char)
    return _function(node.function)


def _converted(char: str, x: Array) -> Array:
    """Real dtypes take the real part of complex numbers."""
    takes_real = x.dtype.kind == "c" and char not in f"{COMPLEX}?"
    return (x.real if takes_real else x).astype(char)


@cache
def _function(name: str) -> Callable[..., Any]:
    op = SINGLETONS[_LOGICAL.get(name, name)]
    return ufunc_of(op) or function(op)


def _number(node: Node, numbers: Sequence[float]) -> Array:
    value = numbers[node.argument] if isinstance(node, Number) else node.value  # type: ignore[union-attr]
    return np.asarray(value, node.char)


class Sweep:
    """Writes what computes a nest that has loops: the function ``part`` of some rows, and its call.

    The kernel's buffers are ``b0``, ``b1``, ..., each with one axis. What is reduced of each block
    is appended to lists: ``parts`` by buffer and offset, and ``squares``.
    """

    def __init__(self, text: Text, nest: Nest, number: int, numbers: Sequence[float]) -> None:
        self._text, self._nest, self._numbers = text, nest, numbers
        #: A suffix for the names of this nest.
        self._own = f"_{number}"
        windows = Windows(nest)
        self._arrays = windows.arrays
        self._roots = [*zip(nest.roots, windows.roots, strict=True)]
        self._names: dict[int, str] = {}
        #: The lines before the function, and those of a block: what it reads and stores, then all.
        self._before: list[str] = []
        self._heads: list[str] = []
        self._lines: list[str] = []
        self._buffers: list[_Kind] = []
        self._free: dict[_Kind, list[str]] = {}
        self._held: dict[int, tuple[_Kind, str]] = {}
        #: Bytes of a row of what is read and stored.
        self._row_bytes = 0
        readers = [(arg, k) for k, rows in enumerate(self._arrays) for arg, _ in rows.args]
        self._last = {**{k: k for k in range(len(self._arrays))}, **dict(readers)}
        self._uses = Counter([arg for arg, _ in readers] + [of for _, (of, _) in self._roots])
        for array in range(len(self._arrays)):
            self._array(array)
        self.rows = self._rows_of_a_block()

    def _rows_of_a_block(self) -> int:
        each = self._row_bytes + sum([_nbytes(kind) for kind in self._buffers])
        widest = max([prod(shape) for _, _, shape in self._buffers], default=1)
        most = max(BLOCK_BYTES // max(each, 1), FEWEST_ELEMENTS // widest, 1)
        length = self._nest.lengths[0]
        rows = -(-length // -(-length // most))
        return min(rows + -rows % ALIGNED if rows > ALIGNED else rows, length)

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        return sum([_nbytes(kind, self.rows + kind[1]) for kind in self._buffers])

    def write(self, threads: int) -> None:
        """Write it all, for so many threads."""
        text, length, rows = self._text, self._nest.lengths[0], self.rows
        for line in self._before:
            text.write(line)
        text.write("def part(begin, end):")
        lists = [k for k, (root, _) in enumerate(self._roots) if isinstance(root, Reduce)]
        for k in lists:
            text.write(f"q{k} = []", indent=2)
        names = "".join([f"t{k}, " for k in range(len(self._buffers))])
        kinds = [((rows + more, *shape), dtype_of(char)) for char, more, shape in self._buffers]
        key = " ".join(f"{dtype.str}{shape}" for shape, dtype in kinds)
        text.write(f"({names}) = taken = {text.bind(partial(POOL.take, key, kinds))}()", indent=2)
        text.write(f"for lo in {text.bind(range, 'range')}(begin, end, {rows}):", indent=2)
        text.write("poll()", indent=3)
        text.write(f"hi = {text.bind(min, 'min')}(lo + {rows}, end)", indent=3)
        text.write("n = hi - lo", indent=3)
        if length % rows and self._buffers:
            text.write(f"if n < {rows}:", indent=3)
            for k, (_, more, _) in enumerate(self._buffers):
                text.write(f"t{k} = t{k}[:{_plus('n', more)}]", indent=4)
        between = max(_ELEMENTS_BETWEEN_POLLS // (rows * prod(self._nest.lengths[1:])), 1)
        for count, line in enumerate([*self._heads, *self._lines], 1):
            text.write(line, indent=3)
            if not count % between:
                text.write("poll()", indent=3)
        text.write(f"{text.bind(partial(POOL.give, key))}(taken)", indent=2)
        text.write(f"return ({''.join([f'q{k}, ' for k in lists])})", indent=2)
        run = text.bind(partial(on_threads, length, rows, threads))
        text.write(f"for each in {run}(part):")
        for at, k in enumerate(lists):
            root, _ = self._roots[k]
            assert isinstance(root, Reduce)
            place = f"parts[{root.buffer}, {root.at.offset}]"
            joined = "squares" if root.kind == "finite" else place
            text.write(f"{joined}.extend(each[{at}])", indent=2)
        text.write("pass", indent=2)

    # The lines of arrays

    def _array(self, number: int) -> None:
        """Write what computes an array, then what stores and reduces it."""
        rows = self._arrays[number]
        node = rows.node
        roots = [k for k, (_, (of, _)) in enumerate(self._roots) if of == number]
        if isinstance(node, Load):
            self._load(number, rows, node)
        elif not isinstance(node, Apply):
            self._names[number] = self._text.bind(_number(node, self._numbers))
        elif self._is_inner_product(number):
            sides = [self._window(arg, moved) for arg, moved in self._moved(rows)]
            self._lines.append(f"q{roots.pop()}.append({self._dot(*sides)})")
        else:
            self._apply(number, rows, node, roots)
        for k in roots:
            self._root(k, number)
        for array in [a for a in self._held if self._last[a] == number]:
            self._release(array)

    def _view(self, number: int, buffer: int, at: Affine, char: str, rows: tuple[int, int]) -> str:
        """Write what is read or stored by all blocks, and by each; the name of that."""
        low, high = rows
        own = [n for n, c in zip(self._nest.lengths[1:], at.coefficients[1:], strict=True) if c]
        moves = at.coefficients[0] != 0
        self._row_bytes += moves * prod(own, start=dtype_of(char).itemsize)
        lengths, name = self._nest.lengths, f"x{number}"
        view = self._text.bind(partial(viewed, at=at, lengths=lengths, low=low, more=high - low))
        self._before.append(f"{name}{self._own} = {view}(b{buffer})")
        if not moves:
            return name + self._own
        self._heads.append(f"{name} = {name}{self._own}[lo:{_plus('hi', high - low)}]")
        return name

    def _load(self, number: int, rows: Rows, node: Load) -> None:
        window = rows.low, rows.high
        self._names[number] = self._view(number, node.buffer, node.at, node.char, window)

    def _apply(self, number: int, rows: Rows, node: Apply, roots: list[int]) -> None:
        computes = called(node)
        operands = [self._window(arg, moved) for arg, moved in self._moved(rows)]
        code = self._text.bind(computes, "" if node.function == "convert" else f"u_{node.function}")
        if not rows.moves:  # the same for all blocks
            name = self._names[number] = f"y{number}{self._own}"
            self._before.append(f"{name} = {code}({', '.join(operands)})")
        elif not isinstance(computes, np.ufunc):
            name = self._names[number] = f"y{number}"
            self._lines.append(f"{name} = {code}({', '.join(operands)})")
        else:
            direct = [k for k in roots if isinstance(self._roots[k][0], Store)]
            if direct and rows.low == rows.high and self._is_full(number):
                roots.remove(direct[0])
                out = self._names[number] = self._stored(direct[0], node.char)
            else:
                out = self._buffer(number, rows)
            self._lines.append(f"{code}({', '.join(operands)}, out={out})")

    def _root(self, k: int, number: int) -> None:
        root, (_, moved) = self._roots[k]
        x = self._window(number, (moved, moved))
        assert not isinstance(root, Add)  # of what only machine code computes
        if isinstance(root, Store):
            self._lines.append(f"{self._stored(k, self._arrays[number].node.char)}[...] = {x}")
            return
        if not self._is_full(number):
            shape = "".join([f"{n}, " for n in ("n", *self._nest.lengths[1:])])
            x = f"{self._text.bind(np.broadcast_to, 'broadcast_to')}({x}, ({shape}))"
        if root.kind == "finite":
            self._lines.append(f"q{k}.append({self._dot(x, x)})")
            return
        up = self._text.bind(JOINS[root.kind].reduce, f"{root.kind}_up")
        self._lines.append(f"q{k}.append({up}({x}, None))")

    def _stored(self, k: int, char: str) -> str:
        """The rows of a result that a block stores."""
        root, _ = self._roots[k]
        return self._view(len(self._arrays) + k, root.buffer, root.at, char, (0, 0))

    def _is_inner_product(self, number: int) -> bool:
        """True if products are read only to be summed, which BLAS does."""
        rows = self._arrays[number]
        summed = [r for r, (of, _) in self._roots if of == number]
        return (
            [getattr(root, "kind", "") for root in summed] == ["sum"]
            and self._uses[number] == 1
            and rows.node.function == "multiply"  # type: ignore[union-attr]
            and all(self._is_full(arg) for arg, _ in rows.args)
        )

    def _dot(self, x: str, y: str) -> str:
        if len(self._nest.lengths) == 1:
            return f"{x}.dot({y})"
        return f"{x}.reshape(-1).dot({y}.reshape(-1))"

    def _is_full(self, number: int) -> bool:
        """True if an array varies along all loops."""
        loops = self._arrays[number].loops
        return len(loops) == len(self._nest.lengths) and all(loops)

    # Windows, and the buffers that they are on

    def _moved(self, rows: Rows) -> list[tuple[int, tuple[int, int]]]:
        """The rows of its operands from which an array is computed."""
        return [(arg, (rows.low + moved, rows.high + moved)) for arg, moved in rows.args]

    def _window(self, number: int, window: tuple[int, int]) -> str:
        """The rows of an array from ``lo`` to ``hi``, and so many further."""
        rows, name = self._arrays[number], self._names[number]
        low, high = window
        if not rows.moves or (rows.low, rows.high) == window:
            return name
        return f"{name}[{low - rows.low}:{_plus('n', high - rows.low)}]"

    def _buffer(self, number: int, rows: Rows) -> str:
        """The memory in which an array is computed: that of an operand, or a buffer."""
        inner = self._nest.lengths[1:]
        along = [*rows.loops[1:], *[False] * len(inner)]
        kind = (
            rows.node.char,
            rows.high - rows.low,
            tuple([n if c else 1 for n, c in zip(inner, along, strict=False)]),
        )
        for arg, _ in rows.args:
            whole = {window for a, window in self._moved(rows) if a == arg}
            of = self._arrays[arg]
            dies = self._last[arg] == number and whole == {(of.low, of.high)}
            if dies and self._held.get(arg, ("", ""))[0] == kind:
                self._release(arg)
                break
        names = self._free.setdefault(kind, [])
        if not names:
            names.append(f"t{len(self._buffers)}")
            self._buffers.append(kind)
        self._held[number] = kind, names.pop()
        self._names[number] = self._held[number][1]
        return self._names[number]

    def _release(self, number: int) -> None:
        kind, name = self._held.pop(number)
        self._free[kind].append(name)


def _plus(name: str, rows: int) -> str:
    return f"{name} + {rows}" if rows else name


def _nbytes(kind: _Kind, rows: int = 1) -> int:
    char, _, shape = kind
    return rows * prod(shape, start=dtype_of(char).itemsize)
