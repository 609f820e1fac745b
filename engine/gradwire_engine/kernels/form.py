"""The loop-level form: nests of loops whose bodies are expressions over elements of buffers.

Indices are affine in the numbers of the loops, and in whole numbers that nests compute, so reading
a transposed, sliced, broadcast, concatenated or gathered array costs no copy. A kernel names no
program, tape or backend, and no length but as an integer: ``Kernel.structure`` is equal for kernels
that differ in lengths and numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.identity import exact
from gradwire_engine.ops.promotion import BFLOAT16
from gradwire_engine.tape import DType, Shape

#: The value of a node: its number among those of its nest.
Value: TypeAlias = int
#: The dtypes of elements, by NumPy's characters.
FLOATS, INTEGERS, COMPLEX = "df", "li", "DF"
REAL = FLOATS + INTEGERS + "?"
DTYPES = REAL + COMPLEX
#: float16 and bfloat16: kernels load, store and convert them, and compute in float32.
HALVES = "eE"
#: Whole numbers from this on are arguments of machine code, smaller ones are part of it.
LEAST_ARGUMENT = 17


def dtype_of(char: str) -> DType:
    """The dtype of elements."""
    return BFLOAT16 if char == BFLOAT16.char else np.dtype(char)


def real_char(char: str) -> str:
    """The dtype of real parts."""
    return char.lower() if char in COMPLEX else char


class Affine(NamedTuple):
    """``offset + sum coefficients[k] i[k] + sum factor value``: of the loops around it, and terms.

    The outermost loop is the first. A term is a value and its factor: a whole number that the nest
    computes from data.
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

    def __eq__(self, other: object) -> bool:
        """True for the same number: the sign of a zero counts."""
        return type(other) is type(self) and exact(tuple(self)) == exact(tuple(other))

    def __hash__(self) -> int:
        """Of the number."""
        return hash(exact(tuple(self)))


class Within(NamedTuple):
    """True if an index is at least ``low`` and less than ``high``."""

    at: Affine
    low: int
    high: int
    char: str = "?"


class Count(NamedTuple):
    """The whole number that an index is."""

    at: Affine
    char: str = "l"


class Carried(NamedTuple):
    """The value carried over from the pass before, by the number of the nest's carry."""

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


Output: TypeAlias = Store | Add | Reduce


class Carry(NamedTuple):
    """A value that each pass gives on to the next, of which the first begins with ``first``."""

    value: Value
    first: float
    char: str

    def __eq__(self, other: object) -> bool:
        """True for the same number: the sign of a zero counts."""
        return type(other) is type(self) and exact(tuple(self)) == exact(tuple(other))

    def __hash__(self) -> int:
        """Of the number."""
        return hash(exact(tuple(self)))


class Nest(NamedTuple):
    """Loops of these lengths, the first ``kept`` of them around those that reductions go over.

    Nodes come after those that they are computed from. There are ``outer`` loops around it, which
    the first coefficients of all indices are of. ``carries`` are of the passes of the only loop
    that is not kept, if there are any.
    """

    lengths: Shape
    kept: int
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    outer: int = 0
    carries: tuple[Carry, ...] = ()

    @property
    def steps(self) -> int:
        """The number of computed nodes."""
        return math.prod(self.lengths) * max(len(self.nodes), 1)

    @property
    def length(self) -> int:
        """The number of nodes and outputs."""
        return len(self.nodes) + len(self.outputs)

    @property
    def is_in_place(self) -> bool:
        """True if it writes a buffer that it reads."""
        read = {node.buffer for node in self.nodes if isinstance(node, Load)}
        return any(output.buffer in read for output in self.outputs)


class For(NamedTuple):
    """Steps that are computed one after the other, in each of so many passes.

    Indices in them have a coefficient for the number of the pass, which goes from 0 on, and
    ``backward`` down to 0. If the number of passes is only known when they are made, it is none.
    ``status`` is the buffer of two integers where ``Break`` writes how they ended.
    """

    passes: int | None
    backward: bool
    nests: tuple[Step, ...]
    status: int | None = None

    @property
    def pass_steps(self) -> int:
        """The number of nodes computed in a pass."""
        return sum([each.steps for each in self.nests])

    @property
    def steps(self) -> int:
        """The number of computed nodes."""
        return (_GUESSED_PASSES if self.passes is None else self.passes) * self.pass_steps

    @property
    def length(self) -> int:
        """The number of nodes and outputs."""
        return sum([each.length for each in self.nests])


class If(NamedTuple):
    """The first steps where the number in a buffer is true, else the others."""

    buffer: int
    chosen: tuple[Step, ...]
    otherwise: tuple[Step, ...]

    @property
    def nests(self) -> tuple[Step, ...]:
        """All steps."""
        return (*self.chosen, *self.otherwise)

    @property
    def steps(self) -> int:
        """The largest number of computed nodes."""
        ways = self.chosen, self.otherwise
        return max([sum([each.steps for each in way]) for way in ways])

    @property
    def length(self) -> int:
        """The number of nodes and outputs."""
        return sum([each.length for each in self.nests])


class Break(NamedTuple):
    """The end of the passes around it: 1 and their number are put into the status of these.

    This one is one of them if ``counted``. If it ``fails``, nothing of the result is of use, and
    the status is 2.
    """

    counted: bool
    fails: bool = False
    steps: int = 1
    length: int = 1
    nests: tuple[Step, ...] = ()


#: A part of a kernel, computed one after the other.
Step: TypeAlias = Nest | For | If | Break
#: The ends of a loop, in its status.
ENDED, FAILED = 1, 2
#: Passes that are taken for granted where nothing is known.
_GUESSED_PASSES = 1000


def nests_of(steps: Iterable[Step]) -> Iterator[Nest]:
    """All nests, in the order in which they are first computed."""
    for step in steps:
        if isinstance(step, Nest):
            yield step
        else:
            yield from nests_of(step.nests)


class Buffer(NamedTuple):
    """Memory that nests read and write: the elements of an array in row-major order.

    A complex element is two real ones, and indices count these.
    One that ``grows`` has as many items along its first axis as passes are made.
    """

    shape: Shape
    char: str
    grows: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape, start=dtype_of(self.char).itemsize)


class Place(NamedTuple):
    """The place of a value: a buffer, or one ``element`` of it where it has no axes."""

    buffer: int
    element: int = 0


class Kernel(NamedTuple):
    """Nests that are computed one after the other.

    Of the buffers the first are the ``operands``, the last are ``local``: nothing outside has them.
    ``flags`` are those that begin with 0, and end with NaN where their result is not finite.
    ``faults`` begin with false, and end with true where an index from data is out of range: what
    the kernel gives is of no use then. ``statuses`` are those of passes.
    """

    buffers: tuple[Buffer, ...]
    operands: int
    results: tuple[Place, ...]
    flags: tuple[int, ...]
    nests: tuple[Step, ...]
    #: The values of ``Number``.
    numbers: tuple[float, ...]
    faults: tuple[int, ...] = ()
    local: int = 0
    statuses: tuple[int, ...] = ()

    @property
    def steps(self) -> int:
        """Nodes that are computed, the innermost loops' counted."""
        return sum([nest.steps for nest in self.nests])

    @property
    def length(self) -> int:
        """The number of nodes and outputs."""
        return sum([nest.length for nest in self.nests])

    @property
    def passed(self) -> int:
        """The number of buffers that are arguments: all but those that are local."""
        return len(self.buffers) - self.local

    def pieces(self, most_steps: int) -> list[Kernel]:
        """Kernels of the same buffers, of which none is local, each of few steps or of one nest."""
        parts: list[list[Step]] = []
        total = most_steps
        for nest in self.nests:
            alone = isinstance(nest, For) and nest.passes is None
            if alone or total + nest.steps > most_steps:
                parts.append([])
                total = 0
            parts[-1].append(nest)
            total += most_steps if alone else nest.steps
        return [self._replace(nests=tuple(part), local=0) for part in parts]

    def integers(self) -> dict[int, int]:
        """The integers that are arguments, numbered in the order in which they are met."""
        found: dict[int, int] = {}
        for integer in _integers(self.nests):
            if abs(integer) >= LEAST_ARGUMENT:
                found.setdefault(integer, len(found))
        return found


def _integers(steps: Iterable[Step]) -> Iterator[int]:
    for step in steps:
        if not isinstance(step, Nest):
            if isinstance(step, For) and step.passes is not None:
                yield step.passes
                yield step.passes - 1
            yield from _integers(step.nests)
            continue
        yield from step.lengths
        for node in step.nodes:
            if isinstance(node, Load | Within | Count):
                yield from _integers_of(node.at)
            if type(node) is Within:
                yield from (node.low, node.high)
        for output in step.outputs:
            yield from _integers_of(output.at)


def _integers_of(at: Affine) -> Iterator[int]:
    yield from at.coefficients
    yield at.offset
    for _, factor in at.terms:
        yield factor
