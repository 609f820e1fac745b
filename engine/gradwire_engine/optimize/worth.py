"""Whether a loop apart is quicker than as it is, by what calls and rows cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.loops import Loop
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.optimize.preaccumulation import factored
from gradwire_engine.optimize.recurrences import Recurrences
from gradwire_engine.tape import ArrayType, Instruction

_Code: TypeAlias = Sequence[Instruction]

#: Nanoseconds of an operation on numbers; of a call of a ufunc, of others, and of each operation in
#: it; of a number or a row that a pass reads or writes; of a pass by itself.
_NUMBER, _CALL, _LONG_CALL, _FLOP = 40.0, 220.0, 800.0, 0.5
_NUMBER_MOVED, _ROW_MOVED, _PASS = 80.0, 70.0, 60.0
#: Nanoseconds of an operation in a product of matrices.
_IN_PRODUCTS = 0.1
#: Nanoseconds of an element more in an array that is larger than the nearer caches.
_DISTANT, _NEAR_BYTES = 0.5, 2**18
#: Nanoseconds that having a loop apart takes of a first call, for each instruction.
_RECORDED = 15_000.0
#: What is gained has to be more than these predictions are wrong.
_SURELY = 0.8
#: Most carries of which it is found out which depend on each other, in the time of their square.
_MOST_CARRIES = 256
#: Bytes that all passes' values may take.
_AT_ONCE_BYTES = 2**26


def gains(op: Loop, length: int) -> Recurrences | None:
    """What recurs in a loop, if it is worth while to have it apart."""
    made = op.body.tape.instructions
    if length < 2 or op.carries > _MOST_CARRIES:
        return None
    if not all(isinstance(i.type, ArrayType) for i in made):
        return None
    least = len(made) * _RECORDED
    before = _PASS + sum([_alone(slot, made) for slot in range(len(made))])
    if length * before < least:
        return None
    found = Recurrences(op, factored(Recurrences(op, op.body.tape)))
    made = found.tape.instructions
    at_once = [*found.at_once()]
    outer = _outer_products(found)
    arrays = [slot for slot in at_once if slot not in outer]
    nbytes = length * sum([made[slot].type.nbytes for slot in arrays])
    if not at_once or nbytes > min(_AT_ONCE_BYTES, op.most_bytes // 4):
        return None
    after = sum([_at_once(slot, made, length) for slot in arrays])
    after += sum([_flops(slot, made) for slot in outer]) * _IN_PRODUCTS
    for _, carries in found.levels:
        if carries:
            inside = found.inside(carries)
            own = {*inside, *[found.begins[carry] for carry in carries]}
            read = {arg for slot in inside for arg in made[slot].args}
            moved = (read - own).union(found.read & own)
            after += _PASS + sum([_alone(slot, made) for slot in inside])
            after += sum([_moved(slot, made) for slot in moved])
    return found if length * (_SURELY * before - after) > least else None


def _outer_products(found: Recurrences) -> set[int]:
    """The products of smaller arrays that are only added up: matrix products, which make none."""
    made = found.tape.instructions
    added = [slot for terms in found.sums.values() for slot, _ in terms]
    read = Counter([arg for i in made for arg in i.args])
    products = [slot for slot in added if read[slot] == 1 and type(made[slot].op) is Multiply]
    smaller = {
        slot
        for slot in products
        if all(made[arg].type.nbytes < made[slot].type.nbytes for arg in made[slot].args)
    }
    return smaller.difference(found.ends, found.writes)


def _alone(slot: int, made: _Code) -> float:
    """Nanoseconds of an instruction in a pass."""
    op, args, kind, _ = made[slot]
    if isinstance(op, Constant | Input):
        return 0.0
    if not kind.shape and not any(made[arg].type.shape for arg in args):  # type: ignore[union-attr]
        return _NUMBER
    called = _CALL if op.is_ufunc and op.elementwise else _LONG_CALL
    return called + _FLOP * _flops(slot, made)


def _at_once(slot: int, made: _Code, length: int) -> float:
    """Nanoseconds that an instruction for all passes at once takes for each."""
    op, _, kind, _ = made[slot]
    if type(op) is Contract:
        return _IN_PRODUCTS * _flops(slot, made)
    distant = _DISTANT * kind.size if length * kind.nbytes > _NEAR_BYTES else 0.0  # type: ignore[union-attr]
    return _FLOP * _flops(slot, made) + distant


def _flops(slot: int, made: _Code) -> int:
    op, args, kind, _ = made[slot]
    return op.flops(kind, *[made[arg].type for arg in args])  # type: ignore[arg-type]


def _moved(slot: int, made: _Code) -> float:
    """Nanoseconds of reading or writing a value in a pass."""
    op, _, kind, _ = made[slot]
    if isinstance(op, Constant):
        return 0.0
    return _ROW_MOVED if kind.shape else _NUMBER_MOVED  # type: ignore[union-attr]
