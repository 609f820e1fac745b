"""A walk: a list of steps, each a function, the places of its operands and that of its result.

The places are those of a list of values, which begins with the poll of the deadline: so what looks
at it, as loops and kernels do, takes it as an operand. A place is used again once nothing reads
what is there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter, length_hint
from typing import Any, TypeAlias

import numpy as np

from gradwire_engine.backends.base import FusedGroup, Line, note_place
from gradwire_engine.backends.walk.buffers import POOL, POOLED_BYTES
from gradwire_engine.backends.walk.contraction import lowered
from gradwire_engine.backends.walk.functions import function, ufunc_of
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction

#: A function, the places of its only two operands, or of its only one and none, or a function of
#: the list that gives any number of them; and the place of the result, or those of several.
Step: TypeAlias = tuple[
    Callable[..., Any], Any, int | None, Callable[[list[Any]], Sequence[Any]] | None, int | slice
]
#: The function that makes the passes of a loop, given the poll and the operands.
Passes: TypeAlias = Callable[[Loop], Callable[..., tuple[Any, ...]]]
#: The place of the poll.
POLL = 0
#: Ufuncs that take the place of the result by its name alone.
_NAMED = frozenset((np.maximum, np.minimum, np.fmax, np.fmin))


class Steps:
    """The steps written so far; ``room`` has the first values: constants, and places for others."""

    def __init__(self, room: list[Any], passes: Passes) -> None:
        self.list: list[Step] = []
        self._room = room
        #: The instruction of each step.
        self.instructions: list[Instruction] = []
        self._free: list[int] = []
        self._passes = passes

    def place(self, value: Any = None) -> int:
        """A place that keeps ``value`` where nothing is written to it."""
        self._room.append(value)
        return len(self._room) - 1

    def take(self) -> int:
        """A place for a result."""
        return self._free.pop() if self._free else self.place()

    def release(self, place: int, nbytes: int, instruction: Instruction) -> None:
        """Let a place be taken again, and the memory of what is there at once if it is much."""
        self._free.append(place)
        if nbytes >= POOLED_BYTES:
            self.step(instruction, _nothing, (), place)

    def step(
        self,
        instruction: Instruction,
        called: Callable[..., Any],
        args: Sequence[int],
        to: int | slice,
    ) -> None:
        """Write one."""
        count = len(args)
        if count == 2:
            self.list.append((called, args[0], args[1], None, to))
        elif count == 1:
            self.list.append((called, args[0], None, None, to))
        else:
            rest = itemgetter(*args) if count else itemgetter(slice(0, 0))
            self.list.append((called, None, None, rest, to))
        self.instructions.append(instruction)

    def poll(self, instruction: Instruction) -> None:
        """Look at the deadline."""
        place = self.take()
        self.step(instruction, operator.call, (POLL,), place)
        self._free.append(place)

    def compute(
        self,
        instruction: Instruction,
        args: Sequence[int],
        operands: Sequence[Instruction],
        dead: Sequence[tuple[int, int]] = (),
    ) -> int:
        """Write what computes an instruction, whose operands are at the places ``args``.

        Afterwards the places in ``dead`` are released, each with the bytes there.
        The results of a group are at the place that is returned and those after it; then comes the
        number that is finite if those that it checks are.
        """
        op, _, kind, _ = instruction
        if isinstance(op, FusedGroup):
            return self._group(instruction, args, dead)
        if isinstance(op, Item) and isinstance(operands[0].op, FusedGroup):
            return args[0] + op.index
        pooled = kind if isinstance(kind, ArrayType) and kind.nbytes >= POOLED_BYTES else None
        if dead and not pooled:  # the result may replace an operand
            self._free += [place for place, nbytes in dead if nbytes < POOLED_BYTES]
            dead = [each for each in dead if each[1] >= POOLED_BYTES]
        to = self.take()
        called, writes = self._function(op, operands, pooled=pooled is not None)
        if isinstance(op, Loop):
            args = (POLL, *args)
        elif pooled and writes:
            self.step(instruction, partial(POOL.empty, pooled.shape, pooled.dtype), (), to)
            args = (*args, to)
        self.step(instruction, called, args, to)
        for place, nbytes in dead:
            self.release(place, nbytes, instruction)
        return to

    def _group(
        self, instruction: Instruction, args: Sequence[int], dead: Sequence[tuple[int, int]]
    ) -> int:
        op = instruction.op
        assert isinstance(op, FusedGroup)
        first, *_, last = [self.place() for _ in range(len(op.results) + 1)]
        given = (POLL, *args) if op.polls else args
        self.step(instruction, op.function, given, slice(first, last + 1))
        for place, nbytes in dead:
            self.release(place, nbytes, instruction)
        return first

    def _function(
        self, op: Op, operands: Sequence[Instruction], *, pooled: bool
    ) -> tuple[Callable[..., Any], bool]:
        """The function of the operands, and whether it may be given memory for the result."""
        if isinstance(op, Loop):
            return self._passes(op), False
        if isinstance(op, Contract):
            x, y = [each.type for each in operands]
            how = lowered(op, x.shape, y.shape, x.dtype.kind)  # type: ignore[union-attr]
            writes = pooled and how.writes
            return how.writing() if writes else how.bound(), writes
        ufunc = ufunc_of(op) if pooled else None
        return (function(op), False) if ufunc is None else (_writing(ufunc), True)


def walk(steps: Sequence[Step], instructions: Sequence[Instruction], values: list[Any]) -> None:
    """Call one function after the other."""
    left = iter(steps)
    try:
        for called, x, y, rest, to in left:
            if y is not None:
                values[to] = called(values[x], values[y])
            elif rest is None:
                values[to] = called(values[x])
            else:
                values[to] = called(*rest(values))
    except Exception as error:
        note_place(error, instructions[len(steps) - length_hint(left) - 1])
        raise


def lines(steps: Sequence[Step], instructions: Sequence[Instruction]) -> list[Line]:
    """The steps as text."""
    return [(_line(*of), of[1]) for of in zip(steps, instructions, strict=True)]


def _line(step: Step, instruction: Instruction) -> str:
    called, x, y, rest, to = step
    if called is _nothing:
        return f"r{to} = None"
    args = [place for place in (x, y) if place is not None]
    if rest is not None:
        args += [place for place in rest.__reduce__()[1] if isinstance(place, int)]
    made = f"r{to}" if isinstance(to, int) else ", ".join(map("r{}".format, _places(to)))
    names = ["poll" if place == POLL else f"r{place}" for place in args]
    own = isinstance(instruction.op, FusedGroup | Loop)
    name = "" if own else getattr(called, "__name__", "")
    name = name if name.isidentifier() else instruction.op.name
    return f"{made} = {name}({', '.join(names)})"


def _places(several: slice) -> range:
    return range(several.start, several.stop)


def _writing(ufunc: Any) -> Callable[..., Any]:
    """The ufunc of its operands and the array that it puts the result in."""
    if ufunc in _NAMED:
        return lambda *given: ufunc(*given[:-1], out=given[-1])
    found: Callable[..., Any] = ufunc
    return found


def _nothing() -> None:
    """The value of a place that nothing reads."""
