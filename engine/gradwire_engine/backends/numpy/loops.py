"""Loop → one generated Python function, whose paths share what they do before they part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.backends.numpy.emit import function
from gradwire_engine.backends.numpy.fusion import fuse
from gradwire_engine.backends.numpy.pooled import pooled_code
from gradwire_engine.backends.numpy.scalars import LEFT, Scalars
from gradwire_engine.backends.numpy.text import PART, Text
from gradwire_engine.backends.reference.loops import stack_check
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input, UnrecordedPath
from gradwire_engine.ops.loops import Body, Loop, Path
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import StackType, Type
from gradwire_engine.traversal import ancestors

#: From operands to results, looking at the deadline between passes.
Passes = Callable[..., tuple[Any, ...]]
#: Most passes, and operations, between two looks at the deadline and at what stacks take.
_BETWEEN_POLLS, _FLOPS_BETWEEN_POLLS = 256, 1_000_000
#: Paths of which one goes on and the other ends.
_FEW_PATHS = 2
#: The functions of loops, those that are quick and those that are not.
Functions: TypeAlias = WeakKeyDictionary[Loop, dict[bool, Passes]]
_Numbered: TypeAlias = tuple[int, Path]


def bound(op: Op, poll: Poll, loops: Functions, *, quick: bool = True) -> Callable[..., Any]:
    """The function that computes ``op``; loops and fused kernels poll the deadline, too."""
    if isinstance(op, Loop):
        return partial(function_of(op, poll, loops, quick=quick), poll)
    return partial(op.passes, poll) if isinstance(op, FusedGroup) else function(op)


def expression(slot: int, op: Op, names: Mapping[int, str], scalars: Scalars, text: Text) -> str:
    """The right-hand side that computes ``slot`` from the values that have ``names``."""
    if code := pooled_code(slot, op, names, scalars, text) or scalars.code(slot, names):
        return code
    called = _call(op, scalars.operands(slot, names), text, quick=scalars.quick)
    return scalars.entering(slot, called)


def _call(op: Op, operands: Sequence[str], text: Text, *, quick: bool) -> str:
    if op.template:
        return op.template.format(*operands)
    listed = ", ".join(operands)
    if isinstance(op, Loop):
        return f"{text.bind(function_of(op, text.poll, text.loops, quick=quick))}(poll, {listed})"
    if isinstance(op, FusedGroup):
        return op.called(operands, text.bind)
    if op.is_ufunc:
        name = "u_" + op.ufunc.replace(".", "_")
        return f"{text.bind(text.names.get(name) or function(op), name)}({listed})"
    return f"{text.bind(function(op))}({listed})"


class _Passing:
    """The quick function of a loop, and where that is left, the careful one."""

    def __init__(self, op: Loop, quick: Passes, loops: Functions) -> None:
        self._op = op
        self._quick = quick
        self._loops = loops

    def __call__(self, poll: Poll, *operands: Any) -> tuple[Any, ...]:
        """Make all passes."""
        try:
            return self._quick(poll, *operands)
        except LEFT:
            careful = _lowered(self._op, poll, self._loops, quick=False)
        return careful(poll, *operands)


def function_of(op: Loop, poll: Poll, loops: Functions, *, quick: bool) -> Passes:
    """The function that makes all passes."""
    found = _lowered(op, poll, loops, quick=quick)
    return _Passing(op, found, loops) if quick else found


def _lowered(op: Loop, poll: Poll, loops: Functions, *, quick: bool) -> Passes:
    """The function of a loop, generated once for equal ones."""
    functions = loops.setdefault(op, {})
    found = functions.get(quick)
    if found is None:
        found = functions[quick] = written(op, poll, loops, quick=quick).function("passes")
    return found


def written(
    op: Loop, poll: Poll = unhurried, loops: Functions | None = None, *, quick: bool = True
) -> Text:
    """The text of a function that makes all passes, of the ``quick`` one if so."""
    loops = WeakKeyDictionary() if loops is None else loops
    op = swept(op, poll) if quick else op
    return _Writer(op, poll, loops, quick=quick).written()


def swept(op: Loop, poll: Poll = unhurried) -> Loop:
    """The loop with groups in its body, if there are any and its passes do much the same.

    A group is computed where any of it is needed, also what other paths need of it.
    """
    if len(op.paths) > _FEW_PATHS:
        return op
    tape = fuse(op.body.tape, poll, returned=False)
    return op if tape is op.body.tape else replace(op, body=Body(tape))


class _Writer:
    """Writes the function of a loop: a line for each instruction, where it is needed."""

    def __init__(self, op: Loop, poll: Poll, loops: Functions, *, quick: bool) -> None:
        self.op = op
        self.tape = op.body.tape
        self.operands = [f"a{i}" for i in range(op.counted + op.carries + op.stacks)]
        self.kinds = op.infer().items
        self.kept = [i for i in range(len(self.kinds)) if op.wants(i)]
        #: The stacks that are arrays made beforehand, into whose rows passes put theirs.
        self.rows = {i for i in self.kept if op.is_straight and _has_rows(self.kinds[i])}
        first = 1 + op.carries + op.stacks
        self.shared = range(first, len(self.tape.inputs))
        operands = [*self.operands, *[f"s{i}" for i in self.shared]]
        self.text = Text(f"def passes(poll, {', '.join(operands)}):", poll, loops)
        carried = [*self.tape.inputs, *self.tape.outputs]
        self.scalars = Scalars(self.tape, self.text, quick=quick, carried=carried)
        self._names: dict[int, str] = {}
        #: Whether a pass is computed by several functions; all values of it are then in a list.
        self.divided = len(self.tape.instructions) > PART

    def written(self) -> Text:
        """Write it."""
        op, text = self.op, self.text
        if self.divided:
            text.write(f"v = [None] * {len(self.tape.instructions)}")
        for name, value in (("int", int), ("range", range), ("len", len)):
            text.bind(value, name)
        text.bind(count, "endless")
        text.bind(np.int64, "int64")
        text.bind(stack_check(op), "check")
        for i, slot in enumerate(self.tape.inputs[1 : 1 + op.carries]):
            text.write(f"x{1 + i} = {self.scalars.entering(slot, self.operands[op.counted + i])}")
        for i in self.shared:
            entering = self.scalars.entering(self.tape.inputs[i], f"s{i}")
            if entering != f"s{i}":
                text.write(f"s{i} = {entering}")
        stacks = [i for i in self.kept if isinstance(self.kinds[i], StackType)]
        lists = [i for i in stacks if i not in self.rows]
        for i in lists:
            text.write(f"t{i} = []; p{i} = t{i}.append")
        if op.counted:
            text.write("n = int(a0)")
        if self.rows:
            text.write("check(n)")
        for i in self.rows:
            kind = self.kinds[i]
            shape, dtype = text.bind(kind.shape), text.bind(kind.dtype)
            text.write(f"t{i} = {text.bind(np.empty, 'empty')}((n, *{shape}), {dtype})")
        turns = "endless()" if not op.counted else "range(n)"
        turns = "range(n - 1, -1, -1)" if op.backward else turns
        text.write(f"for k in {turns}:")
        text.write(f"if not k % {_between_polls(op)}: poll(); check(k)", indent=2)
        self._branch([*enumerate(op.paths)], 0, set(), 2)
        if op.backward:
            for i in lists:
                text.write(f"t{i}.reverse()")
        text.write(f"return ({''.join(self._result(i) for i in range(len(self.kinds)))})")
        return text

    def _result(self, number: int) -> str:
        op = self.op
        if not op.wants(number):
            return "None, "
        if number < op.carries:
            return f"{self.scalars.leaving(self.tape.inputs[1 + number], f'x{1 + number}')}, "
        return "int64(n), " if number == op.trip_count else f"t{number}, "

    def _branch(self, paths: Sequence[_Numbered], level: int, known: set[int], indent: int) -> None:
        """Write what ``paths`` have in common, then part them."""
        paths = [(number, path) for number, path in paths if path.known]
        number, first = paths[0]
        if level == len(first.decisions):
            self._leaf(number, first, known, indent)
            return
        decided = self.tape.outputs[first.decisions[level][0]]
        self._values([decided], known, indent)
        taken_outcomes = 0
        for outcome, test in ((True, ""), (False, "not ")):
            taken = [(i, path) for i, path in paths if path.decisions[level][1] is outcome]
            if taken:
                taken_outcomes += 1
                self.text.write(f"if {test}{self._names[decided]}:", indent=indent)
                self._branch(taken, level + 1, set(known), indent + 1)
        if taken_outcomes < 2:
            self.text.write(f"raise {self.text.bind(UnrecordedPath)}", indent=indent)

    def _leaf(self, number: int, path: Path, known: set[int], indent: int) -> None:
        """Write the end of a pass."""
        op, text = self.op, self.text
        outputs = [self.tape.outputs[output] for output in path.outputs]
        self._values(outputs, known, indent)
        if path.counted:
            for c in range(op.carries):
                if op.wants(op.saved(c)):
                    text.write(self._kept(op.saved(c), f"x{1 + c}"), indent=indent)
            for w, slot in enumerate(outputs[op.carries :]):
                if op.wants(op.output(w)):
                    text.write(self._kept(op.output(w), self._names[slot]), indent=indent)
            if op.wants(op.branches):
                text.write(f"p{op.branches}({text.bind(np.int64(number))})", indent=indent)
            moved = [(f"x{1 + c}", self._names[s]) for c, s in enumerate(outputs[: op.carries])]
            moved = [(new, old) for new, old in moved if new != old]
            if moved:
                left, right = (", ".join(names) for names in zip(*moved, strict=True))
                text.write(f"{left} = {right}", indent=indent)
        if path.ends:
            text.write(f"n = k + {int(path.counted)}; break", indent=indent)
        else:
            text.write("continue", indent=indent)

    def _kept(self, result: int, value: str) -> str:
        """The statement that keeps a pass's value in a stack."""
        return f"t{result}[k] = {value}" if result in self.rows else f"p{result}({value})"

    def _values(self, slots: Sequence[int], known: set[int], indent: int) -> None:
        """Write what computes values, unless they are known in this branch."""
        made = self.tape.instructions
        needed = ancestors(made, slots, known)
        order = sorted(needed)
        if not self.divided:
            for slot in order:
                self._value(slot, self.text, indent)
        else:
            # What takes the names of the function around is written there.
            for slot in polled(order, self.text.poll):
                if isinstance(made[slot].op, Constant | Input):
                    self._value(slot, self.text, indent)
            order = [slot for slot in order if not isinstance(made[slot].op, Constant | Input)]
            for start in range(0, len(order), PART):
                self.text.poll()
                part = self.text.calling("def part(poll, v):", indent)
                for slot in order[start : start + PART]:
                    self._value(slot, part, 1)
        known |= needed

    def _value(self, slot: int, text: Text, indent: int) -> None:
        instruction = self.tape.instructions[slot]
        op = instruction.op
        loop = self.op
        if isinstance(op, Constant):
            self._names[slot] = self.text.bind(self.scalars.constant(slot, op.value))
            return
        name = f"v[{slot}]" if self.divided else f"r{slot}"
        if isinstance(op, Input):
            rows = 1 + loop.carries
            if op.index == 0:
                text.write(f"{name} = int64(k)", indent=indent)
            elif op.index < rows:
                name = self._around(name, f"x{op.index}", text, indent)
            elif op.index < rows + loop.stacks:
                item = f"{self.operands[loop.counted + op.index - 1]}[k]"
                text.write(f"{name} = {self.scalars.unstacked(slot, item)}", indent=indent)
            else:
                name = self._around(name, f"s{op.index}", text, indent)
        else:
            value = expression(slot, op, self._names, self.scalars, text)
            text.write(f"{name} = {value}", instruction, indent)
        self._names[slot] = name

    def _around(self, name: str, outer: str, text: Text, indent: int) -> str:
        """The name of what has one outside of passes, too; functions within take it by theirs."""
        if not self.divided:
            return outer
        text.write(f"{name} = {outer}", indent=indent)
        return name


def _has_rows(kind: Type) -> bool:
    return isinstance(kind, StackType) and bool(kind.shape)


def _between_polls(op: Loop) -> int:
    """So many passes are made between two looks at the deadline."""
    return max(min(_FLOPS_BETWEEN_POLLS // max(op.body.flops, 1), _BETWEEN_POLLS), 1)
