"""The loop-level form: nests of loops whose bodies are expressions over elements of buffers.

Indices are affine in the numbers of the loops, so reading a transposed, sliced, broadcast or
concatenated array costs no copy. A kernel names no program, tape or backend, and no length but as
an integer: ``Kernel.structure`` is equal for kernels that differ in lengths and numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from gradwire_engine.tape import Shape

#: The value of a node: its number among those of its nest.
Value: TypeAlias = int
#: The dtypes of elements, by NumPy's characters.
FLOATS, INTEGERS, COMPLEX = "df", "li", "DF"
REAL = FLOATS + INTEGERS + "?"
DTYPES = REAL + COMPLEX
#: Whole numbers from this on are arguments of machine code, smaller ones are part of it.
LEAST_ARGUMENT = 17


class Affine(NamedTuple):
    """``offset + sum coefficients[k] i[k]`` over the loops of a nest."""

    coefficients: tuple[int, ...]
    offset: int


class Load(NamedTuple):
    """An element of a buffer, at its place in row-major order; 0 where ``guard`` is false."""

    buffer: int
    at: Affine
    guard: Value | None
    char: str


class Number(NamedTuple):
    """A number that is an argument of the kernel."""

    argument: int
    char: str


class Literal(NamedTuple):
    """A number that is part of the kernel."""

    value: float
    char: str


class Within(NamedTuple):
    """Whether an index is at least ``low`` and less than ``high``."""

    at: Affine
    low: int
    high: int
    char: str = "?"


class Apply(NamedTuple):
    """A function of values, by its name; ``convert`` is to the dtype ``char``."""

    function: str
    args: tuple[Value, ...]
    char: str


Node: TypeAlias = Load | Number | Literal | Within | Apply


class Store(NamedTuple):
    """Every value is stored."""

    buffer: int
    at: Affine
    value: Value


class Reduce(NamedTuple):
    """Values are put together over all loops that are not kept: by ``sum``, ``max`` or ``min``.

    ``finite`` ones are 0 where all values are finite, else NaN.
    """

    kind: str
    buffer: int
    at: Affine
    value: Value


Root: TypeAlias = Store | Reduce


class Nest(NamedTuple):
    """Loops of these lengths, the first ``kept`` of them around those that reductions go over.

    Nodes come after those that they are computed from.
    """

    lengths: Shape
    kept: int
    nodes: tuple[Node, ...]
    roots: tuple[Root, ...]

    @property
    def steps(self) -> int:
        """How many times the innermost body is executed."""
        steps = 1
        for length in self.lengths:
            steps *= length
        return steps


class Buffer(NamedTuple):
    """Memory that nests read and write: the elements of an array in row-major order.

    A complex element is two real ones, and indices count these.
    """

    shape: Shape
    char: str


class Place(NamedTuple):
    """Where a value is: a buffer, or one ``element`` of it where it has no axes."""

    buffer: int
    element: int = 0


class Kernel(NamedTuple):
    """Nests that are computed one after the other.

    Of the buffers the first are the operands. ``flags`` are those that begin with 0, and end with
    NaN where what they tell of is not finite.
    """

    buffers: tuple[Buffer, ...]
    operands: int
    results: tuple[Place, ...]
    flags: tuple[int, ...]
    nests: tuple[Nest, ...]
    #: The values of ``Number``.
    numbers: tuple[float, ...]

    @property
    def steps(self) -> int:
        """Nodes that are computed, the innermost loops' counted."""
        return sum([nest.steps * max(len(nest.nodes), 1) for nest in self.nests])

    @property
    def length(self) -> int:
        """How many nodes and roots there are."""
        return sum([len(nest.nodes) + len(nest.roots) for nest in self.nests])

    def nests_apart(self) -> list[Kernel]:
        """A kernel for each nest, of the same buffers."""
        return [self._replace(nests=(nest,)) for nest in self.nests]

    def integers(self) -> dict[int, int]:
        """The integers that are arguments, numbered in the order in which they are met."""
        found: dict[int, int] = {}
        for integer in self._integers():
            if abs(integer) >= LEAST_ARGUMENT:
                found.setdefault(integer, len(found))
        return found

    def _integers(self) -> Iterator[int]:
        for nest in self.nests:
            yield from nest.lengths
            for node in nest.nodes:
                if type(node) is Load:
                    yield from node.at.coefficients
                    yield node.at.offset
                elif type(node) is Within:
                    yield from node.at.coefficients
                    yield from (node.at.offset, node.low, node.high)
            for root in nest.roots:
                yield from root.at.coefficients
                yield root.at.offset
