"""The form of the optimiser's rules: the values known so far, and the rewritten expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.pointwise.arithmetic import Multiply, Negative
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.partial_evaluation import stands
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, DType, Instruction, Shape, Type

#: Most bytes and steps of a computation of constants that is looked at.
_COMPUTED_BYTES, _COMPUTED_STEPS = 1 << 25, 64
#: Operations that make zeros with their first operand in a part of them.
PARTS = frozenset((ScatterAdd, Pad))
#: A slot, or an operation on expressions.
Expression: TypeAlias = "int | tuple[Op, Sequence[Expression]]"


class Settled(NamedTuple):
    """An expression of which the rule that gave it is not asked again."""

    value: Expression


class ValueTable:
    """Value numbers: the instructions so far, each value once, what is known of it and its readers.

    ``counts`` are how often the values of old slots are read; ``moved`` are the slots that these
    have now, up to the one of number ``at``. The inputs of the numbers ``residents`` are the same
    at every replay. ``costs`` are those of the backend, and ``fold`` computes with it.
    Source: Aho, Lam, Sethi and Ullman, Compilers, section 6.1.2.
    """

    #: The type of the result that rules are asked about.
    kind: Type

    def __init__(
        self,
        counts: Sequence[int],
        moved: Sequence[int],
        costs: Costs,
        fold: Callable[..., Any],
        poll: Poll = no_deadline,
        residents: Set[int] = frozenset(),
    ) -> None:
        self.costs, self._fold = costs, fold
        self.code: list[Instruction] = []
        self.known: dict[tuple[Op, tuple[int, ...]], int] = {}
        #: The values of constants, and of those that are inexact numbers.
        self.constants: dict[int, Any] = {}
        self.numbers: dict[int, Any] = {}
        #: All constants, with opposites and what numbers multiply.
        self.multiples: set[int] = set()
        #: Operands of broadcasts, and slots whose elements are all 1.
        self.repeated: dict[int, int] = {}
        self.ones: set[int] = set()
        #: All those, and whatever else rules of arithmetic look for among its operands.
        self.marked: set[int] = set()
        self.at = 0
        self._counts, self._moved, self._poll = counts, moved, poll
        self._reads: dict[int, int] = {}
        self._counted = 0
        self._residents = residents
        self._standing = bytearray()
        #: The values computed of constants, by slots.
        self._values: dict[int, Any] = {}

    def shape(self, slot: int) -> Shape:
        """The shape of an array's slot."""
        return self.code[slot].type.shape  # type: ignore[union-attr]

    def dtype(self, slot: int) -> DType:
        """The dtype of an array's slot."""
        return self.code[slot].type.dtype  # type: ignore[union-attr]

    def size(self, slot: int) -> int:
        """The number of elements of an array's slot."""
        return self.code[slot].type.size  # type: ignore[union-attr]

    def number(self, slot: int) -> Any:
        """The value of a constant without axes that is inexact, else nothing."""
        return self.numbers.get(slot)

    def value(self, slot: int) -> Any:
        """The value of an expression of constants, in few steps and up to a size; else nothing."""
        if slot not in self._values:
            self._values[slot] = self._computed(slot)
        return self._values[slot]

    def _computed(self, slot: int) -> Any:
        needed, nbytes, found = [slot], 0, dict[int, Any]()
        for number in needed:  # which grows
            op, args, kind, _ = self.code[number]
            nbytes += kind.nbytes if isinstance(kind, ArrayType) else _COMPUTED_BYTES + 1
            if not (args or isinstance(op, Constant)) or nbytes > _COMPUTED_BYTES:
                return None
            if len(needed) > _COMPUTED_STEPS:
                return None
            needed += [arg for arg in args if arg not in needed]
        for number in sorted(needed):
            op, args, _, _ = self.code[number]
            values = [found[arg] for arg in args]
            self._poll()
            found[number] = op.value if isinstance(op, Constant) else self._fold(op, *values)
            if found[number] is None:
                return None
        return found[slot]

    def note(self, slot: int) -> None:
        """Look at an instruction that has just been appended, of a type in ``NOTED``."""
        op, args, _, _ = self.code[slot]
        of = type(op)
        self.marked.add(slot)
        if of is Constant:
            value = self.constants[slot] = op.value  # type: ignore[attr-defined]
            self.multiples.add(slot)
            if not np.ndim(value):
                if value.dtype.kind in "fc":
                    self.numbers[slot] = value
                if value == 1:
                    self.ones.add(slot)
        elif of is BroadcastTo:
            self.repeated[slot] = args[0]
            if args[0] in self.ones:
                self.ones.add(slot)
        elif of is Multiply:
            x, y = args
            if x in self.numbers or y in self.numbers:
                self.multiples.add(slot)
            elif self.code[x].type is self.code[y].type:
                self.marked.discard(slot)
        elif of in _MULTIPLES:
            self.multiples.add(slot)

    def find(self, op: Op, *args: int) -> int | None:
        """The slot that has the value of a commutative ``op`` of slots, if one does."""
        found = self.known.get((op, args))
        return self.known.get((op, args[::-1])) if found is None else found

    def stands(self, slot: int) -> bool:
        """True if the value of a slot depends on residents, and on nothing else but constants."""
        if not self._residents:
            return False
        for instruction in polled(self.code[len(self._standing) :], self._poll):
            self._standing.append(stands(instruction, self._standing, self._residents))
        return bool(self._standing[slot])

    def shared(self, slot: int) -> bool:
        """True if the value of a slot is read more than once."""
        return self.reads(slot) > 1

    def reads(self, slot: int) -> int:
        """The number of readers of a slot's value, as far as that is known by now."""
        if self._counted < self.at:
            for old in polled(range(self._counted, self.at), self._poll):
                new = self._moved[old]
                self._reads[new] = self._reads.get(new, 0) + self._counts[old]
            self._counted = self.at
        return self._reads.get(slot, 0)


def constant(value: Any, dtype: DType) -> Expression:
    """A number of ``dtype``."""
    return Constant.of(np.asarray(value, dtype)), ()


_MULTIPLES = frozenset((Negative, *PARTS))
#: Operations that a ``ValueTable`` notes: rules of arithmetic look for these among operands.
NOTED = frozenset((Constant, BroadcastTo, Multiply, OnDiagonal, Reshape, *_MULTIPLES))
#: A rule that gives the value of an operation of slots with less work, where it knows how.
Rule: TypeAlias = Callable[[Op, Sequence[int], ValueTable], "Expression | Settled | None"]


def united(*tables: Mapping[type[Op], Rule]) -> Mapping[type[Op], Rule]:
    """The rules of all tables.

    Raises: ``TypeError`` where an operation has a rule in two of them.
    """
    found: dict[type[Op], Rule] = {}
    for table in tables:
        if twice := found.keys() & table.keys():
            raise TypeError(f"two rules for {', '.join(sorted(op.name for op in twice))}")
        found.update(table)
    return found
