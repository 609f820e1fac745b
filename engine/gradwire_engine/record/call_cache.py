"""Calls met before: an operation on the same types records the same instruction.

Most calls of a long program are such: what they come to need not be found again by name, dialect,
promotion and type rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.tape import DType, Type

#: Types of the literals that become constants of the other operand's dtype.
_LITERALS = frozenset((bool, int, float, complex))


class CallCache:
    """The results of the calls of one recording, by their keys."""

    def __init__(self, b: Builder) -> None:
        self._b = b
        #: By words, and the type of each argument, Python's for a literal.
        self._known: dict[Hashable, tuple[Op, DType, Type]] = {}

    def again(self, words: Hashable, numbers: Sequence[int], results: Sequence[Any]) -> Var | None:
        """Record a call with the ``results`` of these numbers as before, if there was one."""
        if len(numbers) == 2:
            x, y = results[numbers[0]], results[numbers[1]]
            of_x = x.type if type(x) is Var else type(x)
            of_y = y.type if type(y) is Var else type(y)
            known = self._known.get((words, of_x, of_y))
            if known is None:
                return None
            b, (op, dtype, kind) = self._b, known
            if type(x) is not Var:
                x = b.scalar(x, dtype)
            elif type(y) is not Var:
                y = b.scalar(y, dtype)
            return b.again(op, (x.slot, y.slot), kind)
        if len(numbers) == 1 and type(x := results[numbers[0]]) is Var:
            known = self._known.get((words, x.type))
            return None if known is None else self._b.again(known[0], (x.slot,), known[2])
        return None

    def learn(self, words: Hashable, args: Sequence[Any], result: Var) -> None:
        """Remember a call that has just been recorded, if one instruction on ``args`` was all."""
        b = self._b
        op, slots, kind, _ = b.instructions[result.slot]
        if op.parameters or len(args) > 2 or not (op.elementwise or type(op) is MatMul):
            return
        arrays = [x.type for x in args if type(x) is Var]
        literals = [x for x in args if type(x) in _LITERALS]
        if not arrays:
            return
        if len(arrays) + len(literals) < len(args) or (literals and arrays[0].weak):
            return  # of literals alone each is a constant of its own
        if any(type(x) is Var and x.slot != slot for x, slot in zip(args, slots, strict=False)):
            return
        dtype = arrays[0].dtype
        operands = [x if type(x) is Var else b.scalar(x, dtype) for x in args]
        if slots == tuple([x.slot for x in operands]):
            of = [x.type if type(x) is Var else type(x) for x in args]
            self._known[words, *of] = op, dtype, kind
