"""The loop-level form: nests of loops whose bodies are expressions over elements of buffers.

Indices are affine in the numbers of the loops, so reading a transposed, sliced, broadcast or
concatenated array costs no copy. A kernel names no program, tape or backend, and no length but as
an integer: ``Kernel.structure`` is equal for kernels that differ in lengths and numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from gradwire_engine.tape import Shape

#: The value of a node: its number among those of its nest.
Value: TypeAlias = int
#: Whole numbers from this on are arguments of machine code, smaller ones are part of it.
LEAST_ARGUMENT = 17


class Affine(NamedTuple):
    """``offset + sum coefficients[k] i[k]`` over the loops around it, from the outermost."""

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


class Counter(NamedTuple):
    """The number that an index is."""

    at: Affine
    char: str = "l"


class Apply(NamedTuple):
    """A function of values, by its name; ``convert`` is to the dtype ``char``."""

    function: str
    args: tuple[Value, ...]
    char: str


Node: TypeAlias = Load | Number | Literal | Within | Counter | Apply


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

    Nodes come after those that they are computed from. There are ``outer`` loops around it, which
    the first coefficients of all indices are of.
    """

    lengths: Shape
    kept: int
    nodes: tuple[Node, ...]
    roots: tuple[Root, ...]
    outer: int = 0

    @property
    def steps(self) -> int:
        """How many nodes are computed."""
        return math.prod(self.lengths) * max(len(self.nodes), 1)

    @property
    def length(self) -> int:
        """How many nodes and roots there are."""
        return len(self.nodes) + len(self.roots)

    @property
    def is_in_place(self) -> bool:
        """Whether it writes a buffer that it reads."""
        read = {node.buffer for node in self.nodes if isinstance(node, Load)}
        return any(root.buffer in read for root in self.roots)


class Repeat(NamedTuple):
    """Nests that are computed one after the other, in each of so many passes.

    Indices in them have a coefficient for the number of the pass, which goes from 0 on, and
    ``backward`` down to 0.
    """

    passes: int
    backward: bool
    nests: tuple[Nest | Repeat, ...]

    @property
    def steps(self) -> int:
        """How many nodes are computed."""
        return self.passes * sum([each.steps for each in self.nests])

    @property
    def length(self) -> int:
        """How many nodes and roots there are."""
        return sum([each.length for each in self.nests])


#: What a kernel computes, one after the other.
Step: TypeAlias = Nest | Repeat


def nests_of(steps: Iterable[Step]) -> Iterator[Nest]:
    """All nests, in the order in which they are first computed."""
    for step in steps:
        if isinstance(step, Repeat):
            yield from nests_of(step.nests)
        else:
            yield step


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

    Of the buffers the first are the ``operands``, the last are ``local``: nothing outside has them.
    ``flags`` are those that begin with 0, and end with NaN where what they tell of is not finite.
    """

    buffers: tuple[Buffer, ...]
    operands: int
    results: tuple[Place, ...]
    flags: tuple[int, ...]
    nests: tuple[Step, ...]
    #: The values of ``Number``.
    numbers: tuple[float, ...]
    local: int = 0

    @property
    def steps(self) -> int:
        """Nodes that are computed, the innermost loops' counted."""
        return sum([nest.steps for nest in self.nests])

    @property
    def length(self) -> int:
        """How many nodes and roots there are."""
        return sum([nest.length for nest in self.nests])

    @property
    def passed(self) -> int:
        """How many buffers are arguments: all but those that are local."""
        return len(self.buffers) - self.local

    def nests_apart(self) -> list[Kernel]:
        """A kernel for each nest, of the same buffers, of which none is local."""
        return [self._replace(nests=(nest,), local=0) for nest in self.nests]

    def integers(self) -> dict[int, int]:
        """The integers that are arguments, numbered in the order in which they are met."""
        found: dict[int, int] = {}
        for integer in _integers(self.nests):
            if abs(integer) >= LEAST_ARGUMENT:
                found.setdefault(integer, len(found))
        return found


def _integers(steps: Iterable[Step]) -> Iterator[int]:
    for step in steps:
        if isinstance(step, Repeat):
            yield step.passes
            yield step.passes - 1
            yield from _integers(step.nests)
            continue
        yield from step.lengths
        for node in step.nodes:
            if isinstance(node, Load | Within | Counter):
                yield from node.at.coefficients
                yield node.at.offset
            if type(node) is Within:
                yield from (node.low, node.high)
        for root in step.roots:
            yield from root.at.coefficients
            yield root.at.offset
