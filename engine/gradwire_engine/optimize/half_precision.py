"""float16 and bfloat16: operations on float32 whose results are rounded.

So arithmetic and square roots are rounded as IEEE 754 asks, since float32 has twice as many digits
and two more; sums and products of matrices are added up in float32 and rounded once. Of a tape only
inputs, outputs and conversions are left that have these dtypes.

Differences are taken of what is not rounded, which has no steps.
Source: Figueroa, When is double rounding innocuous? (1995).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.errors import InternalError
from gradwire_engine.loops.custom_vjp_tape import CustomVjpTape
from gradwire_engine.loops.loop import Body, Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.conversion import AsType, Rounded
from gradwire_engine.ops.halves import HALVES, SINGLE
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, DType, Instruction, StackType, Tape, TupleType, Type


def in_single(tape: Tape, poll: Poll) -> Tape:
    """The tape with all arithmetic on float16 and bfloat16 in float32."""
    kinds = {id(i[2]): i[2] for i in polled(tape.instructions, poll)}  # few types, many slots
    if not any(map(_has_half, kinds.values())):
        return tape
    return _Widening(tape, ends=True).tape(poll)


def unrounded(op: Op, kinds: Sequence[Type]) -> Op:
    """The operation on float32, not rounded, for one whose result and operands are of ``kinds``.

    One that must see the dtype itself takes float32 for it.
    """
    if not any(map(_has_half, touched(op, kinds))):
        return op
    if isinstance(op, AsType):
        return AsType(SINGLE, op.weak) if op.dtype in HALVES else op
    return _single_op(op, kinds, rounds=False) or op


def evaluated(op: Op, compute: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """The result of one operation, by the one that ``compute`` computes of operands in float32."""
    types = [_type_of(x) for x in operands]
    gives_half = getattr(op, "dtype", SINGLE) in HALVES
    if isinstance(op, AsType) or not (gives_half or any(map(_has_half, touched(op, types)))):
        return compute(op, *operands)
    result = op.infer(*types)  # type: ignore[arg-type]
    single = _single_op(op, (result, *types))
    if single is None:
        return compute(op, *operands)
    given = [_as_type(x, wide(kind)) for x, kind in zip(operands, types, strict=True)]
    return _as_type(compute(single, *given), result)


class _Widening:
    """Makes the tape anew; what comes in and goes out at its ``ends`` keeps its dtype."""

    def __init__(self, tape: Tape, *, ends: bool, rounds: bool = True) -> None:
        self._tape, self._ends, self._rounds = tape, ends, rounds
        self._made: list[Instruction] = []
        #: By slots of old: where the value is, in float32 if its dtype was half; where it is before
        #: it is rounded; and where it is in its own dtype, if it is.
        self._slots: list[int] = []
        self._exact: dict[int, int] = {}
        self._halves: dict[int, int] = {}

    def tape(self, poll: Poll) -> Tape:
        """The new tape."""
        for slot, instruction in enumerate(polled(self._tape.instructions, poll)):
            self._slots.append(self._widened(slot, instruction))
        inputs = [self._halves.get(slot, self._slots[slot]) for slot in self._tape.inputs]
        given = self._own if self._ends else self._slots.__getitem__
        outputs = [given(slot) for slot in self._tape.outputs]
        return Tape(tuple(self._made), tuple(inputs), tuple(outputs))

    def _widened(self, slot: int, instruction: Instruction) -> int:
        """Where the value is that an instruction gives."""
        op, args, kind, origin = instruction
        old = self._tape.instructions
        kinds = kind, *[old[arg].type for arg in args]
        if not any(map(_has_half, touched(op, kinds))):
            return self._keep(op, [self._slots[arg] for arg in args], kind, origin)
        half = not isinstance(kind, TupleType) and _has_half(kind)
        if isinstance(op, Input):
            if not self._ends:
                return self._keep(op, (), wide(kind), origin)
            self._halves[slot] = self._keep(op, (), kind, origin)
            return self._cast(self._halves[slot], kind, SINGLE, origin)
        if isinstance(op, Constant):
            return self._keep(Constant.of(np.asarray(op.value, SINGLE)), (), wide(kind), origin)
        if isinstance(op, AsType):
            return self._converted(slot, instruction)
        single = _single_op(op, kinds, rounds=self._rounds)
        if single is None:
            own = [self._own(arg) for arg in args]
            self._halves[slot] = self._keep(op, own, kind, origin)
            return self._cast(self._halves[slot], kind, SINGLE, origin) if half else own[0]
        if isinstance(kind, TupleType) and _has_half(kind) and op.rounds:
            raise InternalError(f"{op.name} gives several results in half precision")
        made = self._keep(single, [self._slots[arg] for arg in args], wide(kind), origin)
        return self._rounded(slot, made, kind, origin) if half and op.rounds else made

    def _converted(self, slot: int, instruction: Instruction) -> int:
        """A conversion from a half dtype, or to one."""
        op, (x,), kind, origin = instruction
        assert isinstance(kind, ArrayType)
        of, dtype = self._slots[x], self._made[self._slots[x]].type.dtype  # type: ignore[union-attr]
        if not _has_half(kind):
            return of if kind.dtype == SINGLE else self._keep(op, (of,), kind, origin)
        if dtype == DTYPES["float64"] and kind.dtype == DTYPES["float16"]:  # rounded once
            self._halves[slot] = self._keep(op, (of,), kind, origin)
            return self._cast(self._halves[slot], kind, SINGLE, origin)
        single = of if dtype == SINGLE else self._cast(of, kind, SINGLE, origin)
        return self._rounded(slot, single, kind, origin)

    def _rounded(self, slot: int, made: int, kind: Type, origin: int) -> int:
        """A value of float32 as one in the dtype of ``kind``, in float32, unless nothing rounds."""
        if not self._rounds:
            return made
        self._exact[slot] = made
        return self._keep(Rounded(kind.dtype), (made,), wide(kind), origin)  # type: ignore[union-attr]

    def _own(self, slot: int) -> int:
        """Where a value is in its own dtype."""
        kind = self._tape.instructions[slot].type
        if not _has_half(kind):
            return self._slots[slot]
        found = self._halves.get(slot)
        if found is None:
            assert isinstance(kind, ArrayType), kind
            origin = self._tape.instructions[slot].origin
            made = self._exact.get(slot, self._slots[slot])
            found = self._halves[slot] = self._cast(made, kind, kind.dtype, origin)
        return found

    def _cast(self, x: int, kind: Type, dtype: DType, origin: int) -> int:
        assert isinstance(kind, ArrayType)
        return self._keep(AsType(dtype), (x,), kind._replace(dtype=dtype, weak=False), origin)

    def _keep(self, op: Op, args: Iterable[int], kind: Type, origin: int) -> int:
        self._made.append(Instruction(op, tuple(args), kind, origin))
        return len(self._made) - 1


def _single_op(op: Op, kinds: Sequence[Type], *, rounds: bool = True) -> Op | None:
    """The operation on float32; None if there is none."""
    if isinstance(op, Loop | CustomVjpTape):
        own = op.body if isinstance(op, Loop) else op.rule
        body = Body(_Widening(own.tape, ends=False, rounds=rounds).tape(no_deadline))
        return replace(op, body=body) if isinstance(op, Loop) else replace(op, rule=body)
    half = next(
        (kind.dtype for kind in kinds if isinstance(kind, ArrayType) and _has_half(kind)), None
    )
    return op if half is None else op.in_single(half)


def touched(op: Op, kinds: Iterable[Type]) -> list[ArrayType | StackType]:
    """The types of arrays that an instruction has to do with: those of loops in loops, too."""
    found: list[ArrayType | StackType] = []
    for kind in kinds:
        found += kind.items if isinstance(kind, TupleType) else (kind,)
    if isinstance(op, Loop):
        for inside in op.body.tape.instructions:
            found += touched(inside.op, [inside.type])
    return found


def _has_half(kind: Type) -> bool:
    if isinstance(kind, TupleType):
        return any(map(_has_half, kind.items))
    return kind.dtype in HALVES


def wide(kind: Any) -> Any:
    """The type with float32 in place of half dtypes."""
    if isinstance(kind, TupleType):
        return TupleType(tuple(map(wide, kind.items)))
    if isinstance(kind, StackType):
        return StackType(wide(kind.item))
    return kind._replace(dtype=SINGLE) if _has_half(kind) else kind


def _type_of(value: Any) -> Type:
    """The type of a value; of an empty stack, that of no half dtype."""
    if isinstance(value, tuple):
        return TupleType(tuple(map(_type_of, value)))  # type: ignore[arg-type]
    if isinstance(value, list):
        return StackType(_type_of(value[0]) if value else ArrayType(SINGLE, ()))  # type: ignore[arg-type]
    x = np.asarray(value)
    return ArrayType(x.dtype, x.shape)


def _as_type(value: Any, kind: Type) -> Any:
    """A value in the dtypes of a type."""
    if value is None:  # what nothing reads of a loop
        return None
    if isinstance(kind, TupleType):
        return tuple([_as_type(x, each) for x, each in zip(value, kind.items, strict=True)])
    if isinstance(kind, StackType) and isinstance(value, list):
        return [_as_type(x, kind.item) for x in value]
    return value if value.dtype == kind.dtype else value.astype(kind.dtype)
