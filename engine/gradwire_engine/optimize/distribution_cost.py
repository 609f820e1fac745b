"""Cost model of loop distribution: whether a loop gets quicker, by what calls and arrays take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.loops import Loop
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.optimize.costs import LoopCosts
from gradwire_engine.optimize.preaccumulation import factored
from gradwire_engine.optimize.recurrences import Recurrences
from gradwire_engine.tape import ArrayType, Instruction

#: Nanoseconds that distributing a loop adds to a first call, for each instruction of its body.
_RECORDED = 5_000.0
#: The share of the time before that counts, so that a gain exceeds errors of prediction.
_SURELY = 0.8
#: Most carries whose dependences are looked at, in the time of their square.
_MOST_CARRIES = 256
#: Bytes that the values of all iterations may take, and those that a cache holds.
_VECTORIZED_BYTES, _CACHED_BYTES = 2**26, 2**20


def profitable(op: Loop, length: int, costs: LoopCosts) -> Recurrences | None:
    """The recurrences of a loop of ``length`` iterations, if distributing it makes it quicker.

    Without any it is no loop: a sum, or expressions of arrays.
    """
    made = op.body.tape.instructions
    if length < 2 or op.carries > _MOST_CARRIES:
        return None
    if not all(isinstance(i.type, ArrayType) for i in made):
        return None
    plain, whole = Recurrences(op, op.body.tape), _Body(made, costs)
    if not any(carries for _, carries in plain.levels):
        nbytes = length * sum([made[slot].type.nbytes for slot in plain.vectorized()])
        return plain if nbytes <= min(_CACHED_BYTES, op.most_bytes // 4) else None
    least = len(made) * _RECORDED
    before = costs.iteration + sum([whole.nested(slot) for slot in range(len(made))])
    if length * before < least:
        return None
    found = Recurrences(op, factored(plain))
    body = _Body(found.tape.instructions, costs)
    vectorized = [*found.vectorized()]
    outer = body.outer_products(found)
    arrays = [slot for slot in vectorized if slot not in outer]
    nbytes = length * sum([body.made[slot].type.nbytes for slot in arrays])
    if not vectorized or nbytes > min(_VECTORIZED_BYTES, op.most_bytes // 4):
        return None
    after = sum([body.vectorized(slot, length) for slot in arrays])
    after += sum([body.flops(slot) for slot in outer]) * costs.in_matrix
    for _, carries in found.levels:
        if carries:
            inside = found.inside(carries)
            own = {*inside, *[found.begins[carry] for carry in carries]}
            read = {arg for slot in inside for arg in body.made[slot].args}
            moved = (read - own).union(found.read & own)
            after += costs.iteration + sum([body.nested(slot) for slot in inside])
            after += sum([body.moved(slot) for slot in moved])
    return found if length * (_SURELY * before - after) > least else None


class _Body:
    """Predicts nanoseconds of the instructions of a loop's body, for each iteration."""

    def __init__(self, made: Sequence[Instruction], costs: LoopCosts) -> None:
        self.made = made
        self._costs = costs

    def outer_products(self, found: Recurrences) -> set[int]:
        """Products of smaller arrays that are only added up: matrix products, which make none."""
        made = self.made
        added = [slot for terms in found.sums.values() for slot, _ in terms]
        read = Counter([arg for i in made for arg in i.args])
        products = [slot for slot in added if read[slot] == 1 and type(made[slot].op) is Multiply]
        smaller = {
            slot
            for slot in products
            if all(made[arg].type.nbytes < made[slot].type.nbytes for arg in made[slot].args)
        }
        return smaller.difference(found.ends, found.writes)

    def nested(self, slot: int) -> float:
        """An instruction in the loop."""
        (op, args, kind, _), made, costs = self.made[slot], self.made, self._costs
        if isinstance(op, Constant | Input):
            return 0.0
        if not kind.shape and not any(made[arg].type.shape for arg in args):  # type: ignore[union-attr]
            return costs.number
        called = costs.call if op.is_ufunc and op.elementwise else costs.other_call
        return called + costs.element * self.flops(slot)

    def vectorized(self, slot: int, length: int) -> float:
        """An instruction for all ``length`` iterations at once."""
        (op, _, kind, _), costs = self.made[slot], self._costs
        if type(op) is Contract:
            return costs.in_matrix * self.flops(slot)
        far = costs.far_element * kind.size if length * kind.nbytes > costs.near_bytes else 0.0  # type: ignore[union-attr]
        return costs.element * self.flops(slot) + far

    def flops(self, slot: int) -> int:
        """Arithmetic operations of an instruction."""
        op, args, kind, _ = self.made[slot]
        return op.flops(kind, *[self.made[arg].type for arg in args])  # type: ignore[arg-type]

    def moved(self, slot: int) -> float:
        """Reading or writing a value."""
        op, _, kind, _ = self.made[slot]
        if isinstance(op, Constant):
            return 0.0
        return self._costs.array_moved if kind.shape else self._costs.number_moved  # type: ignore[union-attr]
