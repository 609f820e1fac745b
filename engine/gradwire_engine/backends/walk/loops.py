"""A loop as a walk within a walk, whose paths share what they do before they part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Line
from gradwire_engine.backends.reference.loops import stack_check
from gradwire_engine.backends.walk.steps import Step, Steps, lines, walk
from gradwire_engine.loops.loop import Loop, Path
from gradwire_engine.ops.constants import Constant, Input, UnrecordedPath
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, StackType
from gradwire_engine.traversal import ancestors

#: Most passes, and operations, between two looks at the deadline and at what stacks take.
_BETWEEN_POLLS, _FLOPS_BETWEEN_POLLS = 256, 1_000_000
#: The places of the number of the pass and of the first carry, after that of the poll.
_NUMBER, _CARRIES = 1, 2


class _End(NamedTuple):
    """The end of a pass: the stacks that are arrays, or lists, and the places of what they get.

    ``moves`` are the places of carries, and of what they are next.
    """

    rows: Sequence[tuple[int, int]]
    items: Sequence[tuple[int, int]]
    moves: tuple[Sequence[int], Sequence[int]]
    ends: bool
    counted: bool


class _Branch(NamedTuple):
    """The steps of all paths up to here; then they part by the value at a place, or a pass ends."""

    steps: Sequence[Step]
    instructions: Sequence[Instruction]
    decided: int = 0
    otherwise: tuple[_Branch | None, _Branch | None] = (None, None)
    end: _End | None = None


class LoopWalk:
    """Makes all passes of a loop; it does not keep the operation alive that it is found by."""

    def __init__(self, op: Loop, loops: Loops, poll: Poll) -> None:
        self._counted, self._backward = op.counted, op.backward
        #: The numbers of the first operand that is a stack, and of the first that all passes share.
        self._stacks = op.counted + op.carries
        self._shared = self._stacks + op.stacks
        kinds = op.infer().items
        self._wanted = [op.wants(number) for number in range(len(kinds))]
        self._trip_count = op.trip_count
        stacks = {n: kind for n, kind in enumerate(kinds) if isinstance(kind, StackType)}
        #: Of the stacks that are made, those that are arrays, a row for each pass, and the lists.
        self._rows = {
            n: kind.item
            for n, kind in stacks.items()
            if op.wants(n) and op.is_straight and kind.shape
        }
        self._lists = [n for n in stacks if op.wants(n) and n not in self._rows]
        self._check, self._between = stack_check(op), _between_polls(op)
        written = _Writer(op, self._rows, loops, poll)
        self._first = written.branch([*enumerate(op.paths)], 0, {*op.body.tape.inputs})
        self._room = written.room

    def __call__(self, poll: Poll, *operands: Any) -> tuple[Any, ...]:
        """Make all passes."""
        check, between, first, shared = self._check, self._between, self._stacks, self._shared
        carries = operands[self._counted : first]
        carried = _CARRIES + len(carries)
        stacks = [*enumerate(operands[first:shared], carried)]
        values = [poll, None, *carries, *operands[first:]]
        values += self._room[len(values) :]
        total = int(operands[0]) if self._counted else 0
        written: dict[int, Any] = {n: [] for n in self._lists}
        if self._rows:
            check(total)
        for n, kind in self._rows.items():
            written[n] = np.empty((total, *kind.shape), kind.dtype)
        turns: Any = range(total) if self._counted else count()
        for k in reversed(turns) if self._backward else turns:
            if not k % between:
                poll()
                check(k)
            values[_NUMBER] = np.int64(k)
            for place, stack in stacks:
                values[place] = stack[k]
            end = self._pass(values)
            for n, place in end.rows:
                written[n][k] = values[place]
            for n, place in end.items:
                written[n].append(values[place])
            to, of = end.moves
            for place, x in zip(to, [values[place] for place in of], strict=True):
                values[place] = x
            if end.ends:
                total = k + end.counted
                break
        if self._backward:
            for n in self._lists:
                written[n].reverse()
        written |= dict(enumerate(values[_CARRIES:carried]))
        written[self._trip_count] = np.int64(total)
        return tuple([written[n] if wanted else None for n, wanted in enumerate(self._wanted)])

    def _pass(self, values: list[Any]) -> _End:
        """Make one pass.

        Raises: ``UnrecordedPath``.
        """
        branch = self._first
        while branch is not None:
            walk(branch.steps, branch.instructions, values)
            if branch.end is not None:
                return branch.end
            branch = branch.otherwise[bool(values[branch.decided])]
        raise UnrecordedPath

    def lines(self) -> list[Line]:
        """The steps of a pass as text, those of each path after what all have in common."""
        found: list[Line] = []
        pending: list[_Branch | None] = [self._first]
        while pending:
            branch = pending.pop()
            if branch is not None:
                found += lines(branch.steps, branch.instructions)
                pending += branch.otherwise
        return found


class _Writer:
    """Writes the steps of a loop's passes, which all have their values in one list."""

    def __init__(self, op: Loop, rows: Any, loops: Loops, poll: Poll) -> None:
        self._op, self._rows, self._loops, self._poll = op, rows, loops, poll
        self._made, self._outputs = op.body.tape.instructions, op.body.tape.outputs
        inputs = op.body.tape.inputs
        self.room: list[Any] = [None] * (1 + len(inputs))
        self._where = {slot: 1 + number for number, slot in enumerate(inputs)}

    def branch(
        self, paths: Sequence[tuple[int, Path]], level: int, known: set[int]
    ) -> _Branch | None:
        """The common steps of ``paths``, then those of each by itself."""
        paths = [(number, path) for number, path in paths if path.known]
        if not paths:
            return None
        number, first = paths[0]
        if level == len(first.decisions):
            return self._leaf(number, first, known)
        decided = self._outputs[first.decisions[level][0]]
        steps = self._steps([decided], known)
        false, true = (
            self.branch(
                [each for each in paths if each[1].decisions[level][1] is outcome],
                level + 1,
                {*known},
            )
            for outcome in (False, True)
        )
        return _Branch(steps.list, steps.instructions, self._where[decided], (false, true))

    def _leaf(self, number: int, path: Path, known: set[int]) -> _Branch:
        """The end of a pass."""
        op, where = self._op, self._where
        slots = [self._outputs[output] for output in path.outputs]
        steps = self._steps(slots, known)
        kept: list[tuple[int, int]] = []
        moves: tuple[list[int], list[int]] = ([], [])
        if path.counted:
            saved = [(op.saved(c), _CARRIES + c) for c in range(op.carries)]
            made = [(op.output(w), where[slot]) for w, slot in enumerate(slots[op.carries :])]
            kept = [each for each in (*saved, *made) if op.wants(each[0])]
            if op.wants(op.branches):
                kept.append((op.branches, self._place(np.int64(number))))
            for place, slot in enumerate(slots[: op.carries], _CARRIES):
                if where[slot] != place:
                    moves[0].append(place)
                    moves[1].append(where[slot])
        rows = [each for each in kept if each[0] in self._rows]
        items = [each for each in kept if each[0] not in self._rows]
        end = _End(rows, items, moves, path.ends, path.counted)
        return _Branch(steps.list, steps.instructions, end=end)

    def _steps(self, slots: Sequence[int], known: set[int]) -> Steps:
        """The steps that compute the values of slots, unless they are ``known`` in this branch."""
        made, where = self._made, self._where
        steps = Steps(self.room, self._passes)
        needed = ancestors(made, slots, known, self._poll)
        for slot in polled(sorted(needed), self._poll):
            op, args, _, _ = made[slot]
            if isinstance(op, Constant):
                where[slot] = self._place(op.value)
            elif not isinstance(op, Input):
                operands = [made[arg] for arg in args]
                where[slot] = steps.compute(made[slot], [where[arg] for arg in args], operands)
        known |= needed
        return steps

    def _place(self, value: Any) -> int:
        self.room.append(value)
        return len(self.room) - 1

    def _passes(self, op: Loop) -> Callable[..., tuple[Any, ...]]:
        return self._loops.function(op, self._poll)


class Loops:
    """The functions of loops, one for those that are equal."""

    def __init__(self) -> None:
        self._functions: WeakKeyDictionary[Loop, LoopWalk] = WeakKeyDictionary()

    def function(self, op: Loop, poll: Poll = no_deadline) -> LoopWalk:
        """The function of a loop."""
        found = self._functions.get(op)
        if found is None:
            found = self._functions[op] = LoopWalk(op, self, poll)
        return found


def _between_polls(op: Loop) -> int:
    """So many passes are made between two looks at the deadline."""
    return max(min(_FLOPS_BETWEEN_POLLS // max(op.body.flops, 1), _BETWEEN_POLLS), 1)
