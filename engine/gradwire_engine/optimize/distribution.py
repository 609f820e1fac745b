"""Loop distribution: a loop for each recurrence, and what lies between for all passes at once.

A call takes as long for a row of a few numbers as for a hundred, so what does not recur is computed
from the stacks of what recurs, as arrays.  It runs after all calculus, so it applies to
derivatives' loops backward as to any.  Measured by *LSTM, 2 layers* without machine code, and by
networks of 256 units with it.  Source: as of ``recurrences``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradwire_engine.answer import Limits, Poll
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import Rows, Stacked
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant, Item
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.optimize.affine_recurrences import factored
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.liveness import readers
from gradwire_engine.optimize.loop_vectorize import VectorizedLoop
from gradwire_engine.optimize.recurrences import Recurrences
from gradwire_engine.polling import polled
from gradwire_engine.tape import ArrayType, Instruction, Tape

#: Most carries whose dependences are looked at, in the time of their square.
_MOST_CARRIES = 256
#: Bytes of values, on average, whose arithmetic takes less than calls do.
_SHORT_BYTES = 2**12
#: Bytes that the values of all iterations may take: of short ones, and of others, which a cache
#: holds: longer ones are near in the caches in one loop.
_VECTORIZED_BYTES, _CACHED_BYTES = 2**26, 2**22
_NO_LIMITS = Limits(1 << 62, 1 << 62, 1 << 62, 1 << 62)


def distribute(tape: Tape, costs: Costs, poll: Poll) -> Tape:
    """The tape with loops distributed, where the values of all iterations are not too large.

    Loops that are compiled, and recur, cost no calls: they stay where no sums of outer products are
    to be made of matrices.
    """
    live = readers(tape.instructions, tape.outputs, poll)
    lengths: dict[int, int] = {}
    recurrences: dict[int, Recurrences] = {}
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        if live[slot] and type(instruction.op) is Loop:
            length = _length(instruction, tape.instructions, lengths)
            if length is not None:
                lengths[slot] = length
                given = slot in tape.outputs
                if not given and (found := _distributed(instruction.op, length, costs)):
                    recurrences[slot] = found
    return _Distribution(tape, live, lengths, recurrences, poll).tape() if recurrences else tape


def _distributed(op: Loop, length: int, costs: Costs) -> Recurrences | None:
    """The recurrences of a loop of ``length`` iterations, which others leave as a loop.

    Without any it is no loop: a sum, or expressions of arrays.
    """
    made = op.body.tape.instructions
    if length < 2 or op.carries > _MOST_CARRIES:
        return None
    if not all(isinstance(i.type, ArrayType) for i in made):
        return None
    found = Recurrences(op, op.body.tape)
    if recurs := any(carries for _, carries in found.levels):
        found = Recurrences(op, factored(found))
    made, vectorized = found.tape.instructions, [*found.vectorized()]
    products = _summed_products(found)
    outer = [slot for slot in products if len(made[slot].type.shape) > 1]  # type: ignore[union-attr]
    if recurs and costs.compiles_loops and not outer:
        return None
    kept = {*vectorized, *found.read} - products
    sizes = [made[slot].type.nbytes for slot in kept]
    nbytes = sum(sizes)
    is_short = recurs and nbytes <= _SHORT_BYTES * len(sizes)
    most = min(_VECTORIZED_BYTES if is_short else _CACHED_BYTES, op.most_bytes // 4)
    return found if length * nbytes <= most and (vectorized or not recurs) else None


def _summed_products(found: Recurrences) -> set[int]:
    """Products that are only added up: one product of matrices for all iterations makes none."""
    made = found.tape.instructions
    added = {slot for terms in found.sums.values() for slot, _ in terms}
    read = Counter([arg for instruction in made for arg in instruction.args])
    products = {slot for slot in added if type(made[slot].op) in (Multiply, Contract)}
    return {slot for slot in products if read[slot] == 1}.difference(found.ends, found.writes)


def _length(
    instruction: Instruction, made: Sequence[Instruction], lengths: dict[int, int]
) -> int | None:
    """The least number of passes of a loop, if all take one path."""
    op, args, _, _ = instruction
    assert isinstance(op, Loop)
    if not op.counted or len(op.paths) > 1 or op.paths[0].decisions or op.paths[0].ends:
        return None
    count, of, _, _ = made[args[0]]
    if isinstance(count, Constant):
        return int(count.value)
    if type(count) is Item and of[0] in lengths:
        counted = made[of[0]].op
        assert isinstance(counted, Loop)
        return lengths[of[0]] if counted.trip_count == count.index else None
    return None


class _Distribution:
    """Records a tape again, with some of its loops distributed."""

    def __init__(
        self,
        tape: Tape,
        live: Sequence[int],
        lengths: dict[int, int],
        recurrences: dict[int, Recurrences],
        poll: Poll,
    ) -> None:
        self.old = tape
        self.live = live
        self.lengths = lengths
        self.recurrences = recurrences
        self.b = Builder(_NO_LIMITS, poll=poll)
        self.new: dict[int, Var] = {}
        #: The results of distributed loops, by the loop's slot.
        self.results: dict[int, dict[int, Var]] = {}
        #: The number of passes of loops, by their new slots.
        self.sure: dict[int, int] = {}

    def tape(self) -> Tape:
        """The tape with distributed loops."""
        b, new = self.b, self.new
        for slot, (op, args, kind, b.origin) in enumerate(self.old.instructions):
            if not self.live[slot]:
                continue
            if type(op) is Item and args[0] in self.results:
                new[slot] = self.results[args[0]][op.index]
                continue
            operands = [new[arg] for arg in args]
            if slot in self.recurrences and self._distribute(slot, operands):
                continue
            whole = type(op) is Stacked and not op.axis and self._array(operands[0], op.length)
            new[slot] = whole or b.again(op, tuple([x.slot for x in operands]), kind)
            if slot in self.lengths:
                self.sure[new[slot].slot] = self.lengths[slot]
        old = self.old
        inputs, outputs = ([new[s].slot for s in slots] for slots in (old.inputs, old.outputs))
        return Tape(tuple(b.instructions), tuple(inputs), tuple(outputs))

    def _distribute(self, slot: int, operands: Sequence[Var]) -> bool:
        """Record a loop distributed, if the lengths of the stacks that it reads are known."""
        found, length = self.recurrences[slot], self.lengths[slot]
        first, last = 1 + found.op.carries, 1 + found.op.carries + found.op.stacks
        arrays = [self._array(stack, length) for stack in operands[first:last]]
        if None in arrays:
            return False
        operands = [*operands[:first], *[x for x in arrays if x], *operands[last:]]
        vectorized = VectorizedLoop(self.b, found, operands, length)
        self.results[slot] = vectorized.results()
        self.sure.update(dict.fromkeys(vectorized.loops, length))
        return True

    def _array(self, stack: Var, length: int) -> Var | None:
        """The array whose rows a stack of ``length`` items has, if it has so many."""
        op, args, _, _ = self.b.instructions[stack.slot]
        if type(op) is Rows:
            rows = self.b.vars[args[0]]
            if rows.shape[op.axis] == length:
                return Stacked(length, 0)(stack) if op.axis else rows
        elif type(op) is Item and self.sure.get(args[0]) == length:
            return Stacked(length, 0)(stack)
        return None
