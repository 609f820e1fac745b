"""One pass over a tape: aliases, constants, identities and common subexpressions, then dead code.

It runs only after all calculus has been expanded: before, equal values may have different names
that derivatives are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.ops.arrays.shape import BroadcastTo
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import (
    Constant,
    Guard,
)
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import (
    Add,
    Divide,
    Multiply,
    Subtract,
)
from gradwire_engine.optimize.distribution import distribute
from gradwire_engine.optimize.expressions import NOTED, Expression, Kept, Rule, Settled
from gradwire_engine.optimize.identities import IDENTITIES
from gradwire_engine.optimize.liveness import compacted, shrunk
from gradwire_engine.optimize.placements import placed
from gradwire_engine.optimize.target import Target
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import ArrayType, Instruction, Tape, TapeListener, Type

#: Larger results are not kept in the tape, but beside what replays it, and so is what follows when
#: the kept ones are too many together.
_FOLDED_BYTES, _FOLDED_IN_ALL = 1 << 20, 1 << 24
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def optimize(
    tape: Tape,
    target: Target,
    poll: Poll = unhurried,
    on_tape: TapeListener | None = None,
    *,
    exact: bool = False,
    residents: Set[int] = frozenset(),
) -> Tape:
    """An equivalent tape without work that is double, constant or unused.

    An ``exact`` one gives the same bits. What depends on the inputs of the numbers ``residents``
    alone is taken to cost nothing.
    """
    instructions, live = shrunk(tape, lambda body: optimize(body, target, poll, exact=exact), poll)
    if on_tape is not None:
        on_tape("shrunk", replace(tape, instructions=tuple(instructions)))
    if instructions is not tape.instructions and not exact:  # there are loops
        whole = replace(tape, instructions=tuple(instructions))
        tape, live = distribute(whole, live, target.costs.loops, poll)
        instructions = tape.instructions
        if on_tape is not None and tape is not whole:
            on_tape("distributed", tape)
    #: Where the value of each old slot is now; inputs are always live.
    moved = [-1] * len(instructions)
    kept = Kept(instructions, live, moved, tape.outputs, target.costs, target.fold, poll, residents)
    simplifier = Simplifier(target, kept, exact=exact)
    with np.errstate(all="ignore"):
        simplifier.run(instructions, live, moved, poll)
    inputs, outputs = ([moved[slot] for slot in slots] for slots in (tape.inputs, tape.outputs))
    if on_tape is not None:
        on_tape("simplified", Tape(tuple(simplifier.instructions), tuple(inputs), tuple(outputs)))
    least = compacted(simplifier.instructions, inputs, outputs, poll)
    fewer = least if exact else placed(least, poll)
    if fewer is not least:
        least = compacted(fewer.instructions, fewer.inputs, fewer.outputs, poll)
    if on_tape is not None:
        on_tape("compacted", least)
    return least


class Simplifier:
    """Instructions kept so far, and what is known of slots; ``origin`` is that of the next."""

    def __init__(self, target: Target, kept: Kept, *, exact: bool) -> None:
        self._fold, self._rules = target.fold, target.rules
        self.exact = exact
        self._identities = target.rules.exact_identities if exact else IDENTITIES
        self._kept = kept
        self.instructions = kept.code
        self._known = kept.known
        #: Values of constants, operands of broadcasts, and slots whose elements are all 1.
        self.constants: dict[int, Any] = {}
        self._repeated: dict[int, int] = {}
        self.ones: set[int] = set()
        self.origin = 0
        self.op: Op | None = None
        self._folded_bytes = 0
        #: The rule whose answer is being recorded.
        self._settled: Rule | None = None

    def run(
        self, old: Sequence[Instruction], live: bytearray, moved: list[int], poll: Poll
    ) -> None:
        """Simplify what is ``live``; ``moved`` takes where it is then.

        Arithmetic on numbers comes to something else only with constants and their multiples, and
        a product only with two of these: of all else nothing is asked.
        """
        code, known, multiples, constants = (
            self.instructions,
            self._known,
            self._kept.multiples,
            self.constants,
        )
        commutative = () if self.exact else _COMMUTATIVE
        for slot, (op, args, kind, origin) in enumerate(polled(old, poll)):
            if not live[slot]:
                continue
            if len(args) == 2:
                x, y = moved[args[0]], moved[args[1]]
                of = type(op)
                plain = of in _ARITHMETIC and not kind.shape  # type: ignore[union-attr]
                if plain and (x in multiples or y in multiples):
                    both = x in multiples and y in multiples
                    plain = of is Multiply and not (both or x in constants or y in constants)
                if plain:
                    key = (op, (y, x)) if x > y and of in commutative else (op, (x, y))
                    found = moved[slot] = known.setdefault(key, len(code))
                    if found == len(code):
                        code.append(_new_tuple(Instruction, (op, (x, y), kind, origin)))
                    continue
                now: tuple[int, ...] = (x, y)
            else:
                now = tuple([moved[arg] for arg in args])
            self.origin, self._kept.at = origin, slot
            moved[slot] = self.simplified(op, now, kind)

    def simplified(self, op: Op, args: tuple[int, ...], kind: Type) -> int:
        """The slot of the value, by the cheapest way that is known."""
        of = type(op)
        find, self.op = self._identities.get(of), op
        if find is not None and (found := find(self, args, kind)) is not None:
            return found
        if self.exact:
            return self.keep(op, args, kind)
        if op.elementwise and self._repeated and not self._repeated.keys().isdisjoint(args):
            found = self._before_repeating(op, args, kind)
            if found is not None:
                return found
        derived = self.origin < 0 and isinstance(kind, ArrayType) and kind.shape
        rules = self._rules.derived if derived else self._rules.every
        for rule in rules.get(of, ()):
            better = None if rule is self._settled else rule(op, args, self._kept)
            if isinstance(better, Settled):
                outer, self._settled = self._settled, rule
                slot = self._recorded(better.value)
                self._settled = outer
                return slot
            if better is not None:
                return self._recorded(better)
        return self.keep(op, args, kind)

    def _recorded(self, expression: Expression) -> int:
        """The slot of the value of an expression."""
        if isinstance(expression, int):
            return expression
        op, parts = expression
        if isinstance(op, Constant):
            return self.keep(op, (), ArrayType(op.value.dtype, op.value.shape))
        args = tuple([self._recorded(part) for part in parts])
        kind = op.infer(*[self.instructions[arg].type for arg in args])  # type: ignore[arg-type]
        return self.simplified(op, args, kind)

    def keep(self, op: Op, args: tuple[int, ...], kind: Type) -> int:
        """The slot of an instruction, which may have been kept before."""
        key = (op, args)
        if type(op) in _COMMUTATIVE and args[0] > args[1] and not self.exact:
            key = (op, args[::-1])
        elif type(op) is Contract and args[0] > args[1]:
            op, args = key = op.swapped, args[::-1]
        found = self._known.get(key)
        if found is not None:
            return found
        if args and args[0] in self.constants:
            constant = self._folded(op, args, kind)
            if constant is not None:
                return self.keep(constant, (), kind)
        slot = self._known[key] = len(self.instructions)
        self.instructions.append(_new_tuple(Instruction, (op, args, kind, self.origin)))
        if type(op) in NOTED:
            self._kept.note(slot)
        if not args or type(op) is BroadcastTo:
            self._note(slot, op, args)
        return slot

    def _note(self, slot: int, op: Op, args: tuple[int, ...]) -> None:
        """Remember what is known of a constant or a broadcast."""
        if isinstance(op, Constant):
            self.constants[slot] = op.value
            if np.ndim(op.value) == 0 and op.value == 1:
                self.ones.add(slot)
        elif args:
            self._repeated[slot] = args[0]
            if args[0] in self.ones:
                self.ones.add(slot)

    def _folded(self, op: Op, args: tuple[int, ...], kind: Type) -> Constant | None:
        """A constant in place of an operation on constants."""
        constants = self.constants
        if not all(arg in constants for arg in args) or isinstance(op, Guard | BroadcastTo):
            return None
        if not isinstance(kind, ArrayType) or kind.nbytes > _FOLDED_BYTES:
            return None
        self._folded_bytes += kind.nbytes
        if self._folded_bytes > _FOLDED_IN_ALL:
            return None
        value = self._fold(op, *[constants[arg] for arg in args])
        if value is None:
            return None
        found = Constant.of(np.asarray(value))
        return None if self.exact and not _alike(value, found.value) else found

    def _before_repeating(self, op: Op, args: tuple[int, ...], kind: Type) -> int | None:
        """Compute with operands as they were before they were broadcast."""
        repeated = self._repeated
        stripped = tuple([repeated.get(arg, arg) for arg in args])
        if stripped == args:
            return None
        assert isinstance(kind, ArrayType)
        shape = broadcast_shapes(*[self.instructions[arg].type.shape for arg in stripped])  # type: ignore[union-attr]
        small = self.simplified(op, stripped, ArrayType(kind.dtype, shape))
        if shape == kind.shape:
            return small
        return self.keep(BroadcastTo(kind.shape), (small,), kind)


_ARITHMETIC = frozenset((Add, Subtract, Multiply, Divide))
#: Operations whose operands may change places.
_COMMUTATIVE = frozenset((Add, Multiply))


def _alike(a: Any, b: Any) -> bool:
    """Whether equal values are of one kind, scalars or arrays, and of row-major layout."""
    return type(a) is type(b) and bool(np.asarray(a).flags.c_contiguous)
