"""The loop-level form: nests of loops whose bodies are expressions over elements of buffers.

Indices are affine in the numbers of the loops, and in whole numbers that nests compute, so reading
a transposed, sliced, broadcast, concatenated or gathered array costs no copy. A kernel names no
program, tape or backend, and no length but as an integer: ``Kernel.structure`` is equal for kernels
that differ in lengths and numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from gradwire_engine.tape import Shape

#: The value of a node: its number among those of its nest.
Value: TypeAlias = int
#: Whole numbers from this on are arguments of machine code, smaller ones are part of it.
LEAST_ARGUMENT = 17


class Affine(NamedTuple):
    """``offset + sum coefficients[k] i[k] + sum factor value``: of the loops of a nest, and terms.

    A term is a value and its factor: a whole number that the nest computes from data.
    """

    coefficients: tuple[int, ...]
    offset: int
    terms: tuple[tuple[Value, int], ...] = ()


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


class Count(NamedTuple):
    """The whole number that an index is."""

    at: Affine
    char: str = "l"


class Carried(NamedTuple):
    """What the pass before gave on, by the number of the nest's carry."""

    carry: int
    char: str


class Apply(NamedTuple):
    """A function of values, by its name; ``convert`` is to the dtype ``char``."""

    function: str
    args: tuple[Value, ...]
    char: str


Node: TypeAlias = Load | Number | Literal | Within | Count | Carried | Apply


class Store(NamedTuple):
    """Every value is stored, in the order of the loops."""

    buffer: int
    at: Affine
    value: Value


class Add(NamedTuple):
    """Every value is added to what is there, in the order of the loops."""

    buffer: int
    at: Affine
    value: Value


#: The kinds of reductions that go over all loops, and that buffers bring together.
EVERYWHERE = frozenset(("finite", "all"))


class Reduce(NamedTuple):
    """Values are put together over all loops that are not kept: by ``sum``, ``max`` or ``min``.

    ``finite`` ones are 0 where all values are finite, else NaN; ``all`` ones are false where all
    values are true.
    """

    kind: str
    buffer: int
    at: Affine
    value: Value


Root: TypeAlias = Store | Add | Reduce


class Carry(NamedTuple):
    """A value that each pass gives on to the next, of which the first begins with ``first``."""

    value: Value
    first: float
    char: str


class Nest(NamedTuple):
    """Loops of these lengths, the first ``kept`` of them around those that reductions go over.

    Nodes come after those that they are computed from. ``carries`` are of the passes of the only
    loop that is not kept, if there are any.
    """

    lengths: Shape
    kept: int
    nodes: tuple[Node, ...]
    roots: tuple[Root, ...]
    carries: tuple[Carry, ...] = ()

    @property
    def steps(self) -> int:
        """How many times the innermost body is executed."""
        steps = 1
        for length in self.lengths:
            steps *= length
        return steps


class Buffer(NamedTuple):
    """Memory that nests read and write: the elements of an array in row-major order."""

    shape: Shape
    char: str


class Place(NamedTuple):
    """Where a value is: a buffer, or one ``element`` of it where it has no axes."""

    buffer: int
    element: int = 0


class Kernel(NamedTuple):
    """Nests that are computed one after the other.

    Of the buffers the first are the operands. ``flags`` are those that begin with 0, and end with
    NaN where what they tell of is not finite. ``faults`` begin with false, and end with true where
    an index from data is out of range: what the kernel gives is of no use then.
    """

    buffers: tuple[Buffer, ...]
    operands: int
    results: tuple[Place, ...]
    flags: tuple[int, ...]
    nests: tuple[Nest, ...]
    #: The values of ``Number``.
    numbers: tuple[float, ...]
    faults: tuple[int, ...] = ()

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
                if type(node) is Load or type(node) is Count:
                    yield from _integers_of(node.at)
                elif type(node) is Within:
                    yield from _integers_of(node.at)
                    yield from (node.low, node.high)
            for root in nest.roots:
                yield from _integers_of(root.at)


def _integers_of(at: Affine) -> Iterator[int]:
    yield from at.coefficients
    yield at.offset
    for _, factor in at.terms:
        yield factor
