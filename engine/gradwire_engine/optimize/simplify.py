"""One pass over a tape: constants, identities and common subexpressions, then dead code.

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
from gradwire_engine.ops.constants import Constant, Guard
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import Add, Divide, Multiply, Subtract
from gradwire_engine.optimize.distribution import distribute
from gradwire_engine.optimize.expressions import NOTED, Expression, Rule, Settled, ValueTable
from gradwire_engine.optimize.half_precision import in_single
from gradwire_engine.optimize.liveness import readers, shrunk
from gradwire_engine.optimize.scatter_sums import placed
from gradwire_engine.optimize.target import Target
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, Instruction, Tape, TapeListener, Type
from gradwire_engine.traversal import renumbered

#: Larger results are not kept in the tape, but beside what replays it, and so is what follows when
#: the kept ones are too many together.
_FOLDED_BYTES, _FOLDED_IN_ALL = 1 << 20, 1 << 24
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def optimize(
    tape: Tape,
    target: Target,
    poll: Poll = no_deadline,
    on_tape: TapeListener | None = None,
    *,
    exact: bool = False,
    residents: Set[int] = frozenset(),
) -> Tape:
    """An equivalent tape without work that is double, constant or unused.

    An ``exact`` one gives the same bits. What depends on the inputs of the numbers ``residents``
    alone is taken to cost nothing.
    """
    tape = in_single(tape, poll)
    looped = shrunk(tape, lambda body: optimize(body, target, poll, exact=exact), poll)
    if looped is not None:
        tape = replace(tape, instructions=tuple(looped))
    _tell(on_tape, "shrunk", tape)
    if looped is not None and not exact:
        whole, tape = tape, distribute(tape, target.costs, poll)
        if tape is not whole:
            _tell(on_tape, "distributed", tape)
    instructions = tape.instructions
    live = readers(instructions, tape.outputs, poll)
    #: The present slot of each old slot's value; inputs are always live.
    moved = [-1] * len(instructions)
    values = ValueTable(live, moved, target.costs, target.fold, poll, residents)
    with np.errstate(all="ignore"):
        Simplifier(target, values, exact=exact).run(instructions, live, moved, poll)
    inputs, outputs = ([moved[slot] for slot in slots] for slots in (tape.inputs, tape.outputs))
    simplified = Tape(tuple(values.code), tuple(inputs), tuple(outputs))
    _tell(on_tape, "simplified", simplified)
    least = _compacted(simplified, poll)
    fewer = least if exact else placed(least, poll)
    if fewer is not least:
        least = _compacted(fewer, poll)
    _tell(on_tape, "compacted", least)
    return least


def _compacted(tape: Tape, poll: Poll) -> Tape:
    """The tape without dead code."""
    live = readers(tape.instructions, tape.outputs, poll)
    return renumbered(tape.instructions, live, tape.inputs, tape.outputs, poll)


def _tell(on_tape: TapeListener | None, made_by: str, tape: Tape) -> None:
    if on_tape is not None:
        on_tape(made_by, tape)


class Simplifier:
    """Appends what is not known yet to a table of values; ``origin`` is that of the next."""

    def __init__(self, target: Target, values: ValueTable, *, exact: bool) -> None:
        self._fold = target.fold
        every, derived, unchanged = target.rules
        #: The rules that are asked, for what differentiating made and for all else.
        self._derived, self._every = (unchanged, unchanged) if exact else (derived, every)
        self._exact = exact
        self._values = values
        self._origin = 0
        self._folded_bytes = 0
        #: The rule whose answer is being recorded.
        self._settled: Rule | None = None

    def run(
        self, old: Sequence[Instruction], live: Sequence[int], moved: list[int], poll: Poll
    ) -> None:
        """Simplify what is ``live``; ``moved`` takes where it is then.

        Arithmetic, and what has no rules, comes to something else only of operands that are
        ``marked``; of all else nothing is asked. On numbers a product does only of two of these.
        """
        values = self._values
        code, known, marked = values.code, values.known, values.marked
        multiples, constants = values.multiples, values.constants
        commutative = () if self._exact else _COMMUTATIVE
        ruled = _LOOKED_AT.union(self._every, self._derived).difference(_ARITHMETIC)
        for slot, (op, args, kind, origin) in enumerate(polled(old, poll)):
            if not live[slot]:
                continue
            of, count = type(op), len(args)
            if count == 2:
                x, y = moved[args[0]], moved[args[1]]
                now: tuple[int, ...] = (x, y)
                plain = of not in ruled and x not in marked and y not in marked
                if not plain and of is Multiply and not kind.shape:  # type: ignore[union-attr]
                    plain = not (x in constants or y in constants or {x, y} <= multiples)
                if plain:
                    key = (op, (y, x)) if x > y and of in commutative else (op, now)
                    found = moved[slot] = known.setdefault(key, len(code))
                    if found == len(code):
                        code.append(_new_tuple(Instruction, (op, now, kind, origin)))
                        if of is Multiply and code[x][2] is not code[y][2]:
                            marked.add(slot)
                    continue
            elif count == 1:
                x = moved[args[0]]
                now = (x,)
                if of not in ruled and x not in marked:
                    found = moved[slot] = known.setdefault((op, now), len(code))
                    if found == len(code):
                        code.append(_new_tuple(Instruction, (op, now, kind, origin)))
                    continue
            else:
                now = tuple([moved[arg] for arg in args])
            self._origin, values.at = origin, slot
            moved[slot] = self._simplified(op, now, kind)

    def _simplified(self, op: Op, args: tuple[int, ...], kind: Type) -> int:
        """The slot of the value, by the cheapest way that is known."""
        of, values = type(op), self._values
        repeated = values.repeated
        if repeated and op.elementwise and not (self._exact or repeated.keys().isdisjoint(args)):
            return self._before_repeating(op, args, kind)
        derived = self._origin < 0 and type(kind) is ArrayType and kind.shape
        rules = (self._derived if derived else self._every).get(of)
        if rules is not None:
            values.kind = kind
            for rule in rules:
                better = None if rule is self._settled else rule(op, args, values)
                if better is None:
                    continue
                if type(better) is not Settled:
                    return self._recorded(better, kind)  # type: ignore[arg-type]
                outer, self._settled = self._settled, rule
                slot = self._recorded(better.value, kind)
                self._settled = outer
                return slot
        return self._keep(op, args, kind)

    def _recorded(self, expression: Expression, kind: Type | None = None) -> int:
        """The slot of the value of an expression; its type follows where it is not known."""
        if isinstance(expression, int):
            return expression
        op, parts = expression
        if type(op) is Constant:
            return self._keep(op, (), ArrayType(op.value.dtype, op.value.shape))
        args = tuple([part if type(part) is int else self._recorded(part) for part in parts])
        if kind is None:
            code = self._values.code
            kind = op.infer(*[code[arg].type for arg in args])  # type: ignore[arg-type]
        return self._simplified(op, args, kind)

    def _keep(self, op: Op, args: tuple[int, ...], kind: Type) -> int:
        """The slot of an instruction, which may have been kept before."""
        of, values = type(op), self._values
        key = (op, args)
        if of in _COMMUTATIVE and args[0] > args[1] and not self._exact:
            key = (op, args[::-1])
        elif of is Contract and args[0] > args[1]:
            op, args = key = op.swapped, args[::-1]  # type: ignore[attr-defined]
        found = values.known.get(key)
        if found is not None:
            return found
        if args and args[0] in values.constants:
            constant = self._folded(op, args, kind)
            if constant is not None:
                return self._keep(constant, (), kind)
        code = values.code
        slot = values.known[key] = len(code)
        code.append(_new_tuple(Instruction, (op, args, kind, self._origin)))
        if of in NOTED:
            values.note(slot)
        return slot

    def _folded(self, op: Op, args: tuple[int, ...], kind: Type) -> Constant | None:
        """A constant in place of an operation on constants."""
        constants = self._values.constants
        if not constants.keys() >= {*args} or isinstance(op, Guard | BroadcastTo):
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
        return None if self._exact and not _alike(value, found.value) else found

    def _before_repeating(self, op: Op, args: tuple[int, ...], kind: Type) -> int:
        """Compute with operands as they were before they were broadcast."""
        repeated, code = self._values.repeated, self._values.code
        stripped = tuple([repeated.get(arg, arg) for arg in args])
        assert isinstance(kind, ArrayType)
        shape = broadcast_shapes(*[code[arg].type.shape for arg in stripped])  # type: ignore[union-attr]
        small = self._simplified(op, stripped, ArrayType(kind.dtype, shape))
        if shape == kind.shape:
            return small
        return self._keep(BroadcastTo(kind.shape), (small,), kind)


_ARITHMETIC = frozenset((Add, Subtract, Multiply, Divide))
#: Operations that are noted where they are kept, or change their operands' order.
_LOOKED_AT = NOTED | {Contract}
#: Operations whose operands may change places.
_COMMUTATIVE = frozenset((Add, Multiply))


def _alike(a: Any, b: Any) -> bool:
    """True if equal values are of one kind, scalars or arrays, and of row-major layout."""
    return type(a) is type(b) and bool(np.asarray(a).flags.c_contiguous)
