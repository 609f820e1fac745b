"""Loops as one instruction: a body, recorded once, that is passed through many times.

What the passes read and write one after the other are *stacks* (``stacks.py``).
Source: the scan and while primitives of Frostig, Johnson and Leary, Compiling machine learning
programs via high-level tracing (2018), here one, whose saved carries make it reversible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import InternalError
from gradwire_engine.ops.base import Cotangents, Op, no_arithmetic, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.constants import Constant
from gradwire_engine.tape import ArrayType, StackType, Tape, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

COUNT = ArrayType(np.dtype("int64"), ())
#: Bytes of a scalar in a list.
_SCALAR_BYTES = 48
#: Passes that are taken for granted where nothing is known.
_GUESSED_PASSES = 1000


@dataclass(frozen=True, slots=True)
class Path:
    """One path through a body, taken where its decisions fall so.

    ``outputs`` and ``decisions`` are numbers of the body's outputs: of the new carries and what is
    written; and of what decides, with the outcome.  A path that ``ends`` the loop is *counted* as a
    pass, unless it only finds that the loop has ended: then it changes nothing.  One that is not
    ``known`` could not be recorded, and replays must not go there.
    """

    outputs: tuple[int, ...] = ()
    decisions: tuple[tuple[int, bool], ...] = ()
    ends: bool = False
    counted: bool = True
    known: bool = True


@dataclass(frozen=True)
class Body:
    """The joint computation of paths through a pass: equal when all instructions are.

    Its inputs are the number of the pass, the carries, the items of the stacks, and what all passes
    share.
    """

    tape: Tape

    @cached_property
    def _hash(self) -> int:
        return hash(self.tape)

    def __hash__(self) -> int:
        """Computed once."""
        return self._hash

    @cached_property
    def flops(self) -> int:
        """Predicted arithmetic operations of a pass."""
        made = self.tape.instructions
        each: list[int] = [op.flops(t, *[made[a].type for a in args]) for op, args, t, _ in made]  # type: ignore[arg-type]
        return sum(each)

    @cached_property
    def constant_bytes(self) -> int:
        """Bytes of the constants, those of loops within included."""
        ops = [i.op for i in self.tape.instructions]
        within: int = sum([op.body.constant_bytes for op in ops if isinstance(op, Loop)])
        own: int = sum([op.value.nbytes for op in ops if isinstance(op, Constant)])
        return within + own

    def kind(self, output: int) -> Any:
        """The type of an output."""
        return self.tape.instructions[self.tape.outputs[output]].type

    @property
    def inputs(self) -> list[Any]:
        """The types of the inputs."""
        return [self.tape.instructions[slot].type for slot in self.tape.inputs]


@register("loop", public=False)
class Loop(Op):
    """Pass through a body again and again, each time with the carries that the last pass gave.

    Operands: the number of passes, if ``counted``, else they go on until a path ends; ``carries``;
    ``stacks``; what all passes share.  Pass k reads item k of the stacks; ``backward`` they go from
    the last to the first.  Results: the carries after the last pass; ``written`` stacks; of each
    carry the stack of values that passes began with; the stack of the numbers of the paths taken;
    the number of passes.  Those that are not ``wanted`` are not made; None wants all.
    """

    composite = True
    rounds = False  # what its body computes is rounded there

    body: Body
    paths: tuple[Path, ...]
    carries: int
    stacks: int
    written: int
    counted: bool
    backward: bool
    #: The number of passes, where it is known beforehand.
    passes: int | None
    most_bytes: int
    wanted: frozenset[int] | None = None

    # The numbers of results, for those that are behind the carries

    def output(self, number: int) -> int:
        """The result that is the stack of what passes write."""
        return self.carries + number

    def saved(self, number: int) -> int:
        """The result that is the stack of the values that a carry had as passes began."""
        return self.carries + self.written + number

    @property
    def branches(self) -> int:
        """The result that is the stack of the numbers of the paths taken."""
        return 2 * self.carries + self.written

    @property
    def trip_count(self) -> int:
        """The result that is the number of passes."""
        return self.branches + 1

    def wants(self, number: int) -> bool:
        """True if a result is made."""
        return self.wanted is None or number in self.wanted

    def infer(self, *types: Type) -> TupleType:
        """The types that the body takes and gives."""
        carries = self.body.inputs[1 : 1 + self.carries]
        pattern = next(path for path in self.paths if path.known and path.counted)
        written = [self.body.kind(output) for output in pattern.outputs[self.carries :]]
        stacks = [StackType(kind) for kind in [*written, *carries]]
        return TupleType((*carries, *stacks, StackType(COUNT), COUNT))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Not asked: a backend generates the code of all passes."""
        raise InternalError("a loop has no kernel of its own")

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Not asked: the reverse walk records a loop backward (``autodiff/loops.py``)."""
        raise InternalError("a loop has no rule of its own")

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Not asked: the paths of examples may differ (``batching/batched_loops.py``)."""
        raise InternalError("a loop has no batching rule of its own")

    def flops(self, result: Type, *types: Type) -> int:
        """Those of the body, for each pass that is sure to be made."""
        return (1 if self.passes is None else self.passes) * self.body.flops

    @property
    def nbytes(self) -> int:
        """Predicted bytes of the results that are made, stacks of an unknown length left out."""
        kinds = enumerate(self.infer().items)
        made = [kind for number, kind in kinds if self.wants(number)]
        times = self.passes or 1
        return sum(k.nbytes * (times if isinstance(k, StackType) else 1) for k in made)

    @property
    def is_straight(self) -> bool:
        """True if all passes take one path, as many as are counted."""
        (first, *more) = self.paths
        return self.counted and not more and first.known and not (first.ends or first.decisions)

    @property
    def kept_bytes(self) -> int:
        """Bytes of what stacks keep of each pass."""
        kinds = [kind for number, kind in enumerate(self.infer().items) if self.wants(number)]
        return sum([max(k.nbytes, _SCALAR_BYTES) for k in kinds if isinstance(k, StackType)])

    @property
    def steps(self) -> int:
        """Predicted number of instructions that all passes execute."""
        made = self.body.tape.instructions
        each = sum(i.op.steps if isinstance(i.op, Loop) else 1 for i in made)
        return (_GUESSED_PASSES if self.passes is None else self.passes) * each

    def __str__(self) -> str:
        direction = "backward over" if self.backward else "over"
        return f"loop[{direction} {len(self.body.tape.instructions)} instructions]"


@register("block_argument", public=False)
class BlockArgument(Op):
    """A placeholder for an input of a body while it is recorded: it has no value yet."""

    region: Any
    number: int

    def infer(self, *types: Type) -> Type:
        """Not asked: the region knows the type."""
        raise InternalError("a carry has the type that it is given")

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Refuse: what is decided by a value must be recorded pass by pass."""
        raise MustUnroll("this needs the value that a pass begins with")

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """It has no operands."""
        return ()

    batch = over_stacks  # not asked: there are no operands

    flops = no_arithmetic


class MustUnroll(Exception):
    """The body cannot be recorded once for all passes; not an error of anybody's."""
