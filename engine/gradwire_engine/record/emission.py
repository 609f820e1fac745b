"""Emit a loop whose body is recorded: without what no carry reaches, or in segments.

What no carry reaches is computed for all passes at once, before the loop: reads by the counter, as
``x[i]``, so become one gather, and their derivative one scatter instead of a sum over arrays.
Source: Allen and Kennedy, Optimizing Compilers for Modern Architectures (2001), 2.4: loop fission.

For ``checkpoint`` a derivative keeps what segments begin with, not passes.  A segment is a loop
itself, whose passes are kept while its derivative is taken, and so on: of n passes about
``b log_b n`` are kept, each made ``log_b n`` times.  Source: Chen, Xu, Zhang and Guestrin, Training
deep nets with sublinear memory cost (2016), section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradwire_engine.batching.retrace import BatchTrace
from gradwire_engine.loops.loop import COUNT, BlockArgument, Loop, Path
from gradwire_engine.loops.path_merging import Trace
from gradwire_engine.loops.regions import Plan, Region, item, loop, planned, region, settled
from gradwire_engine.loops.splicing import spliced
from gradwire_engine.loops.stacks import Rows, Stacked
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Guard, Input
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.tape import ArrayType, Tape

#: Bytes that all passes' values may take.
_AT_ONCE_BYTES = 2**26


def parted(b: Builder, plan: Plan, arrays: Sequence[Var], length: int) -> tuple[Plan, list[Var]]:
    """The loop without what no carry reaches, and the arrays whose rows its passes read.

    Only a loop with one path, which all passes take, is parted: else what the program never does
    might be computed, and fail.
    """
    op = plan.op
    body = op.body
    found = [] if len(op.paths) > 1 else _frontier(body.tape, op.carries, op.stacks)
    kinds = [body.tape.instructions[slot].type for slot in found]
    if not found or length * sum(kind.nbytes for kind in kinds) > _AT_ONCE_BYTES:
        return plan, [*arrays]
    inputs = body.inputs[: 1 + op.carries + op.stacks]
    with region(b, ()) as opened:
        ones = [b.again(BlockArgument(opened, i), (), kind) for i, kind in enumerate(inputs)]
        values = spliced(b, _giving(body.tape, found), [*ones, *plan.shared], range(len(found)))
        numbers = b.numbers(length)
        stacks = dict(zip([ones[0], *ones[1 + op.carries :]], [numbers, *arrays], strict=True))
        every = BatchTrace(stacks)
        trace = opened.trace([every(value) for value in values])
    gathered = settled(b, trace)
    carries = inputs[1 : 1 + op.carries]
    rows = [*inputs[1 + op.carries :], *kinds]
    (path,) = op.paths
    with region(b, carries, rows) as opened:
        given = dict(zip(found, opened.items[op.stacks :], strict=True))
        again = [opened.number, *opened.carries, *opened.items[: op.stacks], *plan.shared]
        results = spliced(b, body.tape, again, path.outputs, given)
        traces = [opened.trace(results)]
    left = planned(b, traces, op.carries, len(rows), counted=True, passes=length)
    return left, [*arrays, *gathered]


def _giving(tape: Tape, slots: Sequence[int]) -> Tape:
    return Tape(tape.instructions, tape.inputs, tuple(slots))


def _frontier(tape: Tape, carries: int, stacks: int) -> list[int]:
    """The slots that no carry reaches, but what differs from pass to pass, and that others read."""
    by_pass, by_carry, looped = bytearray(), bytearray(), bytearray()
    for op, args, _, _ in tape.instructions:
        number = op.index if isinstance(op, Input) else -1
        carried = 1 <= number <= carries
        by_carry.append(carried or any(by_carry[a] for a in args))
        own = 0 <= number <= carries + stacks and not carried
        by_pass.append(own or any(by_pass[a] for a in args))
        looped.append(isinstance(op, Loop) or any(looped[a] for a in args))
    free = [
        a and not b and not c and not isinstance(i.op, Input) and isinstance(i.type, ArrayType)
        for a, b, c, i in zip(by_pass, by_carry, looped, tape.instructions, strict=True)
    ]
    read = {a for i, c in zip(tape.instructions, by_carry, strict=True) if c for a in i.args}
    return [slot for slot in sorted(read.union(tape.outputs)) if free[slot]]


#: Segments of a loop, and passes of the smallest one.
SEGMENTS = 32
_FLAG = ArrayType(np.dtype(bool), ())


def whole(
    b: Builder, plan: Plan, firsts: Sequence[Var], arrays: Sequence[Var], length: int | None
) -> tuple[list[Var], list[Var]]:
    """The last carries, and what passes wrote, stacked, of all passes in one loop.

    ``length`` is the number of passes, if it is known; ``arrays`` are what passes read rows of.
    """
    if length is not None:
        plan, arrays = parted(b, plan, arrays, length)
    limit = [] if length is None else [b.constant(length)]
    made = plan.emit(b, firsts, [Rows(0)(x) for x in arrays], *limit)
    numbers = range(len(firsts), len(firsts) + (0 if length is None else plan.op.written))
    written = [Stacked(length or 0, 0)(item(made, number)) for number in numbers]
    return [item(made, number) for number in range(len(firsts))], written


def in_segments(
    b: Builder, plan: Plan, firsts: Sequence[Var], arrays: Sequence[Var], length: int | None
) -> tuple[list[Var], list[Var]]:
    """The same in segments, if there are passes enough and no path ends a loop over rows."""
    segments = _Segments(b, plan, length)
    few = length is not None and length <= 2 * SEGMENTS
    if few or (arrays and segments.ends):
        return whole(b, plan, firsts, arrays, length)
    return segments.emit(firsts, arrays)


class _Segments:
    """Emits a planned loop in segments."""

    def __init__(self, b: Builder, plan: Plan, length: int | None) -> None:
        self.b = b
        self.plan = plan
        self.length = length
        #: The types of carries, and whether some path ends the loop.
        self.kinds = plan.op.body.inputs[1 : 1 + plan.op.carries]
        self.ends = any(path.ends for path in plan.op.paths)

    def emit(self, firsts: Sequence[Var], arrays: Sequence[Var]) -> tuple[list[Var], list[Var]]:
        """The last carries, and what passes wrote, stacked."""
        zero = self.b.scalar(0, COUNT.dtype)
        if self.length is not None and not self.ends:
            return self._counted(firsts, arrays, zero, self.length)
        state = [*firsts, self.b.full(0, _FLAG)]
        return self._segments(state, zero, SEGMENTS**2, None)[:-1], []

    # A number of passes that is known

    def _counted(
        self, firsts: Sequence[Var], arrays: Sequence[Var], offset: Var, length: int
    ) -> tuple[list[Var], list[Var]]:
        """Passes from number ``offset`` on."""
        b, size = self.b, length // SEGMENTS
        if size < 2:
            return self._passes(firsts, arrays, offset, length)
        cut = SEGMENTS * size
        parts = [reshaped(sliced(x, 0, 0, cut), (SEGMENTS, size, *x.shape[1:])) for x in arrays]
        with region(b, self.kinds, [_row(x) for x in parts]) as opened:
            begin = _at(offset, opened.number, size)
            finals, written = self._counted(opened.carries, opened.items, begin, size)
            trace = opened.trace([*finals, *written])
        stacks, count = [Rows(0)(x) for x in parts], b.constant(SEGMENTS)
        made = loop(b, [trace], firsts, stacks, count, passes=SEGMENTS)
        finals, written = self._results(made, SEGMENTS)
        written = [reshaped(x, (cut, *x.shape[2:])) for x in written]
        if cut == length:
            return finals, written
        rest = [sliced(x, 0, cut, length) for x in arrays]
        finals, more = self._counted(finals, rest, offset + cut, length - cut)
        return finals, [Concatenate(0)(*pair) for pair in zip(written, more, strict=True)]

    def _passes(
        self, firsts: Sequence[Var], arrays: Sequence[Var], offset: Var, length: int
    ) -> tuple[list[Var], list[Var]]:
        """Passes one by one."""
        traces: list[Trace | None] = []
        for path in self.plan.op.paths:
            with region(self.b, self.kinds, [_row(x) for x in arrays]) as opened:
                traces.append(
                    opened.trace(self._path(opened, path, offset)) if path.known else None
                )
        stacks = [Rows(0)(x) for x in arrays]
        count = self.b.constant(length)
        return self._results(loop(self.b, traces, firsts, stacks, count, passes=length), length)

    def _results(self, made: Var, length: int) -> tuple[list[Var], list[Var]]:
        carries = len(self.kinds)
        numbers = range(carries, carries + self.plan.op.written)
        written = [Stacked(length, 0)(item(made, number)) for number in numbers]
        return [item(made, number) for number in range(carries)], written

    # Passes until a path ends the loop: a flag among the carries says that one did

    def _segments(
        self, state: Sequence[Var], offset: Var, size: int, count: int | None
    ) -> list[Var]:
        """Segments of ``size`` passes each, ``count`` of them at most."""
        b, kinds = self.b, [*self.kinds, _FLAG]
        with region(b, kinds) as opened:
            Guard(False)(opened.carries[-1])
            begin = _at(offset, opened.number, size)
            further = size // SEGMENTS
            if further > 1:
                after = self._segments(opened.carries, begin, further, SEGMENTS)
            else:
                after = self._last(opened.carries, begin)
            going = opened.trace(after)
        with region(b, kinds) as opened:
            Guard(True)(opened.carries[-1])
            over = opened.trace(opened.carries, ends=True, counted=False)
        limit = None if count is None else b.constant(count)
        made = loop(b, [going, over], state, (), limit, passes=count)
        return [item(made, number) for number in range(len(state))]

    def _last(self, state: Sequence[Var], offset: Var) -> list[Var]:
        """The passes of one segment, one by one."""
        b, traces = self.b, list[Trace | None]()
        for path in self.plan.op.paths:
            with region(b, [*self.kinds, _FLAG]) as opened:
                if not path.known:
                    traces.append(None)
                    continue
                if self.length is not None:
                    Guard(True)(self._is_within(opened.number, offset))
                after = self._path(opened, path, offset)
                traces.append(opened.trace([*after, b.full(path.ends, _FLAG)], ends=path.ends))
        if self.length is not None:
            with region(b, [*self.kinds, _FLAG]) as opened:
                Guard(False)(self._is_within(opened.number, offset))
                after = [*opened.carries[:-1], b.full(1, _FLAG)]
                traces.append(opened.trace(after, ends=True))
        made = loop(b, traces, state, (), b.constant(SEGMENTS), passes=SEGMENTS)
        return [item(made, number) for number in range(len(state))]

    def _is_within(self, number: Var, offset: Var) -> Var:
        return Less()(_at(offset, number, 1), self.b.scalar(self.length or 0, COUNT.dtype))

    def _path(self, opened: Region, path: Path, offset: Var) -> list[Var]:
        """Record a path again, for passes that are counted from ``offset`` on; its carries."""
        op = self.plan.op
        carries = opened.carries[: op.carries]
        begun = [_at(offset, opened.number, 1), *carries, *opened.items, *self.plan.shared]
        numbers = [*path.outputs, *[number for number, _ in path.decisions]]
        made = spliced(self.b, op.body.tape, begun, numbers)
        for var, (_, outcome) in zip(made[len(path.outputs) :], path.decisions, strict=True):
            Guard(outcome)(var)
        return made[: len(path.outputs)]


def _at(offset: Var, number: Var, size: int) -> Var:
    """The number of the first pass of a segment."""
    return number.builder.cast(number, COUNT.dtype) * size + offset


def _row(x: Var) -> ArrayType:
    return ArrayType(x.dtype, x.shape[1:])
