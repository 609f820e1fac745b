"""The function of a loop whose passes all take one path, with as little as can be done in each.

What passes keep goes where it stays: into rows of arrays that are made beforehand.  What they read
is taken as it is needed, what they forget has memory of its own, and numbers beside arrays are
arrays without axes: NumPy is quickest with these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice, repeat
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.scalars import Scalars
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.loops import Loop
from gradwire_engine.polling import PIECE
from gradwire_engine.tape import ArrayType, Instruction

#: The right-hand side of what computes a slot.
Expression: TypeAlias = Callable[[int, Op, Mapping[int, str], Scalars, Text], str]
#: Values up to this size are forgotten in memory that all passes use: larger ones cost more to
#: compute than to make room for.
_SMALL_BYTES = 8192
#: Where the memory for a result has to be named; it is quicker if not.
_OUT = dict.fromkeys(("maximum", "minimum"), "out=")


class Straight:
    """Writes the function; ``check`` refuses a number of passes."""

    def __init__(
        self,
        op: Loop,
        expression: Expression,
        poll: Poll,
        loops: Any,
        *,
        quick: bool,
    ) -> None:
        self.op = op
        self.tape = op.body.tape
        self.made = op.body.tape.instructions
        self.expression = expression
        (path,) = op.paths
        given = [self.tape.outputs[output] for output in path.outputs]
        self.ends, self.writes = given[: op.carries], given[op.carries :]
        first, last = 1 + op.carries, 1 + op.carries + op.stacks
        self.carries, self.stacks = range(1, first), range(first, last)
        self.shared = range(last, len(self.tape.inputs))
        self.sharing = frozenset(self.tape.inputs[last:])
        names = [f"a{i}" for i in range(last)] + [f"s{i}" for i in self.shared]
        self.text = text = Text(f"def passes(poll, {', '.join(names)}):", poll, loops)
        carried = [*self.tape.inputs, *self.tape.outputs]
        self.scalars = Scalars(self.tape, text, quick=quick, carried=carried)
        self.names = {slot: f"r{slot}" for slot in range(len(self.made))}
        #: What each pass takes of lists: names, and the lists.
        self.turns: dict[str, str] = {}
        #: Where passes put values of slots, for all, and in each.
        self.rows: dict[int, str] = {}
        self.into: dict[int, str] = {}
        self.appended: list[str] = []
        self.results = {op.trip_count: "int64(n)"}

    def written(self, check: Callable[[int], None], between: int) -> Text:
        """Write it, with a look at the deadline between so many passes."""
        op, text = self.op, self.text
        bound: dict[str, Any] = {
            "int": int,
            "map": map,
            "range": range,
            "zip": zip,
            "islice": islice,
            "repeat": repeat,
        }
        bound |= {"check": check, "empty": np.empty, "asarray": np.asarray, "int64": np.int64}
        bound |= {"rows": _rows, "numbers": _numbers, "zeros": np.zeros}
        for name, value in bound.items():
            text.bind(value, name)
        text.write("n = int(a0)")
        text.write("check(n)")
        self._enter()
        for carry in range(op.carries):
            self._save_carry(carry)
        for number, slot in enumerate(self.writes):
            self._keep_written(number, slot)
        entering = frozenset(self.tape.inputs)
        lines = [self._line(slot) for slot in self.needed if slot not in entering]
        names, lists = (
            "".join([f"{each}, " for each in x]) for x in (self.turns, self.turns.values())
        )
        text.write(f"turns = zip({lists})" if lists else "turns = repeat((), n)")
        text.write(f"for k in range(0, n, {between}):")
        text.write("poll()", indent=2)
        text.write(f"for ({names}) in islice(turns, {between}):", indent=2)
        for line, instruction in lines:
            if line:
                text.write(line, instruction, indent=3)
        self._leave()
        return text

    def _enter(self) -> None:
        """Write what is done before the first pass."""
        op, text, scalars = self.op, self.text, self.scalars
        for i, slot in enumerate(self.tape.inputs):
            name = self.names[slot] = f"x{i}" if i in self.carries else f"s{i}"
            if i in self.carries:
                text.write(f"{name} = {scalars.entering(slot, f'a{i}')}")
            elif i in self.shared and (entering := scalars.entering(slot, name)) != name:
                text.write(f"{name} = {entering}")
            elif i in self.stacks and slot in self.needed:
                form = scalars.unstacked(slot, name)
                function = "numbers" if form == f"float({name})" else "rows"
                self.turns[name] = f"{function}(a{i}, n, {op.backward})"
                if function == "rows" and form != name:
                    self.turns[name] = f"({form} for {name} in {self.turns[name]})"
        if self.tape.inputs[0] in self.needed:
            turns = "range(n - 1, -1, -1)" if op.backward else "range(n)"
            self.turns["s0"] = f"map(int64, {turns})"
        for slot, instruction in enumerate(self.made):
            if isinstance(instruction.op, Constant):
                value = scalars.constant(slot, instruction.op.value)
                self.names[slot] = text.bind(value)

    @cached_property
    def needed(self) -> list[int]:
        """The slots that carries and what is written are computed from, rising."""
        written = [s for i, s in enumerate(self.writes) if self.op.wants(self.op.output(i))]
        found = {*self.ends, *written}
        for slot in range(len(self.made) - 1, -1, -1):
            if slot in found:
                found.update(self.made[slot].args)
        return sorted(found)

    # What is kept

    def _save_carry(self, carry: int) -> None:
        """Write where what a carry was is kept: its first value, then what passes gave."""
        op, name, end = self.op, self.names[self.tape.inputs[1 + carry]], self.ends[carry]
        result = op.saved(carry)
        if op.wants(result):
            if end in self.fills and end not in self.rows:
                kept = f"h{carry}"
                self._make(kept, "n + 1, ", end)
                self.text.write(f"{kept}[{-op.backward}] = {name}")
                before, after = f"{kept}[:-1]", f"{kept}[1:]"
                before, after = (after, before) if op.backward else (before, after)
                self._put(end, after)
                self.results[result] = before
            else:
                self._append(result, name)

    def _keep_written(self, number: int, slot: int) -> None:
        """Write where what passes write is kept."""
        result = self.op.output(number)
        if self.op.wants(result):
            if slot in self.fills and slot not in self.rows:
                self._make(f"w{number}", "n, ", slot)
                self._put(slot, f"w{number}")
            if slot in self.rows:
                self.results[result] = self.rows[slot]
            else:
                self._append(result, self.names[slot])

    def _make(self, name: str, length: str, slot: int) -> None:
        dtype, shape = self._kind(slot)[:2]
        self.text.write(
            f"{name} = empty(({length}*{self.text.bind(shape)},), {self.text.bind(dtype)})"
        )

    def _put(self, slot: int, rows: str) -> None:
        self.rows[slot], self.into[slot] = rows, f"q{slot}"
        self.turns[f"q{slot}"] = f"rows({rows}, n, {self.op.backward})"

    def _append(self, result: int, name: str) -> None:
        self.text.write(f"t{result} = []; p{result} = t{result}.append")
        self.appended.append(f"p{result}({name})")
        self.results[result] = f"t{result}[::-1]" if self.op.backward else f"t{result}"

    # What is computed

    @cached_property
    def fills(self) -> set[int]:
        """The slots that a ufunc computes, which can put them into memory that is there."""
        found = set()
        for slot in self.needed:
            op, _, kind, _ = self.made[slot]
            is_one = op.elementwise and op.is_ufunc and isinstance(kind, ArrayType) and kind.shape
            if is_one and isinstance(attrgetter(op.ufunc)(NUMPY), np.ufunc):
                found.add(slot)
        return found

    def _line(self, slot: int) -> tuple[str, Instruction]:
        """What computes a slot."""
        op, args, _, _ = instruction = self.made[slot]
        if isinstance(op, Constant):
            return "", instruction
        name = self.names[slot]
        if slot not in self.fills:
            value = self.expression(slot, op, self.names, self.scalars, self.text)
            return f"{name} = {value}", instruction
        operands = [self._operand(arg) for arg in args]
        if slot not in self.into and slot in self.temporary:
            self._make(f"o{slot}", "", slot)
            self.into[slot] = f"o{slot}"
        if slot in self.into:
            operands.append(_OUT.get(op.ufunc, "") + self.into[slot])
        function = self.text.bind(attrgetter(op.ufunc)(NUMPY), "u_" + op.ufunc.replace(".", "_"))
        return f"{name} = {function}({', '.join(operands)})", instruction

    def _operand(self, slot: int) -> str:
        """A value beside arrays: a number that is the same in all passes as an array."""
        op, name = self.made[slot].op, self.names[slot]
        if self._kind(slot).shape:
            return name
        if isinstance(op, Constant):
            return self.text.bind(np.asarray(op.value))
        if slot in self.sharing:
            self.text.write(f"z{slot} = asarray({name})")
            return f"z{slot}"
        return name

    @cached_property
    def temporary(self) -> set[int]:
        """The small ones of these that only others of these read."""
        found = {slot for slot in self.fills if self._kind(slot).nbytes <= _SMALL_BYTES}
        found.difference_update(self.ends, self.writes)
        for slot in self.needed:
            if slot not in self.fills:
                found.difference_update(self.made[slot].args)
        return found

    def _kind(self, slot: int) -> ArrayType:
        kind = self.made[slot].type
        assert isinstance(kind, ArrayType)
        return kind

    def _leave(self) -> None:
        """Write what is done at the end of a pass, and after the last one."""
        op, text = self.op, self.text
        for line in self.appended:
            text.write(line, indent=3)
        begins = [self.tape.inputs[i] for i in self.carries]
        pairs = [(self.names[b], self.names[e]) for b, e in zip(begins, self.ends, strict=True)]
        moved = [(new, old) for new, old in pairs if new != old]
        if moved:
            left, right = (", ".join(names) for names in zip(*moved, strict=True))
            text.write(f"{left} = {right}", indent=3)
        if not (moved or self.appended or len(self.needed) > len(self.tape.inputs)):
            text.write("pass", indent=3)
        for carry, slot in enumerate(begins):
            if op.wants(carry):
                self.results[carry] = self.scalars.leaving(slot, self.names[slot])
        if op.wants(op.branches):
            self.results[op.branches] = "zeros(n, int64)"
        wanted = [self.results[i] if op.wants(i) else "None" for i in range(op.trip_count + 1)]
        text.write(f"return ({', '.join(wanted)},)")


def _rows(stack: Any, count: int, backward: bool) -> Any:
    """So many items of a stack, in the order of passes; of an array each is made as it is taken."""
    return stack[:count][:: -1 if backward else 1]


def _numbers(stack: Any, count: int, backward: bool) -> Iterator[float]:
    """The same as Python's floats, of an array a few at once."""
    items = _rows(stack, count, backward)
    if isinstance(items, list):
        return map(float, items)
    pieces = (items[start : start + PIECE].tolist() for start in range(0, count, PIECE))
    return chain.from_iterable(pieces)
