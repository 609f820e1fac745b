"""In-place arithmetic: which results of a generated function reuse the memory of an operand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.operations import SumByProduct
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import (
    Add,
    Divide,
    Multiply,
    Negative,
    Square,
    Subtract,
)
from gradwire_engine.ops.pointwise.selection import Extremum
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import ArrayType, Tape

#: Python's statements, and which operands they may write to.
_STATEMENTS: dict[type[Op], tuple[str, Sequence[int]]] = {
    Add: ("+=", (0, 1)),
    Subtract: ("-=", (0,)),
    Multiply: ("*=", (0, 1)),
    Divide: ("/=", (0,)),
}
#: Operators that are no more than their ufunc.
_PLAIN = (*_STATEMENTS, Negative, Square)
#: Beside what is elementwise, operations whose results share no memory with operands.
_APART = (Contract, Placed, ScatterAdd, Sum, SumByProduct)


def reused(tape: Tape, dead: Sequence[Sequence[int]], poll: Poll = unhurried) -> dict[int, int]:
    """The number of the operand that is overwritten, by slot.

    It was made by elementwise arithmetic or by a contraction, so that nobody else holds it;
    nothing reads it again, and nothing that did is a view of it.
    """
    made = tape.instructions
    own = [_is_new(op) or isinstance(op, Contract) for op, _, _, _ in polled(made, poll)]
    for (op, args, _, _), new in zip(polled(made, poll), own, strict=True):
        if not new and not isinstance(op, _APART):
            for arg in args:
                own[arg] = False
    found: dict[int, int] = {}
    for slot, (op, args, kind, _) in enumerate(polled(made, poll)):
        if isinstance(kind, ArrayType) and kind.shape and _may_overwrite(op):
            for place, arg in enumerate(args):
                if own[arg] and arg in dead[slot] and made[arg].type[:2] == kind[:2]:
                    found[slot] = place
                    break
    return found


def overwriting(op: Op, operands: Sequence[str], place: int, text: Text) -> str:
    """The statement that leaves the result in an operand."""
    sign, writable = _STATEMENTS.get(type(op), ("", ()))
    if place in writable:
        return f"{operands[place]} {sign} {operands[1 - place]}"
    ufunc = text.bind(getattr(NUMPY, op.ufunc), f"u_{op.ufunc}")
    # NumPy reads an argument sooner without its name, and takes it so but for extrema.
    named = "out=" if isinstance(op, Extremum) else ""
    return f"{ufunc}({', '.join(operands)}, {named}{operands[place]})"


def _is_new(op: Op) -> bool:
    """True if the result shares no memory with operands, being a ufunc's."""
    return op.elementwise and op.is_ufunc and isinstance(getattr(np, op.ufunc, None), np.ufunc)


def _may_overwrite(op: Op) -> bool:
    """True if the ufunc is as quick as what else there is."""
    return _is_new(op) and (not op.template or isinstance(op, _PLAIN))
