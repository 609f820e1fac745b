"""One pass over a tape: aliases, constants, identities and common subexpressions, then dead code.

It runs only after all calculus has been expanded: before, equal values may have different names
that derivatives are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import (
    Assigned,
    Constant,
    Copy,
    Guard,
    Item,
    StopGradient,
)
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import (
    Add,
    Divide,
    Multiply,
    Negative,
    Power,
    Subtract,
)
from gradwire_engine.ops.pointwise.comparison import LogicalAnd, LogicalOr
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.optimize import choices, factors, layout, matrices, sums, triangles, vectorised
from gradwire_engine.optimize.distribution import distributed
from gradwire_engine.optimize.expressions import NOTED, Expression, Kept, Rule
from gradwire_engine.optimize.liveness import compacted, shrunk
from gradwire_engine.optimize.placements import placed
from gradwire_engine.optimize.structure import cheaper
from gradwire_engine.tape import ArrayType, Instruction, Tape, Type, Witness

#: Larger results are computed at replay instead of kept in the tape.
_FOLDED_BYTES = 1 << 16
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def optimize(
    tape: Tape,
    xp: Any,
    poll: Poll = lambda: None,
    told: Witness | None = None,
    *,
    exact: bool = False,
) -> Tape:
    """An equivalent tape without work that is double, constant or unused.

    An ``exact`` one gives the same bits.
    """
    instructions, live = shrunk(tape, lambda body: optimize(body, xp, poll, exact=exact))
    if told is not None:
        told("shrunk", replace(tape, instructions=tuple(instructions)))
    if instructions is not tape.instructions and not exact:  # there are loops
        whole = replace(tape, instructions=tuple(instructions))
        tape, live = distributed(whole, live)
        instructions = tape.instructions
        if told is not None and tape is not whole:
            told("apart", tape)
    #: Where the value of each old slot is now; inputs are always live.
    moved = [-1] * len(instructions)
    kept = Kept(instructions, live, moved, tape.outputs)
    sweep = _Sweep(xp, kept, exact=exact)
    with np.errstate(all="ignore"):
        sweep.run(instructions, live, moved, poll)
    inputs, outputs = ([moved[slot] for slot in slots] for slots in (tape.inputs, tape.outputs))
    if told is not None:
        told("simplified", Tape(tuple(sweep.instructions), tuple(inputs), tuple(outputs)))
    least = compacted(sweep.instructions, inputs, outputs)
    fewer = least if exact else placed(least)
    if fewer is not least:
        least = compacted(fewer.instructions, fewer.inputs, fewer.outputs)
    if told is not None:
        told("compacted", least)
    return least


class _Sweep:
    """Instructions kept so far, and what is known of slots; ``origin`` is that of the next."""

    def __init__(self, xp: Any, kept: Kept, *, exact: bool) -> None:
        self.xp = xp
        self.exact = exact
        self._aliases = _EXACT_ALIASES if exact else _ALIASES
        self._kept = kept
        self.instructions = kept.code
        self._known = kept.known
        #: Values of constants, operands of broadcasts, and slots whose elements are all 1.
        self._constants: dict[int, Any] = {}
        self._repeated: dict[int, int] = {}
        self._ones: set[int] = set()
        self.origin = 0
        self._op: Op | None = None

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
            self._constants,
        )
        commutative = () if self.exact else _COMMUTATIVE
        for slot, (op, args, kind, origin) in enumerate(old):
            if not slot & 1023:
                poll()
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
        find, self._op = self._aliases.get(type(op)), op
        if find is not None and (found := find(self, args, kind)) is not None:
            return found
        if self.exact:
            return self._keep(op, args, kind)
        if op.elementwise and not self._repeated.keys().isdisjoint(args):
            found = self._before_repeating(op, args, kind)
            if found is not None:
                return found
        if self.origin < 0 and isinstance(kind, ArrayType) and kind.shape:
            better = cheaper(op, args, self.instructions)
            if better is not None:
                return self._recorded(better)
        rule = _RULES.get(type(op))
        if rule is not None and (
            type(op) not in _OF_MULTIPLES or not self._kept.multiples.isdisjoint(args)
        ):
            better = rule(op, args, self._kept)
            if better is not None:
                return self._recorded(better)
        return self._keep(op, args, kind)

    def _recorded(self, expression: Expression) -> int:
        """The slot of the value of an expression."""
        if isinstance(expression, int):
            return expression
        op, parts = expression
        if isinstance(op, Constant):
            return self._keep(op, (), ArrayType(op.value.dtype, op.value.shape))
        args = tuple([self._recorded(part) for part in parts])
        kind = op.infer(*[self.instructions[arg].type for arg in args])  # type: ignore[arg-type]
        return self.simplified(op, args, kind)

    def _keep(self, op: Op, args: tuple[int, ...], kind: Type) -> int:
        """The slot of an instruction, which may have been kept before."""
        key = (op, args)
        if type(op) in _COMMUTATIVE and args[0] > args[1] and not self.exact:
            key = (op, args[::-1])
        found = self._known.get(key)
        if found is not None:
            return found
        if args and args[0] in self._constants:
            constant = self._folded(op, args, kind)
            if constant is not None:
                return self._keep(constant, (), kind)
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
            self._constants[slot] = op.value
            if np.ndim(op.value) == 0 and op.value == 1:
                self._ones.add(slot)
        elif args:
            self._repeated[slot] = args[0]
            if args[0] in self._ones:
                self._ones.add(slot)

    def _folded(self, op: Op, args: tuple[int, ...], kind: Type) -> Constant | None:
        """A constant in place of an operation on constants."""
        constants = self._constants
        if not all(arg in constants for arg in args) or isinstance(op, Guard | BroadcastTo):
            return None
        if not isinstance(kind, ArrayType) or kind.nbytes > _FOLDED_BYTES:
            return None
        try:
            value = op.kernel(self.xp, *[constants[arg] for arg in args])
        except (ArithmeticError, ValueError, LookupError):
            return None  # it fails at replay, where the error has a place
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
        return self._keep(BroadcastTo(kind.shape), (small,), kind)

    # Each gives the slot whose value the result is, where there is one

    def identity(self, args: tuple[int, ...], kind: Type) -> int | None:
        return args[0]

    def item(self, args: tuple[int, ...], kind: Type) -> int | None:
        """What was packed, or goes through a rule."""
        packed, op = self.instructions[args[0]], self._op
        assert isinstance(op, Item)
        return packed.args[op.index] if packed.op.forwards else None

    def unchanged(self, args: tuple[int, ...], kind: Type) -> int | None:
        return args[0] if _same(self.instructions[args[0]].type, kind) else None

    def unit(self, args: tuple[int, ...], kind: Type) -> int | None:
        """``x / 1``, ``x ** 1``, ``x * 1``."""
        return self.unchanged(args, kind) if args[1] in self._ones else None

    def unit_factor(self, args: tuple[int, ...], kind: Type) -> int | None:
        x, y = args
        found = self.unchanged(args, kind) if y in self._ones else None
        return self.unchanged((y,), kind) if found is None and x in self._ones else found

    def negated(self, args: tuple[int, ...], kind: Type) -> int | None:
        inner = self.instructions[args[0]]
        return inner.args[0] if isinstance(inner.op, Negative) else None

    def small_power(self, args: tuple[int, ...], kind: Type) -> int | None:
        """``x ** 2`` as ``x * x``, to the fourth: within 2 units in the last place, for a tenth."""
        exponent = self._constants.get(args[1])
        if exponent is None or np.ndim(exponent) or exponent not in (0, 2, 3, 4):
            return self.unit(args, kind)
        if exponent == 0 and isinstance(kind, ArrayType):
            one = Constant.of(np.ones((), kind.dtype))
            return self._spread(self._keep(one, (), ArrayType(kind.dtype, ())), kind)
        if not _same(self.instructions[args[0]].type, kind):
            return None
        square = self.simplified(Multiply(), (args[0], args[0]), kind)
        if exponent == 2:
            return square
        return self.simplified(Multiply(), (square, square if exponent == 4 else args[0]), kind)

    def chosen(self, args: tuple[int, ...], kind: Type) -> int | None:
        """``where`` with one condition for all elements, or no choice."""
        condition, x, y = args
        if x == y:
            return self._spread(x, kind)
        known = self._constants.get(condition)
        if known is None or np.ndim(known):
            return None
        return self._spread(x if known else y, kind)

    def conjunction(self, args: tuple[int, ...], kind: Type) -> int | None:
        return self._decided(args, kind, by=False)

    def disjunction(self, args: tuple[int, ...], kind: Type) -> int | None:
        return self._decided(args, kind, by=True)

    def _decided(self, args: tuple[int, ...], kind: Type, *, by: bool) -> int | None:
        """One operand decides where it is ``by``, else it is the other's."""
        for arg, other in (args, args[::-1]):
            known = self._constants.get(arg)
            if known is not None and not np.ndim(known):
                return self._spread(arg if bool(known) is by else other, kind)
        return None

    def _spread(self, slot: int, kind: Type) -> int | None:
        """The slot of a value repeated to ``kind``, if only its shape differs."""
        found = self.instructions[slot].type
        if not isinstance(found, ArrayType) or not isinstance(kind, ArrayType):
            return None
        if found.dtype != kind.dtype:
            return None
        if found.shape == kind.shape:
            return slot
        return self._keep(BroadcastTo(kind.shape), (slot,), kind)

    def reshaped(self, args: tuple[int, ...], kind: Type) -> int | None:
        """One shape instead of two in a row; one number repeated in another shape."""
        inner = self.instructions[args[0]]
        if isinstance(inner.op, BroadcastTo) and isinstance(kind, ArrayType):
            (number,) = inner.args
            if self.instructions[number].type.shape == ():  # type: ignore[union-attr]
                return self._keep(BroadcastTo(kind.shape), (number,), kind)
        if not isinstance(inner.op, Reshape) or not isinstance(kind, ArrayType):
            return self.unchanged(args, kind)
        found = self.unchanged(inner.args, kind)
        return self._keep(Reshape(kind.shape), inner.args, kind) if found is None else found

    def transposed(self, args: tuple[int, ...], kind: Type) -> int | None:
        """One order of axes instead of two in a row, or none."""
        inner, outer = self.instructions[args[0]], self._op
        if not isinstance(inner.op, Transpose) or not isinstance(outer, Transpose):
            return None
        axes = tuple([inner.op.axes[axis] for axis in outer.axes])
        natural = axes == tuple(range(len(axes)))
        return inner.args[0] if natural else self._keep(Transpose(axes), inner.args, kind)

    def product(self, args: tuple[int, ...], kind: Type) -> int | None:
        """A matrix times the identity."""
        for arg, other in (args, args[::-1]):
            op, of, _, _ = self.instructions[arg]
            if isinstance(op, OnDiagonal) and of[0] in self._ones and not op.offset:
                return self.unchanged((other,), kind)
        return None


_ALIASES: dict[type[Op], Callable[[_Sweep, tuple[int, ...], Type], int | None]] = {
    StopGradient: _Sweep.identity,
    Copy: _Sweep.identity,
    Assigned: _Sweep.identity,
    Item: _Sweep.item,
    AsType: _Sweep.unchanged,
    BroadcastTo: _Sweep.unchanged,
    Multiply: _Sweep.unit_factor,
    Divide: _Sweep.unit,
    Power: _Sweep.small_power,
    Negative: _Sweep.negated,
    Reshape: _Sweep.reshaped,
    Transpose: _Sweep.transposed,
    MatMul: _Sweep.product,
    Where: _Sweep.chosen,
    LogicalAnd: _Sweep.conjunction,
    LogicalOr: _Sweep.disjunction,
}
#: Those that give the very array, in the same layout: that of operands decides in which order
#: NumPy adds up, and which of its functions for powers it takes.
_EXACT_ALIASES: dict[type[Op], Callable[[_Sweep, tuple[int, ...], Type], int | None]] = {
    op: _ALIASES[op] for op in (StopGradient, Copy, Assigned, Item, Transpose)
}
#: Those that may round differently.
_RULES: Mapping[type[Op], Rule] = {
    **choices.RULES,
    **factors.RULES,
    **layout.RULES,
    **matrices.RULES,
    **vectorised.RULES,
    **sums.RULES,
    **triangles.RULES,
}
#: Operations of which their rules say something only where an operand is a multiple.
_OF_MULTIPLES = frozenset((Add, Subtract, Multiply, Divide, Reshape))
_ARITHMETIC = frozenset((Add, Subtract, Multiply, Divide))
#: Operations whose operands may change places.
_COMMUTATIVE = frozenset((Add, Multiply))


def _alike(a: Any, b: Any) -> bool:
    """Whether equal values are of one kind, scalars or arrays, and of row-major layout."""
    return type(a) is type(b) and bool(np.asarray(a).flags.c_contiguous)


def _same(a: Type, b: Type) -> bool:
    """Whether two types differ in nothing that a replay can see."""
    return isinstance(a, ArrayType) and a[:2] == b[:2]
